"""2-partitions under few faults, with one trial per vector lane in the loop of ``fastcube.kernels.draws.sieve``.

Entry points: ``TWO_PARTITION_LANES_8``, ``_16`` and ``_32``.  They sample with the study's key a trial's sequence of labels
(LABELS, and HIGH_LABELS for n > 32).  Two faults *conflict* on dimensions {i, j} if they differ in i, j or both and in nothing
else, and both searches want the first pair without a conflict (``scalar.py``).  A *difference* is the xor of two faults, a set of
dimensions.

1. *filter* (``_inspect_vector``): if the least difference of two faults, as a number, is above 3, no two faults conflict on
   {0, 1}.  Then {0, 1} is the result of both searches.  A least difference of 0 is a repeated label.
2. *search* (``_search_queue``): the other trials are queued.  In a full vector every difference in one or two dimensions, in any
   lane, is noted.  Row i of ``barred`` then collects the dimensions j such that faults conflict on {i, j}.  The first pair of
   dimensions that is not barred is read from the rows, for all lanes together.

Lanes have 8, 16 or 32 bits for n <= 8, n <= 16 and above, like the fields that hold the labels.  For n > 32 the filter tests the
low 32 bits, and the few trials that it does not decide are searched one at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..draws import sieve
from ..draws.lanes import make_pair_scan
from ..draws.nodes import node_label
from ..machine import bits, simd
from ..machine.array_types import Cells, Floats
from ..machine.bits import ALL_BITS, ONE, ZERO, first_lanes
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from .layout import TWO_PARTITION, F, N
from .scalar import FaultList, run_list_trial, set_up

_EXISTS = TWO_PARTITION.counter("partition_exists")
_GREEDY = TWO_PARTITION.counter("greedy_finds")
_LO = TWO_PARTITION.counter("lo")
_HI = TWO_PARTITION.counter("hi")

#: Number of noted differences that are added to the rows together: 4 KiB, so that they and the rows stay in the L1 cache.
_MAX_NOTED = 64

#: Most faults for which a label's last six bits are tested before it is searched for (measured: 1.04 to 1.10 times as fast at n =
#: 8 and 10, f = 12 to 24; equal at n = 12, f = 64, where six bits rarely exclude a repeat).
_FILTERED = np.uint64(24)
_LAST_SIX_BITS = np.uint64(63)

_TWO, _THREE, _FOUR = np.uint64(2), np.uint64(3), np.uint64(4)


# ---------------------------------------------------------------- 1. filter


@block
def _update_least_difference(least, x, y):
    return simd.minimum(least, x ^ y)


#: The block that returns the least difference of two of the f faults, in each lane.
_least_difference = make_pair_scan(ALL_BITS, _update_least_difference)


@block(always=True)
def _is_among(labels, at, step, count, x):
    """Whether label x is one of the ``count`` labels at ``at``, ``at + step``, ...; all uint64.

    Four are compared at a time.  A loop over single labels is so short that it takes twice the time where the compiler puts it
    across two cache lines: trials of (16, 181) took 2.2 or 3.2 microseconds (AMD EPYC, Zen 4).
    """
    i = ZERO
    while i + _FOUR <= count:
        first = at + i * step
        found = (np.uint64(labels[first]) == x) | (np.uint64(labels[first + step]) == x)
        found |= (np.uint64(labels[first + _TWO * step]) == x) | (np.uint64(labels[first + _THREE * step]) == x)
        if found:
            return True
        i += _FOUR
    while i < count:
        if np.uint64(labels[at + i * step]) == x:
            return True
        i += ONE
    return False


@block(alone=True)
def _redraw_repeats(samples, trials, lane, lanes):
    """Replace the repeated labels of the trial in a lane by the next labels of its sequence, for n <= 32."""
    # The indices are unsigned: Numba tests signed indices for being negative, an eighth of all time at n = 8, f = 8.
    n, labels, t = samples.n, samples.labels, sieve.trial_in_lane(trials, lane)
    at, step, wanted = np.uint64(trials.at + lane), np.uint64(lanes), np.uint64(samples.count)
    distinct = ZERO
    seen = ZERO  # bit i is set if a label so far is i modulo 64
    position = ZERO  # in the trial's sequence
    while distinct < wanted:
        x = (
            np.uint64(labels[at + position * step])
            if position < wanted
            else node_label(trials.key, t, np.int64(position), n)
        )
        mark = ONE << (x & _LAST_SIX_BITS)
        is_new = not ((seen & mark != ZERO or wanted > _FILTERED) and _is_among(labels, at, step, distinct, x))
        seen |= mark
        if is_new:
            labels[at + distinct * step] = x
            distinct += ONE
        position += ONE


# ---------------------------------------------------------------- 2. search


@block
def _bar_rows(noted, count, barred, n, lanes):
    """Add ``count`` noted differences to the rows: row i takes those with bit i, and so bars itself too."""
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
    """Fill ``barred`` for the queue's first vector; return the dimensions that are barred from all pairs.

    These are the dimensions that are a difference by themselves.  The noted differences are used up before ``noted`` is full: one
    fault adds at most f of them.
    """
    zero = simd.splat_like(simd.load(queue, 0), ZERO)
    one = simd.splat_like(zero, np.uint64(1))
    two = simd.splat_like(zero, np.uint64(2))
    barred_from_all = zero
    for i in range(n):
        simd.store(barred, i * lanes, zero)
    count = np.int64(0)
    for i in range(1, f):
        x = simd.load(queue, 2 * lanes * i)
        for j in range(i):
            difference = x ^ simd.load(queue, 2 * lanes * j)
            distance = simd.popcount(difference)
            at_most_two = distance <= two
            if simd.bits(at_most_two) != ZERO:
                barred_from_all = barred_from_all | simd.select(distance <= one, difference, zero)
                simd.store(noted, count * lanes, simd.select(at_most_two, difference, zero))
                count += 1
        if count + f > _MAX_NOTED:
            _bar_rows(noted, count, barred, n, lanes)
            count = np.int64(0)
    _bar_rows(noted, count, barred, n, lanes)
    return barred_from_all


@block(alone=True)
def _tally_first_pairs(barred_from_all, barred, n, lanes, live, tally):
    """Read the first pair of dimensions that is not barred from the rows in each ``live`` lane, and tally it.

    Figure 2 finds it in the lanes in which its lower dimension is the first one that is not barred from all pairs.
    """
    zero = simd.splat_like(barred_from_all, ZERO)
    higher = simd.splat_like(zero, (ONE << np.uint64(n)) - ONE)  # the dimensions above i
    partners = zero  # in lanes with a pair: the dimensions that can be its higher one
    without_lower = live  # lanes in which all dimensions so far are barred from all pairs
    for i in range(n - 1):
        bit = simd.splat_like(zero, ONE << np.uint64(i))
        higher = higher ^ bit
        left = higher & ~(simd.load(barred, i * lanes) | barred_from_all)
        free = simd.bits((barred_from_all & bit) == zero)
        found = simd.bits(left != zero) & free & live
        count = bits.popcount(found)
        tally[_EXISTS] += count
        tally[_GREEDY] += bits.popcount(found & without_lower)
        tally[_LO] += i * count
        partners = simd.select(simd.mask(zero, found), left, partners)
        without_lower &= ~free
        live &= ~found
    partners = partners & (zero - partners)  # the lowest bit: x & -x
    for i in range(1, n):
        bit = simd.splat_like(zero, ONE << np.uint64(i))
        tally[_HI] += i * bits.popcount(simd.bits(partners == bit))


# ---------------------------------------------------------------- the kernels


class PartitionWorkspace(NamedTuple):
    """Scratch memory of a kernel's call."""

    params: Floats  #: parameters of the point
    samples: sieve.Samples
    queue: sieve.Queue  #: trials that the filter does not decide, by their labels alone
    noted: Cells  #: (_MAX_NOTED + f) rows of one vector: differences in one dimension or two, 0 in other lanes
    #: n rows of one vector: the dimensions that are barred as partners of each dimension, of the last search
    barred: Cells
    listed: FaultList  #: for trials searched one at a time


@block(always=True)
def _inspect_vector(work, trials, lanes, tally):
    """Record the trials with the pair {0, 1} (26 f + f^2 vector operations); queue the others, or for n > 32 search them."""
    samples, queue = work.samples, work.queue
    least = _least_difference(samples.labels, trials.at, lanes, samples.count)
    wanted = sieve.wanted_lanes(trials, lanes)
    undecided = simd.bits(least <= 3) & wanted
    decided = bits.popcount(wanted ^ undecided)
    tally[_EXISTS] += decided
    tally[_GREEDY] += decided
    tally[_HI] += decided
    while samples.n > 32 and undecided:
        run_list_trial(trials.key, sieve.trial_in_lane(trials, bits.lowest(undecided)), work.params, work.listed, tally)
        undecided &= undecided - ONE
    if undecided == ZERO:
        return False
    repeated = simd.bits(least == 0) & undecided
    while repeated:
        _redraw_repeats(samples, trials, bits.lowest(repeated), lanes)
        repeated &= repeated - ONE
    sieve.append_lanes(queue, lanes, samples.count, undecided, samples.labels, trials.at, lanes)
    queue.filled[0] += bits.popcount(undecided)
    return True


@block(always=True)
def _search_queue(work, least, lanes, tally):
    """Search the queue's first vector if it has ``least`` trials: 3/2 f^2 vector operations, and 2 n per noted difference."""
    n, queue = work.samples.n, work.queue
    if queue.filled[0] >= least:
        barred_from_all = _bar_queue(queue.cells, work.samples.count, work.noted, work.barred, n, lanes)
        _tally_first_pairs(barred_from_all, work.barred, n, lanes, first_lanes(queue.filled[0], lanes), tally)
        sieve.drop_first_vector(queue, lanes)
    return queue.filled[0] > 0


_sift_trials = sieve.make_sieve(_inspect_vector, _search_queue)


def _make_kernel(width: int, word: Any) -> Kernel:
    lanes = 512 // width  # a constant of the closure, for which all callees are specialised

    @scratch
    def workspace_for(params):
        n, f = np.int64(params[N]), np.int64(params[F])
        return PartitionWorkspace(
            params,
            sieve.make_samples(n, f, lanes, word),
            sieve.Queue(np.zeros((f + 1) * 2 * lanes, word), f, np.int64(1), np.int64(0), np.zeros(1, np.int64)),
            np.empty((_MAX_NOTED + f) * lanes, word),
            np.empty(n * lanes, word),
            set_up(params),
        )

    @kernel(TRIALS_SIGNATURE, variant=f"{width}")
    def two_partition_lanes(key, first, stop, params, tally):
        """Run trials at (n, f) = params; 2 <= n <= 8, 9 <= n <= 16 or 17 <= n <= 62 by the lanes' width, f <= 2^(n-2)."""
        _sift_trials(key, first, stop, workspace_for(params), lanes, tally)

    return two_partition_lanes


#: Kernels for 2 <= n <= 8, 9 <= n <= 16 and 17 <= n <= 62.
TWO_PARTITION_LANES_8 = _make_kernel(8, np.uint8)
TWO_PARTITION_LANES_16 = _make_kernel(16, np.uint16)
TWO_PARTITION_LANES_32 = _make_kernel(32, np.uint32)

#: Points (n, f) on both sides of each threshold inside these kernels, by the reason for the threshold.
EDGES = {
    "lanes of 8 and of 16 bits": ((8, 10), (9, 10)),
    "lanes of 16 and of 32 bits": ((16, 16), (17, 16)),
    "above n = 32 lanes hold the low 32 bits of a label": ((32, 60), (33, 60)),
    "above f = _FILTERED every label is searched for": ((10, 24), (10, 25)),
    "above f = _MAX_NOTED noted pairs are added to the rows after every fault": ((14, 63), (14, 64), (14, 65)),
}
