"""Planted fault sets and what the kernel counts of them: the documented recipe, the plain twin, uniformity, any split."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numba
import numpy as np
import pytest
from helpers.documented import load_documented_sampler
from helpers.planted_trials import KEY, check_planted, count_trials, is_first_pair, sample_faults
from reference import planting as plain
from scipy.special import chdtrc

from fastcube.exact.unsafe import enumerate_fault_sets
from fastcube.kernels.unsafe import planting
from fastcube.kernels.unsafe.layout import DIMENSIONS, MARKING, UNSAFE_RARE

LEVEL = 1e-6
SLOW = numba.config.DISABLE_JIT
FEW, MANY = (20, 500) if SLOW else (300, 200_000)


POINTS = [(2, 2), (2, 4), (3, 5), (4, 16), (5, 7), (6, 3), (7, 10), (8, 20), (9, 8), (10, 40), (16, 8), (17, 18),
          (20, 10), (24, 60), (32, 9), (33, 20), (48, 33), (60, 30), (62, 34)]  # a table, row by row # fmt: skip
#: Those whose counts the twin has quickly.
SMALL = {(2, 2), (2, 4), (3, 5), (4, 16), (5, 7), (6, 3), (7, 10), (16, 8), (20, 10), (32, 9), (33, 20)}


@pytest.mark.parametrize(("n", "f"), POINTS)
def test_draws_are_those_of_the_recipe(n, f):
    documented = load_documented_sampler()["close_pair_sequence"]
    for t in (0, 1, 2, 3, 5, 14, 1000, 2**33 + 7):
        assert sample_faults(t, n, f) == documented(int(KEY), t, n, f)


@pytest.mark.parametrize(("n", "f"), [p if p in SMALL else pytest.param(*p, marks=pytest.mark.slow) for p in POINTS])
def test_counts_are_those_of_the_plain_twin(n, f):
    check_planted(n, f, 5, 5 + FEW)


@pytest.mark.parametrize(("n", "f"), [(6, 5), (10, 20), (16, 9), (20, 30), (40, 80), (60, 30)])
def test_any_split_adds_up(n, f):
    stop = MANY // 40
    cuts = [0, 1, 3, 10, 17, stop // 3, stop]
    parts = [count_trials(n, f, a, b) for a, b in itertools.pairwise(cuts)]
    whole, maxima = count_trials(n, f, 0, stop)
    assert {name: sum(c[name] for c, _ in parts) for name in whole} == whole
    for name, (value, trial) in maxima.items():
        best = max(e[name][0] for _, e in parts)
        assert (value, trial) == (best, min(e[name][1] for _, e in parts if e[name][0] == best))


# ---------------------------------------------------------------- the distribution


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f"), [(2, 2), (2, 3), (3, 2), (3, 3)])
def test_everything_that_can_be_drawn_is_equally_likely(n, f):
    possible = {(faults, i, j) for faults, i, j in plain.sequences(n, f)}
    trials = 12 * len(possible) if SLOW else 40 * len(possible)
    seen = Counter()
    for t in range(trials):
        faults, i, j = sample_faults(t, n, f)
        seen[tuple(faults), i, j] += 1
    assert seen.keys() <= possible
    wanted = trials / len(possible)
    chi = sum((seen[key] - wanted) ** 2 / wanted for key in possible)
    assert LEVEL < chdtrc(len(possible) - 1, chi) < 1 - LEVEL


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f"), [(9, 5), (20, 12), (60, 30)])
def test_masks_positions_and_bits_are_uniform(n, f):
    trials = 800 if SLOW else 20_000
    masks, pairs, ones = Counter(), Counter(), np.zeros((f, n), np.int64)
    for t in range(trials):
        faults, i, j = sample_faults(t, n, f)
        masks[faults[i] ^ faults[j]] += 1
        pairs[i, j] += 1
        ones += np.array(faults, np.uint64)[:, None] >> np.arange(n, dtype=np.uint64) & np.uint64(1) == 1
    for found, kinds in ((masks, n + math.comb(n, 2)), (pairs, math.comb(f, 2))):
        wanted = trials / kinds
        chi = sum((v - wanted) ** 2 for v in found.values()) / wanted + (kinds - len(found)) * wanted
        assert chdtrc(kinds - 1, chi) > LEVEL
    worst = np.abs(ones - trials / 2).max()
    assert 2 * f * n * math.exp(-2 * worst**2 / trials) > LEVEL  # Hoeffding's inequality


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f"), [(2, 2), (2, 3), (3, 2), (3, 3), (3, 4)])
def test_means_are_those_over_all_fault_sets(n, f):
    """E[g] = S E*[g, counted], by going through everything that can be drawn."""
    joint = enumerate_fault_sets(n)[f]
    exact = Fraction(sum(unsafe * many for (unsafe, _), many in joint.items()), math.comb(2**n, f))
    values, draws = 0, 0
    for faults, i, j in plain.sequences(n, f):
        draws += 1
        if plain.first_pair(faults) == (i, j):
            values += plain.outcome(n, faults)[0]
    assert plain.scale(n, f) * Fraction(values, draws) == exact


# ---------------------------------------------------------------- parts


def test_the_first_pair_is_found_wherever_it_stands():
    far = [sum(1 << (3 * b + c) for b in range(5) if k >> b & 1 for c in range(3)) for k in range(32)]
    for f in (2, 7, 8, 9, 17, 32):
        for i, j in itertools.combinations(range(f), 2):
            labels = np.array([*far[:f], *[far[0]] * 8], np.uint64)
            labels[j] = labels[i] ^ np.uint64(1 << 40)
            for a, b in ((i, j), (0, 1), (i, f - 1), (f - 2, f - 1)):
                assert is_first_pair(labels, f, a, b) == ((a, b) <= (i, j)), (f, i, j, a, b)


def test_classes_are_the_layouts():
    assert DIMENSIONS[1:] == MARKING and DIMENSIONS[0] == 1
    slots = [UNSAFE_RARE.counter(f"unsafe_subcube_{d}") for d in MARKING]
    assert slots == list(
        range(UNSAFE_RARE.counter("acceptance") + 1, UNSAFE_RARE.counter("acceptance") + len(DIMENSIONS))
    )
    assert planting.UNSAFE_RARE is UNSAFE_RARE
