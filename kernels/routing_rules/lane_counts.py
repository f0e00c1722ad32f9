"""The trials whose rules lanes decide without running them: counted in lanes, and tallied at the end of a kernel's call.

In each of these trials all built-in rules of the table deliver over the Hamming distance, but ROUTE only if its path, the *first
path*, is free of faults.
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

#: Kinds of trials: all that lanes decide, and the ones with a free first path among them.
DECIDED, FREE_PATH = range(2)


class DecidedTrials(NamedTuple):
    """The trials of a kernel's call that lanes have decided; made by ``make_decided_trials``."""

    counted: Ints  #: (2): number of trials that are DECIDED, and of those with a FREE_PATH
    first: Ints  #: (2): the smallest trial of each kind


@scratch
def make_decided_trials(stop):
    """Return the ``DecidedTrials`` of a call that has decided none of its trials yet, all below ``stop``."""
    return DecidedTrials(np.zeros(2, np.int64), np.full(2, stop, np.int64))


@block(always=True)
def count_decided(trials, chosen, at, kind):
    """Count the lanes ``chosen`` as trials of a kind, DECIDED or FREE_PATH; ``at`` is the first of these trials."""
    trials.counted[kind] += popcount(chosen)
    if chosen:
        trials.first[kind] = min(trials.first[kind], at)


class DecidedRule(NamedTuple):
    """A rule that lanes decide, with its slots in the tally."""

    kind: int  #: DECIDED or FREE_PATH: the trials in which it delivers, always over the Hamming distance
    delivered: int
    at_hamming: int
    most: int


class RouteComparison(NamedTuple):
    """The slots of a comparison of ROUTE with another rule, which delivers in all DECIDED trials."""

    diff: int
    differs: int
    sign: int  #: what a trial that ROUTE loses adds to ``diff``: 1 if ROUTE is the reference rule, else -1


def _make_decided_rule(layout: Layout, name: str) -> DecidedRule:
    """Return a rule as ``record_decided`` needs it."""
    return DecidedRule(
        FREE_PATH if name == "route" or name not in NAMES else DECIDED,
        int(layout.counter(f"{name}_delivered")),
        int(layout.counter(f"{name}_at_hamming")),
        int(layout.maximum(f"{name}_most")),
    )


def _list_route_comparisons(layout: Layout, names: Sequence[str], reference: str) -> tuple[RouteComparison, ...]:
    """Return the comparisons in which decided trials count: of ROUTE, because other built-in rules deliver in all of them."""
    sign = 1 if reference == "route" else -1
    return tuple(
        RouteComparison(int(layout.counter(f"{name}_diff")), int(layout.counter(f"{name}_differs")), sign)
        for name in compared_rules(names, reference)
        if "route" in (name, reference)
    )


def make_decided_recorder(layout: Layout, names: Sequence[str], reference: str, has_user_rules: bool) -> Any:
    """Return the block ``record_decided(trials, n, tally)``, which tallies ``DecidedTrials``.

    ``names`` are the rules that lanes decide.  Users' rules among them are decided in trials with a free first path and evaluated
    in the others.  But if one of them may leave a free first path, all are evaluated in every trial, and none is in ``names``.
    With users' rules in the table, rules are compared only where these are evaluated, because all rules deliver in other trials.
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
