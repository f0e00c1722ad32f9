"""The tree with the fewest faulty links, compared with FIND_TREE's and TOP_DOWN's, n <= 12, with one trial per vector lane.

Entry points: ``OPTIMAL_TREE_8`` and ``_16``, whose work is ``optimal_trees`` inside ``_make_kernel``.  They sample with the
study's key, one trial after another (``dead_links.draw_dead_links``).

The number of faulty links in the stages to come depends on the subcube Q that holds the data, not on the sink inside it, so

    tail[Q] = min over fixed j of cross(Q, j) + tail[Q + j],   cross(Q, j) = inside[Q + j] - inside[Q] - inside[Q ^ j]

over 3^n subcubes serves all 2^n sinks.  Here inside[Q] is the number of dead links with both ends in Q.  A subcube is a base-3
number: digit j is its fixed bit 0 or 1, or 2 if it is free.  Subcube Q of lane i is stored at ``Q * lanes + i``.

A lane has 8 bits if no trial of the point has more than 255 dead links, else 16.  No sum overflows: the links of Q, those that
leave it first and those of later stages are different dead links of one trial.  So inside[Q + j] - inside[Q ^ j] + tail[Q + j],
of which the minimum is taken, is at most their number.

Trials whose FIND_TREE tree has no faulty link need no search, and trials without a sink have no fault-free tree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..machine import simd
from ..machine.array_types import Cells, Ints
from ..machine.bits import ALL_BITS
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from ..tally.sums import add_quantity, offer
from .dead_links import (
    AXES,
    DeadLinks,
    clear_dead_links,
    dead_links_for,
    draw_dead_links,
    first_sink,
    max_dead_links,
    next_dead_links,
    read_point,
)
from .layout import OPTIMAL_TREE
from .orders import OrderWorkspace, find_order, find_top_down_order, order_workspace_for

_SINK = OPTIMAL_TREE.counter("sink_exists")
_FAULT_FREE = OPTIMAL_TREE.counter("fault_free")
_FAULT_FREE_EXISTS = OPTIMAL_TREE.counter("fault_free_exists")
FAULT_FREE_TOP_DOWN = OPTIMAL_TREE.counter("fault_free_top_down")
_OPTIMAL = OPTIMAL_TREE.counter("optimal")
_TREE_FAULTS = OPTIMAL_TREE.moments("tree_faults")
_GAP = OPTIMAL_TREE.moments("gap")
_OPTIMUM = OPTIMAL_TREE.moments("optimum")
_PRODUCT = OPTIMAL_TREE.counter("product")
_SAME_SINK = OPTIMAL_TREE.moments("same_sink")
_ANY_SINK = OPTIMAL_TREE.moments("any_sink")
_TOP_DOWN = OPTIMAL_TREE.moments("top_down")
_LARGEST_GAP = OPTIMAL_TREE.maximum("largest_gap")

#: Number of low digits whose subcubes are processed together: fixed higher digits are listed once per 27 subcubes.
_LOW_DIGITS = 3
#: Number of digits whose sums stay in the L1 cache: 3^6 subcubes take 46 KB.
_CACHED_LEVELS = 6


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
    low_count: Ints  #: 27 entries: number of fixed digits among the low digits
    low_steps: Ints  #: (27, 3, 2), flat: step to the subcube with that digit free, and to the subcube's other half
    high_steps: Ints  #: scratch: these two steps times the lanes, for each fixed high digit of the current subcubes


class OptimalTreeScratch(NamedTuple):
    """Scratch memory of a kernel's call."""

    dead: DeadLinks
    workspace: OrderWorkspace  #: for FIND_TREE and TOP_DOWN
    lattice: SubcubeLattice


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
    low_steps = np.zeros(27 * 3 * 2, np.int64)
    for q in range(27):
        power = 1
        for _ in range(min(n, _LOW_DIGITS)):
            digit = q // power % 3
            if digit < 2:
                at = (q * 3 + low_count[q]) * 2
                low_steps[at] = (2 - digit) * power
                low_steps[at + 1] = (1 - 2 * digit) * power
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
        np.empty(2 * n, np.int64),
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


@block
def _find_tails(n, lattice, size, lanes):
    """Fill ``tail``, from the whole cube down.

    ``h`` holds the high digits of 27 subcubes, whose ``fixed`` fixed digits have their two steps in ``high_steps``.
    """
    group = np.int64(1)
    for _ in range(min(n, _LOW_DIGITS)):
        group *= 3
    inside, tail, steps = lattice.inside, lattice.tail, lattice.high_steps
    zero = simd.load(inside, 0)
    zero = zero - zero
    largest = zero - 1
    simd.store(tail, (size - 1) * lanes, zero)
    for h in range(size // group - 1, -1, -1):
        fixed = np.int64(0)
        rest = h
        power = group
        for _ in range(n - min(n, _LOW_DIGITS)):
            digit = rest % 3
            rest //= 3
            steps[2 * fixed] = (2 - digit) * power * lanes
            steps[2 * fixed + 1] = (1 - 2 * digit) * power * lanes
            fixed += digit < 2
            power *= 3
        for low in range(group - 1, -1, -1):
            at = (h * group + low) * lanes
            if at == (size - 1) * lanes:
                continue
            fewest = largest
            for e in range(fixed):
                up = at + steps[2 * e]
                other = simd.load(inside, at + steps[2 * e + 1])
                fewest = simd.minimum(fewest, (simd.load(inside, up) - other) + simd.load(tail, up))
            for e in range(lattice.low_count[low]):
                up = at + lattice.low_steps[(low * 3 + e) * 2] * lanes
                other = simd.load(inside, at + lattice.low_steps[(low * 3 + e) * 2 + 1] * lanes)
                fewest = simd.minimum(fewest, (simd.load(inside, up) - other) + simd.load(tail, up))
            simd.store(tail, at, fewest - simd.load(inside, at))


@block
def _solve_lanes(n, lattice, lanes):
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


@block
def count_optima(tally, t, faults, optimum, same_sink, any_sink):
    """Tally a trial with a sink and a faulty link in FIND_TREE's tree."""
    gap = faults - optimum
    add_quantity(tally, _TREE_FAULTS, faults)
    tally[_PRODUCT] += faults * optimum
    add_quantity(tally, _OPTIMUM, optimum)
    add_quantity(tally, _SAME_SINK, same_sink)
    add_quantity(tally, _ANY_SINK, any_sink)
    add_quantity(tally, _GAP, gap)
    tally[_OPTIMAL] += gap == 0
    tally[_FAULT_FREE_EXISTS] += optimum == 0
    offer(tally, _LARGEST_GAP, gap, t)


@block
def count_filled_lanes(n, filled, lattice, lanes, tally):
    """Solve and tally the trials in the first ``filled`` lanes."""
    if filled == 0:
        return
    _solve_lanes(n, lattice, lanes)
    for lane in range(filled):
        same_sink = np.int64(lattice.tail[lattice.places[lattice.sinks[lane]] * lanes + lane])
        count_optima(
            tally,
            lattice.trials[lane],
            lattice.faults[lane],
            np.int64(lattice.clean[lane]),
            same_sink,
            np.int64(lattice.least[lane]),
        )


@block
def count_greedy(t, top_down_faults, faults, tally):
    """Tally a trial with a sink by the faulty links of TOP_DOWN's and FIND_TREE's trees; 0 in the latter is optimal."""
    tally[_SINK] += 1
    add_quantity(tally, _TOP_DOWN, top_down_faults)
    if faults == 0:
        tally[_FAULT_FREE] += 1
        tally[_FAULT_FREE_EXISTS] += 1
        tally[_OPTIMAL] += 1
        offer(tally, _LARGEST_GAP, faults, t)


@block
def queue_trial(n, t, sink, faults, lattice, lanes, filled, tally):
    """Queue a trial whose links have been inserted until all lanes are filled; return the number of filled lanes."""
    lattice.trials[filled] = t
    lattice.sinks[filled] = sink
    lattice.faults[filled] = faults
    if filled + 1 < lanes:
        return filled + 1
    count_filled_lanes(n, lanes, lattice, lanes, tally)
    return np.int64(0)


@block
def count_optimal(n, t, count, scratch, lanes, filled, tally):
    """Tally a trial whose dead links are listed, or insert it into a lane; return the number of filled lanes."""
    dead, workspace, lattice = scratch.dead, scratch.workspace, scratch.lattice
    _, top_down_faults = find_top_down_order(n, dead.low, dead.bit, count, workspace)
    tally[FAULT_FREE_TOP_DOWN] += top_down_faults == 0
    sink = first_sink(dead)
    if sink < 0:
        return filled
    faults = find_order(n, sink, dead.low, dead.bit, count, workspace)
    count_greedy(t, top_down_faults, faults, tally)
    if faults == 0:
        return filled
    for i in range(count):
        insert_dead_link(lattice, filled, lanes, dead.low[i], dead.bit[i])
    return queue_trial(n, t, sink, faults, lattice, lanes, filled, tally)


@scratch
def optimal_tree_scratch_for(n, links, f, lanes, zero):
    """Return scratch memory for trials at (n, links, f), with lattices of ``lanes`` trials and values of the type of ``zero``."""
    return OptimalTreeScratch(
        dead_links_for(n, links, f), order_workspace_for(max_dead_links(n, links, f)), lattice_for(n, lanes, zero)
    )


def _make_kernel(width: int, word: Any, all_sets: bool = False) -> Kernel:
    lanes = 512 // width
    zero = word(0)

    @kernel(TRIALS_SIGNATURE, variant=f"{width}_sets" if all_sets else f"{width}")
    def optimal_trees(key, first, stop, params, tally):
        """Run trials of FIND_TREE, TOP_DOWN and the optimum; params are (n, links, f), n <= 12.

        64 or 32 trials with a faulty tree are solved together.  This takes n 3^n vector operations, each with memory traffic of
        6.6 n bytes, or twice as many with 16-bit lanes.
        """
        n, links, f = read_point(params)
        scratch = optimal_tree_scratch_for(n, links, f, lanes, zero)
        filled = np.int64(0)
        for t in range(first, stop):
            count = (
                next_dead_links(n, links, f, params[AXES:], scratch.dead)
                if all_sets
                else draw_dead_links(key, t, n, links, f, scratch.dead)
            )
            filled = count_optimal(n, t, count, scratch, lanes, filled, tally)
            clear_dead_links(count, scratch.dead)
        count_filled_lanes(n, filled, scratch.lattice, lanes, tally)

    return optimal_trees


#: Kernels for points whose trials have up to 255 dead links, and for other points.
OPTIMAL_TREE_8 = _make_kernel(8, np.uint8)
OPTIMAL_TREE_16 = _make_kernel(16, np.uint16)

#: Kernel of all fault sets; params as of ``dead_links.make_kernels``.
OPTIMAL_TREE_SETS = _make_kernel(16, np.uint16, all_sets=True)
