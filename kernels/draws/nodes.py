"""Sample fault sets of f distinct nodes as a pure function of (key, trial), so that trial ``t`` can be sampled alone.

Word j of block b is 64 random bits that ``philox`` computes from a point's key, the *block* number b, the *position* j and a
*purpose* such as LABELS.  (``@block`` is something else: it declares a function that kernels call.)  A word is divided into
*fields* of 8, 16 or 32 bits, so that 8, 4 or 2 trials share a block, and trial t has one field in each of its words.  The low n
bits of that field in words 0, 1, 2, ... are the trial's *sequence* of labels, in which labels may repeat.

``philox`` makes words 2 h and 2 h + 1 together, from the *half* h.  The lane kernels and ``node_rows`` read these words in other
ways, and must find identical fault sets.  ``docs/random.md`` repeats a fault set in plain NumPy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.bitmask import bit_of
from ..cube.labels import LabelSet, add_label, clear_labels, label_set
from ..machine import simd
from ..machine.array_types import Words
from ..machine.bits import HALF_WORD_BITS, LOW32, ONE, ZERO
from ..machine.jit import block, kernel, scratch
from . import philox


@block
def field_width(n):
    """Return the width in bits of the field that holds a label: 8 for n <= 8, 16 for n <= 16, else 32; an int64."""
    if n <= 8:
        return np.int64(8)
    if n <= 16:
        return np.int64(16)
    return np.int64(32)


@block
def field_position(t, width):
    """Return trial ``t``'s block, and the lowest bit of its field of ``width`` bits in each word, as two uint64."""
    per_word = 64 // width
    return np.uint64(t // per_word), np.uint64(width * (t % per_word))


@block
def node_label(key, t, j, n):
    """Return label ``j`` of trial ``t``'s sequence for the n-cube, a uint64 below 2^n; labels may repeat.

    It is the low n bits of field ``t mod (64 / w)``, of w = 8, 16 or 32 bits, of word ``j`` of block ``t div (64 / w)`` for
    LABELS.  For n > 32 the bits from 32 up are the same field of word ``j`` for HIGH_LABELS.  Trials share words so that lane
    kernels use every bit of the generator.

    Parameters
    ----------
    key : uint64
    t, j, n : int64
        Trial and position, from 0; 1 <= n <= 62.  Not checked.
    """
    block_, shift = field_position(t, field_width(n))
    x = philox.random_word(key, block_, np.uint64(j), philox.LABELS) >> shift
    if n > 32:
        x &= LOW32
        x |= (philox.random_word(key, block_, np.uint64(j), philox.HIGH_LABELS) >> shift) << HALF_WORD_BITS
    return x & ((ONE << np.uint64(n)) - ONE)


#: Up to this number of labels a search through the sampled labels is faster than a table (measured).
_MAX_SCANNED = 32


class Draws(NamedTuple):
    """Scratch memory to sample distinct labels; made by ``draws_for``."""

    words: Words  #: (32): the next sixteen labels, and 16 entries for ``store_interleaved``
    seen: LabelSet  #: the labels sampled so far, empty between calls; of capacity 1, and not used, up to _MAX_SCANNED labels


@scratch
def draws_for(count):
    """Return scratch memory for up to ``count`` distinct labels; with more, ``seen`` could be full and labels repeat."""
    return Draws(np.empty(32, np.uint64), label_set(count if count > _MAX_SCANNED else 0))


@block
def _is_new(x, out, taken, residues, seen):
    """Whether ``x`` is not in ``out[:taken]``; it is added to ``seen`` if ``draws_for`` made that set for many labels.

    ``residues`` has bit ``x mod 64`` for each label x in ``out[:taken]``.  If that bit of ``x`` is clear no search is needed,
    which saves a fifth to a quarter of the time to sample 10 to 32 labels.
    """
    if seen.capacity > 1:  # the capacity of label_set(0) is 1
        return add_label(seen, x)
    if residues & bit_of(x) == ZERO:
        return True
    i = np.int64(0)
    while i < taken and out[i] != x:
        i += 1
    return i == taken


@block
def next_fields(key, block_, shift, halves, purpose):
    """Return words 2 h and 2 h + 1 of a block, for each of 8 h in ``halves``, shifted down to a trial's field: two vectors."""
    even, odd = philox.mixed_lanes(key, simd.splat(block_), halves, simd.splat(purpose))
    by = simd.splat(shift)
    return even >> by, odd >> by


@block
def join_high_fields(low, high):
    """Return eight labels, with their low and high 32 bits from two vectors of fields."""
    return (low & simd.splat(LOW32)) | (high << simd.splat(HALF_WORD_BITS))


@block
def store_interleaved(even, odd, words):
    """Write lane 0 of ``even``, lane 0 of ``odd``, lane 1 of ``even``, ... to ``words[:16]``; ``words[16:32]`` is scratch."""
    simd.store(words, 16, even)
    simd.store(words, 24, odd)
    for i in range(8):
        words[2 * i] = words[16 + i]
        words[2 * i + 1] = words[24 + i]


@block
def next_labels(key, block_, shift, n, halves, purpose, high, words):
    """Write labels of sixteen positions, of words 2 h and 2 h + 1 for each h in ``halves``, in order to ``words[:16]``.

    The words are those for ``purpose`` and, from bit 32 of a label up, for the purpose ``high``.  ``words[16:32]`` is scratch.
    """
    even, odd = next_fields(key, block_, shift, halves, purpose)
    if n > 32:
        high_even, high_odd = next_fields(key, block_, shift, halves, high)
        even = join_high_fields(even, high_even)
        odd = join_high_fields(odd, high_odd)
    mask = simd.splat((ONE << np.uint64(n)) - ONE)
    store_interleaved(even & mask, odd & mask, words)


@block
def distinct_nodes(key, t, n, count, out, draws):
    """Write the first ``count`` distinct labels of trial ``t``'s sequence to ``out``, in the order of sampling.

    Parameters
    ----------
    key : uint64
    t, n, count : int64
        1 <= n <= 62, 0 <= count <= 2^n; not checked.  Up to half of the nodes are found in at most 1.4 count samples
        on average (2 ln 2 count), rounded up to sixteens.  Fault sets need no more, and a pair of ends two labels more,
        of weight only in the smallest cubes: all four nodes of Q_2 take 8.3 samples.
    out : uint64 array of at least ``count``
    draws : Draws
        From ``draws_for`` with at least ``count``.
    """
    block_, shift = field_position(t, field_width(n))
    halves = simd.iota(simd.splat(ZERO))
    taken = np.int64(0)
    residues = ZERO
    while taken < count:
        next_labels(key, block_, shift, n, halves, philox.LABELS, philox.HIGH_LABELS, draws.words)
        for i in range(16):
            x = draws.words[i]
            if taken < count and _is_new(x, out, taken, residues, draws.seen):
                out[taken] = x
                residues |= bit_of(x)
                taken += 1
        halves = halves + 8
    clear_labels(draws.seen)


@block
def count_sampled_labels(n, f):
    """Return the number of distinct labels sampled for f faults: f, or the 2^n - f nonfaulty nodes if these are fewer.

    For n = 62 it is always f, because 2 f could exceed an int64, and more than 2^61 labels exceed any memory.
    """
    if n < 62 and 2 * f > np.int64(1) << n:
        return (np.int64(1) << n) - f
    return f


@block
def draw_faults(key, t, n, f, out, draws):
    """Write the faulty nodes of trial ``t`` to ``out``: f distinct labels, uniform over all sets of that size.

    For f <= 2^(n-1) these are the first f distinct labels of the trial's sequence, in that order.  For more faults they are all
    nodes but the first 2^n - f distinct labels, ascending (O(2^n) time and memory).

    Parameters
    ----------
    key : uint64
    t, n, f : int64
        1 <= n <= 62, 0 <= f <= 2^n; not checked.
    out : uint64 array of at least f and at least ``count_sampled_labels(n, f)``
    draws : Draws
        From ``draws_for(count_sampled_labels(n, f))``.
    """
    count = count_sampled_labels(n, f)
    distinct_nodes(key, t, n, count, out, draws)
    if f > count:
        complement_labels(n, count, out)


@scratch
def complement_labels(n, count, out):
    """Replace ``out[:count]`` by all other labels of the n-cube, ascending, in ``out[:2^n - count]``; O(2^n) time and memory."""
    named = np.zeros(1 << n, np.bool_)
    for i in range(count):
        named[out[i]] = True
    at = np.int64(0)
    for x in range(1 << n):
        if not named[x]:
            out[at] = x
            at += 1


@kernel("uint64[::1](uint64, int64, int64, int64)")
def fault_set(key, t, n, f):
    """Return the faulty nodes of trial ``t``, in the order of ``draw_faults``."""
    count = count_sampled_labels(n, f)
    out = np.empty(max(f, count), np.uint64)
    draw_faults(key, t, n, f, out, draws_for(count))
    return out[:f]
