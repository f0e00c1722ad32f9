"""Find counters that no trials can give, which a digest cannot show of a file that another program made.

The checks run when results are written and when they are read.  They need no code of the study: the bounds of its statistics are
in the file's table of numbers.  Each check compares whole columns, with one entry per point, so its cost hardly depends on the
number of points.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..measure.goal import MOST_TRIALS
from ..measure.schema import NUMBERS
from ..measure.study import Measure, point_text
from .columns import Columns


def check_counts(measure: Measure, numbers: Mapping[str, Any], columns: Columns) -> None:
    """Raise ValueError if counters are impossible for the number of trials; the message names one counter and its first point.

    ``numbers`` has for each statistic an array with a row for each point; its first columns are ``schema.NUMBERS``.
    """
    counts = _sum_bins(measure, columns)
    is_idle = columns.trials == 0  # at each point
    if is_idle.any():
        for counter in measure.tally.counters:
            _reject(measure, columns, counter.name, is_idle & (counts[counter.name] != 0))
    for name in columns.maxima:
        _reject(measure, columns, name, ~_has_known_trial(columns, name))
    for s in measure.statistics:
        # the numbers of a mean over classes have more columns: the bounds of the classes, which are not needed here
        number = dict(zip(NUMBERS, numbers[s.name].T, strict=False))
        eligible = s.trials(counts, columns.trials)
        impossible = {s.condition or s.name: (eligible < 0) | (eligible > columns.trials)}
        impossible |= s.find_impossible(counts, eligible, number["unit"] * number["bound"])
        for name, at_points in impossible.items():
            # where a statistic is not defined, the kernel may not have counted the trials of its condition
            _reject(measure, columns, name, at_points & (number["defined"] == 1))


def _reject(measure: Measure, columns: Columns, name: str, at_points: Any) -> None:
    """Raise ValueError if a counter or maximum is impossible at some point; ``at_points`` says for each point whether it is."""
    if at_points.any():
        first = int(np.argmax(at_points))
        point = dict(zip((a.name for a in measure.axes), columns.keys[first], strict=True))
        raise ValueError(f"{name} at {point_text(point)} is impossible for {columns.trials[first]} trials")


def _sum_bins(measure: Measure, columns: Columns) -> dict[str, Any]:
    """Return the counters, those with bins by the sums of their bins, which count each trial at most once."""
    counts = dict(columns.counts)
    for counter in measure.tally.counters:
        if counter.bins:
            bins = counts[counter.name]
            # Numbers of a hostile file may sum to more than an int64 holds and wrap around to a possible number.  The sum in
            # float64 cannot, but is inexact, so it is compared with twice the largest number of trials, below 2^63.
            may_wrap = bins.sum(axis=1, dtype=float) > 2 * MOST_TRIALS
            _reject(measure, columns, counter.name, (bins < 0).any(axis=1) | may_wrap)
            counts[counter.name] = bins.sum(axis=1)
            _reject(measure, columns, counter.name, counts[counter.name] > columns.trials)
    return counts


def _has_known_trial(columns: Columns, name: str) -> Any:
    """Return for each point whether the trial of a maximum was run there, or is -1, which means that no trial had a value."""
    trials = columns.maxima[name][:, 1]
    is_known = trials == -1
    point, first, stop = columns.ranges.T  # one entry per range of trials, several or none per point
    is_inside = (first <= trials[point]) & (trials[point] < stop)
    is_known[point[is_inside]] = True
    return is_known
