"""Claims of Li, Peng & Chu on routes in k-safe dual-cubes: Lemmas 1 and 2, Algorithms 1 to 3, Theorem 1.

Statements that are proved (docs/proofs.md) are also tested.  Cases are all fault sets of small dual-cubes, and random fault sets
of larger ones: close to s and t, with the cube just k-safe.
"""

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from fastcube.algorithms.shortest import distance
from fastcube.networks.dualcube import DualCube

from ...claims import Cases, Counterexample, Effort, Verdict, check_agreement
from .choices import entry_nodes, exit_nodes, faults_around, has_edge, is_route_possible
from .fault_sets import (
    RANDOM_CASES,
    STOP_8_4,
    STOP_10_4,
    enumerate_cases,
    fault_limit,
    nonfaulty_others,
    sample_cases,
)
from .hypercube_routing import check_route, reachable_distances, subcube_nodes
from .registry import dual_counterexample, registry

SMALL = [(1, 0), (2, 0), (2, 1)]
RANDOM_SIZES = [(m, k) for m in range(3, 7) for k in range(m // 2 + 1)]

CONDITIONS = "0 <= k <= m/2, DC(m) being k-safe with |F| < 2^k (m - k + 1), and any nonfaulty s and t"


#: Description of the cases of ``_small_cases`` and ``_random_cases``; ``{}`` is the number of random cases of each size.
_RANGE_TEXT = (
    "all fault sets of DC(1) and DC(2), all k; {} random cases at each k of DC(3) to DC(6), and at DC(8), k = 4, with the faults "
    "that stop the greedy T_4(s)"
)


def _random_cases(count: int) -> Iterator[tuple[int, DualCube, int]]:
    """Yield random cases as (k, dual-cube, t), ``count`` of each size."""
    for m, k, always in [*((m, k, ()) for m, k in RANDOM_SIZES), (8, 4, STOP_8_4)]:
        for dual, t in sample_cases(m, k, 1, count, always):
            yield k, dual, t


def _small_cases() -> Iterator[tuple[int, DualCube]]:
    """Yield all small cases as (k, dual-cube)."""
    for m, k in SMALL:
        for dual in enumerate_cases(m, k):
            yield k, dual


def _cases(make: Callable[[int], Iterable[tuple[Any, ...]]]) -> Cases:
    """Return cases that ``make`` builds from small and random dual-cubes."""
    return Cases(_RANGE_TEXT, make, RANDOM_CASES, RANDOM_CASES // 10, method="random")


# ---------------------------------------------------------------- lemmas


@registry.forall(
    "lemma-1",
    _cases(
        lambda count: itertools.chain(_small_cases(), ((k, dual) for k, dual, _ in _random_cases(count)))
    ).with_proof(
        "proved for all m and k <= m: else each of the 2^k (m - k + 1) or more nodes in and next to what s reaches within k "
        "links of its cluster would be faulty or have a faulty cross neighbour (docs/proofs.md); besides, ",
    ),
    where="Lemma 1",
    states=(
        "In a k-safe DC(m) with |F| < 2^k (m - k + 1), 0 <= k <= m/2, a fault-free path of at most k + 2 links leads "
        "from any nonfaulty node s through its cluster and over a cross edge."
    ),
)
def lemma_1(k: int, dual: DualCube) -> Counterexample | None:
    """Test a proved statement on cases: a path of k + 1 links leads from 0 to a node with a nonfaulty cross neighbour."""
    near = reachable_distances(dual, 0, dual.cluster_dims(0), k + 1)
    if any(not dual.is_faulty(dual.cross(u)) for u in near):
        return None
    description = f"whether each node of the cluster of {dual.label(0)} and its cross neighbour are faulty"
    python = "[[d.is_faulty(u), d.is_faulty(d.cross(u))] for u in range(2**d.m)]"
    return dual_counterexample(description, dual, python, "d", k=k)


@registry.claim(
    "lemma-2",
    where="Lemma 2",
    states=(
        f"For {CONDITIONS} [in different clusters of one class], a fault-free path leads from s through its cluster and over one "
        "virtual edge into the cluster of t."
    ),
    correction=(
        "A fault-free path from s to t exists (theorem-1-path), if not always over one virtual edge, nor always by the way over "
        "u' that the proof adds (algorithm-2)."
    ),
)
def lemma_2(effort: Effort) -> Verdict:
    """Find a case in which no path leads over a single virtual edge, in order of m, k and number of faults."""
    for k, dual in effort.each(_small_cases(), "small dual-cubes"):
        for t in nonfaulty_others(dual):
            other_cluster = effort.count_if_applicable(dual.class_of(t) == 0 and not dual.same_cluster(0, t))
            if other_cluster and not dual.virtual_edges(0, t):
                return Verdict(
                    "refuted",
                    f"k-safe fault sets of DC(m) in order of m, k and size, up to DC({dual.m}), k = {k}, "
                    f"{len(_faulty_nodes(dual))} faults",
                    dual_counterexample(
                        f"DC({dual.m}) is {k}-safe with {len(_faulty_nodes(dual))} < {fault_limit(dual.m, k)} faults, yet no "
                        f"virtual edge with a fault-free path leads from what {dual.label(0)} reaches in its cluster into "
                        f"that of {dual.label(t)}",
                        dual,
                        f"[d.is_safe({k}), d.virtual_edges(0, {t})]",
                        "d",
                        t=t,
                        k=k,
                    ),
                )
    return Verdict("undecided", "all fault sets of DC(1) and DC(2), all k")


def _virtual_edges(count: int) -> Iterator[tuple[int, DualCube, int, int]]:
    """Yield k >= 1, a dual-cube and the ends of each virtual edge of the cluster of 0 that section 2 calls nonfaulty."""
    for k, dual, t in _other_cluster_cases(count):
        if k:
            for u, v in _virtual_edges_between(dual, t):
                if has_edge(dual, u, t, k):
                    yield k, dual, u, v


def _other_cluster_cases(count: int) -> Iterator[tuple[int, DualCube, int]]:
    """Yield cases as (k, dual-cube, t), with t in another cluster of the class of 0."""
    for k, dual in _small_cases():
        t = 1 << dual.m if dual.class_of(0) == 0 else 1
        yield k, dual, t
    for k, dual, t in _random_cases(count):
        if dual.class_of(t) == 0 and not dual.same_cluster(0, t):
            yield k, dual, t


def _virtual_edges_between(dual: DualCube, t: int) -> Iterator[tuple[int, int]]:
    """Yield all virtual edges between the clusters of 0 and of t."""
    inside = dual.cluster_dims(0)
    return ((u, u | (t & ~inside)) for u in subcube_nodes(0, inside))


@registry.forall(
    "virtual-edge-path",
    _cases(_virtual_edges).with_proof(
        "proved: each node has one neighbour outside of its cluster, and a (k-1)-safe m-cube with fewer than 2^(k-1) "
        "(m - k + 1) faults is connected (hypercube-path); besides, ",
    ),
    where="section 2",
    states=(
        "The cluster that a nonfaulty virtual edge (u : v) crosses is (k-1)-safe in a k-safe DC(m), so that a "
        "fault-free path joins u and v, 1 <= k <= m/2."
    ),
    group="virtual edges",
)
def virtual_edge_path(k: int, dual: DualCube, u: int, v: int) -> Counterexample | None:
    """Test a proved statement on cases: a fault-free path joins the cross neighbours of u and v inside their cluster."""
    inside = dual.cluster_dims(dual.cross(u))
    if dual.cross(v) in reachable_distances(dual, dual.cross(u), inside):
        return None
    ends = f"{dual.label(dual.cross(u))} and {dual.label(dual.cross(v))}"
    python = f"[v for v in fc.{dual.source()}.faulty_nodes if (v ^ {dual.cross(u)}) & ~{inside} == 0]"
    return dual_counterexample(f"the faults of a cluster in which no path joins {ends}", dual, python, k=k)


@registry.forall(
    "faulty-virtual-edges",
    _cases(_other_cluster_cases).with_proof(
        "proved: a fault of the class of s has one position, and a fault of the other class is in one cluster; virtual edges "
        "of other positions or clusters do not depend on it; besides, ",
    ),
    where="section 2",
    states=(
        "All faulty virtual edges between two clusters of DC(m), m >= 1, are found in O(|F|) time [by one look at "
        "each fault: it has the position of one edge at the most, or is in the cluster that one edge crosses]."
    ),
    group="virtual edges",
)
def faulty_virtual_edges(k: int, dual: DualCube, t: int) -> Counterexample | None:
    """Check that each faulty virtual edge has a fault at its ends, at their cross neighbours or in the cluster between them."""
    faulty = [u for u, _ in _virtual_edges_between(dual, t) if not has_edge(dual, u, t, max(k, 1))]
    named = {dual.position(f) if dual.class_of(f) == 0 else dual.cluster(f) for f in _faulty_nodes(dual)}
    if len(faulty) <= len(_faulty_nodes(dual)) and {dual.position(u) for u in faulty} <= named:
        return None
    ends = ", ".join(map(dual.label, faulty))
    python = "[[d.class_of(f), d.cluster(f), d.position(f)] for f in sorted(d.faulty_nodes)]"
    return dual_counterexample(
        f"class, cluster and position of each fault; faulty edges at {ends}", dual, python, "d", t=t, k=k
    )


# ---------------------------------------------------------------- the algorithms as printed


@dataclass
class _Failures:
    """Number of cases in which an algorithm fails at one (m, k), and the first such case."""

    cases: int = 0
    failed: int = 0
    first: tuple[DualCube, int] | None = None
    unavoidable: tuple[DualCube, int] | None = None  #: the first failure that no choice of trees and nodes avoids

    def count(self, dual: DualCube, t: int, k: int, is_failed: bool, is_avoidable: Callable[[], object]) -> None:
        """Count a case; only for k >= 1 a failure is tried again with every choice, by ``is_avoidable``."""
        self.cases += 1
        self.failed += is_failed
        if is_failed and self.first is None:
            self.first = dual, t
        if is_failed and k and self.unavoidable is None and not is_avoidable():
            self.unavoidable = dual, t


@dataclass
class _PrintedResults:
    """Failures of the printed Algorithms 1, 2 and 3 at one (m, k), for s = 0 and all t, or the first two t of each kind."""

    few_targets: bool
    by_algorithm: dict[int, _Failures] = field(default_factory=lambda: {1: _Failures(), 2: _Failures(), 3: _Failures()})


@functools.cache
def _printed_results(quick: bool) -> dict[tuple[int, int], _PrintedResults]:
    """Route from 0 to every t by the printed algorithms in all small cases; with quick effort to two t of each kind in DC(2).

    Every route to the other class tests Algorithm 1.  A route to another cluster of the class of s tests Algorithm 2 if that
    cluster has no more faults than the cluster of s, as the algorithm requires.
    """
    found = {}
    for m, k in SMALL:
        results = found[m, k] = _PrintedResults(few_targets=quick and m > 1)
        for dual in enumerate_cases(m, k):
            _route_all(dual, k, results)
    return found


def _route_all(dual: DualCube, k: int, results: _PrintedResults) -> None:
    """Route from 0 to every nonfaulty node, or to two of each kind: in its cluster, in its class, in the other class."""
    count_1, count_2, count_3 = (results.by_algorithm[number].count for number in (1, 2, 3))
    kinds = Counter[tuple[int, bool]]()
    for t in nonfaulty_others(dual):
        kind = dual.class_of(t), dual.same_cluster(0, t)
        kinds[kind] += 1
        if results.few_targets and kinds[kind] > 2:
            continue
        route = check_route(dual, t, k, "as_printed")
        if kind[0] == 1 and kinds[kind] == 1:  # Algorithm 1 does not depend on t
            is_failed = route.reason.startswith("Algorithm 1")
            count_1(dual, t, k, is_failed, functools.partial(exit_nodes, dual, 0, k))
        if kind == (0, False) and faults_around(dual, 0) >= faults_around(dual, t):
            is_failed = route.reason.startswith("Algorithm 2")
            count_2(dual, t, k, is_failed, functools.partial(entry_nodes, dual, 0, t, k))
        count_3(dual, t, k, route.outcome == "failed", functools.partial(is_route_possible, dual, 0, t, k))


def _faulty_nodes(dual: DualCube) -> frozenset[int]:
    return dual.faulty_nodes  # type: ignore[return-value]


def _decide_printed(effort: Effort, number: int, cases: str) -> Verdict:
    """Decide a claim on a printed algorithm: the smallest case that fails for every choice, which needs k >= 1, refutes it."""
    fractions, found, is_refuted = [], list[Counterexample](), False
    for (m, k), results in _printed_results(effort.quick).items():
        counted = results.by_algorithm[number]
        effort.applied += counted.cases
        targets = " with the first two t of each kind" if results.few_targets and number > 1 else ""
        percent = 100 * counted.failed / counted.cases
        fractions.append(f"{counted.failed} of {counted.cases} ({percent:.2g}%) in DC({m}), k = {k}{targets}")
        if counted.unavoidable is not None:
            dual, t = counted.unavoidable
            found.insert(0, _route_counterexample(dual, t, k, ", whatever trees and nodes are chosen"))
            is_refuted = True
        elif counted.first is not None and not found:
            dual, t = counted.first
            found.append(_route_counterexample(dual, t, k, ", where T_(-1) is empty by our convention" * (k == 0)))
    checked = f"all {cases} from s = 0 within the conditions; by interpretation B6 it fails in " + ", ".join(fractions)
    if not is_refuted:
        return Verdict("undecided", checked, found[0] if found else None)
    return Verdict("refuted", checked, found[0], tuple(found[1:]))


def _route_counterexample(dual: DualCube, t: int, k: int, assumed: str) -> Counterexample:
    length = distance(dual, 0, t)
    ends = f"from {dual.label(0)} to {dual.label(t)}"
    description = (
        f"DC({dual.m}), k = {k}{assumed}: {ends} the printed algorithms fail, though a path of length {length} exists"
    )
    python = f"fc.route(fc.{dual.source()}, 0, {t}, algorithm='OFFLINE', k={k}, variant='as_printed').reason"
    return dual_counterexample(description, dual, python, t=t, k=k)


@registry.claim(
    "algorithm-1",
    where="Algorithm 1 and Lemma 1",
    states="Algorithm 1 finds the path of Lemma 1 for 1 <= k <= m/2 [whatever trees and nodes are chosen].",
    correction="The path exists (lemma-1); the nodes that T_k(s) adds have cross neighbours, too.",
    misprint_reason="The proof of Lemma 1 uses the cross neighbours of T_k(s), the algorithm those of T_(k-1)(s) alone.",
    group="printed",
)
def algorithm_1(effort: Effort) -> Verdict:
    """Run Algorithm 1 on all fault sets of DC(1) and DC(2)."""
    return _decide_printed(effort, 1, "fault sets")


@registry.claim(
    "algorithm-2",
    where="Algorithm 2 and Lemma 2",
    states=(
        "Algorithm 2 finds the path of Lemma 2 for 1 <= k <= m/2, the cluster of s having no fewer faults, as it demands "
        "[whatever trees and nodes are chosen]."
    ),
    correction="A fault-free path to t exists (theorem-1-path); one over a single virtual edge need not (lemma-2).",
    fact="printed-algorithms",
    group="printed",
)
def algorithm_2(effort: Effort) -> Verdict:
    """Run Algorithm 2 on all fault sets of DC(1) and DC(2), for all t in other clusters of the class of s."""
    return _decide_printed(effort, 2, "fault sets and t in other clusters of the class of s with no more faults")


# ---------------------------------------------------------------- Theorem 1


def _messages(count: int) -> Iterator[tuple[DualCube, int]]:
    """Yield small cases, each with the first node t that no path reaches from 0, else any t, and random cases with their t."""
    for _, dual in _small_cases():
        near = reachable_distances(dual, 0, 2**dual.bits - 1)
        yield dual, next((t for t in nonfaulty_others(dual) if t not in near), next(nonfaulty_others(dual)))
    yield from ((dual, t) for _, dual, t in _random_cases(count))


@registry.forall(
    "theorem-1-path",
    _cases(_messages).with_proof(
        "proved for all m and k <= m: clusters with few faults are connected and so are they among each other, at most one has "
        "many, and lemma-1 leads out of it (docs/proofs.md); besides, ",
    ),
    where="Theorem 1",
    states=f"For {CONDITIONS}, a fault-free path leads from s to t.",
)
def theorem_1_path(dual: DualCube, t: int) -> Counterexample | None:
    """Test a proved statement on cases: a fault-free path joins 0 and t."""
    if distance(dual, 0, t) is not None:
        return None
    description = f"no path from {dual.label(0)} to {dual.label(t)}"
    return dual_counterexample(description, dual, f"fc.distance(fc.{dual.source()}, 0, {t})", t=t)


@registry.claim(
    "theorem-1-algorithm",
    where="Algorithm 3 and Theorem 1",
    states=f"Algorithm 3 finds a fault-free path for {CONDITIONS}, k >= 1 [whatever trees and nodes are chosen].",
    correction="A path exists (theorem-1-path).",
    fact="printed-algorithms",
    group="printed",
)
def theorem_1_algorithm(effort: Effort) -> Verdict:
    """Run Algorithm 3 on all fault sets of DC(1) and DC(2), for all t."""
    return _decide_printed(effort, 3, "fault sets and t")


def _corrected_cases(effort: Effort) -> Iterator[tuple[int, DualCube, int]]:
    """Yield small cases, with some t of every kind in DC(2) for k = 1, and random cases."""
    for k, dual in _small_cases():
        if len(_faulty_nodes(dual)) > effort.by_effort(3, 2):
            continue
        for t in nonfaulty_others(dual) if k == 0 else (1, 3, 4, 5, 16, 17, 20, 21):
            if not dual.is_faulty(t):
                yield k, dual, t
    for m, k in RANDOM_SIZES:
        for dual, t in effort.each(
            sample_cases(m, k, 2, effort.by_effort(RANDOM_CASES, RANDOM_CASES // 10)),
            f"random search in DC({m}), k = {k}",
        ):
            yield k, dual, t


@registry.claim(
    "theorem-1-corrected",
    where="Algorithm 3 and Theorem 1",
    states=f"[With the corrections of B6 and the trees of B2, Algorithm 3 finds a fault-free path for {CONDITIONS}.]",
    correction=(
        "With the first free child of B2 it stops where a tree must have 16 nodes. A path always exists (theorem-1-path), "
        "and so does a tree, found by halves (tree-exists)."
    ),
    added=True,
    fact="greedy-tree",
)
def theorem_1_corrected(effort: Effort) -> Verdict:
    """Route by the corrected algorithms in small and random cases, then in the smallest dual-cube where they need a tree T_4."""

    def check(case: tuple[int, DualCube, int]) -> Counterexample | None:
        k, dual, t = case
        if check_route(dual, t, k, "corrected").outcome == "delivered":
            return None
        description = (
            f"DC({dual.m}) is {k}-safe with few enough faults, yet B2's first free child does not grow "
            f"T_{max(k - 1, 0)}(0)"
        )
        python = f"fc.route(fc.{dual.source()}, 0, {t}, algorithm='OFFLINE', k={k}, variant='corrected').reason"
        return dual_counterexample(description, dual, python, t=t, k=k)

    few = effort.by_effort("", " with at most 2 faults")
    checked = (
        f"routes from 0 of DC(1) to DC(6), all k <= m/2 (all fault sets of DC(1) and DC(2){few}, 8 of the t in DC(2), k = 1; "
        "else at random)"
    )
    found = effort.find_first(_corrected_cases(effort), check)
    if found is not None:
        return Verdict("refuted", checked, found)
    dual = DualCube(10, STOP_10_4)
    check_agreement(
        dual.is_safe(5), True, "whether DC(10) is 5-safe with the faults that stop the tree of interpretation B2"
    )
    found = effort.find_first(((5, dual, t) for t in nonfaulty_others(dual)), check)
    if found is None:
        return Verdict("undecided", f"{checked}, and DC(10), k = 5: none fails")
    return Verdict("refuted", f"{checked}: none fails; DC(10), k = 5, the first that needs T_4: fails", found)


@registry.claim(
    "theorem-1-length",
    where="Theorem 1",
    states=(
        f"For {CONDITIONS}, the path has d(s, t) + O(k^2) links [a shortest fault-free one, with the constants of the proof's "
        "first case: d(s, t) + 6 + 2k + k (k + 5) / 2 at the most]."
    ),
)
def theorem_1_length(effort: Effort) -> Verdict:
    """Compare shortest paths with the proof: k + 2 links out of the cluster, k + 2 for the virtual edge, the rest inside."""
    largest: dict[int, int] = {}

    def check(k: int, dual: DualCube, t: int, length: int) -> Counterexample | None:
        most = dual.intact_distance(0, t) + 6 + 2 * k + k * (k + 5) // 2
        largest[k] = max(largest.get(k, 0), length - dual.intact_distance(0, t))
        if length <= most:
            return None
        ends = f"from {dual.label(0)} to {dual.label(t)}"
        description = f"DC({dual.m}), k = {k}: links of a shortest path {ends}, and the bound"
        return dual_counterexample(description, dual, f"[fc.distance(fc.{dual.source()}, 0, {t}), {most}]", t=t, k=k)

    cases = _cases(_lengths)
    found = cases.decide(effort, check).counterexample
    by_k = ", ".join(f"{excess} at k = {k}" for k, excess in sorted(largest.items()))
    checked = (
        "not proved: O(k^2) names no constant, and that of the first case is not shown for the others; the longest shortest "
        f"path beyond d(s, t), {by_k}: {cases.text_for(effort)}"
    )
    return Verdict("undecided", checked) if found is None else Verdict.refuted_if(found, checked)


def _lengths(count: int) -> Iterator[tuple[int, DualCube, int, int]]:
    """Yield k, a dual-cube, a node t that a path reaches from 0, and the length of a shortest path."""
    for k, dual in _small_cases():
        yield from ((k, dual, t, length) for t, length in reachable_distances(dual, 0, 2**dual.bits - 1).items())
    for k, dual, t in _random_cases(count):
        length = distance(dual, 0, t)
        if length is not None:
            yield k, dual, t, length
