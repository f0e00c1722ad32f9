"""Whether a network stays connected under the faults of 512 trials at a time, by sweeps over its nodes.

A *lane* is a trial of a group of 512, and a *row* holds one bit per lane.  Row v begins at word 8 v of its array, and lane t is
bit t & 63 of word t >> 6 of each row.  Row v of ``alive`` has the lanes in which node v is nonfaulty, row v of ``reached`` the
lanes in which a search has reached it.  Row i of ``works`` has the lanes in which link i is nonfaulty; it is not read if no links
fail.  One more row of ``alive`` and of ``reached``, ``drawing.empty_row_index``, stands for no neighbour and must stay zero.

The *seed* of a lane is its first nonfaulty node with a nonfaulty neighbour.  ``fill_verdict`` calls three steps in this order:

1. ``_find_seeds`` and ``_sweep_nodes``: a sweep upwards in the order of the labels, which can reach nodes only from earlier
   neighbours, and a sweep downwards, in which only later neighbours have changed.  They reach nearly all of the seed's component.
   Nodes that are not reached in all their lanes are listed at the end of ``listed``.
2. ``_drop_isolated_nodes``: the first sweep over that list moves it to the begin of ``listed``, without lanes in which the node
   is isolated.
3. ``_sweep_until_stable``: the listed nodes are swept until nothing changes.  A lane with a nonfaulty node that was not reached
   is disconnected.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cube.link_numbers import contains_hypercube, is_matched, names_link, number_links
from ..cube.tables import make_tabulate
from ..machine import simd
from ..machine.array_types import I64, Ints, Ints32, Words, Words32
from ..machine.bits import ALL_BITS, ONE, ZERO
from ..machine.jit import block, scratch
from . import drawing

_2 = np.uint64(2)

#: Rows of ``Sweeps.verdict``: the events of COMPARED_EVENTS in order, and the lanes with at least two nonfaulty nodes.
_VERDICTS = 5
CONNECTED, NO_ISOLATED, EXTRA_1, PAIR_CONNECTED, TWO_SURVIVORS = range(_VERDICTS)

#: Up to this number of nodes, isolated nodes are searched without a test whether lanes are left, because usually there are some.
_UNCHECKED_NODES = 256


class Sweeps(NamedTuple):
    """A network prepared for sweeps, and what the sweeps of one group find."""

    nodes: I64  #: number of nodes
    #: (nodes + 1): index of each node's first entry in ``neighbour_words``; unsigned, so that Numba omits the test for negative
    #: indices
    begin: Words
    later_begin: Words  #: (nodes): index of the node's first entry of a neighbour with a larger label
    #: first words, 8 w, of the rows of the neighbours w, the earlier ones first; both groups padded to an even number by the
    #: empty row
    neighbour_words: Words32
    link_words: Words32  #: first words of the rows of the links to these neighbours; empty if no links fail
    numbers: Ints32  #: (2^n, slots + 1): see ``number_links``; no rows if no links fail
    link_count: I64  #: number of links, 0 if none fail
    paired: bool  #: whether each link of the hypercube has its name and number in the network too, so that they fail together
    listed: Ints  #: (nodes): scratch, the nodes that are not reached in all lanes
    #: (nodes rows): scratch, the lanes left to reach, in the order of ``listed``; without lanes where the node is isolated
    left: Words
    reached: Words  #: a row per node: the lanes in which it is in the seed's component, for the last group
    verdict: Words  #: one row for each of CONNECTED .. TWO_SURVIVORS, for the last group
    seen: Words  #: a bitmask of nodes for ``pair_verdicts``, empty between its searches


@scratch
def prepare_table(table, n, links_fail):
    """Return the ``Sweeps`` of the network of a table, whose links can fail if ``links_fail`` is set."""
    numbers, link_count = np.empty((0, 0), np.int32), np.int64(0)
    if links_fail:
        numbers, link_count = number_links(table, n)
    return prepare_numbered(table, n, numbers, link_count)


@scratch
def prepare_numbered(table, n, numbers, link_count):
    """Return the ``Sweeps`` of the network of a table, whose links fail by their ``numbers``, or not at all.

    Column d of the table has the neighbours in slot d, or the node itself if it has no link there.  In a matched network slot d
    flips bit d (``cube/link_numbers.py``).  The numbers are below ``link_count``, which is 0 if no links fail.
    """
    nodes, slots = table.shape
    no_node = drawing.empty_row_index(n)
    begin = np.zeros(nodes + 1, np.uint64)
    later_begin = np.zeros(nodes, np.uint64)
    neighbour_words = np.full(nodes * (slots + 2), 8 * no_node, np.uint32)
    link_words = np.zeros(neighbour_words.size if link_count else 0, np.uint32)
    matched = is_matched(table, n)
    at = np.int64(0)
    for v in range(nodes):
        begin[v] = at
        for later in range(2):  # first the neighbours with a smaller label, then those with a larger one
            if later:
                at = (at + 1) & ~1  # to an even number
                later_begin[v] = at
            for d in range(slots):
                w = np.int64(table[v, d])
                if w != v and (w > v) == (later == 1):
                    neighbour_words[at] = 8 * w
                    if link_count:
                        link_words[at] = 8 * numbers[v if names_link(v, w, d, matched) else w, d]
                    at += 1
        at = (at + 1) & ~1
    begin[nodes] = at
    reached = drawing.rows_for(no_node + 1)
    reached[:] = 0
    return Sweeps(
        np.int64(nodes),
        begin,
        later_begin,
        neighbour_words[:at],
        link_words[: at if link_count else 0],
        numbers,
        link_count,
        matched or contains_hypercube(table, n),
        np.empty(nodes, np.int64),
        drawing.rows_for(nodes),
        reached,
        np.empty(8 * _VERDICTS, np.uint64),
        np.zeros((nodes + 63) // 64, np.uint64),
    )


def make_preparation(step: Any) -> Any:
    """Return the block ``prepare_sweeps(index, n, slots, links_fail)``: the Sweeps of the network of ``step(index, v, d, n)``."""
    tabulate = make_tabulate(step)

    @scratch
    def prepare_sweeps(index, n, slots, links_fail):
        table = np.empty((np.int64(1) << n, slots), np.int32)
        tabulate(index, n, table)
        return prepare_table(table, n, links_fail)

    return prepare_sweeps


@block(always=True)
def _marked_neighbour_lanes(rows, works, links_fail, net, first, stop):
    """Return the lanes in which ``rows`` has a neighbour of the entries ``first .. stop - 1``, over a nonfaulty link.

    ``rows`` is ``alive`` or ``reached``.  Both bounds are even, because the groups of neighbours are padded.
    """
    found = simd.splat(ZERO)
    i = first
    while i < stop:
        if links_fail:
            found = simd.bit_or3(
                found, _working_link_lanes(rows, works, net, i), _working_link_lanes(rows, works, net, i + ONE)
            )
        else:
            found = simd.bit_or3(
                found, simd.load(rows, net.neighbour_words[i]), simd.load(rows, net.neighbour_words[i + ONE])
            )
        i += _2
    return found


@block(always=True)
def _working_link_lanes(rows, works, net, i):
    """Return the lanes in which ``rows`` has the neighbour of entry i and the link to it is nonfaulty."""
    return simd.load(rows, net.neighbour_words[i]) & simd.load(works, net.link_words[i])


@block(always=True)
def _is_empty(x):
    """Whether a row has no lane."""
    return simd.bits(x != 0) == ZERO


@block
def _find_seeds(alive, works, links_fail, net):
    """Begin the sweep upwards, until every lane has a seed and two nonfaulty nodes.

    Returns the first node that is not swept, the lanes with a nonfaulty node, and the lanes with two.  It writes the rows of
    ``reached`` of the nodes before, and needs none of the last group's.
    """
    full = simd.splat(ALL_BITS)
    seeded = one_alive = two_alive = simd.splat(ZERO)
    v = np.int64(0)
    while v < net.nodes and not _is_empty(full & ~(seeded & two_alive)):
        alive_here = simd.load(alive, 8 * v)
        joined = alive_here & _marked_neighbour_lanes(alive, works, links_fail, net, net.begin[v], net.begin[v + 1])
        two_alive = two_alive | (one_alive & alive_here)
        one_alive = one_alive | alive_here
        is_seed = joined & ~seeded
        earlier = _marked_neighbour_lanes(net.reached, works, links_fail, net, net.begin[v], net.later_begin[v])
        seeded = seeded | joined
        simd.store(net.reached, 8 * v, (is_seed | earlier) & alive_here)
        v += 1
    return v, one_alive, two_alive


@block
def _sweep_nodes(alive, works, links_fail, net, begin):
    """Finish the sweep upwards from node ``begin``, sweep downwards, and list the nodes that are not reached in all their lanes.

    Returns the index of the first node of the list, which ends at the end of ``listed``; ``left`` is not filled yet.
    """
    for v in range(begin, net.nodes):
        earlier = _marked_neighbour_lanes(net.reached, works, links_fail, net, net.begin[v], net.later_begin[v])
        simd.store(net.reached, 8 * v, earlier & simd.load(alive, 8 * v))
    at = net.listed.size  # filled from the end, so that the list is ascending
    for v in range(net.nodes - 1, -1, -1):
        alive_here = simd.load(alive, 8 * v)
        later = _marked_neighbour_lanes(net.reached, works, links_fail, net, net.later_begin[v], net.begin[v + 1])
        reached_here = (simd.load(net.reached, 8 * v) | later) & alive_here
        simd.store(net.reached, 8 * v, reached_here)
        at -= 1
        net.listed[at] = v
        at += np.int64(_is_empty(reached_here ^ alive_here))  # a node that is reached in all its lanes is not kept
    return at


@block
def _drop_isolated_nodes(alive, works, links_fail, net, begin):
    """Sweep the nodes listed from ``begin`` on upwards, and list the nodes with lanes left to reach, from index 0 on.

    The new list is in the same array.  It overwrites no node that is still to be swept, because each step lists one at most.
    Lanes in which the node is isolated are not left to reach.  Returns the lanes with an isolated node, the lanes in which the
    sweep reached a node, and the number of nodes listed.
    """
    isolated = newly_reached = simd.splat(ZERO)
    stop = np.int64(0)
    for k in range(begin, net.listed.size):
        v = net.listed[k]
        old = simd.load(net.reached, 8 * v)
        left = simd.load(alive, 8 * v) & ~old
        new = left & _marked_neighbour_lanes(net.reached, works, links_fail, net, net.begin[v], net.later_begin[v])
        newly_reached = newly_reached | new
        simd.store(net.reached, 8 * v, old | new)
        left = left ^ new
        if net.nodes <= _UNCHECKED_NODES or not _is_empty(left):
            lonely = left & ~_marked_neighbour_lanes(alive, works, links_fail, net, net.begin[v], net.begin[v + 1])
            isolated = isolated | lonely
            stop = _append_node(v, left ^ lonely, stop, np.int64(1), net)
    return isolated, newly_reached, stop


@block
def _sweep_until_stable(alive, works, links_fail, net, begin):
    """Sweep the nodes listed from ``begin`` on until nothing changes.

    Returns the lanes in which a node is isolated, and the lanes in which a node is not reached.  Sweeps alternate in direction,
    and each leaves in the list, from ``first`` to ``stop``, the nodes with lanes left to reach.  A sweep upwards tests earlier
    neighbours only, because later ones have not changed since the sweep downwards before it, and vice versa.
    """
    isolated, newly_reached, stop = _drop_isolated_nodes(alive, works, links_fail, net, begin)
    first = np.int64(0)
    step = np.int64(-1)
    while first < stop and not _is_empty(newly_reached):
        newly_reached = simd.splat(ZERO)
        at = kept = first if step > 0 else stop - 1  # the next node to sweep, and the next free place for one
        for _ in range(stop - first):
            v, left = net.listed[at], simd.load(net.left, 8 * at)
            begin_near, stop_near = (
                (net.begin[v], net.later_begin[v]) if step > 0 else (net.later_begin[v], net.begin[v + 1])
            )
            new = left & _marked_neighbour_lanes(net.reached, works, links_fail, net, begin_near, stop_near)
            newly_reached = newly_reached | new
            simd.store(net.reached, 8 * v, new | simd.load(net.reached, 8 * v))
            kept = _append_node(v, left ^ new, kept, step, net)
            at += step
        if step > 0:
            stop = kept
        else:
            first = kept + 1
        step = -step
    disconnected = simd.splat(ZERO)
    for k in range(first, stop):
        disconnected = disconnected | simd.load(net.left, 8 * k)
    return isolated, disconnected | isolated


@block(always=True)
def _append_node(v, left, at, step, net):
    """List a node at ``at`` if it has lanes left to reach; return the next index, which is ``at`` itself if it has none."""
    net.listed[at] = v
    simd.store(net.left, 8 * at, left)
    return at if _is_empty(left) else at + step


@block
def fill_verdict(alive, works, links_fail, net):
    """Fill ``verdict`` for the faults of a group; ``PAIR_CONNECTED`` only in lanes with all nonfaulty nodes connected.

    The other lanes of PAIR_CONNECTED are set by ``pair_verdicts.decide_pairs``, which reads ``reached``.  A lane with one
    nonfaulty node is connected, a lane without one is not.
    """
    begin, one_alive, two_alive = _find_seeds(alive, works, links_fail, net)
    first = _sweep_nodes(alive, works, links_fail, net, begin)
    isolated, disconnected = _sweep_until_stable(alive, works, links_fail, net, first)
    full = simd.splat(ALL_BITS)
    disconnected = disconnected & two_alive
    simd.store(net.verdict, 8 * CONNECTED, one_alive & ~disconnected)
    simd.store(net.verdict, 8 * NO_ISOLATED, full & ~isolated)
    simd.store(net.verdict, 8 * EXTRA_1, disconnected & ~isolated)
    simd.store(net.verdict, 8 * PAIR_CONNECTED, two_alive & ~disconnected)
    simd.store(net.verdict, 8 * TWO_SURVIVORS, two_alive)


@block
def evaluate_node_sets(alive, net):
    """Return the lanes in which the nonfaulty nodes are connected, and where they are not although none is isolated."""
    fill_verdict(alive, alive, False, net)
    return simd.load(net.verdict, 8 * CONNECTED), simd.load(net.verdict, 8 * EXTRA_1)


@block
def most_faults_examined(n):
    """Return the largest number of faulty nodes for which ``is_surely_connected`` is used; -1 for n < 3."""
    if n < 3:
        return np.int64(-1)
    return 2 * n - 3 if n < 9 else 3 * n - 6


@block
def is_surely_connected(alive, n, f):
    """Whether a few neighbours of each node show that the hypercube is connected in all lanes; False decides nothing.

    Up to f = 2n - 3, a disconnected hypercube has a node without a nonfaulty neighbour.  Up to f = 3n - 6 it has a node with at
    most one (N11; Harper's order, ``close_faults.py``).  Dimensions 0 to 2 are tested, and with more faults 0 to 5.
    """
    full = simd.splat(ALL_BITS)
    shown = full  # lanes in which all nodes so far have enough nonfaulty neighbours
    for v in range(np.int64(1) << n):
        a, b, c = simd.load(alive, 8 * (v ^ 1)), simd.load(alive, 8 * (v ^ 2)), simd.load(alive, 8 * (v ^ 4))
        enough = simd.bit_or3(a, b, c)  # one of three neighbours
        if f > 2 * n - 3:
            d, e, g = simd.load(alive, 8 * (v ^ 8)), simd.load(alive, 8 * (v ^ 16)), simd.load(alive, 8 * (v ^ 32))
            both = enough & simd.bit_or3(d, e, g)  # two of six: one of each three, or two of three
            enough = simd.bit_or3(both, simd.majority(a, b, c), simd.majority(d, e, g))
        shown = shown & enough
    return _is_empty(full & ~shown)


@block
def set_connected_verdict(net):
    """Fill ``verdict`` for a group in which every lane is connected."""
    for i in range(_VERDICTS):
        simd.store(net.verdict, 8 * i, simd.splat(ZERO if i == EXTRA_1 else ALL_BITS))


@block
def min_degree(net):
    """Return the least number of links of a node."""
    least = np.int64(64)
    for v in range(net.nodes):
        degree = np.int64(0)
        for i in range(net.begin[v], net.begin[v + 1]):
            degree += np.int64(np.int64(net.neighbour_words[i]) >> 3 < net.nodes)  # the empty row is beyond the nodes
        least = min(least, degree)
    return least
