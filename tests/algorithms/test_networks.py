"""The cube family: steps against exact tables and the reference implementation, users' networks, one network, exact counts."""

from __future__ import annotations

import functools
import itertools
import json
import random
from fractions import Fraction
from math import comb, nextafter
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from helpers.documented import load_documented_sampler
from reference import networks as twin
from reference import survival as plain

import fastcube as fc
from fastcube.kernels.machine.jit import block
from fastcube.networks.family import CubeNetwork

EXACT = json.loads((Path(__file__).resolve().parents[2] / "data" / "networks.json").read_text())["networks"]
CASES = [(name, int(n)) for name, sizes in EXACT.items() for n in sizes]
FAMILIES = fc.network_families()


def sizes(name, most):
    return [n for n in range(1, most + 1) if FAMILIES[name].sizes(n)]


@pytest.mark.kernels
@pytest.mark.parametrize(("name", "n"), CASES)
def test_exact_tables(name, n):
    """The reading's table decides: steps, links, diameter, and every fault set of nodes and links."""
    known, family = EXACT[name][str(n)], FAMILIES[name]
    assert family.table(n).tolist() == known["step"]
    assert [[family.step(v, d, n) for d in range(family.slots(n))] for v in range(2**n)] == known["step"]
    assert (family.slots(n), family.links(n)) == (known["slots"], known["links"])
    assert fc.diameter(fc.network(name, n)) == known["diameter"]
    exact = fc.exact_survival(name, n)
    assert exact.nodes == known["connected_by_faulty_nodes"]
    if "connected_by_faulty_links" in known and known["links"] <= 32:
        assert exact.links == known["connected_by_faulty_links"]
        assert exact.links[known["links"] - 2**n + 1] == known["spanning_trees"]


@pytest.mark.parametrize("name", FAMILIES)
def test_steps_are_the_twins(name):
    family = FAMILIES[name]
    for n in sizes(name, 8):
        table = [[twin.step(name, v, d, n) for d in range(twin.slots(name, n))] for v in range(2**n)]
        assert family.table(n).tolist() == table
        assert family.degree(n) == max(len(set(row) - {v}) for v, row in enumerate(table))
        assert family.links(n) == len(twin.links(name, n))


@pytest.mark.parametrize("name", FAMILIES)
def test_matched_is_what_it_says_and_steps_are_the_same_in_wide_labels(name):
    family = FAMILIES[name]
    for n in sizes(name, 9):
        flips = family.slots(n) == n and all((v ^ family.step(v, d, n)) >> d & 1 for v in range(2**n) for d in range(n))
        assert (
            family.is_matched(n)
            == flips
            == load_documented_sampler()["is_matched"](n, family.slots(n), functools.partial(family.step, n=n))
        )
    assert family.is_matched(max(n for n in range(50, 63) if family.sizes(n))) == family.flips_bits
    rng = random.Random(5)
    for n in (n for n in range(50, 63) if family.sizes(n)):
        for v, d in [(rng.randrange(2**n), rng.randrange(family.slots(n))) for _ in range(50)]:
            w = family.step(v, d, n)
            assert w == twin.step(name, v, d, n)
            assert family.step(w, d, n) == v


def diameters(n):
    ceil = [(n + i) // 2 for i in range(5)]  # ceil((n + i - 1) / 2)
    k = n // 2
    return {
        "hypercube": n,
        "folded": ceil[1],
        "enhanced-2": ceil[2],
        "crossed": ceil[2],
        "moebius1": ceil[2],
        "augmented": ceil[1],
        "twisted": ceil[1],
        "exchanged": n + 1,
        "torus-8": n // 3 * 4,
        "torus-16": n // 4 * 8,
        "hyperx-4": n // 2,
        "hyperx-8": n // 3,
        "balanced": 2 * k if k == 1 or k % 2 == 0 else 2 * k - 1,
        "moebius0": ceil[3] if n >= 4 else None,
        "locally-twisted": ceil[4] if n >= 5 else None,
    }


@pytest.mark.kernels
@pytest.mark.parametrize("name", FAMILIES)
def test_published_diameters(name):
    for n in (n for n in sizes(name, 9) if n >= 2):
        wanted = diameters(n)[name]
        if wanted is not None:
            assert fc.diameter(fc.network(name, n)) == wanted, n


@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_dual_cube_is_the_exchanged_hypercube(m):
    def graph(network):
        return network.to_networkx()

    assert nx.is_isomorphic(graph(fc.DualCube(m)), graph(fc.network("exchanged", 2 * m + 1)))


# ---------------------------------------------------------------- one instance


def test_networks_like_hypercubes():
    net = fc.network("moebius1", 4, [1, 2, 2], [(15, 0), (0, 15)])
    assert isinstance(net, CubeNetwork)
    assert (net.n, net.degree, net.step(0, 3), net.neighbours(0)) == (4, 4, 15, (1, 2, 4, 15))
    assert net.is_link(0, 15) and not net.is_link(0, 8) and net.is_faulty_link(0, 15) and net.faulty_nodes == {1, 2}
    assert repr(net) == "network('moebius1', 4, faulty_nodes=[0b0001, 0b0010], faulty_links=[(0b0000, 0b1111)])"
    assert net == eval(repr(net), {"network": fc.network}) and hash(net) == hash(
        fc.network("moebius1", 4, [1, 2], [(0, 15)])
    )
    assert net != fc.network("moebius0", 4, [1, 2]) and fc.network("hypercube", 3, [1]) == fc.Hypercube(3, [1])
    assert fc.network("exchanged", 3).neighbours(0) == (1, 4)
    assert fc.network("moebius1", 40, fc.random_faults(0.3)).neighbours(0)[-1] == 2**40 - 1


#: Cubes with a matching in each dimension and without, with a diameter of half as many links, and with a parameter.
DEFAULT = {"hypercube", "crossed", "folded", "moebius1"}


@pytest.mark.parametrize("far", [False, pytest.param(True, marks=pytest.mark.kernels)], ids=["near", "far"])
@pytest.mark.parametrize("name", [n if n in DEFAULT else pytest.param(n, marks=pytest.mark.kernels) for n in FAMILIES])
def test_survives_and_distances_beside_the_twin(name, far):
    """Compiling the search for the farthest nodes takes long, so it has a marker."""
    rng = random.Random(name)
    for n in sizes(name, 7)[-2:]:
        whole = twin.links(name, n)
        for _ in range(5):
            faulty = rng.sample(range(2**n), rng.randrange(2**n + 1))
            dead = rng.sample(sorted(map(tuple, map(sorted, whole))), rng.choice([0, 0, 5, len(whole) // 3]))
            net = fc.network(name, n, faulty, dead)
            near = twin.neighbours(whole - {frozenset(link) for link in dead}, n)
            alive = set(range(2**n)) - set(faulty)
            parts = plain.parts(near, alive)
            found = fc.survival(net)
            assert found.components == sorted(map(len, parts), reverse=True)
            assert (found.connected, found.largest) == (len(parts) == 1, max(map(len, parts), default=0))
            assert found.isolated == sum(not near[v] & alive for v in alive)
            reached = {v: twin.distances(near, alive, v) for v in alive}
            whole_far = {v: max(reached[v].values()) if len(reached[v]) == len(alive) else None for v in alive}
            assert not far or fc.diameter(net) == (None if len(parts) != 1 else max(whole_far.values()))
            for v in rng.sample(sorted(alive), min(3, len(alive))):
                assert not far or fc.eccentricity(net, v) == whole_far[v]
                t = rng.choice(sorted(alive))
                assert fc.distance(net, v, t) == reached[v].get(t)
                intact = twin.distances(twin.neighbours(whole, n), set(range(2**n)), v)
                assert net.intact_distance(v, t) == intact[t]
            assert set(map(frozenset, net.to_networkx().edges)) == {
                link for link in whole - {frozenset(link) for link in dead} if link <= alive
            }


@pytest.mark.kernels
def test_survival_of_a_dual_cube():
    rng = random.Random(3)
    for m in (1, 2, 3):
        for _ in range(20):
            dual = fc.DualCube(m, rng.sample(range(2 ** (2 * m + 1)), rng.randrange(2 ** (2 * m + 1))))
            graph = dual.to_networkx()
            assert fc.survival(dual).components == sorted(map(len, nx.connected_components(graph)), reverse=True)
            assert fc.diameter(dual) == (nx.diameter(graph) if nx.is_connected(graph) else None)


@pytest.mark.kernels
def test_survival_of_few():
    assert fc.survival(fc.Hypercube(2, range(4))) == fc.survival(fc.network("folded", 2, range(4)))
    none = fc.survival(fc.Hypercube(2, range(4)))
    assert (none.connected, none.isolated, none.components, none.largest) == (False, 0, [], 0)
    one = fc.survival(fc.network("crossed", 3, range(7)))
    assert (one.connected, one.isolated, one.components) == (True, 1, [1])
    assert fc.diameter(fc.Hypercube(2, range(4))) is None
    assert fc.diameter(fc.Hypercube(2, range(3))) == 0 == fc.eccentricity(fc.Hypercube(2, range(3)), 3)
    assert fc.survival(fc.network("augmented", 20, fc.random_faults(0.5, 1))).largest > 500_000


# ---------------------------------------------------------------- exact counts


@pytest.mark.kernels
def test_what_the_reading_states_of_small_networks():
    order = ("hypercube", "crossed", "locally-twisted", "moebius0", "moebius1")
    links = {name: fc.exact_survival(name, 4).links for name in order}
    for k in range(8, 18):
        a, b, c, d, e = (counts[k] for counts in links.values())
        assert a < b < c == d < e  # C2
    assert len({tuple(counts[:8]) for counts in links.values()}) == 1
    cube, other = fc.exact_survival("hypercube", 4).nodes, fc.exact_survival("moebius1", 4).nodes
    assert (cube[6], other[6]) == (7136, 7120) and all(a <= b for a, b in zip(cube[7:], other[7:], strict=True))  # C3


@pytest.mark.kernels
@pytest.mark.parametrize(("name", "n"), [(name, n) for name, n in CASES if n >= 3])
def test_no_network_falls_apart_below_its_least_degree(name, n):
    least = min(len({*row} - {v}) for v, row in enumerate(EXACT[name][str(n)]["step"]))
    least -= (name, n) == ("augmented", 3)  # four faults do: the one exception that Choudum & Sunitha state
    counts = fc.exact_survival(name, n).nodes
    assert counts[:least] == [comb(2**n, f) for f in range(least)]


@pytest.mark.kernels
def test_moments_of_isolated_nodes():
    def moments(name, n, f):
        return [x * comb(2**n, f) for x in plain.isolated_moments(name, n, f)]

    assert moments("hypercube", 4, 6) == [880, 48] and moments("hypercube", 4, 8) == [5280, 1384]
    assert moments("moebius1", 4, 8) == [5280, 1024] and moments("exchanged", 4, 5) == [2816, 552]
    for name, n in [*((name, n) for name, n in CASES if n == 4), ("hypercube", 5), ("crossed", 5), ("exchanged", 5)]:
        for f in (3, 6, 8, 2**n - 1, 2**n):
            first, second = plain.isolated_moments(name, n, f)
            found = fc.isolated_node_bounds(name, n, f=f)
            wanted = (first, max(first - second, 0), min(first - 2 * second / 2**n, 1))
            assert found.exact == wanted, (name, n, f)
            assert found.mean == float(first)
            assert (
                found.low <= wanted[1] <= nextafter(found.low, 1)
                and nextafter(found.high, 0) <= wanted[2] <= found.high
            )


@pytest.mark.kernels
@pytest.mark.parametrize("name", ["hypercube", "crossed", "exchanged"])
def test_isolated_by_rate_and_by_links_are_sums_over_all_sets(name):
    n, joined = 3, sorted(map(tuple, map(sorted, twin.links(name, 3))))
    links = len(joined)
    for k in (3, 5, 7):
        mean = some = 0
        for dead in itertools.combinations(joined, k):
            met = {v for link in set(joined) - set(dead) for v in link}
            mean += 8 - len(met)
            some += len(met) < 8
        found = fc.isolated_node_bounds(name, n, links=k)
        assert found.exact.mean == Fraction(mean, comb(links, k))
        assert found.exact.low <= Fraction(some, comb(links, k)) <= found.exact.high
    p = Fraction(1, 4)
    mean = sum(
        comb(8, f) * p**f * (1 - p) ** (8 - f) * fc.isolated_node_bounds(name, n, f=f).exact.mean for f in range(9)
    )
    assert fc.isolated_node_bounds(name, n, rate=float(p)).exact.mean == mean


def _all_sets(name, n, f, links):
    """Total, and total of C(X, 2), of the number X of isolated nodes over all fault sets, and how many sets have X > 0."""
    joined = sorted(map(tuple, map(sorted, twin.links(name, n))))
    counts = []
    for nodes in itertools.combinations(range(2**n), f):
        for cut in itertools.combinations(joined, links):
            met = {v for u, w in set(joined) - set(cut) if u not in nodes and w not in nodes for v in (u, w)}
            counts.append(2**n - f - len(met))
    return sum(counts), sum(comb(x, 2) for x in counts), sum(x > 0 for x in counts), len(counts)


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("name", "n"),
    [("hypercube", 1), ("hypercube", 2), ("hypercube", 3), ("moebius1", 3), ("exchanged", 3), ("hyperx-4", 2)],
)
def test_isolated_under_faulty_nodes_and_links_together(name, n):
    for f, links in itertools.product((0, 1, 2, 3), (0, 1, 3)):
        if f <= 2**n and links <= n * 2 ** (n - 1):
            total, pairs, some, sets = _all_sets(name, n, f, links)
            found = fc.isolated_node_bounds(name, n, f=f, links=links)
            low, high = Fraction(total - pairs, sets), Fraction(total, sets) - 2 * Fraction(pairs, sets) / 2**n
            assert found.exact == (Fraction(total, sets), max(low, 0), min(high, 1)), (f, links)
            assert found.exact.low <= Fraction(some, sets) <= found.exact.high


def test_isolated_by_hand():
    assert round(fc.isolated_node_bounds("hypercube", 5, f=6, links=5).mean, 5) == 0.00809
    assert fc.isolated_node_bounds("hypercube", 12, f=40, links=25).mean == pytest.approx(2.284e-21, rel=1e-3)


def test_isolated_in_the_largest_cubes():
    assert fc.isolated_node_bounds("hypercube", 62, f=200).exact.mean > 0
    assert (
        0
        < fc.isolated_node_bounds("moebius1", 60, links=10**18).exact.low
        <= fc.isolated_node_bounds("moebius1", 60, links=10**18).exact.high
    )
    assert fc.isolated_node_bounds("hypercube", 30, rate=0.5).exact.mean == Fraction(1, 2)


# ---------------------------------------------------------------- the shape of what is left


def first_count(counts):
    return next(f for f, count in enumerate(counts) if count)


def test_extra_connectivity_is_what_papers_prove():
    """The least f of a 1-extra set: 2n - 2, folded 2n, augmented 4n - 8, balanced 4k - 4 for n = 2k."""
    proved = dict.fromkeys(("hypercube", "crossed", "locally-twisted", "moebius0", "moebius1"), 6)
    proved |= {"folded": 8, "augmented": 8, "balanced": 4}
    assert {name: first_count(fc.exact_survival(name, 4).extra_1) for name in proved} == proved
    assert first_count(fc.exact_survival("hypercube", 3).extra_1) == 4


@pytest.mark.parametrize("name", ["hypercube", "exchanged", "augmented"])
def test_shapes_are_those_of_all_sets(name):
    exact, near = fc.exact_survival(name, 3), twin.neighbours(twin.links(name, 3), 3)
    for f in range(8):
        sizes = [
            [len(part) for part in plain.parts(near, set(range(8)) - set(faulty))]
            for faulty in itertools.combinations(range(8), f)
        ]
        for g, counts in ((1, exact.extra_1), (2, exact.extra_2), (3, exact.extra_3)):
            assert counts[f] == sum(len(s) > 1 and min(s) > g for s in sizes)
        for r, counts in ((3, exact.at_least_3_components), (4, exact.at_least_4_components)):
            assert counts[f] == sum(len(s) >= r for s in sizes)


def test_component_edge_connectivity():
    """Fewest links whose loss leaves r = 2, 3, 4 components of Q_3: n, 2n - 1, 3n - 2; of the folded cube 4, 7."""
    for name, proved in (("hypercube", [3, 5, 7]), ("folded", [4, 7])):
        joined = sorted(map(tuple, map(sorted, twin.links(name, 3))))
        found = {}
        for k in range(proved[-1] + 1):
            for dead in itertools.combinations(joined, k):
                near = twin.neighbours(set(map(frozenset, joined)) - set(map(frozenset, dead)), 3)
                if min(map(len, near)) < 2 and len(parts := plain.parts(near, set(range(8)))) > 1:
                    found.setdefault(len(parts), k)
        assert [min(k for r, k in found.items() if r >= least) for least in range(2, len(proved) + 2)] == proved


@pytest.mark.parametrize("name", FAMILIES)
def test_edge_connectivity_is_the_least_degree(name):
    for n in (n for n in range(2, 7) if FAMILIES[name].sizes(n)):
        net = fc.network(name, n).to_networkx()
        assert nx.edge_connectivity(net) == min(degree for _, degree in net.degree)
        assert name == "exchanged" or nx.edge_connectivity(net) == FAMILIES[name].degree(n)


EXACT_5 = json.loads((Path(__file__).resolve().parents[2] / "data" / "exact-survival.json").read_text())["networks"]


def test_every_network_of_32_nodes_has_its_exact_row():
    assert list(EXACT_5) == [name for name, family in FAMILIES.items() if family.sizes(5)]
    q = fc.exact_survival("hypercube", 5)
    assert sum(q.nodes) == 2524817935 and q.nodes[:6] == [1, 32, 496, 4960, 35960, 201344]  # OEIS A369605
    assert first_count(q.extra_1) == 8 and q.extra_1[8] == 80
    for name, row in EXACT_5.items():
        degree = min(len(set(line) - {v}) for v, line in enumerate(FAMILIES[name].table(5).tolist()))
        for f, (connected, extra) in enumerate(zip(row["nodes"], row["extra_1"], strict=True)):
            assert connected + extra <= comb(32, f)
            assert f >= degree or connected == comb(32, f)
        assert row["nodes"][31] == 32 and row["nodes"][30] == FAMILIES[name].links(5)


def test_the_hypercube_and_moebius1_cross_where_the_page_says():
    for n, crossing in ((4, 0.1029), (5, 0.3542)):
        rows = [fc.exact_survival(name, n).nodes for name in ("hypercube", "moebius1")]
        signs = [
            plain.probability(rows[0], 2**n, p) > plain.probability(rows[1], 2**n, p)
            for p in (Fraction(str(crossing)) - Fraction(1, 10**4), Fraction(str(crossing)) + Fraction(1, 10**4))
        ]
        assert signs == [True, False]


@pytest.mark.slow
def test_a_row_of_32_nodes_counted_again():
    from fastcube.exact.survival import count_all_node_sets

    assert count_all_node_sets(FAMILIES["moebius1"]) == [EXACT_5["moebius1"]["nodes"], EXACT_5["moebius1"]["extra_1"]]


def test_sets_counted_by_the_kernel_are_those_of_a_plain_search():
    from fastcube.kernels.survival.all_sets import count_node_sets

    near = twin.neighbours(twin.links("exchanged", 5), 5)
    group, found = 0b1011_0110_0101_1101_0011_011, np.zeros((2, 33), int)
    for low in range(512):
        alive = {v for v in range(32) if (group << 9 | low) >> v & 1}
        parts = plain.parts(near, alive)
        found[0, 32 - len(alive)] += len(parts) == 1
        found[1, 32 - len(alive)] += len(parts) > 1 and min(map(len, parts)) > 1
    assert count_node_sets(FAMILIES["exchanged"].table(5), group, group + 1).tolist() == found.tolist()


@pytest.mark.parametrize(("name", "bits"), [("hypercube", 1), ("torus-8", 3), ("hyperx-4", 2), ("hyperx-8", 3)])
def test_a_fault_of_boards_is_a_fault_of_the_quotient(name, bits):
    """Without whole boards of 2^bits nodes, the lowest digit, a network is connected exactly if the network of n - bits is."""
    n, rng = 6, random.Random(1)
    for _ in range(30):
        boards = rng.sample(range(2 ** (n - bits)), rng.randrange(2 ** (n - bits)))
        nodes = [board << bits | v for board in boards for v in range(2**bits)]
        whole, quotient = fc.network(name, n, nodes), fc.network(name, n - bits, boards)
        assert fc.survival(whole).connected == fc.survival(quotient).connected


def weigh_numbers(many, p):
    """The probabilities of 0 .. many faults at rate p, as fractions."""
    return [comb(many, k) * p**k * (1 - p) ** (many - k) for k in range(many + 1)]


@pytest.mark.parametrize("name", ["hypercube", "crossed", "folded", "exchanged"])
def test_bounds_at_link_rates_are_those_at_numbers_of_links_weighed(name):
    """E X and E X - E C(X, 2) at a rate are means of those at each number of faults, with the binomial weights."""
    p, n = Fraction(1, 8), 3
    weights = weigh_numbers(FAMILIES[name].links(n), p)
    cases = [{}] if name == "exchanged" else [{}, {"f": 2}, {"rate": 0.25}]
    for nodes in cases:
        found = fc.isolated_node_bounds(name, n, link_rate="12.5%", **nodes).exact
        parts = [fc.isolated_node_bounds(name, n, links=k, **nodes).exact for k in range(len(weights))]
        assert found.mean == sum(w * part.mean for w, part in zip(weights, parts, strict=True))
    if name != "exchanged":
        found = fc.isolated_node_bounds(name, n, rate=0.125, links=2).exact.mean
        parts = [fc.isolated_node_bounds(name, n, f=f, links=2).exact.mean for f in range(9)]
        assert found == sum(w * part for w, part in zip(weigh_numbers(8, p), parts, strict=True))


def test_proved_limits_are_rounded_outwards():
    """So an event that is possible never has the upper limit 0."""
    tiny = fc.isolated_node_bounds("hypercube", 40, f=50)
    assert 0 < tiny.exact.high < Fraction(5e-324) == Fraction(tiny.high) and tiny.low == 0
    assert fc.isolated_node_bounds("hypercube", 40, f=39).high == 0
    for case in ({"f": 40}, {"links": 102}, {"rate": 0.1}, {"link_rate": "2%"}):
        ours, cube = (fc.isolated_node_bounds(name, 10, **case) for name in ("folded", "hypercube"))
        for some in (ours, cube):
            assert Fraction(some.low) <= some.exact.low <= some.exact.high <= Fraction(some.high)
        low, high = ours.minus(cube)
        assert Fraction(low) <= ours.exact.low - cube.exact.high <= ours.exact.high - cube.exact.low <= Fraction(high)
        assert (low, high) == pytest.approx((ours.low - cube.high, ours.high - cube.low), rel=1e-9)


# ---------------------------------------------------------------- a network of one's own, and bad input


def ring(v, d, n):
    """A cycle through all nodes: odd nodes up by slot 1, down by slot 0."""
    return (v + (1 if v % 2 == d else -1)) % 2**n


@pytest.mark.kernels
def test_a_family_of_ones_own():
    mine = fc.custom_network("ring", "a cycle", step=ring, slots=lambda n: 2, sizes=lambda n: n >= 2)
    assert not mine.is_matched(5) and mine.degree(5) == 2 and mine.links(5) == 32
    net = fc.network(mine, 6, [0, 32])
    assert fc.survival(net).components == [31, 31] and fc.diameter(fc.network(mine, 6)) == 32
    assert fc.network(mine, 12).neighbours(0) == (1, 4095)
    assert fc.exact_survival(mine, 4).nodes == EXACT["torus-16"]["4"]["connected_by_faulty_nodes"]
    again = fc.custom_network("cross", "crossed again", step=block(lambda v, d, n: twisted(v, d)), slots=lambda n: n)
    assert again.is_matched(7) and fc.diameter(fc.network(again, 7)) == fc.diameter(fc.network("crossed", 7))


@block
def twisted(v, d):
    return v ^ (1 << d) ^ ((v & 0x5555555555555555 & ((1 << (d & ~1)) - 1)) << 1)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda v, d, n: (v + 1) % 2**n, "slot 0 leads from 00 to 01 and from there to 10"),
        (lambda v, d, n: v ^ (1 << d) ^ (v >> 1 & 1 if d == 2 else (v & 1) << d), "leads from"),
        (lambda v, d, n: v ^ 1, "slots 0 and 1 both join 00 and 01"),
        (lambda v, d, n: v ^ (1 << d) if d else v, "slot 0 joins no two nodes"),
        (lambda v, d, n: v + 2**d, "must be in"),
        (lambda v, d, n: 1.5, "step must be an integer in"),
    ],
)
def test_a_wrong_step_is_refused_with_two_nodes(step, message):
    with pytest.raises(fc.ParameterError, match=message):
        fc.custom_network("mine", "a", step=step, slots=lambda n: n)


@pytest.mark.kernels
def test_a_step_that_goes_wrong_above_what_was_checked():
    late = fc.custom_network("late", "a", step=lambda v, d, n: v ^ (1 << d) if n < 12 else v + 1, slots=lambda n: n)
    assert fc.survival(fc.network(late, 11)).connected
    with pytest.raises(fc.ParameterError, match="at n=12 slot 0 leads from 0 to 1 and from there to 2"):
        fc.network(late, 12)


def hashed(v, d, n):
    """A twist by a hash of the higher bits, whose product wraps at 64 bits when it is compiled."""
    return v ^ ((2 << d) - 1) if ((v >> (d + 1)) * 0x1E3779B97F4A7C15) % 3 == 1 else v ^ (1 << d)


compiled_hash = block(hashed)

#: Replaced by a test; the compiler reads a global as a constant.
CALLS = [0]


def counting(v, d, n):
    """A step that no compiler takes: it changes a global list of another type."""
    CALLS.append({})
    return v ^ 1 << d


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (
            hashed,
            r"step of mine must be the same when it is compiled, .* at n=\d+ slot \d of [01]+ leads to [01]+ in Python",
        ),
        (lambda v, d, n: v ^ (1 << d) ^ ((2**d) ** (8 * n) % 3 == 0), "the same when it is compiled"),
        (counting, "step of mine failed: TypingError"),
    ],
    ids=["wraps", "power", "fails"],
)
def test_a_step_that_compiles_to_another_network_is_one_line(step, message):
    with pytest.raises(fc.FastcubeError, match=message) as caught:
        fc.custom_network("mine", "a", step=step, slots=lambda n: n)
    assert "\n" not in str(caught.value)


def test_an_own_networks_neighbours_are_those_of_its_table():
    """Also above the sizes at which Python and compiled code are compared."""
    late = fc.custom_network(
        "late", "a", step=lambda v, d, n: v ^ (1 << d) if n < 11 else compiled_hash(v, d, n), slots=lambda n: n
    )
    net, table = fc.network(late, 11), late.table(11)
    assert all(net.neighbours(v) == tuple(w for w in table[v].tolist() if w != v) for v in range(2**11))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fc.network("crosed", 4), "network must be one of .*, got crosed; did you mean crossed?"),
        (lambda: fc.network("twisted", 4), "n must be one of 1, 3, 5, 7, ... for twisted, got 4"),
        (lambda: fc.network("crossed", 63), r"n must be in \[1, 62\] for crossed, got 63"),
        (lambda: fc.network("crossed", 3, [8]), r"faulty_nodes must be in \[0, 7\] for crossed at n=3, got 8"),
        (lambda: fc.network("crossed", 3, (), [(1, 5)]), r"got \(1, 5\)"),
        (lambda: fc.survival(fc.Hypercube(21)), r"bits of a label must be in \[1, 20\] to hold all nodes, got 21"),
        (lambda: fc.diameter(fc.network("crossed", 15)), r"bits of a label must be in \[1, 14\]"),
        (lambda: fc.eccentricity(fc.Hypercube(3, [1]), 1), "v must be a nonfaulty node, got 1"),
        (lambda: fc.distance(fc.network("crossed", 3, [1]), 0, 1), "t must be a nonfaulty node"),
        (lambda: fc.survival("crossed"), "network must be a network, got 'crossed'"),
        (lambda: fc.exact_survival("crossed", 6), r"n must be in \[1, 5\]"),
        (lambda: fc.exact_survival("crossed", 5).extra_2, r"n must be in \[1, 4\] for extra_2, got 5"),
        (lambda: fc.exact_survival("augmented", 4).links, "links of augmented at n=4 must be at most 32"),
        (lambda: fc.isolated_node_bounds("folded", 4, links=41), r"links must be in \[0, 40\] for folded at n=4"),
        (lambda: fc.isolated_node_bounds("exchanged", 18, links=3), r"n must be in \[1, 16\]"),
        (lambda: fc.isolated_node_bounds("crossed", 17, f=3), r"n must be in \[1, 16\]"),
        (
            lambda: fc.isolated_node_bounds("crossed", 4),
            "one of f and rate, or one of links and link_rate, or one of each must be given, got none",
        ),
        (
            lambda: fc.isolated_node_bounds("crossed", 4, rate=0.5, f=3, link_rate=0.1),
            "or one of each must be given, got f=3, rate=0.5, link_rate=0.1",
        ),
        (
            lambda: fc.isolated_node_bounds("crossed", 4, links=3, link_rate=0.1),
            "or one of each must be given, got links=3, link_rate=0.1",
        ),
        (lambda: fc.isolated_node_bounds("crossed", 4, f=17), r"f must be in \[0, 16\]"),
        (lambda: fc.isolated_node_bounds("crossed", 4, rate=1.5), r"rate must be a number in \[0, 1\]"),
        (
            lambda: fc.isolated_node_bounds("crossed", 4, link_rate="2"),
            r"link_rate must be a number in \[0, 1\], got '2'",
        ),
        (
            lambda: fc.custom_network("crossed", "a", step=ring, slots=lambda n: n),
            "name must not be a built-in network's",
        ),
        (lambda: fc.custom_network("My net", "a", step=ring, slots=lambda n: n), "name must be of a-z"),
        (
            lambda: fc.custom_network("a", "a", step=ring, slots=lambda n: 2, sizes=lambda n: n > 10),
            "sizes of a must hold",
        ),
        (lambda: fc.custom_network("a", "a", step=None, slots=lambda n: 2), "step of a must be a function"),
        (lambda: fc.network("crossed", 4).step(0, 4), r"d must be in \[0, 3\] for crossed at n=4, got 4"),
    ],
)
def test_bad_input_is_one_line(call, message):
    with pytest.raises(fc.ParameterError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_shared_neighbours_at_the_largest_size():
    """The pairs are counted once each."""
    from fastcube.kernels.cube.tables import count_shared_neighbours

    for name, n in (("crossed", 9), ("augmented", 8), ("exchanged", 9)):
        table = FAMILIES[name].table(n)
        assert count_shared_neighbours(table).sum() == 2**n * (2**n - 1) // 2 - FAMILIES[name].links(n)
    counts = count_shared_neighbours(FAMILIES["hypercube"].table(6))
    assert np.array_equal(counts[[10, 12]], [64 * 15 // 2, 64 * 63 // 2 - 64 * 3 - 480])
