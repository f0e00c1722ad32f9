"""Routing rules under few faulty nodes, n = 9 .. 62, with one trial per vector lane as in ``fastcube.kernels.routing.lanes``.

Entry points: ``ROUTING_RULES_LANES_16`` and ``_32``, made by ``make_lanes_kernel``.  They sample LABELS with the study's key, and
in scalar code HIGH_LABELS (n > 32) and SIDETRACK's CHOICES.

1. *filter* (``filter_vector``) decides every trial without two faults within distance 2.  No node is unsafe, all safety statuses
   are full, and every node has at most one faulty neighbour.  So while two or more bits differ some preferred hop is good, and
   the last hop leads to t.  Hence all rules deliver over the Hamming distance H; ROUTE does so unless a fault is on its path.
2. *closure* (``close_queue``) queues the other trials and closes them, one vector at a time.  If at most one fault is in the
   subcube of s and t, a preferred hop is good as above.  With no fault on the first path ROUTE1, A1 and DFS take that path.
   LEVELS and VECTORS deliver over H unless both ends are in one unsafe subcube (``rules``).  Some node is active unless that
   subcube is the whole cube.

Users' rules are evaluated if a fault is on the first path; rules that may leave a free path are evaluated in every trial.  In
trials that the filter decides, each fault is a subcube by itself.  The remaining trials are evaluated one at a time, on the
labels that the lanes have sampled.  For n > 32 lanes hold only the low halves of labels, so the labels are sampled again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..draws import sieve
from ..draws.faults import index_faults, unsafe_subcubes
from ..machine import simd
from ..machine.array_types import I64, Cells, Floats, Ints
from ..machine.bits import ONE, ZERO, first_lanes, lowest, popcount
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from ..machine.trials import name_variant
from ..routing.lanes import close_first_vector, inspect_vector, is_on_path
from ..routing.layout import MAX_SEARCHED_DIMENSION
from ..tally.layout import Layout
from ..tally.sums import offer
from .layout import (
    NAMES,
    REFERENCE,
    WANDERING_RULES,
    F,
    N,
    compared_rules,
    fallback_of,
    make_layout,
    promising_rules,
)
from .rules import POINT_KEY, RULES
from .scalar import Scratch, begin_trial, make_evaluator, make_trial, make_user_rule_evaluator, set_up

#: Indices of ``counted`` and ``first``: all trials that lanes decide, and the ones with a free first path among them.
DECIDED, FREE_PATH = range(2)


class LanesWorkspace(NamedTuple):
    scratch: Scratch
    params: Floats  #: parameters of the point
    f: I64
    samples: sieve.Samples  #: labels of the faults, then of both ends
    queue: sieve.Queue  #: trials with close faults: labels and ends
    masks: Cells  #: f + 1 rows of one vector: free dimensions of each fault's subcube
    counted: Ints  #: (2): number of trials DECIDED in lanes, and of those with a FREE_PATH
    first: Ints  #: (2): the smallest trial index of each kind


@block(always=True)
def count_decided(work, chosen, at, which):
    """Count the lanes ``chosen`` as trials of the kind ``which``, DECIDED or FREE_PATH; ``at`` is the first of these trials."""
    work.counted[which] += popcount(chosen)
    if chosen:
        work.first[which] = min(work.first[which], at)


@block(always=True, stored=True)
def _classify_queue_vector(work, lanes):
    """Return three lane masks for the first vector of the queue, as bits.

    They mark trials with a fault on the first path, with two faults in the subcube of s and t, and with both ends in one unsafe
    subcube.
    """
    f, cells = work.f, work.queue.cells
    close_first_vector(cells, work.masks, f)
    s, t = simd.load(cells, 2 * lanes * f), simd.load(cells, 2 * lanes * (f + 1))
    zero = s - s
    difference = s ^ t
    lost = simd.no_lane(s)
    one, two, together = lost, lost, lost
    for i in range(f):
        x = simd.load(cells, 2 * lanes * i)
        e, r = x ^ s, x ^ t
        lost = lost | is_on_path(e, r, zero)
        between = (e & ~difference) == zero
        two = two | (one & between)
        one = one | between
        outside = (e | r) & ~simd.load(work.masks, lanes * i)
        together = together | (outside == zero)
    return simd.bits(lost), simd.bits(two), simd.bits(together)


@block(always=True)
def _skip_user_rules(work, easy, trials, lanes, tally):
    """Do nothing: replaces the block of ``_make_unclustered_evaluator`` if there are no users' rules."""


def _make_unclustered_evaluator(evaluate: Any) -> Any:
    """Return the block ``evaluate_lanes(work, easy, trials, lanes, tally)``: users' rules in trials without close faults."""

    @block
    def evaluate_lanes(work, easy, trials, lanes, tally):
        faults, labels, f = work.scratch.world.faults, work.samples.labels, work.f
        while easy:
            i = lowest(easy)
            easy &= easy - ONE
            at = trials.at + i
            for j in range(f):
                faults.labels[j] = labels[at + j * lanes]
                faults.base[j] = faults.labels[j]
                faults.free[j] = ZERO
            faults.size[3] = f
            index_faults(faults)
            s, t = np.uint64(labels[at + f * lanes]), np.uint64(labels[at + (f + 1) * lanes])
            begin_trial(work.scratch, sieve.trial_in_lane(trials, i))
            evaluate(work.scratch, s, t, sieve.trial_in_lane(trials, i), tally)

    return evaluate_lanes


def _make_queue_evaluator(evaluate: Any) -> Any:
    """Return the block ``evaluate_column(work, column, lanes, tally)`` for the trial in a column of the queue."""

    @block
    def evaluate_column(work, column, lanes, tally):
        faults, cells, f = work.scratch.world.faults, work.queue.cells, work.f
        for j in range(f):
            faults.labels[j] = cells[2 * lanes * j + column]
        index_faults(faults)
        unsafe_subcubes(faults)
        trial = sieve.decode_trial(work.queue, lanes, column)
        s, t = np.uint64(cells[2 * lanes * f + column]), np.uint64(cells[2 * lanes * (f + 1) + column])
        begin_trial(work.scratch, trial)
        evaluate(work.scratch, s, t, trial, tally)

    return evaluate_column


def _make_queue_closer(evaluate: Any, evaluate_own: Any, wandering: bool, leaving: bool) -> Any:
    """Return the block ``close_queue(work, least, lanes, tally)``, which decides the first vector of queued trials.

    The block does nothing with fewer than ``least`` trials in the queue; it returns whether the queue holds trials.  Arguments as
    of ``_make_filter``, and ``wandering``: some built-in rule may leave a free first path.
    """
    owning = evaluate_own is not None
    one, one_own = _make_queue_evaluator(evaluate), _make_queue_evaluator(evaluate_own or evaluate)

    @block
    def close_queue(work, least, lanes, tally):
        queue = work.queue
        if queue.filled[0] < least:
            return queue.filled[0] > 0
        lost, two, together = _classify_queue_vector(work, lanes)
        live = first_lanes(queue.filled[0], lanes)
        hard = together | (two if wandering else two & lost)
        easy = live & ~hard
        mine = (easy if leaving else easy & lost) if owning else ZERO
        while mine:
            one_own(work, lowest(mine), lanes, tally)
            mine &= mine - ONE
        for which in range(2):
            count_decided(work, easy, sieve.decode_trial(queue, lanes, lowest(easy) & 63), which)
            easy &= ~lost
        hard &= live
        while hard:
            one(work, lowest(hard), lanes, tally)
            hard &= hard - ONE
        sieve.drop_first_vector(queue, lanes)
        return queue.filled[0] > 0

    return close_queue


def _make_filter(run_trial: Any, evaluate_own: Any, leaving: bool) -> Any:
    """Return the filter block for ``make_sieve``.

    ``evaluate_own`` evaluates users' rules in trials where the built-in rules are decided, or is None.  ``leaving``: some user's
    rule may leave a free first path.
    """
    own = _skip_user_rules if evaluate_own is None else _make_unclustered_evaluator(evaluate_own)

    @block(always=True)
    def filter_vector(work, trials, lanes, tally):
        n = work.samples.n
        hit, again, lost, _ = inspect_vector(work, trials, lanes)
        wanted = sieve.wanted_lanes(trials, lanes)
        if n > 32:
            hit |= lost
        hit &= wanted
        easy = wanted ^ hit
        own(work, easy if leaving else easy & lost, trials, lanes, tally)
        count_decided(work, easy, trials.start + lowest(easy), DECIDED)
        free = easy & ~lost
        count_decided(work, free, trials.start + lowest(free), FREE_PATH)
        if hit == ZERO:
            return False
        while n > 32 and hit:
            run_trial(trials.key, sieve.trial_in_lane(trials, lowest(hit)), work.params, work.scratch, tally)
            hit &= hit - ONE
        sieve.queue_trials(work.queue, work.samples, trials, hit, again, lanes)
        return n <= 32

    return filter_vector


def make_decided_recorder(layout: Layout, names: Sequence[str], reference: str, owning: bool) -> Any:
    """Return the block ``record_decided(work, n, tally)``, which tallies the trials that lanes have decided.

    ROUTE delivers only if the first path is free.  In these trials, and in no others, users' rules are decided as well.
    If there are users' rules (``owning``), they are evaluated in all other trials, and rules compared there.
    """
    compared = () if owning else compared_rules(names, reference)
    pairs = tuple(
        (int(layout.counter(f"{name}_diff")), int(layout.counter(f"{name}_differs")), 1 if reference == "route" else -1)
        for name in compared
        if "route" in (name, reference)
    )
    comparing = len(pairs) > 0
    partly = tuple(name == "route" or name not in NAMES for name in names)
    route = "route" in names
    delivered = tuple(int(layout.counter(f"{name}_delivered")) for name in names)
    minimal = tuple(int(layout.counter(f"{name}_at_hamming")) for name in names)
    loss = int(layout.counter("route_loss")) if route else 0
    most = tuple(int(layout.maximum(f"{name}_most")) for name in names)
    wrong = tuple(int(layout.maximum(f"{name}_wrong")) for name in promising_rules(names))
    possible = tuple(int(layout.counter(name)) for name in ("hamming_path_exists", "hamming_path_known"))
    reachable = int(layout.counter("reachable"))
    count, kept = len(names), len(wrong)

    @block
    def record_decided(work, n, tally):
        every, free = work.counted[DECIDED], work.counted[FREE_PATH]
        for i in range(count):
            decided = free if partly[i] else every
            tally[delivered[i]] += decided
            tally[minimal[i]] += decided
            if decided:
                offer(tally, most[i], np.int64(0), work.first[FREE_PATH if partly[i] else DECIDED])
        if every and kept:
            for i in range(kept):
                offer(tally, wrong[i], np.int64(0), work.first[DECIDED])
        if comparing:
            for gain, difference, sign in pairs:
                tally[gain] += sign * (every - free)
                tally[difference] += every - free
        for slot in possible:
            tally[slot] += every
        if n <= MAX_SEARCHED_DIMENSION:
            tally[reachable] += every
            if route:
                tally[loss] += every - free

    return record_decided


def make_lanes_kernel(
    width: int,
    names: Sequence[str],
    own: Mapping[str, Any] | None = None,
    code: Any = None,
    reference: str = REFERENCE,
) -> Kernel:
    """Return the kernel of a table of rules in lanes of ``width`` bits, at (n, f, 0) = params, 1 < f <= 2^(n-1) - 2.

    ``own`` maps names to users' rules.  If one of them may leave a free first path, n <= 32 and at least one built-in rule are
    required.  ``code`` is the function of the first user's rule.
    """
    word = {16: np.uint16, 32: np.uint32}[width]
    lanes = 512 // width  # a constant of the closure, for which all callees are specialised
    own = own or {}
    layout, rules = (
        make_layout(names, reference),
        tuple(own[name] if name in own else RULES[name.upper()] for name in names),
    )
    known, cache = name_variant(*own.values()) if own else ("", True)
    wandering = not set(WANDERING_RULES).isdisjoint(names)
    leaving = not all(map(fallback_of, own.values()))
    evaluate_own = make_user_rule_evaluator(own, names, layout, reference) if own else None
    evaluate = make_evaluator(rules, names, layout, reference)
    sift = sieve.make_sieve(
        _make_filter(make_trial(rules, names, layout, reference), evaluate_own, leaving),
        _make_queue_closer(evaluate, evaluate_own, wandering, leaving),
    )
    decided = [name for name in names if not (leaving and name in own)]
    decide = make_decided_recorder(layout, decided, reference, bool(own))

    @scratch
    def workspace_for(params, first, stop):
        n, f = np.int64(params[N]), np.int64(params[F])
        return LanesWorkspace(
            set_up(params),
            params,
            f,
            sieve.make_samples(n, f + 2, lanes, word),
            sieve.make_queue(n, f + 2, first, lanes, word),
            np.zeros((f + 1) * lanes, word),
            np.zeros(2, np.int64),
            np.full(2, stop, np.int64),
        )

    @kernel(TRIALS_SIGNATURE, variant=f"{width}_{'_'.join(names)}_{reference}{known}", cache=cache, code=code)
    def routing_rules_lanes(key, first, stop, params, tally):
        """Run trials at (n, f, 0) = params, n in 9..16 or 17..62 by the lanes' width."""
        if first < stop:
            work = workspace_for(params, first, stop)
            work.scratch.world.now[POINT_KEY] = key
            sift(key, first, stop, work, lanes, tally)
            decide(work, work.samples.n, tally)

    return routing_rules_lanes


#: Kernels of the study ``routing-rules`` for n <= 16 and n <= 62.
ROUTING_RULES_LANES_16 = make_lanes_kernel(16, NAMES)
ROUTING_RULES_LANES_32 = make_lanes_kernel(32, NAMES)

#: Points (n, f, links) on both sides of each threshold inside these kernels, or at the limits of their points, by the reason.
EDGES = {
    "up to n = MAX_SEARCHED_DIMENSION trials with a path are counted": ((12, 5, 0), (13, 5, 0)),
    "lanes of 16 and of 32 bits": ((16, 8, 0), (17, 8, 0)),
    "above n = 32 lanes hold the low 32 bits of a label": ((32, 30, 0), (33, 30, 0)),
    "two faults are the fewest in lanes": ((10, 2, 0), (10, 3, 0)),
}
