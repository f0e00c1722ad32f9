"""Routing one message in a dual-cube (Li, Peng & Chu): PRACTICAL with local information, OFFLINE with complete information.

PRACTICAL (interpretation B7) runs as the compiled kernel that also counts its look-ups.  OFFLINE is the paper's Algorithms
1-3 with Hypercube_Routing (interpretations B2-B6), either as printed or with the repairs that B6 lists.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import check_integer, check_range
from ..networks.dualcube import DualCube, grow_tree
from ..networks.faults import RandomFaults
from ..networks.network import descending_bits
from .paths import ROUTING, Route

#: Largest m for OFFLINE, which searches and counts whole clusters of 2^m nodes.
LARGEST_OFFLINE = 16

#: Names of the kernel's events; an event's number is its index.
_EVENT_KINDS = ("crossed", "stuck", "faulty", "ended", "limited")


@dataclass(frozen=True)
class Event:
    """One decision of PRACTICAL in a dual-cube.

    Parameters
    ----------
    kind : str
        ``crossed``: tree node ``node`` has the nonfaulty cross neighbour ``other``.  ``stuck``: a path inside a cluster
        to ``other`` ends at ``node``, whose tree has no suitable nonfaulty neighbour and cannot grow.  ``faulty``: ``node``, at
        which the cluster should be entered from ``other``, is faulty.  ``ended``: the tree of ``node`` cannot grow, so no exit
        is left; ``other`` is ``node``.  ``limited``: the tree would grow beyond 2^14 nodes.
    node, other : int
        Labels.
    nodes : int
        Number of nodes of the tree at this decision; 0 for ``faulty``, where there is none.
    """

    kind: str
    node: int
    other: int
    nodes: int


@dataclass(frozen=True)
class PracticalRoute(Route):
    """The result of PRACTICAL for one message.

    Attributes
    ----------
    asked : tuple of int
        The labels whose status PRACTICAL looked up, ascending.
    events : tuple of Event
        The first 256 decisions.
    """

    asked: tuple[int, ...] = ()
    events: tuple[Event, ...] = ()

    @property
    def lookups(self) -> int:
        """Number of distinct labels whose status was looked up."""
        return len(self.asked)


def kernel_faults(dual: DualCube) -> tuple[np.uint64, np.uint64, NDArray[np.uint64]]:
    """Return the faults in the form of the kernels: status key, threshold, sorted labels."""
    faults = dual.faulty_nodes
    if isinstance(faults, RandomFaults):
        return np.uint64(faults.key), np.uint64(faults.threshold), np.empty(0, np.uint64)
    return np.uint64(0), np.uint64(0), np.array(sorted(faults), np.uint64)


@ROUTING.register(DualCube, "PRACTICAL", default=True)
def route_practical(dual: DualCube, s: int, t: int) -> PracticalRoute:
    """Run PRACTICAL(s, t) between nonfaulty nodes (interpretation B7)."""
    from ..kernels.dualcube.lookups import route_one
    from ..kernels.dualcube.routing import LIMIT

    nodes, path, asked, rows = route_one(dual.m, *kernel_faults(dual), np.uint64(s), np.uint64(t))
    labels = tuple(asked.tolist())
    events = tuple(Event(_EVENT_KINDS[kind], *rest) for kind, *rest in rows.tolist())
    if nodes > 0:
        return PracticalRoute("delivered", path.tolist(), "", labels, events)
    return PracticalRoute("failed", [], "limit" if nodes == LIMIT else "exhausted", labels, events)


@ROUTING.register(DualCube, "OFFLINE", options={"k": None, "variant": ("as_printed", "corrected")})
def route_offline(dual: DualCube, s: int, t: int, k: int = 0, variant: str = "corrected") -> Route:
    """Run Algorithm 3 between nonfaulty nodes (interpretations B2-B6).  On failure ``reason`` names the step that failed."""
    check_range("m", dual.m, 1, LARGEST_OFFLINE, "for algorithm OFFLINE, which searches whole clusters of 2^m nodes")
    k = check_integer("k", k, 0, dual.m // 2, f"for m={dual.m}")
    try:
        path = _OfflineRouter(dual, k, variant == "corrected").route(s, t)
    except _NoPathError as stop:
        return Route("failed", [], str(stop))
    return Route("delivered", erase_loops(path))


def erase_loops(path: list[int]) -> list[int]:
    """Return the path without its loops: from each node it continues after the node's last occurrence."""
    last = {node: i for i, node in enumerate(path)}
    out, i = [], 0
    while i < len(path):
        out.append(path[i])
        i = last[path[i]] + 1
    return out


class _NoPathError(Exception):
    """A step of Algorithms 1-3 found no path; the message names the step."""


#: A binomial tree: the path from the root to each node, by node, in order of insertion.
_Tree = dict[int, list[int]]


class _OfflineRouter:
    """Algorithms 1-3 on one dual-cube.  A subcube is a node and a mask of dimensions.

    Clusters are routed with ``inner_k`` = max(k - 1, 0) (B3), and a cluster with ``limit`` or more faults is not crossed.
    """

    def __init__(self, dual: DualCube, k: int, corrected: bool) -> None:
        self.dual = dual
        self.k = k
        self.inner_k = max(k - 1, 0)
        self.limit = 2**self.inner_k * (dual.m - self.inner_k)
        self.corrected = corrected
        self.faults = dual.faulty_nodes

    def count(self, node: int, dims: int) -> int:
        """Return the number of faults in a subcube."""
        if isinstance(self.faults, RandomFaults):
            labels = [node & ~dims]
            for d in descending_bits(dims):
                labels += [label | d for label in labels]
            return int(self.faults.among(np.array(labels, np.uint64)).sum())
        return sum((fault ^ node) & ~dims == 0 for fault in self.faults)

    def count_cluster(self, node: int) -> int:
        """Return the number of faults in the cluster of a node."""
        return self.count(node, self.dual.cluster_dims(node))

    # ---- trees (B2)

    def tree(self, root: int, k: int, dims: int) -> _Tree:
        """Return T_k(root), or an empty tree if it cannot be constructed."""
        return grow_tree(self.faults, root, k, dims) or {}

    def tree_for(self, step: str, root: int, k: int, dims: int) -> _Tree:
        """Return T_k(root), or fail in ``step`` if it cannot be constructed."""
        tree = grow_tree(self.faults, root, k, dims)
        if tree is None:
            raise _NoPathError(f"{step}: T_{k}({self.dual.label(root)}) cannot be constructed")
        return tree

    def boundary_paths(self, tree: _Tree, dims: int) -> Iterator[list[int]]:
        """Yield paths to the nonfaulty nodes of N(T), the tree's neighbours in the subcube, by (tree insertion, dimension)."""
        seen = set(tree)
        for u, path in tree.items():
            for d in descending_bits(dims):
                x = u ^ d
                if x not in seen:
                    seen.add(x)
                    if x not in self.faults:
                        yield [*path, x]

    def paths_around(self, tree: _Tree, dims: int) -> Iterator[list[int]]:
        """Yield paths to N(T), and in the corrected variant before them the paths to the tree's own nodes."""
        if self.corrected:
            yield from tree.values()
        yield from self.boundary_paths(tree, dims)

    # ---- Hypercube_Routing (B5)

    def route_in_subcube(self, s: int, t: int, k: int, dims: int) -> list[int]:
        """Return the path of Hypercube_Routing from s to t in the subcube ``dims`` around s."""
        if s == t:
            return [s]
        if k == 0:
            return self.search_subcube(s, t, dims)
        split = next(d for d in descending_bits(dims) if (s ^ t) & d)
        rest = dims ^ split
        if self.count(s, rest) < self.count(t, rest):
            return self.route_into_half(t, s, k, split, dims)[::-1]
        return self.route_into_half(s, t, k, split, dims)

    def route_into_half(self, s: int, t: int, k: int, split: int, dims: int) -> list[int]:
        """Return a path from s by its tree into the half of t, where dimension ``split`` divides the subcube, and on to t."""
        tree = self.tree_for("Hypercube_Routing", s, k, dims)
        for path in [*tree.values(), *self.boundary_paths(tree, dims)]:
            u = path[-1]
            if not (u ^ t) & split:
                return path[:-1] + self.route_in_subcube(u, t, k - 1, dims ^ split)
            if u ^ split not in self.faults:
                return path + self.route_in_subcube(u ^ split, t, k - 1, dims ^ split)
        raise _NoPathError(f"Hypercube_Routing: no way from T_{k}({self.dual.label(s)}) into the other half")

    def search_subcube(self, s: int, t: int, dims: int) -> list[int]:
        """Return a shortest nonfaulty path from s to t in the subcube ``dims`` around s."""
        came_from: dict[int, int] = {s: s}
        queue = deque([s])
        while queue and t not in came_from:
            u = queue.popleft()
            for d in descending_bits(dims):
                if u ^ d not in came_from and u ^ d not in self.faults:
                    came_from[u ^ d] = u
                    queue.append(u ^ d)
        if t not in came_from:
            raise _NoPathError(
                f"Hypercube_Routing: no nonfaulty path {self.dual.label(s)} -> {self.dual.label(t)} in their subcube"
            )
        path = [t]
        while path[-1] != s:
            path.append(came_from[path[-1]])
        return path[::-1]

    # ---- Algorithms 1-3 (B6)

    def first_exit(self, paths: Iterable[list[int]]) -> list[int] | None:
        """Return the first path whose end has a nonfaulty cross neighbour, with this neighbour appended, or None."""
        for path in paths:
            out = self.dual.cross(path[-1])
            if out not in self.faults:
                return [*path, out]
        return None

    def algorithm1(self, s: int) -> list[int]:
        """Algorithm 1: return a path from s to a node u of its cluster and over the cross edge of u."""
        dims = self.dual.cluster_dims(s)
        out = self.first_exit(self.tree_for("Algorithm 1", s, self.k - 1, dims).values())
        if out is None:
            tree = self.tree_for("Algorithm 1", s, self.k, dims)
            out = self.first_exit(self.paths_around(tree, dims))
        if out is None:
            raise _NoPathError(f"Algorithm 1: no u in N(T_{self.k}({self.dual.label(s)})) with u and u' nonfaulty")
        return out

    def entry_paths(self, s: int) -> Iterator[list[int]]:
        """Yield Algorithm 2's candidates, as paths from s to a node u whose virtual edge is tried."""
        dims = self.dual.cluster_dims(s)
        small = self.tree_for("Algorithm 2", s, self.k - 1, dims)
        yield from small.values()
        tree = self.tree(s, self.k, dims)
        if self.corrected:
            yield from tree.values()
            yield from self.boundary_paths(small, dims)
            yield from self.boundary_paths(tree, dims)
            for path in small.values():
                yield from self.other_class_paths(path)
            return
        out = self.first_exit(small.values())
        if out is None:
            yield from self.boundary_paths(tree, dims)
            return
        for back in self.return_paths(out[-1]):
            yield out[:-1] + back

    def return_paths(self, root: int) -> Iterator[list[int]]:
        """Yield paths from a node of the other class through nodes of its tree, or around it, and back over a cross edge."""
        dims = self.dual.cluster_dims(root)
        tree = self.tree(root, self.k - 1, dims)
        for path in self.paths_around(tree, dims):
            back = self.first_exit([path])
            if back is not None:
                yield back

    def other_class_paths(self, head: list[int]) -> Iterator[list[int]]:
        """Yield the last candidates of the corrected variant: into the other class, back, and one link further."""
        out = self.first_exit([head])
        for back in self.return_paths(out[-1]) if out is not None else ():
            for d in descending_bits(self.dual.cluster_dims(back[-1])):
                if back[-1] ^ d not in self.faults:
                    yield [*head, *back, back[-1] ^ d]

    def algorithm2(self, s: int, t: int) -> list[int]:
        """Algorithm 2: return a path s -> u -> v into the cluster of t, over the first routable nonfaulty virtual edge (B4)."""
        dims = self.dual.cluster_dims(s)
        for head in self.entry_paths(s):
            u = head[-1]
            v = (u & dims) | (t & ~dims)
            out, back = self.dual.cross(u), self.dual.cross(v)
            if any(x in self.faults for x in (u, v, out, back)) or self.count_cluster(out) >= self.limit:
                continue
            try:
                return [*head, *self.route_in_subcube(out, back, self.inner_k, self.dual.cluster_dims(out)), v]
            except _NoPathError:
                continue
        raise _NoPathError(
            f"Algorithm 2: no candidate of {self.dual.label(s)} has a nonfaulty virtual edge that can be routed"
        )

    def route_between_clusters(self, s: int, t: int) -> list[int]:
        """Case 1 of Algorithm 3: route from the cluster with more faults to the cluster with fewer, and reverse if needed."""
        if self.count_cluster(s) < self.count_cluster(t):
            return self.route_from_cluster(t, s)[::-1]
        return self.route_from_cluster(s, t)

    def route_from_cluster(self, s: int, t: int) -> list[int]:
        """Return a path from s into the cluster of t by Algorithm 2, and on to t."""
        head = self.algorithm2(s, t)
        return head[:-1] + self.route_in_subcube(head[-1], t, self.inner_k, self.dual.cluster_dims(t))

    def route_between_classes(self, s: int, t: int) -> list[int]:
        """Case 2 of Algorithm 3: s and t are in different classes."""
        head = self.algorithm1(s)
        a = head[-1]
        if self.dual.same_cluster(a, t):
            return head[:-1] + self.route_in_subcube(a, t, self.inner_k, self.dual.cluster_dims(t))
        return head[:-1] + self.route_between_clusters(a, t)

    def route(self, s: int, t: int) -> list[int]:
        """Algorithm 3: return the path from s to t, loops included, or [s] if s is t, whatever faults are near (B6)."""
        if s == t:
            return [s]
        if self.dual.class_of(s) != self.dual.class_of(t):
            if self.corrected and self.count_cluster(t) >= self.limit:
                return self.route_between_classes(t, s)[::-1]
            return self.route_between_classes(s, t)
        if not self.dual.same_cluster(s, t):
            return self.route_between_clusters(s, t)
        if self.count_cluster(s) < self.limit:
            return self.route_in_subcube(s, t, self.inner_k, self.dual.cluster_dims(s))
        out, back = self.algorithm1(s), self.algorithm1(t)
        middle = [out[-1]] if out[-1] == back[-1] else self.route_between_clusters(out[-1], back[-1])
        return out[:-1] + middle[:-1] + back[::-1]
