"""The trials that lane kernels decide without running a rule: their counts during a call, and their entry in the tally.

A trial is *decided* if all built-in rules of the table are known to deliver over the Hamming distance, but for ROUTE.  ROUTE
knows only the *first path*, which corrects bits from the most significant down, and loses the message if a fault is on it.  So
two counts per call are enough: of the decided trials, and of those among them whose first path is free of faults.

A user's rule made by ``first_path`` takes a free first path, too.  In other decided trials it is evaluated by
``scalar.make_user_rule_evaluator``, which tallies it and the comparisons with it.  If a user's rule may leave a free first path,
users' rules are evaluated in every trial.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..machine.array_types import Ints
from ..machine.bits import popcount
from ..machine.jit import block, scratch
from ..routing.layout import MAX_SEARCHED_DIMENSION
from ..tally.layout import Layout
from ..tally.maxima import offer
from .layout import NAMES, compared_rules, promising_rules

#: Kinds of trials, as indices of the arrays of ``DecidedTrials``: decided, and decided with a free first path.
DECIDED, FREE_PATH = range(2)


class DecidedTrials(NamedTuple):
    """Counts of the trials that a kernel's call has decided so far; made by ``make_decided_trials``."""

    counted: Ints  #: number of trials of each kind
    first: Ints  #: the smallest trial of each kind; the end of the call's trials if there is none


@scratch
def make_decided_trials(stop):
    """Return the ``DecidedTrials`` of a call that has decided none of its trials yet, all below ``stop``."""
    return DecidedTrials(np.zeros(2, np.int64), np.full(2, stop, np.int64))


@block(always=True)
def count_decided(trials, chosen, first, kind):
    """Count the lanes in the mask ``chosen`` as trials of a kind, DECIDED or FREE_PATH.

    ``first`` is the smallest of these trials; it is not used if the mask is empty.  Trials with a free first path are counted
    twice, once under each kind.
    """
    trials.counted[kind] += popcount(chosen)
    if chosen:
        trials.first[kind] = min(trials.first[kind], first)


class DecidedRule(NamedTuple):
    """The kind of trials in which a rule delivers, always over the Hamming distance, and its slots in the tally."""

    kind: int  #: DECIDED or FREE_PATH
    delivered: int
    at_hamming: int
    most: int  #: a maximum: most links beyond the Hamming distance, here 0


class RouteComparison(NamedTuple):
    """The slots of a comparison of ROUTE with another built-in rule, which delivers in all decided trials."""

    diff: int
    differs: int
    sign: int  #: the term of ``diff`` for a trial that ROUTE loses: 1 if ROUTE is the reference rule, else -1


def _make_decided_rule(layout: Layout, name: str) -> DecidedRule:
    """Return a rule as ``record_decided`` needs it."""
    return DecidedRule(
        FREE_PATH if name == "route" or name not in NAMES else DECIDED,
        int(layout.counter(f"{name}_delivered")),
        int(layout.counter(f"{name}_at_hamming")),
        int(layout.maximum(f"{name}_most")),
    )


def _list_route_comparisons(layout: Layout, names: Sequence[str], reference: str) -> tuple[RouteComparison, ...]:
    """Return the comparisons with ROUTE; in any other both rules deliver in all decided trials, which adds nothing."""
    sign = 1 if reference == "route" else -1
    return tuple(
        RouteComparison(int(layout.counter(f"{name}_diff")), int(layout.counter(f"{name}_differs")), sign)
        for name in compared_rules(names, reference)
        if "route" in (name, reference)
    )


def make_decided_recorder(layout: Layout, names: Sequence[str], reference: str, has_user_rules: bool) -> Any:
    """Return the block ``record_decided(trials, n, tally)``, which tallies ``DecidedTrials``.

    ``names`` are the built-in rules, and the users' rules unless one of these may leave a free first path.  ``has_user_rules``
    says whether the table has users' rules, in ``names`` or not.  Comparisons are then left to the evaluator of users' rules,
    because all rules deliver in the decided trials in which it does not run.
    """
    rules = tuple(_make_decided_rule(layout, name) for name in names)
    comparisons = () if has_user_rules else _list_route_comparisons(layout, names, reference)
    wrong = tuple(int(layout.maximum(f"{name}_wrong")) for name in promising_rules(names))
    exists, known = int(layout.counter("hamming_path_exists")), int(layout.counter("hamming_path_known"))
    reachable = int(layout.counter("reachable"))
    route_loss = int(layout.counter("route_loss")) if "route" in names else 0
    # Numba cannot compile a loop over an empty tuple; it leaves out the branches of constants that are False.
    has_comparisons, has_promising, has_route = len(comparisons) > 0, len(wrong) > 0, "route" in names

    @block
    def record_decided(trials, n, tally):
        decided = trials.counted[DECIDED]
        lost_by_route = decided - trials.counted[FREE_PATH]
        for rule in rules:
            count = trials.counted[rule.kind]
            tally[rule.delivered] += count
            tally[rule.at_hamming] += count
            if count:
                offer(tally, rule.most, np.int64(0), trials.first[rule.kind])
        if has_promising and decided:
            for slot in wrong:
                offer(tally, slot, np.int64(0), trials.first[DECIDED])
        if has_comparisons:
            for comparison in comparisons:
                tally[comparison.diff] += comparison.sign * lost_by_route
                tally[comparison.differs] += lost_by_route
        tally[exists] += decided
        tally[known] += decided
        if n <= MAX_SEARCHED_DIMENSION:
            tally[reachable] += decided
            if has_route:
                tally[route_loss] += lost_by_route

    return record_decided
