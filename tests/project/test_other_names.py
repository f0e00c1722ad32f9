"""Identities by which pages answer questions of other fields: collectives, overlays, data centres and boards."""

import random
import re
from fractions import Fraction
from itertools import combinations
from math import comb
from pathlib import Path

import pytest

import fastcube as fc

PAGE = " ".join((Path(__file__).resolve().parents[2] / "docs" / "rules.md").read_text(encoding="utf-8").split())


def reduce_sums(n, failed):
    """The sets of summands that each working rank has after an all-reduce by recursive doubling."""
    held = {rank: {rank} for rank in range(2**n) if rank not in failed}
    for d in range(n):
        held = {rank: held[rank] | held.get(rank ^ 1 << d, set()) for rank in held}
    return held


@pytest.mark.parametrize(
    ("n", "f", "fraction"), [(3, 1, "37/42"), (3, 2, "27/35"), (4, 1, "193/210"), (4, 2, "1151/1365")]
)
def test_recursive_doubling_delivers_what_route_delivers(n, f, fraction):
    arrived = pairs = 0
    for failed in combinations(range(2**n), f):
        held = reduce_sums(n, failed)
        arrived += sum(len(summands) - 1 for summands in held.values())
        pairs += len(held) * (len(held) - 1)
        assert any(len(summands) < len(held) for summands in held.values())  # no set of survivors is complete
        if (n, f) == (3, 2):
            cube = fc.Hypercube(n, faulty_nodes=failed)
            routes = {(u, v): fc.route(cube, u, v, algorithm="ROUTE") for u in held for v in held if u != v}
            assert {pair for pair, route in routes.items() if route.outcome == "delivered"} == {
                (v, u) for v, summands in held.items() for u in summands if u != v
            }
    assert Fraction(arrived, pairs) == Fraction(fraction) and fraction in PAGE


@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_failed_rank_is_between_two_of_its_neighbours(n):
    a, b = map(int, re.search(r"with a failed rank x, the path from x XOR (\d) to x XOR (\d) meets x", PAGE).groups())
    for x in range(2**n):
        assert fc.route(fc.Hypercube(n), x ^ a, x ^ b, algorithm="ROUTE").path == [x ^ a, x, x ^ b]


def test_a_binomial_broadcast_reaches_a_power_of_two_minus_p():
    n, p, reached = 3, Fraction(1, 3), Fraction(0)
    for f in range(2**n):
        for faulty in combinations(range(1, 2**n), f):
            there = [0]
            for d in range(n):  # each node that has the message sends it over the next dimension
                there += [v | 1 << d for v in there if v | 1 << d not in faulty]
            reached += p**f * (1 - p) ** (2**n - 1 - f) * len(there)
    assert reached == (2 - p) ** n
    assert f"this is {(2 - 0.01) ** 10:.1f} of {1 + 1023 * (1 - 0.01):.1f} working nodes" in PAGE


def route_greedily(cube, s, t):
    """Go to the first working neighbour that is nearer to t; whether the message arrives."""
    while s != t:
        nearer = (s ^ 1 << d for d in reversed(range(cube.n)) if (s ^ t) >> d & 1)
        s = next((v for v in nearer if not cube.is_faulty(v)), None)
        if s is None:
            return False
    return True


def test_greedy_lookups_are_route1_over_shortest_paths():
    for f in (1, 2, 3, 5, 8):
        for seed in range(4):
            cube = fc.Hypercube(4, faulty_nodes=random.Random(seed).sample(range(16), f))
            working = [v for v in range(16) if not cube.is_faulty(v)]
            for s, t in combinations(working, 2):
                route = fc.route(cube, s, t, algorithm="ROUTE1", k=1)
                at_hamming = route.outcome == "delivered" and len(route.path) == 1 + (s ^ t).bit_count()
                assert at_hamming == route_greedily(cube, s, t), (f, seed, s, t)


def test_bcube_with_failed_servers_is_hyperx():
    """BCube(4, 1): a server has two digits of four values, and a switch for each of the other digit's values."""
    network = fc.network("hyperx-4", 4)
    for server in range(16):
        switches = {(0, server >> 2), (1, server & 3)}
        others = {u for u in range(16) if u != server and switches & {(0, u >> 2), (1, u & 3)}}
        assert {int(u) for u in network.neighbours(server)} == others


@pytest.mark.parametrize(("name", "smaller", "k"), [("hypercube", "hypercube", 1), ("hyperx-4", "hyperx-4", 2)])
def test_failed_boards_are_failed_nodes_of_a_smaller_network(name, smaller, k):
    """Aligned boards of 2^k nodes: as many connected sets as for n - k, n = 4."""
    found = []
    for f in range(2 ** (4 - k)):
        sets = 0
        for boards in combinations(range(2 ** (4 - k)), f):
            faulty = [v for v in range(16) if v >> k in boards]
            sets += fc.survival(fc.network(name, 4, faulty_nodes=faulty)).connected
        found.append(sets)
    assert found == fc.exact_survival(smaller, 4 - k).nodes and found[0] == 1 and sum(found) < 2**2 ** (4 - k)


def test_availability_is_reliability_at_the_fraction_of_downtime():
    """Each of four links of Q_2 is down for a fraction u of the time: connected with at most one link down."""
    u = Fraction(1, 5)
    connected = [Fraction(sets, comb(4, k)) for k, sets in enumerate(fc.exact_survival("hypercube", 2).links)]
    assert fc.reliability(connected, float(u)).value == pytest.approx(float((1 - u) ** 4 + 4 * u * (1 - u) ** 3))
