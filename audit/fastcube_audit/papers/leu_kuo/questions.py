"""Questions about trees that Leu & Kuo do not ask: how good FIND_TREE and TOP_DOWN are, and which faults leave no tree."""

import math
from collections.abc import Callable
from fractions import Fraction

from fastcube.algorithms.trees import CommunicationTree, find_tree
from fastcube.algorithms.trees_lattice import optimal_tree
from fastcube.exact.enumeration import exact_trees
from fastcube.networks.hypercube import Hypercube
from fastcube.studies.leu_kuo import enumeration

from ...claims import Effort, Verdict, check_agreement
from .registry import cube_counterexample, registry
from .trees import LinkSets, cube_check, find_first_cube, random_cubes

#: Link sets in the order in which the smallest counterexample is searched.
SMALL_CASES = [(1, 0), (2, 0), (2, 1), *((3, k) for k in range(5))]

#: Python expression for the numbers of faulty links of FIND_TREE's tree and of the best tree.
_TREE_AND_BEST = "[len(fc.find_tree(cube).faulty_links), len(fc.optimal_tree(cube).faulty_links)]"


@registry.claim(
    "fault-free-below-n",
    where="after section 3.1",
    states="[At most n - 1 faulty links always leave a fault-free tree, and n do not.]",
    added=True,
    method="proved",
)
def fault_free_below_n(effort: Effort) -> Verdict:
    """Prove by induction: a dimension without a faulty link comes first, and one half has at most half of the faulty links."""
    sizes = [(n, k) for n in (1, 2, 3, 4) for k in range(n)] + [
        (5, k) for k in range(effort.by_effort(full=5, quick=3))
    ]
    for n, links in effort.each(sizes, "all link sets"):
        always = exact_trees(n, links)["fault_free_exists"] == 1
        none = None
        if n <= 3 or not always:
            none = find_first_cube(effort, [(n, links)], _has_no_free_tree)
            check_agreement(
                none is None, always, "exact_trees and optimal_tree, whether all fault sets leave a fault-free tree"
            )
        if not always:
            python = "len(fc.optimal_tree(cube, any_sink=True).faulty_links)"
            return Verdict(
                "refuted",
                "link sets by size",
                cube_counterexample("faulty links of the best tree", none or Hypercube(n), python),
            )
    for n in range(2, effort.by_effort(full=9, quick=7)):
        check_agreement(
            _has_no_free_tree(_at_one_node(n)), True, f"n faulty links at one node of Q_{n} leave no fault-free tree"
        )
    description = "n faulty links, one in each dimension, without a fault-free tree: as many do for every n tried"
    return Verdict(
        "holds",
        "proved: n - 1 links leave a dimension without one, to cross first; of the halves one has at most (n-1)/2 <= n - 2 of "
        f"the n - 1 links, and so on; all such sets of Q_1, ..., Q_4 and of Q_5 up to {effort.by_effort(4, 2)} links; "
        f"for n links, Q_2, ..., Q_{n}",
        cube_counterexample(description, _at_one_node(3), "len(fc.optimal_tree(cube, any_sink=True).faulty_links)"),
    )


def _has_no_free_tree(cube: Hypercube) -> bool:
    best = optimal_tree(cube, any_sink=True)
    return best is None or bool(best.faulty_links)


def _at_one_node(n: int) -> Hypercube:
    """Return n faulty links at one node, one per dimension; every tree crosses one of them."""
    return Hypercube(n, (), [(0, 1 << k) for k in range(n)])


@registry.claim(
    "find-tree-fault-free",
    where="section 3.1",
    states="[FIND_TREE finds a fault-free tree whenever there is one; or at least with up to n - 1 faulty links.]",
    added=True,
    correction="It does with one faulty link, and not always with two.",
)
def find_tree_fault_free(effort: Effort) -> Verdict:
    """Check all pairs of links of Q_3; for one link, use the symmetry of the rule's first choice for all n."""
    for n in effort.each(range(2, effort.by_effort(full=9, quick=6)), "one faulty link"):
        check_agreement(exact_trees(n, 1)["fault_free"], Fraction(1), f"fault-free trees with one faulty link of Q_{n}")
    description = "FIND_TREE's tree has a faulty link, though there is a fault-free tree"
    checked = f"link sets by size; one faulty link never hurts in Q_2, ..., Q_{n}"
    check = cube_check(description, _TREE_AND_BEST, _is_fault_free_tree_missed_by(find_tree))
    return LinkSets(SMALL_CASES, checked).decide(effort, check)


def _is_fault_free_tree_missed_by(find: Callable[[Hypercube], CommunicationTree | None]) -> Callable[[Hypercube], bool]:
    """Return whether there is a fault-free tree but the rule ``find`` returns another tree, as a function of the cube."""

    def is_missed(cube: Hypercube) -> bool:
        tree, best = find(cube), optimal_tree(cube)
        return best is not None and not best.faulty_links and (tree is None or bool(tree.faulty_links))

    return is_missed


@registry.claim(
    "top-down-fault-free",
    where="interpretation R20",
    states="[TOP_DOWN finds a fault-free tree whenever there is one.]",
    added=True,
    correction="It does in Q_1, Q_2, Q_3, in Q_4 with up to 5 faulty links, and always with up to n - 1.",
)
def top_down_fault_free(effort: Effort) -> Verdict:
    """Compare exact fractions up to the first size where they differ, then search sets of that size in order."""
    sizes = [(n, k) for n in (2, 3) for k in range(n * 2 ** (n - 1) + 1)] + [(4, k) for k in range(6)]
    for n, links in effort.each(sizes, "all link sets"):
        exact = exact_trees(n, links)
        check_agreement(
            exact["fault_free_top_down"],
            exact["fault_free_exists"],
            f"fractions with a fault-free tree, {links} links of Q_{n}",
        )
    is_missed = _is_fault_free_tree_missed_by(lambda cube: find_tree(cube, "TOP_DOWN"))
    description = "TOP_DOWN's tree has a faulty link, though there is a fault-free tree"
    python = '[len(fc.find_tree(cube, "TOP_DOWN").faulty_links), len(fc.optimal_tree(cube).faulty_links)]'
    checked = "all link sets of Q_2, Q_3 and of Q_4 up to 5, then by order"
    return LinkSets([(4, 6)], checked).decide(effort, cube_check(description, python, is_missed))


def _exact_gap(n: int, links: int) -> int:
    """Return the largest gap over all sets of ``links`` faulty links; 0 if none has a sink."""
    return max(enumeration.optimal_tree({"n": n, "links": links, "f": 0}).maxima["largest_gap"][0], 0)


@registry.claim(
    "largest-gap",
    where="section 3.1",
    states="[FIND_TREE's tree has at most one faulty link more than the best one.]",
    added=True,
    correction="Larger gaps occur from n = 3 on; no ratio bounds it, as the best may have none.",
)
def largest_gap(effort: Effort) -> Verdict:
    """Compute exact gaps for Q_2, Q_3 and Q_4 up to some links, and sample larger cubes."""
    worst = {n: max(_exact_gap(n, k) for k in range(n * 2 ** (n - 1) + 1)) for n in (2, 3)}
    worst[4] = max(_exact_gap(4, k) for k in range(effort.by_effort(full=7, quick=5)))
    down, ratio = dict.fromkeys(range(2, 7), 0), Fraction(1)
    for n in range(2, 7):
        for cube in random_cubes(effort, n, effort.by_effort(full=1500, quick=60), seed=n):
            trees = find_tree(cube), find_tree(cube, "TOP_DOWN"), optimal_tree(cube)
            found, crossed, best = (0 if tree is None else len(tree.faulty_links) for tree in trees)
            if trees[0] is not None:
                worst[n] = max(worst.get(n, 0), found - best)
                down[n] = max(down[n], crossed - best)
                ratio = max(ratio, Fraction(crossed, best)) if best else ratio
    checked = "largest gap found, FIND_TREE / TOP_DOWN: " + ", ".join(
        f"Q_{n} {worst[n]} / {down[n]}" for n in range(2, 7)
    )
    description = "two more than the best"
    check = cube_check(description, _TREE_AND_BEST, lambda cube: _gap(cube) > 1)
    return LinkSets([(3, 3)], checked).decide(effort, check)


def _gap(cube: Hypercube) -> int:
    tree, best = find_tree(cube), optimal_tree(cube)
    return 0 if tree is None or best is None else len(tree.faulty_links) - len(best.faulty_links)


#: Only 0010 and 0111 have no faulty link, and their best trees cross two; a tree with the sink 1000 crosses one, its own.
WORSE_SINK = Hypercube(4, (), [(0, 4), (1, 3), (1, 5), (4, 5), (4, 6), (8, 9), (10, 11), (12, 13), (14, 15)])


def surrounded_sink(n: int) -> Hypercube:
    """Return a cube in which only node 0 has no faulty link: its neighbours' other links, and pairs of the remaining nodes.

    A tree with the sink 0 crosses 0 + 1 + ... + (n - 1) faulty links, because a subcube of dimension k around 0 has k neighbours.
    A tree that leaves 0 behind first crosses n - 1, then 1 in the next stage and 1 in the last.
    """
    links = {
        (min(u, v), max(u, v)) for k in range(n) for j in range(n) if j != k for u in [1 << k] for v in [u | 1 << j]
    }
    touched = {end for link in links for end in link}
    links |= {(v & ~1, v | 1) for v in range(1, 2**n) if v not in touched}
    return Hypercube(n, (), sorted(links))


@registry.claim(
    "sink-with-fault",
    where="section 3.1",
    states="[A sink with a faulty link never has a better tree than the best sink without.]",
    added=True,
    correction=(
        "With 9 faulty links in Q_4 it has: the best tree of the only sink left can cross n(n-1)/2 faulty links, and the "
        "tree of another node n + 1."
    ),
)
def sink_with_fault(effort: Effort) -> Verdict:
    """Check Q_2, Q_3 and Q_4 up to some links exactly; the counterexample came from removing links of ``surrounded_sink(4)``."""
    top = effort.by_effort(full=8, quick=4)
    sizes = [(n, links, 0) for n in (2, 3) for links in range(n * 2 ** (n - 1) + 1)]
    sizes += [(4, links, 0) for links in range(top + 1)] + [(d, 0, f) for d in (2, 3, 4) for f in range(2**d + 1)]
    for n, links, f in effort.each(sizes, "all link and node sets"):
        effort.applied += math.comb(n * 2 ** (n - 1), links) * math.comb(2**n, f)
        exact = exact_trees(n, links, f)
        check_agreement(
            exact["optimum"],
            exact["optimum_any_sink"],
            f"the best tree with {links} faulty links and {f} nodes of Q_{n}",
        )
    for n in effort.each(range(4, effort.by_effort(full=9, quick=7)), "a surrounded sink"):
        best, free = optimal_tree(surrounded_sink(n)), optimal_tree(surrounded_sink(n), any_sink=True)
        found = [(tree.sink, len(tree.faulty_links)) for tree in (best, free) if tree is not None]
        check_agreement(
            [found[0], found[-1][1]], [(0, n * (n - 1) // 2), n + 1], f"best trees around a surrounded sink of Q_{n}"
        )
    description = "faulty links of the best tree over sinks with FAULT = 0, and over all labels"
    python = "[len(fc.optimal_tree(cube).faulty_links), len(fc.optimal_tree(cube, any_sink=True).faulty_links)]"
    return Verdict(
        "refuted",
        f"no case in all link sets of Q_2, Q_3 and of Q_4 up to {top} links, nor in all node sets; one with 9 links; a sink "
        f"whose neighbours' other links are all faulty, Q_4, ..., Q_{n}: n(n-1)/2 against n + 1",
        cube_counterexample(description, WORSE_SINK, python),
    )


#: Domination numbers for n = 1, ..., 6: fewest nodes that, with their neighbours, are all of Q_n.
DOMINATION = (1, 2, 2, 4, 7, 12)


@registry.claim(
    "fewest-links-without-sink",
    where="after Theorem 3",
    states="[2^(n-1) faulty links at the least leave no sink, and 1, 2, 2, 4, 7, 12 faulty nodes for n = 1, ..., 6.]",
    added=True,
)
def fewest_without_sink(effort: Effort) -> Verdict:
    """Use integer programming: without a sink, links cover all nodes (2^(n-1) at least), or faulty nodes dominate Q_n."""
    largest = effort.by_effort(full=6, quick=4)
    for n in range(1, largest + 1):
        effort.step(f"Q_{n}")
        nodes = _dominating_set(n)
        effort.count_if_applicable()
        check_agreement(len(nodes), DOMINATION[n - 1], f"fewest faulty nodes of Q_{n} without a sink")
        check_agreement(
            find_tree(Hypercube(n, nodes)) is None, True, f"{len(nodes)} faulty nodes of Q_{n} leave no sink"
        )
    return Verdict(
        "holds",
        "links: proved, a perfect matching; nodes: a sink is a node with no faulty one within distance 1, so that fewest are a "
        f"dominating set, by scipy.optimize.milp for Q_1, ..., Q_{largest}",
        cube_counterexample(
            "2 faulty nodes, antipodal, leave no sink in Q_3", Hypercube(3, [0, 7]), "fc.find_tree(cube) is None"
        ),
    )


def _dominating_set(n: int) -> list[int]:
    """Return a smallest dominating set of Q_n."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp

    near = np.array([[(u ^ v).bit_count() <= 1 for v in range(2**n)] for u in range(2**n)], float)
    found = milp(
        np.ones(2**n), constraints=LinearConstraint(near, 1, np.inf), integrality=np.ones(2**n), bounds=Bounds(0, 1)
    )
    return [int(v) for v in np.flatnonzero(np.asarray(found.x) > 0.5)]
