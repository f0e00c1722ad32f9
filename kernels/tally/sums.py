"""Blocks that add to a counter of a tally, or subtract from it; the counter is given by its first slot.

Slots come from the subject's :class:`~fastcube.kernels.tally.layout.Layout`.  A counter of one digit needs no block:
``tally[SLOT] += x``.

A counter of several *digits* is a number in base 2^32: its slot i counts multiples of 2^(32 i).  A digit is an int64, and blocks
add to it without carrying, because ``Layout.add_rows`` carries after each call of a kernel.  Until then a digit may be negative,
or 2^32 and more.  One trial's ``add_wide`` or ``add_square`` changes a digit by less than 2^32, so a call may have 2^31 trials;
``add_product`` changes its middle digit by less than 2^33, so then 2^30.  The other blocks take a number that a kernel has summed
over its call, once per call.
"""

from __future__ import annotations

import numpy as np

from ..machine.bits import HALF_WORD_BITS, LOW32
from ..machine.jit import block


@block
def add_wide(tally, slot, value):
    """Add a uint64 to a counter of two digits or more."""
    tally[slot] += np.int64(value & LOW32)
    tally[slot + 1] += np.int64(value >> HALF_WORD_BITS)


@block
def add_power(tally, slot, count, e):
    """Add count 2^e to a counter that has a digit e // 32; ``count`` is an int64 below 2^31."""
    tally[slot + (e >> 5)] += count << (e & 31)


@block
def subtract_wide(tally, slot, value):
    """Subtract a uint64 from a counter of two digits or more."""
    tally[slot] -= np.int64(value & LOW32)
    tally[slot + 1] -= np.int64(value >> HALF_WORD_BITS)


@block
def subtract_power(tally, slot, value, e):
    """Subtract a uint64 times 2^e from a counter that has a digit e // 32 + 2."""
    at = slot + (e >> 5)
    subtract_wide(tally, at, (value & LOW32) << np.uint64(e & 31))
    subtract_wide(tally, at + 1, (value >> HALF_WORD_BITS) << np.uint64(e & 31))


@block
def add_digits(tally, slot, digits, count):
    """Add ``count`` times a number to a counter; ``digits`` are the number's digits, ``count`` is below 2^31."""
    for i in range(digits.size):
        tally[slot + i] += count * digits[i]


@block
def add_square(tally, slot, value):
    """Add the square of a uint64 below 2^63 to a counter of four digits."""
    low = value & LOW32
    high = value >> HALF_WORD_BITS
    cross = low * high  # (high 2^32 + low)^2 = high^2 2^64 + cross 2^33 + low^2
    low_square = low * low
    low_word = low_square + (cross << np.uint64(33))
    carry = np.uint64(low_word < low_square)  # the sum of two uint64 is below both of them if it has overflowed
    add_wide(tally, slot, low_word)
    add_wide(tally, slot + np.int64(2), high * high + (cross >> np.uint64(31)) + carry)


@block
def add_product(tally, slot, value, factor):
    """Add a uint64 times a uint64 below 2^31 to a counter of three digits."""
    add_wide(tally, slot, (value & LOW32) * factor)
    add_wide(tally, slot + np.int64(1), (value >> HALF_WORD_BITS) * factor)


@block
def add_quantity(tally, slots, x):
    """Add one trial's int64 ``x`` to the slots of its Moments.

    ``x`` must not be negative if the total has two digits or more, or the squares have more than one digit.  With two or three
    square digits ``x`` must be below 2^32.
    """
    if slots.digits == 1:
        tally[slots.total] += x
    else:
        add_wide(tally, slots.total, np.uint64(x))
    if slots.square_digits == 1:
        tally[slots.squares] += x * x
    elif slots.square_digits < 4:
        add_wide(tally, slots.squares, np.uint64(x) * np.uint64(x))
    else:
        add_square(tally, slots.squares, np.uint64(x))
    if slots.nonzero >= 0:
        tally[slots.nonzero] += x != 0
