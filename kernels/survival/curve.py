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
    many: Ints32  #: number of components of each size, without the giant (one of the largest)
    failed: Ints  #: count + 1: the numbers of failures in falling order, and -1
    rows: Ints  #: count entries: row of each number in the tally
    survivors: Words  #: count entries: number of nodes that survive
    states: Words  #: (5, count): the trial's events, one field each, the sizes that ``note_state`` gets, and the joined pairs
    sums: Words  #: (13, count): sums over trials, of events, and of each size, its square's low half and high half
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
        index, what, n = np.int64(params[0]), np.int64(params[1]), np.int64(params[2])
        nodes = np.int64(1) << n
        table = np.empty((nodes, slots(index, n)), np.uint16)
        tabulate(index, n, table)
        ends = np.empty((0, 2), np.int32)
        if what == 1:
            ends = _list_ends(table, n)
            table = np.empty((0, 0), np.uint16)
        count = params.size - _FAILED
        rows = np.argsort(-params[_FAILED:])
        failed = np.full(count + 1, -1, np.int64)
        survivors = np.empty(count, np.uint64)
        for i in range(count):
            failed[i] = np.int64(params[_FAILED + rows[i]])
            survivors[i] = np.uint64(nodes - failed[i] if what == 0 else nodes)
        return CurveScratch(
            table,
            ends,
            np.empty(ends.shape[0] if what == 1 else nodes, np.int32),
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
def note_state(w, at, failed, parts, isolated, largest, second, others):
    """Record the state after ``failed`` failures if it is wanted; return the index of the next wanted number."""
    if w.failed[at] == failed:
        events = np.uint64(parts == 1) | np.uint64(isolated == 0) << _NO_ISOLATED
        if parts > 1:
            events |= _DISCONNECTED if isolated else _DISCONNECTED_1_EXTRA
        w.states[0, at] = events
        w.states[1, at] = np.uint64(largest)
        w.states[2, at] = np.uint64(second)
        w.states[3, at] = np.uint64(others)
        at += ONE
    return at


@block
def _add_trial(w):
    """Add the states of one trial to the sums, in loops that LLVM vectorises."""
    count = w.rows.size
    for i in range(count):
        w.sums[0, i] += w.states[0, i]
        largest = w.states[1, i] & LOW32
        w.states[4, i] = (largest * largest + w.states[3, i] - w.survivors[i]) >> ONE
    for k in range(1, 5):
        for i in range(count):
            x = w.states[k, i] & LOW32
            square = x * x
            w.sums[3 * k - 2, i] += x
            w.sums[3 * k - 1, i] += square & LOW32
            w.sums[3 * k, i] += square >> HALF_WORD_BITS


@block
def _flush_events(w, tally):
    """Add the sums of events to the tally and clear them, before a field is full."""
    for i in range(w.rows.size):
        for j in range(4):
            tally[w.rows[i] * _SLOTS + _EVENTS[j]] += np.int64(
                (w.sums[0, i] >> np.uint64(j) * _FIELD) & np.uint64(_FULL)
            )
        w.sums[0, i] = ZERO


@block
def _flush_moments(w, tally, trials):
    """Add the sums of sizes to the tally."""
    for i in range(w.rows.size):
        row = w.rows[i] * _SLOTS
        for k in range(len(_SIZES)):
            tally[row + _SIZES[k].total] += np.int64(w.sums[3 * k + 1, i])
            tally[row + _SIZES[k].squares] += np.int64(w.sums[3 * k + 2, i])
            tally[row + _SIZES[k].squares + 1] += np.int64(w.sums[3 * k + 3, i])
        if w.states[1, i] > ZERO:  # nodes survive in each trial or in none
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
def _second_size(second, many):
    """Return the size of the second largest component, given an upper bound."""
    while second > 0 and many[np.uint64(second)] == 0:
        second -= 1
    return second


def make_nodes_trial(hypercube: bool, note: Any) -> Any:
    """Return the block ``trial(key, t, w)``, in which failed nodes return one by one; ``note`` gets each state.

    The neighbours are the hypercube's, or the neighbours in the table of ``w``.
    """
    find_live = _live_dimensions if hypercube else _live_slots

    @block
    def trial(key, t, w):
        parent, order, many, table, live = w.parent, w.order, w.many, w.table, w.live
        nodes, least = order.size, w.failed[w.rows.size - 1]
        begin_order(order)
        for i in range(live.size):
            live[i] = ZERO
        parts = isolated = largest = second = others = np.int64(0)
        giant = np.uint32(nodes)
        at = note(w, ZERO, nodes, parts, isolated, largest, second, others)
        for failed in range(nodes - 1, least - 1, -1):
            v = draw_place(key, t, failed, order, w.words, philox.NODE_ORDERS)
            mask = find_live(v, table, live)
            live[np.uint64(v) >> _6] |= ONE << (np.uint64(v) & _63)
            if mask == ZERO:
                parent[v] = -1
                parts += 1
                isolated += 1
                if largest == 0:
                    largest = np.int64(1)
                    giant = v
                else:
                    many[ONE] += 1
                    others += 1
                    second = max(second, np.int64(1))
            elif parts == 1 and largest > 1:
                parent[v] = giant
                largest += 1
                parent[giant] = -largest
            else:
                root, size, joins_giant = v, np.int64(1), False
                if hypercube:  # faster if neighbours are not read from a table
                    near = _giant_dimensions(v, table.shape[1], parent, np.int32(giant)) & mask
                    if near:
                        mask ^= near
                        root, size, joins_giant = giant, largest + 1, True
                        parts -= 1
                        parent[v] = giant
                parent[root] = np.int32(-size)
                while mask != ZERO:
                    d = np.uint64(lowest(mask))
                    mask &= mask - ONE
                    x = np.uint32(np.uint64(v) ^ (ONE << d)) if hypercube else np.uint32(table[v, d])
                    if parent[x] == root:
                        continue
                    r = _find_root(parent, x)
                    if r == root:
                        continue
                    other = np.int64(-parent[r])
                    isolated -= other == 1
                    parts -= 1
                    if r == giant:
                        joins_giant = True
                    else:
                        many[np.uint64(other)] -= 1
                        others -= other * other
                    if other > size:
                        parent[root] = r
                        root = r
                    else:
                        parent[r] = root
                    size += other
                parent[root] = np.int32(-size)
                parts += 1
                giant, largest, second, others = _place_component(
                    root, size, joins_giant, giant, largest, second, others, many
                )
            at = note(w, at, failed, parts, isolated, largest, second, others)
        for i in range(second + 1):
            many[i] = 0

    return trial


@block(always=True)
def _place_component(root, size, joins_giant, giant, largest, second, others, many):
    """Record a component that has grown; return the giant, the largest and second sizes, and the sum of squares of the rest."""
    if joins_giant:
        return root, size, _second_size(second, many), others
    small = size
    if size > largest:
        small, largest, giant = largest, size, root
    many[np.uint64(small)] += 1
    return giant, largest, _second_size(max(second, small), many), others + small * small


def make_links_trial(note: Any, sizes: bool) -> Any:
    """Return the block ``trial(key, t, w)`` in which links return until all nodes are connected, as they then stay.

    ``note`` receives each state; the sizes of the two largest components are computed only with ``sizes``.
    """

    @block
    def trial(key, t, w):
        parent, order, many, ends = w.parent, w.order, w.many, w.ends
        least = w.failed[w.rows.size - 1]
        begin_order(order)
        parent[:] = -1
        parts = isolated = np.int64(parent.size)
        largest, second, others, giant = np.int64(1), np.int64(1), parts - 1, np.uint32(0)
        many[1] = others
        failed = order.size
        at = note(w, ZERO, failed, parts, isolated, largest, second, others)
        while failed > least and parts > 1:
            failed -= 1
            link = draw_place(key, t, failed, order, w.words, philox.LINK_ORDERS)
            a, b = _find_root(parent, np.uint32(ends[link, 0])), _find_root(parent, np.uint32(ends[link, 1]))
            if a != b:
                x, y = np.int64(-parent[a]), np.int64(-parent[b])
                isolated -= np.int64(x == 1) + np.int64(y == 1)
                parts -= 1
                if sizes:
                    if a != giant:
                        many[np.uint64(x)] -= 1
                        others -= x * x
                    if b != giant:
                        many[np.uint64(y)] -= 1
                        others -= y * y
                joins_giant = giant in (a, b)
                if x < y:
                    a, b = b, a
                parent[b] = a
                parent[a] = np.int32(-x - y)
                if sizes:
                    giant, largest, second, others = _place_component(
                        a, x + y, joins_giant, giant, largest, second, others, many
                    )
            at = note(w, at, failed, parts, isolated, largest, second, others)
        while w.failed[at] >= 0:
            at = note(w, at, w.failed[at], parts, isolated, largest, second, others)
        for i in range(second + 1):
            many[i] = 0

    return trial


def make_curve_kernel(trial: Any, variant: str, scratch_for: Any = curve_scratch_for, **cached: Any) -> Any:
    """Return the kernel that counts a block ``trial(key, t, w)`` in its scratch memory."""

    @kernel(TRIALS_SIGNATURE, variant=variant, **cached)
    def curve(key, first, stop, params, tally):
        w = scratch_for(params)
        waiting = 0
        for t in range(first, stop):
            trial(key, t, w)
            _add_trial(w)
            waiting += 1
            if waiting == _FULL:
                _flush_events(w, tally)
                waiting = 0
        _flush_events(w, tally)
        _flush_moments(w, tally, stop - first)

    return curve


NODES_TRIAL, LINKS_TRIAL = make_nodes_trial(False, note_state), make_links_trial(note_state, True)

CURVE_HYPERCUBE = make_curve_kernel(make_nodes_trial(True, note_state), "hypercube")
CURVE_NODES = make_curve_kernel(NODES_TRIAL, "nodes")
CURVE_LINKS = make_curve_kernel(LINKS_TRIAL, "links")
