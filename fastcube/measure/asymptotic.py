"""Statistics with asymptotic intervals: normal means, their differences, and ratios.

Such an interval is reliable only after enough trials, so each class determines when a run may stop on it (``is_settled``).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from .estimate import Estimate, min_nonzero_values, normal_mean, ratio
from .statistics import Counts, Number, Point, are_sums_impossible, return_one, return_zero

#: Least number of differing trials before a run stops on an asymptotic interval; with fewer the normal interval is unreliable.
MIN_NONZERO_TRIALS = 30

#: Least sum of a quantity with a heavy tail before a run stops on its interval, as a multiple of the largest possible value.  The
#: normal interval of ``susceptibility`` then covers 94 to 95% (hypercube, n = 4, against all fault sets); without this rule 91%.
MIN_SUM_OF_TAIL = 100


@dataclass(frozen=True, kw_only=True)
class AsymptoticStatistic(Number):
    """Base of the statistics with asymptotic intervals.  ``base`` is the value in most trials, if they have a common one.

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
    agree, there is no interval.  A run does not stop on the interval before the values minus the base add up to ``least_sum``,
    unless all equal the base.  For a heavy tail it is MIN_SUM_OF_TAIL times the bound, because early samples lack rare large
    values.  The counters hold values times ``unit``; ``bound`` and ``least_sum`` are in units.
    """

    total: str
    squares: str
    nonzero: str | None = None
    unit: Callable[[Point], float] = return_one
    bound: Callable[[Point], float] = return_zero
    least_sum: Callable[[Point], float] = return_zero

    #: Whether the quantity may be negative whatever its base is.
    signed: ClassVar[bool] = False

    def is_settled(self, counts: Counts, trials: int, point: Point) -> bool:
        total, squares = self.deviation_sums(counts, self.trials(counts, trials), point)
        has_least_sum = squares == 0 or total >= self.least_sum(point) * self.unit(point)
        return has_least_sum and super().is_settled(counts, trials, point)

    def counters(self) -> tuple[str, ...]:
        return (self.total, self.squares) if self.nonzero is None else (self.total, self.squares, self.nonzero)

    def count_events(self, counts: Counts, trials: int) -> int:
        return self.trials(counts, trials) if self.nonzero is None else int(counts[self.nonzero])

    def find_impossible(self, counts: Counts, eligible: Any, most: Any) -> dict[str, Any]:
        total, squares = (counts[name].astype(object) for name in (self.total, self.squares))
        return {self.squares: are_sums_impossible(total, squares, eligible, self.signed or self.base < 0)}

    def deviation_sums(self, counts: Counts, trials: int, point: Point) -> tuple[int, int]:
        total, squares, base = counts[self.total], counts[self.squares], self.base * round(self.unit(point))
        return total - base * trials, squares - 2 * base * total + base * base * trials

    def _quotient(self, counts: Counts, trials: int, point: Point) -> tuple[int, Fraction]:
        return counts[self.total], trials * Fraction(self.unit(point))

    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        totals = counts[self.total], counts[self.squares]
        return normal_mean(*totals, trials, self.unit(point), self.bound(point), self.base)


@dataclass(frozen=True, kw_only=True)
class NormalDifference(NormalMean):
    """Mean of A - B, two quantities of the same trials, in [-bound(point), bound(point)]: normal interval, asymptotic.

    ``total`` counts A - B with its sign, ``nonzero`` the trials with A != B.  A run waits for such trials, because sums with
    signs can cancel.  Here ``bound`` is always known.  A bound of 0 means that A and B are always equal, so the difference is 0
    without any uncertainty.
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
    bound: Callable[[Point], float] = return_zero

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
