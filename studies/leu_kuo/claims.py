"""Claims of Leu & Kuo, "A Fault-Tolerant Tree Communication Scheme for Hypercube Systems", about trees (sections 2 and 3.1).

Statements are as printed; what a reading adds stands in square brackets.  A smallest witness is the first in order of
n, number of faulty links, links.  Exact shares come from all fault sets of a size (:func:`fastcube.exact_trees`).
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator

from fastcube.algorithms.trees import CommunicationTree, detect, find_tree
from fastcube.algorithms.trees_lattice import exhaust
from fastcube.engine.claims import Effort, Ledger, Verdict, Witness
from fastcube.exact.trees import exact_trees
from fastcube.networks.hypercube import Hypercube

ledger = Ledger("leu_kuo")


def witness(words: str, cube: Hypercube, python: str) -> Witness:
    """A witness on one cube: what ``python`` gives, where ``cube`` stands for it."""
    nodes = [v for v in range(2**cube.n) if cube.is_faulty(v)]
    data = {"n": cube.n, "faulty_nodes": nodes, "faulty_links": sorted(map(list, cube.faulty_links))}
    return Witness.of(words, f"(lambda cube: {python})(fc.{cube.source()})", data)


def links_of(n: int) -> list[tuple[int, int]]:
    """All links of Q_n."""
    return [(u, u | 1 << k) for u in range(2**n) for k in range(n) if not u >> k & 1]


def link_sets(n: int, links: int) -> Iterator[Hypercube]:
    """Q_n with every set of so many faulty links."""
    return (Hypercube(n, (), chosen) for chosen in itertools.combinations(links_of(n), links))


def first_cube(effort: Effort, sizes: list[tuple[int, int]], bad: Callable[[Hypercube], bool]) -> Hypercube | None:
    """The first cube of these (n, links) that is ``bad``."""
    for n, links in sizes:
        for cube in effort.each(link_sets(n, links), f"Q_{n}, {links} faulty links"):
            if bad(cube):
                return cube
    return None


def random_cubes(effort: Effort, n: int, count: int, seed: int) -> Iterator[Hypercube]:
    """Q_n with 2 to 2^(n-1) faulty links, drawn."""
    rng = random.Random(seed)
    every = links_of(n)
    for _ in range(count):
        effort.step(f"Q_{n}")
        yield Hypercube(n, (), rng.sample(every, rng.randint(2, 2 ** (n - 1))))


# ---------------------------------------------------------------- section 2


@ledger.claim(
    "property-1", where="Property 1", states="There are n! x 2^n feasible communication trees for an n-D hypercube."
)
def property_1(effort: Effort) -> Verdict:
    """As pairs of sink and order, by listing them; as sets of links only half as many are different."""
    for n in range(1, effort.pick(full=6, quick=5)):
        assert sum(1 for _ in effort.each(exhaust(Hypercube(n)), f"Q_{n}")) == math.factorial(n) * 2**n
    return Verdict(
        "holds", f"as pairs of a sink and an order: listed for Q_1, ..., Q_{n}; proved by counting for all n"
    )


@ledger.claim(
    "property-1-links",
    where="Property 1",
    states="[The n! x 2^n trees are different as sets of links.]",
    ours=True,
    correction="There are n! 2^(n-1) sets of links: both ends of the last stage's link are sinks of a tree with these links.",
)
def property_1_links(effort: Effort) -> Verdict:
    """Trees by their undirected links."""
    for n in range(1, effort.pick(full=6, quick=5)):
        trees = effort.each(exhaust(Hypercube(n)), f"Q_{n}")
        different = {frozenset(frozenset(link[1:]) for link in tree.links) for tree in trees}
        assert len(different) == math.factorial(n) * 2 ** (n - 1)
    same = "[len({frozenset(link[1:]) for s in (0, 1) for link in fc.CommunicationTree(cube, s, (0,)).links}), 2]"
    words = "both trees of Q_1 are its one link"
    return Verdict(
        "refuted", f"all trees of Q_1, ..., Q_{n}: n! 2^(n-1) sets of links", witness(words, Hypercube(1), same)
    )


def _trees(n: int, effort: Effort) -> Iterator[CommunicationTree]:
    return effort.each(exhaust(Hypercube(n)), f"Q_{n}")


@ledger.claim(
    "property-2", where="Property 2", states="The number of links used by the tree communication scheme is 2^n - 1."
)
def property_2(effort: Effort) -> Verdict:
    """All trees of small cubes."""
    largest = effort.pick(full=5, quick=4)
    for n in range(1, largest + 1):
        assert all(len({frozenset(link[1:]) for link in tree.links}) == 2**n - 1 for tree in _trees(n, effort))
    return Verdict("holds", f"proved by the paper's sum; all trees of Q_1, ..., Q_{largest}")


@ledger.claim(
    "theorem-1", where="Theorem 1", states="The number of active neighbors of an active node v at stage i is n - i - 1."
)
def theorem_1(effort: Effort) -> Verdict:
    """Roles of all nodes of all trees."""
    largest = effort.pick(full=4, quick=3)
    for n in range(1, largest + 1):
        for tree in _trees(n, effort):
            for i in range(n):
                active = {v for v in range(2**n) if tree.role(v, i) == "active"}
                assert all(sum(v ^ 1 << k in active for k in range(n)) == n - i - 1 for v in active)
    return Verdict("holds", f"proved; all nodes of all trees of Q_1, ..., Q_{largest}")


@ledger.claim("theorem-2", where="Theorem 2", states="There are 2^(n-i-1) nodes in A_i.")
def theorem_2(effort: Effort) -> Verdict:
    """Roles of all nodes of all trees."""
    largest = effort.pick(full=4, quick=3)
    for n in range(1, largest + 1):
        for tree in _trees(n, effort):
            assert all(sum(tree.role(v, i) == "active" for v in range(2**n)) == 2 ** (n - i - 1) for i in range(n))
    return Verdict("holds", f"proved; all trees of Q_1, ..., Q_{largest}")


@ledger.claim(
    "example-1", where="Example 1", states="Node 110 is passive at stage 0, active at stage 1 and idle at stage 2."
)
def example_1(effort: Effort) -> Verdict:
    """Figure 3b: sink 010, order (1, 2, 0)."""
    tree = CommunicationTree(Hypercube(3), 0b010, (1, 2, 0))
    effort.step()
    assert [tree.role(0b110, i) for i in range(3)] == ["passive", "active", "idle"]
    return Verdict("holds", "the example itself")


# ---------------------------------------------------------------- section 3.1

EXAMPLE_2 = Hypercube(3, (), [(0b100, 0b101), (0b101, 0b111), (0b001, 0b011)])


@ledger.claim(
    "example-2",
    where="Example 2",
    states="[With COST over unused dimensions] FIND_TREE gives the sink 000 and the dimension order (2, 0, 1), without a faulty "
    "link, by the COSTs 1, 0, 1 and 0, 1.",
)
def example_2(effort: Effort) -> Verdict:
    """Every COST that the example prints."""
    tree = find_tree(EXAMPLE_2)
    effort.step()
    assert tree is not None
    assert (str(tree), tree.faulty_links) == ("sink 000, order (2, 0, 1)", ())
    assert tree.costs == ({0: 1, 1: 0, 2: 1}, {0: 0, 2: 1})
    return Verdict("holds", "the example itself, COST by COST")


@ledger.claim(
    "equation-7",
    where="equation (7)",
    states="COST(j) = sum over u in USED_N and k in USED_D of FAULT(neib(u, j))[k].",
    correction="k runs over the dimensions that are not in USED_D, as the text beneath and Example 2 have it.",
)
def equation_7(effort: Effort) -> Verdict:
    """As printed every COST of the first iteration is an empty sum; Example 2 prints 1, 0, 1 and chooses dimension 1."""
    effort.step()
    printed = "[sum(fc.detect(cube)[0 ^ 1 << j].item() >> k & 1 for k in set()) for j in range(3)]"
    words = "as printed COST is 0, 0, 0 in the first iteration of Example 2, which prints 1, 0, 1; dimension 0 would be chosen"
    return Verdict("refuted", "Example 2 itself", witness(words, EXAMPLE_2, printed))


@ledger.claim(
    "theorem-3",
    where="Theorem 3",
    states="Algorithm FIND_TREE will succeed [find a sink] if the number of faulty links is smaller than 2^(n-1).",
)
def theorem_3(effort: Effort) -> Verdict:
    """Links below 2^(n-1) have fewer than 2^n ends; exact shares besides."""
    sizes = [(n, k) for n in (1, 2, 3) for k in range(2 ** (n - 1))] + [
        (4, k) for k in range(effort.pick(full=7, quick=4))
    ]
    for n, links in effort.each(sizes, "all link sets"):
        assert exact_trees(n, links).sink == 1
    last = effort.pick(6, 3)
    return Verdict(
        "holds", f"proved: L links have at most 2L ends; all link sets of Q_1, Q_2, Q_3 and of Q_4 up to {last} links"
    )


@ledger.claim(
    "theorem-3-raised",
    where="Theorem 3",
    states="[2^(n-1) can be raised: 2^(n-1) faulty links always leave a sink.]",
    correction="2^(n-1) faulty links are the fewest that can leave no sink, for every n: a perfect matching does.",
    ours=True,
)
def theorem_3_raised(effort: Effort) -> Verdict:
    """A perfect matching touches every node."""
    for n in range(1, 9):
        effort.step(f"Q_{n}")
        assert find_tree(Hypercube(n, (), [(u, u | 1) for u in range(0, 2**n, 2)])) is None
    words = "the one link of Q_1"
    checked = "a perfect matching of Q_1, ..., Q_8; any perfect matching of Q_n does it"
    return Verdict("refuted", checked, witness(words, Hypercube(1, (), [(0, 1)]), "fc.find_tree(cube) is None"))


@ledger.claim(
    "equation-8",
    where="Theorem 4, equation (8)",
    states="The total number of iterations for determining the dimension order is 6 * 2^n - n^2 - 4n - 7, which is O(N).",
)
def equation_8(effort: Effort) -> Verdict:
    """The sum of the proof, term by term: a COST of 2^(n-i-1) (i+1) steps for i + 1 dimensions, and 2^(n-i-1) for USED_N."""
    for n in effort.each(range(1, 63), "equation (8)"):
        terms = sum((i + 1) * 2 ** (n - i - 1) * (i + 1) + 2 ** (n - i - 1) for i in range(1, n))
        assert terms == 6 * 2**n - n * n - 4 * n - 7
    return Verdict("holds", "the sum for n = 1, ..., 62; the scan for a sink adds at most 2^n steps")


@ledger.claim(
    "detect",
    where="section 3.1",
    states="[After DETECT] node 101 has two link failures on dimensions 0 and 1, hence its FAULT is <011>.",
)
def detected(effort: Effort) -> Verdict:
    """Figure 9's one word that the text prints."""
    effort.step()
    assert detect(EXAMPLE_2)[0b101] == 0b011
    return Verdict("holds", "the example itself")
