"""Trials of dual-cube routing: draw the pair, route it, search the whole cube if asked, and tally (reading B8).

Trial t's statuses hang on ``sampling.status_key``; its candidate pairs (s, t) are the low 2m+1 bits of words 2i and
2i + 1 of block t for PAIRS, i = 0, 1, 2, ..., and the first pair of two different nonfaulty nodes is taken: both
are redrawn, no status is ever overridden.  A trial is void when fewer than two nodes are nonfaulty (looked up for
m <= SEARCH_M) or when none of the first 2^20 pairs will do, which at failure rates up to 0.99 has probability
below 10^-45.

Trials go through in batches, trial after trial in each of three stages, so that the draws can be vectors.
"""

from __future__ import annotations

import numpy as np

from .. import philox, simd
from ..bits import ZERO, lowest, popcount
from ..jit import TRIALS_SIGNATURE, block, kernel, scratch
from ..sampling import status_key, status_lanes, threshold
from .lanes import first_lanes, pays, route_lengths, walk_arrays
from .lookups import forget, recorder, route_recorded
from .practical import LIMIT, PATH_NODES, TREES, position_dims
from .search import draw_healthy, search, words
from .trees import tree_array

#: Largest m for which trials search the whole cube of 2^(2m+1) nodes.
SEARCH_M = 9

#: Without the search, lookups are counted in the trials whose index is a multiple of this power of two: asking in
#: the reading's order and remembering what was asked takes several times as long as the route.
LOOKUPS_EVERY = 64

#: Slots of the tally, in this order; those from SEARCH on are there only in studies that search.
VALID, SUCCESS, EXHAUSTED_FAILURES, LIMIT_FAILURES, VOID = 0, 1, 2, 3, 4
LENGTH, LENGTH2, DISTANCE, LENGTH_DISTANCE, DISTANCE2 = 5, 6, 7, 8, 9
COUNTED, LOOKUPS, LOOKUPS2 = 10, 11, 12  # the last has two digits
SEARCH = 14
CONNECTED, SHORTEST, LENGTH_SHORTEST, SHORTEST2, MINIMAL = 14, 15, 16, 17, 18
COUNTERS = 19
#: Extremes, counted from the end of the tally: longest path, largest excess over d(s, t).
EXTREMES = 4

BATCH = 512
_ONE = np.uint64(1)
_TWO = np.uint64(2)
# Lengths as unsigned numbers: a tree stopped at its limit, and the longest that is a length.
_LIMITED = np.uint64(LIMIT % 2**64)
_LONGEST = np.uint64(2**32)
_FEW_PAIRS = 2**10
_MOST_PAIRS = 2**20
# As many trials as waste the same share of a vector of trials as one trial does of a vector of candidates.
_FEW_WAITING = 2
_LOW32 = 0xFFFFFFFF


@block(always=True)
def fault_free_distance(s, t, m):
    """d(s, t): Hamming distance, plus 2 for different clusters of one class."""
    x = s ^ t
    apart = x >> (m + m) == ZERO and x & ~position_dims(s, m) != ZERO
    return popcount(x) + (2 if apart else 0)


@block
def _too_few_healthy(key, limit, m):
    """Whether fewer than two of all 2^(2m+1) nodes are nonfaulty."""
    lanes = simd.iota(simd.splat(key))
    count = 0
    for node in range(0, 2 << (2 * m), 8):
        status = status_lanes(simd.splat(key), simd.add(simd.splat(np.uint64(node)), lanes))
        count += popcount(simd.bits(simd.less_equal(simd.splat(limit), status)))
        if count >= 2:
            return False
    return True


@block(always=True)
def _good_pairs(keys, limit, s, t):
    """The lanes in which s and t are nonfaulty and different, as bits."""
    least = simd.splat(limit)
    s_good = simd.less_equal(least, status_lanes(keys, s))
    t_good = simd.less_equal(least, status_lanes(keys, t))
    return simd.bits(simd.mask_and(simd.mask_and(s_good, t_good), simd.differ(s, t)))


@block(always=True)
def _candidates(key, trials, i, labels):
    """Candidate pairs of eight trials, or of one, with their numbers in the lanes of ``i``."""
    s, t = philox.mixed_lanes(key, trials, i, philox.PAIRS)
    return simd.both(s, simd.splat(labels)), simd.both(t, simd.splat(labels))


@block
def _redraw(key, first, trial, status, limit, m, labels, pair):
    """Fill ``pair`` with the trial's first good candidate from number ``first`` on; False when the trial is void."""
    unchecked = m <= SEARCH_M
    for i in range(first, _MOST_PAIRS, 8):
        if unchecked and i > _FEW_PAIRS:
            if _too_few_healthy(status, limit, m):
                return False
            unchecked = False
        numbers = simd.add(simd.splat(np.uint64(i)), simd.iota(simd.splat(limit)))
        s, t = _candidates(key, simd.splat(trial), numbers, labels)
        good = _good_pairs(simd.splat(status), limit, s, t)
        if good:
            simd.store(pair, 0, s)
            simd.store(pair, 8, t)
            lane = lowest(good)
            pair[0] = pair[lane]
            pair[1] = pair[8 + lane]
            return True
    return False


@block(always=True)
def _keep(n, good, status, s, t, trial, keys, sources, targets, trials):
    """Append the lanes ``good``; returns the new number."""
    mask = simd.mask(status, good)
    simd.store(keys, n, simd.compress(mask, status))
    simd.store(sources, n, simd.compress(mask, s))
    simd.store(targets, n, simd.compress(mask, t))
    simd.store(trials, n, simd.compress(mask, trial))
    return n + popcount(good)


@block(always=True)
def _wait(count, bad, status, trial, waiting):
    """Queue the lanes ``bad``; returns the new number."""
    mask = simd.mask(status, bad)
    simd.store(waiting[0], count, simd.compress(mask, status))
    simd.store(waiting[1], count, simd.compress(mask, trial))
    return count + popcount(bad)


@block(always=True)
def _draw_waiting(key, n, count, m, limit, keys, sources, targets, trials, waiting):
    """Draw the trials whose first candidate was not good: a candidate of eight trials at a time while many are left,
    then eight candidates of a trial; returns the number of trials now."""
    labels = (np.uint64(2) << np.uint64(2 * m)) - _ONE
    i = np.int64(1)
    while count > _FEW_WAITING and i < _FEW_PAIRS:
        left = np.int64(0)
        for v in range(0, count, 8):
            active = first_lanes(count - v)
            status, trial = simd.load(waiting[0], v), simd.load(waiting[1], v)
            s, t = _candidates(key, trial, simd.splat(np.uint64(i)), labels)
            good = _good_pairs(status, limit, s, t) & active
            n = _keep(n, good, status, s, t, trial, keys, sources, targets, trials)
            left = _wait(left, active & ~good, status, trial, waiting)
        count = left
        i += 1
    for v in range(count):
        if _redraw(key, i, waiting[1, v], waiting[0, v], limit, m, labels, waiting[2]):
            keys[n], trials[n] = waiting[0, v], waiting[1, v]
            sources[n], targets[n] = waiting[2, 0], waiting[2, 1]
            n += 1
    return n


@block(always=True)
def draw_pairs(key, first, stop, m, limit, keys, sources, targets, trials, waiting):
    """Draw trials first .. stop - 1, at most BATCH of them.

    The arrays (uint64, from ``batch_arrays``) receive status key, s, t and index of each trial that is not void, in
    no particular order; returns their number.
    """
    labels = (np.uint64(2) << np.uint64(2 * m)) - _ONE
    n = np.int64(0)
    count = np.int64(0)
    for start in range(first - first % 8, stop, 8):
        wanted = np.uint64(0xFF)
        if start < first:
            wanted &= np.uint64(0xFF) << np.uint64(first - start)
        if start + 8 > stop:
            wanted &= np.uint64(0xFF) >> np.uint64(start + 8 - stop)
        b = np.uint64(start)
        status, _ = philox.pair_lanes(key, b, ZERO, philox.STATUS_KEYS)
        s, t = philox.pair_lanes(key, b, ZERO, philox.PAIRS)
        s = simd.both(s, simd.splat(labels))
        t = simd.both(t, simd.splat(labels))
        trial = simd.add(simd.splat(b), simd.iota(status))
        good = _good_pairs(status, limit, s, t) & wanted
        n = _keep(n, good, status, s, t, trial, keys, sources, targets, trials)
        count = _wait(count, wanted & ~good, status, trial, waiting)
    return _draw_waiting(key, n, count, m, limit, keys, sources, targets, trials, waiting)


@scratch
def batch_arrays():
    """Status keys, sources, targets, trial indices (uint64) and lengths (int64) of a batch, and scratch for its draws:
    status keys and trial indices of those still without a pair, and one trial's candidates."""
    return (
        np.zeros(BATCH + 16, np.uint64),
        np.zeros(BATCH + 16, np.uint64),
        np.zeros(BATCH + 16, np.uint64),
        np.zeros(BATCH + 16, np.uint64),
        np.zeros(BATCH + 16, np.int64),
        np.zeros((3, BATCH + 16), np.uint64),
    )


@block(always=True)
def _distance_lanes(s, t, m):
    """:func:`fault_free_distance` of eight pairs."""
    zero = simd.splat(ZERO)
    x = simd.xor(s, t)
    low = simd.splat((_ONE << m) - _ONE)
    names = simd.select(
        simd.equal(simd.shift_right(s, simd.splat(m + m)), zero), simd.shift_left(low, simd.splat(m)), low
    )
    same_class = simd.equal(simd.shift_right(x, simd.splat(m + m)), zero)
    apart = simd.mask_and(same_class, simd.differ(simd.both(x, names), zero))
    return simd.add(simd.popcount(x), simd.select(apart, simd.splat(_TWO), zero))


@block(always=True)
def _raise(tally, at, wanted, values, trials, row):
    """Replace the extreme at ``at`` by a larger value of the lanes ``wanted``, or by an equal one of a smaller trial."""
    best, who = np.uint64(tally[at]), np.uint64(tally[at + 1])
    higher = simd.less_equal(simd.splat(best + _ONE), values)
    earlier = simd.mask_without(simd.equal(simd.splat(best), values), simd.less_equal(simd.splat(who), trials))
    better = simd.bits(simd.mask_or(higher, earlier)) & wanted
    if better == ZERO:
        return
    simd.store(row, 0, values)
    simd.store(row, 8, trials)
    while better:
        lane = lowest(better)
        better &= better - _ONE
        value, trial = np.int64(row[lane]), np.int64(row[8 + lane])
        if value > tally[at] or (value == tally[at] and trial < tally[at + 1]):
            tally[at] = value
            tally[at + 1] = trial


@block(always=True)
def _count_routes(n, m, sources, targets, trials, lengths, row, tally):
    """Tally the routes of ``n`` trials that are not void."""
    zero = simd.splat(ZERO)
    delivered = limited = np.int64(0)
    length1 = length2 = distance1 = distance2 = product = zero
    for v in range(0, n, 8):
        active = first_lanes(n - v)
        length = simd.load(lengths, v)
        limited += popcount(simd.bits(simd.equal(length, simd.splat(_LIMITED))) & active)
        there = simd.bits(simd.less_equal(length, simd.splat(_LONGEST))) & active
        delivered += popcount(there)
        distance = _distance_lanes(simd.load(sources, v), simd.load(targets, v), m)
        _raise(tally, tally.size - 4, there, length, simd.load(trials, v), row)
        _raise(tally, tally.size - 2, there, simd.sub(length, distance), simd.load(trials, v), row)
        mask = simd.mask(length, there)
        length, distance = simd.select(mask, length, zero), simd.select(mask, distance, zero)
        length1 = simd.add(length1, length)
        length2 = simd.add(length2, simd.mul32(length, length))
        distance1 = simd.add(distance1, distance)
        distance2 = simd.add(distance2, simd.mul32(distance, distance))
        product = simd.add(product, simd.mul32(length, distance))
    tally[VALID] += n
    tally[SUCCESS] += delivered
    tally[LIMIT_FAILURES] += limited
    tally[EXHAUSTED_FAILURES] += n - delivered - limited
    tally[LENGTH] += np.int64(simd.total(length1))
    tally[LENGTH2] += np.int64(simd.total(length2))
    tally[DISTANCE] += np.int64(simd.total(distance1))
    tally[DISTANCE2] += np.int64(simd.total(distance2))
    tally[LENGTH_DISTANCE] += np.int64(simd.total(product))


@block
def _count_shortest(length, shortest, tally):
    """Tally what the search found: ``shortest`` is -1 for a pair that no nonfaulty path joins."""
    if shortest < 0:
        return
    tally[CONNECTED] += 1
    if length < 0:
        return
    tally[SHORTEST] += shortest
    tally[LENGTH_SHORTEST] += length * shortest
    tally[SHORTEST2] += shortest * shortest
    tally[MINIMAL] += length == shortest


@block
def _count_lookups(i, n, mask, m, limit, keys, sources, targets, trials, record, path, trees, tally):
    """Tally the lookups of those of the trials i .. n - 1 whose index has no bit of ``mask``.

    Returns n, or the first trial whose lookups the record is too small for.
    """
    none, asked, places, counts, untold = record
    while i < n:
        if trials[i] & mask == ZERO:
            world = (keys[i], limit, none, asked, places, counts, untold)
            route_recorded(world, sources[i], targets[i], m, path, trees)
            count, full = counts[0], counts[1]
            forget(world)
            if full:
                return i
            tally[COUNTED] += 1
            tally[LOOKUPS] += count
            tally[LOOKUPS2] += (count * count) & _LOW32
            tally[LOOKUPS2 + 1] += (count * count) >> 32
        i += 1
    return n


@block
def _count_searches(n, m, limit, keys, sources, targets, lengths, cubes, tally):
    """Tally shortest paths; the whole cube is searched unless the route is as short as without faults."""
    for i in range(n):
        shortest = lengths[i]
        if shortest != fault_free_distance(sources[i], targets[i], np.uint64(m)):
            draw_healthy(keys[i], limit, m, cubes[0])
            shortest = search(m, cubes[0], sources[i], targets[i], cubes[1], cubes[2])
        _count_shortest(lengths[i], shortest, tally)


@scratch
def _record(size):
    """What ``_count_lookups`` needs for up to ``size / 2`` labels a trial: lazy faults alone, no events."""
    asked, places, counts = recorder(size)
    return np.zeros(0, np.uint64), asked, places, counts, np.zeros((0, 4), np.uint64)


@kernel(TRIALS_SIGNATURE)
def trials(key, first, stop, params, tally):
    """Dual-cube routing trials; ``params`` is (m, rate), 1 <= m <= 30, 0 <= rate < 1, checked by the study's axes.

    With a tally of COUNTERS + EXTREMES slots and m <= SEARCH_M every trial also searches the whole cube for a
    shortest path (unless the route is as short as d(s, t)) and counts its lookups; the slots from SEARCH on stay 0
    for larger m, and a tally of SEARCH + EXTREMES slots has none.  See the module's constants for the slots.
    """
    m = np.int64(params[0])
    m_bits = np.uint64(m)
    limit = threshold(params[1])
    in_lanes = pays(m, params[1])
    searching = tally.size == COUNTERS + EXTREMES and m <= SEARCH_M
    mask = np.uint64(0 if searching else LOOKUPS_EVERY - 1)
    held = tree_array(TREES)
    trees = simd.pointer(held)
    held_path = np.zeros(PATH_NODES, np.uint64)
    path = simd.pointer(held_path)
    keys, sources, targets, indices, lengths, waiting = batch_arrays()
    walks = walk_arrays(BATCH)
    size = np.int64(1024)
    record = _record(size)
    cubes = np.zeros((3, 2, words(m) if searching else 0), np.uint64)
    for begin in range(first, stop, BATCH):
        end = min(begin + BATCH, stop)
        n = draw_pairs(key, begin, end, m, limit, keys, sources, targets, indices, waiting)
        tally[VOID] += end - begin - n
        route_lengths(in_lanes, n, m_bits, limit, keys, sources, targets, lengths, walks, path, trees)
        _count_routes(n, m_bits, sources, targets, indices, lengths.view(np.uint64), waiting[2], tally)
        i = np.int64(0)
        while i < n:
            i = _count_lookups(i, n, mask, m_bits, limit, keys, sources, targets, indices, record, path, trees, tally)
            if i < n:
                size *= 4
                record = _record(size)
        if searching:
            _count_searches(n, m, limit, keys, sources, targets, lengths, cubes, tally)
    simd.keep(held)
    simd.keep(held_path)


@kernel("Tuple((boolean, uint64, uint64, uint64))(uint64, int64, int64, float64)")
def trial_pair(key, trial, m, rate):
    """One trial's draw: whether it is not void, its status key, s and t."""
    keys, sources, targets, indices, _, waiting = batch_arrays()
    n = draw_pairs(key, trial, trial + 1, m, threshold(rate), keys, sources, targets, indices, waiting)
    return n == 1, status_key(key, np.uint64(trial)), sources[0], targets[0]
