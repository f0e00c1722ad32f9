"""Reading a results file: the inverse of ``writing.py``, and what is checked before anything in a file is believed.

A file is data: no code that it names is run, none of its links is followed, nothing is allocated that its size does not
justify, and it either gives what was written or a ResultFileError of one line.
"""

from __future__ import annotations

import json
from bisect import bisect
from dataclasses import replace
from itertools import pairwise
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
from ..measure import registry
from ..measure.goal import MOST_TRIALS, Goal
from ..measure.schema import (
    Key,
    Recorded,
    check_numbers,
    describe,
    numbers_of,
    recorded,
    same_numbers,
    width_of,
)
from ..measure.statistics import ClassMean, Distribution, Mean, PlainMean, Proportion
from ..measure.study import GENERATOR, NAME, Measure, point_text
from ..measure.tally import Tally, fuse
from .hdf5 import attribute, opened, stored, subgroup
from .results import Results
from .size import LIMB_BITS, MOST_NUMBERS, MOST_PARTS, MOST_TEXT, check_size, limbs_of
from .writing import FILE_TYPE, FORMAT_VERSION, sum_of_numbers


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

    Examples
    --------
    >>> _ = fc.run("unsafe-fraction", n=5, f=[1, 2], trials=1000, output="r.h5")
    >>> fc.open_results("r.h5").trials
    2000
    """
    path = check_path("path", path)
    with opened(path, check_flag("unchecked", unchecked)) as file:
        if _text(file, "filetype") != FILE_TYPE:
            raise ResultFileError(f"{path} is not a fastcube results file")
        version = np.asarray(attribute(file, "format_version", (2,)))
        if version.dtype.kind not in "iu":
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


def _text(file: Any, name: str, most: int = 10_000) -> str:
    """A text attribute.  Raises ValueError for one that would not print on a line, or has more than ``most`` characters."""
    value = attribute(file, name)
    text = value.decode() if isinstance(value, bytes) else value
    if not isinstance(text, str):
        raise ValueError(f"attribute {name} is no text")
    return check_text(name, text, most)


def _whole(file: Any, name: str, low: int, high: int) -> int:
    value = np.asarray(attribute(file, name))
    if value.dtype.kind not in "iu" or not low <= int(value) <= high:
        raise ValueError(f"attribute {name} is no whole number in [{low}, {high}]")
    return int(value)


def _json(text: Any, name: str, kind: type) -> Any:
    """What a text in JSON says, of no more characters than are taken.  Raises ValueError."""
    if len(text) > MOST_TEXT:
        raise ValueError(f"{name} is longer than {MOST_TEXT} characters")
    value = json.loads(text.decode() if isinstance(text, bytes) else text)
    if not isinstance(value, kind):
        raise ValueError(f"{name} is no {kind.__name__}")
    return value


def _read(file: Any) -> Results:
    raw = subgroup(file, "raw")
    data = _json(stored(subgroup(file, "study"), "json", "O", 0, 1), "json", dict)
    for part in ("axes", "counters", "extremes", "statistics"):
        if len(data[part]) > MOST_PARTS:
            raise ValueError(f"it has more than {MOST_PARTS} {part}")
        for entry in data[part]:
            if not NAME.fullmatch(entry["name"]):
                raise ValueError(f"a name in {part} is none")
            for name, value in entry.items():
                if isinstance(value, str):
                    check_text(name, value)
    keys = _keys(raw, data)
    ranges = stored(raw, "ranges", "i", 2, MOST_NUMBERS)
    code = _json(_text(file, "code", MOST_TEXT), "code", dict)
    head = {
        **{name: _text(file, name) for name in ("title", "source")},
        "name": _text(file, "study"),
        "revision": _whole(file, "revision", -(2**63), 2**63 - 1),
        "code": {check_text("code", str(k)): check_text("code", str(v)) for k, v in code.items()},
    }
    check_size(recorded(head, data, {s["name"]: {} for s in data["statistics"]}), keys, len(ranges))
    rows = {s["name"]: _numbers(raw, s, len(keys)) for s in data["statistics"]}
    if "numbers" in raw.attrs and _text(raw, "numbers") != sum_of_numbers(rows.values()):
        raise ValueError("its numbers do not have the checksum that it states")
    measure = recorded(head, data, {name: _of_keys(keys, values) for name, values in rows.items()})
    tallies = _tallies(measure, raw, keys, ranges)
    for key, tally in tallies.items():
        _check_counts(measure, key, tally)
    history = _json(stored(subgroup(file, "provenance"), "json", "O", 0, 1), "json", list)
    if not all(isinstance(entry, dict) for entry in history):
        raise ValueError("the provenance is no list of runs")
    goal = Goal.from_json(_text(file, "goal", MOST_TEXT))
    goal.check(measure)
    measure = _as_here(measure, data, head, keys)
    return Results(measure, _whole(file, "seed", 0, 2**63 - 1), tallies, goal, history, _text(file, "grid") or None)


def _as_here(stated: Recorded, data: dict[str, Any], head: dict[str, Any], keys: list[Key]) -> Recorded:
    """The measure with the numbers of its study, where that is installed, or ran in this process, and counts the same.

    Raises ValueError where the file states another unit or scale, or defines a statistic elsewhere: these say what a value
    is, and the digest does not hold them.  Bounds are the study's own, which better ones may have replaced since.
    """
    study = registry.code_of(stated)
    if study is None:
        return replace(stated, unheld=tuple(s.name for s in stated.statistics))
    mine = {s.name: entry for s, entry in zip(study.statistics, describe(study)["statistics"], strict=True)}
    known = {entry["name"] for entry in data["statistics"] if json.loads(json.dumps(mine.get(entry["name"]))) == entry}
    here, table = numbers_of(study, keys), dict(stated.table)
    for name in known:
        for key, row in here[name].items():
            if not same_numbers(row, table[name][key]):
                raise ValueError(
                    f"numbers_{name} at {point_text(dict(zip((a.name for a in stated.axes), key, strict=True)))} "
                    f"are not those of {stated.name}"
                )
        table[name] = here[name]
    return recorded(head, data, table, [s.name for s in stated.statistics if s.name not in known])


def _keys(raw: Any, data: dict[str, Any]) -> list[Key]:
    """The points, each value of its axis' kind and in its range; distinct."""
    columns = []
    for axis in data["axes"]:
        kind = {"int": "i", "float": "f", "str": "O"}[axis["kind"]]
        column = stored(raw, axis["name"], kind, 1, MOST_NUMBERS // len(data["axes"]))
        columns.append(_names(column, axis) if kind == "O" else column.tolist())
    keys = list(zip(*columns, strict=True))
    if len(set(keys)) < len(keys):
        raise ValueError("a point stands twice")
    return keys


def _names(column: Any, axis: dict[str, Any]) -> list[str]:
    """Values of an axis of names, each one of the file's own list."""
    words = [word.decode() if isinstance(word, bytes) else word for word in column]
    if not set(words) <= set(axis["names"]):
        raise ValueError(f"{axis['name']} is no column of its names")
    return words


def _numbers(raw: Any, entry: dict[str, Any], points: int) -> Any:
    rows = stored(raw, "numbers_" + entry["name"], "f", 2, MOST_NUMBERS)
    if rows.dtype != np.float64 or rows.shape != (points, width_of(entry)):
        raise ValueError(f"numbers_{entry['name']} is not of the points")
    return rows


def _of_keys(keys: list[Key], rows: Any) -> dict[Key, tuple[float, ...]]:
    return {key: check_numbers(tuple(row)) for key, row in zip(keys, rows.tolist(), strict=True)}


def _tallies(measure: Recorded, raw: Any, keys: list[Key], ranges: Any) -> dict[Key, Tally]:
    names = [a.name for a in measure.axes]
    for key in keys:
        measure.point(dict(zip(names, key, strict=True)))
    of_points = _ranges(ranges, len(keys))
    counts: list[dict[str, Any]] = [{} for _ in keys]
    for counter in measure.tally.counters:
        width = counter.bins or limbs_of(counter.digits)
        shape = (len(keys),) if width == 1 and not counter.bins else (len(keys), width)
        for of_point, row in zip(counts, _rows(raw, "count_" + counter.name, shape), strict=True):
            whole = tuple(row) if counter.bins else sum(digit << LIMB_BITS * i for i, digit in enumerate(row))
            of_point[counter.name] = whole
    extremes: list[dict[str, tuple[int, int]]] = [{} for _ in keys]
    for extreme in measure.tally.extremes:
        rows = _rows(raw, "max_" + extreme.name, (len(keys), 2))
        for of_extreme, (value, trial) in zip(extremes, rows, strict=True):
            of_extreme[extreme.name] = (value, trial)
    return {key: Tally(r, c, e) for key, r, c, e in zip(keys, of_points, counts, extremes, strict=True)}


def _ranges(rows: Any, points: int) -> list[tuple[tuple[int, int], ...]]:
    """The ranges of trials of each point, fused.  All are checked before any becomes a Python object.  Raises ValueError."""
    if rows.dtype != np.int64 or rows.shape[1] != 3:
        raise ValueError("ranges is no array of ranges of trials")
    point, first, stop = rows[np.lexsort((rows[:, 1], rows[:, 0]))].T
    if not ((point >= 0) & (point < points) & (first >= 0) & (first < stop) & (stop <= MOST_TRIALS)).all():
        raise ValueError("a range of trials is none")
    ends = np.searchsorted(point, np.arange(points + 1))
    return [fuse(list(zip(first[a:b].tolist(), stop[a:b].tolist(), strict=True))) for a, b in pairwise(ends.tolist())]


def _rows(raw: Any, name: str, shape: tuple[int, ...]) -> list[list[int]]:
    """Rows of whole numbers, stored in this shape; a column is rows of one.  Raises ValueError."""
    values = stored(raw, name, "i", len(shape), MOST_NUMBERS)
    if values.dtype != np.int64 or values.shape != shape:
        raise ValueError(f"{name} is no array of whole numbers of the points")
    return (values[:, None] if len(shape) == 1 else values).tolist()  # type: ignore[no-any-return]


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
        at = bisect(tally.ranges, (trial, MOST_TRIALS))
        if trial != -1 and not (at and trial < tally.ranges[at - 1][1]):
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
