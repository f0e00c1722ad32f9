"""Results as text: a table for people, CSV and JSON for programs."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

from .engine.estimate import Estimate
from .engine.results import Results
from .errors import of_study


def estimate_text(e: Estimate) -> str:
    """The estimate with its 95% interval.

    ``0.01234 ± 0.00056`` to two digits of the half-width where the interval is about symmetric,
    ``0.00150 [0.00110, 0.00250]`` elsewhere, ``< 3.7e-06`` when nothing was seen, ``-`` where nothing is known.
    """
    if math.isnan(e.value):
        return "-"
    if e.value == 0 and e.low == 0:
        return f"< {e.high:.2g}"
    width = e.half_width
    if not 0 < width < math.inf:
        return f"{e.value:.6g}"
    digits = max(0, 1 - math.floor(math.log10(width)))
    style = f".{digits}f" if digits <= 8 else ".2e"
    if 0.8 < (e.high - e.value) / width < 1.2 and width < e.value / 2:
        return f"{e.value:{style}} ± {width:{style}}"
    if 0 < e.value < 10.0**-digits:  # too small for the digits of the interval
        style = ".2g"
    return f"{e.value:{style}} [{e.low:{style}}, {e.high:{style}}]"


def as_table(results: Results) -> str:
    """One line a point: axes, trials, each statistic with half the width of its 95% interval; then the study's notes."""
    study = results.study
    shown = [s.name for s in study.statistics if s.shown]
    header = [*(a.name for a in study.axes), "trials", *shown]
    rows = [header]
    for point, tally in results:
        estimates = results.estimates(point)
        rows.append(
            [*map(str, point.values()), f"{tally.trials:,}", *(estimate_text(estimates[name]) for name in shown)]
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    lines = ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * w for w in widths))
    notes_of = study.grid(results.grid).notes or study.notes
    with of_study(f"notes of {study.name}"):
        notes = notes_of(results) if notes_of else []
    return "\n".join([f"{study.title} ({study.source})", "", *lines, *([""] if notes else []), *notes])


def as_csv(results: Results) -> str:
    """Comma-separated rows of :meth:`Results.table`: study, axes..., statistic, trials, among, estimate, stderr, low, high,
    interval."""
    numbers = ["trials", "among", "estimate", "stderr", "low", "high", "interval"]
    names = ["study", *(a.name for a in results.study.axes), "statistic", *numbers]
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(results.table())
    return text.getvalue().rstrip("\n")


def plain(value: Any) -> Any:
    """The value for JSON, which has no NaN: None instead."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_json(results: Results) -> str:
    """The same rows as a JSON list; numbers that are not known are null."""
    return json.dumps([{name: plain(v) for name, v in row.items()} for row in results.table()], indent=1)


FORMATS = {"table": as_table, "csv": as_csv, "json": as_json}
