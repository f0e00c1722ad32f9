"""All sets of K links and f nodes of Q_n, one after another: what exact values are enumerated over, n <= 16.

A link is numbered by its dimension, then its lower end without that bit.  The state is two ascending lists of numbers,
so that a call can go on where another stopped.
"""

from __future__ import annotations

import numpy as np

from .bits import ONE
from .jit import block


@block
def next_choice(chosen, size, most):
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
    if not next_choice(state[links:], f, np.int64(1) << n):
        next_choice(state, links, n << (n - 1))


@block
def write_set(n, links, f, state, lower, dims, nodes):
    """The lower ends and dimensions of the links, and the nodes, of a state; all uint64."""
    for i in range(links):
        k = np.uint64(state[i] >> (n - 1))
        rest = np.uint64(state[i]) & ((ONE << np.uint64(n - 1)) - ONE)
        below = (ONE << k) - ONE
        lower[i] = (rest & below) | (rest & ~below) << ONE
        dims[i] = k
    for i in range(f):
        nodes[i] = np.uint64(state[links + i])
