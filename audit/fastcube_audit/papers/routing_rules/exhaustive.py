"""All fault sets of a small cube as arrays with one row per set: safety statuses, and paths from node 0.

These are a third implementation of the safety statuses, besides the kernels' planes and the reference implementation: levels are
computed by sorting, for all sets together.
"""

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Ints = NDArray[np.int8]

#: Number of sets in one array.
_ROWS = 1 << 16


def fault_sets(n: int, most: int) -> Iterator[tuple[int, Bools]]:
    """Yield (f, faulty): all sets of f faulty nodes without node 0, f = 0 .. most in order, in arrays of rows (sets, 2^n)."""
    for f in range(most + 1):
        sets = itertools.combinations(range(1, 2**n), f)
        while part := list(itertools.islice(sets, _ROWS)):
            faulty = np.zeros((len(part), 2**n), np.bool_)
            if f:
                np.put_along_axis(faulty, np.array(part), True, axis=1)
            yield f, faulty


def _neighbour_planes(n: int, planes: NDArray[np.generic]) -> list[NDArray[np.generic]]:
    """Return the planes of each node's neighbour in dimension i, for i = 0 .. n - 1."""
    nodes = np.arange(2**n)
    return [planes[:, nodes ^ (1 << i)] for i in range(n)]


def neighbour_counts(n: int, planes: Bools) -> Ints:
    """Return the number of each node's neighbours in a plane."""
    out = np.zeros(planes.shape, np.int8)
    for other in _neighbour_planes(n, planes):
        out += other.astype(np.int8)
    return out


def unsafe_nodes(n: int, faulty: Bools) -> Bools:
    """Return the unsafe nodes of Lee and Hayes."""
    closed = faulty.copy()
    while (unsafe := ~closed & (neighbour_counts(n, closed) >= 2)).any():
        closed |= unsafe
    return closed & ~faulty


def marked_nodes(n: int, faulty: Bools) -> tuple[Bools, Ints]:
    """Return the nodes that Wu and Fernandez mark, and each set's rounds (V2)."""
    marked, rounds = np.zeros_like(faulty), np.zeros(len(faulty), np.int8)
    twice = neighbour_counts(n, faulty) >= 2
    while (found := ~faulty & ~marked & (twice | (neighbour_counts(n, faulty | marked) >= 3))).any():
        marked |= found
        rounds[found.any(axis=1)] = rounds.max() + 1
    return marked, rounds


def safety_levels(n: int, faulty: Bools, first: int | None = None) -> tuple[Ints, Ints]:
    """Return safety levels by sorting (V3), and each set's rounds until nothing changes; nonfaulty nodes begin at ``first``/n."""
    levels = np.where(faulty, 0, n if first is None else first).astype(np.int8)
    rounds = np.zeros(len(faulty), np.int8)
    ranks = np.arange(n, dtype=np.int8)
    for step in itertools.count(1):
        short = np.sort(np.stack(_neighbour_planes(n, levels), axis=-1), axis=-1) < ranks
        new = np.where(faulty, 0, np.where(short.any(axis=-1), short.argmax(axis=-1), n)).astype(np.int8)
        changed = (new != levels).any(axis=1)
        if not changed.any():
            return levels, rounds
        levels = new
        rounds[changed] = step
    raise AssertionError


def safety_vectors(n: int, faulty: Bools) -> Bools:
    """Return safety vectors (V4) of shape (sets, 2^n, n + 1), bit k at index k."""
    out = np.repeat(~faulty[:, :, None], n + 1, axis=2)
    for k in range(2, n + 1):
        out[:, :, k] &= neighbour_counts(n, out[:, :, k - 1]) >= n - k + 1
    return out


def has_minimal_path(n: int, faulty: Bools) -> Bools:
    """Return whether a path over the Hamming distance leads from node 0 to each node."""
    out = np.zeros_like(faulty)
    out[:, 0] = True
    for x in range(1, 2**n):
        for i in range(n):
            if x >> i & 1:
                out[:, x] |= out[:, x ^ (1 << i)]
        out[:, x] &= ~faulty[:, x]
    return out


def path_lengths(n: int, faulty: Bools) -> Ints:
    """Return the distance of every node from node 0; 127 if there is no path."""
    out = np.full(faulty.shape, 127, np.int8)
    edge = np.zeros_like(faulty)
    edge[:, 0] = True
    length = 0
    while edge.any():
        out[edge] = length
        edge = (neighbour_counts(n, edge) > 0) & ~faulty & (out == 127)
        length += 1
    return out
