"""Paths as lists of labels, for any representation of node statuses.

The caller decides how statuses are found: ``make_first_nonfaulty(ask)`` makes a block from ``ask(world, label)``, a block that
returns whether a node is nonfaulty.  ``world`` may be a status key and a threshold, a bitmask, or a set of labels.  A factory is
needed because numba cannot cache a kernel that passes a function as a value.
"""

from __future__ import annotations

from ..machine.bits import ZERO, highest_bit
from ..machine.jit import block


def make_first_nonfaulty(ask, always=True):
    """Return the block that finds a nonfaulty neighbour with ``ask(world, label)``; ``always`` as of ``jit.block``."""

    @block(always=always)
    def find_nonfaulty(world, node, dims):
        """Return the first of ``dims``, most significant first, across which ``node`` has a nonfaulty neighbour; 0 if none."""
        while dims:
            d = highest_bit(dims)
            if ask(world, node ^ d):
                return d
            dims ^= d
        return ZERO

    return find_nonfaulty


@block
def erase_loops(path, count):
    """Remove the loops of a path of ``count`` nodes, cutting to the last occurrence of each node; return the new length."""
    out = 0
    k = 0
    while k < count:
        j = count - 1
        while path[j] != path[k]:
            j -= 1
        path[out] = path[k]
        out += 1
        k = j + 1
    return out
