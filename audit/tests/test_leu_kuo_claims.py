"""The tree paper's claims: each verdict, and each counterexample replayed, with the plain twin where it knows the answer."""

from __future__ import annotations

import json

import numba
import pytest
from audit_helpers.decided import decide_claims
from reference import gathering, trees

from fastcube_audit import registries

OUTCOMES = {
    "property-1": "holds",
    "property-1-links": "refuted",
    "property-2": "holds",
    "theorem-1": "holds",
    "theorem-2": "holds",
    "example-1": "holds",
    "example-2": "holds",
    "idle-afterwards": "holds",
    "one-partner": "holds",
    "beyond-theorem-3": "holds",
    "without-faults": "holds",
    "asynchronous": "holds",
    "rerouting-steps": "holds",
    "equation-7": "misprint",
    "theorem-3": "holds",
    "theorem-3-raised": "refuted",
    "equation-8": "holds",
    "fault-free-below-n": "holds",
    "find-tree-fault-free": "refuted",
    "top-down-fault-free": "refuted",
    "largest-gap": "refuted",
    "sink-with-fault": "refuted",
    "fewest-links-without-sink": "holds",
    "detect": "holds",
    "last-stage": "holds",
    "theorem-5": "holds",
    "theorem-5-detours": "refuted",
    "rerouting-slowdown": "holds",
    "rerouting-delivers": "refuted",
    "theorem-6-as-printed": "misprint",
    "theorem-6-as-commented": "holds",
    "theorem-6-corrected": "holds",
    "dependency-graph": "holds",
    "always-as-printed": "misprint",
    "always-as-commented": "refuted",
    "always-corrected": "refuted",
    "corrected-loses-the-stranded": "holds",
    "m-0-small": "undecided",
    "theorem-7": "refuted",
    "theorem-7-as-printed": "refuted",
    "theorem-7-as-commented": "refuted",
    "theorem-7-corrected": "refuted",
    "example-3": "holds",
    "example-4": "holds",
    "faulty-as-isolated": "holds",
    "computation-slowdown": "depends",
}


@pytest.fixture(
    scope="module",
    params=[pytest.param("quick", marks=pytest.mark.slow), pytest.param("full", marks=pytest.mark.exhaustive)],
)
def verdicts(request):
    if numba.config.DISABLE_JIT:
        pytest.skip("enumerations need compiled code")
    return decide_claims(registries.claims("leu_kuo"), request.param == "quick")


def test_every_claim_is_decided_as_known(verdicts):
    assert {name: verdict.outcome for name, verdict in verdicts.items()} == OUTCOMES


def test_every_counterexample_replays_and_is_json(verdicts):
    for name, verdict in verdicts.items():
        assert bool(verdict.counterexamples) >= (verdict.outcome == "refuted"), name
        for counterexample in verdict.counterexamples:
            assert counterexample.is_reproduced(), name
            assert json.loads(json.dumps(counterexample.data)) == counterexample.data


def run(verdict, variant, algorithm="FTTC"):
    """The twin's run over the counterexample of a verdict."""
    data = verdict.counterexample.data
    fault = trees.detect(data["n"], data["faulty_nodes"], data["faulty_links"])
    sink, order, _ = trees.find_tree(data["n"], fault)
    return gathering.Run(data["n"], fault, sink, order, algorithm, variant)


def test_the_twin_sees_what_the_counterexamples_show(verdicts):
    assert run(verdicts["theorem-6-as-printed"], "as_printed").deadlocked
    for variant in ("as_printed", "as_commented", "corrected"):
        for name in (f"always-{variant.replace('_', '-')}", f"theorem-7-{variant.replace('_', '-')}"):
            found = run(verdicts[name], variant)
            assert found.lost > 0, name
        assert run(verdicts[f"always-{variant.replace('_', '-')}"], variant).expected == 8
    assert run(verdicts["rerouting-delivers"], "as_commented", "REROUTE").lost > 0
    slow = run(verdicts["theorem-5-detours"], "as_commented")
    assert slow.steps_sync >= 2 * slow.n
    holders = run(verdicts["computation-slowdown"], "as_commented").expected
    assert holders == 4


def test_the_twin_sees_the_missed_trees(verdicts):
    for name, find in (("find-tree-fault-free", trees.find_tree), ("top-down-fault-free", trees.top_down)):
        data = verdicts[name].counterexample.data
        fault = trees.detect(data["n"], (), data["faulty_links"])
        assert trees.faulty_links(data["n"], fault, *find(data["n"], fault)[:2])
        assert trees.exhaust(data["n"], fault)


def test_the_twin_sees_the_better_sink(verdicts):
    data = verdicts["sink-with-fault"].counterexample.data
    links = [tuple(link) for link in data["faulty_links"]]
    fault = trees.detect(4, (), links)
    clean = min(trees.best_order(4, fault, v)[0] for v in range(16) if fault[v] == 0)
    every = min(trees.best_order(4, fault, v)[0] for v in range(16))
    assert [clean, every] == verdicts["sink-with-fault"].counterexample.value == [2, 1]
