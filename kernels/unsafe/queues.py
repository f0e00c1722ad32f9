"""Queued trials of the lane kernels: trials with close faults, closed and run one vector at a time.

A queue (``fastcube.kernels.draws.sieve``) has rows of two vectors, and each column is a trial:

    rows 0 .. f - 1      label of fault 0, 1, ... of the trial in that column
    rows f, f + 1        only in queues for ``run_cubes``: the trial's large subcube, mask of free dimensions and a label inside
    last three rows      the trial's index: lane, and low and high half of the group

``lanes`` is the number of lanes, a literal for which the blocks that take it are specialised.  A 64-bit word of a row has
``per_word`` columns, 4 or 2, so column c is in field ``c % per_word`` of word ``c // per_word``.  ``dims`` is the number of
dimensions of a subcube above six: 0 or 2.
"""

from __future__ import annotations

import numpy as np

from ..cube.subcubes import close_subcubes, measure_subcubes
from ..draws import sieve
from ..machine import bits, simd
from ..machine.bits import ONE, ZERO
from ..machine.jit import block
from ..tally.sums import offer
from .entry import MOST_ROUNDS
from .small import run_rounds


@block(always=True)
def _load_row(cells, lanes, k):
    """Return the first vector of row k of a queue."""
    return simd.load(cells, 2 * lanes * k)


# ---------------------------------------------------------------- closure


@block
def close_and_measure(cells, masks, f):
    """Close the subcubes of a queue's first vector and measure them."""
    close_subcubes(cells, 2, masks, f)
    return measure_subcubes(cells, 2, masks, f)


@block
def close_and_measure_unrolled(cells, masks, f):
    """Do ``close_and_measure`` with its loops unrolled for f = 4 .. 7, as in Figure 8 of Lee & Hayes (1988).

    This saves a seventh of all time at n = 10 and 12, and costs 0.4 s of compilation for each f.
    """
    if f == 4:
        return close_and_measure(cells, masks, 4)
    if f == 5:
        return close_and_measure(cells, masks, 5)
    if f == 6:
        return close_and_measure(cells, masks, 6)
    if f == 7:
        return close_and_measure(cells, masks, 7)
    return close_and_measure(cells, masks, f)


# ---------------------------------------------------------------- rounds


@block
def _locate_faults(cells, lanes, f, dims, index):
    """Write rows of ``index``: each fault's label inside its column's subcube, of 6 + dims dimensions.

    A fault outside that subcube gets the index of the label inside it, that of another fault.
    """
    free = _load_row(cells, lanes, f)
    label = _load_row(cells, lanes, f + 1)
    zero = free ^ free
    for k in range(f):
        simd.store(index, lanes * k, zero)
    rest = free  # free dimensions that are not yet bits of the index
    for b in range(6 + dims):
        lowest = rest & (zero - rest)
        rest = rest ^ lowest
        bit = simd.splat_like(zero, ONE << np.uint64(b))
        for k in range(f):
            x = _load_row(cells, lanes, k)
            inside = ((x ^ label) & ~free) == zero
            x = simd.select(inside, x, label)
            below = simd.load(index, lanes * k)
            simd.store(index, lanes * k, simd.select((x & lowest) != zero, below | bit, below))


@block
def _build_cubes(index, lanes, f, dims, first_field, cubes):
    """Write 32 words of ``cubes``: the faults of 32 >> ``dims`` columns as bitmasks of 2^(6 + ``dims``) nodes.

    These are the columns in fields ``first_field``, ``first_field`` + 1, ... of the eight words.  Cube l of the g-th eight is the
    column in field ``first_field + g`` of word l, in lane l of one or four vectors (``small.py``).  Fields from ``per_word`` on
    do not exist, and their cubes are empty.
    """
    per_word = lanes >> 3
    mask = simd.splat(np.uint64((64 << dims) - 1))
    for v in range(4):
        field = first_field + (v >> dims)
        x = simd.splat(ZERO)
        if field < per_word:
            shift = simd.splat(np.uint64(field * (64 // per_word)))
            base = simd.splat(np.uint64(64 * (v & ((1 << dims) - 1))))
            for k in range(f):
                node = (simd.as64(simd.load(index, lanes * k)) >> shift) & mask
                x = x | simd.one_hot(node - base)
        simd.store(cubes, 8 * v, x)


@block
def run_cubes(work, queue, dims, lanes, tally):
    """Run the rounds of the first vector of ``work.queue_6`` or ``queue_8``, and drop it; each trial has at least one round."""
    f, per_word = work.samples.count, lanes >> 3
    index = work.masks  # labels inside subcubes here
    _locate_faults(queue.cells, lanes, f, dims, index)
    for first_field in range(0, per_word, 4 >> dims):
        _build_cubes(index, lanes, f, dims, first_field, work.cubes)
        valid = ZERO
        for i in range(32 >> dims):
            field = first_field + (i >> 3)
            column = per_word * (i & 7) + field
            valid |= np.uint64(column < queue.filled[0] and field < per_word) << np.uint64(i)
        rounds, slowest, _, _ = run_rounds(dims, work.cubes, valid, valid, work.reached)
        if rounds >= tally[MOST_ROUNDS]:  # equal numbers too: the smallest trial wins
            while slowest:
                i = bits.lowest(slowest)
                slowest &= slowest - ONE
                column = per_word * (i & 7) + first_field + (i >> 3)
                offer(tally, MOST_ROUNDS, rounds, sieve.decode_trial(queue, lanes, column))
    sieve.drop_first_vector(queue, lanes)


@block
def append_with_subcube(target, lanes, f, chosen, queue, free, label):
    """Append the chosen columns of a queue's first vector to a queue for ``run_cubes``, with their subcubes (free, label)."""
    sieve.append_lanes(target, lanes, f, chosen, queue.cells, 0, 2 * lanes)
    sieve.append_compressed(target, lanes, f, chosen, free)
    sieve.append_compressed(target, lanes, f + 1, chosen, label)
    for k in range(f, f + 3):  # the trial's index, behind the two added rows
        sieve.append_compressed(target, lanes, k + 2, chosen, _load_row(queue.cells, lanes, k))
    target.filled[0] += bits.popcount(chosen)  # last, because the rows above are appended after the filled columns
