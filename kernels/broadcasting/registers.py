"""Descents with few subcubes, which stay in vector registers: 16 lanes for n <= 32, 8 lanes above.

Every subcube is tested at every node, so no lists are stored: half the time of ``lists.py``.
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
    cubes: U64  #: lanes with a subcube
    singles: U64  #: lanes with a subcube of one node
    named: U64  #: lanes with a faulty node
    closed: I64  #: number of subcubes
    large: I64  #: number of subcubes of one dimension or more


@block(always=True)
def _make_registers(base, free, labels, cubes, named):
    single = simd.bits(free == (free - free)) & cubes
    return FaultRegisters(base, free, labels, cubes, single, named, popcount(cubes), popcount(cubes ^ single))


@block(always=True)
def _load_registers_64(faults, d):
    """Return the registers of at most eight subcubes and faulty nodes, in lanes of 64 bits."""
    base, free, labels = simd.load(faults.base, 0), simd.load(faults.free, 0), simd.load(faults.labels, 0)
    cubes, named = first_lanes(faults.size[SUBCUBES]), first_lanes(faults.size[FAULTY_NODES])
    return _make_registers(base, free, labels, cubes, named)


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
def _load_registers_32(faults, d):
    """Return the registers of at most sixteen subcubes and faulty nodes with labels below 2^32, in lanes of 32 bits."""
    base = _load_low_halves(faults.base)
    cubes, named = _first_word_lanes(base, faults.size[SUBCUBES]), _first_word_lanes(base, faults.size[FAULTY_NODES])
    return _make_registers(base, _load_low_halves(faults.free), _load_low_halves(faults.labels), cubes, named)


def _make_register_descend(hold: Any, width: int) -> Any:
    """Return the block of ``make_descend`` for fault sets that ``hold`` loads into registers with lanes of ``width`` bits."""

    @block(always=True)
    def union_bits(x):
        """Return the bits that are set in any lane."""
        bits = simd.union(simd.as64(x))
        return (bits | bits >> HALF_WORD_BITS) & LOW32 if width == 32 else bits

    @block(always=True)
    def view_region(held, d, x, control, first, last):
        difference = fixed_offsets(held.base, held.free, x)
        zero = difference - difference
        meets = simd.bits((difference & simd.splat_like(difference, ~control)) == zero) & held.cubes
        beside = simd.select(simd.mask(difference, meets), neighbour_dims(difference, held.free), zero)
        closed = union_bits(beside) & control
        active = control & ~closed
        high, into = copy_dims(difference, held.free, active)
        met = union_bits(simd.select(simd.mask(difference, meets & ~held.singles), into, zero))
        elsewhere = (high & simd.splat_like(difference, active & ~met)) != zero
        return RegionView(closed, met, popcount(simd.bits(elsewhere) & meets & held.singles), _NO_LIST, _NO_LIST)

    @block(always=True)
    def refused_dims(held, faults, x, bits):
        """Return all dimensions in which node x has a faulty neighbour, in ``bits`` or not; no link is faulty."""
        difference = held.labels ^ simd.splat_like(held.labels, x)
        zero = difference - difference
        return union_bits(simd.select(simd.mask(difference, held.named), neighbour_dims(difference, zero), zero))

    return make_descend(hold, view_region, refused_dims)


#: For at most 16 faulty nodes and no faulty link in Q_n, n <= 32.
descend_16 = _make_register_descend(_load_registers_32, 32)
#: For at most 8 faulty nodes and no faulty link.
descend_8 = _make_register_descend(_load_registers_64, 64)
