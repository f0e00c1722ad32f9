"""The supercube of Wang, Lin and Kuo, and the steps of a multicast's messages in it.

Q_n is cut along two dimensions lo < hi into 2^(n-2) supernodes of four nodes, with at most one faulty node each.  A supernode has
a label, its position on a Hamilton path of the supernodes (A2), and a node has a place 0..3 in it, x_lo + 2 x_hi.  For example,
if n = 4, lo = 0 and hi = 1, the node 0b0110 has place 2 in the supernode with external digits 01, whose label is 1.  The external
digits 11 and 10 have the labels 2 and 3.  A node is (a, q), label and place:

- Across the k-th external dimension a becomes a ^ (2^(k+1) - 1) and q stays (``label_across``).
- Inside a supernode q becomes q ^ 1 or q ^ 2.

A multicast sends a message D_H to the destinations in supernodes with larger labels than the source's, and a message D_L to
those with smaller labels.  Both follow the Hamilton path, with shortcuts.  Complementing all labels commutes with the steps above
and turns D_L into D_H.  So one function serves both messages by ``flip``, which is 0 for D_H and the largest label, all ones, for
D_L.  The *rank* of a supernode for a message is its label ^ flip: each message visits supernodes in the order of rising ranks.

Codes with an A are interpretations of the paper (``docs/readings/wang-lin-kuo.md``): A2 of labels, A3 and A4 of steps inside a
supernode, A5 of shortcuts, and A6 of the buddy, the neighbour in its supernode over which a node sends a detour.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.bitmask import bit_of, set_node, word_index
from ..machine import bits
from ..machine.array_types import I64, Bytes, Words
from ..machine.bits import ONE, ZERO
from ..machine.jit import block, scratch


class Cut(NamedTuple):
    """The partition of Q_n into supernodes along the dimensions ``lo`` < ``hi``."""

    n: I64
    lo: I64
    hi: I64


class Supercube(NamedTuple):
    """A supercube with its faults and the destinations of one multicast, by label."""

    fault: Bytes  #: per label, a mask of four places: bit q is set if place q is faulty; one bit at most
    wanted: Bytes  #: per label, the mask of the places of destinations
    busy: Words  #: bitmask of the labels with a destination


@scratch
def supercube_for(n):
    """Return an empty supercube of Q_n, 2 <= n <= 20, without faults or destinations."""
    size = np.int64(1) << (n - 2)
    return Supercube(np.zeros(size, np.uint8), np.zeros(size, np.uint8), np.zeros(max(1, size >> 6), np.uint64))


@block(always=True)
def label_across(a, k):
    """Return the label of the supernode across the k-th external dimension from label a; from a rank, the rank there."""
    return a ^ ((np.int64(2) << k) - 1)


@block
def supernode_label(v, cut):
    """Return the label of the supernode of node ``v`` (uint64)."""
    inside = ONE << np.uint64(cut.lo) | ONE << np.uint64(cut.hi)
    a = bits.extract(v, ((ONE << np.uint64(cut.n)) - ONE) & ~inside)
    # The digits of a position on the Hamilton path are the parities of the external digits from each one upwards (Gray code).
    for shift in (1, 2, 4, 8, 16, 32):
        a ^= a >> np.uint64(shift)
    return np.int64(a)


@block
def supernode_place(v, cut):
    """Return the place of node ``v`` in its supernode."""
    return np.int64(((v >> np.uint64(cut.lo)) & ONE) | ((v >> np.uint64(cut.hi)) & ONE) << ONE)


@block
def set_faults(net, faults, cut):
    """Set the faulty nodes (uint64), no two of which are in one supernode."""
    for v in faults:
        net.fault[supernode_label(v, cut)] = 1 << supernode_place(v, cut)


@block
def clear_faults(net, faults, cut):
    """Clear the faulty nodes that ``set_faults`` set."""
    for v in faults:
        net.fault[supernode_label(v, cut)] = 0


@block
def set_wanted(net, nodes, cut):
    """Set the destinations, in a supercube that has none."""
    for v in nodes:
        a = supernode_label(v, cut)
        net.wanted[a] |= np.uint8(1 << supernode_place(v, cut))
        set_node(net.busy, a)


@block
def clear_wanted(net, nodes, cut):
    """Clear all destinations: ``nodes`` must be all that ``set_wanted`` set.

    A whole word of ``busy`` and a whole mask of ``wanted`` are cleared per node, so a part of the destinations cannot be cleared.
    """
    for v in nodes:
        a = supernode_label(v, cut)
        net.wanted[a] = 0
        net.busy[word_index(a)] = ZERO


@block(always=True)
def shortcut_label(a, goal, flip):
    """Return the label of a message's next supernode on its way from label a to ``goal``, of higher rank: the paper's path R'.

    Of the neighbours of a it has the highest rank that is not above the goal's (A5).  The k-th external dimension complements
    the low k + 1 digits of a rank.  The step takes the highest digit in which the ranks of a and of the goal differ.  If that
    leads beyond the goal, it takes the highest 0 below that digit in the rank of a.  There is one, because complementing ones
    only would not lead beyond.
    """
    rank, goal_rank = a ^ flip, goal ^ flip
    k = bits.highest(np.uint64(rank ^ goal_rank))
    next_rank = label_across(rank, k)
    if next_rank > goal_rank:
        k = bits.highest(np.uint64(~rank & ((np.int64(1) << k) - 1)))
        next_rank = label_across(rank, k)
    return next_rank ^ flip


@block(always=True)
def buddy_step(q, fault):
    """Return the step, 1 or 2, from place q to a buddy, a neighbour in the supernode: 1 unless that buddy is faulty (A6)."""
    return np.int64(2 if (fault >> (q ^ 1)) & 1 else 1)


@block(always=True)
def first_step_across(q, fault):
    """Return the first step, 1 or 2, from place q to the place across, q ^ 3, in a supernode with a mask of faults.

    Without a fault place 1 is never passed: the ways are 0, 2, 3 and back (A3).  With a fault it is step 1 unless that leads to
    the fault (A4).
    """
    if fault == 0:
        return np.int64(2 if q == 0 else 1)
    return buddy_step(q, fault)


@block(always=True)
def first_steps(q, wanted, fault):
    """Return the first steps, a mask of 1 and 2, from place q to the other wanted places (mask of 4 bits) of its supernode.

    A message goes to the place across in two steps, the paper's path R (``first_step_across``).
    """
    steps = ((wanted >> (q ^ 1)) & 1) | ((wanted >> (q ^ 2)) & 1) << 1
    if (wanted >> (q ^ 3)) & 1:
        steps |= first_step_across(q, fault)
    return steps


@block
def next_label(busy, a, flip):
    """Return the label of the next supernode with a destination that a message visits after label a; -1 if there is none."""
    return _next_label_above(busy, a) if flip == 0 else _next_label_below(busy, a)


@block
def _next_label_above(busy, a):
    w, bit = a >> 6, bit_of(a)
    rest = busy[w] & ~(bit | (bit - ONE))
    while rest == ZERO:
        w += 1
        if w == busy.size:
            return np.int64(-1)
        rest = busy[w]
    return w << 6 | bits.lowest(rest)


@block
def _next_label_below(busy, a):
    w, bit = a >> 6, bit_of(a)
    rest = busy[w] & (bit - ONE)
    while rest == ZERO:
        w -= 1
        if w < 0:
            return np.int64(-1)
        rest = busy[w]
    return w << 6 | bits.highest(rest)
