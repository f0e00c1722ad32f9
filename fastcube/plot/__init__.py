"""Plot results with matplotlib, if it is installed (extra ``plot``).

A study's ``figure(results, sheet)`` says what to plot.  This package decides everything else, the same for all studies::

    def figure(results, sheet):
        left, right = sheet.panels(2)                            # or panel = sheet.panel(); one above the other: panels(rows=2)
        left.lines(results, "delivered", x="rate", by="m")         # one line per m, with shaded intervals
        left.add_statement(0.9, "paper: > 90% below 30%", where=lambda point: point["rate"] < 0.3)
        left.reference(lambda point: 1 - 2 * point["rate"] ** (point["m"] + 1), "closed form 1 - 2 p^(m+1)")   # dotted
        left.set_labels(title="Figure 1: pairs that the route connects")
        right.compare(results, {"ROUTE": "lost_route", "ROUTE1": "lost_route1"}, x="f", at={"n": 10})   # one line per statistic
        right.set_labels(y="fraction of messages lost", title="n = 10")
        sheet.title("Title of the whole figure")

Further methods: ``panel.series(label, [(x, estimate), ...])`` for lines of any source, ``panel.marks`` for exact or published
values, ``panel.curve`` for other curves, ``panel.limits(bottom=0)``, and ``panel.distribution`` for a distribution.
``panel.scale`` is "linear" or "log"; by default it is logarithmic if the data span two decades.  ``panel.axes`` are the
matplotlib axes.
On a logarithmic scale a point without events is a bar at its 95% upper limit with an arrow pointing down.  Labels
and titles are written as in tables (``Q_n``, ``2^n``, ``floor(n/2)``, ``<=``) and typeset as mathematics, single letters in
italics.  By default the axes have the study's descriptions of axis and statistic.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import (
    MissingDependencyError,
    ParameterError,
    ResultFileError,
    check_file_path,
    check_flag,
    plain_text,
    wrap_study_errors,
)
from ..measure.binned import Distribution
from ..measure.registry import find_study
from ..results.replacement import error_reason, replace_file
from ..results.results import Results

if TYPE_CHECKING:
    from ..measure.statistics import Point
    from .sheet import Sheet

FORMATS = (".png", ".svg", ".pdf")


#: The first bytes of a picture; an SVG may begin in several ways.
_PICTURES = (b"\x89PNG\r\n\x1a\n", b"%PDF-")


#: Background and text colours for a dark page.
_DARK: dict[Any, Any] = {
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "#111111"),
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), "#dddddd"),
}

#: Publishers refuse Type 3 fonts, matplotlib's default; these are TrueType fonts.
_TRUETYPE: dict[Any, Any] = {"pdf.fonttype": 42, "ps.fonttype": 42}


@contextlib.contextmanager
def default_style(style: str | None = None) -> Iterator[None]:
    """Use matplotlib's default settings, perhaps on a dark background, whatever settings the user's files and session have."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_TRUETYPE | (_DARK if style == "dark" else {}))
        yield


def _find_target(name: str, path: Path) -> Path:
    """Return the file of a picture, with links resolved.  Raises ResultFileError if the file holds anything but a picture."""
    target = Path(os.path.realpath(path))
    if target.exists():
        if not target.is_file():
            raise ResultFileError(f"{name} {path} is not a regular file")
        with target.open("rb") as file:
            begin = file.read(2000)
        if begin and not begin.startswith(_PICTURES) and not (begin.lstrip().startswith(b"<") and b"<svg" in begin):
            raise ResultFileError(f"{name} {path} is not a picture: nothing replaces it")
        if not os.access(target, os.W_OK):
            raise ResultFileError(f"{name} {path} is write-protected")
    return target


def save_figure(figure: Any, path: str | Path) -> None:
    """Write a figure in one step; after a failure the old file is unchanged.  Raises ResultFileError."""
    path, image = Path(path), io.BytesIO()
    try:
        target = _find_target("plot", path)
        figure.savefig(image, format=path.suffix[1:].lower())
        replace_file(target, image.getvalue())
    except ResultFileError:
        raise
    except Exception as error:  # matplotlib raises many types
        why = error_reason(error) if isinstance(error, OSError) else f"{type(error).__name__}: {plain_text(str(error))}"
        raise ResultFileError(f"plot {path} cannot be written: {why}") from error


def check_target(path: str | Path, name: str = "plot") -> None:
    """Check, before anything is computed, that a figure can be written; ``name`` is the parameter's.

    Raises MissingDependencyError without matplotlib, and the errors of ``check_picture_target``.
    """
    check_picture_target(name, check_file_path("path", path), FORMATS)
    require_matplotlib()


def check_picture_target(name: str, path: str | Path, formats: Sequence[str]) -> Path:
    """Return the path of a picture that can be written; ``name`` is the parameter's.

    Raises ParameterError for another format, and ResultFileError for a file that is not a picture.
    """
    path = check_file_path(name, path)
    if path.suffix.lower() not in formats:
        wanted = f"one of {', '.join(formats)}" if len(formats) > 1 else formats[0]
        raise ParameterError(f"{name} must end in {wanted}, got {path}")
    if not path.parent.is_dir():
        raise ResultFileError(f"{name} folder {path.parent} does not exist")
    try:
        _find_target(name, path)
    except OSError as error:
        if isinstance(error, ResultFileError):
            raise
        raise ResultFileError(f"{name} {path} cannot be read: {error_reason(error)}") from error
    return path


def save_picture(name: str, path: Path, image: bytes) -> None:
    """Write a picture in one step; after a failure the old file is unchanged.  Raises ResultFileError."""
    replace_file(_find_target(name, path), image)


def require_matplotlib(need: str = "plots need matplotlib: pip install matplotlib") -> None:
    """Raise MissingDependencyError, with ``need``, if matplotlib is not installed; also if it cannot be imported.

    Messages about the user's matplotlibrc, whose settings our figures do not use, are not printed.
    """
    said: list[logging.LogRecord] = []
    drop: Any = said.append  # a filter that returns None drops the record
    logging.getLogger("matplotlib").addFilter(drop)
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingDependencyError(need) from None
    except Exception as error:  # MPLBACKEND does not name a backend, or a matplotlibrc file is not text
        why = plain_text(said[-1].getMessage() if said else str(error), 400)
        raise MissingDependencyError(f"matplotlib cannot be imported: {why}") from error
    finally:
        logging.getLogger("matplotlib").removeFilter(drop)


#: Largest number of panels of a plain figure, and of lines of a distribution in it.
_PANELS, _LINES = 4, 7


def _select_points(results: Results) -> Sequence[Point]:
    """Return points for distributions: evenly along the axis with most values, with the other axes at their largest value."""
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
    """Plot the plain figure: the statistics in the study's table, and its distributions."""
    from .line_points import held_values
    from .text import key_text

    first, *rest = results.study.statistics
    chosen = [first, *(s for s in rest if s.shown or isinstance(s, Distribution))][:_PANELS]
    panels = sheet.panels(min(2, len(chosen)), -(-len(chosen) // 2), len(chosen))
    some = _select_points(results)
    names = [a.name for a in results.study.axes if len({point[a.name] for point, _ in results}) > 1]
    held = held_values(some, names)
    at = f" at {key_text(held)}" if held else ""
    for panel, statistic in zip(panels, chosen, strict=True):
        if isinstance(statistic, Distribution):
            panel.distribution(results, statistic.name, at=lambda point: point in some)
            name = statistic.name + at
        else:
            panel.lines(results, statistic.name)
            name = statistic.name
        panel.set_labels(title=results.study.title if len(chosen) == 1 else name)
    if len(chosen) > 1:
        sheet.title(results.study.title)


def study_figure(results: Results, sheet: Sheet) -> None:
    """Plot the figure of the grid or the study, or the plain figure if there is none."""
    code = find_study(results.study)
    own = None if code is None else code.grid_of(results).figure or code.figure
    (own or default_figure)(results, sheet)


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
    """Plot the study's figure, on ``axes`` (as many as it has panels) or a new figure, and write it to ``path`` if given.

    If statistics, ``x``, ``by`` or ``log`` are given, plot these on one pair of axes instead.  Several results always share one.
    ``layout`` are the parameters width, height, style, title, legend, xlabel and ylabel of ``fastcube.plot.sheet.Sheet``.

    A new figure is drawn with matplotlib's default settings; the caller's axes keep the caller's settings.  If a column has no
    room for all panels, the first panels are plotted and a warning names the others.

    Returns the matplotlib figure.  Raises the errors of ``check_target``, ParameterError for a wrong number of axes, an unknown
    statistic or axis, or an impossible width, and ResultFileError if the file cannot be written.
    """
    if path is None:
        require_matplotlib()
    else:
        check_target(path, "path")
    from .selection import selection_figure
    from .sheet import Sheet

    several = [results] if isinstance(results, Results) else [*results]
    chosen = check_flag("log", log) or bool(statistics) or (x, by) != (None, None) or len(several) > 1

    def draw(numbers: Sequence[int]) -> Sheet:
        sheet = Sheet(axes, log=log, numbers=numbers, results=several, **layout)
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
                f"panels without space in a figure of this width: {others}; ask for these panels, or give a height",
                stacklevel=3,
            )
            sheet = draw(sheet.fitting)
        if path is not None:
            save_figure(sheet.figure, path)
    return sheet.figure
