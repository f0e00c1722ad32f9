"""Descents with few subcubes, which stay in vector registers: 16 lanes for n <= 32, 8 lanes above.

Every subcube is tested at every node, so no lists are stored: half the time of ``subcube_lists.py``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..draws.faults import FAULTY_NODES, SUBCUBES
from ..machine import simd
from ..machine.array_types import I64, U64, Vector
from ..machine.bits import HALF_WORD_BITS, LOW32, ONE, first_lanes, popcount
from ..machine.jit import block
from .descent import RegionView, copy_dims, fixed_offsets, make_descend, neighbour_dims

#: Index of a list in the views of descents that have no lists.
_NO_LIST = np.int64(0)


class FaultRegisters(NamedTuple):
    """A fault set.  Each lane holds one subcube and one faulty node."""

    base: Vector  #: a node of each subcube
    free: Vector  #: its free dimensions
    labels: Vector  #: the faulty nodes
    has_subcube: U64  #: lanes with a subcube, as bits
    has_single: U64  #: lanes with a subcube of one node
    has_label: U64  #: lanes with a faulty node
    subcube_count: I64  #: number of subcubes
    large_count: I64  #: number of subcubes of one dimension or more


@block(always=True)
def _make_registers(base, free, labels, has_subcube, has_label):
    has_single = simd.bits(free == (free - free)) & has_subcube
    count, large_count = popcount(has_subcube), popcount(has_subcube ^ has_single)
    return FaultRegisters(base, free, labels, has_subcube, has_single, has_label, count, large_count)


@block(always=True)
def _load_registers_64(faults, _descent):
    """Return the registers of at most eight subcubes and faulty nodes, in lanes of 64 bits."""
    base, free, labels = simd.load(faults.base, 0), simd.load(faults.free, 0), simd.load(faults.labels, 0)
    has_subcube, has_label = first_lanes(faults.size[SUBCUBES]), first_lanes(faults.size[FAULTY_NODES])
    return _make_registers(base, free, labels, has_subcube, has_label)


@block(always=True)
def _load_low_halves(words):
    """Return the low halves of 16 words in lanes of 32 bits, in the order of words 0, 8, 1, 9, ..., 7, 15."""
    return simd.as32(simd.low_halves(simd.load(words, 0), simd.load(words, 8)))


@block(always=True)
def _first_word_lanes(vector, count):
    """Return the lanes of ``_load_low_halves`` that hold the first ``count`` words, as bits."""
    lane = simd.iota(vector)
    one = simd.splat_like(vector, ONE)
    word = (lane >> one) + ((lane & one) << simd.splat_like(vector, 3))
    return simd.bits((word + one) <= simd.splat_like(vector, count))


@block(always=True)
def _load_registers_32(faults, _descent):
    """Return the registers of at most sixteen subcubes and faulty nodes with labels below 2^32, in lanes of 32 bits."""
    base = _load_low_halves(faults.base)
    has_subcube = _first_word_lanes(base, faults.size[SUBCUBES])
    has_label = _first_word_lanes(base, faults.size[FAULTY_NODES])
    return _make_registers(base, _load_low_halves(faults.free), _load_low_halves(faults.labels), has_subcube, has_label)


def _make_register_descend(load_registers: Any, width: int) -> Any:
    """Return the block of ``make_descend`` for fault sets that ``load_registers`` loads, in lanes of ``width`` bits."""

    @block(always=True)
    def union_bits(x):
        """Return the bits that are set in any lane."""
        bits = simd.union(simd.as64(x))
        return (bits | bits >> HALF_WORD_BITS) & LOW32 if width == 32 else bits

    @block(always=True)
    def view_region(registers, _descent, x, control, _first, _last):
        difference = fixed_offsets(registers.base, registers.free, x)
        zero = difference - difference
        overlapping = simd.bits((difference & simd.splat_like(difference, ~control)) == zero) & registers.has_subcube
        neighbours = simd.select(simd.mask(difference, overlapping), neighbour_dims(difference, registers.free), zero)
        closed_dims = union_bits(neighbours) & control
        active = control & ~closed_dims
        high, dims = copy_dims(difference, registers.free, active)
        large = overlapping & ~registers.has_single
        entered_dims = union_bits(simd.select(simd.mask(difference, large), dims, zero))
        covered = simd.bits((high & simd.splat_like(difference, active & ~entered_dims)) != zero)
        covered_faults = popcount(covered & overlapping & registers.has_single)
        return RegionView(closed_dims, entered_dims, covered_faults, _NO_LIST, _NO_LIST)

    @block(always=True)
    def find_refused(registers, _faults, x, _dims):
        """Return all dimensions in which node x has a faulty neighbour; no link is faulty."""
        difference = registers.labels ^ simd.splat_like(registers.labels, x)
        zero = difference - difference
        return union_bits(
            simd.select(simd.mask(difference, registers.has_label), neighbour_dims(difference, zero), zero)
        )

    return make_descend(load_registers, view_region, find_refused)


#: For at most 16 faulty nodes and no faulty link in Q_n, n <= 32.
descend_16 = _make_register_descend(_load_registers_32, 32)
#: For at most 8 faulty nodes and no faulty link.
descend_8 = _make_register_descend(_load_registers_64, 64)
