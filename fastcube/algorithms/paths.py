"""Paths between two nodes of any network: what a routing algorithm finds, and how short a nonfaulty path can be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import ParameterError, shown
from ..networks.dualcube import DualCube
from ..networks.network import Network

#: Nodes that a search may expand before it gives up: some ten seconds and 1 GB.  2^21 is more than both sides of
#: a search in Q_20 can need, so up to that size every question is answered.
MOST_EXPANDED = 2**21

#: Largest DC(m) that :func:`distance` searches whole: three bitmasks of 4 MiB.
SEARCHED_WHOLE = 12


@dataclass(frozen=True)
class Event:
    """One decision of PRACTICAL in a dual-cube.

    Parameters
    ----------
    kind : str
        ``crossed``: tree node ``node`` has the nonfaulty cross neighbour ``other``; ``stuck``: a walk inside a cluster
        to ``other`` ends at ``node``, whose tree sees no wanted nonfaulty node and cannot grow; ``faulty``: ``node``, where
        the cluster should be entered from ``other``, is faulty; ``ended``: the tree of ``node`` cannot grow, so no exit
        is left; ``limited``: it would grow past 2^14 nodes.
    node, other : int
        Labels.
    nodes : int
        Nodes of the tree then.
    """

    kind: str
    node: int
    other: int
    nodes: int


@dataclass(frozen=True)
class Route:
    """What became of one message.

    Attributes
    ----------
    outcome : str
        ``delivered``, or how it failed: ``failed`` in dual-cubes.
    path : list of int
        The labels from source to destination, both included; empty when it failed.
    reason : str
        Why it failed; empty when delivered.
    asked : tuple of int, or None
        The labels whose status the algorithm asked, ascending, where it is counted (PRACTICAL).
    events : tuple of Event
        The first 256 decisions on the way (PRACTICAL).
    """

    outcome: str
    path: list[int]
    reason: str = ""
    asked: tuple[int, ...] | None = None
    events: tuple[Event, ...] = ()

    @property
    def length(self) -> int | None:
        """Links on the path; None when it failed."""
        return len(self.path) - 1 if self.path else None

    @property
    def lookups(self) -> int | None:
        """Number of distinct labels whose status was asked, where it is counted."""
        return None if self.asked is None else len(self.asked)


#: Algorithms of each network, with the options that each takes.
_ALGORITHMS: dict[type[Network], dict[str, tuple[str, ...]]] = {
    DualCube: {"PRACTICAL": (), "OFFLINE": ("k", "variant")},
}


def route(network: Network, s: int, t: int, algorithm: str = "PRACTICAL", **options: Any) -> Route:
    """Send a message from ``s`` to ``t`` with one of the papers' algorithms.

    Parameters
    ----------
    network : DualCube
    s, t : int
        Labels of nonfaulty nodes.
    algorithm : str
        DualCube: ``PRACTICAL`` (default; on-line, any m) or ``OFFLINE`` (Algorithms 1-3, m <= 16), both of Li, Peng & Chu.
    **options
        OFFLINE: ``k`` in [0, m/2] (default 0) and ``variant``, ``literal`` or ``repaired`` (default).

    Returns
    -------
    Route
    """
    known = _ALGORITHMS.get(type(network))
    if known is None:
        raise ParameterError(f"network must be a {' or '.join(n.__name__ for n in _ALGORITHMS)}, got {shown(network)}")
    if algorithm not in known:
        raise ParameterError(
            f"algorithm must be {' or '.join(known)} for {type(network).__name__}, got {shown(algorithm)}"
        )
    for name in options:
        if name not in known[algorithm]:
            takes = " and ".join(known[algorithm]) or "no options"
            raise ParameterError(f"{name} is not an option of {algorithm}, which takes {takes}")
    source, target = _check_end(network, "s", s), _check_end(network, "t", t)
    if isinstance(network, DualCube):
        from . import dualcube as dualcube_routing

        if algorithm == "PRACTICAL":
            return dualcube_routing.practical(network, source, target)
        return dualcube_routing.offline(network, source, target, **options)
    raise AssertionError(network)


def _check_end(network: Network, name: str, label: object) -> int:
    """The label of a nonfaulty node as an int.  Raises ParameterError."""
    node = network.check_node(name, label)
    if network.is_faulty(node):
        raise ParameterError(f"{name} must be a nonfaulty node, got {node} ({network.label(node)}), which is faulty")
    return node


def distance(network: Network, s: int, t: int) -> int | None:
    """Length of the shortest nonfaulty path from ``s`` to ``t``.

    Parameters
    ----------
    network : Hypercube or DualCube
    s, t : int
        Labels.

    Returns
    -------
    int or None
        0 for ``s == t``; None when there is no path, which includes a faulty ``s`` or ``t``.

    Notes
    -----
    Dual-cubes up to DC(12): breadth-first search of all nodes, 512 an operation.  Otherwise A* search from both
    ends with the fault-free distance as the estimate.  With few faults it walks almost straight; a region enclosed
    by faults is exhausted from inside.  It raises ParameterError rather than expand more than 2^21 nodes, which
    takes a cube of more than 20 dimensions with a great many faults.
    """
    s = network.check_node("s", s)
    t = network.check_node("t", t)
    if network.is_faulty(s) or network.is_faulty(t):
        return None
    if isinstance(network, DualCube) and network.m <= SEARCHED_WHOLE:
        from .dualcube import search

        return search(network, s, t)
    return shortest(network, s, t)


class _Side:
    """One end's search: A* in order of length so far + estimate, deepest first among equals."""

    def __init__(self, network: Network, start: int, goal: int) -> None:
        self.network = network
        self.goal = goal
        self.length = {start: 0}
        self.expanded: set[int] = set()
        self.bound = network.metric(start, goal)
        self.waiting = {self.bound: [start]}  # a stack of nodes for each length + estimate

    def settle(self) -> bool:
        """Move ``bound`` to the least length + estimate among waiting nodes; False when none waits."""
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

    def expand(self, met: Callable[[int], None]) -> None:
        """Expand the next node and report every node whose length became known or shorter."""
        node = self.waiting[self.bound].pop()
        self.expanded.add(node)
        length = self.length[node] + 1
        for y in self.network.neighbours(node):
            if length >= self.length.get(y, length + 1):
                continue
            if not self.network.is_faulty(y) and not self.network.is_faulty_link(node, y):
                self.length[y] = length
                self.waiting.setdefault(length + self.network.metric(y, self.goal), []).append(y)
                met(y)


def shortest(network: Network, s: int, t: int) -> int | None:
    """:func:`distance` between nonfaulty nodes that were checked before."""
    if s == t:
        return 0
    sides = _Side(network, s, t), _Side(network, t, s)
    best: int | None = None

    def met(node: int) -> None:
        nonlocal best
        if node in sides[0].length and node in sides[1].length:
            through = sides[0].length[node] + sides[1].length[node]
            best = through if best is None else min(best, through)

    # a path that neither side has found is no shorter than either side's bound
    while all(side.settle() for side in sides):
        if best is not None and best <= max(side.bound for side in sides):
            return best
        if sum(len(side.expanded) for side in sides) >= MOST_EXPANDED:
            raise ParameterError(
                f"s and t are separated by so many faults that the search for a path passed {MOST_EXPANDED} nodes, "
                f"got s={network.label(s)}, t={network.label(t)}"
            )
        for side in sides:
            if side.settle():
                side.expand(met)
    return best
