"""Count all sets of faulty nodes of a network on 32 nodes, 512 sets at a time: connected sets, and 1-extra sets.

In set i node v is nonfaulty if bit v of i is 1.  The sets of a group of 512 differ only in nodes 0 to 8.  The rows of these nodes
are the same in all groups, and the rows of the other nodes are all ones or all zeros.
"""

from __future__ import annotations

import numpy as np

from ..machine import simd
from ..machine.bits import ALL_BITS, ONE, ZERO, popcount
from ..machine.jit import kernel
from . import drawing
from .lanes import count_bits
from .sweeps import evaluate_node_sets, prepare_table

#: Dimension of the networks, and number of groups of sets.
DIMENSIONS, GROUPS = 5, 2**23


@kernel("int64[:, ::1](int32[:, ::1], int64, int64)")
def count_node_sets(table, first, stop):
    """Count sets of f = 0 .. 32 faulty nodes in groups ``first .. stop - 1``; return rows of connected and of 1-extra sets."""
    net = prepare_table(table, np.int64(DIMENSIONS), np.int64(0))
    alive = drawing.rows_for(np.int64(33))
    alive[:] = ZERO
    sizes = drawing.rows_for(np.int64(10))  # row k: the sets in which k of nodes 0 to 8 are nonfaulty
    sizes[:] = ZERO
    for lane in range(512):
        word, bit = lane >> 6, ONE << np.uint64(lane & 63)
        sizes[8 * popcount(np.uint64(lane)) + word] |= bit
        for v in range(9):
            if (lane >> v) & 1:
                alive[8 * v + word] |= bit
    counts = np.zeros((2, 33), np.int64)
    for group in range(first, stop):
        for v in range(9, 32):
            simd.store(alive, 8 * v, simd.splat(ALL_BITS if (group >> (v - 9)) & 1 else ZERO))
        connected, extra_1 = evaluate_node_sets(alive, net)
        faulty = 32 - popcount(np.uint64(group))
        for k in range(10):
            chosen = simd.load(sizes, 8 * k)
            counts[0, faulty - k] += count_bits(connected & chosen)
            counts[1, faulty - k] += count_bits(extra_1 & chosen)
    return counts
