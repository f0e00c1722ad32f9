"""The definition of a measurement: axes, counters and statistics, as needed to read results without the study's code."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError, check_integer, check_line, command_line_text, short_repr, suggest_name
from ..kernels.tally.layout import Layout
from .axis import Axis
from .binned import Distribution
from .choice import Choice
from .names import check_names
from .statistics import Number, Point, Statistic, Value

#: The form of the names of axes, statistics and grids.
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

#: Prefix of the key in ``Measure.code`` that names the distribution of an installed study, if it is not fastcube's.
DISTRIBUTION = "distribution:"

#: Most axes: HDF5 arrays have at most 32 dimensions, and a distribution has one more than the axes.
_MOST_AXES = 31


def point_text(point: Mapping[str, object]) -> str:
    """Return a point as the user writes it: ``n=10,f=5``, with floats by repr."""
    return ",".join(f"{name}={value}" for name, value in point.items())


@dataclass(frozen=True, kw_only=True)
class Measure:
    """The definition of a measurement, as needed to read results and as stored in every results file.

    Raises ParameterError when it is made if parts do not fit together, as a statistic and a missing counter.

    Parameters
    ----------
    name : str
        The name on the command line; part of every random key.
    title, source : str
        One line each: the quantity measured, and the paper, section and figure it comes from.
    revision : int
        Raised whenever the same trial would count differently; part of a result's identity.
    axes : tuple of Axis or Choice
    tally : Layout
        The counters and maxima that the kernel fills, as declared by the kernel's module.
    statistics : tuple
        The first is the default target, so it is not a Distribution.
    code : dict
        Fingerprint of a user's code, by file.  For a study that another package installs, its distribution and version.  Empty
        for a study of fastcube.  Part of a result's identity.
    """

    name: str
    title: str
    source: str
    revision: int
    axes: tuple[Axis | Choice, ...]
    tally: Layout
    statistics: tuple[Statistic, ...]
    code: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for what in ("name", "title", "source"):
            check_line(what, getattr(self, what))
        if not NAME.fullmatch(self.name):
            raise ParameterError(
                f"name of a study must be of letters, digits, - and _, at most 64, got {short_repr(self.name)}"
            )
        self._check_kinds("axes", (Axis, Choice))
        self._check_kinds("statistics", Statistic)
        if not isinstance(self.tally, Layout):
            raise ParameterError(f"tally of {self.name} must be a Layout, got {short_repr(self.tally)}")
        object.__setattr__(self, "revision", check_integer("revision", self.revision, 0, 2**31))
        self._check_names("axes", [axis.name for axis in self.axes])
        if len(self.axes) > _MOST_AXES:
            raise ParameterError(f"axes of {self.name} must be at most {_MOST_AXES}, got {len(self.axes)}")
        if any(isinstance(axis, Axis) and axis.swept for axis in self.axes[:-1]):
            raise ParameterError(f"axes of {self.name} must not be swept, but for the last one")
        self._check_names("statistics", [s.name for s in self.statistics])
        if isinstance(self.statistics[0], Distribution):
            raise ParameterError(f"the first statistic of {self.name} must be a number, got a distribution")
        for statistic in self.statistics:
            self._check_counters(statistic)
        check_names(self.name, [axis.name for axis in self.axes], self.statistics)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.title}>"

    @property
    def distribution(self) -> str:
        """The distribution of an installed study, or empty for a study of fastcube or of a user."""
        return next((key.removeprefix(DISTRIBUTION) for key in self.code if key.startswith(DISTRIBUTION)), "")

    def mark(self) -> str:
        """Return a hash of revision and fingerprint, which distinguishes two studies of one name."""
        return hashlib.sha256(repr((self.revision, sorted(self.code.items()))).encode()).hexdigest()[:16]

    def _check_kinds(self, what: str, kind: type[Any] | tuple[type[Any], ...]) -> None:
        """Make the field ``what`` a tuple.  Raises ParameterError unless it is a tuple or list of this kind, or these kinds."""
        given = getattr(self, what)
        if not isinstance(given, (tuple, list)) or not all(isinstance(item, kind) for item in given):
            kinds = " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
            raise ParameterError(f"{what} of {self.name} must be a tuple of {kinds}, got {short_repr(given)}")
        object.__setattr__(self, what, tuple(given))

    def _check_names(self, what: str, names: Sequence[str]) -> None:
        """Raise ParameterError unless the names of the entries of the field ``what`` are well-formed, different and not none."""
        if not names or len({short_repr(name) for name in names}) < len(names):
            raise ParameterError(f"{what} of {self.name} must be one or more of different names, got {names}")
        for name in names:
            if not isinstance(name, str) or not NAME.fullmatch(name):
                raise ParameterError(
                    f"{what} of {self.name} must have names of letters, digits, - and _, got {short_repr(name)}"
                )

    def _check_counters(self, statistic: Statistic) -> None:
        """Raise ParameterError unless the tally has the counters that a statistic reads, with enough bins or without any."""
        bins = {counter.name: counter.bins for counter in self.tally.counters}
        without_bins = (*statistic.counters(), *([] if statistic.condition is None else [statistic.condition]))
        least_bins = statistic.bins_needed()
        for name in (*without_bins, *least_bins):
            if name not in bins:
                raise ParameterError(
                    f"statistic {statistic.name} of {self.name} names a counter that is not in its "
                    f"tally: {name}{suggest_name(name, bins)}"
                )
            if bool(bins[name]) != (name in least_bins):
                raise ParameterError(
                    f"statistic {statistic.name} of {self.name} needs a counter "
                    f"{'with' if name in least_bins else 'without'} bins, got {name}"
                )
            if bins[name] < least_bins.get(name, 0):
                raise ParameterError(
                    f"statistic {statistic.name} of {self.name} needs {least_bins[name]} bins, got {bins[name]} of {name}"
                )

    def point(self, values: Mapping[str, object]) -> dict[str, Value]:
        """Return a point's values, checked and in the order of the axes.  Raises ParameterError."""
        if not isinstance(values, Mapping):
            raise ParameterError(f"point must be a mapping of axes to values, got {short_repr(values)}")
        names = {axis.name for axis in self.axes}
        for name in values:
            if name not in names:
                self.axis(name)  # raises
        for axis in self.axes:
            if axis.name not in values:
                raise ParameterError(
                    f"{axis.name} is missing: a point of {self.name} is {point_text({a.name: '...' for a in self.axes})}"
                )
        return {axis.name: axis.check(values[axis.name]) for axis in self.axes}

    def order(self, key: Sequence[Value]) -> tuple[Any, ...]:
        """Return the sort key of a point's values: numbers by size, names in the order of their axis."""
        return tuple(axis.sort_key(value) for axis, value in zip(self.axes, key, strict=True))

    def parameters(self, point: Point, swept: Sequence[Value] = ()) -> NDArray[np.float64]:
        """Return a point as kernels get it, followed by the other values of its swept axis."""
        return np.array([*(axis.parameter(point[axis.name]) for axis in self.axes), *swept], np.float64)

    @property
    def swept_axis(self) -> Axis | None:
        """The axis whose values one call of the kernel counts together, or None."""
        last = self.axes[-1]
        return last if isinstance(last, Axis) and last.swept else None

    def curve_key(self, point: Point) -> tuple[Value, ...]:
        """Return the values that all points counted by one call of the kernel share: all but the value of a swept axis."""
        values = tuple(point.values())
        return values[:-1] if self.swept_axis else values

    def axis(self, name: str) -> Axis | Choice:
        """Return the axis ``name``.  Raises ParameterError if there is none."""
        names = [axis.name for axis in self.axes]
        if not isinstance(name, str) or name not in names:
            raise ParameterError(
                f"{command_line_text(name)} is not an axis of {self.name}, "
                f"which has {', '.join(names)}{suggest_name(name, names)}"
            )
        return self.axes[names.index(name)]

    def statistic(self, name: str) -> Statistic:
        """Return the statistic ``name``.  Raises ParameterError if there is none."""
        for statistic in self.statistics:
            if isinstance(name, str) and statistic.name == name:
                return statistic
        names = [s.name for s in self.statistics]
        reported = suggest_name(name, names) or f", which has {', '.join(names)}"  # either, as the list can be long
        raise ParameterError(f"{command_line_text(name)} is not a statistic of {self.name}{reported}")

    def target(self, name: str | None = None) -> Number:
        """Return the target statistic: the one called ``name``, or the first.  Raises ParameterError."""
        statistic = self.statistics[0] if name is None else self.statistic(name)
        if not isinstance(statistic, Number):
            raise ParameterError(f"target must be a statistic with one number, got the distribution {name}")
        return statistic
