"""Descents with any number of subcubes and faulty links: the subcubes that overlap a region are compacted into a list."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..draws.faults import blocked
from ..machine import simd
from ..machine.array_types import I64
from ..machine.bits import ZERO, first_lanes, popcount
from ..machine.jit import block
from .descent import RegionView, copy_dims, fixed_offsets, make_descend, neighbour_dims

_8 = np.int64(8)


class SubcubeCounts(NamedTuple):
    """Numbers of subcubes at the start of ``d.base`` and ``d.free``."""

    closed: I64
    large: I64  #: number of subcubes of one dimension or more


@block
def _load_subcubes(faults, d):
    closed = faults.size[3]
    large = np.int64(0)
    for at in range(0, closed, _8):
        base, free = simd.load(faults.base, at), simd.load(faults.free, at)
        simd.store(d.base, at, base)
        simd.store(d.free, at, free)
        large += popcount(simd.bits(free != (free - free)) & first_lanes(closed - at))
    return SubcubeCounts(closed, large)


@block(always=True)
def _filter_subcubes(d, x, control, lo, hi):
    """Copy the subcubes among lo .. hi - 1 that overlap the region of x to index hi on; return the end of the copies."""
    end = hi
    for at in range(lo, hi, _8):
        base, free = simd.load(d.base, at), simd.load(d.free, at)
        outside = fixed_offsets(base, free, x) & simd.splat_like(base, ~control)
        keep = simd.bits(outside == (base - base)) & first_lanes(hi - at)
        simd.store_compressed(d.base, end, keep, base)
        simd.store_compressed(d.free, end, keep, free)
        end += popcount(keep)
    return end


@block(always=True)
def _view_region(held, d, x, control, lo, hi):
    end = _filter_subcubes(d, x, control, lo, hi)
    zero = simd.splat(ZERO)
    beside = zero
    for at in range(hi, end, _8):
        free = simd.load(d.free, at)
        here = neighbour_dims(fixed_offsets(simd.load(d.base, at), free, x), free)
        beside = beside | simd.select(simd.mask(here, first_lanes(end - at)), here, zero)
    closed = simd.union(beside) & control
    active = control & ~closed
    met = zero
    for at in range(hi, end, _8):
        free = simd.load(d.free, at)
        _, into = copy_dims(fixed_offsets(simd.load(d.base, at), free, x), free, active)
        large = simd.bits(free != zero) & first_lanes(end - at)
        met = met | simd.select(simd.mask(into, large), into, zero)
    entered = simd.union(met)
    singles = np.int64(0)
    for at in range(hi, end, _8):
        free = simd.load(d.free, at)
        high, _ = copy_dims(fixed_offsets(simd.load(d.base, at), free, x), free, active)
        elsewhere = simd.bits((high & simd.splat(active & ~entered)) != zero)
        singles += popcount(elsewhere & simd.bits(free == zero) & first_lanes(end - at))
    return RegionView(closed, entered, singles, hi, end)


@block(always=True)
def _refused_dims(held, faults, x, bits):
    out = ZERO
    while bits:
        bit = bits & (ZERO - bits)
        bits ^= bit
        if blocked(faults, x, bit):
            out |= bit
    return out


descend_listed = make_descend(_load_subcubes, _view_region, _refused_dims)
