"""Estimates and 95% intervals from exact counts.

Proportions have Clopper-Pearson intervals, paired differences of 0/1 outcomes combine two of them.  Means of bounded quantities
have empirical Bernstein intervals (Maurer & Pontil 2009, Theorem 4, two-sided), which hold also if the quantity is nearly always
zero and sometimes huge.  If the bound is far above most values, the trials are split into classes.  Ratios of totals use the
delta method, which is asymptotic.  If all trials agree, an interval has the width that this allows, or none is given.
Quantiles are between two order statistics (David & Nagaraja 2003, section 7.1), and their intervals are exact.
``scipy.special`` is imported on first use, ``scipy.stats`` never, because its import takes 0.6 s.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

#: One minus the confidence level of every interval.
ALPHA = 0.05


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error and a 95% interval; all four are NaN if there are no trials to estimate from.

    The interval holds the number: a limit that rounding puts on the wrong side of the number is moved to it.  All four are Python
    floats, whatever they were given as.
    """

    value: float
    stderr: float
    low: float
    high: float

    def __post_init__(self) -> None:
        for name in ("value", "stderr", "low", "high"):
            object.__setattr__(self, name, float(getattr(self, name)))
        if not self.low <= self.value <= self.high:  # min and max return their first argument if it is NaN
            object.__setattr__(self, "low", min(self.low, self.value))
            object.__setattr__(self, "high", max(self.high, self.value))

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    @property
    def complement(self) -> Estimate:
        """The estimate of one minus the number, with its interval."""
        return Estimate(1 - self.value, self.stderr, 1 - self.high, 1 - self.low)


class OrderEstimate(Estimate):
    """A quantile between two order statistics.  Its limits are values of trials, and the upper limit may be infinite.

    There is no standard error.  An estimate of 0 is a value like any other here, not an event that no trial had.
    """


UNDEFINED = Estimate(math.nan, math.nan, math.nan, math.nan)


def proportion(events: int, trials: int, alpha: float = ALPHA) -> Estimate:
    """Estimate a probability from ``events`` in ``trials``, with the Clopper-Pearson interval; its low end is 0 at 0 events."""
    if trials == 0:
        return UNDEFINED
    from scipy.special import betaincinv

    low = 0.0 if events == 0 else float(betaincinv(events, trials - events + 1, alpha / 2))
    high = 1.0 if events == trials else float(betaincinv(events + 1, trials - events, 1 - alpha / 2))
    p = events / trials
    return Estimate(p, math.sqrt(p * (1 - p) / trials), low, high)


@functools.lru_cache(maxsize=4096)
def quantile_ranks(trials: int, percent: int, alpha: float = ALPHA) -> tuple[int, int]:
    """Return ranks r <= s: at level 1 - alpha the quantile is between the r-th smallest and the s-th smallest of the values.

    Rank 0 stands for no lower limit and rank ``trials + 1`` for no upper limit.  The interval is exact for any distribution.  The
    number of values up to the quantile is binomial with a probability of at least ``percent`` / 100, the number below it with a
    probability of at most that.
    """
    from scipy.special import betainc

    fraction = percent / 100

    def is_low(rank: int) -> bool:  # P(fewer than rank values are up to the quantile) <= alpha / 2
        return rank == 0 or (rank <= trials and bool(betainc(trials - rank + 1, rank, 1 - fraction) <= alpha / 2))

    def is_high(rank: int) -> bool:  # P(rank values or more are below the quantile) <= alpha / 2
        return rank > trials or (rank > 0 and bool(betainc(rank, trials - rank + 1, fraction) <= alpha / 2))

    ranks = range(trials + 2)
    low = bisect.bisect_left(ranks, True, key=lambda rank: not is_low(rank)) - 1
    return low, bisect.bisect_left(ranks, True, key=is_high)


def quantile_bins(bins: Sequence[int], percent: int, alpha: float = ALPHA) -> tuple[int, int, int]:
    """Return the bins of a quantile, of its lower limit and of its upper limit, for a histogram with at least one value.

    The quantile is the least value that at least ``percent`` percent of the values do not exceed.  A limit that does not exist is
    in the first or the last bin.
    """
    reached = list(itertools.accumulate(bins))
    trials = reached[-1]
    low, high = quantile_ranks(trials, percent, alpha)
    at, first, last = (bisect.bisect_left(reached, rank) for rank in (-(-percent * trials // 100), low, high))
    return at, first, min(last, len(bins) - 1)


def paired_difference(total: int, differs: int, trials: int, alpha: float = ALPHA) -> Estimate:
    """Estimate the mean of ``trials`` differences in {-1, 0, 1}, from their sum and the number that are not 0.

    The probabilities of 1 and of -1 each have a Clopper-Pearson interval at level 1 - alpha / 2.  With probability at least
    1 - alpha both intervals hold.  Then their difference is between the differences of opposite limits.
    """
    if trials == 0:
        return UNDEFINED
    above = proportion((differs + total) // 2, trials, alpha / 2)
    below = proportion((differs - total) // 2, trials, alpha / 2)
    variance = (differs * trials - total * total) / (trials * (trials - 1)) if trials > 1 else math.nan
    return Estimate(total / trials, math.sqrt(variance / trials), above.low - below.high, above.high - below.low)


def _mean_and_variance(total: int, squares: int, trials: int, unit: float) -> tuple[float, float]:
    """Return mean and sample variance of ``trials`` >= 2 values, from the exact sums of value * unit and of its square."""
    over, under = Fraction(unit).as_integer_ratio()
    variance = (squares * trials - total * total) * under**2 / (trials * (trials - 1) * over**2)
    return total * under / (trials * over), variance  # dividing integers rounds only once, like a Fraction


def bernstein_width(variance: float, trials: int, span: float, alpha: float = ALPHA) -> float:
    """Return half the width of the empirical Bernstein interval of ``trials`` >= 2 values in a range of length ``span``.

    It is sqrt(2 V ln(4/alpha) / T) + 7 ln(4/alpha) span / (3 (T - 1)), with V the sample variance or an upper bound of it.
    """
    log = math.log(4 / alpha)
    return math.sqrt(2 * variance * log / trials) + 7 * log * span / (3 * (trials - 1))


def bounded_mean(
    total: int,
    squares: int,
    trials: int,
    unit: float = 1.0,
    most: float = 1.0,
    least: float = 0.0,
    alpha: float = ALPHA,
) -> Estimate:
    """Estimate the mean of ``trials`` values in [least, most], from the exact sums of value * unit and of its square.

    The interval is the mean +- ``bernstein_width``, cut to [least, most].  With fewer than two trials it is [least, most].
    """
    if trials == 0:
        return UNDEFINED
    if trials == 1:
        return Estimate(float(Fraction(total) / Fraction(unit)), math.nan, least, most)
    mean, variance = _mean_and_variance(total, squares, trials, unit)
    width = bernstein_width(variance, trials, most - least, alpha)
    return Estimate(mean, math.sqrt(variance / trials), max(least, mean - width), min(most, mean + width))


@dataclass(frozen=True)
class TrialClass:
    """A class of the trials of a mean, with bounds of the quantity in this class.

    Attributes
    ----------
    trials, total, squares : int
        Number of trials in the class, and sums of the quantity * unit and of its square over them.
    least, most : float
        Bounds of the quantity in a trial of the class.
    proved : float
        A proved upper bound on the class's contribution to the mean: the probability of the class times its mean.
    """

    trials: int
    total: int
    squares: int
    least: float
    most: float
    proved: float


#: A class whose proved contribution is below this fraction of the first class's gets no interval; its proved bound is added.
NEGLIGIBLE = 1e-6


def mean_of_classes(classes: Sequence[TrialClass], trials: int, unit: float = 1.0, alpha: float = ALPHA) -> Estimate:
    """Estimate the mean over ``trials`` of a quantity that is nonzero only in some classes of trials, with separate bounds.

    The limits are sums over the classes.  For each class three bounds are combined: the empirical Bernstein interval with the
    bound of the class, the Clopper-Pearson interval of its probability times least and most, and the proved bound.
    All intervals hold together at level 1 - alpha, which they share equally.  The classes that get intervals are chosen
    by the proved bounds, never by the data.  A sample mean above the proved bounds is moved to the upper limit.
    """
    if trials == 0:
        return UNDEFINED
    total, squares = sum(c.total for c in classes), sum(c.squares for c in classes)
    looked_at = [c.proved > NEGLIGIBLE * classes[0].proved for c in classes]
    own = alpha / (2 * max(1, sum(looked_at)))
    low, high = 0.0, 0.0
    for c, look in zip(classes, looked_at, strict=True):
        if look:
            mean = bounded_mean(c.total, c.squares, trials, unit, c.most, alpha=own)
            fraction = proportion(c.trials, trials, own)
            low += min(max(mean.low, fraction.low * c.least), c.proved)
            high += min(mean.high, fraction.high * c.most, c.proved)
        else:
            high += c.proved
    whole = normal_mean(total, squares, trials, unit)
    return Estimate(min(whole.value, high), whole.stderr, low, high)


def _constant_limits(value: float, trials: int, least: float, most: float, alpha: float) -> tuple[float, float]:
    """Return the limits of a mean in [least, most] if all trials gave ``value``; NaN if ``most`` is 0, that is, unknown.

    A different value has at most the probability of the Clopper-Pearson limit at 0 events, and it is at worst least or most.
    """
    if not most:
        return math.nan, math.nan
    fraction = proportion(0, trials, alpha).high
    return value - fraction * (value - least), value + fraction * (most - value)


def min_nonzero_values(total: int, squares: int) -> float:
    """Return a lower bound on the number of nonzero values, from their sum and the sum of their squares (Cauchy-Schwarz).

    The bound is sharp if the nonzero values are equal, and low if few of them make up most of the sum.
    """
    return float(Fraction(total * total, squares)) if squares else 0.0


def normal_mean(
    total: int,
    squares: int,
    trials: int,
    unit: float = 1.0,
    bound: float = 0.0,
    least: float = 0.0,
    alpha: float = ALPHA,
) -> Estimate:
    """Estimate the mean of ``trials`` values, given as in ``bounded_mean``, with the normal interval, which is asymptotic.

    With a ``bound`` the values are in [least, bound], and the limits are cut to this range.  If all values agree, the limits
    allow for a few trials with other values, or are NaN without a bound.
    """
    if trials == 0:
        return UNDEFINED
    from scipy.special import ndtri

    if squares * trials == total * total:
        value = float(Fraction(total, trials) / Fraction(unit))
        return Estimate(value, 0.0 if trials > 1 else math.nan, *_constant_limits(value, trials, least, bound, alpha))
    mean, variance = _mean_and_variance(total, squares, trials, unit)
    stderr = math.sqrt(variance / trials)
    width = float(ndtri(1 - alpha / 2)) * stderr
    low, high = mean - width, mean + width
    return Estimate(mean, stderr, max(least, low) if bound else low, min(bound, high) if bound else high)


def ratio(
    numerator: int,
    denominator: int,
    nn: int,
    nd: int,
    dd: int,
    trials: int,
    bound: float = 0.0,
    least: float = 0.0,
    alpha: float = ALPHA,
) -> Estimate:
    """Estimate the ratio of two totals over the same trials, from sums and sums of products, by the (asymptotic) delta method.

    With a ``bound`` the ratio of one trial is in [least, bound], and the limits are cut to this range.  If all trials have the
    same ratio, the limits allow for a few trials that differ, assuming that their denominators are typical.  Without a bound
    they are then NaN.
    """
    if trials < 2 or denominator == 0:
        return UNDEFINED
    r = Fraction(numerator, denominator)
    residual = nn - 2 * r * nd + r * r * dd
    if residual == 0:
        return Estimate(float(r), 0.0, *_constant_limits(float(r), trials, least, bound, alpha))
    from scipy.special import ndtri

    stderr = math.sqrt(float(residual) * trials / (trials - 1)) / denominator
    z = float(ndtri(1 - alpha / 2))
    low, high = float(r) - z * stderr, float(r) + z * stderr
    return Estimate(float(r), stderr, max(least, low) if bound else low, min(bound, high) if bound else high)
