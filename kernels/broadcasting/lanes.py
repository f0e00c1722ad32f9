"""Broadcasting trials under few faulty nodes, n = 2 .. 62, with one trial per vector lane.

Entry points: ``BROADCAST_LANES_16`` and ``_32``.  They sample labels 0 .. f of each trial's sequence with the study's key
(random words for LABELS, and for n > 32 also for HIGH_LABELS).  The source comes after the faults.

A nonfaulty node is unsafe if it has two or more faulty or unsafe neighbours.  If no two faults are within distance 2, no node is
unsafe.  BROADCAST1 and
BROADCAST2 reach every nonfaulty node, the last in unit n (``descent.record_covered``; n > 1).  The *offset* e of a fault is its
label xor the source's, and low is its lowest set bit.  BROADCAST does not reach the offsets [e, e + low), which are *silenced*.
These intervals are nested or disjoint, so the outermost are added.  Fault i is inside the interval of fault k iff
(e_i ^ e_k) & -low_k == 0.  An odd offset is received in unit n, and at least one is unless half of the offsets are silenced.
The other trials, and trials with a repeated label, are run one at a time.

For n > 32 lanes hold the low 32 bits of the labels.  Trials in which these bits of two faults are close, or show a fault that is
the source or in an interval, are run one at a time too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..draws import sieve
from ..draws.faults import index_faults
from ..draws.lanes import smallest_distance
from ..machine import bits, simd
from ..machine.array_types import U64, Cells, Floats, Ints, Words
from ..machine.bits import ONE, ZERO
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from ..tally import sums
from .layout import BROADCAST, F, N
from .scalar import BroadcastScratch, finish_trial, run_trial, set_up

_SOME_ACTIVE, _MOST = BROADCAST.counter("some_active"), BROADCAST.maximum("broadcast2_steps")
_TRIALS, _COMPLETE = BROADCAST.counter("broadcast_trials"), BROADCAST.counter("broadcast_complete")
_REACHED, _STEPS = BROADCAST.moments("broadcast_reached"), BROADCAST.moments("broadcast_steps")
_STEPS_BINS = BROADCAST.counter("broadcast_steps_bins")


@block
def _record_silenced(tally, count, n, moments):
    """Record ``count`` BROADCASTs that end in unit n, in which all nodes but g silenced ones receive.

    ``moments`` holds the sums of g and of g^2 over them.  The squares (2^n - g)^2 add up to count 2^(2n) - 2^(n+1) sum(g) +
    sum(g^2).
    """
    tally[_TRIALS] += count
    tally[_STEPS.total] += count * n
    tally[_STEPS.squares] += count * n * n
    tally[_STEPS_BINS + n] += count
    total = simd.total(simd.load(moments, 0))
    sums.add_power(tally, _REACHED.total, count, n)
    sums.subtract_wide(tally, _REACHED.total, total)
    sums.add_power(tally, _REACHED.squares, count, 2 * n)
    sums.subtract_power(tally, _REACHED.squares, total, n + 1)
    sums.count_squares(tally, _REACHED.squares, moments)


def _make_complete_recorder(name: str) -> Any:
    """Return the block ``record_complete(tally, count, n, work)``: ``count`` broadcasts of ``name`` reach all nodes in unit n."""
    trials, complete = BROADCAST.counter(f"{name}_trials"), BROADCAST.counter(f"{name}_complete")
    reached, steps = BROADCAST.moments(f"{name}_reached"), BROADCAST.moments(f"{name}_steps")
    bins = BROADCAST.counter(f"{name}_steps_bins")

    @block
    def record_complete(tally, count, n, work):
        tally[trials] += count
        tally[complete] += count
        tally[steps.total] += count * n
        tally[steps.squares] += count * n * n
        tally[bins + n] += count
        sums.add_digits(tally, reached.total, work.nonfaulty, count)
        sums.add_digits(tally, reached.squares, work.nonfaulty_squared, count)

    return record_complete


_record1_complete, _record2_complete = _make_complete_recorder("broadcast1"), _make_complete_recorder("broadcast2")


class BroadcastWorkspace(NamedTuple):
    """Scratch memory of a kernel's call."""

    trial: BroadcastScratch  #: for trials that are run one at a time
    params: Floats  #: parameters of the point
    samples: sieve.Samples  #: labels of the faults, then of the source
    #: f rows of one vector, of the latest vector of trials.  Row i: -low of fault i's offset, which masks the bits that offsets
    #: in its interval share with it
    interval_masks: Cells
    silenced: Cells  #: (1 vector): numbers of silenced offsets, for trials that are run one at a time
    moments: Words  #: (3 vectors): sums over the trials that lanes decide of silenced offsets and their squares
    counted: Ints  #: (2): trials that lanes decide (_DECIDED), and those with a complete BROADCAST (_COMPLETED)
    first: Ints  #: (1): the smallest trial that lanes decide
    nonfaulty: Ints  #: (2): number of nonfaulty nodes, as digits in base 2^32; ``_record_counts`` sets it
    nonfaulty_squared: Ints  #: (4): its square, as digits in base 2^32; ``_record_counts`` sets it


#: Indices of ``counted``.
_DECIDED, _COMPLETED = range(2)


class SilencedOffsets(NamedTuple):
    """Offsets that BROADCAST's lost copies silence in each trial of a vector."""

    count: Any  #: vector: number of silenced offsets
    unknown: U64  #: trials in which ``count`` may be wrong, or no odd offset is left
    repeated: U64  #: trials in which a fault has the source's label


# ---------------------------------------------------------------- a vector of trials


@block(always=True)
def _is_in_interval(work, at, x, first, last, inside, lanes):
    """Return ``inside`` with the lanes added in which x is in the interval of one of the faults first .. last - 1.

    Labels serve as well as offsets, because the source cancels in the exclusive or.
    """
    for k in range(first, last):
        difference = x ^ simd.load(work.samples.labels, at + k * lanes)
        differs = difference & simd.load(work.interval_masks, k * lanes)
        inside = inside | (differs == (x - x))
    return inside


@block(always=True)
def _count_silenced(work, at, lanes):
    """Return the ``SilencedOffsets`` of the vector of trials whose rows begin at ``at``, and fill ``work.interval_masks``.

    A fault with offset e silences low(e) offsets, unless it is in the interval of another.  For n > 32 the number is unknown if a
    low bit is 2^25 or higher, so that sums fit into a lane, or if the low halves show a fault in an interval.
    """
    n, labels, masks = work.samples.n, work.samples.labels, work.interval_masks
    f = work.samples.count - 1
    source = simd.load(labels, at + f * lanes)
    zero = source - source
    nowhere = simd.no_lane(zero)
    low_bits = zero
    repeated = nowhere
    for i in range(f):
        e = simd.load(labels, at + i * lanes) ^ source
        repeated = repeated | (e == zero)
        low = e & (zero - e)
        low_bits = low_bits | low
        simd.store(masks, i * lanes, zero - low)
    unknown = nowhere
    if n > 32:
        unknown = simd.splat_like(zero, ONE << np.uint64(25)) <= low_bits
    silenced = zero
    for i in range(f):
        x = simd.load(labels, at + i * lanes)
        inside = _is_in_interval(work, at, x, 0, i, nowhere, lanes)
        inside = _is_in_interval(work, at, x, i + 1, f, inside, lanes)
        silenced = silenced - simd.select(inside, zero, simd.load(masks, i * lanes))  # minus -low
        if n > 32:
            unknown = unknown | inside
    if n <= 32:  # half of the offsets, perhaps all odd ones, are silenced
        unknown = simd.splat_like(zero, ONE << np.uint64(n - 1)) <= silenced
    return SilencedOffsets(silenced, simd.bits(unknown), simd.bits(repeated))


@block(always=True)
def _record_easy(work, silenced, easy, trials, lanes):
    """Record the trials ``easy`` of a vector, which lanes decide; BROADCAST is complete if it silences the f faults alone."""
    count = silenced.count
    complete = simd.bits(count == simd.splat_like(count, work.samples.count - 1)) & easy
    sums.add_moments(simd.select(simd.mask(count, easy), count, count - count), 512 // lanes, work.moments)
    work.counted[_DECIDED] += bits.popcount(easy)
    work.counted[_COMPLETED] += bits.popcount(complete)
    if trials.start < work.first[0]:
        work.first[0] = min(work.first[0], sieve.trial_in_lane(trials, bits.lowest(easy)))


@block
def _run_slow_trials(work, trials, slow, repeated, known, lanes, tally):
    """Run the trials ``slow`` one at a time; for those also in ``known`` ``work.silenced`` has the number of silenced offsets.

    Trials with ``repeated`` labels sample further labels first.  For n > 32 lanes lack the high bits, so trials are sampled
    again.
    """
    trial, labels, f = work.trial, work.samples.labels, work.samples.count - 1
    while slow:
        i = bits.lowest(slow)
        lane_bit = slow & (ZERO - slow)
        slow ^= lane_bit
        t, at = sieve.trial_in_lane(trials, i), trials.at + i
        if trial.n > 32:
            run_trial(trials.key, t, work.params, trial, tally)
            continue
        if repeated & lane_bit:
            sieve.redraw_lane(work.samples, trials, i, lanes)
        for j in range(f):
            trial.faults.labels[j] = labels[at + j * lanes]
        index_faults(trial.faults)
        silenced = np.int64(work.silenced[i]) if known & lane_bit else np.int64(-1)
        finish_trial(trial, np.uint64(labels[at + f * lanes]), t, silenced, tally)


@block(always=True)
def _inspect_vector(work, trials, lanes, tally):
    """Record the trials that lanes decide, and run the others; return False, because none is queued."""
    samples = work.samples
    nearest = smallest_distance(samples.labels, trials.at, lanes, samples.count - 1)
    silenced = _count_silenced(work, trials.at, lanes)
    wanted = sieve.wanted_lanes(trials, lanes)
    repeated = (silenced.repeated | simd.bits(nearest == 0)) & wanted
    slow = ((silenced.unknown | simd.bits(nearest <= 2)) & wanted) | repeated
    easy = wanted & ~slow
    if easy:
        _record_easy(work, silenced, easy, trials, lanes)
    if slow:
        simd.store(work.silenced, 0, silenced.count)
        _run_slow_trials(work, trials, slow, repeated, ~(silenced.unknown | repeated), lanes, tally)
    return False


_sift_trials = sieve.make_sieve(_inspect_vector, small=True)


@block
def _record_counts(work, tally):
    """Record all trials that lanes have decided: BROADCAST's, and complete ones of BROADCAST1 and BROADCAST2.

    Call it once: it adds to ``work.nonfaulty`` and its square, which begin with 0.
    """
    n, decided = work.samples.n, work.counted[_DECIDED]
    nonfaulty = (ONE << np.uint64(n)) - np.uint64(work.samples.count - 1)
    sums.add_wide(work.nonfaulty, 0, nonfaulty)
    sums.add_square(work.nonfaulty_squared, 0, nonfaulty)
    tally[_SOME_ACTIVE] += decided
    tally[_COMPLETE] += work.counted[_COMPLETED]
    _record_silenced(tally, decided, n, work.moments)
    _record1_complete(tally, decided, n, work)
    _record2_complete(tally, decided, n, work)
    sums.offer(tally, _MOST, n, work.first[0])


def _make_kernel(width: int, word: Any) -> Kernel:
    """Return the kernel with lanes of ``width`` bits, of the type ``word``."""
    lanes = 512 // width  # a constant of the closure, for which all callees are specialised

    @scratch
    def workspace_for(params, stop):
        n, f = np.int64(params[N]), np.int64(params[F])
        return BroadcastWorkspace(
            set_up(params),
            params,
            sieve.make_samples(n, f + 1, lanes, word),
            np.zeros(f * lanes, word),
            np.zeros(lanes, word),
            np.zeros(24, np.uint64),
            np.zeros(2, np.int64),
            np.full(1, stop, np.int64),
            np.zeros(2, np.int64),
            np.zeros(4, np.int64),
        )

    @kernel(TRIALS_SIGNATURE, variant=f"{width}")
    def broadcast_lanes(key, first, stop, params, tally):
        """Run trials at (n, f, 0) = params; 0 < f <= 120, f < 2^(n-1), and n in 2..16 (16 bits) or 17..62 (32 bits)."""
        if first >= stop:
            return
        work = workspace_for(params, stop)
        _sift_trials(key, first, stop, work, lanes, tally)
        if work.counted[_DECIDED]:
            _record_counts(work, tally)

    return broadcast_lanes


#: Kernels for 2 <= n <= 16 and for 17 <= n <= 62.
BROADCAST_LANES_16 = _make_kernel(16, np.uint16)
BROADCAST_LANES_32 = _make_kernel(32, np.uint32)

#: Points (n, f, links) on both sides of each threshold inside these kernels, or at the limits of their points, by the reason.
EDGES = {
    "up to n = 8 a word holds eight trials": ((8, 6, 0), (9, 6, 0)),
    "lanes of 16 and of 32 bits": ((16, 8, 0), (17, 8, 0)),
    "above n = 32 lanes hold the low 32 bits of a label": ((32, 30, 0), (33, 30, 0)),
    "one fault has no pair": ((9, 1, 0), (9, 2, 0)),
    "120 faults are the most in lanes": ((20, 119, 0), (20, 120, 0)),
}
