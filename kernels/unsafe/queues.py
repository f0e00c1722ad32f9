"""Queues of the lane kernels: trials with close faults pressed together, closed and run a vector at a time.

A queue has rows of two vectors, one row a fault, and columns that are trials; behind the faults come three rows that
tell the trial (lane, and low and high half of the group).  New columns are appended behind the first ``count``, and
once a vector is full its columns are worked on and the rest shifted down.  ``lanes`` is the number of lanes, a
literal with which all blocks here are specialised.
"""

from __future__ import annotations

import numpy as np

from .. import bits, simd
from ..jit import block
from ..subcubes import close, measure
from .small import round_of_cubes
from .tally import MAX_ROUNDS, ROUNDS, ROUNDS_SQUARED, offer

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


@block
def append(queue, lanes, rows, count, chosen, source, at, step):
    """Press the chosen lanes of ``rows`` rows together behind the ``count`` columns of the queue's rows."""
    for k in range(rows):
        row = simd.load(source, at + k * step)
        simd.store(queue, 2 * lanes * k + count, simd.compress(simd.mask(row, chosen), row))


@block
def shift_down(queue, lanes, rows):
    """Drop the first vector of columns."""
    for k in range(rows):
        simd.store(queue, 2 * lanes * k, simd.load(queue, 2 * lanes * k + lanes))


@block
def trial_of(queue, lanes, row, column, origin, parts):
    """The trial of a column, from its rows lane, low group and high group."""
    lane = np.int64(queue[2 * lanes * row + column])
    group = np.int64(queue[2 * lanes * (row + 1) + column])
    group |= np.int64(queue[2 * lanes * (row + 2) + column]) << (512 // lanes)
    part = group & (parts - 1)
    return origin + (group - part) * lanes + lane * parts + part


# ---------------------------------------------------------------- closure


@block
def solve(queue, lanes, masks, f):
    """:func:`subcubes.close`, then :func:`subcubes.measure`."""
    close(queue, 2 * lanes, masks, f)
    return measure(queue, 2 * lanes, masks, f)


@block
def solve_unrolled(queue, lanes, masks, f):
    """:func:`solve` with its loops unrolled for f = 4 .. 7, the faults of Figure 8.

    Saves a seventh of all time at n = 10 and 12, and costs 0.4 s of compilation for each f.
    """
    if f == 4:
        return solve(queue, lanes, masks, 4)
    if f == 5:
        return solve(queue, lanes, masks, 5)
    if f == 6:
        return solve(queue, lanes, masks, 6)
    if f == 7:
        return solve(queue, lanes, masks, 7)
    return solve(queue, lanes, masks, f)


@block
def add_moments(nodes, width, sums):
    """Add the lanes of ``nodes`` and their squares (two digits) to three vectors of 64-bit sums, kept in ``sums``."""
    low = simd.splat(_LOW)
    lane = simd.splat((_ONE << np.uint64(width)) - _ONE)
    words = simd.as64(nodes)
    total = simd.load(sums, 0)
    least = simd.load(sums, 8)
    high = simd.load(sums, 16)
    for shift in range(0, 64, width):
        x = simd.both(simd.shift_right(words, simd.splat(np.uint64(shift))), lane)
        square = simd.mul32(x, x)
        total = simd.add(total, x)
        least = simd.add(least, simd.both(square, low))
        high = simd.add(high, simd.shift_right(square, simd.splat(_32)))
    simd.store(sums, 0, total)
    simd.store(sums, 8, least)
    simd.store(sums, 16, high)


# ---------------------------------------------------------------- rounds


@block
def _locate(second, lanes, f, dims, index):
    """Rows of ``index``: each fault's label inside its column's subcube, of 6 + dims dimensions.

    Row f of the queue is the subcube's mask and row f + 1 one label inside; a fault of another subcube gets the
    place of that label.
    """
    free = simd.load(second, 2 * lanes * f)
    label = simd.load(second, 2 * lanes * (f + 1))
    zero = simd.xor(free, free)
    for k in range(f):
        simd.store(index, lanes * k, zero)
    rest = free
    for b in range(6 + dims):
        low = simd.both(rest, simd.sub(zero, rest))
        rest = simd.xor(rest, low)
        bit = simd.like(zero, _ONE << np.uint64(b))
        for k in range(f):
            x = simd.load(second, 2 * lanes * k)
            inside = simd.equal(simd.without(simd.xor(x, label), free), zero)
            x = simd.select(inside, x, label)
            at = simd.load(index, lanes * k)
            simd.store(index, lanes * k, simd.select(simd.differ(simd.both(x, low), zero), simd.either(at, bit), at))


@block
def _build(index, lanes, f, dims, q0, cubes):
    """Four vectors of cubes from the located faults: lane l of the g-th eight is column ``per l + q0 + g``."""
    per = lanes >> 3
    mask = simd.splat(np.uint64((64 << dims) - 1))
    for v in range(4):
        q = q0 + (v >> dims)
        x = simd.splat(_ZERO)
        if q < per:
            shift = simd.splat(np.uint64(q * (64 // per)))
            base = simd.splat(np.uint64(64 * (v & ((1 << dims) - 1))))
            for k in range(f):
                at = simd.both(simd.shift_right(simd.as64(simd.load(index, lanes * k)), shift), mask)
                x = simd.either(x, simd.one_hot(simd.sub(at, base)))
        simd.store(cubes, 8 * v, x)


@block
def run_cubes(second, lanes, f, dims, index, cubes, count, origin, parts, tally):
    """Rounds of the first ``count`` trials of a second queue, all of which have an unsafe node: one or more."""
    per = lanes >> 3
    _locate(second, lanes, f, dims, index)
    for q0 in range(0, per, 4 >> dims):
        _build(index, lanes, f, dims, q0, cubes)
        valid = _ZERO
        for i in range(32 >> dims):
            valid |= np.uint64(per * (i & 7) + q0 + (i >> 3) < count and q0 + (i >> 3) < per) << np.uint64(i)
        rounds = bits.popcount(valid)
        squares = rounds
        last = valid
        at = np.int64(0)
        r = np.int64(0)
        while True:
            changed, _ = round_of_cubes(dims, cubes, at, 4 - at)
            changed &= valid
            if changed == _ZERO and r > 0:
                break
            at = 4 - at
            r += 1
            if r > 1:
                last = changed
                more = bits.popcount(changed)
                rounds += more
                squares += (2 * r - 1) * more
        tally[ROUNDS] += rounds
        tally[ROUNDS_SQUARED] += squares
        if r >= tally[MAX_ROUNDS]:
            while last:
                i = bits.lowest(last)
                last &= last - _ONE
                column = per * (i & 7) + q0 + (i >> 3)
                offer(tally, r, trial_of(second, lanes, f + 2, column, origin, parts))


@block
def press(second, lanes, f, filled, hard, queue, free, label):
    """Press the hard columns of the queue, with their subcube, behind the ``filled`` columns of a second queue."""
    append(second, lanes, f, filled, hard, queue, 0, 2 * lanes)
    chosen = simd.mask(free, hard)
    simd.store(second, 2 * lanes * f + filled, simd.compress(chosen, free))
    simd.store(second, 2 * lanes * (f + 1) + filled, simd.compress(chosen, label))
    for k in range(f, f + 3):
        row = simd.load(queue, 2 * lanes * k)
        simd.store(second, 2 * lanes * (k + 2) + filled, simd.compress(chosen, row))
    return filled + bits.popcount(hard)
