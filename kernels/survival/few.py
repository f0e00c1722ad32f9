"""Few faulty nodes in the hypercube: nearly all trials are decided by how many faults lie at distance two of each other.

A part other than the largest has at most c nodes, and then at least c n - c (c + 1) / 2 + 1 faulty neighbours (Harper 1966;
c <= n + 1), which bounds c by the number of faults.  c nodes have at most c log2(c) / 2 links among them, so that one of them
has at least K = n - floor(log2 c) faulty neighbours, any two of which are at distance two: some fault has K - 1 others there.
Lanes of trials count those; a trial that repeats a label is made distinct and waits until a vector of such is full; the few
trials that have such a fault are searched one by one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..draws.lanes import draw_rows, lane_pattern, valid_lanes
from ..draws.nodes import node_label
from ..machine import simd
from ..machine.bits import ONE, ZERO, highest, lowest, popcount
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel
from .lanes import count_sure
from .single import survival_trial, survival_world


class Wait(NamedTuple):
    """Trials made distinct that wait to be counted."""

    labels: Any  #: unsigned, a row a place
    trials: Any  #: int64
    seen: Any  #: uint64: a bitmask of nodes


@block
def least_near(n, f):
    """K - 1, for f <= (n + 1)(n - 2) / 2; -1 where no part but the largest can be."""
    least = np.int64(-1)
    for c in range(1, n + 2):
        if c * n - c * (c + 1) // 2 + 1 <= f:
            least = n - highest(np.uint64(c)) - 1
    return least


@block(always=True)
def _near(labels, counts, lanes, f, least):
    """Lanes in which some fault has ``least`` others at distance two, and lanes that repeat a label; as bits."""
    first = simd.load(labels, 0)
    zero = simd.xor(first, first)
    one, two = simd.like(first, ONE), simd.like(first, np.uint64(2))
    wanted = simd.like(first, np.uint64(least))
    closest = simd.like(first, np.uint64(255))
    for i in range(f):
        simd.store(counts, i * lanes, zero)
    found = simd.less_equal(one, zero)
    for i in range(f):
        x = simd.load(labels, i * lanes)
        own = simd.load(counts, i * lanes)
        for j in range(i + 1, f):
            apart = simd.popcount(simd.xor(x, simd.load(labels, j * lanes)))
            closest = simd.minimum(closest, apart)
            near = simd.equal(apart, two)
            other = simd.load(counts, j * lanes)
            own = simd.select(near, simd.add(own, one), own)
            simd.store(counts, j * lanes, simd.select(near, simd.add(other, one), other))
        found = simd.mask_or(found, simd.less_equal(wanted, own))
    return simd.bits(found), simd.bits(simd.equal(closest, zero))


@block
def _distinct(key, t, n, f, labels, lane, lanes, wait, count):
    """Enter a trial that repeats a label into column ``count`` of those that wait, its labels made distinct."""
    taken, j = np.int64(0), np.int64(0)
    while taken < f:
        x = np.uint64(labels[j * lanes + lane]) if j < f else node_label(key, t, j, n)
        j += 1
        word, bit = np.int64(x >> np.uint64(6)), ONE << (x & np.uint64(63))
        if wait.seen[word] & bit == ZERO:
            wait.seen[word] |= bit
            wait.labels[taken * lanes + count] = x
            taken += 1
    for i in range(f):
        wait.seen[np.int64(np.uint64(wait.labels[i * lanes + count]) >> np.uint64(6))] = ZERO
    wait.trials[count] = t


@block
def _search(key, hit, trials, params, world, tally):
    """Search the trials of the lanes ``hit`` one by one."""
    while hit:
        survival_trial(key, trials[lowest(hit)], params, world, tally)
        hit &= hit - ONE


def _make(lanes: int, kind: Any) -> Kernel:
    every = np.uint64(2**lanes - 1)

    @kernel(TRIALS_SIGNATURE, variant=f"{lanes}")
    def few(key, first, stop, params, tally):
        """Trials at (hypercube, n, f, 0), f <= (n + 1)(n - 2) / 2."""
        n, f = np.int64(params[1]), np.int64(params[2])
        least = least_near(n, f)
        pairs = (np.int64(1) << n) - f >= 2
        if least < 0:
            count_sure(stop - first, pairs, tally)
            return
        world = survival_world(params)
        words = np.empty(8 * (f + 2), np.uint64)
        labels = words.view(kind)
        counts = np.empty(lanes * (f + 1), kind)
        wait = Wait(
            np.zeros(lanes * (f + 1), kind), np.zeros(lanes, np.int64), np.zeros(((1 << n) + 63) // 64, np.uint64)
        )
        trials = np.empty(lanes, np.int64)
        pattern = lane_pattern(n, lanes)
        waiting = sure = np.int64(0)
        for start in range(first - first % lanes, stop, lanes):
            draw_rows(key, np.uint64(start * 8 // lanes), f, 1, pattern, words)
            valid = valid_lanes(start, 1, lanes, first, stop)
            hit, again = _near(labels, counts, lanes, f, least)
            again &= valid
            hit &= valid & ~again
            sure += popcount(valid & ~again & ~hit)
            if hit:
                for i in range(lanes):
                    trials[i] = start + i
                _search(key, hit, trials, params, world, tally)
            while again:
                lane = lowest(again)
                again &= again - ONE
                _distinct(key, start + lane, n, f, labels, lane, lanes, wait, waiting)
                waiting += 1
                if waiting == lanes:
                    hit, _ = _near(wait.labels, counts, lanes, f, least)
                    sure += popcount(every & ~hit)
                    _search(key, hit, wait.trials, params, world, tally)
                    waiting = np.int64(0)
        if waiting:
            inside = every >> np.uint64(lanes - waiting)
            hit, _ = _near(wait.labels, counts, lanes, f, least)
            sure += popcount(inside & ~hit)
            _search(key, hit & inside, wait.trials, params, world, tally)
        count_sure(sure, pairs, tally)

    return few


SURVIVAL_FEW_8 = _make(64, np.uint8)
SURVIVAL_FEW_16 = _make(32, np.uint16)
