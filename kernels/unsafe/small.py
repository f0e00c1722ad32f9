"""Unsafe nodes of small cubes, n <= 8, under f random faults: whole cubes in 64-bit lanes.

A vector holds one 64-node word of each of eight trials.  A trial of Q_1..Q_6 is one lane, and a trial of Q_7 or Q_8 is the same
lane of two or four vectors.  Four vectors, that is 32, 16 or 8 trials, are processed together.  Marking the labels, FIND_UNSAFE's
rounds and the counting are then bitwise operations without a branch per trial.  The kernels serve every 0 <= f <= 2^n.

``rounds.py`` runs the same rounds on one cube at a time, with a cube in a vector.  Both layouts are needed: the kernel on
``rounds.py`` takes 20 times as long at n = 6, f = 8 and 6 times as long at n = 8, f = 24.

``dims`` is the number of dimensions above the sixth (0, 1, 2).  So eight trials take 2^dims vectors, and four vectors hold the
*groups* g = 0, 1, ... of eight trials.  A *pack* is a word whose bit 8 g + l belongs to lane l of group g.  ``cubes`` has two
states of four vectors each, from vectors 0 and 4, and a round goes from one to the other.

Labels are fields of 8 bits of a trial's random words.  Word j of eight sequences is one vector, which holds label j of 64 trials:
field i of lane l belongs to trial ``start + 8 l + i``.  Each four vectors of ``cubes`` serve 4 >> dims of the eight fields.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..draws import philox
from ..machine import bits, neighbours, simd
from ..machine.array_types import I64, Ints, Words
from ..machine.bits import ONE, ZERO, first_lanes
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from ..tally.sums import add_lanes, offer
from .entry import ALL_UNSAFE, CLOSE_PAIRS, LAST_BIN, MOST_ROUNDS, UNSAFE, count_rounds
from .layout import F, N


@block(always=True)
def _pack_mask(dims, v, mask):
    """Return a mask of vector ``v`` as a pack."""
    return simd.bits(mask) << np.uint64(8 * (v >> dims))


@block(always=True)
def run_cubes_round(dims, cubes, now, after):
    """Run one round from vectors ``now .. now + 3`` of ``cubes`` into ``after .. after + 3``.

    Returns the pack of trials in which a node became unsafe, and the pack of trials with two set nodes within distance 2:
    adjacent, or with a common neighbour.
    """
    changed = ZERO
    close = ZERO
    for v in range(4):
        x = simd.load(cubes, 8 * (now + v))
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
            a = simd.load(cubes, 8 * (now + (v ^ 1)))
            two = two | (one & a)
            one = one | a
        elif dims == 2:
            a = simd.load(cubes, 8 * (now + (v ^ 1)))
            b = simd.load(cubes, 8 * (now + (v ^ 2)))
            two = two | simd.majority(one, a, b)
            one = simd.bit_or3(one, a, b)
        y = x | two
        changed |= _pack_mask(dims, v, x != y)
        close |= _pack_mask(dims, v, (two | (one & x)) != (x ^ x))
        simd.store(cubes, 8 * (after + v), y)
    return changed, close


@block(always=True)
def _count_set_nodes(dims, cubes, now, g):
    """Return the number of set nodes of each trial of group g, in the state from vector ``now`` on."""
    v = now + (g << dims)
    out = simd.popcount(simd.load(cubes, 8 * v))
    for _ in range((1 << dims) - 1):
        v += 1
        out = out + simd.popcount(simd.load(cubes, 8 * v))
    return out


@block(always=True)
def _mark_nodes(dims, words, begin, end, field, label_mask, cubes, at):
    """Write vectors ``at .. at + 3`` of ``cubes``: the nodes in fields from ``field`` on of words ``begin .. end - 1``."""
    low = simd.splat(label_mask)
    for v in range(4):
        shift = simd.splat(np.uint64(8 * (field + (v >> dims))))
        base = simd.splat(np.uint64(64 * (v & ((1 << dims) - 1))))  # the first node in this word of the cube
        x = low ^ low
        for j in range(begin, end):
            label = (simd.load(words, 8 * j) >> shift) & low
            x = x | simd.one_hot(label - base)  # 0 for a node of another word
        simd.store(cubes, 8 * (at + v), x)


@block(always=True)
def _replace_repeats(dims, key, prepared, work, sampled, field):
    """Sample further labels, word by word, for the trials whose first labels are not distinct.

    Vectors 0 to 3 of the cubes have the trials' nodes; vectors 4 to 7 are scratch memory for the nodes of one more word.  Further
    words also serve the other fields, and are stored while there is capacity.  Those after that go to the last two vectors of
    ``words`` by turns.  Returns the number of words stored, given that it was ``sampled``.
    """
    words, capacity, cubes, count = work.words, work.capacity, work.cubes, work.count
    label_mask = np.uint64(work.size - 1)
    wanted = simd.splat(np.uint64(count))
    now = np.int64(0)
    j = count
    while True:
        lacking = ZERO  # the pack of trials with fewer than ``count`` nodes
        for g in range(4 >> dims):
            lacking |= simd.bits(_count_set_nodes(dims, cubes, now, g) != wanted) << np.uint64(8 * g)
        if lacking == ZERO:
            return sampled
        place = j if j < capacity else capacity + (j & 1)
        if j >= sampled and j & 1 == 0:
            even, odd = philox.word_lanes(key, prepared, np.uint64(j >> 1))
            simd.store(words, 8 * place, even)
            simd.store(words, 8 * place + 8, odd)
            sampled = min(j + 2, capacity)
        _mark_nodes(dims, words, place, place + 1, field, label_mask, cubes, now + 4)
        for v in range(4):
            x = simd.load(cubes, 8 * v)
            lanes = simd.mask(x, lacking >> np.uint64(8 * (v >> dims)))
            simd.store(cubes, 8 * v, simd.select(lanes, x | simd.load(cubes, 8 * (4 + v)), x))
        j += 1


@block(always=True)
def _sample_words(key, prepared, count, words):
    """Write the first ``count`` words of eight trials' sequences (one more for odd counts); return their number."""
    sampled = np.int64(0)
    while sampled < count:
        even, odd = philox.word_lanes(key, prepared, np.uint64(sampled >> 1))
        simd.store(words, 8 * sampled, even)
        simd.store(words, 8 * sampled + 8, odd)
        sampled += 2
    return sampled


@block(always=True)
def run_rounds(dims, cubes, valid, unsafe, reached):
    """Run FIND_UNSAFE's rounds of the trials ``valid``, and add to ``reached[r]`` the number that took r rounds or more, r > 0.

    The trials ``unsafe`` take at least one round.  Returns the largest number of rounds, the pack of trials that took as many,
    the first vector of the final state (0 or 4), and the pack of trials with two set nodes within distance 2.
    """
    slowest = valid
    close_pairs = ZERO
    now = np.int64(0)
    r = np.int64(0)
    while True:
        changed, close = run_cubes_round(dims, cubes, now, 4 - now)
        changed &= valid
        if r == 0:
            changed |= unsafe
            close_pairs = close & valid
        if changed == ZERO:
            return r, slowest, now, close_pairs
        now = 4 - now
        r += 1
        slowest = changed
        reached[r] += bits.popcount(changed)


@block
def _valid_trials(dims, start, first, stop):
    """Return the pack of the trials ``start + g + 8 l``, of lane l of group g, inside [first, stop)."""
    out = ZERO
    for i in range(32 >> dims):
        t = start + (i >> 3) + 8 * (i & 7)
        if first <= t < stop:
            out |= ONE << np.uint64(i)
    return out


@block
def _smallest_trial(pack, start):
    """Return the smallest trial of a pack that is not empty."""
    smallest = np.int64(64)
    while pack:
        i = bits.lowest(pack)
        smallest = min(smallest, (i >> 3) + 8 * (i & 7))
        pack &= pack - ONE
    return start + smallest


class _SmallScratch(NamedTuple):
    """Scratch memory of a kernel's call."""

    f: I64  #: number of faulty nodes
    size: I64  #: number of nodes of the cube
    count: Any  #: int64: number of labels to sample, of faulty nodes or, if fewer, of nonfaulty nodes
    capacity: I64  #: number of words of each sequence that can be stored; even
    words: Words  #: ``capacity`` vectors, of which vector j has word j of eight sequences, and two more for later words
    cubes: Words  #: eight vectors, two states of four
    reached: Ints  #: number of trials that took r rounds or more, as in ``entry.count_rounds``


@scratch
def _small_scratch_for(n, f):
    """Return scratch memory for f faulty nodes of Q_n, n <= 8."""
    size = np.int64(1) << n
    count = min(f, size - f)
    capacity = 2 * count + 16  # hardly a trial needs more
    words = np.empty(8 * (capacity + 2), np.uint64)
    return _SmallScratch(f, size, count, capacity, words, np.empty(64, np.uint64), np.zeros(LAST_BIN + 2, np.int64))


@block(always=True)
def _fill_cubes(dims, key, prepared, work, sampled, field):
    """Write fault sets, of the fields from ``field`` on, to vectors 0 to 3 of the cubes; return the number of words stored."""
    first = np.int64(0)
    _mark_nodes(dims, work.words, first, work.count, field, np.uint64(work.size - 1), work.cubes, first)
    sampled = _replace_repeats(dims, key, prepared, work, sampled, field)
    if work.f > work.count:  # the sampled nodes are the nonfaulty ones
        inside = simd.splat(first_lanes(work.size, 64))
        for v in range(4):
            simd.store(work.cubes, 8 * v, simd.load(work.cubes, 8 * v) ^ inside)
    return sampled


@block(always=True)
def _count_nodes(dims, work, now, chosen, total, squares):
    """Add each chosen trial's unsafe nodes and their squares to two vectors; return these, and how many have all nodes unsafe."""
    faults = simd.splat(np.uint64(work.f))
    whole = simd.splat(np.uint64(work.size))
    all_unsafe = np.int64(0)
    for g in range(4 >> dims):
        chosen_lanes = chosen >> np.uint64(8 * g)
        closed = _count_set_nodes(dims, work.cubes, now, g)
        unsafe = simd.select(simd.mask(closed, chosen_lanes), closed - faults, simd.splat(ZERO))
        total, squares = add_lanes(total, squares, unsafe)
        all_unsafe += bits.popcount(simd.bits(closed == whole) & chosen_lanes)
    return total, squares, all_unsafe


def _make_kernel(dims: int) -> Kernel:
    """Return the kernel for cubes with ``dims`` dimensions above the sixth."""

    @kernel(TRIALS_SIGNATURE, variant=f"{6 + dims}")
    def unsafe_small(key, first, stop, params, tally):
        """Count unsafe nodes and rounds over trials; see ``layout.UNSAFE_FRACTION`` for the tally."""
        work = _small_scratch_for(np.int64(params[N]), np.int64(params[F]))
        total = squares = simd.splat(ZERO)
        all_unsafe = close_pairs = np.int64(0)
        for start in range(first & ~63, stop, 64):
            prepared = philox.prepare_lanes(key, np.uint64(start >> 3), philox.LABELS)
            sampled = _sample_words(key, prepared, work.count, work.words)
            for field in range(0, 8, 4 >> dims):
                sampled = _fill_cubes(dims, key, prepared, work, sampled, field)
                valid = first_lanes(32 >> dims, 32)
                if start < first or start + 64 > stop:
                    valid = _valid_trials(dims, start + field, first, stop)
                rounds, slowest, now, close = run_rounds(dims, work.cubes, valid, ZERO, work.reached)
                close_pairs += bits.popcount(close)
                if slowest != ZERO and rounds >= tally[MOST_ROUNDS]:
                    offer(tally, MOST_ROUNDS, rounds, _smallest_trial(slowest, start + field))
                if rounds > 0:
                    total, squares, more = _count_nodes(dims, work, now, valid, total, squares)
                    all_unsafe += more
        work.reached[0] = stop - first
        count_rounds(tally, work.reached)
        tally[UNSAFE.total] += np.int64(simd.total(total))
        tally[UNSAFE.squares] += np.int64(simd.total(squares))
        # without a round only f = 2^n makes all nodes faulty or unsafe
        tally[ALL_UNSAFE] += stop - first if work.f == work.size else all_unsafe
        tally[CLOSE_PAIRS] += close_pairs

    return unsafe_small


#: Kernels for n <= 6, n = 7 and n = 8.
SMALL_6, SMALL_7, SMALL_8 = _make_kernel(0), _make_kernel(1), _make_kernel(2)
