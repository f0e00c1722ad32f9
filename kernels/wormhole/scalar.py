"""The trials of ``multicast-deadlock`` and ``multicast-wormhole``, and the enumeration of fault sets.

``multicast-deadlock`` tests whether the dependency graph of a random fault set has a cycle.  ``multicast-wormhole`` simulates
random multicasts that start together and tests for deadlock, with three ways of sending.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..draws.enumerate_sets import next_combination
from ..machine.array_types import I64
from ..machine.jit import block, scratch
from ..machine.trials import trials_kernel
from ..multicasting.scalar import MulticastEnds, draw_multicasts, multicast_ends_for
from ..multicasting.supercube import (
    Cut,
    Supercube,
    clear_faults,
    clear_wanted,
    set_faults,
    set_wanted,
    supercube_for,
    supernode_label,
    supernode_place,
)
from ..partition.scalar import FaultList, draw_fault_list, fault_list_for, search_listed
from .dependencies import DependencyGraph, build_graph, dependency_graph_for, is_cyclic
from .layout import MULTICAST_DEADLOCK, MULTICAST_WORMHOLE
from .simulation import Traffic, add_multicast, clear_traffic, has_deadlock, traffic_for

_ONE = np.int64(1)
_TWO = np.int64(2)

# ---------------------------------------------------------------- multicast-deadlock

_GRAPH_PARTITIONED = MULTICAST_DEADLOCK.counter("partition_exists")
_CYCLIC = MULTICAST_DEADLOCK.counter("cyclic")
_UNICAST = MULTICAST_DEADLOCK.counter("cyclic_unicast")
_CYCLIC_TWO_CHANNELS = MULTICAST_DEADLOCK.counter("cyclic_two_channels")


class DeadlockPoint(NamedTuple):
    """The axes of ``multicast-deadlock``, in their order."""

    n: I64
    f: I64


#: Number of axes: the index of the first element of the fault set in the parameters of ``MULTICAST_DEADLOCK_SETS``.
_DEADLOCK_AXES = len(DeadlockPoint._fields)


@block
def read_deadlock_point(params):
    """Return the :class:`DeadlockPoint` of a kernel's parameters."""
    return DeadlockPoint(np.int64(params[0]), np.int64(params[1]))


class DeadlockScratch(NamedTuple):
    """Scratch memory of trials of ``multicast-deadlock``."""

    faults: FaultList
    net: Supercube  #: the faults as seen from the supernodes of the partition
    graph: DependencyGraph


@scratch
def set_up_deadlock(params):
    """Return scratch memory for trials of ``multicast-deadlock``."""
    n, f = read_deadlock_point(params)
    return DeadlockScratch(fault_list_for(n, f), supercube_for(n), dependency_graph_for(n))


@block
def is_cyclic_with(scratch, n, unicast, virtual_channels):
    """Whether the dependency graph of the current faults has a cycle; see ``build_graph``."""
    build_graph(scratch.graph, scratch.net, n, unicast, virtual_channels)
    return is_cyclic(scratch.graph)


@block
def _count_cycles(n, scratch, tally):
    """Tally the current fault set.

    The graph of unicasts is a part of the graph, and the graph with two virtual channels maps to it.  So if it has no cycle, they
    have none.
    """
    faults = scratch.faults.labels[: scratch.faults.size[0]]
    lo, hi, _ = search_listed(scratch.faults, n)
    if lo < 0:
        return
    tally[_GRAPH_PARTITIONED] += 1
    cut = Cut(n, lo, hi)
    set_faults(scratch.net, faults, cut)
    if is_cyclic_with(scratch, n, False, _ONE):
        tally[_CYCLIC] += 1
        tally[_UNICAST] += np.int64(is_cyclic_with(scratch, n, True, _ONE))
        tally[_CYCLIC_TWO_CHANNELS] += np.int64(is_cyclic_with(scratch, n, False, _TWO))
    clear_faults(scratch.net, faults, cut)


@block
def deadlock_trial(key, t, params, scratch, tally):
    """Sample and tally a trial of ``multicast-deadlock``."""
    n, _ = read_deadlock_point(params)
    draw_fault_list(key, t, n, scratch.faults)
    _count_cycles(n, scratch, tally)


#: Kernel of ``multicast-deadlock``; params are (n, f), 3 <= n <= 8.
MULTICAST_DEADLOCK_SINGLE = trials_kernel(set_up_deadlock, deadlock_trial)


@block
def deadlock_set(key, t, params, scratch, tally):
    """Run and tally the fault set that follows n and f in ``params``, and advance it to the next set."""
    n, f = read_deadlock_point(params)
    chosen = params[_DEADLOCK_AXES:]
    for i in range(f):
        scratch.faults.labels[i] = np.uint64(chosen[i])
    next_combination(chosen, f, np.int64(1) << n)
    _count_cycles(n, scratch, tally)


#: Kernel of all C(2^n, f) fault sets; (n, f, 0, 1, ..., f - 1) = params.
MULTICAST_DEADLOCK_SETS = trials_kernel(set_up_deadlock, deadlock_set)


# ---------------------------------------------------------------- multicast-wormhole

_WORMHOLE_PARTITIONED = MULTICAST_WORMHOLE.counter("partition_exists")
_DEADLOCK = MULTICAST_WORMHOLE.counter("deadlock")
_DEADLOCK_TWO_CHANNELS = MULTICAST_WORMHOLE.counter("deadlock_two_channels")
_DEADLOCK_SEPARATE = MULTICAST_WORMHOLE.counter("deadlock_separate")


class WormholePoint(NamedTuple):
    """The axes of ``multicast-wormhole``, in their order."""

    n: I64
    f: I64  #: number of faulty nodes
    senders: I64  #: number of multicasts
    destinations: I64  #: number of destinations of each multicast


@block
def read_wormhole_point(params):
    """Return the :class:`WormholePoint` of a kernel's parameters."""
    return WormholePoint(np.int64(params[0]), np.int64(params[1]), np.int64(params[2]), np.int64(params[3]))


class WormholeScratch(NamedTuple):
    """Scratch memory of trials of ``multicast-wormhole``."""

    faults: FaultList
    ends: MulticastEnds  #: sources and destinations
    net: Supercube  #: the faults as seen from the supernodes of the partition
    traffic: Traffic  #: the messages under way


@scratch
def set_up_wormhole(params):
    """Return scratch memory for trials of ``multicast-wormhole``."""
    n, f, senders, destinations = read_wormhole_point(params)
    # A multicast has at most one request per node that it enters and four at its source; a unicast has two per channel.
    requests = senders * max((1 << n) + 4 + (1 << (n - 2)), destinations * (2 * n + 6))
    traffic = traffic_for(n, senders * max(np.int64(4), destinations), requests)
    return WormholeScratch(fault_list_for(n, f), multicast_ends_for(n, senders), supercube_for(n), traffic)


@block
def _sort_nodes(nodes, count):
    """Sort up to 255 nodes in ascending order, by insertion."""
    for i in range(1, count):
        x = nodes[i]
        j = i
        while j > 0 and nodes[j - 1] > x:
            nodes[j] = nodes[j - 1]
            j -= 1
        nodes[j] = x


@block
def _send_multicast(scratch, i, first, stop, cut, virtual_channels):
    """Add the messages of source i to its destinations ``first .. stop - 1``."""
    nodes, s = scratch.ends.destinations[i][first:stop], scratch.ends.sources[i]
    set_wanted(scratch.net, nodes, cut)
    add_multicast(
        scratch.traffic, scratch.net, supernode_label(s, cut), supernode_place(s, cut), cut.n, virtual_channels
    )
    clear_wanted(scratch.net, nodes, cut)


@block
def has_deadlock_in_groups(scratch, cut, destinations, size, virtual_channels):
    """Whether the trial deadlocks if each source sends to its destinations in groups of ``size``."""
    clear_traffic(scratch.traffic)
    for i in range(scratch.ends.sources.size):
        for first in range(0, destinations, size):
            _send_multicast(scratch, i, first, min(first + size, destinations), cut, virtual_channels)
    return has_deadlock(scratch.traffic)


@block
def wormhole_trial(key, t, params, scratch, tally):
    """Sample and tally a trial of ``multicast-wormhole``."""
    n, _, _, destinations = read_wormhole_point(params)
    faults, ends = scratch.faults, scratch.ends
    draw_multicasts(key, t, n, destinations, faults, ends)
    for i in range(ends.sources.size):
        _sort_nodes(ends.destinations[i], destinations)
    lo, hi, _ = search_listed(faults, n)
    if lo < 0:
        return
    tally[_WORMHOLE_PARTITIONED] += 1
    cut = Cut(n, lo, hi)
    set_faults(scratch.net, faults.labels[: faults.size[0]], cut)
    tally[_DEADLOCK] += np.int64(has_deadlock_in_groups(scratch, cut, destinations, destinations, _ONE))
    tally[_DEADLOCK_TWO_CHANNELS] += np.int64(has_deadlock_in_groups(scratch, cut, destinations, destinations, _TWO))
    tally[_DEADLOCK_SEPARATE] += np.int64(has_deadlock_in_groups(scratch, cut, destinations, _ONE, _TWO))
    clear_faults(scratch.net, faults.labels[: faults.size[0]], cut)


#: Kernel of ``multicast-wormhole``; params are (n, f, senders, destinations), 3 <= n <= 8.
MULTICAST_WORMHOLE_SINGLE = trials_kernel(set_up_wormhole, wormhole_trial)
