"""The description of a measure as data in a results file, so that the file can be read and merged without the study's code.

``describe_measure`` and ``numbers_of`` produce the data.  ``parse_measure`` turns them back into a :class:`RecordedMeasure`,
whose statistics look up their numbers at a point (unit, bound, scale, whether defined) in the file's table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from ..errors import StudyError, StudyMismatchError, wrap_study_errors
from ..kernels.tally.layout import Counter, Layout, Maximum
from .asymptotic import NormalDifference, NormalMean, Ratio
from .axis import Axis
from .binned import Distribution, Quantile, TailProportion
from .choice import Choice
from .measurement import DISTRIBUTION, Measure
from .statistics import (
    CensoredMean,
    ClassBounds,
    ClassMean,
    ComplementProportion,
    Difference,
    Mean,
    PairedDifference,
    Point,
    Proportion,
    ShiftedMean,
    SplitMean,
    Statistic,
    Value,
)

_PROPORTIONS = (Proportion, ComplementProportion)
_MEANS = (Mean, ShiftedMean, Difference, PairedDifference, CensoredMean, ClassMean, SplitMean)
_ASYMPTOTIC = (NormalMean, NormalDifference, Ratio)
_BINNED = (Distribution, TailProportion, Quantile)

#: The classes of statistics, by their names in results files.
KINDS: dict[str, type[Statistic]] = {kind.__name__: kind for kind in (*_PROPORTIONS, *_MEANS, *_ASYMPTOTIC, *_BINNED)}

#: The numbers of a statistic at a point, in the order of the file's columns.
NUMBERS = ("defined", "unit", "bound", "scale")

#: A class without fault sets has a least value above its largest, and a probability that is 0 except for rounding.
_NEVER_PROBABILITY = 1e-200

#: Further numbers of a ``ClassMean``, for each of its classes, in the columns that follow.
BOUNDS = ("least", "most", "proved")


class UnknownTermError(ValueError):
    """A file describes a statistic by a kind or a field that this version does not know, such as a former name."""


def _statistic_class(entry: Mapping[str, Any]) -> type[Statistic]:
    """Return the class of a statistic, from its entry in a file.  Raises UnknownTermError."""
    kind = KINDS.get(str(entry["kind"]))
    if kind is None:
        raise _unknown_term(entry, f"kind {entry['kind']}")
    if unknown := sorted(entry.keys() - {"kind"} - {f.name for f in fields(kind)}):
        raise _unknown_term(entry, f"field {unknown[0]}")
    return kind


def _unknown_term(entry: Mapping[str, Any], term: str) -> UnknownTermError:
    return UnknownTermError(
        f"describes statistic {entry['name']} by the {term}, which this fastcube does not know; "
        "run its study again: the same seed and trials give the same counters"
    )


def width_of(entry: Mapping[str, Any]) -> int:
    """Return the number of columns of a statistic's numbers, from its entry in a file."""
    kind = _statistic_class(entry)
    classes = len(entry["totals"]) + kind.unlisted if issubclass(kind, ClassMean) else 0
    return len(NUMBERS) + len(BOUNDS) * classes


def width_of_statistic(statistic: Statistic) -> int:
    """Return the number of columns of a statistic's numbers."""
    return width_of(_describe_statistic(statistic))


Key = tuple[Value, ...]

#: The numbers of each statistic at each point.
Table = dict[str, dict[Key, tuple[float, ...]]]


def describe_measure(measure: Measure, keys: Iterable[Key] = ()) -> dict[str, Any]:
    """Return axes, counters, maxima and statistics as data for JSON, without functions.

    An axis of names also gets the names in the points ``keys``, which a later fastcube may have written.
    """
    columns = list(zip(*keys, strict=True)) or [()] * len(measure.axes)
    axes = [
        axis.with_names(used) if isinstance(axis, Choice) else axis
        for axis, used in zip(measure.axes, columns, strict=True)
    ]
    return {
        "axes": [_describe_axis(axis) for axis in axes],
        "counters": [asdict(counter) for counter in measure.tally.counters],
        "maxima": [asdict(maximum) for maximum in measure.tally.maxima],
        "statistics": [_describe_statistic(s) for s in measure.statistics],
    }


def _describe_axis(axis: Axis | Choice) -> dict[str, Any]:
    """Return an axis as data."""
    entry = {**asdict(axis), "kind": axis.kind.__name__}
    del entry["key_name"]  # of the program; no reader needs it
    if not entry.get("swept", True):
        del entry["swept"]  # present only for swept axes
    return entry


def _describe_statistic(s: Statistic) -> dict[str, Any]:
    """Return a statistic as data: its kind and all fields that are not functions."""
    return {"kind": type(s).__name__} | {f.name: v for f in fields(s) if not callable(v := getattr(s, f.name))}


def numbers_of(measure: Measure, keys: Iterable[Key]) -> Table:
    """Return the numbers of each statistic at points; a statistic counts as not defined where the study's code fails."""
    out: Table = {s.name: {} for s in measure.statistics}
    names = [axis.name for axis in measure.axes]
    for key in keys:
        point = dict(zip(names, key, strict=True))
        for s in measure.statistics:
            try:
                with wrap_study_errors(s.name):
                    defined = bool(s.defined(point))
                    given = [float(getattr(s, name)(point)) if hasattr(s, name) else 1.0 for name in NUMBERS[1:]]
                    bounds = s.classes(point) if isinstance(s, ClassMean) else ()
                    row = (float(defined), *given, *(float(value) for class_bounds in bounds for value in class_bounds))
                    out[s.name][key] = check_numbers(row)
            except (StudyError, ValueError):
                out[s.name][key] = (0.0,) * width_of(_describe_statistic(s))
    return out


def check_numbers(row: tuple[float, ...]) -> tuple[float, ...]:
    """Return a statistic's numbers at a point.  Raises ValueError for an impossible unit, bound, scale or class."""
    defined, unit, bound, scale, *classes = row
    flat = iter(classes)
    if defined not in {0.0, 1.0}:
        raise ValueError("a statistic is neither defined nor not")
    if defined and not (
        all(map(math.isfinite, row))
        and (unit > 0 and bound >= 0 and scale > 0)
        and all(
            min(least, most, proved) >= 0 and (least <= most or proved < _NEVER_PROBABILITY)
            for least, most, proved in zip(flat, flat, flat, strict=True)
        )
    ):
        raise ValueError("a unit, bound or scale of a statistic is none")
    return row


def same_numbers(mine: tuple[float, ...], stated: tuple[float, ...]) -> bool:
    """Whether a file and the study here agree on a statistic: defined, unit and scale.  Bounds may differ."""
    return all(math.isclose(mine[i], stated[i], rel_tol=1e-9) for i in (0, *((1, 3) if mine[0] else ())))


@dataclass(frozen=True)
class _AtPoint:
    """A function that looks up one of a statistic's numbers by the point."""

    values: Mapping[Key, tuple[float, ...]] = field(repr=False)
    column: int

    def __call__(self, point: Point) -> float:
        return self.values[tuple(point.values())][self.column]


@dataclass(frozen=True)
class _ClassesAtPoint:
    """A function that looks up the bounds of a ``ClassMean``'s classes by the point."""

    values: Mapping[Key, tuple[float, ...]] = field(repr=False)

    def __call__(self, point: Point) -> tuple[ClassBounds, ...]:
        flat = iter(self.values[tuple(point.values())][len(NUMBERS) :])
        return tuple(map(ClassBounds._make, zip(flat, flat, flat, strict=True)))


@dataclass(frozen=True, kw_only=True, repr=False)
class RecordedMeasure(Measure):
    """A measure as described in a results file.

    Parameters
    ----------
    table : dict
        The statistics' numbers at the file's points.
    unverified : tuple of str
        Statistics that only the file defines: no available study has the same definition.
    """

    table: Table
    unverified: tuple[str, ...] = ()


def parse_measure(
    head: Mapping[str, Any], data: Mapping[str, Any], table: Table, unverified: Iterable[str] = ()
) -> RecordedMeasure:
    """Return the measure described by the data of ``describe_measure`` and ``numbers_of``.

    ``head`` holds name, title, source, revision and code.  Raises KeyError, TypeError, ValueError or ParameterError for data
    that these functions cannot have written.
    """
    layout = Layout(
        *(Counter(**_parse_entry(c, Counter)) for c in data["counters"]),
        *(Maximum(**_parse_entry(e, Maximum)) for e in data["maxima"]),
    )
    statistics = []
    for entry in data["statistics"]:
        kind = _statistic_class(entry)
        given: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in entry.items() if n != "kind"}
        values = table[given["name"]]
        for column, name in enumerate(NUMBERS):
            if name in {f.name for f in fields(kind)}:
                given[name] = _AtPoint(values, column)
        if issubclass(kind, ClassMean):
            given["classes"] = _ClassesAtPoint(values)
        statistics.append(kind(**given))
    axes = tuple(_parse_axis(**entry) for entry in data["axes"])
    return RecordedMeasure(
        axes=axes, tally=layout, statistics=tuple(statistics), table=table, unverified=tuple(unverified), **head
    )


def _parse_axis(kind: str, **entry: Any) -> Axis | Choice:
    return Choice(**entry) if kind == "str" else Axis(kind={"int": int, "float": float}[kind], **entry)


def _parse_entry(entry: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """Return the entry of a dataclass of texts and integers.  Raises TypeError for a value of another type."""
    for name, value in entry.items():
        if type(value) not in (str, int):
            raise TypeError(f"{name} of a {kind.__name__.lower()} is {type(value).__name__}")
    return dict(entry)


def check_same(mine: Measure, theirs: Measure, my_name: str, their_name: str) -> None:
    """Raise StudyMismatchError unless both measures count the same trials in the same way."""
    if mine.name != theirs.name:
        raise StudyMismatchError(f"{their_name} has study {theirs.name}, {my_name} has study {mine.name}")
    if mine.revision != theirs.revision:
        raise StudyMismatchError(f"{their_name} has revision {theirs.revision}, {my_name} has revision {mine.revision}")
    changed = sorted(f for f in mine.code.keys() | theirs.code.keys() if mine.code.get(f) != theirs.code.get(f))
    if any(name.startswith(DISTRIBUTION) for name in changed):
        raise StudyMismatchError(
            f"{their_name} has {mine.name} of {_package_text(theirs)}, {my_name} has that of {_package_text(mine)}"
        )
    if changed:
        raise StudyMismatchError(
            f"{their_name} has other code of {mine.name} than {my_name}: {', '.join(changed)} changed"
        )
    if (mine.axes, mine.tally) != (theirs.axes, theirs.tally):
        what = "axes" if mine.axes != theirs.axes else "counters"
        raise StudyMismatchError(f"{their_name} has other {what} of {mine.name} than {my_name}")


def _package_text(measure: Measure) -> str:
    """Return the package of an installed study, with its version if that is part of the study's identity."""
    name = measure.distribution
    return f"{name} {measure.code[DISTRIBUTION + name]}" if name else ", ".join(measure.code) or "fastcube"


def join_measures(measures: Iterable[Measure]) -> Measure:
    """Return one measure for the results of several equal measures: the first, with the numbers at all points."""
    first, *others = measures
    if not isinstance(first, RecordedMeasure):
        return first
    table: Table = {name: dict(values) for name, values in first.table.items()}
    for other in others:
        if isinstance(other, RecordedMeasure):
            for name, values in other.table.items():
                table.setdefault(name, {}).update(values)
    head = {name: getattr(first, name) for name in ("name", "title", "source", "revision", "code")}
    keys = {key for values in table.values() for key in values}
    return parse_measure(head, describe_measure(first, keys), table, first.unverified)
