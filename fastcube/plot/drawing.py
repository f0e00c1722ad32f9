"""Draw what a panel has collected: lines with their intervals, limits, statements, labels and ticks."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..measure.estimate import Estimate
from . import placing
from .lines import Line, Statement, has_no_events, is_drawable, is_limit, is_zero
from .markers import dashed_bar, limit_marker, marker_step
from .style import GREY, SMALLEST
from .text import mathtext, wrap_mathtext

if TYPE_CHECKING:
    from .panel import Panel

#: Largest total length of the names along x, in characters, that are written horizontally.
_LONGEST_NAMES = 45

#: Length of a limit's arrow in letters, on a line with up to ``_FEW_LIMITS`` limits and with more.
_ARROW, _SMALL_ARROW, _FEW_LIMITS = 1.0, 0.6, 4

#: Marks side by side at one x: their largest and least distance in points, and the largest fraction of the gap to the next x
#: that they fill.
_STEP, _LEAST_STEP, _FILLED = 5.0, 2.5, 0.8

#: Limits at one x are drawn side by side if their decimal logarithms, times this number, round to the same integer.
_LIMITS_PER_DECADE = 10

#: Largest number of x values of exact zeros that the legend names one by one; of more it names the first ones.  As many or more
#: that follow one another are named as a range.
_FEW_ZEROS = 4

#: On a logarithmic scale a bar with a lower end of 0 or below ends at this fraction of the value.
_BELOW = 1e-3

#: Dash patterns of the first, second, ... statement of a panel.
_STATEMENT_DASHES = ("-", (0, (6, 2)), (0, (3, 1.5)))


def draw_panel(panel: Panel, limits: tuple[float, float] | None) -> None:
    """Draw everything collected, on a scale with these limits; the caller's axes keep their scales, ticks and labels.

    The steps are in a fixed order.  The scale comes first because distances on the screen depend on it.  ``_dodge_points`` sets
    the ``shift`` of lines, which the later steps draw.  Every step may add entries to the legend, which keeps their order.
    """
    if panel.owns_axes:
        _set_axes(panel, limits)
    low, high = panel.axes.get_ylim() if panel.owns_axes else (-math.inf, math.inf)
    _dodge_points(panel)
    for i, line in enumerate(panel.measured_lines):  # the first line is above later lines, and the hypercube on top
        earliness = 1 - i / len(panel.measured_lines)  # in (0, 1]
        _draw_line(panel, line, 3 + 0.4 * earliness + 0.5 * ("hypercube" in (line.label or "").split(", ")))
    if panel.log:
        _draw_limits(panel)
        _name_zeros(panel)
    for place, statement in enumerate(panel.statements):
        if low <= min(statement.y) and max(statement.y) <= high:
            _draw_statement(panel, statement, place)
        else:
            panel.add_entry(f"{statement.text}: off the scale", linestyle="none")
    if panel.owns_axes:
        write_labels(panel)


def _set_axes(panel: Panel, limits: tuple[float, float] | None) -> None:
    """Set scales, limits and ticks; without limits write why there is nothing to show."""
    if limits is None:
        if not panel.axes.has_data():
            _write_inside(panel, "not measured at these points" if panel.measured_lines else "no trials")
            panel.axes.set(xticks=[], yticks=[])
        return
    panel.axes.set_yscale("log" if panel.log else "linear")
    if not panel.log:
        panel.axes.locator_params(axis="y", steps=[1, 2, 5, 10])
        panel.axes.ticklabel_format(axis="y", style="sci", scilimits=(-3, 5), useMathText=True)
    panel.axes.set_ylim(panel.fixed_limits.get("bottom", limits[0]), panel.fixed_limits.get("top", limits[1]))
    if limits[0] < 0 and any(e.low < 0 for e in panel.estimates):
        panel.axes.axhline(0, color=GREY, linewidth=0.8, zorder=1, gid="zero")
    if panel.has_only_limits:
        _write_inside(panel, f"none seen at any point\n95% limits below {max(e.high for e in panel.estimates):.2g}")
    _set_x(panel)


def _write_inside(panel: Panel, text: str) -> None:
    """Write a text near the top of the panel."""
    style = {"transform": panel.axes.transAxes, "ha": "center", "va": "top", "fontsize": panel.font_size}
    panel.axes.text(0.5, 0.92, text, **style)


def write_labels(panel: Panel) -> None:
    """Write title and labels, broken into lines that fit the present size of the axes."""
    box = panel.axes.get_window_extent()
    width, height = ((length / panel.axes.figure.dpi * 72) for length in (box.width, box.height))
    size = panel.font_size
    labels = panel.labels
    panel.axes.set_xlabel(wrap_mathtext(labels.get("x", ""), int(1.8 * width / size)), fontsize=size)
    panel.axes.set_ylabel(wrap_mathtext(labels.get("y", ""), int(1.8 * height / size)), fontsize=size)
    if "title" in labels:
        panel.axes.set_title(wrap_mathtext(labels["title"], int(1.75 * width / size)), fontsize=size)
    panel.axes.tick_params(which="both", labelsize=max(SMALLEST, 0.9 * size))
    panel.axes.yaxis.get_offset_text().set_fontsize(max(SMALLEST, 0.9 * size))
    panel.axes.grid(color=GREY, alpha=0.25, linewidth=0.5)
    panel.axes.set_axisbelow(True)


def _set_x(panel: Panel) -> None:
    """Set scale, limits and ticks of the horizontal axis, with names if it has names."""
    values = [x for line in panel.measured_lines for x in line.x] + [x for xs, _ in panel.curves for x in xs]
    placing.set_x_axis(panel.axes, values, all(isinstance(x, int) for x in values), panel.font_size)
    if panel.categories:
        turned = {"rotation": 30, "ha": "right"} if sum(map(len, panel.categories)) > _LONGEST_NAMES else {}
        panel.axes.set_xticks(range(len(panel.categories)), panel.categories, **turned)
    panel.axes.set_xlim(panel.fixed_limits.get("left"), panel.fixed_limits.get("right"))


def _dodge_points(panel: Panel) -> None:
    """Move points without neighbours side by side if their intervals overlap, and say so in the legend."""
    drawn = [sum(is_drawable(e, panel.log) for e in line.estimates) for line in panel.measured_lines]
    unjoined = [
        line
        for line, count in zip(panel.measured_lines, drawn, strict=True)
        if panel.owns_axes and (not line.joined or count <= 1)
    ]
    extents: dict[float, list[tuple[float, float]]] = {}
    for line in unjoined:
        for x, e in zip(line.x, line.estimates, strict=True):
            if is_drawable(e, panel.log):
                extents.setdefault(x, []).append(_find_extent(panel, x, e))
    if any(low < below for spans in extents.values() for (_, below), (low, _) in pairwise(sorted(spans))):
        step = min(_STEP, *(_free_width(panel, x) / len(unjoined) for x in extents))
        for i, line in enumerate(unjoined):
            line.shift = (i - (len(unjoined) - 1) / 2) * step
        panel.add_entry("points side by side have one x", linestyle="none")


def _find_extent(panel: Panel, x: float, e: Estimate) -> tuple[float, float]:
    """Return the lower and upper end of an interval with its marker on the screen, in pixels."""
    least = panel.axes.get_ylim()[0]
    ends = panel.axes.transData.transform([(x, max(v, least)) for v in (e.low, e.value, e.high)])[:, 1]
    marker = _STEP / 2 / 72 * panel.axes.figure.dpi
    return min(ends[0], ends[1] - marker), max(ends[2], ends[1] + marker)


def _free_width(panel: Panel, x: float) -> float:
    """Return the width in points available to marks at x; 0 on a caller's axes, which may still change."""
    if not panel.owns_axes:
        return 0.0
    others = {other for line in panel.measured_lines for other in line.x if other != x} | set(panel.axes.get_xlim())
    pixels = panel.axes.transData.transform([(v, panel.axes.get_ylim()[1]) for v in (x, *others)])[:, 0]
    return float(_FILLED * abs(pixels[1:] - pixels[0]).min() * 72 / panel.axes.figure.dpi)


def _shift_arguments(panel: Panel, points: float) -> dict[str, Any]:
    """Return arguments that move an artist to the right by ``points``; none for 0, so that the axes follow its data."""
    from matplotlib.transforms import ScaledTranslation

    if not points:
        return {}
    return {"transform": panel.axes.transData + ScaledTranslation(points / 72, 0, panel.axes.figure.dpi_scale_trans)}


def _draw_line(panel: Panel, line: Line, layer: float) -> None:
    """Draw a line through its values, with intervals as a band between neighbours and as a bar at a single marker.

    ``layer`` is the line's ``zorder``.  On a logarithmic scale an interval that goes down to less than a tenth of its value is a
    bar too.  Sets ``panel.has_bar`` and ``panel.has_band``, by which the legend explains the marks.
    """
    is_drawn = [is_drawable(e, panel.log) for e in line.estimates]
    can_be_in_band = [
        s and (e.low > e.value / 10 or not panel.log) for s, e in zip(is_drawn, line.estimates, strict=True)
    ]
    y = [e.value if s else math.nan for s, e in zip(is_drawn, line.estimates, strict=True)]
    shift = _shift_arguments(panel, line.shift)
    marker_distance = marker_step(len(y))
    look = line.plot_style | {"markevery": marker_distance} | shift
    panel.axes.plot(line.x, y, zorder=layer, gid="line", label=mathtext(line.label or "_"), **look)
    top = panel.axes.get_ylim()[1]
    ends = [e.high if e.high < math.inf else max(10 * top, e.value) for e in line.estimates]  # above the axis
    has_neighbour = [
        line.joined and any(can_be_in_band[max(0, i - 1) : i] + can_be_in_band[i + 1 : i + 2]) for i in range(len(y))
    ]
    bar = {"color": look["color"], "linewidth": 0.9, "marker": "_", "markersize": 5, "alpha": 0.7}
    bar |= {"gid": "bar", "zorder": 2, "label": "_"} | shift
    in_band = [can_be and has for can_be, has in zip(can_be_in_band, has_neighbour, strict=True)]
    for i, (x, e, high) in enumerate(zip(line.x, line.estimates, ends, strict=True)):
        if is_drawn[i] and not in_band[i] and i % marker_distance == 0 and not panel.has_only_limits:
            low = _BELOW * e.value if panel.log and e.low <= 0 else e.low  # below the axis, where the bar is clipped
            panel.axes.plot([x] * 2, [low, high], **bar)
            panel.has_bar = True
    if line.joined and any(in_band):
        step = "mid" if "drawstyle" in look else None
        band = {"color": look["color"], "alpha": 0.18, "linewidth": 0, "zorder": 1, "step": step}
        panel.axes.fill_between(line.x, [e.low for e in line.estimates], ends, where=can_be_in_band, **band)
        panel.has_band = True


def _draw_limits(panel: Panel) -> None:
    """Draw a bar at each limit and an arrow to the side of the value.

    Limits at one place are drawn side by side, each with the open marker of its line.  If there is no space, a single grey mark
    stands for all of them.
    """
    found: dict[tuple[float, int], list[tuple[Line, float, bool]]] = {}
    for line in panel.measured_lines:
        for x, e in zip(line.x, line.estimates, strict=True):
            if is_limit(e):
                y = e.high if has_no_events(e) else e.low
                place = found.setdefault((x, round(_LIMITS_PER_DECADE * math.log10(y))), [])
                if not any(line.look == other.look for other, *_ in place):  # lines that coincide share one mark
                    place.append((line, y, has_no_events(e)))
    for (x, _), marks in found.items():
        step = min(_STEP, _free_width(panel, x) / len(marks))
        is_crowded = panel.owns_axes and len(marks) > 1 and step < _LEAST_STEP
        for i, (line, y, is_upper) in enumerate(marks[:1] if is_crowded else marks):
            colour = GREY if is_crowded else line.look["color"]
            length = _ARROW if sum(map(is_limit, line.estimates)) <= _FEW_LIMITS else _SMALL_ARROW
            shift = 0.0 if is_crowded else line.shift or (i - (len(marks) - 1) / 2) * step
            _draw_limit(panel, x, y, is_upper, colour, length, shift)
            if not is_crowded and len(panel.measured_lines) > 1:
                look = line.look | {"fillstyle": "none", "linestyle": "none", "gid": "limit of a line", "zorder": 3}
                panel.axes.plot([x], [y], label="_", **look, **_shift_arguments(panel, shift))
        if is_crowded:
            panel.add_entry("grey limit: of several lines", linestyle="none")
        elif len(marks) > 1 and panel.owns_axes:  # elsewhere marks are not moved
            panel.add_entry("points side by side have one x", linestyle="none")


def _name_zeros(panel: Panel) -> None:
    """Add an entry to the legend for the x values at which an estimate is exactly 0, because the scale does not reach 0.

    A line that is 0 everywhere has an entry of its own (``Panel.legend``).
    """
    values = sorted({x for line in panel.measured_lines for x in line.x})
    lines = [line for line in panel.measured_lines if not all(map(is_zero, line.estimates))]
    zeros = sorted({x for line in lines for x, e in zip(line.x, line.estimates, strict=True) if is_zero(e)})
    if not zeros or panel.categories:
        return
    follow_one_another = zeros == values[values.index(zeros[0]) :][: len(zeros)]
    if len(zeros) < _FEW_ZEROS or not follow_one_another:
        named = f"= {', '.join(f'{x:g}' for x in zeros[:_FEW_ZEROS])}{', ...' * (len(zeros) > _FEW_ZEROS)}"
    else:
        named = f"from {zeros[0]:g} to {zeros[-1]:g}"
    panel.add_entry(f"exactly 0 at {re.split('[,:]', panel.labels.get('x', 'x'))[0]} {named}", linestyle="none")


def _draw_limit(panel: Panel, x: float, y: float, is_upper: bool, colour: str, length: float, shift: float) -> None:
    """Draw one limit with its arrow, of a ``length`` in letters, and add an entry to the legend."""
    marker: dict[str, Any] = {"marker": limit_marker(not is_upper), "fillstyle": "none", "linestyle": "none"}
    look = _shift_arguments(panel, shift) | {"markersize": 2 * length * panel.font_size, "color": colour}
    panel.axes.plot([x], [y], gid="limit", zorder=3, label="_", **marker, **look)
    panel.add_entry("none seen: upper limit" if is_upper else "all: lower limit", color=GREY, markersize=12, **marker)


def _draw_statement(panel: Panel, statement: Statement, place: int) -> None:
    """Draw the level of a statement, with hollow markers for points to which it does not apply."""
    look = {"color": GREY, "linewidth": 1.4, "linestyle": _STATEMENT_DASHES[place % len(_STATEMENT_DASHES)]}
    pieces = 2 * (place % len(_STATEMENT_DASHES)) + 1
    marker = {"marker": dashed_bar(pieces), "markersize": 40, "markeredgewidth": 1.4} if len(statement.x) == 1 else {}
    names = {"label": mathtext(statement.text), "zorder": 2, "gid": "statement"}
    panel.axes.plot(statement.x, statement.y, **names, **look, **marker)
    panel.add_entry(statement.text, **look)
    for line in panel.measured_lines:
        beyond = [
            (x, e.value)
            for x, e, point in zip(line.x, line.estimates, line.points, strict=True)
            if x in statement.x and point is not None and not statement.where(point) and is_drawable(e, panel.log)
        ]
        if beyond:
            hollow = line.look | {"linestyle": "none", "markerfacecolor": panel.axes.get_facecolor()}
            panel.axes.plot(*zip(*beyond, strict=True), zorder=4, gid="beyond", label="_", **hollow)
            panel.add_entry(
                "hollow: beyond the stated range", color=GREY, marker="o", fillstyle="none", linestyle="none"
            )
