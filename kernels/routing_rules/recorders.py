"""Tally the results of routing rules: blocks that kernels make once per table of rules (``layout.make_layout``).

``results`` holds the result of each rule by its index in the table: the number of links on its route, or a reason of failure
below 0 (``rules.py``).  ``h`` is the Hamming distance of the message, and ``reach`` says whether a nonfaulty path exists, False
above n = MAX_SEARCHED_DIMENSION.  ``minimal`` is 1 if one over h links exists, 0 if not, and -1 if that is not known.  The *first
path* is ROUTE's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..machine.jit import block
from ..routing.rules import LIMIT
from ..tally.layout import Layout
from ..tally.maxima import offer
from ..tally.sums import add_quantity
from .layout import compared_rules, promising_rules
from .rules import REFUSED, UNKNOWN


def make_route_recorder(layout: Layout, names: Sequence[str]) -> Any:
    """Return the block ``record_route(tally, i, result, h, trial)``, which tallies the result of rule i."""
    delivered, at_hamming, limit = (
        tuple(int(layout.counter(f"{name}_{end}")) for name in names) for end in ("delivered", "at_hamming", "limit")
    )
    extra_links = tuple(layout.moments(f"{name}_extra_links") for name in names)
    most_extra = tuple(int(layout.maximum(f"{name}_most")) for name in names)

    @block(always=True)
    def record_route(tally, i, result, h, trial):
        if result >= 0:
            tally[delivered[i]] += 1
            tally[at_hamming[i]] += result == h
            add_quantity(tally, extra_links[i], result - h)
            offer(tally, most_extra[i], result - h, trial)
        else:
            tally[limit[i]] += result == LIMIT

    return record_route


def make_rules_recorder(layout: Layout, names: Sequence[str]) -> Any:
    """Return the block ``record_rules(tally, results, h, reach, trial)``, which tallies the results of all rules."""
    count, record_route = len(names), make_route_recorder(layout, names)
    refused, unknown, loss = (
        tuple(int(layout.counter(f"{name}_{end}")) for name in names) for end in ("refused", "unknown", "loss")
    )

    @block(always=True)
    def record_rules(tally, results, h, reach, trial):
        for i in range(count):
            result = results[i]
            record_route(tally, i, result, h, trial)
            if result < 0:
                tally[refused[i]] += result == REFUSED
                tally[unknown[i]] += result == UNKNOWN
                tally[loss[i]] += reach

    return record_rules


#: In place of the index of a result, for a rule that is not run: it delivers in every trial, or if the first path is clear.
ALWAYS, IF_CLEAR = -1, -2


def make_comparison_recorder(layout: Layout, names: Sequence[str], reference: str, indices: Mapping[str, int]) -> Any:
    """Return the block ``record_compared(tally, results, clear)``, which tallies each rule's delivery less the reference rule's.

    ``indices`` has the index of each rule's result in ``results``, or ALWAYS or IF_CLEAR.  ``clear`` says whether the first path
    has no fault.
    """
    pairs = tuple(
        (indices[name], int(layout.counter(f"{name}_diff")), int(layout.counter(f"{name}_differs")))
        for name in compared_rules(names, reference)
    )
    reference_index, has_pairs = indices.get(reference, ALWAYS), len(pairs) > 0

    @block(always=True)
    def is_delivered(results, index, clear):
        return np.int64(results[index] >= 0 if index >= 0 else index == ALWAYS or clear)

    @block(always=True)
    def record_pairs(tally, results, clear):
        by_reference = is_delivered(results, reference_index, clear)
        for index, diff_slot, differs_slot in pairs:
            diff = is_delivered(results, index, clear) - by_reference
            tally[diff_slot] += diff
            tally[differs_slot] += diff != 0

    @block(always=True)
    def record_compared(tally, results, clear):
        if has_pairs:
            record_pairs(tally, results, clear)

    return record_compared


def make_trial_recorder(layout: Layout, names: Sequence[str], reference: str) -> Any:
    """Return the block ``record_trial(tally, results, h, reach, minimal, trial)``, which tallies all counters of one trial.

    These are of the results of all rules, their comparisons, and which paths exist.
    """
    record_rules = make_rules_recorder(layout, names)
    reachable_slot, exists_slot, known_slot = (
        int(layout.counter(c)) for c in ("reachable", "hamming_path_exists", "hamming_path_known")
    )
    record_compared = make_comparison_recorder(layout, names, reference, {name: i for i, name in enumerate(names)})
    promising = tuple((names.index(name), int(layout.maximum(f"{name}_wrong"))) for name in promising_rules(names))

    @block(always=True)
    def record_wrong(tally, results, h, trial):
        for i, slot in promising:
            # a rule whose status promises a path delivers over H or H + 2 links
            is_as_promised = results[i] in (REFUSED, UNKNOWN, h, h + 2)
            offer(tally, slot, np.int64(not is_as_promised), trial)

    has_promising = len(promising) > 0

    @block(always=True)
    def record_trial(tally, results, h, reach, minimal, trial):
        record_rules(tally, results, h, reach, trial)
        tally[reachable_slot] += reach
        tally[exists_slot] += minimal == 1
        tally[known_slot] += minimal >= 0
        record_compared(tally, results, False)
        if has_promising:
            record_wrong(tally, results, h, trial)

    return record_trial
