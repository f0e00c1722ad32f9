"""Format estimates as text, with the digits that their intervals justify and one notation per column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from ..measure.estimate import Estimate, OrderEstimate

#: Most decimals of a column in fixed notation, and the largest number below which a column uses scientific notation.
_MOST_DECIMALS, _SMALL = 8, 1e-4

#: Least value that scientific notation does not shorten.
_LARGE = 0.1

#: Number of significant digits of a float64.
_SIGNIFICANT = 16

#: Largest error of a printed limit, as a fraction of the half-width.
_SLACK = 0.1


def estimate_text(e: Estimate) -> str:
    """Return the estimate with its 95% interval, to two digits of the half-width.

    The form is ``0.01234 ± 0.00056`` if this gives both limits to a tenth of the half-width, else ``0.00150 [0.00110, 0.00250]``
    with enough digits to separate the estimate from its limits.  ``< 3.7e-06`` means that no trial had the event, ``> 0.9963``
    that all had it, and such a limit is rounded away from the estimate.  Small numbers look like ``4.35789e-04 ± 3.7e-08``.  A
    quantile is ``14 [12, 17]``, or ``14 [12, inf]`` if its upper limit is infinite.  Without an interval there is the value
    alone, and ``-`` if nothing is known.
    """
    return estimate_texts([e])[0]


def estimate_texts(estimates: Sequence[Estimate]) -> list[str]:
    """Return a column of estimates in the form of ``estimate_text``, all in one notation."""
    numbers = [abs(x) for e in estimates for x in (e.value, e.low, e.high) if 0 < abs(x) < math.inf]
    # An estimate near 1 needs as many digits in scientific notation, so its decimals do not decide.
    decimals = [-min(_rounding_exponents(e)) for e in estimates if _has_width(e) and abs(e.value) < _LARGE]
    scientific = max(decimals, default=0) > _MOST_DECIMALS or 0 < max(numbers, default=0.0) < _SMALL
    return [_format_quantile(e) if isinstance(e, OrderEstimate) else _format_estimate(e, scientific) for e in estimates]


def _has_width(e: Estimate) -> bool:
    """Whether the estimate has an interval that determines its digits."""
    return not isinstance(e, OrderEstimate) and not math.isnan(e.value) and 0 < e.half_width < math.inf


def _decimal_exponent(x: float) -> int:
    """Return the power of ten of a positive number's first digit."""
    return int(f"{x:e}".partition("e")[2])


def _rounding_exponents(e: Estimate) -> tuple[int, int, int]:
    """Return the powers of ten to which the lower limit, the estimate and the upper limit are rounded.

    Each keeps two digits of the half-width, and is finer than half the distance between the estimate and the limit.
    """
    wide = _decimal_exponent(e.half_width) - 1  # two digits of the half-width
    least = _decimal_exponent(max(map(abs, (e.low, e.value, e.high)))) - _SIGNIFICANT  # no digits beyond a float64's
    low, high = (
        max(least, min(wide, _decimal_exponent(side / 2)) if side > 0 else wide)
        for side in (e.value - e.low, e.high - e.value)
    )
    return low, min(low, high), high


def _format_quantile(e: OrderEstimate) -> str:
    value, low, high = (f"{x:.{_SIGNIFICANT}g}" for x in (e.value, e.low, e.high))
    return f"{value} [{low}, {high}]"


def _format_estimate(e: Estimate, scientific: bool) -> str:
    """Return ``a ± b`` if that gives both limits to _SLACK of the half-width and their signs, else ``a [low, high]``.

    A limit stands alone if no trial or every trial had the event.
    """
    if math.isnan(e.value):
        return "-"
    if not _has_width(e):
        return _shortest_text(e.value, 6 if math.isnan(e.half_width) else _SIGNIFICANT + 1, scientific)
    if e.value == 0 == e.low:
        return f"< {_bound_text(e, e.high, ROUND_CEILING, scientific)}"
    if e.low < e.value == e.high == 1:  # an upper limit of 1 is the largest possible fraction and need not be printed
        return f"> {_bound_text(e, e.low, ROUND_FLOOR, scientific)}"
    places = _rounding_exponents(e)
    low, value, high = (_round_text(x, at, scientific) for x, at in zip((e.low, e.value, e.high), places, strict=True))
    width, place = e.half_width, _decimal_exponent(e.half_width) - 1
    about, by = _round_text(e.value, place, scientific), _round_text(width, place, scientific)
    sides = ((float(about) - float(by), e.low), (float(about) + float(by), e.high))
    if all(abs(printed - limit) <= _SLACK * width and _has_same_sign(printed, limit) for printed, limit in sides):
        return f"{about} ± {by}"
    return f"{value} [{_signed_text(low, e.low, scientific)}, {_signed_text(high, e.high, scientific)}]"


def _signed_text(text: str, limit: float, scientific: bool) -> str:
    """Return the text of a rounded limit, or the limit to one digit if the text does not show its sign."""
    if not limit:
        return "0"
    same = _has_same_sign(float(text), limit)
    return text if same else _round_text(limit, _decimal_exponent(abs(limit)), scientific)


def _has_same_sign(printed: float, limit: float) -> bool:
    """Whether a printed limit is on the same side of 0 as the limit itself, which its digits might not show."""
    return (printed > 0) == (limit > 0) and (printed < 0) == (limit < 0)


def _bound_text(e: Estimate, limit: float, direction: str, scientific: bool) -> str:
    """Return a one-sided limit to two digits of the half-width, rounded in the direction in which it stays true."""
    place = _decimal_exponent(e.half_width) - 1
    return _round_text(float(Decimal(repr(limit)).quantize(Decimal(1).scaleb(place), direction)), place, scientific)


def _round_text(x: float, place: int, scientific: bool) -> str:
    """Return a number rounded to a power of ten, or to one digit if it is smaller."""
    if scientific and not x:
        return "0"
    if scientific:
        return f"{x:.{max(0, _decimal_exponent(abs(x)) - place)}e}"
    return f"{x:.{max(0, -place)}f}"


def _shortest_text(x: float, digits: int, scientific: bool) -> str:
    """Return a number without an interval, with the fewest digits (at most ``digits``) that reproduce it."""
    few = next(d for d in range(1, digits + 1) if d == digits or float(f"{x:.{d - 1}e}") == x)
    exponent = int(f"{x:.{few - 1}e}".partition("e")[2])  # of the printed digits, because rounding may raise it
    return _round_text(x, exponent - few + 1 if x else 0, scientific)
