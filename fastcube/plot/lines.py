"""The lines and statements of a panel, and what is known at each value of a line."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..measure.estimate import Estimate, OrderEstimate
from ..measure.study import Point

#: The marker at a value covers a lower limit above this fraction of the value.
_COVERED = 0.8


@dataclass
class Line:
    """One line of estimates, from left to right."""

    label: str | None  #: name in the legend, if it has an entry there
    x: list[float]
    estimates: list[Estimate]  #: at each x
    points: list[Point | None]  #: of the study, behind each x; None for values of another source
    look: dict[str, Any]  #: keyword arguments of matplotlib
    joined: bool = True  #: whether a line joins the values
    table_label: str = ""  #: name in tables, if it has no entry in the legend
    shift: float = 0.0  #: to the right, in points
    entry: str | None = None  #: shared entry of several lines in the legend

    @property
    def plot_style(self) -> dict[str, Any]:
        """Keyword arguments of matplotlib for the line."""
        return self.look if self.joined else self.look | {"linestyle": "none"}


@dataclass
class Statement:
    """A statement of a paper: a level, or a level for each x, over the points to which it applies."""

    x: list[float]
    y: list[float]
    text: str
    where: Callable[[Point], bool]  # whether it applies to a point


def has_no_events(e: Estimate) -> bool:
    """Whether no trial had the event, so that only an upper limit is known."""
    return e.value == 0 and e.low == 0 and e.high > 0 and not isinstance(e, OrderEstimate)


def is_limit(e: Estimate) -> bool:
    """Whether only a limit is known: an upper limit if no trial had the event, a lower limit if all trials had it.

    A lower limit that the marker at the value would cover does not count.  A quantile is always known.
    """
    return has_no_events(e) or (not isinstance(e, OrderEstimate) and e.value == e.high and e.low < _COVERED * e.value)


def is_zero(e: Estimate) -> bool:
    """Whether the value is known to be 0."""
    return e.value == e.high == 0


def is_drawable(e: Estimate, log: bool) -> bool:
    """Whether the value is plotted as a point; on a logarithmic scale not if it is 0 or only a limit is known."""
    return not math.isnan(e.value) and not (log and (e.value <= 0 or is_limit(e)))


def scale_estimate(e: Estimate, factor: float) -> Estimate:
    """Return the estimate of the value times ``factor``."""
    numbers = {name: getattr(e, name) * factor for name in ("value", "stderr", "low", "high")}
    return replace(e, **numbers)


def is_known_zero(line: Line) -> bool:
    """Whether all values of a line are known to be 0."""
    return bool(line.estimates) and all(map(is_zero, line.estimates))
