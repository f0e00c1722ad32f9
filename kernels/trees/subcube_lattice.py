"""The fewest faulty links of a tree in Q_n, n <= 12, for all sinks of a trial at once, with one trial per vector lane.

The number of faulty links in the stages to come depends on the subcube Q that holds the data, not on the sink inside it, so

    tail[Q] = min over fixed j of cross(Q, j) + tail[Q + j],   cross(Q, j) = inside[Q + j] - inside[Q] - inside[Q ^ j]

over 3^n subcubes serves all 2^n sinks.  Here inside[Q] is the number of dead links with both ends in Q.  A subcube is a base-3
number: digit j is its fixed bit 0 or 1, or 2 if it is free.  Subcube Q of lane i is stored at ``Q * lanes + i``.

A lane has 8 bits if no trial of the point has more than 255 dead links, else 16.  No sum overflows: the links of Q, those that
leave it first and those of later stages are different dead links of one trial.  So inside[Q + j] - inside[Q ^ j] + tail[Q + j],
of which the minimum is taken, is at most their number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine import simd
from ..machine.array_types import Cells, Ints
from ..machine.bits import ALL_BITS
from ..machine.jit import block, scratch

#: Number of low digits whose subcubes are processed together: fixed higher digits are listed once per 27 subcubes.
_LOW_DIGITS = 3
#: Number of digits whose sums stay in the L1 cache: 3^6 subcubes take 46 KB.
_CACHED_LEVELS = 6


#: Steps along a fixed digit, in turn in arrays of steps: to the subcube in which it is free, and to that subcube's other half.
_UP, _ACROSS, _STEPS = range(3)


class SubcubeLattice(NamedTuple):
    """A vector of trials with their subcubes, made by ``lattice_for``."""

    inside: Cells  #: number of dead links inside each subcube
    tail: Cells  #: fewest faulty links in the stages to come, for each subcube
    ends: Cells  #: all ones for nodes with a dead link
    clean: Cells  #: fewest faulty links over sinks without a dead link (FAULT = 0)
    least: Cells  #: fewest faulty links over all sinks
    trials: Ints  #: the trial in each lane
    sinks: Ints  #: the sink in each lane
    faults: Ints  #: faulty links of FIND_TREE's tree in each lane
    places: Ints  #: base-3 number of each node
    low_count: Ints  #: 27 entries: number of fixed digits among the low digits of that value
    low_steps: (
        Ints  #: (27, 3, 2), flat: the steps, times the lanes, of the fixed low digits, for each value of the low digits
    )
    high_steps: Ints  #: (n, 2), flat, scratch: these steps of the fixed high digits of the current subcubes


@scratch
def lattice_for(n, lanes, zero):
    """Return an empty lattice for Q_n with values of the type of ``zero``."""
    size = 1
    for _ in range(n):
        size *= 3
    places = np.zeros(1 << n, np.int64)
    power = 1
    for j in range(n):
        for v in range(1 << j):
            places[v | 1 << j] = places[v] + power
        power *= 3
    low_count = np.zeros(27, np.int64)
    low_steps = np.zeros(27 * _LOW_DIGITS * _STEPS, np.int64)
    for q in range(27):
        power = 1
        for _ in range(min(n, _LOW_DIGITS)):
            digit = q // power % 3
            if digit < 2:
                at = (_LOW_DIGITS * q + low_count[q]) * _STEPS
                low_steps[at + _UP] = (2 - digit) * power * lanes
                low_steps[at + _ACROSS] = (1 - 2 * digit) * power * lanes
                low_count[q] += 1
            power *= 3
    return SubcubeLattice(
        np.full(size * lanes, zero),
        np.full(size * lanes, zero),
        np.full((1 << n) * lanes, zero),
        np.full(lanes, zero),
        np.full(lanes, zero),
        np.zeros(lanes, np.int64),
        np.zeros(lanes, np.int64),
        np.zeros(lanes, np.int64),
        places,
        low_count,
        low_steps,
        np.empty(n * _STEPS, np.int64),
    )


@block
def insert_dead_link(lattice, lane, lanes, low, bit):
    """Insert a dead link, given by its lower end and its dimension as a single bit, into a lane."""
    low = np.int64(low)
    high = low | np.int64(bit)
    step = lattice.places[high] - lattice.places[low]
    lattice.inside[(lattice.places[low] + 2 * step) * lanes + lane] = 1
    lattice.ends[low * lanes + lane] = ALL_BITS
    lattice.ends[high * lanes + lane] = ALL_BITS


@block
def _add_halves(inside, start, stop, step, lanes):
    """Add its two halves to each subcube in [start, stop) whose digit of weight ``step`` is free."""
    for base in range(start, stop, 3 * step):
        for q in range(base, base + step):
            x = simd.load(inside, q * lanes) + simd.load(inside, (q + step) * lanes)
            at = (q + 2 * step) * lanes
            simd.store(inside, at, simd.load(inside, at) + x)


@block
def _count_inside(inside, size, lanes):
    """Fill ``inside`` from its entries for links, digit by digit; the lower digits in parts that stay in the L1 cache."""
    part = np.int64(1)
    for _ in range(_CACHED_LEVELS):
        part *= 3
    part = min(part, size)
    for start in range(0, size, part):
        step = np.int64(1)
        while step < part:
            _add_halves(inside, start, start + part, step, lanes)
            step *= 3
    step = part
    while step < size:
        _add_halves(inside, np.int64(0), size, step, lanes)
        step *= 3


@block(always=True)
def _choose_digit(fewest, lattice, at, steps, e):
    """Return the smaller of ``fewest`` and inside + tail of the subcube at ``at`` if the digit of the steps from e on is next."""
    up = at + steps[e + _UP]
    other = simd.load(lattice.inside, at + steps[e + _ACROSS])
    return simd.minimum(fewest, (simd.load(lattice.inside, up) - other) + simd.load(lattice.tail, up))


@block
def _find_tails(n, lattice, size, lanes):
    """Fill ``tail``, from the whole cube down.

    Subcubes with the same high digits, whose number is ``high``, are processed together.
    """
    group = np.int64(1)
    for _ in range(min(n, _LOW_DIGITS)):
        group *= 3
    low_steps, high_steps = lattice.low_steps, lattice.high_steps
    zero = simd.load(lattice.inside, 0)
    zero = zero - zero
    largest = zero - 1
    simd.store(lattice.tail, (size - 1) * lanes, zero)
    for high in range(size // group - 1, -1, -1):
        fixed = np.int64(0)  # number of fixed high digits
        digits = high
        power = group
        for _ in range(n - min(n, _LOW_DIGITS)):
            digit = digits % 3
            digits //= 3
            high_steps[_STEPS * fixed + _UP] = (2 - digit) * power * lanes
            high_steps[_STEPS * fixed + _ACROSS] = (1 - 2 * digit) * power * lanes
            fixed += digit < 2
            power *= 3
        for low in range(group - 1, -1, -1):
            at = (high * group + low) * lanes
            if at == (size - 1) * lanes:
                continue
            fewest = largest
            for e in range(fixed):
                fewest = _choose_digit(fewest, lattice, at, high_steps, _STEPS * e)
            for e in range(lattice.low_count[low]):
                fewest = _choose_digit(fewest, lattice, at, low_steps, (_LOW_DIGITS * low + e) * _STEPS)
            simd.store(lattice.tail, at, fewest - simd.load(lattice.inside, at))


@block
def solve_lanes(n, lattice, lanes):
    """Write the optima of all lanes to ``clean``, ``least`` and ``tail``, and empty the rest of the lattice."""
    size = lattice.inside.size // lanes
    _count_inside(lattice.inside, size, lanes)
    _find_tails(n, lattice, size, lanes)
    zero = simd.load(lattice.inside, 0)
    zero = zero - zero
    clean = least = zero - 1  # the largest number
    for v in range(1 << n):
        tail = simd.load(lattice.tail, lattice.places[v] * lanes)
        least = simd.minimum(least, tail)
        clean = simd.minimum(clean, tail | simd.load(lattice.ends, v * lanes))
        simd.store(lattice.ends, v * lanes, zero)
    simd.store(lattice.clean, 0, clean)
    simd.store(lattice.least, 0, least)
    for q in range(size):
        simd.store(lattice.inside, q * lanes, zero)
