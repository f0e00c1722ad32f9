"""What becomes of a broadcast without a look at every node (Lee & Hayes 1988, sections 2 and 4; readings R11-R17).

A node x that receives CONTROL, a mask M, answers for the region {x ^ m : m subset of M}.  Its i-th copy, in dimension b, takes
over the part with bit b flipped and the bits used before not: the regions of its copies are disjoint, so no node
receives twice.  A region is entered only when a subcube with unsafe nodes meets it; :func:`record_covered` counts the others.
BROADCAST's regions are intervals of offsets, which a lost copy silences whole (:func:`run_broadcast`).

:func:`make_descend` makes the descent, of what a node sees of the subcubes: in ``lists.py`` from a list of them for
each region, in ``registers.py`` from a few that stay in registers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..draws.faults import blocked, is_faulty
from ..machine import simd
from ..machine.array_types import I64, U64, Ints, Words
from ..machine.bits import ALL_BITS, ONE, ZERO, highest_bit, lowest, popcount
from ..machine.jit import block, scratch

#: Regions that one descent may enter.
MOST_REGIONS = np.int64(1 << 22)

#: ``found`` of a descent: nodes reached, last time unit, copies sent, regions entered; and copies lost.
REACHED, STEPS, COPIES, ENTERED, LOST = np.int64(0), np.int64(1), np.int64(2), np.int64(3), np.int64(4)

#: In place of a silent source.
NO_SILENT_NODE = ALL_BITS

_1 = np.int64(1)


class Descent(NamedTuple):
    """Scratch of descents, made by :func:`descent_for`."""

    found: Ints  #: (5): what became of the broadcast; see above
    nodes: Words  #: nodes that received and are waiting
    controls: Words  #: their CONTROL
    times: Ints  #: when they received
    first: Ints  #: where the subcubes that meet their senders' regions begin
    last: Ints  #: and end
    base: Words  #: those subcubes, as in Faults
    free: Words
    levels: Ints  #: (64): how many outermost intervals have 2^i offsets


class RegionView(NamedTuple):
    """What a node sees of the subcubes that meet its region."""

    closed: U64  #: dimensions of CONTROL in which its neighbour is faulty or unsafe
    met: U64  #: the others in which the copy's region meets a subcube with unsafe nodes
    singles: I64  #: faulty nodes in the regions of all other copies
    first: I64  #: where a list of them begins
    last: I64  #: and ends


@scratch
def descent_for(n, subcubes):
    """Scratch for descents in Q_n among up to so many subcubes.

    Along a path of the tree at most n + 1 lists of subcubes are kept, and at each of its nodes at most n others wait.
    """
    waiting = (n + 2) * n + 16
    room = (n + 3) * (subcubes + 8) + 16
    return Descent(
        np.zeros(5, np.int64),
        np.zeros(waiting, np.uint64),
        np.zeros(waiting, np.uint64),
        np.zeros(waiting, np.int64),
        np.zeros(waiting, np.int64),
        np.zeros(waiting, np.int64),
        np.zeros(room, np.uint64),
        np.zeros(room, np.uint64),
        np.zeros(64, np.int64),
    )


# ---------------------------------------------------------------- vectors of subcubes, from a node


@block(always=True)
def fixed_offsets(base, free, x):
    """The fixed dimensions in which subcubes differ from a node."""
    return (base ^ simd.splat_like(base, x)) & ~free


@block(always=True)
def neighbour_dims(apart, free):
    """Dimensions in which a node, at offsets ``apart`` that are not its own, has a neighbour in each subcube."""
    zero = apart - apart
    beside = (apart & (apart - 1)) == zero
    return simd.select(apart == zero, free, simd.select(beside, apart, zero))


@block(always=True)
def copy_dims(apart, free, active):
    """The highest of the ``active`` dimensions in which each subcube is apart, or 0, and all whose copies' regions it meets.

    A subcube's fixed offset goes with the copy in its highest active dimension, h; a free dimension above h may be chosen
    to be in the offset, and then takes it.
    """
    zero = apart - apart
    fixed = apart & simd.splat_like(apart, active)
    none = fixed == zero
    high = simd.select(none, zero, simd.top_bit(fixed))
    below = simd.select(none, zero, high | (high - 1))
    return high, high | (free & simd.splat_like(apart, active) & ~below)


# ---------------------------------------------------------------- one node's copies


@block
def record_covered(found, m, faults, time):
    """Count a region of m dimensions whose node got the message at ``time`` and that only single faults lie in.

    All its nonfaulty nodes receive, the last one m units later; for m = 1 not if the other node is faulty.  For single
    faults are at distance three or more from each other and no node of the region is unsafe.  So at most one neighbour
    is skipped, over a bit q; then the m - 1 copies go to regions that hold all offsets but 0 and q, the i-th of m - i
    dimensions from time + i on, each of this kind; the last of them has one dimension, q, whose other node is next to the
    skipped fault and so nonfaulty, and receives in unit time + m.
    """
    nodes = (_1 << m) - faults
    found[REACHED] += nodes
    found[COPIES] += nodes - 1
    found[STEPS] = max(found[STEPS], time + m if m > 1 or faults == 0 else time)


@block(always=True)
def _push_node(d, waiting, x, control, time, seen):
    """Let a node that received wait behind so many others; returns how many wait."""
    d.nodes[waiting], d.controls[waiting], d.times[waiting] = x, control, time
    d.first[waiting], d.last[waiting] = seen.first, seen.last
    return waiting + _1


@block(always=True)
def _send_to_active(d, waiting, x, control, time, seen):
    """Count x and its copies to active nodes; those whose regions are to be entered wait.  Returns how many wait.

    The i-th of a copies gets a region of m - i dimensions: 2^m - 2^(m - a) nodes in all.  The others are
    :func:`record_covered`, and all done at time + m, but for one of a single dimension with a fault if there is no other.
    """
    found = d.found
    active = control & ~seen.closed
    m = popcount(control)
    nodes = (_1 << m) - (_1 << (m - popcount(active))) - seen.singles
    left = seen.met
    while left:
        bit = left & (ZERO - left)
        left ^= bit
        sent = active & (ZERO - bit)
        i = popcount(sent)
        nodes -= _1 << (m - i)
        waiting = _push_node(d, waiting, x ^ bit, control & ~sent, time + i, seen)
    last = active & ~seen.met
    if last:
        short = seen.singles == 1 and last & (last - ONE) == ZERO and popcount(active & (ZERO - last)) == m - 1
        time += m - np.int64(short)
    found[ENTERED] += 1
    found[REACHED] += 1 + nodes
    found[COPIES] += nodes + popcount(seen.met)
    found[STEPS] = max(found[STEPS], time)
    return waiting


@block(always=True)
def _send_to_unsafe(d, waiting, x, control, time, unsafe, seen):
    """Send from x to its neighbours ``unsafe`` after the active ones, with what is left of CONTROL; returns how many wait."""
    found = d.found
    time += popcount(control & ~seen.closed)
    rest = seen.closed
    while unsafe:
        bit = highest_bit(unsafe)
        unsafe ^= bit
        rest ^= bit
        time += 1
        found[COPIES] += 1
        if rest:
            waiting = _push_node(d, waiting, x ^ bit, rest, time, seen)
        else:  # a region of one node
            found[ENTERED] += 1
            found[REACHED] += 1
            found[STEPS] = max(found[STEPS], time)
    return waiting


def make_descend(hold: Any, look: Any, refused: Any) -> Any:
    """The block ``descend(faults, x, whole, time, silent, d)``: add to ``d.found`` what follows from x receiving CONTROL
    ``whole``, all dimensions, at ``time`` under BROADCAST1's rule.

    ``faults`` is a Faults that is closed; no copy goes to ``silent`` (NO_SILENT_NODE for BROADCAST1).  It returns
    False when more than MOST_REGIONS regions are to be entered.

    Parameters
    ----------
    hold : block
        ``hold(faults, d) -> held``: what ``look`` needs; ``held.closed`` and ``held.large`` are the numbers of all subcubes and
        of those with unsafe nodes.
    look : block
        ``look(held, d, x, control, first, last) -> RegionView``.
    refused : block
        ``refused(held, faults, x, bits)``: those of the dimensions ``bits`` in which no copy can be sent.
    """

    @block
    def descend(faults, x, whole, time, silent, d):
        held = hold(faults, d)
        if held.large == 0:
            record_covered(d.found, popcount(whole), held.closed, time)
            return True
        waiting = _push_node(
            d, np.int64(0), x, whole, time, RegionView(ZERO, ZERO, np.int64(0), np.int64(0), held.closed)
        )
        while waiting > 0:
            if d.found[ENTERED] >= MOST_REGIONS:
                return False
            waiting -= 1
            x, control, time = d.nodes[waiting], d.controls[waiting], d.times[waiting]
            seen = look(held, d, x, control, d.first[waiting], d.last[waiting])
            waiting = _send_to_active(d, waiting, x, control, time, seen)
            if seen.closed:
                unsafe = seen.closed & ~refused(held, faults, x, seen.closed)
                off = x ^ silent
                if off & (off - ONE) == ZERO:
                    unsafe &= ~off
                waiting = _send_to_unsafe(d, waiting, x, control, time, unsafe, seen)
        return d.found[ENTERED] <= MOST_REGIONS

    return descend


# ---------------------------------------------------------------- BROADCAST


@block
def _record_silence(faults, s, offset, n, d):
    """Count the interval that the lost copy to s ^ offset silences, unless that copy is never sent."""
    p = offset & (offset - ONE)
    while p:
        parent = p & (p - ONE)
        if blocked(faults, parent ^ s, p ^ parent):
            return
        p = parent
    low = lowest(offset)
    d.levels[low] += 1
    d.found[REACHED] -= np.int64(1) << low
    d.found[LOST] += 1


@block
def run_broadcast(faults, s, n, d):
    """Run BROADCAST from s into ``d.found`` (R12, R13, R17).

    The node at offset o = x ^ s receives over the lowest set bit of o, in unit n - i when that is bit i, and passes the
    message to o + 1, ..., o + 2^i - 1.  So a copy to o that is lost silences [o, o + 2^i): intervals nested or disjoint.
    """
    found = d.found
    found[:] = 0
    d.levels[: n + 1] = 0
    found[REACHED] = np.int64(1) << n
    for i in range(faults.size[0]):
        _record_silence(faults, s, faults.labels[i] ^ s, n, d)
    for i in range(faults.size[1]):
        bit = ONE << faults.dims[i]
        offset = (faults.lower[i] ^ s) | bit
        carries = offset & (ZERO - offset) == bit  # a copy
        if carries and not is_faulty(faults, offset ^ s):
            _record_silence(faults, s, offset, n, d)
    found[COPIES] = found[REACHED] - 1 + found[LOST]
    for i in range(n):
        silenced = np.int64(0)  # offsets with lowest set bit i
        for j in range(i, n):
            silenced += d.levels[j] * (((np.int64(1) << (j - i)) + 1) >> 1)
        if silenced < np.int64(1) << (n - 1 - i):
            found[STEPS] = n - i
            return
