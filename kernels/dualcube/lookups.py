"""PRACTICAL routing in the reading's own order, every status it asks recorded (readings B7, B8, B10).

This is the form that one-instance routing uses, on any fault set, and that counts the statistic ``lookups``: the
distinct labels whose status was asked.  ``practical.py`` takes the same paths and asks less.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.labels import LabelSet, add_label, clear_labels, label_set
from ..cube.paths import make_first_nonfaulty
from ..draws.nodes import status
from ..machine.array_types import I64, U64, Ints, Words
from ..machine.bits import ONE, ZERO
from ..machine.jit import block, kernel, scratch
from .routing import EXHAUSTED, LIMIT, PATH_NODES, TREE_COUNT, WALK_TREE, make_router
from .trees import (
    LIMIT_NODES,
    SINGLE,
    UNKNOWN,
    append_path_down,
    make_tree_grower,
    node_offset,
    route_workspace_for,
    set_children_untried_dims,
    start_tree,
)

#: Kinds of events.
CROSSED = np.int64(0)  #: tree node ``node`` of a tree of so many nodes has the nonfaulty cross neighbour ``other``
#: a walk to ``other`` ends at ``node``: its tree of so many nodes sees no wanted nonfaulty node and cannot grow
STUCK = np.int64(1)
FAULTY = np.int64(2)  #: the far end ``node`` of a virtual edge, across from ``other``, is faulty
ENDED = np.int64(3)  #: the tree of ``node`` cannot grow past so many nodes: no exit is left
LIMITED = np.int64(4)  #: the tree of ``node`` would grow past LIMIT_NODES

#: Rows of ``events`` that one route keeps.
MOST_EVENTS = 256


class LookupRecord(NamedTuple):
    """What was asked and what happened on the way, made by :func:`lookup_record_for`.

    Where ``asked`` ran out of room (``asked.counts[1]``) the caller repeats the route with more.
    """

    asked: LabelSet  #: the labels whose status was asked
    events: Words  #: rows of four (kind, node, other node, nodes of the tree)
    noted: Ints  #: one entry: number of rows in use
    most: I64  #: most rows


class RecordedDualCube(NamedTuple):
    """Which nodes of a dual-cube are nonfaulty, with a record of what is asked."""

    key: U64  #: status key of the trial
    limit: U64  #: ``nodes.threshold`` of the failure rate
    m: U64
    faults: Words  #: further faulty nodes, ascending
    record: LookupRecord


@scratch
def lookup_record_for(labels, events):
    """A record of up to so many labels and events."""
    return LookupRecord(label_set(labels), np.zeros(4 * events, np.uint64), np.zeros(1, np.int64), events)


@block
def clear_record(record):
    """Empty the record."""
    clear_labels(record.asked)
    record.noted[0] = 0


@block
def _append_event(world, kind, node, other, nodes):
    """Append an event while there is room."""
    events, row = world.record.events, world.record.noted[0]
    if row < world.record.most:
        events[4 * row] = np.uint64(kind)
        events[4 * row + 1] = node
        events[4 * row + 2] = other
        events[4 * row + 3] = np.uint64(nodes)
        world.record.noted[0] += 1


@block
def _is_listed(faults, label):
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
def is_nonfaulty(world, label):
    """Ask a node's status."""
    add_label(world.record.asked, label)
    return status(world.key, label) >= world.limit and not _is_listed(world.faults, label)


_first_nonfaulty = make_first_nonfaulty(is_nonfaulty, always=False)
_grow_tree = make_tree_grower(_first_nonfaulty)


@block
def _append_hyp_path(world, a, b, free, at, room):
    """HYP(a, b); the nodes after ``a`` are appended."""
    while a != b:
        want = a ^ b
        d = _first_nonfaulty(world, a, want)
        if d == ZERO:
            # wanted neighbours of tree nodes have been asked, and are faulty, when the tree grows (B7)
            dims = free & ~want
            start_tree(WALK_TREE, dims, room.trees)
            n = SINGLE
            i = np.int64(0)
            while d == ZERO:
                if n == LIMIT_NODES:
                    _append_event(world, LIMITED, a, b, n)
                    return LIMIT
                if not _grow_tree(WALK_TREE, n, world, a, UNKNOWN, room.trees):
                    _append_event(world, STUCK, a, b, n)
                    return EXHAUSTED
                i = n
                while i < 2 * n:
                    d = _first_nonfaulty(world, a ^ node_offset(WALK_TREE, i, room.trees), want)
                    if d:
                        break
                    i += 1
                set_children_untried_dims(WALK_TREE, n, dims, room.trees)
                n *= 2
            at = append_path_down(WALK_TREE, i, a, at, room)
            a ^= node_offset(WALK_TREE, i, room.trees)
        a ^= d
        free ^= d
        room.path[at] = a
        at += 1
    return at


@block
def _next_exit(exits, i, n, world, trees):
    """EXITS: index of the next tree node with a nonfaulty cross neighbour (or EXHAUSTED, LIMIT), nodes of the tree."""
    tree, root, dims = exits.tree, exits.root, exits.dims
    cross = ONE << (world.m + world.m)
    while True:
        i += 1
        if i == n:
            if n == LIMIT_NODES:
                _append_event(world, LIMITED, root, root, n)
                return LIMIT, n
            if not _grow_tree(tree, n, world, root, UNKNOWN, trees):
                _append_event(world, ENDED, root, root, n)
                return EXHAUSTED, n
            set_children_untried_dims(tree, n, dims, trees)
            n *= 2
        node = root ^ node_offset(tree, i, trees)
        if is_nonfaulty(world, node ^ cross):
            _append_event(world, CROSSED, node, node ^ cross, n)
            return i, n


@block
def _is_landing(world, v, over):
    """Ask v."""
    if is_nonfaulty(world, v):
        return True
    _append_event(world, FAULTY, v, over, 0)
    return False


route_recorded = make_router(_next_exit, _append_hyp_path, lands=_is_landing)


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
    room = route_workspace_for(PATH_NODES, TREE_COUNT)
    capacity = 2048
    while True:
        record = lookup_record_for(capacity, MOST_EVENTS)
        world = RecordedDualCube(key, threshold, np.uint64(m), faults, record)
        nodes = route_recorded(world, s, t, room)
        if record.asked.counts[1] == 0:
            break
        capacity *= 4
    asked = record.asked
    labels = np.sort(asked.table[asked.places[: asked.counts[0]]] - ONE)
    return nodes, room.path[: max(nodes, 0)].copy(), labels, record.events.reshape((-1, 4))[: record.noted[0]].copy()
