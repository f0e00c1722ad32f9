"""Whether the channel dependency graph of a faulty cube has a cycle (A14), n <= 8.

An arc leads from a channel that a message may hold to a channel that it may then request.  D_H, D_L, buddies and ``flip`` are
those of ``fastcube.kernels.multicasting.supercube``, and a node is 4 a + q, with its place q in supernode a.  With two virtual
channels D_L uses copy 1 of the channels inside supernodes.  ``fastcube/algorithms/channel_dependencies.py`` explains why these
are all the arcs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine.array_types import Ints
from ..machine.jit import block, scratch
from ..multicasting.supercube import buddy_step, first_step_across
from .channels import channel_number

_ONE = np.int64(1)
_TWO = np.int64(2)


class DependencyGraph(NamedTuple):
    """A graph as one linked list of arcs per channel, from the arc added last to the first."""

    last_arcs: Ints  #: the arc from each channel that was added last, or -1
    arcs_into: Ints  #: number of arcs into each channel
    earlier_arcs: Ints  #: for each arc, the arc added before it from the same channel, or -1
    requested: Ints  #: for each arc, the channel to which it leads
    stack: Ints  #: channels to visit
    arc_count: Ints  #: (1): number of arcs


@scratch
def dependency_graph_for(n):
    """Return an empty graph of Q_n with two virtual channels."""
    channels = (n + 2) << n
    # Per class and node: the arc across, arcs from the buddy's channel to each next channel, and from the channel of each earlier
    # node to two buddies and each next channel.
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
def _add_across_arcs(graph, v, fault, n, copy):
    """Add the arc of a message at node v that goes on to the opposite node of its supernode."""
    q = v & 3
    if (fault >> (q ^ 3)) & 1 == 0:
        step = first_step_across(q, fault)
        _add_arc(graph, channel_number(v, step >> 1, n, copy), channel_number(v ^ step, (step ^ 3) >> 1, n, copy))


@block
def _add_class_arcs(graph, net, a, q, flip, unicast, copy, n):
    """Add the arcs of D_H (``flip`` = 0) or D_L (all labels complemented) at the node (a, q) and at its detours' buddies.

    Labels are complemented for D_L, so that a message always moves to larger ones.  With ``unicast`` only the arcs of
    messages to a single destination are added.
    """
    v = a << 2 | q
    fault = np.int64(net.fault[a])
    here = a ^ flip
    is_entered = False  # whether a message can come from an earlier supernode
    for k in range(n - 2):
        neighbour = here ^ ((_TWO << k) - 1)
        p = (neighbour ^ flip) << 2 | q
        if neighbour > here:
            if (net.fault[neighbour ^ flip] >> q) & 1:  # from the buddy's channel to the channel of p's buddy
                step = buddy_step(q, fault)
                _add_arc(graph, channel_number(v, step >> 1, n, copy), channel_number(v ^ step, 2 + k, n, copy))
            continue
        if (net.fault[neighbour ^ flip] >> q) & 1:
            continue
        is_entered = True
        held = channel_number(p, 2 + k, n, copy)
        for j in range(2):
            if (fault >> (q ^ (1 << j))) & 1 == 0:
                _add_arc(graph, held, channel_number(v, np.int64(j), n, copy))
        limit = np.int64(1) << (n - 2)  # goals of a unicast are labels below it, up to p's next shortcut
        for i in range(n - 2):
            next_shortcut = neighbour ^ ((_TWO << i) - 1)
            if here < next_shortcut < limit:
                limit = next_shortcut
        for i in range(n - 2):
            beyond = here ^ ((_TWO << i) - 1)
            if beyond > here and (not unicast or beyond < limit):
                if (net.fault[beyond ^ flip] >> q) & 1:
                    _add_arc(graph, held, channel_number(v, buddy_step(q, fault) >> 1, n, copy))
                else:
                    _add_arc(graph, held, channel_number(v, np.int64(2 + i), n, copy))
    if is_entered:
        _add_across_arcs(graph, v, fault, n, copy)


@block
def build_graph(graph, net, n, unicast, copies):
    """Build the graph of a supercube with its faults, for one or two virtual channels."""
    for channel in range(graph.last_arcs.size):
        graph.last_arcs[channel] = -1
        graph.arcs_into[channel] = 0
    graph.arc_count[0] = 0
    top = (_ONE << (n - 2)) - 1
    for a in range(np.int64(1) << (n - 2)):
        fault = np.int64(net.fault[a])
        for q in range(4):
            if (fault >> q) & 1:
                continue
            _add_across_arcs(graph, np.int64(a << 2 | q), fault, n, False)
            _add_class_arcs(graph, net, np.int64(a), np.int64(q), np.int64(0), unicast, False, n)
            _add_class_arcs(graph, net, np.int64(a), np.int64(q), top, unicast, copies == 2, n)


@block
def is_cyclic(graph):
    """Whether the graph has a cycle: channels without an arc into them are removed until there are none."""
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
