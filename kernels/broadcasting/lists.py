"""Descents with any number of subcubes and faulty links: the subcubes that overlap a region are compacted into a list.

The lists of the nodes on a path of the tree follow each other in ``Descent.base`` and ``Descent.free``, and the list of all
subcubes is the first.  A list is read eight subcubes at a time, so lanes after its end are masked out.  ``_load_subcubes``,
``_view_region`` and ``_refused_dims`` are the ``hold``, ``look`` and ``refused`` of ``make_descend``.
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
    """Numbers of subcubes at the start of ``d.base`` and ``d.free``."""

    closed: I64  #: number of all subcubes
    large: I64  #: number of subcubes of one dimension or more


@block
def _load_subcubes(faults, d):
    """Copy all subcubes to the start of ``d.base`` and ``d.free``, and return their ``SubcubeCounts``."""
    closed = faults.size[SUBCUBES]
    large = np.int64(0)
    for at in range(0, closed, _8):
        base, free = simd.load(faults.base, at), simd.load(faults.free, at)
        simd.store(d.base, at, base)
        simd.store(d.free, at, free)
        large += popcount(simd.bits(free != (free - free)) & first_lanes(closed - at))
    return SubcubeCounts(closed, large)


@block(always=True)
def _filter_subcubes(d, x, control, first, last):
    """Copy the subcubes first .. last - 1 that overlap the region of x to index ``last`` on; return the end of the copies."""
    end = last
    for at in range(first, last, _8):
        base, free = simd.load(d.base, at), simd.load(d.free, at)
        outside = fixed_offsets(base, free, x) & simd.splat_like(base, ~control)
        overlapping = simd.bits(outside == (base - base)) & first_lanes(last - at)
        simd.store_compressed(d.base, end, overlapping, base)
        simd.store_compressed(d.free, end, overlapping, free)
        end += popcount(overlapping)
    return end


@block(always=True)
def _view_region(held, d, x, control, first, last):
    """Return the ``RegionView`` of node x, whose sender's list of subcubes is first .. last - 1."""
    end = _filter_subcubes(d, x, control, first, last)
    zero = simd.splat(ZERO)
    neighbours = zero
    for at in range(last, end, _8):
        free = simd.load(d.free, at)
        dims = neighbour_dims(fixed_offsets(simd.load(d.base, at), free, x), free)
        neighbours = neighbours | simd.select(simd.mask(dims, first_lanes(end - at)), dims, zero)
    closed = simd.union(neighbours) & control
    active = control & ~closed
    met = zero
    for at in range(last, end, _8):
        free = simd.load(d.free, at)
        _, into = copy_dims(fixed_offsets(simd.load(d.base, at), free, x), free, active)
        large = simd.bits(free != zero) & first_lanes(end - at)
        met = met | simd.select(simd.mask(into, large), into, zero)
    entered = simd.union(met)
    singles = np.int64(0)
    for at in range(last, end, _8):
        free = simd.load(d.free, at)
        high, _ = copy_dims(fixed_offsets(simd.load(d.base, at), free, x), free, active)
        copied = simd.bits((high & simd.splat(active & ~entered)) != zero)
        singles += popcount(copied & simd.bits(free == zero) & first_lanes(end - at))
    return RegionView(closed, entered, singles, last, end)


@block(always=True)
def _refused_dims(held, faults, x, bits):
    """Return the dimensions of ``bits`` in which a fault blocks node x."""
    out = ZERO
    while bits:
        bit = bits & (ZERO - bits)
        bits ^= bit
        if blocked(faults, x, bit):
            out |= bit
    return out


descend_listed = make_descend(_load_subcubes, _view_region, _refused_dims)
