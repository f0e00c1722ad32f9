"""All fault sets of Q_n, n <= 5: how many of each size leave how many unsafe nodes after how many rounds.

A fault set is a 32-bit word, bit v for node v, and 16 of them are run at a time (Lee & Hayes 1988, section 3.2;
reading R1).  Only sets are visited that hold node 0 and, among its neighbours, the first few: translations and
permutations of the dimensions carry every set with a fault to these.
"""

from __future__ import annotations

import numpy as np

from .. import simd
from ..jit import block, kernel

#: Shape of the counts: number of faults, unsafe nodes, rounds.  Rounds in Q_5 stay below 9.
SHAPE = (33, 32, 16)

_LOW = (0x55555555, 0x33333333, 0x0F0F0F0F, 0x00FF00FF, 0x0000FFFF)

#: Lane i holds the nodes 3, 5, 6, 7 that the bits of i name.
LANES = np.array([sum(1 << v for b, v in enumerate((3, 5, 6, 7)) if i >> b & 1) for i in range(16)], dtype=np.uint32)


@block
def _count(x, one, two, k, low):
    """Add the neighbours across dimension k to the carry-save counts (some neighbour, at least two)."""
    by = simd.like(x, 1 << k)
    mask = simd.like(x, low)
    across = simd.either(simd.both(simd.shift_right(x, by), mask), simd.shift_left(simd.both(x, mask), by))
    return simd.either(one, across), simd.either(two, simd.both(one, across))


@block
def _step(x):
    """State after one round, for 16 states of Q_5."""
    one = simd.like(x, 0)
    two = one
    one, two = _count(x, one, two, 0, _LOW[0])
    one, two = _count(x, one, two, 1, _LOW[1])
    one, two = _count(x, one, two, 2, _LOW[2])
    one, two = _count(x, one, two, 3, _LOW[3])
    one, two = _count(x, one, two, 4, _LOW[4])
    return simd.either(x, two)


@kernel("void(int64, uint64, uint64[::1], int64[::1])")
def count_sets(n, near, far, counts):
    """Count the fault sets whose nodes 0, 1, 2, 4, 8, 16 are exactly ``near``, by faults, unsafe nodes and rounds.

    Parameters
    ----------
    n : int64
        Dimension, 1 <= n <= 5.  A smaller cube is run as a part of Q_5: a node outside it has at most one
        neighbour inside, so it is never marked.  Not checked.
    near : uint64
        Node 0 and some of its neighbours, as a word of node bits.
    far : uint64 array of length 1
        Mask of the remaining nodes of Q_n but 3, 5, 6 and 7; all its subsets are visited, 2^22 for n = 5.
    counts : int64 array
        SHAPE flattened; added to.

    Notes
    -----
    2^26 sets in 0.05 s for n = 5 on one core of an AMD EPYC (Zen 4): 0.75 ns a set, of which about 0.4 ns is the
    memory increment that each set takes.
    """
    lanes = simd.load(LANES, 0)
    size, unsafe = np.uint64(SHAPE[1] * SHAPE[2]), np.uint64(SHAPE[2])
    index = np.empty(16, np.uint32)
    whole = np.uint64(0xFFFFFFFF) >> np.uint64(32 - (1 << n))
    used = np.int64(0)  # lanes that name nodes of Q_n only
    while used < 16 and np.uint64(LANES[used]) & ~whole == np.uint64(0):
        used += 1
    subset = far[0]
    while True:
        faulty = simd.either(lanes, simd.like(lanes, near | subset))
        x = faulty
        rounds = simd.like(x, 0)
        while True:
            new = _step(x)
            changed = simd.differ(new, x)
            if simd.bits(changed) == np.uint64(0):
                break
            rounds = simd.select(changed, simd.add(rounds, simd.like(x, 1)), rounds)
            x = new
        f = simd.popcount(faulty)
        marked = simd.sub(simd.popcount(x), f)
        place = simd.add(simd.mul(f, simd.like(f, size)), simd.add(simd.mul(marked, simd.like(f, unsafe)), rounds))
        simd.store(index, 0, place)
        for lane in range(used):
            counts[index[lane]] += 1
        if subset == np.uint64(0):
            return
        subset = (subset - np.uint64(1)) & far[0]
