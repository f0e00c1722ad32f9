"""Long messages in lockstep (A15 with ``flits=None``): whether a set of multicasts deadlocks, n <= 8.

A message is a list of requests, in the order in which its header can reach them.  A request has the channels that the message
needs together at one node, and for each channel the request that waits at its end.  A message releases all its channels in the
turn of its last request.
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


class Traffic(NamedTuple):
    """The messages of one trial."""

    message: Ints  #: first request of each message, and the number of requests at the end
    left: Ints  #: number of requests of each message that are not granted
    asked: Ints  #: (request, 3): requested channels, or -1
    then: Ints  #: (request, 3): the requests at their ends, or -1
    reached: Ints32  #: for each request, the step in which the header reached its node, or -1 once it is granted
    held: Bytes  #: whether each channel is held
    counts: Ints  #: two entries: number of messages, number of requests


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
    traffic.counts[0] = 0
    traffic.counts[1] = 0


@block
def _add_request(traffic):
    """Add a request without channels; return its index."""
    at = traffic.counts[1]
    traffic.counts[1] = at + 1
    for i in range(3):
        traffic.asked[at, i] = -1
        traffic.then[at, i] = -1
    traffic.reached[at] = _WAITING
    return at


@block
def _end_message(traffic):
    """End a message, made of all requests since the last message; its first request is ready."""
    message = traffic.counts[0]
    traffic.reached[traffic.message[message]] = 0
    traffic.message[message + 1] = traffic.counts[1]
    traffic.counts[0] = message + 1


class MessageStop(NamedTuple):
    """A node (a, q) that a message visits."""

    a: I64  #: label of the supernode
    q: I64  #: place in the supernode
    wanted: I64  #: mask of the places of the supernode that the message serves
    fault: I64  #: mask of the faulty place of the supernode


@block
def _add_supernode_requests(traffic, n, stop, steps, exit_step, exit_k, copy):
    """Add the requests of a message at a ``MessageStop`` for wanted places, and for the k-th external channel.

    ``steps`` are from ``first_steps``.  The external channel is requested at (a, q) itself (``exit_step`` 0) or at the buddy of a
    detour; ``exit_k`` is -1 without one.  Returns the request at (a, q) and the request for that channel, -1 for none.
    """
    q = stop.q
    v = stop.a << 2 | q
    at = _NONE
    if steps | exit_step or exit_k >= 0:
        at = _add_request(traffic)
    exit_at = _NONE
    across = (stop.wanted >> (q ^ 3)) & 1
    via = first_step_across(q, stop.fault) if across else np.int64(0)
    for j in range(2):
        step = np.int64(1 << j)
        if (steps | exit_step) & step == 0:
            continue
        traffic.asked[at, j] = channel_number(v, np.int64(j), n, copy)
        if step in (via, exit_step):
            more = _add_request(traffic)
            traffic.then[at, j] = more
            if via == step:
                traffic.asked[more, 1 - j] = channel_number(v ^ step, np.int64(1 - j), n, copy)
            if exit_step == step:
                traffic.asked[more, 2] = channel_number(v ^ step, 2 + exit_k, n, copy)
                exit_at = more
    if exit_k >= 0 and exit_step == 0:
        traffic.asked[at, 2] = channel_number(v, 2 + exit_k, n, copy)
        exit_at = at
    return at, exit_at


@block
def _next_hop(net, a, q, goal, flip):
    """Return the label that R' leads to, the external dimension, and the step of a detour or 0."""
    to = shortcut_label(a ^ flip, goal ^ flip) ^ flip
    step = buddy_step(q, np.int64(net.fault[a])) if (net.fault[to] >> q) & 1 else np.int64(0)
    return to, highest(np.uint64(a ^ to)), step


@block
def _add_sweep_message(traffic, net, a, q, flip, n, copy):
    """Add the message D_H or D_L from (a, q), if it has a destination."""
    goal = next_label(net.busy, a, flip)
    if goal < 0:
        return
    own = np.int64(0)  # places to serve; none in the source's supernode, which has messages of its own
    before = _NONE
    while True:
        to, k, step = a, _NONE, np.int64(0)
        if goal >= 0:
            to, k, step = _next_hop(net, a, q, goal, flip)
        stop = MessageStop(a, q, own, np.int64(net.fault[a]))
        steps = first_steps(q, own, stop.fault)
        at, exit_at = _add_supernode_requests(traffic, n, stop, steps, step, k, copy)
        if before >= 0:
            traffic.then[before, 2] = at
        if goal < 0:
            break
        before = exit_at
        q ^= step
        a = to
        own = np.int64(0)
        if a == goal:
            own = np.int64(net.wanted[a])
            goal = next_label(net.busy, a, flip)
    _end_message(traffic)


@block
def add_multicast(traffic, net, a, q, n, copies):
    """Add the messages of one multicast, in their order: D_E over the low and the high dimension, D_H, D_L."""
    own, fault = np.int64(net.wanted[a]), np.int64(net.fault[a])
    for j in range(2):
        step = first_steps(q, own, fault) & (np.int64(1) << j)
        if step:
            stop = MessageStop(a, q, own, fault)
            _add_supernode_requests(traffic, n, stop, step, np.int64(0), _NONE, False)
            _end_message(traffic)
    _add_sweep_message(traffic, net, a, q, np.int64(0), n, False)
    _add_sweep_message(traffic, net, a, q, np.int64(net.wanted.size - 1), n, copies == 2)


@block
def _acquire_channels(traffic, at, step):
    """Grant a request all its channels if they are free; return whether it was granted."""
    for i in range(3):
        c = traffic.asked[at, i]
        if c >= 0 and traffic.held[c]:
            return False
    for i in range(3):
        c = traffic.asked[at, i]
        if c >= 0:
            traffic.held[c] = 1
            if traffic.then[at, i] >= 0:
                traffic.reached[traffic.then[at, i]] = step
    traffic.reached[at] = -1
    return True


@block
def _release_channels(traffic, first, end):
    for at in range(first, end):
        if traffic.reached[at] < 0:
            for i in range(3):
                if traffic.asked[at, i] >= 0:
                    traffic.held[traffic.asked[at, i]] = 0


@block
def has_deadlock(traffic):
    """Run until all messages have ended (False) or no request is granted in a step (True); then free all channels."""
    messages = traffic.counts[0]
    for m in range(messages):
        traffic.left[m] = traffic.message[m + 1] - traffic.message[m]
    step = np.int32(0)
    alive = messages
    while alive > 0:
        step += np.int32(1)
        acquired = False
        for m in range(messages):
            if traffic.left[m] == 0:
                continue
            first = traffic.message[m]
            end = traffic.message[m + 1]
            for at in range(first, end):
                if 0 <= traffic.reached[at] < step and _acquire_channels(traffic, at, step):
                    acquired = True
                    traffic.left[m] -= 1
            if traffic.left[m] == 0:
                _release_channels(traffic, first, end)
                alive -= 1
        if not acquired:
            for m in range(messages):
                if traffic.left[m] > 0:
                    _release_channels(traffic, traffic.message[m], traffic.message[m + 1])
            return True
    return False
