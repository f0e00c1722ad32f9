"""Notes on paired differences: where one side is ahead, where it is behind, and within which distance the two are elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import count_text
from .estimate import Estimate
from .statistics import Point
from .study import point_text

#: Largest number of points of one verdict that a note lists.
_MOST_LISTED = 4


def describe_standing(differences: Iterable[tuple[Point, Estimate]]) -> str:
    """Return ``ahead by 0.011 to 0.012 at n=8,f=3; within 0.002 at n=8,f=9``, from a difference and its limits at each point.

    The numbers are the limits of the difference, without its sign.  Points without an interval are left out.
    """
    standing: dict[str, list[str]] = {"ahead by": [], "behind by": [], "within": []}
    for point, e in differences:
        if not e.low <= e.high:
            continue
        near, far = sorted((abs(e.low), abs(e.high)))
        verdict = "ahead by" if e.low > 0 else "behind by" if e.high < 0 else "within"
        limits = f"{far:.2g}" if verdict == "within" else f"{near:.2g} to {far:.2g}"
        standing[verdict].append(f"{limits} at {point_text(point)}")
    return "; ".join(f"{verdict} {_join_points(some)}" for verdict, some in standing.items() if some)


def _join_points(texts: Sequence[str]) -> str:
    """Join the first texts by commas, with the number of the others."""
    more = len(texts) - _MOST_LISTED
    return ", ".join(texts[:_MOST_LISTED]) + (f" and at {count_text(more, 'more point')}" if more > 0 else "")
