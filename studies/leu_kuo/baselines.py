"""Baselines of `fastcube bench` for the tree kernels: FIND_TREE, the optimum and FTTC in plain Python, one cube at a time.

For ``gather``, :func:`fastcube.find_tree` and :func:`fastcube.gather` run the three variants on the kernel's own fault sets.
They are plain Python too, and ten times as fast as a simulation of messages between nodes.
"""

import random
from collections.abc import Callable
from fractions import Fraction

from fastcube.algorithms import trees
from fastcube.algorithms.gathering import VARIANTS, gather
from fastcube.measure.study import Point, Study
from fastcube.running.benchmark import Benchmark, baseline_runner, kernel_runner

from .explanation import sample_trial
from .find_tree import FIND_TREE
from .gathering import GATHER
from .optimal import OPTIMAL_TREE


def sample_faults(n: int, links: int, rng: random.Random) -> list[int]:
    """Return FAULT of every node, the bits of the dimensions of its faulty links, under random faulty links."""
    fault = [0] * 2**n
    for e in rng.sample([k * 2**n + u for k in range(n) for u in range(2**n) if not u >> k & 1], links):
        u, k = e % 2**n, e // 2**n
        fault[u] |= 1 << k
        fault[u ^ 1 << k] |= 1 << k
    return fault


def find_tree(n: int, fault: list[int]) -> tuple[int, list[int]] | None:
    """Return sink and order of FIND_TREE as printed."""
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


def fewest_faulty_links(n: int, fault: list[int]) -> int:
    """Return the fewest faulty links of a binomial tree over all sinks with FAULT = 0 and all orders of the dimensions.

    ``tail[used]`` is the fewest faulty links in the dimensions that come after the set ``used``.  Dimension j after ``used`` has
    the links of the nodes of ``used``'s subcube in dimension j.  All sets and their subsets take O(n 3^n) per sink.  Without
    a sink the result is 2^n.
    """
    best = 1 << n  # more than a tree has links
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
    return best


def lost_units(study: Study, point: Point, trials: int) -> Fraction:
    """Return the units of data that the three variants lose in the first trials of a study, over FIND_TREE's tree."""
    key, lost = study.key(0, study.point(point)), Fraction(0)
    for t in range(trials):
        cube = sample_trial(point, key, t).network
        tree = trees.find_tree(cube)
        if tree is not None:
            lost += sum(gather(cube, tree, "FTTC", variant).lost for variant in VARIANTS)
    return lost


def find_trees(n: int, links: int, optimum: bool, trials: int) -> None:
    """Run FIND_TREE on random faulty links and, with ``optimum``, search for the optimum if there is a sink."""
    rng = random.Random(1)
    for _ in range(trials):
        fault = sample_faults(n, links, rng)
        if find_tree(n, fault) is not None and optimum:
            fewest_faulty_links(n, fault)


def benchmarks() -> list[Benchmark]:
    """Return the comparisons that ``fastcube bench`` runs."""
    out = []

    def add_benchmark(
        study: Study, point: Point, ours: int, baseline: Callable[..., object], *args: object, trials: int
    ) -> None:
        name = f"{study.name}, " + " ".join(f"{axis}={value}" for axis, value in point.items())
        theirs = baseline_runner(baseline, *args, trials=trials)
        out.append(Benchmark(name, "plain Python", kernel_runner(study, point, ours), theirs))

    for n, links, ours, theirs in ((7, 8, 400_000, 500), (7, 32, 200_000, 500), (12, 64, 100_000, 10)):
        add_benchmark(FIND_TREE, {"n": n, "links": links, "f": 0}, ours, find_trees, n, links, False, trials=theirs)
    for n, links, ours, theirs in ((6, 12, 100_000, 2), (8, 16, 50_000, 1)):
        add_benchmark(OPTIMAL_TREE, {"n": n, "links": links, "f": 0}, ours, find_trees, n, links, True, trials=theirs)
    for n, links, f, ours, theirs in (
        (5, 12, 0, 100_000, 100),
        (7, 32, 0, 50_000, 50),
        (8, 64, 0, 40_000, 20),
        (7, 0, 8, 50_000, 50),
    ):
        point: Point = {"n": n, "links": links, "f": f}
        add_benchmark(GATHER, point, ours, lost_units, GATHER, point, trials=theirs)
    return out
