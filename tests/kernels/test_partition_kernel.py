"""The kernels of two-partition: against the plain twin, against each other bit for bit, and the exact counts."""

from __future__ import annotations

import itertools
import math
import random
import re
from fractions import Fraction

import numpy as np
import pytest
from helpers.machine_code import assembly_text, has_cpu_feature
from helpers.tallies import check_counts, count_trials, new_counts
from reference import partition as twin

import fastcube as fc
from fastcube.exact.closed_forms import mean_tolerant_pairs
from fastcube.kernels.draws import nodes
from fastcube.kernels.machine.jit import kernel
from fastcube.kernels.partition import dispatch
from fastcube.kernels.partition.bitmap import search_marked, two_partition_marked
from fastcube.kernels.partition.lanes import TWO_PARTITION_LANES_16
from fastcube.kernels.partition.layout import TWO_PARTITION
from fastcube.kernels.partition.scalar import TWO_PARTITION_SINGLE, fault_list_for, search_listed
from fastcube.studies.wang_lin_kuo.partition import MOST_ENUMERATED, partition_counts

KEY = 0x5EED0123456789AB


def count(kernel, n, f, first, stop, key=KEY):
    return count_trials(kernel, TWO_PARTITION, (n, f), first, stop, key).counts


def serving(n, f):
    """All kernels that can serve a point."""
    table = dispatch.TWO_PARTITION
    return [table.load_kernel(name) for name in table.names if table.is_served(name, n, f)]


def answer(n, faults):
    """Exhaustive pair, and whether Figure 2 finds one (which must then be the same)."""
    pair, greedy = twin.exhaustive(n, faults), twin.figure_2(n, faults)
    assert greedy in (None, pair)
    return (*(pair or (-1, -1)), greedy is not None)


def expected(n, f, first, stop):
    out = new_counts(TWO_PARTITION)
    for t in range(first, stop):
        lo, hi, greedy = answer(n, nodes.fault_set(np.uint64(KEY), t, n, f).tolist())
        if lo >= 0:
            for name, value in (("partition_exists", 1), ("greedy_finds", greedy), ("lo", lo), ("hi", hi)):
                out[name] += value
    return out


@kernel("Tuple((int64, int64, boolean))(uint64[::1], int64)")
def solved_listed(labels, n):
    faults = fault_list_for(n, labels.size)
    faults.size[0] = labels.size
    for i in range(labels.size):
        faults.labels[i] = labels[i]
    return search_listed(faults, n)


@kernel("Tuple((int64, int64, boolean))(uint64[::1], int64)")
def solved_marked(state, n):
    return search_marked(state, n)


def solve(n, faults):
    """The searches on a list and on a bitmap, which must agree."""
    out = solved_listed(np.array(faults, np.uint64), n)
    if n <= 14:
        state = np.zeros(8 << max(n - 9, 0), np.uint64)
        for fault in faults:
            state[fault >> 6] |= np.uint64(1 << (fault & 63))
        assert solved_marked(state, n) == out
    return out


# ---------------------------------------------------------------- against the twin


@pytest.mark.kernels
@pytest.mark.parametrize("n", [1, 2, 3])
def test_all_fault_sets_of_small_cubes(n):
    for f in range(2**n + 1):
        for faults in itertools.combinations(range(2**n), f):
            assert solve(n, faults) == answer(n, faults), faults


@pytest.mark.kernels
def test_all_sets_of_at_most_five_faults_of_q4():
    for f in range(6):
        for faults in itertools.combinations(range(16), f):
            assert solve(4, faults) == answer(4, faults), faults


def clustered(rng, n, f):
    """Faults of which most are within distance 2 of an earlier one."""
    faults = [rng.randrange(2**n)]
    while len(faults) < f:
        near = rng.choice(faults) ^ 1 << rng.randrange(n)
        new = near ^ rng.choice([0, 1]) << rng.randrange(n) if rng.random() < 0.8 else rng.randrange(2**n)
        if new not in faults:
            faults.append(new)
    return faults


def check_random(sets):
    rng = random.Random(2)
    for n in (4, 5, 6, 7, 8, 9, 10, 12, 14, 20, 32, 33, 47, 62):
        for _ in range(sets):
            f = rng.randrange(1, min(2 * n, 2 ** (n - 1)))
            faults = clustered(rng, n, f) if rng.random() < 0.5 else rng.sample(range(2**n), f)
            assert solve(n, faults) == answer(n, faults), (n, faults)


@pytest.mark.kernels
def test_random_and_clustered_fault_sets():
    check_random(150)


@pytest.mark.exhaustive
def test_a_hundred_thousand_random_and_clustered_fault_sets():
    check_random(7200)


@pytest.mark.parametrize(
    ("n", "f"),
    [(2, 1), (3, 2), (4, 3), (4, 4), (5, 5), (6, 7), (7, 8), (8, 12), (9, 10), (10, 16), (12, 40), (20, 60), (40, 30)],
)
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.kernels)])
def test_trials_are_those_of_the_twin(n, f, every):
    wanted = expected(n, f, 60, 160)
    for served in serving(n, f) if every else [TWO_PARTITION_SINGLE]:
        check_counts(count(served, n, f, 60, 160), wanted, served)


# ---------------------------------------------------------------- against each other

POINTS = [
    (2, 0), (2, 1), (3, 2), (4, 4), (5, 8), (6, 5), (6, 16), (7, 8), (7, 20), (8, 9), (8, 31), (9, 12), (10, 5), (10, 16),
    (10, 40), (11, 33), (12, 20), (12, 64), (13, 37), (14, 50), (16, 90), (17, 64), (20, 130), (21, 60), (32, 100), (33, 130),
    (62, 77),
]  # a table, row by row # fmt: skip


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f"), POINTS)
def test_kernels_agree_to_the_last_bit(n, f):
    for first, stop in ((0, 2000), (5, 1003), (1000, 1001), (63, 66), (2**33 - 7, 2**33 + 70)):
        wanted = count(TWO_PARTITION_SINGLE, n, f, first, stop)
        for served in serving(n, f):
            check_counts(count(served, n, f, first, stop), wanted, (served, first, stop))


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f"), [(8, 64), (10, 256), (12, 1024), (16, 3000), (20, 700), (9, 128)])
def test_many_faults(n, f):
    for first in (0, 2**33 + 5):
        wanted = count(TWO_PARTITION_SINGLE, n, f, first, first + 23)
        check_counts(count(two_partition_marked, n, f, first, first + 23), wanted)


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f"), [(5, 5), (8, 9), (10, 5), (14, 60), (12, 64), (24, 40)])
def test_any_split_adds_up(n, f):
    cuts = [0, 1, 2, 65, 1000, 1063, 4097, 9000]
    served = dispatch.TWO_PARTITION.kernel(n, f)
    parts = [count(served, n, f, a, b) for a, b in itertools.pairwise(cuts)]
    check_counts({name: sum(part[name] for part in parts) for name in parts[0]}, count(served, n, f, 0, 9000))


@pytest.mark.kernels
def test_no_fault_and_one_fault():
    for n in (2, 3, 8, 9, 16, 17, 20, 21, 62):
        for f in (0, 1):
            for served in serving(n, f):
                check_counts(
                    count(served, n, f, 3, 80), {"partition_exists": 77, "greedy_finds": 77, "lo": 0, "hi": 77}
                )


def test_most_faults():
    assert [dispatch.most_faults(n) for n in (2, 8, 18, 62)] == [1, 64, 65536, 65536]
    assert count(dispatch.TWO_PARTITION.kernel(62, 65536), 62, 65536, 0, 1) == {
        "partition_exists": 1,
        "greedy_finds": 1,
        "lo": 0,
        "hi": 1,
    }


@pytest.mark.kernels
@pytest.mark.skipif(not has_cpu_feature("avx512bitalg"), reason="this CPU counts no bits in vectors")
def test_lanes_are_vectors_in_the_machine_code():
    text = assembly_text(TWO_PARTITION_LANES_16)
    for instruction in ("vpopcntw", "vpminuw", "vpcompressw", "vptestmw", "vpmuludq"):
        assert re.search(rf"{instruction}\s.*%zmm", text), instruction


# ---------------------------------------------------------------- exact counts


@pytest.mark.kernels
@pytest.mark.parametrize("n", [2, 3, 4])
def test_enumeration_is_that_of_the_twin(n):
    for f in range(MOST_ENUMERATED[n] + 1):
        found = [answer(n, faults) for faults in itertools.combinations(range(2**n), f)]
        assert partition_counts(n, MOST_ENUMERATED[n])[f] == (sum(a[0] >= 0 for a in found), sum(a[2] for a in found))


@pytest.mark.kernels
def test_lemma_1_in_the_counts():
    for n in (2, 3, 4, 5):
        for f in range(min(n - 1, MOST_ENUMERATED[n]) + 1):
            assert fc.study("two-partition").exact({"n": n, "f": f})["greedy_finds"] == 1


@pytest.mark.kernels
@pytest.mark.parametrize("n", [3, 4])
def test_the_bound_is_the_mean_number_of_tolerant_pairs(n):
    for f in range(2 ** (n - 2) + 2):
        sets = list(itertools.combinations(range(2**n), f))
        tolerant = sum(
            twin.is_fault_tolerant(n, faults, *pair) for faults in sets for pair in itertools.combinations(range(n), 2)
        )
        assert mean_tolerant_pairs(n, f) == Fraction(tolerant, len(sets))
        wanted = Fraction(math.comb(n, 2) * math.comb(2 ** (n - 2), f) * 4**f, math.comb(2**n, f))
        assert mean_tolerant_pairs(n, f) == wanted
        if 4 * f <= 2**n:
            assert wanted >= fc.study("two-partition").exact({"n": n, "f": f})["partition_exists"]
