"""Sources and destinations: distinct nonfaulty nodes, from words of their own purpose.

A trial's candidates are the low n bits of the fields of its own block's words in turn, low field first, w = 8, 16 or 32 bits
wide as for fault sets (``docs/random.md``).  Of many destinations those left out are drawn, so that no draw is rejected
more than about half of the time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.bitmask import has_node, toggle_node, word_mask
from ..machine import bits
from ..machine.array_types import Words
from ..machine.bits import ONE, ZERO
from ..machine.jit import block, scratch
from . import philox
from .nodes import field_width

_63 = np.uint64(63)


class Candidates(NamedTuple):
    """A trial's candidates in turn, and which nodes are taken."""

    taken: Words  #: bitmap over the nodes; clear between trials
    state: Words  #: (5): key, trial, place of the next field, and the words of two places


@scratch
def candidates_for(n):
    """Scratch for the draws of trials in Q_n, n <= 20."""
    return Candidates(np.zeros(max(1, (1 << n) >> 6), np.uint64), np.zeros(5, np.uint64))


@block
def start_trial(candidates, key, t):
    """Begin at trial t's first candidate."""
    candidates.state[0] = key
    candidates.state[1] = np.uint64(t)
    candidates.state[2] = ZERO


@block
def next_candidate(candidates, n):
    """The next candidate, a uint64 below 2^n."""
    state = candidates.state
    width = np.uint64(field_width(n))
    bit = state[2] * width
    if bit & np.uint64(127) == ZERO:
        even, odd = philox.word_pair(state[0], state[1], bit >> np.uint64(7), philox.MULTICASTS)
        state[3] = even
        state[4] = odd
    state[2] += ONE
    word = state[4] if bit & np.uint64(64) else state[3]
    return (word >> (bit & _63)) & ((ONE << np.uint64(n)) - ONE)


@block
def take_next_node(candidates, n):
    """The next candidate that is not taken; it is taken then."""
    x = next_candidate(candidates, n)
    while has_node(candidates.taken, x):
        x = next_candidate(candidates, n)
    toggle_node(candidates.taken, x)
    return x


@block
def choose_nodes(candidates, n, left, count, out):
    """Write ``count`` of the ``left`` nodes that are not taken to ``out``: drawn one by one, or the others where those are fewer.

    What is taken is the same afterwards.
    """
    fewer = min(count, left - count)
    for i in range(fewer):
        out[i] = take_next_node(candidates, n)
    if fewer == count:
        for i in range(fewer):
            toggle_node(candidates.taken, out[i])
        return
    # the nodes drawn are left out: they stand at the end of ``out`` while the others are written
    for i in range(fewer):
        out[count + fewer - 1 - i] = out[i]
    at = np.int64(0)
    for w in range(candidates.taken.size):
        rest = ~candidates.taken[w] & word_mask(n)
        while rest:
            out[at] = np.uint64(w << 6 | bits.lowest(rest))
            at += 1
            rest &= rest - ONE
    for i in range(fewer):
        toggle_node(candidates.taken, out[count + i])
