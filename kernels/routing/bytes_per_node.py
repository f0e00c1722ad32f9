"""Routing trials with faulty nodes alone, n <= 12, on one mark per node: the kernel with which a run begins.

It counts like ``scalar`` and the lanes, at several times the time per trial, and compiles in half the time of ``scalar``: it has
one sampler, and one search for shortest paths and for unsafe subcubes.

A node is *unsafe* if it is nonfaulty and has two or more faulty or unsafe neighbours, *closed* if it is faulty or unsafe, and
else *active*.  ROUTE's path corrects the bits in which s and t differ from the most significant down.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..draws.node_marks import FAULTY, OPEN, mark_nodes
from ..machine.array_types import I64, Bytes, Ints32
from ..machine.bits import highest_bit
from ..machine.jit import block, scratch
from ..machine.trials import trials_kernel
from .layout import F, K, N
from .rules import SearchScratch, make_route3_rule, make_route_rules, make_simulator, search_scratch_for
from .scalar import make_trial_finisher

#: Mark of an unsafe node.
_UNSAFE = np.uint8(4)
#: Bit that ``find_distance`` adds to the marks of nodes that it has reached, above all marks, and takes away at its end.
_REACHED = np.uint8(128)


class Marks(NamedTuple):
    """The faults and ends of one trial; they take the place of ``Faults`` in the rules."""

    n: I64
    marks: Bytes  #: (2^n): OPEN, FAULTY or _UNSAFE
    near: Bytes  #: (2^n): number of closed neighbours of each node
    closed_nodes: Ints32  #: (2^n): list of the faulty nodes, then of the unsafe ones (``mark_unsafe_nodes``)
    reached_nodes: Ints32  #: (2^n): list of the nodes that ``find_distance`` has reached, by distance
    ends: Ints32  #: (2): s and t


class Workspace(NamedTuple):
    """Scratch memory of trials at one point."""

    n: I64
    k: I64
    f: I64
    faults: Marks
    search: SearchScratch
    cube: I64  #: unused; ``make_trial_finisher`` passes this field, which holds arrays in ``RoutingScratch``, to its search


@scratch
def marks_for(n):
    """Return scratch memory for the marks of Q_n."""
    nodes = np.int64(1) << n
    return Marks(
        n,
        np.empty(nodes, np.uint8),
        np.empty(nodes, np.uint8),
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.empty(2, np.int32),
    )


@scratch
def set_up(params):
    """Return scratch memory for trials at (n, f, 0, k) = params."""
    n, k = np.int64(params[N]), np.int64(params[K])
    return Workspace(n, k, np.int64(params[F]), marks_for(n), search_scratch_for(k), np.int64(0))


@block
def mark_unsafe_nodes(faults, f):
    """Mark the unsafe nodes and append them to the f listed faulty nodes; return the number of closed nodes.

    If all nodes are closed, it stops before ``near`` has counted all closed neighbours.
    """
    marks, near, closed_nodes = faults.marks, faults.near, faults.closed_nodes
    for node in range(near.size):
        near[node] = 0
    i, count = np.int64(0), f
    while i < count < near.size:
        for d in range(faults.n):
            v = np.int64(closed_nodes[i]) ^ (np.int64(1) << d)
            near[v] += np.uint8(1)
            if near[v] == 2 and marks[v] == OPEN:
                marks[v] = _UNSAFE
                closed_nodes[count] = v
                count += 1
        i += 1
    return count


@block
def find_distance(faults, s, t, n, refused):
    """Return the links of a shortest path from s to t over nodes whose mark is not ``refused``; -1 if there is none.

    A breadth-first search.  The marks are the same before and after.
    """
    marks, reached_nodes = faults.marks, faults.reached_nodes
    reached_nodes[0] = np.int64(s)
    marks[s] |= _REACHED
    # Nodes level_start .. level_stop - 1 of the list have the distance ``length``.
    level_start, level_stop, count, length = np.int64(0), np.int64(1), np.int64(1), np.int64(0)
    while level_start < level_stop and marks[t] < _REACHED:
        length += 1
        for i in range(level_start, level_stop):
            for d in range(n):
                v = np.int64(reached_nodes[i]) ^ (np.int64(1) << d)
                if marks[v] < _REACHED and marks[v] != refused:
                    marks[v] |= _REACHED
                    reached_nodes[count] = v
                    count += 1
        level_start, level_stop = level_stop, count
    found = marks[t] >= _REACHED
    for i in range(count):
        marks[reached_nodes[i]] ^= _REACHED
    return length if found else np.int64(-1)


@block
def _find_shortest_length(faults, s, t, n, cube):
    """Return the length of a shortest nonfaulty path; ``cube``, the memory of other kernels for that, is not used."""
    return find_distance(faults, s, t, n, FAULTY)


@block
def _is_same_subcube(faults, s, t):
    """Whether both nonfaulty nodes are unsafe and in one maximal unsafe subcube.

    No two such subcubes are adjacent, so a path over closed nodes alone stays in one.
    """
    return is_closed(faults, s) and is_closed(faults, t) and find_distance(faults, s, t, faults.n, OPEN) >= 0


@block
def blocked(faults, x, bit):
    """Whether the neighbour of node ``x`` in the dimension ``bit`` is faulty."""
    return faults.marks[x ^ bit] == FAULTY


@block
def is_closed(faults, x):
    """Whether node ``x`` is faulty or unsafe."""
    return faults.marks[x] != OPEN


@block
def is_first_path_clear(faults, s, t):
    """Whether no fault is on ROUTE's path, which corrects the highest bit first."""
    x = s
    while x != t:
        x ^= highest_bit(x ^ t)
        if faults.marks[x] == FAULTY:
            return False
    return True


_route1_rule, _route2_rule = make_route_rules(blocked)
simulate_route1, simulate_route3 = make_simulator(_route1_rule), make_simulator(make_route3_rule(blocked, is_closed))
_simulate_route2 = make_simulator(_route2_rule, searching=True)
_finish_trial = make_trial_finisher(
    simulate_route1, _simulate_route2, simulate_route3, _find_shortest_length, _is_same_subcube
)


@block
def run_byte_trial(key, t, params, work, tally):
    """Run and tally a trial at (n, f, 0, k) = params."""
    faults = work.faults
    mark_nodes(key, t, work.n, work.f, faults.marks, faults.closed_nodes, faults.ends)
    has_active = mark_unsafe_nodes(faults, work.f) < faults.marks.size
    source, target = np.uint64(faults.ends[0]), np.uint64(faults.ends[1])
    path_clear, path_unsafe = (
        is_first_path_clear(faults, source, target),
        True,
    )  # "unsafe" only costs a simulation of ROUTE3
    _finish_trial(work, path_clear, path_unsafe, has_active, source, target, t, tally)


#: Kernel at (n, f, 0, k) = params, n <= 12; see ``layout.ROUTING``.
ROUTING_BYTES = trials_kernel(set_up, run_byte_trial)
