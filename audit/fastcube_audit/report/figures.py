"""The plot of one results file for the report page, with its text alternative and the table of its plotted values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fastcube.errors import wrap_study_errors
from fastcube.plot import default_style, study_figure
from fastcube.plot.lines import has_no_events, is_drawable
from fastcube.plot.svg import adaptive_svg, figure_svg, narrow_panels
from fastcube.results.rounding import estimate_texts

if TYPE_CHECKING:
    from fastcube.plot.lines import Line
    from fastcube.plot.panel import Panel
    from fastcube.results.results import Results


def _number(x: float) -> str:
    return f"{x:g}" if isinstance(x, float) and not x.is_integer() else f"{x:.10g}"


def _table(panel: Panel) -> dict[str, Any]:
    """Return the content of a panel: one row per x, one column per line.  ``drawn`` says whether any point is visible."""
    labels = panel.labels
    lines: list[Line] = [line for line in panel.measured_lines if line.x]
    at = sorted({x for line in lines for x in line.x})
    log = panel.axes is not None and panel.axes.get_yscale() == "log"
    columns: list[dict[str, Any]] = []
    texts = iter(estimate_texts([e for line in lines for e in line.estimates]))  # one notation for the whole table
    for i, line in enumerate(lines):
        cells = {x: next(texts) for x in line.x}
        columns.append(
            {
                "label": line.label or line.table_label or labels.get("title") or f"line {i + 1}",
                "cells": [cells.get(x, "") for x in at],
                "drawn": any(is_drawable(e, log) or has_no_events(e) for e in line.estimates),
            }
        )
    filled = sum(cell != "" for c in columns for cell in c["cells"])
    sparse = (
        []
        if 2 * filled >= len(at) * len(columns)
        else [[c["label"], _number(x), cell] for c in columns for x, cell in zip(at, c["cells"], strict=True) if cell]
    )
    return {
        "rows": sparse,
        "seen": _value_range_text(panel),
        "title": labels.get("title", ""),
        "x": labels.get("x", ""),
        "y": labels.get("y", ""),
        "at": [_number(x) for x in at],
        "columns": columns,
        "stated": [s.text for s in panel.statements],
        "others": [" ".join(label.split()) for label in panel.other_entries],
    }


def _other_marks(table: dict[str, Any]) -> list[str]:
    """Return the labels of a panel's marks other than lines.  A stated value off the scale and arrows are left out."""
    off = any(text.endswith("off the scale") for text in table["others"])
    others = [text for text in table["others"] if not text.endswith(("off the scale", "upper limit", "lower limit"))]
    return [*([] if off else table["stated"]), *others]


def lines_text(tables: list[dict[str, Any]]) -> str:
    """Return the number of visible lines per panel and the other marks, as text: ``8 and 4 lines in its 2 panels, ...``."""
    drawn = [str(sum(c["drawn"] for c in table["columns"])) for table in tables]
    description = f"{' and '.join(filter(None, [', '.join(drawn[:-1]), drawn[-1]]))} line{'s' * (drawn != ['1'])}"
    description += f" in its {len(drawn)} panels" * (len(drawn) > 1)
    beside = dict.fromkeys(text for table in tables for text in _other_marks(table))
    description += f", besides: {'; '.join(beside)}" * bool(beside)
    unseen = dict.fromkeys(c["label"] for table in tables for c in table["columns"] if not c["drawn"])
    return description + f"; nothing that its scale shows: {', '.join(unseen)}" * bool(unseen)


def _value_range_text(panel: Panel) -> str:
    """Return the range of a panel's values as text: ``values from 0.0012 to 0.93``."""
    values = [e.value for line in panel.measured_lines for e in line.estimates if not math.isnan(e.value)]
    return f", values from {min(values):.2g} to {max(values):.2g}" if values else ""


def _alternative_text(title: str, tables: list[dict[str, Any]]) -> str:
    """Return the text alternative of a figure: axes, number of lines, and other marks."""
    parts = [title]
    for table in tables:
        several = f"{table['title']}: " if len(tables) > 1 and table["title"] else ""
        lines = [c["label"] for c in table["columns"] if c["drawn"]]
        named = ", ".join(lines) if len(lines) <= 8 else f"{', '.join(lines[:3])}, ..., {lines[-1]}"
        count = f"{len(lines)} line{'s' if len(lines) != 1 else ''}" + (f" ({named})" if len(lines) > 1 else "")
        marked = "; ".join([*table["stated"], *(o for o in table["others"] if "95%" not in o)])
        parts.append(
            f"{several}{table['y']} against {table['x']}, {count}{table['seen']}"
            + (f"; marked: {marked}" if marked else "")
        )
    return ". ".join(part.rstrip(".") for part in parts if part) + ". The numbers are in the table that follows."


def figure_of(results: Results) -> dict[str, Any]:
    """Return the study's figure for the grid of ``results``, for ``json``.

    ``panels`` holds a picture of each panel, which the page lays out for its window, ``description`` is the text alternative,
    and ``tables`` has a table per panel.  Raises StudyError if the study's own plotting code fails.
    """
    from fastcube.plot.sheet import Sheet

    study = results.study
    with default_style(), wrap_study_errors(f"the figure of {study.name}"):
        sheet = Sheet()
        study_figure(results, sheet)
        sheet.finish()
        panels = [adaptive_svg(figure_svg(figure, outlines=False)) for _, figure in narrow_panels(results)]
    tables = [_table(panel) for panel in sheet._panels]
    description = _alternative_text(study.title, [t for t in tables if t["columns"]])
    return {"panels": panels, "description": description, "tables": tables}
