"""The caption below the panels of a figure: the meaning of the legend's axes, and what holds for all points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import range_text
from .text import value_text

if TYPE_CHECKING:
    from ..measure.study import Point
    from ..results.results import Results
    from .panel import Panel


def shared_facts(several: Sequence[Results], plotted: Sequence[Point] = ()) -> tuple[dict[str, str], str]:
    """Return the values of axes that all points have in common, by axis, and the trials per point, as text.

    Only the ``plotted`` points count, or all points with trials if none are given.
    """
    chosen = {tuple(point.items()) for point in plotted}
    done = [(point, tally.trials) for results in several for point, tally in results if tally.trials]
    done = [(point, trials) for point, trials in done if not chosen or tuple(point.items()) in chosen]
    facts = {}
    for axis in several[0].study.axes:
        values = {point.get(axis.name) for point, _ in done}
        if len(values) == 1 and (value := values.pop()) is not None:
            of = "" if axis.name == "network" or axis.kind is not str else f"{axis.description or axis.name}: "
            facts[axis.name] = of + value_text(axis.name, value)
    if not done:
        return {}, ""
    least, most = (f"{choose(trials for _, trials in done):,}" for choose in (min, max))
    return facts, f"{range_text(least, most)} trials per point"


def caption_text(several: Sequence[Results], panels: Sequence[Panel]) -> str:
    """Return the caption: the meaning of each axis whose values distinguish lines, and the facts that all points share."""
    plotted = [point for panel in panels for line in panel.measured_lines for point in line.points]
    held, trials = shared_facts(several, [point for point in plotted if point] if None not in plotted else ())
    by = {name for panel in panels for name in panel.by}
    meanings = [
        f"{axis.name}: {axis.description}"
        for axis in several[0].study.axes
        if axis.name in by and axis.kind is not str and axis.description and axis.name not in held
    ]
    return "; ".join(filter(None, (*meanings, ", ".join(filter(None, (*held.values(), trials))))))
