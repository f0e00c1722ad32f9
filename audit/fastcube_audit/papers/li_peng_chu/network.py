"""Claims of Li, Peng & Chu on the dual-cube and its binomial trees.

Statements are in our words, and square brackets mark what an interpretation adds.  Every dual-cube has an automorphism that moves
any given node to label 0 and keeps the order of dimensions, so all cases have s = 0.  A smallest counterexample is the first in
order of m, k, number of faults, faults, t.
"""

import itertools
from collections.abc import Callable, Iterator

from fastcube.networks.dualcube import DualCube

from ...claims import Cases, Counterexample, Effort, Verdict, check_agreement
from .binomial_trees import build_tree_by_halves, complete_tree, smallest_faults_where
from .choices import trees
from .fault_sets import STOP_8_4, is_k_safe, saturated_faults
from .hypercube_routing import reachable_distances
from .registry import dual_counterexample, registry

# ---------------------------------------------------------------- the network


def _distances(largest: int) -> Iterator[tuple[DualCube, int]]:
    """Yield each node of the small dual-cubes, and node 0 of larger dual-cubes."""
    for m in range(1, largest + 1):
        dual = DualCube(m)
        yield from ((dual, s) for s in (range(2**dual.bits) if m <= 3 else (0,)))


@registry.forall(
    "distance",
    Cases(
        "all pairs of DC(1) to DC(3); all nodes from node 0, to which any node can be moved, in {0[1]}",
        lambda chosen: _distances(chosen[0]),
        full=(6, "DC(4) to DC(6)"),
        quick=(4, "DC(4)"),
    ),
    where="section 1",
    states="[d(s, t) of DC(m), m >= 1, is the Hamming distance, and 2 more between different clusters of one class.]",
    added=True,
)
def distance(dual: DualCube, s: int) -> Counterexample | None:
    """Compare fault-free distances with the Hamming distance, plus 2 for nodes in different clusters of one class."""
    for t, length in reachable_distances(dual, s, 2**dual.bits - 1).items():
        if length != dual.intact_distance(s, t):
            return dual_counterexample("d(s, t)", dual, f"fc.distance(fc.{dual.source()}, {s}, {t})", s=s, t=t)
    return None


def _cluster_pairs(largest: int) -> Iterator[tuple[DualCube, int, int]]:
    """Yield pairs of nodes in two clusters of one class, one node of each cluster."""
    for m in range(1, largest + 1):
        dual = DualCube(m)
        firsts = [s for s in range(2**dual.bits) if dual.position(s) == 0]
        yield from ((dual, s, t) for s in firsts for t in firsts if dual.class_of(s) == dual.class_of(t) and s != t)


@registry.forall(
    "virtual-paths",
    Cases(
        "proved for all m: the path of (u : v) runs through the cluster that u's position names, v' included, and different u "
        "have different positions; besides, all pairs of clusters of DC(1) to DC({})",
        _cluster_pairs,
        full=4,
        quick=3,
        method="proved",
    ),
    where="section 2",
    states=(
        "The paths in DC(m), m >= 1, of the 2^m virtual edges between two clusters of one class have no node in common, however "
        "each runs in the cluster that it crosses."
    ),
)
def virtual_paths(dual: DualCube, s: int, t: int) -> Counterexample | None:
    """Check that the paths over the virtual edges between the clusters of s and t have no common nodes."""
    if _has_disjoint_paths(dual, s, t):
        return None
    description = "where each path enters and leaves the cluster that it crosses"
    python = f"[[d.cross(u), d.cross(v)] for u, v in d.virtual_edges({s}, {t})]"
    return dual_counterexample(description, dual, python, "d", s=s, t=t)


def _has_disjoint_paths(dual: DualCube, s: int, t: int) -> bool:
    """Return whether the node sets that the paths can use, u, v and the cluster of u', are disjoint for all virtual edges."""
    dims = dual.cluster_dims(s)
    used: set[int] = set()
    for u in reachable_distances(dual, s, dims):
        v = (u & dims) | (t & ~dims)
        path = {u, v, *reachable_distances(dual, dual.cross(u), dual.cluster_dims(dual.cross(u)))}
        if path & used or dual.cross(v) not in path:
            return False
        used |= path
    return True


# ---------------------------------------------------------------- binomial trees


def _cubes(largest: int) -> Iterator[tuple[int, int, frozenset[int]]]:
    """Yield n, k and faults of k-safe Q_n: all for n <= 3, ``STOP_8_4``, and random sets to which no fault can be added."""
    for n in (1, 2, 3):
        for size in range(2**n):
            for chosen in itertools.combinations(range(1, 2**n), size):
                yield from ((n, k, frozenset(chosen)) for k in range(n + 1) if is_k_safe(n, k, frozenset(chosen)))
    yield 8, 4, frozenset(STOP_8_4)
    for n in range(4, largest + 1):
        yield from ((n, k, saturated_faults(n, k, seed)) for k in range(n + 1) for seed in range(5))


@registry.forall(
    "tree-exists",
    Cases(
        "proved for all n and k: both halves of the cube along a nonfaulty link (s : r) are (k-1)-safe, and a T_(k-1) "
        "of s and one of r make a T_k(s) (docs/proofs.md); besides, built so in all k-safe Q_1, Q_2, Q_3, in Q_8 with "
        "tree-greedy's counterexample, and in random cubes, n <= {}, all k, to which no fault can be added",
        _cubes,
        full=10,
        quick=8,
        method="proved",
    ),
    where="section 2",
    states="In a k-safe Q_n, 0 <= k <= n, every nonfaulty node is the root of some fault-free T_k.",
)
def tree_exists(n: int, k: int, faults: frozenset[int]) -> Counterexample | None:
    """Build the tree of the proof; where that fails, try every other choice of children."""
    if _is_tree(build_tree_by_halves(faults, 0, k, 2**n - 1), n, k, faults):
        return None
    cube = DualCube(n, faults)
    other = next(trees(cube, 0, k), None)
    check_agreement(other, None, f"trees by halves, and some tree, with k = {k} and faults {sorted(faults)}")
    description = f"k = {k}: no choice of children grows a tree"
    return dual_counterexample(description, cube, f"fc.{cube.source()}.binomial_tree(0, {k})", k=k)


def _is_tree(parent: dict[int, int], n: int, k: int, faults: frozenset[int]) -> bool:
    """Return whether the map node -> parent is a fault-free binomial tree of 2^k nodes in Q_n with root 0."""
    if len(parent) != 2**k or parent.keys() & faults or 0 not in parent:
        return False
    for leaf in parent:
        dims, u = [], leaf
        while u:
            dims.append(u ^ parent[u])
            u = parent[u]
            if len(dims) > n:
                return False
        if any(d.bit_count() != 1 for d in dims) or len(set(dims)) < len(dims):
            return False
    return True


@registry.claim(
    "tree-greedy",
    where="section 2",
    states="[Interpretation B2 finds T_k(s) in a k-safe Q_n, 0 <= k <= n/2: stage by stage, every node's first free child.]",
    added=True,
    correction="A tree exists and is found by halves (tree-exists); here it is found, too, by the lowest free dimension first.",
    fact="greedy-tree",
)
def tree_greedy(effort: Effort) -> Verdict:
    """Find a fault set that stops the greedy tree: all sets that a tree can meet, for small n, then up to 6 faults for (8, 4)."""
    largest = effort.by_effort(full=7, quick=6)

    def is_stopped(n: int, k: int) -> Callable[[list[int] | None, frozenset[int]], bool]:
        return lambda tree, faults: effort.count_if_applicable(is_k_safe(n, k, faults)) and tree is None

    sizes = [(n, k, None) for n in range(1, largest + 1) for k in range(n // 2 + 1)]
    for n, k, most in effort.each([*sizes, (8, 4, 6)]):
        faults = smallest_faults_where(n, k, is_stopped(n, k), most)
        if faults is None:
            continue
        check_agreement(faults, list(STOP_8_4), "the fewest faults that stop the tree of interpretation B2")
        dual = DualCube(n, faults)
        description = (
            "node 0's cluster is a 4-safe 8-cube with 6 < 2^4 (8 - 4) faults, yet a node of T_3(0) has "
            "no free child left"
        )
        other = complete_tree(frozenset(faults), 0, k, 2**n - 1, highest=False) or {}
        links = [[v, parent] for v, parent in other.items() if v != parent]
        sound = "[len(t), all(d.is_link(*x) for x in t), any(d.is_faulty(v) for x in t for v in x)]"
        return Verdict(
            "refuted",
            f"all fault sets of Q_n for n <= {largest}, k <= n/2: it can; in Q_8, k = 4: not with these 6 faults, the fewest",
            dual_counterexample(description, dual, f"fc.{dual.source()}.binomial_tree(0, {k})", k=k),
            (
                dual_counterexample(
                    "another T_4(0), by the lowest free dimension first: 15 links, none of a faulty node",
                    dual,
                    f"t = {links}\n{sound}",
                    "d",
                    k=k,
                ).with_form("{0} links, all there: {1}, one of a faulty node: {2}"),
            ),
        )
    return Verdict(
        "undecided", f"all fault sets of Q_n for n <= {largest}, k <= n/2, and of Q_8, k = 4, with at most 6 faults"
    )


@registry.claim(
    "tree-neighbours",
    where="section 2, proof of Lemma 1, which quotes it from another paper",
    states="A fault-free T_k(s) in a k-safe Q_m has 2^k (m - k) neighbours or more, 0 <= k <= m/2.",
    correction=(
        "Where every node within k - 1 fault-free links of s has k nonfaulty neighbours, all nodes within k such links, together "
        "with their neighbours, are at least 2^k (m - k + 1), which is enough for Lemma 1 (docs/proofs.md)."
    ),
)
def tree_neighbours(effort: Effort) -> Verdict:
    """Count the neighbours of the trees of interpretation B2 among all faults that they can meet, n <= 6."""

    def has_few_neighbours(n: int, k: int) -> Callable[[list[int] | None, frozenset[int]], bool]:
        def is_below_bound(tree: list[int] | None, _: frozenset[int]) -> bool:
            if tree is None:
                return False
            effort.count_if_applicable()
            least: int = 2**k * (n - k)
            return len({u ^ 1 << d for u in tree for d in range(n)} - set(tree)) < least

        return is_below_bound

    for n, k in effort.each([(d, k) for d in range(1, 7) for k in range(d // 2 + 1)]):
        limits = [None] if (n, k) != (6, 3) else range(2**n)
        faults = next(
            (f for most in limits if (f := smallest_faults_where(n, k, has_few_neighbours(n, k), most)) is not None),
            None,
        )
        if faults is not None:
            dual = DualCube(n, faults)
            text = f"fc.{dual.source()}"
            description = f"neighbours of T_{k}(0) in a {n}-cube, fewer than {2**k * (n - k)}"
            python = f"len({text}.cluster_boundary({text}.binomial_tree(0, {k})))"
            checked = (
                f"all trees that interpretation B2 grows among faults of Q_n, (n, k) before ({n}, {k}): it holds; "
                f"in Q_{n}, k = {k}: not "
                "with these faults, the fewest; the tree is one of the paper's, whatever else could have been chosen"
            )
            return Verdict("refuted", checked, dual_counterexample(description, dual, python, k=k))
    return Verdict("holds", "all trees that interpretation B2 grows among faults of Q_n, n <= 6, k <= n/2")
