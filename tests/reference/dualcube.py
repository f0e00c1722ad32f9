"""Dual-cubes in plain Python: Li, Peng & Chu, sections 1 to 3, by readings B1 to B10.

A node is the word u_0 u_1 ... u_2m that the paper writes: its index of a digit is Python's, and the dimension order that of the
digits.  A tree is a table of the dimensions that lead from its root to each node, in insertion order.  What a search finds is
generated: "the first success" is the first thing that comes, and a search that comes to nothing has failed.

Labels, as the library has them, go in and out at ``route`` and ``shortest`` and are what ``faulty`` is asked for; a word is its
label written with two digits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import accumulate, chain, product
from typing import TypeVar

Node = str
Walk = list[Node]
Tree = dict[Node, tuple[int, ...]]
Found = TypeVar("Found")

TREE_LIMIT = 2**14  # B10


class LimitError(Exception):
    """A tree has TREE_LIMIT nodes and is not enough (B10)."""


class NothingFoundError(Exception):
    """A step of the off-line algorithms finds nothing (B6)."""


def lazy_faults(key: int, rate: float) -> Callable[[int], bool]:
    """B9, as docs/random.md prints it: the finaliser of SplitMix64 on the key plus the label times a constant."""

    below = int(rate * 2**64)

    def faulty(label: int) -> bool:
        z = (key + label * 0x9E3779B97F4A7C15) % 2**64
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return z ^ z >> 31 < below

    return faulty


def flipped(u: Node, i: int) -> Node:
    """u^(i)."""
    return f"{u[:i]}{'0' if u[i] == '1' else '1'}{u[i + 1 :]}"


def dims_of(u: Node) -> range:
    """The dimensions of u's cluster: 1..m in class 1, m+1..2m in class 0."""
    m = len(u) // 2
    return range(1, m + 1) if u[0] == "1" else range(m + 1, 2 * m + 1)


def cross(u: Node) -> Node:
    """u', over the link between the classes."""
    return flipped(u, 0)


def neighbours(u: Node) -> list[Node]:
    """All nodes, also faulty nodes."""
    return [flipped(u, i) for i in (0, *dims_of(u))]


def at(u: Node, b: Node) -> Node:
    """The node of C_b at u's position: its digits in the cluster's dimensions, b's in the others."""
    inside = dims_of(u)
    return b[: inside.start] + u[inside.start : inside.stop] + b[inside.stop :]


def cluster(u: Node) -> str:
    """C_u: stars in the place of its dimensions."""
    return at(u[0] + "*" * (len(u) - 1), u)


def cluster_nodes(u: Node) -> list[Node]:
    """The nodes of C_u in the order of their labels."""
    return [at(u[0] + 2 * "".join(digits), u) for digits in product("01", repeat=len(u) // 2)]


def walked(root: Node, crossed: Iterable[int]) -> Walk:
    """The nodes from the root on, over those dimensions."""
    return [*accumulate(crossed, flipped, initial=root)]


def with_a_stage_more(tree: Tree, dims: Collection[int], good: Callable[[Node], bool]) -> Tree | None:
    """B2: T_k from T_{k-1}, a new child to every node; None where one of them has none."""
    larger = dict(tree)
    for u, crossed in tree.items():
        for i in dims:
            if i not in crossed and (child := flipped(u, i)) not in larger and good(child):
                larger[child] = (*crossed, i)
                break
        else:
            return None
    return larger


def without_loops(walk: Walk) -> Walk:
    """Return the path without loops: from each node it continues at the last occurrence of this node (B6, B7)."""
    last = {u: at for at, u in enumerate(walk)}
    at = [0]
    while at[-1] < len(walk):
        at.append(last[walk[at[-1]]] + 1)
    return [walk[i] for i in at[:-1]]


def distance_without_faults(m: int, s: int, t: int) -> int:
    """d(s, t): the digits that differ, and 2 for the way out of a cluster and back into another of its class."""
    a, b = (f"{label:0{2 * m + 1}b}" for label in (s, t))
    return sum(x != y for x, y in zip(a, b, strict=True)) + 2 * (a[0] == b[0] and cluster(a) != cluster(b))


class Network:
    """DC(m) and its faults."""

    def __init__(self, m: int, faulty: Callable[[int], bool]) -> None:
        self.m, self.faulty = m, faulty

    def word(self, label: int) -> Node:
        return f"{label:0{2 * self.m + 1}b}"

    def nonfaulty(self, u: Node) -> bool:
        return not self.faulty(int(u, 2))

    def is_safe(self, k: int) -> bool:
        """B1."""
        labels = map("".join, product("01", repeat=2 * self.m + 1))
        return all(sum(map(self.nonfaulty, neighbours(u))) >= k for u in labels)

    def shortest(self, s: int, t: int) -> int | None:
        """Links of a shortest fault-free path: rings around s until one holds t or nothing."""
        goal, ring = self.word(t), {self.word(s)}
        seen = set(ring)
        for links in range(2 ** (2 * self.m + 1)):
            if goal in ring:
                return links
            ring = {v for u in ring for v in neighbours(u) if v not in seen and not self.faulty(int(v, 2))}
            seen |= ring
        return None


# ---------------------------------------------------------------- section 3: with local information (B7)


class Practical(Network):
    """PRACTICAL; ``asked`` are the labels whose status was asked for (B8)."""

    def __init__(self, m: int, faulty: Callable[[int], bool]) -> None:
        super().__init__(m, faulty)
        self.asked: set[int] = set()

    def nonfaulty(self, u: Node) -> bool:
        self.asked.add(int(u, 2))
        return super().nonfaulty(u)

    def trees(self, a: Node, dims: Collection[int]) -> Iterator[tuple[Node, tuple[int, ...]]]:
        """TREES: each stage's new nodes, with the dimensions that lead to them."""
        tree: Tree | None = {a: ()}
        seen = 0
        while tree:
            yield from [*tree.items()][seen:]
            if len(tree) == TREE_LIMIT:
                raise LimitError
            seen, tree = len(tree), with_a_stage_more(tree, dims, self.nonfaulty)

    def hyp(self, a: Node, b: Node) -> Iterator[Walk]:
        """HYP: one walk from a to b inside their cluster, or none."""
        walk, free = [a], [*dims_of(a)]
        while a != b:
            want = [d for d in free if a[d] != b[d]]
            over = ((*way, d) for u, way in self.trees(a, free) for d in want if self.nonfaulty(flipped(u, d)))
            crossed = next(over, None)
            if crossed is None:
                return
            walk += walked(a, crossed)[1:]
            a = walk[-1]
            free.remove(crossed[-1])
        yield walk

    def exits(self, a: Node) -> Iterator[Walk]:
        """EXITS: the walks a -> u : u'."""
        for u, way in self.trees(a, dims_of(a)):
            if self.nonfaulty(cross(u)):
                yield walked(a, (*way, 0))

    def to_cluster(self, a: Node, b: Node) -> Iterator[Walk]:
        """TO_CLUSTER: a -> u : u' -> v' : v -> b."""
        for out in self.exits(a):
            v = at(out[-2], b)
            for over in self.hyp(out[-1], cross(v)):
                if self.nonfaulty(v):
                    yield from (out[:-1] + over + down for down in self.hyp(v, b))

    def walks(self, s: Node, t: Node) -> Iterator[Walk]:
        """The cases of PRACTICAL, as they are tried."""
        if cluster(s) == cluster(t):
            yield from self.hyp(s, t)
            for out, back in ((out, back) for out in self.exits(s) for back in self.exits(t)):
                a, b = out[-1], back[-1]
                for between in [[a]] if a == b else self.to_cluster(a, b):
                    yield out[:-1] + between + back[-2::-1]
        elif s[0] == t[0]:
            yield from self.to_cluster(s, t)
        else:
            for out in self.exits(s):
                arrived = cluster(out[-1]) == cluster(t)
                yield from (out[:-1] + on for on in (self.hyp if arrived else self.to_cluster)(out[-1], t))

    def route(self, s: int, t: int) -> tuple[list[int] | None, str]:
        """PRACTICAL: the path, or None and the reason."""
        if s == t:
            return [s], ""
        try:
            for walk in self.walks(self.word(s), self.word(t)):
                return [int(u, 2) for u in without_loops(walk)], ""
        except LimitError:
            return None, "limit"
        return None, "exhausted"


# ---------------------------------------------------------------- section 2: with all faults known (B2 - B6)


def first(found: Iterable[Found]) -> Found:
    """What is found first; it is an error to find nothing."""
    for one in found:
        return one
    raise NothingFoundError


class Offline(Network):
    """Algorithms 1 to 3 and Hypercube_Routing."""

    def __init__(self, m: int, faulty: Callable[[int], bool], k: int, corrected: bool) -> None:
        super().__init__(m, faulty)
        self.k, self.corrected = k, corrected
        self.kk = max(k - 1, 0)
        self.limit = 2**self.kk * (m - self.kk)  # B4
        self.faults_of = cache(lambda stars: {u for u in cluster_nodes(stars) if not self.nonfaulty(u)})

    def faults(self, u: Node) -> set[Node]:
        """F in C_u."""
        return self.faults_of(cluster(u))

    def tree(self, s: Node, k: int, dims: Collection[int]) -> Tree | None:
        """T_k(s) by B2, with T_{-1} empty by B3; None where it cannot be constructed."""
        tree: Tree | None = {s: ()} if k >= 0 else {}
        for _ in range(k):
            tree = tree and with_a_stage_more(tree, dims, self.nonfaulty)
        return tree

    def tree_walks(self, s: Node, k: int, dims: Sequence[int] = ()) -> Iterator[Walk]:
        """The walks from s to the nodes of T_k(s), if there is such a tree."""
        return (walked(s, way) for way in (self.tree(s, k, dims or dims_of(s)) or {}).values())

    def border_walks(self, s: Node, k: int, dims: Sequence[int] = ()) -> Iterator[Walk]:
        """The walks to the nonfaulty nodes of N(T_k(s)), in (tree insertion, dimension) order."""
        dims = dims or dims_of(s)
        tree = self.tree(s, k, dims) or {}
        for way in tree.values():
            walks = (walked(s, (*way, i)) for i in dims)
            yield from (walk for walk in walks if walk[-1] not in tree and self.nonfaulty(walk[-1]))

    # ------------------------------------------------------------ Hypercube_Routing (B5)

    def within(self, s: Node, t: Node, k: int, dims: Sequence[int], F: Collection[Node]) -> Walk:
        """Hypercube_Routing(H, s, t, k, F): H has the dimensions ``dims``, s and t lie in it, F are its faults."""
        if s == t:
            return [s]
        if k == 0:
            return first(self.searched(s, t, dims, F))
        i = next(i for i in dims if s[i] != t[i])
        halves = {half: {f for f in F if f[i] == half} for half in "01"}
        if len(halves[s[i]]) < len(halves[t[i]]):
            return self.into_half(t, s, i, k, dims, halves[s[i]])[::-1]
        return self.into_half(s, t, i, k, dims, halves[t[i]])

    def into_half(self, s: Node, t: Node, i: int, k: int, dims: Sequence[int], F: Collection[Node]) -> Walk:
        """s goes to t's half along i, whose faults are F, and on there."""
        to = first(
            walk if walk[-1][i] == t[i] else [*walk, flipped(walk[-1], i)]
            for walk in chain(self.tree_walks(s, k, dims), self.border_walks(s, k, dims))
            if walk[-1][i] == t[i] or self.nonfaulty(flipped(walk[-1], i))
        )
        return to[:-1] + self.within(to[-1], t, k - 1, [d for d in dims if d != i], F)

    def searched(self, s: Node, t: Node, dims: Sequence[int], F: Collection[Node]) -> Iterator[Walk]:
        """Walks to t in the order of a breadth-first search."""
        seen, walks = {s, *F}, [[s]]
        for walk in walks:  # which grows as it is read
            if walk[-1] == t:
                yield walk
            for v in (flipped(walk[-1], d) for d in dims):
                if v not in seen:
                    seen.add(v)
                    walks.append([*walk, v])

    def inside_cluster(self, s: Node, t: Node) -> Walk:
        return self.within(s, t, self.kk, dims_of(s), self.faults(s))

    # ------------------------------------------------------------ Algorithms 1 to 3 (B6)

    def crossed(self, walks: Iterable[Walk]) -> Iterator[Walk]:
        """The walks, over the cross edge at their ends where that leads to a nonfaulty node."""
        return ([*walk, beyond] for walk in walks if self.nonfaulty(beyond := cross(walk[-1])))

    def demand_tree(self, s: Node) -> None:
        """T_{k-1}(s) must exist when k >= 1."""
        if self.tree(s, self.k - 1, dims_of(s)) is None:
            raise NothingFoundError

    def algorithm1(self, s: Node) -> Walk:
        """ALG1: s -> u : u'."""
        self.demand_tree(s)
        more = self.tree_walks(s, self.k if self.corrected else -1)
        return first(self.crossed(chain(self.tree_walks(s, self.k - 1), more, self.border_walks(s, self.k))))

    def finished(self, heads: Iterable[Walk], t: Node) -> Iterator[Walk]:
        """FINISH: those heads s -> u that the virtual edge (u : v) takes on to v in C_t (B4)."""
        for head in heads:
            edge = [head[-1], at(head[-1], t)]
            below = [*map(cross, edge)]
            if all(map(self.nonfaulty, edge + below)) and len(self.faults(below[0])) < self.limit:
                with suppress(NothingFoundError):
                    yield [*head, *self.inside_cluster(*below), edge[1]]

    def heads(self, s: Node) -> Iterator[Walk]:
        """The candidates of ALG2, in order, as walks from s."""
        small, large = self.k - 1, self.k
        yield from self.tree_walks(s, small)
        outs = [*self.crossed(self.tree_walks(s, small))]
        if self.corrected:
            yield from chain(self.tree_walks(s, large), self.border_walks(s, small), self.border_walks(s, large))
            for out in outs:
                around = chain(self.tree_walks(out[-1], small), self.border_walks(out[-1], small))
                for back in self.crossed(around):
                    ways = ([*out[:-1], *back, flipped(back[-1], i)] for i in dims_of(back[-1]))
                    yield from (way for way in ways if self.nonfaulty(way[-1]))
        elif outs:
            yield from (outs[0][:-1] + back for back in self.crossed(self.border_walks(outs[0][-1], small)))
        else:
            yield from self.border_walks(s, large)

    def algorithm2(self, s: Node, t: Node) -> Walk:
        """ALG2: s -> u -> v, with v in C_t."""
        self.demand_tree(s)
        return first(self.finished(self.heads(s), t))

    def case1(self, s: Node, t: Node) -> Walk:
        """CASE1: from the cluster with more faults to that with fewer."""
        if len(self.faults(s)) < len(self.faults(t)):
            return self.case1(t, s)[::-1]
        to = self.algorithm2(s, t)
        return to[:-1] + self.inside_cluster(to[-1], t)

    def case2(self, s: Node, t: Node) -> Walk:
        """ALG3 for different classes, from s."""
        to = self.algorithm1(s)
        arrived = cluster(to[-1]) == cluster(t)
        return to[:-1] + (self.inside_cluster if arrived else self.case1)(to[-1], t)

    def algorithm3(self, s: Node, t: Node) -> Walk:
        """ALG3."""
        if s[0] != t[0]:
            turned = self.corrected and len(self.faults(t)) >= self.limit
            return self.case2(t, s)[::-1] if turned else self.case2(s, t)
        if cluster(s) != cluster(t):
            return self.case1(s, t)
        if len(self.faults(s)) < self.limit:
            return self.inside_cluster(s, t)
        out, back = self.algorithm1(s), self.algorithm1(t)
        a, b = out[-1], back[-1]
        return out[:-1] + ([a] if a == b else self.case1(a, b)) + back[-2::-1]

    def route(self, s: int, t: int) -> list[int] | None:
        """The path, or None where a step finds nothing."""
        if s == t:
            return [s]
        try:
            return [int(u, 2) for u in without_loops(self.algorithm3(self.word(s), self.word(t)))]
        except NothingFoundError:
            return None
