"""Check that counters are possible results of their trials, which a digest cannot show of a file made by another program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..measure.goal import MOST_TRIALS
from ..measure.statistics import (
    ClassMean,
    Difference,
    Distribution,
    Mean,
    NormalDifference,
    NormalMean,
    PairedDifference,
    Proportion,
    Statistic,
)
from ..measure.study import Measure, point_text
from .columns import Columns

#: More than the relative rounding error of the product of a unit and a bound.
_ROUNDING = 1 + 1e-9


def check_counts(measure: Measure, numbers: Mapping[str, Any], columns: Columns) -> None:
    """Raise ValueError if counters are impossible for the number of trials; all points are checked at once.

    ``numbers`` has for each statistic its numbers at each point.
    """
    trials = columns.trials
    idle = trials == 0
    some_idle = idle.any()

    def raise_error(name: str, bad: Any) -> None:
        if bad.any():
            at = int(np.argmax(bad))
            point = dict(zip((a.name for a in measure.axes), columns.keys[at], strict=True))
            raise ValueError(f"{name} at {point_text(point)} is impossible for {trials[at]} trials")

    counts = dict(columns.counts)
    for counter in measure.tally.counters:
        if counter.bins:
            bins = counts[counter.name]
            raise_error(counter.name, (bins < 0).any(axis=1) | (bins.sum(axis=1, dtype=float) > 2 * MOST_TRIALS))
            counts[counter.name] = bins.sum(axis=1)
            raise_error(counter.name, counts[counter.name] > trials)
        if some_idle:
            raise_error(counter.name, idle & (counts[counter.name] != 0))
    for name, pairs in columns.maxima.items():
        point, first, stop = columns.ranges.T
        ran = pairs[:, 1] == -1
        ran[point[(first <= pairs[point, 1]) & (pairs[point, 1] < stop)]] = True
        raise_error(name, ~ran)
    for s in measure.statistics:
        defined, unit, bound = numbers[s.name].T[:3]
        for name, bad in _find_impossible(s, counts, trials, unit * bound).items():
            raise_error(name, bad & (defined == 1))  # where it is not defined its condition may not have been counted


def _find_impossible(s: Statistic, counts: Mapping[str, Any], trials: Any, most: Any) -> dict[str, Any]:
    """Return for the counters of a statistic whether they are impossible at each point; a counter with bins by its sum.

    ``most`` is the largest amount that a trial can add to the total of a ``Mean``.
    """
    eligible = s.trials(counts, trials)
    out = {s.condition or s.name: (eligible < 0) | (eligible > trials)}
    if isinstance(s, Proportion):
        out[s.events] = (counts[s.events] < 0) | (counts[s.events] > eligible)
    if isinstance(s, Distribution):
        out[s.counter] = counts[s.counter] > eligible
    if isinstance(s, ClassMean):
        bad = counts[s.reached[0]] > eligible
        for many, total, squares in s.sums({name: counts[name].astype(object) for name in s.counters()}):
            bad = bad | (many < 0) | (squares * many < total * total) | (squares > total * total)
        out[s.name] = bad
    if isinstance(s, (Mean, NormalMean)):
        total, squares = counts[s.total].astype(object), counts[s.squares].astype(object)
        out[s.squares] = squares * eligible < total**2
        if not isinstance(s, (Difference, NormalDifference)) and getattr(s, "base", 0) >= 0:
            out[s.squares] |= squares > total**2  # holds for nonnegative numbers
            if isinstance(s, Mean):
                out[s.squares] |= squares > total * most * _ROUNDING
    if isinstance(s, PairedDifference):  # each trial contributes -1, 0 or 1
        differs = counts[s.nonzero]
        out[s.nonzero] = (
            (abs(counts[s.total]) > differs) | (differs > eligible) | ((differs + counts[s.total]) % 2 != 0)
        )
    return out
