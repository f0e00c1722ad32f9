"""Claims of Li, Peng & Chu about routes in k-safe dual-cubes: lemmas, Algorithms 1-3, Theorem 1.

What is proved (docs/proofs.md) is tried on cases besides.  Small dual-cubes are searched through all fault sets, larger
ones by hunting: random fault sets close to s and t that just keep the cube k-safe.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from fastcube.algorithms.dualcube import offline
from fastcube.algorithms.shortest import distance
from fastcube.engine.claims import Effort, Verdict, Witness
from fastcube.networks.dualcube import DualCube

from .cases import HUNTED, STOP_8_4, STOP_10_4, Case, all_cases, fault_limit, hunt, nonfaulty_others, reach
from .claims import ledger, witness

SMALL = [(1, 0), (2, 0), (2, 1)]
HUNT = [(m, k) for m in range(3, 7) for k in range(m // 2 + 1)]

CONDITIONS = "0 <= k <= m/2 and nonfaulty s and t in a k-safe DC(m) with |F| < 2^k (m - k + 1)"


def _tried(effort: Effort) -> str:
    """What :func:`_small` and :func:`_hunted` give, in words."""
    few = effort.pick("", " with at most 2 faults")
    return (
        f"all fault sets of DC(1) and DC(2){few}, all k; {effort.pick(HUNTED, HUNTED // 10)} hunted cases at each k of DC(3) to "
        "DC(6), and at DC(8), k = 4, with the faults that stop the greedy T_4(s)"
    )


def _hunted(effort: Effort) -> Iterator[tuple[int, Case]]:
    """Hunted cases with their k."""
    count = effort.pick(HUNTED, HUNTED // 10)
    for m, k, always in [*((m, k, ()) for m, k in HUNT), (8, 4, STOP_8_4)]:
        for case in effort.each(hunt(m, k, 1, count, always), f"hunting in DC({m}), k = {k}"):
            yield k, case


def _small(effort: Effort) -> Iterator[tuple[int, DualCube]]:
    """All small cases with their k; with quick effort those with at most 2 faults."""
    for m, k in SMALL:
        for dual in effort.each(all_cases(m, k, _most(effort, m, k)), f"DC({m}), k = {k}"):
            yield k, dual


def _most(effort: Effort, m: int, k: int) -> int:
    """Most faults of a small case."""
    limit = fault_limit(m, k) - 1
    return effort.pick(limit, min(limit, 2))


# ---------------------------------------------------------------- lemmas


@ledger.claim(
    "lemma-1",
    where="Lemma 1",
    states=(
        "For 0 <= k <= m/2 and a nonfaulty node s in a k-safe DC(m) with |F| < 2^k (m - k + 1), [there is] "
        "a fault-free path s -> u : u' of length at most k + 2."
    ),
)
def lemma_1(effort: Effort) -> Verdict:
    """A proof, tried on cases."""
    for k, dual in itertools.chain(_small(effort), ((k, dual) for k, (dual, _) in _hunted(effort))):
        near = reach(dual, 0, dual.cluster_dims(0), k + 1)
        assert any(not dual.is_faulty(dual.cross(u)) for u in near), (dual, k)
    return Verdict(
        "holds",
        "proved for all m and k <= m: else each of the 2^k (m - k + 1) or more nodes in and next to what s reaches within k "
        f"links of its cluster would be faulty or have a faulty cross neighbour (docs/proofs.md); besides, {_tried(effort)}",
    )


@ledger.claim(
    "lemma-2",
    where="Lemma 2",
    states=(
        f"For {CONDITIONS}, s and t in different clusters of one class, [there is] a fault-free path "
        "s -> u -> v over one virtual edge (u : v), s -> u in the cluster of s."
    ),
    correction="A fault-free path from s to t exists, if not always over one virtual edge (theorem-1-path).",
)
def lemma_2(effort: Effort) -> Verdict:
    """Existence of a path over one virtual edge, in order of m, k and size."""
    for k, dual in _small(Effort(tell=effort.tell)):  # three faults are needed
        for t in nonfaulty_others(dual):
            if dual.class_of(t) == 0 and not dual.same_cluster(0, t) and not dual.virtual_edges(0, t):
                assert isinstance(dual.faulty_nodes, frozenset)
                return Verdict(
                    "refuted",
                    f"k-safe fault sets of DC(m) in order of m, k and size, up to DC({dual.m}), k = {k}, "
                    f"{len(dual.faulty_nodes)} faults",
                    witness(
                        f"DC({dual.m}) is {k}-safe with {len(dual.faulty_nodes)} < {fault_limit(dual.m, k)} faults, yet no "
                        f"virtual edge with a fault-free path leads from what 0 reaches in its cluster into that of {t}",
                        dual,
                        f"(lambda d: [d.is_safe({k}), d.virtual_edges(0, {t})])(fc.{dual.source()})",
                        t=t,
                        k=k,
                    ),
                )
    return Verdict("undecided", "all fault sets of DC(1) and DC(2), all k")


# ---------------------------------------------------------------- the algorithms as printed


@dataclass
class _Failures:
    """How often a step fails, at one (m, k), and where first."""

    cases: int = 0
    failed: int = 0
    first: tuple[DualCube, int] | None = None

    def count(self, dual: DualCube, t: int, failed: bool) -> None:
        self.cases += 1
        self.failed += failed
        if failed and self.first is None:
            self.first = dual, t


@dataclass
class _Printed:
    """What the printed algorithms do at one (m, k) for s = 0 and all t, or some: Algorithms 1, 2 and 3 by number."""

    some: bool
    of: dict[int, _Failures] = field(default_factory=lambda: {1: _Failures(), 2: _Failures(), 3: _Failures()})


#: What :func:`_printed` found with full and quick effort.
_FOUND: dict[bool, dict[tuple[int, int], _Printed]] = {}


def _printed(effort: Effort) -> dict[tuple[int, int], _Printed]:
    """All small cases routed from 0 to every t by the printed algorithms; with quick effort to two t of each kind in DC(2).

    Algorithm 1 is asked by a route to any node of the other class, Algorithm 2 by one to another cluster of the class of s
    that has no more faults than that of s, as it demands.
    """
    if effort.quick not in _FOUND:
        found = _FOUND[effort.quick] = {}
        for m, k in SMALL:
            seen = found[m, k] = _Printed(some=effort.quick and m > 1)
            for dual in effort.each(all_cases(m, k), f"DC({m}), k = {k}"):
                _route_all(dual, k, seen)
    return _FOUND[effort.quick]


def _route_all(dual: DualCube, k: int, seen: _Printed) -> None:
    """Route from 0 to every nonfaulty node, or to the first two of each kind: in its cluster, in its class, in the other."""
    asked = False
    kinds = Counter[tuple[int, bool]]()
    for t in nonfaulty_others(dual):
        kind = dual.class_of(t), dual.same_cluster(0, t)
        kinds[kind] += 1
        if seen.some and kinds[kind] > 2:
            continue
        result = offline(dual, 0, t, k, "literal")
        if dual.class_of(t) == 1 and not asked:
            asked = True
            seen.of[1].count(dual, t, result.reason.startswith("Algorithm 1"))
        if dual.class_of(t) == 0 and not dual.same_cluster(0, t) and _faults(dual, 0) >= _faults(dual, t):
            seen.of[2].count(dual, t, result.reason.startswith("Algorithm 2"))
        seen.of[3].count(dual, t, result.outcome == "failed")


def _faults(dual: DualCube, node: int) -> int:
    """Faults in the cluster of a node."""
    assert isinstance(dual.faulty_nodes, frozenset)
    return sum(dual.same_cluster(node, fault) for fault in dual.faulty_nodes)


def _fails(effort: Effort, number: int, cases: str) -> Verdict:
    """The smallest case in which a printed algorithm fails, the smallest with k = 1, and the share of cases that fail."""
    shares, first, strict = [], None, None
    for (m, k), seen in _printed(effort).items():
        part = seen.of[number]
        some = " with the first two t of each kind" if seen.some and number > 1 else ""
        shares.append(
            f"{part.failed} of {part.cases} ({100 * part.failed / part.cases:.2g}%) in DC({m}), k = {k}{some}"
        )
        if part.first is not None:
            dual, t = part.first
            assumed = ", where T_(-1) is empty by our convention" if k == 0 else ", where nothing is our convention"
            if first is None:
                first = _route_witness(dual, t, k, assumed)
            elif k and strict is None:
                strict = _route_witness(dual, t, k, assumed)
    checked = f"all {cases} from s = 0 within the conditions; it fails in " + ", ".join(shares)
    if first is None:
        return Verdict("undecided", checked)
    return Verdict("refuted", checked, first, () if strict is None else (strict,))


def _route_witness(dual: DualCube, t: int, k: int, assumed: str) -> Witness:
    length = distance(dual, 0, t)
    words = f"DC({dual.m}), k = {k}{assumed}: from 0 to {t} the printed algorithms fail, though a path of length {length} exists"
    python = f"fc.route(fc.{dual.source()}, 0, {t}, algorithm='OFFLINE', k={k}, variant='literal').reason"
    return witness(words, dual, python, t=t, k=k)


@ledger.claim(
    "algorithm-1",
    where="Algorithm 1 and Lemma 1",
    states="Binomial_Tree_Routing, as printed, finds that path.",
    correction="The path exists (lemma-1).",
    group="printed",
)
def algorithm_1(effort: Effort) -> Verdict:
    """All fault sets of DC(1) and DC(2)."""
    return _fails(effort, 1, "fault sets")


@ledger.claim(
    "algorithm-2",
    where="Algorithm 2 and Lemma 2",
    states="Cluster_Routing, as printed, finds that path [|F in C_s| >= |F in C_t|, as it demands].",
    correction="A fault-free path to t exists (theorem-1-path); one over a single virtual edge need not (lemma-2).",
    group="printed",
)
def algorithm_2(effort: Effort) -> Verdict:
    """All fault sets of DC(1) and DC(2), and all t of other clusters of the class of s."""
    return _fails(effort, 2, "fault sets and t in other clusters of the class of s with no more faults")


# ---------------------------------------------------------------- Theorem 1


@ledger.claim(
    "theorem-1-path",
    where="Theorem 1",
    states=f"For {CONDITIONS}, [there is] a fault-free path from s to t.",
)
def theorem_1_path(effort: Effort) -> Verdict:
    """A proof, tried on cases."""
    for _, dual in _small(effort):
        assert len(reach(dual, 0, 2**dual.bits - 1)) == 1 + len(list(nonfaulty_others(dual))), dual
    for _, (dual, t) in _hunted(effort):
        assert distance(dual, 0, t) is not None, (dual, t)
    return Verdict(
        "holds",
        "proved for all m and k <= m: clusters with few faults are connected and so are they among each other, at most one has "
        f"many, and lemma-1 leads out of it (docs/proofs.md); besides, {_tried(effort)}",
    )


@ledger.claim(
    "theorem-1-algorithm",
    where="Algorithm 3 and Theorem 1",
    states=f"DualCube_Routing, as printed, finds a fault-free path for {CONDITIONS}.",
    correction="A path exists (theorem-1-path).",
    group="printed",
)
def theorem_1_algorithm(effort: Effort) -> Verdict:
    """All fault sets of DC(1) and DC(2), and all t."""
    return _fails(effort, 3, "fault sets and t")


#: What :func:`_repaired` found with full and quick effort.
_ROUTED: dict[bool, tuple[int, dict[int, int]]] = {}


def _repaired(effort: Effort) -> tuple[int, dict[int, int]]:
    """Routes of the repaired algorithms tried within the theorem's conditions, and the largest excess over d for each k.

    Raises AssertionError where one fails.
    """
    if effort.quick not in _ROUTED:
        routes, excess = 0, dict[int, int]()
        for k, dual, t in _repaired_cases(effort):
            result = offline(dual, 0, t, k, "repaired")
            assert result.length is not None, (dual, k, t)
            routes += 1
            excess[k] = max(excess.get(k, 0), result.length - dual.metric(0, t))
        _ROUTED[effort.quick] = routes, excess
    return _ROUTED[effort.quick]


def _repaired_cases(effort: Effort) -> Iterator[tuple[int, DualCube, int]]:
    """Small cases, in DC(2) with k = 1 for some t of every kind only, and hunted ones."""
    for k, dual in _small(effort):
        for t in nonfaulty_others(dual) if k == 0 else (1, 3, 4, 5, 16, 17, 20, 21):
            if not dual.is_faulty(t):
                yield k, dual, t
    for m, k in HUNT:
        for dual, t in effort.each(hunt(m, k, 2, effort.pick(HUNTED, HUNTED // 10)), f"hunting in DC({m}), k = {k}"):
            yield k, dual, t


@ledger.claim(
    "theorem-1-repaired",
    where="Algorithm 3 and Theorem 1",
    states=f"[With the repairs of reading B6] DualCube_Routing finds a fault-free path for {CONDITIONS}.",
    correction=(
        "It does wherever tried in DC(1) to DC(6); a path exists always (theorem-1-path), and a tree that is found by halves "
        "(tree-exists)."
    ),
    ours=True,
    group="repaired",
)
def theorem_1_repaired(effort: Effort) -> Verdict:
    """The repaired algorithms: small cases and the hunt, then the first size at which they need a tree T_4."""
    routes, _ = _repaired(effort)
    few = effort.pick("", " with at most 2 faults")
    dual = DualCube(10, STOP_10_4)
    assert dual.is_safe(5)
    t = next(t for t in nonfaulty_others(dual) if offline(dual, 0, t, 5, "repaired").outcome == "failed")
    return Verdict(
        "refuted",
        f"{routes:,} routes from 0 of DC(1) to DC(6), all k <= m/2 (all fault sets of DC(1) and DC(2){few}, 8 of the t "
        "in DC(2), k = 1; else hunted): none fails; DC(10), k = 5, the first that needs T_4: fails",
        witness(
            "DC(10) is 5-safe with 8 < 2^5 (10 - 5 + 1) faults, yet T_4(0) cannot be constructed stage by stage",
            dual,
            f"fc.route(fc.{dual.source()}, 0, {t}, algorithm='OFFLINE', k=5, variant='repaired').reason",
            t=t,
            k=5,
        ),
    )


@ledger.claim(
    "theorem-1-length",
    where="Theorem 1",
    states="The path has length at most d(s, t) + O(k^2).",
    group="repaired",
)
def theorem_1_length(effort: Effort) -> Verdict:
    """A bound O(k^2) cannot be decided by cases; the largest excess seen is reported."""
    routes, excess = _repaired(effort)
    seen = ", ".join(f"{e} at k = {k}" for k, e in sorted(excess.items()))
    return Verdict(
        "undecided",
        f"O(k^2) names no constant; largest length - d(s, t) of {routes:,} routes of the repaired algorithms on DC(1) to "
        f"DC(6): {seen}",
    )
