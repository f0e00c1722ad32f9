"""Broadcasting trials under few faulty nodes, n = 2 .. 62: lanes are trials (:mod:`fastcube.kernels.draws.lanes`).

Entry: ``BROADCAST_LANES_16`` and ``_32``, whose work is ``_sift_trials``.  Draws from the study's key as it is:
labels 0 .. f of a trial's sequence (LABELS, and HIGH_LABELS for n > 32), the source behind the faults.

Where no two faults are within distance 2, no node is unsafe and the whole cube is a region of single faults: BROADCAST1 and
BROADCAST2 reach every nonfaulty node, the last in unit n (``descent.covered``; n > 1).  BROADCAST loses the outermost of the
intervals [e, e + low), e being a fault's offset from the source and low its lowest set bit; fault i is inside k's
iff (e_i ^ e_k) & -low_k == 0.  An odd offset is received in unit n, and some is unless half of the offsets are silenced.
The other trials, and those with a repeated label, are run by themselves.

For n > 32 lanes hold the low 32 bits: what is close, the source or in an interval only there is run by itself too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..draws.faults import index_faults
from ..draws.lanes import draw_four_vectors, lane_pattern, redraw_repeats, row_offset, smallest_distance, valid_lanes
from ..machine import bits, simd
from ..machine.bits import ONE, ZERO
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from ..tally import sums
from .layout import BROADCAST
from .scalar import BroadcastScratch, finish_trial, run_trial, set_up

_NOT_UNSAFE, _MOST = BROADCAST.counter("not_unsafe"), BROADCAST.extreme("broadcast2_steps")
_TRIALS, _COMPLETE = BROADCAST.counter("broadcast_trials"), BROADCAST.counter("broadcast_complete")
_REACHED, _STEPS = BROADCAST.moments("broadcast_reached"), BROADCAST.moments("broadcast_steps")


@block
def _record_silenced(tally, count, n, moments):
    """Enter ``count`` BROADCASTs of n units, with the sums of the offsets silenced and of their squares in ``moments``."""
    tally[_TRIALS] += count
    tally[_STEPS.total] += count * n
    tally[_STEPS.squares] += count * n * n
    total = simd.total(simd.load(moments, 0))
    sums.add_power(tally, _REACHED.total, count, n)
    sums.subtract_wide(tally, _REACHED.total, total)
    sums.add_power(tally, _REACHED.squares, count, 2 * n)
    sums.subtract_power(tally, _REACHED.squares, total, n + 1)
    sums.count_squares(tally, _REACHED.squares, moments)


def _make_complete_recorder(name: str) -> Any:
    """The block that enters so many broadcasts of the algorithm ``name`` which reach every nonfaulty node in unit n."""
    trials, complete = BROADCAST.counter(f"{name}_trials"), BROADCAST.counter(f"{name}_complete")
    reached, steps = BROADCAST.moments(f"{name}_reached"), BROADCAST.moments(f"{name}_steps")

    @block
    def record_complete(tally, count, n, digits):
        """``digits`` are those of the number of nonfaulty nodes, two, and of its square."""
        tally[trials] += count
        tally[complete] += count
        tally[steps.total] += count * n
        tally[steps.squares] += count * n * n
        sums.add_digits(tally, reached.total, digits[:2], count)
        sums.add_digits(tally, reached.squares, digits[2:], count)

    return record_complete


_record1_complete, _record2_complete = _make_complete_recorder("broadcast1"), _make_complete_recorder("broadcast2")


class BroadcastWorkspace(NamedTuple):
    """Scratch of the kernel."""

    trial: BroadcastScratch
    f: Any  #: int64
    parts: Any  #: int64: vectors that a word's labels are split into
    labels: Any  #: f + 2 rows of a vector for each part, four times: labels of the trials, the sources last
    lows: Any  #: f + 1 rows: -low of each fault's offset; then the offsets silenced
    moments: Any  #: uint64, three vectors: sums of the offsets silenced in the trials that lanes decide
    easy: Any  #: int64: how many these are, how many complete BROADCASTs, the smallest trial
    digits: Any  #: int64, six: zeros, then the number of nonfaulty nodes in two digits and its square in four


# ---------------------------------------------------------------- a vector of trials


@block(always=True)
def _is_in_interval(work, at, x, first, last, inside, lanes):
    """Lanes in which x is in the interval of one of the faults first .. last - 1 too."""
    for k in range(first, last):
        apart = x ^ simd.load(work.labels, at + k * lanes)
        within = apart & simd.load(work.lows, k * lanes)
        inside = inside | (within == (x - x))
    return inside


@block(always=True)
def _inspect_vector(work, at, lanes):
    """Offsets that BROADCAST's lost copies silence, lane by lane; lanes to be run by themselves; lanes with a repeat."""
    n, f, labels, lows = work.trial.n, work.f, work.labels, work.lows
    source = simd.load(labels, at + f * lanes)
    zero = source - source
    nowhere = simd.no_lane(zero)
    gone = zero
    again = nowhere
    for i in range(f):
        e = simd.load(labels, at + i * lanes) ^ source
        again = again | (e == zero)
        low = e & (zero - e)
        gone = gone | low
        simd.store(lows, i * lanes, zero - low)
    alone = nowhere
    if n > 32:
        alone = simd.splat_like(zero, ONE << np.uint64(25)) <= gone
    gone = zero
    for i in range(f):
        x = simd.load(labels, at + i * lanes)
        inside = _is_in_interval(work, at, x, 0, i, nowhere, lanes)
        inside = _is_in_interval(work, at, x, i + 1, f, inside, lanes)
        gone = gone - simd.select(inside, zero, simd.load(lows, i * lanes))
        if n > 32:
            alone = alone | inside
    if n <= 32:
        alone = simd.splat_like(zero, ONE << np.uint64(n - 1)) <= gone
    return gone, alone, again


@block(always=True)
def _record_easy(work, gone, easy, start, part, lanes):
    """Enter the trials ``easy`` of a vector, in which all is decided."""
    zero = gone - gone
    complete = simd.bits(gone == simd.splat_like(gone, work.f)) & easy
    sums.add_moments(simd.select(simd.mask(gone, easy), gone, zero), 512 // lanes, work.moments)
    work.easy[0] += bits.popcount(easy)
    work.easy[1] += bits.popcount(complete)
    if start < work.easy[2]:
        work.easy[2] = min(work.easy[2], start + part + work.parts * bits.lowest(easy))


@block
def _run_slow_trials(key, work, slow, repeated, known, start, part, at, params, lanes, tally):
    """Run the trials ``slow`` of a vector by themselves; where ``known``, what BROADCAST loses is in ``work.lows``."""
    trial, f = work.trial, work.f
    while slow:
        i = bits.lowest(slow)
        here = slow & (ZERO - slow)
        slow ^= here
        t = start + part + work.parts * i
        if trial.n > 32:
            run_trial(key, t, params, trial, tally)
            continue
        if repeated & here:
            redraw_repeats(key, t, trial.n, f + 1, work.labels, at + i, lanes)
        for j in range(f):
            trial.faults.labels[j] = work.labels[at + j * lanes + i]
        index_faults(trial.faults)
        lost = np.int64(work.lows[i]) if known & here else np.int64(-1)
        finish_trial(trial, np.uint64(work.labels[at + f * lanes + i]), t, lost, tally)


@block
def _sift_trials(key, first, stop, params, work, lanes, tally):
    """Decide trials first .. stop - 1 in lanes where that can be, and run the others."""
    n, f, parts = work.trial.n, work.f, work.parts
    words = work.labels.view(np.uint64)
    pattern = lane_pattern(n, lanes)
    two = simd.splat_like(simd.load(work.labels, 0), np.uint64(2))
    step = lanes * parts
    for start in range(first - first % (4 * step), stop, step):
        places = row_offset(start, step, f + 1)
        if places == 0:
            draw_four_vectors(key, np.uint64(8 * (start // step)), f + 1, parts, pattern, words)
        for part in range(parts):
            at = places + part * (f + 2) * lanes
            near = smallest_distance(work.labels, at, lanes, f)
            gone, alone, again = _inspect_vector(work, at, lanes)
            live = valid_lanes(start + part, parts, lanes, first, stop)
            repeated = simd.bits(again | (near == (near - near))) & live
            slow = (simd.bits(alone | (near <= two)) & live) | repeated
            easy = live & ~slow
            if easy:
                _record_easy(work, gone, easy, start, part, lanes)
            if slow:
                simd.store(work.lows, 0, gone)
                known = ~(simd.bits(alone) | repeated)
                _run_slow_trials(key, work, slow, repeated, known, start, part, at, params, lanes, tally)


@block
def _record_counts(work, tally):
    """Enter the trials that lanes decided."""
    n, easy, complete = work.trial.n, work.easy[0], work.easy[1]
    nonfaulty = (ONE << np.uint64(n)) - np.uint64(work.f)
    sums.add_wide(work.digits, 0, nonfaulty)
    sums.add_square(work.digits, 2, nonfaulty)
    tally[_NOT_UNSAFE] += easy
    tally[_COMPLETE] += complete
    _record_silenced(tally, easy, n, work.moments)
    _record1_complete(tally, easy, n, work.digits)
    _record2_complete(tally, easy, n, work.digits)
    sums.offer(tally, _MOST, n, work.easy[2])


def _make_kernel(width: int, word: Any) -> Kernel:
    lanes = 512 // width  # a constant of the closure, with which all callees are specialised

    @scratch
    def workspace_for(params, stop):
        n, f = np.int64(params[0]), np.int64(params[1])
        parts = np.int64(2 if width == 16 and n <= 8 else 1)
        return BroadcastWorkspace(
            set_up(params),
            f,
            parts,
            np.zeros(4 * parts * (f + 2) * lanes, word),
            np.zeros((f + 1) * lanes, word),
            np.zeros(24, np.uint64),
            np.array([0, 0, stop]),
            np.zeros(6, np.int64),
        )

    @kernel(TRIALS_SIGNATURE, variant=f"{width}")
    def broadcast_lanes(key, first, stop, params, tally):
        """Trials at (n, f, 0) = params; 0 < f <= 120, f < 2^(n-1), and n in 2..16 (16 bits) or 17..62 (32 bits)."""
        if first >= stop:
            return
        work = workspace_for(params, stop)
        _sift_trials(key, first, stop, params, work, lanes, tally)
        if work.easy[0]:
            _record_counts(work, tally)

    return broadcast_lanes


#: Kernels for 2 <= n <= 16 and for 17 <= n <= 62.
BROADCAST_LANES_16 = _make_kernel(16, np.uint16)
BROADCAST_LANES_32 = _make_kernel(32, np.uint32)

#: Points (n, f, links) on both sides of each threshold inside these kernels, by its reason.
EDGES = {
    "up to n = 8 a word holds eight trials": ((8, 6, 0), (9, 6, 0)),
    "lanes of 16 and of 32 bits": ((16, 8, 0), (17, 8, 0)),
    "above n = 32 lanes hold the low 32 bits of a label": ((32, 30, 0), (33, 30, 0)),
    "one fault has no pair": ((9, 1, 0), (9, 2, 0)),
    "MOST_IN_LANES": ((20, 119, 0), (20, 120, 0)),
}
