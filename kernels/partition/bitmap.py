"""2-partitions under many faults, n <= 20: a bitmap of the 2^n nodes per trial is compared with itself across dimensions.

Two faults conflict on {i, j} if they differ in i, j or both and in nothing else.  Then the bitmap has a bit in common with itself
read across i, across j, or across both: bit v of a bitmap read across i is its bit v ^ 2^i.  Reading across both is enough once i
and j are known to have no conflict by themselves.  A test ends at the first vector of 512 nodes with a hit, which with many
faults is the first vector.

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

    words: Words  #: words 0, 1, ... of the block
    ordered: Words  #: (32): scratch, sixteen words in order before they are stored
    filled: Ints  #: (1): number of words sampled; to be cleared before another block


@scratch
def word_buffer_for(f):
    """Return a buffer for the words of f distinct labels in nearly all trials; the others sample further words one by one."""
    return WordBuffer(np.empty((f + (f >> 1) + 79) & ~15, np.uint64), np.empty(32, np.uint64), np.zeros(1, np.int64))


@block
def _draw_sixteen_words(key, block_index, buffer):
    """Append sixteen words of a block."""
    filled = buffer.filled[0]
    halves = simd.iota(simd.splat(ZERO)) + simd.splat(np.uint64(filled >> 1))
    even, odd = philox.mixed_lanes(key, simd.splat(block_index), halves, simd.splat(philox.LABELS))
    store_interleaved(even, odd, buffer.ordered)
    simd.store(buffer.words, filled, simd.load(buffer.ordered, 0))
    simd.store(buffer.words, filled + 8, simd.load(buffer.ordered, 8))
    buffer.filled[0] = filled + 16


@block(always=True)
def _mark_fault(x, bitmap):
    """Set the bit of a node; return 1 if it was clear, else 0."""
    before = bitmap[x >> _6]
    bitmap[x >> _6] = before | ONE << (x & _63)
    return np.int64((~before >> (x & _63)) & ONE)


@block
def _mark_faults(key, t, n, f, buffer, bitmap):
    """Set trial t's f faults in a clear bitmap; the buffer is that of the trial's block, and is filled as far as needed."""
    width = field_width(n)
    per_word = 64 // width
    block_index = np.uint64(t // per_word)
    shift = np.uint64(width * (t % per_word))
    mask = (ONE << np.uint64(n)) - ONE
    distinct = np.int64(0)
    at = np.int64(0)  # position in the trial's sequence of labels
    while distinct < f and at < buffer.words.size:
        end = min(at + f - distinct, buffer.words.size)  # as many words as are needed in any case
        while buffer.filled[0] < end:
            _draw_sixteen_words(key, block_index, buffer)
        for i in range(at, end):
            distinct += _mark_fault((buffer.words[i] >> shift) & mask, bitmap)
        at = end
    while distinct < f:
        distinct += _mark_fault(node_label(key, t, at, n), bitmap)
        at += 1


@block
def _neighbour_vector(x, low):
    """Return 512 nodes read across the dimensions in ``low``, of 0 to 5: node v of a word swaps with v ^ 2^i for dimension i."""
    while low:
        bit = low & (~low + ONE)  # 2^i
        low ^= bit
        is_clear = simd.splat(bits.CLEAR_BIT_MASKS[bits.lowest(bit)])  # nodes without bit i
        distance = simd.splat(bit)
        x = ((x >> distance) & is_clear) | ((x & is_clear) << distance)
    return x


@block
def has_exact_pair(bitmap, mask):
    """Whether two faults of a bitmap, in whole vectors, differ in exactly the dimensions of ``mask``.

    Dimensions 0 to 5 are inside a word, 6 to 8 lead to other words of a vector, and the others to another vector.
    """
    in_word = mask & _63
    in_vector = (mask >> _6) & np.uint64(7)
    difference = np.int64(mask >> np.uint64(9))  # of the indices of two vectors
    once = difference & -difference  # each pair of vectors is compared once, from the vector without this bit
    zero = simd.splat(ZERO)
    for v in range(bitmap.size >> 3):
        if v & once:
            continue
        x = simd.load(bitmap, v << 3)
        y = simd.load(bitmap, (v ^ difference) << 3)
        if in_vector & ONE:
            y = neighbours.neighbour6(y)
        if in_vector & np.uint64(2):
            y = neighbours.neighbour7(y)
        if in_vector & np.uint64(4):
            y = neighbours.neighbour8(y)
        if simd.bits((x & _neighbour_vector(y, in_word)) != zero) != ZERO:
            return True
    return False


@block
def has_pair_within(bitmap, mask):
    """Whether two faults differ only in dimensions of ``mask``, at most two, for ``make_search`` alone.

    It relies on the order of that search, which tests {0, 1}, then each dimension, and then only pairs of dimensions without a
    conflict by themselves.  So for such a pair only a difference in both dimensions is left to test.
    """
    if mask & (~mask + ONE) == mask:  # one dimension
        return has_exact_pair(bitmap, mask)
    if mask == np.uint64(3) and (has_exact_pair(bitmap, ONE) or has_exact_pair(bitmap, np.uint64(2))):
        return True
    return has_exact_pair(bitmap, mask)


search_marked = make_search(has_pair_within)


@kernel(TRIALS_SIGNATURE)
def two_partition_marked(key, first, stop, params, tally):
    """Run trials at (n, f) = params with 2 <= n <= 20 and 0 <= f <= 2^(n-2)."""
    n = np.int64(params[N])
    f = np.int64(params[F])
    per_word = 64 // field_width(n)
    bitmap = np.zeros(8 << max(n - 9, np.int64(0)), np.uint64)
    buffer = word_buffer_for(f)
    block_index = np.int64(-1)
    for t in range(first, stop):
        if t // per_word != block_index:
            block_index = t // per_word
            buffer.filled[0] = 0
        for v in range(0, bitmap.size, 8):
            simd.store(bitmap, v, simd.splat(ZERO))
        _mark_faults(key, t, n, f, buffer, bitmap)
        lo, hi, greedy = search_marked(bitmap, n)
        record_trial(tally, lo, hi, greedy)
