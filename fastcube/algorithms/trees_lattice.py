"""Search all communication trees of a hypercube: for the best tree, and for all fault-free trees (Leu & Kuo, section 3.1)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..errors import check_flag, check_range
from ..networks.hypercube import Hypercube, check_cube
from .trees import Array, CommunicationTree, dead_links, unusable_link_masks

#: Largest n for ``optimal_tree``, which holds 3^n numbers twice.
LARGEST_LATTICE = 14
#: Largest n for ``fault_free_trees``, of which there are n! 2^n without faults.
LARGEST_EXHAUSTED = 10

_ONE = np.uint64(1)


class Lattice:
    """The smallest numbers of faulty links of all trees, as a shortest path over subcubes.

    The faulty links of the stages that bring all data into a subcube Q depend on Q, but not on the sink inside it.  So
    tail[Q] = min over fixed dimensions j of cross(Q, j) + tail[Q + j], with 3^n states for all sinks together.  Q + j is Q with
    dimension j free, Q ^ j its other half.  The dead links between the halves number cross(Q, j) = inside[Q + j] - inside[Q]
    - inside[Q ^ j], where ``inside`` counts the dead links in a subcube.  A subcube is a base-3 number: digit j is the
    fixed bit 0 or 1, or 2 if dimension j is free.

    Attributes
    ----------
    inside : int32 array of 3^n
        The dead links inside each subcube.
    tail : int32 array of 3^n
        The smallest number of faulty links of the stages that bring all data into each subcube.
    """

    def __init__(self, cube: Hypercube) -> None:
        n = self.n = cube.n
        shape = (3,) * n  # axis a is digit n - 1 - a
        inside = np.zeros(shape, np.int32)
        low, bit = dead_links(cube)
        inside.ravel()[self.index(low, bit)] = 1
        for axis in range(n):
            view = np.moveaxis(inside, axis, 0)
            view[2] += view[0] + view[1]
        self.inside = inside.ravel()
        self.tail = self._find_tails()

    def index(self, base: Array, free: Array) -> NDArray[np.int64]:
        """Return the base-3 numbers of subcubes (base, free)."""
        total = np.zeros(base.shape, np.int64)
        for j in range(self.n):
            digit = (base >> np.uint64(j) & _ONE) + np.uint64(2) * (free >> np.uint64(j) & _ONE)
            total += digit.astype(np.int64) * 3**j
        return total

    def _find_tails(self) -> NDArray[np.int32]:
        """Return ``tail``, computed from the whole cube down by number of free dimensions."""
        every = np.arange(3**self.n)
        free = sum((every // 3**j % 3 == 2).astype(np.int8) for j in range(self.n))
        layers = np.split(np.argsort(free, kind="stable"), np.cumsum(np.bincount(free))[:-1])
        tail = np.zeros(every.size, np.int32)
        for layer in layers[-2::-1]:
            best = np.full(layer.size, np.iinfo(np.int32).max, np.int32)
            for j in range(self.n):
                digit = layer // 3**j % 3
                fixed = digit < 2
                here, grown = layer[fixed], (layer + (2 - digit) * 3**j)[fixed]
                other = (layer + (1 - 2 * digit) * 3**j)[fixed]
                cost = self.inside[grown] - self.inside[here] - self.inside[other] + tail[grown]
                best[fixed] = np.minimum(best[fixed], cost)
            tail[layer] = best
        return tail

    def steps(self, at: int) -> Iterator[tuple[int, int, int]]:
        """Yield (j, cross(Q, j), Q + j) for each fixed dimension j of the subcube Q = ``at``, ascending."""
        for j in range(self.n):
            digit = at // 3**j % 3
            if digit < 2:
                grown, other = at + (2 - digit) * 3**j, at + (1 - 2 * digit) * 3**j
                yield j, int(self.inside[grown] - self.inside[at] - self.inside[other]), grown

    def order(self, at: int) -> tuple[int, ...]:
        """Return (d_0, ..., d_{n-1}) of the best tree from a subcube on, lexicographically smallest from d_{n-1} (R7)."""
        backwards = []
        for _ in range(self.n):
            j, _, at = next(s for s in self.steps(at) if s[1] + self.tail[s[2]] == self.tail[at])
            backwards.append(j)
        return tuple(backwards[::-1])


def optimal_tree(cube: Hypercube, any_sink: bool = False) -> CommunicationTree | None:
    """Return a tree with the fewest faulty links.

    Parameters
    ----------
    cube : Hypercube
        n <= 14.
    any_sink : bool
        Whether any label may be the sink, also of a faulty node, instead of only nodes without a faulty link.

    Returns
    -------
    CommunicationTree or None
        Among several best trees the one with the lowest sink, then with the lexicographically smallest (d_{n-1}, ..., d_0)
        (R7).  None if every node has a faulty link and ``any_sink`` is False.

    Notes
    -----
    O(n 3^n) time and 3^n numbers: 0.02 s at n = 8, half a minute and 400 MB at n = 14.

    Examples
    --------
    >>> fc.optimal_tree(fc.Hypercube(3, faulty_links=[(0, 1)])).faulty_links
    ()
    """
    check_range("n", check_cube(cube).n, 1, LARGEST_LATTICE, "for the optimal tree over 3^n subcubes")
    labels = np.arange(2**cube.n, dtype=np.uint64)
    if not check_flag("any_sink", any_sink):
        labels = labels[unusable_link_masks(cube) == 0]
        if labels.size == 0:
            return None
    lattice = Lattice(cube)
    at = lattice.index(labels, np.zeros_like(labels))
    best = int(np.argmin(lattice.tail[at]))  # the first of several: the lowest
    return CommunicationTree(cube, int(labels[best]), lattice.order(int(at[best])))


def fault_free_trees(cube: Hypercube) -> Iterator[CommunicationTree]:
    """Iterate over all fault-free trees (Algorithm EXHAUST, Figure 4), by sink, then by (d_{n-1}, ..., d_0).

    Parameters
    ----------
    cube : Hypercube
        n <= 10.

    Notes
    -----
    Only beginnings of orders that can still be fault-free are extended: O(n 3^n) time for the cube, then O(n^2) per tree.

    Examples
    --------
    >>> len(list(fc.fault_free_trees(fc.Hypercube(3))))  # 3! orders at each of 8 sinks
    48
    >>> len(list(fc.fault_free_trees(fc.Hypercube(3, faulty_links=[(0, 1)]))))  # a tree leaves out 5 of the 12 links
    20
    """
    check_range("n", check_cube(cube).n, 1, LARGEST_EXHAUSTED, "to list all fault-free trees")
    return _fault_free_trees(cube)


def _fault_free_trees(cube: Hypercube) -> Iterator[CommunicationTree]:
    lattice = Lattice(cube)

    def extend_tree(at: int, backwards: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(backwards) == cube.n:
            yield backwards
        for j, crossing, grown in lattice.steps(at):
            if crossing == 0 and lattice.tail[grown] == 0:
                yield from extend_tree(grown, (*backwards, j))

    labels = np.arange(2**cube.n, dtype=np.uint64)
    for sink, at in enumerate(lattice.index(labels, np.zeros_like(labels)).tolist()):
        for backwards in extend_tree(at, ()):
            yield CommunicationTree(cube, sink, backwards[::-1])
