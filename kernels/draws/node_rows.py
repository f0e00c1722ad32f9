"""Mark sampled faulty nodes in a bitmask, for n <= 32: the fault sets of ``nodes.draw_faults``, from rows of sixteen labels.

Word j of block b is 64 random bits that ``philox`` computes from a point's key, the numbers b and j, and a purpose.  (``@block``
is something else: it declares a function that kernels call.)  Each word holds one label of 8, 4 or 2 trials, which share the
block (``nodes``).  A *row* is sixteen labels of a trial, in order: row q comes from words 16 q to 16 q + 15.

The words of a block are kept for the next trial, which mostly shares it, so trials in ascending order take the least time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.bitmask import bit_of, word_index, word_mask
from ..machine import simd
from ..machine.array_types import Ints, Words, Words32
from ..machine.bits import ONE, ZERO
from ..machine.jit import block, scratch
from . import philox
from .nodes import count_sampled_labels

#: Number of rows whose random words are stored for the other trials of the block; the words of later rows are made again.
_BUFFERED_ROWS = 256

#: Indices of ``Rows.held``: the block whose words are stored, -1 at first, and the number of its rows that are stored.
_BLOCK, _STORED_ROWS = range(2)


class Rows(NamedTuple):
    """Scratch memory to sample rows of sixteen labels; made by ``rows_for``."""

    #: (16 * _BUFFERED_ROWS): the random words of rows 0, 1, ... of one block; in each row the even words before the odd words
    words: Words
    labels: Words32  #: (16): the row of ``next_row``'s last call
    held: Ints  #: _BLOCK and _STORED_ROWS


@scratch
def rows_for():
    """Return scratch memory for any number of labels of one key; with another key, words of the first would be used."""
    return Rows(np.empty(16 * _BUFFERED_ROWS, np.uint64), np.empty(16, np.uint32), np.full(2, -1, np.int64))


@block
def next_row(key, t, q, n, rows):
    """Write the low 32 bits of labels 16 q .. 16 q + 15 of trial ``t`` (uint64) to ``rows.labels``.

    Call it for q = 0, 1, ... in turn: after row q is stored, all rows up to q count as stored.
    """
    # Equal to nodes.field_position, for an unsigned t and without divisions.
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
        halves = simd.splat(np.uint64(q << 3)) + simd.iota(simd.splat(block_))  # half h is words 2 h and 2 h + 1
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
    """Mark the faulty nodes of ``nodes.draw_faults`` in ``state``, a clear bitmask of all nodes; ``t`` is a uint64, n <= 32."""
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
