"""Test cases for the claims: small dual-cubes with all fault sets, large dual-cubes at random, and minimal fault sets of trees.

Every dual-cube has an automorphism that moves any given node to label 0 and keeps the order of dimensions, so all cases have s =
0.  Random fault sets lie close to s and t, and the cube is just k-safe: every node has at least k nonfaulty neighbours.
"""

import itertools
import random
from collections import Counter, deque
from collections.abc import Callable, Collection, Container, Iterator

from fastcube.algorithms.dualcube import route_offline
from fastcube.algorithms.paths import Route
from fastcube.networks.dualcube import DualCube
from fastcube.networks.network import descending_bits

from ...claims import check_agreement

Case = tuple[DualCube, int]

#: Number of random cases for each (m, k).
RANDOM_CASES = 300

#: The first of the smallest fault sets of Q_8 that leave it 4-safe but stop the greedy tree T_4(0) (interpretation B2).
STOP_8_4 = (32, 64, 129, 130, 132, 136)

#: A smallest fault set of Q_10 that stops T_4(0) in the same way.
STOP_10_4 = (128, 256, 513, 514, 516, 520, 528, 544)


def fault_limit(m: int, k: int) -> int:
    """Return the paper's bound 2^k (m - k + 1), below which the number of faults must stay."""
    return (m - k + 1) << k


def all_cases(m: int, k: int, most: int | None = None) -> Iterator[DualCube]:
    """Yield all k-safe DC(m) with node 0 nonfaulty, smallest fault sets first; ``most`` replaces the paper's bound on faults."""
    for size in range(fault_limit(m, k) if most is None else most + 1):
        for faults in itertools.combinations(range(1, 2 ** (2 * m + 1)), size):
            dual = DualCube(m, faults)
            if dual.is_safe(k):
                yield dual


def random_cases(m: int, k: int, seed: int, cases: int = RANDOM_CASES, always: Collection[int] = ()) -> Iterator[Case]:
    """Yield random pairs of a k-safe DC(m) and a nonfaulty node t, with faults close to 0 and t, mostly as many as allowed.

    The faults ``always``, which must leave DC(m) k-safe, are in every case.
    """
    rng = random.Random(f"{m} {k} {seed}")
    plain = DualCube(m)
    bits = 2 * m + 1
    for _ in range(cases):
        t = 0
        while t in (0, *always):
            t = rng.choice([rng.randrange(1, 2**bits), 1 << rng.randrange(bits), rng.randrange(1, 2**m)])
        near: list[int] = []
        for end in (0, t):
            first = plain.neighbours(end)
            second = [v for u in first for v in plain.neighbours(u)]
            third = [v for u in rng.sample(second, min(6, len(second))) for v in plain.neighbours(u)]
            near += list(first) * rng.randrange(3) + second * rng.randrange(1, 3) + third
        limit = fault_limit(m, k) - 1
        wanted = limit if rng.random() < 0.7 else rng.randrange(limit + 1)
        faults = set(always)
        beside = Counter(v for x in always for v in plain.neighbours(x))
        for _ in range(6 * wanted + 20):
            x = rng.choice(near) if rng.random() < 0.9 else rng.randrange(2**bits)
            around = plain.neighbours(x)
            if len(faults) >= wanted or x in (0, t) or x in faults or any(m - beside[v] < k for v in around):
                continue
            faults.add(x)
            beside.update(around)
        yield DualCube(m, faults), t


def check_route(dual: DualCube, t: int, k: int, variant: str) -> Route:
    """Route from 0 to ``t`` by Algorithm 3, and check that a delivered message follows links and meets no fault."""
    found = route_offline(dual, 0, t, k, variant)
    if found.outcome == "delivered":
        path = found.path
        linked = all(dual.is_link(u, v) for u, v in itertools.pairwise(path))
        whole = path[0] == 0 and path[-1] == t and linked and not any(map(dual.is_faulty, path))
        check_agreement(whole, True, f"whether {path} is a nonfaulty path from 0 to {t} of {dual!r}")
    return found


def nonfaulty_others(dual: DualCube) -> Iterator[int]:
    """Yield the nonfaulty nodes except node 0, in increasing order."""
    return (t for t in range(1, 2**dual.bits) if not dual.is_faulty(t))


def reachable_distances(
    dual: DualCube, start: int, dims: int, deepest: int | None = None, goal: int | None = None
) -> dict[int, int]:
    """Return the distance from ``start`` of nodes that nonfaulty paths along ``dims`` reach, up to ``deepest`` or ``goal``."""
    seen, queue = {start: 0}, deque([start])
    while queue and goal not in seen:
        u = queue.popleft()
        if seen[u] == deepest:
            continue
        for v in dual.neighbours(u):
            if (u ^ v) & dims and v not in seen and not dual.is_faulty(v):
                seen[v] = seen[u] + 1
                queue.append(v)
    return seen


def tree_faults(
    n: int, k: int, bad: Callable[[list[int] | None, frozenset[int]], bool], most: int | None = None
) -> list[int] | None:
    """Return a smallest fault set, of at most ``most`` nodes, for which the greedy tree T_k(0) in Q_n is ``bad``, or None.

    ``bad`` gets the tree of interpretation B2 in insertion order (None when it cannot be completed) and the faults.  A fault
    matters only if the growing tree meets it, so faults are added in the order in which the tree meets them.
    """
    found: list[list[int]] = []

    def search(faults: frozenset[int], start: int) -> None:
        tree, whole = grow_tree(faults, 0, k, 2**n - 1, highest=True)
        order = list(tree)
        if bad(order if whole else None, faults):
            found.append(sorted(faults))
        elif most is None or len(faults) < most:
            for j in range(start, len(order)):
                search(faults | {order[j]}, j)

    search(frozenset(), 1)
    return min(found, key=lambda f: (len(f), f), default=None)


def grow_tree(faults: Container[int], root: int, k: int, dims: int, highest: bool) -> tuple[dict[int, int], bool]:
    """Return a fault-free T_k(root) as a map node -> parent in insertion order, and whether it is complete.

    In each of k stages every node takes its highest or lowest free dimension; a node without one stops the tree.  With
    ``highest`` this is the tree of interpretation B2; the paper leaves the choice open.
    """
    tree = {root: root}
    for _ in range(k):
        for u in list(tree):
            free = (d for d in descending_bits(dims & ~(u ^ root)) if u ^ d not in tree and u ^ d not in faults)
            d = next(free, 0) if highest else min(free, default=0)
            if not d:
                return tree, False
            tree[u ^ d] = u
    return tree, True


def complete_tree(faults: Container[int], root: int, k: int, dims: int, highest: bool) -> dict[int, int] | None:
    """Return the tree of ``grow_tree``, or None where it is not complete."""
    tree, whole = grow_tree(faults, root, k, dims, highest)
    return tree if whole else None


def hypercube_path(faults: Container[int], s: int, t: int, k: int, dims: int, highest: bool) -> list[int] | None:
    """Return the path of Hypercube_Routing from s to t (interpretation B5), or None where one of its steps finds nothing.

    ``dims`` are the dimensions of the cube, and ``complete_tree`` gives the trees.  For k = 0 the path is a shortest one.
    """
    if s == t:
        return [s]
    if k == 0:
        return shortest_path(faults, s, t, dims)
    d = max(descending_bits((s ^ t) & dims))
    inside = [v for v in nodes_along(s, dims) if v in faults]
    if 2 * sum((v ^ t) & d == 0 for v in inside) > len(inside):
        path = (
            hypercube_path(faults, t, s, k, dims, highest)
            if 2 * sum((v ^ s) & d == 0 for v in inside) <= len(inside)
            else None
        )
        return None if path is None else path[::-1]
    tree = complete_tree(faults, s, k, dims, highest)
    if tree is None:
        return None
    beside = {x: u for u in tree for x in (u ^ b for b in descending_bits(dims)) if x not in tree and x not in faults}
    for x, u in (*tree.items(), *beside.items()):
        if not (x ^ t) & d or x ^ d not in faults:
            way = [x] if x in tree else [x, u]
            while way[-1] != s:
                way.append(tree[way[-1]])
            way = way[::-1] + ([x ^ d] if (x ^ t) & d else [])
            rest = hypercube_path(faults, way[-1], t, k - 1, dims ^ d, highest)
            if rest is not None:
                return way + rest[1:]
    return None


def nodes_along(root: int, dims: int) -> list[int]:
    """Return the nodes of the cube that contains ``root`` and has the dimensions ``dims``."""
    nodes = [root]
    for d in descending_bits(dims):
        nodes += [v ^ d for v in nodes]
    return nodes


def shortest_path(faults: Container[int], s: int, t: int, dims: int) -> list[int] | None:
    """Return a shortest fault-free path from s to t inside the cube of dimensions ``dims``, or None."""
    before, queue = {s: s}, deque([s])
    while queue and t not in before:
        u = queue.popleft()
        for v in (u ^ d for d in descending_bits(dims)):
            if v not in before and v not in faults:
                before[v] = u
                queue.append(v)
    if t not in before:
        return None
    path = [t]
    while path[-1] != s:
        path.append(before[path[-1]])
    return path[::-1]


def is_k_safe(n: int, k: int, faults: frozenset[int]) -> bool:
    """Return whether Q_n with these faults is k-safe: every node has at least k nonfaulty neighbours."""
    beside = Counter(v ^ 1 << i for v in faults for i in range(n))
    return n - max(beside.values(), default=0) >= k


def saturated_faults(n: int, k: int, seed: int) -> frozenset[int]:
    """Return random faults of Q_n without node 0, such that Q_n is k-safe and no longer so with any further fault."""
    beside: Counter[int] = Counter()
    faults = []
    for x in random.Random(f"{n} {k} {seed}").sample(range(1, 2**n), 2**n - 1):
        around = [x ^ 1 << i for i in range(n)]
        if all(n - beside[v] > k for v in around):
            faults.append(x)
            beside.update(around)
    return frozenset(faults)


def build_tree_by_halves(faults: Container[int], root: int, k: int, dims: int) -> dict[int, int]:
    """Return a fault-free T_k(root) in a k-safe cube of dimensions ``dims``, as a map node -> parent; the root is its own parent.

    The cube is cut along the dimension of a nonfaulty neighbour of the root.  Both halves are (k-1)-safe, and T_k consists of a
    T_(k-1) of either end.  ``docs/proofs.md`` shows that this is the paper's tree.
    """
    if k == 0:
        return {root: root}
    d = next(d for d in descending_bits(dims) if root ^ d not in faults)
    far = build_tree_by_halves(faults, root ^ d, k - 1, dims ^ d)
    return {**build_tree_by_halves(faults, root, k - 1, dims ^ d), **far, root ^ d: root}
