"""Whether counters say what trials can have counted: what no digest tells of a file that another program made up."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..measure.goal import MOST_TRIALS
from ..measure.schema import Key
from ..measure.statistics import ClassMean, Distribution, Mean, PlainMean, Proportion, Statistic
from ..measure.study import Measure, point_text
from ..measure.tally import Ranges, size


def check_counts(
    measure: Measure,
    keys: Sequence[Key],
    defined: Mapping[str, Any],
    ranges: Sequence[Ranges],
    counts: Mapping[str, Sequence[Any]],
    extremes: Mapping[str, Sequence[tuple[int, int]]],
) -> None:
    """Raise ValueError where counters say what no trials can have counted; all columns are of the points ``keys``.

    All points are checked at once, in arrays of Python's integers, since sums of squares outgrow 64 bits.
    """
    trials = np.array([size(r) for r in ranges], object)

    def refuse(name: str, bad: Any) -> None:
        if np.any(bad):
            at = int(np.argmax(bad))
            point = dict(zip((a.name for a in measure.axes), keys[at], strict=True))
            raise ValueError(f"{name} at {point_text(point)} is not what {trials[at]} trials can give")

    columns: dict[str, Any] = {}
    for counter in measure.tally.counters:
        column = counts[counter.name]
        if counter.bins:
            refuse(counter.name, [min(row) < 0 for row in column])
            columns[counter.name] = np.array([sum(row) for row in column], object)
            refuse(counter.name, columns[counter.name] > trials)
        else:
            columns[counter.name] = np.array(column, object)
        refuse(counter.name, (trials == 0) & (columns[counter.name] != 0))
    for name, pairs in extremes.items():
        refuse(name, [trial != -1 and not _within(r, trial) for r, (_, trial) in zip(ranges, pairs, strict=True)])
    for s in measure.statistics:
        for name, bad in _impossible(s, columns, trials).items():
            refuse(name, bad & defined[s.name])  # what it is among may not have been counted elsewhere


def _within(ranges: Ranges, trial: int) -> bool:
    at = bisect(ranges, (trial, MOST_TRIALS))
    return at > 0 and trial < ranges[at - 1][1]


def _impossible(s: Statistic, counts: Mapping[str, Any], trials: Any) -> dict[str, Any]:
    """At which points what a statistic reads cannot be, by what is to blame; counters with bins by their sums."""
    among = s.trials(counts, trials)
    out = {s.among or s.name: (among < 0) | (among > trials)}
    if isinstance(s, Proportion):
        out[s.events] = (counts[s.events] < 0) | (counts[s.events] > among)
    if isinstance(s, Distribution):
        out[s.counter] = counts[s.counter] > among
    if isinstance(s, ClassMean):
        bad = counts[s.reached[0]] > among
        for many, total, squares in s.sums(counts):
            bad = bad | (many < 0) | (squares * many < total * total)
        out[s.name] = bad
    if isinstance(s, (Mean, PlainMean)):
        out[s.squares] = counts[s.squares] * among < counts[s.total] ** 2
    return out
