"""Sample trial t for replay: the faulty nodes, the names of the faulty links, and the pair."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..cube.link_numbers import number_all_links, number_links
from ..draws.faults import trial_faults
from ..draws.links import link_draws_for
from ..draws.nodes import count_sampled_labels, node_label
from ..draws.orders import begin_order, draw_place
from ..machine import simd
from ..machine.bits import ONE, ZERO
from ..machine.jit import kernel
from . import drawing
from .drawing_by_rate import draw_links_by_rate, draw_nodes_by_rate, rate_sampling_for
from .failed_domains import domain_draws_for, draw_domains
from .pair_verdicts import draw_pairs
from .scalar import draw_cuts


def sample_survival(key: int, t: int, n: int, f: int, links: int, table: Any) -> tuple[Any, Any, Any]:
    """Return the faulty nodes of trial ``t``, faulty links of a ``table``'s network, and s and t if two nodes survive."""
    nodes, _, ends = trial_faults(np.uint64(key), t, n, f, 0, 2 if 2**n - f >= 2 else 0)
    return nodes, sample_network_links(np.uint64(key), t, n, links, table), ends


@kernel("int64[::1](uint64, int64, int64, uint64)")
def sample_order(key, t, count, purpose):
    """Return trial ``t``'s order of ``count`` components, the first to fail first."""
    order, words = np.empty(count, np.int32), np.empty(16, np.uint64)
    begin_order(order)
    for i in range(count - 1, -1, -1):
        draw_place(key, t, i, order, words, purpose)
    return order.astype(np.int64)


@kernel("int64[:, ::1](uint64, int64, int64, int64, int32[:, ::1])")
def sample_network_links(key, t, n, count, table):
    """Return the names (v, d) of ``count`` distinct faulty links of trial ``t``, in the order of their numbers."""
    cut = np.zeros(table.shape[0], np.uint64)
    numbered = number_all_links(table, n)
    names = numbered.names
    draw_cuts(key, t, n, count, numbered, cut, link_draws_for(np.int64(0)))
    k = np.int64(0)
    for v, d in names:
        if (cut[v] >> np.uint64(d)) & ONE:
            names[k, 0], names[k, 1] = v, d
            k += 1
    return names[:k].copy()


@kernel("int64[::1](uint64, int64, int64, int64)")
def sample_domains(key, t, domain_count, count):
    """Return ``count`` distinct failed domains of ``domain_count`` of trial ``t``, ascending."""
    group, lane = t - t % drawing.GROUP_TRIALS, t % drawing.GROUP_TRIALS
    works = drawing.rows_for(domain_count + 1)
    draw_domains(key, group, domain_count, count, works, domain_draws_for(domain_count, count))
    bit = ONE << np.uint64(lane & 63)
    return np.array([g for g in range(domain_count) if works[8 * g + (lane >> 6)] & bit == ZERO], np.int64)


@kernel("uint64[::1](uint64, int64, int64, int64, boolean[::1])")
def sample_pair(key, t, n, f, alive):
    """Return s and t of a trial with f single failures: the next two ``alive`` nodes, or the first if f are most nodes."""
    samples_faults = count_sampled_labels(n, f) == f
    seen = np.zeros(alive.size, np.bool_)
    ends = np.empty(2, np.uint64)
    distinct = taken = k = np.int64(0)
    while taken < 2:
        x = node_label(key, t, k, n)
        k += 1
        if samples_faults and distinct < f:
            distinct += not seen[x]
            seen[x] = True
        elif alive[x] and (taken == 0 or ends[0] != x):
            ends[taken] = x
            taken += 1
    return ends


@kernel("Tuple((uint64[::1], int64[::1], uint64[::1]))(uint64, int64, int64, float64, float64, int32[:, ::1])")
def sample_survival_rate(key, t, n, rate, link_rate, table):
    """Return the results of ``sample_survival`` for nodes and links that fail at rates; nodes ascending, links by number."""
    nodes = np.int64(1) << n
    numbers, link_count = number_links(table, n)
    group, lane = t - t % drawing.GROUP_TRIALS, t % drawing.GROUP_TRIALS
    workspace = drawing.drawing_workspace_for(n, np.int64(-1))
    sampling, link_sampling = rate_sampling_for(nodes, rate), rate_sampling_for(link_count, link_rate)
    alive = np.empty(8 * nodes, np.uint64)
    draw_nodes_by_rate(key, group, n, sampling, alive, workspace)
    works = np.empty(8 * link_count, np.uint64)
    draw_links_by_rate(key, group, n, link_sampling, numbers, works, workspace)
    word, bit = lane >> 6, ONE << np.uint64(lane & 63)
    labels = np.empty(nodes, np.uint64)
    f = np.int64(0)
    for v in range(nodes):
        if alive[8 * v + word] & bit == ZERO:
            labels[f] = v
            f += 1
    faulty_links = np.empty(link_count, np.int64)
    k = np.int64(0)
    for number in range(link_count):
        if works[8 * number + word] & bit == ZERO:
            faulty_links[k] = number
            k += 1
    ends = np.empty(2 if nodes - f >= 2 else 0, np.uint64)
    if ends.size:
        s_lanes, t_lanes = draw_pairs(key, group, n, True, simd.splat(np.uint64(lane)), workspace.pair_places, alive)
        ends[0], ends[1] = simd.union(s_lanes), simd.union(t_lanes)
    return labels[:f].copy(), faulty_links[:k].copy(), ends
