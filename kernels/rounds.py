"""FIND_UNSAFE's synchronous rounds inside one d-cube held as a bitmask (Lee & Hayes 1988, section 3; reading R1).

Bit ``v & 63`` of word ``v >> 6`` is node ``v``; it is set when the node is faulty or unsafe.  In each round every
node with at least two set neighbours becomes set.  A round visits 512 nodes at a time: the neighbours across
dimensions 0..8 are permutations inside the vector, those above are other vectors, and "at least two" is a pair of
carry-save bit planes, ``one`` (some neighbour) and ``two`` (at least two).

Cubes of fewer than 9 dimensions need no code of their own: they are run as a 9-cube whose other nodes are clear,
and a node outside the d-cube has at most one neighbour inside, so it never becomes set.
"""

from __future__ import annotations

import numpy as np

from . import bits, simd
from .jit import inline

_LOW = tuple(int(x) for x in bits.LOW)


@inline
def rounds_word(x, d):
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
            low = bits.LOW[k]
            by = np.uint64(1 << k)
            across = ((x >> by) & low) | ((x & low) << by)
            two |= one & across
            one |= across
        if not two & ~x:
            return rounds, x
        x |= two
        rounds += 1


@inline
def _inside(x):
    """Carry-save counts (one, two) of the set neighbours across the nine dimensions inside a 512-node vector."""
    a = simd.neighbour0(x)
    b = simd.neighbour1(x)
    c = simd.neighbour2(x)
    two = simd.majority(a, b, c)
    one = simd.either(simd.either(a, b), c)
    a = simd.neighbour3(x)
    b = simd.neighbour4(x)
    two = simd.either(two, simd.majority(one, a, b))
    one = simd.either(simd.either(one, a), b)
    a = simd.neighbour5(x)
    b = simd.neighbour6(x)
    two = simd.either(two, simd.majority(one, a, b))
    one = simd.either(simd.either(one, a), b)
    a = simd.neighbour7(x)
    b = simd.neighbour8(x)
    two = simd.either(two, simd.majority(one, a, b))
    one = simd.either(simd.either(one, a), b)
    return one, two


@inline
def step(state, v, d):
    """State of vector ``v`` (nodes 512 v .. 512 v + 511) of a d-cube after one round, d >= 9; ``state`` is not modified."""
    x = simd.load(state, v << 3)
    one, two = _inside(x)
    for k in range(d - 9):
        across = simd.load(state, (v ^ (1 << k)) << 3)
        two = simd.either(two, simd.both(one, across))
        one = simd.either(one, across)
    return simd.either(x, two)


@inline
def rounds_words(state, other, d):
    """Run the rounds of a d-cube to the fixed point.

    Parameters
    ----------
    state : uint64 array of max(8, 2^(d-6)) words
        Set nodes; clear from node 2^d up.  Ends as the final state.
    other : uint64 array of the same length
        Scratch.
    d : int64
        Dimension, 0 <= d <= 30.  Not checked.

    Returns
    -------
    int64
        Last round that sets a node; 0 when none does.
    """
    vectors = np.int64(1) << max(d - 9, 0)
    rounds = np.int64(0)
    while True:
        changed = False
        for v in range(vectors):
            new = step(state, v, d)
            changed |= simd.bits(simd.differ(new, simd.load(state, v << 3))) != np.uint64(0)
            simd.store(other, v << 3, new)
        if not changed:
            return rounds
        for v in range(vectors):
            simd.store(state, v << 3, simd.load(other, v << 3))
        rounds += 1
