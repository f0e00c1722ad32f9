"""Predict the cost of a run: seconds, measured here on some of its points, and the size of its file.

The prediction uses no stored figures: the kernels themselves run, for about half a second in total without compiling, and longer
if single trials are slow, because each measured point runs at least two.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..measure.binned import Quantile
from ..measure.goal import Goal
from ..measure.study import Study, Value
from ..measure.tally import Tally
from ..results.hdf5 import MIN_COMPRESSED_SIZE
from ..results.provenance import provenance
from ..results.results import Results
from ..results.writing import raw_of, root_of
from .work_units import WorkUnit, run_unit, swept_values

#: Largest number of points, or of sets of points counted from the same trials, that are measured.
MEASURED = 12

#: Seconds for the trials of all measured points together, unless single trials are slower.
SECONDS = 0.5


def measured_seconds(
    study: Study, points: Sequence[Mapping[str, Value]], seconds: float | None = None, most: Sequence[int] = ()
) -> list[float]:
    """Return the CPU seconds of one trial at each point, on one core of this machine at present.

    At up to MEASURED of the points, evenly spread, trials run from trial 0 on, for about ``seconds`` in total without compiling,
    by default SECONDS.  With ``most`` no timed unit has more trials than the entry of its point, but each has at least one.  At
    the points between, the logarithm is interpolated by position.  Points that are counted from the same trials share their time
    equally.
    """
    by_curve: dict[Any, list[int]] = {}
    for i, point in enumerate(points):
        by_curve.setdefault(study.curve_key(point), []).append(i)
    curves = list(by_curve.values())
    measured = sorted({round(i * (len(curves) - 1) / max(1, MEASURED - 1)) for i in range(MEASURED)})
    curve_seconds = (SECONDS if seconds is None else seconds) / len(measured)
    logs = []
    for curve in (curves[at] for at in measured):
        most_trials = most[curve[0]] if most else 2**30
        logs.append(math.log(_seconds_per_trial(study, [points[i] for i in curve], curve_seconds, most_trials)))
    out = np.empty(len(points))
    for curve, log in zip(curves, np.interp(range(len(curves)), measured, logs), strict=True):
        out[curve] = math.exp(log) / len(curve)
    return out.tolist()


def _seconds_per_trial(study: Study, points: Sequence[Mapping[str, Value]], seconds: float, most: int) -> float:
    """Return CPU seconds per trial of points counted from the same trials, of a unit of a quarter of ``seconds`` or longer.

    Units grow until one is so long, or the next would have more than ``most`` trials.
    """
    count, first = 1, WorkUnit(study, 0, tuple(points[0].items()), 0, 1, swept=swept_values(points))
    run_unit(first)  # compiles the kernel, and is not timed
    while True:
        begin = time.thread_time()  # CPU time, so that other processes do not count
        run_unit(replace(first, stop=count))
        used = time.thread_time() - begin
        next_count = count * (4 if used < seconds / 16 else 2)
        if used >= seconds / 4 or next_count > most:
            return max(used, 1e-9) / count
        count = next_count


def file_bytes(study: Study, points: Sequence[Mapping[str, Value]], goal: Goal, grid: str | None = None) -> int:
    """Return the size of the results file in bytes at most: the size of a file with all points and no counts.

    Arrays that are stored compressed count with their full size.
    """
    trials, empty = goal.trials or 1, Tally.empty(study.tally)
    # a quantile's bins hold all trials, or all that its condition counts, which are none here
    binned = {s.counter for s in study.statistics if isinstance(s, Quantile) and not s.condition}
    filled = {name: (trials, *empty.counts[name][1:]) for name in binned}
    blank = replace(empty, ranges=((0, trials),), counts={**empty.counts, **filled})
    results = Results(study, 0, {tuple(p.values()): blank for p in points}, goal, [provenance()], grid)
    groups = root_of(results), raw_of(results)
    arrays = [np.asarray(v[1]) for group in groups for v in (*group.coordinates.values(), *group.variables.values())]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.h5"
        results.save(path)
        return path.stat().st_size + sum(a.nbytes for a in arrays if a.size > MIN_COMPRESSED_SIZE)


def seconds_text(seconds: float) -> str:
    """Return a duration as text: ``about 9 s``, ``about 3 min``, ``about 2.5 h``, ``about 4.1 days``."""
    if seconds < 0.95:
        return "less than 1 s"
    if seconds < 90:
        return f"about {seconds:.0f} s"
    if seconds < 90 * 60:
        return f"about {seconds / 60:.0f} min"
    if seconds < 48 * 3600:
        return f"about {seconds / 3600:.1f} h"
    return f"about {seconds / 86400:,.1f} days"


def bytes_text(size: int) -> str:
    """Return a size as text: ``74 kB``, ``3.1 MB``."""
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
