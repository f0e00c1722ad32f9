"""Sample one uniformly random order of failures per trial, position by position from the last one down (N6).

Components are the nodes or the links of a network, by their numbers.  The component at a position is final as soon as that
position is sampled, so a user of the last positions needs no others.
"""

from __future__ import annotations

import numpy as np

from ..machine import simd
from ..machine.bits import HALF_WORD_BITS, LOW32, ONE, ZERO
from ..machine.jit import block
from . import philox

_3, _15, _16 = np.uint64(3), np.uint64(15), np.uint64(16)


@block
def begin_order(order):
    """Assign numbers to the components, before the first position is sampled."""
    for i in range(order.size):
        order[i] = i


@block
def draw_place(key, t, i, order, words, purpose):
    """Return the component, a uint32, at position ``i`` of trial ``t``'s order.

    Call it for i = size - 1, size - 2, ..., 0 in turn: every sixteenth call samples the positions of the fifteen calls after it
    as well.  Fisher-Yates: the component is swapped with the component at position floor(w (i + 1) / 2^64), where w is word
    size - 1 - i of block t for ``purpose``.

    Parameters
    ----------
    key, purpose : uint64
    t, i : int64
    order : int32 array
        From ``begin_order``; final from position i on.
    words : uint64 array of 16
        Scratch memory for the words of sixteen positions.
    """
    word_number = np.uint64(order.size - 1 - i)
    if word_number & _15 == ZERO:  # sixteen positions together do not wait for the caller's work on each
        halves = simd.splat(word_number >> ONE) + simd.iota(simd.splat(key))
        even, odd = philox.mixed_lanes(key, simd.splat(np.uint64(t)), halves, simd.splat(purpose))
        simd.store(words, 0, even)
        simd.store(words, 8, odd)
        for k in range(min(_16, np.uint64(i) + ONE)):
            position = np.uint64(i) - k
            w = words[((k & ONE) << _3) + (k >> ONE)]  # the eight even words come before the eight odd ones
            choices = position + ONE
            # floor(w * choices / 2^64) for choices < 2^32, by the two halves of w
            j = ((w >> HALF_WORD_BITS) * choices + ((w & LOW32) * choices >> HALF_WORD_BITS)) >> HALF_WORD_BITS
            component = order[j]
            order[j] = order[position]
            order[position] = component
    return np.uint32(order[np.uint64(i)])
