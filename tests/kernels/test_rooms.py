"""Blocks of several subjects in ``kernels/``: sets of labels, subcubes, end nodes, searches, paths; beside plain Python."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from helpers.compiled import mark_others_slow
from helpers.documented import load_documented_sampler
from reference import unsafe as plain
from scipy.special import chdtrc

from fastcube.kernels.cube import bitmask, labels, paths, subcubes
from fastcube.kernels.draws import pairs, statuses
from fastcube.kernels.draws.faults import trial_faults
from fastcube.kernels.machine.jit import block, kernel

KEY = 0x5EED0123456789AB


# ---------------------------------------------------------------- sets of labels


@kernel("int64(uint64[::1], int64, boolean[::1], boolean[::1])")
def fill_twice(values, capacity, new, there):
    """Add all values, empty the set, add all again; return the answers of each second addition and of a question after it."""
    seen = labels.label_set(capacity)
    for x in values:
        labels.add_label(seen, x)
    labels.clear_labels(seen)
    for i in range(values.size):
        there[i] = labels.has_label(seen, values[i])
        new[i] = labels.add_label(seen, values[i])
    return seen.counts[labels.IS_FULL]


@pytest.mark.parametrize("shift", [0, 20, 55])
def test_sets_of_labels_are_sets(shift):
    values = np.random.default_rng(shift).integers(0, 200, 400, np.uint64) << np.uint64(shift)
    new, there = np.empty(400, bool), np.empty(400, bool)
    assert fill_twice(values, 256, new, there) == 0
    known: set[int] = set()
    for x, is_new, was_there in zip(values.tolist(), new, there, strict=True):
        assert is_new == (x not in known) == (not was_there)
        known.add(x)


def test_a_full_set_says_so():
    values = np.arange(9, dtype=np.uint64)
    assert fill_twice(values, 8, np.empty(9, bool), np.empty(9, bool)) == 1


# ---------------------------------------------------------------- subcubes


@kernel("int64(uint64[::1], uint64[::1], uint64[::1])")
def merged_faults(faults, base, free):
    return subcubes.merge_faults(faults, faults.size, base, free)


@kernel("Tuple((boolean, int64, uint64))(uint64, uint64, uint64, uint64)")
def relation(base, free, other, other_free):
    return (
        subcubes.is_in_subcube(base, free, other),
        subcubes.subcube_distance(base, free, other, other_free),
        subcubes.enclosing_dims(base, free, other, other_free),
    )


@pytest.mark.parametrize(("n", "f"), [(3, 3), (6, 9), (10, 20), (20, 60), (60, 30)])
def test_merged_faults_are_the_maximal_subcubes(n, f):
    rng = np.random.default_rng(n)
    for _ in range(20):
        clustered = rng.integers(0, 2 ** min(n, 12), f, np.uint64) << np.uint64(max(n - 12, 0))
        faults = np.unique(clustered)
        base, free = np.empty(f + 16, np.uint64), np.empty(f + 16, np.uint64)
        count = merged_faults(faults, base, free)
        found = {(b & ~m, m) for b, m in zip(base[:count].tolist(), free[:count].tolist(), strict=True)}
        assert found == plain.subcubes(faults.tolist(), [])
        assert (count == faults.size) == all(
            (x ^ y).bit_count() > 2 for x, y in itertools.combinations(faults.tolist(), 2)
        )


def test_two_subcubes():
    inside, distance, free = relation(np.uint64(0b0001), np.uint64(0b0010), np.uint64(0b1011), np.uint64(0b0100))
    assert (inside, distance, free) == (False, 1, 0b1110)
    assert relation(np.uint64(1), np.uint64(6), np.uint64(3), np.uint64(0))[0]


# ---------------------------------------------------------------- end nodes


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 9, 17, 33, 62])
def test_faults_and_pair_are_those_of_the_recipe(n):
    for f in sorted({f for f in (0, 1, 2, 3, 2**n // 2, 2**n // 2 + 1, 2**n - 2, 40) if 0 <= f <= min(2**n - 2, 1000)}):
        for t in (0, 1, 12345, 2**40 + 7):
            drawn, _, ends = trial_faults(np.uint64(KEY), t, n, f, 0, 2)
            faults, pair = load_documented_sampler()["fault_set_and_ends"](KEY, t, n, f, 2)
            assert (drawn.tolist(), ends.tolist()) == (faults, pair)
            assert faults == load_documented_sampler()["fault_set"](KEY, t, n, f)


@pytest.mark.kernels
@pytest.mark.parametrize("f", [2, 5])
def test_faults_and_pair_are_uniform(f):
    counts: Counter[tuple] = Counter()
    for t in range(40_000):
        faults, _, ends = trial_faults(np.uint64(9), t, 3, f, 0, 2)
        counts[frozenset(faults.tolist()), *ends.tolist()] += 1
    cells = np.array(list(counts.values()))
    assert cells.size == {2: 28 * 30, 5: 56 * 6}[f]
    assert chdtrc(cells.size - 1, ((cells - cells.mean()) ** 2 / cells.mean()).sum()) > 1e-6


@kernel("int64(uint64, int64, int64, float64, boolean, uint64[:, ::1])")
def lazy_pairs(key, bits, stop, rate, whole, out):
    batch = pairs.pair_arrays()
    n = pairs.draw_pairs(np.int64(0), stop, pairs.PairSource(key, statuses.threshold(rate), bits, whole), batch)
    for i in range(n):
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = batch.trials[i], batch.keys[i], batch.sources[i], batch.targets[i]
    return n


@pytest.mark.kernels
@pytest.mark.parametrize(("bits", "rate"), mark_others_slow([(2, 0.9), (3, 0.5), (62, 0.3), (20, 0.97)], default=3))
def test_pairs_drawn_whole_have_a_status_key_of_their_own(bits, rate):
    out = np.empty((64, 4), np.uint64)
    assert lazy_pairs(np.uint64(KEY), bits, 64, rate, True, out) == 64
    for t, key, s, d in sorted(out.tolist()):
        count = int(20 / (1 - rate) ** 2)  # an attempt finds both ends nonfaulty with probability (1 - rate)^2
        keys = load_documented_sampler()["words"](KEY, t, count, 2).tolist()
        ends = (load_documented_sampler()["words"](KEY, t, 2 * count, 6) % np.uint64(2**bits)).tolist()
        for a, (u, v) in enumerate(zip(ends[::2], ends[1::2], strict=True)):
            nonfaulty = [int(one_status(np.uint64(keys[a]), np.uint64(x))) >= int(rate * 2**64) for x in (u, v)]
            if u != v and all(nonfaulty):
                break
        assert (key, s, d) == (keys[a], u, v)


@kernel("uint64(uint64, uint64)")
def one_status(key, label):
    return statuses.status(key, label)


# ---------------------------------------------------------------- searches and paths


@kernel("int64(int64, uint64[::1], uint64, uint64)")
def shortest(n, faults, s, t):
    rows = np.empty((3, bitmask.count_words(n)), np.uint64)
    bitmask.write_nonfaulty(n, faults, faults.size, rows[0])
    now, then = rows[1], rows[2]
    now[:] = 0
    bitmask.set_node(now, s)
    length = 0
    new = True
    while new and not bitmask.has_node(now, t):
        new = bitmask.spread_nodes(now, now, rows[0], 0, n, then)
        now, then = then, now
        length += 1
    return length if new else -1


@pytest.mark.kernels
@pytest.mark.parametrize("n", [1, 2, 5, 6, 7, 9, 10, 11])
def test_shortest_paths_are_those_of_a_plain_search(n):
    rng = np.random.default_rng(n)
    for fraction in (0.0, 0.3, 0.6):
        faulty = rng.random(2**n) < fraction
        faulty[0] = False
        distance = {0: 0}
        for v in (queue := [0]):
            for w in (v ^ 1 << k for k in range(n)):
                if not faulty[w] and w not in distance:
                    distance[w] = distance[v] + 1
                    queue.append(w)
        faults = np.flatnonzero(faulty).astype(np.uint64)
        for t in rng.choice(2**n, min(20, 2**n), replace=False).tolist():
            if not faulty[t]:
                assert shortest(n, faults, np.uint64(0), np.uint64(t)) == distance.get(t, -1)


@block
def _in_word(world, label):
    return (world >> label) & np.uint64(1) == np.uint64(0)


_first = paths.make_first_nonfaulty(_in_word)


@kernel("uint64(uint64, uint64, uint64)")
def first_in_word(world, node, dims):
    return _first(world, node, dims)


@kernel("int64(uint64[::1], int64)")
def erased(path, count):
    return paths.erase_loops(path, count)


def test_the_first_nonfaulty_neighbour_is_asked_from_the_top():
    faulty = np.uint64(1 << 0b100 | 1 << 0b010)
    assert first_in_word(faulty, np.uint64(0), np.uint64(0b111)) == 0b001
    assert first_in_word(np.uint64(0), np.uint64(0), np.uint64(0b111)) == 0b100
    assert first_in_word(faulty, np.uint64(0), np.uint64(0b110)) == 0


def test_loops_are_erased():
    path = np.array([1, 2, 3, 2, 4, 1, 5, 9], np.uint64)
    assert path[: erased(path, 7)].tolist() == [1, 5]
