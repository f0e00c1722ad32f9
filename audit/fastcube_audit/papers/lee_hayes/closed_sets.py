"""All sets of nodes of the smallest cubes that are closed under the rule of unsafe nodes, and their shape."""

import functools

import numpy as np

from fastcube.networks.hypercube import Subcube


@functools.cache
def closed_sets(n: int) -> tuple[int, ...]:
    """Return all sets of nodes of Q_n (bit v for node v) such that no node outside has two neighbours inside; n <= 6.

    The faulty and unsafe nodes always form such a set, with and without link faults, and each such set is that of a fault set,
    namely itself.  Both halves of a closed set are closed in Q_(n-1), and no node of one half that has a neighbour in its own
    half is across from a node of the other; this is how the sets are found.  There are 4,060 for n = 5 and 924,914 for n = 6,
    ordered by size, so the last is Q_n.
    """
    if n == 0:
        return 0, 1
    half = np.array(closed_sets(n - 1), np.uint64)
    near = np.array([_outside_neighbours(nodes, n - 1) for nodes in half.tolist()], np.uint64)
    found: list[int] = []
    for low, near_low in zip(half, near, strict=True):
        high = half[(near_low & half | near & low) == 0]
        found += (low | high << np.uint64(2 ** (n - 1))).tolist()
    return tuple(sorted(found, key=lambda nodes: (nodes.bit_count(), nodes)))


def _outside_neighbours(nodes: int, n: int) -> int:
    """Return the nodes outside a set that have a neighbour in it."""
    near = 0
    for k in range(n):
        low = sum(1 << v for v in range(2**n) if not v >> k & 1)
        near |= (nodes >> (1 << k) & low) | ((nodes & low) << (1 << k))
    return near & ~nodes


def connected_subcubes(nodes: int, n: int) -> list[Subcube] | None:
    """Return the connected components of a set of nodes as subcubes; None if a component is not a subcube."""
    inside = {v for v in range(2**n) if nodes >> v & 1}
    parts = []
    while inside:
        base = min(inside)
        part = Subcube(base, sum(1 << i for i in range(n) if base ^ 1 << i in inside), n)
        if part.base & part.free:
            return None
        own = {v for v in range(2**n) if v in part}
        if not own <= inside:
            return None
        inside -= own
        parts.append(part)
    return parts
