"""Safety statuses of all nodes of whole cubes, n = 6 .. 12, for eight trials at a time, on the bitmasks of ``planes.py``.

A node's *safety level* and *safety vector* (Wu) are defined in ``safety_status.py``: level k, and bit k of the vector, promise a
shortest path to every nonfaulty node at distance k.  H is the Hamming distance of a message.  A neighbour of its source is
*preferred* if it is nearer to the destination, else *spare*.  By Wu's theorems the rule LEVELS delivers over H links if some
preferred neighbour has level H - 1 or more, and VECTORS if one has vector bit H - 1.  Otherwise they deliver over H + 2 links if
some spare neighbour has level H + 1 or more, or bit H + 1, and refuse the message if none has.

Planes, places and groups are those of ``planes.py``, and ``work`` is a ``whole_cube.WholeCubeWorkspace``.  A parameter or
variable with ``plane`` in its name is the index of a plane's first word.  Masks have bit i for the i-th trial of a group.
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
def mark_neighbours(work, n, place):
    """Write the planes PREFERRED and SPARE for the group from ``place`` on; return the Hamming distances of its messages."""
    planes, size = work.planes, plane_words(n)
    s, t = simd.load_wide(work.queued_sources, place), simd.load_wide(work.queued_destinations, place)
    zero, one = s - s, simd.splat(ONE)
    difference = s ^ t
    # a node is bit ``position`` of its trial's word in vector ``source_vector``
    source_vector, position = s >> simd.splat(_6), s & simd.splat(_63)
    preferred, spare = zero, zero  # neighbours in the vector of the source: those over dimensions 0 to 5
    for i in range(6):
        bit = simd.splat(ONE << np.uint64(i))
        neighbour = one << (position ^ bit)
        is_preferred = (difference & bit) != zero
        preferred = preferred | simd.select(is_preferred, neighbour, zero)
        spare = spare | simd.select(is_preferred, zero, neighbour)
    vector_difference = difference >> simd.splat(_6)
    for v in range(size // 8 - 1):
        offset = source_vector ^ simd.splat(np.uint64(v))
        is_source_vector = offset == zero
        # the neighbour in vector v, which exists if v differs in one bit from the source's vector
        neighbour = simd.select((offset & (offset - one)) == zero, one << position, zero)
        is_preferred = (offset & vector_difference) != zero
        across = simd.select(is_preferred, neighbour, zero)
        simd.store(planes, PREFERRED * size + 8 * v, simd.select(is_source_vector, preferred, across))
        across = simd.select(is_preferred, zero, neighbour)
        simd.store(planes, SPARE * size + 8 * v, simd.select(is_source_vector, spare, across))
    return simd.popcount(difference)


@block(always=True)
def _count_four(count, w, x, y, z):
    """Add 1 to a node's count for each of the masks w, x, y and z that has the node.

    ``count`` holds digits 0 to 3 of the counts of all nodes, as four vectors; the counts must not exceed fifteen.
    """
    c0, c1, c2, c3 = count
    carry1 = simd.majority(c0, w, x)
    c0 = c0 ^ w ^ x
    carry2 = simd.majority(c0, y, z)
    c0 = c0 ^ y ^ z
    carry3 = simd.majority(c1, carry1, carry2)
    return c0, c1 ^ carry1 ^ carry2, c2 ^ carry3, c3 ^ (c2 & carry3)


@block(always=True)
def _load_across(planes, plane, v, i, n, size):
    """Return the neighbours of vector v of a plane over dimension i >= 6; for i >= n the plane's vector of zeros."""
    return simd.load(planes, plane + (8 * (v ^ (np.int64(1) << (i - 6))) if i < n else size - 8))


@block(always=True)
def _inverted_digit(k, j):
    """Return a vector of zeros if binary digit j of k is 1, otherwise of ones."""
    return simd.splat(ZERO if k >> j & 1 else ALL_BITS)


@block(always=True)
def _fill_next_plane(planes, plane, next_plane, base_plane, n, k):
    """Write to ``next_plane`` the nodes of ``base_plane`` and those with more than k neighbours in ``plane``.

    Returns whether a node is new, i.e. not in ``base_plane``.  ``next_plane`` must differ from ``plane``, which is read
    throughout.

    A count is compared with k from the lowest digit up.  The digits so far are larger if the last one is, or if it is equal and
    the digits before are larger: the majority of the count's digit, the inverted digit of k, and the result before.
    """
    size = plane_words(n)
    inverted0, inverted1 = _inverted_digit(k, 0), _inverted_digit(k, 1)
    inverted2, inverted3 = _inverted_digit(k, 2), _inverted_digit(k, 3)
    zero = simd.splat(ZERO)
    changed = zero
    for v in range(size // 8 - 1):
        x = simd.load(planes, plane + 8 * v)
        count = (zero, zero, zero, zero)
        count = _count_four(
            count,
            neighbours.neighbour0(x),
            neighbours.neighbour1(x),
            neighbours.neighbour2(x),
            neighbours.neighbour3(x),
        )
        over6, over7 = _load_across(planes, plane, v, 6, n, size), _load_across(planes, plane, v, 7, n, size)
        count = _count_four(count, neighbours.neighbour4(x), neighbours.neighbour5(x), over6, over7)
        if n > 8:
            over8, over9 = _load_across(planes, plane, v, 8, n, size), _load_across(planes, plane, v, 9, n, size)
            over10, over11 = _load_across(planes, plane, v, 10, n, size), _load_across(planes, plane, v, 11, n, size)
            count = _count_four(count, over8, over9, over10, over11)
        c0, c1, c2, c3 = count
        more = simd.majority(c1, c0 & inverted0, inverted1)
        more = simd.majority(c3, simd.majority(c2, more, inverted2), inverted3)
        base = simd.load(planes, base_plane + 8 * v)
        simd.store(planes, next_plane + 8 * v, base | more)
        changed = changed | (more & ~base)
    return simd.union(changed) != ZERO


@block
def _fill_next_plane_unrolled(planes, plane, next_plane, base_plane, n, k):
    """Do ``_fill_next_plane`` with n as a constant, so that its loop is unrolled, which halves the time."""
    if n == 6:
        changed = _fill_next_plane(planes, plane, next_plane, base_plane, 6, k)
    elif n == 7:
        changed = _fill_next_plane(planes, plane, next_plane, base_plane, 7, k)
    elif n == 8:
        changed = _fill_next_plane(planes, plane, next_plane, base_plane, 8, k)
    elif n == 9:
        changed = _fill_next_plane(planes, plane, next_plane, base_plane, 9, k)
    elif n == 10:
        changed = _fill_next_plane(planes, plane, next_plane, base_plane, 10, k)
    elif n == 11:
        changed = _fill_next_plane(planes, plane, next_plane, base_plane, 11, k)
    else:
        changed = _fill_next_plane(planes, plane, next_plane, base_plane, 12, k)
    return changed


@block(always=True)
def _find_trials_with_node_outside(planes, plane, excluded_plane, size):
    """Return the trials, as a mask, with a node of ``plane`` that is not in ``excluded_plane``."""
    found = simd.splat(ZERO)
    for v in range(0, size - 8, 8):
        found = found | (simd.load(planes, plane + v) & ~simd.load(planes, excluded_plane + v))
    return simd.bits(found != 0)


@block(stored=True)
def find_delivered_trials(planes, faulty_plane, n, h, live, kind):
    """Return the trials among ``live`` whose message LEVELS, or VECTORS, delivers over H links, and over H + 2 links.

    ``h`` holds the Hamming distances H; ``mark_neighbours`` must have written the planes of the same group.  At step k
    ``lacking_plane`` has the nodes with a level below k, or without vector bit k: first the faulty nodes, and later one of the
    two planes NO_STATUS in turn.  Messages with H = k + 1 look at their preferred neighbours, messages with H = k - 1 at their
    spare neighbours.  A plane without a new node is not computed again, because all further planes equal it.
    """
    size = plane_words(n)
    lacking_plane = faulty_plane
    at_hamming = live & simd.bits(h == 1)
    above_hamming = ZERO
    undecided = live & ~at_hamming
    changed = True
    k = np.int64(1)
    while undecided:
        looking = undecided & simd.bits(h == simd.splat(np.uint64(k + 1)))
        if looking:
            found = looking & _find_trials_with_node_outside(planes, PREFERRED * size, lacking_plane, size)
            at_hamming |= found
            undecided &= ~found
        looking = undecided & simd.bits(h == simd.splat(np.uint64(k - 1)))
        if looking:
            above_hamming |= looking & _find_trials_with_node_outside(planes, SPARE * size, lacking_plane, size)
            undecided &= ~looking
        if k == n:
            break
        if changed:
            next_plane = (NO_STATUS + (k & 1)) * size
            base_plane = lacking_plane if kind == LEVELS else faulty_plane
            changed = _fill_next_plane_unrolled(planes, lacking_plane, next_plane, base_plane, n, k)
            lacking_plane = next_plane
        k += 1
    return at_hamming, above_hamming


@block(stored=True)
def find_active_trials(planes, faulty_plane, n):
    """Return the trials, as a mask, with an active node: neither faulty nor unsafe.

    The first plane has the faulty nodes.  A pass adds the nodes with more than one neighbour in the plane, which are unsafe.
    Passes read and write the two planes NO_STATUS in turn, until nothing changes.
    """
    size = plane_words(n)
    plane = faulty_plane
    k = np.int64(0)
    changed = True
    while changed:
        next_plane = (NO_STATUS + (k & 1)) * size
        changed = _fill_next_plane_unrolled(planes, plane, next_plane, plane, n, np.int64(1))
        plane = next_plane
        k += 1
    found = simd.splat(ZERO)
    for v in range(0, size - 8, 8):
        found = found | (simd.load(planes, plane + v) ^ simd.splat(ALL_BITS))
    return simd.bits(found != 0)
