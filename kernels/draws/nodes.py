"""Sample fault sets as a pure function of (key, trial): f distinct nodes, or node statuses computed on demand.

Every sampler reads words of ``philox`` by their position, so trial ``t`` can be sampled alone.  The lane kernels read the same
words for many trials at a time and must give identical results.  ``docs/random.md`` describes the sampling schemes and repeats a
fault set in plain NumPy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.bitmask import bit_of, word_index, word_mask
from ..cube.labels import LabelSet, add_label, clear_labels, label_set
from ..machine import simd
from ..machine.array_types import Ints, Words, Words32
from ..machine.bits import GOLDEN, HALF_WORD_BITS, LOW32, ONE, ZERO
from ..machine.jit import block, kernel, scratch
from . import philox

_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_27 = np.uint64(27)
_30 = np.uint64(30)
_31 = np.uint64(31)
_TWO64 = 18446744073709551616.0


# ---------------------------------------------------------------- statuses computed on demand


@block
def status_key(key, t):
    """Return the key of trial ``t``'s node statuses, a uint64: word 0 of block ``t`` for STATUS_KEYS."""
    return philox.random_word(key, t, np.uint64(0), philox.STATUS_KEYS)


@block
def status(key, label):
    """Return the status of a node under a trial's status key: uniform on [0, 2^64), faulty iff below the threshold.

    It is the finaliser of SplitMix64 (Steele, Lea & Flood 2014; Stafford's variant 13) applied to
    ``key + label * 0x9E3779B97F4A7C15 mod 2^64``.  Labels of neighbours differ in one bit, so the label is multiplied before it
    is mixed; ``label ^ key`` would leave neighbours visibly dependent.  About 5 ns if each look-up depends on the last, 0.3 ns in
    lanes (one core of an AMD EPYC, Zen 4).
    """
    z = np.uint64(key) + np.uint64(label) * GOLDEN  # an int64 label would give a float64, or arithmetic shifts
    z = (z ^ (z >> _30)) * _MIX1
    z = (z ^ (z >> _27)) * _MIX2
    return z ^ (z >> _31)


@block
def status_lanes(keys, labels):
    """Return ``status`` of eight (key, label) pairs, as vectors of uint64."""
    z = keys + (labels * simd.splat(GOLDEN))
    z = (z ^ (z >> simd.splat(_30))) * simd.splat(_MIX1)
    z = (z ^ (z >> simd.splat(_27))) * simd.splat(_MIX2)
    return z ^ (z >> simd.splat(_31))


@block
def threshold(rate):
    """Return the threshold of a fault rate, ``floor(rate * 2^64)`` as a uint64, for a float64 rate in [0, 1)."""
    return np.uint64(rate * _TWO64)


# ---------------------------------------------------------------- f distinct nodes


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
    """Return block and shift of trial ``t``'s field of ``width`` bits in each word of the block, as two uint64."""
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


# Up to this number of labels a search through the sampled labels is faster than a table.
_MAX_SCANNED = 32


class Draws(NamedTuple):
    """Scratch memory to sample distinct labels; made by ``draws_for``."""

    words: Words  #: (32): sixteen labels, and spare entries
    seen: LabelSet  #: the labels sampled so far, if there are many


@scratch
def draws_for(count):
    """Return scratch memory for up to ``count`` distinct labels."""
    return Draws(np.empty(32, np.uint64), label_set(count if count > _MAX_SCANNED else 0))


@block
def _is_new(x, out, taken, residues, seen):
    """Whether ``x`` is not in ``out[:taken]``; it is added to ``seen`` if that is a set for many labels (``draws_for``).

    ``residues`` has bit ``x mod 64`` for each label x in ``out[:taken]``.  If that bit of ``x`` is clear no search is needed,
    which saves a fifth to a quarter of the time to sample 10 to 32 labels.
    """
    if seen.capacity > 1:
        return add_label(seen, x)
    if residues & bit_of(x) == ZERO:
        return True
    i = np.int64(0)
    while i < taken and out[i] != x:
        i += 1
    return i == taken


@block
def next_fields(key, block_, shift, halves, purpose):
    """Return words 2 h and 2 h + 1 of a block, for each h in ``halves``, shifted down to a trial's field: two vectors."""
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

    The words are those for ``purpose`` and, from bit 32 up, for ``high``.  ``words[16:32]`` is scratch memory.
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
        1 <= n <= 62, 0 <= count <= 2^n; not checked.  Fault sets never need more than half of the nodes
        (with a pair of ends little more), which bounds the expected number of samples by 1.4 count.
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
    """Return the number of distinct labels sampled for f faults: f, or the 2^n - f nonfaulty nodes if these are fewer."""
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
    """Replace ``count`` labels by all other labels of the n-cube, ascending; O(2^n) time and memory."""
    named = np.zeros(1 << n, np.bool_)
    for i in range(count):
        named[out[i]] = True
    at = np.int64(0)
    for x in range(1 << n):
        if not named[x]:
            out[at] = x
            at += 1


# ---------------------------------------------------------------- f distinct nodes in a bitmask


#: Number of rows of sixteen words that are stored for the other trials of their block.
_BUFFERED_ROWS = 256

#: Indices of ``Rows.held``: the block, -1 at first, and the number of its rows that are stored.
_BLOCK, _STORED_ROWS = range(2)


class Rows(NamedTuple):
    """Scratch memory to sample rows of sixteen labels; made by ``rows_for``."""

    words: (
        Words  #: 16 random words per row, the even ones before the odd ones: of one block, which 8, 4 or 2 trials share
    )
    labels: Words32  #: (16): the current row of labels
    held: Ints  #: _BLOCK and _STORED_ROWS


@scratch
def rows_for():
    """Return scratch memory for any number of labels of one key."""
    return Rows(np.empty(16 * _BUFFERED_ROWS, np.uint64), np.empty(16, np.uint32), np.full(2, -1, np.int64))


@block
def next_row(key, t, q, n, rows):
    """Write the low 32 bits of labels 16 q .. 16 q + 15 of trial ``t`` (uint64) to ``rows.labels``.

    Call it for q = 0, 1, ... in turn.  The random words of a row are stored, for the trials of the same block that follow.
    """
    # As field_position, for an unsigned t and without divisions.
    if n <= 8:
        block_, field, width = t >> np.uint64(3), t & np.uint64(7), np.uint64(8)
    elif n <= 16:
        block_, field, width = t >> np.uint64(2), t & np.uint64(3), np.uint64(16)
    else:
        block_, field, width = t >> np.uint64(1), t & np.uint64(1), np.uint64(32)
    if rows.held[_BLOCK] != np.int64(block_):
        rows.held[_BLOCK] = np.int64(block_)
        rows.held[_STORED_ROWS] = 0
    at = q << 4
    if q < rows.held[_STORED_ROWS]:
        even = simd.load(rows.words, at)
        odd = simd.load(rows.words, at + 8)
    else:
        halves = simd.splat(np.uint64(q << 3)) + simd.iota(simd.splat(block_))
        even, odd = philox.mixed_lanes(key, simd.splat(block_), halves, simd.splat(philox.LABELS))
        if q < _BUFFERED_ROWS:
            simd.store(rows.words, at, even)
            simd.store(rows.words, at + 8, odd)
            rows.held[_STORED_ROWS] = q + 1
    shift = simd.splat(field * width)
    mask = simd.splat((ONE << np.uint64(n)) - ONE)
    even = (even >> shift) & mask
    odd = (odd >> shift) & mask
    simd.store(rows.labels, 0, simd.as32(simd.low_halves(even, odd)))


@block
def mark_faults(key, t, n, f, state, rows):
    """Mark the faulty nodes of ``draw_faults`` in a bitmask that is clear; ``t`` is a uint64, n <= 32."""
    count = count_sampled_labels(n, f)
    q = np.int64(0)
    taken = np.int64(0)
    while taken < count:
        next_row(key, t, q, n, rows)
        q += 1
        i = 0
        while i < 16 and taken < count:
            x = np.uint64(rows.labels[i])
            word = state[word_index(x)]
            state[word_index(x)] = word | bit_of(x)
            taken += np.int64(word & bit_of(x) == ZERO)
            i += 1
    if count < f:
        for w in range(max(np.int64(1) << n >> 6, 1)):
            state[w] ^= word_mask(n)


@kernel("uint64[::1](uint64, int64, int64, int64)")
def fault_set(key, t, n, f):
    """Return the faulty nodes of trial ``t``, in the order of ``draw_faults``."""
    count = count_sampled_labels(n, f)
    out = np.empty(max(f, count), np.uint64)
    draw_faults(key, t, n, f, out, draws_for(count))
    return out[:f]
