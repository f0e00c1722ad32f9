"""The fewest dead links of a tree in Q_n, n <= 12, for all sinks of a trial at once, with one trial per vector lane.

A *dead link* is a faulty link or a link of a faulty node.  A tree gathers data in n stages.  Each of them crosses one dimension,
so that after some stages all data is in a subcube Q, in the end in the sink alone.  The last of these stages crosses a dimension
j that is fixed in Q.  With Q + j for Q with j free, and Q ^ j for the other half of Q + j, all links between Q and Q ^ j carry
data in this stage.  So the fewest dead links of the stages that gather all data in Q do not depend on the sink inside Q:

    fewest[Q] = min over fixed j of cross(Q, j) + fewest[Q + j],   cross(Q, j) = inside[Q + j] - inside[Q] - inside[Q ^ j]

Here inside[Q] is the number of dead links with both ends in Q.  The 3^n subcubes serve all 2^n sinks.  A subcube is a base-3
number: digit j is its fixed bit 0 or 1, or 2 if j is free.  Subcube Q of lane i is stored at ``Q * lanes + i``.

A lane has 8 bits if no trial of the point has more than 255 dead links, else 16.  No sum overflows: the links inside Q, those
between Q and Q ^ j and those of earlier stages are different dead links of one trial.  So inside[Q + j] - inside[Q ^ j] +
fewest[Q + j], of which the minimum is taken, is at most their number.
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

#: Indices inside a pair of steps of a fixed digit j of a subcube Q, and the length of a pair.  Steps are differences of indices,
#: times the number of lanes: *up* from Q to Q + j, *across* to Q ^ j.  Pairs are faster than two arrays by 5%.
_UP, _ACROSS, _PAIR = range(3)


class SubcubeLattice(NamedTuple):
    """The subcubes of a vector of trials, made by ``lattice_for``, filled by ``insert_dead_link``, solved by ``solve_lanes``."""

    inside: Cells  #: number of dead links inside each subcube; before ``solve_lanes`` only for subcubes of one link
    fewest: Cells  #: for each subcube the fewest dead links of the stages that gather all data in it
    has_dead_link: Cells  #: for each node all ones if it has a dead link, so that it is no sink with FAULT = 0
    optimum: Cells  #: (lanes): fewest dead links over sinks without a dead link (FAULT = 0)
    any_sink: Cells  #: (lanes): fewest dead links over all sinks
    trials: Ints  #: (lanes): the trial
    sinks: Ints  #: (lanes): FIND_TREE's sink
    tree_faults: Ints  #: (lanes): dead links of FIND_TREE's tree
    node_subcubes: Ints  #: base-3 number of each node
    low_fixed: Ints  #: (27): number of fixed digits among the low digits of this value
    low_steps: Ints  #: (27, _LOW_DIGITS, _PAIR), flat: steps of these fixed digits
    high_steps: Ints  #: (n, _PAIR), flat: in ``_find_fewest`` the steps of the group's fixed high digits


@scratch
def lattice_for(n, lanes, zero):
    """Return an empty lattice for Q_n with values of the type of ``zero``."""
    size = 1
    for _ in range(n):
        size *= 3
    node_subcubes = np.zeros(1 << n, np.int64)
    power = 1
    for j in range(n):
        for v in range(1 << j):
            node_subcubes[v | 1 << j] = node_subcubes[v] + power
        power *= 3
    low_fixed = np.zeros(27, np.int64)
    low_steps = np.zeros(27 * _LOW_DIGITS * _PAIR, np.int64)
    for low in range(27):
        power = 1
        for _ in range(min(n, _LOW_DIGITS)):
            digit = low // power % 3
            if digit < 2:
                pair = (_LOW_DIGITS * low + low_fixed[low]) * _PAIR
                low_steps[pair + _UP] = (2 - digit) * power * lanes
                low_steps[pair + _ACROSS] = (1 - 2 * digit) * power * lanes
                low_fixed[low] += 1
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
        node_subcubes,
        low_fixed,
        low_steps,
        np.empty(n * _PAIR, np.int64),
    )


@block
def insert_dead_link(lattice, lane, lanes, low, bit):
    """Insert a dead link, given by its lower end and its dimension as a single bit, into a lane."""
    low = np.int64(low)
    high = low | np.int64(bit)
    step = lattice.node_subcubes[high] - lattice.node_subcubes[low]
    lattice.inside[(lattice.node_subcubes[low] + 2 * step) * lanes + lane] = 1
    lattice.has_dead_link[low * lanes + lane] = ALL_BITS
    lattice.has_dead_link[high * lanes + lane] = ALL_BITS


@block
def _add_halves(inside, start, stop, step, lanes):
    """Add its two halves to each subcube in [start, stop) whose digit of weight ``step`` is free."""
    for base in range(start, stop, 3 * step):
        for q in range(base, base + step):
            halves = simd.load(inside, q * lanes) + simd.load(inside, (q + step) * lanes)
            whole = (q + 2 * step) * lanes
            simd.store(inside, whole, simd.load(inside, whole) + halves)


@block
def _count_inside(inside, size, lanes):
    """Fill ``inside`` from its entries for links, digit by digit; the lower digits in sections that stay in the L1 cache."""
    section = np.int64(1)
    for _ in range(_CACHED_LEVELS):
        section *= 3
    section = min(section, size)
    for start in range(0, size, section):
        step = np.int64(1)
        while step < section:
            _add_halves(inside, start, start + section, step, lanes)
            step *= 3
    step = section
    while step < size:
        _add_halves(inside, np.int64(0), size, step, lanes)
        step *= 3


@block(always=True)
def _take_smaller(best, lattice, start, steps, pair):
    """Return the smaller of ``best`` and inside[Q + j] - inside[Q ^ j] + fewest[Q + j], for Q at ``start``.

    Less inside[Q], which does not depend on j, this is the number of dead links if the stage into Q crosses j.  The steps of j
    begin at ``steps[pair]``.
    """
    larger = start + steps[pair + _UP]
    other = simd.load(lattice.inside, start + steps[pair + _ACROSS])
    return simd.minimum(best, (simd.load(lattice.inside, larger) - other) + simd.load(lattice.fewest, larger))


@block
def _find_fewest(n, lattice, size, lanes):
    """Fill ``fewest`` from ``inside``, from the whole cube down, so that Q + j, a larger number, comes before Q.

    The subcubes of a group have the same high digits, whose number is ``high``.
    """
    group = np.int64(1)
    for _ in range(min(n, _LOW_DIGITS)):
        group *= 3
    low_steps, high_steps = lattice.low_steps, lattice.high_steps
    zero = simd.load(lattice.inside, 0)
    zero = zero - zero
    largest = zero - 1
    simd.store(lattice.fewest, (size - 1) * lanes, zero)
    for high in range(size // group - 1, -1, -1):
        high_fixed = np.int64(0)
        digits = high
        power = group
        for _ in range(n - min(n, _LOW_DIGITS)):
            digit = digits % 3
            digits //= 3
            high_steps[_PAIR * high_fixed + _UP] = (2 - digit) * power * lanes
            high_steps[_PAIR * high_fixed + _ACROSS] = (1 - 2 * digit) * power * lanes
            high_fixed += digit < 2  # the steps of a free digit are overwritten
            power *= 3
        for low in range(group - 1, -1, -1):
            start = (high * group + low) * lanes
            if start == (size - 1) * lanes:
                continue
            best = largest
            for e in range(high_fixed):
                best = _take_smaller(best, lattice, start, high_steps, _PAIR * e)
            for e in range(lattice.low_fixed[low]):
                best = _take_smaller(best, lattice, start, low_steps, _PAIR * (_LOW_DIGITS * low + e))
            simd.store(lattice.fewest, start, best - simd.load(lattice.inside, start))


@block
def solve_lanes(n, lattice, lanes):
    """Write ``fewest``, ``optimum`` and ``any_sink`` of all lanes, and empty ``inside`` and ``has_dead_link`` for new trials."""
    size = lattice.inside.size // lanes
    _count_inside(lattice.inside, size, lanes)
    _find_fewest(n, lattice, size, lanes)
    zero = simd.load(lattice.inside, 0)
    zero = zero - zero
    optimum = any_sink = zero - 1  # the largest number
    for v in range(1 << n):
        fewest = simd.load(lattice.fewest, lattice.node_subcubes[v] * lanes)
        any_sink = simd.minimum(any_sink, fewest)
        optimum = simd.minimum(optimum, fewest | simd.load(lattice.has_dead_link, v * lanes))
        simd.store(lattice.has_dead_link, v * lanes, zero)
    simd.store(lattice.optimum, 0, optimum)
    simd.store(lattice.any_sink, 0, any_sink)
    for q in range(size):
        simd.store(lattice.inside, q * lanes, zero)
