"""The options of a figure, checked: its size, style, panels and legend."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..errors import ParameterError, as_number, check_flag, is_many, short_repr


class _Lengths(NamedTuple):
    """The permitted values of a length."""

    low: float  #: in inches
    high: float  #: in inches
    described: str


class Style(NamedTuple):
    """The look of a figure."""

    letters: float  #: size of letters in points
    dots: int  #: resolution in dots per inch


_LENGTHS = {
    "width": _Lengths(2.5, 20.0, "screen, or 2.5in to 20in (3.3in is a column)"),
    "height": _Lengths(1.5, 40.0, "1.5in to 40in"),
}

#: The styles of new figures.
STYLES = {"screen": Style(10.0, 120), "dark": Style(10.0, 120), "paper": Style(8.0, 300)}


def check_inches(name: str, value: object) -> float | None:
    """Return a ``width`` or ``height`` in inches, given as ``"3.3in"`` or 3.3; None for the default, ``"screen"`` or None.

    Raises ParameterError for anything else, for a width outside 2.5 to 20 inches, and for a height outside 1.5 to 40.
    """
    if value == ("screen" if name == "width" else None):
        return None
    low, high, described = _LENGTHS[name]
    number = re.fullmatch(r"(\d+\.?\d*|\.\d+)in", value) if isinstance(value, str) else None
    inches = as_number(float(number[1]) if number else value)
    if inches is None or not low <= inches <= high:
        raise ParameterError(f"{name} must be {described}, got {short_repr(value)}")
    return float(inches)


def check_panels(numbers: object) -> tuple[int, ...]:
    """Return the numbers of panels, from 1.  Raises ParameterError for anything else."""
    chosen = [as_number(number) for number in (numbers if is_many(numbers) else [numbers])]
    if not all(isinstance(number, int) and number >= 1 for number in chosen):
        raise ParameterError(f"panels must be numbers from 1, got {short_repr(numbers)}")
    return tuple(int(number) for number in chosen if number is not None)


def check_legend(legend: object) -> tuple[bool, tuple[str, ...]]:
    """Return whether a legend is requested, and the labels of its lines, if any.  Raises ParameterError for anything else."""
    if not isinstance(legend, Sequence) or isinstance(legend, str):
        return check_flag("legend", legend), ()
    if not legend or not all(isinstance(label, str) and label for label in legend):
        raise ParameterError(f"legend must be labels of the lines, got {short_repr(legend)}")
    return True, tuple(legend)


def check_style(style: object, width: object) -> str:
    """Return the style of a figure: the given style, by default ``paper`` for a width in inches, else ``screen``.

    Raises ParameterError for an unknown style.
    """
    if style is None:
        return "screen" if width == "screen" else "paper"
    if not isinstance(style, str) or style not in STYLES:
        raise ParameterError(f"style must be one of {', '.join(STYLES)}, got {short_repr(style)}")
    return str(style)
