"""Random words as a pure function: Philox4x32-10 (Salmon, Moraes, Dror & Shaw 2011), for single words and in lanes.

Word ``j`` of block ``b`` for a purpose is one half of the generator's output for the counter
``(b mod 2^32, b div 2^32, j div 2, purpose)``: outputs 0 and 1 (low and high 32 bits) if ``j`` is even, outputs 2 and 3 if it is
odd.  The key is a point's 64-bit key, low 32 bits first.  There is no state, so any word can be computed alone, on any machine.
``docs/random.md`` has the recipe in plain NumPy.
"""

from __future__ import annotations

import numpy as np

from ..machine import simd
from ..machine.jit import block

#: Purposes of words, the last number of the counter.  Different purposes never share words.
LABELS = np.uint64(0)  #: node labels of fault sets (low 32 bits for n > 32)
HIGH_LABELS = np.uint64(1)  #: bits of these labels from 32 up, for n > 32
STATUS_KEYS = np.uint64(2)  #: the key of a trial's node statuses
LINKS = np.uint64(3)  #: one end of each faulty link, as LABELS
HIGH_LINKS = np.uint64(4)  #: bits of these ends from 32 up, for n > 32
DIMENSIONS = np.uint64(5)  #: the dimension of each faulty link
PAIRS = np.uint64(6)  #: sources and destinations
COUNTS = np.uint64(7)  #: numbers of faults
NODE_DIGITS = np.uint64(8)  #: leading eight binary digits of each node's uniform number, 64 nodes per word
NODE_TAILS = np.uint64(9)  #: the next 64 digits of each node's number, one word per node
MULTICASTS = np.uint64(10)  #: sources and destinations of multicasts
LINK_ROWS = np.uint64(11)  #: as NODE_ROWS, for links
LINK_TAILS = np.uint64(12)  #: as NODE_TAILS, for links
LINK_COUNTS = np.uint64(13)  #: numbers of faulty links
CHOICES = np.uint64(14)  #: random choice of a rule at each hop of a message
PLANTS = np.uint64(15)  #: the close pair of a trial of Karp-Luby importance sampling
LINK_STATUS_KEYS = np.uint64(16)  #: the key of a trial's link statuses
UNIFORMS = np.uint64(17)  #: uniform numbers for users' rules and trials
BELOW = np.uint64(18)  #: integers for users' rules and trials; attempt a has purpose 18 + 256 a
NODE_ROWS = np.uint64(19)  #: as NODE_DIGITS, with one node in 64 trials per word
NODE_ORDERS = np.uint64(20)  #: the order in which nodes fail, one word per position from the last one down
LINK_ORDERS = np.uint64(21)  #: as NODE_ORDERS, for links
DOMAINS = np.uint64(22)  #: failure domains, two per word

_M0 = np.uint64(0xD2511F53)
_M1 = np.uint64(0xCD9E8D57)
_W0 = np.uint64(0x9E3779B9)
_W1 = np.uint64(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


@block
def word_pair(key, block_, half, purpose):
    """Return words ``2 half`` and ``2 half + 1`` of a block, as two uint64; all arguments are uint64."""
    a = block_ & _LOW
    b = block_ >> _32
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
def random_word(key, block_, j, purpose):
    """Return word ``j`` of a block, as a uint64; arguments are nonnegative integers, signed or unsigned."""
    place = np.uint64(j)
    even, odd = word_pair(np.uint64(key), np.uint64(block_), place >> np.uint64(1), np.uint64(purpose))
    if place & np.uint64(1):
        return odd
    return even


@block(always=True)
def _prepare_blocks(key, first_block, purpose, kind):
    """Return the values shared by all words of consecutive blocks for a purpose, one block per lane of ``kind``.

    ``first_block`` is a multiple of the number of lanes, so the blocks differ only in the first number of the counter, and
    ``half`` enters by the third.  Hence one product of round 1, and the other of round 2, are shared by all halves, and the other
    two are equal in all lanes, so they are scalars.

    With the state (a, b, c, d) of the counter's four numbers, the results are: b xor the key of round 1 (a scalar, for
    ``_prepare_half``), and in lanes for ``_finish_rounds`` the blocks' parts of c and of a after round 2, which are d after round
    1 and the high half of round 2's product of c, and b after round 2 xor the key of round 3.
    """
    x = key & _LOW
    s = simd.splat_like(kind, _32)
    a = simd.splat_like(kind, first_block & _LOW) + simd.iota(s)
    p = simd.mul32(a, simd.splat_like(kind, _M0))
    c = (p >> s) ^ simd.splat_like(kind, purpose ^ (key >> _32))
    q = simd.mul32(c, simd.splat_like(kind, _M1))
    third_key = (x + _W0 + _W0) & _LOW
    return (first_block >> _32) ^ x, p, q >> s, q ^ simd.splat_like(kind, third_key)


@block(always=True)
def prepare_lanes(key, first_block, purpose):
    """Return the values for ``word_lanes`` that eight blocks from ``first_block`` on, a multiple of 8, share."""
    kind = simd.splat(_32)  # only its type matters
    return _prepare_blocks(key, first_block, purpose, kind)


@block(always=True)
def prepare_four_vectors(key, first_block, purpose):
    """Do ``prepare_lanes`` for 32 blocks, ``first_block`` a multiple of 32; ``word_lanes`` then returns four joined vectors.

    The generator is ten dependent products, and a processor looks ahead over about two calls.  Four calls together take .8 of the
    time of four separate calls.
    """
    kind = simd.splat(_32)  # only its type matters
    return _prepare_blocks(key, first_block, purpose, simd.join(kind, kind, kind, kind))


@block(always=True)
def _run_round(key, i, a, b, c, d):
    """Return the state after round ``i`` of ten, in lanes; high halves of words keep bits that the next product ignores."""
    s = simd.splat_like(a, _32)
    p = simd.mul32(a, simd.splat_like(a, _M0))
    q = simd.mul32(c, simd.splat_like(a, _M1))
    x = simd.splat_like(a, ((key & _LOW) + np.uint64(i - 1) * _W0) & _LOW)
    y = simd.splat_like(a, ((key >> _32) + np.uint64(i - 1) * _W1) & _LOW)
    return (q >> s) ^ b ^ x, q, (p >> s) ^ d ^ y, p


@block(always=True)
def _run_last_rounds(key, a, b, c, d):
    """Run rounds 4 to 10, written out, because LLVM does not unroll a loop over joined vectors."""
    a, b, c, d = _run_round(key, 4, a, b, c, d)
    a, b, c, d = _run_round(key, 5, a, b, c, d)
    a, b, c, d = _run_round(key, 6, a, b, c, d)
    a, b, c, d = _run_round(key, 7, a, b, c, d)
    a, b, c, d = _run_round(key, 8, a, b, c, d)
    a, b, c, d = _run_round(key, 9, a, b, c, d)
    a, b, c, d = _run_round(key, 10, a, b, c, d)
    return simd.low_halves(a, b), simd.low_halves(c, d)


@block(always=True)
def _prepare_half(key, base, half):
    """Return one half's parts of a and of c after round 2, and d after round 2 xor the key of round 3; equal for all blocks."""
    x = ((key & _LOW) + _W0) & _LOW  # the keys of round 2
    y = ((key >> _32) + _W1) & _LOW
    q = (half & _LOW) * _M1
    p = ((q >> _32) ^ base) * _M0
    return (q & _LOW) ^ x, (p >> _32) ^ y, (p & _LOW) ^ ((y + _W1) & _LOW)


@block(always=True)
def _finish_rounds(key, block_c, block_a, block_b, half_a, half_c, half_d):
    """Return the words from the values of ``_prepare_blocks`` and of ``_prepare_half``: run round 3, and the others."""
    s = simd.splat_like(block_a, _32)
    p = simd.mul32(block_a ^ half_a, simd.splat_like(block_a, _M0))
    q = simd.mul32(block_c ^ half_c, simd.splat_like(block_a, _M1))
    a = (q >> s) ^ block_b
    c = (p >> s) ^ half_d
    return _run_last_rounds(key, a, q, c, p)


@block(always=True)
def word_lanes(key, prepared, half):
    """Return words ``2 half`` and ``2 half + 1`` of the prepared blocks, as two vectors; ``half`` is a uint64.

    From round 3 on a round is six vector operations: the two products are exact 32 x 32 -> 64 multiplications.  With the scalar
    first rounds these are 52 operations for 16 words.  Zen 5 executes four vector operations per cycle, two of them
    multiplications beside two shifts (measured), so 13 cycles are the bound.  One call after another takes 25 cycles, or 0.38 ns
    per word, because each operation waits for the one before; four calls together take 22 cycles each.
    """
    base, c, a, b = prepared
    half_a, half_c, half_d = _prepare_half(key, base, half)
    return _finish_rounds(
        key, c, a, b, simd.splat_like(a, half_a), simd.splat_like(a, half_c), simd.splat_like(a, half_d)
    )


@block(always=True)
def _four_splats(x0, x1, x2, x3):
    return simd.join(simd.splat(x0), simd.splat(x1), simd.splat(x2), simd.splat(x3))


@block(always=True)
def four_word_lanes(key, prepared, halves):
    """Return ``word_lanes`` of four prepared tuples and four halves as two joined vectors, in .8 of the time."""
    base0, c0, a0, b0 = prepared[0]
    base1, c1, a1, b1 = prepared[1]
    base2, c2, a2, b2 = prepared[2]
    base3, c3, a3, b3 = prepared[3]
    half_a0, half_c0, half_d0 = _prepare_half(key, base0, halves[0])
    half_a1, half_c1, half_d1 = _prepare_half(key, base1, halves[1])
    half_a2, half_c2, half_d2 = _prepare_half(key, base2, halves[2])
    half_a3, half_c3, half_d3 = _prepare_half(key, base3, halves[3])
    return _finish_rounds(
        key,
        simd.join(c0, c1, c2, c3),
        simd.join(a0, a1, a2, a3),
        simd.join(b0, b1, b2, b3),
        _four_splats(half_a0, half_a1, half_a2, half_a3),
        _four_splats(half_c0, half_c1, half_c2, half_c3),
        _four_splats(half_d0, half_d1, half_d2, half_d3),
    )


@block
def pair_lanes(key, first_block, half, purpose):
    """Do ``word_lanes`` in one call.  In a loop over halves the compiler moves the preparation out of the loop."""
    return word_lanes(key, prepare_lanes(key, first_block, purpose), half)


@block
def mixed_lanes(key, blocks, halves, purposes):
    """Return words ``2 h`` and ``2 h + 1`` of block ``b`` for purpose p, for each (b, h, p) in the lanes, as two vectors.

    If all blocks are equal the compiler moves their part of the first round out of a loop over halves.
    """
    b = blocks >> simd.splat_like(blocks, _32)
    a, b, c, d = _run_round(key, 1, blocks, b, halves, purposes)
    a, b, c, d = _run_round(key, 2, a, b, c, d)
    a, b, c, d = _run_round(key, 3, a, b, c, d)
    return _run_last_rounds(key, a, b, c, d)
