"""Safety statuses inside the maximal unsafe subcubes of one trial: levels and vectors (V3-V6).

Nodes outside these subcubes have the full status (V5).  A d-subcube is stored as bitmasks over a d-cube, with bit i of a node's
index for the i-th free dimension.  There is one bitmask, a plane, per k = 1 .. d.  Each plane follows from the one before:

    L_1 = nonfaulty and no end of a faulty link     L_(k+1) = L_k and at most k neighbours without L_k
    U_1 = L_1                                       U_(k+1) = nonfaulty and at most k neighbours without U_k or over a faulty link

The level of a node is the number of its planes, or n if it is in all d planes.  Vector bits above d are ones.  Planes of a
subcube are computed when a status in it is first needed, since most messages need none, and only until they stop changing.

For a large subcube with few faults the nodes without a status are listed instead.  If no link is faulty, such a node is faulty,
or has two neighbours or more without the status before.  So it is found between two listed nodes at distance 2.  At (16, 16)
planes took 40 us for each message with both ends in one such subcube, 13 of 31 ns per trial.
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
    """Planes and lists of one trial's subcubes; made by ``safety_status_for``."""

    start: Ints  #: (2, subcubes): index of a subcube's first plane in ``planes``, by kind; -1 before it is computed
    depth: Ints  #: (2, subcubes): number of planes; all further planes equal the last
    planes: Words  #: planes one after another, of ``stride`` words each
    used: Ints  #: (1): words of ``planes`` in use
    nonfaulty: Words  #: the nonfaulty nodes of the subcube computed last
    cut: Words  #: row i: nodes whose link across the i-th free dimension is faulty; empty without faulty links
    listed: Ints  #: (2, 2): the subcube with a list, or -1, and the list's length, by kind
    nodes: Words  #: (2, MOST_LISTED_NODES): indices of the listed nodes in the subcube
    lacks: Words  #: (2, MOST_LISTED_NODES): bit k is set if the node is not in plane k


@block(always=True)
def stride(d):
    """Return the number of words of a plane: whole vectors, with zeros after the 2^d nodes."""
    return np.int64(1) << max(d - 6, np.int64(3))


@scratch
def safety_status_for(n, f, links):
    """Return scratch memory for safety statuses in Q_n with ``f`` faulty nodes and ``links`` faulty links."""
    largest = min(n, np.int64(MOST_PLANE_DIMENSIONS))
    plane_words = stride(largest)
    several = min((f + links) // 2 + 1, np.int64(1) << largest)
    return SafetyStatus(
        np.full((2, f + links + 16), -1, np.int64),
        np.zeros((2, f + links + 16), np.int64),
        np.empty(2 * largest * (plane_words + 8 * several), np.uint64),
        np.zeros(1, np.int64),
        np.zeros(plane_words, np.uint64),
        np.zeros(plane_words * largest if links else 0, np.uint64),
        np.full((2, 2), -1, np.int64),
        np.empty((2, MOST_LISTED_NODES), np.uint64),
        np.empty((2, MOST_LISTED_NODES), np.uint64),
    )


@block(always=True)
def forget_safety_status(status, faults):
    """Discard all planes and lists, at the beginning of a trial."""
    status.used[0] = 0
    status.listed[0, 0] = status.listed[1, 0] = -1
    for i in range(faults.size[SUBCUBES]):
        status.start[0, i] = -1
        status.start[1, i] = -1


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
def _add_neighbour(c, y, cut, i, size, v, over):
    """Add one neighbour per node, with ``over`` also those across faulty links, to the counts in bit planes c (up to sixteen)."""
    if over:
        y = y | simd.load(cut, i * size + v)
    c0, c1, c2, c3, c4 = c
    t = c0 & y
    u = c1 & t
    y0 = c0 ^ y
    y1 = c1 ^ t
    t = c2 & u
    y2 = c2 ^ u
    u = c3 & t
    return y0, y1, y2, c3 ^ t, c4 | u


@block(always=True)
def _at_most_mask(c, k):
    """Return the nodes whose count in bit planes c is at most k."""
    c0, c1, c2, c3, c4 = c
    zero = c0 - c0
    less, equal = zero, simd.splat(ALL_BITS)
    for bit in range(5):
        x = c4
        if bit == 1:
            x = c3
        elif bit == 2:
            x = c2
        elif bit == 3:
            x = c1
        elif bit == 4:
            x = c0
        if k >> (4 - bit) & 1:
            less = less | (equal & ~x)
            equal = equal & x
        else:
            equal = equal & ~x
    return less | equal


@block
def few_neighbours_outside(planes, cut, at, d, size, v, k, over):
    """Return which nodes of the vector at word v have at most k neighbours outside the plane ``at`` or across a faulty link."""
    ones = simd.splat(ALL_BITS)
    zero = simd.splat(ZERO)
    m = simd.load(planes, at + v) ^ ones
    c = (zero, zero, zero, zero, zero)
    c = _add_neighbour(c, neighbours.neighbour0(m), cut, np.int64(0), size, v, over)
    if d > 1:
        c = _add_neighbour(c, neighbours.neighbour1(m), cut, np.int64(1), size, v, over)
    if d > 2:
        c = _add_neighbour(c, neighbours.neighbour2(m), cut, np.int64(2), size, v, over)
    if d > 3:
        c = _add_neighbour(c, neighbours.neighbour3(m), cut, np.int64(3), size, v, over)
    if d > 4:
        c = _add_neighbour(c, neighbours.neighbour4(m), cut, np.int64(4), size, v, over)
    if d > 5:
        c = _add_neighbour(c, neighbours.neighbour5(m), cut, np.int64(5), size, v, over)
    if d > 6:
        c = _add_neighbour(c, neighbours.neighbour6(m), cut, np.int64(6), size, v, over)
    if d > 7:
        c = _add_neighbour(c, neighbours.neighbour7(m), cut, np.int64(7), size, v, over)
    if d > 8:
        c = _add_neighbour(c, neighbours.neighbour8(m), cut, np.int64(8), size, v, over)
    for i in range(9, d):
        y = simd.load(planes, at + (v ^ (np.int64(8) << (i - 9)))) ^ ones
        c = _add_neighbour(c, y, cut, np.int64(i), size, v, over)
    return _at_most_mask(c, k)


@block
def _next_plane(status, d, size, at, k, kind):
    """Write plane k + 1 after plane k, which begins at ``at``; return whether all further planes are equal to it.

    Levels are final when a plane equals the one before.  Vectors are final when all nonfaulty nodes are in a plane, because then
    no node has more than k faulty neighbours.
    """
    over = kind == VECTORS and status.cut.size > 0
    changed = simd.splat(ZERO)
    for v in range(0, size, 8):
        old = simd.load(status.planes, at + v)
        base = simd.load(status.nonfaulty, v) if kind == VECTORS else old
        new = base & few_neighbours_outside(status.planes, status.cut, at, d, size, v, k, over)
        simd.store(status.planes, at + size + v, new)
        changed = changed | (base ^ new)
    return simd.union(changed) == ZERO


@block
def _mask_faults(status, faults, i, d, size, at):
    """Write the subcube's nonfaulty nodes, its first plane at ``at`` and its faulty links."""
    base, free = faults.base[i], faults.free[i]
    for w in range(size):
        status.nonfaulty[w] = place_mask(d, w)
    for j in range(faults.size[FAULTY_NODES]):
        x = faults.labels[j]
        if (x ^ base) & ~free == ZERO:
            clear_node(status.nonfaulty, extract(x, free))
    for w in range(size):
        status.planes[at + w] = status.nonfaulty[w]
    if faults.size[FAULTY_LINKS]:
        for w in range(size * d):
            status.cut[w] = ZERO
    for j in range(faults.size[FAULTY_LINKS]):
        x = faults.lower[j]
        if (x ^ base) & ~free == ZERO:
            u, v = extract(x, free), extract(x | ONE << faults.dims[j], free)
            clear_node(status.planes[at:], u)
            clear_node(status.planes[at:], v)
            row = lowest(u ^ v)
            set_node(status.cut[row * size :], u)
            set_node(status.cut[row * size :], v)


@block
def compute_planes(status, faults, i, kind):
    """Compute the bitmasks of subcube i for one kind of status, unless done; return False if it is too large or memory is full.

    See the module's docstring for these planes.
    """
    if status.start[kind, i] >= 0:
        return True
    d = dimension_of(faults, i)
    if d > MOST_PLANE_DIMENSIONS:
        return False
    size = stride(d)
    at = status.used[0]
    if at + d * size > status.planes.size:
        return False
    _mask_faults(status, faults, i, d, size, at)
    depth = np.int64(1)
    while depth < d:
        depth += 1
        if _next_plane(status, d, size, at + (depth - 2) * size, depth - 1, kind):
            break
    status.used[0] += depth * size
    status.start[kind, i] = at
    status.depth[kind, i] = depth
    return True


# ---------------------------------------------------------------- lists of the nodes without a full status


@block(always=True)
def _list_index(status, kind, x):
    """Return the position in the list of the node with index x; the list's length if it is not listed."""
    count = status.listed[kind, 1]
    for e in range(count):
        if status.nodes[kind, e] == x:
            return np.int64(e)
    return count


@block(always=True)
def _record_missing(status, kind, x, k):
    """Record that node x is not in plane k + 1, if so; return whether the record is new, and whether the list has space."""
    e = _list_index(status, kind, x)
    count = status.listed[kind, 1]
    if e < count and status.lacks[kind, e] >> np.uint64(k + 1) & ONE:
        return False, True
    without = np.int64(0)
    for j in range(count):
        if popcount(status.nodes[kind, j] ^ x) == 1 and status.lacks[kind, j] >> np.uint64(k) & ONE:
            without += 1
    if without <= k:
        return False, True
    if e == MOST_LISTED_NODES:
        return False, False
    if e == count:
        status.nodes[kind, e] = x
        status.lacks[kind, e] = ZERO
        status.listed[kind, 1] += 1
    status.lacks[kind, e] |= (ALL_BITS if kind == LEVELS else ONE) << np.uint64(k + 1)
    return True, True


@block
def _list_nodes(status, faults, i, kind):
    """List the nodes of a subcube without a full status; return False if they are more than MOST_LISTED_NODES."""
    base, free = faults.base[i], faults.free[i]
    status.listed[kind, 0], status.listed[kind, 1] = -1, 0
    for j in range(faults.size[FAULTY_NODES]):
        e = status.listed[kind, 1]
        if (faults.labels[j] ^ base) & ~free == ZERO:
            if e == MOST_LISTED_NODES:
                return False
            status.nodes[kind, e], status.lacks[kind, e] = extract(faults.labels[j], free), ALL_BITS
            status.listed[kind, 1] += 1
    d, k, moving = dimension_of(faults, i), np.int64(0), True
    while moving and k + 1 < d:
        k += 1
        moving = False
        known = status.listed[kind, 1]
        for a in range(known):
            for b in range(a):
                difference = status.nodes[kind, a] ^ status.nodes[kind, b]
                both = status.lacks[kind, a] & status.lacks[kind, b]
                if popcount(difference) == 2 and both >> np.uint64(k) & ONE:
                    bit = difference & (ZERO - difference)
                    for _ in range(2):
                        new, has_space = _record_missing(status, kind, status.nodes[kind, a] ^ bit, k)
                        if not has_space:
                            return False
                        moving |= new
                        bit ^= difference
    status.listed[kind, 0] = i
    status.depth[kind, i] = k + 1
    return True


@block(always=True)
def compute_status(status, faults, i, kind):
    """Compute a subcube's statuses, as a list or as planes, unless that is done; return False if it is too large."""
    if status.listed[kind, 0] == i:
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
    if status.listed[kind, 0] == i:
        e = _list_index(status, kind, x)
        return e == status.listed[kind, 1] or status.lacks[kind, e] >> np.uint64(k) & ONE == ZERO
    at = status.start[kind, i] + (min(k, status.depth[kind, i]) - 1) * size
    return status.planes[at + np.int64(x >> _6)] >> (x & _63) & ONE != ZERO


@block(always=True)
def level_at(status, i, size, n, x):
    """Return the level of the node with index x in a computed subcube."""
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
