"""Results as text: a table for people, CSV and JSON for programs."""

from __future__ import annotations

import csv
import html
import io
import itertools
import json
import math
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import StudyError, wrap_study_errors
from ..measure.estimate import UNDEFINED
from ..measure.registry import code_of
from ..measure.schema import RecordedMeasure
from ..measure.statistics import Distribution
from .export import columns_of
from .results import Results
from .rounding import estimate_texts

#: Characters of a line of the table where no terminal says how wide it is.
WIDTH = 120

#: Points of the table in a notebook.
HTML_ROWS = 40

#: What follows an estimate whose interval is asymptotic.
ASYMPTOTIC = "~"


def _columns(results: Results, statistics: Sequence[str] | None = None) -> list[list[str]]:
    """The table column by column, its name first: axes, trials, statistics, one for each value of a distribution.

    The statistics are those named, or all that the study shows.

    Beside an estimate over fewer than the point's trials stands over how many, ``> 0.948 of 69``.
    """
    study = results.study
    points = [point for point, _ in results]
    columns = [[a.name, *(str(point[a.name]) for point in points)] for a in study.axes]
    columns.append(["trials", *(f"{tally.trials:,}" for _, tally in results)])
    for s in results.select_statistics(statistics):
        if not s.shown and statistics is None:
            continue
        mark = ASYMPTOTIC if s.interval == "asymptotic" else ""
        ends = [mark + _condition_note(s.trials(tally.counts, tally.trials), tally.trials) for _, tally in results]
        rows = [dict(results.labelled_estimates(s, point)) for point in points]
        for label in dict.fromkeys(label for row in rows for label in row):
            cells = estimate_texts([row.get(label, UNDEFINED) for row in rows])
            if set(cells) == {"-"} and len(study.statistics) > 1:
                continue
            columns.append([label, *(c + end if c != "-" else c for c, end in zip(cells, ends, strict=True))])
    return columns


def unverified_note(results: Results) -> list[str]:
    """A line on the statistics that are the file's own word, where there are any."""
    names = results.study.unverified if isinstance(results.study, RecordedMeasure) else ()
    which = "statistics" if len(names) == len(results.study.statistics) else ", ".join(names)
    here = "a study that is here (show --study FILE.py)"
    line = f"{which} as the file states them: neither the digest nor {here} holds their units, bounds and scales"
    return [line] if names else []


def _condition_note(eligible: int, trials: int) -> str:
    return f" of {eligible:,}" if eligible < trials else ""


def _remarks(results: Results, columns: Sequence[Sequence[str]], asked: bool = False) -> list[str]:
    """What marks mean, what nothing vouches for, and how many statistics are not in the table at any width."""
    marked = any(ASYMPTOTIC in cell for column in columns for cell in column)
    lines = [f"{ASYMPTOTIC} asymptotic interval: nearly 95% where trials are many"] if marked else []
    lines += unverified_note(results)
    hidden = 0 if asked else sum(not s.shown for s in results.study.statistics)
    if hidden:
        lines.append(
            f"{hidden} more statistic{'s' * (hidden > 1)}, not shown here: --format csv or json, or table(), has all"
        )
    return lines


def fit_columns(columns: Sequence[Sequence[str]], least: int, width: int) -> list[list[str]]:
    """The columns, from the left and at least ``least``, that fit a line of ``width`` characters, cells aligned to the right."""
    widths = [max(map(len, column)) for column in columns]
    fit = max(least, sum(end - 2 <= width for end in itertools.accumulate(2 + w for w in widths)))
    return [[cell.rjust(w) for cell in column] for column, w in zip(columns[:fit], widths, strict=False)]


def fold_line(line: str, width: int) -> list[str]:
    """A line of text, in several of at most ``width`` characters where it is longer, indented by two more."""
    if len(line) <= width:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(line, width, subsequent_indent=indent + "  ", replace_whitespace=False)


def make_notes(results: Results, notes_of: Callable[[Results], list[str]] | None) -> list[str]:
    """Return a study's notes; where its code fails, one line that says so, for what was counted is not touched by it."""
    try:
        with wrap_study_errors(f"notes of {results.study.name}"):
            return [] if notes_of is None else list(notes_of(results))
    except StudyError as error:
        return [str(error)]


def as_table(results: Results, width: int = WIDTH, statistics: Sequence[str] | None = None) -> str:
    """One line a point: axes, trials, each statistic, or those named, with half the width of its 95% interval; then the notes.

    Statistics that the study does not show or that no point defines are left out, and those that lines of ``width``
    characters do not hold, last first; lines under the table say how many, and name the latter.  Rows are never wrapped.
    """
    study = results.study
    columns = _columns(results, statistics)
    kept = fit_columns(columns, len(study.axes) + 1, width)
    lines = ["  ".join(cells).rstrip() for cells in zip(*kept, strict=True)]
    lines.insert(1, "  ".join("-" * len(column[0]) for column in kept))
    remarks = _remarks(results, kept, statistics is not None)
    if statistics is not None:
        shown = {column[0].partition("=")[0] for column in columns}
        names = [s.label if isinstance(s, Distribution) else s.name for s in results.select_statistics(statistics)]
        remarks += [f"{name} is not known at any of these points" for name in names if name not in shown]
    if len(kept) < len(columns):
        left_out = [column[0] for column in columns[len(kept) :]]
        remarks.append(f"left out for width, {len(left_out)}, in csv and json: {', '.join(left_out)}")
    if remarks:
        lines += ["", *(part for line in remarks for part in fold_line(line, width))]
    code = code_of(study)
    notes_of = None if code is None else code.grid_of(results).notes or code.notes
    notes = make_notes(results, notes_of)
    head = textwrap.wrap(f"{study.title} ({study.source})" if study.source else study.title, width)
    told = [part for line in notes for part in fold_line(line, width)]
    return "\n".join([*head, "", *lines, *([""] if notes else []), *told])


def as_html(results: Results) -> str:
    """The table as HTML, for notebooks: all that the study shows, at most HTML_ROWS points, all text escaped."""
    study = results.study
    columns = _columns(results)

    def format_row(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    head, *rows = zip(*columns, strict=True)
    body = "".join(format_row("td", cells) for cells in rows[:HTML_ROWS])
    source = f" ({html.escape(study.source)})" if study.source else ""
    notes = _remarks(results, columns)
    if len(rows) > HTML_ROWS:
        notes.append(f"{len(rows) - HTML_ROWS} more points: sel(...) chooses, table() and to_dataframe() have all")
    return (
        f"<div><p><b>{html.escape(study.name)}</b>: {html.escape(study.title)}{source}, seed {results.seed}</p>"
        f'<div style="overflow-x: auto"><table><thead>{format_row("th", head)}</thead><tbody>{body}</tbody></table></div>'
        + "".join(f"<p>{html.escape(note)}</p>" for note in notes)
        + "</div>"
    )


def as_csv(results: Results, statistics: Sequence[str] | None = None) -> str:
    """Comma-separated rows of :meth:`Results.table`, empty where nothing is known.

    study, axes..., statistic, trials, eligible, estimate, stderr, low, high, interval.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns_of(results)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: "" if json_safe(v) is None else v for name, v in row.items()} for row in results.table(statistics)
    )
    return text.getvalue().rstrip("\n")


def json_safe(value: Any) -> Any:
    """The value for JSON, which has no NaN: None instead."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_json(results: Results, statistics: Sequence[str] | None = None) -> str:
    """The same rows as a JSON list; numbers that are not known are null."""
    # row by row: json lays a whole list out as one list of every bracket and comma, 500 MB for 200,000 rows
    rows = (json.dumps({name: json_safe(v) for name, v in row.items()}, indent=1) for row in results.table(statistics))
    text = ",\n".join(" " + row.replace("\n", "\n ") for row in rows)
    return f"[\n{text}\n]" if text else "[]"
