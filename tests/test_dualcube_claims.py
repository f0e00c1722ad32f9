"""The dual-cube paper's claims: each verdict, and each refutation replayed with the plain twin."""

from __future__ import annotations

import json

import numba
import pytest
from reference import dualcube as twin

from fastcube.studies import li_peng_chu

OUTCOMES = {
    "distance": "holds",
    "virtual-paths": "holds",
    "tree-exists": "refuted",
    "tree-neighbours": "refuted",
    "lemma-1": "holds",
    "algorithm-1": "refuted",
    "lemma-2": "refuted",
    "algorithm-2": "refuted",
    "theorem-1-path": "holds",
    "theorem-1-algorithm": "refuted",
    "theorem-1-repaired": "refuted",
    "theorem-1-length": "undecided",
    "success-ninety": "holds",
    "success-fifty": "holds",
    "paths-close": "undecided",
}


@pytest.fixture(scope="module")
def verdicts():
    if numba.config.DISABLE_JIT:
        pytest.skip("simulations need compiled code")
    return {claim.id: claim.decide() for claim in li_peng_chu.ledger()}


def test_every_claim_is_decided_as_known(verdicts):
    assert {name: verdict.outcome for name, verdict in verdicts.items()} == OUTCOMES


def test_every_witness_replays_and_is_json(verdicts):
    for name, verdict in verdicts.items():
        if verdict.outcome == "refuted":
            assert verdict.witness.replay(), name
            assert json.loads(json.dumps(verdict.witness.data)) == verdict.witness.data


def case(verdict):
    data = verdict.witness.data
    return data["m"], set(data["faulty_nodes"]), data.get("t"), data["k"]


def offline(m, faults, k, repaired=False):
    return twin.Offline(m, faults.__contains__, k, repaired)


def test_conditions_hold_in_every_witness(verdicts):
    for name in ("algorithm-1", "algorithm-2", "lemma-2", "theorem-1-algorithm", "theorem-1-repaired"):
        m, faults, t, k = case(verdicts[name])
        net = offline(m, faults, k)
        assert k <= m / 2
        assert len(faults) < 2**k * (m - k + 1)
        assert 0 not in faults
        assert t not in faults
        if m <= 3:
            assert net.is_safe(k)
            assert net.shortest(0, t) is not None
        else:  # only nodes beside a fault can lack nonfaulty neighbours
            beside = {v for f in faults for v in net.neighbours(f)}
            assert all(sum(u not in faults for u in net.neighbours(v)) >= k for v in beside)


def test_the_printed_algorithms_fail_at_one_fault(verdicts):
    for name in ("algorithm-1", "algorithm-2", "theorem-1-algorithm"):
        m, faults, t, k = case(verdicts[name])
        assert (m, k, faults) == (1, 0, {1})
        assert offline(m, faults, k).route(0, t) is None
        assert offline(m, faults, k, repaired=True).route(0, t) is not None
    # without faults they find every path, so one fault is the fewest
    assert all(offline(1, set(), 0).route(0, t) is not None for t in range(1, 8))
    m, faults, _, k = case(verdicts["algorithm-1"])
    with pytest.raises(twin.NothingFoundError):
        offline(m, faults, k).algorithm1(0)
    m, faults, t, k = case(verdicts["algorithm-2"])
    net = offline(m, faults, k)
    assert net.faults_in_cluster(0) >= net.faults_in_cluster(t)
    with pytest.raises(twin.NothingFoundError):
        net.algorithm2(0, t)


def test_lemma_2_fails_because_0_cannot_move(verdicts):
    m, faults, t, k = case(verdicts["lemma-2"])
    net = offline(m, faults, k)
    assert all(u in faults for u in (0 ^ d for d in net.dims(0)))
    assert net.at(0, t) in faults


def test_trees(verdicts):
    m, faults, _, k = case(verdicts["tree-exists"])
    net = offline(m, faults, k)
    assert net.tree(0, k, net.dims(0)) is None
    assert all(net.tree(0, k, net.dims(0)) is not None for f in faults for net in [offline(m, faults - {f}, k)])
    inside = net.cluster_nodes(0)
    assert all(sum(u ^ d not in faults for d in net.dims(0)) >= k for u in inside)
    m, faults, _, k = case(verdicts["tree-neighbours"])
    net = offline(m, faults, k)
    tree = net.tree(0, k, net.dims(0))
    assert len({u ^ d for u in tree for d in net.dims(0)} - set(tree)) < 2**k * (m - k)


def test_the_repaired_algorithm_fails_in_dc_10(verdicts):
    m, faults, t, k = case(verdicts["theorem-1-repaired"])
    assert (m, k) == (10, 5)
    assert offline(m, faults, k, repaired=True).route(0, t) is None
