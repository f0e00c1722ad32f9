"""Routing trials under few faulty nodes, n = 3 .. 62, with one trial per vector lane.

Entry points: ``ROUTING_LANES_8``, ``_16`` and ``_32``.  They sample with the study's key labels 0 .. f + 1 of a trial's sequence
(LABELS, and HIGH_LABELS for n > 32); the ends come after the faults.

A nonfaulty node is *unsafe* if it has two or more faulty or unsafe neighbours, and *active* otherwise.  ROUTE's path corrects the
bits in which s and t differ from the most significant down; the rules ROUTE1, ROUTE2 and ROUTE3 try the same order
(``rules``).  A route is *minimal* if it has as many links as the Hamming distance of s and t.  *Close* faults are two within
distance 2; without them no node is unsafe.

1. *filter* (``inspect_vector``) decides trials with distinct labels and no two faults within distance 2, for k > 3 or n > 32 only
   those without a fault on ROUTE's path.  No node is unsafe there, and every node has at most one faulty neighbour.  ROUTE is
   lost iff a fault is on its path.  The other rules depend on k:

   - ROUTE1(1), ROUTE2(1) and ROUTE3(1) deliver over the Hamming distance, because a nearer neighbour is nonfaulty while two or
     more bits differ, and the last link leads to t.
   - For k = 2, 3 ROUTE1(k), and ROUTE2(k), which tries more paths, find a minimal path.  For suppose that with l bits left all l
     cyclic shifts of the minimal path are blocked among their first k nodes: the shift that starts with bit i by a fault
     d_i <= min(k, l - 1) links away (t is nonfaulty).  The faults of starts i and i + 1 have distance 1 + |d_i - d_{i+1} - 1|,
     because the second window begins one bit later and ends d_i - d_{i+1} - 1 bits earlier.  So distance 3 excludes
     d_i - d_{i+1} = 0, 1, 2: round the cycle d only rises, or falls by 3 at once, which 1 <= d <= 3 does not allow.
   - For k > 3 trials with a fault on the path are queued, because this proof does not cover them.

2. *closure* (``close_queue``) closes queued trials, one vector at a time.  It also decides trials whose ROUTE path contains no
   fault and, unless all nodes of Q_n are unsafe, no faulty or unsafe node between its ends.  At each node before the last but one
   the first nearer neighbour is active.  At the last but one t is the only nearer neighbour and nonfaulty.  So ROUTE3(1) takes
   that path, also from and to an unsafe end.  The ends are not in one subcube, because it would contain all nodes between them;
   adjacent ends are tested for that.  Messages of the other trials are routed: for n <= 8, where they are many, in lanes while
   they need no detour (``greedy.py``; ROUTE1(k) only for k = 1), and else in scalar code.

For n > 32 lanes hold the low 32 bits of the labels.  Faults that are close, or on the path, are so in the low bits too, and such
trials are run one at a time.  The other trials need only the high bits of their ends.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cube.subcubes import close_subcubes
from ..draws import philox, sieve
from ..draws.faults import SUBCUBES, index_faults
from ..draws.lanes import smallest_distance
from ..machine import bits, simd
from ..machine.array_types import I64, Cells, Floats, Ints
from ..machine.bits import ONE, ZERO
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from .entry import (
    REACHABLE,
    ROUTE_DELIVERED,
    SAME_SUBCUBE,
    record1_minimal,
    record2_minimal,
    record3_minimal,
    record_active,
)
from .greedy import ReversedFaults, load_label, route_lanes, skip_routes
from .layout import MAX_SEARCHED_DIMENSION, F, K, N
from .scalar import RoutingScratch, finish_trial, run_trial, set_up
from .sums import DistanceSums, add_chosen_lanes, make_distance_sums, read_both_sums

#: Largest k for which trials without close faults are decided in lanes.
MAX_DECIDED_K = 3


@block(always=True)
def is_on_path(e, r, zero):
    """Return the lanes with a node or subcube, offset ``e`` from s and ``r`` from t, on ROUTE's path.

    ``e | -e`` has all bits from the lowest set bit of ``e`` up.  ``rules.is_on_route`` tells why the test is right.
    """
    return (r & (e | (zero - e))) == zero


@block(always=True)
def _add_high_distances(h, trials, f, n):
    """Add the distances in bits 32 and up of the ends, labels f and f + 1, to the Hamming distances h of 16 trials."""
    prepared = philox.prepare_lanes(trials.key, np.uint64(trials.start >> 1), philox.HIGH_LABELS)
    even, odd = philox.word_lanes(trials.key, prepared, np.uint64(f >> 1))
    if f & 1:
        even, _ = philox.word_lanes(trials.key, prepared, np.uint64((f >> 1) + 1))
    used = simd.splat_like(h, (ONE << np.uint64(n - 32)) - ONE)
    return h + simd.popcount(simd.as32(even ^ odd) & used)


@block(always=True)
def _leave_distances(h, trials, f, n):
    """Return ``h`` unchanged; it takes the place of ``_add_high_distances`` in lanes of 8 and 16 bits, where n <= 16."""
    return h


class RoutingWorkspace(NamedTuple):
    """Scratch memory of a kernel's call."""

    trial: RoutingScratch  #: for trials and messages that are run in scalar code
    params: Floats  #: parameters of the point
    f: I64  #: number of faulty nodes
    decides_lost: np.bool_  #: k <= MAX_DECIDED_K: for n <= 32 the filter then decides trials that ROUTE loses too
    samples: sieve.Samples  #: labels of the faults, then of both ends
    queue: sieve.Queue  #: trials that the filter leaves, for n <= 32: labels of the faults, then of both ends
    masks: Cells  #: f rows of one vector: free dimensions of each fault's subcube, closed, for the queue's first vector
    reversed_faults: ReversedFaults  #: of the queue's first vector, where messages are routed in lanes
    filter_sums: DistanceSums  #: over the trials that the filter decides, which all have an active node
    queue_sums: DistanceSums  #: over the queued trials that lanes decide
    active_sums: DistanceSums  #: over those of them with an active node
    counted: Ints  #: numbers of trials, with the indices below
    #: smallest trials with minimal routes by ROUTE1 and ROUTE2 (_BY_ROUTE1), and by ROUTE3 (_BY_ROUTE3)
    first_minimal: Ints


#: Indices of ``counted``: trials decided by the filter, and by the queue; trials that ROUTE delivers; queued trials with an
#: active node, and those of them with both ends in one subcube; queued trials without an active node that ROUTE delivers.
_BY_FILTER, _BY_QUEUE, _DELIVERED, _WITH_ACTIVE, _IN_ONE_SUBCUBE, _DELIVERED_ALL_UNSAFE = range(6)

#: Indices of ``first_minimal``.
_BY_ROUTE1, _BY_ROUTE3 = range(2)


# ---------------------------------------------------------------- 1. filter


@block(always=True, stored=True)
def inspect_vector(work, trials, lanes):
    """Return masks of the trials of a vector, as bits, and the offsets between the ends.

    The masks are: two faults within distance 2 or a repeated label; a repeated label; a fault on ROUTE's path.
    """
    f, labels, at = work.f, work.samples.labels, trials.at
    s = simd.load(labels, at + f * lanes)
    t = simd.load(labels, at + (f + 1) * lanes)
    nearest = smallest_distance(labels, at, lanes, f)
    difference = s ^ t
    zero = s - s
    least = simd.minimum(nearest, difference)  # 0 if two labels are equal
    on_path = simd.no_lane(zero)
    for i in range(f):
        x = simd.load(labels, at + i * lanes)
        from_s, from_t = x ^ s, x ^ t
        on_path = on_path | is_on_path(from_s, from_t, zero)
        least = simd.minimum(least, simd.minimum(from_s, from_t))
    repeated = simd.bits(least == zero)
    return simd.bits(nearest <= 2) | repeated, repeated, simd.bits(on_path), difference


@block(always=True)
def _update_first_minimal(work, trial, by_route3):
    """Update the smallest trials with minimal routes by a trial, which ROUTE1 and ROUTE2 have, and ``by_route3`` ROUTE3 too."""
    work.first_minimal[_BY_ROUTE1] = min(work.first_minimal[_BY_ROUTE1], trial)
    if by_route3:
        work.first_minimal[_BY_ROUTE3] = min(work.first_minimal[_BY_ROUTE3], trial)


@block(always=True)
def _record_decided(work, h, decided, on_path, trials, lanes):
    """Record the trials ``decided`` of a vector, of Hamming distances h, completely."""
    work.counted[_BY_FILTER] += bits.popcount(decided)
    work.counted[_DELIVERED] += bits.popcount(decided & ~on_path)
    add_chosen_lanes(h, decided, 512 // lanes, work.filter_sums)
    if trials.start < max(work.first_minimal[_BY_ROUTE1], work.first_minimal[_BY_ROUTE3]):
        _update_first_minimal(work, sieve.trial_in_lane(trials, bits.lowest(decided)), True)


def _make_filter(add_high: Any) -> Any:
    """Return the filter block for ``make_sieve``; ``add_high`` adds the distances in the high bits.

    The block queues the trials that it leaves, or for n > 32 runs them one at a time.
    """

    @block(always=True)
    def filter_vector(work, trials, lanes, tally):
        n = work.trial.n
        close, repeated, on_path, difference = inspect_vector(work, trials, lanes)
        wanted = sieve.wanted_lanes(trials, lanes)
        undecided = (close if work.decides_lost and n <= 32 else close | on_path) & wanted
        decided = wanted ^ undecided
        if decided:
            h = simd.popcount(difference)
            if n > 32:
                h = add_high(h, trials, work.f, n)
            _record_decided(work, h, decided, on_path, trials, lanes)
        while n > 32 and undecided:
            run_trial(trials.key, sieve.trial_in_lane(trials, bits.lowest(undecided)), work.params, work.trial, tally)
            undecided &= undecided - ONE
        if undecided == ZERO:
            return False
        sieve.queue_trials(work.queue, work.samples, trials, undecided, repeated, lanes)
        return True

    return filter_vector


# ---------------------------------------------------------------- 2. closure


@block(stored=True)
def close_first_vector(cells, masks, f):
    """Close the subcubes of a queue's first vector, with the loops unrolled for f = 4 .. 7."""
    if f == 4:
        close_subcubes(cells, 2, masks, 4)
    elif f == 5:
        close_subcubes(cells, 2, masks, 5)
    elif f == 6:
        close_subcubes(cells, 2, masks, 6)
    elif f == 7:
        close_subcubes(cells, 2, masks, 7)
    else:
        close_subcubes(cells, 2, masks, f)


@block(always=True)
def _inspect_queue(work, lanes):
    """Close the subcubes of the queue's first vector into ``work.masks``; return its Hamming distances and three masks, as bits.

    The masks are: a fault on ROUTE's path; a faulty or unsafe node between its ends; all nodes unsafe.  "Between" means from the
    path's second node to its last but one; for adjacent ends these are t and s.
    """
    f, queue = work.f, work.queue
    close_first_vector(queue.cells, work.masks, f)
    s = load_label(queue, f, lanes)
    t = load_label(queue, f + 1, lanes)
    zero = s - s
    whole = simd.splat_like(s, (ONE << np.uint64(work.trial.n)) - ONE)
    difference = s ^ t
    second = s ^ simd.top_bit(difference)
    last_but_one = t ^ (difference & (zero - difference))
    on_path = simd.no_lane(s)
    unsafe_between = on_path
    all_unsafe = on_path
    for i in range(f):
        x = load_label(queue, i, lanes)
        mask = simd.load(work.masks, lanes * i)
        on_path = on_path | is_on_path(x ^ s, x ^ t, zero)
        unsafe_between = unsafe_between | is_on_path((x ^ second) & ~mask, (x ^ last_but_one) & ~mask, zero)
        all_unsafe = all_unsafe | (mask == whole)
    return simd.popcount(difference), simd.bits(on_path), simd.bits(unsafe_between), simd.bits(all_unsafe)


@block(always=True)
def _update_first_queued(work, decided, active, lanes):
    """Do ``_update_first_minimal`` for the trials ``decided`` of the queue's first vector, ROUTE3 for those also in ``active``.

    Nothing is done if all of them are too large to matter: vectors are queued in order, so no trial is smaller than the first
    one of the queue by ``lanes`` or more.
    """
    smallest_found = max(work.first_minimal[_BY_ROUTE1], work.first_minimal[_BY_ROUTE3])
    if sieve.decode_trial(work.queue, lanes, 0) >= smallest_found + lanes:
        return
    while decided:
        i = bits.lowest(decided)
        _update_first_minimal(work, sieve.decode_trial(work.queue, lanes, i), active >> np.uint64(i) & ONE != ZERO)
        decided &= decided - ONE


@block(always=True)
def _route_column(work, column, on_path, unsafe_between, all_unsafe, lanes, tally):
    """Route the trial in a column of the queue in scalar code."""
    f, cells, faults = work.f, work.queue.cells, work.trial.faults
    row_length = 2 * lanes
    for j in range(f):
        x = cells[row_length * j + column]
        faults.labels[j] = x
        faults.base[j] = x
        faults.free[j] = work.masks[lanes * j + column]
    faults.size[SUBCUBES] = f  # each fault's, equal ones included
    index_faults(faults)
    s, t = np.uint64(cells[row_length * f + column]), np.uint64(cells[row_length * (f + 1) + column])
    trial_bit = ONE << np.uint64(column)
    trial = sieve.decode_trial(work.queue, lanes, column)
    path_clear, path_unsafe = on_path & trial_bit == ZERO, unsafe_between & trial_bit != ZERO
    finish_trial(work.trial, path_clear, path_unsafe, all_unsafe & trial_bit == ZERO, s, t, trial, tally)


def _make_close_queue(route_nearer: Any) -> Any:
    """Return the block ``close_queue(work, least, lanes, tally)``: close and count the first vector of the queue.

    ``route_nearer`` is ``greedy.route_lanes`` or ``greedy.skip_routes``.
    """

    @block
    def close_queue(work, least, lanes, tally):
        queue = work.queue
        if queue.filled[0] < least:
            return queue.filled[0] > 0
        h, on_path, unsafe_between, all_unsafe = _inspect_queue(work, lanes)
        live = bits.first_lanes(queue.filled[0], lanes)
        undecided1, undecided3, in_one_subcube = route_nearer(
            work, on_path & live, unsafe_between & ~all_unsafe & live, lanes
        )
        undecided = undecided1 | undecided3
        decided = live & ~undecided
        active = decided & ~all_unsafe
        add_chosen_lanes(h, decided, 512 // lanes, work.queue_sums)
        add_chosen_lanes(h, active, 512 // lanes, work.active_sums)
        work.counted[_BY_QUEUE] += bits.popcount(decided)
        work.counted[_DELIVERED] += bits.popcount(decided & ~on_path)
        work.counted[_WITH_ACTIVE] += bits.popcount(active)
        work.counted[_IN_ONE_SUBCUBE] += bits.popcount(active & in_one_subcube)
        work.counted[_DELIVERED_ALL_UNSAFE] += bits.popcount(decided & all_unsafe & ~on_path)
        _update_first_queued(work, decided, active, lanes)
        while undecided:
            _route_column(work, bits.lowest(undecided), on_path, unsafe_between, all_unsafe, lanes, tally)
            undecided &= undecided - ONE
        sieve.drop_first_vector(queue, lanes)
        return queue.filled[0] > 0

    return close_queue


# ---------------------------------------------------------------- the kernels


@block
def _record_counts(work, tally):
    """Tally the trials that lanes have decided: all of them, and those with an active node, which the filter's trials have."""
    decided = work.counted[_BY_FILTER] + work.counted[_BY_QUEUE]
    active = work.counted[_BY_FILTER] + work.counted[_WITH_ACTIVE]
    tally[ROUTE_DELIVERED] += work.counted[_DELIVERED]
    tally[SAME_SUBCUBE] += work.counted[_IN_ONE_SUBCUBE]
    tally[REACHABLE] += decided if work.trial.n <= MAX_SEARCHED_DIMENSION else 0
    delivered = work.counted[_DELIVERED] - work.counted[_DELIVERED_ALL_UNSAFE]
    record_active(tally, active, delivered, active, active)
    total, squares = read_both_sums(work.filter_sums, work.queue_sums)
    record1_minimal(tally, decided, total, squares, work.first_minimal[_BY_ROUTE1])
    record2_minimal(tally, decided, total, squares, work.first_minimal[_BY_ROUTE1])
    total, squares = read_both_sums(work.filter_sums, work.active_sums)
    record3_minimal(tally, active, total, squares, work.first_minimal[_BY_ROUTE3])


def _make_kernel(width: int, word: Any) -> Kernel:
    """Return the kernel with lanes of ``width`` bits, whose arrays have elements of the type ``word``."""
    lanes = 512 // width  # a constant of the closure, for which all callees are specialised
    sift_trials = sieve.make_sieve(
        _make_filter(_add_high_distances if width == 32 else _leave_distances),
        _make_close_queue(route_lanes if width == 8 else skip_routes),
    )

    @scratch
    def workspace_for(params, first, stop):
        n, f = np.int64(params[N]), np.int64(params[F])
        return RoutingWorkspace(
            set_up(params),
            params,
            f,
            np.int64(params[K]) <= MAX_DECIDED_K,
            sieve.make_samples(n, f + 2, lanes, word),
            sieve.make_queue(n, f + 2, first, lanes, word),
            np.zeros(f * lanes, word),
            ReversedFaults(np.zeros(f * lanes, word), np.zeros(f * lanes, word)),
            make_distance_sums(),
            make_distance_sums(),
            make_distance_sums(),
            np.zeros(_DELIVERED_ALL_UNSAFE + 1, np.int64),
            np.array([stop, stop]),
        )

    @kernel(TRIALS_SIGNATURE, variant=f"{width}")
    def routing_lanes(key, first, stop, params, tally):
        """Run trials at (n, f, 0, k) = params; 1 < f <= 2^(n-1) - 2, and n in 3..8, 9..16 or 17..62 by the lanes' width."""
        if first < stop:
            work = workspace_for(params, first, stop)
            sift_trials(key, first, stop, work, lanes, tally)
            _record_counts(work, tally)

    return routing_lanes


#: Kernels for n <= 8, n <= 16 and n <= 62.
ROUTING_LANES_8 = _make_kernel(8, np.uint8)
ROUTING_LANES_16 = _make_kernel(16, np.uint16)
ROUTING_LANES_32 = _make_kernel(32, np.uint32)

#: Points (n, f, links, k) on both sides of each threshold inside these kernels, by the reason for the threshold.
EDGES = {
    "up to k = 3 the filter decides a trial without close faults": ((10, 6, 0, 3), (10, 6, 0, 4)),
    "loops over pairs are unrolled for 4 to 7 faults": ((12, 3, 0, 1), (12, 4, 0, 1), (12, 7, 0, 1), (12, 8, 0, 1)),
    "up to n = 8 trials are routed in lanes": ((8, 5, 0, 2), (9, 5, 0, 2)),
    "up to n = MAX_SEARCHED_DIMENSION trials with a path are counted": ((12, 8, 0, 1), (13, 8, 0, 1)),
    "lanes of 16 and of 32 bits": ((16, 8, 0, 1), (17, 8, 0, 1)),
    "above n = 32 lanes hold the low 32 bits of a label": ((32, 40, 0, 1), (33, 40, 0, 1)),
}
