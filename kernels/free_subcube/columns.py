"""Rows of bits as columns of bits: eight rows of vectors, or 64 words, are transposed by exchanging halves.

Rows are divided into strips of 2 s bits.  Exchanging the upper half of each strip of a row with the lower half of that strip in
the row s further on, for s = 32, 16, 8, 4, 2 and 1, transposes 64 x 64 bits (Hacker's Delight, section 7-3).  With s = 4, 2 and 1
alone, squares of 8 x 8 bits are transposed.  Indices of arrays count words of 64 bits, eight to a vector.
"""

from __future__ import annotations

from ..machine import bits, simd
from ..machine.bits import ONE
from ..machine.jit import block


@block(always=True)
def exchange_halves(words, low, high, k):
    """Exchange the upper halves of the vector at ``low``, of each 2^(k+1) bits, with the lower halves of that at ``high``."""
    by, mask = simd.splat(ONE << k), simd.splat(bits.CLEAR_BIT_MASKS[k])
    a, b = simd.load(words, low), simd.load(words, high)
    t = ((a >> by) ^ b) & mask
    simd.store(words, low, a ^ (t << by))
    simd.store(words, high, b ^ t)


@block(always=True)
def transpose_eight(words, at, step, k):
    """Exchange halves of 4, 2 and 1 times 2^k bits between eight vectors that are 4, 2 and 1 rows of ``step`` words apart."""
    for i in range(4):
        exchange_halves(words, at + i * step, at + (i + 4) * step, k + 2)
    for i in range(0, 8, 4):
        exchange_halves(words, at + i * step, at + (i + 2) * step, k + 1)
        exchange_halves(words, at + (i + 1) * step, at + (i + 3) * step, k + 1)
    for i in range(0, 8, 2):
        exchange_halves(words, at + i * step, at + (i + 1) * step, k)


@block
def transpose_words(words, spare):
    """Transpose 64 words of 64 bits, bit j of word i and bit i of word j; ``spare`` is scratch memory of 64 words.

    Eight vectors have words 32, 16 and 8 rows apart.  Those 4, 2 and 1 apart are in one vector, until the 8 x 8 words of the
    vectors are transposed.
    """
    transpose_eight(words, 0, 8, 3)
    simd.transpose(words, 0, 8, spare, 0)
    transpose_eight(spare, 0, 8, 0)
    simd.transpose(spare, 0, 8, words, 0)
