"""Paths in dual-cubes and hypercubes with faulty nodes: distances, Algorithm 3, and Hypercube_Routing (interpretation B5).

A hypercube is given by a node, its faults and ``dims``, a mask with one set bit per dimension.  A tree maps each of its nodes to
its parent, and the root to itself.
"""

import itertools
from collections import deque
from collections.abc import Container, Iterator

from fastcube.algorithms.dualcube_offline import route_offline
from fastcube.algorithms.paths import Route
from fastcube.networks.dualcube import DualCube
from fastcube.networks.network import descending_bits

from ...claims import check_agreement
from .binomial_trees import complete_tree


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


def check_route(dual: DualCube, t: int, k: int, variant: str) -> Route:
    """Route from 0 to ``t`` by Algorithm 3, and check that a delivered message follows links and meets no fault."""
    found = route_offline(dual, 0, t, k, variant)
    if found.outcome == "delivered":
        path = found.path
        linked = all(dual.is_link(u, v) for u, v in itertools.pairwise(path))
        sound = path[0] == 0 and path[-1] == t and linked and not any(map(dual.is_faulty, path))
        check_agreement(sound, True, f"whether {path} is a nonfaulty path from 0 to {t} of {dual!r}")
    return found


def hypercube_path(faults: Container[int], s: int, t: int, k: int, dims: int, highest: bool) -> list[int] | None:
    """Return the path of Hypercube_Routing from s to t (interpretation B5), or None if there is no tree or no way on from it.

    The cube is cut along a dimension in which s and t differ.  The path begins in the half with at least half of the faults, so
    that the recursion goes on in the other one, with k - 1.  Every way from the tree of s (``complete_tree``) into this half is
    tried until one can be completed.  For k = 0 the path is a shortest one.
    """
    if s == t:
        return [s]
    if k == 0:
        return shortest_path(faults, s, t, dims)
    cut = max(descending_bits((s ^ t) & dims))
    inside = [v for v in subcube_nodes(s, dims) if v in faults]
    beside_t = sum((v ^ t) & cut == 0 for v in inside)
    if beside_t > len(inside) - beside_t:
        path = hypercube_path(faults, t, s, k, dims, highest)
        return None if path is None else path[::-1]
    tree = complete_tree(faults, s, k, dims, highest)
    for start in () if tree is None else _paths_across(tree, faults, t, cut, dims):
        rest = hypercube_path(faults, start[-1], t, k - 1, dims ^ cut, highest)
        if rest is not None:
            return start + rest[1:]
    return None


def _paths_across(tree: dict[int, int], faults: Container[int], t: int, cut: int, dims: int) -> Iterator[list[int]]:
    """Yield nonfaulty paths from the root of a tree, along it or to a neighbour of it, that end in the half of t."""
    neighbours = ((x, u) for u in tree for x in (u ^ bit for bit in descending_bits(dims)))
    parents = tree | {x: u for x, u in neighbours if x not in tree and x not in faults}
    for x in parents:
        path = path_from_root(parents, x)
        if not (x ^ t) & cut:
            yield path
        elif x ^ cut not in faults:
            yield [*path, x ^ cut]


def path_from_root(parents: dict[int, int], v: int) -> list[int]:
    """Return the path from the root, which is its own parent, to a node."""
    path = [v]
    while parents[path[-1]] != path[-1]:
        path.append(parents[path[-1]])
    return path[::-1]


def subcube_nodes(root: int, dims: int) -> list[int]:
    """Return the nodes of the cube that contains ``root`` and has the dimensions ``dims``."""
    nodes = [root]
    for d in descending_bits(dims):
        nodes += [v ^ d for v in nodes]
    return nodes


def shortest_path(faults: Container[int], s: int, t: int, dims: int) -> list[int] | None:
    """Return a shortest fault-free path from s to t inside the cube of dimensions ``dims``, or None."""
    parents, queue = {s: s}, deque([s])
    while queue and t not in parents:
        u = queue.popleft()
        for v in (u ^ d for d in descending_bits(dims)):
            if v not in parents and v not in faults:
                parents[v] = u
                queue.append(v)
    return path_from_root(parents, t) if t in parents else None
