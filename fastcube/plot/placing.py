"""Choose a panel's scale, limits and ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..measure.estimate import Estimate
from .panel import has_no_events, is_drawable, is_limit

if TYPE_CHECKING:
    from .panel import Panel

#: Data that span this factor get a logarithmic axis.
DECADES = 100.0

#: Fraction of the axis that is left free below limits, for arrows: on a screen, and on the low panels of a paper.
_SCREEN_SPACE, _PAPER_SPACE = 0.1, 0.18

#: Factors on a logarithmic scale: a statement farther from all data is not drawn, and a curve farther below them is cut.
_MAX_STATEMENT_FACTOR, _MAX_CURVE_FACTOR = 10.0, 1e3

#: Largest number of ticks placed one by one, assumed length of a round number in characters, and most values of ticks.
_TICKS, _ROUNDED, _MANY = 14, 5, 60


def choose_log(panel: Panel, shared: list[Estimate]) -> bool:
    """Return whether the vertical axis is logarithmic, given the estimates of all panels that share it."""
    log = panel.scale == "log" or (panel.scale == "auto" and _is_spanning_decades(shared))
    return log and any(e.value > 0 for e in shared)


def find_limits(panel: Panel) -> tuple[float, float] | None:
    """Return limits of the vertical axis around everything plotted, or None if there is nothing."""
    if not (estimates := panel.estimates):
        return None
    values = [v for e in estimates if is_drawable(e, panel.log) for v in (e.value, e.low, e.high)]
    stated = [v for statement in panel.statements for v in statement.y]
    known = [v for _, y in panel.curves for v in y]
    seen = [e.value for e in estimates if e.value > 0 or not panel.log]
    ends = [e.high if has_no_events(e) else e.low for e in estimates if panel.log and is_limit(e)]
    if panel.log:
        values = [v for v in values if v > min(seen) / 10] + ends
        stated = [v for v in stated if min(seen) / _MAX_STATEMENT_FACTOR < v < max(seen) * _MAX_STATEMENT_FACTOR]
        known = [v for v in known if v > min(seen) / _MAX_CURVE_FACTOR]
    elif panel.has_only_limits:  # without any event, the upper limits determine the scale
        stated = [v for v in stated + known if v < max(values) * _MAX_STATEMENT_FACTOR]
        known = []
    values += stated + known + [panel.fixed_limits[end] for end in ("bottom", "top") if end in panel.fixed_limits]
    widest = max((e.high - e.low for e in estimates if e.high < math.inf), default=0.0)
    if not panel.log and max(seen) - min(seen) < widest and not panel.statements:
        far = 2 * min(values)  # a closer view would only show intervals
        values += [0.0] if far >= 0 else [far, 2 * max(values)]
    space = _SCREEN_SPACE if panel.font_size >= 10 else _PAPER_SPACE
    return axis_limits(values, panel.log, space if ends else 0.04)


def _is_spanning_decades(estimates: list[Estimate]) -> bool:
    """Whether values, and limits of points without events, are positive and span two decades, except values known to be 0."""
    unknown = [e for e in estimates if (e.low, e.high) != (0, 0)]
    if not unknown or any(e.low < 0 or (e.value <= 0 and not has_no_events(e)) for e in unknown):
        return False
    values = [e.value for e in unknown if e.value > 0]
    return bool(values) and max(values) >= DECADES * min(values)


def axis_limits(values: Iterable[float], log: bool, below: float) -> tuple[float, float]:
    """Return limits of an axis around the values, with ``below`` of its length left free at the bottom.

    A linear axis of nonnegative values starts at 0 unless all values are far from it.  A logarithmic axis spans a decade or more.
    """
    inside = [v for v in values if math.isfinite(v) and (v > 0 or not log)]
    if not inside:
        return (0.1, 1.0) if log else (0.0, 1.0)
    low, high = min(inside), max(inside)
    if log:
        a, b = math.log10(low), math.log10(high)
        if b - a < 1:
            a, b = (a + b - 1) / 2, (a + b + 1) / 2
        return float(10 ** (a - below * (b - a))), float(10 ** (b + 0.06 * (b - a)))
    if low >= 0 and low < 0.6 * high:
        return (-below * high if low < 0.05 * high else 0.0), high + 0.05 * high
    span = high - low or abs(high) or 1.0
    return low - max(below, 0.05) * span, high + 0.05 * span


def _smallest_gap(at: Sequence[float]) -> float:
    """Return the smallest distance between neighbours as a fraction of the whole range."""
    return min((b - a for a, b in pairwise(at)), default=math.inf) / (at[-1] - at[0] or 1.0)


def _is_geometric(at: Sequence[float]) -> bool:
    """Whether ascending values are spread more evenly on a logarithmic axis, as powers of two are."""
    if len(at) < 4 or at[0] <= 0 or at[-1] < 8 * at[0]:
        return False
    return _smallest_gap([math.log(x) for x in at]) > 2 * _smallest_gap(at)


def _tick_positions(at: Sequence[float], along: Sequence[float], fraction: float, log: bool) -> list[float]:
    """Return the values, or if their labels would overlap as many as are ``fraction`` of the axis away from each other.

    On a logarithmic axis powers of two are chosen first.
    """
    whole = along[-1] - along[0] or 1.0
    kept: list[int] = []
    for i in sorted(range(len(at)), key=lambda i: not math.log2(max(at[i], 1)).is_integer() if log else 0):
        if all(abs(along[i] - along[k]) >= fraction * whole for k in kept):
            kept.append(i)
    return sorted(at[i] for i in kept)


def set_x_axis(axes: Any, values: Sequence[float], integer: bool, font_size: float) -> None:
    """Set scale, limits and ticks of the horizontal axis, with ticks at the data if there is space for their labels.

    Otherwise the ticks are round numbers: for evenly spaced values that do not all fit, and for values with many digits.
    ``font_size`` is the size of the labels in points.
    """
    from matplotlib.ticker import FixedLocator, FormatStrFormatter, MaxNLocator, NullFormatter

    at = sorted(set(values))
    if log := _is_geometric(at) or (axes.get_xscale() == "log" and at[0] > 0):
        axes.set_xscale("log")
    along = [math.log(x) for x in at] if log else at
    low, high = along[0], along[-1]
    pad = 0.04 * (high - low) or (1.0 if integer and not log else 0.1 * abs(high) or 0.1)
    axes.set_xlim(*(math.exp(x) if log else x for x in (low - pad, high + pad)))
    wide = axes.get_window_extent().width / axes.figure.dpi * 72
    gap, rounded = (
        (0.6 * font_size * many + 0.5 * font_size) / wide for many in (max(len(f"{x:g}") for x in at), _ROUNDED)
    )
    even = not log and len(at) > 2 and at[-1] - at[0] < 1.01 * (len(at) - 1) * _smallest_gap(at) * (at[-1] - at[0])
    short = len(at) == 1 or (len(at) <= _MANY and all(float(f"{x:.3g}") == x or float(x).is_integer() for x in at))
    if not log and (not short or (even and (len(at) > _TICKS or _smallest_gap(along) < gap))):
        most = max(3, min(10, int(1 / min(gap, rounded))))
        axes.xaxis.set_major_locator(MaxNLocator(most, integer=integer, steps=[1, 2, 5, 10]))
    else:
        axes.xaxis.set_major_locator(FixedLocator(_tick_positions(at, along, gap, log)))
        axes.xaxis.set_major_formatter(FormatStrFormatter("%d" if integer else "%g"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.minorticks_off()
