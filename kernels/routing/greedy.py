"""Route messages in lanes of eight bits, n <= 8, while ROUTE1(1) and ROUTE3(1) move them nearer to t at every link.

A message at ``curr`` is stored as ``curr ^ t``, and a fault x as ``x ^ t``.  Both have their bits reversed, so that the highest
dimension is the lowest set bit.  Fault x is a neighbour of ``curr`` if x ^ curr is a single bit.  With the free dimensions of a
subcube masked out, the same test finds the subcube's neighbours.  The value 0 means that ``curr`` is in the subcube; then its
neighbours over the free dimensions are too.  A message that cannot move nearer is left to ``fastcube.kernels.routing.scalar``,
which routes it again from its source.

Row 2 i of ``mirrored`` is fault i stored so, and row 2 i + 1 the free dimensions of its subcube, also with reversed bits
(``_load_fault``, ``_load_free_dims``).  A row is one vector with a trial in each lane.
"""

from __future__ import annotations

from typing import Any

from ..machine import simd
from ..machine.bits import ZERO
from ..machine.jit import block


@block(always=True)
def _store_reversed(cells, masks, mirrored, f, lanes):
    """Write the rows of ``mirrored`` from rows 2 i of ``cells``, the faults, and rows i of ``masks``, their free dimensions.

    Returns the messages at their sources.  Rows 2 f and 2 f + 2 of ``cells`` are s and t.
    """
    s = simd.load(cells, 2 * lanes * f)
    t = simd.load(cells, 2 * lanes * (f + 1))
    for i in range(f):
        simd.store(mirrored, 2 * i * lanes, simd.reverse(simd.load(cells, 2 * lanes * i) ^ t))
        simd.store(mirrored, (2 * i + 1) * lanes, simd.reverse(simd.load(masks, i * lanes)))
    return simd.reverse(s ^ t)


@block(always=True)
def _load_fault(mirrored, i, lanes):
    """Return fault i of each trial."""
    return simd.load(mirrored, 2 * i * lanes)


@block(always=True)
def _load_free_dims(mirrored, i, lanes):
    """Return the free dimensions of the subcube of fault i of each trial."""
    return simd.load(mirrored, (2 * i + 1) * lanes)


@block(always=True)
def _keep_single_bits(x, zero):
    """Return ``x`` with all lanes set to 0 that have no or several set bits."""
    return simd.select((x & (x - simd.splat_like(x, 1))) == zero, x, zero)


@block(always=True)
def _find_open_dims1(mirrored, difference, zero, f, lanes):
    """Return the reversed dimensions of which ROUTE1(1) takes the lowest: to nonfaulty nodes nearer to t."""
    faulty = zero
    for i in range(f):
        x = _load_fault(mirrored, i, lanes) ^ difference
        faulty = faulty | _keep_single_bits(x, zero)
    return difference & ~faulty


@block(always=True)
def _find_open_dims3(mirrored, difference, zero, f, lanes):
    """Return the reversed dimensions of which ROUTE3(1) takes the lowest, to nodes nearer to t.

    These nodes are the active ones, or the nonfaulty ones if none is active.
    """
    faulty = zero
    closed = zero
    for i in range(f):
        x = _load_fault(mirrored, i, lanes) ^ difference
        free = _load_free_dims(mirrored, i, lanes)
        faulty = faulty | _keep_single_bits(x, zero)
        outside = x & ~free
        neighbours = simd.select(outside == zero, free, _keep_single_bits(outside, zero))
        closed = closed | neighbours
    active = difference & ~closed
    return simd.select(active != zero, active, difference & ~faulty)


def _make_nearer_mover(find_open_dims: Any) -> Any:
    """Return the block ``move_nearer(mirrored, difference, f, lanes)``: a bit for each message that needs a detour to reach t.

    ``find_open_dims`` is ``_find_open_dims1`` or ``_find_open_dims3``.
    """

    @block
    def move_nearer(mirrored, difference, f, lanes):
        zero = difference - difference
        while True:
            dims = find_open_dims(mirrored, difference, zero, f, lanes)
            bit = dims & (zero - dims)
            if simd.bits(bit != zero) == 0:
                return simd.bits(difference != zero)
            difference = difference ^ bit

    return move_nearer


_move_by_route1, _move_by_route3 = _make_nearer_mover(_find_open_dims1), _make_nearer_mover(_find_open_dims3)


@block(always=True)
def _find_same_subcube(cells, masks, f, lanes):
    """Return the trials whose ends are in one subcube, as bits (``scalar.is_same_subcube``)."""
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
def route_lanes(work, by_route1, by_route3, lanes):
    """Route trials of the queue's first vector, which is closed: some by ROUTE1, some by ROUTE3.

    ``by_route1`` and ``by_route3`` are the trials to route, as bits.  Returns those of each kind that are left to scalar code,
    and the trials whose ends are in one subcube.  For k > 1 all trials of ROUTE1 are left.
    """
    cells, masks, mirrored, f = work.queue.cells, work.masks, work.mirrored, work.f
    difference = _store_reversed(cells, masks, mirrored, f, lanes)
    left1, left3 = by_route1, by_route3 & _move_by_route3(mirrored, difference, f, lanes)
    if work.trial.k == 1:
        left1 &= _move_by_route1(mirrored, difference, f, lanes)
    return left1, left3, _find_same_subcube(cells, masks, f, lanes)


@block(always=True)
def skip_routes(work, by_route1, by_route3, lanes):
    """Leave all trials to scalar code: replaces ``route_lanes`` in kernels with few messages to route.

    No trial is returned as one with both ends in one subcube.  Such a trial has unsafe nodes on ROUTE's path, so it is left to
    scalar code, or all nodes of Q_n are unsafe and the third result is not used.
    """
    return by_route1, by_route3, ZERO
