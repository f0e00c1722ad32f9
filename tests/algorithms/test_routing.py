"""Routing one message in a hypercube: the paper's examples, the plain twin, and what is refused."""

from __future__ import annotations

import itertools
import random

import pytest
from helpers.compiled import mark_others_slow
from reference.routing import Cube, common, differing

import fastcube as fc

AWARE = ("ROUTE1", "ROUTE2")
FIGURE_3 = fc.Hypercube(4, [0b0110, 0b0101, 0b0000])


def check(n, faults, links, s, t, ks=None):
    """Compare all algorithms for one message with the reference implementation."""
    cube, twin = fc.Hypercube(n, faults, links), Cube(n, faults, links)
    for algorithm, k in [("ROUTE", 1), ("ROUTE3", 1), *itertools.product(AWARE, ks or range(1, n + 1))]:
        route = fc.route(cube, s, t, algorithm=algorithm, **({"k": k} if algorithm in AWARE else {}))
        assert (route.outcome, route.path) == twin.route(algorithm, s, t, k), (n, faults, links, s, t, algorithm, k)
        assert route.length == (len(route.path) - 1 if route.outcome == "delivered" else None)


def fault_sets(n, most):
    """All fault sets of Q_n without node 0, up to a size."""
    return (chosen for f in range(most + 1) for chosen in itertools.combinations(range(1, 2**n), f))


# ---------------------------------------------------------------- the paper's examples


def test_first_differing_and_common_bits():
    x, y = 0b001101, 0b001010
    assert differing(6, x, y)[:2] == [4, 5]
    assert common(6, x, y)[:2] == [1, 2]
    assert differing(6, x, x) == []
    assert common(6, 0b001101, 0b110010) == []


def test_route_of_section_2():
    route = fc.route(fc.Hypercube(5), 0b00000, 0b01101, algorithm="ROUTE")
    assert route.path == [0b00000, 0b01000, 0b01100, 0b01101]
    assert (route.outcome, route.length) == ("delivered", 3)


def test_figure_3_a_node_that_does_not_know():
    lost = fc.route(FIGURE_3, 0b1110, 0b0100, algorithm="ROUTE")
    assert (lost.outcome, lost.path, lost.length) == ("lost", [0b1110], None)
    for algorithm in (*AWARE, "ROUTE3"):
        assert fc.route(FIGURE_3, 0b1110, 0b0100, algorithm=algorithm).path == [0b1110, 0b1100, 0b0100]


def test_figure_3_all_minimal_paths_destroyed():
    assert fc.distance(FIGURE_3, 0b0111, 0b0100) == 4
    for k in (2, 3, 4):
        route = fc.route(FIGURE_3, 0b0111, 0b0100, algorithm="ROUTE2", k=k)
        assert route.path[:2] == [0b0111, 0b1111]
    assert fc.route(FIGURE_3, 0b0111, 0b0100).path == [0b0111, 0b1111, 0b1101, 0b1100, 0b0100]


def test_figure_3_first_link_or_a_look_ahead():
    blind = fc.route(FIGURE_3, 0b1111, 0b0100, algorithm="ROUTE1", k=1)
    assert blind.path[1] == 0b0111
    assert blind.length != 3
    assert fc.route(FIGURE_3, 0b1111, 0b0100, algorithm="ROUTE2", k=3).path == [0b1111, 0b1101, 0b1100, 0b0100]
    assert fc.route(FIGURE_3, 0b1111, 0b0100).path == [0b1111, 0b1101, 0b1100, 0b0100]


# ---------------------------------------------------------------- the twin


def test_all_fault_sets_of_small_cubes():
    for n in (1, 2, 3):
        for faults in fault_sets(n, 2**n):
            for t in set(range(2**n)) - set(faults):
                check(n, faults, (), 0, t)


@pytest.mark.parametrize("most", [*mark_others_slow([1, 2]), pytest.param(5, marks=pytest.mark.exhaustive)])
def test_all_fault_sets_of_q4(most):
    for faults in fault_sets(4, most):
        for t in set(range(16)) - set(faults):
            check(4, faults, (), 0, t)


@pytest.mark.parametrize(
    ("most", "step"),
    [*mark_others_slow([(1, 8), (1, 1)], default=0), pytest.param(7, 1, marks=pytest.mark.exhaustive)],
)
def test_all_of_q3_with_faulty_links(most, step):
    """By default one pair of links in every so many."""
    links = [(x, x ^ 1 << i) for x in range(8) for i in range(3) if not x >> i & 1]
    pairs = itertools.islice(itertools.combinations(links, 2), 0, None, step)
    for chosen in itertools.chain(((link,) for link in links), pairs):
        for faults in fault_sets(3, most):
            for t in set(range(8)) - set(faults):
                check(3, faults, chosen, 0, t)


def crowded(rng, n, s, t):
    """Faults near s, near t, and on the way; and links."""
    faults, links = set(), set()
    for _ in range(rng.randrange(3 * n)):
        x = rng.choice([s, t, s ^ (s ^ t) & rng.getrandbits(n)])
        for _ in range(rng.randrange(1, 4)):
            x ^= 1 << rng.randrange(n)
        if rng.random() < 0.2:
            links.add((x, x ^ 1 << rng.randrange(n)))
        else:
            faults.add(x)
    return faults - {s, t}, links


@pytest.mark.parametrize(("n", "count"), mark_others_slow([(5, 200), (8, 100), (10, 50), (60, 20)], default=3))
def test_random_faults_around_the_ends(n, count):
    rng = random.Random(n)
    for _ in range(count):
        s, t = rng.getrandbits(n), rng.getrandbits(n)
        faults, links = crowded(rng, n, s, t)
        check(n, faults, links, s, t, ks=(1, 2, 3) if n > 10 else (1, 2, 3, 5))


def test_outcomes_all_happen():
    seen = set()
    rng = random.Random(7)
    for _ in range(400):
        n = rng.choice((3, 4, 5))
        s, t = rng.getrandbits(n), rng.getrandbits(n)
        faults, links = crowded(rng, n, s, t)
        for algorithm in ("ROUTE", *AWARE, "ROUTE3"):
            seen.add((algorithm, fc.route(fc.Hypercube(n, faults, links), s, t, algorithm=algorithm).outcome))
    assert {outcome for name, outcome in seen if name == "ROUTE"} == {"delivered", "lost"}
    for algorithm in AWARE:
        assert {outcome for name, outcome in seen if name == algorithm} == {"delivered", "stuck", "livelock"}
    assert {outcome for name, outcome in seen if name == "ROUTE3"} >= {"delivered", "stuck"}


def test_lazy_faults_are_the_listed_ones():
    lazy = fc.random_faults(0.2, seed=3)
    cube = fc.Hypercube(9, lazy)
    listed = fc.Hypercube(9, [x for x in range(512) if x in lazy])
    ends = [x for x in range(512) if x not in lazy][:40]
    for s, t in zip(ends, ends[::-1], strict=True):
        for algorithm in ("ROUTE", *AWARE, "ROUTE3"):
            assert fc.route(cube, s, t, algorithm=algorithm) == fc.route(listed, s, t, algorithm=algorithm)


def test_large_and_lazy():
    faults = fc.random_faults(0.1, seed=5)
    cube = fc.Hypercube(60, faults)
    s, t = [x for x in range(2**59, 2**59 + 99, 7) if x not in faults][:2]
    twin = Cube(60, faults.__contains__)
    for algorithm, k in [("ROUTE1", 1), ("ROUTE1", 3), ("ROUTE2", 2)]:
        route = fc.route(cube, s, t, algorithm=algorithm, k=k)
        assert (route.outcome, route.path) == twin.route(algorithm, s, t, k)


def test_search_that_expands_too_much_is_cut_off():
    n = 18
    t = 2**n - 1
    walls = [t ^ 1 << i for i in range(n)]  # t is cut off
    route = fc.route(fc.Hypercube(n, walls), 0, t, algorithm="ROUTE2", k=n)
    assert (route.outcome, route.path, route.length) == ("limit", [0], None)
    assert (
        fc.route(fc.Hypercube(12, [2**12 - 1 ^ 1 << i for i in range(12)]), 0, 2**12 - 1, "ROUTE2", k=12).outcome
        != "limit"
    )


def test_equal_ends_are_delivered():
    for algorithm in ("ROUTE", *AWARE, "ROUTE3"):
        route = fc.route(fc.Hypercube(5, [1, 2]), 7, 7, algorithm=algorithm)
        assert (route.outcome, route.path, route.length) == ("delivered", [7], 0)


def test_default_is_route3_also_in_an_unsafe_cube():
    cube = fc.Hypercube(4, [0b0000, 0b0110, 0b1101])
    assert fc.find_unsafe(cube).all_unsafe
    assert fc.route(cube, 1, 14) == fc.route(cube, 1, 14, algorithm="ROUTE3", k=1)
    check(4, [0b0000, 0b0110, 0b1101], (), 1, 14)


BAD = [
    ({"s": 3, "t": 5}, "s must be a nonfaulty node, got 3 (00011), which is faulty"),
    ({"s": 5, "t": 3}, "t must be a nonfaulty node, got 3 (00011), which is faulty"),
    ({"s": 32, "t": 5}, "s must be in [0, 31] for n=5, got 32"),
    ({"s": 0, "t": -1}, "t must be in [0, 31] for n=5, got -1"),
    ({"s": 0, "t": 1.0}, "t must be an integer in [0, 31] for n=5, got 1.0"),
    ({"s": 0, "t": 1, "algorithm": "ROUTE1", "k": 0}, "k must be in [1, 5] for n=5, got 0"),
    ({"s": 0, "t": 1, "algorithm": "ROUTE2", "k": 6}, "k must be in [1, 5] for n=5, got 6"),
    ({"s": 0, "t": 1, "algorithm": "ROUTE2", "k": "2"}, "k must be an integer in [1, 5] for n=5, got '2'"),
    ({"s": 0, "t": 1, "algorithm": "ROUTE3", "k": 2}, "k must be 1 for ROUTE3, got 2"),
    ({"s": 0, "t": 1, "algorithm": "ROUTE", "k": 1}, "k is not an option of ROUTE, which takes no options"),
    (
        {"s": 0, "t": 1, "algorithm": "ROUTE4"},
        (
            "algorithm must be ROUTE3, ROUTE, ROUTE1, ROUTE2, LEVELS, VECTORS, A1, DFS or SIDETRACK for Hypercube, "
            "got 'ROUTE4'; did you mean"
        ),
    ),
    (
        {"s": 0, "t": 1, "algorithm": "PRACTICAL"},
        "algorithm must be ROUTE3, ROUTE, ROUTE1, ROUTE2, LEVELS, VECTORS, A1, DFS or SIDETRACK for Hypercube, got",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_input(arguments, message):
    with pytest.raises(fc.ParameterError) as error:
        fc.route(fc.Hypercube(5, [3]), **arguments)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_route3_asks_all_statuses_and_says_where_that_ends():
    with pytest.raises(fc.ParameterError, match=r"n must be in \[1, 26\] for unsafe nodes under random_faults, got 27"):
        fc.route(fc.Hypercube(27, fc.random_faults(1e-9)), 0, 1)
