"""Notes on paired differences: where one side is ahead, where it is behind, and within which distance the two are elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from ..errors import count_text
from .estimate import Estimate
from .statistics import Point
from .study import point_text

#: Largest number of points of one verdict that a note lists.
_MOST_LISTED = 4


def describe_standing(differences: Iterable[tuple[Point, Estimate]]) -> str:
    """Return ``ahead by 0.0112 to 0.0124 at n=8,f=3; within 0.0021 at n=8,f=9``, from a difference and its limits at each point.

    The numbers are the limits of the difference, without its sign, rounded outwards to two digits of the interval's half-width.
    Points without an interval are left out.
    """
    standing: dict[str, list[str]] = {"ahead by": [], "behind by": [], "within": []}
    for point, e in differences:
        if not e.low <= e.high:
            continue
        near, far = sorted((abs(e.low), abs(e.high)))
        verdict = "ahead by" if e.low > 0 else "behind by" if e.high < 0 else "within"
        size = far if verdict == "within" else e.half_width
        place = Decimal(1).scaleb(Decimal(size).adjusted() - 1 if size else 0)
        low, high = (
            f"{Decimal(x).quantize(place, towards):f}" for x, towards in ((near, ROUND_FLOOR), (far, ROUND_CEILING))
        )
        limits = high if verdict == "within" else f"{low} to {high}"
        standing[verdict].append(f"{limits} at {point_text(point)}")
    return "; ".join(f"{verdict} {_join_points(some)}" for verdict, some in standing.items() if some)


def _join_points(texts: Sequence[str]) -> str:
    """Join the first texts by commas, with the number of the others."""
    more = len(texts) - _MOST_LISTED
    return ", ".join(texts[:_MOST_LISTED]) + (f" and at {count_text(more, 'more point')}" if more > 0 else "")
