"""PRACTICAL routing in the reading's own order, every status it asks recorded (readings B7, B8, B10).

This is the form that one-instance routing uses, on any fault set, and that counts the statistic ``lookups``: the
distinct labels whose status was asked.  :mod:`dualcube` takes the same paths and asks less.

``world`` is ``(key, threshold, faults, asked, places, counts, events)``: a node is faulty when its lazy status under
``key`` is below ``threshold`` or when it is in ``faults``, a sorted uint64 array; ``asked`` is an open-addressing
table of 2^k labels plus one (0 is empty), ``places`` lists its filled places, and ``counts`` holds their number, 1
once the table is too full to go on recording (then the caller repeats the route with a larger one), and the number
of rows in ``events``, what happened on the way: (kind, node, other node, nodes of the tree), as many as there is room for.
"""

from __future__ import annotations

import numpy as np

from ..bits import ZERO, top
from ..jit import block, kernel, scratch
from ..sampling import status
from .practical import EXHAUSTED, LIMIT, PATH_NODES, TREES, erase_loops, position_dims
from .trees import (
    BEFORE,
    LIMIT_NODES,
    SINGLE,
    UNKNOWN,
    growing,
    node_offset,
    open_children,
    plant,
    tree_array,
    walk_down,
    walk_up,
)

_WALK, _EXITS, _BACK, _CLUSTER = np.int64(0), np.int64(1), np.int64(2), np.int64(3)

#: Kinds of events.
CROSSED = np.int64(0)  #: tree node ``node`` of a tree of so many nodes has the nonfaulty cross neighbour ``other``
#: a walk to ``other`` ends at ``node``: its tree of so many nodes sees no wanted nonfaulty node and cannot grow
STUCK = np.int64(1)
FAULTY = np.int64(2)  #: the far end ``node`` of a virtual edge, across from ``other``, is faulty
ENDED = np.int64(3)  #: the tree of ``node`` cannot grow past so many nodes: no exit is left
LIMITED = np.int64(4)  #: the tree of ``node`` would grow past LIMIT_NODES

#: Rows of ``events`` that one route keeps.
EVENTS = 256
_ONE = np.uint64(1)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_32 = np.uint64(32)


@scratch
def recorder(size):
    """``asked``, ``places`` and ``counts`` for up to ``size / 2`` labels; ``size`` is a power of two."""
    return np.zeros(size, np.uint64), np.zeros(size // 2, np.int64), np.zeros(3, np.int64)


@block
def forget(world):
    """Empty the record."""
    asked, places, counts = world[3], world[4], world[5]
    for i in range(counts[0]):
        asked[places[i]] = ZERO
    counts[0] = 0
    counts[1] = 0
    counts[2] = 0


@block
def _note(world, kind, node, other, nodes):
    """Append an event while there is room."""
    counts, events = world[5], world[6]
    row = counts[2]
    if row < events.shape[0]:
        events[row, 0] = np.uint64(kind)
        events[row, 1] = node
        events[row, 2] = other
        events[row, 3] = np.uint64(nodes)
        counts[2] += 1


@block
def _record(world, label):
    asked, places, counts = world[3], world[4], world[5]
    mask = np.uint64(asked.size - 1)
    entry = label + _ONE
    at = ((label * _SPREAD) >> _32) & mask
    while asked[np.int64(at)] != ZERO:
        if asked[np.int64(at)] == entry:
            return
        at = (at + _ONE) & mask
    if counts[0] == places.size:
        counts[1] = 1
        return
    asked[np.int64(at)] = entry
    places[counts[0]] = np.int64(at)
    counts[0] += 1


@block
def _listed(faults, label):
    """Is the label in a sorted array?"""
    low, high = 0, faults.size
    while low < high:
        middle = (low + high) // 2
        if faults[middle] < label:
            low = middle + 1
        else:
            high = middle
    return low < faults.size and faults[low] == label


@block
def healthy(world, label):
    """Ask a node's status."""
    _record(world, label)
    if status(world[0], label) < world[1]:
        return False
    return not _listed(world[2], label)


@block
def first_healthy(world, node, dims):
    """First of ``dims``, in dimension order, across which ``node`` has a nonfaulty neighbour; 0 for none."""
    while dims:
        d = top(dims)
        if healthy(world, node ^ d):
            return d
        dims ^= d
    return ZERO


_grow = growing(first_healthy)


@block
def _walk(world, a, b, free, path, at, trees):
    """HYP(a, b); the nodes after ``a`` are appended."""
    while a != b:
        want = a ^ b
        d = first_healthy(world, a, want)
        if d == ZERO:
            # wanted neighbours of tree nodes have been asked, and are faulty, when the tree grows (B7)
            dims = free & ~want
            plant(_WALK, dims, trees)
            n = SINGLE
            i = 0
            while d == ZERO:
                if n == LIMIT_NODES:
                    _note(world, LIMITED, a, b, n)
                    return LIMIT
                if not _grow(_WALK, n, world, a, UNKNOWN, trees):
                    _note(world, STUCK, a, b, n)
                    return EXHAUSTED
                i = n
                while i < 2 * n:
                    d = first_healthy(world, a ^ node_offset(_WALK, i, trees), want)
                    if d:
                        break
                    i += 1
                open_children(_WALK, n, dims, trees)
                n *= 2
            at = walk_down(_WALK, i, a, trees, path, at)
            a ^= node_offset(_WALK, i, trees)
        a ^= d
        free ^= d
        path[at] = a
        at += 1
    return at


@block
def _next_exit(tree, i, n, world, root, dims, cross, trees):
    """EXITS: index of the next tree node with a nonfaulty cross neighbour (or EXHAUSTED, LIMIT), nodes of the tree."""
    while True:
        i += 1
        if i == n:
            if n == LIMIT_NODES:
                _note(world, LIMITED, root, root, n)
                return LIMIT, n
            if not _grow(tree, n, world, root, UNKNOWN, trees):
                _note(world, ENDED, root, root, n)
                return EXHAUSTED, n
            open_children(tree, n, dims, trees)
            n *= 2
        node = root ^ node_offset(tree, i, trees)
        if healthy(world, node ^ cross):
            _note(world, CROSSED, node, node ^ cross, n)
            return i, n


@block
def _to_cluster(world, a, b, dims, other, cross, path, start, trees):
    """TO_CLUSTER(a, b); the nodes after ``a`` are appended."""
    plant(_CLUSTER, dims, trees)
    i = BEFORE
    n = SINGLE
    while True:
        i, n = _next_exit(_CLUSTER, i, n, world, a, dims, cross, trees)
        if i < 0:
            return i
        at = walk_down(_CLUSTER, i, a, trees, path, start)
        u = a ^ node_offset(_CLUSTER, i, trees)
        v = (u & dims) | (b & ~dims)
        path[at] = u ^ cross
        at = _walk(world, u ^ cross, v ^ cross, other, path, at + 1, trees)
        if at >= 0:
            if healthy(world, v):
                path[at] = v
                at = _walk(world, v, b, dims, path, at + 1, trees)
                if at >= 0:
                    return at
            else:
                _note(world, FAULTY, v, v ^ cross, 0)
        if at == LIMIT:
            return at


@block
def _same_cluster(world, s, t, dims, other, cross, path, trees):
    at = _walk(world, s, t, dims, path, SINGLE, trees)
    if at != EXHAUSTED:
        return at
    plant(_EXITS, dims, trees)
    i = BEFORE
    n = SINGLE
    while True:
        i, n = _next_exit(_EXITS, i, n, world, s, dims, cross, trees)
        if i < 0:
            return i
        a = s ^ node_offset(_EXITS, i, trees) ^ cross
        plant(_BACK, dims, trees)
        j = BEFORE
        k = SINGLE
        while True:
            j, k = _next_exit(_BACK, j, k, world, t, dims, cross, trees)
            if j == LIMIT:
                return j
            if j < 0:
                break
            b = t ^ node_offset(_BACK, j, trees) ^ cross
            at = walk_down(_EXITS, i, s, trees, path, SINGLE)
            path[at] = a
            at += 1
            if a != b:
                at = _to_cluster(world, a, b, other, dims, cross, path, at, trees)
            if at == LIMIT:
                return at
            if at >= 0:
                path[at] = b ^ cross
                return walk_up(_BACK, j, t, trees, path, at + 1)


@block
def _between_classes(world, s, t, dims, other, cross, path, trees):
    plant(_EXITS, dims, trees)
    i = BEFORE
    n = SINGLE
    while True:
        i, n = _next_exit(_EXITS, i, n, world, s, dims, cross, trees)
        if i < 0:
            return i
        at = walk_down(_EXITS, i, s, trees, path, SINGLE)
        a = path[at - 1] ^ cross
        path[at] = a
        if (a ^ t) & dims == ZERO:
            at = _walk(world, a, t, other, path, at + 1, trees)
        else:
            at = _to_cluster(world, a, t, other, dims, cross, path, at + 1, trees)
        if at != EXHAUSTED:
            return at


@block
def route_recorded(world, s, t, m, path, trees):
    """PRACTICAL(s, t) between nonfaulty nodes, statuses asked in the reading's order; as :func:`dualcube.route`."""
    cross = _ONE << (m + m)
    dims = position_dims(s, m)
    other = (cross - _ONE) ^ dims
    path[0] = s
    if s == t:
        return 1
    if (s ^ t) & cross:
        at = _between_classes(world, s, t, dims, other, cross, path, trees)
    elif (s ^ t) & other:
        at = _to_cluster(world, s, t, dims, other, cross, path, SINGLE, trees)
    else:
        at = _same_cluster(world, s, t, dims, other, cross, path, trees)
    return erase_loops(path, at) if at > 0 else at


@kernel("Tuple((int64, uint64[::1], uint64[::1], uint64[:,::1]))(int64, uint64, uint64, uint64[::1], uint64, uint64)")
def route_one(m, key, threshold, faults, s, t):
    """One PRACTICAL route on any fault set.

    Parameters
    ----------
    m : int64
        1 <= m <= 30.
    key, threshold : uint64
        Lazy faults: faulty below the threshold; 0 for none.
    faults : uint64 array
        Sorted labels of further faulty nodes.
    s, t : uint64
        Nonfaulty nodes.  Nothing is checked here: see ``fastcube.algorithms.dualcube``.

    Returns
    -------
    int64
        Nodes on the path, EXHAUSTED or LIMIT.
    uint64 array
        The path; empty when the route failed.
    uint64 array
        The labels asked, ascending.
    uint64 array, shape (rows, 4)
        The first EVENTS events.
    """
    trees = tree_array(TREES)
    path = np.zeros(PATH_NODES, np.uint64)
    events = np.zeros((EVENTS, 4), np.uint64)
    size = 4096
    while True:
        asked, places, counts = recorder(size)
        world = (key, threshold, faults, asked, places, counts, events)
        nodes = route_recorded(world, s, t, np.uint64(m), path, trees)
        if counts[1] == 0:
            break
        size *= 4
    labels = np.sort(asked[places[: counts[0]]] - _ONE)
    return nodes, path[: max(nodes, 0)].copy(), labels, events[: counts[2]].copy()
