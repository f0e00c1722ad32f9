"""Count all fault sets of Q_n, 1 <= n <= 5, by faults, unsafe nodes and rounds, 16 sets at a time.

A node is *closed* if it is faulty or unsafe, and a nonfaulty node is *unsafe* if at least two of its neighbours are closed.
FIND_UNSAFE marks unsafe nodes in *rounds*, all nodes at once (Lee & Hayes 1988, section 3.2; R1).  One call of ``count_sets``
counts the sets that contain node 0 and the same of its neighbours.  ``fastcube.exact.unsafe.enumerate_fault_sets``
makes one call per number of these neighbours and weights the counts: translations and permutations of the dimensions map every
nonempty set to one that is visited.

A fault set is a 32-bit word, bit v for node v of Q_5, and a *lane* of a vector holds one set.  A smaller cube is a subcube of
Q_5: a node outside it has at most one neighbour inside, so it is never marked.
"""

from __future__ import annotations

import numpy as np

from ..machine import bits, simd
from ..machine.jit import block, kernel

#: Shape of the counts: by faults, unsafe nodes and rounds.  Rounds in Q_5 stay below 9.
COUNTS_SHAPE = (33, 32, 16)

#: For each dimension of Q_5, the nodes at its lower ends, as bits of a word of 32 nodes.
_LOW = (0x55555555, 0x33333333, 0x0F0F0F0F, 0x00FF00FF, 0x0000FFFF)

#: The nodes that distinguish the 16 lanes: node b of this tuple is faulty in lane i if bit b of i is set.
LANE_NODES = (3, 5, 6, 7)
_IN_LANES = np.array([sum(1 << v for b, v in enumerate(LANE_NODES) if i >> b & 1) for i in range(16)], dtype=np.uint32)


@block
def _add_neighbours(x, one, two, k, low):
    """Return the masks of nodes with one closed neighbour or more, and with two or more, with those across dimension k added.

    ``x`` is the mask of closed nodes and ``low`` is ``_LOW[k]``.
    """
    by = simd.splat_like(x, 1 << k)
    mask = simd.splat_like(x, low)
    across = ((x >> by) & mask) | ((x & mask) << by)
    return one | across, two | (one & across)


@block
def _step_states(x):
    """Return the closed nodes of 16 copies of Q_5 after one more round."""
    one = simd.splat_like(x, 0)
    two = one
    one, two = _add_neighbours(x, one, two, 0, _LOW[0])
    one, two = _add_neighbours(x, one, two, 1, _LOW[1])
    one, two = _add_neighbours(x, one, two, 2, _LOW[2])
    one, two = _add_neighbours(x, one, two, 3, _LOW[3])
    one, two = _add_neighbours(x, one, two, 4, _LOW[4])
    return x | two


@block
def _run_sixteen_sets(x):
    """Return the closed nodes of 16 copies of Q_5 after the last round, and in how many rounds each has changed."""
    rounds = simd.splat_like(x, 0)
    while True:
        new = _step_states(x)
        changed = new != x
        if simd.bits(changed) == bits.ZERO:
            return x, rounds
        rounds = simd.select(changed, rounds + simd.splat_like(x, 1), rounds)
        x = new


@kernel("void(int64, uint64, uint64[::1], int64[::1])")
def count_sets(n, near, far, counts):
    """Count the fault sets of Q_n whose nodes 0, 1, 2, 4, 8, 16 are exactly ``near``, by faults, unsafe nodes and rounds.

    Parameters
    ----------
    n : int64
        Dimension, 1 <= n <= 5.  Not checked.
    near : uint64
        Node 0 and some of its neighbours, as a word of node bits.
    far : uint64 array of length 1
        Its element is the mask of the nodes of Q_n other than 0, 1, 2, 4, 8, 16 and LANE_NODES.  All subsets of the mask are
        visited, 2^22 for n = 5.
    counts : int64 array
        A table of shape COUNTS_SHAPE, flattened; the sets are added to it.

    Notes
    -----
    A call visits 2^26 sets in 0.05 s for n = 5 on one core of an AMD EPYC (Zen 4): 0.75 ns per set, of which about 0.4 ns is the
    memory increment that each set takes.
    """
    lanes = simd.load(_IN_LANES, 0)
    fault_stride, unsafe_stride = np.uint64(COUNTS_SHAPE[1] * COUNTS_SHAPE[2]), np.uint64(COUNTS_SHAPE[2])
    index = np.empty(16, np.uint32)
    whole = np.uint64(0xFFFFFFFF) >> np.uint64(32 - (1 << n))
    used = np.int64(0)  # number of lanes whose nodes are in Q_n: the first ones, as LANE_NODES ascend
    while used < 16 and np.uint64(_IN_LANES[used]) & ~whole == bits.ZERO:
        used += 1
    subset = far[0]
    while True:
        faulty = lanes | simd.splat_like(lanes, near | subset)
        closed, rounds = _run_sixteen_sets(faulty)
        f = simd.popcount(faulty)
        unsafe = simd.popcount(closed) - f
        at = (f * simd.splat_like(f, fault_stride)) + ((unsafe * simd.splat_like(f, unsafe_stride)) + rounds)
        simd.store(index, 0, at)
        for lane in range(used):
            counts[index[lane]] += 1
        if subset == bits.ZERO:
            return
        subset = (subset - bits.ONE) & far[0]  # the next smaller subset of ``far``, as a number
