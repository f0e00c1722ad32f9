"""The reliability polynomial: a file over all numbers f of failures says what any failure rate does.

R(p) = sum_f C(N, f) p^f (1 - p)^(N - f) P(connected | f).  In a ``survival`` file the trials at each f are a stratum.  In a
``survival-curve`` file the trials at all f are the same orders, and R(p) is the mean of the polynomials of the orders.  Where the
probability is known (f below the proved connectivity, too few survivors or links) it is taken, not estimated.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError, as_number, short_repr, suggest_name
from ..measure.estimate import Estimate
from ..measure.tally import Tally
from ..networks.family import families
from .results import Results

#: Two-sided 95% of the normal law.
_Z = 1.959963984540054

#: Standard errors from 0 at which a sign is decided: it is asked at many rates.
_DECISION_Z = 3.0

#: Rates at which a crossing is looked for.
_RATES = [i / 400 for i in range(1, 400)]


def connectivity(name: str, n: int) -> int:
    """Fewest faulty nodes that a network is proved to need to be apart; 0 where nothing is proved here.

    The least degree, for the networks whose papers prove it, and which all fault sets of n <= 4 confirm; 4 for the augmented
    cube at n = 3.
    """
    family = families().get(name)
    if family is None:
        return 0
    if name == "exchanged":
        return 1 + (n - 1) // 2
    return 4 if (name, n) == ("augmented", 3) else family.degree(n)


#: What is known at one f: a mean with its variance, and its least and largest possible value where nothing is.
Stratum = tuple[float, float, float, float]


def reliability(results: Results, rate: float, *, against: str | None = None) -> Estimate:
    """The probability that the nonfaulty nodes are connected when every node fails with probability ``rate``.

    Parameters
    ----------
    results : Results
        Of ``survival-curve``, of one network, one kind of component and one n (``results.sel(network=...)``), or of ``survival``
        or a study like it, over f, of one network at one n without faulty links.
    rate : float
        In [0, 1].  From a curve of links it is their failure rate.
    against : str, optional
        "hypercube": the difference to it, from the trials of ``survival`` on the same faults.

    Returns
    -------
    Estimate
        From ``survival-curve`` with the Kullback-Leibler interval of a mean in [0, 1], valid at any number of trials, and an
        upper bound of the standard error.  From ``survival`` the interval is normal, asymptotic, with the variance of a stratum
        taken at (x + 1) / (T + 2).  A number of failures that the results lack counts as 0 below and as 1 above (-1 and 1 for a
        difference), and as the middle in the value.

    Raises
    ------
    ParameterError
        For other results, or a curve whose numbers of failures were not counted in the same trials.

    Examples
    --------
    >>> results = fc.run("survival", network="hypercube", n=2, f=[0, 1, 2, 3], links=0, trials=1000)
    >>> e = fc.reliability(results, 0.5)  # 1 + 4 + 4 + 4 of the 16 fault sets leave Q_2 connected
    >>> e.low < 13 / 16 < e.high
    True
    """
    p = as_number(rate)
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
    """The probabilities that 0 .. ``many`` components fail."""
    from scipy.special import gammaln, xlog1py, xlogy  # 0.1 s that no other command needs

    f = np.arange(many + 1)
    ways = gammaln(many + 1) - gammaln(f + 1) - gammaln(f[::-1] + 1)
    weights: NDArray[np.float64] = np.exp(ways + xlogy(f, p) + xlog1py(f[::-1], -p))
    return weights


def _evaluate_polynomial(strata: Sequence[Stratum], p: float, z: float = _Z) -> Estimate:
    """The polynomial at p."""
    weights = _weigh_failures(len(strata) - 1, p)
    mean, variance, least, most = np.array(strata).T
    known, low, high = (math.fsum(weights * share) for share in (mean, least, most))
    error = math.sqrt(math.fsum(weights**2 * variance))
    return Estimate(known + (low + high) / 2, error, known + low - z * error, known + high + z * error)


# ---------------------------------------------------------------- one order of failures per trial


def is_curve(results: Results) -> bool:
    """Whether the results are those of survival-curve."""
    return [axis.name for axis in results.study.axes] == ["network", "what", "n", "failed"]


def _curve_strata(results: Results) -> tuple[list[Stratum], int]:
    """The strata, of variance 0, and the number of trials that all of them share."""
    done = [(point, tally) for point, tally in results if tally.trials]
    found = sorted({(str(point["network"]), str(point["what"]), int(point["n"])) for point, _ in done})
    if len(found) != 1:
        some = ", ".join(f"network={name},what={what},n={n}" for name, what, n in found) or "none"
        raise ParameterError(
            f"results must be of one network, one kind of component and one n, got {some}: use results.sel"
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
        many = families()[name].links(n)
        sure, vain = 1 + (n - 1) // 2 if name == "exchanged" else families()[name].degree(n), many - (1 << n) + 2
    known = {int(point["failed"]): other.counts["connected"] / other.trials for point, other in done}
    strata = []
    for f in range(many + 1):
        if f < sure or f >= vain or (what == "nodes" and f == many - 1):
            strata.append((float(f < vain), 0.0, 0.0, 0.0))
        else:
            strata.append((known.get(f, 0.0), 0.0, 0.0, 0.0 if f in known else 1.0))
    return strata, tally.trials


def _evaluate_curve(strata: Sequence[Stratum], trials: int, p: float) -> Estimate:
    """The polynomial at p, the mean over orders of a quantity in [0, 1]."""
    weights = _weigh_failures(len(strata) - 1, p)
    mean, _, _, most = np.array(strata).T
    low, lacking = min(math.fsum(weights * mean), 1.0), math.fsum(weights * most)
    value, high = low + lacking / 2, min(low + lacking, 1.0)
    error = math.sqrt(value * (1 - value) / trials)
    return Estimate(value, error, chernoff_interval(low, trials)[0], chernoff_interval(high, trials)[1])


def chernoff_interval(mean: float, trials: int, level: float = 0.05) -> tuple[float, float]:
    """The Kullback-Leibler (Chernoff-Hoeffding) interval of the expectation of a quantity in [0, 1], from its mean.

    All q with trials * KL(mean, q) <= log(2 / level), KL that of two Bernoulli distributions.  Clopper-Pearson limits hold for
    numbers of 0/1 outcomes; a mean of other values is no such number.
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


# ---------------------------------------------------------------- trials of survival at each number of failures


def _strata(results: Results, gain: bool) -> list[Stratum]:
    """The strata, f = 0 .. 2^n."""
    axes = [axis.name for axis in results.study.axes]
    needed = {"connected", "connected_gain", "connected_differs"}
    if axes != ["network", "n", "f", "links"] or not needed <= {c.name for c in results.study.tally.counters}:
        raise ParameterError(f"results must be of survival, over f, got {results.study.name}")
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
    mean = tally.counts["connected_gain" if gain else "connected"] / trials
    return mean, max(share - (mean if gain else share) ** 2, 0.0) / trials, 0.0, 0.0


def has_narrow_interval(e: Estimate) -> bool:
    """Whether what the results lack widens the interval less than their trials do."""
    return e.half_width <= 2 * _Z * e.stderr or e.half_width == 0


def count_known_faults(results: Results, against: str | None = None) -> tuple[int, int]:
    """Of how many numbers of failures the probability is known or sampled, and how many there are."""
    strata = _curve_strata(results)[0] if is_curve(results) else _strata(results, against is not None)
    return sum(least == most for _, _, least, most in strata), len(strata)


@dataclass(frozen=True)
class Crossing:
    """Where the difference to the hypercube changes its sign, as far as the results decide.

    Attributes
    ----------
    rate : float or None
        Where the estimated difference is 0; None where nothing is decided.
    low, high : float
        The network is behind at ``low`` and ahead at ``high``, or the reverse, each by three standard errors or more.
    """

    rate: float | None
    low: float
    high: float


def crossing(results: Results) -> Crossing:
    """The first crossing of a network and the hypercube in rates .0025 .. .9975; see :func:`reliability` for ``results``."""
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
    """Each network, with the kind of component of a curve, and n of results over f without faulty links, with its results."""
    if is_curve(results):
        for name, what, n in dict.fromkeys(
            (str(p["network"]), str(p["what"]), int(p["n"])) for p, t in results if t.trials
        ):
            yield f"{name} {what}", n, results.sel(network=name, what=what, n=n)
        return
    found = dict.fromkeys((str(p["network"]), int(p["n"])) for p, t in results if t.trials and not p.get("links", 1))
    if not found:
        _strata(results, False)
    for name, n in found:
        yield name, n, results.sel(network=name, n=n, links=0)
