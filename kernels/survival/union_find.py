"""Components of a network whose failed nodes or links return one by one, from the last failure to the first.

This is union-find with the sizes of the components (Newman & Ziff 2001).  A bitmask holds the live nodes, so the live neighbours
of a node are one mask.  An empty mask means an isolated node, and no search is needed while all survivors are connected.

A trial works on the arrays of a ``curve.CurveScratch``, which its blocks call ``work``.  The *giant* is one of the largest
components, given by its root.  The *state* after a number of failures is five numbers: ``components`` and ``isolated``, the
numbers of components and of isolated nodes, ``largest`` and ``second``, the sizes of the two largest components, and ``others``,
the sum of squares of the sizes of all but the giant.  ``size_counts`` counts the components of each size but the giant, so that
``second`` is its largest size.

A trial calls a block ``note`` with the state after each number of failures, from all to the least wanted one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..draws import philox
from ..draws.orders import begin_order, draw_place
from ..machine.bits import ONE, ZERO, lowest
from ..machine.jit import block

_6, _63 = np.uint64(6), np.uint64(63)


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


@block
def _find_live_slots(v, table, live):
    """Return the slots of a node whose neighbour is live, one bit per slot."""
    mask = ZERO
    for d in range(table.shape[1]):
        x = np.uint64(table[v, d])
        mask |= ((live[x >> _6] >> (x & _63)) & ONE) << np.uint64(d)
    return mask


@block
def _find_live_dimensions(v, table, live):
    """Return ``_find_live_slots`` for the hypercube, where six dimensions are in one word."""
    n, place = np.uint64(table.shape[1]), np.uint64(v) & _63
    row = np.uint64(v) >> _6
    word, mask = live[row], ZERO
    for d in range(min(n, _6)):
        mask |= ((word >> (place ^ (ONE << d))) & ONE) << d
    for d in range(_6, n):
        mask |= ((live[row ^ (ONE << (d - _6))] >> place) & ONE) << d
    return mask


@block
def _find_giant_dimensions(v, n, parent, giant):
    """Return the dimensions in which a node's neighbour has the giant as its parent, live or not; this takes no branch."""
    mask = ZERO
    for d in range(np.uint64(n)):
        mask |= np.uint64(parent[np.uint64(v) ^ (ONE << d)] == giant) << d
    return mask


@block(always=True)
def _find_second_size(second, size_counts):
    """Return the size of the second largest component, given an upper bound."""
    while second > 0 and size_counts[np.uint64(second)] == 0:
        second -= 1
    return second


def make_nodes_trial(hypercube: bool, note: Any) -> Any:
    """Return the block ``trial(key, t, work)``, in which failed nodes return one by one.

    Parameters
    ----------
    hypercube : bool
        Whether neighbours are the hypercube's.  If not, they are read from the table of ``work``.
    note : block
        ``note(work, point, failed, components, isolated, largest, second, others)`` gets the state after each number of failures,
        in falling order, and the index of the next one in ``work.wanted``.  It returns the index of the one after, if this is the
        number.
    """
    find_live = _find_live_dimensions if hypercube else _find_live_slots

    @block(always=True)
    def join_neighbours(work, v, mask, giant, largest, components, isolated, others):
        """Join node v with the components of its neighbours in the slots ``mask``.

        The joint component is not in ``size_counts`` and ``others`` yet, and those that it joins are no longer;
        ``_place_component`` adds it.  Returns its root and size, whether the giant is in it, and the new ``components``,
        ``isolated`` and ``others``.
        """
        parent, size_counts, table = work.parent, work.size_counts, work.table
        root, size, joins_giant = v, np.int64(1), False
        if hypercube:  # faster if neighbours are not read from a table
            giant_slots = _find_giant_dimensions(v, table.shape[1], parent, np.int32(giant)) & mask
            if giant_slots:
                mask ^= giant_slots
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
        nodes, fewest = order.size, work.wanted[work.tally_rows.size - 1]
        begin_order(order)
        for i in range(live.size):
            live[i] = ZERO
        components = isolated = largest = second = others = np.int64(0)
        giant = np.uint32(nodes)
        point = note(work, ZERO, nodes, components, isolated, largest, second, others)
        for failed in range(nodes - 1, fewest - 1, -1):
            v = draw_place(key, t, failed, order, work.words, philox.NODE_ORDERS)
            mask = find_live(v, table, live)
            live[np.uint64(v) >> _6] |= ONE << (np.uint64(v) & _63)
            if mask == ZERO:  # v is isolated
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
            elif components == 1 and largest > 1:  # all live nodes are in the giant
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
            point = note(work, point, failed, components, isolated, largest, second, others)
        for i in range(second + 1):  # no component but the giant is larger
            size_counts[i] = 0

    return trial


@block(always=True)
def _place_component(root, size, joins_giant, giant, largest, second, others, size_counts):
    """Record a component that has grown, with its root and size; return the giant, ``largest``, ``second`` and ``others``.

    Either it contains the giant, or the giant is the larger one of it and the giant before; the smaller one is counted.
    """
    if joins_giant:
        return root, size, _find_second_size(second, size_counts), others
    smaller = size
    if size > largest:
        smaller, largest, giant = largest, size, root
    size_counts[np.uint64(smaller)] += 1
    return giant, largest, _find_second_size(max(second, smaller), size_counts), others + smaller * smaller


def make_links_trial(note: Any, with_sizes: bool) -> Any:
    """Return the block ``trial(key, t, work)`` in which links return until all nodes are connected, as they then stay.

    ``note`` is that of ``make_nodes_trial``.  Only with ``with_sizes`` do ``largest``, ``second`` and ``others`` change.
    """

    @block
    def trial(key, t, work):
        parent, order, size_counts, ends = work.parent, work.order, work.size_counts, work.ends
        fewest = work.wanted[work.tally_rows.size - 1]
        begin_order(order)
        parent[:] = -1
        components = isolated = np.int64(parent.size)
        largest, second, others, giant = np.int64(1), np.int64(1), components - 1, np.uint32(0)
        size_counts[1] = others
        failed = order.size
        point = note(work, ZERO, failed, components, isolated, largest, second, others)
        while failed > fewest and components > 1:
            failed -= 1
            link = draw_place(key, t, failed, order, work.words, philox.LINK_ORDERS)
            a, b = _find_root(parent, np.uint32(ends[link, 0])), _find_root(parent, np.uint32(ends[link, 1]))
            if a != b:
                size_a, size_b = np.int64(-parent[a]), np.int64(-parent[b])
                isolated -= np.int64(size_a == 1) + np.int64(size_b == 1)
                components -= 1
                if with_sizes:
                    if a != giant:
                        size_counts[np.uint64(size_a)] -= 1
                        others -= size_a * size_a
                    if b != giant:
                        size_counts[np.uint64(size_b)] -= 1
                        others -= size_b * size_b
                joins_giant = giant in (a, b)
                if size_a < size_b:
                    a, b = b, a
                parent[b] = a
                parent[a] = np.int32(-size_a - size_b)
                if with_sizes:
                    giant, largest, second, others = _place_component(
                        a, size_a + size_b, joins_giant, giant, largest, second, others, size_counts
                    )
            point = note(work, point, failed, components, isolated, largest, second, others)
        while work.wanted[point] >= 0:  # further links change nothing
            point = note(work, point, work.wanted[point], components, isolated, largest, second, others)
        for i in range(second + 1):  # no component but the giant is larger
            size_counts[i] = 0

    return trial
