"""Unsafe nodes under few random faults, n = 7 .. 62, with one trial per vector lane.

Entry points: ``LANES_16`` and ``LANES_32``.  They sample labels 0 .. f - 1 of each trial's sequence with the study's key (random
words for LABELS, and for n > 32 also for HIGH_LABELS).  Most trials have no two faults within distance 2, hence no unsafe node
and no round.  There are three stages:

1. *filter* (``_filter_vector``): row k of ``labels`` holds fault k of a vector of trials.  Xor, ``simd.closeness`` and minimum
   over all pairs decide whether a trial's smallest distance is 0, 1 or 2, or more.  Distance 0 means a repeated label; such a
   trial samples further labels in scalar code.
2. *closure* (``_close_queue``): trials with close faults are queued and closed, one vector at a time.  Labels stay as they are.
   Each fault has the mask of its subcube's free dimensions, and two faults whose subcubes are within distance 2 both get the mask
   of the smallest subcube around them, until nothing changes.
3. *rounds*: one round is enough for subcubes of two dimensions or fewer.  A trial with one larger subcube goes to another queue.
   In ``queue_6``, for at most six dimensions, each trial's subcube becomes a 64-bit word and 32 words run at once.  In
   ``queue_8``, for seven and eight dimensions, eight subcubes run at once.  With two larger subcubes, or one of nine to twelve
   dimensions, the subcubes are run one by one.  Trials with more dimensions, or with more than LAST_BIN rounds, are run by the
   scalar kernel.

Lanes have 16 bits for n <= 16 and 32 bits above.  For n > 32 the filter tests the low 32 bits, and the scalar kernel runs the few
trials with close faults.

``lanes`` is the number of lanes.  A queue has rows of two vectors (``queues.py``): row k of column c is the cell
``cells[2 * lanes * k + c]``.  A row of ``masks`` is one vector, whose lane i belongs to column i of the queue.  A set of lanes or
columns is a word with bit i for lane i.

Kernels unrolled for a single f were tried.  They save another 0.3 ns of 3.5 to 5 per trial at n = 10 and 12, and cost four
seconds of compilation for each f, which only 10^10 trials would recover.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cube.subcubes import is_in_subcube
from ..draws import sieve
from ..draws.lanes import smallest_distance
from ..machine import bits, simd
from ..machine.array_types import U64, Cells, Floats, Ints, Words
from ..machine.bits import ONE, ZERO, first_lanes
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from ..tally.lane_sums import LANE_SUM_WORDS, add_to_lane_sums, tally_lane_sums
from ..tally.maxima import offer
from .closure import CubeScratch, make_cube_scratch, set_fault_inside
from .entry import (
    ALL_UNSAFE,
    CLASS_BOUNDS,
    CLOSE_PAIRS,
    LAST_BIN,
    MOST_ROUNDS,
    NARROW_CLASSES,
    REACHED,
    UNSAFE,
    UNSAFE_IN,
    UNSAFE_SQUARED_IN,
    count_rounds,
)
from .layout import SPLIT_ABOVE, F, N
from .queues import append_with_subcube, close_and_measure, close_and_measure_unrolled, run_cubes
from .rounds import run_bitmask_rounds
from .scalar import MergingScratch, merging_scratch_for, run_merging_trial

#: Largest dimension of a subcube of which the lanes run the rounds; the scalar kernel counts trials with a larger one.
_MAX_SINGLE_DIMENSION = 12


class UnsafeWorkspace(NamedTuple):
    """Scratch memory of a kernel's call."""

    key: U64  #: key of the point
    params: Floats  #: parameters of the point
    samples: sieve.Samples  #: labels of four vectors of trials
    queue: sieve.Queue  #: trials with faults within distance 2
    queue_6: sieve.Queue  #: trials with a subcube of three to six dimensions
    queue_8: sieve.Queue  #: trials with a subcube of seven or eight dimensions
    #: f rows of one vector, and an unused one: free dimensions of each fault's subcube, valid inside ``_close_queue``;
    #: ``run_cubes`` stores there each fault's label inside the subcube
    masks: Cells
    cubes: Words  #: eight vectors: 32 words of subcubes, and the same words a round later
    spare: CubeScratch  #: for subcubes that are run one by one
    sums: Words  #: three vectors: sums of unsafe nodes, and of their squares in two digits
    classes: Words  #: three such vectors for each class of ``layout.CLASSES``
    #: (LAST_BIN + 2): number of trials that took r rounds or more, as in ``entry.count_rounds``.  Entry 0 is minus the number of
    #: trials run by the scalar kernel, until all trials are added at the end.
    reached: Ints
    merging: MergingScratch  #: for trials run by the scalar kernel


@block
def _run_by_scalar_kernel(work, trial, tally):
    """Count a trial, with its rounds, by the scalar kernel, and take it out of ``reached``."""
    run_merging_trial(work.key, trial, work.params, work.merging, tally)
    work.reached[0] -= 1


# ---------------------------------------------------------------- 1. filter


@block(always=True)
def _filter_vector(work, trials, lanes, tally):
    """Queue the trials of a vector with faults within distance 2, and count them in CLOSE_PAIRS.

    A trial with repeated labels samples further labels first, and is queued only if two of its final labels are close.
    Returns whether a trial may have been queued, as ``make_sieve`` requires.  For each vector, sampling takes 26 f vector
    operations and the comparison of pairs 3/2 f^2.
    """
    samples = work.samples
    distance = smallest_distance(samples.labels, trials.at, lanes, samples.count)
    close = simd.bits(distance <= 2)
    if close == ZERO:
        return False
    close &= sieve.wanted_lanes(trials, lanes)
    while samples.n > 32 and close:  # none is left to be queued
        _run_by_scalar_kernel(work, sieve.trial_in_lane(trials, bits.lowest(close)), tally)
        close &= close - ONE
    repeated = simd.bits(distance == 0) & close
    while repeated:
        i = bits.lowest(repeated)
        lane_bit = repeated & (~repeated + ONE)
        repeated ^= lane_bit
        if not sieve.redraw_lane(samples, trials, i, lanes):
            close ^= lane_bit
    sieve.append_trials(work.queue, samples, trials, close, lanes)
    tally[CLOSE_PAIRS] += bits.popcount(close)
    return True


# ---------------------------------------------------------------- 2. closure


@block(always=True)
def _record_classes(work, nodes, unsafe, lanes, tally):
    """Record the trials ``unsafe`` of a vector by their numbers of unsafe nodes, ``nodes``.

    Class c begins at CLASS_BOUNDS[c] nodes.  A trial is counted in REACHED of its class and of all lower ones, and added to the
    sums of its class alone.
    """
    last = NARROW_CLASSES if lanes == 32 else CLASS_BOUNDS.size
    c = np.int64(0)
    reached = simd.bits(simd.splat_like(nodes, CLASS_BOUNDS[0]) <= nodes) & unsafe  # class c or a higher one
    while reached:
        tally[REACHED[c]] += bits.popcount(reached)
        higher = ZERO
        if c + 1 < last:
            higher = simd.bits(simd.splat_like(nodes, CLASS_BOUNDS[c + 1]) <= nodes) & reached
        if higher != reached:
            _add_chosen(nodes, reached ^ higher, lanes, work.classes[LANE_SUM_WORDS * c :])
        reached = higher
        c += 1


@block(always=True)
def _add_chosen(nodes, chosen, lanes, lane_sums):
    """Add the unsafe nodes of the chosen trials to lane sums."""
    add_to_lane_sums(simd.select(simd.mask(nodes, chosen), nodes, nodes ^ nodes), 512 // lanes, lane_sums)


@block
def _run_subcube_rounds(work, base, free, column, lanes):
    """Return the rounds inside one subcube of the trial in a column of the queue, with at most _MAX_SINGLE_DIMENSION dimensions.

    ``base`` is a label in the subcube and ``free`` the mask of its free dimensions.  With fewer than nine of them the subcube is
    the first 2^d nodes of a 9-cube, one vector.  The other nodes have at most one neighbour in it, so they stay clear.
    """
    d = max(bits.popcount(free), np.int64(9))
    state = work.spare.state
    for w in range(0, np.int64(8) << (d - 9), 8):
        simd.store(state, w, simd.splat(ZERO))
    for k in range(work.samples.count):
        set_fault_inside(state, base, free, np.uint64(work.queue.cells[2 * lanes * k + column]))
    return run_bitmask_rounds(state, work.spare.other, work.spare.masks, d)


@block
def _run_by_subcube(work, chosen, lanes, tally):
    """Run the chosen trials of the queue's first vector, subcube by subcube of at most _MAX_SINGLE_DIMENSION dimensions.

    A trial takes as many rounds as the slowest of its subcubes.  A subcube is run once, or again if faults of another
    such subcube come between its own.  Returns the trials with more than LAST_BIN rounds, which are not counted.
    """
    too_many_rounds = ZERO
    while chosen:
        i = bits.lowest(chosen)
        lane_bit = chosen & (~chosen + ONE)
        chosen ^= lane_bit
        base, free, rounds = ZERO, ZERO, np.int64(0)
        for k in range(work.samples.count):
            x, mask = np.uint64(work.queue.cells[2 * lanes * k + i]), np.uint64(work.masks[lanes * k + i])
            repeated = mask == free and is_in_subcube(base, free, x)  # the subcube that was run last
            if bits.popcount(mask) > 2 and not repeated:
                base, free = x, mask
                rounds = max(rounds, _run_subcube_rounds(work, base, free, i, lanes))
        if rounds > LAST_BIN:
            too_many_rounds |= lane_bit
            continue
        for r in range(1, rounds + 1):
            work.reached[r] += 1
        if rounds >= tally[MOST_ROUNDS]:
            offer(tally, MOST_ROUNDS, rounds, sieve.decode_trial(work.queue, lanes, i))
    return too_many_rounds


@block
def _run_one_by_one(work, chosen, largest, lanes, tally):
    """Run the chosen trials of the queue's first vector; return the trials that the scalar kernel counts completely.

    These have a subcube of more than _MAX_SINGLE_DIMENSION dimensions (``largest``), or more than LAST_BIN rounds.  They
    leave CLOSE_PAIRS here, because the scalar kernel counts them there again.
    """
    by_scalar = chosen & ~simd.bits(largest <= simd.splat_like(largest, np.uint64(_MAX_SINGLE_DIMENSION)))
    by_scalar |= _run_by_subcube(work, chosen ^ by_scalar, lanes, tally)
    tally[CLOSE_PAIRS] -= bits.popcount(by_scalar)
    rest = by_scalar
    while rest:
        _run_by_scalar_kernel(work, sieve.decode_trial(work.queue, lanes, bits.lowest(rest)), tally)
        rest &= rest - ONE
    return by_scalar


@block(always=True)
def _record_one_round(work, chosen, lanes, tally):
    """Record the rounds of the chosen trials of the queue's first vector, which take one round."""
    work.reached[1] += bits.popcount(chosen)
    while chosen and tally[MOST_ROUNDS] <= 1:
        offer(tally, MOST_ROUNDS, np.int64(1), sieve.decode_trial(work.queue, lanes, bits.lowest(chosen)))
        chosen &= chosen - ONE


@block(always=True)
def _close_queue(work, lanes, tally):
    """Close the queue's first vector and count its unsafe nodes; move trials that may take more rounds to other queues.

    Lane by lane, ``nodes`` is the number of unsafe nodes and ``largest`` the dimension of the largest subcube, whose free
    dimensions are ``free`` and which holds ``label``.  In the lanes ``several`` two subcubes have three
    dimensions or more.  Every unsafe trial is in one of four sets: ``one_round``, ``in_queue_6``, ``in_queue_8`` and
    ``one_by_one``.  The queue's first vector is read until the last line, which drops it.
    """
    f, queue = work.samples.count, work.queue
    if lanes == 32:
        nodes, largest, free, label, several = close_and_measure_unrolled(queue.cells, work.masks, f)
    else:
        nodes, largest, free, label, several = close_and_measure(queue.cells, work.masks, f)
    counted = first_lanes(queue.filled[0], lanes)
    unsafe = simd.bits(nodes != 0) & counted
    one_round = simd.bits(largest <= 2) & unsafe
    queued = unsafe & ~one_round
    one_by_one = (simd.bits(several) | ~simd.bits(largest <= 8)) & queued
    queued ^= one_by_one
    if one_by_one:
        by_scalar = _run_one_by_one(work, one_by_one, largest, lanes, tally)
        unsafe ^= by_scalar
        counted ^= by_scalar
    if queued:
        in_queue_6 = simd.bits(largest <= 6) & queued
        in_queue_8 = queued ^ in_queue_6
        append_with_subcube(work.queue_6, lanes, f, in_queue_6, queue, free, label)
        if in_queue_8:
            append_with_subcube(work.queue_8, lanes, f, in_queue_8, queue, free, label)
    _add_chosen(nodes, unsafe, lanes, work.sums)
    if work.samples.n > SPLIT_ABOVE:
        _record_classes(work, nodes, unsafe, lanes, tally)
    all_unsafe = simd.bits(largest == simd.splat_like(nodes, np.uint64(work.samples.n))) & counted
    tally[ALL_UNSAFE] += bits.popcount(all_unsafe)
    _record_one_round(work, one_round, lanes, tally)
    sieve.drop_first_vector(queue, lanes)


# ---------------------------------------------------------------- the kernels


@block(always=True)
def _work_off_queues(work, least, lanes, tally):
    """Process a vector of each queue with ``least`` columns or more; return whether any queue still has columns.

    ``run_cubes`` is given the number of dimensions above six: 0 for ``queue_6`` and 2 for ``queue_8``.
    """
    if work.queue.filled[0] >= least:
        _close_queue(work, lanes, tally)
    if work.queue_6.filled[0] >= least:
        run_cubes(work, work.queue_6, 0, lanes, tally)
    if work.queue_8.filled[0] >= least:
        run_cubes(work, work.queue_8, 2, lanes, tally)
    return max(work.queue.filled[0], work.queue_6.filled[0], work.queue_8.filled[0]) > 0


_sift_trials = sieve.make_sieve(_filter_vector, _work_off_queues, small=True)


def _make_kernel(width: int, word: Any) -> Kernel:
    lanes = 512 // width  # a constant of the closure, for which all callees are specialised

    @scratch
    def workspace_for(key, params, first):
        n, f = np.int64(params[N]), np.int64(params[F])
        return UnsafeWorkspace(
            key,
            params,
            sieve.make_samples(n, f, lanes, word),
            sieve.make_queue(n, f, first, lanes, word),
            sieve.make_queue(n, f + 2, first, lanes, word),
            sieve.make_queue(n, f + 2, first, lanes, word),
            np.empty((f + 1) * lanes, word),
            np.empty(64, np.uint64),
            make_cube_scratch(np.int64(_MAX_SINGLE_DIMENSION)),
            np.zeros(LANE_SUM_WORDS, np.uint64),
            np.zeros(LANE_SUM_WORDS * CLASS_BOUNDS.size, np.uint64),
            np.zeros(LAST_BIN + 2, np.int64),
            merging_scratch_for(params),
        )

    @kernel(TRIALS_SIGNATURE, variant=f"{width}")
    def unsafe_lanes(key, first, stop, params, tally):
        """Count unsafe nodes and rounds over trials; 0 <= f <= 2^(n-1), and n in 7..16 (16 bits) or 17..62 (32 bits)."""
        if first >= stop:
            return
        work = workspace_for(key, params, first)
        offer(tally, MOST_ROUNDS, np.int64(0), first)
        _sift_trials(key, first, stop, work, lanes, tally)
        work.reached[0] += stop - first  # now the number of trials that the lanes have counted
        count_rounds(tally, work.reached)
        tally_lane_sums(tally, UNSAFE.total, UNSAFE.squares, work.sums)
        for c in range(CLASS_BOUNDS.size):
            tally_lane_sums(tally, UNSAFE_IN[c], UNSAFE_SQUARED_IN[c], work.classes[LANE_SUM_WORDS * c :])

    return unsafe_lanes


#: Kernels for 7 <= n <= 16 and for 17 <= n <= 62.
LANES_16 = _make_kernel(16, np.uint16)
LANES_32 = _make_kernel(32, np.uint32)

#: Points (n, f) on both sides of each threshold inside these kernels, by the reason for the threshold.
EDGES = {
    "up to n = 8 a word holds eight trials": ((8, 4), (9, 4)),
    "above SPLIT_ABOVE unsafe nodes are counted by classes of their own": ((12, 8), (13, 8)),
    "lanes of 16 and of 32 bits": ((16, 10), (17, 10)),
    "above n = 32 lanes hold the low 32 bits of a label": ((32, 40), (33, 40)),
    "one fault has no pair, and pairs are compared for four faults at a time": ((10, 1), (10, 2), (10, 4), (10, 5)),
    "the closure is unrolled for 4 to 7 faults": ((10, 3), (10, 4), (10, 7), (10, 8)),
}
