"""Trials of ROUTE, ROUTE1(k) and ROUTE2(k) in which every node is faulty with a given rate, decided by a hash on demand.

ROUTE corrects the bits in which s and t differ from the most significant down, and is lost at the first fault.  A neighbour of a
node is *nearer* if it is nearer to t; the rules try nearer neighbours in ROUTE's order.  A route is *minimal* if it has as many
links as the Hamming distance of s and t.

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

from ..draws.pairs import BATCH, Pairs, PairSource, draw_pairs, pair_arrays
from ..draws.statuses import status, status_lanes, threshold
from ..machine import simd
from ..machine.array_types import I64, U64, Words
from ..machine.bits import ALL_BITS, ONE, ZERO, first_lanes, popcount
from ..machine.jit import TRIALS_SIGNATURE, block, kernel, scratch
from ..tally.maxima import read_maximum
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


class World(NamedTuple):
    """The faults of one trial, decided on demand."""

    key: U64  #: key of the nodes' statuses
    limit: U64  #: ``nodes.threshold`` of the rate


@block(always=True)
def is_faulty_node(world, x):
    """Whether node ``x`` is faulty."""
    return status(world.key, x) < world.limit


@block(always=True)
def _is_blocked(world, x, bit):
    """Whether the neighbour of node ``x`` in the dimension ``bit`` is faulty."""
    return is_faulty_node(world, x ^ bit)


_route1, _route2 = make_route_rules(_is_blocked)
simulate_route1, simulate_route2 = make_simulator(_route1), make_simulator(_route2, searching=True)


class RatePoint(NamedTuple):
    """The parameters of a point."""

    limit: U64  #: ``nodes.threshold`` of the rate
    whole: U64  #: mask of all dimensions
    k: I64  #: the k of ROUTE1(k) and ROUTE2(k)


class Messages(NamedTuple):
    """The messages of a batch that are under way."""

    keys: Words  #: status key of the trial
    nodes: Words  #: the node that the message has reached
    rest: Words  #: dimensions left to correct
    untried: Words  #: of these, the dimensions not yet tried at this node
    numbers: Words  #: index of the trial in the batch, with _BLOCKED_FLAG once the message has found a fault


class Batch(NamedTuple):
    """Scratch memory of a batch of trials; made by ``batch_for``."""

    pairs: Pairs
    messages: Messages
    ended_rest: Words  #: dimensions left to correct of the messages that cannot continue, for ``_route_ended``
    ended_numbers: Words  #: their numbers, as in ``Messages``
    search: SearchScratch  #: for messages that scalar code routes


@scratch
def batch_for(k):
    """Return scratch memory for batches of BATCH trials."""
    rows = np.zeros((7, BATCH + 16), np.uint64)  # stores of whole vectors may write up to 16 entries more
    messages = Messages(rows[0], rows[1], rows[2], rows[3], rows[4])
    return Batch(pair_arrays(), messages, rows[5], rows[6], search_scratch_for(k))


@block(always=True)
def _append_messages(count, chosen, columns, messages):
    """Append the chosen lanes of ``columns``, a ``Messages`` of vectors, to the first ``count`` messages; return their number."""
    simd.store_compressed(messages.keys, count, chosen, columns.keys)
    simd.store_compressed(messages.nodes, count, chosen, columns.nodes)
    simd.store_compressed(messages.rest, count, chosen, columns.rest)
    simd.store_compressed(messages.untried, count, chosen, columns.untried)
    simd.store_compressed(messages.numbers, count, chosen, columns.numbers)
    return count + popcount(chosen)


@block(always=True)
def _start_messages(drawn, batch):
    """Start the messages that need more than one link; return their number."""
    zero = simd.splat(ZERO)
    lane = simd.iota(zero)
    count = np.int64(0)
    for v in range(0, drawn, 8):
        s = simd.load(batch.pairs.sources, v)
        rest = s ^ simd.load(batch.pairs.targets, v)
        number = simd.splat(np.uint64(v)) + lane
        key = simd.load(batch.pairs.keys, v)
        is_far = simd.bits((rest & (rest - 1)) != zero) & first_lanes(drawn - v)
        count = _append_messages(count, is_far, Messages(key, s, rest, rest, number), batch.messages)
    return count


@block
def move_messages(drawn, limit, ends_at_fault, batch):
    """Move messages from s towards t, by nearer neighbours alone, until each is one link away or cannot continue.

    Those that cannot continue are written to ``ended_rest`` and ``ended_numbers`` of the batch.

    Returns
    -------
    ended : int64
        Number of messages that cannot continue: with ``ends_at_fault`` those that found a fault, otherwise those that
        found all nearer neighbours faulty.
    blocked : int64
        Number of messages that found a fault.
    """
    one = simd.splat(ONE)
    zero = simd.splat(ZERO)
    least_nonfaulty = simd.splat(limit)  # the least status of a nonfaulty node
    flag = simd.splat(_BLOCKED_FLAG)
    moving = _start_messages(drawn, batch)
    ended = np.int64(0)
    blocked = np.int64(0)
    messages = batch.messages
    while moving > 0:
        # In one pass each message tests one neighbour.  Messages that go on are written to the front of their arrays.
        kept = np.int64(0)
        for v in range(0, moving, 8):
            live = first_lanes(moving - v)
            key, node, rest = simd.load(messages.keys, v), simd.load(messages.nodes, v), simd.load(messages.rest, v)
            untried, number = simd.load(messages.untried, v), simd.load(messages.numbers, v)
            bit = simd.top_bit(untried)
            neighbour = node ^ bit
            # A message moves to this neighbour if it is nonfaulty; otherwise it stays and will try its next nearer neighbour.
            is_nonfaulty = least_nonfaulty <= status_lanes(key, neighbour)
            node = simd.select(is_nonfaulty, neighbour, node)
            rest = simd.select(is_nonfaulty, rest ^ bit, rest)
            untried = simd.select(is_nonfaulty, rest, untried ^ bit)
            at_fault = live & ~simd.bits(is_nonfaulty)
            # A message with one link left is done, because t is nonfaulty.
            unfinished = simd.bits((rest & (rest - one)) != zero) & live
            if at_fault:
                blocked += popcount(at_fault & simd.bits((number & flag) == zero))
                number = simd.select(simd.mask(number, at_fault), number | flag, number)
                ending = at_fault if ends_at_fault else at_fault & simd.bits(untried == zero)
                if ending:
                    simd.store_compressed(batch.ended_rest, ended, ending, rest)
                    simd.store_compressed(batch.ended_numbers, ended, ending, number)
                    ended += popcount(ending)
                    unfinished &= ~ending
            # ``kept`` is at most v here, so no message is overwritten before it is loaded.
            kept = _append_messages(kept, unfinished, Messages(key, node, rest, untried, number), messages)
        moving = kept
    return ended, blocked


@block
def _sum_distances(drawn, batch):
    """Return the sums of the Hamming distances of the batch's trials, and of their squares."""
    total = simd.splat(ZERO)
    squares = total
    for v in range(0, drawn, 8):
        h = simd.popcount(simd.load(batch.pairs.sources, v) ^ simd.load(batch.pairs.targets, v))
        if drawn - v < 8:
            h = simd.select(simd.mask(h, first_lanes(drawn - v)), h, h - h)
        total = total + h
        squares = squares + simd.mul32(h, h)
    return np.int64(simd.total(total)), np.int64(simd.total(squares))


@block
def _route_ended(ended, point, batch, tally):
    """Route and record the messages that could not continue; return the sums of their Hamming distances and of the squares.

    ``batch.pairs.trials`` of these messages becomes ALL_BITS, and is not a trial's index any more: ``_record_delivered``, which
    must come after, finds the smallest trial of the others by it.
    """
    whole, k = point.whole, point.k
    total = squares = np.int64(0)
    for j in range(ended):
        i = np.int64(batch.ended_numbers[j] & ~_BLOCKED_FLAG)
        s, t = batch.pairs.sources[i], batch.pairs.targets[i]
        h = popcount(s ^ t)
        total += h
        squares += h * h
        world = World(batch.pairs.keys[i], point.limit)
        trial = np.int64(batch.pairs.trials[i])
        if k == 1:  # continue from the node reached, to which the message took one link per corrected dimension
            rest = batch.ended_rest[j]
            links1 = simulate_route1(world, t ^ rest, t, whole, k, batch.search)
            links1 += h - popcount(rest) if links1 >= 0 else np.int64(0)
            links2 = links1
        else:
            links1 = simulate_route1(world, s, t, whole, k, batch.search)
            links2 = simulate_route2(world, s, t, whole, k, batch.search)
        _record1(tally, links1, h, trial)
        _record2(tally, links2, h, trial)
        tally[_MINIMAL1] += links1 == h
        tally[_MINIMAL2] += links2 == h
        tally[_LIMIT] += links2 == LIMIT
        batch.pairs.trials[i] = ALL_BITS
    return total, squares


@block
def _record_delivered(drawn, ended, total, squares, first, batch, tally):
    """Record the messages that did not end early, all delivered over their Hamming distances; comes after ``_route_ended``.

    ``total`` and ``squares`` are the sums of these distances and of their squares, ``first`` the first trial of the batch.
    """
    delivered = drawn - ended
    smallest = ALL_BITS >> ONE  # the largest int64, which replaces no trial
    (excess, trial1), (_, trial2) = read_maximum(tally, _EXCESS1), read_maximum(tally, _EXCESS2)
    # Otherwise no trial of this batch can become the first with excess 0.
    if excess < 0 or trial1 > first or trial2 > first:
        for i in range(drawn):
            smallest = min(smallest, batch.pairs.trials[i])
    tally[_MINIMAL1] += delivered
    tally[_MINIMAL2] += delivered
    _record1_minimal(tally, delivered, total, squares, np.int64(smallest))
    _record2_minimal(tally, delivered, total, squares, np.int64(smallest))


@block
def _finish_batch(ended, drawn, blocked, first, point, batch, tally):
    """Route the messages that could not continue, and count the batch, whose first trial is ``first``."""
    total, squares = _sum_distances(drawn, batch)
    ended_total, ended_squares = _route_ended(ended, point, batch, tally)
    _record_delivered(drawn, ended, total - ended_total, squares - ended_squares, first, batch, tally)
    tally[_VALID] += drawn
    tally[_ROUTE_DELIVERED] += drawn - blocked


@kernel(TRIALS_SIGNATURE)
def routing_rate(key, first, stop, params, tally):
    """Run trials at (n, rate, k) = params, 1 <= n <= 62, 0 <= rate < 1, 1 <= k <= n; see ``layout.ROUTING_RATE``."""
    n = np.int64(params[N])
    limit = threshold(params[RATE])
    k = np.int64(params[RATE_K])
    whole = (ONE << np.uint64(n)) - ONE
    source = PairSource(key, limit, bits=n, new_statuses=True)
    batch = batch_for(k)
    for begin in range(first, stop, BATCH):
        end = min(begin + BATCH, stop)
        drawn = draw_pairs(begin, end, source, batch.pairs)
        ends_at_fault = k > 1
        ended, blocked = move_messages(drawn, limit, ends_at_fault, batch)
        _finish_batch(ended, drawn, blocked, begin, RatePoint(limit, whole, k), batch, tally)
