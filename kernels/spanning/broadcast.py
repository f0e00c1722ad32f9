"""Packets broadcast around a fault: the spanning trees of one trial, built node by node, and the steps that the packets take.

Trees are written label by label and then checked as arbitrary trees: heights by walking to the root, and that no directed link is
in two trees.  The count of steps uses one fact that the simulation of packets proves: on trees that share no directed link,
packet q (from 0) of a tree reaches depth h after step q + h (S1-S10).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine import bits
from ..machine.array_types import Ints
from ..machine.jit import block, kernel, scratch

#: Values of ``parent`` that are not parents: at the root of a tree, and at a node that is not in it.
ROOT = np.int64(-1)
ABSENT = np.int64(-2)


class BroadcastWorkspace(NamedTuple):
    """Scratch memory for the trees of Q_n; made by ``broadcast_workspace_for``."""

    parent: Ints  #: (2^n): parent of each node in one tree
    used: Ints  #: (2^n): mask of the dimensions of the directed links that leave each node in the trees so far
    dims: Ints  #: (n): the dimension at each position (S4)


@scratch
def broadcast_workspace_for(n):
    """Return a ``BroadcastWorkspace`` for Q_n, n an int64."""
    size = np.int64(1) << n
    return BroadcastWorkspace(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(n, np.int64))


# ---------------------------------------------------------------- the trees, by positions


@block
def _pivoted_parent_position(m, i, v):
    """Return the position across which v's parent is in pivoted tree i of Q_m, -1 at its root (S1, S2)."""
    if v == 0:
        return i
    if v == np.int64(1) << i:
        return ROOT
    if (v >> i) & 1 == 0:
        return i
    k = i + m - 1  # the set bit that comes last in the order i, i+1, ..., i-1
    while (v >> (k % m)) & 1 == 0:
        k -= 1
    return k % m


@block
def _light_parent_position(n, d, i, v):
    """Return the position of v's parent in light tree i around the faulty node 1^d 0^(n-d); -1 at the root, -2 at that node.

    Algorithm A from the outermost cube inwards (S3, S5, S9); int64, 2 <= n, 1 <= d <= n, 0 <= i <= n - 2.
    """
    m = n
    while True:
        half = np.int64(1) << (m - 1)
        root = ROOT if m == n else m  # the parent of an inner tree's root is across the position above it
        if v < half:
            p = _pivoted_parent_position(m - 1, i, v)
            return root if p == ROOT else p
        v -= half
        if d == 1:  # case B: the faulty node is s'
            if v == 0:
                return ABSENT
            p = _pivoted_parent_position(m - 1, i, v)
            return m - 1 if p == ROOT else p
        if i == m - 2:  # the last tree of case A
            if v == half - (np.int64(1) << (m - d)):
                return ABSENT
            if bits.popcount(np.uint64(v)) == 1 and v < np.int64(1) << (m - 2):
                return bits.lowest(np.uint64(v))  # step 5: s' is the parent of s'_j
            return m - 1  # step 6
        m -= 1
        d -= 1


@block
def _place_dimensions(n, source, fault, dims):
    """Write the dimension at each position (S4): the faulty node's bits have the highest positions; both groups ascend."""
    p = np.int64(0)
    for want in range(2):
        for k in range(n):
            if ((source ^ fault) >> k) & 1 == want:
                dims[p] = k
                p += 1


@block
def _write_light_tree(n, d, i, source, fault, dims, parent, pivoted):
    """Write light tree i, re-rooted at the source unless ``pivoted``; return its root."""
    _place_dimensions(n, source, fault, dims)
    for v in range(np.int64(1) << n):
        canonical = np.int64(0)
        for p in range(n):
            canonical |= (((v ^ source) >> dims[p]) & 1) << p
        p = _light_parent_position(n, d, i, canonical)
        parent[v] = v ^ (np.int64(1) << dims[p]) if p >= 0 else p
    root = source ^ (np.int64(1) << dims[i])
    if pivoted:
        return root
    parent[root] = source
    parent[source] = ROOT
    return source


@block
def _write_rooted_tree(n, i, source, parent):
    """Write Johnsson and Ho's tree i (S1)."""
    for v in range(np.int64(1) << n):
        p = _pivoted_parent_position(n, i, v ^ source)
        parent[v] = v ^ (np.int64(1) << p) if p >= 0 else source
    parent[source] = ROOT


@block
def tree_height(parent, root, fault):
    """Return the height of a tree from ``root`` with every node but ``fault``; -1 if it is not such a tree."""
    size = parent.size
    most = np.int64(0)
    for v in range(size):
        depth = np.int64(0)
        u = np.int64(v)
        while u != root and parent[u] >= 0 and depth < size:
            u = parent[u]
            depth += 1
        if u != root and v != fault:
            return np.int64(-1)
        if v == fault and (depth > 0 or parent[v] != ABSENT):
            return np.int64(-1)
        if v != fault:
            most = max(most, depth)
    return most


@block
def _claim_links(parent, used):
    """Mark a tree's directed links as used; return whether all were free."""
    free = True
    for v in range(parent.size):
        u = parent[v]
        if u >= 0:
            free &= used[u] & (u ^ v) == 0
            used[u] |= u ^ v
    return free


@block
def count_steps(n, d, packets, source, fault, g):
    """Return the steps of the packets on the trees around ``source``; -1 if these are not edge-disjoint spanning trees."""
    trees = n if d == 0 else n - 1
    for v in range(g.used.size):
        g.used[v] = 0
    out = np.int64(0)
    for i in range(trees):
        if d == 0:
            _write_rooted_tree(n, i, source, g.parent)
        else:
            _write_light_tree(n, d, i, source, fault, g.dims, g.parent, False)
        height = tree_height(g.parent, source, fault)
        if height < 0 or not _claim_links(g.parent, g.used):
            return np.int64(-1)
        own_packets = (packets - i + trees - 1) // trees
        if own_packets > 0:
            out = max(out, own_packets - 1 + height)
    return out


# ---------------------------------------------------------------- steps on one tree, and a lower bound for every schedule


@block
def single_tree_and_bound(n, packets, source, fault):
    """Return the steps on one tree (binomial without a faulty node, else shortest-path), and a lower bound for every schedule.

    The last packet to leave the source leaves in step ceil(M / deg s) or later and may have the longest distance to go.  Node v
    receives nothing before step dist(s, v) and at most deg v packets per step from then on.  Either tree is as high as the
    farthest node (S10).  One faulty node makes no path longer: nodes at distance two or more have several shortest paths without
    common inner nodes.
    """
    farthest = np.int64(0)
    last_arrival = np.int64(0)  # the latest least step at which some node has all packets
    last_departure = np.int64(0)  # the least step in which the last packet leaves the source
    for v in range(np.int64(1) << n):
        if v != fault:
            distance = bits.popcount(np.uint64(v ^ source))
            degree = n - (1 if fault >= 0 and bits.popcount(np.uint64(v ^ fault)) == 1 else 0)
            node_steps = (packets + degree - 1) // degree  # to pass all packets over the links of node v
            farthest = max(farthest, distance)
            if v == source:
                last_departure = node_steps
            else:
                last_arrival = max(last_arrival, distance - 1 + node_steps)
    return packets - 1 + farthest, max(last_departure + farthest - 1, last_arrival)


@kernel("boolean(int64, int64, int64, boolean, int64[::1])")
def light_heights(n, source, fault, pivoted, heights):
    """Write the heights of the n - 1 light trees of a source and a faulty node, rooted at the pivots or re-rooted at the source.

    Returns whether the trees span and share no directed link; 2 <= n, and ``heights`` has n - 1 entries.
    """
    g = broadcast_workspace_for(n)
    d = bits.popcount(np.uint64(source ^ fault))
    for v in range(g.used.size):
        g.used[v] = 0
    sound = True
    for i in range(n - 1):
        root = _write_light_tree(n, d, i, source, fault, g.dims, g.parent, pivoted)
        heights[i] = tree_height(g.parent, root, fault)
        sound &= heights[i] >= 0 and _claim_links(g.parent, g.used)
    return sound
