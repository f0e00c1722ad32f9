"""Bitmasks of whole cubes for eight trials at a time, n = 6 .. 12: marking faults, and safety statuses of their nodes.

``whole_cube.py`` marks the faults of its trials here; if it tests labels first, only of trials that these do not decide.

A plane has one bit per node for each of eight trials, a *group*.  Row v of a plane is a vector of eight words: word i holds nodes
64 v .. 64 v + 63 of trial i.  So a neighbour over dimension 6 and up is in another row.  A last row of zeros stands for missing
neighbours.  ``at`` is the index of a plane's first word in ``work.planes``; for a single trial it includes the trial's lane.

``work`` is a ``whole_cube.WholeCubeWorkspace``.  Row k of ``work.labels`` holds label k of each trial's sequence, in rows of
``lanes`` trials, of which ``column`` is one.  Labels from ``work.ready`` on are sampled when they are needed.  ``work.ends`` has
three such rows: sources, destinations, and the number of labels that contain the faults.  ``work.queued`` holds the sources of
the placed trials, and their destinations ``slots`` entries later.

H is the Hamming distance of a message.  By Wu's theorems LEVELS and VECTORS deliver over H links if some preferred neighbour has
level, or vector bit, H - 1.  Otherwise they deliver over H + 2 links if some spare neighbour has level, or bit, H + 1, and refuse
if not.
"""

from __future__ import annotations

import numpy as np

from ..draws.nodes import node_label
from ..machine import neighbours, simd
from ..machine.bits import ALL_BITS, ONE, ZERO
from ..machine.jit import block
from .levels_from_labels import DESTINATIONS, NEEDED, SOURCES
from .safety_status import LEVELS

_63 = np.uint64(63)
_6 = np.uint64(6)
_3 = np.uint64(3)

#: Indices of planes: preferred and spare neighbours of the sources, two planes of nodes without a safety status, and from FAULTY
#: on one plane of faults for each group.
_PREFERRED, _SPARE, _NO_STATUS, FAULTY = np.int64(0), np.int64(1), np.int64(2), np.int64(4)


@block(always=True)
def plane_words(n):
    """Return the number of words of a plane: rows of eight trials, and at the end a row of zeros."""
    return 8 * ((np.int64(1) << (n - 6)) + 1)


@block(always=True)
def group_offset(column, n):
    """Return the index of the first word of the faults of the group of eight trials that contains ``column``."""
    return (FAULTY + (column >> 3)) * plane_words(n)


# ---------------------------------------------------------------- marking faults


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
def _mark(planes, at, x):
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
        _mark(planes, at, x)
    while distinct < f:
        x = _sequence_label(work, key, t, k, n, column, lanes)
        distinct += np.int64(ONE ^ _is_marked(planes, at, x))
        _mark(planes, at, x)
        k += 1
    work.ends[NEEDED * lanes + column] = min(k, work.ready + 1)  # more than all rows: a lane might not hold k
    s = ALL_BITS  # no node, for the first end
    for end in range(2):  # SOURCES, DESTINATIONS
        x = _sequence_label(work, key, t, k, n, column, lanes)
        k += 1
        while x == s or _is_marked(planes, at, x):
            x = _sequence_label(work, key, t, k, n, column, lanes)
            k += 1
        s = x
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


# ---------------------------------------------------------------- safety statuses


@block(always=True, stored=True)
def mark_neighbours(work, n, column, slots):
    """Write the planes of preferred and of spare neighbours of eight sources; return the Hamming distances of the messages."""
    planes, size = work.planes, plane_words(n)
    s, t = simd.load_wide(work.queued, column), simd.load_wide(work.queued, slots + column)
    zero, one = s - s, simd.splat(ONE)
    difference = s ^ t
    place = s & simd.splat(_63)  # in the row of the source
    preferred, spare = zero, zero
    for i in range(6):
        bit = simd.splat(ONE << np.uint64(i))
        hot = one << (place ^ bit)
        wanted = (difference & bit) != zero
        preferred = preferred | simd.select(wanted, hot, zero)
        spare = spare | simd.select(wanted, zero, hot)
    own_row = s >> simd.splat(_6)
    high = difference >> simd.splat(_6)
    hot = one << place
    for v in range(size // 8 - 1):
        across = own_row ^ simd.splat(np.uint64(v))
        beside = simd.select((across & (across - one)) == zero, hot, zero)  # the neighbour in row v, if there is one
        wanted = (across & high) != zero
        here = across == zero
        simd.store(planes, _PREFERRED * size + 8 * v, simd.select(here, preferred, simd.select(wanted, beside, zero)))
        simd.store(planes, _SPARE * size + 8 * v, simd.select(here, spare, simd.select(wanted, zero, beside)))
    return simd.popcount(difference)


@block(always=True)
def _count_four(c, a, b, x, y):
    """Add four more bits per node, a, b, x and y, to the counts in bit planes c, up to fifteen, by full adders."""
    c0, c1, c2, c3 = c
    carry1 = simd.majority(c0, a, b)
    c0 = c0 ^ a ^ b
    carry2 = simd.majority(c0, x, y)
    c0 = c0 ^ x ^ y
    carry3 = simd.majority(c1, carry1, carry2)
    return c0, c1 ^ carry1 ^ carry2, c2 ^ carry3, c3 ^ (c2 & carry3)


@block(always=True)
def _neighbours_across(planes, at, v, i, n, size):
    """Return the vector of the neighbours across dimension i >= 6, or zeros if i >= n."""
    return simd.load(planes, at + (8 * (v ^ (np.int64(1) << (i - 6))) if i < n else size - 8))


@block(always=True)
def _inverted_digit(k, j):
    """Return zeros if binary digit j of k is 1, otherwise ones."""
    return simd.splat(ZERO if k >> j & 1 else ALL_BITS)


@block(always=True)
def _fill_next_plane(planes, at, to, base, n, k):
    """Write at ``to`` the nodes in plane ``base`` or with more than k neighbours in plane ``at``; return whether any is new.

    A count is compared with k from the lowest digit up.  The digits so far are larger if the last one is, or if it is equal and
    the digits before are larger: the majority of the count's digit, the inverted digit of k, and the result before.
    """
    size = plane_words(n)
    n0, n1, n2, n3 = _inverted_digit(k, 0), _inverted_digit(k, 1), _inverted_digit(k, 2), _inverted_digit(k, 3)
    zero = simd.splat(ZERO)
    changed = zero
    for v in range(size // 8 - 1):
        x = simd.load(planes, at + 8 * v)
        c = (zero, zero, zero, zero)
        c = _count_four(
            c, neighbours.neighbour0(x), neighbours.neighbour1(x), neighbours.neighbour2(x), neighbours.neighbour3(x)
        )
        y, z = _neighbours_across(planes, at, v, 6, n, size), _neighbours_across(planes, at, v, 7, n, size)
        c = _count_four(c, neighbours.neighbour4(x), neighbours.neighbour5(x), y, z)
        if n > 8:
            u, w = _neighbours_across(planes, at, v, 8, n, size), _neighbours_across(planes, at, v, 9, n, size)
            y, z = _neighbours_across(planes, at, v, 10, n, size), _neighbours_across(planes, at, v, 11, n, size)
            c = _count_four(c, u, w, y, z)
        c0, c1, c2, c3 = c
        more = simd.majority(c1, c0 & n0, n1)
        more = simd.majority(c3, simd.majority(c2, more, n2), n3)
        known = simd.load(planes, base + 8 * v)
        simd.store(planes, to + 8 * v, known | more)
        changed = changed | (more & ~known)
    return simd.union(changed) != ZERO


@block
def _fill_next_plane_unrolled(planes, at, to, base, n, k):
    """Do ``_fill_next_plane`` with its loop unrolled for each n, which halves the time."""
    if n == 6:
        changed = _fill_next_plane(planes, at, to, base, 6, k)
    elif n == 7:
        changed = _fill_next_plane(planes, at, to, base, 7, k)
    elif n == 8:
        changed = _fill_next_plane(planes, at, to, base, 8, k)
    elif n == 9:
        changed = _fill_next_plane(planes, at, to, base, 9, k)
    elif n == 10:
        changed = _fill_next_plane(planes, at, to, base, 10, k)
    elif n == 11:
        changed = _fill_next_plane(planes, at, to, base, 11, k)
    else:
        changed = _fill_next_plane(planes, at, to, base, 12, k)
    return changed


@block(always=True)
def _lanes_with_node_outside(planes, at, without, size):
    """Return the lanes, as bits, with a node of the plane ``at`` that is not in the plane ``without``."""
    found = simd.splat(ZERO)
    for v in range(0, size - 8, 8):
        found = found | (simd.load(planes, at + v) & ~simd.load(planes, without + v))
    return simd.bits(found != 0)


@block(stored=True)
def find_delivered_lanes(planes, faulty, n, h, open_, kind):
    """Return the lanes among ``open_`` whose message LEVELS, or VECTORS, delivers over H links, and over H + 2 links.

    ``h`` holds the Hamming distances H.  At step k the plane ``at`` has the nodes with a level below k, or without vector bit k:
    first the faulty nodes, and later one of two planes in turn.  Messages with H = k + 1 look at their preferred neighbours,
    messages with H = k - 1 at their spare neighbours.
    """
    size = plane_words(n)
    at = faulty
    minimal = open_ & simd.bits(h == 1)
    detour = ZERO
    open_ &= ~minimal
    moving = True
    k = np.int64(1)
    while open_:
        now = open_ & simd.bits(h == simd.splat(np.uint64(k + 1)))
        if now:
            found = now & _lanes_with_node_outside(planes, _PREFERRED * size, at, size)
            minimal |= found
            open_ &= ~found
        now = open_ & simd.bits(h == simd.splat(np.uint64(k - 1)))
        if now:
            detour |= now & _lanes_with_node_outside(planes, _SPARE * size, at, size)
            open_ &= ~now
        if k == n:
            break
        if moving:
            to = (_NO_STATUS + (k & 1)) * size
            moving = _fill_next_plane_unrolled(planes, at, to, at if kind == LEVELS else faulty, n, k)
            at = to
        k += 1
    return minimal, detour


@block(stored=True)
def active_lanes(planes, faulty, n):
    """Return the lanes, as bits, with an active node: neither faulty nor unsafe.

    The first plane has the faulty nodes.  A pass adds the nodes with more than one neighbour in the plane, which are unsafe.
    Passes read and write two planes in turn, until nothing changes.
    """
    size = plane_words(n)
    at = faulty
    k = np.int64(0)
    moving = True
    while moving:
        to = (_NO_STATUS + (k & 1)) * size
        moving = _fill_next_plane_unrolled(planes, at, to, at, n, np.int64(1))
        at = to
        k += 1
    found = simd.splat(ZERO)
    for v in range(0, size - 8, 8):
        found = found | (simd.load(planes, at + v) ^ simd.splat(ALL_BITS))
    return simd.bits(found != 0)
