"""Statistics at any failure rate, from results over all numbers of failures; P(connected) is the reliability polynomial.

Results of ``survival`` give ``Strata``, results of ``survival-curve`` and exact values a ``Curve`` (``failure_curves``).  Where a
value is proved (``proved_values``), it is used in place of an estimate.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..errors import (
    MissingDependencyError,
    ParameterError,
    as_number,
    is_many,
    percentage_value,
    short_repr,
    suggest_name,
)
from ..measure.asymptotic import NormalMean
from ..measure.estimate import ALPHA, Estimate
from ..measure.goal import MOST_TRIALS
from ..measure.registry import find_study, study, study_of
from ..measure.statistics import Difference, Mean, Number, PairedDifference, Proportion, Value
from ..measure.study import Measure
from ..measure.tally import Tally
from ..networks.family import network_families
from .failure_curves import BISECTIONS, Curve, Strata, weigh_failures
from .proved_values import Fallible, connectivity, count_fallible, find_proved_values
from .results import Results

if TYPE_CHECKING:
    import xarray

#: A sign counts as decided at this many standard errors from 0; more than 2, because it is tested at many rates.
_DECISION_Z = 3.0

#: Rates at which the sign of the difference is tested.
_RATES = [i / 400 for i in range(1, 400)]

#: Fraction of a planned interval's width that numbers of failures without trials may add.
_LEFT_OUT = 0.1


@overload
def reliability(
    results: Results | Iterable[float | Fraction], rate: float, *, stat: str = "connected", against: str | None = None
) -> Estimate: ...
@overload
def reliability(
    results: Results | Iterable[float | Fraction],
    rate: Iterable[float],
    *,
    stat: str = "connected",
    against: str | None = None,
) -> xarray.Dataset: ...
def reliability(
    results: Results | Iterable[float | Fraction],
    rate: float | Iterable[float],
    *,
    stat: str = "connected",
    against: str | None = None,
) -> Estimate | xarray.Dataset:
    """Return a statistic of a network in which every node, or every link, fails with probability ``rate``.

    Parameters
    ----------
    results : Results or sequence of float
        Of ``survival-curve``: for one network, one value of failing and one n (``results.sel(network=...)``).  Or of
        ``survival`` or a similar study: over f, for one network at one n without faulty links.  Or exact values at
        f = 0, 1, ... up to the number of nodes, or of links.
    rate : float, or sequence of float
        In [0, 1], or text such as ``"2%"``.  For a curve of links it is their failure rate.  With repair it is the
        unavailability of a node or link, the long-run fraction of time in which it does not work.
    stat : str
        A statistic that depends on the faults alone: every one of ``survival-curve``, or a probability of ``survival``.  If it
        is a fraction of the survivors, the result is the mean of the fraction, not a ratio of means.
    against : str, optional
        "hypercube" for the difference from the hypercube, from the trials of ``survival`` on the same faults.

    Returns
    -------
    Estimate or xarray.Dataset
        An estimate at one rate; for several a dataset over ``rate`` with the variables STAT, STAT_stderr, STAT_low, STAT_high.

        From ``survival-curve`` a probability has the Kullback-Leibler interval of a mean in [0, 1].  Another mean has the common
        part of this interval, for its proved range, and the empirical Bernstein interval.  Both are valid for any number of
        trials, and the standard error is an upper bound.  From ``survival``: with the normal interval, which is asymptotic,
        and the variance of a stratum taken at (x + 1) / (T + 2).  A number of failures without results counts by its least
        possible value in the lower limit, by its largest in the upper, and by their mean in the value.  Without survivors all
        values are 0, but ``no_isolated_node`` is 1.

    Raises
    ------
    ParameterError
        If the results are of another kind, the statistic is not in them or needs more than the faults, or a curve's numbers of
        failures have different trials.

    Examples
    --------
    >>> results = fc.run("survival", network="hypercube", n=2, f=[0, 1, 2, 3], links=0, trials=1000)
    >>> e = fc.reliability(results, 0.5)  # 1 + 4 + 4 + 4 of the 16 fault sets leave Q_2 connected
    >>> e.low < 13 / 16 < e.high
    True
    >>> round(fc.reliability([1, 1, 4 / 6, 1, 0], 0.5).value, 6)
    0.8125
    """
    numbers = [as_number(percentage_value(p)) for p in (rate if is_many(rate) else [rate])]
    rates = [float(p) for p in numbers if p is not None and 0 <= p <= 1]
    if not rates or len(rates) < len(numbers):
        raise ParameterError(f"rate must be a number in [0, 1], or several, got {short_repr(rate)}")
    curve = read_curve(results, stat, against)
    estimates = [curve.read(p).estimate for p in rates]
    return make_rate_dataset(stat, rates, estimates) if is_many(rate) else estimates[0]


def read_curve(
    results: Results | Iterable[float | Fraction], stat: str = "connected", against: str | None = None
) -> Curve | Strata:
    """Return a statistic over the numbers of failures; parameters and errors are as in ``reliability``."""
    if against not in (None, "hypercube"):
        raise ParameterError(
            f"against must be hypercube or None, got {short_repr(against)}{suggest_name(against, ['hypercube'])}"
        )
    if isinstance(results, Results):
        if not is_curve(results):
            return _read_strata(results, stat, against is not None)
        if against is not None:
            raise ParameterError(
                "against must be left out for survival-curve, which has no difference to the hypercube"
            )
        return _read_orders(results, stat)
    values = [as_number(float(x) if isinstance(x, Fraction) else x) for x in results] if is_many(results) else []
    if len(values) < 2 or None in values:
        raise ParameterError(f"results must be Results, or two exact values or more, got {short_repr(results)}")
    exact = np.array(values, np.float64)
    return Curve(exact, exact, exact, exact, 0 * exact, 1, True)


def make_rate_dataset(stat: str, rates: Sequence[float], estimates: Sequence[Estimate]) -> xarray.Dataset:
    """Return estimates at failure rates as a dataset.  Raises MissingDependencyError without xarray."""
    try:
        import xarray
    except ImportError:
        raise MissingDependencyError("several rates need xarray: pip install xarray") from None
    columns = {"": "value", "_stderr": "stderr", "_low": "low", "_high": "high"}
    data = {stat + end: ("rate", [getattr(e, name) for e in estimates]) for end, name in columns.items()}
    return xarray.Dataset(data, {"rate": list(rates)})


def is_curve(results: Results) -> bool:
    """Whether the results are over the axes of survival-curve, as those of its counterpart for a user's network are."""
    return [axis.name for axis in results.study.axes] == ["network", "failing", "n", "failed"]


def _find_number(measure: Measure, name: str) -> Number:
    """Return a statistic that depends on the faults alone.  Raises ParameterError for another."""
    by_name = {
        s.name: s
        for s in (find_study(measure) or measure).statistics
        if s.condition is None and isinstance(s, (Proportion, Mean, NormalMean)) and not isinstance(s, Difference)
    }
    if name not in by_name:
        names = ", ".join(by_name) or "none"
        raise ParameterError(f"stat must be one of {names}, got {short_repr(name)}{suggest_name(name, by_name)}")
    return by_name[name]


def _read_orders(results: Results, stat: str) -> Curve:
    """Return the curve of a statistic in results of survival-curve.  Raises ParameterError as ``reliability``."""
    done = [(point, tally) for point, tally in results if tally.trials]
    networks = sorted({(str(point["network"]), str(point["failing"]), int(point["n"])) for point, _ in done})
    if len(networks) != 1:
        described = ", ".join(f"network={name},failing={failing},n={n}" for name, failing, n in networks) or "none"
        raise ParameterError(
            f"results must be of one network, one value of failing (nodes or links) and one n, got {described}: use results.sel"
        )
    first, tally = done[0]
    for point, other in done:
        if other.ranges != tally.ranges:
            raise ParameterError(
                f"results must have the same trials at all numbers of failures, got others at failed={point['failed']} than "
                f"at failed={first['failed']}: count the missing trials"
            )
    tallies = {int(point["failed"]): tally_at_f for point, tally_at_f in done}
    name, failing, n = networks[0]
    family: Any = name  # or the Family, which only the study's code knows for a user's network
    if name not in network_families() and failing == "links":
        sample = study_of(results.study).sample
        assert sample is not None
        family = sample({**first, "failed": 0}, 0, 0).network.family
    statistic = _find_number(results.study, stat)
    try:
        return _make_curve(statistic, first, count_fallible(family, failing, n), tallies, tally.trials)
    except KeyError:  # a file has a statistic's bounds only at its own points
        raise ParameterError(
            f"results must have all numbers of failures, or the code of {results.study.name}, which bounds {stat} at the others"
        ) from None


def _make_curve(
    statistic: Number, where: Mapping[str, Value], count: int, tallies: Mapping[int, Tally], trials: int
) -> Curve:
    """Return the curve of a statistic over 0 .. ``count`` failures at the network ``where``.

    ``tallies`` are the tallies by the number of failures; at numbers without one only bounds are known.
    """
    name, failing, n = str(where["network"]), str(where["failing"]), int(where["n"])

    def make_point(f: int) -> dict[str, Value]:
        return {**where, "failed": f}

    fallible = Fallible(1 << n, count, failing == "links")
    proved = find_proved_values(statistic, make_point, fallible, connectivity(name, n, failing))
    least_value: float = getattr(statistic, "least", 0.0)  # a proportion has neither ``least`` nor ``bound``
    rows = []  # least, most, low, high, deviation
    for f in range(count + 1):
        if f in proved:
            rows.append((proved[f], proved[f], proved[f], proved[f], 0.0))
            continue
        bounds = least_value, least_value + float(getattr(statistic, "bound", lambda _: 1.0)(make_point(f)))
        if f in tallies:
            e = statistic.estimate(tallies[f].counts, trials, make_point(f))
            rows.append((*bounds, e.value, e.value, e.stderr * math.sqrt(trials)))
        else:
            rows.append((*bounds, *bounds, 0.0))
    least, most, low, high, deviation = np.array(rows).T
    return Curve(least, most, low, high, deviation, trials, not isinstance(statistic, Proportion))


def _read_strata(results: Results, stat: str, paired: bool) -> Strata:
    """Return the strata for f = 0 .. 2^n of a probability, or if ``paired`` of its difference to the hypercube.

    Raises ParameterError as ``reliability``.
    """
    axes = [axis.name for axis in results.study.axes]
    needed = {"connected", "connected_diff", "connected_differs"}
    if axes != ["network", "n", "f", "links"] or not needed <= {c.name for c in results.study.tally.counters}:
        raise ParameterError(
            "results must be of survival-curve over network, failing, n, failed, or of survival over network, n, f, links, "
            f"got {results.study.name} over {', '.join(axes)}"
        )
    done = [(point, tally) for point, tally in results if tally.trials and not point["links"]]
    networks = sorted({(str(point["network"]), int(point["n"])) for point, _ in done})
    if len(networks) != 1:
        described = ", ".join(f"network={name},n={n}" for name, n in networks) or "none"
        raise ParameterError(
            f"results must be of one network at one n without faulty links, got {described}: use results.sel"
        )
    (name, n), (first, _) = networks[0], done[0]
    statistic, tallies = _find_number(results.study, stat), {int(point["f"]): tally for point, tally in done}
    least_cut, least = connectivity(name, n), 0.0
    if paired:
        differences = {s.name: s for s in results.study.statistics if isinstance(s, PairedDifference)}
        if f"{stat}_diff" not in differences:
            raise ParameterError(f"against must be left out for {stat}, which has no difference to the hypercube")
        difference, least_cut, least = differences[f"{stat}_diff"], min(least_cut, n), -1.0
    proved = find_proved_values(statistic, lambda f: {**first, "f": f}, Fallible(1 << n, 1 << n, False), least_cut)
    rows = []  # low, high, variance
    for f in range((1 << n) + 1):
        if f in proved:
            value = 0.0 if paired else proved[f]
            rows.append((value, value, 0.0))
        elif f not in tallies:
            rows.append((least, 1.0, 0.0))
        else:
            counts, trials = tallies[f].counts, tallies[f].trials
            events = counts[difference.nonzero] if paired else statistic.count_events(counts, trials)
            mean = (counts[difference.total] if paired else events) / trials
            fraction = (events + 1) / (trials + 2)  # is never 0 or 1, so that no sampled stratum has variance 0
            rows.append((mean, mean, max(fraction - (mean if paired else fraction) ** 2, 0.0) / trials))
    return Strata(*np.array(rows).T)


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


def find_crossing(results: Results) -> Crossing:
    """Return the first crossing of a network and the hypercube in rates .0025 .. .9975; ``results`` as in ``reliability``."""
    strata = _read_strata(results, "connected", True)
    estimates = [(p, strata.read(p, _DECISION_Z).estimate) for p in _RATES]
    decided = [(p, e.low > 0) for p, e in estimates if e.low > 0 or e.high < 0]
    for (low, is_positive), (high, is_positive_later) in itertools.pairwise(decided):
        if is_positive != is_positive_later:
            left, right = low, high
            for _ in range(BISECTIONS):
                middle = (left + right) / 2
                is_left = (strata.read(middle).estimate.value > 0) == is_positive
                left, right = (middle, right) if is_left else (left, middle)
            return Crossing((left + right) / 2, low, high)
    return Crossing(None, math.nan, math.nan)


def group_by_network(results: Results) -> Iterator[tuple[str, str, int, Results]]:
    """Yield name, what fails (empty for ``survival``), n and results of each network in these results.

    Raises ParameterError for results of another study.
    """
    axes = [axis.name for axis in results.study.axes]
    if "failing" in axes:
        curves = dict.fromkeys((str(p["network"]), str(p["failing"]), int(p["n"])) for p, t in results if t.trials)
        for name, failing, n in curves:
            yield name, failing, n, results.sel(network=name, failing=failing, n=n)
        return
    pairs = dict.fromkeys((str(p["network"]), int(p["n"])) for p, t in results if t.trials and not p.get("links", 1))
    if not pairs:  # raises the error of results without such points, or of another study
        _read_strata(results, "connected", False)
    for name, n in pairs:
        yield name, "", n, results.sel(network=name, n=n, links=0)


def plan_run(name: str, failing: str, n: int, stat: str, rates: Sequence[float], width: float) -> str:
    """Return the command of a run of survival-curve that gives a statistic an interval of at most ``width`` at all rates.

    It leaves out numbers of failures that add at most a tenth of the width.  The number of trials is sufficient for any outcome
    (Hoeffding 1963), so fewer are often enough.  Raises ParameterError if no number of trials is enough.
    """
    if not 0 < width < math.inf:
        raise ParameterError(f"plan must be a positive width, got {width}")
    where: dict[str, Any] = {"network": name, "failing": failing, "n": n}
    planned = study("survival-curve")
    planned.point({**where, "failed": 0})  # refuses a size that cannot be run, before the curve fills the memory
    curve = _make_curve(_find_number(planned, stat), where, count_fallible(name, failing, n), {}, 1)
    is_sampled, span = np.zeros(len(curve.low), bool), 0.0
    for p in rates:
        ranges = weigh_failures(len(curve.low) - 1, p) * (curve.most - curve.least)
        order = np.argsort(ranges)
        is_sampled[order[np.cumsum(ranges[order]) > _LEFT_OUT * width]] = True
        span = max(span, math.fsum(ranges))
    wanted_width, factor = (1 - _LEFT_OUT) * width, 2 * math.log(2 / ALPHA * (1 + curve.is_mean))
    least = math.sqrt(factor / MOST_TRIALS) * span / (1 - _LEFT_OUT)
    if width < least:
        raise ParameterError(f"plan must be a width that 2^60 trials reach, at least {least:.2g}, got {width:g}")
    trials = math.ceil(factor * (span / wanted_width) ** 2)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], is_sampled, [0]))))
    failed = ",".join(f"{a}:{b - 1}" if b - 1 > a else f"{a}" for a, b in edges.reshape(-1, 2).tolist())
    return (
        f"fastcube run survival-curve --set network={name} --set failing={failing} --set n={n} --set failed={failed or 0} "
        f"--trials {max(trials, 1)}"
    )
