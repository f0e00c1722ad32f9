"""Claims of Lee & Hayes (1988) about broadcasting: section 4, and its extension to faulty links in section 5."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from fastcube.algorithms.broadcasting import broadcast
from fastcube.networks.hypercube import Hypercube

from ...claims import Effort, Witness, sizes
from ...cubes import cube_data
from . import small_cubes
from .cases import SAFE, Attained, CheckResult, Objective, Search, World
from .registry import registry


def _witness(algorithm: str, world: World, s: int, _: int, wrong: tuple[str, ...]) -> Witness:
    words, python = wrong
    call = f"fc.broadcast(fc.{world.cube.source()}, {s}, algorithm='{algorithm}')"
    return Witness.of(words, f"(lambda b: {python})({call})", cube_data(world.cube, s=s))


def _units_and_missed(algorithm: str) -> Objective:
    """Return the objective of a search: units of a broadcast plus the number of nonfaulty nodes that it misses."""

    def units(world: World, s: int, _: int) -> int:
        found = broadcast(world.cube, s, algorithm)
        nonfaulty = 2**world.cube.n - world.f
        return int(found.steps + nonfaulty - found.reached)

    return units


def _search_broadcasts(algorithm: str) -> Search:
    """Return the search over broadcasts from node 0 with an active node, toward long ones and ones that miss nodes."""
    return Search(
        "broadcasts",
        "in the order of n and of the faults",
        lambda world: ((0, 0),),
        partial(_witness, algorithm),
        _units_and_missed(algorithm),
        within=SAFE,
    )


BROADCASTS_1, BROADCASTS_2 = _search_broadcasts("BROADCAST1"), _search_broadcasts("BROADCAST2")


def _check_all_within(world: World, s: int, algorithm: str, units: int) -> CheckResult:
    found = broadcast(world.cube, s, algorithm)
    nonfaulty = 2**world.cube.n - world.f
    if found.reached == nonfaulty and found.steps <= units:
        return True
    return (
        f"{algorithm} reaches {found.reached} of {nonfaulty} nonfaulty nodes in {found.steps} units",
        "[b.reached, b.steps]",
    )


def _count_broadcasts_1(effort: Effort) -> small_cubes.CountedRange:
    def is_sound(_: int, counts: Mapping[str, int], __: Mapping[str, int]) -> bool:
        return counts["broadcast1_complete"] == counts["broadcast1_trials"]

    words, suspects = small_cubes.broadcasts(effort, is_sound, "broadcast1_trials")
    return words and f"{words}, where it was counted that all are reached, not in which unit", suspects


def _count_broadcasts_2(effort: Effort) -> small_cubes.CountedRange:
    def is_sound(n: int, counts: Mapping[str, int], most: Mapping[str, int]) -> bool:
        return counts["broadcast2_complete"] == counts["broadcast2_trials"] and most["broadcast2_steps"] <= n + 1

    return small_cubes.broadcasts(effort, is_sound, "broadcast2_trials")


@registry.forall(
    "theorem-5",
    replace(BROADCASTS_1, more=_count_broadcasts_1),
    where="section 4, Theorem 5",
    states=(
        "Where Q_n is not unsafe, n >= 1, BROADCAST1(1) takes a message from any active node to all nonfaulty ones within n "
        "units."
    ),
)
def theorem_5(world: World, s: int, _: int) -> CheckResult:
    """Check that BROADCAST1(1) reaches all nonfaulty nodes within n units, from all active sources."""
    return world.part(s) is None and _check_all_within(world, s, "BROADCAST1", world.cube.n)


@registry.forall(
    "theorem-6",
    replace(BROADCASTS_2, more=_count_broadcasts_2),
    where="section 4, Theorem 6",
    states=(
        "Where Q_n is not unsafe, n >= 1, BROADCAST2(1) takes a message from any nonfaulty node to all others within n + 1 units."
    ),
)
def theorem_6(world: World, s: int, _: int) -> CheckResult:
    """Check that BROADCAST2(1) reaches all nonfaulty nodes within n + 1 units, from all nonfaulty sources."""
    return _check_all_within(world, s, "BROADCAST2", world.cube.n + 1)


@registry.forall(
    "theorem-6-attained",
    Attained(BROADCASTS_2, BROADCASTS_2.order),
    where="section 4, Theorem 6",
    states="[Where Q_n is not unsafe some broadcast by BROADCAST2(1) takes n + 1 units.]",
    ours=True,
)
def theorem_6_attained(world: World, s: int, _: int) -> CheckResult:
    """Find the first broadcast of n + 1 units."""
    n = world.cube.n
    late = world.safe and broadcast(world.cube, s, "BROADCAST2").steps == n + 1
    return (f"{n + 1} units in Q_{n}", "b.steps") if late else world.safe


@registry.forall(
    "no-node-twice",
    BROADCASTS_2,
    where="section 4",
    states="[No node receives the message twice in BROADCAST2(1), nor is it sent back to the source.]",
    ours=True,
)
def no_node_twice(world: World, s: int, _: int) -> CheckResult:
    """Check that no copy of BROADCAST2(1) goes to a node that has the message."""
    targets = [v for _, _, v in broadcast(world.cube, s, "BROADCAST2").sends]
    once = len(targets) == len(set(targets)) and s not in targets
    return once or ("a node receives twice", "[v for _, _, v in b.sends]")


@registry.forall(
    "broadcast1-plain",
    sizes(1, 10, 8, "Q_1, ..., Q_{}"),
    where="section 4",
    states="Without a fault BROADCAST1(1) sends what BROADCAST sends, copy by copy, in Q_n, n >= 1.",
)
def broadcast1_plain(n: int) -> Witness | None:
    """Compare all copies of BROADCAST1(1) and BROADCAST from node 0; translations map every source to it."""
    python = f"[fc.broadcast(fc.Hypercube({n}), 0, algorithm=a).sends for a in ('BROADCAST', 'BROADCAST1')]"
    one, other = (broadcast(Hypercube(n), 0, name).sends for name in ("BROADCAST", "BROADCAST1"))
    return None if one == other else Witness.of("copies (time, from, to) of both", python, {"n": n, "s": 0})


@registry.forall(
    "broadcast2-active",
    BROADCASTS_2,
    where="section 4",
    states="From an active node BROADCAST2(1) sends what BROADCAST1(1) sends, copy by copy, in Q_n, n >= 1.",
)
def broadcast2_active(world: World, s: int, _: int) -> CheckResult:
    """Compare all copies of BROADCAST1(1) and BROADCAST2(1) from active nodes."""
    if world.part(s) is not None:
        return False
    one, other = (broadcast(world.cube, s, name).sends for name in ("BROADCAST1", "BROADCAST2"))
    return one == other or ("copies (time, from, to) of BROADCAST2(1)", "[list(send) for send in b.sends]")


@registry.forall(
    "unsafe-served-last",
    BROADCASTS_1,
    where="section 4",
    states=(
        "In BROADCAST1(1) from an active node, where Q_n is not unsafe, n >= 1, a node that sends to an unsafe neighbour "
        "sends to it last."
    ),
)
def unsafe_served_last(world: World, s: int, _: int) -> CheckResult:
    """Check that the last copy of each node of BROADCAST1(1) is the copy to its unsafe neighbour, if it has one."""
    if world.part(s) is not None:
        return False
    last: dict[int, int] = {}
    for _, u, v in sorted(broadcast(world.cube, s, "BROADCAST1").sends):
        if u in last and world.part(last[u]) is not None:
            return f"{u} sends on after its unsafe neighbour", "[list(send) for send in sorted(b.sends)]"
        last[u] = v
    return True


@registry.forall(
    "unsafe-nodes-are-silent",
    BROADCASTS_1,
    where="section 4",
    states=(
        "In BROADCAST1(1) from an active node no unsafe node sends a copy, where Q_n is not unsafe, n >= 1: the CONTROL that it "
        "receives is 0."
    ),
)
def unsafe_nodes_are_silent(world: World, s: int, _: int) -> CheckResult:
    """Check that no sender of a copy of BROADCAST1(1) is unsafe."""
    if world.part(s) is not None:
        return False
    senders = {u for _, u, _ in broadcast(world.cube, s, "BROADCAST1").sends}
    silent = all(world.part(u) is None for u in senders)
    return silent or ("an unsafe node sends", "sorted({u for _, u, _ in b.sends})")


registry.forall(
    "theorem-6-links",
    replace(BROADCASTS_2, links=True),
    where="section 5",
    states="Theorem 6 holds with faulty links too, whose ends are unsafe: no copy goes over a faulty link; n >= 1.",
)(theorem_6)
registry.forall(
    "floor-half-faults-broadcasting",
    replace(BROADCASTS_2, within=lambda world: world.f <= world.cube.n // 2),
    where="section 3.2",
    states="[At most floor(n/2) faulty nodes are enough for the bound of Theorem 6, n >= 1.]",
    ours=True,
)(theorem_6)
registry.forall(
    "ceil-half-faults-broadcasting",
    replace(BROADCASTS_2, within=lambda world: world.f <= -(-world.cube.n // 2)),
    where="section 5",
    states="At most ceil(n/2) faulty nodes are enough for the bound of Theorem 6, n >= 1.",
)(theorem_6)
