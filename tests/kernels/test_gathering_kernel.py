"""The gathering kernel against the twin's message-passing nodes, set by set and trial by trial; exact tables; studies."""

import itertools
import json
import random
from fractions import Fraction

import numpy as np
import pytest
from helpers.compiled import mark_others_slow
from helpers.gathering_trials import RUNS, TABLES, check_trials, reference_tally
from helpers.tree_trials import enumerate_fault_sets, fault_counts, links_in_order, sample_faults

import fastcube as fc
from fastcube.kernels.gathering.layout import GATHER, common_denominator
from fastcube.kernels.gathering.scalar import GATHER_SETS, GATHER_SINGLE
from fastcube.studies.leu_kuo import baselines, enumeration, tables


def one_set(n, nodes, links):
    """The tally of one fault set, by the kernel."""
    number = {link: i for i, link in enumerate(links_in_order(n))}
    numbers = [*sorted(number[link] for link in links), *sorted(nodes)]
    slots = GATHER.new_tally()
    GATHER_SETS(np.uint64(0), 0, 1, np.array([n, len(links), len(nodes), *numbers], np.float64), slots)
    counts, maxima = GATHER.read(slots)
    return counts, None if maxima["slowest"][1] < 0 else maxima["slowest"][0]


@pytest.mark.kernels
def test_all_small_sets():
    for n, most_links, most_nodes in ((1, 1, 1), (2, 4, 1)):
        for links, nodes in enumerate_fault_sets(n, most_links, most_nodes):
            assert one_set(n, nodes, links) == reference_tally(n, nodes, links), (n, nodes, links)


@pytest.mark.kernels
def test_some_sets():
    rng = random.Random(1)
    for links, nodes in rng.sample(list(enumerate_fault_sets(3, 4, 2)), 400) + rng.sample(
        list(enumerate_fault_sets(4, 2, 1)), 150
    ):
        n = 3 if all(v < 8 for v in [*nodes, *itertools.chain(*links)]) else 4
        assert one_set(n, nodes, links) == reference_tally(n, nodes, links), (n, nodes, links)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("n", "most_links", "most_nodes"), [(3, 12, 1), (4, 3, 0), (5, 0, 2)])
def test_all_sets(n, most_links, most_nodes):
    for links, nodes in enumerate_fault_sets(n, most_links, most_nodes):
        assert one_set(n, nodes, links) == reference_tally(n, nodes, links), (n, nodes, links)


@pytest.mark.parametrize("n", mark_others_slow(range(1, 7), default=5))
def test_trials(n):
    for links, f in fault_counts(n):
        if n < 6 or links in (n - 1, 2 * n, 2 ** (n - 1)):
            check_trials(n, links, f, 12 if n < 4 else 3 if n < 6 else 1)


@pytest.mark.exhaustive
def test_many_random_trials():
    """10^4 trials, n = 3 .. 6."""
    rng = random.Random(2)
    for n, rounds in ((3, 80), (4, 60), (5, 40), (6, 20)):
        for _ in range(rounds):
            links = rng.choice([n, 2 * n, 2 ** (n - 1), rng.randrange(n * 2 ** (n - 1))])
            check_trials(n, links, rng.choice([0, 0, 1, n // 2]), 50)


@pytest.mark.kernels
def test_largest_cube():
    """Amounts of Q_10 fit: everything held adds up, one trial against the one-cube function."""
    key = np.uint64(5)
    slots = GATHER.new_tally()
    GATHER_SINGLE.compiled(key, 0, 1, np.array([10, 400, 30], np.float64), slots)
    nodes, links = sample_faults(key, 0, 10, 400, 30)
    cube = fc.Hypercube(10, nodes, links)
    counts = GATHER.read(slots)[0]
    for name, (algorithm, variant) in RUNS.items():
        g = fc.gather(cube, fc.find_tree(cube), algorithm, variant if algorithm == "FTTC" else None)
        assert Fraction(counts[f"lost_{name}"], common_denominator(10)) == g.lost
    assert common_denominator(10) * 1024 < 2**63


# ---------------------------------------------------------------- exact tables


def test_tables_hold_all_their_points():
    for rows in TABLES.values():
        assert [{axis: row[axis] for axis in ("n", "links", "f")} for row in rows] == tables.stored_points()


@pytest.mark.kernels
def test_tables_are_what_is_enumerated():
    for name, rows in TABLES.items():
        for row in rows:
            if row["sets"] < 3000:
                assert tables.table_row(name, {axis: row[axis] for axis in ("n", "links", "f")}) == row


@pytest.mark.kernels
def test_exact_values_are_the_twins():
    """Compare all fault sets of Q_2 with two faulty links and up to one faulty node."""
    for f in (0, 1):
        sets = [(nodes, links) for links, nodes in enumerate_fault_sets(2, 2, 1) if len(links) == 2 and len(nodes) == f]
        sums = [reference_tally(2, nodes, links)[0] for nodes, links in sets]
        exact = fc.exact_gather(2, links=2, f=f)
        sinks = sum(s["sink_exists"] for s in sums)
        assert enumeration.gather({"n": 2, "links": 2, "f": f}).trials == len(sets)
        assert exact["complete_as_commented"] == Fraction(sum(s["complete_as_commented"] for s in sums), sinks)
        assert exact["slowdown_as_commented"] == Fraction(sum(s["steps_as_commented"] for s in sums), 2 * sinks)
        assert exact["unreachable_data"] == Fraction(
            sum(s["unreachable_data"] for s in sums), sum(s["expected"] for s in sums)
        )


#: Normal deviate of level 1e-6 over the some 600 comparisons below.
DEVIATE = 6.1


@pytest.mark.kernels
@pytest.mark.parametrize("name", ["find-tree", "optimal-tree", "gather", "rerouting"])
def test_monte_carlo_meets_the_tables(name):
    study = fc.study(name)
    rows = TABLES["trees" if "tree" in name else "gather"]
    rng = random.Random(3)
    for row in rng.sample(rows, 25) + rows[-6:]:
        point = study.point({axis: row[axis] for axis in ("n", "links", "f")})
        tally = study.count(point, 4000, seed=1)
        for statistic in study.statistics:
            exact = row[statistic.name]
            estimate = statistic.estimate(tally.counts, tally.trials, point)
            if exact is None:
                assert np.isnan(estimate.value), (point, statistic.name)
                continue
            value = float(Fraction(exact))
            trials = statistic.trials(tally.counts, tally.trials)
            if trials == 0:
                continue  # no sink was drawn
            binomial = (value * (1 - value) / trials) ** 0.5 if statistic.interval == "exact" else 0.0
            spread = binomial or max(estimate.stderr, 3 / trials)  # what is rarer than that is not seen at all
            assert abs(estimate.value - value) <= DEVIATE * spread + 1e-12 + 8 / trials, (point, statistic.name)


# ---------------------------------------------------------------- studies


@pytest.mark.kernels
@pytest.mark.parametrize("name", ["find-tree", "optimal-tree", "gather", "rerouting"])
def test_replay_agrees_with_the_tally(name):
    study = fc.study(name)
    for values in ({"n": 4, "links": 8, "f": 0}, {"n": 5, "links": 6, "f": 3}, {"n": 3, "links": 4, "f": 1}):
        point = study.point(values)
        key = fc.study(name).key(0, point)
        for trial in range(25):
            reported = study.explain(point, key, trial)
            data = json.loads(json.dumps(reported.data))
            counts = study.count(point, 1, first=trial).counts
            assert {"faulty_links", "faulty_nodes", "sink", "order", "tree_faults"} <= set(data)
            assert len(data["faulty_links"]) == values["links"]
            assert len(data["faulty_nodes"]) == values["f"]
            assert (data["sink"] is None) == (counts["sink_exists"] == 0)
            if data["sink"] is None:
                continue
            if "tree_faults" in counts:
                assert data["tree_faults"] == counts["tree_faults"]
            if name == "optimal-tree":
                assert data["optimum"]["tree_faults"] == counts["optimum"]
                assert data["gap"] == counts["gap"]
            for run in data.get("runs") or {}:
                lost = Fraction(data["runs"][run]["lost"])
                assert lost * common_denominator(values["n"]) == counts[f"lost_{run}"]
                assert f"{lost} are lost" in reported.text or lost == 0


def test_the_rival_of_the_benchmark_loses_as_much():
    for values in ({"n": 4, "links": 8, "f": 0}, {"n": 5, "links": 0, "f": 6}):
        study = fc.study("gather")
        counts = study.count(study.point(values), 40).counts
        lost = sum(counts[f"lost_{variant}"] for variant in ("as_printed", "as_commented", "corrected"))
        assert lost == baselines.lost_units(study, values, 40) * common_denominator(values["n"]) > 0


@pytest.mark.parametrize(
    ("name", "point", "message"),
    [
        ("find-tree", {"n": 63, "links": 0, "f": 0}, r"n must be in \[1, 62\], got 63"),
        ("optimal-tree", {"n": 13, "links": 0, "f": 0}, r"n must be in \[1, 12\], got 13"),
        ("gather", {"n": 11, "links": 0, "f": 0}, r"n must be in \[1, 10\], got 11"),
        ("rerouting", {"n": 0, "links": 0, "f": 0}, r"n must be in \[1, 10\], got 0"),
        ("find-tree", {"n": 3, "links": 13, "f": 0}, r"links must be in \[0, 12\] for n=3, got 13"),
        ("find-tree", {"n": 3, "links": 0, "f": 9}, r"f must be in \[0, 8\] for n=3, got 9"),
        ("find-tree", {"n": 20, "links": 65537, "f": 0}, r"links must be in \[0, 65536\], got 65537"),
    ],
)
def test_bad_points(name, point, message):
    with pytest.raises(fc.ParameterError, match=message):
        fc.study(name).point(point)


def test_grids_hold_each_point_once():
    for name in ("find-tree", "optimal-tree", "gather", "rerouting"):
        for grid in fc.study(name).grids:
            points = [tuple(point.items()) for point in grid.points]
            assert len(points) == len(set(points))
            for point in grid.points:
                fc.study(name).point(point)


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "links", "f"), [(4, 8, 0), (5, 12, 1), (6, 24, 0), (6, 16, 3), (7, 48, 0)])
def test_more_trials_against_one_cube(n, links, f):
    """Larger cubes with many faults, with blocked next to failing nodes; ``fc.gather`` agrees with the twin elsewhere."""
    key = np.uint64(fc.study("gather").key(5, {"n": n, "links": links, "f": f}))
    for t in range(60 if n < 7 else 15):
        slots = GATHER.new_tally()
        GATHER_SINGLE.compiled(key, t, t + 1, np.array([n, links, f], np.float64), slots)
        counts = GATHER.read(slots)[0]
        nodes, pairs = sample_faults(key, t, n, links, f)
        cube = fc.Hypercube(n, nodes, pairs)
        tree = fc.find_tree(cube)
        for name in RUNS if tree is not None else ():
            algorithm, variant = RUNS[name]
            g = fc.gather(cube, tree, algorithm, variant if algorithm == "FTTC" else None)
            assert counts[f"lost_{name}"] == g.lost * common_denominator(n), (t, name)
            if f"deadlocked_{name}" in counts:
                assert counts[f"deadlocked_{name}"] == g.deadlocked
