"""Long messages in lockstep (A15 with ``flits=None``): whether a set of multicasts deadlocks, n <= 8.

A message is a list of requests, in the order in which its header can reach them.  A request has the channels that the message
needs together at one node, and for each channel the request that waits at its end.  A message releases all its channels in the
turn of its last request.

The messages of a multicast are D_E for the source's own supernode, which goes over the low or the high internal dimension, and
D_H and D_L for the supernodes with larger and smaller labels (``flip`` = 0 and all ones).  The buddy of a node is a neighbour in
its supernode, over which a message detours if the node's external link leads to a fault.  Nodes are (a, q), label and place, as
in ``multicasting.supercube``.  A step inside a supernode is a bit of the place: 1 for the low dimension, 2 for the high one.
With two virtual channels D_L uses copy 1 of the channels inside supernodes, all other messages copy 0 (``channels``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine.array_types import I64, Bytes, Ints, Ints32
from ..machine.bits import highest
from ..machine.jit import block, scratch
from ..multicasting.supercube import buddy_step, first_step_across, first_steps, next_label, shortcut_label
from .channels import channel_number

_NONE = np.int64(-1)
_WAITING = np.int32(2**31 - 1)  # value of ``reached`` for a request whose node no header has reached

#: Indices of ``Traffic.counts``.
_MESSAGES, _REQUESTS = range(2)


class Traffic(NamedTuple):
    """The messages of one trial."""

    firsts: Ints  #: first request of each message, and the number of requests at the end
    ungranted: Ints  #: number of requests of each message that are not granted
    channels: Ints  #: (request, 3): channels requested inside the supernode (0, 1) and out of it (2), or -1
    onward: Ints  #: (request, 3): the requests at the ends of these channels, or -1
    reached: Ints32  #: for each request, the step in which the header reached its node, or -1 once it is granted
    held: Bytes  #: whether each channel is held
    counts: Ints  #: how many _MESSAGES and _REQUESTS the trial has so far


@scratch
def traffic_for(n, messages, requests):
    """Return arrays for ``messages`` messages with ``requests`` requests in Q_n."""
    return Traffic(
        np.zeros(messages + 1, np.int64),
        np.zeros(messages, np.int64),
        np.empty((requests, 3), np.int64),
        np.empty((requests, 3), np.int64),
        np.empty(requests, np.int32),
        np.zeros((n + 2) << n, np.uint8),
        np.zeros(2, np.int64),
    )


@block
def clear_traffic(traffic):
    """Remove all messages, before a trial."""
    traffic.counts[_MESSAGES] = 0
    traffic.counts[_REQUESTS] = 0


@block
def _add_request(traffic):
    """Add a request without channels; return its index."""
    at = traffic.counts[_REQUESTS]
    traffic.counts[_REQUESTS] = at + 1
    for i in range(3):
        traffic.channels[at, i] = -1
        traffic.onward[at, i] = -1
    traffic.reached[at] = _WAITING
    return at


@block
def _end_message(traffic):
    """End a message, made of all requests since the last message; its first request is ready."""
    message = traffic.counts[_MESSAGES]
    traffic.reached[traffic.firsts[message]] = 0
    traffic.firsts[message + 1] = traffic.counts[_REQUESTS]
    traffic.counts[_MESSAGES] = message + 1


class MessageStop(NamedTuple):
    """A node (a, q) that a message visits."""

    a: I64  #: label of the supernode
    q: I64  #: place in the supernode
    wanted: I64  #: mask of the places of the supernode that the message serves
    fault: I64  #: mask of the faulty place of the supernode


@block
def _add_supernode_requests(traffic, n, stop, steps, exit_step, exit_k, is_copy1):
    """Add the requests of a message at a ``MessageStop``: for its wanted places, and for an external channel.

    ``steps``, from ``first_steps``, is the mask of the steps to wanted places.  The channel of external dimension ``exit_k``, -1
    for none, is requested at (a, q) itself if ``exit_step`` is 0, else at the buddy to which that step leads.  Returns the
    request at (a, q) and the request for the external channel, -1 for none.
    """
    q = stop.q
    v = stop.a << 2 | q
    request = exit_request = _NONE
    if steps | exit_step or exit_k >= 0:
        request = _add_request(traffic)
    serves_across = (stop.wanted >> (q ^ 3)) & 1
    across_step = first_step_across(q, stop.fault) if serves_across else np.int64(0)
    for j in range(2):
        step = np.int64(1 << j)
        if (steps | exit_step) & step == 0:
            continue
        traffic.channels[request, j] = channel_number(v, np.int64(j), n, is_copy1)
        if step in (across_step, exit_step):  # the message goes on from the node at the channel's end
            at_buddy = _add_request(traffic)
            traffic.onward[request, j] = at_buddy
            if across_step == step:
                traffic.channels[at_buddy, 1 - j] = channel_number(v ^ step, np.int64(1 - j), n, is_copy1)
            if exit_step == step:
                traffic.channels[at_buddy, 2] = channel_number(v ^ step, 2 + exit_k, n, is_copy1)
                exit_request = at_buddy
    if exit_k >= 0 and exit_step == 0:
        traffic.channels[request, 2] = channel_number(v, 2 + exit_k, n, is_copy1)
        exit_request = request
    return request, exit_request


@block
def _next_hop(net, a, q, goal, flip):
    """Return the next label on the path R' from (a, q) to ``goal``, the external dimension, and the step of a detour or 0."""
    neighbour = shortcut_label(a, goal, flip)
    step = buddy_step(q, np.int64(net.fault[a])) if (net.fault[neighbour] >> q) & 1 else np.int64(0)
    return neighbour, highest(np.uint64(a ^ neighbour)), step


@block
def _add_sweep_message(traffic, net, a, q, flip, n, is_copy1):
    """Add the message D_H (``flip`` 0) or D_L (all ones) from (a, q), if it has a destination."""
    goal = next_label(net.busy, a, flip)
    if goal < 0:
        return
    wanted = np.int64(0)  # places to serve; none in the source's supernode, which D_E serves
    before = _NONE  # the request for the channel that leads here
    while True:
        neighbour, k, step = a, _NONE, np.int64(0)
        if goal >= 0:
            neighbour, k, step = _next_hop(net, a, q, goal, flip)
        stop = MessageStop(a, q, wanted, np.int64(net.fault[a]))
        steps = first_steps(q, wanted, stop.fault)
        request, exit_request = _add_supernode_requests(traffic, n, stop, steps, step, k, is_copy1)
        if before >= 0:
            traffic.onward[before, 2] = request
        if goal < 0:
            break
        before = exit_request
        q ^= step
        a = neighbour
        wanted = np.int64(0)
        if a == goal:
            wanted = np.int64(net.wanted[a])
            goal = next_label(net.busy, a, flip)
    _end_message(traffic)


@block
def add_multicast(traffic, net, a, q, n, virtual_channels):
    """Add the messages of one multicast from (a, q), in their order: D_E over the low and the high dimension, D_H, D_L."""
    wanted, fault = np.int64(net.wanted[a]), np.int64(net.fault[a])
    for j in range(2):
        step = first_steps(q, wanted, fault) & (np.int64(1) << j)
        if step:
            stop = MessageStop(a, q, wanted, fault)
            _add_supernode_requests(traffic, n, stop, step, np.int64(0), _NONE, False)
            _end_message(traffic)
    _add_sweep_message(traffic, net, a, q, np.int64(0), n, False)
    _add_sweep_message(traffic, net, a, q, np.int64(net.wanted.size - 1), n, virtual_channels == 2)


@block
def _acquire_channels(traffic, at, step):
    """Grant a request all its channels if they are free; return whether it was granted."""
    for i in range(3):
        c = traffic.channels[at, i]
        if c >= 0 and traffic.held[c]:
            return False
    for i in range(3):
        c = traffic.channels[at, i]
        if c >= 0:
            traffic.held[c] = 1
            if traffic.onward[at, i] >= 0:
                traffic.reached[traffic.onward[at, i]] = step
    traffic.reached[at] = -1
    return True


@block
def _release_channels(traffic, first, end):
    for at in range(first, end):
        if traffic.reached[at] < 0:
            for i in range(3):
                if traffic.channels[at, i] >= 0:
                    traffic.held[traffic.channels[at, i]] = 0


@block
def has_deadlock(traffic):
    """Whether the messages deadlock: they run until all have ended, or until no request is granted in a step.

    Afterwards all channels are free again, but the messages are used up.
    """
    messages = traffic.counts[_MESSAGES]
    for m in range(messages):
        traffic.ungranted[m] = traffic.firsts[m + 1] - traffic.firsts[m]
    step = np.int32(0)
    alive = messages
    while alive > 0:
        step += np.int32(1)
        acquired = False
        for m in range(messages):
            if traffic.ungranted[m] == 0:
                continue
            first = traffic.firsts[m]
            end = traffic.firsts[m + 1]
            for at in range(first, end):
                if 0 <= traffic.reached[at] < step and _acquire_channels(traffic, at, step):
                    acquired = True
                    traffic.ungranted[m] -= 1
            if traffic.ungranted[m] == 0:
                _release_channels(traffic, first, end)
                alive -= 1
        if not acquired:
            for m in range(messages):
                if traffic.ungranted[m] > 0:
                    _release_channels(traffic, traffic.firsts[m], traffic.firsts[m + 1])
            return True
    return False
