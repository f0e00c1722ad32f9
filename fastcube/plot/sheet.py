"""The sheet of a study's figure: a new matplotlib figure with its panels, or the caller's own axes."""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError, is_many, short_repr
from .caption import caption_text, shared_facts
from .drawing import draw_panel, write_labels
from .grouping import group_lines
from .legends import draw_legends
from .panel import Panel
from .placing import choose_log, find_limits
from .sheet_options import STYLES, check_inches, check_legend, check_panels, check_style
from .text import mathtext, wrap_mathtext

if TYPE_CHECKING:
    from ..results.results import Results

#: Width on a screen of one panel and of two in a row, and least width of a panel in a row of two, in inches.
_SCREEN, _LEAST = (6.6, 9.6), 2.8

#: Width of a journal's column, greatest height of a figure in a column, and least height of a panel in it, in inches.
_COLUMN, _COLUMN_HEIGHT, _LOWEST_PANEL = 3.3, 4.5, 0.9

#: Height of a figure in addition to its rows of panels, in inches.
_MARGIN = 0.5


def _flatten_axes(axes: Any) -> list[Any]:
    """Return the caller's axes, given as one pair, a sequence, or rows as of ``subplots``.  Raises ParameterError."""
    rows = axes if is_many(axes) else [axes]
    flat = [pair for row in rows for pair in (row if is_many(row) else [row])]
    if not all(hasattr(pair, "plot") and hasattr(pair, "figure") for pair in flat):
        raise ParameterError(f"axes must be matplotlib axes, got {short_repr(axes)}")
    return flat


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
        self._given = None if axes is None else _flatten_axes(axes)
        self._style = check_style(style, width)
        self._inches = _COLUMN if (style, width) == ("paper", "screen") else check_inches("width", width)
        self._height = check_inches("height", height)
        if axes is not None:
            options = {"width": self._inches, "height": height, "style": style, "panels": numbers or None}
            options |= {"xlabel": xlabel, "ylabel": ylabel}
            if (name := next((name for name, value in options.items() if value is not None), None)) is not None:
                raise ParameterError(f"{name} is of a new figure: axes have their own")
        if not (title is None or isinstance(title, str | bool)):
            raise ParameterError(f"title must be text, True, or none for no title, got {short_repr(title)}")
        self._own_title = "" if title in ("none", False) else title
        self._legend, self._labels = check_legend(legend)
        self._axis_labels = {"x": xlabel, "y": ylabel}
        self._log, self._results = log, results
        self._numbers = check_panels(numbers)
        self._panels: list[Panel] = []
        self._title = ""
        self._columns = 1
        self._look = STYLES[self._style]
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
            self.figure = Figure(dpi=self._look.dots, layout="constrained")
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
        self._panels = [Panel(a, self._look.letters, self._given is None, ", ".join(prefix)) for a in axes]
        return self._panels

    def _lay_out(self, axes: list[Any]) -> None:
        """Arrange the axes in rows, in a figure of suitable size."""
        columns = min(self._columns, len(axes))
        rows = -(-len(axes) // columns)
        width = self._inches or _SCREEN[columns - 1]
        self.figure.set_size_inches(width, rows * (self._panel_height(columns) + 0.3) + _MARGIN)
        grid = self.figure.add_gridspec(rows, columns)
        for i, pair in enumerate(axes):
            row, column = divmod(i, columns)
            pair.set_subplotspec(grid[row, slice(column, None) if pair is axes[-1] else column])  # fills the row

    def _panel_height(self, columns: int = 0) -> float:
        """Return the height of a panel with its labels, in inches."""
        columns = columns or min(self._columns, len(self._panels))
        return 0.72 * min((self._inches or _SCREEN[columns - 1]) / columns, 6.0)

    def title(self, text: str) -> None:
        """Set the title above all panels; it is left out on the caller's axes."""
        self._title = text

    def finish(self) -> Any:
        """Draw all panels, on a new figure with their titles and legends, and return the matplotlib figure.

        Raises ParameterError for labels that do not fit the lines, or labels of axes for several panels.
        """
        if self._given is not None:
            self._finish_given()
            return self.figure
        panels = self._panels
        self.drop_panels()
        # with the panels that are not selected, so that a line looks the same in a figure of some of the panels
        all_panels = [panel for panel in panels if panel in self._panels or panel.has_something]
        self._rename_lines(all_panels)
        self._choose_scales(self._panels)
        self._choose_scales([panel for panel in all_panels if panel not in self._panels])
        if len({panel.by for panel in all_panels}) == 1:
            group_lines(all_panels, self._panels)
        else:
            for panel in self._panels:
                group_lines([panel], [panel])
        self._write_titles()
        self._draw_panels()
        facts = caption_text(self._results, self._panels) if self._results else ""
        columns = min(self._columns, len(self._panels))
        draw_legends(self.figure, self._panels, columns, self._look.letters, facts)
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

        Return the numbers, from 1, of the panels that stay.
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

    def _rename_lines(self, all_panels: Sequence[Panel]) -> None:
        """Give the lines of all panels, selected or not, the requested labels.

        Raises ParameterError if their number is not that of the lines in the panels of this figure.
        """
        if not self._labels:
            return
        lines = [line for panel in self._panels for line in panel.measured_lines if line.label is not None]
        old_labels = dict.fromkeys(line.label for line in lines)
        if len(old_labels) != len(self._labels):
            raise ParameterError(
                f"legend must have {len(old_labels)} labels, for {', '.join(map(str, old_labels))}, "
                f"got {len(self._labels)}"
            )
        new_labels = dict(zip(old_labels, self._labels, strict=True))
        for line in (line for panel in all_panels for line in panel.measured_lines if line.label is not None):
            line.label = new_labels.get(line.label, line.label)

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
        for axis, text in self._axis_labels.items():
            if text is None:
                continue
            if len(self._panels) > 1:
                raise ParameterError(
                    f"{axis}label needs a figure with one panel, got {len(self._panels)}: choose one panel"
                )
            self._panels[0].set_labels(**{axis: text})
        if isinstance(self._own_title, str):
            self._title = self._own_title
            if len(self._panels) == 1:
                self._panels[0].set_labels(title="")
        if self._style == "paper" and len(self._panels) > 1:
            for letter, panel in zip(string.ascii_lowercase, self._panels, strict=False):
                panel.set_labels(title=f"({letter}) {panel.title}".strip())
        if self._title:
            size = 1.1 * self._look.letters
            per_line = int(1.8 * self.figure.get_size_inches()[0] * 72 / size)
            self.figure.suptitle(wrap_mathtext(self._title, per_line), fontsize=size)

    def _limit_height(self) -> None:
        """Set the requested height, or in a journal's column the greatest height if the figure is higher.

        If some panels would be too low, set ``fitting`` and ``left_out`` instead.
        """
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
