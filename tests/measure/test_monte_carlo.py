"""Monte Carlo against exact values, at level 1e-6 a comparison: fixed seeds, inequalities that hold for any distribution.

Shares are compared by the binomial distribution itself, means by Bernstein's inequality with the exact variance.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction

import numba
import pytest
from scipy.special import bdtr, bdtrc

from fastcube.exact import unsafe as exact
from fastcube.exact.closed_forms import fault_free_block, fault_free_half
from fastcube.kernels.free_subcube.layout import PARTS
from fastcube.measure import registry
from fastcube.measure.statistics import Mean, Proportion, SplitMean
from fastcube.measure.study import Study
from fastcube.measure.tally import Tally

pytestmark = [
    pytest.mark.skipif(numba.config.DISABLE_JIT, reason="millions of trials need compiled code"),
    pytest.mark.kernels,
]

LEVEL = 1e-6
TRIALS = 200_000

#: Weighted fault sets by (unsafe nodes, rounds): weights that add up to 1.
Distribution = dict[tuple[int, int | None], Fraction]


def run(study: Study, point: dict[str, int | float], trials: int = TRIALS) -> Tally:
    return study.count(point, trials, seed=20240607)


def distribution_of_size(n: int, f: int) -> Distribution:
    """All sets of f faults alike."""
    joint = (
        exact.enumerate_fault_sets(n)[f]
        if n <= 5
        else exact.column_types(n, f)[0]
        if f <= 4
        else exact.count_by_families(n)[f]
    )
    return {key: Fraction(many, math.comb(2**n, f)) for key, many in joint.items()}


def distribution_of_rate(n: int, p: float) -> tuple[Distribution, Fraction]:
    """Every node faulty with probability p; and the probability that no node is active."""
    distribution: Counter[tuple[int, int | None]] = Counter()
    everything, rate = Fraction(0), Fraction(p)
    for f, joint in enumerate(exact.enumerate_fault_sets(n) if n <= 5 else exact.count_by_families(n)):
        for (unsafe, rounds), many in joint.items():
            weight = many * rate**f * (1 - rate) ** (2**n - f)
            distribution[unsafe, rounds] += weight
            everything += weight * (unsafe + f == 2**n)
    return dict(distribution), everything


def check_probability(study: Study, tally: Tally, name: str, wanted: Fraction) -> None:
    statistic = study.statistic(name)
    assert isinstance(statistic, Proportion)
    events, p = tally.counts[statistic.events], float(wanted)
    assert bdtr(events, tally.trials, p) > LEVEL / 2, (name, events, p)
    assert events == 0 or bdtrc(events - 1, tally.trials, p) > LEVEL / 2, (name, events, p)


def check_mean(
    study: Study, tally: Tally, name: str, distribution: Distribution, value: Callable[[int, int], int]
) -> None:
    statistic = study.statistic(name)
    assert isinstance(statistic, (Mean, SplitMean))
    squares = statistic.squares if isinstance(statistic, Mean) else statistic.total_squares
    mean = sum(value(*key) * weight for key, weight in distribution.items())
    variance = sum(value(*key) ** 2 * weight for key, weight in distribution.items()) - mean**2
    largest = max(value(*key) for key in distribution)
    # Bernstein: P(|mean of T - mean| >= e) <= 2 exp(-T e^2 / (2 (variance + largest e / 3)))
    a = math.log(2 / LEVEL) / tally.trials
    error = a * largest / 3 + math.sqrt((a * largest / 3) ** 2 + 2 * a * float(variance))
    assert abs(tally.counts[statistic.total] / tally.trials - mean) <= error, name
    square = sum(value(*key) ** 2 * weight for key, weight in distribution.items())
    fourth = sum(value(*key) ** 4 * weight for key, weight in distribution.items())
    error = a * largest**2 / 3 + math.sqrt((a * largest**2 / 3) ** 2 + 2 * a * float(fourth - square**2))
    assert abs(tally.counts[squares] / tally.trials - square) <= error, name


def check(study: Study, tally: Tally, distribution: Distribution, everything: Fraction) -> None:
    check_probability(study, tally, "all_unsafe", everything)
    check_mean(study, tally, "unsafe_fraction", distribution, lambda unsafe, rounds: unsafe)
    if all(rounds is not None for _, rounds in distribution):
        check_mean(study, tally, "rounds", distribution, lambda unsafe, rounds: rounds)
        assert tally.maxima[study.tally.maxima[0].name][0] <= max(rounds for _, rounds in distribution)


def points() -> Iterable[tuple[int, int]]:
    for n in range(1, 6):
        yield from ((n, f) for f in range(2**n + 1) if n < 4 or f <= 6 or f % 5 == 0)
    yield from [(6, f) for f in (2, 3, 4, 5, 8, 16, 60)] + [(7, 3), (7, 4), (8, 2), (8, 4), (9, 4), (10, 4)]
    yield from [(12, 2), (17, 3), (24, 2), (31, 2), (33, 2), (62, 3)]


#: Where lanes of 16 bits merge subcubes.  Below, kernels look at whole cubes; above, lanes of 32 bits run the same source.
OTHERS = [pytest.param(n, f, marks=pytest.mark.slow) for n, f in ((13, 4), (15, 4), (16, 3))]


@pytest.mark.parametrize(("n", "f"), [*points(), *OTHERS])
def test_random_sets_of_f_faults(n, f):
    study = registry.study("unsafe-fraction")
    values = exact.exact_unsafe(n, f)
    tally = run(study, {"n": n, "f": f})
    check(study, tally, distribution_of_size(n, f), values.all_unsafe)
    check_probability(study, tally, "close_pair", values.close_pair)


@pytest.mark.parametrize("n", range(1, 7))
@pytest.mark.parametrize("times", [0.3, 0.7, 1.0, 1.5])
def test_independent_faults(n, times):
    study = registry.study("unsafe-critical")
    p = min(0.95, times * exact.critical_rate(n))
    tally = run(study, {"n": n, "p": p})
    distribution, everything = distribution_of_rate(n, p)
    assert everything == exact.all_unsafe_probability(n, Fraction(p))
    check(study, tally, distribution, everything)


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_no_fault_and_all_faulty(p):
    tally = run(registry.study("unsafe-critical"), {"n": 4, "p": p}, trials=1000)
    assert tally.counts["all_unsafe"] == 1000 * p
    assert tally.counts["unsafe_nodes"] == 0


SIZES = (2, 3, 4, 5, 6, 8, 10, 16, 17, 20, 33, 62)
FAULTS = (1, 2, 4, 7, 8, 12, 16, 33, 64, 70)


@pytest.mark.parametrize(("n", "f"), [(n, f) for n in SIZES for f in FAULTS if f <= 2**n])
def test_closed_forms_of_fault_free_subcubes(n, f):
    """On both sides of each width of lanes, and where trials are decided one at a time."""
    study = registry.study("free-subcube")
    point = {"n": n, "f": f, "links": 0}
    tally = run(study, point, TRIALS if f < 65 else TRIALS // 20)
    check_probability(study, tally, "fault_free_half", fault_free_half(n, f))
    for m, part in enumerate(PARTS[: min(n, 3)], 1):
        check_probability(study, tally, f"aligned_{part}", fault_free_block(n, m, f))


@pytest.mark.parametrize(
    ("n", "f", "links"),
    [(2, 2, 0), (3, 4, 0), (4, 5, 0), (4, 8, 0), (5, 5, 0), (3, 0, 5), (3, 2, 2), (4, 0, 4), (2, 1, 2)],
)
def test_all_statistics_of_fault_free_subcubes(n, f, links):
    study = registry.study("free-subcube")
    point = {"n": n, "f": f, "links": links}
    tally, values = run(study, point), study.exact(point)
    for statistic in study.statistics:
        if statistic.defined(point):
            check_probability(study, tally, statistic.name, values[statistic.name])
