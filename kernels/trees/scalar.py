"""FIND_TREE's trials one at a time, n <= 16, from FAULT words of all nodes: random trials, and all fault sets.

It is the reference for the lane kernels, and ``sparse.py`` serves few faults and larger n.  A *dead link* is a faulty link or a
link of a faulty node (``dead_links.py``).  The tree's faulty links in the counters' names are its dead links.
"""

from __future__ import annotations

from typing import NamedTuple

from ..machine.jit import block, scratch
from ..tally.sums import add_quantity, offer
from .dead_links import DeadLinks, count_isolated, dead_links_for, first_sink, make_kernels, max_dead_links, read_point
from .layout import FIND_TREE
from .orders import OrderWorkspace, find_order, order_workspace_for

_SINK = FIND_TREE.counter("sink_exists")
_FAULT_FREE = FIND_TREE.counter("fault_free")
_UNHINDERED = FIND_TREE.counter("no_blocked_sender")
_TREE_FAULTS = FIND_TREE.moments("tree_faults")
_BLOCKED = FIND_TREE.moments("blocked_senders")
_MOST = FIND_TREE.maximum("most_tree_faults")

#: Counters that a trial increments if its tree has no faulty link.
CLEAN_COUNTERS = (_SINK, _FAULT_FREE, _UNHINDERED)


@block
def count_tree(tally, t, tree_faults, blocked):
    """Tally a trial with a sink, by the numbers of dead links of its tree and of blocked senders.

    A sender is *blocked* if its link in the tree is dead but it has another link that is not.
    """
    tally[_SINK] += 1
    tally[_FAULT_FREE] += tree_faults == 0
    tally[_UNHINDERED] += blocked == 0
    add_quantity(tally, _TREE_FAULTS, tree_faults)
    add_quantity(tally, _BLOCKED, blocked)
    offer(tally, _MOST, tree_faults, t)


class Scratch(NamedTuple):
    """Scratch memory of trials."""

    dead: DeadLinks
    workspace: OrderWorkspace  #: for FIND_TREE


@scratch
def set_up(params):
    """Return scratch memory for trials at (n, links, f) = params."""
    n, links, f = read_point(params)
    return Scratch(dead_links_for(n, links, f), order_workspace_for(max_dead_links(n, links, f)))


@block
def count_dense(n, t, count, scratch, tally):
    """Tally a trial whose ``count`` dead links are listed in ``scratch.dead``.

    Every node but the sink sends once.  The link of a faulty or isolated node, which does not count as blocked, is dead.  So the
    blocked senders are as many as the dead links of the tree, less the faulty and isolated nodes.
    """
    sink = first_sink(scratch.dead)
    if sink >= 0:
        tree_faults = find_order(n, sink, scratch.dead.low, scratch.dead.bit, count, scratch.workspace)
        blocked = tree_faults  # with fewer than n dead links no node is isolated or faulty
        if tree_faults > 0 and count >= n:
            blocked = tree_faults - count_isolated(n, scratch.dead)
        count_tree(tally, t, tree_faults, blocked)


#: Kernels for n <= 16: random trials, and all fault sets.
FIND_TREE_DENSE, FIND_TREE_SETS = make_kernels(set_up, count_dense)
