"""Adding results of disjoint trials: files of thousands of shards, one after another."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from ..errors import ParameterError, TrialOverlapError, check_path, is_many, shown
from ..measure.schema import Key, joined
from ..measure.study import Measure, point_text
from ..measure.tally import Tally, fuse, totals
from .provenance import provenance
from .reading import Reader
from .results import Results
from .size import check_size

#: Tallies of a point that are kept before they are added up.
_TOGETHER = 64


class _Sum:
    """Results of disjoint trials, added one after another; of each its trials and name are kept, and no more."""

    def __init__(self, name: str, first: Results) -> None:
        self._name, self._first = name, first
        self._studies: list[Measure] = []
        self._names: list[str] = []
        self._ranges: dict[Key, array[int]] = {}  # first trial, stop, place of the name
        self._tallies: dict[Key, list[Tally]] = {}

    def add(self, name: str, part: Results) -> None:
        """Take in one more.  Raises StudyMismatchError."""
        if part is not self._first:
            self._first.check_same_study(part, self._name, name)
        if not self._studies or part.study is not self._studies[-1]:
            self._studies.append(part.study)
        for key, tally in part.tallies.items():
            ranges = self._ranges.setdefault(key, array("q"))
            for first, stop in tally.ranges:
                ranges.extend((first, stop, len(self._names)))
            tallies = self._tallies.setdefault(key, [])
            tallies.append(tally)
            if len(tallies) == _TOGETHER:
                tallies[:] = [Tally((), *totals(tallies))]
        self._names.append(name)

    def total(self) -> Results:
        """All together.  Raises TrialOverlapError, or ParameterError for more than a file takes."""
        one = self._first
        out = Results(joined(self._studies), one.seed, {}, one.goal.whole(), grid=one.grid)
        for key, tallies in self._tallies.items():
            flat = self._ranges[key]
            try:
                fused = fuse(zip(flat[::3], flat[1::3], strict=True))
            except TrialOverlapError as error:
                names = [self._names[i] for i in flat[2::3]]
                ranges = sorted(zip(flat[::3], flat[1::3], names, strict=True))
                raise _overlap(point_text(out.point(key)), ranges) from error
            out.tallies[key] = Tally(fused, *totals(tallies))
        check_size(out.study, out.tallies.keys(), sum(len(tally.ranges) for tally in out.tallies.values()))
        return out


def combine(parts: Iterable[tuple[str, Results]]) -> Results:
    """Add results of disjoint trials, each with the name that messages give it; at least one.

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

    def parts() -> Iterator[tuple[str, Results]]:
        for name in names:
            part, digest = reader.read(name)
            merged.append({"file": name.name, "digest": digest, "runs": part.history})
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
