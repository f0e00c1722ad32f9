"""Sample sources and destinations of multicasts: distinct nonfaulty nodes, from random words with a purpose of their own.

The two ends of a single message are sampled in ``pairs`` and ``faults``.

A trial has a sequence of candidates: the low n bits of fields of w = 8, 16 or 32 bits (``nodes.field_width``) of the words of its
own block for MULTICASTS, lowest field first (``docs/random.md``).  A candidate in the set ``taken`` is rejected.  The caller adds
the faulty nodes to that set before a trial and removes them after it.  If more than half of the nodes that are not taken are to
be chosen, the others are sampled, so that few candidates are rejected.
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

#: Bits of a random word, and of the two words that are sampled together, less one: a place in them is taken modulo their number.
_IN_WORD, _IN_PAIR = np.uint64(63), np.uint64(127)

#: Indices of ``Candidates.state``: key, trial, number of the next field, and the two random words that hold that field, unless it
#: is the first one in two words.
_KEY, _TRIAL, _FIELD, _EVEN_WORD, _ODD_WORD = range(5)


class Candidates(NamedTuple):
    """The sequence of a trial's candidates, and the set of nodes that are taken; made by ``candidates_for``."""

    taken: Words  #: bitmask of the nodes that must not be chosen; empty between trials
    state: Words  #: the place in the sequence, by the indices _KEY .. _ODD_WORD


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
    """Return the next candidate, a uint64 below 2^n, and move on."""
    state = candidates.state
    width = np.uint64(field_width(n))
    bit = state[_FIELD] * width
    if bit & _IN_PAIR == ZERO:
        even, odd = philox.word_pair(state[_KEY], state[_TRIAL], bit >> np.uint64(7), philox.MULTICASTS)
        state[_EVEN_WORD] = even
        state[_ODD_WORD] = odd
    state[_FIELD] += ONE
    word = state[_ODD_WORD] if bit & np.uint64(64) else state[_EVEN_WORD]
    return (word >> (bit & _IN_WORD)) & ((ONE << np.uint64(n)) - ONE)


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
    """Write ``count`` nodes that are not taken to ``out``; ``available`` is the number of all nodes that are not taken.

    Up to half of them are sampled and written in the order of sampling.  If ``count`` is more, the others are sampled instead,
    and all but these are written in ascending order.  Afterwards ``taken`` is as before.  ``out`` has at least ``count`` entries
    in the first case, and ``available`` in the second.
    """
    sampled = min(count, available - count)
    for i in range(sampled):
        out[i] = take_next_node(candidates, n)
    if sampled == count:
        for i in range(sampled):
            toggle_node(candidates.taken, out[i])
        return
    # Move the sampled nodes behind the ``count`` entries of the result, to release them at the end.
    for i in range(sampled):
        out[count + i] = out[i]
    at = np.int64(0)
    for w in range(candidates.taken.size):
        rest = ~candidates.taken[w] & word_mask(n)
        while rest:
            out[at] = np.uint64(w << 6 | bits.lowest(rest))
            at += 1
            rest &= rest - ONE
    for i in range(sampled):
        toggle_node(candidates.taken, out[count + i])
