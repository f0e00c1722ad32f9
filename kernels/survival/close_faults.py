"""Survival of the hypercube under few faulty nodes: the numbers of close faults decide nearly all trials.

Two faults are *close* here if their distance is two.  A trial is connected, without a search, if every fault has fewer than
``close_faults_bound(n, f)`` close faults.  Vector code makes the labels of trials distinct and counts close faults, and the few
trials that it does not decide are searched one by one.

Reason for the bound: let a component other than the largest have c nodes.  It has at least c n - c (c + 1) / 2 + 1 faulty
neighbours if c <= n + 1 (Harper 1966), and no fewer than for n + 1 if c is larger, so the number of faults bounds c.  It has at
most c log2(c) / 2 links, so one of its nodes has at least K = n - floor(log2 c) faulty neighbours.  Any two neighbours of a node
are close, so each of these faults has K - 1 close ones.
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
def close_faults_bound(n, f):
    """Return K - 1 for the largest possible c (see above): a disconnected hypercube has a fault with so many close ones.

    f is at most (n + 1)(n - 2) / 2.  -1 if f faults cannot disconnect the hypercube.
    """
    bound = np.int64(-1)
    for c in range(1, n + 2):
        if c * n - c * (c + 1) // 2 + 1 <= f:
            bound = n - highest(np.uint64(c)) - 1  # highest bit: floor(log2 c)
    return bound


@block(always=True)
def _replace_repeats(labels, at, lanes, f, sampled):
    """Make the first f labels distinct in each lane; return the lanes in which one is still repeated, as bits.

    Row i of a vector of trials, from index ``at`` on, holds label i of each trial's sequence, for i < ``sampled``.  Each round
    replaces the first repeated label of a lane by the next label of its sequence, as the sampling scheme wants.
    """
    repeating = ZERO
    for row in range(f, sampled + 1):  # the last round only looks; what it inserts is not used
        first, following = simd.load(labels, at), simd.load(labels, at + row * lanes)
        found = simd.no_lane(first)  # lanes with a repeated label so far in this round
        for i in range(1, f):
            x = simd.load(labels, at + i * lanes)
            repeated = simd.no_lane(first)
            for j in range(i):
                repeated = repeated | (x == simd.load(labels, at + j * lanes))
            simd.store(labels, at + i * lanes, simd.select(repeated & ~found, following, x))
            found = found | repeated
        repeating = simd.bits(found)
        if repeating == ZERO:
            break
    return repeating


@block(always=True)
def _close_fault_lanes(labels, at, counts, lanes, f, bound):
    """Return the lanes in which some fault has at least ``bound`` close faults, as bits; row i of ``counts`` is of fault i."""
    first = simd.load(labels, at)
    zero = first ^ first
    one, two = simd.splat_like(first, ONE), simd.splat_like(first, np.uint64(2))
    simd.store(counts, 0, zero)
    # Two rows are compared with each earlier row, so that a load and a store serve two pairs.  If f is odd, row 0 has no partner.
    for i in range(f & 1, f, 2):
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
    return simd.bits(simd.splat_like(first, np.uint64(bound)) <= most)


def _make_kernel(lanes: int, word: Any) -> Kernel:
    """Return the kernel with ``lanes`` trials per vector, whose labels have the type ``word``.

    Labels are sampled for four vectors at a time, a group.
    """

    @kernel(TRIALS_SIGNATURE, variant=f"{lanes}")
    def survival_by_close_faults(key, first, stop, params, tally):
        """Run trials at (hypercube, n, f, 0), f <= (n + 1)(n - 2) / 2."""
        point = read_point(params)
        n, f = point.n, np.int64(point.faults)
        bound = close_faults_bound(n, f)
        has_pair = (np.int64(1) << n) - f >= 2
        if bound < 0:
            count_surely_connected(stop - first, has_pair, tally)
            return
        searches = set_up_survival(params)
        sampled = f + 2 + (8 * f * f >> n)  # labels per trial: hardly a trial is left with a repeated one
        words = np.zeros(4 * 8 * (sampled + 1), np.uint64)  # four vectors of 8 words for each row, and one row to spare
        labels = words.view(word)
        counts = np.empty(lanes * f, word)
        pattern = lane_pattern(n, lanes)
        surely_connected = np.int64(0)
        for start in range(first - first % (4 * lanes), stop, lanes):
            at = row_offset(start, lanes, sampled)
            if at == 0:  # the first vector of a group
                draw_four_vectors(key, np.uint64(start * 8 // lanes), sampled, 1, pattern, words)
            valid = valid_lanes(start, 1, lanes, first, stop)
            searched = valid & (
                _replace_repeats(labels, at, lanes, f, sampled)
                | _close_fault_lanes(labels, at, counts, lanes, f, bound)
            )
            surely_connected += popcount(valid & ~searched)
            while searched:
                survival_trial(key, start + lowest(searched), params, searches, tally)
                searched &= searched - ONE
        count_surely_connected(surely_connected, has_pair, tally)

    return survival_by_close_faults


#: Kernels for 4 <= n <= 8 and 9 <= n <= 16, whose sequences have fields of 8 and 16 bits.
SURVIVAL_CLOSE_FAULTS_8 = _make_kernel(64, np.uint8)
SURVIVAL_CLOSE_FAULTS_16 = _make_kernel(32, np.uint16)
