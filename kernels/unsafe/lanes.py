"""Unsafe nodes under few random faults, n = 7 .. 62: lanes are trials (:mod:`fastcube.kernels.draws.lanes`).

Entry: ``LANES_16`` and ``LANES_32``, whose work is ``_sift_trials``.  Draws from the study's key as it is:
labels 0 .. f - 1 of a trial's sequence (LABELS, and HIGH_LABELS for n > 32).

Most trials have no two faults within distance 2, hence no unsafe node and no round.  So

1. *filter*: row k of ``labels`` holds fault k of a vector of trials; xor, popcount and minimum over all pairs give
   each trial's smallest distance.  Distance 0 is a repeated label: its trial is drawn on, by itself;
2. *closure*: trials that pass are pressed together into a queue and closed a vector at a time.  Labels stay as they
   are; each fault carries the mask of its subcube's free dimensions, and two faults whose subcubes are within
   distance 2 both get the mask of the smallest subcube around them, until nothing changes;
3. *rounds*: one round is enough for subcubes of two dimensions or fewer.  A trial with one larger subcube is
   pressed into a second queue if that has at most six dimensions, where each trial's subcube becomes a word and 32
   words run at once, or into a third for seven and eight, where eight of them run at once; with two, or one of nine to twelve,
   the subcubes are run one by one.  What has more dimensions, or more rounds than have a bin, is left over to a plain kernel.

Lanes have 16 bits for n <= 16 and 32 bits above; for n > 32 the filter sees the low 32 bits, and the few trials that
pass are left over.  For n <= 8 a word holds eight trials in 64 bits, which are split into two vectors, of the even and
of the odd trials.

Kernels unrolled for one f altogether were tried: they save another 0.3 ns of 3.5 to 5 a trial at n = 10 and 12, and
cost four seconds of compilation for each f, which 10^10 trials would pay for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cube.subcubes import is_in_subcube
from ..draws.lanes import (
    Queue,
    append_lanes,
    append_trial_ids,
    decode_trial,
    draw_four_vectors,
    drop_first_vector,
    lane_pattern,
    redraw_repeats,
    smallest_distance,
    valid_lanes,
)
from ..machine import bits, simd
from ..machine.bits import ONE, ZERO, first_lanes
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from ..tally.sums import add_moments, count_moments, offer
from .closure import MAX_SPARE_DIMENSION, CubeScratch, make_cube_scratch, set_fault_inside
from .entry import (
    ALL_UNSAFE,
    CLASS_BOUNDS,
    LAST_BIN,
    MERGING,
    MOST_ROUNDS,
    NARROW_CLASSES,
    REACHED,
    UNSAFE,
    UNSAFE_IN,
    UNSAFE_SQUARED_IN,
    count_rounds,
)
from .layout import SPLIT_ABOVE
from .queues import append_hard_columns, close_and_measure, close_and_measure_unrolled, run_cubes
from .rounds import run_marked_rounds
from .scalar import merging_scratch_for, run_merging_trial

# Trials done at once: room for 8 MiB of trials left over, touched as far as needed.
_CHUNK = np.int64(1 << 20)


class UnsafeWorkspace(NamedTuple):
    """What the stages share; made once a call."""

    n: Any  #: int64
    f: Any  #: int64
    parts: Any  #: int64: vectors of trials in a vector of words
    labels: Any  #: f + 1 rows of a vector for each part, four times: label k of each trial
    queue: Queue  #: trials with faults within distance 2
    second: Queue  #: with a subcube of three to six dimensions
    third: Queue  #: of seven and eight
    masks: Any  #: f + 1 rows of one vector: free dimensions of each fault's subcube
    cubes: Any  #: uint64, eight vectors
    spare: CubeScratch  #: for subcubes run by themselves
    sums: Any  #: uint64, three vectors: unsafe nodes, and their squares in two digits
    classes: Any  #: uint64, three vectors for each class of ``layout.CLASSES``: the same of its trials
    reached: Any  #: int64: trials that took r rounds or more, as ``tally.count_rounds``
    left_over: Any  #: int64: trials that are not counted here
    left: Any  #: int64, one: how many they are


# ---------------------------------------------------------------- 1. filter


@block(always=True)
def _defer_trial(sieve, trial):
    """Leave a trial to the plain kernel."""
    sieve.left_over[sieve.left[0]] = trial
    sieve.left[0] += 1


@block(always=True)
def _queue_hits(key, start, part, rows, near, hit, sieve, lanes, origin):
    """Queue the trials ``hit`` of a vector; those with a repeated label only if they still have close faults.

    Returns how many are queued.
    """
    f, parts = sieve.f, sieve.parts
    while sieve.n > 32 and hit:
        _defer_trial(sieve, start + bits.lowest(hit))
        hit &= hit - ONE
    repeated = simd.bits(near == (near ^ near)) & hit
    while repeated:
        i = bits.lowest(repeated)
        here = repeated & (~repeated + ONE)
        repeated ^= here
        if not redraw_repeats(key, start + part + parts * i, sieve.n, f, sieve.labels, rows + i, lanes):
            hit ^= here
    group = (start - origin) // lanes + part
    queue = sieve.queue
    append_lanes(queue, lanes, f, hit, sieve.labels, rows, lanes)
    append_trial_ids(queue, lanes, near, hit, group)
    return bits.popcount(hit)


# ---------------------------------------------------------------- 2. closure


@block(always=True)
def _record_classes(sieve, nodes, unsafe, lanes, tally):
    """Enter the trials ``unsafe`` of a vector into their classes of unsafe nodes."""
    zero = nodes ^ nodes
    last = NARROW_CLASSES if lanes == 32 else CLASS_BOUNDS.size
    c = np.int64(0)
    here = simd.bits(simd.splat_like(nodes, CLASS_BOUNDS[0]) <= nodes) & unsafe
    while here:
        tally[REACHED[c]] += bits.popcount(here)
        more = ZERO
        if c + 1 < last:
            more = simd.bits(simd.splat_like(nodes, CLASS_BOUNDS[c + 1]) <= nodes) & here
        if more != here:
            add_moments(simd.select(simd.mask(nodes, here ^ more), nodes, zero), 512 // lanes, sieve.classes[24 * c :])
        here = more
        c += 1


@block
def _run_subcube_rounds(sieve, base, free, column, lanes):
    """Rounds inside one subcube, of at most KEPT dimensions, of a trial in the queue."""
    d = max(bits.popcount(free), np.int64(9))
    state = sieve.spare.state
    for w in range(0, np.int64(8) << (d - 9), 8):
        simd.store(state, w, simd.splat(ZERO))
    for k in range(sieve.f):
        set_fault_inside(state, base, free, np.uint64(sieve.queue.cells[2 * lanes * k + column]))
    return run_marked_rounds(state, sieve.spare.other, sieve.spare.marks, d)


@block
def _run_by_subcube(sieve, alone, lanes, origin, tally):
    """Rounds of the trials ``alone`` of the queue's first vector, subcube by subcube, of at most KEPT dimensions.

    Returns those of more rounds than have a bin of their own, which are not counted.
    """
    long = ZERO
    while alone:
        i = bits.lowest(alone)
        here = alone & (~alone + ONE)
        alone ^= here
        base, free, rounds = ZERO, ZERO, np.int64(0)
        for k in range(sieve.f):
            x, mask = np.uint64(sieve.queue.cells[2 * lanes * k + i]), np.uint64(sieve.masks[lanes * k + i])
            if bits.popcount(mask) > 2 and (mask != free or not is_in_subcube(base, free, x)):  # not the one run last
                base, free = x, mask
                rounds = max(rounds, _run_subcube_rounds(sieve, base, free, i, lanes))
        if rounds > LAST_BIN:
            long |= here
            continue
        for r in range(1, rounds + 1):
            sieve.reached[r] += 1
        if rounds >= tally[MOST_ROUNDS]:
            offer(tally, MOST_ROUNDS, rounds, decode_trial(sieve.queue, lanes, i, origin, sieve.parts))
    return long


@block(always=True)
def _close_queue(sieve, lanes, origin, tally):
    """Close the first vector of the queue and count what it shows; queue what has rounds to run.

    Returns the number of trials left over.
    """
    f, queue = sieve.f, sieve.queue
    if lanes == 32:
        nodes, largest, free, label, several = close_and_measure_unrolled(queue.cells, lanes, sieve.masks, f)
    else:
        nodes, largest, free, label, several = close_and_measure(queue.cells, lanes, sieve.masks, f)
    live = first_lanes(queue.filled[0], lanes)
    unsafe = simd.bits(nodes != (nodes ^ nodes)) & live
    easy = simd.bits(largest <= 2) & unsafe
    hard = unsafe & ~easy
    alone = (simd.bits(several) | ~simd.bits(largest <= 8)) & hard
    hard ^= alone
    if alone:
        deep = alone & ~simd.bits(largest <= simd.splat_like(nodes, np.uint64(MAX_SPARE_DIMENSION)))
        alone = deep | _run_by_subcube(sieve, alone ^ deep, lanes, origin, tally)
    unsafe ^= alone
    live ^= alone
    left = bits.popcount(alone)
    while alone:
        _defer_trial(sieve, decode_trial(queue, lanes, bits.lowest(alone), origin, sieve.parts))
        alone &= alone - ONE
    if hard:
        in_word = simd.bits(largest <= 6) & hard
        append_hard_columns(sieve.second, lanes, f, in_word, queue, free, label)
        if in_word != hard:
            append_hard_columns(sieve.third, lanes, f, hard ^ in_word, queue, free, label)
    add_moments(simd.select(simd.mask(nodes, unsafe), nodes, nodes ^ nodes), 512 // lanes, sieve.sums)
    if sieve.n > SPLIT_ABOVE:
        _record_classes(sieve, nodes, unsafe, lanes, tally)
    tally[ALL_UNSAFE] += bits.popcount(simd.bits(largest == simd.splat_like(nodes, np.uint64(sieve.n))) & live)
    sieve.reached[1] += bits.popcount(easy)
    while easy and tally[MOST_ROUNDS] <= 1:
        offer(tally, MOST_ROUNDS, np.int64(1), decode_trial(queue, lanes, bits.lowest(easy), origin, sieve.parts))
        easy &= easy - ONE
    drop_first_vector(queue, lanes)
    return left


# ---------------------------------------------------------------- all together


@block(always=True)
def _drain_queues(sieve, lanes, origin, least, tally):
    """Work on the queues that hold ``least`` columns or more, a vector of each; returns the number of trials left over."""
    left = np.int64(0)
    if sieve.queue.filled[0] >= least:
        left = _close_queue(sieve, lanes, origin, tally)
    if sieve.second.filled[0] >= least:
        run_cubes(sieve.second, lanes, sieve.f, 0, sieve.masks, sieve.cubes, sieve.reached, origin, sieve.parts, tally)
        drop_first_vector(sieve.second, lanes)
    if sieve.third.filled[0] >= least:
        run_cubes(sieve.third, lanes, sieve.f, 2, sieve.masks, sieve.cubes, sieve.reached, origin, sieve.parts, tally)
        drop_first_vector(sieve.third, lanes)
    return left


@block
def _sift_trials(key, first, stop, sieve, lanes, tally):
    """Count trials first .. stop - 1, but for those that it leaves over: for n > 32 those that pass the filter, otherwise
    those with a subcube of more than twelve dimensions or more than LAST_BIN rounds.

    For each vector of trials 26 f vector operations of the generator and 3/2 f^2 of the filter; then what the trials
    that pass it cost.
    """
    f, parts = sieve.f, sieve.parts
    words = sieve.labels.view(np.uint64)
    pattern = lane_pattern(sieve.n, lanes)
    two = simd.splat_like(simd.load(sieve.labels, 0), np.uint64(2))
    merging = np.int64(0)
    step = lanes * parts
    origin = first - first % (4 * step)
    offer(tally, MOST_ROUNDS, np.int64(0), first)
    sieve.left[0] = 0
    start = origin
    vector = np.int64(0)
    while True:
        draining = start >= stop
        hit = ZERO
        if not draining:
            if vector == 0:
                draw_four_vectors(key, np.uint64(8 * (start // step)), f, parts, pattern, words)
            part = vector & (parts - 1)
            rows = vector * (f + 1) * lanes
            near = smallest_distance(sieve.labels, rows, lanes, f)
            hit = simd.bits(near <= two)
            if hit != ZERO:
                hit &= valid_lanes(start + part, parts, lanes, first, stop)
                merging += _queue_hits(key, start, part, rows, near, hit, sieve, lanes, origin)
            vector = (vector + 1) & (4 * parts - 1)
            if part == parts - 1:
                start += step
        if draining or hit != ZERO:
            merging -= _drain_queues(sieve, lanes, origin, 1 if draining else lanes, tally)
        if draining and sieve.queue.filled[0] <= 0 and sieve.second.filled[0] <= 0 and sieve.third.filled[0] <= 0:
            break
    sieve.queue.filled[0] = 0
    sieve.second.filled[0] = 0
    sieve.third.filled[0] = 0
    tally[MERGING] += merging
    sieve.reached[0] += stop - first - sieve.left[0]


def _make_kernel(width: int, word: Any) -> Kernel:
    lanes = 512 // width  # a constant of the closure, with which all callees are specialised

    @scratch
    def workspace_for(n, f, most):
        parts = np.int64(2 if width == 16 and n <= 8 else 1)
        return UnsafeWorkspace(
            n,
            f,
            parts,
            np.zeros(4 * parts * (f + 1) * lanes, word),
            Queue(np.zeros((f + 3) * 2 * lanes, word), f + 3, np.zeros(1, np.int64)),
            Queue(np.zeros((f + 5) * 2 * lanes, word), f + 5, np.zeros(1, np.int64)),
            Queue(np.zeros((f + 5) * 2 * lanes, word), f + 5, np.zeros(1, np.int64)),
            np.empty((f + 1) * lanes, word),
            np.empty(64, np.uint64),
            make_cube_scratch(),
            np.zeros(24, np.uint64),
            np.zeros(24 * CLASS_BOUNDS.size, np.uint64),
            np.zeros(LAST_BIN + 2, np.int64),
            np.empty(most, np.int64),
            np.zeros(1, np.int64),
        )

    @kernel(TRIALS_SIGNATURE, variant=f"{width}")
    def unsafe_lanes(key, first, stop, params, tally):
        """Count unsafe nodes and rounds over trials; 0 <= f <= 2^(n-1), and n in 7..16 (16 bits) or 17..62 (32 bits)."""
        n = np.int64(params[0])
        f = np.int64(params[1])
        sieve = workspace_for(n, f, max(min(stop - first, _CHUNK), 0))
        lists = merging_scratch_for(params)
        for begin in range(first, stop, _CHUNK):
            _sift_trials(key, begin, min(begin + _CHUNK, stop), sieve, lanes, tally)
            for i in range(sieve.left[0]):
                run_merging_trial(key, sieve.left_over[i], params, lists, tally)
        count_rounds(tally, sieve.reached)
        count_moments(tally, UNSAFE.total, UNSAFE.squares, sieve.sums)
        for c in range(CLASS_BOUNDS.size):
            count_moments(tally, UNSAFE_IN[c], UNSAFE_SQUARED_IN[c], sieve.classes[24 * c :])

    return unsafe_lanes


#: Kernels for 7 <= n <= 16 and for 17 <= n <= 62.
LANES_16 = _make_kernel(16, np.uint16)
LANES_32 = _make_kernel(32, np.uint32)

#: Points (n, f) on both sides of each threshold inside these kernels, by its reason.
EDGES = {
    "up to n = 8 a word holds eight trials": ((8, 4), (9, 4)),
    "above SPLIT_ABOVE unsafe nodes are counted by classes of their own": ((12, 8), (13, 8)),
    "lanes of 16 and of 32 bits": ((16, 10), (17, 10)),
    "above n = 32 lanes hold the low 32 bits of a label": ((32, 40), (33, 40)),
    "one fault, two faults and one more than a vector's group of four rows": ((10, 1), (10, 2), (10, 4), (10, 5)),
}
