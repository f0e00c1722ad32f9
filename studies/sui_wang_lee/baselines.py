"""Baselines of `fastcube bench` for the kernel of Edmonds' number: code as a user might write it.

Edmonds' number is the largest number of spanning trees from one root that use each link at most once per direction.  It equals
the edge connectivity (Edmonds), which is the least maximum flow from one node to the others (Menger).  There are three
baselines: shortest augmenting paths in plain Python from one node to every other, where the smallest flow so far limits the next;
NetworkX's ``edge_connectivity``; SciPy's ``maximum_flow`` from one node to every other.  They sample with
Python's ``random``, so their fault sets are not the kernel's.
"""

import random
from collections import deque

from fastcube.running.benchmark import Benchmark, baseline_runner, kernel_runner

from .edmonds import EDGE_DISJOINT_TREES

Graph = dict[int, list[int]]


def random_graph(n: int, f: int, rng: random.Random) -> Graph:
    """Return the nonfaulty neighbours of every nonfaulty node of Q_n with f random faulty nodes."""
    faulty = set(rng.sample(range(2**n), f))
    return {v: [v ^ 1 << k for k in range(n) if v ^ 1 << k not in faulty] for v in range(2**n) if v not in faulty}


def sum_in_plain_python(n: int, f: int, trials: int, seed: int = 0) -> int:
    """Return Edmonds' number summed over trials, by shortest augmenting paths."""
    rng = random.Random(seed)
    total = 0
    for _ in range(trials):
        graph = random_graph(n, f, rng)
        first, *others = graph
        smallest = min(map(len, graph.values()))
        for t in others:
            smallest = min(smallest, _count_paths(graph, first, t, smallest))
        total += smallest
    return total


def _count_paths(graph: Graph, s: int, t: int, limit: int) -> int:
    """Return the number of edge-disjoint paths from s to t, at most ``limit``; a path against used arcs cancels them."""
    used: set[tuple[int, int]] = set()
    for paths in range(limit):
        before, queue = {s: s}, deque([s])
        while queue and t not in before:
            v = queue.popleft()
            for w in graph[v]:
                if w not in before and (v, w) not in used:
                    before[w] = v
                    queue.append(w)
        if t not in before:
            return paths
        v = t
        while v != s:
            u = before[v]
            if (v, u) in used:
                used.remove((v, u))
            else:
                used.add((u, v))
            v = u
    return limit


def sum_by_networkx(n: int, f: int, trials: int, seed: int = 0) -> int:
    """Return Edmonds' number summed over trials, by ``networkx.edge_connectivity``."""
    import networkx

    rng = random.Random(seed)
    return sum(networkx.edge_connectivity(networkx.Graph(random_graph(n, f, rng))) for _ in range(trials))


def sum_by_scipy(n: int, f: int, trials: int, seed: int = 0) -> int:
    """Return Edmonds' number summed over trials, by ``scipy.sparse.csgraph.maximum_flow`` from one node to every other."""
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    rng = random.Random(seed)
    total = 0
    for _ in range(trials):
        graph = random_graph(n, f, rng)
        index = {v: i for i, v in enumerate(graph)}
        ends = np.array([(index[v], index[w]) for v, near in graph.items() for w in near], np.int32)
        capacity = csr_array((np.ones(len(ends), np.int32), (ends[:, 0], ends[:, 1])), shape=(len(graph),) * 2)
        smallest = min(map(len, graph.values()))
        total += min(smallest, *(int(maximum_flow(capacity, 0, t).flow_value) for t in range(1, len(graph))))
    return total


def benchmarks() -> list[Benchmark]:
    """Return the comparisons that ``fastcube bench`` runs."""
    out = []
    for n, f, baselines in (
        (
            6,
            8,
            (("plain Python", sum_in_plain_python, 8), ("NetworkX", sum_by_networkx, 4), ("SciPy", sum_by_scipy, 20)),
        ),
        (7, 16, (("plain Python", sum_in_plain_python, 3), ("SciPy", sum_by_scipy, 6))),
    ):
        ours = kernel_runner(EDGE_DISJOINT_TREES, {"n": n, "f": f, "links": 0}, 200_000)
        for name, baseline, trials in baselines:
            out.append(
                Benchmark(f"spanning trees, n={n} f={f}", name, ours, baseline_runner(baseline, n, f, trials=trials))
            )
    return out
