"""Blocks that sum a quantity and its squares over lanes of trials, in vectors that the tally gets at the end of a kernel's call.

The *lane sums* of a quantity are an array of LANE_SUM_WORDS words, at first zeros.  It holds three vectors of 64-bit lanes, which
begin at the words _TOTAL, _LOW_SQUARES and _HIGH_SQUARES: the sum of the values, of the low 32 bits of their squares, and of the
high 32 bits.  No word of them overflows in a call of 2^31 trials, the bound that the digits of a counter set too.
"""

from __future__ import annotations

import numpy as np

from ..machine import simd
from ..machine.bits import ALL_BITS, HALF_WORD_BITS, LOW32
from ..machine.jit import block
from .sums import add_wide

#: Number of words of the lane sums of one quantity, and the first words of their three vectors.
LANE_SUM_WORDS = 24
_TOTAL, _LOW_SQUARES, _HIGH_SQUARES = 0, 8, 16


@block(always=True)
def add_with_square(total, squares, x):
    """Return sums of vectors of 64-bit lanes with ``x`` and its squares added; lanes of ``x`` are below 2^32.

    The squares have one word per lane, so this is for quantities of which the sums of squares stay below 2^64.
    """
    return total + x, squares + simd.mul32(x, x)


@block
def add_to_lane_sums(x, width, lane_sums):
    """Add a vector of values below 2^32, in lanes of ``width`` bits, to the lane sums of their quantity."""
    low = simd.splat(LOW32)
    lane_mask = simd.splat(ALL_BITS >> np.uint64(64 - width))
    words = simd.as64(x)
    total = simd.load(lane_sums, _TOTAL)
    low_squares = simd.load(lane_sums, _LOW_SQUARES)
    high_squares = simd.load(lane_sums, _HIGH_SQUARES)
    for shift in range(0, 64, width):
        value = (words >> simd.splat(np.uint64(shift))) & lane_mask
        square = simd.mul32(value, value)
        total = total + value
        low_squares = low_squares + (square & low)
        high_squares = high_squares + (square >> simd.splat(HALF_WORD_BITS))
    simd.store(lane_sums, _TOTAL, total)
    simd.store(lane_sums, _LOW_SQUARES, low_squares)
    simd.store(lane_sums, _HIGH_SQUARES, high_squares)


@block
def read_lane_total(lane_sums):
    """Return the sum of the values, a uint64, without their squares."""
    return simd.total(simd.load(lane_sums, _TOTAL))


@block
def tally_lane_sums(tally, slot, slot_squared, lane_sums):
    """Add lane sums to a tally: the values to a counter of two digits or more, the squares to one of three or more."""
    add_wide(tally, slot, read_lane_total(lane_sums))
    tally_lane_squares(tally, slot_squared, lane_sums)


@block
def tally_lane_squares(tally, slot, lane_sums):
    """Add only the squares of lane sums to a tally, to a counter of three digits or more."""
    add_wide(tally, slot, simd.total(simd.load(lane_sums, _LOW_SQUARES)))
    add_wide(tally, slot + np.int64(1), simd.total(simd.load(lane_sums, _HIGH_SQUARES)))
