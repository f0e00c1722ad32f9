"""Simulate the flow of data to the sink of one tree, n <= 10 (Leu & Kuo, Figures 6 and 13; R8 to R18).

R8 to R18 are interpretations of the paper (``docs/readings/leu-kuo.md``).  Data flows in stages 0, ..., n - 1.  In each an
*active* node sends all its data to its *passive* neighbour, across the dimension of the stage.  Its *active neighbours* are its
neighbours across the dimensions of later stages.  A *dead* link is faulty or belongs to a faulty node, and bit k of FAULT of a
node is set iff its link in dimension k is dead.  A node is *isolated* if all its links are dead, as those of a faulty node are.

A *failing* node is an active node with a dead link to its passive neighbour that is not isolated.  The algorithms differ in what
it does:

- TC (``run_traditional``): its data is lost.
- Traditional rerouting (``run_traditional``): the data takes a detour of three links, and is lost if there is none.
- FTTC (``run_fttc``, ``run_as_printed``): the node divides its data among its *partners*, active neighbours that send one step
  later for it.  Without a partner the data takes a detour.  The variants are those of R9.

Nodes are renamed so that the sink is 0 and stage i crosses bit p = n - 1 - i.  With ``half`` = 2^p the active nodes of the stage
are half, ..., 2 half - 1, and node y sends to y - half.  Its active neighbours are y ^ 2^b, b = p-1, ..., 0, in the order of the
program.  So a stage without a failing node adds one half of an array to the other.

Failing nodes wait for no other node, so their data is distributed before the halves are added.  Data that takes a detour to the
passive neighbour stays in the node that holds it, because the addition moves it.

All functions work on a ``GatheringWorkspace``: first ``rename_nodes`` and ``list_failing``, then for each algorithm
``initialise_data`` and its ``run_`` function, which uses up ``held``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine import bits
from ..machine.array_types import Bytes, Ints
from ..machine.jit import block, scratch


class GatheringWorkspace(NamedTuple):
    """Scratch memory of one trial's flow; node labels are the renamed ones."""

    fault: Ints  #: (2^n): FAULT of the renamed nodes; the caller clears it after the trial
    held: Ints  #: (2^n): parts of data that each node holds (``layout.py``)
    stuck: Bytes  #: (2^n): whether the node waits for ever, in ``run_as_printed``; 0 outside
    length: Ints  #: (2^n): distance from the start of a search; -1 if not visited, and outside searches
    queue: Ints  #: (2^n): queue of a search
    failing: Ints  #: (2^n): failing nodes, by stage
    begin: Ints  #: (n + 1): index in ``failing`` of the first node of each stage
    low_names: Ints  #: (32): new labels of the numbers of the low five bits
    high_names: Ints  #: (32): new labels of the numbers of the other bits
    new_bit: Ints  #: (16): the renamed bit of each dimension


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
        np.zeros(32, np.int64),
        np.zeros(32, np.int64),
        np.zeros(16, np.int64),
    )


@block
def rename_nodes(n, sink, order, low, bit, count, flow):
    """Compute FAULT of the renamed nodes from ``count`` dead links, given by lower ends ``low`` and dimensions ``bit``.

    ``order`` is FIND_TREE's order for the sink.  A label is renamed in two look-ups, of its low five bits and of its other bits.
    ``flow.fault`` must be 0.
    """
    for i in range(n):
        flow.new_bit[order[i]] = np.int64(1) << (n - 1 - i)
    _fill_names(np.int64(0), min(n, 5), flow.new_bit, flow.low_names)
    _fill_names(np.int64(5), n, flow.new_bit, flow.high_names)
    for e in range(count):
        x = np.int64(low[e]) ^ sink
        link = np.int64(bit[e])
        y = flow.low_names[x & 31] | flow.high_names[x >> 5]
        across = flow.low_names[link & 31] | flow.high_names[link >> 5]
        flow.fault[y] |= across
        flow.fault[y ^ across] |= across


@block
def _fill_names(first, stop, new_bit, names):
    """Write the new labels of all numbers whose bits stand for the dimensions first, ..., stop - 1."""
    names[0] = 0
    for d in range(first, stop):
        size = np.int64(1) << (d - first)
        for x in range(size):
            names[size + x] = names[x] | new_bit[d]


@block
def list_failing(n, flow):
    """List the failing nodes in ``failing`` by stage, ascending within a stage; return their number."""
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
    """Give every node ``unit`` parts of data, except isolated and faulty nodes; return the number of nodes with data."""
    full = (np.int64(1) << n) - 1
    holders = np.int64(0)
    for y in range(full + 1):
        holds = flow.fault[y] != full
        flow.held[y] = unit if holds else np.int64(0)
        holders += holds
    return holders


@block
def _merge_upper_half(half, flow):
    """Send the data of the active nodes half, ..., 2 half - 1 to their passive neighbours 0, ..., half - 1."""
    for y in range(half):
        flow.held[y] += flow.held[y + half]


# ---------------------------------------------------------------- paths


@block
def has_three_hop_path(n, y, half, flow):
    """Whether y reaches y - half by y, y^k, y^k^half, y^half for some dimension k, a single bit (R12)."""
    dead = flow.fault[y] | flow.fault[y ^ half] | _dead_across_mask(n, y, half, flow)  # one of the three links
    return ~(dead | half) & ((np.int64(1) << n) - 1) != 0


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
    """Search breadth-first from ``start`` over links that are not dead.

    Returns the length of a shortest path to ``goal``, -1 without one, and the number of visited nodes.  With ``goal`` -1 all
    reachable nodes are visited.
    """
    reached = np.int64(1)
    taken = np.int64(0)
    found = np.int64(-1)
    flow.queue[0] = start
    flow.length[start] = 0
    while taken < reached and found < 0:
        u = flow.queue[taken]
        taken += 1
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
    """Return the number of nodes with data from which no path without a dead link leads to the sink; ``count`` nodes are failing.

    On the tree the data of each node reaches a failing node or the sink.  So none is stranded if every failing node has a link
    that is not dead to a node whose way on the tree ends at the sink, or at a failing node already joined to it.  The cube is
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
    """Whether y's way on the tree to the sink gets there, or ends at a failing node of a later stage than ``origin``."""
    while y:
        half = np.int64(bits.highest_bit(np.uint64(y)))
        if flow.fault[y] & half:
            return half < np.int64(bits.highest_bit(np.uint64(origin)))
        y ^= half
    return True


# ---------------------------------------------------------------- the algorithms


@block
def list_partners(n, y, half, corrected, flow):
    """Return the mask of the dimensions of a failing node's partners, to which it gives equal amounts of its data (R9).

    They are the active neighbours without a dead link in between; if ``corrected``, only those that are not failing themselves.
    """
    partners = ~flow.fault[y] & (half - 1)
    if corrected:
        rest = partners
        while rest:
            b = rest & -rest
            rest ^= b
            if flow.fault[y ^ b] & half:
                partners ^= b
    return partners


@block
def _give_to_partners(y, half, partners, flow):
    """Divide y's data equally among its ``partners``, not 0; the parts of partners with a dead link to send over are lost."""
    part = flow.held[y] // bits.popcount(np.uint64(partners))
    while partners:
        b = partners & -partners
        partners ^= b
        if not flow.fault[y ^ b] & half:
            flow.held[y ^ b] += part


@block
def run_traditional(n, reroute, flow):
    """Run TC, or traditional rerouting with ``reroute``; return the parts that arrive (R12, R18)."""
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
    """Run FTTC ``as_commented`` or ``corrected``; return the arriving data, the steps, and the failing nodes without a partner.

    A stage has as many steps as its longest way (R11): 1, 2 over a partner, or the length of a detour.  If ``corrected``, data
    without a detour to the passive neighbour takes a path to the sink (R9), where it is added at the end.
    """
    late = np.int64(0)  # data on its way to the sink
    steps = np.int64(0)
    without_partner = np.int64(0)
    for i in range(n):
        half = np.int64(1) << (n - 1 - i)
        longest = np.int64(1)
        for e in range(flow.begin[i], flow.begin[i + 1]):
            y = flow.failing[e]
            partners = list_partners(n, y, half, corrected, flow)
            if partners == 0:
                without_partner += 1
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
            _give_to_partners(y, half, partners, flow)
            flow.held[y] = 0
        steps += longest
        _merge_upper_half(half, flow)
    return flow.held[0] + late, steps, without_partner


@block
def run_as_printed(n, flow):
    """Run FTTC ``as_printed``; return the data that arrives, and whether a node waits for ever (R9, R14, R17).

    An active node whose own link to its passive neighbour is not dead waits for a part from each active neighbour y whose link to
    its passive neighbour is dead.  It is *stuck*, that is, it waits for ever, if y is stuck or the link between them is dead.  A
    passive node whose active neighbour is stuck is stuck, too, unless their link is dead.  A stuck node sends nothing.
    """
    blocked = False
    for i in range(n):
        p = n - 1 - i
        half = np.int64(1) << p
        for e in range(flow.begin[i], flow.begin[i + 1]):
            y = flow.failing[e]
            partners = list_partners(n, y, half, False, flow)
            if partners and not flow.stuck[y]:
                _give_to_partners(y, half, partners, flow)
            flow.held[y] = 0
        for y in range(half, 2 * half):  # failing, isolated or faulty
            if flow.fault[y] & half:
                # the dimensions across which y gives no part
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
