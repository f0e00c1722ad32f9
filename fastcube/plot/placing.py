"""Choose a panel's scale, limits and ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..measure.estimate import Estimate
from .lines import has_no_events, is_drawable, is_limit

if TYPE_CHECKING:
    from .panel import Panel

#: Data that span this factor get a logarithmic axis.
DECADES = 100.0

#: Fraction of the axis that is left free at the bottom: for the arrows of limits, on a screen and on the low panels of a paper,
#: and without limits.
_SCREEN_SPACE, _PAPER_SPACE, _LEAST_SPACE = 0.1, 0.18, 0.04

#: Least letters, in points, of a panel that counts as one on a screen.
_SCREEN_LETTERS = 10

#: Factors on a logarithmic scale: an interval farther below the smallest value is cut, a statement farther from all values is not
#: drawn, and a curve farther below them is cut.
_MAX_BAR_FACTOR, _MAX_STATEMENT_FACTOR, _MAX_CURVE_FACTOR = 10.0, 10.0, 1e3

#: Largest number of evenly spaced values, and of any values, that have a tick each.
_MOST_EVEN_TICKS, _MOST_TICKS = 14, 60

#: Assumed length of a round number in characters.
_ROUND_LENGTH = 5


def choose_log(panel: Panel, shared: list[Estimate]) -> bool:
    """Return whether the vertical axis is logarithmic, given the estimates of all panels that share it."""
    log = panel.scale == "log" or (panel.scale == "auto" and _is_spanning_decades(shared))
    return log and any(e.value > 0 for e in shared)


def find_limits(panel: Panel) -> tuple[float, float] | None:
    """Return limits of the vertical axis around everything plotted, or None if there is nothing."""
    if not (estimates := panel.estimates):
        return None
    drawn = [v for e in estimates if is_drawable(e, panel.log) for v in (e.value, e.low, e.high)]
    stated = [v for statement in panel.statements for v in statement.y]
    on_curves = [v for _, y in panel.curves for v in y]
    values = [e.value for e in estimates if e.value > 0 or not panel.log]
    one_sided = [e.high if has_no_events(e) else e.low for e in estimates if panel.log and is_limit(e)]
    if panel.log:
        drawn = [v for v in drawn if v > min(values) / _MAX_BAR_FACTOR] + one_sided
        stated = [v for v in stated if min(values) / _MAX_STATEMENT_FACTOR < v < max(values) * _MAX_STATEMENT_FACTOR]
        on_curves = [v for v in on_curves if v > min(values) / _MAX_CURVE_FACTOR]
    elif panel.has_only_limits:  # without any event, the upper limits determine the scale
        stated = [v for v in stated + on_curves if v < max(drawn) * _MAX_STATEMENT_FACTOR]
        on_curves = []
    drawn += stated + on_curves + [panel.fixed_limits[end] for end in ("bottom", "top") if end in panel.fixed_limits]
    widest = max((e.high - e.low for e in estimates if e.high < math.inf), default=0.0)
    if not panel.log and max(values) - min(values) < widest and not panel.statements:
        far = 2 * min(drawn)  # a closer view would only show intervals
        drawn += [0.0] if far >= 0 else [far, 2 * max(drawn)]
    space = _SCREEN_SPACE if panel.font_size >= _SCREEN_LETTERS else _PAPER_SPACE
    return axis_limits(drawn, panel.log, space if one_sided else _LEAST_SPACE)


def _is_spanning_decades(estimates: list[Estimate]) -> bool:
    """Whether values, and limits of points without events, are positive and span two decades, except values known to be 0."""
    not_zero = [e for e in estimates if (e.low, e.high) != (0, 0)]
    if not not_zero or any(e.low < 0 or (e.value <= 0 and not has_no_events(e)) for e in not_zero):
        return False
    values = [e.value for e in not_zero if e.value > 0]
    return bool(values) and max(values) >= DECADES * min(values)


def axis_limits(values: Iterable[float], log: bool, below: float) -> tuple[float, float]:
    """Return limits of an axis around the values, with ``below`` of its length left free at the bottom.

    A linear axis of nonnegative values starts at 0 unless all values are far from it.  A logarithmic axis spans a decade or more.
    """
    fitting = [v for v in values if math.isfinite(v) and (v > 0 or not log)]
    if not fitting:
        return (0.1, 1.0) if log else (0.0, 1.0)
    low, high = min(fitting), max(fitting)
    if log:
        bottom, top = math.log10(low), math.log10(high)
        if top - bottom < 1:
            bottom, top = (bottom + top - 1) / 2, (bottom + top + 1) / 2
        return float(10 ** (bottom - below * (top - bottom))), float(10 ** (top + 0.06 * (top - bottom)))
    if low >= 0 and low < 0.6 * high:
        return (-below * high if low < 0.05 * high else 0.0), high + 0.05 * high
    span = high - low or abs(high) or 1.0
    return low - max(below, 0.05) * span, high + 0.05 * span


def _smallest_gap(values: Sequence[float]) -> float:
    """Return the smallest distance between neighbours of ascending values, as a fraction of the whole range."""
    return min((b - a for a, b in pairwise(values)), default=math.inf) / (values[-1] - values[0] or 1.0)


def _is_geometric(values: Sequence[float]) -> bool:
    """Whether ascending values are spread more evenly on a logarithmic axis, as powers of two are."""
    if len(values) < 4 or values[0] <= 0 or values[-1] < 8 * values[0]:
        return False
    return _smallest_gap([math.log(x) for x in values]) > 2 * _smallest_gap(values)


def _tick_positions(values: Sequence[float], places: Sequence[float], fraction: float, log: bool) -> list[float]:
    """Return the values, or if their labels would overlap as many as are ``fraction`` of the axis away from each other.

    ``places`` are the places of the values along the axis.  On a logarithmic axis powers of two are chosen first.
    """
    length = places[-1] - places[0] or 1.0
    chosen: list[int] = []
    for i in sorted(range(len(values)), key=lambda i: not math.log2(max(values[i], 1)).is_integer() if log else 0):
        if all(abs(places[i] - places[j]) >= fraction * length for j in chosen):
            chosen.append(i)
    return sorted(values[i] for i in chosen)


def set_x_axis(axes: Any, values: Sequence[float], integer: bool, font_size: float) -> None:
    """Set scale, limits and ticks of the horizontal axis, with ticks at the data if there is space for their labels.

    Otherwise the ticks are round numbers: for evenly spaced values that do not all fit, and for values with many digits.
    ``font_size`` is the size of the labels in points.
    """
    from matplotlib.ticker import FixedLocator, FormatStrFormatter, MaxNLocator, NullFormatter

    xs = sorted(set(values))
    if log := _is_geometric(xs) or (axes.get_xscale() == "log" and xs[0] > 0):
        axes.set_xscale("log")
    elif axes.get_xscale() == "log":
        axes.set_xscale("linear")  # a logarithmic axis, as the study wants, has no place for the value 0
    places = [math.log(x) for x in xs] if log else xs
    low, high = places[0], places[-1]
    pad = 0.04 * (high - low) or (1.0 if integer and not log else 0.1 * abs(high) or 0.1)
    axes.set_xlim(*(math.exp(x) if log else x for x in (low - pad, high + pad)))
    width = axes.get_window_extent().width / axes.figure.dpi * 72
    label_length = max(len(f"{x:g}") for x in xs)
    # fractions of the axis that the longest label, and a round number, take with the space to the next one
    gap, round_gap = ((0.6 * font_size * length + 0.5 * font_size) / width for length in (label_length, _ROUND_LENGTH))
    is_even = not log and len(xs) > 2 and xs[-1] - xs[0] < 1.01 * (len(xs) - 1) * _smallest_gap(xs) * (xs[-1] - xs[0])
    are_short = all(float(f"{x:.3g}") == x or float(x).is_integer() for x in xs)
    have_ticks = len(xs) == 1 or (len(xs) <= _MOST_TICKS and are_short)
    if not log and (not have_ticks or (is_even and (len(xs) > _MOST_EVEN_TICKS or _smallest_gap(places) < gap))):
        most = max(3, min(10, int(1 / min(gap, round_gap))))
        axes.xaxis.set_major_locator(MaxNLocator(most, integer=integer, steps=[1, 2, 5, 10]))
    else:
        axes.xaxis.set_major_locator(FixedLocator(_tick_positions(xs, places, gap, log)))
        axes.xaxis.set_major_formatter(FormatStrFormatter("%d" if integer else "%g"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.minorticks_off()
