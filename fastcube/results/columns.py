"""What was counted as columns, one a counter: as files hold it, as the digest puts it into words, and as many files are added.

NumPy takes a column at once, where a point's tally is Python's integers one by one: a third of the time of reading a shard.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernels.tally.layout import Layout
from ..measure.schema import Key
from ..measure.tally import Ranges, Tally

#: Points whose identity is put into words at once: the words of 100,000 are 100 MB.
_TOGETHER = 256

#: Stands for a number in the pattern of a point's identity; in no name, since those are printable.
_SLOT = "\0"


@dataclass(frozen=True)
class Columns:
    """Ranges of trials, counters and extremes of some points.

    Attributes
    ----------
    keys : sequence
        The points.
    ranges : sequence
        Of each point, fused.
    counts : dict of str to array
        Of int64, with bins in a second dimension; of Python's integers where one outgrows 64 bits.
    extremes : dict of str to array
        Value and trial: int64, of shape (points, 2).
    """

    keys: Sequence[Key]
    ranges: Sequence[Ranges]
    counts: Mapping[str, Any]
    extremes: Mapping[str, Any]

    @classmethod
    def of(cls, layout: Layout, tallies: Mapping[Key, Tally]) -> Columns:
        """The tallies of some points, in their order."""
        some = tallies.values()
        counts = {
            c.name: whole_numbers([t.counts[c.name] for t in some]).reshape(len(some), *[c.bins] * bool(c.bins))
            for c in layout.counters
        }
        extremes = {
            e.name: np.array([t.extremes[e.name] for t in some], np.int64).reshape(-1, 2) for e in layout.extremes
        }
        return cls(list(tallies), [t.ranges for t in some], counts, extremes)

    @classmethod
    def total(cls, parts: Sequence[Columns]) -> Columns:
        """Counters and extremes of the same points in all the parts together, whatever their trials; at least one part."""
        one = parts[0]
        counts = {name: _sum([part.counts[name] for part in parts]) for name in one.counts}
        extremes = {name: _largest(np.stack([part.extremes[name] for part in parts])) for name in one.extremes}
        return cls(one.keys, [()] * len(one.keys), counts, extremes)

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
            for i, (key, ranges) in enumerate(zip(self.keys, self.ranges, strict=True))
        }


def whole_numbers(values: Sequence[Any]) -> Any:
    """An array of int64, or of Python's integers where one outgrows 64 bits."""
    try:
        return np.array(values, np.int64)
    except OverflowError:
        return np.array(values, object)


def _sum(columns: Sequence[Any]) -> Any:
    """The sum of columns, exactly."""
    stack = np.stack(columns)
    most = 2**63 // len(columns)
    if stack.dtype == object or (stack.size and not -most < stack.min() <= stack.max() < most):
        return stack.astype(object).sum(axis=0)
    return stack.sum(axis=0)


def _largest(pairs: Any) -> Any:
    """Of many files' values, each with its trial, the largest at each point, with the smallest trial that attains it."""
    last = np.lexsort((-pairs[..., 1], pairs[..., 0]), axis=0)[-1]
    return np.take_along_axis(pairs, last[None, :, None], axis=0)[0]


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
            "counters": {c.name: [_SLOT] * c.bins or _SLOT for c in layout.counters},
            "extremes": {e.name: [_SLOT] * 2 for e in layout.extremes},
        }
        pattern = encode(numbers).replace("%", "%%").replace(encode(_SLOT), "%d")
        self._pattern = pattern[:-1] + ',"point":%s,"ranges":[%s]}'
        order = sorted(range(len(keys)), key=keys.__getitem__)
        self._points = [(i, encode(dict(zip(axes, keys[i], strict=True)))) for i in order]

    def digest(self, columns: Columns) -> str:
        """SHA-256, in hexadecimal, of the identity with what was counted at the points that have trials."""
        counters, extremes = self._names
        parts = [*(columns.counts[name] for name in counters), *(columns.extremes[name] for name in extremes)]
        rows = np.column_stack([np.empty((len(columns.keys), 0), np.int64), *parts])
        total = hashlib.sha256(f'{self._before}"points":['.encode())
        counted = [(i, point) for i, point in self._points if columns.ranges[i]]
        for at in range(0, len(counted), _TOGETHER):
            some = counted[at : at + _TOGETHER]
            values: list[Any] = []
            for (i, point), numbers in zip(some, rows[[i for i, _ in some]].tolist(), strict=True):
                values += numbers
                values += point, ",".join([f"[{first},{stop}]" for first, stop in columns.ranges[i]])
            text = ",".join([self._pattern] * len(some)) % tuple(values)
            total.update(f"{',' * bool(at)}{text}".encode())
        total.update(f"]{self._after}".encode())
        return total.hexdigest()
