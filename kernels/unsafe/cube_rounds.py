"""FIND_UNSAFE's rounds on one given d-cube: the entry point for single instances (Lee & Hayes 1988; R1 and R2)."""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..simd import load, store
from .rounds import rounds_words, step


@kernel("int64(uint64[::1], uint64[::1], uint64[::1], int64)")
def rounds_cube(state, ends, other, d):
    """Run the rounds of a d-cube with faulty links to the fixed point.

    Parameters
    ----------
    state : uint64 array of max(8, 2^(d-6)) words
        Faulty nodes: bit ``v & 63`` of word ``v >> 6``.  Ends as the final state.
    ends : uint64 array of the same length
        Ends of faulty links, which are marked in step 1.  Not modified.
    other : uint64 array of the same length
        Scratch.
    d : int64
        Dimension, 9 <= d <= 30.  Not checked.

    Returns
    -------
    int64
        Last round that marks a node; 0 when none does.
    """
    linked = False
    for word in range(ends.size):
        linked |= ends[word] & ~state[word] != np.uint64(0)
    if not linked:
        return rounds_words(state, other, d)
    for v in range(np.int64(1) << (d - 9)):
        store(other, v << 3, step(state, v, d))
    for v in range(np.int64(1) << (d - 9)):
        store(state, v << 3, load(other, v << 3))
    for word in range(ends.size):
        state[word] |= ends[word]
    return 1 + rounds_words(state, other, d)
