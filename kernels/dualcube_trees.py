"""Binomial trees inside one cluster of a dual-cube (Li, Peng & Chu, readings B2, B7).

A tree's nodes are kept as offsets (label xor root) in insertion order.  Because T_{k+1} adds exactly one child
to every node of T_k, node ``2^k + i`` is the child of node ``i``: parents are index arithmetic, and the offset
itself is the set of dimensions crossed on the way from the root.  Beside each node stands the set of dimensions
not yet tried there.  One refused (its far end is faulty, or in the tree) stays refused, so no status is asked
twice for the same node and dimension while the tree grows.

Several trees live side by side in three flat arrays, each at its own base; ``scratch`` makes the arrays.
Dimensions are single bits of a label, and dimension order is from the most significant bit down.  Where statuses
come from is the caller's: ``growing(first)`` makes the function that grows a tree from ``first(world, node, dims)``,
which gives the first of ``dims`` across which ``node`` has a nonfaulty neighbour (0 for none).
"""

from __future__ import annotations

import numpy as np

from . import simd
from .bits import ZERO, top
from .jit import inline, lean

#: B10: nodes at which a tree stops.
LIMIT_NODES = 2**14

#: Bases are this far apart: a tree's nodes, and one vector that may be read past the end.
STRIDE = LIMIT_NODES + 8

#: Where a tree's loop starts: before its root, at it, and with it as the only node.  Typed, as are the numbers of
#: trees: for a plain 1 numba compiles its callee a second time, for the literal (the trials' kernel: 139 functions
#: and 27 s with them, 84 and 12 s without).
BEFORE, ROOT, SINGLE = np.int64(-1), np.int64(0), np.int64(1)

# From this many nodes on, membership is a table; below, a scan of at most 8 (later 16) vectors is faster.
_TABLE_FROM = 64
_TABLE_STRIDE = 2 * LIMIT_NODES
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_40 = np.uint64(40)


@inline
def scratch(trees):
    """Arrays for a number of trees: offsets, untried dimensions, membership tables (uint64)."""
    return (
        np.zeros(trees * STRIDE, np.uint64),
        np.zeros(trees * STRIDE, np.uint64),
        np.zeros(trees * _TABLE_STRIDE, np.uint64),
    )


@lean
def plant(tree, dims, offsets, untried):
    """Start tree number ``tree`` as T_0, to grow along ``dims``."""
    offsets[tree * STRIDE] = ZERO
    untried[tree * STRIDE] = dims


@lean
def _scan(offset, base, count, offsets):
    """Is ``offset`` among the ``count`` entries from ``base``?"""
    wanted = simd.splat(offset)
    for i in range(0, count, 8):
        hits = simd.bits(simd.equal(simd.load(offsets, base + i), wanted))
        if hits and (count - i >= 8 or hits & ((np.uint64(1) << np.uint64(count - i)) - np.uint64(1))):
            return True
    return False


@lean
def _find(offset, base, mask, table):
    """Place of ``offset`` in an open-addressing table, or the empty place where it belongs (0 is empty)."""
    place = ((offset * _SPREAD) >> _40) & mask
    while table[base + np.int64(place)] != ZERO and table[base + np.int64(place)] != offset:
        place = (place + np.uint64(1)) & mask
    return base + np.int64(place)


def growing(first):
    """The function that grows a tree by one level, with statuses from ``first`` (a :func:`jit.lean` function).

    A factory and not an argument: numba cannot cache a kernel that passes a function as a value.
    """

    @lean
    def grow(tree, n, world, root, offsets, untried, table):
        """Make T_{k+1} of T_k, which has ``n`` nodes; False when a node has no admissible child (B2).

        The caller gives the new nodes their untried dimensions (:func:`open_children`) if it goes on growing.
        """
        base = tree * STRIDE
        tabled = n >= _TABLE_FROM
        table_base = tree * _TABLE_STRIDE
        mask = np.uint64(4 * n - 1 if 4 * n < _TABLE_STRIDE else _TABLE_STRIDE - 1)
        if tabled:
            table[table_base : table_base + np.int64(mask) + 1] = ZERO
            for i in range(1, n):
                table[_find(offsets[base + i], table_base, mask, table)] = offsets[base + i]
        for i in range(n):
            offset = offsets[base + i]
            dims = untried[base + i]
            child = ZERO
            place = 0
            while True:
                d = first(world, root ^ offset, dims)
                if d == ZERO:
                    return False
                dims &= d - np.uint64(1)
                child = offset | d
                if n == 1:
                    break
                if tabled:
                    place = _find(child, table_base, mask, table)
                    if table[place] == ZERO:
                        break
                elif not _scan(child, base, n + i, offsets):
                    break
            untried[base + i] = dims
            offsets[base + n + i] = child
            if tabled:
                table[place] = child
        return True

    return grow


@lean
def open_children(tree, n, dims, offsets, untried):
    """Give nodes n .. 2n - 1, just grown, all of ``dims`` that are not on their path from the root."""
    base = tree * STRIDE
    for i in range(base + n, base + 2 * n):
        untried[i] = dims & ~offsets[i]


@lean
def parent(i):
    """Index of the parent of node ``i`` > 0: ``i`` without its highest bit."""
    return i ^ np.int64(top(np.uint64(i)))


@lean
def walk_down(tree, i, root, offsets, path, at):
    """Append the nodes after the root on the way to node ``i`` to ``path``; returns the new length."""
    rest = np.uint64(i)
    node = ZERO
    while rest:
        node |= rest & (~rest + np.uint64(1))
        path[at] = root ^ offsets[tree * STRIDE + np.int64(node)]
        at += 1
        rest &= rest - np.uint64(1)
    return at


@lean
def walk_up(tree, i, root, offsets, path, at):
    """Append node ``i``'s proper ancestors, its parent first and the root last; returns the new length."""
    while i > 0:
        i = parent(i)
        path[at] = root ^ offsets[tree * STRIDE + i]
        at += 1
    return at
