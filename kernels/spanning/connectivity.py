"""Edmonds' number of one fault set on bitmasks: edge connectivity of the nonfaulty nodes and links of Q_n, n <= 12.

A set of nodes is 2^n bits in words of 64.  A step across dimension k is a shift inside words for k < 6 and an exchange of words
above.  The numbers of links or squares of all nodes are four bit planes (12 < 16), to which bits are added: those of the weights
1, 2, 4 and 8.

*lambda* is the edge connectivity, the fewest links whose removal (a *cut*) disconnects the nodes.  By Edmonds' theorem it is
Edmonds' number, the most spanning trees from one root that use each link at most once per direction.  *delta* is the smallest
degree.  lambda <= delta is trivial.  Most trials end when lambda >= delta is certified:

1. A link on delta - 1 nonfaulty squares (cycles of four links) is *strong*: its ends are joined by delta link-disjoint paths.  So
   a cut below delta does not divide the nodes that strong links connect.  The largest set of them is the core.
2. Let ``bound`` be the least upper bound of lambda so far, at first delta.  A node with ``bound`` neighbours in the core or next
   to it has as many link-disjoint paths into the core, and joins it.
3. A cut of fewer than delta links has 2^delta nodes or more on each side (a set of k nodes has at most g(k) = popcount(0) + ... +
   popcount(k - 1) links inside, and k delta - 2 g(k) >= delta for 1 <= k < 2^delta).  If fewer nodes are left outside the core,
   lambda is known.
4. Otherwise a flow from the core to a node outside either shows a smaller cut or lets the node join the core.

``fastcube/algorithms/spanning_flows.py`` does the same with Python integers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.bitmask import (
    clear_node,
    has_node,
    neighbour_word,
    neighbours_in_word,
    set_node,
    toggle_node,
    write_nonfaulty,
)
from ..machine.array_types import Words
from ..machine.bits import ALL_BITS, ZERO, lowest, popcount
from ..machine.jit import block, kernel, scratch


class NonfaultyGraph(NamedTuple):
    """A nonfaulty graph, ``nodes`` and ``links``, with scratch memory; sets of nodes are rows of words."""

    nodes: Words  #: the nonfaulty nodes
    links: Words  #: (n, words): the nodes with a nonfaulty link to a nonfaulty node across each dimension
    degrees: Words  #: (4, words): bit planes of the degrees, in ``min_degree``
    candidates: Words  #: the nodes whose degree may be the smallest, in ``min_degree``
    strong: Words  #: (n, words): the nodes with a strong link across each dimension, for ``_find_core``
    waiting: Words  #: the nodes in no component yet, in ``_find_core``
    component: Words  #: the nodes of a component, in ``_find_core``
    core: Words  #: the core, from ``_find_core`` on
    core_or_next: Words  #: the core and the neighbours of its nodes, from ``_grow_core`` on
    reached: Words  #: the nodes that a search for a path has reached
    came: Words  #: (n, words): the nodes that this search reached first across each dimension
    flow: Words  #: (n, words): tails of the directed links that carry flow, in ``_max_flow``


@scratch
def graph_for(n):
    """Return a ``NonfaultyGraph`` for Q_n, n an int64 in [1, 12]."""
    word_count = np.int64(1) << max(n - np.int64(6), np.int64(0))
    return NonfaultyGraph(
        np.zeros(word_count, np.uint64),
        np.zeros((n, word_count), np.uint64),
        np.zeros((4, word_count), np.uint64),
        np.zeros(word_count, np.uint64),
        np.zeros((n, word_count), np.uint64),
        np.zeros(word_count, np.uint64),
        np.zeros(word_count, np.uint64),
        np.zeros(word_count, np.uint64),
        np.zeros(word_count, np.uint64),
        np.zeros(word_count, np.uint64),
        np.zeros((n, word_count), np.uint64),
        np.zeros((n, word_count), np.uint64),
    )


# ---------------------------------------------------------------- sets of nodes


@block(always=True)
def _add_bit(ones, twos, fours, eights, bit):
    """Add a bit to each of 64 numbers in four bit planes; return the planes."""
    carry = ones & bit
    carry_2 = twos & carry
    carry_4 = fours & carry_2
    return ones ^ bit, twos ^ carry, fours ^ carry_2, eights ^ carry_4


@block(always=True)
def _at_least_mask(ones, twos, fours, eights, least):
    """Return which of 64 numbers in four bit planes are at least ``least``, compared from the lowest bit up."""
    out = ALL_BITS
    for i, plane in enumerate((ones, twos, fours, eights)):
        out = plane & out if (least >> i) & 1 else plane | out
    return out


@block
def _count_nodes(nodes):
    """Return the number of nodes in a set."""
    out = np.int64(0)
    for w in range(nodes.size):
        out += popcount(nodes[w])
    return out


@block
def _first_node(nodes):
    """Return the smallest node of a set that is not empty."""
    w = 0
    while nodes[w] == ZERO:
        w += 1
    return 64 * w + lowest(nodes[w])


@block
def join_links(g):
    """Set ``links`` of the nodes as if every link were nonfaulty."""
    for k in range(g.links.shape[0]):
        for w in range(g.nodes.size):
            g.links[k, w] = g.nodes[w] & neighbour_word(g.nodes, w, k)


@block
def cut_link(g, v, k):
    """Remove the link of node v (int64) across dimension k (int64) from ``links``; it may be removed already."""
    clear_node(g.links[k], v)
    v ^= np.int64(1) << k
    clear_node(g.links[k], v)


# ---------------------------------------------------------------- degrees


@block
def min_degree(g):
    """Return the smallest number of nonfaulty links at a nonfaulty node; there must be such a node."""
    for w in range(g.nodes.size):
        ones = twos = fours = eights = ZERO
        for k in range(g.links.shape[0]):
            ones, twos, fours, eights = _add_bit(ones, twos, fours, eights, g.links[k, w])
        g.degrees[0, w] = ones
        g.degrees[1, w] = twos
        g.degrees[2, w] = fours
        g.degrees[3, w] = eights
        g.candidates[w] = g.nodes[w]
    out = np.int64(0)
    for i in range(3, -1, -1):  # keep the candidates with a 0 in this plane, if there are any
        zeros = ZERO
        for w in range(g.nodes.size):
            zeros |= g.candidates[w] & ~g.degrees[i, w]
        if zeros == ZERO:
            out |= np.int64(1) << i
        else:
            for w in range(g.nodes.size):
                g.candidates[w] &= ~g.degrees[i, w]
    return out


# ---------------------------------------------------------------- the core


@block
def _find_strong_links(g, delta):
    """Write the strong links, which are on at least delta - 1 nonfaulty squares, to ``strong``."""
    n = g.links.shape[0]
    for i in range(n):
        for w in range(g.nodes.size):
            ends = g.links[i, w]
            ones = twos = fours = eights = ZERO
            for j in range(n):
                if j != i:
                    other = g.links[j, w]
                    square = ends & other & neighbour_word(g.links[i], w, j) & neighbour_word(g.links[j], w, i)
                    ones, twos, fours, eights = _add_bit(ones, twos, fours, eights, square)
            g.strong[i, w] = ends & _at_least_mask(ones, twos, fours, eights, delta - 1)


@block
def _flood_component(links, component):
    """Add to ``component`` all nodes that can be reached from it."""
    n, word_count = links.shape
    changed = True
    while changed:
        changed = False
        for k in range(n):
            for w in range(word_count):
                v = w if k < 6 else w ^ (1 << (k - 6))  # the word that a step across k starts from
                step = component[v] & links[k, v]
                new = (neighbours_in_word(step, k) if k < 6 else step) & ~component[w]
                component[w] |= new
                changed |= new != ZERO


@block
def _find_core(g):
    """Write the largest set of nodes that strong links connect, the first one of several, to ``core``."""
    word_count = g.nodes.size
    for w in range(word_count):
        g.waiting[w] = g.nodes[w]
        g.core[w] = ZERO
    waiting_count = _count_nodes(g.nodes)
    core_size = np.int64(0)
    while waiting_count > core_size:
        for w in range(word_count):
            g.component[w] = ZERO
        set_node(g.component, _first_node(g.waiting))
        _flood_component(g.strong, g.component)
        size = _count_nodes(g.component)
        waiting_count -= size
        for w in range(word_count):
            g.waiting[w] &= ~g.component[w]
            if size > core_size:
                g.core[w] = g.component[w]
        core_size = max(core_size, size)


@block
def _grow_core(g, least):
    """Add nodes with ``least`` neighbours in the core or next to it until there are none; return the number of nodes outside.

    ``core_or_next`` is that of the grown core.
    """
    n, word_count = g.links.shape
    while True:
        outside_count = np.int64(0)
        for w in range(word_count):
            core_or_next = g.core[w]
            for k in range(n):
                core_or_next |= neighbour_word(g.core, w, k) & g.links[k, w]
            g.core_or_next[w] = core_or_next
            outside_count += popcount(g.nodes[w] & ~g.core[w])
        if outside_count == 0:
            return outside_count
        grown = ZERO
        for w in range(word_count):
            outside = g.nodes[w] & ~g.core[w]
            if outside != ZERO:
                ones = twos = fours = eights = ZERO
                for k in range(n):
                    close = neighbour_word(g.core_or_next, w, k) & g.links[k, w]
                    ones, twos, fours, eights = _add_bit(ones, twos, fours, eights, close)
                joining = outside & _at_least_mask(ones, twos, fours, eights, least)
                g.core[w] |= joining
                grown |= joining
        if grown == ZERO:
            return outside_count


@block
def _first_next_to_core(g):
    """Return the smallest node outside the core with a neighbour in it, or -1."""
    for w in range(g.nodes.size):
        next_to_core = g.core_or_next[w] & ~g.core[w]
        if next_to_core != ZERO:
            return 64 * w + lowest(next_to_core)
    return np.int64(-1)


# ---------------------------------------------------------------- flows


@block
def _find_augmenting_path(g, target):
    """Whether the target can be reached from the core over directed links without flow; ``came`` records the search.

    A link with flow in one direction may be used in the other, which cancels the flow.
    """
    n, word_count = g.links.shape
    for w in range(word_count):
        g.reached[w] = g.core[w]
        for k in range(n):
            g.came[k, w] = ZERO
    changed = True
    while changed:
        changed = False
        for k in range(n):
            for w in range(word_count):
                v = w if k < 6 else w ^ (1 << (k - 6))  # the word that a step across k starts from
                step = g.reached[v] & g.links[k, v] & ~g.flow[k, v]
                new = (neighbours_in_word(step, k) if k < 6 else step) & ~g.reached[w]
                g.came[k, w] |= new
                g.reached[w] |= new
                changed |= new != ZERO
        if has_node(g.reached, target):
            return True
    return False


@block
def _max_flow(g, target, limit):
    """Return the largest number of link-disjoint paths from the core to a node outside, at most ``limit`` (augmenting paths)."""
    n, word_count = g.links.shape
    for dim in range(n):
        for w in range(word_count):
            g.flow[dim, w] = ZERO
    for paths in range(limit):
        if not _find_augmenting_path(g, target):
            return np.int64(paths)
        v = target  # back to the core along the path
        while not has_node(g.core, v):
            k = np.int64(0)
            while not has_node(g.came[k], v):
                k += 1
            u = v ^ (np.int64(1) << k)
            if has_node(g.flow[k], v):
                toggle_node(g.flow[k], v)  # cancels the flow in the other direction
            else:
                toggle_node(g.flow[k], u)
            v = u
    return np.int64(limit)


@block
def edge_connectivity(g):
    """Return lambda, delta and the number of flows computed, of a nonfaulty graph with at least two nodes, all int64."""
    delta = min_degree(g)
    bound = delta
    flows = np.int64(0)
    if delta == 0:
        return bound, delta, flows
    _find_strong_links(g, delta)
    _find_core(g)
    while True:  # no cut of fewer than ``bound`` links divides the core
        if _grow_core(g, bound) < np.int64(1) << delta:
            return bound, delta, flows
        target = _first_next_to_core(g)
        if target < 0:
            return np.int64(0), delta, flows
        bound = min(bound, _max_flow(g, target, bound))
        flows += 1
        set_node(g.core, target)


@kernel("void(int64, uint64[:, ::1], uint64[:, :, ::1], int64[:, ::1])")
def edge_connectivities(n, faulty, links, out):
    """Write (lambda, delta, flows) of many fault sets; 1 <= n <= 12 and two nonfaulty nodes each, not checked.

    Parameters
    ----------
    n : int64
    faulty : uint64 array of shape (sets, f)
        Faulty nodes; repeats are allowed.
    links : uint64 array of shape (sets, K, 2)
        Faulty links: a node, and the dimension.
    out : int64 array of shape (sets, 3)
    """
    g = graph_for(n)
    for i in range(out.shape[0]):
        write_nonfaulty(n, faulty[i], faulty.shape[1], g.nodes)
        join_links(g)
        for j in range(links.shape[1]):
            cut_link(g, np.int64(links[i, j, 0]), np.int64(links[i, j, 1]))
        connectivity, delta, flows = edge_connectivity(g)
        out[i, 0] = connectivity
        out[i, 1] = delta
        out[i, 2] = flows
