"""The kernels of hitting: compared with NetworkX on the documented orders, and exact moments and lifetimes (N6)."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from helpers.compiled import mark_others_slow
from helpers.curve_trials import check_hitting, count_curve, lifetime
from helpers.survival_trials import FAMILIES, agrees
from reference import networks
from reference import survival as plain

import fastcube as fc
from fastcube.kernels.survival import dispatch
from fastcube.kernels.survival.layout import MOST_SINGLE_BINS, failures_per_bin
from fastcube.measure.estimate import quantile_ranks

STUDY = fc.study("hitting")


def estimate_of(name, what, n, trials, seed=0):
    point = STUDY.point({"network": name, "failing": what, "n": n})
    tally = STUDY.count(point, trials, seed)
    return tally.counts, {
        s.name: s.estimate(tally.counts, trials, point) for s in STUDY.statistics if hasattr(s, "estimate")
    }


@pytest.mark.kernels
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("what", ["nodes", "links"])
def test_every_network_on_the_orders_of_networkx(name, what):
    for n in (n for n in range(2, 7) if FAMILIES[name].sizes(n)):
        check_hitting(name, what, n, 10**9, 4 if n < 5 else 1)


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("name", "what", "n"), [("hypercube", "nodes", 7), ("moebius1", "nodes", 5), ("crossed", "links", 6)]
)
def test_the_moments_are_those_of_the_curve(name, what, n):
    """Trial by trial: the first number of failures at which the curve's trial is disconnected, and has an isolated node."""
    many = 2**n if what == "nodes" else FAMILIES[name].links(n)
    kernel = dispatch.CURVE.kernel(name, what, n, 0)
    for t in range(40):
        rows = count_curve(
            kernel, name, what, n, range(many + 1), 1, t, STUDY.key(3, {"network": name, "failing": what, "n": n})
        )
        disconnected_at = next((f for f, row in enumerate(rows) if row["disconnected"]), many)
        isolated_at = next(
            (f for f, row in enumerate(rows) if row["disconnected"] and not row["no_isolated_node"]), many
        )
        counts = STUDY.count({"network": name, "failing": what, "n": n}, 1, 3, t).counts
        assert (counts["disconnected_at"], counts["isolated_at"]) == (disconnected_at, isolated_at)


def exact_link_lifetime(name, n):
    """Connected link sets are closed under adding links, so P(not yet disconnected at f) is their share."""
    sets = fc.exact_survival(name, n).links
    many = len(sets) - 1
    return sum(Fraction(count, math.comb(many, f) * (many - f)) for f, count in enumerate(sets[:many]))


LIFETIMES = {
    ("hypercube", 3): 0.5536075,
    ("moebius1", 3): 0.5553030,
    ("hypercube", 4): 0.5863211,
    ("crossed", 4): 0.5871595,
    ("locally-twisted", 4): 0.5874176,
    ("moebius0", 4): 0.5874176,
    ("moebius1", 4): 0.5877443,
}


@pytest.mark.parametrize(("name", "n"), mark_others_slow(LIFETIMES, default=2))
def test_exact_lifetimes_are_what_the_reading_states(name, n):
    """The values at n = 4 are on a page too, where a default test compares them."""
    assert round(float(exact_link_lifetime(name, n)), 7) == LIFETIMES[name, n]


#: P(isolation_first) under link failures (N6).
SAME = {
    ("hypercube", 2): Fraction(2, 3),
    ("hypercube", 3): Fraction(59, 105),
    ("crossed", 3): Fraction(218, 385),
    ("hypercube", 4): Fraction(46823715278, 71628746475),
    ("moebius1", 4): Fraction(330762943366, 501401225325),
}


@pytest.mark.kernels
def test_links_beside_exact_values():
    trials = 300_000
    for (name, n), p in SAME.items():
        counts, found = estimate_of(name, "links", n, trials)
        assert agrees(counts["isolation_first"], trials, p), name
        assert (
            abs(found["lifetime"].value - float(exact_link_lifetime(name, n))) < 1e-7 + 4.9 * found["lifetime"].stderr
        )
        if name != "hypercube":
            wanted = float(exact_link_lifetime(name, n) - exact_link_lifetime("hypercube", n))
            assert abs(found["lifetime_diff"].value - wanted) < 4.9 * found["lifetime_diff"].stderr


def count_orders(name, n):
    """All orders of node failures: shares of same, extra_1_first and never, and the mean lifetime, by sums over fault sets."""
    near, nodes = networks.neighbours(networks.links(name, n), n), 2**n
    ways, same, first, life = {frozenset(): 1}, 0, 0, Fraction(0)
    for f in range(nodes):
        life += Fraction(sum(ways.values()) * math.factorial(nodes - f), nodes - f)
        after: dict[frozenset[int], int] = {}
        for faulty, count in ways.items():
            for v in set(range(nodes)) - faulty:
                after[faulty | {v}] = after.get(faulty | {v}, 0) + count
        ways = {}
        for faulty, count in after.items():
            alive = set(range(nodes)) - faulty
            if len(plain.parts(near, alive)) > 1:
                rest = count * math.factorial(nodes - f - 1)
                if any(not near[v] & alive for v in alive):
                    same += rest
                else:
                    first += rest
            else:
                ways[faulty] = count
    whole = math.factorial(nodes)
    return Fraction(same, whole), Fraction(first, whole), Fraction(whole - same - first, whole), life / whole


NODES = {
    ("hypercube", 2): (Fraction(1, 3), 0, Fraction(2, 3)),
    ("hypercube", 3): (Fraction(7, 10), Fraction(3, 35), Fraction(3, 14)),
    ("moebius1", 3): (Fraction(11, 15), Fraction(1, 35), Fraction(5, 21)),
}


@pytest.mark.kernels
def test_nodes_beside_all_orders():
    trials = 300_000
    for (name, n), stated in NODES.items():
        *proportions, life = count_orders(name, n)
        assert tuple(proportions) == stated
        counts, found = estimate_of(name, "nodes", n, trials)
        for what, p in zip(("isolation_first", "extra_1_first", "never_disconnected"), stated, strict=True):
            assert agrees(counts[what], trials, p), (name, what)
        assert abs(found["lifetime"].value - float(life)) < 4.9 * found["lifetime"].stderr
    assert round(float(count_orders("hypercube", 2)[-1]), 4) == 1.5833


@pytest.mark.parametrize(
    ("components", "width"),
    [(1, 1), (4096, 1), (4097, 2), (8192, 2), (8193, 2), (8194, 4), (27 * 2**13, 64)],
)
def test_bins_are_of_one_failure_up_to_4096_components(components, width):
    assert failures_per_bin(components) == width
    assert components // width <= MOST_SINGLE_BINS


@pytest.mark.parametrize(("n", "width"), [(6, 1), (13, 2)])
def test_quantiles_are_those_of_the_moments(n, width):
    """Compare with the trials one by one; at 8,192 nodes a bin has two failures."""
    point = STUDY.point({"network": "crossed", "failing": "nodes", "n": n})
    trials = 60
    single = [STUDY.count(point, 1, 3, t).counts for t in range(trials)]
    many = 2**n
    assert failures_per_bin(many) == width
    _, found = estimate_of("crossed", "nodes", n, trials, 3)
    for total, name in (("disconnected_at", "first_disconnection"), ("isolated_at", "first_isolation")):
        moments = sorted(counts[total] for counts in single)
        for percent, suffix in ((5, "q05"), (50, "median"), (95, "q95")):
            e, value = found[f"{name}_{suffix}"], moments[-(-percent * trials // 100) - 1]
            assert e.value == value - value % width
            low, high = quantile_ranks(trials, percent)
            assert e.low == (moments[low - 1] // width * width if low else 0)
            assert e.high == (min(many, moments[high - 1] // width * width + width - 1) if high <= trials else many)


@pytest.mark.kernels
def test_replay_of_survivors_that_stay_connected():
    point = STUDY.point({"network": "hypercube", "failing": "nodes", "n": 3})
    explained = (STUDY.explain(point, 5, t) for t in range(400))
    never = next(found for found in explained if found.data["disconnected_at"] is None)
    assert never.data["isolated_at"] is None and "None" not in never.text


@pytest.mark.kernels
def test_replay_and_differences():
    for name, what in (("moebius1", "nodes"), ("moebius1", "links"), ("hypercube", "nodes"), ("hypercube", "links")):
        point = STUDY.point({"network": name, "failing": what, "n": 4})
        counts = STUDY.count(point, 12, 5).counts
        data = [STUDY.explain(point, STUDY.key(5, point), t).data for t in range(12)]
        many = len(data[0]["order"])
        assert counts["disconnected_at"] == sum(
            many if d["disconnected_at"] is None else d["disconnected_at"] for d in data
        )
        assert all(d["disconnected_at"] is None or len(d["components"]) > 1 for d in data)
        assert sum(d["lifetime"] for d in data) == pytest.approx(
            sum(lifetime(d["disconnected_at"], many) for d in data)
        )
    diff = STUDY.statistic("lifetime_diff")
    defined = {
        (name, what): diff.defined(
            {"network": name, "failing": what, "n": next(filter(FAMILIES[name].sizes, (8, 7, 9)))}
        )
        for name in FAMILIES
        for what in ("nodes", "links")
    }
    assert not defined["hypercube", "nodes"] and defined["folded", "nodes"] and not defined["folded", "links"]
    assert defined["crossed", "links"] and STUDY.target(None).name == "isolation_not_first"
    assert STUDY.key(1, {"network": "crossed", "failing": "links", "n": 4}) == fc.study("survival-curve").key(
        1, {"network": "hypercube", "failing": "links", "n": 4, "failed": 7}
    )
