"""Intervals: against independent formulas, and coverage where the normal interval fails."""

import math
import random
from fractions import Fraction

import pytest
from scipy import stats

from fastcube.engine.estimate import Estimate, bounded_mean, proportion, ratio


@pytest.mark.parametrize(("events", "trials"), [(0, 10), (1, 10), (5, 10), (10, 10), (3, 10**6), (999_999, 10**6)])
def test_clopper_pearson_agrees_with_the_exact_binomial_test(events, trials):
    ours = proportion(events, trials)
    # the definition: at each limit the observed tail has probability 2.5%
    if events:
        assert stats.binom.sf(events - 1, trials, ours.low) == pytest.approx(0.025, rel=1e-6)
    if events < trials:
        assert stats.binom.cdf(events, trials, ours.high) == pytest.approx(0.025, rel=1e-6)
    assert ours.value == events / trials


def test_no_events_give_the_upper_bound():
    e = proportion(0, 10**6)
    assert (e.value, e.low) == (0.0, 0.0)
    assert e.high == pytest.approx(-math.log(0.025) / 10**6, rel=1e-5)


def test_bernstein_interval_is_the_published_formula():
    values = [0, 0, 3, 8, 1, 0, 2, 8]
    e = bounded_mean(sum(values), sum(v * v for v in values), len(values), 8, 1)
    scaled = [v / 8 for v in values]
    mean = sum(scaled) / 8
    variance = sum((v - mean) ** 2 for v in scaled) / 7
    log = math.log(80)
    width = math.sqrt(2 * variance * log / 8) + 7 * log / (3 * 7)
    assert e.value == pytest.approx(mean)
    assert e.stderr == pytest.approx(math.sqrt(variance / 8))
    assert (e.low, e.high) == (pytest.approx(max(0, mean - width)), pytest.approx(min(1, mean + width)))


def test_bernstein_covers_a_rare_and_huge_quantity():
    """A quantity that is 1 with probability 1e-4: with 2,000 trials most samples are all zero, and the normal
    interval is [0, 0].  The empirical Bernstein interval must hold the mean in at least 95% of 400 samples."""
    rng = random.Random(5)
    covered = 0
    for _ in range(400):
        hits = sum(rng.random() < 1e-4 for _ in range(2000))
        e = bounded_mean(hits, hits, 2000)
        covered += e.low <= 1e-4 <= e.high
    assert covered >= 380


def test_sums_are_exact_beyond_float64():
    unit, trials = 2**60, 3
    values = [2**60, 2**60 - 1, 2**60 - 2]
    e = bounded_mean(sum(values), sum(v * v for v in values), trials, unit)
    variance = Fraction(sum((v - Fraction(sum(values), 3)) ** 2 for v in values), 2) / unit**2
    assert e.stderr == pytest.approx(math.sqrt(variance / 3))


def test_one_trial_knows_only_the_range():
    e = bounded_mean(2, 4, 1, 1, 5)
    assert (e.value, e.low, e.high) == (2, 0, 5)
    assert math.isnan(e.stderr)


def test_nothing_counted_is_nan():
    for e in (proportion(0, 0), bounded_mean(0, 0, 0), ratio(0, 0, 0, 0, 0, 0), ratio(0, 0, 0, 0, 0, 5)):
        assert all(math.isnan(v) for v in (e.value, e.stderr, e.low, e.high))


def test_a_ratio_of_nothing_seen_has_an_upper_limit_where_it_is_bounded():
    assert ratio(0, 5000, 0, 0, 50_000, 500) == Estimate(0.0, 0.0, 0.0, 0.0)
    assert ratio(0, 5000, 0, 0, 50_000, 500, 3.0) == Estimate(0.0, 0.0, 0.0, 3 * proportion(0, 500).high)
    one = ratio(1, 5000, 1, 10, 50_000, 500, 1.0)
    assert one.low == 0.0 < one.value < one.high < 1
    assert ratio(1, 5000, 1, 10, 50_000, 500).low < 0


def test_ratio_agrees_with_resampling():
    rng = random.Random(2)
    pairs = [(x + rng.randrange(4), x) for x in (rng.randrange(1, 20) for _ in range(3000))]
    a, b = sum(p[0] for p in pairs), sum(p[1] for p in pairs)
    e = ratio(
        a, b, sum(p[0] ** 2 for p in pairs), sum(p[0] * p[1] for p in pairs), sum(p[1] ** 2 for p in pairs), len(pairs)
    )
    resampled = []
    for _ in range(400):
        sample = rng.choices(pairs, k=len(pairs))
        resampled.append(sum(p[0] for p in sample) / sum(p[1] for p in sample))
    mean = sum(resampled) / len(resampled)
    spread = math.sqrt(sum((r - mean) ** 2 for r in resampled) / (len(resampled) - 1))
    assert e.value == a / b
    assert e.stderr == pytest.approx(spread, rel=0.15)
