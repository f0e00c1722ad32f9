"""Survival trials with faulty nodes alone, by one sampler and one search: the kernels with which a run begins.

They count like ``lanes`` and ``scalar``, at 10 to 100 times the time per trial, but have few functions, so they compile in a
fraction of the time.  Nodes are marked in an array of 2^n bytes.  Neighbours are computed and not tabulated.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cube.tables import named_slots, named_step
from ..draws.node_marks import OPEN, REACHED, mark_nodes
from ..machine.array_types import I64, Bytes, Ints32
from ..machine.jit import block, scratch
from ..machine.trials import trials_kernel
from .layout import COMPARED_EVENTS, SURVIVAL

_COUNTS, _CUBE = SURVIVAL.family("{}", COMPARED_EVENTS), SURVIVAL.family("cube_{}", COMPARED_EVENTS)
_DIFFS, _DIFFERS = SURVIVAL.family("{}_diff", COMPARED_EVENTS), SURVIVAL.family("{}_differs", COMPARED_EVENTS)
_PAIRS = SURVIVAL.counter("pairs")


class Workspace(NamedTuple):
    """Scratch memory of trials on one network."""

    network: I64  #: index of the network in ``SLOTS``
    n: I64
    f: I64
    marks: Bytes  #: (2^n): OPEN, REACHED or FAULTY
    queue: Ints32  #: (2^n): nodes in the order of the search
    ends: Ints32  #: (2): s and t, if there are two nonfaulty nodes


@scratch
def set_up(params):
    """Return scratch memory for trials at (network, n, f, 0) = params."""
    n = np.int64(params[1])
    nodes = np.int64(1) << n
    return Workspace(
        np.int64(params[0]),
        n,
        np.int64(params[2]),
        np.empty(nodes, np.uint8),
        np.empty(nodes, np.int32),
        np.empty(2, np.int32),
    )


def _make_search(step: Any, slots: Any) -> Any:
    """Return the block ``find_events(work, end_count)``: the four events of COMPARED_EVENTS in a network, as bits in their order.

    The network is given by blocks ``step(index, v, d, n)`` and ``slots(index, n)``, as in ``cube/tables.py``.  ``end_count`` is
    not 0 if s and t are in ``work.ends``.  Nodes are marked OPEN or FAULTY before and after, so that a second search can follow.
    """

    @block
    def mark_component(work, start):
        """Mark the nodes of the component of ``start`` as REACHED, and return their number."""
        marks, queue = work.marks, work.queue
        queue[0], marks[start] = start, REACHED
        at, count = np.int64(0), np.int64(1)
        slot_count = slots(work.network, work.n)
        while at < count:
            v = np.int64(queue[at])
            at += 1
            for d in range(slot_count):
                w = step(work.network, v, np.int64(d), work.n)
                if marks[w] == OPEN:
                    marks[w] = REACHED
                    queue[count] = w
                    count += 1
        return count

    @block
    def find_events(work, end_count):
        marks = work.marks
        components, isolated, st_connected = np.int64(0), np.int64(0), False
        if end_count:
            components, isolated = np.int64(1), np.int64(mark_component(work, np.int64(work.ends[0])) == 1)
            st_connected = marks[work.ends[1]] == REACHED
        for v in range(marks.size):
            if marks[v] == OPEN:
                isolated += mark_component(work, np.int64(v)) == 1
                components += 1
        for v in range(marks.size):
            if marks[v] == REACHED:
                marks[v] = OPEN
        connected, extra_1 = np.int64(components == 1), np.int64(components > 1 and isolated == 0)
        return connected | np.int64(isolated == 0) << 1 | extra_1 << 2 | np.int64(st_connected) << 3

    return find_events


@block
def _hypercube_step(network, v, d, n):
    """Return the neighbour of node v across dimension d."""
    return v ^ (np.int64(1) << d)


@block
def _hypercube_slots(network, n):
    """Return the number of slots of the hypercube."""
    return n


_find_in_cube = _make_search(_hypercube_step, _hypercube_slots)


@block
def _tally_events(end_count, own, cube, tally):
    """Tally the events of a trial in the network, ``own``, and in the hypercube, ``cube``, as bits."""
    tally[_PAIRS] += end_count == 2
    for i in range(4):
        own_event, cube_event = (own >> i) & 1, (cube >> i) & 1
        tally[_COUNTS[i]] += own_event
        tally[_CUBE[i]] += cube_event
        tally[_DIFFS[i]] += own_event - cube_event
        tally[_DIFFERS[i]] += own_event != cube_event


@block
def _trial_in_cube(key, t, params, scratch, tally):
    """Count a trial on the hypercube, which is compared with itself."""
    end_count = mark_nodes(key, t, scratch.n, scratch.f, scratch.marks, scratch.queue, scratch.ends)
    found = _find_in_cube(scratch, end_count)
    _tally_events(end_count, found, found, tally)


_find_in_network = _make_search(named_step, named_slots)


@block
def _trial_in_network(key, t, params, scratch, tally):
    """Count a trial on a named network and on the hypercube with the same faulty nodes."""
    end_count = mark_nodes(key, t, scratch.n, scratch.f, scratch.marks, scratch.queue, scratch.ends)
    _tally_events(end_count, _find_in_network(scratch, end_count), _find_in_cube(scratch, end_count), tally)


#: ``params`` of both kernels is (index of the network, n, f, 0); the first takes the hypercube alone.
SURVIVAL_CUBE_SEARCH = trials_kernel(set_up, _trial_in_cube)
SURVIVAL_NETWORK_SEARCH = trials_kernel(set_up, _trial_in_network)
