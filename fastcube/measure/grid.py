"""Points from what a user writes: ``n=5:12``, ``f=1,2,4``, Python values, or a grid of the study."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from ..errors import ParameterError, command_line_text, is_many
from .study import Axis, Choice, Study, Value, product_grid

#: Most points of a run, and of a results file: all numbers of faults in Q_16.
MOST_POINTS = 2**16 + 1


def parse_number(name: str, given: object, what: str = "a number") -> float:
    """A number of any type, or as text; NaN is none.  Raises ParameterError."""
    if not isinstance(given, (bool, np.bool_, bytes, bytearray)):
        with contextlib.suppress(Exception):  # of another type, or an object of the user's
            number = float(given)  # type: ignore[arg-type]
            if not math.isnan(number):
                return number
    raise ParameterError(f"{name} must be {what}, got {command_line_text(given)}")


def parse_probability(name: str, given: object) -> float:
    """As :func:`parse_number`; as text also a percentage such as ``1%``.  Raises ParameterError."""
    what = "a number or a percentage"
    if isinstance(given, str) and given.endswith("%"):
        with contextlib.suppress(ParameterError):
            return parse_number(name, given[:-1], what) / 100
    return parse_number(name, given, what)


def parse_values(axis: Axis, text: str) -> list[Value]:
    """Values of an axis: one, a comma list, or inclusive ranges ``lo:hi[:step]``.  Raises ParameterError.

    Ranges are computed in decimal, so ``0:0.5:0.05`` ends with 0.5 and holds 0.15, not 0.15000000000000002.
    """
    values: list[Value] = []
    for part in text.split(","):
        try:
            bounds = [Decimal(piece.strip()) for piece in part.split(":")]
        except InvalidOperation:
            bounds = []
        if len(bounds) == 1:
            values.append(axis.check(bounds[0]))
            continue
        if not 2 <= len(bounds) <= 3 or not all(b.is_finite() for b in bounds):
            raise ParameterError(
                f"{axis.name} must be a value, a list a,b,c or a range lo:hi[:step], got {command_line_text(text)}"
            )
        low, high, step = (*bounds, Decimal(1)) if len(bounds) == 2 else bounds
        if step <= 0 or high < low or (high - low) / step >= MOST_POINTS:
            raise ParameterError(
                f"{axis.name} range must be lo:hi[:step] with lo <= hi, step > 0 and at most {MOST_POINTS} values, "
                f"got {command_line_text(part)}"
            )
        count = int((high - low) / step) + 1
        values.extend(axis.check(low + i * step) for i in range(count))
    return list(dict.fromkeys(values))


def collect_values(axis: Axis | Choice, given: Any) -> list[Value]:
    """Values of an axis as a caller writes them: one, an iterable, or text; each once.  Raises ParameterError."""
    if isinstance(given, str):
        if isinstance(axis, Choice):
            return list(dict.fromkeys(axis.check(part.strip()) for part in given.split(",")))
        return parse_values(axis, given)
    items = list(itertools.islice(given, MOST_POINTS + 1)) if is_many(given) else [given]  # there may be no end of them
    if len(items) > MOST_POINTS:
        raise ParameterError(f"{axis.name} takes at most {MOST_POINTS} values, got more")
    return list(dict.fromkeys(axis.check(value) for value in items))


def longest_axis(points: Iterable[Mapping[str, Value]], *axes: str) -> str:
    """Of these axes the one of which points have most values, the first of as many."""
    some = list(points)
    return max(axes, key=lambda axis: len({point[axis] for point in some}))


def values_text(values: Iterable[Value], most: int = 12) -> str:
    """Some values of an axis in words: ``5..12`` where they follow each other, ``1, 2, 4``, ``3..40 (21 values)``."""
    some = sorted(values)
    if some and isinstance(some[0], str):
        return ", ".join(map(str, some))
    if len(some) > 2 and some == list(range(int(some[0]), int(some[0]) + len(some))) and isinstance(some[0], int):
        return f"{some[0]}..{some[-1]}"
    if len(some) > most:
        return f"{some[0]}..{some[-1]} ({len(some)} values)"
    return ", ".join(map(str, some))


def build_points(study: Study, given: Mapping[str, Any], grid_name: str | None = None) -> list[dict[str, Value]]:
    """Points of a run: the grid of that name, the first by default, changed where axes are given.

    With every axis given, their product; an impossible combination is an error.  With some given, each of their
    combinations takes the grid's points that have it, or else the grid's values of the other axes as far as they are
    possible there.  Raises ParameterError.
    """
    grid = study.grid(grid_name).points
    axes = {axis.name: axis for axis in study.axes}
    for name in given:
        study.axis(name)
    values = {axis: collect_values(axes[axis], given[axis]) for axis in axes if axis in given}
    _check_point_count(study, values, grid)
    if not values:
        return [study.point(point) for point in grid]
    free = [axis for axis in axes if axis not in values]
    if not free:
        return [study.point(point) for point in product_grid(**values)]
    defaults = {axis: list(dict.fromkeys(point[axis] for point in grid)) for axis in free}
    points: list[dict[str, Value]] = []
    refused: list[str] = []
    for fixed in product_grid(**values):
        held = [p for p in grid if all(p[axis] == value for axis, value in fixed.items())]
        points.extend(_filter_points(study, held or [{**fixed, **rest} for rest in product_grid(**defaults)], refused))
    if not points:
        some = ",".join(f"{axis}={value}" for axis, value in given.items())
        why = f": {refused[0]}" if len(set(refused)) == 1 else ""
        raise ParameterError(
            f"no point of the grid of {study.name} is possible with {some}{why}; set {', '.join(free)} too"
        )
    return points


def _check_point_count(study: Study, values: Mapping[str, list[Value]], grid: Sequence[Mapping[str, Value]]) -> None:
    """Raise ParameterError before more points are made than a run takes."""
    number = math.prod(len(of_axis) for of_axis in values.values())
    for axis in study.axes:
        if values and axis.name not in values:
            number *= len({point[axis.name] for point in grid})
    if number > MOST_POINTS:
        raise ParameterError(f"a run takes at most {MOST_POINTS} points, got {number} of {study.name}")


def _filter_points(study: Study, points: Iterable[Mapping[str, Value]], refused: list[str]) -> list[dict[str, Value]]:
    """The points that can be; why the others cannot is added to ``refused``."""
    out = []
    for point in points:
        try:
            out.append(study.point(point))
        except ParameterError as error:
            refused.append(str(error))
    return out
