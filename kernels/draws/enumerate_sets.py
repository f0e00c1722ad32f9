"""All sets of K links and f nodes of Q_n, one after another: what exact values are enumerated over, n <= 16.

A link is numbered by its dimension, then its lower end without that bit.  The state is two ascending lists of numbers, so that
a call can go on where another stopped.  A kernel of all sets is one of trials, ``trials_kernel(set_up, trial)``: its ``params``
go on with the first set's numbers, and its trial lists the set of these and advances them (:func:`faults.next_sparing_set`;
``trees/dead_links.py``).
"""

from __future__ import annotations

import numpy as np

from ..machine.jit import block


@block
def next_combination(chosen, size, most):
    """Advance an ascending list of ``size`` numbers below ``most``, lexicographically; False, and the first again, at the end."""
    i = size - 1
    while i >= 0 and chosen[i] == most - size + i:
        i -= 1
    if i < 0:
        for j in range(size):
            chosen[j] = j
        return False
    chosen[i] += 1
    for j in range(i + 1, size):
        chosen[j] = chosen[j - 1] + 1
    return True


@block
def next_set(n, links, f, state):
    """Advance to the next set of ``links`` links and f nodes, numbers in ``state``: links, then nodes."""
    if not next_combination(state[links:], f, np.int64(1) << n):
        next_combination(state, links, n << (n - 1))


@block
def decode_link(n, number):
    """Lower end and dimension, as a single bit, of the link of a number; int64."""
    k = number >> (n - 1)
    rest = number & ((np.int64(1) << (n - 1)) - 1)
    below = (np.int64(1) << k) - 1
    return (rest & below) | (rest & ~below) << 1, np.int64(1) << k
