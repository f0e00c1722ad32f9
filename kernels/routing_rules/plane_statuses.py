"""Safety statuses of all nodes of whole cubes, n = 6 .. 12, for eight trials at a time, on the bitmasks of ``planes.py``.

H is the Hamming distance of a message.  By Wu's theorems LEVELS and VECTORS deliver over H links if some preferred neighbour has
level, or vector bit, H - 1.  Otherwise they deliver over H + 2 links if some spare neighbour has level, or bit, H + 1, and refuse
if not.

``work`` is a ``whole_cube.WholeCubeWorkspace``.  ``at``, ``to``, ``base`` and ``faulty`` are indices of a plane's first word.
"""

from __future__ import annotations

import numpy as np

from ..machine import neighbours, simd
from ..machine.bits import ALL_BITS, ONE, ZERO
from ..machine.jit import block
from .planes import NO_STATUS, PREFERRED, SPARE, plane_words
from .safety_status import LEVELS

_63 = np.uint64(63)
_6 = np.uint64(6)


@block(always=True, stored=True)
def mark_neighbours(work, n, column, slots):
    """Write the planes of preferred and of spare neighbours of eight sources; return the Hamming distances of the messages."""
    planes, size = work.planes, plane_words(n)
    s, t = simd.load_wide(work.queued, column), simd.load_wide(work.queued, slots + column)
    zero, one = s - s, simd.splat(ONE)
    difference = s ^ t
    source_row, place = s >> simd.splat(_6), s & simd.splat(_63)
    preferred, spare = zero, zero  # neighbours in the row of the source: those over dimensions 0 to 5
    for i in range(6):
        bit = simd.splat(ONE << np.uint64(i))
        neighbour = one << (place ^ bit)
        is_preferred = (difference & bit) != zero
        preferred = preferred | simd.select(is_preferred, neighbour, zero)
        spare = spare | simd.select(is_preferred, zero, neighbour)
    difference_of_rows = difference >> simd.splat(_6)
    for v in range(size // 8 - 1):
        offset = source_row ^ simd.splat(np.uint64(v))
        is_source_row = offset == zero
        neighbour = simd.select((offset & (offset - one)) == zero, one << place, zero)  # in row v, if there is one
        is_preferred = (offset & difference_of_rows) != zero
        in_row = simd.select(is_preferred, neighbour, zero)
        simd.store(planes, PREFERRED * size + 8 * v, simd.select(is_source_row, preferred, in_row))
        in_row = simd.select(is_preferred, zero, neighbour)
        simd.store(planes, SPARE * size + 8 * v, simd.select(is_source_row, spare, in_row))
    return simd.popcount(difference)


@block(always=True)
def _count_four(c, a, b, x, y):
    """Add four more bits per node, a, b, x and y, to the counts in bit planes c, up to fifteen, by full adders."""
    c0, c1, c2, c3 = c
    carry1 = simd.majority(c0, a, b)
    c0 = c0 ^ a ^ b
    carry2 = simd.majority(c0, x, y)
    c0 = c0 ^ x ^ y
    carry3 = simd.majority(c1, carry1, carry2)
    return c0, c1 ^ carry1 ^ carry2, c2 ^ carry3, c3 ^ (c2 & carry3)


@block(always=True)
def _neighbours_across(planes, at, v, i, n, size):
    """Return the vector of the neighbours across dimension i >= 6, or zeros if i >= n."""
    return simd.load(planes, at + (8 * (v ^ (np.int64(1) << (i - 6))) if i < n else size - 8))


@block(always=True)
def _inverted_digit(k, j):
    """Return zeros if binary digit j of k is 1, otherwise ones."""
    return simd.splat(ZERO if k >> j & 1 else ALL_BITS)


@block(always=True)
def _fill_next_plane(planes, at, to, base, n, k):
    """Write at ``to`` the nodes in plane ``base`` or with more than k neighbours in plane ``at``; return whether any is new.

    A count is compared with k from the lowest digit up.  The digits so far are larger if the last one is, or if it is equal and
    the digits before are larger: the majority of the count's digit, the inverted digit of k, and the result before.
    """
    size = plane_words(n)
    n0, n1, n2, n3 = _inverted_digit(k, 0), _inverted_digit(k, 1), _inverted_digit(k, 2), _inverted_digit(k, 3)
    zero = simd.splat(ZERO)
    changed = zero
    for v in range(size // 8 - 1):
        x = simd.load(planes, at + 8 * v)
        c = (zero, zero, zero, zero)
        c = _count_four(
            c, neighbours.neighbour0(x), neighbours.neighbour1(x), neighbours.neighbour2(x), neighbours.neighbour3(x)
        )
        y, z = _neighbours_across(planes, at, v, 6, n, size), _neighbours_across(planes, at, v, 7, n, size)
        c = _count_four(c, neighbours.neighbour4(x), neighbours.neighbour5(x), y, z)
        if n > 8:
            u, w = _neighbours_across(planes, at, v, 8, n, size), _neighbours_across(planes, at, v, 9, n, size)
            y, z = _neighbours_across(planes, at, v, 10, n, size), _neighbours_across(planes, at, v, 11, n, size)
            c = _count_four(c, u, w, y, z)
        c0, c1, c2, c3 = c
        more = simd.majority(c1, c0 & n0, n1)
        more = simd.majority(c3, simd.majority(c2, more, n2), n3)
        known = simd.load(planes, base + 8 * v)
        simd.store(planes, to + 8 * v, known | more)
        changed = changed | (more & ~known)
    return simd.union(changed) != ZERO


@block
def _fill_next_plane_unrolled(planes, at, to, base, n, k):
    """Do ``_fill_next_plane`` with its loop unrolled for each n, which halves the time."""
    if n == 6:
        changed = _fill_next_plane(planes, at, to, base, 6, k)
    elif n == 7:
        changed = _fill_next_plane(planes, at, to, base, 7, k)
    elif n == 8:
        changed = _fill_next_plane(planes, at, to, base, 8, k)
    elif n == 9:
        changed = _fill_next_plane(planes, at, to, base, 9, k)
    elif n == 10:
        changed = _fill_next_plane(planes, at, to, base, 10, k)
    elif n == 11:
        changed = _fill_next_plane(planes, at, to, base, 11, k)
    else:
        changed = _fill_next_plane(planes, at, to, base, 12, k)
    return changed


@block(always=True)
def _lanes_with_node_outside(planes, at, without, size):
    """Return the lanes, as bits, with a node of the plane ``at`` that is not in the plane ``without``."""
    found = simd.splat(ZERO)
    for v in range(0, size - 8, 8):
        found = found | (simd.load(planes, at + v) & ~simd.load(planes, without + v))
    return simd.bits(found != 0)


@block(stored=True)
def find_delivered_lanes(planes, faulty, n, h, live, kind):
    """Return the lanes among ``live`` whose message LEVELS, or VECTORS, delivers over H links, and over H + 2 links.

    ``h`` holds the Hamming distances H.  At step k the plane ``at`` has the nodes with a level below k, or without vector bit k:
    first the faulty nodes, and later one of two planes in turn.  Messages with H = k + 1 look at their preferred neighbours,
    messages with H = k - 1 at their spare neighbours.
    """
    size = plane_words(n)
    at = faulty
    at_hamming = live & simd.bits(h == 1)
    above_hamming = ZERO
    undecided = live & ~at_hamming
    changed = True
    k = np.int64(1)
    while undecided:
        looking = undecided & simd.bits(h == simd.splat(np.uint64(k + 1)))
        if looking:
            found = looking & _lanes_with_node_outside(planes, PREFERRED * size, at, size)
            at_hamming |= found
            undecided &= ~found
        looking = undecided & simd.bits(h == simd.splat(np.uint64(k - 1)))
        if looking:
            above_hamming |= looking & _lanes_with_node_outside(planes, SPARE * size, at, size)
            undecided &= ~looking
        if k == n:
            break
        if changed:
            to = (NO_STATUS + (k & 1)) * size
            changed = _fill_next_plane_unrolled(planes, at, to, at if kind == LEVELS else faulty, n, k)
            at = to
        k += 1
    return at_hamming, above_hamming


@block(stored=True)
def active_lanes(planes, faulty, n):
    """Return the lanes, as bits, with an active node: neither faulty nor unsafe.

    The first plane has the faulty nodes.  A pass adds the nodes with more than one neighbour in the plane, which are unsafe.
    Passes read and write two planes in turn, until nothing changes.
    """
    size = plane_words(n)
    at = faulty
    k = np.int64(0)
    changed = True
    while changed:
        to = (NO_STATUS + (k & 1)) * size
        changed = _fill_next_plane_unrolled(planes, at, to, at, n, np.int64(1))
        at = to
        k += 1
    found = simd.splat(ZERO)
    for v in range(0, size - 8, 8):
        found = found | (simd.load(planes, at + v) ^ simd.splat(ALL_BITS))
    return simd.bits(found != 0)
