"""Estimates and 95% intervals from exact counts.

Proportions: Clopper-Pearson; paired differences of 0/1 outcomes: two of these.  Means of bounded quantities:
empirical Bernstein (Maurer & Pontil 2009, Theorem 4, two-sided), valid also where the quantity is nearly always zero and
sometimes huge; split by classes of trials where its bound lies far above its values.  Ratios of totals: delta method,
asymptotic.  Where all trials agree an interval has the width that this allows, or is not given.  ``scipy.special`` is
imported on first use; ``scipy.stats`` never, it costs 0.6 s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

#: One minus the confidence level of every interval.
ALPHA = 0.05


@dataclass(frozen=True)
class Estimate:
    """A number with its plain standard error and a 95% interval; NaN everywhere when there is nothing to estimate from."""

    value: float
    stderr: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    @property
    def complement(self) -> Estimate:
        """One less the number, with its interval."""
        return Estimate(1 - self.value, self.stderr, 1 - self.high, 1 - self.low)


UNDEFINED = Estimate(math.nan, math.nan, math.nan, math.nan)


def proportion(events: int, trials: int, alpha: float = ALPHA) -> Estimate:
    """Share of events among trials with the Clopper-Pearson interval; at 0 events the lower limit is 0."""
    if trials == 0:
        return UNDEFINED
    from scipy.special import betaincinv

    low = 0.0 if events == 0 else float(betaincinv(events, trials - events + 1, alpha / 2))
    high = 1.0 if events == trials else float(betaincinv(events + 1, trials - events, 1 - alpha / 2))
    p = events / trials
    return Estimate(p, math.sqrt(p * (1 - p) / trials), low, high)


def paired_difference(total: int, differs: int, trials: int, alpha: float = ALPHA) -> Estimate:
    """Mean of ``trials`` differences that are -1, 0 or 1, from their sum and the number that are not 0.

    The probabilities of 1 and of -1 each have a Clopper-Pearson interval at level 1 - alpha / 2.  Both hold together with
    a probability of at least 1 - alpha, and then the difference lies between the differences of their limits.
    """
    if trials == 0:
        return UNDEFINED
    above = proportion((differs + total) // 2, trials, alpha / 2)
    below = proportion((differs - total) // 2, trials, alpha / 2)
    variance = (differs * trials - total * total) / (trials * (trials - 1)) if trials > 1 else math.nan
    return Estimate(total / trials, math.sqrt(variance / trials), above.low - below.high, above.high - below.low)


def _mean_and_variance(total: int, squares: int, trials: int, unit: float) -> tuple[float, float]:
    """Mean and sample variance of ``trials`` >= 2 values, given exactly as sums of value * unit and of its square."""
    over, under = Fraction(unit).as_integer_ratio()
    variance = (squares * trials - total * total) * under**2 / (trials * (trials - 1) * over**2)
    return total * under / (trials * over), variance  # a quotient of integers is rounded once, as a Fraction's is


def bounded_mean(
    total: int,
    squares: int,
    trials: int,
    unit: float = 1.0,
    most: float = 1.0,
    least: float = 0.0,
    alpha: float = ALPHA,
) -> Estimate:
    """Mean of ``trials`` values in [least, most], given exactly as sums of value * unit and of its square.

    The interval is mean +- (sqrt(2 V ln(4/alpha) / T) + 7 ln(4/alpha) (most - least) / (3 (T - 1))), cut to
    [least, most], with V the sample variance.  With fewer than two trials it is [least, most].
    """
    if trials == 0:
        return UNDEFINED
    if trials == 1:
        return Estimate(float(Fraction(total) / Fraction(unit)), math.nan, least, most)
    mean, variance = _mean_and_variance(total, squares, trials, unit)
    log = math.log(4 / alpha)
    width = math.sqrt(2 * variance * log / trials) + 7 * log * (most - least) / (3 * (trials - 1))
    return Estimate(mean, math.sqrt(variance / trials), max(least, mean - width), min(most, mean + width))


@dataclass(frozen=True)
class TrialClass:
    """Some of the trials of a mean, and what is known of its quantity there.

    Attributes
    ----------
    trials, total, squares : int
        How many trials are of the class, and sums of the quantity * unit and of its square over them.
    least, most : float
        Bounds of the quantity where a trial is of the class.
    proved : float
        A bound on the class's share of the mean, the probability of the class times its mean, that needs no data.
    """

    trials: int
    total: int
    squares: int
    least: float
    most: float
    proved: float


#: Classes whose proved share is below this part of the first one's are left to the proof, at no level.
NEGLIGIBLE = 1e-6


def mean_of_classes(classes: Sequence[TrialClass], trials: int, unit: float = 1.0, alpha: float = ALPHA) -> Estimate:
    """Mean over ``trials`` of a quantity that is zero but in some classes of trials, each with bounds of its own.

    The limits are sums over the classes.  A class's share lies between the limits of an empirical Bernstein interval
    with its bound, between those of the Clopper-Pearson interval of its probability times least and most, and below
    what is proved: the best of them, all holding together at level 1 - alpha, which the intervals share equally.  Which
    classes are looked at depends on what is proved of them, never on the data.
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
            share = proportion(c.trials, trials, own)
            low += max(mean.low, share.low * c.least)
            high += min(mean.high, share.high * c.most, c.proved)
        else:
            high += c.proved
    whole = normal_mean(total, squares, trials, unit)
    return Estimate(whole.value, whole.stderr, low, high)


def _constant_limits(value: float, trials: int, least: float, most: float, alpha: float) -> tuple[float, float]:
    """Limits of a mean where all trials gave ``value``, of a quantity in [least, most]; NaN where ``most`` is 0, not known.

    The share of trials that differ is below the Clopper-Pearson limit of none, and they give least or most at worst.
    """
    if not most:
        return math.nan, math.nan
    share = proportion(0, trials, alpha).high
    return value - share * (value - least), value + share * (most - value)


def min_nonzero_values(total: int, squares: int) -> float:
    """Least number of values that are not zero, from their sum and the sum of their squares (Cauchy-Schwarz).

    It is the number itself where these are equal, and less where few of them carry the sum.
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
    """Mean of ``trials`` values, given as in :func:`bounded_mean`; normal interval, asymptotic.

    With a ``bound`` the values lie in [least, bound], and so do the limits.  Where all values agree, the limits are the share of
    values that may differ times the bound, or NaN without one.
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
    """Ratio of two totals over the same trials, from the sums and the sums of products; delta method, asymptotic.

    With a ``bound`` one trial's ratio lies in [least, bound], and so do the limits.  Where the ratio of all trials is the same,
    the limits are the share of trials that may differ times the bound, as if their denominators were like the others', or NaN
    without one.
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
