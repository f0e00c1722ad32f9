"""Random words and fault sets: known answers, the documented recipe in plain NumPy, and uniformity by exact tests."""

from __future__ import annotations

import importlib.resources
import itertools
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from helpers.compiled import mark_others_slow
from helpers.documented import load_documented_sampler
from scipy.special import chdtrc

import fastcube as fc
from fastcube.kernels.draws import links, nodes, philox, statuses
from fastcube.kernels.machine import simd
from fastcube.kernels.machine.jit import kernel

LEVEL = 1e-6
KEYS = (0, 1, 0x0123456789ABCDEF, 2**64 - 1)
DOCS = Path(__file__).resolve().parents[2] / "docs"


@kernel("uint64(uint64, uint64, uint64, uint64)")
def one_word(key, block, j, purpose):
    return philox.random_word(key, block, j, purpose)


@kernel("void(uint64, uint64, uint64, uint64, uint64[::1])")
def eight_blocks(key, block, half, purpose, out):
    even, odd = philox.pair_lanes(key, block, half, purpose)
    simd.store(out, 0, even)
    simd.store(out, 8, odd)


@kernel("void(uint64, uint64[::1], uint64[::1], uint64, uint64[::1])")
def eight_pairs(key, blocks, halves, purpose, out):
    even, odd = philox.mixed_lanes(key, simd.load(blocks, 0), simd.load(halves, 0), simd.splat(purpose))
    simd.store(out, 0, even)
    simd.store(out, 8, odd)


@kernel("void(uint64, uint64, uint64[::1], uint64, uint64[::1])")
def four_at_once(key, block, halves, purpose, out):
    """Words of 32 blocks for the first half, and of eight blocks each, also for another purpose, for four halves."""
    even, odd = philox.word_lanes(key, philox.prepare_four_vectors(key, block, purpose), halves[0])
    one, other = philox.prepare_lanes(key, block, purpose), philox.prepare_lanes(key, block, purpose + np.uint64(1))
    evens, odds = philox.four_word_lanes(key, (one, other, one, one), (halves[0], halves[1], halves[2], halves[3]))
    for at, (e, o) in ((0, (even, odd)), (64, (evens, odds))):
        e4, o4 = simd.quarters(e), simd.quarters(o)
        for i in range(4):
            simd.store(out, at + 16 * i, e4[i])
            simd.store(out, at + 16 * i + 8, o4[i])


@kernel("uint64(uint64, int64, int64, int64)")
def one_label(key, t, j, n):
    return nodes.node_label(key, t, j, n)


@kernel("uint64(uint64, uint64, uint64)")
def one_status(key, t, label):
    return statuses.status(statuses.status_key(key, t), label)


@kernel("uint64(float64)")
def one_threshold(rate):
    return statuses.threshold(rate)


# ---------------------------------------------------------------- the generator


def known_answers():
    text = (importlib.resources.files("fastcube.data") / "philox4x32-10.json").read_text()
    names = ("counter", "key", "output")
    return [tuple([int(x, 16) for x in vector[name]] for name in names) for vector in json.loads(text)["vectors"]]


@pytest.mark.parametrize(("counter", "key", "output"), known_answers())
def test_philox_gives_the_known_answers(counter, key, output):
    c0, c1, c2, c3 = counter
    assert [int(x) for x in load_documented_sampler()["philox"](*counter, *key)] == output
    for parity in (0, 1):
        got = one_word(
            np.uint64(key[0] | key[1] << 32), np.uint64(c0 | c1 << 32), np.uint64(2 * c2 + parity), np.uint64(c3)
        )
        assert int(got) == output[2 * parity] | output[2 * parity + 1] << 32


def _check_four(key, block, halves, purpose):
    out = np.empty(128, np.uint64)
    four_at_once(np.uint64(key), np.uint64(block), halves, np.uint64(purpose), out)
    for i, lane, parity in itertools.product(range(4), range(8), (0, 1)):
        wide = (block + 8 * i + lane, 2 * int(halves[0]) + parity, purpose)
        own = (block + lane, 2 * int(halves[i]) + parity, purpose + (i == 1))
        for at, where in ((0, wide), (64, own)):
            assert out[at + 16 * i + 8 * parity + lane] == one_word(np.uint64(key), *map(np.uint64, where))


@pytest.mark.kernels
def test_lanes_are_the_same_words():
    rng = np.random.default_rng(1)
    out = np.empty(16, np.uint64)
    for _ in range(200):
        key, block = (int(x) for x in rng.integers(0, 2**64, 2, np.uint64))
        half, purpose = int(rng.integers(0, 2**31 - 8)), int(rng.integers(0, 10))
        block -= block % 8
        eight_blocks(np.uint64(key), np.uint64(block), np.uint64(half), np.uint64(purpose), out)
        for lane in range(8):
            for parity in (0, 1):
                word = one_word(
                    np.uint64(key), np.uint64(block + lane), np.uint64(2 * half + parity), np.uint64(purpose)
                )
                assert out[8 * parity + lane] == word
        _check_four(key, block - block % 32, rng.integers(0, 2**31 - 8, 4, np.uint64), purpose)
        halves = np.uint64(half) + np.arange(8, dtype=np.uint64)
        blocks = rng.integers(0, 2**64, 8, np.uint64)
        eight_pairs(np.uint64(key), blocks, halves, np.uint64(purpose), out)
        for lane, parity in itertools.product(range(8), (0, 1)):
            j = np.uint64(2 * (half + lane) + parity)
            assert out[8 * parity + lane] == one_word(np.uint64(key), blocks[lane], j, np.uint64(purpose))


def test_the_recipe_hashes_points_as_the_engine_does():
    for study, seed, point in (("unsafe-fraction", 0, {"n": 10, "f": 5}), ("unsafe-critical", 7, {"n": 8, "p": 0.1})):
        assert load_documented_sampler()["point_key"](study, seed, point) == fc.study(study).key(seed, point)


# ---------------------------------------------------------------- the recipe regenerates every fault set


@pytest.mark.parametrize("n", mark_others_slow([1, 2, 3, 5, 8, 9, 31, 32, 33, 62, 16, 17], default=10))
def test_fault_sets_are_those_of_the_recipe(n):
    for f in sorted(
        {f for f in (0, 1, 2, 3, 2**n // 2, 2**n // 2 + 1, 2**n - 1, 2**n, 40, 500) if f <= min(2**n, 2**16)}
    ):
        for key, t in zip(KEYS, (0, 1, 12345, 2**40 + 7), strict=True):
            assert nodes.fault_set(np.uint64(key), t, n, f).tolist() == load_documented_sampler()["fault_set"](
                key, t, n, f
            )


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 16, 17, 32, 33, 60])
def test_link_sets_are_those_of_the_recipe(n):
    for count in sorted({c for c in (0, 1, 2, 5, 33, 300, n * 2**n // 2) if c <= min(n * 2**n // 2, 2000)}):
        for key, t in zip(KEYS, (0, 3, 54321, 2**40 + 7), strict=True):
            found = links.link_set(np.uint64(key), t, n, count)
            assert [tuple(row) for row in found.tolist()] == load_documented_sampler()["link_set"](key, t, n, count)


@kernel("void(uint64, uint64, uint64, uint64, uint16[::1])")
def links_of_32(key, b, half, n, out):
    rows = philox.pair_lanes(key, b, half, philox.LINKS), philox.pair_lanes(key, b, half, philox.DIMENSIONS)
    for parity in range(2):
        lower, bit, skipped = links.decode_link_lanes(simd.as16(rows[0][parity]), simd.as16(rows[1][parity]), n)
        simd.store(out, 96 * parity, lower)
        simd.store(out, 96 * parity + 32, bit)
        simd.store(out, 96 * parity + 64, simd.select(skipped, bit, bit ^ bit))


@kernel("void(uint64, uint64, uint64, uint64, uint32[::1])")
def links_of_16(key, b, half, n, out):
    rows = philox.pair_lanes(key, b, half, philox.LINKS), philox.pair_lanes(key, b, half, philox.DIMENSIONS)
    for parity in range(2):
        lower, bit, skipped = links.decode_link_lanes(simd.as32(rows[0][parity]), simd.as32(rows[1][parity]), n)
        simd.store(out, 48 * parity, lower)
        simd.store(out, 48 * parity + 16, bit)
        simd.store(out, 48 * parity + 32, simd.select(skipped, bit, bit ^ bit))


@pytest.mark.kernels
@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 8, 10, 11, 15, 16, 17, 31, 32])
def test_links_in_lanes_are_those_of_each_trial(n):
    lanes, kernel = (32, links_of_32) if n <= 16 else (16, links_of_16)
    out = np.empty(6 * lanes, np.uint16 if n <= 16 else np.uint32)
    skipped = 0
    for b in range(0, 8 * (200 if n == 11 else 8), 8):
        kernel(np.uint64(KEYS[1]), np.uint64(b), np.uint64(0), np.uint64(n), out)
        lower, bit, skip = out.reshape(2, 3, lanes).astype(object).transpose(1, 0, 2)
        skipped += np.count_nonzero(skip)
        for lane in range(lanes):
            first = [(lower[j, lane], bit[j, lane].bit_length() - 1) for j in range(2) if not skip[j, lane]]
            first = list(dict.fromkeys(first))
            t = (8 * 4 * (b // 8) if n <= 16 else 8 * 2 * (b // 8)) + lane
            assert links.link_set(np.uint64(KEYS[1]), t, n, len(first)).tolist() == [list(link) for link in first]
    assert n != 11 or 0 < skipped < 15


@pytest.mark.parametrize("n", [3, 8, 12, 20, 45])
def test_labels_are_the_sequence_of_fault_sets(n):
    key, t, f = 99, 777, min(2 ** (n - 1), 30)
    labels = [int(one_label(np.uint64(key), t, j, n)) for j in range(20 * f)]
    assert list(dict.fromkeys(labels))[:f] == nodes.fault_set(np.uint64(key), t, n, f).tolist()


def test_lazy_statuses_are_those_of_the_recipe():
    rng = np.random.default_rng(2)
    for rate in (0.0, 0.1, 0.5, 0.9999999):
        assert int(one_threshold(rate)) == int(rate * 2**64)
        for key, label, t in rng.integers(0, 2**62, (50, 3), np.uint64):
            faulty = one_status(key, t, label) < one_threshold(rate)
            assert faulty == load_documented_sampler()["is_faulty"](int(key), int(t), int(label), rate)


# ---------------------------------------------------------------- uniformity


def tail(counts, cells):
    """P-value of the chi-square test that all cells are equally likely."""
    assert set(counts) <= set(cells)
    expected = sum(counts.values()) / len(cells)
    assert expected >= 10
    return chdtrc(len(cells) - 1, sum((counts[c] - expected) ** 2 for c in cells) / expected)


def node_sets(n, f, trials, draw=nodes.fault_set):
    return Counter(tuple(sorted(draw(np.uint64(2024), t, n, f).tolist())) for t in range(trials))


def link_sets(n, count, trials, draw=links.link_set):
    return Counter(tuple(sorted(map(tuple, draw(np.uint64(2024), t, n, count).tolist()))) for t in range(trials))


def all_links(n):
    return [(x, k) for x in range(2**n) for k in range(n) if not x >> k & 1]


@pytest.mark.parametrize(
    ("n", "f"), [(1, 1), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (3, 3), (3, 4), (3, 6), (4, 2), (4, 14)]
)
def test_all_sets_of_nodes_are_equally_likely(n, f):
    cells = list(itertools.combinations(range(2**n), f))
    assert tail(node_sets(n, f, max(2000, 100 * len(cells))), cells) > LEVEL


@pytest.mark.parametrize(("n", "count"), [(2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (3, 11), (5, 1)])
def test_all_sets_of_links_are_equally_likely(n, count):
    cells = list(itertools.combinations(sorted(all_links(n)), count))
    assert tail(link_sets(n, count, max(2000, 100 * len(cells))), cells) > LEVEL


@pytest.mark.parametrize(("n", "low"), [(12, 9), (20, 17), (40, 29), (40, 36)])
def test_labels_of_larger_cubes_are_uniform_in_any_three_bits(n, low):
    counts = Counter(int(x) >> low & 7 for t in range(2000) for x in nodes.fault_set(np.uint64(5), t, n, 4))
    assert tail(counts, range(8)) > LEVEL


@pytest.mark.kernels
@pytest.mark.parametrize("rate", [0.05, 0.3, 0.5])
def test_lazy_statuses_of_neighbours_are_independent(rate):
    threshold = one_threshold(rate)
    trials, n = 4000, 6
    status = np.array(
        [[one_status(np.uint64(3), np.uint64(t), np.uint64(v)) for v in range(2**n)] for t in range(trials)]
    )
    faulty = status < threshold
    total = faulty.sum()
    assert abs(total - rate * faulty.size) < 4.9 * np.sqrt(rate * (1 - rate) * faulty.size)
    for k in range(n):
        one_end = [v for v in range(2**n) if not v >> k & 1]
        other = [v | 1 << k for v in one_end]
        both = (faulty[:, one_end] & faulty[:, other]).sum()
        mean, size = rate**2, trials * len(one_end)
        assert abs(both - mean * size) < 4.9 * np.sqrt(mean * (1 - mean) * size)


# ---------------------------------------------------------------- samplers that are wrong fail the same tests


def repeats_kept(key, t, n, f):
    """A duplicate is replaced by its successor instead of being skipped."""
    out = []
    for j in range(f):
        x = int(one_label(key, t, j, n))
        while x in out:
            x = (x + 1) % 2**n
        out.append(x)
    return np.array(out)


def modulo_biased(key, t, n, count):
    """A dimension from two bits that hold three of them: 3 is taken for 0 instead of being skipped."""
    nodes, fields = (load_documented_sampler()["fields"](int(key), t, 16, 64, purpose).tolist() for purpose in (3, 5))
    links = dict.fromkeys((x % 2**n & ~(1 << d % 4 % n), d % 4 % n) for x, d in zip(nodes, fields, strict=True))
    return np.array(list(links)[:count])


def weak_status(key, t, label):
    """The label is mixed in without being spread first, by one multiplication."""
    z = (int(key) + t) ^ label
    return np.uint64(z * 0xBF58476D1CE4E5B9 % 2**64)


def test_a_sampler_that_moves_duplicates_is_rejected():
    cells = list(itertools.combinations(range(8), 3))
    assert tail(node_sets(3, 3, 5600, repeats_kept), cells) < LEVEL


@pytest.mark.kernels
def test_a_sampler_with_modulo_bias_is_rejected():
    cells = list(itertools.combinations(sorted(all_links(3)), 2))
    assert tail(link_sets(3, 2, 6600, modulo_biased), cells) < LEVEL


@pytest.mark.kernels
def test_a_weak_hash_is_rejected(monkeypatch):
    monkeypatch.setitem(globals(), "one_status", lambda key, t, label: weak_status(key, int(t), int(label)))
    with pytest.raises(AssertionError):
        test_lazy_statuses_of_neighbours_are_independent(0.3)
