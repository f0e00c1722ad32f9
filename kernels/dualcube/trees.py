"""Binomial trees inside one cluster of a dual-cube (Li, Peng & Chu, interpretations B2 and B7).

The binomial tree T_k has 2^k nodes.  A tree is stored as the offsets of its nodes (label xor root) in insertion order.  T_{k+1}
adds exactly one child to every node of T_k, so node ``2^k + i`` is the child of node ``i`` and the offset is the set of
dimensions crossed on the way from the root.  Each node also has a set of dimensions not yet tried.  A refused dimension (its far
end is faulty, or in the tree) stays refused, so no dimension is queried twice while the tree grows.

Several trees share one flat array from ``route_workspace_for``, STRIDE entries apart.  Dimensions are single bits of a label, and
dimension order is from the most significant bit down.  ``make_tree_grower(first)`` makes the function that grows a tree.  Its
argument ``first(world, node, dims)`` returns the first of ``dims`` across which ``node`` has a nonfaulty neighbour, or 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.labels import find_slot
from ..machine import simd
from ..machine.array_types import Words
from ..machine.bits import ZERO, highest_bit, lowest
from ..machine.jit import block, scratch

#: Largest number of nodes of a tree (B10).
LIMIT_NODES = 2**14

# Sections of a tree in the array: offsets (from 0 on), untried dimensions, and a hash table of the offsets in the tree.  They
# begin a power of two plus one cache line apart, so that the data of one node do not map to one place in the cache (3% of a
# trial).
_UNTRIED_OFFSET = LIMIT_NODES + 8
_TABLE_OFFSET = 2 * _UNTRIED_OFFSET
_MOST_SLOTS = 2 * LIMIT_NODES

#: Entries of the array per tree.
STRIDE = _TABLE_OFFSET + _MOST_SLOTS

#: Where a tree's loop starts: before its root, at its root, or with the root as the only node.  These constants and the tree
#: numbers are typed, because numba compiles a callee again for a literal 1 (the trials' kernel: 139 functions and 27 s with
#: literals, 84 and 12 s without).
BEFORE_ROOT, ROOT, SINGLE = np.int64(-1), np.int64(0), np.int64(1)

#: Value of ``known`` in ``grow_tree`` if no dimension is known to lead to a nonfaulty neighbour.
UNKNOWN = np.uint64(2**63)


class RouteWorkspace(NamedTuple):
    """Scratch memory of one route at a time."""

    path: Words  #: nodes of the route so far
    trees: Words  #: the trees, STRIDE entries each; tree number i begins at i STRIDE, with the sections above


@scratch
def route_workspace_for(nodes, trees):
    """Return scratch memory for a path of up to ``nodes`` nodes and for a number of trees."""
    return RouteWorkspace(np.zeros(nodes, np.uint64), np.zeros(trees * STRIDE, np.uint64))


@block(always=True)
def start_tree(tree, dims, trees):
    """Start tree number ``tree`` as T_0, to grow along ``dims``."""
    trees[tree * STRIDE] = ZERO
    trees[tree * STRIDE + _UNTRIED_OFFSET] = dims


@block(always=True)
def node_offset(tree, i, trees):
    """Return the label of node ``i`` xor the root."""
    return trees[tree * STRIDE + i]


@block(always=True)
def _table_slots(n):
    """Return the slots of the membership table for T_k of n = 2^k nodes: 8n, doubled for odd k, at most ``_MOST_SLOTS``.

    T_k and T_{k+1} have the same number of slots for odd k, so a table is made when k is odd, and used for two levels.
    """
    return min(n << (3 + (lowest(np.uint64(n)) & 1)), _MOST_SLOTS)


@block
def _make_table(base, n, slots, trees):
    """Clear the membership table and insert nodes 1 .. n - 1."""
    for i in range(0, slots, 8):
        simd.store(trees, base + _TABLE_OFFSET + i, simd.splat(ZERO))
    for i in range(base + 1, base + n):
        trees[find_slot(trees, base + _TABLE_OFFSET, slots, trees[i])] = trees[i]


def make_tree_grower(first):
    """Return the function that grows a tree by one level, with statuses from ``first`` (a ``jit.block``).

    A factory is needed because numba cannot cache a kernel that passes a function as a value.
    """

    @block(always=True)
    def grow_tree(tree, n, world, root, known, trees):
        """Extend T_k, which has ``n`` nodes, to T_{k+1}; return False if a node has no admissible child (B2), now or later.

        A child is admissible if it is nonfaulty and not in the tree.  After False a later call returns False too.

        Untried dimensions from the single bit ``known`` upwards are taken to lead to nonfaulty neighbours.  If the tree is to
        grow further, the caller sets the untried dimensions of the new nodes.
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
                slot = find_slot(trees, base + _TABLE_OFFSET, slots, child)
                if trees[slot] == ZERO:  # the child is not in the tree
                    trees[slot] = child
                    break
            trees[i + _UNTRIED_OFFSET] = dims
            trees[i + n] = child
        return True

    return grow_tree


@block(always=True)
def set_untried_dims(tree, i, dims, trees):
    """Set the untried dimensions of node ``i``."""
    trees[tree * STRIDE + i + _UNTRIED_OFFSET] = dims


@block(always=True)
def set_children_untried_dims(tree, n, dims, trees):
    """Set the untried dimensions of the new nodes n .. 2n - 1 to ``dims`` without those on the path from the root."""
    base = tree * STRIDE
    for i in range(base + n, base + 2 * n):
        trees[i + _UNTRIED_OFFSET] = dims & ~trees[i]


@block(always=True)
def parent_of(i):
    """Return the index of the parent of node ``i`` > 0: ``i`` without its highest bit."""
    return i ^ np.int64(highest_bit(np.uint64(i)))


@block(always=True)
def append_path_down(tree, i, root, size, workspace):
    """Append the nodes after the root on the way to node ``i`` to the path of ``size`` nodes, and return its new size.

    Each prefix of the set bits of ``i``, from the lowest on, is the index of a node on that way.
    """
    rest = np.uint64(i)
    prefix = ZERO
    while rest:
        prefix |= rest & (~rest + np.uint64(1))
        workspace.path[size] = root ^ node_offset(tree, np.int64(prefix), workspace.trees)
        size += 1
        rest &= rest - np.uint64(1)
    return size


@block(always=True)
def append_path_up(tree, i, root, size, workspace):
    """Append the proper ancestors of node ``i``, parent first and root last, and return the new size of the path."""
    while i > 0:
        i = parent_of(i)
        workspace.path[size] = root ^ node_offset(tree, i, workspace.trees)
        size += 1
    return size
