"""The plot of one results file with all that stands under it: its words and the table of what is drawn."""

from __future__ import annotations

import hashlib
import math
import re
from typing import TYPE_CHECKING, Any

from ..engine.registry import study_of
from ..errors import of_study
from ..plot import plain_figure
from ..table import estimate_text
from .svg import page_svg

if TYPE_CHECKING:
    from ..engine.results import Results
    from ..plot.panel import Line, Panel

_MATHS = (
    (re.compile(r"\\binom\{([^{}]*)\}\{([^{}]*)\}"), r"C(\1, \2)"), (re.compile(r"\\[,;! ]"), " "),
    (re.compile(r"\\sqrt\{([^{}]*)\}"), r"√\1"),
    (re.compile(r"\\lfloor\s*(?:\{\})?\s*"), "⌊"), (re.compile(r"\s*\\rfloor"), "⌋"),
    (re.compile(r"\\lceil\s*(?:\{\})?\s*"), "⌈"), (re.compile(r"\s*\\rceil"), "⌉"),
    (re.compile(r"\\(?:le|leq)\b"), "≤"), (re.compile(r"\\(?:ge|geq)\b"), "≥"), (re.compile(r"\\times\b"), "×"),
    (re.compile(r"\\lambda\b"), "λ"), (re.compile(r"\\delta\b"), "δ"), (re.compile(r"\\log\s+"), "log "),
    (re.compile(r"\^\{(\w*)\}"), r"^\1"), (re.compile(r"\^\{([^{}]*)\}"), r"^(\1)"),
    (re.compile(r"\\[A-Za-z]+\s?"), ""), (re.compile(r"_\{([^{}]*)\}"), r"_\1"), (re.compile(r"[${}]"), ""),
)  # fmt: skip


def unset(text: str) -> str:
    """What :func:`~fastcube.plot.words.mathtext` set, in plain characters."""
    for pattern, plain in _MATHS:
        text = pattern.sub(plain, text)
    return " ".join(text.split())


def _number(x: float) -> str:
    return f"{x:g}" if isinstance(x, float) and not x.is_integer() else f"{x:.10g}"


def _table(panel: Panel) -> dict[str, Any]:
    """What a panel draws: a row for each x, a column for each line."""
    words = panel._default | panel._words
    lines: list[Line] = [line for line in panel.drawn if line.x]
    at = sorted({x for line in lines for x in line.x})
    columns = []
    for i, line in enumerate(lines):
        cells = {x: estimate_text(e) for x, e in zip(line.x, line.estimates, strict=True)}
        columns.append(
            {
                "label": unset(line.label or line.told or words.get("title") or f"line {i + 1}"),
                "cells": [cells.get(x, "") for x in at],
            }
        )
    filled = sum(cell != "" for c in columns for cell in c["cells"])
    sparse = [] if 2 * filled >= len(at) * len(columns) else [
        [c["label"], _number(x), cell] for c in columns for x, cell in zip(at, c["cells"], strict=True) if cell
    ]  # fmt: skip
    return {
        "rows": sparse,
        "title": unset(words.get("title", "")),
        "x": unset(words.get("x", "")),
        "y": unset(words.get("y", "")),
        "at": [_number(x) for x in at],
        "columns": columns,
        "stated": [unset(s.text) for s in panel.statements],
        "others": [unset(label) for label in panel.others],
    }


def _titles(panels: list[Panel]) -> dict[str, list[str]]:
    """Number the lines that are drawn, and say each point of theirs: ``n = 8, x = 3: 0.0123 ± 0.0004``."""
    out: dict[str, list[str]] = {}
    number = 0
    for panel in panels:
        artists = [artist for artist in panel.axes.lines if artist.get_gid() == "line"]
        logarithmic = panel.axes.get_yscale() == "log"
        for line, artist in zip(panel.drawn, artists, strict=False):
            artist.set_gid(f"line {number}")
            label = f"{unset(line.label or line.told)}; " if line.label or line.told else ""
            y = artist.get_ydata()
            out[str(number)] = [
                f"{label}{_number(x)}: {estimate_text(e)}"
                for x, e, v in zip(line.x, line.estimates, y, strict=True)
                if not math.isnan(v) and (v > 0 or not logarithmic)
            ]
            number += 1
    return out


def _words(title: str, tables: list[dict[str, Any]]) -> str:
    """The text alternative: what is drawn against what, how many lines, and what is marked beside them."""
    parts = [title]
    for table in tables:
        several = f"{table['title']}: " if len(tables) > 1 and table["title"] else ""
        lines = [c["label"] for c in table["columns"]]
        named = ", ".join(lines) if len(lines) <= 8 else f"{', '.join(lines[:3])}, ..., {lines[-1]}"
        count = f"{len(lines)} line{'s' if len(lines) != 1 else ''}" + (f" ({named})" if len(lines) > 1 else "")
        marked = "; ".join([*table["stated"], *(o for o in table["others"] if "95%" not in o)])
        parts.append(f"{several}{table['y']} against {table['x']}, {count}" + (f"; marked: {marked}" if marked else ""))
    return ". ".join(part.rstrip(".") for part in parts if part) + ". The numbers are in the table that follows."


def figure_of(results: Results, name: str) -> dict[str, Any]:
    """The study's figure of its grid: ``svg``, ``words`` and a table for each panel, as data that ``json`` can write.

    Raises StudyError where the study's own code does.
    """
    from ..plot.sheet import Sheet

    study = study_of(results.study)
    grid = study.grid_of(results)
    sheet = Sheet()
    with of_study(f"the figure of {study.name}"):
        (grid.figure or study.figure or plain_figure)(results, sheet)
    drawn = sheet.finish()
    panels = [panel for panel in sheet._panels if panel.axes.get_visible()]
    titles = _titles(panels)
    tables = [_table(panel) for panel in panels]
    prefix = "p" + hashlib.sha256(name.encode()).hexdigest()[:3]
    svg = page_svg(drawn, prefix, f"{name}-words", results.digest(), titles)
    return {"svg": svg, "words": _words(study.title, [t for t in tables if t["columns"]]), "tables": tables}
