"""The grids ``fine`` and ``fine-28`` of ``unsafe-critical``: p_1/2 of n = 7..24 to 1e-4 (1e-3 above n = 16), and n = 25..28.

There are seven points per n: three within 1% (2% above n = 16) of p_1/2, two within 2% of p_.2 and two within 2% of p_.8.  A
polynomial of degree 5 in log p passes close to the three groups for any shape of the curve between them.  So p_q depends on the
points next to it, whose positions come from other trials (another seed).  The error of the fit is estimated, and included, as the
distance to the fit of degree 3.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from fastcube.measure.study import Point
from fastcube.resources import read_json
from fastcube.results.results import Results

from .threshold import Count, Sharpness, corrections, counts_of, estimate_sharpness, leading_order


class Place(NamedTuple):
    """Where the points of one n are, and their trials."""

    low: float  #: approximation of p_.2
    half: float  #: approximation of p_1/2
    high: float  #: approximation of p_.8
    trials: int  #: trials of each point near p_1/2


#: The places by n.  Above n = 24 the approximations are extrapolated.
PLACES = {int(n): Place(*row) for n, row in read_json("critical")["places"].items()}

#: Values of n are listed as too far from the curve if their chi-square has a smaller probability.
_UNLIKELY = 1e-3

#: A point near p_1/2 has this many times the trials of a point near p_.2 or p_.8.
_TRIALS_RATIO = 4


def target_half_width(n: int) -> float:
    """Return the relative half-width of p_1/2 for which the numbers of trials were chosen."""
    return 1e-4 if n <= 16 else 1e-3


def _rates(n: int) -> tuple[list[float], list[float]]:
    """Return p of the points near p_1/2, and of the points near p_.2 and p_.8."""
    place = PLACES[n]
    step = 0.01 if n <= 16 else 0.02  # above n = 16 a wider interval of p_1/2 is accepted
    inside = [place.half * factor for factor in (1 - step, 1, 1 + step)]
    outside = [p * factor for p in (place.low, place.high) for factor in (0.98, 1.02)]
    return [float(f"{p:.5g}") for p in inside], [float(f"{p:.5g}") for p in outside]


def points(dimensions: Sequence[int]) -> list[Point]:
    """Return the points of the grid for some n, ordered by p."""
    return [{"n": n, "p": p} for n in dimensions for p in sorted(itertools.chain(*_rates(n)))]


def trials(point: Point) -> int:
    """Return the number of trials of a point of the grid."""
    n = int(point["n"])
    inside, _ = _rates(n)
    most = PLACES[n].trials
    return most if point["p"] in inside else most // _TRIALS_RATIO


def counts_on_grid(n: int, counts: Sequence[Count]) -> list[Count]:
    """Return the counts at points of the grid, if it has this n, because other points are too far away to be fitted with them."""
    if n not in PLACES:
        return list(counts)
    rates = set(itertools.chain(*_rates(n)))
    return [count for count in counts if count[0] in rates]


def sharp_values(results: Results) -> dict[int, Sharpness | None]:
    """Return the estimates of each n from the grid's points; None if there are too few."""
    return {n: estimate_sharpness(counts_on_grid(n, counts)) for n, counts in counts_of(results).items()}


#: The heading of the table in the notes.
_HEADER = (
    f"{'n':>2}  {'p_1/2':>12}  {'95% limits':>24}  {'+- rel.':>7}  {'p_.8/p_.2':>9}  {'95% limits':>18}"
    f"  {'leading':>9}  {'ratio':>7}  {'proved factors':>14}"
)


def notes(results: Results) -> list[str]:
    """Return the lines of the table of p_1/2."""
    lines = [
        "p_q is where Q_n is unsafe with probability q: logistic regression on a quintic in log p, 95% limits by the delta",
        "method (asymptotic), widened by the distance to the cubic's p_q.  +- rel.: half-width over p_1/2.",
        "leading: (16 lambda / n^2) 2^(-2 sqrt n), lambda = 1.16577; ratio: p_1/2 over it, which for n large enough lies between",
        "the proved factors 1 + log n / sqrt n and 1 + 5 (log n)^2 / sqrt n (Balogh, Bollobas & Morris 2010).",
        "",
        _HEADER,
    ]
    too_wide, too_far = [], []
    for n, known in sharp_values(results).items():
        if known is None:
            lines.append(f"{n:>2}  too few points or trials")
            continue
        p, low, high = known.half
        ratio, least, most = known.ratio
        leading, bounds = leading_order(n), corrections(n)
        width = (high - low) / 2 / p
        lines.append(
            f"{n:>2}  {p:>12.7g}  {f'[{low:.7g}, {high:.7g}]':>24}  {width:>7.2g}  {ratio:>9.5f}"
            f"  {f'[{least:.5f}, {most:.5f}]':>18}  {leading:>9.4g}  {p / leading:>7.5f}"
            f"  {f'{bounds[0]:.3f}, {bounds[1]:.1f}':>14}"
        )
        if width > target_half_width(n):
            too_wide.append(n)
        if known.chance < _UNLIKELY:
            too_far.append(n)
    if too_wide:
        lines.append(
            f"wider than the trials were chosen for (1e-4 up to n = 16, 1e-3 above): n = {', '.join(map(str, too_wide))}"
        )
    if too_far:
        lines.append(
            f"counts farther from the curve than all but one sample in {1 / _UNLIKELY:,.0f}: n = {', '.join(map(str, too_far))}"
        )
    return lines
