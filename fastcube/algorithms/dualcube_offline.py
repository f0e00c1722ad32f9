"""OFFLINE: routing one message in a dual-cube with complete information (Li, Peng & Chu, Algorithms 1-3; interpretations B2-B6).

The variant ``as_printed`` follows the paper, and ``corrected`` has the repairs that B6 lists.  Terms:

*cluster*: an m-cube of the dual-cube.  It belongs to one of two classes, and the *cross edge* of a node u leads to its *cross
neighbour* u', in a cluster of the other class.
*T_k(s)*: a binomial tree of 2^k nonfaulty nodes around s inside its cluster (B2).  *N(T)*: the neighbours of a tree T there.
*virtual edge* from u to v, at equal positions in two clusters of one class: the path u, u', ..., v', v through the cluster of u'.

A subcube is given by one of its nodes and a mask of its dimensions, ``dims``.  A path is a list of nodes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

import numpy as np

from ..errors import check_integer, check_range
from ..networks.dualcube import DualCube, grow_tree
from ..networks.faults import RandomFaults
from ..networks.network import descending_bits
from .paths import ROUTING, Route

#: Largest m for OFFLINE, which searches and counts whole clusters of 2^m nodes.
LARGEST_OFFLINE = 16


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


#: A binomial tree T (B2): the path from the root to each node, by node, in order of insertion.
_Tree = dict[int, list[int]]


class _OfflineRouter:
    """Algorithms 1-3 on one dual-cube.

    Attributes
    ----------
    k, inner_k : int
        The trees of the paper are T_k and T_{k-1}; inside clusters messages are routed with ``inner_k`` = max(k - 1, 0) (B3).
    fault_limit : int
        A cluster with so many faults or more is not crossed (B4).
    corrected : bool
        Whether to use the repairs of B6.
    """

    def __init__(self, dual: DualCube, k: int, corrected: bool) -> None:
        self.dual = dual
        self.k = k
        self.inner_k = max(k - 1, 0)
        self.fault_limit = 2**self.inner_k * (dual.m - self.inner_k)
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

    def find_tree(self, root: int, k: int, dims: int) -> _Tree:
        """Return T_k(root), or an empty tree if it cannot be constructed."""
        return grow_tree(self.faults, root, k, dims) or {}

    def require_tree(self, step: str, root: int, k: int, dims: int) -> _Tree:
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
        tree = self.require_tree("Hypercube_Routing", s, k, dims)
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
            cross = self.dual.cross(path[-1])
            if cross not in self.faults:
                return [*path, cross]
        return None

    def algorithm1(self, s: int) -> list[int]:
        """Algorithm 1: return a path from s to a node u of its cluster and over the cross edge of u."""
        dims = self.dual.cluster_dims(s)
        path = self.first_exit(self.require_tree("Algorithm 1", s, self.k - 1, dims).values())
        if path is None:
            tree = self.require_tree("Algorithm 1", s, self.k, dims)
            path = self.first_exit(self.paths_around(tree, dims))
        if path is None:
            raise _NoPathError(f"Algorithm 1: no u in N(T_{self.k}({self.dual.label(s)})) with u and u' nonfaulty")
        return path

    def entry_paths(self, s: int) -> Iterator[list[int]]:
        """Yield Algorithm 2's candidates, as paths from s to a node u whose virtual edge is tried."""
        dims = self.dual.cluster_dims(s)
        small = self.require_tree("Algorithm 2", s, self.k - 1, dims)
        large = self.find_tree(s, self.k, dims)
        yield from small.values()
        more_paths = self.corrected_entry_paths if self.corrected else self.printed_entry_paths
        yield from more_paths(small, large, dims)

    def printed_entry_paths(self, small: _Tree, large: _Tree, dims: int) -> Iterator[list[int]]:
        """Yield the candidates after the nodes of the small tree as printed: around the large tree, or through one exit only."""
        exit_path = self.first_exit(small.values())
        if exit_path is None:
            yield from self.boundary_paths(large, dims)
        else:
            for return_path in self.return_paths(exit_path[-1]):
                yield exit_path[:-1] + return_path

    def corrected_entry_paths(self, small: _Tree, large: _Tree, dims: int) -> Iterator[list[int]]:
        """Yield the candidates after the nodes of the small tree in the corrected variant: all that B6 lists."""
        yield from large.values()
        yield from self.boundary_paths(small, dims)
        yield from self.boundary_paths(large, dims)
        for path in small.values():
            yield from self.other_class_paths(path)

    def return_paths(self, root: int) -> Iterator[list[int]]:
        """Yield paths from a node of the other class around its tree and back over a cross edge.

        As printed they leave from the nodes of N(T) only, in the corrected variant from the tree's own nodes too.
        """
        dims = self.dual.cluster_dims(root)
        tree = self.find_tree(root, self.k - 1, dims)
        for path in self.paths_around(tree, dims):
            return_path = self.first_exit([path])
            if return_path is not None:
                yield return_path

    def other_class_paths(self, path: list[int]) -> Iterator[list[int]]:
        """Yield the last candidates of the corrected variant: after ``path`` into the other class, back, and one link further."""
        exit_path = self.first_exit([path])
        for return_path in self.return_paths(exit_path[-1]) if exit_path is not None else ():
            w = return_path[-1]
            for d in descending_bits(self.dual.cluster_dims(w)):
                if w ^ d not in self.faults:
                    yield [*path, *return_path, w ^ d]

    def algorithm2(self, s: int, t: int) -> list[int]:
        """Algorithm 2: return a path s -> u -> v into the cluster of t, over the first routable nonfaulty virtual edge (B4)."""
        dims = self.dual.cluster_dims(s)
        for path in self.entry_paths(s):
            u = path[-1]
            v = (u & dims) | (t & ~dims)  # u's position in the cluster of t
            u_cross, v_cross = self.dual.cross(u), self.dual.cross(v)
            if (
                any(x in self.faults for x in (u, v, u_cross, v_cross))
                or self.count_cluster(u_cross) >= self.fault_limit
            ):
                continue
            try:
                return [
                    *path,
                    *self.route_in_subcube(u_cross, v_cross, self.inner_k, self.dual.cluster_dims(u_cross)),
                    v,
                ]
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
        path = self.algorithm2(s, t)
        return path[:-1] + self.route_in_subcube(path[-1], t, self.inner_k, self.dual.cluster_dims(t))

    def route_between_classes(self, s: int, t: int) -> list[int]:
        """Case 2 of Algorithm 3: s and t are in different classes."""
        path = self.algorithm1(s)
        a = path[-1]
        if self.dual.same_cluster(a, t):
            return path[:-1] + self.route_in_subcube(a, t, self.inner_k, self.dual.cluster_dims(t))
        return path[:-1] + self.route_between_clusters(a, t)

    def route(self, s: int, t: int) -> list[int]:
        """Algorithm 3: return the path from s to t, loops included, or [s] if s is t, whatever faults are near (B6)."""
        if s == t:
            return [s]
        if self.dual.class_of(s) != self.dual.class_of(t):
            if self.corrected and self.count_cluster(t) >= self.fault_limit:
                return self.route_between_classes(t, s)[::-1]
            return self.route_between_classes(s, t)
        if not self.dual.same_cluster(s, t):
            return self.route_between_clusters(s, t)
        if self.count_cluster(s) < self.fault_limit:
            return self.route_in_subcube(s, t, self.inner_k, self.dual.cluster_dims(s))
        from_s, from_t = self.algorithm1(s), self.algorithm1(t)
        a, b = from_s[-1], from_t[-1]
        between = [a] if a == b else self.route_between_clusters(a, b)
        return from_s[:-1] + between[:-1] + from_t[::-1]
