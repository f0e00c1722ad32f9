"""The tree kernels against the plain twin: FIND_TREE, TOP_DOWN and the optimum, set by set and trial by trial."""

import functools
import itertools
import random
import re
from math import comb

import numpy as np
import pytest
from machine_code import assembly, has
from reference import trees as twin
from test_trees import links_of

import fastcube as fc
from fastcube.engine.study import point_key
from fastcube.kernels.links import link_set
from fastcube.kernels.sampling import fault_set
from fastcube.kernels.trees.choice import find_kernel, optimal_kernel
from fastcube.kernels.trees.enumeration import enumerate_trees
from fastcube.kernels.trees.lanes import FIND_LANES_5, FIND_LANES_8, MOST
from fastcube.kernels.trees.lattice import OPTIMAL_8, OPTIMAL_16
from fastcube.kernels.trees.layout import FINDING, OPTIMA
from fastcube.kernels.trees.single import FIND_DENSE, FIND_SPARSE
from fastcube.studies.leu_kuo.claims_questions import WORSE_SINK


def numbered(n):
    """Links as the enumeration numbers them: by dimension, then by the lower end without that bit."""
    return [(u, v) for k in range(n) for u, v in links_of(n) if v - u == 1 << k]


def expected(n, nodes, links, optima=True):
    """Both tallies of one fault set, by the twin."""
    return expected_of(n, tuple(twin.detect(n, nodes, links)), optima)


@functools.lru_cache(2**13)
def expected_of(n, fault, optima):
    """The same by FAULT words, which links of faulty nodes do not change."""
    full = 2**n - 1
    finding, best = (
        dict.fromkeys([c.name for c in FINDING.counters], 0),
        dict.fromkeys([c.name for c in OPTIMA.counters], 0),
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
        "sink": 1, "fault_free": int(faults == 0), "unhindered": int(failing == 0),
        "tree_faults": faults, "tree_faults_squared": faults**2, "with_tree_faults": int(faults > 0),
        "failing": failing, "failing_squared": failing**2, "with_failing": int(failing > 0),
    }  # fmt: skip
    if optima:
        fewest = [twin.best_order(n, fault, v)[0] for v in range(2**n)]
        same, every = fewest[tree[0]], min(fewest)
        clean = min(fewest[v] for v in range(2**n) if fault[v] == 0)
        best |= {"sink": 1, "fault_free": int(faults == 0), "fault_free_exists": int(clean == 0)}
        best |= {"optimal": int(faults == clean), "product": faults * clean}
        for name, value in (("tree_faults", faults), ("gap", faults - clean), ("optimum", clean), ("same_sink", same),
                            ("any_sink", every), ("top_down", crossed)):  # fmt: skip
            best |= {name: value, f"{name}_squared": value**2, f"with_{name}": int(value > 0)}
    return finding, best


def one_set(n, nodes, links):
    """Both tallies of one fault set, by the kernels."""
    number = {link: i for i, link in enumerate(numbered(n))}
    state = np.array([*sorted(number[link] for link in links), *sorted(nodes)], np.int64)
    finding, best = FINDING.fresh(), OPTIMA.fresh()
    enumerate_trees(n, len(links), len(nodes), state, 0, 1, finding, best)
    return FINDING.read(finding)[0], OPTIMA.read(best)[0]


def sets_of(n, most_links, most_nodes):
    for links, nodes in itertools.product(range(most_links + 1), range(most_nodes + 1)):
        yield from itertools.product(
            itertools.combinations(links_of(n), links), itertools.combinations(range(2**n), nodes)
        )


def test_all_small_sets():
    for n, most_links, most_nodes in ((1, 1, 1), (2, 4, 1), (3, 2, 1)):
        for links, nodes in sets_of(n, most_links, most_nodes):
            assert one_set(n, nodes, links) == expected(n, nodes, links), (n, nodes, links)


def test_a_sink_with_a_faulty_link_is_no_sink():
    """Where a label with a faulty link has the better tree: 2 faulty links over sinks, 1 over all labels."""
    links = sorted(WORSE_SINK.faulty_links)
    found = one_set(4, (), links)
    assert found == expected(4, (), links)
    assert (found[1]["optimum"], found[1]["any_sink"]) == (2, 1)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("n", "most_links", "most_nodes"), [(3, 12, 1), (4, 3, 0), (5, 0, 2)])
def test_all_sets(n, most_links, most_nodes):
    for links, nodes in sets_of(n, most_links, most_nodes):
        assert one_set(n, nodes, links) == expected(n, nodes, links), (n, nodes, links)


def drawn(key, t, n, links, f):
    """Faults of one trial."""
    pairs = [(u, u | 1 << k) for u, k in link_set(np.uint64(key), t, n, links).tolist()]
    return fault_set(np.uint64(key), t, n, f).tolist(), pairs


def total(cases, optima):
    """Sum of the twin's tallies."""
    sums = None
    for n, nodes, links in cases:
        found = expected(n, nodes, links, optima)[optima]
        sums = found if sums is None else {name: value + found[name] for name, value in sums.items()}
    return sums


def check_trials(kernel, layout, n, links, f, trials, first=5):
    key = np.uint64(point_key("find-tree", 3, {"n": n, "links": links, "f": f}))
    slots = layout.fresh()
    kernel.compiled(key, first, first + trials, np.array([n, links, f], np.float64), slots)
    cases = [(n, *drawn(key, t, n, links, f)) for t in range(first, first + trials)]
    assert layout.read(slots)[0] == total(cases, layout is OPTIMA), (kernel, n, links, f)


def faults_at(n):
    """Some (links, f) of Q_n."""
    every = n * 2 ** (n - 1)
    for links in {0, 1, n - 1, 2 * n, 2 ** (n - 1), every // 2, every}:
        for f in {0, 1, n // 2, 2**n // 4}:
            if links <= every and f <= 2**n:
                yield links, f


@pytest.mark.parametrize("n", range(1, 8))
def test_finding(n):
    for links, f in faults_at(n):
        check_trials(FIND_DENSE, FINDING, n, links, f, 6 if n < 6 else 2)
        if 2 * f <= 2**n and links < n * 2 ** (n - 1):
            check_trials(FIND_SPARSE, FINDING, n, links, f, 6 if n < 6 else 2)


@pytest.mark.parametrize("n", range(1, 6))
def test_optima(n):
    """Lanes of bytes; those of 16 bits are the enumeration's, which other tests run by default."""
    for links, f in faults_at(n):
        if links + n * f <= 255:
            check_trials(OPTIMAL_8, OPTIMA, n, links, f, 66 if n < 4 else 3)


@pytest.mark.slow
@pytest.mark.parametrize("n", range(3, 6))
def test_optima_with_many_faults(n):
    for links, f in faults_at(n):
        if n == 3 or links + n * f > 255:
            check_trials(OPTIMAL_16, OPTIMA, n, links, f, 33)


@pytest.mark.exhaustive
def test_finding_on_many_random_sets():
    """10^5 trials, n = 4 .. 12."""
    rng = random.Random(1)
    for n, rounds, trials in ((4, 650, 50), (5, 600, 50), (6, 400, 50), (7, 400, 25), (8, 200, 20), (9, 100, 20), (10, 50, 20),
                              (11, 20, 20), (12, 20, 20)):  # fmt: skip
        for _ in range(rounds):
            links = rng.choice([n, 2 * n, 2 ** (n - 2), 2 ** (n - 1), rng.randrange(n * 2 ** (n - 1))])
            f = rng.choice([0, 0, 1, n])
            check_trials(find_kernel(n, links, f), FINDING, n, links, f, trials)


@pytest.mark.exhaustive
def test_optima_on_many_random_sets():
    """10^4 trials, n = 3 .. 6."""
    rng = random.Random(2)
    for n, rounds in ((3, 80), (4, 60), (5, 40), (6, 20)):
        for _ in range(rounds):
            links = rng.choice([n, 2 * n, 2 ** (n - 1), rng.randrange(n * 2 ** (n - 1))])
            f = rng.choice([0, 0, 1, n])
            check_trials(optimal_kernel(n, links, f), OPTIMA, n, links, f, 50)


def test_large_cubes():
    """n > 16 against the one-cube functions, which know no 2^n either."""
    for n, links, f in ((17, 200, 0), (20, 1300, 30), (40, 160, 40), (62, 300, 5)):
        key = np.uint64(n)
        for t in range(3):
            slots = FINDING.fresh()
            FIND_SPARSE.compiled(key, t, t + 1, np.array([n, links, f], np.float64), slots)
            nodes, pairs = drawn(key, t, n, links, f)
            cube = fc.Hypercube(n, nodes, pairs)
            tree = fc.find_tree(cube)
            counts = FINDING.read(slots)[0]
            assert counts["tree_faults"] == len(tree.faulty_links)
            failing = [u for u, _ in tree.faulty_links if not cube.is_faulty(u)]
            assert counts["failing"] == len(failing)  # none is isolated


def test_splits_add_up():
    """Any split of the trials counts the same, queues of lanes and all."""
    params = np.array([6, 20, 1], np.float64)
    for kernel, layout in ((FIND_DENSE, FINDING), (OPTIMAL_8, OPTIMA)):
        whole = layout.fresh()
        kernel.compiled(np.uint64(9), 0, 500, params, whole)
        parts = layout.fresh()
        for first, stop in ((300, 500), (0, 1), (1, 130), (130, 300)):
            kernel.compiled(np.uint64(9), first, stop, params, parts)
        assert np.array_equal(whole, parts)


# ---------------------------------------------------------------- exact values


def edge_covers(n, links):
    """Sets of so many links that touch every node, by inclusion and exclusion over the nodes left out."""
    count = 0
    for mask in range(2 ** (2**n)):
        inside = sum(not (mask >> u | mask >> v) & 1 for u, v in links_of(n))
        count += (-1) ** mask.bit_count() * comb(inside, links)
    return count


def test_no_sink_means_an_edge_cover():
    for n in (2, 3):
        for links in range(n * 2 ** (n - 1) + 1):
            exact = fc.exact_trees(n, links)
            assert (1 - exact.sink) * exact.sets == edge_covers(n, links)
    assert (1 - fc.exact_trees(2, 2).sink) * comb(4, 2) == 2  # the perfect matchings of Q_2
    assert (1 - fc.exact_trees(3, 4).sink) * comb(12, 4) == 9  # and of Q_3


def test_bad_exact_values():
    for call, words in (
        (lambda: fc.exact_trees(4, links=16), r"at most 200,000,000 fault sets to enumerate, got 601,080,390"),
        (lambda: fc.exact_trees(13), r"n must be in \[1, 12\] for exact values, got 13"),
        (lambda: fc.exact_gather(11), r"n must be in \[1, 10\] for exact values, got 11"),
        (lambda: fc.exact_gather(2, links=5), r"links must be in \[0, 4\] for n=2, got 5"),
        (lambda: fc.exact_trees(2, f=5), r"f must be in \[0, 4\] for n=2, got 5"),
    ):
        with pytest.raises(fc.ParameterError, match=words):
            call()


# ---------------------------------------------------------------- lanes


@pytest.mark.parametrize("lanes", [FIND_LANES_5, pytest.param(FIND_LANES_8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("n", range(4, 13))
def test_lanes_are_the_plain_path(n, lanes):
    """Every trial the same, first and last vectors cut anywhere, with few links and with more than the lanes are chosen for."""
    for links in {1, 2, n - 1, n, 2 * n, 31, 32, 64, 128, 2 ** (n - 1), n * 2 ** (n - 1) // 3}:
        if links > min(MOST if lanes is FIND_LANES_8 else 31, n * 2 ** (n - 1)):
            continue
        params = np.array([n, links, 0], np.float64)
        for first, stop in ((0, 160), (37, 41), (1001, 1061)):
            plain, found = FINDING.fresh(), FINDING.fresh()
            FIND_DENSE.compiled(np.uint64(links), first, stop, params, plain)
            lanes.compiled(np.uint64(links), first, stop, params, found)
            assert np.array_equal(plain, found), (n, links, first, stop)


def test_lanes_against_the_twin():
    for n, links in ((4, 6), (5, 8), (6, 12), (7, 12)):
        assert find_kernel(n, links, 0) is FIND_LANES_5
        check_trials(FIND_LANES_5, FINDING, n, links, 0, 40)


def test_where_lanes_serve():
    """Neither faulty nodes nor crowded cubes."""
    assert find_kernel(12, 64, 0) is FIND_LANES_8
    assert find_kernel(12, 64, 1) is find_kernel(12, 2048, 0) is FIND_DENSE


@pytest.mark.skipif(not has("avx512bitalg"), reason="this CPU counts no bits in vectors")
def test_lanes_are_vectors_in_the_machine_code():
    """Generator, repeated links, sinks, dimensions and the carry-save adders of COST, each over 512 bits."""
    text = assembly(FIND_LANES_5)
    for instruction in ("vpmuludq", "vpminuw", "vpsllvw", "vpopcntw", "vpternlogq", "vptestmw"):
        assert re.search(rf"{instruction}\s.*%zmm", text), instruction
