"""Trials of survival-curve by kernel, and by NetworkX on the documented order of failures."""

from __future__ import annotations

from collections import Counter
from math import comb

import networkx as nx
import numpy as np
from reference import networks

from fastcube.kernels.cube.slots import SLOTS
from fastcube.kernels.survival import dispatch
from fastcube.kernels.survival.layout import CURVE, HITTING, LIFETIME_UNIT
from helpers.documented import load_documented_sampler

KEY = 0x5EED0123456789AB

#: Networks whose links have the hypercube's names.
MATCHED = ("crossed", "locally-twisted", "moebius0", "moebius1", "twisted")


def count_curve(kernel, name, what, n, failed, trials, first=0, key=KEY):
    """The counters at each number of failures."""
    params = np.array([list(SLOTS).index(name), what == "links", n, *failed], np.float64)
    slots = CURVE.new_tally(len(failed))
    kernel.compiled(np.uint64(key), np.int64(first), np.int64(first + trials), params, slots)
    return [CURVE.read(row)[0] for row in slots.reshape(len(failed), -1)]


def make_order(name, what, n, t, key=KEY):
    """The components of a network in the order in which they fail in a trial: nodes, or pairs of nodes."""
    slots = [(v, d, networks.step(name, v, d, n)) for d in range(networks.slots(name, n)) for v in range(2**n)]
    if what == "nodes":
        components = list(range(2**n))
    elif networks.slots(name, n) == n and all((v ^ w) >> d & 1 for v, d, w in slots):
        components = [(v, w) for v, d, w in slots if not v >> d & 1]
    else:
        components = [(v, w) for v, _, w in slots if v < w]
    order = load_documented_sampler()["failure_order"](key, t, len(components), 20 if what == "nodes" else 21)
    return [components[i] for i in order]


def reference_counts(name, what, n, order, failed):
    """The counters of one trial, its first ``failed`` components failed."""
    graph = nx.Graph(map(tuple, networks.links(name, n)))
    graph.add_nodes_from(range(2**n))
    if what == "nodes":
        graph.remove_nodes_from(order[:failed])
    else:
        graph.remove_edges_from(order[:failed])
    sizes = sorted(map(len, nx.connected_components(graph)), reverse=True)
    isolated = nx.number_of_isolates(graph)
    largest, second = [*sizes, 0, 0][:2]
    others = sum(size**2 for size in sizes[1:])
    joined = sum(comb(size, 2) for size in sizes)
    return {
        "connected": len(sizes) == 1,
        "disconnected": len(sizes) > 1,
        "no_isolated_node": isolated == 0,
        "extra_1": len(sizes) > 1 and isolated == 0,
        "largest": largest,
        "largest_squares": largest**2,
        "some": largest > 0,
        "second": second,
        "second_squares": second**2,
        "others": others,
        "others_squares": others**2,
        "connected_pairs": joined,
        "connected_pairs_squares": joined**2,
    }


def check_curve(name, what, n, step, first, trials):
    """So many trials by the kernel and by NetworkX, at every ``step``-th number of failures."""
    orders = [make_order(name, what, n, t) for t in range(first, first + trials)]
    failed = list(range(0, len(orders[0]) + 1, step))
    kernel = dispatch.CURVE.kernel(name, what, n, 0)
    for f, found in zip(failed, count_curve(kernel, name, what, n, failed, trials, first), strict=True):
        expected = Counter()
        for order in orders:
            expected.update(reference_counts(name, what, n, order, f))
        assert found == dict(expected), (name, what, n, f)


def find_moments(name, what, n, order):
    """The least numbers of failures that disconnect, and that isolate one of several survivors; None where none does."""
    states = [reference_counts(name, what, n, order, f) for f in range(len(order) + 1)]
    disconnected_at = next((f for f, state in enumerate(states) if state["disconnected"]), None)
    isolated_at = next(
        (f for f, state in enumerate(states) if state["disconnected"] and not state["no_isolated_node"]), None
    )
    return disconnected_at, isolated_at


def lifetime(moment, many):
    """The expected time of the failure with this number, the components failing at rate 1 each (N6)."""
    return sum(1 / (many - i) for i in range(many if moment is None else moment))


def check_hitting(name, what, n, first, trials):
    """So many trials of ``hitting`` by the kernel and by NetworkX."""
    params = np.array([list(SLOTS).index(name), what == "links", n], np.float64)
    slots = HITTING.new_tally()
    kernel = dispatch.HITTING.kernel(name, what, n)
    kernel.compiled(np.uint64(KEY), np.int64(first), np.int64(first + trials), params, slots)
    found, expected = (
        HITTING.read(slots)[0],
        Counter(dict.fromkeys(("isolation_first", "extra_1_first", "never_disconnected", "life_differs"), 0)),
    )
    bins = {what: [0] * 4097 for what in ("disconnected_bins", "isolated_bins")}
    total = difference = 0.0
    compared = name != "hypercube" and (what == "nodes" or name in MATCHED)
    for t in range(first, first + trials):
        order = make_order(name, what, n, t)
        many = len(order)
        disconnected_at, isolated_at = find_moments(name, what, n, order)
        expected["isolation_first"] += disconnected_at is not None and disconnected_at == isolated_at
        expected["extra_1_first"] += disconnected_at is not None and disconnected_at != isolated_at
        expected["never_disconnected"] += disconnected_at is None
        for what_happens, moment in (("disconnected", disconnected_at), ("isolated", isolated_at)):
            at = many if moment is None else moment
            expected[f"{what_happens}_at"] += at
            expected[f"{what_happens}_squares"] += at**2
            bins[f"{what_happens}_bins"][at] += 1
        total += lifetime(disconnected_at, many)
        if compared:
            other, _ = find_moments("hypercube", what, n, make_order("hypercube", what, n, t))
            expected["life_differs"] += other != disconnected_at
            difference += lifetime(disconnected_at, many) - lifetime(other, many)
    expected["trials"] = trials
    assert {name: found[name] for name in expected} == dict(expected)
    assert {name: list(found[name]) for name in bins} == bins
    assert abs(found["life"] / LIFETIME_UNIT - total) < 1e-6 * trials
    assert abs(found["life_diff"] / LIFETIME_UNIT - difference) < 1e-6 * trials
