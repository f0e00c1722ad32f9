"""Exact counts over ranges of trials: integers, so that adding is exact, associative and independent of order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import TrialOverlapError

if TYPE_CHECKING:
    from ..kernels.tally.layout import Layout

#: Disjoint, sorted, non-touching ranges of trials, each ``(first, stop)``.
Ranges = tuple[tuple[int, int], ...]


def fuse_ranges(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Sort ranges and join those that touch.  Raises TrialOverlapError where two share a trial."""
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
    """The trials of ``[first, stop)`` that fused ``ranges`` lack."""
    out = []
    for begin, end in ranges:
        if first < min(begin, stop):
            out.append((first, min(begin, stop)))
        first = max(first, end)
    if first < stop:
        out.append((first, stop))
    return tuple(out)


def count_trials(ranges: Iterable[tuple[int, int]]) -> int:
    """Number of trials in the ranges."""
    return sum(stop - first for first, stop in ranges)


#: A counter's total: an integer, or a tuple of them for a counter with bins.
Count = int | tuple[int, ...]


@dataclass(frozen=True)
class Tally:
    """What is known of one point: the trials done, their counters, and the extremes with their smallest trial."""

    ranges: Ranges
    counts: Mapping[str, Any]
    extremes: Mapping[str, tuple[int, int]]

    @classmethod
    def empty(cls, layout: Layout) -> Tally:
        """The tally of no trial."""
        return cls((), *layout.read(layout.new_tally()))

    @classmethod
    def from_slots(cls, layout: Layout, first: int, stop: int, slots: Any) -> Tally:
        """Read what a kernel left in its int64 tally after trials ``first .. stop - 1``."""
        return cls(fuse_ranges([(first, stop)]), *layout.read(slots))

    @property
    def trials(self) -> int:
        """Number of trials counted."""
        return count_trials(self.ranges)

    def __add__(self, other: Tally) -> Tally:
        """Tally of both sets of trials.  Raises TrialOverlapError when they share one."""
        return Tally.total([self, other])

    @classmethod
    def total(cls, parts: Sequence[Tally]) -> Tally:
        """Tally of all the parts' trials together, at least one part.  Raises TrialOverlapError when two share one."""
        return cls(
            fuse_ranges(r for part in parts for r in part.ranges),
            {name: _sum_counts([part.counts[name] for part in parts]) for name in parts[0].counts},
            {name: max((part.extremes[name] for part in parts), key=_extreme_order) for name in parts[0].extremes},
        )


def _sum_counts(counts: Sequence[Any]) -> Count:
    if isinstance(counts[0], tuple):
        return tuple(map(sum, zip(*counts, strict=True)))
    return int(sum(counts))


def _extreme_order(extreme: tuple[int, int]) -> tuple[int, int]:
    value, trial = extreme
    return value, -trial
