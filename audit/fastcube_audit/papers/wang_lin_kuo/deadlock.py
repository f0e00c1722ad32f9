"""Claims on deadlock: Theorem 2 under three interpretations, and its correction by a second virtual channel."""

import itertools
import random
from collections import Counter
from collections.abc import Iterator

from fastcube.algorithms.channel_dependencies import Channel, dependency_cycle
from fastcube.algorithms.multicasting import PATHS
from fastcube.algorithms.partition import Pair, Supercube, two_partition
from fastcube.networks.hypercube import Hypercube
from fastcube.studies.wang_lin_kuo.channels import MULTICAST
from fastcube.studies.wang_lin_kuo.deadlock_search import Message, deadlocking_messages

from ...claims import Cases, Counterexample, Effort, Verdict, check_agreement
from .figures_15_16 import buddy_choices, buddy_rules, has_cycle
from .partition import cube_data
from .registry import registry

#: Two multicasts that deadlock in Q_3 without a fault, with one virtual channel or two.  The first needs at 110, the second at
#: 111, the channel inside the supernode and a branch at the same time.
BRANCHES: tuple[Message, ...] = ((2, [4, 5]), (3, [4, 5]))

_THEOREM_2 = "No messages of the multicasts of Figures 16 and 17 wait for one another for ever in Q_n, n >= 3"


def _deadlock_counterexample(cube: Hypercube, messages: list[Message], copies: int) -> Counterexample:
    """Return a counterexample: messages that deadlock in the simulation."""
    sent = "; ".join(f"{cube.label(s)} to {', '.join(map(cube.label, d))}" for s, d in messages)
    python = f"fc.simulate_wormhole(fc.{cube.source()}, {messages}, virtual_channels={copies}).deadlocked"
    return Counterexample.of(
        f"{len(messages)} messages that deadlock: {sent}", python, cube_data(cube) | {"messages": messages}
    )


#: A path, and the rules by which D_H and D_L choose a buddy, which Figure 15 leaves open.
PathRule = tuple[str, tuple[str, str]]

_PATH_RULES = 8


def _first_cycles(
    effort: Effort, unicast: bool
) -> tuple[tuple[Hypercube, Pair, list[Channel]] | None, dict[PathRule, Hypercube]]:
    """Return the first fault set with a cycle under interpretation A6, and the first under each rule.

    The sets have at most n - 1 faults of Q_3 and Q_4, in order of n and size, until every rule has a cycle.
    """
    first, by_rule = None, dict[PathRule, Hypercube]()
    sets = ((n, faults) for n in (3, 4) for f in range(n) for faults in itertools.combinations(range(2**n), f))
    for n, faults in effort.each(sets, "fault sets"):
        cube = Hypercube(n, faults)
        pair = two_partition(cube, exhaustive=True)
        if not effort.count_if_applicable(pair is not None) or pair is None:
            continue
        if first is None and (cycle := dependency_cycle(cube, pair, 1, unicast)) is not None:
            first = cube, pair, cycle
        net = Supercube(n, frozenset(faults), pair)
        for path, (name, rule) in itertools.product(PATHS, buddy_rules(net).items()):
            if (path, name) not in by_rule and has_cycle(net, path, rule):
                by_rule[path, name] = cube
        if first is not None and len(by_rule) == _PATH_RULES:
            break
    if unicast:
        by_graph, by_paths = first and first[0], by_rule.get(("shortcut", ("lowest", "lowest")))
        check_agreement(
            by_graph, by_paths, "the first fault set with a cycle, by the graph of A14 and by the messages' paths"
        )
    return first, by_rule


def _smallest_cycle(effort: Effort, unicast: bool) -> Verdict:
    """Find the first fault set with a cycle, and few messages that deadlock on it; try all eight rules for paths and buddies.

    A buddy is the neighbour inside a supernode that sends on for a node whose neighbour outside is faulty (A6).
    """
    first, by_rule = _first_cycles(effort, unicast)
    if first is None:
        return Verdict("holds", "all sets of at most n - 1 faults of Q_3 and Q_4")
    cube, pair, cycle = first
    python = f"[list(c) for c in fc.dependency_cycle(fc.{cube.source()}, unicast={unicast})]"
    shortest = Counterexample.of("a shortest cycle of channels, each waiting for the next", python, cube_data(cube))
    f = len(cube.faulty_nodes)  # type: ignore[arg-type]
    checked = (
        f"all sets of at most {f - 1} fault{'s' * (f > 2)} of Q_{cube.n} have no cycle [P from A13]; the first set of {f} that "
        "has one; the lowest or the highest buddy, for D_H and for D_L each by itself, on both paths, are 8 ways: "
    )
    numbers = Counter(by_rule.values())
    results = [f"{number} have a cycle in {_faults_text(c)}" for c, number in numbers.items()]
    if len(by_rule) < _PATH_RULES:
        results.append(f"{_PATH_RULES - len(by_rule)} have none in Q_3 and Q_4")
        return Verdict("undecided", checked + ", ".join(results), shortest)
    net = Supercube(cube.n, cube.faulty_nodes, pair)  # type: ignore[arg-type]
    cyclic = [has_cycle(net, path, choice) for path in PATHS for choice in buddy_choices(net)]
    checked += (
        f"{', '.join(results)}; where each node chooses for itself, {sum(cyclic)} of the {len(cyclic)} choices of buddies and "
        f"of a path have a cycle in {_faults_text(cube)}"
    )
    messages = deadlocking_messages(cube, pair, cycle, 1, unicast).messages
    if messages is None:
        return Verdict("undecided", f"{checked}: no messages found that deadlock", shortest)
    return Verdict("refuted", checked, _deadlock_counterexample(cube, messages, 1), (shortest,))


def _faults_text(cube: Hypercube) -> str:
    return f"Q_{cube.n} with {' and '.join(map(cube.label, sorted(cube.faulty_nodes)))} faulty"  # type: ignore[arg-type]


@registry.claim(
    "theorem-2-unicast",
    where="section 4.2, Theorem 2",
    states=(
        f"{_THEOREM_2}, with at most n - 1 faults [one destination each; the buddy across the lowest or the highest internal "
        "dimension, for D_H and for D_L each by itself, on either path]."
    ),
    fact="theorem-2",
    correction=(
        "With at most one fault in Q_3 they do not. D_H and D_L share the channels inside the supernodes. With a second "
        "virtual channel there, for D_L, no cycle was found in any checked case (corrected-unicast)."
    ),
    group="cycles",
)
def theorem_2_unicast(effort: Effort) -> Verdict:
    """Find the smallest cube and fault set with a cycle, and messages that deadlock on it."""
    return _smallest_cycle(effort, True)


@registry.claim(
    "theorem-2-graph",
    where="section 4.2, Theorem 2",
    states=f"{_THEOREM_2}, with at most n - 1 faults [the channel dependency graph of all multicasts, A14, has no cycle].",
    fact="theorem-2",
    correction=(
        "With at most one fault in Q_3 it has none. D_H and D_L share the channels inside the supernodes. With a second "
        "virtual channel there, for D_L, no cycle was found in any checked case (corrected-graph)."
    ),
    group="cycles",
)
def theorem_2_graph(effort: Effort) -> Verdict:
    """Find the smallest cube and fault set with a cycle."""
    return _smallest_cycle(effort, False)


def _decide_replication(effort: Effort, copies: int) -> Verdict:
    """Simulate all pairs of multicasts with at most three destinations together in Q_3 without fault, then ``BRANCHES``."""
    cube = Hypercube(3)
    from fastcube.algorithms.wormhole import simulate_wormhole

    most = effort.by_effort(full=3, quick=2)
    tried = 0
    for total in range(2, most + 1):
        for first in range(1, total):
            for messages in effort.each(_multicast_pairs(first, total - first), "pairs of multicasts of Q_3"):
                tried += effort.count_if_applicable()
                if simulate_wormhole(cube, messages, None, copies).deadlocked:
                    return Verdict(
                        "refuted",
                        "pairs of multicasts of Q_3 by size",
                        _deadlock_counterexample(cube, messages, copies),
                    )
    found = _deadlock_counterexample(cube, list(BRANCHES), copies)
    checked = (
        f"none of the {tried:,} pairs of multicasts of the fault-free Q_3 with at most {most} destinations in all deadlocks; "
        "one with two each does"
    )
    return Verdict("refuted" if found.value else "undecided", checked, found)


def _multicast_pairs(first: int, second: int) -> Iterator[list[Message]]:
    for s, t in itertools.combinations(range(8), 2):
        for d in itertools.combinations([v for v in range(8) if v != s], first):
            for e in itertools.combinations([v for v in range(8) if v != t], second):
                yield [(s, list(d)), (t, list(e))]


@registry.claim(
    "theorem-2-replication",
    where="sections 2 and 4.2, Theorem 2",
    states=(
        f"{_THEOREM_2} [branches of a multicast replicate flit by flit, as section 2 assumes: it holds all its "
        "channels until all its branches have ended, A15]."
    ),
    correction=(
        "Two multicasts can in the fault-free Q_3, as Figure 17 is printed too, where both buddies are destinations: 010 to "
        "100, 101, 111 and 011 to 100, 101, 110. Messages to one destination each, with a second virtual channel, cannot "
        "in any checked case (corrected-unicast)."
    ),
    group="replication",
)
def theorem_2_replication(effort: Effort) -> Verdict:
    """Simulate pairs of multicasts in Q_3, in order of the number of their destinations."""
    return _decide_replication(effort, 1)


# ---------------------------------------------------------------- the correction: a second virtual channel


def _cut_cubes(chosen: tuple[tuple[int, ...], int, str]) -> Iterator[tuple[Hypercube]]:
    """Yield cubes whose faults admit a partition: all fault sets of small cubes, and random sets up to n = 8."""
    from fastcube.kernels.partition.dispatch import most_faults

    small, many, _ = chosen
    rng = random.Random(0)
    all_sets = (
        Hypercube(n, faults)
        for n in small
        for f in range(most_faults(n) + 1)
        for faults in itertools.combinations(range(2**n), f)
    )
    drawn = (Hypercube(n, rng.sample(range(2**n), rng.randrange(1, 2 * n))) for n in range(4, 9) for _ in range(many))
    return ((cube,) for cube in itertools.chain(all_sets, drawn) if two_partition(cube, exhaustive=True) is not None)


CUT_CUBES = Cases(
    "all fault sets of {0[2]} with a partition, and {0[1]} random ones for each n = 4, ..., 8",
    _cut_cubes,
    full=((3, 4), 200, "Q_3 and Q_4"),
    quick=((3,), 20, "Q_3"),
    method="random",
)


def _check_cycle(cube: Hypercube, unicast: bool) -> Counterexample | None:
    if not _has_cycle(cube, unicast):
        return None
    python = f"[list(c) for c in fc.dependency_cycle(fc.{cube.source()}, virtual_channels=2, unicast={unicast})]"
    return Counterexample.of("a cycle", python, cube_data(cube))


def _has_cycle(cube: Hypercube, unicast: bool) -> bool:
    import numpy as np

    from fastcube.kernels.wormhole.replay import has_dependency_cycle

    lo, hi = two_partition(cube, exhaustive=True) or (0, 1)
    faults = np.array(sorted(cube.faulty_nodes), np.uint64)  # type: ignore[arg-type]
    found = bool(has_dependency_cycle(faults, cube.n, lo, hi, int(unicast), 2))
    if cube.n == 3:
        by_definition = dependency_cycle(cube, virtual_channels=2, unicast=unicast) is not None
        check_agreement(found, by_definition, f"whether {cube!r} has a cycle with two virtual channels")
    return found


@registry.claim(
    "corrected-unicast",
    where="section 4.2, Theorem 2",
    states=(
        "[With a second virtual channel inside the supernodes, for D_L, messages to one destination each never wait "
        "for one another for ever in Q_n, n >= 3.]"
    ),
    added=True,
    method="random",
    group="corrected routing",
)
def corrected_unicast(effort: Effort) -> Verdict:
    """Search for a cycle; without one, messages that never split cannot deadlock (Dally & Seitz 1987).  Also measure the cost."""
    verdict = CUT_CUBES.decide(effort, lambda cube: _check_cycle(cube, True))
    tally = MULTICAST.count({"n": 10, "f": 8, "destinations": 128}, effort.by_effort(full=20_000, quick=2_000))
    cost = int(tally.counts["separate"]) / int(tally.counts["channels"])
    checked = (
        f"{verdict.checked}; its price with 8 faults and 128 destinations in Q_10 is {cost:.2f} times the channels"
    )
    return Verdict(verdict.outcome, checked, verdict.counterexample)


@registry.forall(
    "corrected-graph",
    CUT_CUBES,
    where="section 4.2, Theorem 2",
    states=(
        "[With a second virtual channel inside the supernodes, for D_L, the dependency graph of all multicasts of "
        "Q_n, n >= 3, has no cycle.]"
    ),
    added=True,
    group="corrected routing",
)
def corrected_graph(cube: Hypercube) -> Counterexample | None:
    """Search for a cycle of the dependency graph with two virtual channels."""
    return _check_cycle(cube, False)


@registry.claim(
    "corrected-replication",
    where="sections 2 and 4.2, Theorem 2",
    states=(
        "[With a second virtual channel inside the supernodes, for D_L, multicasts whose branches replicate flit by "
        "flit never deadlock in Q_n, n >= 3.]"
    ),
    added=True,
    correction=(
        "Two multicasts of D_H can each hold a branch that the other needs, already in the fault-free Q_3. With the second "
        "channel, messages to one destination each had no deadlock in any checked case (corrected-unicast)."
    ),
    group="replication",
)
def corrected_replication(effort: Effort) -> Verdict:
    """Simulate pairs of multicasts in Q_3, in order of the number of their destinations, with two virtual channels."""
    return _decide_replication(effort, 2)
