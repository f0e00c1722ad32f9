"""Decide minimal paths and levels of preferred neighbours from the fault labels of a vector of trials, without safety levels.

The lane kernels of the routing rules use this before they compute levels of whole cubes.  ``work`` is the
``WholeCubeWorkspace`` of ``whole_cube``.  A row is a vector with one number per trial.  ``work.labels`` has a row for each fault,
and ``work.ends`` the rows SOURCES, DESTINATIONS and NEEDED.

- *Minimal paths.* Two preferred neighbours of a node are at distance 2.  Suppose no two faults between the ends are at distance 2
  (``lanes_without_close_blockers``).  Then a message at any node between them, two links or more from t, has a nonfaulty
  preferred neighbour, and the last link leads to t.  The same holds if at most one fault is between the ends.  If no fault is on
  the first path, ROUTE1, A1 and DFS take that path (``find_simple_lanes``).
- *Levels.* A nonfaulty node p has level k + 1 or more if no two faults at distance 2 are both within k of p.  Every node within k
  - 1 of p then has at most one faulty neighbour.  By induction over d = k, k - 1, ..., 0, every nonfaulty node within d of p has
  level k + 1 - d or more.  For d = k this says that the node is nonfaulty.  For d < k all neighbours of the node but one are
  nonfaulty and within d + 1 of p, so they have level k - d or more.  With k = H - 2 and p a preferred neighbour of s, LEVELS, and
  so VECTORS, deliver over H links (``level_known_lanes``).
"""

from __future__ import annotations

import numpy as np

from ..machine import simd
from ..machine.bits import ALL_BITS, ONE, ZERO
from ..machine.jit import block
from ..routing.lanes import is_on_path

#: Rows of ``WholeCubeWorkspace.ends``: the sources, the destinations, and the number of labels that contain a trial's faults.
SOURCES, DESTINATIONS, NEEDED = range(3)


@block(always=True)
def _row(cells, i, lanes):
    return simd.load(cells, lanes * i)


@block(always=True)
def _set_row(cells, i, lanes, vector):
    simd.store(cells, lanes * i, vector)


@block(always=True, stored=True)
def pad_labels(work, lanes):
    """Fill the rows of labels after each trial's faults with the trial's first fault.

    Returns the number of rows with faults, and the lanes whose faults all are in rows; a few trials need more labels than that.
    """
    needed = _row(work.ends, NEEDED, lanes)
    first = _row(work.labels, 0, lanes)
    rows = work.f
    while rows < work.ready:
        behind = needed <= simd.splat_like(needed, np.uint64(rows))
        if simd.bits(behind) == ALL_BITS >> np.uint64(64 - lanes):
            break
        _set_row(work.labels, rows, lanes, simd.select(behind, first, _row(work.labels, rows, lanes)))
        rows += 1
    return rows, simd.bits(needed <= simd.splat_like(needed, np.uint64(work.ready)))


@block(always=True)
def first_path_lanes(work, rows, lanes):
    """Return the lanes, as bits, with no fault on the first path."""
    s, t = _row(work.ends, SOURCES, lanes), _row(work.ends, DESTINATIONS, lanes)
    zero = s - s
    on = simd.no_lane(zero)
    for i in range(rows):
        x = _row(work.labels, i, lanes)
        on = on | is_on_path(x ^ s, x ^ t, zero)
    return ~simd.bits(on)


@block(always=True)
def lanes_without_close_blockers(work, rows, lanes):
    """Return the lanes, as bits, without two faults between the ends at distance 2."""
    outside = work.fault_rows  # row i: 0 in the lanes in which fault i is between the ends, else all bits
    s = _row(work.ends, SOURCES, lanes)
    difference = s ^ _row(work.ends, DESTINATIONS, lanes)
    zero = s - s
    two, ones = simd.splat_like(s, np.uint64(2)), simd.splat_like(s, ALL_BITS)
    near = ones
    for i in range(rows):
        x = _row(work.labels, i, lanes)
        is_outside = simd.select(((x ^ s) & ~difference) == zero, zero, ones)
        _set_row(outside, i, lanes, is_outside)
        for j in range(i):
            d = simd.popcount(x ^ _row(work.labels, j, lanes))
            d = d | (is_outside | _row(outside, j, lanes))
            near = simd.minimum(near, d ^ two)
    return simd.bits(near != zero)


@block(always=True)
def greedily_delivered_lanes(work, rows, lanes):
    """Return the lanes, as bits, whose message arrives by taking the first good preferred hop at each node.

    The bits of labels are reversed, so that the first hop is the lowest set bit.
    """
    offsets = work.fault_rows  # row i: the bits in which fault i differs from t, reversed
    t = _row(work.ends, DESTINATIONS, lanes)
    zero, one = t - t, simd.splat_like(t, ONE)
    for i in range(rows):
        _set_row(offsets, i, lanes, simd.reverse(_row(work.labels, i, lanes) ^ t))
    rest = simd.reverse(_row(work.ends, SOURCES, lanes) ^ t)
    moved = True
    while moved:
        blocked = zero
        for i in range(rows):
            d = _row(offsets, i, lanes) ^ rest
            single = (d & (d - one)) == zero
            blocked = blocked | simd.select(single, d, zero)
        good = rest & ~blocked
        good = good & (zero - good)
        rest = rest ^ good
        moved = simd.bits(good != zero) != ZERO
    return simd.bits(rest == zero)


@block(always=True, stored=True)
def find_simple_lanes(work, rows, lanes):
    """Return the lanes with no fault on the first path, and the lanes with that or with at most one fault between the ends."""
    s, t = _row(work.ends, SOURCES, lanes), _row(work.ends, DESTINATIONS, lanes)
    zero = s - s
    difference = s ^ t
    lost = simd.no_lane(zero)
    one, two = lost, lost
    for i in range(rows):
        x = _row(work.labels, i, lanes)
        e = x ^ s
        lost = lost | is_on_path(e, x ^ t, zero)
        between = (e & ~difference) == zero
        two = two | (one & between)
        one = one | between
    return ~simd.bits(lost), ~(simd.bits(two) & simd.bits(lost))


@block(always=True, stored=True)
def level_known_lanes(work, lanes):
    """Return the lanes with f + 2 distinct labels whose first or last preferred neighbour is known to have level H - 1."""
    far = work.fault_rows  # rows 2 i and 2 i + 1: 0 where fault i is within H - 2 of p, and of q, else all bits
    f = work.f
    s, t = _row(work.labels, f, lanes), _row(work.labels, f + 1, lanes)  # the last two of these labels are the ends
    zero = s - s
    one, two, ones = simd.splat_like(s, ONE), simd.splat_like(s, np.uint64(2)), simd.splat_like(s, ALL_BITS)
    difference = s ^ t
    h = simd.popcount(difference)
    within = h - two  # wraps around for H = 1: all faults count, but no status is needed
    p = s ^ (difference & (zero - difference))
    q = s ^ simd.top_bit(difference)
    least, near_p, near_q = h, ones, ones
    for i in range(f):
        x = _row(work.labels, i, lanes)
        from_p, from_q = simd.popcount(x ^ p), simd.popcount(x ^ q)
        near_p, near_q = simd.minimum(near_p, from_p), simd.minimum(near_q, from_q)
        far_from_p = simd.select(from_p <= within, zero, ones)
        far_from_q = simd.select(from_q <= within, zero, ones)
        _set_row(far, 2 * i, lanes, far_from_p)
        _set_row(far, 2 * i + 1, lanes, far_from_q)
        least = simd.minimum(least, simd.minimum(x ^ s, x ^ t))
        for j in range(i):
            d = simd.popcount(x ^ _row(work.labels, j, lanes))
            least = simd.minimum(least, d)
            d = d ^ two
            near_p = simd.minimum(near_p, simd.bit_or3(d, far_from_p, _row(far, 2 * j, lanes)))
            near_q = simd.minimum(near_q, simd.bit_or3(d, far_from_q, _row(far, 2 * j + 1, lanes)))
    known = (near_p != zero) | (near_q != zero)
    return simd.bits((known | (h == one)) & (least != zero))
