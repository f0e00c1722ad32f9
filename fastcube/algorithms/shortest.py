"""Shortest nonfaulty paths between two nodes of any network."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import ParameterError
from ..networks.dualcube import DualCube
from ..networks.family import CubeNetwork
from ..networks.network import Network
from .registry import check_end
from .survival import check_network, network_arrays

#: Largest number of nodes that a search expands before it gives up: some ten seconds and 1 GB.  Both sides of a search in Q_20
#: expand at most 2^21 nodes together, so a search up to that dimension always ends with an answer.
MAX_EXPANDED = 2**21

#: Largest m for which ``distance`` searches all of DC(m): three bitmasks of 4 MiB.
LARGEST_SEARCHED = 12


def distance(network: Network, s: int, t: int) -> int | None:
    """Return the length of a shortest nonfaulty path from ``s`` to ``t``.

    Parameters
    ----------
    network : Hypercube, DualCube or network of the cube family
        A network of the cube family has at most 2^20 nodes.
    s, t : int
        Labels of nonfaulty nodes.

    Returns
    -------
    int or None
        The number of links, 0 for ``s == t``; None if there is no path.

    Raises
    ------
    ParameterError
        If ``s`` or ``t`` is faulty, or the search would expand more than 2^21 nodes.  This takes a cube of more than 20
        dimensions, or DC(m) with m > 12, with a great many faults.

    Notes
    -----
    Networks of the cube family: breadth-first search of all nodes.  Dual-cubes up to DC(12): breadth-first search, 512 nodes per
    operation.  Otherwise A* search from both ends with the fault-free distance as the estimate.  With few faults it expands
    little more than the path.  A region enclosed by faults is searched completely from inside.

    Examples
    --------
    >>> fc.distance(fc.Hypercube(3, faulty_nodes=[1, 2]), 0, 3)  # two links are not enough, the path goes over node 4
    4
    """
    check_network(network)
    s, t = check_end(network, "s", s), check_end(network, "t", t)
    if isinstance(network, CubeNetwork):
        from ..kernels.cube.tables import lengths_from

        length = lengths_from(*network_arrays(network), s)[t]
    elif isinstance(network, DualCube) and network.m <= LARGEST_SEARCHED:
        from ..kernels.dualcube.shortest import shortest_length_one
        from .dualcube import kernel_faults

        length = shortest_length_one(network.m, *kernel_faults(network), np.uint64(s), np.uint64(t))
    else:
        return shortest_length(network, s, t)
    return None if length < 0 else int(length)


class _SearchSide:
    """The search from one end: A* in order of length so far + estimate, deepest first among equals."""

    def __init__(self, network: Network, start: int, goal: int) -> None:
        self.network = network
        self.goal = goal
        self.length = {start: 0}
        self.expanded: set[int] = set()
        self.bound = network.intact_distance(start, goal)
        self.waiting = {self.bound: [start]}  # a stack of nodes per length + estimate

    def settle(self) -> bool:
        """Move ``bound`` to the least length + estimate of a waiting node, and return False if no node waits."""
        while self.waiting:
            stack = self.waiting.get(self.bound)
            if stack:
                if stack[-1] not in self.expanded:
                    return True
                stack.pop()
            else:
                self.waiting.pop(self.bound, None)
                self.bound += 2  # both networks are bipartite: lengths between two nodes share a parity
        return False

    def expand_next(self, met: Callable[[int], None]) -> None:
        """Expand the next node, and call ``met`` for every node whose length became known or shorter."""
        node = self.waiting[self.bound].pop()
        self.expanded.add(node)
        length = self.length[node] + 1
        for y in self.network.neighbours(node):
            if length >= self.length.get(y, length + 1):
                continue
            if not self.network.is_faulty(y) and not self.network.is_faulty_link(node, y):
                self.length[y] = length
                self.waiting.setdefault(length + self.network.intact_distance(y, self.goal), []).append(y)
                met(y)


def shortest_length(network: Network, s: int, t: int) -> int | None:
    """Return ``distance`` between nodes that are known to be nonfaulty."""
    if s == t:
        return 0
    sides = _SearchSide(network, s, t), _SearchSide(network, t, s)
    best: int | None = None

    def record_meeting(node: int) -> None:
        nonlocal best
        if node in sides[0].length and node in sides[1].length:
            through = sides[0].length[node] + sides[1].length[node]
            best = through if best is None else min(best, through)

    # a path that neither side has found is no shorter than either side's bound
    while all(side.settle() for side in sides):
        if best is not None and best <= max(side.bound for side in sides):
            return best
        if sum(len(side.expanded) for side in sides) >= MAX_EXPANDED:
            raise ParameterError(
                f"s and t are separated by so many faults that the search for a path passed {MAX_EXPANDED} nodes, "
                f"got s={network.label(s)}, t={network.label(t)}"
            )
        for side in sides:
            if side.settle():
                side.expand_next(record_meeting)
    return best
