"""What trial t of ``multicast`` draws, and the channels of a given multicast."""

from __future__ import annotations

import numpy as np

from ..machine.jit import kernel
from .single import alone, draw, set_faults, set_up, set_wanted, whole
from .supercube import label_of, place_of


def multicast(key: int, trial: int, n: int, f: int, destinations: int) -> tuple[list[int], int, list[int]]:
    """f distinct faulty nodes of Q_n, the source, and the destinations in the order of the draw."""
    labels: list[int] = _multicast(np.uint64(key), trial, n, f, destinations).tolist()
    return labels[:f], labels[f], labels[f + 1 :]


@kernel("uint64[::1](uint64, int64, int64, int64, int64)")
def _multicast(key, t, n, f, destinations):
    """Trial t's faults, source and destinations, in this order, as :func:`draw` gives them."""
    scratch = set_up(np.array([n, f, destinations], np.float64))
    s = draw(key, t, n, f, destinations, scratch)
    out = np.empty(f + 1 + destinations, np.uint64)
    for i in range(f):
        out[i] = scratch.faults.labels[i]
    out[f] = s
    for i in range(destinations):
        out[f + 1 + i] = scratch.nodes[i]
    return out


@kernel("UniTuple(int64, 4)(uint64[::1], int64, uint64, uint64[::1], int64, int64, int64)")
def count_channels(faulty, n, s, nodes, lo, hi, hamilton):
    """N, detours, depth and the sum of N one by one of a given multicast; the pair must be fault-tolerant."""
    scratch = set_up(np.array([n, faulty.size, 1.0], np.float64))
    for i in range(faulty.size):
        scratch.faults.labels[i] = faulty[i]
    net = scratch.net
    top = (np.int64(1) << (n - 2)) - 1
    set_faults(net, scratch.faults, lo, hi, n, True)
    set_wanted(net, nodes, nodes.size, lo, hi, n)
    a = label_of(s, lo, hi, n)
    q = place_of(s, lo, hi)
    channels, detours, depth = whole(net, a, q, top, hamilton != 0)
    separate = np.int64(0)
    for i in range(nodes.size):
        separate += alone(net, a, q, label_of(nodes[i], lo, hi, n), place_of(nodes[i], lo, hi), top)
    return channels, detours, depth, separate
