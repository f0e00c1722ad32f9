"""Paths as lists of labels: what every routing kernel needs of them, over any kind of status.

Where statuses come from is the caller's: ``first_nonfaulty(ask)`` makes a block from ``ask(world, label)``, a block that
tells whether a node is nonfaulty, whatever ``world`` is (a status key and a threshold, a bitmask, a set of labels).
A factory and not an argument: numba cannot cache a kernel that passes a function as a value.
"""

from __future__ import annotations

from ..machine.bits import ZERO, highest_bit
from ..machine.jit import block


def make_first_nonfaulty(ask, always=True):
    """The function that finds a nonfaulty neighbour by asking ``ask(world, label)``; ``always``: as of :func:`jit.block`."""

    @block(always=always)
    def find_nonfaulty(world, node, dims):
        """First of ``dims``, from the most significant bit down, across which ``node`` has a nonfaulty neighbour; 0 for none."""
        while dims:
            d = highest_bit(dims)
            if ask(world, node ^ d):
                return d
            dims ^= d
        return ZERO

    return find_nonfaulty


@block
def erase_loops(path, count):
    """Keep the last occurrence of each of ``count`` nodes, in place; returns the new length."""
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
