"""What was counted as columns, one a counter: as files hold it, as the digest puts it into words, and as many files are added.

NumPy takes a column at once, where a point's tally is Python's integers one by one: a third of the time of reading a shard.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..kernels.tally.layout import Layout
from ..measure.schema import Key
from ..measure.tally import Ranges, Tally

#: Points whose identity is put into words at once: the words of 100,000 are 100 MB.
_POINTS_PER_CHUNK = 256

#: Stands for a number in the pattern of a point's identity; in no name, since those are printable.
_NUMBER_PLACEHOLDER = "\0"


@dataclass(frozen=True)
class Columns:
    """Ranges of trials, counters and extremes of some points.

    Attributes
    ----------
    keys : sequence
        The points.
    ranges : array
        Of int64, shape (ranges, 3): place of the point, first trial, trial after the last; in this order, and fused.
    counts : dict of str to array
        Of int64, with bins in a second dimension; of Python's integers where one outgrows 64 bits.
    extremes : dict of str to array
        Value and trial: int64, of shape (points, 2).
    """

    keys: Sequence[Key]
    ranges: Any
    counts: Mapping[str, Any]
    extremes: Mapping[str, Any]

    @classmethod
    def of(cls, layout: Layout, tallies: Mapping[Key, Tally]) -> Columns:
        """The tallies of some points, in their order."""
        some = tallies.values()
        counts = {
            c.name: integer_array([t.counts[c.name] for t in some]).reshape(len(some), *[c.bins] * bool(c.bins))
            for c in layout.counters
        }
        extremes = {
            e.name: np.array([t.extremes[e.name] for t in some], np.int64).reshape(-1, 2) for e in layout.extremes
        }
        ranges = [(i, *r) for i, t in enumerate(some) for r in t.ranges]
        return cls(list(tallies), np.array(ranges, np.int64).reshape(-1, 3), counts, extremes)

    @classmethod
    def total(cls, parts: Sequence[Columns]) -> Columns:
        """Counters and extremes of all the parts together, whatever their trials; at least one part."""
        places = {key: i for i, key in enumerate(dict.fromkeys(key for part in parts for key in part.keys))}
        at = np.array([places[key] for part in parts for key in part.keys], np.int64)
        counts, extremes = parts[0].counts, parts[0].extremes
        return cls(
            list(places),
            np.empty((0, 3), np.int64),
            {name: _sum_columns([part.counts[name] for part in parts], at, len(places)) for name in counts},
            {name: _find_extremes(np.concatenate([part.extremes[name] for part in parts]), at) for name in extremes},
        )

    @property
    def trials(self) -> Any:
        """Number of trials at each point."""
        out = np.zeros(len(self.keys), np.int64)
        np.add.at(out, self.ranges[:, 0], self.ranges[:, 2] - self.ranges[:, 1])
        return out

    def ranges_of_points(self) -> list[Ranges]:
        """The ranges of each point."""
        point, first, stop = self.ranges.T
        ranges = list(zip(first.tolist(), stop.tolist(), strict=True))
        ends = np.searchsorted(point, np.arange(len(self.keys) + 1)).tolist()
        return [tuple(ranges[a:b]) for a, b in pairwise(ends)]

    def tallies(self) -> dict[Key, Tally]:
        """The tally of each point."""
        counts, extremes = (
            {
                name: list(map(tuple, column.tolist())) if column.ndim > 1 else column.tolist()
                for name, column in of.items()
            }
            for of in (self.counts, self.extremes)
        )
        return {
            key: Tally(ranges, {name: c[i] for name, c in counts.items()}, {name: e[i] for name, e in extremes.items()})
            for i, (key, ranges) in enumerate(zip(self.keys, self.ranges_of_points(), strict=True))
        }


def integer_array(values: Sequence[Any]) -> Any:
    """An array of int64, or of Python's integers where one outgrows 64 bits."""
    try:
        return np.array(values, np.int64)
    except OverflowError:
        return np.array(values, object)


def _sum_columns(columns: Sequence[Any], at: Any, points: int) -> Any:
    """The sum of columns at each point, exactly; ``at`` tells whose each number is, each column's once at most."""
    numbers = np.concatenate(columns)
    most = 2**63 // len(columns)
    if numbers.size and not -most < numbers.min() <= numbers.max() < most:
        numbers = numbers.astype(object)
    out = np.zeros((points, *numbers.shape[1:]), numbers.dtype)
    np.add.at(out, at, numbers)
    return out


def _find_extremes(pairs: Any, at: Any) -> Any:
    """Of values, each with its trial, the largest at each point, with the smallest trial that attains it."""
    order = np.lexsort((-pairs[:, 1], pairs[:, 0], at))
    return pairs[order[np.diff(at[order], append=-1) != 0]]


def range_order(ranges: Any) -> Any:
    """Where ranges, as columns have them, stand in the order of points and trials."""
    return np.lexsort((ranges[:, 1], ranges[:, 0]))


def find_overlaps(ranges: Any) -> Any:
    """Places of the ranges, in order, that share a trial with the next."""
    return np.flatnonzero((ranges[1:, 0] == ranges[:-1, 0]) & (ranges[1:, 1] < ranges[:-1, 2]))


def merge_touching_ranges(ranges: Any) -> Any:
    """Disjoint ranges, in order, with those that touch as one."""
    begins = np.ones(len(ranges), bool)
    begins[1:] = (ranges[1:, :2] != ranges[:-1, ::2]).any(axis=1)
    return np.column_stack([ranges[begins, :2], ranges[np.roll(begins, -1), 2]])


class Identity:
    """The identity of results at some points as JSON with sorted keys and no spaces; all but what is counted is written once.

    Parameters
    ----------
    head : dict
        What the identity holds besides the points.
    axes : sequence of str
    layout : Layout
    keys : sequence
        The points.
    """

    def __init__(self, head: Mapping[str, Any], axes: Sequence[str], layout: Layout, keys: Sequence[Key]) -> None:
        encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
        self._before, _, self._after = encode({**head, "points": []}).partition('"points":[]')
        self._names = sorted(c.name for c in layout.counters), sorted(e.name for e in layout.extremes)
        numbers = {
            "counters": {c.name: [_NUMBER_PLACEHOLDER] * c.bins or _NUMBER_PLACEHOLDER for c in layout.counters},
            "extremes": {e.name: [_NUMBER_PLACEHOLDER] * 2 for e in layout.extremes},
        }
        pattern = encode(numbers).replace("%", "%%").replace(encode(_NUMBER_PLACEHOLDER), "%d")
        self._pattern = pattern[:-1] + ',"point":%s,"ranges":[%s]}'
        order = sorted(range(len(keys)), key=keys.__getitem__)
        self._points = [(i, encode(dict(zip(axes, keys[i], strict=True)))) for i in order]

    def digest(self, columns: Columns) -> str:
        """SHA-256, in hexadecimal, of the identity with what was counted at the points that have trials."""
        counters, extremes = self._names
        parts = [*(columns.counts[name] for name in counters), *(columns.extremes[name] for name in extremes)]
        rows = np.column_stack([np.empty((len(columns.keys), 0), np.int64), *parts])
        total = hashlib.sha256(f'{self._before}"points":['.encode())
        ranges = columns.ranges_of_points()
        counted = [(i, point) for i, point in self._points if ranges[i]]
        for at in range(0, len(counted), _POINTS_PER_CHUNK):
            some = counted[at : at + _POINTS_PER_CHUNK]
            values: list[Any] = []
            for (i, point), numbers in zip(some, rows[[i for i, _ in some]].tolist(), strict=True):
                values += numbers
                values += point, ",".join([f"[{first},{stop}]" for first, stop in ranges[i]])
            text = ",".join([self._pattern] * len(some)) % tuple(values)
            total.update(f"{',' * bool(at)}{text}".encode())
        total.update(f"]{self._after}".encode())
        return total.hexdigest()
