"""p_1/2 of the study unsafe-critical: brackets and fits against exact curves, Monte Carlo against exact values."""

import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.compiled import mark_others_slow

import fastcube as fc
from fastcube.errors import ParameterError
from fastcube.exact.unsafe import all_unsafe_probability, critical_rate
from fastcube.kernels.unsafe import dispatch, layout
from fastcube.measure.estimate import proportion
from fastcube.results.table import as_table
from fastcube.studies.lee_hayes import critical_grid
from fastcube.studies.lee_hayes.critical import CENTRES, FACTORS, UNSAFE_CRITICAL, counts_of
from fastcube.studies.lee_hayes.threshold import (
    LAMBDA,
    bracket_threshold,
    corrections,
    estimate_sharpness,
    fit_curve,
    leading_order,
)

#: Where P(Q_n unsafe) = 1/2, n = 2..6.
EXACT = {2: 0.5411961001, 3: 0.3789303033, 4: 0.2321159235, 5: 0.1381092302, 6: 0.0783173647}


def sample(n, p, trials, seed=1):
    tally = layout.UNSAFE_CRITICAL.new_tally()
    key = np.uint64(fc.study("unsafe-critical").key(seed, {"n": n, "p": p}))
    dispatch.UNSAFE_CRITICAL.kernel(n, p)(key, 0, trials, np.array([n, p]), tally)
    return int(tally[layout.UNSAFE_CRITICAL.counter("all_unsafe")])


def exact_counts(n, trials=10**12):
    rates = [CENTRES[n] * factor for factor in FACTORS if CENTRES[n] * factor < 1]
    return [(p, round(trials * all_unsafe_probability(n, p)), trials) for p in rates]


def test_constant_is_a_root_of_the_series():
    assert round(LAMBDA, 5) == 1.16577
    terms = [Fraction((-1) ** k, 2 ** (k * k - k) * math.factorial(k)) for k in range(20)]
    value = [sum(t * Fraction(x) ** k for k, t in enumerate(terms)) for x in (LAMBDA - 1e-12, LAMBDA + 1e-12)]
    assert value[0] > 0 > value[1]


def test_theory():
    assert leading_order(16) == pytest.approx(LAMBDA / 16 / 256, rel=1e-12)
    for n in (20, 10**3, 10**6):
        low, high = corrections(n)
        assert 1 < low < high


@pytest.mark.parametrize("n", mark_others_slow([1, 2, 3, 4], default=3))
def test_exact_probability_by_enumeration(n):
    # the polynomial that everything here is compared with, from plain rounds of every fault set, all at once
    sets = (np.arange(2**2**n)[:, None] >> np.arange(2**n)) & 1
    state, v = sets.copy(), np.arange(2**n)
    for _ in range(2**n):
        state |= sum(state[:, v ^ (1 << i)] for i in range(n)) >= 2
    closing = np.bincount(sets.sum(1)[state.all(1)], minlength=2**n + 1).tolist()
    assert sum(closing) == [0, 1, 7, 189, 63687][n]
    for p in (Fraction(1, 7), Fraction(1, 2)):
        want = sum(c * p**f * (1 - p) ** (2**n - f) for f, c in enumerate(closing))
        assert all_unsafe_probability(n, p) == want


@pytest.mark.kernels
@pytest.mark.parametrize("n", EXACT)
def test_monte_carlo_agrees_with_the_exact_curve(n):
    # five points of each n = 2..6, Clopper-Pearson at level 1e-6 over all of them
    trials = 200_000
    for factor in (0.5, 0.8, 1.0, 1.2, 1.5):
        p = EXACT[n] * factor
        events = sample(n, p, trials)
        e = proportion(events, trials, 1e-6 / 25)
        assert e.low < all_unsafe_probability(n, p) < e.high, (n, p)


@pytest.mark.kernels
@pytest.mark.parametrize("n", EXACT)
def test_monte_carlo_brackets_the_exact_threshold(n):
    assert critical_rate(n) == pytest.approx(EXACT[n], abs=5e-11)
    counts = [(p, sample(n, p, 100_000), 100_000) for p, _, _ in exact_counts(n)]
    low, high = bracket_threshold(counts, 1e-6 / 5)
    assert 0.9 * EXACT[n] < low < EXACT[n] < high < 1.1 * EXACT[n]
    p, low, high = fit_curve(counts).quantile()
    stderr = math.log(high / low) / (2 * 1.96)
    assert abs(math.log(p / EXACT[n])) < 5.3 * stderr + 2.5e-4  # level 1e-7 each, and the fit's own error
    assert stderr < 1e-3


@pytest.mark.parametrize("n", EXACT)
def test_fit_of_the_exact_curve(n):
    curve = fit_curve(exact_counts(n))
    assert curve.quantile()[0] == pytest.approx(EXACT[n], rel=2.5e-4)
    for q in (0.25, 0.75, 0.9):
        p = curve.quantile(q)[0]
        assert math.isnan(p) or all_unsafe_probability(n, p) == pytest.approx(q, abs=2e-3)
    assert all(math.isnan(x) for x in curve.quantile(1e-6))


@pytest.mark.kernels
def test_limits_of_the_fit_cover():
    # 400 samples of the exact curve of n = 4: the 95% limits hold the exact value in about 95%
    rng = np.random.default_rng(5)
    curve = exact_counts(4, 10**9)
    covered = 0
    for _ in range(400):
        counts = [(p, int(rng.binomial(5000, k / 10**9)), 5000) for p, k, _ in curve]
        _, low, high = fit_curve(counts).quantile()
        covered += low < EXACT[4] < high
    assert 360 <= covered <= 397


def test_bracket_keeps_its_level():
    # a grid that has p_1/2 itself as a point is the hardest: 2000 brackets at 80%, false ones at most 20%
    rng = np.random.default_rng(6)
    rates = [EXACT[3] * f for f in (0.9, 0.95, 1.0, 1.05, 1.1)]
    fractions = [all_unsafe_probability(3, p) for p in rates]
    wrong = 0
    for _ in range(2000):
        low, high = bracket_threshold(
            [(p, int(rng.binomial(300, q)), 300) for p, q in zip(rates, fractions, strict=True)], 0.2
        )
        wrong += not low <= EXACT[3] <= high
    assert wrong <= 400


def test_bracket_and_fit_say_when_they_do_not_know():
    assert bracket_threshold([]) == (0.0, 1.0)
    assert bracket_threshold([(0.1, 3, 6), (0.2, 0, 0)]) == (0.0, 1.0)
    assert bracket_threshold([(0.1, 0, 100), (0.2, 50, 100), (0.3, 100, 100)]) == (0.1, 0.3)
    assert fit_curve([(0.1, 10, 100), (0.2, 20, 100), (0.3, 30, 100), (0.4, 40, 100), (0.5, 45, 100)]) is None
    assert fit_curve([(0.1, 0, 100), (0.2, 50, 100), (0.3, 100, 100)]) is None
    assert fit_curve([(0.1, 1, 2), (0.2, 1, 2), (0.3, 1, 2), (0.4, 1, 2)]) is None


# ---------------------------------------------------------------- points close to p_1/2


def quantile(n, q):
    low, high = 0.0, 1.0
    while (p := (low + high) / 2) not in (low, high):
        low, high = (p, high) if all_unsafe_probability(n, p) < q else (low, p)
    return p


def close_points(n, step, off, trials):
    # as the grid fine has them, the known places wrong by a factor
    groups = (
        (0.2, (0.98, 1.02), trials // 4),
        (0.5, (1 - step, 1, 1 + step), trials),
        (0.8, (0.98, 1.02), trials // 4),
    )
    return [(quantile(n, q) * off * factor, many) for q, factors, many in groups for factor in factors]


@pytest.mark.parametrize("n", [4, 5, 6])
@pytest.mark.parametrize(("step", "off"), [(0.01, 1), (0.01, 1.003), (0.02, 0.997)])
def test_points_close_by_leave_the_fit_no_error(n, step, off):
    # from 10^16 trials nothing but the model's error is left: below a fiftieth of the half-width that is wanted, and allowed for
    counts = [(p, round(m * all_unsafe_probability(n, p)), m) for p, m in close_points(n, step, off, 10**16)]
    known = estimate_sharpness(counts)
    ratio = quantile(n, 0.8) / quantile(n, 0.2)
    for (value, low, high), exact, most in ((known.half, EXACT[n], 2e-6), (known.ratio, ratio, 1e-5)):
        assert value == pytest.approx(exact, rel=most)
        assert low < exact < high < low * (1 + 4e-4)
    assert (
        estimate_sharpness(
            [(p, events + (many >> 20 if i == 3 else 0), many) for i, (p, events, many) in enumerate(counts)]
        ).chance
        < 1e-6
    )


@pytest.mark.kernels
def test_limits_from_points_close_by_cover():
    # 400 samples of the exact curve of n = 5: the 95% limits hold the exact values in about 95%
    rng = np.random.default_rng(7)
    curve = [(p, m, all_unsafe_probability(5, p)) for p, m in close_points(5, 0.01, 1.002, 40_000)]
    exact = EXACT[5], quantile(5, 0.8) / quantile(5, 0.2)
    covered = np.zeros(2, int)
    for _ in range(400):
        known = estimate_sharpness([(p, int(rng.binomial(m, fraction)), m) for p, m, fraction in curve])
        covered += [low < e < high for (_, low, high), e in zip((known.half, known.ratio), exact, strict=True)]
    assert ((covered >= 366) & (covered <= 399)).all()


def test_fine_grid():
    grid = UNSAFE_CRITICAL.grid("fine")
    by_n = {n: [p["p"] for p in grid.points if p["n"] == n] for n in range(7, 25)}
    for n, rates in by_n.items():
        assert rates == sorted(rates) and len(set(rates)) == 7
        many = [grid.trials({"n": n, "p": p}) for p in rates]
        assert (
            many
            == [critical_grid.PLACES[n].trials // 4] * 2
            + [critical_grid.PLACES[n].trials] * 3
            + [critical_grid.PLACES[n].trials // 4] * 2
        )
        # se(p_1/2) = sqrt(1 / (4 N)) / P'(p), with the slope that p_.8 / p_.2 shows
        low, half, high, trials = critical_grid.PLACES[n]
        slope = 2 * math.log(4) / math.log(high / low) / 4
        assert 1.96 * math.sqrt(0.25 / (3 * trials)) / slope < critical_grid.target_half_width(n)
        assert n not in CENTRES or abs(half / CENTRES[n] - 1) < 0.01
    assert [critical_grid.counts_on_grid(7, [(p, 1, 2), (0.3, 1, 2)]) for p in (by_n[7][3], 0.2)] == [
        [(by_n[7][3], 1, 2)],
        [],
    ]
    assert critical_grid.counts_on_grid(5, [(0.3, 1, 2)]) == [(0.3, 1, 2)]


@pytest.mark.slow
def test_table_and_figure_of_the_fine_grid(tmp_path):
    few = fc.run(UNSAFE_CRITICAL, grid="fine", n=[7, 8], trials=2000)
    text = as_table(few)
    assert "wider than the trials were chosen for (1e-4 up to n = 16, 1e-3 above): n = 7, 8" in text
    few.plot(path=tmp_path / "figure.png")
    none = fc.run(UNSAFE_CRITICAL, grid="fine", n=7, p=0.0449, trials=2000)
    assert "7  too few points or trials" in as_table(none)


# ---------------------------------------------------------------- the study


@pytest.fixture(scope="module")
def results():
    return fc.run(UNSAFE_CRITICAL, n="2:6,9,10,16", trials=1000)


@pytest.mark.kernels
def test_default_grid_surrounds_every_threshold(results):
    counts = counts_of(results)
    assert list(counts) == [2, 3, 4, 5, 6, 9, 10, 16]
    for n, points in counts.items():
        assert all(CENTRES[n] * 0.39 <= p < min(1, CENTRES[n] * 1.81) for p, _, _ in points)
        low, high = bracket_threshold(points)
        assert 0.75 < low / CENTRES[n] < 1 < high / CENTRES[n] < 1.35
        assert fit_curve(points) is not None


@pytest.mark.kernels
def test_table_and_figure(results, tmp_path):
    text = as_table(results)
    rows = {line.split()[0]: line for line in text[text.index("bracket ") :].splitlines()[1:] if line}
    assert "0.1381092302" in rows["5"]
    assert " - " in rows["16"]
    results.plot(path=tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").stat().st_size > 10_000


@pytest.mark.kernels
def test_notes_and_figure_with_too_few_points(tmp_path):
    few = fc.run(UNSAFE_CRITICAL, n=[1, 4], p=[0.0, 0.3, 1.0], trials=50)
    assert as_table(few)
    few.plot(path=tmp_path / "figure.png")


@pytest.mark.kernels
def test_maximum_probabilities():
    e = {n: fc.run(UNSAFE_CRITICAL, n=n, p=[0, 1], trials=20) for n in (1, 9, 17)}
    for n, r in e.items():
        none, all_ = (dict(tally.counts) for _, tally in r)
        bins = none.pop("rounds_bins")
        assert set(none.values()) == {0} and (bins[0], sum(bins)) == (20, 20)
        assert (all_["all_unsafe"], all_["faults"], all_["unsafe_nodes"]) == (20, 20 * 2**n, 0)


@pytest.mark.kernels
def test_replay_tells_what_the_kernel_counted():
    for n, p in ((3, 0.4), (9, 0.0155), (10, 0.0097), (16, 0.0011)):
        point = UNSAFE_CRITICAL.point({"n": n, "p": p})
        key = fc.study("unsafe-critical").key(3, point)
        for t in range(6):
            tally = layout.UNSAFE_CRITICAL.new_tally()
            UNSAFE_CRITICAL.kernel(point)(np.uint64(key), t, t + 1, np.array([n, p]), tally)
            reported = UNSAFE_CRITICAL.explain(point, key, t)
            assert reported.data["unsafe_nodes"] == tally[layout.UNSAFE_CRITICAL.counter("unsafe_nodes")]
            assert reported.data["rounds"] == tally[layout.UNSAFE_CRITICAL.counter("rounds")]
            assert reported.data["all_unsafe"] == tally[layout.UNSAFE_CRITICAL.counter("all_unsafe")]
            assert reported.data["faulty_nodes"] == sorted(UNSAFE_CRITICAL.sample(point, key, t).network.faulty_nodes)
            assert f"{len(reported.data['faulty_nodes'])} faulty nodes" in reported.text


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"n": 31, "p": 0.1}, "n must be in [1, 30], got 31"),
        ({"n": 0, "p": 0.1}, "n must be in [1, 30], got 0"),
        ({"n": 5, "p": 1.5}, "p must be in [0.0, 1.0], got 1.5"),
        ({"n": 5, "p": -0.1}, "p must be in [0.0, 1.0], got -0.1"),
        ({"n": 5, "p": math.nan}, "p must be"),
        ({"n": 5}, "p is missing"),
    ],
)
def test_impossible_points(values, message):
    with pytest.raises(ParameterError) as error:
        UNSAFE_CRITICAL.point(values)
    assert message in str(error.value)


def test_slots_are_those_of_the_kernel():
    assert UNSAFE_CRITICAL.tally == layout.UNSAFE_CRITICAL
