"""Results as text: a table for people, CSV and JSON for programs."""

from __future__ import annotations

import csv
import html
import io
import itertools
import json
import math
import textwrap
from collections.abc import Sequence
from typing import Any

from .engine.estimate import NOTHING, Estimate
from .engine.registry import code_of
from .engine.results import Results
from .errors import of_study

#: Characters of a line of the table where no terminal says how wide it is.
WIDTH = 120

#: Points of the table in a notebook.
HTML_ROWS = 40

#: What follows an estimate whose interval is asymptotic.
ASYMPTOTIC = "~"


def estimate_text(e: Estimate) -> str:
    """The estimate with its 95% interval.

    ``0.01234 ± 0.00056`` to two digits of the half-width where the interval is about symmetric,
    ``0.00150 [0.00110, 0.00250]`` elsewhere, ``< 3.7e-06`` when nothing was seen, ``> 0.9963`` when nothing else was; the
    same of a share times something small is ``6.91e-13 ± 2.55e-19``, by the distance to its lower limit.  ``-`` where nothing
    is known.
    """
    if math.isnan(e.value):
        return "-"
    if e.value == 0 and e.low == 0 < e.high:
        return f"< {e.high:.2g}"
    width = e.half_width
    if not 0 < width < math.inf:
        return f"{e.value:.6g}"
    digits = max(0, 1 - math.floor(math.log10(width)))
    style = f".{digits}f" if digits <= 8 else ".2e"
    if e.low < e.value == e.high:  # at the bound: of a share it is 1, which goes without saying
        return f"> {e.low:{style}}" if e.high >= 1 else f"{e.value:{style}} ± {e.value - e.low:{style}}"
    if 0.8 < (e.high - e.value) / width < 1.2 and (width < e.value / 2 or e.low < 0):
        return f"{e.value:{style}} ± {width:{style}}"
    if 0 < e.value < 10.0**-digits:  # too small for the digits of the interval
        style = ".2g"
    low = f"{e.low:{style}}" if e.low else "0"
    return f"{e.value:{style}} [{low}, {e.high:{style}}]"


def _columns(results: Results) -> list[list[str]]:
    """The table column by column, its name first: axes, trials, statistics, one for each value of a distribution."""
    study = results.study
    points = [point for point, _ in results]
    columns = [[a.name, *(str(point[a.name]) for point in points)] for a in study.axes]
    columns.append(["trials", *(f"{tally.trials:,}" for _, tally in results)])
    for s in study.statistics:
        if not s.shown:
            continue
        mark = ASYMPTOTIC if s.interval == "asymptotic" else ""
        rows = [dict(results.labelled(s, point)) for point in points]
        for label in dict.fromkeys(label for row in rows for label in row):
            cells = [estimate_text(row.get(label, NOTHING)) for row in rows]
            if set(cells) == {"-"} and len(study.statistics) > 1:
                continue
            columns.append([label, *(cell + mark if cell != "-" else cell for cell in cells)])
    return columns


def fitted(columns: Sequence[Sequence[str]], least: int, width: int) -> list[list[str]]:
    """The columns, from the left and at least ``least``, that fit a line of ``width`` characters, cells aligned to the right."""
    widths = [max(map(len, column)) for column in columns]
    fit = max(least, sum(end - 2 <= width for end in itertools.accumulate(2 + w for w in widths)))
    return [[cell.rjust(w) for cell in column] for column, w in zip(columns[:fit], widths, strict=False)]


def folded(line: str, width: int) -> list[str]:
    """A line of text, in several of at most ``width`` characters where it is longer, indented by two more."""
    if len(line) <= width:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(line, width, subsequent_indent=indent + "  ", replace_whitespace=False)


def as_table(results: Results, width: int = WIDTH) -> str:
    """One line a point: axes, trials, each statistic with half the width of its 95% interval; then the study's notes.

    Statistics that the study does not show or that no point defines are left out, and those that lines of ``width``
    characters do not hold, last first; a line under the table names these.  Rows are never wrapped.
    """
    study = results.study
    columns = _columns(results)
    kept = fitted(columns, len(study.axes) + 1, width)
    lines = ["  ".join(cells).rstrip() for cells in zip(*kept, strict=True)]
    lines.insert(1, "  ".join("-" * len(column[0]) for column in kept))
    if any(cell.endswith(ASYMPTOTIC) for column in kept for cell in column):
        lines += ["", f"{ASYMPTOTIC} asymptotic interval: nearly 95% where trials are many"]
    if len(kept) < len(columns):
        left_out = ", ".join(column[0] for column in columns[len(kept) :])
        lines += ["", *folded(f"left out for width, in csv and json: {left_out}", width)]
    code = code_of(study)
    notes_of = None if code is None else code.grid_of(results).notes or code.notes
    with of_study(f"notes of {study.name}"):
        notes = notes_of(results) if notes_of else []
    head = textwrap.wrap(f"{study.title} ({study.source})" if study.source else study.title, width)
    told = [part for line in notes for part in folded(line, width)]
    return "\n".join([*head, "", *lines, *([""] if notes else []), *told])


def as_html(results: Results) -> str:
    """The table as HTML, for notebooks: all that the study shows, at most HTML_ROWS points, all text escaped."""
    study = results.study
    columns = _columns(results)

    def row(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    head, *rows = zip(*columns, strict=True)
    body = "".join(row("td", cells) for cells in rows[:HTML_ROWS])
    source = f" ({html.escape(study.source)})" if study.source else ""
    marked = any(cell.endswith(ASYMPTOTIC) for column in columns for cell in column)
    notes = [f"{ASYMPTOTIC} asymptotic interval: nearly 95% where trials are many"] if marked else []
    if len(rows) > HTML_ROWS:
        notes.append(f"{len(rows) - HTML_ROWS} more points: sel(...) chooses, table() and to_dataframe() have all")
    return (
        f"<div><p><b>{html.escape(study.name)}</b>: {html.escape(study.title)}{source}, seed {results.seed}</p>"
        f'<div style="overflow-x: auto"><table><thead>{row("th", head)}</thead><tbody>{body}</tbody></table></div>'
        + "".join(f"<p>{html.escape(note)}</p>" for note in notes)
        + "</div>"
    )


def as_csv(results: Results) -> str:
    """Comma-separated rows of :meth:`Results.table`, empty where nothing is known.

    study, axes..., statistic, trials, among, estimate, stderr, low, high, interval.
    """
    numbers = ["trials", "among", "estimate", "stderr", "low", "high", "interval"]
    names = ["study", *(a.name for a in results.study.axes), "statistic", *numbers]
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: "" if plain(v) is None else v for name, v in row.items()} for row in results.table())
    return text.getvalue().rstrip("\n")


def plain(value: Any) -> Any:
    """The value for JSON, which has no NaN: None instead."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_json(results: Results) -> str:
    """The same rows as a JSON list; numbers that are not known are null."""
    return json.dumps([{name: plain(v) for name, v in row.items()} for row in results.table()], indent=1)


FORMATS = {"table": as_table, "csv": as_csv, "json": as_json}
