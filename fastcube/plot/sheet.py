"""What a study's figure draws on: a new matplotlib figure with as many panels as it asks for, or the caller's own axes."""

from __future__ import annotations

from typing import Any

from ..errors import ParameterError, is_many, shown
from .panel import Panel
from .words import mathtext

#: Inches of a panel, and of the legend beside the panels.
_WIDTH, _HEIGHT, _LEGEND = 6.2, 4.6, 1.9


class Sheet:
    """The ground of a figure: ``panels`` gives its panels, ``title`` writes over them.

    Parameters
    ----------
    axes : matplotlib axes or sequence of them, optional
        The caller's, as many as the figure has panels; by default a new figure of the right size.
    """

    def __init__(self, axes: Any = None) -> None:
        many = axes if is_many(axes) else [axes]
        self._given = None if axes is None else [a for row in many for a in (row if is_many(row) else [row])]
        if not all(hasattr(a, "plot") and hasattr(a, "figure") for a in self._given or ()):
            raise ParameterError(f"axes must be matplotlib axes, got {shown(axes)}")
        self._panels: list[Panel] = []
        self._title = ""
        self.figure: Any = None

    def panel(self) -> Panel:
        """The one panel of a figure that has one."""
        return self.panels()[0]

    def panels(self, columns: int = 1, rows: int = 1, count: int | None = None) -> list[Panel]:
        """The panels of the figure, row by row, ``count`` of them where the last row is not full; asked for once.

        Raises ParameterError when the caller's axes are not as many.
        """
        count = count or columns * rows
        if self._given is None:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure

            size = (_WIDTH * columns + _LEGEND, _HEIGHT * rows + 0.4)
            self.figure = Figure(figsize=size, dpi=150 if columns == 1 else 120, layout="constrained")
            FigureCanvasAgg(self.figure)
            axes = list(self.figure.subplots(rows, columns, squeeze=False).flat)
            for unused in axes[count:]:
                unused.remove()
            del axes[count:]
        else:
            axes = self._given
            if len(axes) != count:
                raise ParameterError(f"axes must be {count} for this figure, got {len(axes)}")
            self.figure = axes[0].figure
        self._panels = [Panel(a) for a in axes]
        return self._panels

    def title(self, text: str) -> None:
        """A line over all panels; left out on the caller's axes."""
        self._title = mathtext(text)

    def finish(self) -> Any:
        """Draw all panels with their legends; returns the matplotlib figure."""
        for panel in self._panels:
            panel.finish()
        self._draw_legends()
        if self._given is None and self._title:
            self.figure.suptitle(self._title)
        self.figure.draw_without_rendering()  # lays out: only now is it known how large panels are and where lines run
        for panel in self._panels:
            panel.settle()
        return self.figure

    def _draw_legends(self) -> None:
        if self._given is None and len({panel.by for panel in self._panels}) == 1:
            entries = {label: handle for panel in self._panels for label, handle in panel.legend.items()}
            if entries:
                how = {"loc": "outside right center", "fontsize": 8, "frameon": False, "ncols": 1 + len(entries) // 30}
                self.figure.legend(entries.values(), entries.keys(), **how)
            return
        for panel in self._panels:
            if entries := panel.legend:
                how = {"loc": "best"} if self._given else {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
                panel.axes.legend(entries.values(), entries.keys(), fontsize=8, frameon=False, **how)
