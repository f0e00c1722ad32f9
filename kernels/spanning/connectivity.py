"""Edmonds' number of one fault set on bitmasks: edge connectivity of the nonfaulty nodes and links of Q_n, n <= 12.

A set of nodes is 2^n bits in words of 64.  A step across dimension k is a shift inside words for k < 6 and an exchange of words
above.  The numbers of links or squares of all nodes are four bit planes (12 < 16), to which bits are added.

lambda <= delta, the smallest degree, is trivial.  Most trials end when lambda >= delta is certified:

1. Nodes joined by a link that is on delta - 1 nonfaulty squares are joined by delta link-disjoint paths.  So a cut below delta
   does not divide a class of nodes connected by such links.  The largest class is the core.
2. Let ``best`` be the least upper bound of lambda so far, at first delta.  A node with ``best`` neighbours in the core or next to
   it has as many link-disjoint paths into the core, and joins it.
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
    """A nonfaulty graph with scratch memory; sets of nodes are rows of words."""

    nodes: Words  #: the nonfaulty nodes
    links: Words  #: (n, words): the nodes with a nonfaulty link to a nonfaulty node across each dimension
    strong: Words  #: (n, words): those nodes whose link is in no cut below delta
    flow: Words  #: (n, words): tails of the directed links that carry flow
    came: Words  #: (n, words): nodes that the last search reached first across each dimension
    core: Words  #: scratch: a set of nodes
    part: Words  #: scratch: a set of nodes
    near: Words  #: scratch: a set of nodes
    planes: Words  #: (4, words): scratch, four sets of nodes


@scratch
def graph_for(n):
    """Return a ``NonfaultyGraph`` for Q_n, n an int64 in [1, 12]."""
    word_count = np.int64(1) << max(n - np.int64(6), np.int64(0))
    return NonfaultyGraph(
        np.zeros(word_count, np.uint64),
        np.zeros((n, word_count), np.uint64),
        np.zeros((n, word_count), np.uint64),
        np.zeros((n, word_count), np.uint64),
        np.zeros((n, word_count), np.uint64),
        np.zeros(word_count, np.uint64),
        np.zeros(word_count, np.uint64),
        np.zeros(word_count, np.uint64),
        np.zeros((4, word_count), np.uint64),
    )


# ---------------------------------------------------------------- sets of nodes


@block(always=True)
def _add_bit(a, b, c, d, x):
    """Add a bit to each of 64 numbers in four bit planes."""
    y = a & x
    z = b & y
    return a ^ x, b ^ y, c ^ z, d ^ (c & z)


@block(always=True)
def _at_least_mask(a, b, c, d, least):
    """Return which of 64 numbers in four bit planes are at least ``least``."""
    out = ALL_BITS
    for i, plane in enumerate((a, b, c, d)):
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
        a = b = c = d = ZERO
        for k in range(g.links.shape[0]):
            a, b, c, d = _add_bit(a, b, c, d, g.links[k, w])
        g.planes[0, w] = a
        g.planes[1, w] = b
        g.planes[2, w] = c
        g.planes[3, w] = d
        g.part[w] = g.nodes[w]
    out = np.int64(0)
    for i in range(3, -1, -1):  # of the remaining nodes keep those with a 0 in this plane, if there are any
        zeros = ZERO
        for w in range(g.nodes.size):
            zeros |= g.part[w] & ~g.planes[i, w]
        if zeros == ZERO:
            out |= np.int64(1) << i
        else:
            for w in range(g.nodes.size):
                g.part[w] &= ~g.planes[i, w]
    return out


# ---------------------------------------------------------------- the core


@block
def _find_strong_links(g, delta):
    """Write to ``strong`` the links that are on at least delta - 1 nonfaulty squares."""
    n = g.links.shape[0]
    for i in range(n):
        for w in range(g.nodes.size):
            ends = g.links[i, w]
            a = b = c = d = ZERO
            for j in range(n):
                if j != i:
                    other = g.links[j, w]
                    square = ends & other & neighbour_word(g.links[i], w, j) & neighbour_word(g.links[j], w, i)
                    a, b, c, d = _add_bit(a, b, c, d, square)
            g.strong[i, w] = ends & _at_least_mask(a, b, c, d, delta - 1)


@block
def _flood_component(links, part):
    """Add to ``part`` all nodes that can be reached from it."""
    n, word_count = links.shape
    changed = True
    while changed:
        changed = False
        for k in range(n):
            for w in range(word_count):
                source = part[w] & links[k, w] if k < 6 else part[w ^ (1 << (k - 6))] & links[k, w ^ (1 << (k - 6))]
                new = (neighbours_in_word(source, k) if k < 6 else source) & ~part[w]
                part[w] |= new
                changed |= new != ZERO


@block
def _find_core(g):
    """Write to ``core`` the largest class of nodes connected by strong links."""
    word_count = g.nodes.size
    for w in range(word_count):
        g.near[w] = g.nodes[w]
        g.core[w] = ZERO
    remaining = _count_nodes(g.nodes)
    best = np.int64(0)
    while remaining > best:
        for w in range(word_count):
            g.part[w] = ZERO
        set_node(g.part, _first_node(g.near))
        _flood_component(g.strong, g.part)
        size = _count_nodes(g.part)
        remaining -= size
        for w in range(word_count):
            g.near[w] &= ~g.part[w]
            if size > best:
                g.core[w] = g.part[w]
        best = max(best, size)


@block
def _grow_core(g, least):
    """Add nodes with ``least`` neighbours in the core or next to it until there are none; return the number of nodes left out."""
    n, word_count = g.links.shape
    while True:
        left = np.int64(0)
        for w in range(word_count):
            near = g.core[w]
            for k in range(n):
                near |= neighbour_word(g.core, w, k) & g.links[k, w]
            g.near[w] = near
            left += popcount(g.nodes[w] & ~g.core[w])
        if left == 0:
            return left
        grown = ZERO
        for w in range(word_count):
            out = g.nodes[w] & ~g.core[w]
            if out != ZERO:
                a = b = c = d = ZERO
                for k in range(n):
                    a, b, c, d = _add_bit(a, b, c, d, neighbour_word(g.near, w, k) & g.links[k, w])
                joining = out & _at_least_mask(a, b, c, d, least)
                g.core[w] |= joining
                grown |= joining
        if grown == ZERO:
            return left


# ---------------------------------------------------------------- flows


@block
def _find_augmenting_path(g, target):
    """Whether the target can be reached from the core over directed links without flow; ``came`` records the search.

    A link with flow in one direction may be used in the other, which cancels the flow.
    """
    n, word_count = g.links.shape
    for w in range(word_count):
        g.part[w] = g.core[w]
        for k in range(n):
            g.came[k, w] = ZERO
    changed = True
    while changed:
        changed = False
        for k in range(n):
            for w in range(word_count):
                v = w if k < 6 else w ^ (1 << (k - 6))  # the word the step starts from
                step = g.part[v] & g.links[k, v] & ~g.flow[k, v]
                new = (neighbours_in_word(step, k) if k < 6 else step) & ~g.part[w]
                g.came[k, w] |= new
                g.part[w] |= new
                changed |= new != ZERO
        if has_node(g.part, target):
            return True
    return False


@block
def _max_flow(g, target, limit):
    """Return the largest number of link-disjoint paths from the core to a node outside, at most ``limit`` (augmenting paths)."""
    n, word_count = g.links.shape
    for d in range(n):
        for w in range(word_count):
            g.flow[d, w] = ZERO
    for paths in range(limit):
        if not _find_augmenting_path(g, target):
            return np.int64(paths)
        v = target
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
    """Return (lambda, delta, flows) of a nonfaulty graph with at least two nodes, all int64."""
    delta = min_degree(g)
    best = delta
    flows = np.int64(0)
    if delta == 0:
        return best, delta, flows
    _find_strong_links(g, delta)
    _find_core(g)
    while True:  # no cut of fewer than ``best`` links divides the core
        if _grow_core(g, best) < np.int64(1) << delta:
            return best, delta, flows
        next_to_core = ZERO
        for w in range(g.nodes.size):
            g.part[w] = g.near[w] & ~g.core[w]
            next_to_core |= g.part[w]
        if next_to_core == ZERO:
            return np.int64(0), delta, flows
        target = _first_node(g.part)
        best = min(best, _max_flow(g, target, best))
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
        best, delta, flows = edge_connectivity(g)
        out[i, 0] = best
        out[i, 1] = delta
        out[i, 2] = flows
