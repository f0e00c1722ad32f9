"""The supercube in the coordinates of its messages: labels along the Hamilton path, and places in a supernode.

A node is (a, q): a is the label of its supernode (A2) and q = x_lo + 2 x_hi its place there.  Across the k-th external dimension
a becomes a ^ (2^(k+1) - 1) and q stays; inside a supernode, q becomes q ^ 1 or q ^ 2.  Messages of D_L are messages of D_H after
all labels are complemented, which commutes with these steps.

R is the paper's path between two places of a supernode, and R' its path between supernodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.bitmask import set_node, word_index
from ..machine import bits
from ..machine.array_types import Bytes, Words
from ..machine.bits import ONE, ZERO
from ..machine.jit import block, scratch


class Supercube(NamedTuple):
    """A supercube with its faults and the destinations of one multicast, by label."""

    fault: Bytes  #: per label, the bit of the faulty place in its supernode, or 0
    wanted: Bytes  #: per label, the bits of the places of destinations
    busy: Words  #: bitmask of the labels with a destination


@scratch
def supercube_for(n):
    """Return an empty supercube of Q_n, 2 <= n <= 20, without faults or destinations."""
    size = np.int64(1) << (n - 2)
    return Supercube(np.zeros(size, np.uint8), np.zeros(size, np.uint8), np.zeros(max(1, size >> 6), np.uint64))


@block
def supernode_label(v, lo, hi, n):
    """Return the label of the supernode of node ``v`` (uint64) of Q_n cut along lo < hi (int64)."""
    inside = ONE << np.uint64(lo) | ONE << np.uint64(hi)
    a = bits.extract(v, ((ONE << np.uint64(n)) - ONE) & ~inside)
    for shift in (1, 2, 4, 8, 16, 32):
        a ^= a >> np.uint64(shift)
    return np.int64(a)


@block
def supernode_place(v, lo, hi):
    """Return the place of node ``v`` in its supernode."""
    return np.int64(((v >> np.uint64(lo)) & ONE) | ((v >> np.uint64(hi)) & ONE) << ONE)


@block
def update_faults(net, faults, lo, hi, n, on):
    """Set or clear (``on``) the faulty nodes (uint64), no two of which are in one supernode."""
    for v in faults:
        net.fault[supernode_label(v, lo, hi, n)] = (1 << supernode_place(v, lo, hi)) if on else 0


@block
def set_wanted(net, nodes, lo, hi, n):
    """Set the destinations."""
    for v in nodes:
        a = supernode_label(v, lo, hi, n)
        net.wanted[a] |= np.uint8(1 << supernode_place(v, lo, hi))
        set_node(net.busy, a)


@block
def clear_wanted(net, nodes, lo, hi, n):
    """Clear the destinations."""
    for v in nodes:
        a = supernode_label(v, lo, hi, n)
        net.wanted[a] = 0
        net.busy[word_index(a)] = ZERO


@block(always=True)
def shortcut_label(a, goal):
    """Return the largest label up to the goal of a neighbour of label a < goal.

    It is the next label on the path R' to the goal (A5).  The k-th external dimension complements the low k + 1 digits of a
    label.  The step takes the highest digit in which a and the goal differ.  If that leads beyond the goal, it takes the highest
    0 of a below that digit.
    """
    k = bits.highest(np.uint64(a ^ goal))
    to = a ^ ((np.int64(2) << k) - 1)
    if to > goal:
        k = bits.highest(np.uint64(~a & ((np.int64(1) << k) - 1)))
        to = a ^ ((np.int64(2) << k) - 1)
    return to


@block(always=True)
def first_step_across(q, fault):
    """Return the first step, 1 or 2, from place q to the place across, q ^ 3, in a supernode with a mask of faults.

    Without a fault place 1 is never passed: the ways are 0, 2, 3 and back (A3).  With a fault it is step 1 unless that leads to
    the fault (A4).
    """
    if fault == 0:
        return np.int64(2 if q == 0 else 1)
    return np.int64(2 if (fault >> (q ^ 1)) & 1 else 1)


@block(always=True)
def buddy_step(q, fault):
    """Return the step, 1 or 2, from place q to a buddy, a neighbour in the supernode: 1 unless that buddy is faulty (A6)."""
    return np.int64(2 if (fault >> (q ^ 1)) & 1 else 1)


@block(always=True)
def first_steps(q, wanted, fault):
    """Return the steps (mask of 1 and 2) of R from place q to other wanted places (mask of 4) of its supernode."""
    steps = ((wanted >> (q ^ 1)) & 1) | ((wanted >> (q ^ 2)) & 1) << 1
    if (wanted >> (q ^ 3)) & 1:
        steps |= first_step_across(q, fault)
    return steps


@block
def next_label(busy, a, flip, words):
    """Return the next label after a with a destination, upwards for ``flip`` = 0, else downwards; -1 if there is none."""
    w = a >> 6
    at = np.uint64(a & 63)
    if flip == 0:
        rest = busy[w] & ~((ONE << at) | ((ONE << at) - ONE))
        while rest == np.uint64(0):
            w += 1
            if w == words:
                return np.int64(-1)
            rest = busy[w]
        return w << 6 | bits.lowest(rest)
    rest = busy[w] & ((ONE << at) - ONE)
    while rest == np.uint64(0):
        w -= 1
        if w < 0:
            return np.int64(-1)
        rest = busy[w]
    return w << 6 | bits.highest(rest)
