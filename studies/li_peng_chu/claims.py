"""Claims of Li, Peng & Chu, "Binomial-Tree Fault Tolerant Routing in Dual-Cubes with Large Number of Faulty Nodes".

Statements are as printed; what a reading adds stands in square brackets.  Every dual-cube maps onto itself with
any node moved to label 0 and dimension order kept, so cases are searched with s = 0.  Small dual-cubes are searched
through all fault sets, larger ones by hunting: random fault sets close to s and t that just keep the cube k-safe.
A smallest witness is the first in order of m, k, number of faults, faults, t.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping

from fastcube.algorithms.dualcube import offline
from fastcube.engine.claims import Effort, Ledger, Verdict, Witness
from fastcube.engine.estimate import proportion
from fastcube.networks.dualcube import DualCube

from .cases import HUNTED, all_cases, healthy_others, hunt, keeps_safe, reach, tree_faults

ledger = Ledger("li_peng_chu")

SMALL = [(1, 0), (2, 0), (2, 1)]
HUNT = [(m, k) for m in range(3, 7) for k in range(m // 2 + 1)]
CHECKED = f"all fault sets of DC(1) and DC(2), all k; hunted with {HUNTED} cases at each k of DC(3) to DC(6)"


def _witness(words: str, dual: DualCube, python: str, **data: int) -> Witness:
    import fastcube as fc

    value = eval(python, {"fc": fc})
    assert isinstance(dual.faulty_nodes, frozenset)
    return Witness(
        words, python, value, {"network": "DualCube", "m": dual.m, "faulty_nodes": sorted(dual.faulty_nodes), **data}
    )


def _route_text(dual: DualCube, t: int, k: int, variant: str) -> str:
    return f"fc.route(fc.{dual.source()}, 0, {t}, algorithm='OFFLINE', k={k}, variant='{variant}').reason"


# ---------------------------------------------------------------- the network


@ledger.claim(
    "distance",
    where="section 1",
    states="[d(s, t) is the Hamming distance, plus 2 between different clusters of one class.]",
    ours=True,
)
def distance(effort: Effort) -> Verdict:
    """Breadth-first search without faults against Hamming distance, plus 2 between clusters of one class."""
    for m in range(1, 6):
        dual = DualCube(m)
        everything = 2**dual.bits - 1
        for s in range(2**dual.bits) if m <= 3 else (0,):
            found = reach(dual, s, everything)
            for t, length in found.items():
                if length != dual.metric(s, t):
                    return Verdict(
                        "refuted", "", _witness("d(s, t)", dual, f"fc.distance(fc.{dual.source()}, {s}, {t})", s=s, t=t)
                    )
    return Verdict("holds", "all pairs of DC(1) to DC(3); all nodes from node 0 in DC(4) and DC(5)")


@ledger.claim(
    "virtual-paths",
    where="section 2",
    states="The 2^m paths in DC(m) corresponding to the 2^m virtual edges in VH_{m+1} are disjoint.",
)
def virtual_paths(effort: Effort) -> Verdict:
    """The clusters that the paths of different virtual edges run through are different, and so are their ends."""
    for m in range(1, 4):
        dual = DualCube(m)
        for s, t in itertools.product(range(2**dual.bits), repeat=2):
            if dual.class_of(s) != dual.class_of(t) or dual.same_cluster(s, t):
                continue
            used: set[int] = set()
            for u in reach(dual, s, dual.cluster_dims(s)):
                v = (u & dual.cluster_dims(u)) | (t & ~dual.cluster_dims(u))
                path = {u, v, *reach(dual, dual.cross(u), dual.cluster_dims(dual.cross(u)))}
                if path & used or dual.cross(v) not in path:
                    return Verdict("refuted", "", _witness("shared nodes", dual, f"{sorted(path & used)}", s=s, t=t))
                used |= path
            if m == 3 and t > 16:  # one representative cluster pair of each kind is enough: the rest are translations
                break
    return Verdict("holds", "all pairs of clusters of DC(1) and DC(2), clusters of s = 0, 1, ... in DC(3)")


# ---------------------------------------------------------------- binomial trees


@ledger.claim(
    "tree-exists",
    where="section 2",
    states="Since H_n is k-safe the T_k(s) can be found [stage by stage, each node taking its first free child; 0 <= k <= n/2].",
)
def tree_exists(effort: Effort) -> Verdict:
    """All fault sets that the tree can meet, for n <= 7; at (8, 4), the next size, the fewest faults that stop it."""
    for n in range(1, 8):
        for k in range(n // 2 + 1):
            assert tree_faults(n, k, lambda tree, f, n=n, k=k: tree is None and keeps_safe(n, k, f)) is None  # type: ignore[misc]
    faults = tree_faults(8, 4, lambda tree, f: tree is None and keeps_safe(8, 4, f), most=6)
    assert faults is not None
    dual = DualCube(8, faults)
    return Verdict(
        "refuted",
        "all fault sets of Q_n for n <= 7, k <= n/2: it can; in Q_8, k = 4: not with these 6 faults, the fewest",
        _witness(
            "the cluster of node 0 is a 4-safe 8-cube with 6 < 2^4 (8 - 4) faults, yet a node of T_3(0) has no free child left",
            dual,
            f"fc.{dual.source()}.binomial_tree(0, 4)",
            k=4,
        ),
    )


@ledger.claim(
    "tree-neighbours",
    where="section 2, proof of Lemma 1",
    states="It was known that for T_k(s) in an m-cube, we have |N(T_k(s))| >= 2^k (m - k) [0 <= k <= m/2].",
)
def tree_neighbours(effort: Effort) -> Verdict:
    """All trees of Q_n, n <= 5, k <= n/2; at (6, 3), the next size that can differ, the fewest faults that force one."""

    def small(n: int, k: int) -> Callable[[list[int] | None, frozenset[int]], bool]:
        def bad(tree: list[int] | None, _: frozenset[int]) -> bool:
            return tree is not None and len({u ^ 1 << d for u in tree for d in range(n)} - set(tree)) < 2**k * (n - k)

        return bad

    sizes = [(n, k) for n in range(1, 7) for k in range(n // 2 + 1)]
    for n, k in sizes[:-1]:
        assert tree_faults(n, k, small(n, k)) is None
    n, k = sizes[-1]
    faults = next(f for most in range(2**n) if (f := tree_faults(n, k, small(n, k), most)) is not None)
    dual = DualCube(n, faults)
    text = f"fc.{dual.source()}"
    return Verdict(
        "refuted",
        "all trees of Q_n, n <= 6, k <= n/2, (n, k) < (6, 3): it holds; in Q_6, k = 3: not with these faults, the fewest",
        _witness(
            f"T_{k}(0) in a {n}-cube has fewer than {2**k * (n - k)} neighbours",
            dual,
            f"len({text}.cluster_boundary({text}.binomial_tree(0, {k})))",
            k=k,
        ),
    )


# ---------------------------------------------------------------- lemmas and theorem


def _exit_within(dual: DualCube, k: int) -> bool:
    """Is there a nonfaulty path 0 -> u : u' of at most k + 2 links with 0 -> u in one cluster?"""
    near = reach(dual, 0, dual.cluster_dims(0), k + 1)
    return any(not dual.is_faulty(dual.cross(u)) for u in near)


def _virtual_exit(dual: DualCube, t: int) -> bool:
    """Is there a u, reached from 0 inside its cluster, with a nonfaulty path u : u' -> v' : v into t's cluster?"""
    dims = dual.cluster_dims(0)
    for u in reach(dual, 0, dims):
        v = (u & dims) | (t & ~dims)
        out, back = dual.cross(u), dual.cross(v)
        if not any(dual.is_faulty(x) for x in (v, out, back)) and back in reach(dual, out, dual.cluster_dims(out)):
            return True
    return False


def _small_and_hunted() -> Iterator[tuple[DualCube, int, int | None]]:
    """All small cases with k and None, then the hunted ones with k and their t."""
    for m, k in SMALL:
        for dual in all_cases(m, k):
            yield dual, k, None
    for m, k in HUNT:
        for dual, t in hunt(m, k, 1):
            yield dual, k, t


@ledger.claim(
    "lemma-1",
    where="Lemma 1",
    states=(
        "For 0 <= k <= m/2 and a nonfaulty node s in a k-safe DC(m) with |F| < 2^k (m - k + 1), [there is] "
        "a fault-free path s -> u : u' of length at most k + 2."
    ),
)
def lemma_1(effort: Effort) -> Verdict:
    """Existence of the path of at most k + 2 links out of the cluster."""
    for dual, k, _ in _small_and_hunted():
        if not _exit_within(dual, k):
            text = f"fc.{dual.source()}.is_safe({k})"
            return Verdict(
                "refuted", CHECKED, _witness("no path out of the cluster of 0 is that short", dual, text, k=k)
            )
    return Verdict("holds", CHECKED)


@ledger.claim(
    "lemma-2",
    where="Lemma 2",
    states=(
        "Under the same conditions, for s and t in different clusters of one class, [there is] a fault-free path "
        "s -> u -> v over one virtual edge (u : v)."
    ),
)
def lemma_2(effort: Effort) -> Verdict:
    """Existence of a path over one virtual edge, in order of m, k and size."""
    for dual, k, hunted in _small_and_hunted():
        for t in healthy_others(dual) if hunted is None else (hunted,):
            if dual.class_of(t) == 0 and not dual.same_cluster(0, t) and not _virtual_exit(dual, t):
                return Verdict(
                    "refuted",
                    f"all k-safe fault sets of DC(m) in order of m, k and size, up to DC({dual.m}), k = {k}",
                    _witness(
                        f"no u that 0 reaches inside its cluster has a nonfaulty virtual edge into the cluster of {t}",
                        dual,
                        _route_text(dual, t, k, "literal"),
                        t=t,
                        k=k,
                    ),
                )
    return Verdict("holds", CHECKED)


@ledger.claim(
    "theorem-1-path",
    where="Theorem 1",
    states="For 0 <= k <= m/2, nonfaulty s and t in a k-safe DC(m) with |F| < 2^k (m - k + 1) [are joined by a fault-free path].",
)
def theorem_1_path(effort: Effort) -> Verdict:
    """Existence of a nonfaulty path."""
    for dual, k, hunted in _small_and_hunted():
        reached = reach(dual, 0, 2**dual.bits - 1, goal=hunted)
        for t in healthy_others(dual) if hunted is None else (hunted,):
            if t not in reached:
                text = f"fc.distance(fc.{dual.source()}, 0, {t})"
                return Verdict("refuted", CHECKED, _witness("no nonfaulty path", dual, text, t=t, k=k))
    return Verdict("holds", CHECKED)


def _first_failure(effort: Effort, step: str) -> Verdict:
    """The smallest case in which the printed algorithms fail, within the theorem's conditions, in the step named."""
    for m, k in SMALL:
        for dual in all_cases(m, k):
            for t in healthy_others(dual):
                result = offline(dual, 0, t, k, "literal")
                if result.outcome == "failed" and result.reason.startswith(step):
                    words = (
                        f"DC({m}), k = {k}: from 0 to {t} the printed algorithms fail, though a nonfaulty path exists"
                    )
                    return Verdict(
                        "refuted",
                        f"fault sets of DC(m) in order of m, k and size, up to DC({m}), k = {k}, {len(dual.faulty_nodes)} fault",  # type: ignore[arg-type]
                        _witness(words, dual, _route_text(dual, t, k, "literal"), t=t, k=k),
                    )
    return Verdict("undecided", "all fault sets of DC(1) and DC(2)")


@ledger.claim(
    "algorithm-1",
    where="Algorithm 1 and Lemma 1",
    states="Binomial_Tree_Routing, as printed, finds that path.",
)
def algorithm_1(effort: Effort) -> Verdict:
    """The smallest case in which it fails."""
    return _first_failure(effort, "Algorithm 1")


@ledger.claim(
    "algorithm-2",
    where="Algorithm 2 and Lemma 2",
    states="Cluster_Routing, as printed, finds that path.",
)
def algorithm_2(effort: Effort) -> Verdict:
    """The smallest case in which it fails."""
    return _first_failure(effort, "Algorithm 2")


@ledger.claim(
    "theorem-1-algorithm",
    where="Algorithm 3 and Theorem 1",
    states="DualCube_Routing, as printed, finds a fault-free path under these conditions.",
)
def theorem_1_algorithm(effort: Effort) -> Verdict:
    """The smallest case in which it fails."""
    return _first_failure(effort, "Algorithm")


@functools.cache
def _repaired() -> tuple[int, dict[int, int]]:
    """Routes of the repaired algorithms tried within the theorem's conditions, and the largest excess over d for each k.

    Raises AssertionError where one fails.
    """
    routes = 0
    excess: dict[int, int] = {}

    def one(dual: DualCube, k: int, t: int) -> None:
        nonlocal routes
        result = offline(dual, 0, t, k, "repaired")
        assert result.length is not None, (dual, k, t)
        routes += 1
        excess[k] = max(excess.get(k, 0), result.length - dual.metric(0, t))

    for m, k in SMALL:
        for dual in all_cases(m, k):
            for t in healthy_others(dual) if (m, k) != (2, 1) else (1, 3, 4, 5, 16, 17, 20, 21):
                if not dual.is_faulty(t):
                    one(dual, k, t)
    for m, k in HUNT:
        for dual, t in hunt(m, k, 2):
            one(dual, k, t)
    return routes, excess


#: Faults in the cluster of node 0 of DC(10) that stop T_4(0): the fewest, found as in :func:`_stuck`.
_STOP_10_4 = (128, 256, 513, 514, 516, 520, 528, 544)


@ledger.claim(
    "theorem-1-repaired",
    where="Algorithm 3 and Theorem 1",
    states="[With the repairs of reading B6] DualCube_Routing finds a fault-free path under these conditions.",
    ours=True,
)
def theorem_1_repaired(effort: Effort) -> Verdict:
    """The repaired algorithms: small cases and the hunt, then the first size at which they need a tree T_4."""
    routes, _ = _repaired()
    dual = DualCube(10, _STOP_10_4)
    assert dual.is_safe(5)
    t = next(t for t in healthy_others(dual) if offline(dual, 0, t, 5, "repaired").outcome == "failed")
    return Verdict(
        "refuted",
        f"{routes} routes of DC(1) to DC(6), all k <= m/2: none fails; DC(10), k = 5, the first that needs T_4: fails",
        _witness(
            "DC(10) is 5-safe with 8 < 2^5 (10 - 5 + 1) faults, yet T_4(0) cannot be constructed stage by stage",
            dual,
            _route_text(dual, t, 5, "repaired"),
            t=t,
            k=5,
        ),
    )


@ledger.claim(
    "theorem-1-length",
    where="Theorem 1",
    states="The path has length at most d(s, t) + O(k^2).",
)
def theorem_1_length(effort: Effort) -> Verdict:
    """A bound O(k^2) cannot be decided by cases; the largest excess seen is reported."""
    _, excess = _repaired()
    seen = ", ".join(f"{e} at k = {k}" for k, e in sorted(excess.items()))
    return Verdict(
        "undecided",
        f"O(k^2) names no constant; largest length - d(s, t) of the repaired algorithms on DC(1) to DC(6): {seen}",
    )


# ---------------------------------------------------------------- simulations


def _tally(m: int, rate: float, trials: int) -> Mapping[str, int]:
    """Counters of the first trials of a point at seed 0."""
    from .routing import DUALCUBE_ROUTING

    return DUALCUBE_ROUTING.count({"m": m, "rate": rate}, trials).counts


def _success(m: int, rate: float) -> tuple[float, float, float]:
    """Estimate and limits at level 1e-6 of the success rate, from 10^5 trials."""
    counts = _tally(m, rate, 100_000)
    e = proportion(counts["delivered"], counts["valid"], 1e-6)
    return e.value, e.low, e.high


def _simulated(rates: list[float], least: float) -> tuple[list[str], list[str]]:
    above: list[str] = []
    below: list[str] = []
    for m in range(5, 10):
        for rate in rates:
            value, low, high = _success(m, rate)
            (above if low > least else below if high < least else []).append(f"{value:.4f} at m={m},rate={rate}")
    return above, below


@ledger.claim(
    "success-ninety",
    where="section 3, Figure 1",
    states="The successful routing rate is very high (> 90%) if the node failure rate is less than 30%.",
    ours=True,
)
def success_ninety(effort: Effort) -> Verdict:
    """Intervals at level 1e-6 above 0.9 at every published m, at rates up to 0.29."""
    rates = [0.05, 0.1, 0.15, 0.2, 0.25, 0.29]
    above, below = _simulated(rates, 0.9)
    checked = (
        f"10^5 trials each at m = 5..9, rates {rates}: above at {len(above)}, below at {len(below)}; least {min(above)}"
    )
    return Verdict("holds" if len(above) == 5 * len(rates) else "undecided", checked)


@ledger.claim(
    "success-fifty",
    where="section 3, Figure 1",
    states="In most cases, the successful routing rates are still larger than 50% with the node failure rates up to 50%.",
    ours=True,
)
def success_fifty(effort: Effort) -> Verdict:
    """Intervals at level 1e-6 against 0.5 over the published grid from rate 0.3 on; "most" is more than half."""
    rates = [0.3, 0.35, 0.4, 0.45, 0.5]
    above, below = _simulated(rates, 0.5)
    checked = f"10^5 trials each at m = 5..9, rates {rates}: above at {len(above)}, below at {len(below)} ({'; '.join(below)})"
    return Verdict("holds" if len(above) > 5 * len(rates) / 2 else "undecided", checked)


@ledger.claim(
    "paths-close",
    where="section 3, Figure 2",
    states="The fault-free paths found by our algorithm are very close to the minimum paths in most of the cases.",
    ours=True,
)
def paths_close(effort: Effort) -> Verdict:
    """No threshold is printed: what was measured is reported."""
    ratios, shares = [], []
    for m in range(5, 10):
        for rate in (0.1, 0.3, 0.5):
            counts = _tally(m, rate, 2000)
            ratios.append(counts["length"] / counts["shortest"])
            shares.append(counts["shortest_routes"] / counts["delivered"])
    return Verdict(
        "undecided",
        "no threshold is printed; 2000 trials each at m = 5..9, rates 0.1, 0.3, 0.5: total length over total shortest length "
        f"{min(ratios):.3f} to {max(ratios):.3f}, share of shortest routes {max(shares):.2f} down to {min(shares):.2f}",
    )
