"""Fault sets in which every node is faulty with probability p, independently, as a pure function of (key, trial).

There are two sampling schemes, depending on p; ``docs/random.md`` describes them and repeats them in plain NumPy.

*Few faults*, p < 1/64.  The number of faults K ~ Binomial(2^n, p) is sampled by ``binomial``.  The fault set is then that of
``nodes`` for f = K: the first K distinct labels of the trial's sequence (or all but the first 2^n - K).

*Many faults*, p >= 1/64.  Node v has the 72-bit number ``head * 2^64 + tail`` and is faulty if it is below ``p * 2^72``.  This is
an integer for every float64 p >= 1/64, so the probability is exactly p.  Digit i of ``head``, most significant first, is bit
``v & 63`` of word i of block ``t * 2^max(n-6, 0) + (v >> 6)`` for NODE_DIGITS.  ``tail`` is word v of block t for NODE_TAILS, and
is needed by one node in 256.  This module samples such fault sets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.bitmask import set_node, word_mask
from ..machine import bits, simd
from ..machine.array_types import Words
from ..machine.jit import block, scratch
from . import philox

#: From this probability on every node is sampled by itself; below it K distinct labels are sampled.
MIN_DIGIT_RATE = 1.0 / 64.0

_TWO64 = 2.0**64


@block
def digit_threshold(p):
    """Return ``p * 2^72`` for 1/64 <= p <= 1 as (head, tail): the part above 2^64 (256 for p = 1) and the low 64 bits."""
    head = np.floor(p * 256.0)
    return np.uint64(head), np.uint64((p * 256.0 - head) * _TWO64)


@block(always=True)
def _compare_digit(faulty, undecided, rate, word):
    """Return the vectors (faulty, undecided) after one more binary digit of the nodes' uniform numbers.

    ``word`` holds these digits.  They are compared with the lowest bit of ``rate``.  A node whose number is below the
    rate is faulty.
    """
    digit = simd.splat(bits.ZERO - (rate & np.uint64(1)))
    differs = undecided & (digit ^ word)
    return faulty | (differs & digit), undecided & ~differs


@block
def compare_digits(key, first_block, head, tail, purpose):
    """Return vectors (certainly faulty, undecided) of 512 numbers, from eight leading digits.

    Their digits are in eight blocks of random words from ``first_block`` on, a multiple of 8; each has the digits of 64 numbers.
    """
    prepared = philox.prepare_lanes(key, first_block, purpose)
    halves = (np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3))
    evens, odds = philox.four_word_lanes(key, (prepared, prepared, prepared, prepared), halves)
    even, odd = simd.quarters(evens), simd.quarters(odds)
    faulty, undecided = simd.splat(bits.ZERO), simd.splat(bits.ALL_BITS)
    faulty, undecided = _compare_digit(faulty, undecided, head >> np.uint64(7), even[0])
    faulty, undecided = _compare_digit(faulty, undecided, head >> np.uint64(6), odd[0])
    faulty, undecided = _compare_digit(faulty, undecided, head >> np.uint64(5), even[1])
    faulty, undecided = _compare_digit(faulty, undecided, head >> np.uint64(4), odd[1])
    faulty, undecided = _compare_digit(faulty, undecided, head >> np.uint64(3), even[2])
    faulty, undecided = _compare_digit(faulty, undecided, head >> np.uint64(2), odd[2])
    faulty, undecided = _compare_digit(faulty, undecided, head >> np.uint64(1), even[3])
    faulty, undecided = _compare_digit(faulty, undecided, head, odd[3])
    return faulty, undecided if tail != np.uint64(0) else simd.splat(bits.ZERO)


@block
def _decide_tails(key, t, tail, nodes, count, state):
    """Set each of ``count`` undecided ``nodes`` whose tail is below ``tail`` (> 0); ``nodes`` has 7 words to spare."""
    one = simd.splat(bits.ONE)
    limit = simd.splat(tail - bits.ONE)
    for i in range(0, count, 8):
        v = simd.load(nodes, i)
        even, odd = philox.mixed_lanes(key, simd.splat(t), v >> one, simd.splat(philox.NODE_TAILS))
        drawn = simd.select((v & one) == one, odd, even)
        faulty = simd.bits(drawn <= limit) & bits.first_lanes(count - i)
        while faulty:
            set_node(state, nodes[i + bits.lowest(faulty)])
            faulty &= faulty - bits.ONE


#: Number of vectors whose undecided nodes are collected before their tails are sampled.
_TAIL_BATCH = 64


class DigitScratch(NamedTuple):
    """Scratch memory to sample nodes by their digits; made by ``digit_scratch_for``.

    The first three arrays have a vector of 8 words to spare, because vectors are stored and loaded whole.
    """

    undecided: Words  #: words with nodes whose leading digits equal those of the rate
    indices: Words  #: indices of these words in the bitmask
    nodes: Words  #: the undecided nodes, up to 512 per vector
    vectors: Words  #: two vectors, between which words are moved


@scratch
def digit_scratch_for():
    """Return scratch memory for ``digit_state``, for any n."""
    words = 8 * (_TAIL_BATCH + 1)
    return DigitScratch(
        np.empty(words, np.uint64),
        np.empty(words, np.uint64),
        np.empty(512 * _TAIL_BATCH + 8, np.uint64),
        np.empty(16, np.uint64),
    )


@block
def _list_undecided_nodes(count, work):
    """List the nodes of the first ``count`` undecided words; return their number."""
    listed = np.int64(0)
    for i in range(count):
        rest = work.undecided[i]
        while rest:
            work.nodes[listed] = (work.indices[i] << np.uint64(6)) | np.uint64(bits.lowest(rest))
            listed += 1
            rest &= rest - bits.ONE
    return listed


@block
def digit_state(key, t, head, tail, n, state, work):
    """Write the bitmask of trial ``t``'s faulty nodes to ``state`` of max(8, 2^(n-6)) words; ``work`` is a ``DigitScratch``."""
    if head == np.uint64(256):
        for w in range(state.size):
            state[w] = word_mask(n) if w < 1 << max(n - 6, 0) else np.uint64(0)
        return
    per_trial = np.int64(1) << max(n - 6, 0)
    base = t * np.uint64(per_trial)
    vectors = state.size >> 3
    for start in range(0, vectors, _TAIL_BATCH):
        size = np.int64(0)
        for v in range(start, min(start + _TAIL_BATCH, vectors)):
            faulty, undecided = compare_digits(
                key, (base + np.uint64(v << 3)) & ~np.uint64(7), head, tail, philox.NODE_DIGITS
            )
            if n < 9:
                faulty = _extract_trial_words(faulty, base, n, work.vectors)
                undecided = _extract_trial_words(undecided, base, n, work.vectors)
            simd.store(state, v << 3, faulty)
            if tail != np.uint64(0):
                chosen = simd.bits(undecided != simd.splat(bits.ZERO))
                index = simd.splat(np.uint64(v << 3)) + simd.iota(undecided)
                simd.store_compressed(work.undecided, size, chosen, undecided)
                simd.store_compressed(work.indices, size, chosen, index)
                size += bits.popcount(chosen)
        _decide_tails(key, t, tail, work.nodes, _list_undecided_nodes(size, work), state)


@block
def _extract_trial_words(x, base, n, vectors):
    """Return, for n < 9, the words of one trial of a vector of 8 / 2^max(n-6, 0) trials, moved to the front, the rest cleared.

    ``vectors`` is scratch memory of two vectors.
    """
    simd.store(vectors, 0, x)
    simd.store(vectors, 8, simd.splat(bits.ZERO))
    first = np.int64(base & np.uint64(7))
    for w in range(np.int64(1) << max(n - 6, 0)):
        vectors[8 + w] = vectors[first + w] & word_mask(n)
    return simd.load(vectors, 8)
