"""The dual-cube paper's claims: each verdict, and each refutation replayed with the plain twin."""

from __future__ import annotations

import itertools
import json
import random

import numba
import pytest
from audit_helpers.decided import decide_claims
from reference import dualcube as twin

from fastcube.networks.dualcube import DualCube
from fastcube_audit import registries
from fastcube_audit.papers.li_peng_chu import choices
from fastcube_audit.papers.li_peng_chu.binomial_trees import build_tree_by_halves
from fastcube_audit.papers.li_peng_chu.fault_sets import STOP_8_4, is_k_safe, sample_cases, saturated_faults
from fastcube_audit.papers.li_peng_chu.hypercube_routing import hypercube_path

OUTCOMES = {
    "distance": "holds",
    "virtual-paths": "holds",
    "tree-exists": "holds",
    "tree-greedy": "refuted",
    "tree-neighbours": "refuted",
    "lemma-1": "holds",
    "algorithm-1": "misprint",
    "lemma-2": "refuted",
    "algorithm-2": "refuted",
    "theorem-1-path": "holds",
    "theorem-1-algorithm": "refuted",
    "theorem-1-corrected": "refuted",
    "theorem-1-length": "undecided",
    "hypercube-path": "holds",
    "hypercube-half": "holds",
    "hypercube-length": "holds",
    "half-of-the-faults": "holds",
    "hypercube-recursion": "undecided",
    "hypercube-time": "holds",
    "hypercube-algorithm": "undecided",
    "hypercube-greedy": "refuted",
    "virtual-edge-path": "holds",
    "faulty-virtual-edges": "holds",
    "lemma-2-neighbours": "refuted",
    "lemma-2-disjoint": "refuted",
    "time-bound": "holds",
    "time-bound-any-k": "refuted",
    "ten-cube-connected": "holds",
    "success-ninety": "holds",
    "success-fifty": "holds",
    "success-drop": "holds",
    "paths-close": "undecided",
}


#: What rests on reading B7 or B6, or is not printed.
OURS = {
    "distance",
    "hypercube-greedy",
    "time-bound-any-k",
    "tree-greedy",
    "theorem-1-corrected",
    "success-ninety",
    "success-fifty",
    "success-drop",
    "paths-close",
}


@pytest.fixture(
    scope="module",
    params=[pytest.param("quick", marks=pytest.mark.slow), pytest.param("full", marks=pytest.mark.exhaustive)],
)
def verdicts(request):
    if numba.config.DISABLE_JIT:
        pytest.skip("simulations need compiled code")
    return decide_claims(registries.claims("li_peng_chu"), request.param == "quick")


def test_claims_of_ours_are_marked():
    assert {claim.id for claim in registries.claims("li_peng_chu") if claim.added} == OURS


def test_every_claim_is_decided_as_known(verdicts):
    assert {name: verdict.outcome for name, verdict in verdicts.items()} == OUTCOMES


def test_every_counterexample_replays_and_is_json(verdicts):
    for name, verdict in verdicts.items():
        assert (verdict.outcome in ("refuted", "misprint")) == bool(verdict.counterexamples), name
        for counterexample in verdict.counterexamples:
            assert counterexample.is_reproduced(), name
            assert json.loads(json.dumps(counterexample.data)) == counterexample.data


def case(verdict, number=0):
    data = verdict.counterexamples[number].data
    return data["m"], set(data["faulty_nodes"]), data.get("t"), data["k"]


def offline(m, faults, k, corrected=False):
    return twin.Offline(m, faults.__contains__, k, corrected)


def more_faults(net, s, t):
    """Algorithm 2's condition: C_s has as many faults as C_t, or more."""
    return len(net.faults(s)) >= len(net.faults(t))


def test_conditions_hold_in_every_counterexample(verdicts):
    names = ("algorithm-1", "algorithm-2", "lemma-2", "theorem-1-algorithm", "theorem-1-corrected")
    for m, faults, t, k in (
        case(verdicts[name], i) for name in names for i in range(len(verdicts[name].counterexamples))
    ):
        net = offline(m, faults, k)
        assert k <= m / 2
        assert len(faults) < 2**k * (m - k + 1)
        assert 0 not in faults
        assert t not in faults
        if m <= 3:
            assert net.is_safe(k)
            assert net.shortest(0, t) is not None
        else:  # only neighbours of a fault can lack nonfaulty neighbours
            beside = {v for f in faults for v in twin.neighbours(net.word(f))}
            assert all(sum(map(net.nonfaulty, twin.neighbours(v))) >= k for v in beside)


#: The counterexample without our convention comes first, then one with k = 0.
PRINTED = ("algorithm-1", "algorithm-2", "theorem-1-algorithm")


def test_the_printed_algorithms_fail_whatever_is_chosen(verdicts):
    for name in PRINTED:
        m, faults, t, k = case(verdicts[name])
        assert (m, k) == (2, 1)
        assert offline(m, faults, k).route(0, t) is None
        dual = DualCube(m, faults)
        ends = {
            "algorithm-1": choices.exit_nodes(dual, 0, k),
            "theorem-1-algorithm": choices.is_route_possible(dual, 0, t, k),
        }
        assert not ends.get(name, choices.entry_nodes(dual, 0, t, k) if name == "algorithm-2" else None)
    assert [len(case(verdicts[name])[1]) for name in PRINTED] == [3, 1, 1]
    m, faults, _, k = case(verdicts["algorithm-1"])
    net = offline(m, faults, k)
    with pytest.raises(twin.NothingFoundError):
        net.algorithm1(net.word(0))
    assert len(offline(m, faults, k, corrected=True).algorithm1(net.word(0))) - 1 <= k + 2  # Lemma 1's path exists
    m, faults, t, k = case(verdicts["algorithm-2"])
    net = offline(m, faults, k)
    ends = net.word(0), net.word(t)
    assert more_faults(net, *ends)
    with pytest.raises(twin.NothingFoundError):
        net.algorithm2(*ends)


def test_the_choices_are_at_least_those_of_the_reading():
    """Wherever the reading as printed routes, some choice does; and it leads where the reading leads."""
    rng = random.Random(3)
    for _ in range(60):
        faults = set(rng.sample(range(1, 32), rng.randrange(4)))
        dual = DualCube(2, faults)
        if dual.is_safe(1):
            for t in range(1, 32):
                if t not in faults and offline(2, faults, 1).route(0, t) is not None:
                    assert choices.is_route_possible(dual, 0, t, 1), (faults, t)


def test_the_printed_algorithms_fail_at_one_fault(verdicts):
    for name in PRINTED:
        m, faults, t, k = case(verdicts[name], 1)
        assert (m, k, faults) == (1, 0, {1})
        assert offline(m, faults, k).route(0, t) is None
        assert offline(m, faults, k, corrected=True).route(0, t) is not None
    # without faults they find every path, so one fault is the fewest
    assert all(offline(1, set(), 0).route(0, t) is not None for t in range(1, 8))


def test_another_order_of_dimensions_grows_the_tree_that_reading_b2_does_not(verdicts):
    assert verdicts["tree-greedy"].counterexamples[1].value == [15, True, False]
    assert verdicts["hypercube-greedy"].counterexamples[1].value == [True, False]
    _, faults, t, _ = case(verdicts["hypercube-greedy"])
    path = hypercube_path(faults, 0, t, 4, 2**10 - 1, highest=False)
    assert path is not None and path[0] == 0 and path[-1] == t and not faults & set(path)
    assert all((u ^ v).bit_count() == 1 for u, v in itertools.pairwise(path))


def test_the_share_of_cases_that_fail_is_the_twins(verdicts):
    """DC(1) and k = 0: routes of the twin counted again."""
    failed = [0, 0, 0]
    cases = [0, 0, 0]
    for faults in [set(), *({v} for v in range(1, 8))]:
        net = offline(1, faults, 0)
        outcomes = {t: net.route(0, t) is None for t in range(1, 8) if t not in faults}
        cases[0] += 1
        failed[0] += fails(net.algorithm1, net.word(0))
        for t, out in outcomes.items():
            ends = net.word(0), net.word(t)
            if t in (2, 3) and more_faults(net, *ends):
                cases[1] += 1
                failed[1] += fails(net.algorithm2, *ends)
            cases[2] += 1
            failed[2] += out
    for name, some, all_ in zip(("algorithm-1", "algorithm-2", "theorem-1-algorithm"), failed, cases, strict=True):
        assert f"{some} of {all_} ({100 * some / all_:.2g}%) in DC(1), k = 0" in verdicts[name].checked


def fails(step, *arguments):
    try:
        step(*arguments)
    except twin.NothingFoundError:
        return True
    return False


def test_lemma_2_fails_because_0_cannot_move(verdicts):
    m, faults, t, k = case(verdicts["lemma-2"])
    net = offline(m, faults, k)
    s, goal = net.word(0), net.word(t)
    assert not any(net.nonfaulty(twin.flipped(s, d)) for d in twin.dims_of(s))
    assert not net.nonfaulty(twin.at(s, goal))


def test_trees(verdicts):
    m, faults, _, k = case(verdicts["tree-greedy"])
    assert sorted(faults) == list(STOP_8_4)
    net = offline(m, faults, k)
    root = net.word(0)
    dims = twin.dims_of(root)
    assert net.tree(root, k, dims) is None
    assert all(offline(m, faults - {f}, k).tree(root, k, dims) is not None for f in faults)
    assert all(sum(net.nonfaulty(twin.flipped(u, d)) for d in dims) >= k for u in twin.cluster_nodes(root))
    m, faults, _, k = case(verdicts["tree-neighbours"])
    net = offline(m, faults, k)
    root = net.word(0)
    dims = twin.dims_of(root)
    tree = net.tree(root, k, dims)
    assert len({twin.flipped(u, d) for u in tree for d in dims} - set(tree)) < 2**k * (m - k)


def test_the_corrected_algorithm_fails_in_dc_10(verdicts):
    m, faults, t, k = case(verdicts["theorem-1-corrected"])
    assert (m, k) == (10, 5)
    assert offline(m, faults, k, corrected=True).route(0, t) is None


# ---------------------------------------------------------------- what docs/proofs.md proves, tried


def reached(n, faults, root, most):
    """R_most(root): nodes that fault-free paths of at most so many links lead to."""
    seen = new = {root}
    for _ in range(most):
        new = {u ^ 1 << i for u in new for i in range(n)} - faults - seen
        if not new:
            break
        seen = seen | new
    return seen


def cubes():
    """Q_n with faults but node 0: all of Q_1, Q_2 and Q_3, and random ones to Q_7."""
    for n in (1, 2, 3):
        for word in range(2 ** (2**n - 1)):
            yield n, {v + 1 for v in range(2**n - 1) if word >> v & 1}
    rng = random.Random(4)
    for n in (4, 5, 6, 7):
        for _ in range(200):
            yield n, set(rng.sample(range(1, 2**n), rng.randrange(min(2 ** (n - 1), 3 * n))))


def test_neighbourhoods_are_as_large_as_proved():
    equal = 0
    for n, faults in cubes():
        for k in range(n + 1):
            near = reached(n, faults, 0, k - 1) if k else set()
            if all(sum(u ^ 1 << i not in faults for i in range(n)) >= k for u in near):
                inside = reached(n, faults, 0, k)
                size = len(inside | {u ^ 1 << i for u in inside for i in range(n)})
                assert size >= 2**k * (n - k + 1), (n, k, faults)
                equal += size == 2**k * (n - k + 1)
    assert equal > 100  # the bound is sharp


def test_safe_cubes_are_connected():
    tried = 0
    for n, faults in cubes():
        for k in range(n):
            if is_k_safe(n, k, frozenset(faults)) and len(faults) < 2**k * (n - k):
                assert len(reached(n, faults, 0, 2**n)) == 2**n - len(faults), (n, k, faults)
                tried += 1
    assert tried > 1000


@pytest.mark.parametrize(
    ("n", "k", "faults"), [(8, 4, frozenset(STOP_8_4)), (5, 2, saturated_faults(5, 2, 1)), (6, 6, frozenset())]
)
def test_trees_by_halves_are_the_papers(n, k, faults):
    assert is_k_safe(n, k, faults)
    parent = build_tree_by_halves(faults, 0, k, 2**n - 1)
    nodes = set(parent)
    assert len(nodes) == 2**k
    assert not nodes & faults
    for leaf in nodes - {0}:
        used, u = [], leaf
        while u:
            used.append(u ^ parent[u])
            u = parent[u]
        assert all(d.bit_count() == 1 for d in used)
        assert len(set(used)) == len(used)
    for _ in range(k):  # the last stage gave every node one child: take it away, down to the root
        leaves = nodes - {parent[u] for u in nodes if u}
        assert sorted(parent[u] for u in leaves) == sorted(nodes - leaves)
        nodes -= leaves
    assert nodes == {0}


def test_saturated_cubes_take_no_further_fault():
    for n, k in ((4, 1), (5, 3), (6, 2)):
        faults = saturated_faults(n, k, 3)
        assert is_k_safe(n, k, faults)
        assert not any(is_k_safe(n, k, faults | {v}) for v in range(1, 2**n) if v not in faults)


@pytest.mark.slow
def test_virtual_edges_are_those_of_a_plain_search():
    rng = random.Random(5)
    for m, sets in ((1, 30), (2, 15), (3, 3)):
        for _ in range(sets):
            faults = set(rng.sample(range(1, 2 ** (2 * m + 1)), rng.randrange(2 * m + 2)))
            dual = DualCube(m, faults)
            net = twin.Network(m, faults.__contains__)
            for t in range(1, 2 ** (2 * m)):
                if not dual.same_cluster(0, t):
                    edges = [(u, twin.at(u, net.word(t))) for u in twin.cluster_nodes(net.word(0))]
                    edges = [(u, v) for u, v in edges if net.nonfaulty(v) and inside(net, net.word(0), u)]
                    edges = [e for e in edges if inside(net, *map(twin.cross, e))]
                    assert dual.virtual_edges(0, t) == sorted((int(u, 2), int(v, 2)) for u, v in edges)


def inside(net, u, v):
    """Whether a fault-free path joins two nodes of a cluster in it."""
    if not net.nonfaulty(u) or not net.nonfaulty(v):
        return False
    seen = {u}
    for _ in range(2**net.m):
        seen |= set(filter(net.nonfaulty, itertools.starmap(twin.flipped, itertools.product(seen, twin.dims_of(u)))))
    return v in seen


def test_hunted_cases_keep_the_conditions():
    for m, k, always in ((4, 2, ()), (8, 4, STOP_8_4)):
        for dual, t in sample_cases(m, k, 1, 5, always):
            assert set(always) <= dual.faulty_nodes
            assert dual.is_safe(k)
            assert len(dual.faulty_nodes) < 2**k * (m - k + 1)
            assert not dual.faulty_nodes & {0, t}
