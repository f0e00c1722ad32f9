"""Figures of results, with matplotlib where it is installed (extra ``fastcube[plot]``).

A study's ``figure(results, sheet)`` says what to draw; everything else is decided here, alike for all studies::

    def figure(results, sheet):
        left, right = sheet.panels(2)                            # or panel = sheet.panel(); stacked: sheet.panels(rows=2)
        left.lines(results, "success", x="rate", by="m")         # a line for each m, intervals shaded
        left.add_statement(0.9, "paper: > 90% below 30%", where=lambda point: point["rate"] < 0.3)
        left.reference(lambda point: 1 - 2 * point["rate"] ** (point["m"] + 1), "closed form 1 - 2 p^(m+1)")   # dotted
        left.set_labels(title="Figure 1: pairs that the route joins")
        right.compare(results, {"ROUTE": "lost_route", "ROUTE1": "lost_route1"}, x="f", at={"n": 10})   # a line a statistic
        right.set_labels(y="share of messages lost", title="n = 10")
        sheet.title("What both panels are about")

Also ``panel.series(label, [(x, estimate), ...])`` for lines of any source, ``panel.marks`` for exact or published values,
``panel.curve`` for other curves, ``panel.limits(bottom=0)``, ``panel.scale = "linear"`` (or ``"log"``; by default
logarithmic where data span two decades), ``panel.shares`` for a distribution, and ``panel.axes``, which are matplotlib's.
On a logarithmic scale a point at which nothing was seen is a bar at its 95% upper limit with an arrow down from it.  Labels
and titles are written as in tables (``Q_n``, ``2^n``, ``floor(n/2)``, ``<=``) and set as mathematics, letters that stand
alone in italics; by default the axes say what the study says of axis and statistic.
"""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import (
    MissingDependencyError,
    ParameterError,
    ResultFileError,
    check_flag,
    check_path,
    plain_text,
    wrap_study_errors,
)
from ..measure.registry import code_of
from ..measure.statistics import Distribution
from ..results.hdf5 import error_reason, replace_file
from ..results.results import Results

if TYPE_CHECKING:
    from ..measure.statistics import Point
    from .sheet import Sheet

FORMATS = (".png", ".svg", ".pdf")


#: How a picture begins; an SVG may begin in several ways.
_PICTURES = (b"\x89PNG\r\n\x1a\n", b"%PDF-")


#: Ground and letters of a dark page.
_DARK: dict[Any, Any] = {
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "#111111"),
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), "#dddddd"),
}

#: Publishers refuse fonts of Type 3, matplotlib's default; these are TrueType.
_TRUETYPE: dict[Any, Any] = {"pdf.fonttype": 42, "ps.fonttype": 42}


@contextlib.contextmanager
def default_style(style: str | None = None) -> Iterator[None]:
    """Draw as matplotlib does by default, on a dark ground or not, whatever settings a user's files and session have."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_TRUETYPE | (_DARK if style == "dark" else {}))
        yield


def _find_target(path: Path) -> Path:
    """The file that a figure goes to: a link stays one.  Raises ResultFileError where it holds anything but a picture."""
    target = Path(os.path.realpath(path))
    if target.exists():
        if not target.is_file():
            raise ResultFileError(f"plot {path} is not a regular file")
        with target.open("rb") as file:
            begin = file.read(2000)
        if begin and not begin.startswith(_PICTURES) and not (begin.lstrip().startswith(b"<") and b"<svg" in begin):
            raise ResultFileError(f"plot {path} is not a picture: nothing replaces it")
        if not os.access(target, os.W_OK):
            raise ResultFileError(f"plot {path} is write-protected")
    return target


def save_figure(figure: Any, path: str | Path) -> None:
    """Write a figure in one step, so that the old file stays after any failure.  Raises ResultFileError."""
    path, image = Path(path), io.BytesIO()
    try:
        target = _find_target(path)
        figure.savefig(image, format=path.suffix[1:].lower())
        replace_file(target, image.getvalue())
    except ResultFileError:
        raise
    except Exception as error:  # whatever matplotlib raises
        why = error_reason(error) if isinstance(error, OSError) else f"{type(error).__name__}: {plain_text(str(error))}"
        raise ResultFileError(f"plot {path} cannot be written: {why}") from error


def check_target(path: str | Path) -> None:
    """Raise before anything is computed.

    MissingDependencyError without matplotlib, ParameterError for another format, ResultFileError for a file that is no picture.
    """
    path = check_path("path", path)
    if path.suffix.lower() not in FORMATS:
        raise ParameterError(f"plot must end in one of {', '.join(FORMATS)}, got {path}")
    if not path.parent.is_dir():
        raise ResultFileError(f"plot folder {path.parent} does not exist")
    try:
        _find_target(path)
    except OSError as error:
        if isinstance(error, ResultFileError):
            raise
        raise ResultFileError(f"plot {path} cannot be read: {error_reason(error)}") from error
    require_matplotlib()


def require_matplotlib(need: str = "plots need matplotlib: pip install 'fastcube[plot]'") -> None:
    """Raise MissingDependencyError, with ``need``, where matplotlib is not installed; also where it cannot be imported."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingDependencyError(need) from None
    except Exception as error:  # MPLBACKEND names no backend, or a matplotlibrc is no text
        raise MissingDependencyError(f"matplotlib cannot be imported: {plain_text(str(error), 120)}") from error


#: Most panels of a plain figure, and most lines of a distribution in it.
_PANELS, _LINES = 4, 7


def _select_points(results: Results) -> Sequence[Point]:
    """Points to show distributions at: along the axis of most values, evenly, the other axes at their largest value."""
    points = [point for point, tally in results if tally.trials]
    if not points:
        return []
    axes = [a.name for a in results.study.axes]
    along = max(axes, key=lambda name: len({point[name] for point in points}))
    largest = max(tuple(point[name] for name in axes if name != along) for point in points)
    kept = [point for point in points if tuple(point[name] for name in axes if name != along) == largest]
    step = max(1, -(-len(kept) // _LINES))
    return kept[::-1][::step][::-1]


def default_figure(results: Results, sheet: Sheet) -> None:
    """The figure of a study without one of its own: the statistics that its table shows, and its distributions."""
    from .panel import held_values
    from .words import key_text

    first, *rest = results.study.statistics
    chosen = [first, *(s for s in rest if s.shown or isinstance(s, Distribution))][:_PANELS]
    panels = sheet.panels(min(2, len(chosen)), -(-len(chosen) // 2), len(chosen))
    some = _select_points(results)
    names = [a.name for a in results.study.axes if len({point[a.name] for point, _ in results}) > 1]
    held = held_values(some, names)
    at = f" at {key_text(held)}" if held else ""
    for panel, statistic in zip(panels, chosen, strict=True):
        if isinstance(statistic, Distribution):
            panel.shares(results, statistic.name, at=lambda point: point in some)
            name = statistic.name + at
        else:
            panel.lines(results, statistic.name)
            name = statistic.name
        panel.set_labels(title=results.study.title if len(chosen) == 1 else name)
    if len(chosen) > 1:
        sheet.title(results.study.title)


def study_figure(results: Results, sheet: Sheet) -> None:
    """The figure of the results' grid or study, where they have one of their own, else the plain one."""
    code = code_of(results.study)
    own = None if code is None else code.grid_of(results).figure or code.figure
    (own or default_figure)(results, sheet)


def _prefix(results: Results) -> str:
    """The study, and the values of all axes that have one value."""
    from .panel import held_values
    from .words import key_text

    points = [point for point, tally in results if tally.trials]
    held = held_values(points, [a.name for a in results.study.axes])
    return ", ".join(filter(None, (results.study.name, key_text(held))))


def draw_figure(
    results: Results | Sequence[Results],
    path: str | Path | None = None,
    axes: Any = None,
    statistics: Sequence[str] = (),
    x: str | None = None,
    by: str | None = None,
    log: bool = False,
    panels: Sequence[int] = (),
    **layout: Any,
) -> Any:
    """Draw the study's figure, on ``axes`` (as many as it has panels) or a new figure; write it to ``path`` when given.

    Where statistics, ``x``, ``by`` or ``log`` are given, these on one pair of axes instead; several results always share one.
    ``layout`` is as :class:`fastcube.plot.sheet.Sheet` has it: width, height, style, title and legend.

    A new figure is drawn under matplotlib's defaults; the caller's axes keep the caller's settings.  Where a column has no room
    for all panels, the first are drawn and a warning names the others.

    Returns the matplotlib figure.  Raises as :func:`check_target`, ParameterError when the axes are not as many as the
    panels, for what is no statistic or axis, and for a width that is none, and ResultFileError when the file cannot be written.
    """
    if path is None:
        require_matplotlib()
    else:
        check_target(path)
    from .selection import selection_figure
    from .sheet import Sheet

    several = [results] if isinstance(results, Results) else [*results]
    chosen = check_flag("log", log) or bool(statistics) or (x, by) != (None, None) or len(several) > 1
    prefix = "" if axes is None else _prefix(several[0])

    def draw(numbers: Sequence[int]) -> Sheet:
        sheet = Sheet(axes, log=log, numbers=numbers, prefix=prefix, **layout)
        with wrap_study_errors(f"the figure of {several[0].study.name}"):
            if chosen:
                selection_figure(several, sheet, statistics, x, by, log)
            else:
                study_figure(several[0], sheet)
        sheet.finish()
        return sheet

    with default_style(layout.get("style")) if axes is None else contextlib.nullcontext():
        sheet = draw(panels)
        if sheet.left_out:
            others = ",".join(map(str, sheet.left_out))
            warnings.warn(
                f"a column has no room for panels {others} of this figure: ask for these panels, or give a height",
                stacklevel=3,
            )
            sheet = draw(sheet.fitting)
        if path is not None:
            save_figure(sheet.figure, path)
    return sheet.figure
