"""PRACTICAL routing in dual-cubes, one route at a time and fast; node statuses are hashes computed on demand (B7).

``make_router`` documents the terms: walk, HYP, exit, u', v and v'.  A walk's *wanted* dimensions are those in which its current
node differs from its target, and its *free* dimensions those that it may still use.  A free dimension that is not wanted leads
off the straight way and has to be crossed back.

The code works on labels.  The dimensions of a cluster are bits of the label, and the cross edge flips bit 2m, so memory does not
grow with 2^m.  The path is that of the interpretation, but other statuses are queried.  Up to eight neighbours of a tree node, in
a *window* of consecutive dimensions (five at exits), are queried at once, because eight hashes in a vector cost as much as one
and a branch on each answer costs more.  Queries that cannot change the path are left out:

- walks (HYP) are only tried towards nonfaulty targets, because a walk towards a faulty target fails;
- so the last hop of a walk needs no query;
- while a walk grows a tree, every wanted neighbour of every tree node is faulty, or the walk would have moved there:
  trees use only dimensions that are free and not wanted;
- once a target is known to have no nonfaulty neighbour in its cluster, walks to it from other nodes are not tried.

The first and the last of these rules skip walks that cannot succeed, but that might reach the tree limit (B10) and so end the
whole route.  That needs a tree of 2^14 nodes whose 2^13 inner nodes have only faulty wanted neighbours and a nonfaulty child
each.  Its probability is below 10^-1000 at every rate and m.  ``lookups`` keeps the order of the interpretation, counts queries
and routes single instances.  It is slower by a factor of 1.6 at m = 5, rate 0.1, of 2.8 at m = 10, rate 0.3, and of 4.4 at m =
30, rate 0.3, so both forms are needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.paths import make_first_nonfaulty
from ..draws.statuses import status, status_lanes
from ..machine import simd
from ..machine.array_types import U64
from ..machine.bits import ONE, ZERO, highest, highest_bit
from ..machine.jit import block
from .routing import EXHAUSTED, LIMIT, WALK_TREE, make_router
from .trees import LIMIT_NODES, SINGLE, append_path_down, make_tree_grower, node_offset, set_untried_dims, start_tree

# Bits of the lanes of ``_exit_pattern``: five dimensions, then u', v and v'.
_DIMS, _EXIT_BITS = np.uint64(0x1F), np.uint64(0xE0)
# Numbers of dimensions in a window; typed for the same reason as ``trees.BEFORE_ROOT``.
_FIVE, _EIGHT = np.int64(5), np.int64(8)


class DualCubeStatus(NamedTuple):
    """The faulty nodes of a dual-cube, given by a key and a threshold."""

    key: U64  #: status key of the trial
    limit: U64  #: ``nodes.threshold`` of the failure rate
    m: U64  #: dimension of a cluster


@block(always=True)
def is_nonfaulty(world, label):
    """Whether the node ``label`` is nonfaulty."""
    return status(world.key, label) >= world.limit


_first_nonfaulty = make_first_nonfaulty(is_nonfaulty)
_grow_tree = make_tree_grower(_first_nonfaulty)


@block(always=True)
def _nonfaulty_bits(world, node, pattern):
    """Return a mask of eight bits: bit i is set if the node ``node`` xor lane i of ``pattern`` is nonfaulty."""
    there = simd.splat(node) ^ pattern
    return simd.bits(simd.splat(world.limit) <= status_lanes(simd.splat(world.key), there))


@block(always=True)
def _dimension_window(dims, most):
    """Return the lowest of ``most`` consecutive dimensions that include the highest of ``dims``, and a vector of dimensions.

    Lane i of the vector is the bit of the i-th dimension from the lowest on, for eight dimensions.
    """
    low = np.uint64(max(highest(dims) - most + 1, 0))
    one = simd.splat(ONE << low)
    return low, one << simd.iota(one)


@block(always=True)
def _first_wanted(world, node, want, in_window, nonfaulty):
    """Return the first dimension of ``want`` across which ``node`` has a nonfaulty neighbour, or 0.

    With ``in_window`` the mask ``nonfaulty`` of the window's dimensions answers this without a query, for it contains all of
    ``want``.
    """
    if in_window:
        return highest_bit(nonfaulty & want) if nonfaulty & want else ZERO
    return _first_nonfaulty(world, node, want)


@block(always=True)
def _grow_towards(world, a, want, dims, in_window, trees):
    """Grow the tree of ``a`` along ``dims`` until a node has a nonfaulty neighbour across a dimension of ``want``.

    Returns the index of that node (or EXHAUSTED or LIMIT) and the dimension.  One window per node covers the first of its
    ``dims``, and with ``in_window`` all of ``want``.  Dimensions below the window stay untried until ``_grow_tree`` queries them.
    """
    low, window = _dimension_window(dims | want if in_window else dims, _EIGHT)
    unqueried = (ONE << low) - ONE  # dimensions below the window
    start_tree(WALK_TREE, dims & (_nonfaulty_bits(world, a, window) << low | unqueried), trees)
    n = SINGLE
    while n < LIMIT_NODES:
        if not _grow_tree(WALK_TREE, n, world, a, ONE << low, trees):
            return EXHAUSTED, ZERO
        for i in range(n, 2 * n):
            offset = node_offset(WALK_TREE, i, trees)
            nonfaulty = _nonfaulty_bits(world, a ^ offset, window) << low
            d = _first_wanted(world, a ^ offset, want, in_window, nonfaulty)
            if d:
                return i, d
            set_untried_dims(WALK_TREE, i, dims & (nonfaulty | unqueried) & ~offset, trees)
        n *= 2
    return LIMIT, ZERO


@block
def append_hyp_path(world, a, b, free, size, workspace):
    """Append the nodes after ``a`` of HYP(a, b), ``b`` nonfaulty, to the path; return the new size, EXHAUSTED or LIMIT."""
    low, window = _dimension_window(free, _EIGHT)
    in_window = free & ((ONE << low) - ONE) == ZERO  # whether one window covers all free dimensions
    nonfaulty = ZERO
    while True:
        want = a ^ b
        if want & (want - np.uint64(1)) == ZERO:
            if want:
                workspace.path[size] = b
                size += 1
            return size
        if in_window:
            nonfaulty = _nonfaulty_bits(world, a, window) << low
        d = _first_wanted(world, a, want, in_window, nonfaulty)
        if d == ZERO:
            if free == want:
                return EXHAUSTED
            i, d = _grow_towards(world, a, want, free ^ want, in_window, workspace.trees)
            if i < 0:
                return i
            size = append_path_down(WALK_TREE, i, a, size, workspace)
            a ^= node_offset(WALK_TREE, i, workspace.trees)
        a ^= d
        free ^= d
        workspace.path[size] = a
        size += 1


@block(always=True)
def _exit_pattern(dims, difference, cross):
    """Return the lowest of five consecutive dimensions and the vector of label changes to query at each node of a tree.

    The lanes are the five dimensions, which include the first of ``dims``, then the steps to u', v and v'.
    """
    low, lanes = _dimension_window(dims, _FIVE)
    lanes = simd.select(simd.mask(lanes, np.uint64(0x20)), simd.splat(cross), lanes)
    lanes = simd.select(simd.mask(lanes, np.uint64(0x40)), simd.splat(difference), lanes)
    return low, simd.select(simd.mask(lanes, np.uint64(0x80)), simd.splat(difference ^ cross), lanes)


@block(always=True)
def next_exit(exits, i, n, world, trees):
    """Return the index of the next node u after ``i`` of a tree of ``n`` nodes with u', v and v' nonfaulty (see ``ExitTree``).

    Returns EXHAUSTED or LIMIT in place of the index if there is none, and the number of nodes that the tree has then.  All nodes
    of a level are queried before the first result is used, so that independent hashes overlap, from the last node to the first,
    so that the first exit remains.
    """
    tree, root, dims = exits.tree, exits.root, exits.dims
    low, pattern = _exit_pattern(dims, exits.difference, ONE << (world.m + world.m))
    first = i + 1
    while True:
        found = n  # no node has this index
        for j in range(n - 1, first - 1, -1):
            offset = node_offset(tree, j, trees)
            nonfaulty = _nonfaulty_bits(world, root ^ offset, pattern)
            refused = (~nonfaulty & _DIMS) << low
            set_untried_dims(tree, j, dims & ~(offset | refused), trees)
            found = j if nonfaulty >= _EXIT_BITS else found  # the three highest bits are set
        if found < n:
            return found, n
        if n == LIMIT_NODES:
            return LIMIT, n
        if not _grow_tree(tree, n, world, root, ONE << low, trees):
            return EXHAUSTED, n
        first = n
        n *= 2


route = make_router(next_exit, append_hyp_path, find_first=_first_nonfaulty)
