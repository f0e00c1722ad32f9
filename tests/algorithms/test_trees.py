"""Communication trees of one cube against the plain twin, the paper's examples, and refused inputs."""

import itertools
import random

import numpy as np
import pytest
from helpers.compiled import mark_others_slow
from helpers.tree_faults import WORSE_SINK_LINKS, random_fault_sets, small_fault_sets
from reference import trees as twin

import fastcube as fc
from fastcube.errors import ParameterError


def check(n, nodes, links):
    cube, fault = fc.Hypercube(n, nodes, links), twin.detect(n, nodes, links)
    assert fc.unusable_link_masks(cube).tolist() == fault
    tree, expected = fc.find_tree(cube), twin.find_tree(n, fault)
    assert (tree is None) == (expected is None)
    if tree is not None:
        assert (tree.sink, tree.order, list(tree.costs)) == expected
        assert list(tree.faulty_links) == twin.faulty_links(n, fault, tree.sink, tree.order)
    tree = fc.find_tree(cube, algorithm="TOP_DOWN")
    assert (tree.sink, tree.order, tree.costs) == (*twin.top_down(n, fault), ())
    assert list(tree.faulty_links) == twin.faulty_links(n, fault, tree.sink, tree.order)
    if n <= 5:
        for any_sink in (False, True):
            tree, best = fc.optimal_tree(cube, any_sink), twin.optimal_tree(n, fault, any_sink)
            assert best == (None if tree is None else (len(tree.faulty_links), tree.sink, tree.order))
    if n <= 3:
        assert [(tree.sink, tree.order) for tree in fc.fault_free_trees(cube)] == twin.exhaust(n, fault)


@pytest.mark.parametrize("step", mark_others_slow([9, 1]))
def test_small_cubes(step):
    for case in itertools.islice(small_fault_sets(), 0, None, step):
        check(*case)


def test_a_better_tree_than_any_sinks():
    check(4, (), WORSE_SINK_LINKS)


@pytest.mark.slow
def test_random_fault_sets():
    for case in random_fault_sets(100, 3, 6, seed=1):
        check(*case)


def test_exhaust_is_the_optimum_of_four_dimensions():
    for n, nodes, links in random_fault_sets(40, 4, 4, seed=2):
        cube = fc.Hypercube(n, nodes, links)
        every = [(tree.sink, tree.order[::-1]) for tree in fc.fault_free_trees(cube)]
        assert every == sorted(every)
        best = fc.optimal_tree(cube, any_sink=True)
        assert bool(every) == (not best.faulty_links)
        if every:
            assert (best.sink, best.order[::-1]) == every[0]


def test_symmetries():
    """The optimum knows no labels; FIND_TREE's sink does: neither is moved by a tree's own definition."""
    for n, _, links in random_fault_sets(30, 3, 6, seed=3):
        moved = [(u ^ 5, v ^ 5) for u, v in links]
        counts = [len(fc.optimal_tree(fc.Hypercube(n, (), x), any_sink=True).faulty_links) for x in (links, moved)]
        assert counts[0] == counts[1]


# ---------------------------------------------------------------- the paper's examples


def test_figure_2():
    """The Gray-code grid of a 5D hypercube: 17 is in cell (2, 4), and neighbouring cells are linked."""
    from_gray = [i ^ i >> 1 for i in range(8)]
    grid = [[column << 3 | row for column in from_gray[:4]] for row in from_gray]
    assert grid[0] == [0, 8, 24, 16]
    assert grid[1][3] == 17
    assert grid[7] == [4, 12, 28, 20]
    for row, column in itertools.product(range(8), range(4)):
        for other in (grid[(row + 1) % 8][column], grid[row][(column + 1) % 4]):
            assert (grid[row][column] ^ other).bit_count() == 1


def test_example_1():
    """Figure 3b: sink 010, order (1, 2, 0); node 110 is passive, then active, then idle."""
    tree = fc.CommunicationTree(fc.Hypercube(3), 0b010, (1, 2, 0))
    assert str(tree) == "sink 010, order (1, 2, 0)"
    assert [tree.role(0b110, i) for i in range(3)] == ["passive", "active", "idle"]


EXAMPLE_2 = ((0b100, 0b101), (0b101, 0b111), (0b001, 0b011))


def test_example_2():
    cube = fc.Hypercube(3, faulty_links=EXAMPLE_2)
    assert fc.unusable_link_masks(cube)[0b101] == 0b011  # Figure 9: two link failures on dimensions 0 and 1
    tree = fc.find_tree(cube)
    assert str(tree) == "sink 000, order (2, 0, 1)"
    assert tree.costs == ({0: 1, 1: 0, 2: 1}, {0: 0, 2: 1})
    assert tree.faulty_links == ()


def test_example_2_by_equation_7_as_printed():
    """Over used dimensions every COST of the first iteration is 0, so that dimension 0 would be chosen and not 1."""
    fault = twin.detect(3, (), EXAMPLE_2)
    assert [twin.cost_as_printed(fault, {0}, set(), j) for j in range(3)] == [0, 0, 0]


@pytest.mark.parametrize("n", range(1, 15))
def test_equation_8(n):
    assert twin.operations(n) == 6 * 2**n - n * n - 4 * n - 7


@pytest.mark.parametrize("n", range(1, 6))
def test_properties_1_and_2(n):
    cube = fc.Hypercube(n)
    trees = list(fc.fault_free_trees(cube))
    assert len(trees) == np.prod(range(1, n + 1)) * 2**n
    assert all(len(tree.links) == 2**n - 1 for tree in trees[:: max(1, len(trees) // 50)])


# ---------------------------------------------------------------- trees themselves


def test_roles_and_links():
    for n in range(1, 5):
        for sink, order in itertools.islice(twin.all_trees(n), 0, None, 7):
            tree = fc.CommunicationTree(fc.Hypercube(n), sink, order)
            assert tree.links == twin.links(n, sink, order)
            for v, i in itertools.product(range(2**n), range(n)):
                assert tree.role(v, i) == twin.role(n, sink, order, v, i)


def test_order_takes_any_integers():
    cube = fc.Hypercube(3)
    tree = fc.CommunicationTree(cube, np.int64(2), np.array([1, 2, 0]))
    assert tree == fc.CommunicationTree(cube, 2, [1, 2, 0])
    assert tree.order == (1, 2, 0)
    assert type(tree.order[0]) is type(tree.sink) is int
    assert tree != fc.CommunicationTree(cube, 2, [2, 1, 0])
    assert len({tree, fc.CommunicationTree(cube, 2, (1, 2, 0))}) == 1


def test_large_cubes():
    """Q_62 by its faults alone."""
    rng = random.Random(4)
    ends = [(rng.randrange(2**62), rng.randrange(62)) for _ in range(300)]
    links = [(u, u ^ 1 << k) for u, k in ends] + [(0, 1), (2, 3)]
    cube = fc.Hypercube(62, [2**61, 5], links)
    tree = fc.find_tree(cube)
    assert tree.sink == 6  # 0 .. 3 end links, 4 and 5: 5 is faulty
    assert len(tree.costs) == 61
    assert fc.find_tree(cube, "TOP_DOWN").n == 62
    assert all((u ^ v).bit_count() == 1 for u, v in tree.faulty_links)


def test_lazy_faults():
    lazy = fc.Hypercube(6, fc.random_faults(0.2, seed=3))
    listed = fc.Hypercube(6, [v for v in range(64) if lazy.is_faulty(v)])
    assert fc.unusable_link_masks(lazy).tolist() == fc.unusable_link_masks(listed).tolist()
    for find in (fc.find_tree, fc.optimal_tree):
        assert str(find(lazy)) == str(find(listed))


Q3 = fc.Hypercube(3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: fc.unusable_link_masks(fc.Hypercube(25)),
            r"n must be in \[1, 24\] for a FAULT word of every node, got 25",
        ),
        (lambda: fc.unusable_link_masks(fc.DualCube(2)), "cube must be a Hypercube, got DualCube"),
        (lambda: fc.find_tree(fc.DualCube(2)), "cube must be a Hypercube, got DualCube"),
        (lambda: fc.find_tree(Q3, "FIND"), "algorithm must be FIND_TREE or TOP_DOWN for Hypercube, got 'FIND'"),
        (lambda: fc.find_tree(fc.Hypercube(21, fc.random_faults(0.1))), r"n must be in \[1, 20\] .* random_faults"),
        (lambda: fc.optimal_tree(fc.Hypercube(15)), r"n must be in \[1, 14\] .* got 15"),
        (lambda: fc.optimal_tree(7), "cube must be a Hypercube, got 7"),
        (lambda: fc.fault_free_trees(fc.Hypercube(11)), r"n must be in \[1, 10\] .* got 11"),
        (lambda: fc.CommunicationTree(Q3, 8, (0, 1, 2)), r"sink must be in \[0, 7\] for n=3, got 8"),
        (lambda: fc.CommunicationTree(Q3, 0.5, (0, 1, 2)), r"sink must be an integer in \[0, 7\] for n=3, got 0.5"),
        (lambda: fc.CommunicationTree(Q3, 0, (0, 1, 1)), "order must be a permutation of 0, ..., 2 for n=3, got"),
        (lambda: fc.CommunicationTree(Q3, 0, (0, 1)), "order must be a permutation of 0, ..., 2"),
        (lambda: fc.CommunicationTree(Q3, 0, (0, 1, 2.5)), "order must be a permutation of 0, ..., 2"),
        (lambda: fc.CommunicationTree(Q3, 0, 7), "order must be a permutation of 0, ..., 2 for n=3, got 7"),
        (lambda: fc.CommunicationTree(Q3, 0, "012"), "order must be a permutation of 0, ..., 2 for n=3, got '012'"),
        (lambda: fc.CommunicationTree(0, 0, (0,)), "cube must be a Hypercube, got 0"),
        (lambda: fc.CommunicationTree(Q3, 0, (0, 1, 2)).role(8, 0), r"v must be in \[0, 7\] for n=3, got 8"),
        (lambda: fc.CommunicationTree(Q3, 0, (0, 1, 2)).role(0, 3), r"i must be .*in \[0, 2\] for n=3, got 3"),
        (lambda: fc.find_tree(fc.Hypercube(21)).links, r"n must be in \[1, 20\] .* got 21"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ParameterError, match=message) as error:
        call()
    assert "\n" not in str(error.value)
