"""Claims of Leu & Kuo, "A Fault-Tolerant Tree Communication Scheme for Hypercube Systems", about trees (sections 2 and 3.1).

Claims are in our words; additions of an interpretation are in square brackets.  A smallest counterexample is the first in order
of n, number of faulty links, links.  Exact fractions come from all fault sets of a size (:func:`fastcube.exact_trees`).
"""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fastcube.algorithms.trees import CommunicationTree, find_tree
from fastcube.algorithms.trees_lattice import fault_free_trees
from fastcube.exact.enumeration import exact_trees
from fastcube.networks.hypercube import Hypercube

from ... import cubes
from ...claims import Cases, Counterexample, Effort, Method, Verdict, check_agreement, sizes
from ...cubes import links_of
from .registry import cube_counterexample, example_verdict, registry, tree_counterexample


def find_first_cube(
    effort: Effort, points: Sequence[tuple[int, int]], is_wanted: Callable[[Hypercube], bool]
) -> Hypercube | None:
    """Return the first cube of these (n, links) that ``is_wanted``, or None."""
    for n, links in points:
        for cube in effort.each(cubes.enumerate_cubes(n, links=links), f"Q_{n}, {links} faulty links"):
            effort.count_if_applicable()
            if is_wanted(cube):
                return cube
    return None


@dataclass(frozen=True)
class LinkSets:
    """A universal statement about cubes: link sets of these (n, links) are tried in order until a check finds a counterexample.

    Without a counterexample the verdict is "undecided".
    """

    points: Sequence[tuple[int, int]]
    checked: str = "link sets by size"
    method: Method = "exhaustive"

    def decide(self, effort: Effort, check: Callable[[Hypercube], Counterexample | None]) -> Verdict:
        """Return the verdict: refuted by the first counterexample that ``check`` finds."""
        for n, links in self.points:
            sets = cubes.enumerate_cubes(n, links=links)
            if (found := effort.find_first(sets, check, f"Q_{n}, {links} faulty links")) is not None:
                return Verdict("refuted", self.checked, found)
        return Verdict("undecided", f"none of {effort.applied:,} link sets, by size, contradicts it")


def cube_check(
    description: str, python: str, is_wrong: Callable[[Hypercube], bool]
) -> Callable[[Hypercube], Counterexample | None]:
    """Return a check whose counterexamples are the cubes that are wrong, with an expression in ``cube`` that shows it."""

    def check(cube: Hypercube) -> Counterexample | None:
        return cube_counterexample(description, cube, python) if is_wrong(cube) else None

    return check


def sample_cubes(effort: Effort, n: int, count: int, seed: int) -> Iterator[Hypercube]:
    """Yield ``count`` copies of Q_n with 2 to 2^(n-1) random faulty links."""
    rng = random.Random(seed)
    every = links_of(n)
    for _ in range(count):
        effort.step(f"Q_{n}")
        yield Hypercube(n, (), rng.sample(every, rng.randint(2, 2 ** (n - 1))))


# ---------------------------------------------------------------- section 2


@registry.forall(
    "property-1",
    sizes(1, 5, 4, "proved by counting for all n; listed for Q_1, ..., Q_{}", method="proved"),
    where="Property 1",
    states="Q_n has n! 2^n communication trees, n >= 1 [pairs of a sink and an order of the dimensions].",
    definition=True,
)
def property_1(n: int) -> Counterexample | None:
    """List the trees; as sets of links only half as many are different."""
    listed = cube_counterexample("trees listed", Hypercube(n), "len(list(fc.fault_free_trees(cube)))")
    return None if listed.value == math.factorial(n) * 2**n else listed


@registry.claim(
    "property-1-links",
    where="Property 1",
    states="[The n! 2^n trees of Q_n, n >= 1, are different as sets of links.]",
    added=True,
    correction="There are n! 2^(n-1) sets of links: both ends of the last stage's link are sinks of a tree with these links.",
)
def property_1_links(effort: Effort) -> Verdict:
    """Count the sets of undirected links of all trees: there are half as many sets as trees."""
    largest = effort.by_effort(full=5, quick=4)
    for n in range(1, largest + 1):
        trees = list(effort.each(fault_free_trees(Hypercube(n)), f"Q_{n}"))
        effort.applied += len(trees)
        different = {frozenset(frozenset(link[1:]) for link in tree.links) for tree in trees}
        check_agreement(
            len(different), math.factorial(n) * 2 ** (n - 1), f"different sets of links of the trees of Q_{n}"
        )
    same = "[len({frozenset(link[1:]) for s in (0, 1) for link in fc.CommunicationTree(cube, s, (0,)).links}), 2]"
    description = "both trees of Q_1 are its one link"
    return Verdict(
        "refuted",
        f"all trees of Q_1, ..., Q_{largest}: n! 2^(n-1) sets of links",
        cube_counterexample(description, Hypercube(1), same),
    )


def all_trees(proof: str, full: int = 4) -> Cases:
    """Return all trees of small cubes, as tests of a statement that ``proof`` proves."""
    return Cases(
        f"{proof}; all trees of Q_1, ..., Q_{{}}",
        lambda largest: ((tree,) for n in range(1, largest + 1) for tree in fault_free_trees(Hypercube(n))),
        full,
        full - 1,
        "all trees",
        "proved",
    )


class TreeValue:
    """A value of trees, as an expression in ``tree`` that is evaluated and that a counterexample shows."""

    def __init__(self, description: str, python: str) -> None:
        self.description, self.python = description, python
        self._evaluate = eval(f"lambda tree: {python}")  # noqa: S307  (a line of our own)

    def of(self, tree: CommunicationTree) -> Any:
        """Return the value of a tree."""
        return self._evaluate(tree)

    def counterexample(self, tree: CommunicationTree) -> Counterexample:
        """Return the tree with its value as a counterexample."""
        return tree_counterexample(self.description, tree, self.python)


_LINKS = TreeValue("links of the tree", "len({frozenset(link[1:]) for link in tree.links})")


@registry.forall(
    "property-2",
    all_trees("proved by the paper's sum", full=5),
    where="Property 2",
    states="A communication tree of Q_n, n >= 1, has 2^n - 1 links.",
)
def property_2(tree: CommunicationTree) -> Counterexample | None:
    """Count the links of all trees of small cubes."""
    return None if _LINKS.of(tree) == 2**tree.n - 1 else _LINKS.counterexample(tree)


_ACTIVE = "[[v for v in range(2**tree.n) if tree.role(v, i) == 'active'] for i in range(tree.n)]"

_ACTIVE_NEIGHBOURS = TreeValue(
    "active neighbours of each active node, stage by stage",
    f"[[sum(v ^ 1 << k in now for k in range(tree.n)) for v in now] for now in {_ACTIVE}]",
)


@registry.forall(
    "theorem-1",
    all_trees("proved"),
    where="Theorem 1",
    states="A node that is active at stage i has n - i - 1 neighbours that are active then, in every tree of Q_n, n >= 1.",
)
def theorem_1(tree: CommunicationTree) -> Counterexample | None:
    """Count the active neighbours of each active node, at each stage of all trees."""
    stages = enumerate(_ACTIVE_NEIGHBOURS.of(tree))
    is_right = all(set(counts) == {tree.n - i - 1} for i, counts in stages)
    return None if is_right else _ACTIVE_NEIGHBOURS.counterexample(tree)


_ACTIVE_NODES = TreeValue("active nodes, stage by stage", f"[len(now) for now in {_ACTIVE}]")


@registry.forall(
    "theorem-2",
    all_trees("proved"),
    where="Theorem 2",
    states="At stage i 2^(n-i-1) nodes are active, in every tree of Q_n, n >= 1.",
)
def theorem_2(tree: CommunicationTree) -> Counterexample | None:
    """Count the active nodes at each stage of all trees."""
    is_right = _ACTIVE_NODES.of(tree) == [2 ** (tree.n - i - 1) for i in range(tree.n)]
    return None if is_right else _ACTIVE_NODES.counterexample(tree)


_ROLES = TreeValue(
    "roles of the nodes, stage by stage", "[[tree.role(v, i) for i in range(tree.n)] for v in range(2**tree.n)]"
)


@registry.forall(
    "idle-afterwards",
    all_trees("proved: from then on its bit d_i is that of r, as equation (3) requires"),
    where="section 2.2",
    states="A node that is active at one stage is idle at all later ones, in every tree of Q_n, n >= 1.",
)
def idle_afterwards(tree: CommunicationTree) -> Counterexample | None:
    """Check that no node is active or passive after its active stage, in all trees."""
    later = (roles[roles.index("active") + 1 :] for roles in _ROLES.of(tree) if "active" in roles)
    return None if all(set(roles) <= {"idle"} for roles in later) else _ROLES.counterexample(tree)


_PARTNERS = TreeValue(
    "partners of each node that is not idle, stage by stage",
    "[[sum(tree.role(v ^ 1 << k, i) == {'active': 'passive', 'passive': 'active'}[tree.role(v, i)] for k in tree.order[i:]) "
    "for v in range(2**tree.n) if tree.role(v, i) != 'idle'] for i in range(tree.n)]",
)


@registry.forall(
    "one-partner",
    all_trees("proved: across d_i the roles change, across a later dimension they do not"),
    where="section 2.2",
    states=(
        "At every stage an active node of a tree of Q_n, n >= 1, has exactly one passive neighbour over the stage's dimension, "
        "and a passive node exactly one active one [and over no dimension that is left has it another]."
    ),
)
def one_partner(tree: CommunicationTree) -> Counterexample | None:
    """Count neighbours of each node with the opposite role, over the dimensions d_i, ..., d_(n-1) of the stages to come."""
    is_right = all(set(stage) == {1} for stage in _PARTNERS.of(tree))
    return None if is_right else _PARTNERS.counterexample(tree)


@registry.claim(
    "example-1",
    where="Example 1",
    states="In the tree with the sink 010 and the order (1, 2, 0) node 110 is passive, then active, then idle.",
)
def example_1(effort: Effort) -> Verdict:
    """Run the example of Figure 3b: sink 010, order (1, 2, 0)."""
    effort.count_if_applicable()
    tree = CommunicationTree(Hypercube(3), 0b010, (1, 2, 0))
    found = tree_counterexample("roles of node 110", tree, "[tree.role(0b110, i) for i in range(3)]")
    return example_verdict(found, ["passive", "active", "idle"])


# ---------------------------------------------------------------- section 3.1

EXAMPLE_2 = Hypercube(3, (), [(0b100, 0b101), (0b101, 0b111), (0b001, 0b011)])


@registry.claim(
    "example-2",
    where="Example 2",
    states=(
        "FIND_TREE finds COSTs of 1, 0, 1, then of 0 and 1, and so the sink 000 and the order (2, 0, 1), without a faulty "
        "link."
    ),
)
def example_2(effort: Effort) -> Verdict:
    """Check every COST that the example prints."""
    effort.count_if_applicable()
    python = "t = fc.find_tree(cube)\n[str(t), len(t.faulty_links), [list(c.values()) for c in t.costs]]"
    found = cube_counterexample("the tree, its faulty links, and the COSTs of each step", EXAMPLE_2, python)
    found = found.with_form("{0}; {1}; {2[0]}, then {2[1]}")
    return example_verdict(
        found, ["sink 000, order (2, 0, 1)", 0, [[1, 0, 1], [0, 1]]], "the example itself, COST by COST"
    )


@registry.claim(
    "equation-7",
    where="equation (7)",
    states="COST(j) adds FAULT(neib(u, j))[k] over u in USED_N and k in USED_D.",
    correction="k runs over the dimensions that are not in USED_D.",
    misprint_reason="The text beneath it, Figure 11's caption and Example 2 take the complement.",
)
def equation_7(effort: Effort) -> Verdict:
    """Evaluate the printed formula in the second step of Example 2, with USED_N = {000, 010} and USED_D = {1}."""
    effort.count_if_applicable()
    python = "[sum(fc.unusable_link_masks(cube)[u ^ 1 << j].item() >> 1 & 1 for u in (0b000, 0b010)) for j in (0, 2)]"
    found = cube_counterexample(
        "COST(0) and COST(2) as printed, in the second step of Example 2, which prints 0 and 1", EXAMPLE_2, python
    )
    return example_verdict(found, [0, 1], "Example 2 itself")


def _no_sink(cube: Hypercube) -> bool:
    return find_tree(cube) is None


@registry.claim(
    "theorem-3",
    where="Theorem 3",
    states="FIND_TREE finds a sink in Q_n, n >= 1, whenever fewer than 2^(n-1) links are faulty.",
    method="proved",
)
def theorem_3(effort: Effort) -> Verdict:
    """Check exact fractions, besides the proof: fewer than 2^(n-1) faulty links have fewer than 2^n ends."""
    last = effort.by_effort(full=6, quick=3)
    points = [(n, k) for n in (1, 2, 3) for k in range(2 ** (n - 1))] + [(4, k) for k in range(last + 1)]
    for n, k in effort.each(points, "all link sets"):
        effort.applied += math.comb(n * 2 ** (n - 1), k)
        if exact_trees(n, k)["sink_exists"] != 1:
            found = find_first_cube(effort, [(n, k)], _no_sink)
            check_agreement(found is None, False, "exact_trees and find_tree, whether some fault set leaves no sink")
            refuting = cube_counterexample("no sink is found", found or Hypercube(n), "fc.find_tree(cube) is None")
            return Verdict("refuted", "link sets by size", refuting)
    return Verdict(
        "holds", f"proved: L links have at most 2L ends; all link sets of Q_1, Q_2, Q_3 and of Q_4 up to {last} links"
    )


def _many_faulty_links(most: int) -> Iterator[tuple[Hypercube]]:
    """Yield all link sets of Q_2, of Q_3 up to ``most`` links, and random ones of Q_4 and Q_5."""
    for n, last in ((2, 4), (3, most)):
        for k in range(last + 1):
            yield from ((cube,) for cube in cubes.enumerate_cubes(n, links=k))
    rng = random.Random(7)
    for n in (4, 5):
        for _ in range(100):
            yield (Hypercube(n, (), rng.sample(links_of(n), rng.randint(2 ** (n - 1), 2**n))),)


@registry.forall(
    "beyond-theorem-3",
    Cases(
        "all link sets of Q_2 and of Q_3 up to {}, and drawn ones of Q_4 and Q_5",
        _many_faulty_links,
        full=12,
        quick=5,
        method="random",
    ),
    where="section 3.2",
    states="Beyond 2^(n-1) faulty links too, FIND_TREE finds a tree of Q_n, n >= 1, if some node has no faulty link.",
)
def beyond_theorem_3(cube: Hypercube) -> Counterexample | None:
    """Check that there is a tree iff some FAULT is 0."""
    clean = any(not any(cube.is_faulty_link(v, w) for w in cube.neighbours(v)) for v in range(2**cube.n))
    if clean == (not _no_sink(cube)):
        return None
    python = "[fc.find_tree(cube) is not None, fc.unusable_link_masks(cube).tolist()]"
    return cube_counterexample("whether there is a tree, and FAULT of all nodes", cube, python)


@registry.claim(
    "theorem-3-raised",
    where="Theorem 3",
    states="[2^(n-1) faulty links of Q_n, n >= 1, always leave a sink, too.]",
    correction="2^(n-1) faulty links are the fewest that can leave no sink, for every n: a perfect matching does.",
    added=True,
)
def theorem_3_raised(effort: Effort) -> Verdict:
    """Check that a perfect matching touches every node."""
    for n in effort.each(range(1, 9)):
        effort.count_if_applicable()
        check_agreement(
            _no_sink(Hypercube(n, (), [(u, u | 1) for u in range(0, 2**n, 2)])),
            True,
            f"a matching of Q_{n} leaves no sink",
        )
    description = "the one link of Q_1"
    checked = "a perfect matching of Q_1, ..., Q_8; any perfect matching of Q_n does it"
    return Verdict(
        "refuted", checked, cube_counterexample(description, Hypercube(1, (), [(0, 1)]), "fc.find_tree(cube) is None")
    )


@registry.claim(
    "equation-8",
    where="Theorem 4, equation (8)",
    states="The loops of FIND_TREE that set the order take 6 2^n - n^2 - 4n - 7 passes in all, n >= 1, which is O(2^n).",
    definition=True,
)
def equation_8(effort: Effort) -> Verdict:
    """Evaluate the sum of the proof: its term i has 2^(n-i-1) (i+1) steps for COST and 2^(n-i-1) steps for USED_N."""
    for n in effort.each(range(1, 63), "equation (8)"):
        effort.count_if_applicable()
        terms = sum((i + 1) * 2 ** (n - i - 1) * (i + 1) + 2 ** (n - i - 1) for i in range(1, n))
        check_agreement(terms, 6 * 2**n - n * n - 4 * n - 7, f"equation (8) at n = {n}")
    return Verdict("holds", "the sum for n = 1, ..., 62; the scan for a sink adds at most 2^n steps")


@registry.claim(
    "detect",
    where="section 3.1",
    states="DETECT gives node 101 the word 011 in the cube of Figure 9: its links of dimensions 0 and 1 are faulty.",
)
def example_detect_word(effort: Effort) -> Verdict:
    """Check the word of Figure 9 that the text prints."""
    effort.count_if_applicable()
    return example_verdict(
        cube_counterexample("FAULT(101)", EXAMPLE_2, "fc.unusable_link_masks(cube)[0b101].item()").with_form(
            "{value:node}"
        ),
        0b011,
    )
