"""Gathering over a communication tree of one hypercube: TC, FTTC and traditional rerouting (Leu & Kuo, section 3).

This module defines the results and registers the algorithms by name; ``gathering_run.py`` runs them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import ParameterError, check_range, short_repr
from ..networks.hypercube import Hypercube
from .gathering_run import BLOCKED, CAUSES, GatheringRun, PieceFlow, Plan, Send
from .registry import Algorithms
from .trees import CommunicationTree

#: Largest n for a gathering, which runs 2^n programs, and largest n for following data by origin.
LARGEST = 16
LARGEST_BY_ORIGIN = 10

VARIANTS = ("as_printed", "as_commented", "corrected")


@dataclass(frozen=True)
class Gathering:
    """The result of ``fastcube.gather``: the data delivered and lost, and the steps.

    Attributes
    ----------
    cube, tree, algorithm, variant
        The arguments of the call; ``variant`` is None for TC and REROUTE.
    expected : int
        Number of nodes that hold data, one unit each: the nonfaulty nodes with a nonfaulty link (R8).
    arrived, unreachable_data : Fraction
        Units that the sink has merged when nothing moves any more (R14), and units of nodes without a nonfaulty path to
        the sink.
    lost_by : dict
        Units by cause (R15): ``mutual``, ``ignored``, ``nopath``, ``blocked``; their sum is ``lost``.  Data sent to a
        node that would never wait for it does not count as ``blocked``.
    blocked : tuple of int
        Nodes that wait for ever, ascending.
    steps_paper, steps_sync : int
        For FTTC n + k, and the sum over stages of 1, of 2 for partitions, or of the longest detour if longer (R11).  For
        REROUTE n + 3k and n + 2k (R12), for TC n.
    result : object
        The piece at the sink in the end, if pieces were passed as ``data``; None without, or if the sink holds nothing.
    plans : tuple of Plan
        The action of each failing node, by stage, then node.
    """

    cube: Hypercube
    tree: CommunicationTree
    algorithm: str
    variant: str | None
    expected: int
    arrived: Fraction
    unreachable_data: Fraction
    lost_by: dict[str, Fraction]
    blocked: tuple[int, ...]
    steps_paper: int
    steps_sync: int
    result: Any
    plans: tuple[Plan, ...]
    _sends: tuple[Send, ...]
    _holders: tuple[int, ...]

    @property
    def lost(self) -> Fraction:
        """Number of units that do not arrive."""
        return self.expected - self.arrived

    @property
    def deadlocked(self) -> bool:
        """Whether a node waits for ever."""
        return bool(self.blocked)

    @property
    def failing(self) -> tuple[tuple[int, int], ...]:
        """Active nodes with data whose link to the passive neighbour is faulty (R16), as pairs (stage, node)."""
        return tuple((plan.stage, plan.node) for plan in self.plans)

    @property
    def faulty_stages(self) -> tuple[int, ...]:
        """Stages with a failing node, ascending; their number is the k of R11."""
        return tuple(sorted({plan.stage for plan in self.plans}))

    @property
    def detours(self) -> tuple[tuple[int, int, int, int], ...]:
        """Pieces that failing nodes without partners send along a path: (stage, node, target, hops), by stage, then node."""
        return tuple((p.stage, p.node, p.target, p.hops) for p in self.plans if not p.partners and p.target >= 0)

    @functools.cached_property
    def by_origin(self) -> dict[int, Fraction]:
        """Fraction of each node's unit that arrives, by node; nodes with fraction 0 are left out.  Needs n <= 10.

        A node sends all its data at once, so its data has one fate, which is followed backwards from the sink.
        """
        check_range("n", self.cube.n, 1, LARGEST_BY_ORIGIN, "to follow data by origin")
        part = dict.fromkeys(self._holders, Fraction(0))
        if self.tree.sink in part:
            part[self.tree.sink] = Fraction(1)
        for send in reversed(self._sends):
            if send.cause is None and part[send.target]:
                part[send.sender] += part[send.target] / send.messages
        return {v: amount for v, amount in part.items() if amount}

    def __repr__(self) -> str:
        name = self.algorithm if self.variant is None else f"{self.algorithm} {self.variant}"
        end = f", {len(self.blocked)} nodes blocked" if self.blocked else ""
        return f"Gathering({name}, {self.tree}: {self.arrived} of {self.expected} units arrive, {self.steps_sync} steps{end})"


GATHERING: Algorithms[GatheringRun] = Algorithms("gather", homes=("gathering",), network="cube")


def gather(
    cube: Hypercube,
    tree: CommunicationTree,
    algorithm: str | None = None,
    variant: str | None = None,
    data: Mapping[int, Any] | None = None,
    split: Callable[[Any, int], Any] | None = None,
    merge: Callable[[Any, Any], Any] | None = None,
) -> Gathering:
    """Gather the data of all nodes at a tree's sink.

    Parameters
    ----------
    cube : Hypercube
        n <= 16.
    tree : CommunicationTree
        Any tree of this cube; its sink may be faulty.
    algorithm : str, optional
        ``FTTC`` (default; Figure 13), ``TC`` (no tolerance, Figure 6) or ``REROUTE`` (three-hop detours, R12).
    variant : str, optional
        For FTTC only: ``as_printed``, ``as_commented`` (default) or ``corrected`` (R9).
    data : mapping of label to piece
        The piece of each node that holds data, for exactly these nodes.
    split : callable
        ``split(piece, m)`` returns m pieces; required with ``data`` for FTTC.
    merge : callable
        ``merge(own, received)`` returns a piece; required with ``data``.

    Returns
    -------
    Gathering

    Raises
    ------
    ParameterError
        If an argument is out of its range, or ``tree`` belongs to another cube.

    Examples
    --------
    >>> cube = fc.Hypercube(3)
    >>> g = fc.gather(cube, fc.find_tree(cube), "TC")
    >>> g.arrived, g.expected, g.lost
    (Fraction(8, 1), 8, Fraction(0, 1))
    """
    chosen = GATHERING.choose(cube, algorithm, {} if variant is None else {"variant": variant})
    check_range("n", cube.n, 1, LARGEST, "for a gathering of 2^n nodes")
    if not isinstance(tree, CommunicationTree):
        raise ParameterError(f"tree must be a CommunicationTree, got {short_repr(tree)}")
    if tree.cube != cube:
        raise ParameterError(f"tree must be a tree of the cube, {short_repr(cube)}, got one of {short_repr(tree.cube)}")
    for name, function in (("split", split), ("merge", merge)):
        if function is not None and not callable(function):
            raise ParameterError(f"{name} must be a function, got {short_repr(function)}")
    run = chosen(cube, tree)
    pieces = None if data is None else _check_pieces(run, data, split, merge)
    return _make_gathering(run, pieces)


@GATHERING.register(Hypercube, "FTTC", options={"variant": VARIANTS}, default=True)
def gather_fttc(cube: Hypercube, tree: CommunicationTree, variant: str = "as_commented") -> GatheringRun:
    """Run FTTC, Figure 13, in one of three variants (R9)."""
    return GatheringRun(cube, tree, "FTTC", variant)


@GATHERING.register(Hypercube, "TC")
def gather_tc(cube: Hypercube, tree: CommunicationTree) -> GatheringRun:
    """Run TC, Figure 6: data sent over a faulty link is lost (R18)."""
    return GatheringRun(cube, tree, "TC", None)


@GATHERING.register(Hypercube, "REROUTE")
def gather_rerouted(cube: Hypercube, tree: CommunicationTree) -> GatheringRun:
    """Run the traditional detour of three hops, over the lowest dimension that allows one (R12, R18)."""
    return GatheringRun(cube, tree, "REROUTE", None)


#: The pieces by node, and the functions that split and merge them.
Pieces = tuple[dict[int, Any], Callable[[Any, int], list[Any]], Callable[[Any, Any], Any]]


def _check_pieces(run: GatheringRun, data: object, split: Any, merge: Any) -> Pieces:
    if not isinstance(data, Mapping):
        raise ParameterError(f"data must be a mapping of labels to pieces, got {short_repr(data)}")
    if run.algorithm == "FTTC" and not callable(split):
        raise ParameterError(f"split must be a function when data is given, got {short_repr(split)}")
    if not callable(merge):
        raise ParameterError(f"merge must be a function when data is given, got {short_repr(merge)}")
    missing, extra = set(run.holders) - set(data), set(data) - set(run.holders)
    if missing or extra:
        what = f"misses node {min(missing)}" if missing else f"has {short_repr(min(extra, key=repr))}, which holds none"
        raise ParameterError(
            f"data must have one piece for each of the {len(run.holders)} nodes that hold data, but {what}"
        )

    def split_checked(piece: Any, m: int) -> list[Any]:
        parts = list(split(piece, m)) if split else []
        if len(parts) != m:
            raise ParameterError(f"split must return {m} pieces when called with {m}, got {len(parts)}")
        return parts

    return dict(data), split_checked, merge


def _make_gathering(run: GatheringRun, pieces: Pieces | None) -> Gathering:
    """Run the gathering with amounts of data, and again with the user's pieces if there are any."""
    n, sink = run.n, run.tree.sink
    unit = math.prod(math.lcm(*range(1, n - i)) for i in range(n - 1))  # every partition of a unit is a whole number
    amounts = PieceFlow(run, dict.fromkeys(run.holders, unit), lambda x, m: [x // m] * m, lambda x, y: x + y)
    result = None if pieces is None else PieceFlow(run, *pieces).held.get(sink)
    k = len({stage for stage, _ in run.plans})
    paper, sync = n + k, run.steps()
    if run.algorithm == "TC":
        paper = sync = n
    elif run.algorithm == "REROUTE":
        paper, sync = n + 3 * k, n + 2 * k
    arrived = Fraction(amounts.held.get(sink, 0), unit)
    lost_by = {cause: Fraction(sum(amounts.lost.get(cause, ())), unit) for cause in CAUSES}
    lost_by[BLOCKED] = len(run.holders) - arrived - sum(lost_by.values())
    return Gathering(
        run.cube,
        run.tree,
        run.algorithm,
        run.variant,
        expected=len(run.holders),
        arrived=arrived,
        unreachable_data=Fraction(run.unreachable_data()),
        lost_by=lost_by,
        blocked=tuple(sorted(amounts.blocked)),
        steps_paper=paper,
        steps_sync=sync,
        result=result,
        plans=tuple(run.plans.values()),
        _sends=tuple(amounts.sends),
        _holders=tuple(run.holders),
    )
