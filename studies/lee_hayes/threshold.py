"""The p at which an increasing event has probability 1/2: brackets, fits, and theory of 2-neighbour bootstrap percolation.

Unsafe nodes under independent node faults *are* 2-neighbour bootstrap percolation on the hypercube: the fault set percolates if
no node stays active.  p_q(n) is the p at which Q_n is unsafe with probability q.  The theory is

    leading(n) (1 + log n / sqrt n)  <=  p_1/2(n)  <=  leading(n) (1 + 5 (log n)^2 / sqrt n)

for large enough n, where leading(n) = (16 lambda / n^2) 2^(-2 sqrt n) and lambda = 1.16577... is the smallest positive root of
sum_k (-1)^k lambda^k / (2^(k^2 - k) k!) (Balogh, Bollobas & Morris 2010, "Bootstrap percolation in high dimensions"; natural
logarithms).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastcube.measure.estimate import ALPHA, proportion
from fastcube.results.results import Results

#: The 97.5% point of the normal distribution.
_NORMAL = 1.959963984540054

#: A point of the curve: p, trials with the event, trials.
Count = tuple[float, int, int]

Array = NDArray[np.float64]


class Interval(NamedTuple):
    """A value with its lower and upper limit."""

    value: float
    low: float
    high: float


def _series(x: float) -> float:
    return float(sum((-x) ** k / (2 ** (k * k - k) * math.factorial(k)) for k in range(12)))


def _smallest_root() -> float:
    low, high = 1.0, 1.5  # the series is positive up to the root and negative at 1.5
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if _series(middle) > 0 else (low, middle)
    return low


#: lambda, the constant of the theorem.
LAMBDA = _smallest_root()


def leading_order(n: float) -> float:
    """Return (16 lambda / n^2) 2^(-2 sqrt n), to which p_1/2 is asymptotic."""
    return 16 * LAMBDA / n**2 * 2 ** (-2 * math.sqrt(n))


def corrections(n: float) -> tuple[float, float]:
    """Return the theorem's lower and upper factor on ``leading_order``, which hold for large enough n."""
    return 1 + math.log(n) / math.sqrt(n), 1 + 5 * math.log(n) ** 2 / math.sqrt(n)


def counts_of(results: Results) -> dict[int, list[Count]]:
    """Return for each n the points (p, trials in which Q_n was unsafe, trials), in the order of the results."""
    out: dict[int, list[Count]] = {}
    for point, tally in results:
        if tally.trials:
            out.setdefault(int(point["n"]), []).append((float(point["p"]), tally.counts["all_unsafe"], tally.trials))
    return out


def bracket_threshold(counts: Sequence[Count], alpha: float = ALPHA) -> tuple[float, float]:
    """Return an interval that contains p_1/2 with probability at least 1 - alpha, for any shape of the curve.

    The event is increasing, so its probability increases with p.  Hence p_1/2 is above every p with probability below 1/2, and
    below every p with probability above 1/2.  One-sided Clopper-Pearson limits at level alpha / points decide which these are.
    Each point can err on one side only, so by the union bound all are right with probability 1 - alpha.  The ends are points of
    the grid, or 0 and 1 if the grid does not decide.
    """
    low, high = 0.0, 1.0
    for p, events, trials in counts:
        if trials:
            e = proportion(events, trials, 2 * alpha / len(counts))
            low = max(low, p) if e.high < 0.5 else low
            high = min(high, p) if e.low > 0.5 else high
    return low, high


@dataclass(frozen=True)
class Curve:
    """The function log(P / (1 - P)) as a polynomial in x = log(p / scale), fitted by maximum likelihood.

    Attributes
    ----------
    scale : float
    coefficients : array
        Lowest power first.
    covariance : square array
        Inverse of the Fisher information; optionally times the dispersion if that is above 1.
    dispersion : float
        Pearson's chi-square over its degrees of freedom; near 1 if the polynomial describes the counts.
    freedom : int
        Degrees of freedom: points less coefficients.
    reach : (float, float)
        Smallest and largest x fitted.
    """

    scale: float
    coefficients: Array
    covariance: Array
    dispersion: float
    freedom: int
    reach: tuple[float, float]

    def quantile(self, q: float = 0.5) -> Interval:
        """Return p_q with its 95% limits by the delta method on log p (asymptotic); NaN outside the range of fitted points."""
        x, gradient = self._solve(q)
        return self._limits(math.log(self.scale) + x, gradient)

    def ratio(self, high: float, low: float) -> Interval:
        """Return p_high / p_low with its 95% limits by the delta method."""
        (x_high, gradient_high), (x_low, gradient_low) = self._solve(high), self._solve(low)
        return self._limits(x_high - x_low, gradient_high - gradient_low)

    def _solve(self, q: float) -> tuple[float, Array]:
        """Return x at which the probability is q, and its gradient with respect to the coefficients."""
        logit = math.log(q / (1 - q))
        low, high = self.reach
        if not self._evaluate(low) <= logit <= self._evaluate(high):
            return math.nan, self._powers(math.nan)
        while (middle := (low + high) / 2) not in (low, high):
            low, high = (middle, high) if self._evaluate(middle) < logit else (low, middle)
        powers = self._powers(low)
        slope = float(self.coefficients[1:] @ (np.arange(1, powers.size) * powers[:-1]))
        return low, -powers / slope  # the polynomial at x stays equal to the logit, whatever coefficient changes

    def _limits(self, log: float, gradient: Array) -> Interval:
        """Return the exponential of ``log``, which has this gradient, with its 95% limits."""
        width = _NORMAL * math.sqrt(float(gradient @ self.covariance @ gradient))
        return Interval(math.exp(log), math.exp(log - width), math.exp(log + width))

    def _powers(self, x: float) -> Array:
        return np.power(x, np.arange(self.coefficients.size, dtype=np.float64))

    def _evaluate(self, x: float) -> float:
        return float(self.coefficients @ self._powers(x))


#: Degree of the fitted polynomial.  On the exact curves of n = 2..6 over 4% to 96%, degree 3 misses p_1/2 by up to 0.3%.  Degree
#: 5 misses it by at most 0.02% (n = 2, 3), and 0.001% from n = 5 on, where 10^5 trials per point leave 0.07%.
DEGREE = 5

#: Least fraction of events, and of trials without one, at a point that is fitted, and least number of such points.
_LEAST_USED, _LEAST_POINTS = 0.04, 4


def fit_curve(counts: Sequence[Count], degree: int = DEGREE, dispersed: bool = True) -> Curve | None:
    """Fit a ``Curve`` to the points with 4% to 96% of events; ``dispersed`` multiplies the covariance by the dispersion.

    Returns None if there are fewer than four such points, if their fractions do not lie on both sides of 1/2, or if the
    likelihood has no maximum.  The degree is at most the number of such points less 2.
    """
    used = [(p, k, t) for p, k, t in counts if t and _LEAST_USED * t <= k <= (1 - _LEAST_USED) * t]
    if len(used) < _LEAST_POINTS or not min(k / t for _, k, t in used) < 0.5 < max(k / t for _, k, t in used):
        return None
    p, events, trials = (np.array(column, np.float64) for column in zip(*used, strict=True))
    terms = min(degree, len(used) - 2) + 1
    scale = float(p[np.argmin(abs(events / trials - 0.5))])
    x = np.log(p / scale)
    design: Array = np.power(x[:, None], np.arange(terms, dtype=np.float64))
    with np.errstate(all="ignore"):  # with too few trials the likelihood may have no maximum
        try:
            coefficients, information, residual = _maximise_likelihood(design, events, trials)
            covariance = np.linalg.inv(information)
        except np.linalg.LinAlgError:
            return None
    dispersion = residual / (len(used) - terms)
    if not np.isfinite(covariance).all():
        return None
    scaled = np.asarray(covariance * (max(1.0, dispersion) if dispersed else 1.0), np.float64)
    return Curve(scale, coefficients, scaled, dispersion, len(used) - terms, (float(x.min()), float(x.max())))


@dataclass(frozen=True)
class Sharpness:
    """p_1/2 and p_.8 / p_.2, and the probability of a worse fit by chance."""

    half: Interval
    ratio: Interval
    chance: float


def estimate_sharpness(counts: Sequence[Count]) -> Sharpness | None:
    """Estimate p_1/2 and p_.8 / p_.2 from points close to p_.2, p_1/2 and p_.8; None if ``fit_curve`` returns None.

    The 95% limits of the fit (asymptotic) are widened on both sides by the distance to the cubic fit.  If only four or five
    points are used, both fits have the same degree and nothing is widened; the grid ``fine`` has seven per n.  On the exact
    curves of n = 4..6, with points as in that grid, the cubic is off by up to 10^-5 in p_1/2 and 10^-4 in the ratio, the quintic
    by 10^-6 and 2 10^-6.
    """
    curve, lower = fit_curve(counts, DEGREE, False), fit_curve(counts, DEGREE - 2, False)
    if curve is None or lower is None:
        return None
    from scipy.special import chdtrc

    chance = float(chdtrc(curve.freedom, curve.freedom * curve.dispersion))
    ratio = _widen_limits(curve.ratio(0.8, 0.2), lower.ratio(0.8, 0.2))
    return Sharpness(_widen_limits(curve.quantile(), lower.quantile()), ratio, chance)


def _widen_limits(known: Interval, other: Interval) -> Interval:
    """Widen the limits by the factor between the two values."""
    factor = math.exp(abs(math.log(other.value / known.value)))
    return Interval(known.value, known.low / factor, known.high * factor)


def _maximise_likelihood(design: Array, events: Array, trials: Array) -> tuple[Array, Array, float]:
    """Return the maximum likelihood coefficients, their Fisher information and Pearson's chi-square.

    Newton's method as iteratively reweighted least squares, from the empirical logits.
    """
    logit = np.log((events + 0.5) / (trials - events + 0.5))
    working, weights = logit, events * (trials - events) / trials
    for _ in range(50):
        information = np.asarray(design.T @ (weights[:, None] * design), np.float64)
        coefficients = np.asarray(np.linalg.solve(information, design.T @ (weights * working)), np.float64)
        logit = design @ coefficients
        fraction = 1 / (1 + np.exp(-logit))
        weights = trials * fraction * (1 - fraction)
        working = logit + (events - trials * fraction) / weights
    return coefficients, information, float(((events - trials * fraction) ** 2 / weights).sum())
