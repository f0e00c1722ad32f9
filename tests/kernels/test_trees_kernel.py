"""The tree kernels against the plain twin: FIND_TREE, TOP_DOWN and the optimum, set by set and trial by trial."""

import functools
import random
import re
from math import comb

import numpy as np
import pytest
from helpers.compiled import mark_others_slow
from helpers.machine_code import assembly_text, has_cpu_feature
from helpers.tree_faults import WORSE_SINK_LINKS, links_of
from helpers.tree_trials import enumerate_fault_sets, fault_counts, links_in_order, sample_faults
from reference import trees as twin

import fastcube as fc
from fastcube.kernels.machine import simd
from fastcube.kernels.machine.jit import kernel
from fastcube.kernels.trees import dispatch
from fastcube.kernels.trees import lanes as trees_lanes
from fastcube.kernels.trees.dispatch import MOST_IN_LANES
from fastcube.kernels.trees.lanes import find_tree_lanes
from fastcube.kernels.trees.lattice import OPTIMAL_TREE_8, OPTIMAL_TREE_16, OPTIMAL_TREE_SETS
from fastcube.kernels.trees.lattice_lanes import optimal_tree_lanes
from fastcube.kernels.trees.layout import FIND_TREE, OPTIMAL_TREE
from fastcube.kernels.trees.scalar import FIND_TREE_DENSE, FIND_TREE_SETS
from fastcube.kernels.trees.sparse import FIND_TREE_SPARSE


def expected(n, nodes, links, optima=True):
    """Both tallies of one fault set, by the twin."""
    return expected_of(n, tuple(twin.detect(n, nodes, links)), optima)


@functools.lru_cache(2**13)
def expected_of(n, fault, optima):
    """The same by FAULT words, which links of faulty nodes do not change."""
    full = 2**n - 1
    finding, best = (
        dict.fromkeys([c.name for c in FIND_TREE.counters], 0),
        dict.fromkeys([c.name for c in OPTIMAL_TREE.counters], 0),
    )
    if optima:
        crossed = len(twin.faulty_links(n, fault, *twin.top_down(n, fault)))
        best["fault_free_top_down"] = int(crossed == 0)
    tree = twin.find_tree(n, fault)
    if tree is None:
        return finding, best
    bad = twin.faulty_links(n, fault, *tree[:2])
    faults, failing = len(bad), sum(fault[u] != full for u, _ in bad)
    finding |= {
        "sink_exists": 1,
        "fault_free": int(faults == 0),
        "no_blocked_sender": int(failing == 0),
        "tree_faults": faults,
        "tree_faults_squared": faults**2,
        "with_tree_faults": int(faults > 0),
        "blocked_senders": failing,
        "blocked_senders_squared": failing**2,
        "with_blocked_senders": int(failing > 0),
    }
    if optima:
        fewest = [twin.best_order(n, fault, v)[0] for v in range(2**n)]
        same, every = fewest[tree[0]], min(fewest)
        clean = min(fewest[v] for v in range(2**n) if fault[v] == 0)
        best |= {"sink_exists": 1, "fault_free": int(faults == 0), "fault_free_exists": int(clean == 0)}
        best |= {"optimal": int(faults == clean), "product": faults * clean}
        for name, value in (
            ("tree_faults", faults),
            ("gap", faults - clean),
            ("optimum", clean),
            ("same_sink", same),
            ("any_sink", every),
            ("top_down", crossed),
        ):
            best |= {name: value, f"{name}_squared": value**2, f"with_{name}": int(value > 0)}
    return finding, best


def one_set(n, nodes, links):
    """Both tallies of one fault set, by the kernels."""
    number = {link: i for i, link in enumerate(links_in_order(n))}
    numbers = [*sorted(number[link] for link in links), *sorted(nodes)]
    out = []
    for all_sets, layout in ((FIND_TREE_SETS, FIND_TREE), (OPTIMAL_TREE_SETS, OPTIMAL_TREE)):
        slots = layout.new_tally()
        all_sets(np.uint64(0), 0, 1, np.array([n, len(links), len(nodes), *numbers], np.float64), slots)
        out.append(layout.read(slots)[0])
    return tuple(out)


@pytest.mark.kernels
def test_all_small_sets():
    for n, most_links, most_nodes in ((1, 1, 1), (2, 4, 1), (3, 2, 1)):
        for links, nodes in enumerate_fault_sets(n, most_links, most_nodes):
            assert one_set(n, nodes, links) == expected(n, nodes, links), (n, nodes, links)


@pytest.mark.kernels
def test_a_sink_with_a_faulty_link_is_no_sink():
    """Where a label with a faulty link has the better tree: 2 faulty links over sinks, 1 over all labels."""
    found = one_set(4, (), WORSE_SINK_LINKS)
    assert found == expected(4, (), WORSE_SINK_LINKS)
    assert (found[1]["optimum"], found[1]["any_sink"]) == (2, 1)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("n", "most_links", "most_nodes"), [(3, 12, 1), (4, 3, 0), (5, 0, 2)])
def test_all_sets(n, most_links, most_nodes):
    for links, nodes in enumerate_fault_sets(n, most_links, most_nodes):
        assert one_set(n, nodes, links) == expected(n, nodes, links), (n, nodes, links)


def total(cases, optima):
    """Sum of the twin's tallies."""
    sums = None
    for n, nodes, links in cases:
        found = expected(n, nodes, links, optima)[optima]
        sums = found if sums is None else {name: value + found[name] for name, value in sums.items()}
    return sums


def check_trials(kernel, layout, n, links, f, trials, first=5):
    key = np.uint64(fc.study("find-tree").key(3, {"n": n, "links": links, "f": f}))
    slots = layout.new_tally()
    kernel.compiled(key, first, first + trials, np.array([n, links, f], np.float64), slots)
    cases = [(n, *sample_faults(key, t, n, links, f)) for t in range(first, first + trials)]
    assert layout.read(slots)[0] == total(cases, layout is OPTIMAL_TREE), (kernel, n, links, f)


@pytest.mark.parametrize("kernel", [FIND_TREE_DENSE, pytest.param(FIND_TREE_SPARSE, marks=pytest.mark.kernels)])
@pytest.mark.parametrize("n", range(1, 8))
def test_finding(n, kernel):
    for links, f in fault_counts(n):
        if kernel is FIND_TREE_DENSE or (2 * f <= 2**n and links < n * 2 ** (n - 1)):
            check_trials(kernel, FIND_TREE, n, links, f, 6 if n < 6 else 2)


@pytest.mark.parametrize("n", mark_others_slow(range(1, 6), default=4))
def test_optima(n):
    """Lanes of bytes; lanes of 16 bits are the enumeration's, which other tests run by default."""
    for links, f in fault_counts(n):
        if links + n * f <= 255:
            check_trials(OPTIMAL_TREE_8, OPTIMAL_TREE, n, links, f, 66 if n < 4 else 3)


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "links"), [(4, 1), (4, 4), (4, 8), (4, 16), (5, 2), (5, 7), (5, 31), (6, 5), (6, 31)])
def test_optima_in_lanes(n, links):
    """Up to a trial in three has no sink at (4, 16), as many a tree without a faulty link at (6, 5)."""
    check_trials(optimal_tree_lanes, OPTIMAL_TREE, n, links, 0, 90 if n < 6 else 40)


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "links", "trials"), [(4, 3, 9000), (7, 31, 2000), (9, 20, 500), (12, 31, 70)])
def test_optima_in_lanes_are_those_one_by_one(n, links, trials):
    """In parts, which fill no vector."""
    params, key = np.array([n, links, 0], np.float64), np.uint64(17)
    whole, parts = OPTIMAL_TREE.new_tally(), OPTIMAL_TREE.new_tally()
    OPTIMAL_TREE_8.compiled(key, 0, trials, params, whole)
    for first, stop in ((33, trials), (0, 1), (1, 33)):
        optimal_tree_lanes.compiled(key, first, stop, params, parts)
    assert np.array_equal(whole, parts)


@pytest.mark.slow
@pytest.mark.parametrize("n", range(3, 6))
def test_optima_with_many_faults(n):
    for links, f in fault_counts(n):
        if n == 3 or links + n * f > 255:
            check_trials(OPTIMAL_TREE_16, OPTIMAL_TREE, n, links, f, 33)


@pytest.mark.exhaustive
def test_finding_on_many_random_sets():
    """10^5 trials, n = 4 .. 12."""
    rng = random.Random(1)
    for n, rounds, trials in (
        (4, 650, 50),
        (5, 600, 50),
        (6, 400, 50),
        (7, 400, 25),
        (8, 200, 20),
        (9, 100, 20),
        (10, 50, 20),
        (11, 20, 20),
        (12, 20, 20),
    ):
        for _ in range(rounds):
            links = rng.choice([n, 2 * n, 2 ** (n - 2), 2 ** (n - 1), rng.randrange(n * 2 ** (n - 1))])
            f = rng.choice([0, 0, 1, n])
            check_trials(dispatch.FIND_TREE.kernel(n, links, f), FIND_TREE, n, links, f, trials)


@pytest.mark.exhaustive
def test_optima_on_many_random_sets():
    """10^4 trials, n = 3 .. 6."""
    rng = random.Random(2)
    for n, rounds in ((3, 80), (4, 60), (5, 40), (6, 20)):
        for _ in range(rounds):
            links = rng.choice([n, 2 * n, 2 ** (n - 1), rng.randrange(n * 2 ** (n - 1))])
            f = rng.choice([0, 0, 1, n])
            check_trials(dispatch.OPTIMAL_TREE.kernel(n, links, f), OPTIMAL_TREE, n, links, f, 50)


@pytest.mark.kernels
def test_large_cubes():
    """n > 16 against the one-cube functions, which know no 2^n either."""
    for n, links, f in ((17, 200, 0), (20, 1300, 30), (40, 160, 40), (62, 300, 5)):
        key = np.uint64(n)
        for t in range(3):
            slots = FIND_TREE.new_tally()
            FIND_TREE_SPARSE.compiled(key, t, t + 1, np.array([n, links, f], np.float64), slots)
            nodes, pairs = sample_faults(key, t, n, links, f)
            cube = fc.Hypercube(n, nodes, pairs)
            tree = fc.find_tree(cube)
            counts = FIND_TREE.read(slots)[0]
            assert counts["tree_faults"] == len(tree.faulty_links)
            failing = [u for u, _ in tree.faulty_links if not cube.is_faulty(u)]
            assert counts["blocked_senders"] == len(failing)  # none is isolated


@pytest.mark.kernels
def test_splits_add_up():
    """Any split of the trials counts the same, queues of lanes and all."""
    params = np.array([6, 20, 1], np.float64)
    for way, layout in ((FIND_TREE_DENSE, FIND_TREE), (OPTIMAL_TREE_8, OPTIMAL_TREE)):
        whole = layout.new_tally()
        way.compiled(np.uint64(9), 0, 500, params, whole)
        parts = layout.new_tally()
        for first, stop in ((300, 500), (0, 1), (1, 130), (130, 300)):
            way.compiled(np.uint64(9), first, stop, params, parts)
        assert np.array_equal(whole, parts)


# ---------------------------------------------------------------- exact values


def edge_covers(n, links):
    """Sets of so many links that touch every node, by inclusion and exclusion over the nodes left out."""
    count = 0
    for mask in range(2 ** (2**n)):
        inside = sum(not (mask >> u | mask >> v) & 1 for u, v in links_of(n))
        count += (-1) ** mask.bit_count() * comb(inside, links)
    return count


@pytest.mark.kernels
def test_no_sink_means_an_edge_cover():
    for n in (2, 3):
        for links in range(n * 2 ** (n - 1) + 1):
            exact = fc.exact_trees(n, links)
            assert (1 - exact["sink_exists"]) * comb(n * 2 ** (n - 1), links) == edge_covers(n, links)
    assert (1 - fc.exact_trees(2, 2)["sink_exists"]) * comb(4, 2) == 2  # the perfect matchings of Q_2
    assert (1 - fc.exact_trees(3, 4)["sink_exists"]) * comb(12, 4) == 9  # and of Q_3


def test_bad_exact_values():
    for call, message in (
        (lambda: fc.exact_trees(4, links=16), r"at most 200,000,000 cases for exact values, got 601,080,390"),
        (lambda: fc.exact_trees(13), r"n must be in \[1, 12\], got 13"),
        (lambda: fc.exact_gather(11), r"n must be in \[1, 10\], got 11"),
        (lambda: fc.exact_gather(2, links=5), r"links must be in \[0, 4\] for n=2, got 5"),
        (lambda: fc.exact_trees(2, f=5), r"f must be in \[0, 4\] for n=2, got 5"),
    ):
        with pytest.raises(fc.ParameterError, match=message):
            call()


# ---------------------------------------------------------------- lanes


@pytest.mark.kernels
@pytest.mark.parametrize("n", range(4, 13))
def test_lanes_are_the_plain_path(n):
    """Every trial the same, first and last vectors cut anywhere, with few links and with more than the lanes are chosen for."""
    for links in {1, 2, n - 1, n, 2 * n, 31, 32, 64, 128, 2 ** (n - 1), n * 2 ** (n - 1) // 3}:
        if links > min(MOST_IN_LANES, n * 2 ** (n - 1)):
            continue
        params = np.array([n, links, 0], np.float64)
        for first, stop in ((0, 160), (37, 41), (1001, 1061)):
            plain, found = FIND_TREE.new_tally(), FIND_TREE.new_tally()
            FIND_TREE_DENSE.compiled(np.uint64(links), first, stop, params, plain)
            find_tree_lanes.compiled(np.uint64(links), first, stop, params, found)
            assert np.array_equal(plain, found), (n, links, first, stop)


@kernel("void(uint64[:, ::1], uint64[:, ::1], int64, int64, uint16[:, ::1], uint16[::1])", cache=False)
def enter_rows(nodes, fields, n, links, drawn_links, taken):
    """Rows 0, 1, ... of 32 trials from chosen words: lower ends, then dimensions as single bits, and how many are taken."""
    rows = trees_lanes.link_rows_for(MOST_IN_LANES)
    counts = simd.load(taken, 0) - simd.load(taken, 0)
    for row in range(nodes.shape[0]):
        counts = trees_lanes._write_link_row(
            simd.load(nodes[row], 0), simd.load(fields[row], 0), n, links, rows, row, counts
        )
        simd.store(drawn_links[2 * row], 0, simd.load(rows.low, 32 * row))
        simd.store(drawn_links[2 * row + 1], 0, simd.load(rows.bit, 32 * row))
    simd.store(taken, 0, counts)


def links_by_recipe(nodes, fields, n, links):
    """One trial's links from its places, one after the other (docs/random.md)."""
    out = []
    for node, field in zip(nodes, fields, strict=True):
        k, rest = divmod(field * n, 2**16)
        link = (node % 2**n & ~(1 << k), 1 << k)
        if rest >= 2**16 % n and link not in out and len(out) < links:
            out.append(link)
    return out


@pytest.fixture(scope="module")
def crafted():
    """Places of 32 trials, 24 each, of few nodes and few fields: most are skipped, repeated or beyond the last link."""
    rng = np.random.default_rng(5)
    nodes = rng.integers(0, 3, (24, 32), np.uint16)
    fields = rng.integers(0, 2, (24, 32), np.uint16)  # of them 0 is skipped but where n is a power of two
    fields[::5] = rng.integers(0, 2**16, (5, 32), np.uint16)
    fields[:3, 0] = 0, 1, 1  # a skipped place, then its own link, then that again
    nodes[:3, 0] = 2
    nodes[-1, -1], fields[-1, -1] = nodes[-2, -1], fields[-2, -1]  # a repeated link in the last lane's last row
    return nodes, fields


@pytest.mark.kernels
@pytest.mark.parametrize("n", range(4, 13))
def test_lanes_take_the_links_of_the_recipe(n, crafted):
    """A skipped place is forgotten: its link may properly come later."""
    nodes, fields = crafted
    for links in (2, 5, 24):
        found, taken = np.empty((48, 32), np.uint16), np.zeros(32, np.uint16)
        enter_rows(nodes.view(np.uint64), fields.view(np.uint64), n, links, found, taken)
        for lane in range(32):
            pairs = [(int(u), int(k)) for u, k in zip(found[::2, lane], found[1::2, lane], strict=True) if k]
            expected_links = links_by_recipe(nodes[:, lane].tolist(), fields[:, lane].tolist(), n, links)
            assert pairs == expected_links and taken[lane] == len(pairs), (n, links, lane)


@pytest.mark.kernels
def test_a_trial_with_a_skipped_place_and_its_link():
    """One whose sequence holds both, found by counting 10^5 trials with two kernels."""
    point, t = {"n": 6, "links": 20, "f": 0}, 26456
    tally = fc.study("find-tree").count(point, 1, seed=9, first=t)
    assert tally.counts["tree_faults"] == 5
    reported = fc.study("find-tree").explain(point, fc.study("find-tree").key(9, point), t)
    assert reported.data["tree_faults"] == 5


@pytest.mark.kernels
def test_half_of_the_nodes_and_one_more():
    """From the first to the second the draw changes from the faulty nodes to the nonfaulty nodes."""
    for n in (2, 3, 4):
        for f in (2 ** (n - 1), 2 ** (n - 1) + 1):
            check_trials(FIND_TREE_DENSE, FIND_TREE, n, n, f, 10)
            check_trials(FIND_TREE_SPARSE, FIND_TREE, n, 0, f, 10)


@pytest.mark.kernels
def test_lanes_against_the_twin():
    for n, links in ((4, 6), (5, 8), (6, 12), (7, 12)):
        assert dispatch.FIND_TREE.kernel(n, links, 0) is find_tree_lanes
        check_trials(find_tree_lanes, FIND_TREE, n, links, 0, 40)


def test_where_lanes_serve():
    """Neither faulty nodes nor crowded cubes."""
    assert dispatch.FIND_TREE.kernel(12, 64, 0) is find_tree_lanes
    assert dispatch.FIND_TREE.kernel(12, 64, 1) is dispatch.FIND_TREE.kernel(12, 2048, 0) is FIND_TREE_DENSE


@pytest.mark.kernels
@pytest.mark.skipif(not has_cpu_feature("avx512bitalg"), reason="this CPU counts no bits in vectors")
def test_lanes_are_vectors_in_the_machine_code():
    """Generator, repeated links, sinks, dimensions and the carry-save adders of COST, each over 512 bits."""
    text = assembly_text(find_tree_lanes)
    for instruction in ("vpmuludq", "vpminuw", "vpsllvw", "vpopcntw", "vpternlogq", "vptestmw"):
        assert re.search(rf"{instruction}\s.*%zmm", text), instruction
