"""Lengths of shortest nonfaulty paths in Q_n, n <= 12, by breadth-first search on bitmasks, 64 nodes per operation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.bitmask import clear_node, has_node, neighbour_word, set_node, write_nonfaulty
from ..draws.faults import FAULTY_LINKS, FAULTY_NODES
from ..machine.array_types import Words
from ..machine.bits import ONE, ZERO
from ..machine.jit import block, scratch
from .layout import MAX_SEARCHED_DIMENSION


class SearchBitmasks(NamedTuple):
    """Bitmasks of the nodes of Q_n; made by ``search_bitmasks_for``."""

    open: Words  #: nonfaulty nodes not reached yet
    edge: Words  #: nodes reached last
    across: Words  #: neighbours of ``edge`` across one dimension
    near: Words  #: neighbours of ``edge`` across all dimensions


@scratch
def search_bitmasks_for(n):
    """Return scratch memory for a search in Q_n; empty arrays for n > MAX_SEARCHED_DIMENSION."""
    word_count = np.int64(1) << max(n - 6, 0) if n <= MAX_SEARCHED_DIMENSION else np.int64(0)
    return SearchBitmasks(
        np.zeros(word_count, np.uint64),
        np.zeros(word_count, np.uint64),
        np.zeros(word_count, np.uint64),
        np.zeros(word_count, np.uint64),
    )


@block(stored=True)
def find_shortest_length(faults, s, t, n, cube):
    """Return the length of a shortest path from s to t without faulty nodes and links; -1 if there is none.

    n <= MAX_SEARCHED_DIMENSION.  Each level takes O(n 2^n / 64) operations, and visits all faulty links.
    """
    f, links = faults.size[FAULTY_NODES], faults.size[FAULTY_LINKS]
    write_nonfaulty(n, faults.labels, f, cube.open)
    for w in range(cube.edge.size):
        cube.edge[w] = ZERO
    clear_node(cube.open, s)
    set_node(cube.edge, s)
    length = np.int64(0)
    while True:
        if has_node(cube.edge, t):
            return length
        for w in range(cube.near.size):
            cube.near[w] = ZERO
        for i in range(n):
            for w in range(cube.across.size):
                cube.across[w] = neighbour_word(cube.edge, w, i)
            for j in range(links):
                if faults.dims[j] == np.uint64(i):
                    clear_node(cube.across, faults.lower[j])
                    clear_node(cube.across, faults.lower[j] | ONE << faults.dims[j])
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
