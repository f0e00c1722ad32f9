"""Unsafe nodes under few random faults, n = 7 .. 62: lanes are trials.

Most trials have no two faults within distance 2, hence no unsafe node and no round.  So

1. *filter*: row k of ``labels`` holds fault k of a vector of trials; xor, popcount and minimum over all pairs give
   each trial's smallest distance.  Distance 0 is a repeated label: its trial is drawn on, by itself;
2. *closure*: trials that pass are pressed together into a queue and closed a vector at a time.  Labels stay as they
   are; each fault carries the mask of its subcube's free dimensions, and two faults whose subcubes are within
   distance 2 both get the mask of the smallest subcube around them, until nothing changes;
3. *rounds*: one round is enough for subcubes of two dimensions or fewer.  A trial with one larger subcube is
   pressed into a second queue if that has at most six dimensions, where each trial's subcube becomes a word and 32
   words run at once, or into a third for seven and eight, where eight of them run at once.  Trials with two larger
   subcubes or more dimensions are left over to a plain kernel.

Lanes have 16 bits for n <= 16 and 32 bits above; for n > 32 the filter sees the low 32 bits, and the few trials that
pass are left over.  For n <= 8 a word holds eight trials in 64 bits, which are split into two vectors, of the even and
of the odd trials.

Kernels unrolled for one f altogether were tried: they save another 0.3 ns of 3.5 to 5 a trial at n = 10 and 12, and
cost four seconds of compilation for each f, which 10^10 trials would pay for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import bits, philox, simd
from ..jit import Kernel, block, kernel
from ..sampling import node_label
from .queues import add_moments, append, press, run_cubes, shift_down, solve, solve_unrolled, trial_of
from .tally import (
    ALL_UNSAFE,
    MAX_ROUNDS,
    MERGING,
    ROUNDS,
    ROUNDS_KNOWN,
    ROUNDS_SQUARED,
    UNSAFE,
    UNSAFE_SQUARED,
    WITH_UNSAFE,
    add_wide,
    offer,
)

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


# ---------------------------------------------------------------- 1. filter


@block(always=True)
def _draw(key, block, f, parts, pattern, words):
    """Fill the rows of the labels' ``words`` with the first f labels of a vector of trials, or of two (``parts``)."""
    prepared = philox.prepare_lanes(key, block, philox.LABELS)
    used = simd.splat(pattern)
    byte = simd.splat(np.uint64(8))
    for k in range(0, f, 2):
        even, odd = philox.lanes(key, prepared, np.uint64(k >> 1))
        simd.store(words, 8 * k, simd.both(even, used))
        simd.store(words, 8 * k + 8, simd.both(odd, used))
        if parts == 2:
            at = 8 * (f + 1 + k)
            simd.store(words, at, simd.both(simd.shift_right(even, byte), used))
            simd.store(words, at + 8, simd.both(simd.shift_right(odd, byte), used))


@block
def _closer(near, x, y):
    return simd.minimum(near, simd.popcount(simd.xor(x, y)))


@block(always=True)
def _smallest_distance(labels, at, lanes, f):
    """Smallest distance between two of the f faults, lane by lane, over all f (f - 1) / 2 pairs.

    Four rows at a time are held against each earlier one, so that each load serves four pairs.
    """
    first = simd.load(labels, at)
    n0 = simd.like(first, np.uint64(255))
    n1 = n0
    n2 = n0
    n3 = n0
    rest = f & 3
    for i in range(1, rest):
        x = simd.load(labels, at + i * lanes)
        for j in range(i):
            n0 = _closer(n0, x, simd.load(labels, at + j * lanes))
    for i in range(rest, f, 4):
        x0 = simd.load(labels, at + i * lanes)
        x1 = simd.load(labels, at + (i + 1) * lanes)
        x2 = simd.load(labels, at + (i + 2) * lanes)
        x3 = simd.load(labels, at + (i + 3) * lanes)
        n0 = _closer(n0, x0, x1)
        n1 = _closer(n1, x0, x2)
        n2 = _closer(n2, x0, x3)
        n3 = _closer(n3, x1, x2)
        n0 = _closer(n0, x1, x3)
        n1 = _closer(n1, x2, x3)
        for j in range(i):
            y = simd.load(labels, at + j * lanes)
            n0 = _closer(n0, x0, y)
            n1 = _closer(n1, x1, y)
            n2 = _closer(n2, x2, y)
            n3 = _closer(n3, x3, y)
    return simd.minimum(simd.minimum(n0, n1), simd.minimum(n2, n3))


@block
def _valid(start, step, lanes, first, stop):
    """Bit i tells whether trial ``start + i step`` is in [first, stop)."""
    out = _ZERO
    for i in range(lanes):
        if first <= start + i * step < stop:
            out |= _ONE << np.uint64(i)
    return out


@block
def _draw_on(key, t, n, f, labels, at, lanes):
    """Replace the repeated labels of one trial, in column ``at`` of the rows; whether two are within distance 2."""
    taken = np.int64(0)
    j = np.int64(0)
    near = False
    while taken < f:
        x = np.uint64(labels[at + j * lanes]) if j < f else node_label(key, t, j, n)
        new = True
        close = False
        for i in range(taken):
            apart = bits.popcount(x ^ np.uint64(labels[at + i * lanes]))
            new &= apart != 0
            close |= apart <= 2
        if new:
            labels[at + taken * lanes] = x
            taken += 1
            near |= close
        j += 1
    return near


# ---------------------------------------------------------------- all together


#: Shape of the lane kernels: as a study's, and room for the trials left over, of which they return the number.
SIFTING_SIGNATURE = "int64(uint64, int64, int64, float64[::1], int64[::1], int64[::1])"


def _make(width: int, word: Any) -> Kernel:
    lanes = 512 // width  # a constant of the closure, with which all callees are specialised

    @kernel(SIFTING_SIGNATURE, variant=f"{width}")
    def unsafe_lanes(key, first, stop, params, tally, left_over):
        """Count unsafe nodes and rounds over trials; 1 < f <= 2^(n-1), and n in 7..16 (16 bits) or 17..62 (32 bits).

        Parameters
        ----------
        key, first, stop, params, tally
            As every kernel of a study takes them; ``unsafe_tally.py`` says what is counted.
        left_over : int64 array of at least ``stop - first``
            Receives the trials that are not counted here: for n > 32 those that pass the filter, otherwise
            those with two subcubes of three or more dimensions or one of more than eight.

        Returns
        -------
        int64
            Number of trials left over.

        Notes
        -----
        For each vector of trials 26 f vector operations of the generator and 3/2 f^2 of the filter; then
        what the trials that pass it cost.
        """
        if first >= stop:
            return np.int64(0)
        n = np.int64(params[0])
        f = np.int64(params[1])
        parts = np.int64(2 if width == 16 and n <= 8 else 1)
        labels_array = np.empty(parts * (f + 1) * lanes, word)
        queue_array = np.zeros((f + 3) * 2 * lanes, word)
        second_array = np.zeros((f + 5) * 2 * lanes, word)
        third_array = np.zeros((f + 5) * 2 * lanes, word)
        masks_array = np.empty((f + 1) * lanes, word)
        cubes_array = np.empty(64, np.uint64)
        sums_array = np.zeros(24, np.uint64)
        labels = simd.pointer(labels_array)
        words = simd.pointer(labels_array.view(np.uint64))
        queue = simd.pointer(queue_array)
        second = simd.pointer(second_array)
        third = simd.pointer(third_array)
        masks = simd.pointer(masks_array)
        cubes = simd.pointer(cubes_array)
        sums = simd.pointer(sums_array)
        slots = simd.pointer(tally)
        pattern = _ZERO
        for shift in range(0, 64, width):
            pattern |= ((_ONE << np.uint64(n if n < width else width)) - _ONE) << np.uint64(shift)
        zero = simd.load(queue, 0)
        two = simd.like(zero, np.uint64(2))
        six = simd.like(zero, np.uint64(6))
        eight = simd.like(zero, np.uint64(8))
        whole = simd.like(zero, np.uint64(n))
        count = np.int64(0)
        filled = np.int64(0)
        filled_third = np.int64(0)
        left = np.int64(0)
        merging = np.int64(0)
        step = lanes * parts
        origin = first - first % step
        start = origin
        part = np.int64(0)
        rows = np.int64(0)
        offer(slots, np.int64(0), first)
        while True:
            draining = start >= stop
            if not draining:
                if part == 0:
                    _draw(key, np.uint64(8 * (start // step)), f, parts, pattern, words)
                    rows = np.int64(0)
                near = _smallest_distance(labels, rows, lanes, f)
                hit = simd.bits(simd.less_equal(near, two))
                if hit != _ZERO:
                    if start < first or start + step > stop:
                        hit &= _valid(start + part, parts, lanes, first, stop)
                    while n > 32 and hit:
                        left_over[left] = start + bits.lowest(hit)
                        left += 1
                        hit &= hit - _ONE
                    repeated = simd.bits(simd.equal(near, zero)) & hit
                    while repeated:
                        i = bits.lowest(repeated)
                        here = repeated & (~repeated + _ONE)
                        repeated ^= here
                        if not _draw_on(key, start + part + parts * i, n, f, labels, rows + i, lanes):
                            hit ^= here
                    group = (start - origin) // lanes + part
                    append(queue, lanes, f, count, hit, labels, rows, lanes)
                    lane = simd.compress(simd.mask(near, hit), simd.iota(near))
                    simd.store(queue, 2 * lanes * f + count, lane)
                    simd.store(queue, 2 * lanes * (f + 1) + count, simd.like(near, np.uint64(group)))
                    simd.store(queue, 2 * lanes * (f + 2) + count, simd.like(near, np.uint64(group >> width)))
                    count += bits.popcount(hit)
                    merging += bits.popcount(hit)
                rows += (f + 1) * lanes
                part += 1
                if part == parts:
                    part = np.int64(0)
                    start += step
            if count >= lanes or (draining and count > 0):
                live = bits.ALL >> np.uint64(64 - (count if count < lanes else lanes))
                if width == 16:
                    nodes, largest, free, label, several = solve_unrolled(queue, lanes, masks, f)
                else:
                    nodes, largest, free, label, several = solve(queue, lanes, masks, f)
                unsafe = simd.bits(simd.differ(nodes, zero)) & live
                easy = simd.bits(simd.less_equal(largest, two)) & unsafe
                hard = unsafe & ~easy
                alone = (simd.bits(several) | ~simd.bits(simd.less_equal(largest, eight))) & hard
                hard ^= alone
                unsafe ^= alone
                live ^= alone
                merging -= bits.popcount(alone)
                while alone:
                    left_over[left] = trial_of(queue, lanes, f, bits.lowest(alone), origin, parts)
                    left += 1
                    alone &= alone - _ONE
                if hard:
                    in_word = simd.bits(simd.less_equal(largest, six)) & hard
                    filled = press(second, lanes, f, filled, in_word, queue, free, label)
                    if in_word != hard:
                        filled_third = press(third, lanes, f, filled_third, hard ^ in_word, queue, free, label)
                add_moments(simd.select(simd.mask(nodes, unsafe), nodes, zero), width, sums)
                slots[WITH_UNSAFE] += bits.popcount(unsafe)
                slots[ALL_UNSAFE] += bits.popcount(simd.bits(simd.equal(largest, whole)) & live)
                slots[ROUNDS] += bits.popcount(easy)
                slots[ROUNDS_SQUARED] += bits.popcount(easy)
                while easy and slots[MAX_ROUNDS] <= 1:
                    offer(slots, np.int64(1), trial_of(queue, lanes, f, bits.lowest(easy), origin, parts))
                    easy &= easy - _ONE
                shift_down(queue, lanes, f + 3)
                count -= lanes
            if filled >= lanes or (draining and filled > 0):
                run_cubes(second, lanes, f, 0, masks, cubes, filled, origin, parts, slots)
                shift_down(second, lanes, f + 5)
                filled -= lanes
            if filled_third >= lanes or (draining and filled_third > 0):
                run_cubes(third, lanes, f, 2, masks, cubes, filled_third, origin, parts, slots)
                shift_down(third, lanes, f + 5)
                filled_third -= lanes
            if draining and count <= 0 and filled <= 0 and filled_third <= 0:
                break
        slots[MERGING] += merging
        slots[ROUNDS_KNOWN] += stop - first - left
        add_wide(slots, UNSAFE, simd.total(simd.load(sums, 0)))
        add_wide(slots, UNSAFE_SQUARED, simd.total(simd.load(sums, 8)))
        add_wide(slots, UNSAFE_SQUARED + 1, simd.total(simd.load(sums, 16)))
        simd.keep(labels_array)
        simd.keep(queue_array)
        simd.keep(second_array)
        simd.keep(third_array)
        simd.keep(masks_array)
        simd.keep(cubes_array)
        simd.keep(sums_array)
        return left

    return unsafe_lanes


#: Kernels for 7 <= n <= 16 and for 17 <= n <= 62.
UNSAFE_LANES_16 = _make(16, np.uint16)
UNSAFE_LANES_32 = _make(32, np.uint32)
