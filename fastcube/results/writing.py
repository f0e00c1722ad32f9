"""Writing a results file: how Results are laid out in HDF5.  ``reading.py`` is the inverse.

``docs/format.md`` describes the file field by field.  The raw group is the truth; everything at the root is
derived from it when the file is written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..errors import ResultFileError
from ..measure.schema import NUMBERS, describe, numbers_of, width_of
from ..measure.study import GENERATOR
from .arrays import arrays, axis_attributes, column_type
from .hdf5 import written_whole
from .results import Results
from .size import LIMB_BITS, MOST_TEXT, limbs_of

FILE_TYPE = "fastcube-results"
#: Major: readers refuse another one.  Minor: fields were added.
FORMAT_VERSION = (2, 1)


def save(results: Results, path: str | Path) -> None:
    """Write the file whole and replace what was there.  Raises ResultFileError, leaving the old file in place."""
    with written_whole(Path(path)) as file:
        write_estimates(results, file)
        write_raw(results, file.subgroup("raw"))
        description = json.dumps(describe(results.study, results.tallies))
        file.subgroup("study").variable("json", (), description, description="axes, counters, statistics, as JSON")
        history = _told(results.history)
        file.subgroup("provenance").variable("json", (), history, description="runs and merges, as JSON")


def _told(history: list[dict[str, Any]]) -> str:
    """The runs and merges as JSON; where they are thousands, the newest of them, and of merged files not their runs."""
    text = json.dumps(history)
    if len(text) <= MOST_TEXT // 2:
        return text
    short = [
        {
            **run,
            "resources": {**run["resources"], "merged": [{**part, "runs": []} for part in run["resources"]["merged"]]},
        }
        if run.get("resources", {}).get("merged")
        else run
        for run in history
    ]
    while len(text := json.dumps(short)) > MOST_TEXT // 2:
        short = short[len(short) // 2 + 1 :]
    return text


class Sink(Protocol):
    """What a group is laid out in: one of a file (:class:`~fastcube.results.hdf5.NetCDF`), or one in memory."""

    group: Any

    def attributes(self, target: Any, **values: Any) -> None:
        """Set attributes of the group or of a variable."""

    def coordinate(self, name: str, values: Any, **attributes: Any) -> None:
        """A dimension with its coordinate values."""

    def dimension(self, name: str, length: int) -> None:
        """A dimension without coordinate values."""

    def variable(self, name: str, dimensions: Sequence[str], values: Any, **attributes: Any) -> None:
        """An array over dimensions made before."""


def write_estimates(results: Results, file: Sink) -> None:
    """Lay out the root: attributes, coordinates, and the estimates derived from what was counted."""
    study = results.study
    file.attributes(
        file.group,
        filetype=FILE_TYPE,
        format_version=np.array(FORMAT_VERSION, np.int64),
        Conventions="CF-1.10",
        title=study.title,
        study=study.name,
        revision=np.int64(study.revision),
        code=json.dumps(dict(study.code), sort_keys=True),
        source=study.source,
        seed=np.int64(results.seed),
        generator=GENERATOR,
        digest=results.digest(),
        goal=results.goal.to_json(),
        grid=results.grid or "",
    )
    coordinates, variables = arrays(results)
    for name, values, attributes in coordinates:
        file.coordinate(name, values, **attributes)
    for name, dimensions, values, attributes in variables:
        file.variable(name, dimensions, values, **attributes)


def to_limbs(count: int, limbs: int) -> list[int]:
    """Least significant first; the last limb keeps what is left, with its sign, and must fit in an int64."""
    out = []
    for _ in range(limbs - 1):
        out.append(count & (2**LIMB_BITS - 1))
        count >>= LIMB_BITS
    if not -(2**63) <= count < 2**63:
        raise ResultFileError("a counter outgrew its place in the file")
    return [*out, count]


def write_raw(results: Results, raw: Sink) -> None:
    """Lay out the truth: points, ranges of trials, counters, extremes, and each statistic's numbers at the points."""
    _write_counts(results, raw)
    _write_numbers(results, raw)


def _write_counts(results: Results, raw: Sink) -> None:
    study = results.study
    keys = sorted(results.tallies, key=results.study.order)
    tallies = [results.tallies[key] for key in keys]
    raw.dimension("point", len(keys))
    for i, axis in enumerate(study.axes):
        column: Any = np.array([key[i] for key in keys], column_type(axis))
        raw.variable(axis.name, ("point",), column, **axis_attributes(axis))
    ranges = [(i, *r) for i, tally in enumerate(tallies) for r in tally.ranges]
    raw.dimension("range", len(ranges))
    raw.dimension("bounds", 3)
    raw.variable(
        "ranges",
        ("range", "bounds"),
        np.array(ranges, np.int64).reshape(-1, 3),
        units="1",
        description="trials done: index of the point, first trial, trial after the last",
    )
    for limbs in sorted({limbs_of(c.digits) for c in study.tally.counters} - {1}):
        raw.dimension(f"limb{limbs}", limbs)
    for counter in study.tally.counters:
        if counter.bins:
            raw.dimension(f"{counter.name}_bin", counter.bins)
            bins = np.array([t.counts[counter.name] for t in tallies], np.int64).reshape(-1, counter.bins)
            what = f"{counter.description}: trials with each value from 0 on"
            raw.variable("count_" + counter.name, ("point", f"{counter.name}_bin"), bins, units="1", description=what)
            continue
        limbs = limbs_of(counter.digits)
        digits = np.array([to_limbs(t.counts[counter.name], limbs) for t in tallies], np.int64).reshape(-1, limbs)
        dimensions, values = (("point",), digits[:, 0]) if limbs == 1 else (("point", f"limb{limbs}"), digits)
        raw.variable("count_" + counter.name, dimensions, values, units="1", description=counter.description)
    if study.tally.extremes:
        raw.dimension("extreme", 2)
    for extreme in study.tally.extremes:
        pairs = np.array([t.extremes[extreme.name] for t in tallies], np.int64).reshape(-1, 2)
        what = f"{extreme.description}: largest value and the smallest trial that attains it; -1 if none"
        raw.variable("max_" + extreme.name, ("point", "extreme"), pairs, units="1", description=what)


def _write_numbers(results: Results, raw: Sink) -> None:
    """What each statistic takes at each point besides the counters."""
    keys = sorted(results.tallies, key=results.study.order)
    made: set[int] = set()
    written = []
    numbers = numbers_of(results.study, keys)
    for entry in describe(results.study)["statistics"]:
        name, width = entry["name"], width_of(entry)
        dimension = "number" if width == len(NUMBERS) else f"number{width}"
        if width not in made:
            raw.dimension(dimension, width)
            made.add(width)
        rows = np.array([numbers[name][key] for key in keys], np.float64).reshape(-1, width)
        what = f"{name} at each point: whether it is defined, the unit of its totals, its bound, its scale"
        if width > len(NUMBERS):
            what += "; then for each class least, most and proved share"
        raw.variable("numbers_" + name, ("point", dimension), rows, units="1", description=what)
        written.append(rows)
    raw.attributes(raw.group, numbers=sum_of_numbers(written))


def sum_of_numbers(rows: Iterable[Any]) -> str:
    """Checksum of the statistics' numbers, which the digest does not hold: SHA-256 of their bytes, statistic by statistic."""
    total = hashlib.sha256()
    for of_statistic in rows:
        total.update(np.ascontiguousarray(of_statistic, "<f8").tobytes())
    return total.hexdigest()
