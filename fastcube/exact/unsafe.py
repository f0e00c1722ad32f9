"""Exact values for unsafe nodes, as fractions over all fault sets of a size, with which Monte Carlo must agree.

There are three methods, whose ranges overlap; the tests compare them.

*Enumeration*, n <= 5: every fault set, compiled (``kernels/unsafe/all_sets.py``).

*Closed families*, n <= 6: faulty and unsafe nodes are subcubes at pairwise distance at least three.  The faults inside each
subcube mark all of it, independent of other subcubes.  Let P_d(x) count, by size, the fault sets of Q_d that leave no active
node (including the set of all nodes), so P_0 = x.  A family of subcubes of dimensions d_1, ..., d_k belongs to
P_{d_1} ... P_{d_k} fault sets, and (1 + x)^(2^n) is the sum over all families.  The family of Q_n alone is the unknown P_n.
P_n(1) = 1, 7, 189, 63687, 4294312617, 18446744022167292711 for n = 1, ..., 6.

*Column types*, f <= 4: up to a translation, f faults are a table of f rows (the first of zeros) and n columns.  The order of the
columns does not matter, so fault sets are counted by the number of columns of each of the 2^(f-1) types.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..algorithms.unsafe import marking_steps
from ..errors import ParameterError, check_integer

#: Largest number of tables of column types that ``exact_unsafe`` enumerates, which takes some seconds.
MOST_TYPES = 200_000

#: Numbers of fault sets of one size by (unsafe nodes, rounds); rounds is None if unknown.
Joint = dict[tuple[int, int | None], int]


@dataclass(frozen=True)
class ExactUnsafe:
    """Exact values over all fault sets of f nodes of Q_n.

    Attributes
    ----------
    n, f : int
        Dimension of the hypercube, and number of faulty nodes.
    mean_fraction : Fraction
        Mean of (nonfaulty unsafe nodes) / 2^n.
    variance_fraction : Fraction
        Variance of (nonfaulty unsafe nodes) / 2^n.
    all_unsafe : Fraction
        Fraction of the fault sets that leave no active node.
    close_pair : Fraction
        Fraction of the fault sets with two faults at distance 1 or 2.
    mean_rounds : Fraction or None
        Mean number of rounds; None if unknown (n = 6, f > 4).
    max_rounds : int or None
        Largest number of rounds; None if unknown.
    """

    n: int
    f: int
    mean_fraction: Fraction
    variance_fraction: Fraction
    all_unsafe: Fraction
    close_pair: Fraction
    mean_rounds: Fraction | None
    max_rounds: int | None


def exact_unsafe(n: int, f: int) -> ExactUnsafe:
    """Return exact values over all sets of f faulty nodes of Q_n.

    Parameters
    ----------
    n : int
        In [1, 62].
    f : int
        In [0, 2^n] for n <= 6; for larger n f <= 3, and f = 4 up to n = 15.

    Returns
    -------
    ExactUnsafe

    Raises
    ------
    ParameterError
        If no method covers n and f.

    Examples
    --------
    >>> fc.exact_unsafe(4, 2).mean_fraction  # 6 of 15 second faults are at distance 2 and make 2 of the 16 nodes unsafe
    Fraction(1, 20)
    """
    n = check_integer("n", n, 1, 62)
    f = check_integer("f", f, 0, 2**n, f"for n={n}")
    if n <= 5:
        joint = enumerate_fault_sets(n)[f]
    elif f <= 4 and math.comb(n + 2 ** max(f - 1, 0) - 1, n) <= MOST_TYPES:
        joint = column_types(n, f)[0]
    elif n == 6:
        joint = count_by_families(n)[f]
    else:
        most = 4 if n <= 15 else 3
        raise ParameterError(f"f must be in [0, {most}] for exact values at n={n}, got {f}")
    sets = math.comb(2**n, f)
    mean = Fraction(sum(unsafe * many for (unsafe, _), many in joint.items()), sets)
    square = Fraction(sum(unsafe**2 * many for (unsafe, _), many in joint.items()), sets)
    steps = [rounds for _, rounds in joint if rounds is not None]
    known = len(steps) == len(joint)
    total = sum((rounds or 0) * many for (_, rounds), many in joint.items())
    return ExactUnsafe(
        n,
        f,
        mean / 2**n,
        (square - mean**2) / 4**n,
        Fraction(sum(many for (unsafe, _), many in joint.items() if unsafe + f == 2**n), sets),
        1 - Fraction(isolated_sets(n, f), sets),
        Fraction(total, sets) if known else None,
        max(steps) if known else None,
    )


def mean_unsafe_two_faults(n: int) -> Fraction:
    """Return the mean number of unsafe nodes for f = 2: n(n-1)/(2^n - 1).

    Two faults make nodes unsafe only at distance 2, and then two nodes.  C(n, 2) of the 2^n - 1 places for the second fault
    are at distance 2.
    """
    return Fraction(n * (n - 1), 2**n - 1)


def mean_close_pairs(n: int, f: int) -> Fraction:
    """Return the expected number of pairs of faults at distance 1 or 2: C(f, 2) (n + C(n, 2)) / (2^n - 1).

    By Markov's inequality it also bounds the probability that there is such a pair, and hence the probability
    that there is any unsafe node.
    """
    return Fraction(math.comb(f, 2) * (n + math.comb(n, 2)), 2**n - 1)


@functools.cache
def enumerate_fault_sets(n: int) -> list[Joint]:
    """Return for f = 0, ..., 2^n the fault sets of f nodes by (unsafe nodes, rounds); 1 <= n <= 5, under a second."""
    from ..kernels.unsafe.all_sets import COUNTS_SHAPE, LANE_NODES, count_sets

    neighbours = [1 << (1 << i) for i in range(5)]
    lanes = sum(1 << v for v in LANE_NODES)  # the kernel's 16 lanes have all subsets of these nodes
    far = np.array([(2**2**n - 1) & ~(1 | sum(neighbours) | lanes)], np.uint64)
    joint: list[Joint] = [Counter() for _ in range(2**n + 1)]
    for k in range(n + 1):  # node 0 is faulty, and k of its n neighbours: by symmetry the first k, C(n, k) times
        counts = np.zeros(math.prod(COUNTS_SHAPE), np.int64)
        count_sets(n, np.uint64(1 + sum(neighbours[:k])), far, counts)
        table = counts.reshape(COUNTS_SHAPE)
        for f, unsafe, rounds in np.argwhere(table).tolist():
            joint[f][unsafe, rounds] += math.comb(n, k) * int(table[f, unsafe, rounds])
    # from sets with node 0 to all sets: f of a set's 2^n translations contain node 0
    sets_of_size = enumerate(joint[1:], start=1)
    return [{(0, 0): 1}, *({key: many * 2**n // f for key, many in sets.items()} for f, sets in sets_of_size)]


@functools.cache
def family_counts(n: int) -> dict[tuple[int, ...], int]:
    """Return the numbers of families of subcubes of Q_n at pairwise distance at least three, without the family {Q_n}.

    The keys are (k_0, ..., k_{n-1}), the numbers of members of dimensions 0, ..., n-1.  1 <= n <= 6; half a second for
    n = 6, which has 924,913 families, including the empty one.
    """
    cubes = [(base, free) for free in range(2**n - 1) for base in range(2**n) if base & free == 0]
    far = [
        sum(1 << j for j, (b, g) in enumerate(cubes[:i]) if ((a ^ b) & ~(f | g)).bit_count() >= 3)
        for i, (a, f) in enumerate(cubes)
    ]
    counts: Counter[tuple[int, ...]] = Counter()

    def extend_family(candidates: int, members: tuple[int, ...]) -> None:
        counts[members] += 1
        while candidates:
            i = candidates.bit_length() - 1
            candidates ^= 1 << i
            d = cubes[i][1].bit_count()
            extend_family(candidates & far[i], (*members[:d], members[d] + 1, *members[d + 1 :]))

    extend_family((1 << len(cubes)) - 1, (0,) * n)
    return dict(counts)


def isolated_sets(n: int, f: int) -> int:
    """Return the number of sets of f nodes of Q_n at pairwise distance at least three; n <= 6, or f <= 4 (``column_types``)."""
    if n <= 6:
        return family_counts(n).get((f,) + (0,) * (n - 1), 0)
    return column_types(n, f)[1]


@functools.cache
def _family_product(members: tuple[int, ...]) -> list[int]:
    """Return the product of P_d over a family's members, whose coefficients are at most C(64, 32) < 2^63."""
    for d, many in enumerate(members):
        if many:
            others = _family_product((*members[:d], many - 1, *members[d + 1 :]))
            return np.convolve(spanning_counts(d), others).tolist()
    return [1]


@functools.cache
def count_by_families(n: int) -> list[Joint]:
    """Return for f = 0, ..., 2^n the fault sets of f nodes by unsafe nodes, with rounds None; 1 <= n <= 6."""
    joint: list[Joint] = [Counter() for _ in range(2**n + 1)]
    for members, families in family_counts(n).items():
        marked = sum(many << d for d, many in enumerate(members))
        for f, sets in enumerate(_family_product(members)):
            if sets:
                joint[f][marked - f, None] += families * sets
    for f, sets_of_size in enumerate(joint):
        if rest := math.comb(2**n, f) - sum(sets_of_size.values()):
            sets_of_size[2**n - f, None] = rest
    return [dict(sets) for sets in joint]


@functools.cache
def spanning_counts(n: int) -> list[int]:
    """Return the coefficients of P_n: numbers of sets of f faults, f = 0, ..., 2^n, that leave no active node; 0 <= n <= 6."""
    if n == 0:
        return [0, 1]
    return [sets.get((2**n - f, None), 0) for f, sets in enumerate(count_by_families(n))]


def all_unsafe_probability(n: int, p: float | Fraction) -> float | Fraction:
    """Return the probability that Q_n is unsafe if every node is faulty with probability p; 1 <= n <= 6."""
    size = 2**n
    terms = (many * p**f * (1 - p) ** (size - f) for f, many in enumerate(spanning_counts(n)) if many)
    return sum(terms, start=type(p)(0))


def critical_rate(n: int) -> float:
    """Return the p at which Q_n is unsafe with probability 1/2; 1 <= n <= 6."""
    low, high = 0.0, 1.0
    while True:
        p = (low + high) / 2
        if p in (low, high):
            return p
        low, high = (p, high) if all_unsafe_probability(n, p) < 0.5 else (low, p)


@functools.cache
def column_types(n: int, f: int) -> tuple[Joint, int]:
    """Return the fault sets of f nodes of Q_n by (unsafe nodes, rounds), and the number at pairwise distance >= 3; f <= 4.

    Goes through C(n + 2^(f-1) - 1, n) tables.
    """
    if f <= 1:
        return {(0, 0): 2 ** (n * f)}, 2 ** (n * f)
    # bit i - 1 of a type: whether row i differs from row 0, which is zero, in a column of the type
    types = range(2 ** (f - 1))
    pairs = [[t for t in types if (t << 1 >> i ^ t << 1 >> j) & 1] for j in range(f) for i in range(j)]
    joint: Counter[tuple[int, int | None]] = Counter()
    isolated = 0
    for columns in itertools.combinations_with_replacement(types, n):
        table = [columns.count(t) for t in types]
        distances = [sum(table[t] for t in differ) for differ in pairs]
        if 0 in distances:
            continue  # two rows are the same node
        ways = math.factorial(n) // math.prod(map(math.factorial, table))
        if min(distances) >= 3:
            isolated += ways
            joint[0, 0] += ways
        else:
            rows = [sum((t << 1 >> i & 1) << at for at, t in enumerate(columns)) for i in range(f)]
            joint[_count_unsafe_and_rounds(rows)] += ways
    # from ordered f-tuples whose first node is 0 to sets: 2^n places for the first node, and f! orders
    orders = math.factorial(f)
    return {key: many * 2**n // orders for key, many in joint.items()}, isolated * 2**n // orders


def _count_unsafe_and_rounds(labels: list[int]) -> tuple[int, int]:
    """Return unsafe nodes and rounds of at most four faults, whose subcubes have at most six dimensions."""
    family = [(x, 0) for x in labels]
    i = 0
    while i < len(family):
        base, free = family[i]
        close = next((j for j in range(i) if ((family[j][0] ^ base) & ~(family[j][1] | free)).bit_count() <= 2), None)
        if close is None:
            i += 1
            continue
        other_base, other_free = family.pop(close)
        free |= other_free | (other_base ^ base)
        family[i - 1] = (base & ~free, free)
        i = 0
    unsafe = sum(1 << free.bit_count() for _, free in family) - len(labels)
    rounds = max(_subcube_rounds([x for x in labels if x & ~free == base], free) for base, free in family)
    return unsafe, rounds


def _subcube_rounds(labels: list[int], free: int) -> int:
    """Return the rounds of the faults inside a subcube, from their labels along its free dimensions."""
    dims = [i for i in range(free.bit_length()) if free >> i & 1]
    inside = sorted(sum((x >> i & 1) << position for position, i in enumerate(dims)) for x in labels)
    return _count_rounds(len(dims), tuple(inside))


@functools.cache
def _count_rounds(d: int, faulty: tuple[int, ...]) -> int:
    """Return the rounds of a fault set of Q_d."""
    return int(marking_steps(d, np.array(faulty, np.uint64), np.zeros(0, np.uint64)).max())
