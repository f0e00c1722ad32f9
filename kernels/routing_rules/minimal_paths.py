"""Whether a nonfaulty path over the Hamming distance exists between two nodes (V9 in docs/readings/routing-rules.md)."""

from __future__ import annotations

import numpy as np

from ..draws.faults import FAULTY_LINKS, FAULTY_NODES
from ..machine.bits import ONE, ZERO, extract, popcount
from ..machine.jit import block

#: Largest Hamming distance for which the nodes between the ends are searched.
MOST_SEARCHED_DIMENSIONS = 24

_ALL_BLOCKED = np.uint32(0xFFFFFFFF)


@block(stored=True)
def has_minimal_path(faults, s, t, shut):
    """Return 1 if a nonfaulty path of H links exists, H the Hamming distance, 0 if not, and -1 if H is too large to search.

    With fewer than H faults between the ends such a path exists, because the H cyclic shifts of an order of the differing bits
    give disjoint paths; callers test this first.  The search visits the 2^H nodes between the ends in ascending order of their
    offset x from s, compressed to H bits, so that all nodes before a node are decided.  ``shut`` is scratch memory for 2^H
    numbers: the bits by which no path enters node x, all bits if the node is faulty or not reached.
    """
    difference = s ^ t
    h = popcount(difference)
    if h > MOST_SEARCHED_DIMENSIONS:
        return np.int64(-1)
    size = np.int64(1) << h
    for x in range(size):
        shut[x] = 0
    for i in range(faults.size[FAULTY_NODES]):
        if (faults.labels[i] ^ s) & ~difference == ZERO:
            shut[np.int64(extract(faults.labels[i] ^ s, difference))] = _ALL_BLOCKED
    for j in range(faults.size[FAULTY_LINKS]):
        bit = ONE << faults.dims[j]
        if bit & difference and (faults.lower[j] ^ s) & ~difference == ZERO:
            shut[np.int64(extract((faults.lower[j] ^ s) | bit, difference))] |= np.uint32(extract(bit, difference))
    for x in range(1, size):
        reached = False
        rest = np.uint64(x) & ~np.uint64(shut[x])
        while rest:
            bit = rest & (ZERO - rest)
            rest ^= bit
            reached |= shut[np.int64(np.uint64(x) ^ bit)] != _ALL_BLOCKED
        if not reached:
            shut[x] = _ALL_BLOCKED
    return np.int64(shut[size - 1] != _ALL_BLOCKED)
