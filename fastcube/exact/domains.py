"""Exact values of ``survival-domains`` for up to 16 nodes: all sets of failed domains with all sets of single failures."""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction
from math import comb, lcm

import numpy as np
from numpy.typing import NDArray

from ..errors import check_range
from ..measure.failure_domains import count_domains, is_switch, list_members
from ..measure.statistics import Point
from ..measure.tally import Tally
from .survival import SMALL, component_counts, exact_survival

#: The events that are counted, in the order of ``_evaluate_sets``; the last counts the pairs of nodes that a path connects.
_EVENTS = ("connected", "no_isolated_node", "extra_1", "st_connected")


def count_domain_sets(point: Point) -> Tally:
    """Return the tally of all samples at a point with n <= 4, all of one weight, without the counters of differing trials.

    The counters ``single_EVENT`` are of single failures, as many in each sample as its nodes that failed.
    """
    n, f = int(point["n"]), int(point["f"])
    check_range("n", n, 1, SMALL, "for exact values")
    nodes, name = 1 << n, str(point["network"])
    members = [list_members(point, g) for g in range(count_domains(point))]
    sets = np.arange(1 << nodes)
    survivors = sets[np.bitwise_count(sets) == nodes - f]
    intact = _evaluate_intact(name, n)
    # sets, and events in them, by number of survivors
    sets_of_size, events_of_size = np.zeros(nodes + 1, np.int64), np.zeros((len(_EVENTS), nodes + 1), np.int64)
    for failed in itertools.combinations(members, int(point["domains"])):
        if is_switch(point):
            alive = survivors
            events = _evaluate_sets(_cut_rows(exact_survival(name, n).neighbours(), failed), survivors)
        else:
            alive = survivors & ~sum(1 << v for board in failed for v in board)
            events = [in_set[alive] for in_set in intact]
        sizes = np.bitwise_count(alive)
        sets_of_size += np.bincount(sizes, minlength=nodes + 1)
        for total, in_set in zip(events_of_size, events, strict=True):
            np.add.at(total, sizes, in_set)
    single = np.zeros_like(events_of_size)
    for total, in_set in zip(single, intact, strict=True):
        np.add.at(total, np.bitwise_count(sets), in_set)
    samples = [int(count) for count in sets_of_size]
    totals: dict[str, Fraction] = {"pairs": Fraction(sum(samples[2:]))}
    for i, event in enumerate(_EVENTS):
        pairs = [comb(m, 2) if event == "st_connected" else 1 for m in range(nodes + 1)]
        with_pairs = [m for m in range(nodes + 1) if pairs[m]]
        totals[event] = sum((Fraction(int(events_of_size[i, m]), pairs[m]) for m in with_pairs), Fraction(0))
        totals[f"single_{event}"] = sum(
            (Fraction(samples[m] * int(single[i, m]), comb(nodes, m) * pairs[m]) for m in with_pairs), Fraction(0)
        )
        totals[f"{event}_diff"] = totals[event] - totals[f"single_{event}"]
    weight = lcm(*(value.denominator for value in totals.values()))
    counts = {name: int(value * weight) for name, value in totals.items()}
    return Tally(((0, sum(samples) * weight),), counts, {})


@functools.lru_cache(maxsize=4)
def _evaluate_intact(name: str, n: int) -> list[NDArray[np.int64]]:
    """Return the results of ``_evaluate_sets`` for all sets of survivors of a network."""
    return _evaluate_sets(exact_survival(name, n).neighbours(), np.arange(1 << (1 << n)))


def _evaluate_sets(neighbours: list[int], sets: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return for each set of nodes whether it is connected, has no isolated node, is 1-extra, and its connected pairs."""
    components, smallest, pairs = component_counts(neighbours, sets)
    return [(components == 1) + 0, (smallest > 1) + 0, ((components > 1) & (smallest > 1)) + 0, pairs]


def _cut_rows(neighbours: list[int], rows: tuple[list[int], ...]) -> list[int]:
    """Return the neighbours of each node, as bitmasks, without the links inside rows."""
    remaining = list(neighbours)
    for row in rows:
        for v in row:
            remaining[v] &= ~sum(1 << w for w in row)
    return remaining
