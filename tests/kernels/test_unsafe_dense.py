"""Trials with independent node faults, trial for trial against plain Python, and their laws."""

import re
from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb

import numba
import numpy as np
import pytest
from helpers.compiled import mark_others_slow, mark_unless_default
from helpers.documented import load_documented_sampler
from helpers.tallies import check_tally
from helpers.unsafe_rate_trials import KEY, POINTS, SELECTED_POINTS, check_critical, serving_methods, tally_of
from reference.bernoulli import close, distinct_labels, faulty_nodes, number_of_faults, philox_word

from fastcube.kernels.cube import subcubes
from fastcube.kernels.draws import bernoulli, binomial
from fastcube.kernels.draws.node_rows import mark_faults, rows_for
from fastcube.kernels.draws.nodes import fault_set
from fastcube.kernels.machine import target
from fastcube.kernels.machine.jit import kernel
from fastcube.kernels.unsafe import replay
from fastcube.kernels.unsafe.dispatch import UNSAFE_CRITICAL as TABLE
from fastcube.kernels.unsafe.layout import UNSAFE_CRITICAL as LAYOUT
from fastcube.measure.tally import Tally


@pytest.mark.parametrize(
    ("n", "p", "trials"),
    [
        *mark_unless_default("unsafe-critical", SELECTED_POINTS),
        *mark_others_slow(sorted({*POINTS} - {*SELECTED_POINTS}), default=0),
    ],
)
def test_kernels_agree_with_plain_python(n, p, trials):
    check_critical(n, p, trials, first=5)


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("n", "p", "trials"), [(11, 0.004, 3000), (14, 0.0021, 800), (16, 0.0011, 200), (17, 0.0008, 100), (20, 0.00037, 8)]
)
def test_merging_agrees_with_the_whole_cube(n, p, trials):
    check_tally(tally_of("rate.unsafe_merge", n, p, 0, trials), tally_of("rate.unsafe_labels", n, p, 0, trials))


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("n", "p"), [(4, 0.01), (7, 0.3), (8, 0.02), (8, 0.01), (10, 0.0097), (10, 0.1), (15, 0.0015), (18, 0.0006)]
)
def test_splitting_never_changes_a_bit(n, p):
    for method in serving_methods(n, p):
        whole = tally_of(method, n, p, 3, 40)
        parts = [tally_of(method, n, p, a, b) for a, b in ((3, 4), (4, 9), (9, 16), (16, 16), (16, 40))]
        check_tally(Tally.total(parts), whole, method)
        # and a kernel adds to the given tally
        slots = LAYOUT.new_tally()
        for first, stop in ((3, 4), (4, 40)):
            TABLE.load_kernel(method)(np.uint64(KEY), first, stop, np.array([n, p]), slots)
        check_tally(Tally.from_slots(LAYOUT, 3, 40, slots), whole, method)


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "p"), [(3, 0.2), (6, 0.01), (9, 0.5), (10, 0.003), (16, 0.001), (13, 0.02)])
def test_fault_state_is_the_fault_set_of_the_trial(n, p):
    state = np.zeros(max(8, 2**n // 64), np.uint64)
    for t in (0, 1, 2, 7, 1000003):
        replay.fault_state(np.uint64(KEY), t, n, p, state)
        got = np.unpackbits(state.view(np.uint8), bitorder="little")
        assert not got[2**n :].any()
        assert (got[: 2**n] == faulty_nodes(KEY, t, n, p)).all()


def test_labels_are_those_of_the_law_of_fault_sets():
    # given the number of faults, every other study would draw this fault set
    for n, p, t in ((8, 0.015, 5), (12, 0.005, 77), (20, 0.00001, 3)):
        k = number_of_faults(int(philox_word(KEY, t, 0, 7)), n, p)
        assert k > 0
        assert fault_set(np.uint64(KEY), t, n, k).tolist() == distinct_labels(KEY, t, n, k)


@pytest.mark.kernels
def test_the_documented_recipe():
    recipe = load_documented_sampler()
    for n, p in ((3, 0.2), (4, 0.0152), (7, 1 / 64), (8, 0.01), (9, 0.7), (10, 0.0097), (16, 0.0011)):
        state = np.zeros(max(8, 2**n // 64), np.uint64)
        for t in (0, 5, 2**33 + 1):
            replay.fault_state(np.uint64(KEY), t, n, p, state)
            got = np.flatnonzero(np.unpackbits(state.view(np.uint8), bitorder="little"))
            assert got.tolist() == recipe["random_nodes"](KEY, t, n, p)


@kernel("void(uint64, uint64[::1], int64, int64, uint64[:, ::1])", cache=False)
def states_of(key, trials, n, f, states):
    rows = rows_for()
    states[:] = 0
    for i in range(trials.size):
        mark_faults(key, trials[i], n, f, states[i], rows)


@pytest.mark.kernels
def test_every_number_of_faults_follows_the_law_of_fault_sets():
    # all sizes, the nonfaulty set drawn above one half; the rows kept serve trials of the same and of other blocks
    trials = np.array([3, 4, 5, 900], np.uint64)
    for n in (1, 2, 3, 5, 7, 9):
        states = np.zeros((4, max(8, 2**n // 64)), np.uint64)
        for f in range(0, 2**n + 1, 1 if n < 8 else 37):
            states_of(np.uint64(KEY), trials, n, f, states)
            for t, state in zip(trials.tolist(), states, strict=True):
                got = np.flatnonzero(np.unpackbits(state.view(np.uint8), bitorder="little"))
                assert got.tolist() == sorted(fault_set(np.uint64(KEY), t, n, f).tolist())


# ---------------------------------------------------------------- the number of faults


@kernel("UniTuple(uint64[::1], 2)(int64, float64)", cache=False)
def table(n, p):
    first, thresholds, _ = binomial.binomial_table(1 << n, p)
    return np.full(1, np.uint64(first)), thresholds


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "p"), [(1, 0.01), (3, 0.015), (6, 1e-3), (8, 0.0156), (10, 0.0097), (11, 1e-9)])
def test_thresholds_are_the_exact_distribution_function(n, p):
    (first,), thresholds = table(n, p)
    exact, total = Fraction(p), Fraction(0)
    want = []
    for k in range(2**n + 1):
        total += comb(2**n, k) * exact**k * (1 - exact) ** (2**n - k)
        want.append(-(-(total.numerator << 64) // total.denominator))
        if want[-1] >= 2**64:
            break
    want = [w for w in want if w < 2**64]
    assert len(thresholds) == len(want) - first
    assert max(abs(int(a) - b) for a, b in zip(thresholds, want[first:], strict=True)) <= 1
    assert all(w <= 1 for w in want[:first])


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("n", "p"),
    [(16, 0.0011), (20, 0.00037), (24, 0.01), (30, 1e-300), (25, 0.0), (30, 0.01562499)],
)
def test_thresholds_at_large_n(n, p):
    (first,), thresholds = table(n, p)
    with localcontext() as context:
        context.prec = 50
        nodes, exact = 2**n, Decimal(p)
        mode = int((nodes + 1) * exact)
        weights, w, k = [Decimal(1)], Decimal(1), mode
        while k > 0 and w > Decimal(2) ** -110:
            w = w * k * (1 - exact) / ((nodes - k + 1) * exact)
            weights.append(w)
            k -= 1
        start, w, k = k, Decimal(1), mode
        weights.reverse()
        while k < nodes and w > Decimal(2) ** -110:
            w = w * (nodes - k) * exact / ((k + 1) * (1 - exact))
            weights.append(w)
            k += 1
        total, all_ = Decimal(0), sum(weights)
        worst = count = 0
        for i, w in enumerate(weights):
            total += w
            want = total / all_ * 2**64
            if want > 2**64 - 1:
                break
            count = start + i - int(first) + 1
            if count > 0:
                worst = max(worst, abs(int(thresholds[count - 1]) - want))
    assert abs(count - len(thresholds)) <= 1
    assert worst <= 1  # one part in 2^64


@pytest.mark.kernels
def test_every_node_is_faulty_with_probability_p():
    # sum over trials of the number of faults against its exact mean, both laws; level 1e-6 for each of four tests
    for n, p, trials in ((8, 0.1, 40000), (8, 511 / 512, 40000), (10, 0.0097, 40000), (9, 1 / 3, 40000)):
        method = TABLE.choose_name(n, p)
        faults = tally_of(method, n, p, 0, trials).counts["faults"]
        assert abs(faults - trials * 2**n * p) < 5.0 * (trials * 2**n * p * (1 - p)) ** 0.5


@pytest.mark.kernels
@pytest.mark.parametrize(("p", "digits"), [(0.3, "head and tail"), (0.5, "one digit"), (1 / 64, "six digits")])
def test_each_node_has_its_own_number(p, digits):
    # every node and every pair of neighbours of a 9-cube: level 1e-6 over all 5,120 counts is 6.5 standard deviations
    n, trials = 9, 20000
    single = np.zeros(2**n)
    pair = np.zeros((n, 2**n))
    state = np.zeros(8, np.uint64)
    v = np.arange(2**n)
    for t in range(trials):
        replay.fault_state(np.uint64(KEY + 1), t, n, p, state)
        x = np.unpackbits(state.view(np.uint8), bitorder="little")
        single += x
        for i in range(n):
            pair[i] += x & x[v ^ (1 << i)]
    for count, q in ((single, p), (pair, p * p)):
        z = (count - trials * q) / (trials * q * (1 - q)) ** 0.5
        assert abs(z).max() < 6.5, digits


# ---------------------------------------------------------------- machine code


@kernel("void(uint64, uint64, uint64, uint64, int64, uint64[::1])", cache=False)
def digits(key, t, head, tail, n, state):
    bernoulli.digit_state(key, t, head, tail, n, state, bernoulli.digit_scratch_for())


@kernel("int64(uint32[::1], uint32[::1], int64)", cache=False)
def merging(bases, frees, count):
    return subcubes.merge_subcubes(bases, frees, count)


@pytest.mark.kernels
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("part", "instructions"),
    [
        # 32 x 32 -> 64 bit products of Philox, digits compared three operands at a time, undecided words squeezed out
        (digits, {"vpmuludq", "vpternlogq", "vpcompressq"}),
        # distances of 16 subcubes at a time, the smallest of 64, and the list closed up after merging
        (merging, {"vpopcntd", "vpminud", "vpcompressd"}),
    ],
)
def test_kernels_compile_to_vectors_of_512_bits(part, instructions):
    wanted = ("avx512f", "avx512bw", "avx512vpopcntdq", "avx512vbmi2")
    missing = [name for name in wanted if name not in target.FEATURES]
    if missing:
        pytest.skip(f"this CPU has no {', '.join(missing)}")
    (assembly,) = part.compiled.inspect_asm().values()
    used = set(re.findall(r"^\t(v\w+)\s[^\n]*%zmm", assembly, re.MULTILINE))
    assert instructions <= used


@pytest.mark.kernels
def test_merging_leaves_the_maximal_subcubes():
    # against the plain closure: the final subcubes partition the closed set and are at distance 3 or more
    rng = np.random.default_rng(8)
    for n, faults in ((6, 5), (9, 9), (12, 20), (12, 200), (14, 40), (16, 70), (20, 300), (20, 400)):
        for _ in range(20):
            labels = rng.choice(2**n, faults, replace=False).astype(np.uint32)
            bases, frees = np.concatenate([labels, np.zeros(32, np.uint32)]), np.zeros(faults + 32, np.uint32)
            count = merging(bases, frees, faults)
            x, free = bases[:count].astype(np.int64), frees[:count].astype(np.int64)
            distances = np.bitwise_count((x[:, None] ^ x) & ~(free[:, None] | free)) + 3 * np.eye(count, dtype=int)
            assert distances.min() >= 3
            if n <= 14:
                faulty = np.zeros(2**n, bool)
                faulty[labels] = True
                closed = np.zeros(2**n, int)
                for a, m in zip(x, free, strict=True):
                    closed[(np.arange(2**n) ^ a) & ~m == 0] += 1
                assert (closed == close(faulty, n)[1]).all()
