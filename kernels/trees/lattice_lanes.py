"""The tree with the fewest faulty links, beside FIND_TREE's and TOP_DOWN's, under few faulty links, 4 <= n <= 12.

Entry: ``optimal_tree_lanes``.  Draws from the study's key as it is.

Links are drawn and FIND_TREE's sink and order found as in ``lanes``, 32 trials at a time; TOP_DOWN's tree is found here; trials
whose FIND_TREE tree has a faulty link wait for ``lattice``.

Trials that do not fit (no sink among the 16 lowest labels, rows used up) are done by themselves.
"""

from __future__ import annotations

import numpy as np

from ..draws.lanes import valid_lanes
from ..machine import bits, simd
from ..machine.jit import TRIALS_SIGNATURE, block, kernel
from .dead_links import LANES, clear_dead, draw_dead
from .lanes import draw_links, find_sinks, most_rows, move_sinks, ordering, rows_for
from .lattice import FAULT_FREE_TOP_DOWN, count_greedy, count_optimal, enter, flush, search_for, wait

_ONE = np.uint64(1)
_ZERO = np.uint64(0)

#: Trials that a lattice solves together, each in a byte: a trial has up to MOST_IN_LANES dead links.
_SOLVED = 64

_orders = ordering(5)


@block
def _keep_inside(count, fixed, side, rows, kept):
    """Copy the links of each lane's subcube to the rows behind ``low``'s and ``bit``'s in ``kept``; returns their numbers."""
    zero = fixed - fixed
    one = simd.like(zero, _ONE)
    number = zero
    for row in range(count):
        low = simd.load(rows.low, row * LANES)
        bit = simd.load(rows.bit, row * LANES)
        there = ((low ^ side) & fixed) == zero
        inside = there & ((bit & ~fixed) != zero)
        simd.store(kept, 2 * row * LANES, simd.select(inside, low, zero))
        simd.store(kept, (2 * row + 1) * LANES, simd.select(inside, bit, zero))
        number = number + simd.select(inside, one, zero)
    return number


@block
def _top_down(n, count, rows, kept):
    """The faulty links of TOP_DOWN's trees in lanes, before the sinks are moved; ``kept`` is scratch of two rows a link.

    A dimension's rank is its crossing links, then those of its half with fewer, in one number: neither is above 127.
    """
    zero = simd.like(simd.load(rows.low, 0), _ZERO)
    one = simd.like(zero, _ONE)
    eight = simd.like(zero, np.uint64(8))
    nobody = zero - one
    fixed = side = faults = zero
    for _ in range(n):
        number = _keep_inside(count, fixed, side, rows, kept)
        least = nobody
        best = half = zero
        for j in range(n):
            by = simd.like(zero, np.uint64(j))
            upper = crossing = zero
            for row in range(count):
                low = simd.load(kept, 2 * row * LANES)
                bit = simd.load(kept, (2 * row + 1) * LANES)
                upper = upper + ((low >> by) & one)
                crossing = crossing + ((bit >> by) & one)
            lower = (number - crossing) - upper
            rank = (crossing << eight) | simd.minimum(upper, lower)
            dimension = simd.like(zero, _ONE << np.uint64(j))
            rank = simd.select((fixed & dimension) != zero, nobody, rank)
            worse = least <= rank  # ties: the lowest dimension
            best = simd.select(worse, best, dimension)
            half = simd.select(worse, half, simd.select(lower <= upper, zero, dimension))
            least = simd.minimum(least, rank)
        faults = faults + (least >> eight)
        fixed = fixed | best
        side = side | half
    return faults


@kernel(TRIALS_SIGNATURE)
def optimal_tree_lanes(key, first, stop, params, tally):
    """Count trials of FIND_TREE, TOP_DOWN and the optimum, 4 <= n <= 12, up to 31 links, no faulty nodes; params as of ``lanes``.

    For 32 trials and L links what ``find_tree_lanes`` takes, and 6 n^2 L vector operations for TOP_DOWN; then as ``lattice``.
    """
    n = np.int64(params[0])
    links = np.int64(params[1])
    rows = rows_for(links)
    kept = np.zeros(2 * most_rows(links) * LANES, np.uint16)
    crossed = np.zeros(LANES, np.uint16)
    sinks = np.zeros(LANES, np.uint16)
    s = search_for(n, links, np.int64(0), _SOLVED, np.uint8(0))
    lattice = s.lattice
    steps = np.empty(2 * 16, np.int64)
    filled = np.int64(0)
    for start in range(first - first % LANES, stop, LANES):
        count, left = draw_links(key, np.uint64(8 * (start // LANES)), n, links, rows)
        found, none = find_sinks(n, count, rows)
        simd.store(sinks, 0, found)
        simd.store(crossed, 0, _top_down(n, count, rows, kept))
        move_sinks(found, count, rows)
        _orders(n, count, rows)
        live = valid_lanes(start, 1, LANES, first, stop)
        left = (left | none) & live
        live &= ~left
        while live:
            lane = bits.lowest(live)
            live &= live - _ONE
            faults = np.int64(rows.faults[lane])
            tally[FAULT_FREE_TOP_DOWN] += crossed[lane] == 0
            count_greedy(start + lane, np.int64(crossed[lane]), faults, tally)
            if faults == 0:
                continue
            for at in range(lane, count * LANES, LANES):
                if rows.bit[at]:
                    enter(lattice, filled, _SOLVED, np.uint8(1), rows.ident[at] & np.uint16(0xFFF), rows.bit[at])
            filled = wait(n, start + lane, np.int64(sinks[lane]), faults, lattice, _SOLVED, filled, steps, tally)
        while left:
            t = start + bits.lowest(left)
            left &= left - _ONE
            dead = draw_dead(key, t, n, links, np.int64(0), s.dead)
            filled = count_optimal(n, t, dead, s, _SOLVED, np.uint8(1), filled, steps, tally)
            clear_dead(dead, s.dead)
    flush(n, filled, lattice, _SOLVED, steps, tally)
