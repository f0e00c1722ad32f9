"""The sheet of a study's figure: a new matplotlib figure with its panels, or the caller's own axes."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError, as_number, check_flag, is_many, short_repr
from .caption import caption_text, shared_facts
from .drawing import draw_panel, write_labels
from .grouping import group_lines
from .panel import Panel
from .placing import choose_log, find_limits
from .style import SMALLEST
from .text import mathtext, visible_length, wrap_mathtext

if TYPE_CHECKING:
    from ..results.results import Results

#: Width on a screen of one panel and of two in a row, and least width of a panel in a row of two, in inches.
_SCREEN, _LEAST = (6.6, 9.6), 2.8

#: Width of a journal's column, greatest height of a figure in a column, and least height of a panel in it, in inches.
_COLUMN, _COLUMN_HEIGHT, _LOWEST_PANEL = 3.3, 4.5, 0.9

#: Height of a figure in addition to its rows of panels, in inches.
_MARGIN = 0.5

#: Largest width of a panel's own legend as a fraction of its column; a wider legend would make matplotlib shrink the axes.
_MAX_LEGEND_FRACTION = 0.8

#: Permitted widths and heights in inches, and their description in messages.
_LENGTHS = {
    "width": (2.5, 20.0, "screen, or 2.5in to 20in (3.3in is a column)"),
    "height": (1.5, 40.0, "1.5in to 40in"),
}

#: Letter size in points and resolution in dots per inch of each style.
_STYLES = {"screen": (10.0, 120), "dark": (10.0, 120), "paper": (8.0, 300)}


def check_inches(name: str, value: object) -> float | None:
    """Return a ``width`` or ``height`` in inches, given as ``"3.3in"`` or 3.3; None for the default, ``"screen"`` or None.

    Raises ParameterError for anything else, for a width outside 2.5 to 20 inches, and for a height outside 1.5 to 40.
    """
    if value == ("screen" if name == "width" else None):
        return None
    low, high, lengths = _LENGTHS[name]
    number = re.fullmatch(r"(\d+\.?\d*|\.\d+)in", value) if isinstance(value, str) else None
    inches = as_number(float(number[1]) if number else value)
    if inches is None or not low <= inches <= high:
        raise ParameterError(f"{name} must be {lengths}, got {short_repr(value)}")
    return float(inches)


def check_panels(numbers: object) -> tuple[int, ...]:
    """Return the numbers of panels, from 1.  Raises ParameterError for anything else."""
    chosen = [as_number(number) for number in (numbers if is_many(numbers) else [numbers])]
    if not all(isinstance(number, int) and number >= 1 for number in chosen):
        raise ParameterError(f"panels must be numbers from 1, got {short_repr(numbers)}")
    return tuple(int(number) for number in chosen if number is not None)


def check_legend(legend: object) -> tuple[bool, tuple[str, ...]]:
    """Return whether a legend is requested, and the labels of its lines, if any.  Raises ParameterError for anything else."""
    if not isinstance(legend, Sequence) or isinstance(legend, str):
        return check_flag("legend", legend), ()
    if not legend or not all(isinstance(label, str) and label for label in legend):
        raise ParameterError(f"legend must be labels of the lines, got {short_repr(legend)}")
    return True, tuple(legend)


def check_style(style: object, width: object) -> str:
    """Return the style of a figure: the given style, by default ``paper`` for a width in inches, else ``screen``.

    Raises ParameterError for an unknown style.
    """
    if style is None:
        return "screen" if width == "screen" else "paper"
    if not isinstance(style, str) or style not in _STYLES:
        raise ParameterError(f"style must be one of {', '.join(_STYLES)}, got {short_repr(style)}")
    return str(style)


def _legend_width(widths: list[float], columns: int) -> float:
    """Return the width of a legend with entries of these widths in ``columns`` columns, which matplotlib fills evenly."""
    rows, longer_columns = divmod(len(widths), columns)
    ends = [i * rows + min(i, longer_columns) for i in range(columns + 1)]
    return sum(max(widths[begin:end]) for begin, end in pairwise(ends))


def _legend_entries(panels: Sequence[Panel]) -> dict[str, Any]:
    """Return the entries of a legend of several panels: first all lines."""
    legends = [panel.legend for panel in panels]
    return {label: handle for i in (0, 1) for legend in legends for label, handle in legend[i].items()}


def _group_by_axis(panels: Iterable[Panel]) -> Iterable[list[Panel]]:
    """Return groups of panels with the same vertical axis."""
    groups: dict[object, list[Panel]] = {}
    for panel in panels:
        groups.setdefault(panel.y_label or id(panel), []).append(panel)
    return groups.values()


class Sheet:
    """The sheet of a figure: ``panels`` returns its panels, ``title`` sets the title above them.

    Parameters
    ----------
    axes : matplotlib axes or sequence of them, optional
        The caller's axes, as many as the figure has panels; by default a new figure of suitable size.
    width, height : str or number
        Of a new figure: ``"screen"``, or inches as ``"3.3in"`` or 3.3.  There are at most two panels in a row, and one if two
        would be narrower than 2.8 inches.  No letter is smaller than 7 points.  A figure on paper with its panels in one
        column is at most 4.5 inches high unless a height is given.
    style : str, optional
        ``"screen"``, ``"paper"`` (letters of 8 points, 300 dots per inch, panels marked (a), (b), ...) or ``"dark"``; by default
        paper for a width in inches.
    title : str or bool, optional
        A title in place of the figure's own; ``"none"`` or False for no title.  On the caller's axes there is no title without
        it, and True writes the figure's own.
    legend : bool or sequence of str
        Labels of the lines, in the order of the legend, in place of the figure's own; True adds a legend to the
        caller's axes.
    log : bool
        Whether to make the caller's axes logarithmic.
    numbers : sequence of int
        The panels to plot, from 1; by default all.
    results : sequence of Results
        The results, for the caption of a new figure, and for labels on the caller's axes that do not name the study.
    xlabel, ylabel : str, optional
        Labels of the axes of a new figure with one panel, in place of the figure's own.
    """

    def __init__(
        self,
        axes: Any = None,
        width: str | float = "screen",
        height: str | float | None = None,
        style: str | None = None,
        title: str | bool | None = None,
        legend: bool | Sequence[str] = False,
        log: bool = False,
        numbers: Sequence[int] = (),
        results: Sequence[Results] = (),
        xlabel: str | None = None,
        ylabel: str | None = None,
    ) -> None:
        rows = axes if is_many(axes) else [axes]
        self._given = None if axes is None else [a for row in rows for a in (row if is_many(row) else [row])]
        if not all(hasattr(a, "plot") and hasattr(a, "figure") for a in self._given or ()):
            raise ParameterError(f"axes must be matplotlib axes, got {short_repr(axes)}")
        self._style = check_style(style, width)
        self._inches = _COLUMN if (style, width) == ("paper", "screen") else check_inches("width", width)
        self._height = check_inches("height", height)
        if axes is not None:
            of_new_figure = {"width": self._inches, "height": height, "style": style, "panels": numbers or None}
            of_new_figure |= {"xlabel": xlabel, "ylabel": ylabel}
            for name in (name for name, value in of_new_figure.items() if value is not None):
                raise ParameterError(f"{name} is of a new figure: axes have their own")
        if not (title is None or isinstance(title, str | bool)):
            raise ParameterError(f"title must be text, True, or none for no title, got {short_repr(title)}")
        self._own_title = "" if title in ("none", False) else title
        self._legend, self._labels = check_legend(legend)
        self._axis_labels = {"xlabel": xlabel, "ylabel": ylabel}
        self._log, self._results = log, results
        self._numbers = check_panels(numbers)
        self._panels: list[Panel] = []
        self._title = ""
        self._columns = 1
        self._font_size, self._dots = _STYLES[self._style]
        self.figure: Any = None
        self.fitting: list[int] = []  # numbers of the panels, from 1, with enough space, if others lack it
        self.left_out: list[int] = []  # numbers of the panels, from 1, without enough space

    def panel(self) -> Panel:
        """Return the panel of a figure with a single panel."""
        return self.panels()[0]

    def panels(self, columns: int = 1, rows: int = 1, count: int | None = None) -> list[Panel]:
        """Return the panels of the figure, row by row; ``count`` if the last row is not full.  Call it once.

        A new figure has at most two columns and as many rows as needed.  A panel without anything to show is removed if others
        have something.  Raises ParameterError if the number of the caller's axes differs.
        """
        count = count or columns * rows
        if self._given is None:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure

            narrow = self._inches is not None and self._inches < 2 * _LEAST
            self._columns = 1 if narrow else min(columns, 2)
            self.figure = Figure(dpi=self._dots, layout="constrained")
            FigureCanvasAgg(self.figure)
            axes = [self.figure.add_subplot() for _ in range(count)]
            self._lay_out(axes)
        else:
            axes = self._given
            if len(axes) != count:
                raise ParameterError(f"axes must be {count} for this figure, got {len(axes)}")
            self.figure = axes[0].figure
        if max(self._numbers, default=1) > count:
            raise ParameterError(f"panels must be in [1, {count}] for this figure, got {max(self._numbers)}")
        prefix = [self._results[0].study.name, *shared_facts(self._results)[0].values()] if self._results else []
        self._panels = [Panel(a, self._font_size, self._given is None, ", ".join(prefix)) for a in axes]
        return self._panels

    def _lay_out(self, axes: list[Any]) -> None:
        """Arrange the axes in rows, in a figure of suitable size."""
        columns = min(self._columns, len(axes))
        rows = -(-len(axes) // columns)
        width = self._inches or _SCREEN[columns - 1]
        self.figure.set_size_inches(width, rows * (self._panel_height(columns) + 0.3) + _MARGIN)
        grid = self.figure.add_gridspec(rows, columns)
        for i, each in enumerate(axes):
            row, column = divmod(i, columns)
            each.set_subplotspec(grid[row, slice(column, None) if each is axes[-1] else column])  # fills the row

    def _panel_height(self, columns: int = 0) -> float:
        """Return the height of a panel with its labels, in inches."""
        columns = columns or min(self._columns, len(self._panels))
        return 0.72 * min((self._inches or _SCREEN[columns - 1]) / columns, 6.0)

    def title(self, text: str) -> None:
        """Set the title above all panels; it is left out on the caller's axes."""
        self._title = text

    def finish(self) -> Any:
        """Draw all panels with their legends, and return the matplotlib figure."""
        if self._given is not None:
            self._finish_given()
            return self.figure
        panels = self._panels
        self.drop_panels()
        whole = [panel for panel in panels if panel in self._panels or panel.has_something]
        self._rename_lines(whole)
        self._choose_scales(self._panels)
        self._choose_scales([panel for panel in whole if panel not in self._panels])
        if len({panel.by for panel in whole}) == 1:
            group_lines(whole, self._panels)
        else:
            for panel in self._panels:
                group_lines([panel], [panel])
        self._write_titles()
        self._draw_panels()
        self._draw_legends()
        self._limit_height()
        if not self.left_out:
            self.figure.draw_without_rendering()  # computes the layout
        return self.figure

    def _finish_given(self) -> None:
        """Add lines, intervals and limits to the caller's axes, and nothing else unless requested."""
        self._rename_lines(self._panels)
        for panel in self._panels:
            if self._log:
                panel.axes.set_yscale("log")
            panel.log = panel.axes.get_yscale() == "log"
            draw_panel(panel, None)
            if self._own_title:
                panel.axes.set_title(mathtext(panel.title if self._own_title is True else self._own_title))
            if self._legend:
                panel.axes.legend(frameon=False)

    def drop_panels(self) -> tuple[int, ...]:
        """Remove panels that are not selected, and panels with nothing to show if others have something.

        Return the numbers of the others, from 1.
        """
        chosen = [self._panels[number - 1] for number in self._numbers] or self._panels
        kept = [panel for panel in chosen if panel.has_something] or chosen
        self._numbers = tuple(self._panels.index(panel) + 1 for panel in kept)
        if len(kept) < len(self._panels):
            for panel in self._panels:
                if panel not in kept:
                    panel.axes.remove()
            self._panels = kept
            self._lay_out([panel.axes for panel in kept])
        return self._numbers

    def _rename_lines(self, whole: Sequence[Panel]) -> None:
        """Give the lines of the whole figure the requested labels.

        Raises ParameterError if their number is not that of the lines in the panels of this figure.
        """
        if not self._labels:
            return
        lines = [line for panel in self._panels for line in panel.measured_lines if line.label is not None]
        own = dict.fromkeys(line.label for line in lines)
        if len(own) != len(self._labels):
            raise ParameterError(
                f"legend must have {len(own)} labels, for {', '.join(map(str, own))}, got {len(self._labels)}"
            )
        given = dict(zip(own, self._labels, strict=True))
        for line in (line for panel in whole for line in panel.measured_lines if line.label is not None):
            line.label = given.get(line.label, line.label)

    def _choose_scales(self, panels: Sequence[Panel]) -> None:
        """Choose the kind of scale, which panels with the same vertical axis share."""
        for group in _group_by_axis(panels):
            deciding = next((panel for panel in group if panel.scale != "auto"), group[0])
            log = choose_log(deciding, [e for panel in group for e in panel.estimates])
            for panel in group:
                panel.log = log

    def _draw_panels(self) -> None:
        """Draw the panels; panels with the same vertical axis share the limits."""
        for group in _group_by_axis(self._panels):
            limits = [found for panel in group if (found := find_limits(panel)) is not None]
            shared = (min(low for low, _ in limits), max(high for _, high in limits)) if limits else None
            for panel in group:
                draw_panel(panel, shared if panel.estimates else None)

    def _write_titles(self) -> None:
        """Write the title and the requested labels; on paper, titles of several panels begin with (a), (b), ..."""
        for name in (name for name, text in self._axis_labels.items() if text is not None):
            if len(self._panels) > 1:
                raise ParameterError(f"{name} needs a figure with one panel, got {len(self._panels)}: choose one panel")
            self._panels[0].set_labels(**{name[0]: self._axis_labels[name]})
        if isinstance(self._own_title, str):
            self._title = self._own_title
            if len(self._panels) == 1:
                self._panels[0].set_labels(title="")
        if self._style == "paper" and len(self._panels) > 1:
            for letter, panel in zip(string.ascii_lowercase, self._panels, strict=False):
                panel.set_labels(title=f"({letter}) {panel.title}".strip())
        if self._title:
            size = 1.1 * self._font_size
            per_line = int(1.8 * self.figure.get_size_inches()[0] * 72 / size)
            self.figure.suptitle(wrap_mathtext(self._title, per_line), fontsize=size)

    def _limit_height(self) -> None:
        """Set the requested height; in a journal's column find out how many panels fit into the greatest height."""
        width, height = self.figure.get_size_inches()
        in_column = self._style == "paper" and self._inches is not None and self._inches < 2 * _LEAST
        wanted = self._height or (_COLUMN_HEIGHT if in_column else None)
        if wanted is None or (self._height is None and height <= wanted):
            return
        self.figure.draw_without_rendering()
        rows = -(-len(self._panels) // self._columns)
        panel_height, row_height = (
            max(box.height for box in self._boxes(tight)) / self.figure.dpi for tight in (False, True)
        )
        text_height = row_height - panel_height  # of a row's labels, title and legend
        capacity = max(1, int((wanted - height + rows * (panel_height + text_height)) / (_LOWEST_PANEL + text_height)))
        if capacity < rows:
            capacity *= self._columns
            self.fitting, self.left_out = [*self._numbers[:capacity]], [*self._numbers[capacity:]]
            return
        self.figure.set_size_inches(width, wanted)
        self.figure.draw_without_rendering()
        for panel in self._panels:
            write_labels(panel)

    def _boxes(self, tight: bool = False) -> list[Any]:
        """Return the boxes of the panels in pixels, if ``tight`` with their labels, titles and legends."""
        return [panel.axes.get_tightbbox() if tight else panel.axes.get_window_extent() for panel in self._panels]

    @property
    def _has_one_legend(self) -> bool:
        """Whether the lines of all panels differ by the same axes."""
        return len({panel.by for panel in self._panels}) == 1

    def _draw_legends(self) -> None:
        """Draw one legend under the panels if their lines differ by the same axes, else one under each, and then the caption."""
        small = max(SMALLEST, 0.85 * self._font_size)
        style: dict[str, Any] = {"fontsize": small, "frameon": False}
        entries = _legend_entries(self._panels) if self._has_one_legend else {}
        facts = caption_text(self._results, self._panels) if self._results else ""
        caption = wrap_mathtext(facts, int(1.8 * self.figure.get_size_inches()[0] * 72 / small))
        if entries or caption:
            rows, look = self._legend_layout(entries, 1, small)
            self._grow_figure(rows + len(caption.splitlines()), small)
            look |= {"title": caption, "title_fontsize": small, "loc": "outside lower center"}
            self.figure.legend(entries.values(), entries.keys(), **style, **look)
        if self._has_one_legend:
            return
        columns = min(self._columns, len(self._panels))
        for i in range(0, len(self._panels), columns):
            row = self._panels[i : i + columns]
            self._grow_figure(max(self._draw_panel_legend(panel, columns, small, style) for panel in row), small)

    def _draw_panel_legend(self, panel: Panel, columns: int, small: float, style: dict[str, Any]) -> int:
        """Draw the legend of one panel, and return its number of rows."""
        from matplotlib.transforms import ScaledTranslation

        if not (entries := _legend_entries([panel])):
            return 0
        rows, look = self._legend_layout(entries, columns, small)
        lines = 3.4 + 1.2 * panel.axes.get_xlabel().count("\n")  # height of the axis' numbers and label, in letters
        under = ScaledTranslation(0, -lines * self._font_size / 72, self.figure.dpi_scale_trans)
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "borderaxespad": 0.0}
        place |= {"bbox_transform": panel.axes.transAxes + under}
        panel.axes.legend(entries.values(), entries.keys(), **style, **look, **place)
        return rows

    def _legend_layout(self, entries: dict[str, Any], columns: int, font_size: float) -> tuple[int, dict[str, Any]]:
        """Return the rows of a legend below one of ``columns`` columns of panels, and its settings, as wide as fits."""
        available = self.figure.get_size_inches()[0] * 72 / columns / font_size
        if not self._has_one_legend:
            available *= _MAX_LEGEND_FRACTION
        widths = [0.58 * max(map(visible_length, label.splitlines())) + 4.4 for label in entries]
        fitting = (number for number in range(len(widths), 1, -1) if _legend_width(widths, number) <= available)
        legend_columns = next(fitting, 1)
        lines = sum(1 + label.count("\n") for label in entries)
        return math.ceil(lines / legend_columns), {"ncols": legend_columns, "columnspacing": 1.2, "handlelength": 2.2}

    def _grow_figure(self, rows: int, font_size: float) -> None:
        """Make the figure higher by the rows of a legend."""
        width, height = self.figure.get_size_inches()
        self.figure.set_size_inches(width, height + rows * 1.6 * font_size / 72)
