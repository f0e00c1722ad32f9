"""Algorithms 1 to 3 and Hypercube_Routing as printed, with every choice left open: any tree, any node of it, any path in a cube.

Where none of these leads on, the algorithm fails whatever is chosen: no reading is to blame.  For small clusters and k >= 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from fastcube.networks.dualcube import DualCube
from fastcube.networks.network import bits_down

from .cases import reach


def trees(
    dual: DualCube, root: int, k: int, within: frozenset[int] | None = None, dims: int | None = None
) -> Iterator[frozenset[int]]:
    """Every fault-free T_k(root) in its cluster, or along ``dims``; with ``within``, a T_(k-1)(root), those that extend it."""
    if k == 0:
        yield frozenset([root])
        return
    dims = dual.cluster_dims(root) if dims is None else dims
    for smaller in trees(dual, root, k - 1, dims=dims) if within is None else (within,):
        open_ = [[u ^ d for d in bits_down(dims & ~(u ^ root)) if not dual.is_faulty(u ^ d)] for u in sorted(smaller)]
        for children in itertools.product(*open_):
            if len(set(children) - smaller) == len(smaller):
                yield smaller.union(children)


def exits(dual: DualCube, s: int, k: int) -> set[int]:
    """The cross neighbours to which Algorithm 1 can lead from s."""
    out: set[int] = set()
    for tree in trees(dual, s, k - 1):
        first = {dual.cross(u) for u in tree if not dual.is_faulty(dual.cross(u))}
        for larger in () if first else trees(dual, s, k, tree):
            first |= {dual.cross(x) for x in _beside(dual, larger) if not dual.is_faulty(dual.cross(x))}
        out |= first
    return out


def entries(dual: DualCube, s: int, t: int, k: int) -> set[int]:
    """The nodes of the cluster of t to which Algorithm 2 can lead from s."""
    out: set[int] = set()
    for tree in trees(dual, s, k - 1):
        leaving = [u for u in tree if not dual.is_faulty(dual.cross(u))]
        for u in leaving:
            if has_edge(dual, u, t, k):
                out.add(_at(dual, u, t))
                continue
            for far in trees(dual, dual.cross(u), k - 1):
                ends = (dual.cross(w) for w in _beside(dual, far))
                out |= {_at(dual, u2, t) for u2 in ends if not dual.same_cluster(u2, t) and has_edge(dual, u2, t, k)}
        for larger in () if leaving else trees(dual, s, k, tree):
            out |= {_at(dual, x, t) for x in _beside(dual, larger) if has_edge(dual, x, t, k)}
    return out


def found(dual: DualCube, s: int, t: int, k: int) -> bool:
    """Whether Algorithm 3 can lead from s to t."""
    if dual.class_of(s) != dual.class_of(t):
        return any(joined(dual, u, t) if dual.same_cluster(u, t) else _case_1(dual, u, t, k) for u in exits(dual, s, k))
    if not dual.same_cluster(s, t):
        return _case_1(dual, s, t, k)
    if faults_around(dual, s) < 2 ** (k - 1) * (dual.m - k + 1):
        return joined(dual, s, t)
    ends = itertools.product(exits(dual, s, k), exits(dual, t, k))
    return any(joined(dual, a, b) if dual.same_cluster(a, b) else _case_1(dual, a, b, k) for a, b in ends)


def _case_1(dual: DualCube, s: int, t: int, k: int) -> bool:
    """Different clusters of one class: from s, unless its cluster has fewer faults, which Algorithm 2 does not take."""
    a, b = (s, t) if faults_around(dual, s) >= faults_around(dual, t) else (t, s)
    return any(joined(dual, v, b) for v in entries(dual, a, b, k))


def crossing(dual: DualCube, s: int, t: int, k: int, dims: int) -> bool:
    """Whether Hypercube_Routing can lead from s to t in the cube along ``dims``, cut along any dimension in which they differ."""
    if s == t or k == 0:
        return t in reach(dual, s, dims, goal=t)
    inside = [v for v in dual.faulty_nodes if (v ^ s) & ~dims == 0]  # type: ignore[union-attr]
    for d in bits_down((s ^ t) & dims):
        beside_t = sum((v ^ t) & d == 0 for v in inside)
        ends = [(s, t)] * (2 * beside_t <= len(inside)) + [(t, s)] * (2 * beside_t >= len(inside))
        if any(crossing(dual, x, b, k - 1, dims ^ d) for a, b in ends for x in _over(dual, a, k, dims, d)):
            return True
    return False


def _over(dual: DualCube, s: int, k: int, dims: int, d: int) -> set[int]:
    """The nodes of the half across d to which a T_k(s) leads, or else one and a node next to it."""
    out: set[int] = set()
    for tree in trees(dual, s, k, dims=dims):
        here = {x for x in tree if (x ^ s) & d == 0}
        first = (tree - here) | {x ^ d for x in here if not dual.is_faulty(x ^ d)}
        beside = {u ^ e for u in here for e in bits_down(dims ^ d)} - tree
        out |= first or {x ^ d for x in beside if not dual.is_faulty(x) and not dual.is_faulty(x ^ d)}
    return out


def joined(dual: DualCube, u: int, v: int) -> bool:
    """Whether a fault-free path inside their cluster joins two nonfaulty nodes."""
    return v in reach(dual, u, dual.cluster_dims(u), goal=v)


def _beside(dual: DualCube, tree: frozenset[int]) -> list[int]:
    return [x for x in dual.cluster_boundary(tree) if not dual.is_faulty(x)]


def _at(dual: DualCube, u: int, t: int) -> int:
    """The node of the cluster of t at the position of u."""
    inside = dual.cluster_dims(t)
    return (u & inside) | (t & ~inside)


def has_edge(dual: DualCube, u: int, t: int, k: int) -> bool:
    """Whether the virtual edge at u into the cluster of t is nonfaulty, as section 2 defines it."""
    v = _at(dual, u, t)
    ends = (u, v, dual.cross(u), dual.cross(v))
    return not any(map(dual.is_faulty, ends)) and 2 * faults_around(dual, dual.cross(u)) < 2**k * (dual.m - k + 1)


def faults_around(dual: DualCube, node: int) -> int:
    """Faults in the cluster of a node."""
    return sum(dual.same_cluster(node, fault) for fault in dual.faulty_nodes)  # type: ignore[union-attr]
