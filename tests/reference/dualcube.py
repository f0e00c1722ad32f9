"""Plain-Python twin of the dual-cube algorithms of Li, Peng & Chu, line for line with the reading (B1-B10).

Slow and simple on purpose: nodes are integers, paths are lists of nodes, trees are dictionaries from a node to
its path from the root, in insertion order.  ``faulty`` is any callable from a label to a truth value.  Dimensions
are single-bit masks, listed in dimension order (paper index upwards, hence most significant bit first).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

Path = list[int]
Tree = dict[int, Path]

#: B10: a tree of PRACTICAL stops at this many nodes.
TREE_LIMIT = 2**14

GOLDEN = 0x9E3779B97F4A7C15
WORD = 2**64 - 1


class LimitError(Exception):
    """A tree would grow past TREE_LIMIT nodes (B10)."""


def mix(z: int) -> int:
    """The SplitMix64 finaliser."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


def lazy_faults(key: int, rate: float) -> Callable[[int], bool]:
    """B9: a node is faulty when the hash of (key, label) is below rate * 2^64."""
    threshold = int(rate * 2.0**64)
    return lambda label: mix((key + label * GOLDEN) & WORD) < threshold


# ---------------------------------------------------------------- the network


class Network:
    """DC(m): labels of 2m+1 bits, u_0 (the class) first; class 1 joined along u_1..u_m, class 0 along u_{m+1}..u_2m."""

    def __init__(self, m: int, faulty: Callable[[int], bool]) -> None:
        self.m = m
        self.faulty = faulty
        self.cross_bit = 1 << (2 * m)

    def class_of(self, u: int) -> int:
        return u >> (2 * self.m)

    def cross(self, u: int) -> int:
        return u ^ self.cross_bit

    def dims(self, u: int) -> list[int]:
        first = 1 if self.class_of(u) == 1 else self.m + 1
        return [1 << (2 * self.m - i) for i in range(first, first + self.m)]

    def position_mask(self, u: int) -> int:
        return sum(self.dims(u))

    def cluster(self, u: int) -> int:
        """The cluster's node at position 0: equal for two nodes exactly when they share a cluster."""
        return u & ~self.position_mask(u)

    def at(self, u: int, b: int) -> int:
        """The node of b's cluster at u's position (u and b of one class)."""
        return self.cluster(b) | (u & self.position_mask(u))

    def neighbours(self, u: int) -> list[int]:
        return [self.cross(u), *(u ^ d for d in self.dims(u))]

    def cluster_nodes(self, u: int) -> list[int]:
        nodes = [self.cluster(u)]
        for d in self.dims(u):
            nodes += [v | d for v in nodes]
        return nodes

    def faults_in_cluster(self, u: int) -> int:
        return sum(self.faulty(v) for v in self.cluster_nodes(u))

    def is_safe(self, k: int) -> bool:
        """B1: every node, faulty ones included, has at least k nonfaulty neighbours."""
        return all(sum(not self.faulty(v) for v in self.neighbours(u)) >= k for u in range(2 * self.cross_bit))

    def shortest(self, s: int, t: int) -> int | None:
        """Length of a shortest nonfaulty path."""
        seen, queue = {s: 0}, deque([s])
        while queue:
            u = queue.popleft()
            if u == t:
                return seen[u]
            for v in self.neighbours(u):
                if v not in seen and not self.faulty(v):
                    seen[v] = seen[u] + 1
                    queue.append(v)
        return None


def distance_without_faults(m: int, s: int, t: int) -> int:
    """Hamming distance, plus 2 when both are in different clusters of the same class."""
    net = Network(m, lambda label: False)
    apart = net.class_of(s) == net.class_of(t) and net.cluster(s) != net.cluster(t)
    return (s ^ t).bit_count() + 2 * apart


def erase_loops(path: Path) -> Path:
    """Keep the last occurrence of each node."""
    out, k = [], 0
    while k < len(path):
        out.append(path[k])
        k = max(j for j, v in enumerate(path) if v == path[k]) + 1
    return out


# ---------------------------------------------------------------- B7: PRACTICAL


class Practical(Network):
    """The on-line algorithm; ``asked`` collects the labels whose status was asked."""

    def __init__(self, m: int, faulty: Callable[[int], bool]) -> None:
        super().__init__(m, faulty)
        self.asked: set[int] = set()

    def nonfaulty(self, u: int) -> bool:
        self.asked.add(u)
        return not self.faulty(u)

    def trees(self, a: int, dims: list[int]) -> Iterator[Path]:
        """TREES(a, D): paths to the new nodes of T_0, T_1, ..."""
        tree: Tree = {a: [a]}
        new: Tree = dict(tree)
        while True:
            yield from new.values()
            if len(tree) >= TREE_LIMIT:
                raise LimitError
            new = {}
            for u in tree:
                for d in dims:
                    v = u ^ d
                    if (u ^ a) & d == 0 and v not in tree and v not in new and self.nonfaulty(v):
                        new[v] = [*tree[u], v]
                        break
                else:
                    return
            tree |= new

    def hyp(self, a: int, b: int) -> Path | None:
        """HYP(a, b)"""
        path, free = [a], self.dims(a)
        while a != b:
            want = [d for d in free if (a ^ b) & d]
            step = next(
                ([*p, p[-1] ^ d] for p in self.trees(a, free) for d in want if self.nonfaulty(p[-1] ^ d)),
                None,
            )
            if step is None:
                return None
            path += step[1:]
            free.remove(step[-1] ^ step[-2])
            a = step[-1]
        return path

    def exits(self, a: int) -> Iterator[Path]:
        """EXITS(a): paths a -> u : u'"""
        for p in self.trees(a, self.dims(a)):
            if self.nonfaulty(self.cross(p[-1])):
                yield [*p, self.cross(p[-1])]

    def to_cluster(self, a: int, b: int) -> Path | None:
        """TO_CLUSTER(a, b)"""
        for head in self.exits(a):
            v = self.at(head[-2], b)
            p1 = self.hyp(head[-1], self.cross(v))
            if p1 is None or not self.nonfaulty(v):
                continue
            p2 = self.hyp(v, b)
            if p2 is None:
                continue
            return head + p1[1:] + p2
        return None

    def with_loops(self, s: int, t: int) -> Path | None:
        if s == t:
            return [s]
        if self.cluster(s) == self.cluster(t) and self.class_of(s) == self.class_of(t):
            path = self.hyp(s, t)
            if path is not None:
                return path
            for out in self.exits(s):
                for back in self.exits(t):
                    a, b = out[-1], back[-1]
                    middle = [a] if a == b else self.to_cluster(a, b)
                    if middle is not None:
                        return out + middle[1:] + back[-2::-1]
            return None
        if self.class_of(s) == self.class_of(t):
            return self.to_cluster(s, t)
        for out in self.exits(s):
            a = out[-1]
            middle = self.hyp(a, t) if self.cluster(a) == self.cluster(t) else self.to_cluster(a, t)
            if middle is not None:
                return out + middle[1:]
        return None

    def route(self, s: int, t: int) -> tuple[Path | None, str]:
        """PRACTICAL(s, t): the path and "", or None and the reason."""
        try:
            path = self.with_loops(s, t)
        except LimitError:
            return None, "limit"
        return (None, "exhausted") if path is None else (erase_loops(path), "")


# ---------------------------------------------------------------- B2-B6: Algorithms 1-3


class NothingFoundError(Exception):
    """A step of Algorithms 1-3 found nothing: the route fails (B6)."""


class Offline(Network):
    """Algorithms 1-3 with Hypercube_Routing; ``repaired`` or literal."""

    def __init__(self, m: int, faulty: Callable[[int], bool], k: int, repaired: bool) -> None:
        super().__init__(m, faulty)
        self.k = k
        self.kk = max(k - 1, 0)
        self.limit = 2**self.kk * (m - self.kk)
        self.repaired = repaired

    def tree(self, s: int, k: int, dims: list[int]) -> Tree | None:
        """B2: T_k(s), or None; T_{-1} is empty (B3)."""
        if k < 0:
            return {}
        tree: Tree = {s: [s]}
        for _ in range(k):
            new: Tree = {}
            for u in tree:
                for d in dims:
                    v = u ^ d
                    if (u ^ s) & d == 0 and not self.faulty(v) and v not in tree and v not in new:
                        new[v] = [*tree[u], v]
                        break
                else:
                    return None
            tree |= new
        return tree

    def border(self, tree: Tree, dims: list[int]) -> Iterator[Path]:
        """Paths to the nonfaulty nodes of N(T), in (tree insertion, dimension) order."""
        met = set(tree)
        for u, path in tree.items():
            for d in dims:
                if u ^ d not in met:
                    met.add(u ^ d)
                    if not self.faulty(u ^ d):
                        yield [*path, u ^ d]

    def shortest_path(self, s: int, t: int, dims: list[int]) -> Path:
        parent, queue = {s: s}, deque([s])
        while queue and t not in parent:
            u = queue.popleft()
            for d in dims:
                if u ^ d not in parent and not self.faulty(u ^ d):
                    parent[u ^ d] = u
                    queue.append(u ^ d)
        if t not in parent:
            raise NothingFoundError
        path = [t]
        while path[-1] != s:
            path.append(parent[path[-1]])
        return path[::-1]

    def hypercube_routing(self, s: int, t: int, k: int, dims: list[int]) -> Path:
        """B5"""
        if s == t:
            return [s]
        if k == 0:
            return self.shortest_path(s, t, dims)
        i = next(d for d in dims if (s ^ t) & d)
        rest = [d for d in dims if d != i]
        if self.faults_in_subcube(s, rest) < self.faults_in_subcube(t, rest):
            return self.hypercube_routing_to(t, s, k, i, dims)[::-1]
        return self.hypercube_routing_to(s, t, k, i, dims)

    def faults_in_subcube(self, u: int, dims: list[int]) -> int:
        nodes = [u & ~sum(dims)]
        for d in dims:
            nodes += [v | d for v in nodes]
        return sum(self.faulty(v) for v in nodes)

    def hypercube_routing_to(self, s: int, t: int, k: int, i: int, dims: list[int]) -> Path:
        """B5 with t's half as the target."""
        tree = self.tree(s, k, dims)
        if tree is None:
            raise NothingFoundError
        rest = [d for d in dims if d != i]
        for path in [*tree.values(), *self.border(tree, dims)]:
            u = path[-1]
            if u & i == t & i:
                return path + self.hypercube_routing(u, t, k - 1, rest)[1:]
            if not self.faulty(u ^ i):
                return path + self.hypercube_routing(u ^ i, t, k - 1, rest)
        raise NothingFoundError

    def crossing(self, paths: Iterator[Path] | list[Path]) -> Path | None:
        """The first of the paths whose end has a nonfaulty cross neighbour, with that neighbour."""
        return next(([*p, self.cross(p[-1])] for p in paths if not self.faulty(self.cross(p[-1]))), None)

    def algorithm1(self, s: int) -> Path:
        dims = self.dims(s)
        small = self.tree(s, self.k - 1, dims)
        if small is None:
            raise NothingFoundError
        path = self.crossing(list(small.values()))
        if path is None:
            tree = self.tree(s, self.k, dims)
            if tree is None:
                raise NothingFoundError
            if self.repaired:
                path = self.crossing(list(tree.values()))
            if path is None:
                path = self.crossing(self.border(tree, dims))
        if path is None:
            raise NothingFoundError
        return path

    def candidates(self, s: int) -> Iterator[Path]:
        """ALG2's candidates for FINISH, as paths s -> u."""
        dims = self.dims(s)
        small = self.tree(s, self.k - 1, dims)
        if small is None:
            return
        yield from small.values()
        tree = self.tree(s, self.k, dims)
        if not self.repaired:
            first = self.crossing(list(small.values()))
            if first is not None:
                other = self.tree(first[-1], self.k - 1, self.dims(first[-1]))
                if other is not None:
                    for path in self.border(other, self.dims(first[-1])):
                        if not self.faulty(self.cross(path[-1])):
                            yield first + path[1:] + [self.cross(path[-1])]
            elif tree is not None:
                yield from self.border(tree, dims)
            return
        if tree is not None:
            yield from tree.values()
        yield from self.border(small, dims)
        if tree is not None:
            yield from self.border(tree, dims)
        for head in small.values():
            up = self.cross(head[-1])
            if self.faulty(up):
                continue
            other = self.tree(up, self.k - 1, self.dims(up))
            if other is None:
                continue
            for path in [*other.values(), *self.border(other, self.dims(up))]:
                back = self.cross(path[-1])
                if self.faulty(back):
                    continue
                for d in self.dims(back):
                    if not self.faulty(back ^ d):
                        yield [*head, *path, back, back ^ d]

    def algorithm2(self, s: int, t: int) -> Path:
        for head in self.candidates(s):
            u = head[-1]
            v = self.at(u, t)
            up, vp = self.cross(u), self.cross(v)
            if any(self.faulty(x) for x in (u, v, up, vp)) or self.faults_in_cluster(up) >= self.limit:  # B4
                continue
            try:
                return [*head, *self.hypercube_routing(up, vp, self.kk, self.dims(up)), v]
            except NothingFoundError:
                continue
        raise NothingFoundError

    def case1(self, s: int, t: int) -> Path:
        if self.faults_in_cluster(s) < self.faults_in_cluster(t):
            return self.case1_to(t, s)[::-1]
        return self.case1_to(s, t)

    def case1_to(self, s: int, t: int) -> Path:
        head = self.algorithm2(s, t)
        return head + self.hypercube_routing(head[-1], t, self.kk, self.dims(t))[1:]

    def different_classes(self, s: int, t: int) -> Path:
        head = self.algorithm1(s)
        up = head[-1]
        if self.cluster(up) == self.cluster(t):
            return head + self.hypercube_routing(up, t, self.kk, self.dims(t))[1:]
        return head + self.case1(up, t)[1:]

    def same_cluster(self, s: int, t: int) -> Path:
        if self.faults_in_cluster(s) < self.limit:
            return self.hypercube_routing(s, t, self.kk, self.dims(s))
        out, back = self.algorithm1(s), self.algorithm1(t)
        a, b = out[-1], back[-1]
        middle = [a] if a == b else self.case1(a, b)
        return out + middle[1:] + back[-2::-1]

    def algorithm3(self, s: int, t: int) -> Path:
        if s == t:
            return [s]
        if self.class_of(s) != self.class_of(t):
            if self.repaired and self.faults_in_cluster(t) >= self.limit:
                return self.different_classes(t, s)[::-1]
            return self.different_classes(s, t)
        if self.cluster(s) != self.cluster(t):
            return self.case1(s, t)
        return self.same_cluster(s, t)

    def route(self, s: int, t: int) -> Path | None:
        """Algorithm 3: the path without loops, or None."""
        try:
            return erase_loops(self.algorithm3(s, t))
        except NothingFoundError:
            return None
