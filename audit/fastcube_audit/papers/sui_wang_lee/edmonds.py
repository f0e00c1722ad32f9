"""Our claims on trees with several faults: where Edmonds' number lambda is less than the smallest degree delta.

The compiled kernel decides all fault sets; an example can be checked with the functions for one instance.
"""

import functools
import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastcube.algorithms.spanning import max_edge_disjoint_trees
from fastcube.networks.hypercube import Hypercube

from ...claims import Counterexample, Effort, Verdict, check_agreement
from ...cubes import cube_counterexample, links_of
from .registry import registry

#: Number of fault sets in one call of the kernel.
_CHUNK = 1 << 16

#: Expression for (lambda, delta) of the cube ``c``.
PAIR = (
    "[fc.max_edge_disjoint_trees(c), min(sum(not c.is_faulty(w) and not c.is_faulty_link(v, w) for w in c.neighbours(v)) "
    "for v in range(2**c.n) if not c.is_faulty(v))]"
)


@dataclass(frozen=True)
class Kind:
    """Which elements are faulty: nodes, links, or at least one of each."""

    name: str
    nodes: bool
    links: bool


NODES, LINKS, MIXED = Kind("nodes", True, False), Kind("links", False, True), Kind("nodes and links", True, True)


def fault_sets(n: int, kind: Kind, size: int) -> Iterator[tuple[tuple[int, ...], tuple[tuple[int, int], ...]]]:
    """Yield all fault sets of a size up to symmetry: with node 0 if nodes are faulty, else with its link of dimension 0."""
    if not kind.nodes:
        first, *others = links_of(n)
        for chosen in itertools.combinations(others, size - 1):
            yield (), (first, *chosen)
        return
    links = links_of(n)
    for f in range(1, size) if kind.links else [size]:
        for nodes in itertools.combinations(range(1, 2**n), f - 1):
            for chosen in itertools.combinations(links, size - f):
                yield (0, *nodes), chosen


def pairs(n: int, sets: Iterable[tuple[tuple[int, ...], tuple[tuple[int, int], ...]]]) -> NDArray[np.int64]:
    """Return lambda and delta of fault sets that all have the same numbers of nodes and links, as an array (sets, 2)."""
    from fastcube.kernels.spanning.connectivity import edge_connectivities

    listed = list(sets)
    out = np.zeros((len(listed), 3), np.int64)
    flat = itertools.chain.from_iterable
    nodes = np.fromiter(flat(nodes for nodes, _ in listed), np.uint64).reshape(len(listed), -1)
    links = np.fromiter(flat(flat(links for _, links in listed)), np.uint64).reshape(len(listed), -1, 2)
    links[..., 1] = np.log2(links[..., 0] ^ links[..., 1])  # the kernel takes lower ends and dimensions
    edge_connectivities(n, nodes, links, out)
    return out[:, :2]


def first_fault_sets(effort: Effort, n: int, kind: Kind, size: int) -> tuple[Hypercube | None, Hypercube | None]:
    """Return the first fault set of a size with lambda < delta, and the first with 1 <= lambda < delta; None for no such set."""
    effort.step(f"Q_{n}, {size} faulty {kind.name}")
    least, connected, tried = _search_first_sets(n, kind, size)
    effort.applied += tried
    return least, connected


@functools.cache
def _search_first_sets(n: int, kind: Kind, size: int) -> tuple[Hypercube | None, Hypercube | None, int]:
    """Return the two fault sets of ``first_fault_sets``, and the number of sets tried."""
    found: list[Hypercube | None] = [None, None]
    tried = 0
    for _, group in itertools.groupby(fault_sets(n, kind, size), key=lambda faults: len(faults[0])):
        while None in found and (chunk := list(itertools.islice(group, _CHUNK))):
            tried += len(chunk)
            trees, degree = pairs(n, chunk).T
            for least in (0, 1):
                short = np.flatnonzero((trees < degree) & (trees >= least))
                if short.size and found[least] is None:
                    nodes, links = chunk[int(short[0])]
                    cube = found[least] = Hypercube(n, nodes, links)
                    check_agreement(
                        max_edge_disjoint_trees(cube),
                        int(trees[short[0]]),
                        f"lambda of {cube!r}, by the function and by the kernel",
                    )
    return found[0], found[1], tried


def _connectivity_example(cube: Hypercube) -> Counterexample:
    return cube_counterexample("the edge connectivity and the least degree of what is left", cube, PAIR)


@registry.claim(
    "few-faulty-nodes",
    where="beyond Theorem 1",
    states="[lambda = delta for every set of at most n - 1 faulty nodes of Q_n, n >= 1.]",
    added=True,
    group="edmonds",
)
def few_faulty_nodes(effort: Effort) -> Verdict:
    """Try all sets of at most n - 1 faulty nodes, up to translation."""
    most = effort.by_effort(full=6, quick=5)
    for n in range(1, most + 1):
        for f in range(1, min(n - 1, 2**n - 2) + 1):
            if found := first_fault_sets(effort, n, NODES, f)[0]:
                return Verdict("refuted", f"Q_1, ..., Q_{n}", _connectivity_example(found))
    return Verdict("holds", f"all sets of at most n - 1 faulty nodes of Q_1, ..., Q_{most}")


def _claim_smallest(
    name: str,
    states: str,
    fault_sets: tuple[Kind, bool],
    full: dict[int, int],
    quick: dict[int, int],
    formula: dict[int, int],
) -> None:
    """Register a claim about the size of the smallest fault sets of a kind with lambda < delta.

    ``fault_sets`` is the kind, and whether only sets with lambda >= 1 count.  For each n all sets are tried up to the size in
    ``full`` or ``quick``; the claim is that the smallest have the size ``formula[n]``.
    """
    kind, connected = fault_sets

    @registry.claim(name, where="beyond Theorem 1", states=states, added=True, group="edmonds")
    def decide_smallest(effort: Effort) -> Verdict:
        """Try all fault sets in order of n and size, up to symmetry."""
        first, sizes = None, []
        for n, most in effort.by_effort(full, quick).items():
            found = None
            for size in range(1, most + 1):
                found = first_fault_sets(effort, n, kind, size)[connected]
                if found is not None:
                    if size != formula.get(n):
                        return Verdict("refuted", f"up to {size} faults in Q_{n}", _connectivity_example(found))
                    sizes.append(f"{size} in Q_{n}")
                    first = first or found
                    break
            if found is None:
                if formula.get(n, math.inf) <= most:
                    return Verdict("undecided", f"no set of at most {most} in Q_{n}, where {formula[n]} were expected")
                sizes.append(f"more than {most} in Q_{n}")
        checked = f"all sets by size: the smallest have {', '.join(sizes)}"
        return Verdict("holds", checked, None if first is None else _connectivity_example(first))


def _edge_boundary(n: int) -> int:
    return 2 * (n - 1)


def _square_boundary(n: int) -> int:
    return 4 * (n - 2) - 1


def _subcube_boundary(n: int, least: int) -> int:
    """Return the number of links around a subcube of at least ``least`` dimensions, minus (dimensions - 1), at its minimum."""
    return min((n - m << m) - (m - 1) for m in range(least, n))


_claim_smallest(
    "smallest-nodes",
    "The smallest sets of faulty nodes with lambda < delta have 2(n - 1) nodes, n >= 3: the neighbours of the two ends of "
    "a link.",
    (NODES, False),
    full={2: 2, 3: 4, 4: 6, 5: 8},  # Q_2 has no such set
    quick={2: 2, 3: 4, 4: 6},
    formula={n: _edge_boundary(n) for n in range(3, 6)},
)
_claim_smallest(
    "smallest-nodes-connected",
    "The smallest sets of faulty nodes with 1 <= lambda < delta have 4(n - 2) - 1 nodes, n >= 4: the neighbours of a "
    "square but one.",
    (NODES, True),
    full={3: 6, 4: 7, 5: 9},  # Q_3 has no such set; Q_5 has too many sets of 10 nodes to try
    quick={3: 6, 4: 7, 5: 5},
    formula={n: _square_boundary(n) for n in (4, 5)},
)
_claim_smallest(
    "smallest-links",
    "The smallest sets of faulty links with lambda < delta are all links around a subcube Q_m but m - 1 of them, 1 <= m < n: "
    "2(n - 1) links, but for n = 3, where they are 3.",
    (LINKS, False),
    full={2: 2, 3: 4, 4: 6},
    quick={2: 2, 3: 4, 4: 4},
    formula={n: _subcube_boundary(n, 1) for n in (2, 3, 4)},
)
_claim_smallest(
    "smallest-links-connected",
    "The smallest sets of faulty links with 1 <= lambda < delta are all links around a subcube Q_m but m - 1 of them, "
    "2 <= m < n: 3 links for n = 3, 6 for n = 4.",
    (LINKS, True),
    full={2: 4, 3: 3, 4: 6},
    quick={2: 4, 3: 3, 4: 4},
    formula={n: _subcube_boundary(n, 2) for n in (3, 4)},
)
_claim_smallest(
    "smallest-mixed",
    "The smallest mixed fault sets with lambda < delta have 2(n - 1) nodes and links, n >= 3.",
    (MIXED, False),
    full={2: 4, 3: 4, 4: 6},
    quick={2: 3, 3: 4, 4: 3},
    formula={n: _edge_boundary(n) for n in (3, 4)},
)
_claim_smallest(
    "smallest-mixed-connected",
    "The smallest mixed fault sets with 1 <= lambda < delta have 4(n - 2) - 1 nodes and links, n >= 4.",
    (MIXED, True),
    full={2: 4, 3: 8, 4: 7},
    quick={2: 3, 3: 4, 4: 3},
    formula={4: _square_boundary(4)},
)
