"""Estimates and intervals: against exact arithmetic, and coverage where the normal interval fails."""

import itertools
import math
import random
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from helpers.compiled import mark_others_slow
from scipy.special import bdtr, bdtrc

import fastcube as fc
from fastcube.measure.asymptotic import MIN_NONZERO_TRIALS
from fastcube.measure.estimate import (
    Estimate,
    TrialClass,
    bounded_mean,
    mean_of_classes,
    min_nonzero_values,
    normal_mean,
    paired_difference,
    proportion,
    ratio,
)
from fastcube.measure.goal import FIRST_PREFIX, Goal
from fastcube.measure.statistics import CensoredMean
from fastcube.results.rounding import estimate_text

#: Normal deviate of 97.5%, to 40 digits.
DEVIATE = Decimal("1.959963984540054235524594430520551527955")


def decimal(x):
    """A Fraction as a Decimal of the context's precision."""
    return Decimal(x.numerator) / Decimal(x.denominator)


def moments(values):
    """Mean and sample variance, exactly."""
    mean = Fraction(sum(values), len(values))
    return mean, sum((v - mean) ** 2 for v in values) / (len(values) - 1)


def close(found, exact):
    """Whether a float is an exact number to 1e-12 of it."""
    return abs(Fraction(found) - Fraction(exact)) <= abs(Fraction(exact)) / 10**12


@pytest.mark.parametrize(("events", "trials"), [(0, 10), (1, 10), (5, 10), (10, 10), (3, 10**6), (999_999, 10**6)])
def test_clopper_pearson_agrees_with_the_exact_binomial_test(events, trials):
    ours = proportion(events, trials)
    # the definition: at each limit the observed tail has probability 2.5%
    if events:
        assert bdtrc(events - 1, trials, ours.low) == pytest.approx(0.025, rel=1e-6)
    if events < trials:
        assert bdtr(events, trials, ours.high) == pytest.approx(0.025, rel=1e-6)
    assert ours.value == events / trials


def test_no_events_give_the_upper_bound():
    e = proportion(0, 10**6)
    assert (e.value, e.low) == (0.0, 0.0)
    assert e.high == pytest.approx(-math.log(0.025) / 10**6, rel=1e-5)


@pytest.mark.parametrize(("events", "trials"), [(1, 10), (5, 10), (9, 10), (3, 1000), (40, 500)])
@pytest.mark.parametrize("alpha", [0.05, 0.05 / 7])
def test_clopper_pearson_to_the_last_digits(events, trials, alpha):
    """The tails at its limits, in exact arithmetic, which a change of the limit by 1e-12 would put beside alpha / 2."""
    e = proportion(events, trials, alpha)
    with localcontext() as context:
        context.prec = 50

        def tail(p, some):
            p = decimal(Fraction(p))
            return sum(math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in some)

        half = Decimal(alpha) / 2
        for limit, some in ((e.low, range(events, trials + 1)), (e.high, range(events + 1))):
            near = [tail(limit * (1 + by), some) for by in (-1e-12, 1e-12)]
            assert min(near) <= half <= max(near)
    assert e.stderr == pytest.approx(math.sqrt(events * (trials - events) / trials**3), rel=1e-12)


#: Samples inside of their bounds and far from them, in units of 8: spread, skewed, one-sided, with few values and many.
SAMPLES = [
    ([3, 5] * 1000, 16),
    ([0] * 1900 + [8] * 100, 24),
    ([i % 9 for i in range(2000)], 8),
    ([4] * 1999 + [5], 8),
    ([2] * 700, 8),
]


@pytest.mark.parametrize(("values", "most"), SAMPLES)
@pytest.mark.parametrize("alpha", [0.05, 0.05 / 3])
def test_bernstein_interval_is_the_published_formula(values, most, alpha):
    """Maurer & Pontil 2009, Theorem 4, two-sided: sqrt(2 V ln(4/alpha) / T) + 7 ln(4/alpha) B / (3 (T - 1)), not clipped here."""
    trials, unit = len(values), 8
    e = bounded_mean(sum(values), sum(v * v for v in values), trials, unit, most / unit + 1, -1.0, alpha)
    mean, variance = moments([Fraction(v, unit) for v in values])
    with localcontext() as context:
        context.prec = 40
        log = (4 / Decimal(alpha)).ln()
        length = Decimal(most) / unit + 2
        width = (2 * decimal(variance) * log / trials).sqrt() + 7 * log * length / (3 * (trials - 1))
        low, high = decimal(mean) - width, decimal(mean) + width
        assert -1 < low < high < Decimal(most) / unit + 1
        assert close(e.value, mean) and close(e.low, low) and close(e.high, high)
        assert close(e.stderr, (decimal(variance) / trials).sqrt()) or (e.stderr == 0 == variance)


def test_bernstein_interval_is_cut_to_the_range():
    e = bounded_mean(3, 3, 8, 1, 1)
    assert (e.low, e.high) == (0.0, 1.0)


def test_a_mean_of_classes_is_the_sum_of_its_parts():
    """Two classes and one left to the proof: 4 intervals share the level, and the best of each class's limits counts."""
    trials, unit = 5000, 4
    often, seldom = [4, 8, 6] * 400, [40, 44] * 6
    sums = [(len(v), sum(v), sum(x * x for x in v)) for v in (often, seldom)]
    classes = [TrialClass(*sums[0], 1, 2, 5.0), TrialClass(*sums[1], 10, 11, 5.0), TrialClass(0, 0, 0, 0, 100, 1e-9)]
    e = mean_of_classes(classes, trials, unit)
    low = high = 0.0
    for (many, total, squares), (least, most) in zip(sums, ((1, 2), (10, 11)), strict=True):
        mean, fraction = (
            bounded_mean(total, squares, trials, unit, most, alpha=0.05 / 4),
            proportion(many, trials, 0.05 / 4),
        )
        low += max(mean.low, fraction.low * least)
        high += min(mean.high, fraction.high * most, 5.0)
    assert (e.low, e.high) == (pytest.approx(low, rel=1e-12), pytest.approx(high + 1e-9, rel=1e-12))
    mean, variance = moments([Fraction(v, unit) for v in often + seldom + [0] * (trials - len(often) - len(seldom))])
    assert close(e.value, mean) and close(e.stderr**2, variance / trials)


@pytest.mark.parametrize(("values", "most"), SAMPLES[:4])
@pytest.mark.parametrize("bound", [0.0, 100.0])
def test_the_plain_mean_has_the_normal_interval(values, most, bound):
    trials, unit = len(values), 8
    e = normal_mean(sum(values), sum(v * v for v in values), trials, unit, bound)
    mean, variance = moments([Fraction(v, unit) for v in values])
    with localcontext() as context:
        context.prec = 40
        stderr = (decimal(variance) / trials).sqrt()
        assert close(e.value, mean) and close(e.stderr, stderr)
        assert close(e.low, decimal(mean) - DEVIATE * stderr) and close(e.high, decimal(mean) + DEVIATE * stderr)


@pytest.mark.parametrize("many", [2, 3, 200])
def test_a_ratio_has_the_delta_methods_interval(many):
    """Residuals N - r D, their sample variance with T - 1, over the squared mean denominator."""
    rng = random.Random(many)
    pairs = [(x + rng.randrange(4), x) for x in (rng.randrange(1, 20) for _ in range(many))]
    a, b = sum(x for x, _ in pairs), sum(y for _, y in pairs)
    squares = sum(x * x for x, _ in pairs), sum(x * y for x, y in pairs), sum(y * y for _, y in pairs)
    e = ratio(a, b, *squares, many)
    r = Fraction(a, b)
    variance = sum((x - r * y) ** 2 for x, y in pairs) / (many - 1)
    with localcontext() as context:
        context.prec = 40
        stderr = (decimal(variance) / many).sqrt() / (Decimal(b) / many)
        assert close(e.value, r) and close(e.stderr, stderr)
        assert close(e.low, decimal(r) - DEVIATE * stderr) and close(e.high, decimal(r) + DEVIATE * stderr)
    cut = ratio(a, b, *squares, many, e.value + e.stderr, e.value - e.stderr)
    assert (cut.low, cut.high) == (e.value - e.stderr, e.value + e.stderr)


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


def test_the_numbers_of_an_estimate_are_python_floats():
    """A bound or a user's statistic may be NumPy's float64, whose ``repr`` is not a number's text."""
    e = Estimate(np.float64(0.25), np.float64(0.125), 0, np.float64(1))
    assert {type(x) for x in (e.value, e.stderr, e.low, e.high)} == {float}


def test_nothing_counted_is_nan():
    for e in (proportion(0, 0), bounded_mean(0, 0, 0), ratio(0, 0, 0, 0, 0, 0), ratio(0, 0, 0, 0, 0, 5)):
        assert all(math.isnan(v) for v in (e.value, e.stderr, e.low, e.high))


def test_a_paired_difference_covers_by_the_trinomial_distribution():
    """Summed over all outcomes of few trials: never below 95%, and narrower than empirical Bernstein where few differ."""
    trials = 40
    limits = {(a, b): paired_difference(a - b, a + b, trials) for a in range(trials + 1) for b in range(trials + 1 - a)}
    for p, q in ((0.5, 0.5), (0.3, 0.1), (0.05, 0.05), (0.02, 0.0), (0.9, 0.02), (0.0, 0.0)):
        held = sum(
            math.comb(trials, a) * math.comb(trials - a, b) * p**a * q**b * max(1 - p - q, 0.0) ** (trials - a - b)
            for (a, b), e in limits.items()
            if e.low <= p - q <= e.high
        )
        assert held >= 0.95, (p, q)
    ours, bernstein = paired_difference(2, 4, 10**5), bounded_mean(2, 4, 10**5, 1.0, 1.0, -1.0)
    assert (ours.value, ours.stderr) == (bernstein.value, pytest.approx(bernstein.stderr))
    assert ours.half_width < bernstein.half_width / 3


def test_a_network_less_itself_is_zero():
    counts = {"gain": 0, "differs": 0}
    s = fc.PairedDifference(name="d", description="d", total="gain", nonzero="differs", bound=lambda p: p["b"])
    assert s.estimate(counts, 100, {"b": 0}) == Estimate(0.0, 0.0, 0.0, 0.0)
    assert estimate_text(s.estimate(counts, 100, {"b": 0})) == "0"
    assert s.estimate(counts, 100, {"b": 1}).half_width > 0.03
    assert math.isnan(s.estimate(counts, 0, {"b": 0}).value)
    assert not s.can_occur({"b": 0})


def test_a_complement_counts_what_its_events_are_not():
    s = fc.ComplementProportion(name="lost", description="lost", events="got", condition="among")
    counts = {"got": 7, "among": 10}
    assert s.estimate(counts, 20, {}) == proportion(3, 10) and s.count_events(counts, 20) == 3
    assert s.exact(counts, 20, {}) == Fraction(3, 10)


PLAIN = {"name": "x", "description": "x", "total": "total", "squares": "squares"}


def test_statistics_hand_their_numbers_on():
    """Units, bounds and levels: a difference lies in [-B, B], and statistics that some trials lack share the level."""
    counts = {"total": 240, "squares": 1600, "some": 90, "unknown": 12, "among": 400}
    at = {"unit": lambda _: 8.0, "bound": lambda _: 3.0, "nonzero": "some", "condition": "among"}
    e = fc.Difference(**PLAIN, **at).estimate(counts, 500, {})
    assert e == bounded_mean(240, 1600, 400, 8.0, 3.0, -3.0)
    e = fc.Mean(**PLAIN, **at).estimate(counts, 500, {})
    assert e == bounded_mean(240, 1600, 400, 8.0, 3.0)
    e = CensoredMean(**PLAIN, **at, unknown="unknown").estimate(counts, 500, {})
    known, unknown = bounded_mean(240, 1600, 400, 8.0, 3.0, alpha=0.025), proportion(12, 400, 0.025)
    assert (e.value, e.stderr, e.low) == (known.value, known.stderr, known.low)
    assert e.high == pytest.approx(known.high + 3 * unknown.high, rel=1e-12) and e.high < 3


# ---------------------------------------------------------------- where all trials agree


def test_where_all_trials_agree_one_may_differ():
    """The Clopper-Pearson limit of none times the bound, and no interval without a bound."""
    most = proportion(0, 500).high
    for e in (ratio(5000, 5000, *[50_000] * 3, 500), normal_mean(500, 500, 500), normal_mean(7, 49, 1)):
        assert math.isnan(e.low) and math.isnan(e.high)
        assert e.value in (1.0, 7.0)
    e = ratio(0, 5000, 0, 0, 50_000, 500, 3.0)
    assert (e.value, e.stderr, e.low, e.high) == (0.0, 0.0, 0.0, 3 * most)
    e = ratio(5000, 5000, *[50_000] * 3, 500, 3.0, 1.0)
    assert (e.value, e.stderr, e.low, e.high) == (1.0, 0.0, 1.0, 1 + 2 * most)
    e = normal_mean(1000, 2000, 500, 1.0, 12.0)
    assert (e.value, e.stderr, e.low, e.high) == (2.0, 0.0, 2 - 2 * most, 2 + 10 * most)
    e = fc.NormalMean(**PLAIN, base=2, bound=lambda _: 12.0).estimate({"total": 1000, "squares": 2000}, 500, {})
    assert (e.value, e.low, e.high) == (2.0, 2.0, 2 + 10 * most)
    one = ratio(1, 5000, 1, 10, 50_000, 500, 1.0)
    assert one.low == 0.0 < one.value < one.high < 1
    assert ratio(1, 5000, 1, 10, 50_000, 500).low < 0


def test_differing_trials_are_counted_from_sums():
    assert min_nonzero_values(0, 0) == 0
    assert min_nonzero_values(30, 30) == min_nonzero_values(60, 120) == 30  # thirty of one, thirty of two
    assert 1 < min_nonzero_values(1029, 1000**2 + 29) < 2  # one of them carries the sum


@pytest.mark.parametrize("base", [0, 1])
def test_no_target_stops_before_thirty_trials_differ(base):
    """Where most trials give 0, or 1, and a few one more; where all agree only a bound makes an interval."""

    def settled(few, trials, **more):
        values = {base: trials - few, base + 1: few}
        counts = {"total": sum(v * k for v, k in values.items()), "squares": sum(v * v * k for v, k in values.items())}
        s = fc.NormalMean(**PLAIN, base=base, **more)
        e = s.estimate(counts, trials, {})
        return s.is_settled(counts, trials, {}) and e.half_width < 1

    assert not any(settled(few, 10**6) for few in range(MIN_NONZERO_TRIALS))
    assert not any(settled(few, 10**6, bound=lambda _: 2.0) for few in range(1, MIN_NONZERO_TRIALS))
    assert settled(0, 10**6, bound=lambda _: 2.0) and settled(MIN_NONZERO_TRIALS, 10**6)


def test_a_plain_difference_is_not_narrow_where_trials_agree_and_waits_for_thirty_that_differ():
    """Its signs cancel in the sum, so the trials that differ are counted themselves."""
    s = fc.NormalDifference(**PLAIN, nonzero="some", bound=lambda _: 5.0, unit=lambda _: 2.0)

    def counts(total, squares, some):
        return {"total": total, "squares": squares, "some": some}

    none = s.estimate(counts(0, 0, 0), 4096, {})
    most = 5 * proportion(0, 4096).high
    assert (none.value, none.stderr, none.low, none.high) == (0.0, 0.0, -most, most)
    e = s.estimate(counts(60, 400, 100), 4096, {})
    assert e == normal_mean(60, 400, 4096, 2.0, 5.0, -5.0)
    assert s.interval == "asymptotic"
    settled = [s.is_settled(counts(0, 4 * some, some), 4096, {}) for some in range(MIN_NONZERO_TRIALS + 1)]
    assert settled == [True, *[False] * (MIN_NONZERO_TRIALS - 1), True]


class _Toy:
    """The part of a study that a goal reads."""

    name = "toy"

    def __init__(self, statistic):
        self.statistic = statistic

    def target(self, name):
        return self.statistic


class _Tally:
    def __init__(self, trials, counts):
        self.trials, self.counts = trials, counts


@pytest.mark.parametrize(
    ("p", "precision", "bound"),
    mark_others_slow(itertools.product((1e-3, 1e-2, 1e-4, 1e-5, 1e-6), (3, 1, 0.1), (0.0, 1.0)), default=2),
)
def test_intervals_cover_where_a_precision_stops_a_run(p, precision, bound):
    """1,000 seeds: a mean of 0 and rarely 1, or a ratio of lengths 1 and rarely 2, looked at as a run looks at it."""
    if bound:
        statistic = fc.NormalMean(**PLAIN, bound=lambda _: bound)
        truth = p
    else:
        statistic = fc.Ratio(
            name="x",
            description="x",
            numerator="links",
            denominator="trials",
            base=1,
            squares=("squares", "links", "trials"),
            nonzero="longer",
        )
        truth = 1 + p
    goal, study, rng, covered = Goal(precision=precision * p), _Toy(statistic), np.random.default_rng(1), 0
    for _ in range(1000):
        trials, many = FIRST_PREFIX, int(rng.binomial(FIRST_PREFIX, p))
        while True:
            counts = {"total": many, "squares": many}
            if not bound:
                counts = {"links": trials + many, "squares": trials + 3 * many, "trials": trials, "longer": many}
            if goal.is_reached(study, {}, _Tally(trials, counts)):
                break
            many, trials = many + int(rng.binomial(trials, p)), 2 * trials
        e = statistic.estimate(counts, trials, {})
        covered += e.low <= truth <= e.high
    assert covered >= 930


@pytest.mark.parametrize(
    ("p", "precision", "less"),
    mark_others_slow(itertools.product((1e-3, 1e-2, 1e-4, 1e-5), (3, 1, 0.1), (0.0, 0.1, 0.5)), default=3),
)
def test_intervals_of_differences_cover_where_a_precision_stops_a_run(p, precision, less):
    """1,000 seeds: rarely one more, and in this share of the trials that differ one less."""
    statistic = fc.NormalDifference(**PLAIN, nonzero="some", bound=lambda _: 1.0)
    goal, study, rng, covered = Goal(precision=precision * p), _Toy(statistic), np.random.default_rng(1), 0
    for _ in range(1000):
        trials, some, minus, new = 0, 0, 0, FIRST_PREFIX
        while True:
            differing_now = int(rng.binomial(new, p))
            some, minus = some + differing_now, minus + int(rng.binomial(differing_now, less))
            trials += new
            counts = {"total": some - 2 * minus, "squares": some, "some": some}
            if goal.is_reached(study, {}, _Tally(trials, counts)):
                break
            new = trials
        e = statistic.estimate(counts, trials, {})
        covered += e.low <= p * (1 - 2 * less) <= e.high
    assert covered >= 930


def susceptibilities(failed):
    """The susceptibility of Q_4 for all sets of failed nodes, in units of 1 / survivors, by search."""
    out = []
    for gone in itertools.combinations(range(16), failed):
        left, sizes = set(range(16)) - {*gone}, []
        while left:
            waiting, size = [left.pop()], 0
            while waiting:
                v, size = waiting.pop(), size + 1
                near = {v ^ 1 << d for d in range(4)} & left
                left -= near
                waiting += near
            sizes.append(size)
        out.append(sum(s * s for s in sizes) - max(sizes) ** 2)
    return np.array(out)


def test_a_quantity_with_a_heavy_tail_waits_until_its_interval_covers():
    """Six of 16 nodes: at the first prefix the normal interval misses too often, at the prefix where runs stop it does not."""
    values, point = susceptibilities(6), {"network": "hypercube", "failing": "nodes", "n": 4, "failed": 6}
    s, rng = fc.study("survival-curve").statistic("susceptibility"), np.random.default_rng(7)
    truth, first, stopped = values.mean() / 10, [], []
    for _ in range(800):
        some = rng.choice(values, 2**17)
        for trials in (2**k for k in range(12, 18)):
            part = some[:trials]
            counts = {
                "others": int(part.sum()),
                "others_squares": int((part**2).sum()),
                "disconnected": int((part > 0).sum()),
            }
            e = s.estimate(counts, trials, point)
            covers = e.low <= truth <= e.high
            if trials == FIRST_PREFIX:
                first.append(covers)
            if s.is_settled(counts, trials, point):
                stopped.append(covers)
                break
    assert len(stopped) == 800 and np.mean(first) < 0.93 and np.mean(stopped) > 0.94
