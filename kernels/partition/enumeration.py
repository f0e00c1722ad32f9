"""All fault sets of Q_n, n <= 6, by size: how many have a fault-tolerant 2-partition, and in how many Figure 2 finds one.

Translations carry every set with a fault to one with node 0, so only those are visited, in ascending order and as long as some
pair of dimensions is left: adding a fault rules out pairs and brings none back.
"""

from __future__ import annotations

import numpy as np

from .. import bits
from ..bits import ONE, ZERO
from ..jit import block, kernel

#: Largest cube: its pairs (i, j) are the bits 8 i + j of a word, and bit 8 i + i bars dimension i alone.
LARGEST = 6


@block
def _first_pair(n, barred):
    """Whether a pair is left, and whether it is Figure 2's."""
    first = True
    for i in range(n):
        if (barred >> np.uint64(9 * i)) & ONE:
            continue
        for j in range(i + 1, n):
            if (barred >> np.uint64(9 * j)) & ONE == ZERO and (barred >> np.uint64(8 * i + j)) & ONE == ZERO:
                return True, first
        first = False
    return False, False


@kernel("void(int64, int64, int64[:, ::1])")
def count_partitions(n, most, counts):
    """Count the fault sets with node 0: row f of ``counts`` gets those of f faults with a pair, and with Figure 2's.

    Parameters
    ----------
    n, most : int64
        2 <= n <= 6; sets of 1 .. most <= 16 faults.  Not checked.
    counts : int64 array, shape (most + 1, 2)
        Added to.
    """
    size = np.int64(1) << n
    faults = np.zeros(most + 1, np.int64)
    barred = np.zeros(most + 1, np.uint64)
    depth = np.int64(0)  # faults[0] = 0 is there throughout
    counts[1, 0] += 1
    counts[1, 1] += 1
    candidate = np.int64(1)
    while True:
        if candidate == size or depth + 1 == most:
            if depth == 0:
                return
            candidate = faults[depth] + 1
            depth -= 1
            continue
        now = barred[depth]
        for k in range(depth + 1):
            apart = np.uint64(candidate ^ faults[k])
            if bits.popcount(apart) <= 2:
                now |= ONE << np.uint64(8 * bits.lowest(apart) + bits.highest(apart))
        found, greedy = _first_pair(n, now)
        if found:
            depth += 1
            faults[depth] = candidate
            barred[depth] = now
            counts[depth + 1, 0] += 1
            counts[depth + 1, 1] += np.int64(greedy)
        candidate += 1
