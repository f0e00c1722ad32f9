"""Counts as columns, one per counter, as files store them, as the digest hashes them, and as many files are added.

NumPy processes a whole column at once, while a point's tally consists of Python integers, so reading takes a third of the time.
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

#: Number of points whose identity is written as text at a time: the text of 100,000 points has 100 MB.
_POINTS_PER_CHUNK = 256

#: Key of the maxima in the identity.  Another word would change the digests of all results.
MAXIMA = "extremes"

#: Placeholder of a number in the pattern of a point's identity.  No name contains it, because names are printable.
_NUMBER_PLACEHOLDER = "\0"


@dataclass(frozen=True)
class Columns:
    """Ranges of trials, counters and maxima of some points.

    Attributes
    ----------
    keys : sequence
        The points.
    ranges : array
        int64, shape (ranges, 3): index of the point, first trial, one more than the last trial; in this order, and fused.
    counts : dict of str to array
        int64, with bins in a second dimension; of Python integers if a counter exceeds 64 bits.
    maxima : dict of str to array
        Value and trial: int64, shape (points, 2).
    """

    keys: Sequence[Key]
    ranges: Any
    counts: Mapping[str, Any]
    maxima: Mapping[str, Any]

    @classmethod
    def of(cls, layout: Layout, tallies: Mapping[Key, Tally]) -> Columns:
        """Return the tallies of some points as columns, in their order."""
        rows = tallies.values()
        counts = {
            c.name: integer_array([t.counts[c.name] for t in rows]).reshape(len(rows), *[c.bins] * bool(c.bins))
            for c in layout.counters
        }
        maxima = {e.name: np.array([t.maxima[e.name] for t in rows], np.int64).reshape(-1, 2) for e in layout.maxima}
        ranges = [(i, *r) for i, t in enumerate(rows) for r in t.ranges]
        return cls(list(tallies), np.array(ranges, np.int64).reshape(-1, 3), counts, maxima)

    @classmethod
    def total(cls, parts: Sequence[Columns]) -> Columns:
        """Return counters and maxima of all parts together, without their trials; at least one part."""
        index = {key: i for i, key in enumerate(dict.fromkeys(key for part in parts for key in part.keys))}
        point = np.array([index[key] for part in parts for key in part.keys], np.int64)
        counts, maxima = parts[0].counts, parts[0].maxima
        return cls(
            list(index),
            np.empty((0, 3), np.int64),
            {name: _sum_columns([part.counts[name] for part in parts], point, len(index)) for name in counts},
            {name: _find_maxima(np.concatenate([part.maxima[name] for part in parts]), point) for name in maxima},
        )

    @property
    def trials(self) -> Any:
        """Number of trials at each point."""
        out = np.zeros(len(self.keys), np.int64)
        np.add.at(out, self.ranges[:, 0], self.ranges[:, 2] - self.ranges[:, 1])
        return out

    def ranges_of_points(self) -> list[Ranges]:
        """Return the ranges of each point."""
        point, first, stop = self.ranges.T
        ranges = list(zip(first.tolist(), stop.tolist(), strict=True))
        ends = np.searchsorted(point, np.arange(len(self.keys) + 1)).tolist()
        return [tuple(ranges[a:b]) for a, b in pairwise(ends)]

    def tallies(self) -> dict[Key, Tally]:
        """Return the tally of each point."""
        counts, maxima = _list_rows(self.counts), _list_rows(self.maxima)
        return {
            key: Tally(ranges, {name: c[i] for name, c in counts.items()}, {name: e[i] for name, e in maxima.items()})
            for i, (key, ranges) in enumerate(zip(self.keys, self.ranges_of_points(), strict=True))
        }


def _list_rows(columns: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return each column as a list with a number, or a tuple of numbers, per point."""
    return {
        name: list(map(tuple, column.tolist())) if column.ndim > 1 else column.tolist()
        for name, column in columns.items()
    }


def integer_array(values: Sequence[Any]) -> Any:
    """Return an int64 array, or an array of Python integers if one exceeds 64 bits."""
    try:
        return np.array(values, np.int64)
    except OverflowError:
        return np.array(values, object)


def _sum_columns(columns: Sequence[Any], point: Any, points: int) -> Any:
    """Return the exact sums of columns by point; ``point`` is that of each number, each at most once per column."""
    numbers = np.concatenate(columns)
    most = 2**63 // len(columns)  # one smaller number per column has a sum of 64 bits
    if numbers.size and not -most < numbers.min() <= numbers.max() < most:
        numbers = numbers.astype(object)
    out = np.zeros((points, *numbers.shape[1:]), numbers.dtype)
    np.add.at(out, point, numbers)
    return out


def _find_maxima(pairs: Any, point: Any) -> Any:
    """Return for each point the largest of its values with the smallest trial that attains it."""
    order = np.lexsort((-pairs[:, 1], pairs[:, 0], point))
    return pairs[order[np.diff(point[order], append=-1) != 0]]  # the last pair of each point


def range_order(ranges: Any) -> Any:
    """Return the indices that sort ranges by point and trial."""
    return np.lexsort((ranges[:, 1], ranges[:, 0]))


def find_overlaps(ranges: Any) -> Any:
    """Return the indices of those sorted ranges that share a trial with the next range."""
    return np.flatnonzero((ranges[1:, 0] == ranges[:-1, 0]) & (ranges[1:, 1] < ranges[:-1, 2]))


def merge_touching_ranges(ranges: Any) -> Any:
    """Return sorted disjoint ranges with adjacent ranges joined."""
    begins = np.ones(len(ranges), bool)
    begins[1:] = (ranges[1:, :2] != ranges[:-1, ::2]).any(axis=1)
    return np.column_stack([ranges[begins, :2], ranges[np.roll(begins, -1), 2]])


class Identity:
    """The identity of results at some points, as JSON with sorted keys and no spaces, of which ``digest`` returns the hash.

    All that follows from the study and the points is encoded once.  Each call adds the ranges, counts and maxima.

    Parameters
    ----------
    head : dict
        The identity without the points.
    axes : sequence of str
    layout : Layout
    keys : sequence
        The points, in any order.  The columns that ``digest`` gets must have the same points in the same order.
    """

    def __init__(self, head: Mapping[str, Any], axes: Sequence[str], layout: Layout, keys: Sequence[Key]) -> None:
        encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
        self._before, _, self._after = encode({**head, "points": []}).partition('"points":[]')
        self._names = sorted(c.name for c in layout.counters), sorted(e.name for e in layout.maxima)
        numbers = {
            "counters": {c.name: [_NUMBER_PLACEHOLDER] * c.bins or _NUMBER_PLACEHOLDER for c in layout.counters},
            MAXIMA: {e.name: [_NUMBER_PLACEHOLDER] * 2 for e in layout.maxima},
        }
        # JSON sorts the names, and "counters" < MAXIMA < "point" < "ranges", so point and ranges are appended last.
        pattern = encode(numbers).replace("%", "%%").replace(encode(_NUMBER_PLACEHOLDER), "%d")
        self._pattern = pattern[:-1] + ',"point":%s,"ranges":[%s]}'
        order = sorted(range(len(keys)), key=keys.__getitem__)
        self._points = [(i, encode(dict(zip(axes, keys[i], strict=True)))) for i in order]

    def digest(self, columns: Columns) -> str:
        """Return the SHA-256, in hexadecimal, of the identity at those points that have trials."""
        counters, maxima = self._names
        parts = [*(columns.counts[name] for name in counters), *(columns.maxima[name] for name in maxima)]
        rows = np.column_stack([np.empty((len(columns.keys), 0), np.int64), *parts])
        total = hashlib.sha256(f'{self._before}"points":['.encode())
        ranges = columns.ranges_of_points()
        counted = [(i, point) for i, point in self._points if ranges[i]]
        for begin in range(0, len(counted), _POINTS_PER_CHUNK):
            chunk = counted[begin : begin + _POINTS_PER_CHUNK]
            values: list[Any] = []
            for (i, point), numbers in zip(chunk, rows[[i for i, _ in chunk]].tolist(), strict=True):
                values += numbers
                values += point, ",".join([f"[{first},{stop}]" for first, stop in ranges[i]])
            text = ",".join([self._pattern] * len(chunk)) % tuple(values)
            total.update(f"{',' * bool(begin)}{text}".encode())
        total.update(f"]{self._after}".encode())
        return total.hexdigest()
