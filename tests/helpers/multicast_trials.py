"""Trials of multicasts by kernel, and by the plain reference."""

from __future__ import annotations

import itertools

import numpy as np

import fastcube as fc
from fastcube.kernels.multicasting.layout import MULTICAST
from fastcube.kernels.multicasting.scalar import MULTICAST_SINGLE
from fastcube.kernels.multicasting.supercube import Cut, set_faults, supercube_for
from fastcube.kernels.tally.layout import Layout
from fastcube.kernels.wormhole.dependencies import build_graph, dependency_graph_for
from fastcube.kernels.wormhole.layout import MULTICAST_DEADLOCK, MULTICAST_WORMHOLE
from fastcube.kernels.wormhole.scalar import MULTICAST_DEADLOCK_SINGLE, MULTICAST_WORMHOLE_SINGLE
from helpers.documented import load_documented_sampler

KEY = 0x5EED0123456789AB


def count_trials(kernel, layout: Layout, point, first, stop):
    slots = layout.new_tally()
    kernel(np.uint64(KEY), first, stop, np.array(point, np.float64), slots)
    return layout.read(slots)


def list_dependencies():
    """The arcs of the dependency graphs of a fault set of Q_5, by the kernel; a tally depends on the few arcs in cycles.

    Node 4 has the faulty neighbours 5 and 20, so that it detours over node 6.
    """
    n, faults = 5, np.array([0b00011, 0b00101, 0b01011, 0b10100, 0b11110], np.uint64)
    net, graph, found = supercube_for(n), dependency_graph_for(n), []
    set_faults(net, faults, Cut(n, 0, 1))
    for virtual_channels, unicast in itertools.product((1, 2), (False, True)):
        build_graph(graph, net, n, unicast, virtual_channels)
        count = graph.arc_count[0]
        found.append([a.tolist() for a in (graph.last_arcs, graph.earlier_arcs[:count], graph.requested[:count])])
    return found


def check_multicasts(n, f, destinations, first, stop):
    """Trials of ``multicast`` by the kernel and by the functions of one multicast, which other tests hold to the twin."""
    wanted = dict.fromkeys((c.name for c in MULTICAST.counters), 0)
    most = (-1, -1)
    for t in range(first, stop):
        faults, s, nodes = load_documented_sampler()["multicast_case"](KEY, t, n, f, destinations)
        cube = fc.Hypercube(n, faults)
        pair = fc.two_partition(cube, exhaustive=True)
        if pair is None:
            continue
        m = fc.multicast(cube, s, nodes, pair)
        values = {
            "channels": m.N,
            "hamilton": fc.multicast(cube, s, nodes, pair, "hamilton").N,
            "free": fc.multicast(fc.Hypercube(n), s, nodes).N,
            "depth": m.depth,
            "detours": m.detours,
            "separate": sum(fc.multicast(cube, s, [d], pair).N for d in nodes),
        }
        for name, value in values.items():
            wanted[name] += value
            wanted[f"{name}_{name}"] += value**2
        wanted["channels_free"] += values["channels"] * values["free"]
        wanted["partition_exists"] += 1
        wanted["detoured"] += m.detours > 0
        most = max(most, (m.N, -t))
    counts, maxima = count_trials(MULTICAST_SINGLE, MULTICAST, (n, f, destinations), first, stop)
    assert counts == wanted
    assert maxima == {"most_channels": (most[0], abs(most[1]))}


def check_graphs(n, f, first, stop):
    """Trials of ``multicast-deadlock`` by the kernel and by the functions of one graph."""
    wanted = dict.fromkeys((c.name for c in MULTICAST_DEADLOCK.counters), 0)
    for t in range(first, stop):
        cube = fc.Hypercube(n, load_documented_sampler()["fault_set"](KEY, t, n, f))
        if fc.two_partition(cube, exhaustive=True) is None:
            continue
        wanted["partition_exists"] += 1
        wanted["cyclic"] += fc.dependency_cycle(cube) is not None
        wanted["cyclic_unicast"] += fc.dependency_cycle(cube, unicast=True) is not None
        wanted["cyclic_two_channels"] += fc.dependency_cycle(cube, virtual_channels=2) is not None
    assert count_trials(MULTICAST_DEADLOCK_SINGLE, MULTICAST_DEADLOCK, (n, f), first, stop)[0] == wanted


def check_simulations(point, first, stop):
    """Trials of ``multicast-wormhole`` by the kernel and by the functions of one simulation."""
    n, f, senders, destinations = point
    wanted = dict.fromkeys((c.name for c in MULTICAST_WORMHOLE.counters), 0)
    for t in range(first, stop):
        faults, messages = load_documented_sampler()["wormhole_case"](KEY, t, n, f, senders, destinations)
        cube = fc.Hypercube(n, faults)
        pair = fc.two_partition(cube, exhaustive=True)
        if pair is None:
            continue
        alone = [(s, [d]) for s, nodes in messages for d in nodes]
        wanted["partition_exists"] += 1
        wanted["deadlock"] += fc.simulate_wormhole(cube, messages, pair).deadlocked
        wanted["deadlock_two_channels"] += fc.simulate_wormhole(cube, messages, pair, 2).deadlocked
        wanted["deadlock_separate"] += fc.simulate_wormhole(cube, alone, pair, 2).deadlocked
    assert count_trials(MULTICAST_WORMHOLE_SINGLE, MULTICAST_WORMHOLE, point, first, stop)[0] == wanted
