"""The trials of both studies: draw, build or cut, and count by name."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import bits
from ..jit import block, scratch
from ..links import LinkDraws, distinct_links, link_draws_for
from ..sampling import Draws, drawn, draws_for, mark_distinct_nodes
from ..tally import add_square, add_wide, offer
from ..trials import trials_kernel
from .broadcast import draw_ends, room, single_and_bound, steps_of
from .connectivity import Graph, cut_link, edge_connectivity, graph_arrays, join_links
from .layout import BROADCAST, NUMBER

_ONE = np.uint64(1)

# ---------------------------------------------------------------- packets

_STEPS = BROADCAST.counter("steps")
_STEPS_SQUARED = BROADCAST.counter("steps_squared")
_SINGLE = BROADCAST.counter("single")
_SINGLE_SQUARED = BROADCAST.counter("single_squared")
_BOUND = BROADCAST.counter("bound")
_BOUND_SQUARED = BROADCAST.counter("bound_squared")
_AS_STATED = BROADCAST.counter("as_stated")
_BROKEN = BROADCAST.counter("broken")
_MOST_STEPS = BROADCAST.extreme("most_steps")


@scratch
def _broadcast_room(params):
    return room(np.int64(params[0]))


@block
def _broadcast_trial(key, t, params, scratch, tally):
    """Packets from a random source around a random faulty node at a distance; params are n, d, packets."""
    n = np.int64(params[0])
    d = np.int64(params[1])
    packets = np.int64(params[2])
    source, fault = draw_ends(key, t, n, d)
    steps = steps_of(n, d, packets, source, fault, scratch)
    single, bound = single_and_bound(n, d, packets, source, fault, scratch)
    add_wide(tally, _SINGLE, np.uint64(single))
    add_square(tally, _SINGLE_SQUARED, np.uint64(single))
    add_wide(tally, _BOUND, np.uint64(bound))
    add_square(tally, _BOUND_SQUARED, np.uint64(bound))
    if steps < 0:
        tally[_BROKEN] += 1
        return
    trees = n if d == 0 else n - 1
    tally[_AS_STATED] += np.int64(steps == (packets + trees - 1) // trees + n)
    add_wide(tally, _STEPS, np.uint64(steps))
    add_square(tally, _STEPS_SQUARED, np.uint64(steps))
    offer(tally, _MOST_STEPS, steps, t)


#: ``edst-broadcast``: params n, d, packets; 2 <= n <= 12.
BROADCAST_TRIALS = trials_kernel(_broadcast_room, _broadcast_trial)

# ---------------------------------------------------------------- Edmonds' number

_TREES_0 = NUMBER.counter("trees_0")  # trees_1, trees_2, ... stand behind it
_TREES = NUMBER.counter("trees")
_TREES_SQUARED = NUMBER.counter("trees_squared")
_DEGREE = NUMBER.counter("degree")
_DEGREE_SQUARED = NUMBER.counter("degree_squared")
_CONNECTED = NUMBER.counter("connected")
_LINKED = NUMBER.counter("linked")
_ISOLATED = NUMBER.counter("isolated")
_MET = NUMBER.counter("degree_met")
_MET_CONNECTED = NUMBER.counter("degree_met_connected")
_GAP = NUMBER.counter("gap")
_FLOWS = NUMBER.counter("flows")
_LARGEST_GAP = NUMBER.extreme("largest_gap")


class _NumberRoom(NamedTuple):
    graph: Graph
    nodes: Draws
    links: LinkDraws
    lower: np.ndarray  # uint64 (links): the faulty links' lower ends
    dims: np.ndarray  # uint64 (links): and dimensions


@scratch
def _number_room(params):
    links = np.int64(params[2])
    return _NumberRoom(
        graph_arrays(np.int64(params[0])),
        draws_for(np.int64(0)),
        link_draws_for(links),
        np.empty(links, np.uint64),
        np.empty(links, np.uint64),
    )


@block
def _draw_graph(key, t, n, f, links, scratch):
    """The nonfaulty graph of trial ``t``: f distinct faulty nodes and, drawn by themselves, distinct faulty links."""
    g = scratch.graph
    size = np.int64(1) << n
    whole = bits.ALL if n >= 6 else (_ONE << np.uint64(size)) - _ONE
    draws = drawn(n, f)
    for w in range(g.nodes.size):
        g.nodes[w] = bits.ZERO
    mark_distinct_nodes(key, t, n, draws, g.nodes, scratch.nodes)
    if f == draws:
        for w in range(g.nodes.size):
            g.nodes[w] = ~g.nodes[w] & whole
    join_links(g)
    if links > 0:
        distinct_links(key, t, n, links, scratch.lower, scratch.dims, scratch.links)
        for i in range(links):
            cut_link(g, np.int64(scratch.lower[i]), np.int64(scratch.dims[i]))


@block
def _number_trial(key, t, params, scratch, tally):
    """Edmonds' number under random faults; params are n, f, links."""
    _draw_graph(key, t, np.int64(params[0]), np.int64(params[1]), np.int64(params[2]), scratch)
    trees, degree, flows = edge_connectivity(scratch.graph)
    tally[_TREES_0 + trees] += 1
    tally[_TREES] += trees
    tally[_TREES_SQUARED] += trees * trees
    tally[_DEGREE] += degree
    tally[_DEGREE_SQUARED] += degree * degree
    tally[_CONNECTED] += np.int64(trees > 0)
    tally[_LINKED] += np.int64(degree > 0)
    tally[_ISOLATED] += np.int64(degree == 0)
    tally[_MET] += np.int64(trees == degree)
    tally[_MET_CONNECTED] += np.int64(trees == degree and trees > 0)
    tally[_GAP] += degree - trees
    tally[_FLOWS] += flows
    offer(tally, _LARGEST_GAP, degree - trees, t)


#: ``edge-disjoint-trees``: params n, f, links; 2 <= n <= 12, two nonfaulty nodes at least.
NUMBER_TRIALS = trials_kernel(_number_room, _number_trial)
