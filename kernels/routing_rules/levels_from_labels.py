"""Decide minimal paths and levels of preferred neighbours from the fault labels of a vector of trials, without safety levels.

The lane kernels of the routing rules use this before they compute levels of whole cubes.  ``work`` is the scratch of
``fastcube.kernels.routing_rules.whole_cube``.

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


@block(always=True)
def pad_labels(work, lanes):
    """Fill the rows of labels after each trial's faults with the trial's first fault.

    Returns the number of rows with faults, and the lanes whose faults all are in rows; a few trials need more labels than that.
    """
    many = simd.load(work.ends, 2 * lanes)
    x = simd.load(work.labels, 0)
    rows = work.f
    while rows < work.ready:
        behind = many <= simd.splat_like(many, np.uint64(rows))
        if simd.bits(behind) == ALL_BITS >> np.uint64(64 - lanes):
            break
        simd.store(work.labels, lanes * rows, simd.select(behind, x, simd.load(work.labels, lanes * rows)))
        rows += 1
    return rows, simd.bits(many <= simd.splat_like(many, np.uint64(work.ready)))


@block(always=True)
def first_path_lanes(work, rows, lanes):
    """Return the lanes, as bits, with no fault on the first path."""
    s, t = simd.load(work.ends, 0), simd.load(work.ends, lanes)
    zero = s - s
    on = simd.no_lane(zero)
    for i in range(rows):
        x = simd.load(work.labels, lanes * i)
        on = on | is_on_path(x ^ s, x ^ t, zero)
    return ~simd.bits(on)


@block(always=True)
def lanes_without_close_blockers(work, rows, lanes):
    """Return the lanes, as bits, without two faults between the ends at distance 2."""
    s = simd.load(work.ends, 0)
    apart = s ^ simd.load(work.ends, lanes)
    zero = s - s
    two, ones = simd.splat_like(s, np.uint64(2)), simd.splat_like(s, ALL_BITS)
    near = ones
    for i in range(rows):
        x = simd.load(work.labels, lanes * i)
        own = simd.select(((x ^ s) & ~apart) == zero, zero, ones)
        simd.store(work.seen, lanes * i, own)
        for j in range(i):
            d = simd.popcount(x ^ simd.load(work.labels, lanes * j))
            d = d | (own | simd.load(work.seen, lanes * j))
            near = simd.minimum(near, d ^ two)
    return simd.bits(near != zero)


@block(always=True)
def greedily_delivered_lanes(work, rows, lanes):
    """Return the lanes, as bits, whose message arrives by taking the first good preferred hop at each node.

    The bits of labels are reversed, so that the first hop is the lowest set bit.
    """
    t = simd.load(work.ends, lanes)
    zero, one = t - t, simd.splat_like(t, ONE)
    for i in range(rows):
        simd.store(work.seen, lanes * i, simd.reverse(simd.load(work.labels, lanes * i) ^ t))
    rest = simd.reverse(simd.load(work.ends, 0) ^ t)
    moved = True
    while moved:
        blocked = zero
        for i in range(rows):
            d = simd.load(work.seen, lanes * i) ^ rest
            single = (d & (d - one)) == zero
            blocked = blocked | simd.select(single, d, zero)
        good = rest & ~blocked
        good = good & (zero - good)
        rest = rest ^ good
        moved = simd.bits(good != zero) != ZERO
    return simd.bits(rest == zero)


@block(always=True)
def find_simple_lanes(work, rows, lanes):
    """Return the lanes with no fault on the first path, and the lanes with that or with at most one fault between the ends."""
    s, t = simd.load(work.ends, 0), simd.load(work.ends, lanes)
    zero = s - s
    apart = s ^ t
    lost = simd.no_lane(zero)
    one, two = lost, lost
    for i in range(rows):
        x = simd.load(work.labels, lanes * i)
        e = x ^ s
        lost = lost | is_on_path(e, x ^ t, zero)
        between = (e & ~apart) == zero
        two = two | (one & between)
        one = one | between
    return ~simd.bits(lost), ~(simd.bits(two) & simd.bits(lost))


@block(always=True)
def level_known_lanes(work, lanes):
    """Return the lanes with f + 2 distinct labels whose first or last preferred neighbour is known to have level H - 1."""
    f = work.f
    s, t = simd.load(work.labels, lanes * f), simd.load(work.labels, lanes * (f + 1))
    zero = s - s
    one, two, ones = simd.splat_like(s, ONE), simd.splat_like(s, np.uint64(2)), simd.splat_like(s, ALL_BITS)
    apart = s ^ t
    h = simd.popcount(apart)
    within = h - two  # wraps around for H = 1: all faults count, but no status is needed
    p = s ^ (apart & (zero - apart))
    q = s ^ simd.top_bit(apart)
    least, near_p, near_q = h, ones, ones
    for i in range(f):
        x = simd.load(work.labels, lanes * i)
        from_p, from_q = simd.popcount(x ^ p), simd.popcount(x ^ q)
        near_p, near_q = simd.minimum(near_p, from_p), simd.minimum(near_q, from_q)
        out_p = simd.select(from_p <= within, zero, ones)
        out_q = simd.select(from_q <= within, zero, ones)
        simd.store(work.seen, 2 * lanes * i, out_p)
        simd.store(work.seen, 2 * lanes * i + lanes, out_q)
        least = simd.minimum(least, simd.minimum(x ^ s, x ^ t))
        for j in range(i):
            d = simd.popcount(x ^ simd.load(work.labels, lanes * j))
            least = simd.minimum(least, d)
            d = d ^ two
            seen_p, seen_q = simd.load(work.seen, 2 * lanes * j), simd.load(work.seen, 2 * lanes * j + lanes)
            near_p = simd.minimum(near_p, simd.bit_or3(d, out_p, seen_p))
            near_q = simd.minimum(near_q, simd.bit_or3(d, out_q, seen_q))
    known = (near_p != zero) | (near_q != zero)
    return simd.bits((known | (h == one)) & (least != zero))
