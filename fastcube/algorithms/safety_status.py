"""The safety statuses of one hypercube's nodes, which routing rules use (docs/readings/routing-rules.md).

A safety status is a level, a vector or a mark per node.  Outside the maximal unsafe subcubes of Lee & Hayes every node has the
best status, also with faulty links (V5): it has at most one neighbour inside, hence n - 1 neighbours of best status over
nonfaulty links, enough for every level and every bit.  So statuses are computed inside each subcube, with the best status
for all neighbours outside.
"""

from __future__ import annotations

import functools
import itertools
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ..networks.hypercube import Hypercube, Subcube, check_cube
from .unsafe import Unsafe, gather_bits, scatter_bits

#: Largest n for arrays of 2^n statuses, and largest dimension of a subcube whose statuses are computed.
LARGEST_WHOLE = 20

Plane = NDArray[np.bool_]


def _neighbour_values(plane: Plane, i: int) -> Plane:
    """Return for each node the value of its neighbour across dimension i."""
    return plane.reshape(-1, 2, 2**i)[:, ::-1].reshape(-1)


class _SafetyStatus(ABC):
    """Base of the safety statuses of one cube: finds the maximal unsafe subcubes, and solves each on demand."""

    def __init__(self, cube: Hypercube) -> None:
        self.cube = check_cube(cube)
        self._unsafe = Unsafe(cube)
        self._solved: dict[Subcube, Any] = {}

    def _subcube_of(self, v: int) -> Subcube | None:
        return next((part for part in self._unsafe.subcubes if v in part), None)

    def _status_of(self, part: Subcube) -> Any:
        """Return the statuses inside a subcube, computed once."""
        if part not in self._solved:
            self._solved[part] = self._solve(part)
        return self._solved[part]

    @abstractmethod
    def _solve(self, part: Subcube) -> Any:
        """Compute the statuses inside a subcube; ``_status_of`` stores them."""

    def _masks(self, part: Subcube) -> tuple[Plane, Plane]:
        """Return the nonfaulty nodes of a subcube and the ends of faulty links, from which statuses are computed."""
        if part.dimension > LARGEST_WHOLE:
            raise ParameterError(
                f"safety statuses are computed in unsafe subcubes of at most {LARGEST_WHOLE} dimensions, "
                f"got one of {part.dimension}: {part}"
            )
        faulty, ends = self._unsafe._local_faults(part)
        masks = np.ones(part.size, np.bool_), np.zeros(part.size, np.bool_)
        masks[0][faulty], masks[1][ends] = False, True
        return masks

    def _fill_whole_cube(self, what: str, full: Any, *columns: int, remedy: str = "") -> NDArray[Any]:
        """Return the statuses of all 2^n nodes: ``full`` outside the unsafe subcubes, and the computed statuses inside.

        Raises ParameterError, with ``what`` as the purpose and ``remedy`` at the end, if n is too large.
        """
        if self.cube.n > LARGEST_WHOLE:
            raise ParameterError(f"n must be in [1, {LARGEST_WHOLE}] for {what}, got {self.cube.n}{remedy}")
        status = np.full((2**self.cube.n, *columns), full)
        for part in self._unsafe.subcubes:
            inside = scatter_bits(np.arange(part.size, dtype=np.uint64), part)
            status[inside] = self._status_of(part)
        return status

    @functools.cached_property
    def safe(self) -> int:
        """Number of nonfaulty nodes with a safe status."""
        parts = self._unsafe.subcubes
        return int(2**self.cube.n) - sum(part.size for part in parts) + sum(map(self._count_safe, parts))

    @abstractmethod
    def _count_safe(self, part: Subcube) -> int:
        """Return the number of nonfaulty nodes of a subcube with a safe status."""


def _local_label(part: Subcube, v: int) -> int:
    """Return a node's label in the d-cube of its subcube."""
    return int(gather_bits(np.array([v], np.uint64), part.free)[0])


class SafetyLevels(_SafetyStatus):
    """Wu's safety levels (V3, V6), made by ``fastcube.safety_levels``.

    Attributes
    ----------
    cube : Hypercube
    levels : int64 array, (2^n,)
        Each node's own level in [0, n], 0 for a faulty node; n <= 20.
    rounds : int
        Number of synchronous rounds until no shown level changes.
    safe : int
        Number of nodes whose own level is n.
    """

    @functools.cached_property
    def levels(self) -> NDArray[np.int64]:
        """Each node's own safety level, an int64 array of shape (2^n,)."""
        out = self._fill_whole_cube("levels", np.int64(self.cube.n), remedy="; level(v) returns one level at any n")
        for v in self._unsafe._ends.tolist():
            out[v] = self.level(v)
        return out

    @functools.cached_property
    def rounds(self) -> int:
        """The largest shown level below n of a nonfaulty node, 0 if there is none; this is the number of rounds."""
        shown = (self._status_of(part) for part in self._unsafe.subcubes)
        return max((int(levels[levels < self.cube.n].max(initial=0)) for levels in shown), default=0)

    def level(self, v: int) -> int:
        """Return a node's own level, in [0, n]; any n."""
        v = self.cube.check_node("v", v)
        if v not in self._unsafe._ends or self.cube.is_faulty(v):
            return self.shown_level(v)
        over = (0 if self.cube.is_faulty_link(v, x) else self.shown_level(x) for x in self.cube.neighbours(v))
        return next((k for k, x in enumerate(sorted(over)) if x < k), self.cube.n)

    def shown_level(self, v: int) -> int:
        """Return the level that a node shows to its neighbours: 0 at the end of a faulty link."""
        v = self.cube.check_node("v", v)
        part = self._subcube_of(v)
        return self.cube.n if part is None else int(self._status_of(part)[_local_label(part, v)])

    def _count_safe(self, part: Subcube) -> int:
        ends = [v for v in self._unsafe._ends.tolist() if v in part]
        return int((self._status_of(part) == self.cube.n).sum()) + sum(self.level(v) == self.cube.n for v in ends)

    def _solve(self, part: Subcube) -> NDArray[np.int64]:
        nonfaulty, ends = self._masks(part)
        plane = nonfaulty & ~ends
        total = plane.astype(np.int64)
        for k in range(1, part.dimension):
            plane = plane & (_count_neighbours(~plane, part.dimension) <= k)
            total += plane
        return np.where(plane, self.cube.n, total)


class SafetyVectors(_SafetyStatus):
    """Wu's safety vectors (V4), made by ``fastcube.safety_vectors``.

    Attributes
    ----------
    cube : Hypercube
    vectors : bool array, (2^n, n)
        Column k - 1 is bit k; n <= 20.
    rounds : int
        The largest k - 1, k >= 2, for which a nonfaulty node has bit k = 0; 0 if there is none.
    safe : int
        Number of nodes whose bits are all 1.
    """

    @functools.cached_property
    def vectors(self) -> Plane:
        """Each node's safety vector, a bool array of shape (2^n, n): column k - 1 is bit k."""
        return self._fill_whole_cube("vectors", np.True_, self.cube.n, remedy="; vector(v) returns one vector at any n")

    @functools.cached_property
    def rounds(self) -> int:
        """The last bit that is 0 at some nonfaulty node, minus 1."""
        rounds = 0
        for part in self._unsafe.subcubes:
            lacking = ~self._status_of(part)[self._masks(part)[0]].all(axis=0)
            rounds = max(rounds, int(np.flatnonzero(lacking).max(initial=0)))
        return rounds

    def vector(self, v: int) -> Plane:
        """Return a node's bits 1 .. n, a bool array of shape (n,); any n."""
        v = self.cube.check_node("v", v)
        part = self._subcube_of(v)
        return np.ones(self.cube.n, np.bool_) if part is None else self._status_of(part)[_local_label(part, v)].copy()

    def _count_safe(self, part: Subcube) -> int:
        return int(self._status_of(part).all(axis=1).sum())

    def _solve(self, part: Subcube) -> Plane:
        nonfaulty, ends = self._masks(part)
        out = np.repeat(nonfaulty[:, None], self.cube.n, axis=1)
        out[:, 0] &= ~ends
        cut = self._cut_links(part)
        for k in range(1, part.dimension):
            out[:, k] &= _count_neighbours(~out[:, k - 1], part.dimension, cut) <= k
        return out

    def _cut_links(self, part: Subcube) -> Plane:
        """Return an array whose row i marks the nodes of a subcube with a faulty link across its i-th free dimension."""
        out = np.zeros((part.dimension, part.size), np.bool_)
        free = sorted(1 << i for i in range(self.cube.n) if part.free >> i & 1)
        for u, v in self.cube.faulty_links:
            if u in part:
                out[free.index(u ^ v), [_local_label(part, u), _local_label(part, v)]] = True
        return out


class WuFernandez(_SafetyStatus):
    """Wu and Fernandez's marking (V2), made by ``fastcube.wu_fernandez_safe``.

    Attributes
    ----------
    cube : Hypercube
    marked : bool array, (2^n,)
        Whether each node is marked; n <= 20.
    rounds : int
        The last synchronous round that marks a node, 0 if no node is marked.
    safe : int
        Number of nonfaulty nodes that are not marked.
    """

    @functools.cached_property
    def marked(self) -> Plane:
        """Whether each node is marked, a bool array of shape (2^n,); only nonfaulty nodes are.  Needs n <= 20."""
        return self._fill_whole_cube("marked", np.int64(0)) > 0

    @functools.cached_property
    def rounds(self) -> int:
        """The last synchronous round that marks a node, 0 if no node is marked."""
        return max((int(self._status_of(part).max()) for part in self._unsafe.subcubes), default=0)

    def _count_safe(self, part: Subcube) -> int:
        return int((self._masks(part)[0] & (self._status_of(part) == 0)).sum())

    def _solve(self, part: Subcube) -> NDArray[np.int64]:
        """Return the round that marks each node, 0 for nodes that are not marked."""
        nonfaulty, _ = self._masks(part)
        marked = np.zeros(part.size, np.int64)
        twice = _count_neighbours(~nonfaulty, part.dimension) >= 2
        for t in itertools.count(1):
            bad = ~nonfaulty | (marked > 0)
            new = ~bad & (twice | (_count_neighbours(bad, part.dimension) >= 3))
            if not new.any():
                break
            marked[new] = t
        return marked


def _count_neighbours(plane: Plane, d: int, cut: Plane | None = None) -> NDArray[np.int8]:
    """Return for each node the number of neighbours that are in ``plane``, or across a link marked by row i of ``cut``."""
    out = np.zeros(plane.size, np.int8)
    for i in range(d):
        out += _neighbour_values(plane, i) if cut is None else _neighbour_values(plane, i) | cut[i]
    return out


def safety_levels(cube: Hypercube) -> SafetyLevels:
    """Return the safety levels of a hypercube's nodes (Wu 1995 and 1997, V3 and V6).

    Parameters
    ----------
    cube : Hypercube
        For the level of one node and the rounds any n, if no unsafe subcube has more than 20 dimensions.  For all levels
        n <= 20.  With faults sampled on demand n <= 26.

    Returns
    -------
    SafetyLevels

    Examples
    --------
    >>> fc.safety_levels(fc.Hypercube(3)).levels  # without faults n everywhere
    array([3, 3, 3, 3, 3, 3, 3, 3])
    """
    return SafetyLevels(cube)


def safety_vectors(cube: Hypercube) -> SafetyVectors:
    """Return the safety vectors of a hypercube's nodes (Wu 1998, V4).

    Parameters
    ----------
    cube : Hypercube
        For the vector of one node and the rounds any n, if no unsafe subcube has more than 20 dimensions.  For all vectors
        n <= 20.  With faults sampled on demand n <= 26.

    Returns
    -------
    SafetyVectors

    Examples
    --------
    >>> fc.safety_vectors(fc.Hypercube(2, faulty_nodes=[3])).vectors
    array([[ True,  True],
           [ True,  True],
           [ True,  True],
           [False, False]])
    """
    return SafetyVectors(cube)


def wu_fernandez_safe(cube: Hypercube) -> WuFernandez:
    """Return Wu and Fernandez's marking of a hypercube with faulty nodes (V2).

    Parameters
    ----------
    cube : Hypercube
        Without faulty links.  For the rounds any n, if no unsafe subcube has more than 20 dimensions.  For the marks of all nodes
        n <= 20.  With faults sampled on demand n <= 26.

    Returns
    -------
    WuFernandez

    Raises
    ------
    ParameterError
        If the cube has faulty links, for which the marking is not defined.

    Examples
    --------
    >>> fc.wu_fernandez_safe(fc.Hypercube(3, faulty_nodes=[0, 3])).marked  # nodes 1 and 2 have two faulty neighbours
    array([False,  True,  True, False, False, False, False, False])
    """
    if isinstance(cube, Hypercube) and cube.faulty_links:
        raise ParameterError(
            f"faulty_links must be empty for wu_fernandez_safe, got {len(cube.faulty_links)} faulty links"
        )
    return WuFernandez(cube)
