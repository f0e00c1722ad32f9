"""What is claimed of rival rules and their words (V10), decided on all fault sets of small cubes.

No paper's text was read: a statement is from an abstract where its place says so, else as the literature gives it.
"Contrast" and "ours" are statements that one would expect and that no paper makes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from fastcube.algorithms.paths import route
from fastcube.algorithms.shortest import distance
from fastcube.networks.hypercube import Hypercube
from fastcube.papers.claims import Effort, Ledger, Verdict, Witness

from . import every

ledger = Ledger("unicast")

#: Finds in rows of fault sets of Q_n with f faults the rows and nodes where something is wrong: (sets, 2^n) or (sets,).
Wrong = Callable[[int, int, every.Bools], every.Bools]


def _most(effort: Effort, n: int) -> int:
    """Largest f that is looked at in Q_n: all up to n = 4, up to 6 in Q_5."""
    return int(2**n) - 1 if n <= 4 else effort.pick(full=6, quick=4)


def _range(effort: Effort) -> str:
    return f"all fault sets of Q_1, ..., Q_4, and of up to {_most(effort, 5)} faulty nodes of Q_5, without node 0"


def witness(words: str, cube: Hypercube, python: str, **more: Any) -> Witness:
    """A witness on one cube, ``c`` in the expression."""
    data = {
        "n": cube.n,
        "faulty_nodes": sorted(cube.faulty_nodes),  # type: ignore[arg-type]
        "faulty_links": sorted(list(link) for link in cube.faulty_links),
        **more,
    }
    return Witness.of(words, f"(lambda c: {python})(fc.{cube.source()})", data)


def decide(
    effort: Effort, wrong: Wrong, words: str, python: str, most: Callable[[int], int] = lambda n: 2**n
) -> Verdict:
    """Refuted by the first fault set, in the order of n and f, where ``wrong`` finds a node; ``python`` has ``c`` and ``{t}``."""
    cases = 0
    for n in range(1, 6):
        for f, faulty in every.fault_sets(n, min(_most(effort, n), most(n))):
            effort.step(f"Q_{n}, f={f}")
            effort.applied += len(faulty)
            found = wrong(n, f, faulty)
            cases += len(faulty)
            if found.any():
                row, *node = np.argwhere(found)[0].tolist()
                cube = Hypercube(n, np.flatnonzero(faulty[row]).tolist())
                t = node[0] if node else 0
                return Verdict(
                    "refuted", f"in the order of n and f; {_range(effort)}", witness(words, cube, python.format(t=t))
                )
    return Verdict("holds", f"{_range(effort)}: {cases:,} sets")


def _weight(n: int) -> every.Ints:
    """Hamming distance of every node from node 0."""
    return np.array([x.bit_count() for x in range(2**n)], np.int8)


def _least_degree(n: int, faulty: every.Bools) -> every.Ints:
    """Fewest nonfaulty neighbours of a nonfaulty node, a set."""
    least: every.Ints = np.where(faulty, 127, every.counts(n, ~faulty)).min(axis=1).astype(np.int8)
    return least


# ---------------------------------------------------------------- Wu: levels and vectors


@ledger.claim(
    "level-path",
    where="Wu 1995, 1997, abstracts",
    states="A node of safety level k is joined by a path of H links to every nonfaulty node at Hamming distance H <= k.",
)
def level_path(effort: Effort) -> Verdict:
    """Node 0's level against all minimal paths from it."""

    def wrong(n: int, f: int, faulty: every.Bools) -> every.Bools:
        promised = every.levels(n, faulty)[0][:, :1] >= _weight(n)
        return promised & ~faulty & ~every.minimal(n, faulty)

    return decide(effort, wrong, "promised, and no such path", "[fc.safety_levels(c).level(0), fc.distance(c, 0, {t})]")


@ledger.claim(
    "vector-path",
    where="Wu 1998, abstract",
    states="A node whose safety vector has bit k is joined by a path of k links to every nonfaulty node at Hamming distance k.",
)
def vector_path(effort: Effort) -> Verdict:
    """Node 0's vector against all minimal paths from it."""

    def wrong(n: int, f: int, faulty: every.Bools) -> every.Bools:
        promised = every.vectors(n, faulty)[:, 0, :][:, _weight(n)]
        return promised & ~faulty & ~every.minimal(n, faulty)

    return decide(
        effort, wrong, "promised, and no such path", "[fc.safety_vectors(c).vector(0), fc.distance(c, 0, {t})]"
    )


@ledger.claim(
    "levels-rounds",
    where="Wu 1995, abstract",
    states="Safety levels settle after at most n - 1 rounds.",
)
def levels_rounds(effort: Effort) -> Verdict:
    """Rounds of all sets."""
    return decide(
        effort, lambda n, f, faulty: every.levels(n, faulty)[1] > n - 1, "too many rounds", "fc.safety_levels(c).rounds"
    )


@ledger.claim(
    "levels-near",
    where="Wu 1995, 1997, as the literature gives it",
    states="With fewer than n faulty nodes every nonfaulty node has level n or a neighbour of level n.",
)
def levels_near(effort: Effort) -> Verdict:
    """All sets of fewer than n nodes."""

    def wrong(n: int, f: int, faulty: every.Bools) -> every.Bools:
        full = every.levels(n, faulty)[0] == n
        alone: every.Bools = ~faulty & ~full & (every.counts(n, full) == 0)
        return alone

    return decide(
        effort, wrong, "none near", "[fc.safety_levels(c).level(v) for v in c.neighbours({t})]", lambda n: n - 1
    )


@ledger.claim(
    "words-chain",
    where="Wu 1995, 1998, as the literature gives it",
    states="A node that is not unsafe (Lee & Hayes) is not marked (Wu & Fernandez); one that is not marked has level n; one of "
    "level k has bits 1 .. k of the safety vector.",
)
def words_chain(effort: Effort) -> Verdict:
    """All words of all sets."""

    def wrong(n: int, f: int, faulty: every.Bools) -> every.Bools:
        marked, own = every.marking(n, faulty)[0], every.levels(n, faulty)[0]
        bits = every.vectors(n, faulty)[:, :, 1:]
        promised = own[:, :, None] >= np.arange(1, n + 1)
        broken = (promised & ~bits).any(axis=2)
        return ~faulty & ((marked & ~every.unsafe(n, faulty)) | (~marked & (own < n)) | broken)

    return decide(
        effort, wrong, "not in this order", "[fc.safety_levels(c).level({t}), fc.wu_fernandez(c).marked.tolist()]"
    )


@ledger.claim(
    "unsafe-near",
    where="contrast: Lee & Hayes's nodes in place of Wu's",
    states="With fewer than n faulty nodes every nonfaulty node is not unsafe or has such a neighbour.",
    ours=True,
    correction="Of level n there is one (levels-near).",
)
def unsafe_near(effort: Effort) -> Verdict:
    """All sets of fewer than n nodes."""

    def wrong(n: int, f: int, faulty: every.Bools) -> every.Bools:
        safe = ~faulty & ~every.unsafe(n, faulty)
        alone: every.Bools = ~faulty & ~safe & (every.counts(n, safe) == 0)
        return alone

    return decide(effort, wrong, "none near", "fc.find_unsafe(c).nodes.tolist()", lambda n: n - 1)


@ledger.claim(
    "marking-rounds",
    where="contrast: the marking in place of levels",
    states="Wu and Fernandez's marking settles after at most n - 1 rounds.",
    ours=True,
    correction="That holds of levels (levels-rounds).",
)
def marking_rounds(effort: Effort) -> Verdict:
    """Rounds of all sets; n >= 2, for a cube of one link has no rounds to count."""

    def wrong(n: int, f: int, faulty: every.Bools) -> every.Bools:
        return every.marking(n, faulty)[1] > n - 1

    return decide(effort, wrong, "too many rounds", "fc.wu_fernandez(c).rounds")


# ---------------------------------------------------------------- rules, by the kernels


def _counted(effort: Effort, most: Callable[[int], int]) -> Any:
    """(n, f, counts, extremes, pairs) of all messages of LEVELS, VECTORS, A1 and DFS."""
    from fastcube.kernels.unicast.layout import tally
    from fastcube.kernels.unicast.rules import RULES
    from fastcube.kernels.unicast.single import all_messages_of

    rules = ("LEVELS", "VECTORS", "A1", "DFS")
    names = tuple(rule.lower() for rule in rules)
    kernel, layout = all_messages_of([RULES[rule] for rule in rules], names), tally(names)
    for n in range(2, 6):
        for f in range(min(_most(effort, n), most(n), 2**n - 2) + 1):
            effort.step(f"Q_{n}, f={f}")
            slots = layout.fresh()
            pairs = kernel(np.array([n, f, 0], np.float64), slots)
            yield n, f, *layout.read(slots), pairs


def _all_messages(effort: Effort, right: Callable[..., bool], most: Callable[[int], int] = lambda n: 2**n) -> Verdict:
    """Holds where all counts are right; a count that is not names no message, so it is looked for by :func:`_first_message`."""
    total = 0
    for n, f, counts, extremes, pairs in _counted(effort, most):
        if not right(counts, extremes, pairs):
            return Verdict("undecided", f"the counts at n={n}, f={f} contradict it")
        total += pairs
        effort.applied += pairs
    return Verdict("holds", f"{_range(effort)}, every destination: {total:,} messages")


@ledger.claim(
    "accepted-delivered",
    where="Wu 1997, 1998, as the literature gives it",
    states="What LEVELS or VECTORS accepts is delivered over H or H + 2 links.",
)
def accepted_delivered(effort: Effort) -> Verdict:
    """The extremes that must stay 0."""
    return _all_messages(
        effort, lambda counts, extremes, pairs: max(extremes[f"{name}_wrong"][0] for name in ("levels", "vectors")) <= 0
    )


@ledger.claim(
    "nothing-refused",
    where="Wu 1997, 1998, as the literature gives it",
    states="With fewer than n faulty nodes LEVELS and VECTORS refuse nothing.",
)
def nothing_refused(effort: Effort) -> Verdict:
    """All messages with fewer than n faulty nodes."""
    return _all_messages(
        effort, lambda counts, _, pairs: counts["levels_refused"] == counts["vectors_refused"] == 0, lambda n: n - 1
    )


def _links(n: int) -> list[tuple[int, int]]:
    return [(x, x | 1 << i) for x in range(2**n) for i in range(n) if not x >> i & 1]


@ledger.claim(
    "nothing-refused-links",
    where="ours: faulty links as reading V6 takes them",
    states="With fewer than n faulty links LEVELS and VECTORS refuse nothing that a path joins.",
    ours=True,
    correction="Both ends of a faulty link show level 0; with faulty nodes alone nothing is refused.",
)
def nothing_refused_links(effort: Effort) -> Verdict:
    """All sets of fewer than n faulty links of Q_2 and Q_3, every pair from node 0."""
    for n in (2, 3):
        for k in range(n):
            for links in effort.each(itertools.combinations(_links(n), k), f"Q_{n}"):
                cube = Hypercube(n, faulty_links=links)
                for t in range(1, 2**n):
                    ways = [route(cube, 0, t, rule).outcome for rule in ("LEVELS", "VECTORS")]
                    if "refused" in ways and distance(cube, 0, t) is not None:
                        outcomes = f"[fc.route(c, 0, {t}, algorithm=a).outcome for a in ('LEVELS', 'VECTORS')]"
                        python = f"[{outcomes}, fc.distance(c, 0, {t})]"
                        words = "refused although a path exists"
                        return Verdict(
                            "refuted", "in the order of n and of links", witness(words, cube, python, s=0, t=t)
                        )
    return Verdict("holds", "all sets of fewer than n faulty links of Q_2 and Q_3")


@ledger.claim(
    "a1-delivers",
    where="Chen & Shin 1990, abstract",
    states="A1 delivers every message with fewer than n faulty components.",
)
def a1_delivers(effort: Effort) -> Verdict:
    """All messages with fewer than n faulty nodes; with faulty links those of Q_2, Q_3."""
    verdict = _all_messages(effort, lambda counts, _, pairs: counts["a1_delivered"] == pairs, lambda n: n - 1)
    for n in (2, 3):
        for k, f in itertools.product(range(n), repeat=2):
            if k + f >= n:
                continue
            for links in itertools.combinations(_links(n), k):
                for nodes in effort.each(itertools.combinations(range(1, 2**n), f), f"Q_{n}"):
                    cube = Hypercube(n, nodes, links)
                    for t in set(range(1, 2**n)) - set(nodes):
                        if route(cube, 0, t, "A1").outcome != "delivered":
                            python = f"fc.route(c, 0, {t}, algorithm='A1').outcome"
                            return Verdict("refuted", f"Q_{n}", witness("not delivered", cube, python, s=0, t=t))
    return Verdict(verdict.outcome, f"{verdict.checked}; with links Q_2 and Q_3")


@ledger.claim(
    "dfs-connected",
    where="Chen & Shin 1990, abstract",
    states="Depth-first search delivers exactly where a path exists.",
)
def dfs_connected(effort: Effort) -> Verdict:
    """All messages."""
    return _all_messages(effort, lambda counts, _, pairs: counts["dfs_delivered"] == counts["reachable"])


# ---------------------------------------------------------------- Gu & Peng: distances


def _far(least: int, more: int, most: Callable[[int], int]) -> Callable[[Effort], Verdict]:
    def decider(effort: Effort) -> Verdict:
        """Node 0's distances in all sets within the hypothesis."""

        def wrong(n: int, f: int, faulty: every.Bools) -> every.Bools:
            found = every.distances(n, faulty) > _weight(n) + more
            if least > 1:
                return found & ~faulty & (_least_degree(n, faulty) >= least)[:, None]
            own = every.counts(n, ~faulty) > 0
            return found & ~faulty & own & own[:, :1]

        return decide(effort, wrong, "too far", "fc.distance(c, 0, {t})", most)

    return decider


ledger.claim(
    "gu-peng-4",
    where="Gu & Peng, abstract",
    states="With at most 2n - 3 faulty nodes, s and t each with a nonfaulty neighbour, their distance is at most H + 4.",
)(_far(1, 4, lambda n: 2 * n - 3))

ledger.claim(
    "gu-peng-6",
    where="Gu & Peng, abstract",
    states="With at most 4n - 9 faulty nodes, every nonfaulty node with at least 2 nonfaulty neighbours, distances are at "
    "most H + 6.",
)(_far(2, 6, lambda n: 4 * n - 9))


@ledger.claim(
    "gu-peng-connected",
    where="Gu & Peng, abstract",
    states="With at most 2^k (n - k) - 1 faulty nodes, every nonfaulty node with at least k nonfaulty neighbours, the rest is "
    "connected.",
)
def gu_peng_connected(effort: Effort) -> Verdict:
    """k = 1, 2, 3 on all sets."""

    def wrong(n: int, f: int, faulty: every.Bools) -> every.Bools:
        apart: every.Bools = (every.distances(n, faulty) == 127) & ~faulty
        degree = _least_degree(n, faulty)
        applies = np.zeros(len(faulty), np.bool_)
        for k in range(1, n):
            if f <= 2**k * (n - k) - 1:
                applies |= degree >= k
        return apart & applies[:, None]

    return decide(effort, wrong, "apart", "fc.distance(c, 0, {t})")


# ---------------------------------------------------------------- sidetracking


@ledger.claim(
    "sidetrack-rates",
    where="Gordon & Stout 1988, abstract: empirical",
    states="At any fixed rate of faulty nodes the share of messages that sidetracking delivers tends to 1 as n grows.",
)
def sidetrack_rates(effort: Effort) -> Verdict:
    """Study ``rivals-rate`` at rates .1 to .7: the shares not delivered within 8n hops, as n grows."""
    from .rate import RIVALS_RATE

    trials, told = effort.pick(full=20_000, quick=2_000), []
    for rate in (0.1, 0.3, 0.5, 0.6, 0.7):
        lost = []
        for n in (8, 15, 30, 60):
            effort.step(f"n={n}, rate={rate}")
            counts = RIVALS_RATE.count({"n": n, "rate": rate}, trials).counts
            lost.append((counts["valid"] - counts["sidetrack_delivered"]) / counts["valid"])
        told.append(f"{rate}: {', '.join(f'{share:.2g}' for share in lost)}")
        if lost[-1] > max(lost[0], 1e-3):
            return Verdict("undecided", f"at rate {rate} the share not delivered does not fall: {lost}")
    return Verdict(
        "undecided",
        "a limit is not measured; shares not delivered at n = 8, 15, 30, 60 fall at each rate, " + "; ".join(told),
    )


@ledger.claim(
    "sidetrack-arrives",
    where="ours",
    states="Sidetracking, with hops enough, delivers where a path exists.",
    ours=True,
    correction="It can be trapped for ever: spare bits are tried only where no preferred one is good.",
)
def sidetrack_arrives(effort: Effort) -> Verdict:
    """Which nodes its possible hops lead to from node 0, in the order of n and f."""
    for n in range(2, 5):
        for f, faulty in every.fault_sets(n, 2**n - 2 if n < 4 else 6):
            effort.step(f"Q_{n}, f={f}")
            possible = every.distances(n, faulty) < 127
            for t in range(1, 2**n):
                trapped = possible[:, t] & ~faulty[:, t] & ~_may_reach(n, faulty, t)
                if trapped.any():
                    cube = Hypercube(n, np.flatnonzero(faulty[trapped.argmax()]).tolist())
                    python = f"[fc.route(c, 0, {t}, algorithm='SIDETRACK').outcome, fc.distance(c, 0, {t})]"
                    words = "no sequence of its hops leads there, and a path does"
                    return Verdict("refuted", "in the order of n and f, s = 0", witness(words, cube, python, s=0, t=t))
    return Verdict("holds", "all fault sets of Q_2 and Q_3, and of up to 6 nodes of Q_4, s = 0")


def _may_reach(n: int, faulty: every.Bools, t: int) -> every.Bools:
    """Sets in which some sequence of sidetracking's hops leads from node 0 to t."""
    nodes = np.arange(2**n)
    nearer = [((nodes ^ t) >> i & 1).astype(np.bool_) for i in range(n)]
    open_ = [~faulty[:, nodes ^ (1 << i)] for i in range(n)]
    any_nearer = np.logical_or.reduce([open_[i] & nearer[i] for i in range(n)])
    reached = np.zeros_like(faulty)
    reached[:, 0] = True
    while True:
        grown = reached.copy()
        for i in range(n):
            leaves = reached & open_[i] & (nearer[i] | ~any_nearer)
            grown |= leaves[:, nodes ^ (1 << i)]
        if (grown == reached).all():
            return reached[:, t]
        reached = grown
