"""The claims about unsafe nodes: each verdict, and each counterexample replayed with the plain twin."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable

import numba
import pytest
from audit_helpers.decided import decide_claims
from reference import unsafe as twin

import fastcube as fc
from fastcube.exact.unsafe import exact_unsafe
from fastcube_audit import registries
from fastcube_audit.claims import Verdict
from fastcube_audit.papers.lee_hayes import rounds, unsafe
from fastcube_audit.papers.lee_hayes.closed_sets import closed_sets

OUTCOMES = {
    "theorem-3-printed": "misprint",
    "theorem-3": "holds",
    "theorem-3-links": "holds",
    "active-neighbour": "holds",
    "one-bad-neighbour": "holds",
    "least-faults": "holds",
    "half-faults": "holds",
    "half-faults-links": "refuted",
    "fifteen-percent": "holds",
    "fifteen-percent-always": "refuted",
    "rounds-bound": "refuted",
    "rounds-enough": "refuted",
    "rounds-tight-even": "refuted",
    "rounds-not-tight-odd": "depends",
    "rounds-recursion": "holds",
    "n-cubed": "holds",
    "figure-3": "holds",
    "figure-12": "holds",
}


#: The claims that take longest, one per theorem or printed number; they run with the slow tests.
COUNTED = {"theorem-3-links", "fifteen-percent"}


def some(names: Iterable[str], quick: bool = True) -> dict[str, Verdict]:
    if numba.config.DISABLE_JIT:
        pytest.skip("all fault sets of Q_5 take hours without compiled code")
    return decide_claims((claim for claim in registries.claims("lee_hayes") if claim.id in names), quick)


@pytest.fixture(scope="module")
def verdicts() -> dict[str, Verdict]:
    return some(OUTCOMES.keys() - COUNTED)


def test_every_claim_is_decided_as_known(verdicts):
    assert {name: verdict.outcome for name, verdict in verdicts.items()} == {name: OUTCOMES[name] for name in verdicts}


@pytest.mark.slow
def test_what_is_counted_for_longest_is_decided_as_known():
    assert {name: v.outcome for name, v in some(COUNTED).items()} == {name: OUTCOMES[name] for name in COUNTED}


@pytest.mark.slow
def test_full_effort_says_the_same_of_more(verdicts):
    full = some(OUTCOMES, quick=False)
    assert {name: verdict.outcome for name, verdict in full.items()} == OUTCOMES
    for name in ("theorem-3", "half-faults", "rounds-bound"):
        assert full[name].checked != verdicts[name].checked


def test_every_counterexample_replays_and_is_json(verdicts):
    for verdict in verdicts.values():
        if verdict.counterexample is not None:
            assert verdict.counterexample.is_reproduced()
            assert json.loads(json.dumps(verdict.counterexample.value)) == verdict.counterexample.value


def faults(verdict: Verdict) -> tuple[int, list[int], list[list[int]]]:
    assert verdict.counterexample is not None
    data = verdict.counterexample.data
    return data["n"], data["faulty_nodes"], data["faulty_links"]


# ---------------------------------------------------------------- refutations, by the plain twin


def test_theorem_3_as_printed_fails_for_one_fault(verdicts):
    n, nodes, _ = faults(verdicts["theorem-3-printed"])
    assert (n, nodes) == (1, [0])
    assert twin.maximal_subcubes(n, set(nodes) | twin.find_unsafe(n, nodes).keys()) == {(0, 0)}


def test_half_as_many_link_faults_can_make_a_cube_unsafe(verdicts):
    n, nodes, links = faults(verdicts["half-faults-links"])
    assert len(links) <= -(-n // 2)
    assert twin.is_unsafe(n, nodes, links)
    second = verdicts["half-faults-links"].more[0].data
    assert len(second["faulty_links"]) == 2 <= -(-second["n"] // 2)
    assert twin.is_unsafe(second["n"], (), second["faulty_links"])


def test_fifteen_percent_fails_for_single_fault_sets(verdicts):
    n, nodes, _ = faults(verdicts["fifteen-percent-always"])
    assert n == 6
    assert len(nodes) <= n // 2
    assert len(twin.find_unsafe(n, nodes)) == 13


def test_b6_is_no_bound(verdicts):
    n, nodes, _ = faults(verdicts["rounds-bound"])
    assert (n, twin.rounds(n, nodes), twin.paper_bound(n)) == (6, 12, 11)
    n, nodes, _ = faults(verdicts["rounds-enough"])
    late = twin.find_unsafe(n, nodes).keys() - twin.find_unsafe(n, nodes, steps=twin.paper_bound(n)).keys()
    assert sorted(late) == verdicts["rounds-enough"].counterexample.value != []
    n, nodes, _ = faults(verdicts["rounds-tight-even"])
    assert n % 2 == 0
    assert twin.rounds(n, nodes) > twin.paper_bound(n)


def test_b3_is_attained(verdicts):
    n, nodes, _ = faults(verdicts["rounds-not-tight-odd"])
    assert (n, twin.rounds(n, nodes), twin.paper_bound(n)) == (3, 3, 3)


@pytest.mark.parametrize("n", sorted(rounds.SLOW))
def test_slow_fault_sets_take_the_longest_there_is(n):
    assert rounds.paper_bound(n) == twin.paper_bound(n)
    assert fc.find_unsafe(fc.Hypercube(n, rounds.SLOW[n])).rounds == n * n // 3
    if n <= 8:
        assert twin.rounds(n, rounds.SLOW[n]) == n * n // 3
        assert twin.is_unsafe(n, rounds.SLOW[n])


# ---------------------------------------------------------------- what holds, looked at another way


def test_closed_sets_are_those_of_the_plain_twin():
    for n in (1, 2, 3):
        ends = set()
        for word in range(2**2**n):
            nodes = [v for v in range(2**n) if word >> v & 1]
            ends.add(sum(1 << v for v in {*nodes, *twin.find_unsafe(n, nodes)}))
        assert set(closed_sets(n)) == ends
    assert [len(closed_sets(n)) for n in range(6)] == [2, 4, 10, 32, 202, 4060]


def test_theorem_3_on_random_faults_of_larger_cubes():
    rng = random.Random(1)
    for _ in range(20):
        nodes = rng.sample(range(64), rng.randint(1, 5))
        links = [(x, x ^ 1 << rng.randrange(6)) for x in rng.sample(range(64), rng.randint(0, 2))]
        parts = twin.subcubes(nodes, links)
        closed = set(nodes) | twin.find_unsafe(6, nodes, links).keys()
        assert set().union(*(twin.nodes(6, part) for part in parts)) == closed
        assert all(twin.distance(a, b) >= 3 for a in parts for b in parts if a != b)


def test_few_spanning_faults():
    for n in range(1, 8):
        assert len(unsafe.few_spanning_faults(n)) == -(-n // 2) + 1
        assert twin.is_unsafe(n, unsafe.few_spanning_faults(n))


@pytest.mark.slow
def test_the_bound_on_the_mean_fraction_bounds_it():
    for n, f in ((4, 2), (4, 4), (6, 3), (8, 4), (10, 4), (30, 3)):
        assert exact_unsafe(n, f).mean_fraction <= unsafe.mean_fraction_at_most(n, f)
