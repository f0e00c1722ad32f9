"""Sums of Hamming distances, and of their squares, over the lanes of vectors."""

from __future__ import annotations

import numpy as np

from ..machine import simd
from ..machine.bits import ONE
from ..machine.jit import block


@block(always=True)
def _sum_fields(fields):
    """Return the sum of the four 16-bit fields of each word; it must be below 2^16."""
    words = simd.as64(fields)
    words = words + (words >> 16)
    words = words + (words >> 32)
    return words & 65535


@block(always=True)
def _sum_bytes(words):
    """Return for each word the sum of its bytes, at most 8 each, and the sum of their squares."""
    even = simd.splat(np.uint64(0x00FF00FF00FF00FF))
    x = simd.as16(words & even)
    y = simd.as16((words >> 8) & even)
    return _sum_fields(x + y), _sum_fields((x * x) + (y * y))


@block(always=True)
def add_chosen_lanes(h, chosen, width, sums, at):
    """Add the chosen lanes of ``h``, and their squares, to two vectors of 64-bit sums at ``sums[at:]``."""
    words = simd.as64(simd.select(simd.mask(h, chosen), h, h - h))
    total = simd.load(sums, at)
    squares = simd.load(sums, at + 8)
    if width == 8:
        x, y = _sum_bytes(words)
        total = total + x
        squares = squares + y
    else:
        lane = simd.splat((ONE << np.uint64(width)) - ONE)
        for shift in range(0, 64, width):
            x = (words >> simd.splat(np.uint64(shift))) & lane
            total = total + x
            squares = squares + simd.mul32(x, x)
    simd.store(sums, at, total)
    simd.store(sums, at + 8, squares)
