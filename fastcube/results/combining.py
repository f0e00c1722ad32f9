"""Adding results of disjoint trials: files of thousands of shards, one after another."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from ..errors import ParameterError, TrialOverlapError, check_path, is_many, shown
from ..measure.schema import Key, joined
from ..measure.study import Measure, point_text
from ..measure.tally import Tally, fuse, totals
from .columns import Columns
from .provenance import provenance
from .reading import Part, Reader
from .results import Results
from .size import check_size

#: Files, and points of all of them, that are kept before they are added up: their images are kept with them.
_FILES, _POINTS = 64, 2**14


class _Sum:
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

    def _add_up(self) -> None:
        for key, tally in Columns.total(self._waiting).tallies().items():
            before = self._tallies.get(key)
            self._tallies[key] = Tally((), *totals([before, tally])) if before else tally
        self._waiting = []

    def total(self) -> Results:
        """All together.  Raises TrialOverlapError, or ParameterError for more than a file takes."""
        if self._waiting:
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


def combine(parts: Iterable[tuple[str, Part]]) -> Results:
    """Add parts of disjoint trials, each with the name that messages give it; at least one.

    They may come one after another, as files are read: what is kept of each is 24 bytes a range of trials, and all ranges
    of a point are fused at once.  Raises StudyMismatchError, TrialOverlapError, or ParameterError for more than a file takes.
    """
    total: _Sum | None = None
    for name, part in parts:
        total = total or _Sum(name, part)
        total.add(name, part)
    assert total is not None
    return total.total()


def merge(paths: Sequence[str | Path]) -> Results:
    """Add the results files of disjoint trials, in any order and nesting; at least one.

    Raises as :func:`fastcube.open_results`; StudyMismatchError or TrialOverlapError when they do not belong together.

    Examples
    --------
    >>> for i in range(2):
    ...     _ = fc.run("unsafe-fraction", n=5, f=2, trials=1000, shard=(i, 2), output=f"part-{i}.h5")
    >>> fc.merge(["part-0.h5", "part-1.h5"]).trials
    1000
    """
    if not is_many(paths) or not (paths := list(paths)):
        raise ParameterError(f"paths must be a list of results files, at least one, got {shown(paths)}")
    names = [check_path("path", path) for path in paths]
    reader, merged = Reader(), []

    def parts() -> Iterator[tuple[str, Part]]:
        for name in names:
            part = reader.read(name)
            merged.append({"file": name.name, "digest": part.digest, "runs": part.about.history})
            yield str(name), part

    out = combine(parts())
    out.history = [provenance(merged=merged)]
    return out


def _overlap(point: str, ranges: list[tuple[int, int, str]]) -> TrialOverlapError:
    """Name the first two files, by trial, that hold the same trials of a point; sorted ranges, each with its file."""
    for (_, stop, one), (first, end, other) in pairwise(ranges):
        if first < stop:
            return TrialOverlapError(
                f"{one} and {other} overlap at {point}: trials {first}..{min(stop, end) - 1} are in both"
            )
    raise AssertionError("ranges that do not fuse overlap somewhere")
