"""Binomial trees inside one cluster of a dual-cube (Li, Peng & Chu, readings B2, B7).

A tree's nodes are kept as offsets (label xor root) in insertion order.  Because T_{k+1} adds exactly one child
to every node of T_k, node ``2^k + i`` is the child of node ``i``: parents are index arithmetic, and the offset
itself is the set of dimensions crossed on the way from the root.  Beside each node stands the set of dimensions
not yet tried there.  One refused (its far end is faulty, or in the tree) stays refused, so none need be
asked of twice while the tree grows.

Several trees live side by side in one flat array, each at its own base; ``route_workspace_for`` makes it.
Dimensions are single bits of a label, and dimension order is from the most significant bit down.  Where statuses
come from is the caller's: ``growing(first)`` makes the function that grows a tree from ``first(world, node, dims)``,
which gives the first of ``dims`` across which ``node`` has a nonfaulty neighbour (0 for none).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.labels import find_slot
from ..machine import simd
from ..machine.array_types import Words
from ..machine.bits import ZERO, highest_bit, lowest
from ..machine.jit import block, scratch

#: B10: nodes at which a tree stops.
LIMIT_NODES = 2**14

# A tree's part of the array: offsets, untried dimensions, membership table.  A cache line more than a power of two
# apart, so that what is kept of one node does not compete for one place in the cache (3% of a trial).
_UNTRIED_OFFSET = LIMIT_NODES + 8
_TABLE_OFFSET = 2 * _UNTRIED_OFFSET
_MOST_SLOTS = 2 * LIMIT_NODES

#: Bases are this far apart.
STRIDE = _TABLE_OFFSET + _MOST_SLOTS

#: Where a tree's loop starts: before its root, at it, and with it as the only node.  Typed, as are the numbers of
#: trees: for a plain 1 numba compiles its callee a second time, for the literal (the trials' kernel: 139 functions
#: and 27 s with them, 84 and 12 s without).
BEFORE_ROOT, ROOT, SINGLE = np.int64(-1), np.int64(0), np.int64(1)

#: No dimension is known to be that of a nonfaulty neighbour.
UNKNOWN = np.uint64(2**63)


class RouteWorkspace(NamedTuple):
    """What a route works in, made by :func:`route_workspace_for`; contents do not matter."""

    path: Words  #: nodes of the route so far
    trees: Words  #: nodes of the trees, side by side


@scratch
def route_workspace_for(nodes, trees):
    """Room for a path of so many nodes and for so many trees."""
    return RouteWorkspace(np.zeros(nodes, np.uint64), np.zeros(trees * STRIDE, np.uint64))


@block(always=True)
def start_tree(tree, dims, trees):
    """Start tree number ``tree`` as T_0, to grow along ``dims``."""
    trees[tree * STRIDE] = ZERO
    trees[tree * STRIDE + _UNTRIED_OFFSET] = dims


@block(always=True)
def node_offset(tree, i, trees):
    """Label of node ``i`` xor that of the root."""
    return trees[tree * STRIDE + i]


@block(always=True)
def _table_slots(n):
    """Slots of the membership table while T_k of ``n`` nodes grows: the same for odd k and k + 1, and mostly >= 8n."""
    return min(n << (3 + (lowest(np.uint64(n)) & 1)), _MOST_SLOTS)


@block
def _make_table(base, n, slots, trees):
    """Put nodes 1 .. n - 1 into an empty table."""
    for i in range(0, slots, 8):
        simd.store(trees, base + _TABLE_OFFSET + i, simd.splat(ZERO))
    for i in range(base + 1, base + n):
        trees[find_slot(trees, base + _TABLE_OFFSET, slots, trees[i])] = trees[i]


def make_tree_grower(first):
    """The function that grows a tree by one level, with statuses from ``first`` (a :func:`jit.block`).

    A factory and not an argument: numba cannot cache a kernel that passes a function as a value.
    """

    @block(always=True)
    def grow_tree(tree, n, world, root, known, trees):
        """Make T_{k+1} of T_k, which has ``n`` nodes; False when a node has no admissible child (B2), then and ever after.

        Untried dimensions from ``known`` on, a single bit, are taken for those of nonfaulty neighbours.  The caller
        gives the new nodes their untried dimensions if it goes on growing.
        """
        base = tree * STRIDE
        slots = _table_slots(n)
        if lowest(np.uint64(n)) & 1:
            _make_table(base, n, slots, trees)
        for i in range(base, base + n):
            offset = trees[i]
            dims = trees[i + _UNTRIED_OFFSET]
            while True:
                d = highest_bit(dims) if dims >= known else first(world, root ^ offset, dims)
                if d == ZERO:
                    trees[i + _UNTRIED_OFFSET] = ZERO
                    return False
                dims &= d - np.uint64(1)
                child = offset | d
                if n == 1:
                    break
                place = find_slot(trees, base + _TABLE_OFFSET, slots, child)
                if trees[place] == ZERO:
                    trees[place] = child
                    break
            trees[i + _UNTRIED_OFFSET] = dims
            trees[i + n] = child
        return True

    return grow_tree


@block(always=True)
def set_untried_dims(tree, i, dims, trees):
    """Give node ``i`` its untried dimensions."""
    trees[tree * STRIDE + i + _UNTRIED_OFFSET] = dims


@block(always=True)
def set_children_untried_dims(tree, n, dims, trees):
    """Give nodes n .. 2n - 1, just grown, all of ``dims`` that are not on their path from the root."""
    base = tree * STRIDE
    for i in range(base + n, base + 2 * n):
        trees[i + _UNTRIED_OFFSET] = dims & ~trees[i]


@block(always=True)
def parent_of(i):
    """Index of the parent of node ``i`` > 0: ``i`` without its highest bit."""
    return i ^ np.int64(highest_bit(np.uint64(i)))


@block(always=True)
def append_path_down(tree, i, root, at, room):
    """Append the nodes after the root on the way to node ``i`` to ``room.path``; returns the new length."""
    rest = np.uint64(i)
    node = ZERO
    while rest:
        node |= rest & (~rest + np.uint64(1))
        room.path[at] = root ^ node_offset(tree, np.int64(node), room.trees)
        at += 1
        rest &= rest - np.uint64(1)
    return at


@block(always=True)
def append_path_up(tree, i, root, at, room):
    """Append node ``i``'s proper ancestors, its parent first and the root last; returns the new length."""
    while i > 0:
        i = parent_of(i)
        room.path[at] = root ^ node_offset(tree, i, room.trees)
        at += 1
    return at
