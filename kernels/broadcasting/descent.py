"""Compute the result of a broadcast without visiting every node (Lee & Hayes 1988, sections 2 and 4; R11-R17).

A node x that receives CONTROL, a mask M, is responsible for the region {x ^ m : m subset of M}.  Its i-th copy, in dimension b,
takes over the part with bit b flipped and the bits used before not flipped.  The regions of its copies are disjoint, so no node
receives twice.  A region is entered only if it overlaps a subcube with unsafe nodes; ``record_covered`` counts other regions by a
formula.  BROADCAST's regions are intervals of offsets, and a lost copy silences the whole interval (``run_broadcast``).

``make_descend`` makes the descent from two blocks that find the subcubes in a region.  ``lists.py`` keeps a list of subcubes for
each region, ``registers.py`` keeps a few subcubes in registers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..draws.faults import FAULTY_LINKS, FAULTY_NODES, blocked, is_faulty
from ..machine import simd
from ..machine.array_types import I64, U64, Ints, Words
from ..machine.bits import ALL_BITS, ONE, ZERO, highest_bit, lowest, popcount
from ..machine.jit import block, scratch

#: Largest number of regions that one descent may enter.
MOST_REGIONS = np.int64(1 << 22)

#: Indices of ``found``: nodes reached, last time unit, copies sent, regions entered, copies lost.
REACHED, STEPS, COPIES, ENTERED, LOST = np.int64(0), np.int64(1), np.int64(2), np.int64(3), np.int64(4)

#: Value of ``silent`` if every node may receive.
NO_SILENT_NODE = ALL_BITS

_1 = np.int64(1)


class Descent(NamedTuple):
    """Scratch memory of descents, made by ``descent_for``."""

    found: Ints  #: (5): results of the broadcast, see above
    nodes: Words  #: stack of nodes that have received and are still to be processed
    controls: Words  #: their CONTROL masks
    times: Ints  #: time units in which they received
    first: Ints  #: index of the first subcube that overlaps the sender's region
    last: Ints  #: index after the last of these subcubes
    base: Words  #: copies of these subcubes, as in ``Faults``
    free: Words
    levels: Ints  #: (64): number of outermost intervals with 2^i offsets


class RegionView(NamedTuple):
    """The subcubes that overlap a node's region, as the node sends its copies."""

    closed: U64  #: dimensions of CONTROL in which the neighbour is faulty or unsafe
    met: U64  #: other dimensions, in which the copy's region overlaps a subcube with unsafe nodes
    singles: I64  #: number of faulty nodes in the regions of all other copies
    first: I64  #: index of the first of these subcubes in a list
    last: I64  #: index after the last


@scratch
def descent_for(n, subcubes):
    """Return scratch memory for descents in Q_n with up to ``subcubes`` subcubes.

    A path of the tree needs at most n + 1 lists of subcubes, and at each node of the path at most n nodes wait.
    """
    waiting = (n + 2) * n + 16
    capacity = (n + 3) * (subcubes + 8) + 16
    return Descent(
        np.zeros(5, np.int64),
        np.zeros(waiting, np.uint64),
        np.zeros(waiting, np.uint64),
        np.zeros(waiting, np.int64),
        np.zeros(waiting, np.int64),
        np.zeros(waiting, np.int64),
        np.zeros(capacity, np.uint64),
        np.zeros(capacity, np.uint64),
        np.zeros(64, np.int64),
    )


# ---------------------------------------------------------------- subcubes seen from a node, one per lane


@block(always=True)
def fixed_offsets(base, free, x):
    """Return the fixed dimensions in which each subcube differs from node ``x``."""
    return (base ^ simd.splat_like(base, x)) & ~free


@block(always=True)
def neighbour_dims(difference, free):
    """Return the dimensions in which a node has a neighbour in each subcube; ``difference`` are the offsets to the subcubes."""
    zero = difference - difference
    beside = (difference & (difference - 1)) == zero
    return simd.select(difference == zero, free, simd.select(beside, difference, zero))


@block(always=True)
def copy_dims(difference, free, active):
    """Return the highest ``active`` dimension in which a subcube differs, or 0, and all whose copies' regions it overlaps.

    A subcube's fixed offset goes with the copy in its highest active dimension, h.  A free dimension above h may be part of the
    offset, and the copy in that dimension then takes it.
    """
    zero = difference - difference
    fixed = difference & simd.splat_like(difference, active)
    none = fixed == zero
    high = simd.select(none, zero, simd.top_bit(fixed))
    below = simd.select(none, zero, high | (high - 1))
    return high, high | (free & simd.splat_like(difference, active) & ~below)


# ---------------------------------------------------------------- one node's copies


@block
def record_covered(found, m, faults, time):
    """Count a region of m dimensions whose node received at ``time``, and in which all faults are isolated.

    All its nonfaulty nodes receive, the last in unit time + m, except that for m = 1 the other node may be faulty.  Proof: these
    faults are at distance three or more from each other, and no node of the region is unsafe.  So the node skips at most one
    neighbour, in a dimension q.  The other m - 1 copies go to regions that cover all offsets except 0 and q.  The i-th of them
    has m - i dimensions, starts at time + i and is of the same kind.  The last has the one dimension q; its other node is next to
    the skipped fault, hence nonfaulty, and receives in unit time + m.
    """
    nodes = (_1 << m) - faults
    found[REACHED] += nodes
    found[COPIES] += nodes - 1
    found[STEPS] = max(found[STEPS], time + m if m > 1 or faults == 0 else time)


@block(always=True)
def _push_node(d, waiting, x, control, time, seen):
    """Push a node that received onto the stack of ``waiting`` nodes, and return the new size."""
    d.nodes[waiting], d.controls[waiting], d.times[waiting] = x, control, time
    d.first[waiting], d.last[waiting] = seen.first, seen.last
    return waiting + _1


@block(always=True)
def _send_to_active(d, waiting, x, control, time, seen):
    """Count x and its copies to active nodes, push those whose regions must be entered, and return the size of the stack.

    The i-th of a copies gets a region of m - i dimensions, in total 2^m - 2^(m - a) nodes.  Regions that need not be entered are
    counted as in ``record_covered``, and the last of them ends at time + m.  A single region of one dimension with a fault y
    would end earlier, but then the copy before it, or x if m = 2, has a region to enter.  There only an active receiver is as far
    as distance three from y, so no unsafe node is.
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
    if active & ~seen.met:
        time += m
    found[ENTERED] += 1
    found[REACHED] += 1 + nodes
    found[COPIES] += nodes + popcount(seen.met)
    found[STEPS] = max(found[STEPS], time)
    return waiting


@block(always=True)
def _send_to_unsafe(d, waiting, x, control, time, unsafe, seen):
    """Send from x to its neighbours ``unsafe`` after the active ones, with the rest of CONTROL; return the size of the stack."""
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
    """Return the block ``descend(faults, x, whole, time, silent, d)``, a broadcast from x by BROADCAST1's rule.

    Node x receives CONTROL ``whole``, all dimensions, at ``time``.  The results are added to ``d.found``.  ``faults`` is a closed
    Faults.  No copy goes to ``silent`` (NO_SILENT_NODE for BROADCAST1).  The block returns False if more than MOST_REGIONS
    regions must be entered.

    Parameters
    ----------
    hold : block
        ``hold(faults, d) -> held``: the data for ``look``; ``held.closed`` and ``held.large`` are the numbers of all subcubes and
        of those with unsafe nodes.
    look : block
        ``look(held, d, x, control, first, last) -> RegionView``.
    refused : block
        ``refused(held, faults, x, bits)``: the dimensions of ``bits`` in which no copy can be sent, perhaps with others.
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
    """Run BROADCAST from s and write the results to ``d.found`` (R12, R13, R17).

    The node at offset o = x ^ s receives over the lowest set bit i of o, in unit n - i, and passes the message to o + 1, ..., o +
    2^i - 1.  So a lost copy to o silences the interval [o, o + 2^i).  Two such intervals are nested or disjoint.
    """
    found = d.found
    found[:] = 0
    d.levels[: n + 1] = 0
    found[REACHED] = np.int64(1) << n
    for i in range(faults.size[FAULTY_NODES]):
        _record_silence(faults, s, faults.labels[i] ^ s, n, d)
    for i in range(faults.size[FAULTY_LINKS]):
        bit = ONE << faults.dims[i]
        offset = (faults.lower[i] ^ s) | bit
        carries = offset & (ZERO - offset) == bit  # the link carries a copy
        if carries and not is_faulty(faults, offset ^ s):
            _record_silence(faults, s, offset, n, d)
    found[COPIES] = found[REACHED] - 1 + found[LOST]
    for i in range(n):
        silenced = np.int64(0)  # number of silenced offsets with lowest set bit i
        for j in range(i, n):
            silenced += d.levels[j] * (((np.int64(1) << (j - i)) + 1) >> 1)
        if silenced < np.int64(1) << (n - 1 - i):
            found[STEPS] = n - i
            return
