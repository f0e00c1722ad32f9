"""Survival kernels: on the trials of the twin, against each other, and against exact counts."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from math import comb
from pathlib import Path

import numba
import numpy as np
import pytest
from helpers.documented import load_documented_sampler
from helpers.survival_trials import FAMILIES, KEY, agrees, check_parts, count_trials, reference_outcomes, sample_trials
from reference import networks

from fastcube.kernels.cube.link_numbers import link_names
from fastcube.kernels.cube.slots import SLOTS
from fastcube.kernels.draws.links import link_set
from fastcube.kernels.draws.nodes import fault_set
from fastcube.kernels.survival import dispatch as tables
from fastcube.kernels.survival import replay
from fastcube.kernels.survival.layout import COMPARED_EVENTS, SURVIVAL
from fastcube.kernels.survival.sweeps import is_surely_connected

EXACT = json.loads((Path(__file__).resolve().parents[2] / "data" / "networks.json").read_text())["networks"]


def lanes(name, n, f, k=0, **others):
    return count_trials(tables.SURVIVAL.kernel(name, n, f, k), name, n, f, k, **others)


def single(name, n, f, k=0, **others):
    return count_trials(tables.SURVIVAL.load_kernel("scalar.SURVIVAL_SINGLE"), name, n, f, k, **others)


def expected(name, n, drawn):
    """The tally of those trials."""
    drawn = list(drawn)
    compared = FAMILIES[name].is_compared(n) or not any(len(dead) for _, dead, _ in drawn)
    out = Counter(dict.fromkeys((counter.name for counter in SURVIVAL.counters), 0))
    for own, cube in reference_outcomes(name, n, drawn):
        out["pairs"] += own.st_connected is not None
        for what in COMPARED_EVENTS:
            a, b = bool(getattr(own, what)), bool(getattr(cube, what))
            out[what] += a
            if not compared:
                continue
            out[f"cube_{what}"] += b
            out[f"{what}_diff"] += a - b
            out[f"{what}_differs"] += a != b
    return dict(out)


def points(name, most):
    for n in (n for n in range(1, most + 1) if FAMILIES[name].sizes(n)):
        nodes = 2**n
        for f in sorted({0, 1, n - 1, n, nodes // 4, nodes // 2, nodes // 2 + 1, nodes - 2, nodes - 1, nodes}):
            yield n, f


@pytest.mark.parametrize("name", ["hypercube", "moebius1", "augmented", "exchanged"])
def test_single_on_the_twins_trials(name):
    for n, f in points(name, 6):
        for k in {0, min(f, 9, FAMILIES[name].links(n))}:
            drawn = sample_trials(name, n, f, k, range(100, 104))
            assert single(name, n, f, k, first=100, trials=4) == expected(name, n, drawn), (n, f, k)


@pytest.mark.kernels
@pytest.mark.parametrize("name", FAMILIES)
def test_lanes_on_the_twins_trials(name):
    for n, f in points(name, 8):
        first, trials = 1000 + f, 12 if n < 6 else 4
        drawn = sample_trials(name, n, f, 0, range(first, first + trials))
        assert lanes(name, n, f, first=first, trials=trials) == expected(name, n, drawn), (n, f)


@pytest.mark.kernels
@pytest.mark.parametrize("name", FAMILIES)
def test_faulty_links_on_the_twins_trials(name):
    for n in (n for n in range(1, 9) if FAMILIES[name].sizes(n)):
        links = FAMILIES[name].links(n)
        for f, k in {(0, 1), (0, links // 4), (2**n // 4, links // 4), (0, links // 2), (1, links)}:
            if k == 0 or f > 2**n:
                continue
            drawn = sample_trials(name, n, f, k, range(70, 76))
            assert lanes(name, n, f, k, first=70, trials=6) == expected(name, n, drawn), (n, f, k)


@pytest.mark.parametrize(("n", "f", "k"), [(5, 9, 0), (6, 40, 0), (3, 0, 7), (9, 100, 30), (9, 12, 0)])
def test_cases_are_the_faults_of_the_house(n, f, k):
    for t in (0, 513, 2**40 + 3):
        ((faulty, dead, ends),) = sample_trials("crossed", n, f, k, [t])
        assert sorted(faulty.tolist()) == sorted(fault_set(np.uint64(KEY), t, n, f).tolist())
        assert sorted(dead.tolist()) == sorted(link_set(np.uint64(KEY), t, n, k).tolist())
        assert len(set(ends.tolist()) - set(faulty.tolist())) == 2


@pytest.mark.kernels
@pytest.mark.parametrize("name", ["hypercube", "crossed", "exchanged", "augmented", "torus-16", "hyperx-8"])
@pytest.mark.parametrize("f", [0, 6, 30, 60, 200, 300, 510, 511, 512])
def test_lanes_and_single_on_the_same_trials(name, f):
    n = next(n for n in (8, 9) if FAMILIES[name].sizes(n))
    f = min(f, 2**n)
    assert lanes(name, n, f, first=300, trials=1500) == single(name, n, f, first=300, trials=1500)


@pytest.mark.kernels
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize(("f", "k"), [(0, 200), (0, 20), (10, 100), (64, 150), (0, 448), (128, 3)])
def test_lanes_and_single_on_the_same_links(name, f, k):
    n = next(n for n in (7, 6, 8) if FAMILIES[name].sizes(n))
    f, k = min(f, 2**n), min(k, FAMILIES[name].links(n))
    assert lanes(name, n, f, k, first=5, trials=1000) == single(name, n, f, k, first=5, trials=1000)


@pytest.mark.parametrize("name", FAMILIES)
def test_sampled_links_are_those_of_the_documented_sampler(name):
    sampler, family = load_documented_sampler(), FAMILIES[name]
    n = next(n for n in (5, 6, 8) if family.sizes(n))
    joined = networks.links(name, n)
    for t, k in ((3, 9), (2**40 + 7, len(joined))):
        ((_, dead, _),) = sample_trials(name, n, 0, k, [t])
        step = functools.partial(networks.step, name, n=n)
        assert set(map(tuple, dead.tolist())) == set(sampler["network_link_set"](KEY, t, n, k, family.slots(n), step))
        named = {networks.link_of(name, v, d, n) for v, d in dead.tolist()}
        assert len(named) == k and named <= joined


@pytest.mark.parametrize("name", FAMILIES)
def test_names_of_links_are_one_each_in_order(name):
    for n in (n for n in range(1, 10) if FAMILIES[name].sizes(n)):
        names = link_names(FAMILIES[name].table(n), n).tolist()
        assert len(names) == FAMILIES[name].links(n) == len({networks.link_of(name, v, d, n) for v, d in names})
        assert names == sorted(names, key=lambda link: link[::-1])


FEW = [
    (4, 4),
    (4, 5),
    (5, 6),
    (5, 9),
    (6, 6),
    (6, 14),
    (7, 8),
    (8, 8),
    (8, 16),
    (9, 9),
    (9, 18),
    (10, 10),
    (10, 40),
    (12, 24),
]


def both_ways(n, f, trials):
    few = tables.SURVIVAL.load_kernel(
        "close_faults.SURVIVAL_CLOSE_FAULTS_8" if n <= 8 else "close_faults.SURVIVAL_CLOSE_FAULTS_16"
    )
    found = count_trials(few, "hypercube", n, f, first=37, trials=trials)
    assert found == count_trials(
        tables.SURVIVAL.load_kernel("lanes.SURVIVAL_NODES"), "hypercube", n, f, first=37, trials=trials
    )


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f"), FEW)
def test_few_faults_both_ways(n, f):
    both_ways(n, f, 3000 if n < 12 else 600)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "f"), [(6, 6), (7, 8), (8, 8), (8, 12), (10, 10), (10, 20)])
def test_a_million_of_few_faults_both_ways(n, f):
    both_ways(n, f, 1_000_000)


def test_the_fastest_kernel_of_few_faults():
    taken = {
        (n, f): tables.SURVIVAL.choose_name("hypercube", n, f, 0) for n, f in ((8, 8), (10, 20), (8, 32), (8, 100))
    }
    assert list(taken.values()) == [
        "close_faults.SURVIVAL_CLOSE_FAULTS_8",
        "close_faults.SURVIVAL_CLOSE_FAULTS_16",
        "lanes.SURVIVAL_NODES",
        "lanes.SURVIVAL_NODES",
    ]
    assert tables.SURVIVAL.choose_name("crossed", 8, 8, 0) == "lanes.SURVIVAL_NODES"
    assert tables.SURVIVAL.choose_name("hypercube", 8, 8, 1) == "lanes.SURVIVAL_LINKS"


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_many_trials_both_ways(name):
    n = next(n for n in (8, 9) if FAMILIES[name].sizes(n))
    for f in (n, 2 * n, 2**n // 3, 2**n // 2):
        assert lanes(name, n, f, trials=100_000) == single(name, n, f, trials=100_000)


MEMORY = """
import re, sys
from pathlib import Path
import fastcube as fc
faults = {"f": 1000, "links": 10**5} if sys.argv[1] == "survival" else {"rate": 0.3, "link_rate": 0.3}
fc.run(sys.argv[1], network="moebius1", n=16, trials=1024, workers=2, **faults)
print(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])  # ru_maxrss would be the parent's at least
"""


@pytest.mark.slow
@pytest.mark.parametrize("study", ["survival", "survival-rate"])
def test_the_largest_networks_take_less_than_a_gibibyte(study):
    """Two workers, compiling and links included: 410 and 430 MB were seen."""
    done = subprocess.run([sys.executable, "-c", MEMORY, study], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 2**20


@pytest.mark.parametrize("cut_off", [1, 2])
def test_a_node_or_a_link_apart_is_seen_before_the_flood(cut_off):
    """In any lane, at any node of Q_9; no such thing is seen where nothing fails."""

    @numba.njit
    def is_seen_connected(alive, n, f):
        return is_surely_connected(alive, n, f)

    random = np.random.default_rng(5)
    for f in range(9 if cut_off == 1 else 16, 3 * 9 - 5):
        alive = np.full(8 * 512, 2**64 - 1, np.uint64)
        assert is_seen_connected(alive, 9, f)
        v, lane = int(random.integers(512)), int(random.integers(512))
        part = {v} if cut_off == 1 else {v, v ^ 1 << int(random.integers(9))}
        for w in {u ^ 1 << d for u in part for d in range(9)} - part:
            alive[8 * w + lane // 64] &= ~np.uint64(1 << lane % 64)
        assert not is_seen_connected(alive, 9, f)


@pytest.mark.kernels
def test_any_split_counts_the_same():
    whole = lanes("crossed", 6, 20, first=100, trials=2000)
    parts = [
        lanes("crossed", 6, 20, first=a, trials=b - a) for a, b in ((100, 101), (101, 512), (512, 1700), (1700, 2100))
    ]
    assert whole == {name: sum(part[name] for part in parts) for name in whole}


def check_rate(name, n, rate, link_rate, trials):
    """So many trials of ``survival-rate`` by the kernel and by the twin, beginning near the end of a group."""
    first, table = 512 - trials // 2, FAMILIES[name].table(n)
    names = link_names(table, n)
    drawn = []
    for t in range(first, first + trials):
        faulty, numbers, ends = replay.sample_survival_rate(np.uint64(KEY), t, n, rate, link_rate, table)
        drawn.append((faulty, names[numbers], ends))
    for t, (faulty, dead, ends) in enumerate(drawn, first):
        nodes, links, *pair = load_documented_sampler()["network_case"](KEY, t, n, rate, link_rate)
        assert faulty.tolist() == nodes, (n, t)
        if FAMILIES[name].is_matched(n):
            assert [tuple(link) for link in dead.tolist()] == sorted(links, key=lambda link: (link[1], link[0])), (n, t)
        elif link_rate >= 1 / 64:
            numbers = load_documented_sampler()["faulty_at_rate"](KEY, t, len(names), link_rate, 11, 12)
            assert dead.tolist() == names[numbers].tolist(), (n, t)
        assert ends.tolist() == (pair if len(nodes) <= 2**n - 2 else []), (n, t)
    kernel = tables.SURVIVAL_RATE.kernel(name, n, rate, link_rate)
    found = count_trials(kernel, name, n, rate, link_rate, first=first, trials=trials)
    assert found == expected(name, n, drawn), (name, n)


@pytest.mark.kernels
@pytest.mark.parametrize("rate", [0.0, 0.01, 0.015625, 0.1, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("link_rate", [0.0, 0.012, 0.25, 0.3, 1.0])
def test_rates_on_the_twins_trials(rate, link_rate):
    for name, n in (("moebius1", 3), ("hypercube", 5), ("crossed", 7)):
        check_rate(name, n, rate, link_rate, 8)


@pytest.mark.kernels
def test_rates_of_nine_dimensions_on_the_twins_trials():
    """Fields of 16 bits, and nodes of which few have lanes left after two sweeps."""
    for name in ("hypercube", "crossed"):
        check_rate(name, 9, 0.62, 0.0, 6)


@pytest.mark.kernels
@pytest.mark.parametrize("name", FAMILIES)
def test_rates_of_every_network_on_the_twins_trials(name):
    for n in (n for n in range(1, 9) if FAMILIES[name].sizes(n)):
        for rate in (0.1, 0.5):
            check_rate(name, n, rate, 0.0, 6)
        for link_rate in (0.4, 0.01):
            check_rate(name, n, 0.1, link_rate, 6)


# ---------------------------------------------------------------- exact counts


@pytest.mark.kernels
@pytest.mark.parametrize(("name", "n"), [(name, int(n)) for name, sizes in EXACT.items() for n in sizes])
def test_counts_beside_exact_ones(name, n):
    known = EXACT[name][str(n)]
    cube = EXACT["hypercube"][str(n)]
    trials = 20_000
    for f, connected in enumerate(known["connected_by_faulty_nodes"]):
        found = lanes(name, n, f, trials=trials)
        assert agrees(found["connected"], trials, Fraction(connected, comb(2**n, f)))
        assert agrees(found["cube_connected"], trials, Fraction(cube["connected_by_faulty_nodes"][f], comb(2**n, f)))
    if "connected_by_faulty_links" in known:
        for k in range(1, known["links"] + 1, 3):
            found = lanes(name, n, 0, k, trials=trials)
            p = Fraction(known["connected_by_faulty_links"][k], comb(known["links"], k))
            assert agrees(found["connected"], trials, p)


@pytest.mark.kernels
def test_the_hypercube_counts_the_same_at_every_network():
    for n, f in ((8, 40), (9, 60)):
        cubes = {
            tuple(value for name, value in lanes(name, n, f, trials=3000).items() if name.startswith("cube_"))
            for name, family in FAMILIES.items()
            if family.sizes(n)
        }
        assert len(cubes) == 1


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f"), [(5, 5), (5, 7), (6, 9), (8, 12)])
def test_few_faults_in_the_hypercube(n, f):
    """Below 2n - 2 faults exactly N C(N-1-n, f-n) / C(N, f) of the fault sets disconnect, each by one isolated node (N11)."""
    nodes, trials = 2**n, 300_000
    found = lanes("hypercube", n, f, trials=trials)
    disconnected = Fraction(nodes * comb(nodes - 1 - n, f - n), comb(nodes, f))
    assert agrees(trials - found["connected"], trials, disconnected)
    assert found["no_isolated_node"] == found["connected"] and found["extra_1"] == 0


# ---------------------------------------------------------------- parts


#: With a matching in each dimension, without, and with a parameter.
QUICK = {"crossed", "augmented", "enhanced-2"}


def check_sizes(name, sizes):
    """``survival-components`` at these n, faulty links at some of the points."""
    for n, f in (p for p in points(name, max(sizes)) if p[0] in sizes):
        k = FAMILIES[name].links(n) // 5 if f % 3 == 1 else 0
        check_parts(name, n, f, k, 200, 6)


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in FAMILIES])
def test_parts_on_the_twins_trials(name):
    smallest = next(n for n in range(3, 8) if FAMILIES[name].sizes(n))
    check_sizes(name, range(3, max(5, smallest) + 1))


@pytest.mark.kernels
@pytest.mark.parametrize("name", FAMILIES)
def test_parts_of_the_largest_twins(name):
    check_sizes(name, [6, 7, 8])


@pytest.mark.kernels
def test_tables_of_networks_of_all_slots():
    assert list(SLOTS) == list(FAMILIES)
    for name, family in FAMILIES.items():
        for n in (n for n in range(1, 17) if family.sizes(n)):
            assert family.slots(n) == networks.slots(name, n)
