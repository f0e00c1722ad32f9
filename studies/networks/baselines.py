"""Baselines of ``fastcube bench`` for the kernels of survival and of fault-free subcubes: code as a user might write it."""

import functools
import operator
import random
from collections import deque
from typing import Any

from fastcube.networks.family import network_families
from fastcube.running.benchmark import Benchmark, baseline_runner, kernel_runner

from .free_subcube import FREE_SUBCUBE
from .survival import SURVIVAL


def count_connected_by_search(name: str, n: int, f: int, trials: int) -> int:
    """Return the number of trials that leave a network connected, by a search for each random fault set."""
    neighbours = [set(row) - {v} for v, row in enumerate(network_families()[name].table(n).tolist())]
    rng = random.Random(0)
    connected = 0
    for _ in range(trials):
        unreached = set(range(2**n)) - set(rng.sample(range(2**n), f))
        waiting = deque([unreached.pop()])
        while waiting:
            new = neighbours[waiting.popleft()] & unreached
            unreached -= new
            waiting += new
        connected += not unreached
    return connected


def count_connected_by_networkx(name: str, n: int, f: int, trials: int) -> int:
    """Return the number of trials that leave a network connected, by ``networkx.is_connected``."""
    import networkx

    table = network_families()[name].table(n).tolist()
    without_faults = networkx.Graph((v, w) for v, row in enumerate(table) for w in row if v < w)
    rng = random.Random(0)
    connected = 0
    for _ in range(trials):
        graph = without_faults.copy()
        graph.remove_nodes_from(rng.sample(range(2**n), f))
        connected += networkx.is_connected(graph)
    return connected


def count_free_halves(n: int, f: int, trials: int) -> int:
    """Return the number of trials with a fault-free half, by the AND and the OR of the labels of each random fault set."""
    rng = random.Random(0)
    found = 0
    for _ in range(trials):
        faults = rng.sample(range(2**n), f)
        both = functools.reduce(operator.and_, faults)
        either = functools.reduce(operator.or_, faults)
        found += both != 0 or either != 2**n - 1
    return found


def benchmarks() -> list[Benchmark]:
    """Return the comparisons that ``fastcube bench`` runs."""
    point: dict[str, Any] = {"network": "crossed", "n": 8, "f": 32, "links": 0}
    ours = kernel_runner(SURVIVAL, point, 2_000_000)
    halves = baseline_runner(count_free_halves, 10, 6, trials=20_000)
    subcubes = kernel_runner(FREE_SUBCUBE, {"n": 10, "f": 6, "links": 0}, 10_000_000)
    return [
        Benchmark("fault-free subcube, n=10 f=6", "plain Python, halves only", subcubes, halves),
        *(
            Benchmark(
                "connected, crossed cube, n=8 f=32",
                name,
                ours,
                baseline_runner(baseline, "crossed", 8, 32, trials=trials),
            )
            for name, baseline, trials in (
                ("NetworkX", count_connected_by_networkx, 60),
                ("plain Python", count_connected_by_search, 1000),
            )
        ),
    ]
