"""Studies: a measurement with its code, which runs trials at a point, and its grids.

A *point* is a mapping of axis names to values, in the order of the axes.  A trial is a pure function of
(study, seed, point, trial index): :meth:`Study.key` hashes the first three into the kernel's random key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import (
    ParameterError,
    check_count,
    check_line,
    command_line_text,
    is_many,
    short_repr,
    suggest_name,
)
from ..networks.network import Network
from ..pickling import PickledByName
from .axis import Axis
from .choice import Choice
from .measurement import Measure, point_text
from .names import FAULT_COLUMNS
from .statistics import Number, Point, Value
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
        return Notes(*((notes, covered) for notes, covered in self.parts if not set(covered).isdisjoint(names)))


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
        """Whether the study has a ``verify`` function of its own."""
        return self.verify is not type(self).verify  # the class attribute is the default

    def grid(self, name: str | None = None) -> Grid:
        """Return the grid ``name``, by default the first.  Raises ParameterError if there is none."""
        for grid in self.grids:
            if name is None or (isinstance(name, str) and name == grid.name):
                return grid
        names = [grid.name for grid in self.grids]
        raise ParameterError(
            f"grid must be one of {', '.join(names)} for {self.name}, got {command_line_text(name)}{suggest_name(name, names)}"
        )

    def grid_of(self, results: Results) -> Grid:
        """Return the grid that results were run for, if this study has it, else the first."""
        if not hasattr(results, "grid"):
            raise ParameterError(f"results must be Results, got {short_repr(results)}")
        return next((grid for grid in self.grids if grid.name == results.grid), self.grids[0])

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
        """Run trials ``first .. first + trials - 1`` at a point in this process, without a file, and return their tally.

        Raises ParameterError.
        """
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
