"""Trials of ROUTE, ROUTE1(k) and ROUTE2(k) in which every node is faulty with a given rate, decided by a hash on demand.

A trial is sampled again as a whole until its ends differ and are nonfaulty (R20; ``fastcube.kernels.draws.pairs``).

Trials are processed in batches.  Messages that move to nearer neighbours are vectors of trials.  Each pass hashes the next node
of every message and compacts the messages under way, so no message waits for its own hash.  A message that finds no fault takes
ROUTE's path.  ROUTE1(k) and ROUTE2(k) take it too, because it is the first path that they try at each node.

With k = 1 a message continues to the next nearer neighbour if one is faulty, as ROUTE1(1) = ROUTE2(1) does.  Scalar code takes
over when all nearer neighbours are faulty.  It does not need the nodes before: they are farther from t than all later nodes,
until the message returns to one of them and then repeats its route.  With k > 1 scalar code routes every message that ROUTE
loses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..draws.nodes import status, status_lanes, threshold
from ..draws.pairs import BATCH, Pairs, PairSource, draw_pairs, pair_arrays
from ..machine import simd
from ..machine.array_types import I64, U64, Words
from ..machine.bits import ALL_BITS, ONE, ZERO, first_lanes, popcount
from ..machine.jit import TRIALS_SIGNATURE, block, kernel, scratch
from ..tally.sums import read_maximum
from .entry import make_recorders
from .layout import RATE, RATE_K, ROUTING_RATE, N
from .rules import LIMIT, SearchScratch, make_route_rules, make_simulator, search_scratch_for

#: Flag in the number of a message that has found a fault.
_BLOCKED_FLAG = np.uint64(1 << 32)

_VALID = ROUTING_RATE.counter("valid")
_ROUTE_DELIVERED = ROUTING_RATE.counter("route_delivered")
_MINIMAL1, _MINIMAL2 = ROUTING_RATE.counter("route1_at_hamming"), ROUTING_RATE.counter("route2_at_hamming")
_LIMIT = ROUTING_RATE.counter("route2_limit")
_EXCESS1, _EXCESS2 = ROUTING_RATE.maximum("route1_excess"), ROUTING_RATE.maximum("route2_excess")
_record1, _record1_minimal = make_recorders(ROUTING_RATE, "route1")
_record2, _record2_minimal = make_recorders(ROUTING_RATE, "route2")


@block(always=True)
def _is_blocked(world, x, bit):
    """Whether the node ``x ^ bit`` is faulty; ``world`` is (status key, threshold)."""
    return status(world[0], x ^ bit) < world[1]


_route1, _route2 = make_route_rules(_is_blocked)
walk1, walk2 = make_simulator(_route1), make_simulator(_route2, searching=True)


class RatePoint(NamedTuple):
    """The parameters of a point."""

    limit: U64  #: ``nodes.threshold`` of the rate
    whole: U64  #: mask of all dimensions
    k: I64


class Batch(NamedTuple):
    """Scratch memory of a batch of trials; made by ``batch_for``."""

    pairs: Pairs
    way: Words  #: 5 rows: key, node, dimensions left, dimensions left to try at this node, and number of each message
    ended: Words  #: 2 rows: dimensions left and number of messages that cannot continue
    search: SearchScratch


@scratch
def batch_for(k):
    size = BATCH + 16
    return Batch(pair_arrays(), np.zeros((5, size), np.uint64), np.zeros((2, size), np.uint64), search_scratch_for(k))


@block(always=True)
def _append_walks(at, chosen, key, node, rest, ask, number, batch):
    """Write the chosen lanes to the messages under way; return their new number."""
    way = batch.way
    simd.store_compressed(way[0], at, chosen, key)
    simd.store_compressed(way[1], at, chosen, node)
    simd.store_compressed(way[2], at, chosen, rest)
    simd.store_compressed(way[3], at, chosen, ask)
    simd.store_compressed(way[4], at, chosen, number)
    return at + popcount(chosen)


@block(always=True)
def _start_walks(drawn, batch):
    """Start the messages that need more than one link; return their number."""
    zero = simd.splat(ZERO)
    eight = simd.iota(zero)
    count = np.int64(0)
    for v in range(0, drawn, 8):
        s = simd.load(batch.pairs.sources, v)
        rest = s ^ simd.load(batch.pairs.targets, v)
        far = (rest & (rest - 1)) != zero
        number = simd.splat(np.uint64(v)) + eight
        key = simd.load(batch.pairs.keys, v)
        count = _append_walks(count, simd.bits(far) & first_lanes(drawn - v), key, s, rest, rest, number, batch)
    return count


@block
def walk_batch(drawn, limit, deep, batch):
    """Move messages from s towards t, by nearer neighbours alone, until each is one link away or cannot continue.

    Returns
    -------
    ended : int64
        Number of messages that cannot continue: with ``deep`` those that found a fault, otherwise those that found all
        nearer neighbours faulty.
    reported : int64
        Number of messages that found a fault.
    """
    one = simd.splat(ONE)
    zero = simd.splat(ZERO)
    least = simd.splat(limit)
    reported_bit = simd.splat(_BLOCKED_FLAG)
    count = _start_walks(drawn, batch)
    ended = np.int64(0)
    reported = np.int64(0)
    way = batch.way
    while count > 0:
        kept = np.int64(0)
        for v in range(0, count, 8):
            live = first_lanes(count - v)
            key, node, rest = simd.load(way[0], v), simd.load(way[1], v), simd.load(way[2], v)
            ask, number = simd.load(way[3], v), simd.load(way[4], v)
            bit = simd.top_bit(ask)
            there = node ^ bit
            passed = least <= status_lanes(key, there)
            node = simd.select(passed, there, node)
            rest = simd.select(passed, rest ^ bit, rest)
            ask = simd.select(passed, rest, ask ^ bit)
            stopped = live & ~simd.bits(passed)
            far = simd.bits((rest & (rest - one)) != zero) & live
            if stopped:
                reported += popcount(stopped & simd.bits((number & reported_bit) == zero))
                number = simd.select(simd.mask(number, stopped), number | reported_bit, number)
                out = stopped if deep else stopped & simd.bits(ask == zero)
                if out:
                    simd.store_compressed(batch.ended[0], ended, out, rest)
                    simd.store_compressed(batch.ended[1], ended, out, number)
                    ended += popcount(out)
                    far &= ~out
            kept = _append_walks(kept, far, key, node, rest, ask, number, batch)
        count = kept
    return ended, reported


@block
def _sum_distances(drawn, batch):
    """Return the sums of the Hamming distances of the batch's trials, and of their squares."""
    total = simd.splat(ZERO)
    squares = total
    for v in range(0, drawn, 8):
        h = simd.popcount(simd.load(batch.pairs.sources, v) ^ simd.load(batch.pairs.targets, v))
        if drawn - v < 8:
            h = simd.select(simd.mask(h, ALL_BITS >> np.uint64(64 - (drawn - v))), h, h - h)
        total = total + h
        squares = squares + simd.mul32(h, h)
    return np.int64(simd.total(total)), np.int64(simd.total(squares))


@block
def _finish_batch(ended, drawn, reported, first, point, batch, tally):
    """Route the messages that could not continue, and count the batch."""
    limit, whole, k = point
    total, squares = _sum_distances(drawn, batch)
    for j in range(ended):
        i = np.int64(batch.ended[1, j] & ~_BLOCKED_FLAG)
        s, t = batch.pairs.sources[i], batch.pairs.targets[i]
        h = popcount(s ^ t)
        total -= h
        squares -= h * h
        world = (batch.pairs.keys[i], limit)
        at = np.int64(batch.pairs.trials[i])
        if k == 1:
            rest = batch.ended[0, j]
            links1 = walk1(world, t ^ rest, t, whole, k, batch.search)
            links1 += h - popcount(rest) if links1 >= 0 else np.int64(0)
            links2 = links1
        else:
            links1 = walk1(world, s, t, whole, k, batch.search)
            links2 = walk2(world, s, t, whole, k, batch.search)
        _record1(tally, links1, h, at)
        _record2(tally, links2, h, at)
        tally[_MINIMAL1] += links1 == h
        tally[_MINIMAL2] += links2 == h
        tally[_LIMIT] += links2 == LIMIT
        batch.pairs.trials[i] = ALL_BITS  # excluded from the search for the smallest trial below
    minimal = drawn - ended
    least = ALL_BITS >> ONE
    (excess, trial1), (_, trial2) = read_maximum(tally, _EXCESS1), read_maximum(tally, _EXCESS2)
    if excess < 0 or trial1 > first or trial2 > first:
        for place in range(drawn):
            least = min(least, batch.pairs.trials[place])
    tally[_VALID] += drawn
    tally[_ROUTE_DELIVERED] += drawn - reported
    tally[_MINIMAL1] += minimal
    tally[_MINIMAL2] += minimal
    _record1_minimal(tally, minimal, total, squares, np.int64(least))
    _record2_minimal(tally, minimal, total, squares, np.int64(least))


@kernel(TRIALS_SIGNATURE)
def routing_rate(key, first, stop, params, tally):
    """Run trials at (n, rate, k) = params, 1 <= n <= 62, 0 <= rate < 1, 1 <= k <= n; see ``layout.ROUTING_RATE``."""
    n = np.int64(params[N])
    limit = threshold(params[RATE])
    k = np.int64(params[RATE_K])
    whole = (ONE << np.uint64(n)) - ONE
    lazy = PairSource(key, limit, n, True)
    batch = batch_for(k)
    for begin in range(first, stop, BATCH):
        end = min(begin + BATCH, stop)
        drawn = draw_pairs(begin, end, lazy, batch.pairs)
        ended, reported = walk_batch(drawn, limit, k > 1, batch)
        _finish_batch(ended, drawn, reported, begin, RatePoint(limit, whole, k), batch, tally)
