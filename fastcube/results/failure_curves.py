"""A statistic by the number of failures, read at any failure rate.

At rate p the value is G(p) = sum_f C(N, f) p^f (1 - p)^(N - f) g(f), where g(f) is the value with f of N nodes or links failed.
If the trials at each f are samples of their own, they are ``Strata``.  If one trial is an order of failures for all f, G(p) is
the mean of the polynomials of the orders, a ``Curve``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..measure.estimate import ALPHA, Estimate, bernstein_width

Floats = NDArray[np.float64]

#: The 97.5% quantile of the normal distribution, for two-sided 95% intervals.
_Z = 1.959963984540054

#: Halvings of an interval within [0, 1] to the precision of a float, whose values near 1 have 53 bits.
BISECTIONS = 60


class Reading(NamedTuple):
    """A statistic at a failure rate, or another mean over the numbers of failures."""

    estimate: Estimate
    gap: float  #: width that missing numbers of failures add to the interval
    least: float  #: least value that is possible
    most: float  #: largest value that is possible


class Strata(NamedTuple):
    """A probability, or a difference of two, at the numbers of failures 0, 1, ..., from separate samples."""

    low: Floats  #: least possible value; the value itself if it is proved or sampled
    high: Floats  #: largest possible value; the value itself if it is proved or sampled
    variance: Floats  #: of the value as an estimate; 0 unless it is sampled

    def read(self, p: float, z: float = _Z) -> Reading:
        """Return the value of the polynomial at p, with the normal interval of z standard errors."""
        weights = weigh_failures(len(self.low) - 1, p)
        low, high = (math.fsum(weights * limit) for limit in (self.low, self.high))
        error = math.sqrt(math.fsum(weights**2 * self.variance))
        estimate = Estimate((low + high) / 2, error, low - z * error, high + z * error)
        return Reading(estimate, high - low, float(self.low.min()), 1.0)


class Curve(NamedTuple):
    """A statistic at the numbers of failures 0, 1, ..., from orders of failures."""

    least: Floats  #: least value that an order can have; equal to ``most`` where the value is proved
    most: Floats  #: largest value that an order can have
    low: Floats  #: least possible mean over the orders; equal to ``high`` where there are results
    high: Floats  #: largest possible mean over the orders
    deviation: Floats  #: standard deviation over the orders
    trials: int  #: number of orders
    is_mean: bool  #: whether an order can have other values than 0 and 1

    def read(self, p: float) -> Reading:
        """Return the mean at a failure rate."""
        weights = weigh_failures(len(self.low) - 1, p)
        return self.integrate(weights, math.fsum(weights * self.deviation), self.is_mean)

    def integrate(self, weights: Floats, spread: float, is_mean: bool) -> Reading:
        """Return the mean over orders of a weighted sum of an order's values, with an interval for any number of orders.

        ``spread`` is the standard deviation of the sum, or an upper bound.  For a mean the interval is the common part of two, at
        half the level each.  One is narrow for rare events, the other for small deviations.
        """
        least, most, low, high = (math.fsum(weights * x) for x in (self.least, self.most, self.low, self.high))
        span, gap = math.fsum(weights * (self.most - self.least)), math.fsum(weights * (self.high - self.low))
        if not span:
            return Reading(Estimate(least, 0.0, least, least), 0.0, least, least)
        has_two_intervals = is_mean and self.trials > 1
        alpha = ALPHA / 2 if has_two_intervals else ALPHA
        scaled_low, scaled_high = (min(max((x - least) / span, 0.0), 1.0) for x in (low, high))  # in [0, 1]
        lower = least + span * chernoff_interval(scaled_low, self.trials, alpha)[0]
        upper = least + span * chernoff_interval(scaled_high, self.trials, alpha)[1]
        if has_two_intervals:
            width = bernstein_width(spread**2, self.trials, span, alpha)
            lower, upper = max(lower, low - width), min(upper, high + width)
        return Reading(Estimate((low + high) / 2, spread / math.sqrt(self.trials), lower, upper), gap, least, most)


def weigh_failures(count: int, p: float) -> Floats:
    """Return the probabilities that 0, 1, ..., ``count`` of ``count`` nodes or links fail, each independently at rate p."""
    from scipy.special import gammaln, xlog1py, xlogy  # not at the top: takes 0.1 s, and no other command needs it

    f = np.arange(count + 1)
    log_sets = gammaln(count + 1) - gammaln(f + 1) - gammaln(f[::-1] + 1)
    weights: Floats = np.exp(log_sets + xlogy(f, p) + xlog1py(f[::-1], -p))
    return weights / math.fsum(weights)  # logarithms of large factorials are rounded


def chernoff_interval(mean: float, trials: int, level: float = 0.05) -> tuple[float, float]:
    """Return the Kullback-Leibler (Chernoff-Hoeffding) interval of the expectation of a quantity in [0, 1], from its mean.

    The interval is all q with trials * KL(mean, q) <= log(2 / level), KL being the divergence of two Bernoulli distributions.
    Clopper-Pearson limits would not be valid, because they need 0/1 outcomes.
    """
    from scipy.special import rel_entr

    largest_divergence = math.log(2 / level) / trials

    def find_limit(edge: float) -> float:
        inside, outside = mean, edge
        for _ in range(BISECTIONS):
            q = (inside + outside) / 2
            if rel_entr(mean, q) + rel_entr(1 - mean, 1 - q) <= largest_divergence:
                inside = q
            else:
                outside = q
        return inside

    return find_limit(0.0), find_limit(1.0)


def count_known_faults(curve: Curve | Strata) -> tuple[int, int]:
    """Return at how many numbers of failures the value is proved or sampled, and how many numbers there are."""
    return int((curve.low == curve.high).sum()), len(curve.low)
