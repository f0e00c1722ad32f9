"""Route messages in lanes of eight bits, n <= 8, while ROUTE1(1) and ROUTE3(1) move them nearer to t at every link.

A message at ``curr`` is stored as ``curr ^ t``, and a fault x as ``x ^ t``.  Both have their bits reversed, so that the highest
dimension, which the rules try first, is the lowest set bit.  Fault x is a neighbour of ``curr`` if x ^ curr is a single bit.
With the free dimensions of a fault's subcube masked out, the same test finds the subcube's neighbours.  The value 0 means that
``curr`` is in the subcube; then its neighbours over the free dimensions are too.  A message that cannot move nearer is left to
``fastcube.kernels.routing.scalar``, which routes it again from its source.

The messages are the trials in the first vector of a queue (``draws.sieve``), one trial in each lane.  Labels 0 .. f - 1 are the
faults, labels f and f + 1 are s and t.  The subcubes are the closure of the faults (``cube.subcubes``): their nodes are the
faulty and unsafe ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..machine import simd
from ..machine.array_types import Cells
from ..machine.bits import ZERO
from ..machine.jit import block


class ReversedFaults(NamedTuple):
    """The faults seen from t, f rows of one vector each, which ``_reverse_faults`` fills."""

    offsets: Cells  #: row i: fault i xor t, with reversed bits
    free_dims: Cells  #: row i: the free dimensions of fault i's subcube, with reversed bits


@block(always=True)
def load_label(queue, i, lanes):
    """Return label ``i`` of the trials in the queue's first vector; a row of the queue holds two vectors."""
    return simd.load(queue.cells, 2 * lanes * i)


@block(always=True)
def _reverse_faults(queue, masks, faults, f, lanes):
    """Fill the ``ReversedFaults`` from the labels of the queue, and from the free dimensions ``masks`` of their subcubes.

    Returns the messages at their sources.
    """
    t = load_label(queue, f + 1, lanes)
    for i in range(f):
        simd.store(faults.offsets, i * lanes, simd.reverse(load_label(queue, i, lanes) ^ t))
        simd.store(faults.free_dims, i * lanes, simd.reverse(simd.load(masks, i * lanes)))
    return simd.reverse(load_label(queue, f, lanes) ^ t)


@block(always=True)
def _keep_single_bits(x, zero):
    """Return ``x`` with all lanes set to 0 that have no or several set bits."""
    return simd.select((x & (x - simd.splat_like(x, 1))) == zero, x, zero)


@block(always=True)
def _find_open_dims1(faults, message, zero, f, lanes):
    """Return the reversed dimensions of which ROUTE1(1) takes the lowest: to nonfaulty nodes nearer to t."""
    faulty = zero
    for i in range(f):
        x = simd.load(faults.offsets, i * lanes) ^ message
        faulty = faulty | _keep_single_bits(x, zero)
    return message & ~faulty


@block(always=True)
def _find_open_dims3(faults, message, zero, f, lanes):
    """Return the reversed dimensions of which ROUTE3(1) takes the lowest, to nodes nearer to t.

    These nodes are the active ones, or the nonfaulty ones if none is active.
    """
    faulty = zero
    closed = zero
    for i in range(f):
        x = simd.load(faults.offsets, i * lanes) ^ message
        free = simd.load(faults.free_dims, i * lanes)
        faulty = faulty | _keep_single_bits(x, zero)
        outside = x & ~free
        neighbours = simd.select(outside == zero, free, _keep_single_bits(outside, zero))
        closed = closed | neighbours
    active = message & ~closed
    return simd.select(active != zero, active, message & ~faulty)


def _make_nearer_mover(find_open_dims: Any) -> Any:
    """Return the block ``move_nearer(faults, message, f, lanes)``: a bit for each message that needs a detour to reach t.

    ``find_open_dims`` is ``_find_open_dims1`` or ``_find_open_dims3``.
    """

    @block
    def move_nearer(faults, message, f, lanes):
        zero = message - message
        while True:
            dims = find_open_dims(faults, message, zero, f, lanes)
            bit = dims & (zero - dims)
            if simd.bits(bit != zero) == 0:
                return simd.bits(message != zero)
            message = message ^ bit

    return move_nearer


_move_by_route1, _move_by_route3 = _make_nearer_mover(_find_open_dims1), _make_nearer_mover(_find_open_dims3)


@block(always=True)
def _find_same_subcube(queue, masks, f, lanes):
    """Return the trials whose ends are in one subcube, as bits (``scalar.is_same_subcube``)."""
    s, t = load_label(queue, f, lanes), load_label(queue, f + 1, lanes)
    zero = s - s
    found = simd.no_lane(s)
    for i in range(f):
        x = load_label(queue, i, lanes)
        outside = ((x ^ s) | (x ^ t)) & ~simd.load(masks, i * lanes)
        found = found | (outside == zero)
    return simd.bits(found)


@block
def route_lanes(work, by_route1, by_route3, lanes):
    """Route trials of the queue's first vector, whose subcubes in ``work.masks`` are closed: some by ROUTE1, some by ROUTE3.

    ``by_route1`` and ``by_route3`` are the trials to route, as bits.  Returns those of each kind that are left to scalar code,
    and the trials whose ends are in one subcube.  For k > 1 all trials of ROUTE1 are left.
    """
    queue, masks, faults, f = work.queue, work.masks, work.reversed_faults, work.f
    message = _reverse_faults(queue, masks, faults, f, lanes)
    left1, left3 = by_route1, by_route3 & _move_by_route3(faults, message, f, lanes)
    if work.trial.k == 1:
        left1 &= _move_by_route1(faults, message, f, lanes)
    return left1, left3, _find_same_subcube(queue, masks, f, lanes)


@block(always=True)
def skip_routes(work, by_route1, by_route3, lanes):
    """Leave all trials to scalar code: replaces ``route_lanes`` in kernels with few messages to route.

    No trial is returned as one with both ends in one subcube.  Such a trial has unsafe nodes on ROUTE's path, so it is left to
    scalar code, or all nodes of Q_n are unsafe and the third result is not used.
    """
    return by_route1, by_route3, ZERO
