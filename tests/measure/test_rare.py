"""unsafe-rare against exact values, plain sampling and closed forms; bounds for unseen events; coverage of its intervals."""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from fractions import Fraction
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from helpers.compiled import mark_others_slow
from reference import planting as planted
from reference import unsafe as plain
from scipy.special import bdtr, bdtrc

import fastcube as fc
from fastcube.exact import bounds as proved
from fastcube.exact.unsafe import (
    column_types,
    enumerate_fault_sets,
    exact_unsafe,
    mean_close_pairs,
    mean_unsafe_two_faults,
)
from fastcube.kernels.unsafe.layout import DIMENSIONS, MARKING
from fastcube.measure import registry
from fastcube.measure.estimate import ALPHA, NEGLIGIBLE, TrialClass, mean_of_classes, proportion
from fastcube.measure.statistics import ClassMean, Proportion
from fastcube.results.table import as_table

RARE = registry.study("unsafe-rare")
LEVEL = 1e-6
TRIALS = 100_000
compiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="millions of trials need compiled code")


def check_probability(tally, events, p):
    """A number of events is no less and no more than probability p allows."""
    seen, p = tally.counts[events], float(p)
    assert p <= 1 + 1e-12 and bdtr(seen, tally.trials, min(p, 1.0)) > LEVEL / 2, (events, seen, p)
    assert seen == 0 or bdtrc(seen - 1, tally.trials, min(p, 1.0)) > LEVEL / 2, (events, seen, p)


def check_mean(total, trials, mean, square, largest):
    """Bernstein's inequality with the exact variance."""
    a = math.log(2 / LEVEL) / trials
    error = a * largest / 3 + math.sqrt((a * largest / 3) ** 2 + 2 * a * float(square - mean**2))
    assert abs(total / trials - float(mean)) <= error, (total / trials, float(mean))


def sums(tally, name):
    return sum(tally.counts[f"{name}_{d}"] for d in MARKING)


# ---------------------------------------------------------------- exact values

KNOWN = [(2, 2), (2, 4), (3, 2), (3, 4), (3, 8), (4, 3), (4, 7), (4, 12), (5, 2), (5, 4), (5, 9), (5, 20), (5, 32),
         (6, 3), (6, 5), (6, 8), (6, 20), (7, 4), (8, 4), (10, 4), (12, 3), (15, 4), (20, 3), (24, 2), (33, 3),
         (40, 2), (62, 2), (62, 3)]  # a table, row by row # fmt: skip


def check_exactly(tally, n, f):
    """A tally is what the exact values allow."""
    wanted, scale = exact_unsafe(n, f), mean_close_pairs(n, f)
    check_probability(tally, "acceptance", wanted.close_pair / scale)
    check_probability(tally, "all_unsafe", wanted.all_unsafe / scale)
    mean = wanted.mean_fraction * 2**n / scale
    square = (wanted.variance_fraction + wanted.mean_fraction**2) * 4**n / scale
    check_mean(sums(tally, "unsafe_nodes"), TRIALS, mean, square, proved.max_unsafe(n, f, n))
    if wanted.mean_rounds is not None:
        most = wanted.max_rounds
        check_mean(tally.counts["rounds"], TRIALS, wanted.mean_rounds / scale, most * wanted.mean_rounds / scale, most)
    assert tally.counts["rounds_unknown"] == 0


@pytest.mark.kernels
@compiled
@pytest.mark.parametrize(("n", "f"), KNOWN)
def test_exact_values(n, f):
    check_exactly(RARE.count({"n": n, "f": f}, TRIALS, seed=5), n, f)


def _first(faults, i, j):
    return planted.first_pair(faults) == (i, j)


def _last(faults, i, j):
    return planted.first_pair(faults[::-1]) == (len(faults) - 1 - j, len(faults) - 1 - i)


#: What a draw may do wrong: which planted sequences it draws, how often, and which of them it counts.
DRAWS = {
    "right": (lambda faults, i, j: 1, _first),
    "every planted pair counts": (lambda faults, i, j: 1, lambda faults, i, j: True),
    "masks of weight 2 only": (lambda faults, i, j: (faults[i] ^ faults[j]).bit_count() == 2, _first),
    "the pair's number halved": (lambda faults, i, j: j * (j - 1) // 2 + i < 3, _first),
    "the last pair counts": (lambda faults, i, j: 1, _last),
    "the second fault a link away twice as often": (
        lambda faults, i, j: 3 - (faults[i] ^ faults[j]).bit_count(),
        _first,
    ),
}


def expected(n, f, weight, counts):
    """The tally that so many trials have on average, from everything that can be drawn."""
    whole, sums = 0, Counter()
    for faults, i, j in planted.sequences(n, f):
        often = int(weight(faults, i, j))
        whole += often
        if counts(faults, i, j):
            unsafe, rounds, largest = outcome_of(n, frozenset(faults))
            for name, value in (
                ("acceptance", 1),
                ("all_unsafe", largest == n),
                ("unsafe_nodes_2", unsafe),
                ("rounds", rounds),
            ):
                sums[name] += often * value
    fraction = Fraction(TRIALS, whole)
    return SimpleNamespace(trials=TRIALS, counts=Counter({name: round(fraction * s) for name, s in sums.items()}))


@functools.cache
def outcome_of(n, faults):
    return planted.outcome(n, sorted(faults))


@pytest.mark.parametrize("flaw", DRAWS)
def test_exact_values_refute_flawed_draws(flaw):
    refuted = []
    for n, f in ((3, 4), (4, 3)):
        tally = expected(n, f, *DRAWS[flaw])
        try:
            check_exactly(tally, n, f)
        except AssertionError:
            refuted.append((n, f))
    assert bool(refuted) == (flaw not in ("right", "the last pair counts"))  # any rule that counts one pair will do


@compiled
def test_two_faults_make_two_unsafe_nodes_or_none():
    for n in (2, 9, 30, 62):
        tally = RARE.count({"n": n, "f": 2}, TRIALS, seed=6)
        assert tally.counts["acceptance"] == TRIALS
        assert sums(tally, "unsafe_nodes") == 2 * tally.counts["unsafe_subcube_2"] == 2 * tally.counts["with_unsafe"]
        check_probability(tally, "unsafe_subcube_2", Fraction(math.comb(n, 2), n + math.comb(n, 2)))


@pytest.mark.kernels
@compiled
@pytest.mark.parametrize(("n", "f"), [(8, 4), (8, 7), (10, 8), (12, 12), (14, 20), (16, 8), (18, 30), (20, 40)])
def test_plain_sampling_agrees(n, f):
    point = {"n": n, "f": f}
    plainly = registry.study("unsafe-fraction")
    ours, theirs = RARE.count(point, TRIALS, seed=7), plainly.count(point, 2 * TRIALS, seed=8)
    for name in ("close_pair", "unsafe_fraction", "rounds", "all_unsafe"):
        a = RARE.statistic(name).estimate(ours.counts, ours.trials, point)
        b = plainly.statistic(name).estimate(theirs.counts, theirs.trials, point)
        assert a.low <= b.high and b.low <= a.high, name
        if min(a.value, b.value) > 0 and name in ("close_pair", "rounds"):
            assert abs(a.value - b.value) < 5 * math.hypot(a.stderr, b.stderr), name


@pytest.mark.kernels
@compiled
@pytest.mark.parametrize(("n", "f"), [(40, 20), (50, 30), (60, 30), (60, 200)])
def test_the_limit_of_lonely_pairs(n, f):
    point = {"n": n, "f": f}
    tally = RARE.count(point, TRIALS, seed=9)
    e = RARE.statistic("unsafe_nodes").estimate(tally.counts, TRIALS, point)
    assert e.low < math.comb(f, 2) * float(mean_unsafe_two_faults(n)) < e.high
    assert e.half_width < 0.02 * e.value
    e = RARE.statistic("close_pair").estimate(tally.counts, TRIALS, point)
    assert e.low <= float(mean_close_pairs(n, f)) <= e.high * (1 + 1e-9) and e.low > 0.999 * e.high


# ---------------------------------------------------------------- intervals


@pytest.mark.kernels
@compiled
@pytest.mark.parametrize(("n", "f"), [(6, 3), (6, 8), (7, 4), (8, 4)])
def test_intervals_cover(n, f):
    """Of 1,000 seeds no more miss the exact value than 5% allow."""
    wanted, scale = exact_unsafe(n, f), mean_close_pairs(n, f)
    values = {"close_pair": wanted.close_pair, "unsafe_fraction": wanted.mean_fraction, "all_unsafe": wanted.all_unsafe}
    values["unsafe_nodes"] = wanted.mean_fraction * 2**n
    if wanted.mean_rounds is not None:
        values["rounds"] = wanted.mean_rounds
    point, missed = {"n": n, "f": f}, Counter()
    for seed in range(1000):
        tally = RARE.count(point, 500, seed=seed)
        for name, value in values.items():
            e = RARE.statistic(name).estimate(tally.counts, 500, point)
            missed[name] += not e.low - 1e-15 <= float(value) <= e.high + 1e-15
    for name in values:
        assert missed[name] == 0 or bdtrc(missed[name] - 1, 1000, 0.05) > LEVEL, (name, missed[name])
    assert scale > 0


def test_a_class_that_was_not_met_is_bounded_by_the_best_of_three():
    rare = [TrialClass(900, 1800, 3600, 2, 10, 9.0), TrialClass(0, 0, 0, 100, 1e6, 1e-3)]
    e = mean_of_classes(rare, 1000)
    alone = mean_of_classes(rare[:1], 1000, alpha=ALPHA / 2)  # half of the level goes to the other class
    assert (e.value, e.low) == (1.8, alone.low) and e.high == pytest.approx(alone.high + 1e-3)
    left = mean_of_classes([rare[0], TrialClass(0, 0, 0, 100, 1e6, NEGLIGIBLE * 8)], 1000)
    assert left.high == pytest.approx(mean_of_classes(rare[:1], 1000).high + NEGLIGIBLE * 8)
    open_class = mean_of_classes([rare[0], TrialClass(0, 0, 0, 100, 1e6, 1e9)], 1000)
    assert open_class.high > 1e6 * proportion(0, 1000).high  # by Clopper-Pearson at its share of the level
    assert math.isnan(mean_of_classes(rare, 0).value)
    assert mean_of_classes([TrialClass(1, 7, 49, 2, 10, 9.0)], 1).low >= 0


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f", "fraction"), [(20, 10, 1e-2), (24, 24, 1e-2), (30, 10, 1e-3), (60, 30, 1e-3)])
def test_what_is_not_met_in_ten_million_trials_is_narrow(n, f, fraction):
    """The classes from 6 dimensions on, unseen, add less to the interval than the issue of unseen tails allows."""
    point = {"n": n, "f": f}
    statistic = RARE.statistic("unsafe_nodes")
    assert isinstance(statistic, ClassMean)
    bounds = statistic.classes(point)
    usual = [TrialClass(0, 0, 0, *bounds[0])] + [TrialClass(0, 0, 0, *b) for b in bounds[3:]]
    mean = n * (n - 1) / (n + math.comb(n, 2))
    assert mean_of_classes(usual, 10**7).half_width - 20 * bounds[0][1] * 1e-7 < fraction * mean


# ---------------------------------------------------------------- what is proved


def test_merging_pairs_are_counted():
    for j in range(4):
        free = [(base, mask) for mask in range(2**j) for base in range(2**j) if base & mask == 0]
        found = Counter()
        for a, b in itertools.product(free, repeat=2):
            if plain.distance(a, b) <= 2 and plain.enclosing(a, b)[1] == 2**j - 1:
                found[a[1].bit_count(), b[1].bit_count()] += 1
        for a, b in itertools.product(range(j + 1), repeat=2):
            assert proved.count_merging_pairs(j, a, b) == found[a, b]


@pytest.fixture(scope="module")
def families():
    """The largest dimension and the unsafe nodes of all fault sets of a few nodes, by (n, f)."""
    out = {}
    for n, most in ((2, 4), (3, 8), (4, 5), (5, 3)):
        for f in range(2, most + 1):
            kinds = Counter()
            for faults in itertools.combinations(range(2**n), f):
                if 0 in faults:  # a set in f of its 2^n translates
                    cubes = plain.subcubes(faults)
                    dims = [free.bit_count() for _, free in cubes]
                    kinds[max(dims), sum(1 << d for d in dims) - f] += 1
            out[n, f] = kinds
    return out


def test_bounds_hold_for_all_fault_sets(families):
    for (n, f), kinds in families.items():
        sets = sum(kinds.values())
        assert max(unsafe for _, unsafe in kinds) <= proved.max_unsafe(n, f, n)
        for d, bound in zip(DIMENSIONS, proved.large_subcube_bounds(n, f, DIMENSIONS), strict=True):
            assert sum(many for (largest, _), many in kinds.items() if largest >= d) / sets <= bound, (n, f, d)
        for largest, unsafe in kinds:
            if largest:
                assert proved.min_unsafe(f, largest) <= unsafe <= proved.max_unsafe(n, f, largest), (n, f)


@pytest.mark.kernels
@compiled
@pytest.mark.parametrize(("n", "f"), [(7, 4), (8, 5), (9, 3), (9, 8), (10, 6), (10, 10)])
def test_bounds_hold_in_samples(n, f):
    tally = RARE.count({"n": n, "f": f}, TRIALS, seed=11)
    scale = float(mean_close_pairs(n, f))
    for d, bound in zip(MARKING, proved.large_subcube_bounds(n, f, MARKING), strict=True):
        assert scale * proportion(tally.counts[f"unsafe_subcube_{d}"], TRIALS, LEVEL).low <= bound, d


@pytest.mark.parametrize("all_of", mark_others_slow([range(2, 5), range(5, 6)]), ids=str)
def test_bounds_of_known_probabilities(all_of):
    """All of Q_n unsafe is one way to reach n dimensions; two faults reach two in the known share."""
    for n in all_of:
        for f in range(2, 2**n + 1):
            whole = sum(many for (unsafe, _), many in enumerate_fault_sets(n)[f].items() if unsafe + f == 2**n)
            assert whole / math.comb(2**n, f) <= proved.large_subcube_bounds(n, f, (n,))[0]
    for n in (3, 10, 30, 62):
        bound = proved.large_subcube_bounds(n, 2, (1, 2))
        assert bound[0] == pytest.approx(float(mean_close_pairs(n, 2)), rel=1e-8)
        assert bound[1] == pytest.approx(math.comb(n, 2) / (2**n - 1), rel=1e-8)
    for n in (8, 12):
        joint, _ = column_types(n, 3)
        above = sum(many for (unsafe, _), many in joint.items() if unsafe >= 2**3 - 3) / math.comb(2**n, 3)
        assert above <= proved.large_subcube_bounds(n, 3, (3,))[0] < 3 * above


@pytest.mark.slow
@pytest.mark.parametrize("all_of", [3, 4, 5])
def test_bounds_of_plain_sampling(all_of):
    """Unsafe nodes and rounds of unsafe-fraction: no fault set of a small cube has more, and few faults reach them."""
    study = registry.study("unsafe-fraction")
    classes, rounds = study.statistic("unsafe_fraction").classes, study.statistic("rounds").bound
    known = {(n, f): sets for n in range(1, all_of + 1) for f, sets in enumerate(enumerate_fault_sets(n)) if sets}
    known |= {(n, f): column_types(n, f)[0] for n in (6, 9, 15) for f in (2, 3, 4)}
    for (n, f), sets in known.items():
        point = {"n": n, "f": f}
        unsafe, most = max(u for u, _ in sets), max(r for _, r in sets)
        assert unsafe <= 2**n * max(high for _, high, _ in classes(point)) and most <= rounds(point), point
        if n > 5:
            assert (unsafe, rounds(point) - most) == (4 ** (f - 1) - f, f == 4)


def test_bounds_fall_with_the_dimension():
    for n, f in ((16, 64), (24, 24), (60, 240), (62, 4096)):
        bounds = proved.large_subcube_bounds(n, f, DIMENSIONS)
        assert all(0 <= b <= a <= 1 for a, b in itertools.pairwise(bounds))
        assert [b == 0 for b in bounds] == [d > n for d in DIMENSIONS]


# ---------------------------------------------------------------- the study


def test_the_file_needs_no_study(tmp_path, monkeypatch):
    path = tmp_path / "rare.h5"
    fc.run("unsafe-rare", n=[12, 40], f=[6, 20], trials=2000, output=path, progress="none")
    made = fc.open_results(path).table()

    def not_installed(*_):
        raise fc.ParameterError("study must be one of none")

    monkeypatch.setattr(registry, "study", not_installed)
    read = fc.open_results(path)
    assert [list(map(str, row.values())) for row in read.table()] == [list(map(str, row.values())) for row in made]
    for row in made:
        point = {"n": row["n"], "f": row["f"]}
        tally = RARE.count(point, 2000)
        e = RARE.statistic(row["statistic"]).estimate(tally.counts, 2000, point)
        if RARE.statistic(row["statistic"]).defined(point):
            assert (row["estimate"], row["low"], row["high"]) == (e.value, e.low, e.high)
    assert not any(row["high"] > 1 for row in made if isinstance(RARE.statistic(row["statistic"]), Proportion))


@pytest.mark.kernels
def test_figure_and_notes():
    results = fc.run("unsafe-rare", n=[20, 24, 60], f=[20, 40], trials=2000, progress="none")
    assert {axes.get_yscale() for axes in results.plot().axes} == {"log"}
    notes = RARE.notes(results)
    assert any(line.startswith("  n=20,f=40: +- ") for line in notes) and not any("n=60" in line for line in notes)
    large = registry.study("unsafe-fraction").grid("large")
    said = large.notes(fc.run("unsafe-fraction", n=[12, 20], f=[6, 10], trials=2000, progress="none"))
    assert "n=20,f=10" in said[0] and "n=12" not in said[0] and "unsafe-rare" in said[1]


def test_replay():
    point = RARE.point({"n": 9, "f": 8})
    seen = set()
    for trial in range(60):
        reported = RARE.explain(point, 12345, trial).data
        i, j = reported["close_pair"]
        x, y = reported["sequence"][i], reported["sequence"][j]
        assert (x ^ y).bit_count() <= 2 and sorted(reported["sequence"]) == reported["faulty_nodes"]
        slots = RARE.tally.new_tally()
        RARE.kernel(point)(np.uint64(12345), trial, trial + 1, np.array([9.0, 8.0]), slots)
        counts, maxima = RARE.tally.read(slots)
        assert counts["acceptance"] == reported["counts"]
        if reported["counts"]:
            assert (sums_of(counts), maxima["rounds"][0]) == (reported["unsafe_nodes"], reported["rounds"])
        seen.add(reported["counts"])
    assert seen == {True, False}


def sums_of(counts):
    return sum(counts[f"unsafe_nodes_{d}"] for d in MARKING)


def test_refused():
    for point in ({"n": 1, "f": 2}, {"n": 20, "f": 1}, {"n": 3, "f": 9}, {"n": 20, "f": 4097}):
        with pytest.raises(fc.ParameterError):
            RARE.point(point)


@pytest.mark.kernels
def test_where_plain_sampling_sees_nothing_the_table_names_the_study_that_does():
    few = fc.run("unsafe-fraction", n=40, f=4, trials=100)
    assert "No unsafe node was seen at n=40,f=4: fastcube run unsafe-rare says" in " ".join(as_table(few).split())
    assert "unsafe-rare" not in as_table(fc.run("unsafe-fraction", n=6, f=4, trials=100))
