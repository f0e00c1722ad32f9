"""Claims about deadlock: Theorem 2 under three readings, and a second virtual channel as its repair under the same three."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

from fastcube.algorithms.partition import two_partition
from fastcube.algorithms.wormhole import dependency_cycle
from fastcube.engine.claims import Effort, Verdict, Witness
from fastcube.networks.hypercube import Hypercube

from .channels import MULTICAST
from .claims import data_of, ledger
from .hunting import Message, messages_on

#: Two multicasts that stop in Q_3 without a fault, with one virtual channel or two.  At 110 the first, and at 111
#: the second, needs the
#: channel inside the supernode and a branch at once.
BRANCHES: tuple[Message, ...] = ((2, [4, 5]), (3, [4, 5]))

_THEOREM_2 = "The proposed fault-tolerant multicast algorithms in Fig. 16 and Fig. 17 are deadlock-free"


def _stops(cube: Hypercube, messages: list[Message], copies: int) -> Witness:
    """The witness that messages stop in the simulation."""
    sent = ", ".join(f"{cube.label(s)} to {', '.join(map(cube.label, d))}" for s, d in messages)
    python = f"fc.simulate_wormhole(fc.{cube.source()}, {messages}, virtual_channels={copies}).deadlocked"
    return Witness.of(f"{len(messages)} messages that stop: {sent}", python, data_of(cube) | {"messages": messages})


def _smallest_cycle(effort: Effort, unicast: bool) -> Verdict:
    """Fault sets by n and size; the first with a cycle, and the fewest messages found that stop on it."""
    for n in (3, 4):
        for f in range(n):
            for faults in effort.each(itertools.combinations(range(2**n), f), f"Q_{n}"):
                cube = Hypercube(n, faults)
                pair = two_partition(cube, exhaustive=True)
                cycle = None if pair is None else dependency_cycle(cube, pair, 1, unicast)
                if pair is None or cycle is None:
                    continue
                messages = messages_on(cube, pair, cycle, 1, unicast).messages
                text = "True" if unicast else "False"
                python = f"[list(c) for c in fc.dependency_cycle(fc.{cube.source()}, unicast={text})]"
                shown = Witness.of("a shortest cycle of channels, each waiting for the next", python, data_of(cube))
                checked = (
                    f"all sets of at most {f - 1} faults of Q_3 have no cycle [P from A13]; the "
                    f"first set of {f} that has"
                )
                if messages is None:
                    return Verdict("undecided", f"{checked} one: no messages found that stop", shown)
                return Verdict("refuted", f"{checked} one", _stops(cube, messages, 1), (shown,))
    return Verdict("holds", "all sets of at most n - 1 faults of Q_3 and Q_4")


@ledger.claim(
    "theorem-2-unicast",
    where="section 4.2, Theorem 2",
    states=f"{_THEOREM_2} [for messages to one destination each, with at most n - 1 faults].",
    correction=(
        "With at most one fault in Q_3 they are. D_H and D_L share the channels inside the supernodes; with a second virtual "
        "channel there, for D_L, no cycle was found in Q_3 to Q_8 (repair-unicast)."
    ),
    group="cycles",
)
def theorem_2_unicast(effort: Effort) -> Verdict:
    """The smallest cube and fault set with a cycle, and messages on it."""
    return _smallest_cycle(effort, True)


@ledger.claim(
    "theorem-2-graph",
    where="section 4.2, Theorem 2",
    states=(
        f"{_THEOREM_2} [the channel dependency graph of all multicasts, A14, has no cycle, with at most n - 1 faults]."
    ),
    correction=(
        "With at most one fault in Q_3 it has none. D_H and D_L share the channels inside the supernodes; with a second virtual "
        "channel there, for D_L, no cycle was found in Q_3 to Q_8 (repair-graph)."
    ),
    group="cycles",
)
def theorem_2_graph(effort: Effort) -> Verdict:
    """The smallest cube and fault set with a cycle."""
    return _smallest_cycle(effort, False)


def _replication(effort: Effort, copies: int) -> Verdict:
    """Nothing stops with fewer destinations: all pairs of multicasts of the fault-free Q_3 with at most three between them."""
    cube = Hypercube(3)
    from fastcube.algorithms.wormhole import simulate_wormhole

    most = effort.pick(full=3, quick=2)
    tried = 0
    for total in range(2, most + 1):
        for first in range(1, total):
            for messages in effort.each(_pairs(first, total - first), "pairs of multicasts of Q_3"):
                tried += 1
                if simulate_wormhole(cube, messages, None, copies).deadlocked:
                    return Verdict("refuted", "pairs of multicasts of Q_3 by size", _stops(cube, messages, copies))
    witness = _stops(cube, list(BRANCHES), copies)
    checked = (
        f"none of the {tried:,} pairs of multicasts of the fault-free Q_3 with at most {most} "
        "destinations stops; one with 4 does"
    )
    return Verdict("refuted" if witness.value else "undecided", checked, witness)


def _pairs(first: int, second: int) -> Iterator[list[Message]]:
    for s, t in itertools.combinations(range(8), 2):
        for d in itertools.combinations([v for v in range(8) if v != s], first):
            for e in itertools.combinations([v for v in range(8) if v != t], second):
                yield [(s, list(d)), (t, list(e))]


@ledger.claim(
    "theorem-2-replication",
    where="sections 2 and 4.2, Theorem 2",
    states=(
        f"{_THEOREM_2} [for multicasts whose branches replicate flit by flit as section 2 assumes: a "
        "message holds all its channels "
        "until all its branches have ended, A15]."
    ),
    correction=(
        "Not even two multicasts in the fault-free Q_3; messages to one destination each, with a second virtual channel, cannot "
        "wherever it was looked (repair-unicast)."
    ),
    group="replication",
)
def theorem_2_replication(effort: Effort) -> Verdict:
    """Pairs of multicasts of Q_3 by the number of their destinations."""
    return _replication(effort, 1)


# ---------------------------------------------------------------- the repair


def _no_cycle(effort: Effort, unicast: bool) -> Verdict:
    """Every fault set of Q_3 and Q_4 and random ones to n = 8, with two virtual channels."""
    from fastcube.kernels.partition.choice import most_faults

    sizes = effort.pick(full=(3, 4), quick=(3,))
    for n in sizes:
        for f in range(most_faults(n) + 1):
            for faults in effort.each(itertools.combinations(range(2**n), f), f"Q_{n}"):
                cube = Hypercube(n, faults)
                if two_partition(cube, exhaustive=True) is not None and _has_cycle(cube, unicast):
                    return _cycle_found(cube, unicast, f"Q_{n}")
    rng, many = random.Random(0), effort.pick(full=200, quick=20)
    for n in range(4, 9):
        for _ in effort.each(range(many), f"random fault sets of Q_{n}"):
            cube = Hypercube(n, rng.sample(range(2**n), rng.randrange(1, 2 * n)))
            if two_partition(cube, exhaustive=True) is not None and _has_cycle(cube, unicast):
                return _cycle_found(cube, unicast, "random fault sets")
    what = " and ".join(f"Q_{n}" for n in sizes)
    return Verdict("holds", f"all fault sets of {what} with a partition, and {many} random ones for each n = 4, ..., 8")


def _has_cycle(cube: Hypercube, unicast: bool) -> bool:
    import numpy as np

    from fastcube.kernels.wormhole.dependencies import cyclic

    pair = two_partition(cube, exhaustive=True)
    assert pair is not None
    faults = np.array(sorted(cube.faulty_nodes), np.uint64)  # type: ignore[arg-type]
    return bool(cyclic(faults, cube.n, *pair, int(unicast), 2))


def _cycle_found(cube: Hypercube, unicast: bool, where: str) -> Verdict:
    python = f"[list(c) for c in fc.dependency_cycle(fc.{cube.source()}, virtual_channels=2, unicast={unicast})]"
    return Verdict("refuted", where, Witness.of("a cycle", python, data_of(cube)))


@ledger.claim(
    "repair-unicast",
    where="section 4.2, Theorem 2",
    states=(
        "With a second virtual channel inside the supernodes, for D_L, messages to one destination each "
        "are deadlock-free, so "
        "that one message per destination never stops."
    ),
    ours=True,
    group="repair",
)
def repair_unicast(effort: Effort) -> Verdict:
    """No cycle, hence no deadlock of messages that never split (Dally & Seitz 1987); and what it costs."""
    verdict = _no_cycle(effort, True)
    tally = MULTICAST.count({"n": 10, "f": 8, "destinations": 128}, effort.pick(full=20_000, quick=2_000))
    price = int(tally.counts["separate"]) / int(tally.counts["channels"])
    checked = (
        f"{verdict.checked}; its price with 8 faults and 128 destinations in Q_10 is {price:.2f} times the channels"
    )
    return Verdict(verdict.outcome, checked, verdict.witness)


@ledger.claim(
    "repair-graph",
    where="section 4.2, Theorem 2",
    states=(
        "With a second virtual channel inside the supernodes, for D_L, the dependency graph of all "
        "multicasts has no cycle."
    ),
    ours=True,
    group="repair",
)
def repair_graph(effort: Effort) -> Verdict:
    """No cycle."""
    return _no_cycle(effort, False)


@ledger.claim(
    "repair-replication",
    where="sections 2 and 4.2, Theorem 2",
    states=(
        "With a second virtual channel inside the supernodes, for D_L, multicasts whose branches "
        "replicate flit by flit are "
        "deadlock-free."
    ),
    ours=True,
    correction=(
        "Two multicasts of D_H can each hold a branch that the other one waits for, in the fault-free Q_3 already; messages to "
        "one destination each are deadlock-free with it wherever it was looked (repair-unicast)."
    ),
    group="replication",
)
def repair_replication(effort: Effort) -> Verdict:
    """Pairs of multicasts of Q_3 by the number of their destinations."""
    return _replication(effort, 2)
