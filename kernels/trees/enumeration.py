"""FIND_TREE, TOP_DOWN and the optimum over all fault sets of a size, n <= 12, by the blocks that the trials use."""

from __future__ import annotations

import numpy as np

from ..jit import block, kernel
from ..sets import link_at, next_set
from .dead import add_link, add_nodes, clear_dead
from .lattice import count_optimal, flush, search_for
from .single import count_dense, dense_for


@block
def mark_set(n, links, f, state, dead):
    """List the dead links of a state of the enumeration; returns their number."""
    for i in range(links):
        low, bit = link_at(n, state[i])
        add_link(low, bit, i, dead)
    for i in range(f):
        dead.nodes[i] = np.uint64(state[links + i])
    return add_nodes(n, links, f, dead)


@kernel("void(int64, int64, int64, int64[::1], int64, int64, int64[::1], int64[::1])")
def enumerate_trees(n, links, f, state, first, stop, finding, optima):
    """Count fault sets ``first``, ..., ``stop - 1``, each as one trial.

    Parameters
    ----------
    n, links, f : int64
        Dimension, 1 <= n <= 12; faulty links and nodes.
    state : int64 array of ``links + f``
        Where the enumeration stands; 0, 1, ... for links and nodes at first.
    first, stop : int64
    finding, optima : int64 arrays
        Tallies of the layouts FINDING and OPTIMA.
    """
    dense = dense_for(n, links, f)
    s = search_for(n, links, f, 32, np.uint16(0))
    steps = np.empty(32, np.int64)
    filled = np.int64(0)
    for t in range(first, stop):
        count = mark_set(n, links, f, state, dense.dead)
        count_dense(n, t, count, dense, finding)
        clear_dead(count, dense.dead)
        count = mark_set(n, links, f, state, s.dead)
        filled = count_optimal(n, t, count, s, 32, np.uint16(1), filled, steps, optima)
        clear_dead(count, s.dead)
        next_set(n, links, f, state)
    flush(n, filled, s.lattice, 32, steps, optima)
