"""The legends of a new figure below its panels, and the caption."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from .panel import Panel
from .style import SMALLEST
from .text import visible_length, wrap_mathtext

#: Largest width of a panel's own legend as a fraction of its column; a wider legend would make matplotlib shrink the axes.
_MAX_LEGEND_FRACTION = 0.8


def draw_legends(figure: Any, panels: Sequence[Panel], columns: int, font_size: float, facts: str) -> None:
    """Draw one legend under all panels if their lines differ by the same axes, else one under each, and the caption ``facts``.

    The panels are in rows of ``columns`` panels.  The figure grows by the legends.
    """
    small = max(SMALLEST, 0.85 * font_size)
    is_shared = len({panel.by for panel in panels}) == 1
    entries = _list_entries(panels) if is_shared else {}
    caption = wrap_mathtext(facts, int(1.8 * figure.get_size_inches()[0] * 72 / small))
    if entries or caption:
        rows, layout = _lay_out_legend(entries, _letters_across(figure, small))
        _grow_figure(figure, rows + len(caption.splitlines()), small)
        layout |= {"title": caption, "title_fontsize": small, "loc": "outside lower center"}
        figure.legend(entries.values(), entries.keys(), fontsize=small, frameon=False, **layout)
    if is_shared:
        return
    for i in range(0, len(panels), columns):
        rows_of_legends = (_draw_panel_legend(panel, columns, font_size, small) for panel in panels[i : i + columns])
        _grow_figure(figure, max(rows_of_legends), small)


def _draw_panel_legend(panel: Panel, columns: int, font_size: float, small: float) -> int:
    """Draw the legend of one panel of a row of ``columns`` panels, in ``small`` letters, and return its number of rows."""
    from matplotlib.transforms import ScaledTranslation

    entries, figure = _list_entries([panel]), panel.axes.figure
    if not entries:
        return 0
    rows, layout = _lay_out_legend(entries, _letters_across(figure, small) / columns * _MAX_LEGEND_FRACTION)
    lines = 3.4 + 1.2 * panel.axes.get_xlabel().count("\n")  # height of the axis' numbers and label, in letters
    under = ScaledTranslation(0, -lines * font_size / 72, figure.dpi_scale_trans)
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "borderaxespad": 0.0}
    place |= {"bbox_transform": panel.axes.transAxes + under}
    panel.axes.legend(entries.values(), entries.keys(), fontsize=small, frameon=False, **layout, **place)
    return rows


def _list_entries(panels: Sequence[Panel]) -> dict[str, Any]:
    """Return the entries of a legend of several panels: first all lines."""
    legends = [panel.legend for panel in panels]
    lines = {label: handle for legend in legends for label, handle in legend.lines.items()}
    return lines | {label: handle for legend in legends for label, handle in legend.others.items()}


def _letters_across(figure: Any, font_size: float) -> float:
    """Return the width of a figure in letters of this size."""
    return float(figure.get_size_inches()[0]) * 72 / font_size


def _lay_out_legend(entries: dict[str, Any], available: float) -> tuple[int, dict[str, Any]]:
    """Return the number of rows of a legend at most ``available`` letters wide, and its settings; one column always fits."""
    widths = [0.58 * max(map(visible_length, label.splitlines())) + 4.4 for label in entries]
    fitting = (number for number in range(len(widths), 1, -1) if _legend_width(widths, number) <= available)
    legend_columns = next(fitting, 1)
    lines = sum(1 + label.count("\n") for label in entries)
    return math.ceil(lines / legend_columns), {"ncols": legend_columns, "columnspacing": 1.2, "handlelength": 2.2}


def _legend_width(widths: list[float], columns: int) -> float:
    """Return the width of a legend with entries of these widths in ``columns`` columns, which matplotlib fills evenly."""
    rows, longer_columns = divmod(len(widths), columns)
    ends = [i * rows + min(i, longer_columns) for i in range(columns + 1)]
    return sum(max(widths[begin:end]) for begin, end in pairwise(ends))


def _grow_figure(figure: Any, rows: int, font_size: float) -> None:
    """Make the figure higher by the rows of a legend."""
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + rows * 1.6 * font_size / 72)
