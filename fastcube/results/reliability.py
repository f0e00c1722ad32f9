"""The reliability polynomial: a survival file over all numbers f of faulty nodes says what any node failure rate does.

R(p) = sum_f C(N, f) p^f (1 - p)^(N - f) P(connected | f): at each f the trials of one network are a stratum.  Where the
probability is known (f = 0, f below the proved connectivity, f = N - 1, f = N) it is taken, not estimated.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

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
        Of ``survival`` or a study like it, over f, of one network at one n without faulty links (``results.sel(network=...)``).
    rate : float
        In [0, 1].
    against : str, optional
        "hypercube": the difference to it, from the trials on the same faults.

    Returns
    -------
    Estimate
        The interval is normal, asymptotic, with the variance of a stratum taken at (x + 1) / (T + 2).  An f that the results
        lack counts as 0 below and as 1 above (-1 and 1 for a difference), and as the middle in the value.

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
    n, strata = _strata(results, against is not None)
    return _evaluate_polynomial(n, strata, float(p))


def _evaluate_polynomial(n: int, strata: Sequence[Stratum], p: float, z: float = _Z) -> Estimate:
    """The polynomial at p."""
    from scipy.special import gammaln, xlog1py, xlogy  # 0.1 s that no other command needs

    f = np.arange((1 << n) + 1)
    ways = gammaln(f[-1] + 1) - gammaln(f + 1) - gammaln(f[::-1] + 1)
    weights = np.exp(ways + xlogy(f, p) + xlog1py(f[::-1], -p))  # of the 2^n nodes f fail
    mean, variance, least, most = np.array(strata).T
    known, low, high = (math.fsum(weights * share) for share in (mean, least, most))
    error = math.sqrt(math.fsum(weights**2 * variance))
    return Estimate(known + (low + high) / 2, error, known + low - z * error, known + high + z * error)


def _strata(results: Results, gain: bool) -> tuple[int, list[Stratum]]:
    """n and the strata, f = 0 .. 2^n."""
    if not isinstance(results, Results):
        raise ParameterError(f"results must be Results, got {short_repr(results)}")
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
    return n, [_stratum(tallies.get(f), f, 1 << n, max(sure, 1), gain) for f in range((1 << n) + 1)]


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
    """Of how many numbers of faulty nodes the probability is known or sampled, and how many there are."""
    _, strata = _strata(results, against is not None)
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
    n, strata = _strata(results, True)
    estimates = [(p, _evaluate_polynomial(n, strata, p, _DECISION_Z)) for p in _RATES]
    decided = [(p, e.low > 0) for p, e in estimates if e.low > 0 or e.high < 0]
    for (low, ahead), (high, later) in itertools.pairwise(decided):
        if ahead != later:
            a, b = low, high
            for _ in range(60):
                middle = (a + b) / 2
                a, b = (middle, b) if (_evaluate_polynomial(n, strata, middle).value > 0) == ahead else (a, middle)
            return Crossing((a + b) / 2, low, high)
    return Crossing(None, math.nan, math.nan)


def group_by_network(results: Results) -> Iterable[tuple[str, int, Results]]:
    """Each network and n of results over f without faulty links, with its results."""
    found = dict.fromkeys((str(p["network"]), int(p["n"])) for p, t in results if t.trials and not p.get("links", 1))
    if not found:
        _strata(results, False)
    for name, n in found:
        yield name, n, results.sel(network=name, n=n, links=0)
