"""Blocks that update a tally: sums, squares in digits, maxima with their smallest trial, and sums over lanes of trials.

Slots come from the subject's :class:`~fastcube.kernels.tally.layout.Layout`.  A counter of one digit needs no block:
``tally[SLOT] += x``.
"""

from __future__ import annotations

import numpy as np

from ..machine import simd
from ..machine.bits import ALL_BITS, HALF_WORD_BITS, LOW32
from ..machine.jit import block


@block
def offer(tally, slot, value, trial):
    """Update a maximum with the value of one trial; among equal values the smallest trial wins."""
    if value > tally[slot] or (value == tally[slot] and trial < tally[slot + 1]):
        tally[slot] = value
        tally[slot + 1] = trial


@block
def read_maximum(tally, slot):
    """Return the value and the trial of a maximum."""
    return tally[slot], tally[slot + 1]


@block
def add_power(tally, slot, count, e):
    """Add count 2^e to a counter that has digits for it; ``count`` is an int64 below 2^31."""
    tally[slot + (e >> 5)] += count << (e & 31)


@block
def subtract_wide(tally, slot, value):
    """Subtract a uint64 from a counter of two digits or more."""
    tally[slot] -= np.int64(value & LOW32)
    tally[slot + 1] -= np.int64(value >> HALF_WORD_BITS)


@block
def subtract_power(tally, slot, value, e):
    """Subtract a uint64 times 2^e from a counter that has digits for it."""
    at = slot + (e >> 5)
    subtract_wide(tally, at, (value & LOW32) << np.uint64(e & 31))
    subtract_wide(tally, at + 1, (value >> HALF_WORD_BITS) << np.uint64(e & 31))


@block
def add_digits(tally, slot, digits, count):
    """Add ``count`` times a number to a counter; ``digits`` are the number's digits."""
    for i in range(digits.size):
        tally[slot + i] += count * digits[i]


@block
def add_wide(tally, slot, value):
    """Add a uint64 to a counter of two digits or more."""
    tally[slot] += np.int64(value & LOW32)
    tally[slot + 1] += np.int64(value >> HALF_WORD_BITS)


@block
def add_square(tally, slot, value):
    """Add the square of a uint64 below 2^63 to a counter of four digits."""
    low = value & LOW32
    high = value >> HALF_WORD_BITS
    cross = low * high
    least = low * low
    rest = least + (cross << np.uint64(33))
    add_wide(tally, slot, rest)
    add_wide(tally, slot + np.int64(2), high * high + (cross >> np.uint64(31)) + np.uint64(rest < least))


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


# ---------------------------------------------------------------- lanes


@block(always=True)
def add_lanes(total, squares, x):
    """Return sums of vectors of 64-bit lanes with ``x`` and its squares added; lanes of ``x`` are below 2^32."""
    return total + x, squares + simd.mul32(x, x)


@block
def add_moments(x, width, sums):
    """Add lanes of ``width`` bits, below 2^32, and their squares to ``sums``: three uint64 vectors, the squares in two digits."""
    low = simd.splat(LOW32)
    lane = simd.splat(ALL_BITS >> np.uint64(64 - width))
    words = simd.as64(x)
    total = simd.load(sums, 0)
    least = simd.load(sums, 8)
    high = simd.load(sums, 16)
    for shift in range(0, 64, width):
        part = (words >> simd.splat(np.uint64(shift))) & lane
        square = simd.mul32(part, part)
        total = total + part
        least = least + (square & low)
        high = high + (square >> simd.splat(HALF_WORD_BITS))
    simd.store(sums, 0, total)
    simd.store(sums, 8, least)
    simd.store(sums, 16, high)


@block
def count_moments(tally, slot, slot_squared, sums):
    """Add sums of ``add_moments`` to a tally: the total to two digits, the squares to three or more."""
    add_wide(tally, slot, simd.total(simd.load(sums, 0)))
    count_squares(tally, slot_squared, sums)


@block
def count_squares(tally, slot, sums):
    """Add only the sums of squares of ``add_moments`` to a tally."""
    add_wide(tally, slot, simd.total(simd.load(sums, 8)))
    add_wide(tally, slot + np.int64(1), simd.total(simd.load(sums, 16)))
