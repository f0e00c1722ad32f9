"""Estimates as arrays over the product of the axes, with names, units and descriptions: for the file and for xarray."""

from __future__ import annotations

import contextlib
import operator
from typing import Any

import numpy as np

from ..errors import StudyError
from ..measure.statistics import Distribution, Statistic
from ..measure.study import Axis, Choice
from .results import Results

#: A coordinate: its name, values and attributes; a variable: its name, dimensions, values and attributes.
Coordinate = tuple[str, "np.ndarray", dict[str, Any]]
Variable = tuple[str, list[str], "np.ndarray", dict[str, Any]]

_SUFFIXES = ("", "_stderr", "_low", "_high")
_NUMBERS = tuple(operator.attrgetter(name) for name in ("value", "stderr", "low", "high"))
_MEANINGS = ("{}", "standard error of: {}", "lower 95% limit of: {}", "upper 95% limit of: {}")


def column_type(axis: Axis | Choice) -> type:
    """What an array of an axis' values holds: names as Python texts."""
    return {int: np.int64, float: np.float64, str: object}[axis.kind]


def axis_attributes(axis: Axis | Choice) -> dict[str, Any]:
    """Units and description of a coordinate."""
    return {"units": "1", "description": axis.description}


def _bins(results: Results, statistic: Statistic) -> tuple[int, ...]:
    if not isinstance(statistic, Distribution):
        return ()
    return (next(c.bins for c in results.study.tally.counters if c.name == statistic.counter),)


def arrays(results: Results) -> tuple[list[Coordinate], list[Variable]]:
    """Coordinates, and arrays over their product: trials and the estimates; 0 and NaN where there is no point.

    NaN too where the study's own code fails: a file must be written whatever a statistic does.
    """
    axes = results.study.axes
    values = {a.name: sorted({key[i] for key in results.tallies}, key=a.place) for i, a in enumerate(axes)}
    coordinates: list[Coordinate] = [
        (a.name, np.array(values[a.name], column_type(a)), axis_attributes(a)) for a in axes
    ]
    shape = tuple(len(v) for v in values.values())
    places = [{v: i for i, v in enumerate(values[a.name])} for a in axes]
    trials = np.zeros(shape, np.int64)
    bins = {s.name: _bins(results, s) for s in results.study.statistics}
    columns = {name: np.full((4, *shape, *over), np.nan) for name, over in bins.items()}
    for point, tally in results:
        at = tuple(place[v] for place, v in zip(places, point.values(), strict=True))
        trials[at] = tally.trials
        for s in results.study.statistics:
            with contextlib.suppress(StudyError):
                estimates = results.read(s, point)
                for column, number in zip(columns[s.name], _NUMBERS, strict=True):
                    column[at] = [number(e) for e in estimates] if bins[s.name] else number(estimates[0])
    over = list(values)
    variables: list[Variable] = [("trials", over, trials, {"units": "1", "description": "trials counted"})]
    for s in results.study.statistics:
        dimensions = over
        if bins[s.name]:
            dimensions = [*over, f"{s.name}_value"]
            what = {"units": "1", "description": f"value that {s.name} is the share of"}
            coordinates.append((f"{s.name}_value", np.arange(bins[s.name][0]), what))
        for suffix, what_is, column in zip(_SUFFIXES, _MEANINGS, columns[s.name], strict=True):
            attributes = {"units": s.units, "description": what_is.format(s.description)}
            variables.append((s.name + suffix, dimensions, column, attributes))
    return coordinates, variables
