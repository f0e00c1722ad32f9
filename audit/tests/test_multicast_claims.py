"""The claims of Wang, Lin & Kuo: each verdict, and the refutations shown again with the plain twins."""

from __future__ import annotations

import json

import numba
import pytest
from audit_helpers.decided import decide_claims
from reference import multicasting, wormhole
from reference import partition as twin

import fastcube as fc
from fastcube.algorithms.multicasting import PATHS
from fastcube.algorithms.partition import Supercube, greedy_two_partition
from fastcube_audit import registries
from fastcube_audit.claims import Verdict
from fastcube_audit.papers.wang_lin_kuo import figures_15_16

ENDS = ("lowest", "highest")

OUTCOMES = {
    "example-3-1": "holds",
    "lemma-1": "holds",
    "figure-2": "holds",
    "figure-2-printed": "misprint",
    "figure-2-complexity": "depends",
    "theorem-1": "holds",
    "hamilton-path": "holds",
    "still-minimal": "holds",
    "two-hops-inside": "holds",
    "no-cycle-inside": "holds",
    "figures-16-17-printed": "misprint",
    "example-4-3": "holds",
    "example-5-3": "holds",
    "beyond-n-1": "holds",
    "best-case": "holds",
    "worst-case": "holds",
    "table-2-n-4": "misprint",
    "table-2-n-10": "holds",
    "table-2-n-16": "holds",
    "table-2-n-32": "holds",
    **{f"table-3-row-{row}": "unreproduced" for row in (1, 2, 4, 6, 7, 8, 9, 11, 12)},
    "table-3-row-3": "holds",
    "table-3-row-5": "undecided",
    "table-3-row-10": "undecided",
    "table-3-pattern": "holds",
    "networks-disjoint": "holds",
    "fault-overhead": "holds",
    "fault-overhead-relative": "refuted",
    "channel-percentage": "unreproduced",
    "theorem-2-unicast": "refuted",
    "theorem-2-graph": "refuted",
    "theorem-2-replication": "refuted",
    "corrected-unicast": "holds",
    "corrected-graph": "holds",
    "corrected-replication": "refuted",
}


@pytest.fixture(scope="module", params=[pytest.param("quick", marks=pytest.mark.slow)])
def verdicts() -> dict[str, Verdict]:
    if numba.config.DISABLE_JIT:
        pytest.skip("thousands of multicasts in Q_10 need compiled code")
    return decide_claims(registries.claims("wang_lin_kuo"))


def test_every_claim_is_decided_as_known(verdicts):
    assert {name: verdict.outcome for name, verdict in verdicts.items()} == OUTCOMES


@pytest.mark.exhaustive
def test_full_effort_says_the_same_of_more(verdicts):
    full = decide_claims(registries.claims("wang_lin_kuo"), quick=False)
    assert {name: verdict.outcome for name, verdict in full.items()} == OUTCOMES
    for name in ("lemma-1", "worst-case", "corrected-graph", "table-3-row-4"):
        assert full[name].checked != verdicts[name].checked


def test_counterexamples_replay_and_are_json(verdicts):
    for name, verdict in verdicts.items():
        for counterexample in verdict.counterexamples:
            assert json.loads(json.dumps(counterexample.value)) == counterexample.value
            if not name.startswith("table-3"):
                assert counterexample.is_reproduced()
    assert verdicts["table-3-row-12"].counterexample.is_reproduced()
    assert all(w.value == [True] for row in range(1, 13) for w in verdicts[f"table-3-row-{row}"].counterexamples)


# ---------------------------------------------------------------- by the plain twins


def test_figure_2_step_by_step_is_that_of_the_twin():
    for n in (2, 3, 4):
        for faults in ([], [0], [0, 3], [1, 2, 4], [0, 1, 6, 11], [0, 1, 2, 4]):
            if max(faults, default=0) < 2**n:
                assert greedy_two_partition(n, faults)[0] == twin.figure_2(n, faults)
                assert greedy_two_partition(n, faults, map_back=False)[0] == twin.figure_2(n, faults, map_back=False)


def test_figure_2_as_printed_gives_no_fault_tolerant_pair(verdicts):
    same, conflicting = verdicts["figure-2-printed"].counterexamples
    assert same.value == [0, 0]
    n, faults = conflicting.data["n"], conflicting.data["faulty_nodes"]
    assert twin.figure_2(n, faults, map_back=False) == tuple(conflicting.value)
    assert not twin.is_fault_tolerant(n, faults, *conflicting.value)


@pytest.mark.parametrize(
    ("name", "copies"),
    [("theorem-2-unicast", 1), ("theorem-2-graph", 1), ("theorem-2-replication", 1), ("corrected-replication", 2)],
)
def test_the_messages_of_theorem_2_stop_in_the_twin_too(verdicts, name, copies):
    data = verdicts[name].counterexample.data
    faults = data["faulty_nodes"]
    assert data["n"] == 3
    assert len(faults) <= 2
    pair = twin.exhaustive(3, faults)
    net = multicasting.Supercube(3, faults, *pair)
    result = wormhole.simulate(net, data["messages"], copies)
    assert result.deadlocked
    assert all(other is not None for asked in result.waiting.values() for _, other in asked[:1])
    assert len(data["messages"]) == 2
    if name != "theorem-2-replication" and copies == 1:
        assert all(len(d) == 1 for _, d in data["messages"])


def test_cycles_are_cycles_of_what_messages_do(verdicts):
    for name, unicast in (("theorem-2-unicast", True), ("theorem-2-graph", False)):
        cycle = [tuple(c) for c in verdicts[name].more[0].value]
        data = verdicts[name].counterexample.data
        net = multicasting.Supercube(3, data["faulty_nodes"], *twin.exhaustive(3, data["faulty_nodes"]))
        arcs = wormhole.all_arcs(net, 1, 1 if unicast else None)
        assert set(zip(cycle, [*cycle[1:], cycle[0]], strict=True)) <= arcs


def test_every_rule_for_buddies_has_a_cycle_on_both_paths():
    """By the messages' ways: two rules alike in Q_3 with 000 and 111 faulty, one for D_H and another for D_L in Q_4 with 0110."""
    alike, mixed = ({(a, b) for a in ENDS for b in ENDS if (a == b) == same} for same in (True, False))
    for n, faults, cyclic in ((3, {0b000, 0b111}, alike), (4, {0b0110}, mixed)):
        net = Supercube(n, frozenset(faults), (0, 1))
        for path in PATHS:
            assert {
                name
                for name, rule in figures_15_16.buddy_rules(net).items()
                if figures_15_16.has_cycle(net, path, rule)
            } == cyclic
            for rule in figures_15_16.buddy_rules(net).values():
                assert all(v ^ b in (1, 2) and b not in faults for (v, _), b in rule.items())


def test_finite_messages_stop_as_long_ones_do(verdicts):
    data = verdicts["theorem-2-unicast"].counterexample.data
    cube = fc.Hypercube(3, data["faulty_nodes"])
    assert fc.simulate_wormhole(cube, data["messages"], flits=8).deadlocked
    assert not fc.simulate_wormhole(cube, data["messages"], flits=1).deadlocked
    assert not fc.simulate_wormhole(cube, data["messages"], virtual_channels=2).deadlocked


def test_statements_name_the_papers_places():
    for claim in registries.claims("wang_lin_kuo"):
        assert claim.where.startswith("section")
        assert claim.added == claim.id.startswith(("corrected", "fault-overhead-relative", "table-3-pattern"))
