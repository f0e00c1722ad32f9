"""Sample fault labels for a vector of trials, and find the smallest distance between two faults of each trial.

Kernels whose lanes are trials use this module, most of them through ``fastcube.kernels.draws.sieve``.  Labels are stored in rows
of one vector (8 words): lane i of row k holds label k of the vector's trial i.  A vector has one row more than a trial has
labels, because labels are sampled in pairs, so that an odd number of them fills a spare row.

Lanes have 8 bits for n <= 8, 16 for n <= 16 and 32 above; for n > 32 they hold the low 32 bits.  ``lanes`` is the number of lanes
of a vector (64, 32 or 16), a literal for which the blocks that take it are specialised.  For n <= 8 a word holds eight trials.  A
kernel with lanes of 16 bits can serve n <= 8 too: the sampled vector is split into two (``parts`` = 2), the first with its even
trials and the second with its odd ones.

A label may repeat an earlier one of its trial.  The distance 0 shows such a trial, and it samples further labels in scalar code
(``redraw_repeats``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..machine import bits, simd
from ..machine.jit import block
from . import philox
from .nodes import node_label

_BYTE = np.uint64(8)

# ---------------------------------------------------------------- a vector of trials


@block(always=True)
def _store_two_rows(words, start, even, odd, pattern):
    """Write a row of labels to the words from index ``start`` on, and the next row after it."""
    simd.store(words, start, even & pattern)
    simd.store(words, start + 8, odd & pattern)


@block(always=True)
def _store_parts(words, start, even, odd, pattern, parts, words_per_vector):
    """Write two rows of a vector, and with two ``parts`` its odd trials as the rows of the vector after it."""
    _store_two_rows(words, start, even, odd, pattern)
    if parts == 2:
        byte = simd.splat(_BYTE)
        _store_two_rows(words, start + words_per_vector, even >> byte, odd >> byte, pattern)


@block(always=True)
def draw_rows(key, first_block, count, pattern, words):
    """Write the first ``count`` labels of a vector of trials to the ``count + 1`` rows in ``words``.

    Parameters
    ----------
    key : uint64
    first_block : uint64
        Block of random words with the first trial's labels, a multiple of 8: 8 times the index of the vector.
    count : int64
    pattern : uint64
        The bits of a word that are stored, from ``lane_pattern``.
    words : uint64 array of at least ``8 * (count + 1)``
        A kernel reads the labels through a view of it with the type of its lanes.
    """
    prepared = philox.prepare_lanes(key, first_block, philox.LABELS)
    stored = simd.splat(pattern)
    for k in range(0, count, 2):
        even, odd = philox.word_lanes(key, prepared, np.uint64(k >> 1))
        _store_two_rows(words, 8 * k, even, odd, stored)


@block(always=True, stored=True)
def draw_four_vectors(key, first_block, count, parts, pattern, words):
    """Do ``draw_rows`` for four sampled vectors, whose rows follow each other; ``first_block`` is a multiple of 32.

    With ``parts`` = 2 each of them makes two vectors of ``count + 1`` rows, its even trials and its odd trials.
    """
    prepared = philox.prepare_four_vectors(key, first_block, philox.LABELS)
    stored = simd.splat(pattern)
    length = 8 * (count + 1)  # words per vector
    for k in range(0, count, 2):
        evens, odds = philox.word_lanes(key, prepared, np.uint64(k >> 1))
        even, odd = simd.quarters(evens), simd.quarters(odds)
        _store_parts(words, 8 * k, even[0], odd[0], stored, parts, length)
        _store_parts(words, 8 * k + parts * length, even[1], odd[1], stored, parts, length)
        _store_parts(words, 8 * k + 2 * parts * length, even[2], odd[2], stored, parts, length)
        _store_parts(words, 8 * k + 3 * parts * length, even[3], odd[3], stored, parts, length)


@block(always=True)
def row_offset(start, lanes, count):
    """Return the index of row 0 of the vector of trials from ``start`` on, in the labels of ``draw_four_vectors`` (one part)."""
    return (start // lanes & 3) * (count + 1) * lanes


def make_pair_scan(start: np.uint64, update: Any) -> Any:
    """Return the block ``scan_pairs(labels, at, lanes, f)``: lane by lane, the least value of two of f rows, at most ``start``.

    ``update(least, x, y)`` returns the less of ``least`` and the value of rows x and y.  Row 0 begins at index ``at`` of the
    labels.  Four rows at a time are compared with each earlier row, so that each load serves four pairs, and four minima do not
    wait for each other.
    """

    @block(always=True, alone=True)
    def scan_pairs(labels, at, lanes, f):
        least0 = simd.splat_like(simd.load(labels, at), start)
        least1 = least0
        least2 = least0
        least3 = least0
        rest = f & 3
        for i in range(1, rest):
            x = simd.load(labels, at + i * lanes)
            for j in range(i):
                least0 = update(least0, x, simd.load(labels, at + j * lanes))
        for i in range(rest, f, 4):
            x0 = simd.load(labels, at + i * lanes)
            x1 = simd.load(labels, at + (i + 1) * lanes)
            x2 = simd.load(labels, at + (i + 2) * lanes)
            x3 = simd.load(labels, at + (i + 3) * lanes)
            least0 = update(least0, x0, x1)
            least1 = update(least1, x0, x2)
            least2 = update(least2, x0, x3)
            least3 = update(least3, x1, x2)
            least0 = update(least0, x1, x3)
            least1 = update(least1, x2, x3)
            for j in range(i):
                y = simd.load(labels, at + j * lanes)
                least0 = update(least0, x0, y)
                least1 = update(least1, x1, y)
                least2 = update(least2, x2, y)
                least3 = update(least3, x3, y)
        return simd.minimum(simd.minimum(least0, least1), simd.minimum(least2, least3))

    return scan_pairs


@block
def _update_distance(least, x, y):
    """Return the smaller of ``least`` and the distance of two rows of labels, lane by lane; see ``smallest_distance``."""
    return simd.minimum(least, simd.closeness(x ^ y))


#: Block ``smallest_distance(labels, at, lanes, f)``: the smallest distance of two of f labels, lane by lane, as far as kernels
#: need it.  It is 0 for a repeated label, 1 or 2 for a distance of 1 or 2, and more otherwise.  On targets without an instruction
#: that counts bits, the distance 2 may give 1 (``simd.closeness``).
smallest_distance = make_pair_scan(np.uint64(255), _update_distance)


@block(always=True)
def lane_pattern(n, lanes):
    """Return the bits of a word that belong to labels of Q_n, the low bits of each lane; for n > 32 these are the low 32 bits."""
    width = 512 // lanes
    pattern = bits.ZERO
    for shift in range(0, 64, width):
        pattern |= ((bits.ONE << np.uint64(min(n, width))) - bits.ONE) << np.uint64(shift)
    return pattern


@block(always=True)
def valid_lanes(start, spacing, lanes, first, stop):
    """Return a mask in which bit i is set if lane i, the trial ``start + spacing * i``, is in [first, stop)."""
    if first <= start and start + (lanes - 1) * spacing < stop:
        return bits.ALL_BITS >> np.uint64(64 - lanes)
    before, ended = (first - start + spacing - 1) // spacing, (stop - start + spacing - 1) // spacing
    return bits.first_lanes(ended, lanes) & ~bits.first_lanes(before, lanes)


@block
def redraw_repeats(key, t, n, f, labels, at, lanes):
    """Make the f labels of trial ``t`` distinct; return whether two of them are within distance 2.

    The trial's labels are ``labels[at]``, ``labels[at + lanes]``, ...: its lane of each row.  Repeated labels are dropped, later
    ones move up, and the next labels of the trial's sequence fill the end.  Only for n <= 32, because lanes hold 32 bits at most.
    """
    # The indices are unsigned: Numba tests signed indices for being negative, an eighth of all time at n = 8, f = 7.
    lane, row_length, wanted = np.uint64(at), np.uint64(lanes), np.uint64(f)
    taken = bits.ZERO
    j = bits.ZERO
    has_close = False
    while taken < wanted:
        x = np.uint64(labels[lane + j * row_length]) if j < wanted else node_label(key, t, np.int64(j), n)
        is_new = True
        is_close = False
        for i in range(taken):
            distance = bits.popcount(x ^ np.uint64(labels[lane + np.uint64(i) * row_length]))
            is_new &= distance != 0
            is_close |= distance <= 2
        if is_new:
            labels[lane + taken * row_length] = x
            taken += bits.ONE
            has_close |= is_close
        j += bits.ONE
    return has_close
