"""Baselines of `fastcube bench` for the unsafe-node kernels: code as a user might write it.

There are three: a graph library, NumPy on whole cubes of many trials at a time, and NumPy on pairs of faults with a loop for the
few trials that have a close pair.
"""

import random
from collections.abc import Callable
from functools import partial

import numpy as np

from fastcube.running.benchmark import Benchmark, baseline_runner, kernel_runner

from .critical import UNSAFE_CRITICAL
from .unsafe import UNSAFE_FRACTION


def sum_by_networkx(n: int, f: int, trials: int, seed: int = 0) -> int:
    """Return the number of unsafe nodes summed over trials, by rounds on ``networkx.hypercube_graph``."""
    import networkx

    rng = random.Random(seed)
    graph = networkx.convert_node_labels_to_integers(networkx.hypercube_graph(n))
    total = 0
    for _ in range(trials):
        bad = set(rng.sample(range(2**n), f))
        while marked := [v for v in graph if v not in bad and sum(w in bad for w in graph[v]) >= 2]:
            bad.update(marked)
        total += len(bad) - f
    return total


def sum_by_numpy_cubes(
    n: int, faulty: Callable[[np.random.Generator, tuple[int, int]], np.ndarray], trials: int, seed: int = 0
) -> int:
    """Return the number of unsafe nodes summed over trials, by rounds on one boolean array (trials, 2^n) for all trials.

    ``faulty(rng, shape)`` samples the faulty nodes, such as ``partial(sample_distinct, f)``.
    """
    bad = faulty(np.random.default_rng(seed), (trials, 2**n))
    faults = int(bad.sum())
    neighbours = np.arange(2**n)[:, None] ^ (1 << np.arange(n))
    while True:
        count = np.zeros(bad.shape, np.uint8)
        for k in range(n):
            count += bad[:, neighbours[:, k]]
        after = bad | (count >= 2)
        if np.array_equal(after, bad):
            return int(bad.sum()) - faults
        bad = after


def unsafe_closure(faults: set[int]) -> list[tuple[int, int]]:
    """Return the subcubes of faulty and unsafe nodes as pairs (node, free dimensions): merge those within distance 2."""
    cubes: list[tuple[int, int]] = []
    for x in faults:
        free = 0
        while near := next(((b, m) for b, m in cubes if ((x ^ b) & ~(m | free)).bit_count() <= 2), None):
            cubes.remove(near)
            free |= near[1] | (x ^ near[0])
        cubes.append((x, free))
    return cubes


def sum_by_numpy_pairs(n: int, f: int, trials: int, seed: int = 0) -> int:
    """Return the number of unsafe nodes summed over trials: all distances by NumPy, subcubes of close pairs in a loop.

    The f labels of a trial may repeat, which is rare in the large cubes for which this baseline is timed.
    """
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2**n, (trials, f), dtype=np.uint64)
    close = np.zeros(trials, bool)
    for i in range(f):
        for j in range(i):
            close |= np.bitwise_count(labels[:, i] ^ labels[:, j]) <= 2
    total = 0
    for faults in map(set, labels[close].tolist()):
        total += sum(2 ** free.bit_count() for _, free in unsafe_closure(faults)) - len(faults)
    return total


def sample_distinct(f: int, rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Return a boolean array with f random faulty nodes in each row."""
    bad = np.zeros(shape, bool)
    np.put_along_axis(bad, np.argpartition(rng.random(shape), f, axis=1)[:, :f], True, axis=1)
    return bad


def sample_by_rate(p: float, rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Return a boolean array in which every node is faulty with probability p."""
    return rng.random(shape) < p


def benchmarks() -> list[Benchmark]:
    """Return the comparisons that ``fastcube bench`` runs."""
    out = []
    for n, f, graph_trials, cube_trials in ((8, 4, 300, 2_000), (12, 6, 40, 100)):
        name, ours = f"unsafe nodes, n={n} f={f}", kernel_runner(UNSAFE_FRACTION, {"n": n, "f": f}, 2_000_000)
        out.append(Benchmark(name, "NetworkX", ours, baseline_runner(sum_by_networkx, n, f, trials=graph_trials)))
        cubes = baseline_runner(sum_by_numpy_cubes, n, partial(sample_distinct, f), trials=cube_trials)
        out.append(Benchmark(name, "NumPy on whole cubes", ours, cubes))
    for n, f, trials in ((16, 8, 100_000), (30, 15, 100_000), (60, 30, 50_000)):
        ours = kernel_runner(UNSAFE_FRACTION, {"n": n, "f": f}, 2_000_000)
        pairs = baseline_runner(sum_by_numpy_pairs, n, f, trials=trials)
        out.append(Benchmark(f"unsafe nodes, n={n} f={f}", "NumPy on pairs", ours, pairs))
    for n, p, ours_trials, trials in ((10, 0.0097, 100_000, 300), (16, 0.0011, 5_000, 4)):
        ours = kernel_runner(UNSAFE_CRITICAL, {"n": n, "p": p}, ours_trials)
        cubes = baseline_runner(sum_by_numpy_cubes, n, partial(sample_by_rate, p), trials=trials)
        out.append(Benchmark(f"unsafe nodes, n={n} p={p}", "NumPy on whole cubes", ours, cubes))
    return out
