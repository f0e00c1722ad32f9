"""Build points from user input: ``n=5:12``, ``f=1,2,4``, Python values, or a grid of the study."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation, Overflow
from typing import Any

import numpy as np

from ..errors import ParameterError, command_line_text, is_many
from .study import Axis, Choice, Study, Value, product_grid

#: Most points of a run and of a results file: all numbers of faults in Q_16.
MOST_POINTS = 2**16 + 1

#: Largest number of points that are tried, of the product of some axes, until one is possible.
_MOST_TRIED = 4096


def parse_number(name: str, given: object, what: str = "a number") -> float:
    """Return a number of any type, or given as text, as float.  Raises ParameterError, also for NaN."""
    if not isinstance(given, (bool, np.bool_, bytes, bytearray)):
        with contextlib.suppress(Exception):  # an object of the user's may raise anything
            number = float(given)  # type: ignore[arg-type]
            if not math.isnan(number):
                return number
    raise ParameterError(f"{name} must be {what}, got {command_line_text(given)}")


def parse_probability(name: str, given: object) -> float:
    """Return a number as ``parse_number`` does; text may also be a percentage such as ``1%``."""
    what = "a number or a percentage"
    if isinstance(given, str) and given.endswith("%"):
        with contextlib.suppress(ParameterError):
            return parse_number(name, given[:-1], what) / 100
    return parse_number(name, given, what)


def _parse_decimal(axis: Axis, text: str) -> Decimal:
    """Return a number, or for an axis of floats a percentage, as a Decimal.  Raises InvalidOperation."""
    if axis.kind is float and text.endswith("%"):
        return Decimal(text[:-1].strip()) / 100
    return Decimal(text)


def _has_few_steps(low: Decimal, high: Decimal, step: Decimal) -> bool:
    """Whether a range has at most MOST_POINTS values; one with numbers too large to divide has not."""
    try:
        return (high - low) / step < MOST_POINTS
    except Overflow:
        return False


def parse_values(axis: Axis, text: str) -> list[Value]:
    """Return the values of an axis from text: a value, a comma list, or inclusive ranges ``lo:hi[:step]``.

    A number of an axis of floats may be a percentage such as ``2%``.

    Ranges are computed in decimal, so ``0:0.5:0.05`` ends with 0.5 and contains 0.15, not 0.15000000000000002.
    """
    values: list[Value] = []
    for part in text.split(","):
        try:
            bounds = [_parse_decimal(axis, piece.strip()) for piece in part.split(":")]
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
        if step <= 0 or high < low or not _has_few_steps(low, high, step):
            raise ParameterError(
                f"{axis.name} range must be lo:hi[:step] with lo <= hi, step > 0 and at most {MOST_POINTS} values, "
                f"got {command_line_text(part)}"
            )
        count = int((high - low) / step) + 1
        values.extend(axis.check(low + i * step) for i in range(count))
    return list(dict.fromkeys(values))


def collect_values(axis: Axis | Choice, given: Any) -> list[Value]:
    """Return the values of an axis, each once, from a single value, an iterable or text.  Raises ParameterError."""
    if isinstance(given, str):
        if isinstance(axis, Choice):
            return list(dict.fromkeys(axis.check(part.strip()) for part in given.split(",")))
        return parse_values(axis, given)
    items = list(itertools.islice(given, MOST_POINTS + 1)) if is_many(given) else [given]  # stops infinite iterables
    if len(items) > MOST_POINTS:
        raise ParameterError(f"{axis.name} takes at most {MOST_POINTS} values, got more")
    return list(dict.fromkeys(axis.check(value) for value in items))


#: Relative difference up to which two values of an axis are taken for one value with two roundings.
_ROUNDING = 1e-12


def find_near_values(axes: Sequence[Axis | Choice], keys: Iterable[Sequence[Any]]) -> list[str]:
    """Return a line for each two values of an axis that differ by rounding only, in points with these values of the axes."""
    columns = list(zip(*keys, strict=True)) or [()] * len(axes)
    return [
        f"{axis.name} has the values {low!r} and {high!r}, which differ by rounding only and are two points: use one of them"
        for axis, column in zip(axes, columns, strict=True)
        if axis.kind is float
        for low, high in itertools.pairwise(sorted(set(column)))
        if high - low <= _ROUNDING * max(abs(low), abs(high))
    ]


def longest_axis(points: Iterable[Mapping[str, Value]], *axes: str) -> str:
    """Return the axis on which the points have most different values; the first one of a tie."""
    all_points = list(points)
    return max(axes, key=lambda axis: len({point[axis] for point in all_points}))


def values_text(values: Iterable[Value], most: int = 12) -> str:
    """Return values of an axis as short text: ``5..12`` for consecutive integers, ``1, 2, 4``, ``3..40 (21 values)``."""
    items = sorted(values)
    if items and isinstance(items[0], str):
        return ", ".join(map(str, items))
    if len(items) > 2 and items == list(range(int(items[0]), int(items[0]) + len(items))) and isinstance(items[0], int):
        return f"{items[0]}..{items[-1]}"
    if len(items) > most:
        return f"{items[0]}..{items[-1]} ({len(items)} values)"
    return ", ".join(map(str, items))


def build_points(study: Study, given: Mapping[str, Any], grid_name: str | None = None) -> list[dict[str, Value]]:
    """Return the points of a run: a grid of the study (by default the first), changed by the given axes.

    If all axes are given, the points are the product of their values, and an impossible combination is an error.  If some are
    given, each combination of their values takes the grid's points with these values.  If there are none, it takes all
    possible combinations with the grid's values of the other axes.  Raises ParameterError.
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
    reasons: list[list[str]] = []  # for each combination, why its points are impossible
    for fixed in product_grid(**values):
        on_grid = [p for p in grid if all(p[axis] == value for axis, value in fixed.items())]
        candidates = on_grid or [{**fixed, **rest} for rest in product_grid(**defaults)]
        reasons.append([])
        points.extend(_filter_points(study, candidates, reasons[-1]))
    if not points:
        explained = _explain_refusal(study, given, values, defaults, reasons)
        stated = ",".join(f"{axis}={value}" for axis, value in given.items())
        raise ParameterError(f"no point of the grid of {study.name} is possible with {stated}{explained}")
    return points


def _explain_refusal(
    study: Study,
    given: Mapping[str, Any],
    values: Mapping[str, list[Value]],
    defaults: Mapping[str, list[Value]],
    reasons: Sequence[list[str]],
) -> str:
    """Return the end of the error of ``build_points``: up to three reasons, and the axes that a user should set too."""
    further: list[str] = []
    needed = _find_axes_to_set(study, values, defaults, further)
    shown = list(dict.fromkeys(text for texts in reasons for text in texts))
    if not needed:  # per combination, prefer the first reason about a given axis
        shown = []
        for texts in reasons:
            about_given = (text for text in (*texts, *further[::-1]) if text.split()[0] in given)
            shown.append(next(about_given, texts[0]))
        shown = list(dict.fromkeys(shown))
    because = f": {'; '.join(shown[:3])}" if len(shown) == 1 or (shown and not needed) else ""
    return because + (f"; set {', '.join(needed)} too" if needed else "")


def _find_axes_to_set(
    study: Study, values: Mapping[str, list[Value]], defaults: Mapping[str, list[Value]], refused: list[str]
) -> tuple[str, ...]:
    """Return the fewest other axes that need values outside the grid for the given values to be possible; none if none help.

    The reasons why the tried points are impossible are appended to ``refused``.
    """
    for count in range(1, len(defaults) + 1):
        for chosen in itertools.combinations(defaults, count):
            tried = {**defaults, **{axis: _sample_axis(study.axis(axis)) for axis in chosen}, **values}
            points = (dict(zip(tried, point, strict=True)) for point in itertools.product(*tried.values()))
            if any(_filter_points(study, [point], refused) for point in itertools.islice(points, _MOST_TRIED)):
                return chosen
    return ()


def _sample_axis(axis: Axis | Choice) -> list[Any]:
    """Return all names of an axis, or some numbers from its least to its largest value."""
    if isinstance(axis, Choice):
        return [*axis.names]
    span = axis.high - axis.low
    steps = [*range(min(int(span), 64) + 1), *(2**i for i in range(6, 53))] if axis.kind is int else []
    return [*(axis.low + step for step in steps if step <= span), axis.low + span / 2, axis.high]


def _check_point_count(study: Study, values: Mapping[str, list[Value]], grid: Sequence[Mapping[str, Value]]) -> None:
    """Raise ParameterError, before any points are made, if there would be more than a run can have."""
    number = math.prod(len(given) for given in values.values())
    for axis in study.axes:
        if values and axis.name not in values:
            number *= len({point[axis.name] for point in grid})
    if number > MOST_POINTS:
        raise ParameterError(f"a run takes at most {MOST_POINTS} points, got {number} of {study.name}")


def _filter_points(study: Study, points: Iterable[Mapping[str, Value]], refused: list[str]) -> list[dict[str, Value]]:
    """Return the possible points, and append the reasons why the others are impossible to ``refused``."""
    out = []
    for point in points:
        try:
            out.append(study.point(point))
        except ParameterError as error:
            refused.append(str(error))
    return out
