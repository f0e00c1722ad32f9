"""The trials of the studies ``edst-broadcast`` (build trees) and ``edge-disjoint-trees`` (find the edge connectivity)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.bitmask import word_mask
from ..draws import philox
from ..draws.links import LinkDraws, distinct_links, link_draws_for
from ..draws.node_rows import Rows, mark_faults, rows_for
from ..machine import bits
from ..machine.array_types import I64, Words
from ..machine.jit import block, scratch
from ..machine.trials import trials_kernel
from ..tally.maxima import offer
from ..tally.sums import add_quantity
from .broadcast import broadcast_workspace_for, count_steps, single_tree_and_bound
from .connectivity import NonfaultyGraph, cut_link, edge_connectivity, graph_for, join_links
from .layout import EDGE_DISJOINT_TREES, EDST_BROADCAST, MOST_DIMENSIONS

# ---------------------------------------------------------------- edst-broadcast

_STEPS = EDST_BROADCAST.moments("steps")
_SINGLE = EDST_BROADCAST.moments("single")
_BOUND = EDST_BROADCAST.moments("lower_bound")
_MATCHES_THEOREM_2 = EDST_BROADCAST.counter("matches_theorem_2")
_BROKEN = EDST_BROADCAST.counter("broken")
_MOST_STEPS = EDST_BROADCAST.maximum("most_steps")


class BroadcastPoint(NamedTuple):
    """The axes of ``edst-broadcast``, in their order."""

    n: I64
    d: I64  #: distance of the faulty node from the source, 0 for no faulty node
    packets: I64  #: number of packets


@block
def read_broadcast_point(params):
    """Return the :class:`BroadcastPoint` of a kernel's parameters."""
    return BroadcastPoint(np.int64(params[0]), np.int64(params[1]), np.int64(params[2]))


@scratch
def set_up_broadcast(params):
    """Return scratch memory for trials of ``edst-broadcast``."""
    return broadcast_workspace_for(read_broadcast_point(params).n)


@block
def binomial_coefficient(n, d):
    """Return C(n, d), as an int64."""
    out = np.int64(1)
    for i in range(d):
        out = out * (n - i) // (i + 1)
    return out


@block
def draw_ends(key, t, n, d):
    """Return the source of trial ``t``, and the faulty node at distance d from it; int64, -1 for no faulty node (d = 0).

    The source is the low n bits of word 0 of block t for PAIRS.  The faulty node is source ^ m, where m is the r-th smallest mask
    of d bits among n, from 0, and r the first of words 1, 2, ... whose low b bits are less than C(n, d); b is the number of bits
    of C(n, d) - 1.
    """
    source = np.int64(
        philox.random_word(key, np.uint64(t), np.uint64(0), philox.PAIRS) & ((bits.ONE << np.uint64(n)) - bits.ONE)
    )
    if d == 0:
        return source, np.int64(-1)
    sets = binomial_coefficient(n, d)
    rank_mask = (bits.ONE << np.uint64(bits.highest(np.uint64(sets - 1)) + 1)) - bits.ONE
    j = np.uint64(1)
    rank = np.int64(philox.random_word(key, np.uint64(t), j, philox.PAIRS) & rank_mask)
    while rank >= sets:
        j += bits.ONE
        rank = np.int64(philox.random_word(key, np.uint64(t), j, philox.PAIRS) & rank_mask)
    mask = np.int64(0)
    while rank >= 0:  # through the masks of d bits, ascending
        mask += 1
        rank -= np.int64(bits.popcount(np.uint64(mask)) == d)
    return source, source ^ mask


@block
def _broadcast_trial(key, t, params, scratch, tally):
    """Tally the steps of packets from a random source around a random faulty node at distance d; params are n, d, packets.

    Steps are negative if the trees do not span, or share a directed link.
    """
    n, d, packets = read_broadcast_point(params)
    source, fault = draw_ends(key, t, n, d)
    steps = count_steps(n, packets, source, fault, scratch)
    single, bound = single_tree_and_bound(n, packets, source, fault)
    add_quantity(tally, _SINGLE, single)
    add_quantity(tally, _BOUND, bound)
    if steps < 0:
        tally[_BROKEN] += 1
        return
    trees = n if d == 0 else n - 1
    tally[_MATCHES_THEOREM_2] += np.int64(steps == (packets + trees - 1) // trees + n)
    add_quantity(tally, _STEPS, steps)
    offer(tally, _MOST_STEPS, steps, t)


#: Kernel of ``edst-broadcast``: params n, d, packets; 2 <= n <= 12.
EDST_BROADCAST_SINGLE = trials_kernel(set_up_broadcast, _broadcast_trial)

# ---------------------------------------------------------------- edge-disjoint-trees: Edmonds' number

_EXACTLY = EDGE_DISJOINT_TREES.family("trees_{}", range(MOST_DIMENSIONS + 1))
_TREES = EDGE_DISJOINT_TREES.moments("trees")
_DEGREE = EDGE_DISJOINT_TREES.moments("degree")
_CONNECTED = EDGE_DISJOINT_TREES.counter("connected")
_LINKED = EDGE_DISJOINT_TREES.counter("linked")
_ISOLATED = EDGE_DISJOINT_TREES.counter("isolated_node")
_PACKING_EQUALS = EDGE_DISJOINT_TREES.counter("packing_equals_min_degree")
_PACKING_EQUALS_CONNECTED = EDGE_DISJOINT_TREES.counter("packing_equals_min_degree_connected")
_GAP = EDGE_DISJOINT_TREES.counter("gap")
_FLOWS = EDGE_DISJOINT_TREES.counter("flows")
_LARGEST_GAP = EDGE_DISJOINT_TREES.maximum("largest_gap")


class TreesPoint(NamedTuple):
    """The axes of ``edge-disjoint-trees``, in their order."""

    n: I64
    f: I64  #: number of faulty nodes
    links: I64  #: number of faulty links


@block
def read_trees_point(params):
    """Return the :class:`TreesPoint` of a kernel's parameters."""
    return TreesPoint(np.int64(params[0]), np.int64(params[1]), np.int64(params[2]))


class TreesScratch(NamedTuple):
    """Scratch memory of trials of ``edge-disjoint-trees``."""

    graph: NonfaultyGraph
    rows: Rows  #: for sampling nodes
    links: LinkDraws  #: for sampling links
    lower: Words  #: lower ends of the faulty links
    dims: Words  #: dimensions of the faulty links


@scratch
def set_up_trees(params):
    """Return scratch memory for trials of ``edge-disjoint-trees``."""
    n, _, links = read_trees_point(params)
    return TreesScratch(
        graph_for(n),
        rows_for(),
        link_draws_for(links),
        np.empty(links, np.uint64),
        np.empty(links, np.uint64),
    )


@block
def _draw_graph(key, t, n, f, links, scratch):
    """Sample the nonfaulty graph of trial ``t``: f distinct faulty nodes and, independently, distinct faulty links."""
    g = scratch.graph
    for w in range(g.nodes.size):
        g.nodes[w] = bits.ZERO
    mark_faults(key, np.uint64(t), n, f, g.nodes, scratch.rows)
    for w in range(g.nodes.size):
        g.nodes[w] ^= word_mask(n)
    join_links(g)
    if links > 0:
        distinct_links(key, t, n, links, scratch.lower, scratch.dims, scratch.links)
        for i in range(links):
            cut_link(g, np.int64(scratch.lower[i]), np.int64(scratch.dims[i]))


@block
def _trees_trial(key, t, params, scratch, tally):
    """Compute and tally Edmonds' number under random faults; params are n, f, links."""
    n, f, links = read_trees_point(params)
    _draw_graph(key, t, n, f, links, scratch)
    trees, degree, flows = edge_connectivity(scratch.graph)
    tally[_EXACTLY[trees]] += 1
    add_quantity(tally, _TREES, trees)
    add_quantity(tally, _DEGREE, degree)
    tally[_CONNECTED] += np.int64(trees > 0)
    tally[_LINKED] += np.int64(degree > 0)
    tally[_ISOLATED] += np.int64(degree == 0)
    tally[_PACKING_EQUALS] += np.int64(trees == degree)
    tally[_PACKING_EQUALS_CONNECTED] += np.int64(trees == degree and trees > 0)
    tally[_GAP] += degree - trees
    tally[_FLOWS] += flows
    offer(tally, _LARGEST_GAP, degree - trees, t)


#: Kernel of ``edge-disjoint-trees``: params n, f, links; 2 <= n <= 12, at least two nonfaulty nodes.
EDGE_DISJOINT_TREES_SINGLE = trials_kernel(set_up_trees, _trees_trial)
