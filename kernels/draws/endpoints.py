"""Sample sources and destinations of multicasts: distinct nonfaulty nodes, from random words with a purpose of their own.

A trial's candidates are the low n bits of the fields of the words of its own block, low field first, w = 8, 16 or 32 bits wide as
for fault sets (``docs/random.md``).  If more than half of the nonfaulty nodes are to be chosen, the nodes to leave out are
sampled, so that few candidates are rejected.
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

#: Indices of ``Candidates.state``: key, trial, number of the next field, and the two words of random bits that are sampled last.
_KEY, _TRIAL, _FIELD, _EVEN_WORD, _ODD_WORD = range(5)


class Candidates(NamedTuple):
    """The sequence of a trial's candidates, and the set of nodes that are taken."""

    taken: Words  #: bitmask of the nodes; clear between trials
    state: Words  #: _KEY .. _ODD_WORD


@scratch
def candidates_for(n):
    """Return scratch memory for trials in Q_n, n <= 20."""
    return Candidates(np.zeros(max(1, (1 << n) >> 6), np.uint64), np.zeros(_ODD_WORD + 1, np.uint64))


@block
def start_trial(candidates, key, t):
    """Move to trial t's first candidate."""
    candidates.state[_KEY] = key
    candidates.state[_TRIAL] = np.uint64(t)
    candidates.state[_FIELD] = ZERO


@block
def next_candidate(candidates, n):
    """Return the next candidate, a uint64 below 2^n."""
    state = candidates.state
    width = np.uint64(field_width(n))
    bit = state[_FIELD] * width
    if bit & np.uint64(127) == ZERO:
        even, odd = philox.word_pair(state[_KEY], state[_TRIAL], bit >> np.uint64(7), philox.MULTICASTS)
        state[_EVEN_WORD] = even
        state[_ODD_WORD] = odd
    state[_FIELD] += ONE
    word = state[_ODD_WORD] if bit & np.uint64(64) else state[_EVEN_WORD]
    return (word >> (bit & _63)) & ((ONE << np.uint64(n)) - ONE)


@block
def take_next_node(candidates, n):
    """Return the next candidate that is not taken, and mark it as taken."""
    x = next_candidate(candidates, n)
    while has_node(candidates.taken, x):
        x = next_candidate(candidates, n)
    toggle_node(candidates.taken, x)
    return x


@block
def choose_nodes(candidates, n, available, count, out):
    """Write ``count`` of the ``available`` nodes that are not taken to ``out``.

    These nodes are sampled one by one; if the others are fewer, the others are sampled and left out.  Afterwards
    ``taken`` is as before.  ``out`` has at least ``count`` entries in the first case, and ``available`` in the second.
    """
    fewer = min(count, available - count)
    for i in range(fewer):
        out[i] = take_next_node(candidates, n)
    if fewer == count:
        for i in range(fewer):
            toggle_node(candidates.taken, out[i])
        return
    # The sampled nodes are left out; they are stored at the end of ``out`` while the others are written.
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
