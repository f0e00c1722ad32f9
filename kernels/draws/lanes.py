"""Sample fault labels for a vector of trials, and find the smallest distance between two faults of each trial.

Kernels whose lanes are trials use this module, most of them through ``fastcube.kernels.draws.sieve``.  Row k of ``labels`` holds
fault k of a vector of trials.  Xor, ``simd.closeness`` and minimum over all pairs decide whether a trial's smallest distance is
0, 1 or 2, or more.  Distance 0 means a repeated label, and such a trial samples further labels in scalar code.

Lanes have 8 bits for n <= 8, 16 for n <= 16 and 32 above; for n > 32 they hold the low 32 bits.  For n <= 8 a word holds eight
trials.  A kernel with lanes of 16 bits can serve n <= 8 too: it splits them into two vectors (``parts``), of the even and of the
odd trials.  ``lanes`` is the number of lanes, a literal for which the blocks that take it are specialised.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..machine import bits, simd
from ..machine.jit import block
from . import philox
from .nodes import node_label

# ---------------------------------------------------------------- a vector of trials


@block(always=True)
def _store_labels(words, at, even, odd, used, parts, step):
    """Write two words of each trial of a vector as rows of labels; with two ``parts``, odd trials ``step`` words later."""
    simd.store(words, at, even & used)
    simd.store(words, at + 8, odd & used)
    if parts == 2:
        byte = simd.splat(np.uint64(8))
        simd.store(words, at + step, (even >> byte) & used)
        simd.store(words, at + step + 8, (odd >> byte) & used)


@block(always=True)
def draw_rows(key, first_block, f, pattern, words):
    """Write the first f labels of a vector of trials to the f + 1 rows in ``words``.

    Labels are sampled in pairs, so an odd f fills the last row as well.
    """
    prepared = philox.prepare_lanes(key, first_block, philox.LABELS)
    used = simd.splat(pattern)
    for k in range(0, f, 2):
        even, odd = philox.word_lanes(key, prepared, np.uint64(k >> 1))
        _store_labels(words, 8 * k, even, odd, used, 1, 0)


@block(always=True, stored=True)
def draw_four_vectors(key, first_block, f, parts, pattern, words):
    """Do ``draw_rows`` for four vectors, f + 1 rows each, or the two ``parts`` of each; ``first_block`` is a multiple of 32."""
    prepared = philox.prepare_four_vectors(key, first_block, philox.LABELS)
    used = simd.splat(pattern)
    step = 8 * (f + 1)
    for k in range(0, f, 2):
        evens, odds = philox.word_lanes(key, prepared, np.uint64(k >> 1))
        even, odd = simd.quarters(evens), simd.quarters(odds)
        _store_labels(words, 8 * k, even[0], odd[0], used, parts, step)
        _store_labels(words, 8 * k + parts * step, even[1], odd[1], used, parts, step)
        _store_labels(words, 8 * k + 2 * parts * step, even[2], odd[2], used, parts, step)
        _store_labels(words, 8 * k + 3 * parts * step, even[3], odd[3], used, parts, step)


@block(always=True)
def row_offset(start, step, f):
    """Return the offset, in the rows of ``draw_four_vectors``, of the vector of ``step`` trials that begins with ``start``."""
    return (start // step & 3) * (f + 1) * step


def make_pair_scan(start: np.uint64, update: Any) -> Any:
    """Return the block ``scan_pairs(labels, at, lanes, f)``: the least of ``start`` and the values of all pairs of f rows.

    ``update(least, x, y)`` returns the less of ``least`` and the value of rows x and y, lane by lane.  Four rows at a time are
    compared with each earlier row, so that each load serves four pairs.
    """

    @block(always=True, alone=True)
    def scan_pairs(labels, at, lanes, f):
        first = simd.load(labels, at)
        n0 = simd.splat_like(first, start)
        n1 = n0
        n2 = n0
        n3 = n0
        rest = f & 3
        for i in range(1, rest):
            x = simd.load(labels, at + i * lanes)
            for j in range(i):
                n0 = update(n0, x, simd.load(labels, at + j * lanes))
        for i in range(rest, f, 4):
            x0 = simd.load(labels, at + i * lanes)
            x1 = simd.load(labels, at + (i + 1) * lanes)
            x2 = simd.load(labels, at + (i + 2) * lanes)
            x3 = simd.load(labels, at + (i + 3) * lanes)
            n0 = update(n0, x0, x1)
            n1 = update(n1, x0, x2)
            n2 = update(n2, x0, x3)
            n3 = update(n3, x1, x2)
            n0 = update(n0, x1, x3)
            n1 = update(n1, x2, x3)
            for j in range(i):
                y = simd.load(labels, at + j * lanes)
                n0 = update(n0, x0, y)
                n1 = update(n1, x1, y)
                n2 = update(n2, x2, y)
                n3 = update(n3, x3, y)
        return simd.minimum(simd.minimum(n0, n1), simd.minimum(n2, n3))

    return scan_pairs


@block
def _update_distance(least, x, y):
    """Return the smaller of ``least`` and the closeness of two rows of labels, lane by lane."""
    return simd.minimum(least, simd.closeness(x ^ y))


#: The least ``simd.closeness`` of two of the f faults, lane by lane: 0 for a repeated label, 1 or 2 if the smallest distance is 1
#: or 2, and more otherwise.  For lanes of 32 bits it is the smallest distance only on targets that count bits at once.
smallest_distance = make_pair_scan(np.uint64(255), _update_distance)


@block(always=True)
def lane_pattern(n, lanes):
    """Return the bits of a word that belong to labels of Q_n; for n > 32 these are the low 32 bits of the labels."""
    width = 512 // lanes
    pattern = bits.ZERO
    for shift in range(0, 64, width):
        pattern |= ((bits.ONE << np.uint64(min(n, width))) - bits.ONE) << np.uint64(shift)
    return pattern


@block(always=True)
def valid_lanes(start, step, lanes, first, stop):
    """Return a mask in which bit i is set if trial ``start + i step`` is in [first, stop)."""
    if first <= start and start + (lanes - 1) * step < stop:
        return bits.ALL_BITS >> np.uint64(64 - lanes)
    before, ended = (first - start + step - 1) // step, (stop - start + step - 1) // step
    return bits.first_lanes(ended, lanes) & ~bits.first_lanes(before, lanes)


@block
def redraw_repeats(key, t, n, f, labels, at, lanes):
    """Replace the repeated labels of one trial, in column ``at`` of the rows; return whether two are within distance 2.

    Only for n <= 32, because further labels are compared as a whole with those in the rows.
    """
    # The indices are unsigned: Numba tests signed indices for being negative, an eighth of all time at n = 8, f = 7.
    column, step, wanted = np.uint64(at), np.uint64(lanes), np.uint64(f)
    taken = bits.ZERO
    j = bits.ZERO
    has_close = False
    while taken < wanted:
        x = np.uint64(labels[column + j * step]) if j < wanted else node_label(key, t, np.int64(j), n)
        is_new = True
        is_close = False
        for i in range(taken):
            distance = bits.popcount(x ^ np.uint64(labels[column + np.uint64(i) * step]))
            is_new &= distance != 0
            is_close |= distance <= 2
        if is_new:
            labels[column + taken * step] = x
            taken += bits.ONE
            has_close |= is_close
        j += bits.ONE
    return has_close
