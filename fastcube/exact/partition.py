"""Exact probabilities of a fault-tolerant 2-partition under f random faults, by enumeration, and a bound for every n."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import numpy as np

from ..errors import check_integer

#: Most faults enumerated in Q_n: all that can have a partition up to n = 5, and 7 in Q_6 (some seconds).
MOST = {1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 6: 7}


def mean_tolerant_pairs(n: int, f: int) -> Fraction:
    """Mean number of fault-tolerant pairs of dimensions: C(n, 2) C(2^(n-2), f) 4^f / C(2^n, f).

    A pair is fault-tolerant when the faults lie in f different 2-cubes, in any of four places each.  The mean bounds the
    probability that there is one.
    """
    if n < 2:
        return Fraction(0)
    cubes, share = 2 ** (n - 2), Fraction(math.comb(n, 2))
    for i in range(f):
        share *= Fraction(4 * (cubes - i), 4 * cubes - i)
    return share


@functools.cache
def counts(n: int, most: int) -> tuple[tuple[int, int], ...]:
    """For f = 0 .. most: fault sets of Q_n with a fault-tolerant 2-partition, and those in which Figure 2 finds one."""
    from ..kernels.partition.enumeration import count_partitions

    with_zero = np.zeros((most + 2, 2), np.int64)
    if most:
        count_partitions(n, most, with_zero)
    rows = [(int(n > 1), int(n > 1))]
    for f in range(1, most + 1):
        exists, greedy = (int(many) * 2**n // f for many in with_zero[f])
        rows.append((exists, greedy))
    return tuple(rows)


def exact_partition(n: int, f: int) -> dict[str, Fraction | None]:
    """The statistics of study ``two-partition``, exactly.

    Parameters
    ----------
    n : int
        1 .. 6.
    f : int
        0 .. 2^n; in Q_6 up to 7, and above 16.

    Returns
    -------
    dict
        ``exists``, ``greedy`` and ``greedy_given_exists`` (None when there is none).
    """
    n = check_integer("n", n, 1, 6, "for an enumeration")
    f = check_integer("f", f, 0, 2**n, f"for n={n}")
    if 4 * f > 2**n:
        return {"exists": Fraction(0), "greedy": Fraction(0), "greedy_given_exists": None}
    check_integer("f", f, 0, MOST[n], f"for an enumeration at n={n}, or above 2^(n-2)")
    exists, greedy = counts(n, MOST[n] if n < 6 else f)[f]
    sets = math.comb(2**n, f)
    return {
        "exists": Fraction(exists, sets),
        "greedy": Fraction(greedy, sets),
        "greedy_given_exists": Fraction(greedy, exists) if exists else None,
    }
