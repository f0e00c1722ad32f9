"""Claims about messages under routing rules (V10); registry and conventions as in ``status``."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fastcube.algorithms.paths import route
from fastcube.algorithms.shortest import distance
from fastcube.networks.hypercube import Hypercube

from ...claims import Cases, Counterexample, Effort, Verdict, check_agreement
from ...cubes import cube_counterexample, enumerate_cubes
from . import exhaustive
from .registry import registry
from .status import checked_range, cubes_with_links, decide_with_links, largest_fault_count, nonfaulty_targets

# ---------------------------------------------------------------- rules, by the kernels


def _count_messages(effort: Effort, most: Callable[[int], int] | None) -> Any:
    """Yield (n, f, counts, maxima, pairs) for all messages of LEVELS, VECTORS, A1 and DFS."""
    from fastcube.kernels.routing_rules.all_sets import make_sets_kernel
    from fastcube.kernels.routing_rules.layout import make_layout
    from fastcube.kernels.routing_rules.rules import RULES

    rules = ("LEVELS", "VECTORS", "A1", "DFS")
    names = tuple(rule.lower() for rule in rules)
    kernel, layout = make_sets_kernel([RULES[rule] for rule in rules], names), make_layout(names)
    for n in range(2, 6):
        for f in range(min(largest_fault_count(effort, n), 2**n - 2, most(n) if most else 2**n) + 1):
            effort.step(f"Q_{n}, f={f}")
            slots = layout.new_tally()
            sets = math.comb(2**n - 1, f)
            kernel(np.uint64(0), 0, sets, np.array([n, f, 0, *range(f)], np.float64), slots)
            yield n, f, *layout.read(slots), sets * (2**n - 1 - f)


#: Check of the messages from node 0 of a cube.
MessagesCheck = Callable[[Hypercube], Counterexample | None]


def _decide_all_messages(
    effort: Effort,
    is_right: Callable[..., bool],
    check: MessagesCheck,
    most: Callable[[int], int] | None = None,
) -> Verdict:
    """Return "holds" if all counts are right; otherwise ``check`` must find a counterexample in some cube."""
    for n, f, counts, maxima, pairs in _count_messages(effort, most):
        effort.applied += pairs
        if not is_right(counts, maxima, pairs):
            results = map(check, enumerate_cubes(n, f, first=1))
            found = next((counterexample for counterexample in results if counterexample is not None), None)
            check_agreement(
                found is None, False, f"whether every message with {f} faults of Q_{n} is right, one by one and counted"
            )
            return Verdict("refuted", checked_range(effort, most), found)
    return Verdict("holds", f"{checked_range(effort, most)}, every destination: {effort.applied:,} messages")


def _messages_check(description: str, python: str, is_wrong: Callable[[Hypercube, int], bool]) -> MessagesCheck:
    """Return a check that finds the first destination with a wrong message from node 0; ``python`` has ``c`` and ``{t}``."""

    def check(cube: Hypercube) -> Counterexample | None:
        t = next((t for t in nonfaulty_targets(cube) if is_wrong(cube, t)), None)
        return None if t is None else cube_counterexample(description, cube, python.format(t=t), s=0, t=t)

    return check


_ROUTES_EXPRESSION = "[[w.outcome, w.path] for a in ('LEVELS', 'VECTORS') for w in [fc.route(c, 0, {t}, algorithm=a)]]"
_REFUSED_EXPRESSION = (
    "[[fc.route(c, 0, {t}, algorithm=a).outcome for a in ('LEVELS', 'VECTORS')], fc.distance(c, 0, {t})]"
)


@registry.claim(
    "accepted-delivered",
    where="Wu 1997, 1998, as the literature gives it",
    states="A message that LEVELS or VECTORS accepts is delivered over H or H + 2 links [with faulty links, V6, too].",
)
def accepted_delivered(effort: Effort) -> Verdict:
    """Check the maxima that must stay 0, and with faulty links every message of Q_2 and Q_3 from node 0."""

    def is_wrong(cube: Hypercube, t: int) -> bool:
        routes = [route(cube, 0, t, rule) for rule in ("LEVELS", "VECTORS")]
        return any(w.outcome != "refused" and w.length not in (t.bit_count(), t.bit_count() + 2) for w in routes)

    def is_right(_: Any, maxima: Any, pairs: int) -> bool:
        return all(maxima[f"{name}_wrong"][0] <= 0 for name in ("levels", "vectors"))

    check = _messages_check("accepted, and not delivered so", _ROUTES_EXPRESSION, is_wrong)
    return decide_with_links(effort, _decide_all_messages(effort, is_right, check), check)


def _is_wrongly_refused(cube: Hypercube, t: int) -> bool:
    """Whether LEVELS or VECTORS refuses a message although a path exists."""
    refused = any(route(cube, 0, t, rule).outcome == "refused" for rule in ("LEVELS", "VECTORS"))
    return refused and distance(cube, 0, t) is not None


_check_refused = _messages_check("refused although a path exists", _REFUSED_EXPRESSION, _is_wrongly_refused)


@registry.claim(
    "nothing-refused",
    where="Wu 1997, 1998, as the literature gives it",
    states="With fewer than n faulty nodes LEVELS and VECTORS refuse nothing.",
)
def nothing_refused(effort: Effort) -> Verdict:
    """Check all messages with fewer than n faulty nodes, for which a path exists."""
    return _decide_all_messages(
        effort,
        lambda counts, *_: counts["levels_refused"] == counts["vectors_refused"] == 0,
        _check_refused,
        lambda n: n - 1,
    )


@registry.forall(
    "nothing-refused-links",
    Cases(
        "all sets of fewer than n faulty links of Q_2 and Q_3",
        lambda _: ((cube,) for cube in cubes_with_links([(0, 1), (0, 2)]) if len(cube.faulty_links) < cube.n),
    ),
    where="ours: faulty links as interpretation V6 takes them",
    states="With fewer than n faulty links LEVELS and VECTORS refuse no message that a path could carry.",
    added=True,
    correction="Both ends of a faulty link show level 0; with faulty nodes alone nothing is refused.",
)
def nothing_refused_links(cube: Hypercube) -> Counterexample | None:
    """Look for a refused message from node 0 to a destination that a path reaches."""
    return _check_refused(cube)


@registry.claim(
    "a1-delivers",
    where="Chen & Shin 1990, abstract",
    states="A1 delivers every message with fewer than n faulty nodes and links.",
)
def a1_delivers(effort: Effort) -> Verdict:
    """Check all messages with fewer than n faulty nodes; with faulty links, the messages of Q_2 and Q_3."""
    check = _messages_check(
        "not delivered",
        "fc.route(c, 0, {t}, algorithm='A1').outcome",
        lambda cube, t: route(cube, 0, t, "A1").outcome != "delivered",
    )
    verdict = _decide_all_messages(
        effort, lambda counts, _, pairs: counts["a1_delivered"] == pairs, check, lambda n: n - 1
    )
    if verdict.outcome != "holds":
        return verdict
    cases = (
        cube
        for cube in cubes_with_links([(0, 1), (0, 2), (1, 1)])
        if len(cube.faulty_links) + len(cube.faulty_nodes) < cube.n  # type: ignore[arg-type]
    )
    if (found := effort.find_first(cases, check, "Q_2 and Q_3 with faulty links")) is not None:
        return Verdict("refuted", "with faulty links", found)
    return replace(verdict, checked=f"{verdict.checked}; with faulty links, too, in Q_2 and Q_3")


@registry.claim(
    "dfs-connected",
    where="Chen & Shin 1990, abstract",
    states="Depth-first search delivers exactly where a path exists.",
)
def dfs_connected(effort: Effort) -> Verdict:
    """Compare the messages that depth-first search delivers with the messages for which a path exists."""
    check = _messages_check(
        "delivered, or a path exists, and not both",
        "[fc.route(c, 0, {t}, algorithm='DFS').outcome, fc.distance(c, 0, {t})]",
        lambda cube, t: (route(cube, 0, t, "DFS").outcome == "delivered") != (distance(cube, 0, t) is not None),
    )
    return _decide_all_messages(effort, lambda counts, *_: counts["dfs_delivered"] == counts["reachable"], check)


# ---------------------------------------------------------------- sidetracking


@registry.claim(
    "sidetrack-rates",
    where="Gordon & Stout 1988, abstract: empirical",
    states="At any fixed rate of faulty nodes the fraction of messages that sidetracking delivers tends to 1 as n grows.",
    method="random",
)
def sidetrack_rates(effort: Effort) -> Verdict:
    """Run ``routing-rules-rate`` at rates .1 to .7, and compare the fractions not delivered within 8n hops as n grows."""
    from fastcube.studies.routing_rules.rate import ROUTING_RULES_RATE

    trials, by_rate = effort.by_effort(full=20_000, quick=2_000), []
    for rate in (0.1, 0.3, 0.5, 0.6, 0.7):
        lost = []
        for n in (8, 15, 30, 60):
            effort.step(f"n={n}, rate={rate}")
            counts = ROUTING_RULES_RATE.count({"n": n, "rate": rate}, trials).counts
            effort.applied += int(counts["valid"])
            lost.append((counts["valid"] - counts["sidetrack_delivered"]) / counts["valid"])
        by_rate.append(f"{rate}: {', '.join(f'{fraction:.2g}' for fraction in lost)}")
        if lost[-1] > max(lost[0], 1e-3):
            return Verdict("undecided", f"at rate {rate} the fraction not delivered does not fall: {lost}")
    return Verdict(
        "undecided",
        "a limit is not measured; fractions not delivered at n = 8, 15, 30, 60 fall at each rate, "
        + "; ".join(by_rate),
    )


@registry.claim(
    "sidetrack-arrives",
    where="added by fastcube",
    states="Sidetracking, with hops enough, delivers where a path exists.",
    added=True,
    correction="It can be trapped for ever: spare bits are tried only where no preferred one is good.",
)
def sidetrack_arrives(effort: Effort) -> Verdict:
    """Find the nodes that its possible hops reach from node 0, in the order of n and f."""
    for n in range(2, 5):
        for f, faulty in exhaustive.enumerate_fault_sets(n, 2**n - 2 if n < 4 else 6):
            effort.step(f"Q_{n}, f={f}")
            effort.applied += len(faulty)
            possible = exhaustive.path_lengths(n, faulty) < 127
            for t in range(1, 2**n):
                trapped = possible[:, t] & ~faulty[:, t] & ~_is_reach_possible(n, faulty, t)
                if trapped.any():
                    cube = Hypercube(n, np.flatnonzero(faulty[trapped.argmax()]).tolist())
                    python = f"[fc.route(c, 0, {t}, algorithm='SIDETRACK').outcome, fc.distance(c, 0, {t})]"
                    description = "no sequence of its hops leads there, and a path does"
                    return Verdict(
                        "refuted",
                        "in the order of n and f, s = 0",
                        cube_counterexample(description, cube, python, s=0, t=t),
                    )
    return Verdict("holds", "all fault sets of Q_2 and Q_3, and of up to 6 nodes of Q_4, s = 0")


def _is_reach_possible(n: int, faulty: exhaustive.Bools, t: int) -> exhaustive.Bools:
    """Return the sets in which some sequence of sidetracking's hops leads from node 0 to t."""
    nodes = np.arange(2**n)
    nearer = [((nodes ^ t) >> i & 1).astype(np.bool_) for i in range(n)]
    usable = [~faulty[:, nodes ^ (1 << i)] for i in range(n)]
    any_nearer = np.logical_or.reduce([usable[i] & nearer[i] for i in range(n)])
    reached = np.zeros_like(faulty)
    reached[:, 0] = True
    while True:
        grown = reached.copy()
        for i in range(n):
            leaves = reached & usable[i] & (nearer[i] | ~any_nearer)
            grown |= leaves[:, nodes ^ (1 << i)]
        if (grown == reached).all():
            return reached[:, t]
        reached = grown
