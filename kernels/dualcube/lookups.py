"""PRACTICAL routing that queries node statuses in the order of the interpretation, and records each query (B7, B8, B10).

``routing`` documents the terms (walk, exit, virtual edge) and ``size``, the number of nodes on the path.

Routing of single instances uses this form, for any fault set.  The statistic ``lookups``, the number of distinct labels whose
status is queried, is counted with it.  ``practical`` takes the same paths with different queries.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.labels import IS_FULL, STORED_LABELS, LabelSet, add_label, clear_labels, label_set
from ..cube.paths import make_first_nonfaulty
from ..draws.statuses import status
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

#: Kinds of events; the comments tell what ``nodes``, ``others`` and ``tree_sizes`` of ``Events`` hold.
#: The tree node ``nodes``, in a tree of ``tree_sizes`` nodes, has the nonfaulty cross neighbour ``others``.
CROSSED = np.int64(0)
#: A walk to ``others`` ends at ``nodes``: its tree of ``tree_sizes`` nodes has no nonfaulty wanted neighbour and cannot grow.
STUCK = np.int64(1)
#: The far end ``nodes`` of a virtual edge is faulty; ``others`` is its cross neighbour, and ``tree_sizes`` 0.
FAULTY = np.int64(2)
#: The tree of the root ``nodes`` (also ``others``) cannot grow past ``tree_sizes`` nodes: no exit is left.
ENDED = np.int64(3)
#: The tree of the root ``nodes`` would grow past LIMIT_NODES; ``others`` is the target of a walk, or for exits the root again.
LIMITED = np.int64(4)

#: Number of events that are recorded for a route.
MOST_EVENTS = 256


class Events(NamedTuple):
    """What happened on a route, in order; the meaning depends on the kind.  The first ``used[0]`` entries are in use."""

    kinds: Words
    nodes: Words
    others: Words
    tree_sizes: Words
    used: Ints  #: (1): number of events
    most: I64  #: number of entries; later events are not recorded


class LookupRecord(NamedTuple):
    """Queried labels and events of a route.  If ``asked`` was too small, its count IS_FULL is 1 and the route is repeated."""

    asked: LabelSet  #: the labels whose status was queried
    events: Events


class RecordedDualCube(NamedTuple):
    """The faulty nodes of a dual-cube, with a record of the queries about them."""

    key: U64  #: status key of the trial
    limit: U64  #: ``nodes.threshold`` of the failure rate
    m: U64
    faults: Words  #: further faulty nodes, ascending
    record: LookupRecord


@scratch
def lookup_record_for(labels, events):
    """Return an empty record for up to ``labels`` labels and ``events`` events."""
    rows = np.zeros((4, events), np.uint64)
    return LookupRecord(label_set(labels), Events(rows[0], rows[1], rows[2], rows[3], np.zeros(1, np.int64), events))


@block
def clear_record(record):
    """Forget the queried labels and the events."""
    clear_labels(record.asked)
    record.events.used[0] = 0


@block
def _append_event(world, kind, node, other, tree_size):
    """Append an event unless ``Events`` is full."""
    events = world.record.events
    i = events.used[0]
    if i < events.most:
        events.kinds[i] = np.uint64(kind)
        events.nodes[i] = node
        events.others[i] = other
        events.tree_sizes[i] = np.uint64(tree_size)
        events.used[0] += 1


@block
def _is_listed(faults, label):
    """Whether the ascending array ``faults`` contains ``label``."""
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
    """Whether the node ``label`` is nonfaulty; the query is recorded."""
    add_label(world.record.asked, label)
    return status(world.key, label) >= world.limit and not _is_listed(world.faults, label)


_first_nonfaulty = make_first_nonfaulty(is_nonfaulty, always=False)
_grow_tree = make_tree_grower(_first_nonfaulty)


@block
def _append_hyp_path(world, a, b, free, size, workspace):
    """Append the nodes after ``a`` of HYP(a, b) to the path of ``size`` nodes; return its new size, EXHAUSTED or LIMIT."""
    while a != b:
        want = a ^ b
        d = _first_nonfaulty(world, a, want)
        if d == ZERO:
            # When the tree grows, the wanted neighbours of its nodes have been queried and are faulty (B7).
            dims = free & ~want
            start_tree(WALK_TREE, dims, workspace.trees)
            n = SINGLE
            i = np.int64(0)
            while d == ZERO:
                if n == LIMIT_NODES:
                    _append_event(world, LIMITED, a, b, n)
                    return LIMIT
                if not _grow_tree(WALK_TREE, n, world, a, UNKNOWN, workspace.trees):
                    _append_event(world, STUCK, a, b, n)
                    return EXHAUSTED
                i = n
                while i < 2 * n:
                    d = _first_nonfaulty(world, a ^ node_offset(WALK_TREE, i, workspace.trees), want)
                    if d:
                        break
                    i += 1
                set_children_untried_dims(WALK_TREE, n, dims, workspace.trees)
                n *= 2
            size = append_path_down(WALK_TREE, i, a, size, workspace)
            a ^= node_offset(WALK_TREE, i, workspace.trees)
        a ^= d
        free ^= d
        workspace.path[size] = a
        size += 1
    return size


@block
def _next_exit(exits, i, n, world, trees):
    """Return the index of the next tree node after ``i`` with a nonfaulty cross neighbour, and the number of nodes of the tree.

    This is EXITS of the interpretation.  The index is EXHAUSTED or LIMIT if there is no such node.
    """
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
    """Whether ``v``, the cross neighbour of ``over``, is nonfaulty; if not, the event is recorded."""
    if is_nonfaulty(world, v):
        return True
    _append_event(world, FAULTY, v, over, 0)
    return False


route_recorded = make_router(_next_exit, _append_hyp_path, is_landing=_is_landing)


@kernel("Tuple((int64, uint64[::1], uint64[::1], uint64[:,::1]))(int64, uint64, uint64, uint64[::1], uint64, uint64)")
def route_one(m, key, threshold, faults, s, t):
    """Route one message by PRACTICAL with any fault set.

    Parameters
    ----------
    m : int64
        1 <= m <= 30.
    key, threshold : uint64
        A node is faulty if its status under ``key`` is below ``threshold``; 0 for no such faults.
    faults : uint64 array
        Sorted labels of further faulty nodes.
    s, t : uint64
        Nonfaulty nodes.  The arguments are not checked; ``fastcube.algorithms.dualcube`` checks them.

    Returns
    -------
    int64
        Nodes on the path, EXHAUSTED or LIMIT.
    uint64 array
        The path; empty when the route failed.
    uint64 array
        The queried labels, ascending.
    uint64 array, shape (rows, 4)
        The first MOST_EVENTS events: kind, node, other node and tree size.
    """
    workspace = route_workspace_for(PATH_NODES, TREE_COUNT)
    capacity = 2048
    while True:
        record = lookup_record_for(capacity, MOST_EVENTS)
        world = RecordedDualCube(key, threshold, np.uint64(m), faults, record)
        nodes = route_recorded(world, s, t, workspace)
        if record.asked.counts[IS_FULL] == 0:
            break
        capacity *= 4
    asked, events = record.asked, record.events
    labels = np.sort(asked.table[asked.places[: asked.counts[STORED_LABELS]]] - ONE)  # a table holds labels plus one
    rows = np.empty((events.used[0], 4), np.uint64)
    for i in range(events.used[0]):
        rows[i, 0], rows[i, 1] = events.kinds[i], events.nodes[i]
        rows[i, 2], rows[i, 3] = events.others[i], events.tree_sizes[i]
    return nodes, workspace.path[: max(nodes, 0)].copy(), labels, rows
