"""Tails and quantiles of a counter with bins: ranks and coverage by exact arithmetic, then runs, files, tables and figures."""

import csv
import io
import itertools
import json
import math
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from helpers.figures import BAR, LIMIT, artists
from toy import bits

import fastcube as fc
from fastcube.kernels.tally.layout import Counter, Layout
from fastcube.measure.binned import BinnedStatistic
from fastcube.measure.estimate import proportion, quantile_bins, quantile_ranks
from fastcube.measure.goal import Goal
from fastcube.measure.schema import KINDS
from fastcube.measure.tally import Tally
from fastcube.results.results import Results
from fastcube.results.table import as_csv, as_json, as_table

PLAIN = {"name": "x", "description": "", "counter": "values"}


def binomial(trials, percent):
    """Exact probabilities of the numbers of successes."""
    p = Fraction(percent, 100)
    return [math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(trials + 1)]


@pytest.mark.parametrize("percent", [1, 5, 50, 95, 99])
def test_ranks_are_the_narrowest_whose_two_errors_are_at_most_2_5_percent(percent):
    for trials in (1, 2, 5, 6, 40, 58, 59, 200):
        probabilities, error = binomial(trials, percent), Fraction(1, 40)
        low, high = quantile_ranks(trials, percent)
        # the r-th smallest value is above the quantile if fewer than r values are up to it
        assert low == 0 or sum(probabilities[:low]) <= error
        assert low == trials or sum(probabilities[: low + 1]) > error
        # the s-th smallest value is below the quantile if s values or more are
        assert high == trials + 1 or sum(probabilities[high:]) <= error
        assert high == 0 or sum(probabilities[high - 1 :]) > error


def test_ranks_of_very_many_trials():
    """More would take a core a century; from 2^52 on the incomplete beta function of SciPy before 1.16 is wrong."""
    low, high = quantile_ranks(2**44, 50)
    assert 2**43 - low == pytest.approx(0.98 * 2**22, rel=1e-3)
    assert high - 2**43 == pytest.approx(0.98 * 2**22, rel=1e-3)


@pytest.mark.parametrize("probabilities", [(50, 30, 20), (94, 5, 1), (5, 90, 5), (0, 0, 100)])
@pytest.mark.parametrize("percent", [5, 50, 95])
def test_the_interval_holds_the_quantile_of_any_law(probabilities, percent):
    """The coverage is summed over all histograms of seven trials, with ties."""
    true = next(i for i, reached in enumerate(itertools.accumulate(probabilities)) if reached >= percent)
    held = Fraction(0)
    for a, b in itertools.product(range(8), repeat=2):
        if a + b <= 7:
            bins = (a, b, 7 - a - b)
            chance = math.factorial(7) * math.prod(
                Fraction(p, 100) ** k / math.factorial(k) for p, k in zip(probabilities, bins, strict=True)
            )
            _, low, high = quantile_bins(bins, percent)
            held += chance * (low <= true <= high)
    assert held >= Fraction(95, 100)


@pytest.mark.parametrize(
    ("bins", "percent", "at"),
    [
        ((1, 5, 4, 0), 10, 0),
        ((1, 5, 4, 0), 11, 1),
        ((1, 5, 4, 0), 60, 1),
        ((1, 5, 4, 0), 61, 2),
        ((7, 93), 7, 0),  # .07 * 100 is above 7 in floats
        ((0, 0, 1), 1, 2),
    ],
)
def test_a_quantile_is_the_least_value_that_enough_trials_do_not_exceed(bins, percent, at):
    assert quantile_bins(bins, percent)[0] == at
    statistic = fc.Quantile(**PLAIN, percent=percent, bound=lambda point: len(bins) - 1)
    assert statistic.exact({"values": bins}, sum(bins), {}) == at


def test_bins_of_several_values_and_an_open_last_bin():
    bins = {"values": (0, 30, 40, 30)}
    wide = fc.Quantile(**PLAIN, unit=lambda point: 0.25)
    e = wide.estimate(bins, 100, {})
    assert (e.value, e.low, e.high) == (8, 8, 11) and math.isnan(e.stderr)
    assert wide.exact(bins, 100, {}) is None  # between 8 and 11
    top = replace(wide, percent=95)
    assert (top.estimate(bins, 100, {}).low, top.estimate(bins, 100, {}).high) == (12, math.inf)
    bounded = replace(top, bound=lambda point: 13.0)
    assert bounded.estimate(bins, 100, {}).high == 13
    assert replace(top, unit=lambda point: 1.0).exact(bins, 100, {}) is None  # 3 or more
    assert replace(top, unit=lambda point: 1.0, bound=lambda point: 3.0).exact(bins, 100, {}) == 3
    scaled = replace(wide, scale=lambda point: 0.5).estimate(bins, 100, {})
    assert (scaled.value, scaled.low, scaled.high) == (4, 4, 5.5)
    with pytest.raises(fc.StudyError, match="unit of statistic x must be 1 / the number of values per bin, got 3"):
        replace(wide, unit=lambda point: 3.0).estimate(bins, 100, {})


def test_a_tail_is_the_proportion_that_a_counter_of_its_own_would_give():
    tail = fc.TailProportion(**PLAIN, least=2, condition="some")
    counts = {"values": (1, 5, 3, 1), "some": 10}
    assert tail.estimate(counts, 12, {}) == proportion(4, 10)
    assert tail.count_events(counts, 12) == 4
    assert tail.exact(counts, 12, {}) == Fraction(2, 5)


def by_hand(bins, trials=100, **changes):
    """Results of a study with every statistic of bins, whose bins are given."""
    study = fc.Study(
        name="binned",
        title="",
        source="",
        revision=1,
        axes=(fc.Axis("a", "a label", int, 0, 9),),
        tally=Layout(Counter("some", "some"), Counter("values", "values", bins=4)),
        statistics=(
            fc.Quantile(name="median", description="median", counter="values", condition="some"),
            fc.Quantile(name="high", description="high quantile", counter="values", percent=95, condition="some"),
            fc.TailProportion(name="tail", description="tail", counter="values", least=2, condition="some"),
        ),
        kernel=lambda point: None,
        grids=(fc.Grid("default", [{"a": 1}], 100),),
        explain=lambda point, key, trial: fc.Explanation("", {}),
    )
    counts = {"some": sum(bins), "values": tuple(bins), **changes}
    return Results(study, 0, {(a,): Tally(((0, trials),), counts, {}) for a in (1, 2)})


def test_an_infinite_upper_limit_has_a_word(tmp_path):
    by_hand((0, 20, 20, 20)).save(tmp_path / "r.h5")
    results = fc.open_results(tmp_path / "r.h5")
    assert "2 [2, 2] of 60" in as_table(results) and "3 [3, inf] of 60" in as_table(results)
    rows = list(csv.DictReader(io.StringIO(as_csv(results))))
    assert [(row["low"], row["high"], row["stderr"]) for row in rows[1::3]] == [("3.0", "inf", "")] * 2
    rows = json.loads(as_json(results), parse_constant=pytest.fail)
    assert [row["high"] for row in rows[:3]] == [2.0, "inf", rows[2]["high"]]
    assert math.isinf(results.to_dataframe().query("statistic == 'high'").high.iloc[0])


def test_a_figure_shows_a_quantile_with_an_infinite_limit():
    for figure in (by_hand((0, 20, 20, 20)).plot("median", "high"), by_hand((60, 0, 0, 40)).plot("high", log=True)):
        (axes,) = figure.axes
        top = axes.get_ylim()[1]
        assert math.isfinite(top) and 3 <= top < 20
        bands = [path.vertices[:, 1].max() for band in axes.collections for path in band.get_paths()]
        bars = [max(bar.get_ydata()) for bar in artists(axes, BAR)]
        assert max(bands + bars) > top  # reaches the frame
        assert not artists(axes, LIMIT)


@pytest.mark.parametrize("statistic", [0, 1, 2])
@pytest.mark.parametrize("bins", [(0, 20, 20, 21), (0, 20, 20, 19), (70, 0, 0, -10)])
def test_bins_that_no_trials_can_give_are_refused_whichever_statistic_reads_them(statistic, bins, tmp_path):
    results = by_hand(bins, some=60)
    results.study = replace(results.study, statistics=results.study.statistics[statistic : statistic + 1])
    if statistic == 2 and sum(bins) == 59:
        return  # a tail is a fraction of the trials, whether or not each has a value
    with pytest.raises(fc.StudyError, match="values at a=1 is impossible for 100 trials"):
        results.save(tmp_path / "r.h5")


def test_every_kind_that_reads_bins_checks_them():
    kinds = [kind for kind in KINDS.values() if issubclass(kind, BinnedStatistic)]
    assert {kind.__name__ for kind in kinds} == {"Distribution", "TailProportion", "Quantile"}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fc.Quantile(**PLAIN, percent=0), "percent of a statistic must be in [1, 99], got 0"),
        (lambda: fc.Quantile(**PLAIN, percent=2.5), "percent of a statistic must be an integer in [1, 99], got 2.5"),
        (lambda: fc.TailProportion(**PLAIN, least=0), "least of a statistic must be in [1, 2147483648], got 0"),
    ],
)
def test_odd_percentages_and_tails_are_refused(make, message):
    with pytest.raises(fc.ParameterError, match=re.escape(message)):
        make()


def test_a_tail_beyond_the_last_bin_is_refused():
    study = by_hand((1, 1, 1, 1)).study
    with pytest.raises(fc.ParameterError, match="statistic x of binned needs 5 bins, got 4 of values"):
        replace(study, statistics=(fc.TailProportion(**PLAIN, least=4),))


# ---------------------------------------------------------------- runs


def test_a_run_stops_on_a_quantile_even_if_it_is_0():
    study = by_hand((1, 0, 0, 0)).study
    tally = Tally(((0, 4096),), {"some": 4096, "values": (4096, 0, 0, 0)}, {})
    for goal in (Goal(relative=0.01), Goal(precision=0.01), Goal(events=4096)):
        goal.check(study)
        assert goal.is_reached(study, {"a": 1}, tally)
    few = Tally(((0, 20),), {"some": 20, "values": (0, 0, 19, 1)}, {})
    assert not Goal(relative=0.99, target="high").is_reached(study, {"a": 1}, few)  # the upper limit is infinite


def test_an_output_has_quantiles_of_its_own(tmp_path):
    outputs = [fc.Output("bit", "one bit"), fc.Output("octal", "three bits", 7, condition="bit", quantiles=[5, 50])]
    axes = [fc.Axis("a", "a label", int, 0, 100), fc.Axis("work", "loops", float, 0, 1e12)]
    study = fc.trial_study("octals", "", axes, outputs, bits, [{"a": 1, "work": 0.0}])
    fc.run(study, trials=1000, output=tmp_path / "r.h5")
    results = fc.open_results(tmp_path / "r.h5")
    (tally,) = results.tallies.values()
    assert tally.counts["octal_bins"] and sum(tally.counts["octal_bins"]) == tally.counts["bit_nonzero"]
    assert [s.name for s in results.study.statistics] == ["bit", "octal", "octal_q05", "octal_median"]
    assert results.estimate("octal_q05").value == 0 and results.estimate("octal_median").value in (3, 4)
    assert results.study.statistic("octal_median").bound({"a": 1, "work": 0.0}) == 7


def test_rounds_beyond_two_need_no_counter():
    results = fc.run("unsafe-fraction", n=6, f=6, trials=2000)
    fractions = [e.value for e in results.distribution("rounds_distribution")]
    assert results.estimate("rounds_above_2").value == pytest.approx(sum(fractions[3:]))
    reached = list(itertools.accumulate(fractions))
    assert results.estimate("rounds_q95").value == next(i for i, x in enumerate(reached) if x >= 0.95 - 1e-12)
    assert results.estimate("rounds_q95").high <= 6 * 6 // 3  # the bound on the rounds
