"""Unsafe nodes of small cubes, n <= 8, under f random faults: whole cubes in 64-bit lanes.

A vector holds one 64-node word of each of eight trials.  A trial of Q_1..Q_6 is one lane, and a trial of Q_7 or Q_8 is the same
lane of two or four vectors.  Four vectors, that is 32, 16 or 8 trials, are processed together.  Marking the labels, FIND_UNSAFE's
rounds and the counting are then bitwise operations without a branch per trial.  The kernels serve every 0 <= f <= 2^n.

``rounds.py`` runs the same rounds on one cube at a time, with a cube in a vector.  Both layouts are needed: the kernel on
``rounds.py`` takes 20 times as long at n = 6, f = 8 and 6 times as long at n = 8, f = 24.

``dims`` is the number of dimensions above the sixth (0, 1, 2).  A *pack* is a word whose bit 8 g + l belongs to lane l of the
g-th group of eight trials.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..draws import philox
from ..machine import bits, neighbours, simd
from ..machine.array_types import I64, Ints, Words
from ..machine.bits import ONE, ZERO, first_lanes
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from ..tally.lane_sums import add_with_square
from ..tally.maxima import offer
from .entry import ALL_UNSAFE, CLOSE_PAIRS, LAST_BIN, MOST_ROUNDS, UNSAFE, count_rounds
from .layout import F, N


@block(always=True)
def _pack_mask(dims, v, mask):
    """Return a mask of vector ``v`` as a pack."""
    return simd.bits(mask) << np.uint64(8 * (v >> dims))


@block(always=True)
def run_cubes_round(dims, cubes, at, to):
    """Run one round from vectors ``at .. at + 3`` of ``cubes`` into ``to .. to + 3``.

    Returns the pack of trials in which a node became unsafe, and the pack of trials with two set nodes within distance 2:
    adjacent, or with a common neighbour.
    """
    changed = ZERO
    near = ZERO
    for v in range(4):
        x = simd.load(cubes, 8 * (at + v))
        a = neighbours.neighbour0(x)
        b = neighbours.neighbour1(x)
        c = neighbours.neighbour2(x)
        two = simd.majority(a, b, c)
        one = simd.bit_or3(a, b, c)
        a = neighbours.neighbour3(x)
        b = neighbours.neighbour4(x)
        c = neighbours.neighbour5(x)
        two = simd.bit_or3(two, simd.majority(one, a, b), simd.bit_or3(one, a, b) & c)
        one = simd.bit_or3(one, a, b) | c
        if dims == 1:
            a = simd.load(cubes, 8 * (at + (v ^ 1)))
            two = two | (one & a)
            one = one | a
        elif dims == 2:
            a = simd.load(cubes, 8 * (at + (v ^ 1)))
            b = simd.load(cubes, 8 * (at + (v ^ 2)))
            two = two | simd.majority(one, a, b)
            one = simd.bit_or3(one, a, b)
        y = x | two
        changed |= _pack_mask(dims, v, x != y)
        near |= _pack_mask(dims, v, (two | (one & x)) != (x ^ x))
        simd.store(cubes, 8 * (to + v), y)
    return changed, near


@block(always=True)
def _count_set_nodes(dims, cubes, at, g):
    """Return the number of set nodes of each of the g-th eight trials."""
    v = at + (g << dims)
    out = simd.popcount(simd.load(cubes, 8 * v))
    for _ in range((1 << dims) - 1):
        v += 1
        out = out + simd.popcount(simd.load(cubes, 8 * v))
    return out


@block(always=True)
def _mark_nodes(dims, draws, begin, end, field, label_mask, cubes, at):
    """Write vectors ``at .. at + 3`` of ``cubes``: the nodes in fields from ``field`` on of words ``begin .. end - 1``."""
    low = simd.splat(label_mask)
    for v in range(4):
        shift = simd.splat(np.uint64(8 * (field + (v >> dims))))
        base = simd.splat(np.uint64(64 * (v & ((1 << dims) - 1))))
        x = low ^ low
        for j in range(begin, end):
            label = (simd.load(draws, 8 * j) >> shift) & low
            x = x | simd.one_hot(label - base)
        simd.store(cubes, 8 * (at + v), x)


@block(always=True)
def _redraw_repeats(dims, key, prepared, small, drawn, field):
    """Sample further labels, word by word, for the trials whose first labels are not distinct.

    Further words also serve the blocks' other fields and are stored while ``draws`` is not full; two more vectors hold the words
    after that.  Returns the number of words stored.
    """
    draws, stored, cubes, count = small.draws, small.stored, small.cubes, small.count
    label_mask = np.uint64(small.size - 1)
    wanted = simd.splat(np.uint64(count))
    at = np.int64(0)
    j = count
    while True:
        lack = ZERO
        for g in range(4 >> dims):
            lack |= simd.bits(_count_set_nodes(dims, cubes, at, g) != wanted) << np.uint64(8 * g)
        if lack == ZERO:
            return drawn
        place = j if j < stored else stored + (j & 1)
        if j >= drawn and j & 1 == 0:
            even, odd = philox.word_lanes(key, prepared, np.uint64(j >> 1))
            simd.store(draws, 8 * place, even)
            simd.store(draws, 8 * place + 8, odd)
            drawn = min(j + 2, stored)
        _mark_nodes(dims, draws, place, place + 1, field, label_mask, cubes, at + 4)
        for v in range(4):
            x = simd.load(cubes, 8 * v)
            lanes = simd.mask(x, lack >> np.uint64(8 * (v >> dims)))
            simd.store(cubes, 8 * v, simd.select(lanes, x | simd.load(cubes, 8 * (4 + v)), x))
        j += 1


@block(always=True)
def _draw_words(key, prepared, count, draws):
    """Write the first ``count`` words of eight trials' sequences (one more for odd counts); return their number."""
    drawn = np.int64(0)
    while drawn < count:
        even, odd = philox.word_lanes(key, prepared, np.uint64(drawn >> 1))
        simd.store(draws, 8 * drawn, even)
        simd.store(draws, 8 * drawn + 8, odd)
        drawn += 2
    return drawn


@block(always=True)
def run_rounds(dims, cubes, valid, unsafe, reached):
    """Run FIND_UNSAFE's rounds of the trials ``valid``, and add to ``reached[r]`` the number that took r rounds or more, r > 0.

    The trials ``unsafe`` take at least one round.  Returns the largest number of rounds, the pack of trials that took as many,
    the index of the first final vector of the cubes, and the pack of trials with two set nodes within distance 2.
    """
    last = valid
    close = ZERO
    at = np.int64(0)
    r = np.int64(0)
    while True:
        changed, near = run_cubes_round(dims, cubes, at, 4 - at)
        changed &= valid
        if r == 0:
            changed |= unsafe
            close = near & valid
        if changed == ZERO:
            return r, last, at, close
        at = 4 - at
        r += 1
        last = changed
        reached[r] += bits.popcount(changed)


@block
def _valid_trials(dims, start, first, stop):
    """Return the pack of the trials ``start + g + 8 l`` inside [first, stop)."""
    out = ZERO
    for i in range(32 >> dims):
        t = start + (i >> 3) + 8 * (i & 7)
        if first <= t < stop:
            out |= ONE << np.uint64(i)
    return out


@block
def _smallest_trial(pack, start):
    """Return the smallest trial of a pack that is not empty."""
    out = np.int64(64)
    while pack:
        i = bits.lowest(pack)
        out = min(out, (i >> 3) + 8 * (i & 7))
        pack &= pack - ONE
    return start + out


class _SmallScratch(NamedTuple):
    """Scratch memory of a kernel's call."""

    f: I64  #: number of faulty nodes
    size: I64  #: number of nodes of the cube
    count: Any  #: int64: number of labels to sample, of faulty nodes or, if fewer, of nonfaulty nodes
    stored: I64  #: number of words of each lane that are stored
    draws: Words  #: ``stored`` + 2 vectors
    cubes: Words  #: eight vectors
    reached: Ints  #: number of trials that took r rounds or more, as in ``entry.count_rounds``


@scratch
def _small_scratch_for(n, f):
    """Return scratch memory for f faulty nodes of Q_n, n <= 8."""
    size = np.int64(1) << n
    count = min(f, size - f)
    stored = 2 * count + 16  # hardly a trial needs more
    draws = np.empty(8 * (stored + 2), np.uint64)
    return _SmallScratch(f, size, count, stored, draws, np.empty(64, np.uint64), np.zeros(LAST_BIN + 2, np.int64))


@block(always=True)
def _fill_cubes(dims, key, prepared, small, drawn, field):
    """Write fault sets, fields from ``field`` on, to the first four vectors of the cubes; return the number of words stored."""
    first = np.int64(0)
    _mark_nodes(dims, small.draws, first, small.count, field, np.uint64(small.size - 1), small.cubes, first)
    drawn = _redraw_repeats(dims, key, prepared, small, drawn, field)
    if small.f > small.count:
        inside = simd.splat(first_lanes(small.size, 64))
        for v in range(4):
            simd.store(small.cubes, 8 * v, simd.load(small.cubes, 8 * v) ^ inside)
    return drawn


@block(always=True)
def _count_nodes(dims, small, at, chosen, total, squares):
    """Add each trial's unsafe nodes and their squares to two vectors; return these, and how many have all nodes unsafe."""
    faults = simd.splat(np.uint64(small.f))
    whole = simd.splat(np.uint64(small.size))
    all_unsafe = np.int64(0)
    for g in range(4 >> dims):
        here = chosen >> np.uint64(8 * g)
        closed = _count_set_nodes(dims, small.cubes, at, g)
        unsafe = simd.select(simd.mask(closed, here), closed - faults, simd.splat(ZERO))
        total, squares = add_with_square(total, squares, unsafe)
        all_unsafe += bits.popcount(simd.bits(closed == whole) & here)
    return total, squares, all_unsafe


def _make_kernel(dims: int) -> Kernel:
    """Return the kernel for cubes with ``dims`` dimensions above the sixth."""

    @kernel(TRIALS_SIGNATURE, variant=f"{6 + dims}")
    def unsafe_small(key, first, stop, params, tally):
        """Count unsafe nodes and rounds over trials; see ``layout.UNSAFE_FRACTION`` for the tally."""
        small = _small_scratch_for(np.int64(params[N]), np.int64(params[F]))
        total = squares = simd.splat(ZERO)
        all_unsafe = close_pairs = np.int64(0)
        for start in range(first & ~63, stop, 64):
            prepared = philox.prepare_lanes(key, np.uint64(start >> 3), philox.LABELS)
            drawn = _draw_words(key, prepared, small.count, small.draws)
            for field in range(0, 8, 4 >> dims):
                drawn = _fill_cubes(dims, key, prepared, small, drawn, field)
                valid = first_lanes(32 >> dims, 32)
                if start < first or start + 64 > stop:
                    valid = _valid_trials(dims, start + field, first, stop)
                rounds, last, at, near = run_rounds(dims, small.cubes, valid, ZERO, small.reached)
                close_pairs += bits.popcount(near)
                if last != ZERO and rounds >= tally[MOST_ROUNDS]:
                    offer(tally, MOST_ROUNDS, rounds, _smallest_trial(last, start + field))
                if rounds > 0:
                    total, squares, more = _count_nodes(dims, small, at, valid, total, squares)
                    all_unsafe += more
        small.reached[0] = stop - first
        count_rounds(tally, small.reached)
        tally[UNSAFE.total] += np.int64(simd.total(total))
        tally[UNSAFE.squares] += np.int64(simd.total(squares))
        tally[ALL_UNSAFE] += stop - first if small.f == small.size else all_unsafe
        tally[CLOSE_PAIRS] += close_pairs

    return unsafe_small


#: Kernels for n <= 6, n = 7 and n = 8.
SMALL_6, SMALL_7, SMALL_8 = _make_kernel(0), _make_kernel(1), _make_kernel(2)
