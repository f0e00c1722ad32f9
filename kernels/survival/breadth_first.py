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
    network: I64  #: place in ``SLOTS``
    n: I64
    f: I64
    marks: Bytes  #: (2^n) of the nodes
    queue: Ints32  #: (2^n) nodes in the order of the search
    ends: Ints32  #: (2) s and t, if there are two nonfaulty nodes


@scratch
def set_up(params):
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
    """Return the block ``find_events(work, ends)``: the four events of COMPARED_EVENTS in a network, as bits."""

    @block
    def reach(work, start):
        """Reach the component of a node and return its number of nodes."""
        marks, queue = work.marks, work.queue
        queue[0], marks[start] = start, REACHED
        at, count = np.int64(0), np.int64(1)
        many = slots(work.network, work.n)
        while at < count:
            v = np.int64(queue[at])
            at += 1
            for d in range(many):
                w = step(work.network, v, np.int64(d), work.n)
                if marks[w] == OPEN:
                    marks[w] = REACHED
                    queue[count] = w
                    count += 1
        return count

    @block
    def find_events(work, ends):
        marks = work.marks
        parts, isolated, pair = np.int64(0), np.int64(0), False
        if ends:
            parts, isolated = np.int64(1), np.int64(reach(work, np.int64(work.ends[0])) == 1)
            pair = marks[work.ends[1]] == REACHED
        for v in range(marks.size):
            if marks[v] == OPEN:
                isolated += reach(work, np.int64(v)) == 1
                parts += 1
        for v in range(marks.size):
            if marks[v] == REACHED:
                marks[v] = OPEN
        extra_1 = parts > 1 and isolated == 0
        return np.int64(parts == 1) | np.int64(isolated == 0) << 1 | np.int64(extra_1) << 2 | np.int64(pair) << 3

    return find_events


@block
def _flip(network, v, d, n):
    return v ^ (np.int64(1) << d)


@block
def _count_dimensions(network, n):
    return n


_find_in_cube = _make_search(_flip, _count_dimensions)


@block
def _tally_events(work, ends, own, cube, tally):
    tally[_PAIRS] += ends == 2
    for i in range(4):
        has, cube_has = (own >> i) & 1, (cube >> i) & 1
        tally[_COUNTS[i]] += has
        tally[_CUBE[i]] += cube_has
        tally[_DIFFS[i]] += has - cube_has
        tally[_DIFFERS[i]] += has != cube_has


@block
def _trial_in_cube(key, t, params, scratch, tally):
    ends = mark_nodes(key, t, scratch.n, scratch.f, scratch.marks, scratch.queue, scratch.ends)
    found = _find_in_cube(scratch, ends)
    _tally_events(scratch, ends, found, found, tally)


_find_in_network = _make_search(named_step, named_slots)


@block
def _trial_in_network(key, t, params, scratch, tally):
    ends = mark_nodes(key, t, scratch.n, scratch.f, scratch.marks, scratch.queue, scratch.ends)
    _tally_events(scratch, ends, _find_in_network(scratch, ends), _find_in_cube(scratch, ends), tally)


#: ``params`` of both kernels is (index of the network, n, f, 0); the first takes the hypercube alone.
SURVIVAL_CUBE_SEARCH = trials_kernel(set_up, _trial_in_cube)
SURVIVAL_NETWORK_SEARCH = trials_kernel(set_up, _trial_in_network)
