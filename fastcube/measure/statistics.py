"""Statistics: numbers computed from a tally's counters.  The class of a statistic determines its interval.

A statistic is data: the names of its counters, its condition, and its numbers at a point (whether it is defined there,
the unit of its totals, its bound, its scale).  Here are the base classes, and the proportions, means and differences whose
intervals hold for any number of trials.  Statistics of counters with bins are in ``binned.py``, statistics with asymptotic
intervals in ``asymptotic.py``.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from ..errors import ParameterError, check_flag, check_integer, check_line, short_repr
from .estimate import ALPHA, Estimate, TrialClass, bounded_mean, mean_of_classes, paired_difference, proportion

#: A value of a numeric axis.
Value = int | float
#: A point: the values of the axes by name, in the order of the axes.
Point = Mapping[str, Value]

#: Counters by name: integers, or tuples of integers for those with bins.
Counts = Mapping[str, Any]


def _return_true(_: Point) -> bool:
    """Return True, the default of ``defined`` and ``possible``."""
    return True


def return_one(_: Point) -> float:
    """Return 1, the default of ``scale``, ``unit`` and of the bound of a :class:`Mean`."""
    return 1.0


def return_zero(_: Point) -> float:
    """Return 0, the default of bounds that may be unknown."""
    return 0.0


@dataclass(frozen=True, kw_only=True)
class Statistic(ABC):
    """Base of all statistics, which are a :class:`Number` or a :class:`Distribution`.

    Parameters
    ----------
    name, description : str
        Short name, and description in words.
    condition : str, optional
        The counter of the trials that the statistic is over; by default all trials.
    defined : callable
        Whether the statistic is defined at a point.  If not, it is NaN in the file and empty in csv.
    scale : callable
        A factor of estimate and interval at a point, an int, float or Fraction.
    units : str
        Unit of the estimate, such as ``nodes``; ``1`` for a pure number.
    shown : bool
        Whether the statistic is in the terminal's table; csv, json and the file have all statistics.
    """

    name: str
    description: str
    condition: str | None = None
    defined: Callable[[Point], bool] = _return_true
    scale: Callable[[Point], float | Fraction] = return_one
    units: str = "1"
    shown: bool = True

    #: The kind of interval: ``exact``, ``bounded`` or ``asymptotic``.
    interval: ClassVar[str]

    #: Least and largest value of integer fields, unless they are 0 and 2^31.
    ranges: ClassVar[Mapping[str, tuple[int, int]]] = {}

    def __post_init__(self) -> None:
        for column in fields(self):
            value = self._check_field(column.name, str(column.type), getattr(self, column.name))
            object.__setattr__(self, column.name, value)

    def _check_field(self, name: str, kind: str, given: Any) -> Any:
        """Return a field's value.  ``kind`` is the text of its annotation.

        Raises ParameterError for a field of the type bool, int, str, tuple of str or function that has another type.  Other types
        are not checked.
        """
        if kind == "bool":
            return check_flag(name, given)
        if kind == "int":
            return check_integer(f"{name} of a statistic", given, *self.ranges.get(name, (0, 2**31)))
        if kind == "str" or (kind == "str | None" and given is not None):
            return check_line(f"{name} of a statistic", given)
        if kind.startswith("tuple[str"):
            names = tuple(given) if isinstance(given, (tuple, list)) else (given,)
            return tuple(check_line(f"{name} of a statistic", text) for text in names)
        if kind.startswith("Callable") and not callable(given):
            raise ParameterError(f"{name} of a statistic must be a function, got {short_repr(given)}")
        return given

    @abstractmethod
    def counters(self) -> tuple[str, ...]:
        """Return the counters without bins that the statistic reads, apart from ``condition``."""

    def bins_needed(self) -> dict[str, int]:
        """Return the counters with bins that the statistic reads, with the least number of bins that it needs."""
        return {}

    @abstractmethod
    def read(self, counts: Counts, trials: int, point: Point) -> list[Estimate]:
        """Return one estimate, or one for each bin, from the counters of ``trials`` trials."""

    def find_impossible(self, counts: Counts, eligible: Any, most: Any) -> dict[str, Any]:
        """Return for counters of the statistic whether they are impossible over ``eligible`` trials, at many points at once.

        All numbers are arrays with one entry per point; a counter with bins is given by its sum.  ``most`` is the largest amount
        that a trial can add to the total of a :class:`Mean`.
        """
        return {}

    def trials(self, counts: Counts, trials: int) -> int:
        """Return the number of trials that the statistic is over, out of ``trials``."""
        return trials if self.condition is None else counts[self.condition]

    def _scale_estimate(self, e: Estimate, point: Point) -> Estimate:
        """Return the estimate in the statistic's units."""
        if self.scale is return_one:
            return e
        factor = float(self.scale(point))
        return replace(e, value=factor * e.value, stderr=factor * e.stderr, low=factor * e.low, high=factor * e.high)


@dataclass(frozen=True, kw_only=True)
class Number(Statistic):
    """A statistic with a single number at a point; only such a statistic can be the target of a run.

    ``possible`` says whether events can occur at a point.  If it is proved that they cannot, no run waits for them.  Subclasses
    add conditions of their own in ``can_occur``, which is what runs ask.
    """

    possible: Callable[[Point], bool] = _return_true

    @abstractmethod
    def count_events(self, counts: Counts, trials: int) -> int:
        """Return the number of trials in which the statistic is nonzero."""

    def can_occur(self, point: Point) -> bool:
        """Whether events can occur at a point."""
        return bool(self.possible(point))

    def estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        """Return the estimate with its interval, from the counters of ``trials`` trials."""
        return self._scale_estimate(self._unscaled_estimate(counts, self.trials(counts, trials), point), point)

    def read(self, counts: Counts, trials: int, point: Point) -> list[Estimate]:
        return [self.estimate(counts, trials, point)]

    def is_settled(self, counts: Counts, trials: int, point: Point) -> bool:
        """Whether the interval from ``trials`` trials is reliable enough to stop a run."""
        return True

    def exact(self, counts: Counts, trials: int, point: Point) -> Fraction | None:
        """Return the exact value if the counters cover all possible samples; None if not defined, or over no sample."""
        numerator, denominator = self._quotient(counts, self.trials(counts, trials), point)
        return Fraction(self.scale(point)) * numerator / denominator if denominator and self.defined(point) else None

    @abstractmethod
    def _quotient(self, counts: Counts, trials: int, point: Point) -> tuple[int, Fraction]:
        """Return numerator and denominator of the value over ``trials`` eligible trials, before ``scale``."""

    @abstractmethod
    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        """Return the estimate over ``trials`` eligible trials, before ``scale``."""


@dataclass(frozen=True, kw_only=True)
class Proportion(Number):
    """Fraction of trials (or of those that ``condition`` counts) that ``events`` counts: Clopper-Pearson interval.

    ``events`` is by default the counter with the statistic's name.
    """

    events: str = ""
    interval: ClassVar[str] = "exact"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "events", self.events or self.name)

    def counters(self) -> tuple[str, ...]:
        return (self.events,)

    def find_impossible(self, counts: Counts, eligible: Any, most: Any) -> dict[str, Any]:
        return {self.events: (counts[self.events] < 0) | (counts[self.events] > eligible)}

    def count_events(self, counts: Counts, trials: int) -> int:
        return int(counts[self.events])

    def _quotient(self, counts: Counts, trials: int, point: Point) -> tuple[int, Fraction]:
        return counts[self.events], Fraction(trials)

    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        return proportion(counts[self.events], trials)

    def _scale_estimate(self, e: Estimate, point: Point) -> Estimate:
        e = super()._scale_estimate(e, point)
        return replace(e, value=min(e.value, 1.0), low=min(e.low, 1.0), high=min(e.high, 1.0))


@dataclass(frozen=True, kw_only=True)
class ComplementProportion(Proportion):
    """Fraction of trials (or of those that ``condition`` counts) that ``events`` does not count: Clopper-Pearson interval."""

    def count_events(self, counts: Counts, trials: int) -> int:
        return self.trials(counts, trials) - int(counts[self.events])

    def _quotient(self, counts: Counts, trials: int, point: Point) -> tuple[int, Fraction]:
        return trials - counts[self.events], Fraction(trials)

    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        return proportion(trials - counts[self.events], trials)


#: More than the relative rounding error of the product of a unit and a bound, which are floats.
_ROUNDING = 1 + 1e-9


def are_sums_impossible(total: Any, squares: Any, eligible: Any, signed: bool) -> Any:
    """Whether a total and a sum of squares are impossible over ``eligible`` trials; values may be negative if ``signed``."""
    bad = squares * eligible < total**2
    return bad if signed else bad | (squares > total**2)


@dataclass(frozen=True, kw_only=True)
class Mean(Number):
    """Mean of a quantity in [0, bound(point)]: empirical Bernstein interval.

    ``total`` and ``squares`` count the quantity in units of 1 / ``unit(point)`` (2^n for a fraction of nodes);
    ``nonzero`` counts the trials in which it is nonzero.  By default these are ``TOTAL_squared`` and ``with_TOTAL``.
    """

    total: str
    squares: str = ""
    nonzero: str = ""
    unit: Callable[[Point], float] = return_one
    bound: Callable[[Point], float] = return_one
    interval: ClassVar[str] = "bounded"

    #: Whether the quantity may be negative.
    signed: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "squares", self.squares or f"{self.total}_squared")
        object.__setattr__(self, "nonzero", self.nonzero or f"with_{self.total}")

    def counters(self) -> tuple[str, ...]:
        return self.total, self.squares, self.nonzero

    def count_events(self, counts: Counts, trials: int) -> int:
        return int(counts[self.nonzero])

    def find_impossible(self, counts: Counts, eligible: Any, most: Any) -> dict[str, Any]:
        total, squares = (counts[name].astype(object) for name in (self.total, self.squares))
        bad = are_sums_impossible(total, squares, eligible, self.signed)
        return {self.squares: bad if self.signed else bad | (squares > total * most * _ROUNDING)}

    def can_occur(self, point: Point) -> bool:
        return super().can_occur(point) and self.bound(point) > 0

    def _quotient(self, counts: Counts, trials: int, point: Point) -> tuple[int, Fraction]:
        return counts[self.total], trials * Fraction(self.unit(point))

    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        return bounded_mean(counts[self.total], counts[self.squares], trials, self.unit(point), self.bound(point))


@dataclass(frozen=True, kw_only=True)
class ShiftedMean(Mean):
    """A :class:`Mean` of the excess over ``least``, which is added after ``scale``."""

    least: float = 0.0

    def _scale_estimate(self, e: Estimate, point: Point) -> Estimate:
        e = super()._scale_estimate(e, point)
        return replace(e, value=e.value + self.least, low=e.low + self.least, high=e.high + self.least)


@dataclass(frozen=True, kw_only=True)
class Difference(Mean):
    """Mean of A - B, two quantities of the same trials, in [-bound(point), bound(point)]: empirical Bernstein interval.

    ``total`` counts A - B with its sign.
    """

    signed: ClassVar[bool] = True

    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        bound = self.bound(point)
        return bounded_mean(counts[self.total], counts[self.squares], trials, self.unit(point), bound, -bound)


@dataclass(frozen=True, kw_only=True)
class PairedDifference(Difference):
    """Mean of A - B, two 0/1 outcomes of the same trials: exact interval, from two Clopper-Pearson limits.

    ``total`` counts A - B with its sign.  ``nonzero`` counts the trials with A != B, and is also the sum of squares.
    ``bound`` is 1, or 0 at a point where A and B are always equal: there the difference is 0, without any uncertainty.
    """

    interval: ClassVar[str] = "exact"

    def __post_init__(self) -> None:
        if isinstance(self.squares, str):  # other types are reported by the check of all fields below
            object.__setattr__(self, "squares", self.squares or self.nonzero)
        super().__post_init__()

    def find_impossible(self, counts: Counts, eligible: Any, most: Any) -> dict[str, Any]:
        total, differs = counts[self.total], counts[self.nonzero]
        bad = (abs(total) > differs) | (differs > eligible) | ((differs + total) % 2 != 0)
        out = super().find_impossible(counts, eligible, most)
        return out | {self.nonzero: bad | out.get(self.nonzero, False)}

    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        if trials and not self.bound(point):
            return Estimate(0.0, 0.0, 0.0, 0.0)
        return paired_difference(counts[self.total], counts[self.nonzero], trials)


@dataclass(frozen=True, kw_only=True)
class CensoredMean(Mean):
    """A :class:`Mean` of a quantity that is unknown in the trials counted by ``unknown``: there it is in [0, bound(point)].

    ``total`` and ``squares`` are over the other trials, so the estimate can be too low.  The interval allows for that: its upper
    limit adds the bound times the Clopper-Pearson limit of the unknown fraction.  Both limits share the level equally.
    """

    unknown: str

    def counters(self) -> tuple[str, ...]:
        return *super().counters(), self.unknown

    def _quotient(self, counts: Counts, trials: int, point: Point) -> tuple[int, Fraction]:
        return super()._quotient(counts, 0 if counts[self.unknown] else trials, point)

    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        total, squares, bound, half = counts[self.total], counts[self.squares], self.bound(point), ALPHA / 2
        known = bounded_mean(total, squares, trials, self.unit(point), bound, alpha=half)
        unknown = proportion(counts[self.unknown], trials, half)
        return replace(known, high=min(bound, known.high + bound * unknown.high))


class ClassBounds(NamedTuple):
    """The bounds of a class of trials at a point, in units of the mean before ``scale``."""

    least: float  #: the least value of the quantity in a trial of the class
    most: float  #: the largest value, 0 if the class is empty at this point
    proved: float  #: a proved bound on the class's contribution to the mean


class ClassSums(NamedTuple):
    """The number of trials in a class, and the sums of the quantity times the unit, and of its square, over them."""

    trials: int
    total: int
    squares: int


@dataclass(frozen=True, kw_only=True)
class ClassMean(Number):
    """Mean of a heavy-tailed quantity, split by classes of trials with separate bounds (``estimate.mean_of_classes``).

    ``reached`` names for each class the counter of the trials in this class or a later one.  ``totals`` and ``squares`` name its
    sums, in units of 1 / ``unit(point)``.  Outside the classes the quantity is zero.  ``classes`` returns the bounds of each
    class at a point.  ``nonzero`` counts the trials in which the quantity is nonzero.
    """

    reached: tuple[str, ...]
    totals: tuple[str, ...]
    squares: tuple[str, ...]
    nonzero: str
    classes: Callable[[Point], tuple[ClassBounds, ...]]
    unit: Callable[[Point], float] = return_one
    interval: ClassVar[str] = "bounded"

    #: Number of classes without counters of their own.
    unlisted: ClassVar[int] = 0

    def counters(self) -> tuple[str, ...]:
        return *self.reached, *self.totals, *self.squares, self.nonzero

    def count_events(self, counts: Counts, trials: int) -> int:
        return int(counts[self.nonzero])

    def find_impossible(self, counts: Counts, eligible: Any, most: Any) -> dict[str, Any]:
        bad = counts[self.reached[0]] > eligible
        for sums in self.sum_classes({name: counts[name].astype(object) for name in self.counters()}):
            bad = bad | (sums.trials < 0) | are_sums_impossible(sums.total, sums.squares, sums.trials, signed=False)
        return {self.name: bad}

    def can_occur(self, point: Point) -> bool:
        return super().can_occur(point) and any(bounds.most > 0 for bounds in self.classes(point))

    def sum_classes(self, counts: Counts) -> list[ClassSums]:
        """Return number of trials, total and sum of squares of each class."""
        reached = [*(counts[name] for name in self.reached), 0]
        trials = [here - beyond for here, beyond in itertools.pairwise(reached)]
        columns = trials, [counts[name] for name in self.totals], [counts[name] for name in self.squares]
        return [ClassSums(*sums) for sums in zip(*columns, strict=True)]

    def _quotient(self, counts: Counts, trials: int, point: Point) -> tuple[int, Fraction]:
        return sum(sums.total for sums in self.sum_classes(counts)), trials * Fraction(self.unit(point))

    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        pairs = zip(self.sum_classes(counts), self.classes(point), strict=True)
        return mean_of_classes([TrialClass(*sums, *bounds) for sums, bounds in pairs], trials, self.unit(point))


@dataclass(frozen=True, kw_only=True)
class SplitMean(ClassMean):
    """A :class:`ClassMean` whose first class is computed: ``total`` and ``total_squares`` less the sums of the other classes.

    At a point where only the first class can occur, it is a :class:`Mean` with the bound of this class.
    """

    total: str
    total_squares: str
    unlisted: ClassVar[int] = 1

    def counters(self) -> tuple[str, ...]:
        return *super().counters(), self.total, self.total_squares

    def sum_classes(self, counts: Counts) -> list[ClassSums]:
        later = super().sum_classes(counts)
        trials, total, squares = (sum(column) for column in zip(*later, strict=True))
        return [
            ClassSums(counts[self.nonzero] - trials, counts[self.total] - total, counts[self.total_squares] - squares),
            *later,
        ]

    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        first, *later = self.classes(point)
        if any(bounds.most for bounds in later):
            return super()._unscaled_estimate(counts, trials, point)
        return bounded_mean(counts[self.total], counts[self.total_squares], trials, self.unit(point), first.most)
