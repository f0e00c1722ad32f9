"""Random words as a pure function: Philox4x32-10 (Salmon, Moraes, Dror & Shaw 2011), by itself and in lanes.

Word ``j`` of block ``b`` for a purpose is one half of the generator's output for the counter
``(b mod 2^32, b div 2^32, j div 2, purpose)``: outputs 0 and 1 (low and high 32 bits) when ``j`` is even,
outputs 2 and 3 when it is odd.  The key is a point's 64-bit key, low 32 bits first.  No state is carried
anywhere, so any word can be had alone, on any machine.  ``docs/random.md`` has the recipe in plain NumPy.
"""

from __future__ import annotations

import numpy as np

from . import simd
from .jit import inline

#: What a word is for; the last number of the counter.  One purpose never sees another's words.
LABELS = np.uint64(0)  #: node labels of fault sets (low 32 bits for n > 32)
HIGH_LABELS = np.uint64(1)  #: their bits from 32 up, for n > 32
STATUS_KEYS = np.uint64(2)  #: the key of a trial's lazy node statuses
LINKS = np.uint64(3)  #: one end of each faulty link, as LABELS
HIGH_LINKS = np.uint64(4)  #: its bits from 32 up, for n > 32
DIMENSIONS = np.uint64(5)  #: the dimension of each faulty link
PAIRS = np.uint64(6)  #: sources and destinations
COUNTS = np.uint64(7)  #: numbers of faults

_M0 = np.uint64(0xD2511F53)
_M1 = np.uint64(0xCD9E8D57)
_W0 = np.uint64(0x9E3779B9)
_W1 = np.uint64(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


@inline
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


@inline
def word(key, block, j, purpose):
    """Word ``j`` of a block, as a uint64; all arguments are uint64."""
    even, odd = pair(key, block, j >> np.uint64(1), purpose)
    if j & np.uint64(1):
        return odd
    return even


@inline
def pair_lanes(key, block, half, purpose):
    """Words ``2 half`` and ``2 half + 1`` of blocks ``block``, ``block + 1``, ..., ``block + 7``, as two vectors.

    Six 64-bit lane operations a round: the two products are exact 32 x 32 -> 64 multiplications, and the
    words' high halves are never cleaned because the next product ignores them.
    """
    zero = simd.splat(np.uint64(0))
    m0 = simd.splat(_M0)
    m1 = simd.splat(_M1)
    s = simd.splat(_32)
    a = simd.add(simd.splat(block), simd.iota(zero))
    b = simd.shift_right(a, s)
    c = simd.splat(half)
    d = simd.splat(purpose)
    x = key & _LOW
    y = key >> _32
    for _ in range(10):
        p = simd.mul32(a, m0)
        q = simd.mul32(c, m1)
        a = simd.xor(simd.xor(simd.shift_right(q, s), b), simd.splat(x))
        b = q
        c = simd.xor(simd.xor(simd.shift_right(p, s), d), simd.splat(y))
        d = p
        x = (x + _W0) & _LOW
        y = (y + _W1) & _LOW
    low = simd.splat(_LOW)
    even = simd.either(simd.both(a, low), simd.shift_left(b, s))
    odd = simd.either(simd.both(c, low), simd.shift_left(d, s))
    return even, odd
