"""Queued trials of the lane kernels: trials with close faults, closed and run one vector at a time.

A queue (``fastcube.kernels.draws.sieve``) has rows of two vectors, and each column is a trial:

    rows 0 .. f - 1      label of fault 0, 1, ... of the trial in that column
    (two more rows)      second and third queue only: its one large subcube, mask of free dimensions and a label inside
    last three rows      the trial's index: lane, and low and high half of the group

``lanes`` is the number of lanes, a literal for which the blocks that take it are specialised.
"""

from __future__ import annotations

import numpy as np

from ..cube.subcubes import close_subcubes, measure_subcubes
from ..draws import sieve
from ..machine import bits, simd
from ..machine.bits import ONE, ZERO
from ..machine.jit import block
from ..tally.maxima import offer
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

    Row f of the queue is the subcube's mask and row f + 1 a label inside it.  A fault of another subcube gets the index of that
    label.
    """
    free = _load_row(cells, lanes, f)
    label = _load_row(cells, lanes, f + 1)
    zero = free ^ free
    for k in range(f):
        simd.store(index, lanes * k, zero)
    rest = free
    for b in range(6 + dims):
        low = rest & (zero - rest)
        rest = rest ^ low
        bit = simd.splat_like(zero, ONE << np.uint64(b))
        for k in range(f):
            x = _load_row(cells, lanes, k)
            inside = ((x ^ label) & ~free) == zero
            x = simd.select(inside, x, label)
            at = simd.load(index, lanes * k)
            simd.store(index, lanes * k, simd.select((x & low) != zero, at | bit, at))


@block
def _build_cubes(index, lanes, f, dims, q0, cubes):
    """Write 32 words of ``cubes``, the faults of the next 32 >> ``dims`` columns as bitmasks of 2^(6 + ``dims``) nodes.

    Eight cubes are interleaved, a word of each in every vector.  Each word of ``index`` holds ``per_word`` columns, so cube l of
    the g-th eight is column ``per_word l + q0 + g``.
    """
    per_word = lanes >> 3
    mask = simd.splat(np.uint64((64 << dims) - 1))
    for v in range(4):
        q = q0 + (v >> dims)
        x = simd.splat(ZERO)
        if q < per_word:
            shift = simd.splat(np.uint64(q * (64 // per_word)))
            base = simd.splat(np.uint64(64 * (v & ((1 << dims) - 1))))
            for k in range(f):
                at = (simd.as64(simd.load(index, lanes * k)) >> shift) & mask
                x = x | simd.one_hot(at - base)
        simd.store(cubes, 8 * v, x)


@block
def run_cubes(work, queue, dims, lanes, tally):
    """Run the rounds of the first vector of a second or third queue, and drop it; each trial has at least one round."""
    f, per_word = work.samples.count, lanes >> 3
    index = work.masks  # labels inside subcubes here
    _locate_faults(queue.cells, lanes, f, dims, index)
    for q0 in range(0, per_word, 4 >> dims):
        _build_cubes(index, lanes, f, dims, q0, work.cubes)
        valid = ZERO
        for i in range(32 >> dims):
            q = q0 + (i >> 3)
            valid |= np.uint64(per_word * (i & 7) + q < queue.filled[0] and q < per_word) << np.uint64(i)
        rounds, last, _, _ = run_rounds(dims, work.cubes, valid, valid, work.reached)
        if rounds >= tally[MOST_ROUNDS]:  # equal numbers too: the smallest trial wins
            while last:
                i = bits.lowest(last)
                last &= last - ONE
                column = per_word * (i & 7) + q0 + (i >> 3)
                offer(tally, MOST_ROUNDS, rounds, sieve.decode_trial(queue, lanes, column))
    sieve.drop_first_vector(queue, lanes)


@block
def append_hard_columns(second, lanes, f, hard, queue, free, label):
    """Append the hard columns of the queue, with their subcube, to a second queue."""
    sieve.append_lanes(second, lanes, f, hard, queue.cells, 0, 2 * lanes)
    sieve.append_compressed(second, lanes, f, hard, free)
    sieve.append_compressed(second, lanes, f + 1, hard, label)
    for k in range(f, f + 3):  # the trial's index, behind the two added rows
        sieve.append_compressed(second, lanes, k + 2, hard, _load_row(queue.cells, lanes, k))
    second.filled[0] += bits.popcount(hard)
