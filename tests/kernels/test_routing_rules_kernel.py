"""Kernels of routing rules: exact counts, one network on the same trials, and the rules for every study's kernel."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from helpers.routing_rules_trials import check_rate, check_rules, check_status
from reference.routing_rules import Cube

import fastcube as fc
from fastcube.kernels.draws.faults import faults_for, index_faults, trial_faults, unsafe_subcubes
from fastcube.kernels.machine.jit import kernel
from fastcube.kernels.routing_rules.all_sets import make_sets_kernel
from fastcube.kernels.routing_rules.bytes_per_node import make_bytes_kernel
from fastcube.kernels.routing_rules.label_tests import find_known_level_lanes
from fastcube.kernels.routing_rules.lanes import make_lanes_kernel
from fastcube.kernels.routing_rules.layout import NAMES, make_layout
from fastcube.kernels.routing_rules.layout import ROUTING_RULES as TABLE
from fastcube.kernels.routing_rules.rules import RULES
from fastcube.kernels.routing_rules.safety_status import forget_safety_status, level, safety_status_for, vector_bit
from fastcube.kernels.routing_rules.scalar import ROUTING_RULES_SINGLE, make_kernel
from fastcube.kernels.routing_rules.whole_cube import make_whole_cube_kernel

EXACT = json.loads((Path(__file__).resolve().parents[2] / "data" / "exact-routing-rules.json").read_text())["table"]
KEY = 0x5EED0123456789AB
INFORMED = ("LEVELS", "VECTORS", "A1", "DFS")
SOME = ("route", "levels", "vectors", "a1", "sidetrack")
#: None of these leaves nearer neighbours, so that labels alone decide trials of whole cubes.
NEARER = ("route", "levels", "vectors", "a1", "dfs")


def counted(kernel, layout, first, stop, *point):
    slots = layout.new_tally()
    kernel(np.uint64(KEY), first, stop, np.array(point, float), slots)
    return layout.read(slots)


@pytest.fixture(scope="module")
def enumerated():
    names = tuple(rule.lower() for rule in INFORMED)
    return make_sets_kernel([RULES[rule] for rule in INFORMED], names), make_layout(names)


@pytest.mark.kernels
@pytest.mark.parametrize("n", [2, 3, 4])
def test_all_messages_give_the_exact_counts(n, enumerated):
    kernel, layout = enumerated
    for f in range(2**n - 1):
        want = EXACT[str(n)][str(f)]
        slots = layout.new_tally()
        sets = math.comb(2**n - 1, f)
        kernel(np.uint64(0), 0, sets, np.array([n, f, 0, *range(f)], float), slots)
        pairs = sets * (2**n - 1 - f)
        counts, maxima = layout.read(slots)
        assert (pairs, counts["reachable"], counts["hamming_path_exists"]) == tuple(
            want[name] for name in ("pairs", "reachable", "hamming_path_exists")
        )
        assert counts["hamming_path_known"] == pairs
        for rule in INFORMED if pairs else ():
            name, known = rule.lower(), want[rule.lower() if rule in ("LEVELS", "VECTORS") else rule]
            assert counts[f"{name}_delivered"] == known["delivered"], (f, rule)
            assert counts[f"{name}_at_hamming"] == known["at_hamming"]
            assert counts[f"{name}_refused"] == known.get("refused", 0)
            assert counts[f"{name}_loss"] == want["reachable"] - known["delivered"]
            assert maxima[f"{name}_most"][0] == (known["extra_max"] if known["delivered"] else -1)
        if pairs:
            assert maxima["levels_wrong"] == maxima["vectors_wrong"] == (0, 0)
            assert counts["vectors_diff"] == want["vectors"]["delivered"] - want["levels"]["delivered"]


POINTS = [
    (3, 3, 2),
    (4, 5, 0),
    (4, 3, 6),
    (5, 0, 9),
    (5, 12, 0),
    (6, 9, 4),
    (7, 12, 0),
    (7, 40, 0),
    (8, 16, 3),
    (9, 9, 0),
    (9, 180, 0),
    (13, 30, 8),
]


@pytest.mark.kernels
@pytest.mark.parametrize("point", POINTS)
def test_trials_are_what_one_instance_says(point):
    """Compare every rule in every trial with fc.route on the same faults, with the same seed."""
    n, f, links = point
    for t in range(40):
        counts, maxima = counted(ROUTING_RULES_SINGLE, TABLE, t, t + 1, *point)
        nodes, pairs, ends = trial_faults(np.uint64(KEY), t, n, f, links, 2)
        cube, (s, end) = fc.Hypercube(n, nodes, pairs.tolist()), ends.tolist()
        least, h = fc.distance(cube, s, end), (s ^ end).bit_count()
        if n <= 12:
            assert counts["reachable"] == (least is not None)
        assert counts["hamming_path_exists"] == (least == h)
        delivers = {}
        for rule in RULES:
            name = rule.lower()
            found = fc.route(cube, s, end, algorithm=rule, **({"seed": (KEY, t)} if rule == "SIDETRACK" else {}))
            outcome = "refused" if rule == "ROUTE3" and fc.find_unsafe(cube).all_unsafe else found.outcome
            delivers[name] = outcome == "delivered"
            extra = found.length - h if delivers[name] else 0
            got = {
                what: counts[f"{name}_{what}"]
                for what in ("delivered", "at_hamming", "extra_links", "extra_squares", "refused", "limit", "unknown")
            }
            assert got == {
                "delivered": delivers[name],
                "at_hamming": delivers[name] and extra == 0,
                "extra_links": extra,
                "extra_squares": extra**2,
                "refused": outcome == "refused",
                "limit": outcome == "limit",
                "unknown": 0,
            }, (t, rule)
            assert maxima[f"{name}_most"] == ((extra, t) if delivers[name] else (-1, -1))
            if n <= 12:
                assert counts[f"{name}_loss"] == (least is not None and not delivers[name])
        for name in ("route3", "vectors", "a1"):
            assert counts[f"{name}_diff"] == delivers[name] - delivers["levels"]
            assert counts[f"{name}_differs"] == (delivers[name] != delivers["levels"])
        assert maxima["levels_wrong"] == maxima["vectors_wrong"] == (0, t)


@pytest.mark.kernels
def test_faults_and_messages_are_routings():
    """With the key of routing at k = 1, ROUTE, ROUTE1 and ROUTE3 count the same as that study."""
    routing = fc.study("routing")
    for n, f, links in ((6, 5, 0), (8, 4, 0), (12, 6, 0), (6, 2, 3), (20, 40, 0)):
        theirs = routing.count({"n": n, "f": f, "links": links, "k": 1}, 500).counts
        slots = TABLE.new_tally()
        key = routing.key(0, {"n": n, "f": f, "links": links, "k": 1})
        ROUTING_RULES_SINGLE(np.uint64(key), 0, 500, np.array([n, f, links], float), slots)
        ours = TABLE.read(slots)[0]
        for name in ("route", "route1", "route3"):
            assert ours[f"{name}_delivered"] == theirs[f"{name}_delivered"], (n, f, links, name)
        assert ours["route1_above_hamming"] == theirs["route1_above_hamming"]
        assert ours["route3_refused"] == 500 - theirs["some_active"]
        assert ours["reachable"] == theirs["reachable"]


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("other_kernel", "names", "points"),
    [
        (
            make_bytes_kernel(SOME),
            SOME,
            [(1, 0), (2, 2), (3, 6), (5, 9), (6, 30), (8, 8), (8, 254), (10, 12), (12, 24)],
        ),
        (make_lanes_kernel(16, SOME), SOME, [(9, 3), (10, 5), (12, 6), (16, 40)]),
        (make_lanes_kernel(32, SOME), SOME, [(17, 12), (20, 10), (32, 60), (33, 9), (62, 62)]),
        (make_whole_cube_kernel(8, SOME), SOME, [(6, 3), (7, 9), (8, 2), (8, 4), (8, 13), (8, 126)]),
        (make_whole_cube_kernel(16, SOME), SOME, [(9, 9), (10, 40), (11, 7), (12, 90)]),
        (
            make_whole_cube_kernel(16, NEARER),
            NEARER,
            [(9, 2), (9, 9), (9, 16), (9, 17), (10, 10), (10, 40), (11, 25), (12, 45)],
        ),
    ],
)
def test_kernels_count_what_single_trials_count(other_kernel, names, points):
    """Tables of five rules; ranges that begin and end inside a vector, faults that are often close and seldom."""
    single = make_kernel([RULES[name.upper()] for name in names], names)
    for n, f in points:
        for first, stop in ((0, 1), (3, 2003), (70_001, 70_402)):
            ours = counted(other_kernel, make_layout(names), first, stop, n, f, 0)
            assert ours == counted(single, make_layout(names), first, stop, n, f, 0)


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f"), [(6, 30), (7, 62), (8, 126)])
def test_the_last_of_many_faults_are_seen(n, f):
    """Of 10^5 trials 20 to 400 need more labels than are drawn in lanes; one or two of them are lost by their last faults."""
    names = ("route", "a1")
    single = make_kernel([RULES[name.upper()] for name in names], names)
    assert counted(make_whole_cube_kernel(8, names), make_layout(names), 0, 400_000, n, f, 0) == counted(
        single, make_layout(names), 0, 400_000, n, f, 0
    )


@pytest.mark.kernels
def test_lanes_leave_rules_that_wander_to_scalar_code():
    """Where the first path is free, SIDETRACK leaves it, and reaches two faults before t in a few of 10^5 trials.

    At more faults than these the whole cube is unsafe in nearly all trials, which are judged one at a time anyway.
    """
    single = make_kernel([RULES[name.upper()] for name in SOME], SOME)
    found = counted(make_lanes_kernel(16, SOME), make_layout(SOME), 3, 400_003, 9, 5, 0)
    assert found == counted(single, make_layout(SOME), 3, 400_003, 9, 5, 0)
    assert found[0]["sidetrack_extra_links"] > 0


class Labels(NamedTuple):
    f: np.int64
    labels: np.ndarray
    sources: np.ndarray
    destinations: np.ndarray
    far_from_low: np.ndarray
    far_from_high: np.ndarray


@kernel("uint64(int64, uint16[::1])", cache=False)
def known_by_labels(f, labels):
    sources, destinations = labels[32 * f : 32 * (f + 1)], labels[32 * (f + 1) :]
    far = np.zeros(32 * f, np.uint16), np.zeros(32 * f, np.uint16)
    return find_known_level_lanes(Labels(f, labels, sources, destinations, far[0], far[1]), 32)


def some_preferred_neighbour_has_level(faults, s, t, levels):
    """Whether labels tell that the first or the last preferred neighbour has level H - 1, which is held against its level."""
    h = (s ^ t).bit_count()
    pairs = [(x, y) for x, y in combinations(faults, 2) if (x ^ y).bit_count() == 2]
    reported = h == 1
    for bit in (1 << (s ^ t).bit_length() - 1, (s ^ t) & -(s ^ t)):
        p = s ^ bit
        near = any(max((x ^ p).bit_count(), (y ^ p).bit_count()) <= h - 2 for x, y in pairs)
        if h > 1 and p not in faults and not near:
            assert levels[p] >= h - 1
            reported = True
    return reported


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f"), [(3, 2), (5, 4), (6, 3), (6, 8), (8, 12), (9, 16)])
def test_labels_tell_levels(n, f):
    rng = np.random.default_rng(f)
    for _ in range(25):
        rows = rng.integers(0, 2**n, (f + 2, 32)).astype(np.uint16)
        found = int(known_by_labels(f, rows.ravel()))
        for i, drawn in enumerate(rows.T.tolist()):
            *faults, s, t = drawn
            reported = len(set(drawn)) == f + 2
            if reported:
                reported = some_preferred_neighbour_has_level(
                    faults, s, t, fc.safety_levels(fc.Hypercube(n, faults)).levels
                )
            assert found >> i & 1 == reported, drawn


@kernel("void(uint64[::1], int64, int64[::1], boolean[:, ::1])", cache=False)
def every_word(labels, n, levels, vectors):
    """Levels of all nodes of Q_n with these faults, and bits 1 .. n of their vectors."""
    faults, status = (
        faults_for(n, labels.size, np.int64(0), np.int64(0)),
        safety_status_for(n, labels.size, np.int64(0)),
    )
    faults.labels[: labels.size] = labels
    index_faults(faults)
    unsafe_subcubes(faults)
    forget_safety_status(status, faults)
    for v in range(levels.size):
        levels[v] = level(status, faults, n, np.uint64(v))
        for k in range(n):
            vectors[v, k] = vector_bit(status, faults, n, np.uint64(v), k + 1)


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f"), [(9, 9), (10, 9), (10, 20), (10, 63), (11, 12), (11, 65), (12, 20)])
def test_words_of_large_subcubes_are_those_of_all_nodes(n, f):
    """From ten dimensions on lists, and planes where more than 64 nodes would be listed; near node 0 levels are low, too."""
    draw = np.random.default_rng(n * f)
    near = np.array([v for v in range(2**n) if v.bit_count() <= 3], np.uint64)
    for nodes in (np.arange(2**n, dtype=np.uint64), near):
        for _ in range(4):
            cube = fc.Hypercube(n, [int(v) for v in draw.choice(nodes, f, replace=False)])
            levels, vectors = np.zeros(2**n, np.int64), np.zeros((2**n, n), np.bool_)
            every_word(np.array(sorted(cube.faulty_nodes), np.uint64), n, levels, vectors)
            assert np.array_equal(levels, fc.safety_levels(cube).levels)
            assert np.array_equal(vectors, fc.safety_vectors(cube).vectors)


# ---------------------------------------------------------------- the plain twins, on the kernel's own trials


@pytest.mark.kernels
@pytest.mark.parametrize("point", [(4, 4, 0), (4, 5, 2), (3, 2, 3)])
def test_trials_of_the_twins(point):
    check_rules(*point, 60)
    check_status(*point, 60)


def test_trials_of_the_twins_at_a_rate():
    check_rate(4, 0.4, 100)


@pytest.mark.kernels
def test_shards_add_up():
    whole = counted(ROUTING_RULES_SINGLE, TABLE, 0, 300, 8, 12, 2)
    parts = [counted(ROUTING_RULES_SINGLE, TABLE, a, b, 8, 12, 2) for a, b in ((0, 1), (1, 130), (130, 300))]
    assert whole[0] == {name: sum(part[0][name] for part in parts) for name in whole[0]}
    for name, (value, trial) in whole[1].items():
        best = max((part[1][name] for part in parts), key=lambda e: (e[0], -e[1]))
        assert (value, trial) == best


@pytest.mark.kernels
@pytest.mark.parametrize("faults", [(1, 2, 4, 9, 10), (1, 2, 8), (3, 5, 6, 9, 10, 12)])
def test_sidetracking_arrives_as_often_as_its_chain_says(faults):
    """Compare the frequency over seeds with the exact probability within 8n hops, at a two-sided level of 1e-6."""
    cube, twin = fc.Hypercube(4, faults), Cube(4, faults)
    for t in (3, 15):
        if t in faults:
            continue
        p = twin.sidetracking(0, t, hops=32)
        got = sum(fc.route(cube, 0, t, algorithm="SIDETRACK", seed=(KEY, i)).outcome == "delivered" for i in range(400))
        assert abs(Fraction(got, 400) - p) ** 2 * 400 <= 25 * p * (1 - p) + Fraction(1, 50)


@pytest.mark.kernels
def test_a_table_of_some_rules_counts_as_the_whole_one():
    names = ("a1", "levels")
    some = counted(make_kernel([RULES["A1"], RULES["LEVELS"]], names), make_layout(names), 0, 400, 6, 14, 2)
    whole = counted(ROUTING_RULES_SINGLE, TABLE, 0, 400, 6, 14, 2)
    for kind in (0, 1):
        assert some[kind] == {name: whole[kind][name] for name in some[kind]}
    assert set(NAMES) == {rule.lower() for rule in RULES}
