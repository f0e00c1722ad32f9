"""FIND_UNSAFE's synchronous rounds inside one d-cube stored as a bitmask (Lee & Hayes 1988, section 3; R1).

Bit ``v & 63`` of word ``v >> 6`` is node ``v``; it is set when the node is faulty or unsafe.  In each round every node with at
least two set neighbours becomes set.  A round visits 512 nodes, one vector, at a time.  Neighbours across dimensions 0..8 are
permutations inside the vector, and neighbours across higher dimensions are in other vectors.  The test "at least two" uses a pair
of carry-save bit planes, ``one`` (some set neighbour) and ``two`` (at least two).  It takes 20 vector instructions, and one more
load and two instructions for each dimension above the ninth.

The method depends on the dimension d.  Up to d = 10 the cube stays in one or two registers.  Up to d = 14 each round sweeps all
vectors, from one bitmask to another and back.  From d = 15 on a round visits only vectors in which a node can become set; the
masks that select them (``make_vector_masks``) have one bit per vector.

Cubes of fewer than 9 dimensions are run as a 9-cube whose other nodes are clear.  A node outside the d-cube has at most one
neighbour inside, so it never becomes set.
"""

from __future__ import annotations

import numpy as np

from ..machine import bits, neighbours, simd
from ..machine.jit import block, kernel, scratch

_LOW = tuple(bits.CLEAR_BIT_MASKS)  # a tuple's items are constants in the machine code, an array's are loads


# Rows of the array of ``make_vector_masks``.  Three arrays would be clearer, but they would add 14 words to each call that passes
# scratch memory on.
_CHANGED = 0  #: vectors of ``state`` that the round that wrote it changed
_OTHER_CHANGED = 1  #: vectors of ``other``, the bitmask that rounds write in turn with ``state``, likewise
_FULL = 2  #: vectors whose 512 nodes are all set


@block
def _count_mask_words(d):
    """Return the number of words of a mask with one bit for each vector of a d-cube."""
    return np.int64(1) << max(d - 15, 0)


@scratch
def make_vector_masks(d):
    """Return the masks of vectors for cubes of up to d dimensions, scratch memory of ``run_bitmask_rounds``.

    In each row, bit ``v & 63`` of word ``v >> 6`` is vector ``v``, that is, nodes 512 v .. 512 v + 511.  The content is valid
    inside one call only, and for d < 15 no mask is used.
    """
    return np.empty((3, _count_mask_words(d)), np.uint64)


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
def _count_across(state, v, k, one, two):
    """Add the neighbours of vector ``v`` across dimensions k and k + 1, k >= 9, to the planes (one, two)."""
    a = simd.load(state, (v ^ (1 << (k - 9))) << 3)
    b = simd.load(state, (v ^ (2 << (k - 9))) << 3)
    return simd.bit_or3(one, a, b), two | simd.majority(one, a, b)


@block
def step_vector(state, v, d):
    """Return the state after one round of nodes 512 v .. 512 v + 511 of a d-cube, d >= 9; ``state`` is not modified."""
    x = simd.load(state, v << 3)
    one, two = _count_inside(x)
    # Dimensions 9, 10, ... are counted in pairs, which ``majority`` adds at once.  Up to 16 they are constants, for 2.5 ns
    # per vector against 5 with a loop.  Larger states wait for memory, so the loop costs nothing there.
    if d > 10:
        one, two = _count_across(state, v, 9, one, two)
    if d > 12:
        one, two = _count_across(state, v, 11, one, two)
    if d > 14:
        one, two = _count_across(state, v, 13, one, two)
    if d > 16:
        one, two = _count_across(state, v, 15, one, two)
    for k in range(17, d - 1, 2):
        one, two = _count_across(state, v, k, one, two)
    if not d & 1:  # dimension d - 1 is without a partner
        two = two | (one & simd.load(state, (v ^ (1 << (d - 10))) << 3))
    return x | two


@block
def _has_difference(x, y):
    return simd.bits(x != y) != np.uint64(0)


@block
def _run_one_vector(state):
    """Run the rounds of a 9-cube in a register; return their number."""
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
def _run_two_vectors(state):
    """Run the rounds of a 10-cube in two registers; return their number."""
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
def _spread_mask(mask, b, d):
    """Return word ``b`` of a mask of vectors with their neighbours added: the vectors in ``mask`` or next to one in it."""
    c = mask[b]
    # dimensions 9 to 14 of the cube are bits 0 to 5 of a vector's number, inside a word; higher ones pair words
    near = c | ((c >> np.uint64(1)) & _LOW[0]) | ((c & _LOW[0]) << np.uint64(1))
    near |= ((c >> np.uint64(2)) & _LOW[1]) | ((c & _LOW[1]) << np.uint64(2))
    near |= ((c >> np.uint64(4)) & _LOW[2]) | ((c & _LOW[2]) << np.uint64(4))
    near |= ((c >> np.uint64(8)) & _LOW[3]) | ((c & _LOW[3]) << np.uint64(8))
    near |= ((c >> np.uint64(16)) & _LOW[4]) | ((c & _LOW[4]) << np.uint64(16))
    near |= (c >> np.uint64(32)) | (c << np.uint64(32))
    for k in range(d - 15):
        near |= mask[b ^ (1 << k)]
    return near


@block
def _run_selected_vectors(now, now_changed, after, after_changed, full, d):
    """Run one round from ``now`` to ``after`` on the vectors that it can change; return whether any node was set.

    The round visits the vectors in or next to ``now_changed``, those that the round before changed, unless they are in ``full``.
    It overwrites ``after_changed`` with the vectors that it changes, and adds to ``full``.  Before, ``now`` and ``after`` may
    differ in the vectors of ``now_changed`` alone.  These are visited or, if full, copied.  So afterwards the two may differ in
    the vectors of ``after_changed`` alone, as the next round needs, which goes from ``after`` to ``now``.
    """
    ones = simd.splat(bits.ALL_BITS)
    any_changed = bits.ZERO
    for b in range(_count_mask_words(d)):
        full_vectors = full[b]
        to_copy = now_changed[b] & full_vectors
        to_visit = _spread_mask(now_changed, b, d) & ~full_vectors
        changed = bits.ZERO
        while to_copy:
            simd.store(after, ((b << 6) + bits.lowest(to_copy)) << 3, ones)
            to_copy &= to_copy - bits.ONE
        while to_visit:
            i = bits.lowest(to_visit)
            to_visit &= to_visit - bits.ONE
            v = (b << 6) + i
            y = step_vector(now, v, d)
            simd.store(after, v << 3, y)
            changed |= np.uint64(_has_difference(y, simd.load(now, v << 3))) << np.uint64(i)
            full_vectors |= np.uint64(not _has_difference(y, ones)) << np.uint64(i)
        after_changed[b] = changed
        full[b] = full_vectors
        any_changed |= changed
    return any_changed != bits.ZERO


@block
def run_bitmask_rounds(state, other, masks, d):
    """Run the rounds of a d-cube until nothing changes.

    Parameters
    ----------
    state : uint64 array of max(8, 2^(d-6)) words or more
        Set nodes; clear from node 2^d up.  Overwritten with the final state.
    other : uint64 array of as many words
        Scratch memory with any content.
    masks : uint64 array
        From ``make_vector_masks`` for d dimensions or more, with any content.
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
        return _run_one_vector(state)
    if d == 10:
        return _run_two_vectors(state)
    # Below, two rounds go from ``state`` to ``other`` and back.  A round that sets no node leaves both alike.
    rounds = np.int64(0)
    if d < 15:
        while True:
            if not _sweep_vectors(state, other, d):
                return rounds
            if not _sweep_vectors(other, state, d):
                return rounds + 1
            rounds += 2
    changed, other_changed, full = masks[_CHANGED], masks[_OTHER_CHANGED], masks[_FULL]
    for b in range(_count_mask_words(d)):
        changed[b] = bits.ALL_BITS  # so the first round visits all vectors and writes the whole of ``other``
        full[b] = bits.ZERO
    while True:
        if not _run_selected_vectors(state, changed, other, other_changed, full, d):
            return rounds
        if not _run_selected_vectors(other, other_changed, state, changed, full, d):
            return rounds + 1
        rounds += 2


@block
def run_link_rounds(state, ends, other, masks, d):
    """Run ``run_bitmask_rounds`` with faulty links (R2); their ends, the bitmask ``ends``, become set in round 1.

    ``state``, ``ends`` and ``other`` have exactly max(8, 2^(d-6)) words.
    """
    new_ends = bits.ZERO
    for word in range(ends.size):
        new_ends |= ends[word] & ~state[word]
    if new_ends == bits.ZERO:
        return run_bitmask_rounds(state, other, masks, d)
    for v in range(0, ends.size, 8):
        simd.store(other, v, step_vector(state, v >> 3, max(d, 9)))
    for word in range(ends.size):
        state[word] = other[word] | ends[word]
    return 1 + run_bitmask_rounds(state, other, masks, d)


@kernel("int64(uint64[::1], uint64[::1], uint64[::1], int64)")
def run_cube_rounds(state, ends, other, d):
    """Run ``run_link_rounds`` of one given d-cube."""
    return run_link_rounds(state, ends, other, make_vector_masks(d), d)
