"""Spanning trees, packets and Edmonds' number of one cube: against the plain twin, and invariants of any answer."""

from __future__ import annotations

import itertools
import random

import networkx
import numpy as np
import pytest
from helpers.compiled import mark_others_slow
from reference import spanning as twin

import fastcube as fc
from fastcube.algorithms import spanning
from fastcube.algorithms.spanning_flows import NonfaultyGraph, max_flow


def all_links(n):
    return [(v, v ^ 1 << k) for v in range(2**n) for k in range(n) if not v >> k & 1]


def random_cubes(sizes, count, seed=1):
    """Cubes with random faulty nodes and links, two nonfaulty nodes at least, few faults and many."""
    rng = random.Random(seed)
    for _ in range(count):
        n = rng.choice(sizes)
        most = rng.choice([n, 2**n // 4, 2**n - 2])
        faulty = rng.sample(range(2**n), rng.randint(0, min(most, 2**n - 2)))
        links = rng.sample(all_links(n), rng.choice([0, 0, rng.randint(0, n), rng.randint(0, n * 2**n // 4)]))
        yield fc.Hypercube(n, faulty, links)


def nonfaulty(cube):
    return [v for v in range(2**cube.n) if not cube.is_faulty(v)]


def check_packing(cube, s, trees):
    """Spanning, rooted at s, over nonfaulty links, no directed link twice."""
    seen = set()
    for tree in trees.tolist():
        assert [v for v in range(2**cube.n) if tree[v] != twin.ABSENT] == nonfaulty(cube)
        assert [v for v in range(2**cube.n) if tree[v] == twin.ROOT] == [s]
        twin.height(tree)  # every node has a path from the root
        for u, v in twin.arcs(tree):
            assert cube.is_link(u, v) and not cube.is_faulty_link(u, v) and not cube.is_faulty(u)
            assert (u, v) not in seen
            seen.add((u, v))


# ---------------------------------------------------------------- the paper's trees

#: S7 and S9, parents label by label.
BASES = {
    (2, 1): [[1, -1, -2, 1]],
    (2, 2): [[1, -1, 0, -2]],
    (3, 1): [[1, -1, 3, 1, -2, 1, 7, 5], [2, 3, -1, 2, -2, 7, 2, 6]],
    (3, 2): [[1, -1, 3, 1, 5, 1, -2, 5], [2, 3, -1, 2, 0, 4, -2, 3]],
    (3, 3): [[1, -1, 3, 1, 5, 1, 4, -2], [2, 3, -1, 2, 0, 4, 2, -2]],
}


@pytest.mark.parametrize(("n", "d"), BASES)
def test_base_trees(n, d):
    fault = (1 << n) - (1 << n - d)
    assert twin.light(n, d) == BASES[n, d]
    assert fc.edge_disjoint_spanning_trees(fc.Hypercube(n, [fault]), 0, pivoted=True).tolist() == BASES[n, d]


@pytest.mark.parametrize("n", mark_others_slow([1, 2, 3, 4, 5], default=4))
def test_trees_of_every_source_and_fault(n):
    for s, pivoted in itertools.product(range(2**n), (False, True)):
        assert fc.edge_disjoint_spanning_trees(
            fc.Hypercube(n), s, pivoted
        ).tolist() == twin.edge_disjoint_spanning_trees(n, s, None, pivoted)
        for f in set(range(2**n)) - {s}:
            trees = fc.edge_disjoint_spanning_trees(fc.Hypercube(n, [f]), s, pivoted)
            assert trees.dtype == np.int64 and trees.shape == (n - 1, 2**n)
            assert trees.tolist() == twin.edge_disjoint_spanning_trees(n, s, f, pivoted)


@pytest.mark.parametrize("n", mark_others_slow([6, 7, 8, 9, 10], default=2))
def test_trees_of_random_sources_and_faults(n):
    rng = random.Random(n)
    for _ in range(210):
        s, f = rng.sample(range(2**n), 2)
        pivoted = rng.random() < 0.5
        wanted = np.array(twin.edge_disjoint_spanning_trees(n, s, f, pivoted))
        assert (fc.edge_disjoint_spanning_trees(fc.Hypercube(n, [f]), s, pivoted) == wanted).all()


@pytest.mark.parametrize(("n", "d"), [(n, d) for n in range(2, 10) for d in range(1, n + 1)])
def test_the_four_invariants_hold_at_every_level(n, d):
    """S6, of the light trees of Q'_n with its faulty node at distance d: every level of every construction is such a tree."""
    fault = (1 << n) - (1 << n - d)
    trees = [spanning.light_tree(n, d, i).tolist() for i in range(n - 1)]
    for i, tree in enumerate(trees):
        assert tree[1 << i] == twin.ROOT and tree[fault] == twin.ABSENT
        assert {tree.index(twin.ABSENT)} == {v for v in range(2**n) if tree[v] == twin.ABSENT}
        twin.height(tree)  # spans
        assert tree[0] == 1 << i  # the link s_i -> s is in T_i
    arcs = [arc for tree in trees for arc in twin.arcs(tree)]
    assert len(arcs) == len(set(arcs))
    assert not {(0, 1 << j) for j in range(n - 1)} & set(arcs)  # none uses s -> s_j


def test_trees_without_fault_are_edge_disjoint():
    for n in range(1, 9):
        check_packing(fc.Hypercube(n), 2**n // 3, fc.edge_disjoint_spanning_trees(fc.Hypercube(n), 2**n // 3))
    assert fc.edge_disjoint_spanning_trees(fc.Hypercube(1, [1]), 0).shape == (0, 2)


# ---------------------------------------------------------------- Edmonds' number


def test_packings_and_cuts_certify_each_other():
    for cube in random_cubes((1, 2, 3, 4, 5, 6), 70):
        s = random.Random(7).choice(nonfaulty(cube))
        number = fc.max_edge_disjoint_trees(cube)
        trees = fc.edge_disjoint_spanning_trees(cube, s, algorithm="edmonds")
        cut = fc.minimum_edge_cut(cube)
        assert trees.shape == (number, 2**cube.n) and trees.dtype == np.int64
        check_packing(cube, s, trees)
        assert len(cut) == number and cut == sorted(set(cut))
        assert all(u < v and not cube.is_faulty(u) and not cube.is_faulty(v) for u, v in cut)
        assert fc.max_edge_disjoint_trees(fc.Hypercube(cube.n, cube.faulty_nodes, {*cube.faulty_links, *cut})) == 0


def test_edmonds_number_is_that_of_the_twin():
    for cube in random_cubes((1, 2, 3, 4, 5, 6), 300, seed=2):
        wanted = twin.number(cube.n, cube.faulty_nodes, cube.faulty_links)
        assert (fc.max_edge_disjoint_trees(cube), NonfaultyGraph(cube).min_degree) == wanted


@pytest.mark.slow
def test_edmonds_number_is_that_of_networkx():
    for cube in random_cubes((5, 6, 7), 30, seed=3):
        graph = networkx.Graph(twin.nonfaulty_graph(cube.n, cube.faulty_nodes, cube.faulty_links))
        assert fc.max_edge_disjoint_trees(cube) == networkx.edge_connectivity(graph)


def test_flows_are_those_of_the_twin():
    """From one node, where paths must give way to each other; what is still reached is one side of a cut."""
    rng = random.Random(6)
    for cube in random_cubes((3, 4, 5, 6), 150, seed=6):
        graph = NonfaultyGraph(cube)
        plain = twin.nonfaulty_graph(cube.n, cube.faulty_nodes, cube.faulty_links)
        for s, t in [rng.sample(sorted(plain), 2) for _ in range(4)]:
            wanted = twin.flow(plain, s, t, cube.n)
            assert max_flow(graph, graph.links, 1 << s, t, wanted).paths == wanted
            paths, side = max_flow(graph, graph.links, 1 << s, t, cube.n + 1)
            assert paths == wanted == len(graph.list_cut(side)) and side >> s & 1 and not side >> t & 1


def test_a_path_gives_way_to_another():
    """One-way arcs of Q_3 in which the first path found, 0-4-6-7, must leave 4-6 for the second."""
    graph = NonfaultyGraph(fc.Hypercube(3))
    arcs = [(0, 4), (4, 6), (6, 7), (0, 2), (2, 6), (4, 5), (5, 7)]
    tails = [sum(1 << u for u, v in arcs if u ^ v == 1 << k) for k in range(3)]
    assert max_flow(graph, tails, 1, 7, 3).paths == 2


@pytest.mark.parametrize("missing", range(1, 5))
def test_two_halves_joined_by_few_links(missing):
    """All links of one dimension faulty but ``missing``: a cut that no node sees."""
    for n in (4, 7, 10, 12):
        kept = random.Random(n).sample(range(2 ** (n - 1)), missing)
        joined = [(v, v | 1 << n - 1) for v in range(2 ** (n - 1))]
        cube = fc.Hypercube(n, (), [link for v, link in enumerate(joined) if v not in kept])
        wanted = min(missing, n - 1)
        assert fc.max_edge_disjoint_trees(cube) == wanted
        if missing < n - 1:
            assert fc.minimum_edge_cut(cube) == sorted(joined[v] for v in kept)


def test_small_sets_have_large_cuts():
    """k nodes with at most g(k) links inside have delta or more to the outside, for 1 <= k < 2^delta."""
    for delta in range(1, 13):
        inside = 0
        for k in range(1, 2**delta):
            inside += (k - 1).bit_count()
            assert k * delta - 2 * inside >= delta
        assert 2**delta * delta - 2 * (inside + (2**delta - 1).bit_count()) == 0


# ---------------------------------------------------------------- packets


def steps(trees, s, packets):
    return twin.steps(trees, s, packets)


@pytest.mark.parametrize("n", mark_others_slow([1, 2, 3, 4, 5, 6], default=4))
def test_steps_are_those_of_the_simulation(n):
    rng = random.Random(n)
    for d in range(n + 1):
        s = rng.randrange(2**n)
        far = sum(1 << k for k in rng.sample(range(n), d))
        fault = None if d == 0 else s ^ far
        cube = fc.Hypercube(n, () if fault is None else [fault])
        if n == 1 and d:
            for packets, trees in itertools.product(range(1, 6), ("edst", "edmonds", "bfs", "binomial")):
                assert fc.broadcast_packets(cube, s, packets, trees) == 0
            continue
        trees = {
            "edst": twin.edge_disjoint_spanning_trees(n, s, fault),
            "edmonds": fc.edge_disjoint_spanning_trees(cube, s, algorithm="edmonds").tolist(),
            "bfs": [twin.breadth_first(n, s, cube.faulty_nodes)],
        }
        if d == 0:
            trees["binomial"] = [twin.binomial(n, s)]
        for packets, name in itertools.product(range(1, 3 * n + 3), trees):
            assert fc.broadcast_packets(cube, s, packets, trees=name) == steps(trees[name], s, packets)


@pytest.mark.slow
def test_steps_with_any_faults():
    for cube in random_cubes((1, 2, 3, 4, 5), 150, seed=5):
        s = nonfaulty(cube)[0]
        bfs = twin.breadth_first(cube.n, s, cube.faulty_nodes, cube.faulty_links)
        packed = fc.edge_disjoint_spanning_trees(cube, s, algorithm="edmonds").tolist()
        for packets in (1, 2, 7):
            wanted = None if bfs is None else steps([bfs], s, packets)
            assert fc.broadcast_packets(cube, s, packets, trees="bfs") == wanted
            wanted = steps(packed, s, packets) if packed else None
            assert fc.broadcast_packets(cube, s, packets, trees="edmonds") == wanted


def test_a_source_alone_takes_no_step():
    for cube, s in ((fc.Hypercube(1, [0]), 1), (fc.Hypercube(2, [0, 1, 3]), 2), (fc.Hypercube(3, range(7)), 7)):
        for trees in ("edst", "binomial", "bfs", "edmonds"):
            assert fc.broadcast_packets(cube, s, 5, trees) == 0


# ---------------------------------------------------------------- refused arguments

Q3 = fc.Hypercube(3)
ONE = fc.Hypercube(3, [5])
TWO = fc.Hypercube(3, [5, 6])
LINK = fc.Hypercube(3, [], [(0, 1)])
LAZY = fc.Hypercube(3, fc.random_faults(0.0))

VALID = [
    lambda: fc.edge_disjoint_spanning_trees(ONE, np.uint8(0)),
    lambda: fc.edge_disjoint_spanning_trees(Q3, 7, pivoted=True),
    lambda: fc.edge_disjoint_spanning_trees(TWO, 0, algorithm="edmonds"),
    lambda: fc.edge_disjoint_spanning_trees(LINK, 0, algorithm="edmonds"),
    lambda: fc.broadcast_packets(Q3, 0, packets=2**62),
    lambda: fc.broadcast_packets(fc.Hypercube(62), 0, packets=3, trees="binomial"),
    lambda: fc.broadcast_packets(TWO, 0, 3, trees="edmonds"),
    lambda: fc.max_edge_disjoint_trees(fc.Hypercube(1)),
    lambda: fc.minimum_edge_cut(fc.Hypercube(2, [0, 3])),
    lambda: fc.max_edge_disjoint_trees(fc.Hypercube(13, [0])),
]

INVALID = [
    (lambda: fc.edge_disjoint_spanning_trees(ONE, 5), "s must be a nonfaulty node, got 5"),
    (lambda: fc.edge_disjoint_spanning_trees(ONE, 8), r"s must be in \[0, 7\] for n=3, got 8"),
    (lambda: fc.edge_disjoint_spanning_trees(ONE, -1), r"s must be in \[0, 7\]"),
    (lambda: fc.edge_disjoint_spanning_trees(ONE, 0.5), "s must be an integer"),
    (lambda: fc.edge_disjoint_spanning_trees(TWO, 0), 'got 2 faulty nodes; algorithm="edmonds" takes any'),
    (lambda: fc.edge_disjoint_spanning_trees(LINK, 0), 'got 1 faulty links; algorithm="edmonds" takes any'),
    (lambda: fc.edge_disjoint_spanning_trees(LAZY, 0), "faulty_nodes must be listed"),
    (lambda: fc.edge_disjoint_spanning_trees(LAZY, 0, algorithm="edmonds"), "faulty_nodes must be listed"),
    (lambda: fc.edge_disjoint_spanning_trees(ONE, 5, algorithm="edmonds"), "s must be a nonfaulty node, got 5"),
    (
        lambda: fc.edge_disjoint_spanning_trees(Q3, 0, algorithm="lights"),
        "algorithm must be light or edmonds .* did you mean light",
    ),
    (
        lambda: fc.edge_disjoint_spanning_trees(Q3, 0, pivoted=True, algorithm="edmonds"),
        "pivoted is not an option of edmonds",
    ),
    (lambda: fc.edge_disjoint_spanning_trees(fc.Hypercube(24), 0), r"n must be in \[1, 23\] for 2\^n n entries"),
    (lambda: fc.edge_disjoint_spanning_trees(fc.Hypercube(11), 0, algorithm="edmonds"), r"n must be in \[1, 10\]"),
    (
        lambda: fc.edge_disjoint_spanning_trees(fc.Hypercube(1, [0]), 1, algorithm="edmonds"),
        "two nonfaulty nodes at least",
    ),
    (lambda: fc.edge_disjoint_spanning_trees(fc.DualCube(1), 0), "cube must be a Hypercube"),
    (lambda: fc.broadcast_packets(Q3, 0, packets=0), "packets must be in"),
    (lambda: fc.broadcast_packets(Q3, 0, packets=1.5), "packets must be an integer"),
    (lambda: fc.broadcast_packets(Q3, 8, packets=1), "s must be in"),
    (lambda: fc.broadcast_packets(ONE, 5, packets=1), "s must be a nonfaulty node"),
    (lambda: fc.broadcast_packets(Q3, 0, 1, trees="bsf"), "trees must be .* did you mean bfs"),
    (lambda: fc.broadcast_packets(TWO, 0, 1), 'algorithm="edmonds" takes any'),
    (lambda: fc.broadcast_packets(LINK, 0, 1), 'algorithm="edmonds" takes any'),
    (lambda: fc.broadcast_packets(ONE, 0, 1, trees="binomial"), "no fault"),
    (lambda: fc.broadcast_packets(LINK, 0, 1, trees="binomial"), "no fault"),
    (lambda: fc.broadcast_packets(LAZY, 0, 1), "faulty_nodes must be listed"),
    (lambda: fc.broadcast_packets(LAZY, 0, 1, trees="binomial"), "faulty_nodes must be listed"),
    (lambda: fc.broadcast_packets(LAZY, 0, 1, trees="bfs"), "faulty_nodes must be listed"),
    (lambda: fc.broadcast_packets(fc.Hypercube(24), 0, 1), r"n must be in \[1, 23\]"),
    (lambda: fc.max_edge_disjoint_trees(fc.Hypercube(2, [0, 1, 2])), "two nonfaulty nodes at least"),
    (lambda: fc.max_edge_disjoint_trees(fc.Hypercube(1, [0, 1])), "two nonfaulty nodes at least"),
    (lambda: fc.minimum_edge_cut(fc.Hypercube(1, [0])), "two nonfaulty nodes at least"),
    (lambda: fc.max_edge_disjoint_trees(LAZY), "faulty_nodes must be listed"),
    (lambda: fc.minimum_edge_cut(LAZY), "faulty_nodes must be listed"),
    (lambda: fc.minimum_edge_cut(fc.Hypercube(21)), r"n must be in \[1, 20\]"),
    (lambda: fc.max_edge_disjoint_trees(7), "cube must be a Hypercube"),
]


@pytest.mark.parametrize("call", VALID)
def test_valid_calls(call):
    assert call() is not None


@pytest.mark.parametrize(("call", "message"), INVALID)
def test_invalid_calls(call, message):
    with pytest.raises(fc.ParameterError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
