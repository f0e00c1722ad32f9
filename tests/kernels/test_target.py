"""Instructions are requested only where the processor that numba compiles for has them: LLVM ends the process otherwise."""

import subprocess
import sys
from pathlib import Path

import numba
import pytest
from helpers.compiled import mark_others_slow
from helpers.machine_code import has_cpu_feature
from helpers.points_compared import count_as_json
from helpers.processes import CLEAN_ENVIRONMENT, only_cache
from llvmlite.binding import llvm_version_info

from fastcube.kernels.machine.target import parse_features

#: A machine with AVX-512 that calls itself by a name for which numba switches AVX off, as some virtual machines do.
NOCONA = """
import llvmlite.binding.targets as targets
import llvmlite.binding as binding
real = targets.get_host_cpu_features()
def features():
    told = targets.FeatureMap(real)
    told["avx512f"] = True
    return told
for module in (targets, binding):
    module.get_host_cpu_name, module.get_host_cpu_features = lambda: "nocona", features
"""
#: Every operation that needs an instruction which only some processors have.
OPERATIONS = """
import numpy as np
from numba.core.registry import cpu_target
from fastcube.kernels.machine import bits, cache, neighbours, simd, target
from fastcube.kernels.machine.jit import kernel

@kernel("uint64(uint64[::1], uint64[::1])", cache=False)
def apply(x, out):
    a = simd.load(x, 0)
    b = neighbours.neighbour0(a)
    simd.store(out, 0, simd.bit_or3(simd.majority(a, b, neighbours.neighbour5(a)), b, neighbours.neighbour2(b)))
    return bits.extract(x[1], x[2])

def make_lanes(width):
    @kernel(f"void(uint{width}[::1], uint64, uint{width}[::1])", variant=f"lanes{width}", cache=False)
    def apply_to_lanes(x, chosen, out):
        a = simd.load(x, 0)
        lanes = simd.lanes_of(a)
        simd.store(out, 0, simd.top_bit(a))
        simd.store(out, lanes, simd.one_hot(a & (2 * simd.lanes_of(a) - 1)))
        simd.store(out, 2 * lanes, simd.select(simd.mask(a, chosen), a, simd.iota(a)))
        simd.store_compressed(out, 3 * lanes, chosen, a)

    return apply_to_lanes

x = np.arange(1, 9, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
out = np.zeros(8, np.uint64)
name, text = cpu_target.target_context.codegen().magic_tuple()[1:]
assert target.FEATURES == target.parse_features(text, name)
results = [int(apply(x, out)), out.tolist()]
for width in (8, 16, 32, 64):
    lanes = x.view(f"u{width // 8}")
    out = np.zeros(4 * lanes.size, lanes.dtype)
    make_lanes(width)(lanes, x[4], out)
    chosen = sum(int(x[4]) >> i & 1 for i in range(lanes.size))
    results += out[: 3 * lanes.size + chosen].tolist()
print(results)
print(name, cache.cache_folder().name)
"""
SETTINGS = {
    "plain": {},
    "without AVX": {"NUMBA_ENABLE_AVX": "0"},
    "generic": {"NUMBA_CPU_NAME": "generic"},
    "features without the base of AVX-512": {"NUMBA_CPU_FEATURES": "+avx512f,+gfni,-avx"},
    "nocona": {},
}
#: The last feature of each level of x86-64; a processor without it cannot run the level's code.
LEVELS = {"x86-64": "sse2", "x86-64-v2": "sse4.2", "x86-64-v3": "avx2", "x86-64-v4": "avx512vl"}
SETTINGS |= {
    level: {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": ""}
    for level, feature in LEVELS.items()
    if has_cpu_feature(feature)
}


@pytest.mark.parametrize("names", mark_others_slow([["plain", "nocona"], [*SETTINGS]]), ids=["two", "all"])
def test_every_target_computes_the_same(tmp_path, names):
    """Nothing of it aborts, and each target has a cache folder of its own that names the processor."""

    def start(name, variables):
        code = (NOCONA if name == "nocona" else "") + OPERATIONS
        environment = {**CLEAN_ENVIRONMENT, **variables, "NUMBA_DISABLE_JIT": "0", **only_cache(tmp_path)}
        return subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
        )

    ran = {name: start(name, SETTINGS[name]) for name in names}
    assert {name: run.returncode for name, run in ran.items()} == dict.fromkeys(names, 0), ran
    values, tags = zip(*(run.stdout.splitlines() for run in ran.values()), strict=True)
    assert len(set(values)) == 1
    assert len(set(tags)) == len(names)
    assert all(folder.endswith(f"-{cpu}") for cpu, folder in map(str.split, tags))


#: Studies, kernels and points whose hot loops use the operations that are written for a target.
COUNTED = [
    ("unsafe-fraction", "small.SMALL_7", {"n": 7, "f": 6}),
    ("routing-rate", "rate.routing_rate", {"n": 20, "rate": 0.2, "k": 1}),
    ("find-tree", "lanes.find_tree_lanes", {"n": 8, "links": 16, "f": 0}),
    ("survival-rate", "lanes.SURVIVAL_RATE_NODES", {"network": "hypercube", "n": 6, "rate": 0.3, "link_rate": 0.0}),
]


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="levels of processors differ in compiled code only")
@pytest.mark.parametrize("level", [level for level in LEVELS if level in SETTINGS])
def test_every_level_counts_the_same(level):
    """20,000 trials of kernels, compiled for this processor and, in a process for all, for a level of x86-64 that it has."""
    code = f"""
from helpers.points_compared import count_as_json
for place in {COUNTED!r}:
    print(count_as_json(*place, 20_000))
"""
    environment = {**CLEAN_ENVIRONMENT, "PYTHONPATH": str(Path(__file__).parent.parent), **SETTINGS[level]}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert run.stdout.splitlines() == [count_as_json(*place, 20_000) for place in COUNTED]


#: Prints how often a loop, in which a mask lives from one round to the next, moves single bytes between registers.
MASK_LOOP = """
from helpers.machine_code import assembly_text
from fastcube.kernels.machine import simd
from fastcube.kernels.machine.jit import kernel

@kernel("void(uint8[::1], uint64)", cache=False)
def clear_first(rows, label):
    done = simd.no_lane(simd.load(rows, 0))
    wanted = simd.splat_like(simd.load(rows, 0), label)
    for at in range(0, rows.size, 64):
        x = simd.load(rows, at)
        found = x == wanted
        simd.store(rows, at, simd.select(found & ~done, x ^ x, x))
        done = done | found

text = assembly_text(clear_first)
print(sum(text.count(name) for name in ("pinsrb", "pextrb")))
"""


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="plain Python has no machine code")
@pytest.mark.skipif(llvm_version_info[0] < 22, reason="LLVM 20 splits some masks, which costs speed alone")
@pytest.mark.parametrize("level", [level for level in LEVELS if level in SETTINGS and level != "x86-64"])
def test_a_mask_is_not_split_into_bytes(level):
    environment = {**CLEAN_ENVIRONMENT, "PYTHONPATH": str(Path(__file__).parent.parent), **SETTINGS[level]}
    run = [sys.executable, "-c", MASK_LOOP]
    assert subprocess.run(run, capture_output=True, text=True, env=environment, check=True).stdout == "0\n"


@pytest.mark.parametrize("level", list(LEVELS)[1:])
def test_a_level_has_its_features_by_name(level):
    assert LEVELS[level] in parse_features("", level) and LEVELS[level] not in parse_features("", "x86-64")
    assert LEVELS[level] not in parse_features(f"-{LEVELS[level]}", level)
    assert parse_features("+gfni", level) == parse_features("", level) | {"gfni"}


@pytest.mark.parametrize("base", ["avx", "avx2", "sse4.2", "fma"])
def test_avx512_needs_what_it_builds_on(base):
    assert parse_features("+avx512f,+gfni,+bmi2") == {"avx512f", "gfni", "bmi2"}
    assert parse_features(f"+avx512f,+gfni,-{base},+bmi2") == {"gfni", "bmi2"}
    assert parse_features("+avx2,-avx2") == parse_features("") == frozenset()
