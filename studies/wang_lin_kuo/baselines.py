"""Baselines of `fastcube bench` for partitions and multicasts: code as a user might write it.

The search for a fault-tolerant 2-partition, or *pair* of dimensions, has two: sets of labels in plain Python, and NumPy on many
trials at a time, which sorts the labels once for each pair.  Multicasts and dependency graphs have the functions of
``fastcube.algorithms`` for one instance, called for one trial after another.
"""

import itertools
import random

import numpy as np

from fastcube.algorithms.channel_dependencies import dependency_cycle
from fastcube.algorithms.multicasting import multicast
from fastcube.algorithms.partition import two_partition
from fastcube.networks.hypercube import Hypercube
from fastcube.running.benchmark import Benchmark, baseline_runner, kernel_runner

from .channels import MULTICAST
from .deadlock import MULTICAST_DEADLOCK
from .partition import TWO_PARTITION


def count_pairs_by_sets(n: int, f: int, trials: int, seed: int = 0) -> tuple[int, int]:
    """Return the trials with a fault-tolerant pair, and those in which Figure 2 finds one, by Python sets of shortened labels."""
    rng = random.Random(seed)
    exists = greedy = 0
    for _ in range(trials):
        faults = rng.sample(range(2**n), f)
        pair = next(
            (
                (i, j)
                for i, j in itertools.combinations(range(n), 2)
                if len({v & ~(1 << i | 1 << j) for v in faults}) == f
            ),
            None,
        )
        if pair is not None:
            exists += 1
            # Figure 2 keeps the first dimension whose bit alone can go, so it finds a pair only if the first pair begins with it
            greedy += all(len({v & ~(1 << i) for v in faults}) < f for i in range(pair[0]))
    return exists, greedy


def count_pairs_by_sorting(n: int, f: int, trials: int, seed: int = 0) -> int:
    """Return the trials with a fault-tolerant pair; the labels without two bits are sorted for all open trials at once.

    Faults are sampled with repetition, and trials in which two of them coincide are left out.
    """
    labels = np.random.default_rng(seed).integers(0, 2**n, (trials, f), dtype=np.uint32)
    ordered = np.sort(labels, axis=1)
    undecided = labels[(ordered[:, 1:] != ordered[:, :-1]).all(axis=1)]
    found = 0
    for i, j in itertools.combinations(range(n), 2):
        projected = np.sort(undecided & np.uint32(2**n - 1 - (1 << i | 1 << j)), axis=1)
        distinct = (projected[:, 1:] != projected[:, :-1]).all(axis=1)
        found += int(distinct.sum())
        undecided = undecided[~distinct]
    return found


def run_multicasts(n: int, f: int, destinations: int, trials: int, seed: int = 0) -> int:
    """Compute all statistics of the study ``multicast`` for one multicast after another, and return the sum of N."""
    rng = random.Random(seed)
    total = 0
    for _ in range(trials):
        s, *nodes = rng.sample(range(2**n), 1 + f + destinations)
        cube = Hypercube(n, nodes[:f])
        wanted = nodes[f:]
        pair = two_partition(cube, exhaustive=True)
        if pair is not None:
            total += multicast(cube, s, wanted, pair).N
            multicast(cube, s, wanted, pair, "hamilton")
            multicast(Hypercube(n), s, wanted)
            for d in wanted:
                multicast(cube, s, [d], pair)
    return total


def build_graphs(n: int, f: int, trials: int, seed: int = 0) -> int:
    """Build the three graphs of the study ``multicast-deadlock`` for one fault set after another; return the cycles found."""
    rng = random.Random(seed)
    found = 0
    for _ in range(trials):
        cube = Hypercube(n, rng.sample(range(2**n), f))
        pair = two_partition(cube, exhaustive=True)
        if pair is not None:
            for copies, unicast in ((1, False), (1, True), (2, False)):
                found += dependency_cycle(cube, pair, copies, unicast) is not None
    return found


def benchmarks() -> list[Benchmark]:
    """Return the comparisons that ``fastcube bench`` runs."""
    out = []
    for n, f, ours_trials, set_trials, numpy_trials in (
        (7, 8, 2_000_000, 500, 20_000),
        (10, 5, 10_000_000, 5_000, 100_000),
        (10, 16, 2_000_000, 500, 20_000),
        (12, 64, 200_000, 50, 1_000),
        (10, 256, 100_000, 50, 500),
        (12, 1024, 50_000, 10, 100),
    ):
        name, ours = f"2-partition, n={n} f={f}", kernel_runner(TWO_PARTITION, {"n": n, "f": f}, ours_trials)
        out.append(Benchmark(name, "plain Python", ours, baseline_runner(count_pairs_by_sets, n, f, trials=set_trials)))
        if f <= 16:  # with more faults many trials, and at f = 256 nearly all, have coinciding faults and are left out
            out.append(
                Benchmark(name, "NumPy", ours, baseline_runner(count_pairs_by_sorting, n, f, trials=numpy_trials))
            )
    ours = kernel_runner(MULTICAST, {"n": 10, "f": 8, "destinations": 128}, 20_000)
    theirs = baseline_runner(run_multicasts, 10, 8, 128, trials=3)
    out.append(Benchmark("multicast, n=10 f=8, 128 destinations", "plain Python", ours, theirs))
    ours = kernel_runner(MULTICAST_DEADLOCK, {"n": 5, "f": 4}, 20_000)
    out.append(
        Benchmark("dependency graphs, n=5 f=4", "plain Python", ours, baseline_runner(build_graphs, 5, 4, trials=5))
    )
    return out
