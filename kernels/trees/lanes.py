"""FIND_TREE under few faulty links, 4 <= n <= 12, with one trial per vector lane, 32 at a time.

Entry point: ``find_tree_lanes``.  It samples with the study's key the positions of a trial's sequence of links (LINKS and
DIMENSIONS).  There are no faulty nodes, so all links in question are faulty links.

1. *Links*: row i holds a link of each trial; rows are sampled until every trial has its number of distinct links.  A skipped,
   repeated or surplus position is an empty entry of its lane: lower end 0xFFFF and no dimension, which never counts.
2. *Sink*: the first of the 16 lowest labels that is not an end of a link.
3. *Order*: as ``orders.py``, one row at a time.  Each iteration uses the dimension j with the least COST(j), the number of links
   that ``_target_of_row`` assigns to j.  COST is stored as bit planes: bit j of plane b is bit b of COST(j).  The planes are
   built by carry-save addition of one single bit per link.  The least COST is found from the highest plane down.
4. *Blocked senders*, nodes whose link in the tree is faulty although another one is not, are counted as the tree's faulty links
   less the isolated nodes.  An isolated node is an end of n links, so link ends are counted in 64 cells by their low six bits, up
   to sixteen.  Only lanes with n ends in a cell, called crowded, are examined further.

Trials that do not fit (no sink among the 16 labels, rows used up, n ends in a cell) are run one at a time.

A row has 32 lanes of 16 bits.  A random word holds a field for each of four trials, so eight words serve 32 trials.  Lane 4 i + g
is field g of word i.  The eight trials of one g are a group.
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

#: Bit planes of the counts of link ends in cells: the counts' bits of 1, 2, 4 and 8, and whether a count reached 16.
_CELL_PLANES = 5
#: Words of such a plane: one for each trial of a group, with a bit for each cell.
_PLANE_WORDS = 8


class LinkRows(NamedTuple):
    """Scratch memory for 32 trials, made by ``link_rows_for``.  The first three arrays have one row after another."""

    low: Words16  #: lower ends; ``translate_links`` makes them relative to the sinks, and ``find_orders`` uses them up
    bit: Words16  #: dimensions as single bits
    ident: Words16  #: of each position the lower end, and from bit 12 on the dimension; 0xFFFF if it is skipped
    cells: Words  #: (4, _CELL_PLANES, _PLANE_WORDS), flat: counts of link ends, by groups
    tree_faults: Words16  #: number of faulty links of each trial's tree, written by ``find_orders``


@block
def max_rows(links):
    """Return the number of rows for ``links`` distinct links; trials that need more are run one at a time."""
    return links + links // 2 + 16


@scratch
def link_rows_for(links):
    """Return scratch memory for trials with ``links`` faulty links."""
    size = max_rows(links) * LANE_COUNT
    return LinkRows(
        np.empty(size, np.uint16),
        np.empty(size, np.uint16),
        np.empty(size, np.uint16),
        np.empty(4 * _CELL_PLANES * _PLANE_WORDS, np.uint64),
        np.empty(LANE_COUNT, np.uint16),
    )


# ---------------------------------------------------------------- 1. links


@block
def _is_repeated(ident, rows, row):
    """Return the mask of the lanes whose link, numbered as in ``rows.ident``, is in an earlier row.

    The least difference from an earlier row is 0 in these lanes.  Even and odd rows have minima of their own, so that the
    processor computes two at a time.
    """
    even = simd.splat_like(ident, np.uint64(0xFFFF))
    odd = even
    for j in range(0, row - 1, 2):
        even = simd.minimum(even, ident ^ simd.load(rows.ident, j * LANE_COUNT))
        odd = simd.minimum(odd, ident ^ simd.load(rows.ident, (j + 1) * LANE_COUNT))
    if row & 1:
        even = simd.minimum(even, ident ^ simd.load(rows.ident, (row - 1) * LANE_COUNT))
    zero = even - even
    return simd.minimum(even, odd) == zero


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
def draw_links(key, first_block, n, links, rows):
    """Fill the rows of 32 trials; return the number of rows and the lanes with too few links.

    ``first_block`` is the index of the block of random words of the first four trials.
    """
    nodes = philox.prepare_lanes(key, first_block, philox.LINKS)
    dimensions = philox.prepare_lanes(key, first_block, philox.DIMENSIONS)
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


@block(always=True)
def _plane_start(group, plane):
    """Return the index in ``rows.cells`` of the first word of a group's plane."""
    return (_CELL_PLANES * group + plane) * _PLANE_WORDS


@block
def _count_link_end(rows, group, cells):
    """Count one end of a link of each of a group's eight trials, in the cells of these numbers; 64 counts for nothing."""
    carry = simd.one_hot(cells)
    for plane in range(_CELL_PLANES - 1):
        start = _plane_start(group, plane)
        counted = simd.load(rows.cells, start)
        simd.store(rows.cells, start, counted ^ carry)
        carry = counted & carry
    start = _plane_start(group, _CELL_PLANES - 1)
    simd.store(rows.cells, start, simd.load(rows.cells, start) | carry)


@block
def _full_cells(n, a, b, c, d, more):
    """Return the cells with n ends or more, 4 <= n <= 12, from the planes of 1, 2, 4, 8 and of 16 or more.

    Counts are compared with n - 1 from the lowest bit up: a count is above if its bit is larger, or if the bits are equal and the
    lower bits are above.  This is a majority of three bits.
    """
    above = more ^ more
    for j, plane in enumerate((a, b, c, d)):
        above = simd.majority(plane, above, simd.splat(ZERO if (n - 1) >> j & 1 else bits.ALL_BITS))
    return more | above


@block
def _crowded_lanes(n, count, rows):
    """Return the lanes in which some cell has n ends, so that a node may be isolated."""
    zero = simd.splat_like(simd.load(rows.cells, 0), ZERO)
    for start in range(0, 4 * _CELL_PLANES * _PLANE_WORDS, _PLANE_WORDS):
        simd.store(rows.cells, start, zero)
    low_six_bits = simd.splat_like(zero, np.uint64(63))
    one_lane = simd.splat_like(zero, np.uint64(0xFFFF))
    no_cell = simd.splat_like(zero, np.uint64(64))
    for row in range(count):
        low = simd.as64(simd.load(rows.low, row * LANE_COUNT))
        bit = simd.as64(simd.load(rows.bit, row * LANE_COUNT))
        for group in range(4):
            shift = simd.splat_like(zero, np.uint64(16 * group))
            u = (low >> shift) & one_lane
            v = u | ((bit >> shift) & one_lane)
            empty = u == one_lane  # lower end 0xFFFF
            _count_link_end(rows, group, simd.select(empty, no_cell, u & low_six_bits))
            _count_link_end(rows, group, simd.select(empty, no_cell, v & low_six_bits))
    out = ZERO
    for group in range(4):
        a = simd.load(rows.cells, _plane_start(group, 0))
        b = simd.load(rows.cells, _plane_start(group, 1))
        c = simd.load(rows.cells, _plane_start(group, 2))
        d = simd.load(rows.cells, _plane_start(group, 3))
        more = simd.load(rows.cells, _plane_start(group, 4))
        crowded = simd.bits(_full_cells(n, a, b, c, d, more) != zero)
        for i in range(8):
            out |= ((crowded >> np.uint64(i)) & ONE) << np.uint64(4 * i + group)
    return out


# ---------------------------------------------------------------- 3. order


@block(always=True)
def _target_of_row(rows, row, used, zero, one, tree_faults):
    """Return the dimension, as a single bit or 0, in whose COST a row's link counts, and the updated ``tree_faults``.

    The dimension ``used`` by the iteration before is cleared in the lower end, which is stored again.  A link of that dimension
    is dropped, and is in the tree if its lower end is 0.  Another link counts for its own dimension if its lower end is 0, and
    for dimension j if its lower end is 2^j (``orders.py``).  An empty entry and a dropped link have bits 12 to 15 set and so
    never count, as n <= 12.
    """
    low = simd.load(rows.low, row * LANE_COUNT) & ~used
    bit = simd.load(rows.bit, row * LANE_COUNT)
    is_zero = low == zero
    is_dropped = (bit & used) != zero
    tree_faults = simd.select(is_zero & is_dropped, tree_faults + one, tree_faults)
    low = simd.select(is_dropped, zero - one, low)
    simd.store(rows.low, row * LANE_COUNT, low)
    target = simd.select(is_zero & ~is_dropped, bit, low)
    single = (target & (target - one)) == zero
    return simd.select(single, target, zero), tree_faults


@block(always=True)
def _full_adder(x, y, z):
    """Return sum and carry of three bits, for each bit of each lane."""
    carry = simd.as16(simd.majority(simd.as64(x), simd.as64(y), simd.as64(z)))
    return x ^ y ^ z, carry


@block(always=True)
def _half_adder(x, y):
    """Return sum and carry of two bits, for each bit of each lane."""
    return x ^ y, x & y


@block(always=True)
def _prefer_zero_bits(least, plane, zero):
    """Return the dimensions in ``least`` whose bit in a plane of COST is 0, or ``least`` if there are none."""
    with_zero = least & ~plane
    return simd.select(with_zero == zero, least, with_zero)


@block(always=True)
def _add_ripple(high, carry):
    """Return the planes 2 .. 7 of COST after adding the bits ``carry`` of weight 4 to them.

    Eight planes suffice, because COST is at most the number of links, ``dispatch.MOST_IN_LANES`` = 128.
    """
    c2, c3, c4, c5, c6, c7 = high
    c2, carry = _half_adder(c2, carry)
    c3, carry = _half_adder(c3, carry)
    c4, carry = _half_adder(c4, carry)
    c5, carry = _half_adder(c5, carry)
    c6, carry = _half_adder(c6, carry)
    c7, carry = _half_adder(c7, carry)
    return c2, c3, c4, c5, c6, c7


@block(always=True)
def _find_cheapest(unused, c0, c1, high, zero, is_wide):
    """Return the dimensions of ``unused`` with the least COST, found from the highest plane down.

    Unless COST ``is_wide``, above 31, the three highest planes are empty.
    """
    least = unused
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
    """Run FIND_TREE in all lanes, and write the numbers of faulty links of the trees to ``rows.tree_faults``.

    The links must have been translated; their lower ends are used up.  In each iteration COST is the sum of the rows' targets:
    planes c0 and c1 of the weights 1 and 2, and ``high`` of 4, 8, ..., 128.  Four rows are added at a time, so that their two
    carries of weight 2 make a single carry of weight 4.
    """
    zero = simd.splat_like(simd.load(rows.low, 0), ZERO)
    one = simd.splat_like(zero, ONE)
    unused = simd.splat_like(zero, (ONE << np.uint64(n)) - ONE)
    used = zero
    tree_faults = zero
    is_wide = links > 31
    for _ in range(n):
        c0 = c1 = zero
        high = (zero, zero, zero, zero, zero, zero)
        row = np.int64(0)
        while row + 4 <= count:
            a, tree_faults = _target_of_row(rows, row, used, zero, one, tree_faults)
            b, tree_faults = _target_of_row(rows, row + 1, used, zero, one, tree_faults)
            c, tree_faults = _target_of_row(rows, row + 2, used, zero, one, tree_faults)
            d, tree_faults = _target_of_row(rows, row + 3, used, zero, one, tree_faults)
            c0, first_carry = _full_adder(c0, a, b)
            c0, second_carry = _full_adder(c0, c, d)
            c1, carry = _full_adder(c1, first_carry, second_carry)
            high = _add_ripple(high, carry)
            row += 4
        while row < count:
            a, tree_faults = _target_of_row(rows, row, used, zero, one, tree_faults)
            c0, carry = _half_adder(c0, a)
            c1, carry = _half_adder(c1, carry)
            high = _add_ripple(high, carry)
            row += 1
        cheapest = _find_cheapest(unused, c0, c1, high, zero, is_wide)
        used = cheapest & (zero - cheapest)  # ties: the lowest dimension (R5)
        unused = unused & ~used
    for last in range(count):  # links of the dimension d_0, used last
        _, tree_faults = _target_of_row(rows, last, used, zero, one, tree_faults)
    simd.store(rows.tree_faults, 0, tree_faults)


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
def _count_lanes(start, live, with_faults, rows, tally):
    """Tally the ``live`` lanes, trials ``start`` and on, in which no node is isolated.

    Lanes without a faulty link in the tree are tallied together, those ``with_faults`` one by one.
    """
    clean = live & ~with_faults
    if clean:
        count_tree(tally, start + bits.lowest(clean), np.int64(0), np.int64(0))
        more = bits.popcount(clean) - 1
        for slot in CLEAN_COUNTERS:
            tally[slot] += more
    waiting = live & with_faults
    while waiting:
        lane = bits.lowest(waiting)
        tree_faults = np.int64(rows.tree_faults[lane])
        count_tree(tally, start + lane, tree_faults, tree_faults)
        waiting &= waiting - ONE


@kernel(TRIALS_SIGNATURE)
def find_tree_lanes(key, first, stop, params, tally):
    """Run FIND_TREE's trials, 4 <= n <= 12, up to ``dispatch.MOST_IN_LANES`` links, no faulty nodes.

    ``params`` are (n, links, f).  For 32 trials and L links it takes 50 L vector operations to sample, L^2 to find repeated
    links, 45 L for the cells if n links may isolate a node, and 14 n L for the order.
    """
    n, links, _ = read_point(params)
    rows = link_rows_for(links)
    single = set_up(params)  # for trials that are run one at a time
    origin = first - first % LANE_COUNT
    for start in range(origin, stop, LANE_COUNT):
        count, unfit = draw_links(key, np.uint64(8 * (start // LANE_COUNT)), n, links, rows)
        sinks, without_sink = find_sinks(n, count, rows)
        unfit |= without_sink
        crowded = _crowded_lanes(n, count, rows) if links >= n else ZERO
        translate_links(sinks, count, rows)
        find_orders(n, links, count, rows)
        live = valid_lanes(start, 1, LANE_COUNT, first, stop)
        tree_faults = simd.load(rows.tree_faults, 0)
        with_faults = simd.bits(tree_faults != (tree_faults - tree_faults))
        unfit = (unfit | (crowded & with_faults)) & live  # without a faulty link in the tree no sender is blocked
        _count_lanes(start, live & ~unfit, with_faults, rows, tally)
        while unfit:
            t = start + bits.lowest(unfit)
            dead_links = draw_dead_links(key, t, n, links, np.int64(0), single.dead)
            count_dense(n, t, dead_links, single, tally)
            clear_dead_links(dead_links, single.dead)
            unfit &= unfit - ONE


#: Points (n, links, f) on both sides of each threshold inside these kernels, or at the limits of their points, by the reason.
EDGES = {
    "n links can isolate a node": ((4, 3, 0), (4, 4, 0), (5, 4, 0), (5, 5, 0), (8, 7, 0), (8, 8, 0)),
    "from 32 links on COST has eight planes, below it five": ((8, 31, 0), (8, 32, 0)),
    "128 links are the most in lanes": ((10, 127, 0), (10, 128, 0)),
}
