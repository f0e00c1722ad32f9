"""Claims of Lee & Hayes (1988) about broadcasting: section 4, and its extension to faulty links in section 5."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from fastcube.algorithms.broadcasting import broadcast
from fastcube.audit.claims import Effort, Verdict, Witness
from fastcube.audit.cubes import cube_data
from fastcube.networks.hypercube import Hypercube

from . import small_cubes
from .cases import BROADCASTS, SAFE, CheckResult, Objective, World, decide_attained, decide_by_search
from .registry import registry

#: What a claim says of a broadcast from a node; in the expression ``b`` is the broadcast.
Check = Callable[[World, int], CheckResult]


def _witness(algorithm: str, world: World, s: int, _: int, wrong: tuple[str, ...]) -> Witness:
    words, python = wrong
    call = f"fc.broadcast(fc.{world.cube.source()}, {s}, algorithm='{algorithm}')"
    return Witness.of(words, f"(lambda b: {python})({call})", cube_data(world.cube, s=s))


def _units_and_missed(algorithm: str) -> Objective:
    """Units that a broadcast takes, and nonfaulty nodes that it misses."""

    def units(world: World, s: int, _: int) -> int:
        found = broadcast(world.cube, s, algorithm)
        nonfaulty = 2**world.cube.n - world.f
        return int(found.steps + nonfaulty - found.reached)

    return units


def _decide_broadcasts(
    effort: Effort,
    algorithm: str,
    check: Check,
    links: bool = False,
    within: Callable[[World], bool] = SAFE,
    more: small_cubes.CountedRange = ("", ()),
    active: bool = False,
) -> Verdict:
    """Refuted by the first broadcast that ``check`` finds wrong in a world that is ``within`` the claim's hypothesis.

    The sources may be the ``active`` ones alone.
    """
    return decide_by_search(
        effort,
        BROADCASTS,
        lambda world, s, _: (not active or world.part(s) is None) and check(world, s),
        partial(_witness, algorithm),
        _units_and_missed(algorithm),
        links,
        within,
        more,
    )


def _check_all_within(world: World, s: int, algorithm: str, units: int) -> CheckResult:
    found = broadcast(world.cube, s, algorithm)
    nonfaulty = 2**world.cube.n - world.f
    if found.reached == nonfaulty and found.steps <= units:
        return True
    return (
        f"{algorithm} reaches {found.reached} of {nonfaulty} nonfaulty nodes in {found.steps} units",
        "[b.reached, b.steps]",
    )


def _check_theorem_6_bound(world: World, s: int) -> CheckResult:
    """The bound of Theorem 6."""
    return _check_all_within(world, s, "BROADCAST2", world.cube.n + 1)


@registry.claim(
    "theorem-5",
    where="section 4, Theorem 5",
    states=(
        "Where Q_n is not unsafe, n >= 1, BROADCAST1(1) takes a message from any active node to all nonfaulty ones within n "
        "units."
    ),
)
def theorem_5(effort: Effort) -> Verdict:
    """All active sources."""

    def is_sound(_: int, counts: Mapping[str, int], __: Mapping[str, int]) -> bool:
        return counts["broadcast1_complete"] == counts["broadcast1_trials"]

    words, suspects = small_cubes.broadcasts(effort, is_sound, "broadcast1_trials")
    return _decide_broadcasts(
        effort,
        "BROADCAST1",
        lambda world, s: _check_all_within(world, s, "BROADCAST1", world.cube.n),
        active=True,
        more=(words and f"{words}, where it was counted that all are reached, not in which unit", suspects),
    )


@registry.claim(
    "theorem-6",
    where="section 4, Theorem 6",
    states=(
        "Where Q_n is not unsafe, n >= 1, BROADCAST2(1) takes a message from any nonfaulty node to all others within n + 1 units."
    ),
)
def theorem_6(effort: Effort) -> Verdict:
    """All nonfaulty sources."""

    def is_sound(n: int, counts: Mapping[str, int], most: Mapping[str, int]) -> bool:
        return counts["broadcast2_complete"] == counts["broadcast2_trials"] and most["broadcast2_steps"] <= n + 1

    more = small_cubes.broadcasts(effort, is_sound, "broadcast2_trials")
    return _decide_broadcasts(effort, "BROADCAST2", _check_theorem_6_bound, more=more)


@registry.claim(
    "theorem-6-attained",
    where="section 4, Theorem 6",
    states="[Where Q_n is not unsafe some broadcast by BROADCAST2(1) takes n + 1 units.]",
    ours=True,
)
def theorem_6_attained(effort: Effort) -> Verdict:
    """The first broadcast of n + 1 units."""

    def check_broadcast(world: World, s: int, _: int) -> CheckResult:
        n = world.cube.n
        late = world.safe and broadcast(world.cube, s, "BROADCAST2").steps == n + 1
        return (f"{n + 1} units in Q_{n}", "b.steps") if late else world.safe

    return decide_attained(effort, BROADCASTS, check_broadcast, partial(_witness, "BROADCAST2"), BROADCASTS.order)


@registry.claim(
    "no-node-twice",
    where="section 4",
    states="[No node receives the message twice in BROADCAST2(1), nor is it sent back to the source.]",
    ours=True,
)
def no_node_twice(effort: Effort) -> Verdict:
    """The receivers of all copies."""

    def check_broadcast(world: World, s: int) -> CheckResult:
        targets = [v for _, _, v in broadcast(world.cube, s, "BROADCAST2").sends]
        once = len(targets) == len(set(targets)) and s not in targets
        return once or ("a node receives twice", "[v for _, _, v in b.sends]")

    return _decide_broadcasts(effort, "BROADCAST2", check_broadcast)


@registry.claim(
    "broadcast1-plain",
    where="section 4",
    states="Without a fault BROADCAST1(1) sends what BROADCAST sends, copy by copy, in Q_n, n >= 1.",
)
def broadcast1_plain(effort: Effort) -> Verdict:
    """All copies from node 0; translations carry every source to it."""
    most = effort.by_effort(full=10, quick=8)

    def wrong(n: int) -> Witness | None:
        python = f"[fc.broadcast(fc.Hypercube({n}), 0, algorithm=a).sends for a in ('BROADCAST', 'BROADCAST1')]"
        one, other = (broadcast(Hypercube(n), 0, name).sends for name in ("BROADCAST", "BROADCAST1"))
        return None if one == other else Witness.of("copies (time, from, to) of both", python, {"n": n, "s": 0})

    return Verdict.refuted_if(effort.first(range(1, most + 1), wrong), f"Q_1, ..., Q_{most}")


@registry.claim(
    "broadcast2-active",
    where="section 4",
    states="From an active node BROADCAST2(1) sends what BROADCAST1(1) sends, copy by copy, in Q_n, n >= 1.",
)
def broadcast2_active(effort: Effort) -> Verdict:
    """All copies from active nodes."""

    def check_broadcast(world: World, s: int) -> CheckResult:
        one, other = (broadcast(world.cube, s, name).sends for name in ("BROADCAST1", "BROADCAST2"))
        return one == other or ("copies (time, from, to) of BROADCAST2(1)", "[list(send) for send in b.sends]")

    return _decide_broadcasts(effort, "BROADCAST2", check_broadcast, active=True)


@registry.claim(
    "unsafe-served-last",
    where="section 4",
    states=(
        "In BROADCAST1(1) from an active node, where Q_n is not unsafe, n >= 1, a node that sends to an unsafe neighbour "
        "sends to it last."
    ),
)
def unsafe_served_last(effort: Effort) -> Verdict:
    """The receivers of each node's copies, in their order."""

    def check_broadcast(world: World, s: int) -> CheckResult:
        last: dict[int, int] = {}
        for _, u, v in sorted(broadcast(world.cube, s, "BROADCAST1").sends):
            if u in last and world.part(last[u]) is not None:
                return f"{u} sends on after its unsafe neighbour", "[list(send) for send in sorted(b.sends)]"
            last[u] = v
        return True

    return _decide_broadcasts(effort, "BROADCAST1", check_broadcast, active=True)


@registry.claim(
    "unsafe-nodes-are-silent",
    where="section 4",
    states=(
        "In BROADCAST1(1) from an active node no unsafe node sends a copy, where Q_n is not unsafe, n >= 1: the CONTROL that it "
        "receives is 0."
    ),
)
def unsafe_nodes_are_silent(effort: Effort) -> Verdict:
    """The senders of all copies."""

    def check_broadcast(world: World, s: int) -> CheckResult:
        senders = {u for _, u, _ in broadcast(world.cube, s, "BROADCAST1").sends}
        silent = all(world.part(u) is None for u in senders)
        return silent or ("an unsafe node sends", "sorted({u for _, u, _ in b.sends})")

    return _decide_broadcasts(effort, "BROADCAST1", check_broadcast, active=True)


@registry.claim(
    "theorem-6-links",
    where="section 5",
    states="Theorem 6 holds with faulty links too, whose ends are unsafe: no copy goes over a faulty link; n >= 1.",
)
def theorem_6_links(effort: Effort) -> Verdict:
    """All nonfaulty sources, with faulty links."""
    return _decide_broadcasts(effort, "BROADCAST2", _check_theorem_6_bound, links=True)


def _claim_sufficient(ident: str, where: str, states: str, most: Callable[[int], int], ours: bool = False) -> None:
    @registry.claim(ident, where=where, states=states, ours=ours)
    def sufficient(effort: Effort) -> Verdict:
        """All broadcasts with so few faults, whether Q_n is unsafe or not."""
        return _decide_broadcasts(
            effort, "BROADCAST2", _check_theorem_6_bound, within=lambda world: world.f <= most(world.cube.n)
        )


_claim_sufficient(
    "floor-half-faults-broadcasting",
    "section 3.2",
    "[At most floor(n/2) faulty nodes are enough for the bound of Theorem 6, n >= 1.]",
    lambda n: n // 2,
    ours=True,
)
_claim_sufficient(
    "ceil-half-faults-broadcasting",
    "section 5",
    "At most ceil(n/2) faulty nodes are enough for the bound of Theorem 6, n >= 1.",
    lambda n: -(-n // 2),
)
