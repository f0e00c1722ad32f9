"""The kernels of unsafe-fraction: against the plain twin, against each other bit for bit, and at the boundaries."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from helpers.compiled import mark_unless_default
from helpers.machine_code import assembly_text, has_cpu_feature
from helpers.tallies import check_tally, count_trials, new_counts
from reference import unsafe as plain

from fastcube.kernels.draws import nodes
from fastcube.kernels.machine.jit import kernel
from fastcube.kernels.tally import sums as tally_sums
from fastcube.kernels.unsafe.closure import evaluate_fault_set, make_cube_scratch
from fastcube.kernels.unsafe.dispatch import UNSAFE_FRACTION as TABLE
from fastcube.kernels.unsafe.dispatch import most_faults
from fastcube.kernels.unsafe.layout import CLASSES
from fastcube.kernels.unsafe.layout import UNSAFE_FRACTION as LAYOUT
from fastcube.kernels.unsafe.scalar import MERGED, WHOLE
from fastcube.measure.tally import Tally

KEY = 0x5EED0123456789AB


def count(kernel, n, f, first, stop, key=KEY):
    """The tally of a kernel."""
    return count_trials(kernel, LAYOUT, (n, f), first, stop, key)


def serving(n, f):
    """The kernels that serve a point, but for those chosen nowhere near it, which are slow there; the chosen one first."""
    slow = {"scalar.WHOLE": n > 14, **{name: f > 150 for name in TABLE.names if name.startswith("lanes.")}}
    names = [name for name in TABLE.names if TABLE.is_served(name, n, f) and not slow.get(name)]
    return [TABLE.load_kernel(name) for name in dict.fromkeys([TABLE.choose_name(n, f), *names])]


def expected(n, f, first, stop):
    """The tally by the plain twin."""
    out = new_counts(LAYOUT)
    most = (-1, -1)
    for t in range(first, stop):
        faulty = nodes.fault_set(np.uint64(KEY), t, n, f).tolist()
        steps = plain.find_unsafe(n, faulty)
        unsafe, rounds = len(steps), max(steps.values(), default=0)
        out["unsafe_nodes"] += unsafe
        out["unsafe_nodes_squared"] += unsafe**2
        out["with_unsafe"] += unsafe > 0
        out["all_unsafe"] += unsafe + f == 2**n
        out["rounds"] += rounds
        out["rounds_squared"] += rounds**2
        out["close_pair"] += any((x ^ y).bit_count() <= 2 for i, x in enumerate(faulty) for y in faulty[:i])
        out["rounds_known"] += 1
        out["rounds_bins"][min(rounds, 31)] += 1
        reached = [u for u in CLASSES if n > 12 and u <= unsafe]
        for u in reached:
            out[f"reached_{u}"] += 1
        if reached:
            out[f"unsafe_nodes_{reached[-1]}"] += unsafe
            out[f"unsafe_nodes_squared_{reached[-1]}"] += unsafe**2
        most = max(most, (rounds, t), key=lambda pair: pair[0])
    return Tally(((first, stop),), out, {"rounds": most})


def check(kernel, n, f, first, stop, wanted):
    """Compare a kernel's trials with another tally, counter by counter."""
    check_tally(count(kernel, n, f, first, stop), wanted, f"{kernel}, n={n}, f={f}, trials {first} to {stop - 1}")


# ---------------------------------------------------------------- against the twin


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.kernels)])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_number_of_faults_of_a_small_cube(n, every):
    for f in range(2**n + 1):
        wanted = expected(n, f, 3, 103)
        for served in serving(n, f) if every else [TABLE.load_kernel("small.SMALL_6")]:
            check(served, n, f, 3, 103, wanted)


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("n", "f"),
    [
        (5, 2), (5, 6), (5, 17), (6, 3), (6, 9), (6, 33), (6, 60), (7, 3), (7, 5), (7, 20), (7, 100),
        (8, 4), (8, 12), (8, 200), (9, 7), (13, 20), (13, 60),
    ],
)  # a table, row by row # fmt: skip
def test_random_fault_sets_of_larger_cubes(n, f):
    wanted = expected(n, f, 60, 90)
    for served in serving(n, f):
        check(served, n, f, 60, 90, wanted)


# ---------------------------------------------------------------- against each other

POINTS = [
    (5, 2), (6, 3), (6, 32), (7, 2), (7, 3), (7, 9), (7, 64), (8, 4), (8, 5), (8, 7), (8, 30), (8, 129), (8, 255),
    (9, 0), (9, 1), (9, 4), (9, 5), (9, 20), (10, 5), (10, 7), (10, 33), (11, 5), (11, 9), (12, 6), (12, 7), (12, 24),
    (13, 10), (14, 13), (14, 40), (15, 11), (16, 8), (16, 31), (16, 40), (17, 9), (17, 34), (18, 12), (20, 10), (20, 63),
    (24, 30), (30, 15), (31, 40), (32, 9), (33, 9), (40, 80), (60, 30), (62, 64),
]  # a table, row by row # fmt: skip


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f"), POINTS)
def test_kernels_agree_to_the_last_bit(n, f):
    for first, stop in ((0, 6000), (5, 1003), (1000, 1001), (31, 33), (2**33 - 7, 2**33 + 70)):
        wanted = count(MERGED, n, f, first, stop)
        for served in serving(n, f):
            check(served, n, f, first, stop, wanted)


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f"), [(16, 3000), (13, 8000), (13, 100), (10, 600), (9, 400), (12, 4096)])
def test_many_faults(n, f):
    for served in (TABLE.kernel(n, f), MERGED):
        check(served, n, f, 3, 23, count(WHOLE, n, f, 3, 23))


@pytest.mark.parametrize(
    ("n", "f"),
    mark_unless_default(
        "unsafe-fraction", [(5, 3), (7, 5), (8, 4), (8, 7), (10, 5), (12, 7), (16, 20), (20, 40), (40, 20)]
    ),
)
def test_any_split_adds_up(n, f):
    kernel = TABLE.kernel(n, f)
    cuts = [0, 1, 2, 65, 1000, 1063, 4097, 20011, 30000]
    check(kernel, n, f, 0, 30000, Tally.total([count(kernel, n, f, a, b) for a, b in itertools.pairwise(cuts)]))


@pytest.mark.kernels
def test_a_kernel_adds_to_the_tally_it_is_given():
    params, tally = np.array([10.0, 5.0]), LAYOUT.new_tally()
    for first, stop in ((500, 1000), (0, 500), (7, 7)):
        TABLE.kernel(10, 5)(np.uint64(KEY), first, stop, params, tally)
    check_tally(Tally.from_slots(LAYOUT, 0, 1000, tally), count(MERGED, 10, 5, 0, 1000))


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f"), [(5, 4), (8, 4), (10, 6), (17, 34)])
def test_the_counterexample_is_the_smallest_trial_with_the_most_rounds(n, f):
    longest, counterexample = count(TABLE.kernel(n, f), n, f, 0, 5000).maxima["rounds"]
    assert count(MERGED, n, f, counterexample, counterexample + 1).maxima["rounds"] == (longest, counterexample)
    assert all(count(MERGED, n, f, t, t + 1).maxima["rounds"][0] < longest for t in range(counterexample))


# ---------------------------------------------------------------- boundaries


@pytest.mark.kernels
def test_no_fault_one_fault_all_faults():
    trials = 10
    at_rest = {**new_counts(LAYOUT), "rounds_known": trials, "rounds_bins": [trials, *[0] * 31]}
    for n in (1, 2, 6, 7, 8, 9, 16):
        # the only nonfaulty node of the last has n faulty neighbours
        unsafe = int(n >= 2)
        last = {"unsafe_nodes", "unsafe_nodes_squared", "with_unsafe", "all_unsafe", "rounds", "rounds_squared"}
        last_counts = dict.fromkeys(last, unsafe * trials) | {"close_pair": trials * (2**n > 2)}
        last_counts["rounds_bins"] = [trials * (r == unsafe) for r in range(32)]
        for f, counts, rounds in (
            (0, {}, 0),
            (1, {}, 0),
            (2**n, {"all_unsafe": trials, "close_pair": trials}, 0),
            (2**n - 1, last_counts, unsafe),
        ):
            wanted = Tally(((0, trials),), at_rest | counts, {"rounds": (rounds, 0)})
            check(TABLE.kernel(n, f), n, f, 0, trials, wanted)


@pytest.mark.kernels
def test_the_distribution_of_the_rounds_has_their_moments():
    for n, f in ((6, 9), (8, 12), (10, 7), (12, 60), (30, 40)):
        counts = count(TABLE.kernel(n, f), n, f, 0, 20000).counts
        bins = counts["rounds_bins"]
        assert sum(bins) == counts["rounds_known"] and bins[-1] == 0
        assert counts["rounds"] == sum(r * c for r, c in enumerate(bins))
        assert counts["rounds_squared"] == sum(r * r * c for r, c in enumerate(bins))


def test_most_faults():
    assert [most_faults(n) for n in (1, 8, 16, 17, 62)] == [2, 256, 65536, 65536, 65536]
    for n in (1, 6, 7, 8, 9, 12, 13, 16, 17, 20, 21, 62):
        for f in (0, 1, n, 2 * n, most_faults(n)):
            if f <= most_faults(n):
                assert TABLE.kernel(n, f) is not None


@kernel("UniTuple(int64, 4)(uint64[::1])")
def solved(labels):
    f = labels.size
    unsafe, rounds, close_pair, largest = evaluate_fault_set(
        labels, f, np.empty(f + 16, np.uint64), np.empty(f + 16, np.uint64), make_cube_scratch(np.int64(12))
    )
    return np.int64(unsafe), rounds, np.int64(close_pair), largest


@pytest.mark.parametrize("pairs", [1, 2, 4, 6, 12, 16, 31])
def test_subcubes_of_more_than_thirty_dimensions_have_unknown_rounds(pairs):
    """Node 0 and the nodes with two neighbouring bits set: each merges with the span of the earlier nodes."""
    labels = np.array([0, *(3 << 2 * i for i in range(pairs))], np.uint64)
    unsafe, rounds, close_pair, largest = solved(labels)
    assert (unsafe, close_pair, largest) == (4**pairs - pairs - 1, 1, 2 * pairs)
    assert (rounds == -1) == (2 * pairs > 30)
    if pairs <= 4:
        assert rounds == plain.rounds(2 * pairs, labels.tolist())


@kernel("void(int64[::1], uint64)")
def squared(slots, value):
    tally_sums.add_square(slots, np.int64(0), value)


def test_squares_are_exact():
    for value in (0, 1, 2**32 - 1, 2**32, 2**62 - 1, 2**63 - 1, 0x1234567890ABCDEF):
        slots = np.zeros(4, np.int64)
        for _ in range(3):
            squared(slots, np.uint64(value))
        assert sum(int(v) << 32 * i for i, v in enumerate(slots)) == 3 * value**2


# ---------------------------------------------------------------- vectors in the machine code


@pytest.mark.kernels
@pytest.mark.skipif(not has_cpu_feature("avx512bitalg"), reason="this CPU counts no bits in vectors")
@pytest.mark.parametrize(
    ("lanes", "wanted"),
    [
        ("lanes.LANES_16", ("vpopcntw", "vpminuw", "vpcompressw", "vpternlogq", "vpmuludq")),
        ("lanes.LANES_32", ("vpopcntd", "vpminud", "vpcompressd", "vpternlogq", "vpmuludq")),
        ("small.SMALL_8", ("vpopcntq", "vpsllvq", "vpternlogq", "vpmuludq")),
    ],
)
def test_lanes_are_vectors_in_the_machine_code(lanes, wanted):
    text = assembly_text(TABLE.load_kernel(lanes))
    for instruction in wanted:
        assert re.search(rf"{instruction}\s.*%zmm", text), instruction
