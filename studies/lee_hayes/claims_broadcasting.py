"""Claims of Lee & Hayes (1988) about broadcasting: section 4, and its extension to faulty links in section 5."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from fastcube.algorithms.broadcasting import broadcast
from fastcube.engine.claims import Effort, Verdict, Witness

from .cases import Toward, World, checked_range, climbed, hunted, hunted_range, worlds
from .claims import ledger

#: What is wrong with a broadcast from a node: (words, a Python expression in which ``b`` is the broadcast).
Wrong = tuple[str, str] | None
Check = Callable[[World, int], Wrong]


def _witness(world: World, s: int, algorithm: str, wrong: tuple[str, str]) -> Witness:
    cube = world.cube
    data = {
        "n": cube.n,
        "faulty_nodes": sorted(int(x) for x in cube.faulty_nodes),  # type: ignore[union-attr]
        "faulty_links": sorted(list(link) for link in cube.faulty_links),
        "s": s,
    }
    python = f"(lambda b: {wrong[1]})(fc.broadcast(fc.{cube.source()}, {s}, algorithm='{algorithm}'))"
    return Witness.of(wrong[0], python, data)


def _range(effort: Effort, links: bool = False) -> str:
    return checked_range(effort, links).replace("messages", "broadcasts")


def _units_and_missed(algorithm: str) -> Toward:
    """Units that a broadcast takes, and nonfaulty nodes that it misses."""

    def units(world: World, s: int, _: int) -> int:
        found = broadcast(world.cube, s, algorithm)
        nonfaulty = 2**world.cube.n - len(world.cube.faulty_nodes)  # type: ignore[arg-type]
        return int(found.steps + nonfaulty - found.reached)

    return units


def _decide(effort: Effort, algorithm: str, check: Check, links: bool = False,
            applies: Callable[[World], bool] = lambda world: world.safe) -> Verdict:  # fmt: skip
    """Refuted by the first broadcast that ``check`` finds wrong in a world that the claim ``applies`` to."""
    for world in effort.each(worlds(effort, links)):
        if applies(world) and (wrong := check(world, 0)):
            return Verdict(
                "refuted",
                f"in the order of n and of the faults; {_range(effort, links)}",
                _witness(world, 0, algorithm, wrong),
            )
    where = _range(effort, links)
    if not links:
        cases = itertools.chain(hunted(effort), climbed(effort, applies, _units_and_missed(algorithm)))
        for world, s, _ in effort.each(cases, "hunting"):
            if applies(world) and (wrong := check(world, s)):
                return Verdict("refuted", f"holds for {where}; hunted above", _witness(world, s, algorithm, wrong))
        where += f"; {hunted_range(effort, 'broadcasts')}"
    return Verdict("holds", where)


def _all_within(world: World, s: int, algorithm: str, units: int) -> Wrong:
    found = broadcast(world.cube, s, algorithm)
    nonfaulty = 2**world.cube.n - len(world.cube.faulty_nodes)  # type: ignore[arg-type]
    if found.reached == nonfaulty and found.steps <= units:
        return None
    return (
        f"{algorithm} reaches {found.reached} of {nonfaulty} nonfaulty nodes in {found.steps} units",
        "[b.reached, b.steps]",
    )


@ledger.claim(
    "theorem-5",
    where="section 4, Theorem 5",
    states=(
        "BROADCAST1(1) broadcasts a message from an active node to all non-faulty nodes in n time units, provided that Q_n is "
        "not an unsafe cube [within n units]."
    ),
)
def theorem_5(effort: Effort) -> Verdict:
    """All active sources."""

    def check(world: World, s: int) -> Wrong:
        return _all_within(world, s, "BROADCAST1", world.cube.n) if world.part(s) is None else None

    return _decide(effort, "BROADCAST1", check)


@ledger.claim(
    "theorem-6",
    where="section 4, Theorem 6",
    states=(
        "BROADCAST2(1) broadcasts a message from any non-faulty node to all non-faulty nodes within n+1 time units, provided "
        "that Q_n is not an unsafe cube."
    ),
)
def theorem_6(effort: Effort) -> Verdict:
    """All nonfaulty sources."""
    return _decide(effort, "BROADCAST2", lambda w, s: _all_within(w, s, "BROADCAST2", w.cube.n + 1))


@ledger.claim(
    "theorem-6-attained",
    where="section 4, Theorem 6",
    states="[Some broadcast by BROADCAST2(1) takes n+1 time units, Q_n being not unsafe.]",
    ours=True,
)
def theorem_6_attained(effort: Effort) -> Verdict:
    """The first broadcast of n + 1 units."""
    for world in effort.each(worlds(effort)):
        if world.safe:
            found = broadcast(world.cube, 0, "BROADCAST2")
            if found.steps == world.cube.n + 1:
                words = (f"{found.steps} units in Q_{world.cube.n}", "b.steps")
                return Verdict(
                    "holds", "the first in the order of n and of the faults", _witness(world, 0, "BROADCAST2", words)
                )
    return Verdict("undecided", f"none in {_range(effort)}")


def _twice(algorithm: str) -> Check:
    def check(world: World, s: int) -> Wrong:
        targets = [v for _, _, v in broadcast(world.cube, s, algorithm).sends]
        if len(targets) == len(set(targets)) and s not in targets:
            return None
        return "a node receives twice", "[v for _, _, v in b.sends]"

    return check


@ledger.claim(
    "no-node-twice",
    where="section 4",
    states="[No node receives the message twice in BROADCAST2(1), nor is it sent back to the source.]",
    ours=True,
)
def no_node_twice(effort: Effort) -> Verdict:
    """The receivers of all copies."""
    return _decide(effort, "BROADCAST2", _twice("BROADCAST2"))


@ledger.claim(
    "unsafe-nodes-are-silent",
    where="section 4",
    states=(
        "In this arrangement, no unsafe nodes have to transmit messages since they receive the all-0 control word "
        "[BROADCAST1(1) from an active source, Q_n not unsafe]."
    ),
)
def unsafe_nodes_are_silent(effort: Effort) -> Verdict:
    """The senders of all copies."""

    def check(world: World, s: int) -> Wrong:
        if world.part(s) is not None:
            return None
        senders = {u for _, u, _ in broadcast(world.cube, s, "BROADCAST1").sends}
        if all(world.part(u) is None for u in senders):
            return None
        return "an unsafe node transmits", "sorted({u for _, u, _ in b.sends})"

    return _decide(effort, "BROADCAST1", check)


@ledger.claim(
    "theorem-6-links",
    where="section 5",
    states=(
        "BROADCAST2(1) does not permit unsafe nodes to send out messages to its unsafe neighbors. Hence no messages can pass "
        "through faulty links, so Theorem 6 can also be directly extended to hypercubes with link failures."
    ),
)
def theorem_6_links(effort: Effort) -> Verdict:
    """All nonfaulty sources, with faulty links."""
    return _decide(effort, "BROADCAST2", lambda w, s: _all_within(w, s, "BROADCAST2", w.cube.n + 1), links=True)


def _sufficient(ident: str, where: str, states: str, most: Callable[[int], int]) -> None:
    @ledger.claim(ident, where=where, states=states)
    def sufficient(effort: Effort) -> Verdict:
        """All broadcasts with so few faults, whether Q_n is unsafe or not."""

        def few(world: World) -> bool:
            return len(world.cube.faulty_nodes) <= most(world.cube.n)  # type: ignore[arg-type]

        return _decide(effort, "BROADCAST2", lambda w, s: _all_within(w, s, "BROADCAST2", w.cube.n + 1), applies=few)


_sufficient(
    "floor-half-faults-broadcasting",
    "section 3.2",
    "[A sufficient condition for Theorem 6 is that the number of faulty nodes be no more than floor(n/2).]",
    lambda n: n // 2,
)
_sufficient(
    "ceil-half-faults-broadcasting",
    "section 5",
    "When the number of faulty nodes in Q_n is no greater than ceil(n/2), broadcasting can be achieved within n + 1 time units.",
    lambda n: -(-n // 2),
)
