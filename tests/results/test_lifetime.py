"""The time of the first disconnection: against exact values, closed forms, and lives that are drawn one by one."""

from __future__ import annotations

import math
from math import comb, gamma

import numpy as np
import pytest
from helpers.curve_trials import make_order, reference_counts
from scipy import stats

import fastcube as fc
from fastcube.cli import main
from fastcube.results.lifetime import _mean_order_statistics


def weibull(shape, mean=1.0):
    return stats.weibull_min(shape, scale=mean / gamma(1 + 1 / shape))


def harmonic(many, first):
    """The expected time of the failure with number ``first`` of ``many`` components that fail at rate 1."""
    return math.fsum(1 / (many - i) for i in range(first))


#: Connected sets of failed links of Q_3 by size; all larger sets disconnect it.
Q3_LINKS = [a / comb(12, k) for k, a in enumerate([1, 12, 66, 212, 408, 384])] + [0] * 7


@pytest.mark.parametrize(("shape", "mean"), [(0.5, 0.189295), (1, 0.553608), (2, 0.814749)])
def test_links_of_the_three_dimensional_cube(shape, mean):
    found = fc.lifetime(Q3_LINKS, weibull(shape)).mean
    assert found.value == pytest.approx(mean, abs=1e-6)
    assert found.high - found.low < 1e-6
    given = fc.exact_survival("hypercube", 3).probabilities("links", "first")
    assert fc.lifetime(given, weibull(shape)).mean == found


@pytest.mark.parametrize("distribution", [weibull(0.7), stats.gamma(2.5), stats.uniform(0, 3)])
def test_the_mean_is_the_integral_of_the_survival_function(distribution):
    life = fc.lifetime(Q3_LINKS, distribution)
    times = distribution.ppf(np.linspace(0, 1, 4001)[:-1])
    values = [life.survival(t).value for t in times]
    assert life.mean.value == pytest.approx(np.trapezoid(values, times), rel=1e-4)


def test_quantiles_invert_the_survival_function():
    life = fc.lifetime(Q3_LINKS, weibull(0.7, 5))
    for q in (0.001, 0.1, 0.5, 0.999):
        e = life.quantile(q)
        assert e.low == e.value == e.high and life.survival(e.value).value == pytest.approx(1 - q)


@pytest.mark.parametrize("name", ["hypercube", "folded"])
@pytest.mark.parametrize("what", ["nodes", "links"])
def test_lives_that_are_drawn(name, what):
    """4,000 lives of a network at each of four shapes, with NetworkX, at level 1e-6."""
    components = make_order(name, what, 3, 0)
    rng, known = np.random.default_rng(7), {}
    exact = fc.exact_survival(name, 3).probabilities(what, "first")
    for shape in (0.5, 0.7, 1, 2):
        distribution, drawn = weibull(shape), []
        for _ in range(4000):
            lives = distribution.rvs(len(components), random_state=rng)
            order = np.argsort(lives)
            first = next(
                (f for f in range(1, len(order) + 1) if _is_disconnected(name, what, components, order[:f], known)),
                len(order),
            )
            drawn.append(lives[order[first - 1]])
        life = fc.lifetime(exact, distribution)
        assert abs(np.mean(drawn) - life.mean.value) < 4.9 * np.std(drawn) / math.sqrt(len(drawn))
        for q in (0.1, 0.5):
            fraction = np.mean(np.array(drawn) <= life.quantile(q).value)
            assert abs(fraction - q) < 4.9 * math.sqrt(q * (1 - q) / len(drawn))


def _is_disconnected(name, what, components, failed, known):
    """Whether a set of failures leaves two survivors or more in several components; ``known`` remembers answers."""
    key = tuple(sorted(failed))
    if key not in known:
        order = [components[i] for i in key]
        known[key] = reference_counts(name, what, 3, order, len(order))["disconnected"]
    return known[key]


def test_many_components_cost_no_digits():
    """Q_14 has 114,688 links; sums of alternating terms lose all digits beyond about 40."""
    many, k = 14 * 2**13, np.array([14, 1000, 57_344, 98_306])
    found, errors = _mean_order_statistics(stats.expon(), k, many)
    assert found == pytest.approx([harmonic(many, int(i)) for i in k], rel=1e-9)
    assert (errors < 1e-9 * found).all()
    step = 1.0 * (np.arange(many + 1) < 57_344)
    assert fc.lifetime(step, stats.expon()).mean.value == pytest.approx(harmonic(many, 57_344), rel=1e-9)


def test_a_law_of_infinite_mean_has_quantiles():
    nodes = fc.exact_survival("hypercube", 2).probabilities(
        "nodes", "first"
    )  # a third of the orders never disconnect it
    life = fc.lifetime(nodes, stats.lomax(0.5))
    assert math.isnan(life.mean.value) and 0 < life.quantile(0.5).value < life.quantile(0.9).value < math.inf
    assert fc.lifetime(Q3_LINKS, stats.lomax(0.5)).mean.value < math.inf  # the first half of the lives have means


# ---------------------------------------------------------------- from results


@pytest.mark.kernels
@pytest.mark.parametrize("what", ["nodes", "links"])
def test_the_exponential_law_gives_the_lifetime_of_hitting(what):
    results = fc.run("hitting", network="crossed", failing=what, n=4, trials=5000)
    e, found = results.estimate("lifetime"), fc.lifetime(results, stats.expon()).mean
    assert (found.value, found.stderr) == (pytest.approx(e.value, rel=1e-6), pytest.approx(e.stderr, rel=1e-3))
    exact = fc.lifetime(fc.exact_survival("crossed", 4).probabilities(what, "first"), stats.expon()).mean.value
    assert found.low < exact < found.high and abs(found.value - exact) < 4.9 * found.stderr


@pytest.mark.kernels
def test_a_curve_of_links_gives_the_times_of_hitting():
    """Both have the same orders, so K is the same in each."""
    where = {"network": "crossed", "failing": "links", "n": 4, "trials": 2000}
    curve, hitting = fc.run("survival-curve", failed=range(33), **where), fc.run("hitting", **where)
    one, other = (fc.lifetime(results, weibull(0.7, 5)) for results in (curve, hitting))
    assert one.mean == pytest.approx(other.mean)
    assert one.quantile(0.1) == pytest.approx(other.quantile(0.1), nan_ok=True)
    assert one.survival(2) == pytest.approx(other.survival(2))
    few = fc.lifetime(curve.sel(failed=range(0, 33, 4)), weibull(0.7, 5))
    for e, whole in ((few.mean, one.mean), (few.quantile(0.1), one.quantile(0.1)), (few.survival(2), one.survival(2))):
        assert e.low < whole.low < whole.value < whole.high < e.high


@pytest.mark.kernels
def test_bins_of_several_failures_widen_the_interval():
    results = fc.run("hitting", network="hypercube", failing="links", n=11, trials=300)  # bins of 4 of the 11,264 links
    e, found = results.estimate("lifetime"), fc.lifetime(results, stats.expon()).mean
    assert found.low < e.value < found.high and found.value == pytest.approx(e.value, rel=1e-3)


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("given", "distribution", "message"),
    [
        (
            "nodes",
            stats.expon(),
            "results must be of hitting, or of survival-curve with failing links; survivors of failing",
        ),
        (
            "links",
            stats.expon,
            r"distribution must be a frozen continuous distribution of scipy.stats on \[0, inf\), got",
        ),
        ("links", stats.norm(5), "distribution must be a frozen continuous"),
        ("links", stats.poisson(5), "distribution must be a frozen continuous"),
        ([1, 0.5, 0.7, 0], stats.expon(), "results must be exact probabilities that fall from 1 to 0"),
    ],
)
def test_bad_input_is_one_line(given, distribution, message):
    if isinstance(given, str):
        given = fc.run("survival-curve", network="hypercube", failing=given, n=2, failed=range(5), trials=10)
    with pytest.raises(fc.ParameterError, match=message) as caught:
        fc.lifetime(given, distribution)
    assert "\n" not in str(caught.value)


def test_bad_times_and_fractions_are_one_line():
    life = fc.lifetime(Q3_LINKS, stats.expon())
    for q in (0, 1, "half"):
        with pytest.raises(fc.ParameterError, match=r"quantile must be a number in \(0, 1\), got"):
            life.quantile(q)
    with pytest.raises(fc.ParameterError, match="time must be a number of at least 0, got -1"):
        life.survival(-1)


# ---------------------------------------------------------------- the command


def run_command(capsys, *line):
    with pytest.raises(SystemExit) as ended:
        main([*map(str, line)])
    shown = capsys.readouterr()
    return ended.value.code, shown.out, shown.err


@pytest.mark.kernels
def test_how_long_does_a_cube_stay_connected(tmp_path, capsys):
    """Two commands: links fail by a Weibull distribution of shape .7 and mean 5."""
    points = ["--set", "network=hypercube", "--set", "failing=links", "--set", "n=4", "--set", "failed=0:32"]
    output = ["--trials", 5000, "-o", tmp_path / "q4.h5", "--progress", "none"]
    run_command(capsys, "run", "survival-curve", *points, *output)
    line = ["--distribution", "weibull:0.7", "--mean", 5, "--quantile", ".1,.5", "--at", "1,2"]
    code, shown, _ = run_command(capsys, "lifetime", tmp_path / "q4.h5", *line)
    _, exact, _ = run_command(capsys, "lifetime", "hypercube", "--n", 4, "--fail", "links", *line)
    assert code == 0
    names, rows, truths = ([] for _ in range(3))
    for row, truth in zip(shown.splitlines()[1:], exact.splitlines()[1:], strict=True):
        (name, value), (same_name, true) = (text[len("hypercube links  4  ") :].split("  ", 1) for text in (row, truth))
        assert name == same_name
        names.append(name)
        rows.append(value.strip())
        truths.append(float(true))
    assert names == ["mean", "quantile 0.1", "quantile 0.5", "P(T > 1)", "P(T > 2)"]
    for value, true in zip(rows, truths, strict=True):
        middle, half_width = map(float, value.split(" ± "))
        assert abs(middle - true) < half_width
    own = fc.lifetime(fc.exact_survival("hypercube", 4).probabilities("links", "first"), weibull(0.7, 5))
    assert truths[1] == pytest.approx(own.quantile(0.1).value)


@pytest.mark.parametrize(
    ("distribution", "message"),
    [
        (
            "weibul:1",
            "distribution must be exponential, weibull or another distribution of scipy.stats, got weibul; did you mean weibull?",
        ),
        ("weibull", "distribution must have the shape parameters c for weibull, got weibull"),
        ("gamma:x", "distribution must be a name and shape parameters that are numbers, got x"),
        ("exponential:1", "distribution must have the shape parameters none for exponential, got exponential:1"),
        ("norm", "distribution must be a distribution of lives, which are not negative, got norm"),
        ("lognorm:50", "mean must be positive and finite, of a distribution with a finite mean, got 1 for lognorm:50"),
        (
            "weibull:inf",
            "mean must be positive and finite, of a distribution with a finite mean, got 1 for weibull:inf",
        ),
        ("lomax:1", "mean must be positive and finite, of a distribution with a finite mean, got 1 for lomax:1"),
    ],
)
def test_a_bad_law_is_one_line(distribution, message, capsys):
    code, shown, error = run_command(capsys, "lifetime", "hypercube", "--n", 2, "--distribution", distribution)
    assert (code, shown, error.strip()) == (2, "", f"fastcube: {message}")
