"""What becomes of a broadcast without a look at every node (Lee & Hayes 1988, sections 2 and 4; readings R11-R17).

A node x that receives CONTROL, a mask M, answers for the region {x ^ m : m subset of M}.  Its i-th copy, in dimension b, takes
over the part with bit b flipped and the bits used before not: the regions of its copies are disjoint, so no node
receives twice.  A region is entered only when a subcube of unsafe nodes meets it; :func:`covered` counts the others.
BROADCAST's regions are intervals of offsets, which a lost copy silences whole (:func:`plain`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import simd
from ..bits import ALL, ONE, ZERO, first_lanes, lowest, popcount, top
from ..faults import blocked, is_closed, is_faulty
from ..jit import block, scratch

#: Regions that one descent may enter.
MOST_REGIONS = np.int64(1 << 22)

#: ``found`` of a descent: nodes reached, last time unit, copies sent, regions entered; and copies lost.
REACHED, STEPS, COPIES, ENTERED, LOST = np.int64(0), np.int64(1), np.int64(2), np.int64(3), np.int64(4)

#: In place of a silent source.
NOBODY = ALL

_8 = np.int64(8)


class Descent(NamedTuple):
    """Scratch of descents, made by :func:`descent_for`."""

    found: Any  #: int64, 5: what became of the broadcast; see above
    nodes: Any  #: uint64: nodes that received and are waiting
    controls: Any  #: uint64: their CONTROL
    times: Any  #: int64: when they received
    first: Any  #: int64: where the subcubes that meet their senders' regions begin
    last: Any  #: int64: and end
    base: Any  #: uint64: those subcubes, as in Faults
    free: Any  #: uint64
    levels: Any  #: int64, 64: how many outermost intervals have 2^i offsets


@scratch
def descent_for(n, subcubes):
    """Scratch for descents in Q_n among up to so many subcubes.

    Along a path of the tree at most n + 1 lists of subcubes are kept, and at each of its nodes at most n others wait.
    """
    waiting = (n + 2) * n + 16
    room = (n + 3) * (subcubes + 8) + 16
    return Descent(
        np.zeros(5, np.int64),
        np.zeros(waiting, np.uint64), np.zeros(waiting, np.uint64), np.zeros(waiting, np.int64),
        np.zeros(waiting, np.int64), np.zeros(waiting, np.int64),
        np.zeros(room, np.uint64), np.zeros(room, np.uint64),
        np.zeros(64, np.int64),
    )  # fmt: skip


@block
def covered(found, m, faults, time):
    """Count a region of m dimensions whose node got the message at ``time`` and that only single faults lie in.

    All its nonfaulty nodes receive, the last one m units later; for m = 1 not if the other node is faulty.  For single
    faults are at distance three or more from each other and no node of the region is unsafe.  So at most one neighbour
    is skipped, over a bit q; then the m - 1 copies go to regions that hold all offsets but 0 and q, the i-th of m - i
    dimensions from time + i on, each of this kind; the last of them has one dimension, q, whose other node is next to the
    skipped fault and so nonfaulty, and receives in unit time + m.
    """
    nodes = (np.int64(1) << m) - faults
    found[REACHED] += nodes
    found[COPIES] += nodes - 1
    found[STEPS] = max(found[STEPS], time + m if m > 1 or faults == 0 else time)


@block(always=True)
def _filter(d, x, outside, lo, hi):
    """Press those of the subcubes lo .. hi - 1 that meet the region of x together behind hi.

    Returns their end, and whether all are single nodes.
    """
    zero = simd.splat(ZERO)
    node = simd.splat(x)
    mask = simd.splat(outside)
    end = hi
    single = True
    for at in range(lo, hi, _8):
        base, free = simd.load(d.base, at), simd.load(d.free, at)
        apart = simd.both(simd.without(simd.xor(base, node), free), mask)
        keep = simd.bits(simd.equal(apart, zero)) & (ALL >> np.uint64(64 - min(_8, hi - at)))
        chosen = simd.mask(base, keep)
        single &= simd.bits(simd.differ(free, zero)) & keep == ZERO
        simd.store(d.base, end, simd.compress(chosen, base))
        simd.store(d.free, end, simd.compress(chosen, free))
        end += popcount(keep)
    return end, single


@block(always=True)
def _closed_bits(d, x, lo, hi):
    """Dimensions in which x has a faulty or unsafe neighbour in the subcubes lo .. hi - 1."""
    zero = simd.splat(ZERO)
    one = simd.splat(ONE)
    node = simd.splat(x)
    out = zero
    for at in range(lo, hi, _8):
        free = simd.load(d.free, at)
        apart = simd.without(simd.xor(simd.load(d.base, at), node), free)
        beside = simd.select(simd.equal(simd.both(apart, simd.sub(apart, one)), zero), apart, zero)
        here = simd.select(simd.equal(apart, zero), free, beside)
        if hi - at < _8:
            here = simd.select(simd.mask(here, ALL >> np.uint64(64 - (hi - at))), here, zero)
        out = simd.either(out, here)
    return simd.union(out)


@block(always=True)
def _met_bits(d, x, active, lo, hi):
    """Those of the active dimensions of x whose copies' regions the subcubes lo .. hi - 1 meet.

    A subcube's fixed offset from x goes with the copy in its highest active dimension, h; a free dimension above h may be
    chosen to be in the offset, and then takes it.
    """
    zero = simd.splat(ZERO)
    one = simd.splat(ONE)
    node = simd.splat(x)
    mask = simd.splat(active)
    out = zero
    for at in range(lo, hi, _8):
        free = simd.load(d.free, at)
        fixed = simd.both(simd.without(simd.xor(simd.load(d.base, at), node), free), mask)
        none = simd.equal(fixed, zero)
        h = simd.select(none, zero, simd.top(fixed))
        below = simd.select(none, zero, simd.either(h, simd.sub(h, one)))
        here = simd.either(h, simd.without(simd.both(free, mask), below))
        if hi - at < _8:
            here = simd.select(simd.mask(here, ALL >> np.uint64(64 - (hi - at))), here, zero)
        out = simd.either(out, here)
    return simd.union(out)


@block
def _refused_bits(faults, x, bits, silent):
    """Those of the dimensions ``bits`` in which x sends to no unsafe node: faulty ones, and the silent source."""
    out = ZERO
    while bits:
        bit = bits & (ZERO - bits)
        bits ^= bit
        if x ^ bit == silent or blocked(faults, x, bit):
            out |= bit
    return out


@block
def descend(faults, x, control, time, silent, d):
    """Add to ``d.found`` what follows from x receiving ``control`` at ``time`` under BROADCAST1's rule.

    ``faults`` is a Faults that is closed; no copy goes to ``silent`` (NOBODY for BROADCAST1).  Returns False when more than
    MOST_REGIONS regions were to be entered.
    """
    found = d.found
    closed = faults.size[3]
    for at in range(0, closed, _8):
        simd.store(d.base, at, simd.load(faults.base, at))
        simd.store(d.free, at, simd.load(faults.free, at))
    d.nodes[0], d.controls[0], d.times[0] = x, control, time
    d.first[0], d.last[0] = 0, closed
    waiting = np.int64(1)
    while waiting > 0:
        waiting -= 1
        x, control, time = d.nodes[waiting], d.controls[waiting], d.times[waiting]
        lo = d.last[waiting]
        hi, single = _filter(d, x, ~control, d.first[waiting], lo)
        m = popcount(control)
        if single:
            covered(found, m, hi - lo, time)
            continue
        if found[ENTERED] == MOST_REGIONS:
            return False
        found[ENTERED] += 1
        found[REACHED] += 1
        found[STEPS] = max(found[STEPS], time)
        closed_bits = _closed_bits(d, x, lo, hi) & control
        active = control & ~closed_bits
        met = _met_bits(d, x, active, lo, hi)
        if active & ~met:  # clean regions: the last of their nodes receives when the whole region would be done
            found[STEPS] = max(found[STEPS], time + m)
        rest = control
        size = m
        left = active
        while left:
            bit = top(left)
            left ^= bit
            rest ^= bit
            size -= 1
            time += 1
            if bit & met:
                found[COPIES] += 1
                d.nodes[waiting], d.controls[waiting], d.times[waiting] = x ^ bit, rest, time
                d.first[waiting], d.last[waiting] = lo, hi
                waiting += 1
            else:
                found[REACHED] += np.int64(1) << size
                found[COPIES] += np.int64(1) << size
        if closed_bits:
            left = closed_bits & ~_refused_bits(faults, x, closed_bits, silent)
            while left:
                bit = top(left)
                left ^= bit
                rest ^= bit
                time += 1
                found[COPIES] += 1
                d.nodes[waiting], d.controls[waiting], d.times[waiting] = x ^ bit, rest, time
                d.first[waiting], d.last[waiting] = lo, hi
                waiting += 1
    return True


@block
def descend_few(faults, x, control, time, silent, d):
    """:func:`descend` for at most eight faulty nodes and no faulty link: subcubes and faults stay in registers.

    What meets a region meets its sender's, so nothing is kept from node to node; half the time of :func:`descend`.
    """
    found = d.found
    zero = simd.splat(ZERO)
    one = simd.splat(ONE)
    closed = first_lanes(faults.size[3])
    base, free = simd.load(faults.base, 0), simd.load(faults.free, 0)
    faulty = simd.load(faults.labels, 0)
    named = simd.mask(faulty, first_lanes(faults.size[0]))
    large = simd.bits(simd.differ(free, zero)) & closed
    d.nodes[0], d.controls[0], d.times[0] = x, control, time
    waiting = np.int64(1)
    reached = copies = entered = steps = np.int64(0)
    while waiting > 0:
        waiting -= 1
        x, control, time = d.nodes[waiting], d.controls[waiting], d.times[waiting]
        node = simd.splat(x)
        apart = simd.without(simd.xor(base, node), free)
        meets = simd.bits(simd.equal(simd.both(apart, simd.splat(~control)), zero)) & closed
        m = popcount(control)
        if meets & large == ZERO:  # as ``covered``
            single = popcount(meets)
            reached += (np.int64(1) << m) - single
            copies += (np.int64(1) << m) - single - 1
            steps = max(steps, time + m if m > 1 or single == 0 else time)
            continue
        if found[ENTERED] + entered == MOST_REGIONS:
            return False
        entered += 1
        reached += 1
        steps = max(steps, time)
        chosen = simd.mask(apart, meets)
        beside = simd.select(simd.equal(simd.both(apart, simd.sub(apart, one)), zero), apart, zero)
        here = simd.select(simd.equal(apart, zero), free, beside)
        closed_bits = simd.union(simd.select(chosen, here, zero)) & control
        active = control & ~closed_bits
        fixed = simd.both(apart, simd.splat(active))
        none = simd.equal(fixed, zero)
        h = simd.select(none, zero, simd.top(fixed))
        below = simd.select(none, zero, simd.either(h, simd.sub(h, one)))
        here = simd.either(h, simd.without(simd.both(free, simd.splat(active)), below))
        met = simd.union(simd.select(chosen, here, zero))
        if active & ~met:
            steps = max(steps, time + m)
        rest = control
        size = m
        left = active
        while left:
            bit = top(left)
            left ^= bit
            rest ^= bit
            size -= 1
            time += 1
            if bit & met:
                copies += 1
                d.nodes[waiting], d.controls[waiting], d.times[waiting] = x ^ bit, rest, time
                waiting += 1
            else:
                reached += np.int64(1) << size
                copies += np.int64(1) << size
        if closed_bits:
            off = simd.xor(faulty, node)
            refused = simd.select(simd.equal(simd.both(off, simd.sub(off, one)), zero), off, zero)
            left = closed_bits & ~simd.union(simd.select(named, refused, zero))
            while left:
                bit = top(left)
                left ^= bit
                if x ^ bit != silent:
                    rest ^= bit
                    time += 1
                    copies += 1
                    d.nodes[waiting], d.controls[waiting], d.times[waiting] = x ^ bit, rest, time
                    waiting += 1
    found[REACHED] += reached
    found[COPIES] += copies
    found[ENTERED] += entered
    found[STEPS] = max(found[STEPS], steps)
    return True


@block
def _descend(faults, x, control, time, silent, d):
    if faults.size[0] <= _8 and faults.size[1] == 0:
        return descend_few(faults, x, control, time, silent, d)
    return descend(faults, x, control, time, silent, d)


@block
def aware(faults, s, whole, handing, d):
    """Run BROADCAST1(1) from s into ``d.found``, or BROADCAST2(1) from an unsafe s (``handing``, R15).

    ``whole`` is the mask of all dimensions.  Returns False when it was cut off.
    """
    found = d.found
    found[:] = 0
    if not handing:
        return _descend(faults, s, whole, np.int64(0), NOBODY, d)
    found[REACHED] = 1
    found[ENTERED] = 1
    rest = whole
    while rest:
        bit = top(rest)
        rest ^= bit
        if not is_closed(faults, s ^ bit):
            found[COPIES] = 1
            return _descend(faults, s ^ bit, whole, np.int64(1), s, d)
    return True


@block
def _silences(faults, s, offset, n, d):
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
def plain(faults, s, n, d):
    """Run BROADCAST from s into ``d.found`` (R12, R13, R17).

    The node at offset o = x ^ s receives over the lowest set bit of o, in unit n - i when that is bit i, and passes the
    message to o + 1, ..., o + 2^i - 1.  So a copy to o that is lost silences [o, o + 2^i): intervals nested or disjoint.
    """
    found = d.found
    found[:] = 0
    d.levels[: n + 1] = 0
    found[REACHED] = np.int64(1) << n
    for i in range(faults.size[0]):
        _silences(faults, s, faults.labels[i] ^ s, n, d)
    for i in range(faults.size[1]):
        bit = ONE << faults.dims[i]
        offset = (faults.lower[i] ^ s) | bit
        carries = offset & (ZERO - offset) == bit  # a copy
        if carries and not is_faulty(faults, offset ^ s):
            _silences(faults, s, offset, n, d)
    found[COPIES] = found[REACHED] - 1 + found[LOST]
    for i in range(n):
        silenced = np.int64(0)  # offsets with lowest set bit i
        for j in range(i, n):
            silenced += d.levels[j] * (((np.int64(1) << (j - i)) + 1) >> 1)
        if silenced < np.int64(1) << (n - 1 - i):
            found[STEPS] = n - i
            return
