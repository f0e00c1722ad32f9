"""Unsafe nodes of one fault set as maximal subcubes, for any n (Lee & Hayes 1988, section 3.2; readings R1 and R3).

A subcube is a pair (base, free): the labels that agree with ``base``, one of its nodes, outside the mask ``free``.
Starting from the faulty nodes, two subcubes within distance 2 are replaced by the smallest one that holds both,
until all are at distance 3 or more; they then evolve independently, so that FIND_UNSAFE's rounds
are run inside each one's own d-cube, whatever n is.
"""

from __future__ import annotations

import numpy as np

from . import bits, simd
from .jit import block, scratch
from .unsafe.rounds import marks_words, rounds_marked, rounds_word

#: Largest subcube whose rounds are run: 2^30 nodes are 128 MiB.
DEEPEST = 30
#: Largest subcube for which scratch is kept; larger ones, absent under few random faults, allocate their own.
KEPT = 12

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_8 = np.uint64(8)


@block
def merge(labels, f, base, free):
    """Merge faults into maximal subcubes.

    Parameters
    ----------
    labels : uint64 array
        f distinct faulty nodes; not modified.
    f : int64
    base, free : uint64 arrays of at least f + 8
        Overwritten with the subcubes.

    Returns
    -------
    int64
        Number of subcubes; f exactly when no two faults are within distance 2.

    Notes
    -----
    Each fault is compared with all subcubes so far, eight at a time, and again after each merging: O(f^2 / 8).
    """
    two = simd.splat(np.uint64(2))
    count = np.int64(0)
    for k in range(f):
        x = labels[k]
        m = _ZERO
        at = np.int64(0)
        while at < count:
            apart = simd.xor(simd.load(base, at), simd.splat(x))
            apart = simd.without(apart, simd.either(simd.load(free, at), simd.splat(m)))
            near = simd.bits(simd.less_equal(simd.popcount(apart), two))
            if count - at < 8:
                near &= (_ONE << np.uint64(count - at)) - _ONE
            if near:
                i = at + bits.lowest(near)
                m |= free[i] | (x ^ base[i])
                count -= 1
                base[i] = base[count]
                free[i] = free[count]
                at = np.int64(0)
            else:
                at += 8
        base[count] = x
        free[count] = m
        count += 1
    return count


@scratch
def spare_arrays():
    """Three arrays for :func:`rounds_inside`."""
    words = np.int64(1) << (KEPT - 6)
    return np.empty(words, np.uint64), np.empty(words, np.uint64), np.empty(marks_words(np.int64(KEPT)), np.uint64)


@scratch
def rounds_inside(labels, f, base, free, spare):
    """Rounds of the faults inside one subcube, run in its own d-cube; -1 when d > 30, which is out of reach.

    ``labels`` holds f distinct faults, inside or not; ``spare`` is what :func:`spare_arrays` made.
    """
    state, other, marks = spare
    d = bits.popcount(free)
    if d > DEEPEST:
        return np.int64(-1)
    if d <= 6:
        word = _ZERO
        for i in range(f):
            if (labels[i] ^ base) & ~free == _ZERO:
                word |= _ONE << bits.gather(labels[i], free)
        rounds, _ = rounds_word(word, d)
        return rounds
    words = np.int64(1) << max(d - 6, 3)
    if d > KEPT:
        state = np.empty(words, np.uint64)
        other = np.empty(words, np.uint64)
        marks = np.empty(marks_words(d), np.uint64)
    state[:words] = _ZERO
    for i in range(f):
        if (labels[i] ^ base) & ~free == _ZERO:
            x = bits.gather(labels[i], free)
            state[x >> np.uint64(6)] |= _ONE << (x & np.uint64(63))
    return rounds_marked(state, other, marks, d)


@scratch
def solve(labels, f, base, free, spare):
    """Unsafe nodes of f distinct faults in any cube.

    Parameters
    ----------
    labels, f, base, free
        As in :func:`merge`.
    spare : tuple
        What :func:`spare_arrays` made.

    Returns
    -------
    unsafe : uint64
        Number of non-faulty unsafe nodes.
    rounds : int64
        FIND_UNSAFE's last step that marks a node, 0 if none does; -1 when a subcube of more than 30 dimensions
        puts it out of reach.
    merging : bool
        Whether two faults are within distance 2.
    largest : int64
        Dimension of the largest subcube; n when no node is active.
    """
    count = merge(labels, f, base, free)
    largest = np.int64(0)
    rounds = np.int64(0)
    closed = _ZERO
    for i in range(count):
        d = bits.popcount(free[i])
        closed += _ONE << np.uint64(d)
        largest = max(largest, d)
        if d > 0 and rounds >= 0:
            inside = rounds_inside(labels, f, base[i], free[i], spare)
            rounds = max(rounds, inside) if inside >= 0 else inside
    return closed - np.uint64(f), rounds, count < f, largest
