"""Sums of Hamming distances, and of their squares, over the lanes of vectors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine import simd
from ..machine.array_types import Words
from ..machine.bits import ONE
from ..machine.jit import block, scratch


class DistanceSums(NamedTuple):
    """Sums over trials, each in a vector of eight 64-bit sums; made by ``make_distance_sums``."""

    total: Words  #: sum of the Hamming distances
    squares: Words  #: sum of their squares


@scratch
def make_distance_sums():
    """Return the ``DistanceSums`` of no trials."""
    return DistanceSums(np.zeros(8, np.uint64), np.zeros(8, np.uint64))


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
def add_chosen_lanes(h, chosen, width, sums):
    """Add the chosen lanes of the Hamming distances ``h``, of ``width`` bits each, to ``DistanceSums``."""
    words = simd.as64(simd.select(simd.mask(h, chosen), h, h - h))
    total = simd.load(sums.total, 0)
    squares = simd.load(sums.squares, 0)
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
    simd.store(sums.total, 0, total)
    simd.store(sums.squares, 0, squares)


@block
def read_both_sums(sums, others):
    """Return the sum of the Hamming distances, and of their squares, over the trials of two ``DistanceSums``."""
    total = simd.load(sums.total, 0) + simd.load(others.total, 0)
    squares = simd.load(sums.squares, 0) + simd.load(others.squares, 0)
    return np.int64(simd.total(total)), np.int64(simd.total(squares))
