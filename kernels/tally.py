"""Entering one trial into a tally: sums, squares in digits, and extremes with their smallest trial.

Slots come from the subject's :class:`~fastcube.kernels.layout.Layout`.  A counter of one digit needs none of this:
``tally[SLOT] += x``.
"""

from __future__ import annotations

import numpy as np

from .jit import block

_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


@block
def offer(tally, slot, value, trial):
    """Let one trial compete for an extreme; among equals the smallest trial wins."""
    if value > tally[slot] or (value == tally[slot] and trial < tally[slot + 1]):
        tally[slot] = value
        tally[slot + 1] = trial


@block
def add_wide(tally, slot, value):
    """Add a uint64 to a counter of two digits or more."""
    tally[slot] += np.int64(value & _LOW)
    tally[slot + 1] += np.int64(value >> _32)


@block
def add_square(tally, slot, value):
    """Add the square of a uint64 below 2^63 to a counter of four digits."""
    low = value & _LOW
    high = value >> _32
    cross = low * high
    least = low * low
    rest = least + (cross << np.uint64(33))
    add_wide(tally, slot, rest)
    add_wide(tally, slot + np.int64(2), high * high + (cross >> np.uint64(31)) + np.uint64(rest < least))


@block
def add_product(tally, slot, value, factor):
    """Add a uint64 times a uint64 below 2^31 to a counter of three digits."""
    add_wide(tally, slot, (value & _LOW) * factor)
    add_wide(tally, slot + np.int64(1), (value >> _32) * factor)
