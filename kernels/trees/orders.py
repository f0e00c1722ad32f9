"""FIND_TREE and TOP_DOWN on the list of dead links, n <= 16, 32 links per vector (Leu & Kuo; R3-R6 and R20).

A *dead link* is a faulty link or a link of a faulty node (``dead_links.py``).  Both algorithms find an order d_0, ..., d_{n-1} of
the dimensions.  Its tree sends data to a sink in stages: in stage i each node that agrees with the sink in d_0, ..., d_{i-1} but
not in d_i sends across d_i.

FIND_TREE chooses d_{n-1} first and d_0 last, each time the unused dimension j with the least COST(j).  Take labels relative to
the sink, with the bits of used dimensions cleared, and a dead link of an unused dimension k.  It counts for COST(j) if its lower
end is 2^j, and for COST(k) if its lower end is 0: it is in the tree if k is chosen.  Other links count for nothing.  So a trial
takes O(n D) time for D dead links instead of O(2^n), and links of used dimensions drop out of the list.

TOP_DOWN chooses d_0 first: the dimension that the fewest dead links of the present subcube cross, of several the one that leaves
the fewest in one half.  This half becomes the present subcube, and the last node is the sink.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine import bits, simd
from ..machine.array_types import Ints, Words16
from ..machine.bits import ZERO
from ..machine.jit import block, scratch
from .dead_links import LANE_COUNT

#: Lower end and dimension of padding: its dimension is no single bit, so that it counts for nothing.
_PADDING = np.uint16(0xFFFF)

#: Index into ``OrderWorkspace.cost`` of dimension 0 for links in the tree; for links outside the tree it is 0.
_IN_TREE = 16


class OrderWorkspace(NamedTuple):
    """Scratch memory of ``find_order`` and ``find_top_down_order``; of a call only ``order`` is left to read."""

    low: Words16  #: lower ends of the links that are left, padded to a whole vector
    bit: Words16  #: their dimensions, as single bits
    counted: Words16  #: index into ``cost`` of each link that counts in an iteration
    cost: Ints  #: (32): number of links that count for COST(j): at j outside the tree, at _IN_TREE + j in it
    order: Ints  #: (16): d_0, ..., d_{n-1}


@scratch
def order_workspace_for(dead):
    """Return scratch memory for lists of up to ``dead`` links."""
    size = dead + LANE_COUNT
    return OrderWorkspace(
        np.empty(size, np.uint16),
        np.empty(size, np.uint16),
        np.empty(size, np.uint16),
        np.empty(2 * _IN_TREE, np.int64),
        np.empty(16, np.int64),
    )


@block
def _pad_links(workspace, count):
    """Fill up the last vector with padding, which belongs to all dimensions."""
    for i in range(count, (count + LANE_COUNT - 1) // LANE_COUNT * LANE_COUNT):
        workspace.low[i] = _PADDING
        workspace.bit[i] = _PADDING


@block
def _list_counted_links(workspace, count, used):
    """List in ``counted`` the links that count in an iteration; return the number of links left, and of those listed.

    First the dimension ``used`` by the iteration before, a single bit or 0, is cleared in the lower ends, and its links are
    dropped.  ``count`` links must be listed and padded.  While ``used`` is 0, padding is kept as if it were left; the next
    iteration drops it.
    """
    zero = simd.splat_like(simd.load(workspace.low, 0), ZERO)
    one = simd.splat_like(zero, np.uint64(1))
    in_tree = simd.splat_like(zero, np.uint64(_IN_TREE))
    used_bit = simd.splat_like(zero, used)
    left = np.int64(0)
    listed = np.int64(0)
    for start in range(0, count, LANE_COUNT):
        bit = simd.load(workspace.bit, start)
        low = simd.load(workspace.low, start) & ~used_bit
        is_left = (bit & used_bit) == zero
        is_zero = low == zero
        target = simd.select(is_zero, bit, low)  # counts for COST(j) if it is 2^j; padding is no single bit
        counts = simd.bits(is_left & (simd.popcount(target) == one))
        j = simd.popcount(target - one)
        simd.store_compressed(workspace.counted, listed, counts, simd.select(is_zero, j + in_tree, j))
        listed += bits.popcount(counts)
        kept = simd.bits(is_left)
        simd.store_compressed(workspace.low, left, kept, low)
        simd.store_compressed(workspace.bit, left, kept, bit)
        left += bits.popcount(kept)
    return left, listed


@block
def find_order(n, sink, low, bit, count, workspace):
    """Write FIND_TREE's order for a sink to ``workspace.order``; return the number of dead links of the tree.

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
    unused = (np.int64(1) << n) - 1
    used = ZERO
    tree_faults = np.int64(0)
    for i in range(n - 1, 0, -1):
        _pad_links(workspace, count)
        for j in range(2 * _IN_TREE):
            workspace.cost[j] = 0
        count, listed = _list_counted_links(workspace, count, used)
        for e in range(listed):
            workspace.cost[workspace.counted[e]] += 1
        best = np.int64(-1)
        least = np.int64(0)
        for j in range(n):
            cost = workspace.cost[j] + workspace.cost[_IN_TREE + j]
            if unused >> j & 1 and (best < 0 or cost < least):
                best = np.int64(j)
                least = cost
        workspace.order[i] = best
        tree_faults += workspace.cost[_IN_TREE + best]
        used = np.uint64(1) << np.uint64(best)
        unused ^= np.int64(1) << best
    workspace.order[0] = bits.lowest(np.uint64(unused))
    for i in range(count):  # all links of d_0 are in the tree
        tree_faults += workspace.bit[i] == np.uint16(unused)
    return tree_faults


@block
def find_top_down_order(n, low, bit, count, workspace):
    """Write TOP_DOWN's order to ``workspace.order``; return its sink, and the number of dead links of its tree.

    Parameters are as of ``find_order``.
    """
    for i in range(count):
        workspace.low[i] = low[i]
        workspace.bit[i] = bit[i]
    unused = (np.int64(1) << n) - 1
    zero = simd.splat_like(simd.load(workspace.low, 0), ZERO)
    sink = np.int64(0)
    tree_faults = np.int64(0)
    for i in range(n):
        _pad_links(workspace, count)
        best = np.int64(-1)
        fewest_crossing = np.int64(0)
        fewest_kept = np.int64(0)
        is_upper = False
        for j in range(n):
            if not unused >> j & 1:
                continue
            mask = simd.splat_like(zero, np.uint64(1 << j))
            crossing = np.int64(0)
            upper = np.int64(0)
            for start in range(0, count, LANE_COUNT):
                crossing += bits.popcount(simd.bits(simd.load(workspace.bit, start) == mask))
                upper += bits.popcount(simd.bits((simd.load(workspace.low, start) & mask) != zero))
            upper -= -count % LANE_COUNT  # the padding has all bits set
            lower = count - crossing - upper
            kept = min(upper, lower)
            if best < 0 or crossing < fewest_crossing or (crossing == fewest_crossing and kept < fewest_kept):
                best = np.int64(j)
                fewest_crossing = crossing
                fewest_kept = kept
                is_upper = upper < lower
        workspace.order[i] = best
        tree_faults += fewest_crossing
        sink |= np.int64(is_upper) << best
        unused ^= np.int64(1) << best
        count = _drop_other_half(workspace, count, np.uint64(1 << best), is_upper)
    return sink, tree_faults


@block
def _drop_other_half(workspace, count, dimension, is_upper):
    """Keep the links inside one half of the subcube, the upper one if ``is_upper``; return the number left.

    ``dimension`` is a single bit, across which the two halves lie.
    """
    zero = simd.splat_like(simd.load(workspace.low, 0), ZERO)
    mask = simd.splat_like(zero, dimension)
    padding = simd.splat_like(zero, np.uint64(_PADDING))
    side = mask if is_upper else zero
    left = np.int64(0)
    for start in range(0, count, LANE_COUNT):
        low = simd.load(workspace.low, start)
        bit = simd.load(workspace.bit, start)
        keep = simd.bits((bit != mask) & ((low & mask) == side) & (bit != padding))
        simd.store_compressed(workspace.low, left, keep, low)
        simd.store_compressed(workspace.bit, left, keep, bit)
        left += bits.popcount(keep)
    return left
