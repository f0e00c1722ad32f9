"""The figure of chosen statistics: on one pair of axes, along an axis of the study, with one line per combination of values."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import ParameterError
from ..measure.binned import Distribution
from ..measure.choice import Choice
from ..measure.statistics import Proportion, Statistic
from .style import line_style
from .text import axis_text

if TYPE_CHECKING:
    from ..results.results import Results
    from .lines import Line
    from .sheet import Sheet


def check_selection(
    results: Results, statistics: Sequence[str], x: str | None, by: str | None
) -> tuple[list[Statistic], str]:
    """Return the chosen statistics, and the axis along x: by default the axis with most values.

    Raises ParameterError for a distribution, an unknown statistic or axis, and if ``by`` equals ``x``.
    """
    study = results.study
    chosen: list[Statistic] = [*results.select_statistics(statistics)] if statistics else [study.target()]
    for statistic in chosen:
        if isinstance(statistic, Distribution):
            raise ParameterError(
                f"statistic must be one of one number, got the distribution {statistic.name}: the study's own figure shows it"
            )
    for name in (x, by):
        if name is not None:
            study.axis(name)
    if by is not None and by == x:
        raise ParameterError(f"by must be another axis than x, got {by}")
    values = {axis.name: {point[axis.name] for point, _ in results} for axis in study.axes if axis.name != by}
    if not values and x is None:
        raise ParameterError(f"by must leave an axis for x, got {by}, the only one of {study.name}")
    numbers_first = {axis.name: not isinstance(axis, Choice) for axis in study.axes}
    return chosen, x or max(values, key=lambda name: (len(values[name]) > 1, numbers_first[name], len(values[name])))


def selection_figure(
    several: Sequence[Results], sheet: Sheet, statistics: Sequence[str], x: str | None, by: str | None, log: bool
) -> None:
    """Plot one panel, with one line per statistic and per value of ``by``; values of other axes are in the labels.

    Lines of several results share the panel, and their labels name the study if the studies differ.  Results with the same
    labels are distinguished by their seeds, or by their positions from 1 if seeds are equal.  Names along ``x`` are in the
    order of their axis, and their points are not connected.  Raises as ``check_selection``, and ParameterError if no
    estimate can be shown on the requested logarithmic scale.
    """
    panel = sheet.panel()
    panel.scale = "log" if log else "auto"
    selected = [check_selection(results, statistics, x, by) for results in several]
    first_chosen, along = selected[0]
    studies = {results.study.name for results in several}
    names: list[str] = []
    panel.by = ("selection",)
    for results, (_, other) in zip(several, selected, strict=True):
        if other != along:
            raise ParameterError(f"x must be one axis for all results, got {along} and {other}: name it")
        names += [name for name in _drawn_names(results, along) if name not in names]
    varying = _varying_axes(several, along)
    ends = [len(panel.measured_lines)]  # of the lines of each results
    for results, (chosen, _) in zip(several, selected, strict=True):
        axes = results.study.axes
        points = [point for point, tally in results if tally.trials]
        keys = [a.name for a in axes if a.name in varying or len({point[a.name] for point in points}) > 1]
        keys = sorted((name for name in keys if name != along), key=lambda name: name != by)
        panel.by += tuple(keys)
        for statistic in chosen:
            count = len(panel.measured_lines)
            panel.lines(results, statistic.name, along, keys=keys)
            parts = [results.study.name] * (len(studies) > 1) + [statistic.name] * (len(chosen) > 1 or not keys)
            for line in panel.measured_lines[count:] if panel.owns_axes else ():
                line.label = ", ".join(filter(None, [*parts, line.label]))
        ends.append(len(panel.measured_lines))
    _distinguish_labels(several, [panel.measured_lines[a:b] for a, b in itertools.pairwise(ends)])
    before = panel.lines_before
    for i, line in enumerate(panel.measured_lines):
        line.look, line.joined = line_style(before + i, before + len(panel.measured_lines)), not names
        if names and panel.owns_axes:
            line.x = [names.index(str(name)) for name in line.x]
    if log and (least := min((e.value for e in panel.estimates), default=0.0)) < 0:
        raise ParameterError(f"log needs estimates that are not negative, and the least here is {least:.3g}")
    if log and panel.estimates and not any(e.value > 0 for e in panel.estimates):
        raise ParameterError("log needs an estimate above 0, and every one here is 0: nothing can stand on the scale")
    fractions = all(isinstance(statistic, Proportion) for chosen, _ in selected for statistic in chosen)
    y_label = "probability" if fractions else "value"
    if len(first_chosen) == 1 and len(studies) == 1:
        y_label = first_chosen[0].description
    axis = several[0].study.axis(along)
    titles = dict.fromkeys(results.study.title for results in several)
    panel.set_labels(x=axis_text(axis.name, axis.description), y=y_label, title="; ".join(titles))
    panel.categories = tuple(names)


def _drawn_names(results: Results, along: str) -> list[str]:
    """Return the names of an axis that have trials, in its order; none for an axis of numbers."""
    axis = results.study.axis(along)
    if not isinstance(axis, Choice):
        return []
    seen = {str(point[along]) for point, tally in results if tally.trials}
    return [name for name in axis.names if name in seen]


def _distinguish_labels(several: Sequence[Results], drawn: Sequence[Sequence[Line]]) -> None:
    """Append the seed of the results, or their position, to labels if lines of different results have the same label."""
    labels = [{line.label for line in lines} - {None} for lines in drawn]
    if not any(one & other for one, other in itertools.combinations(labels, 2)):
        return
    seeds = [results.seed for results in several]
    for i, (seed, lines) in enumerate(zip(seeds, drawn, strict=True), 1):
        for line in lines:
            if line.label is not None:
                line.label += f", seed {seed}" if len({*seeds}) == len(seeds) else f", file {i}"


def _varying_axes(several: Sequence[Results], along: str) -> list[str]:
    """Return the axes whose values differ between the results."""
    values: dict[str, set[object]] = {}
    for results in several:
        for point, tally in results:
            for axis in results.study.axes if tally.trials else ():
                values.setdefault(axis.name, set()).add(point[axis.name])
    return [name for name, found in values.items() if name != along and len(found) > 1 and len(several) > 1]
