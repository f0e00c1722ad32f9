"""The reliability polynomial: connectivity at any failure rate, from results over all numbers f of failures.

R(p) = sum_f C(N, f) p^f (1 - p)^(N - f) P(connected | f).  In results of ``survival`` the trials at each f are a stratum.  In
results of ``survival-curve`` one trial is an order of failures for all f, and R(p) is the mean of the polynomials of the orders.
If a probability is known (f below the proved connectivity, too few survivors or links), it is used in place of an estimate.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError, as_number, percentage_value, short_repr, suggest_name
from ..measure.estimate import Estimate
from ..measure.tally import Tally
from ..networks.family import network_families
from .results import Results

#: The 97.5% quantile of the normal distribution, for two-sided 95% intervals.
_Z = 1.959963984540054

#: A sign counts as decided at this many standard errors from 0; more than 2, because it is tested at many rates.
_DECISION_Z = 3.0

#: Rates at which the sign of the difference is tested.
_RATES = [i / 400 for i in range(1, 400)]


def connectivity(name: str, n: int) -> int:
    """Return the proved minimum number of faulty nodes that disconnect a network; 0 if none is proved here.

    It is the least degree, for networks whose papers prove this and for which all fault sets of n <= 4 confirm it.  Exception: 4
    for the augmented cube at n = 3.
    """
    family = network_families().get(name)
    if family is None:
        return 0
    if name == "exchanged":
        return 1 + (n - 1) // 2
    return 4 if (name, n) == ("augmented", 3) else family.degree(n)


#: The probability at one f: its mean, the variance of the mean, and its least and largest possible value if it is unknown.
Stratum = tuple[float, float, float, float]


def reliability(results: Results, rate: float, *, against: str | None = None) -> Estimate:
    """Return the probability that the nonfaulty nodes are connected if every node fails with probability ``rate``.

    Parameters
    ----------
    results : Results
        Of ``survival-curve``: for one network, one value of what and one n (``results.sel(network=...)``).  Or of
        ``survival`` or a similar study: over f, for one network at one n without faulty links.
    rate : float
        In [0, 1], or text such as ``"2%"``.  For a curve of links it is their failure rate.
    against : str, optional
        "hypercube" for the difference from the hypercube, from the trials of ``survival`` on the same faults.

    Returns
    -------
    Estimate
        From ``survival-curve``: with the Kullback-Leibler interval of a mean in [0, 1], valid for any number of trials, and an
        upper bound of the standard error.  From ``survival``: with the normal interval, which is asymptotic, and the variance
        of a stratum taken at (x + 1) / (T + 2).  A number of failures without results counts as 0 in the lower limit, as 1 in
        the upper (-1 and 1 for a difference), and as their mean in the value.

    Raises
    ------
    ParameterError
        If the results are of another kind, or a curve's numbers of failures have different trials.

    Examples
    --------
    >>> results = fc.run("survival", network="hypercube", n=2, f=[0, 1, 2, 3], links=0, trials=1000)
    >>> e = fc.reliability(results, 0.5)  # 1 + 4 + 4 + 4 of the 16 fault sets leave Q_2 connected
    >>> e.low < 13 / 16 < e.high
    True
    """
    p = as_number(percentage_value(rate))
    if p is None or not 0 <= p <= 1:
        raise ParameterError(f"rate must be a number in [0, 1], got {short_repr(rate)}")
    if against not in (None, "hypercube"):
        raise ParameterError(
            f"against must be hypercube or None, got {short_repr(against)}{suggest_name(against, ['hypercube'])}"
        )
    if not isinstance(results, Results):
        raise ParameterError(f"results must be Results, got {short_repr(results)}")
    if is_curve(results):
        if against is not None:
            raise ParameterError(
                "against must be left out for survival-curve, which has no difference to the hypercube"
            )
        return _evaluate_curve(*_curve_strata(results), float(p))
    return _evaluate_polynomial(_strata(results, against is not None), float(p))


def _weigh_failures(many: int, p: float) -> NDArray[np.float64]:
    """Return the probabilities that 0 .. ``many`` nodes or links fail."""
    from scipy.special import gammaln, xlog1py, xlogy  # not at the top: takes 0.1 s, and no other command needs it

    f = np.arange(many + 1)
    ways = gammaln(many + 1) - gammaln(f + 1) - gammaln(f[::-1] + 1)
    weights: NDArray[np.float64] = np.exp(ways + xlogy(f, p) + xlog1py(f[::-1], -p))
    return weights / math.fsum(weights)  # logarithms of large factorials are rounded


def _evaluate_polynomial(strata: Sequence[Stratum], p: float, z: float = _Z) -> Estimate:
    weights = _weigh_failures(len(strata) - 1, p)
    mean, variance, least, most = np.array(strata).T
    known, low, high = (math.fsum(weights * share) for share in (mean, least, most))
    error = math.sqrt(math.fsum(weights**2 * variance))
    return Estimate(known + (low + high) / 2, error, known + low - z * error, known + high + z * error)


def is_curve(results: Results) -> bool:
    """Whether the results are of survival-curve."""
    return [axis.name for axis in results.study.axes] == ["network", "failing", "n", "failed"]


def _curve_strata(results: Results) -> tuple[list[Stratum], int]:
    """Return the strata, with variance 1 unless the probability is proved, and the number of trials that all of them share."""
    done = [(point, tally) for point, tally in results if tally.trials]
    found = sorted({(str(point["network"]), str(point["failing"]), int(point["n"])) for point, _ in done})
    if len(found) != 1:
        some = ", ".join(f"network={name},failing={what},n={n}" for name, what, n in found) or "none"
        raise ParameterError(
            f"results must be of one network, one value of what (nodes or links) and one n, got {some}: use results.sel"
        )
    (name, what, n), (first, tally) = found[0], done[0]
    for point, other in done:
        if other.ranges != tally.ranges:
            raise ParameterError(
                f"results must have the same trials at all numbers of failures, got others at failed={point['failed']} than "
                f"at failed={first['failed']}: count the missing trials"
            )
    if what == "nodes":
        many, sure, vain = 1 << n, connectivity(name, n), 1 << n
    else:  # a spanning tree has 2^n - 1 links
        many = network_families()[name].links(n)
        sure, vain = (
            1 + (n - 1) // 2 if name == "exchanged" else network_families()[name].degree(n),
            many - (1 << n) + 2,
        )
    known = {int(point["failed"]): other.counts["connected"] / other.trials for point, other in done}
    strata = []
    for f in range(many + 1):
        if f < sure or f >= vain or (what == "nodes" and f == many - 1):
            strata.append((float(f < vain), 0.0, 0.0, 0.0))
        else:
            strata.append((known.get(f, 0.0), 1.0, 0.0, 0.0 if f in known else 1.0))
    return strata, tally.trials


def _evaluate_curve(strata: Sequence[Stratum], trials: int, p: float) -> Estimate:
    """Return the value of the polynomial at p: the mean over orders of failures of a quantity in [sure, sure + unknown].

    ``unknown`` is the weight of the numbers of failures whose probability is not proved, so the limits are close at small and
    at large p.
    """
    weights = _weigh_failures(len(strata) - 1, p)
    mean, sampled, _, most = np.array(strata).T
    sure, unknown = math.fsum(weights * mean * (1 - sampled)), math.fsum(weights * sampled)
    if unknown == 0:
        return Estimate(sure, 0.0, sure, sure)
    low = min(math.fsum(weights * mean * sampled) / unknown, 1.0)
    high = min(low + math.fsum(weights * most) / unknown, 1.0)
    value = (low + high) / 2
    error = unknown * math.sqrt(value * (1 - value) / trials)
    limits = chernoff_interval(low, trials)[0], chernoff_interval(high, trials)[1]
    value, least, greatest = (min(sure + unknown * x, 1.0) for x in (value, *limits))
    return Estimate(value, error, least, greatest)


def chernoff_interval(mean: float, trials: int, level: float = 0.05) -> tuple[float, float]:
    """Return the Kullback-Leibler (Chernoff-Hoeffding) interval of the expectation of a quantity in [0, 1], from its mean.

    The interval is all q with trials * KL(mean, q) <= log(2 / level), KL being the divergence of two Bernoulli distributions.
    Clopper-Pearson limits would not be valid, because they need 0/1 outcomes.
    """
    from scipy.special import rel_entr

    limit = math.log(2 / level) / trials

    def bound(edge: float) -> float:
        inside, outside = mean, edge
        for _ in range(60):
            q = (inside + outside) / 2
            if rel_entr(mean, q) + rel_entr(1 - mean, 1 - q) <= limit:
                inside = q
            else:
                outside = q
        return inside

    return bound(0.0), bound(1.0)


def _strata(results: Results, gain: bool) -> list[Stratum]:
    """Return the strata for f = 0 .. 2^n."""
    axes = [axis.name for axis in results.study.axes]
    needed = {"connected", "connected_diff", "connected_differs"}
    if axes != ["network", "n", "f", "links"] or not needed <= {c.name for c in results.study.tally.counters}:
        raise ParameterError(f"results must be of survival-curve, or of survival over f, got {results.study.name}")
    done = [(point, tally) for point, tally in results if tally.trials and not point["links"]]
    found = sorted({(str(point["network"]), int(point["n"])) for point, _ in done})
    if len(found) != 1:
        some = ", ".join(f"network={name},n={n}" for name, n in found) or "none"
        raise ParameterError(
            f"results must be of one network at one n without faulty links, got {some}: use results.sel"
        )
    name, n = found[0]
    tallies = {int(point["f"]): tally for point, tally in done}
    sure = min(connectivity(name, n), n) if gain else connectivity(name, n)
    return [_stratum(tallies.get(f), f, 1 << n, max(sure, 1), gain) for f in range((1 << n) + 1)]


def _stratum(tally: Tally | None, f: int, nodes: int, sure: int, gain: bool) -> Stratum:
    if f < sure or f >= nodes - 1:
        return 0.0 if gain else float(f < nodes), 0.0, 0.0, 0.0
    if tally is None:
        return 0.0, 0.0, -1.0 if gain else 0.0, 1.0
    trials = tally.trials
    share = (tally.counts["connected_differs" if gain else "connected"] + 1) / (trials + 2)
    mean = tally.counts["connected_diff" if gain else "connected"] / trials
    return mean, max(share - (mean if gain else share) ** 2, 0.0) / trials, 0.0, 0.0


def has_narrow_interval(e: Estimate) -> bool:
    """Whether missing numbers of failures widen the interval less than the trials do."""
    return e.half_width <= 2 * _Z * e.stderr or e.half_width == 0


def count_known_faults(results: Results, against: str | None = None) -> tuple[int, int]:
    """Return how many numbers of failures have a known or sampled probability, and how many there are."""
    strata = _curve_strata(results)[0] if is_curve(results) else _strata(results, against is not None)
    return sum(least == most for _, _, least, most in strata), len(strata)


@dataclass(frozen=True)
class Crossing:
    """A failure rate at which the difference from the hypercube changes its sign, as far as the results decide it.

    Attributes
    ----------
    rate : float or None
        The rate at which the estimated difference is 0; None if no change of sign is decided.
    low, high : float
        Rates at which the signs differ, each decided by three standard errors or more.
    """

    rate: float | None
    low: float
    high: float


def crossing(results: Results) -> Crossing:
    """Return the first crossing of a network and the hypercube in rates .0025 .. .9975; ``results`` as in ``reliability``."""
    strata = _strata(results, True)
    estimates = [(p, _evaluate_polynomial(strata, p, _DECISION_Z)) for p in _RATES]
    decided = [(p, e.low > 0) for p, e in estimates if e.low > 0 or e.high < 0]
    for (low, ahead), (high, later) in itertools.pairwise(decided):
        if ahead != later:
            a, b = low, high
            for _ in range(60):
                middle = (a + b) / 2
                a, b = (middle, b) if (_evaluate_polynomial(strata, middle).value > 0) == ahead else (a, middle)
            return Crossing((a + b) / 2, low, high)
    return Crossing(None, math.nan, math.nan)


def group_by_network(results: Results) -> Iterable[tuple[str, int, Results]]:
    """Yield name (for a curve with nodes or links), n and results of each network in results over f."""
    if is_curve(results):
        for name, what, n in dict.fromkeys(
            (str(p["network"]), str(p["failing"]), int(p["n"])) for p, t in results if t.trials
        ):
            yield f"{name} {what}", n, results.sel(network=name, failing=what, n=n)
        return
    found = dict.fromkeys((str(p["network"]), int(p["n"])) for p, t in results if t.trials and not p.get("links", 1))
    if not found:
        _strata(results, False)
    for name, n in found:
        yield name, n, results.sel(network=name, n=n, links=0)
