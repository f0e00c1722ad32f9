"""The kernels of edst-broadcast and edge-disjoint-trees: against the plain twin, the exact table and the functions."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter

import numba
import numpy as np
import pytest
from helpers.compiled import mark_others_slow
from helpers.documented import load_documented_sampler
from helpers.spanning_trials import (
    BROADCAST_STUDY,
    END_TRIALS,
    NUMBER_STUDY,
    check_numbers,
    check_packets,
    list_ends,
    study_key,
)
from reference import spanning as twin
from scipy.special import bdtr, bdtrc

import fastcube as fc
from fastcube.kernels.cube.bitmask import set_node
from fastcube.kernels.machine.jit import kernel
from fastcube.kernels.spanning import connectivity
from fastcube.kernels.spanning.connectivity import edge_connectivities
from fastcube.kernels.spanning.layout import EDGE_DISJOINT_TREES
from fastcube.kernels.spanning.replay import sample_edst_broadcast
from fastcube.studies.sui_wang_lee.edmonds import joint_counts

KEY = np.uint64(0x5EED0123456789AB)

uncompiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="too many fault sets for plain Python")


def kernel_numbers(n, faulty, links=None):
    """(lambda, delta) of many fault sets of one size."""
    sets = len(faulty) if links is None else len(links)
    nodes = np.array(faulty, np.uint64).reshape(sets, -1)
    dead = np.array([] if links is None else links, np.uint64).reshape(sets, -1, 2)
    out = np.zeros((sets, 3), np.int64)
    edge_connectivities(n, nodes, dead, out)
    return [(best, delta) for best, delta, _ in out.tolist()]


def links_of(n):
    """Links as the kernel takes them: lower end and dimension."""
    return [(v, k) for v in range(2**n) for k in range(n) if not v >> k & 1]


# ---------------------------------------------------------------- Edmonds' number


@pytest.mark.kernels
@uncompiled
@pytest.mark.parametrize(("n", "kind", "most"), twin.RANGES)
def test_every_small_fault_set(n, kind, most):
    """All small fault sets, without use of symmetries, give the table of the reference implementation."""
    items = list(range(2**n)) if kind == "nodes" else links_of(n)
    for faults in range(most + 1):
        chosen = list(itertools.combinations(items, faults))
        empty = [[]] * len(chosen)
        found = kernel_numbers(n, chosen) if kind == "nodes" else kernel_numbers(n, empty, chosen)
        assert Counter(found) == joint_counts()[n, kind][faults], faults


@pytest.mark.kernels
def test_random_fault_sets_of_nodes_and_links():
    rng = random.Random(4)
    for _ in range(400):
        n = rng.choice([1, 2, 3, 4, 5, 5, 6, 6, 7])
        f = rng.randint(0, rng.choice([n, 2**n // 4, 2**n - 2]) if n > 1 else 0)
        links = rng.sample(links_of(n), rng.choice([0, rng.randint(0, n), rng.randint(0, n * 2**n // 4)]))
        faulty = rng.sample(range(2**n), f)
        wanted = twin.number(n, faulty, [(v, v | 1 << k) for v, k in links])
        assert kernel_numbers(n, [faulty], [links]) == [wanted], (faulty, links)


@pytest.mark.kernels
@pytest.mark.parametrize("n", [8, 9, 10, 12])
def test_large_cubes_are_those_of_the_function(n):
    rng = random.Random(n)
    for _ in range(12):
        faulty = rng.sample(range(2**n), rng.randint(0, 2**n // 2))
        links = rng.sample(links_of(n), rng.randint(0, n * 2**n // 6))
        cube = fc.Hypercube(n, faulty, [(v, v | 1 << k) for v, k in links])
        assert kernel_numbers(n, [faulty], [links])[0][0] == fc.max_edge_disjoint_trees(cube)


@pytest.mark.kernels
@pytest.mark.parametrize("n", [2, 3, 5, 6, 7, 8, 10])
@pytest.mark.parametrize("kept", [0, 1, 2, 3, 6])
def test_two_halves_joined_by_few_links(n, kept):
    """A cut that no node sees: all links of one dimension faulty but a few."""
    for k in {0, n // 2, n - 1}:
        rng = random.Random(n + k)
        side = [v for v in range(2**n) if not v >> k & 1]
        chosen = set(rng.sample(side, min(kept, len(side))))
        (found,) = kernel_numbers(n, [[]], [[(v, k) for v in side if v not in chosen]])
        assert found[0] == (n if len(chosen) == len(side) else min(len(chosen), n - 1))


@kernel("int64(int64, uint64[::1], int64, int64, int64)")
def one_flow(n, nodes, source, target, limit):
    """Paths from one node: the core is that node alone."""
    g = connectivity.graph_for(n)
    g.nodes[:] = nodes
    connectivity.join_links(g)
    set_node(g.core, np.uint64(source))
    return connectivity._max_flow(g, target, limit)


@pytest.mark.kernels
def test_flows_are_those_of_the_twin():
    """Between single nodes, where paths must give way to each other."""
    rng = random.Random(6)
    for n, f in itertools.product((3, 4, 5, 6, 7), (0, 1, 2, 3)):
        for _ in range(20):
            faulty = rng.sample(range(2**n), f * 2**n // 8)
            graph = twin.nonfaulty_graph(n, faulty)
            mask = sum(1 << v for v in graph)
            words = np.array([mask >> 64 * w & 2**64 - 1 for w in range(max(2**n // 64, 1))], np.uint64)
            s, t = rng.sample(sorted(graph), 2)
            assert one_flow(n, words, s, t, n) == twin.flow(graph, s, t, n)


@pytest.mark.kernels
def test_nothing_is_left_between_fault_sets():
    """A call with many fault sets counts each set independently of the sets before it."""
    rng = random.Random(9)
    faulty = [rng.sample(range(64), 24) for _ in range(200)]
    alone = [kernel_numbers(6, [one])[0] for one in faulty]
    assert kernel_numbers(6, faulty) == alone


# ---------------------------------------------------------------- the trials

POINTS = [
    (2, 0, 0),
    (2, 2, 1),
    (3, 6, 2),
    (4, 3, 4),
    (4, 9, 0),
    (5, 3, 20),
    (5, 0, 80),
    (6, 8, 0),
    (6, 40, 30),
    (7, 16, 0),
]


@pytest.mark.parametrize(("n", "f", "links"), POINTS)
def test_trials_are_those_of_the_twin(n, f, links):
    check_numbers({"n": n, "f": f, "links": links}, 70, 25)


LEVEL = 1e-6


def check_probability(tally, events, wanted, among=None):
    """An exact share at level 1e-6, by the binomial distribution."""
    seen, p = tally.counts[events], float(wanted)
    trials = tally.trials if among is None else tally.counts[among]
    assert bdtr(seen, trials, p) > LEVEL / 2, (events, seen / trials, p)
    assert seen == 0 or bdtrc(seen - 1, trials, p) > LEVEL / 2, (events, seen / trials, p)


@pytest.mark.kernels
@uncompiled
@pytest.mark.parametrize(
    ("n", "f", "links"),
    [(2, 2, 0), (3, 3, 0), (3, 4, 0), (4, 5, 0), (4, 8, 0), (4, 14, 0), (5, 5, 0), (3, 0, 3), (3, 0, 5), (4, 0, 4)],
)
def test_monte_carlo_meets_the_exact_values(n, f, links):
    tally = NUMBER_STUDY.count({"n": n, "f": f, "links": links}, 200_000, seed=20261107)
    exact = NUMBER_STUDY.exact({"n": n, "f": f, "links": links})
    for events in ("packing_equals_min_degree", "connected", "isolated_node"):
        check_probability(tally, events, exact[events])
    joint = joint_counts()[n, "links" if links else "nodes"][f + links]
    for k in range(n + 1):
        many = sum(many for (trees, _), many in joint.items() if trees == k)
        check_probability(tally, f"trees_{k}", many / sum(joint.values()))
    if exact["packing_equals_min_degree_connected"] is not None:
        check_probability(
            tally,
            "packing_equals_min_degree_connected",
            exact["packing_equals_min_degree_connected"],
            among="connected",
        )
    for total, wanted in (
        ("trees", exact["max_edge_disjoint_trees"]),
        ("degree", exact["min_degree"]),
    ):  # Hoeffding: both lie in [0, n]
        assert abs(tally.counts[total] / tally.trials - wanted) < n * math.sqrt(math.log(2 / LEVEL) / 2 / tally.trials)
    assert tally.maxima["largest_gap"][0] == max(degree - trees for trees, degree in joint)


@pytest.mark.parametrize(("n", "f", "links"), [(4, 8, 3), (7, 30, 100)])
def test_any_split_adds_up(n, f, links):
    point, cuts = {"n": n, "f": f, "links": links}, [0, 1, 2, 65, 200, 201, 700]
    parts = [NUMBER_STUDY.count(point, b - a, first=a) for a, b in itertools.pairwise(cuts)]
    assert parts[0].total(parts) == NUMBER_STUDY.count(point, 700)


# ---------------------------------------------------------------- packets


def test_ends_are_those_of_the_recipe():
    source_and_fault = load_documented_sampler()["source_and_fault"]
    assert list_ends() == [source_and_fault(*trial) for trial in END_TRIALS]


@pytest.mark.kernels
def test_every_fault_at_a_distance_is_drawn_alike():
    for n, d in ((2, 1), (3, 0), (4, 2), (5, 5)):
        cells = 2**n * math.comb(n, d)
        seen = Counter(sample_edst_broadcast(KEY, t, n, d) for t in range(60 * cells))
        assert len(seen) == cells
        assert all((f is None if d == 0 else (s ^ f).bit_count() == d) for s, f in seen)
        squares = sum((many - 60) ** 2 / 60 for many in seen.values())  # chi-squared, cells - 1 degrees of freedom
        assert abs(squares - cells) < 6 * math.sqrt(2 * cells)


@pytest.mark.parametrize("n", mark_others_slow(range(2, 9), default=6))
def test_packets_are_those_of_the_functions(n):
    rng = random.Random(n)
    for d, packets in itertools.product(range(n + 1), (1, 2, n, 3 * n + 1, 2**20)):
        check_packets({"n": n, "d": d, "packets": packets}, rng.randrange(100), 3)


@uncompiled
def test_the_count_does_not_depend_on_the_trial():
    for n, d, packets in ((3, 2, 5), (7, 6, 64), (10, 4, 100), (12, 11, 9)):
        tally = BROADCAST_STUDY.count({"n": n, "d": d, "packets": packets}, 40, first=1000)
        for name in ("steps", "single", "lower_bound"):
            assert tally.counts[f"{name}_squared"] * 40 == tally.counts[name] ** 2
        assert tally.counts["broken"] == 0
        assert tally.maxima["most_steps"][1] == 1000


# ---------------------------------------------------------------- replay, notes and points


def test_replay_tells_what_the_kernel_counted():
    point = BROADCAST_STUDY.point({"n": 6, "d": 5, "packets": 11})
    key = study_key(BROADCAST_STUDY, point)
    for trial in (0, 3):
        data = BROADCAST_STUDY.explain(point, key, trial).data
        assert data["steps"] == BROADCAST_STUDY.count(point, 1, first=trial).counts["steps"]
        assert (data["s"], data["f"]) == sample_edst_broadcast(key, trial, 6, 5)
        trees = twin.edge_disjoint_spanning_trees(6, data["s"], data["f"])
        assert data["heights"] == [twin.height(tree) for tree in trees]
        arrived = twin.deliveries(trees, data["s"], 11)
        assert data["last"] == sorted({v for (v, _), step in arrived.items() if step == data["steps"]})
        assert data["dimensions"] == twin.positions(6, data["s"], data["f"])[::-1] and sum(data["packets"]) == 11
    text = BROADCAST_STUDY.explain(BROADCAST_STUDY.point({"n": 3, "d": 0, "packets": 1}), 5, 0).text
    assert "no faulty node" in text and "printed: 4 steps" in text


@pytest.mark.parametrize(
    "values", [{"n": 4, "f": 8, "links": 0}, {"n": 5, "f": 7, "links": 30}, {"n": 3, "f": 0, "links": 5}]
)
def test_replay_shows_a_cut(values):
    point = NUMBER_STUDY.point(values)
    key = study_key(NUMBER_STUDY, point)
    counterexample = NUMBER_STUDY.count(point, 300).maxima["largest_gap"][1]
    for trial in (0, 1, counterexample):
        data = NUMBER_STUDY.explain(point, key, trial).data
        cube = fc.Hypercube(point["n"], data["faulty_nodes"], data["faulty_links"])
        counts = NUMBER_STUDY.count(point, 1, first=trial).counts
        assert (data["trees"], data["min_degree"]) == (counts["trees"], counts["degree"])
        assert len(data["cut"]) == data["trees"]
        side, graph = set(data["side"]), twin.nonfaulty_graph(cube.n, cube.faulty_nodes, cube.faulty_links)
        assert len(graph[data["node"]]) == data["min_degree"] and 1 <= len(side) <= len(graph) // 2
        assert sorted([min(u, v), max(u, v)] for u in side for v in graph[u] if v not in side) == data["cut"]


@pytest.mark.parametrize(
    ("study", "values", "message"),
    [
        (BROADCAST_STUDY, {"n": 3, "d": 4, "packets": 1}, r"d must be in \[0, 3\] for n=3, got 4"),
        (BROADCAST_STUDY, {"n": 13, "d": 4, "packets": 1}, r"n must be in \[2, 12\]"),
        (BROADCAST_STUDY, {"n": 1, "d": 0, "packets": 1}, r"n must be in \[2, 12\]"),
        (BROADCAST_STUDY, {"n": 3, "d": -1, "packets": 1}, r"d must be in"),
        (BROADCAST_STUDY, {"n": 3, "d": 1, "packets": 0}, r"packets must be in \[1, 1048576\]"),
        (BROADCAST_STUDY, {"n": 3, "d": 1, "packets": 2**20 + 1}, "packets must be in"),
        (NUMBER_STUDY, {"n": 3, "f": 7, "links": 0}, r"f must be in \[0, 6\] for n=3, got 7"),
        (NUMBER_STUDY, {"n": 3, "f": 0, "links": 13}, r"links must be in \[0, 12\] for n=3, got 13"),
        (NUMBER_STUDY, {"n": 3, "f": 1.5, "links": 0}, "f must be an integer"),
        (NUMBER_STUDY, {"n": 3, "f": 1}, "links is missing"),
    ],
)
def test_impossible_points(study, values, message):
    with pytest.raises(fc.ParameterError, match=message):
        study.point(values)


def test_grids():
    nodes, links = NUMBER_STUDY.grids
    assert [p["f"] for p in nodes.points if p["n"] == 8] == [8 * j for j in range(17)]
    assert [p["f"] for p in nodes.points if p["n"] == 3] == [0, 1, 2, 3, 4]
    assert [p["links"] for p in links.points if p["n"] == 4] == list(range(17))
    assert all(NUMBER_STUDY.point(p) == p for p in (*nodes.points, *links.points))
    assert all(BROADCAST_STUDY.point(p) == p for p in BROADCAST_STUDY.grids[0].points)
    assert len(BROADCAST_STUDY.grids[0].points) == 360
    assert EDGE_DISJOINT_TREES.counter("trees_12") == EDGE_DISJOINT_TREES.counter("trees_0") + 12


@pytest.mark.parametrize(
    "point", mark_others_slow([{"n": 3, "d": 2, "packets": 1}, {"n": [3, 4], "d": [0, 1, 3], "packets": [1, 4, 16]}])
)
def test_notes_and_figure_of_packets(point, tmp_path):
    results = fc.run("edst-broadcast", trials=2, output=tmp_path / "e.h5", **point)
    notes = "\n".join(BROADCAST_STUDY.notes(results))
    if point["n"] == 3:
        assert (
            "right in every trial at 0 of 1 points" in notes
            and "1 step fewer at 1:\n    n=3,d=2: packets = 1\n" in notes
        )
    else:
        assert (
            "ceil(M/n) + n, without a faulty node: right in every trial at 6 of 6 points" in notes
            and "largest steps / bound" in notes
        )
    results.plot(path=tmp_path / "e.png")


@pytest.mark.slow
@pytest.mark.parametrize("point", [{"n": [3, 4], "f": [2, 4], "links": 0}, {"n": 3, "f": 0, "links": [3, 4, 5]}])
def test_notes_and_figure_of_edmonds(point, tmp_path):
    results = fc.run("edge-disjoint-trees", trials=300, output=tmp_path / "e.h5", **point)
    notes = "\n".join(NUMBER_STUDY.notes(results))
    assert "largest delta - lambda: " in notes and ("n=4,f=2,links=0: 1, above" in notes) == (point["links"] == 0)
    results.plot(path=tmp_path / "e.png")
