"""Broadcasting trials under few faulty nodes, n = 2 .. 62: lanes are trials (:mod:`fastcube.kernels.fault_lanes`).

Where no two faults are within distance 2, no node is unsafe and the whole cube is a region of single faults: BROADCAST1 and
BROADCAST2 reach every nonfaulty node, the last in unit n (``descent.covered``; n > 1).  BROADCAST loses the outermost of the
intervals [e, e + low), e being a fault's offset from the source and low its lowest set bit; fault i is inside k's
iff (e_i ^ e_k) & -low_k == 0.  An odd offset is received in unit n, and some is unless half of the offsets are silenced.
The other trials, and those with a repeated label, are run by themselves.

For n > 32 lanes hold the low 32 bits: what is close, the source or in an interval only there is run by itself too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import bits, simd
from ..bits import ONE, ZERO
from ..fault_lanes import draw_on, draw_rows, smallest_distance, valid_lanes
from ..faults import remember
from ..jit import TRIALS_SIGNATURE, Kernel, block, kernel
from ..tally import add_moments, add_square, offer
from .layout import TALLY
from .single import finish, run, trial_for

#: Most faults in lanes: for n > 32 the sum of so many intervals, each below 2^25, fits a lane.
MOST_FAULTS = 120

_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)

_NOT_UNSAFE, _MOST = TALLY.counter("not_unsafe"), TALLY.extreme("broadcast2_steps")
_TRIALS, _COMPLETE = TALLY.counter("broadcast_trials"), TALLY.counter("broadcast_complete")
_REACHED, _REACHED2 = TALLY.counter("broadcast_reached"), TALLY.counter("broadcast_reached_squared")
_STEPS, _STEPS2 = TALLY.counter("broadcast_steps"), TALLY.counter("broadcast_steps_squared")


@block
def _record_silenced(tally, count, n, moments):
    """Enter ``count`` BROADCASTs of n units, with the sums of the offsets silenced and of their squares in ``moments``."""
    tally[_TRIALS] += count
    tally[_STEPS] += count * n
    tally[_STEPS2] += count * n * n
    total = simd.total(simd.load(moments, 0))
    tally[_REACHED + (n >> 5)] += count << (n & 31)
    tally[_REACHED] -= np.int64(total & _LOW)
    tally[_REACHED + 1] -= np.int64(total >> _32)
    tally[_REACHED2 + (2 * n >> 5)] += count << (2 * n & 31)
    twice = np.uint64(n + 1)
    for half in range(2):
        part = ((total >> np.uint64(32 * half)) & _LOW) << (twice & np.uint64(31))
        at = _REACHED2 + np.int64(twice >> np.uint64(5)) + half
        tally[at] -= np.int64(part & _LOW)
        tally[at + 1] -= np.int64(part >> _32)
    tally[_REACHED2] += np.int64(simd.total(simd.load(moments, 8)))
    tally[_REACHED2 + 1] += np.int64(simd.total(simd.load(moments, 16)))


def _complete(name: str) -> Any:
    """The block that enters so many broadcasts of the algorithm ``name`` which reach every nonfaulty node in unit n."""
    trials, complete = TALLY.counter(f"{name}_trials"), TALLY.counter(f"{name}_complete")
    reached_, reached2 = TALLY.counter(f"{name}_reached"), TALLY.counter(f"{name}_reached_squared")
    steps_, steps2 = TALLY.counter(f"{name}_steps"), TALLY.counter(f"{name}_steps_squared")

    @block
    def record(tally, count, n, nonfaulty, digits):
        """``digits`` are those of nonfaulty^2."""
        tally[trials] += count
        tally[complete] += count
        tally[steps_] += count * n
        tally[steps2] += count * n * n
        tally[reached_] += count * np.int64(nonfaulty & _LOW)
        tally[reached_ + 1] += count * np.int64(nonfaulty >> _32)
        for i in range(4):
            tally[reached2 + i] += count * digits[i]

    return record


_record1_complete, _record2_complete = _complete("broadcast1"), _complete("broadcast2")


def _make(width: int, word: Any) -> Kernel:
    lanes = 512 // width  # a constant of the closure, with which all callees are specialised

    @block(always=True)
    def silenced(labels, lows, at, f, n):
        """Offsets that BROADCAST's lost copies silence, lane by lane; lanes to be run by themselves; lanes with a repeat."""
        source = simd.load(labels, at + f * lanes)
        zero = simd.sub(source, source)
        gone = zero
        again = simd.differ(zero, zero)
        for i in range(f):
            e = simd.xor(simd.load(labels, at + i * lanes), source)
            again = simd.mask_or(again, simd.equal(e, zero))
            low = simd.both(e, simd.sub(zero, e))
            gone = simd.either(gone, low)
            simd.store(lows, i * lanes, simd.sub(zero, low))
        alone = simd.mask_without(again, again)
        if n > 32:
            alone = simd.less_equal(simd.like(zero, ONE << np.uint64(25)), gone)
        gone = zero
        for i in range(f):
            x = simd.load(labels, at + i * lanes)
            inside = simd.differ(zero, zero)
            for k in range(i):
                y = simd.xor(x, simd.load(labels, at + k * lanes))
                inside = simd.mask_or(inside, simd.equal(simd.both(y, simd.load(lows, k * lanes)), zero))
            for k in range(i + 1, f):
                y = simd.xor(x, simd.load(labels, at + k * lanes))
                inside = simd.mask_or(inside, simd.equal(simd.both(y, simd.load(lows, k * lanes)), zero))
            low = simd.sub(zero, simd.load(lows, i * lanes))
            gone = simd.add(gone, simd.select(inside, zero, low))
            if n > 32:
                alone = simd.mask_or(alone, inside)
        if n <= 32:
            alone = simd.less_equal(simd.like(zero, ONE << np.uint64(n - 1)), gone)
        return gone, alone, again

    @kernel(TRIALS_SIGNATURE, variant=f"{width}")
    def broadcast_lanes(key, first, stop, params, tally):
        """Trials at (n, f, 0) = params; 0 < f <= MOST_FAULTS, f < 2^(n-1), and n in 2..16 (16 bits) or 17..62 (32 bits)."""
        if first >= stop:
            return
        trial = trial_for(params)
        faults = trial.faults
        n = np.int64(params[0])
        f = np.int64(params[1])
        parts = np.int64(2 if width == 16 and n <= 8 else 1)
        row = f + 2
        labels_array = np.empty(parts * row * lanes, word)
        lows_array = np.empty((f + 1) * lanes, word)
        moments = np.zeros(24, np.uint64)
        labels = simd.pointer(labels_array)
        words = simd.pointer(labels_array.view(np.uint64))
        lows = simd.pointer(lows_array)
        pattern = ZERO
        for shift in range(0, 64, width):
            pattern |= ((ONE << np.uint64(n if n < width else width)) - ONE) << np.uint64(shift)
        full = simd.like(simd.load(labels, 0), np.uint64(f))
        two = simd.like(full, np.uint64(2))
        easy_trials = np.int64(0)
        complete = np.int64(0)
        least = stop
        step = lanes * parts
        for start in range(first - first % step, stop, step):
            draw_rows(key, np.uint64(8 * (start // step)), f + 1, parts, pattern, words)
            for part in range(parts):
                at = part * row * lanes
                near = smallest_distance(labels, at, lanes, f)
                gone, alone, again = silenced(labels, lows, at, f, n)
                live = bits.ALL >> np.uint64(64 - lanes)
                known = ZERO
                if start < first or start + step > stop:
                    live = valid_lanes(start + part, parts, lanes, first, stop)
                repeated = simd.bits(simd.mask_or(again, simd.equal(near, simd.sub(near, near)))) & live
                slow = (simd.bits(simd.mask_or(alone, simd.less_equal(near, two))) & live) | repeated
                easy = live & ~slow
                if easy:
                    easy_trials += bits.popcount(easy)
                    complete += bits.popcount(simd.bits(simd.equal(gone, full)) & easy)
                    add_moments(simd.select(simd.mask(gone, easy), gone, simd.sub(gone, gone)), width, moments)
                    if start < least:
                        least = min(least, start + part + parts * bits.lowest(easy))
                if slow:
                    simd.store(lows, 0, gone)
                    known = ~(simd.bits(alone) | repeated)
                while slow:
                    i = bits.lowest(slow)
                    t = start + part + parts * i
                    if n > 32:
                        run(key, t, params, trial, tally)
                    else:
                        if repeated >> np.uint64(i) & ONE:
                            draw_on(key, t, n, f + 1, labels, at + i, lanes)
                        for j in range(f):
                            faults.labels[j] = labels[at + j * lanes + i]
                        remember(faults)
                        lost = np.int64(lows[i]) if known >> np.uint64(i) & ONE else np.int64(-1)
                        finish(trial, np.uint64(labels[at + f * lanes + i]), t, lost, tally)
                    slow &= slow - ONE
        if easy_trials:
            digits = np.zeros(4, np.int64)
            nonfaulty = (ONE << np.uint64(n)) - np.uint64(f)
            add_square(digits, np.int64(0), nonfaulty)
            tally[_NOT_UNSAFE] += easy_trials
            tally[_COMPLETE] += complete
            _record_silenced(tally, easy_trials, n, moments)
            _record1_complete(tally, easy_trials, n, nonfaulty, digits)
            _record2_complete(tally, easy_trials, n, nonfaulty, digits)
            offer(tally, _MOST, n, least)
        simd.keep(labels_array)
        simd.keep(lows_array)

    return broadcast_lanes


#: Kernels for 2 <= n <= 16 and for 17 <= n <= 62.
BROADCAST_LANES_16 = _make(16, np.uint16)
BROADCAST_LANES_32 = _make(32, np.uint32)
