"""Simulate the flow of data to the sink of one tree, n <= 10 (Leu & Kuo, Figures 6 and 13; R8 to R18).

Nodes are renamed so that the sink is 0 and stage i crosses bit p = n - 1 - i.  The active nodes of that stage are 2^p, ...,
2^(p+1) - 1, and node y sends to y - 2^p.  Its active neighbours are y ^ 2^b, b = p-1, ..., 0, in the order of the program.  So a
stage without a failing node adds one half of an array to the other.

Failing nodes are nodes of [2^p, 2^(p+1)) that are not isolated and whose bit p of FAULT is set.  They wait for no other node, so
their data is distributed before the halves are added.  The addition itself performs a detour to the passive neighbour.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine import bits
from ..machine.array_types import Bytes, Ints
from ..machine.jit import block, scratch


class GatheringWorkspace(NamedTuple):
    """Scratch memory of one trial's flow; node labels are the renamed ones."""

    fault: Ints  #: FAULT of the renamed nodes
    held: Ints  #: amount of data that each node holds
    stuck: Bytes  #: whether the node waits for ever
    length: Ints  #: distance from the start of a search, -1 if not visited
    queue: Ints  #: queue of a search
    failing: Ints  #: failing nodes, by stage
    begin: Ints  #: n + 1 entries: index in ``failing`` of the first node of each stage
    rename: Ints  #: 64 entries: new labels of the low five bits, and of the other bits
    place: Ints  #: (16): the renamed bit of each dimension


@scratch
def gathering_workspace_for(n):
    """Return scratch memory for trials in Q_n, n <= 10."""
    nodes = np.int64(1) << n
    return GatheringWorkspace(
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.uint8),
        np.full(nodes, -1, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(n + 1, np.int64),
        np.zeros(64, np.int64),
        np.zeros(16, np.int64),
    )


@block
def rename_nodes(n, sink, order, low, bit, count, flow):
    """Compute FAULT of the renamed nodes from ``count`` dead links, given by lower ends ``low`` and dimensions ``bit``.

    ``order`` is FIND_TREE's order for the sink.  A label is renamed in two look-ups, of its low five bits and of its other bits.
    """
    for i in range(n):
        flow.place[order[i]] = np.int64(1) << (n - 1 - i)
    flow.rename[0] = 0
    flow.rename[32] = 0
    for d in range(n):
        base = np.int64(0) if d < 5 else np.int64(32)
        first = np.int64(1) << (d if d < 5 else d - 5)
        for x in range(base, base + first):
            flow.rename[x + first] = flow.rename[x] | flow.place[d]
    for e in range(count):
        x = np.int64(low[e]) ^ sink
        link = np.int64(bit[e])
        y = flow.rename[x & 31] | flow.rename[32 + (x >> 5)]
        across = flow.rename[link & 31] | flow.rename[32 + (link >> 5)]
        flow.fault[y] |= across
        flow.fault[y ^ across] |= across


@block
def list_failing(n, flow):
    """List the failing nodes by stage, ascending within a stage; return their number."""
    full = (np.int64(1) << n) - 1
    count = np.int64(0)
    for i in range(n):
        flow.begin[i] = count
        half = np.int64(1) << (n - 1 - i)
        for y in range(half, 2 * half):
            if flow.fault[y] & half and flow.fault[y] != full:
                flow.failing[count] = y
                count += 1
    flow.begin[n] = count
    return count


@block
def initialise_data(n, unit, flow):
    """Give every node one unit of data, except isolated and faulty nodes; return the number of nodes with data."""
    full = (np.int64(1) << n) - 1
    holders = np.int64(0)
    for y in range(full + 1):
        holds = flow.fault[y] != full
        flow.held[y] = unit if holds else np.int64(0)
        holders += holds
    return holders


@block
def _merge_upper_half(half, flow):
    """Send the data of the nodes half .. 2 half - 1 to their passive neighbours, the nodes 0 .. half - 1."""
    for y in range(half):
        flow.held[y] += flow.held[y + half]


# ---------------------------------------------------------------- paths


@block
def has_three_hop_path(n, y, half, flow):
    """Whether y reaches y - half by y, y^k, y^k^half, y^half for some dimension k (interpretation R12)."""
    return (
        ~(flow.fault[y] | flow.fault[y ^ half] | _dead_across_mask(n, y, half, flow) | half) & ((np.int64(1) << n) - 1)
        != 0
    )


@block
def _dead_across_mask(n, y, half, flow):
    """Return the mask of the dimensions k whose neighbour y^k has a dead link in dimension ``half``."""
    out = np.int64(0)
    for b in range(n):
        k = np.int64(1) << b
        if flow.fault[y ^ k] & half:
            out |= k
    return out


@block
def search_shortest_path(n, start, goal, flow):
    """Search breadth-first over nonfaulty links from ``start``.

    Returns the length of a shortest path to ``goal``, -1 without one, and the number of visited nodes.  With ``goal`` -1 all
    reachable nodes are visited.
    """
    reached = np.int64(1)
    at = np.int64(0)
    found = np.int64(-1)
    flow.queue[0] = start
    flow.length[start] = 0
    while at < reached and found < 0:
        u = flow.queue[at]
        at += 1
        if u == goal:
            found = flow.length[u]
        for b in range(n):
            v = u ^ (np.int64(1) << b)
            if not flow.fault[u] >> b & 1 and flow.length[v] < 0:
                flow.length[v] = flow.length[u] + 1
                flow.queue[reached] = v
                reached += 1
    for i in range(reached):
        flow.length[flow.queue[i]] = -1
    return found, reached


@block
def path_length(n, y, goal, half, flow):
    """Return the length of y's shortest path to ``goal``, its passive neighbour or the sink; -1 without one.

    A detour around a dead link has three links or more, so one of three links is shortest.
    """
    if goal == y ^ half and has_three_hop_path(n, y, half, flow):
        return np.int64(3)
    found, _ = search_shortest_path(n, y, goal, flow)
    return found


@block
def count_stranded(n, holders, count, flow):
    """Return the number of nodes with data that no nonfaulty path joins to the sink.

    Data whose tree links are nonfaulty reaches a failing node or the sink.  So no data is stranded if every failing node has a
    nonfaulty link to a node whose way down the tree ends at the sink, or at a failing node already joined to it.  The cube is
    searched only if this test fails.
    """
    joined = np.int64(0)
    for i in range(count - 1, -1, -1):  # later stages first: they are nearer to the sink
        y = flow.failing[i]
        for b in range(n):
            if not flow.fault[y] >> b & 1 and _is_arriving(n, y ^ (np.int64(1) << b), y, flow):
                joined += 1
                break
    if joined == count:
        return np.int64(0)
    _, reached = search_shortest_path(n, np.int64(0), np.int64(-1), flow)
    return holders - reached


@block
def _is_arriving(n, y, origin, flow):
    """Whether y's way down the tree ends at the sink, or at a failing node of a later stage than ``origin``."""
    while y:
        half = np.int64(bits.highest_bit(np.uint64(y)))
        if flow.fault[y] & half:
            return half < np.int64(bits.highest_bit(np.uint64(origin)))
        y ^= half
    return True


# ---------------------------------------------------------------- the algorithms


@block
def partition_receivers(n, y, half, corrected, flow):
    """Return the mask of the active neighbours to which a failing node gives parts of its data (R9)."""
    able = ~flow.fault[y] & (half - 1)
    if corrected:
        rest = able
        while rest:
            b = rest & -rest
            rest ^= b
            if flow.fault[y ^ b] & half:
                able ^= b
    return able


@block
def run_traditional(n, reroute, flow):
    """Run TC, or traditional rerouting with ``reroute``; return the amount of data that arrives (R12, R18)."""
    for i in range(n):
        half = np.int64(1) << (n - 1 - i)
        for e in range(flow.begin[i], flow.begin[i + 1]):
            y = flow.failing[e]
            if not (reroute and has_three_hop_path(n, y, half, flow)):
                flow.held[y] = 0
        _merge_upper_half(half, flow)
    return flow.held[0]


@block
def run_fttc(n, corrected, flow):
    """Run FTTC ``as_commented`` or ``corrected``; return arriving data, steps, and failing nodes without a partner (R9, R11)."""
    late = np.int64(0)
    steps = np.int64(0)
    alone = np.int64(0)
    for i in range(n):
        half = np.int64(1) << (n - 1 - i)
        longest = np.int64(1)
        for e in range(flow.begin[i], flow.begin[i + 1]):
            y = flow.failing[e]
            partners = partition_receivers(n, y, half, corrected, flow)
            if partners == 0:
                alone += 1
                length = path_length(n, y, y ^ half, half, flow)
                if length < 0:
                    if corrected:
                        length = path_length(n, y, np.int64(0), half, flow)
                        if length >= 0:
                            late += flow.held[y]
                    flow.held[y] = 0
                longest = max(longest, length)
                continue
            longest = max(longest, np.int64(2))
            part = flow.held[y] // bits.popcount(np.uint64(partners))
            while partners:
                b = partners & -partners
                partners ^= b
                if not flow.fault[y ^ b] & half:
                    flow.held[y ^ b] += part
            flow.held[y] = 0
        steps += longest
        _merge_upper_half(half, flow)
    return flow.held[0] + late, steps, alone


@block
def run_as_printed(n, flow):
    """Run FTTC ``as_printed``; return the data that arrives, and whether a node waits for ever (R9, R14, R17)."""
    blocked = False
    for i in range(n):
        p = n - 1 - i
        half = np.int64(1) << p
        for e in range(flow.begin[i], flow.begin[i + 1]):
            y = flow.failing[e]
            partners = partition_receivers(n, y, half, False, flow)
            if partners and not flow.stuck[y]:
                part = flow.held[y] // bits.popcount(np.uint64(partners))
                while partners:
                    b = partners & -partners
                    partners ^= b
                    if not flow.fault[y ^ b] & half:
                        flow.held[y ^ b] += part
            flow.held[y] = 0
        for y in range(half, 2 * half):  # helpers also wait for faulty nodes and across faulty links
            if flow.fault[y] & half:
                silent = (np.int64(1) << n) - 1 if flow.stuck[y] else flow.fault[y]
                for b in range(p):
                    v = y ^ (np.int64(1) << b)
                    if silent >> b & 1 and not flow.fault[v] & half:
                        flow.stuck[v] = 1
                        blocked = True
        for y in range(half, 2 * half):
            if flow.stuck[y]:
                flow.held[y] = 0
                if not flow.fault[y] & half:
                    flow.stuck[y ^ half] = 1
                    blocked = True
        arrived = flow.held[0]
        _merge_upper_half(half, flow)
        if flow.stuck[0]:
            _clear_stuck(flow)
            return arrived, True
    _clear_stuck(flow)
    return flow.held[0], blocked


@block
def _clear_stuck(flow):
    """Forget which nodes wait for ever."""
    for y in range(flow.stuck.size):
        flow.stuck[y] = 0
