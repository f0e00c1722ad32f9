"""One random set of multicasts that start together a trial: whether it stops, in three ways of sending it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..bits import ONE, ZERO
from ..jit import block, kernel, scratch
from ..multicasting.draws import Candidates, candidates_for, choose, one_more, start, turn
from ..multicasting.supercube import label_of, place_of
from ..partition.search import Listed, listed, search_listed
from ..sampling import Draws, draw_faults, drawn, draws_for
from ..trials import trials_kernel
from .dependencies import place_faults
from .layout import SIMULATION
from .simulation import Traffic, reset, send, stops, traffic_for

_PARTITIONED = SIMULATION.counter("partitioned")
_DEADLOCK = SIMULATION.counter("deadlock")
_REPAIRED = SIMULATION.counter("deadlock_repaired")
_SEPARATE = SIMULATION.counter("deadlock_separate")


class Scratch(NamedTuple):
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
def set_up(params):
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
    return Scratch(
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
def _stops(scratch, lo, hi, n, senders, destinations, size, copies):
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
    tally[_PARTITIONED] += 1
    place_faults(scratch.by_label, scratch.faults.labels, f, lo, hi, n)
    one = np.int64(1)
    two = np.int64(2)
    tally[_DEADLOCK] += np.int64(_stops(scratch, lo, hi, n, senders, destinations, destinations, one))
    tally[_REPAIRED] += np.int64(_stops(scratch, lo, hi, n, senders, destinations, destinations, two))
    tally[_SEPARATE] += np.int64(_stops(scratch, lo, hi, n, senders, destinations, one, two))


WORMHOLE = trials_kernel(set_up, wormhole_trial)


@kernel("uint64[::1](uint64, int64, int64, int64, int64, int64)")
def wormhole_case(key, t, n, f, senders, destinations):
    """Trial t's faults, its sources, and each one's destinations in ascending order, one after another."""
    scratch = set_up(np.array([n, f, senders, destinations], np.float64))
    draw(key, t, n, f, senders, destinations, scratch)
    out = np.empty(f + senders * (1 + destinations), np.uint64)
    for i in range(f):
        out[i] = scratch.faults.labels[i]
    for i in range(senders):
        out[f + i] = scratch.senders[i]
        for j in range(destinations):
            out[f + senders + i * destinations + j] = scratch.nodes[i, j]
    return out


@kernel("int64(uint64[::1], int64, int64, int64, uint64[::1], uint64[:, ::1], int64)")
def stops_with(faulty, n, lo, hi, senders, nodes, copies):
    """Whether given multicasts, each with as many destinations, stop: 0 or 1.  The pair must be fault-tolerant."""
    scratch = set_up(np.array([n, faulty.size, senders.size, nodes.shape[1]], np.float64))
    place_faults(scratch.by_label, faulty, faulty.size, lo, hi, n)
    for i in range(senders.size):
        scratch.senders[i] = senders[i]
        for j in range(nodes.shape[1]):
            scratch.nodes[i, j] = nodes[i, j]
    return np.int64(_stops(scratch, lo, hi, n, senders.size, nodes.shape[1], nodes.shape[1], copies))
