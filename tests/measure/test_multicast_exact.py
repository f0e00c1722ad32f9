"""The studies of Wang, Lin & Kuo agree with the exact values at level 1e-6."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction

import numba
import pytest
from reference import multicasting, wormhole
from reference import partition as plain
from scipy.special import bdtr, bdtrc

import fastcube as fc
from fastcube.measure import registry
from fastcube.measure.statistics import Proportion

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="millions of trials need compiled code")

LEVEL = 1e-6
SEED = 20240607


def check_probability(study, tally, name, wanted):
    statistic = study.statistic(name)
    assert isinstance(statistic, Proportion)
    among = statistic.trials(tally.counts, tally.trials)
    events = tally.counts[statistic.events]
    if wanted is None:
        assert among == 0
        return
    p = float(wanted)
    assert bdtr(events, among, p) > LEVEL / 2, (name, events, among, p)
    assert events == 0 or bdtrc(events - 1, among, p) > LEVEL / 2, (name, events, among, p)


# ---------------------------------------------------------------- two-partition


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("n", "f"),
    [
        *((n, f) for n in (2, 3, 4, 5) for f in range(2 ** (n - 2) + 1)),
        *((6, f) for f in range(7)),
        pytest.param(6, 7, marks=pytest.mark.exhaustive),
    ],
)
def test_searches_succeed_as_often_as_they_must(n, f):
    study = registry.study("two-partition")
    tally = study.count({"n": n, "f": f}, 300_000, SEED)
    for name, wanted in study.exact({"n": n, "f": f}).items():
        check_probability(study, tally, name, wanted)


# ---------------------------------------------------------------- multicast


def check_mean(tally, total, squares, wanted, most):
    """Bernstein, with the variance estimated from very many trials."""
    trials = tally.counts["partition_exists"]
    mean = tally.counts[total] / trials
    variance = tally.counts[squares] / trials - mean**2
    a = math.log(2 / LEVEL) / trials
    error = a * most / 3 + math.sqrt((a * most / 3) ** 2 + 2 * a * variance)
    assert abs(mean - float(wanted)) <= error, (total, mean, float(wanted), error)


#: Most multicasts that are enumerated, a few seconds.
MOST = 100_000


def every_multicast(n, f, destinations):
    """The study's statistics over all fault sets, sources and destination sets, by the functions of one multicast."""
    counts = dict.fromkeys(("partition_exists", "channels", "hamilton", "free", "depth", "detours", "separate"), 0)
    for faults in itertools.combinations(range(2**n), f):
        cube = fc.Hypercube(n, faults)
        pair = fc.two_partition(cube, exhaustive=True)
        if pair is None:
            continue
        nonfaulty = [v for v in range(2**n) if v not in faults]
        for s in nonfaulty:
            others = [v for v in nonfaulty if v != s]
            alone = {d: fc.multicast(cube, s, [d], pair).N for d in others}
            for wanted in itertools.combinations(others, destinations):
                m = fc.multicast(cube, s, wanted, pair)
                counts["partition_exists"] += 1
                counts["channels"] += m.N
                counts["hamilton"] += fc.multicast(cube, s, wanted, pair, "hamilton").N
                counts["free"] += without_faults(n, s, wanted).N
                counts["depth"] += m.depth
                counts["detours"] += m.detours
                counts["separate"] += sum(alone[d] for d in wanted)
    every = math.comb(2**n, f) * (2**n - f) * math.comb(2**n - f - 1, destinations)
    point = {"n": n, "f": f, "destinations": destinations}
    return {s.name: s.exact(counts, every, point) for s in registry.study("multicast").statistics}


@functools.lru_cache(2**16)
def without_faults(n, s, wanted):
    return fc.multicast(fc.Hypercube(n), s, wanted)


# Points of Q_4 that can be enumerated, and the points tried by default.
AFFORDABLE = [
    (4, f, d) for f in range(5) for d in range(1, 16 - f) if math.comb(16, f) * (16 - f) * math.comb(15 - f, d) <= MOST
]
QUICK = [(4, 0, 1), (4, 0, 3), (4, 1, 1), (4, 2, 1)]


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("n", "f", "destinations"),
    [
        *((3, f, d) for f in (0, 1, 2) for d in range(1, 8 - f)),
        *(pytest.param(*point, marks=() if point in QUICK else pytest.mark.exhaustive) for point in AFFORDABLE),
    ],
)
def test_multicasts_take_as_many_channels_as_they_must(n, f, destinations):
    study = registry.study("multicast")
    exact = every_multicast(n, f, destinations)
    tally = study.count({"n": n, "f": f, "destinations": destinations}, 100_000, SEED)
    check_probability(study, tally, "partition_exists", exact["partition_exists"])
    most = 2**n - 1
    check_mean(tally, "channels", "channels_channels", exact["channels"], most)
    check_mean(tally, "hamilton", "hamilton_hamilton", exact["channels_hamilton"], most)
    check_mean(tally, "free", "free_free", exact["channels"] / exact["channels_over_fault_free"], most)
    check_mean(tally, "depth", "depth_depth", exact["depth"], most)
    check_mean(tally, "detours", "detours_detours", exact["detours"], most)
    check_mean(tally, "separate", "separate_separate", exact["channels_separate"], most * destinations)


def test_exact_means_of_the_twin():
    total = many = 0
    for fault in range(8):
        pair = plain.exhaustive(3, [fault])
        net = multicasting.Supercube(3, [fault], *pair)
        nonfaulty = [v for v in range(8) if v != fault]
        for s in nonfaulty:
            for wanted in itertools.combinations([v for v in nonfaulty if v != s], 2):
                total += len(multicasting.multicast(3, [fault], s, wanted, *pair, net=net).channels)
                many += 1
    assert every_multicast(3, 1, 2)["channels"] == Fraction(total, many)


# ---------------------------------------------------------------- multicast-deadlock


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "f"), [(3, 0), (3, 1), (3, 2), (4, 0), (4, 1), (4, 2), (4, 3), (4, 4)])
def test_graphs_have_cycles_as_often_as_they_must(n, f):
    study = registry.study("multicast-deadlock")
    tally = study.count({"n": n, "f": f}, 50_000, SEED)
    for name, wanted in study.exact({"n": n, "f": f}).items():
        check_probability(study, tally, name, wanted)


@pytest.mark.kernels
def test_counts_of_cyclic_fault_sets_are_those_of_the_twin():
    for f in (0, 1, 2):
        wanted = {"partition_exists": 0, "cyclic": 0, "cyclic_unicast": 0, "cyclic_two_channels": 0}
        for faults in itertools.combinations(range(8), f):
            pair = plain.exhaustive(3, faults)
            if pair is None:
                continue
            net = multicasting.Supercube(3, faults, *pair)
            wanted["partition_exists"] += 1
            wanted["cyclic"] += wormhole.has_cycle(wormhole.dependency_arcs(net))
            wanted["cyclic_unicast"] += wormhole.has_cycle(wormhole.dependency_arcs(net, 1, True))
            wanted["cyclic_two_channels"] += wormhole.has_cycle(wormhole.dependency_arcs(net, 2))
        assert registry.study("multicast-deadlock").enumeration({"n": 3, "f": f}).counts == wanted


# ---------------------------------------------------------------- bad input

BAD = [
    ("two-partition", {"n": 7, "f": 1}, "n must be in [2, 6] for exact values, got 7"),
    ("two-partition", {"n": 6, "f": 9}, "f must be in [0, 7] for exact values at n=6"),
    (
        "multicast",
        {"n": 3, "f": 0, "destinations": 1},
        "study must be one with an enumeration for exact values, got multicast",
    ),
    ("multicast-deadlock", {"n": 6, "f": 1}, "n must be in [3, 5] for exact values, got 6"),
]


@pytest.mark.parametrize(("study", "point", "message"), BAD)
def test_bad_input(study, point, message):
    with pytest.raises(fc.ParameterError) as caught:
        registry.study(study).exact(point)
    assert str(caught.value).startswith(message)
