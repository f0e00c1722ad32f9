"""Kernels of the routing rules under any number of faulty nodes, n = 6 .. 12, with safety statuses of eight cubes at a time.

``make_whole_cube_kernel`` makes the entry points ``ROUTING_RULES_WHOLE_8`` (n <= 8) and ``_16`` (n >= 9), whose work is in the
block ``filter_trials``.  They sample LABELS with the study's key, and in scalar code SIDETRACK's CHOICES.

*Terms.*  s and t are the ends of a message, H is their Hamming distance.  A neighbour is *preferred* if it is nearer to t.  The
*first path* is ROUTE's, which corrects bits from the most significant down; it is *free* if no fault is on it.  All rules but
ROUTE, LEVELS and VECTORS go to a nonfaulty preferred neighbour wherever there is one.  A trial is *minimal* if these rules so
deliver over H links.  Most of them take the first such neighbour; those in WANDERING_RULES may take another.

1. *Labels.*  Tests of a vector of trials (``label_tests.py``) find those that are minimal and those with a free first path.  For
   n > 8, few faults and no rule in WANDERING_RULES they also find trials in which LEVELS and VECTORS deliver over H whatever the
   statuses elsewhere.  These trials are counted at once, if there are users' rules only with a free first path.
2. *Placing.*  The faults of the other trials are marked in bitmasks, in groups of eight trials (``planes.py``).  For n > 8 these
   trials wait until eight of them are placed; for n <= 8 no trial is counted before, so all trials of a vector are placed.
3. *Statuses.*  ``plane_statuses.py`` finds the trials in which LEVELS and VECTORS deliver over H, 512 nodes per operation.  A
   level k implies vector bit k, so vectors are computed only if LEVELS does not deliver over H.

Trials in which all rules but ROUTE deliver over H are *decided*.  They are counted (``lane_decisions.py``), and users' rules run
in those without a free first path.  In the other trials all rules are evaluated, one trial at a time, with the known results of
LEVELS and VECTORS.

Lanes and places number trials as in ``planes.py``.  Masks have bit i for lane i of a vector, or for the i-th trial of a group.
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
from . import label_tests
from .lane_decisions import DECIDED, FREE_PATH, DecidedTrials, count_decided, make_decided_recorder, make_decided_trials
from .layout import NAMES, REFERENCE, WANDERING_RULES, F, N, make_layout
from .plane_statuses import find_active_trials, find_delivered_trials, mark_neighbours
from .planes import locate_faults, make_planes, place_eight, place_trial, plane_words
from .rules import NO_RESULT, POINT_KEY, REFUSED, RULES, set_known_results
from .safety_status import LEVELS, VECTORS
from .scalar import Scratch, begin_trial, make_evaluator, make_user_rule_evaluator, set_up

#: Mask of the trials of a group.
_EIGHT_TRIALS = np.uint64(255)


class WholeCubeWorkspace(NamedTuple):
    """Scratch memory of a kernel's call."""

    scratch: Scratch  #: for trials that are evaluated one at a time
    f: I64  #: number of faulty nodes
    sampled: I64  #: number of labels of a trial's random sequence that lanes sample; even, as ``draw_rows`` writes two at a time
    labels: Cells  #: label k of each trial's sequence in vector k, k < ``sampled``; ``pad_labels`` overwrites those from f on
    sources: Cells  #: one vector: source of each trial
    destinations: Cells  #: one vector: destination of each trial
    #: one vector: number of labels of the sequence that contain the faults; ``sampled`` + 1 if they are more than ``sampled``
    needed: Cells
    # For each row of labels one vector, in which a test of ``label_tests`` stores a property of the fault in that row.  Nothing
    # in these four arrays outlives the test.
    outside: Cells  #: 0 if the fault is between the ends, else all bits
    offsets: Cells  #: the bits in which the fault differs from t, in reverse order
    far_from_low: Cells  #: 0 if the fault is within H - 2 of the preferred neighbour over the lowest bit, else all bits
    far_from_high: Cells  #: likewise for the preferred neighbour over the highest bit
    #: source of each placed trial; for n <= 8, where all trials of a vector are placed in their order, the array ``sources``
    queued_sources: Cells
    queued_destinations: Cells  #: destination of each placed trial; for n <= 8 the array ``destinations``
    trials: Ints  #: indices of the placed trials
    planes: Words  #: the planes of ``planes.py``
    decided: DecidedTrials


@block(always=True)
def _result_of(h, at_hamming, above_hamming, i):
    """Return the result of LEVELS or VECTORS in trial i of a group, from the masks of ``find_delivered_trials``."""
    if at_hamming >> np.uint64(i) & ONE:
        return h
    return h + 2 if above_hamming >> np.uint64(i) & ONE else REFUSED


@block(always=True)
def _count_decided_group(work, place, decided, free):
    """Count the decided trials of the group from ``place`` on, and those among them with a free first path."""
    # & 7: the lowest bit of an empty mask is 64, and ``count_decided`` then does not use the trial
    count_decided(work.decided, decided, work.trials[place + (lowest(decided) & 7)], DECIDED)
    count_decided(work.decided, decided & free, work.trials[place + (lowest(decided & free) & 7)], FREE_PATH)


def _make_placed_trial_evaluator(evaluate: Any, needs_unsafe_nodes: bool) -> Any:
    """Return the block ``evaluate_placed(work, place, n, tally)``: evaluate one placed trial by the scalar block ``evaluate``.

    The faults are read from the trial's words of its plane, in ascending order.
    """

    @block
    def evaluate_placed(work, place, n, tally):
        faults, trial = work.scratch.world.faults, work.trials[place]
        first_word = locate_faults(place, n) + (place & 7)
        count = np.int64(0)
        for v in range(np.int64(1) << (n - 6)):
            rest = work.planes[first_word + 8 * v]
            while rest:
                faults.labels[count] = np.uint64(64 * v + lowest(rest))
                count += 1
                rest &= rest - ONE
        index_faults(faults)
        if needs_unsafe_nodes:
            unsafe_subcubes(faults)
        begin_trial(work.scratch, trial)
        s, t = np.uint64(work.queued_sources[place]), np.uint64(work.queued_destinations[place])
        evaluate(work.scratch, s, t, trial, tally)

    return evaluate_placed


def _make_group_router(evaluate: Any, evaluate_user_rules: Any, names: Sequence[str]) -> Any:
    """Return the block ``route_group(work, n, place, live, free, minimal, tally)``: decide or evaluate a group of eight trials.

    ``place``, a multiple of eight, is the place of its first trial.  The masks tell which places hold trials (``live``), have a
    free first path and are minimal; bits 8 and up are ignored.  ``evaluate_user_rules`` is None in a table without users' rules.
    """
    has_levels, has_vectors, has_route3 = "levels" in names, "vectors" in names, "route3" in names
    has_user_rules = evaluate_user_rules is not None
    evaluate_placed = _make_placed_trial_evaluator(evaluate, has_route3 or has_user_rules)
    evaluate_users_in_placed = _make_placed_trial_evaluator(evaluate_user_rules, True)

    @block(always=True)  # a call would pass a hundred arguments
    def route_group(work, n, place, live, free, minimal, tally):
        world = work.scratch.world
        faulty_plane = locate_faults(place, n)
        h = mark_neighbours(work, n, place)
        # trials in which LEVELS and VECTORS deliver over H; a rule that is not in the table counts as delivering
        levels_at_hamming, vectors_at_hamming, levels_above_hamming, vectors_above_hamming = live, live, ZERO, ZERO
        if has_levels:
            levels_at_hamming, levels_above_hamming = find_delivered_trials(
                work.planes, faulty_plane, n, h, live, LEVELS
            )
        if has_vectors:
            implied = levels_at_hamming if has_levels else ZERO
            vectors_at_hamming, vectors_above_hamming = find_delivered_trials(
                work.planes, faulty_plane, n, h, live & ~implied, VECTORS
            )
            vectors_at_hamming |= implied
        decided = levels_at_hamming & vectors_at_hamming & minimal
        if has_route3:
            decided &= find_active_trials(work.planes, faulty_plane, n)
        _count_decided_group(work, place, decided, free)
        if has_user_rules:
            set_known_results(world, NO_RESULT, NO_RESULT)
            rest = decided & ~free
            while rest:
                evaluate_users_in_placed(work, place + lowest(rest), n, tally)
                rest &= rest - ONE
        rest = live & ~decided
        while rest:
            i = lowest(rest)
            rest &= rest - ONE
            distance = popcount(
                np.uint64(work.queued_sources[place + i]) ^ np.uint64(work.queued_destinations[place + i])
            )
            by_levels = _result_of(distance, levels_at_hamming, levels_above_hamming, i)
            by_vectors = _result_of(distance, vectors_at_hamming, vectors_above_hamming, i)
            set_known_results(world, by_levels, by_vectors)
            evaluate_placed(work, place + i, n, tally)

    return route_group


def _make_lane_finder(has_wandering_rule: bool, uses_first_path: bool) -> Any:
    """Return the block ``find_free_and_minimal(work, rows, lanes)``, which returns the lanes that are free and that are minimal.

    ``rows`` is the number of rows of labels with faults.  ``has_wandering_rule`` says whether a rule is in WANDERING_RULES,
    ``uses_first_path`` whether a rule takes a free first path.
    """

    @block(always=True)
    def find_free_and_minimal(work, rows, lanes):
        minimal = (
            label_tests.find_lanes_without_close_blockers(work, rows, lanes)
            if has_wandering_rule
            else label_tests.find_greedily_delivered_lanes(work, rows, lanes)
        )
        # without such a rule no result depends on ``free``, and FREE_PATH then counts all DECIDED trials
        free = label_tests.find_free_path_lanes(work, rows, lanes) if uses_first_path else minimal
        return free, minimal

    return find_free_and_minimal


# ---------------------------------------------------------------- n <= 8


@block(always=True)
def _place_vector(work, key, start, n, lanes):
    """Mark the faults of the vector of trials from ``start`` on in their cubes, n <= 8."""
    size = plane_words(n)
    for group in range(0, lanes, 8):
        plane = locate_faults(group, n)
        unplaced = place_eight(work, n, group, lanes, plane)
        while unplaced:
            i = lowest(unplaced)
            unplaced &= unplaced - ONE
            for v in range(0, size, 8):
                work.planes[plane + v + i] = ZERO
            place_trial(work, key, start + group + i, n, group + i, lanes, plane + i)


def _make_small_cube_filter(route_group: Any, find_free_and_minimal: Any) -> Any:
    """Return the block ``filter_trials(key, first, stop, work, lanes, tally)`` for n <= 8, placing all trials of a vector."""

    @block
    def filter_trials(key, first, stop, work, lanes, tally):
        n = work.scratch.world.n
        words = work.labels.view(np.uint64)
        pattern = lane_pattern(n, lanes)
        for start in range(first - first % lanes, stop, lanes):
            # the eight blocks of random words of a vector of trials
            draw_rows(key, np.uint64(8 * (start // lanes)), work.sampled, pattern, words)
            _place_vector(work, key, start, n, lanes)
            rows, complete = label_tests.pad_labels(work, lanes)
            free, minimal = find_free_and_minimal(work, rows, lanes)
            minimal &= complete
            live = valid_lanes(start, 1, lanes, first, stop)
            for i in range(lanes):
                work.trials[i] = start + i
            for group in range(0, lanes, 8):
                by = np.uint64(group)
                route_group(work, n, group, live >> by & _EIGHT_TRIALS, free >> by, minimal >> by, tally)

    return filter_trials


# ---------------------------------------------------------------- n > 8


@block
def _move_waiting_trials(work, n, done, waiting):
    """Clear the groups before place ``done`` (a multiple of 8), and move the fewer than eight trials from there to the front."""
    size = plane_words(n)
    front, plane = locate_faults(0, n), locate_faults(done, n)
    for v in range(front, plane, 8):
        simd.store(work.planes, v, simd.splat(ZERO))
    if done and done < waiting:
        for v in range(0, size, 8):
            simd.store(work.planes, front + v, simd.load(work.planes, plane + v))
            simd.store(work.planes, plane + v, simd.splat(ZERO))
        for i in range(waiting - done):
            work.trials[i] = work.trials[done + i]
            work.queued_sources[i] = work.queued_sources[done + i]
            work.queued_destinations[i] = work.queued_destinations[done + i]


@block(always=True)
def _enqueue_trials(work, key, start, n, chosen, waiting, lanes):
    """Place the ``chosen`` lanes of the vector of trials from ``start`` on, after the ``waiting`` trials placed before.

    The ends and ``needed`` of these lanes are written, too.
    """
    # other lanes need f labels, the least, so that pad_labels does not look at further rows for them
    simd.store(work.needed, 0, simd.splat_like(simd.load(work.needed, 0), np.uint64(work.f)))
    place = waiting
    while chosen:
        lane = lowest(chosen)
        chosen &= chosen - ONE
        place_trial(work, key, start + lane, n, lane, lanes, locate_faults(place, n) + (place & 7))
        work.queued_sources[place] = work.sources[lane]
        work.queued_destinations[place] = work.destinations[lane]
        work.trials[place] = start + lane
        place += 1


def _make_queue_filter(
    route_group: Any, find_free_and_minimal: Any, has_wandering_rule: bool, has_user_rules: bool
) -> Any:
    """Return the block ``filter_trials(key, first, stop, work, lanes, tally)`` for n > 8, placing trials undecided by labels.

    ``has_wandering_rule`` says whether a rule is in WANDERING_RULES, ``has_user_rules`` whether users' rules must run where the
    first path is not free.
    """

    @block(always=True)
    def count_label_decided(work, start, live, lanes):
        """Count the trials that labels alone decide, and return their lanes.

        Labels f and f + 1 are taken for the ends and those before for the faults, which is right if all of them differ;
        ``find_known_level_lanes`` leaves out other trials.
        """
        simd.store(work.sources, 0, simd.load(work.labels, lanes * work.f))
        simd.store(work.destinations, 0, simd.load(work.labels, lanes * (work.f + 1)))
        free, minimal = label_tests.find_simple_lanes(work, work.f, lanes)
        decided = live & minimal & label_tests.find_known_level_lanes(work, lanes)
        if has_user_rules:
            decided &= free
        # the lowest bit of an empty mask is 64, and ``count_decided`` then does not use the trial
        count_decided(work.decided, decided, start + lowest(decided), DECIDED)
        count_decided(work.decided, decided & free, start + lowest(decided & free), FREE_PATH)
        return decided

    @block(always=True)
    def find_free_and_minimal_placed(work, chosen, tests_labels, lanes):
        """Return the lanes that are free and that are minimal among the ``chosen`` lanes, whose trials are placed."""
        rows, complete = label_tests.pad_labels(work, lanes)
        if tests_labels:
            free, minimal = label_tests.find_simple_lanes(work, rows, lanes)
            if chosen & ~minimal:
                minimal = label_tests.find_greedily_delivered_lanes(work, rows, lanes)
            return free, minimal & complete
        free, minimal = find_free_and_minimal(work, rows, lanes)
        return free, minimal & complete

    @block
    def filter_trials(key, first, stop, work, lanes, tally):
        n, f = work.scratch.world.n, work.f
        words = work.labels.view(np.uint64)
        pattern = lane_pattern(n, lanes)
        # with more faults statuses cost less than the comparison of all pairs of faults
        tests_labels = not has_wandering_rule and f * f <= np.int64(1) << (n - 1)
        waiting = np.int64(0)
        free, minimal = ZERO, ZERO  # masks of the waiting trials, by place
        start = first - first % lanes
        while start < stop or waiting:
            if start < stop:
                # the eight blocks of random words of a vector of trials
                draw_rows(key, np.uint64(8 * (start // lanes)), work.sampled, pattern, words)
                chosen = valid_lanes(start, 1, lanes, first, stop)
                if tests_labels:
                    chosen &= ~count_label_decided(work, start, chosen, lanes)
                _enqueue_trials(work, key, start, n, chosen, waiting, lanes)
                free_lanes, minimal_lanes = find_free_and_minimal_placed(work, chosen, tests_labels, lanes)
                free |= extract(free_lanes, chosen) << np.uint64(waiting)
                minimal |= extract(minimal_lanes, chosen) << np.uint64(waiting)
                waiting += popcount(chosen)
                start += lanes
            done = np.int64(0)
            while done + 8 <= waiting or (start >= stop and done < waiting):
                by = np.uint64(done)
                route_group(work, n, done, first_lanes(waiting - done, 8), free >> by, minimal >> by, tally)
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
    has_wandering_rule = not set(WANDERING_RULES).isdisjoint(names)
    find_free_and_minimal = _make_lane_finder(has_wandering_rule, uses_first_path=bool(users) or "route" in names)
    is_small = width == 8
    filter_trials = (
        _make_small_cube_filter(route_group, find_free_and_minimal)
        if is_small
        else _make_queue_filter(route_group, find_free_and_minimal, has_wandering_rule, bool(users))
    )
    slots = lanes if is_small else lanes + 8  # one group more, because trials of an incomplete group wait for others
    record_decided = make_decided_recorder(layout, names, reference, bool(users))

    @scratch
    def workspace_for(params, stop):
        n, f = np.int64(params[N]), np.int64(params[F])
        sampled = lane_places(n, f + 2)
        sources, destinations = np.zeros(lanes, word), np.zeros(lanes, word)
        return WholeCubeWorkspace(
            set_up(params),
            f,
            sampled,
            np.zeros(sampled * lanes, word),
            sources,
            destinations,
            np.zeros(lanes, word),
            np.zeros(sampled * lanes, word),
            np.zeros(sampled * lanes, word),
            np.zeros(f * lanes, word),
            np.zeros(f * lanes, word),
            sources if is_small else np.zeros(slots, word),
            destinations if is_small else np.zeros(slots, word),
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
