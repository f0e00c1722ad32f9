"""Statistics: numbers read from a tally's counters, each of a kind that says how its interval is made.

A statistic is data: the counters it reads, its condition, and its numbers at a point (whether it is defined there,
the unit its totals are counted in, its bound, its scale).
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, ClassVar

from ..errors import ParameterError, check_flag, check_integer, check_line, short_repr
from .estimate import (
    ALPHA,
    Estimate,
    TrialClass,
    bounded_mean,
    mean_of_classes,
    min_nonzero_values,
    normal_mean,
    paired_difference,
    proportion,
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


def _return_none(_: Point) -> float:
    return 0.0


@dataclass(frozen=True, kw_only=True)
class Statistic(ABC):
    """What all kinds share: a :class:`Number` or a :class:`Distribution`.

    Parameters
    ----------
    name, description : str
        Short name, and what it is in words.
    condition : str, optional
        The counter of the trials that it is over; by default all trials.
    defined : callable
        Whether a point defines it; where not, it is NaN in the file and empty in csv.
    scale : callable
        A factor of estimate and interval at a point, an int, float or Fraction.
    units : str
    shown : bool
        Whether the terminal table has it; csv, json and the file have all.
    """

    name: str
    description: str
    condition: str | None = None
    defined: Callable[[Point], bool] = _return_true
    scale: Callable[[Point], float | Fraction] = _return_one
    units: str = "1"
    shown: bool = True

    #: How the interval is made: ``exact``, ``bounded`` or ``asymptotic``.
    interval: ClassVar[str]

    def __post_init__(self) -> None:
        for item in fields(self):
            object.__setattr__(self, item.name, self._check_field(item.name, str(item.type), getattr(self, item.name)))

    def _check_field(self, name: str, kind: str, given: Any) -> Any:
        """A field's value; ParameterError unless it is of the kind that the class declares."""
        if kind == "bool":
            return check_flag(name, given)
        if kind == "int":
            return check_integer(f"{name} of a statistic", given, 0, 2**31)
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
        """The plain counters that it reads, without ``condition``."""

    @abstractmethod
    def read(self, counts: Counts, trials: int, point: Point) -> list[Estimate]:
        """One estimate, or one for each bin, from the counters of ``trials`` trials."""

    def trials(self, counts: Counts, trials: int) -> int:
        """Number of trials that it is over, among ``trials``."""
        return trials if self.condition is None else counts[self.condition]

    def _scale_estimate(self, e: Estimate, point: Point) -> Estimate:
        if self.scale is _return_one:
            return e
        by = float(self.scale(point))
        return replace(e, value=by * e.value, stderr=by * e.stderr, low=by * e.low, high=by * e.high)


@dataclass(frozen=True, kw_only=True)
class Number(Statistic):
    """A statistic of one number at a point: what targets refer to.

    ``possible`` tells whether a point's trials can give an event; where it is proved that none can, no run waits for one.
    """

    possible: Callable[[Point], bool] = _return_true

    @abstractmethod
    def count_events(self, counts: Counts, trials: int) -> int:
        """Of so many trials, those in which the statistic is nonzero."""

    def can_occur(self, point: Point) -> bool:
        """Whether a point's trials can give an event."""
        return bool(self.possible(point))

    def estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        """Estimate with its interval, from the counters of ``trials`` trials."""
        return self._scale_estimate(self._unscaled_estimate(counts, self.trials(counts, trials), point), point)

    def read(self, counts: Counts, trials: int, point: Point) -> list[Estimate]:
        return [self.estimate(counts, trials, point)]

    def is_settled(self, counts: Counts, trials: int, point: Point) -> bool:
        """Whether a run may stop on the interval from ``trials`` trials."""
        return True

    def exact(self, counts: Counts, trials: int, point: Point) -> Fraction | None:
        """Its value where the ``trials`` are all that can be drawn; None where it is over none, or not defined."""
        part, whole = self._quotient(counts, self.trials(counts, trials), point)
        return Fraction(self.scale(point)) * part / whole if whole and self.defined(point) else None

    @abstractmethod
    def _quotient(self, counts: Counts, trials: int, point: Point) -> tuple[int, Fraction]:
        """Of what it is the quotient, over ``trials`` trials that it is over, before ``scale``."""

    @abstractmethod
    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        """The same over ``trials`` trials that it is over, before ``scale``."""


@dataclass(frozen=True, kw_only=True)
class Proportion(Number):
    """Share of trials (or of those that ``condition`` counts) that ``events`` counts: Clopper-Pearson interval.

    ``events`` is by default the counter of its own name.
    """

    events: str = ""
    interval: ClassVar[str] = "exact"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "events", self.events or self.name)

    def counters(self) -> tuple[str, ...]:
        return (self.events,)

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
    """Share of trials (or of those that ``condition`` counts) that ``events`` does not count: Clopper-Pearson interval."""

    def count_events(self, counts: Counts, trials: int) -> int:
        return self.trials(counts, trials) - int(counts[self.events])

    def _quotient(self, counts: Counts, trials: int, point: Point) -> tuple[int, Fraction]:
        return trials - counts[self.events], Fraction(trials)

    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        return proportion(trials - counts[self.events], trials)


@dataclass(frozen=True, kw_only=True)
class Mean(Number):
    """Mean of a quantity in [0, bound(point)]: empirical Bernstein interval.

    ``total`` and ``squares`` count the quantity in units of ``unit(point)`` (2^n for a fraction of nodes);
    ``nonzero`` counts the trials where it is not zero.  By default they are ``TOTAL_squared`` and ``with_TOTAL``.
    """

    total: str
    squares: str = ""
    nonzero: str = ""
    unit: Callable[[Point], float] = _return_one
    bound: Callable[[Point], float] = _return_one
    interval: ClassVar[str] = "bounded"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "squares", self.squares or f"{self.total}_squared")
        object.__setattr__(self, "nonzero", self.nonzero or f"with_{self.total}")

    def counters(self) -> tuple[str, ...]:
        return self.total, self.squares, self.nonzero

    def count_events(self, counts: Counts, trials: int) -> int:
        return int(counts[self.nonzero])

    def can_occur(self, point: Point) -> bool:
        return super().can_occur(point) and self.bound(point) > 0

    def _quotient(self, counts: Counts, trials: int, point: Point) -> tuple[int, Fraction]:
        return counts[self.total], trials * Fraction(self.unit(point))

    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        return bounded_mean(counts[self.total], counts[self.squares], trials, self.unit(point), self.bound(point))


@dataclass(frozen=True, kw_only=True)
class ShiftedMean(Mean):
    """A :class:`Mean` of what is above ``least``: that is added after ``scale``."""

    least: float = 0.0

    def _scale_estimate(self, e: Estimate, point: Point) -> Estimate:
        e = super()._scale_estimate(e, point)
        return replace(e, value=e.value + self.least, low=e.low + self.least, high=e.high + self.least)


@dataclass(frozen=True, kw_only=True)
class Difference(Mean):
    """Mean of A - B, two quantities of the same trials, in [-bound(point), bound(point)]: empirical Bernstein interval.

    ``total`` counts A - B with its sign.
    """

    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        bound = self.bound(point)
        return bounded_mean(counts[self.total], counts[self.squares], trials, self.unit(point), bound, -bound)


@dataclass(frozen=True, kw_only=True)
class PairedDifference(Difference):
    """Mean of A - B, two 0/1 outcomes of the same trials: exact interval, from two Clopper-Pearson limits.

    ``total`` counts A - B with its sign and ``nonzero`` the trials where they differ, which are also the sum of squares.
    ``bound`` is 1, or 0 at a point where A is B: the difference is 0 there, and nothing is uncertain.
    """

    interval: ClassVar[str] = "exact"

    def __post_init__(self) -> None:
        if isinstance(self.squares, str):
            object.__setattr__(self, "squares", self.squares or self.nonzero)
        super().__post_init__()

    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        if trials and not self.bound(point):
            return Estimate(0.0, 0.0, 0.0, 0.0)
        return paired_difference(counts[self.total], counts[self.nonzero], trials)


@dataclass(frozen=True, kw_only=True)
class CensoredMean(Mean):
    """A :class:`Mean` of what some trials do not tell: anything in [0, bound(point)] in those that ``unknown`` counts.

    ``total`` and ``squares`` are over the others, so the estimate is a lower one by at most what the interval allows for:
    the limit of a Clopper-Pearson interval times the bound.  The level is shared equally.
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


#: Least and most of a quantity in a class of trials, and the proved bound on the class's share of the mean.
Bounds = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class ClassMean(Number):
    """Mean of a heavy-tailed quantity, split by classes of trials with bounds of their own (``estimate.mean_of_classes``).

    ``reached`` names for each class the counter of the trials of this class or a later one, ``totals`` and
    ``squares`` its sums, in units of ``unit(point)``; outside of the classes the quantity is zero.  ``classes`` gives at a
    point each class's bounds, in units of the mean before ``scale``.  ``nonzero`` counts the trials where it is not zero.
    """

    reached: tuple[str, ...]
    totals: tuple[str, ...]
    squares: tuple[str, ...]
    nonzero: str
    classes: Callable[[Point], tuple[Bounds, ...]]
    unit: Callable[[Point], float] = _return_one
    interval: ClassVar[str] = "bounded"

    #: Classes that have no counters of their own.
    unlisted: ClassVar[int] = 0

    def counters(self) -> tuple[str, ...]:
        return *self.reached, *self.totals, *self.squares, self.nonzero

    def count_events(self, counts: Counts, trials: int) -> int:
        return int(counts[self.nonzero])

    def can_occur(self, point: Point) -> bool:
        return super().can_occur(point) and any(most > 0 for _, most, _ in self.classes(point))

    def sums(self, counts: Counts) -> list[tuple[int, int, int]]:
        """Trials, total and sum of squares of each class."""
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
    """A :class:`ClassMean` whose first class has no counters: it is what the others leave of ``total`` and ``total_squares``.

    At a point where only the first class can be, it is a :class:`Mean` with that class's bound.
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


#: Trials that must differ before a run stops on an asymptotic interval: of fewer it is no normal interval yet.
MIN_NONZERO_TRIALS = 30


@dataclass(frozen=True, kw_only=True)
class AsymptoticStatistic(Number):
    """What a :class:`NormalMean` and a :class:`Ratio` share: ``base`` is what most trials give where they give the same.

    A run stops on its interval when all trials agree and the interval says what this allows, or at least LEAST_DIFFERING
    differ from the base.
    """

    base: int = 0
    interval: ClassVar[str] = "asymptotic"

    @abstractmethod
    def beyond(self, counts: Counts, trials: int, point: Point) -> tuple[int, int]:
        """Sum, and sum of squares, of what the trials give beyond the base."""

    def is_settled(self, counts: Counts, trials: int, point: Point) -> bool:
        total, squares = self.beyond(counts, self.trials(counts, trials), point)
        return squares == 0 or min_nonzero_values(total, squares) >= MIN_NONZERO_TRIALS


@dataclass(frozen=True, kw_only=True)
class NormalMean(AsymptoticStatistic):
    """Mean of any quantity: normal interval, asymptotic.

    ``nonzero`` names the counter of the trials where it is not zero; without it every trial is an event.  ``bound`` is the
    most that the quantity, then in [base, bound], can be, and 0 where that is not known: no interval is then made where all
    trials agree.
    """

    total: str
    squares: str
    nonzero: str | None = None
    unit: Callable[[Point], float] = _return_one
    bound: Callable[[Point], float] = _return_none

    def counters(self) -> tuple[str, ...]:
        return (self.total, self.squares) if self.nonzero is None else (self.total, self.squares, self.nonzero)

    def count_events(self, counts: Counts, trials: int) -> int:
        return self.trials(counts, trials) if self.nonzero is None else int(counts[self.nonzero])

    def beyond(self, counts: Counts, trials: int, point: Point) -> tuple[int, int]:
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

    ``total`` counts A - B with its sign, ``nonzero`` the trials where they differ: those that a run waits for, since sums
    with signs cancel.  Where ``bound`` is 0, A is B: the difference is 0, and nothing is uncertain.
    """

    nonzero: str
    bound: Callable[[Point], float]

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

    ``numerator`` and ``denominator`` are counters of the totals; ``squares`` names the counters of the sums of
    numerator^2, numerator * denominator and denominator^2; ``nonzero`` counts the events: the trials whose ratio is not
    the base, where these are counted.  ``bound`` is the most that one trial's ratio, then in [base, bound], can be, before
    ``scale``, and 0 where that is not known: no interval is then made where all trials agree.
    """

    numerator: str
    denominator: str
    squares: tuple[str, str, str]
    nonzero: str
    bound: Callable[[Point], float] = _return_none

    def counters(self) -> tuple[str, ...]:
        return self.numerator, self.denominator, *self.squares, self.nonzero

    def count_events(self, counts: Counts, trials: int) -> int:
        return int(counts[self.nonzero])

    def beyond(self, counts: Counts, trials: int, point: Point) -> tuple[int, int]:
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
class Distribution(Statistic):
    """The law of an integer: the share of trials with each value, each with its own Clopper-Pearson interval.

    ``counter`` names a counter with bins; bin i counts the trials with value i.  ``label`` is what the value is called
    in rows such as ``rounds=3``; it is no target for a precision.
    """

    counter: str
    label: str
    shown: bool = False
    interval: ClassVar[str] = "exact"

    def counters(self) -> tuple[str, ...]:
        return ()

    def read(self, counts: Counts, trials: int, point: Point) -> list[Estimate]:
        """Share of each value, from 0 to the last bin."""
        eligible = self.trials(counts, trials)
        return [self._scale_estimate(proportion(events, eligible), point) for events in counts[self.counter]]


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

#: The kinds of statistics, by the name that stands in a file.
KINDS: dict[str, type[Statistic]] = {kind.__name__: kind for kind in (*_PROPORTIONS, *_MEANS, Ratio, Distribution)}
