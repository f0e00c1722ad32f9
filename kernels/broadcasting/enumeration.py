"""All broadcasts of a small cube from node 0: every fault set that spares it, up to translation all there are."""

from __future__ import annotations

import numpy as np

from ..bits import ZERO
from ..faults import remember
from ..jit import kernel
from ..routing.enumeration import next_set
from .single import finish, trial_for


@kernel("int64(float64[::1], int64[::1])")
def all_broadcasts(params, tally):
    """Count the C(2^n - 1, f) broadcasts at (n, f, 0) = params into a tally of ``layout.TALLY``; returns their number."""
    trial = trial_for(params)
    labels = trial.faults.labels
    n = np.int64(params[0])
    f = np.int64(params[1])
    for i in range(f):
        labels[i] = np.uint64(i + 1)
    count = np.int64(0)
    more = True
    while more:
        remember(trial.faults)
        finish(trial, ZERO, count, np.int64(-1), tally)
        count += 1
        more = next_set(labels, f, 1 << n)
    return count
