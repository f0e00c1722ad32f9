"""The tree with the fewest faulty links, compared with FIND_TREE's and TOP_DOWN's, n <= 12, by dynamic programming.

Entry points: ``OPTIMAL_TREE_8`` and ``_16``, whose work is ``optimal_trees`` inside ``_make_kernel``.  They sample with the
study's key, one trial after another (``dead_links.draw_dead_links``).

A *dead link* is a faulty link or a link of a faulty node (``dead_links.py``); the faulty links of a tree in the counters' names
are its dead links.  Trials whose FIND_TREE tree has no dead link need no search, and trials without a sink have no fault-free
tree.  The others wait until they fill the lanes of a lattice, the arrays of numbers for all subcubes (``subcube_lattice.py``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from ..tally.sums import add_quantity, offer
from .dead_links import (
    AXES,
    DeadLinks,
    clear_dead_links,
    dead_links_for,
    draw_dead_links,
    first_sink,
    max_dead_links,
    next_dead_links,
    read_point,
)
from .layout import OPTIMAL_TREE
from .orders import OrderWorkspace, find_order, find_top_down_order, order_workspace_for
from .subcube_lattice import SubcubeLattice, insert_dead_link, lattice_for, solve_lanes

_SINK = OPTIMAL_TREE.counter("sink_exists")
_FAULT_FREE = OPTIMAL_TREE.counter("fault_free")
_FAULT_FREE_EXISTS = OPTIMAL_TREE.counter("fault_free_exists")
FAULT_FREE_TOP_DOWN = OPTIMAL_TREE.counter("fault_free_top_down")
_OPTIMAL = OPTIMAL_TREE.counter("optimal")
_TREE_FAULTS = OPTIMAL_TREE.moments("tree_faults")
_GAP = OPTIMAL_TREE.moments("gap")
_OPTIMUM = OPTIMAL_TREE.moments("optimum")
_PRODUCT = OPTIMAL_TREE.counter("product")
_SAME_SINK = OPTIMAL_TREE.moments("same_sink")
_ANY_SINK = OPTIMAL_TREE.moments("any_sink")
_TOP_DOWN = OPTIMAL_TREE.moments("top_down")
_LARGEST_GAP = OPTIMAL_TREE.maximum("largest_gap")


class OptimalTreeScratch(NamedTuple):
    """Scratch memory of a kernel's call."""

    dead: DeadLinks
    workspace: OrderWorkspace  #: for FIND_TREE and TOP_DOWN
    lattice: SubcubeLattice


@block
def count_optima(tally, t, tree_faults, optimum, same_sink, any_sink):
    """Tally a trial with a sink and a dead link in FIND_TREE's tree; the numbers are named as in the layout."""
    gap = tree_faults - optimum
    add_quantity(tally, _TREE_FAULTS, tree_faults)
    tally[_PRODUCT] += tree_faults * optimum
    add_quantity(tally, _OPTIMUM, optimum)
    add_quantity(tally, _SAME_SINK, same_sink)
    add_quantity(tally, _ANY_SINK, any_sink)
    add_quantity(tally, _GAP, gap)
    tally[_OPTIMAL] += gap == 0
    tally[_FAULT_FREE_EXISTS] += optimum == 0
    offer(tally, _LARGEST_GAP, gap, t)


@block
def count_filled_lanes(n, filled, lattice, lanes, tally):
    """Solve and tally the queued trials, which are in the first ``filled`` lanes."""
    if filled == 0:
        return
    solve_lanes(n, lattice, lanes)
    for lane in range(filled):
        same_sink = np.int64(lattice.fewest[lattice.node_subcubes[lattice.sinks[lane]] * lanes + lane])
        count_optima(
            tally,
            lattice.trials[lane],
            lattice.tree_faults[lane],
            np.int64(lattice.optimum[lane]),
            same_sink,
            np.int64(lattice.any_sink[lane]),
        )


@block
def count_greedy(t, top_down_faults, tree_faults, tally):
    """Tally a trial with a sink by the dead links of TOP_DOWN's and FIND_TREE's trees; 0 in the latter is optimal."""
    tally[_SINK] += 1
    add_quantity(tally, _TOP_DOWN, top_down_faults)
    if tree_faults == 0:
        tally[_FAULT_FREE] += 1
        tally[_FAULT_FREE_EXISTS] += 1
        tally[_OPTIMAL] += 1
        offer(tally, _LARGEST_GAP, np.int64(0), t)


@block
def queue_trial(n, t, sink, tree_faults, lattice, lanes, filled, tally):
    """Queue a trial whose dead links are in lane ``filled``; return the number of filled lanes.

    If that was the last empty lane, all are solved and tallied, and none is filled.
    """
    lattice.trials[filled] = t
    lattice.sinks[filled] = sink
    lattice.tree_faults[filled] = tree_faults
    if filled + 1 < lanes:
        return filled + 1
    count_filled_lanes(n, lanes, lattice, lanes, tally)
    return np.int64(0)


@block
def count_optimal(n, t, count, work, lanes, filled, tally):
    """Tally a trial whose ``count`` dead links are listed, or queue it in lane ``filled``; return the number of filled lanes."""
    dead, workspace, lattice = work.dead, work.workspace, work.lattice
    _, top_down_faults = find_top_down_order(n, dead.low, dead.bit, count, workspace)
    tally[FAULT_FREE_TOP_DOWN] += top_down_faults == 0
    sink = first_sink(dead)
    if sink < 0:
        return filled
    tree_faults = find_order(n, sink, dead.low, dead.bit, count, workspace)
    count_greedy(t, top_down_faults, tree_faults, tally)
    if tree_faults == 0:
        return filled
    for i in range(count):
        insert_dead_link(lattice, filled, lanes, dead.low[i], dead.bit[i])
    return queue_trial(n, t, sink, tree_faults, lattice, lanes, filled, tally)


@scratch
def optimal_tree_scratch_for(n, links, f, lanes, zero):
    """Return scratch memory for trials at (n, links, f), with lattices of ``lanes`` trials and values of the type of ``zero``."""
    return OptimalTreeScratch(
        dead_links_for(n, links, f), order_workspace_for(max_dead_links(n, links, f)), lattice_for(n, lanes, zero)
    )


def _make_kernel(width: int, word: Any, all_sets: bool = False) -> Kernel:
    """Return the kernel with lanes of ``width`` bits, the type ``word``, for sampled trials or the fault sets in ``params``."""
    lanes = 512 // width
    zero = word(0)

    @kernel(TRIALS_SIGNATURE, variant=f"{width}_sets" if all_sets else f"{width}")
    def optimal_trees(key, first, stop, params, tally):
        """Run trials of FIND_TREE, TOP_DOWN and the optimum; params are (n, links, f), n <= 12.

        64 or 32 trials with a faulty tree are solved together.  This takes n 3^n vector operations, each with memory traffic of
        6.6 n bytes, or twice as many with 16-bit lanes.
        """
        n, links, f = read_point(params)
        work = optimal_tree_scratch_for(n, links, f, lanes, zero)
        filled = np.int64(0)
        for t in range(first, stop):
            count = (
                next_dead_links(n, links, f, params[AXES:], work.dead)
                if all_sets
                else draw_dead_links(key, t, n, links, f, work.dead)
            )
            filled = count_optimal(n, t, count, work, lanes, filled, tally)
            clear_dead_links(count, work.dead)
        count_filled_lanes(n, filled, work.lattice, lanes, tally)

    return optimal_trees


#: Kernels for points whose trials have up to 255 dead links, and for other points.
OPTIMAL_TREE_8 = _make_kernel(8, np.uint8)
OPTIMAL_TREE_16 = _make_kernel(16, np.uint16)

#: Kernel of all fault sets; params as of ``dead_links.make_kernels``.
OPTIMAL_TREE_SETS = _make_kernel(16, np.uint16, all_sets=True)
