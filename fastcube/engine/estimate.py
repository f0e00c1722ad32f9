"""Estimates and 95% intervals from exact counts.

Proportions: Clopper-Pearson.  Means of bounded quantities: empirical Bernstein (Maurer & Pontil 2009,
Theorem 4, two-sided), valid also where the quantity is nearly always zero and sometimes huge.  Ratios of totals:
delta method, asymptotic.  ``scipy.special`` is imported on first use; ``scipy.stats`` never, it costs 0.6 s.
"""

from __future__ import annotations

import math
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


NOTHING = Estimate(math.nan, math.nan, math.nan, math.nan)


def proportion(events: int, trials: int, alpha: float = ALPHA) -> Estimate:
    """Share of events among trials with the Clopper-Pearson interval; at 0 events the lower limit is 0."""
    if trials == 0:
        return NOTHING
    from scipy.special import betaincinv

    low = 0.0 if events == 0 else float(betaincinv(events, trials - events + 1, alpha / 2))
    high = 1.0 if events == trials else float(betaincinv(events + 1, trials - events, 1 - alpha / 2))
    p = events / trials
    return Estimate(p, math.sqrt(p * (1 - p) / trials), low, high)


def _moments(total: int, squares: int, trials: int, unit: float) -> tuple[float, float]:
    """Mean and sample variance of ``trials`` >= 2 values, given exactly as sums of value * unit and of its square."""
    exact_unit = Fraction(unit)
    variance = Fraction(squares * trials - total * total, trials * (trials - 1)) / exact_unit**2
    return float(Fraction(total, trials) / exact_unit), float(variance)


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
        return NOTHING
    if trials == 1:
        return Estimate(float(Fraction(total) / Fraction(unit)), math.nan, least, most)
    mean, variance = _moments(total, squares, trials, unit)
    log = math.log(4 / alpha)
    width = math.sqrt(2 * variance * log / trials) + 7 * log * (most - least) / (3 * (trials - 1))
    return Estimate(mean, math.sqrt(variance / trials), max(least, mean - width), min(most, mean + width))


def plain_mean(total: int, squares: int, trials: int, unit: float = 1.0, alpha: float = ALPHA) -> Estimate:
    """Mean of ``trials`` values, given as in :func:`bounded_mean`; normal interval, asymptotic; NaN limits for one trial."""
    if trials == 0:
        return NOTHING
    if trials == 1:
        return Estimate(float(Fraction(total) / Fraction(unit)), math.nan, math.nan, math.nan)
    from scipy.special import ndtri

    mean, variance = _moments(total, squares, trials, unit)
    stderr = math.sqrt(variance / trials)
    width = float(ndtri(1 - alpha / 2)) * stderr
    return Estimate(mean, stderr, mean - width, mean + width)


def ratio(numerator: int, denominator: int, nn: int, nd: int, dd: int, trials: int, alpha: float = ALPHA) -> Estimate:
    """Ratio of two totals over the same trials, from the sums and the sums of products; delta method, asymptotic."""
    if trials < 2 or denominator == 0:
        return NOTHING
    from scipy.special import ndtri

    r = Fraction(numerator, denominator)
    residual = float(nn - 2 * r * nd + r * r * dd)
    stderr = math.sqrt(max(0.0, residual) * trials / (trials - 1)) / denominator
    z = float(ndtri(1 - alpha / 2))
    return Estimate(float(r), stderr, float(r) - z * stderr, float(r) + z * stderr)
