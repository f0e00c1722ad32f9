"""FIND_UNSAFE's synchronous rounds inside one d-cube stored as a bitmask (Lee & Hayes 1988, section 3; R1).

Bit ``v & 63`` of word ``v >> 6`` is node ``v``; it is set when the node is faulty or unsafe.  In each round every node with at
least two set neighbours becomes set.  A round visits 512 nodes, one vector, at a time.  Neighbours across dimensions 0..8 are
permutations inside the vector, and neighbours across higher dimensions are in other vectors.  The test "at least two" uses a pair
of carry-save bit planes, ``one`` (some neighbour) and ``two`` (at least two).  It takes 20 vector instructions, and one more load
and two instructions for each dimension above the ninth.

Cubes of fewer than 9 dimensions are run as a 9-cube whose other nodes are clear.  A node outside the d-cube has at most one
neighbour inside, so it never becomes set.
"""

from __future__ import annotations

import numpy as np

from ..machine import bits, neighbours, simd
from ..machine.jit import block, kernel

_LOW = tuple(bits.CLEAR_BIT_MASKS)  # a tuple's items are constants in the machine code, an array's are loads


@block
def run_word_rounds(x, d):
    """Run the rounds of a d-cube held in one word, 0 <= d <= 6.

    Parameters
    ----------
    x : uint64
        Set nodes; bits from 2^d up are clear.
    d : int64
        Dimension.  Not checked.

    Returns
    -------
    rounds : int64
        Last round that sets a node; 0 when none does.
    closed : uint64
        The final state.
    """
    rounds = np.int64(0)
    while True:
        one = np.uint64(0)
        two = np.uint64(0)
        for k in range(d):
            low = bits.CLEAR_BIT_MASKS[k]
            by = np.uint64(1 << k)
            across = ((x >> by) & low) | ((x & low) << by)
            two |= one & across
            one |= across
        if not two & ~x:
            return rounds, x
        x |= two
        rounds += 1


@block
def _count_inside(x):
    """Return planes (one, two): nodes with a set neighbour and with at least two, across the nine dimensions of 512 nodes."""
    a = neighbours.neighbour0(x)
    b = neighbours.neighbour1(x)
    c = neighbours.neighbour2(x)
    two = simd.majority(a, b, c)
    one = simd.bit_or3(a, b, c)
    a = neighbours.neighbour3(x)
    b = neighbours.neighbour4(x)
    p = simd.majority(one, a, b)
    one = simd.bit_or3(one, a, b)
    a = neighbours.neighbour5(x)
    b = neighbours.neighbour6(x)
    two = simd.bit_or3(two, p, simd.majority(one, a, b))
    one = simd.bit_or3(one, a, b)
    a = neighbours.neighbour7(x)
    b = neighbours.neighbour8(x)
    two = two | simd.majority(one, a, b)
    return simd.bit_or3(one, a, b), two


@block
def _count_across(state, v, by, one, two):
    """Add the neighbours of vector ``v`` across two dimensions, at ``by`` and ``2 by`` vectors, to the planes (one, two)."""
    a = simd.load(state, (v ^ by) << 3)
    b = simd.load(state, (v ^ (2 * by)) << 3)
    return simd.bit_or3(one, a, b), two | simd.majority(one, a, b)


@block
def step_vector(state, v, d):
    """Return the state after one round of nodes 512 v .. 512 v + 511 of a d-cube, d >= 9; ``state`` is not modified."""
    x = simd.load(state, v << 3)
    one, two = _count_inside(x)
    # The distances are constants up to 18 dimensions (2.5 ns per vector against 5 with a loop); larger states wait for memory.
    if d > 10:
        one, two = _count_across(state, v, 1, one, two)
    if d > 12:
        one, two = _count_across(state, v, 4, one, two)
    if d > 14:
        one, two = _count_across(state, v, 16, one, two)
    if d > 16:
        one, two = _count_across(state, v, 64, one, two)
    for k in range(8, (d - 9) & -2, 2):
        one, two = _count_across(state, v, 1 << k, one, two)
    if not d & 1:
        two = two | (one & simd.load(state, (v ^ (1 << (d - 10))) << 3))
    return x | two


@block
def _has_difference(x, y):
    return simd.bits(x != y) != np.uint64(0)


@block
def _rounds_one_vector(state):
    """Return the rounds of a 9-cube, held in a register."""
    x = simd.load(state, 0)
    rounds = np.int64(0)
    while True:
        _, two = _count_inside(x)
        y = x | two
        if not _has_difference(x, y):
            simd.store(state, 0, x)
            return rounds
        x = y
        rounds += 1


@block
def _rounds_two_vectors(state):
    """Return the rounds of a 10-cube, held in two registers."""
    x = simd.load(state, 0)
    y = simd.load(state, 8)
    rounds = np.int64(0)
    while True:
        one, two = _count_inside(x)
        p = simd.bit_or3(x, two, one & y)
        one, two = _count_inside(y)
        q = simd.bit_or3(y, two, one & x)
        if not _has_difference((x ^ p) | (y ^ q), x ^ x):
            simd.store(state, 0, x)
            simd.store(state, 8, y)
            return rounds
        x = p
        y = q
        rounds += 1


@block
def _sweep_vectors(now, after, d):
    """Run one round from ``now`` to ``after`` on all vectors; return whether any node was set."""
    changes = simd.splat(bits.ZERO)
    for v in range(1 << (d - 9)):
        y = step_vector(now, v, d)
        changes = changes | (y ^ simd.load(now, v << 3))
        simd.store(after, v << 3, y)
    return _has_difference(changes, simd.splat(bits.ZERO))


@block
def _spread_marks(marks, at, b, d):
    """Return word ``b`` of the set of vectors that are in the set at ``marks[at:]`` or have a neighbour in it."""
    c = marks[at + b]
    near = c | ((c >> np.uint64(1)) & _LOW[0]) | ((c & _LOW[0]) << np.uint64(1))
    near |= ((c >> np.uint64(2)) & _LOW[1]) | ((c & _LOW[1]) << np.uint64(2))
    near |= ((c >> np.uint64(4)) & _LOW[2]) | ((c & _LOW[2]) << np.uint64(4))
    near |= ((c >> np.uint64(8)) & _LOW[3]) | ((c & _LOW[3]) << np.uint64(8))
    near |= ((c >> np.uint64(16)) & _LOW[4]) | ((c & _LOW[4]) << np.uint64(16))
    near |= (c >> np.uint64(32)) | (c << np.uint64(32))
    for k in range(d - 15):
        near |= marks[at + (b ^ (1 << k))]
    return near


@block
def _run_marked_round(now, after, marks, old, new, full, word_count, d):
    """Run one round from ``now`` to ``after``; return whether any node was set.

    Only vectors next to a change are visited, and only if not all their nodes are set.  ``now`` and ``after`` differ at most in
    the vectors that the round before changed.  These are visited or, if full, copied.  So after the round the two arrays differ
    at most in the vectors that this round changed.
    """
    ones = simd.splat(bits.ALL_BITS)
    any_changed = np.uint64(0)
    for b in range(word_count):
        filled = marks[full + b]
        copy = marks[old + b] & filled
        visit = _spread_marks(marks, old, b, d) & ~filled
        changed = np.uint64(0)
        while copy:
            simd.store(after, ((b << 6) + bits.lowest(copy)) << 3, ones)
            copy &= copy - np.uint64(1)
        while visit:
            i = bits.lowest(visit)
            visit &= visit - np.uint64(1)
            v = (b << 6) + i
            y = step_vector(now, v, d)
            simd.store(after, v << 3, y)
            changed |= np.uint64(_has_difference(y, simd.load(now, v << 3))) << np.uint64(i)
            filled |= np.uint64(not _has_difference(y, ones)) << np.uint64(i)
        marks[new + b] = changed
        marks[full + b] = filled
        any_changed |= changed
    return any_changed != np.uint64(0)


@block
def count_marks_words(d):
    """Return the length of the scratch array ``marks`` of ``run_marked_rounds``."""
    return np.int64(3) << max(d - 15, 0)


@block
def run_marked_rounds(state, other, marks, d):
    """Run the rounds of a d-cube until nothing changes.

    Parameters
    ----------
    state : uint64 array of max(8, 2^(d-6)) words
        Set nodes; clear from node 2^d up.  Overwritten with the final state.
    other : uint64 array of the same length
        Scratch memory with any content.
    marks : uint64 array of ``count_marks_words(d)``
        Scratch memory with any content.
    d : int64
        Dimension, 0 <= d <= 30.  Not checked.

    Returns
    -------
    int64
        Last round that sets a node; 0 if none does.

    Notes
    -----
    About 5 ns for each 512 nodes visited while the state fits the L2 cache.
    """
    if d <= 9:
        return _rounds_one_vector(state)
    if d == 10:
        return _rounds_two_vectors(state)
    rounds = np.int64(0)
    if d < 15:
        while True:
            if not _sweep_vectors(state, other, d):
                return rounds
            if not _sweep_vectors(other, state, d):
                return rounds + 1
            rounds += 2
    word_count = np.int64(1) << (d - 15)
    for b in range(word_count):
        marks[b] = bits.ALL_BITS
        marks[2 * word_count + b] = bits.ZERO
    while True:
        if not _run_marked_round(state, other, marks, 0, word_count, 2 * word_count, word_count, d):
            return rounds
        if not _run_marked_round(other, state, marks, word_count, 0, 2 * word_count, word_count, d):
            return rounds + 1
        rounds += 2


@block
def run_link_rounds(state, ends, other, marks, d):
    """Run ``run_marked_rounds`` with faulty links (R2); their ``ends``, a bitmask like ``state``, are marked in round 1."""
    linked = bits.ZERO
    for word in range(ends.size):
        linked |= ends[word] & ~state[word]
    if linked == bits.ZERO:
        return run_marked_rounds(state, other, marks, d)
    for v in range(0, ends.size, 8):
        simd.store(other, v, step_vector(state, v >> 3, max(d, 9)))
    for word in range(ends.size):
        state[word] = other[word] | ends[word]
    return 1 + run_marked_rounds(state, other, marks, d)


@kernel("int64(uint64[::1], uint64[::1], uint64[::1], int64)")
def run_cube_rounds(state, ends, other, d):
    """Run ``run_link_rounds`` of one given d-cube."""
    return run_link_rounds(state, ends, other, np.empty(count_marks_words(d), np.uint64), d)
