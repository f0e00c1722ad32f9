"""What a study is: axes, a kernel that runs trials at a point, counters, and statistics read from them.

A *point* is a mapping of axis names to values, in the order of the axes.  A trial is a pure function of
(study, seed, point, trial index): :func:`point_key` hashes the first three, the kernel takes it from there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError, check_range
from .estimate import Estimate, bounded_mean, proportion, ratio

if TYPE_CHECKING:
    from ..kernels.jit import Kernel
    from .results import Results

#: Version of the rules by which (key, trial) becomes random numbers; part of every key and of a result's identity.
GENERATOR = "philox4x32-10/1"

Value = int | float
Point = Mapping[str, Value]


@dataclass(frozen=True)
class Axis:
    """One coordinate of a point.

    Parameters
    ----------
    name, description : str
        Short name (``n``) and what it is in words.
    kind : type
        ``int`` or ``float``.
    low, high : int or float
        Inclusive range; ``open_above`` leaves ``high`` out.
    """

    name: str
    description: str
    kind: type[int] | type[float]
    low: Value
    high: Value
    open_above: bool = False

    def check(self, value: object) -> Value:
        """Return the value as this axis' kind; raise ParameterError when it is out of range or of another kind."""
        try:
            number = float(value)  # type: ignore[arg-type]
            if self.kind is int and number != int(number):
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            what = "an integer" if self.kind is int else "a number"
            raise ParameterError(f"{self.name} must be {what} in [{self.low}, {self.high}], got {value}") from None
        exact: Value = int(value) if self.kind is int else number  # type: ignore[call-overload]
        check_range(self.name, exact, self.low, self.high, open_above=self.open_above)
        return exact


@dataclass(frozen=True)
class Counter:
    """An integer that a kernel adds to, trial by trial.

    A counter of several ``digits`` takes as many consecutive slots of the kernel's tally, in base 2^32, least
    significant first; a kernel adds to each digit without carrying, which is safe for 2^31 trials a call.
    """

    name: str
    description: str
    digits: int = 1


@dataclass(frozen=True)
class Extreme:
    """The largest value over the trials, with the smallest trial that attains it.

    Takes two slots of the kernel's tally: value and trial, both -1 before the first trial that counts.
    """

    name: str
    description: str


def _always(_: Point) -> bool:
    return True


def _one(_: Point) -> float:
    return 1.0


@dataclass(frozen=True)
class Proportion:
    """Share of trials (or of those that ``among`` counts) that ``events`` counts: Clopper-Pearson interval."""

    name: str
    description: str
    events: str
    among: str | None = None
    defined: Callable[[Point], bool] = _always
    units: str = "1"

    def count_events(self, counts: Mapping[str, int]) -> int:
        """Trials in which the statistic is nonzero."""
        return counts[self.events]

    def estimate(self, counts: Mapping[str, int], trials: int, point: Point) -> Estimate:
        """Estimate with its interval, from the counters of ``trials`` trials."""
        return proportion(counts[self.events], trials if self.among is None else counts[self.among])


@dataclass(frozen=True)
class Mean:
    """Mean of a quantity in [0, bound(point)]: empirical Bernstein interval.

    ``total`` and ``squares`` count the quantity in units of ``unit(point)`` (2^n for a fraction of nodes);
    ``nonzero`` counts the trials where it is not zero.
    """

    name: str
    description: str
    total: str
    squares: str
    nonzero: str
    unit: Callable[[Point], float] = _one
    bound: Callable[[Point], float] = _one
    among: str | None = None
    defined: Callable[[Point], bool] = _always
    units: str = "1"

    def count_events(self, counts: Mapping[str, int]) -> int:
        """Trials in which the statistic is nonzero."""
        return counts[self.nonzero]

    def estimate(self, counts: Mapping[str, int], trials: int, point: Point) -> Estimate:
        """Estimate with its interval, from the counters of ``trials`` trials."""
        among = trials if self.among is None else counts[self.among]
        return bounded_mean(counts[self.total], counts[self.squares], among, self.unit(point), self.bound(point))


@dataclass(frozen=True)
class Ratio:
    """Total of one quantity over the total of another: delta method, asymptotic.

    ``numerator`` and ``denominator`` are counters of the totals; ``squares`` names the counters of the sums of
    numerator^2, numerator * denominator and denominator^2; ``nonzero`` counts trials with a nonzero numerator.
    """

    name: str
    description: str
    numerator: str
    denominator: str
    squares: tuple[str, str, str]
    nonzero: str
    among: str | None = None
    defined: Callable[[Point], bool] = _always
    units: str = "1"

    def count_events(self, counts: Mapping[str, int]) -> int:
        """Trials in which the numerator is nonzero."""
        return counts[self.nonzero]

    def estimate(self, counts: Mapping[str, int], trials: int, point: Point) -> Estimate:
        """Estimate with its interval, from the counters of ``trials`` trials."""
        among = trials if self.among is None else counts[self.among]
        nn, nd, dd = (counts[name] for name in self.squares)
        return ratio(counts[self.numerator], counts[self.denominator], nn, nd, dd, among)


Statistic = Proportion | Mean | Ratio


@dataclass(frozen=True)
class Explanation:
    """One trial told in full: in words (lines) and as data that ``json`` can write."""

    words: str
    data: dict[str, Any]


@dataclass(frozen=True)
class Study:
    """A measurement: everything the driver, the results file, the plots and ``replay`` need to know.

    Parameters
    ----------
    name : str
        What the command line calls it; part of every random key.
    title, source : str
        One line each: what is measured, and the paper, section and figure it comes from.
    revision : int
        Raised whenever the same trial would count differently; part of a result's identity.
    axes, counters, extremes, statistics : tuples
        The first statistic is the one that targets refer to.
    kernel : callable
        Maps a point to the compiled kernel for it: ``kernel(key, first, stop, params, tally)`` with the shape
        ``jit.TRIALS_SIGNATURE``, where ``params`` holds the point's values as float64 in the order of the axes
        and ``tally`` is int64: the counters' digits, then (value, trial) of each extreme.
    grid : sequence of points
        The default grid; need not be a product.
    trials : int
        Default number of trials a point.
    check : callable
        Raises ParameterError for a point whose values are each in range but impossible together.
    explain : callable
        ``explain(point, key, trial)`` replays one trial with the one-instance functions.
    figure : callable
        ``figure(results, sheet)`` draws the paper's figure on the panels it asks for (:mod:`fastcube.plot` shows how).
    notes : callable
        ``notes(results)`` gives lines to print under the table: what the paper states, bounds, closed forms.
    """

    name: str
    title: str
    source: str
    revision: int
    axes: tuple[Axis, ...]
    counters: tuple[Counter, ...]
    statistics: tuple[Statistic, ...]
    kernel: Callable[[Point], Kernel]
    grid: Sequence[Point]
    trials: int
    explain: Callable[[Point, int, int], Explanation]
    extremes: tuple[Extreme, ...] = ()
    check: Callable[[Point], None] = lambda point: None
    figure: Callable[[Results, Any], None] | None = None
    notes: Callable[[Results], list[str]] | None = None
    path: str | None = field(default=None, compare=False)

    @property
    def slots(self) -> int:
        """Length of the kernel's tally."""
        return sum(c.digits for c in self.counters) + 2 * len(self.extremes)

    def point(self, values: Mapping[str, object]) -> dict[str, Value]:
        """Check a point's values; return them in the order of the axes.  Raises ParameterError."""
        for name in values:
            if name not in [a.name for a in self.axes]:
                raise ParameterError(
                    f"{name} is not an axis of {self.name}, which has {', '.join(a.name for a in self.axes)}"
                )
        for axis in self.axes:
            if axis.name not in values:
                raise ParameterError(
                    f"{axis.name} is missing: a point of {self.name} is {point_text({a.name: '...' for a in self.axes})}"
                )
        point = {axis.name: axis.check(values[axis.name]) for axis in self.axes}
        self.check(point)
        return point

    def statistic(self, name: str) -> Statistic:
        """The statistic of that name.  Raises ParameterError."""
        for statistic in self.statistics:
            if statistic.name == name:
                return statistic
        raise ParameterError(
            f"{name} is not a statistic of {self.name}, which has {', '.join(s.name for s in self.statistics)}"
        )


def point_text(point: Mapping[str, object]) -> str:
    """The point as the user writes it: ``n=10,f=5``; floats by repr."""
    return ",".join(f"{name}={value}" for name, value in point.items())


def point_key(study: str, seed: int, point: Point) -> int:
    """The point's 64-bit random key: the first 64 bits of the SHA-256 of ``generator|study|seed|n=10|f=5``."""
    text = "|".join([GENERATOR, study, str(seed), *(f"{name}={value!r}" for name, value in point.items())])
    return int(hashlib.sha256(text.encode()).hexdigest()[:16], 16)


def product_grid(**axes: Iterable[Value]) -> list[dict[str, Value]]:
    """All combinations of the axes' values, the last axis fastest."""
    points: list[dict[str, Value]] = [{}]
    for name, values in axes.items():
        points = [{**point, name: value} for point in points for value in list(values)]
    return points
