"""Whether the channel dependency graph of a faulty cube has a cycle (reading A14), n <= 8.

``fastcube/algorithms/wormhole.py`` says why these are all the arcs.  Nodes are 4 a + q, with a the label of the supernode and
q the place in it; channel j < 2 leads across the internal dimension j, channel 2 + k across the k-th external one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..jit import block, kernel, scratch
from ..multicasting.supercube import buddy_step, first_across, label_of, place_of
from ..partition.search import Listed, listed, search_listed
from ..sampling import Draws, draw_faults, drawn, draws_for
from ..trials import trials_kernel
from .layout import DEPENDENCIES

_PARTITIONED = DEPENDENCIES.counter("partitioned")
_CYCLIC = DEPENDENCIES.counter("cyclic")
_UNICAST = DEPENDENCIES.counter("cyclic_unicast")
_REPAIRED = DEPENDENCIES.counter("cyclic_repaired")

_ONE = np.int64(1)
_TWO = np.int64(2)


class Graph(NamedTuple):
    """A graph by lists of arcs."""

    head: Any  #: int64, a channel: its last arc, or -1
    waits: Any  #: int64, a channel: arcs into it
    following: Any  #: int64, an arc: the one before it in its list
    asked: Any  #: int64, an arc: the channel that it leads to
    stack: Any  #: int64, a channel
    arcs: Any  #: int64, of length 1: number of arcs


@scratch
def graph_for(n):
    """Room for the graph of Q_n with two virtual channels."""
    channels = (n + 2) << n
    # of each of two classes and each node: across, at the buddy of each step beyond, and from each node before to
    # two buddies and each step beyond
    most = (3 << n) + (2 << n) * (3 + n + n * (n + 2))
    return Graph(
        np.empty(channels, np.int64),
        np.empty(channels, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(channels, np.int64),
        np.zeros(1, np.int64),
    )


@block(always=True)
def channel(v, j, n, copy):
    """Number of the channel j of node v; inside a supernode those of copy 1 come behind all others."""
    if copy and j < 2:
        return (n << n) + 2 * v + j
    return n * v + j


@block
def _add(graph, c, d):
    """The arc c -> d."""
    at = graph.arcs[0]
    graph.arcs[0] = at + 1
    graph.asked[at] = d
    graph.following[at] = graph.head[c]
    graph.head[c] = at
    graph.waits[d] += 1


@block
def _across(graph, v, fault, n, copy):
    """What a message at v for the place across waits for."""
    q = v & 3
    if (fault >> (q ^ 3)) & 1 == 0:
        step = first_across(q, fault)
        _add(graph, channel(v, step >> 1, n, copy), channel(v ^ step, (step ^ 3) >> 1, n, copy))


@block
def _class(graph, faults, a, q, flip, unicast, copy, n):
    """Arcs of D_H (``flip`` = 0) or D_L (all labels complemented) at the node (a, q), and at the buddies of its detours."""
    v = a << 2 | q
    fault = faults[a]
    here = a ^ flip
    entered = False
    for k in range(n - 2):
        to = here ^ ((_TWO << k) - 1)
        p = (to ^ flip) << 2 | q
        if to > here:
            if (faults[to ^ flip] >> q) & 1:  # from the buddy to p's own
                step = buddy_step(q, fault)
                _add(graph, channel(v, step >> 1, n, copy), channel(v ^ step, 2 + k, n, copy))
            continue
        if (faults[to ^ flip] >> q) & 1:
            continue
        entered = True
        came = channel(p, 2 + k, n, copy)
        for j in range(2):
            if (fault >> (q ^ (1 << j))) & 1 == 0:
                _add(graph, came, channel(v, np.int64(j), n, copy))
        limit = np.int64(1) << (n - 2)  # labels below it can be a unicast's goal: those before p's next shortcut
        for i in range(n - 2):
            other = to ^ ((_TWO << i) - 1)
            if here < other < limit:
                limit = other
        for i in range(n - 2):
            beyond = here ^ ((_TWO << i) - 1)
            if beyond > here and (not unicast or beyond < limit):
                if (faults[beyond ^ flip] >> q) & 1:
                    _add(graph, came, channel(v, buddy_step(q, fault) >> 1, n, copy))
                else:
                    _add(graph, came, channel(v, np.int64(2 + i), n, copy))
    if entered:
        _across(graph, v, fault, n, copy)


@block
def build(graph, faults, n, unicast, copies):
    """The graph of a supercube with faults by label (masks of places), for one or two virtual channels."""
    for c in range(graph.head.size):
        graph.head[c] = -1
        graph.waits[c] = 0
    graph.arcs[0] = 0
    top = (_ONE << (n - 2)) - 1
    for a in range(np.int64(1) << (n - 2)):
        fault = np.int64(faults[a])
        for q in range(4):
            if (fault >> q) & 1:
                continue
            _across(graph, np.int64(a << 2 | q), fault, n, False)
            _class(graph, faults, np.int64(a), np.int64(q), np.int64(0), unicast, False, n)
            _class(graph, faults, np.int64(a), np.int64(q), top, unicast, copies == 2, n)


@block
def is_cyclic(graph):
    """Whether the graph has a cycle: channels that nothing waits for are taken away while there are some."""
    left = graph.head.size
    count = np.int64(0)
    for c in range(left):
        if graph.waits[c] == 0:
            graph.stack[count] = c
            count += 1
    while count > 0:
        count -= 1
        left -= 1
        arc = graph.head[graph.stack[count]]
        while arc >= 0:
            d = graph.asked[arc]
            graph.waits[d] -= 1
            if graph.waits[d] == 0:
                graph.stack[count] = d
                count += 1
            arc = graph.following[arc]
    return left > 0


# ---------------------------------------------------------------- trials


class Scratch(NamedTuple):
    """What a trial works in."""

    faults: Listed
    draws: Draws
    graph: Graph
    by_label: Any  #: int64: masks of faulty places


@scratch
def set_up(params):
    """Room for the trials of a point (n, f)."""
    n = np.int64(params[0])
    f = np.int64(params[1])
    faults = listed(max(f, drawn(n, f)))
    faults.count[0] = f
    return Scratch(faults, draws_for(drawn(n, f)), graph_for(n), np.zeros(np.int64(1) << (n - 2), np.int64))


@block
def place_faults(by_label, labels, count, lo, hi, n):
    """The masks of faulty places of a supercube."""
    for a in range(by_label.size):
        by_label[a] = 0
    for i in range(count):
        v = labels[i]
        by_label[label_of(v, lo, hi, n)] |= _ONE << place_of(v, lo, hi)


@block
def _cyclic(scratch, n, unicast, copies):
    build(scratch.graph, scratch.by_label, n, unicast, copies)
    return is_cyclic(scratch.graph)


@block
def dependency_trial(key, t, params, scratch, tally):
    """One trial at (n, f).

    The graph of unicasts is a part of the graph, and the one of two channels maps onto it copy by copy: where it has no
    cycle they have none.
    """
    n = np.int64(params[0])
    f = np.int64(params[1])
    draw_faults(key, t, n, f, scratch.faults.labels, scratch.draws)
    lo, hi, _ = search_listed(scratch.faults, n)
    if lo < 0:
        return
    tally[_PARTITIONED] += 1
    place_faults(scratch.by_label, scratch.faults.labels, f, lo, hi, n)
    if _cyclic(scratch, n, False, _ONE):
        tally[_CYCLIC] += 1
        tally[_UNICAST] += np.int64(_cyclic(scratch, n, True, _ONE))
        tally[_REPAIRED] += np.int64(_cyclic(scratch, n, False, _TWO))


DEPENDENCY = trials_kernel(set_up, dependency_trial)


@kernel("int64(uint64[::1], int64, int64, int64, int64, int64)")
def cyclic(faulty, n, lo, hi, unicast, copies):
    """Whether the graph of a given supercube has a cycle, as 0 or 1; the pair must be fault-tolerant."""
    scratch = set_up(np.array([n, faulty.size], np.float64))
    place_faults(scratch.by_label, faulty, faulty.size, lo, hi, n)
    return np.int64(_cyclic(scratch, n, unicast != 0, copies))


@kernel("int64[:, ::1](uint64[::1], int64, int64, int64, int64, int64)")
def list_arcs(faulty, n, lo, hi, unicast, copies):
    """The arcs of a given supercube's graph as rows (channel, channel that it waits for), some more than once."""
    scratch = set_up(np.array([n, faulty.size], np.float64))
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


@kernel("int64(int64, int64, int64[::1])")
def count_cyclic(n, f, counts):
    """Visit all sets of f faults of Q_n and add to the slots of the tally as trials do; returns the number of sets."""
    scratch = set_up(np.array([n, f], np.float64))
    size = np.int64(1) << n
    chosen = np.arange(f)
    total = np.int64(0)
    while True:
        total += 1
        for i in range(f):
            scratch.faults.labels[i] = np.uint64(chosen[i])
        lo, hi, _ = search_listed(scratch.faults, n)
        if lo >= 0:
            counts[_PARTITIONED] += 1
            place_faults(scratch.by_label, scratch.faults.labels, f, lo, hi, n)
            counts[_CYCLIC] += np.int64(_cyclic(scratch, n, False, _ONE))
            counts[_UNICAST] += np.int64(_cyclic(scratch, n, True, _ONE))
            counts[_REPAIRED] += np.int64(_cyclic(scratch, n, False, _TWO))
        i = f - 1
        while i >= 0 and chosen[i] == size - f + i:
            i -= 1
        if i < 0:
            return total
        chosen[i] += 1
        for j in range(i + 1, f):
            chosen[j] = chosen[j - 1] + 1
