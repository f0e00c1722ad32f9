"""An axis of numbers: a coordinate of a point, such as the number of faults."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import (
    ParameterError,
    as_integer,
    as_number,
    check_flag,
    check_line,
    check_range,
    command_line_text,
    percentage_value,
    short_repr,
)
from .statistics import Value

#: Largest integer value of a point: kernels get values as float64, which is exact up to here.
LARGEST_EXACT = 2**53


@dataclass(frozen=True)
class Axis:
    """One coordinate of a point.

    Parameters
    ----------
    name, description : str
        Short name (``n``) and description in words.
    kind : type
        ``int`` or ``float``.
    low, high : int or float
        Inclusive range.  For an int axis at most 2^53 in size, because kernels get float64 (ParameterError).
    open_above : bool
        Whether to exclude ``high``.
    swept : bool
        Whether one call of the kernel counts all points that differ only in this axis, from the same trials.  The axis is then
        part of no random key.  Only the last axis of a study can be swept.  The kernel finds the other values after the
        point in ``params``, and its tally has the slots of the layout once per value.
    key_name : str
        Name in the text of the random key, if it is not ``name``: a renamed axis keeps its trials.

    Examples
    --------
    >>> fc.Axis("p", "failure rate", float, 0, 1, open_above=True).check(1)
    Traceback (most recent call last):
        ...
    fastcube.errors.ParameterError: p must be in [0, 1), got 1
    """

    name: str
    description: str = field(compare=False)
    kind: type[int] | type[float]
    low: Value
    high: Value
    open_above: bool = False
    swept: bool = False
    key_name: str = field(default="", compare=False)

    @property
    def keyed(self) -> bool:
        """Whether the axis is part of the random keys."""
        return not self.swept

    def __post_init__(self) -> None:
        if self.kind is not int and self.kind is not float:
            raise ParameterError(
                f"kind must be int or float for axis {short_repr(self.name)}, got {short_repr(self.kind)}"
            )
        for end in ("low", "high"):
            number = as_number(getattr(self, end))
            if number is None:
                raise ParameterError(
                    f"{end} must be a number for axis {short_repr(self.name)}, got {short_repr(getattr(self, end))}"
                )
            object.__setattr__(self, end, number)  # as a Python number, for JSON
        if not self.low <= self.high:
            raise ParameterError(
                f"low must be at most high for axis {short_repr(self.name)}, got [{self.low}, {self.high}]"
            )
        check_line("name", self.name)
        check_line("description", self.description)
        check_line("key_name", self.key_name)
        for flag in ("open_above", "swept"):
            object.__setattr__(self, flag, check_flag(flag, getattr(self, flag)))
        if self.kind is int and max(abs(self.low), abs(self.high)) > LARGEST_EXACT:
            raise ParameterError(
                f"{self.name} must have a range within [-2^53, 2^53], beyond which float64 rounds integers, "
                f"got [{self.low}, {self.high}]"
            )

    def check(self, value: object) -> Value:
        """Return the value in the axis' type.  Raises ParameterError if it is out of range or of another type."""
        integer = as_integer(value)
        try:
            if isinstance(value, (bool, np.bool_, bytes, bytearray)):
                raise TypeError
            given: Any = percentage_value(value) if self.kind is float else value
            number = float(given) + 0.0 if integer is None else integer  # -0.0 is 0.0
            if self.kind is int and number != int(number):
                raise ValueError
        except Exception:  # an object of the user's may raise anything
            kind = "an integer" if self.kind is int else "a number"
            raise ParameterError(
                f"{self.name} must be {kind} in [{self.low}, {self.high}], got {command_line_text(value)}"
            ) from None
        exact: Value = int(number) if self.kind is int else number
        check_range(self.name, exact, self.low, self.high, open_above=self.open_above)
        return exact if self.kind is int else float(exact)

    def sort_key(self, value: Value) -> Value:
        """Return the sort key of a value."""
        return value

    def parameter(self, value: Value) -> float:
        """Return the number that a kernel gets for a value."""
        return float(value)
