"""PRACTICAL routing in dual-cubes on lazily drawn statuses: the fast form, one route at a time (reading B7).

Works on labels throughout: a cluster's dimensions are bits of the label, the cross edge flips bit 2m, and no
memory depends on 2^m.  It takes the same path as the algorithm of the reading but asks other statuses: of a tree's
node everything at once, because eight hashes in a vector cost what one does and each answer that is waited for, and
mispredicted, costs more; and nothing that the reading's order asks in vain:

- walks (HYP) are only ever tried towards nonfaulty targets, because one towards a faulty target fails;
- the last hop of a walk then needs no question;
- while a walk grows a tree, every wanted neighbour of every tree node is faulty, or it would have moved: trees
  live in the dimensions that are free and not wanted;
- once a target is known to have no nonfaulty neighbour in its cluster, walks to it from other nodes are not tried.

Three of these skip walks that cannot succeed but that, in the reading's order, might stop the whole route by
the tree limit (B10).  That needs a tree of 2^14 nodes all of whose 2^13 inner wanted neighbours are faulty while
each has a nonfaulty child: below 10^-1000 at every rate and m.  :mod:`lookups` keeps the reading's order
to the letter, counts the statuses it asks, and is what one-instance routing uses.
Routes there take longer by a factor of 1.6 at m = 5, rate 0.1, of 2.8 at m = 10, rate 0.3, and of 4.4 at m = 30, rate 0.3, so
neither can serve for the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.paths import make_first_nonfaulty
from ..draws.nodes import status, status_lanes
from ..machine import simd
from ..machine.array_types import U64
from ..machine.bits import ONE, ZERO, highest, highest_bit
from ..machine.jit import block
from .routing import EXHAUSTED, LIMIT, WALK_TREE, make_router
from .trees import LIMIT_NODES, SINGLE, append_path_down, make_tree_grower, node_offset, set_untried_dims, start_tree

# Lanes of _ways: five dimensions; u', v and v'.
_DIMS, _EXIT_BITS = np.uint64(0x1F), np.uint64(0xE0)
# Dimensions in a window; typed for the reason that BEFORE is in trees.
_FIVE, _EIGHT = np.int64(5), np.int64(8)


class DualCubeStatus(NamedTuple):
    """Which nodes of which dual-cube are nonfaulty."""

    key: U64  #: status key of the trial
    limit: U64  #: ``nodes.threshold`` of the failure rate
    m: U64


@block(always=True)
def is_nonfaulty(world, label):
    """Whether a node is nonfaulty."""
    return status(world.key, label) >= world.limit


_first_nonfaulty = make_first_nonfaulty(is_nonfaulty)
_grow_tree = make_tree_grower(_first_nonfaulty)


@block(always=True)
def _nonfaulty_bits(world, node, pattern):
    """Which of eight labels, ``node`` xor the lanes of ``pattern``, are nonfaulty, as bits."""
    there = simd.splat(node) ^ pattern
    return simd.bits(simd.splat(world.limit) <= status_lanes(simd.splat(world.key), there))


@block(always=True)
def _dimension_window(dims, most):
    """The number of the lowest of ``most`` neighbouring dimensions that include the first of ``dims``, and the eight
    from there on as lanes."""
    low = np.uint64(max(highest(dims) - most + 1, 0))
    one = simd.splat(ONE << low)
    return low, one << simd.iota(one)


@block(always=True)
def _first_wanted(world, node, want, near, nonfaulty):
    """The first of ``want`` across which ``node`` has a nonfaulty neighbour, 0 for none; ``near``: they are in
    ``is_nonfaulty``."""
    if near:
        return highest_bit(nonfaulty & want) if nonfaulty & want else ZERO
    return _first_nonfaulty(world, node, want)


@block(always=True)
def _grow_towards(world, a, want, dims, near, trees):
    """Grow the tree of ``a`` along ``dims`` until a node has a nonfaulty neighbour across one of ``want``.

    Returns that node's index (EXHAUSTED or LIMIT for none) and the dimension.  One vector asks of a node the first of
    its ``dims``, and all of ``want`` if they are ``near``.
    """
    low, window = _dimension_window(dims | want if near else dims, _EIGHT)
    unasked = (ONE << low) - ONE
    start_tree(WALK_TREE, dims & (_nonfaulty_bits(world, a, window) << low | unasked), trees)
    n = SINGLE
    while n < LIMIT_NODES:
        if not _grow_tree(WALK_TREE, n, world, a, ONE << low, trees):
            return EXHAUSTED, ZERO
        for i in range(n, 2 * n):
            offset = node_offset(WALK_TREE, i, trees)
            nonfaulty = _nonfaulty_bits(world, a ^ offset, window) << low
            d = _first_wanted(world, a ^ offset, want, near, nonfaulty)
            if d:
                return i, d
            set_untried_dims(WALK_TREE, i, dims & (nonfaulty | unasked) & ~offset, trees)
        n *= 2
    return LIMIT, ZERO


@block
def append_hyp_path(world, a, b, free, at, room):
    """HYP(a, b) for nonfaulty ``b``; appends the nodes after ``a`` and returns the new length, EXHAUSTED or LIMIT."""
    low, window = _dimension_window(free, _EIGHT)
    near = free & ((ONE << low) - ONE) == ZERO
    nonfaulty = ZERO
    while True:
        want = a ^ b
        if want & (want - np.uint64(1)) == ZERO:
            if want:
                room.path[at] = b
                at += 1
            return at
        if near:
            nonfaulty = _nonfaulty_bits(world, a, window) << low
        d = _first_wanted(world, a, want, near, nonfaulty)
        if d == ZERO:
            if free == want:
                return EXHAUSTED
            i, d = _grow_towards(world, a, want, free ^ want, near, room.trees)
            if i < 0:
                return i
            at = append_path_down(WALK_TREE, i, a, at, room)
            a ^= node_offset(WALK_TREE, i, room.trees)
        a ^= d
        free ^= d
        room.path[at] = a
        at += 1


@block(always=True)
def _exit_pattern(dims, apart, cross):
    """What to ask of each node of a tree, as lanes: five neighbouring dimensions, the first of ``dims`` among them, then
    u', v and v'; and the number of the lowest dimension."""
    low, lanes = _dimension_window(dims, _FIVE)
    lanes = simd.select(simd.mask(lanes, np.uint64(0x20)), simd.splat(cross), lanes)
    lanes = simd.select(simd.mask(lanes, np.uint64(0x40)), simd.splat(apart), lanes)
    return low, simd.select(simd.mask(lanes, np.uint64(0x80)), simd.splat(apart ^ cross), lanes)


@block(always=True)
def next_exit(exits, i, n, world, trees):
    """The next node u after ``i`` in the order of a tree of ``n`` nodes with u', v and v' nonfaulty (see ``Exits``).

    Returns the node's index
    and the tree's nodes now, or EXHAUSTED or LIMIT in place of the index.  All of a level is asked before any of it
    is looked at: hashes that do not depend on each other overlap.
    """
    tree, root, dims = exits.tree, exits.root, exits.dims
    low, pattern = _exit_pattern(dims, exits.apart, ONE << (world.m + world.m))
    first = i + 1
    while True:
        found = n
        for j in range(n - 1, first - 1, -1):
            offset = node_offset(tree, j, trees)
            nonfaulty = _nonfaulty_bits(world, root ^ offset, pattern)
            refused = ((nonfaulty ^ _DIMS) & _DIMS) << low
            set_untried_dims(tree, j, dims & ~(offset | refused), trees)
            found = j if nonfaulty >= _EXIT_BITS else found
        if found < n:
            return found, n
        if n == LIMIT_NODES:
            return LIMIT, n
        if not _grow_tree(tree, n, world, root, ONE << low, trees):
            return EXHAUSTED, n
        first = n
        n *= 2


route = make_router(next_exit, append_hyp_path, first=_first_nonfaulty)
