"""Exact values: three ways to them that agree, closed forms, the totals and thresholds known from the literature of the
approach, and the plain twin on every fault set of the smallest cubes.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numba
import pytest
from helpers.compiled import mark_others_slow
from reference import unsafe as twin

import fastcube as fc
from fastcube.exact import unsafe as exact

#: Fault sets, the full one included, that leave no active node of Q_n, for n = 1, 2, ...
TOTALS = [1, 7, 189, 63687, 4294312617, 18446744022167292711]

#: The p at which Q_n is unsafe with probability 1/2, for n = 2, 3, ...
CRITICAL = [0.5411961001, 0.3789303033, 0.2321159235, 0.1381092302, 0.0783173647]


uncompiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="hours without compiled code")
UP_TO_5 = [1, 2, 3, 4, pytest.param(5, marks=uncompiled)]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_enumeration_is_that_of_the_plain_twin(n):
    joint: list[Counter] = [Counter() for _ in range(2**n + 1)]
    for f in range(2**n + 1):
        for nodes in itertools.combinations(range(2**n), f):
            marked = twin.find_unsafe(n, nodes)
            joint[f][len(marked), max(marked.values(), default=0)] += 1
    assert exact.enumerate_fault_sets(n) == joint


def test_enumeration_of_q4_is_that_of_the_plain_twin_for_few_faults():
    for f in (2, 3, 4):
        joint: Counter = Counter()
        for others in itertools.combinations(range(1, 16), f - 1):
            marked = twin.find_unsafe(4, (0, *others))
            joint[len(marked), max(marked.values(), default=0)] += 1
        assert exact.enumerate_fault_sets(4)[f] == {key: many * 16 // f for key, many in joint.items()}


@pytest.mark.parametrize("n", UP_TO_5)
def test_enumeration_holds_every_fault_set(n):
    for f, joint in enumerate(exact.enumerate_fault_sets(n)):
        assert sum(joint.values()) == math.comb(2**n, f)


@pytest.mark.parametrize("n", UP_TO_5)
def test_closed_families_agree_with_enumeration(n):
    for f, joint in enumerate(exact.enumerate_fault_sets(n)):
        by_unsafe: Counter = Counter()
        for (unsafe, _), many in joint.items():
            by_unsafe[unsafe, None] += many
        assert exact.count_by_families(n)[f] == by_unsafe


@pytest.mark.parametrize("n", UP_TO_5[1:])
def test_column_types_agree_with_enumeration(n):
    for f in range(5):
        joint, isolated = exact.column_types(n, f)
        assert joint == exact.enumerate_fault_sets(n)[f]
        assert isolated == exact.isolated_sets(n, f)


@pytest.mark.parametrize("f", mark_others_slow([2, 3, 4], default=2))
def test_column_types_agree_with_closed_families_of_q6(f):
    joint, isolated = exact.column_types(6, f)
    by_unsafe: Counter = Counter()
    for (unsafe, _), many in joint.items():
        by_unsafe[unsafe, None] += many
    assert by_unsafe == exact.count_by_families(6)[f]
    assert isolated == exact.isolated_sets(6, f)


# ---------------------------------------------------------------- known numbers


def test_totals():
    assert [sum(exact.spanning_counts(n)) for n in range(1, 7)] == TOTALS


@pytest.mark.parametrize("n", range(1, 7))
def test_least_faults_and_top_coefficients(n):
    counts = exact.spanning_counts(n)
    assert next(f for f, sets in enumerate(counts) if sets) == math.ceil(n / 2) + 1
    assert counts[-1] == 1
    assert counts[-2] == (2**n if n > 1 else 0)  # one nonfaulty node has n faulty neighbours


def test_critical_rates():
    assert [round(exact.critical_rate(n), 10) for n in range(2, 7)] == CRITICAL
    assert exact.critical_rate(1) == pytest.approx(0.5**0.5, abs=1e-15)
    assert exact.critical_rate(2) == pytest.approx((1 - 0.5**0.5) ** 0.5, abs=1e-15)  # unsafe iff a diagonal is faulty


def test_all_unsafe_probability_is_exact_for_fractions():
    half = Fraction(1, 2)
    for n in range(1, 7):
        assert exact.all_unsafe_probability(n, half) == Fraction(TOTALS[n - 1], 2**2**n)


@pytest.mark.parametrize("n", [2, 3, 4, pytest.param(5, marks=uncompiled), *range(6, 63)])
def test_two_faults(n):
    assert fc.exact_unsafe(n, 2).mean_fraction == exact.mean_unsafe_two_faults(n) / 2**n
    assert exact.mean_unsafe_two_faults(n) == Fraction(n * (n - 1), 2**n - 1)
    assert fc.exact_unsafe(n, 2).close_pair == exact.mean_close_pairs(n, 2)


def test_merging_pairs_bound_the_share_of_merging_sets():
    for n, f in itertools.product((4, 6, 8, 20), (3, 4)):
        if n <= 15 or f == 3:
            assert 0 < fc.exact_unsafe(n, f).close_pair <= exact.mean_close_pairs(n, f)
    assert float(exact.mean_close_pairs(60, 120)) == pytest.approx(1.13e-11, rel=0.01)


def test_q2_by_hand():
    values = fc.exact_unsafe(2, 2)  # 4 of 6 pairs are adjacent and mark nothing, 2 are diagonals and mark the rest
    assert values == exact.ExactUnsafe(
        2, 2, Fraction(1, 6), Fraction(1, 18), Fraction(1, 3), Fraction(1), Fraction(1, 3), 1
    )


@uncompiled
def test_rounds_of_q5():
    """floor(n^2/3) = 8 rounds at most, from 4 faults on (Przykucki 2012)."""
    assert [max(rounds for _, rounds in sets) for sets in exact.enumerate_fault_sets(5)[:7]] == [0, 0, 1, 5, 8, 8, 7]


def test_rounds_of_small_cubes():
    most = {(2, 2): 1, (3, 3): 3, (4, 3): 5, (6, 4): 11, (7, 4): 11}
    assert {(n, f): fc.exact_unsafe(n, f).max_rounds for n, f in most} == most
    assert fc.exact_unsafe(6, 5).mean_rounds is None
    assert fc.exact_unsafe(6, 5).max_rounds is None


def test_no_and_one_fault():
    for n, f in ((1, 0), (1, 1), (6, 0), (6, 1), (62, 0), (62, 1)):
        values = fc.exact_unsafe(n, f)
        assert (values.mean_fraction, values.all_unsafe, values.close_pair, values.mean_rounds) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("n", "f", "message"),
    [
        (7, 5, "f must be in [0, 4] for exact values at n=7, got 5"),
        (16, 4, "f must be in [0, 3] for exact values at n=16, got 4"),
        (3, 9, "f must be in [0, 8] for n=3, got 9"),
        (0, 0, "n must be in [1, 62], got 0"),
        (63, 1, "n must be in [1, 62], got 63"),
        (4, 1.5, "f must be an integer in [0, 16] for n=4, got 1.5"),
    ],
)
def test_refused(n, f, message):
    with pytest.raises(fc.ParameterError) as caught:
        fc.exact_unsafe(n, f)
    assert str(caught.value) == message
