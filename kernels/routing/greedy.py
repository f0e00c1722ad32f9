"""Messages walked in lanes of eight bits, n <= 8, as far as ROUTE1(1) and ROUTE3(1) take them nearer at every link.

A message at ``curr`` is held as ``curr ^ t``, and a fault x as ``x ^ t``, both with their bits reversed, so that the highest
dimension is the lowest set bit.  Fault x is a neighbour of ``curr`` over the dimension x ^ curr when that is a single
bit; with the free dimensions of its subcube masked out the same finds the subcube's neighbours, and 0 tells that
``curr`` is in the subcube, whose nodes are its neighbours over the free dimensions.  A message that no rule takes nearer stays
where it is, and is left to :mod:`fastcube.kernels.routing.scalar`.
"""

from __future__ import annotations

from typing import Any

from ..machine import simd
from ..machine.jit import block


@block(always=True)
def _store_reversed(cells, masks, turned, f, lanes):
    """Write faults, as seen from t, and their free dimensions with reversed bits; returns the messages at their sources."""
    s = simd.load(cells, 2 * lanes * f)
    t = simd.load(cells, 2 * lanes * (f + 1))
    for i in range(f):
        simd.store(turned, 2 * i * lanes, simd.reverse(simd.load(cells, 2 * lanes * i) ^ t))
        simd.store(turned, (2 * i + 1) * lanes, simd.reverse(simd.load(masks, i * lanes)))
    return simd.reverse(s ^ t)


@block(always=True)
def _single_bits(x, zero):
    """The lanes with one bit, 0 elsewhere."""
    return simd.select((x & (x - simd.splat_like(x, 1))) == zero, x, zero)


@block(always=True)
def _open_dims1(turned, apart, zero, f, lanes):
    """Dimensions from which ROUTE1(1) takes the lowest."""
    faulty = zero
    for i in range(f):
        x = simd.load(turned, 2 * i * lanes) ^ apart
        faulty = faulty | _single_bits(x, zero)
    return apart & ~faulty


@block(always=True)
def _open_dims3(turned, apart, zero, f, lanes):
    """Dimensions from which ROUTE3(1) takes the lowest, where Q_n is not unsafe: to active nodes, or to nonfaulty ones."""
    faulty = zero
    closed = zero
    for i in range(f):
        x = simd.load(turned, 2 * i * lanes) ^ apart
        free = simd.load(turned, (2 * i + 1) * lanes)
        faulty = faulty | _single_bits(x, zero)
        x = x & ~free
        beside = simd.select(x == zero, free, _single_bits(x, zero))
        closed = closed | beside
    active = apart & ~closed
    return simd.select(active != zero, active, apart & ~faulty)


def _make_walk(open_: Any) -> Any:
    """The block ``walk(turned, apart, f, lanes)``: messages not taken to t over nearer nodes alone, as bits."""

    @block
    def walk_nearer(turned, apart, f, lanes):
        zero = apart - apart
        while True:
            dims = open_(turned, apart, zero, f, lanes)
            bit = dims & (zero - dims)
            if simd.bits(bit != zero) == 0:
                return simd.bits(apart != zero)
            apart = apart ^ bit

    return walk_nearer


_walk1, _walk3 = _make_walk(_open_dims1), _make_walk(_open_dims3)


@block(always=True)
def _same_subcube_lanes(cells, masks, f, lanes):
    """Trials whose ends are in one subcube, as bits (``scalar.is_same_subcube``)."""
    s = simd.load(cells, 2 * lanes * f)
    t = simd.load(cells, 2 * lanes * (f + 1))
    zero = s - s
    found = simd.no_lane(s)
    for i in range(f):
        x = simd.load(cells, 2 * lanes * i)
        outside = ((x ^ s) | (x ^ t)) & ~simd.load(masks, i * lanes)
        found = found | (outside == zero)
    return simd.bits(found)


@block
def walk_lanes(work, lost, met, lanes):
    """Of the trials ``lost``, in which ROUTE1 is to be walked, and ``met``, in which ROUTE3 is, those left over; and
    those whose ends are in one subcube.

    They are the queue's first vector, closed.
    """
    cells, masks, turned, f = work.queue.cells, work.masks, work.turned, work.f
    apart = _store_reversed(cells, masks, turned, f, lanes)
    if work.trial.k == 1:
        lost &= _walk1(turned, apart, f, lanes)
    met &= _walk3(turned, apart, f, lanes)
    return lost, met, _same_subcube_lanes(cells, masks, f, lanes)


@block(always=True)
def skip_walks(work, lost, met, lanes):
    """In place of :func:`walk_lanes` where few are to be walked."""
    return lost, met, lost & ~lost
