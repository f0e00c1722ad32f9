"""Routing trials under few faulty nodes, n = 7 .. 62: lanes are trials (:mod:`fastcube.kernels.fault_lanes`).

1. *filter*: a vector of fault sets with their ends.  Where no two faults are within distance 2 the trial is decided: no
   node is unsafe and every node has at most one faulty neighbour.  Hence while two or more bits differ, one of the nearer
   neighbours is nonfaulty, and the last link leads to t: ROUTE1(1) = ROUTE2(1) and ROUTE3(1) deliver over the Hamming
   distance.  For k = 2, 3 and l nearer neighbours, suppose that all l cyclic shifts of the minimal path are blocked
   among their first k nodes, the one that starts with bit i by a fault d_i <= min(k, l - 1) links away (t is nonfaulty).
   The faults of starts i and i + 1 are 1 + |d_i - d_{i+1} - 1| apart, for the second window begins a bit later and ends
   d_i - d_{i+1} - 1 bits earlier, so distance 3 excludes d_i - d_{i+1} = 0, 1, 2: round the cycle d only rises, or falls
   by 3 at once, which 1 <= d <= 3 does not allow.  So ROUTE1(k), and ROUTE2(k) which tries these paths among others, always
   finds a minimal one.  ROUTE is lost iff a fault is on its path.  For k > 3 those with a fault on the path are queued.
2. *closure*: the others are pressed together and closed a vector at a time.  Those whose ROUTE path meets no fault and,
   when Q_n is not unsafe, no faulty or unsafe node are decided too; the rest are walked in scalar code.

For n > 32 lanes hold the low 32 bits of the labels: close there, or a fault on the path there, is necessary for either,
and such trials are run by themselves.  The others need no more than the high bits of their ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import bits, philox, simd
from ..bits import ONE, ZERO
from ..fault_lanes import append, draw_on, draw_rows, shift_down, smallest_distance, trial_of, valid_lanes
from ..faults import remember
from ..jit import TRIALS_SIGNATURE, Kernel, block, kernel
from ..subcubes import close
from .record import NOT_UNSAFE, REACHABLE, ROUTE_DELIVERED, record1_minimal, record2_minimal, record3_minimal
from .search import SEARCHED
from .single import finish, run, trial_for

#: Up to this k trials without close faults are decided in lanes.
DECIDED = 3


@block(always=True)
def _on_route(e, r, zero):
    """Lanes in which the offsets ``e`` from s and ``r`` from t are of a node or subcube on ROUTE's path (``rules.on_route``)."""
    return simd.equal(simd.both(r, simd.either(e, simd.sub(zero, e))), zero)


@block(always=True)
def _sum(h, chosen, width, sums, at):
    """Add the chosen lanes of ``h``, and their squares, to two vectors of 64-bit sums, kept in ``sums`` from ``at`` on."""
    words = simd.as64(simd.select(simd.mask(h, chosen), h, simd.sub(h, h)))
    lane = simd.splat((ONE << np.uint64(width)) - ONE)
    total = simd.load(sums, at)
    squares = simd.load(sums, at + 8)
    for shift in range(0, 64, width):
        x = simd.both(simd.shift_right(words, simd.splat(np.uint64(shift))), lane)
        total = simd.add(total, x)
        squares = simd.add(squares, simd.mul32(x, x))
    simd.store(sums, at, total)
    simd.store(sums, at + 8, squares)


@block(always=True)
def _add_high(h, key, block, f, n):
    """Add to the Hamming distances of 16 trials those of their ends' bits from 32 up; the ends are labels f and f + 1."""
    prepared = philox.prepare_lanes(key, block, philox.HIGH_LABELS)
    even, odd = philox.lanes(key, prepared, np.uint64(f >> 1))
    if f & 1:
        even, _ = philox.lanes(key, prepared, np.uint64((f >> 1) + 1))
    used = simd.like(h, (ONE << np.uint64(n - 32)) - ONE)
    return simd.add(h, simd.popcount(simd.both(simd.as32(simd.xor(even, odd)), used)))


@block(always=True)
def _as_is(h, key, block, f, n):
    """In place of :func:`_add_high` in lanes of 16 bits, where n <= 16."""
    return h


def _make(width: int, word: Any) -> Kernel:
    lanes = 512 // width  # a constant of the closure, with which all callees are specialised
    add_high = _add_high if width == 32 else _as_is

    @block
    def decide(queue, masks, f, n, trial, live, origin, parts, sums, least, tally):
        """Close and count the first vector of the queue's columns; returns how many trials had an active node."""
        close(queue, 2, masks, f)
        s = simd.load(queue, 2 * lanes * f)
        t = simd.load(queue, 2 * lanes * (f + 1))
        zero = simd.sub(s, s)
        whole = simd.like(s, (ONE << np.uint64(n)) - ONE)
        on1 = simd.differ(s, s)
        on3 = on1
        dead = on1
        for i in range(f):
            x = simd.load(queue, 2 * lanes * i)
            m = simd.load(masks, lanes * i)
            e = simd.xor(x, s)
            r = simd.xor(x, t)
            on1 = simd.mask_or(on1, _on_route(e, r, zero))
            on3 = simd.mask_or(on3, _on_route(simd.without(e, m), simd.without(r, m), zero))
            dead = simd.mask_or(dead, simd.equal(m, whole))
        unsafe = simd.bits(dead)
        lost = simd.bits(on1)
        met = simd.bits(on3)
        hard = (lost | (met & ~unsafe)) & live
        easy = live & ~hard
        safe = easy & ~unsafe
        h = simd.popcount(simd.xor(s, t))
        _sum(h, easy, width, sums, 0)
        _sum(h, safe, width, sums, 16)
        least[2] += bits.popcount(easy)
        least[3] += bits.popcount(safe)
        if trial_of(queue, lanes, f + 2, 0, origin, parts) < max(least[0], least[1]) + lanes * parts:
            rest = easy
            while rest:
                i = bits.lowest(rest)
                at = trial_of(queue, lanes, f + 2, i, origin, parts)
                least[0] = min(least[0], at)
                if safe >> np.uint64(i) & ONE:
                    least[1] = min(least[1], at)
                rest &= rest - ONE
        faults = trial.faults
        while hard:
            i = bits.lowest(hard)
            for j in range(f):
                faults.labels[j] = queue[2 * lanes * j + i]
                faults.base[j] = queue[2 * lanes * j + i]
                faults.free[j] = masks[lanes * j + i]
            faults.size[3] = f
            remember(faults)
            source, target = np.uint64(queue[2 * lanes * f + i]), np.uint64(queue[2 * lanes * (f + 1) + i])
            passes = lost >> np.uint64(i) & ONE == ZERO
            meets = met >> np.uint64(i) & ONE != ZERO
            active = unsafe >> np.uint64(i) & ONE == ZERO
            at = trial_of(queue, lanes, f + 2, i, origin, parts)
            finish(trial, passes, meets, active, source, target, at, tally)
            hard &= hard - ONE

    @kernel(TRIALS_SIGNATURE, variant=f"{width}")
    def routing_lanes(key, first, stop, params, tally):
        """Trials at (n, f, 0, k) = params; 1 < f <= 2^(n-1) - 2, and n in 7..16 (16 bits) or 17..62 (32 bits)."""
        if first >= stop:
            return
        trial = trial_for(params)
        n = np.int64(params[0])
        f = np.int64(params[1])
        decided = np.int64(params[3]) <= DECIDED
        parts = np.int64(2 if width == 16 and n <= 8 else 1)
        row = f + 3
        labels_array = np.empty(parts * row * lanes, word)
        queue_array = np.zeros((f + 5) * 2 * lanes, word)
        masks_array = np.empty((f + 1) * lanes, word)
        sums = np.zeros(48, np.uint64)
        least = np.zeros(
            4, np.int64
        )  # smallest trials with minimal routes of ROUTE1 and ROUTE3, and how many queued ones
        least[0] = stop
        least[1] = stop
        labels = simd.pointer(labels_array)
        words = simd.pointer(labels_array.view(np.uint64))
        queue = simd.pointer(queue_array)
        masks = simd.pointer(masks_array)
        pattern = ZERO
        for shift in range(0, 64, width):
            pattern |= ((ONE << np.uint64(n if n < width else width)) - ONE) << np.uint64(shift)
        zero = simd.load(queue, 0)
        two = simd.like(zero, np.uint64(2))
        count = np.int64(0)
        passed = np.int64(0)
        easy_trials = np.int64(0)
        step = lanes * parts
        origin = first - first % step
        start = origin
        part = np.int64(0)
        rows = np.int64(0)
        while True:
            draining = start >= stop
            if not draining:
                if part == 0:
                    draw_rows(key, np.uint64(8 * (start // step)), f + 2, parts, pattern, words)
                    rows = np.int64(0)
                s = simd.load(labels, rows + f * lanes)
                t = simd.load(labels, rows + (f + 1) * lanes)
                near = smallest_distance(labels, rows, lanes, f)
                apart = simd.xor(s, t)
                same = simd.minimum(near, apart)
                on = simd.differ(zero, zero)
                for i in range(f):
                    x = simd.load(labels, rows + i * lanes)
                    e = simd.xor(x, s)
                    r = simd.xor(x, t)
                    on = simd.mask_or(on, _on_route(e, r, zero))
                    same = simd.minimum(same, simd.minimum(e, r))
                live = bits.ALL >> np.uint64(64 - lanes)
                if start < first or start + step > stop:
                    live = valid_lanes(start + part, parts, lanes, first, stop)
                repeated = simd.bits(simd.equal(same, zero)) & live
                lost = simd.bits(on)
                hit = (simd.bits(simd.less_equal(near, two)) & live) | repeated
                if not decided or n > 32:
                    hit |= lost & live
                easy = live & ~hit
                if easy:
                    h = simd.popcount(apart)
                    if n > 32:
                        h = add_high(h, key, np.uint64(8 * (start // step)), f, n)
                    easy_trials += bits.popcount(easy)
                    passed += bits.popcount(easy & ~lost)
                    _sum(h, easy, width, sums, 32)
                    if start < least[0] or start < least[1]:
                        at = start + part + parts * bits.lowest(easy)
                        least[0] = min(least[0], at)
                        least[1] = min(least[1], at)
                if n > 32:
                    while hit:
                        run(key, start + bits.lowest(hit), params, trial, tally)
                        hit &= hit - ONE
                if hit:
                    while repeated:
                        i = bits.lowest(repeated)
                        draw_on(key, start + part + parts * i, n, f + 2, labels, rows + i, lanes)
                        repeated &= repeated - ONE
                    group = (start - origin) // lanes + part
                    append(queue, lanes, f + 2, count, hit, labels, rows, lanes)
                    lane = simd.compress(simd.mask(near, hit), simd.iota(near))
                    simd.store(queue, 2 * lanes * (f + 2) + count, lane)
                    simd.store(queue, 2 * lanes * (f + 3) + count, simd.like(near, np.uint64(group)))
                    simd.store(queue, 2 * lanes * (f + 4) + count, simd.like(near, np.uint64(group >> width)))
                    count += bits.popcount(hit)
                rows += row * lanes
                part += 1
                if part == parts:
                    part = np.int64(0)
                    start += step
            if count >= lanes or (draining and count > 0):
                live = bits.ALL >> np.uint64(64 - (count if count < lanes else lanes))
                decide(queue, masks, f, n, trial, live, origin, parts, sums, least, tally)
                shift_down(queue, lanes, f + 5)
                count -= lanes
            if draining and count <= 0:
                break
        both1, both2 = np.int64(simd.total(simd.load(sums, 32))), np.int64(simd.total(simd.load(sums, 40)))
        total, squares = np.int64(simd.total(simd.load(sums, 0))), np.int64(simd.total(simd.load(sums, 8)))
        tally[ROUTE_DELIVERED] += passed + least[2]
        tally[REACHABLE] += easy_trials + least[2] if n <= SEARCHED else 0
        tally[NOT_UNSAFE] += easy_trials + least[3]
        record1_minimal(tally, easy_trials + least[2], both1 + total, both2 + squares, least[0])
        record2_minimal(tally, easy_trials + least[2], both1 + total, both2 + squares, least[0])
        total, squares = np.int64(simd.total(simd.load(sums, 16))), np.int64(simd.total(simd.load(sums, 24)))
        record3_minimal(tally, easy_trials + least[3], both1 + total, both2 + squares, least[1])
        simd.keep(labels_array)
        simd.keep(queue_array)
        simd.keep(masks_array)

    return routing_lanes


#: Kernels for 7 <= n <= 16 and for 17 <= n <= 62.
ROUTING_LANES_16 = _make(16, np.uint16)
ROUTING_LANES_32 = _make(32, np.uint32)
