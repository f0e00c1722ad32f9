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
from .jit import TRIALS_SIGNATURE, Kernel, inline, kernel
from .sampling import draw_faults, node_label, table_size
from .subcubes import scratch, solve
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
    record,
)

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


# ---------------------------------------------------------------- 1. filter


@inline
def _draw(key, block, f, parts, pattern, labels):
    """Fill the rows of ``labels`` with the first f labels of a vector of trials, or of two (``parts``)."""
    words = labels.view(np.uint64)
    prepared = philox.prepare_lanes(key, block, philox.LABELS)
    used = simd.splat(pattern)
    for k in range(0, f, 2):
        even, odd = philox.lanes(key, prepared, np.uint64(k >> 1))
        for part in range(parts):
            shift = simd.splat(np.uint64(8 * part))
            at = 8 * (part * (f + 1) + k)
            simd.store(words, at, simd.both(simd.shift_right(even, shift), used))
            simd.store(words, at + 8, simd.both(simd.shift_right(odd, shift), used))


@inline
def _closer(near, x, y):
    return simd.minimum(near, simd.popcount(simd.xor(x, y)))


@inline
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
def _append(queue, rows, count, chosen, source, at, step):
    """Press the chosen lanes of ``rows`` rows together behind the ``count`` columns of the queue's rows."""
    lanes = simd.BITS // (8 * queue.itemsize)
    for k in range(rows):
        row = simd.load(source, at + k * step)
        simd.store(queue, 2 * lanes * k + count, simd.compress(simd.mask(row, chosen), row))


@inline
def _shift_down(queue, rows):
    """Drop the first vector of columns."""
    lanes = simd.BITS // (8 * queue.itemsize)
    for k in range(rows):
        simd.store(queue, 2 * lanes * k, simd.load(queue, 2 * lanes * k + lanes))


@inline
def _trial(queue, row, column, origin, parts):
    """The trial of a column, from its rows lane, low group and high group."""
    lanes = simd.BITS // (8 * queue.itemsize)
    lane = np.int64(queue[2 * lanes * row + column])
    group = np.int64(queue[2 * lanes * (row + 1) + column])
    group |= np.int64(queue[2 * lanes * (row + 2) + column]) << (8 * queue.itemsize)
    part = group & (parts - 1)
    return origin + (group - part) * lanes + lane * parts + part


# ---------------------------------------------------------------- 2. closure


@inline
def _close(queue, masks, f):
    """Masks of the free dimensions of each fault's subcube, for the first vector of the queue's columns.

    ``masks`` has f rows of one vector and is overwritten.
    """
    lanes = simd.BITS // (8 * queue.itemsize)
    zero = simd.like(simd.load(queue, 0), _ZERO)
    two = simd.like(zero, np.uint64(2))
    for i in range(f):
        simd.store(masks, lanes * i, zero)
    while True:
        changed = zero
        for i in range(1, f):
            x = simd.load(queue, 2 * lanes * i)
            m = simd.load(masks, lanes * i)
            for j in range(i):
                apart = simd.xor(x, simd.load(queue, 2 * lanes * j))
                other = simd.load(masks, lanes * j)
                union = simd.either(m, other)
                near = simd.less_equal(simd.popcount(simd.without(apart, union)), two)
                union = simd.either(union, apart)
                differs = simd.xor(union, simd.both(m, other))
                changed = simd.select(near, simd.either(changed, differs), changed)
                m = simd.select(near, union, m)
                simd.store(masks, lanes * j, simd.select(near, union, other))
            simd.store(masks, lanes * i, m)
        if simd.bits(simd.differ(changed, zero)) == _ZERO:
            return


@inline
def _measure(queue, masks, f):
    """Sizes of the closed subcubes, lane by lane.

    Returns vectors of the number of unsafe nodes (modulo two to the lane width, so that 2^w - f is right), of the
    largest subcube's dimension, mask and one label, and the mask of lanes with a second subcube of three or more
    dimensions.  A subcube is counted at the first of its faults.
    """
    lanes = simd.BITS // (8 * queue.itemsize)
    zero = simd.like(simd.load(queue, 0), _ZERO)
    one = simd.like(zero, _ONE)
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
def _make_words(queue, f, index, cubes):
    """Faults of each column's subcube (rows f: mask, f + 1: label) as the words of its own cube of six dimensions.

    Lane l of vector q of ``cubes`` is column ``per l + q``, where ``per`` columns share 64 bits.  ``index``: f rows.
    """
    lanes = simd.BITS // (8 * queue.itemsize)
    free = simd.load(queue, 2 * lanes * f)
    label = simd.load(queue, 2 * lanes * (f + 1))
    zero = simd.xor(free, free)
    for k in range(f):
        simd.store(index, lanes * k, zero)
    rest = free
    for b in range(6):
        low = simd.both(rest, simd.sub(zero, rest))
        rest = simd.xor(rest, low)
        bit = simd.like(zero, _ONE << np.uint64(b))
        for k in range(f):
            x = simd.load(queue, 2 * lanes * k)
            # a fault of another subcube is counted at the place of this one's own
            inside = simd.equal(simd.without(simd.xor(x, label), free), zero)
            x = simd.select(inside, x, label)
            at = simd.load(index, lanes * k)
            simd.store(index, lanes * k, simd.select(simd.differ(simd.both(x, low), zero), simd.either(at, bit), at))
    six = simd.splat(np.uint64(63))
    one = simd.splat(_ONE)
    width = 8 * queue.itemsize
    for q in range(4):
        word = simd.splat(_ZERO)
        if q * width < 64:
            for k in range(f):
                at = simd.shift_right(simd.as64(simd.load(index, lanes * k)), simd.splat(np.uint64(q * width)))
                word = simd.either(word, simd.shift_left(one, simd.both(at, six)))
        simd.store(cubes, 8 * q, word)


@inline
def _run_words(second, f, index, cubes, count, origin, parts, tally):
    """Rounds of the first ``count`` trials of the second queue, all of which have an unsafe node: one or more."""
    lanes = simd.BITS // (8 * second.itemsize)
    per = 8 // second.itemsize
    _make_words(second, f, index, cubes)
    valid = (_ONE << np.uint64(lanes)) - _ONE
    if count < lanes:
        valid = _ZERO
        for column in range(count):
            valid |= _ONE << np.uint64(8 * (column % per) + column // per)
    round_of_cubes(0, cubes, 0, 4)
    at = np.int64(4)
    r = np.int64(1)
    rounds = count
    squares = count
    last = valid
    while True:
        changed, _ = round_of_cubes(0, cubes, at, 4 - at)
        changed &= valid
        if changed == _ZERO:
            break
        at = 4 - at
        r += 1
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
            offer(tally, r, _trial(second, f + 2, (i & 7) * per + (i >> 3), origin, parts))


@inline
def _run_alone(queue, f, column, trial, single, tally):
    """Rounds of one trial of the queue; ``single`` is the scratch of :func:`subcubes.solve`."""
    labels, base, free, spare = single
    lanes = simd.BITS // (8 * queue.itemsize)
    for k in range(f):
        labels[k] = queue[2 * lanes * k + column]
    _, rounds, _, _ = solve(labels, f, base, free, spare)
    if rounds < 0:
        tally[ROUNDS_KNOWN] -= 1
    else:
        tally[ROUNDS] += rounds
        tally[ROUNDS_SQUARED] += rounds * rounds
        offer(tally, rounds, trial)


@inline
def _finish(n, f, parts, origin, queue, count, second, filled, scratch_lanes, single, tally):
    """Close the first vector of the queue, of which ``count`` columns count; the second queue's new number of columns."""
    masks, index, cubes, sums = scratch_lanes
    lanes = simd.BITS // (8 * queue.itemsize)
    live = (_ONE << np.uint64(min(count, lanes))) - _ONE
    _close(queue, masks, f)
    nodes, largest, free, label, several = _measure(queue, masks, f)
    zero = simd.xor(nodes, nodes)
    _add_moments(simd.select(simd.mask(nodes, live), nodes, zero), 8 * queue.itemsize, sums)
    unsafe = simd.bits(simd.differ(nodes, zero)) & live
    tally[WITH_UNSAFE] += bits.popcount(unsafe)
    tally[ALL_UNSAFE] += bits.popcount(simd.bits(simd.equal(largest, simd.like(zero, np.uint64(n)))) & live)
    easy = simd.bits(simd.less_equal(largest, simd.like(zero, np.uint64(2)))) & unsafe
    tally[ROUNDS] += bits.popcount(easy)
    tally[ROUNDS_SQUARED] += bits.popcount(easy)
    hard = unsafe & ~easy
    while easy and tally[MAX_ROUNDS] <= 1:
        offer(tally, 1, _trial(queue, f, bits.lowest(easy), origin, parts))
        easy &= easy - _ONE
    if hard == _ZERO:
        return filled
    in_word = simd.bits(simd.less_equal(largest, simd.like(zero, np.uint64(6)))) & ~simd.bits(several)
    alone = hard & ~in_word
    while alone:
        column = bits.lowest(alone)
        _run_alone(queue, f, column, _trial(queue, f, column, origin, parts), single, tally)
        alone &= alone - _ONE
    hard &= in_word
    _append(second, f, filled, hard, queue, 0, 2 * lanes)
    chosen = simd.mask(nodes, hard)
    simd.store(second, 2 * lanes * f + filled, simd.compress(chosen, free))
    simd.store(second, 2 * lanes * (f + 1) + filled, simd.compress(chosen, label))
    for k in range(f, f + 3):
        row = simd.load(queue, 2 * lanes * k)
        simd.store(second, 2 * lanes * (k + 2) + filled, simd.compress(chosen, row))
    filled += bits.popcount(hard)
    if filled >= lanes:
        _run_words(second, f, index, cubes, lanes, origin, parts, tally)
        _shift_down(second, f + 5)
        filled -= lanes
    return filled


def _make(width: int, word: Any) -> Kernel:
    @kernel(TRIALS_SIGNATURE, variant=f"{width}")
    def unsafe_lanes(key, first, stop, params, tally):
        """Count unsafe nodes and rounds over trials; f <= 2^(n-1), and n in 7..16 (16 bits) or 17..62 (32 bits).

        About f^2 / 2 times three vector operations and 26 f of the generator for a vector of trials, and the
        trials that pass the filter.  See ``unsafe_tally.py`` for the tally.
        """
        n = np.int64(params[0])
        f = np.int64(params[1])
        lanes = 512 // width
        parts = np.int64(2 if n <= 8 else 1)
        pattern = _ZERO
        for shift in range(0, 64, width):
            pattern |= ((_ONE << np.uint64(min(n, width))) - _ONE) << np.uint64(shift)
        labels = np.empty(parts * (f + 1) * lanes, word)
        queue = np.zeros((f + 3) * 2 * lanes, word)
        second = np.zeros((f + 5) * 2 * lanes, word)
        sums = np.zeros(24, np.uint64)
        scratch_lanes = np.empty(f * lanes, word), np.empty(f * lanes, word), np.empty(64, np.uint64), sums
        table = np.empty(table_size(f), np.int64)
        single = np.empty(f, np.uint64), np.empty(f + 8, np.uint64), np.empty(f + 8, np.uint64), scratch()
        some, base, free, spare = single
        zero = simd.load(queue, 0)
        two = simd.like(zero, np.uint64(2))
        count = np.int64(0)
        filled = np.int64(0)
        merging = np.int64(0)
        step = lanes * parts
        origin = first - first % step
        group = np.int64(0)
        if first < stop:
            offer(tally, 0, first)
        for start in range(origin, stop, step):
            _draw(key, np.uint64(8 * (start // step)), f, parts, pattern, labels)
            for part in range(parts):
                rows = part * (f + 1) * lanes
                near = _smallest_distance(labels, rows, lanes, f)
                hit = simd.bits(simd.less_equal(near, two))
                if hit == _ZERO:
                    continue
                if start < first or start + step > stop:
                    hit &= _valid(start + part, parts, lanes, first, stop)
                if n > 32:
                    while hit:
                        t = start + bits.lowest(hit)
                        hit &= hit - _ONE
                        draw_faults(key, t, n, f, some, table)
                        unsafe, rounds, merges, largest = solve(some, f, base, free, spare)
                        record(tally, t, unsafe, rounds, merges, largest == n)
                        tally[ROUNDS_KNOWN] -= 1
                    continue
                repeated = simd.bits(simd.equal(near, zero)) & hit
                while repeated:
                    i = bits.lowest(repeated)
                    here = repeated & (~repeated + _ONE)
                    repeated ^= here
                    if not _draw_on(key, start + part + parts * i, n, f, labels, rows + i, lanes):
                        hit ^= here
                if hit == _ZERO:
                    continue
                merging += bits.popcount(hit)
                _append(queue, f, count, hit, labels, rows, lanes)
                group = (start - origin) // lanes + part
                chosen = simd.mask(near, hit)
                simd.store(queue, 2 * lanes * f + count, simd.compress(chosen, simd.iota(near)))
                simd.store(queue, 2 * lanes * (f + 1) + count, simd.like(near, np.uint64(group)))
                simd.store(queue, 2 * lanes * (f + 2) + count, simd.like(near, np.uint64(group >> width)))
                count += bits.popcount(hit)
                if count >= lanes:
                    filled = _finish(n, f, parts, origin, queue, count, second, filled, scratch_lanes, single, tally)
                    _shift_down(queue, f + 3)
                    count -= lanes
        if count > 0:
            filled = _finish(n, f, parts, origin, queue, count, second, filled, scratch_lanes, single, tally)
        if filled > 0:
            _run_words(second, f, scratch_lanes[1], scratch_lanes[2], filled, origin, parts, tally)
        tally[MERGING] += merging
        tally[ROUNDS_KNOWN] += stop - first
        add_wide(tally, UNSAFE, simd.total(simd.load(sums, 0)))
        add_wide(tally, UNSAFE_SQUARED, simd.total(simd.load(sums, 8)))
        add_wide(tally, UNSAFE_SQUARED + 1, simd.total(simd.load(sums, 16)))

    return unsafe_lanes


#: Kernels for 7 <= n <= 16 and for 17 <= n <= 62.
UNSAFE_LANES_16 = _make(16, np.uint16)
UNSAFE_LANES_32 = _make(32, np.uint32)
