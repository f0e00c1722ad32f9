"""fc.find_unsafe: the paper's examples, the plain twin on every small fault set, and any n up to 62."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from helpers.compiled import mark_others_slow
from reference import unsafe as twin

import fastcube as fc
from fastcube.algorithms import unsafe as module


def steps(unsafe) -> dict[int, int]:
    return dict(zip(unsafe.nodes.tolist(), unsafe.round_of.tolist(), strict=True))


def shapes(unsafe) -> list[str]:
    return [str(part) for part in unsafe.subcubes]


def check_against_twin(n, nodes, links=()):
    u = fc.find_unsafe(fc.Hypercube(n, nodes, links))
    wanted = twin.find_unsafe(n, nodes, links)
    assert steps(u) == wanted
    assert u.nodes.tolist() == sorted(wanted)
    assert u.rounds == max(wanted.values(), default=0)
    assert u.count == len(wanted)
    assert u.fraction == len(wanted) / 2**n
    assert u.all_unsafe == twin.is_unsafe(n, nodes, links)
    assert {(part.base, part.free) for part in u.subcubes} == twin.subcubes(nodes, links)
    return u


# ---------------------------------------------------------------- the paper's examples


def test_figure_3():
    u = check_against_twin(4, [0b0110, 0b0101, 0b0000])
    assert shapes(u) == ["0***"]
    assert steps(u) == {0b0001: 1, 0b0010: 1, 0b0100: 1, 0b0111: 1, 0b0011: 2}
    assert (u.count, u.fraction, u.all_unsafe, u.rounds) == (5, 5 / 16, False, 2)


def test_figure_10():
    assert shapes(check_against_twin(4, [0b1100, 0b0101])) == ["*10*"]


def test_figure_12_takes_five_rounds():
    u = check_against_twin(4, [0b0000, 0b0110, 0b1101])
    assert u.rounds == 5
    assert u.all_unsafe
    assert steps(u)[0b0100] == steps(u)[0b0010] == 1
    assert steps(u)[0b1100] == steps(u)[0b0101] == 2


def test_several_subcubes_and_an_isolated_fault():
    """As in Figure 7: active, unsafe and faulty nodes, here with two unsafe subcubes and a fault by itself."""
    u = check_against_twin(7, [0b0000000, 0b0000011, 0b1111000, 0b1101100, 0b0011111])
    assert shapes(u) == ["00000**", "0011111", "11*1*00"]
    assert u.rounds == 1
    assert u.count == 4


# ---------------------------------------------------------------- the plain twin


@pytest.mark.parametrize("n", [1, 2, 3])
def test_all_fault_sets(n):
    for word in range(2**2**n):
        check_against_twin(n, [v for v in range(2**n) if word >> v & 1])


@pytest.mark.parametrize("most", mark_others_slow([3, 4]))
def test_fault_sets_of_q4(most):
    for f in range(most + 1):
        for others in itertools.combinations(range(1, 16), f):
            check_against_twin(4, (0, *others))


def test_all_faulty_nodes_and_links_of_q2():
    links = [(0, 1), (2, 3), (0, 2), (1, 3)]
    for word, k in itertools.product(range(16), range(5)):
        for chosen in itertools.combinations(links, k):
            check_against_twin(2, [v for v in range(4) if word >> v & 1], chosen)


def test_random_faults_of_nodes_and_links():
    rng = random.Random(3)
    for _ in range(300):
        n = rng.randint(3, 7)
        nodes = rng.sample(range(2**n), rng.randint(0, rng.choice((2, n, 2**n))))
        rate = rng.choice((0, 0.01, 0.05))
        links = [(x, x ^ 1 << i) for x in range(2**n) for i in range(n) if rng.random() < rate]
        check_against_twin(n, nodes, links)


def test_link_faults_mark_their_ends_in_step_one():
    u = check_against_twin(3, [0], [(0, 1)])
    assert shapes(u) == ["00*"]
    assert steps(u) == {1: 1}
    assert shapes(check_against_twin(3, [0, 1], [(0, 1)])) == ["00*"]
    assert check_against_twin(3, [0, 1], [(0, 1)]).rounds == 0
    assert steps(check_against_twin(3, [], [(2, 6)])) == {2: 1, 6: 1}


def test_the_subcubes_are_the_maximal_ones_by_definition():
    rng = random.Random(4)
    for _ in range(30):
        nodes = rng.sample(range(16), rng.randint(0, 6))
        u = fc.find_unsafe(fc.Hypercube(4, nodes))
        assert {(p.base, p.free) for p in u.subcubes} == twin.maximal_subcubes(4, set(nodes) | set(u.nodes.tolist()))


# ---------------------------------------------------------------- the two ways agree


@pytest.mark.kernels
@pytest.mark.parametrize("n", [9, 11, 13])
def test_subcubes_whole_state_and_compiled_rounds_agree(n, monkeypatch):
    rng = random.Random(n)
    for _ in range(15):
        nodes = rng.sample(range(2**n), rng.randint(0, 3 * n))
        links = [(x, x ^ 1 << rng.randrange(n)) for x in rng.sample(range(2**n), rng.choice((0, 4)))]
        cube = fc.Hypercube(n, nodes, links)
        u = fc.find_unsafe(cube)
        assert "_round_of_node" not in u.__dict__
        state = module.marking_steps(n, u._faulty, u._ends)
        assert steps(u) == {v: int(state[v]) for v in np.flatnonzero(state > 0).tolist()}
        assert u.rounds == max(int(state.max()), 0)
        with monkeypatch.context() as patch:
            patch.setattr(module, "SMALLEST_COMPILED", 9)
            assert fc.find_unsafe(cube).rounds == u.rounds


def test_many_faults_take_the_whole_state():
    rng = random.Random(8)
    for n, f in ((8, 100), (10, 300), (12, 2000)):
        nodes = rng.sample(range(2**n), f)
        u = fc.find_unsafe(fc.Hypercube(n, nodes))
        assert "_round_of_node" in u.__dict__
        bases, frees = module.merge_subcubes(np.array(nodes, np.uint64), np.zeros(f, np.uint64))
        parts = {(part.base, part.free) for part in u.subcubes}
        assert parts == set(zip(bases.tolist(), frees.tolist(), strict=True))


def test_lazy_faults_are_the_listed_ones():
    faults = fc.random_faults(0.01, seed=5)
    listed = [x for x in range(2**12) if x in faults]
    lazy, plain = fc.find_unsafe(fc.Hypercube(12, faults)), fc.find_unsafe(fc.Hypercube(12, listed))
    assert lazy.subcubes == plain.subcubes
    assert steps(lazy) == steps(plain)
    assert lazy.rounds == plain.rounds


# ---------------------------------------------------------------- large cubes


def test_q62():
    n = 62
    far = (1 << 61) | (1 << 60) | (1 << 59)
    end = (1 << 57) | (1 << 56) | (1 << 55)
    u = fc.find_unsafe(fc.Hypercube(n, [0, 3, far, far | 3 << 40, 2**30 - 1], [(end, end | 1 << 20)]))
    assert u.count == 2 + 2 + 2
    assert u.rounds == 1
    assert u.nodes.tolist() == sorted([1, 2, far | 1 << 40, far | 1 << 41, end, end | 1 << 20])
    assert u.round_of.tolist() == [1] * 6
    assert [part.dimension for part in u.subcubes] == [2, 0, 1, 2]
    assert u.fraction == 6 / 2**62
    assert not u.all_unsafe


def test_spanned_cubes_of_any_dimension():
    """ceil(n/2) + 1 faults, each at distance two from the span of its predecessors, make Q_n unsafe."""
    for n in range(1, 63):
        nodes = [0] + [(1 << min(m + 2, n)) - (1 << m) for m in range(0, n, 2)]
        u = fc.find_unsafe(fc.Hypercube(n, nodes))
        assert u.all_unsafe
        assert u.count == 2**n - len(nodes)
        assert shapes(u) == ["*" * n]


def test_what_is_out_of_reach_is_refused_only_when_asked_for():
    nodes = [0] + [(1 << m + 2) - (1 << m) for m in range(0, 32, 2)]
    u = fc.find_unsafe(fc.Hypercube(40, nodes))
    assert u.count == 2**32 - len(nodes)
    with pytest.raises(
        fc.ParameterError, match=r"^rounds are run in subcubes of at most 30 dimensions, got one of 32: 0{8}\*{32}$"
    ):
        _ = u.rounds
    with pytest.raises(fc.ParameterError, match=r"^nodes lists at most 2\^30 unsafe nodes, got 4294967279; "):
        _ = u.nodes
    with pytest.raises(fc.ParameterError, match=r"^nodes lists"):
        _ = u.round_of


def test_refused():
    with pytest.raises(
        fc.ParameterError, match=r"^n must be in \[1, 26\] for unsafe nodes under random_faults, got 27$"
    ):
        fc.find_unsafe(fc.Hypercube(27, fc.random_faults(0.1)))
    with pytest.raises(fc.ParameterError, match=r"^cube must be a Hypercube, got 5$"):
        fc.find_unsafe(5)


def test_types_and_printing():
    u = fc.find_unsafe(fc.Hypercube(4, [0, 3]))
    assert u.nodes.dtype == np.uint64
    assert u.round_of.dtype == np.int64
    assert type(u.rounds) is type(u.count) is int
    assert type(u.fraction) is float
    assert type(u.all_unsafe) is bool
    assert repr(u) == "Unsafe(count=2, fraction=0.125, all_unsafe=False, subcubes=[00**])"
    nothing = fc.find_unsafe(fc.Hypercube(4))
    assert (nothing.rounds, nothing.count, nothing.subcubes, nothing.all_unsafe) == (0, 0, (), False)
    assert nothing.nodes.tolist() == nothing.round_of.tolist() == []
    full = fc.find_unsafe(fc.Hypercube(2, range(4)))
    assert (full.rounds, full.count, full.all_unsafe) == (0, 0, True)
