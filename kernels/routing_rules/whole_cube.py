"""Rules under any number of faulty nodes, n = 6 .. 12: safety statuses of whole cubes, eight trials at a time.

``make_whole_cube_kernel`` makes the entry points ``ROUTING_RULES_WHOLE_8`` and ``_16``.  The work starts in
``routing_rules_whole``, and in the block ``filter_trials`` of ``_make_small_cube_filter`` or ``_make_queue_filter``.  They sample
LABELS with the study's key, and in scalar code SIDETRACK's CHOICES.

1. *paths*, lanes of labels (``levels_from_labels.py``).  They find the trials in which all rules that prefer a nearer neighbour,
   active or not, deliver over H: all rules but ROUTE, LEVELS and VECTORS.  They find free first paths.  For n > 8, few faults and
   no rule in WANDERING_RULES they also find trials in which LEVELS and VECTORS deliver over H whatever the statuses elsewhere.
   Those trials are counted, if there are users' rules only with a free first path.  For n > 8 the other trials are queued; for
   n <= 8 all trials are placed.
2. *placing*, groups of eight trials: each trial's faults are marked in its cube (``planes.py``).
3. *statuses*, 512 nodes per operation (``plane_statuses.py``).  A level k implies vector bit k, so vectors are computed only if
   LEVELS does not deliver over H.

Trials in which all rules but ROUTE deliver over H are counted, and users' rules run in those without a free first path.  In the
other trials all rules are evaluated, one trial at a time, with the known results of LEVELS and VECTORS.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..draws.faults import index_faults, unsafe_subcubes
from ..draws.lanes import draw_rows, lane_pattern, valid_lanes
from ..machine import simd
from ..machine.array_types import I64, Cells, Ints, Words
from ..machine.bits import ONE, ZERO, extract, first_lanes, lowest, popcount
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from ..machine.trials import name_variant
from ..survival.drawing import lane_places
from . import levels_from_labels
from .lane_counts import DECIDED, FREE_PATH, DecidedTrials, count_decided, make_decided_recorder, make_decided_trials
from .layout import NAMES, REFERENCE, WANDERING_RULES, F, N, make_layout
from .levels_from_labels import DESTINATIONS, NEEDED, SOURCES
from .plane_statuses import active_lanes, find_delivered_lanes, mark_neighbours
from .planes import group_offset, make_planes, place_eight, place_trial, plane_words
from .rules import NOT_KNOWN, POINT_KEY, REFUSED, RULES, set_known_results
from .safety_status import LEVELS, VECTORS
from .scalar import Scratch, begin_trial, make_evaluator, make_user_rule_evaluator, set_up

_EIGHT_LANES = np.uint64(255)


class WholeCubeWorkspace(NamedTuple):
    """Scratch memory of a kernel's call."""

    scratch: Scratch  #: for trials that are evaluated one at a time
    f: I64  #: number of faulty nodes
    ready: I64  #: number of labels of a trial's random sequence that lanes sample; even, as ``draw_rows`` writes two at a time
    labels: Cells  #: rows of one vector: labels of the trials
    fault_rows: Cells  #: two rows for each row of labels, in which ``levels_from_labels`` stores properties of faults
    ends: Cells  #: rows of one vector: sources, destinations, and the number of labels that contain the faults
    #: sources of the placed trials, and their destinations ``slots`` entries later; for n <= 8 the same array as ``ends``,
    #: because all trials of a vector are placed, in their order
    queued: Cells
    trials: Ints  #: indices of the placed trials
    planes: Words  #: the planes of ``planes.py``
    decided: DecidedTrials


@block(always=True)
def _result_in_lane(h, at_hamming, above_hamming, i):
    """Return the result of a rule in lane i from the masks of ``find_delivered_lanes``."""
    if at_hamming >> np.uint64(i) & ONE:
        return h
    return h + 2 if above_hamming >> np.uint64(i) & ONE else REFUSED


def _make_lane_evaluator(evaluate: Any, closes: bool) -> Any:
    """Return the block ``evaluate_lane(work, trial, at, i, s, t, tally)``: evaluate the trial in lane i of the group at ``at``.

    ``closes`` says whether the rules need the unsafe nodes.
    """

    @block
    def evaluate_lane(work, trial, at, i, s, t, tally):
        world = work.scratch.world
        faults = world.faults
        count = np.int64(0)
        for v in range(np.int64(1) << (world.n - 6)):
            rest = work.planes[at + 8 * v + i]
            while rest:
                faults.labels[count] = np.uint64(64 * v + lowest(rest))
                count += 1
                rest &= rest - ONE
        index_faults(faults)
        if closes:
            unsafe_subcubes(faults)
        begin_trial(work.scratch, trial)
        evaluate(work.scratch, s, t, trial, tally)

    return evaluate_lane


def _make_group_router(evaluate: Any, evaluate_user_rules: Any, names: Sequence[str]) -> Any:
    """Return the block ``route_group(work, n, column, live, minimal, free, tally)``: decide eight trials by their statuses.

    ``live`` are the lanes of the group at ``column`` that hold trials.  By ``levels_from_labels``, in the lanes ``minimal`` all
    rules that prefer a nearer neighbour deliver over H, and in the lanes ``free`` no fault is on the first path.
    ``evaluate_user_rules`` is None in a table without users' rules.
    """
    has_levels, has_vectors, has_route3 = "levels" in names, "vectors" in names, "route3" in names
    has_user_rules = evaluate_user_rules is not None
    evaluate_lane = _make_lane_evaluator(evaluate, has_route3 or has_user_rules)
    evaluate_users_in_lane = _make_lane_evaluator(evaluate_user_rules, True)

    @block(always=True)  # a call would pass a hundred arguments
    def route_group(work, n, column, live, minimal, free, tally):
        world, slots = work.scratch.world, work.trials.size
        at = group_offset(column, n)
        h = mark_neighbours(work, n, column, slots)
        # lanes in which LEVELS and VECTORS deliver over H; a rule that is not in the table counts as delivering
        levels_at_hamming, vectors_at_hamming, levels_above_hamming, vectors_above_hamming = live, live, ZERO, ZERO
        if has_levels:
            levels_at_hamming, levels_above_hamming = find_delivered_lanes(work.planes, at, n, h, live, LEVELS)
        if has_vectors:
            implied = levels_at_hamming if has_levels else ZERO
            vectors_at_hamming, vectors_above_hamming = find_delivered_lanes(
                work.planes, at, n, h, live & ~implied, VECTORS
            )
            vectors_at_hamming |= implied
        decided = levels_at_hamming & vectors_at_hamming & minimal
        if has_route3:
            decided &= active_lanes(work.planes, at, n)
        # & 7: the lowest of no lanes is 64, whose trial is not used
        count_decided(work.decided, decided, work.trials[column + (lowest(decided) & 7)], DECIDED)
        count_decided(work.decided, decided & free, work.trials[column + (lowest(decided & free) & 7)], FREE_PATH)
        if has_user_rules:
            set_known_results(world, NOT_KNOWN, NOT_KNOWN)
            rest = decided & ~free
            while rest:
                i = lowest(rest)
                rest &= rest - ONE
                s, t = np.uint64(work.queued[column + i]), np.uint64(work.queued[slots + column + i])
                evaluate_users_in_lane(work, work.trials[column + i], at, i, s, t, tally)
        rest = live & ~decided
        while rest:
            i = lowest(rest)
            rest &= rest - ONE
            s, t = np.uint64(work.queued[column + i]), np.uint64(work.queued[slots + column + i])
            distance = popcount(s ^ t)
            by_levels = _result_in_lane(distance, levels_at_hamming, levels_above_hamming, i)
            by_vectors = _result_in_lane(distance, vectors_at_hamming, vectors_above_hamming, i)
            set_known_results(world, by_levels, by_vectors)
            evaluate_lane(work, work.trials[column + i], at, i, s, t, tally)

    return route_group


def _make_lane_finder(wanders: bool, uses_first_path: bool) -> Any:
    """Return the block ``find_free_and_minimal(work, rows, lanes)`` for the lanes ``free`` and ``minimal`` of a group router.

    ``wanders`` says whether a rule is in WANDERING_RULES, ``uses_first_path`` whether a rule gains by a free first path.
    """

    @block(always=True)
    def find_free_and_minimal(work, rows, lanes):
        minimal = (
            levels_from_labels.lanes_without_close_blockers(work, rows, lanes)
            if wanders
            else levels_from_labels.greedily_delivered_lanes(work, rows, lanes)
        )
        # no rule depends on ``free`` otherwise; FREE_PATH then counts all DECIDED trials
        free = levels_from_labels.first_path_lanes(work, rows, lanes) if uses_first_path else minimal
        return free, minimal

    return find_free_and_minimal


# ---------------------------------------------------------------- n <= 8


@block(always=True)
def _place_vector(work, key, start, n, lanes):
    """Mark the faults of a vector of trials with n <= 8 in their cubes."""
    size = plane_words(n)
    for column in range(0, lanes, 8):
        at = group_offset(column, n)
        unplaced = place_eight(work, column, lanes, at)
        while unplaced:
            i = lowest(unplaced)
            unplaced &= unplaced - ONE
            for v in range(0, size, 8):
                work.planes[at + v + i] = ZERO
            place_trial(work, key, start + column + i, n, column + i, lanes, at + i)


def _make_small_cube_filter(route_group: Any, find_free_and_minimal: Any) -> Any:
    """Return the block ``filter_trials(key, first, stop, work, lanes, tally)`` for n <= 8, placing all trials of a vector."""

    @block
    def filter_trials(key, first, stop, work, lanes, tally):
        n = work.scratch.world.n
        words = work.labels.view(np.uint64)
        pattern = lane_pattern(n, lanes)
        for start in range(first - first % lanes, stop, lanes):
            # the eight blocks of a vector of trials
            draw_rows(key, np.uint64(8 * (start // lanes)), work.ready, pattern, words)
            _place_vector(work, key, start, n, lanes)
            rows, complete = levels_from_labels.pad_labels(work, lanes)
            free, minimal = find_free_and_minimal(work, rows, lanes)
            minimal &= complete
            live = valid_lanes(start, 1, lanes, first, stop)
            for i in range(lanes):
                work.trials[i] = start + i
            for column in range(0, lanes, 8):
                by = np.uint64(column)
                route_group(work, n, column, live >> by & _EIGHT_LANES, minimal >> by, free >> by, tally)

    return filter_trials


# ---------------------------------------------------------------- n > 8


@block
def _move_waiting_trials(work, n, done, waiting):
    """Clear the groups before trial ``done`` (a multiple of 8), and move the fewer than eight remaining trials to the front."""
    size, slots = plane_words(n), work.trials.size
    front, at = group_offset(0, n), group_offset(done, n)
    for v in range(front, at, 8):
        simd.store(work.planes, v, simd.splat(ZERO))
    if done and done < waiting:
        for v in range(0, size, 8):
            simd.store(work.planes, front + v, simd.load(work.planes, at + v))
            simd.store(work.planes, at + v, simd.splat(ZERO))
        for i in range(waiting - done):
            work.trials[i] = work.trials[done + i]
            work.queued[i] = work.queued[done + i]
            work.queued[slots + i] = work.queued[slots + done + i]


@block(always=True)
def _enqueue_trials(work, key, start, n, chosen, waiting, lanes):
    """Place the trials of a vector that are ``chosen`` after those that wait."""
    slots = work.trials.size
    # place_trial writes NEEDED of the trials that it places; others get f, the least, so that pad_labels does not wait for them
    simd.store(work.ends, NEEDED * lanes, simd.splat_like(simd.load(work.ends, 0), np.uint64(work.f)))
    place = waiting
    while chosen:
        i = lowest(chosen)
        chosen &= chosen - ONE
        place_trial(work, key, start + i, n, i, lanes, group_offset(place, n) + (place & 7))
        work.queued[place] = work.ends[SOURCES * lanes + i]
        work.queued[slots + place] = work.ends[DESTINATIONS * lanes + i]
        work.trials[place] = start + i
        place += 1


def _make_queue_filter(route_group: Any, find_free_and_minimal: Any, wanders: bool, has_user_rules: bool) -> Any:
    """Return the block ``filter_trials(key, first, stop, work, lanes, tally)`` for n > 8, placing trials undecided by labels.

    ``wanders`` says whether a rule is in WANDERING_RULES, ``has_user_rules`` whether users' rules must run where the first path
    is not free.
    """

    @block(always=True)
    def count_label_decided(work, start, live, lanes):
        """Count the trials that labels alone decide, and return their lanes."""
        simd.store(work.ends, SOURCES * lanes, simd.load(work.labels, lanes * work.f))
        simd.store(work.ends, DESTINATIONS * lanes, simd.load(work.labels, lanes * (work.f + 1)))
        free, minimal = levels_from_labels.find_simple_lanes(work, work.f, lanes)
        decided = live & minimal & levels_from_labels.level_known_lanes(work, lanes)
        if has_user_rules:
            decided &= free
        # the lowest of no lanes is 64, whose trial is not used
        count_decided(work.decided, decided, start + lowest(decided), DECIDED)
        count_decided(work.decided, decided & free, start + lowest(decided & free), FREE_PATH)
        return decided

    @block(always=True)
    def find_label_decided(work, chosen, tests_labels, lanes):
        """Return the lanes whose first path is free, and the lanes in which labels show that all built-in rules are minimal."""
        rows, complete = levels_from_labels.pad_labels(work, lanes)
        if tests_labels:
            free, minimal = levels_from_labels.find_simple_lanes(work, rows, lanes)
            if chosen & ~minimal:
                minimal = levels_from_labels.greedily_delivered_lanes(work, rows, lanes)
            return free, minimal & complete
        free, minimal = find_free_and_minimal(work, rows, lanes)
        return free, minimal & complete

    @block
    def filter_trials(key, first, stop, work, lanes, tally):
        n, f = work.scratch.world.n, work.f
        words = work.labels.view(np.uint64)
        pattern = lane_pattern(n, lanes)
        tests_labels = not wanders and f * f <= np.int64(1) << (n - 1)  # else statuses cost less than pairs of faults
        waiting = np.int64(0)
        free, minimal = ZERO, ZERO  # lanes of the waiting trials
        start = first - first % lanes
        while start < stop or waiting:
            if start < stop:
                # the eight blocks of a vector of trials
                draw_rows(key, np.uint64(8 * (start // lanes)), work.ready, pattern, words)
                chosen = valid_lanes(start, 1, lanes, first, stop)
                if tests_labels:
                    chosen &= ~count_label_decided(work, start, chosen, lanes)
                _enqueue_trials(work, key, start, n, chosen, waiting, lanes)
                free_now, minimal_now = find_label_decided(work, chosen, tests_labels, lanes)
                free |= extract(free_now, chosen) << np.uint64(waiting)
                minimal |= extract(minimal_now, chosen) << np.uint64(waiting)
                waiting += popcount(chosen)
                start += lanes
            done = np.int64(0)
            while done + 8 <= waiting or (start >= stop and done < waiting):
                by = np.uint64(done)
                route_group(work, n, done, first_lanes(waiting - done, 8), minimal >> by, free >> by, tally)
                done += 8
            _move_waiting_trials(work, n, done, waiting)
            waiting = max(waiting - done, np.int64(0))
            free >>= np.uint64(done)
            minimal >>= np.uint64(done)

    return filter_trials


# ---------------------------------------------------------------- kernels


def make_whole_cube_kernel(
    width: int,
    names: Sequence[str],
    user_rules: Mapping[str, Any] | None = None,
    code: Any = None,
    reference: str = REFERENCE,
) -> Kernel:
    """Return the kernel of a table of rules in lanes of ``width`` bits, at (n, f, 0) = params, 1 < f <= 2^(n-1) - 2.

    ``user_rules`` maps names to users' rules made by ``first_path``; ``code`` is the function of the first.
    """
    word = {8: np.uint8, 16: np.uint16}[width]
    lanes = 512 // width  # a constant of the closure, for which all callees are specialised
    users = user_rules or {}
    layout = make_layout(names, reference)
    rules = tuple(users[name] if name in users else RULES[name.upper()] for name in names)
    variant, cache = name_variant(*users.values()) if users else ("", True)
    route_group = _make_group_router(
        make_evaluator(rules, names, layout, reference),
        make_user_rule_evaluator(users, names, layout, reference) if users else None,
        names,
    )
    wanders = not set(WANDERING_RULES).isdisjoint(names)
    find_free_and_minimal = _make_lane_finder(wanders, uses_first_path=bool(users) or "route" in names)
    is_small = width == 8
    filter_trials = (
        _make_small_cube_filter(route_group, find_free_and_minimal)
        if is_small
        else _make_queue_filter(route_group, find_free_and_minimal, wanders, bool(users))
    )
    slots = lanes if is_small else lanes + 8  # one group more, because trials of an incomplete group wait for others
    record_decided = make_decided_recorder(layout, names, reference, bool(users))

    @scratch
    def workspace_for(params, stop):
        n, f = np.int64(params[N]), np.int64(params[F])
        ready = lane_places(n, f + 2)
        ends = np.zeros(3 * lanes, word)  # SOURCES, DESTINATIONS, NEEDED
        return WholeCubeWorkspace(
            set_up(params),
            f,
            ready,
            np.zeros(ready * lanes, word),
            np.zeros(2 * ready * lanes, word),
            ends,
            ends if is_small else np.zeros(2 * slots, word),
            np.zeros(slots, np.int64),
            make_planes(slots, n),
            make_decided_trials(stop),
        )

    @kernel(TRIALS_SIGNATURE, variant=f"{width}_{'_'.join(names)}_{reference}{variant}", cache=cache, code=code)
    def routing_rules_whole(key, first, stop, params, tally):
        """Run trials at (n, f, 0) = params, n in 6..8 or 9..12 by the lanes' width."""
        if first < stop:
            work = workspace_for(params, stop)
            work.scratch.world.now[POINT_KEY] = key
            filter_trials(key, first, stop, work, lanes, tally)
            record_decided(work.decided, work.scratch.world.n, tally)

    return routing_rules_whole


#: Kernels of the study ``routing-rules`` for n <= 8 and n <= 12.
ROUTING_RULES_WHOLE_8 = make_whole_cube_kernel(8, NAMES)
ROUTING_RULES_WHOLE_16 = make_whole_cube_kernel(16, NAMES)

#: Points (n, f, links) on both sides of each threshold inside these kernels, by the reason for the threshold.
EDGES = {
    "up to n = 8 a trial's nodes are four words at most": ((8, 8, 0), (9, 8, 0)),
    "up to 128 faults a rule compares a node with all of them": ((9, 128, 0), (9, 129, 0)),
    "up to f * f = 2^(n - 1) tables without ROUTE3 and SIDETRACK test labels first": (
        (9, 16, 0),
        (9, 17, 0),
        (11, 32, 0),
        (11, 33, 0),
    ),
}
