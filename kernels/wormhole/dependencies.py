"""Whether the channel dependency graph of a faulty cube has a cycle (A14), n <= 8.

An arc leads from a channel, a directed link, that a message may hold to a channel that it may then request.  The cube is cut into
*supernodes* of four nodes with at most one fault each (``multicasting.supercube``).  Node 4 a + q has the *place* q in the
supernode with the *label* a, its position on a Hamilton path.  A multicast sends three messages:

- D_H to supernodes with larger labels than the source's, and D_L to those with smaller labels.  Both may leave the Hamilton path
  by a *shortcut*, a link to a label farther on.  Where the node across a link is faulty, a message makes a *detour* over a
  *buddy*, a neighbour in the supernode.
- D_E to the destinations in the source's supernode.

Complementing labels turns D_L into D_H, so one function serves both: ``flip`` is 0 for D_H and the largest label for D_L, and the
*rank*, label ^ flip, rises along the way.  With two virtual channels D_L uses copy 1 of the channels inside supernodes, and all
other messages use copy 0 (``channels``).  ``fastcube/algorithms/channel_dependencies.py`` explains why these are all the arcs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine.array_types import I64, Ints
from ..machine.jit import block, scratch
from ..multicasting.supercube import Supercube, buddy_step, first_step_across, label_across
from .channels import channel_number

#: A rank above all others.
_NO_LIMIT = np.int64(2**62)


class DependencyGraph(NamedTuple):
    """A graph as one linked list of arcs per channel, from the arc added last to the first.  Arcs may repeat."""

    last_arcs: Ints  #: the arc from each channel that was added last, or -1
    arcs_into: Ints  #: number of arcs into each channel; ``is_cyclic`` counts them down
    earlier_arcs: Ints  #: for each arc, the arc added before it from the same channel, or -1
    requested: Ints  #: for each arc, the channel to which it leads
    stack: Ints  #: scratch memory of ``is_cyclic``: channels to remove
    arc_count: Ints  #: (1): number of arcs


class MessageClass(NamedTuple):
    """The messages D_H or D_L in a supercube with faults."""

    net: Supercube
    n: I64
    flip: I64  #: 0 for D_H, the largest label for D_L
    is_copy1: bool  #: whether the messages use copy 1 of the channels inside supernodes
    is_unicast: bool  #: whether only messages to a single destination are sent


@scratch
def dependency_graph_for(n):
    """Return an empty graph of Q_n with two virtual channels."""
    channels = (n + 2) << n
    # An upper bound.  Per node one arc across of D_E.  Per class and node one arc across, up to n - 2 arcs of detours, and up to
    # n arcs from the channel of each of up to n - 2 earlier nodes: to two buddies and n - 2 next supernodes.
    most = (3 << n) + (2 << n) * (3 + n + n * (n + 2))
    return DependencyGraph(
        np.empty(channels, np.int64),
        np.empty(channels, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(channels, np.int64),
        np.zeros(1, np.int64),
    )


@block
def _add_arc(graph, held, requested):
    """Add an arc from the channel ``held`` to the channel ``requested``; it may be there already."""
    arc = graph.arc_count[0]
    graph.arc_count[0] = arc + 1
    graph.requested[arc] = requested
    graph.earlier_arcs[arc] = graph.last_arcs[held]
    graph.last_arcs[held] = arc
    graph.arcs_into[requested] += 1


@block
def _add_across_arc(graph, net, v, n, is_copy1):
    """Add the arc of a message that goes over two channels from node v to the opposite node of the supernode, if nonfaulty."""
    q, fault = v & 3, np.int64(net.fault[v >> 2])
    if (fault >> (q ^ 3)) & 1 == 0:
        step = first_step_across(q, fault)
        _add_arc(
            graph, channel_number(v, step >> 1, n, is_copy1), channel_number(v ^ step, (step ^ 3) >> 1, n, is_copy1)
        )


@block(always=True)
def _is_faulty_at(messages, rank, q):
    """Whether the node at place q is faulty in the supernode with this rank."""
    return (np.int64(messages.net.fault[rank ^ messages.flip]) >> q) & 1 == 1


@block
def _next_goal_limit(n, before, rank):
    """Return the rank below which the goals of unicasts are that go from rank ``before`` to its neighbour ``rank``.

    A shortcut leads to the neighbour of the highest rank up to the goal.  So the goal is below the next higher neighbour of
    ``before``, if there is one.
    """
    limit = _NO_LIMIT
    for k in range(n - 2):
        neighbour = label_across(before, k)
        if rank < neighbour < limit:
            limit = neighbour
    return limit


@block(always=True)
def _add_arcs_from(graph, messages, held, before, v):
    """Add the arcs of messages that hold the channel ``held`` to node v, from the supernode of rank ``before``."""
    n, is_copy1, q = messages.n, messages.is_copy1, v & 3
    fault = np.int64(messages.net.fault[v >> 2])
    rank = (v >> 2) ^ messages.flip
    for j in range(2):  # to destinations in the supernode
        if (fault >> (q ^ (1 << j))) & 1 == 0:
            _add_arc(graph, held, channel_number(v, np.int64(j), n, is_copy1))
    limit = _next_goal_limit(n, before, rank) if messages.is_unicast else _NO_LIMIT
    for k in range(n - 2):
        beyond = label_across(rank, k)
        if beyond > rank and beyond < limit:
            if _is_faulty_at(messages, beyond, q):
                _add_arc(graph, held, channel_number(v, buddy_step(q, fault) >> 1, n, is_copy1))
            else:
                _add_arc(graph, held, channel_number(v, np.int64(2 + k), n, is_copy1))


@block(always=True)
def _add_class_arcs(graph, messages, v):
    """Add the arcs of a class of messages at node v, and at its buddy over which it sends detours."""
    n, is_copy1, q = messages.n, messages.is_copy1, v & 3
    rank = (v >> 2) ^ messages.flip
    is_entered = False  # whether a message can come from an earlier supernode
    for k in range(n - 2):
        neighbour = label_across(rank, k)
        is_faulty = _is_faulty_at(messages, neighbour, q)
        if neighbour > rank and is_faulty:  # a detour: from the channel to the buddy to the buddy's external channel
            step = buddy_step(q, np.int64(messages.net.fault[v >> 2]))
            _add_arc(graph, channel_number(v, step >> 1, n, is_copy1), channel_number(v ^ step, 2 + k, n, is_copy1))
        if neighbour < rank and not is_faulty:
            is_entered = True
            held = channel_number((neighbour ^ messages.flip) << 2 | q, 2 + k, n, is_copy1)
            _add_arcs_from(graph, messages, held, neighbour, v)
    if is_entered:
        _add_across_arc(graph, messages.net, v, n, is_copy1)


@block
def build_graph(graph, net, n, unicast, virtual_channels):
    """Build the graph of a supercube with its faults.

    Parameters
    ----------
    graph : DependencyGraph
        From ``dependency_graph_for``; a graph in it is overwritten.
    net : Supercube
    n : int64
    unicast : bool
        Whether only messages to a single destination are sent.
    virtual_channels : int64
        1 or 2.
    """
    for channel in range(graph.last_arcs.size):
        graph.last_arcs[channel] = -1
        graph.arcs_into[channel] = 0
    graph.arc_count[0] = 0
    largest = np.int64(net.fault.size - 1)  # label
    up = MessageClass(net, n, np.int64(0), False, unicast)
    down = MessageClass(net, n, largest, virtual_channels == 2, unicast)
    for v in range(np.int64(1) << n):
        if (np.int64(net.fault[v >> 2]) >> (v & 3)) & 1:
            continue
        _add_across_arc(graph, net, np.int64(v), n, False)  # of D_E, at a source
        _add_class_arcs(graph, up, np.int64(v))
        _add_class_arcs(graph, down, np.int64(v))


@block
def is_cyclic(graph):
    """Whether the graph has a cycle; uses up the graph, which must be built anew for another call.

    Channels without an arc into them are removed with their arcs.  If channels remain when there is no such channel, each of
    them has an arc from another, so there is a cycle.
    """
    remaining = graph.last_arcs.size
    count = np.int64(0)
    for channel in range(remaining):
        if graph.arcs_into[channel] == 0:
            graph.stack[count] = channel
            count += 1
    while count > 0:
        count -= 1
        remaining -= 1
        arc = graph.last_arcs[graph.stack[count]]
        while arc >= 0:
            requested = graph.requested[arc]
            graph.arcs_into[requested] -= 1
            if graph.arcs_into[requested] == 0:
                graph.stack[count] = requested
                count += 1
            arc = graph.earlier_arcs[arc]
    return remaining > 0
