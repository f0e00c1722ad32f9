"""The trials of both studies: whether the dependency graph of a random fault set has a cycle, and its enumeration; and whether
a random set of multicasts that start together stops, in three ways of sending it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cube.bitmask import turn
from ..draws.ends import Candidates, candidates_for, choose, one_more, start
from ..draws.nodes import Draws, draw_faults, drawn, draws_for
from ..draws.sets import next_choice
from ..machine.bits import ONE, ZERO
from ..machine.jit import block, kernel, scratch
from ..machine.trials import trials_kernel
from ..multicasting.supercube import label_of, place_faults, place_of
from ..partition.single import Listed, listed, search_listed
from .dependencies import Graph, build, graph_for, is_cyclic
from .layout import MULTICAST_DEADLOCK, MULTICAST_WORMHOLE
from .simulation import Traffic, reset, send, stops, traffic_for

_ONE = np.int64(1)
_TWO = np.int64(2)

# ---------------------------------------------------------------- multicast-deadlock

_GRAPH_PARTITIONED = MULTICAST_DEADLOCK.counter("partitioned")
_CYCLIC = MULTICAST_DEADLOCK.counter("cyclic")
_UNICAST = MULTICAST_DEADLOCK.counter("cyclic_unicast")
_REPAIRED = MULTICAST_DEADLOCK.counter("cyclic_repaired")


class DeadlockScratch(NamedTuple):
    """What a trial works in."""

    faults: Listed
    draws: Draws
    graph: Graph
    by_label: Any  #: int64: masks of faulty places


@scratch
def set_up_deadlock(params):
    """Room for the trials of a point (n, f)."""
    n = np.int64(params[0])
    f = np.int64(params[1])
    faults = listed(max(f, drawn(n, f)))
    faults.count[0] = f
    return DeadlockScratch(faults, draws_for(drawn(n, f)), graph_for(n), np.zeros(np.int64(1) << (n - 2), np.int64))


@block
def is_cyclic_with(scratch, n, unicast, copies):
    """Whether the graph of the faults in place has a cycle."""
    build(scratch.graph, scratch.by_label, n, unicast, copies)
    return is_cyclic(scratch.graph)


@block
def _look_for_cycles(n, f, scratch, tally):
    """Count the fault set in place.

    The graph of unicasts is a part of the graph, and the one of two channels maps onto it copy by copy: where it has no
    cycle they have none.
    """
    lo, hi, _ = search_listed(scratch.faults, n)
    if lo < 0:
        return
    tally[_GRAPH_PARTITIONED] += 1
    place_faults(scratch.by_label, scratch.faults.labels, f, lo, hi, n)
    if is_cyclic_with(scratch, n, False, _ONE):
        tally[_CYCLIC] += 1
        tally[_UNICAST] += np.int64(is_cyclic_with(scratch, n, True, _ONE))
        tally[_REPAIRED] += np.int64(is_cyclic_with(scratch, n, False, _TWO))


@block
def deadlock_trial(key, t, params, scratch, tally):
    """One trial at (n, f)."""
    n = np.int64(params[0])
    f = np.int64(params[1])
    draw_faults(key, t, n, f, scratch.faults.labels, scratch.draws)
    _look_for_cycles(n, f, scratch, tally)


#: ``multicast-deadlock``; params are (n, f), 3 <= n <= 8.
MULTICAST_DEADLOCK_SINGLE = trials_kernel(set_up_deadlock, deadlock_trial)


@kernel("int64(int64, int64, int64[::1])")
def count_cyclic(n, f, counts):
    """Visit all sets of f faults of Q_n and add to the slots of the tally as trials do; returns the number of sets."""
    scratch = set_up_deadlock(np.array([n, f], np.float64))
    chosen = np.arange(f)
    total = np.int64(0)
    while True:
        total += 1
        for i in range(f):
            scratch.faults.labels[i] = np.uint64(chosen[i])
        _look_for_cycles(n, f, scratch, counts)
        if not next_choice(chosen, f, np.int64(1) << n):
            return total


# ---------------------------------------------------------------- multicast-wormhole

_WORMHOLE_PARTITIONED = MULTICAST_WORMHOLE.counter("partitioned")
_DEADLOCK = MULTICAST_WORMHOLE.counter("deadlock")
_DEADLOCK_REPAIRED = MULTICAST_WORMHOLE.counter("deadlock_repaired")
_DEADLOCK_SEPARATE = MULTICAST_WORMHOLE.counter("deadlock_separate")


class WormholeScratch(NamedTuple):
    """What a trial works in."""

    faults: Listed
    draws: Draws
    candidates: Candidates
    senders: Any  #: uint64
    nodes: Any  #: uint64, (sender, 2^n): its destinations
    by_label: Any  #: int64: masks of faulty places
    wanted: Any  #: int64: masks of wanted places
    busy: Any  #: uint64: labels with a wanted place
    traffic: Traffic


@scratch
def set_up_wormhole(params):
    """Room for the trials of a point (n, f, senders, destinations)."""
    n = np.int64(params[0])
    f = np.int64(params[1])
    senders = np.int64(params[2])
    destinations = np.int64(params[3])
    faults = listed(max(f, drawn(n, f)))
    faults.count[0] = f
    labels = np.int64(1) << (n - 2)
    # a multicast's requests are at most one at each node that it enters, and four at its source; a unicast's two for each channel
    requests = senders * max((1 << n) + 4 + labels, destinations * (2 * n + 6))
    return WormholeScratch(
        faults,
        draws_for(drawn(n, f)),
        candidates_for(n),
        np.empty(senders, np.uint64),
        np.empty((senders, np.int64(1) << n), np.uint64),
        np.zeros(labels, np.int64),
        np.zeros(labels, np.int64),
        np.zeros(1, np.uint64),
        traffic_for(n, senders * max(4, destinations), requests),
    )


@block
def _sort(nodes, count):
    """Bring up to 255 nodes into ascending order, by insertion."""
    for i in range(1, count):
        x = nodes[i]
        j = i
        while j > 0 and nodes[j - 1] > x:
            nodes[j] = nodes[j - 1]
            j -= 1
        nodes[j] = x


@block
def draw(key, t, n, f, senders, destinations, scratch):
    """Draw a trial's faults, its sources in turn, and then each one's destinations."""
    draw_faults(key, t, n, f, scratch.faults.labels, scratch.draws)
    candidates = scratch.candidates
    for i in range(f):
        turn(candidates.taken, scratch.faults.labels[i])
    start(candidates, key, t)
    for i in range(senders):
        scratch.senders[i] = one_more(candidates, n)
    for i in range(senders):
        turn(candidates.taken, scratch.senders[i])
    for i in range(senders):
        turn(candidates.taken, scratch.senders[i])
        choose(candidates, n, (np.int64(1) << n) - f - 1, destinations, scratch.nodes[i])
        turn(candidates.taken, scratch.senders[i])
        _sort(scratch.nodes[i], destinations)
    for i in range(f):
        turn(candidates.taken, scratch.faults.labels[i])


@block
def _send(scratch, i, first, stop, lo, hi, n, copies):
    """The messages of source i to destinations ``first .. stop - 1`` of its own."""
    for at in range(first, stop):
        v = scratch.nodes[i, at]
        a = label_of(v, lo, hi, n)
        scratch.wanted[a] |= np.int64(1) << place_of(v, lo, hi)
        scratch.busy[0] |= ONE << np.uint64(a)
    s = scratch.senders[i]
    a = label_of(s, lo, hi, n)
    send(scratch.traffic, scratch.by_label, scratch.wanted, scratch.busy, a, place_of(s, lo, hi), n, copies)
    for at in range(first, stop):
        scratch.wanted[label_of(scratch.nodes[i, at], lo, hi, n)] = 0
    scratch.busy[0] = ZERO


@block
def stops_in_parts(scratch, lo, hi, n, senders, destinations, size, copies):
    """Whether the trial stops when each source sends its destinations in parts of ``size``."""
    reset(scratch.traffic)
    for i in range(senders):
        for first in range(0, destinations, size):
            _send(scratch, i, first, min(first + size, destinations), lo, hi, n, copies)
    return stops(scratch.traffic)


@block
def wormhole_trial(key, t, params, scratch, tally):
    """One trial at (n, f, senders, destinations)."""
    n = np.int64(params[0])
    f = np.int64(params[1])
    senders = np.int64(params[2])
    destinations = np.int64(params[3])
    draw(key, t, n, f, senders, destinations, scratch)
    lo, hi, _ = search_listed(scratch.faults, n)
    if lo < 0:
        return
    tally[_WORMHOLE_PARTITIONED] += 1
    place_faults(scratch.by_label, scratch.faults.labels, f, lo, hi, n)
    one = np.int64(1)
    two = np.int64(2)
    tally[_DEADLOCK] += np.int64(stops_in_parts(scratch, lo, hi, n, senders, destinations, destinations, one))
    tally[_DEADLOCK_REPAIRED] += np.int64(stops_in_parts(scratch, lo, hi, n, senders, destinations, destinations, two))
    tally[_DEADLOCK_SEPARATE] += np.int64(stops_in_parts(scratch, lo, hi, n, senders, destinations, one, two))


#: ``multicast-wormhole``; params are (n, f, senders, destinations), 3 <= n <= 8.
MULTICAST_WORMHOLE_SINGLE = trials_kernel(set_up_wormhole, wormhole_trial)
