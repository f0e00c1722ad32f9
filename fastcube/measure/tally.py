"""Exact counts over ranges of trials.  They are integers, so adding is exact, associative and independent of order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import TrialOverlapError

if TYPE_CHECKING:
    from ..kernels.tally.layout import Layout

#: Sorted ranges of trials ``(first, stop)`` with gaps between them.
Ranges = tuple[tuple[int, int], ...]


def fuse_ranges(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Sort ranges and join adjacent ranges.  Raises TrialOverlapError if two ranges share a trial."""
    out: list[tuple[int, int]] = []
    for first, stop in sorted(r for r in ranges if r[0] < r[1]):
        if out and first < out[-1][1]:
            raise TrialOverlapError(f"trials {first}..{min(stop, out[-1][1]) - 1} are in both")
        if out and first == out[-1][1]:
            out[-1] = (out[-1][0], stop)
        else:
            out.append((first, stop))
    return tuple(out)


def missing_trials(ranges: Ranges, first: int, stop: int) -> Ranges:
    """Return the trials of ``[first, stop)`` that are not in the fused ``ranges``."""
    out = []
    for begin, end in ranges:
        if first < min(begin, stop):
            out.append((first, min(begin, stop)))
        first = max(first, end)
    if first < stop:
        out.append((first, stop))
    return tuple(out)


def count_trials(ranges: Iterable[tuple[int, int]]) -> int:
    """Return the number of trials in the ranges."""
    return sum(stop - first for first, stop in ranges)


#: A counter's total: an integer, or a tuple of integers for a counter with bins.
Count = int | tuple[int, ...]


@dataclass(frozen=True)
class Tally:
    """The counts at one point: the ranges of trials, their counters, and the maxima with their smallest trial."""

    ranges: Ranges
    counts: Mapping[str, Any]
    maxima: Mapping[str, tuple[int, int]]

    @classmethod
    def empty(cls, layout: Layout) -> Tally:
        """Return the tally of no trials."""
        return cls((), *layout.read(layout.new_tally()))

    @classmethod
    def from_slots(cls, layout: Layout, first: int, stop: int, slots: Any) -> Tally:
        """Return the tally of trials ``first .. stop - 1`` from the int64 slots that a kernel filled."""
        return cls(fuse_ranges([(first, stop)]), *layout.read(slots))

    @property
    def trials(self) -> int:
        """Number of trials."""
        return count_trials(self.ranges)

    def __add__(self, other: Tally) -> Tally:
        """Return the tally of both sets of trials.  Raises TrialOverlapError if they share a trial."""
        return Tally.total([self, other])

    @classmethod
    def total(cls, parts: Sequence[Tally]) -> Tally:
        """Return the tally of the trials of all ``parts``, at least one.  Raises TrialOverlapError if two share a trial."""
        return cls(
            fuse_ranges(r for part in parts for r in part.ranges),
            {name: _sum_counts([part.counts[name] for part in parts]) for name in parts[0].counts},
            {name: max((part.maxima[name] for part in parts), key=_maximum_order) for name in parts[0].maxima},
        )


def _sum_counts(counts: Sequence[Any]) -> Count:
    if isinstance(counts[0], tuple):
        return tuple(map(sum, zip(*counts, strict=True)))
    return int(sum(counts))


def _maximum_order(maximum: tuple[int, int]) -> tuple[int, int]:
    value, trial = maximum
    return value, -trial
