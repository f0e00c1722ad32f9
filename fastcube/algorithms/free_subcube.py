"""Largest fault-free subcubes of one faulty hypercube, any of them or only blocks of consecutive labels."""

from __future__ import annotations

import math

import numpy as np

from ..errors import ParameterError, check_flag
from ..networks.hypercube import Hypercube, Subcube, check_cube
from ..networks.network import require_listed_faults

#: Most subcubes of one dimension that ``fault_free_subcube`` looks at.
MOST_SUBCUBES = 10_000_000


def _find_faults_by_half(cube: Hypercube) -> tuple[list[tuple[int, int]], int]:
    """Return for each dimension the faults inside its half 0 and its half 1, and all faults, as bits of integers."""
    nodes = sorted(require_listed_faults(check_cube(cube), "for a fault-free subcube"))
    links = sorted(cube.faulty_links)
    labels = np.array([*nodes, *(u for u, _ in links)], np.uint64)
    across = np.array([*(0 for _ in nodes), *(u ^ v for u, v in links)], np.uint64)
    out = []
    for i in range(cube.n):
        bit = np.uint64(1 << i)
        halves = [((labels & bit != 0) == value) & (across & bit == 0) for value in (False, True)]
        zero, one = (int.from_bytes(np.packbits(half, bitorder="little").tobytes(), "little") for half in halves)
        out.append((zero, one))
    return out, (1 << len(labels)) - 1


def _find_first(inside: list[tuple[int, int]], remaining: int, fixed: int, top: int, lowest: int) -> list[int] | None:
    """Return the halves of the first subcube, in the order 0 < 1 < *, without any of the faults ``remaining``, or None.

    ``fixed`` dimensions from ``top`` down to ``lowest`` are fixed.  Half 2 i + v fixes dimension i to v.
    """
    if fixed == 0:
        return None if remaining else []
    if fixed == 1:
        halves = (2 * i + value for i in range(top, lowest - 1, -1) for value in (0, 1))
        return next(([half] for half in halves if not remaining & inside[half >> 1][half & 1]), None)
    for i in range(top, lowest + fixed - 2, -1):
        for value in (0, 1):
            rest = _find_first(inside, remaining & inside[i][value], fixed - 1, i - 1, lowest)
            if rest is not None:
                return [2 * i + value, *rest]
    return None


def find_largest(cube: Hypercube, aligned: bool, most: int) -> Subcube | None:
    """Return ``fault_free_subcube`` with at most ``most`` dimensions fixed, or None."""
    (inside, every), n = _find_faults_by_half(cube), cube.n
    for fixed in range(min(most, n) + 1):
        if not aligned and math.comb(n, fixed) << fixed > MOST_SUBCUBES:
            raise ParameterError(
                f"cube has a fault in every subcube of dimension {n - fixed + 1}, and more than {MOST_SUBCUBES:,} subcubes of"
                f" dimension {n - fixed}, too many to look at: ask for aligned=True"
            )
        halves = _find_first(inside, every, fixed, n - 1, n - fixed if aligned else 0)
        if halves is not None:
            free = 2**n - 1 - sum(1 << (half >> 1) for half in halves)
            return Subcube(sum((half & 1) << (half >> 1) for half in halves), free, n)
    return None


def fault_free_subcube(cube: Hypercube, aligned: bool = False) -> Subcube | None:
    """Return the largest subcube without a faulty node and without a faulty link.

    It is the largest whole partition (slice) that a scheduler can still give to a job.

    Parameters
    ----------
    cube : Hypercube
        1 <= n <= 62, with listed faults.
    aligned : bool
        True: only blocks of 2^k consecutive labels that begin at a multiple of 2^k, which are all that a buddy system allocates.

    Returns
    -------
    Subcube or None
        Of the largest subcubes, the first in the order 0 < 1 < * of their ternary strings.  None if all nodes are faulty.

    Raises
    ------
    ParameterError
        Faults are not listed.  Or no subcube is fault-free among those of the dimensions of which Q_n has at most 10,000,000
        subcubes, C(n, m) 2^m with m dimensions fixed: all subcubes for n <= 16, and at least m <= 4 above.

    Notes
    -----
    Each subcube is an intersection of halves of the cube, and sets of faults are bits of integers.  The time is proportional to
    the number of subcubes at least as large as the result, about a microsecond each.  Aligned subcubes with m fixed dimensions
    are 2^m.

    Examples
    --------
    >>> cube = fc.Hypercube(4, faulty_nodes=[0b0000, 0b0110, 0b1011])
    >>> print(fc.fault_free_subcube(cube), fc.fault_free_subcube(cube, aligned=True))
    0**1 11**
    """
    return find_largest(cube, check_flag("aligned", aligned), 62)
