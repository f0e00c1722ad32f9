"""Dual-cubes: the network, one-instance routing and distances, against the plain twin."""

from __future__ import annotations

import json
import random

import pytest
from helpers.compiled import mark_others_slow
from reference import dualcube as twin

import fastcube as fc
from fastcube.networks.dualcube import DualCube


def cases(seed: int, sizes: list[int], count: int, most: float = 0.5):
    """Random (dual, faults, s, t): faults anywhere or crowded around s."""
    rng = random.Random(seed)
    for m in sizes:
        nodes = 2 ** (2 * m + 1)
        for _ in range(count):
            s = rng.randrange(nodes)
            wanted = int(rng.random() * min(most * nodes, 6 * m + 4))
            crowd = rng.random() < 0.5
            faults = set()
            for _ in range(wanted):
                x = s
                for _ in range(rng.randrange(1, 4)):
                    x ^= 1 << rng.randrange(2 * m + 1)
                faults.add(x if crowd else rng.randrange(nodes))
            faults.discard(s)
            t = rng.choice([rng.randrange(nodes), s ^ (1 << rng.randrange(2 * m + 1)), s ^ rng.randrange(2**m)])
            if t not in faults:
                yield DualCube(m, faults), faults, s, t


@pytest.mark.parametrize("m", mark_others_slow([1, 2, 3], default=2))
def test_network_is_the_twins(m):
    dual = fc.DualCube(m)
    net = twin.Network(m, lambda u: False)
    for u in range(0, 2 ** (2 * m + 1), 2 * m - 1):
        word = net.word(u)
        assert sorted(map(dual.label, dual.neighbours(u))) == sorted(twin.neighbours(word))
        assert dual.class_of(u) == int(word[0])
        assert dual.label(dual.cross(u)) == twin.cross(word)
        assert dual.label(u) == word
        for v in range(2 ** (2 * m + 1)):
            assert dual.is_link(u, v) == (net.word(v) in twin.neighbours(word))
            assert dual.same_cluster(u, v) == (twin.cluster(word) == twin.cluster(net.word(v)))
            assert dual.same_cluster(u, v) == (
                (dual.class_of(u), dual.cluster(u)) == (dual.class_of(v), dual.cluster(v))
            )
            assert dual.intact_distance(u, v) == twin.distance_without_faults(m, u, v) == net.shortest(u, v)
            if dual.is_link(u, v):
                assert u ^ v == 1 << (2 * m - dual.dimension(u, v))
        assert dual.position(dual.cross(u)) == dual.cluster(u)


def test_safe_trees_and_boundaries():
    for dual, faults, s, _ in cases(1, [1, 2, 3], 100):
        net = twin.Offline(dual.m, faults.__contains__, 0, False)
        for k in range(dual.m + 1):
            assert dual.is_safe(k) == net.is_safe(k)
            root = net.word(s)
            tree = net.tree(root, k, twin.dims_of(root))
            labels = tree and [int(u, 2) for u in tree]
            assert dual.binomial_tree(s, k) == labels
            if tree:
                around = {twin.flipped(u, d) for u in tree for d in twin.dims_of(root)} - set(tree)
                assert dual.cluster_boundary(labels) == sorted(int(u, 2) for u in around)


def test_lazy_safety_counts_every_node():
    dual = fc.DualCube(3, fc.random_faults(0.4, seed=3))
    net = twin.Network(3, dual.is_faulty)
    assert [dual.is_safe(k) for k in range(5)] == [net.is_safe(k) for k in range(5)]


@pytest.mark.parametrize("variant", ["as_printed", "corrected"])
def test_offline_is_the_twins(variant):
    outcomes = set()
    for dual, faults, s, t in cases(2, [1, 2, 3, 4, 5, 6], 60):
        for k in range(dual.m // 2 + 1):
            route = fc.route(dual, s, t, algorithm="OFFLINE", k=k, variant=variant)
            expected = twin.Offline(dual.m, faults.__contains__, k, variant == "corrected").route(s, t)
            assert (route.path or None) == expected
            assert (route.outcome == "delivered") == (expected is not None) == (not route.reason)
            outcomes.add(route.outcome)
    assert outcomes == {"delivered", "failed"}


def test_offline_takes_lazy_faults():
    dual = fc.DualCube(5, fc.random_faults(0.03, seed=8))
    listed = fc.DualCube(5, [u for u in range(2**11) if dual.is_faulty(u)])
    for t in range(1, 2**11, 97):
        if not dual.is_faulty(t) and not dual.is_faulty(0):
            assert fc.route(dual, 0, t, algorithm="OFFLINE", k=1) == fc.route(listed, 0, t, algorithm="OFFLINE", k=1)


@pytest.mark.kernels
def test_practical_and_distance_are_the_twins():
    outcomes = set()
    for dual, faults, s, t in cases(3, [1, 2, 3, 4, 5], 150):
        route = fc.route(dual, s, t, algorithm="PRACTICAL")
        plain = twin.Practical(dual.m, faults.__contains__)
        path, reason = plain.route(s, t)
        assert (route.path, route.reason) == (path or [], reason)
        assert route.asked == tuple(sorted(plain.asked))
        assert route.lookups == len(plain.asked)
        assert route.length == (None if path is None else len(path) - 1)
        assert fc.distance(dual, s, t) == plain.shortest(s, t)
        outcomes.add(route.outcome)
    assert outcomes == {"delivered", "failed"}


@pytest.mark.kernels
def test_large_and_lazy():
    dual = fc.DualCube(30, fc.random_faults(0.3, seed=1))
    s, t = [u for u in (5, 2**60 + 12345, 2**61 - 7, 6, 7) if not dual.is_faulty(u)][:2]
    route = fc.route(dual, s, t, algorithm="PRACTICAL")
    assert route.outcome == "delivered"
    assert route.path == twin.Practical(30, dual.is_faulty).route(s, t)[0]
    assert all(dual.is_link(u, v) and not dual.is_faulty(v) for u, v in zip(route.path, route.path[1:], strict=False))
    assert fc.distance(fc.DualCube(30, [1]), 0, 3) == 2


@pytest.mark.kernels
def test_tree_limit_fails_the_route():
    # t has only faulty neighbours in its cluster, and the tree of s contains no fault, so it grows until B10 stops it
    m = 16
    s, t = 1 << m, 2**m - 1  # one class, neighbouring clusters, opposite positions
    dual = fc.DualCube(m, [t ^ (1 << i) for i in range(m)])
    route = fc.route(dual, s, t, algorithm="PRACTICAL")
    assert (route.outcome, route.reason, route.path) == ("failed", "limit", [])
    assert route.path == (twin.Practical(m, dual.is_faulty).route(s, t)[0] or [])


@pytest.mark.parametrize("variant", ["as_printed", "corrected"])
def test_a_path_of_one_node_takes_no_step(variant):
    """s = t among more faults than a cluster's limit, cut off: Algorithm 1 would find no way out (B6)."""
    dual = fc.DualCube(2, [0b00001, 0b00010, 0b10000])
    assert fc.route(dual, 0, 0, algorithm="OFFLINE", k=0, variant=variant).path == [0]
    assert fc.route(dual, 0, 0b10001, algorithm="OFFLINE", k=0, variant=variant).outcome == "failed"


@pytest.mark.kernels
def test_events_tell_why():
    dual = fc.DualCube(2, [0b00001, 0b00010, 0b10000])  # node 0 is cut off
    route = fc.route(dual, 0, 0b11000, algorithm="PRACTICAL")
    assert (route.outcome, route.reason) == ("failed", "exhausted")
    assert [(e.kind, e.node, e.nodes) for e in route.events] == [("ended", 0, 1)]
    assert route.asked == (1, 2, 16)


BAD = [
    (lambda: fc.DualCube(0), "m must be in [1, 30], got 0"),
    (lambda: fc.DualCube(31), "m must be in [1, 30], got 31"),
    (lambda: fc.DualCube(2, [32]), "faulty_nodes must be in [0, 31] for m=2, got 32"),
    (lambda: fc.DualCube(2, fc.random_faults(1.0)), "rate must be in [0, 1) for m=2, got 1.0"),
    (lambda: fc.random_faults(-0.5), "rate must be in [0, 1], got -0.5"),
    (lambda: fc.route(fc.DualCube(2), 32, 0, algorithm="PRACTICAL"), "s must be in [0, 31] for m=2, got 32"),
    (lambda: fc.route(fc.DualCube(2), 0, -1, algorithm="PRACTICAL"), "t must be in [0, 31] for m=2, got -1"),
    (
        lambda: fc.route(fc.DualCube(2, [3]), 0, 3, algorithm="PRACTICAL"),
        "t must be a nonfaulty node, got 3 (00011), which is faulty",
    ),
    (
        lambda: fc.route(fc.DualCube(2, [3]), 3, 0, algorithm="OFFLINE"),
        "s must be a nonfaulty node, got 3 (00011), which is faulty",
    ),
    (lambda: fc.route(fc.DualCube(5), 0, 1, algorithm="OFFLINE", k=3), "k must be in [0, 2] for m=5, got 3"),
    (
        lambda: fc.route(fc.DualCube(5), 0, 1, algorithm="OFFLINE", variant="x"),
        "variant must be as_printed or corrected for OFFLINE, got 'x'",
    ),
    (
        lambda: fc.route(fc.DualCube(17), 0, 1, algorithm="OFFLINE"),
        "m must be in [1, 16] for algorithm OFFLINE, which searches whole clusters of 2^m nodes, got 17",
    ),
    (
        lambda: fc.route(fc.DualCube(5), 0, 1, algorithm="ROUTE"),
        "algorithm must be PRACTICAL or OFFLINE for DualCube, got 'ROUTE'",
    ),
    (
        lambda: fc.route(fc.DualCube(5), 0, 1, algorithm="PRACTICAL", k=1),
        "k is not an option of PRACTICAL, which takes no options",
    ),
    (
        lambda: fc.DualCube(2).virtual_edges(0, 1),
        "t must be in another cluster of the class of s=00000, got 1 (00001)",
    ),
    (lambda: fc.DualCube(17).virtual_edges(0, 1), "m must be in [1, 16] to search whole clusters, got 17"),
    (
        lambda: fc.DualCube(10, fc.random_faults(0.1)).is_safe(1),
        "m must be in [1, 9] with random_faults, which need all 2^(2m+1) nodes' status, got 10",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input_is_one_clear_line(call, message):
    with pytest.raises(fc.ParameterError) as error:
        call()
    assert str(error.value) == message


@pytest.mark.kernels
def test_explanations_are_json_and_agree_with_the_twin():
    from fastcube.studies.li_peng_chu import PAPER

    seen = set()
    for study in map(fc.study, PAPER.studies):
        for m, rate in ((5, 0.5), (9, 0.4), (12, 0.45), (1, 0.9)):
            point = study.point({"m": m, "rate": rate})
            for trial in range(12):
                reported = study.explain(point, study.key(0, point), trial)
                data = json.loads(json.dumps(reported.data))
                if data["discarded"]:
                    seen.add("discarded")
                    continue
                seen.add(data["outcome"])
                plain = twin.Practical(m, twin.lazy_faults(data["status_key"], rate))
                path, reason = plain.route(data["s"], data["t"])
                assert (data["path"], data["reason"]) == (path or [], reason)
                assert data["faulty_met"] == sorted(u for u in plain.asked if plain.faulty(u))
                bits = [1 << (2 * m - i) for i in data["dimensions"]]
                assert bits == [u ^ v for u, v in zip(data["path"], data["path"][1:], strict=False)]
                if m <= 9:
                    assert data["shortest"] == (plain.shortest(data["s"], data["t"]) if m < 9 else data["shortest"])
                assert ("delivered over" in reported.text) == (path is not None)
                assert path is not None or data["events"]
    assert seen == {"discarded", "delivered", "failed"}
