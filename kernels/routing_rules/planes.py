"""Bitmasks of whole cubes for eight trials at a time, n = 6 .. 12: their layout, and the marking of faults.

``whole_cube.py`` marks the faults of its trials here; if it tests labels first, only of trials that these do not decide.
``plane_statuses.py`` then computes safety statuses from the marked faults.

A plane has one bit per node for each of eight trials, a *group*.  It is a sequence of vectors of eight words: word i of vector v
holds nodes 64 v .. 64 v + 63 of trial i.  So the neighbours of these nodes over dimension 6 and up are in other vectors.  A last
vector of zeros, which is never written, stands for missing neighbours.  Planes lie one after another in ``work.planes``, and the
index of a plane's first word there is called ``plane``.

``work`` is a ``whole_cube.WholeCubeWorkspace``.  It numbers trials in two ways.  The *lane* of a trial is its index in the vector
of trials that are sampled together; so label k of the trial's random sequence is ``work.labels[lanes * k + lane]``.  Labels from
k = ``work.sampled`` on are sampled when they are needed.  The *place* of a trial is its index among the placed trials, and trial
``place`` is in group ``place // 8``.  For n <= 8 all trials are placed, so both numbers are equal.
"""

from __future__ import annotations

import numpy as np

from ..draws.nodes import node_label
from ..machine import simd
from ..machine.bits import ALL_BITS, ONE, ZERO
from ..machine.jit import block, scratch

_63 = np.uint64(63)
_6 = np.uint64(6)
_3 = np.uint64(3)

#: Numbers of planes: preferred and spare neighbours of the sources, two planes of nodes without a safety status, and from FAULTY
#: on one plane of faults for each group.
PREFERRED, SPARE, NO_STATUS, FAULTY = np.int64(0), np.int64(1), np.int64(2), np.int64(4)


@block(always=True)
def plane_words(n):
    """Return the number of words of a plane: a vector of eight words per 64 nodes, and at the end a vector of zeros."""
    return 8 * ((np.int64(1) << (n - 6)) + 1)


@block(always=True)
def locate_faults(place, n):
    """Return the index of the first word of the plane of faults of the group that contains ``place``."""
    return (FAULTY + (place >> 3)) * plane_words(n)


@scratch
def make_planes(slots, n):
    """Return clear planes for ``slots`` trials, a multiple of eight."""
    return np.zeros(locate_faults(slots, n), np.uint64)


@block(always=True)
def _sequence_label(work, key, trial, k, n, lane, lanes):
    """Return label k of a trial's random sequence of labels."""
    return np.uint64(work.labels[lanes * k + lane]) if k < work.sampled else node_label(key, trial, k, n)


@block(always=True)
def _word_of_node(first_word, x):
    """Return the index of the word with node x of a trial whose words begin at ``first_word``, one in each vector."""
    return np.uint64(first_word) + (x >> _6 << _3)


@block(always=True)
def _is_marked(planes, first_word, x):
    """Return 1 if node x is marked in a trial's words of a plane, else 0."""
    return planes[_word_of_node(first_word, x)] >> (x & _63) & ONE


@block(always=True)
def _mark_node(planes, first_word, x):
    """Mark node x in a trial's words of a plane."""
    planes[_word_of_node(first_word, x)] |= ONE << (x & _63)


@block(always=True)
def _find_end(work, key, trial, k, n, lane, lanes, first_word, excluded):
    """Return the first label from label k on that is neither marked nor ``excluded``, and the number of the label after it."""
    x = _sequence_label(work, key, trial, k, n, lane, lanes)
    k += 1
    while x == excluded or _is_marked(work.planes, first_word, x):
        x = _sequence_label(work, key, trial, k, n, lane, lanes)
        k += 1
    return x, k


@block(always=True, stored=True)
def place_trial(work, key, trial, n, lane, lanes, first_word):
    """Mark a trial's faults in its words of a plane, which are clear before, and write its ends and ``needed`` by its lane.

    The faults are the first f distinct labels of the trial's sequence, the source and the destination the next two that differ
    from them and from each other.
    """
    f, planes = work.f, work.planes
    distinct, k = np.int64(0), np.int64(f)
    for i in range(f):  # as if all labels were distinct
        x = np.uint64(work.labels[lanes * i + lane])
        distinct += np.int64(ONE ^ _is_marked(planes, first_word, x))
        _mark_node(planes, first_word, x)
    while distinct < f:
        x = _sequence_label(work, key, trial, k, n, lane, lanes)
        distinct += np.int64(ONE ^ _is_marked(planes, first_word, x))
        _mark_node(planes, first_word, x)
        k += 1
    work.needed[lane] = min(k, work.sampled + 1)  # an entry of a narrow type might not hold k
    s, k = _find_end(work, key, trial, k, n, lane, lanes, first_word, ALL_BITS)  # ALL_BITS is no label
    t, k = _find_end(work, key, trial, k, n, lane, lanes, first_word, s)
    work.sources[lane] = s
    work.destinations[lane] = t


@block(always=True)
def _node_bit(x, v):
    """Return the bit of node x of each trial in vector v of a plane, or 0 if the node is in another vector."""
    return simd.one_hot(x - simd.splat(np.uint64(64 * v)))


@block(always=True, stored=True)
def place_eight(work, n, lane, lanes, plane):
    """Do ``place_trial`` for the eight trials from ``lane`` on, n <= 8, all nodes of which fit into four vectors.

    Writes all of the plane except the vector of zeros, whatever it held.  Returns the trials that need more labels than are
    sampled, as bits 0 .. 7; what is written of these is wrong.
    """
    f, labels, planes = work.f, work.labels, work.planes
    zero, one = simd.splat(ZERO), simd.splat(ONE)
    # marks of all labels so far, in vectors 0 .. 3, and how many of these are distinct
    seen0, seen1, seen2, seen3, distinct = zero, zero, zero, zero, zero
    # marks of the faults, and the number of labels that contain them
    fault0, fault1, fault2, fault3, needed = zero, zero, zero, zero, simd.splat(np.uint64(f))
    s, t = zero, zero  # the next two distinct labels after f distinct ones
    faults, faults_and_ends = simd.splat(np.uint64(f)), simd.splat(np.uint64(f + 2))
    k = np.int64(0)
    while k < work.sampled:
        x = simd.load_wide(labels, lanes * k + lane)
        bit0, bit1, bit2, bit3 = _node_bit(x, 0), _node_bit(x, 1), _node_bit(x, 2), _node_bit(x, 3)
        met = simd.bit_or3(seen0 & bit0, seen1 & bit1, seen2 & bit2) | (seen3 & bit3)
        new = met == zero
        seen0, seen1, seen2, seen3 = seen0 | bit0, seen1 | bit1, seen2 | bit2, seen3 | bit3
        if k >= f:
            s = simd.select(new & (distinct == faults), x, s)
            t = simd.select(new & (distinct == (faults + one)), x, t)
            is_fault = new & ~(faults <= distinct)
            fault0 = fault0 | simd.select(is_fault, bit0, zero)
            fault1 = fault1 | simd.select(is_fault, bit1, zero)
            fault2 = fault2 | simd.select(is_fault, bit2, zero)
            fault3 = fault3 | simd.select(is_fault, bit3, zero)
            needed = needed + simd.select(faults <= distinct, zero, one)
        distinct = simd.select(new, distinct + one, distinct)
        k += 1
        if k == f:  # all labels so far are faults
            fault0, fault1, fault2, fault3 = seen0, seen1, seen2, seen3
        elif k > f and simd.bits(faults_and_ends <= distinct) == np.uint64(255):
            break
    simd.store(planes, plane, fault0)
    if n > 6:
        simd.store(planes, plane + 8, fault1)
    if n > 7:
        simd.store(planes, plane + 16, fault2)
        simd.store(planes, plane + 24, fault3)
    simd.store_narrow(work.sources, lane, s)
    simd.store_narrow(work.destinations, lane, t)
    simd.store_narrow(work.needed, lane, needed)
    return ~simd.bits(faults_and_ends <= distinct) & np.uint64(255)
