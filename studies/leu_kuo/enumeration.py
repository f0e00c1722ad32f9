"""All sets of faulty links and nodes of small cubes: the tallies of the four studies."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from fastcube.errors import check_integer
from fastcube.kernels.gathering.layout import GATHER
from fastcube.kernels.tally.layout import Layout
from fastcube.kernels.trees.layout import FIND_TREE, OPTIMAL_TREE
from fastcube.measure.study import Point, check_cases
from fastcube.measure.tally import Tally

from .faults import values_of

#: Most fault sets that are enumerated: a few minutes.
MOST_SETS = 2 * 10**8
#: Largest n of the optimum's lattice.
LARGEST_TREE = 12
#: Sets of one call of a kernel, so that an interruption is served soon.
_CHUNK = 10**6


def _tallies(point: Point, kernel: Any, *layouts: Layout) -> tuple[Tally, ...]:
    """What a kernel counts of all fault sets of a point, which are checked against the most."""
    n, links, f = values_of(point)
    sets = check_cases(math.comb(n * 2 ** (n - 1), links) * math.comb(2**n, f), MOST_SETS, point)
    slots = [layout.fresh() for layout in layouts]
    state = np.concatenate([np.arange(links), np.arange(f)]).astype(np.int64)
    for first in range(0, sets, _CHUNK):
        kernel(n, links, f, state, first, min(first + _CHUNK, sets), *slots)
    return tuple(Tally.from_slots(layout, 0, sets, each) for layout, each in zip(layouts, slots, strict=True))


@functools.lru_cache(64)
def _of_trees(n: int, links: int, f: int) -> tuple[Tally, ...]:
    from fastcube.kernels.trees.single import enumerate_trees

    n = check_integer("n", n, 1, LARGEST_TREE, "for exact values")
    return _tallies({"n": n, "links": links, "f": f}, enumerate_trees, FIND_TREE, OPTIMAL_TREE)


@functools.lru_cache(64)
def _of_gathering(n: int, links: int, f: int) -> tuple[Tally, ...]:
    from fastcube.kernels.gathering.single import enumerate_gather

    return _tallies({"n": n, "links": links, "f": f}, enumerate_gather, GATHER)


def find_tree(point: Point) -> Tally:
    """All fault sets of a point of ``find-tree``; n <= 12."""
    return _of_trees(*values_of(point))[0]


def optimal_tree(point: Point) -> Tally:
    """All fault sets of a point of ``optimal-tree``."""
    return _of_trees(*values_of(point))[1]


def gather(point: Point) -> Tally:
    """All fault sets of a point of ``gather`` and ``rerouting``."""
    return _of_gathering(*values_of(point))[0]
