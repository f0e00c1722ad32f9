"""Trials of dual-cube routing: sample a pair, route it, optionally search for a shortest path, and tally (B8).

The route is that of PRACTICAL (``routing``).  Its *lookups* are the distinct labels whose status the interpretation queries.

Node statuses are hashes under ``nodes.status_key``, and ``pairs.draw_pairs`` samples pairs of nodes nonfaulty under them.  A
trial is discarded if fewer than two nodes are nonfaulty (tested for m <= SEARCH_M), or if none of the first 2^20 candidate pairs
is valid.  At failure rates up to 0.99 the latter has probability below 10^-45.

Trials are processed in batches, so that vectors can be used: all pairs of a batch are sampled, then all are routed, then lookups
and shortest paths are counted pair by pair.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cube.labels import IS_FULL, STORED_LABELS
from ..draws.pairs import BATCH, PairSource, draw_pairs, pair_arrays
from ..draws.statuses import threshold
from ..machine import simd
from ..machine.array_types import I64
from ..machine.bits import ONE, ZERO, first_lanes, lowest, popcount
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from ..tally.lane_sums import add_with_square
from ..tally.maxima import offer, read_maximum
from ..tally.sums import add_quantity
from .lanes import DualCube, is_faster_in_lanes, route_batch_for, route_lengths
from .layout import DUALCUBE_ROUTING, SEARCH_M
from .lookups import RecordedDualCube, clear_record, lookup_record_for, route_recorded
from .routing import LIMIT, PATH_NODES, TREE_COUNT, position_dims
from .shortest import bitmask_words, draw_nonfaulty, shortest_length
from .trees import route_workspace_for

#: Without the search, lookups are counted in the trials whose index is a multiple of this power of two, because recording the
#: queries takes several times as long as the route.
LOOKUPS_EVERY = 64

_VALID = DUALCUBE_ROUTING.counter("valid")
_DELIVERED = DUALCUBE_ROUTING.counter("delivered")
_EXHAUSTED = DUALCUBE_ROUTING.counter("exhausted")
_LIMIT = DUALCUBE_ROUTING.counter("limit")
_DISCARDED = DUALCUBE_ROUTING.counter("discarded")
_LENGTH = DUALCUBE_ROUTING.counter("length")
_LENGTH_LENGTH = DUALCUBE_ROUTING.counter("length_length")
_DISTANCE = DUALCUBE_ROUTING.counter("distance")
_LENGTH_DISTANCE = DUALCUBE_ROUTING.counter("length_distance")
_DISTANCE_DISTANCE = DUALCUBE_ROUTING.counter("distance_distance")
_DETOURS = DUALCUBE_ROUTING.counter("detours")
_COUNTED = DUALCUBE_ROUTING.counter("lookups_counted")
_LOOKUPS = DUALCUBE_ROUTING.moments("lookups")
_CONNECTED = DUALCUBE_ROUTING.counter("connected")
_SHORTEST = DUALCUBE_ROUTING.counter("shortest")
_LENGTH_SHORTEST = DUALCUBE_ROUTING.counter("length_shortest")
_SHORTEST_SHORTEST = DUALCUBE_ROUTING.counter("shortest_shortest")
_SHORTEST_ROUTES = DUALCUBE_ROUTING.counter("shortest_routes")
_LONGER = DUALCUBE_ROUTING.counter("longer")
_LONGEST = DUALCUBE_ROUTING.maximum("longest")
_DETOUR = DUALCUBE_ROUTING.maximum("detour")

_TWO = np.uint64(2)
# Vectors hold lengths as unsigned numbers: the value of LIMIT, and a bound of all lengths.  Failures, which are negative, are far
# above it.
_LIMIT_UNSIGNED = np.uint64(LIMIT % 2**64)
_LENGTH_BOUND = np.uint64(2**32)


class SearchBitmasks(NamedTuple):
    """Scratch memory of ``shortest.shortest_length``, shape (2, bitmask_words(m)) each."""

    nonfaulty: Any  #: uint64 array: the nonfaulty nodes of one trial
    seen: Any  #: uint64 array, overwritten by a search
    spare: Any  #: uint64 array, overwritten by a search


@scratch
def search_bitmasks_for(m, searching):
    """Return scratch memory for searches in DC(m); empty arrays unless ``searching``."""
    shape = (2, bitmask_words(m) if searching else 0)
    return SearchBitmasks(np.zeros(shape, np.uint64), np.zeros(shape, np.uint64), np.zeros(shape, np.uint64))


@block(always=True)
def fault_free_distance(s, t, m):
    """Return the distance d(s, t) without faults: the Hamming distance, plus 2 for different clusters of one class."""
    x = s ^ t
    leaves_cluster = x >> (m + m) == ZERO and x & ~position_dims(s, m) != ZERO
    return popcount(x) + (2 if leaves_cluster else 0)


@block(always=True)
def _distance_lanes(s, t, m):
    """Return ``fault_free_distance`` of eight pairs."""
    zero = simd.splat(ZERO)
    x = s ^ t
    low = simd.splat((ONE << m) - ONE)
    # A cluster is named by the label bits outside its dimensions.
    cluster_name = simd.select((s >> simd.splat(m + m)) == zero, low << simd.splat(m), low)
    same_class = (x >> simd.splat(m + m)) == zero
    leaves_cluster = same_class & ((x & cluster_name) != zero)
    return simd.popcount(x) + simd.select(leaves_cluster, simd.splat(_TWO), zero)


@block(always=True)
def _update_maximum(tally, maximum, wanted, values, trials, scratch_row):
    """Update the ``maximum`` of a tally with the lanes ``wanted``: a larger value wins, then a smaller trial index.

    Overwrites the first sixteen words of ``scratch_row``.
    """
    best, best_trial = read_maximum(tally, maximum)
    higher = simd.splat(np.uint64(best + 1)) <= values
    equal = simd.splat(np.uint64(best)) == values
    earlier = equal & ~(simd.splat(np.uint64(best_trial)) <= trials)
    better = simd.bits(higher | earlier) & wanted
    if better == ZERO:
        return
    simd.store(scratch_row, 0, values)
    simd.store(scratch_row, 8, trials)
    while better:
        lane = lowest(better)
        better &= better - ONE
        offer(tally, maximum, np.int64(scratch_row[lane]), np.int64(scratch_row[8 + lane]))


@block(always=True)
def _count_routes(n, m, pairs, lengths, tally):
    """Tally the routes of ``n`` valid trials; ``lengths`` are their links or failures as unsigned numbers."""
    zero = simd.splat(ZERO)
    delivered = limited = detours = np.int64(0)
    length_sum = length_squares = distance_sum = distance_squares = product_sum = zero
    for v in range(0, n, 8):
        active = first_lanes(n - v)
        length = simd.load(lengths, v)
        limited += popcount(simd.bits(length == simd.splat(_LIMIT_UNSIGNED)) & active)
        arrived = simd.bits(length <= simd.splat(_LENGTH_BOUND)) & active
        delivered += popcount(arrived)
        distance = _distance_lanes(simd.load(pairs.sources, v), simd.load(pairs.targets, v), m)
        detours += popcount(simd.bits(length != distance) & arrived)
        _update_maximum(tally, _LONGEST, arrived, length, simd.load(pairs.trials, v), pairs.row)
        _update_maximum(tally, _DETOUR, arrived, length - distance, simd.load(pairs.trials, v), pairs.row)
        mask = simd.mask(length, arrived)
        length, distance = simd.select(mask, length, zero), simd.select(mask, distance, zero)
        length_sum, length_squares = add_with_square(length_sum, length_squares, length)
        distance_sum, distance_squares = add_with_square(distance_sum, distance_squares, distance)
        product_sum = product_sum + simd.mul32(length, distance)
    tally[_VALID] += n
    tally[_DELIVERED] += delivered
    tally[_LIMIT] += limited
    tally[_EXHAUSTED] += n - delivered - limited
    tally[_DETOURS] += detours
    tally[_LENGTH] += np.int64(simd.total(length_sum))
    tally[_LENGTH_LENGTH] += np.int64(simd.total(length_squares))
    tally[_DISTANCE] += np.int64(simd.total(distance_sum))
    tally[_DISTANCE_DISTANCE] += np.int64(simd.total(distance_squares))
    tally[_LENGTH_DISTANCE] += np.int64(simd.total(product_sum))


@block
def _count_shortest(length, shortest, tally):
    """Tally the result of the search; ``length`` is negative if the route failed, ``shortest`` -1 if no path joins the pair."""
    if shortest < 0:
        return
    tally[_CONNECTED] += 1
    if length < 0:
        return
    tally[_SHORTEST] += shortest
    tally[_LENGTH_SHORTEST] += length * shortest
    tally[_SHORTEST_SHORTEST] += shortest * shortest
    tally[_SHORTEST_ROUTES] += length == shortest
    tally[_LONGER] += length > shortest


@block
def _count_lookups(i, n, cube, mask, pairs, record, workspace, tally):
    """Tally the lookups of those of the batch's trials i .. n - 1 whose index has no bit of ``mask``.

    Returns n, or the first of these trials whose lookups do not fit into ``record``: it is to be counted again, with a larger
    record.
    """
    workspace_addresses = simd.take_addresses(workspace)
    record_addresses = simd.take_addresses(record)
    while i < n:
        if pairs.trials[i] & mask == ZERO:
            world = RecordedDualCube(pairs.keys[i], cube.limit, cube.m, pairs.keys[:0], record_addresses)
            route_recorded(world, pairs.sources[i], pairs.targets[i], workspace_addresses)
            count, full = record.asked.counts[STORED_LABELS], record.asked.counts[IS_FULL]
            clear_record(record)
            if full:
                return i
            tally[_COUNTED] += 1
            add_quantity(tally, _LOOKUPS, count)
        i += 1
    return n


@block
def _count_searches(n, m, limit, pairs, lengths, bitmasks, tally):
    """Tally shortest paths.  The search is skipped for a route of length d(s, t), because no path is shorter."""
    nonfaulty, seen, spare = bitmasks
    for i in range(n):
        shortest = lengths[i]
        if shortest != fault_free_distance(pairs.sources[i], pairs.targets[i], np.uint64(m)):
            draw_nonfaulty(pairs.keys[i], limit, m, nonfaulty)
            shortest = shortest_length(m, nonfaulty, pairs.sources[i], pairs.targets[i], seen, spare)
        _count_shortest(lengths[i], shortest, tally)


@block(always=True)
def dualcube_pairs(key, m, limit):
    """Return the source of the random pairs of DC(m) for ``draw_pairs``."""
    return PairSource(key, limit, np.int64(2 * m + 1), new_statuses=False)


class RoutingPoint(NamedTuple):
    """The axes of ``dualcube-routing``, in their order."""

    m: I64
    rate: float


@block
def read_point(params):
    """Return the :class:`RoutingPoint` of a kernel's parameters."""
    return RoutingPoint(np.int64(params[0]), params[1])


def _make_kernel(searches: bool) -> Kernel:
    @kernel(TRIALS_SIGNATURE, variant="searched" if searches else "alone")
    def route_trials(key, first, stop, params, tally):
        """Run dual-cube routing trials; ``params`` is (m, rate), 1 <= m <= 30, 0 <= rate < 1, checked by the study's axes."""
        m, rate = read_point(params)
        limit = threshold(rate)
        cube = DualCube(np.uint64(m), limit)
        source = dualcube_pairs(key, m, limit)
        in_lanes = is_faster_in_lanes(m, rate)
        searching = searches and m <= SEARCH_M
        mask = np.uint64(0 if searching else LOOKUPS_EVERY - 1)
        workspace = route_workspace_for(PATH_NODES, TREE_COUNT)
        pairs = pair_arrays()
        lengths = np.zeros(BATCH + 16, np.int64)
        batch = route_batch_for(BATCH)
        capacity = np.int64(512)  # of the record of lookups, in labels; it grows when a route has more
        record = lookup_record_for(capacity, 0)
        bitmasks = search_bitmasks_for(m, searching)
        for begin in range(first, stop, BATCH):
            end = min(begin + BATCH, stop)
            n = draw_pairs(begin, end, source, pairs)
            tally[_DISCARDED] += end - begin - n
            route_lengths(in_lanes, n, cube, pairs, lengths, batch, workspace)
            _count_routes(n, cube.m, pairs, lengths.view(np.uint64), tally)
            i = np.int64(0)
            while i < n:
                i = _count_lookups(i, n, cube, mask, pairs, record, workspace, tally)
                if i < n:
                    capacity *= 4
                    record = lookup_record_for(capacity, 0)
            if searching:
                _count_searches(n, m, limit, pairs, lengths, bitmasks, tally)

    return route_trials


#: The study's kernel.  For m <= SEARCH_M every trial also searches for a shortest path (unless the route has length d(s, t)) and
#: counts its lookups.
TRIALS = _make_kernel(searches=True)

#: Routes without the search, with lookups in one of LOOKUPS_EVERY trials at any m; for comparisons of speed.
ROUTES = _make_kernel(searches=False)
