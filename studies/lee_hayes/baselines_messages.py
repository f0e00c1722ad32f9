"""Baselines of `fastcube bench` for the routing and broadcasting kernels: plain Python, faults as sets, subcubes as pairs.

The paper's algorithms ROUTE3, BROADCAST1 and BROADCAST2 need an active node, which is neither faulty nor unsafe.  Trials without
one count nothing for them.
"""

import random
from collections.abc import Callable

from fastcube.networks.network import descending_bits
from fastcube.running.benchmark import Benchmark, baseline_runner, kernel_runner

from .baselines import unsafe_closure
from .broadcasting import BROADCAST
from .routing import ROUTING
from .routing_rate import ROUTING_RATE

#: A predicate of nodes, such as whether a node is faulty.
Predicate = Callable[[int], bool]


def make_subcube_test(cubes: list[tuple[int, int]]) -> Predicate:
    """Return the predicate whether a node is in one of the subcubes, pairs of a node and a mask of the free dimensions."""
    return lambda x: any((x ^ node) & ~free == 0 for node, free in cubes)


def route_length(n: int, s: int, t: int, is_faulty: Predicate, is_closed: Predicate) -> int:
    """Return the number of links of ROUTE1(1) or ROUTE3(1); -1 if the message does not arrive.

    A message goes to a nearer neighbour that is not closed, else to a nearer nonfaulty one, else to a farther one that is not
    closed.  Closed nodes are the faulty nodes, and for ROUTE3 the unsafe nodes too.
    """
    path = [s]
    while path[-1] != t:
        curr = path[-1]
        nearer = list(descending_bits(curr ^ t))
        farther = descending_bits(~(curr ^ t) & (2**n - 1))
        bit = next((b for b in nearer if not is_closed(curr ^ b)), 0)
        bit = bit or next((b for b in nearer if not is_faulty(curr ^ b)), 0)
        bit = bit or next((b for b in farther if not is_closed(curr ^ b)), 0)
        if not bit or curr ^ bit in path:
            return -1
        path.append(curr ^ bit)
    return len(path) - 1


def count_delivered(n: int, f: int, trials: int, seed: int = 0) -> tuple[int, int, int]:
    """Return the numbers of messages that ROUTE, ROUTE1(1) and ROUTE3(1) deliver; ROUTE3(1) in trials with an active node."""
    rng = random.Random(seed)
    by_route = by_route1 = by_route3 = 0
    for _ in range(trials):
        labels: list[int] = []
        while len(labels) < f + 2:
            x = rng.getrandbits(n)
            if x not in labels:
                labels.append(x)
        faults, (s, t) = set(labels[:f]), labels[f:]
        is_faulty = faults.__contains__
        cubes = unsafe_closure(faults)
        x = s
        while x != t and x not in faults:
            x ^= next(descending_bits(x ^ t))
        by_route += x == t
        by_route1 += route_length(n, s, t, is_faulty, is_faulty) >= 0
        if all(free != 2**n - 1 for _, free in cubes):
            by_route3 += route_length(n, s, t, is_faulty, make_subcube_test(cubes)) >= 0
    return by_route, by_route1, by_route3


def count_delivered_rate(n: int, rate: float, trials: int, seed: int = 0) -> int:
    """Return the number of messages delivered by ROUTE1(1) with independently faulty nodes, whose status is sampled on demand."""
    rng = random.Random(seed)
    delivered = 0
    for _ in range(trials):
        while True:
            status: dict[int, bool] = {}

            def is_faulty(x: int, status: dict[int, bool] = status) -> bool:
                if x not in status:
                    status[x] = rng.random() < rate
                return status[x]

            s, t = rng.getrandbits(n), rng.getrandbits(n)
            if s != t and not is_faulty(s) and not is_faulty(t):
                break
        delivered += route_length(n, s, t, is_faulty, is_faulty) >= 0
    return delivered


def count_broadcast1_reached(
    n: int, s: int, is_faulty: Predicate, is_closed: Predicate, silent: int = -1, start: int = 0
) -> tuple[int, int]:
    """Return the number of nodes that BROADCAST1 reaches from time unit ``start`` on, and the last time unit.

    Closed nodes are the faulty and the unsafe ones.  A node sends to its unsafe neighbours last, and to faulty ones not at all.
    No node sends to ``silent``, the source of BROADCAST2, which must be closed if it is given.
    """
    reached, last = 0, start
    waiting = [(s, 2**n - 1, start)]
    while waiting:
        x, control, time = waiting.pop()
        reached += 1
        last = max(last, time)
        skipped = []
        for bit in descending_bits(control):
            if is_closed(x ^ bit):
                skipped.append(bit)
                continue
            control ^= bit
            time += 1
            waiting.append((x ^ bit, control, time))
        for bit in skipped:
            if x ^ bit != silent and not is_faulty(x ^ bit):
                control ^= bit
                time += 1
                waiting.append((x ^ bit, control, time))
    return reached, last


def count_broadcast_reached(n: int, s: int, faults: set[int]) -> tuple[int, int]:
    """Return the number of nodes that BROADCAST reaches and the last time unit; copies to faulty nodes take time and are lost."""
    reached, last = 0, 0
    waiting = [(s, 2**n - 1, 0)]
    while waiting:
        x, control, time = waiting.pop()
        if x in faults:
            continue
        reached += 1
        last = max(last, time)
        for bit in descending_bits(control):
            control ^= bit
            time += 1
            waiting.append((x ^ bit, control, time))
    return reached, last


def count_reached(n: int, f: int, trials: int, seed: int = 0) -> int:
    """Return the number of nodes that BROADCAST, BROADCAST1 and BROADCAST2 reach, simulated node by node, summed over trials.

    BROADCAST1 and BROADCAST2 run in the trials with an active node.
    """
    rng = random.Random(seed)
    total = 0
    for _ in range(trials):
        faults = set(rng.sample(range(2**n), f))
        s = next(x for x in iter(lambda: rng.getrandbits(n), -1) if x not in faults)
        cubes = unsafe_closure(faults)
        is_faulty, is_closed = faults.__contains__, make_subcube_test(cubes)
        total += count_broadcast_reached(n, s, faults)[0]
        if any(free == 2**n - 1 for _, free in cubes):
            continue
        by_broadcast1 = by_broadcast2 = count_broadcast1_reached(n, s, is_faulty, is_closed)[0]
        if is_closed(s):  # BROADCAST2's source first sends to an active neighbour, which broadcasts for it
            active = s ^ next(b for b in descending_bits(2**n - 1) if not is_closed(s ^ b))
            by_broadcast2 = 1 + count_broadcast1_reached(n, active, is_faulty, is_closed, s, 1)[0]
        total += by_broadcast1 + by_broadcast2
    return total


def benchmarks() -> list[Benchmark]:
    """Return the comparisons that ``fastcube bench`` runs."""
    out = []
    for n, f in ((8, 4), (12, 6), (20, 10), (60, 30)):
        ours = kernel_runner(ROUTING, {"n": n, "f": f, "links": 0, "k": 1}, 2_000_000)
        theirs = baseline_runner(count_delivered, n, f, trials=1000)
        out.append(Benchmark(f"routing, n={n} f={f}", "plain Python", ours, theirs))
    for n, p in ((20, 0.3), (60, 0.5)):
        ours = kernel_runner(ROUTING_RATE, {"n": n, "rate": p, "k": 1}, 1_000_000)
        theirs = baseline_runner(count_delivered_rate, n, p, trials=1000)
        out.append(Benchmark(f"routing, n={n} rate={p}", "plain Python", ours, theirs))
    for n, f in ((6, 3), (10, 5)):
        ours = kernel_runner(BROADCAST, {"n": n, "f": f, "links": 0}, 200_000)
        theirs = baseline_runner(count_reached, n, f, trials=20)
        out.append(Benchmark(f"broadcasting, n={n} f={f}", "plain Python", ours, theirs))
    return out
