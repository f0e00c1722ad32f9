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
each has a nonfaulty child: below 10^-1000 at every rate and m.  :mod:`dualcube_lookups` keeps the reading's order
to the letter, counts the statuses it asks, and is what one-instance routing uses.
"""

from __future__ import annotations

import numpy as np

from .. import simd
from ..bits import ZERO, highest, top
from ..jit import block
from ..sampling import status, status_lanes
from .trees import BEFORE, LIMIT_NODES, SINGLE, growing, node_offset, open_node, plant, walk_down, walk_up

#: Results of a route other than the number of nodes of its path.
EXHAUSTED = -1  #: the algorithm has nothing left to try
LIMIT = -2  #: a tree would grow past LIMIT_NODES

# Which tree is whose.
_WALK, EXITS, _BACK, CLUSTER = np.int64(0), np.int64(1), np.int64(2), np.int64(3)
TREES = 4

_ONE = np.uint64(1)

# Lanes of _ways: five dimensions; u', v and v'.
_DIMS, _WAY = np.uint64(0x1F), np.uint64(0xE0)
# Dimensions in a window; typed for the reason that BEFORE is in dualcube_trees.
_FIVE, _EIGHT = np.int64(5), np.int64(8)

# What is known of a target: can it be entered from its own cluster?
_UNKNOWN, _ISOLATED, _OPEN = np.int64(0), np.int64(1), np.int64(2)

#: Nodes that a path can have before loops are erased: two trees' depths and four walks of at most 30 steps of at most 15 nodes.
PATH_NODES = 2048


@block(always=True)
def healthy(world, label):
    """Whether a node is nonfaulty; ``world`` is (status key, threshold)."""
    return status(world[0], label) >= world[1]


@block(always=True)
def first_healthy(world, node, dims):
    """First of ``dims``, in dimension order, across which ``node`` has a nonfaulty neighbour; 0 for none."""
    while dims:
        d = top(dims)
        if healthy(world, node ^ d):
            return d
        dims ^= d
    return ZERO


_grow = growing(first_healthy)


@block(always=True)
def _ask(world, node, pattern):
    """Which of eight labels, ``node`` xor the lanes of ``pattern``, are nonfaulty, as bits."""
    there = simd.xor(simd.splat(node), pattern)
    return simd.bits(simd.less_equal(simd.splat(world[1]), status_lanes(simd.splat(world[0]), there)))


@block(always=True)
def position_dims(label, m):
    """The dimensions of the label's cluster: bits 2m-1 .. m for class 1, m-1 .. 0 for class 0."""
    low = (np.uint64(1) << m) - np.uint64(1)
    return low << m if label >> (m + m) else low


@block(always=True)
def _window(dims, most):
    """The number of the lowest of ``most`` neighbouring dimensions that include the first of ``dims``, and the eight
    from there on as lanes."""
    low = np.uint64(max(highest(dims) - most + 1, 0))
    one = simd.splat(_ONE << low)
    return low, simd.shift_left(one, simd.iota(one))


@block(always=True)
def _wanted(world, node, want, near, good):
    """The first of ``want`` across which ``node`` has a nonfaulty neighbour, 0 for none; ``near``: they are in ``good``."""
    if near:
        return top(good & want) if good & want else ZERO
    return first_healthy(world, node, want)


@block(always=True)
def _grow_towards(world, a, want, dims, near, trees):
    """Grow the tree of ``a`` along ``dims`` until a node has a nonfaulty neighbour across one of ``want``.

    Returns that node's index (EXHAUSTED or LIMIT for none) and the dimension.  One vector asks of a node the first of
    its ``dims``, and all of ``want`` if they are ``near``.
    """
    low, window = _window(dims | want if near else dims, _EIGHT)
    unasked = (_ONE << low) - _ONE
    plant(_WALK, dims & (_ask(world, a, window) << low | unasked), trees)
    n = SINGLE
    while n < LIMIT_NODES:
        if not _grow(_WALK, n, world, a, _ONE << low, trees):
            return EXHAUSTED, ZERO
        for i in range(n, 2 * n):
            offset = node_offset(_WALK, i, trees)
            good = _ask(world, a ^ offset, window) << low
            d = _wanted(world, a ^ offset, want, near, good)
            if d:
                return i, d
            open_node(_WALK, i, dims & (good | unasked) & ~offset, trees)
        n *= 2
    return LIMIT, ZERO


@block
def walk(world, a, b, free, path, at, trees):
    """HYP(a, b) for nonfaulty ``b``; appends the nodes after ``a`` and returns the new length, EXHAUSTED or LIMIT."""
    low, window = _window(free, _EIGHT)
    near = free & ((_ONE << low) - _ONE) == ZERO
    good = ZERO
    while True:
        want = a ^ b
        if want & (want - np.uint64(1)) == ZERO:
            if want:
                path[at] = b
                at += 1
            return at
        if near:
            good = _ask(world, a, window) << low
        d = _wanted(world, a, want, near, good)
        if d == ZERO:
            if free == want:
                return EXHAUSTED
            i, d = _grow_towards(world, a, want, free ^ want, near, trees)
            if i < 0:
                return i
            at = walk_down(_WALK, i, a, trees, path, at)
            a ^= node_offset(_WALK, i, trees)
        a ^= d
        free ^= d
        path[at] = a
        at += 1


@block(always=True)
def _ways(dims, apart, cross):
    """What to ask of each node of a tree, as lanes: five neighbouring dimensions, the first of ``dims`` among them, then
    u', v and v'; and the number of the lowest dimension."""
    low, lanes = _window(dims, _FIVE)
    lanes = simd.select(simd.mask(lanes, np.uint64(0x20)), simd.splat(cross), lanes)
    lanes = simd.select(simd.mask(lanes, np.uint64(0x40)), simd.splat(apart), lanes)
    return low, simd.select(simd.mask(lanes, np.uint64(0x80)), simd.splat(apart ^ cross), lanes)


@block(always=True)
def next_way(tree, i, n, world, root, dims, apart, cross, trees):
    """The next node u after ``i`` in the tree's order with u', v and v' nonfaulty, where v = u ^ ``apart``.

    ``apart`` is 0 for a way out of the cluster (EXITS), else a way over to v's (TO_CLUSTER).  Returns the node's index
    and the tree's nodes now, or EXHAUSTED or LIMIT in place of the index.  All of a level is asked before any of it
    is looked at: hashes that do not depend on each other overlap.
    """
    low, pattern = _ways(dims, apart, cross)
    first = i + 1
    while True:
        found = n
        for j in range(n - 1, first - 1, -1):
            offset = node_offset(tree, j, trees)
            good = _ask(world, root ^ offset, pattern)
            refused = ((good ^ _DIMS) & _DIMS) << low
            open_node(tree, j, dims & ~(offset | refused), trees)
            found = j if good >= _WAY else found
        if found < n:
            return found, n
        if n == LIMIT_NODES:
            return LIMIT, n
        if not _grow(tree, n, world, root, _ONE << low, trees):
            return EXHAUSTED, n
        first = n
        n *= 2


@block
def to_cluster(world, a, b, dims, m, entry, path, start, trees):
    """TO_CLUSTER(a, b), ``a`` being the last node of ``path``; ``entry`` tells what is known of ``b``.

    Returns the new length (or EXHAUSTED, LIMIT) and what is known of ``b`` now.
    """
    cross = np.uint64(1) << (m + m)
    other = (cross - np.uint64(1)) ^ dims
    apart = (a ^ b) & other
    plant(CLUSTER, dims, trees)
    n = SINGLE
    i = BEFORE
    while True:
        i, n = next_way(CLUSTER, i, n, world, a, dims, apart, cross, trees)
        if i < 0:
            return i, entry
        u = a ^ node_offset(CLUSTER, i, trees)
        v = u ^ apart
        if entry == _ISOLATED and v != b:
            continue
        at = walk_down(CLUSTER, i, a, trees, path, start)
        path[at] = u ^ cross
        at = walk(world, u ^ cross, v ^ cross, other, path, at + 1, trees)
        if at >= 0:
            path[at] = v
            at = walk(world, v, b, dims, path, at + 1, trees)
            if at >= 0:
                return at, entry
            if entry == _UNKNOWN:
                entry = _OPEN if first_healthy(world, b, dims) else _ISOLATED
        if at == LIMIT:
            return at, entry


@block
def erase_loops(path, at):
    """Keep the last occurrence of each node, in place; returns the new length."""
    out = 0
    k = 0
    while k < at:
        j = at - 1
        while path[j] != path[k]:
            j -= 1
        path[out] = path[k]
        out += 1
        k = j + 1
    return out


@block
def _between_classes(world, s, t, m, path, trees):
    """PRACTICAL for nodes of different classes; returns the path's nodes (loops erased), EXHAUSTED or LIMIT."""
    cross = np.uint64(1) << (m + m)
    dims = position_dims(s, m)
    other = position_dims(t, m)
    entry = _UNKNOWN
    plant(EXITS, dims, trees)
    i = BEFORE
    n = SINGLE
    while True:
        i, n = next_way(EXITS, i, n, world, s, dims, ZERO, cross, trees)
        if i < 0:
            return i
        at = walk_down(EXITS, i, s, trees, path, SINGLE)
        a = path[at - 1] ^ cross
        path[at] = a
        head = at
        at += 1
        if (a ^ t) & dims == ZERO:
            if entry != _ISOLATED:
                at = walk(world, a, t, other, path, at, trees)
                if at >= 0 or at == LIMIT:
                    return at
                if entry == _UNKNOWN:
                    entry = _OPEN if first_healthy(world, t, other) else _ISOLATED
            elif a == t:
                return at
            continue
        at, entry = to_cluster(world, a, t, other, m, entry, path, at, trees)
        if at == LIMIT:
            return at
        if at >= 0:
            # walks and cluster paths never repeat a node; only when the route comes straight back through
            # a' : a can it meet the tree path s -> a again
            if path[head + 1] == path[head - 1]:
                at = erase_loops(path, at)
            return at


@block
def _around_cluster(world, s, t, m, path, trees):
    """PRACTICAL's last resort for nodes of one cluster: leave it at both ends, join them in the other class."""
    cross = np.uint64(1) << (m + m)
    dims = position_dims(s, m)
    other = position_dims(s ^ cross, m)
    plant(EXITS, dims, trees)
    i = BEFORE
    n = SINGLE
    while True:
        i, n = next_way(EXITS, i, n, world, s, dims, ZERO, cross, trees)
        if i < 0:
            return i
        a = s ^ node_offset(EXITS, i, trees) ^ cross
        plant(_BACK, dims, trees)
        j = BEFORE
        k = SINGLE
        while True:
            j, k = next_way(_BACK, j, k, world, t, dims, ZERO, cross, trees)
            if j == LIMIT:
                return j
            if j < 0:
                break
            b = t ^ node_offset(_BACK, j, trees) ^ cross
            at = walk_down(EXITS, i, s, trees, path, SINGLE)
            path[at] = a
            at += 1
            if a != b:
                at, _ = to_cluster(world, a, b, other, m, _UNKNOWN, path, at, trees)
            if at == LIMIT:
                return at
            if at >= 0:
                path[at] = b ^ cross
                at = walk_up(_BACK, j, t, trees, path, at + 1)
                return erase_loops(path, at)


@block
def route(world, s, t, m, path, trees):
    """PRACTICAL(s, t) between nonfaulty nodes.

    Parameters
    ----------
    world : (uint64, uint64)
        Status key of the trial, and ``sampling.threshold`` of the failure rate.
    s, t, m : uint64
        Labels below 2^(2m+1), 1 <= m <= 30.
    path : uint64 array of PATH_NODES
        Overwritten with the route.
    trees : uint64 array
        From ``dualcube_trees.tree_array(TREES)``; contents do not matter.

    Returns
    -------
    int64
        Nodes on the path, loops erased; EXHAUSTED or LIMIT when the route fails.
    """
    path[0] = s
    if s == t:
        return 1
    if (s ^ t) >> (m + m):
        return _between_classes(world, s, t, m, path, trees)
    dims = position_dims(s, m)
    if (s ^ t) & ~dims:
        at, _ = to_cluster(world, s, t, dims, m, _UNKNOWN, path, SINGLE, trees)
        return at
    at = walk(world, s, t, dims, path, SINGLE, trees)
    if at != EXHAUSTED:
        return at
    return _around_cluster(world, s, t, m, path, trees)
