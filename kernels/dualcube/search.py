"""Shortest nonfaulty paths in a whole dual-cube: breadth-first search on bitmasks, 512 nodes an operation.

Memory and time are proportional to 2^(2m+1) nodes.  The nodes of class 0 and of class 1 stand in two bitmasks
indexed by the label without its class bit, so a cross edge joins equal indices; class 0 is joined along index
bits 0 .. m-1, class 1 along m .. 2m-1.  Index bits below 9 are shuffles inside a vector, the others whole vectors.
"""

from __future__ import annotations

import numpy as np

from .. import simd
from ..jit import block, kernel
from ..sampling import status, status_lanes

_ONE = np.uint64(1)
_6 = np.uint64(6)
_63 = np.uint64(63)


@block
def words(m):
    """Words of one class' bitmask: 2^(2m) bits, at least one vector."""
    return max(1 << (2 * m), simd.BITS) >> 6


@block
def draw_healthy(key, threshold, m, healthy):
    """Bitmasks of the nonfaulty nodes under a status key, shape (2, words(m)); every status is drawn."""
    nodes = 1 << (2 * m)
    lanes = simd.iota(simd.splat(key))
    limit = simd.splat(threshold)
    for c in range(2):
        row = healthy[c]
        if nodes < 64:
            row[:] = np.uint64(0)
            for i in range(nodes):
                if status(key, np.uint64(c * nodes + i)) >= threshold:
                    row[0] |= _ONE << np.uint64(i)
            continue
        for w in range(row.size):
            row[w] = np.uint64(0)
        for w in range(nodes >> 6):
            word = np.uint64(0)
            for i in range(8):
                label = simd.add(simd.splat(np.uint64(c * nodes + 64 * w + 8 * i)), lanes)
                word |= simd.bits(simd.less_equal(limit, status_lanes(simd.splat(key), label))) << np.uint64(8 * i)
            row[w] = word


@block
def _spread_inside(x, low, high):
    """``x`` and its neighbours along index bits low .. high-1, those below 9."""
    y = x
    if low <= 0 < high:
        y = simd.either(y, simd.neighbour0(x))
    if low <= 1 < high:
        y = simd.either(y, simd.neighbour1(x))
    if low <= 2 < high:
        y = simd.either(y, simd.neighbour2(x))
    if low <= 3 < high:
        y = simd.either(y, simd.neighbour3(x))
    if low <= 4 < high:
        y = simd.either(y, simd.neighbour4(x))
    if low <= 5 < high:
        y = simd.either(y, simd.neighbour5(x))
    if low <= 6 < high:
        y = simd.either(y, simd.neighbour6(x))
    if low <= 7 < high:
        y = simd.either(y, simd.neighbour7(x))
    if low <= 8 < high:
        y = simd.either(y, simd.neighbour8(x))
    return y


@block
def _spread(seen, opposite, healthy, low, high, out):
    """One step of one class: nodes seen before, and healthy ones next to a seen one.  Tells whether any is new."""
    zero = simd.splat(np.uint64(0))
    fresh = zero
    for v in range(0, seen.size, 8):
        x = simd.load(seen, v)
        y = simd.either(_spread_inside(x, low, high), simd.load(opposite, v))
        for k in range(max(low, 9), high):
            y = simd.either(y, simd.load(seen, v ^ (8 << (k - 9))))
        y = simd.both(y, simd.load(healthy, v))
        simd.store(out, v, y)
        fresh = simd.either(fresh, simd.xor(x, y))
    return simd.bits(simd.differ(fresh, zero)) != np.uint64(0)


@block
def search(m, healthy, s, t, seen, spare):
    """Length of a shortest nonfaulty path from ``s`` to ``t``, both nonfaulty; -1 when there is none.

    Parameters
    ----------
    m : int64
    healthy : uint64 array, shape (2, words(m))
    s, t : uint64
        Labels.
    seen, spare : uint64 arrays, shape (2, words(m))
        Overwritten.
    """
    if s == t:
        return 0
    shift = np.uint64(2 * m)
    inside = (_ONE << shift) - _ONE
    a, b = s & inside, t & inside
    a_class, b_class = np.int64(s >> shift), np.int64(t >> shift)
    seen[:] = np.uint64(0)
    seen[a_class, np.int64(a >> _6)] = _ONE << (a & _63)
    length = 0
    while True:
        now, then = (seen, spare) if length % 2 == 0 else (spare, seen)
        new0 = _spread(now[0], now[1], healthy[0], 0, m, then[0])
        new1 = _spread(now[1], now[0], healthy[1], m, 2 * m, then[1])
        length += 1
        if then[b_class, np.int64(b >> _6)] >> (b & _63) & _ONE:
            return length
        if not (new0 or new1):
            return -1


@kernel("int64(int64, uint64, uint64, uint64[::1], uint64, uint64)")
def distance_one(m, key, threshold, faults, s, t):
    """Length of a shortest nonfaulty path in DC(m), or -1: faults lazy, listed, or both; as ``route_one``."""
    healthy = np.zeros((2, words(m)), np.uint64)
    seen = np.zeros((2, words(m)), np.uint64)
    spare = np.zeros((2, words(m)), np.uint64)
    draw_healthy(key, threshold, m, healthy)
    shift = np.uint64(2 * m)
    inside = (_ONE << shift) - _ONE
    for label in faults:
        node = label & inside
        healthy[np.int64(label >> shift), np.int64(node >> _6)] &= ~(_ONE << (node & _63))
    return search(m, healthy, s, t, seen, spare)
