"""Survival of the hypercube under few faulty nodes: the numbers of faults at distance two decide nearly all trials.

Let a component other than the largest have c nodes.  It has at least c n - c (c + 1) / 2 + 1 faulty neighbours if c <= n + 1
(Harper 1966), and no fewer than for n + 1 if c is larger, so the number of faults bounds c.  It has at most c log2(c) / 2 links,
so one of its nodes has at least K = n - floor(log2 c) faulty neighbours.  Any two of these are at distance two, so some fault has
K - 1 others at distance two.  Vector code makes the labels of trials distinct and counts such faults.  The few trials with one
are searched one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..draws.lanes import draw_four_vectors, lane_pattern, row_offset, valid_lanes
from ..machine import simd
from ..machine.bits import ONE, ZERO, highest, lowest, popcount
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel
from .lanes import count_surely_connected
from .scalar import read_point, set_up_survival, survival_trial


@block
def least_close_faults(n, f):
    """Return the least K - 1 (see above) for f <= (n + 1)(n - 2) / 2 faults; -1 if the hypercube must be connected."""
    least = np.int64(-1)
    for c in range(1, n + 2):
        if c * n - c * (c + 1) // 2 + 1 <= f:
            least = n - highest(np.uint64(c)) - 1
    return least


@block(always=True)
def _replace_repeats(labels, at, lanes, f, rows):
    """Replace repeated labels in each lane, one by each of the rows f .. ``rows`` - 1; return the lanes that still repeat one."""
    rest = ZERO
    for row in range(f, rows + 1):  # the last round only looks; what it inserts is not used
        first, following = simd.load(labels, at), simd.load(labels, at + row * lanes)
        found = simd.no_lane(first)  # lanes with a repeated label so far; a round replaces the first one
        for i in range(1, f):
            x = simd.load(labels, at + i * lanes)
            repeated = simd.no_lane(first)
            for j in range(i):
                repeated = repeated | (x == simd.load(labels, at + j * lanes))
            simd.store(labels, at + i * lanes, simd.select(repeated & ~found, following, x))
            found = found | repeated
        rest = simd.bits(found)
        if rest == ZERO:
            break
    return rest


@block(always=True)
def _close_fault_lanes(labels, at, counts, lanes, f, least):
    """Return the lanes in which some fault has at least ``least`` other faults at distance two, as bits."""
    first = simd.load(labels, at)
    zero = first ^ first
    one, two = simd.splat_like(first, ONE), simd.splat_like(first, np.uint64(2))
    simd.store(counts, 0, zero)
    for i in range(f & 1, f, 2):  # two rows with each earlier row, so that a load and a store serve two pairs
        x, y = simd.load(labels, at + i * lanes), simd.load(labels, at + (i + 1) * lanes)
        count_x = count_y = simd.select(simd.popcount(x ^ y) == two, one, zero)
        for j in range(i):
            z = simd.load(labels, at + j * lanes)
            count_z = simd.load(counts, j * lanes)
            close_x, close_y = simd.popcount(x ^ z) == two, simd.popcount(y ^ z) == two
            count_x = simd.select(close_x, count_x + one, count_x)
            count_y = simd.select(close_y, count_y + one, count_y)
            count_z = simd.select(close_x, count_z + one, count_z)
            simd.store(counts, j * lanes, simd.select(close_y, count_z + one, count_z))
        simd.store(counts, i * lanes, count_x)
        simd.store(counts, (i + 1) * lanes, count_y)
    most = zero
    for i in range(f):
        most = simd.maximum(most, simd.load(counts, i * lanes))
    return simd.bits(simd.splat_like(first, np.uint64(least)) <= most)


def _make_kernel(lanes: int, word: Any) -> Kernel:
    """Return the kernel with ``lanes`` trials per vector, whose labels have the type ``word``."""

    @kernel(TRIALS_SIGNATURE, variant=f"{lanes}")
    def sparse_survival(key, first, stop, params, tally):
        """Run trials at (hypercube, n, f, 0), f <= (n + 1)(n - 2) / 2."""
        point = read_point(params)
        n, f = point.n, np.int64(point.faults)
        least = least_close_faults(n, f)
        has_pair = (np.int64(1) << n) - f >= 2
        if least < 0:
            count_surely_connected(stop - first, has_pair, tally)
            return
        world = set_up_survival(params)
        rows = f + 2 + (8 * f * f >> n)  # with this number of rows hardly a trial is left with a repeated label
        words = np.zeros(4 * 8 * (rows + 1), np.uint64)
        labels = words.view(word)
        counts = np.empty(lanes * f, word)
        pattern = lane_pattern(n, lanes)
        surely_connected = np.int64(0)
        for start in range(first - first % (4 * lanes), stop, lanes):
            at = row_offset(start, lanes, rows)
            if at == 0:
                draw_four_vectors(key, np.uint64(start * 8 // lanes), rows, 1, pattern, words)
            valid = valid_lanes(start, 1, lanes, first, stop)
            searched = valid & (
                _replace_repeats(labels, at, lanes, f, rows) | _close_fault_lanes(labels, at, counts, lanes, f, least)
            )
            surely_connected += popcount(valid & ~searched)
            while searched:
                survival_trial(key, start + lowest(searched), params, world, tally)
                searched &= searched - ONE
        count_surely_connected(surely_connected, has_pair, tally)

    return sparse_survival


#: Kernels for 4 <= n <= 8 and 9 <= n <= 16, whose sequences have fields of 8 and 16 bits.
SURVIVAL_FEW_8 = _make_kernel(64, np.uint8)
SURVIVAL_FEW_16 = _make_kernel(32, np.uint16)
