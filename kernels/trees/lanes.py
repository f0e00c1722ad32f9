"""FIND_TREE under few faulty links, 4 <= n <= 12, with one trial per vector lane, 32 at a time.

Entry point: ``find_tree_lanes``.  It samples with the study's key the positions of a trial's sequence of links (LINKS and
DIMENSIONS).

1. *Links*: row i holds a link of each trial; rows are sampled until every trial has its number of distinct links.  A skipped,
   repeated or surplus position is an empty entry of its lane: lower end 0xFFFF and no dimension, which never counts.
2. *Sink*: the first of the 16 lowest labels that is not an end of a link.
3. *Order*: as ``orders.py``, one row at a time.  Each iteration uses the dimension j with the least COST(j), the number of faulty
   links that ``_target_of_row`` assigns to j.  COST is stored as bit planes: bit j of plane b is bit b of COST(j).  The planes
   are built by carry-save addition of one single bit per link.  The least COST is found from the highest plane down.
4. *Blocked senders* are counted as the tree's faulty links less the isolated nodes.  An isolated node is an end of n links, so
   link ends are counted in 64 cells by their low six bits, up to sixteen.  Only lanes with n ends in a cell are examined further.

Trials that do not fit (no sink among the 16 labels, rows used up, n ends in a cell) are run one at a time.

A row has 32 lanes of 16 bits.  A random word holds a field for each of four trials, so eight words serve 32 trials.  Lane 4 i + g
is field g of word i.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..draws import philox
from ..draws.lanes import valid_lanes
from ..draws.links import decode_link_lanes
from ..machine import bits, simd
from ..machine.array_types import Words, Words16
from ..machine.bits import ONE, ZERO
from ..machine.jit import TRIALS_SIGNATURE, block, kernel, scratch
from .dead_links import LANE_COUNT, clear_dead_links, draw_dead_links, read_point
from .scalar import CLEAN_COUNTERS, count_dense, count_tree, set_up

#: Words of a bit plane of a group's cells, and of its planes of 1, 2, 4, 8 and of 16 or more.
_PLANE = 8
_GROUP = 5 * _PLANE


class LinkRows(NamedTuple):
    """Scratch for 32 trials, made by ``link_rows_for``."""

    low: Words16  #: lower ends, row by row; relative to the sink from step 3 on
    bit: Words16  #: dimensions as single bits
    ident: Words16  #: a number of each link, equal for equal links; 0xFFFF for a skipped position
    cells: Words  #: for each group g of lanes 4 i + g five bit planes of counts; bit c of word i is for cell c
    faults: Words16  #: number of faulty links of each tree


@block
def max_rows(links):
    """Return the number of rows for ``links`` distinct links; trials that need more are run one at a time."""
    return links + links // 2 + 16


@scratch
def link_rows_for(links):
    size = max_rows(links) * LANE_COUNT
    return LinkRows(
        np.empty(size, np.uint16),
        np.empty(size, np.uint16),
        np.empty(size, np.uint16),
        np.empty(4 * _GROUP, np.uint64),
        np.empty(LANE_COUNT, np.uint16),
    )


# ---------------------------------------------------------------- 1. links


@block
def _is_repeated(ident, rows, row):
    """Return the mask of the lanes whose link is in an earlier row."""
    near = simd.splat_like(ident, np.uint64(0xFFFF))
    other = near
    for j in range(0, row - 1, 2):
        near = simd.minimum(near, ident ^ simd.load(rows.ident, j * LANE_COUNT))
        other = simd.minimum(other, ident ^ simd.load(rows.ident, (j + 1) * LANE_COUNT))
    if row & 1:
        near = simd.minimum(near, ident ^ simd.load(rows.ident, (row - 1) * LANE_COUNT))
    zero = near - near
    return simd.minimum(near, other) == zero


@block
def _write_link_row(nodes, fields, n, links, rows, row, taken):
    """Write one position of each trial's sequence as a row; return ``taken``, the numbers of distinct links so far, updated.

    ``nodes`` are the random words of the links' nodes, and ``fields`` the random words of their dimensions.
    A skipped position is stored as 0xFFFF, which is no link's number, so that its link is not taken for a repeated one later.
    """
    low, bit, skipped = decode_link_lanes(simd.as16(nodes), simd.as16(fields), np.uint64(n))
    zero = low - low
    one = simd.splat_like(low, ONE)
    no_link = zero - one
    dimension = simd.popcount(bit - one)
    ident = low ^ (dimension << 12)
    simd.store(rows.ident, row * LANE_COUNT, simd.select(skipped, no_link, ident))
    full = taken == simd.splat_like(low, np.uint64(links))
    empty = _is_repeated(ident, rows, row) | skipped | full
    simd.store(rows.low, row * LANE_COUNT, simd.select(empty, no_link, low))
    simd.store(rows.bit, row * LANE_COUNT, simd.select(empty, zero, bit))
    return taken + simd.select(empty, zero, one)


@block
def draw_links(key, block_, n, links, rows):
    """Fill the rows of 32 trials; return the number of rows and the lanes with too few links.

    ``block_`` is the block of random words of the first four trials.
    """
    nodes = philox.prepare_lanes(key, block_, philox.LINKS)
    dimensions = philox.prepare_lanes(key, block_, philox.DIMENSIONS)
    taken = simd.splat_like(simd.load(rows.low, 0), ZERO)
    every = simd.splat_like(taken, np.uint64(links))
    row = np.int64(0)
    short = ZERO
    while row + 1 < max_rows(links):
        even, odd = philox.word_lanes(key, nodes, np.uint64(row >> 1))
        field_even, field_odd = philox.word_lanes(key, dimensions, np.uint64(row >> 1))
        taken = _write_link_row(even, field_even, n, links, rows, row, taken)
        taken = _write_link_row(odd, field_odd, n, links, rows, row + 1, taken)
        row += 2
        if row >= links:
            short = simd.bits(taken != every)
            if short == ZERO:
                break
    return row, short


# ---------------------------------------------------------------- 2. sink, and cells


@block
def find_sinks(n, count, rows):
    """Return the sinks in lanes, and the lanes without one among the 16 lowest labels.

    Bit i of a lane of ``touched`` says whether label i is an end of a link.
    """
    zero = simd.splat_like(simd.load(rows.low, 0), ZERO)
    one = simd.splat_like(zero, ONE)
    touched = zero
    for row in range(count):
        low = simd.load(rows.low, row * LANE_COUNT)
        bit = simd.load(rows.bit, row * LANE_COUNT)
        touched = touched | (simd.one_hot(low) | simd.one_hot(low | bit))
    first_free = (touched + one) & ~touched
    return simd.popcount(first_free - one), simd.bits(first_free == zero)


@block
def _count_link_end(rows, group, ends):
    """Count one end of a link of each of eight trials in its cell."""
    at = group * _GROUP
    carry = simd.one_hot(ends)
    for plane in range(4):
        held = simd.load(rows.cells, at + _PLANE * plane)
        simd.store(rows.cells, at + _PLANE * plane, held ^ carry)
        carry = held & carry
    simd.store(rows.cells, at + 4 * _PLANE, simd.load(rows.cells, at + 4 * _PLANE) | carry)


@block
def _full_cells(n, a, b, c, d, more):
    """Return the cells with n ends or more, 4 <= n <= 12, from the planes of 1, 2, 4, 8 and of 16 or more."""
    above = more ^ more  # cells whose digits so far are larger than those of n - 1
    for j, plane in enumerate((a, b, c, d)):
        above = simd.majority(plane, above, simd.splat(ZERO if (n - 1) >> j & 1 else bits.ALL_BITS))
    return more | above


@block
def _crowded_lanes(n, count, rows):
    """Return the lanes in which some cell has n ends, so that a node may be isolated."""
    zero = simd.splat_like(simd.load(rows.cells, 0), ZERO)
    for at in range(0, 4 * _GROUP, _PLANE):
        simd.store(rows.cells, at, zero)
    low_six_bits = simd.splat_like(zero, np.uint64(63))
    mask = simd.splat_like(zero, np.uint64(0xFFFF))
    no_cell = simd.splat_like(zero, np.uint64(64))
    for row in range(count):
        low = simd.as64(simd.load(rows.low, row * LANE_COUNT))
        bit = simd.as64(simd.load(rows.bit, row * LANE_COUNT))
        for group in range(4):
            by = simd.splat_like(zero, np.uint64(16 * group))
            u = (low >> by) & mask
            v = u | ((bit >> by) & mask)
            empty = u == mask
            _count_link_end(rows, group, simd.select(empty, no_cell, u & low_six_bits))
            _count_link_end(rows, group, simd.select(empty, no_cell, v & low_six_bits))
    out = ZERO
    for group in range(4):
        at = group * _GROUP
        a = simd.load(rows.cells, at)
        b = simd.load(rows.cells, at + _PLANE)
        c = simd.load(rows.cells, at + 2 * _PLANE)
        d = simd.load(rows.cells, at + 3 * _PLANE)
        here = simd.bits(_full_cells(n, a, b, c, d, simd.load(rows.cells, at + 4 * _PLANE)) != zero)
        for i in range(8):
            out |= ((here >> np.uint64(i)) & ONE) << np.uint64(4 * i + group)
    return out


# ---------------------------------------------------------------- 3. order


@block(always=True)
def _target_of_row(rows, at, used, zero, one, faults):
    """Return the dimension, as a single bit or 0, in whose COST a row's link counts, and the updated ``faults`` of the trees.

    The dimension ``used`` by the iteration before is cleared in the lower end.  A link of that dimension is dropped, and is in
    the tree if its lower end is 0.  Another link counts for its own dimension if its lower end is 0, and for dimension j if its
    lower end is 2^j (``orders.py``).  An empty entry and a dropped link have bits 12 to 15 set and so never count, as n <= 12.
    """
    low = simd.load(rows.low, at) & ~used
    bit = simd.load(rows.bit, at)
    at_sink = low == zero
    gone = (bit & used) != zero
    faults = simd.select(at_sink & gone, faults + one, faults)
    low = simd.select(gone, zero - one, low)
    simd.store(rows.low, at, low)
    target = simd.select(at_sink & ~gone, bit, low)
    single = (target & (target - one)) == zero
    return simd.select(single, target, zero), faults


@block(always=True)
def _full_adder(x, y, z):
    """Return sum and carry of three bits, for each bit of each lane."""
    carry = simd.as16(simd.majority(simd.as64(x), simd.as64(y), simd.as64(z)))
    return x ^ y ^ z, carry


@block(always=True)
def _half_adder(x, y):
    return x ^ y, x & y


@block(always=True)
def _prefer_zero_bits(least, plane, zero):
    """Return the dimensions in ``least`` whose bit in a plane of COST is 0, or ``least`` if there are none."""
    rest = least & ~plane
    return simd.select(rest == zero, least, rest)


@block(always=True)
def _add_ripple(high, w):
    """Return the planes 2 .. 7 of COST after adding ``w`` to plane 2.

    Eight planes suffice, because COST is at most the number of links, ``dispatch.MOST_IN_LANES`` = 128.
    """
    c2, c3, c4, c5, c6, c7 = high
    c2, w = _half_adder(c2, w)
    c3, w = _half_adder(c3, w)
    c4, w = _half_adder(c4, w)
    c5, w = _half_adder(c5, w)
    c6, w = _half_adder(c6, w)
    c7, w = _half_adder(c7, w)
    return c2, c3, c4, c5, c6, c7


@block(always=True)
def _find_cheapest(rest, c0, c1, high, zero, is_wide):
    """Return the dimensions of ``rest`` with the least COST, found from the highest plane down.

    Unless COST ``is_wide``, above 31, the three highest planes are empty.
    """
    least = rest
    if is_wide:
        least = _prefer_zero_bits(least, high[5], zero)
        least = _prefer_zero_bits(least, high[4], zero)
        least = _prefer_zero_bits(least, high[3], zero)
    least = _prefer_zero_bits(least, high[2], zero)
    least = _prefer_zero_bits(least, high[1], zero)
    least = _prefer_zero_bits(least, high[0], zero)
    least = _prefer_zero_bits(least, c1, zero)
    return _prefer_zero_bits(least, c0, zero)


@block
def find_orders(n, links, count, rows):
    """Run FIND_TREE in all lanes, and write the numbers of faulty links of the trees to ``faults``.

    In each iteration COST is the sum of the rows' targets, with planes c0, c1 and ``high``.  Four rows are added at a time.
    """
    zero = simd.splat_like(simd.load(rows.low, 0), ZERO)
    one = simd.splat_like(zero, ONE)
    rest = simd.splat_like(zero, (ONE << np.uint64(n)) - ONE)
    used = zero
    faults = zero
    is_wide = links > 31
    for _ in range(n):
        c0 = c1 = zero
        high = (zero, zero, zero, zero, zero, zero)
        row = np.int64(0)
        while row + 4 <= count:
            a, faults = _target_of_row(rows, row * LANE_COUNT, used, zero, one, faults)
            b, faults = _target_of_row(rows, (row + 1) * LANE_COUNT, used, zero, one, faults)
            c, faults = _target_of_row(rows, (row + 2) * LANE_COUNT, used, zero, one, faults)
            d, faults = _target_of_row(rows, (row + 3) * LANE_COUNT, used, zero, one, faults)
            c0, u = _full_adder(c0, a, b)
            c0, v = _full_adder(c0, c, d)
            c1, w = _full_adder(c1, u, v)
            high = _add_ripple(high, w)
            row += 4
        while row < count:
            a, faults = _target_of_row(rows, row * LANE_COUNT, used, zero, one, faults)
            c0, u = _half_adder(c0, a)
            c1, w = _half_adder(c1, u)
            high = _add_ripple(high, w)
            row += 1
        least = _find_cheapest(rest, c0, c1, high, zero, is_wide)
        used = least & (zero - least)  # ties: the lowest dimension (R5)
        rest = rest & ~used
    for last in range(count):  # links of the dimension d_0, used last
        _, faults = _target_of_row(rows, last * LANE_COUNT, used, zero, one, faults)
    simd.store(rows.faults, 0, faults)


# ---------------------------------------------------------------- trials


@block
def translate_links(sinks, count, rows):
    """Translate lower ends to labels relative to the sinks, as the search for orders requires; empty entries stay."""
    for row in range(count):
        low = simd.load(rows.low, row * LANE_COUNT)
        bit = simd.load(rows.bit, row * LANE_COUNT)
        empty = bit == (bit - bit)
        moved = (low ^ sinks) & ~bit
        simd.store(rows.low, row * LANE_COUNT, simd.select(empty, low, moved))


@block
def _count_lanes(start, live, faulty, rows, tally):
    """Count the live lanes: lanes without a faulty link in the tree together, the others one by one."""
    clean = live & ~faulty
    if clean:
        count_tree(tally, start + bits.lowest(clean), np.int64(0), np.int64(0))
        more = bits.popcount(clean) - 1
        for slot in CLEAN_COUNTERS:
            tally[slot] += more
    rest = live & faulty
    while rest:
        lane = bits.lowest(rest)
        faults = np.int64(rows.faults[lane])
        count_tree(tally, start + lane, faults, faults)
        rest &= rest - ONE


@kernel(TRIALS_SIGNATURE)
def find_tree_lanes(key, first, stop, params, tally):
    """Run FIND_TREE's trials, 4 <= n <= 12, up to ``dispatch.MOST_IN_LANES`` links, no faulty nodes.

    ``params`` are (n, links, f).  For 32 trials and L links it takes 50 L vector operations to sample, L^2 to find repeated
    links, 45 L for the cells if n links may isolate a node, and 14 n L for the order.
    """
    n, links, _ = read_point(params)
    rows = link_rows_for(links)
    alone = set_up(params)
    origin = first - first % LANE_COUNT
    for start in range(origin, stop, LANE_COUNT):
        count, unfit = draw_links(key, np.uint64(8 * (start // LANE_COUNT)), n, links, rows)
        sinks, without_sink = find_sinks(n, count, rows)
        unfit |= without_sink
        crowded = _crowded_lanes(n, count, rows) if links >= n else ZERO
        translate_links(sinks, count, rows)
        find_orders(n, links, count, rows)
        live = valid_lanes(start, 1, LANE_COUNT, first, stop)
        faults = simd.load(rows.faults, 0)
        faulty = simd.bits(faults != (faults - faults))
        unfit = (unfit | (crowded & faulty)) & live
        _count_lanes(start, live & ~unfit, faulty, rows, tally)
        while unfit:
            t = start + bits.lowest(unfit)
            dead_links = draw_dead_links(key, t, n, links, np.int64(0), alone.dead)
            count_dense(n, t, dead_links, alone, tally)
            clear_dead_links(dead_links, alone.dead)
            unfit &= unfit - ONE


#: Points (n, links, f) on both sides of each threshold inside these kernels, or at the limits of their points, by the reason.
EDGES = {
    "n links can isolate a node": ((4, 3, 0), (4, 4, 0), (5, 4, 0), (5, 5, 0), (8, 7, 0), (8, 8, 0)),
    "from 32 links on COST has eight planes, below it five": ((8, 31, 0), (8, 32, 0)),
    "128 links are the most in lanes": ((10, 127, 0), (10, 128, 0)),
}
