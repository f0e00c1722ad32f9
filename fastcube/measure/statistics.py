"""Statistics: numbers computed from a tally's counters.  The class of a statistic determines its interval.

A statistic is data: the names of its counters, its condition, and its numbers at a point (whether it is defined there,
the unit of its totals, its bound, its scale).
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, ClassVar

from ..errors import ParameterError, StudyError, check_flag, check_integer, check_line, short_repr
from .estimate import (
    ALPHA,
    UNDEFINED,
    Estimate,
    OrderEstimate,
    TrialClass,
    bounded_mean,
    mean_of_classes,
    min_nonzero_values,
    normal_mean,
    paired_difference,
    proportion,
    quantile_bins,
    ratio,
)

Value = int | float
Point = Mapping[str, Value]

#: Counters by name: integers, or tuples of integers for those with bins.
Counts = Mapping[str, Any]


def _return_true(_: Point) -> bool:
    return True


def _return_one(_: Point) -> float:
    return 1.0


def _return_zero(_: Point) -> float:
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
    shown : bool
        Whether the statistic is in the terminal's table; csv, json and the file have all statistics.
    """

    name: str
    description: str
    condition: str | None = None
    defined: Callable[[Point], bool] = _return_true
    scale: Callable[[Point], float | Fraction] = _return_one
    units: str = "1"
    shown: bool = True

    #: The kind of interval: ``exact``, ``bounded`` or ``asymptotic``.
    interval: ClassVar[str]

    #: Least and largest value of integer fields, unless they are 0 and 2^31.
    ranges: ClassVar[Mapping[str, tuple[int, int]]] = {}

    def __post_init__(self) -> None:
        for item in fields(self):
            object.__setattr__(self, item.name, self._check_field(item.name, str(item.type), getattr(self, item.name)))

    def _check_field(self, name: str, kind: str, given: Any) -> Any:
        """Return a field's value.

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
            many = tuple(given) if isinstance(given, (tuple, list)) else (given,)
            return tuple(check_line(f"{name} of a statistic", one) for one in many)
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
        if self.scale is _return_one:
            return e
        by = float(self.scale(point))
        return replace(e, value=by * e.value, stderr=by * e.stderr, low=by * e.low, high=by * e.high)


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
        part, whole = self._quotient(counts, self.trials(counts, trials), point)
        return Fraction(self.scale(point)) * part / whole if whole and self.defined(point) else None

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


#: More than the relative rounding error of the product of a unit and a bound.
_ROUNDING = 1 + 1e-9


def _are_sums_impossible(total: Any, squares: Any, eligible: Any, signed: bool) -> Any:
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
    unit: Callable[[Point], float] = _return_one
    bound: Callable[[Point], float] = _return_one
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
        bad = _are_sums_impossible(total, squares, eligible, self.signed)
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


#: Least and largest value of a quantity in a class of trials, and the proved bound on the class's contribution to the mean.
Bounds = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class ClassMean(Number):
    """Mean of a heavy-tailed quantity, split by classes of trials with separate bounds (``estimate.mean_of_classes``).

    ``reached`` names for each class the counter of the trials in this class or a later one.  ``totals`` and ``squares`` name its
    sums, in units of 1 / ``unit(point)``.  Outside the classes the quantity is zero.  ``classes`` returns the bounds of each
    class at a point, in units of the mean before ``scale``.  ``nonzero`` counts the trials in which the quantity is nonzero.
    """

    reached: tuple[str, ...]
    totals: tuple[str, ...]
    squares: tuple[str, ...]
    nonzero: str
    classes: Callable[[Point], tuple[Bounds, ...]]
    unit: Callable[[Point], float] = _return_one
    interval: ClassVar[str] = "bounded"

    #: Number of classes without counters of their own.
    unlisted: ClassVar[int] = 0

    def counters(self) -> tuple[str, ...]:
        return *self.reached, *self.totals, *self.squares, self.nonzero

    def count_events(self, counts: Counts, trials: int) -> int:
        return int(counts[self.nonzero])

    def find_impossible(self, counts: Counts, eligible: Any, most: Any) -> dict[str, Any]:
        bad = counts[self.reached[0]] > eligible
        for many, total, squares in self.sums({name: counts[name].astype(object) for name in self.counters()}):
            bad = bad | (many < 0) | (squares * many < total * total) | (squares > total * total)
        return {self.name: bad}

    def can_occur(self, point: Point) -> bool:
        return super().can_occur(point) and any(most > 0 for _, most, _ in self.classes(point))

    def sums(self, counts: Counts) -> list[tuple[int, int, int]]:
        """Return number of trials, total and sum of squares of each class."""
        reached = [*(counts[name] for name in self.reached), 0]
        trials = [more - less for more, less in itertools.pairwise(reached)]
        return [(many, counts[a], counts[b]) for many, a, b in zip(trials, self.totals, self.squares, strict=True)]

    def _quotient(self, counts: Counts, trials: int, point: Point) -> tuple[int, Fraction]:
        return sum(total for _, total, _ in self.sums(counts)), trials * Fraction(self.unit(point))

    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        known = zip(self.sums(counts), self.classes(point), strict=True)
        return mean_of_classes([TrialClass(*sums, *bounds) for sums, bounds in known], trials, self.unit(point))


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

    def sums(self, counts: Counts) -> list[tuple[int, int, int]]:
        later = super().sums(counts)
        many, total, squares = (sum(column) for column in zip(*later, strict=True))
        first = counts[self.nonzero] - many, counts[self.total] - total, counts[self.total_squares] - squares
        return [first, *later]

    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        first, *later = self.classes(point)
        if any(most for _, most, _ in later):
            return super()._unscaled_estimate(counts, trials, point)
        return bounded_mean(counts[self.total], counts[self.total_squares], trials, self.unit(point), first[1])


#: Least number of differing trials before a run stops on an asymptotic interval; with fewer the normal interval is unreliable.
MIN_NONZERO_TRIALS = 30


#: Least sum of a quantity with a heavy tail before a run stops on its interval, as a multiple of the largest possible value.  The
#: normal interval of ``susceptibility`` then covers 94 to 95% (hypercube, n = 4, against all fault sets); without this rule 91%.
MIN_SUM_OF_TAIL = 100


@dataclass(frozen=True, kw_only=True)
class AsymptoticStatistic(Number):
    """Base of :class:`NormalMean` and :class:`Ratio`.  ``base`` is the value in most trials, if they have a common one.

    A run stops on the interval if at least MIN_NONZERO_TRIALS trials differ from the base, or if all trials agree and the
    interval allows for that.
    """

    base: int = 0
    interval: ClassVar[str] = "asymptotic"

    @abstractmethod
    def deviation_sums(self, counts: Counts, trials: int, point: Point) -> tuple[int, int]:
        """Return the sum, and the sum of squares, of the trials' deviations from the base."""

    def is_settled(self, counts: Counts, trials: int, point: Point) -> bool:
        total, squares = self.deviation_sums(counts, self.trials(counts, trials), point)
        return squares == 0 or min_nonzero_values(total, squares) >= MIN_NONZERO_TRIALS


@dataclass(frozen=True, kw_only=True)
class NormalMean(AsymptoticStatistic):
    """Mean of any quantity: normal interval, asymptotic.

    ``nonzero`` names the counter of the trials in which the quantity is nonzero; without it every trial is an event.  ``bound``
    is the largest value of the quantity, which is then in [base, bound], or 0 if unknown.  If it is unknown and all trials
    agree, there is no interval.  ``least_sum`` is the sum of the quantity that a run waits for at a point before it stops on the
    interval: for a heavy tail, MIN_SUM_OF_TAIL times the bound, because early samples lack rare large values.
    """

    total: str
    squares: str
    nonzero: str | None = None
    unit: Callable[[Point], float] = _return_one
    bound: Callable[[Point], float] = _return_zero
    least_sum: Callable[[Point], float] = _return_zero

    #: Whether the quantity may be negative whatever its base is.
    signed: ClassVar[bool] = False

    def is_settled(self, counts: Counts, trials: int, point: Point) -> bool:
        total, squares = self.deviation_sums(counts, self.trials(counts, trials), point)
        enough = squares == 0 or total >= self.least_sum(point) * self.unit(point)
        return enough and super().is_settled(counts, trials, point)

    def counters(self) -> tuple[str, ...]:
        return (self.total, self.squares) if self.nonzero is None else (self.total, self.squares, self.nonzero)

    def count_events(self, counts: Counts, trials: int) -> int:
        return self.trials(counts, trials) if self.nonzero is None else int(counts[self.nonzero])

    def find_impossible(self, counts: Counts, eligible: Any, most: Any) -> dict[str, Any]:
        total, squares = (counts[name].astype(object) for name in (self.total, self.squares))
        return {self.squares: _are_sums_impossible(total, squares, eligible, self.signed or self.base < 0)}

    def deviation_sums(self, counts: Counts, trials: int, point: Point) -> tuple[int, int]:
        total, usual = counts[self.total], self.base * round(self.unit(point))
        return total - usual * trials, counts[self.squares] - 2 * usual * total + usual * usual * trials

    def _quotient(self, counts: Counts, trials: int, point: Point) -> tuple[int, Fraction]:
        return counts[self.total], trials * Fraction(self.unit(point))

    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        totals = counts[self.total], counts[self.squares]
        return normal_mean(*totals, trials, self.unit(point), self.bound(point), self.base)


@dataclass(frozen=True, kw_only=True)
class NormalDifference(NormalMean):
    """Mean of A - B, two quantities of the same trials, in [-bound(point), bound(point)]: normal interval, asymptotic.

    ``total`` counts A - B with its sign, ``nonzero`` the trials with A != B.  A run waits for such trials, because sums with
    signs can cancel.  If ``bound`` is 0, A and B are always equal, and the difference is 0 without any uncertainty.
    """

    nonzero: str
    bound: Callable[[Point], float]
    signed: ClassVar[bool] = True

    def is_settled(self, counts: Counts, trials: int, point: Point) -> bool:
        differ = int(counts[self.nonzero])
        return differ == 0 or differ >= MIN_NONZERO_TRIALS

    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        bound = self.bound(point)
        if trials and not bound:
            return Estimate(0.0, 0.0, 0.0, 0.0)
        return normal_mean(counts[self.total], counts[self.squares], trials, self.unit(point), bound, -bound)


@dataclass(frozen=True, kw_only=True)
class Ratio(AsymptoticStatistic):
    """Ratio of the totals of two quantities over the same trials: delta method, asymptotic.

    ``numerator`` and ``denominator`` are the counters of the totals.  ``squares`` names the counters of the sums of
    numerator^2, numerator * denominator and denominator^2.  ``nonzero`` counts the events: trials whose ratio differs from
    the base.  ``bound`` is the largest ratio of one trial, before ``scale``, or 0 if unknown.  The ratio is then in
    [base, bound].  If it is unknown and all trials agree, there is no interval.
    """

    numerator: str
    denominator: str
    squares: tuple[str, str, str]
    nonzero: str
    bound: Callable[[Point], float] = _return_zero

    def counters(self) -> tuple[str, ...]:
        return self.numerator, self.denominator, *self.squares, self.nonzero

    def count_events(self, counts: Counts, trials: int) -> int:
        return int(counts[self.nonzero])

    def deviation_sums(self, counts: Counts, trials: int, point: Point) -> tuple[int, int]:
        nn, nd, dd = (counts[name] for name in self.squares)
        total = counts[self.numerator] - self.base * counts[self.denominator]
        return total, nn - 2 * self.base * nd + self.base * self.base * dd

    def _quotient(self, counts: Counts, trials: int, point: Point) -> tuple[int, Fraction]:
        return counts[self.numerator], Fraction(counts[self.denominator])

    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        nn, nd, dd = (counts[name] for name in self.squares)
        totals = counts[self.numerator], counts[self.denominator]
        return ratio(*totals, nn, nd, dd, trials, self.bound(point), self.base)


@dataclass(frozen=True, kw_only=True)
class BinnedStatistic(Statistic):
    """Base of the statistics of a counter with bins: ``counter`` is its name.  Bin i counts the trials with value i."""

    counter: str
    interval: ClassVar[str] = "exact"

    def counters(self) -> tuple[str, ...]:
        return ()

    def bins_needed(self) -> dict[str, int]:
        return {self.counter: 1}

    def find_impossible(self, counts: Counts, eligible: Any, most: Any) -> dict[str, Any]:
        return {self.counter: counts[self.counter] > eligible}


@dataclass(frozen=True, kw_only=True)
class Distribution(BinnedStatistic):
    """The distribution of an integer: the fraction of trials with each value, each with its own Clopper-Pearson interval.

    ``counter`` names a counter with bins; bin i counts the trials with value i.  ``label`` names the value in rows such as
    ``rounds=3``.  A distribution cannot be a target.
    """

    label: str
    shown: bool = False

    def read(self, counts: Counts, trials: int, point: Point) -> list[Estimate]:
        """Return the fraction of trials with each value, from 0 to the last bin."""
        eligible = self.trials(counts, trials)
        return [self._scale_estimate(proportion(events, eligible), point) for events in counts[self.counter]]


@dataclass(frozen=True, kw_only=True)
class TailProportion(BinnedStatistic, Number):
    """Fraction of trials (or of those that ``condition`` counts) with the value ``least`` or more: Clopper-Pearson interval.

    ``counter`` names a counter with bins; bin i counts the trials with value i, and the last bin all larger values.  ``least``
    is in [1, last bin].
    """

    least: int
    ranges: ClassVar[Mapping[str, tuple[int, int]]] = {"least": (1, 2**31)}

    def bins_needed(self) -> dict[str, int]:
        return {self.counter: self.least + 1}

    def count_events(self, counts: Counts, trials: int) -> int:
        return int(sum(counts[self.counter][self.least :]))

    def _quotient(self, counts: Counts, trials: int, point: Point) -> tuple[int, Fraction]:
        return self.count_events(counts, trials), Fraction(trials)

    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        return proportion(self.count_events(counts, trials), trials)


@dataclass(frozen=True, kw_only=True)
class Quantile(BinnedStatistic, Number):
    """Least value that at least ``percent`` percent of the trials do not exceed: exact interval between order statistics.

    ``counter`` names a counter with bins, which hold all trials (or all that ``condition`` counts).  Values are integers.  Bin i
    counts the trials with values in [i, i + 1) / unit(point), and the last bin also all larger values.  So ``unit`` is 1 for bins
    of one value, and 1/4 for bins of four values.  Estimate and lower limit are the least values of their bins, and the upper
    limit is the largest value of its bin.  An upper limit in the last bin is ``bound(point)``, the largest possible value, or
    infinite if no bound is given.  ``percent`` is an integer in [1, 99].

    A run can stop on the width of the interval.  Every trial counts as an event.
    """

    percent: int = 50
    unit: Callable[[Point], float] = _return_one
    bound: Callable[[Point], float] = _return_zero
    ranges: ClassVar[Mapping[str, tuple[int, int]]] = {"percent": (1, 99)}

    def find_impossible(self, counts: Counts, eligible: Any, most: Any) -> dict[str, Any]:
        return {self.counter: counts[self.counter] != eligible}

    def count_events(self, counts: Counts, trials: int) -> int:
        return self.trials(counts, trials)

    def _values_per_bin(self, point: Point) -> int:
        unit = self.unit(point)
        many = round(1 / unit) if unit > 0 else 0
        if not many or unit != 1 / many:
            raise StudyError(f"unit of statistic {self.name} must be 1 / the number of values per bin, got {unit:g}")
        return many

    def _quotient(self, counts: Counts, trials: int, point: Point) -> tuple[int, Fraction]:
        bins = counts[self.counter]
        at = quantile_bins(bins, self.percent)[0] if trials else 0
        is_one_value = self._values_per_bin(point) == 1 and (at < len(bins) - 1 or at == self.bound(point))
        return at, Fraction(bool(trials) and is_one_value)

    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        bins, many, bound = counts[self.counter], self._values_per_bin(point), self.bound(point) or math.inf
        if not trials:
            return UNDEFINED
        at, first, last = quantile_bins(bins, self.percent)
        high = bound if last == len(bins) - 1 else min(bound, (last + 1) * many - 1)
        return OrderEstimate(float(at * many), math.nan, float(first * many), float(high))


def make_quantiles(
    name: str, description: str, counter: str, percents: Sequence[int] = (5, 50, 95), **how: Any
) -> tuple[Quantile, ...]:
    """Return quantiles of one quantity, named NAME_median, or NAME_q05 for 5 percent; ``how`` are further fields of each."""
    return tuple(
        Quantile(
            name=f"{name}_median" if percent == 50 else f"{name}_q{percent:02}",
            description=f"{description}: {'median' if percent == 50 else f'{percent}% quantile'}",
            counter=counter,
            percent=percent,
            **how,
        )
        for percent in percents
    )


_PROPORTIONS = (Proportion, ComplementProportion)
_MEANS = (
    Mean,
    ShiftedMean,
    Difference,
    PairedDifference,
    CensoredMean,
    ClassMean,
    SplitMean,
    NormalMean,
    NormalDifference,
)

#: The classes of statistics, by their names in results files.
KINDS: dict[str, type[Statistic]] = {
    kind.__name__: kind for kind in (*_PROPORTIONS, *_MEANS, Ratio, Distribution, TailProportion, Quantile)
}
