"""Bitmasks of whole cubes for eight trials at a time, n = 6 .. 12: their layout, and the marking of faults.

``whole_cube.py`` marks the faults of its trials here; if it tests labels first, only of trials that these do not decide.
``plane_statuses.py`` then computes safety statuses from the marked faults.

A plane has one bit per node for each of eight trials, a *group*.  Row v of a plane is a vector of eight words: word i holds nodes
64 v .. 64 v + 63 of trial i.  So a neighbour over dimension 6 and up is in another row.  A last row of zeros stands for missing
neighbours.  ``at`` is the index of a plane's first word in ``work.planes``; for a single trial it includes the trial's lane.

``work`` is a ``whole_cube.WholeCubeWorkspace``.  Row k of ``work.labels`` holds label k of each trial's sequence, in rows of
``lanes`` trials, of which ``column`` is one.  Labels from ``work.ready`` on are sampled when they are needed.  ``work.ends`` has
three such rows: sources, destinations, and the number of labels that contain the faults.  ``work.queued`` holds the sources of
the placed trials, and their destinations ``slots`` entries later.
"""

from __future__ import annotations

import numpy as np

from ..draws.nodes import node_label
from ..machine import simd
from ..machine.bits import ALL_BITS, ONE, ZERO
from ..machine.jit import block, scratch
from .levels_from_labels import DESTINATIONS, NEEDED, SOURCES

_63 = np.uint64(63)
_6 = np.uint64(6)
_3 = np.uint64(3)

#: Indices of planes: preferred and spare neighbours of the sources, two planes of nodes without a safety status, and from FAULTY
#: on one plane of faults for each group.
PREFERRED, SPARE, NO_STATUS, FAULTY = np.int64(0), np.int64(1), np.int64(2), np.int64(4)

#: Words that ``place_eight`` stores for each group, four for each of eight trials; for n < 8 a plane is shorter.
_STORED_WORDS = 32


@block(always=True)
def plane_words(n):
    """Return the number of words of a plane: rows of eight trials, and at the end a row of zeros."""
    return 8 * ((np.int64(1) << (n - 6)) + 1)


@block(always=True)
def group_offset(column, n):
    """Return the index of the first word of the faults of the group of eight trials that contains ``column``."""
    return (FAULTY + (column >> 3)) * plane_words(n)


@scratch
def make_planes(slots, n):
    """Return clear planes for ``slots`` trials, a multiple of eight."""
    return np.zeros(group_offset(slots, n) + _STORED_WORDS, np.uint64)


@block(always=True)
def _sequence_label(work, key, t, k, n, column, lanes):
    """Return label k of a trial's random sequence of labels."""
    return np.uint64(work.labels[lanes * k + column]) if k < work.ready else node_label(key, t, k, n)


@block(always=True)
def _word_of_node(at, x):
    """Return the index of the word with node x in one trial's lane of a plane: a row of eight words per 64 nodes."""
    return np.uint64(at) + (x >> _6 << _3)


@block(always=True)
def _is_marked(planes, at, x):
    """Return 1 if node x is in one trial's lane of a plane, else 0."""
    return planes[_word_of_node(at, x)] >> (x & _63) & ONE


@block(always=True)
def _mark_node(planes, at, x):
    """Mark node x in one trial's lane of a plane."""
    planes[_word_of_node(at, x)] |= ONE << (x & _63)


@block(always=True, stored=True)
def place_trial(work, key, t, n, column, lanes, at):
    """Mark the faults of trial ``t`` in its lane of a plane, which is clear before, and write its column of ``ends``.

    The faults are the first f distinct labels of the trial's sequence, the source and the destination the next two that differ
    from them and from each other.  A number of labels above ``work.ready`` is written as ``work.ready + 1``.
    """
    f, planes = work.f, work.planes
    distinct, k = np.int64(0), np.int64(f)
    for i in range(f):  # as if all labels were distinct
        x = np.uint64(work.labels[lanes * i + column])
        distinct += np.int64(ONE ^ _is_marked(planes, at, x))
        _mark_node(planes, at, x)
    while distinct < f:
        x = _sequence_label(work, key, t, k, n, column, lanes)
        distinct += np.int64(ONE ^ _is_marked(planes, at, x))
        _mark_node(planes, at, x)
        k += 1
    work.ends[NEEDED * lanes + column] = min(k, work.ready + 1)  # more than all rows: a lane might not hold k
    other_end = ALL_BITS  # no node, for the first end
    for end in (SOURCES, DESTINATIONS):
        x = _sequence_label(work, key, t, k, n, column, lanes)
        k += 1
        while x == other_end or _is_marked(planes, at, x):
            x = _sequence_label(work, key, t, k, n, column, lanes)
            k += 1
        other_end = x
        work.ends[end * lanes + column] = x


@block(always=True)
def _node_bit(x, v):
    """Return the bit of node x of each lane in word v, or 0 if the node is in another word."""
    return simd.one_hot(x - simd.splat(np.uint64(64 * v)))


@block(always=True, stored=True)
def place_eight(work, column, lanes, at):
    """Do ``place_trial`` for eight trials with n <= 8, four words each; return the lanes that need more labels than sampled.

    Words a .. d hold all labels so far, words fa .. fd the faults, and words ha .. hd label k.  ``distinct`` is the number of
    distinct labels, of which the next after the f faults are s and t.  ``needed`` is the number of labels that contain the
    faults.  For n < 8 the four stores go past the plane and clear the beginning of the next group's, so groups are placed in
    ascending order.
    """
    f, labels, planes = work.f, work.labels, work.planes
    zero, one = simd.splat(ZERO), simd.splat(ONE)
    a, b, c, d = zero, zero, zero, zero
    distinct, needed, s, t = zero, simd.splat(np.uint64(f)), zero, zero
    faults, faults_and_ends = simd.splat(np.uint64(f)), simd.splat(np.uint64(f + 2))
    fa, fb, fc, fd = zero, zero, zero, zero
    k = np.int64(0)
    while k < work.ready:
        x = simd.load_wide(labels, lanes * k + column)
        ha, hb, hc, hd = _node_bit(x, 0), _node_bit(x, 1), _node_bit(x, 2), _node_bit(x, 3)
        met = simd.bit_or3(a & ha, b & hb, c & hc) | (d & hd)
        new = met == zero
        a, b, c, d = a | ha, b | hb, c | hc, d | hd
        if k >= f:
            s = simd.select(new & (distinct == faults), x, s)
            t = simd.select(new & (distinct == (faults + one)), x, t)
            is_fault = new & ~(faults <= distinct)
            fa, fb = fa | simd.select(is_fault, ha, zero), fb | simd.select(is_fault, hb, zero)
            fc, fd = fc | simd.select(is_fault, hc, zero), fd | simd.select(is_fault, hd, zero)
            needed = needed + simd.select(faults <= distinct, zero, one)
        distinct = simd.select(new, distinct + one, distinct)
        k += 1
        if k == f:
            fa, fb, fc, fd = a, b, c, d
        elif k > f and simd.bits(faults_and_ends <= distinct) == np.uint64(255):
            break
    simd.store(planes, at, fa)
    simd.store(planes, at + 8, fb)
    simd.store(planes, at + 16, fc)
    simd.store(planes, at + 24, fd)
    simd.store_narrow(work.ends, SOURCES * lanes + column, s)
    simd.store_narrow(work.ends, DESTINATIONS * lanes + column, t)
    simd.store_narrow(work.ends, NEEDED * lanes + column, needed)
    return ~simd.bits(faults_and_ends <= distinct) & np.uint64(255)
