"""fc.two_partition: the paper's examples, the plain twin, any n up to 62, and refusals."""

from __future__ import annotations

import itertools
import random

import pytest
from helpers.compiled import mark_others_slow
from reference import partition as twin

import fastcube as fc


def check_against_twin(n, faults):
    cube = fc.Hypercube(n, faults)
    assert fc.two_partition(cube) == twin.figure_2(n, faults), faults
    assert fc.two_partition(cube, exhaustive=True) == twin.exhaustive(n, faults), faults


def clustered(rng, n, f):
    """Faults of which most are within distance 2 of an earlier one."""
    faults = [rng.randrange(2**n)]
    while len(faults) < f:
        near = rng.choice(faults) ^ 1 << rng.randrange(n)
        new = near ^ rng.choice([0, 1]) << rng.randrange(n) if rng.random() < 0.8 else rng.randrange(2**n)
        if new not in faults:
            faults.append(new)
    return faults


# ---------------------------------------------------------------- the paper's examples


def test_section_3_1():
    faults = [0b000000, 0b100001, 0b111000, 0b000100]
    assert not twin.is_fault_tolerant(6, faults, 0, 5)
    assert fc.two_partition(fc.Hypercube(6, faults)) == (0, 1)


def test_exhaustive_search_succeeds_where_figure_2_fails():
    cube = fc.Hypercube(4, [0, 1, 6, 11])
    assert fc.two_partition(cube) is None
    assert fc.two_partition(cube, exhaustive=True) == (2, 3)


def test_j_is_mapped_back():
    """Figure 2 finds i = 0 and the shortened word's j = 0, which is dimension 1."""
    assert fc.two_partition(fc.Hypercube(3)) == (0, 1)
    assert twin.figure_2(3, [], map_back=False) == (0, 0)


def test_section_5_3():
    faults = [0b00011, 0b00100, 0b01110, 0b01001, 0b11010, 0b11110, 0b10101, 0b10011]
    assert fc.two_partition(fc.Hypercube(5, faults)) == (0, 1)


# ---------------------------------------------------------------- against the twin


@pytest.mark.parametrize("n", [1, 2, 3])
def test_all_fault_sets_of_small_cubes(n):
    for f in range(2**n + 1):
        for faults in itertools.combinations(range(2**n), f):
            check_against_twin(n, faults)


def test_all_sets_of_at_most_five_faults_of_q4():
    for f in range(6):
        for faults in itertools.combinations(range(16), f):
            check_against_twin(4, faults)


@pytest.mark.parametrize("n", mark_others_slow([5, 6, 8, 12, 62, 20, 40], default=5))
def test_random_and_clustered_fault_sets(n):
    rng = random.Random(n)
    for _ in range(200 if n < 40 else 80):
        f = rng.randrange(1, 2 * n)
        check_against_twin(n, clustered(rng, n, min(f, 2 ** (n - 1))))
        check_against_twin(n, rng.sample(range(2**n), min(f, 2**n)))


def test_both_ends_of_a_faulty_link_are_faults():
    cube = fc.Hypercube(4, [0b1111], [(0b0000, 0b0001), (0b0111, 0b0101)])
    faults = twin.faults_of([0b1111], [(0b0000, 0b0001), (0b0111, 0b0101)])
    assert len(faults) == 5
    assert fc.two_partition(cube, exhaustive=True) == twin.exhaustive(4, faults)
    assert fc.two_partition(fc.Hypercube(3, (), [(0, 1)])) == (1, 2)


def test_more_faults_than_two_cubes():
    for n in (2, 3, 4):
        assert fc.two_partition(fc.Hypercube(n, range(2 ** (n - 2) + 1)), exhaustive=True) is None
    assert fc.two_partition(fc.Hypercube(1), exhaustive=True) is None


# ---------------------------------------------------------------- bad input

BAD = [
    (lambda: fc.two_partition(fc.Hypercube(4, fc.random_faults(0.1))), "faulty_nodes must be listed for a 2-partition"),
    (lambda: fc.two_partition(fc.DualCube(2)), "cube must be a Hypercube, got DualCube(2)"),
    (lambda: fc.two_partition("cube"), "cube must be a Hypercube, got 'cube'"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input(call, message):
    with pytest.raises(fc.ParameterError) as caught:
        call()
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
