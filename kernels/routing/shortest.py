"""Shortest feasible paths in Q_n, n <= 12, by breadth-first search of all nodes, 64 an operation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..machine.bits import LOW, ONE, ZERO
from ..machine.jit import block, scratch
from .layout import SEARCHED

_63 = np.uint64(63)
_6 = np.uint64(6)


class Cube(NamedTuple):
    """Bitmasks of the nodes of Q_n; made by :func:`cube_for`."""

    open: Any  #: uint64: nonfaulty nodes not reached yet
    edge: Any  #: uint64: nodes reached last
    across: Any  #: uint64: their neighbours across one dimension
    near: Any  #: uint64: their neighbours


@scratch
def cube_for(n):
    """Room for a search in Q_n; none above SEARCHED."""
    words = np.int64(1) << max(n - 6, 0) if n <= SEARCHED else np.int64(0)
    return Cube(
        np.zeros(words, np.uint64), np.zeros(words, np.uint64), np.zeros(words, np.uint64), np.zeros(words, np.uint64)
    )


@block
def _across(cube, i):
    """Move every node of the edge over dimension i."""
    if i < 6:
        by = np.uint64(1 << i)
        for w in range(cube.edge.size):
            x = cube.edge[w]
            cube.across[w] = (x >> by) & LOW[i] | (x & LOW[i]) << by
    else:
        for w in range(cube.edge.size):
            cube.across[w] = cube.edge[w ^ (1 << (i - 6))]


@block
def _erase(words, x):
    words[np.int64(x >> _6)] &= ~(ONE << (x & _63))


@block
def shortest(faults, s, t, n, cube):
    """Length of a shortest path from s to t without faulty nodes and links; -1 when there is none; n <= SEARCHED.

    O(n 2^n / 64) a level, and the faulty links again at each.
    """
    f, links = faults.size[0], faults.size[1]
    inside = ~ZERO if n >= 6 else (ONE << (ONE << np.uint64(n))) - ONE
    for w in range(cube.open.size):
        cube.open[w] = inside
        cube.edge[w] = ZERO
    for i in range(f):
        _erase(cube.open, faults.labels[i])
    _erase(cube.open, s)
    cube.edge[np.int64(s >> _6)] = ONE << (s & _63)
    length = np.int64(0)
    while True:
        if cube.edge[np.int64(t >> _6)] >> (t & _63) & ONE:
            return length
        for w in range(cube.near.size):
            cube.near[w] = ZERO
        for i in range(n):
            _across(cube, i)
            for j in range(links):
                if faults.dims[j] == np.uint64(i):
                    _erase(cube.across, faults.lower[j])
                    _erase(cube.across, faults.lower[j] | ONE << faults.dims[j])
            for w in range(cube.near.size):
                cube.near[w] |= cube.across[w]
        grown = ZERO
        for w in range(cube.edge.size):
            cube.edge[w] = cube.near[w] & cube.open[w]
            cube.open[w] ^= cube.edge[w]
            grown |= cube.edge[w]
        if grown == ZERO:
            return np.int64(-1)
        length += 1
