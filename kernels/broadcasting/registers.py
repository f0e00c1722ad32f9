"""Descents among few subcubes, which stay in registers: of 16 lanes for n <= 32, of 8 above.

What meets a node's region meets its sender's, so nothing is kept from node to node but who waits: half the time of ``lists.py``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..machine import simd
from ..machine.bits import HALF, LOW32, ONE, first_lanes, popcount
from ..machine.jit import block
from .descent import Seen, copies_into, descending, neighbours_in, offsets

_NONE = np.int64(0)


class Held(NamedTuple):
    """A fault set: a subcube and a faulty node a lane."""

    base: Any  #: vector: a node of each subcube
    free: Any  #: vector: its free dimensions
    labels: Any  #: vector: the faulty nodes
    cubes: Any  #: bits: lanes with a subcube
    singles: Any  #: bits: lanes with a subcube of one node
    named: Any  #: bits: lanes with a faulty node
    closed: Any  #: int64: number of subcubes
    large: Any  #: int64: number of those of one dimension or more


@block(always=True)
def _held(base, free, labels, cubes, named):
    single = simd.bits(free == (free - free)) & cubes
    return Held(base, free, labels, cubes, single, named, popcount(cubes), popcount(cubes ^ single))


@block(always=True)
def _hold_64(faults, d):
    base, free, labels = simd.load(faults.base, 0), simd.load(faults.free, 0), simd.load(faults.labels, 0)
    return _held(base, free, labels, first_lanes(faults.size[3]), first_lanes(faults.size[0]))


@block(always=True)
def _narrow(words):
    """The low halves of 16 words in lanes of 32 bits: words 0, 8, 1, 9, ..., 7, 15."""
    return simd.as32(simd.low_halves(simd.load(words, 0), simd.load(words, 8)))


@block(always=True)
def _first_words(vector, count):
    """The lanes of :func:`_narrow` with the first ``count`` words, as bits."""
    lane = simd.iota(vector)
    one = simd.like(vector, ONE)
    word = (lane >> one) + ((lane & one) << simd.like(vector, 3))
    return simd.bits((word + one) <= simd.like(vector, count))


@block(always=True)
def _hold_32(faults, d):
    base = _narrow(faults.base)
    cubes, named = _first_words(base, faults.size[3]), _first_words(base, faults.size[0])
    return _held(base, _narrow(faults.free), _narrow(faults.labels), cubes, named)


def _among(hold: Any, width: int) -> Any:
    """The descent with lanes of ``width`` bits."""

    @block(always=True)
    def union(x):
        bits = simd.union(simd.as64(x))
        return (bits | bits >> HALF) & LOW32 if width == 32 else bits

    @block(always=True)
    def look(held, d, x, control, first, last):
        apart = offsets(held.base, held.free, x)
        zero = apart - apart
        meets = simd.bits((apart & simd.like(apart, ~control)) == zero) & held.cubes
        beside = simd.select(simd.mask(apart, meets), neighbours_in(apart, held.free), zero)
        closed = union(beside) & control
        active = control & ~closed
        high, into = copies_into(apart, held.free, active)
        met = union(simd.select(simd.mask(apart, meets & ~held.singles), into, zero))
        elsewhere = (high & simd.like(apart, active & ~met)) != zero
        return Seen(closed, met, popcount(simd.bits(elsewhere) & meets & held.singles), _NONE, _NONE)

    @block(always=True)
    def refused(held, faults, x, bits):
        apart = held.labels ^ simd.like(held.labels, x)
        zero = apart - apart
        return union(simd.select(simd.mask(apart, held.named), neighbours_in(apart, zero), zero))

    return descending(hold, look, refused)


#: For at most 16 faulty nodes and no faulty link in Q_n, n <= 32.
descend_16 = _among(_hold_32, 32)
#: For at most 8 faulty nodes and no faulty link.
descend_8 = _among(_hold_64, 64)
