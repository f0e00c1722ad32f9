"""How long a network stays connected if the lives of its nodes, or links, are independent with one distribution F.

The order of failures is uniform whatever F is.  So if K failures first disconnect the survivors, the time T of the first
disconnection is the K-th of M lives: P(T > t) = sum_f C(M, f) F(t)^f (1 - F(t))^(M - f) P(K > f), and E T is the mean of
E X_(K), the expected K-th of M lives.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import ParameterError, as_number, short_repr
from ..kernels.survival.layout import failures_per_bin
from ..measure.estimate import UNDEFINED, Estimate
from .failure_curves import BISECTIONS, Curve, Floats, chernoff_interval, weigh_failures
from .proved_values import connectivity, count_fallible
from .reliability import is_curve, read_curve
from .results import Results

#: Places of the quadrature for an order statistic, in standard deviations of its logit, and their distance.
_DISTANCE = 0.25
_PLACES = np.arange(-96, 97) * _DISTANCE

#: Which places the coarser rule has, which bounds the error: twice the distance, and tails cut at 20 standard deviations.
_IS_COARSE = (_PLACES % (2 * _DISTANCE) == 0) & (np.abs(_PLACES) <= 20)

#: Largest error of a mean, as a fraction of its interval's half-width, or of an exact mean.
_SLACK, _SLACK_EXACT = 0.1, 1e-6


@dataclass(frozen=True)
class Lifetime:
    """The time of a network's first disconnection; from :func:`fastcube.lifetime`."""

    curve: Curve  #: P(K > f) at f = 0 .. M; falling
    distribution: Any  #: of one life, frozen, of scipy.stats

    @functools.cached_property
    def mean(self) -> Estimate:
        """The mean, with an interval that holds for any number of orders and includes the error of the integration.

        It is NaN if the largest lives have no finite mean, or if that error can be more than a tenth of the interval's
        half-width, or than a millionth of an exact mean.
        """
        failures = np.arange(1, len(self.curve.low))
        is_step = np.logical_or.reduce([np.diff(x) != 0 for x in self.curve[:4]])
        steps = failures[is_step]  # the numbers of failures that can be the first to disconnect the survivors
        expected, errors = _mean_order_statistics(self.distribution, steps, len(failures))
        weights = np.zeros(len(self.curve.low))
        weights[np.append(0, steps[:-1])] = np.diff(expected, prepend=0.0)
        fractions = [-np.diff(x)[is_step] for x in (self.curve.low, self.curve.high)]
        spread, error = 0.0, 0.0
        for fraction in fractions:
            mean = math.fsum(fraction * expected)
            spread = max(spread, math.sqrt(math.fsum(fraction * (expected - mean) ** 2)))
            error = max(error, math.fsum(fraction * errors))
        estimate = self.curve.integrate(weights, spread, True).estimate
        allowed = _SLACK * estimate.half_width or _SLACK_EXACT * estimate.value
        if not error <= allowed < math.inf:
            return UNDEFINED
        return Estimate(estimate.value, estimate.stderr, estimate.low - error, estimate.high + error)

    def survival(self, time: float) -> Estimate:
        """Return the probability of no disconnection until ``time``, which is at least 0."""
        t = as_number(time)
        if t is None or t < 0:
            raise ParameterError(f"time must be a number of at least 0, got {short_repr(time)}")
        return self.curve.read(float(self.distribution.cdf(t))).estimate

    def quantile(self, fraction: float) -> Estimate:
        """Return the time until which a fraction in (0, 1) of such networks disconnect; it has no standard error."""
        q = as_number(fraction)
        if q is None or not 0 < q < 1:
            raise ParameterError(f"quantile must be a number in (0, 1), got {short_repr(fraction)}")
        curve = self.curve
        is_exact = bool((curve.least == curve.most).all())

        def make_limit(side: int) -> Callable[[float], float]:
            return lambda mean: mean if is_exact else chernoff_interval(mean, curve.trials)[side]

        def solve_time(values: Floats, change: Callable[[float], float]) -> float:
            return float(self.distribution.ppf(_solve_rate(values, change, 1 - q)))

        value = solve_time((curve.low + curve.high) / 2, lambda mean: mean)
        return Estimate(value, math.nan, solve_time(curve.low, make_limit(0)), solve_time(curve.high, make_limit(1)))


def lifetime(results: Results | Iterable[float | Fraction], distribution: Any) -> Lifetime:
    """Return the time of the first disconnection of a network whose nodes, or links, have independent lives.

    Parameters
    ----------
    results : Results or sequence of float
        Of ``hitting``, or of ``survival-curve`` with failing links, for one network, one value of failing and one n.  Numbers of
        failures that a curve lacks, and bins of several failures, widen the intervals.
        Or exact probabilities that none of the first f = 0, 1, ... failures disconnects the survivors, up to the number of
        nodes, or of links.
    distribution : frozen distribution of scipy.stats
        The continuous distribution of one life, which is not negative.

    Returns
    -------
    Lifetime
        With ``mean``, ``quantile(fraction)`` and ``survival(time)``, each an estimate whose 95% interval holds for any number of
        orders of failures.  A mean takes one evaluation of ``distribution`` at 193 places for each number of failures.

    Raises
    ------
    ParameterError
        If the results are of another kind, or of failing nodes in ``survival-curve``: the survivors can become connected
        again, so the probability of a connection at a time is :func:`fastcube.reliability` at the rate
        ``distribution.cdf(time)``.

    Examples
    --------
    >>> from scipy import stats
    >>> life = fc.lifetime([1, 1, 0, 0, 0], stats.expon())  # the second failed link disconnects a cycle of four
    >>> round(life.mean.value, 6)  # 1/4 + 1/3
    0.583333
    """
    from scipy.stats import rv_continuous

    if not isinstance(getattr(distribution, "dist", None), rv_continuous) or not float(distribution.support()[0]) >= 0:
        raise ParameterError(
            f"distribution must be a frozen continuous distribution of scipy.stats on [0, inf), got {short_repr(distribution)}"
        )
    if isinstance(results, Results):
        return Lifetime(_read_first(results), distribution)
    curve = read_curve(results)
    if not (curve.low[0] == 1 and curve.low[-1] == 0 and (np.diff(curve.low) <= 0).all()):
        raise ParameterError("results must be exact probabilities that fall from 1 to 0")
    assert isinstance(curve, Curve)
    return Lifetime(curve, distribution)


def _read_first(results: Results) -> Curve:
    """Return P(K > f), K being the number of failures at the first disconnection, for the one network of the results."""
    if is_curve(results) and all(str(point["failing"]) == "links" for point, _ in results):
        curve = read_curve(results)
        assert isinstance(curve, Curve)
        least, low = (np.maximum.accumulate(x[::-1])[::-1] for x in (curve.least, curve.low))
        most, high = (np.minimum.accumulate(x) for x in (curve.most, curve.high))
        return curve._replace(least=least, most=most, low=low, high=high)
    if [axis.name for axis in results.study.axes] != ["network", "failing", "n"]:
        raise ParameterError(
            "results must be of hitting, or of survival-curve with failing links; survivors of failing nodes can become "
            "connected again, so reliability at the rate distribution.cdf(time) is only the probability of a connection at a time"
        )
    done = [(point, tally) for point, tally in results if tally.trials]
    if len(done) != 1:
        raise ParameterError(
            f"results must be of one network, one value of failing and one n, got {len(done)}: use results.sel"
        )
    (point, tally), name = done[0], str(done[0][0]["network"])
    what, n = str(point["failing"]), int(point["n"])
    fallible = count_fallible(name, what, n)
    f, width = np.arange(fallible + 1), failures_per_bin(fallible)
    reached = np.append(np.cumsum(tally.counts["disconnected_bins"][::-1])[::-1] / tally.trials, np.zeros(2))
    least = (f < connectivity(name, n, what)).astype(float)
    # the last survivor is one node; of links, 2^n - 1 must stay for a spanning tree
    most = (f < (fallible if what == "nodes" else fallible - (1 << n) + 2)).astype(float)
    low, high = np.maximum(reached[f // width + 1], least), np.minimum(reached[(f + 1) // width], most)
    return Curve(least, most, low, high, np.sqrt(low * (1 - low)), tally.trials, False)


def _solve_rate(values: Floats, change: Callable[[float], float], level: float) -> float:
    """Return the failure rate at which ``change`` of the mean of ``values`` falls to ``level``."""
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        mean = min(math.fsum(weigh_failures(len(values) - 1, middle) * values), 1.0)
        low, high = (middle, high) if change(mean) > level else (low, middle)
    return (low + high) / 2


def _mean_order_statistics(distribution: Any, k: Any, lives: int) -> tuple[Floats, Floats]:
    """Return the expected k-th smallest of so many ``lives``, for an array of k, and bounds of the errors.

    F of this life has a beta distribution, whose logit has a smooth density with exponential tails, so the trapezoidal rule
    converges exponentially if the distribution is smooth.
    """
    from scipy.special import betaln, digamma, log_expit, polygamma

    a, b = k[:, None].astype(float), (lives + 1 - k)[:, None].astype(float)
    scale = np.sqrt(polygamma(1, a) + polygamma(1, b))
    x = digamma(a) - digamma(b) + scale * _PLACES
    density = scale * np.exp(a * log_expit(x) + b * log_expit(-x) - betaln(a, b))
    with np.errstate(all="ignore"):
        times = np.where(x < 0, distribution.ppf(np.exp(log_expit(x))), distribution.isf(np.exp(log_expit(-x))))
        terms = np.where(density > 0, density * times, 0.0)
        fine, coarse = terms.sum(axis=1) * _DISTANCE, terms[:, _IS_COARSE].sum(axis=1) * (2 * _DISTANCE)
        return fine, np.abs(fine - coarse)
