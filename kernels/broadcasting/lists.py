"""Descents with any number of subcubes and faulty links: the subcubes that overlap a region are compacted into a list.

The lists of the nodes on a path of the tree follow each other in ``Descent.base`` and ``Descent.free``, and the list of all
subcubes is the first.  A list is read eight subcubes at a time, so lanes after its end are masked out.  ``_load_subcubes``,
``_view_region`` and ``_find_refused`` are the blocks of the same names of ``make_descend``, which explains their results.
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

_8 = np.int64(8)


class SubcubeCounts(NamedTuple):
    """Numbers of subcubes at the start of ``descent.base`` and ``descent.free``."""

    subcube_count: I64  #: number of all subcubes
    large_count: I64  #: number of subcubes of one dimension or more


@block
def _load_subcubes(faults, descent):
    """Copy all subcubes to the start of ``descent.base`` and ``descent.free``, and return their ``SubcubeCounts``."""
    count = faults.size[SUBCUBES]
    large_count = np.int64(0)
    for at in range(0, count, _8):
        base, free = simd.load(faults.base, at), simd.load(faults.free, at)
        simd.store(descent.base, at, base)
        simd.store(descent.free, at, free)
        large_count += popcount(simd.bits(free != (free - free)) & first_lanes(count - at))
    return SubcubeCounts(count, large_count)


@block(always=True)
def _filter_subcubes(descent, x, control, first, last):
    """Copy the subcubes first .. last - 1 that overlap the region of x to index ``last`` on; return the end of the copies."""
    end = last
    for at in range(first, last, _8):
        base, free = simd.load(descent.base, at), simd.load(descent.free, at)
        outside = fixed_offsets(base, free, x) & simd.splat_like(base, ~control)
        overlapping = simd.bits(outside == (base - base)) & first_lanes(last - at)
        simd.store_compressed(descent.base, end, overlapping, base)
        simd.store_compressed(descent.free, end, overlapping, free)
        end += popcount(overlapping)
    return end


@block(always=True)
def _view_region(subcubes, descent, x, control, first, last):
    """Return the ``RegionView`` of node x, whose sender's list of subcubes is first .. last - 1.

    Stores x's own list from index ``last`` on, over lists of nodes that have been processed.
    """
    end = _filter_subcubes(descent, x, control, first, last)
    zero = simd.splat(ZERO)
    neighbours = zero
    for at in range(last, end, _8):
        free = simd.load(descent.free, at)
        dims = neighbour_dims(fixed_offsets(simd.load(descent.base, at), free, x), free)
        neighbours = neighbours | simd.select(simd.mask(dims, first_lanes(end - at)), dims, zero)
    closed_dims = simd.union(neighbours) & control
    active = control & ~closed_dims
    entered = zero
    for at in range(last, end, _8):
        free = simd.load(descent.free, at)
        _, dims = copy_dims(fixed_offsets(simd.load(descent.base, at), free, x), free, active)
        large = simd.bits(free != zero) & first_lanes(end - at)
        entered = entered | simd.select(simd.mask(dims, large), dims, zero)
    entered_dims = simd.union(entered)
    covered_faults = np.int64(0)
    for at in range(last, end, _8):
        free = simd.load(descent.free, at)
        high, _ = copy_dims(fixed_offsets(simd.load(descent.base, at), free, x), free, active)
        copied = simd.bits((high & simd.splat(active & ~entered_dims)) != zero)
        covered_faults += popcount(copied & simd.bits(free == zero) & first_lanes(end - at))
    return RegionView(closed_dims, entered_dims, covered_faults, last, end)


@block(always=True)
def _find_refused(subcubes, faults, x, bits):
    """Return the dimensions of ``bits`` in which a fault blocks node x."""
    refused = ZERO
    while bits:
        bit = bits & (ZERO - bits)
        bits ^= bit
        if blocked(faults, x, bit):
            refused |= bit
    return refused


descend_listed = make_descend(_load_subcubes, _view_region, _find_refused)
