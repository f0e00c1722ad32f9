"""The figure of statistics that a user names: on one pair of axes, along an axis of the study, a line for each value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..measure.choice import Choice
from ..measure.statistics import Distribution, Statistic
from .panel import Line, group_points
from .style import line_style
from .words import axis_text, key_text

if TYPE_CHECKING:
    from ..results.results import Results
    from .sheet import Sheet


def check_selection(
    results: Results, statistics: Sequence[str], x: str | None, by: str | None
) -> tuple[list[Statistic], str]:
    """The statistics and the axis along which they are drawn: that of most values where none is named.

    Raises ParameterError for what is no statistic of one number or no axis, and where ``by`` is ``x``.
    """
    study = results.study
    chosen: list[Statistic] = [*results.chosen(statistics)] if statistics else [study.target()]
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
    results: Results, sheet: Sheet, statistics: Sequence[str], x: str | None, by: str | None, log: bool
) -> None:
    """One panel: a line for each statistic and each value of ``by``; axes of several values that are neither are in the label.

    Names are drawn along ``x`` in the order of their axis, as points that no line joins.
    """
    chosen, along = check_selection(results, statistics, x, by)
    study = results.study
    axis = study.axis(along)
    points = [point for point, tally in results if tally.trials]
    several = [a.name for a in study.axes if a.name != along and len({point[a.name] for point in points}) > 1]
    if by is not None:
        several = [by, *(name for name in several if name != by)]
    names = (
        [name for name in axis.names if name in {str(point[along]) for point in points}]
        if isinstance(axis, Choice)
        else []
    )
    panel = sheet.panel()
    panel.scale = "log" if log else "auto"
    lines: list[Line] = []
    for statistic in chosen:
        there = [point for point in points if statistic.defined(point)]
        for key, own in group_points(study, there, several):
            own.sort(key=lambda point: axis.place(point[along]))
            where: list[Any] = [names.index(str(point[along])) if names else point[along] for point in own]
            told = [statistic.name] if len(chosen) > 1 or not several else []
            told += [key_text(key)] if several else []
            estimates = [results.read(statistic, point)[0] for point in own]
            lines.append(Line(", ".join(told), where, estimates, [*own], {}, joined=not names))
    for i, line in enumerate(lines):
        line.look = line_style(i, len(lines))
    panel.drawn = lines
    panel.by = ("selection",)
    one = chosen[0].description if len(chosen) == 1 else "estimate, 95% interval"
    panel.words(x=axis_text(axis.name, axis.description), y=one, title=study.title)
    panel.categories = tuple(names)
