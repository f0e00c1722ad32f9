"""Edge-disjoint spanning trees in plain Python: Sui, Wang & Lee, sections II-IV, and Edmonds' number of any fault set.

A tree is a list of parents, -1 at the root and -2 at a faulty node; a tree's links are directed away from its root.
Nothing is fast.  Readings S1-S11 (``docs/readings/sui-wang-lee.md``) are kept by the compiled code too.

Run as a program it prints the joint counts of Edmonds' number and the smallest degree over all small fault sets,
which ``data/spanning-trees.json`` holds.
"""

from __future__ import annotations

import functools
import heapq
import itertools
import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator

Tree = list[int]
Link = tuple[int, int]

ROOT, ABSENT = -1, -2


# ---------------------------------------------------------------- the trees


@functools.cache  # who changes a tree copies it
def rooted(n: int, i: int) -> Tree:
    """Johnsson and Ho's tree i of Q_n, rooted at 0 (S1)."""
    order = [(i + k) % n for k in range(n)]
    tree = [ROOT] * 2**n
    for v in range(1, 2**n):
        if v >> i & 1:
            last = [k for k in order if v >> k & 1][-1]
            tree[v] = v ^ 1 << last
        else:
            tree[v] = v ^ 1 << i
    return tree


def pivoted(n: int, i: int) -> Tree:
    """The same tree rooted at 2^i, with 0 as its child (S2)."""
    tree = list(rooted(n, i))
    tree[0], tree[1 << i] = 1 << i, ROOT
    return tree


@functools.cache
def light(m: int, d: int) -> list[Tree]:
    """The m - 1 light trees of Q'_m whose faulty node is 1^d 0^(m-d), by Algorithm A (S3, S5, S7, S9).

    Tree i is rooted at s_i = 2^i, where s = 0.
    """
    if m == 1:
        return []
    top = 1 << m - 1  # the corresponding source node s' of the half with the faulty node
    fault = (1 << m) - (1 << m - d)
    trees = []
    if d == 1:  # case B: the faulty node is s'
        for i in range(m - 1):
            low = pivoted(m - 1, i)  # step 3
            high = [ABSENT if v == 0 else top + parent for v, parent in enumerate(pivoted(m - 1, i))]  # step 2
            high[1 << i] = 1 << i  # step 4: append ST'_i to ST_i
            trees.append(low + high)
        return trees
    inner = light(m - 1, d - 1)
    for i in range(m - 2):  # case A, steps 2 and 3
        high = [top + parent if parent >= 0 else parent for parent in inner[i]]
        high[1 << i] = 1 << i
        trees.append(pivoted(m - 1, i) + high)
    last = pivoted(m - 1, m - 2)  # step 4
    for v in range(top):
        if top + v == fault:
            last.append(ABSENT)
        elif v in [1 << i for i in range(m - 2)]:
            last.append(top)  # step 5: s'_i hangs from s'
        else:
            last.append(v)  # step 6, s' included
    trees.append(last)
    return trees


def positions(n: int, s: int, f: int) -> list[int]:
    """The dimension that S4 puts at each position, from position 0: f's bits on top, highest first, then the rest."""
    bits = [k for k in reversed(range(n)) if (s ^ f) >> k & 1]
    rest = [k for k in reversed(range(n)) if not (s ^ f) >> k & 1]
    return (bits + rest)[::-1]


def edge_disjoint_spanning_trees(n: int, s: int, f: int | None = None, pivots: bool = False) -> list[Tree]:
    """The trees around source s with faulty node f: n rooted or pivoted trees without it, n - 1 light trees with it."""
    if f is None:
        return [[v if v < 0 else v ^ s for v in _moved((pivoted if pivots else rooted)(n, i), s)] for i in range(n)]
    dims = positions(n, s, f)

    back = [s ^ sum(1 << dims[p] for p in range(n) if label >> p & 1) for label in range(2**n)]
    out = []
    for i, tree in enumerate(light(n, (s ^ f).bit_count())):
        moved = [ABSENT] * 2**n
        for v, parent in enumerate(tree):
            moved[back[v]] = back[parent] if parent >= 0 else parent
        if not pivots:
            moved[s], moved[back[1 << i]] = ROOT, s
        out.append(moved)
    return out


def _moved(tree: Tree, s: int) -> Tree:
    """Entries of nodes v ^ s at v."""
    return [tree[v ^ s] for v in range(len(tree))]


def binomial(n: int, s: int) -> Tree:
    """The binomial tree: the parent of v clears the highest set bit of v ^ s (S10)."""
    return [ROOT if v == s else v ^ 1 << (v ^ s).bit_length() - 1 for v in range(2**n)]


def breadth_first(n: int, s: int, faulty: Iterable[int] = (), links: Iterable[Link] = ()) -> Tree | None:
    """A shortest-path tree, each parent the lowest-numbered neighbour one step nearer to s; None if a node is cut off."""
    graph = nonfaulty_graph(n, faulty, links)
    far = distances(graph, s)
    if len(far) < len(graph):
        return None
    tree = [ABSENT] * 2**n
    for v in graph:
        tree[v] = ROOT if v == s else min(u for u in graph[v] if far[u] == far[v] - 1)
    return tree


def depth(tree: Tree, v: int) -> int:
    """Number of links from the root to a node; raises when there is no such path."""
    steps = 0
    while tree[v] != ROOT:
        v = tree[v]
        steps += 1
        if v < 0 or steps >= len(tree):
            raise ValueError("no path from the root")
    return steps


def height(tree: Tree) -> int:
    """The greatest depth."""
    return max(depth(tree, v) for v in range(len(tree)) if tree[v] != ABSENT)


def arcs(tree: Tree) -> list[Link]:
    """The tree's links as (tail, head)."""
    return [(parent, v) for v, parent in enumerate(tree) if parent >= 0]


# ---------------------------------------------------------------- broadcasting


def deliveries(trees: list[Tree], s: int, packets: int) -> dict[tuple[int, int], int]:
    """The step in which (node, packet) arrives, by simulation of every link in every step (S8, S10); 0 at the source.

    Packet p goes down tree p mod k.  A directed link carries one packet a step that its tail held before the step,
    in order of arrival, then of number.
    """
    children: list[dict[int, list[int]]] = []
    for tree in trees:
        below: dict[int, list[int]] = {}
        for tail, head in arcs(tree):
            below.setdefault(tail, []).append(head)
        children.append(below)
    arrived: dict[tuple[int, int], int] = {}
    waiting: dict[Link, list[tuple[int, int]]] = {}  # for each directed link a heap of (arrival, packet)

    def arrive(v: int, packet: int, step: int) -> None:
        arrived[v, packet] = step
        for child in children[packet % len(trees)].get(v, []):
            heapq.heappush(waiting.setdefault((v, child), []), (step, packet))

    for packet in range(packets):
        arrive(s, packet, 0)
    step = 0
    while waiting:
        step += 1
        carried = [(head, heapq.heappop(queue)[1]) for (_, head), queue in waiting.items()]
        waiting = {link: queue for link, queue in waiting.items() if queue}
        for head, packet in carried:
            arrive(head, packet, step)
    return arrived


def steps(trees: list[Tree], s: int, packets: int) -> int:
    """Steps until every nonfaulty node holds every packet."""
    arrived = deliveries(trees, s, packets)
    nodes = [v for v, parent in enumerate(trees[0]) if parent != ABSENT]
    assert len(arrived) == len(nodes) * packets
    return max(arrived.values())


def fewest_steps(n: int, s: int, packets: int, faulty: Iterable[int] = ()) -> int:
    """A number of steps that no schedule can beat.

    The last packet to leave the source leaves in step ceil(M / deg s) or later and has as far to go as any; the
    first to reach v comes in step dist(s, v) or later, and v takes deg v a step.
    """
    graph = nonfaulty_graph(n, faulty)
    if len(graph) == 1:
        return 0
    far = distances(graph, s)
    most = -(-packets // len(graph[s])) + max(far.values()) - 1
    return max([most, *(far[v] - 1 - (-packets // len(graph[v])) for v in graph if v != s)])


# ---------------------------------------------------------------- Edmonds' number


def nonfaulty_graph(n: int, faulty: Iterable[int] = (), links: Iterable[Link] = ()) -> dict[int, list[int]]:
    """Neighbours over nonfaulty links of every nonfaulty node (S11)."""
    out, dead = set(faulty), {frozenset(link) for link in links}
    nodes = [v for v in range(2**n) if v not in out]
    return {
        v: [v ^ 1 << k for k in range(n) if v ^ 1 << k not in out and frozenset((v, v ^ 1 << k)) not in dead]
        for v in nodes
    }


def distances(graph: dict[int, list[int]], s: int) -> dict[int, int]:
    """Length of a shortest path to each node that has one."""
    far, queue = {s: 0}, deque([s])
    while queue:
        v = queue.popleft()
        for w in graph[v]:
            if w not in far:
                far[w] = far[v] + 1
                queue.append(w)
    return far


def min_degree(graph: dict[int, list[int]]) -> int:
    """The fewest nonfaulty links at a nonfaulty node."""
    return min(len(near) for near in graph.values())


def flow(graph: dict[int, list[int]], s: int, t: int, limit: int) -> int:
    """The most link-disjoint paths from s to t, or ``limit`` when there are as many: shortest augmenting paths."""
    used: set[Link] = set()
    for value in range(limit):
        before, queue = {s: s}, deque([s])
        while queue and t not in before:
            v = queue.popleft()
            for w in graph[v]:
                if w not in before and (v, w) not in used:
                    before[w] = v
                    queue.append(w)
        if t not in before:
            return value
        v = t
        while v != s:
            u = before[v]
            if (v, u) in used:
                used.remove((v, u))
            else:
                used.add((u, v))
            v = u
    return limit


def edge_connectivity(graph: dict[int, list[int]]) -> int:
    """Edmonds' number: the fewest links whose removal separates two nodes.

    Flows from one node to every other, each stopped at the smallest so far.
    """
    first, *others = graph
    smallest = min_degree(graph)
    for t in others:
        smallest = min(smallest, flow(graph, first, t, smallest))
    return smallest


def number(n: int, faulty: Iterable[int] = (), links: Iterable[Link] = ()) -> tuple[int, int]:
    """(Edmonds' number, smallest degree) of a fault set."""
    graph = nonfaulty_graph(n, faulty, links)
    return edge_connectivity(graph), min_degree(graph)


# ---------------------------------------------------------------- all small fault sets


def _symmetries(n: int) -> list[list[int]]:
    """Images of the nodes under every permutation of the dimensions."""
    return [
        [sum(1 << p[k] for k in range(n) if v >> k & 1) for v in range(2**n)] for p in itertools.permutations(range(n))
    ]


def _orbits(n: int, items: list[frozenset[int]], most: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """One set of at most ``most`` items (nodes, or links by their two ends) of each orbit, and the orbit's size."""
    index = {item: i for i, item in enumerate(items)}
    images = [
        [index[frozenset(image[v] ^ x for v in item)] for item in items]
        for image in _symmetries(n)
        for x in range(2**n)
    ]
    for size in range(most + 1):
        seen: set[int] = set()
        for chosen in itertools.combinations(range(len(items)), size):
            if sum(1 << i for i in chosen) in seen:
                continue
            orbit = {sum(1 << image[i] for i in chosen) for image in images}
            seen |= orbit
            yield chosen, len(orbit)


def joint_counts(n: int, kind: str, most: int) -> list[dict[str, int]]:
    """For each number of faults 0 .. ``most``: how many fault sets have each "lambda,delta"."""
    if kind == "nodes":
        items = [frozenset([v]) for v in range(2**n)]
    else:
        items = [frozenset((v, v ^ 1 << k)) for v in range(2**n) for k in range(n) if not v >> k & 1]
    counts: list[Counter[str]] = [Counter() for _ in range(most + 1)]
    for chosen, many in _orbits(n, items, most):
        faults = [tuple(items[i]) for i in chosen]
        pair = number(n, [v for (v,) in faults]) if kind == "nodes" else number(n, (), faults)
        counts[len(chosen)]["{},{}".format(*pair)] += many
    return [dict(sorted(sets.items())) for sets in counts]


#: (n, kind, most faults) of the table.
RANGES = [
    *((n, "nodes", 2**n - 2) for n in (1, 2, 3, 4)),
    (5, "nodes", 5),
    *((n, "links", n * 2 ** (n - 1)) for n in (1, 2, 3)),
    (4, "links", 4),
]


def main() -> None:
    """Print the table as JSON, one number of faults a line."""
    about = {
        "source": "plain-Python enumeration, one fault set of each orbit of the cube's symmetries",
        "command": "python tests/reference/spanning.py > data/spanning-trees.json",
        "columns": "for 0, 1, 2, ... faulty nodes or links, how many fault sets have 'Edmonds' number,smallest degree'",
    }
    table = {f"n={n} {kind}": joint_counts(n, kind, most) for n, kind, most in RANGES}
    rows = [f'  "{name}": {json.dumps(text)}' for name, text in about.items()]
    for name, sizes in table.items():
        rows.append(f'  "{name}": [\n' + ",\n".join(f"    {json.dumps(sets)}" for sets in sizes) + "\n  ]")
    print("{\n" + ",\n".join(rows) + "\n}")


if __name__ == "__main__":
    main()
