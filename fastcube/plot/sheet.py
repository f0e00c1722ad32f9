"""What a study's figure draws on: a new matplotlib figure with as many panels as it asks for, or the caller's own axes."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Any

from ..errors import ParameterError, is_many, short_repr
from .panel import Panel
from .style import SMALLEST
from .words import visible_length, wrap_mathtext

#: Inches of a figure on a screen, of one panel and of two in a row; and of a panel's least width, for two in a row.
_SCREEN, _LEAST = (6.6, 9.6), 2.8

#: Inches that a width may have.
_WIDTHS = (2.5, 20.0)

#: Points of letters on a screen and on paper, and dots of an inch.
_LETTERS, _DOTS = (10.0, 8.0), (120, 300)


def width_in_inches(width: object) -> float | None:
    """The width of a figure: ``"3.3in"`` or 3.3 in inches, None for ``"screen"``.

    Raises ParameterError for anything else, and beyond 2.5 to 20 inches.
    """
    if width == "screen":
        return None
    number = re.fullmatch(r"(\d+\.?\d*|\.\d+)in", width) if isinstance(width, str) else None
    value = float(number[1]) if number else width
    if isinstance(value, bool) or not isinstance(value, int | float) or not _WIDTHS[0] <= value <= _WIDTHS[1]:
        low, high = _WIDTHS
        raise ParameterError(
            f"width must be screen, or {low}in to {high:g}in (3.3in is a column), got {short_repr(width)}"
        )
    return float(value)


def _legend_width(widths: list[float], columns: int) -> float:
    """How wide a legend of entries of these widths is in so many columns, which matplotlib fills alike."""
    per, longer = divmod(len(widths), columns)
    ends = [k * per + min(k, longer) for k in range(columns + 1)]
    return sum(max(widths[i:j]) for i, j in pairwise(ends))


#: How much of a column a panel's own legend may take: about what its axes do, or they would have to make room.
_MAX_LEGEND_FRACTION = 0.8


class Sheet:
    """The ground of a figure: ``panels`` gives its panels, ``title`` writes over them.

    Parameters
    ----------
    axes : matplotlib axes or sequence of them, optional
        The caller's, as many as the figure has panels; by default a new figure of the right size.
    width : str or number
        Of a new figure: ``"screen"``, or inches on paper as ``"3.3in"`` or 3.3.  At most two panels stand in a row, and one
        where two would be narrower than 2.8 inches; no letter is smaller than 7 points.
    """

    def __init__(self, axes: Any = None, width: str | float = "screen") -> None:
        many = axes if is_many(axes) else [axes]
        self._given = None if axes is None else [a for row in many for a in (row if is_many(row) else [row])]
        if not all(hasattr(a, "plot") and hasattr(a, "figure") for a in self._given or ()):
            raise ParameterError(f"axes must be matplotlib axes, got {short_repr(axes)}")
        self._inches = width_in_inches(width)
        if self._inches is not None and axes is not None:
            raise ParameterError("width is of a new figure: axes have their own")
        self._panels: list[Panel] = []
        self._title = ""
        self._columns = 1
        self.figure: Any = None

    @property
    def _letters(self) -> float:
        return _LETTERS[self._inches is not None]

    def panel(self) -> Panel:
        """The one panel of a figure that has one."""
        return self.panels()[0]

    def panels(self, columns: int = 1, rows: int = 1, count: int | None = None) -> list[Panel]:
        """The panels of the figure, row by row, ``count`` of them where the last row is not full; asked for once.

        On a new figure ``columns`` are at most two, and as many rows as there have to be; what is left without anything
        drawn on it goes where another panel has something.  Raises ParameterError when the caller's axes are not as many.
        """
        count = count or columns * rows
        if self._given is None:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure

            narrow = self._inches is not None and self._inches < 2 * _LEAST
            self._columns = 1 if narrow else min(columns, 2)
            self.figure = Figure(dpi=_DOTS[self._inches is not None], layout="constrained")
            FigureCanvasAgg(self.figure)
            axes = [self.figure.add_subplot() for _ in range(count)]
            self._lay_out(axes)
        else:
            axes = self._given
            if len(axes) != count:
                raise ParameterError(f"axes must be {count} for this figure, got {len(axes)}")
            self.figure = axes[0].figure
        self._panels = [Panel(a, self._letters if self._given is None else None) for a in axes]
        return self._panels

    def _lay_out(self, axes: list[Any]) -> None:
        """Put the axes in rows, in a figure of the right size."""
        columns = min(self._columns, len(axes))
        rows = -(-len(axes) // columns)
        wide = self._inches or _SCREEN[columns - 1]
        self.figure.set_size_inches(wide, rows * (0.72 * min(wide / columns, 6.0) + 0.3) + 0.5)
        grid = self.figure.add_gridspec(rows, columns)
        for i, one in enumerate(axes):
            row, column = divmod(i, columns)
            one.set_subplotspec(grid[row, slice(column, None) if one is axes[-1] else column])  # no empty cell

    def title(self, text: str) -> None:
        """A line over all panels; left out on the caller's axes."""
        self._title = text

    def finish(self) -> Any:
        """Draw all panels with their legends; returns the matplotlib figure."""
        if self._given is None:
            self._drop_empty()
        for panel in self._panels:
            panel.finish()
        self._draw_legends()
        if self._given is None and self._title:
            size = 1.1 * self._letters
            per_line = int(1.8 * self.figure.get_size_inches()[0] * 72 / size)
            self.figure.suptitle(wrap_mathtext(self._title, per_line), fontsize=size)
        self.figure.draw_without_rendering()  # lays out: only now is it known how large panels are
        for panel in self._panels:
            panel.draw_arrows()
        return self.figure

    def _drop_empty(self) -> None:
        kept = [panel for panel in self._panels if panel.has_something]
        if kept and len(kept) < len(self._panels):
            for panel in self._panels:
                if panel not in kept:
                    panel.axes.remove()
            self._panels = kept
            self._lay_out([panel.axes for panel in kept])

    def _draw_legends(self) -> None:
        """One legend under the panels where all tell the same apart, else one under each; inside the caller's axes."""
        small = max(SMALLEST, 0.85 * self._letters)
        how: dict[str, Any] = {"fontsize": small, "frameon": False}
        if self._given is None and len({panel.by for panel in self._panels}) == 1:
            entries = {label: handle for panel in self._panels for label, handle in panel.legend.items()}
            if entries:
                rows, look = self._legend_layout(entries, 1, small)
                self._grow_figure(rows, small)
                self.figure.legend(entries.values(), entries.keys(), loc="outside lower center", **how, **look)
            return
        columns = min(self._columns, len(self._panels))
        for k in range(0, len(self._panels), columns):
            self._grow_figure(
                max(self._draw_panel_legend(panel, columns, small, how) for panel in self._panels[k : k + columns]),
                small,
            )

    def _draw_panel_legend(self, panel: Panel, columns: int, small: float, how: dict[str, Any]) -> int:
        """The legend of one panel; returns its rows."""
        from matplotlib.transforms import ScaledTranslation

        if not (entries := panel.legend):
            return 0
        if self._given is not None:
            panel.axes.legend(entries.values(), entries.keys(), loc="best", **how)
            return 0
        rows, look = self._legend_layout(entries, columns, small)
        lines = 3.4 + 1.2 * panel.axes.get_xlabel().count("\n")  # under the axis: its numbers and words
        under = ScaledTranslation(0, -lines * self._letters / 72, self.figure.dpi_scale_trans)
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "borderaxespad": 0.0}
        place |= {"bbox_transform": panel.axes.transAxes + under}
        panel.axes.legend(entries.values(), entries.keys(), **how, **look, **place)
        return rows

    def _legend_layout(self, entries: dict[str, Any], columns: int, letters: float) -> tuple[int, dict[str, Any]]:
        """How many rows a legend under one of so many columns of panels has, and how it is set: as wide as there is room."""
        wide = self.figure.get_size_inches()[0] * 72 / columns / letters
        if len({panel.by for panel in self._panels}) > 1:
            wide *= _MAX_LEGEND_FRACTION
        widths = [0.55 * max(map(visible_length, label.splitlines())) + 4.0 for label in entries]
        fitting = (many for many in range(len(widths), 1, -1) if _legend_width(widths, many) <= wide)
        many = next(fitting, 1)
        return math.ceil(len(widths) / many), {"ncols": many, "columnspacing": 1.2, "handlelength": 2.2}

    def _grow_figure(self, rows: int, letters: float) -> None:
        """Make a new figure higher by so many rows of a legend."""
        if self._given is None:
            wide, high = self.figure.get_size_inches()
            self.figure.set_size_inches(wide, high + rows * 1.6 * letters / 72)
