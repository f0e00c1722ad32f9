"""All messages of a small cube: every fault set that spares node 0, and from there every destination.

Routing is the same after a translation of all labels, so these stand for all pairs of ends.
"""

from __future__ import annotations

import numpy as np

from ..bits import ZERO
from ..faults import close, is_faulty, is_safe, remember
from ..jit import block, kernel
from .rules import route_passes
from .single import finish, meets_closed, trial_for


@block
def next_set(labels, f, nodes):
    """Replace f ascending labels below ``nodes`` by the next such set in lexicographic order; False after the last."""
    i = f - 1
    while i >= 0 and labels[i] == np.uint64(nodes - f + i):
        i -= 1
    if i < 0:
        return False
    labels[i] += np.uint64(1)
    for j in range(i + 1, f):
        labels[j] = labels[j - 1] + np.uint64(1)
    return True


@kernel("int64(float64[::1], int64[::1])")
def all_messages(params, tally):
    """Count all messages at (n, f, 0, k) = params into a tally of ``layout.TALLY``; returns their number.

    C(2^n - 1, f) (2^n - 1 - f) messages; 1 <= n, f <= 2^n - 2, not checked.
    """
    trial = trial_for(params)
    faults = trial.faults
    n = trial.n
    f = np.int64(params[1])
    for i in range(f):
        faults.labels[i] = np.uint64(i + 1)
    count = np.int64(0)
    more = True
    while more:
        remember(faults)
        close(faults)
        safe = is_safe(faults, n)
        for x in range(1, 1 << n):
            t = np.uint64(x)
            if not is_faulty(faults, t):
                passes, meets = route_passes(faults, ZERO, t), meets_closed(faults, ZERO, t)
                finish(trial, passes, meets, safe, ZERO, t, count, tally)
                count += 1
        more = next_set(faults.labels, f, 1 << n)
    return count
