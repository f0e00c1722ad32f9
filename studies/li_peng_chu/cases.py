"""Dual-cubes to try a claim on: all small ones, hunted larger ones, and the fault sets that a growing tree can meet.

Every dual-cube maps onto itself with any node moved to label 0 and dimension order kept, so cases are searched with
s = 0.  Hunted fault sets crowd around s and t and just keep the cube k-safe.
"""

from __future__ import annotations

import itertools
import random
from collections import deque
from collections.abc import Callable, Iterator

from fastcube.networks.dualcube import DualCube

Case = tuple[DualCube, int]

#: Cases of one (m, k) that a hunt tries.
HUNTED = 300


def fault_limit(m: int, k: int) -> int:
    """The paper's bound: |F| < 2^k (m - k + 1)."""
    return (m - k + 1) << k


def all_cases(m: int, k: int) -> Iterator[DualCube]:
    """All k-safe DC(m) within the fault limit in which node 0 is nonfaulty, smallest fault sets first."""
    for size in range(fault_limit(m, k)):
        for faults in itertools.combinations(range(1, 2 ** (2 * m + 1)), size):
            dual = DualCube(m, faults)
            if dual.is_safe(k):
                yield dual


def hunt(m: int, k: int, seed: int, cases: int = HUNTED) -> Iterator[Case]:
    """Random k-safe DC(m) within the fault limit, most at it, with faults crowded around 0 and t; t nonfaulty."""
    rng = random.Random(f"{m} {k} {seed}")
    plain = DualCube(m)
    bits = 2 * m + 1
    for _ in range(cases):
        t = rng.choice([rng.randrange(1, 2**bits), 1 << rng.randrange(bits), rng.randrange(1, 2**m)])
        near: list[int] = []
        for end in (0, t):
            first = plain.neighbours(end)
            second = [v for u in first for v in plain.neighbours(u)]
            third = [v for u in rng.sample(second, min(6, len(second))) for v in plain.neighbours(u)]
            near += list(first) * rng.randrange(3) + second * rng.randrange(1, 3) + third
        limit = fault_limit(m, k) - 1
        wanted = limit if rng.random() < 0.7 else rng.randrange(limit + 1)
        faults: set[int] = set()
        beside: dict[int, int] = {}
        for _ in range(6 * wanted + 20):
            x = rng.choice(near) if rng.random() < 0.9 else rng.randrange(2**bits)
            around = plain.neighbours(x)
            if len(faults) == wanted or x in (0, t) or x in faults or any(m - beside.get(v, 0) < k for v in around):
                continue
            faults.add(x)
            for v in around:
                beside[v] = beside.get(v, 0) + 1
        yield DualCube(m, faults), t


def healthy_others(dual: DualCube) -> Iterator[int]:
    return (t for t in range(1, 2**dual.bits) if not dual.is_faulty(t))


def reach(dual: DualCube, start: int, dims: int, deepest: int | None = None, goal: int | None = None) -> dict[int, int]:
    """Distance from ``start`` of the nodes that nonfaulty paths along ``dims`` reach, up to ``deepest`` or until ``goal``."""
    seen, queue = {start: 0}, deque([start])
    while queue and goal not in seen:
        u = queue.popleft()
        if seen[u] == deepest:
            continue
        for v in dual.neighbours(u):
            if (u ^ v) & dims and v not in seen and not dual.is_faulty(v):
                seen[v] = seen[u] + 1
                queue.append(v)
    return seen


def tree_faults(
    n: int, k: int, bad: Callable[[list[int] | None, frozenset[int]], bool], most: int | None = None
) -> list[int] | None:
    """Smallest fault set, of at most ``most`` nodes, for which the tree T_k(0) of reading B2 in Q_n is ``bad``; or None.

    ``bad`` sees the tree in insertion order (None when it cannot be constructed) and the faults.  Only faults that the
    growing tree meets matter, so each set is built in the order in which it meets them: every minimal set is reached.
    """
    found: list[list[int]] = []

    def grow(faults: frozenset[int]) -> tuple[bool, list[int]]:
        order = [0]
        for _ in range(k):
            for u in list(order):
                free = (u | 1 << i for i in reversed(range(n)) if not u >> i & 1)
                child = next((v for v in free if v not in faults and v not in order), None)
                if child is None:
                    return False, order
                order.append(child)
        return True, order

    def search(faults: frozenset[int], start: int) -> None:
        grown, order = grow(faults)
        if bad(order if grown else None, faults):
            found.append(sorted(faults))
        elif most is None or len(faults) < most:
            for j in range(start, len(order)):
                search(faults | {order[j]}, j)

    search(frozenset(), 1)
    return min(found, key=lambda f: (len(f), f), default=None)


def keeps_safe(n: int, k: int, faults: frozenset[int]) -> bool:
    """Whether Q_n with these faults is k-safe."""
    beside: dict[int, int] = {}
    for v in faults:
        for i in range(n):
            beside[v ^ 1 << i] = beside.get(v ^ 1 << i, 0) + 1
    return n - max(beside.values(), default=0) >= k
