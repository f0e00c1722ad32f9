"""Studies: axes, grids, a kernel that runs trials at a point, its tally, and statistics computed from the tally.

A *point* is a mapping of axis names to values, in the order of the axes.  A trial is a pure function of
(study, seed, point, trial index): :meth:`Study.key` hashes the first three into the kernel's random key.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import (
    ParameterError,
    as_integer,
    as_number,
    check_count,
    check_flag,
    check_integer,
    check_line,
    check_range,
    command_line_text,
    is_many,
    percentage_value,
    short_repr,
    suggest_name,
)
from ..kernels.tally.layout import Layout
from ..networks.network import Network
from ..pickling import PickledByName
from .binned import Distribution
from .choice import Choice
from .names import FAULT_COLUMNS, check_names
from .statistics import Number, Point, Statistic, Value
from .tally import Tally

if TYPE_CHECKING:
    from ..kernels.machine.dispatch import Alternative
    from ..kernels.machine.jit import Kernel
    from ..results.results import Results

__all__ = [
    "GENERATOR",
    "Axis",
    "Choice",
    "Explanation",
    "Grid",
    "Measure",
    "Point",
    "Sample",
    "Study",
    "Value",
    "point_text",
    "product_grid",
]

#: Version of the rules that turn (key, trial) into random numbers; part of every key and of a result's identity.
GENERATOR = "philox4x32-10/1"

#: The form of the names of axes, statistics and grids.
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

#: Prefix of the key in ``Measure.code`` that names the distribution of an installed study, if it is not fastcube's.
DISTRIBUTION = "distribution:"

#: Most axes: HDF5 arrays have at most 32 dimensions, and a distribution has one more than the axes.
_MOST_AXES = 31

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
        whole = as_integer(value)
        try:
            if isinstance(value, (bool, np.bool_, bytes, bytearray)):
                raise TypeError
            given: Any = percentage_value(value) if self.kind is float else value
            number = float(given) + 0.0 if whole is None else whole  # -0.0 is 0.0
            if self.kind is int and number != int(number):
                raise ValueError
        except Exception:  # an object of the user's may raise anything
            what = "an integer" if self.kind is int else "a number"
            raise ParameterError(
                f"{self.name} must be {what} in [{self.low}, {self.high}], got {command_line_text(value)}"
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


@dataclass(frozen=True)
class Explanation:
    """The explanation of one trial, as ``replay`` shows it.

    Parameters
    ----------
    text : str
        Lines of text, which ``replay`` prints below a heading.
    data : dict
        The same as data for JSON.
    """

    text: str
    data: dict[str, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not isinstance(self.data, dict):
            raise ParameterError(
                f"text must be text and data a dict, got {short_repr(self.text)} and {short_repr(self.data)}"
            )


@dataclass(frozen=True)
class Sample:
    """The random sample of one trial, before any algorithm runs.

    Parameters
    ----------
    network : Hypercube, DualCube or network of the cube family
        The network with the trial's faults.
    others : dict
        Further sampled values, by the names of ``Explanation.data``: an int, or a list of ints of the same length in every
        trial, such as ``{"s": 3, "destinations": [1, 6]}``.  The names are the same in every trial.
    """

    network: Any
    others: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.network, Network) or not isinstance(self.others, Mapping):
            given = f"{short_repr(self.network)} and {short_repr(self.others)}"
            raise ParameterError(f"network and others must be a network and a mapping, got {given}")
        for name in FAULT_COLUMNS:
            if name in self.others:
                raise ParameterError(f"others must have no name of another column of fault sets, got {name}")


class Notes:
    """Notes below a table, each with its statistics, so that ``show --stat`` prints only the notes on the statistics it shows.

    Parameters
    ----------
    *parts : (callable, sequence of str)
        A function ``notes(results)`` that returns lines, and the names of their statistics.
    most : int, optional
        Lines of each part below a table of all statistics, if more would hide the table; by default all.
    """

    def __init__(self, *parts: tuple[Callable[[Results], list[str]], Sequence[str]], most: int | None = None) -> None:
        self.parts, self.most = parts, most

    def __call__(self, results: Results) -> list[str]:
        return [line for notes, _ in self.parts for line in notes(results)]

    def select(self, names: Sequence[str]) -> Notes:
        """Return the notes on some of these statistics."""
        return Notes(*(part for part in self.parts if not set(part[1]).isdisjoint(names)))


@dataclass(frozen=True)
class Grid:
    """Points at which a study is run together.

    Parameters
    ----------
    name : str
        The name for ``--grid``.
    points : sequence of points
        Need not be a product.
    trials : int or callable
        Default number of trials per point, or a function that returns it for a point.
    figure, notes : callable, optional
        Replacements for the study's own functions.
    """

    name: str
    points: Sequence[Point]
    trials: int | Callable[[Point], int]
    figure: Callable[[Results, Any], None] | None = None
    notes: Callable[[Results], list[str]] | None = None

    def __post_init__(self) -> None:
        check_line("name", self.name)
        for what in ("figure", "notes"):
            if getattr(self, what) is not None and not callable(getattr(self, what)):
                raise ParameterError(
                    f"{what} of grid {self.name} must be a function, got {short_repr(getattr(self, what))}"
                )
        if not is_many(self.points) or not all(isinstance(point, Mapping) for point in self.points):
            raise ParameterError(
                f"points of grid {short_repr(self.name)} must be mappings, got {short_repr(self.points)}"
            )
        if not callable(self.trials):
            object.__setattr__(self, "trials", check_count("trials", self.trials, 1, 2**60))

    def trials_of_points(self) -> dict[str, int]:
        """Return the default number of trials of each point, by its text as of :func:`point_text`."""
        return {point_text(p): self.trials(p) if callable(self.trials) else self.trials for p in self.points}


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
        self._check_names("axes", [a.name for a in self.axes])
        if len(self.axes) > _MOST_AXES:
            raise ParameterError(f"axes of {self.name} must be at most {_MOST_AXES}, got {len(self.axes)}")
        if any(isinstance(a, Axis) and a.swept for a in self.axes[:-1]):
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
        given = getattr(self, what)
        if not isinstance(given, (tuple, list)) or not all(isinstance(item, kind) for item in given):
            kinds = " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
            raise ParameterError(f"{what} of {self.name} must be a tuple of {kinds}, got {short_repr(given)}")
        object.__setattr__(self, what, tuple(given))

    def _check_names(self, what: str, names: Sequence[str]) -> None:
        if not names or len({short_repr(name) for name in names}) < len(names):
            raise ParameterError(f"{what} of {self.name} must be one or more of different names, got {names}")
        for name in names:
            if not isinstance(name, str) or not NAME.fullmatch(name):
                raise ParameterError(
                    f"{what} of {self.name} must have names of letters, digits, - and _, got {short_repr(name)}"
                )

    def _check_counters(self, statistic: Statistic) -> None:
        bins = {c.name: c.bins for c in self.tally.counters}
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
        reported = suggest_name(name, names) or f", which has {', '.join(names)}"  # a long list: routing has 28
        raise ParameterError(f"{command_line_text(name)} is not a statistic of {self.name}{reported}")

    def target(self, name: str | None = None) -> Number:
        """Return the target statistic: the one called ``name``, or the first.  Raises ParameterError."""
        statistic = self.statistics[0] if name is None else self.statistic(name)
        if not isinstance(statistic, Number):
            raise ParameterError(f"target must be a statistic with one number, got the distribution {name}")
        return statistic


@dataclass(frozen=True, kw_only=True, repr=False)
class Study(PickledByName, Measure):
    """A measurement with its code, as needed to run it, plot it and replay its trials.

    Parameters
    ----------
    kernel : callable
        Maps a point to the compiled kernel for it: ``kernel(key, first, stop, params, tally)`` with the shape
        ``jit.TRIALS_SIGNATURE``, where ``params`` holds the point's values as float64 in the order of the axes.
    alternatives : callable, optional
        Maps a point to the kernels by name that count it like ``kernel(point)``, with their costs
        (``KernelTable.alternatives``).  A run begins with one that compiles quickly.
    grids : tuple of Grid
        The first is the default.  Its results go to ``NAME.h5``, those of another grid to ``NAME-GRID.h5``.
    check : callable
        Raises ParameterError for a point whose values are in range but impossible together.
    explain : callable
        ``explain(point, key, trial)`` replays one trial with the functions for a single network.
    sample : callable, optional
        ``sample(point, key, trial)`` returns the trial's :class:`Sample`, for ``fc.fault_sets``; ``explain`` reports it too.
    figure : callable, optional
        ``figure(results, sheet)`` plots the paper's figure on panels of the sheet (see :mod:`fastcube.plot`).  By default
        each shown statistic is plotted on its own panel.
    notes : callable, optional
        ``notes(results)`` returns lines to print under the table: the paper's statements, bounds, closed forms.
    verify : callable, optional
        ``verify(point, tally)`` raises StudyError if trials violate a property that the study guarantees, such as a bound.
    together : int
        Number of trials that a kernel runs at the cost of one; a work unit has no fewer trials.
    enumeration : callable, optional
        ``enumeration(point)`` returns the tally of all possible samples, each weighted by its probability, for :meth:`exact`.
    keyed : (str, mapping), optional
        Another study whose random key this study uses, and the axis values of that study which its own points lack, or None for
        an axis which that study lacks.  Equal trials of both studies then have equal samples.
    path : str, optional
        The user's file that defines the study, by which other processes find it.
    """

    kernel: Callable[[Point], Kernel]
    grids: tuple[Grid, ...]
    explain: Callable[[Point, int, int], Explanation]
    alternatives: Callable[[Point], Mapping[str, Alternative]] = lambda point: {}
    check: Callable[[Point], None] = lambda point: None
    sample: Callable[[Point, int, int], Sample] | None = None
    figure: Callable[[Results, Any], None] | None = None
    notes: Callable[[Results], list[str]] | None = None
    verify: Callable[[Point, Tally], None] = lambda point, tally: None
    together: int = 1
    enumeration: Callable[[Point], Tally] | None = None
    keyed: tuple[str, Mapping[str, Value | None]] | None = None
    path: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_kinds("grids", Grid)
        for what in ("kernel", "explain", "check", "verify"):
            if not callable(getattr(self, what)):
                raise ParameterError(f"{what} of {self.name} must be a function, got {short_repr(getattr(self, what))}")
        self._check_names("grids", [g.name for g in self.grids])

    def point(self, values: Mapping[str, object]) -> dict[str, Value]:
        """Return a point's values in the order of the axes, checked one by one and together.  Raises ParameterError."""
        point = super().point(values)
        self.check(point)
        return point

    def _maker(self) -> tuple[str, str, tuple[Any, ...]] | None:
        if self.path is None and not self.distribution:
            return None
        return "fastcube.measure.registry", "study_of_mark", (self.name, self.path, self.mark())

    @property
    def has_verify(self) -> bool:
        """Whether the study has a ``verify`` function."""
        return self.verify is not type(self).verify

    def grid(self, name: str | None = None) -> Grid:
        """Return the grid ``name``, by default the first.  Raises ParameterError if there is none."""
        for grid in self.grids:
            if name is None or (isinstance(name, str) and name == grid.name):
                return grid
        names = [g.name for g in self.grids]
        raise ParameterError(
            f"grid must be one of {', '.join(names)} for {self.name}, got {command_line_text(name)}{suggest_name(name, names)}"
        )

    def grid_of(self, results: Results) -> Grid:
        """Return the grid that results were run for, if this study has it, else the first."""
        if not hasattr(results, "grid"):
            raise ParameterError(f"results must be Results, got {short_repr(results)}")
        return next((g for g in self.grids if g.name == results.grid), self.grids[0])

    def key(self, seed: int, point: Mapping[str, object]) -> int:
        """Return the 64-bit random key of a point: the first 64 bits of the SHA-256 of ``generator|study|seed|n=10|f=5``.

        The text contains the axes that are part of the key by their ``key_name``, numbers by ``repr``, names as they are.
        ``seed`` is in [0, 2^63 - 1].  ``docs/random.md`` gives the full recipe.  Raises ParameterError.
        """
        seed = check_count("seed", seed, 0, 2**63 - 1)
        study, extra_values = self.keyed or (self.name, {})
        checked = self.point(point)
        given = {**{axis.key_name or axis.name: checked[axis.name] for axis in self.axes if axis.keyed}, **extra_values}
        values = (f"{name}={v if isinstance(v, str) else repr(v)}" for name, v in given.items() if v is not None)
        text = "|".join([GENERATOR, study, str(seed), *values])
        return int(hashlib.sha256(text.encode()).hexdigest()[:16], 16)

    def count(self, point: Mapping[str, object], trials: int, seed: int = 0, first: int = 0) -> Tally:
        """Run trials ``first .. first + trials - 1`` at a point in this process, without a file, and return their tally."""
        checked = self.point(point)
        first = check_count("first", first, 0, 2**60)
        trials = check_count("trials", trials, 0, 2**60 - first)
        seed = check_count("seed", seed, 0, 2**63 - 1)
        slots = self.tally.new_tally()
        params = self.parameters(checked)
        key = np.uint64(self.key(seed, checked))
        self.kernel(checked).compiled(key, np.int64(first), np.int64(first + trials), params, slots)
        return Tally.from_slots(self.tally, first, first + trials, slots)

    def exact(self, point: Mapping[str, object]) -> dict[str, Fraction | None]:
        """Return the exact value of each statistic at a point, over all possible samples; None for a statistic over no sample.

        Raises ParameterError if the study has no enumeration, or the point has too many cases.
        """
        checked = self.point(point)
        if self.enumeration is None:
            raise ParameterError(f"study must be one with an enumeration for exact values, got {self.name}")
        tally = self.enumeration(checked)
        numbers = (s for s in self.statistics if isinstance(s, Number))
        return {s.name: s.exact(tally.counts, tally.trials, checked) for s in numbers}


def point_text(point: Mapping[str, object]) -> str:
    """Return a point as the user writes it: ``n=10,f=5``, with floats by repr."""
    return ",".join(f"{name}={value}" for name, value in point.items())


def join_limited(items: Iterable[str], most: int = 40) -> str:
    """Join the first ``most`` texts by commas; ``none`` if there are none."""
    texts = list(items)
    return ", ".join(texts[:most] + ["..."] * (len(texts) > most)) or "none"


def check_cases(cases: int, most: int, point: Point) -> int:
    """Return the number of cases of an enumeration.  Raises ParameterError if it exceeds ``most``."""
    if cases > most:
        raise ParameterError(
            f"point must have at most {most:,} cases for exact values, got {cases:,} at {point_text(point)}"
        )
    return cases


def product_grid(**axes: Iterable[Value]) -> list[dict[str, Value]]:
    """Return all combinations of the axes' values, the last axis fastest; a single value counts as a list of one.

    Examples
    --------
    >>> fc.product_grid(n=4, f=[1, 2])
    [{'n': 4, 'f': 1}, {'n': 4, 'f': 2}]
    """
    points: list[dict[str, Value]] = [{}]
    for name, values in axes.items():
        several: list[Any] = list(values) if is_many(values) else [values]
        points = [{**point, name: value} for point in points for value in several]
    return points
