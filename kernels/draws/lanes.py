"""Fault sets in lanes: a vector of trials drawn at once, and those with close faults queued.

Lanes are trials.  Row k of ``labels`` holds fault k of a vector of trials; xor, popcount and minimum over all pairs give
each trial's smallest distance.  Distance 0 is a repeated label: its trial is drawn on, by itself.  Most trials have no
two faults within distance 2, hence no unsafe node; the others are pressed together into a queue, to be closed a vector at a
time (:func:`fastcube.kernels.cube.subcubes.close_subcubes`).

A queue has rows of two vectors, one row a label, and columns that are trials; behind the labels come rows that tell the
trial (its lane, and the digits of its group).  New columns are appended behind the first ``count``, and
once a vector is full its columns are worked on and the rest shifted down.  ``lanes`` is the number of lanes, a
literal with which all blocks here are specialised.

Lanes have 8 bits for n <= 8, 16 for n <= 16 and 32 above, where for n > 32 they hold the low 32 bits.  In lanes of 16 bits
the eight trials that a word holds for n <= 8 are split into two vectors (``parts``), of the even and of the odd trials.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..machine import bits, simd
from ..machine.jit import block
from . import philox
from .nodes import node_label

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


# ---------------------------------------------------------------- a vector of trials


@block(always=True)
def _store_labels(words, at, even, odd, used, parts, step):
    """Write two words of each trial of a vector as rows of labels; with two ``parts`` odd trials' labels ``step`` words on."""
    simd.store(words, at, even & used)
    simd.store(words, at + 8, odd & used)
    if parts == 2:
        byte = simd.splat(np.uint64(8))
        simd.store(words, at + step, (even >> byte) & used)
        simd.store(words, at + step + 8, (odd >> byte) & used)


@block(always=True)
def draw_rows(key, block, f, pattern, words):
    """Fill the rows of the labels' ``words`` with the first f labels of a vector of trials, f + 1 rows."""
    prepared = philox.prepare_lanes(key, block, philox.LABELS)
    used = simd.splat(pattern)
    for k in range(0, f, 2):
        even, odd = philox.word_lanes(key, prepared, np.uint64(k >> 1))
        _store_labels(words, 8 * k, even, odd, used, 1, 0)


@block(always=True)
def draw_four_vectors(key, block, f, parts, pattern, words):
    """:func:`draw_rows` of four vectors one after the other, f + 1 rows each, or of the two ``parts`` of each.

    ``block`` is a multiple of 32.
    """
    prepared = philox.prepare_four_vectors(key, block, philox.LABELS)
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
    """Where the rows of ``step`` trials from ``start`` on, of a vector or its two parts, begin in those of
    :func:`draw_four_vectors`."""
    return (start // step & 3) * (f + 1) * step


@block
def _update_distance(near, x, y):
    return simd.minimum(near, simd.popcount(x ^ y))


@block(always=True, alone=True)
def smallest_distance(labels, at, lanes, f):
    """Smallest distance between two of the f faults, lane by lane, over all f (f - 1) / 2 pairs.

    Four rows at a time are held against each earlier one, so that each load serves four pairs.
    """
    first = simd.load(labels, at)
    n0 = simd.splat_like(first, np.uint64(255))
    n1 = n0
    n2 = n0
    n3 = n0
    rest = f & 3
    for i in range(1, rest):
        x = simd.load(labels, at + i * lanes)
        for j in range(i):
            n0 = _update_distance(n0, x, simd.load(labels, at + j * lanes))
    for i in range(rest, f, 4):
        x0 = simd.load(labels, at + i * lanes)
        x1 = simd.load(labels, at + (i + 1) * lanes)
        x2 = simd.load(labels, at + (i + 2) * lanes)
        x3 = simd.load(labels, at + (i + 3) * lanes)
        n0 = _update_distance(n0, x0, x1)
        n1 = _update_distance(n1, x0, x2)
        n2 = _update_distance(n2, x0, x3)
        n3 = _update_distance(n3, x1, x2)
        n0 = _update_distance(n0, x1, x3)
        n1 = _update_distance(n1, x2, x3)
        for j in range(i):
            y = simd.load(labels, at + j * lanes)
            n0 = _update_distance(n0, x0, y)
            n1 = _update_distance(n1, x1, y)
            n2 = _update_distance(n2, x2, y)
            n3 = _update_distance(n3, x3, y)
    return simd.minimum(simd.minimum(n0, n1), simd.minimum(n2, n3))


@block(always=True)
def lane_pattern(n, lanes):
    """The bits of a word that are labels' in Q_n, or their low 32 bits."""
    width = 512 // lanes
    pattern = _ZERO
    for shift in range(0, 64, width):
        pattern |= ((_ONE << np.uint64(min(n, width))) - _ONE) << np.uint64(shift)
    return pattern


@block(always=True)
def valid_lanes(start, step, lanes, first, stop):
    """Bit i tells whether trial ``start + i step`` is in [first, stop)."""
    if first <= start and start + (lanes - 1) * step < stop:
        return bits.ALL_BITS >> np.uint64(64 - lanes)
    before, ended = (first - start + step - 1) // step, (stop - start + step - 1) // step
    return bits.first_lanes(ended, lanes) & ~bits.first_lanes(before, lanes)


@block
def redraw_repeats(key, t, n, f, labels, at, lanes):
    """Replace the repeated labels of one trial, in column ``at`` of the rows; whether two are within distance 2."""
    # unsigned: Numba looks at each signed index whether it counts from the end, an eighth of all time at n = 8, f = 7
    column, step, wanted = np.uint64(at), np.uint64(lanes), np.uint64(f)
    taken = _ZERO
    j = _ZERO
    near = False
    while taken < wanted:
        x = np.uint64(labels[column + j * step]) if j < wanted else node_label(key, t, np.int64(j), n)
        new = True
        close = False
        for i in range(taken):
            apart = bits.popcount(x ^ np.uint64(labels[column + np.uint64(i) * step]))
            new &= apart != 0
            close |= apart <= 2
        if new:
            labels[column + taken * step] = x
            taken += _ONE
            near |= close
        j += _ONE
    return near


# ---------------------------------------------------------------- queues


class Queue(NamedTuple):
    """Trials pressed together."""

    cells: Any  #: unsigned, rows of two vectors
    rows: Any  #: int64: how many
    filled: Any  #: int64, one: columns in use


@block
def append_lanes(queue, lanes, rows, chosen, source, at, step):
    """Press the chosen lanes of ``rows`` rows together behind the filled columns of the queue's first rows."""
    for k in range(rows):
        row = simd.load(source, at + k * step)
        simd.store(queue.cells, 2 * lanes * k + queue.filled[0], simd.compress(simd.mask(row, chosen), row))


@block
def append_row(queue, lanes, k, row):
    """Write a vector behind the filled columns of row ``k``."""
    simd.store(queue.cells, 2 * lanes * k + queue.filled[0], row)


@block(always=True)
def group_index_rows(lanes):
    """Number of rows that tell a group, below 2^32 at least: 4 with lanes of 8 bits, otherwise 2."""
    return np.int64(4 if lanes == 64 else 2)


@block(always=True)
def append_trial_ids(queue, lanes, kind, chosen, group):
    """Write which trials the chosen lanes of a group are, vectors like ``kind``, and count them in."""
    row = queue.rows - 1 - group_index_rows(lanes)
    append_row(queue, lanes, row, simd.compress(simd.mask(kind, chosen), simd.iota(kind)))
    for i in range(group_index_rows(lanes)):
        append_row(queue, lanes, row + 1 + i, simd.splat_like(kind, np.uint64(group >> (512 // lanes * i))))
    queue.filled[0] += bits.popcount(chosen)


@block
def drop_first_vector(queue, lanes):
    """Drop the first vector of columns."""
    for k in range(queue.rows):
        simd.store(queue.cells, 2 * lanes * k, simd.load(queue.cells, 2 * lanes * k + lanes))
    queue.filled[0] -= lanes


@block
def decode_trial(queue, lanes, column, origin, parts):
    """The trial of a column, from its lane and the digits of its group."""
    row = queue.rows - 1 - group_index_rows(lanes)
    lane = np.int64(queue.cells[2 * lanes * row + column])
    group = np.int64(0)
    for i in range(group_index_rows(lanes)):
        group |= np.int64(queue.cells[2 * lanes * (row + 1 + i) + column]) << (512 // lanes * i)
    part = group & (parts - 1)
    return origin + (group - part) * lanes + lane * parts + part
