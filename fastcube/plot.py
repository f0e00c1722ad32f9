"""Figures of results, with matplotlib where it is installed (extra ``fastcube[plot]``)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .engine.hdf5 import reason
from .errors import MissingDependencyError, ParameterError, ResultFileError

if TYPE_CHECKING:
    from .engine.results import Results

FORMATS = (".png", ".svg", ".pdf")

#: Line styles that stay apart in grey print: colour (dark to light), marker, dashes.
_COLOURS = (
    "#1b3a5c",
    "#b5442c",
    "#2f7d4f",
    "#7a4fa3",
    "#c98a1b",
    "#3a8fb7",
    "#8c8c8c",
    "#5a2a1b",
    "#94b447",
    "#d46a9f",
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
_DASHES = ("-", "--", "-.", ":")


def style(i: int) -> dict[str, Any]:
    """Keyword arguments for the i-th line of a figure."""
    kinds = {
        "color": _COLOURS[i % len(_COLOURS)],
        "marker": _MARKERS[i % len(_MARKERS)],
        "linestyle": _DASHES[i % len(_DASHES)],
    }
    return {**kinds, "markersize": 4, "linewidth": 1.3}


def check_target(path: str | Path) -> None:
    """Raise before anything is computed: MissingDependencyError without matplotlib, ParameterError for another format."""
    if Path(path).suffix.lower() not in FORMATS:
        raise ParameterError(f"plot must end in one of {', '.join(FORMATS)}, got {path}")
    if not Path(path).parent.is_dir():
        raise ResultFileError(f"plot folder {Path(path).parent} does not exist")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingDependencyError("plots need matplotlib: pip install 'fastcube[plot]'") from None


def series(results: Results, statistic: str, x: str, line: str | None) -> dict[Any, list[tuple[Any, Any]]]:
    """For each value of the axis ``line`` (None: one line), the pairs (x, estimate) in order of x."""
    out: dict[Any, list[tuple[Any, Any]]] = {}
    for point, tally in results:
        if tally.trials and results.study.statistic(statistic).defined(point):
            label = None if line is None else point[line]
            out.setdefault(label, []).append((point[x], results.estimates(point)[statistic]))
    return dict(sorted(out.items(), key=lambda item: (item[0] is None, item[0])))


def draw_lines(axes: Any, results: Results, statistic: str, x: str, line: str | None) -> None:
    """One line with a shaded 95% interval for each value of the axis ``line``."""
    for i, (label, pairs) in enumerate(series(results, statistic, x, line).items()):
        at = [value for value, _ in pairs]
        how = style(i)
        axes.plot(at, [e.value for _, e in pairs], label=None if line is None else f"{line} = {label}", **how)
        axes.fill_between(
            at, [e.low for _, e in pairs], [e.high for _, e in pairs], color=how["color"], alpha=0.18, linewidth=0
        )


def _default_figure(results: Results, axes: Any) -> None:
    study = results.study
    names = [a.name for a in study.axes]
    statistic = study.statistics[0]
    draw_lines(axes, results, statistic.name, names[0], names[1] if len(names) > 1 else None)
    axes.set_xlabel(f"{names[0]}: {study.axes[0].description}")
    axes.set_ylabel(statistic.description)
    axes.set_title(study.title)
    if len(names) > 1:
        axes.legend()


def draw(results: Results, path: str | Path | None = None) -> Any:
    """Draw the study's figure, or its first statistic against its first axis; write it to ``path`` when given.

    Returns the matplotlib figure.  A study's own figure function may replace the one pair of axes it is given.
    Raises as :func:`check_target`, and ResultFileError when the file cannot be written.
    """
    check_target(path or "x.png")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 5.2), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    (results.study.figure or _default_figure)(results, axes)
    if path is not None:
        try:
            figure.savefig(path)
        except OSError as error:
            raise ResultFileError(f"plot {path} cannot be written: {reason(error)}") from error
    return figure
