"""Random words as a pure function: Philox4x32-10 (Salmon, Moraes, Dror & Shaw 2011), by itself and in lanes.

Word ``j`` of block ``b`` for a purpose is one half of the generator's output for the counter
``(b mod 2^32, b div 2^32, j div 2, purpose)``: outputs 0 and 1 (low and high 32 bits) when ``j`` is even,
outputs 2 and 3 when it is odd.  The key is a point's 64-bit key, low 32 bits first.  No state is carried
anywhere, so any word can be had alone, on any machine.  ``docs/random.md`` has the recipe in plain NumPy.
"""

from __future__ import annotations

import numpy as np

from ..machine import simd
from ..machine.jit import block

#: What a word is for; the last number of the counter.  One purpose never sees another's words.
LABELS = np.uint64(0)  #: node labels of fault sets (low 32 bits for n > 32)
HIGH_LABELS = np.uint64(1)  #: their bits from 32 up, for n > 32
STATUS_KEYS = np.uint64(2)  #: the key of a trial's lazy node statuses
LINKS = np.uint64(3)  #: one end of each faulty link, as LABELS
HIGH_LINKS = np.uint64(4)  #: its bits from 32 up, for n > 32
DIMENSIONS = np.uint64(5)  #: the dimension of each faulty link
PAIRS = np.uint64(6)  #: sources and destinations
COUNTS = np.uint64(7)  #: numbers of faults
NODE_DIGITS = np.uint64(8)  #: leading eight binary digits of each node's uniform number, 64 nodes a word
NODE_TAILS = np.uint64(9)  #: its next 64 digits, a word a node
MULTICASTS = np.uint64(10)  #: sources and destinations of multicasts
LINK_ROWS = np.uint64(11)  #: as NODE_ROWS, of links
LINK_TAILS = np.uint64(12)  #: as NODE_TAILS, of links
LINK_COUNTS = np.uint64(13)  #: numbers of faulty links
CHOICES = np.uint64(14)  #: what a rule that draws chooses at each hop of a message
PLANTS = np.uint64(15)  #: the pair of faults that a trial plants
LINK_STATUS_KEYS = np.uint64(16)  #: the key of a trial's lazy link statuses
UNIFORMS = np.uint64(17)  #: numbers for rules and trials of one's own
BELOW = np.uint64(18)  #: whole numbers for them; attempt a for 18 + 256 a
NODE_ROWS = np.uint64(19)  #: as NODE_DIGITS, of a node in 64 trials a word

_M0 = np.uint64(0xD2511F53)
_M1 = np.uint64(0xCD9E8D57)
_W0 = np.uint64(0x9E3779B9)
_W1 = np.uint64(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


@block
def pair(key, block, half, purpose):
    """Words ``2 half`` and ``2 half + 1`` of a block, as two uint64; all arguments are uint64."""
    a = block & _LOW
    b = block >> _32
    c = half & _LOW
    d = purpose
    x = key & _LOW
    y = key >> _32
    for _ in range(10):
        p = a * _M0
        q = c * _M1
        a = (q >> _32) ^ b ^ x
        b = q & _LOW
        c = (p >> _32) ^ d ^ y
        d = p & _LOW
        x = (x + _W0) & _LOW
        y = (y + _W1) & _LOW
    return a | (b << _32), c | (d << _32)


@block
def word(key, block, j, purpose):
    """Word ``j`` of a block, as a uint64; arguments are integers from 0, of either type."""
    place = np.uint64(j)
    even, odd = pair(np.uint64(key), np.uint64(block), place >> np.uint64(1), np.uint64(purpose))
    if place & np.uint64(1):
        return odd
    return even


@block(always=True)
def prepare_lanes(key, block, purpose):
    """What all words of blocks ``block``, ..., ``block + 7`` for a purpose share, for :func:`lanes`.

    ``block`` is a multiple of 8, so the eight blocks differ in the first number of the counter only, and
    ``half`` will enter by the third.  Hence in round 1 one product, and in round 2 the other, belongs to all
    halves alike, and the two that are left are the same in all lanes: scalars.  Returns an opaque tuple.
    """
    x = key & _LOW
    s = simd.splat(_32)
    a = simd.add(simd.splat(block & _LOW), simd.iota(s))
    p = simd.mul32(a, simd.splat(_M0))
    c = simd.xor(simd.shift_right(p, s), simd.splat(purpose ^ (key >> _32)))
    q = simd.mul32(c, simd.splat(_M1))
    x2 = (x + _W0 + _W0) & _LOW
    return (block >> _32) ^ x, p, simd.shift_right(q, s), simd.xor(q, simd.splat(x2))


@block(always=True)
def lanes(key, prepared, half):
    """Words ``2 half`` and ``2 half + 1`` of the eight prepared blocks, as two vectors; ``half`` is a uint64.

    From round 3 on six vector operations a round: the two products are exact 32 x 32 -> 64 multiplications, and
    the words' high halves are never cleaned because the next product ignores them.  With the scalar first rounds
    52 operations for 16 words, 0.40 ns a word on Zen 5, where multiplications and shifts, 34 of the 52, share
    two pipes; ten full rounds are 0.66.
    """
    base, first, second, third = prepared
    x = ((key & _LOW) + _W0) & _LOW
    y = ((key >> _32) + _W1) & _LOW
    q1 = (half & _LOW) * _M1
    p2 = ((q1 >> _32) ^ base) * _M0
    a = simd.xor(second, simd.splat((q1 & _LOW) ^ x))
    c = simd.xor(first, simd.splat((p2 >> _32) ^ y))
    m0 = simd.splat(_M0)
    m1 = simd.splat(_M1)
    s = simd.splat(_32)
    x = (x + _W0) & _LOW
    y = (y + _W1) & _LOW
    p = simd.mul32(a, m0)
    q = simd.mul32(c, m1)
    a = simd.xor(simd.shift_right(q, s), third)
    b = q
    c = simd.xor(simd.shift_right(p, s), simd.splat((p2 & _LOW) ^ y))
    d = p
    for _ in range(7):
        x = (x + _W0) & _LOW
        y = (y + _W1) & _LOW
        p = simd.mul32(a, m0)
        q = simd.mul32(c, m1)
        a = simd.xor(simd.xor(simd.shift_right(q, s), b), simd.splat(x))
        b = q
        c = simd.xor(simd.xor(simd.shift_right(p, s), d), simd.splat(y))
        d = p
    return simd.low_halves(a, b), simd.low_halves(c, d)


@block
def pair_lanes(key, block, half, purpose):
    """:func:`lanes` in one call.  Inside a loop over halves the compiler moves the preparation out."""
    return lanes(key, prepare_lanes(key, block, purpose), half)


@block
def mixed_lanes(key, blocks, halves, purpose):
    """Words ``2 h`` and ``2 h + 1`` of block ``b``, for the eight (b, h) in the lanes, as two vectors.

    With blocks that are all the same the compiler moves their share of the first round out of a loop over halves.
    """
    m0 = simd.splat(_M0)
    m1 = simd.splat(_M1)
    s = simd.splat(_32)
    x = key & _LOW
    y = key >> _32
    p = simd.mul32(blocks, m0)
    q = simd.mul32(halves, m1)
    a = simd.xor(simd.shift_right(q, s), simd.xor(simd.shift_right(blocks, s), simd.splat(x)))
    b = q
    c = simd.xor(simd.shift_right(p, s), simd.splat(purpose ^ y))
    d = p
    for _ in range(9):
        x = (x + _W0) & _LOW
        y = (y + _W1) & _LOW
        p = simd.mul32(a, m0)
        q = simd.mul32(c, m1)
        a = simd.xor(simd.xor(simd.shift_right(q, s), b), simd.splat(x))
        b = q
        c = simd.xor(simd.xor(simd.shift_right(p, s), d), simd.splat(y))
        d = p
    return simd.low_halves(a, b), simd.low_halves(c, d)
