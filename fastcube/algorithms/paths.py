"""The results of routing algorithms, and ``route``, which runs an algorithm by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ..networks.network import Network
from .registry import Algorithms, check_end

#: The possible outcomes of a message, in this order: reached its destination, vanished at a fault, no usable neighbour, a node
#: visited again in the same state, a search or path cut off, not sent by its source, no path found.
Outcome = Literal["delivered", "lost", "stuck", "livelock", "limit", "refused", "failed"]


@dataclass(frozen=True)
class Route:
    """The result of routing one message.

    Attributes
    ----------
    outcome : str
        ``delivered``, or the kind of failure.  Hypercubes: ``lost``, ``stuck``, ``livelock``, ``limit`` or
        ``refused`` (the source does not send).  Dual-cubes: ``failed``.
    path : list of int
        The labels reached, the source first.  If the message is not delivered, a hypercube gives the path so far, a dual-cube [].
    reason : str
        Why the message was not delivered, if the algorithm says so; empty if delivered.
    """

    outcome: Outcome
    path: list[int]
    reason: str = ""

    @property
    def length(self) -> int | None:
        """Number of links on the path; None unless delivered."""
        return len(self.path) - 1 if self.outcome == "delivered" else None


ROUTING: Algorithms[Route] = Algorithms("route", homes=("dualcube", "dualcube_offline", "routing", "routing_rules"))


def route(network: Network, s: int, t: int, algorithm: str | None = None, **options: Any) -> Route:
    """Send a message from ``s`` to ``t`` with one of the papers' algorithms.

    Parameters
    ----------
    network : Hypercube or DualCube
    s, t : int
        Labels of nonfaulty nodes.
    algorithm : str, optional
        Hypercube: ``ROUTE``, ``ROUTE1``, ``ROUTE2`` or ``ROUTE3`` (default; n <= 26 with faults sampled on demand) of Lee &
        Hayes; ``LEVELS`` and ``VECTORS`` of Wu (limits as for ROUTE3), ``A1`` and ``DFS`` of Chen & Shin, ``SIDETRACK`` of
        Gordon & Stout (V7, V8).
        DualCube: ``PRACTICAL`` (default; on-line, any m) or ``OFFLINE`` (Algorithms 1-3, m <= 16), both of Li, Peng & Chu.
    **options
        ROUTE1 and ROUTE2: ``k`` in [1, n] (default 1), the distance up to which a node knows faults.  ROUTE3: ``k`` = 1.
        SIDETRACK: ``seed`` (default 0), an integer or a pair (key, trial) for the random choices.
        OFFLINE: ``k`` in [0, m/2] (default 0) and ``variant``, ``as_printed`` or ``corrected`` (default).

    Returns
    -------
    Route

    Raises
    ------
    ParameterError
        If ``s`` or ``t`` is faulty, or the algorithm or an option is unknown.

    Examples
    --------
    >>> cube = fc.Hypercube(3, faulty_nodes=[0b100])
    >>> fc.route(cube, 0b000, 0b111, algorithm="ROUTE1").path
    [0, 2, 6, 7]
    >>> fc.route(cube, 0b000, 0b111, algorithm="ROUTE").outcome  # always the highest dimension first
    'lost'
    """
    chosen = ROUTING.choose(network, algorithm, options)
    return chosen(network, check_end(network, "s", s), check_end(network, "t", t))
