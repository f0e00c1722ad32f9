"""Descents with any number of subcubes and faulty links: each node that is processed has a list of the subcubes in its region.

A descent follows a message by BROADCAST1's rule, without a visit to every node (``descent.py``).  Its terms:

- *unsafe*: nonfaulty, with two or more faulty or unsafe neighbours or a faulty link.
- *closed*: faulty or unsafe.  Every other node is *active*.
- *subcube*: a maximal subcube of closed nodes, as ``base``, one of its nodes, and ``free``, the mask of its free dimensions.  It
  is *large* if it has a free dimension, and else one isolated faulty node.
- *CONTROL*: the mask of dimensions that a node x receives; x serves its *region*, {x ^ m : m subset of CONTROL}.
- *copy*: x sends one to each active neighbour in a dimension of CONTROL, highest first, and then one to each unsafe neighbour.
  The copy in dimension b serves the nodes of the region that differ from x in b and in no dimension of an earlier copy.
- *entered*: a copy's region that overlaps a large subcube; its node is processed.  A formula counts every other region, whose
  faulty nodes are *covered*.
- *refused*: a dimension in which the link or the neighbour of x is faulty.

``descent.base`` and ``descent.free`` hold the list of all subcubes, then those of the nodes on the path to x.  The list of x
starts where its sender's ends, at ``last``.  It overwrites lists of processed nodes alone, because every waiting node received
from x's sender or a node before it on the path.  Vectors of eight subcubes may go beyond the end of a list; masks of lanes
exclude the rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..draws.faults import SUBCUBES, blocked
from ..machine import simd
from ..machine.array_types import I64
from ..machine.bits import ZERO, first_lanes, popcount
from ..machine.jit import block
from .descent import RegionView, copy_dims, fixed_offsets, make_descend, neighbour_dims

#: Subcubes per vector.
_LANES = np.int64(8)


class SubcubeCounts(NamedTuple):
    """Numbers of subcubes in the first list, which holds all of them."""

    subcube_count: I64
    large_count: I64  #: number of large ones


@block
def _load_subcubes(faults, descent):
    """Copy all subcubes to the start of ``descent.base`` and ``descent.free``, and return their ``SubcubeCounts``."""
    count = faults.size[SUBCUBES]
    large_count = np.int64(0)
    for at in range(0, count, _LANES):
        base, free = simd.load(faults.base, at), simd.load(faults.free, at)
        simd.store(descent.base, at, base)
        simd.store(descent.free, at, free)
        large_count += popcount(simd.bits(free != (free - free)) & first_lanes(count - at))
    return SubcubeCounts(count, large_count)


@block(always=True)
def _filter_subcubes(descent, x, control, first, last):
    """Copy the subcubes first .. last - 1 that overlap the region of x to index ``last`` on; return the end of the copies."""
    end = last
    for at in range(first, last, _LANES):
        base, free = simd.load(descent.base, at), simd.load(descent.free, at)
        outside = fixed_offsets(base, free, x) & simd.splat_like(base, ~control)
        overlapping = simd.bits(outside == (base - base)) & first_lanes(last - at)
        simd.store_compressed(descent.base, end, overlapping, base)
        simd.store_compressed(descent.free, end, overlapping, free)
        end += popcount(overlapping)
    return end


@block(always=True)
def _view_region(_subcubes, descent, x, control, first, last):
    """Store the list of node x, whose sender's list is first .. last - 1, and return the ``RegionView`` of x."""
    end = _filter_subcubes(descent, x, control, first, last)
    zero = simd.splat(ZERO)
    neighbours = zero
    for at in range(last, end, _LANES):
        free = simd.load(descent.free, at)
        dims = neighbour_dims(fixed_offsets(simd.load(descent.base, at), free, x), free)
        neighbours = neighbours | simd.select(simd.mask(dims, first_lanes(end - at)), dims, zero)
    closed_dims = simd.union(neighbours) & control
    active = control & ~closed_dims  # the dimensions of the copies to active neighbours
    entered = zero
    for at in range(last, end, _LANES):
        free = simd.load(descent.free, at)
        _, dims = copy_dims(fixed_offsets(simd.load(descent.base, at), free, x), free, active)
        large = simd.bits(free != zero) & first_lanes(end - at)
        entered = entered | simd.select(simd.mask(dims, large), dims, zero)
    entered_dims = simd.union(entered)
    covered_faults = np.int64(0)
    for at in range(last, end, _LANES):
        free = simd.load(descent.free, at)
        high, _ = copy_dims(fixed_offsets(simd.load(descent.base, at), free, x), free, active)
        covered = simd.bits((high & simd.splat(active & ~entered_dims)) != zero)
        covered_faults += popcount(covered & simd.bits(free == zero) & first_lanes(end - at))
    return RegionView(closed_dims, entered_dims, covered_faults, last, end)


@block(always=True)
def _find_refused(_subcubes, faults, x, dims):
    """Return the refused dimensions of the mask ``dims`` for node x."""
    refused = ZERO
    while dims:
        bit = dims & (ZERO - dims)
        dims ^= bit
        if blocked(faults, x, bit):
            refused |= bit
    return refused


descend_listed = make_descend(_load_subcubes, _view_region, _find_refused)
