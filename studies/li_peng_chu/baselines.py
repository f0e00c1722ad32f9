"""Baselines of `fastcube bench` for dual-cube routing: the algorithm PRACTICAL in plain Python."""

import random
from collections.abc import Iterator

from fastcube.running.benchmark import Benchmark, baseline_runner, kernel_runner

from .routing import DUALCUBE_ROUTING

Nodes = list[int]


class ReferenceTrial:
    """One trial of PRACTICAL on DC(m): nodes are ints, paths are lists, and node statuses are sampled on demand and stored."""

    def __init__(self, m: int, rate: float, rng: random.Random) -> None:
        self.m, self.rate, self.rng = m, rate, rng
        self.cross = 1 << 2 * m
        self.status: dict[int, bool] = {}
        while True:
            self.s, self.t = rng.getrandbits(2 * m + 1), rng.getrandbits(2 * m + 1)
            if self.s != self.t and self.is_nonfaulty(self.s) and self.is_nonfaulty(self.t):
                break

    def is_nonfaulty(self, u: int) -> bool:
        """Whether node ``u`` is nonfaulty; its status is sampled at the first call."""
        found = self.status.get(u)
        if found is None:
            found = self.status[u] = self.rng.random() >= self.rate
        return found

    def cluster_bits(self, u: int) -> list[int]:
        """Return the bits that the links inside the cluster of ``u`` flip, most significant first."""
        low = self.m if u & self.cross else 0
        return [1 << i for i in range(low + self.m - 1, low - 1, -1)]

    def paths_in_trees(self, a: int, dims: list[int]) -> Iterator[Nodes]:
        """Yield paths from ``a`` to the nodes of its binomial trees T_0, T_1, ..., each node once."""
        tree = {a: [a]}
        new = dict(tree)
        while True:
            yield from new.values()
            new = {}
            for u, path in tree.items():
                for d in dims:
                    v = u ^ d
                    if not (u ^ a) & d and v not in tree and v not in new and self.is_nonfaulty(v):
                        new[v] = [*path, v]
                        break
                else:
                    return
            tree.update(new)

    def find_cluster_path(self, a: int, b: int) -> Nodes | None:
        """Return a path from ``a`` to ``b`` inside their cluster, or None."""
        path, free = [a], self.cluster_bits(a)
        while a != b:
            want = [d for d in free if (a ^ b) & d]
            step = next(
                ([*p, p[-1] ^ d] for p in self.paths_in_trees(a, free) for d in want if self.is_nonfaulty(p[-1] ^ d)),
                None,
            )
            if step is None:
                return None
            path += step[1:]
            free.remove(step[-1] ^ step[-2])
            a = step[-1]
        return path

    def paths_to_exits(self, a: int) -> Iterator[Nodes]:
        """Yield paths from ``a`` that end with the cross edge out of its cluster."""
        return (
            [*p, p[-1] ^ self.cross]
            for p in self.paths_in_trees(a, self.cluster_bits(a))
            if self.is_nonfaulty(p[-1] ^ self.cross)
        )

    def find_path_across(self, a: int, b: int) -> Nodes | None:
        """Return a path from ``a`` to ``b`` in another cluster of the same class, or None.

        It leaves the cluster of ``a``, crosses a cluster of the other class, and enters the cluster of ``b`` at node ``v``.
        """
        mask = sum(self.cluster_bits(a))
        for head in self.paths_to_exits(a):
            v = (head[-2] & mask) | (b & ~mask)
            first = self.find_cluster_path(head[-1], v ^ self.cross)
            if first is None or not self.is_nonfaulty(v):
                continue
            second = self.find_cluster_path(v, b)
            if second is not None:
                return head + first[1:] + second
        return None

    def find_route(self) -> Nodes | None:
        """Return the path that PRACTICAL finds from s to t, possibly with loops, or None."""
        s, t = self.s, self.t
        mask = sum(self.cluster_bits(s))
        if (s ^ t) & self.cross:
            for out in self.paths_to_exits(s):
                rest = self.find_path_across(out[-1], t) if (out[-1] ^ t) & mask else self.find_cluster_path(out[-1], t)
                if rest is not None:
                    return out + rest[1:]
            return None
        if (s ^ t) & ~mask:
            return self.find_path_across(s, t)
        path = self.find_cluster_path(s, t)
        if path is not None:
            return path
        for out in self.paths_to_exits(s):
            for back in self.paths_to_exits(t):
                middle = [out[-1]] if out[-1] == back[-1] else self.find_path_across(out[-1], back[-1])
                if middle is not None:
                    return out + middle[1:] + back[-2::-1]
        return None


def count_links_without_loops(path: Nodes) -> int:
    """Return the links of a path from which each loop is cut: from a node it goes on as after its last visit there."""
    last = {u: i for i, u in enumerate(path)}
    links = i = 0
    while path[i] != path[-1]:
        i = last[path[i]] + 1
        links += 1
    return links


def run_reference(m: int, rate: float, trials: int, seed: int = 0) -> tuple[int, int, int]:
    """Return the delivered routes, the links of their paths without loops, and the statuses sampled, each summed over trials."""
    rng = random.Random(seed)
    delivered = links = sampled = 0
    for _ in range(trials):
        trial = ReferenceTrial(m, rate, rng)
        path = trial.find_route()
        sampled += len(trial.status)
        if path is not None:
            delivered += 1
            links += count_links_without_loops(path)
    return delivered, links, sampled


def benchmarks() -> list[Benchmark]:
    """Return the comparisons that ``fastcube bench`` runs."""
    from fastcube.kernels.dualcube.scalar import ROUTES

    out = []
    for m in (5, 9, 20, 30):
        for rate in (0.1, 0.3, 0.5):
            ours = kernel_runner(DUALCUBE_ROUTING, {"m": m, "rate": rate}, 200_000, ROUTES)
            theirs = baseline_runner(run_reference, m, rate, trials=1000)
            out.append(Benchmark(f"dual-cube routing, m={m} rate={rate}", "plain Python", ours, theirs))
    return out
