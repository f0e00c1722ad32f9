"""Results as text: a table for the terminal, Markdown and LaTeX for documents, CSV and JSON for programs."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
import textwrap
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from ..errors import ParameterError, StudyError, count_text, suggest_name, wrap_study_errors
from ..measure.binned import Distribution
from ..measure.estimate import UNDEFINED
from ..measure.registry import find_study
from ..measure.schema import RecordedMeasure
from ..measure.statistics import Mean
from ..measure.study import Notes
from .export import columns_of
from .results import Results
from .rounding import estimate_texts

#: Width of a line of text, in characters, if no terminal determines it.
WIDTH = 120

#: Most points in the table of a notebook.
HTML_ROWS = 40

#: The meaning of cells, for tables in documents.
DOCUMENT_REMARK = (
    "± half the width of the 95% interval, [low, high] the 95% interval, < and > its upper and lower limit"
)

#: The meaning of a cell with ``±``, for the terminal.
TERMINAL_REMARK = "± half the width of the 95% interval"

#: The mark of an estimate with an asymptotic interval.
ASYMPTOTIC = "~"


def _columns(results: Results, statistics: Sequence[str] | None = None) -> list[list[str]]:
    """Return the table by columns, each beginning with its name: axes, trials, statistics, values of distributions.

    The statistics are the named ones, or all that the study shows.  An estimate over fewer trials than the point has gives their
    number, ``> 0.948 of 69``, and then the second line of the column's name gives the condition, ``of some_active``.
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
            cells = [c + end if c != "-" else c for c, end in zip(cells, ends, strict=True)]
            condition = f"\nof {s.condition}" if any(" of " in cell for cell in cells) else ""
            columns.append([label + condition, *cells])
    return columns


def sort_points(results: Results, column: str) -> Results:
    """Return the results with their points sorted by a column: ``NAME`` or ``NAME:asc`` ascending, ``NAME:desc`` descending.

    The column is an axis, ``trials`` or a statistic that is not a distribution.  Points with an unknown value come last, and
    points with equal values keep their order.  Raises ParameterError for anything else.
    """
    name, _, direction = column.partition(":")
    if direction not in ("", "asc", "desc"):
        raise ParameterError(f"sort must be COLUMN, COLUMN:asc or COLUMN:desc, got {column}")
    points = list(results)
    keys: list[Any]
    if name in (axes := {axis.name: axis for axis in results.study.axes}):
        keys = [axes[name].sort_key(point[name]) for point, _ in points]
    elif name == "trials":
        keys = [tally.trials for _, tally in points]
    elif name not in (statistics := {s.name: s for s in results.study.statistics}):
        hint = suggest_name(name, [*axes, *statistics])
        raise ParameterError(f"sort must be trials, an axis or a statistic of {results.study.name}, got {name}{hint}")
    elif isinstance(statistics[name], Distribution):
        raise ParameterError(f"sort must be a column of one number, got the distribution {name}")
    else:
        keys = [results.read(statistics[name], point)[0].value for point, _ in points]
    unknown = [i for i, key in enumerate(keys) if isinstance(key, float) and math.isnan(key)]
    known = sorted(set(range(len(keys))) - set(unknown), key=keys.__getitem__, reverse=direction == "desc")
    return replace(results, order=[tuple(points[i][0].values()) for i in [*known, *unknown]])


def unverified_note(results: Results) -> list[str]:
    """Return a line on the statistics whose definition is only in the file, or no line."""
    names = results.study.unverified if isinstance(results.study, RecordedMeasure) else ()
    which = "all statistics" if len(names) == len(results.study.statistics) else ", ".join(names)
    line = (
        f"units, bounds and scales are read from the file and not checked: {which} (show --study FILE.py checks them)"
    )
    return [line] if names else []


def _title_with_source(results: Results) -> str:
    """Return the study's title, followed by its source if it has one."""
    study = results.study
    return f"{study.title} ({study.source})" if study.source else study.title


def _condition_note(eligible: int, trials: int) -> str:
    """Return the number of eligible trials as the end of a cell; empty if all trials are eligible."""
    return f" of {eligible:,}" if eligible < trials else ""


#: An interval of a mean this many standard errors wide on each side comes from the bound of the quantity, not from its values.
_WIDE = 6


def _wide_interval_note(results: Results, names: Collection[str]) -> list[str]:
    """Return a line on means of a user's study whose intervals come mostly from their bounds, or no line."""
    study = results.study
    wide = [
        s.name
        for s in study.statistics
        if s.name in names
        and type(s) is Mean
        and any(e.half_width > _WIDE * e.stderr > 0 for e in results[s.name].values())
    ]
    if not wide or not study.code or study.distribution:
        return []
    remedy = "run more trials, or give fc.Output a smaller bound or asymptotic=True"
    return [f"wide because of its bound, not of its values: {', '.join(wide)} ({remedy})"]


def _remarks(results: Results, columns: Sequence[Sequence[str]], is_selection: bool = False) -> list[str]:
    """Return the lines below the table: meaning of marks and conditions, unchecked statistics, and the number not shown.

    The user of a selection of statistics knows that others are not shown.
    """
    is_marked = any(ASYMPTOTIC in cell for column in columns for cell in column[1:])
    lines = [f"{ASYMPTOTIC} asymptotic interval: nearly 95% where trials are many"] if is_marked else []
    described = {counter.name: counter.description for counter in results.study.tally.counters}
    conditions = dict.fromkeys(column[0].partition("\nof ")[2] for column in columns)
    lines += [f"of {name}: {described[name]}" for name in conditions if name]
    lines += unverified_note(results)
    lines += _wide_interval_note(results, {column[0].partition("\n")[0] for column in columns})
    hidden = 0 if is_selection else sum(not s.shown for s in results.study.statistics)
    if hidden:
        lines.append(
            f"{count_text(hidden, 'statistic')} of this study not in the table: fastcube show --format csv has all"
        )
    return lines


def fit_columns(
    columns: Sequence[Sequence[str]], least: int, width: int | None, first: Collection[int] = ()
) -> tuple[list[list[str]], list[str]]:
    """Return the columns that fit into ``width`` characters, with cells aligned to the right, and the names of the others.

    All columns fit if ``width`` is None.  Otherwise columns with an index in ``first`` are left out before others, each time the
    rightmost.  The first ``least`` columns always stay.
    """
    widths = [max(map(len, column)) for column in columns]
    kept = list(range(len(columns)))
    for i in sorted(range(least, len(columns)), key=lambda i: (i in first, i), reverse=True):
        if width is not None and sum(widths[k] + 2 for k in kept) - 2 > width:
            kept.remove(i)
    left_out = [column[0] for i, column in enumerate(columns) if i not in kept]
    return [[cell.rjust(widths[i]) for cell in columns[i]] for i in kept], left_out


def is_without_events(column: Sequence[str]) -> bool:
    """Whether all known cells of a column are upper limits of events that no trial had."""
    known = [cell for cell in column[1:] if cell != "-"]
    return bool(known) and all(cell.startswith("<") for cell in known)


def fold_line(line: str, width: int) -> list[str]:
    """Return a line as lines of at most ``width`` characters, of which all but the first are indented by two more."""
    if len(line) <= width:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    whole = line.replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}")  # an estimate stays in one line
    lines = textwrap.wrap(whole, width, subsequent_indent=indent + "  ", replace_whitespace=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def make_notes(
    results: Results, notes_of: Callable[[Results], list[str]] | None, statistics: Sequence[str] | None = None
) -> list[str]:
    """Return a study's notes, or all notes on some statistics.  If its code fails, return one line with the error.

    A failure does not affect the counts.
    """
    try:
        with wrap_study_errors(f"notes of {results.study.name}"):
            if notes_of is None:
                return []
            if isinstance(notes_of, Notes):
                return _shorten_notes(results, notes_of) if statistics is None else notes_of.select(statistics)(results)
            return list(notes_of(results))
    except StudyError as error:
        return [str(error)]


def _shorten_notes(results: Results, notes: Notes) -> list[str]:
    """Return the first ``notes.most`` lines of each part, and a line on how to see the others."""
    lines: list[str] = []
    left, names = 0, []
    for part, subjects in notes.parts:
        found = list(part(results))
        most = len(found) if notes.most is None else notes.most
        lines += found[:most]
        if len(found) > most:
            left += len(found) - most
            names.append(subjects[0])
    if left:
        lines.append(f"{count_text(left, 'more line')} of notes: fastcube show FILE --stat {','.join(names)}")
    return lines


def as_table(results: Results, width: int | None = WIDTH, statistics: Sequence[str] | None = None) -> str:
    """Return the table with one line per point, and the notes; a cell is an estimate with half the width of its 95% interval.

    The columns are axes, trials, and the named statistics, by default all that the study shows and a point defines.  Columns that
    do not fit into ``width`` characters are left out: first those without any event, then others from the right.  Lines below
    the table name them.  With ``width`` None the table has all columns.  Rows are never wrapped.
    """
    study = results.study
    columns = _columns(results, statistics)
    two_lines = any("\n" in column[0] for column in columns)
    aligned = [
        [*column[0].split("\n"), *[""] * (two_lines and "\n" not in column[0]), *column[1:]] for column in columns
    ]
    unseen = [i for i, column in enumerate(columns) if is_without_events(column)]
    kept, left_out = fit_columns(aligned, len(study.axes) + 1, width, unseen)
    names = [cells[0].strip() for cells in kept]
    lines = ["  ".join(cells).rstrip() for cells in zip(*kept, strict=True)]
    lines.insert(1 + two_lines, "  ".join("-" * len(column[0]) for column in kept))
    shown = [column for column in columns if column[0].partition("\n")[0] in names]
    remarks = [TERMINAL_REMARK] if any(" ± " in cell for column in shown for cell in column[1:]) else []
    remarks += _remarks(results, shown, statistics is not None)
    if statistics is not None:
        defined = {re.split("[=\n]", column[0])[0] for column in columns}
        selected = [s.label if isinstance(s, Distribution) else s.name for s in results.select_statistics(statistics)]
        remarks += [f"{name} is not known at any of these points" for name in selected if name not in defined]
    if left_out:
        remarks.append(f"left out for width, but shown by --stat A,B and in csv and json: {', '.join(left_out)}")
    width = width or WIDTH
    if remarks:
        lines += ["", *(part for line in remarks for part in fold_line(line, width))]
    code = find_study(study)
    notes_of = None if code is None else code.grid_of(results).notes or code.notes
    notes = make_notes(results, notes_of, statistics)
    head = textwrap.wrap(_title_with_source(results), width)
    reported = [part for line in notes for part in fold_line(line, width)]
    return "\n".join([*head, "", *lines, *([""] if notes else []), *reported])


def _document_table(results: Results, statistics: Sequence[str] | None) -> tuple[list[list[str]], list[str]]:
    """Return the columns of a table for documents, each name on one line with the unit of its numbers, and the remarks."""
    units = {s.label if isinstance(s, Distribution) else s.name: s.units for s in results.study.statistics}
    columns = _columns(results, statistics)
    remarks = [DOCUMENT_REMARK, *_remarks(results, columns, True)]
    for column in columns:
        name, _, condition = column[0].partition("\n")
        unit = units.get(name, "1")
        column[0] = name + f" [{unit}]" * (unit != "1") + f" {condition}" * bool(condition)
    return columns, remarks


def as_markdown(results: Results, statistics: Sequence[str] | None = None) -> str:
    """Return the table with all columns in Markdown, with units in its header and the meaning of marks below it."""
    table, remarks = _document_table(results, statistics)
    columns = [[cell.replace("|", "\\|") for cell in column] for column in table]
    names = {axis.name for axis in results.study.axes if axis.kind is str}
    head, *rows = zip(*columns, strict=True)
    rule = ["---" if name in names else "---:" for name in head]
    lines = [f"| {' | '.join(cells)} |" for cells in (head, rule, *rows)]
    return "\n".join([*lines, *(f"\n{line}" for line in remarks)])


#: Characters that are commands in LaTeX, and characters of the table that its text fonts lack.
_LATEX = str.maketrans(
    {
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"$\sim$",
        "±": r"$\pm$",
        "<": "$<$",
        ">": "$>$",
    }
)


def latex_text(text: str) -> str:
    """Return text for LaTeX: special characters escaped, powers of ten and minus signs of numbers as mathematics."""
    text = text.translate(_LATEX)
    text = re.sub(r"(?<![\w.])(-?[\d.]+)e([+-]\d+)", lambda m: rf"${m[1]} \times 10^{{{int(m[2])}}}$", text)
    return re.sub(r"(?<![\w.${-])-(?=\d)", "$-$", text)


def as_latex(results: Results, statistics: Sequence[str] | None = None) -> str:
    """Return the table with all columns as a LaTeX ``tabular`` with the rules of booktabs, with units in its header.

    Comments above it give the title, the source, the required package and the meaning of marks.
    """
    table, marks = _document_table(results, statistics)
    columns = [[latex_text(cell) for cell in column] for column in table]
    places = "".join("l" if axis.kind is str else "r" for axis in results.study.axes).ljust(len(columns), "r")
    head, *rows = (f"{' & '.join(cells)} \\\\" for cells in zip(*columns, strict=True))
    lines = [rf"\begin{{tabular}}{{{places}}}", r"\toprule", head, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}"]
    return "\n".join(
        [*(f"% {line}" for line in (_title_with_source(results), r"needs \usepackage{booktabs}", *marks)), *lines]
    )


def as_html(results: Results) -> str:
    """Return the table as HTML for notebooks: what the study shows, at most HTML_ROWS points, with all text escaped."""
    study = results.study
    columns = _columns(results)

    def format_row(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>".replace("\n", "<br>") for cell in cells) + "</tr>"

    head, *rows = zip(*columns, strict=True)
    body = "".join(format_row("td", cells) for cells in rows[:HTML_ROWS])
    notes = _remarks(results, columns)
    if len(rows) > HTML_ROWS:
        notes.append(f"{len(rows) - HTML_ROWS} more points: sel(...) chooses, table() and to_dataframe() have all")
    return (
        f"<div><p><b>{html.escape(study.name)}</b>: {html.escape(_title_with_source(results))}, seed {results.seed}</p>"
        f'<div style="overflow-x: auto"><table><thead>{format_row("th", head)}</thead><tbody>{body}</tbody></table></div>'
        + "".join(f"<p>{html.escape(note)}</p>" for note in notes)
        + "</div>"
    )


def as_csv(results: Results, statistics: Sequence[str] | None = None) -> str:
    """Return the rows of ``Results.table`` as CSV, with empty cells for unknown numbers.

    The columns are study, axes..., statistic, trials, eligible, estimate, stderr, low, high, interval.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns_of(results)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: "" if json_safe(v) is None else v for name, v in row.items()} for row in results.table(statistics)
    )
    return text.getvalue().rstrip("\n")


def json_safe(value: Any) -> Any:
    """Return the value for JSON, which has no NaN and no infinity: None, or the text ``inf`` or ``-inf``, in their place."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def as_json(results: Results, statistics: Sequence[str] | None = None) -> str:
    """Return the rows of ``Results.table`` as a JSON list, with null for unknown numbers."""
    # row by row, because json would hold every bracket and comma of the whole list: 500 MB for 200,000 rows
    rows = (json.dumps({name: json_safe(v) for name, v in row.items()}, indent=1) for row in results.table(statistics))
    text = ",\n".join(" " + row.replace("\n", "\n ") for row in rows)
    return f"[\n{text}\n]" if text else "[]"
