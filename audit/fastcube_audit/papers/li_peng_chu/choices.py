"""The printed Algorithms 1 to 3 and Hypercube_Routing, with all possible choices of trees, nodes and paths tried.

An algorithm that reaches the target by none of them fails under every interpretation.  For small clusters and k >= 1.
"""

import itertools
from collections.abc import Iterator

from fastcube.networks.dualcube import DualCube
from fastcube.networks.network import descending_bits

from .hypercube_routing import reachable_distances


def trees(
    dual: DualCube, root: int, k: int, within: frozenset[int] | None = None, dims: int | None = None
) -> Iterator[frozenset[int]]:
    """Yield the nodes of every fault-free T_k(root) in its cluster or along ``dims``; with ``within``, only extensions of it."""
    if k == 0:
        yield frozenset([root])
        return
    dims = dual.cluster_dims(root) if dims is None else dims
    for smaller in trees(dual, root, k - 1, dims=dims) if within is None else (within,):
        possible = [
            [u ^ d for d in descending_bits(dims & ~(u ^ root)) if not dual.is_faulty(u ^ d)] for u in sorted(smaller)
        ]
        for children in itertools.product(*possible):
            if len(set(children) - smaller) == len(smaller):
                yield smaller.union(children)


def exit_nodes(dual: DualCube, s: int, k: int) -> set[int]:
    """Return the nodes of the other class that Algorithm 1 can reach from s over a cross edge."""
    out: set[int] = set()
    for tree in trees(dual, s, k - 1):
        first = {dual.cross(u) for u in tree if not dual.is_faulty(dual.cross(u))}
        for larger in () if first else trees(dual, s, k, tree):
            first |= {dual.cross(x) for x in _nonfaulty_boundary(dual, larger) if not dual.is_faulty(dual.cross(x))}
        out |= first
    return out


def entry_nodes(dual: DualCube, s: int, t: int, k: int) -> set[int]:
    """Return the nodes of the cluster of t that Algorithm 2 can reach from s."""
    out: set[int] = set()
    for tree in trees(dual, s, k - 1):
        leaving = [u for u in tree if not dual.is_faulty(dual.cross(u))]
        for u in leaving:
            if has_edge(dual, u, t, k):
                out.add(_counterpart(dual, u, t))
                continue
            for far in trees(dual, dual.cross(u), k - 1):
                ends = (dual.cross(w) for w in _nonfaulty_boundary(dual, far))
                out |= {
                    _counterpart(dual, u2, t)
                    for u2 in ends
                    if not dual.same_cluster(u2, t) and has_edge(dual, u2, t, k)
                }
        for larger in () if leaving else trees(dual, s, k, tree):
            out |= {_counterpart(dual, x, t) for x in _nonfaulty_boundary(dual, larger) if has_edge(dual, x, t, k)}
    return out


def is_route_possible(dual: DualCube, s: int, t: int, k: int) -> bool:
    """Return whether Algorithm 3 can reach t from s."""
    if dual.class_of(s) != dual.class_of(t):
        return any(
            is_joined_in_cluster(dual, u, t) if dual.same_cluster(u, t) else _is_case_1_possible(dual, u, t, k)
            for u in exit_nodes(dual, s, k)
        )
    if not dual.same_cluster(s, t):
        return _is_case_1_possible(dual, s, t, k)
    if faults_around(dual, s) < 2 ** (k - 1) * (dual.m - k + 1):
        return is_joined_in_cluster(dual, s, t)
    ends = itertools.product(exit_nodes(dual, s, k), exit_nodes(dual, t, k))
    return any(
        is_joined_in_cluster(dual, a, b) if dual.same_cluster(a, b) else _is_case_1_possible(dual, a, b, k)
        for a, b in ends
    )


def _is_case_1_possible(dual: DualCube, s: int, t: int, k: int) -> bool:
    """Return whether Algorithm 2 joins two clusters of one class; it starts in the cluster with more faults."""
    a, b = (s, t) if faults_around(dual, s) >= faults_around(dual, t) else (t, s)
    return any(is_joined_in_cluster(dual, v, b) for v in entry_nodes(dual, a, b, k))


def is_crossing_possible(dual: DualCube, s: int, t: int, k: int, dims: int) -> bool:
    """Return whether Hypercube_Routing can reach t from s in the cube along ``dims``, whichever differing dimension is cut."""
    if s == t or k == 0:
        return t in reachable_distances(dual, s, dims, goal=t)
    inside = [v for v in dual.faulty_nodes if (v ^ s) & ~dims == 0]  # type: ignore[union-attr]
    for d in descending_bits((s ^ t) & dims):
        beside_t = sum((v ^ t) & d == 0 for v in inside)
        ends = [(s, t)] * (2 * beside_t <= len(inside)) + [(t, s)] * (2 * beside_t >= len(inside))
        if any(
            is_crossing_possible(dual, x, b, k - 1, dims ^ d)
            for a, b in ends
            for x in _nodes_across(dual, a, k, dims, d)
        ):
            return True
    return False


def _nodes_across(dual: DualCube, s: int, k: int, dims: int, d: int) -> set[int]:
    """Return the nodes of the other half of the cube, cut along d, that some T_k(s) reaches, perhaps over its neighbour."""
    out: set[int] = set()
    for tree in trees(dual, s, k, dims=dims):
        here = {x for x in tree if (x ^ s) & d == 0}
        first = (tree - here) | {x ^ d for x in here if not dual.is_faulty(x ^ d)}
        beside = {u ^ e for u in here for e in descending_bits(dims ^ d)} - tree
        out |= first or {x ^ d for x in beside if not dual.is_faulty(x) and not dual.is_faulty(x ^ d)}
    return out


def is_joined_in_cluster(dual: DualCube, u: int, v: int) -> bool:
    """Return whether a fault-free path inside their cluster joins two nonfaulty nodes."""
    return v in reachable_distances(dual, u, dual.cluster_dims(u), goal=v)


def _nonfaulty_boundary(dual: DualCube, tree: frozenset[int]) -> list[int]:
    return [x for x in dual.cluster_boundary(tree) if not dual.is_faulty(x)]


def _counterpart(dual: DualCube, u: int, t: int) -> int:
    """Return the node of the cluster of t that has the same position as u."""
    inside = dual.cluster_dims(t)
    return (u & inside) | (t & ~inside)


def has_edge(dual: DualCube, u: int, t: int, k: int) -> bool:
    """Return whether the virtual edge from u into the cluster of t is nonfaulty by the definition of section 2."""
    v = _counterpart(dual, u, t)
    ends = (u, v, dual.cross(u), dual.cross(v))
    return not any(map(dual.is_faulty, ends)) and 2 * faults_around(dual, dual.cross(u)) < 2**k * (dual.m - k + 1)


def faults_around(dual: DualCube, node: int) -> int:
    """Return the number of faults in the cluster of a node."""
    return sum(dual.same_cluster(node, fault) for fault in dual.faulty_nodes)  # type: ignore[union-attr]
