"""Compute the result of a broadcast without visiting every node (Lee & Hayes 1988, sections 2 and 4; R11-R17).

A nonfaulty node is *unsafe* if it has two or more faulty or unsafe neighbours, or a faulty link, and else *active*.  The faulty
and unsafe nodes, the *closed* ones, form subcubes (``draws.faults.Faults``): the *large* ones have one dimension or more, the
others are one isolated faulty node each.  Each node sends one copy per time unit.

A node x that receives CONTROL, a mask M of dimensions, is responsible for the *region* {x ^ m : m subset of M}.  Its i-th copy,
in dimension b, takes over the part with bit b flipped and the bits used before not flipped.  The regions of its copies are
disjoint, so no node receives twice.  A region is *entered* (its node processed) only if it overlaps a large subcube.  The faulty
nodes of every other region are *covered*: ``record_covered`` counts that region by a formula.  BROADCAST's regions are intervals
of offsets, and a lost copy silences the whole interval (``run_broadcast``).

``make_descend`` makes the descent from blocks that find the subcubes in a region.  ``subcube_lists.py`` keeps a list of subcubes
for each region, ``registers.py`` keeps a few subcubes in registers.
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

#: Indices of ``found``: nodes reached, last time unit in which a node receives, copies sent, regions entered, copies lost.  LOST
#: is of BROADCAST alone, ENTERED of BROADCAST1 and BROADCAST2.
REACHED, STEPS, COPIES, ENTERED, LOST = np.int64(0), np.int64(1), np.int64(2), np.int64(3), np.int64(4)

#: Value of ``silent`` if every node may receive.
NO_SILENT_NODE = ALL_BITS

_1 = np.int64(1)


class Descent(NamedTuple):
    """Scratch memory of descents, made by ``descent_for``."""

    found: Ints  #: (5): results of the latest broadcast, with the indices above
    nodes: Words  #: stack of nodes that have received and are still to be processed
    controls: Words  #: their CONTROL masks
    times: Ints  #: time units in which they received
    first: Ints  #: index in ``base`` and ``free`` of the first subcube that overlaps the sender's region
    last: Ints  #: index after the last of these subcubes
    base: Words  #: lists of subcubes, as in ``Faults``: a node of each (``subcube_lists.py`` alone)
    free: Words  #: their free dimensions
    levels: Ints  #: (64): number of outermost silenced intervals with 2^i offsets (``run_broadcast`` alone)


class RegionView(NamedTuple):
    """The subcubes that overlap a node's region, as the node sends its copies."""

    closed_dims: U64  #: dimensions of CONTROL in which the neighbour is faulty or unsafe
    entered_dims: U64  #: other dimensions of CONTROL: those in which the copy's region is to be entered
    covered_faults: I64  #: number of faulty nodes in the regions of the remaining copies, which are not entered
    first: I64  #: index of the first of the subcubes in a list
    last: I64  #: index after the last


@scratch
def descent_for(n, subcubes):
    """Return scratch memory for descents in Q_n with up to ``subcubes`` subcubes.

    CONTROL of a node that is processed is not empty, and it shrinks with each copy.  So a path of the tree has at most n nodes,
    which with the list of all subcubes makes n + 1 lists, and at each of its nodes at most n nodes wait.  Eight entries follow
    the last list, because a vector may go beyond its end.
    """
    waiting = (n + 2) * n + 16
    capacity = (n + 1) * subcubes + 8
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
    is_adjacent = (difference & (difference - 1)) == zero
    return simd.select(difference == zero, free, simd.select(is_adjacent, difference, zero))


@block(always=True)
def copy_dims(difference, free, active):
    """Return each subcube's highest ``active`` dimension in which it differs from the node, or 0, and a set of dimensions.

    The set holds the dimensions of all copies whose regions overlap the subcube.  Its fixed offset goes with the copy in its
    highest active dimension, h.  A free dimension above h may be part of the offset, and the copy in that dimension then takes
    it.
    """
    zero = difference - difference
    fixed = difference & simd.splat_like(difference, active)
    none = fixed == zero
    high = simd.select(none, zero, simd.top_bit(fixed))
    not_above = simd.select(none, zero, high | (high - 1))
    return high, high | (free & simd.splat_like(difference, active) & ~not_above)


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
def _push_node(descent, waiting, x, control, time, view):
    """Push a node that received from the node of ``view`` onto the stack of ``waiting`` nodes, and return the new size."""
    descent.nodes[waiting], descent.controls[waiting], descent.times[waiting] = x, control, time
    descent.first[waiting], descent.last[waiting] = view.first, view.last
    return waiting + _1


@block(always=True)
def _send_to_active(descent, waiting, x, control, time, view):
    """Count x and its copies to active nodes, push those whose regions must be entered, and return the size of the stack.

    The i-th of a copies gets a region of m - i dimensions, in total 2^m - 2^(m - a) nodes.  Regions that need not be entered are
    counted as in ``record_covered``, and the last of them ends at time + m.  A single region of one dimension with a fault y
    would end earlier, but then the copy before it, or x if m = 2, has a region to enter.  There only an active receiver is as far
    as distance three from y, so no unsafe node is.
    """
    found = descent.found
    active = control & ~view.closed_dims
    m = popcount(control)
    # After the loop: the nonfaulty nodes in regions that are not entered.
    nodes = (_1 << m) - (_1 << (m - popcount(active))) - view.covered_faults
    left = view.entered_dims
    while left:
        bit = left & (ZERO - left)
        left ^= bit
        sent = active & (ZERO - bit)  # the dimensions of the copies up to this one: the highest first
        i = popcount(sent)
        nodes -= _1 << (m - i)
        waiting = _push_node(descent, waiting, x ^ bit, control & ~sent, time + i, view)
    if active & ~view.entered_dims:
        time += m
    found[ENTERED] += 1
    found[REACHED] += 1 + nodes
    found[COPIES] += nodes + popcount(view.entered_dims)
    found[STEPS] = max(found[STEPS], time)
    return waiting


@block(always=True)
def _send_to_unsafe(descent, waiting, x, control, time, unsafe, view):
    """Send from x to its neighbours ``unsafe`` after the active ones, with the rest of CONTROL; return the size of the stack."""
    found = descent.found
    time += popcount(control & ~view.closed_dims)
    rest = view.closed_dims  # CONTROL of the next copy: an unsafe neighbour takes over the faulty ones' regions too
    while unsafe:
        bit = highest_bit(unsafe)
        unsafe ^= bit
        rest ^= bit
        time += 1
        found[COPIES] += 1
        if rest:
            waiting = _push_node(descent, waiting, x ^ bit, rest, time, view)
        else:  # a region of one node
            found[ENTERED] += 1
            found[REACHED] += 1
            found[STEPS] = max(found[STEPS], time)
    return waiting


def make_descend(load_subcubes: Any, view_region: Any, find_refused: Any) -> Any:
    """Return the block ``descend(faults, x, whole, time, silent, descent)``, a broadcast from x by BROADCAST1's rule.

    Node x receives CONTROL ``whole``, all dimensions, at ``time``.  The results are added to ``descent.found``.  ``faults`` has
    its subcubes listed.  No copy goes to ``silent`` (NO_SILENT_NODE for BROADCAST1).  The block returns False if more than
    MOST_REGIONS regions must be entered.

    Blocks of both files have the parameters below; an underscore before the name marks one that a block does not use.

    Parameters
    ----------
    load_subcubes : block
        ``load_subcubes(faults, descent) -> subcubes``: the data for the other two; ``subcubes.subcube_count`` and
        ``subcubes.large_count`` are the numbers of all subcubes and of the large ones.
    view_region : block
        ``view_region(subcubes, descent, x, control, first, last) -> RegionView``; subcubes first .. last - 1 of the sender's list
        overlap its region.
    find_refused : block
        ``find_refused(subcubes, faults, x, dims)``: the dimensions of the mask ``dims`` in which the link or the neighbour of x
        is faulty, perhaps with others.
    """

    @block
    def descend(faults, x, whole, time, silent, descent):
        subcubes = load_subcubes(faults, descent)
        if subcubes.large_count == 0:
            record_covered(descent.found, popcount(whole), subcubes.subcube_count, time)
            return True
        all_subcubes = RegionView(ZERO, ZERO, np.int64(0), np.int64(0), subcubes.subcube_count)
        waiting = _push_node(descent, np.int64(0), x, whole, time, all_subcubes)
        while waiting > 0:
            if descent.found[ENTERED] >= MOST_REGIONS:
                return False
            waiting -= 1
            x, control, time = descent.nodes[waiting], descent.controls[waiting], descent.times[waiting]
            view = view_region(subcubes, descent, x, control, descent.first[waiting], descent.last[waiting])
            waiting = _send_to_active(descent, waiting, x, control, time, view)
            if view.closed_dims:
                unsafe = view.closed_dims & ~find_refused(subcubes, faults, x, view.closed_dims)
                to_silent = x ^ silent
                if to_silent & (to_silent - ONE) == ZERO:  # x is a neighbour of the silent node
                    unsafe &= ~to_silent
                waiting = _send_to_unsafe(descent, waiting, x, control, time, unsafe, view)
        return descent.found[ENTERED] <= MOST_REGIONS

    return descend


# ---------------------------------------------------------------- BROADCAST


@block
def _record_silence(faults, s, offset, descent):
    """Count the interval that the lost copy to s ^ offset silences, unless that copy is never sent.

    The node at an offset receives from its parent, whose offset lacks the lowest set bit.  A copy is not sent if one to an
    ancestor is lost.
    """
    ancestor = offset & (offset - ONE)
    while ancestor:
        parent = ancestor & (ancestor - ONE)
        if blocked(faults, parent ^ s, ancestor ^ parent):
            return
        ancestor = parent
    low = lowest(offset)
    descent.levels[low] += 1
    descent.found[REACHED] -= np.int64(1) << low
    descent.found[LOST] += 1


@block
def run_broadcast(faults, s, n, descent):
    """Run BROADCAST from s and write the results to ``descent.found`` (R12, R13, R17).

    The node at offset o = x ^ s receives over the lowest set bit i of o, in unit n - i, and passes the message to o + 1, ..., o +
    2^i - 1.  So a lost copy to o silences the interval [o, o + 2^i).  Two such intervals are nested or disjoint.
    """
    found = descent.found
    found[:] = 0
    descent.levels[: n + 1] = 0
    found[REACHED] = np.int64(1) << n
    for i in range(faults.size[FAULTY_NODES]):
        _record_silence(faults, s, faults.labels[i] ^ s, descent)
    for i in range(faults.size[FAULTY_LINKS]):
        bit = ONE << faults.dims[i]
        offset = (faults.lower[i] ^ s) | bit
        carries = offset & (ZERO - offset) == bit  # the link carries a copy
        if carries and not is_faulty(faults, offset ^ s):
            _record_silence(faults, s, offset, descent)
    found[COPIES] = found[REACHED] - 1 + found[LOST]
    for i in range(n):
        silenced = np.int64(0)  # number of silenced offsets with lowest set bit i
        for j in range(i, n):
            silenced += descent.levels[j] * (((np.int64(1) << (j - i)) + 1) >> 1)
        if silenced < np.int64(1) << (n - 1 - i):
            found[STEPS] = n - i
            return
