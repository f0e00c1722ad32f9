"""What a user would write instead of the kernels: FIND_TREE, the optimum and FTTC in plain Python."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

from fastcube.engine.benchmark import Benchmark, kernel_runner
from fastcube.engine.study import Study


def fault_words(n: int, links: int, f: int, rng: random.Random) -> list[int]:
    """FAULT of every node under random faulty links and nodes."""
    fault = [0] * 2**n
    dead = [
        (e % 2**n, e // 2**n)
        for e in rng.sample([k * 2**n + u for k in range(n) for u in range(2**n) if not u >> k & 1], links)
    ]
    dead += [(v, k) for v in rng.sample(range(2**n), f) for k in range(n)]
    for u, k in dead:
        fault[u] |= 1 << k
        fault[u ^ 1 << k] |= 1 << k
    return fault


def find_tree(n: int, fault: list[int]) -> tuple[int, list[int]] | None:
    """FIND_TREE as printed: sink and order."""
    if 0 not in fault:
        return None
    sink = fault.index(0)
    used, rest, order = [sink], set(range(n)), [0] * n
    for i in range(n - 1, 0, -1):
        mask = sum(1 << k for k in rest)
        costs = {j: sum((fault[u ^ 1 << j] & mask).bit_count() for u in used) for j in sorted(rest)}
        order[i] = min(costs, key=lambda j: costs[j])
        rest.remove(order[i])
        used += [u ^ 1 << order[i] for u in used]
    (order[0],) = rest
    return sink, order


def fewest(n: int, fault: list[int]) -> int:
    """Fewest faulty links over all sinks with FAULT = 0, a shortest path over sets of dimensions for each: O(n 4^n)."""
    best: int = 2**n
    for sink in (v for v in range(2**n) if fault[v] == 0):
        tail = [0] * 2**n
        for used in range(2**n - 2, -1, -1):
            cost = [0] * n
            sub = used
            while True:
                word = fault[sink ^ sub]
                for j in range(n):
                    cost[j] += word >> j & 1
                if not sub:
                    break
                sub = (sub - 1) & used
            tail[used] = min(cost[j] + tail[used | 1 << j] for j in range(n) if not used >> j & 1)
        best = min(best, tail[0])
    return int(best)


def comment(n: int, fault: list[int], sink: int, d: list[int], repaired: bool) -> Fraction:
    """What FTTC delivers, ``comment`` or ``repaired``, with fractions; detours by breadth-first search."""
    full = 2**n - 1
    held = {v: Fraction(fault[v] != full) for v in range(2**n)}
    nodes = list(range(2**n))
    late = Fraction(0)
    for i in range(n):
        active = [v for v in nodes if (v ^ sink) >> d[i] & 1]
        nodes = [v for v in nodes if not (v ^ sink) >> d[i] & 1]
        for v in active:
            if not fault[v] >> d[i] & 1 or fault[v] == full:
                continue
            amount, held[v] = held[v], Fraction(0)
            partners = [v ^ 1 << d[j] for j in range(i + 1, n) if not fault[v] >> d[j] & 1]
            if repaired:
                partners = [w for w in partners if not fault[w] >> d[i] & 1]
            for w in partners:
                if not fault[w] >> d[i] & 1:
                    held[w] += amount / len(partners)
            if not partners and joined(n, fault, v, v ^ 1 << d[i]):
                held[v ^ 1 << d[i]] += amount
            elif not partners and repaired and joined(n, fault, v, sink):
                late += amount
        for v in active:
            if not fault[v] >> d[i] & 1:
                held[v ^ 1 << d[i]] += held[v]
    return held[sink] + late


def joined(n: int, fault: list[int], s: int, t: int) -> bool:
    """Whether nonfaulty links join two nodes."""
    seen, front = {s}, [s]
    while front:
        u = front.pop()
        new = [u ^ 1 << k for k in range(n) if not fault[u] >> k & 1 and u ^ 1 << k not in seen]
        seen.update(new)
        front += new
    return t in seen


def _plain(n: int, links: int, f: int, what: str, trials: int) -> Callable[[], int]:
    def call() -> int:
        rng = random.Random(1)
        for _ in range(trials):
            fault = fault_words(n, links, f, rng)
            tree = find_tree(n, fault)
            if tree is not None and what == "optimum":
                fewest(n, fault)
            elif tree is not None and what == "gather":
                for repaired in (False, True):
                    comment(n, fault, *tree, repaired)
        return trials

    return call


def benchmarks_of(find: Study, optimal: Study, gather: Study) -> list[Benchmark]:
    """The comparisons, for the studies ``find-tree``, ``optimal-tree`` and ``gather``."""
    out = []
    for study, what, cases in (
        (find, "tree", ((7, 8, 0, 400_000, 500), (7, 32, 0, 200_000, 500), (12, 64, 0, 100_000, 10))),
        (optimal, "optimum", ((6, 12, 0, 100_000, 2), (8, 16, 0, 50_000, 1))),
        (
            gather,
            "gather",
            ((5, 12, 0, 100_000, 100), (7, 32, 0, 50_000, 20), (8, 64, 0, 40_000, 10), (7, 0, 8, 50_000, 20)),
        ),
    ):
        for n, links, f, ours, theirs in cases:
            point = {"n": n, "links": links, "f": f}
            name = f"{study.name}, n={n} links={links} f={f}"
            out.append(
                Benchmark(name, "plain Python", kernel_runner(study, point, ours), _plain(n, links, f, what, theirs))
            )
    return out
