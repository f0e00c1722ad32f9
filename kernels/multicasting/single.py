"""One random multicast a trial: f faults, a source, its destinations, and the number of channels along both kinds of path.

The tree of a multicast is never made.  It is a chain of visited supernodes up the Hamilton path and one down, each with
up to three channels inside, so N, the depth and the detours follow from a walk along the chain (Figures 16 and 17).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cube.bitmask import turn
from ..draws.ends import Candidates, candidates_for, choose, one_more, start
from ..draws.nodes import Draws, draw_faults, drawn, draws_for
from ..machine.bits import ONE, ZERO
from ..machine.jit import block, scratch
from ..machine.trials import trials_kernel
from ..partition.single import Listed, listed, search_listed
from ..tally.sums import add_quantity, add_wide, offer
from .layout import HAMILTON, MULTICAST
from .supercube import buddy_step, first_steps, label_of, next_label, place_of, shortcut

_PARTITIONED = MULTICAST.counter("partitioned")
_CHANNELS = MULTICAST.moments("channels")
_HAMILTON = MULTICAST.moments("hamilton")
_FREE = MULTICAST.moments("free")
_PRODUCT = MULTICAST.counter("channels_free")
_DEPTH = MULTICAST.moments("depth")
_DETOURED = MULTICAST.counter("detoured")
_DETOURS = MULTICAST.moments("detours")
_SEPARATE = MULTICAST.moments("separate")
_MOST = MULTICAST.extreme("most_channels")


class Net(NamedTuple):
    """A supercube with its faults and the destinations of one multicast, by label."""

    fault: Any  #: uint8: mask of the faulty place, or 0
    wanted: Any  #: uint8: mask of the wanted places
    busy: Any  #: uint64 bitmap: labels with a wanted place


@scratch
def net_for(n):
    """Nets of Q_n, 2 <= n <= 20, without faults or destinations."""
    size = np.int64(1) << (n - 2)
    return Net(np.zeros(size, np.uint8), np.zeros(size, np.uint8), np.zeros(max(1, size >> 6), np.uint64))


@block
def set_faults(net, faults, lo, hi, n, on):
    """Enter the faults, or clear them."""
    for i in range(faults.count[0]):
        v = faults.labels[i]
        a = label_of(v, lo, hi, n)
        net.fault[a] = (1 << place_of(v, lo, hi)) if on else 0


@block
def set_wanted(net, nodes, count, lo, hi, n):
    """Enter the destinations."""
    for i in range(count):
        v = nodes[i]
        a = label_of(v, lo, hi, n)
        net.wanted[a] |= np.uint8(1 << place_of(v, lo, hi))
        net.busy[a >> 6] |= ONE << np.uint64(a & 63)


@block
def clear_wanted(net, nodes, count, lo, hi, n):
    """Take them out."""
    for i in range(count):
        a = label_of(nodes[i], lo, hi, n)
        net.wanted[a] = 0
        net.busy[a >> 6] = ZERO


@block
def inside(q, wanted, fault):
    """Channels from place q to the wanted places of its supernode, and the farthest of them."""
    steps = first_steps(q, wanted, fault)
    across = (wanted >> (q ^ 3)) & 1
    channels = (steps & 1) + (steps >> 1) + across
    return channels, np.int64(2 if across else 1 if steps else 0)


@block
def sweep(net, a, q, flip, top, hamilton):
    """The message D_H (``flip`` = 0) or D_L (``flip`` = all ones, ``top``) from (a, q).

    Returns its channels, its detours, and the most channels in a row to one of its destinations.
    """
    words = net.busy.size
    goal = next_label(net.busy, a, flip, words)
    channels = np.int64(0)
    detours = np.int64(0)
    deepest = np.int64(0)
    length = np.int64(0)
    steps = np.int64(0)  # first steps inside the supernode that are taken anyway (A8); none at the source
    while goal >= 0:
        x = a ^ flip
        to = (x + 1 if hamilton else shortcut(x, goal ^ flip)) ^ flip
        if (net.fault[to] >> q) & 1:
            step = buddy_step(q, np.int64(net.fault[a]))
            detours += 1
            channels += np.int64((steps & step) == 0)
            length += 1
            q ^= step
        channels += 1
        length += 1
        a = to
        steps = np.int64(0)
        if a == goal:
            wanted = np.int64(net.wanted[a])
            fault = np.int64(net.fault[a])
            more, farthest = inside(q, wanted, fault)
            channels += more
            deepest = max(deepest, length + farthest)
            steps = first_steps(q, wanted, fault)
            goal = next_label(net.busy, a, flip, words)
    return channels, detours, deepest


@block
def whole(net, a, q, top, hamilton):
    """N, the detours and the depth of a multicast from (a, q)."""
    channels, depth = inside(q, np.int64(net.wanted[a]), np.int64(net.fault[a]))
    up, up_detours, up_depth = sweep(net, a, q, np.int64(0), top, hamilton)
    down, down_detours, down_depth = sweep(net, a, q, top, top, hamilton)
    return channels + up + down, up_detours + down_detours, max(depth, up_depth, down_depth)


@block
def alone(net, a, q, goal, place, top):
    """N of a message from (a, q) to (goal, place) only."""
    flip = np.int64(0) if goal > a else top
    channels = np.int64(0)
    while a != goal:
        to = shortcut(a ^ flip, goal ^ flip) ^ flip
        if (net.fault[to] >> q) & 1:
            q ^= buddy_step(q, np.int64(net.fault[a]))
            channels += 1
        channels += 1
        a = to
    apart = q ^ place
    return channels + (apart & 1) + (apart >> 1)


# ---------------------------------------------------------------- trials


class Scratch(NamedTuple):
    """What a trial works in."""

    faults: Listed
    draws: Draws
    candidates: Candidates
    nodes: Any  #: uint64: the destinations
    net: Net
    clean: Any  #: a net's faults when there are none


@scratch
def set_up(params):
    """Room for the trials of a point (n, f, destinations)."""
    n = np.int64(params[0])
    f = np.int64(params[1])
    faults = listed(max(f, drawn(n, f)))
    faults.count[0] = f
    nodes = np.empty(np.int64(1) << n, np.uint64)
    net = net_for(n)
    return Scratch(faults, draws_for(drawn(n, f)), candidates_for(n), nodes, net, np.zeros(net.fault.size, np.uint8))


@block
def draw(key, t, n, f, destinations, scratch):
    """Draw a trial's faults, source and destinations; returns the source."""
    draw_faults(key, t, n, f, scratch.faults.labels, scratch.draws)
    taken = scratch.candidates.taken
    for i in range(f):
        turn(taken, scratch.faults.labels[i])
    start(scratch.candidates, key, t)
    s = one_more(scratch.candidates, n)
    choose(scratch.candidates, n, (np.int64(1) << n) - f - 1, destinations, scratch.nodes)
    turn(taken, s)
    for i in range(f):
        turn(taken, scratch.faults.labels[i])
    return s


@block
def _free_channels(scratch, s, destinations, lo, hi, n, channels, f, top):
    """N of the same source and destinations without faults, with the pair (0, 1)."""
    if lo == 0 and hi == 1:
        if f == 0:
            return channels
        net = Net(scratch.clean, scratch.net.wanted, scratch.net.busy)
        return whole(net, label_of(s, lo, hi, n), place_of(s, lo, hi), top, False)[0]
    net = Net(scratch.clean, scratch.net.wanted, scratch.net.busy)
    zero = np.int64(0)
    one = np.int64(1)
    clear_wanted(net, scratch.nodes, destinations, lo, hi, n)
    set_wanted(net, scratch.nodes, destinations, zero, one, n)
    out = whole(net, label_of(s, zero, one, n), place_of(s, zero, one), top, False)[0]
    clear_wanted(net, scratch.nodes, destinations, zero, one, n)
    set_wanted(net, scratch.nodes, destinations, lo, hi, n)
    return out


@block
def multicast_trial(key, t, params, scratch, tally):
    """One trial at (n, f, destinations)."""
    n = np.int64(params[0])
    f = np.int64(params[1])
    destinations = np.int64(params[2])
    s = draw(key, t, n, f, destinations, scratch)
    lo, hi, _ = search_listed(scratch.faults, n)
    if lo < 0:
        return
    net = scratch.net
    top = (np.int64(1) << (n - 2)) - 1
    set_faults(net, scratch.faults, lo, hi, n, True)
    set_wanted(net, scratch.nodes, destinations, lo, hi, n)
    a = label_of(s, lo, hi, n)
    q = place_of(s, lo, hi)
    channels, detours, depth = whole(net, a, q, top, False)
    if n <= HAMILTON:
        add_quantity(tally, _HAMILTON, whole(net, a, q, top, True)[0])
    free = _free_channels(scratch, s, destinations, lo, hi, n, channels, f, top)
    separate = np.int64(0)
    for i in range(destinations):
        v = scratch.nodes[i]
        separate += alone(net, a, q, label_of(v, lo, hi, n), place_of(v, lo, hi), top)
    clear_wanted(net, scratch.nodes, destinations, lo, hi, n)
    set_faults(net, scratch.faults, lo, hi, n, False)
    tally[_PARTITIONED] += 1
    tally[_DETOURED] += np.int64(detours > 0)
    add_quantity(tally, _CHANNELS, channels)
    add_quantity(tally, _FREE, free)
    add_wide(tally, _PRODUCT, np.uint64(channels) * np.uint64(free))
    add_quantity(tally, _DEPTH, depth)
    add_quantity(tally, _DETOURS, detours)
    add_quantity(tally, _SEPARATE, separate)
    offer(tally, _MOST, channels, t)


#: ``multicast``; params are (n, f, destinations), 3 <= n <= 20.
MULTICAST_SINGLE = trials_kernel(set_up, multicast_trial)
