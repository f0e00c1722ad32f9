"""2-partitions under few faults: lanes are trials, f rows of labels.

Entry: ``TWO_PARTITION_LANES_8``, ``_16`` and ``_32``, by ``_make_kernel``, whose work is ``_sift_trials``.  Draws
from the study's key as it is: a trial's sequence of labels (LABELS, and HIGH_LABELS for n > 32).

Lanes have 8, 16 or 32 bits for n <= 8, n <= 16 and above, as the fields that hold the labels.

1. *filter*: the least xor of two faults, lane by lane over all pairs, is above 3 when no two meet on {0, 1}, which is then the
   answer to both searches; 0 is a repeated label, whose trial is drawn on by itself;
2. *search*: the others are pressed together into a queue.  Of a full vector of them, every pair of faults that differ in
   one dimension or two (anywhere in the vector) is noted; row i of ``barred`` then collects the dimensions j such that
   {i, j} is ruled out.  The first pair that is left is read off the rows, for all lanes at once.

For n > 32 the filter sees the low 32 bits, and the few trials that it does not clear are looked at alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..draws.lanes import draw_four_vectors, lane_pattern, row_offset, valid_lanes
from ..draws.nodes import node_label
from ..machine import bits, simd
from ..machine.bits import ALL_BITS, ONE, ZERO, first_lanes
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from .layout import TWO_PARTITION
from .scalar import FaultList, run_list_trial, set_up

_EXISTS = TWO_PARTITION.counter("exists")
_GREEDY = TWO_PARTITION.counter("greedy")
_LO = TWO_PARTITION.counter("lo")
_HI = TWO_PARTITION.counter("hi")

# Noted pairs that are entered in the rows at a time: 4 KiB, so that they and the rows stay in the first cache.
_MAX_NOTED = 64

#: Most faults at which a label's last six bits are looked up before it is searched for (measured: 1.04 to 1.10 times as
#: fast at n = 8 and 10, f = 12 to 24; equal at n = 12, f = 64, where six bits rarely exclude a repeat).
_FILTERED = np.uint64(24)
_LAST_BIT = np.uint64(63)


# ---------------------------------------------------------------- 1. filter


@block
def _update_least_xor(least, x, y):
    return simd.minimum(least, x ^ y)


@block(always=True)
def _least_xor(labels, at, lanes, f):
    """The least xor of two of the f faults, lane by lane; four rows at a time against each earlier one."""
    first = simd.load(labels, at)
    n0 = simd.splat_like(first, ALL_BITS)
    n1 = n0
    n2 = n0
    n3 = n0
    rest = f & 3
    for i in range(1, rest):
        x = simd.load(labels, at + i * lanes)
        for j in range(i):
            n0 = _update_least_xor(n0, x, simd.load(labels, at + j * lanes))
    for i in range(rest, f, 4):
        x0 = simd.load(labels, at + i * lanes)
        x1 = simd.load(labels, at + (i + 1) * lanes)
        x2 = simd.load(labels, at + (i + 2) * lanes)
        x3 = simd.load(labels, at + (i + 3) * lanes)
        n0 = _update_least_xor(_update_least_xor(n0, x0, x1), x1, x3)
        n1 = _update_least_xor(_update_least_xor(n1, x0, x2), x2, x3)
        n2 = _update_least_xor(n2, x0, x3)
        n3 = _update_least_xor(n3, x1, x2)
        for j in range(i):
            y = simd.load(labels, at + j * lanes)
            n0 = _update_least_xor(n0, x0, y)
            n1 = _update_least_xor(n1, x1, y)
            n2 = _update_least_xor(n2, x2, y)
            n3 = _update_least_xor(n3, x3, y)
    return simd.minimum(simd.minimum(n0, n1), simd.minimum(n2, n3))


@block(alone=True)
def _redraw_repeats(key, t, n, f, labels, column, lanes):
    """Replace the repeated labels of one trial, in one column of the rows, by the next of its sequence."""
    # unsigned: Numba looks at each signed index whether it counts from the end, an eighth of all time at n = 8, f = 8
    at, step, wanted = np.uint64(column), np.uint64(lanes), np.uint64(f)
    taken = ZERO
    seen = ZERO  # bit i: a label that is i modulo 64
    j = ZERO
    while taken < wanted:
        x = np.uint64(labels[at + j * step]) if j < wanted else node_label(key, t, np.int64(j), n)
        mark = ONE << (x & _LAST_BIT)
        i = taken
        if seen & mark != ZERO or wanted > _FILTERED:
            i = ZERO
            while i < taken and np.uint64(labels[at + i * step]) != x:
                i += ONE
        seen |= mark
        if i == taken:
            labels[at + taken * step] = x
            taken += ONE
        j += ONE


# ---------------------------------------------------------------- 2. search


@block
def _bar_rows(noted, count, barred, n, lanes):
    """Enter noted differences in the rows: row i takes those with bit i."""
    zero = simd.splat_like(simd.load(barred, 0), ZERO)
    for i in range(n):
        bit = simd.splat_like(zero, ONE << np.uint64(i))
        row = simd.load(barred, i * lanes)
        for q in range(count):
            x = simd.load(noted, q * lanes)
            row = row | simd.select((x & bit) != zero, x, zero)
        simd.store(barred, i * lanes, row)


@block(alone=True)
def _bar_queue(queue, f, noted, barred, n, lanes):
    """The rows of the first vector of the queue's columns; returns the dimensions that are ruled out alone."""
    zero = simd.splat_like(simd.load(queue, 0), ZERO)
    one = simd.splat_like(zero, np.uint64(1))
    two = simd.splat_like(zero, np.uint64(2))
    alone = zero
    for i in range(n):
        simd.store(barred, i * lanes, zero)
    count = np.int64(0)
    for i in range(1, f):
        x = simd.load(queue, 2 * lanes * i)
        for j in range(i):
            apart = x ^ simd.load(queue, 2 * lanes * j)
            distance = simd.popcount(apart)
            near = distance <= two
            if simd.bits(near) != ZERO:
                alone = alone | simd.select(distance <= one, apart, zero)
                simd.store(noted, count * lanes, simd.select(near, apart, zero))
                count += 1
        if count + f > _MAX_NOTED:
            _bar_rows(noted, count, barred, n, lanes)
            count = np.int64(0)
    _bar_rows(noted, count, barred, n, lanes)
    return alone


@block(alone=True)
def _count_pairs(alone, barred, n, lanes, live, tally):
    """Read the first pair off the rows of each live lane and count it."""
    zero = simd.splat_like(alone, ZERO)
    higher = simd.splat_like(zero, (ONE << np.uint64(n)) - ONE)
    partners = zero
    unseen = live  # lanes in which no dimension without a conflict has come by
    for i in range(n - 1):
        bit = simd.splat_like(zero, ONE << np.uint64(i))
        higher = higher ^ bit
        left = higher & ~(simd.load(barred, i * lanes) | alone)
        free = simd.bits((alone & bit) == zero)
        found = simd.bits(left != zero) & free & live
        many = bits.popcount(found)
        tally[_EXISTS] += many
        tally[_GREEDY] += bits.popcount(found & unseen)
        tally[_LO] += i * many
        partners = simd.select(simd.mask(zero, found), left, partners)
        unseen &= ~free
        live &= ~found
    partners = partners & (zero - partners)
    for i in range(1, n):
        bit = simd.splat_like(zero, ONE << np.uint64(i))
        tally[_HI] += i * bits.popcount(simd.bits(partners == bit))


# ---------------------------------------------------------------- all together


class PartitionWorkspace(NamedTuple):
    """What the stages share; made once a call."""

    labels: Any  #: f + 1 rows of a vector, four times: label k of each trial
    queue: Any  #: f rows of two vectors: labels of the trials that the filter does not clear
    noted: Any  #: rows of one vector: differences in one dimension or two
    barred: Any  #: n rows of one vector: the dimensions that do not go with each
    alone: FaultList  #: for trials looked at alone


@block(always=True)
def _queue_hits(key, at, start, least, hit, params, sieve, count, lanes, tally):
    """Press the trials ``hit`` behind the ``count`` columns of the queue; returns how many there are then.

    Repeated labels are replaced; for n > 32 the trials are counted alone.
    """
    n, f = np.int64(params[0]), np.int64(params[1])
    while n > 32 and hit:
        run_list_trial(key, start + bits.lowest(hit), params, sieve.alone, tally)
        hit &= hit - ONE
    if hit == ZERO:
        return count
    repeated = simd.bits(least == (least ^ least)) & hit
    while repeated:
        i = bits.lowest(repeated)
        repeated &= repeated - ONE
        _redraw_repeats(key, start + i, n, f, sieve.labels, at + i, lanes)
    for k in range(f):
        row = simd.load(sieve.labels, at + k * lanes)
        simd.store(sieve.queue, 2 * lanes * k + count, simd.compress(simd.mask(row, hit), row))
    return count + bits.popcount(hit)


@block(always=True)
def _search_queue(n, f, sieve, count, lanes, tally):
    """Count the first vector of the queue's columns and drop it; returns how many are left."""
    alone = _bar_queue(sieve.queue, f, sieve.noted, sieve.barred, n, lanes)
    _count_pairs(alone, sieve.barred, n, lanes, first_lanes(count, lanes), tally)
    for k in range(f):
        simd.store(sieve.queue, 2 * lanes * k, simd.load(sieve.queue, 2 * lanes * k + lanes))
    return max(count - lanes, np.int64(0))


@block
def _sift_trials(key, first, stop, params, sieve, lanes, tally):
    """Count trials first .. stop - 1.

    For a vector of trials 26 f vector operations of the generator and f^2 of the filter; for a vector of those that it
    does not clear 3/2 f^2, and 2 n for each pair of faults that meet in one of them.
    """
    n, f = np.int64(params[0]), np.int64(params[1])
    words = sieve.labels.view(np.uint64)
    pattern = lane_pattern(n, lanes)
    three = simd.splat_like(simd.load(sieve.labels, 0), np.uint64(3))
    cleared = np.int64(0)
    count = np.int64(0)
    start = first - first % (4 * lanes)
    while start < stop or count > 0:
        if start < stop:
            at = row_offset(start, lanes, f)
            if at == 0:
                draw_four_vectors(key, np.uint64(8 * (start // lanes)), f, 1, pattern, words)
            least = _least_xor(sieve.labels, at, lanes, f)
            hit = simd.bits(least <= three)
            valid = valid_lanes(start, 1, lanes, first, stop)
            cleared += bits.popcount(valid & ~hit)
            if hit & valid:
                count = _queue_hits(key, at, start, least, hit & valid, params, sieve, count, lanes, tally)
            start += lanes
        if count >= lanes or (start >= stop and count > 0):
            count = _search_queue(n, f, sieve, count, lanes, tally)
    tally[_EXISTS] += cleared
    tally[_GREEDY] += cleared
    tally[_HI] += cleared


def _make_kernel(width: int, word: Any) -> Kernel:
    lanes = 512 // width  # a constant of the closure, with which all callees are specialised

    @scratch
    def workspace_for(params):
        n, f = np.int64(params[0]), np.int64(params[1])
        return PartitionWorkspace(
            np.zeros(4 * (f + 1) * lanes, word),
            np.zeros((f + 1) * 2 * lanes, word),
            np.empty((_MAX_NOTED + f) * lanes, word),
            np.empty(n * lanes, word),
            set_up(params),
        )

    @kernel(TRIALS_SIGNATURE, variant=f"{width}")
    def two_partition_lanes(key, first, stop, params, tally):
        """Trials at (n, f) = params; 2 <= n <= 8, 9 <= n <= 16 or 17 <= n <= 62 by the lanes' width, f <= 2^(n-2)."""
        sieve = workspace_for(params)
        _sift_trials(key, first, stop, params, sieve, lanes, tally)

    return two_partition_lanes


#: Kernels for n <= 8, n <= 16 and n <= 62.
TWO_PARTITION_LANES_8 = _make_kernel(8, np.uint8)
TWO_PARTITION_LANES_16 = _make_kernel(16, np.uint16)
TWO_PARTITION_LANES_32 = _make_kernel(32, np.uint32)

#: Points (n, f) on both sides of each threshold inside these kernels, by its reason.
EDGES = {
    "lanes of 8 and of 16 bits": ((8, 10), (9, 10)),
    "lanes of 16 and of 32 bits": ((16, 16), (17, 16)),
    "above n = 32 lanes hold the low 32 bits of a label": ((32, 60), (33, 60)),
    "noted pairs fill their rows at f = _MAX_NOTED": ((14, 63), (14, 64), (14, 65)),
}
