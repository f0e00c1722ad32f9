"""Every statistic of every study, at cached, maximum and tiny counts: the interval holds the estimate, or there is no interval.

The counts of each kind of statistic follow from trials with the least, the largest, the usual and an intermediate value.
"""

import gzip
import math
from fractions import Fraction

import pytest
from helpers.coin import coins
from helpers.command_line import ROOT
from helpers.printed_estimates import read_back

import fastcube as fc
from fastcube.measure.asymptotic import NormalDifference, NormalMean, Ratio
from fastcube.measure.binned import BinnedStatistic, Quantile
from fastcube.measure.estimate import Estimate, proportion
from fastcube.measure.schema import KINDS
from fastcube.measure.statistics import CensoredMean, ClassMean, Difference, Mean, Proportion, SplitMean
from fastcube.results.rounding import estimate_texts

#: Numbers of trials: tiny, and up to the largest that a file holds.
TRIALS = [1, 2, 3, 40, 4096, 10**9, 2**60]


def splits(trials):
    """Yield how many of the trials have the least, the intermediate and the largest value; all others have the usual value."""
    for a, b, c in [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (0, 2, 1)]:
        if a + b + c <= trials:
            yield a, b, c
    third = trials // 3
    yield from [(0, 0, 0), (0, 0, trials), (0, trials, 0), (trials, 0, 0), (third, third, third), (0, trials - 1, 1)]


def sums(parts):
    """Total, sum of squares and number of nonzero of values given as (how many, value)."""
    return sum(k * v for k, v in parts), sum(k * v * v for k, v in parts), sum(k for k, v in parts if v)


def mean_counts(s, trials, point):
    unit = round(s.unit(point))
    most = int(Fraction(s.bound(point)) * unit) or 7 * unit * isinstance(s, NormalMean)
    signed = isinstance(s, (Difference, NormalDifference))
    usual = getattr(s, "base", 0) * unit
    values = (-most if signed else usual, max(usual, most // 2), max(usual, most))
    for split in splits(trials):
        parts = [*zip(split, values, strict=True), (trials - sum(split), usual)]
        total, squares, nonzero = sums(parts)
        yield {s.total: total, s.squares: squares, s.nonzero: nonzero}


def class_counts(s, trials, point):
    """All eligible trials in one class after another, one trial in each class, and one in the last class only."""
    unit, classes = round(s.unit(point)), s.classes(point)
    few = min(1, trials // len(classes))
    lots = [[few] * len(classes), *([trials * (i == j) for i in range(len(classes))] for j in range(len(classes)))]
    lots += [[int(i == j) for i in range(len(classes))] for j in range(len(classes))]
    for lot in lots:
        for end in (0, 1):
            rows = [
                (many, many * (v := math.floor(bounds[end] * unit)), many * v * v)
                for many, bounds in zip(lot, classes, strict=True)
            ]
            out = {s.nonzero: sum(lot)}
            listed = rows[s.unlisted :]
            for i, name in enumerate(s.reached):
                out[name] = sum(many for many, _, _ in listed[i:])
            out |= {name: total for name, (_, total, _) in zip(s.totals, listed, strict=True)}
            out |= {name: squares for name, (_, _, squares) in zip(s.squares, listed, strict=True)}
            if isinstance(s, SplitMean):
                out |= {s.total: sum(t for _, t, _ in rows), s.total_squares: sum(q for _, _, q in rows)}
            yield out


def ratio_counts(s, trials, point):
    most = Fraction(s.bound(point) or 5).limit_denominator(1000)
    for split in splits(trials):
        parts = [(split[0], s.base, 1), (split[1], 3 * s.base, 3), (split[2], most.numerator, most.denominator)]
        parts.append((trials - sum(split), 2 * s.base, 2))
        nn, nd, dd = (
            sum(k * f(x, y) for k, x, y in parts) for f in (lambda x, y: x * x, lambda x, y: x * y, lambda x, y: y * y)
        )
        yield {
            s.numerator: sum(k * x for k, x, _ in parts),
            s.denominator: sum(k * y for k, _, y in parts),
            **dict(zip(s.squares, (nn, nd, dd), strict=True)),
            s.nonzero: split[2],
        }


def bin_counts(s, trials, point, bins):
    """All trials in the first, a middle or the last possible bin, one trial in the last, and half in the first and the last."""
    last = bins - 1
    if isinstance(s, Quantile) and s.bound(point):
        last = min(last, math.floor(s.bound(point) * s.unit(point)))
    for at in {0, last // 2, last}:
        yield {s.counter: tuple(trials * (i == at) for i in range(bins))}
    for many in {1, trials // 2}:
        yield {s.counter: tuple((trials - many) * (i == 0) + many * (i == last) for i in range(bins))}


def possible_counts(s, trials, point, bins):
    """Yield counters that a statistic may read after this number of eligible trials."""
    if isinstance(s, Proportion):
        yield from ({s.events: k} for k in {0, 1, trials // 2, trials - 1, trials})
    elif isinstance(s, BinnedStatistic):
        yield from bin_counts(s, trials, point, bins[s.counter])
    elif isinstance(s, ClassMean):
        yield from class_counts(s, trials, point)
    elif isinstance(s, Ratio):
        yield from ratio_counts(s, trials, point)
    else:
        assert isinstance(s, (Mean, NormalMean)), f"no counts for {type(s).__name__}"
        for counts in mean_counts(s, trials, point):
            yield from ([counts | {s.unknown: k} for k in {0, 1, trials}] if isinstance(s, CensoredMean) else [counts])


def check_interval(e, about):
    """The interval holds the estimate, so no error bar has a negative length; or there is no interval."""
    if math.isnan(e.value) or math.isnan(e.low) or math.isnan(e.high):
        assert math.isnan(e.low) and math.isnan(e.high), about
    else:
        assert e.low <= e.value <= e.high, (e, about)
        assert e.value - e.low >= 0 <= e.high - e.value


def check_texts(estimates, about):
    """A printed interval holds the printed estimate, and is on the same side of 0 as the interval."""
    for e, text in zip(estimates, estimate_texts(estimates), strict=True):
        if text != "-" and (reported := read_back(text)[1])[1] is not None:
            value, low, high = reported
            assert low <= value <= high, (text, e, about)
            if not text.startswith(("<", ">")):
                assert (low > 0) == (e.low > 0) and (high < 0) == (e.high < 0), (text, e, about)


def check_measure(measure, points):
    bins = {c.name: c.bins for c in measure.tally.counters}
    for s in measure.statistics:
        for point in points:
            if not s.defined(point):
                continue
            for trials in TRIALS:
                for some in possible_counts(s, trials, point, bins):
                    counts = some | ({s.condition: trials} if s.condition else {})
                    found = s.read(counts, trials, point)
                    about = (measure.name, s.name, point, trials, counts)
                    for e in found:
                        check_interval(e, about)
                    check_texts(found[:3], about)


@pytest.mark.parametrize("name", fc.study_names())
def test_the_interval_of_every_statistic_holds_its_estimate(name):
    study = fc.study(name)
    points = [grid.points[at] for grid in study.grids for at in {0, len(grid.points) // 2, len(grid.points) - 1}]
    points += [{"n": n, "f": f} for n in (30, 40, 50) for f in (2, 3, 4)] * (name == "unsafe-rare")
    check_measure(study, points)


OUTPUTS = [
    fc.Output("one", "a proportion"),
    fc.Output("many", "a mean", bound=7, distribution=True),
    fc.Output("at_point", "a mean with the bound of the point", bound=lambda point: int(point["side"])),
    fc.Output("real", "a float", low=-0.3, high=0.1),
    fc.Output("normal", "a mean with the normal interval", bound=319, asymptotic=True),
    fc.Output("among", "under a condition", bound=3, condition="one"),
    fc.Output("over", "a ratio", bound=9, denominator="many"),
    fc.Output("paired", "a paired difference", compared_with="one"),
    fc.Output("paired_many", "a difference of means", bound=5, compared_with="many"),
    fc.Output("paired_normal", "a difference, asymptotic", bound=5, compared_with="many", asymptotic=True),
]


def test_the_interval_of_every_own_statistic_holds_its_estimate():
    axes = [fc.Axis("side", "side", int, 1, 100)]
    study = fc.trial_study("own", "own", axes, OUTPUTS, coins, [{"side": 3}])
    check_measure(study, [{"side": 1}, {"side": 3}, {"side": 97}])
    kinds = {type(s).__name__ for s in study.statistics}
    built_in = {type(s).__name__ for name in fc.study_names() for s in fc.study(name).statistics}
    assert kinds | built_in == set(KINDS)


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "results").glob("*.h5.gz")), ids=lambda path: path.name)
def test_the_interval_of_every_kept_estimate_holds_it(path, tmp_path):
    (tmp_path / "kept.h5").write_bytes(gzip.decompress(path.read_bytes()))
    results = fc.open_results(tmp_path / "kept.h5")
    for s in results.study.statistics:
        found = [e for point, _ in results for e in results.read(s, point)]
        for e in found:
            check_interval(e, (path.name, s.name))
        check_texts(found[:200], (path.name, s.name))


def test_a_sample_mean_above_a_proved_bound_is_moved_to_it():
    """Counters of ``run unsafe-rare --set n=40 --set f=2 --trials 2e5``: 2 C(40, 2) / (2^40 - 1) nodes are unsafe on average."""
    statistic = fc.study("unsafe-rare").statistic("unsafe_nodes")
    seen = {
        "unsafe_subcube_2": 190_389,
        "unsafe_nodes_2": 380_778,
        "unsafe_nodes_squared_2": 761_556,
        "with_unsafe": 190_389,
    }
    e = statistic.estimate(dict.fromkeys(statistic.counters(), 0) | seen, 200_000, {"n": 40, "f": 2})
    assert e.low < e.value == e.high == pytest.approx(2 * math.comb(40, 2) / (2**40 - 1), rel=1e-8)


def test_rounding_leaves_no_estimate_outside():
    third = 1 / 3
    e = Estimate(third, 0.0, math.nextafter(third, 1), 0.5)
    assert (e.low, e.high) == (third, 0.5)
    e = Estimate(third, 0.0, math.nan, math.nan)
    assert e.value == third and math.isnan(e.low) and math.isnan(e.high)
    for k in (1, 7, 2**59, 2**60 - 1):
        check_interval(proportion(k, 2**60), k)
