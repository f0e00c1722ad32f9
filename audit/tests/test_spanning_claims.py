"""The claims about edge-disjoint spanning trees: each verdict, and each counterexample looked at with the plain twin."""

from __future__ import annotations

import json

import numba
import pytest
from audit_helpers.decided import decide_claims
from reference import spanning as twin

import fastcube as fc
from fastcube_audit import registries
from fastcube_audit.claims import Verdict
from fastcube_audit.papers.sui_wang_lee import bases, edmonds

OUTCOMES = {
    "lemma-1": "holds",
    "lemma-2": "holds",
    "lemma-3": "holds",
    "lemma-4": "holds",
    "link-partition": "holds",
    "deepest-node": "holds",
    "min-indegree": "holds",
    "pivoted": "holds",
    "lemma-5-case-a": "misprint",
    "lemma-5-case-b": "holds",
    "lemma-5-optimal": "holds",
    "lemma-5-last": "holds",
    "lemma-6": "depends",
    "n-2-tall-trees": "depends",
    "theorem-1-common-root": "holds",
    "theorem-1-any-roots": "depends",
    "theorem-2": "depends",
    "theorem-2-minimal": "depends",
    "latency": "depends",
    "spanning-graph-height": "depends",
    "latifi": "holds",
    "johnsson-ho": "holds",
    "few-faulty-nodes": "holds",
    "smallest-nodes": "holds",
    "smallest-nodes-connected": "holds",
    "smallest-links": "holds",
    "smallest-links-connected": "holds",
    "smallest-mixed": "holds",
    "smallest-mixed-connected": "holds",
}

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="exhaustive searches need compiled code")


@pytest.fixture(scope="module", params=[pytest.param("quick", marks=pytest.mark.slow)])
def verdicts() -> dict[str, Verdict]:
    return decide_claims(registries.claims("sui_wang_lee"))


def test_every_claim_is_decided_as_known(verdicts):
    assert {name: verdict.outcome for name, verdict in verdicts.items()} == OUTCOMES


@pytest.mark.slow
def test_full_effort_says_the_same_of_more(verdicts):
    full = decide_claims(registries.claims("sui_wang_lee"), quick=False)
    assert {name: verdict.outcome for name, verdict in full.items()} == OUTCOMES
    for name in ("lemma-4", "theorem-2", "few-faulty-nodes", "smallest-nodes"):
        assert full[name].checked != verdicts[name].checked


def test_every_counterexample_replays_and_is_json(verdicts):
    for verdict in verdicts.values():
        for counterexample in verdict.counterexamples:
            assert counterexample.is_reproduced()
            assert json.loads(json.dumps(counterexample.value)) == counterexample.value
            assert json.loads(json.dumps(counterexample.data)) == counterexample.data


def test_heights(verdicts):
    counterexample = verdicts["lemma-5-case-a"].counterexample
    n, (fault,) = counterexample.data["n"], counterexample.data["faulty_nodes"]
    trees = twin.edge_disjoint_spanning_trees(n, 0, fault, pivots=True)
    assert counterexample.value == [twin.height(tree) for tree in trees] == [3, 3] and n == 3


def test_every_base_that_fits_what_is_printed():
    """50 bases, of which 25 satisfy Lemma 6, the sentence on tall trees and Theorem 2 (reading S12)."""
    assert [len(bases.list_bases(d)) for d in (1, 2, 3)] == [5, 2, 5]
    other = bases.list_bases(2)[1]
    assert other == ((1, -1, 3, 1, 5, 1, -2, 5), (2, 3, -1, 2, 0, 7, -2, 3))
    assert [twin.height(list(tree)) for tree in bases.reroot_trees(other)] == [3, 4]
    for d in (1, 2, 3):
        assert bases.S7[d] in bases.list_bases(d)
        for pair in bases.list_bases(d):
            arcs = [arc for tree in pair for arc in twin.arcs(list(tree))]
            assert len(arcs) == len(set(arcs)) == 12
    for n in (3, 4, 5):
        for d in range(1, n + 1):
            made = bases.algorithm_a(n, d, bases.find_base(n, d, bases.S7))
            assert [list(tree) for tree in made] == twin.edge_disjoint_spanning_trees(
                n, 0, bases.faulty_node(n, d), pivots=True
            )


@pytest.mark.parametrize("claim", ["lemma-6", "n-2-tall-trees", "theorem-2", "spanning-graph-height"])
def test_half_of_the_bases_satisfy_it(verdicts, claim):
    assert "all 50 admissible bases" in verdicts[claim].checked
    assert "with 25 of them it holds everywhere" in verdicts[claim].checked


def test_theorem_1_on_n_minus_1_trees_of_height_n_plus_1():
    """Reading S13, tried: no three edge-disjoint trees of Q'_4 from one root are all lower than 5."""
    graph = fc.Hypercube(4, [0b1000])
    assert sum(not graph.is_faulty(v) for v in graph.neighbours(0)) == 3
    trees = fc.edge_disjoint_spanning_trees(graph, 0).tolist()
    assert max(twin.height(tree) for tree in trees) == 5


def test_more_trees_than_theorem_1_says(verdicts):
    trees = verdicts["theorem-1-any-roots"].counterexample.value
    arcs = [arc for tree in trees for arc in twin.arcs(tree)]
    assert len(trees) == 3 and len(arcs) == len(set(arcs)) == 18
    assert all(tree[7] == twin.ABSENT for tree in trees)


def test_fewer_steps_than_theorem_2_says(verdicts):
    counterexample = verdicts["theorem-2"].counterexample
    n, (fault,) = counterexample.data["n"], counterexample.data["faulty_nodes"]
    assert counterexample.value == twin.steps(twin.edge_disjoint_spanning_trees(n, 0, fault), 0, 1) == 3 < 1 + n


def test_shorter_schedules(verdicts):
    """Carried out here by themselves, step by step."""
    *counterexamples, heights = verdicts["theorem-2-minimal"].counterexamples
    assert len(counterexamples) == 2 and max(heights.value) == 5
    for counterexample in counterexamples:
        n, faulty, packets = (counterexample.data[name] for name in ("n", "faulty_nodes", "packets"))
        held = {(0, p) for p in range(packets)}
        for step in counterexample.data["schedule"]:
            assert len({(u, v) for u, v, _ in step}) == len(step)
            assert all((u, p) in held and (u ^ v).bit_count() == 1 and v not in faulty for u, v, p in step)
            held |= {(v, p) for _, v, p in step}
        assert len(held) == packets * (2**n - 1)
        steps = len(counterexample.data["schedule"])
        assert steps == counterexample.value == twin.fewest_steps(n, 0, packets, faulty)
        assert steps < fc.broadcast_packets(fc.Hypercube(n, faulty), 0, packets)


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        ([[[0, 1, 0]], [[0, 1, 0], [0, 1, 0]]], "in step 2 a link carries two"),
        ([[[0, 1, 0], [1, 3, 0]]], "1 does not hold packet 0 before step 1"),
        ([[[0, 3, 0]]], "there is none from 0 to 3"),
        ([[[0, 2, 0]]], "there is none from 0 to 2"),
        ([[[0, 1, 0]]], "missing"),
    ],
)
def test_what_is_no_schedule(schedule, message):
    cube = fc.Hypercube(2, [2])
    with pytest.raises(fc.ParameterError, match=message):
        fc.schedule_steps(cube, 0, 1, schedule)
    assert fc.schedule_steps(cube, 0, 1, [[[0, 1, 0]], [[1, 3, 0]]]) == 2


@pytest.mark.parametrize("claim", [name for name in OUTCOMES if name.startswith("smallest")])
def test_smallest_fault_sets(verdicts, claim):
    counterexample = verdicts[claim].counterexample
    if counterexample is None:  # larger than what a quick look goes through
        assert claim == "smallest-mixed-connected"
        return
    n, nodes, links = (counterexample.data[name] for name in ("n", "faulty_nodes", "faulty_links"))
    trees, degree = twin.number(n, nodes, links)
    assert [trees, degree] == counterexample.value and trees < degree and (trees > 0 or "connected" not in claim)
    assert (bool(nodes), bool(links)) == ("links" not in claim, "nodes" not in claim)


def test_fault_sets_are_all_of_them_up_to_symmetry():
    """Sets with a fixed node, or a fixed link: as many of all sets as the node, or link, is in."""
    count = {kind.name: len(list(edmonds.enumerate_fault_sets(3, kind, 3))) for kind in (edmonds.NODES, edmonds.LINKS)}
    assert count == {"nodes": 21, "links": 55}
    assert len(list(edmonds.enumerate_fault_sets(2, edmonds.MIXED, 2))) == 4


# ---------------------------------------------------------------- the rivals of the benchmarks


def test_rivals_agree():
    import random

    from fastcube.studies.sui_wang_lee import baselines

    for n, f in ((3, 2), (4, 5), (5, 8)):
        rng = random.Random(0)
        wanted = sum(twin.edge_connectivity(baselines.random_graph(n, f, rng)) for _ in range(6))
        for rival in (baselines.sum_in_plain_python, baselines.sum_by_networkx, baselines.sum_by_scipy):
            assert rival(n, f, 6) == wanted
