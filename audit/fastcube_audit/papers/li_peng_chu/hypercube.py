"""Claims of Li, Peng & Chu on Hypercube_Routing, on the counts in the proof of Lemma 2, and on time; and a result they cite.

A hypercube is the cluster of node 0 in a dual-cube whose other clusters have no faults.  Inside one cluster, Algorithm 3 with
parameter k + 1 uses Hypercube_Routing with k (interpretation B6).
"""

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator

from fastcube.algorithms.spanning_flows import lower_nodes, set_of
from fastcube.measure.estimate import proportion
from fastcube.measure.inventory import inventory
from fastcube.networks.dualcube import DualCube
from fastcube.networks.hypercube import Hypercube

from ...claims import Cases, Counterexample, Effort, Outcome, Verdict, check_agreement
from .choices import is_crossing_possible
from .fault_sets import STOP_10_4, fault_limit, is_k_safe
from .hypercube_routing import check_route, hypercube_path, reachable_distances
from .registry import dual_counterexample, registry

CONDITIONS = "a k-safe n-cube with |F| < 2^k (n - k)"

#: The cubes, as (n, k), of which all fault sets are tried.
_ALL_SIZES = [(n, k) for n in (2, 3, 4) for k in range(n // 2 + 1)]


def _cubes(chosen: tuple[int, int, str]) -> Iterator[tuple[int, int, frozenset[int]]]:
    """Yield n, k and faults that meet the conditions, node 0 nonfaulty: all sets for Q_2 to Q_4, random sets for Q_5 to Q_8."""
    largest, crowded, _ = chosen
    for n, k in _ALL_SIZES:
        most = min((n - k << k) - 1, largest)
        for f in range(most + 1):
            for chosen_nodes in itertools.combinations(range(1, 2**n), f):
                faults = frozenset(chosen_nodes)
                if is_k_safe(n, k, faults):
                    yield n, k, faults
    rng = random.Random(2008)
    for _ in range(crowded):
        n = rng.randrange(5, 9)
        k = rng.randrange(n // 2 + 1)
        near = [x for x in range(1, 2**n) if x.bit_count() <= 3]
        faults = frozenset[int]()
        for x in rng.sample(near, len(near)):
            if len(faults) < (n - k << k) - 1 and is_k_safe(n, k, faults | {x}):
                faults |= {x}
        yield n, k, faults


CUBES = Cases(
    "all fault sets{0[2]} of Q_2, Q_3, Q_4, k <= n/2, and {0[1]} crowded ones of Q_5 to Q_8",
    _cubes,
    full=(8, 600, ""),
    quick=(4, 60, " (of at most 4)"),
)


# ---------------------------------------------------------------- Hypercube_Routing


def _cube_counterexample(
    description: str, n: int, k: int, faults: frozenset[int], python: str, **data: int
) -> Counterexample:
    """Return a counterexample in Q_n, which is called ``cube`` in the expression ``python``."""
    lines = f"cube = fc.{Hypercube(n, faults).source()}\n{python}"
    where = {"n": n, "faulty_nodes": sorted(faults), "k": k}
    return Counterexample.of(f"Q_{n}, k = {k}: {description}", lines, {**where, **data})


@registry.forall(
    "hypercube-path",
    CUBES.with_proof(
        "proved for all n and k < n: safe cubes are connected (docs/proofs.md; Latifi, Hegde & Naraghi-Pour 1994); besides, "
    ),
    where="section 2",
    states=f"In {CONDITIONS}, 0 <= k < n, a fault-free path joins any two nonfaulty nodes.",
    group="hypercube",
)
def path_exists(n: int, k: int, faults: frozenset[int]) -> Counterexample | None:
    """Test a proved statement: a fault-free path joins 0 and every nonfaulty node."""
    near = reachable_distances(DualCube(n, faults), 0, 2**n - 1)
    lost = next((t for t in range(1, 2**n) if t not in near and t not in faults), None)
    if lost is None:
        return None
    description = f"no path from {0:0{n}b} to {lost:0{n}b}"
    return _cube_counterexample(description, n, k, faults, f"fc.distance(cube, 0, {lost})")


@registry.forall(
    "hypercube-half",
    CUBES.with_proof(
        "proved for all n and k < n as Lemma 1: else each of the 2^k (n - k) or more nodes in and next to what s reaches "
        "within k links of its half would be faulty or have a faulty neighbour across (docs/proofs.md); besides, "
    ),
    where="section 2",
    states=(
        f"In {CONDITIONS}, k < n, cut along any dimension, a fault-free path of at most k + 2 links leads into the other half."
    ),
    group="hypercube",
)
def path_into_other_half(n: int, k: int, faults: frozenset[int]) -> Counterexample | None:
    """Test a proved statement on cases: a short path leads from 0 into the other half of the cube, for every dimension."""
    near = reachable_distances(DualCube(n, faults), 0, 2**n - 1, k + 2)
    for i in range(n):
        if not any(v >> i & 1 for v in near):
            lengths = f"[fc.distance(cube, 0, t) for t in range(2**{n}) if t >> {i} & 1 and not cube.is_faulty(t)]"
            return _cube_counterexample(f"links to the nodes across dimension {i}", n, k, faults, lengths)
    return None


@registry.forall(
    "half-of-the-faults",
    CUBES.with_proof("of two parts one is no more than half; "),
    where="section 2",
    states="At most half of the faults are in the half of the cube, n >= 1, in which the recursion goes on.",
    definition=True,
    group="hypercube",
)
def half_of_the_faults(n: int, k: int, faults: frozenset[int]) -> Counterexample | None:
    """Check that the half with fewer faults has at most half of them, for every dimension."""
    for i in range(n):
        if 2 * min(sum(v >> i & 1 for v in faults), sum(not v >> i & 1 for v in faults)) > len(faults):
            python = f"sum(v >> {i} & 1 for v in cube.faulty_nodes)"
            return _cube_counterexample(f"faults across dimension {i}", n, k, faults, python)
    return None


def _decide_excess(effort: Effort, most: Callable[[int], int], reason: str, outcome: Outcome) -> Verdict:
    """Compare the lengths of shortest fault-free paths with d(s, t) plus the bound ``most(k)``.

    ``outcome`` is the verdict where all paths are within the bound, and ``reason`` explains it.
    """
    largest: dict[int, int] = {}

    def check(n: int, k: int, faults: frozenset[int]) -> Counterexample | None:
        for t, length in reachable_distances(DualCube(n, faults), 0, 2**n - 1).items():
            largest[k] = max(largest.get(k, 0), length - t.bit_count())
            if length > t.bit_count() + most(k):
                python = f"[fc.distance(cube, 0, {t}), {t.bit_count() + most(k)}]"
                return _cube_counterexample(
                    f"links of a shortest path to {t:0{n}b}, and the bound", n, k, faults, python, t=t
                )
        return None

    found = CUBES.decide(effort, check).counterexample
    by_k = ", ".join(f"{excess} at k = {k}" for k, excess in sorted(largest.items()))
    checked = f"{reason}; the longest shortest path beyond d(s, t), {by_k}: {CUBES.text_for(effort)}"
    return Verdict(outcome, checked) if found is None else Verdict.refuted_if(found, checked)


@registry.claim(
    "hypercube-length",
    where="section 2",
    states=f"In {CONDITIONS}, k < n, some fault-free path has d(s, t) + O(k^2) links.",
    method="proved",
    group="hypercube",
)
def hypercube_length(effort: Effort) -> Verdict:
    """Test a proved bound with its constant on the shortest fault-free paths of cases."""
    return _decide_excess(
        effort,
        lambda k: 2 + k * (k + 5),  # 2, and twice j + 2 for j = 1, ..., k (out and back)
        "proved for all n and k < n with 2 + k (k + 5): fewer than n faults leave one of n disjoint paths of at most "
        "d + 2 links (k = 0); else hypercube-half leads into the half with fewer faults, which is (k-1)-safe within "
        "the conditions, by at most k + 2 links that add as many to d at most (docs/proofs.md)",
        "holds",
    )


@registry.claim(
    "hypercube-recursion",
    where="section 2",
    states=(
        f"In {CONDITIONS}, k < n, a path's length obeys L(k) <= L(k-1) + (k+2) and L(0) <= d(s, t) + 2 [between the same ends: "
        "d(s, t) + 2 + k (k + 5) / 2 links at the most]."
    ),
    group="hypercube",
)
def hypercube_recursion(effort: Effort) -> Verdict:
    """Test the increments of the recursion on shortest paths; the proved increments are twice as large, for out and back."""
    return _decide_excess(
        effort,
        lambda k: 2 + k * (k + 5) // 2,
        "not proved: k + 2 links into the other half can lead as many away from t, so that twice the increment is what is proved "
        "(hypercube-length); no case contradicts it",
        "undecided",
    )


@registry.forall(
    "hypercube-time",
    Cases(
        "proved: for the least k >= 1, |F| >= 2^(k-1) (n - k + 1), so that the trees T_k, ..., T_1 with their neighbours, at "
        "most 2^(k+1) (n + 1) nodes, are no more than 8 |F|; k = 0 takes O(n) by the cited algorithm; besides, these trees, "
        "grown for n = 2, ..., {}",
        lambda most: ((n, k) for n in range(2, most + 1) for k in range(1, n // 2 + 1)),
        full=20,
        quick=14,
        method="proved",
    ),
    where="section 2",
    states=(
        "Hypercube_Routing takes T(n) = O(|F| + n) time, 0 <= k <= n/2 [counted in nodes of its trees and next to them, no more "
        "than 8 |F| for k >= 1; k the least for which |F| < 2^k (n - k)]."
    ),
    fact="time",
)
def hypercube_time(n: int, k: int) -> Counterexample | None:
    """Count the nodes of the recursion's trees T_(k-i) in n - i dimensions and next to them, and compare with 8 |F|."""
    least = fault_limit(n - 1, k - 1)  # with fewer faults a smaller k suffices
    trees = f"trees = [(d, d.binomial_tree(0, {k} - i)) for i in range({k}) for d in [fc.DualCube({n} - i)]]"
    python = f"[sum(len(t) + len(d.cluster_boundary(t)) for d, t in trees), {8 * least}]"
    description = f"Q_{n}, k = {k}: nodes of the recursion's trees and next to them, and 8 |F| for the fewest faults"
    found = Counterexample.of(description, f"{trees}\n{python}", {"n": n, "k": k, "f": least})
    return None if found.value[0] <= found.value[1] else found


@registry.claim(
    "hypercube-algorithm",
    where="section 2",
    states=(
        f"Hypercube_Routing finds a fault-free path between any two nonfaulty nodes of {CONDITIONS} [by some choice of its "
        "trees]."
    ),
    correction="A path exists (hypercube-path), and a T_k(s) (tree-exists); that some choice always leads on is not proved.",
    group="hypercube",
)
def hypercube_algorithm(effort: Effort) -> Verdict:
    """Count the routes found with two orders of dimensions; where both fail, for k <= 2 and k < n/2, try every choice."""
    routes = Counter[str]()
    for n, k, faults in effort.each([*CUBES.make_for(effort), (10, 4, frozenset(STOP_10_4))]):
        for t in range(1, 2**n) if n <= 4 else (1, 2 ** (n - 1), 2**n - 1, 5):
            if t not in faults:
                effort.count_if_applicable()
                orders = (
                    order
                    for order in ("lowest", "highest")
                    if hypercube_path(faults, 0, t, k, 2**n - 1, order == "highest")
                )
                order = next(orders, "neither")
                routes[order] += 1
                if order == "neither" and k <= min(2, n // 2 - 1):
                    dual = DualCube(n, faults)
                    if not is_crossing_possible(dual, 0, t, k, 2**n - 1):
                        return Verdict(
                            "refuted",
                            f"whatever is chosen; {CUBES.text_for(effort)}",
                            _stopped_tree_counterexample(dual, t, k),
                        )
    return Verdict(
        "undecided",
        f"{routes['lowest']:,} of {routes.total():,} routes are found by taking the lowest free dimension first, "
        f"{routes['highest']:,} more by taking the highest, {routes['neither']:,} by neither: from 0 in "
        f"{CUBES.text_for(effort)}, and in the 10-cube in which the tree of interpretation B2 stops (hypercube-greedy)",
    )


@registry.claim(
    "hypercube-greedy",
    where="section 2",
    states=(
        f"[Hypercube_Routing finds a path in {CONDITIONS}, k <= n/2, by the trees of interpretation B2: every node's first free "
        "child.]"
    ),
    added=True,
    correction="Taking the lowest free dimension first finds one here; a path exists always (hypercube-path).",
    fact="greedy-tree",
    group="hypercube",
)
def hypercube_greedy(effort: Effort) -> Verdict:
    """Route to every node of small cubes, then in the cube in which the tree of interpretation B2 stops."""
    routes = 0
    for n, k, faults in effort.each(CUBES.make_for(effort)):
        if k + 1 <= n // 2:
            dual = DualCube(n, faults)
            for t in range(1, 2**n) if n <= 4 else (1, 2 ** (n - 1), 2**n - 1):
                if t not in faults:
                    routes += effort.count_if_applicable()
                    if check_route(dual, t, k + 1, "corrected").outcome != "delivered":
                        return Verdict("refuted", "cubes by size", _stopped_tree_counterexample(dual, t, k))
    dual = DualCube(10, STOP_10_4)
    t = next(
        (t for t in range(1, 2**10) if t not in STOP_10_4 and check_route(dual, t, 5, "corrected").outcome == "failed"),
        None,
    )
    checked = (
        f"{routes:,} routes from 0 in cubes with k <= n/2 - 1 of {CUBES.text_for(effort)}: none fails; Q_10, k = 4: "
    )
    if t is None:
        return Verdict("undecided", f"{checked}none fails")
    path = hypercube_path(frozenset(STOP_10_4), 0, t, 4, 2**10 - 1, highest=False) or []
    description = (
        f"a path from {0:010b} to {t:010b} by the lowest free dimension first: whether all its links are "
        "there, and some node is faulty"
    )
    lowest = f"p = {path}\n[all(cube.is_link(u, v) for u, v in zip(p, p[1:])), any(map(cube.is_faulty, p))]"
    return Verdict(
        "refuted",
        f"{checked}fails",
        _stopped_tree_counterexample(dual, t, 4),
        (_cube_counterexample(description, 10, 4, frozenset(STOP_10_4), lowest, t=t),),
    )


def _stopped_tree_counterexample(dual: DualCube, t: int, k: int) -> Counterexample:
    description = (
        f"the cluster of node 0 is a {k}-safe {dual.m}-cube with few faults, yet T_{k}(0) of "
        "interpretation B2 stops growing"
    )
    return dual_counterexample(
        description, dual, f"fc.route(fc.{dual.source()}, 0, {t}, algorithm='OFFLINE', k={k + 1}).reason", t=t, k=k
    )


# ---------------------------------------------------------------- Lemma 2's proof


@registry.claim(
    "lemma-2-neighbours",
    where="Lemma 2, proof",
    states="A fault-free T_k(s) has 2^k (m - k + 1) neighbours or more in DC(m), 0 <= k <= m/2 [cross neighbours counted].",
    correction=(
        "Where every node within k - 1 fault-free links of s in its cluster has k nonfaulty neighbours there, all nodes within k "
        "such links, together with their neighbours there, are at least 2^k (m - k + 1) (docs/proofs.md)."
    ),
    fact="tree-neighbours",
)
def lemma_2_neighbours(effort: Effort) -> Verdict:
    """Find the counterexample of the claim ``tree-neighbours``, and add the 2^k cross neighbours."""
    known = registry["tree-neighbours"].decide(effort).counterexample
    if known is None:
        return Verdict("undecided", "tree-neighbours has no counterexample")
    m, k = known.data["m"], known.data["k"]
    dual = DualCube(m, known.data["faulty_nodes"])
    text = f"fc.{dual.source()}"
    python = f"len({text}.cluster_boundary({text}.binomial_tree(0, {k}))) + {2**k}"
    return Verdict(
        "refuted",
        "the same as tree-neighbours, since each of the 2^k nodes has one cross neighbour, and all these are different",
        dual_counterexample(f"neighbours of T_{k}(0) in DC({m}), fewer than {2**k * (m - k + 1)}", dual, python, k=k),
    )


@registry.claim(
    "lemma-2-disjoint",
    where="Lemma 2, proof",
    states=(
        "The paths over N(T_(k-1)(s)) into the cluster of t and those over N(T_(k-1)(u')) are disjoint, 2^k (m - k + 1) in all, "
        "1 <= k <= m/2 [outside of the trees]."
    ),
    correction=(
        "The paths over N(T_(k-1)(s)) are disjoint (virtual-paths). All paths over N(T_(k-1)(u')) enter the cluster of t at"
        " one node, unless they cross another link, as in the correction of interpretation B6."
    ),
)
def lemma_2_disjoint(effort: Effort) -> Verdict:
    """Find two virtual edges (w' : v) that end at the same node."""
    python = "[d.position(d.cross(w)) for w in d.cluster_boundary([d.cross(0)])]"
    for m in effort.each(range(2, effort.by_effort(7, 5))):
        effort.count_if_applicable()
        dual = DualCube(m)
        others = dual.cluster_boundary([dual.cross(0)])
        ends = [dual.position(dual.cross(w)) for w in others]
        if len(set(ends)) < len(ends):
            return Verdict(
                "refuted",
                "proved for all m >= 2, k = 1: w and u' are in one cluster, which the position of w' names, and v has this "
                "position",
                dual_counterexample(
                    f"DC({m}), k = 1, u = s = 0: the position of v for every w in N(T_0(u'))",
                    dual,
                    python,
                    "d",
                    k=1,
                    paths=[[0, dual.cross(0), w, dual.cross(w)] for w in others],
                ),
            )
    return Verdict("undecided", f"k = 1, DC(2) to DC({m}): the ends are different")


@registry.forall(
    "time-bound",
    Cases(
        "proved: the least k >= 1 has |F| >= 2^(k-1) (m - k + 2), so that the 2^k (m + 1) nodes of T_k(s) and next to it are "
        "4 |F| at the most for k <= m/2, and m + 2 for k = 0; besides, T_k(0) grown for m = 1, ..., {}, all k",
        lambda most: ((m, k) for m in range(1, most + 1) for k in range(m // 2 + 1)),
        full=20,
        quick=14,
        method="proved",
    ),
    where="Lemmas 1 and 2, Theorem 1",
    states=(
        "The trees of Algorithms 1 and 2 take O(|F| + m) time, 0 <= k <= m/2 [counted in their nodes and the nodes next to "
        "them, no more than 4 |F| + m + 2; k the least for which |F| < 2^k (m - k + 1)]."
    ),
    fact="time",
)
def time_bound(m: int, k: int) -> Counterexample | None:
    """Count the nodes of T_k(0) and next to it, with the fewest faults that need this k, one in each of that many clusters."""
    least = 0 if k == 0 else fault_limit(m, k - 1)  # with fewer faults a smaller k suffices
    dual = DualCube(m, [c << m for c in range(1, least + 1)])
    check_agreement(dual.is_safe(k), True, f"whether DC({m}) with a fault in each of {least} clusters is {k}-safe")
    python = f"t = d.binomial_tree(0, {k})\n[2 * len(t) + len(d.cluster_boundary(t)), {4 * least + m + 2}]"
    description = f"DC({m}), k = {k}: nodes of T_k(0) and next to it, and 4 |F| + m + 2"
    found = dual_counterexample(description, dual, python, "d", k=k)
    return None if found.value[0] <= found.value[1] else found


@registry.claim(
    "time-bound-any-k",
    where="Lemmas 1 and 2, Theorem 1",
    states="[The same for every k <= m/2 that the fault set allows, not the least alone.]",
    added=True,
    correction="T_(k-1)(s) has 2^(k-1) nodes for every F: k must be the least that the faults require (time-bound).",
    fact="time",
)
def time_bound_any_k(effort: Effort) -> Verdict:
    """Compute the size of the tree T_(k-1)(s), which both algorithms find first, for k = m/2 without faults."""
    for m in effort.each(range(2, effort.by_effort(27, 19), 2)):
        effort.count_if_applicable()
        check_agreement(
            len(DualCube(m).binomial_tree(0, m // 2 - 1) or ()), 2 ** (m // 2 - 1), f"nodes of T_(k-1) in DC({m})"
        )
    python = "[len(fc.DualCube(m).binomial_tree(0, m // 2 - 1)) / (0 + m) for m in (8, 16, 24)]"
    return Verdict(
        "refuted",
        "proved: without a fault T_(k-1)(s) has 2^(k-1) nodes, all but s to be queried; with k = m/2 that is no O(0 + m)",
        dual_counterexample(
            "nodes of T_(k-1)(s) over |F| + m, k = m/2, without faults, m = 8, 16, 24", DualCube(1), python
        ),
    )


# ---------------------------------------------------------------- cited results


def _is_connected(n: int, faults: list[int]) -> bool:
    """Return whether the nonfaulty nodes of Q_n are connected; a set of nodes is an int of 2^n bits, and rounds grow one set."""
    nonfaulty: int = ((1 << 2**n) - 1) ^ set_of(faults)
    low = [lower_nodes(n, i) for i in range(n)]
    reached: int = nonfaulty & -nonfaulty
    before: int = 0
    while reached != before:
        before = reached
        for i in range(n):
            reached |= ((reached & low[i]) << (1 << i) | reached >> (1 << i) & low[i]) & nonfaulty
    return reached == nonfaulty


@registry.claim(
    "ten-cube-connected",
    where="section 1, after Najjar et al.",
    states="With 33% of its nodes faulty the 10-cube is still connected with probability 99%.",
    method="random",
)
def ten_cube_connected(effort: Effort) -> Verdict:
    """Estimate the probability of a connected Q_10 for uniform sets of 338 faults among 1,024 nodes."""
    fraction, stated = (
        inventory("li_peng_chu").value("ten-cube", name) / 100 for name in ("percent of nodes", "percent connected")
    )
    f, rng, trials = round(fraction * 2**10), random.Random(10), effort.by_effort(30_000, 20_000)
    joined = sum(_is_connected(10, rng.sample(range(2**10), f)) for _ in effort.each(range(trials)))
    effort.applied += trials
    found = proportion(joined, trials, 1e-6)
    within = stated - 0.005 < found.low and found.high < stated + 0.005
    return Verdict(
        "holds" if within else "undecided",
        f"{trials:,} sets of {f} of 1,024 nodes: connected {found.value:.4f}, at level 1e-6 within "
        f"[{found.low:.4f}, {found.high:.4f}]",
    )
