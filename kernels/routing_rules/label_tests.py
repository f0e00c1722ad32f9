"""Tests of the labels of faults and ends that decide routes and safety levels, for one vector of trials at a time.

The kernels of ``whole_cube.py`` run these tests on their trials.  A test on labels is cheaper than safety statuses of whole cubes
if the faults are few.

*Terms.*  s and t are the ends of a message, H is their Hamming distance.  A neighbour of a node is *preferred* if it is nearer to
t.  A *blocker* is a fault in the subcube of s and t.  The *first path* corrects bits from the most significant down.  The rule
ROUTE knows only this path; ROUTE1, A1 and DFS take it if it is free of faults.  Safety levels are defined in
``safety_status.py``.

*Data.*  ``work`` is the ``WholeCubeWorkspace`` of ``whole_cube.py``.  A vector has one number per trial, and ``lanes`` is the
number of trials.  Row i of an array is its i-th vector.  The results are masks, uint64 with bit i for lane i; a result may have
bits set above its ``lanes`` lanes, so a caller intersects it with the lanes that hold trials.

*Zeros.*  Some tests keep, in each lane, the minimum of numbers of which one must not be 0.  A pair of faults at distance d
contributes d ^ 2, which is 0 if d = 2.  An OR with all bits keeps pairs that do not count from contributing a 0.

*Why minimal paths follow.*  Two preferred neighbours of a node are at distance 2.  Suppose no two blockers are at distance 2, or
there is at most one blocker.  Then a message at any node between s and t, two links or more from t, has a nonfaulty preferred
neighbour, and the last link leads to t.

*Why levels follow.*  A nonfaulty node p has level k + 1 or more if no two faults at distance 2 are both within k of p.  Every
node within k - 1 of p then has at most one faulty neighbour.  By induction over d = k, k - 1, ..., 0, every nonfaulty node within
d of p has level k + 1 - d or more.  For d = k this says that the node is nonfaulty.  For d < k all neighbours of the node but one
are nonfaulty and within d + 1 of p, so they have level k - d or more.  With k = H - 2 and p a preferred neighbour of s, LEVELS,
and so VECTORS, deliver over H links.
"""

from __future__ import annotations

import numpy as np

from ..machine import simd
from ..machine.bits import ALL_BITS, ONE, ZERO
from ..machine.jit import block
from ..routing.lanes import is_on_path


@block(always=True)
def _load_row(cells, i, lanes):
    return simd.load(cells, lanes * i)


@block(always=True)
def _store_row(cells, i, lanes, vector):
    simd.store(cells, lanes * i, vector)


@block(always=True, stored=True)
def pad_labels(work, lanes):
    """Overwrite the labels that follow each trial's faults by its first label, which is a fault, so that rows hold only faults.

    Returns the number of rows with faults, and the lanes whose faults all are in these rows; a few trials have faults beyond the
    sampled labels.  Call it after the ends are stored, because it destroys labels from row f on.
    """
    needed = _load_row(work.needed, 0, lanes)
    first = _load_row(work.labels, 0, lanes)
    rows = work.f
    while rows < work.sampled:
        is_padding = needed <= simd.splat_like(needed, np.uint64(rows))
        if simd.bits(is_padding) == ALL_BITS >> np.uint64(64 - lanes):
            break
        _store_row(work.labels, rows, lanes, simd.select(is_padding, first, _load_row(work.labels, rows, lanes)))
        rows += 1
    return rows, simd.bits(needed <= simd.splat_like(needed, np.uint64(work.sampled)))


@block(always=True)
def find_free_path_lanes(work, rows, lanes):
    """Return the lanes whose first path is free of the faults in the first ``rows`` rows of labels."""
    s, t = _load_row(work.sources, 0, lanes), _load_row(work.destinations, 0, lanes)
    zero = s - s
    on_path = simd.no_lane(zero)
    for i in range(rows):
        x = _load_row(work.labels, i, lanes)
        on_path = on_path | is_on_path(x ^ s, x ^ t, zero)
    return ~simd.bits(on_path)


@block(always=True)
def find_lanes_without_close_blockers(work, rows, lanes):
    """Return the lanes without two blockers at distance 2, among the faults in the first ``rows`` rows of labels."""
    s = _load_row(work.sources, 0, lanes)
    difference = s ^ _load_row(work.destinations, 0, lanes)
    zero = s - s
    two, ones = simd.splat_like(s, np.uint64(2)), simd.splat_like(s, ALL_BITS)
    least = ones  # 0 in lanes with two such blockers, by the convention of the module's docstring
    for i in range(rows):
        x = _load_row(work.labels, i, lanes)
        outside = simd.select(((x ^ s) & ~difference) == zero, zero, ones)
        _store_row(work.outside, i, lanes, outside)
        for j in range(i):
            distance = simd.popcount(x ^ _load_row(work.labels, j, lanes))
            excluded = outside | _load_row(work.outside, j, lanes)
            least = simd.minimum(least, (distance | excluded) ^ two)
    return simd.bits(least != zero)


@block(always=True)
def find_greedily_delivered_lanes(work, rows, lanes):
    """Return the lanes whose message arrives over H links by the first good preferred hop at each node, as A1 and DFS route it.

    The first hop is over the most significant bit.  Offsets from t have their bits reversed, because the lowest set bit of a
    number x is found by two operations, x & -x.
    """
    t = _load_row(work.destinations, 0, lanes)
    zero, one = t - t, simd.splat_like(t, ONE)
    for i in range(rows):
        _store_row(work.offsets, i, lanes, simd.reverse(_load_row(work.labels, i, lanes) ^ t))
    left = simd.reverse(_load_row(work.sources, 0, lanes) ^ t)  # the bits that are left to correct
    moved = True
    while moved:  # a message that is stuck, or at t, has no good hop and stays where it is
        blocked = zero
        for i in range(rows):
            difference = _load_row(work.offsets, i, lanes) ^ left
            is_neighbour = (difference & (difference - one)) == zero  # or the node itself, whose difference adds no bit
            blocked = blocked | simd.select(is_neighbour, difference, zero)
        hop = left & ~blocked
        hop = hop & (zero - hop)
        left = left ^ hop
        moved = simd.bits(hop != zero) != ZERO
    return simd.bits(left == zero)


@block(always=True, stored=True)
def find_simple_lanes(work, rows, lanes):
    """Return two masks: the lanes with a free first path, and those with a free first path or at most one blocker.

    Faults are the labels in the first ``rows`` rows.
    """
    s, t = _load_row(work.sources, 0, lanes), _load_row(work.destinations, 0, lanes)
    zero = s - s
    difference = s ^ t
    on_path = simd.no_lane(zero)
    one_blocker, two_blockers = on_path, on_path
    for i in range(rows):
        x = _load_row(work.labels, i, lanes)
        from_s = x ^ s
        on_path = on_path | is_on_path(from_s, x ^ t, zero)
        is_blocker = (from_s & ~difference) == zero
        two_blockers = two_blockers | (one_blocker & is_blocker)
        one_blocker = one_blocker | is_blocker
    return ~simd.bits(on_path), ~(simd.bits(two_blockers) & simd.bits(on_path))


@block(always=True, stored=True)
def find_known_level_lanes(work, lanes):
    """Return the lanes in which a preferred neighbour of s is known to have level H - 1, or t is a neighbour of s.

    Faults are the first f labels, which must differ from each other and from the ends: lanes with equal labels are left out.
    Only two neighbours are tested, those over the lowest and over the highest preferred bit.
    """
    f = work.f
    s, t = _load_row(work.sources, 0, lanes), _load_row(work.destinations, 0, lanes)
    zero = s - s
    one, two, ones = simd.splat_like(s, ONE), simd.splat_like(s, np.uint64(2)), simd.splat_like(s, ALL_BITS)
    difference = s ^ t
    h = simd.popcount(difference)
    radius = h - two  # k of the proof; wraps around for H = 1, where no status is needed
    low = s ^ (difference & (zero - difference))
    high = s ^ simd.top_bit(difference)
    # 0 in lanes with equal labels, with a fault that spoils the proof for ``low``, and with one that spoils it for ``high``
    distinct, low_proof, high_proof = h, ones, ones
    for i in range(f):
        x = _load_row(work.labels, i, lanes)
        from_low, from_high = simd.popcount(x ^ low), simd.popcount(x ^ high)
        low_proof, high_proof = simd.minimum(low_proof, from_low), simd.minimum(high_proof, from_high)
        far_from_low = simd.select(from_low <= radius, zero, ones)
        far_from_high = simd.select(from_high <= radius, zero, ones)
        _store_row(work.far_from_low, i, lanes, far_from_low)
        _store_row(work.far_from_high, i, lanes, far_from_high)
        distinct = simd.minimum(distinct, simd.minimum(x ^ s, x ^ t))
        for j in range(i):
            distance = simd.popcount(x ^ _load_row(work.labels, j, lanes))
            distinct = simd.minimum(distinct, distance)
            distance_test = distance ^ two
            low_pair = simd.bit_or3(distance_test, far_from_low, _load_row(work.far_from_low, j, lanes))
            high_pair = simd.bit_or3(distance_test, far_from_high, _load_row(work.far_from_high, j, lanes))
            low_proof, high_proof = simd.minimum(low_proof, low_pair), simd.minimum(high_proof, high_pair)
    known = (low_proof != zero) | (high_proof != zero)
    return simd.bits((known | (h == one)) & (distinct != zero))
