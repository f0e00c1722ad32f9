"""The dead links of one trial, n <= 16: the faulty links and the links of faulty nodes, each once, and their FAULT words.

FAULT[u][k] is set iff the link of u in dimension k is dead (Leu & Kuo, R1 and R19).  So FAULT is symmetric, and the list
determines the dead links of a tree.  The words tell which links are listed already, whether a node is isolated, and the sink, the
smallest node without a dead link.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..draws.enumerate_sets import decode_link, next_set
from ..draws.links import ProposedLinks, mark_distinct_links, proposed_links
from ..draws.nodes import Draws, count_sampled_labels, draw_faults, draws_for
from ..machine import bits, simd
from ..machine.array_types import I64, Words, Words16
from ..machine.bits import ONE
from ..machine.jit import Kernel, block, scratch
from ..machine.trials import trials_kernel

#: Lanes of a vector of 16 bits.
LANE_COUNT = 32


class TreePoint(NamedTuple):
    """The axes of the studies of trees, in their order."""

    n: I64
    links: I64
    f: I64


#: Number of axes: where the numbers of a fault set begin in the parameters of kernels of all sets.
AXES = len(TreePoint._fields)


@block
def read_point(params):
    """Return the :class:`TreePoint` of a kernel's parameters."""
    return TreePoint(np.int64(params[0]), np.int64(params[1]), np.int64(params[2]))


class DeadLinks(NamedTuple):
    """The dead links of one trial; made by ``dead_links_for``."""

    fault_words: Words16  #: FAULT of every node, padded with 0xFFFF to a whole vector; 0 between trials
    low: Words16  #: lower ends of the dead links; only those of the trial's count are valid
    bit: Words16  #: their dimensions, as single bits
    nodes: Words  #: the faulty nodes
    proposed: ProposedLinks  #: scratch memory to sample links
    node_draws: Draws


@block
def max_dead_links(n, links, f):
    """Return the largest number of dead links of Q_n with ``links`` faulty links and f faulty nodes."""
    return min(links + n * f, n << (n - 1))


@scratch
def dead_links_for(n, links, f):
    """Return cleared scratch memory for trials with ``links`` faulty links and f faulty nodes of Q_n."""
    size = max_dead_links(n, links, f) + LANE_COUNT
    fault_words = np.full(max(1 << n, LANE_COUNT), 0xFFFF, np.uint16)
    fault_words[: 1 << n] = 0
    sampled = count_sampled_labels(n, f)
    return DeadLinks(
        fault_words,
        np.empty(size, np.uint16),
        np.empty(size, np.uint16),
        np.empty(max(f, sampled), np.uint64),
        proposed_links(),
        draws_for(sampled),
    )


@block
def draw_dead_links(key, t, n, links, f, dead):
    """Sample trial ``t``'s faulty links and nodes, independently, and list the dead links; return their number.

    The FAULT words must be 0: the caller ends a trial with ``clear_dead_links``.
    """
    mark_distinct_links(key, t, n, links, dead.fault_words, dead.low, dead.bit, dead.proposed)
    draw_faults(key, t, n, f, dead.nodes, dead.node_draws)
    return add_node_links(n, links, f, dead)


@block
def add_node_links(n, count, f, dead):
    """Append the links of f faulty nodes that are not in the list of ``count`` links; return the number of dead links."""
    for i in range(f):
        v = np.int64(dead.nodes[i])
        for k in range(n):
            link = np.int64(1) << k
            if not dead.fault_words[v] & link:
                dead.fault_words[v] |= np.uint16(link)
                dead.fault_words[v ^ link] |= np.uint16(link)
                dead.low[count] = np.uint16(v & ~link)
                dead.bit[count] = np.uint16(link)
                count += 1
    return count


@block
def next_dead_links(n, links, f, numbers, dead):
    """List the dead links of a fault set, and return their number.

    The set is given by ``numbers``, of the links and then of the nodes, which are advanced to the next set.
    """
    for i in range(links):
        low, bit = decode_link(n, np.int64(numbers[i]))
        dead.fault_words[low] |= np.uint16(bit)
        dead.fault_words[low | bit] |= np.uint16(bit)
        dead.low[i] = np.uint16(low)
        dead.bit[i] = np.uint16(bit)
    for i in range(f):
        dead.nodes[i] = np.uint64(numbers[links + i])
    next_set(n, links, f, numbers)
    return add_node_links(n, links, f, dead)


@block
def clear_dead_links(count, dead):
    """Clear the FAULT words of ``count`` dead links."""
    for i in range(count):
        dead.fault_words[dead.low[i]] = np.uint16(0)
        dead.fault_words[dead.low[i] | dead.bit[i]] = np.uint16(0)


@block
def first_sink(dead):
    """Return the smallest label with FAULT = 0, or -1 (R3)."""
    zero = simd.splat_like(simd.load(dead.fault_words, 0), np.uint64(0))
    for start in range(0, dead.fault_words.size, LANE_COUNT):
        sinks = simd.bits(simd.load(dead.fault_words, start) == zero)
        if sinks:
            return start + bits.lowest(sinks)
    return np.int64(-1)


@block
def count_isolated(n, dead):
    """Return the number of nodes with FAULT = 1^n, which are faulty or isolated."""
    full = simd.splat_like(simd.load(dead.fault_words, 0), (ONE << np.uint64(n)) - ONE)
    found = np.int64(0)
    for start in range(0, max(np.int64(1) << n, LANE_COUNT), LANE_COUNT):
        isolated = simd.bits(simd.load(dead.fault_words, start) == full)
        if n < 5:  # without the padding
            isolated &= (ONE << (ONE << np.uint64(n))) - ONE
        found += bits.popcount(isolated)
    return found


def make_kernels(set_up: Any, evaluate: Any) -> tuple[Kernel, Kernel]:
    """Return two kernels of a study at points (n, links, f), n <= 16: for random trials, and for all fault sets.

    Parameters
    ----------
    set_up : scratch
        As of ``trials_kernel``; its result has a field ``dead``, from ``dead_links_for``.
    evaluate : block
        ``evaluate(n, t, count, scratch, tally)`` counts trial ``t``, whose ``count`` dead links are listed in ``scratch.dead``.

    Returns
    -------
    tuple
        The ``params`` of the second kernel end with the first set's numbers, 0, 1, ... for links and then for nodes; each trial
        advances them to the next set.
    """

    @block
    def trial(key, t, params, scratch, tally):
        n, links, f = read_point(params)
        count = draw_dead_links(key, t, n, links, f, scratch.dead)
        evaluate(n, t, count, scratch, tally)
        clear_dead_links(count, scratch.dead)

    @block
    def trial_of_set(key, t, params, scratch, tally):
        n, links, f = read_point(params)
        count = next_dead_links(n, links, f, params[AXES:], scratch.dead)
        evaluate(n, t, count, scratch, tally)
        clear_dead_links(count, scratch.dead)

    return trials_kernel(set_up, trial), trials_kernel(set_up, trial_of_set)
