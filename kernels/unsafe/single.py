"""Unsafe nodes under f random faults, one trial at a time: the plain path, and the one for many faults.

``unsafe_merged`` keeps lists of subcubes and works for every n and f; the lane kernels must equal it bit for bit.
``unsafe_whole`` marks the 2^n nodes in a bitmask and runs the rounds on it, which is faster from some f on.
Both take a list of trials, so that they also finish what a lane kernel leaves over.
"""

from __future__ import annotations

import numpy as np

from .. import bits
from ..jit import block, kernel
from ..sampling import draw_faults, drawn, draws_for, mark_distinct_nodes
from .closed import solve, spare_cubes
from .rounds import marks_words, rounds_marked
from .tally import record

_ONE = np.uint64(1)

#: Shape of these kernels: key, trials, how many of them, values of the point (n, f), tally (see ``unsafe_tally.py``).
LISTED_SIGNATURE = "void(uint64, int64[::1], int64, float64[::1], int64[::1])"


@kernel(LISTED_SIGNATURE)
def unsafe_merged(key, trials, count, params, tally):
    """Count unsafe nodes and rounds of trials by merging subcubes; 1 <= n <= 62, 0 <= f <= 2^n.

    O(f^2 / 8) a trial, and the rounds of the subcubes; memory O(f).
    """
    n = np.int64(params[0])
    f = np.int64(params[1])
    labels = np.empty(max(f, drawn(n, f)), np.uint64)
    draws = draws_for(drawn(n, f))
    base = np.empty(f + 16, np.uint64)
    free = np.empty(f + 16, np.uint64)
    spare = spare_cubes()
    for i in range(count):
        t = trials[i]
        draw_faults(key, t, n, f, labels, draws)
        unsafe, rounds, merging, largest = solve(labels, f, base, free, spare)
        record(tally, t, unsafe, rounds, merging, largest == n)


@block
def _adjacent(state, used, n):
    """Whether two set nodes of the n-cube, ``used`` words of a bitmask, are neighbours."""
    found = bits.ZERO
    for i in range(used):
        for k in range(6):
            found |= state[i] & (state[i] >> np.uint64(1 << k)) & bits.LOW[k]
        for k in range(n - 6):
            found |= state[i] & state[i ^ (1 << k)]
    return found != bits.ZERO


@kernel(LISTED_SIGNATURE)
def unsafe_whole(key, trials, count, params, tally):
    """Count unsafe nodes and rounds of trials on the whole cube's bitmask; 1 <= n <= 30, 0 <= f <= 2^n.

    O(f) a trial for the draws and O(2^n / 512) a round.  Two faults within distance 2 are adjacent or have a common
    neighbour, which is unsafe or makes an adjacent pair.
    """
    n = np.int64(params[0])
    f = np.int64(params[1])
    nodes = np.int64(1) << n
    few = drawn(n, f)
    inside = bits.ALL if n >= 6 else (_ONE << np.uint64(nodes)) - _ONE
    used = np.int64(1) << (n - 6 if n > 6 else 0)
    state = np.zeros(used if used > 8 else 8, np.uint64)
    other = np.empty(state.size, np.uint64)
    marks = np.empty(marks_words(n), np.uint64)
    draws = draws_for(np.int64(0))
    for i in range(count):
        t = trials[i]
        for v in range(used):
            state[v] = bits.ZERO
        mark_distinct_nodes(key, t, n, few, state, draws)
        if f > few:
            for v in range(used):
                state[v] = ~state[v] & inside
        rounds = rounds_marked(state, other, marks, n)
        closed = np.int64(0)
        for v in range(used):
            closed += bits.popcount(state[v])
        merging = closed > f or _adjacent(state, used, n)
        record(tally, t, np.uint64(closed - f), rounds, merging, closed == nodes)
