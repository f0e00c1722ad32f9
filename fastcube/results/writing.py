"""Write a results file: the layout of Results in HDF5.  ``reading.py`` is the inverse.

``docs/format.md`` describes the file field by field.  The raw group holds the original data; everything at the root is
derived from it when the file is written.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import operator
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ResultFileError, StudyError
from ..measure.binned import Distribution
from ..measure.names import (
    ENDINGS,
    PROVENANCE,
    RAW,
    STUDY,
    TRIALS,
    axis_dataset,
    bin_dimension,
    value_dimension,
)
from ..measure.schema import NUMBERS, describe_measure, numbers_of, width_of
from ..measure.study import GENERATOR, Axis, Choice
from .columns import Columns
from .hdf5 import Group, Variable, write_file
from .impossible_counts import check_counts
from .results import Results
from .size import LIMB_BITS, MOST_TEXT, limbs_of

#: The attribute by which a results file is recognised.
FILE_TYPE = "fastcube-results"

#: Readers refuse another major version.  The minor version is raised when fields are added.
FORMAT_VERSION = (3, 0)

#: Functions that return the numbers of an estimate, in the order of their variables in a file.
_NUMBERS = tuple(operator.attrgetter(name) for name in ENDINGS)


def write_results(results: Results, path: str | Path) -> None:
    """Write a results file whole, replacing an old one.  Raises ResultFileError, and then the old file is unchanged."""
    write_file(Path(path), groups_of(results))


def groups_of(results: Results) -> dict[str, Group]:
    """Return the groups of a results file by name, ``/`` the root."""

    def make_text_group(text: str, description: str) -> Group:
        return Group(variables={"json": ((), text, {"description": description})})

    description = json.dumps(describe_measure(results.study, results.tallies))
    return {
        "/": root_of(results),
        RAW: raw_of(results),
        STUDY: make_text_group(description, "axes, counters, statistics, as JSON"),
        PROVENANCE: make_text_group(_history_json(results.history), "runs and merges, as JSON"),
    }


def _history_json(history: list[dict[str, Any]]) -> str:
    """Return runs and merges as JSON; of a very long history only the newest entries, without the runs of merged files."""
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


def column_type(axis: Axis | Choice) -> type:
    """Return the type of an array of the axis' values; names are Python objects."""
    return {int: np.int64, float: np.float64, str: object}[axis.kind]


def _unitless_attributes(description: str) -> dict[str, Any]:
    """Return the attributes of a variable of pure numbers."""
    return {"units": "1", "description": description}


def root_of(results: Results) -> Group:
    """Return the root group: attributes, and trials and estimates over the product of the axes; 0 and NaN at missing points.

    An estimate is NaN too if the study's own code fails, because the file must be written whatever a statistic does.
    """
    study, axes = results.study, results.study.axes
    attributes = {
        "filetype": FILE_TYPE,
        "format_version": np.array(FORMAT_VERSION, np.int64),
        "Conventions": "CF-1.10",
        "title": study.title,
        "study": study.name,
        "revision": np.int64(study.revision),
        "code": json.dumps(dict(study.code), sort_keys=True),
        "source": study.source,
        "seed": np.int64(results.seed),
        "generator": GENERATOR,
        "digest": results.digest(),
        "goal": results.goal.to_json(),
        "grid": results.grid or "",
    }
    values = {a.name: sorted({key[i] for key in results.tallies}, key=a.sort_key) for i, a in enumerate(axes)}
    coordinates: dict[str, Variable] = {
        a.name: ((a.name,), np.array(values[a.name], column_type(a)), _unitless_attributes(a.description)) for a in axes
    }
    over, shape = tuple(values), tuple(map(len, values.values()))
    places = [{v: i for i, v in enumerate(of_axis)} for of_axis in values.values()]
    trials = np.zeros(shape, np.int64)
    widths = {c.name: c.bins for c in study.tally.counters}
    bins = {s.name: widths[s.counter] if isinstance(s, Distribution) else 0 for s in study.statistics}
    columns = {name: np.full((4, *shape, *[width] * bool(width)), np.nan) for name, width in bins.items()}
    for point, tally in results:
        at = tuple(place[v] for place, v in zip(places, point.values(), strict=True))
        trials[at] = tally.trials
        for s in study.statistics:
            with contextlib.suppress(StudyError):
                estimates = results.read(s, point)
                for column, number in zip(columns[s.name], _NUMBERS, strict=True):
                    column[at] = [number(e) for e in estimates] if bins[s.name] else number(estimates[0])
    variables: dict[str, Variable] = {TRIALS: (over, trials, _unitless_attributes("trials counted"))}
    for s in study.statistics:
        dimensions = over
        if bins[s.name]:
            value = value_dimension(s.name)
            dimensions = (*over, value)
            coordinates[value] = (
                (value,),
                np.arange(bins[s.name]),
                _unitless_attributes(f"value that {s.name} is the fraction of"),
            )
        for (suffix, meaning), column in zip(ENDINGS.values(), columns[s.name], strict=True):
            about = {"units": s.units, "description": meaning.format(s.description)}
            variables[s.name + suffix] = dimensions, column, about
    return Group(attributes, {}, coordinates, variables)


def split_limbs(counts: Any, limbs: int) -> Any:
    """Return a column in limbs, least significant first; the last limb has the sign and must fit into an int64."""
    shifted = [counts.astype(object) >> LIMB_BITS * i for i in range(limbs)]
    try:
        return np.column_stack([*(low & (2**LIMB_BITS - 1) for low in shifted[:-1]), shifted[-1]]).astype(np.int64)
    except OverflowError:
        raise ResultFileError("a counter outgrew its place in the file") from None


def raw_of(results: Results) -> Group:
    """Return the raw group: points, ranges of trials, counters, maxima, and the statistics' numbers at each point.

    Raises StudyError if counters are impossible, as those of a user's kernel that passes its own bound.
    """
    study = results.study
    keys = sorted(results.tallies, key=study.order)
    columns = Columns.of(study.tally, {key: results.tallies[key] for key in keys})
    raw = Group(dimensions={"point": len(keys), "range": len(columns.ranges), "bounds": 3})

    def add_variable(name: str, values: Any, second: str, what: str, first: str = "point") -> None:
        dimensions = (first, second) if second else (first,)
        if second:
            raw.dimensions[second] = values.shape[1]
        raw.variables[name] = dimensions, values, _unitless_attributes(what)

    for i, axis in enumerate(study.axes):
        add_variable(
            axis_dataset(axis.name), np.array([key[i] for key in keys], column_type(axis)), "", axis.description
        )
    what = "trials done: index of the point, first trial, trial after the last"
    add_variable("ranges", columns.ranges, "bounds", what, first="range")
    for counter in study.tally.counters:
        name, values, what = "count_" + counter.name, columns.counts[counter.name], counter.description
        if counter.bins:
            add_variable(name, values, bin_dimension(counter.name), f"{what}: trials with each value from 0 on")
            continue
        values = split_limbs(values, limbs_of(counter.digits))
        limbs = values.shape[1]
        add_variable(name, values if limbs > 1 else values[:, 0], f"limb{limbs}" if limbs > 1 else "", what)
    for maximum in study.tally.maxima:
        what = f"{maximum.description}: largest value and the smallest trial that attains it; -1 if none"
        add_variable("max_" + maximum.name, columns.maxima[maximum.name], "maximum", what)
    written = {}
    numbers = numbers_of(study, keys)
    for entry in describe_measure(study)["statistics"]:
        name, width = entry["name"], width_of(entry)
        rows = np.array([numbers[name][key] for key in keys], np.float64).reshape(-1, width)
        what = f"{name} at each point: whether it is defined, the unit of its totals, its bound, its scale"
        if width > len(NUMBERS):
            what += "; then for each class least, most and proved fraction"
        add_variable("numbers_" + name, rows, "number" if width == len(NUMBERS) else f"number{width}", what)
        written[name] = rows
    raw.attributes["numbers"] = checksum_numbers(written.values())
    try:
        check_counts(study, written, columns)
    except ValueError as error:  # no reader would take the file
        raise StudyError(f"study {study.name} counts wrongly, so nothing is saved: {error}") from None
    return raw


def checksum_numbers(rows: Iterable[Any]) -> str:
    """Return a checksum of the statistics' numbers, which the digest does not cover: SHA-256 of their bytes in order."""
    total = hashlib.sha256()
    for of_statistic in rows:
        total.update(np.ascontiguousarray(of_statistic, "<f8").tobytes())
    return total.hexdigest()
