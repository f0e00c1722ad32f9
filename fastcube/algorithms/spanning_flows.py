"""The nonfaulty graph of a hypercube as bitmasks of nodes: its edge connectivity, a smallest cut, and packings of trees.

A set of nodes is one Python integer of 2^n bits, so one step of a search over all nodes is two shifts per dimension.  A
nonfaulty link counts as two directed links (arcs).  By Edmonds' theorem (1973) the largest number of arc-disjoint spanning trees
with a common root is then the edge connectivity, for any root (S11).

Most flows are not needed, for two reasons.  Let delta be the smallest degree.  First, k nodes of a hypercube have at most g(k) =
popcount(0) + ... + popcount(k - 1) links among themselves, hence at least k delta - 2 g(k) links to other nodes, which is at
least delta for 1 <= k < 2^delta.  So each side of a cut of fewer than delta links has at least 2^delta nodes.  Second, the ends
of a link that is in delta - 1 nonfaulty squares are joined by delta link-disjoint paths, so no such cut separates them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..networks.hypercube import Hypercube
from ..networks.network import Link, require_listed_faults

#: A set of nodes: bit v is set if node v is in it.
Nodes = int


class EdgeCut(NamedTuple):
    """A smallest cut of a graph."""

    size: int  #: the number of its links, which is the edge connectivity
    side: Nodes  #: the nodes on one side of it


class Flow(NamedTuple):
    """A largest number of arc-disjoint paths from a set of nodes to a node, up to a limit."""

    paths: int  #: the number of paths
    side: Nodes | None  #: one side of a smallest cut, with the set; None if the limit is reached


@functools.cache
def lower_nodes(n: int, k: int) -> Nodes:
    """Return the set of nodes of Q_n in whose label bit k is 0."""
    nodes = (1 << (1 << k)) - 1
    for i in range(k + 1, n):
        nodes |= nodes << (1 << i)
    return nodes


def set_of(labels: Iterable[int]) -> Nodes:
    """Return the set of nodes with these labels; repeated labels are allowed."""
    bits = bytearray(max(labels := list(labels), default=0) // 8 + 1)
    for v in labels:
        bits[v >> 3] |= 1 << (v & 7)
    return int.from_bytes(bits, "little")


def iterate_members(nodes: Nodes) -> Iterator[int]:
    """Yield the nodes of a set, ascending."""
    text = bin(nodes)[:1:-1]
    node = text.find("1")
    while node >= 0:
        yield node
        node = text.find("1", node + 1)


def count_memberships(nodes: Nodes, sets: Iterable[Nodes], most: int) -> list[Nodes]:
    """Return a list whose entry j = 0, ..., ``most`` is the set of those ``nodes`` that are in at least j of the ``sets``."""
    at_least = [nodes] + [0] * most
    for members in sets:
        for j in reversed(range(most)):
            at_least[j + 1] |= at_least[j] & members
    return at_least


class NonfaultyGraph:
    """The nonfaulty nodes of a hypercube and the nonfaulty links between them.

    Attributes
    ----------
    n : int
        Dimension of the hypercube.
    nodes : Nodes
        The nonfaulty nodes.
    links : list of Nodes
        For each dimension the nodes with a nonfaulty link across it to a nonfaulty node.
    """

    def __init__(self, cube: Hypercube) -> None:
        everything = (1 << (1 << cube.n)) - 1
        self.n = cube.n
        self.nodes = everything ^ set_of(require_listed_faults(cube))
        self.links = [self.nodes & self.cross(self.nodes, k) for k in range(cube.n)]
        ends: list[list[int]] = [[] for _ in range(cube.n)]
        for u, v in cube.faulty_links:
            ends[(u ^ v).bit_length() - 1] += u, v
        for k in range(cube.n):
            self.links[k] &= everything ^ set_of(ends[k])

    def cross(self, nodes: Nodes, k: int) -> Nodes:
        """Return the neighbours of a set of nodes across dimension k, faulty or not."""
        low, step = lower_nodes(self.n, k), 1 << k
        return (nodes >> step & low) | (nodes & low) << step

    def find_neighbours(self, nodes: Nodes, links: list[Nodes] | None = None) -> Nodes:
        """Return the heads of the arcs that start in a set: nonfaulty links, or ``links``, the tails for each dimension."""
        out = 0
        for k, ends in enumerate(links or self.links):
            out |= self.cross(nodes & ends, k)
        return out

    def iter_layers(self, source: Nodes, links: list[Nodes] | None = None) -> Iterator[Nodes]:
        """Yield the nodes at distance 0, 1, 2, ... from a set of nonfaulty nodes, over nonfaulty links or over ``links``."""
        seen = front = source
        while front:
            yield front
            front = self.find_neighbours(front, links) & ~seen
            seen |= front

    def find_component(self, source: Nodes, links: list[Nodes] | None = None) -> Nodes:
        """Return all nodes that can be reached from a set of nonfaulty nodes, over nonfaulty links or over ``links``."""
        return functools.reduce(int.__or__, self.iter_layers(source, links))

    @functools.cached_property
    def min_degree(self) -> int:
        """The smallest number of nonfaulty links at a nonfaulty node."""
        with_links = count_memberships(self.nodes, self.links, self.n)
        return max(j for j in range(self.n + 1) if with_links[j] == self.nodes)

    def find_node_of_degree(self, degree: int) -> int:
        """Return the smallest node with exactly ``degree`` nonfaulty links; such a node must exist."""
        return next(v for v in iterate_members(self.nodes) if sum(ends >> v & 1 for ends in self.links) == degree)

    def list_cut(self, side: Nodes) -> list[Link]:
        """Return the nonfaulty links between a set of nonfaulty nodes and its complement, as sorted pairs (u, v), u < v."""
        found = []
        for k, ends in enumerate(self.links):
            crossing = side & ends & self.cross(self.nodes & ~side, k)
            found += [(min(u, u ^ 1 << k), max(u, u ^ 1 << k)) for u in iterate_members(crossing)]
        return sorted(found)

    def minimum_edge_cut(self) -> EdgeCut:
        """Return a smallest cut.  Needs at least two nonfaulty nodes."""
        best = EdgeCut(self.min_degree, 1 << self.find_node_of_degree(self.min_degree))
        if best.size == 0:
            return best
        component = self.find_component(self.nodes & -self.nodes)
        if component != self.nodes:
            return EdgeCut(0, component)
        core = self._find_core()
        while True:  # no cut of fewer than ``best.size`` links separates two nodes of the core
            core = self._grow_core(core, best.size)
            rest = self.nodes & ~core
            if rest.bit_count() < 1 << self.min_degree:
                return best
            target = next(iterate_members(rest & self.find_neighbours(core)))
            flow = max_flow(self, self.links, core, target, best.size)
            if flow.side is not None:
                best = EdgeCut(flow.paths, flow.side)
            core |= 1 << target

    def _find_core(self) -> Nodes:
        """Return the largest set of nodes connected by links that are in at least delta - 1 nonfaulty squares each."""
        strong = []
        for i, ends in enumerate(self.links):
            others = ((j, links) for j, links in enumerate(self.links) if j != i)
            squares = (links & self.cross(links, i) & self.cross(ends, j) for j, links in others)
            strong.append(count_memberships(ends, squares, self.min_degree - 1)[-1])
        best, rest = 0, self.nodes
        while rest.bit_count() > best.bit_count():
            part = self.find_component(rest & -rest, strong)
            rest &= ~part
            best = max(best, part, key=int.bit_count)
        return best

    def _grow_core(self, core: Nodes, least: int) -> Nodes:
        """Return the core after adding, repeatedly, every node with ``least`` neighbours in the core or adjacent to it.

        Each such neighbour begins a separate path into the core.
        """
        while True:
            near = core | self.find_neighbours(core)
            steps = (ends & self.cross(near, k) for k, ends in enumerate(self.links))
            grown = count_memberships(self.nodes & ~core, steps, least)[-1]
            if not grown:
                return core
            core |= grown

    def pack_trees(self, root: int) -> list[list[int]]:
        """Return as many arc-disjoint spanning trees with a nonfaulty root as exist, as parents: -1 at the root, -2 if absent.

        The trees follow Lovasz's proof of Edmonds' theorem.  A tree grows arc by arc.  An arc is taken if, without it, the
        remaining arcs still connect the root to every node by as many arc-disjoint paths as trees are missing.  The next
        trees try a refused arc again.
        """
        arcs = list(self.links)  # for each dimension the tails of the remaining arcs
        trees = []
        for missing in reversed(range(self.minimum_edge_cut().size)):
            tree = [-2] * (1 << self.n)
            tree[root] = -1
            inside, queue = 1 << root, [root]
            for u in queue:
                for k in range(self.n):
                    v = u ^ 1 << k
                    if inside >> v & 1 or not arcs[k] >> u & 1:
                        continue
                    arcs[k] ^= 1 << u
                    # only a cut that has lost this arc can be too small now, and it separates v from both the root and u
                    if missing and max_flow(self, arcs, 1 << root | 1 << u, v, missing).paths < missing:
                        arcs[k] ^= 1 << u
                        continue
                    tree[v] = u
                    inside |= 1 << v
                    queue.append(v)
            trees.append(tree)
        return trees


def max_flow(graph: NonfaultyGraph, arcs: list[Nodes], source: Nodes, target: int, limit: int) -> Flow:
    """Return the largest number, at most ``limit``, of arc-disjoint paths from a set of nodes to a node.

    Uses shortest augmenting paths (Edmonds and Karp 1972).  ``arcs[k]`` are the tails of the arcs across dimension k.
    """
    flow = [0] * graph.n  # for each dimension the tails of the arcs on a path
    for paths in range(limit):
        residual = [
            (tails & ~used) | graph.cross(used, k) for k, (tails, used) in enumerate(zip(arcs, flow, strict=True))
        ]
        layers, seen = [source], source
        while layers[-1] and not seen >> target & 1:
            layers.append(graph.find_neighbours(layers[-1], residual) & ~seen)
            seen |= layers[-1]
        if not layers[-1]:
            return Flow(paths, seen)
        _add_path(flow, residual, layers[:-1], target)
    return Flow(limit, None)


def _add_path(flow: list[Nodes], residual: list[Nodes], layers: list[Nodes], target: int) -> None:
    """Add a path to the flow, from the target back to the first of ``layers``, one arc of the residual graph per layer."""
    v = target
    for layer in reversed(layers):
        k = next(k for k, tails in enumerate(residual) if (layer & tails) >> (v ^ 1 << k) & 1)
        if flow[k] >> v & 1:
            flow[k] ^= 1 << v  # cancels a path that uses the opposite arc
        else:
            flow[k] |= 1 << (v ^ 1 << k)
        v ^= 1 << k
