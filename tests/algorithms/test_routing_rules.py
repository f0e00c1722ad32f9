"""Routing rules and their safety statuses: one network against the reference implementation and the exact counts of V12."""

from __future__ import annotations

import itertools
import json
import pickle
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from helpers.compiled import mark_others_slow
from helpers.routing_rules_drawing import sidetrack_chooser
from reference.routing_rules import Cube

import fastcube as fc

RULES = ("LEVELS", "VECTORS", "A1", "DFS", "SIDETRACK")
EXACT = json.loads((Path(__file__).resolve().parents[2] / "data" / "exact-routing-rules.json").read_text())["table"]


def check_statuses(n, faults, links):
    cube, twin = fc.Hypercube(n, faults, links), Cube(n, faults, links)
    shown, own, rounds = twin.levels()
    levels = fc.safety_levels(cube)
    assert levels.levels.tolist() == [own[v] for v in range(2**n)], (n, faults, links)
    assert [levels.shown_level(v) for v in range(2**n)] == [shown[v] for v in range(2**n)]
    assert levels.rounds == rounds
    u, rounds = twin.vectors()
    vectors = fc.safety_vectors(cube)
    assert vectors.vectors.astype(int).tolist() == [u[v][1:] for v in range(2**n)], (n, faults, links)
    assert vectors.rounds == rounds
    if not links:
        marked, rounds = twin.wu_fernandez()
        marking = fc.wu_fernandez_safe(cube)
        assert set(np.flatnonzero(marking.marked).tolist()) == marked
        assert marking.rounds == rounds


def check_routes(n, faults, links, s, t, seed=(7, 3)):
    cube, twin = fc.Hypercube(n, faults, links), Cube(n, faults, links)
    for rule in RULES:
        options = {"seed": seed} if rule == "SIDETRACK" else {}
        found = fc.route(cube, s, t, algorithm=rule, **options)
        wanted = twin.route(rule, s, t, sidetrack_chooser(*seed))
        assert (found.outcome, found.path) == wanted, (n, faults, links, s, t, rule)


# ---------------------------------------------------------------- the twin and the exact counts


@pytest.mark.parametrize(("n", "most"), [(2, 3), (3, 6), pytest.param(4, 2, marks=pytest.mark.slow)])
def test_all_fault_sets_of_small_cubes_give_the_exact_counts(n, most):
    """The twin, and one instance, against the table of the reading."""
    for f in range(most + 1):
        want = EXACT[str(n)][str(f)]
        got = {"pairs": 0, "reachable": 0, "hamming_path_exists": 0}
        ways = {rule: {"delivered": 0, "at_hamming": 0, "links": 0, "extra_max": 0} for rule in RULES[:4]}
        levels, rounds, arrives = dict.fromkeys(range(n + 1), 0), {}, Fraction(0)
        for faults in itertools.combinations(range(1, 2**n), f):
            cube, twin = fc.Hypercube(n, faults), Cube(n, faults)
            levels_of = fc.safety_levels(cube)
            levels[levels_of.level(0)] += 1
            rounds[levels_of.rounds] = rounds.get(levels_of.rounds, 0) + 1
            check_statuses(n, faults, ())
            for t in set(range(1, 2**n)) - set(faults):
                got["pairs"] += 1
                got["reachable"] += twin.shortest(0, t) is not None
                got["hamming_path_exists"] += twin.hamming_path_exists(0, t)
                arrives += twin.sidetracking(0, t) if n < 4 else 0
                for rule, way in ways.items():
                    found = fc.route(cube, 0, t, algorithm=rule)
                    assert (found.outcome, found.path) == twin.route(rule, 0, t)
                    if found.outcome == "delivered":
                        extra = found.length - t.bit_count()
                        way["delivered"] += 1
                        way["at_hamming"] += extra == 0
                        way["links"] += found.length
                        way["extra_max"] = max(way["extra_max"], extra)
                    else:
                        way[found.outcome] = way.get(found.outcome, 0) + 1
        assert got == {name: want[name] for name in got}
        assert levels == {int(k): v for k, v in want["level_of_s"].items()}
        assert rounds == {int(k): v for k, v in want["sets_by_rounds"].items()}
        if got["pairs"]:
            assert ways == {rule: want[rule.lower() if rule in ("LEVELS", "VECTORS") else rule] for rule in ways}
        if "sidetracking_P_times_pairs" in want and n < 4:
            assert arrives == Fraction(want["sidetracking_P_times_pairs"])


@pytest.mark.slow
@pytest.mark.parametrize("step", [14, 2])
def test_words_and_ways_with_faulty_links(step):
    """Fault sets of Q_3 with up to two faulty nodes and two links, of the latter one in every so many."""
    links = [(x, x | 1 << i) for x in range(8) for i in range(3) if not x >> i & 1]
    for f, k in itertools.product(range(3), range(3)):
        for faults in itertools.combinations(range(1, 8), f):
            for cut in itertools.islice(itertools.combinations(links, k), 0, None, 1 + step * k):
                check_statuses(3, faults, cut)
                for t in set(range(1, 8)) - set(faults):
                    check_routes(3, faults, cut, 0, t)


def test_random_fault_sets():
    draw = random.Random(5)
    for n, count in ((4, 60), (5, 40), (6, 20)):
        links = [(x, x | 1 << i) for x in range(2**n) for i in range(n) if not x >> i & 1]
        for _ in range(count):
            nodes = draw.sample(range(2**n), draw.randint(2, 2**n // 2))
            faults, cut = nodes[2:], draw.sample(links, draw.choice((0, 0, 1, n)))
            check_statuses(n, faults, cut)
            check_routes(n, faults, cut, *nodes[:2], seed=(draw.getrandbits(64), draw.getrandbits(40)))


# ---------------------------------------------------------------- what the reading states


def test_with_faulty_links_levels_and_vectors_refuse_although_a_path_exists():
    cube = fc.Hypercube(3, faulty_links=[(0, 1), (2, 6)])
    assert fc.distance(cube, 0, 1) == 3
    for rule in ("LEVELS", "VECTORS"):
        assert fc.route(cube, 0, 1, algorithm=rule).outcome == "refused"
        assert fc.route(cube, 0, 1, algorithm=rule).path == [0]


def test_the_marking_takes_more_than_n_minus_1_rounds():
    assert fc.wu_fernandez_safe(fc.Hypercube(4, [2, 5, 6, 8, 9])).rounds == 4


def test_sidetracking_is_trapped_for_ever_where_a_path_exists():
    cube = fc.Hypercube(4, [1, 2, 4, 9, 10])
    assert fc.distance(cube, 0, 3) == 6
    assert Cube(4, [1, 2, 4, 9, 10]).sidetracking(0, 3) == 0
    found = fc.route(cube, 0, 3, algorithm="SIDETRACK", seed=5)
    assert (found.outcome, len(found.path)) == ("limit", 8 * 4 + 1)


def test_a1_needs_a_good_spare_link():
    """Theorem of Chen & Shin: fewer than n faults; it would fail here if the spare bit had not to be good (V7)."""
    assert fc.route(fc.Hypercube(4, [1, 2, 8]), 0, 3, algorithm="A1").outcome == "delivered"


def test_one_nodes_word_at_any_n():
    """Words outside of the unsafe subcubes are full, and words inside equal the subcube's (V5)."""
    small = [0b0001, 0b0010, 0b0100, 0b1000]
    spread = lambda x: sum((x >> i & 1) << (13 * i + 5) for i in range(4))  # noqa: E731
    cube, inner = fc.Hypercube(60, [spread(x) for x in small]), fc.Hypercube(4, small)
    levels, vectors = fc.safety_levels(cube), fc.safety_vectors(cube)
    within, bits = fc.safety_levels(inner).levels, fc.safety_vectors(inner).vectors
    for v in range(16):
        assert levels.level(spread(v)) == (60 if within[v] == 4 else within[v])
        assert vectors.vector(spread(v))[:4].tolist() == bits[v].tolist()
        assert vectors.vector(spread(v))[4:].all() == (v not in small)
    assert levels.level(2**59 + 1) == 60
    assert levels.rounds == fc.safety_levels(inner).rounds
    found = fc.route(cube, 0, spread(3), algorithm="LEVELS")
    assert (found.outcome, found.length) == ("delivered", 4)  # a spare link out of the subcube, and back in


def codes(n, most):
    """All sets of at most so many nodes of Q_n, no two within distance 2."""
    found = [()]
    for code in found:
        if len(code) < most:
            found += [
                (*code, x) for x in range(max(code, default=-1) + 1, 2**n) if all((x ^ y).bit_count() > 2 for y in code)
            ]
    return found


@pytest.mark.parametrize(("n", "sets", "pairs"), mark_others_slow([(3, 1, 1), (4, 7, 3), (6, 20_000, 41)]))
def test_where_no_two_faults_are_close_every_word_is_full_and_every_rule_takes_a_shortest_path(n, sets, pairs):
    """But ROUTE, which does where no fault is on its one path: lanes decide these messages without a walk."""
    for faults in codes(n, 4)[1::sets]:
        cube = fc.Hypercube(n, faults)
        nonfaulty = sorted(set(range(2**n)) - set(faults))
        assert not fc.find_unsafe(cube).count and not fc.wu_fernandez_safe(cube).marked.any()
        assert (fc.safety_levels(cube).levels[nonfaulty] == n).all() and fc.safety_vectors(cube).vectors[
            nonfaulty
        ].all()
        for s, t in itertools.islice(itertools.permutations(nonfaulty, 2), 0, None, pairs):
            for rule in (*RULES, "ROUTE1", "ROUTE3"):
                assert fc.route(cube, s, t, algorithm=rule).length == (s ^ t).bit_count(), (faults, s, t, rule)


@pytest.mark.parametrize("statuses", [fc.safety_levels, fc.safety_vectors, fc.wu_fernandez_safe])
def test_words_go_to_other_processes(statuses):
    made = statuses(fc.Hypercube(4, [3, 5, 6]))
    assert pickle.loads(pickle.dumps(made)).rounds == made.rounds


def test_random_faults_and_seeds():
    cube = fc.Hypercube(12, fc.random_faults(0.2, seed=1))
    s, t = next((s, s ^ 0xFFF) for s in range(4096) if not cube.is_faulty(s) and not cube.is_faulty(s ^ 0xFFF))
    ways = {seed: fc.route(cube, s, t, algorithm="SIDETRACK", seed=seed).path for seed in range(8)}
    assert len({tuple(path) for path in ways.values()}) > 1
    assert ways[3] == fc.route(cube, s, t, algorithm="SIDETRACK", seed=(3, 0)).path
    assert fc.route(cube, s, t, algorithm="DFS").outcome == "delivered"


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: fc.safety_levels(3), r"cube must be a Hypercube, got 3"),
        (lambda: fc.safety_levels(fc.Hypercube(21)).levels, r"n must be in \[1, 20\] for levels, got 21"),
        (lambda: fc.safety_vectors(fc.Hypercube(21)).vectors, r"n must be in \[1, 20\] for vectors, got 21"),
        (lambda: fc.wu_fernandez_safe(fc.Hypercube(21)).marked, r"n must be in \[1, 20\] for marked, got 21"),
        (lambda: fc.safety_levels(fc.Hypercube(3)).level(8), r"v must be .*\[0, 7\] for n=3, got 8"),
        (
            lambda: fc.wu_fernandez_safe(fc.Hypercube(3, (), [(0, 1)])),
            "faulty_links must be empty for wu_fernandez_safe, got 1",
        ),
        (lambda: fc.route(fc.Hypercube(3), 0, 1, algorithm="SIDETRACK", seed=-1), r"seed must be .*got -1"),
        (lambda: fc.route(fc.Hypercube(3), 0, 1, algorithm="SIDETRACK", seed=(1,)), r"seed must be .*got \(1,\)"),
        (lambda: fc.route(fc.Hypercube(3), 0, 1, algorithm="SIDETRACK", seed=(1, "x")), "trial of seed must be"),
        (lambda: fc.route(fc.Hypercube(3), 0, 1, algorithm="A1", seed=1), "seed is not an option of A1"),
        (lambda: fc.route(fc.Hypercube(3), 0, 1, algorithm="LEVEL"), "algorithm must be .*LEVELS"),
        (
            lambda: fc.safety_levels(fc.Hypercube(30, [0, 2**21 - 1], [(x, x ^ 1) for x in _chain()])).level(0),
            r"safety statuses are computed in unsafe subcubes of at most 20 dimensions, got one of 21",
        ),
    ],
)
def test_bad_input_is_one_line(call, line):
    with pytest.raises(fc.ParameterError, match=line) as caught:
        call()
    assert "\n" not in str(caught.value)


def _chain():
    """Return nodes at distance two from each other that span 21 dimensions."""
    x = 0
    for i in range(1, 21, 2):
        x |= 3 << i
        yield x
