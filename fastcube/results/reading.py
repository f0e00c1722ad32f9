"""Read results files: the inverse of ``writing.py``, with checks before any content is trusted.

A file is data: reading never runs code that it names, follows none of its links, and allocates no more than its size justifies.
The result is either the results that were written, or a ResultFileError of one line.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import (
    FormatTooNewError,
    FormatTooOldError,
    ParameterError,
    ResultFileError,
    StudyMismatchError,
    check_flag,
    check_path,
    check_text,
    plain_text,
)
from ..measure import registry
from ..measure.goal import MOST_TRIALS, Goal
from ..measure.names import PROVENANCE, RAW, STUDY, axis_dataset
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
from ..measure.study import GENERATOR, NAME, point_text
from .columns import Columns, Identity, find_overlaps, merge_touching_ranges, range_order
from .counts import check_counts
from .hdf5 import build_image
from .results import Results, identity_of_points
from .size import LIMB_BITS, MOST_NUMBERS, MOST_PARTS, MOST_TEXT, check_size, limbs_of
from .untrusted_hdf5 import ArrayLocation, Arrays, is_hdf5, open_subgroup, open_untrusted, read_attribute, read_whole
from .writing import FILE_TYPE, FORMAT_VERSION, checksum_numbers, groups_of

#: Most points of one hash value.  Powers of 2^61 have the hash value of 1, and a file may hold many points of such values.
_MOST_ALIKE = 64


def open_results(path: str | Path, *, unchecked: bool = False) -> Results:
    """Read a results file.  The code of its study need not be installed.

    Parameters
    ----------
    path : path
    unchecked : bool
        Whether to read a file whose checksum is missing or wrong because another program rewrote it.  The digest of the
        counts is checked even then.

    Returns
    -------
    Results

    Raises
    ------
    ResultFileError
        If the file is not a fastcube results file, is damaged, or is inconsistent.
    FormatTooOldError, FormatTooNewError
        If the file has another major version of the format.
    StudyMismatchError
        If the file uses another generator of random numbers.

    Examples
    --------
    >>> _ = fc.run("unsafe-fraction", n=5, f=[1, 2], trials=1000, output="r.h5")
    >>> fc.open_results("r.h5").trials
    2000
    """
    return Reader(unchecked).read(path).results()


def check_storable(results: Results, path: str | Path) -> None:
    """Raise ParameterError if results could not be written as a file, or not be read from it.  Nothing is written.

    A run of a user's study tries it with a point without trials before its first trial, because the names and texts of such a
    study are of any kind, and its work would be lost.
    """
    try:
        image = build_image(groups_of(results))
        Reader().read(path, image)
    except (ResultFileError, OSError, RuntimeError, ValueError) as error:  # h5py raises any of the last three
        raise ParameterError(f"results of {results.study.name} cannot be stored: {plain_text(str(error))}") from error


def is_results_file(path: Path) -> bool:
    """Whether a file is empty or a results file, even if damaged or old.  Raises ResultFileError if it cannot be read."""
    image = read_whole(path)
    return not image or (is_hdf5(image) and FILE_TYPE.encode() in image)


@dataclass(frozen=True)
class FileContents:
    """The contents of a file: ``about`` (everything except the counts), the counts as columns, and the digest."""

    about: Results
    columns: Columns
    digest: str

    def results(self) -> Results:
        """Return the contents as Results."""
        return replace(self.about, tallies=self.columns.tallies())


class Reader:
    """Reads files one after another.  Headers that are equal, as those of a run's shards, are checked once and shared.

    HDF5 locates the arrays only in the first of all files with equally many ranges of trials.  Later files are read at the same
    places.  If the data there have the digest that the file states, they are the file's data; otherwise HDF5 locates
    the arrays again.

    Parameters
    ----------
    unchecked : bool
        As in ``open_results``.
    """

    def __init__(self, unchecked: bool = False) -> None:
        self._unchecked = check_flag("unchecked", unchecked)
        self._known: _FileHeader | None = None

    def read(self, path: str | Path, image: bytes | None = None) -> FileContents:
        """Return the contents of a file, or of its HDF5 ``image``; raises the errors of ``open_results``."""
        path = check_path("path", path)
        with open_untrusted(path, self._unchecked, image) as (file, whole):
            _check_format(path, file)
            try:
                return self._read(path, file, whole)
            except ResultFileError:
                raise
            except Exception as error:
                theirs, mine = (".".join(map(str, version)) for version in (_format_version(file), FORMAT_VERSION))
                if _format_version(file) <= FORMAT_VERSION:
                    raise
                raise FormatTooNewError(
                    f"{path} has format {theirs}, this fastcube reads {mine}: {plain_text(str(error))}"
                ) from error

    def _read(self, path: Path, file: Any, image: bytes) -> FileContents:
        """Return the contents of an open file, by the header and the locations of an earlier file if they fit."""
        group, known = open_subgroup(file, RAW), self._known
        ranges = Arrays(group, image).read_stored("ranges", "i", 2, MOST_NUMBERS)
        if known is not None:
            with contextlib.suppress(Exception):  # another layout or damage: the full reading below decides
                raw = Arrays(group, image, known.places.get(len(ranges)))
                if known.is_same_header(file, raw, len(ranges)) and (
                    contents := known.read_contents(file, raw, ranges)
                ):
                    return contents
        raw = Arrays(group, image)
        header = _parse_header(file, raw, len(ranges))
        contents = header.read_contents(file, raw, ranges)
        if contents is None:
            raise ResultFileError(f"{path} is damaged: its contents do not have the digest it states")
        self._known = header
        return contents


def _check_format(path: Path, file: Any) -> None:
    """Raise an error of ``open_results`` for a file that this version does not read."""
    if _read_text(file, "filetype") != FILE_TYPE:
        raise ResultFileError(f"{path} is not a fastcube results file")
    major, minor = _format_version(file)
    if major != FORMAT_VERSION[0]:
        error = FormatTooNewError if major > FORMAT_VERSION[0] else FormatTooOldError
        raise error(f"{path} has format {major}.{minor}, this fastcube reads {FORMAT_VERSION[0]}.x")
    if (theirs := _read_text(file, "generator")) != GENERATOR:
        raise StudyMismatchError(f"{path} has random numbers of {theirs}, this fastcube those of {GENERATOR}")


def _format_version(file: Any) -> tuple[int, int]:
    """Return the major and the minor version of a file's format."""
    version = np.asarray(read_attribute(file, "format_version", (2,)))
    if version.dtype.kind not in "iu":
        raise ValueError("its format is no pair of whole numbers")
    major, minor = version.tolist()
    return major, minor


def _read_text(file: Any, name: str, most: int = 10_000) -> str:
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


def _parse_json(text: Any, name: str, kind: type) -> Any:
    """Return the value of a JSON text of limited length.  Raises ValueError."""
    if len(text) > MOST_TEXT:
        raise ValueError(f"{name} is longer than {MOST_TEXT} characters")
    value = json.loads(text.decode() if isinstance(text, bytes) else text)
    if not isinstance(value, kind):
        raise ValueError(f"{name} is no {kind.__name__}")
    return value


@dataclass(frozen=True)
class _FileHeader:
    """The checked header of a file (study, seed and points), with the data that it was made from."""

    text: Any  #: description of axes, counters and statistics, as JSON
    points: list[tuple[str, bytes]]  #: type and bytes of each axis' column
    ranges: int  #: number of ranges of trials for which the size was checked
    numbers: str | None  #: checksum of the statistics' numbers, None in a file of an older fastcube
    axes: list[dict[str, Any]]  #: description of each axis
    keys: list[Key]  #: the points
    rows: dict[str, Any]  #: numbers of each statistic at each point
    about: Results  #: results without counts
    identity: Identity
    #: by number of ranges, the locations of the arrays in files of this layout
    places: dict[int, dict[str, ArrayLocation]] = field(default_factory=dict)

    def is_same_header(self, file: Any, raw: Arrays, ranges: int) -> bool:
        """Whether a file with so many ranges has the same description, statistics' numbers and points as the checked one."""
        return (
            self.numbers is not None  # equal checksums mean equal numbers
            and (self.numbers, self.text) == (_read_checksum(raw), _read_group_text(file, STUDY))
            and self.points == _column_bytes(_parse_axis_columns(raw, self.axes))
            and ranges <= self.ranges
        )

    def read_contents(self, file: Any, raw: Arrays, ranges: Any) -> FileContents | None:
        """Return the contents of a file with this header, or None if they do not have the stated digest."""
        history = _parse_json(_read_group_text(file, PROVENANCE), "json", list)
        if not all(isinstance(entry, dict) for entry in history):
            raise ValueError("the provenance is no list of runs")
        goal = Goal.from_json(_read_text(file, "goal", MOST_TEXT))
        goal.check(self.about.study)
        about = replace(self.about, goal=goal, history=history, grid=_read_text(file, "grid") or None)
        columns, digest = _parse_counts(self, raw, ranges), _read_text(file, "digest")
        self.places[len(ranges)] = raw.places
        return FileContents(about, columns, digest) if self.identity.digest(columns) == digest else None


def _read_group_text(file: Any, group: str) -> Any:
    """Return the JSON text of a group."""
    return Arrays(open_subgroup(file, group), b"").read_stored("json", "O", 0, 1)


def _read_checksum(raw: Arrays) -> str | None:
    """Return the stated checksum of the statistics' numbers, or None in a file of an older fastcube."""
    return _read_text(raw.group, "numbers") if "numbers" in raw.group.attrs else None


def _parse_header(file: Any, raw: Arrays, ranges: int) -> _FileHeader:
    """Return the checked header of a file, which is everything except the counts.  Raises ValueError."""
    text, numbers = _read_group_text(file, STUDY), _read_checksum(raw)
    data = _parse_description(text)
    code = _parse_json(_read_text(file, "code", MOST_TEXT), "code", dict).items()
    head = {
        **{name: _read_text(file, name) for name in ("title", "source")},
        "name": _read_text(file, "study"),
        "revision": _read_integer(file, "revision", -(2**63), 2**63 - 1),
        "code": {check_text("code", str(k)): check_text("code", str(v)) for k, v in code},
    }
    columns = _parse_axis_columns(raw, data["axes"])
    keys = _parse_keys(columns)
    check_size(parse_measure(head, data, {s["name"]: {} for s in data["statistics"]}), keys, ranges)
    rows = {s["name"]: _parse_numbers(raw, s, len(keys)) for s in data["statistics"]}
    if numbers is not None and numbers != checksum_numbers(rows.values()):
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
    identity = identity_of_points(about, keys)
    return _FileHeader(text, _column_bytes(columns), ranges, numbers, data["axes"], keys, rows, about, identity)


def _parse_description(text: Any) -> dict[str, Any]:
    """Return the axes, counters, maxima and statistics that a file describes.  Raises ValueError."""
    data: dict[str, Any] = _parse_json(text, "json", dict)
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
    mine = {entry["name"]: entry for entry in local["statistics"]}
    for entry in data["statistics"]:  # descriptions define nothing, and a later fastcube may have better ones
        entry["description"] = mine.get(entry["name"], entry)["description"]
    axes = [
        entry | {"description": my_entry["description"]}
        for entry, my_entry in zip(data["axes"], local["axes"], strict=True)
    ]
    data, head = data | {"axes": axes}, head | {"title": study.title, "source": study.source}
    known = {entry["name"] for entry in data["statistics"] if mine.get(entry["name"]) == entry}
    my_numbers, table = numbers_of(study, keys), dict(stated.table)
    for name in known:
        for key, row in my_numbers[name].items():
            if not same_numbers(row, table[name][key]):
                raise ValueError(
                    f"numbers_{name} at {point_text(dict(zip((a.name for a in stated.axes), key, strict=True)))} "
                    f"are not those of {stated.name}"
                )
        table[name] = my_numbers[name]
    return parse_measure(head, data, table, [s.name for s in stated.statistics if s.name not in known])


def _parse_axis_columns(raw: Arrays, axes: list[dict[str, Any]]) -> list[Any]:
    """Return the values of each axis at each point, in its type.  Raises ValueError for a name that the file does not list."""
    out = []
    for axis in axes:
        kind = {"int": "i", "float": "f", "str": "O"}[axis["kind"]]
        column = raw.read_stored(axis_dataset(axis["name"]), kind, 1, MOST_NUMBERS // len(axes))
        if kind == "O":
            decoded = [word.decode() if isinstance(word, bytes) else word for word in column]
            if not set(decoded) <= set(axis["names"]):
                raise ValueError(f"{axis['name']} is no column of its names")
            column = np.array(decoded, str)
        out.append(column)
    return out


def _column_bytes(columns: list[Any]) -> list[tuple[str, bytes]]:
    """Return columns in a form that can be compared."""
    return [(str(column.dtype), column.tobytes()) for column in columns]


def _parse_keys(columns: list[Any]) -> list[Key]:
    """Return the points.  Raises ValueError if one occurs twice, or too many have one hash value."""
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


def _parse_counts(header: _FileHeader, raw: Arrays, ranges: Any) -> Columns:
    """Return the counts at each point.  Raises ValueError if they are impossible for the number of trials."""
    layout, points = header.about.study.tally, len(header.keys)
    counts: dict[str, Any] = {}
    for counter in layout.counters:
        width = counter.bins or limbs_of(counter.digits)
        shape = (points,) if width == 1 and not counter.bins else (points, width)
        values = _read_integers(raw, "count_" + counter.name, shape)
        counts[counter.name] = values if counter.bins or len(shape) == 1 else _join_limbs(values)
    maxima = {e.name: _read_integers(raw, "max_" + e.name, (points, 2)) for e in layout.maxima}
    columns = Columns(header.keys, _parse_ranges(ranges, points), counts, maxima)
    check_counts(header.about.study, header.rows, columns)
    return columns


def _join_limbs(values: Any) -> Any:
    """Return a column of counters with several limbs: int64, or Python integers if one needs more than one limb."""
    if not values[:, 1:].any():
        return values[:, 0]
    return np.array([sum(d << LIMB_BITS * i for i, d in enumerate(row)) for row in values.tolist()], object)


def _parse_ranges(rows: Any, points: int) -> Any:
    """Return the ranges of trials, sorted and fused.  Raises ValueError if they overlap, or are not of ``points`` points."""
    if rows.dtype != np.int64 or rows.shape[1] != 3:
        raise ValueError("ranges is no array of ranges of trials")
    rows = rows[range_order(rows)]
    point, first, stop = rows.T
    if not ((point >= 0) & (point < points) & (first >= 0) & (first < stop) & (stop <= MOST_TRIALS)).all():
        raise ValueError("a range of trials is none")
    if find_overlaps(rows).size:
        raise ValueError("two ranges of trials overlap")
    return merge_touching_ranges(rows)


def _read_integers(raw: Arrays, name: str, shape: tuple[int, ...]) -> Any:
    """Return an integer array of this shape.  Raises ValueError."""
    values = raw.read_stored(name, "i", len(shape), MOST_NUMBERS)
    if values.dtype != np.int64 or values.shape != shape:
        raise ValueError(f"{name} is no array of whole numbers of the points")
    return values
