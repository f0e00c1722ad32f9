"""Planting in plain Python: what a planted sequence of faults counts, and all of them for a small cube.

A sequence of distinct faults with two positions i < j whose faults are within distance 2 *counts* when no pair of positions
before (i, j), in lexicographic order, is within distance 2.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from . import unsafe


def near(x: int, y: int) -> bool:
    """Whether two labels are within distance 2."""
    return (x ^ y).bit_count() <= 2


def first_pair(faults: Sequence[int]) -> tuple[int, int] | None:
    """The first pair of positions within distance 2, in lexicographic order."""
    pairs = itertools.combinations(range(len(faults)), 2)
    return next(((i, j) for i, j in pairs if near(faults[i], faults[j])), None)


def scale(n: int, f: int) -> Fraction:
    """S = C(f, 2) (n + C(n, 2)) / (2^n - 1)."""
    return Fraction(math.comb(f, 2) * (n + math.comb(n, 2)), 2**n - 1)


def sequences(n: int, f: int) -> Iterator[tuple[tuple[int, ...], int, int]]:
    """Everything that can be drawn, all equally likely: sequences with a planted pair of positions."""
    for faults in itertools.permutations(range(2**n), f):
        for i, j in itertools.combinations(range(f), 2):
            if near(faults[i], faults[j]):
                yield faults, i, j


def outcome(n: int, faults: Sequence[int]) -> tuple[int, int, int]:
    """Unsafe nodes, rounds and the dimension of the largest subcube."""
    cubes = unsafe.subcubes(faults)
    nodes = sum(1 << free.bit_count() for _, free in cubes) - len(faults)
    rounds = max(_rounds(faults, base, free) for base, free in cubes)
    return nodes, rounds, max(free.bit_count() for _, free in cubes)


def _rounds(faults: Sequence[int], base: int, free: int) -> int:
    """Rounds inside one subcube, in a cube of its own."""
    dims = [k for k in range(free.bit_length()) if free >> k & 1]
    own = [sum((x >> k & 1) << at for at, k in enumerate(dims)) for x in faults if x & ~free == base & ~free]
    return unsafe.rounds(len(dims), own)
