"""Read results files: the inverse of ``writing.py``, with checks before any content is trusted.

A file is data: reading never runs code that it names, follows none of its links, and allocates no more than its size justifies.
The result is either the results that were written, or a ResultFileError of one line.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
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
    plain_text,
)
from ..measure.goal import MOST_TRIALS, Goal
from ..measure.names import PROVENANCE, RAW
from ..measure.study import GENERATOR
from .columns import Columns, find_overlaps, merge_touching_ranges, range_order
from .file_header import FileHeader, parse_header, parse_json, read_group_text, read_text
from .hdf5 import build_image
from .impossible_counts import check_counts
from .results import Results
from .size import LIMB_BITS, MOST_NUMBERS, MOST_TEXT, limbs_of
from .untrusted_hdf5 import ArrayLocation, Arrays, is_hdf5, open_subgroup, open_untrusted, read_attribute, read_whole
from .writing import FILE_TYPE, FORMAT_VERSION, groups_of


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


#: By the number of ranges of trials in a file, the locations of its arrays.
_Places = dict[int, dict[str, ArrayLocation]]


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
        self._header: FileHeader | None = None  # of the last file whose header was parsed
        self._places: _Places = {}  # of files with this header, by number of ranges

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
                version = _read_format_version(file)
                if version <= FORMAT_VERSION:
                    raise
                stated, known = (".".join(map(str, numbers)) for numbers in (version, FORMAT_VERSION))
                raise FormatTooNewError(
                    f"{path} has format {stated}, this fastcube reads {known}: {plain_text(str(error))}"
                ) from error

    def _read(self, path: Path, file: Any, image: bytes) -> FileContents:
        """Return the contents of an open file, by the header and the locations of an earlier file if they fit."""
        group = open_subgroup(file, RAW)
        ranges = Arrays(group, image).read_stored("ranges", "i", 2, MOST_NUMBERS)
        if self._header is not None:
            with contextlib.suppress(Exception):  # another layout or damage: the full reading below decides
                raw = Arrays(group, image, self._places.get(len(ranges)))
                if self._header.is_header_of(file, raw, len(ranges)):
                    contents = _read_contents(self._header, file, raw, ranges)
                    if contents is not None:
                        self._places[len(ranges)] = raw.places
                        return contents
        raw = Arrays(group, image)
        header = parse_header(file, raw, len(ranges))
        contents = _read_contents(header, file, raw, ranges)
        if contents is None:
            raise ResultFileError(f"{path} is damaged: its contents do not have the digest it states")
        self._header, self._places = header, {len(ranges): raw.places}
        return contents


def _check_format(path: Path, file: Any) -> None:
    """Raise an error of ``open_results`` for a file that this version does not read."""
    if read_text(file, "filetype") != FILE_TYPE:
        raise ResultFileError(f"{path} is not a fastcube results file")
    major, minor = _read_format_version(file)
    if major != FORMAT_VERSION[0]:
        error = FormatTooNewError if major > FORMAT_VERSION[0] else FormatTooOldError
        raise error(f"{path} has format {major}.{minor}, this fastcube reads {FORMAT_VERSION[0]}.x")
    if (generator := read_text(file, "generator")) != GENERATOR:
        raise StudyMismatchError(f"{path} has random numbers of {generator}, this fastcube those of {GENERATOR}")


def _read_format_version(file: Any) -> tuple[int, int]:
    """Return the major and the minor version of a file's format."""
    version = np.asarray(read_attribute(file, "format_version", (2,)))
    if version.dtype.kind not in "iu":
        raise ValueError("its format is no pair of whole numbers")
    major, minor = version.tolist()
    return major, minor


def _read_contents(header: FileHeader, file: Any, raw: Arrays, ranges: Any) -> FileContents | None:
    """Return the contents of a file with this header, or None if they do not have the stated digest."""
    history = parse_json(read_group_text(file, PROVENANCE), "json", list)
    if not all(isinstance(entry, dict) for entry in history):
        raise ValueError("the provenance is no list of runs")
    goal = Goal.from_json(read_text(file, "goal", MOST_TEXT))
    goal.check(header.about.study)
    about = replace(header.about, goal=goal, history=history, grid=read_text(file, "grid") or None)
    columns, digest = _parse_counts(header, raw, ranges), read_text(file, "digest")
    return FileContents(about, columns, digest) if header.identity.digest(columns) == digest else None


def _parse_counts(header: FileHeader, raw: Arrays, ranges: Any) -> Columns:
    """Return the counts at each point.  Raises ValueError if they are not possible for the study and its trials."""
    layout, points = header.about.study.tally, len(header.keys)
    counts: dict[str, Any] = {}
    for counter in layout.counters:
        limbs = limbs_of(counter.digits)
        if counter.bins:
            shape: tuple[int, ...] = (points, counter.bins)
        else:
            shape = (points,) if limbs == 1 else (points, limbs)
        values = _read_integers(raw, "count_" + counter.name, shape)
        counts[counter.name] = values if counter.bins or limbs == 1 else _join_limbs(values)
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
