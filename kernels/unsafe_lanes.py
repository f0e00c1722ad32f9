"""Unsafe nodes under few random faults, n = 7 .. 62: lanes are trials.

Most trials have no two faults within distance 2, hence no unsafe node and no round.  So

1. *filter*: row k of ``labels`` holds fault k of a vector of trials; xor, popcount and minimum over all pairs give
   each trial's smallest distance.  Distance 0 is a repeated label: its trial is drawn on, by itself;
2. *closure*: trials that pass are pressed together into a queue and closed a vector at a time.  Labels stay as they
   are; each fault carries the mask of its subcube's free dimensions, and two faults whose subcubes are within
   distance 2 both get the mask of the smallest subcube around them, until nothing changes;
3. *rounds*: one round is enough for subcubes of two dimensions or fewer.  A trial with one larger
   subcube, of at most six dimensions, is pressed into a second queue, where each trial's subcube becomes a word and 32
   words run at once.  What is left (two larger subcubes, or more dimensions) is run one by one.

Lanes have 16 bits for n <= 16 and 32 bits above; for n > 32 the filter sees the low 32 bits, and the few trials that
pass are done one by one with all of theirs.  For n <= 8 a word holds eight trials a lane of 64, which are split into
two vectors, of the even and of the odd trials.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import bits, philox, simd
from .jit import Kernel, inline, inline_always, kernel
from .sampling import node_label
from .unsafe_small import round_of_cubes
from .unsafe_tally import (
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


@inline_always
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


@inline
def _closer(near, x, y):
    return simd.minimum(near, simd.popcount(simd.xor(x, y)))


@inline_always
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


@inline
def _valid(start, step, lanes, first, stop):
    """Bit i tells whether trial ``start + i step`` is in [first, stop)."""
    out = _ZERO
    for i in range(lanes):
        if first <= start + i * step < stop:
            out |= _ONE << np.uint64(i)
    return out


@inline
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


# ---------------------------------------------------------------- queues


@inline
def _append(queue, lanes, rows, count, chosen, source, at, step):
    """Press the chosen lanes of ``rows`` rows together behind the ``count`` columns of the queue's rows."""
    for k in range(rows):
        row = simd.load(source, at + k * step)
        simd.store(queue, 2 * lanes * k + count, simd.compress(simd.mask(row, chosen), row))


@inline
def _shift_down(queue, lanes, rows):
    """Drop the first vector of columns."""
    for k in range(rows):
        simd.store(queue, 2 * lanes * k, simd.load(queue, 2 * lanes * k + lanes))


@inline
def _trial(queue, lanes, row, column, origin, parts):
    """The trial of a column, from its rows lane, low group and high group."""
    lane = np.int64(queue[2 * lanes * row + column])
    group = np.int64(queue[2 * lanes * (row + 1) + column])
    group |= np.int64(queue[2 * lanes * (row + 2) + column]) << (512 // lanes)
    part = group & (parts - 1)
    return origin + (group - part) * lanes + lane * parts + part


# ---------------------------------------------------------------- 2. closure


@inline
def _close(queue, lanes, masks, f):
    """Masks of the free dimensions of each fault's subcube, for the first vector of the queue's columns.

    ``masks`` has f rows of one vector and is overwritten.
    """
    zero = simd.like(simd.load(queue, 0), _ZERO)
    two = simd.like(zero, np.uint64(2))
    for i in range(f):
        simd.store(masks, lanes * i, zero)
    while True:
        changed = zero
        for i in range(1, f):
            x = simd.load(queue, 2 * lanes * i)
            m = simd.load(masks, lanes * i)
            grown = m
            for j in range(i):
                apart = simd.xor(x, simd.load(queue, 2 * lanes * j))
                other = simd.load(masks, lanes * j)
                union = simd.either(m, other)
                near = simd.less_equal(simd.popcount(simd.without(apart, union)), two)
                whole = simd.select(near, simd.either(union, apart), zero)
                changed = simd.either(changed, simd.select(near, simd.xor(whole, simd.both(m, other)), zero))
                grown = simd.either(grown, whole)
                simd.store(masks, lanes * j, simd.either(other, whole))
            simd.store(masks, lanes * i, grown)
        if simd.bits(simd.differ(changed, zero)) == _ZERO:
            return


@inline
def _measure(queue, lanes, masks, f):
    """Sizes of the closed subcubes, lane by lane.

    Returns vectors of the number of unsafe nodes (modulo two to the lane width, so that 2^w - f is right), of the
    largest subcube's dimension, mask and one label, and the mask of lanes with a second subcube of three or more
    dimensions.  A subcube is counted at the first of its faults.
    """
    zero = simd.like(simd.load(queue, 0), _ZERO)
    two = simd.like(zero, np.uint64(2))
    nodes = simd.sub(zero, simd.like(zero, np.uint64(f)))
    largest = zero
    free = zero
    label = zero
    several = simd.differ(zero, zero)
    for i in range(f):
        x = simd.load(queue, 2 * lanes * i)
        m = simd.load(masks, lanes * i)
        first = simd.equal(zero, zero)
        for j in range(i):
            apart = simd.without(simd.xor(x, simd.load(queue, 2 * lanes * j)), simd.load(masks, lanes * j))
            first = simd.mask_and(first, simd.differ(apart, zero))
        d = simd.popcount(m)
        nodes = simd.add(nodes, simd.select(first, simd.one_hot(d), zero))
        more = simd.mask_without(first, simd.less_equal(d, largest))
        second = simd.mask_without(first, simd.less_equal(simd.minimum(d, largest), two))
        several = simd.mask_or(several, second)
        largest = simd.select(more, d, largest)
        free = simd.select(more, m, free)
        label = simd.select(more, x, label)
    return nodes, largest, free, label, several


@inline
def _add_moments(nodes, width, sums):
    """Add the lanes of ``nodes`` and their squares (two digits) to three vectors of 64-bit sums, kept in ``sums``."""
    low = simd.splat(_LOW)
    lane = simd.splat((_ONE << np.uint64(width)) - _ONE)
    words = simd.as64(nodes)
    total = simd.load(sums, 0)
    least = simd.load(sums, 8)
    high = simd.load(sums, 16)
    for shift in range(0, 64, width):
        x = simd.both(simd.shift_right(words, simd.splat(np.uint64(shift))), lane)
        square = simd.mul32(x, x)
        total = simd.add(total, x)
        least = simd.add(least, simd.both(square, low))
        high = simd.add(high, simd.shift_right(square, simd.splat(_32)))
    simd.store(sums, 0, total)
    simd.store(sums, 8, least)
    simd.store(sums, 16, high)


# ---------------------------------------------------------------- 3. rounds


@inline
def _locate(second, lanes, f, dims, index):
    """Rows of ``index``: each fault's label inside its column's subcube, of 6 + dims dimensions.

    Row f of the queue is the subcube's mask and row f + 1 one label inside; a fault of another subcube gets the
    place of that label.
    """
    free = simd.load(second, 2 * lanes * f)
    label = simd.load(second, 2 * lanes * (f + 1))
    zero = simd.xor(free, free)
    for k in range(f):
        simd.store(index, lanes * k, zero)
    rest = free
    for b in range(6 + dims):
        low = simd.both(rest, simd.sub(zero, rest))
        rest = simd.xor(rest, low)
        bit = simd.like(zero, _ONE << np.uint64(b))
        for k in range(f):
            x = simd.load(second, 2 * lanes * k)
            inside = simd.equal(simd.without(simd.xor(x, label), free), zero)
            x = simd.select(inside, x, label)
            at = simd.load(index, lanes * k)
            simd.store(index, lanes * k, simd.select(simd.differ(simd.both(x, low), zero), simd.either(at, bit), at))


@inline
def _build(index, lanes, f, dims, q0, cubes):
    """Four vectors of cubes from the located faults: lane l of the g-th eight is column ``per l + q0 + g``."""
    per = lanes >> 3
    mask = simd.splat(np.uint64((64 << dims) - 1))
    for v in range(4):
        q = q0 + (v >> dims)
        x = simd.splat(_ZERO)
        if q < per:
            shift = simd.splat(np.uint64(q * (64 // per)))
            base = simd.splat(np.uint64(64 * (v & ((1 << dims) - 1))))
            for k in range(f):
                at = simd.both(simd.shift_right(simd.as64(simd.load(index, lanes * k)), shift), mask)
                x = simd.either(x, simd.one_hot(simd.sub(at, base)))
        simd.store(cubes, 8 * v, x)


@inline
def _run_cubes(second, lanes, f, dims, index, cubes, count, origin, parts, tally):
    """Rounds of the first ``count`` trials of a second queue, all of which have an unsafe node: one or more."""
    per = lanes >> 3
    _locate(second, lanes, f, dims, index)
    for q0 in range(0, per, 4 >> dims):
        _build(index, lanes, f, dims, q0, cubes)
        valid = _ZERO
        for i in range(32 >> dims):
            valid |= np.uint64(per * (i & 7) + q0 + (i >> 3) < count and q0 + (i >> 3) < per) << np.uint64(i)
        rounds = bits.popcount(valid)
        squares = rounds
        last = valid
        at = np.int64(0)
        r = np.int64(0)
        while True:
            changed, _ = round_of_cubes(dims, cubes, at, 4 - at)
            changed &= valid
            if changed == _ZERO and r > 0:
                break
            at = 4 - at
            r += 1
            if r > 1:
                last = changed
                more = bits.popcount(changed)
                rounds += more
                squares += (2 * r - 1) * more
        tally[ROUNDS] += rounds
        tally[ROUNDS_SQUARED] += squares
        if r >= tally[MAX_ROUNDS]:
            while last:
                i = bits.lowest(last)
                last &= last - _ONE
                column = per * (i & 7) + q0 + (i >> 3)
                offer(tally, r, _trial(second, lanes, f + 2, column, origin, parts))


@inline
def _press(second, lanes, f, filled, hard, queue, free, label):
    """Press the hard columns of the queue, with their subcube, behind the ``filled`` columns of a second queue."""
    _append(second, lanes, f, filled, hard, queue, 0, 2 * lanes)
    chosen = simd.mask(free, hard)
    simd.store(second, 2 * lanes * f + filled, simd.compress(chosen, free))
    simd.store(second, 2 * lanes * (f + 1) + filled, simd.compress(chosen, label))
    for k in range(f, f + 3):
        row = simd.load(queue, 2 * lanes * k)
        simd.store(second, 2 * lanes * (k + 2) + filled, simd.compress(chosen, row))
    return filled + bits.popcount(hard)


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
                    _append(queue, lanes, f, count, hit, labels, rows, lanes)
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
                _close(queue, lanes, masks, f)
                nodes, largest, free, label, several = _measure(queue, lanes, masks, f)
                unsafe = simd.bits(simd.differ(nodes, zero)) & live
                easy = simd.bits(simd.less_equal(largest, two)) & unsafe
                hard = unsafe & ~easy
                alone = (simd.bits(several) | ~simd.bits(simd.less_equal(largest, eight))) & hard
                hard ^= alone
                unsafe ^= alone
                live ^= alone
                merging -= bits.popcount(alone)
                while alone:
                    left_over[left] = _trial(queue, lanes, f, bits.lowest(alone), origin, parts)
                    left += 1
                    alone &= alone - _ONE
                if hard:
                    in_word = simd.bits(simd.less_equal(largest, six)) & hard
                    filled = _press(second, lanes, f, filled, in_word, queue, free, label)
                    if in_word != hard:
                        filled_third = _press(third, lanes, f, filled_third, hard ^ in_word, queue, free, label)
                _add_moments(simd.select(simd.mask(nodes, unsafe), nodes, zero), width, sums)
                slots[WITH_UNSAFE] += bits.popcount(unsafe)
                slots[ALL_UNSAFE] += bits.popcount(simd.bits(simd.equal(largest, whole)) & live)
                slots[ROUNDS] += bits.popcount(easy)
                slots[ROUNDS_SQUARED] += bits.popcount(easy)
                while easy and slots[MAX_ROUNDS] <= 1:
                    offer(slots, np.int64(1), _trial(queue, lanes, f, bits.lowest(easy), origin, parts))
                    easy &= easy - _ONE
                _shift_down(queue, lanes, f + 3)
                count -= lanes
            if filled >= lanes or (draining and filled > 0):
                _run_cubes(second, lanes, f, 0, masks, cubes, filled, origin, parts, slots)
                _shift_down(second, lanes, f + 5)
                filled -= lanes
            if filled_third >= lanes or (draining and filled_third > 0):
                _run_cubes(third, lanes, f, 2, masks, cubes, filled_third, origin, parts, slots)
                _shift_down(third, lanes, f + 5)
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
