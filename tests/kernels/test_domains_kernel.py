"""The kernels of ``survival-domains``: against NetworkX, against ``survival``, and against all sets of 16 nodes."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import comb

import pytest
from helpers.documented import load_documented_sampler
from helpers.domains_trials import check_domains
from helpers.survival_trials import agrees, count_trials
from reference import domains

import fastcube as fc
from fastcube.kernels.survival import dispatch as survival
from fastcube.kernels.survival import replay
from fastcube.kernels.survival.layout import COMPARED_EVENTS

STUDY, SURVIVAL = fc.study("survival-domains"), fc.study("survival")
FAMILIES = fc.network_families()

#: Numbers of sets that leave the survivors connected, by all sets: network, domain, f, then K = 0, 1, 2, ...
CONNECTED = {
    ("hyperx-4", "switch", 0): (1, 8, 12, 8, 0, 0, 0, 0, 0),
    ("hyperx-4", "switch", 2): (120, 960, 1632, 576, 0, 0, 0, 0, 0),
    ("hyperx-4", "switch", 4): (1820, 14176, 24608, 8216, 356, 0, 0, 0, 0),
    ("hyperx-4", "switch", 9): (9664, 45888, 79152, 61952, 21696, 2688, 16, 0, 0),
    ("hypercube", "board-2", 0): (1, 8, 28, 48, 38, 24, 12, 8),
    ("hypercube", "board-2", 2): (120, 960, 3288, 5432, 4336, 2784, 1448, 952),
    ("hypercube", "board-2", 4): (1804, 13896, 42680, 63480, 54532, 37872, 23124, 13832),
    ("hypercube", "board-4", 0): (1, 4, 4, 4),
    ("hypercube", "board-4", 4): (1804, 6812, 6900, 6748),
}


def at(network, n, f, domain, many):
    return {"network": network, "n": n, "f": f, "domain": domain, "domains": many}


def count_survival(name, n, f, **others):
    """The counts of ``survival`` by its scalar kernel."""
    return count_trials(survival.SURVIVAL.load_kernel("scalar.SURVIVAL_SINGLE"), name, n, f, **others)


def points(name, most):
    """Points of a network: few and most domains, few and most single failures, all sizes up to ``most``."""
    kinds = ["switch"] * name.startswith("hyperx") + ["board-2", "board-4", "board-8"]
    for n in (n for n in range(1, most + 1) if FAMILIES[name].sizes(n)):
        for domain in kinds:
            if domain != "switch" and 2**n < int(domain[-1]):
                continue
            many = len(domains.list_domains(domain, name, n))
            for i, k in enumerate(sorted({0, 1, many // 3, many // 2 + 1, many - 1, many})):
                f = (0, 1, 2**n // 8, 2**n // 4, 2**n // 2 + 1, 2**n - 1)[(i + n) % 6]
                yield at(name, n, f, domain, k)


@pytest.mark.parametrize("name", ["crossed", "augmented"])
def test_trials_of_small_networks_are_those_of_networkx(name):
    for point in points(name, 5):
        check_domains(point, 508, 8)


@pytest.mark.kernels
@pytest.mark.parametrize("name", FAMILIES)
def test_trials_of_every_network_are_those_of_networkx(name):
    for point in points(name, 8):
        check_domains(point, 1020, 6 if point["n"] < 7 else 3)


def test_failed_domains_are_those_of_the_documented_sampler():
    """Any number of domains, few and many failed, and more positions than are sampled in lanes."""
    page = load_documented_sampler()
    for many, counts in ((1, (0, 1)), (7, range(8)), (192, (1, 90, 100, 191)), (3000, (1400,)), (131072, (5,))):
        for count in counts:
            for t in (0, 515, 2**40 + 3):
                found = replay.sample_domains(9, t, many, count).tolist()
                assert found == page["failed_domains"](9, t, many, count), (many, count, t)


SWITCHES = pytest.param("hyperx-4", 4, "switch", marks=pytest.mark.kernels)


@pytest.mark.parametrize(("name", "n", "domain"), [("crossed", 5, "board-4"), ("folded", 9, "board-8"), SWITCHES])
def test_without_failed_domains_a_trial_is_that_of_survival(name, n, domain):
    """By the same key, bit for bit, and nothing differs from single failures."""
    for f in {0, 2**n // 3, 2**n // 2 + 1, 2**n - 2, 2**n}:
        point, there = at(name, n, f, domain, 0), {"network": name, "n": n, "f": f, "links": 0}
        key = STUDY.key(5, point)
        assert key == SURVIVAL.key(5, there)
        found, wanted = (
            STUDY.count(point, 150, 5, 450).counts,
            count_survival(name, n, f, first=450, trials=150, key=key),
        )
        assert found["pairs"] == wanted["pairs"]
        for event in COMPARED_EVENTS:
            assert found[event] == found[f"single_{event}"] == wanted[event], (f, event)
            assert found[f"{event}_differs"] == 0


def test_single_failures_of_boards_alone_are_survival_with_as_many():
    """Every trial has K 2^k of them, so the other side is ``survival`` at that f, by the key of f = 0."""
    for domain, many in (("board-2", 20), ("board-4", 3), ("board-8", 6)):
        point, nodes = at("crossed", 6, 0, domain, many), many * int(domain[-1])
        wanted = count_survival("crossed", 6, nodes, first=100, trials=600, key=STUDY.key(2, point))
        found = STUDY.count(point, 600, 2, 100).counts
        assert [found[f"single_{e}"] for e in COMPARED_EVENTS] == [wanted[e] for e in COMPARED_EVENTS]


def test_boards_alone_are_survival_of_the_quotient():
    """Trial by trial at n = 8, and as exact values, for networks whose steps respect the blocks."""
    for domain, many in (("board-2", 40), ("board-4", 30), ("board-8", 15)):
        point, size = at("hypercube", 8, 0, domain, many), int(domain[-1])
        key = STUDY.key(0, point)
        failed = [replay.sample_domains(key, t, 256 // size, many) for t in range(60)]
        wanted = sum(domains.quotient(8, size, boards.tolist()) for boards in failed)
        assert STUDY.count(point, 60).counts["connected"] == wanted
    for domain, smaller in (("board-2", 3), ("board-4", 2), ("board-8", 1)):
        for k, connected in enumerate(fc.exact_survival("hypercube", smaller).nodes):
            exact = STUDY.exact(at("hypercube", 4, 0, domain, k))
            assert exact["connected"] == Fraction(connected, comb(2**smaller, k))


@pytest.mark.parametrize(("name", "domain", "f"), CONNECTED)
def test_exact_values_are_the_counts_of_all_sets(name, domain, f):
    row = CONNECTED[name, domain, f]
    many = len(domains.list_domains(domain, name, 4))
    for k, connected in enumerate(row):
        exact = STUDY.exact(at(name, 4, f, domain, k))
        assert exact["connected"] == Fraction(connected, comb(16, f) * comb(many, k)) == 1 - exact["disconnected"]
        assert exact["connected_diff"] == exact["connected"] - exact["single_connected"]
        if k == 0 or domain == "switch":
            assert exact["single_connected"] == Fraction(fc.exact_survival(name, 4).nodes[f], comb(16, f))


@pytest.mark.parametrize(("name", "domain"), [("moebius1", "board-2"), ("hyperx-4", "switch")])
def test_exact_values_beside_networkx(name, domain):
    """All events, by all sets of two failed domains and one failed node."""
    listed, own = (
        domains.list_domains(domain, name, 3 if name == "moebius1" else 2),
        dict.fromkeys(COMPARED_EVENTS, Fraction(0)),
    )
    n, k = (3, 2) if name == "moebius1" else (2, 1)
    cases = list(itertools.product(itertools.combinations(listed, k), range(2**n)))
    for failed, v in cases:
        rows, nodes = (failed, {v}) if domain == "switch" else ((), {v}.union(*failed))
        alive = sorted(set(range(2**n)) - nodes)
        pairs = list(itertools.combinations(alive, 2))
        outcomes = [domains.evaluate(name, n, nodes, rows, pair) for pair in pairs]
        for event in ("connected", "no_isolated_node", "extra_1"):
            own[event] += getattr(outcomes[0], event)
        own["st_connected"] += Fraction(sum(bool(o.st_connected) for o in outcomes), len(pairs))
    exact = STUDY.exact(at(name, n, 1, domain, k))
    assert {event: exact[event] for event in own} == {event: total / len(cases) for event, total in own.items()}


@pytest.mark.kernels
@pytest.mark.parametrize(("name", "domain", "f"), CONNECTED)
def test_counts_beside_exact_values(name, domain, f):
    """At level 1e-6 on both sides."""
    trials = 200_000
    for k in range(len(CONNECTED[name, domain, f])):
        point = at(name, 4, f, domain, k)
        exact, found = STUDY.exact(point), STUDY.count(point, trials, seed=20240607).counts
        for event in ("connected", "no_isolated_node", "extra_1"):
            assert agrees(found[event], trials, exact[event]), (k, event)
        assert agrees(found["single_connected"], trials, exact["single_connected"]), k
        if exact["st_connected"] is not None:
            assert agrees(found["st_connected"], found["pairs"], exact["st_connected"]), k


@pytest.mark.kernels
def test_any_split_counts_the_same():
    point = at("augmented", 6, 12, "board-4", 5)
    whole = STUDY.count(point, 2000, 1, 100).counts
    parts = [STUDY.count(point, b - a, 1, a).counts for a, b in ((100, 101), (101, 512), (512, 1700), (1700, 2100))]
    assert whole == {name: sum(part[name] for part in parts) for name in whole}
