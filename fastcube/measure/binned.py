"""Statistics of counters with bins: distributions, tail proportions and quantiles, all with exact intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from ..errors import StudyError
from .estimate import UNDEFINED, Estimate, OrderEstimate, proportion, quantile_bins
from .statistics import Counts, Number, Point, Statistic, return_one, return_zero


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
    unit: Callable[[Point], float] = return_one
    bound: Callable[[Point], float] = return_zero
    ranges: ClassVar[Mapping[str, tuple[int, int]]] = {"percent": (1, 99)}

    def find_impossible(self, counts: Counts, eligible: Any, most: Any) -> dict[str, Any]:
        return {self.counter: counts[self.counter] != eligible}

    def count_events(self, counts: Counts, trials: int) -> int:
        return self.trials(counts, trials)

    def _values_per_bin(self, point: Point) -> int:
        """Return the number of values that each bin holds.  Raises StudyError unless ``unit`` is one over such a number."""
        unit = self.unit(point)
        count = round(1 / unit) if unit > 0 else 0
        if not count or unit != 1 / count:
            raise StudyError(f"unit of statistic {self.name} must be 1 / the number of values per bin, got {unit:g}")
        return count

    def _quotient(self, counts: Counts, trials: int, point: Point) -> tuple[int, Fraction]:
        bins = counts[self.counter]
        index = quantile_bins(bins, self.percent)[0] if trials else 0
        is_one_value = self._values_per_bin(point) == 1 and (index < len(bins) - 1 or index == self.bound(point))
        return index, Fraction(bool(trials) and is_one_value)

    def _unscaled_estimate(self, counts: Counts, trials: int, point: Point) -> Estimate:
        bins, width, bound = counts[self.counter], self._values_per_bin(point), self.bound(point) or math.inf
        if not trials:
            return UNDEFINED
        index, first, last = quantile_bins(bins, self.percent)
        high = bound if last == len(bins) - 1 else min(bound, (last + 1) * width - 1)
        return OrderEstimate(float(index * width), math.nan, float(first * width), float(high))


def make_quantiles(
    name: str, description: str, counter: str, percents: Sequence[int] = (5, 50, 95), **options: Any
) -> tuple[Quantile, ...]:
    """Return quantiles of one quantity, named NAME_median, or NAME_q05 for 5 percent; ``options`` are further fields of each."""
    return tuple(
        Quantile(
            name=f"{name}_median" if percent == 50 else f"{name}_q{percent:02}",
            description=f"{description}: {'median' if percent == 50 else f'{percent}% quantile'}",
            counter=counter,
            percent=percent,
            **options,
        )
        for percent in percents
    )
