"""FIND_TREE and TOP_DOWN on the list of dead links, n <= 16, 32 links per vector (Leu & Kuo; R3-R6 and R20).

Take labels relative to the sink, with the bits of used dimensions cleared.  A dead link of an unused dimension k counts for
COST(j) if its lower end is 2^j, and for COST(k) if its lower end is 0: it is in the tree if k is chosen.  Other links count for
nothing.  So a trial takes O(n D) time for D dead links instead of O(2^n), and links of used dimensions drop out of the list.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine import bits, simd
from ..machine.array_types import Ints, Words16
from ..machine.bits import ZERO
from ..machine.jit import block, scratch
from .dead_links import LANE_COUNT

_NONE = np.uint16(0xFFFF)


class OrderWorkspace(NamedTuple):
    """Scratch memory of ``find_order`` and ``find_top_down_order``."""

    low: Words16  #: lower ends of the links that still count
    bit: Words16  #: their dimensions, as single bits
    hits: Words16  #: dimension to whose COST each of these links contributes
    cost: Ints  #: 32 entries: COST by dimension, of links outside the tree and, from index 16 on, inside
    order: Ints  #: d_0, ..., d_{n-1}


@scratch
def order_workspace_for(dead):
    """Return scratch memory for lists of up to ``dead`` links."""
    size = dead + LANE_COUNT
    return OrderWorkspace(
        np.empty(size, np.uint16),
        np.empty(size, np.uint16),
        np.empty(size, np.uint16),
        np.empty(32, np.int64),
        np.empty(16, np.int64),
    )


@block
def _pad_links(workspace, count):
    """Fill up the last vector with links of all dimensions, which are in no subcube."""
    for i in range(count, (count + LANE_COUNT - 1) // LANE_COUNT * LANE_COUNT):
        workspace.low[i] = _NONE
        workspace.bit[i] = _NONE


@block
def _count_hits(workspace, count, used):
    """Find the contributions to COST of one iteration; remove dimension ``used`` (a bit) and its links.

    The bit is cleared in all remaining links.  Returns the number of links left and of contributions.
    """
    zero = simd.splat_like(simd.load(workspace.low, 0), ZERO)
    one = simd.splat_like(zero, np.uint64(1))
    inside = simd.splat_like(zero, np.uint64(16))
    mask = simd.splat_like(zero, used)
    left = np.int64(0)
    hits = np.int64(0)
    for at in range(0, count, LANE_COUNT):
        bit = simd.load(workspace.bit, at)
        low = simd.load(workspace.low, at) & ~mask
        alive = (bit & mask) == zero
        at_sink = low == zero
        target = simd.select(at_sink, bit, low)
        hit = simd.bits(alive & (simd.popcount(target) == one))
        place = simd.popcount(target - one)
        place = simd.select(at_sink, place + inside, place)
        simd.store_compressed(workspace.hits, hits, hit, place)
        hits += bits.popcount(hit)
        kept = simd.bits(alive)
        simd.store_compressed(workspace.low, left, kept, low)
        simd.store_compressed(workspace.bit, left, kept, bit)
        left += bits.popcount(kept)
    return left, hits


@block
def find_order(n, sink, low, bit, count, workspace):
    """Write FIND_TREE's order for a sink to ``workspace.order``, overwriting it; return the number of faulty links of the tree.

    Parameters
    ----------
    n, sink : int64
        1 <= n <= 16; a label.
    low, bit : uint16 arrays
        The dead links.
    count : int64
        Number of dead links.
    workspace : OrderWorkspace
        From ``order_workspace_for`` with at least ``count``.
    """
    for i in range(count):
        workspace.low[i] = (low[i] ^ np.uint16(sink)) & ~bit[i]
        workspace.bit[i] = bit[i]
    rest = (np.int64(1) << n) - 1
    used = ZERO
    faults = np.int64(0)
    for i in range(n - 1, 0, -1):
        _pad_links(workspace, count)
        for j in range(32):
            workspace.cost[j] = 0
        count, hits = _count_hits(workspace, count, used)
        for h in range(hits):
            workspace.cost[workspace.hits[h]] += 1
        best = np.int64(-1)
        least = np.int64(0)
        for j in range(n):
            cost = workspace.cost[j] + workspace.cost[j + 16]
            if rest >> j & 1 and (best < 0 or cost < least):
                best = np.int64(j)
                least = cost
        workspace.order[i] = best
        faults += workspace.cost[best + 16]
        used = np.uint64(1) << np.uint64(best)
        rest ^= np.int64(1) << best
    workspace.order[0] = bits.lowest(np.uint64(rest))
    for i in range(count):  # each link of the last dimension that is still listed is in the tree
        faults += workspace.bit[i] == np.uint16(rest)
    return faults


@block
def find_top_down_order(n, low, bit, count, workspace):
    """Write the order of TOP_DOWN's tree to ``workspace.order``; return its sink and faulty links. See ``find_order``."""
    for i in range(count):
        workspace.low[i] = low[i]
        workspace.bit[i] = bit[i]
    rest = (np.int64(1) << n) - 1
    zero = simd.splat_like(simd.load(workspace.low, 0), ZERO)
    sink = np.int64(0)
    faults = np.int64(0)
    for i in range(n):
        _pad_links(workspace, count)
        best = np.int64(-1)
        least = np.int64(0)
        fewest = np.int64(0)
        upper_half = False
        for j in range(n):
            if not rest >> j & 1:
                continue
            mask = simd.splat_like(zero, np.uint64(1 << j))
            crossing = np.int64(0)
            upper = np.int64(0)
            for at in range(0, count, LANE_COUNT):
                crossing += bits.popcount(simd.bits(simd.load(workspace.bit, at) == mask))
                upper += bits.popcount(simd.bits((simd.load(workspace.low, at) & mask) != zero))
            upper -= -count % LANE_COUNT  # without the padding
            lower = count - crossing - upper
            kept = min(upper, lower)
            if best < 0 or crossing < least or (crossing == least and kept < fewest):
                best = np.int64(j)
                least = crossing
                fewest = kept
                upper_half = upper < lower
        workspace.order[i] = best
        faults += least
        sink |= np.int64(upper_half) << best
        rest ^= np.int64(1) << best
        count = _drop_other_half(workspace, count, np.uint64(1 << best), upper_half)
    return sink, faults


@block
def _drop_other_half(workspace, count, dimension, upper):
    """Drop the links that cross a dimension (a bit) or are in its other half; return the number left."""
    zero = simd.splat_like(simd.load(workspace.low, 0), ZERO)
    mask = simd.splat_like(zero, dimension)
    whole = simd.splat_like(zero, np.uint64(0xFFFF))
    side = mask if upper else zero
    left = np.int64(0)
    for at in range(0, count, LANE_COUNT):
        low = simd.load(workspace.low, at)
        bit = simd.load(workspace.bit, at)
        keep = simd.bits((bit != mask) & ((low & mask) == side) & (bit != whole))
        simd.store_compressed(workspace.low, left, keep, low)
        simd.store_compressed(workspace.bit, left, keep, bit)
        left += bits.popcount(keep)
    return left
