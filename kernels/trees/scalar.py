"""FIND_TREE's trials one at a time: the reference for lane kernels, the method for large cubes, the kernel of all fault sets.

*Dense* kernels, n <= 16, have FAULT words of all nodes.  The *sparse* kernel has lists and sets of the faults alone, so it serves
any n.  It is faster under a few faults, and the only one above n = 16.
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
from ..tally.maxima import offer
from ..tally.sums import add_quantity
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
def count_tree(tally, t, faults, blocked):
    """Tally a trial with a sink, by the numbers of faulty links of its tree and of blocked senders."""
    tally[_SINK] += 1
    tally[_FAULT_FREE] += faults == 0
    tally[_UNHINDERED] += blocked == 0
    add_quantity(tally, _TREE_FAULTS, faults)
    add_quantity(tally, _BLOCKED, blocked)
    offer(tally, _MOST, faults, t)


# ---------------------------------------------------------------- dense: FAULT words of all nodes, n <= 16


class Scratch(NamedTuple):
    """Scratch memory of trials of the dense kernels."""

    dead: DeadLinks
    workspace: OrderWorkspace


@scratch
def set_up(params):
    """Return scratch memory for trials at (n, links, f) = params."""
    n, links, f = read_point(params)
    return Scratch(dead_links_for(n, links, f), order_workspace_for(max_dead_links(n, links, f)))


@block
def count_dense(n, t, count, scratch, tally):
    """Tally a trial whose dead links are listed.

    Every node but the sink sends once, and the link of a faulty or isolated node is dead.  So the number of blocked senders is
    the number of faulty links of the tree, less the faulty and isolated nodes.
    """
    sink = first_sink(scratch.dead)
    if sink >= 0:
        faults = find_order(n, sink, scratch.dead.low, scratch.dead.bit, count, scratch.workspace)
        blocked = faults - count_isolated(n, scratch.dead) if faults > 0 and count >= n else faults
        count_tree(tally, t, faults, blocked)


#: Kernels for n <= 16: random trials, and all fault sets.
FIND_TREE_DENSE, FIND_TREE_SETS = make_kernels(set_up, count_dense)


# ---------------------------------------------------------------- sparse: lists and sets of the faults, any n


class SparseScratch(NamedTuple):
    """Scratch memory of trials of the sparse kernel: lists and sets, no array of all nodes."""

    lower: Words  #: lower ends of the faulty links
    dims: Words  #: their dimensions
    nodes: Words  #: the faulty nodes
    faulty: LabelSet  #: the faulty nodes as a set
    ends: LabelSet  #: the ends of the faulty links
    low: Words  #: lower ends of the dead links
    bit: Words  #: their dimensions, as single bits
    rest: Words  #: lower ends relative to the sink
    cost: Ints  #: 128 entries: COST by dimension, of links outside the tree and, from index 64 on, inside
    order: Ints  #: d_0, ..., d_{n-1}
    link_draws: LinkDraws
    node_draws: Draws


@scratch
def _set_up_sparse(params):
    """Return scratch memory for trials at (n, links, f) = params."""
    n, links, f = read_point(params)
    size = links + n * f
    return SparseScratch(
        np.empty(links, np.uint64),
        np.empty(links, np.uint64),
        np.empty(f, np.uint64),
        label_set(f),
        label_set(2 * links),
        np.empty(size, np.uint64),
        np.empty(size, np.uint64),
        np.empty(size, np.uint64),
        np.empty(128, np.int64),
        np.empty(64, np.int64),
        link_draws_for(links),
        draws_for(count_sampled_labels(n, f)),
    )


@block
def _list_dead_links(n, links, f, s):
    """List each dead link once: the links of faulty nodes, and faulty links between nonfaulty nodes; return their number."""
    count = np.int64(0)
    for i in range(f):
        add_label(s.faulty, s.nodes[i])
    for i in range(f):
        v = s.nodes[i]
        for k in range(n):
            w = v ^ (ONE << np.uint64(k))
            if v < w or not has_label(s.faulty, w):
                s.low[count] = min(v, w)
                s.bit[count] = v ^ w
                count += 1
    for i in range(links):
        u = s.lower[i]
        w = u | (ONE << s.dims[i])
        add_label(s.ends, u)
        add_label(s.ends, w)
        if f == 0 or not (has_label(s.faulty, u) or has_label(s.faulty, w)):
            s.low[count] = u
            s.bit[count] = u ^ w
            count += 1
    return count


@block
def _first_sink(n, f, s):
    """Return the smallest label that is not an end of a dead link; ALL_BITS if there is none."""
    v = ZERO
    while True:
        touched = has_label(s.ends, v)
        if f > 0 and not touched:
            touched = has_label(s.faulty, v)
            for k in range(n):
                touched |= has_label(s.faulty, v ^ (ONE << np.uint64(k)))
        if not touched:
            return v
        v += ONE
        if v >> np.uint64(n):
            return bits.ALL_BITS


@block
def _is_isolated(n, links, f, v, s):
    """Whether all links of a nonfaulty node are dead."""
    has_faulty_link = has_label(s.ends, v)  # perhaps to a faulty node
    for k in range(n):
        w = v ^ (ONE << np.uint64(k))
        is_dead = f > 0 and has_label(s.faulty, w)
        if has_faulty_link and not is_dead and has_label(s.ends, w):
            for i in range(links):
                is_dead |= s.lower[i] == min(v, w) and s.dims[i] == np.uint64(k)
        if not is_dead:
            return False
    return True


@block
def _find_sparse_order(n, sink, count, s):
    """Find FIND_TREE's order; return the number of faulty links of the tree."""
    for i in range(count):
        s.rest[i] = (s.low[i] ^ sink) & ~s.bit[i]
    unused = (ONE << np.uint64(n)) - ONE
    faults = np.int64(0)
    for i in range(n - 1, -1, -1):
        for j in range(128):
            s.cost[j] = 0
        for e in range(count):
            if s.bit[e] & unused != ZERO:
                at = s.rest[e] & unused
                target = at if at != ZERO else s.bit[e]
                if target & (target - ONE) == ZERO:
                    s.cost[bits.lowest(target) + (0 if at != ZERO else 64)] += 1
        best = bits.lowest(unused)
        for j in range(best + 1, n):
            if (unused >> np.uint64(j)) & ONE and s.cost[j] + s.cost[j + 64] < s.cost[best] + s.cost[best + 64]:
                best = np.int64(j)
        s.order[i] = best
        faults += s.cost[best + 64]
        unused ^= ONE << np.uint64(best)
    return faults


@block
def _count_blocked(n, links, f, sink, count, s):
    """Return the number of faulty links of the tree whose sender is neither faulty nor isolated."""
    blocked = np.int64(0)
    for e in range(count):
        i = np.int64(0)
        crossed = ZERO
        while ONE << np.uint64(s.order[i]) != s.bit[e]:
            crossed |= ONE << np.uint64(s.order[i])
            i += 1
        if (s.low[e] ^ sink) & crossed == ZERO:
            sender = s.low[e] | (~sink & s.bit[e])
            blocked += not (f > 0 and has_label(s.faulty, sender)) and not _is_isolated(n, links, f, sender, s)
    return blocked


@block
def _count_sparse(key, t, params, scratch, tally):
    """Sample and tally a trial at (n, links, f) = params."""
    n, links, f = read_point(params)
    distinct_links(key, t, n, links, scratch.lower, scratch.dims, scratch.link_draws)
    draw_faults(key, t, n, f, scratch.nodes, scratch.node_draws)
    count = _list_dead_links(n, links, f, scratch)
    sink = _first_sink(n, f, scratch)
    if sink != bits.ALL_BITS:
        faults = _find_sparse_order(n, sink, count, scratch)
        blocked = _count_blocked(n, links, f, sink, count, scratch) if faults > 0 else faults
        count_tree(tally, t, faults, blocked)
    clear_labels(scratch.ends)
    clear_labels(scratch.faulty)


#: Kernel of random trials with at most half of the nodes faulty, any n.
FIND_TREE_SPARSE = trials_kernel(_set_up_sparse, _count_sparse)
