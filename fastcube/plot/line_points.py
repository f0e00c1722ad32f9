"""Which points of a study a panel plots: a filter, the axis along x, and the points of each line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..measure.study import Measure, Point
from .text import key_text

if TYPE_CHECKING:
    from ..results.results import Results

#: A selection of points: by values of axes, or by a function that returns whether to plot a point; None for all points.
PointFilter = Mapping[str, object] | Callable[[Point], bool] | None


def is_selected(point: Point, at: PointFilter) -> bool:
    """Whether the filter ``at`` selects a point."""
    if at is None:
        return True
    if callable(at):
        return bool(at(point))
    return all(point[name] == value for name, value in at.items())


def held_values(points: Sequence[Point], names: Iterable[str]) -> dict[str, Any]:
    """Return the values of those axes that have the same value at all points."""
    return {name: points[0][name] for name in names if len({point[name] for point in points}) == 1}


def full_label(
    results: Results, points: Sequence[Point], statistic: str, x: str, keys: Sequence[str], key: Mapping[str, Any]
) -> str:
    """Return a label that distinguishes a line from lines of other results: study, statistic, and all axes but ``x``."""
    held = held_values(points, [a.name for a in results.study.axes if a.name not in (x, *keys)])
    return ", ".join(filter(None, (f"{results.study.name} {statistic}", key_text(dict(key) | held))))


def group_points(
    study: Measure, points: Iterable[Point], names: Sequence[str]
) -> list[tuple[dict[str, Any], list[Point]]]:
    """Return the groups of points with the same values of these axes, each with these values, in the order of the axes."""
    found: dict[tuple[Any, ...], list[Point]] = {}
    for point in points:
        found.setdefault(tuple(point[name] for name in names), []).append(point)
    sort_keys = [study.axis(name).sort_key for name in names]
    keys = sorted(found, key=lambda key: [sort_key(value) for sort_key, value in zip(sort_keys, key, strict=True)])
    return [(dict(zip(names, key, strict=True)), found[key]) for key in keys]


def choose_axes(
    study: Measure, points: Sequence[Point], x: str | None, by: str | None, keys: Sequence[str]
) -> tuple[str, list[str]]:
    """Return the axis along x, and the axes whose values distinguish lines.

    The arguments are those of ``Panel.lines``.  Axes are added to ``keys`` until no two points of a line have the same x.
    """
    names = [axis.name for axis in study.axes]
    count = {name: len({point[name] for point in points}) for name in names}
    text_axes = {axis.name for axis in study.axes if axis.kind is str}  # axes of names cannot be the x of a line
    x = x or max((name for name in names if name not in text_axes), key=lambda name: count[name])
    if by is not None and count[x] <= 1 < count[by] and by not in text_axes:
        x, by = by, x
    keys = [*keys] or [name for name in names if name == by]
    for name in names:  # an axis is added while two points of a line would have the same x
        is_ambiguous = len({tuple(point[k] for k in (x, *keys)) for point in points}) < len(points)
        if is_ambiguous and name not in (x, *keys) and count[name] > 1:
            keys = [k for k in names if k in (name, *keys)]
    return x, keys
