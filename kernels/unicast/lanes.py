"""Rules under few faulty nodes, n = 9 .. 62: lanes are trials, as in :mod:`fastcube.kernels.routing.lanes`.

Entry: ``RIVALS_LANES_16``, ``_32``, which :func:`make_lanes_kernel` makes; the work starts in ``rivals_lanes``, and ``sift`` of
:func:`_make_filter`.  Draws LABELS, in scalar code HIGH_LABELS (n > 32) and SIDETRACK's CHOICES too, from the
study's key as it is.

1. *filter*: where no two faults are within distance 2 every trial is decided: no node is unsafe, all words are full, and every
   node has at most one faulty neighbour, so that while two or more bits differ some preferred hop is good, and the last leads
   to t.  Hence all rules deliver over the Hamming distance, but ROUTE, which does unless a fault is on its path.
2. *closure*: the others are pressed together and closed a vector at a time.  With at most one fault between the ends the same
   holds of a message's way; with none on the first path ROUTE1, A1 and DFS take that.  LEVELS and VECTORS go over H unless
   both ends are in one unsafe subcube (``rules``), and some node is active unless that is the whole cube.

Rules of one's own walk where a fault is on the first path, those that may leave a free one in every trial: what the filter
decides they are given with its faults, each a subcube by itself.  The trials left are judged one at a time, on the labels
that the lanes have drawn; for n > 32, where lanes hold the low halves of labels, from their own draw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..draws.faults import index_faults, unsafe_subcubes
from ..draws.lanes import (
    Queue,
    append_lanes,
    append_trial_ids,
    decode_trial,
    draw_four_vectors,
    drop_first_vector,
    group_index_rows,
    lane_pattern,
    redraw_repeats,
    row_offset,
    valid_lanes,
)
from ..machine import simd
from ..machine.bits import ONE, ZERO, first_lanes, lowest, popcount
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from ..machine.trials import name_variant
from ..routing.lanes import close_first_vector, inspect_vector, is_on_path
from ..routing.layout import MAX_SEARCHED_DIMENSION
from ..tally.layout import Layout
from ..tally.sums import offer
from .layout import NAMES, WANDERING_RULES, fallback_of, make_layout, promising_rules
from .rules import POINT_KEY, RULES, TRIAL_NUMBER
from .safety_status import forget_safety_status
from .scalar import Scratch, make_evaluator, make_trial, make_user_rule_evaluator, set_up


class LanesWorkspace(NamedTuple):
    """Scratch of the kernel."""

    scratch: Scratch
    f: Any  #: int64
    labels: Any  #: f + 3 rows of a vector, four times: labels of the trials, the ends behind the faults
    queue: Queue  #: trials with close faults: labels and ends
    masks: Any  #: f + 1 rows of one vector: free dimensions of each fault's subcube
    counted: Any  #: int64: trials decided in lanes, and those of them whose first path is free
    first: Any  #: int64: the smallest trials of each


@block(always=True)
def count_decided(work, chosen, at, i):
    """Count the lanes chosen as decided, the first of them trial ``at``."""
    work.counted[i] += popcount(chosen)
    if chosen:
        work.first[i] = min(work.first[i], at)


@block(always=True)
def _classify_queue_vector(work, lanes):
    """Of the queue's first vector: trials with a fault on the first path, with two between the ends, and with an unsafe subcube
    that holds both ends."""
    f, cells = work.f, work.queue.cells
    close_first_vector(cells, work.masks, f)
    s, t = simd.load(cells, 2 * lanes * f), simd.load(cells, 2 * lanes * (f + 1))
    zero = s - s
    apart = s ^ t
    lost = simd.no_lane(s)
    one, two, together = lost, lost, lost
    for i in range(f):
        x = simd.load(cells, 2 * lanes * i)
        e, r = x ^ s, x ^ t
        lost = lost | is_on_path(e, r, zero)
        between = (e & ~apart) == zero
        two = two | (one & between)
        one = one | between
        outside = (e | r) & ~simd.load(work.masks, lanes * i)
        together = together | (outside == zero)
    return simd.bits(lost), simd.bits(two), simd.bits(together)


@block(always=True)
def _skip_user_rules(work, easy, at, start, lanes, tally):
    """Where there are no rules of one's own."""


def _make_unclustered_evaluator(judge: Any) -> Any:
    """The block ``own(work, easy, at, start, lanes, tally)``: judge trials without close faults."""

    @block
    def evaluate_lanes(work, easy, at, start, lanes, tally):
        world, words = work.scratch.world, work.scratch.words
        faults = world.faults
        while easy:
            i = lowest(easy)
            easy &= easy - ONE
            for j in range(work.f):
                faults.labels[j] = work.labels[at + j * lanes + i]
                faults.base[j] = faults.labels[j]
                faults.free[j] = ZERO
            faults.size[3] = work.f
            index_faults(faults)
            forget_safety_status(words, faults)
            world.now[TRIAL_NUMBER] = np.uint64(start + i)
            s, t = (
                np.uint64(work.labels[at + work.f * lanes + i]),
                np.uint64(work.labels[at + (work.f + 1) * lanes + i]),
            )
            judge(work.scratch, s, t, start + i, tally)

    return evaluate_lanes


def _make_queue_evaluator(judge: Any) -> Any:
    """The block ``one(work, column, at, lanes, tally)``: judge the trial of a column of the queue."""

    @block
    def evaluate_column(work, column, at, lanes, tally):
        world, words = work.scratch.world, work.scratch.words
        faults, cells = world.faults, work.queue.cells
        for j in range(work.f):
            faults.labels[j] = cells[2 * lanes * j + column]
        index_faults(faults)
        unsafe_subcubes(faults)
        forget_safety_status(words, faults)
        world.now[TRIAL_NUMBER] = np.uint64(at)
        s, t = np.uint64(cells[2 * lanes * work.f + column]), np.uint64(cells[2 * lanes * (work.f + 1) + column])
        judge(work.scratch, s, t, at, tally)

    return evaluate_column


def _make_filter(judge: Any, trial: Any, wandering: bool, judge_own: Any, leaving: bool) -> Any:
    """The block ``sift(key, first, stop, params, work, lanes, tally)``: count trials in lanes, or leave them to scalar code.

    ``wandering``: some built-in rule leaves a first path that is free.  ``judge_own``: for rules of one's own, where the others
    are decided, or None; ``leaving``: some of them may leave a first path that is free.
    """
    owning = judge_own is not None
    one, one_own = _make_queue_evaluator(judge), _make_queue_evaluator(judge_own or judge)
    own = _make_unclustered_evaluator(judge_own) if owning else _skip_user_rules

    @block
    def evaluate_queue_vector(work, origin, lanes, tally):
        """Close and count the first vector of the queue's columns."""
        lost, two, together = _classify_queue_vector(work, lanes)
        live = first_lanes(work.queue.filled[0], lanes)
        hard = together | (two if wandering else two & lost)
        easy = live & ~hard
        mine = (easy if leaving else easy & lost) if owning else ZERO
        while mine:
            i = lowest(mine)
            mine &= mine - ONE
            one_own(work, i, decode_trial(work.queue, lanes, i, origin, 1), lanes, tally)
        for i in range(2):
            count_decided(work, easy, decode_trial(work.queue, lanes, lowest(easy) & 63, origin, 1), i)
            easy &= ~lost
        hard &= live
        while hard:
            i = lowest(hard)
            hard &= hard - ONE
            one(work, i, decode_trial(work.queue, lanes, i, origin, 1), lanes, tally)
        drop_first_vector(work.queue, lanes)

    @block
    def filter_trials(key, first, stop, params, work, lanes, tally):
        n, f = work.scratch.world.n, work.f
        words = work.labels.view(np.uint64)
        pattern = lane_pattern(n, lanes)
        two = simd.splat_like(simd.load(work.labels, 0), np.uint64(2))
        work.scratch.world.now[POINT_KEY] = key
        origin = first - first % (4 * lanes)
        start = origin
        while start < stop or work.queue.filled[0] > 0:
            if start < stop:
                at = row_offset(start, lanes, f + 2)
                if at == 0:
                    draw_four_vectors(key, np.uint64(8 * (start // lanes)), f + 2, 1, pattern, words)
                near, _, lost, again = inspect_vector(work, at, lanes)
                live = valid_lanes(start, 1, lanes, first, stop)
                hit = simd.bits(near <= two) | again
                if n > 32:
                    hit |= lost
                hit &= live
                easy = live & ~hit
                own(work, easy if leaving else easy & lost, at, start, lanes, tally)
                count_decided(work, easy, start + lowest(easy), 0)
                easy &= ~lost
                count_decided(work, easy, start + lowest(easy), 1)
                while n > 32 and hit:
                    trial(key, start + lowest(hit), params, work.scratch, tally)
                    hit &= hit - ONE
                again &= hit
                while again:
                    redraw_repeats(key, start + lowest(again), n, f + 2, work.labels, at + lowest(again), lanes)
                    again &= again - ONE
                if hit:
                    append_lanes(work.queue, lanes, f + 2, hit, work.labels, at, lanes)
                    append_trial_ids(work.queue, lanes, near, hit, (start - origin) // lanes)
                start += lanes
            if work.queue.filled[0] >= (lanes if start < stop else 1):
                evaluate_queue_vector(work, origin, lanes, tally)

    return filter_trials


def make_decided_recorder(layout: Layout, names: Sequence[str]) -> Any:
    """The block ``decide(work, n, tally)``: enter the trials that the filter decided.

    ROUTE delivers those alone whose first path is free, and of these alone rules of one's own are not asked.
    """
    partly = tuple(name == "route" or name not in NAMES for name in names)
    route = "route" in names
    delivered = tuple(int(layout.counter(f"{name}_delivered")) for name in names)
    minimal = tuple(int(layout.counter(f"{name}_minimal")) for name in names)
    loss = int(layout.counter("route_loss")) if route else 0
    most = tuple(int(layout.extreme(f"{name}_most")) for name in names)
    wrong = tuple(int(layout.extreme(f"{name}_wrong")) for name in promising_rules(names))
    possible = tuple(int(layout.counter(name)) for name in ("minimal_exists", "minimal_known"))
    reachable = int(layout.counter("reachable"))
    count, kept = len(names), len(wrong)

    @block
    def record_decided(work, n, tally):
        every, free = work.counted[0], work.counted[1]
        for i in range(count):
            own = free if partly[i] else every
            tally[delivered[i]] += own
            tally[minimal[i]] += own
            if own:
                offer(tally, most[i], np.int64(0), work.first[1 if partly[i] else 0])
        if every and kept:
            for i in range(kept):
                offer(tally, wrong[i], np.int64(0), work.first[0])
        for slot in possible:
            tally[slot] += every
        if n <= MAX_SEARCHED_DIMENSION:
            tally[reachable] += every
            if route:
                tally[loss] += every - free

    return record_decided


def make_lanes_kernel(
    width: int, names: Sequence[str], own: Mapping[str, Any] | None = None, code: Any = None
) -> Kernel:
    """The kernel of a table of rules in lanes of ``width`` bits, at (n, f, 0) = params, 1 < f <= 2^(n-1) - 2.

    ``own`` holds rules of one's own by their names; where some may leave a first path that is free for n <= 32 and beside one
    built-in rule at least.  ``code`` is the first.
    """
    word = {16: np.uint16, 32: np.uint32}[width]
    lanes = 512 // width  # a constant of the closure, with which all callees are specialised
    own = own or {}
    layout, rules = make_layout(names), tuple(own[name] if name in own else RULES[name.upper()] for name in names)
    known, cache = name_variant(*own.values()) if own else ("", True)
    wandering = not set(WANDERING_RULES).isdisjoint(names)
    leaving = not all(map(fallback_of, own.values()))
    judge_own = make_user_rule_evaluator(tuple(own.values()), tuple(own), layout) if own else None
    sift = _make_filter(
        make_evaluator(rules, names, layout), make_trial(rules, names, layout), wandering, judge_own, leaving
    )
    decide = make_decided_recorder(layout, [name for name in names if not (leaving and name in own)])

    @scratch
    def workspace_for(params, stop):
        f = np.int64(params[1])
        rows = f + 3 + group_index_rows(lanes)
        return LanesWorkspace(
            set_up(params),
            f,
            np.zeros(4 * (f + 3) * lanes, word),
            Queue(np.zeros(rows * 2 * lanes, word), rows, np.zeros(1, np.int64)),
            np.zeros((f + 1) * lanes, word),
            np.zeros(2, np.int64),
            np.full(2, stop, np.int64),
        )

    @kernel(TRIALS_SIGNATURE, variant=f"{width}_{'_'.join(names)}{known}", cache=cache, code=code)
    def rivals_lanes(key, first, stop, params, tally):
        """Trials at (n, f, 0) = params, n in 9..16 or 17..62 by the lanes' width."""
        if first < stop:
            work = workspace_for(params, stop)
            sift(key, first, stop, params, work, lanes, tally)
            decide(work, work.scratch.world.n, tally)

    return rivals_lanes


#: Study ``rivals`` for n <= 16 and n <= 62.
RIVALS_LANES_16 = make_lanes_kernel(16, NAMES)
RIVALS_LANES_32 = make_lanes_kernel(32, NAMES)

#: Points (n, f, links) on both sides of each threshold inside these kernels, by its reason.
EDGES = {
    "MAX_SEARCHED_DIMENSION": ((12, 5, 0), (13, 5, 0)),
    "lanes of 16 and of 32 bits": ((16, 8, 0), (17, 8, 0)),
    "above n = 32 lanes hold the low 32 bits of a label": ((32, 30, 0), (33, 30, 0)),
    "two faults are the fewest in lanes": ((10, 2, 0), (10, 3, 0)),
}
