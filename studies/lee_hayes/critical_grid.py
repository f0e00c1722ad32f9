"""The grids ``fine`` and ``fine-28`` of ``unsafe-critical``, which locate p_1/2 for n = 7..24 and for n = 25..28.

p_q is the probability of a node to be faulty at which Q_n is unsafe with probability q.  The grids have points around p_.2, p_1/2
and p_.8, seven per n: three within 1% of p_1/2, two within 2% of p_.2 and two within 2% of p_.8.  Above n = 16, where trials take
longer, p_1/2 is located to 1e-3 of its value in place of 1e-4, from points within 2%.

A polynomial of degree 5 in log p, which ``threshold.py`` fits, passes close to the three groups of points for any shape of the
curve between them.  So the fitted p_q depends on the points next to it only.  Their positions come from other trials (another
seed), so that they are independent of the counts.  The error of the fit is estimated, and included, as the distance to the fit of
degree 3.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from fastcube.measure.study import Point
from fastcube.resources import read_json
from fastcube.results.results import Results

from .threshold import Count, Sharpness, counts_of, estimate_sharpness

#: Largest n at which p_1/2 is located to 1e-4; a trial takes too long above.
_LARGEST_PRECISE = 16


class Place(NamedTuple):
    """Where the points of one n are, and their trials."""

    low: float  #: approximation of p_.2
    half: float  #: approximation of p_1/2
    high: float  #: approximation of p_.8
    trials: int  #: trials of each point near p_1/2


#: The places by n.  Above n = 24 the approximations are extrapolated.
PLACES = {int(n): Place(*row) for n, row in read_json("critical")["places"].items()}

#: A point near p_1/2 has this many times the trials of a point near p_.2 or p_.8.
_TRIALS_RATIO = 4


def target_half_width(n: int) -> float:
    """Return the relative half-width of p_1/2 for which the numbers of trials were chosen."""
    return 1e-4 if n <= _LARGEST_PRECISE else 1e-3


def _rates(n: int) -> tuple[list[float], list[float]]:
    """Return p of the points near p_1/2, and of the points near p_.2 and p_.8, each rounded to five digits.

    All functions take the rates from here, so that a rate is recognised among the points of results by its equality.
    """
    place = PLACES[n]
    distance = 0.01 if n <= _LARGEST_PRECISE else 0.02
    middle = [place.half * factor for factor in (1 - distance, 1, 1 + distance)]
    outer = [p * factor for p in (place.low, place.high) for factor in (0.98, 1.02)]
    return [float(f"{p:.5g}") for p in middle], [float(f"{p:.5g}") for p in outer]


def points(dimensions: Sequence[int]) -> list[Point]:
    """Return the points of the grid for some n, ordered by p."""
    return [{"n": n, "p": p} for n in dimensions for p in sorted(itertools.chain(*_rates(n)))]


def trials(point: Point) -> int:
    """Return the number of trials of a point of the grid."""
    n = int(point["n"])
    middle, _ = _rates(n)
    most = PLACES[n].trials
    return most if point["p"] in middle else most // _TRIALS_RATIO


def counts_on_grid(n: int, counts: Sequence[Count]) -> list[Count]:
    """Return the counts at points of the grid, if it has this n, because other points are too far away to be fitted with them."""
    if n not in PLACES:
        return list(counts)
    rates = set(itertools.chain(*_rates(n)))
    return [count for count in counts if count[0] in rates]


def sharp_values(results: Results) -> dict[int, Sharpness | None]:
    """Return the estimates of each n from the grid's points; None if there are too few."""
    return {n: estimate_sharpness(counts_on_grid(n, counts)) for n, counts in counts_of(results).items()}
