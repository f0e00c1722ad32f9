"""Claims of Lee & Hayes (1988) about broadcasting: section 4, and its extension to faulty links in section 5.

A ``World`` is a hypercube with faults.  A node is *active* if it is neither faulty nor unsafe.  The *units* of a broadcast are
its time steps.  Each check function looks at one broadcast, from node s of a world, and returns a counterexample, or None if the
claim holds there.  Where all fault sets are tried, s is node 0, to which translations map every source.  Random cases have random
sources.  A counterexample has Python code, in which ``b`` is the broadcast.
"""

from collections.abc import Mapping
from dataclasses import replace

from fastcube.algorithms.broadcasting import broadcast
from fastcube.networks.hypercube import Hypercube

from ...claims import Counterexample, Effort, sizes
from ...cubes import cube_data
from . import small_cubes
from .registry import registry
from .searches import Attained, Search
from .worlds import SAFE, Objective, World


def _broadcast_counterexample(algorithm: str, world: World, s: int, description: str, python: str) -> Counterexample:
    """Return a broadcast, which is called ``b`` in the expression, as a counterexample."""
    line = f"b = fc.broadcast(fc.{world.cube.source()}, {s}, algorithm='{algorithm}')"
    return Counterexample.of(description, f"{line}\n{python}", cube_data(world.cube, s=s))


def _units_and_missed(algorithm: str) -> Objective:
    """Return the objective of a search: units of a broadcast plus the number of nonfaulty nodes that it misses."""

    def units(world: World, s: int, _: int) -> int:
        found = broadcast(world.cube, s, algorithm)
        nonfaulty = 2**world.cube.n - world.f
        return int(found.steps + nonfaulty - found.reached)

    return units


def _search_broadcasts(algorithm: str) -> Search:
    """Return the search over broadcasts in cubes with an active node, at random toward long ones and ones that miss nodes."""
    return Search(
        "broadcasts",
        "in the order of n and of the faults",
        lambda world: ((0, 0),),
        _units_and_missed(algorithm),
        within=SAFE,
    )


def _is_from_active(world: World, s: int, _: int) -> bool:
    return world.is_active(s)


BROADCASTS_1, BROADCASTS_2 = _search_broadcasts("BROADCAST1"), _search_broadcasts("BROADCAST2")

#: Broadcasts by BROADCAST1(1) from active nodes.
BROADCASTS_FROM_ACTIVE = replace(BROADCASTS_1, applies=_is_from_active)


def _check_all_within(world: World, s: int, algorithm: str, units: int) -> Counterexample | None:
    """Check that a broadcast reaches all nonfaulty nodes within so many units."""
    found = broadcast(world.cube, s, algorithm)
    nonfaulty = 2**world.cube.n - world.f
    if found.reached == nonfaulty and found.steps <= units:
        return None
    description = f"{algorithm} reaches {found.reached} of {nonfaulty} nonfaulty nodes in {found.steps} units"
    return _broadcast_counterexample(algorithm, world, s, description, "[b.reached, b.steps]")


def _count_broadcasts_1(effort: Effort) -> small_cubes.CountedRange:
    def is_sound(_: int, counts: Mapping[str, int], __: Mapping[str, int]) -> bool:
        return counts["broadcast1_complete"] == counts["broadcast1_trials"]

    text, suspects = small_cubes.count_broadcasts(effort, is_sound, "broadcast1_trials")
    return text and f"{text}, where it was counted that all are reached, not in which unit", suspects


def _count_broadcasts_2(effort: Effort) -> small_cubes.CountedRange:
    def is_sound(n: int, counts: Mapping[str, int], most: Mapping[str, int]) -> bool:
        return counts["broadcast2_complete"] == counts["broadcast2_trials"] and most["broadcast2_steps"] <= n + 1

    return small_cubes.count_broadcasts(effort, is_sound, "broadcast2_trials")


@registry.forall(
    "theorem-5",
    replace(BROADCASTS_FROM_ACTIVE, more=_count_broadcasts_1),
    where="section 4, Theorem 5",
    states=(
        "Where Q_n is not unsafe, n >= 1, BROADCAST1(1) takes a message from any active node to all nonfaulty ones within n "
        "units."
    ),
)
def theorem_5(world: World, s: int, _: int) -> Counterexample | None:
    """Check that BROADCAST1(1) reaches all nonfaulty nodes within n units from s."""
    return _check_all_within(world, s, "BROADCAST1", world.cube.n)


@registry.forall(
    "theorem-6",
    replace(BROADCASTS_2, more=_count_broadcasts_2),
    where="section 4, Theorem 6",
    states=(
        "Where Q_n is not unsafe, n >= 1, BROADCAST2(1) takes a message from any nonfaulty node to all others within n + 1 units."
    ),
)
def theorem_6(world: World, s: int, _: int) -> Counterexample | None:
    """Check that BROADCAST2(1) reaches all nonfaulty nodes within n + 1 units from s."""
    return _check_all_within(world, s, "BROADCAST2", world.cube.n + 1)


@registry.forall(
    "theorem-6-attained",
    Attained(BROADCASTS_2, BROADCASTS_2.order),
    where="section 4, Theorem 6",
    states="[Where Q_n is not unsafe some broadcast by BROADCAST2(1) takes n + 1 units.]",
    added=True,
)
def theorem_6_attained(world: World, s: int, _: int) -> Counterexample | None:
    """Find the first broadcast of n + 1 units."""
    n = world.cube.n
    if broadcast(world.cube, s, "BROADCAST2").steps != n + 1:
        return None
    return _broadcast_counterexample("BROADCAST2", world, s, f"{n + 1} units in Q_{n}", "b.steps")


@registry.forall(
    "no-node-twice",
    BROADCASTS_2,
    where="section 4",
    states="[No node receives the message twice in BROADCAST2(1), nor is it sent back to the source.]",
    added=True,
)
def no_node_twice(world: World, s: int, _: int) -> Counterexample | None:
    """Check that no copy of BROADCAST2(1) goes to a node that has the message."""
    targets = [v for _, _, v in broadcast(world.cube, s, "BROADCAST2").sends]
    if len(targets) == len(set(targets)) and s not in targets:
        return None
    return _broadcast_counterexample("BROADCAST2", world, s, "a node receives twice", "[v for _, _, v in b.sends]")


@registry.forall(
    "broadcast1-plain",
    sizes(1, 10, 8, "Q_1, ..., Q_{}"),
    where="section 4",
    states="Without a fault BROADCAST1(1) sends what BROADCAST sends, copy by copy, in Q_n, n >= 1.",
)
def broadcast1_plain(n: int) -> Counterexample | None:
    """Compare all copies of BROADCAST1(1) and BROADCAST from node 0; translations map every source to it."""
    python = f"[fc.broadcast(fc.Hypercube({n}), 0, algorithm=a).sends for a in ('BROADCAST', 'BROADCAST1')]"
    one, other = (broadcast(Hypercube(n), 0, name).sends for name in ("BROADCAST", "BROADCAST1"))
    return None if one == other else Counterexample.of("copies (time, from, to) of both", python, {"n": n, "s": 0})


@registry.forall(
    "broadcast2-active",
    replace(BROADCASTS_2, applies=_is_from_active),
    where="section 4",
    states="From an active node BROADCAST2(1) sends what BROADCAST1(1) sends, copy by copy, in Q_n, n >= 1.",
)
def broadcast2_active(world: World, s: int, _: int) -> Counterexample | None:
    """Compare all copies of BROADCAST1(1) and BROADCAST2(1) from active nodes."""
    one, other = (broadcast(world.cube, s, name).sends for name in ("BROADCAST1", "BROADCAST2"))
    if one == other:
        return None
    description = "copies (time, from, to) of BROADCAST2(1)"
    return _broadcast_counterexample("BROADCAST2", world, s, description, "[list(send) for send in b.sends]")


@registry.forall(
    "unsafe-served-last",
    BROADCASTS_FROM_ACTIVE,
    where="section 4",
    states=(
        "In BROADCAST1(1) from an active node, where Q_n is not unsafe, n >= 1, a node that sends to an unsafe neighbour "
        "sends to it last."
    ),
)
def unsafe_served_last(world: World, s: int, _: int) -> Counterexample | None:
    """Check that no node sends a further copy of BROADCAST1(1) after a copy to an unsafe neighbour."""
    last: dict[int, int] = {}
    for _, u, v in sorted(broadcast(world.cube, s, "BROADCAST1").sends):
        if u in last and not world.is_active(last[u]):
            description = f"{world.cube.label(u)} sends on after its unsafe neighbour"
            python = "[list(send) for send in sorted(b.sends)]"
            return _broadcast_counterexample("BROADCAST1", world, s, description, python)
        last[u] = v
    return None


@registry.forall(
    "unsafe-nodes-are-silent",
    BROADCASTS_FROM_ACTIVE,
    where="section 4",
    states=(
        "In BROADCAST1(1) from an active node no unsafe node sends a copy, where Q_n is not unsafe, n >= 1: the CONTROL that it "
        "receives is 0."
    ),
)
def unsafe_nodes_are_silent(world: World, s: int, _: int) -> Counterexample | None:
    """Check that no sender of a copy of BROADCAST1(1) is unsafe."""
    senders = {u for _, u, _ in broadcast(world.cube, s, "BROADCAST1").sends}
    if all(map(world.is_active, senders)):
        return None
    python = "sorted({u for _, u, _ in b.sends})"
    return _broadcast_counterexample("BROADCAST1", world, s, "an unsafe node sends", python)


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
    added=True,
)(theorem_6)
registry.forall(
    "ceil-half-faults-broadcasting",
    replace(BROADCASTS_2, within=lambda world: world.f <= -(-world.cube.n // 2)),
    where="section 5",
    states="At most ceil(n/2) faulty nodes are enough for the bound of Theorem 6, n >= 1.",
)(theorem_6)
