"""Adding results of disjoint trials: files of thousands of shards, one after another."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from ..errors import TrialOverlapError
from ..measure.schema import Key, joined
from ..measure.study import Measure, point_text
from ..measure.tally import Tally, fuse, totals
from .columns import Columns
from .reading import Part, Reader
from .results import Results
from .size import check_size

#: Files, and points of all of them, that are kept before they are added up: their images are kept with them.
_FILES, _POINTS = 64, 2**14

K = TypeVar("K")

#: What is kept of a file, by its name, when what it counted was added.
Keep = Callable[[str | Path, Part], K]


class Sum:
    """Results of disjoint trials, added one after another; of each its trials and name are kept, and no more."""

    def __init__(self, name: str, first: Part) -> None:
        self._name, self._first = name, first.about
        self._studies: list[Measure] = []
        self._names: list[str] = []
        self._ranges: dict[Key, array[int]] = {}  # first trial, stop, place of the name
        self._tallies: dict[Key, Tally] = {}
        self._waiting: list[Columns] = []  # of the same points

    def add(self, name: str, part: Part) -> None:
        """Take in one more.  Raises StudyMismatchError."""
        about, columns, number = part.about, part.columns, len(self._names)
        if about is not self._first:
            self._first.check_same_study(about, self._name, name)
        if not self._studies or about.study is not self._studies[-1]:
            self._studies.append(about.study)
        for key, of_point in zip(columns.keys, columns.ranges, strict=True):
            ranges = self._ranges.setdefault(key, array("q"))
            for first, stop in of_point:
                ranges.extend((first, stop, number))
        if self._waiting and columns.keys is not self._waiting[0].keys:
            self._add_up()
        self._waiting.append(columns)
        if len(self._waiting) == _FILES or len(self._waiting) * len(columns.keys) >= _POINTS:
            self._add_up()
        self._names.append(name)

    def join(self, other: Sum) -> None:
        """Take in what ``other`` has, as if its files had been added here; they were compared with the same first file."""
        self._add_up()
        other._add_up()
        for key, flat in other._ranges.items():
            for i in range(2, len(flat), 3):
                flat[i] += len(self._names)
            self._ranges.setdefault(key, array("q")).extend(flat)
        self._take(other._tallies)
        self._studies += other._studies
        self._names += other._names

    def _add_up(self) -> None:
        if self._waiting:
            self._take(Columns.total(self._waiting).tallies())
        self._waiting = []

    def _take(self, tallies: Mapping[Key, Tally]) -> None:
        for key, tally in tallies.items():
            before = self._tallies.get(key)
            self._tallies[key] = Tally((), *totals([before, tally])) if before else tally

    def total(self) -> Results:
        """All together.  Raises TrialOverlapError, or ParameterError for more than a file takes."""
        self._add_up()
        one = self._first
        out = Results(joined(self._studies), one.seed, {}, one.goal.whole(), grid=one.grid)
        for key, tally in self._tallies.items():
            flat = self._ranges[key]
            try:
                fused = fuse(zip(flat[::3], flat[1::3], strict=True))
            except TrialOverlapError as error:
                names = [self._names[i] for i in flat[2::3]]
                ranges = sorted(zip(flat[::3], flat[1::3], names, strict=True))
                raise _overlap(point_text(out.point(key)), ranges) from error
            out.tallies[key] = replace(tally, ranges=fused)
        check_size(out.study, out.tallies.keys(), sum(len(tally.ranges) for tally in out.tallies.values()))
        return out


def stretch(names: Sequence[str | Path], first: int, stop: int, keep: Keep[K], unchecked: bool) -> tuple[Sum, list[K]]:
    """Add the files ``first .. stop - 1`` of many, and keep of each what ``keep`` makes of it; all are compared with file 0.

    Raises as :func:`fastcube.open_results`; StudyMismatchError.
    """
    reader, kept = Reader(unchecked), []
    part = reader.read(names[0])
    total = Sum(str(names[0]), part)
    for at in range(first, stop):
        if at:
            part = reader.read(names[at])
        total.add(str(names[at]), part)
        kept.append(keep(names[at], part))
    return total, kept


def _overlap(point: str, ranges: list[tuple[int, int, str]]) -> TrialOverlapError:
    """Name the first two files, by trial, that hold the same trials of a point; sorted ranges, each with its file."""
    for (_, stop, one), (first, end, other) in pairwise(ranges):
        if first < stop:
            return TrialOverlapError(
                f"{one} and {other} overlap at {point}: trials {first}..{min(stop, end) - 1} are in both"
            )
    raise AssertionError("ranges that do not fuse overlap somewhere")
