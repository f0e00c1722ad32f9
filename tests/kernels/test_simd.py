"""Vectors and words: every compiled operation against its plain meaning."""

import inspect
import re

import numpy as np
import pytest

from fastcube.kernels.machine import bits, neighbours, simd
from fastcube.kernels.machine.jit import block, kernel
from fastcube.kernels.machine.target import FEATURES

RNG = np.random.default_rng(7)
WIDTHS = [8, 16, 32, 64]
#: That of most lane kernels, and the others, whose operations take as long to compile each.
OTHERS_MARKED = [16, *(pytest.param(width, marks=pytest.mark.kernels) for width in (8, 32, 64))]


def vectors(width, count=2):
    lanes = 512 // width
    values = [RNG.integers(0, 2**width, lanes, dtype=f"u{width // 8}") for _ in range(count)]
    values[0][:3] = 0
    values[-1][:2] = 2**width - 1
    values[0][5], values[-1][5] = 9, 9  # equal lanes occur
    return values


@block(always=True)
def operator_results(a, b):
    """Each operator of vectors once, with a literal on either side."""
    return (
        a ^ b,
        a & b,
        a | b,
        a & ~b,
        a + b,
        a - b,
        a * b,
        a << (b & 7),
        a >> (b & 7),
        (a & 3) + (1 << (b & 7)) - 1,
    )


@pytest.mark.parametrize("width", OTHERS_MARKED)
def test_operators_mean_what_numpy_means(width):
    """Compiled and plain give the same, in the lanes' own type: a literal widens no lane."""

    @kernel(f"void(uint{width}[::1], uint{width}[::1], uint{width}[:, ::1])", variant=f"operators{width}", cache=False)
    def apply(x, y, out):
        results = operator_results(simd.load(x, 0), simd.load(y, 0))
        for i in range(len(results)):
            simd.store(out[i], 0, results[i])

    x, y = vectors(width)
    plain = operator_results(x, y)
    assert {row.dtype for row in plain} == {x.dtype}
    out = np.zeros((len(plain), x.size), x.dtype)
    apply(x, y, out)
    assert np.array_equal(out, plain)


def test_only_literals_stand_for_all_lanes():
    @kernel("void(uint16[::1], uint64)", cache=False)
    def apply(x, bound):
        simd.store(x, 0, simd.load(x, 0) & bound)

    with pytest.raises(Exception, match="No implementation of function"):
        apply(np.zeros(32, np.uint16), np.uint64(2))


@pytest.mark.parametrize("width", OTHERS_MARKED)
def test_masks_counts_and_bits(width):
    """One kernel a width, so that compiling stays short."""
    bound = width // 2

    @kernel(f"uint64(uint{width}[::1], uint{width}[::1], uint{width}[:, ::1])", variant=f"w{width}", cache=False)
    def apply(x, y, out):
        a, b = simd.load(x, 0), simd.load(y, 0)
        few = simd.popcount(a) <= simd.splat_like(a, bound)
        simd.store(out[0], 0, simd.popcount(a))
        simd.store(out[1], 0, simd.top_bit(a))
        simd.store(out[2], 0, simd.select(few & (a != b), a, b))
        simd.store(out[3], 0, simd.select(few | (a == b), a, b))
        simd.store(out[4], 0, simd.select(few & ~(a == b), a, b))
        simd.store(out[5], 0, simd.select(simd.mask(a, simd.bits(few)), a, b))
        simd.store(out[6], 0, simd.iota(a))
        one = simd.splat_like(a, 1)
        count = b & 7
        simd.store(out[7], 0, one << count)
        simd.store(out[8], 0, a >> count)
        simd.store(out[9], 0, simd.reverse(a))
        simd.store(out[10], 0, simd.minimum(a, b))
        simd.store(out[11], 0, simd.maximum(a, b))
        simd.store(out[12], 0, simd.one_hot(a))
        simd.store(out[13], 0, simd.one_hot(simd.iota(a)))
        simd.store(out[14], 0, simd.top_bit(simd.one_hot(simd.iota(a)) - 1))
        simd.store(out[15], 0, simd.closeness(a))
        simd.store(out[16], 0, simd.closeness(a & (b & 7)))
        return simd.bits(few)

    x, y = vectors(width)
    x[2:5] = width - 1, width, width + 2 ** (width // 2)  # the last shift of ``one_hot``, and two beyond it
    out = np.zeros((17, x.size), x.dtype)
    mask = apply(x, y, out)
    counts = np.array([int(v).bit_count() for v in x])
    few = counts <= bound
    assert int(mask) == sum(1 << i for i, on in enumerate(few) if on)
    assert np.array_equal(out[0], counts)
    assert [int(v) for v in out[1]] == [1 << max(int(v).bit_length() - 1, 0) for v in x]
    assert [int(v) for v in out[12]] == [1 << int(v) if v < width else 0 for v in x]
    for values, found in ((x, out[15]), (x & y & x.dtype.type(7), out[16])):
        ones = np.bitwise_count(values)
        assert np.array_equal(found == 0, ones == 0) and np.array_equal(found <= 2, ones <= 2)
    assert [int(v) for v in out[13]] == [1 << i if i < width else 0 for i in range(x.size)]
    assert [int(v) for v in out[14]] == [1 << max(min(i, width) - 1, 0) for i in range(x.size)]
    assert np.array_equal(out[2], np.where(few & (x != y), x, y))
    assert np.array_equal(out[3], np.where(few | (x == y), x, y))
    assert np.array_equal(out[4], np.where(few & ~(x == y), x, y))
    assert np.array_equal(out[5], np.where(few, x, y))
    assert np.array_equal(out[6], np.arange(x.size))
    assert np.array_equal(out[7], np.ones_like(x) << (y & np.array(7, x.dtype)))
    assert np.array_equal(out[8], x >> (y & np.array(7, x.dtype)))
    assert np.array_equal(out[10], np.minimum(x, y)) and np.array_equal(out[11], np.maximum(x, y))
    assert [int(v) for v in out[9]] == [int(f"{v:0{width}b}"[::-1], 2) for v in x]


@pytest.mark.parametrize("width", OTHERS_MARKED)
def test_chosen_lanes_are_stored_together(width):
    """Every set of lanes, or of eight lanes in turn with random others; nothing beyond the vector's own range is written."""
    lanes, before = 512 // width, 3

    @kernel(f"void(uint{width}[::1], uint64[::1], uint{width}[:, ::1])", variant=f"stored{width}", cache=False)
    def apply(x, chosen, out):
        a = simd.load(x, 0)
        for i in range(chosen.size):
            simd.store_compressed(out[i], before, chosen[i], a)

    eight = np.arange(256, dtype=np.uint64)
    if lanes <= 16:
        sets = np.arange(1 << lanes, dtype=np.uint64)
    else:
        others = RNG.integers(0, 2**64, (lanes // 8, 256), dtype=np.uint64)
        at = np.arange(0, lanes, 8, dtype=np.uint64)[:, None]
        sets = (others & ~(np.uint64(255) << at) | eight << at).ravel()
    (x,) = vectors(width, 1)
    out = np.full((sets.size, before + lanes + 2), 7, x.dtype)
    apply(x, sets, out)
    assert (out[:, :before] == 7).all() and (out[:, before + lanes :] == 7).all()
    is_chosen = sets[:, None] >> np.arange(lanes, dtype=np.uint64) & np.uint64(1) == 1
    order = np.argsort(~is_chosen, axis=1, kind="stable")
    is_front = np.arange(lanes) < is_chosen.sum(axis=1, keepdims=True)
    assert np.array_equal(out[:, before : before + lanes][is_front], x[order][is_front])


def test_views_and_products():
    @kernel("uint64(uint16[::1], uint32[::1], uint64[:, ::1])", cache=False)
    def apply(x, wide, out):
        a = simd.load(x, 0)
        simd.store(wide, 0, simd.as32(a))
        b = simd.as64(a)
        simd.store(out[0], 0, simd.mul32(b, b))
        simd.store(out[1], 0, b * b)
        return simd.total(b)

    (x,) = vectors(16, 1)
    wide, out = np.zeros(16, np.uint32), np.zeros((2, 8), np.uint64)
    total = apply(x, wide, out)
    b = x.view(np.uint64)
    low = b & np.uint64(0xFFFFFFFF)
    assert np.array_equal(wide, x.view(np.uint32))
    assert np.array_equal(out[0], low * low) and np.array_equal(out[1], b * b)
    assert int(total) == sum(map(int, b)) % 2**64


def test_four_vectors_as_one():
    """Arithmetic of the joined vector, lane by lane, equals arithmetic of the four."""

    @kernel("void(uint64[::1], uint64[::1])", cache=False)
    def apply(x, out):
        a = simd.join(simd.load(x, 0), simd.load(x, 8), simd.load(x, 16), simd.load(x, 24))
        b = simd.join(simd.load(x, 32), simd.load(x, 40), simd.load(x, 48), simd.load(x, 56))
        product = simd.quarters(simd.mul32(a, b))
        halves = simd.quarters(simd.low_halves(a, b))
        most = simd.quarters(simd.majority(a, b, 5 + simd.iota(a)))
        for i in range(4):
            simd.store(out, 8 * i, product[i])
            simd.store(out, 32 + 8 * i, halves[i])
            simd.store(out, 64 + 8 * i, most[i])

    x, out = np.concatenate(vectors(64, 8)), np.zeros(96, np.uint64)
    apply(x, out)
    a, b, low = x[:32], x[32:], np.uint64(0xFFFFFFFF)
    c = np.arange(5, 37, dtype=np.uint64)
    assert np.array_equal(out[:32], (a & low) * (b & low))
    assert np.array_equal(out[32:64], (a & low) | (b << np.uint64(32)))
    assert np.array_equal(out[64:], (a & b) | (c & (a | b)))


def test_words_gathered_and_exchanged():
    @kernel("void(uint64[::1], uint64[::1], uint64[::1])", cache=False)
    def apply(x, where, out):
        simd.store(out, 0, simd.gather(x, simd.load(where, 0)))
        simd.transpose(x, np.int64(3), np.int64(10), out, np.int64(8))

    x, where = RNG.integers(0, 2**64, 90, dtype=np.uint64), np.array([5, 0, 89, 5, 1, 2, 64, 63], np.uint64)
    out = np.zeros(72, np.uint64)
    apply(x, where, out)
    assert np.array_equal(out[:8], x[where.astype(int)])
    assert [out[8 + 8 * j + i] for i in range(8) for j in range(8)] == [
        x[3 + 10 * i + j] for i in range(8) for j in range(8)
    ]


WORDS = [0, 1, 2**63, 2**64 - 1, 0x5555555555555555, 6, 2**32, *map(int, RNG.integers(0, 2**64, 40, dtype=np.uint64))]


def test_words():
    @kernel("void(uint64, uint64, uint64[::1])", cache=False)
    def apply(x, m, out):
        out[0] = np.uint64(bits.popcount(x))
        out[1] = np.uint64(bits.lowest(x))
        out[2] = np.uint64(bits.highest(x) + 1)
        out[3] = bits.extract(x, m)

    out = np.zeros(4, np.uint64)
    for x, m in zip(WORDS, reversed(WORDS), strict=True):
        apply(np.uint64(x), np.uint64(m), out)
        places = [i for i in range(64) if m >> i & 1]
        extracted = sum((x >> p & 1) << i for i, p in enumerate(places))
        lowest = next((i for i in range(64) if x >> i & 1), 64)
        assert [int(v) for v in out] == [x.bit_count(), lowest, x.bit_length(), extracted]


def test_portable_extract():
    """The form for CPUs without pext, compiled here too."""
    extract = block(bits.extract_bits)

    @kernel("uint64(uint64, uint64)", cache=False)
    def apply(x, m):
        return extract(x, m)

    for x, m in zip(WORDS, reversed(WORDS), strict=True):
        places = [i for i in range(64) if m >> i & 1]
        assert int(apply(np.uint64(x), np.uint64(m))) == sum((x >> p & 1) << i for i, p in enumerate(places))


@pytest.mark.skipif("avx512bitalg" not in FEATURES, reason="the target has no AVX-512 BITALG")
def test_lanes_are_single_instructions():
    @kernel("uint64(uint16[::1], uint16[::1])", cache=False)
    def apply(x, out):
        a = simd.load(x, 0)
        few = simd.popcount(a) <= 2
        simd.store_compressed(out, 0, simd.bits(few), a)
        return simd.bits(few)

    assembly = next(iter(apply.compiled.inspect_asm().values()))
    for instruction in ("vpopcntw", "vpcompressw"):
        assert re.search(rf"\t{instruction}\t.*%zmm", assembly), instruction


def test_every_operation_says_what_it_means():
    for name, value in [*vars(simd).items(), *vars(neighbours).items()]:
        if not name.startswith("_") and callable(value) and not inspect.isclass(value) and name != "operation":
            assert value.__doc__, name
