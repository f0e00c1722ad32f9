"""Check that counters are possible results of their trials, which a digest cannot show of a file made by another program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..measure.goal import MOST_TRIALS
from ..measure.study import Measure, point_text
from .columns import Columns


def check_counts(measure: Measure, numbers: Mapping[str, Any], columns: Columns) -> None:
    """Raise ValueError if counters are impossible for the number of trials; all points are checked at once.

    ``numbers`` has for each statistic an array with a row for each point; its columns are ``schema.NUMBERS``.
    """
    trials = columns.trials
    idle = trials == 0
    some_idle = idle.any()

    def require_none(name: str, bad: Any) -> None:
        if bad.any():
            at = int(np.argmax(bad))
            point = dict(zip((a.name for a in measure.axes), columns.keys[at], strict=True))
            raise ValueError(f"{name} at {point_text(point)} is impossible for {trials[at]} trials")

    counts = dict(columns.counts)
    for counter in measure.tally.counters:
        if counter.bins:
            bins = counts[counter.name]
            # the sum in float64 is inexact but cannot wrap around, as the next one could
            require_none(counter.name, (bins < 0).any(axis=1) | (bins.sum(axis=1, dtype=float) > 2 * MOST_TRIALS))
            counts[counter.name] = bins.sum(axis=1)
            require_none(counter.name, counts[counter.name] > trials)
        if some_idle:
            require_none(counter.name, idle & (counts[counter.name] != 0))
    for name, pairs in columns.maxima.items():
        # the trial of a maximum is one that was run at its point, or -1 where no trial had a value
        point, first, stop = columns.ranges.T
        ran = pairs[:, 1] == -1
        ran[point[(first <= pairs[point, 1]) & (pairs[point, 1] < stop)]] = True
        require_none(name, ~ran)
    for s in measure.statistics:
        defined, unit, bound, *_ = numbers[s.name].T
        eligible = s.trials(counts, trials)
        found = {s.condition or s.name: (eligible < 0) | (eligible > trials)}
        for name, bad in (found | s.find_impossible(counts, eligible, unit * bound)).items():
            require_none(name, bad & (defined == 1))  # where it is not defined its condition may not have been counted
