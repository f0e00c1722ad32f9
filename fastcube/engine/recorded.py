"""A measure as data: what a results file states of its study, so that it is read and merged where the study is not.

:func:`describe` and :func:`numbers_of` are written; :func:`recorded` makes a :class:`Recorded` of them again, whose
statistics read their numbers at a point (unit, bound, scale, whether they are defined) from the file's table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from ..errors import ParameterError, StudyError, StudyMismatchError, of_study
from ..kernels.layout import Counter, Extreme, Layout
from .statistics import (
    Bounds,
    CensoredMean,
    ClassMean,
    Difference,
    Distribution,
    Mean,
    PlainMean,
    Point,
    Proportion,
    Ratio,
    SplitMean,
    Statistic,
    Value,
)
from .study import Axis, Explanation, Measure, Study

#: The kinds of statistics, by the name that stands in a file.
KINDS: dict[str, type[Statistic]] = {
    kind.__name__: kind
    for kind in (Proportion, Mean, Difference, CensoredMean, ClassMean, SplitMean, PlainMean, Ratio, Distribution)
}

#: What a statistic gives at a point, in the order of the file's columns.
NUMBERS = ("defined", "unit", "bound", "scale")

#: What a :class:`ClassMean` gives for each of its classes besides, in the columns behind those.
BOUNDS = ("least", "most", "proved")


def _kind(entry: Mapping[str, Any]) -> type[Statistic]:
    """The kind of a statistic, from its entry in a file.  Raises ValueError for one that is not known here."""
    kind = KINDS.get(str(entry["kind"]))
    if kind is None:
        raise ValueError(f"statistic {entry['name']} is of the kind {entry['kind']}, which this fastcube does not know")
    return kind


def width_of(entry: Mapping[str, Any]) -> int:
    """Columns of a statistic's numbers, from its entry in a file."""
    kind = _kind(entry)
    classes = len(entry["totals"]) + kind.unlisted if issubclass(kind, ClassMean) else 0
    return len(NUMBERS) + len(BOUNDS) * classes


Key = tuple[Value, ...]

#: Numbers of each statistic at each point.
Table = dict[str, dict[Key, tuple[float, ...]]]


def describe(measure: Measure) -> dict[str, Any]:
    """Axes, counters, extremes and statistics, as data for JSON; without functions."""
    return {
        "axes": [{**asdict(axis), "kind": axis.kind.__name__} for axis in measure.axes],
        "counters": [asdict(counter) for counter in measure.tally.counters],
        "extremes": [asdict(extreme) for extreme in measure.tally.extremes],
        "statistics": [_entry(s) for s in measure.statistics],
    }


def _entry(s: Statistic) -> dict[str, Any]:
    return {"kind": type(s).__name__} | {f.name: v for f in fields(s) if not callable(v := getattr(s, f.name))}


def numbers_of(measure: Measure, keys: Iterable[Key]) -> Table:
    """Numbers of each statistic at points given by their values; NaN where the study's own code fails."""
    out: Table = {s.name: {} for s in measure.statistics}
    names = [axis.name for axis in measure.axes]
    for key in keys:
        point = dict(zip(names, key, strict=True))
        for s in measure.statistics:
            try:
                with of_study(s.name):
                    defined = bool(s.defined(point))
                    given = [float(getattr(s, name)(point)) if hasattr(s, name) else 1.0 for name in NUMBERS[1:]]
                    bounds = s.classes(point) if isinstance(s, ClassMean) else ()
                    out[s.name][key] = (float(defined), *given, *(float(v) for row in bounds for v in row))
            except StudyError:
                out[s.name][key] = (0.0,) * width_of(_entry(s))
    return out


@dataclass(frozen=True)
class _AtPoint:
    """One of a statistic's numbers, looked up by the point."""

    values: Mapping[Key, tuple[float, ...]] = field(repr=False)
    column: int

    def __call__(self, point: Point) -> float:
        return self.values[tuple(point.values())][self.column]


@dataclass(frozen=True)
class _ClassesAtPoint:
    """The bounds of a :class:`ClassMean`'s classes, looked up by the point."""

    values: Mapping[Key, tuple[float, ...]] = field(repr=False)

    def __call__(self, point: Point) -> tuple[Bounds, ...]:
        flat = iter(self.values[tuple(point.values())][len(NUMBERS) :])
        return tuple(zip(flat, flat, flat, strict=True))


@dataclass(frozen=True, kw_only=True)
class Recorded(Measure):
    """A measure as a file states it.

    Parameters
    ----------
    table : dict
        The statistics' numbers at the file's points.
    """

    table: Table = field(repr=False)

    def study(self, path: str | None = None) -> Study:
        """The study itself: installed, or in the file that the caller names.

        Raises ParameterError when there is none here, StudyMismatchError when it counts otherwise.
        """
        from . import registry

        if path is None and self.code and not registry.is_live(self.name):
            raise ParameterError(
                f"{self.name} is a study of {', '.join(self.code)}: name its file with --study FILE.py"
            )
        study = registry.find(self.name, path)
        check_same(self, study, "these results", "the study here")
        return study

    def explain(self, point: Point, key: int, trial: int) -> Explanation:
        """As the installed study's own."""
        return self.study().explain(point, key, trial)


def recorded(head: Mapping[str, Any], data: Mapping[str, Any], table: Table) -> Recorded:
    """The measure that :func:`describe` and :func:`numbers_of` wrote down; ``head`` holds name, title, source, revision, code.

    Raises KeyError, TypeError, ValueError or ParameterError for data that they cannot have written.
    """
    kinds: dict[str, type[int] | type[float]] = {"int": int, "float": float}
    layout = Layout(
        *(Counter(**_typed(c, Counter)) for c in data["counters"]),
        *(Extreme(**_typed(e, Extreme)) for e in data["extremes"]),
    )
    statistics = []
    for entry in data["statistics"]:
        kind = _kind(entry)
        given: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in entry.items() if n != "kind"}
        values = table[given["name"]]
        for column, name in enumerate(NUMBERS):
            if name in {f.name for f in fields(kind)}:
                given[name] = _AtPoint(values, column)
        if issubclass(kind, ClassMean):
            given["classes"] = _ClassesAtPoint(values)
        statistics.append(kind(**given))
    axes = tuple(Axis(**{**axis, "kind": kinds[axis["kind"]]}) for axis in data["axes"])
    return Recorded(axes=axes, tally=layout, statistics=tuple(statistics), table=table, **head)


def _typed(entry: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """The entry of a dataclass of texts and whole numbers.  Raises TypeError for any other value."""
    for name, value in entry.items():
        if type(value) not in (str, int):
            raise TypeError(f"{name} of a {kind.__name__.lower()} is {type(value).__name__}")
    return dict(entry)


def check_same(mine: Measure, theirs: Measure, my_name: str, their_name: str) -> None:
    """Raise StudyMismatchError unless both count the same trials in the same way."""
    if mine.name != theirs.name:
        raise StudyMismatchError(f"{their_name} has study {theirs.name}, {my_name} has study {mine.name}")
    if mine.revision != theirs.revision:
        raise StudyMismatchError(f"{their_name} has revision {theirs.revision}, {my_name} has revision {mine.revision}")
    changed = sorted(f for f in mine.code.keys() | theirs.code.keys() if mine.code.get(f) != theirs.code.get(f))
    if changed:
        raise StudyMismatchError(
            f"{their_name} has other code of {mine.name} than {my_name}: {', '.join(changed)} changed"
        )
    if (mine.axes, mine.tally) != (theirs.axes, theirs.tally):
        what = "axes" if mine.axes != theirs.axes else "counters"
        raise StudyMismatchError(f"{their_name} has other {what} of {mine.name} than {my_name}")


def joined(measures: Iterable[Measure]) -> Measure:
    """One measure for results of several: as the first, with the numbers at all points.  Each was checked to be the same."""
    first, *others = measures
    if not isinstance(first, Recorded):
        return first
    table: Table = {name: dict(values) for name, values in first.table.items()}
    for other in others:
        if isinstance(other, Recorded):
            for name, values in other.table.items():
                table.setdefault(name, {}).update(values)
    head = {name: getattr(first, name) for name in ("name", "title", "source", "revision", "code")}
    return recorded(head, describe(first), table)
