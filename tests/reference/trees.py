"""Communication trees in plain Python: Leu & Kuo, "A Fault-Tolerant Tree Communication Scheme", sections 2 and 3.1.

Labels are integers, bit 0 the least significant; nothing is fast.  The compiled code follows these interpretations too:

R1   FAULT of a faulty node is 1^n, and each of its neighbours has the matching bit set (section 3.3).
R3   The sink is the first label with FAULT = 0 in ascending order; None when there is none.
R4   COST(j) sums FAULT[u ^ 2^j][k] over u in USED_N and k NOT in USED_D.  Equation (7) prints the complement; Example 2
     needs this.  k = j is counted.
R5   Ties in COST go to the lowest dimension.
R6   d_0 is the remaining dimension, set after the loop; n = 1 never enters it.
R7   The optimum has the fewest faulty links.  Ties: lowest sink, then lexicographically smallest (d_{n-1}, ..., d_0).
R19  A tree link is faulty when its sender's FAULT bit is set, so links of faulty nodes count.
R20  TOP_DOWN: cross the dimension with the fewest faulty links in the subcube (ties: fewest left in the half that is
     kept, then the lowest), keep the half with fewer faulty links (ties: bit 0).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

Link = tuple[int, int]
Tree = tuple[int, tuple[int, ...]]  # (sink, (d_0, ..., d_{n-1}))


def detect(n: int, faulty_nodes: Iterable[int] = (), faulty_links: Iterable[Link] = ()) -> list[int]:
    """FAULT words as Algorithm DETECT leaves them: a test message across each link, and none from or to the faulty (R1)."""
    nodes, links = set(faulty_nodes), {frozenset(link) for link in faulty_links}
    fault = [0] * 2**n
    for curr in range(2**n):
        for i in range(n):
            neib = curr ^ 1 << i
            received = neib not in nodes and curr not in nodes and frozenset((curr, neib)) not in links
            if not received:
                fault[curr] |= 1 << i
    return fault


# ---------------------------------------------------------------- trees (section 2.2)


def role(n: int, sink: int, order: tuple[int, ...], v: int, i: int) -> str:
    """Equations (1) to (3): the action of node v at stage i."""
    r = sink ^ (2**n - 1)
    bit = lambda word, k: word >> k & 1  # noqa: E731
    if any(bit(v, order[j]) == bit(r, order[j]) for j in range(i)):
        return "idle"
    return "active" if bit(v, order[i]) == bit(r, order[i]) else "passive"


def links(n: int, sink: int, order: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """(stage, sender, receiver) of all links of a tree, by stage, then sender."""
    return [(i, v, v ^ 1 << order[i]) for i in range(n) for v in range(2**n) if role(n, sink, order, v, i) == "active"]


def faulty_links(n: int, fault: list[int], sink: int, order: tuple[int, ...]) -> list[Link]:
    """The tree's faulty links as (sender, receiver), by stage, then sender (R19)."""
    return [(u, v) for i, u, v in links(n, sink, order) if fault[u] >> order[i] & 1]


def all_trees(n: int) -> Iterator[Tree]:
    """All n! 2^n trees, by sink, then by (d_{n-1}, ..., d_0)."""
    for sink in range(2**n):
        for backwards in itertools.permutations(range(n)):
            yield sink, backwards[::-1]


def exhaust(n: int, fault: list[int]) -> list[Tree]:
    """Algorithm EXHAUST (Figure 4): every tree without a faulty link."""
    return [tree for tree in all_trees(n) if not faulty_links(n, fault, *tree)]


# ---------------------------------------------------------------- FIND_TREE (Figure 10)


def cost(n: int, fault: list[int], used_n: set[int], used_d: set[int], j: int) -> int:
    """COST(j), with k over the dimensions that are not used (R4)."""
    return sum(fault[u ^ 1 << j] >> k & 1 for u in used_n for k in range(n) if k not in used_d)


def cost_as_printed(fault: list[int], used_n: set[int], used_d: set[int], j: int) -> int:
    """Equation (7) as printed, with k over the used dimensions: 0 for every j in the first iteration."""
    return sum(fault[u ^ 1 << j] >> k & 1 for u in used_n for k in used_d)


def find_tree(n: int, fault: list[int]) -> tuple[int, tuple[int, ...], list[dict[int, int]]] | None:
    """Sink, order (d_0, ..., d_{n-1}) and the COSTs of each iteration; None when no node has FAULT = 0 (R3-R6)."""
    sink = next((v for v in range(2**n) if fault[v] == 0), None)
    if sink is None:
        return None
    used_n, used_d, order, costs = {sink}, set(), [0] * n, []
    for i in range(n - 1, 0, -1):
        costs.append({j: cost(n, fault, used_n, used_d, j) for j in range(n) if j not in used_d})
        order[i] = min(costs[-1], key=lambda j: (costs[-1][j], j))
        used_d.add(order[i])
        used_n |= {u ^ 1 << order[i] for u in used_n}
    (order[0],) = set(range(n)) - used_d
    return sink, tuple(order), costs


def operations(n: int) -> int:
    """The iterations that the proof of Theorem 4 counts, one by one: the left side of equation (8)."""
    count = 0
    for i in range(n - 1, 0, -1):
        used_n = 2 ** (n - i - 1)
        for _j in range(i + 1):
            count += used_n * (i + 1)  # COST(j)
        count += used_n  # updating USED_N
    return count


# ---------------------------------------------------------------- the optimum


def best_order(n: int, fault: list[int], sink: int) -> tuple[int, tuple[int, ...]]:
    """Fewest faulty links of a tree with this sink, and its order: a shortest path over sets of used dimensions (R7).

    tail[S] = min over j not in S of c(S, j) + tail[S + j], where c counts the faulty dimension-j links that leave the
    subcube of the sink along S.  O(n 2^n) for the sink, O(n 4^n) for all.
    """
    full = 2**n - 1
    inside = {S: [sink ^ x for x in range(2**n) if x & ~S == 0] for S in range(2**n)}
    tail = {full: (0, ())}
    for S in range(full - 1, -1, -1):
        tail[S] = min(
            (sum(fault[u] >> j & 1 for u in inside[S]) + tail[S | 1 << j][0], (j, *tail[S | 1 << j][1]))
            for j in range(n)
            if not S >> j & 1
        )
    faults, backwards = tail[0]
    return faults, backwards[::-1]


def optimal_tree(n: int, fault: list[int], any_sink: bool = False) -> tuple[int, int, tuple[int, ...]] | None:
    """Faulty links, sink and order of the optimum over sinks with FAULT = 0, or over all; None without a sink (R7)."""
    sinks = [v for v in range(2**n) if any_sink or fault[v] == 0]
    best = min(((best_order(n, fault, v)[0], v) for v in sinks), default=None)
    return None if best is None else (*best, best_order(n, fault, best[1])[1])


def top_down(n: int, fault: list[int]) -> Tree:
    """Sink and order by the rule R20."""

    def faulty(nodes: set[int], k: int) -> int:
        return sum(v ^ 1 << k in nodes and fault[v] >> k & 1 for v in nodes) // 2

    nodes, rest, order = set(range(2**n)), list(range(n)), []
    while rest:
        choices = []
        for j in rest:
            halves = [{v for v in nodes if v >> j & 1 == b} for b in (0, 1)]
            left = [sum(faulty(half, k) for k in rest) for half in halves]
            keep = 0 if left[0] <= left[1] else 1
            choices.append(((faulty(nodes, j), left[keep], j), halves[keep]))
        (_, _, j), nodes = min(choices, key=lambda choice: choice[0])
        rest.remove(j)
        order.append(j)
    return nodes.pop(), tuple(order)
