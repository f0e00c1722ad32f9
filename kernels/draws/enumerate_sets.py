"""Enumerate all sets of K links and f nodes of Q_n, n <= 16, for exact values.

A link is numbered by its dimension, then by its lower end without that bit.  The state is two ascending lists of numbers, so a
call can continue where another stopped.  A kernel of all sets is a kernel of trials, ``trials_kernel(set_up, trial)``.  Its
``params`` end with the elements of the first set.  Its trial reads the set from them and advances them to the next
(``faults.next_sparing_set``; ``trees/dead_links.py``).
"""

from __future__ import annotations

import numpy as np

from ..machine.jit import block


@block
def next_combination(chosen, size, most):
    """Advance an ascending list of ``size`` numbers below ``most`` lexicographically; return False if it restarts."""
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
    """Advance ``state``, numbers of ``links`` links and then of f nodes, to the next set."""
    if not next_combination(state[links:], f, np.int64(1) << n):
        next_combination(state, links, n << (n - 1))


@block
def decode_link(n, number):
    """Return the lower end and the dimension, as a single bit, of the link with a number; int64."""
    k = number >> (n - 1)
    rest = number & ((np.int64(1) << (n - 1)) - 1)
    below = (np.int64(1) << k) - 1
    return (rest & below) | (rest & ~below) << 1, np.int64(1) << k
