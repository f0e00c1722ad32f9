"""One random multicast per trial: f faults, a source, its destinations, and the number of channels along both kinds of path.

The tree of a multicast is never built.  It is a chain of visited supernodes up the Hamilton path and a chain down, each with up
to three channels inside.  So the number of channels (the paper's N), the depth and the detours follow from a walk along the
chains (Figures 16 and 17).

``supercube.py`` explains the notation: a node is (a, q), the label of its supernode and its place in it.  ``net.wanted[a]`` and
``net.fault[a]`` are masks of the places of destinations and of the faulty place.  ``flip`` is 0 for the message D_H up the path,
and the largest label, all ones, for the message D_L down: ``a ^ flip`` grows along either message's way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.bitmask import toggle_node
from ..draws.endpoints import Candidates, candidates_for, choose_nodes, start_trial, take_next_node
from ..machine.array_types import I64, Bytes, Words
from ..machine.jit import block, scratch
from ..machine.trials import trials_kernel
from ..partition.scalar import FaultList, draw_fault_list, fault_list_for, search_listed
from ..tally.sums import add_quantity, add_wide, offer
from .layout import DESTINATIONS, MOST_HAMILTON_DIMENSIONS, MULTICAST, F, N
from .supercube import (
    Cut,
    Supercube,
    buddy_step,
    clear_faults,
    clear_wanted,
    first_steps,
    next_label,
    set_faults,
    set_wanted,
    shortcut_label,
    supercube_for,
    supernode_label,
    supernode_place,
)

_PARTITIONED = MULTICAST.counter("partition_exists")
_CHANNELS = MULTICAST.moments("channels")
_HAMILTON = MULTICAST.moments("hamilton")
_FAULT_FREE = MULTICAST.moments("free")
_CHANNELS_FAULT_FREE = MULTICAST.counter("channels_free")
_DEPTH = MULTICAST.moments("depth")
_DETOURED = MULTICAST.counter("detoured")
_DETOURS = MULTICAST.moments("detours")
_SEPARATE = MULTICAST.moments("separate")
_MOST = MULTICAST.maximum("most_channels")


class MulticastCosts(NamedTuple):
    """Numbers of a multicast, or of one of its messages."""

    channels: I64  #: of its tree or chain
    detours: I64
    depth: I64  #: most channels in a row to a destination


@block
def _largest_label(net):
    """Return the largest label of a supercube, all ones."""
    return np.int64(net.fault.size - 1)


@block
def _internal_channels(net, a, q):
    """Return for the destinations in supernode a, reached at place q: channels inside it, the largest distance, first steps.

    First steps are a mask of the steps 1 and 2 from q, of ``first_steps``.
    """
    wanted, fault = np.int64(net.wanted[a]), np.int64(net.fault[a])
    steps = first_steps(q, wanted, fault)
    across = (wanted >> (q ^ 3)) & 1
    channels = (steps & 1) + (steps >> 1) + across
    return channels, np.int64(2 if across else 1 if steps else 0), steps


@block
def _message_costs(net, a, q, flip, hamilton):
    """Return the costs of message D_H or D_L from (a, q), along the whole Hamilton path or with shortcuts."""
    goal = next_label(net.busy, a, flip)
    channels = np.int64(0)
    detours = np.int64(0)
    deepest = np.int64(0)
    length = np.int64(0)
    # The first steps inside supernode a to its destinations.  A detour over one of them shares its channel (A8).  There are none
    # at the source, whose own supernode ``multicast_costs`` adds.
    steps = np.int64(0)
    while goal >= 0:
        neighbour = ((a ^ flip) + 1) ^ flip if hamilton else shortcut_label(a, goal, flip)
        if (net.fault[neighbour] >> q) & 1:
            step = buddy_step(q, np.int64(net.fault[a]))
            detours += 1
            channels += np.int64((steps & step) == 0)
            length += 1
            q ^= step
        channels += 1
        length += 1
        a = neighbour
        steps = np.int64(0)
        if a == goal:
            inside, farthest, steps = _internal_channels(net, a, q)
            channels += inside
            deepest = max(deepest, length + farthest)
            goal = next_label(net.busy, a, flip)
    return MulticastCosts(channels, detours, deepest)


@block
def multicast_costs(net, a, q, hamilton):
    """Return the costs of a multicast from (a, q), along the whole Hamilton path or with shortcuts."""
    inside, farthest, _ = _internal_channels(net, a, q)
    up = _message_costs(net, a, q, np.int64(0), hamilton)
    down = _message_costs(net, a, q, _largest_label(net), hamilton)
    return MulticastCosts(
        inside + up.channels + down.channels,
        up.detours + down.detours,
        max(farthest, up.depth, down.depth),
    )


@block
def count_separate_channels(net, a, q, goal, place):
    """Return the number of channels of a separate message from (a, q) to (goal, place)."""
    flip = np.int64(0) if goal > a else _largest_label(net)
    channels = np.int64(0)
    while a != goal:
        neighbour = shortcut_label(a, goal, flip)
        if (net.fault[neighbour] >> q) & 1:
            q ^= buddy_step(q, np.int64(net.fault[a]))
            channels += 1
        channels += 1
        a = neighbour
    difference = q ^ place
    return channels + (difference & 1) + (difference >> 1)


# ---------------------------------------------------------------- trials


class MulticastEnds(NamedTuple):
    """The multicasts of a trial, made by ``multicast_ends_for``."""

    candidates: Candidates
    sources: Words  #: source of each multicast
    destinations: Words  #: (sources, 2^n): destinations of each source


@scratch
def multicast_ends_for(n, sources):
    """Return arrays for ``sources`` multicasts in Q_n."""
    return MulticastEnds(
        candidates_for(n), np.empty(sources, np.uint64), np.empty((sources, np.int64(1) << n), np.uint64)
    )


@block
def draw_multicasts(key, t, n, destinations, faults, ends):
    """Sample a trial's faults, its sources in turn, and then each source's destinations."""
    draw_fault_list(key, t, n, faults)
    candidates, f = ends.candidates, faults.size[0]
    for i in range(f):
        toggle_node(candidates.taken, faults.labels[i])
    start_trial(candidates, key, t)
    for i in range(ends.sources.size):
        ends.sources[i] = take_next_node(candidates, n)
    for i in range(1, ends.sources.size):  # release all sources but the first
        toggle_node(candidates.taken, ends.sources[i])
    for i in range(ends.sources.size):  # taken: the faults and source i
        choose_nodes(candidates, n, (np.int64(1) << n) - f - 1, destinations, ends.destinations[i])
        toggle_node(candidates.taken, ends.sources[i])
        if i + 1 < ends.sources.size:
            toggle_node(candidates.taken, ends.sources[i + 1])
    for i in range(f):
        toggle_node(candidates.taken, faults.labels[i])


class Scratch(NamedTuple):
    """Scratch memory of trials at one point."""

    faults: FaultList
    ends: MulticastEnds
    net: Supercube  #: empty between trials
    no_faults: Bytes  #: ``Supercube.fault`` without faults


class MulticastPoint(NamedTuple):
    """The axes of ``multicast``."""

    n: I64
    f: I64
    destinations: I64


@block
def read_point(params):
    return MulticastPoint(np.int64(params[N]), np.int64(params[F]), np.int64(params[DESTINATIONS]))


@scratch
def set_up(params):
    n, f, _ = read_point(params)
    net = supercube_for(n)
    return Scratch(
        fault_list_for(n, f),
        multicast_ends_for(n, np.int64(1)),
        net,
        np.zeros(net.fault.size, np.uint8),
    )


@block
def _fault_free_channels(scratch, s, nodes, cut, channels):
    """Return the number of channels of the same multicast without faults, with the partition (0, 1).

    ``channels`` is the number with the faults, which is the answer if there are none and the partition is (0, 1).  The
    destinations are moved to that partition and back.
    """
    net = Supercube(scratch.no_faults, scratch.net.wanted, scratch.net.busy)  # shares the destinations with scratch.net
    if cut.lo == 0 and cut.hi == 1:
        if scratch.faults.size[0] == 0:
            return channels
        return multicast_costs(net, supernode_label(s, cut), supernode_place(s, cut), False).channels
    standard = Cut(cut.n, np.int64(0), np.int64(1))
    clear_wanted(net, nodes, cut)
    set_wanted(net, nodes, standard)
    costs = multicast_costs(net, supernode_label(s, standard), supernode_place(s, standard), False)
    clear_wanted(net, nodes, standard)
    set_wanted(net, nodes, cut)
    return costs.channels


@block
def multicast_trial(key, t, params, scratch, tally):
    """Tally one multicast; without a partition nothing is counted."""
    n, _, destinations = read_point(params)
    faults, net = scratch.faults, scratch.net
    draw_multicasts(key, t, n, destinations, faults, scratch.ends)
    lo, hi, _ = search_listed(faults, n)
    if lo < 0:
        return
    cut = Cut(n, lo, hi)
    s, nodes = scratch.ends.sources[0], scratch.ends.destinations[0][:destinations]
    set_faults(net, faults.labels[: faults.size[0]], cut)
    set_wanted(net, nodes, cut)
    a = supernode_label(s, cut)
    q = supernode_place(s, cut)
    costs = multicast_costs(net, a, q, False)
    if n <= MOST_HAMILTON_DIMENSIONS:
        add_quantity(tally, _HAMILTON, multicast_costs(net, a, q, True).channels)
    fault_free = _fault_free_channels(scratch, s, nodes, cut, costs.channels)
    separate = np.int64(0)
    for v in nodes:
        separate += count_separate_channels(net, a, q, supernode_label(v, cut), supernode_place(v, cut))
    clear_wanted(net, nodes, cut)
    clear_faults(net, faults.labels[: faults.size[0]], cut)
    tally[_PARTITIONED] += 1
    tally[_DETOURED] += np.int64(costs.detours > 0)
    add_quantity(tally, _CHANNELS, costs.channels)
    add_quantity(tally, _FAULT_FREE, fault_free)
    add_wide(tally, _CHANNELS_FAULT_FREE, np.uint64(costs.channels) * np.uint64(fault_free))
    add_quantity(tally, _DEPTH, costs.depth)
    add_quantity(tally, _DETOURS, costs.detours)
    add_quantity(tally, _SEPARATE, separate)
    offer(tally, _MOST, costs.channels, t)


#: Kernel of ``multicast``; params are (n, f, destinations), 3 <= n <= 20.
MULTICAST_SINGLE = trials_kernel(set_up, multicast_trial)
