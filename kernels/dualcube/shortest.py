"""Shortest nonfaulty paths in a dual-cube: breadth-first search on bitmasks, 512 nodes per operation.

Memory and time are proportional to 2^(2m+1) nodes.  Each class has a bitmask indexed by the label without its class bit, so a
cross edge joins equal indices.  Class 0 has links along index bits 0 .. m-1, class 1 along bits m .. 2m-1.  A step along an index
bit below 9 permutes the bits of a vector; along another bit it pairs whole vectors.
"""

from __future__ import annotations

import numpy as np

from ..cube.bitmask import clear_node, count_words, has_node, set_node, spread_nodes
from ..draws.statuses import status, status_lanes
from ..machine import simd
from ..machine.bits import ONE, ZERO
from ..machine.jit import block, kernel


@block
def bitmask_words(m):
    """Return the number of 64-bit words in the bitmask of one class: 2^(2m) bits, at least one vector."""
    return count_words(2 * m)


@block
def draw_nonfaulty(key, threshold, m, nonfaulty):
    """Fill bitmasks of the nonfaulty nodes under a status key, shape (2, bitmask_words(m)); all statuses are computed."""
    nodes = 1 << (2 * m)
    lanes = simd.iota(simd.splat(key))
    limit = simd.splat(threshold)
    for c in range(2):
        row = nonfaulty[c]
        if nodes < 64:
            row[:] = ZERO
            for i in range(nodes):
                if status(key, np.uint64(c * nodes + i)) >= threshold:
                    row[0] |= ONE << np.uint64(i)
            continue
        for w in range(row.size):
            row[w] = ZERO
        for w in range(nodes >> 6):
            word = ZERO
            for i in range(8):
                label = simd.splat(np.uint64(c * nodes + 64 * w + 8 * i)) + lanes
                word |= simd.bits(limit <= status_lanes(simd.splat(key), label)) << np.uint64(8 * i)
            row[w] = word


@block
def shortest_length(m, nonfaulty, s, t, seen, spare):
    """Return the length of a shortest nonfaulty path from ``s`` to ``t``, both nonfaulty; -1 if there is none.

    Parameters
    ----------
    m : int64
    nonfaulty : uint64 array, shape (2, bitmask_words(m))
    s, t : uint64
        Labels.
    seen, spare : uint64 arrays, shape (2, bitmask_words(m))
        Overwritten.  In turn one holds the nodes reached by up to ``length`` steps, and the other is filled with those of the
        next step.
    """
    if s == t:
        return 0
    shift = np.uint64(2 * m)
    inside = (ONE << shift) - ONE
    a, b = s & inside, t & inside
    a_class, b_class = np.int64(s >> shift), np.int64(t >> shift)
    seen[:] = ZERO
    set_node(seen[a_class], a)
    length = 0
    while True:
        reached, grown = (seen, spare) if length % 2 == 0 else (spare, seen)
        is_new0 = spread_nodes(reached[0], reached[1], nonfaulty[0], 0, m, grown[0])
        is_new1 = spread_nodes(reached[1], reached[0], nonfaulty[1], m, 2 * m, grown[1])
        length += 1
        if has_node(grown[b_class], b):
            return length
        if not (is_new0 or is_new1):
            return -1


@kernel("int64(int64, uint64, uint64, uint64[::1], uint64, uint64)")
def shortest_length_one(m, key, threshold, faults, s, t):
    """Return the length of a shortest nonfaulty path in DC(m), or -1.  Faults are given as in ``lookups.route_one``."""
    nonfaulty = np.zeros((2, bitmask_words(m)), np.uint64)
    seen = np.zeros((2, bitmask_words(m)), np.uint64)
    spare = np.zeros((2, bitmask_words(m)), np.uint64)
    draw_nonfaulty(key, threshold, m, nonfaulty)
    shift = np.uint64(2 * m)
    inside = (ONE << shift) - ONE
    for label in faults:
        node = label & inside
        clear_node(nonfaulty[np.int64(label >> shift)], node)
    return shortest_length(m, nonfaulty, s, t, seen, spare)
