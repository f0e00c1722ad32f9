"""Survival trials one at a time: the counts of ``lanes``, and also components and the distance from s to t.

Each trial samples its faults once, and searches the network and, under the same faults, the hypercube.  s and t are a random pair
of nonfaulty nodes.  The hypercube can have the same faulty links only if each of its links has its name and number in the network
too; otherwise it is not *compared*.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cube.link_numbers import NumberedLinks, contains_hypercube, is_matched, number_all_links
from ..cube.tables import FAULTY, OPEN, make_tabulate, named_slots, named_step, search_nodes
from ..draws.faults import FAULTY_NODES, Faults, draw, faults_for
from ..draws.links import LinkDraws, link_draws_for
from ..machine import simd
from ..machine.array_types import I64, Bytes, Ints32, Words
from ..machine.bits import ONE, ZERO
from ..machine.jit import block, scratch
from ..machine.trials import trials_kernel
from ..tally.maxima import offer
from ..tally.sums import add_quantity, add_wide
from .drawing import propose_links
from .layout import COMPARED_EVENTS, EXTRA_NODES, LEAST_COMPONENTS, LENGTH_BINS, SURVIVAL
from .layout import SURVIVAL_COMPONENTS as COMPONENTS

#: Distance without faults that is not computed yet; all distances are smaller.
_NOT_SEARCHED = np.uint8(255)

_LARGEST, _COMPONENTS, _SOME = (
    COMPONENTS.moments("largest"),
    COMPONENTS.moments("components"),
    COMPONENTS.counter("some"),
)
_REACHED, _LENGTH, _INTACT = COMPONENTS.counter("reached"), COMPONENTS.moments("length"), COMPONENTS.moments("intact")
_LENGTH_INTACT, _LENGTH_BINS = COMPONENTS.counter("length_intact"), COMPONENTS.counter("length_bins")
_BOTH, _BOTH_LENGTH = COMPONENTS.counter("both"), COMPONENTS.moments("both_length")
_LENGTH_DIFF = COMPONENTS.moments("distance_diff")
_EXTRA, _COMPONENTS_AT_LEAST = (
    COMPONENTS.family("extra_{}", EXTRA_NODES),
    COMPONENTS.family("at_least_{}_components", LEAST_COMPONENTS),
)
_SECOND = COMPONENTS.moments("second")
_CONNECTED_PAIRS, _CONNECTED_PAIRS_DIFF = (
    COMPONENTS.moments("connected_pairs"),
    COMPONENTS.moments("connected_pairs_diff"),
)
_MOST_COMPONENTS = COMPONENTS.maximum("components")

_COUNTS = SURVIVAL.family("{}", COMPARED_EVENTS)
_CUBE = SURVIVAL.family("cube_{}", COMPARED_EVENTS)
_DIFFS = SURVIVAL.family("{}_diff", COMPARED_EVENTS)
_DIFFERS = SURVIVAL.family("{}_differs", COMPARED_EVENTS)
_PAIRS = SURVIVAL.counter("pairs")


class SurvivalPoint(NamedTuple):
    """The axes of the studies of survival, in their order."""

    network: I64  #: place in ``SLOTS``
    n: I64
    faults: float  #: number of faulty nodes, or their rate
    links: float  #: number of faulty links, or their rate


@block
def read_point(params):
    """Return the :class:`SurvivalPoint` of a kernel's parameters."""
    return SurvivalPoint(np.int64(params[0]), np.int64(params[1]), params[2], params[3])


class SearchNetwork(NamedTuple):
    """A network, and the results of the last search in it."""

    table: Ints32  #: (2^n, slots): neighbours
    cut: Words  #: the faulty links, see ``cube/tables.py``; empty where none fail
    length: Ints32  #: distance from s, or from the first node of another component; OPEN or FAULTY if not reached
    queue: Ints32  #: nodes in the order in which the search reached them
    intact: Bytes  #: (2^n, 2^n): distances without faults, a row computed on demand; empty if not needed


class SurvivalScratch(NamedTuple):
    """Scratch memory of trials on one network."""

    faults: Faults
    own: SearchNetwork  #: the network
    cube: SearchNetwork  #: the hypercube
    same: bool  #: whether the network is the hypercube
    numbered: NumberedLinks  #: the links of the network
    compared: bool  #: whether the hypercube has the same faults
    links: I64  #: number of faulty links
    link_draws: LinkDraws


class SearchResult(NamedTuple):
    """Results of one trial in one network."""

    components: I64  #: number of components
    largest: I64  #: nodes of the largest component
    second: I64  #: nodes of the second largest component
    smallest: I64  #: nodes of the smallest component
    connected_pairs: I64  #: number of pairs of nodes in one component
    isolated: I64  #: number of isolated nodes
    length: I64  #: links from s to t; -1 if there is no path, or no pair


@block
def _search_components(n, faults, net):
    """Search the nonfaulty nodes component by component, and return a SearchResult.

    The first search begins with s, so that ``length`` has the distances from s in its component.
    """
    nodes, count = np.int64(1) << n, faults.size[FAULTY_NODES]
    ends = faults.ends
    for v in range(nodes):
        net.length[v] = OPEN
    for i in range(count):
        net.length[np.int64(faults.labels[i])] = FAULTY
    components = largest = second = isolated = connected_pairs = np.int64(0)
    smallest = nodes
    length = np.int64(-1)
    if ends.size:
        largest = search_nodes(net.table, net.cut, np.int32(ends[0]), net.length, net.queue)
        components += 1
        smallest = largest
        connected_pairs = largest * (largest - 1) // 2
        isolated += largest == 1
        length = max(np.int64(net.length[np.int64(ends[1])]), np.int64(-1))
    for v in range(nodes):
        if net.length[v] == OPEN:
            size = search_nodes(net.table, net.cut, np.int32(v), net.length, net.queue)
            components += 1
            isolated += size == 1
            second = max(second, min(largest, size))
            largest = max(largest, size)
            smallest = min(smallest, size)
            connected_pairs += size * (size - 1) // 2
    return SearchResult(components, largest, second, smallest, connected_pairs, isolated, length)


@block
def draw_cuts(key, t, n, count, numbered, cut, draws):
    """Write ``count`` distinct faulty links of trial ``t`` to a network's ``cut``; see ``cube/link_numbers.py``.

    The sequence of links is that of ``drawing.propose_links``, sixteen positions at a time.
    """
    cut[:] = ZERO
    halves = simd.iota(simd.splat(ZERO))
    taken = np.int64(0)
    while taken < count:
        propose_links(key, t, n, numbered.numbers, np.int64(numbered.names.shape[0]), halves, draws)
        for i in range(16):
            number = np.int64(draws.links[i])
            if number < 0 or taken == count:
                continue
            v, d = numbered.names[number, 0], numbered.names[number, 1]
            if (cut[v] >> np.uint64(d)) & ONE == ZERO:
                cut[v] |= ONE << np.uint64(d)
                cut[numbered.table[v, d]] |= ONE << np.uint64(d)
                taken += 1
        halves = halves + 8


@block
def _copy_cuts(own, cube, n):
    """Write the faulty links of a network to the hypercube's ``cut``; the end with bit d clear names a link in both."""
    cube.cut[:] = ZERO
    for v in range(cube.cut.size):
        for d in range(n):
            if (v >> d) & 1 == 0 and (own.cut[v] >> np.uint64(d)) & ONE:
                cube.cut[v] |= ONE << np.uint64(d)
                cube.cut[v ^ (1 << d)] |= ONE << np.uint64(d)


@block
def _draw_faults(key, t, n, scratch):
    """Sample the faults of trial ``t`` for the network, and for the hypercube if it is compared."""
    draw(key, t, n, scratch.faults)
    if scratch.links:
        draw_cuts(key, t, n, scratch.links, scratch.numbered, scratch.own.cut, scratch.link_draws)
        if scratch.compared and not scratch.same:
            _copy_cuts(scratch.own, scratch.cube, n)


@block
def _intact_distance(net, s, t):
    """Return the distance from s to t without faults; overwrites the results of the last search."""
    if net.intact[s, t] == _NOT_SEARCHED:
        for v in range(net.length.size):
            net.length[v] = OPEN
        search_nodes(net.table, net.cut[:0], np.int32(s), net.length, net.queue)
        for v in range(net.length.size):
            net.intact[s, v] = net.length[v]
    return np.int64(net.intact[s, t])


def _make_set_up(intact: bool) -> Any:
    """Return the set-up of trials, with memory for distances without faults if ``intact`` is set."""
    has_intact = 1 if intact else 0
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
            np.full((nodes * has_intact, nodes * has_intact), _NOT_SEARCHED),
        )

    @scratch
    def set_up(params):
        point = read_point(params)
        index, n, f, links = point.network, point.n, np.int64(point.faults), np.int64(point.links)
        ends = 2 if (np.int64(1) << n) - f >= 2 else 0
        own = network_for(index, n, links)
        return SurvivalScratch(
            faults_for(n, f, np.int64(0), ends),
            own,
            network_for(np.int64(0), n, links),
            index == 0,
            number_all_links(own.table, n),
            links == 0 or is_matched(own.table, n) or contains_hypercube(own.table, n),
            links,
            link_draws_for(np.int64(0)),
        )

    return set_up


@block
def _tally_components(t, own, cube, compared, intact, tally):
    """Tally the results of a trial in the network and in the hypercube; ``intact`` is the distance without faults from s to t."""
    add_quantity(tally, _LARGEST, own.largest)
    add_quantity(tally, _COMPONENTS, own.components)
    tally[_SOME] += own.components > 0
    offer(tally, _MOST_COMPONENTS, own.components, t)
    for i in range(2):
        tally[_EXTRA[i]] += own.components > 1 and own.smallest > EXTRA_NODES[i]
        tally[_COMPONENTS_AT_LEAST[i]] += own.components >= LEAST_COMPONENTS[i]
    add_quantity(tally, _SECOND, own.second)
    add_quantity(tally, _CONNECTED_PAIRS, own.connected_pairs)
    if compared:
        difference = own.connected_pairs - cube.connected_pairs
        tally[_CONNECTED_PAIRS_DIFF.total] += difference
        add_wide(tally, _CONNECTED_PAIRS_DIFF.squares, np.uint64(difference * difference))
        tally[_CONNECTED_PAIRS_DIFF.nonzero] += difference != 0
    if own.length < 0:
        return
    tally[_REACHED] += 1
    add_quantity(tally, _LENGTH, own.length)
    tally[_LENGTH_BINS + min(own.length, LENGTH_BINS - 1)] += 1
    add_quantity(tally, _INTACT, intact)
    tally[_LENGTH_INTACT] += own.length * intact
    if cube.length < 0:
        return
    tally[_BOTH] += 1
    add_quantity(tally, _BOTH_LENGTH, own.length)
    add_quantity(tally, _LENGTH_DIFF, own.length - cube.length)


@block
def _components_trial(key, t, params, scratch, tally):
    """Count a trial of ``survival-components``."""
    n = read_point(params).n
    faults = scratch.faults
    _draw_faults(key, t, n, scratch)
    own = _search_components(n, faults, scratch.own)
    cube = own if scratch.same or not scratch.compared else _search_components(n, faults, scratch.cube)
    intact = np.int64(0)
    if own.length >= 0:
        intact = _intact_distance(scratch.own, np.int64(faults.ends[0]), np.int64(faults.ends[1]))
    _tally_components(t, own, cube, scratch.compared, intact, tally)


@block
def _verdict_of(found):
    """Return the verdicts in the order of COMPARED_EVENTS (N5)."""
    return (
        np.int64(found.components == 1),
        np.int64(found.isolated == 0),
        np.int64(found.components > 1 and found.isolated == 0),
        np.int64(found.length >= 0),
    )


@block
def survival_trial(key, t, params, scratch, tally):
    """Count a trial of ``survival``."""
    n = read_point(params).n
    _draw_faults(key, t, n, scratch)
    own = _verdict_of(_search_components(n, scratch.faults, scratch.own))
    cube = own
    if scratch.compared and not scratch.same:
        cube = _verdict_of(_search_components(n, scratch.faults, scratch.cube))
    tally[_PAIRS] += (np.int64(1) << n) - scratch.faults.size[FAULTY_NODES] >= 2
    for i in range(len(_COUNTS)):
        tally[_COUNTS[i]] += own[i]
        if scratch.compared:
            tally[_CUBE[i]] += cube[i]
            tally[_DIFFS[i]] += own[i] - cube[i]
            tally[_DIFFERS[i]] += own[i] != cube[i]


set_up_survival = _make_set_up(False)

#: ``params`` of both kernels is (index of the network, n, f, K), n <= 12 for the first.
SURVIVAL_COMPONENTS = trials_kernel(_make_set_up(True), _components_trial)
SURVIVAL_SINGLE = trials_kernel(set_up_survival, survival_trial)
