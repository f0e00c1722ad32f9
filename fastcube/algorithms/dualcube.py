"""PRACTICAL: routing one message in a dual-cube with local information (Li, Peng & Chu; interpretation B7).

It runs as the compiled kernel that also counts its look-ups.  ``dualcube_offline.py`` has the routing with complete information.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..networks.dualcube import DualCube
from ..networks.faults import RandomFaults
from .paths import ROUTING, Route

#: Names of the kernel's events; an event's number is its index.
_EVENT_KINDS = ("crossed", "stuck", "faulty", "ended", "limited")


@dataclass(frozen=True)
class Event:
    """One decision of PRACTICAL in a dual-cube.

    Parameters
    ----------
    kind : str
        ``crossed``: tree node ``node`` has the nonfaulty cross neighbour ``other``.  ``stuck``: a path inside a cluster
        to ``other`` ends at ``node``, whose tree has no suitable nonfaulty neighbour and cannot grow.  ``faulty``: ``node``, at
        which the cluster should be entered from ``other``, is faulty.  ``ended``: the tree of ``node`` cannot grow, so no exit
        is left; ``other`` is ``node``.  ``limited``: the tree would grow beyond 2^14 nodes.
    node, other : int
        Labels.
    nodes : int
        Number of nodes of the tree at this decision; 0 for ``faulty``, where there is none.
    """

    kind: str
    node: int
    other: int
    nodes: int


@dataclass(frozen=True)
class PracticalRoute(Route):
    """The result of PRACTICAL for one message.

    Attributes
    ----------
    asked : tuple of int
        The labels whose status PRACTICAL looked up, ascending.
    events : tuple of Event
        The first 256 decisions.
    """

    asked: tuple[int, ...] = ()
    events: tuple[Event, ...] = ()

    @property
    def lookups(self) -> int:
        """Number of distinct labels whose status was looked up."""
        return len(self.asked)


def kernel_faults(dual: DualCube) -> tuple[np.uint64, np.uint64, NDArray[np.uint64]]:
    """Return the faults in the form of the kernels: status key, threshold, sorted labels."""
    faults = dual.faulty_nodes
    if isinstance(faults, RandomFaults):
        return np.uint64(faults.key), np.uint64(faults.threshold), np.empty(0, np.uint64)
    return np.uint64(0), np.uint64(0), np.array(sorted(faults), np.uint64)


@ROUTING.register(DualCube, "PRACTICAL", default=True)
def route_practical(dual: DualCube, s: int, t: int) -> PracticalRoute:
    """Run PRACTICAL(s, t) between nonfaulty nodes (interpretation B7)."""
    from ..kernels.dualcube.lookups import route_one
    from ..kernels.dualcube.routing import LIMIT

    nodes, path, asked, rows = route_one(dual.m, *kernel_faults(dual), np.uint64(s), np.uint64(t))
    labels = tuple(asked.tolist())
    events = tuple(Event(_EVENT_KINDS[kind], *rest) for kind, *rest in rows.tolist())
    if nodes > 0:
        return PracticalRoute("delivered", path.tolist(), "", labels, events)
    return PracticalRoute("failed", [], "limit" if nodes == LIMIT else "exhausted", labels, events)
