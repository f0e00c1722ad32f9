"""The supercube in the coordinates that its messages move in: labels along the Hamilton path, and places in a supernode.

A node is (a, q): a is the label of its supernode (reading A2) and q = x_lo + 2 x_hi its place there.  Across the k-th external
dimension a becomes a ^ (2^(k+1) - 1) and q stays; inside, q becomes q ^ 1 or q ^ 2.  Messages of D_L are messages of D_H in the
mirror, where every label is complemented, which commutes with all of this.
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

    fault: Bytes  #: mask of the faulty place, or 0
    wanted: Bytes  #: mask of the wanted places
    busy: Words  #: bitmap: labels with a wanted place


@scratch
def supercube_for(n):
    """Nets of Q_n, 2 <= n <= 20, without faults or destinations."""
    size = np.int64(1) << (n - 2)
    return Supercube(np.zeros(size, np.uint8), np.zeros(size, np.uint8), np.zeros(max(1, size >> 6), np.uint64))


@block
def supernode_label(v, lo, hi, n):
    """Label of the supernode of node ``v`` (uint64) of Q_n cut along lo < hi (int64)."""
    inside = ONE << np.uint64(lo) | ONE << np.uint64(hi)
    a = bits.extract(v, ((ONE << np.uint64(n)) - ONE) & ~inside)
    for shift in (1, 2, 4, 8, 16, 32):
        a ^= a >> np.uint64(shift)
    return np.int64(a)


@block
def supernode_place(v, lo, hi):
    """Place of node ``v`` in its supernode."""
    return np.int64(((v >> np.uint64(lo)) & ONE) | ((v >> np.uint64(hi)) & ONE) << ONE)


@block
def update_faults(net, faults, lo, hi, n, on):
    """Enter the faulty nodes (uint64), of which no two are in one supernode, or clear them."""
    for v in faults:
        net.fault[supernode_label(v, lo, hi, n)] = (1 << supernode_place(v, lo, hi)) if on else 0


@block
def set_wanted(net, nodes, lo, hi, n):
    """Enter the destinations."""
    for v in nodes:
        a = supernode_label(v, lo, hi, n)
        net.wanted[a] |= np.uint8(1 << supernode_place(v, lo, hi))
        set_node(net.busy, a)


@block
def clear_wanted(net, nodes, lo, hi, n):
    """Take them out."""
    for v in nodes:
        a = supernode_label(v, lo, hi, n)
        net.wanted[a] = 0
        net.busy[word_index(a)] = ZERO


@block(always=True)
def shortcut_label(a, goal):
    """Label to which R' goes from label a < goal, in one channel (A5): the largest neighbour's that is no larger than the goal.

    The k-th external dimension complements the low k + 1 digits of a label.  It is the highest one in which a and the goal
    differ unless that leads beyond the goal; then the highest 0 of a below it.
    """
    k = bits.highest(np.uint64(a ^ goal))
    to = a ^ ((np.int64(2) << k) - 1)
    if to > goal:
        k = bits.highest(np.uint64(~a & ((np.int64(1) << k) - 1)))
        to = a ^ ((np.int64(2) << k) - 1)
    return to


@block(always=True)
def first_step_across(q, fault):
    """The first step, 1 or 2, of R from place q to the place across, in a supernode with a mask of faults (A3, A4)."""
    if fault == 0:
        return np.int64(2 if q == 0 else 1)
    return np.int64(2 if (fault >> (q ^ 1)) & 1 else 1)


@block(always=True)
def buddy_step(q, fault):
    """The step, 1 or 2, to the nonfaulty buddy across the lowest dimension (A6)."""
    return np.int64(2 if (fault >> (q ^ 1)) & 1 else 1)


@block(always=True)
def first_steps(q, wanted, fault):
    """The steps (mask of 1 and 2) on which R leaves place q for wanted places (mask of 4) of its supernode other than q."""
    steps = ((wanted >> (q ^ 1)) & 1) | ((wanted >> (q ^ 2)) & 1) << 1
    if (wanted >> (q ^ 3)) & 1:
        steps |= first_step_across(q, fault)
    return steps


@block
def next_label(busy, a, flip, words):
    """The next label beyond a with a destination, in a bitmap over labels; up for flip = 0, else down.  -1 without one."""
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
