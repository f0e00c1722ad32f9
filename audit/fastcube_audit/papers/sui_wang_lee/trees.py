"""Claims of Sui, Wang & Lee on the trees: Lemmas 1 to 6 and Theorem 1.

The trees follow interpretations S1 to S9.  The paper draws the base trees of Q'_3 in figures that our text lacks; where a result
depends on them, all admissible ones are tried (``bases.py``).  Results at distance d hold for every source and faulty node.
"""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from fastcube.algorithms.spanning import light_trees, position_dimensions
from fastcube.algorithms.spanning_flows import NonfaultyGraph
from fastcube.networks.hypercube import Hypercube

from ...claims import (
    Cases,
    Counterexample,
    DisagreementError,
    Effort,
    Method,
    Verdict,
    check_agreement,
    evaluate,
    sizes,
)
from ...cubes import cube_counterexample
from .bases import (
    S7,
    Trees,
    algorithm_a,
    arcs_of,
    arcs_python,
    enumerate_bases,
    faulty_node,
    find_base,
    height_of,
    heights_python,
    list_bases,
    node_depth,
    node_depths,
    reroot_trees,
    tree_heights,
)
from .registry import registry


class NoLightTreesError(DisagreementError):
    """For one source and faulty node the light trees do not span the cube, or share a directed link."""

    def __init__(self, n: int, s: int, f: int, pivoted: bool) -> None:
        super().__init__(f"the light trees of Q_{n} around {s}, {f} faulty, are no edge-disjoint spanning trees")
        cube = Hypercube(n, [f])
        python = arcs_python(f"fc.edge_disjoint_spanning_trees(fc.{cube.source()}, {s}, pivoted={pivoted}).tolist()")
        description = (
            f"directed links of the light trees, and different ones among them; {(n - 1) * (2**n - 2)} are wanted"
        )
        self.counterexample = Counterexample.of(description, python, {"n": n, "faulty_nodes": [f], "source": s})


@functools.cache
def light_tree_heights(n: int) -> dict[int, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return for each d the heights of the light trees, with pivots and with the source as roots.

    All sources and faulty nodes are covered.  The trees around source 0 must be those that the library lists.  Raises
    NoLightTreesError where trees do not span the cube or share a directed link, DisagreementError where heights depend on
    more than d.
    """
    from fastcube.kernels.spanning.broadcast import light_heights

    out: dict[int, set[tuple[tuple[int, ...], tuple[int, ...]]]] = {}
    heights = np.zeros(n - 1, np.int64)
    for s in range(2**n):
        for f in range(2**n):
            if f != s:
                both = []
                for pivoted in (True, False):
                    if not light_heights(n, s, f, pivoted, heights):
                        raise NoLightTreesError(n, s, f, pivoted)
                    if s == 0:
                        listed = _light_tree_heights(n, f, pivoted)
                        check_agreement(
                            heights.tolist(),
                            listed,
                            f"heights of the light trees of Q_{n}, {f} faulty, by the kernel and by the library",
                        )
                    both.append(tuple(heights.tolist()))
                out.setdefault((s ^ f).bit_count(), set()).add((both[0], both[1]))
    check_agreement(
        [d for d, kinds in out.items() if len(kinds) > 1], [], f"distances at which the heights in Q'_{n} differ"
    )
    return {d: kinds.pop() for d, kinds in sorted(out.items())}


def _light_tree_heights(n: int, f: int, pivoted: bool) -> list[int]:
    """Return the heights of the light trees around source 0, after a check that they span the cube and are edge-disjoint."""
    trees = [tuple(tree) for tree in light_trees(Hypercube(n, [f]), 0, pivoted=pivoted).tolist()]
    links = [arc for tree in trees for arc in arcs_of(tree)]
    roots = {v for tree in trees for v, parent in enumerate(tree) if parent == -1}
    spans = all(tree[f] == -2 and len(arcs_of(tree)) == 2**n - 2 and node_depths(tree) for tree in trees)
    placed = roots < {1 << i for i in range(n)} and len(roots) == n - 1 if pivoted else roots == {0}
    if not (spans and placed and len(set(links)) == len(links)):
        raise NoLightTreesError(n, 0, f, pivoted)
    return [height_of(tree) for tree in trees]


def enumerate_light_trees(
    effort: Effort, least: int = 3
) -> Iterator[tuple[int, int, tuple[int, ...], tuple[int, ...]]]:
    """Yield n, d, the heights with pivots as roots, and with the source as root, for n up to ``largest_dimension``."""
    for n in range(least, largest_dimension(effort) + 1):
        for d, (pivots, heights) in effort.each(light_tree_heights(n).items(), f"Q'_{n}"):
            yield n, d, pivots, heights


#: The largest n tried, with full and with quick effort.
LARGEST_FULL, LARGEST_QUICK = 8, 5


def largest_dimension(effort: Effort) -> int:
    """Return the largest n tried."""
    return effort.by_effort(LARGEST_FULL, LARGEST_QUICK)


def cube_at(n: int, d: int) -> Hypercube:
    """Return Q_n with the faulty node 1^d 0^(n-d)."""
    return Hypercube(n, [faulty_node(n, d)])


def cube_data_at(n: int, d: int, **more: object) -> dict[str, object]:
    """Return the data of an example in that cube with source 0, with further entries ``more``."""
    return {"n": n, "faulty_nodes": [faulty_node(n, d)], "source": 0, **more}


def heights_counterexample(description: str, n: int, d: int, pivoted: bool) -> Counterexample:
    """Return a counterexample or an example: the heights of the light trees around source 0."""
    cube = cube_at(n, d)
    call = f"fc.edge_disjoint_spanning_trees(fc.{cube.source()}, 0, pivoted={pivoted}).tolist()"
    trees = light_trees(cube, 0, pivoted=pivoted).tolist()
    return Counterexample.of(description, heights_python(call), cube_data_at(n, d, trees=trees))


def checked_range(effort: Effort, least: int = 3) -> str:
    """Return a description of the range of ``cases``."""
    return f"every source and every faulty node of Q_{least}, ..., Q_{largest_dimension(effort)}"


# ---------------------------------------------------------------- Lemmas 1-4


@registry.forall(
    "lemma-1",
    Cases(
        "every x of Q_1, ..., Q_{}",
        lambda most: ((cube, x) for cube in map(Hypercube, range(1, most + 1)) for x in range(2**cube.n)),
        full=8,
        quick=6,
    ),
    where="Lemma 1",
    states="Some automorphism of Q_n, n >= 1, takes any given node to 0^n [y -> x XOR y].",
    definition=True,
)
def lemma_1(cube: Hypercube, x: int) -> Counterexample | None:
    """Check that v -> v xor x maps nodes one-to-one and neighbours to neighbours."""
    image = [x ^ y for y in range(2**cube.n)]
    linked = all(cube.is_link(image[y], image[z]) for y in range(2**cube.n) for z in cube.neighbours(y))
    if image[x] == 0 and len(set(image)) == 2**cube.n and linked:
        return None
    python = f"[[x ^ y for y in range(2**{cube.n})] for x in [{x}]][0]"
    return Counterexample.of("the images of the nodes", python, {"n": cube.n, "node": x})


@registry.claim(
    "lemma-2",
    where="Lemma 2",
    states=(
        "Some permutation of the dimensions of Q_n, n >= 1, takes a node at distance d from the source to 1^d 0^(n-d). The "
        "permutation pi = [2 0 4 3 1] takes 00101 to 11000 [pi names the dimension at each position, from the top: "
        "interpretation S4]."
    ),
    definition=True,
)
def lemma_2(effort: Effort) -> Verdict:
    """Check the printed permutation, and the permutation of interpretation S4 for every f."""
    most = effort.by_effort(full=10, quick=6)

    def check(case: tuple[int, int]) -> Counterexample | None:
        n, f = case
        dims = position_dimensions(n, 0, f)
        if sorted(dims) == list(range(n)) and sum((f >> k & 1) << p for p, k in enumerate(dims)) == faulty_node(
            n, f.bit_count()
        ):
            return None
        python = f"sum(({f} >> k & 1) << p for p, k in enumerate({dims}))"
        return Counterexample.of(f"where the dimensions {dims} take {f:0{n}b}", python, {"n": n, "node": f})

    found = effort.find_first(((n, f) for n in range(1, most + 1) for f in range(1, 2**n)), check)
    check_agreement(
        position_dimensions(5, 0, 0b00101)[::-1],
        [2, 0, 4, 3, 1],
        "the permutation of interpretation S4 for 00101, and the printed one",
    )
    python = "sum((0b00101 >> k & 1) << 4 - i for i, k in enumerate([2, 0, 4, 3, 1]))"
    printed = Counterexample.of("00101 becomes 11000, which is 24", python, {"n": 5, "node": 0b00101})
    if found is None and printed.value != 0b11000:
        found = printed
    checked = f"every f of Q_1, ..., Q_{most}; the printed permutation is the one of S4"
    return Verdict("holds", checked, printed) if found is None else Verdict.refuted_if(found, checked)


@registry.claim(
    "lemma-3",
    where="Lemma 3",
    states="Q'_3 has two light spanning trees, rooted at neighbours of the source, without a common directed link.",
    group="light trees",
)
def lemma_3(effort: Effort) -> Verdict:
    """Build the trees for all sources and faulty nodes of Q_3, and count the pairs of trees that have the printed heights."""
    try:
        light_tree_heights(3)
    except NoLightTreesError as error:
        return Verdict("refuted", "sources and faulty nodes of Q_3", error.counterexample)
    effort.applied += 8 * 7
    pairs = ", ".join(f"{len(list_bases(d))} at distance {d}" for d in (1, 2, 3))
    return Verdict(
        "holds", f"every source and every faulty node of Q_3; pairs with the heights that are printed: {pairs}"
    )


@registry.claim(
    "lemma-4",
    where="Lemma 4",
    states=(
        "Algorithm A makes n - 1 spanning trees of Q'_n, n >= 2, rooted at s_0, ..., s_(n-2), no two with a common "
        "directed link [of the nonfaulty nodes]."
    ),
    group="light trees",
)
def lemma_4(effort: Effort) -> Verdict:
    """Build the trees for all sources and faulty nodes; the trees with the source as root must be edge-disjoint as well."""
    try:
        check_agreement(
            [n for n, _, pivots, _ in enumerate_light_trees(effort, 2) if len(pivots) != n - 1],
            [],
            "n without n - 1 light trees",
        )
    except NoLightTreesError as error:
        return Verdict("refuted", checked_range(effort, 2), error.counterexample)
    effort.applied += sum(2**n * (2**n - 1) for n in range(2, largest_dimension(effort) + 1))
    return Verdict("holds", f"{checked_range(effort, 2)}; and so for the trees re-rooted at s")


def _canonical(least: int, most: int) -> Iterator[tuple[int, int, Trees]]:
    """Yield n, d and the library's light trees around source 0, after a check that Algorithm A makes the same from base S7."""
    for n in range(least, most + 1):
        for d in range(1, n + 1):
            trees = tuple(map(tuple, light_trees(cube_at(n, d), 0, pivoted=True).tolist()))
            if n <= 5:
                base = find_base(n, d, S7)
                check_agreement(
                    trees, algorithm_a(n, d, base), f"the light trees of Q'_{n} at distance {d}, and Algorithm A's"
                )
            yield n, d, trees


def _canonical_cases(least: int) -> Cases:
    text = f"source 0 and every distance in Q'_{least}, ..., Q'_{{}}"
    return Cases(text, functools.partial(_canonical, least), LARGEST_FULL, LARGEST_QUICK)


@registry.forall(
    "link-partition",
    _canonical_cases(4),
    where="Lemma 4, proof",
    states=(
        "In Q'_n, n >= 4, a link that goes up into Q'_(n-1) is only in T_i if it leaves s_i, i <= n - 3 in case A and i <= "
        "n - 2 in case B. All other such links are in T_(n-2) alone or in none. In case A, a link from s' to s'_i, i <= n -"
        " 3, is only in T_(n-2), and one from s'_i to s' only in T_i. In case B none of these is used."
    ),
    group="light trees",
)
def link_partition(n: int, d: int, trees: Trees) -> Counterexample | None:
    """Check which tree uses each link of the sets L2, L3 and L4, for source 0."""
    top, owner = 1 << (n - 1), {arc: i for i, tree in enumerate(trees) for arc in arcs_of(tree)}
    below = n - 2 if d > 1 else n - 1  # number of trees that step 3 of case A, or step 4 of case B, joins
    wanted = {(1 << i, top | 1 << i): i for i in range(below)}
    if d > 1:
        wanted |= {(top, top | 1 << i): n - 2 for i in range(n - 2)} | {(top | 1 << i, top): i for i in range(n - 2)}
    named = {(u, u | top) for u in range(top)} | {(top, top | 1 << i) for i in range(n - 2)}
    named |= {(top | 1 << i, top) for i in range(n - 2)}
    used = {arc: i for arc, i in owner.items() if arc in named}
    if all(used.get(arc) == i for arc, i in wanted.items()) and all(
        arc in wanted or (d > 1 and i == n - 2) for arc, i in used.items()
    ):
        return None
    python = f"fc.edge_disjoint_spanning_trees(fc.{cube_at(n, d).source()}, 0, pivoted=True).tolist()"
    return Counterexample.of("parents in each tree", python, cube_data_at(n, d))


@registry.forall(
    "deepest-node",
    _canonical_cases(3),
    where="Lemma 5, proof",
    states=(
        "In every light tree of Q'_n, n >= 3, the complement of the root is a deepest node [where it is not the faulty node "
        "itself]."
    ),
    group="light trees",
)
def deepest_node(n: int, d: int, trees: Trees) -> Counterexample | None:
    """Compare the depth of the root's complement with the height of each tree, for source 0."""
    for i, tree in enumerate(trees):
        far = 2**n - 1 ^ 1 << i
        if tree[far] != -2:
            links = node_depth(tree, far)
            if links < height_of(tree):
                description = f"heights of the light trees; {far:0{n}b} is {links} links down in T_{i}"
                return heights_counterexample(description, n, d, True)
    return None


@registry.forall(
    "min-indegree",
    sizes(2, 12, 8, "Q'_2, ..., Q'_{}"),
    where="Theorem 1, proof",
    states="The least indegree of a nonfaulty node of Q'_n, n >= 2, is n - 1.",
    definition=True,
)
def min_indegree(n: int) -> Counterexample | None:
    """Compute the least number of nonfaulty neighbours; one faulty node suffices because of translations."""
    python = "min(sum(w != 0 for w in c.neighbours(v)) for v in range(1, 2**c.n))"
    found = cube_counterexample(f"least degree of Q'_{n}", Hypercube(n, [0]), python)
    return None if found.value == n - 1 else found


@registry.forall(
    "pivoted",
    sizes(1, 14, 8, "Q_1, ..., Q_{}"),
    where="section II, after [5]",
    states="The n pivoted trees of Q_n, n >= 1, have no directed link in common.",
)
def pivoted(n: int) -> Counterexample | None:
    """Check that every node has different parents in the trees; one source suffices because of translations."""
    trees = np.sort(light_trees(Hypercube(n), 0, pivoted=True), axis=0)
    if ((trees[1:] != trees[:-1]) | (trees[1:] == -1)).all():
        return None
    python = arcs_python(f"fc.edge_disjoint_spanning_trees(fc.Hypercube({n}), 0, pivoted=True).tolist()")
    return Counterexample.of(
        "directed links of the trees, and different ones among them", python, {"n": n, "source": 0}
    )


# ---------------------------------------------------------------- heights


#: Check of the heights of the light trees of Q'_n at distance d, with pivots as roots.
HeightsCheck = Callable[[int, int, tuple[int, ...]], Counterexample | None]


@dataclass(frozen=True)
class Heights:
    """Cases of the claims on heights of the light trees: every distance d in Q'_n, n >= ``least``, to which the claim applies."""

    least: int
    applies: Callable[[int], bool] = lambda d: True
    method: Method = "exhaustive"

    def decide(self, effort: Effort, check: HeightsCheck) -> Verdict:
        """Return the verdict: refuted by the first counterexample in the order of n and d."""
        text = checked_range(effort, self.least)
        for n, d, pivots, _ in enumerate_light_trees(effort, self.least):
            found = check(n, d, pivots) if effort.count_if_applicable(self.applies(d)) else None
            if found is not None:
                return Verdict("refuted", f"in the order of n and d: {text}", found)
        return Verdict("holds", text)


def _check_heights(n: int, d: int, found: tuple[int, ...], wanted: tuple[int, ...]) -> Counterexample | None:
    """Compare the heights of the light trees, with pivots as roots, with the heights that a claim states."""
    if found == wanted:
        return None
    return heights_counterexample(f"heights of the light trees; {wanted} are wanted", n, d, True)


@registry.forall(
    "lemma-5-case-a",
    Heights(3, lambda d: d >= 2),
    where="Lemma 5",
    states="In case A, 2 <= H(f,s) <= n, n - 2 of the n - 1 light trees of Q'_n, n >= 3, have height n and one has height n - 1.",
    correction="All n - 1 have height n, but for H(f,s) = n - 1, where one has n - 1 (lemma-5-last).",
    misprint_reason="The last paragraph of the lemma's own proof says so.",
    group="light trees",
)
def lemma_5_case_a(n: int, d: int, heights: tuple[int, ...]) -> Counterexample | None:
    """Check that one height is n - 1 and all others are n, for d >= 2."""
    if sorted(heights) == [n - 1] + [n] * (n - 2):
        return None
    return heights_counterexample(f"heights of the light trees of Q'_{n}, H(f,s) = {d}", n, d, True)


@registry.forall(
    "lemma-5-case-b",
    Heights(3, lambda d: d == 1),
    where="Lemma 5",
    states="In case B, H(f,s) = 1, all n - 1 light trees of Q'_n, n >= 3, have height n.",
    group="light trees",
)
def lemma_5_case_b(n: int, d: int, heights: tuple[int, ...]) -> Counterexample | None:
    """Check that all heights are n, for d = 1."""
    return _check_heights(n, d, heights, (n,) * (n - 1))


@registry.forall(
    "lemma-5-optimal",
    Heights(2),
    where="Lemma 5; Theorem 1",
    states="No spanning tree of Q'_n, n >= 2, with the root of a light tree is lower than that.",
    group="light trees",
)
def lemma_5_optimal(n: int, d: int, heights: tuple[int, ...]) -> Counterexample | None:
    """Compare the heights with the eccentricities of the roots."""
    graph = NonfaultyGraph(cube_at(n, d))
    eccentricities = tuple(len(list(graph.iter_layers(1 << (1 << i)))) - 1 for i in range(n - 1))
    return _check_heights(n, d, heights, eccentricities)


@registry.forall(
    "lemma-5-last",
    Heights(2),
    where="Lemma 5, the last paragraph of its proof",
    states=(
        "All light trees of Q'_n, n >= 2, have height n, but for the one rooted at 0^(n-1) 1 where the faulty node is "
        "1^(n-1) 0: that has height n - 1."
    ),
    group="light trees",
)
def lemma_5_last(n: int, d: int, heights: tuple[int, ...]) -> Counterexample | None:
    """Compare the heights of all trees with the printed heights."""
    return _check_heights(n, d, heights, ((n - 1 if d == n - 1 else n), *(n,) * (n - 2)))


def decide_over_bases(effort: Effort, is_right: Callable[[int, int, tuple[int, ...]], bool]) -> Verdict:
    """Decide a statement on the heights of the trees with the source as root in Q'_n, for every admissible base of Q'_3.

    The verdict "depends" shows the first (n, d) at which the statement fails, and the trees of another base for which it always
    holds.
    """
    most = effort.by_effort(full=6, quick=5)
    held, failed = list[dict[int, Trees]](), list[tuple[int, int, dict[int, Trees]]]()
    for choice in effort.each(enumerate_bases(), "base trees of Q'_3"):
        effort.count_if_applicable()
        points = ((n, d) for n in range(3, most + 1) for d in range(1, n + 1))
        first = next(((n, d) for n, d in points if not is_right(n, d, tree_heights(n, d, choice)[1])), None)
        if first is None:
            held.append(choice)
        else:
            failed.append((*first, choice))
    checked = (
        f"all {len(held) + len(failed)} admissible bases of Q'_3 (interpretations S6 and S12), every distance in Q'_3, ..., "
        f"Q'_{most}: with {len(held)} of them it holds everywhere"
    )
    if not failed:
        return Verdict("holds", checked)
    n, d, choice = failed[0]

    def heights_over_base(base: dict[int, Trees], name: str) -> Counterexample:
        trees = [list(tree) for tree in reroot_trees(algorithm_a(n, d, find_base(n, d, base)))]
        description = f"heights of the trees rooted at s of Q'_{n}, H(f,s) = {d}, from {name}"
        return Counterexample.of(description, heights_python(str(trees)), cube_data_at(n, d, trees=trees))

    counterexample = heights_over_base(choice, "one base")
    if not held:
        return Verdict("refuted", checked, counterexample)
    return Verdict("depends", checked, counterexample, (heights_over_base(held[0], "another base"),))


_BASES = (
    "Figures 4 to 6, which draw the base trees of Q'_3, are not in our text. The statement holds with some of the trees "
    "that fit the printed numbers."
)


@registry.claim(
    "lemma-6",
    where="Lemma 6",
    states="The greatest height of the light trees of Q'_n, n >= 3, re-rooted at the source is n + 1.",
    correction=_BASES,
    fact="base-trees",
    group="light trees",
)
def lemma_6(effort: Effort) -> Verdict:
    """Compare the greatest height with n + 1, for every admissible base."""
    return decide_over_bases(effort, lambda n, d, heights: max(heights) == n + 1)


@registry.claim(
    "n-2-tall-trees",
    where="section IV, after Lemma 6",
    states="Of the n - 1 light trees of Q'_n, n >= 3, n - 2 at the least have height n + 1 when rooted at the source.",
    correction=_BASES,
    fact="base-trees",
    group="light trees",
)
def n_2_tall_trees(effort: Effort) -> Verdict:
    """Count the trees of height n + 1 with the source as root, for every admissible base."""
    return decide_over_bases(effort, lambda n, d, heights: heights.count(n + 1) >= n - 2)


# ---------------------------------------------------------------- the number of trees


@registry.forall(
    "theorem-1-common-root",
    sizes(2, 16, 8, "Q'_2, ..., Q'_{}: the edge connectivity is n - 1, that of a neighbour of the faulty node"),
    where="Theorem 1",
    states="Q'_n, n >= 2, has no more than n - 1 spanning trees with one root and without a common directed link [and so many].",
)
def theorem_1_common_root(n: int) -> Counterexample | None:
    """Compute Edmonds' number, which is the same for every root; one faulty node suffices because of translations."""
    cut = NonfaultyGraph(Hypercube(n, [0])).minimum_edge_cut().size
    if cut == n - 1:
        return None
    python = f"fc.max_edge_disjoint_trees(fc.Hypercube({n}, faulty_nodes=[0]))"
    return Counterexample.of("edge-disjoint spanning trees with one root", python, {"n": n, "faulty_nodes": [0]})


def trees_without_root(n: int, f: int) -> str:
    """Return an expression for Johnsson and Ho's trees around f without f, which has a single child in each tree."""
    return (
        f"[[-2 if v == {f} else -1 if p == {f} else p for v, p in enumerate(t)] "
        f"for t in fc.edge_disjoint_spanning_trees(fc.Hypercube({n}), {f}).tolist()]"
    )


@registry.claim(
    "theorem-1-any-roots",
    where="Theorem 1, whose trees are rooted at different nodes",
    states="Q'_n, n >= 3, has no more than n - 1 spanning trees without a common directed link [wherever they are rooted].",
    correction=(
        "There are n: the trees of Johnsson and Ho around the faulty node, without it. n trees use every directed link, so that "
        "there are never more, and a neighbour of the faulty node, which n - 1 links enter, is the root of one. With other "
        "roots, as in Algorithm A, and with one common root n - 1 is right (theorem-1-common-root)."
    ),
)
def theorem_1_any_roots(effort: Effort) -> Verdict:
    """Remove the faulty node from the n trees around it: its only child becomes the root of each."""
    most = effort.by_effort(full=12, quick=8)
    for n in effort.each(range(3, most + 1), "trees around the faulty node"):
        effort.count_if_applicable()
        f = 2**n - 1
        trees = np.array(evaluate(trees_without_root(n, f)))
        used = [(int(p), v) for tree in trees for v, p in enumerate(tree) if p >= 0]
        roots = sorted(int(v) ^ f for tree in trees for v in np.flatnonzero(tree == -1))
        check_agreement(
            len(set(used)),
            len(used),
            f"directed links of the trees around the faulty node of Q'_{n}, and different ones",
        )
        check_agreement(
            [len(used), roots],
            [n * (2**n - 2), [1 << i for i in range(n)]],
            f"links and roots of these trees of Q'_{n}",
        )
    description = "three trees of Q'_3, rooted at 011, 101 and 110, without a common directed link; n - 1 is 2"
    three_trees = Counterexample.of(description, trees_without_root(3, 7), {"n": 3, "faulty_nodes": [7]})
    checked = f"n edge-disjoint spanning trees in Q'_3, ..., Q'_{most}, one for each neighbour of the faulty node"
    if len(three_trees.value) <= 2:
        return Verdict("undecided", checked, three_trees)
    call = "fc.max_edge_disjoint_trees(fc.Hypercube(3, faulty_nodes=[7]))"
    one_root = Counterexample.of("the most trees of Q'_3 with one root", call, {"n": 3, "faulty_nodes": [7]})
    check_agreement(one_root.value, 2, "trees of Q'_3 with one root")
    return Verdict("depends", checked, three_trees, (one_root,))
