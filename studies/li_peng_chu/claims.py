"""Claims of Li, Peng & Chu, "Binomial-Tree Fault Tolerant Routing in Dual-Cubes with Large Number of Faulty Nodes".

Here: the network and its trees.  Statements are as printed; what a reading adds stands in square brackets.  Every dual-cube maps
onto itself with any node moved to label 0 and dimension order kept, so cases are searched with s = 0.  A smallest
witness is the first in order of m, k, number of faults, faults, t.
"""

from __future__ import annotations

from collections.abc import Callable

from fastcube.engine.claims import Effort, Ledger, Verdict, Witness
from fastcube.networks.dualcube import DualCube

from .cases import STOP_8_4, keeps_safe, reach, saturated, tree_by_halves, tree_faults

ledger = Ledger("li_peng_chu")


def witness(words: str, dual: DualCube, python: str, **data: int) -> Witness:
    """A witness on one dual-cube."""
    assert isinstance(dual.faulty_nodes, frozenset)
    return Witness.of(
        words, python, {"network": "DualCube", "m": dual.m, "faulty_nodes": sorted(dual.faulty_nodes), **data}
    )


# ---------------------------------------------------------------- the network


@ledger.claim(
    "distance",
    where="section 1",
    states="[d(s, t) is the Hamming distance, plus 2 between different clusters of one class.]",
    ours=True,
)
def distance(effort: Effort) -> Verdict:
    """Breadth-first search without faults against Hamming distance, plus 2 between clusters of one class."""
    for m in range(1, effort.pick(full=7, quick=5)):
        dual = DualCube(m)
        for s in effort.each(range(2**dual.bits) if m <= 3 else (0,), f"DC({m})"):
            for t, length in reach(dual, s, 2**dual.bits - 1).items():
                if length != dual.metric(s, t):
                    python = f"fc.distance(fc.{dual.source()}, {s}, {t})"
                    return Verdict("refuted", f"all pairs up to DC({m})", witness("d(s, t)", dual, python, s=s, t=t))
    return Verdict(
        "holds",
        f"all pairs of DC(1) to DC(3); all nodes from node 0, to which any node can be moved, in DC(4) to DC({m})",
    )


@ledger.claim(
    "virtual-paths",
    where="section 2",
    states="The 2^m paths in DC(m) corresponding to the 2^m virtual edges in VH_{m+1} are disjoint.",
)
def virtual_paths(effort: Effort) -> Verdict:
    """All nodes that the paths of one cluster pair can use: u, v and the cluster of u'."""
    largest = effort.pick(full=4, quick=3)
    for m in range(1, largest + 1):
        dual = DualCube(m)
        firsts = [s for s in range(2**dual.bits) if dual.position(s) == 0]  # one node of each cluster
        for s in effort.each(firsts, f"DC({m})"):
            for t in firsts:
                if dual.class_of(s) == dual.class_of(t) and s != t:
                    assert _disjoint(dual, s, t), (m, s, t)
    return Verdict(
        "holds",
        "proved for all m: the path of (u : v) runs through the cluster that u's position names, v' included, and different u "
        f"have different positions; besides, all pairs of clusters of DC(1) to DC({largest})",
    )


def _disjoint(dual: DualCube, s: int, t: int) -> bool:
    """Whether the virtual edges between two clusters have paths without common nodes, however these run."""
    dims = dual.cluster_dims(s)
    used: set[int] = set()
    for u in reach(dual, s, dims):
        v = (u & dims) | (t & ~dims)
        path = {u, v, *reach(dual, dual.cross(u), dual.cluster_dims(dual.cross(u)))}
        if path & used or dual.cross(v) not in path:
            return False
        used |= path
    return True


# ---------------------------------------------------------------- binomial trees


@ledger.claim(
    "tree-exists",
    where="section 2",
    states="Since H_n is k-safe the T_k(s) can be found [some T_k(s) exists].",
)
def tree_exists(effort: Effort) -> Verdict:
    """The proof's tree, built among faults that stop the greedy one and in the k-safe cubes that these leave."""
    cases = [(8, 4, frozenset(STOP_8_4))]
    largest = effort.pick(full=10, quick=8)
    for n in range(1, largest + 1):
        cases += [(n, k, saturated(n, k, seed)) for k in range(n + 1) for seed in range(5)]
    for n, k, faults in effort.each(cases):
        tree = tree_by_halves(faults, 0, k, 2**n - 1)
        assert keeps_safe(n, k, faults), (n, k, faults)
        assert len(tree) == 2**k, (n, k, faults)
        assert not tree.keys() & faults, (n, k, faults)
    return Verdict(
        "holds",
        "proved for all n and k: both halves of the cube along a nonfaulty link (s : r) are (k-1)-safe, and a T_(k-1) of s and "
        "one of r make a T_k(s) (docs/proofs.md); besides, built so in Q_8 with tree-greedy's witness, and in "
        f"{len(cases) - 1} random cubes, n <= {largest}, all k, to which no fault can be added",
    )


@ledger.claim(
    "tree-greedy",
    where="section 2",
    states="Since H_n is k-safe the T_k(s) can be found [stage by stage, each node taking its first free child; 0 <= k <= n/2].",
    ours=True,
    correction="A tree exists, and is found by halves (tree-exists).",
)
def tree_greedy(effort: Effort) -> Verdict:
    """All fault sets that the tree can meet, for small n; at (8, 4), the next size, the fewest faults that stop it."""
    largest = effort.pick(full=7, quick=6)

    def stopping(n: int, k: int) -> Callable[[list[int] | None, frozenset[int]], bool]:
        return lambda tree, faults: tree is None and keeps_safe(n, k, faults)

    for n in effort.each(range(1, largest + 1)):
        assert all(tree_faults(n, k, stopping(n, k)) is None for k in range(n // 2 + 1)), n
    faults = tree_faults(8, 4, stopping(8, 4), most=6)
    assert faults == list(STOP_8_4), faults
    dual = DualCube(8, faults)
    return Verdict(
        "refuted",
        f"all fault sets of Q_n for n <= {largest}, k <= n/2: it can; in Q_8, k = 4: not with these 6 faults, the fewest",
        witness(
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
    correction=(
        "Where every node within k - 1 fault-free links of s has k nonfaulty neighbours, all nodes within k such links, together "
        "with their neighbours, are at least 2^k (m - k + 1), which is enough for Lemma 1 (docs/proofs.md)."
    ),
)
def tree_neighbours(effort: Effort) -> Verdict:
    """The trees of reading B2 among all faults that they can meet, n <= 6; at (6, 3) the fewest faults that force a small one."""

    def small(n: int, k: int) -> Callable[[list[int] | None, frozenset[int]], bool]:
        def bad(tree: list[int] | None, _: frozenset[int]) -> bool:
            return tree is not None and len({u ^ 1 << d for u in tree for d in range(n)} - set(tree)) < 2**k * (n - k)

        return bad

    sizes = [(n, k) for n in range(1, 7) for k in range(n // 2 + 1)]
    for n, k in effort.each(sizes[:-1]):
        assert tree_faults(n, k, small(n, k)) is None, (n, k)
    n, k = sizes[-1]
    faults = next(f for most in range(2**n) if (f := tree_faults(n, k, small(n, k), most)) is not None)
    dual = DualCube(n, faults)
    text = f"fc.{dual.source()}"
    return Verdict(
        "refuted",
        "all trees that reading B2 grows among faults of Q_n, n <= 6, k <= n/2, (n, k) < (6, 3): it holds; in Q_6, k = 3: not "
        "with these faults, the fewest",
        witness(
            f"T_{k}(0) in a {n}-cube has fewer than {2**k * (n - k)} neighbours",
            dual,
            f"len({text}.cluster_boundary({text}.binomial_tree(0, {k})))",
            k=k,
        ),
    )
