"""Trials of ``survival`` and ``survival-rate``, 512 at a time: a network, and the hypercube under the same faults.

Entry points: ``SURVIVAL_NODES`` and the other kernels at the end of this module.  They sample trials with the study's key
(``drawing.py``), which takes most of the time, and evaluate them by sweeps (``sweeps.py``).  The random pair of nonfaulty nodes
s, t is sampled only in lanes in which a network is disconnected (``pair_verdicts.py``).

A *lane* is one trial of a group of 512, and a *row* is one vector of eight words with a bit per lane.  Two *sides* are compared:
the network, and the hypercube.  The *verdicts* of a side are rows, row i from word 8 i of ``Sweeps.verdict`` on: the lanes in
which event i of ``_EVENTS`` happens, and in row TWO_SURVIVORS those with two nonfaulty nodes or more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..cube.tables import named_slots, named_step
from ..machine import simd
from ..machine.jit import TRIALS_SIGNATURE, Kernel, block, kernel
from ..tally.layout import Layout
from . import drawing
from .drawing_by_rate import draw_links_by_rate, draw_nodes_by_rate, rate_sampling_for
from .layout import COMPARED_EVENTS, SURVIVAL
from .pair_verdicts import alive_rows_for, decide_pairs, group_sample_for, set_valid_lanes
from .scalar import read_point
from .sweeps import (
    CONNECTED,
    EXTRA_1,
    NO_ISOLATED,
    PAIR_CONNECTED,
    TWO_SURVIVORS,
    fill_verdict,
    is_surely_connected,
    make_preparation,
    min_degree,
    most_faults_examined,
    set_connected_verdict,
)

_EVENT_OF_ROW = {
    CONNECTED: "connected",
    NO_ISOLATED: "no_isolated_node",
    EXTRA_1: "extra_1",
    PAIR_CONNECTED: "st_connected",
}

#: Names of the compared events by row of the verdicts, so that counter i of each family below belongs to row i.
_EVENTS = tuple(_EVENT_OF_ROW[row] for row in range(len(COMPARED_EVENTS)))

_COUNTS = SURVIVAL.family("{}", _EVENTS)
_CUBE = SURVIVAL.family("cube_{}", _EVENTS)
_PAIRS = SURVIVAL.counter("pairs")


@block(always=True)
def count_bits(x):
    """Return the number of bits that are set in a vector."""
    return np.int64(simd.total(simd.popcount(x)))


def make_verdict_counter(layout: Layout, prefix: str) -> Any:
    """Return the block that tallies the verdicts of two sides by a layout, whose counters of the second begin with ``prefix``."""
    counts, other_counts = layout.family("{}", _EVENTS), layout.family(f"{prefix}_{{}}", _EVENTS)
    diffs, differs = layout.family("{}_diff", _EVENTS), layout.family("{}_differs", _EVENTS)
    pairs = layout.counter("pairs")

    @block
    def count_verdicts(valid, own, other, compared, tally):
        """Tally the verdicts of the side ``own`` in the ``valid`` lanes, a row, and if ``compared`` those of ``other``.

        The sides are ``Sweeps``.
        """
        counted = simd.load(valid, 0)
        tally[pairs] += count_bits(counted & simd.load(own.verdict, 8 * TWO_SURVIVORS))
        for row in range(len(counts)):
            own_lanes = counted & simd.load(own.verdict, 8 * row)
            own_count = count_bits(own_lanes)
            tally[counts[row]] += own_count
            if compared:
                other_lanes = counted & simd.load(other.verdict, 8 * row)
                other_count = count_bits(other_lanes)
                tally[other_counts[row]] += other_count
                tally[diffs[row]] += own_count - other_count
                tally[differs[row]] += count_bits(own_lanes ^ other_lanes)

    return count_verdicts


_count_verdicts = make_verdict_counter(SURVIVAL, "cube")


@block
def count_surely_connected(trials, has_pair, tally):
    """Tally ``trials`` trials whose network and hypercube are surely connected; ``has_pair``: two nodes are nonfaulty."""
    for row in (CONNECTED, NO_ISOLATED):
        tally[_COUNTS[row]] += trials
        tally[_CUBE[row]] += trials
    if has_pair:
        tally[_COUNTS[PAIR_CONNECTED]] += trials
        tally[_CUBE[PAIR_CONNECTED]] += trials
        tally[_PAIRS] += trials


def survival_kernel(step: Any, slots: Any, *, by_rate: bool, links: bool, variant: str, **cached: Any) -> Kernel:
    """Return the kernel for the trials of networks given by a block ``step(index, v, d, n)``.

    ``params`` is (index of the network, n, f, number of faulty links) or, with ``by_rate``, (index, n, node failure rate, link
    failure rate).

    Parameters
    ----------
    step : block
        ``step(index, v, d, n)`` is the neighbour of node v by its slot d, or v itself if it has none there.
    slots : block
        ``slots(index, n)`` is the number of slots d of each node.
    by_rate : bool
        Whether nodes and links fail by rates.
    links : bool
        Whether links fail; without it the last parameter is taken to be 0.
    variant : str
        Name of the kernel among those made here.
    **cached
        ``cache`` and ``code`` of ``kernel``, for a user's network.
    """
    prepare = make_preparation(step)
    prepare_cube = make_preparation(named_step)
    links_fail = np.int64(1 if links else 0)
    named = step is named_step

    @kernel(TRIALS_SIGNATURE, variant=variant, **cached)
    def survival(key, first, stop, params, tally):
        """Count trials of the network, ``own``, and of the hypercube, ``cube``, under the same faults.

        They are not ``compared`` if links fail that name no links of the hypercube.  Then, and if the network is the hypercube,
        ``cube`` is the ``same`` object as ``own``, so it is not evaluated again.
        """
        point = read_point(params)
        index, n = point.network, point.n
        nodes = np.int64(1) << n
        f = np.int64(-1) if by_rate else np.int64(point.faults)  # -1: nodes fail by a rate
        faulty_links = np.int64(point.links) if links and not by_rate else np.int64(0)
        own = prepare(index, n, slots(index, n), links_fail)
        compared = not links or own.paired or point.links == 0
        same = (named and index == 0) or not compared
        cube = own if same else prepare_cube(np.int64(0), n, n, links_fail)
        # fewer faults than the least degree disconnect none of the built-in networks
        if named and not links and 0 <= f < min(n, min_degree(own)):
            count_surely_connected(stop - first, nodes - f >= 2, tally)
            return
        # whether so few nodes fail that the neighbours of each node can show that the hypercube is connected
        examined = not same and not links and 0 <= f <= most_faults_examined(n)
        workspace = drawing.drawing_workspace_for(n, f)
        # the hypercube has more links if none fails and the network does not contain it
        most_links = max(own.link_count, cube.link_count)
        # point.faults and point.links are rates if ``by_rate``, else numbers
        sampling = rate_sampling_for(nodes, point.faults if by_rate else 1.0)
        link_sampling = rate_sampling_for(most_links, point.links if by_rate and links else 1.0)
        alive, works = alive_rows_for(n), drawing.rows_for(most_links)
        sample = group_sample_for(alive, works)
        for group in range(first - first % drawing.GROUP_TRIALS, stop, drawing.GROUP_TRIALS):
            if by_rate:
                draw_nodes_by_rate(key, group, n, sampling, alive, workspace)
            else:
                drawing.draw_nodes(key, group, n, f, alive, workspace)
            if links:
                if by_rate:
                    draw_links_by_rate(key, group, n, link_sampling, own.numbers, works, workspace)
                else:
                    drawing.draw_links(key, group, n, faulty_links, own.numbers, works, workspace)
            fill_verdict(alive, works, links, own)
            if examined and is_surely_connected(alive, n, f):
                set_connected_verdict(cube)
            elif not same:
                fill_verdict(alive, works, links, cube)
            set_valid_lanes(sample, group, first, stop)
            decide_pairs(key, group, n, by_rate, workspace.pair_places, sample, links, own, cube, same)
            _count_verdicts(sample.valid, own, cube, compared, tally)

    return survival


SURVIVAL_NODES = survival_kernel(named_step, named_slots, by_rate=False, links=False, variant="nodes")
SURVIVAL_LINKS = survival_kernel(named_step, named_slots, by_rate=False, links=True, variant="links")
SURVIVAL_RATE_NODES = survival_kernel(named_step, named_slots, by_rate=True, links=False, variant="rate_nodes")
SURVIVAL_RATE_LINKS = survival_kernel(named_step, named_slots, by_rate=True, links=True, variant="rate_links")


def _crossed_points(*sizes: tuple[int, int]) -> tuple[tuple[str, int, int, int], ...]:
    return tuple(("crossed", n, f, 0) for n, f in sizes)


#: Points (network, n, f, links) on both sides of each threshold inside these kernels, by the reason for the threshold.
EDGES = {
    "fewer faults than the least degree disconnect nothing": tuple(
        (network, 6, f, 0) for network in ("hypercube", "crossed", "folded", "exchanged") for f in (2, 3, 5, 6)
    ),
    "up to 2n - 3 faults the hypercube is connected if no node is isolated (n < 9)": (
        _crossed_points((4, 5), (4, 6), (8, 13), (8, 14))
    ),
    "above 256 nodes (``sweeps``), isolated nodes are searched for where lanes are left": (
        _crossed_points((8, 96), (9, 192))
    ),
    "from n = 9 on, up to 3n - 6 faults, it is connected if every node has two nonfaulty neighbours": (
        _crossed_points((9, 15), (9, 16), (9, 21), (9, 22))
    ),
    "below n = 3 a node has no neighbour over bit 2": _crossed_points((2, 1), (2, 2), (3, 2), (3, 3)),
}
