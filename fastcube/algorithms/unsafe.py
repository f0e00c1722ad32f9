"""Unsafe nodes of one hypercube (Lee & Hayes 1988, section 3.2), and the steps in which FIND_UNSAFE marks them.

A nonfaulty node is unsafe if at least two of its neighbours are faulty or unsafe, or if it ends a faulty link.
Faulty and unsafe nodes together form maximal subcubes at pairwise distance at least three (R3).  They are found by
merging, for any n, in memory proportional to the number of faults.  The synchronous rounds (R1) in one subcube do not depend on
other subcubes, so each subcube is computed as a separate d-cube.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError, check_range
from ..networks.faults import RandomFaults
from ..networks.hypercube import Hypercube, Subcube, check_cube
from ..networks.network import all_faulty_nodes

#: Largest n for which this module holds the states of 2^n nodes: one byte and a 16-bit step per node.
LARGEST_WHOLE = 26

#: Largest dimension of a subcube whose rounds are computed: 2^30 nodes are 128 MiB as a bitmask.
LARGEST_SUBCUBE = 30

#: From this dimension on the rounds of a subcube are counted by the compiled kernel.  At 18 NumPy takes 20 ms and the kernel
#: .2 ms, after a second or two to load it (AMD EPYC, Zen 4).
SMALLEST_COMPILED = 18

Labels = NDArray[np.uint64]


def find_unsafe(cube: Hypercube) -> Unsafe:
    """Return all unsafe nodes of a hypercube with faulty nodes and faulty links.

    A nonfaulty node is unsafe if it is an end of a faulty link, or if two neighbours are faulty or unsafe (Lee & Hayes 1988).

    Parameters
    ----------
    cube : Hypercube
        Any n; n <= 26 with faults sampled on demand, because the status of every node is looked up.

    Returns
    -------
    Unsafe

    Notes
    -----
    f faults cost O(f^2) time and O(f) memory (10,000 faults in Q_60: 0.1 s).  If n <= 26 and it is less, they cost O(n 2^n) time
    and some 20 * 2^n bytes (a tenth of Q_20 faulty: 0.2 s; Q_26 with every node marked: a minute).

    Examples
    --------
    >>> u = fc.find_unsafe(fc.Hypercube(3, faulty_nodes=[0b000, 0b011]))
    >>> u.nodes  # 001 and 010 have two faulty neighbours
    array([1, 2], dtype=uint64)
    >>> u.rounds, u.count, u.fraction
    (1, 2, 0.25)
    """
    check_cube(cube)
    return Unsafe(cube)


class Unsafe:
    """The unsafe nodes of one hypercube, made by ``fastcube.find_unsafe``.

    Attributes
    ----------
    cube : Hypercube
    subcubes : tuple of Subcube
        The maximal subcubes of faulty and unsafe nodes, by smallest label.  An isolated faulty node is a 0-subcube.
    count : int
        Number of unsafe nodes, which are nonfaulty.
    fraction : float
        ``count / 2^n``.
    all_unsafe : bool
        Whether Q_n is unsafe, that is, has no active node.
    rounds : int
        Last step of FIND_UNSAFE that marks a node.
    nodes, round_of : uint64 array, int64 array
        The unsafe nodes, sorted, and the step that marks each.
    """

    def __init__(self, cube: Hypercube) -> None:
        self.cube = cube
        self._faulty = faulty_labels(cube)
        links = np.array(sorted(cube.faulty_links), dtype=np.uint64).reshape(-1, 2)
        self._ends = np.unique(links)
        bases = np.concatenate([self._faulty, links[:, 0] & links[:, 1]])
        frees = np.concatenate([np.zeros_like(self._faulty), links[:, 0] ^ links[:, 1]])
        if cube.n <= LARGEST_WHOLE and bases.size**2 > cube.n * 2**cube.n:
            bases, frees = _list_closed_subcubes(self._round_of_node >= 0, cube.n)
        else:
            bases, frees = merge_subcubes(bases, frees)
        order = np.argsort(bases)
        pairs = zip(bases[order].tolist(), frees[order].tolist(), strict=True)
        self.subcubes = tuple(Subcube(base, free, cube.n) for base, free in pairs)
        self.count = sum(part.size for part in self.subcubes) - int(self._faulty.size)
        self.fraction = self.count / 2**cube.n
        self.all_unsafe = self.count + int(self._faulty.size) == 2**cube.n

    def __repr__(self) -> str:
        texts = [str(part) for part in self.subcubes[:16]] + ["..."] * (len(self.subcubes) > 16)
        return (
            f"Unsafe(count={self.count}, fraction={self.fraction}, all_unsafe={self.all_unsafe}, "
            f"subcubes=[{', '.join(texts)}])"
        )

    @functools.cached_property
    def rounds(self) -> int:
        """Last step of FIND_UNSAFE that marks a node, 0 if none does.  Raises ParameterError beyond subcubes of 30 dimensions."""
        if "_round_of_node" in self.__dict__:
            return max(int(self._round_of_node.max()), 0)
        return max((self._count_rounds(part) for part in self.subcubes if part.free), default=0)

    @property
    def nodes(self) -> Labels:
        """The unsafe nodes, uint64, sorted.  Raises ParameterError if there are more than 2^30."""
        return self._marked_nodes[0]

    @property
    def round_of(self) -> NDArray[np.int64]:
        """The step, from 1, in which each of ``nodes`` is marked, int64."""
        return self._marked_nodes[1]

    @functools.cached_property
    def _round_of_node(self) -> NDArray[np.int16]:
        """The steps of all 2^n nodes, as from ``marking_steps``."""
        return marking_steps(self.cube.n, self._faulty, self._ends)

    @functools.cached_property
    def _marked_nodes(self) -> tuple[Labels, NDArray[np.int64]]:
        if self.count > 2**30:
            raise ParameterError(
                f"nodes lists at most 2^30 unsafe nodes, got {self.count}; subcubes describes them all"
            )
        if "_round_of_node" in self.__dict__:
            nodes = np.flatnonzero(self._round_of_node > 0).astype(np.uint64)
            return nodes, self._round_of_node[nodes].astype(np.int64)
        found, steps = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
        for part in self.subcubes:
            if part.free:
                step = marking_steps(part.dimension, *self._local_faults(part))
                marked = np.flatnonzero(step > 0)
                found.append(scatter_bits(marked.astype(np.uint64), part))
                steps.append(step[marked].astype(np.int64))
        nodes = np.concatenate(found)
        order = np.argsort(nodes)
        return nodes[order], np.concatenate(steps)[order]

    def _local_faults(self, part: Subcube) -> tuple[Labels, Labels]:
        """Return the faulty nodes and the ends of faulty links in a subcube, as labels of its own d-cube."""
        if part.dimension > LARGEST_SUBCUBE:
            raise ParameterError(
                f"rounds are run in subcubes of at most {LARGEST_SUBCUBE} dimensions, got one of {part.dimension}: {part}"
            )
        fixed, base = np.uint64(~part.free & (2**64 - 1)), np.uint64(part.base)
        faulty, ends = (gather_bits(labels[labels & fixed == base], part.free) for labels in (self._faulty, self._ends))
        return faulty, ends

    def _count_rounds(self, part: Subcube) -> int:
        faulty, ends = self._local_faults(part)
        if part.dimension < SMALLEST_COMPILED:
            return int(marking_steps(part.dimension, faulty, ends).max())
        from ..kernels.unsafe.rounds import run_cube_rounds

        state, other, end_nodes = (np.zeros(2 ** (part.dimension - 6), np.uint64) for _ in range(3))
        for labels, words in ((faulty, state), (ends, end_nodes)):
            np.bitwise_or.at(words, labels >> np.uint64(6), np.uint64(1) << (labels & np.uint64(63)))
        return int(run_cube_rounds(state, end_nodes, other, part.dimension))


def faulty_labels(
    cube: Hypercube, largest: int = LARGEST_WHOLE, what: str = "unsafe nodes under random_faults"
) -> Labels:
    """Return the faulty nodes, sorted.  Faults sampled on demand need n <= ``largest``; ``what`` names the purpose."""
    if isinstance(cube.faulty_nodes, RandomFaults):
        check_range("n", cube.n, 1, largest, f"for {what}")
    return all_faulty_nodes(cube)


# ---------------------------------------------------------------- subcubes


def merge_subcubes(bases: Labels, frees: Labels) -> tuple[Labels, Labels]:
    """Merge subcubes at distance at most two into their smallest enclosing subcube until none are left (R3).

    Parameters
    ----------
    bases, frees : uint64 arrays
        Subcubes in any order: nodes that agree with ``base`` outside ``free``; ``base & free == 0``.

    Returns
    -------
    bases, frees : uint64 arrays
        Subcubes at pairwise distance at least three.  Takes O(f^2) time for f subcubes.
    """
    bases, frees = bases.copy(), frees.copy()
    kept = 0  # the first ``kept`` subcubes are at pairwise distance >= 3
    for i in range(bases.size):
        base, free = bases[i], frees[i]
        while kept:
            distance = np.bitwise_count((bases[:kept] ^ base) & ~(frees[:kept] | free))
            near = distance <= 2
            if not near.any():
                break
            free |= np.bitwise_or.reduce(frees[:kept][near] | (bases[:kept][near] ^ base))
            base &= ~free
            far = np.flatnonzero(~near)
            bases[: far.size], frees[: far.size] = bases[far], frees[far]
            kept = far.size
        bases[kept], frees[kept] = base, free
        kept += 1
    return bases[:kept], frees[:kept]


def _list_closed_subcubes(closed: NDArray[np.bool_], n: int) -> tuple[Labels, Labels]:
    """Return the subcubes of a closed set of nodes: a node's free dimensions lead to its neighbours in the set."""
    inside = np.flatnonzero(closed)
    free = np.zeros_like(inside)
    for i in range(n):
        free |= closed[inside ^ (1 << i)].astype(free.dtype) << i
    first = inside & free == 0
    return inside[first].astype(np.uint64), free[first].astype(np.uint64)


def gather_bits(labels: Labels, free: int) -> Labels:
    """Return labels inside a subcube as labels of its own d-cube: the bits of ``free``, compacted."""
    out = np.zeros_like(labels)
    for at, bit in enumerate(i for i in range(free.bit_length()) if free >> i & 1):
        out |= (labels >> np.uint64(bit) & np.uint64(1)) << np.uint64(at)
    return out


def scatter_bits(labels: Labels, part: Subcube) -> Labels:
    """Return labels of the d-cube as labels of the whole cube; the inverse of ``gather_bits``."""
    out = np.full_like(labels, part.base)
    for at, bit in enumerate(i for i in range(part.n) if part.free >> i & 1):
        out |= (labels >> np.uint64(at) & np.uint64(1)) << np.uint64(bit)
    return out


def marking_steps(d: int, faulty: Labels, ends: Labels) -> NDArray[np.int16]:
    """Run FIND_UNSAFE on a d-cube, and return the step of every node.

    Parameters
    ----------
    d : int
        Dimension, 0 <= d <= 30.
    faulty, ends : uint64 arrays
        Distinct labels of the faulty nodes and of the ends of faulty links.

    Returns
    -------
    int16 array of 2^d
        The step that marks a node, 0 for a faulty node, -1 for an active node.  Step t marks the nodes with at least two
        neighbours faulty or marked before t (R1), step 1 also the ends (R2).  Takes O(d 2^d) time whatever the number
        of steps, because a node is examined only when a neighbour has been marked.
    """
    step = np.full(2**d, -1, np.int16)
    seen = np.zeros(2**d, np.uint8)  # number of neighbours that are faulty or marked in earlier steps
    step[faulty] = 0
    last = faulty.astype(np.int64)
    fresh = ends[step[ends] < 0].astype(np.int64)  # the ends are marked in step 1 only
    t = 0
    while last.size or fresh.size:
        t += 1
        marked = [fresh]
        step[fresh] = t
        for i in range(d):
            near = last ^ (1 << i)
            seen[near] += 1  # no repeated labels: different nodes have different neighbours across one dimension
            second = near[seen[near] == 2]  # each node is in this array only once
            marked.append(second[step[second] < 0])
        last = np.concatenate(marked)
        step[last] = t
        fresh = last[:0]
    return step
