"""One trial at a time: all that ``lanes`` counts, and what it cannot: the parts, and how far it is from s to t."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cube.tables import FAULTY, OPEN, make_tabulate, named_slots, named_step, search_nodes
from ..draws.faults import Faults, draw, faults_for
from ..machine.bits import ONE, ZERO
from ..machine.jit import block, scratch
from ..machine.trials import trials_kernel
from ..tally.sums import add_quantity, offer
from .layout import COMPARED_EVENTS, SURVIVAL
from .layout import SURVIVAL_COMPONENTS as PARTS

_NOT_SEARCHED = np.uint8(255)

_LARGEST, _PARTS, _SOME = PARTS.moments("largest"), PARTS.moments("parts"), PARTS.counter("some")
_REACHED, _LENGTH, _INTACT = PARTS.counter("reached"), PARTS.moments("length"), PARTS.moments("intact")
_LENGTH_INTACT = PARTS.counter("length_intact")
_BOTH, _BOTH_LENGTH, _GAIN = PARTS.counter("both"), PARTS.moments("both_length"), PARTS.moments("gain")
_MOST_PARTS = PARTS.extreme("parts")

_COUNTS = SURVIVAL.family("{}", COMPARED_EVENTS)
_CUBE = SURVIVAL.family("cube_{}", COMPARED_EVENTS)
_GAINS = SURVIVAL.family("{}_gain", COMPARED_EVENTS)
_DIFFERS = SURVIVAL.family("{}_differs", COMPARED_EVENTS)
_DEFINED = SURVIVAL.counter("pairs")


class SearchNetwork(NamedTuple):
    """A network, and what a search leaves in it."""

    table: Any  #: int32 (2^n, slots): neighbours
    cut: Any  #: uint64: the faulty links, see ``cube/tables.py``; empty where none fail
    length: Any  #: int32: links from s, or from the first node of a part
    queue: Any  #: int32
    intact: Any  #: uint8 (2^n, 2^n): distances without faults, a row when it is first asked for; empty where none is


class SurvivalScratch(NamedTuple):
    """Scratch of a point."""

    faults: Faults
    own: SearchNetwork
    cube: SearchNetwork
    same: Any  #: bool: the network is the hypercube


class SearchResult(NamedTuple):
    """What one trial leaves of a network."""

    parts: Any
    largest: Any
    isolated: Any
    length: Any  #: from s to t; -1 where there is no path, or no pair


@block
def _search_components(n, faults, net):
    """Search the nonfaulty nodes part by part, the pair's first."""
    nodes, count = np.int64(1) << n, faults.size[0]
    ends = faults.ends
    for v in range(nodes):
        net.length[v] = OPEN
    for i in range(count):
        net.length[np.int64(faults.labels[i])] = FAULTY
    for i in range(faults.lower.size):  # faulty links by their names: the end with bit d clear, and d
        v, d = np.int64(faults.lower[i]), faults.dims[i]
        net.cut[v] |= ONE << d
        net.cut[net.table[v, np.int64(d)]] |= ONE << d
    parts = largest = isolated = np.int64(0)
    length = np.int64(-1)
    if ends.size:
        largest = search_nodes(net.table, net.cut, np.int32(ends[0]), net.length, net.queue)
        parts += 1
        isolated += largest == 1
        length = max(np.int64(net.length[np.int64(ends[1])]), np.int64(-1))
    for v in range(nodes):
        if net.length[v] == OPEN:
            size = search_nodes(net.table, net.cut, np.int32(v), net.length, net.queue)
            parts += 1
            isolated += size == 1
            largest = max(largest, size)
    for i in range(faults.lower.size):
        v, d = np.int64(faults.lower[i]), np.int64(faults.dims[i])
        net.cut[v] = net.cut[net.table[v, d]] = ZERO
    return SearchResult(parts, largest, isolated, length)


@block
def _intact_distance(net, s, t):
    """Links from s to t without faults."""
    if net.intact[s, t] == _NOT_SEARCHED:
        for v in range(net.length.size):
            net.length[v] = OPEN
        search_nodes(net.table, net.cut[:0], np.int32(s), net.length, net.queue)
        for v in range(net.length.size):
            net.intact[s, v] = net.length[v]
    return np.int64(net.intact[s, t])


def _make_set_up(intact: bool) -> Any:
    rows_of = 1 if intact else 0
    tabulate = make_tabulate(named_step)

    @scratch
    def network_for(index, n, links):
        nodes = np.int64(1) << n
        table = np.empty((nodes, named_slots(index, n)), np.int32)
        tabulate(index, n, table)
        return SearchNetwork(
            table,
            np.zeros(nodes if links else 0, np.uint64),
            np.empty(nodes, np.int32),
            np.empty(nodes, np.int32),
            np.full((nodes * rows_of, nodes * rows_of), _NOT_SEARCHED),
        )

    @scratch
    def set_up(params):
        index, n, f, k = np.int64(params[0]), np.int64(params[1]), np.int64(params[2]), np.int64(params[3])
        ends = 2 if (np.int64(1) << n) - f >= 2 else 0
        return SurvivalScratch(
            faults_for(n, f, k, ends), network_for(index, n, k), network_for(np.int64(0), n, k), index == 0
        )

    return set_up


@block
def _count_parts(t, own, cube, intact, tally):
    add_quantity(tally, _LARGEST, own.largest)
    add_quantity(tally, _PARTS, own.parts)
    tally[_SOME] += own.parts > 0
    offer(tally, _MOST_PARTS, own.parts, t)
    if own.length < 0:
        return
    tally[_REACHED] += 1
    add_quantity(tally, _LENGTH, own.length)
    add_quantity(tally, _INTACT, intact)
    tally[_LENGTH_INTACT] += own.length * intact
    if cube.length < 0:
        return
    gain = own.length - cube.length
    tally[_BOTH] += 1
    add_quantity(tally, _BOTH_LENGTH, own.length)
    add_quantity(tally, _GAIN, gain)


@block
def _parts_trial(key, t, params, scratch, tally):
    n = np.int64(params[1])
    faults = scratch.faults
    draw(key, t, n, faults)
    own = _search_components(n, faults, scratch.own)
    cube = own if scratch.same else _search_components(n, faults, scratch.cube)
    intact = np.int64(0)
    if own.length >= 0:
        intact = _intact_distance(scratch.own, np.int64(faults.ends[0]), np.int64(faults.ends[1]))
    _count_parts(t, own, cube, intact, tally)


@block
def _verdict_of(found):
    """In the order of COMPARED (N5)."""
    return (
        np.int64(found.parts == 1),
        np.int64(found.isolated == 0),
        np.int64(found.parts > 1 and found.isolated == 0),
        np.int64(found.length >= 0),
    )


@block
def survival_trial(key, t, params, scratch, tally):
    n = np.int64(params[1])
    draw(key, t, n, scratch.faults)
    own = _verdict_of(_search_components(n, scratch.faults, scratch.own))
    cube = own if scratch.same else _verdict_of(_search_components(n, scratch.faults, scratch.cube))
    tally[_DEFINED] += (np.int64(1) << n) - scratch.faults.size[0] >= 2
    for i in range(4):
        tally[_COUNTS[i]] += own[i]
        tally[_CUBE[i]] += cube[i]
        tally[_GAINS[i]] += own[i] - cube[i]
        tally[_DIFFERS[i]] += own[i] != cube[i]


set_up_survival = _make_set_up(False)

#: ``params`` of both is (index of the network, n, f, K), n <= 12 for the first.
SURVIVAL_COMPONENTS = trials_kernel(_make_set_up(True), _parts_trial)
SURVIVAL_SINGLE = trials_kernel(set_up_survival, survival_trial)
