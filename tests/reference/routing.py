"""Routing among faults in plain Python: Lee & Hayes (1988), Figures 1, 4 and 6, with the readings R4-R11 and R16-R18.

Links carry the paper's indices: 1, ..., n from the left, so that link i flips bit n - i.  A path is a starting node and a
list of link indices.  Every node on the way decides anew from its own label and the destination's (R8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from .unsafe import subcubes

Link = tuple[int, int]


def across(n: int, x: int, i: int) -> int:
    """The neighbour of x over link i."""
    return x ^ (1 << (n - i))


def differing(n: int, x: int, y: int) -> list[int]:
    """f_1(x, y), f_2(x, y), ...: the links in whose bits the labels differ."""
    return [i for i in range(1, n + 1) if (x ^ y) >> (n - i) & 1]


def common(n: int, x: int, y: int) -> list[int]:
    """g_1(x, y), g_2(x, y), ...: the links in whose bits the labels agree."""
    return [i for i in range(1, n + 1) if not (x ^ y) >> (n - i) & 1]


class Cube:
    """Q_n with faulty nodes (a set, or a predicate) and faulty links."""

    def __init__(
        self, n: int, faulty_nodes: Iterable[int] | Callable[[int], bool] = (), faulty_links: Iterable[Link] = ()
    ) -> None:
        self.n = n
        self.links = {frozenset(link) for link in faulty_links}
        if callable(faulty_nodes):
            self.faulty: Callable[[int], bool] = faulty_nodes
        else:
            nodes = set(faulty_nodes)
            self.faulty = nodes.__contains__
            self.closed = subcubes(nodes, [(min(link), max(link)) for link in map(tuple, self.links)])

    def unsafe(self, x: int) -> bool:
        """Whether x is in the UNSAFE lists of its neighbours: nonfaulty, and in a subcube of the closure (R3)."""
        return not self.faulty(x) and any((x ^ base) & ~free == 0 for base, free in self.closed)

    def active(self, x: int) -> bool:
        return not self.faulty(x) and not self.unsafe(x)

    def is_unsafe(self) -> bool:
        """Whether no node is active: one subcube fills the cube."""
        return any(free == 2**self.n - 1 for _, free in self.closed)

    def dead(self, x: int, i: int) -> bool:
        """Whether link i of x is listed as faulty."""
        return frozenset((x, across(self.n, x, i))) in self.links

    def blocked(self, x: int, path: list[int], k: int) -> bool:
        """Whether a faulty node or link is among the first k nodes and links of a path from x (R4, R11)."""
        for i in path[:k]:
            if self.dead(x, i):
                return True
            x = across(self.n, x, i)
            if self.faulty(x):
                return True
        return False

    # ---- the link that each rule takes, at curr for dest; None: no link passes

    def route1(self, curr: int, dest: int, k: int) -> int | None:
        """ROUTE1(k), Figure 4 (R5, R6)."""
        a = differing(self.n, curr, dest)
        for i in range(len(a)):
            shifted = a[i:] + a[:i]
            if not self.blocked(curr, shifted, k):
                return shifted[0]
        return self.detour(curr, dest, k)

    def route2(self, curr: int, dest: int, k: int) -> int | None:
        """ROUTE2(k): all minimal paths in lexicographic order, then ROUTE1's other paths (R7)."""
        for path in self.minimal_paths(curr, differing(self.n, curr, dest), k):
            return path[0]
        return self.detour(curr, dest, k)

    def minimal_paths(self, curr: int, links: list[int], k: int) -> Iterator[list[int]]:
        """The orders of the links whose first k nodes and links are nonfaulty; what is behind them is left in order."""
        if k == 0 or not links:
            yield links
            return
        for i in links:
            if not self.blocked(curr, [i], 1):
                rest = [j for j in links if j != i]
                for path in self.minimal_paths(across(self.n, curr, i), rest, k - 1):
                    yield [i, *path]

    def detour(self, curr: int, dest: int, k: int) -> int | None:
        a = differing(self.n, curr, dest)
        for g in common(self.n, curr, dest):
            if not self.blocked(curr, [g, *a, g], k):
                return g
        return None

    def route3(self, curr: int, dest: int) -> int | None:
        """ROUTE3(1), Figure 6 (R10, R11)."""
        f = differing(self.n, curr, dest)
        for i in f:
            if self.active(across(self.n, curr, i)) and not self.dead(curr, i):
                return i
        for i in f:
            if not self.faulty(across(self.n, curr, i)) and not self.dead(curr, i):
                return i
        for i in common(self.n, curr, dest):
            if self.active(across(self.n, curr, i)) and not self.dead(curr, i):
                return i
        return None

    # ---- the way of a message (R8, R9, R16)

    def route(self, algorithm: str, s: int, t: int, k: int = 1) -> tuple[str, list[int]]:
        """Outcome and path of one message."""
        rule: Callable[[int], int | None] = {
            "ROUTE": lambda curr: differing(self.n, curr, t)[0],
            "ROUTE1": lambda curr: self.route1(curr, t, k),
            "ROUTE2": lambda curr: self.route2(curr, t, k),
            "ROUTE3": lambda curr: self.route3(curr, t),
        }[algorithm]
        path = [s]
        while path[-1] != t:
            link = rule(path[-1])
            if link is None:
                return "stuck", path
            if self.blocked(path[-1], [link], 1):  # ROUTE alone does that
                return "lost", path
            path.append(across(self.n, path[-1], link))
            if path[-1] in path[:-1]:
                return "livelock", path
        return "delivered", path

    def shortest(self, s: int, t: int) -> int | None:
        """Length of the shortest feasible path, by breadth-first search; None when there is none."""
        length, edge, seen = 0, {s}, {s}
        while edge:
            if t in edge:
                return length
            edge = {
                across(self.n, x, i) for x in edge for i in range(1, self.n + 1) if not self.blocked(x, [i], 1)
            } - seen
            seen |= edge
            length += 1
        return None

    def same_subcube(self, s: int, t: int) -> bool:
        """Whether both ends are unsafe and in one maximal unsafe subcube (R21)."""
        return any((s ^ base) & ~free == 0 and (t ^ base) & ~free == 0 for base, free in self.closed)
