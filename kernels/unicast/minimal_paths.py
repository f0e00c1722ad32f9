"""What lies between two nodes: whether a path over the Hamming distance exists (V9)."""

from __future__ import annotations

import numpy as np

from ..machine.bits import ONE, ZERO, extract, popcount
from ..machine.jit import block

#: Most dimensions in which all nodes between are looked at.
MOST_SEARCHED_DIMENSIONS = 24

_ALL_BLOCKED = np.uint32(0xFFFFFFFF)


@block
def has_minimal_path(faults, s, t, shut):
    """1 where a path of as many links as bits differ exists, 0 where none does; -1 where that is not looked at.

    With fewer than H faults between there is one, which callers know: the H cyclic shifts are disjoint.  All 2^H nodes between
    are passed from s on, in ``shut``: the bits that none may enter by, all where it is faulty or not reached.
    """
    apart = s ^ t
    h = popcount(apart)
    if h > MOST_SEARCHED_DIMENSIONS:
        return np.int64(-1)
    size = np.int64(1) << h
    for x in range(size):
        shut[x] = 0
    for i in range(faults.size[0]):
        if (faults.labels[i] ^ s) & ~apart == ZERO:
            shut[np.int64(extract(faults.labels[i] ^ s, apart))] = _ALL_BLOCKED
    for j in range(faults.size[1]):
        bit = ONE << faults.dims[j]
        if bit & apart and (faults.lower[j] ^ s) & ~apart == ZERO:
            shut[np.int64(extract((faults.lower[j] ^ s) | bit, apart))] |= np.uint32(extract(bit, apart))
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
