"""Enumeration of all sets of faulty links and nodes of small cubes, for exact values."""

import functools
import math
from collections.abc import Callable

import numpy as np

from fastcube.errors import check_integer
from fastcube.kernels.gathering.dispatch import GATHER_SETS
from fastcube.kernels.gathering.layout import GATHER
from fastcube.kernels.machine.dispatch import KernelTable
from fastcube.kernels.tally.layout import Layout
from fastcube.kernels.trees import dispatch, layout
from fastcube.measure.study import Point, check_cases
from fastcube.measure.tally import Tally

from .points import values_of

#: Largest number of fault sets that are enumerated, which takes a few minutes.
MOST_SETS = 2 * 10**8
#: Largest n of the lattice of optimal trees.
LARGEST_TREE = 12
#: Number of sets per kernel call, small enough to react soon to an interruption.
_CHUNK = 10**6


def _enumeration_of_sets(kernels: KernelTable, of: Layout) -> Callable[[Point], Tally]:
    """Return the enumeration of a study: a function from a point to the counts of its kernel of all fault sets."""

    @functools.lru_cache(64)
    def tally_sets(n: int, links: int, f: int) -> Tally:
        check_integer("n", n, 1, LARGEST_TREE, "for exact values")
        every = math.comb(n * 2 ** (n - 1), links) * math.comb(2**n, f)
        sets = check_cases(every, MOST_SETS, {"n": n, "links": links, "f": f})
        params, slots = np.array([n, links, f, *range(links), *range(f)], np.float64), of.new_tally()
        for first in range(0, sets, _CHUNK):
            kernels.kernel(n, links, f)(np.uint64(0), first, min(first + _CHUNK, sets), params, slots)
        return Tally.from_slots(of, 0, sets, slots)

    return lambda point: tally_sets(*values_of(point))


find_tree = _enumeration_of_sets(dispatch.FIND_TREE_SETS, layout.FIND_TREE)
optimal_tree = _enumeration_of_sets(dispatch.OPTIMAL_TREE_SETS, layout.OPTIMAL_TREE)
#: For ``gather`` and ``rerouting``, which use the same kernel.
gather = _enumeration_of_sets(GATHER_SETS, GATHER)
