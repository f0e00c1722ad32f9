"""Gathering over a communication tree in plain Python: Leu & Kuo, sections 2.2, 3.2 and 3.3, Figures 6 and 13.

Every node runs its program as a generator, as the paper writes it: it yields what it sends and what it waits for, and a
scheduler moves messages until nothing moves any more.  Data is a dict: how much of each origin's unit, as a Fraction.

R8   Every nonfaulty, non-isolated node starts with one unit; all other nodes take no part.  A partition is 1/m of everything.
R9   FTTC: ``as_printed`` is Figure 13 character by character; ``as_commented`` (the helper tests FAULT(curr)[d_j], the passive
     node takes detoured data); ``corrected`` (partitions to those that can deliver, else a detour, else to the sink).
R10  Sends never block, receives block.
R11  Steps: n + k; and with every stage at 1, 2 for partitions, or its longest detour if longer.
R12  Traditional rerouting: u, u^k, u^k^d_i, u^d_i over the lowest k whose three links are nonfaulty.
R14  ``arrived`` is what the sink has merged when nothing moves any more; ``blocked`` is who waits for ever.
R15  Causes of loss: ``mutual``, ``ignored``, ``nopath``, ``blocked``.
R16  A failing node is active, holds data, and its link to its passive neighbour is faulty.
R17  Literal: the helper waits also for active neighbours that are faulty or isolated.
R18  TC and REROUTE go on without what is lost.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from .trees import role


def path_length(n: int, fault: list[int], s: int, t: int) -> int | None:
    """Links of a shortest path over nonfaulty links; None when there is none."""
    seen, queue = {s: 0}, deque([s])
    while queue:
        u = queue.popleft()
        for k in range(n):
            v = u ^ 1 << k
            if not fault[u] >> k & 1 and v not in seen:
                seen[v] = seen[u] + 1
                queue.append(v)
    return seen.get(t)


class Run:
    """One gathering; see the module's readings.  Attributes as ``fc.gather``'s."""

    def __init__(
        self, n: int, fault: list[int], sink: int, order: tuple[int, ...], algorithm: str, variant: str = "as_commented"
    ) -> None:
        self.n, self.fault, self.sink, self.order = n, fault, sink, order
        self.algorithm, self.variant = algorithm, variant
        full = 2**n - 1
        self.holders = [v for v in range(2**n) if fault[v] != full]
        self.data = {v: {v: Fraction(1)} for v in self.holders}
        self.lost_by = dict.fromkeys(("mutual", "ignored", "nopath", "blocked"), Fraction(0))
        self.late: list[dict[int, Fraction]] = []  # for the sink, merged at the end
        self._survey()
        self._schedule()

    # ------------------------------------------------------------ consequences of tree and faults alone

    def failing_at(self, v: int, i: int) -> bool:
        """R16, for a node that is active at stage i."""
        return v in self.data and bool(self.fault[v] >> self.order[i] & 1)

    def partners(self, v: int, i: int) -> list[int]:
        """Active neighbours to which a failing node gives a partition, by ascending j."""
        d, out = self.order, []
        for j in range(i + 1, self.n):
            w = v ^ 1 << d[j]
            able = self.variant != "corrected" or not self.fault[w] >> d[i] & 1
            if not self.fault[v] >> d[j] & 1 and able:
                out.append(w)
        return out

    def detour(self, v: int, i: int) -> tuple[int, int] | None:
        """(target, hops) of a failing node without partners; None without a path."""
        if self.algorithm == "REROUTE":
            d, p = self.order[i], v ^ 1 << self.order[i]
            for k in range(self.n):
                u = v ^ 1 << k
                if k != d and not (self.fault[v] >> k | self.fault[u] >> d | self.fault[p] >> k) & 1:
                    return p, 3
            return None
        targets = [v ^ 1 << self.order[i]] + [self.sink] * (self.variant == "corrected")
        for target in targets:
            hops = path_length(self.n, self.fault, v, target)
            if hops is not None:
                return target, hops
        return None

    def _survey(self) -> None:
        n, self.failing, self.detours, self.steps_sync = self.n, [], [], 0
        for i in range(n):
            longest = 1
            for v in range(2**n):
                if role(n, self.sink, self.order, v, i) == "active" and self.failing_at(v, i):
                    self.failing.append((i, v))
                    if self.algorithm == "FTTC" and self.partners(v, i):
                        longest = max(longest, 2)
                    elif self.algorithm != "TC" and (found := self.detour(v, i)):
                        self.detours.append((i, v, *found))
                        longest = max(longest, found[1])
            self.steps_sync += longest
        self.faulty_stages = sorted({i for i, _ in self.failing})
        k = len(self.faulty_stages)
        self.steps_paper = n + k
        if self.algorithm == "TC":
            self.steps_paper = self.steps_sync = n
        elif self.algorithm == "REROUTE":
            self.steps_paper, self.steps_sync = n + 3 * k, n + 2 * k
        self.expected = len(self.holders)
        joined = [v for v in self.holders if path_length(n, self.fault, v, self.sink) is not None]
        self.unreachable_data = Fraction(self.expected - len(joined))

    # ------------------------------------------------------------ programs

    def program(self, curr: int) -> Iterator[tuple[Any, ...]]:
        """Figure 13 (or 6) at node ``curr``: ("send", to, share, cause if not received) and ("receive", from)."""
        d, fault = self.order, self.fault
        for i in range(self.n):
            what = role(self.n, self.sink, d, curr, i)
            if what == "active":
                if fault[curr] >> d[i] & 1:
                    yield from self.fail(curr, i)
                else:
                    if self.algorithm == "FTTC":
                        for j in range(i + 1, self.n):
                            asked = d[i] if self.variant == "as_printed" else d[j]
                            aneib = curr ^ 1 << d[j]
                            if fault[aneib] >> d[i] & 1 and not fault[curr] >> asked & 1:
                                yield "receive", i, aneib
                    yield "send", i, curr ^ 1 << d[i], Fraction(1), "blocked"
            elif what == "passive":
                aneib = curr ^ 1 << d[i]
                if not fault[curr] >> d[i] & 1 or (
                    (self.variant != "as_printed" or self.algorithm == "REROUTE")
                    and (i, aneib, curr) in {found[:3] for found in self.detours}
                ):
                    yield "receive", i, aneib

    def fail(self, curr: int, i: int) -> Iterator[tuple[Any, ...]]:
        """What a failing node sends."""
        d = self.order
        partners = self.partners(curr, i) if self.algorithm == "FTTC" else []
        for w in partners:
            never = "mutual" if self.fault[w] >> d[i] & 1 else "blocked"
            yield "send", i, w, Fraction(1, len(partners)), never
        if partners:
            return
        found = self.detour(curr, i) if self.algorithm != "TC" else None
        if found is None:
            yield "send", i, None, Fraction(1), "nopath"
        elif found[0] != curr ^ 1 << d[i]:
            yield "send", i, self.sink, Fraction(1), "late"
        else:
            ignored = self.algorithm == "FTTC" and self.variant == "as_printed"
            yield "send", i, found[0], Fraction(1), "ignored" if ignored else "blocked"

    def _schedule(self) -> None:
        programs = {v: self.program(v) for v in self.holders}
        waiting: dict[int, tuple[int, int]] = {}
        mail: dict[tuple[int, int, int], tuple[dict[int, Fraction], str]] = {}  # (stage, from, to)
        runnable = deque(self.holders)
        while runnable:
            v = runnable.popleft()
            if v in waiting:
                stage, sender = waiting[v]
                if (stage, sender, v) not in mail:
                    continue
                self.merge(v, mail.pop((stage, sender, v))[0])
                del waiting[v]
            for step in programs[v]:
                if step[0] == "receive":
                    waiting[v] = step[1:]
                    runnable.append(v)
                    break
                self.send(v, *step[1:], mail)
                runnable.extend(w for w in waiting if w == step[2])
            else:
                if v != self.sink:
                    self.data[v] = {}  # all sent
        for piece in self.late:
            self.merge(self.sink, piece)
        for piece, cause in mail.values():
            self.lost_by[cause] += sum(piece.values())
        self.blocked = tuple(sorted(waiting))
        self.deadlocked = bool(waiting)
        for v in self.blocked:
            if v != self.sink:
                self.lost_by["blocked"] += sum(self.data[v].values())
        self.by_origin = dict(sorted(self.data.get(self.sink, {}).items()))
        self.arrived = sum(self.by_origin.values(), Fraction(0))
        self.lost = self.expected - self.arrived

    def merge(self, v: int, piece: dict[int, Fraction]) -> None:
        """Add a piece to what a node holds."""
        for origin, amount in piece.items():
            self.data[v][origin] = self.data[v].get(origin, Fraction(0)) + amount

    def send(self, v: int, stage: int, to: int | None, fraction: Fraction, cause: str, mail: dict[Any, Any]) -> None:
        """Put a share of what a node holds on its way."""
        piece = {origin: amount * fraction for origin, amount in self.data[v].items()}
        if to is None:
            self.lost_by["nopath"] += sum(piece.values())
        elif cause == "late":
            self.late.append(piece)
        else:
            mail[stage, v, to] = piece, cause
