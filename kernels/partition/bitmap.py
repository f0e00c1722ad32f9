"""2-partitions under many faults, n <= 20: a bitmap of the 2^n nodes per trial is compared with itself across dimensions.

Two faults conflict on {i, j} if they differ in i, j or both and in nothing else.  Then the bitmap has a bit in common with itself
read across i, across j, or across both.  Reading across both is enough once i and j are known to have no conflict by themselves.
A test ends at the first vector of 512 nodes with a hit, which with many faults is the first vector.

The 64 / w trials that share a block's words (w bits per label, as for all fault sets) are sampled together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..draws import philox
from ..draws.nodes import field_width, node_label, store_interleaved
from ..machine import bits, neighbours, simd
from ..machine.array_types import Ints, Words
from ..machine.bits import ONE, ZERO
from ..machine.jit import TRIALS_SIGNATURE, block, kernel, scratch
from .layout import F, N
from .scalar import make_search, record_trial

_63 = np.uint64(63)
_6 = np.uint64(6)


class WordBuffer(NamedTuple):
    """The random words of a block, sampled sixteen at a time until the buffer is full."""

    words: Words
    spare: Words  #: (32): sixteen words in order, before they are stored
    drawn: Ints  #: (1): number of words sampled


@scratch
def word_buffer_for(f):
    """Return a buffer for the words of f distinct labels; the few trials that need more sample further words one by one."""
    return WordBuffer(np.empty((f + (f >> 1) + 79) & ~15, np.uint64), np.empty(32, np.uint64), np.zeros(1, np.int64))


@block
def _draw_sixteen_words(key, where, source):
    """Append sixteen words of block ``where``."""
    at = source.drawn[0]
    halves = simd.iota(simd.splat(ZERO)) + simd.splat(np.uint64(at >> 1))
    even, odd = philox.mixed_lanes(key, simd.splat(where), halves, simd.splat(philox.LABELS))
    store_interleaved(even, odd, source.spare)
    simd.store(source.words, at, simd.load(source.spare, 0))
    simd.store(source.words, at + 8, simd.load(source.spare, 8))
    source.drawn[0] = at + 16


@block
def _mark_faults(key, t, n, f, source, state):
    """Set trial t's f faults in a clear bitmap."""
    width = field_width(n)
    per_word = 64 // width
    where = np.uint64(t // per_word)
    shift = np.uint64(width * (t % per_word))
    mask = (ONE << np.uint64(n)) - ONE
    got = np.int64(0)
    at = np.int64(0)
    while got < f and at < source.words.size:
        end = min(at + f - got, source.words.size)  # as many words as are needed in any case
        while source.drawn[0] < end:
            _draw_sixteen_words(key, where, source)
        for i in range(at, end):
            x = (source.words[i] >> shift) & mask
            old = state[x >> _6]
            state[x >> _6] = old | ONE << (x & _63)
            got += np.int64((~old >> (x & _63)) & ONE)
        at = end
    while got < f:
        x = node_label(key, t, at, n)
        at += 1
        old = state[x >> _6]
        state[x >> _6] = old | ONE << (x & _63)
        got += np.int64((~old >> (x & _63)) & ONE)


@block
def _neighbour_vector(x, low):
    """Return 512 nodes read across the dimensions below the sixth that are set in ``low``."""
    while low:
        k = low & (~low + ONE)
        low ^= k
        mask = simd.splat(bits.CLEAR_BIT_MASKS[bits.lowest(k)])
        by = simd.splat(k)
        x = ((x >> by) & mask) | ((x & mask) << by)
    return x


@block
def has_exact_pair(state, mask):
    """Whether two faults of a bitmap, in whole vectors, differ in exactly the dimensions of ``mask``."""
    low = mask & _63
    within = (mask >> _6) & np.uint64(7)
    difference = np.int64(mask >> np.uint64(9))
    once = difference & -difference  # each pair of vectors is compared once, from the vector without this bit
    zero = simd.splat(ZERO)
    for v in range(state.size >> 3):
        if v & once:
            continue
        x = simd.load(state, v << 3)
        y = simd.load(state, (v ^ difference) << 3)
        if within & ONE:
            y = neighbours.neighbour6(y)
        if within & np.uint64(2):
            y = neighbours.neighbour7(y)
        if within & np.uint64(4):
            y = neighbours.neighbour8(y)
        if simd.bits((x & _neighbour_vector(y, low)) != zero) != ZERO:
            return True
    return False


@block
def has_pair_within(state, mask):
    """Whether two faults differ only in dimensions of ``mask``, of at most two dimensions.

    The search tests each dimension before its pairs, except for {0, 1}.  So for another pair no two faults are known to
    differ in one of its dimensions alone, and only the exact pair is tested.
    """
    if mask & (~mask + ONE) == mask:  # one dimension
        return has_exact_pair(state, mask)
    if mask == np.uint64(3) and (has_exact_pair(state, ONE) or has_exact_pair(state, np.uint64(2))):
        return True
    return has_exact_pair(state, mask)


search_marked = make_search(has_pair_within)


@kernel(TRIALS_SIGNATURE)
def two_partition_marked(key, first, stop, params, tally):
    """Run trials at (n, f) = params with 2 <= n <= 20 and 0 <= f <= 2^(n-2)."""
    n = np.int64(params[N])
    f = np.int64(params[F])
    per_word = 64 // field_width(n)
    state = np.zeros(8 << max(n - 9, np.int64(0)), np.uint64)
    source = word_buffer_for(f)
    where = np.int64(-1)
    for t in range(first, stop):
        if t // per_word != where:
            where = t // per_word
            source.drawn[0] = 0
        for v in range(0, state.size, 8):
            simd.store(state, v, simd.splat(ZERO))
        _mark_faults(key, t, n, f, source, state)
        lo, hi, greedy = search_marked(state, n)
        record_trial(tally, lo, hi, greedy)
