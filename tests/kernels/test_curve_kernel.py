"""The kernels of survival-curve: compared with NetworkX on the documented orders, exact counts, and ``survival``."""

from __future__ import annotations

from math import comb, sqrt

import pytest
from helpers.curve_trials import KEY, check_curve, count_curve, make_order
from helpers.survival_trials import FAMILIES, agrees
from scipy.special import ndtri

import fastcube as fc
from fastcube.kernels.survival import dispatch

CASES = [(name, n) for name, family in FAMILIES.items() for n in range(2, 5) if family.sizes(n)]


def test_one_network_at_every_number_of_failed_nodes():
    for n in (2, 3, 4, 5):
        check_curve("moebius1", "nodes", n, 1, 7, 3)


@pytest.mark.kernels
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("what", ["nodes", "links"])
def test_every_network_on_the_orders_of_networkx(name, what):
    for n in (n for n in range(2, 8) if FAMILIES[name].sizes(n)):
        check_curve(name, what, n, 1 if n < 6 else 13, 10**9, 4 if n < 6 else 1)


@pytest.mark.kernels
@pytest.mark.parametrize("what", ["nodes", "links"])
def test_every_number_of_failures_beside_all_fault_sets(what):
    """At level 1e-6, every network of up to 16 nodes whose fault sets are counted."""
    trials = 100_000
    for name, n in CASES:
        exact = fc.exact_survival(name, n)
        if what == "links" and FAMILIES[name].links(n) > 32:
            continue
        sets = exact.links if what == "links" else [*exact.nodes, 0]
        counts = count_curve(dispatch.CURVE.kernel(name, what, n, 0), name, what, n, range(len(sets)), trials)
        for f, (found, connected) in enumerate(zip(counts, sets, strict=True)):
            assert agrees(found["connected"], trials, connected / comb(len(sets) - 1, f)), (name, n, f)
            if what == "nodes" and f < 2**n:
                assert agrees(found["extra_1"], trials, exact.extra_1[f] / comb(2**n, f)), (name, n, f)


@pytest.mark.kernels
@pytest.mark.parametrize("name", ["hypercube", "augmented", "twisted"])
def test_every_number_of_failures_beside_all_sets_of_32_nodes(name):
    exact, trials = fc.exact_survival(name, 5), 500_000
    counts = count_curve(dispatch.CURVE.kernel(name, "nodes", 5, 0), name, "nodes", 5, range(32), trials)
    for f, found in enumerate(counts):
        assert agrees(found["connected"], trials, exact.nodes[f] / comb(32, f)), f
        assert agrees(found["extra_1"], trials, exact.extra_1[f] / comb(32, f)), f


@pytest.mark.kernels
@pytest.mark.parametrize("name", ["hypercube", "crossed", "torus-16"])
def test_the_curve_is_survival_at_each_number_of_failures(name):
    """Two samples at n = 8: no difference of two proportions is significant at level 1e-6."""
    study, trials = fc.study("survival"), 20_000
    failed = range(0, 257, 16)
    counts = count_curve(dispatch.CURVE.kernel(name, "nodes", 8, 0), name, "nodes", 8, failed, trials)
    for f, found in zip(failed, counts, strict=True):
        other = study.count({"network": name, "n": 8, "f": f, "links": 0}, trials).counts
        for mine, theirs in (
            ("connected", "connected"),
            ("no_isolated_node", "no_isolated_node"),
            ("extra_1", "extra_1"),
        ):
            p = (found[mine] + other[theirs]) / (2 * trials)
            error = sqrt(max(p * (1 - p), 1 / trials) * 2 / trials)
            assert abs(found[mine] - other[theirs]) / trials < -ndtri(5e-7) * error, (f, mine)


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("name", "what", "n"), [("hypercube", "nodes", 8), ("folded", "nodes", 7), ("crossed", "links", 6)]
)
def test_values_may_be_few_and_in_any_order(name, what, n):
    kernel, many = dispatch.CURVE.kernel(name, what, n, 0), len(make_order(name, what, n, 0))
    whole = count_curve(kernel, name, what, n, range(many + 1), 700)
    some = [many // 2, many, 0, many // 3, many - 1]
    assert count_curve(kernel, name, what, n, some, 700) == [whole[f] for f in some]
    assert count_curve(kernel, name, what, n, [many // 3], 700) == [whole[many // 3]]


@pytest.mark.kernels
def test_the_hypercube_has_two_kernels_that_count_the_same():
    one, other = (dispatch.CURVE.load_kernel(f"curve.CURVE_{name}") for name in ("HYPERCUBE", "NODES"))
    for n in range(2, 11):
        failed = range(0, 2**n + 1, max(1, 2 ** (n - 5)))
        assert count_curve(one, "hypercube", "nodes", n, failed, 200) == count_curve(
            other, "hypercube", "nodes", n, failed, 200
        )


@pytest.mark.kernels
def test_more_trials_than_a_field_of_events_holds():
    kernel = dispatch.CURVE.kernel("hypercube", "nodes", 2, 0)
    parts = [
        count_curve(kernel, "hypercube", "nodes", 2, range(5), *bounds) for bounds in ((65_535, 0), (70_000, 65_535))
    ]
    whole = count_curve(kernel, "hypercube", "nodes", 2, range(5), 135_535)
    for row, (a, b) in zip(whole, zip(*parts, strict=True), strict=True):
        assert row == {name: a[name] + b[name] for name in row}
    assert whole[0]["connected"] == 135_535


def test_replay_takes_the_order_of_the_recipe():
    study = fc.study("survival-curve")
    for name, what, n in (("moebius1", "nodes", 5), ("twisted", "links", 5), ("torus-8", "links", 6)):
        order = make_order(name, what, n, 9)
        point = study.point({"network": name, "failing": what, "n": n, "failed": 20})
        net = study.sample(point, KEY, 9).network
        if what == "nodes":
            assert sorted(net.faulty_nodes) == sorted(order[:20])
        else:
            assert set(net.faulty_links) == {tuple(sorted(link)) for link in order[:20]}
