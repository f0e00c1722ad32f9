"""Estimates as text: so many digits as their intervals justify, and one notation for all that stand in a column."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..measure.estimate import Estimate

#: Most decimals of a column in fixed notation, and the largest number that a column of small ones may hold in it.
_MOST_DECIMALS, _SMALL = 8, 1e-4

#: A float64 has no more significant digits that tell anything.
_SIGNIFICANT = 16

#: How far what a cell says of a limit may be from it, as a share of the half-width.
_SLACK = 0.1


def estimate_text(e: Estimate) -> str:
    """The estimate with its 95% interval, to two digits of the half-width.

    ``0.01234 ± 0.00056`` where that is right of both limits to a tenth of the half-width, ``0.00150 [0.00110, 0.00250]``
    elsewhere, with digits enough to tell the estimate from its limits; ``< 3.7e-06`` when nothing was seen, ``> 0.9963`` when
    nothing else was; small numbers as ``4.35789e-04 ± 3.7e-08``.  The value alone where there is no interval, ``-`` where
    nothing is known.
    """
    return estimate_texts([e])[0]


def estimate_texts(estimates: Sequence[Estimate]) -> list[str]:
    """A column of estimates as :func:`estimate_text` writes them, all in one notation."""
    numbers = [abs(x) for e in estimates for x in (e.value, e.low, e.high) if 0 < abs(x) < math.inf]
    decimals = [-min(_rounding_exponents(e)) for e in estimates if _has_width(e)]
    scientific = max(decimals, default=0) > _MOST_DECIMALS or 0 < max(numbers, default=0.0) < _SMALL
    return [_format_estimate(e, scientific) for e in estimates]


def _has_width(e: Estimate) -> bool:
    """Whether there is an interval to take digits from."""
    return not math.isnan(e.value) and 0 < e.half_width < math.inf


def _decimal_exponent(x: float) -> int:
    """The power of ten of a positive number's first digit."""
    return int(f"{x:e}".partition("e")[2])


def _rounding_exponents(e: Estimate) -> tuple[int, int, int]:
    """The powers of ten to which the lower limit, the estimate and the upper limit are rounded.

    Two digits of the half-width, and less than half of the distance between the estimate and the limit.
    """
    wide, least = (
        _decimal_exponent(e.half_width) - 1,
        _decimal_exponent(max(map(abs, (e.low, e.value, e.high)))) - _SIGNIFICANT,
    )
    low, high = (
        max(least, min(wide, _decimal_exponent(side / 2)) if side > 0 else wide)
        for side in (e.value - e.low, e.high - e.value)
    )
    return low, min(low, high), high


def _format_estimate(e: Estimate, scientific: bool) -> str:
    if math.isnan(e.value):
        return "-"
    if not _has_width(e):
        return _shortest_text(e.value, 6 if math.isnan(e.half_width) else _SIGNIFICANT + 1, scientific)
    if e.value == 0 == e.low:
        return f"< {_round_text(e.high, _decimal_exponent(e.high) - 1, scientific)}"
    if e.low < e.value == e.high == 1:  # the most that a share can be, which goes without saying
        return f"> {_round_text(e.low, _decimal_exponent(1 - e.low) - 1, scientific)}"
    places = _rounding_exponents(e)
    low, value, high = (_round_text(x, at, scientific) for x, at in zip((e.low, e.value, e.high), places, strict=True))
    width, place = e.half_width, _decimal_exponent(e.half_width) - 1
    about, by = _round_text(e.value, place, scientific), _round_text(width, place, scientific)
    errors = float(about) - float(by) - e.low, float(about) + float(by) - e.high
    below_zero = float(about) < float(by) and e.low >= 0  # what cannot be negative
    if max(map(abs, errors)) <= _SLACK * width and not below_zero:
        return f"{about} ± {by}"
    return f"{value} [{low if e.low else '0'}, {high if e.high else '0'}]"


def _round_text(x: float, place: int, scientific: bool) -> str:
    """A number rounded to a power of ten, or to one digit where it is less."""
    if scientific and x:
        return f"{x:.{max(0, _decimal_exponent(abs(x)) - place)}e}"
    return f"{x:.{max(0, -place)}f}"


def _shortest_text(x: float, digits: int, scientific: bool) -> str:
    """A number without an interval, of the fewest digits up to so many that give it again."""
    few = next(d for d in range(1, digits + 1) if d == digits or float(f"{x:.{d - 1}e}") == x)
    exponent = int(f"{x:.{few - 1}e}".partition("e")[2])  # that of the digits printed: 0.9999999999999999 is no 1
    return _round_text(x, exponent - few + 1 if x else 0, scientific)
