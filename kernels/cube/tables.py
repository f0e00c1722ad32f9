"""Networks as tables of neighbours, and searches on them; a table is made from a step (``steps``) once per call.

Row v of a table, int32 of shape (2^n, slots), has the neighbours of node v in the order of the slots, or v itself where a slot
has no link.  ``length`` of a search is int32 of 2^n: FAULTY, OPEN (nonfaulty, not reached) or the distance from the start.
``cut`` has bit d of word v set if the link of node v in slot d is faulty; it is empty if no link is faulty.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..machine.bits import ONE, ZERO
from ..machine.jit import Kernel, block, kernel, scratch
from ..machine.trials import name_variant
from .slots import SLOTS
from .steps import STEPS, chain_steps

#: Values of ``length`` that are not distances.
OPEN, FAULTY = np.int32(-1), np.int32(-2)

#: The step of every named network, selected by its index in SLOTS.
named_step = chain_steps(STEPS)

#: The three numbers of each network's formula in SLOTS, one network after another.
_FORMULAS = tuple(number for row in SLOTS.values() for number in row)


@block
def named_slots(index, n):
    """Return the number of slots of a named network."""
    return _FORMULAS[3 * index] * n // _FORMULAS[3 * index + 1] + _FORMULAS[3 * index + 2]


def make_tabulate(step: Any) -> Any:
    """Return the block ``tabulate(index, n, table)`` that fills a table from a block ``step(index, v, d, n)``.

    If a step leaves the label range, or its slot is not a matching (a user's step at an unchecked size), there is no link.
    """

    @block
    def tabulate(index, n, table):
        nodes = np.int64(1) << n
        for v in range(nodes):
            for d in range(table.shape[1]):
                w = step(index, np.int64(v), np.int64(d), n)
                table[v, d] = w if 0 <= w < nodes and step(index, w, np.int64(d), n) == v else v

    return tabulate


def table_kernel(step: Any, variant: str, cache: bool = True, code: Callable[..., Any] | None = None) -> Kernel:
    """Return the kernel that makes tables of a block ``step(index, v, d, n)``."""

    tabulate = make_tabulate(step)

    @kernel("int32[:, ::1](int64, int64, int64)", variant=variant, cache=cache, code=code)
    def table(index, n, slots):
        """Return the table of network ``index`` on 2^n nodes with ``slots`` slots."""
        out = np.empty((np.int64(1) << n, slots), np.int32)
        tabulate(index, n, out)
        return out

    return table


#: Kernel of the tables of named networks.
TABLE = table_kernel(named_step, "named")


def wrap_user_step(step: Any) -> Any:
    """Return a user's step, compiled or not, as a block with an unused parameter ``index``."""
    compiled_step = step if hasattr(step, "py_func") else block(step)

    @block
    def call_user_step(index, v, d, n):
        return np.int64(compiled_step(np.int64(v), np.int64(d), np.int64(n)))

    return call_user_step


def wrap_user_slots(slots: Callable[[int], int], most: int) -> Any:
    """Return a user's numbers of slots, n = 0 .. most, as a block ``count_user_slots(index, n)``."""
    counts = tuple(int(slots(n)) if n else 0 for n in range(most + 1))

    @block
    def count_user_slots(index, n):
        return np.int64(counts[n])

    return count_user_slots


def user_step_kernel(step: Any) -> Kernel:
    """Return the kernel that applies a user's step to arrays of nodes and slots: the step as all counting kernels compile it."""
    name, cache = name_variant(step)
    indexed = wrap_user_step(step)

    @kernel("int64[::1](int64[::1], int64[::1], int64)", variant=name, cache=cache, code=getattr(step, "py_func", step))
    def apply_step(nodes, slots, n):
        """Return the other ends of these slots of these nodes, unchecked."""
        out = np.empty(nodes.size, np.int64)
        for i in range(nodes.size):
            out[i] = indexed(np.int64(0), nodes[i], slots[i], n)
        return out

    return apply_step


@block
def search_nodes(table, cut, start, length, queue):
    """Set ``length`` of the nodes that ``start`` reaches to their distances, list them in ``queue``, and return their number."""
    queue[0] = start
    length[start] = 0
    at, count = np.int64(0), np.int64(1)
    while at < count:
        v = queue[at]
        at += 1
        dead = cut[v] if cut.size else ZERO
        for d in range(table.shape[1]):
            w = table[v, d]
            if length[w] == OPEN and (dead >> np.uint64(d)) & ONE == ZERO:
                length[w] = length[v] + 1
                queue[count] = w
                count += 1
    return count


@scratch
def _initial_lengths(faulty):
    """Return the ``length`` before a search."""
    length = np.empty(faulty.size, np.int32)
    for v in range(faulty.size):
        length[v] = FAULTY if faulty[v] else OPEN
    return length


@kernel("int32[::1](int32[:, ::1], boolean[::1], uint64[::1], int64)")
def lengths_from(table, faulty, cut, start):
    """Return the ``length`` of a search from a nonfaulty node."""
    length = _initial_lengths(faulty)
    search_nodes(table, cut, start, length, np.empty(faulty.size, np.int32))
    return length


@kernel("int64[::1](int32[:, ::1], boolean[::1], uint64[::1])")
def component_sizes(table, faulty, cut):
    """Return the sizes of the connected components of the nonfaulty nodes, in no order."""
    length = _initial_lengths(faulty)
    queue = np.empty(faulty.size, np.int32)
    sizes = np.empty(faulty.size, np.int64)
    count = np.int64(0)
    for v in range(faulty.size):
        if length[v] == OPEN:
            sizes[count] = search_nodes(table, cut, np.int32(v), length, queue)
            count += 1
    return sizes[:count].copy()


@kernel("int64(int32[:, ::1], boolean[::1], uint64[::1])")
def find_diameter(table, faulty, cut):
    """Return the largest distance between two nonfaulty nodes; -1 if they are disconnected, -2 if there are none."""
    first = _initial_lengths(faulty)
    queue = np.empty(faulty.size, np.int32)
    alive = np.int64(0)
    for v in range(faulty.size):
        alive += first[v] == OPEN
    most = np.int64(0)
    length = first.copy()
    for v in range(faulty.size):
        if first[v] == FAULTY:
            continue
        length[:] = first
        if search_nodes(table, cut, np.int32(v), length, queue) < alive:
            return np.int64(-1)
        most = max(most, np.int64(length[queue[alive - 1]]))
    return most if alive else np.int64(-2)


@kernel("int64[::1](int32[:, ::1])")
def count_shared_neighbours(table):
    """Return the number of nonadjacent pairs of nodes by the size of the union of their neighbourhoods, 0 .. 2 slots.

    Every pair is first counted as if it shared no neighbour, by the nodes of each degree so far.  Then the pairs of a node at
    distance 1 are taken away, and those at distance 2 are moved by the number of their shared neighbours, ``common``.
    """
    nodes, slots = table.shape
    degree = np.zeros(nodes, np.int64)
    for v in range(nodes):
        for d in range(slots):
            degree[v] += table[v, d] != v
    of_degree = np.zeros(slots + 1, np.int64)
    out = np.zeros(2 * slots + 1, np.int64)
    common = np.zeros(nodes, np.int64)
    at_distance2 = np.empty(slots * slots + 1, np.int64)
    for v in range(nodes):
        degree_v = degree[v]
        for k in range(slots + 1):
            out[degree_v + k] += of_degree[k]
        of_degree[degree_v] += 1
        count = np.int64(0)
        for d in range(slots):
            w = table[v, d]
            if w == v:
                continue
            if w < v:
                out[degree_v + degree[w]] -= 1
                common[w] = -slots - 1  # adjacent, whatever the number of shared neighbours
            for e in range(slots):
                u = table[w, e]
                if u < v and u != w:
                    if common[u] >= 0:
                        at_distance2[count] = u
                        count += common[u] == 0
                    common[u] += 1
        for i in range(count):
            u = at_distance2[i]
            if common[u] > 0:
                out[degree_v + degree[u]] -= 1
                out[degree_v + degree[u] - common[u]] += 1
            common[u] = 0
        for d in range(slots):
            common[table[v, d]] = 0
    return out
