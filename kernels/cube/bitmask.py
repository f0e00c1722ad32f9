"""Sets of nodes of a whole cube as bitmasks, and breadth-first search on them, 512 nodes per operation.

Bit ``v & 63`` of word ``v >> 6`` is node ``v``.  A bitmask has whole vectors, so at least 8 words.  A step adds to the set all
neighbours across a range of dimensions.  Neighbours across dimensions below 9 are in the same vector
(``fastcube.kernels.machine.neighbours``), and higher dimensions pair whole vectors.  A search takes 2^n n / 512 operations per
step.  Faulty links are not considered here.
"""

from __future__ import annotations

import numpy as np

from ..machine import neighbours, simd
from ..machine.bits import ALL_BITS, CLEAR_BIT_MASKS, ONE, ZERO
from ..machine.jit import block
from ..machine.vectors import BITS

_6 = np.uint64(6)
_63 = np.uint64(63)


@block
def count_words(n):
    """Return the number of words of an n-cube's bitmask, in whole vectors; an int64."""
    return np.int64(max(1 << n, BITS) >> 6)


@block
def word_mask(n):
    """Return the nodes of the n-cube in one word: all 64 bits, or the low 2^n for n < 6."""
    return ALL_BITS if n >= 6 else (ONE << np.uint64(1 << n)) - ONE


@block(always=True)
def word_index(v):
    """Return the index of the word that holds node ``v``."""
    return np.int64(np.uint64(v) >> _6)


@block(always=True)
def bit_of(v):
    """Return the bit of node ``v`` in its word."""
    return ONE << (np.uint64(v) & _63)


@block(always=True)
def has_node(state, v):
    """Whether node ``v`` is in a bitmask."""
    return state[word_index(v)] & bit_of(v) != ZERO


@block(always=True)
def set_node(state, v):
    """Add node ``v`` to a bitmask."""
    state[word_index(v)] |= bit_of(v)


@block(always=True)
def clear_node(state, v):
    """Remove node ``v`` from a bitmask."""
    state[word_index(v)] &= ~bit_of(v)


@block(always=True)
def toggle_node(state, v):
    """Add node ``v`` to a bitmask, or remove it if it is there."""
    state[word_index(v)] ^= bit_of(v)


@block(always=True)
def neighbours_in_word(x, k):
    """Return the neighbours across dimension k < 6 of the nodes of one word."""
    by = ONE << np.uint64(k)
    return (x >> by) & CLEAR_BIT_MASKS[k] | (x & CLEAR_BIT_MASKS[k]) << by


@block(always=True)
def neighbour_word(state, w, k):
    """Return word w of the set of neighbours across dimension k of the nodes of a bitmask."""
    if k < 6:
        return neighbours_in_word(state[w], k)
    return state[w ^ (1 << (k - 6))]


@block
def write_nonfaulty(n, faults, f, state):
    """Write the bitmask of all nodes of the n-cube but the first f ``faults`` to ``state``, of ``count_words(n)`` words."""
    for w in range(state.size):
        state[w] = word_mask(n) if w < 1 << max(n - 6, 0) else ZERO
    for i in range(f):
        clear_node(state, faults[i])


@block
def _spread_in_vector(x, low, high):
    """Return ``x`` with its neighbours along the index bits low .. high-1 below 9 added."""
    y = x
    if low <= 0 < high:
        y = y | neighbours.neighbour0(x)
    if low <= 1 < high:
        y = y | neighbours.neighbour1(x)
    if low <= 2 < high:
        y = y | neighbours.neighbour2(x)
    if low <= 3 < high:
        y = y | neighbours.neighbour3(x)
    if low <= 4 < high:
        y = y | neighbours.neighbour4(x)
    if low <= 5 < high:
        y = y | neighbours.neighbour5(x)
    if low <= 6 < high:
        y = y | neighbours.neighbour6(x)
    if low <= 7 < high:
        y = y | neighbours.neighbour7(x)
    if low <= 8 < high:
        y = y | neighbours.neighbour8(x)
    return y


@block
def spread_nodes(seen, opposite, nonfaulty, low, high, out):
    """Run one search step: write to ``out`` the ``nonfaulty`` nodes in ``seen`` or ``opposite``, or next to a node of ``seen``.

    Neighbours are those across dimensions low .. high-1.  ``opposite`` is the same set in a second cube whose node v is linked to
    node v of this one, as in the two classes of a dual-cube; for a single cube it is ``seen``.  Returns whether any node is new.
    For that all nodes of ``seen`` must be nonfaulty, because every difference between ``seen`` and ``out`` counts.
    """
    zero = simd.splat(ZERO)
    differences = zero
    for v in range(0, seen.size, 8):
        before = simd.load(seen, v)
        spread = _spread_in_vector(before, low, high) | simd.load(opposite, v)
        for k in range(max(low, 9), high):  # in a vector at a distance of 2^(k - 9) vectors, 8 words each
            spread = spread | simd.load(seen, v ^ (8 << (k - 9)))
        spread = spread & simd.load(nonfaulty, v)
        simd.store(out, v, spread)
        differences = differences | (before ^ spread)
    return simd.bits(differences != zero) != ZERO
