"""Fault sets on which claims are tried: all of small dual-cubes, random ones of large ones, and sets that stop a greedy tree.

Every dual-cube has an automorphism that moves any given node to label 0 and keeps the order of dimensions, so all cases have s =
0.  All cases are k-safe: every node has at least k nonfaulty neighbours.  Random fault sets lie mostly close to s and t.  The
greedy tree T_k(0) of interpretation B2 begins with node 0, and k times every node of it gets its first free neighbour as a child.
"""

import itertools
import random
from collections import Counter
from collections.abc import Collection, Iterator

from fastcube.networks.dualcube import DualCube

Case = tuple[DualCube, int]

#: Number of random cases for each (m, k).
RANDOM_CASES = 300

#: The first of the smallest fault sets of Q_8 that leave it 4-safe but stop the greedy tree T_4(0) (interpretation B2).
STOP_8_4 = (32, 64, 129, 130, 132, 136)

#: A smallest fault set of Q_10 that stops T_4(0) in the same way.
STOP_10_4 = (128, 256, 513, 514, 516, 520, 528, 544)


def fault_limit(m: int, k: int) -> int:
    """Return the paper's bound 2^k (m - k + 1), below which the number of faults must stay."""
    return (m - k + 1) << k


def enumerate_cases(m: int, k: int, most: int | None = None) -> Iterator[DualCube]:
    """Yield all k-safe DC(m) with node 0 nonfaulty, smallest fault sets first.

    ``most`` is the largest number of faults, by default the largest below the paper's bound.
    """
    for size in range(fault_limit(m, k) if most is None else most + 1):
        for faults in itertools.combinations(range(1, 2 ** (2 * m + 1)), size):
            dual = DualCube(m, faults)
            if dual.is_safe(k):
                yield dual


def sample_cases(m: int, k: int, seed: int, cases: int = RANDOM_CASES, always: Collection[int] = ()) -> Iterator[Case]:
    """Yield random pairs of a k-safe DC(m) and a nonfaulty node t, with faults close to 0 and t, mostly as many as allowed.

    The faults ``always``, which must leave DC(m) k-safe, are in every case.
    """
    rng = random.Random(f"{m} {k} {seed}")
    plain = DualCube(m)
    bits = 2 * m + 1
    for _ in range(cases):
        t = 0
        while t in (0, *always):
            t = rng.choice([rng.randrange(1, 2**bits), 1 << rng.randrange(bits), rng.randrange(1, 2**m)])
        near: list[int] = []
        for end in (0, t):
            first = plain.neighbours(end)
            second = [v for u in first for v in plain.neighbours(u)]
            third = [v for u in rng.sample(second, min(6, len(second))) for v in plain.neighbours(u)]
            near += list(first) * rng.randrange(3) + second * rng.randrange(1, 3) + third
        limit = fault_limit(m, k) - 1
        wanted = limit if rng.random() < 0.7 else rng.randrange(limit + 1)
        faults = set(always)
        beside = Counter(v for x in always for v in plain.neighbours(x))
        for _ in range(6 * wanted + 20):
            x = rng.choice(near) if rng.random() < 0.9 else rng.randrange(2**bits)
            around = plain.neighbours(x)
            if len(faults) >= wanted or x in (0, t) or x in faults or any(m - beside[v] < k for v in around):
                continue
            faults.add(x)
            beside.update(around)
        yield DualCube(m, faults), t


def nonfaulty_others(dual: DualCube) -> Iterator[int]:
    """Yield the nonfaulty nodes except node 0, in increasing order."""
    return (t for t in range(1, 2**dual.bits) if not dual.is_faulty(t))


def is_k_safe(n: int, k: int, faults: frozenset[int]) -> bool:
    """Return whether Q_n with these faults is k-safe: every node has at least k nonfaulty neighbours."""
    beside = Counter(v ^ 1 << i for v in faults for i in range(n))
    return n - max(beside.values(), default=0) >= k


def saturated_faults(n: int, k: int, seed: int) -> frozenset[int]:
    """Return random faults of Q_n without node 0, such that Q_n is k-safe, and no longer so with a further fault but node 0."""
    beside: Counter[int] = Counter()
    faults = []
    for x in random.Random(f"{n} {k} {seed}").sample(range(1, 2**n), 2**n - 1):
        around = [x ^ 1 << i for i in range(n)]
        if all(n - beside[v] > k for v in around):
            faults.append(x)
            beside.update(around)
    return frozenset(faults)
