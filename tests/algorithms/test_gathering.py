"""Gathering on one cube against the twin, where every node runs its program and a scheduler moves the messages."""

import random
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from helpers.compiled import mark_others_slow
from helpers.tree_faults import random_fault_sets, small_fault_sets
from reference import gathering as twin
from reference.trees import detect

import fastcube as fc
from fastcube.errors import ParameterError

RUNS = (("TC", None), ("REROUTE", None), ("FTTC", "as_printed"), ("FTTC", "as_commented"), ("FTTC", "corrected"))
SAME = [
    "expected",
    "arrived",
    "lost",
    "unreachable_data",
    "by_origin",
    "deadlocked",
    "blocked",
    "steps_paper",
    "steps_sync",
    "lost_by",
]  # attributes that both sides have


def trees_of(cube, rng):
    """FIND_TREE's tree, if any, and one drawn."""
    order = list(range(cube.n))
    rng.shuffle(order)
    drawn = fc.CommunicationTree(cube, rng.randrange(2**cube.n), order)
    return [tree for tree in (fc.find_tree(cube), drawn) if tree is not None]


def check(n, nodes, links, rng):
    """Compare all runs of a case; yields the causes of losses."""
    cube, fault = fc.Hypercube(n, nodes, links), detect(n, nodes, links)
    for tree in trees_of(cube, rng):
        for algorithm, variant in RUNS:
            found = fc.gather(cube, tree, algorithm, variant)
            expected = twin.Run(n, fault, tree.sink, tree.order, algorithm, variant or "as_commented")
            for name in SAME:
                assert getattr(found, name) == getattr(expected, name), (name, cube, tree, algorithm, variant)
            assert list(found.failing) == expected.failing
            assert list(found.detours) == expected.detours
            assert list(found.faulty_stages) == expected.faulty_stages
            assert sum(found.lost_by.values()) == found.lost
            assert sum(found.by_origin.values()) == found.arrived
            yield from (cause for cause, amount in found.lost_by.items() if amount)


def test_small_cubes():
    rng = random.Random(1)
    for case in small_fault_sets():
        if case[0] < 3 or rng.random() < 0.1:
            [*check(*case, rng)]


@pytest.mark.parametrize("many", mark_others_slow([60, 300]))
def test_random_fault_sets(many):
    """Among which every cause of a loss occurs."""
    rng = random.Random(2)
    seen = {cause for case in random_fault_sets(many, 3, 5, seed=5) for cause in check(*case, rng)}
    assert seen == {"mutual", "ignored", "nopath", "blocked"}


def test_what_the_repair_promises():
    """Whatever the tree and the faults: corrected loses what is stranded and no more, and comment never blocks."""
    rng = random.Random(3)
    for n, nodes, links in random_fault_sets(120, 2, 6, seed=6):
        cube = fc.Hypercube(n, nodes, links)
        for tree in trees_of(cube, rng):
            corrected = fc.gather(cube, tree, variant="corrected")
            assert corrected.lost == corrected.unreachable_data
            assert not corrected.deadlocked
            assert not fc.gather(cube, tree).deadlocked


@pytest.mark.slow
def test_pieces_take_the_way_of_amounts():
    """Bags of labels split by dealing out: the weight that arrives is the amount, and nothing is invented."""
    rng = random.Random(4)
    for n, nodes, links in random_fault_sets(30, 2, 5, seed=7):
        cube = fc.Hypercube(n, nodes, links)
        for tree in trees_of(cube, rng):
            for algorithm, variant in RUNS:
                g = fc.gather(cube, tree, algorithm, variant)
                full = 2**n - 1
                holders = [v for v, word in enumerate(detect(n, nodes, links)) if word != full]
                result = fc.gather(
                    cube,
                    tree,
                    algorithm,
                    variant,
                    data={v: Counter({v: Fraction(1)}) for v in holders},
                    split=lambda piece, m: [Counter({v: x / m for v, x in piece.items()})] * m,
                    merge=lambda a, b: a + b,
                ).result
                assert g.result is None
                assert dict(sorted(result.items())) == g.by_origin if result else not g.by_origin


# ---------------------------------------------------------------- the paper's examples


def example_3():
    cube = fc.Hypercube(4, faulty_links=[(0b1011, 0b1010), (0b1011, 0b1001)])
    return cube, fc.CommunicationTree(cube, 0, (0, 1, 2, 3))


def test_example_3():
    """1011 gives its data to 1111 and 0011, and 1010 does nothing; by Figure 13's letter 1001 waits for ever."""
    cube, tree = example_3()
    assert tree.faulty_links == ((0b1011, 0b1010),)
    for variant in ("as_commented", "corrected"):
        g = fc.gather(cube, tree, variant=variant)
        assert g.plans[0].partners == (0b1111, 0b0011)
        assert (g.failing, g.faulty_stages, g.detours) == (((0, 0b1011),), (0,), ())
        assert (g.arrived, g.steps_paper, g.steps_sync, g.deadlocked) == (16, 5, 5, False)
    g = fc.gather(cube, tree, variant="as_printed")
    assert g.blocked == (0b0000, 0b1000, 0b1001)
    assert g.lost == g.lost_by["blocked"] == Fraction(15, 2)


def test_example_4():
    """Figure 16: 100 cannot reach 000 at stage 0 and sends to 101; nothing is lost, unless by Figure 13's letter."""
    cube = fc.Hypercube(3, [0b111], [(0b100, 0b110), (0b100, 0b000)])
    tree = fc.find_tree(cube)
    assert str(tree) == "sink 001, order (2, 1, 0)"
    for variant in ("as_commented", "corrected"):
        g = fc.gather(cube, tree, variant=variant)
        assert (g.failing, g.plans[0].partners) == (((0, 0b100),), (0b101,))
        assert (g.expected, g.arrived) == (7, 7)
    assert fc.gather(cube, tree, variant="as_printed").deadlocked


def test_nothing_faulty():
    cube = fc.Hypercube(5)
    for algorithm, variant in RUNS:
        g = fc.gather(cube, fc.find_tree(cube), algorithm, variant)
        assert (g.arrived, g.lost, g.steps_paper, g.steps_sync, g.failing) == (32, 0, 5, 5, ())


@pytest.mark.slow
def test_sixteen_dimensions():
    cube = fc.Hypercube(16, faulty_links=[(u, u ^ 1 << u % 16) for u in range(1, 4000, 7)])
    g = fc.gather(cube, fc.CommunicationTree(cube, 0, range(16)), variant="corrected")
    assert g.lost == g.unreachable_data == 0
    with pytest.raises(ParameterError, match=r"n must be in \[1, 10\] to follow data by origin, got 16"):
        _ = g.by_origin


CUBE, TREE = example_3()
ONES = dict.fromkeys(range(16), 1)
HALVES = {"split": lambda x, m: [x / m] * m, "merge": lambda a, b: a + b}


def test_result_of_numbers():
    assert fc.gather(CUBE, TREE, data=ONES, **HALVES).result == 16


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fc.gather(fc.Hypercube(17), TREE), r"n must be in \[1, 16\] .* got 17"),
        (lambda: fc.gather(fc.DualCube(2), TREE), "cube must be a Hypercube, got DualCube"),
        (lambda: fc.gather(CUBE, (0, (0, 1, 2, 3))), "tree must be a CommunicationTree, got"),
        (lambda: fc.gather(fc.Hypercube(4), TREE), "tree must be a tree of the cube"),
        (lambda: fc.gather(CUBE, TREE, "TCP"), "algorithm must be FTTC, TC or REROUTE for Hypercube, got 'TCP'"),
        (
            lambda: fc.gather(CUBE, TREE, variant="fixed"),
            "variant must be as_printed, as_commented or corrected .* got 'fixed'",
        ),
        (lambda: fc.gather(CUBE, TREE, "TC", variant="as_commented"), "variant is not an option of TC"),
        (lambda: fc.gather(CUBE, TREE, "REROUTE", variant="as_printed"), "variant is not an option of REROUTE"),
        (lambda: fc.gather(CUBE, TREE, data=7, **HALVES), "data must be a mapping of labels to pieces, got 7"),
        (lambda: fc.gather(CUBE, TREE, data={0: 1}, **HALVES), "data must have one piece .* 16 nodes .* misses node 1"),
        (lambda: fc.gather(CUBE, TREE, data={**ONES, 16: 1}, **HALVES), "data must have one piece .* has 16, which"),
        (lambda: fc.gather(CUBE, TREE, data=ONES, merge=max), "split must be a function when data is given, got None"),
        (lambda: fc.gather(CUBE, TREE, data=ONES, split=max), "merge must be a function when data is given, got None"),
        (
            lambda: fc.gather(CUBE, TREE, data=ONES, split=lambda x, m: [x], merge=max),
            "split must return 2 pieces when called with 2, got 1",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ParameterError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


# ---------------------------------------------------------------- applications

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["matvec.py", "sorting.py"])
def test_applications(name):
    for options in ([], ["--links", "14", "--nodes", "2", "--seed", "3"], ["--links", "0", "--nodes", "0"]):
        done = subprocess.run([sys.executable, EXAMPLES / name, *options], capture_output=True, text=True, check=True)
        assert "wrong" not in done.stdout.split("as_printed")[0]
        assert "right answer" in done.stdout.split("corrected")[1]
    assert done.stdout.count("right answer") == 3  # nothing is faulty


@pytest.mark.parametrize("name", ["matvec.py", "sorting.py"])
def test_examples_gather_among_faults(name):
    done = subprocess.run([sys.executable, EXAMPLES / name], capture_output=True, text=True, check=True)
    assert done.stdout.endswith(
        "8 faulty links, 1 faulty nodes, 31 nodes with data\n"
        "FIND_TREE: sink 00000, order (4, 3, 2, 0, 1), 1 faulty links in the tree\n"
        "as_printed   5 steps, slowdown 1.00: wrong answer, 11 nodes wait for ever\n"
        "as_commented 5 steps, slowdown 1.00: right answer, 0 of 31 units lost\n"
        "corrected    5 steps, slowdown 1.00: right answer, 0 of 31 units lost\n"
    )
