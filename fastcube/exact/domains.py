"""Exact values of ``survival-domains`` for up to 16 nodes: all sets of failed domains with all sets of single failures.

A *domain* fails as one (N13): all nodes of a *board*, or all links of a *switch*.  A switch joins a *row*, the nodes whose labels
differ in one digit only.  Besides the domains f nodes fail by themselves, the *single failures*.
"""

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
    """Return the tally of all samples at a point with n <= 4, all of one weight, without the counters ``EVENT_differs``.

    The counters ``single_EVENT`` are means over all sets of single failures, as many in each sample as its nodes that failed.
    Every sample counts as so many trials that all counters are integers.
    """
    n, f = int(point["n"]), int(point["f"])
    check_range("n", n, 1, SMALL, "for exact values")
    nodes, network = 1 << n, str(point["network"])
    members = [list_members(point, g) for g in range(count_domains(point))]
    sets = np.arange(1 << nodes)
    survivors = sets[np.bitwise_count(sets) == nodes - f]
    intact = _evaluate_intact(network, n)
    # sets, and events in them, by number of survivors
    sets_of_size, events_of_size = np.zeros(nodes + 1, np.int64), np.zeros((len(_EVENTS), nodes + 1), np.int64)
    for failed in itertools.combinations(members, int(point["domains"])):
        if is_switch(point):
            alive = survivors
            events = _evaluate_sets(_cut_rows(exact_survival(network, n).neighbours(), failed), survivors)
        else:
            alive = survivors & ~sum(1 << v for board in failed for v in board)
            events = [by_set[alive] for by_set in intact]
        sizes = np.bitwise_count(alive)
        sets_of_size += np.bincount(sizes, minlength=nodes + 1)
        for total, by_sample in zip(events_of_size, events, strict=True):
            np.add.at(total, sizes, by_sample)
    single = np.zeros_like(events_of_size)  # likewise, of all sets of survivors of single failures
    for total, by_set in zip(single, intact, strict=True):
        np.add.at(total, np.bitwise_count(sets), by_set)
    samples = [int(count) for count in sets_of_size]
    totals: dict[str, Fraction] = {"pairs": Fraction(sum(samples[2:]))}
    for i, event in enumerate(_EVENTS):
        # the last event is averaged over the pairs (s, t) of m survivors
        divisors = [comb(m, 2) if event == "st_connected" else 1 for m in range(nodes + 1)]
        valid_sizes = [m for m in range(nodes + 1) if divisors[m]]
        totals[event] = sum((Fraction(int(events_of_size[i, m]), divisors[m]) for m in valid_sizes), Fraction(0))
        totals[f"single_{event}"] = sum(
            (Fraction(samples[m] * int(single[i, m]), comb(nodes, m) * divisors[m]) for m in valid_sizes), Fraction(0)
        )
        totals[f"{event}_diff"] = totals[event] - totals[f"single_{event}"]
    weight = lcm(*(value.denominator for value in totals.values()))
    counts = {counter: int(value * weight) for counter, value in totals.items()}
    return Tally(((0, sum(samples) * weight),), counts, {})


@functools.lru_cache(maxsize=4)
def _evaluate_intact(network: str, n: int) -> list[NDArray[np.int64]]:
    """Return the results of ``_evaluate_sets`` for all sets of survivors of a network, by the set as a bitmask."""
    return _evaluate_sets(exact_survival(network, n).neighbours(), np.arange(1 << (1 << n)))


def _evaluate_sets(neighbours: list[int], sets: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return an array per event, with a number for each set of nodes.

    The numbers are 1 or 0 for connected, for no isolated node, and for disconnected without an isolated node (``extra_1``); the
    last array has the numbers of connected pairs.
    """
    components, smallest, pairs = component_counts(neighbours, sets)
    return [(components == 1) + 0, (smallest > 1) + 0, ((components > 1) & (smallest > 1)) + 0, pairs]


def _cut_rows(neighbours: list[int], rows: tuple[list[int], ...]) -> list[int]:
    """Return the neighbours of each node, as bitmasks, without the links inside the rows of failed switches."""
    remaining = list(neighbours)
    for row in rows:
        for v in row:
            remaining[v] &= ~sum(1 << w for w in row)
    return remaining
