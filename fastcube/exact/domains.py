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


def count_domain_sets(point: Point) -> Tally:
    """Return the tally of all samples at a point with n <= 4, all of one weight, without the counters of differing trials."""
    n, f = int(point["n"]), int(point["f"])
    check_range("n", n, 1, SMALL, "for exact values")
    nodes, name = 1 << n, str(point["network"])
    members = [list_members(point, g) for g in range(count_domains(point))]
    sets = np.arange(1 << nodes)
    survivors = sets[np.bitwise_count(sets) == nodes - f]
    intact = _evaluate_intact(name, n)
    many, own = np.zeros(nodes + 1, np.int64), np.zeros((4, nodes + 1), np.int64)
    for failed in itertools.combinations(members, int(point["domains"])):
        if is_switch(point):
            alive, near = survivors, exact_survival(name, n).neighbours()
            events = _evaluate_sets(_cut_rows(near, failed), survivors)
        else:
            alive = survivors & ~sum(1 << v for board in failed for v in board)
            events = [event[alive] for event in intact]
        left = np.bitwise_count(alive)
        many += np.bincount(left, minlength=nodes + 1)
        for total, event in zip(own, events, strict=True):
            np.add.at(total, left, event)
    single = np.zeros_like(own)
    for total, event in zip(single, intact, strict=True):
        np.add.at(total, np.bitwise_count(sets), event)
    samples = [int(count) for count in many]
    totals: dict[str, Fraction] = {"pairs": Fraction(sum(samples[2:]))}
    for i, name in enumerate(("connected", "no_isolated_node", "extra_1", "st_connected")):
        # the last event counts the pairs of nodes that a path connects
        pairs = [comb(m, 2) if name == "st_connected" else 1 for m in range(nodes + 1)]
        chosen = [m for m in range(nodes + 1) if pairs[m]]
        totals[name] = sum((Fraction(int(own[i, m]), pairs[m]) for m in chosen), Fraction(0))
        totals[f"single_{name}"] = sum(
            (Fraction(samples[m] * int(single[i, m]), comb(nodes, m) * pairs[m]) for m in chosen), Fraction(0)
        )
        totals[f"{name}_diff"] = totals[name] - totals[f"single_{name}"]
    weight = lcm(*(value.denominator for value in totals.values()))
    counts = {name: int(value * weight) for name, value in totals.items()}
    return Tally(((0, sum(samples) * weight),), counts, {})


@functools.lru_cache(maxsize=4)
def _evaluate_intact(name: str, n: int) -> list[NDArray[np.int64]]:
    """Return the results of ``_evaluate_sets`` for all sets of survivors of a network."""
    return _evaluate_sets(exact_survival(name, n).neighbours(), np.arange(1 << (1 << n)))


def _evaluate_sets(near: list[int], sets: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return for each set of nodes whether it is connected, has no isolated node, is 1-extra, and its connected pairs."""
    number, smallest, pairs = component_counts(near, sets)
    return [(number == 1) + 0, (smallest > 1) + 0, ((number > 1) & (smallest > 1)) + 0, pairs]


def _cut_rows(near: list[int], rows: tuple[list[int], ...]) -> list[int]:
    """Return the neighbours of each node, as bitmasks, without the links inside rows."""
    left = list(near)
    for row in rows:
        for v in row:
            left[v] &= ~sum(1 << w for w in row)
    return left
