"""The tree with the fewest faulty links, compared with FIND_TREE's and TOP_DOWN's, under few faulty links, 4 <= n <= 12.

Entry point: ``optimal_tree_lanes``, which samples with the study's key.

Links are sampled and FIND_TREE's sink and order found as in ``lanes``, 32 trials at a time.  TOP_DOWN's tree is found here.  It
chooses, of the present subcube, the dimension that the fewest faulty links cross, then the half with fewer faulty links, which
becomes the present subcube.  Trials whose FIND_TREE tree has a faulty link wait for ``lattice``.

Trials that do not fit (no sink among the 16 lowest labels, rows used up) are run one at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..draws.lanes import valid_lanes
from ..machine import bits, simd
from ..machine.array_types import Words16
from ..machine.bits import ONE, ZERO
from ..machine.jit import TRIALS_SIGNATURE, block, kernel
from .dead_links import LANE_COUNT, clear_dead_links, draw_dead_links, read_point
from .lanes import draw_links, find_orders, find_sinks, link_rows_for, max_rows, translate_links
from .lattice import (
    FAULT_FREE_TOP_DOWN,
    count_filled_lanes,
    count_greedy,
    count_optimal,
    optimal_tree_scratch_for,
    queue_trial,
)
from .subcube_lattice import insert_dead_link

#: Number of trials that a lattice solves together, one byte each: a trial has up to MOST_IN_LANES dead links.
_LATTICE_LANES = 64


class SubcubeLinks(NamedTuple):
    """The links inside each lane's present subcube, by rows as in ``lanes.LinkRows``; other links are 0 in both arrays."""

    low: Words16  #: lower ends
    bit: Words16  #: dimensions as single bits


@block
def _copy_subcube_links(count, fixed, side, rows, inside):
    """Copy the links inside each lane's subcube to ``inside``; return their numbers.

    A node is in the subcube if it agrees with ``side`` in the dimensions of the mask ``fixed``.  Other links of a row get lower
    end 0 and no dimension.
    """
    zero = fixed - fixed
    one = simd.splat_like(zero, ONE)
    number = zero
    for row in range(count):
        low = simd.load(rows.low, row * LANE_COUNT)
        bit = simd.load(rows.bit, row * LANE_COUNT)
        has_low = ((low ^ side) & fixed) == zero
        is_inside = has_low & ((bit & ~fixed) != zero)
        simd.store(inside.low, row * LANE_COUNT, simd.select(is_inside, low, zero))
        simd.store(inside.bit, row * LANE_COUNT, simd.select(is_inside, bit, zero))
        number = number + simd.select(is_inside, one, zero)
    return number


@block
def _find_top_down_trees(n, count, rows, inside):
    """Return the numbers of faulty links of TOP_DOWN's trees in lanes; ``inside`` is scratch memory.

    It must run before the links are translated.  The rank of a dimension has its number of crossing links in the upper byte, and
    the number of links of its half with fewer in the lower one; neither is above 127.
    """
    zero = simd.splat_like(simd.load(rows.low, 0), ZERO)
    one = simd.splat_like(zero, ONE)
    eight = simd.splat_like(zero, np.uint64(8))
    no_rank = zero - one
    fixed = side = tree_faults = zero
    for _ in range(n):
        number = _copy_subcube_links(count, fixed, side, rows, inside)
        least = no_rank
        best = half = zero
        for j in range(n):
            shift = simd.splat_like(zero, np.uint64(j))
            upper = crossing = zero
            for row in range(count):
                upper = upper + ((simd.load(inside.low, row * LANE_COUNT) >> shift) & one)
                crossing = crossing + ((simd.load(inside.bit, row * LANE_COUNT) >> shift) & one)
            lower = (number - crossing) - upper
            rank = (crossing << eight) | simd.minimum(upper, lower)
            dimension = simd.splat_like(zero, ONE << np.uint64(j))
            rank = simd.select((fixed & dimension) != zero, no_rank, rank)
            is_worse = least <= rank  # ties: the lowest dimension
            best = simd.select(is_worse, best, dimension)
            half = simd.select(is_worse, half, simd.select(lower <= upper, zero, dimension))
            least = simd.minimum(least, rank)
        tree_faults = tree_faults + (least >> eight)
        fixed = fixed | best
        side = side | half
    return tree_faults


@kernel(TRIALS_SIGNATURE)
def optimal_tree_lanes(key, first, stop, params, tally):
    """Run trials of FIND_TREE, TOP_DOWN and the optimum, 4 <= n <= 12, up to 31 links, no faulty nodes; params as of ``lanes``.

    For 32 trials and L links it takes the operations of ``find_tree_lanes``, 6 n^2 L vector operations for TOP_DOWN, and those of
    ``lattice``.
    """
    n, links, _ = read_point(params)
    rows = link_rows_for(links)
    size = max_rows(links) * LANE_COUNT
    inside = SubcubeLinks(np.zeros(size, np.uint16), np.zeros(size, np.uint16))
    top_down_faults = np.zeros(LANE_COUNT, np.uint16)
    sinks = np.zeros(LANE_COUNT, np.uint16)
    scratch = optimal_tree_scratch_for(n, links, np.int64(0), _LATTICE_LANES, np.uint8(0))
    lattice = scratch.lattice
    filled = np.int64(0)
    for start in range(first - first % LANE_COUNT, stop, LANE_COUNT):
        count, unfit = draw_links(key, np.uint64(8 * (start // LANE_COUNT)), n, links, rows)
        found, without_sink = find_sinks(n, count, rows)
        simd.store(sinks, 0, found)
        simd.store(top_down_faults, 0, _find_top_down_trees(n, count, rows, inside))
        translate_links(found, count, rows)
        find_orders(n, links, count, rows)
        live = valid_lanes(start, 1, LANE_COUNT, first, stop)
        unfit = (unfit | without_sink) & live
        live &= ~unfit
        while live:
            lane = bits.lowest(live)
            live &= live - ONE
            tree_faults = np.int64(rows.tree_faults[lane])
            tally[FAULT_FREE_TOP_DOWN] += top_down_faults[lane] == 0
            count_greedy(start + lane, np.int64(top_down_faults[lane]), tree_faults, tally)
            if tree_faults == 0:
                continue
            for at in range(lane, count * LANE_COUNT, LANE_COUNT):
                if rows.bit[at]:
                    low = rows.ident[at] & np.uint16(0xFFF)  # not from ``rows.low``, which is used up
                    insert_dead_link(lattice, filled, _LATTICE_LANES, low, rows.bit[at])
            sink = np.int64(sinks[lane])
            filled = queue_trial(n, start + lane, sink, tree_faults, lattice, _LATTICE_LANES, filled, tally)
        while unfit:
            t = start + bits.lowest(unfit)
            unfit &= unfit - ONE
            dead_links = draw_dead_links(key, t, n, links, np.int64(0), scratch.dead)
            filled = count_optimal(n, t, dead_links, scratch, _LATTICE_LANES, filled, tally)
            clear_dead_links(dead_links, scratch.dead)
    count_filled_lanes(n, filled, lattice, _LATTICE_LANES, tally)


#: Points (n, links, f) on both sides of each threshold inside this kernel, or at the limits of their points, by the reason.
EDGES = {
    "four dimensions are the fewest": ((4, 3, 0), (4, 4, 0)),
    "up to n = 6 the sums of all subcubes stay in the L1 cache": ((6, 5, 0), (6, 6, 0), (7, 6, 0)),
    "31 links are the most that five planes count": ((6, 31, 0), (8, 31, 0)),
}
