"""Unsafe nodes of small cubes, n <= 8, under f random faults: whole cubes in 64-bit lanes.

One 64-node word of eight trials makes a vector: a trial of Q_1..Q_6 is one lane, and one of Q_7 or Q_8 is the same
lane of two or four vectors.  Four vectors, that is 32, 16 or 8 trials, are worked on at once, so marking the labels,
FIND_UNSAFE's rounds and the counting are bitwise operations without a branch per trial.  The kernels serve every
0 <= f <= 2^n.

``dims`` is the number of dimensions above the sixth (0, 1, 2); a *pack* is a word whose bit 8 g + l stands for
lane l of the g-th eight of the trials at work.
"""

from __future__ import annotations

import numpy as np

from .. import bits, philox, simd
from ..jit import TRIALS_SIGNATURE, Kernel, block, kernel
from ..tally import offer
from .tally import (
    ALL_UNSAFE,
    MERGING,
    MOST_ROUNDS,
    ROUNDS,
    ROUNDS_KNOWN,
    ROUNDS_SQUARED,
    UNSAFE,
    UNSAFE_SQUARED,
    WITH_UNSAFE,
)

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@block
def _pack(dims, v, mask):
    """A mask of vector ``v`` as a pack."""
    return simd.bits(mask) << np.uint64(8 * (v >> dims))


@block
def round_of_cubes(dims, cubes, at, to):
    """One round from vectors ``at .. at + 3`` of ``cubes`` into ``to .. to + 3``.

    Returns the pack of trials in which a node became unsafe, and the pack of those with two set nodes within
    distance 2: adjacent, or with a common neighbour.
    """
    changed = _ZERO
    near = _ZERO
    for v in range(4):
        x = simd.load(cubes, 8 * (at + v))
        a = simd.neighbour0(x)
        b = simd.neighbour1(x)
        c = simd.neighbour2(x)
        two = simd.majority(a, b, c)
        one = simd.either3(a, b, c)
        a = simd.neighbour3(x)
        b = simd.neighbour4(x)
        c = simd.neighbour5(x)
        two = simd.either3(two, simd.majority(one, a, b), simd.both(simd.either3(one, a, b), c))
        one = simd.either(simd.either3(one, a, b), c)
        if dims == 1:
            a = simd.load(cubes, 8 * (at + (v ^ 1)))
            two = simd.either(two, simd.both(one, a))
            one = simd.either(one, a)
        elif dims == 2:
            a = simd.load(cubes, 8 * (at + (v ^ 1)))
            b = simd.load(cubes, 8 * (at + (v ^ 2)))
            two = simd.either(two, simd.majority(one, a, b))
            one = simd.either3(one, a, b)
        y = simd.either(x, two)
        changed |= _pack(dims, v, simd.differ(x, y))
        near |= _pack(dims, v, simd.differ(simd.either(two, simd.both(one, x)), simd.xor(x, x)))
        simd.store(cubes, 8 * (to + v), y)
    return changed, near


@block
def _sizes(dims, cubes, at, g):
    """Numbers of set nodes of the g-th eight trials."""
    v = at + (g << dims)
    out = simd.popcount(simd.load(cubes, 8 * v))
    for _ in range((1 << dims) - 1):
        v += 1
        out = simd.add(out, simd.popcount(simd.load(cubes, 8 * v)))
    return out


@block
def _mark(dims, draws, begin, end, field, labels, cubes, at):
    """Vectors ``at .. at + 3`` of ``cubes``: the nodes that words ``begin .. end - 1`` hold for fields ``field``, ..."""
    low = simd.splat(labels)
    for v in range(4):
        shift = simd.splat(np.uint64(8 * (field + (v >> dims))))
        base = simd.splat(np.uint64(64 * (v & ((1 << dims) - 1))))
        x = simd.xor(low, low)
        for j in range(begin, end):
            label = simd.both(simd.shift_right(simd.load(draws, 8 * j), shift), low)
            x = simd.either(x, simd.one_hot(simd.sub(label, base)))
        simd.store(cubes, 8 * (at + v), x)


@block
def _complete(dims, key, prepared, draws, room, drawn, field, labels, count, cubes):
    """Draw on, word by word, for the trials whose first ``count`` labels are not distinct.

    Extra words are kept for the blocks' other fields as far as ``draws`` has room; two places behind it serve those
    beyond.  Returns the number of words kept.
    """
    wanted = simd.splat(np.uint64(count))
    at = np.int64(0)
    j = count
    while True:
        lack = _ZERO
        for g in range(4 >> dims):
            lack |= simd.bits(simd.differ(_sizes(dims, cubes, at, g), wanted)) << np.uint64(8 * g)
        if lack == _ZERO:
            return drawn
        place = j if j < room else room + (j & 1)
        if j >= drawn and j & 1 == 0:
            even, odd = philox.lanes(key, prepared, np.uint64(j >> 1))
            simd.store(draws, 8 * place, even)
            simd.store(draws, 8 * place + 8, odd)
            drawn = min(j + 2, room)
        _mark(dims, draws, place, place + 1, field, labels, cubes, at + 4)
        for v in range(4):
            x = simd.load(cubes, 8 * v)
            lanes = simd.mask(x, lack >> np.uint64(8 * (v >> dims)))
            simd.store(cubes, 8 * v, simd.select(lanes, simd.either(x, simd.load(cubes, 8 * (4 + v))), x))
        j += 1


@block
def _valid(dims, start, first, stop):
    """Pack of the trials ``start + g + 8 l`` inside [first, stop)."""
    out = _ZERO
    for i in range(32 >> dims):
        t = start + (i >> 3) + 8 * (i & 7)
        if first <= t < stop:
            out |= _ONE << np.uint64(i)
    return out


@block
def _smallest(pack, start):
    """Smallest trial of a pack that is not empty."""
    out = np.int64(64)
    while pack:
        i = bits.lowest(pack)
        out = min(out, (i >> 3) + 8 * (i & 7))
        pack &= pack - _ONE
    return start + out


def _make(dims: int) -> Kernel:
    @kernel(TRIALS_SIGNATURE, variant=f"{6 + dims}")
    def unsafe_small(key, first, stop, params, tally):
        """Count unsafe nodes and rounds over trials; see ``layout.SPARSE`` for the tally."""
        n = np.int64(params[0])
        f = np.int64(params[1])
        size = np.int64(1) << n
        count = min(f, size - f)
        labels = np.uint64(size - 1)
        everything = simd.splat(~_ZERO if n >= 6 else (_ONE << np.uint64(size)) - _ONE)
        room = 2 * count + 16
        draws = np.empty(8 * (room + 2), np.uint64)
        cubes = np.empty(64, np.uint64)
        begin = np.int64(0)
        unsafe = simd.splat(_ZERO)
        squares = simd.splat(_ZERO)
        faults = simd.splat(np.uint64(f))
        whole = simd.splat(np.uint64(size))
        all_unsafe = np.int64(0)
        with_unsafe = np.int64(0)
        merging = np.int64(0)
        rounds = np.int64(0)
        rounds_squared = np.int64(0)
        longest = np.int64(-1)
        witness = np.int64(-1)
        for start in range(first & ~63, stop, 64):
            prepared = philox.prepare_lanes(key, np.uint64(start >> 3), philox.LABELS)
            drawn = np.int64(0)
            while drawn < count:
                even, odd = philox.lanes(key, prepared, np.uint64(drawn >> 1))
                simd.store(draws, 8 * drawn, even)
                simd.store(draws, 8 * drawn + 8, odd)
                drawn += 2
            for field in range(0, 8, 4 >> dims):
                _mark(dims, draws, begin, count, field, labels, cubes, begin)
                drawn = _complete(dims, key, prepared, draws, room, drawn, field, labels, count, cubes)
                if f > count:
                    for v in range(4):
                        simd.store(cubes, 8 * v, simd.xor(simd.load(cubes, 8 * v), everything))
                valid = (_ONE << np.uint64(32 >> dims)) - _ONE
                if start < first or start + 64 > stop:
                    valid = _valid(dims, start + field, first, stop)
                grown = _ZERO
                last = valid
                at = np.int64(0)
                r = np.int64(0)
                while True:
                    changed, near = round_of_cubes(dims, cubes, at, 4 - at)
                    changed &= valid
                    if r == 0:
                        grown = changed
                        merging += bits.popcount(near & valid)
                    if changed == _ZERO:
                        break
                    at = 4 - at
                    r += 1
                    last = changed
                    more = bits.popcount(changed)
                    rounds += more
                    rounds_squared += (2 * r - 1) * more
                if r >= longest and last != _ZERO and (r > longest or witness >= start):
                    t = _smallest(last, start + field)
                    if r > longest or t < witness:
                        longest = r
                        witness = t
                if grown != _ZERO:
                    with_unsafe += bits.popcount(grown)
                    for g in range(4 >> dims):
                        here = grown >> np.uint64(8 * g)
                        total = _sizes(dims, cubes, at, g)
                        more = simd.select(simd.mask(total, here), simd.sub(total, faults), simd.splat(_ZERO))
                        unsafe = simd.add(unsafe, more)
                        squares = simd.add(squares, simd.mul32(more, more))
                        all_unsafe += bits.popcount(simd.bits(simd.equal(total, whole)) & here)
        if f == size:
            all_unsafe = stop - first
        tally[UNSAFE] += np.int64(simd.total(unsafe))
        tally[UNSAFE_SQUARED] += np.int64(simd.total(squares))
        tally[WITH_UNSAFE] += with_unsafe
        tally[ALL_UNSAFE] += all_unsafe
        tally[ROUNDS] += rounds
        tally[ROUNDS_SQUARED] += rounds_squared
        tally[MERGING] += merging
        tally[ROUNDS_KNOWN] += stop - first
        if first < stop:
            offer(tally, MOST_ROUNDS, longest, witness)

    return unsafe_small


#: Kernels for n <= 6, n = 7 and n = 8.
UNSAFE_SMALL = (_make(0), _make(1), _make(2))
