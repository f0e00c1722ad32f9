"""Run a gathering: each node's program, stage by stage, and the fate of the data (Figure 13).

A node sends all its data at its active stage.  Before, it waits only for the nodes that its program names, and afterwards never
again.  At one stage failing nodes wait for nothing, their helpers wait for them, and passive nodes wait for both.  So one sweep
over the stages determines the run, whatever the timing (R8 to R18).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..networks.hypercube import Hypercube
from .shortest import distance
from .trees import CommunicationTree, unusable_link_masks

#: Causes of loss (R15): data shared with a failing neighbour that never waits for it, detoured data that the passive node does
#: not receive, data without a nonfaulty path, and data sent to a node that waits for ever for another node.
MUTUAL, IGNORED, NOPATH, BLOCKED = CAUSES = ("mutual", "ignored", "nopath", "blocked")


class Plan(NamedTuple):
    """The action of one failing node: ``partners`` share its data equally, or it goes to ``target`` over ``hops`` links.

    ``target`` is -1 if there is no path.
    """

    stage: int
    node: int
    partners: tuple[int, ...]
    target: int
    hops: int


class Send(NamedTuple):
    """A sent message: the sender's data make ``messages`` messages, and ``cause`` is the cause of loss, or None if merged."""

    sender: int
    target: int
    messages: int
    cause: str | None


class GatheringRun:
    """One gathering: the tree, the nodes with data, and the plans of the failing nodes.

    Attributes
    ----------
    fault : list of int
        The FAULT mask of each node.
    holds : list of bool
        Whether each node has data.
    holders : list of int
        The nodes with data, ascending.
    plans : dict of (stage, node) to Plan
        The actions of the failing nodes, by stage, then node.
    """

    def __init__(self, cube: Hypercube, tree: CommunicationTree, algorithm: str, variant: str | None) -> None:
        self.cube, self.tree, self.n = cube, tree, cube.n
        self.algorithm, self.variant = algorithm, variant
        self.fault: list[int] = unusable_link_masks(cube).tolist()
        full = 2**self.n - 1  # of a faulty node or a node without a usable link, which has no data
        self.holds = [mask != full for mask in self.fault]
        self.holders = [v for v in range(2**self.n) if self.holds[v]]
        self.plans = {
            (i, v): self._plan(i, v)
            for i, d in enumerate(tree.order)
            for v in self.active_nodes(i)
            if self.holds[v] and self.fault[v] >> d & 1
        }

    def active_nodes(self, i: int) -> list[int]:
        """Return the active nodes of stage i, ascending."""
        d = self.tree.order
        nodes = [self.tree.sink ^ 1 << d[i]]
        for j in range(i + 1, self.n):
            nodes += [v ^ 1 << d[j] for v in nodes]
        return sorted(nodes)

    def _plan(self, i: int, v: int) -> Plan:
        """Return the action of a failing node, which depends only on tree and faults (R16)."""
        d, fault = self.tree.order, self.fault
        passive = v ^ 1 << d[i]
        if self.algorithm == "TC":
            return Plan(i, v, (), -1, 0)
        if self.algorithm == "REROUTE":
            other_dimensions = (k for k in range(self.n) if k != d[i])
            found = any(
                not (fault[v] >> k | fault[v ^ 1 << k] >> d[i] | fault[passive] >> k) & 1 for k in other_dimensions
            )
            return Plan(i, v, (), passive, 3) if found else Plan(i, v, (), -1, 0)
        partners = [v ^ 1 << d[j] for j in range(i + 1, self.n) if not fault[v] >> d[j] & 1]
        if self.variant == "corrected":
            partners = [w for w in partners if not fault[w] >> d[i] & 1]
        if partners:
            return Plan(i, v, tuple(partners), -1, 0)
        for target in (passive, self.tree.sink) if self.variant == "corrected" else (passive,):
            has_faulty_end = self.cube.is_faulty(v) or self.cube.is_faulty(target)
            hops = None if has_faulty_end else distance(self.cube, v, target)
            if hops is not None:
                return Plan(i, v, (), target, hops)
        return Plan(i, v, (), -1, 0)

    def awaited_neighbours(self, i: int, v: int) -> list[int]:
        """Return the active neighbours that a node which can send waits for first, in the order of its program (R9, R17)."""
        d, fault = self.tree.order, self.fault
        if self.algorithm != "FTTC":
            return []
        helped = [
            v ^ 1 << d[j] for j in range(i + 1, self.n) if self.variant == "as_printed" or not fault[v] >> d[j] & 1
        ]
        return [w for w in helped if fault[w] >> d[i] & 1]

    def is_receiving(self, i: int, passive: int) -> bool:
        """Whether a passive node waits for its active neighbour (R9, R18)."""
        d = self.tree.order[i]
        if not self.fault[passive] >> d & 1:
            return True
        plan = self.plans.get((i, passive ^ 1 << d))
        return plan is not None and plan.target == passive and self.variant != "as_printed"

    def steps(self) -> int:
        """Return the number of steps: for each stage one, or the most that one of its failing nodes takes."""
        longest = [1] * self.n
        for plan in self.plans.values():
            longest[plan.stage] = max(longest[plan.stage], 2 if plan.partners else plan.hops)
        return sum(longest)

    def unreachable_data(self) -> int:
        """Return the number of nodes with data that have no nonfaulty path to the sink."""
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


#: The messages of one stage by (sender, receiver): the piece, and its index in ``PieceFlow.sends``.
Mail = dict[tuple[int, int], tuple[Any, int]]


class PieceFlow:
    """The data of each node, stage by stage, for any pieces that can be split and merged.

    Parameters
    ----------
    run : GatheringRun
    held : dict
        The piece of each node with data at the beginning.
    split : callable
        ``split(piece, m)`` returns m equal parts of a piece.
    merge : callable
        ``merge(a, b)`` returns the piece that holds both.

    Attributes
    ----------
    held : dict
        The piece of each node at the end, without sent pieces.
    lost : dict of cause to list of pieces
        The pieces lost for each cause but BLOCKED, whose pieces are those sends that have this cause.
    blocked : set of int
        The nodes that wait for ever.
    sends : list of Send
        The messages in the order in which they are sent.
    detoured : list
        The pieces on detours to the sink, which are merged there at the end.
    """

    def __init__(
        self,
        run: GatheringRun,
        held: dict[int, Any],
        split: Callable[[Any, int], list[Any]],
        merge: Callable[[Any, Any], Any],
    ) -> None:
        self.run, self.held, self.split, self.merge = run, held, split, merge
        self.lost: dict[str, list[Any]] = {}
        self.blocked: set[int] = set()
        self.sends: list[Send] = []
        self.detoured: list[Any] = []
        for i in range(run.n):
            self._run_stage(i)
        sink = run.tree.sink
        for piece in self.detoured:
            held[sink] = merge(held[sink], piece)

    def _run_stage(self, i: int) -> None:
        """Run stage i: failing nodes send first, then active nodes after waiting for their data, then passive nodes receive."""
        run, bit = self.run, 1 << self.run.tree.order[i]
        actives = [v for v in run.active_nodes(i) if run.holds[v]]
        mail: Mail = {}
        for v in actives:
            if (i, v) in run.plans and v not in self.blocked:
                self._send_otherwise(run.plans[i, v], mail)
        for v in actives:
            if (i, v) in run.plans or v in self.blocked:
                continue
            if all(self._receive(v, w, mail) for w in run.awaited_neighbours(i, v)):
                self._send(v, v ^ bit, self.held.pop(v), 1, BLOCKED, mail)
        for v in (u ^ bit for u in run.active_nodes(i)):
            if run.holds[v] and v not in self.blocked and run.is_receiving(i, v):
                self._receive(v, v ^ bit, mail)

    def _send_otherwise(self, plan: Plan, mail: Mail) -> None:
        """Send the data of a failing node by its plan."""
        run, piece = self.run, self.held.pop(plan.node)
        passive = plan.node ^ 1 << run.tree.order[plan.stage]
        if plan.partners:
            m = len(plan.partners)
            for w, part in zip(plan.partners, self.split(piece, m), strict=True):
                self._send(plan.node, w, part, m, MUTUAL if (plan.stage, w) in run.plans else BLOCKED, mail)
        elif plan.target < 0:
            self._send(plan.node, passive, piece, 1, NOPATH, mail)
        elif plan.target != passive:
            self.detoured.append(piece)
            self.sends.append(Send(plan.node, plan.target, 1, None))
        else:
            self._send(plan.node, passive, piece, 1, IGNORED if run.variant == "as_printed" else BLOCKED, mail)

    def _send(self, v: int, to: int, piece: Any, messages: int, cause: str, mail: Mail) -> None:
        """Send a piece, which counts as lost for ``cause`` until it is received."""
        if cause != BLOCKED:
            self.lost.setdefault(cause, []).append(piece)
        else:
            mail[v, to] = piece, len(self.sends)
        self.sends.append(Send(v, to, messages, cause))

    def _receive(self, v: int, sender: int, mail: Mail) -> bool:
        """Wait for a message and merge it.  If it never comes, block the node and return False."""
        if (sender, v) not in mail:
            self.blocked.add(v)
            return False
        piece, at = mail[sender, v]
        self.held[v] = self.merge(self.held[v], piece)
        self.sends[at] = self.sends[at]._replace(cause=None)
        return True
