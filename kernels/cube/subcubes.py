"""Subcubes, and merging of subcubes within distance 2 of each other (Lee & Hayes 1988, section 3.2; R3).

A subcube is a pair (base, free): the labels that agree with ``base``, one of its nodes, outside the mask ``free``.  A faulty node
is a subcube with free = 0.  Two subcubes within distance 2 are replaced by the smallest subcube that contains both, until all are
at distance 3 or more.  The results are the maximal subcubes of faulty and unsafe nodes, in any order of merging.

    one fault set     count = merge_faults(labels, f, base, free)      then base[:count], free[:count]
    a vector of       close_subcubes(rows, stride, masks, f)           then fault i's subcube is (rows[i], masks[i]);
    trials in lanes   measure_subcubes(rows, stride, masks, f)         their sizes; faults of one subcube have equal masks

A lane is a trial.  Row i of ``rows`` holds label i of each trial and begins ``stride * i`` vectors after row 0.  The rows of
``masks`` follow each other without gaps.
"""

from __future__ import annotations

import numpy as np

from ..machine import simd
from ..machine.bits import ONE, ZERO, first_lanes, lowest, popcount
from ..machine.jit import block


@block(always=True)
def is_in_subcube(base, free, x):
    """Whether label ``x`` is in a subcube; uint64."""
    return (x ^ base) & ~free == ZERO


@block(always=True)
def subcube_distance(base, free, other_base, other_free):
    """Return the distance between two subcubes, an int64; a node is a subcube with free = 0."""
    return popcount((base ^ other_base) & ~(free | other_free))


@block(always=True)
def enclosing_dims(base, free, other_base, other_free):
    """Return the free dimensions of the smallest subcube that contains two; either base is one of its nodes."""
    return free | other_free | (base ^ other_base)


# ---------------------------------------------------------------- a list of subcubes, a vector of them at a time


@block
def _distances(x, free, bases, frees, at):
    """Return the distances of the subcubes from index ``at`` on to (x, free), as a vector."""
    return simd.popcount((x ^ simd.load(bases, at)) & ~(free | simd.load(frees, at)))


@block
def _find_near_lanes(x, free, bases, frees, at, count):
    """Return which of a vector of subcubes, from index ``at`` to ``count`` - 1, are within distance 2 of (x, free), as bits."""
    near = simd.bits(_distances(x, free, bases, frees, at) <= simd.splat_like(x, 2))
    return near & first_lanes(count - at, simd.lanes_of(x))


@block
def _has_near(x, free, bases, frees, at, count):
    """Whether any subcube from index ``at`` to ``count`` is within distance 2 of (x, free)."""
    two = simd.splat_like(x, 2)
    lanes = simd.lanes_of(x)
    while at + 4 * lanes <= count:
        a = simd.minimum(_distances(x, free, bases, frees, at), _distances(x, free, bases, frees, at + lanes))
        at += 2 * lanes
        b = simd.minimum(_distances(x, free, bases, frees, at), _distances(x, free, bases, frees, at + lanes))
        if simd.bits(simd.minimum(a, b) <= two) != ZERO:
            return True
        at += 2 * lanes
    while at < count:
        if _find_near_lanes(x, free, bases, frees, at, count) != ZERO:
            return True
        at += lanes
    return False


@block
def _absorb_near(x, free, bases, frees, settled, count):
    """Run one pass that removes the subcubes within distance 2 of (x, free) from the list and encloses them in (x, free).

    Returns the new free mask, number of settled subcubes and number of subcubes.  Subcubes that are not merged keep their order.
    """
    kept = np.int64(0)  # the subcubes that are not near are moved to the front
    settled_kept = settled
    vector = simd.splat_like(simd.load(bases, 0), x)
    lanes = simd.lanes_of(vector)
    for at in range(0, count, lanes):
        near = _find_near_lanes(vector, simd.splat_like(vector, free), bases, frees, at, count)
        base = simd.load(bases, at)
        mask = simd.load(frees, at)
        valid = min(count - at, lanes)
        if at < settled:
            settled_kept -= popcount(near & first_lanes(settled - at, lanes))
        rest = near
        while rest:
            i = at + lowest(rest)
            free |= frees[i] | (bases[i] ^ x)
            rest &= rest - ONE
        simd.store_compressed(bases, kept, ~near, base)
        simd.store_compressed(frees, kept, ~near, mask)
        kept += valid - popcount(near)
    return free, settled_kept, kept


@block
def merge_subcubes(bases, frees, count):
    """Merge subcubes within distance 2 until there are no such pairs; return the number of subcubes.

    A pair is replaced by the smallest subcube that contains both.

    Parameters
    ----------
    bases, frees : uint32 or uint64 arrays of at least count + 16
        A label of each subcube and the mask of its free dimensions.  Overwritten; results come first.
    count : int64
        Number of subcubes.

    Notes
    -----
    Subcubes 0 .. settled - 1 have distance 3 or more to all others.  A scan of the subcubes after them takes 5 instructions per
    vector.  A subcube that is near others absorbs them, grows, and is compared with all until it grows no more.
    """
    settled = np.int64(0)
    while settled < count:
        x = bases[settled]
        free = frees[settled]
        vector = simd.splat_like(simd.load(bases, 0), x)
        mask = simd.splat_like(vector, free)
        if _has_near(vector, mask, bases, frees, settled + 1, count):
            count -= 1  # remove it from the list; the last subcube takes its index
            bases[settled] = bases[count]
            frees[settled] = frees[count]
            before = count + 1
            while count < before:
                before = count
                free, settled, count = _absorb_near(x, free, bases, frees, settled, count)
            bases[count] = bases[settled]  # Insert it again as a settled subcube.
            frees[count] = frees[settled]
            count += 1
            bases[settled] = x
            frees[settled] = free
        settled += 1
    return count


@block
def merge_faults(labels, f, base, free):
    """Run ``merge_subcubes`` on f faults, whose labels are not changed.

    Parameters
    ----------
    labels : uint64 array
        f distinct faulty nodes.
    f : int64
    base, free : uint64 arrays of at least f + 16
        Overwritten with the subcubes.

    Returns
    -------
    int64
        Number of subcubes; f exactly if no two faults are within distance 2.
    """
    for i in range(f):
        base[i] = labels[i]
        free[i] = ZERO
    return merge_subcubes(base, free, f)


# ---------------------------------------------------------------- a vector of trials


@block
def close_subcubes(rows, stride, masks, f):
    """Write the masks of the free dimensions of each fault's subcube, for a vector of trials: ``merge_subcubes`` in lanes.

    ``rows`` holds label i of every trial from ``stride * i`` vectors on (``stride`` a literal).  ``masks``, f rows of one vector,
    is overwritten.
    """
    zero = simd.splat_like(simd.load(rows, 0), ZERO)
    lanes = simd.lanes_of(zero)
    row_length = stride * lanes
    two = simd.splat_like(zero, np.uint64(2))
    for i in range(f):
        simd.store(masks, lanes * i, zero)
    while True:  # until no lane's masks grow
        changed = zero
        for i in range(1, f):
            x = simd.load(rows, row_length * i)
            mask = simd.load(masks, lanes * i)
            grown = mask
            for j in range(i):
                difference = x ^ simd.load(rows, row_length * j)
                other = simd.load(masks, lanes * j)
                union = mask | other
                is_near = simd.popcount(difference & ~union) <= two
                enclosing = simd.select(is_near, union | difference, zero)
                changed = changed | (enclosing & ~other)
                grown = grown | enclosing
                simd.store(masks, lanes * j, other | enclosing)
            changed = changed | (grown ^ mask)
            simd.store(masks, lanes * i, grown)
        if simd.bits(changed != zero) == ZERO:
            return


@block
def measure_subcubes(rows, stride, masks, f):
    """Return the sizes of the closed subcubes, lane by lane.

    These are vectors of the number of unsafe nodes (modulo two to the lane width, so that 2^w - f is right), of the largest
    subcube's dimension, mask and one label, and the mask of lanes with a second subcube of three or more dimensions.

    Call it after ``close_subcubes`` with the same arguments.  Several faults may have one subcube, which is counted at the first
    of them: the fault that is in no subcube of an earlier fault.
    """
    zero = simd.splat_like(simd.load(rows, 0), ZERO)
    lanes = simd.lanes_of(zero)
    row_length = stride * lanes
    two = simd.splat_like(zero, np.uint64(2))
    unsafe = zero - simd.splat_like(zero, np.uint64(f))  # the nodes of all subcubes but the faults
    largest = zero
    largest_mask = zero
    largest_label = zero
    has_second = simd.no_lane(zero)
    for i in range(f):
        x = simd.load(rows, row_length * i)
        mask = simd.load(masks, lanes * i)
        is_first = simd.every_lane(zero)
        for j in range(i):
            difference = (x ^ simd.load(rows, row_length * j)) & ~simd.load(masks, lanes * j)
            is_first = is_first & (difference != zero)
        dims = simd.popcount(mask)
        unsafe = unsafe + simd.select(is_first, simd.one_hot(dims), zero)
        is_larger = is_first & ~(dims <= largest)
        are_two_large = is_first & ~(simd.minimum(dims, largest) <= two)
        has_second = has_second | are_two_large
        largest = simd.select(is_larger, dims, largest)
        largest_mask = simd.select(is_larger, mask, largest_mask)
        largest_label = simd.select(is_larger, x, largest_label)
    return unsafe, largest, largest_mask, largest_label, has_second
