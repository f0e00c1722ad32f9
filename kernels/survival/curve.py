"""Survivors after every number of failures of one random order: components return from the last failure to the first.

This is union-find with the sizes of the components (Newman & Ziff 2001).  A bitmask holds the live nodes, so the live neighbours
of a node are one mask.  An empty mask means an isolated node, and no search is needed while all survivors are connected.

``params`` is (network, failing, n, failed, failed, ...).  The tally holds the layout's slots for each number ``failed``, in their
order.  The scratch memory holds the numbers in falling order, because failures are taken back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cube.link_numbers import list_link_names, number_links
from ..cube.tables import make_tabulate, named_slots, named_step
from ..draws import philox
from ..draws.orders import begin_order, draw_place
from ..machine.array_types import Ints, Ints32, Words, Words16
from ..machine.bits import HALF_WORD_BITS, LOW32, ONE, ZERO, lowest
from ..machine.jit import TRIALS_SIGNATURE, block, kernel, scratch
from .layout import CURVE, CURVE_EVENTS

_SLOTS = np.int64(CURVE.size)
_EVENTS = CURVE.family("{}", CURVE_EVENTS)
_SOME = CURVE.counter("some")
_SIZES = tuple(CURVE.moments(name) for name in ("largest", "second", "others", "connected_pairs"))

#: Index in ``params`` of the first number of failures.
_FAILED = 3

#: Values of ``failing`` in ``params``.
_FAILING_NODES, _FAILING_LINKS = 0, 1

#: Quantities of _SIZES: nodes of the largest and of the second largest component, the sum of squares of the sizes of all
#: components but the largest, and the connected pairs of nodes.
_LARGEST, _SECOND, _OTHERS, _PAIRS = range(4)

#: Bits of each event's sum in a word, and number of trials until such a sum may be full.
_FIELD, _FULL = np.uint64(16), 65535
_NO_ISOLATED, _DISCONNECTED, _DISCONNECTED_1_EXTRA = np.uint64(32), np.uint64(1 << 16), np.uint64(1 << 16 | 1 << 48)

#: Indices of ``CurveScratch.first``, and their number.
DISCONNECTION, ISOLATED_NODE, _FIRST_EVENTS = range(3)

_6, _63 = np.uint64(6), np.uint64(63)


class CurveScratch(NamedTuple):
    """Scratch memory of a call; ``count`` is the number of points."""

    table: Words16  #: (2^n, slots): neighbours, n <= 16; no rows if links fail
    ends: Ints32  #: (links, 2): ends of links; no rows if nodes fail
    order: Ints32  #: the components that fail, by number
    words: Words  #: 16: see ``draw_place``
    parent: Ints32  #: one entry per node: its parent, or at a root the negative size of the component
    live: Words  #: one bit per node: whether it is live
    size_counts: Ints32  #: number of components of each size, without the giant (one of the largest)
    failed: Ints  #: count + 1: the numbers of failures in falling order, and -1
    rows: Ints  #: count entries: row of each number in the tally
    survivors: Words  #: count entries: number of nodes that survive
    states: Words  #: (5, count): the trial's events, one field each, then the quantities _LARGEST .. _PAIRS
    sums: Words  #: (13, count): sums over trials: of events, and of each quantity, its square's low half and high half
    first: Ints  #: used by ``hitting``: failures at the first DISCONNECTION and at the first ISOLATED_NODE


@scratch
def _list_ends(table, n):
    """Return both ends of each link, in the order of their numbers."""
    _, links = number_links(table, n)
    ends = np.empty((links, 2), np.int32)
    names = list_link_names(table, n, links)
    for i in range(links):
        ends[i, 0], ends[i, 1] = names[i, 0], table[names[i, 0], names[i, 1]]
    return ends


def make_curve_scratch(step: Any, slots: Any) -> Any:
    """Return the function ``curve_scratch_for(params)`` for networks given by blocks step(index, v, d, n) and slots(index, n)."""
    tabulate = make_tabulate(step)

    @scratch
    def curve_scratch_for(params):
        index, failing, n = np.int64(params[0]), np.int64(params[1]), np.int64(params[2])
        nodes = np.int64(1) << n
        table = np.empty((nodes, slots(index, n)), np.uint16)
        tabulate(index, n, table)
        ends = np.empty((0, 2), np.int32)
        if failing == _FAILING_LINKS:
            ends = _list_ends(table, n)
            table = np.empty((0, 0), np.uint16)
        count = params.size - _FAILED
        rows = np.argsort(-params[_FAILED:])
        failed = np.full(count + 1, -1, np.int64)
        survivors = np.empty(count, np.uint64)
        for i in range(count):
            failed[i] = np.int64(params[_FAILED + rows[i]])
            survivors[i] = np.uint64(nodes - failed[i] if failing == _FAILING_NODES else nodes)
        return CurveScratch(
            table,
            ends,
            np.empty(ends.shape[0] if failing == _FAILING_LINKS else nodes, np.int32),
            np.empty(16, np.uint64),
            np.empty(nodes, np.int32),
            np.zeros((nodes + 63) >> 6, np.uint64),
            np.zeros(nodes + 1, np.int32),
            failed,
            rows,
            survivors,
            np.zeros((5, count), np.uint64),
            np.zeros((13, count), np.uint64),
            np.zeros(_FIRST_EVENTS, np.int64),
        )

    return curve_scratch_for


curve_scratch_for = make_curve_scratch(named_step, named_slots)


@block
def _find_root(parent, v):
    """Return the root of node ``v``.  Nodes are uint32, because Numba tests each signed index for being negative."""
    p = parent[v]
    while p >= 0:
        q = parent[np.uint32(p)]
        if q < 0:
            return np.uint32(p)
        parent[v] = q
        v = np.uint32(q)
        p = parent[v]
    return v


# ---------------------------------------------------------------- one number of failures


@block(always=True)
def note_state(work, at, failed, components, isolated, largest, second, others):
    """Record the state after ``failed`` failures if it is wanted; return the index of the next wanted number.

    The state is the number of components and of isolated nodes, and the quantities _LARGEST, _SECOND and _OTHERS.
    """
    if work.failed[at] == failed:
        events = np.uint64(components == 1) | np.uint64(isolated == 0) << _NO_ISOLATED
        if components > 1:
            events |= _DISCONNECTED if isolated else _DISCONNECTED_1_EXTRA
        work.states[0, at] = events
        work.states[1 + _LARGEST, at] = np.uint64(largest)
        work.states[1 + _SECOND, at] = np.uint64(second)
        work.states[1 + _OTHERS, at] = np.uint64(others)
        at += ONE
    return at


@block
def _add_trial(work):
    """Add the states of one trial to the sums, in loops that LLVM vectorises."""
    count = work.rows.size
    for i in range(count):
        work.sums[0, i] += work.states[0, i]
        largest = work.states[1 + _LARGEST, i] & LOW32
        squares = largest * largest + work.states[1 + _OTHERS, i]
        work.states[1 + _PAIRS, i] = (squares - work.survivors[i]) >> ONE  # the sum of c (c - 1) / 2 over all sizes c
    for k in range(len(_SIZES)):
        for i in range(count):
            x = work.states[1 + k, i] & LOW32
            square = x * x
            work.sums[3 * k + 1, i] += x
            work.sums[3 * k + 2, i] += square & LOW32
            work.sums[3 * k + 3, i] += square >> HALF_WORD_BITS


@block
def _flush_events(work, tally):
    """Add the sums of events to the tally and clear them, before a field is full."""
    for i in range(work.rows.size):
        for j in range(4):
            tally[work.rows[i] * _SLOTS + _EVENTS[j]] += np.int64(
                (work.sums[0, i] >> np.uint64(j) * _FIELD) & np.uint64(_FULL)
            )
        work.sums[0, i] = ZERO


@block
def _flush_moments(work, tally, trials):
    """Add the sums of sizes to the tally."""
    for i in range(work.rows.size):
        row = work.rows[i] * _SLOTS
        for k in range(len(_SIZES)):
            tally[row + _SIZES[k].total] += np.int64(work.sums[3 * k + 1, i])
            tally[row + _SIZES[k].squares] += np.int64(work.sums[3 * k + 2, i])
            tally[row + _SIZES[k].squares + 1] += np.int64(work.sums[3 * k + 3, i])
        if work.states[1, i] > ZERO:  # nodes survive in each trial or in none
            tally[row + _SOME] += trials


# ---------------------------------------------------------------- one trial


@block
def _live_slots(v, table, live):
    """Return the slots of a node whose neighbour is live, one bit per slot."""
    mask = ZERO
    for d in range(table.shape[1]):
        x = np.uint64(table[v, d])
        mask |= ((live[x >> _6] >> (x & _63)) & ONE) << np.uint64(d)
    return mask


@block
def _live_dimensions(v, table, live):
    """Return ``_live_slots`` for the hypercube, where six dimensions are in one word."""
    n, place = np.uint64(table.shape[1]), np.uint64(v) & _63
    row = np.uint64(v) >> _6
    word, mask = live[row], ZERO
    for d in range(min(n, _6)):
        mask |= ((word >> (place ^ (ONE << d))) & ONE) << d
    for d in range(_6, n):
        mask |= ((live[row ^ (ONE << (d - _6))] >> place) & ONE) << d
    return mask


@block
def _giant_dimensions(v, n, parent, giant):
    """Return the dimensions in which a node's neighbour has the giant as its parent, live or not; this takes no branch."""
    mask = ZERO
    for d in range(np.uint64(n)):
        mask |= np.uint64(parent[np.uint64(v) ^ (ONE << d)] == giant) << d
    return mask


@block(always=True)
def _second_size(second, size_counts):
    """Return the size of the second largest component, given an upper bound."""
    while second > 0 and size_counts[np.uint64(second)] == 0:
        second -= 1
    return second


def make_nodes_trial(hypercube: bool, note: Any) -> Any:
    """Return the block ``trial(key, t, work)``, in which failed nodes return one by one; ``note`` gets each state.

    The neighbours are the hypercube's, or the neighbours in the table of ``work``.
    """
    find_live = _live_dimensions if hypercube else _live_slots

    @block(always=True)
    def join_neighbours(work, v, mask, giant, largest, components, isolated, others):
        """Join node v with the components of its neighbours in the slots ``mask``, which are no longer listed.

        Returns the root and size of the joint component, whether the giant is in it, and the three numbers of the state.
        """
        parent, size_counts, table = work.parent, work.size_counts, work.table
        root, size, joins_giant = v, np.int64(1), False
        if hypercube:  # faster if neighbours are not read from a table
            near = _giant_dimensions(v, table.shape[1], parent, np.int32(giant)) & mask
            if near:
                mask ^= near
                root, size, joins_giant = giant, largest + 1, True
                components -= 1
                parent[v] = giant
        parent[root] = np.int32(-size)
        while mask != ZERO:
            d = np.uint64(lowest(mask))
            mask &= mask - ONE
            x = np.uint32(np.uint64(v) ^ (ONE << d)) if hypercube else np.uint32(table[v, d])
            if parent[x] == root:
                continue
            other_root = _find_root(parent, x)
            if other_root == root:
                continue
            other_size = np.int64(-parent[other_root])
            isolated -= other_size == 1
            components -= 1
            if other_root == giant:
                joins_giant = True
            else:
                size_counts[np.uint64(other_size)] -= 1
                others -= other_size * other_size
            if other_size > size:
                parent[root] = other_root
                root = other_root
            else:
                parent[other_root] = root
            size += other_size
        parent[root] = np.int32(-size)
        return root, size, joins_giant, components + 1, isolated, others

    @block
    def trial(key, t, work):
        parent, order, size_counts, table, live = work.parent, work.order, work.size_counts, work.table, work.live
        nodes, least = order.size, work.failed[work.rows.size - 1]
        begin_order(order)
        for i in range(live.size):
            live[i] = ZERO
        components = isolated = largest = second = others = np.int64(0)
        giant = np.uint32(nodes)
        at = note(work, ZERO, nodes, components, isolated, largest, second, others)
        for failed in range(nodes - 1, least - 1, -1):
            v = draw_place(key, t, failed, order, work.words, philox.NODE_ORDERS)
            mask = find_live(v, table, live)
            live[np.uint64(v) >> _6] |= ONE << (np.uint64(v) & _63)
            if mask == ZERO:
                parent[v] = -1
                components += 1
                isolated += 1
                if largest == 0:
                    largest = np.int64(1)
                    giant = v
                else:
                    size_counts[ONE] += 1
                    others += 1
                    second = max(second, np.int64(1))
            elif components == 1 and largest > 1:
                parent[v] = giant
                largest += 1
                parent[giant] = -largest
            else:
                root, size, joins_giant, components, isolated, others = join_neighbours(
                    work, v, mask, giant, largest, components, isolated, others
                )
                giant, largest, second, others = _place_component(
                    root, size, joins_giant, giant, largest, second, others, size_counts
                )
            at = note(work, at, failed, components, isolated, largest, second, others)
        for i in range(second + 1):
            size_counts[i] = 0

    return trial


@block(always=True)
def _place_component(root, size, joins_giant, giant, largest, second, others, size_counts):
    """Record a component that has grown; return the giant, and the quantities _LARGEST, _SECOND and _OTHERS."""
    if joins_giant:
        return root, size, _second_size(second, size_counts), others
    small = size
    if size > largest:
        small, largest, giant = largest, size, root
    size_counts[np.uint64(small)] += 1
    return giant, largest, _second_size(max(second, small), size_counts), others + small * small


def make_links_trial(note: Any, with_sizes: bool) -> Any:
    """Return the block ``trial(key, t, work)`` in which links return until all nodes are connected, as they then stay.

    ``note`` receives each state; the sizes of the two largest components are computed only with ``with_sizes``.
    """

    @block
    def trial(key, t, work):
        parent, order, size_counts, ends = work.parent, work.order, work.size_counts, work.ends
        least = work.failed[work.rows.size - 1]
        begin_order(order)
        parent[:] = -1
        components = isolated = np.int64(parent.size)
        largest, second, others, giant = np.int64(1), np.int64(1), components - 1, np.uint32(0)
        size_counts[1] = others
        failed = order.size
        at = note(work, ZERO, failed, components, isolated, largest, second, others)
        while failed > least and components > 1:
            failed -= 1
            link = draw_place(key, t, failed, order, work.words, philox.LINK_ORDERS)
            a, b = _find_root(parent, np.uint32(ends[link, 0])), _find_root(parent, np.uint32(ends[link, 1]))
            if a != b:
                x, y = np.int64(-parent[a]), np.int64(-parent[b])  # the sizes of both components
                isolated -= np.int64(x == 1) + np.int64(y == 1)
                components -= 1
                if with_sizes:
                    if a != giant:
                        size_counts[np.uint64(x)] -= 1
                        others -= x * x
                    if b != giant:
                        size_counts[np.uint64(y)] -= 1
                        others -= y * y
                joins_giant = giant in (a, b)
                if x < y:
                    a, b = b, a
                parent[b] = a
                parent[a] = np.int32(-x - y)
                if with_sizes:
                    giant, largest, second, others = _place_component(
                        a, x + y, joins_giant, giant, largest, second, others, size_counts
                    )
            at = note(work, at, failed, components, isolated, largest, second, others)
        while work.failed[at] >= 0:
            at = note(work, at, work.failed[at], components, isolated, largest, second, others)
        for i in range(second + 1):
            size_counts[i] = 0

    return trial


def make_curve_kernel(trial: Any, variant: str, scratch_for: Any = curve_scratch_for, **cached: Any) -> Any:
    """Return the kernel that counts the trials of a block ``trial(key, t, work)``, which writes its states to ``work``."""

    @kernel(TRIALS_SIGNATURE, variant=variant, **cached)
    def curve(key, first, stop, params, tally):
        work = scratch_for(params)
        waiting = 0
        for t in range(first, stop):
            trial(key, t, work)
            _add_trial(work)
            waiting += 1
            if waiting == _FULL:
                _flush_events(work, tally)
                waiting = 0
        _flush_events(work, tally)
        _flush_moments(work, tally, stop - first)

    return curve


#: Trials in which nodes, or links, of any network fail.
NODES_TRIAL = make_nodes_trial(False, note_state)
LINKS_TRIAL = make_links_trial(note_state, with_sizes=True)

#: Kernels of failing nodes of the hypercube, failing nodes of other networks, and failing links.
CURVE_HYPERCUBE = make_curve_kernel(make_nodes_trial(True, note_state), "hypercube")
CURVE_NODES = make_curve_kernel(NODES_TRIAL, "nodes")
CURVE_LINKS = make_curve_kernel(LINKS_TRIAL, "links")
