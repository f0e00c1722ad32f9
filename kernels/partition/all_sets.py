"""Count all fault sets of a small cube with a fault-tolerant pair of dimensions, and those in which Figure 2 finds one."""

from __future__ import annotations

import numpy as np

from ..machine import bits
from ..machine.bits import ONE, ZERO
from ..machine.jit import block, kernel


@block
def _pair_bit(i, j):
    """Return the bit for the pair i < j of dimensions below 8, or for dimension i by itself if j is i."""
    return ONE << np.uint64(8 * i + j)


@block
def _find_first_pair(n, conflicts):
    """Return whether a pair without conflicts is left, and whether Figure 2 finds it; ``conflicts`` has the bits of pairs."""
    is_first = True
    for i in range(n):
        if conflicts & _pair_bit(i, i):
            continue
        for j in range(i + 1, n):
            if conflicts & (_pair_bit(j, j) | _pair_bit(i, j)) == ZERO:
                return True, is_first
        is_first = False
    return False, False


@kernel("void(int64, int64, int64[:, ::1])")
def count_partitions(n, most, counts):
    """Count the fault sets with node 0: row f of ``counts`` gets the number of sets of f faults with a pair, and with Figure 2's.

    Translations map every nonempty set to a set with node 0, so only these are visited, in ascending order.  Branches without a
    pair of dimensions are cut, because adding a fault only excludes pairs.

    Parameters
    ----------
    n, most : int64
        2 <= n <= 6; sets of 1 .. most <= 16 faults.  Not checked.
    counts : int64 array, shape (most + 1, 2)
        Added to.
    """
    size = np.int64(1) << n
    faults = np.zeros(most + 1, np.int64)
    conflicts = np.zeros(most + 1, np.uint64)  # entry k: of faults 0 .. k
    depth = np.int64(0)  # faults[0] = 0 always
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
        found = conflicts[depth]
        for k in range(depth + 1):
            difference = np.uint64(candidate ^ faults[k])
            if bits.popcount(difference) <= 2:
                found |= _pair_bit(bits.lowest(difference), bits.highest(difference))
        exists, greedy = _find_first_pair(n, found)
        if exists:
            depth += 1
            faults[depth] = candidate
            conflicts[depth] = found
            counts[depth + 1, 0] += 1
            counts[depth + 1, 1] += np.int64(greedy)
        candidate += 1
