"""Trials of spanning trees by kernel, and by the plain reference."""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter

from reference import spanning as twin

import fastcube as fc
from fastcube.algorithms.spanning_flows import NonfaultyGraph, max_flow
from fastcube.kernels.spanning.layout import MOST_DIMENSIONS
from fastcube.kernels.spanning.replay import sample_edst_broadcast
from fastcube.measure import registry
from fastcube.studies.sui_wang_lee.edmonds import trial_cube

BROADCAST_STUDY = registry.study("edst-broadcast")


NUMBER_STUDY = registry.study("edge-disjoint-trees")

#: Trials (key, t, n, d) of ``edst-broadcast`` whose ends are compared with the recipe.
END_TRIALS = [
    (0x5EED0123456789AB, t, n, d)
    for n, d, t in itertools.product((2, 3, 7, 12), (0, 1, 2, 5, 12), (0, 1, 2**33 + 5))
    if d <= n
]


def list_ends():
    """The source and the faulty node of each of these trials, by the kernel; a tally does not depend on them."""
    return [sample_edst_broadcast(*trial) for trial in END_TRIALS]


def count_flows(cube):
    """How many flows it takes to know lambda, by the same rules on Python integers."""
    graph, flows = NonfaultyGraph(cube), 0
    best = graph.min_degree
    core = graph._find_core() if best else graph.nodes
    while True:
        core = graph._grow_core(core, best)
        rest = graph.nodes & ~core
        beside = rest & graph.find_neighbours(core)
        if rest.bit_count() < 1 << graph.min_degree or not beside:
            return flows
        target = beside & -beside
        best = min(best, max_flow(graph, graph.links, core, target.bit_length() - 1, best).paths)
        core |= target
        flows += 1


def check_numbers(point, first, trials):
    """Trials of ``edge-disjoint-trees`` by the kernel and by the twin, flows included."""
    n, f, links = point.values()
    key = study_key(NUMBER_STUDY, point)
    known = functools.cache(lambda nodes, faulty: twin.number(n, nodes, faulty))
    pairs, flows = [], 0
    for t in range(first, first + trials):
        cube = trial_cube(key, t, point)
        assert len(cube.faulty_nodes) == f and len(cube.faulty_links) == links
        pairs.append(known(frozenset(cube.faulty_nodes), frozenset(cube.faulty_links)))
        flows += count_flows(cube) if 2**n - f > 1 else 0
    tally = NUMBER_STUDY.count(point, trials, first=first)
    wanted = {f"trees_{k}": sum(trees == k for trees, _ in pairs) for k in range(MOST_DIMENSIONS + 1)}
    wanted |= {
        "trees": sum(trees for trees, _ in pairs),
        "trees_squared": sum(trees**2 for trees, _ in pairs),
        "degree": sum(degree for _, degree in pairs),
        "degree_squared": sum(degree**2 for _, degree in pairs),
        "connected": sum(trees > 0 for trees, _ in pairs),
        "linked": sum(degree > 0 for _, degree in pairs),
        "isolated_node": sum(degree == 0 for _, degree in pairs),
        "packing_equals_min_degree": sum(trees == degree for trees, degree in pairs),
        "packing_equals_min_degree_connected": sum(trees == degree > 0 for trees, degree in pairs),
        "gap": sum(degree - trees for trees, degree in pairs),
        "flows": flows,
    }
    assert tally.counts == wanted
    gaps = [degree - trees for trees, degree in pairs]
    assert tally.maxima["largest_gap"] == (max(gaps), first + gaps.index(max(gaps)))


def study_key(study, point, seed=0):
    return study.key(seed, point)


def check_packets(point, first, trials):
    """Trials of ``edst-broadcast`` by the kernel and by the functions of one broadcast, and the twin's bound."""
    n, d, packets = point.values()

    @functools.cache
    def reference_steps(s, f):
        cube = fc.Hypercube(n, [f] if d else [])
        steps = fc.broadcast_packets(cube, s, packets)
        single = fc.broadcast_packets(cube, s, packets, trees="bfs" if d else "binomial")
        bound = twin.fewest_steps(n, s, packets, cube.faulty_nodes)
        assert bound <= steps
        return steps, single, bound

    tally = BROADCAST_STUDY.count(point, trials, first=first)
    wanted = Counter(broken=0)
    most = []
    for t in range(first, first + trials):
        values = reference_steps(
            *sample_edst_broadcast(study_key(BROADCAST_STUDY, point), t, n, d)
        )  # no fault at d = 0: None
        for name, value in zip(("steps", "single", "lower_bound"), values, strict=True):
            wanted[name] += value
            wanted[f"{name}_squared"] += value**2
        wanted["matches_theorem_2"] += values[0] == math.ceil(packets / (n - 1 if d else n)) + n
        most.append(values[0])
    assert tally.counts == wanted
    assert tally.maxima["most_steps"] == (max(most), first + most.index(max(most)))
