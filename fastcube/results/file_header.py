"""The header of a results file: everything except the counts, checked before any content is trusted."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import check_text
from ..measure import registry
from ..measure.measurement import NAME, point_text
from ..measure.names import STUDY, axis_dataset
from ..measure.schema import (
    Key,
    RecordedMeasure,
    check_numbers,
    describe_measure,
    numbers_of,
    parse_measure,
    same_numbers,
    width_of,
)
from .columns import Identity
from .results import Results, identity_of_points
from .size import MOST_NUMBERS, MOST_PARTS, MOST_TEXT, check_size
from .untrusted_hdf5 import Arrays, open_subgroup, read_attribute
from .writing import checksum_numbers

#: Most points of one hash value.  Powers of 2^61 have the hash value of 1, and a file may hold many points of such values.
_MOST_ALIKE = 64


@dataclass(frozen=True)
class FileHeader:
    """The checked header of a file (study, seed and points), with the data that it was made from.

    Files of one run have equal headers, so one that is checked serves them all.
    """

    text: Any  #: description of axes, counters and statistics, as JSON
    axis_bytes: list[tuple[str, bytes]]  #: type and bytes of each axis' column
    most_ranges: int  #: number of ranges of trials for which the size was checked
    checksum: str | None  #: of the statistics' numbers, None in a file of an older fastcube
    axes: list[dict[str, Any]]  #: description of each axis
    keys: list[Key]  #: the points
    rows: dict[str, Any]  #: numbers of each statistic at each point
    about: Results  #: results without counts
    identity: Identity

    def is_header_of(self, file: Any, raw: Arrays, ranges: int) -> bool:
        """Whether a file with so many ranges has the same description, statistics' numbers and points as the checked one."""
        return (
            self.checksum is not None  # equal checksums mean equal numbers
            and (self.checksum, self.text) == (_read_checksum(raw), read_group_text(file, STUDY))
            and self.axis_bytes == _column_bytes(_parse_axis_columns(raw, self.axes))
            and ranges <= self.most_ranges
        )


def read_text(file: Any, name: str, most: int = 10_000) -> str:
    """Return a text attribute.  Raises ValueError if it is not printable on one line or has more than ``most`` characters."""
    value = read_attribute(file, name)
    text = value.decode() if isinstance(value, bytes) else value
    if not isinstance(text, str):
        raise ValueError(f"attribute {name} is no text")
    return check_text(name, text, most)


def _read_integer(file: Any, name: str, low: int, high: int) -> int:
    """Return an integer attribute.  Raises ValueError if it is not in [low, high]."""
    value = np.asarray(read_attribute(file, name))
    if value.dtype.kind not in "iu" or not low <= int(value) <= high:
        raise ValueError(f"attribute {name} is no whole number in [{low}, {high}]")
    return int(value)


def parse_json(text: Any, name: str, kind: type) -> Any:
    """Return the value of a JSON text of limited length.  Raises ValueError."""
    if len(text) > MOST_TEXT:
        raise ValueError(f"{name} is longer than {MOST_TEXT} characters")
    value = json.loads(text.decode() if isinstance(text, bytes) else text)
    if not isinstance(value, kind):
        raise ValueError(f"{name} is no {kind.__name__}")
    return value


def read_group_text(file: Any, group: str) -> Any:
    """Return the JSON text of a group."""
    return Arrays(open_subgroup(file, group), b"").read_stored("json", "O", 0, 1)


def _read_checksum(raw: Arrays) -> str | None:
    """Return the stated checksum of the statistics' numbers, or None in a file of an older fastcube."""
    return read_text(raw.group, "numbers") if "numbers" in raw.group.attrs else None


def parse_header(file: Any, raw: Arrays, ranges: int) -> FileHeader:
    """Return the checked header of a file, which is everything except the counts.  Raises ValueError."""
    text, checksum = read_group_text(file, STUDY), _read_checksum(raw)
    data = _parse_description(text)
    head = _read_identity(file)
    columns = _parse_axis_columns(raw, data["axes"])
    keys = _parse_keys(columns)
    check_size(parse_measure(head, data, {s["name"]: {} for s in data["statistics"]}), keys, ranges)
    rows = {s["name"]: _parse_numbers(raw, s, len(keys)) for s in data["statistics"]}
    if checksum is not None and checksum != checksum_numbers(rows.values()):
        raise ValueError("its numbers do not have the checksum that it states")
    table = {
        name: {key: check_numbers(tuple(row)) for key, row in zip(keys, values.tolist(), strict=True)}
        for name, values in rows.items()
    }
    measure = parse_measure(head, data, table)
    for key in keys:
        measure.point(dict(zip((a.name for a in measure.axes), key, strict=True)))
    study = _use_local_study(measure, data, head, keys)
    rows = {name: np.array([study.table[name][key] for key in keys]).reshape(rows[name].shape) for name in rows}
    about = Results(study, _read_integer(file, "seed", 0, 2**63 - 1))
    return FileHeader(
        text=text,
        axis_bytes=_column_bytes(columns),
        most_ranges=ranges,
        checksum=checksum,
        axes=data["axes"],
        keys=keys,
        rows=rows,
        about=about,
        identity=identity_of_points(about, keys),
    )


def _read_identity(file: Any) -> dict[str, Any]:
    """Return the attributes that identify the study, for ``parse_measure``.  Raises ValueError."""
    code = parse_json(read_text(file, "code", MOST_TEXT), "code", dict).items()
    return {
        **{name: read_text(file, name) for name in ("title", "source")},
        "name": read_text(file, "study"),
        "revision": _read_integer(file, "revision", -(2**63), 2**63 - 1),
        "code": {check_text("code", str(k)): check_text("code", str(v)) for k, v in code},
    }


def _parse_description(text: Any) -> dict[str, Any]:
    """Return the axes, counters, maxima and statistics that a file describes.  Raises ValueError."""
    data: dict[str, Any] = parse_json(text, "json", dict)
    for part in ("axes", "counters", "maxima", "statistics"):
        if len(data[part]) > MOST_PARTS:
            raise ValueError(f"it has more than {MOST_PARTS} {part}")
        for entry in data[part]:
            if not NAME.fullmatch(entry["name"]):
                raise ValueError(f"a name in {part} is none")
            for name, value in entry.items():
                if isinstance(value, str):
                    check_text(name, value)
    return data


def _use_local_study(
    stated: RecordedMeasure, data: dict[str, Any], head: dict[str, Any], keys: list[Key]
) -> RecordedMeasure:
    """Return the measure with the local study's numbers and words, if it is installed or ran in this process and counts the same.

    Raises ValueError if a statistic that the local study describes alike has another unit or scale in the file, or is defined at
    other points.  These numbers determine values, and the digest does not cover them.  Bounds are taken from the local study,
    where better bounds may have been added.  A statistic that is described otherwise keeps the file's numbers, unverified.
    """
    study = registry.find_study(stated)
    if study is None:
        return replace(stated, unverified=tuple(s.name for s in stated.statistics))
    local = json.loads(json.dumps(describe_measure(study)))
    local_statistics = {entry["name"]: entry for entry in local["statistics"]}
    for entry in data["statistics"]:  # descriptions define nothing, and a later fastcube may have better ones
        entry["description"] = local_statistics.get(entry["name"], entry)["description"]
    axes = [
        entry | {"description": local_entry["description"]}
        for entry, local_entry in zip(data["axes"], local["axes"], strict=True)
    ]
    data, head = data | {"axes": axes}, head | {"title": study.title, "source": study.source}
    same = {entry["name"] for entry in data["statistics"] if local_statistics.get(entry["name"]) == entry}
    local_numbers, table = numbers_of(study, keys), dict(stated.table)
    for name in same:
        for key, row in local_numbers[name].items():
            if not same_numbers(row, table[name][key]):
                raise ValueError(
                    f"numbers_{name} at {point_text(dict(zip((a.name for a in stated.axes), key, strict=True)))} "
                    f"are not those of {stated.name}"
                )
        table[name] = local_numbers[name]
    return parse_measure(head, data, table, [s.name for s in stated.statistics if s.name not in same])


def _parse_axis_columns(raw: Arrays, axes: list[dict[str, Any]]) -> list[Any]:
    """Return the values of each axis at each point, in its type.  Raises ValueError for a name that the file does not list."""
    columns = []
    for axis in axes:
        kind = {"int": "i", "float": "f", "str": "O"}[axis["kind"]]
        column = raw.read_stored(axis_dataset(axis["name"]), kind, 1, MOST_NUMBERS // len(axes))
        if kind == "O":
            names = [name.decode() if isinstance(name, bytes) else name for name in column]
            if not set(names) <= set(axis["names"]):
                raise ValueError(f"{axis['name']} is no column of its names")
            column = np.array(names, str)
        columns.append(column)
    return columns


def _column_bytes(columns: list[Any]) -> list[tuple[str, bytes]]:
    """Return columns in a form that can be compared."""
    return [(str(column.dtype), column.tobytes()) for column in columns]


def _parse_keys(columns: list[Any]) -> list[Key]:
    """Return the points, from the columns of the axes.  Raises ValueError if one occurs twice, or too many have one hash."""
    keys = list(zip(*(column.tolist() for column in columns), strict=True))
    if max(Counter(map(hash, keys)).values(), default=0) > _MOST_ALIKE:
        raise ValueError("too many of its points have one hash value, which dictionaries search one by one")
    if len(set(keys)) < len(keys):
        raise ValueError("a point occurs twice")
    return keys


def _parse_numbers(raw: Arrays, entry: dict[str, Any], points: int) -> Any:
    """Return the numbers of the statistic that ``entry`` describes, one row per point.  Raises ValueError."""
    rows = raw.read_stored("numbers_" + entry["name"], "f", 2, MOST_NUMBERS)
    if rows.dtype != np.float64 or rows.shape != (points, width_of(entry)):
        raise ValueError(f"numbers_{entry['name']} is not of the points")
    return rows
