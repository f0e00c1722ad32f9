"""What trial t of ``multicast-wormhole`` draws, and whether a given graph has a cycle or given multicasts stop."""

from __future__ import annotations

import numpy as np

from ..machine.jit import kernel
from ..multicasting.supercube import place_faults
from .dependencies import build
from .single import draw, is_cyclic_with, set_up_deadlock, set_up_wormhole, stops_in_parts


def multicast_wormhole(
    key: int, trial: int, n: int, f: int, senders: int, destinations: int
) -> tuple[list[int], list[int], list[list[int]]]:
    """f distinct faulty nodes of Q_n, the sources, and each one's destinations in ascending order."""
    labels: list[int] = _multicast_wormhole(np.uint64(key), trial, n, f, senders, destinations).tolist()
    rest = labels[f + senders :]
    return labels[:f], labels[f : f + senders], [rest[i : i + destinations] for i in range(0, len(rest), destinations)]


@kernel("uint64[::1](uint64, int64, int64, int64, int64, int64)")
def _multicast_wormhole(key, t, n, f, senders, destinations):
    """Trial t's faults, its sources, and each one's destinations in ascending order, one after another."""
    scratch = set_up_wormhole(np.array([n, f, senders, destinations], np.float64))
    draw(key, t, n, f, senders, destinations, scratch)
    out = np.empty(f + senders * (1 + destinations), np.uint64)
    for i in range(f):
        out[i] = scratch.faults.labels[i]
    for i in range(senders):
        out[f + i] = scratch.senders[i]
        for j in range(destinations):
            out[f + senders + i * destinations + j] = scratch.nodes[i, j]
    return out


@kernel("int64(uint64[::1], int64, int64, int64, int64, int64)")
def cyclic(faulty, n, lo, hi, unicast, copies):
    """Whether the graph of a given supercube has a cycle, as 0 or 1; the pair must be fault-tolerant."""
    scratch = set_up_deadlock(np.array([n, faulty.size], np.float64))
    place_faults(scratch.by_label, faulty, faulty.size, lo, hi, n)
    return np.int64(is_cyclic_with(scratch, n, unicast != 0, copies))


@kernel("int64[:, ::1](uint64[::1], int64, int64, int64, int64, int64)")
def list_arcs(faulty, n, lo, hi, unicast, copies):
    """The arcs of a given supercube's graph as rows (channel, channel that it waits for), some more than once."""
    scratch = set_up_deadlock(np.array([n, faulty.size], np.float64))
    place_faults(scratch.by_label, faulty, faulty.size, lo, hi, n)
    graph = scratch.graph
    build(graph, scratch.by_label, n, unicast != 0, copies)
    out = np.empty((graph.arcs[0], 2), np.int64)
    for c in range(graph.head.size):
        arc = graph.head[c]
        while arc >= 0:
            out[arc, 0] = c
            out[arc, 1] = graph.asked[arc]
            arc = graph.following[arc]
    return out


@kernel("int64(uint64[::1], int64, int64, int64, uint64[::1], uint64[:, ::1], int64)")
def stops_with(faulty, n, lo, hi, senders, nodes, copies):
    """Whether given multicasts, each with as many destinations, stop: 0 or 1.  The pair must be fault-tolerant."""
    scratch = set_up_wormhole(np.array([n, faulty.size, senders.size, nodes.shape[1]], np.float64))
    place_faults(scratch.by_label, faulty, faulty.size, lo, hi, n)
    for i in range(senders.size):
        scratch.senders[i] = senders[i]
        for j in range(nodes.shape[1]):
            scratch.nodes[i, j] = nodes[i, j]
    return np.int64(stops_in_parts(scratch, lo, hi, n, senders.size, nodes.shape[1], nodes.shape[1], copies))
