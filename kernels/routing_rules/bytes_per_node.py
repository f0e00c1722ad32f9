"""Routing rules with faulty nodes alone, n <= 12, on one byte per node: the kernel with which a run begins.

It counts like ``scalar`` and the lanes, at several times the time per trial, and compiles in half the time of ``scalar``.  It
finds in each trial whether a path exists, which the other kernels do only up to n = MAX_SEARCHED_DIMENSION = 12, so that larger
cubes would count otherwise.

H is the Hamming distance of a message from s to t.  A neighbour is *preferred* if it is nearer to t, else *spare*.  Nodes are
*unsafe* if they are nonfaulty and have two or more faulty or unsafe neighbours, *closed* if they are faulty or unsafe, and else
*active*.  Safety levels and vectors are defined in ``safety_status.py``.  They are needed only if both ends are unsafe and not
neighbours.  They are computed for the nodes that lack a level or a bit, starting from the faulty nodes, because a node lacks one
only if enough of its neighbours do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..cube.labels import LabelSet, label_set
from ..draws.node_marks import FAULTY, mark_nodes
from ..machine.array_types import I64, U64, Cells, Ints, Words
from ..machine.bits import ONE, ZERO, highest_bit, popcount
from ..machine.jit import Kernel, block, scratch
from ..machine.trials import trials_kernel
from ..routing.bytes_per_node import (
    Marks,
    find_distance,
    is_closed,
    is_first_path_clear,
    mark_unsafe_nodes,
    marks_for,
    simulate_route1,
    simulate_route3,
)
from ..routing.rules import LOST, STUCK, SearchScratch, search_scratch_for
from .layout import MOST_RULES, NAMES, REFERENCE, F, N, make_layout
from .recorders import make_trial_recorder
from .rules import POINT_KEY, REFUSED, TRIAL_NUMBER, make_bounded_rules
from .safety_status import LEVELS, VECTORS
from .scalar import make_rules_runner


class World(NamedTuple):
    """The trial as rules see it, with scratch memory."""

    n: I64
    f: I64
    whole: U64  #: mask of all n dimensions
    faults: Marks  #: one byte per node: its mark
    closed_count: Ints  #: (1): number of closed nodes
    now: Words  #: (2): the key of the point at POINT_KEY and the trial at TRIAL_NUMBER
    search: SearchScratch  #: for ROUTE1 and ROUTE3
    seen: LabelSet  #: nodes that a message of DFS has visited
    bits: Words  #: list of bits inside one call of a rule: in DFS of the hops on its stack, in A1 of those left to correct


class Status(NamedTuple):
    """Safety statuses of one trial; the first index is the kind, LEVELS or VECTORS."""

    #: (2, 2^n): bit k = 1 .. n of a node's 16-bit entry is set if bit k of its vector is not, or its level is below k
    lacks: Cells
    listed: Cells  #: (2, 2^n): the nodes with a bit in ``lacks``, of which all other entries are 0
    counts: Ints  #: (2): number of listed nodes; -1 before the trial's statuses are computed


class Workspace(NamedTuple):
    """Scratch memory of trials at one point."""

    world: World  #: the trial as rules see it
    status: Status
    results: Ints  #: result of each rule of the table in the trial


@scratch
def set_up(params):
    """Return scratch memory for trials at (n, f, 0) = params."""
    n = np.int64(params[N])
    nodes = np.int64(1) << n
    world = World(
        n,
        np.int64(params[F]),
        (ONE << np.uint64(n)) - ONE,
        marks_for(n),
        np.zeros(1, np.int64),
        np.zeros(2, np.uint64),
        search_scratch_for(np.int64(1)),
        label_set(nodes),
        np.empty(nodes, np.uint64),
    )
    status = Status(np.zeros((2, nodes), np.uint16), np.empty((2, nodes), np.uint16), np.full(2, -1))
    return Workspace(world, status, np.zeros(MOST_RULES, np.int64))


# ---------------------------------------------------------------- safety statuses


#: Changes of ``Marks.near`` by 1 and by -1, which is 255 in numbers of 8 bits.
_MORE, _LESS = np.uint8(1), np.uint8(255)


@block
def _forget_status(status):
    """Clear the statuses of the trial before."""
    for kind in range(2):
        for i in range(status.counts[kind]):
            status.lacks[kind, status.listed[kind, i]] = 0
        status.counts[kind] = -1


@block
def _add_to_neighbours(world, lacks, listed, bit, change):
    """Add ``change`` to ``near`` of each neighbour of the ``listed`` nodes that lack a bit."""
    for i in range(listed.size):
        if lacks[listed[i]] & bit:
            for d in range(world.n):
                world.faults.near[np.int64(listed[i]) ^ (np.int64(1) << d)] += change


@block
def _compute_status(world, status, kind):
    """Compute a trial's levels or vectors, unless that is done, by the recursion of ``safety_status``.

    Overwrites ``Marks.near``, whose numbers of closed neighbours only ``mark_unsafe_nodes`` needs, at the beginning of a trial.
    """
    if status.counts[kind] >= 0:
        return
    marks, near = world.faults.marks, world.faults.near
    lacks, listed = status.lacks[kind], status.listed[kind]
    count = world.f
    for i in range(count):
        listed[i] = world.faults.closed_nodes[i]  # the first f closed nodes are the faulty ones
        lacks[listed[i]] = np.uint16(2 * world.whole)  # bits 1 .. n
    for v in range(near.size):
        near[v] = 0
    # in pass k ``near`` counts the neighbours of each node that lack bit k; a node with more than k lacks bit k + 1
    for k in range(1, world.n):
        this_bit, next_bit, known = np.uint16(1 << k), np.uint16(2 << k), count
        _add_to_neighbours(world, lacks, listed[:known], this_bit, _MORE)
        for i in range(known):
            if lacks[listed[i]] & this_bit:
                if kind == LEVELS:  # a level below k is below k + 1
                    lacks[listed[i]] |= next_bit
                for d in range(world.n):
                    w = np.int64(listed[i]) ^ (np.int64(1) << d)
                    if near[w] > k and marks[w] != FAULTY:
                        if not lacks[w]:
                            listed[count] = w
                            count += 1
                        lacks[w] |= next_bit
        _add_to_neighbours(world, lacks, listed[:known], this_bit, _LESS)  # all counts are 0 again
    status.counts[kind] = count


@block
def _has_bit(status, v, k):
    """Whether bit k of the vector of node ``v`` is set, 1 <= k <= n."""
    return status.lacks[VECTORS, v] >> np.uint16(k) & np.uint16(1) == 0


@block
def _level(world, status, v):
    """Return the level of node ``v``: the number of bits that it does not lack, because it lacks the highest ones."""
    return world.n - popcount(np.uint64(status.lacks[LEVELS, v]))


@block
def _highest_level_bit(world, status, u, among):
    """Return the first of the bits ``among`` whose neighbour has the highest level, and that level; ZERO if all levels are 0."""
    best, most = ZERO, np.int64(0)
    while among:
        bit = highest_bit(among)
        among ^= bit
        found = _level(world, status, u ^ bit)
        if found > most:
            best, most = bit, found
    return best, most


@block
def _first_vector_bit(status, u, among, k):
    """Return the first of the bits ``among`` over which a node has bit k in its vector; ZERO if there is none."""
    while among:
        bit = highest_bit(among)
        among ^= bit
        if _has_bit(status, u ^ bit, k):
            return bit
    return ZERO


@block
def _route_by_status(world, status, kind, u, t):
    """Return the length of a route from u to t by levels or by vectors, over preferred links only, or STUCK."""
    links = np.int64(0)
    while popcount(u ^ t) > 1:
        if kind == LEVELS:
            bit, _ = _highest_level_bit(world, status, u, u ^ t)
        else:
            bit = _first_vector_bit(status, u, u ^ t, popcount(u ^ t) - 1)
        if bit == ZERO:
            return STUCK
        u ^= bit
        links += 1
    return links + 1


@block
def _route_from(world, status, kind, s, bit, t):
    """Return the length of a route whose first link is ``bit``, REFUSED if that is ZERO, or STUCK."""
    if bit == ZERO:
        return REFUSED
    links = _route_by_status(world, status, kind, s ^ bit, t)
    return links + 1 if links >= 0 else links


# ---------------------------------------------------------------- rules


@block
def _route(world, status, s, t):
    return popcount(s ^ t) if is_first_path_clear(world.faults, s, t) else LOST


@block
def _route1(world, status, s, t):
    return simulate_route1(world.faults, s, t, world.whole, np.int64(1), world.search)


@block
def _route3(world, status, s, t):
    if world.closed_count[0] == world.faults.marks.size:
        return REFUSED
    return simulate_route3(world.faults, s, t, world.whole, np.int64(1), world.search)


@block
def _takes_shortest_path(world, s, t):
    """Whether a message by safety statuses takes a shortest path: an end is active, or the ends are neighbours."""
    return popcount(s ^ t) == 1 or not (is_closed(world.faults, s) and is_closed(world.faults, t))


@block
def _levels(world, status, s, t):
    h, spare = popcount(s ^ t), world.whole & ~(s ^ t)
    if _takes_shortest_path(world, s, t):
        return h
    _compute_status(world, status, LEVELS)
    bit, most = _highest_level_bit(world, status, s, s ^ t)
    if most < h - 1:
        bit, most = _highest_level_bit(world, status, s, spare)
        bit = bit if most > h else ZERO
    return _route_from(world, status, LEVELS, s, bit, t)


@block
def _vectors(world, status, s, t):
    h, spare = popcount(s ^ t), world.whole & ~(s ^ t)
    if _takes_shortest_path(world, s, t):
        return h
    _compute_status(world, status, VECTORS)
    bit = _first_vector_bit(status, s, s ^ t, h - 1)
    if bit == ZERO:
        bit = _first_vector_bit(status, s, spare, h + 1)
    return _route_from(world, status, VECTORS, s, bit, t)


@block
def _blocked_bits(faults, x, whole):
    """Return the dimensions across which the neighbour of ``x`` is faulty."""
    out, rest = ZERO, whole
    while rest:
        bit = highest_bit(rest)
        rest ^= bit
        if faults.marks[x ^ bit] == FAULTY:
            out |= bit
    return out


_bounded_a1, _bounded_dfs, _bounded_sidetrack = make_bounded_rules(_blocked_bits)


@block
def _a1(world, status, s, t):
    return _bounded_a1(world.faults, s, t, world.whole, world.bits)


@block
def _dfs(world, status, s, t):
    return _bounded_dfs(world.faults, s, t, world.whole, world.bits, world.seen)


@block
def _sidetrack(world, status, s, t):
    now = world.now
    return _bounded_sidetrack(world.faults, s, t, world.whole, world.n, now[POINT_KEY], now[TRIAL_NUMBER])


_RULES = dict(zip(NAMES, (_route, _route1, _route3, _levels, _vectors, _a1, _dfs, _sidetrack), strict=True))


def make_bytes_kernel(names: Sequence[str], reference: str = REFERENCE) -> Kernel:
    """Return the kernel of a table of built-in rules at (n, f, 0) = params, n <= 12."""
    run_rules = make_rules_runner([_RULES[name] for name in names], names)
    record_trial, count = make_trial_recorder(make_layout(names, reference), names, reference), len(names)

    @block
    def run_byte_trial(key, trial, params, scratch, tally):
        world, status, results = scratch
        faults = world.faults
        mark_nodes(key, trial, world.n, world.f, faults.marks, faults.closed_nodes, faults.ends)
        world.closed_count[0] = mark_unsafe_nodes(faults, world.f)
        world.now[POINT_KEY], world.now[TRIAL_NUMBER] = key, np.uint64(trial)
        _forget_status(status)
        s, t = np.uint64(faults.ends[0]), np.uint64(faults.ends[1])
        run_rules(world, status, s, t, results)
        h = popcount(s ^ t)
        shortest = np.int64(-1)  # no path
        for i in range(count):
            if results[i] == h:  # no path is shorter
                shortest = h
        if shortest < 0:
            shortest = find_distance(faults, s, t, world.n, FAULTY)
        record_trial(tally, results, h, shortest >= 0, np.int64(shortest == h), trial)

    return trials_kernel(set_up, run_byte_trial)


#: Kernel of the study ``routing-rules``; see ``layout.ROUTING_RULES``.
ROUTING_RULES_BYTES = make_bytes_kernel(NAMES)
