"""The kernels of multicasts, dependencies and deadlocks: against the twins, the one-instance functions and the recipe."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import numpy as np
import pytest
from helpers.compiled import mark_others_slow
from helpers.documented import load_documented_sampler
from helpers.multicast_trials import KEY, check_graphs, check_multicasts, check_simulations, count_trials
from reference import multicasting as twin
from reference import partition as plain
from reference import wormhole as worm

import fastcube as fc
from fastcube.kernels.machine.jit import kernel
from fastcube.kernels.multicasting.layout import MULTICAST
from fastcube.kernels.multicasting.replay import sample_multicasts
from fastcube.kernels.multicasting.scalar import MULTICAST_SINGLE, count_separate_channels, multicast_costs
from fastcube.kernels.multicasting.supercube import (
    Cut,
    set_faults,
    set_wanted,
    supercube_for,
    supernode_label,
    supernode_place,
)
from fastcube.kernels.wormhole.dependencies import build_graph, dependency_graph_for
from fastcube.kernels.wormhole.layout import MULTICAST_WORMHOLE
from fastcube.kernels.wormhole.replay import has_dependency_cycle
from fastcube.kernels.wormhole.scalar import (
    MULTICAST_WORMHOLE_SINGLE,
    has_deadlock_in_groups,
    set_up_wormhole,
)

PATHS = ("shortcut", "hamilton")
DOCS = Path(__file__).resolve().parents[2] / "docs"


def labels(values):
    return np.array(sorted(values), np.uint64)


# ---------------------------------------------------------------- the recipe draws the same nodes


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("n", "f", "destinations"), [(3, 0, 1), (3, 2, 5), (4, 4, 6), (8, 8, 200), (9, 3, 20), (10, 8, 512), (17, 3, 40)]
)
def test_multicasts_are_those_of_the_recipe(n, f, destinations):
    for t in (0, 1, 12345, 2**40 + 7):
        faults, (s,), (nodes,) = sample_multicasts(KEY, t, n, f, 1, destinations)
        assert (faults, s, nodes) == load_documented_sampler()["multicast_case"](KEY, t, n, f, destinations)


@pytest.mark.kernels
@pytest.mark.parametrize(
    ("n", "f", "senders", "destinations"), [(3, 2, 4, 5), (4, 0, 16, 8), (5, 4, 8, 1), (8, 7, 64, 3)]
)
def test_sets_of_multicasts_are_those_of_the_recipe(n, f, senders, destinations):
    for t in (0, 3, 54321):
        faults, sources, parts = sample_multicasts(KEY, t, n, f, senders, destinations)
        assert (faults, list(zip(sources, parts, strict=True))) == load_documented_sampler()["wormhole_case"](
            KEY, t, n, f, senders, destinations
        )


# ---------------------------------------------------------------- channels


@kernel("UniTuple(int64, 4)(uint64[::1], int64, uint64, uint64[::1], int64, int64, int64)")
def count_channels(faulty, n, s, nodes, lo, hi, hamilton):
    """N, detours, depth and the sum of N one by one of a given multicast; the pair must be fault-tolerant."""
    net = supercube_for(n)
    cut = Cut(n, lo, hi)
    set_faults(net, faulty, cut)
    set_wanted(net, nodes, cut)
    a = supernode_label(s, cut)
    q = supernode_place(s, cut)
    costs = multicast_costs(net, a, q, hamilton != 0)
    separate = np.int64(0)
    for v in nodes:
        separate += count_separate_channels(net, a, q, supernode_label(v, cut), supernode_place(v, cut))
    return costs.channels, costs.detours, costs.depth, separate


def check(n, faults, s, destinations, pair, path, net):
    wanted = twin.multicast(n, faults, s, destinations, *pair, path, net)
    found = count_channels(labels(faults), n, np.uint64(s), labels(destinations), *pair, PATHS.index(path))
    assert found[:3] == (len(wanted.channels), wanted.detours, wanted.depth), (faults, s, destinations, pair)
    assert found[0] <= 2**n - 1
    return found


@pytest.mark.kernels
@pytest.mark.parametrize("f", [0, 1, pytest.param(2, marks=pytest.mark.exhaustive)])
def test_every_multicast_of_q3(f):
    for faults in itertools.combinations(range(8), f):
        nonfaulty = [v for v in range(8) if v not in faults]
        for pair in itertools.combinations(range(3), 2):
            if not plain.is_fault_tolerant(3, faults, *pair):
                continue
            net = twin.Supercube(3, faults, *pair)
            for s in nonfaulty:
                others = [v for v in nonfaulty if v != s]
                for size in range(1, len(others) + 1):
                    for destinations in itertools.combinations(others, size):
                        for path in PATHS:
                            check(3, faults, s, destinations, pair, path, net)


def check_random(cases):
    rng = random.Random(4)
    for n, many in cases.items():
        for _ in range(many):
            faults = rng.sample(range(2**n), rng.randrange(n))
            pair = plain.exhaustive(n, faults)
            net = twin.Supercube(n, faults, *pair)
            nonfaulty = [v for v in range(2**n) if v not in faults]
            s, *destinations = rng.sample(nonfaulty, rng.randrange(2, min(len(nonfaulty), 40)))
            path = rng.choice(PATHS)
            found = check(n, faults, s, destinations, pair, path, net)
            if path == "shortcut" and n < 6:
                alone = sum(len(twin.multicast(n, faults, s, [d], *pair, path, net).channels) for d in destinations)
                assert found[3] == alone


@pytest.mark.kernels
def test_random_multicasts():
    check_random(dict.fromkeys((4, 5, 6, 7, 8), 60))


@pytest.mark.exhaustive
def test_a_hundred_thousand_random_multicasts():
    check_random({4: 40_000, 5: 40_000, 6: 18_000, 7: 1_500, 8: 500, 10: 1_000})


@pytest.mark.parametrize(
    ("n", "f", "destinations"), mark_others_slow([(3, 2, 3), (4, 4, 3), (5, 6, 20), (7, 6, 12), (10, 8, 30)], default=4)
)
def test_trials_count_what_one_multicast_does(n, f, destinations):
    check_multicasts(n, f, destinations, 3, 28)


@pytest.mark.kernels
def test_the_hamilton_path_is_walked_up_to_n_14():
    for n, walked in ((14, True), (15, False), (20, False)):
        counts, _ = count_trials(MULTICAST_SINGLE, MULTICAST, (n, 2, 5), 0, 20)
        assert (counts["hamilton"] > 0) == walked
        assert counts["partition_exists"] == 20


# ---------------------------------------------------------------- dependencies


def check_cycles(n, faults, pair):
    net = twin.Supercube(n, faults, *pair)
    for copies, unicast in itertools.product((1, 2), (False, True)):
        wanted = worm.has_cycle(worm.dependency_arcs(net, copies, unicast))
        assert has_dependency_cycle(labels(faults), n, *pair, int(unicast), copies) == wanted, (
            faults,
            pair,
            copies,
            unicast,
        )


@kernel("int64[:, ::1](uint64[::1], int64, int64, int64, int64, int64)")
def list_arcs(faulty, n, lo, hi, unicast, copies):
    """The arcs of a given supercube's graph as rows (channel, channel that it waits for), some more than once."""
    net, graph = supercube_for(n), dependency_graph_for(n)
    set_faults(net, faulty, Cut(n, lo, hi))
    build_graph(graph, net, n, unicast != 0, copies)
    out = np.empty((graph.arc_count[0], 2), np.int64)
    for c in range(graph.last_arcs.size):
        arc = graph.last_arcs[c]
        while arc >= 0:
            out[arc, 0] = c
            out[arc, 1] = graph.requested[arc]
            arc = graph.earlier_arcs[arc]
    return out


def channels_by_number(net, copies):
    """The kernel's channels by their numbers."""
    n, out = net.n, {}
    for v in range(2**n):
        at = net.label(v) << 2 | (v >> net.lo & 1) | (v >> net.hi & 1) << 1
        for j, i in enumerate((net.lo, net.hi, *net.external)):
            ends = (v, v ^ 1 << i)
            out[n * at + j] = ends if copies == 1 else (*ends, 0)
            if j < 2:
                out[(n << n) + 2 * at + j] = (*ends, 1)
    return out


@pytest.mark.kernels
def test_graphs_are_those_of_the_twin_arc_for_arc():
    rng = random.Random(8)
    for n, f in ((3, 0), (3, 1), (3, 2), (3, 2), (4, 2), (4, 3), (4, 4)):
        faults = rng.sample(range(2**n), f)
        pairs = [p for p in itertools.combinations(range(n), 2) if plain.is_fault_tolerant(n, faults, *p)]
        for pair in pairs[:2]:
            net = twin.Supercube(n, faults, *pair)
            for copies, unicast in itertools.product((1, 2), (False, True)):
                named = channels_by_number(net, copies)
                rows = list_arcs(labels(faults), n, *pair, int(unicast), copies).tolist()
                assert {(named[c], named[d]) for c, d in rows} == worm.dependency_arcs(net, copies, unicast)


@pytest.mark.kernels
def test_cycles_are_those_of_the_twin():
    for f in (0, 1, 2):
        for faults in itertools.combinations(range(8), f):
            for pair in itertools.combinations(range(3), 2):
                if plain.is_fault_tolerant(3, faults, *pair):
                    check_cycles(3, faults, pair)
    rng = random.Random(5)
    for _ in range(15):
        faults = rng.sample(range(16), rng.randrange(5))
        pair = plain.exhaustive(4, faults)
        if pair is not None:
            check_cycles(4, faults, pair)


@pytest.mark.parametrize(("n", "f"), mark_others_slow([(3, 1), (4, 3), (5, 4), (6, 6)], default=3))
def test_trials_count_what_one_graph_shows(n, f):
    check_graphs(n, f, 5, 30)


# ---------------------------------------------------------------- deadlocks


@kernel("int64(uint64[::1], int64, int64, int64, uint64[::1], uint64[:, ::1], int64)")
def stops_with(faulty, n, lo, hi, sources, nodes, copies):
    """Whether given multicasts, each with as many destinations, stop: 0 or 1.  The pair must be fault-tolerant."""
    many = nodes.shape[1]
    scratch = set_up_wormhole(np.array([n, faulty.size, sources.size, many], np.float64))
    set_faults(scratch.net, faulty, Cut(n, lo, hi))
    scratch.ends.sources[:] = sources
    scratch.ends.destinations[:, :many] = nodes
    return np.int64(has_deadlock_in_groups(scratch, Cut(n, lo, hi), many, many, copies))


@pytest.mark.slow
def test_random_sets_of_multicasts_stop_as_in_the_simulation():
    rng = random.Random(6)
    stopped = 0
    for _ in range(250):
        n = rng.randrange(3, 6)
        faults = rng.sample(range(2**n), rng.randrange(n))
        pair = plain.exhaustive(n, faults)
        nonfaulty = [v for v in range(2**n) if v not in faults]
        size = rng.randrange(1, len(nonfaulty) // 2)
        sources = rng.sample(nonfaulty, rng.randrange(2, len(nonfaulty)))
        nodes = [rng.sample([v for v in nonfaulty if v != s], size) for s in sources]
        for copies in (1, 2):
            messages = list(zip(sources, nodes, strict=True))
            w = fc.simulate_wormhole(fc.Hypercube(n, faults), messages, pair, copies)
            senders, rows = np.array(sources, np.uint64), np.array(nodes, np.uint64)
            assert w.deadlocked == stops_with(labels(faults), n, *pair, senders, rows, copies)
            stopped += w.deadlocked
    assert stopped > 20


@pytest.mark.parametrize(
    ("n", "f", "senders", "destinations"),
    mark_others_slow([(3, 2, 4, 4), (4, 3, 8, 1), (4, 0, 8, 4), (5, 4, 16, 8)], default=3),
)
def test_trials_count_what_one_simulation_shows(n, f, senders, destinations):
    check_simulations((n, f, senders, destinations), 5, 25)


@pytest.mark.kernels
@pytest.mark.parametrize("n", [7, 8])
def test_room_for_the_largest_trials(n):
    counts, _ = count_trials(MULTICAST_WORMHOLE_SINGLE, MULTICAST_WORMHOLE, (n, n - 1, 64, 2**n - n), 0, 2)
    assert counts["partition_exists"] == 2
    assert counts["deadlock_separate"] == 0
