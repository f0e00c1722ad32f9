"""The synchronous rounds on bitmasks, against plain code, and the vector instructions they compile to."""

import itertools
import re

import numba
import numpy as np
import pytest
from helpers.compiled import mark_others_slow
from reference.bernoulli import close
from reference.unsafe import find_unsafe

from fastcube.kernels.machine import neighbours, simd, target
from fastcube.kernels.machine.jit import kernel
from fastcube.kernels.unsafe import rounds


@kernel("int64(uint64[::1], uint64[::1], int64)", cache=False)
def step(state, other, d):
    return rounds.run_bitmask_rounds(state, other, rounds.make_vector_masks(d), d)


@kernel("UniTuple(uint64, 2)(uint64, int64)", cache=False)
def word(x, d):
    steps, closed = rounds.run_word_rounds(x, d)
    return np.uint64(steps), closed


@kernel("void(uint64[::1], uint64[::1])", cache=False)
def across(x, out):
    v = simd.load(x, 0)
    simd.store(out, 0, neighbours.neighbour0(v))
    simd.store(out, 8, neighbours.neighbour1(v))
    simd.store(out, 16, neighbours.neighbour2(v))
    simd.store(out, 24, neighbours.neighbour3(v))
    simd.store(out, 32, neighbours.neighbour4(v))
    simd.store(out, 40, neighbours.neighbour5(v))
    simd.store(out, 48, neighbours.neighbour6(v))
    simd.store(out, 56, neighbours.neighbour7(v))
    simd.store(out, 64, neighbours.neighbour8(v))


@kernel("void(uint64[::1], uint64[::1], uint64[::1], uint64[::1])", cache=False)
def logic(x, y, z, out):
    a, b, c = simd.load(x, 0), simd.load(y, 0), simd.load(z, 0)
    simd.store(out, 0, simd.majority(a, b, c))
    simd.store(out, 8, simd.bit_or3(a, b, c))


def pack(state):
    whole = np.zeros(max(512, state.size), bool)
    whole[: state.size] = state
    return np.packbits(whole, bitorder="little").view(np.uint64)


def unpack(mask, d):
    flat = np.unpackbits(mask.view(np.uint8), bitorder="little")
    assert not flat[2**d :].any()
    return flat[: 2**d].astype(bool)


def run(state, d):
    mask = pack(state)
    steps = step(mask, np.full_like(mask, np.uint64(0xDEADBEEFDEADBEEF)), d)  # the scratch may hold anything
    return steps, unpack(mask, d)


def densities(d):
    """Fault probabilities from a single fault to everything, most of them near where half of the cubes become unsafe."""
    critical = min(0.9, 4 * 16 * 1.166 / d**2 * 2 ** (-2 * d**0.5)) if d else 0.5
    return [0.0, 1 / 2**d, critical / 2, critical, 1.2 * critical, 0.3, 0.95, 1.0]


def test_plain_rounds_follow_the_twin():
    rng = np.random.default_rng(1)
    for d in range(1, 8):
        for p in densities(d):
            faulty = rng.random(2**d) < p
            forced = rng.random(2**d) < 0.02
            links = [(int(v), int(v) ^ 1) for v in np.flatnonzero(forced)]
            for faulty_links, extra in (([], None), (links, forced | forced[np.arange(2**d) ^ 1])):
                marked = find_unsafe(d, np.flatnonzero(faulty).tolist(), faulty_links)
                steps, state = close(faulty, d, extra)
                assert steps == max(marked.values(), default=0)
                assert set(np.flatnonzero(state & ~faulty)) == set(marked)


@pytest.mark.parametrize("d", range(15))
def test_random_cubes(d):
    rng = np.random.default_rng(d)
    for p, _ in itertools.product(densities(d), range(12 if d < 12 else 4)):
        faulty = rng.random(2**d) < p
        want_steps, want = close(faulty, d)
        steps, state = run(faulty, d)
        assert steps == want_steps
        assert (state == want).all()
        if d <= 6:
            steps, closed = word(pack(faulty)[0], d)
            assert steps == want_steps
            assert closed == pack(want)[0]


@pytest.mark.kernels
@pytest.mark.parametrize("d", mark_others_slow([15, 16, 17, 18], default=3))
def test_large_cubes(d):
    # more than 64 vectors: the marks have several words, and changes cross from one to another
    rng = np.random.default_rng(d)
    for p in (1.05 * densities(d)[3], 0.1, 3 / 2**d):
        faulty = rng.random(2**d) < p
        want_steps, want = close(faulty, d)
        steps, state = run(faulty, d)
        assert steps == want_steps
        assert (state == want).all()


def test_all_states_of_small_cubes():
    for d in (0, 1, 2, 3):
        for x in range(2**2**d):
            faulty = np.array([x >> v & 1 for v in range(2**d)], bool)
            want_steps, want = close(faulty, d)
            steps, closed = word(np.uint64(x), d)
            assert (steps, closed) == (want_steps, pack(want)[0])


@pytest.mark.parametrize("d", [6, 9, 12, 15, pytest.param(20, marks=pytest.mark.slow)])
def test_slow_growth(d):
    # two faults at distance 2, then one more at distance 2 from the cube grown so far, and so on: many rounds, and
    # at each time few vectors next to a change
    faulty = np.zeros(2**d, bool)
    faulty[0] = True
    for k in range(2, d + 1, 2):
        faulty[2**k - 2 ** (k - 2)] = True
    want_steps, want = close(faulty, d)
    steps, state = run(faulty, d)
    assert steps == want_steps > d / 2
    assert (state == want).all()


@pytest.mark.parametrize("d", [19, 20, 21, 22])
def test_dimensions_are_interchangeable(d):
    # too large for the twin: FIND_UNSAFE has the full symmetry of the cube, the code treats every dimension differently
    rng = np.random.default_rng(d)
    faults = rng.choice(2**d, int(1.5 * densities(d)[3] * 2**d), replace=False)
    found = set()
    for _ in range(3):
        order = rng.permutation(d)
        moved = sum((faults >> i & 1) << int(order[i]) for i in range(d)) ^ int(rng.integers(2**d))
        faulty = np.zeros(2**d, bool)
        faulty[moved] = True
        steps, state = run(faulty, d)
        found.add((int(steps), int(state.sum())))
    assert len(found) == 1
    assert found.pop()[0] > 8


@pytest.mark.kernels
@pytest.mark.parametrize("d", [3, 8, 9, 10, 13, 16])
def test_link_faults_are_marked_in_step_one(d):
    rng = np.random.default_rng(d)
    for p, q in itertools.product((0.0, 2 / 2**d, densities(d)[2]), (0.0, 2 / 2**d, 0.2)):
        faulty, ends = rng.random(2**d) < p, rng.random(2**d) < q
        want_steps, want = close(faulty, d, ends)
        mask = pack(faulty)
        assert rounds.run_cube_rounds(mask, pack(ends), np.empty_like(mask), max(d, 9)) == want_steps
        assert (unpack(mask, d) == want).all()


def test_neighbours_in_a_vector():
    rng = np.random.default_rng(3)
    x = rng.integers(0, 2**64, 8, np.uint64)
    out = np.empty(72, np.uint64)
    across(x, out)
    flat = np.unpackbits(x.view(np.uint8), bitorder="little")
    got = np.unpackbits(out.view(np.uint8), bitorder="little").reshape(9, 512)
    for k in range(9):
        assert (got[k] == flat[np.arange(512) ^ (1 << k)]).all()


def test_functions_of_three_vectors():
    rng = np.random.default_rng(4)
    x, y, z = rng.integers(0, 2**64, (3, 8), np.uint64)
    out = np.empty(16, np.uint64)
    logic(x, y, z, out)
    assert (out[:8] == (x & y | y & z | x & z)).all()
    assert (out[8:] == (x | y | z)).all()


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_rounds_compile_to_vectors_of_512_bits():
    if not {"avx512f", "avx512bw", "gfni"} <= target.FEATURES:
        pytest.skip("this CPU has no AVX-512 with byte and bit permutations")
    (assembly,) = step.compiled.inspect_asm().values()
    used = set(re.findall(r"^\t(v\w+)\s[^\n]*%zmm", assembly, re.MULTILINE))
    # bit permutation in bytes, byte shuffle, rotation, lane shuffles, and logic on three operands
    assert {"vgf2p8affineqb", "vpshufb", "vprold", "vpshufd", "vpermq", "vshufi64x2", "vpternlogq"} <= used
