"""The dead links of one trial, n <= 16: those listed as faulty, and those of faulty nodes, each once; with FAULT words.

FAULT[u][k] is set exactly when the link of u in dimension k is dead (Leu & Kuo, readings R1 and R19), so FAULT is
symmetric, and what a tree meets follows from the list.  Words tell which links are known already, whether a node is
isolated, and the sink.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import bits, simd
from ..bits import ONE
from ..jit import block, scratch
from ..links import LinkDraws, distinct_links, link_draws_for
from ..sampling import Draws, draw_faults, drawn, draws_for

#: Lanes of a vector of 16 bits.
LANES = 32


class Dead(NamedTuple):
    """Scratch of one trial, made by :func:`dead_for`."""

    words: Any  #: uint16: FAULT of every node, then 0xFFFF up to a whole vector
    low: Any  #: uint16: lower ends of the dead links
    bit: Any  #: uint16: their dimensions, as single bits
    lower: Any  #: uint64: lower ends of the faulty links as drawn
    dims: Any  #: uint64: their dimensions
    nodes: Any  #: uint64: the faulty nodes
    link_draws: LinkDraws
    node_draws: Draws


@block
def most_dead(n, links, f):
    """Most dead links that ``links`` faulty links and f faulty nodes of Q_n can make."""
    return min(links + n * f, n << (n - 1))


@scratch
def dead_for(n, links, f):
    """Scratch for trials with that many faulty links and nodes of Q_n, all clear."""
    size = most_dead(n, links, f) + LANES
    words = np.full(max(1 << n, LANES), 0xFFFF, np.uint16)
    words[: 1 << n] = 0
    few = drawn(n, f)
    return Dead(
        words,
        np.empty(size, np.uint16),
        np.empty(size, np.uint16),
        np.empty(links, np.uint64),
        np.empty(links, np.uint64),
        np.empty(max(f, few), np.uint64),
        link_draws_for(links),
        draws_for(few),
    )


@block
def draw_dead(key, t, n, links, f, dead):
    """Draw trial ``t``'s faulty links and nodes, independent of each other; returns the number of dead links."""
    distinct_links(key, t, n, links, dead.lower, dead.dims, dead.link_draws)
    draw_faults(key, t, n, f, dead.nodes, dead.node_draws)
    return mark_dead(n, links, f, dead)


@block
def mark_dead(n, links, f, dead):
    """List the dead links of ``links`` distinct faulty links and f distinct faulty nodes; ``words`` are clear before.

    Returns their number.
    """
    full = np.uint16((1 << n) - 1)
    count = np.int64(0)
    for i in range(f):
        dead.words[dead.nodes[i]] = full
    for i in range(f):
        v = np.int64(dead.nodes[i])
        for k in range(n):
            w = v ^ (np.int64(1) << k)
            if dead.words[w] == np.uint16(0) or v < w:  # no word of a nonfaulty node is set yet
                dead.low[count] = np.uint16(min(v, w))
                dead.bit[count] = np.uint16(1 << k)
                count += 1
    for i in range(count if f > 0 else 0):
        dead.words[dead.low[i]] |= dead.bit[i]
        dead.words[dead.low[i] | dead.bit[i]] |= dead.bit[i]
    for i in range(links):
        u = np.int64(dead.lower[i])
        link = np.uint16(ONE << dead.dims[i])
        if dead.words[u] & link == np.uint16(0):  # else an end is faulty
            dead.words[u] |= link
            dead.words[u | np.int64(link)] |= link
            dead.low[count] = np.uint16(u)
            dead.bit[count] = link
            count += 1
    return count


@block
def clear_dead(count, dead):
    """Clear the words that ``count`` dead links set."""
    for i in range(count):
        dead.words[dead.low[i]] = np.uint16(0)
        dead.words[dead.low[i] | dead.bit[i]] = np.uint16(0)


@block
def first_sink(dead):
    """The first label with FAULT = 0, or -1 (reading R3)."""
    none = simd.like(simd.load(dead.words, 0), np.uint64(0))
    for at in range(0, dead.words.size, LANES):
        clean = simd.bits(simd.equal(simd.load(dead.words, at), none))
        if clean:
            return at + bits.lowest(clean)
    return np.int64(-1)


@block
def isolated(n, dead):
    """Number of nodes with FAULT = 1^n: the faulty and the isolated."""
    full = simd.like(simd.load(dead.words, 0), (ONE << np.uint64(n)) - ONE)
    found = np.int64(0)
    for at in range(0, max(np.int64(1) << n, LANES), LANES):
        here = simd.bits(simd.equal(simd.load(dead.words, at), full))
        if n < 5:
            here &= (ONE << (ONE << np.uint64(n))) - ONE
        found += bits.popcount(here)
    return found
