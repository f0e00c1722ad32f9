"""Networks: accepted and refused arguments, printing, lazy faults, and shortest paths."""

from __future__ import annotations

import copy
import hashlib
import pickle
import random

import networkx as nx
import numpy as np
import pytest

import fastcube as fc
from fastcube.algorithms import shortest
from fastcube.kernels.draws import statuses
from fastcube.networks.faults import RandomFaults
from fastcube.networks.hypercube import Subcube


def test_labels_of_any_integer_type_and_repeats_collapse():
    cube = fc.Hypercube(np.int8(4), [0, np.uint64(5), np.int16(5), 0], [(3, 1), (1, 3), (np.uint8(1), np.int64(3))])
    assert cube.n == 4
    assert cube.faulty_nodes == {0, 5}
    assert cube.faulty_links == {(1, 3)}
    assert all(type(label) is int for label in cube.faulty_nodes)
    assert cube == fc.Hypercube(4, {5, 0}, [(1, 3)])
    assert hash(cube) == hash(fc.Hypercube(4, {5, 0}, [(1, 3)]))
    assert cube != fc.Hypercube(5, {5, 0}, [(1, 3)])
    assert fc.Hypercube(62, np.array([2**62 - 1, 0, 0], dtype=np.uint64)).faulty_nodes == {0, 2**62 - 1}
    assert fc.Hypercube(3, (x for x in (1, 2))).faulty_nodes == {1, 2}
    assert fc.Hypercube(3, np.array([], dtype=np.int64)).faulty_nodes == frozenset()


def test_faults_of_nodes_and_links_are_apart():
    cube = fc.Hypercube(3, [0], [(6, 7)])
    assert cube.is_faulty(0)
    assert not cube.is_faulty(1)
    assert cube.is_faulty_link(6, 7)
    assert cube.is_faulty_link(7, 6)
    assert not cube.is_faulty_link(0, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0,), "n must be in [1, 62], got 0"),
        ((63,), "n must be in [1, 62], got 63"),
        ((-1,), "n must be in [1, 62], got -1"),
        ((4.0,), "n must be an integer in [1, 62], got 4.0"),
        (("4",), "n must be an integer in [1, 62], got '4'"),
        ((None,), "n must be an integer in [1, 62], got None"),
        ((4, [16]), "faulty_nodes must be in [0, 15] for n=4, got 16"),
        ((4, [3, -1]), "faulty_nodes must be in [0, 15] for n=4, got -1"),
        ((4, np.array([3, 16])), "faulty_nodes must be in [0, 15] for n=4, got 16"),
        ((4, np.array([3, -2])), "faulty_nodes must be in [0, 15] for n=4, got -2"),
        ((4, np.array([3.0])), "faulty_nodes must be an integer in [0, 15] for n=4, got np.float64(3.0)"),
        ((4, [2.5]), "faulty_nodes must be an integer in [0, 15] for n=4, got 2.5"),
        ((4, 5), "faulty_nodes must be labels in [0, 15] for n=4, got 5"),
        ((4, "0110"), "faulty_nodes must be labels in [0, 15] for n=4, got '0110'"),
        ((4, (), [(0, 3)]), "faulty_links must be pairs (u, v) of adjacent nodes for n=4, got (0, 3)"),
        ((4, (), [(5, 5)]), "faulty_links must be pairs (u, v) of adjacent nodes for n=4, got (5, 5)"),
        ((4, (), [(0, 16)]), "faulty_links must be in [0, 15] for n=4, got 16"),
        ((4, (), [(0, 1, 2)]), "faulty_links must be pairs (u, v) of adjacent nodes for n=4, got (0, 1, 2)"),
        ((4, (), [7]), "faulty_links must be pairs (u, v) of adjacent nodes for n=4, got 7"),
        ((4, (), 7), "faulty_links must be pairs (u, v) of adjacent nodes for n=4, got 7"),
    ],
)
def test_bad_input_is_one_clear_line(arguments, message):
    with pytest.raises(fc.ParameterError) as caught:
        fc.Hypercube(*arguments)
    assert str(caught.value) == message


def test_long_values_are_cut_in_messages():
    with pytest.raises(fc.ParameterError) as caught:
        fc.Hypercube("x\n" * 1000)
    assert len(str(caught.value)) < 120
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["n", "faulty_nodes", "faulty_links"])
def test_a_cube_does_not_change(name):
    with pytest.raises(AttributeError):
        setattr(fc.Hypercube(4), name, 5)


def test_copies_and_pickles_are_equal():
    cube = fc.Hypercube(4, [1, 2], [(0, 8)])
    assert pickle.loads(pickle.dumps(cube)) == copy.deepcopy(cube) == cube
    lazy = fc.Hypercube(40, fc.random_faults(0.5, seed=1))
    assert pickle.loads(pickle.dumps(lazy)) == lazy != fc.Hypercube(40, fc.random_faults(0.5, seed=2))


def test_neighbours_in_order_of_dimension():
    assert fc.Hypercube(4).neighbours(0b0101) == (0b0100, 0b0111, 0b0001, 0b1101)


def test_printing():
    cube = fc.Hypercube(4, [5, 0], [(0, 8)])
    assert repr(cube) == "Hypercube(4, faulty_nodes=[0b0000, 0b0101], faulty_links=[(0b0000, 0b1000)])"
    assert eval(repr(cube), {"Hypercube": fc.Hypercube}) == cube
    assert repr(fc.Hypercube(3)) == "Hypercube(3)"
    assert repr(fc.Hypercube(5, range(32))).endswith(", ...])")
    assert eval(fc.Hypercube(5, range(32)).source(), {"Hypercube": fc.Hypercube}) == fc.Hypercube(5, range(32))
    assert cube.label(6) == "0110"
    lazy = fc.Hypercube(40, fc.random_faults(0.25, seed=3))
    assert repr(lazy) == "Hypercube(40, faulty_nodes=random_faults(0.25, seed=3))"


def test_subcubes_print_as_ternary_strings():
    part = Subcube(0b0100, 0b0011, 4)
    assert str(part) == "01**"
    assert part.dimension == 2
    assert part.size == 4
    assert [x for x in range(16) if x in part] == [4, 5, 6, 7]
    assert part.distance(Subcube(0b1000, 0b0010, 4)) == 2
    assert str(Subcube(0, 0, 3)) == "000"


# ---------------------------------------------------------------- lazy faults


def test_random_faults_follow_their_recipe():
    faults = fc.random_faults(0.3, seed=7)
    key = int.from_bytes(hashlib.sha256(b"splitmix64/1|random_faults|7").digest()[:8], "big")
    for label in [*range(50), 2**62 - 1]:
        z = (key + label * 0x9E3779B97F4A7C15) % 2**64
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        assert (label in faults) == ((z ^ z >> 31) < int(0.3 * 2**64))
    assert (faults.rate, faults.seed) == (0.3, 7)


def test_splitmix64_known_answers():
    """The first outputs of SplitMix64 from state 0 (Vigna's splitmix64.c) are the hashes of labels 1, 2, 3 under key 0."""
    statuses = [RandomFaults(0.5, key=0).status(label) for label in (1, 2, 3)]
    assert statuses == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_kernels_hash_as_random_faults_do():
    faults = fc.random_faults(0.4, seed=9)
    with np.errstate(over="ignore"):  # without compiling, NumPy warns of wrapping products
        for label in (0, 1, 77, 2**40 + 5, 2**62 - 1):
            assert int(statuses.status(np.uint64(faults.key), np.uint64(label))) == faults.status(label)
        assert int(statuses.threshold(0.4)) == faults.threshold


def test_random_faults_many_at_once_and_maxima():
    labels = np.arange(5000, dtype=np.uint64) * np.uint64(2**49 + 1)
    for rate in (0.0, 1e-3, 0.5, 1 - 2**-53, 1.0):
        faults = fc.random_faults(rate, seed=11)
        assert faults.among(labels).tolist() == [int(label) in faults for label in labels]
    assert not fc.random_faults(0).among(labels).any()
    assert fc.random_faults(1).among(labels).all()


def test_random_faults_have_their_rate():
    """Level 1e-6: a binomial count of 2^20 trials at 0.1 stays within 4.9 standard deviations."""
    count = int(fc.random_faults(0.1, seed=1).among(np.arange(2**20, dtype=np.uint64)).sum())
    assert abs(count - 0.1 * 2**20) < 4.9 * (2**20 * 0.09) ** 0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.5,), "rate must be in [0, 1], got 1.5"),
        ((-0.1,), "rate must be in [0, 1], got -0.1"),
        ((float("nan"),), "rate must be in [0, 1], got nan"),
        (("a",), "rate must be a number in [0, 1], got 'a'"),
        ((0.5, -1), "seed must be in [0, 18446744073709551615], got -1"),
        ((0.5, 1.5), "seed must be an integer in [0, 18446744073709551615], got 1.5"),
    ],
)
def test_random_faults_refuse(arguments, message):
    with pytest.raises(fc.ParameterError) as caught:
        fc.random_faults(*arguments)
    assert str(caught.value) == message


# ---------------------------------------------------------------- distance


def _graph(cube: fc.Hypercube) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(x for x in range(2**cube.n) if not cube.is_faulty(x))
    graph.add_edges_from(
        (x, y) for x in graph for y in cube.neighbours(x) if y in graph and not cube.is_faulty_link(x, y)
    )
    return graph


def test_distance_agrees_with_networkx():
    rng = random.Random(5)
    for _ in range(150):
        n = rng.randint(1, 7)
        nodes = rng.sample(range(2**n), rng.randint(0, 3 * 2**n // 4))
        links = [(x, x ^ 1 << i) for x in range(2**n) for i in range(n) if rng.random() < rng.choice((0, 0.1, 0.3))]
        cube = fc.Hypercube(n, nodes, links)
        graph = _graph(cube)
        for _ in range(15):
            s, t = rng.randrange(2**n), rng.randrange(2**n)
            if s in graph and t in graph:
                whole = nx.has_path(graph, s, t)
                assert fc.distance(cube, s, t) == (nx.shortest_path_length(graph, s, t) if whole else None), (
                    cube,
                    s,
                    t,
                )


def test_distance_under_lazy_faults():
    for rate in (0.3, 0.6, 0.8):
        cube = fc.Hypercube(9, fc.random_faults(rate, seed=2))
        graph = _graph(cube)
        for s, t in ((x, y) for x in list(graph)[:4] for y in list(graph)[-4:]):
            whole = nx.has_path(graph, s, t)
            assert fc.distance(cube, s, t) == (nx.shortest_path_length(graph, s, t) if whole else None)


def test_distance_in_large_cubes():
    everything = 2**60 - 1
    assert fc.distance(fc.Hypercube(60), 0, everything) == 60
    with pytest.raises(fc.ParameterError, match="s must be a nonfaulty node, got 0"):
        fc.distance(fc.Hypercube(60, [0]), 0, everything)
    around = [1 << i for i in range(60)]
    assert fc.distance(fc.Hypercube(60, around), 0, everything) is None
    assert fc.distance(fc.Hypercube(60, around[:59]), 0, everything >> 1) == 61  # out across dimension 59, and back
    assert fc.distance(fc.Hypercube(60, (), [(0, x) for x in around[:59]]), everything >> 1, 0) == 61
    assert fc.distance(fc.Hypercube(60, around[:59]), 0, 0) == 0


def test_distance_gives_up_rather_than_run_for_ever(monkeypatch):
    monkeypatch.setattr(shortest, "MAX_EXPANDED", 100)
    cube = fc.Hypercube(30, [x for x in range(2**12) if x.bit_count() == 6])
    with pytest.raises(fc.ParameterError, match="passed 100 nodes"):
        fc.distance(cube, 0, 2**12 - 1)


def test_distance_checks_labels():
    with pytest.raises(fc.ParameterError, match=r"^s must be in \[0, 15\] for n=4, got 16$"):
        fc.distance(fc.Hypercube(4), 16, 0)
    with pytest.raises(fc.ParameterError, match=r"^t must be an integer in \[0, 15\] for n=4, got 1.0$"):
        fc.distance(fc.Hypercube(4), 0, 1.0)
