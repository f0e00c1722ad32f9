"""Reading a results file: the inverse of ``files.py``, and what is checked before anything in a file is believed.

A file is data: no code that it names is run, none of its links is followed, nothing is allocated that its size does not
justify, and it either gives what was written or a ResultFileError of one line.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import (
    FormatTooNewError,
    FormatTooOldError,
    ResultFileError,
    StudyMismatchError,
    check_flag,
    check_path,
    check_text,
    plain_text,
)
from .files import FILE_TYPE, FORMAT_VERSION, LIMB_BITS, limbs_of
from .goal import MOST_TRIALS, Goal
from .hdf5 import opened, stored, subgroup
from .recorded import Key, Recorded, Table, recorded, width_of
from .results import Results
from .statistics import ClassMean, Distribution, Mean, PlainMean, Proportion
from .study import GENERATOR, NAME, Measure, point_text
from .tally import Tally, fuse


def open_results(path: str | Path, *, unchecked: bool = False) -> Results:
    """Read a results file; its study need not be here.

    Parameters
    ----------
    path : path
    unchecked : bool
        Read a file whose checksum is missing or wrong because another program rewrote it.  The digest of what is
        counted is checked all the same.

    Raises
    ------
    ResultFileError
        For a file that is not ours, damaged, or inconsistent.
    FormatTooOldError, FormatTooNewError
        For another major version.
    StudyMismatchError
        For another generator of random numbers.
    """
    path = check_path("path", path)
    with opened(path, check_flag("unchecked", unchecked)) as file:
        if _text(file, "filetype") != FILE_TYPE:
            raise ResultFileError(f"{path} is not a fastcube results file")
        version = np.asarray(file.attrs["format_version"])
        if version.shape != (2,) or version.dtype.kind not in "iu":
            raise ValueError("its format is no pair of whole numbers")
        major, minor = version.tolist()
        if major != FORMAT_VERSION[0]:
            error = FormatTooNewError if major > FORMAT_VERSION[0] else FormatTooOldError
            raise error(f"{path} has format {major}.{minor}, this fastcube reads {FORMAT_VERSION[0]}.x")
        if (theirs := _text(file, "generator")) != GENERATOR:
            raise StudyMismatchError(f"{path} has random numbers of {theirs}, this fastcube those of {GENERATOR}")
        try:
            results = _read(file)
        except Exception as error:
            if minor <= FORMAT_VERSION[1]:
                raise
            mine = ".".join(map(str, FORMAT_VERSION))
            raise FormatTooNewError(
                f"{path} has format {major}.{minor}, this fastcube reads {mine}: {plain_text(str(error))}"
            ) from error
        digest = _text(file, "digest")
    if results.digest() != digest:
        raise ResultFileError(f"{path} is damaged: its contents do not have the digest it states")
    return results


def _text(file: Any, name: str) -> str:
    """A text attribute.  Raises ValueError for one that would not print on a line."""
    value = file.attrs[name]
    text = value.decode() if isinstance(value, bytes) else value
    if not isinstance(text, str):
        raise ValueError(f"attribute {name} is no text")
    return check_text(name, text)


def _whole(file: Any, name: str, low: int, high: int) -> int:
    value = np.asarray(file.attrs[name])
    if value.shape != () or value.dtype.kind not in "iu" or not low <= int(value) <= high:
        raise ValueError(f"attribute {name} is no whole number in [{low}, {high}]")
    return int(value)


def _json(group: Any, name: str, kind: type) -> Any:
    raw = stored(group, name)
    value = json.loads(raw.decode() if isinstance(raw, bytes) else raw)
    if not isinstance(value, kind):
        raise ValueError(f"{name} is no {kind.__name__}")
    return value


def _read(file: Any) -> Results:
    raw = subgroup(file, "raw")
    data = _json(subgroup(file, "study"), "json", dict)
    for part in ("axes", "counters", "extremes", "statistics"):
        for entry in data[part]:
            if not NAME.fullmatch(entry["name"]):
                raise ValueError(f"a name in {part} is none")
            for name, value in entry.items():
                if isinstance(value, str):
                    check_text(name, value)
    keys = _keys(raw, data)
    table: Table = {s["name"]: _numbers(raw, s, keys) for s in data["statistics"]}
    code = json.loads(_text(file, "code"))
    head = {
        **{name: _text(file, name) for name in ("title", "source")},
        "name": _text(file, "study"),
        "revision": _whole(file, "revision", -(2**63), 2**63 - 1),
        "code": {check_text("code", str(k)): check_text("code", str(v)) for k, v in code.items()},
    }
    measure = recorded(head, data, table)
    tallies = _tallies(measure, raw, keys)
    for key, tally in tallies.items():
        _check_counts(measure, key, tally)
    history = _json(subgroup(file, "provenance"), "json", list)
    if not all(isinstance(entry, dict) for entry in history):
        raise ValueError("the provenance is no list of runs")
    goal = Goal.from_json(_text(file, "goal"))
    goal.check(measure)
    return Results(measure, _whole(file, "seed", 0, 2**63 - 1), tallies, goal, history, _text(file, "grid") or None)


def _keys(raw: Any, data: dict[str, Any]) -> list[Key]:
    """The points, each value of its axis' kind and in its range; distinct."""
    columns = []
    for axis in data["axes"]:
        column = stored(raw, axis["name"])
        if column.ndim != 1 or column.dtype.kind != {"int": "i", "float": "f"}[axis["kind"]]:
            raise ValueError(f"{axis['name']} is no column of {axis['kind']}")
        columns.append(column.tolist())
    keys = list(zip(*columns, strict=True))
    if len(set(keys)) < len(keys):
        raise ValueError("a point stands twice")
    return keys


def _numbers(raw: Any, entry: dict[str, Any], keys: list[Key]) -> dict[Key, tuple[float, ...]]:
    rows = stored(raw, "numbers_" + entry["name"])
    if rows.shape != (len(keys), width_of(entry)) or rows.dtype.kind != "f":
        raise ValueError(f"numbers_{entry['name']} is not of the points")
    return dict(zip(keys, map(tuple, rows.tolist()), strict=True))


def _tallies(measure: Recorded, raw: Any, keys: list[Key]) -> dict[Key, Tally]:
    names = [a.name for a in measure.axes]
    for key in keys:
        measure.point(dict(zip(names, key, strict=True)))
    ranges: list[list[tuple[int, int]]] = [[] for _ in keys]
    for point, first, stop in _rows(raw, "ranges", None, 3):
        if not (0 <= point < len(keys) and 0 <= first < stop <= MOST_TRIALS):
            raise ValueError("a range of trials is none")
        ranges[point].append((first, stop))
    counts: list[dict[str, Any]] = [{} for _ in keys]
    for counter in measure.tally.counters:
        width = counter.bins or limbs_of(counter.digits)
        for of_point, row in zip(counts, _rows(raw, "count_" + counter.name, len(keys), width), strict=True):
            whole = tuple(row) if counter.bins else sum(digit << LIMB_BITS * i for i, digit in enumerate(row))
            of_point[counter.name] = whole
    extremes: list[dict[str, tuple[int, int]]] = [{} for _ in keys]
    for extreme in measure.tally.extremes:
        rows = _rows(raw, "max_" + extreme.name, len(keys), 2)
        for of_extreme, (value, trial) in zip(extremes, rows, strict=True):
            of_extreme[extreme.name] = (value, trial)
    return {key: Tally(fuse(r), c, e) for key, r, c, e in zip(keys, ranges, counts, extremes, strict=True)}


def _rows(raw: Any, name: str, length: int | None, width: int) -> list[list[int]]:
    """Rows of whole numbers, ``length`` of them unless None, each of ``width``.  Raises ValueError."""
    values = stored(raw, name)
    if values.ndim == 1 and width == 1:
        values = values[:, None]
    if (
        values.dtype != np.int64
        or values.ndim != 2
        or values.shape != (len(values) if length is None else length, width)
    ):
        raise ValueError(f"{name} is no array of whole numbers of the points")
    return values.tolist()  # type: ignore[no-any-return]


def _check_counts(measure: Measure, key: Key, tally: Tally) -> None:
    """Raise ValueError where counters say what no trials can have counted."""

    point = dict(zip((a.name for a in measure.axes), key, strict=True))

    def broken(name: str) -> ValueError:
        return ValueError(f"{name} at {point_text(point)} is not what {tally.trials} trials can give")

    counts, trials = tally.counts, tally.trials
    for counter in measure.tally.counters:
        value = counts[counter.name]
        if counter.bins and (min(value) < 0 or sum(value) > trials):
            raise broken(counter.name)
        if trials == 0 and any(value if counter.bins else (value,)):
            raise broken(counter.name)
    for name, (_, trial) in tally.extremes.items():
        if trial != -1 and not any(first <= trial < stop for first, stop in tally.ranges):
            raise broken(name)
    for s in measure.statistics:
        if not s.defined(point):  # what it is among may not have been counted
            continue
        among = s.trials(counts, trials)
        if not 0 <= among <= trials:
            raise broken(s.among or s.name)
        if isinstance(s, Proportion) and not 0 <= counts[s.events] <= among:
            raise broken(s.events)
        if isinstance(s, Distribution) and sum(counts[s.counter]) > among:
            raise broken(s.counter)
        if isinstance(s, ClassMean) and (
            counts[s.reached[0]] > among or any(k < 0 or q * k < x**2 for k, x, q in s.sums(counts))
        ):
            raise broken(s.name)
        if isinstance(s, (Mean, PlainMean)) and counts[s.squares] * among < counts[s.total] ** 2:
            raise broken(s.squares)
