"""Routing rules for routing among faults in plain Python, from the reading alone (docs/readings/routing-rules.md, V1-V9).

A cube is a dimension, faulty nodes and faulty links; words are dictionaries of all nodes, a path a list of labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

Link = tuple[int, int]


class Cube:
    """Q_n with faulty nodes and faulty links."""

    def __init__(self, n: int, faulty_nodes: Iterable[int] = (), faulty_links: Iterable[Link] = ()) -> None:
        self.n = n
        self.faulty = set(faulty_nodes)
        self.cut = {frozenset(link) for link in faulty_links}
        self.ends = {x for link in self.cut for x in link}
        self.nonfaulty = [x for x in range(2**n) if x not in self.faulty]

    def order(self, mask: int) -> list[int]:
        """The bits of a mask from the most significant (ORDER)."""
        return [1 << i for i in reversed(range(self.n)) if mask >> i & 1]

    def neighbours(self, x: int) -> list[int]:
        return [x ^ (1 << i) for i in range(self.n)]

    def good(self, x: int, bit: int) -> bool:
        """Whether link and neighbour are nonfaulty."""
        return x ^ bit not in self.faulty and frozenset((x, x ^ bit)) not in self.cut

    # ---- words

    def wu_fernandez(self) -> tuple[set[int], int]:
        """V2: the marked nodes and the rounds."""
        marked: set[int] = set()
        rounds = 0
        while True:
            new = set()
            for v in self.nonfaulty:
                faulty = sum(x in self.faulty for x in self.neighbours(v))
                either = sum(x in self.faulty or x in marked for x in self.neighbours(v))
                if v not in marked and (faulty >= 2 or either >= 3):
                    new.add(v)
            if not new:
                return marked, rounds
            marked |= new
            rounds += 1

    def level_among(self, shown: list[int]) -> int:
        """V3: the level of a nonfaulty node whose neighbours show these levels."""
        return next((k for k, x in enumerate(sorted(shown)) if x < k), self.n)

    def levels(self) -> tuple[dict[int, int], dict[int, int], int]:
        """V3, V6: the levels that nodes show, the nodes' own, and the rounds of the shown levels."""
        shown = {v: 0 if v in self.faulty or v in self.ends else self.n for v in range(2**self.n)}
        rounds = 0
        while True:
            new = {
                v: self.level_among([shown[x] for x in self.neighbours(v)]) if v not in self.faulty | self.ends else 0
                for v in shown
            }
            if new == shown:
                break
            shown = new
            rounds += 1
        own = dict(shown)
        for v in self.ends - self.faulty:
            own[v] = self.level_among([0 if frozenset((v, x)) in self.cut else shown[x] for x in self.neighbours(v)])
        return shown, own, rounds

    def vectors(self) -> tuple[dict[int, list[int]], int]:
        """V4: U[v][k], k = 0 .. n, and the rounds (V1)."""
        n = self.n
        u = {v: [int(v not in self.faulty)] + [0] * n for v in range(2**n)}
        for v in self.nonfaulty:
            u[v][1] = int(v not in self.ends)
        for k in range(2, n + 1):
            for v in self.nonfaulty:
                have = sum(u[x][k - 1] for x in self.neighbours(v) if frozenset((v, x)) not in self.cut)
                u[v][k] = int(have >= n - k + 1)
        short = [k - 1 for k in range(2, n + 1) if any(u[v][k] == 0 for v in self.nonfaulty)]
        return u, max(short, default=0)

    # ---- rules: outcome and path

    def route(
        self, rule: str, s: int, t: int, choice: Callable[[int, int], int] | None = None
    ) -> tuple[str, list[int]]:
        """One message by LEVELS, VECTORS, A1, DFS, or SIDETRACK with ``choice(hop, candidates)``."""
        walk: Callable[..., tuple[str, list[int]]] = {
            "LEVELS": self._by_levels,
            "VECTORS": self._by_vectors,
            "A1": self._a1,
            "DFS": self._dfs,
            "SIDETRACK": self._sidetrack,
        }[rule]
        return walk(s, t, choice) if rule == "SIDETRACK" else walk(s, t)

    def _by_levels(self, s: int, t: int) -> tuple[str, list[int]]:
        shown, own, _ = self.levels()
        every, h = 2**self.n - 1, (s ^ t).bit_count()

        def highest(u: int, mask: int) -> int | None:
            good = [b for b in self.order(mask) if self.good(u, b)]
            return max(good, key=lambda b: shown[u ^ b], default=None)  # max gives the first of equals

        b = highest(s, s ^ t)
        accepted = b is not None and (h == 1 or shown[s ^ b] >= h - 1)
        accepted = accepted or (h > 1 and own[s] >= h)
        if not accepted:
            b = highest(s, every & ~(s ^ t))
            if b is None or shown[s ^ b] < h + 1:
                return "refused", [s]
        path = [s]
        while b is not None:
            path.append(path[-1] ^ b)
            if path[-1] == t:
                return "delivered", path
            b = highest(path[-1], path[-1] ^ t)
        return "stuck", path

    def _by_vectors(self, s: int, t: int) -> tuple[str, list[int]]:
        u = self.vectors()[0]
        every, h = 2**self.n - 1, (s ^ t).bit_count()

        def first(x: int, mask: int, k: int) -> int | None:
            return next((b for b in self.order(mask) if self.good(x, b) and u[x ^ b][k]), None)

        b = first(s, s ^ t, h - 1)
        if b is None:
            b = first(s, every & ~(s ^ t), h + 1) if h + 1 <= self.n else None
            if b is None:
                return "refused", [s]
        path = [s]
        while b is not None:
            path.append(path[-1] ^ b)
            if path[-1] == t:
                return "delivered", path
            b = first(path[-1], path[-1] ^ t, (path[-1] ^ t).bit_count() - 1)
        return "stuck", path

    def _a1(self, s: int, t: int) -> tuple[str, list[int]]:
        seq, tag, path = self.order(s ^ t), set(), [s]
        while seq:
            u = path[-1]
            b = next((b for b in seq if self.good(u, b)), None)
            if b is not None:
                seq.remove(b)
            else:
                tag |= set(seq)
                b = next((b for b in self.order(2**self.n - 1) if b not in tag and self.good(u, b)), None)
                if b is None:
                    return "stuck", path
                tag.add(b)
                seq.append(b)
            path.append(u ^ b)
        return "delivered", path

    def _dfs(self, s: int, t: int) -> tuple[str, list[int]]:
        every, seen, came, path = 2**self.n - 1, {s}, [], [s]
        while path[-1] != t:
            u = path[-1]
            bits = self.order(u ^ t) + self.order(every & ~(u ^ t))
            b = next((b for b in bits if self.good(u, b) and u ^ b not in seen), None)
            if b is not None:
                came.append(b)
                seen.add(u ^ b)
            elif came:
                b = came.pop()
            else:
                return "stuck", path
            if len(path) > 2**16:
                return "limit", path
            path.append(u ^ b)
        return "delivered", path

    def candidates(self, u: int, t: int) -> list[int]:
        """V8: the bits that SIDETRACK chooses among at u, in ORDER."""
        for mask in (u ^ t, (2**self.n - 1) & ~(u ^ t)):
            good = [b for b in self.order(mask) if self.good(u, b)]
            if good:
                return good
        return []

    def _sidetrack(self, s: int, t: int, choice: Callable[[int, int], int]) -> tuple[str, list[int]]:
        path = [s]
        while path[-1] != t:
            bits = self.candidates(path[-1], t)
            if not bits:
                return "stuck", path
            hop = len(path) - 1
            if hop == 8 * self.n:
                return "limit", path
            path.append(path[-1] ^ bits[choice(hop, len(bits))])
        return "delivered", path

    def sidetracking(self, s: int, t: int, hops: int | None = None) -> Fraction:
        """The exact probability that SIDETRACK delivers: within so many hops, or (None) at last, by the absorbing chain."""
        if hops is not None:
            mass, arrived = {s: Fraction(1)}, Fraction(0)
            for _ in range(hops):
                new: dict[int, Fraction] = {}
                for u, p in mass.items():
                    bits = self.candidates(u, t)
                    for b in bits:
                        new[u ^ b] = new.get(u ^ b, Fraction(0)) + p / len(bits)
                arrived += new.pop(t, Fraction(0))
                mass = new
            return arrived
        return self._absorbed(t).get(s, Fraction(0))

    def _absorbed(self, t: int) -> dict[int, Fraction]:
        """Probability of reaching t from every node: Gauss-Jordan on the nodes from which t can be reached."""
        nexts = {u: self.candidates(u, t) for u in self.nonfaulty if u != t}
        can = {t}
        while True:
            more = {u for u, bits in nexts.items() if u not in can and any(u ^ b in can for b in bits)}
            if not more:
                break
            can |= more
        nodes = sorted(can - {t})
        at = {u: i for i, u in enumerate(nodes)}
        rows = []
        for u in nodes:
            row = [Fraction(0)] * (len(nodes) + 1)
            row[at[u]] += 1
            for b in nexts[u]:
                if u ^ b == t:
                    row[-1] += Fraction(1, len(nexts[u]))
                elif u ^ b in at:
                    row[at[u ^ b]] -= Fraction(1, len(nexts[u]))
            rows.append(row)
        for i in range(len(nodes)):
            pivot = next(j for j in range(i, len(nodes)) if rows[j][i])
            rows[i], rows[pivot] = rows[pivot], rows[i]
            rows[i] = [x / rows[i][i] for x in rows[i]]
            for j in range(len(nodes)):
                if j != i and rows[j][i]:
                    by = rows[j][i]
                    rows[j] = [x - by * y for x, y in zip(rows[j], rows[i], strict=True)]
        return {t: Fraction(1), **{u: rows[at[u]][-1] for u in nodes}}

    # ---- bounds

    def shortest(self, s: int, t: int) -> int | None:
        """Length of a shortest path of good hops; None where there is none."""
        edge, seen, length = {s}, {s}, 0
        while edge:
            if t in edge:
                return length
            edge = {x ^ b for x in edge for b in self.order(2**self.n - 1) if self.good(x, b)} - seen
            seen |= edge
            length += 1
        return None

    def hamming_path_exists(self, s: int, t: int) -> bool:
        """V9: whether some path of H good hops joins s and t."""
        edge = {s}
        for _ in range((s ^ t).bit_count()):
            edge = {x ^ b for x in edge for b in self.order(x ^ t) if self.good(x, b)}
        return t in edge
