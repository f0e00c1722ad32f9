"""Packets broadcast around a fault: the spanning trees of one trial, built node by node, and the steps that the packets take.

Entry points: ``count_steps`` and ``single_tree_and_bound`` for trials (``scalar.py``), ``light_heights`` to check the light trees
of any source and faulty node.  S1 to S10 are interpretations of Sui, Wang & Lee (``docs/readings/sui-wang-lee.md``).

Without a faulty node the trees are the n trees of Johnsson and Ho (S1).  Around one faulty node they are the n - 1 *light trees*
of Algorithm A (S5), which span all other nodes.  The *pivot* of tree i is the source's neighbour across position i.  A tree is
*pivoted* if the pivot is its root and the source a child of it (S2), and *re-rooted* if the source is its root and the pivot a
child of it.

The rules for parents are for labels relative to the source, with the dimensions at other *positions* (S4): the faulty node, at
distance d, becomes 1^d 0^(n-d).  Hence they give a parent by the position of the dimension across which it is.  A parent and a
position are never negative; the negative values ROOT and ABSENT stand in place of either.

Trees are written label by label and then checked as arbitrary trees: heights by walking to the root, and that no directed link is
in two trees.  The count of steps uses one fact that the simulation of packets proves: on trees that share no directed link,
packet q (from 0) of a tree reaches depth h after step q + h (S8, S10).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine import bits
from ..machine.array_types import Ints
from ..machine.jit import block, kernel, scratch

#: Negative values in place of a parent, or of its position: at the root of a tree, and at a node that is not in it.
ROOT = np.int64(-1)
ABSENT = np.int64(-2)


class BroadcastWorkspace(NamedTuple):
    """Scratch memory for the trees of Q_n; made by ``broadcast_workspace_for``."""

    parent: Ints  #: (2^n): parent of each node in one tree, or ROOT or ABSENT
    used: Ints  #: (2^n): mask of the dimensions across which each node has a child in one of the trees so far
    dims: Ints  #: (n): the dimension at each position (S4)


@scratch
def broadcast_workspace_for(n):
    """Return a ``BroadcastWorkspace`` for Q_n, n an int64."""
    size = np.int64(1) << n
    return BroadcastWorkspace(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(n, np.int64))


# ---------------------------------------------------------------- the trees, by positions


@block
def _pivoted_parent_position(m, i, v):
    """Return the position of v's parent in Johnsson and Ho's pivoted tree i of Q_m, ROOT at the pivot 2^i (S1, S2).

    The parent of a node with bit i lacks its set bit that comes last in the cyclic order i, i+1, ..., i-1.  Every other node,
    with node 0, is a child of its neighbour with bit i.
    """
    if v == 0:
        return i
    if v == np.int64(1) << i:
        return ROOT
    if (v >> i) & 1 == 0:
        return i
    last = i + m - 1
    while (v >> (last % m)) & 1 == 0:
        last -= 1
    return last % m


@block
def _light_parent_position(n, d, i, v):
    """Return the position of v's parent in pivoted light tree i around the faulty node 1^d 0^(n-d); ROOT or ABSENT without one.

    Algorithm A, from the outermost cube inwards (S3, S5, S9); int64, 2 <= n, 1 <= d <= n, 0 <= i <= n - 2.  It makes the trees of
    Q_m from trees of the two halves across the highest position m - 1.  The half with the source has Johnsson and Ho's trees.
    The other half has the faulty node and s', the source's neighbour.  In case B (d = 1) s' is the faulty node, and the half has
    their trees, too, which omit s'.  In case A it has light trees around s' for i <= m - 3, and the last tree, i = m - 2, enters
    it from the other half at each node but s'_0, ..., s'_(m-3), the children of s'.
    """
    m = n
    while True:
        # Here v is a label of Q_m relative to its source, its faulty node is 1^d 0^(m-d), 1 <= d <= m, and i <= m - 2.
        half = np.int64(1) << (m - 1)
        root = ROOT if m == n else m  # the root of an inner tree is a child across the position above the inner cube
        if v < half:
            position = _pivoted_parent_position(m - 1, i, v)
            return root if position == ROOT else position
        v -= half
        if d == 1:  # case B
            if v == 0:
                return ABSENT
            position = _pivoted_parent_position(m - 1, i, v)
            return m - 1 if position == ROOT else position
        if i == m - 2:  # the last tree of case A
            if v == half - (np.int64(1) << (m - d)):  # the faulty node, 1^(d-1) 0^(m-d) in this half
                return ABSENT
            if bits.popcount(np.uint64(v)) == 1 and v < np.int64(1) << (m - 2):
                return bits.lowest(np.uint64(v))  # step 5: s' is the parent of s'_j
            return m - 1  # step 6
        m -= 1  # go on with the half, whose source is s'
        d -= 1


@block
def _place_dimensions(n, source, fault, dims):
    """Write the dimension at each position (S4): the faulty node's bits have the highest positions; both groups ascend."""
    position = np.int64(0)
    for is_faulty_bit in range(2):
        for k in range(n):
            if ((source ^ fault) >> k) & 1 == is_faulty_bit:
                dims[position] = k
                position += 1


@block
def _write_light_tree(n, i, source, fault, dims, parent, pivoted):
    """Write light tree i to ``parent``, re-rooted at the source unless ``pivoted``; return its root."""
    d = bits.popcount(np.uint64(source ^ fault))
    _place_dimensions(n, source, fault, dims)
    for v in range(np.int64(1) << n):
        placed = np.int64(0)  # v relative to the source, with its bits at their positions
        for position in range(n):
            placed |= (((v ^ source) >> dims[position]) & 1) << position
        up = _light_parent_position(n, d, i, placed)
        parent[v] = v ^ (np.int64(1) << dims[up]) if up >= 0 else up
    pivot = source ^ (np.int64(1) << dims[i])
    if pivoted:
        return pivot
    parent[pivot] = source
    parent[source] = ROOT
    return source


@block
def _write_rooted_tree(n, i, source, parent):
    """Write Johnsson and Ho's tree i, re-rooted at the source, to ``parent`` (S1)."""
    for v in range(np.int64(1) << n):
        up = _pivoted_parent_position(n, i, v ^ source)
        parent[v] = v ^ (np.int64(1) << up) if up >= 0 else source
    parent[source] = ROOT


@block
def _tree_height(parent, root, fault):
    """Return the height of a tree from ``root`` with every node but ``fault`` (-1: every node); -1 if it is not such a tree."""
    size = parent.size
    height = np.int64(0)
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
            height = max(height, depth)
    return height


@block
def _claim_links(parent, used):
    """Mark a tree's directed links, from parent to child, as used; return whether all were free."""
    free = True
    for v in range(parent.size):
        u = parent[v]
        if u >= 0:
            free &= used[u] & (u ^ v) == 0
            used[u] |= u ^ v
    return free


@block
def count_steps(n, packets, source, fault, workspace):
    """Return the steps of the packets on the trees around ``source``; -1 if these are not edge-disjoint spanning trees.

    ``fault`` is -1 without a faulty node.  Packets are dealt to the trees in turn (S10).
    """
    trees = n if fault < 0 else n - 1
    for v in range(workspace.used.size):
        workspace.used[v] = 0
    steps = np.int64(0)
    for i in range(trees):
        if fault < 0:
            _write_rooted_tree(n, i, source, workspace.parent)
        else:
            _write_light_tree(n, i, source, fault, workspace.dims, workspace.parent, False)
        height = _tree_height(workspace.parent, source, fault)
        if height < 0 or not _claim_links(workspace.parent, workspace.used):
            return np.int64(-1)
        tree_packets = (packets - i + trees - 1) // trees
        if tree_packets > 0:
            steps = max(steps, tree_packets - 1 + height)
    return steps


# ---------------------------------------------------------------- steps on one tree, and a lower bound for every schedule


@block
def single_tree_and_bound(n, packets, source, fault):
    """Return the steps on one tree (binomial without a faulty node, else shortest-path), and a lower bound for every schedule.

    The tree is as high as the distance of the farthest node (S10).  For the bound, the last of M packets to leave the source s
    leaves in step ceil(M / deg s) or later, and must still go to the farthest node, because every node receives every packet.
    Node v receives nothing before step dist(s, v), and at most deg v packets per step from then on.  One faulty node makes no
    path longer: nodes at distance two or more have several shortest paths without common inner nodes.
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
    workspace = broadcast_workspace_for(n)
    for v in range(workspace.used.size):
        workspace.used[v] = 0
    is_sound = True
    for i in range(n - 1):
        root = _write_light_tree(n, i, source, fault, workspace.dims, workspace.parent, pivoted)
        heights[i] = _tree_height(workspace.parent, root, fault)
        is_sound &= heights[i] >= 0 and _claim_links(workspace.parent, workspace.used)
    return is_sound
