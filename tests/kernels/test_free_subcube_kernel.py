"""The kernels of free-subcube: against the plain twin on all fault sets of small cubes, and against each other bit for bit."""

import itertools
import random

import numpy as np
import pytest
from helpers.tallies import check_counts, count_trials, new_counts
from reference import free_subcube as twin

import fastcube as fc
from fastcube.kernels.free_subcube import dispatch, replay
from fastcube.kernels.free_subcube.columns import transpose_words
from fastcube.kernels.free_subcube.layout import FREE_SUBCUBE, PARTS
from fastcube.kernels.free_subcube.scalar import FREE_SUBCUBE_SINGLE, decide_faults, search_for
from fastcube.kernels.machine.jit import kernel

KEY = 0x5EED0123456789AB


def count(served, n, f, links, first, stop):
    return count_trials(served, FREE_SUBCUBE, (n, f, links), first, stop, KEY).counts


@kernel("UniTuple(int64, 2)(int64, uint64[::1], uint64[::1], uint64[::1])")
def decided(n, labels, lower, dims):
    search = search_for(n, labels.size, lower.size)
    for i in range(labels.size):
        search.lower[i] = labels[i]
    for i in range(lower.size):
        search.lower[labels.size + i] = lower[i]
        search.dims[i] = dims[i]
    return decide_faults(n, search)


@kernel("void(uint64[::1], uint64[::1])")
def transposed(words, spare):
    transpose_words(words, spare)


def check_set(n, nodes, links=()):
    """Dimensions to fix by the kernel and by the twin, any subcube and aligned."""
    lower, dims = [u & v for u, v in links], [(u ^ v).bit_length() - 1 for u, v in links]
    found = decided(n, *(np.array(x, np.uint64) for x in (nodes, lower, dims)))
    assert found == tuple(twin.least_fixed(n, nodes, links, aligned) for aligned in (False, True)), (n, nodes, links)


def links_of(n):
    return [(u, u | 1 << i) for u in range(2**n) for i in range(n) if not u >> i & 1]


def add_expected(out, n, nodes, links):
    free, aligned = (twin.least_fixed(n, nodes, links, one) for one in (False, True))
    for m, part in enumerate(PARTS, 1):
        out[f"fault_free_{part}"] += free <= m
        out[f"aligned_{part}"] += aligned <= m
        out[f"{part}_diff"] += free <= m < aligned
    out["no_fault_free_eighth"] += free > 3


# ---------------------------------------------------------------- against the twin


@pytest.mark.parametrize("n", [2, 3])
def test_all_fault_sets_of_small_cubes(n):
    for f in range(2**n + 1):
        for nodes in itertools.combinations(range(2**n), f):
            check_set(n, nodes)


def test_all_sets_of_links_of_q3():
    for count_of_links in range(13):
        for links in itertools.combinations(links_of(3), count_of_links):
            check_set(3, (), links)


@pytest.mark.kernels
def test_all_fault_sets_of_q4():
    for f in range(17):
        for nodes in itertools.combinations(range(16), f):
            check_set(4, nodes)


def test_random_nodes_and_links_of_larger_cubes():
    rng = random.Random(5)
    for n in (4, 5, 6, 7, 8):
        for _ in range(40):
            f, many = rng.randrange(0, 2 ** (n - 1)), rng.choice((0, 0, 1, 5, 70 if n > 5 else 12))
            check_set(n, rng.sample(range(2**n), f), rng.sample(links_of(n), many))


@pytest.mark.parametrize("f", [20, 66, 130])
def test_random_nodes_of_q62(f):
    """The three fixed dimensions of a fault-free subcube are planted, so that the twin finds it among its first subcubes."""
    rng = random.Random(f)
    for fixed in (1, 2, 3):
        nodes = []
        while len(nodes) < f:
            label = rng.getrandbits(62)
            if label >> 62 - fixed:
                nodes.append(label)
        check_set(62, nodes)


def test_words_are_transposed():
    rng = np.random.default_rng(3)
    words = rng.integers(0, 2**64, 64, np.uint64)
    wanted = [sum((int(words[j]) >> i & 1) << j for j in range(64)) for i in range(64)]
    transposed(words, np.empty(64, np.uint64))
    assert words.tolist() == wanted


POINTS = [
    (2, 2, 0), (3, 4, 0), (3, 8, 0), (4, 0, 0), (4, 9, 3), (5, 0, 20), (6, 20, 0), (6, 0, 130), (7, 66, 0), (8, 10, 6),
]  # points, as many as a line holds # fmt: skip


@pytest.mark.parametrize("point", POINTS)
def test_trials_are_those_of_the_replay(point):
    n, f, links = point
    wanted = new_counts(FREE_SUBCUBE)
    for t in range(100, 125):
        add_expected(wanted, n, *replay.free_subcube(KEY, t, n, f, links))
    check_counts(count(FREE_SUBCUBE_SINGLE, *point, 100, 125), wanted, point)


# ---------------------------------------------------------------- kernels against each other


LANES = [
    (3, 1), (3, 4), (4, 8), (5, 6), (6, 32), (7, 8), (7, 9), (8, 20), (8, 64), (9, 8), (10, 6), (10, 16), (10, 17), (11, 64),
    (14, 12), (16, 33), (17, 8), (20, 1), (20, 9), (20, 17), (32, 40), (33, 2), (34, 64), (48, 12), (62, 7), (62, 16), (62, 64),
]  # points, as many as a line holds # fmt: skip


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f"), LANES)
def test_lanes_count_the_same_trials(n, f):
    """Ranges begin and end inside vectors."""
    served = dispatch.FREE_SUBCUBE.kernel(n, f, 0)
    assert served is not FREE_SUBCUBE_SINGLE
    for first, stop in ((0, 700), (13, 14), (250, 391), (2**33 - 9, 2**33 + 300)):
        check_counts(
            count(served, n, f, 0, first, stop), count(FREE_SUBCUBE_SINGLE, n, f, 0, first, stop), (first, stop)
        )


def test_lanes_serve_few_faulty_nodes():
    names = {(n, f, links): dispatch.FREE_SUBCUBE.choose_name(n, f, links) for n, f, links in POINTS}
    assert {name.partition(".")[0] for name in names.values()} == {"scalar", "lanes"}
    for point in ((2, 1, 0), (10, 65, 0), (10, 6, 1), (10, 0, 0), (5, 17, 0)):
        assert dispatch.FREE_SUBCUBE.choose_name(*point) == "scalar.FREE_SUBCUBE_SINGLE"


@pytest.mark.kernels
def test_the_largest_point():
    counts = count(dispatch.FREE_SUBCUBE.kernel(62, 65536, 65536), 62, 65536, 65536, 0, 1)
    assert counts["no_fault_free_eighth"] == 1


# ---------------------------------------------------------------- exact values

#: Numbers of fault sets by the dimension of the largest fault-free subcube (none, 0, 1, ...), and of the largest aligned one.
TABLES = {
    (3, 2, 0): ((0, 0, 4, 24, 0), (0, 0, 16, 12, 0)),
    (3, 4, 0): ((0, 2, 62, 6, 0), (0, 16, 52, 2, 0)),
    (4, 3, 0): ((0, 0, 0, 208, 352, 0), None),
    (4, 4, 0): ((0, 0, 0, 1284, 536, 0), (0, 0, 256, 1424, 140, 0)),
    (4, 5, 0): ((0, 0, 16, 3904, 448, 0), None),
    (4, 6, 0): ((0, 0, 376, 7408, 224, 0), None),
    (4, 8, 0): ((0, 2, 4960, 7900, 8, 0), (0, 256, 10640, 1972, 2, 0)),
    (5, 4, 0): ((0, 0, 0, 0, 20480, 15480, 0), (0, 0, 0, 4096, 28224, 3640, 0)),
    (3, 0, 2): ((0, 0, 0, 66, 0), (0, 0, 16, 50, 0)),
    (3, 0, 3): ((0, 0, 8, 212, 0), (0, 0, 112, 108, 0)),
    (3, 0, 5): ((0, 0, 468, 324, 0), (0, 8, 672, 112, 0)),
    (3, 0, 6): ((0, 0, 756, 168, 0), (0, 28, 840, 56, 0)),
    (3, 0, 9): ((0, 0, 220, 0, 0), (0, 56, 164, 0, 0)),
}


@pytest.mark.parametrize("point", TABLES)
def test_exact_values_are_the_tables(point):
    n, values = point[0], fc.study("free-subcube").exact(dict(zip(("n", "f", "links"), point, strict=True)))
    for kind, row in zip(("fault_free", "aligned"), TABLES[point], strict=True):
        for m, part in enumerate(PARTS, 1):
            if row is not None:
                assert values[f"{kind}_{part}"] * sum(row) == sum(row[1 + max(n - m, 0) :]), (kind, part)
