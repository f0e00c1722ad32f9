"""Gathering over a communication tree of one hypercube: TC, FTTC and traditional rerouting (Leu & Kuo, section 3).

A node sends all it holds at its active stage, waits before only for what its program names, and never again after.
At one stage failing nodes wait for nothing, their helpers wait for them, and passive nodes for both.  So a run is a
single sweep over the stages, whatever the timing (readings R8 to R18).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from ..errors import ParameterError, check_range, shown
from ..networks.hypercube import Hypercube
from .registry import Algorithms
from .shortest import distance
from .trees import CommunicationTree, detect

#: Largest cube whose 2^n programs are run, and the largest whose data is followed by origin.
LARGEST = 16
BY_ORIGIN = 10

VARIANTS = ("literal", "comment", "repaired")

#: What becomes of a message that is not merged: causes of loss (R15), and the sink's mail.
MUTUAL, IGNORED, NOPATH, BLOCKED = CAUSES = ("mutual", "ignored", "nopath", "blocked")
LATE = "late"


class Plan(NamedTuple):
    """What one failing node does: ``partners`` share its data equally, or it goes to ``target`` over ``hops`` links.

    ``target`` is -1 where there is no path.
    """

    stage: int
    node: int
    partners: tuple[int, ...]
    target: int
    hops: int


class _Send(NamedTuple):
    """A message as it was sent: ``share`` of them make up the sender's data; ``cause`` of its loss, or None: merged."""

    sender: int
    target: int
    share: int
    cause: str | None


@dataclass(frozen=True)
class Gathering:
    """What a gathering delivers, loses and costs; made by :func:`gather`.

    Attributes
    ----------
    cube, tree, algorithm, variant
        As asked for; ``variant`` is None for TC and REROUTE.
    expected : int
        Nodes that hold data, one unit each: nonfaulty ones with a nonfaulty link (R8).
    arrived, lost, stranded : Fraction
        Units that the sink has merged when nothing moves any more (R14), the rest, and the units of nodes that
        nonfaulty links do not join to the sink.
    lost_by : dict
        Units by cause (R15): ``mutual``, ``ignored``, ``nopath``, ``blocked``.  They add up to ``lost``; what was sent
        to a node that would never wait for it is not ``blocked``.
    deadlocked : bool
        Whether a node waits for ever.
    blocked : tuple of int
        Those that do, ascending.
    failing : tuple of (stage, node)
        Active nodes with data whose link to the passive neighbour is faulty (R16).
    faulty_stages : tuple of int
        Stages with a failing node; their number is the k of R11.
    detours : tuple of (stage, node, target, hops)
        What failing nodes without partners send by a path, by stage, then node.
    steps_paper, steps_sync : int
        n + k, and every stage at 1, at 2 for partitions, or at its longest detour if longer (R11); REROUTE n + 3k and
        n + 2k (R12), TC n.
    result : object
        What the sink holds at the end, of pieces handed in as ``data``; None without, or when the sink holds nothing.
    plans : tuple of Plan
        What each failing node does, by stage, then node.
    """

    cube: Hypercube
    tree: CommunicationTree
    algorithm: str
    variant: str | None
    expected: int
    arrived: Fraction
    stranded: Fraction
    lost_by: dict[str, Fraction]
    blocked: tuple[int, ...]
    steps_paper: int
    steps_sync: int
    result: Any
    plans: tuple[Plan, ...]
    _sends: tuple[_Send, ...]
    _holders: tuple[int, ...]

    @property
    def lost(self) -> Fraction:
        """Units that do not arrive."""
        return self.expected - self.arrived

    @property
    def deadlocked(self) -> bool:
        """Whether a node waits for ever."""
        return bool(self.blocked)

    @property
    def failing(self) -> tuple[tuple[int, int], ...]:
        """Failing nodes as (stage, node)."""
        return tuple((plan.stage, plan.node) for plan in self.plans)

    @property
    def faulty_stages(self) -> tuple[int, ...]:
        """Stages with a failing node, ascending."""
        return tuple(sorted({plan.stage for plan in self.plans}))

    @property
    def detours(self) -> tuple[tuple[int, int, int, int], ...]:
        """Detours as (stage, node, target, hops)."""
        return tuple((p.stage, p.node, p.target, p.hops) for p in self.plans if not p.partners and p.target >= 0)

    @functools.cached_property
    def by_origin(self) -> dict[int, Fraction]:
        """How much of each origin's unit arrives, origins of nothing left out; n <= 10.

        A node sends all it holds at once, so all of it has one fate: followed backwards from the sink.
        """
        check_range("n", self.cube.n, 1, BY_ORIGIN, "to follow data by origin")
        part = dict.fromkeys(self._holders, Fraction(0))
        if self.tree.sink in part:
            part[self.tree.sink] = Fraction(1)
        for send in reversed(self._sends):
            if send.cause is None and part[send.target]:
                part[send.sender] += part[send.target] / send.share
        return {v: amount for v, amount in part.items() if amount}

    def __repr__(self) -> str:
        name = self.algorithm if self.variant is None else f"{self.algorithm} {self.variant}"
        end = f", {len(self.blocked)} nodes blocked" if self.blocked else ""
        return f"Gathering({name}, {self.tree}: {self.arrived} of {self.expected} units arrive, {self.steps_sync} steps{end})"


GATHERING: Algorithms[Gathering] = Algorithms("gather", homes=("gathering",), network="cube")


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
        Any tree of this cube, also of a faulty sink.
    algorithm : str, optional
        ``FTTC`` (default; Figure 13), ``TC`` (no tolerance, Figure 6) or ``REROUTE`` (three-hop detours, reading R12).
    variant : str, optional
        Of FTTC alone: ``literal``, ``comment`` (default) or ``repaired`` (reading R9).
    data : mapping of label to piece
        One piece for every node that holds data, and no other.
    split : callable
        ``split(piece, m)`` gives m pieces; with ``data``, for FTTC.
    merge : callable
        ``merge(own, received)`` gives a piece; with ``data``.

    Returns
    -------
    Gathering
    """
    chosen = GATHERING.choose(cube, algorithm, {} if variant is None else {"variant": variant})
    check_range("n", cube.n, 1, LARGEST, "for a gathering of 2^n nodes")
    if not isinstance(tree, CommunicationTree):
        raise ParameterError(f"tree must be a CommunicationTree, got {shown(tree)}")
    if tree.cube != cube:
        raise ParameterError(f"tree must be a tree of the cube, {shown(cube)}, got one of {shown(tree.cube)}")
    return chosen(cube, tree, Pieces(data, split, merge))


@dataclass(frozen=True)
class Pieces:
    """Data of the user's own, and how it is split and merged; ``data`` None: none."""

    data: Mapping[int, Any] | None
    split: Callable[[Any, int], Any] | None
    merge: Callable[[Any, Any], Any] | None


@GATHERING.register(Hypercube, "FTTC", options={"variant": VARIANTS}, default=True)
def fttc(cube: Hypercube, tree: CommunicationTree, pieces: Pieces, variant: str = "comment") -> Gathering:
    """Figure 13, in three variants (reading R9)."""
    return _Run(cube, tree, "FTTC", variant).outcome(pieces)


@GATHERING.register(Hypercube, "TC")
def tc(cube: Hypercube, tree: CommunicationTree, pieces: Pieces) -> Gathering:
    """Figure 6: what is sent over a faulty link is lost (reading R18)."""
    return _Run(cube, tree, "TC", None).outcome(pieces)


@GATHERING.register(Hypercube, "REROUTE")
def reroute(cube: Hypercube, tree: CommunicationTree, pieces: Pieces) -> Gathering:
    """The traditional detour of three hops over the lowest dimension that has one (readings R12 and R18)."""
    return _Run(cube, tree, "REROUTE", None).outcome(pieces)


def _check_pieces(
    holders: list[int], pieces: Pieces, splits: bool
) -> tuple[dict[int, Any], Callable[[Any, int], list[Any]], Callable[[Any, Any], Any]]:
    data, split, merge = pieces.data, pieces.split, pieces.merge
    if not isinstance(data, Mapping):
        raise ParameterError(f"data must be a mapping of labels to pieces, got {shown(data)}")
    if splits and not callable(split):
        raise ParameterError(f"split must be a function when data is given, got {shown(split)}")
    if not callable(merge):
        raise ParameterError(f"merge must be a function when data is given, got {shown(merge)}")
    missing, extra = set(holders) - set(data), set(data) - set(holders)
    if missing or extra:
        what = f"misses node {min(missing)}" if missing else f"has {shown(min(extra, key=repr))}, which holds none"
        raise ParameterError(
            f"data must have one piece for each of the {len(holders)} nodes that hold data, but {what}"
        )

    def checked(piece: Any, m: int) -> list[Any]:
        parts = list(split(piece, m)) if split else []
        if len(parts) != m:
            raise ParameterError(f"split must return {m} pieces when asked for {m}, got {len(parts)}")
        return parts

    return dict(data), checked, merge


class _Run:
    """One gathering, stage by stage."""

    def __init__(self, cube: Hypercube, tree: CommunicationTree, algorithm: str, variant: str | None) -> None:
        self.cube, self.tree, self.n = cube, tree, cube.n
        self.algorithm, self.variant = algorithm, variant
        self.fault: list[int] = detect(cube).tolist()
        full = 2**self.n - 1
        self.holders = [v for v in range(2**self.n) if self.fault[v] != full]
        self.holds = [word != full for word in self.fault]
        self.plans = {(p.stage, p.node): p for p in self._planned()}

    def _actives(self, i: int) -> list[int]:
        """The active nodes of stage i, ascending."""
        d = self.tree.order
        nodes = [self.tree.sink ^ 1 << d[i]]
        for j in range(i + 1, self.n):
            nodes += [v ^ 1 << d[j] for v in nodes]
        return sorted(nodes)

    def _planned(self) -> list[Plan]:
        return [
            self._plan(i, v)
            for i, d in enumerate(self.tree.order)
            for v in self._actives(i)
            if self.holds[v] and self.fault[v] >> d & 1
        ]

    def _plan(self, i: int, v: int) -> Plan:
        """What a failing node does; follows from tree and faults alone (R16)."""
        d, fault = self.tree.order, self.fault
        passive = v ^ 1 << d[i]
        if self.algorithm == "TC":
            return Plan(i, v, (), -1, 0)
        if self.algorithm == "REROUTE":
            around = (k for k in range(self.n) if k != d[i])
            found = any(not (fault[v] >> k | fault[v ^ 1 << k] >> d[i] | fault[passive] >> k) & 1 for k in around)
            return Plan(i, v, (), passive, 3) if found else Plan(i, v, (), -1, 0)
        partners = [v ^ 1 << d[j] for j in range(i + 1, self.n) if not fault[v] >> d[j] & 1]
        if self.variant == "repaired":
            partners = [w for w in partners if not fault[w] >> d[i] & 1]
        if partners:
            return Plan(i, v, tuple(partners), -1, 0)
        for target in (passive, self.tree.sink) if self.variant == "repaired" else (passive,):
            hops = distance(self.cube, v, target)
            if hops is not None:
                return Plan(i, v, (), target, hops)
        return Plan(i, v, (), -1, 0)

    # ------------------------------------------------------------ who waits for whom

    def _awaited(self, i: int, v: int) -> list[int]:
        """Active neighbours that a node which can send waits for first, in the order of its program (R9, R17)."""
        d, fault = self.tree.order, self.fault
        if self.algorithm != "FTTC":
            return []
        asking = [v ^ 1 << d[j] for j in range(i + 1, self.n) if self.variant == "literal" or not fault[v] >> d[j] & 1]
        return [w for w in asking if fault[w] >> d[i] & 1]

    def _receives(self, i: int, passive: int) -> bool:
        """Whether a passive node waits for its active neighbour (R9, R18)."""
        d = self.tree.order[i]
        if not self.fault[passive] >> d & 1:
            return True
        plan = self.plans.get((i, passive ^ 1 << d))
        return plan is not None and plan.target == passive and self.variant != "literal"

    # ------------------------------------------------------------ the sweep

    def outcome(self, pieces: Pieces) -> Gathering:
        """Run it with amounts, and again with the user's pieces if there are any."""
        unit = math.prod(
            math.lcm(*range(1, self.n - i)) for i in range(self.n - 1)
        )  # every partition is a whole number
        amounts = _Flow(self, dict.fromkeys(self.holders, unit), lambda x, m: [x // m] * m, lambda x, y: x + y)
        result = None
        if pieces.data is not None:
            own = _check_pieces(self.holders, pieces, self.algorithm == "FTTC")
            result = _Flow(self, *own).held.get(self.tree.sink)
        k = len({stage for stage, _ in self.plans})
        paper, sync = self.n + k, self._steps()
        if self.algorithm == "TC":
            paper = sync = self.n
        elif self.algorithm == "REROUTE":
            paper, sync = self.n + 3 * k, self.n + 2 * k
        arrived = Fraction(amounts.held.get(self.tree.sink, 0), unit)
        lost_by = {cause: Fraction(sum(amounts.lost.get(cause, ())), unit) for cause in CAUSES}
        lost_by[BLOCKED] = len(self.holders) - arrived - sum(lost_by.values())
        return Gathering(
            self.cube, self.tree, self.algorithm, self.variant,
            expected=len(self.holders), arrived=arrived, stranded=Fraction(self._stranded()), lost_by=lost_by,
            blocked=tuple(sorted(amounts.blocked)), steps_paper=paper, steps_sync=sync, result=result,
            plans=tuple(self.plans.values()), _sends=tuple(amounts.sends), _holders=tuple(self.holders),
        )  # fmt: skip

    def _steps(self) -> int:
        longest = [1] * self.n
        for plan in self.plans.values():
            longest[plan.stage] = max(longest[plan.stage], 2 if plan.partners else plan.hops)
        return sum(longest)

    def _stranded(self) -> int:
        """Holders that nonfaulty links do not join to the sink."""
        seen = bytearray(2**self.n)
        seen[self.tree.sink] = 1
        front = [self.tree.sink]
        while front:
            u = front.pop()
            for k in range(self.n):
                v = u ^ 1 << k
                if not seen[v] and not self.fault[u] >> k & 1:
                    seen[v] = 1
                    front.append(v)
        return sum(not seen[v] for v in self.holders)


class _Flow:
    """What each node holds, stage by stage, for any pieces that can be split and merged.

    Attributes
    ----------
    held : dict
        What each node holds at the end; what was sent is gone.
    lost : dict of cause to list of pieces
    blocked : set of int
    sends : list of _Send
    """

    def __init__(
        self,
        run: _Run,
        held: dict[int, Any],
        split: Callable[[Any, int], list[Any]],
        merge: Callable[[Any, Any], Any],
    ) -> None:
        self.run, self.held, self.split, self.merge = run, held, split, merge
        self.lost: dict[str, list[Any]] = {}
        self.blocked: set[int] = set()
        self.sends: list[_Send] = []
        self.late: list[Any] = []
        for i in range(run.n):
            self._stage(i)
        sink = run.tree.sink
        for piece in self.late:
            held[sink] = merge(held[sink], piece)

    def _stage(self, i: int) -> None:
        run, bit = self.run, 1 << self.run.tree.order[i]
        actives = [v for v in run._actives(i) if run.holds[v]]
        mail: dict[tuple[int, int], tuple[Any, int]] = {}  # (sender, receiver): piece, place in sends
        for v in actives:
            if (i, v) in run.plans and v not in self.blocked:
                self._fail(run.plans[i, v], mail)
        for v in actives:
            if (i, v) in run.plans or v in self.blocked:
                continue
            if all(self._receive(v, w, mail) for w in run._awaited(i, v)):
                self._send(v, v ^ bit, self.held.pop(v), 1, BLOCKED, mail)
        for v in (u ^ bit for u in run._actives(i)):
            if run.holds[v] and v not in self.blocked and run._receives(i, v):
                self._receive(v, v ^ bit, mail)

    def _fail(self, plan: Plan, mail: dict[tuple[int, int], tuple[Any, int]]) -> None:
        run, piece = self.run, self.held.pop(plan.node)
        passive = plan.node ^ 1 << run.tree.order[plan.stage]
        if plan.partners:
            m = len(plan.partners)
            for w, part in zip(plan.partners, self.split(piece, m), strict=True):
                self._send(plan.node, w, part, m, MUTUAL if (plan.stage, w) in run.plans else BLOCKED, mail)
        elif plan.target < 0:
            self._send(plan.node, passive, piece, 1, NOPATH, mail)
        elif plan.target != passive:
            self.late.append(piece)
            self.sends.append(_Send(plan.node, plan.target, 1, None))
        else:
            self._send(plan.node, passive, piece, 1, IGNORED if run.variant == "literal" else BLOCKED, mail)

    def _send(
        self, v: int, to: int, piece: Any, share: int, cause: str, mail: dict[tuple[int, int], tuple[Any, int]]
    ) -> None:
        """Send a piece that is lost for ``cause`` until it is received."""
        if cause != BLOCKED:
            self.lost.setdefault(cause, []).append(piece)
        else:
            mail[v, to] = piece, len(self.sends)
        self.sends.append(_Send(v, to, share, cause))

    def _receive(self, v: int, sender: int, mail: dict[tuple[int, int], tuple[Any, int]]) -> bool:
        """Wait for a message and merge it; False, and the node is blocked, when it never comes."""
        if (sender, v) not in mail:
            self.blocked.add(v)
            return False
        piece, at = mail[sender, v]
        self.held[v] = self.merge(self.held[v], piece)
        self.sends[at] = self.sends[at]._replace(cause=None)
        return True
