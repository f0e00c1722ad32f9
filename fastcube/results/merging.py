"""Add results of disjoint trials: files of thousands of shards, one after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import StudyMismatchError, TrialOverlapError
from ..measure.schema import Key, join_measures
from ..measure.study import Measure, point_text
from .columns import Columns, find_overlaps, merge_touching_ranges, range_order
from .reading import FileContents, Reader
from .results import Results
from .size import check_size

#: Largest numbers of files, and of their points, that wait before they are added; their HDF5 images stay in memory.
_MOST_WAITING_FILES, _MOST_WAITING_POINTS = 64, 2**14

#: A function that extracts, from a file's name and contents, the data to keep once its counts have been added.
ExtractFunction = Callable[[str | Path, FileContents], Any]


class RunningSum:
    """The sum of results of disjoint trials, added one by one; of each file only ranges, name and ``keep``'s value stay.

    Parameters
    ----------
    name : path
        The file with which all files are compared.
    first : FileContents
        Its contents.
    keep : ExtractFunction
        Extracts the data to keep of each file.

    Attributes
    ----------
    kept : list
        The values of ``keep``, in the order of the files.
    """

    def __init__(self, name: str | Path, first: FileContents, keep: ExtractFunction) -> None:
        self._name, self._first, self._keep = str(name), first.about, keep
        self.kept: list[Any] = []
        self._studies: list[Measure] = []
        self._names: list[str] = []
        self._ranges: list[tuple[Sequence[Key], Any]] = []  # for each name its points, and the ranges at these
        self._columns: list[Columns] = []  # the sum so far, followed by columns that still wait

    def add(self, name: str | Path, part: FileContents) -> None:
        """Add one file.  Raises StudyMismatchError."""
        about, columns = part.about, part.columns
        if about is not self._first:
            try:
                self._first.check_same_study(about, self._name, str(name))
            except StudyMismatchError as error:
                shards = "; parts of one study are runs of one seed, each with its own --shard I/N"
                raise StudyMismatchError(f"{error}{shards * (about.seed != self._first.seed)}") from None
        if not self._studies or about.study is not self._studies[-1]:
            self._studies.append(about.study)
        self.kept.append(self._keep(name, part))
        self._names.append(str(name))
        self._ranges.append((columns.keys, columns.ranges))
        self._columns.append(columns)
        if (
            len(self._columns) > _MOST_WAITING_FILES
            or sum(len(waiting.keys) for waiting in self._columns[1:]) >= _MOST_WAITING_POINTS
        ):
            self._columns = [Columns.total(self._columns)]

    def join(self, other: RunningSum) -> None:
        """Add the files of ``other``, which were compared with the same first file."""
        self.kept += other.kept
        self._studies += other._studies
        self._names += other._names
        self._ranges += other._ranges
        self._columns += other._columns

    def total(self) -> Results:
        """Return the total.  Raises TrialOverlapError, or ParameterError for more points or ranges than a file can hold."""
        first, columns = self._first, Columns.total(self._columns)
        index = {key: i for i, key in enumerate(columns.keys)}
        points = [
            np.array([index[key] for key in keys], np.int64)[rows[:, 0]] for keys, rows in self._ranges
        ]  # by file
        rows = np.column_stack([np.concatenate(points), np.concatenate([rows[:, 1:] for _, rows in self._ranges])])
        order = range_order(rows)
        rows = rows[order]
        for at in find_overlaps(rows)[:1]:
            files = np.repeat(np.arange(len(points)), [len(points_of_file) for points_of_file in points])
            name, other_name = (self._names[i] for i in files[order[at : at + 2]])
            where = point_text(first.point(columns.keys[rows[at, 0]]))
            overlap = f"{rows[at + 1, 1]}..{rows[at : at + 2, 2].min() - 1}"
            raise TrialOverlapError(f"{name} and {other_name} overlap at {where}: trials {overlap} are in both")
        study, ranges = join_measures(self._studies), merge_touching_ranges(rows)
        check_size(study, columns.keys, len(ranges))
        return Results(
            study, first.seed, replace(columns, ranges=ranges).tallies(), first.goal.drop_shard(), grid=first.grid
        )


def sum_stretch(
    names: Sequence[str | Path], first: int, stop: int, keep: ExtractFunction, unchecked: bool
) -> RunningSum:
    """Add the files ``first .. stop - 1`` of ``names``; each is compared with file 0.

    Raises StudyMismatchError, and the errors of ``open_results``.
    """
    reader = Reader(unchecked)
    part = reader.read(names[0])
    total = RunningSum(names[0], part, keep)
    for at in range(first, stop):
        if at:
            part = reader.read(names[at])
        total.add(names[at], part)
    return total
