"""FIND_TREE's trials in Q_n of any n, one at a time, from lists and sets of the faults, without an array of all nodes.

Entry point: ``FIND_TREE_SPARSE``.  It is faster than ``scalar.py`` under a few faults, and the only kernel above n = 16.

A *dead link* is a faulty link or a link of a faulty node (``dead_links.py``).  A *sink* is a node without a dead link.  The tree
of an order d_0, ..., d_{n-1} of the dimensions sends data to the sink in stages: stage i crosses d_i.  Its nodes are those that
agree with the sink in d_0, ..., d_{i-1}, and of these the ones that differ from the sink in d_i send (Leu & Kuo).  The tree's
faulty links in the counters' names are its dead links.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.labels import LabelSet, add_label, clear_labels, has_label, label_set
from ..draws.links import LinkDraws, distinct_links, link_draws_for
from ..draws.nodes import Draws, count_sampled_labels, draw_faults, draws_for
from ..machine import bits
from ..machine.array_types import Ints, Words
from ..machine.bits import ONE, ZERO
from ..machine.jit import block, scratch
from ..machine.trials import trials_kernel
from .dead_links import read_point
from .scalar import count_tree

#: Result of ``_first_sink`` if every node has a dead link.
_NO_SINK = bits.ALL_BITS


class SparseScratch(NamedTuple):
    """Scratch memory of one trial after another."""

    faulty_low: Words  #: lower ends of the faulty links
    faulty_dims: Words  #: their dimensions
    nodes: Words  #: the faulty nodes
    node_set: LabelSet  #: the faulty nodes; empty between trials
    end_set: LabelSet  #: the ends of the faulty links; empty between trials
    dead_low: Words  #: lower ends of the dead links
    dead_bit: Words  #: their dimensions, as single bits
    relative_low: Words  #: lower ends of the dead links in labels relative to the sink
    cost_outside: Ints  #: (64): links that count for COST(j) and stay outside the tree if j is chosen
    cost_in_tree: Ints  #: (64): links that count for COST(j) and are in the tree if j is chosen
    order: Ints  #: (64): d_0, ..., d_{n-1}
    link_draws: LinkDraws
    node_draws: Draws


@scratch
def _set_up_sparse(params):
    """Return scratch memory for trials at (n, links, f) = params."""
    n, links, f = read_point(params)
    most_dead = links + n * f
    return SparseScratch(
        np.empty(links, np.uint64),
        np.empty(links, np.uint64),
        np.empty(f, np.uint64),
        label_set(f),
        label_set(2 * links),
        np.empty(most_dead, np.uint64),
        np.empty(most_dead, np.uint64),
        np.empty(most_dead, np.uint64),
        np.empty(64, np.int64),
        np.empty(64, np.int64),
        np.empty(64, np.int64),
        link_draws_for(links),
        draws_for(count_sampled_labels(n, f)),
    )


@block
def _list_dead_links(n, links, f, scratch):
    """Fill both sets, and list each dead link once; return the number of dead links.

    These are the links of faulty nodes, each from one end, and the faulty links between nonfaulty nodes.
    """
    count = np.int64(0)
    for i in range(f):
        add_label(scratch.node_set, scratch.nodes[i])
    for i in range(f):
        v = scratch.nodes[i]
        for k in range(n):
            w = v ^ (ONE << np.uint64(k))
            if v < w or not has_label(scratch.node_set, w):
                scratch.dead_low[count] = min(v, w)
                scratch.dead_bit[count] = v ^ w
                count += 1
    for i in range(links):
        u = scratch.faulty_low[i]
        w = u | (ONE << scratch.faulty_dims[i])
        add_label(scratch.end_set, u)
        add_label(scratch.end_set, w)
        if f == 0 or not (has_label(scratch.node_set, u) or has_label(scratch.node_set, w)):
            scratch.dead_low[count] = u
            scratch.dead_bit[count] = u ^ w
            count += 1
    return count


@block
def _first_sink(n, f, scratch):
    """Return the smallest label that is not an end of a dead link; _NO_SINK if there is none."""
    v = ZERO
    while True:
        touched = has_label(scratch.end_set, v)
        if f > 0 and not touched:
            touched = has_label(scratch.node_set, v)
            for k in range(n):
                touched |= has_label(scratch.node_set, v ^ (ONE << np.uint64(k)))
        if not touched:
            return v
        v += ONE
        if v >> np.uint64(n):
            return _NO_SINK


@block
def _is_isolated(n, links, f, v, scratch):
    """Whether all links of a nonfaulty node are dead."""
    has_faulty_link = has_label(scratch.end_set, v)  # perhaps to a faulty node
    for k in range(n):
        w = v ^ (ONE << np.uint64(k))
        is_dead = f > 0 and has_label(scratch.node_set, w)
        if has_faulty_link and not is_dead and has_label(scratch.end_set, w):
            for i in range(links):
                is_dead |= scratch.faulty_low[i] == min(v, w) and scratch.faulty_dims[i] == np.uint64(k)
        if not is_dead:
            return False
    return True


@block
def _find_sparse_order(n, sink, count, scratch):
    """Write FIND_TREE's order for a sink, from ``count`` dead links; return the number of dead links of the tree.

    The order is chosen from d_{n-1} down to d_0, each time the unused dimension with the least COST, the lowest one of several.
    A dead link of an unused dimension k has a lower end, relative to the sink and without the used dimensions, whose bit k is 0.
    If this lower end is 0, the link counts for COST(k): it is in the tree if k is chosen.  If it is 2^j, the link counts for
    COST(j).  Other dead links count for nothing.
    """
    for e in range(count):
        scratch.relative_low[e] = (scratch.dead_low[e] ^ sink) & ~scratch.dead_bit[e]
    unused = (ONE << np.uint64(n)) - ONE
    tree_faults = np.int64(0)
    for i in range(n - 1, -1, -1):
        for j in range(n):
            scratch.cost_outside[j] = 0
            scratch.cost_in_tree[j] = 0
        for e in range(count):
            if scratch.dead_bit[e] & unused != ZERO:
                low = scratch.relative_low[e] & unused
                if low == ZERO:
                    scratch.cost_in_tree[bits.lowest(scratch.dead_bit[e])] += 1
                elif low & (low - ONE) == ZERO:  # a single bit
                    scratch.cost_outside[bits.lowest(low)] += 1
        best = bits.lowest(unused)
        least = scratch.cost_outside[best] + scratch.cost_in_tree[best]
        for j in range(best + 1, n):
            cost = scratch.cost_outside[j] + scratch.cost_in_tree[j]
            if (unused >> np.uint64(j)) & ONE and cost < least:
                best = np.int64(j)
                least = cost
        scratch.order[i] = best
        tree_faults += scratch.cost_in_tree[best]
        unused ^= ONE << np.uint64(best)
    return tree_faults


@block
def _count_blocked(n, links, f, sink, count, scratch):
    """Return the number of dead links of the tree, one of ``scratch.order``, whose sender is neither faulty nor isolated."""
    blocked = np.int64(0)
    for e in range(count):
        bit = scratch.dead_bit[e]
        i = np.int64(0)
        crossed = ZERO  # the dimensions of the stages before the link's own
        while ONE << np.uint64(scratch.order[i]) != bit:
            crossed |= ONE << np.uint64(scratch.order[i])
            i += 1
        if (scratch.dead_low[e] ^ sink) & crossed == ZERO:  # the link is in the tree
            sender = scratch.dead_low[e] | (~sink & bit)  # the end that differs from the sink in the link's dimension
            is_faulty = f > 0 and has_label(scratch.node_set, sender)
            blocked += not is_faulty and not _is_isolated(n, links, f, sender, scratch)
    return blocked


@block
def _count_sparse(key, t, params, scratch, tally):
    """Sample and tally a trial at (n, links, f) = params."""
    n, links, f = read_point(params)
    distinct_links(key, t, n, links, scratch.faulty_low, scratch.faulty_dims, scratch.link_draws)
    draw_faults(key, t, n, f, scratch.nodes, scratch.node_draws)
    count = _list_dead_links(n, links, f, scratch)
    sink = _first_sink(n, f, scratch)
    if sink != _NO_SINK:
        tree_faults = _find_sparse_order(n, sink, count, scratch)
        blocked = _count_blocked(n, links, f, sink, count, scratch) if tree_faults > 0 else tree_faults
        count_tree(tally, t, tree_faults, blocked)
    clear_labels(scratch.end_set)
    clear_labels(scratch.node_set)


#: Kernel of random trials with at most half of the nodes faulty, any n.
FIND_TREE_SPARSE = trials_kernel(_set_up_sparse, _count_sparse)
