"""2-partitions in plain Python: Wang, Lin & Kuo, "A Fault-Tolerant Multicast Algorithm ...", section 3.

Interpretations of the paper, which the compiled code follows too:

A1   Figure 2 takes the first dimension i whose deletion leaves no repeats among the faults, then the first j of the
     shortened words; j is mapped back to j + 1 when j >= i.  i is never revisited.
A12  Both ends of a faulty link count as faulty nodes.
A13  The partition of a cube is the first pair of the exhaustive search, in lexicographic order.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable


def faults_of(faulty_nodes: Iterable[int] = (), faulty_links: Iterable[tuple[int, int]] = ()) -> set[int]:
    """F: the faulty nodes and both ends of every faulty link (A12)."""
    return set(faulty_nodes) | {end for link in faulty_links for end in link}


def delete(label: int, i: int) -> int:
    """The word without its digit x_i."""
    return label >> i + 1 << i | label & (1 << i) - 1


def repeats(labels: list[int]) -> bool:
    """Whether some element is there twice."""
    return len(set(labels)) < len(labels)


def figure_2(n: int, faults: Collection[int], map_back: bool = True) -> tuple[int, int] | None:
    """Figure 2 (A1); as printed, without mapping j back, with ``map_back=False``."""
    for i in range(n):
        shorter = [delete(label, i) for label in faults]
        if not repeats(shorter):
            break
    else:
        return None
    for j in range(n - 1):
        if not repeats([delete(label, j) for label in shorter]):
            k = j + 1 if map_back and j >= i else j
            return min(i, k), max(i, k)
    return None


def two_cubes(n: int, lo: int, hi: int) -> list[set[int]]:
    """The 2^(n-2) 2-cubes along dimensions lo and hi."""
    inside = 1 << lo | 1 << hi
    return [{base, base | 1 << lo, base | 1 << hi, base | inside} for base in range(2**n) if not base & inside]


def is_fault_tolerant(n: int, faults: Collection[int], lo: int, hi: int) -> bool:
    """Whether every 2-cube along lo and hi has at most one fault; by the faults, so that any n will do."""
    inside = 1 << lo | 1 << hi
    return not repeats([label & ~inside for label in faults])


def exhaustive(n: int, faults: Collection[int]) -> tuple[int, int] | None:
    """The first fault-tolerant pair in lexicographic order (A13)."""
    return next((pair for pair in itertools.combinations(range(n), 2) if is_fault_tolerant(n, faults, *pair)), None)
