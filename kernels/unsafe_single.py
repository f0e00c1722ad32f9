"""Unsafe nodes under f random faults, one trial at a time: the plain path, and the one for many faults.

``UNSAFE_MERGED`` keeps lists of subcubes and works for every n and f; the lane kernels must equal it bit for bit.
``UNSAFE_WHOLE`` marks the 2^n nodes in a bitmask and runs the rounds on it, which is faster from some f on.
"""

from __future__ import annotations

import numpy as np

from . import bits, philox, simd
from .jit import TRIALS_SIGNATURE, inline, kernel
from .rounds import marks_words, rounds_marked
from .sampling import draw_faults, drawn, field_width, table_size
from .subcubes import scratch, solve
from .unsafe_tally import record

_ONE = np.uint64(1)


@inline
def _space(n, f):
    """Scratch of :func:`_enter`."""
    count = drawn(n, f)
    labels = np.empty(max(f, count), np.uint64)
    return labels, np.empty(table_size(count), np.int64), np.empty(f + 8, np.uint64), np.empty(f + 8, np.uint64), scratch()


@inline
def _enter(key, t, n, f, space, tally):
    """Count one trial."""
    labels, table, base, free, spare = space
    draw_faults(key, t, n, f, labels, table)
    unsafe, rounds, merging, largest = solve(labels, f, base, free, spare)
    record(tally, t, unsafe, rounds, merging, largest == n)


@kernel(TRIALS_SIGNATURE)
def unsafe_merged(key, first, stop, params, tally):
    """Count unsafe nodes and rounds over trials by merging subcubes; 1 <= n <= 62, 0 <= f <= 2^n.

    O(f^2 / 8) a trial, and the rounds of the subcubes; memory O(f).  See ``unsafe_tally.py`` for the tally.
    """
    n = np.int64(params[0])
    f = np.int64(params[1])
    space = _space(n, f)
    for t in range(first, stop):
        _enter(key, t, n, f, space, tally)


@kernel("void(uint64, int64[::1], int64, float64[::1], int64[::1])")
def unsafe_listed(key, trials, count, params, tally):
    """:func:`unsafe_merged` for the first ``count`` of a list of trials."""
    n = np.int64(params[0])
    f = np.int64(params[1])
    space = _space(n, f)
    for i in range(count):
        _enter(key, trials[i], n, f, space, tally)


@inline
def _mark(state, x, marked):
    """Set node x; the number of set nodes afterwards."""
    word = np.int64(x >> np.uint64(6))
    bit = _ONE << (x & np.uint64(63))
    new = (state[word] & bit) == bits.ZERO
    state[word] |= bit
    return marked + np.int64(new)


@inline
def mark_distinct_nodes(key, t, n, count, state, words):
    """Set the first ``count`` distinct labels of trial ``t`` in a clear bitmask, n <= 32; sixteen words at a time.

    ``words`` is scratch of 16 uint64.  The same set as :func:`sampling.distinct_nodes` writes.
    """
    width = field_width(n)
    block = np.uint64(t // (64 // width))
    shift = np.uint64(width * (t % (64 // width)))
    mask = (_ONE << np.uint64(n)) - _ONE
    halves = simd.iota(simd.splat(bits.ZERO))
    marked = np.int64(0)
    while marked < count:
        even, odd = philox.row_lanes(key, block, halves, philox.LABELS)
        simd.store(words, 0, even)
        simd.store(words, 8, odd)
        for half in range(8):
            if marked < count:
                marked = _mark(state, (words[half] >> shift) & mask, marked)
            if marked < count:
                marked = _mark(state, (words[8 + half] >> shift) & mask, marked)
        halves = simd.add(halves, simd.splat(np.uint64(8)))


@inline
def _adjacent(state, used, n):
    """Whether two set nodes of the n-cube, ``used`` words of a bitmask, are neighbours."""
    found = bits.ZERO
    for i in range(used):
        for k in range(min(n, 6)):
            found |= state[i] & (state[i] >> np.uint64(1 << k)) & bits.LOW[k]
        for k in range(n - 6):
            found |= state[i] & state[i ^ (1 << k)]
    return found != bits.ZERO


@kernel(TRIALS_SIGNATURE)
def unsafe_whole(key, first, stop, params, tally):
    """Count unsafe nodes and rounds over trials on the whole cube's bitmask; 1 <= n <= 30, 0 <= f <= 2^n.

    O(f) a trial for the draws and O(2^n / 512) a round.  See ``unsafe_tally.py`` for the tally.  Two faults within
    distance 2 are adjacent or have a common neighbour, which is unsafe or makes an adjacent pair.
    """
    n = np.int64(params[0])
    f = np.int64(params[1])
    size = np.int64(1) << n
    count = drawn(n, f)
    inside = bits.ALL if n >= 6 else (_ONE << np.uint64(size)) - _ONE
    used = np.int64(1) << max(n - 6, 0)
    state = np.empty(np.int64(1) << max(n - 6, 3), np.uint64)
    other = np.empty(state.size, np.uint64)
    marks = np.empty(marks_words(n), np.uint64)
    words = np.empty(16, np.uint64)
    for t in range(first, stop):
        state[:] = bits.ZERO
        mark_distinct_nodes(key, t, n, count, state, words)
        if f > count:
            for i in range(used):
                state[i] = ~state[i] & inside
        rounds = rounds_marked(state, other, marks, n)
        closed = np.int64(0)
        for i in range(used):
            closed += bits.popcount(state[i])
        merging = closed > f or _adjacent(state, used, n)
        record(tally, t, np.uint64(closed - f), rounds, merging, closed == size)
