"""Safety statuses inside the maximal unsafe subcubes of one trial: Wu's safety levels and safety vectors.

By Wu's theorems a node of level k has a nonfaulty shortest path to every nonfaulty node within distance k, and a node with bit k
in its vector to every nonfaulty node at distance k.  A faulty node has level 0 and no bit.  The *full* status of Q_n is level n,
or n ones.  Codes V3 to V6 are definitions in docs/readings/routing-rules.md.

Nodes outside these subcubes have the full status (V5).  A d-subcube is stored as bitmasks over a d-cube, with bit i of a node's
index for the i-th free dimension.  There is one bitmask, a *plane*, per k = 1 .. d: of the nodes with level k or more (L_k), or
with vector bit k (U_k).  Each plane follows from the one before (V4, V6):

    L_1 = nonfaulty and no end of a faulty link     L_(k+1) = L_k and at most k neighbours without L_k
    U_1 = L_1                                       U_(k+1) = nonfaulty and at most k neighbours without U_k or over a faulty link

The level of a node is the number of its planes, or n if it is in all d planes.  Vector bits above d are ones.  Planes of a
subcube are computed when a status in it is first needed, since most messages need none, and only until they stop changing.

For a large subcube with few faults the nodes without the full status are listed instead.  If no link is faulty, a node that lacks
plane k + 1 is faulty, or has two neighbours or more that lack plane k.  So it is found between two listed nodes at distance 2.
At (n, f) = (16, 16) planes took 40 us for each message with both ends in one such subcube, 13 of 31 ns per trial.

A trial begins with ``forget_safety_status``.  ``compute_status`` or ``compute_planes`` comes before each query of a subcube.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.bitmask import clear_node, set_node
from ..draws.faults import FAULTY_LINKS, FAULTY_NODES, SUBCUBES, is_faulty
from ..machine import neighbours, simd
from ..machine.array_types import Ints, Words
from ..machine.bits import ALL_BITS, ONE, ZERO, extract, lowest, popcount
from ..machine.jit import block, scratch

#: Largest dimension of a subcube whose statuses are computed.
MOST_PLANE_DIMENSIONS = 20

#: Least dimension of a subcube with a list of nodes in place of planes, and the most nodes in a list.
LEAST_LISTED_DIMENSION, MOST_LISTED_NODES = 10, 64

#: Kinds of safety status.
LEVELS, VECTORS = np.int64(0), np.int64(1)

_63 = np.uint64(63)
_6 = np.uint64(6)


class SafetyStatus(NamedTuple):
    """Planes and lists of one trial's subcubes; made by ``safety_status_for``.  A first index is the kind, LEVELS or VECTORS."""

    start: Ints  #: (2, subcubes): index of a subcube's first plane in ``planes``; -1 before it is computed
    depth: Ints  #: (2, subcubes): number of planes computed; all further planes equal the last
    planes: Words  #: planes one after another, of ``stride`` words each
    used: Ints  #: (1): words of ``planes`` in use
    nonfaulty: Words  #: the nonfaulty nodes of the subcube whose planes were computed last
    #: of the same subcube, at i * ``stride``: nodes whose link across the i-th free dimension is faulty; empty in a network that
    #: has no faulty links
    cut: Words
    listed_subcube: Ints  #: (2): the subcube with a list, one at a time; -1 if there is none
    listed_count: Ints  #: (2): length of the list
    nodes: Words  #: (2, MOST_LISTED_NODES): indices of the listed nodes in the subcube
    lacks: Words  #: (2, MOST_LISTED_NODES): bit k is set if the listed node is not in plane k


@block(always=True)
def stride(d):
    """Return the number of words of a plane: whole vectors, with zeros after the 2^d nodes."""
    return np.int64(1) << max(d - 6, np.int64(3))


@scratch
def safety_status_for(n, f, links):
    """Return scratch memory for safety statuses in Q_n with ``f`` faulty nodes and ``links`` faulty links."""
    largest = min(n, np.int64(MOST_PLANE_DIMENSIONS))
    plane_words = stride(largest)
    # an unsafe subcube has two faults or more; subcubes are disjoint, so that a plane of each takes no more words than a plane of
    # the largest cube and 8 words, the least of a plane, for each subcube
    several = min((f + links) // 2 + 1, np.int64(1) << largest)
    return SafetyStatus(
        np.full((2, f + links + 16), -1, np.int64),
        np.zeros((2, f + links + 16), np.int64),
        np.empty(2 * largest * (plane_words + 8 * several), np.uint64),
        np.zeros(1, np.int64),
        np.zeros(plane_words, np.uint64),
        np.zeros(plane_words * largest if links else 0, np.uint64),
        np.full(2, -1, np.int64),
        np.zeros(2, np.int64),
        np.empty((2, MOST_LISTED_NODES), np.uint64),
        np.empty((2, MOST_LISTED_NODES), np.uint64),
    )


@block(always=True)
def forget_safety_status(status, faults):
    """Discard all planes and lists, at the beginning of a trial, whose subcubes ``faults`` holds already."""
    status.used[0] = 0
    status.listed_subcube[LEVELS] = status.listed_subcube[VECTORS] = -1
    for i in range(faults.size[SUBCUBES]):
        status.start[LEVELS, i] = -1
        status.start[VECTORS, i] = -1


@block(always=True)
def release_planes(status):
    """Let the planes that are computed next overwrite all planes so far, which must not be queried any more in this trial."""
    status.used[0] = 0


@block
def unsafe_subcube_index(faults, x):
    """Return the index of the maximal unsafe subcube that contains node ``x``, or -1."""
    for i in range(faults.size[SUBCUBES]):
        if (x ^ faults.base[i]) & ~faults.free[i] == ZERO:
            return np.int64(i)
    return np.int64(-1)


@block(always=True)
def dimension_of(faults, i):
    """Return the number of free dimensions of subcube ``i``."""
    return popcount(faults.free[i])


@block(always=True)
def place_mask(d, w):
    """Return the bits of word w of a plane that belong to nodes of a d-cube."""
    if w > 0:
        return ALL_BITS if w < np.int64(1) << max(d - 6, np.int64(0)) else ZERO
    return ALL_BITS if d >= 6 else (ONE << (ONE << np.uint64(d))) - ONE


# ---------------------------------------------------------------- planes, 512 nodes a vector


@block(always=True)
def _add_neighbour(count, y, cut, i, size, v, counts_cut):
    """Add 1 to the counts of the nodes in y, and with ``counts_cut`` also of those with a faulty link across dimension i.

    ``count`` holds digits 0 to 4 of the counts of all nodes, as five vectors; dimension i is the i-th free one.
    """
    if counts_cut:
        y = y | simd.load(cut, i * size + v)
    c0, c1, c2, c3, c4 = count
    t = c0 & y
    u = c1 & t
    y0 = c0 ^ y
    y1 = c1 ^ t
    t = c2 & u
    y2 = c2 ^ u
    u = c3 & t
    return y0, y1, y2, c3 ^ t, c4 | u


@block(always=True)
def _at_most_mask(count, k):
    """Return the nodes whose count, in digits as in ``_add_neighbour``, is at most k."""
    c0, c1, c2, c3, c4 = count
    zero = c0 - c0
    less, equal = zero, simd.splat(ALL_BITS)  # by the digits compared so far, from the highest down
    for i in range(5):
        digit = c4
        if i == 1:
            digit = c3
        elif i == 2:
            digit = c2
        elif i == 3:
            digit = c1
        elif i == 4:
            digit = c0
        if k >> (4 - i) & 1:
            less = less | (equal & ~digit)
            equal = equal & digit
        else:
            equal = equal & ~digit
    return less | equal


@block
def few_neighbours_outside(planes, cut, plane, d, size, v, k, counts_cut):
    """Return which nodes have at most k neighbours outside a plane of a d-subcube, or with ``counts_cut`` over a faulty link.

    The plane begins at word ``plane`` and has ``size`` words.  The answer is for the nodes of its vector at word v, a multiple of
    eight.
    """
    ones = simd.splat(ALL_BITS)
    zero = simd.splat(ZERO)
    outside = simd.load(planes, plane + v) ^ ones
    count = (zero, zero, zero, zero, zero)
    count = _add_neighbour(count, neighbours.neighbour0(outside), cut, np.int64(0), size, v, counts_cut)
    if d > 1:
        count = _add_neighbour(count, neighbours.neighbour1(outside), cut, np.int64(1), size, v, counts_cut)
    if d > 2:
        count = _add_neighbour(count, neighbours.neighbour2(outside), cut, np.int64(2), size, v, counts_cut)
    if d > 3:
        count = _add_neighbour(count, neighbours.neighbour3(outside), cut, np.int64(3), size, v, counts_cut)
    if d > 4:
        count = _add_neighbour(count, neighbours.neighbour4(outside), cut, np.int64(4), size, v, counts_cut)
    if d > 5:
        count = _add_neighbour(count, neighbours.neighbour5(outside), cut, np.int64(5), size, v, counts_cut)
    if d > 6:
        count = _add_neighbour(count, neighbours.neighbour6(outside), cut, np.int64(6), size, v, counts_cut)
    if d > 7:
        count = _add_neighbour(count, neighbours.neighbour7(outside), cut, np.int64(7), size, v, counts_cut)
    if d > 8:
        count = _add_neighbour(count, neighbours.neighbour8(outside), cut, np.int64(8), size, v, counts_cut)
    for i in range(9, d):  # the neighbours are in another vector
        across = simd.load(planes, plane + (v ^ (np.int64(8) << (i - 9)))) ^ ones
        count = _add_neighbour(count, across, cut, np.int64(i), size, v, counts_cut)
    return _at_most_mask(count, k)


@block
def _next_plane(status, d, size, plane, k, kind):
    """Write plane k + 1 after plane k, which begins at word ``plane``; return whether all further planes are equal to it.

    Levels are final when a plane equals the one before.  Vectors are final when all nonfaulty nodes are in a plane, because then
    no node has more than k faulty neighbours.
    """
    counts_cut = kind == VECTORS and status.cut.size > 0
    changed = simd.splat(ZERO)
    for v in range(0, size, 8):
        old = simd.load(status.planes, plane + v)
        base = simd.load(status.nonfaulty, v) if kind == VECTORS else old
        new = base & few_neighbours_outside(status.planes, status.cut, plane, d, size, v, k, counts_cut)
        simd.store(status.planes, plane + size + v, new)
        changed = changed | (base ^ new)
    return simd.union(changed) == ZERO


@block
def _mask_faults(status, faults, i, d, size, plane):
    """Write the nonfaulty nodes of subcube i, its first plane at word ``plane``, and its faulty links."""
    base, free = faults.base[i], faults.free[i]
    for w in range(size):
        status.nonfaulty[w] = place_mask(d, w)
    for j in range(faults.size[FAULTY_NODES]):
        x = faults.labels[j]
        if (x ^ base) & ~free == ZERO:
            clear_node(status.nonfaulty, extract(x, free))
    for w in range(size):
        status.planes[plane + w] = status.nonfaulty[w]
    if faults.size[FAULTY_LINKS]:
        for w in range(size * d):
            status.cut[w] = ZERO
    for j in range(faults.size[FAULTY_LINKS]):
        x = faults.lower[j]
        if (x ^ base) & ~free == ZERO:
            u, v = extract(x, free), extract(x | ONE << faults.dims[j], free)
            clear_node(status.planes[plane:], u)
            clear_node(status.planes[plane:], v)
            free_dimension = lowest(u ^ v)
            set_node(status.cut[free_dimension * size :], u)
            set_node(status.cut[free_dimension * size :], v)


@block
def compute_planes(status, faults, i, kind):
    """Compute the bitmasks of subcube i for one kind of status, unless done; return False if it is too large or memory is full.

    The planes are those of the module's docstring.  ``nonfaulty`` and ``cut`` of ``status`` are of this subcube afterwards,
    unless its planes were computed before.
    """
    if status.start[kind, i] >= 0:
        return True
    d = dimension_of(faults, i)
    if d > MOST_PLANE_DIMENSIONS:
        return False
    size = stride(d)
    first_plane = status.used[0]
    if first_plane + d * size > status.planes.size:
        return False
    _mask_faults(status, faults, i, d, size, first_plane)
    depth = np.int64(1)
    while depth < d:
        depth += 1
        if _next_plane(status, d, size, first_plane + (depth - 2) * size, depth - 1, kind):
            break
    status.used[0] += depth * size
    status.start[kind, i] = first_plane
    status.depth[kind, i] = depth
    return True


# ---------------------------------------------------------------- lists of the nodes without a full status


@block(always=True)
def _list_index(status, kind, x):
    """Return the position in the list of the node with index x; the list's length if it is not listed."""
    count = status.listed_count[kind]
    for j in range(count):
        if status.nodes[kind, j] == x:
            return np.int64(j)
    return count


@block(always=True)
def _record_missing(status, kind, x, k):
    """Record that the nonfaulty node x is not in plane k + 1, if more than k of its neighbours are recorded as not in plane k.

    Returns whether the record is new, and whether the list has space for it.
    """
    found = _list_index(status, kind, x)
    count = status.listed_count[kind]
    if found < count and status.lacks[kind, found] >> np.uint64(k + 1) & ONE:
        return False, True
    lacking_neighbours = np.int64(0)
    for j in range(count):
        if popcount(status.nodes[kind, j] ^ x) == 1 and status.lacks[kind, j] >> np.uint64(k) & ONE:
            lacking_neighbours += 1
    if lacking_neighbours <= k:
        return False, True
    if found == MOST_LISTED_NODES:
        return False, False
    if found == count:
        status.nodes[kind, found] = x
        status.lacks[kind, found] = ZERO
        status.listed_count[kind] += 1
    # a node without level k + 1 is without all higher levels, too
    status.lacks[kind, found] |= (ALL_BITS if kind == LEVELS else ONE) << np.uint64(k + 1)
    return True, True


@block
def _list_nodes(status, faults, i, kind):
    """List the nodes of a subcube without the full status; return False if they are more than MOST_LISTED_NODES."""
    base, free = faults.base[i], faults.free[i]
    status.listed_subcube[kind], status.listed_count[kind] = -1, 0  # no list, should this one become too long
    for j in range(faults.size[FAULTY_NODES]):
        count = status.listed_count[kind]
        if (faults.labels[j] ^ base) & ~free == ZERO:
            if count == MOST_LISTED_NODES:
                return False
            status.nodes[kind, count], status.lacks[kind, count] = extract(faults.labels[j], free), ALL_BITS
            status.listed_count[kind] += 1
    d, k, changed = dimension_of(faults, i), np.int64(0), True
    while changed and k + 1 < d:
        k += 1
        changed = False
        known = status.listed_count[kind]
        for a in range(known):
            for b in range(a):
                difference = status.nodes[kind, a] ^ status.nodes[kind, b]
                lacked_by_both = status.lacks[kind, a] & status.lacks[kind, b]
                if popcount(difference) == 2 and lacked_by_both >> np.uint64(k) & ONE:
                    bit = difference & (ZERO - difference)
                    for _ in range(2):  # the two common neighbours
                        is_new, has_space = _record_missing(status, kind, status.nodes[kind, a] ^ bit, k)
                        if not has_space:
                            return False
                        changed |= is_new
                        bit ^= difference
    status.listed_subcube[kind] = i
    status.depth[kind, i] = k + 1
    return True


@block(always=True)
def compute_status(status, faults, i, kind):
    """Compute a subcube's statuses, as a list or as planes, unless that is done.

    Returns False if the subcube is too large, or memory is full.
    """
    if status.listed_subcube[kind] == i:
        return True
    if (
        LEAST_LISTED_DIMENSION <= dimension_of(faults, i) <= MOST_PLANE_DIMENSIONS
        and faults.size[FAULTY_LINKS] == 0
        and _list_nodes(status, faults, i, kind)
    ):
        return True
    return compute_planes(status, faults, i, kind)


@block(always=True)
def bit_at(status, kind, i, size, k, x):
    """Whether plane k >= 1 of a computed subcube, with ``size`` words per plane, contains the node with index x."""
    if status.listed_subcube[kind] == i:
        found = _list_index(status, kind, x)
        return found == status.listed_count[kind] or status.lacks[kind, found] >> np.uint64(k) & ONE == ZERO
    plane = status.start[kind, i] + (min(k, status.depth[kind, i]) - 1) * size
    return status.planes[plane + np.int64(x >> _6)] >> (x & _63) & ONE != ZERO


@block(always=True)
def level_at(status, i, size, n, x):
    """Return the level, in [0, n], of the node with index x in a computed subcube, with ``size`` words per plane."""
    k = np.int64(0)
    while k < status.depth[LEVELS, i] and bit_at(status, LEVELS, i, size, k + 1, x):
        k += 1
    return np.int64(n) if k == status.depth[LEVELS, i] else k


# ---------------------------------------------------------------- queries for users' rules


@block
def level(status, faults, n, v):
    """Return the safety level that node ``v`` shows (V3, V6), in [0, n]; -1 if it is not computed."""
    i = unsafe_subcube_index(faults, v)
    if i < 0:
        return np.int64(n)
    if faults.free[i] == ZERO:
        return np.int64(0)
    if not compute_status(status, faults, i, LEVELS):
        return np.int64(-1)
    return level_at(status, i, stride(dimension_of(faults, i)), n, extract(v, faults.free[i]))


@block
def vector_bit(status, faults, n, v, k):
    """Whether bit k of node ``v``'s safety vector is set (V4), 0 <= k <= n; bit 0 means nonfaulty; False if not computed."""
    i = unsafe_subcube_index(faults, v)
    if i < 0:
        return True
    if faults.free[i] == ZERO:
        return False
    if not compute_status(status, faults, i, VECTORS):
        return False
    d = dimension_of(faults, i)
    if 1 <= k <= d:
        return bit_at(status, VECTORS, i, stride(d), np.int64(k), extract(v, faults.free[i]))
    return not is_faulty(faults, v)  # bit 0, and bits above d
