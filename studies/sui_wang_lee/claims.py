"""Claims of Sui, Wang & Lee, "Broadcasting on Faulty Hypercubes", about the trees: Lemmas 1-6 and Theorem 1.

Trees are those of readings S1-S9.  Unless a claim is about every n, cubes begin with Q'_3, where the paper begins; Q'_2,
whose tree it calls obvious, is told apart.  What is found at distance d is found for every source and every faulty node.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from fastcube.algorithms.spanning import light, positions
from fastcube.algorithms.spanning_flows import NonfaultyGraph
from fastcube.engine.claims import Effort, Ledger, Verdict, Witness
from fastcube.networks.hypercube import Hypercube

ledger = Ledger("sui_wang_lee")

#: Heights of trees in a witness's expression, of which ``{}`` are the trees as lists of parents.
HEIGHTS = (
    "(lambda depth: [max(depth(t, v, depth) for v in range(len(t)) if t[v] != -2) for t in {}])"
    "(lambda t, v, depth: 0 if t[v] < 0 else 1 + depth(t, t[v], depth))"
)


@functools.cache
def shapes(n: int) -> dict[int, tuple[tuple[int, ...], tuple[int, ...]]]:
    """For each d the heights of the light trees, from their pivots and re-rooted: over all sources and faulty nodes.

    Raises AssertionError where trees do not span, share a directed link, or depend on more than d.
    """
    from fastcube.kernels.spanning.broadcast import light_heights

    out: dict[int, set[tuple[tuple[int, ...], tuple[int, ...]]]] = {}
    heights = np.zeros(n - 1, np.int64)
    for s in range(2**n):
        for f in range(2**n):
            if f != s:
                both = []
                for pivoted in (True, False):
                    assert light_heights(n, s, f, pivoted, heights), (n, s, f)
                    both.append(tuple(heights.tolist()))
                out.setdefault((s ^ f).bit_count(), set()).add((both[0], both[1]))
    assert all(len(kinds) == 1 for kinds in out.values())
    return {d: kinds.pop() for d, kinds in sorted(out.items())}


def cases(effort: Effort, least: int = 3) -> Iterator[tuple[int, int, tuple[int, ...], tuple[int, ...]]]:
    """(n, d, heights from the pivots, heights re-rooted) for n up to 8, or 5 in a quick look."""
    for n in range(least, largest(effort) + 1):
        for d, (pivots, rooted) in effort.each(shapes(n).items(), f"Q'_{n}"):
            yield n, d, pivots, rooted


def largest(effort: Effort) -> int:
    """The largest n looked at."""
    return effort.pick(full=8, quick=5)


def fault_at(n: int, d: int) -> int:
    """The faulty node 1^d 0^(n-d)."""
    return (1 << n) - (1 << n - d)


def heights_witness(words: str, n: int, d: int, pivoted: bool) -> Witness:
    """The heights of the light trees around source 0."""
    cube = Hypercube(n, [fault_at(n, d)])
    trees = f"fc.spanning_trees(fc.{cube.source()}, 0, pivoted={pivoted}).tolist()"
    return Witness.of(words, HEIGHTS.format(trees), {"n": n, "faulty_nodes": [fault_at(n, d)], "source": 0})


def everywhere(effort: Effort, least: int = 3) -> str:
    """The range that :func:`cases` goes through."""
    return f"every source and every faulty node of Q_{least}, ..., Q_{largest(effort)}"


# ---------------------------------------------------------------- Lemmas 1-4


@ledger.claim(
    "lemma-1",
    where="Lemma 1",
    states="For any given node x in Q_n, there exists an automorphism which maps node x to node (0^n) [y -> x XOR y].",
)
def lemma_1(effort: Effort) -> Verdict:
    """Every x: one image a node, and neighbours go to neighbours."""
    for n in range(1, effort.pick(full=8, quick=6) + 1):
        cube = Hypercube(n)
        for x in effort.each(range(2**n), f"Q_{n}"):
            image = [x ^ y for y in range(2**n)]
            assert image[x] == 0 and len(set(image)) == 2**n
            assert all(cube.is_link(image[y], image[z]) for y in range(2**n) for z in cube.neighbours(y))
    return Verdict("holds", f"every x of Q_1, ..., Q_{n}")


@ledger.claim(
    "lemma-2",
    where="Lemma 2",
    states=(
        "For any node f with H(f,s) = d there exists a dimension permutation which maps node f to 1^d 0^(n-d). With pi = "
        "[2 0 4 3 1], node 00101 is mapped to 1^2 0^3 [pi names the dimension at each position, from the top: reading S4]."
    ),
)
def lemma_2(effort: Effort) -> Verdict:
    """The printed permutation, and S4's of every f."""

    def mapped(f: int, dims: list[int]) -> int:
        return sum((f >> k & 1) << p for p, k in enumerate(dims))

    for n in range(1, effort.pick(full=10, quick=6) + 1):
        for f in effort.each(range(1, 2**n), f"Q_{n}"):
            dims = positions(n, 0, f)
            assert sorted(dims) == list(range(n)) and mapped(f, dims) == fault_at(n, f.bit_count())
    assert positions(5, 0, 0b00101)[::-1] == [2, 0, 4, 3, 1] and mapped(0b00101, [1, 3, 4, 0, 2]) == 0b11000
    python = "sum((0b00101 >> k & 1) << 4 - i for i, k in enumerate([2, 0, 4, 3, 1]))"
    witness = Witness.of("00101 becomes 11000, which is 24", python, {"n": 5, "node": 0b00101})
    return Verdict("holds", f"every f of Q_1, ..., Q_{n}; the printed permutation is the one of S4", witness)


@ledger.claim("lemma-3", where="Lemma 3", states="Two light EDST's can be constructed in a Q'_3.", group="light trees")
def lemma_3(effort: Effort) -> Verdict:
    """All sources and faulty nodes of Q_3."""
    shapes(3)
    return Verdict("holds", "every source and every faulty node of Q_3")


@ledger.claim(
    "lemma-4",
    where="Lemma 4",
    states=(
        "Algorithm A finds n - 1 light EDST's, rooted at s_i, 0 <= i <= n - 2, in Q'_n [spanning trees of the nonfaulty nodes, "
        "no two with a directed edge in common]."
    ),
    group="light trees",
)
def lemma_4(effort: Effort) -> Verdict:
    """All sources and faulty nodes; that the re-rooted trees are edge-disjoint too is checked with it."""
    assert all(len(pivots) == n - 1 for n, _, pivots, _ in cases(effort, 2))
    return Verdict("holds", f"{everywhere(effort, 2)}; and so for the trees re-rooted at s")


@ledger.claim("pivoted", where="section II, after [5]", states="Pivoted EDST's are shown to be edge-disjoint.")
def pivoted(effort: Effort) -> Verdict:
    """Parents of one node differ from tree to tree; by translation one source does."""
    most = effort.pick(full=14, quick=8)
    for n in effort.each(range(1, most + 1), "pivoted trees"):
        trees = np.sort(light(Hypercube(n), 0, pivoted=True), axis=0)
        assert ((trees[1:] != trees[:-1]) | (trees[1:] == -1)).all()
    return Verdict("holds", f"Q_1, ..., Q_{most}")


# ---------------------------------------------------------------- heights


@ledger.claim(
    "lemma-5-case-a",
    where="Lemma 5",
    states=(
        "For case A [2 <= H(f,s) <= n], heights of n - 2 light EDST's out of the n - 1 light EDST's are n; the other one has "
        "height n - 1."
    ),
    correction=(
        "In Q'_3 to Q'_8 all n - 1 have height n, but for H(f,s) = n - 1, where one has n - 1: the lemma's own last paragraph."
    ),
    group="light trees",
)
def lemma_5_case_a(effort: Effort) -> Verdict:
    """Heights in order of n, then d."""
    wrong = [(n, d) for n, d, pivots, _ in cases(effort) if d >= 2 and sorted(pivots) != [n - 1] + [n] * (n - 2)]
    if not wrong:
        return Verdict("holds", everywhere(effort))
    right = all((n, n - 1) not in wrong and (n, d) in wrong for n, d, _, _ in cases(effort) if 2 <= d != n - 1)
    checked = f"{everywhere(effort)}: {'so for H(f,s) = n - 1 and for no other' if right else 'not so everywhere'}"
    n, d = wrong[0]
    return Verdict(
        "refuted", checked, heights_witness(f"heights of the light trees of Q'_{n}, H(f,s) = {d}", n, d, True)
    )


@ledger.claim(
    "lemma-5-case-b",
    where="Lemma 5",
    states="For case B [H(f,s) = 1], each of the n - 1 EDST's has height n.",
    group="light trees",
)
def lemma_5_case_b(effort: Effort) -> Verdict:
    """Heights at d = 1."""
    for n, d, pivots, _ in cases(effort):
        if d == 1 and set(pivots) != {n}:
            return Verdict("refuted", everywhere(effort), heights_witness("heights of the light trees", n, d, True))
    return Verdict("holds", f"{everywhere(effort)} at distance 1; the one tree of Q'_2 has height 1 there")


@ledger.claim(
    "lemma-5-optimal",
    where="Lemma 5; Theorem 1",
    states="Each spanning tree is of optimal height [the least that a spanning tree with its root can have].",
    group="light trees",
)
def lemma_5_optimal(effort: Effort) -> Verdict:
    """Heights against eccentricities of the roots."""
    for n, d, pivots, _ in cases(effort, 2):
        f = fault_at(n, d)
        graph = NonfaultyGraph(Hypercube(n, [f]))
        least = tuple(len(list(graph.layers(1 << (1 << i)))) - 1 for i in range(n - 1))
        if pivots != least:
            return Verdict("refuted", everywhere(effort, 2), heights_witness(f"least heights: {least}", n, d, True))
    return Verdict("holds", everywhere(effort, 2))


@ledger.claim(
    "lemma-5-last",
    where="Lemma 5, the last paragraph of its proof",
    states=(
        "Only when the unique faulty node is located at (1^(n-1) 0), the spanning tree rooted at (0^(n-1) 1) has height n - 1. "
        "For all other situations, each spanning tree has height n."
    ),
    group="light trees",
)
def lemma_5_last(effort: Effort) -> Verdict:
    """Heights of every tree."""
    for n, d, pivots, _ in cases(effort, 2):
        if pivots != ((n - 1 if d == n - 1 else n), *(n,) * (n - 2)):
            return Verdict("refuted", everywhere(effort, 2), heights_witness("heights of the light trees", n, d, True))
    return Verdict("holds", everywhere(effort, 2))


@ledger.claim(
    "lemma-6",
    where="Lemma 6",
    states="The diameter of the spanning graph is n + 1 [the greatest height of the trees re-rooted at s].",
    correction="It is n + 1 in Q'_4 to Q'_8, and in Q'_3 but for H(f,s) = 2, where it is 3.",
    group="light trees",
)
def lemma_6(effort: Effort) -> Verdict:
    """Greatest heights."""
    wrong = [(n, d) for n, d, _, rooted in cases(effort) if max(rooted) != n + 1]
    if not wrong:
        return Verdict("holds", everywhere(effort))
    assert [max(rooted) for _, rooted in shapes(2).values()] == [2, 1]
    others = f"{everywhere(effort)}: not so for (n, H(f,s)) in {wrong} and for no other; the one tree of Q'_2 has height 2 or 1"
    return Verdict("refuted", others, heights_witness("heights of the trees rooted at s", *wrong[0], False))


@ledger.claim(
    "n-2-tall-trees",
    where="section IV, after Lemma 6",
    states="At least n - 2 out of the n - 1 EDST's, rooted at the source node, are of height n + 1.",
    correction="So in Q'_4 to Q'_8, and in Q'_3 but for H(f,s) = 2, where both have height 3.",
    group="light trees",
)
def n_2_tall_trees(effort: Effort) -> Verdict:
    """Heights of the re-rooted trees."""
    wrong = [(n, d) for n, d, _, rooted in cases(effort) if rooted.count(n + 1) < n - 2]
    if not wrong:
        return Verdict("holds", everywhere(effort))
    checked = f"{everywhere(effort)}: not so for (n, H(f,s)) in {wrong} and for no other"
    return Verdict("refuted", checked, heights_witness("heights of the trees rooted at s", *wrong[0], False))


# ---------------------------------------------------------------- how many trees


@ledger.claim(
    "theorem-1-common-root",
    where="Theorem 1",
    states="n - 1 is the maximum number of edge-disjoint spanning trees in Q'_n [with one common root].",
)
def theorem_1_common_root(effort: Effort) -> Verdict:
    """Edmonds' number does not depend on the root; by translation one faulty node does."""
    most = effort.pick(full=16, quick=8)
    for n in effort.each(range(2, most + 1), "edge connectivity of Q'_n"):
        assert NonfaultyGraph(Hypercube(n, [0])).smallest_cut()[0] == n - 1
    return Verdict(
        "holds", f"Q'_2, ..., Q'_{most}: the edge connectivity is n - 1, that of a neighbour of the faulty node"
    )


def trees_without_root(n: int, f: int) -> str:
    """Python text: Johnsson and Ho's trees around f without f itself, which is the parent of one node in each."""
    return (
        f"[[-2 if v == {f} else -1 if p == {f} else p for v, p in enumerate(t)] "
        f"for t in fc.spanning_trees(fc.Hypercube({n}), {f}).tolist()]"
    )


@ledger.claim(
    "theorem-1-any-roots",
    where="Theorem 1, whose trees are rooted at different nodes",
    states="Algorithm A finds the maximum number, n - 1, of edge-disjoint spanning trees in Q'_n.",
    correction=(
        "There are n trees: those of Johnsson and Ho around the faulty node, without it; they use every directed edge, so there "
        "are never more."
    ),
)
def theorem_1_any_roots(effort: Effort) -> Verdict:
    """The faulty node has one child in each of the n trees around it: its neighbour, the root of what is left."""
    import fastcube

    most = effort.pick(full=12, quick=8)
    for n in effort.each(range(2, most + 1), "trees around the faulty node"):
        f = 2**n - 1
        trees = np.array(eval(trees_without_root(n, f), {"fc": fastcube}))
        arcs = {(int(p), v) for tree in trees for v, p in enumerate(tree) if p >= 0}
        assert len(arcs) == n * (2**n - 2) == (trees >= 0).sum()
        for tree in trees:
            (root,) = np.flatnonzero(tree == -1)
            assert (root ^ f).bit_count() == 1
    words = "two trees of Q'_2, rooted at 1 and at 2, without a common directed edge; n - 1 is 1"
    witness = Witness.of(words, trees_without_root(2, 3), {"n": 2, "faulty_nodes": [3]})
    return Verdict(
        "refuted", f"n edge-disjoint spanning trees in Q'_2, ..., Q'_{most}, one for each neighbour of f", witness
    )
