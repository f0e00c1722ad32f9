"""What routing algorithms find, and ``route``, which runs one by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ..networks.network import Network
from .registry import Algorithms, check_end

#: What can become of a message: reached its destination; vanished at a fault; no neighbour to go to; a node visited
#: again with nothing changed; a search or a walk cut off; not sent by its source; no path found.
Outcome = Literal["delivered", "lost", "stuck", "livelock", "limit", "refused", "failed"]


@dataclass(frozen=True)
class Route:
    """What became of one message.

    Attributes
    ----------
    outcome : str
        ``delivered``, or how it failed.  Hypercubes: ``lost``, ``stuck``, ``livelock``, ``limit`` or
        ``refused`` (by the source, which does not send); dual-cubes: ``failed``.
    path : list of int
        The labels reached, the source first.  Hypercubes: also when not delivered; dual-cubes: empty then.
    reason : str
        Why it was not delivered, where the algorithm tells; empty when delivered.
    """

    outcome: Outcome
    path: list[int]
    reason: str = ""

    @property
    def length(self) -> int | None:
        """Links on the path; None unless delivered."""
        return len(self.path) - 1 if self.outcome == "delivered" else None


ROUTING: Algorithms[Route] = Algorithms("route", homes=("dualcube", "routing", "unicast"))


def route(network: Network, s: int, t: int, algorithm: str | None = None, **options: Any) -> Route:
    """Send a message from ``s`` to ``t`` with one of the papers' algorithms.

    Parameters
    ----------
    network : Hypercube or DualCube
    s, t : int
        Labels of nonfaulty nodes.
    algorithm : str, optional
        Hypercube: ``ROUTE``, ``ROUTE1``, ``ROUTE2`` or ``ROUTE3`` (default; lazy faults up to n = 26) of Lee & Hayes;
        ``LEVELS`` and ``VECTORS`` of Wu (lazy faults as ROUTE3), ``A1`` and ``DFS`` of Chen & Shin, ``SIDETRACK`` of
        Gordon & Stout (readings V7, V8).
        DualCube: ``PRACTICAL`` (default; on-line, any m) or ``OFFLINE`` (Algorithms 1-3, m <= 16), both of Li, Peng & Chu.
    **options
        ROUTE1 and ROUTE2: ``k`` in [1, n] (default 1), how far a node knows the faults around it; ROUTE3: ``k`` = 1.
        SIDETRACK: ``seed`` (default 0), an integer or a pair (key, trial) for the random choices.
        OFFLINE: ``k`` in [0, m/2] (default 0) and ``variant``, ``literal`` or ``repaired`` (default).

    Returns
    -------
    Route

    Examples
    --------
    >>> cube = fc.Hypercube(3, faulty_nodes=[0b100])
    >>> fc.route(cube, 0b000, 0b111, algorithm="ROUTE1").path
    [0, 2, 6, 7]
    >>> fc.route(cube, 0b000, 0b111, algorithm="ROUTE").outcome  # the highest dimension first, whatever is there
    'lost'
    """
    chosen = ROUTING.choose(network, algorithm, options)
    return chosen(network, check_end(network, "s", s), check_end(network, "t", t))
