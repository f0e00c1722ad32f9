"""Routing rules under few faulty nodes, n = 9 .. 62, with one trial per vector lane as in ``fastcube.kernels.routing.lanes``.

Entry points: ``ROUTING_RULES_LANES_16`` and ``_32``, made by ``make_lanes_kernel``.  They sample LABELS with the study's key, and
in scalar code HIGH_LABELS (n > 32) and SIDETRACK's CHOICES.

s and t are the ends of a message, H is their Hamming distance.  A hop is *preferred* if it leads nearer to t, and *good* if it
leads to a nonfaulty node.  The *first path* of a message is ROUTE's, which corrects bits from the most significant down.  It is
*free* if no fault is on it.  A rule *wanders* if it may leave a free first path without being known to deliver over H: ROUTE3 and
SIDETRACK (WANDERING_RULES), and users' rules that ``first_path`` did not make.  Faulty and *unsafe* nodes fill disjoint subcubes,
the *unsafe subcubes* (``rules.py``), which *closure* finds; all other nodes are *active*.  A trial is *decided* if all built-in
rules but ROUTE are known to deliver over H.  ROUTE delivers if its path is free.

1. *filter* (``filter_vector``) decides trials with distinct labels and no two faults within distance 2; for n > 32 only those
   without a fault on the first path.  No node is unsafe, all safety statuses are full, and every node has at most one faulty
   neighbour.  So while two or more bits differ some preferred hop is good, and the last hop leads to t.  Hence all
   rules but ROUTE deliver over H.  The filter queues the other trials for n <= 32.
2. *closure* (``close_queue``) closes queued trials, one vector at a time.  If at most one fault is in the subcube of s and t, a
   preferred hop is good as above.  With no fault on the first path ROUTE1, A1 and DFS take that path.  LEVELS and VECTORS deliver
   over H unless both ends are in one unsafe subcube (``rules``).  Some node is active unless that subcube is the whole cube.

Users' rules are evaluated in decided trials without a free first path.  If one of them wanders, all are evaluated in every
decided trial.  In trials that the filter decides, each fault is a subcube by itself.  The remaining trials are evaluated one at a
time, on the labels that the lanes have sampled.  For n > 32 lanes hold only the low halves of labels, so the filter's remaining
trials are not queued: they are evaluated at once, on labels that are sampled again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..draws import sieve
from ..draws.faults import SUBCUBES, index_faults, unsafe_subcubes
from ..machine import simd
from ..machine.array_types import I64, Cells, Floats
from ..machine.bits import ONE, ZERO, first_lanes, lowest
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel, scratch
from ..machine.trials import name_variant
from ..routing.greedy import load_label
from ..routing.lanes import close_first_vector, inspect_vector, is_on_path
from .lane_decisions import DECIDED, FREE_PATH, DecidedTrials, count_decided, make_decided_recorder, make_decided_trials
from .layout import NAMES, REFERENCE, WANDERING_RULES, F, N, fallback_of, make_layout
from .rules import POINT_KEY, RULES
from .scalar import Scratch, begin_trial, make_evaluator, make_trial, make_user_rule_evaluator, set_up


class LanesWorkspace(NamedTuple):
    """Scratch memory of a kernel's call."""

    scratch: Scratch  #: for trials that are evaluated one at a time
    params: Floats  #: parameters of the point
    f: I64  #: number of faulty nodes
    samples: sieve.Samples  #: labels of the faults, then of both ends
    queue: sieve.Queue  #: trials that the filter leaves, for n <= 32: labels of the faults, then of both ends
    masks: Cells  #: f rows of one vector: free dimensions of each fault's subcube
    decided: DecidedTrials


@block(always=True, stored=True)
def _classify_queue_vector(work, lanes):
    """Return three lane masks for the first vector of the queue, as bits.

    They mark trials with a fault on the first path, with two faults in the subcube of s and t, and with both ends in one unsafe
    subcube.
    """
    f, queue = work.f, work.queue
    close_first_vector(queue.cells, work.masks, f)
    s, t = load_label(queue, f, lanes), load_label(queue, f + 1, lanes)
    zero = s - s
    difference = s ^ t
    on_path = simd.no_lane(s)
    one_between, two_between, in_one_subcube = on_path, on_path, on_path
    for i in range(f):
        x = load_label(queue, i, lanes)
        from_s, from_t = x ^ s, x ^ t
        on_path = on_path | is_on_path(from_s, from_t, zero)
        between = (from_s & ~difference) == zero
        two_between = two_between | (one_between & between)
        one_between = one_between | between
        outside = (from_s | from_t) & ~simd.load(work.masks, lanes * i)
        in_one_subcube = in_one_subcube | (outside == zero)
    return simd.bits(on_path), simd.bits(two_between), simd.bits(in_one_subcube)


def _make_unclustered_evaluator(evaluate: Any) -> Any:
    """Return the block ``evaluate_lanes(work, chosen, trials, lanes, tally)``: evaluate users' rules in the ``chosen`` lanes.

    No two faults of these trials are within distance 2.
    """

    @block
    def evaluate_lanes(work, chosen, trials, lanes, tally):
        faults, labels, f = work.scratch.world.faults, work.samples.labels, work.f
        while chosen:
            i = lowest(chosen)
            chosen &= chosen - ONE
            first_label = trials.at + i
            for j in range(f):
                faults.labels[j] = labels[first_label + j * lanes]
                faults.base[j] = faults.labels[j]
                faults.free[j] = ZERO
            faults.size[SUBCUBES] = f  # each fault is an unsafe subcube by itself
            index_faults(faults)
            s, t = np.uint64(labels[first_label + f * lanes]), np.uint64(labels[first_label + (f + 1) * lanes])
            begin_trial(work.scratch, sieve.trial_in_lane(trials, i))
            evaluate(work.scratch, s, t, sieve.trial_in_lane(trials, i), tally)

    return evaluate_lanes


@block(always=True)
def _label_in_column(queue, i, column, lanes):
    """Return label ``i`` of the trial in a column of the queue, whose rows hold two vectors."""
    return np.uint64(queue.cells[2 * lanes * i + column])


def _make_queue_evaluator(evaluate: Any) -> Any:
    """Return the block ``evaluate_column(work, column, lanes, tally)``: evaluate the trial in a column of the queue.

    ``evaluate`` is a block of ``scalar``: of all rules, or of users' rules alone.
    """

    @block
    def evaluate_column(work, column, lanes, tally):
        faults, queue, f = work.scratch.world.faults, work.queue, work.f
        for j in range(f):
            faults.labels[j] = _label_in_column(queue, j, column, lanes)
        index_faults(faults)
        unsafe_subcubes(faults)
        trial = sieve.decode_trial(queue, lanes, column)
        s, t = _label_in_column(queue, f, column, lanes), _label_in_column(queue, f + 1, column, lanes)
        begin_trial(work.scratch, trial)
        evaluate(work.scratch, s, t, trial, tally)

    return evaluate_column


def _make_queue_closer(
    evaluate: Any, evaluate_user_rules: Any, has_wandering_rule: bool, user_rule_wanders: bool
) -> Any:
    """Return the block ``close_queue(work, least, lanes, tally)``, which decides the first vector of queued trials.

    The block does nothing with fewer than ``least`` trials in the queue; it returns whether the queue holds trials.  It runs
    ``evaluate`` in the trials that it cannot decide.  ``has_wandering_rule`` says whether a built-in rule of the table wanders;
    the other arguments are as for ``_make_filter``.
    """
    has_user_rules = evaluate_user_rules is not None
    evaluate_column = _make_queue_evaluator(evaluate)
    evaluate_users_in_column = _make_queue_evaluator(evaluate_user_rules)

    @block
    def close_queue(work, least, lanes, tally):
        queue = work.queue
        if queue.filled[0] < least:
            return queue.filled[0] > 0
        on_path, two_between, in_one_subcube = _classify_queue_vector(work, lanes)
        live = first_lanes(queue.filled[0], lanes)
        undecided = in_one_subcube | (two_between if has_wandering_rule else two_between & on_path)
        decided = live & ~undecided
        free = decided & ~on_path
        # & 63: the lowest of no lanes is 64, whose trial is not used
        count_decided(work.decided, decided, sieve.decode_trial(queue, lanes, lowest(decided) & 63), DECIDED)
        count_decided(work.decided, free, sieve.decode_trial(queue, lanes, lowest(free) & 63), FREE_PATH)
        if has_user_rules:
            rest = decided if user_rule_wanders else decided ^ free
            while rest:
                evaluate_users_in_column(work, lowest(rest), lanes, tally)
                rest &= rest - ONE
        undecided &= live
        while undecided:
            evaluate_column(work, lowest(undecided), lanes, tally)
            undecided &= undecided - ONE
        sieve.drop_first_vector(queue, lanes)
        return queue.filled[0] > 0

    return close_queue


def _make_filter(run_trial: Any, evaluate_user_rules: Any, user_rule_wanders: bool) -> Any:
    """Return the filter block for ``make_sieve``.

    ``run_trial`` runs a trial from its sample on, in scalar code.  ``evaluate_user_rules`` evaluates users' rules in trials where
    the built-in rules are decided, or is None.  ``user_rule_wanders`` says whether a user's rule wanders.
    """
    has_user_rules = evaluate_user_rules is not None  # Numba does not compile a branch of a constant that is False
    evaluate_lanes = _make_unclustered_evaluator(evaluate_user_rules)

    @block(always=True)
    def filter_vector(work, trials, lanes, tally):
        n = work.samples.n
        close, repeated, on_path, _ = inspect_vector(work, trials, lanes)
        wanted = sieve.wanted_lanes(trials, lanes)
        undecided = (close | on_path if n > 32 else close) & wanted
        decided = wanted ^ undecided
        free = decided & ~on_path
        count_decided(work.decided, decided, trials.start + lowest(decided), DECIDED)
        count_decided(work.decided, free, trials.start + lowest(free), FREE_PATH)
        if has_user_rules:
            evaluate_lanes(work, decided if user_rule_wanders else decided ^ free, trials, lanes, tally)
        while n > 32 and undecided:
            run_trial(trials.key, sieve.trial_in_lane(trials, lowest(undecided)), work.params, work.scratch, tally)
            undecided &= undecided - ONE
        if undecided == ZERO:
            return False
        sieve.queue_trials(work.queue, work.samples, trials, undecided, repeated, lanes)
        return True

    return filter_vector


def make_lanes_kernel(
    width: int,
    names: Sequence[str],
    user_rules: Mapping[str, Any] | None = None,
    code: Any = None,
    reference: str = REFERENCE,
) -> Kernel:
    """Return the kernel of a table of rules in lanes of ``width`` bits, at (n, f, 0) = params, 1 < f <= 2^(n-1) - 2.

    ``user_rules`` maps names to users' rules.  If one of them wanders, n <= 32 and at least one built-in rule are
    required.  ``code`` is the function of the first user's rule.
    """
    word = {16: np.uint16, 32: np.uint32}[width]
    lanes = 512 // width  # a constant of the closure, for which all callees are specialised
    users = user_rules or {}
    layout = make_layout(names, reference)
    rules = tuple(users[name] if name in users else RULES[name.upper()] for name in names)
    variant, cache = name_variant(*users.values()) if users else ("", True)
    has_wandering_rule = not set(WANDERING_RULES).isdisjoint(names)
    user_rule_wanders = not all(map(fallback_of, users.values()))
    evaluate_user_rules = make_user_rule_evaluator(users, names, layout, reference) if users else None
    sift_trials = sieve.make_sieve(
        _make_filter(make_trial(rules, names, layout, reference), evaluate_user_rules, user_rule_wanders),
        _make_queue_closer(
            make_evaluator(rules, names, layout, reference), evaluate_user_rules, has_wandering_rule, user_rule_wanders
        ),
    )
    decided = [name for name in names if not (user_rule_wanders and name in users)]
    record_decided = make_decided_recorder(layout, decided, reference, bool(users))

    @scratch
    def workspace_for(params, first, stop):
        n, f = np.int64(params[N]), np.int64(params[F])
        return LanesWorkspace(
            set_up(params),
            params,
            f,
            sieve.make_samples(n, f + 2, lanes, word),
            sieve.make_queue(n, f + 2, first, lanes, word),
            np.zeros(f * lanes, word),
            make_decided_trials(stop),
        )

    @kernel(TRIALS_SIGNATURE, variant=f"{width}_{'_'.join(names)}_{reference}{variant}", cache=cache, code=code)
    def routing_rules_lanes(key, first, stop, params, tally):
        """Run trials at (n, f, 0) = params, n in 9..16 or 17..62 by the lanes' width."""
        if first < stop:
            work = workspace_for(params, first, stop)
            work.scratch.world.now[POINT_KEY] = key
            sift_trials(key, first, stop, work, lanes, tally)
            record_decided(work.decided, work.samples.n, tally)

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
