"""The dual-cube DC(m): clusters that are m-cubes, in two classes, and one cross edge at every node.

Labels have 2m+1 bits u_0 u_1 ... u_2m, most significant first (Li, Peng & Chu, section 1).  u_0 is the class.  The bits along
which a cluster is connected are u_1 .. u_m in class 1 and u_{m+1} .. u_2m in class 0; the other m bits name the cluster.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from ..errors import ParameterError, check_integer, check_range, is_many, short_repr
from .faults import FaultyNodes, RandomFaults
from .network import Network, all_faulty_nodes, descending_bits

#: Largest m at which ``is_safe`` accepts faults sampled on demand, because it looks up all 2^(2m+1) statuses.
_LARGEST_CHECKED = 9

#: Largest m at which ``virtual_edges`` searches whole clusters.
_LARGEST_SEARCHED = 16


def grow_tree(faults: Container[int] | RandomFaults, root: int, k: int, dims: int) -> dict[int, list[int]] | None:
    """Return T_k(root), a binomial tree inside the subcube of ``root`` along ``dims`` (B2), as paths from the root by node.

    Each stage gives every node of the tree, in insertion order, one new child: along the first dimension that is
    not on its path from the root and leads to a nonfaulty node outside the tree.  The nodes are in insertion order.
    The result is None if some node has no such child, and empty for k < 0 (B3).
    """
    if k < 0:
        return {}
    tree = {root: [root]}
    for _ in range(k):
        for u, path in list(tree.items()):
            free = dims & ~(u ^ root)
            child = next((u ^ d for d in descending_bits(free) if u ^ d not in tree and u ^ d not in faults), None)
            if child is None:
                return None
            tree[child] = [*path, child]
    return tree


class DualCube(Network):
    """The dual-cube DC(m): 2^(2m+1) nodes with m + 1 links each.

    Its methods raise ParameterError for a label that is not a node's.

    Parameters
    ----------
    m : int
        Dimension of a cluster, in [1, 30].
    faulty_nodes : iterable of labels, or :func:`random_faults` with a rate below 1
        Repeated labels count once.

    Examples
    --------
    >>> fc.DualCube(2, faulty_nodes=[3])
    DualCube(2, faulty_nodes=[0b00011])
    """

    __slots__ = ()
    parameter = "m"
    largest = 30

    def __init__(self, m: int, faulty_nodes: FaultyNodes = ()) -> None:
        super().__init__(m, faulty_nodes)
        if isinstance(faulty_nodes, RandomFaults):
            check_range("rate", faulty_nodes.rate, 0, 1, f"for m={self.m}", open_above=True)

    @property
    def m(self) -> int:
        """The dimension of a cluster."""
        return self._size

    @property
    def bits(self) -> int:
        """Number of bits of a label: 2m + 1."""
        return 2 * self._size + 1

    @property
    def cross_bit(self) -> int:
        """The bit that a cross edge flips, u_0, as a mask."""
        return 1 << 2 * self._size

    def class_of(self, label: int) -> int:
        """Return the node's class, 0 or 1."""
        if type(label) is not int or not 0 <= label <= self._last:
            label = self.check_node("label", label)
        return label >> 2 * self._size

    def cluster_dims(self, label: int) -> int:
        """Return the bits along which the node's cluster is connected, as a mask."""
        return ((1 << self._size) - 1) << self._size * self.class_of(label)

    def cluster(self, label: int) -> int:
        """Return the name of the node's cluster in its class, in [0, 2^m - 1]."""
        label = self.check_node("label", label)
        return (label >> self._size * (1 - self.class_of(label))) & ((1 << self._size) - 1)

    def position(self, label: int) -> int:
        """Return the node's position inside its cluster, in [0, 2^m - 1]."""
        label = self.check_node("label", label)
        return (label >> self._size * self.class_of(label)) & ((1 << self._size) - 1)

    def same_cluster(self, u: int, v: int) -> bool:
        """Whether two nodes are in the same cluster."""
        u, v = self._check_pair(u, v)
        return (u ^ v) & ~self.cluster_dims(u) == 0

    def cross(self, label: int) -> int:
        """Return the node at the other end of the cross edge."""
        if type(label) is not int or not 0 <= label <= self._last:
            label = self.check_node("label", label)
        return label ^ self.cross_bit

    def neighbours(self, label: int) -> tuple[int, ...]:
        """Return the m + 1 neighbours, by ascending bit of the link: first those in the cluster, last the cross neighbour."""
        if type(label) is not int or not 0 <= label <= self._last:
            label = self.check_node("label", label)
        low = self._size * (label >> 2 * self._size)
        return (*(label ^ (1 << i) for i in range(low, low + self._size)), label ^ self.cross_bit)

    def is_link(self, u: int, v: int) -> bool:
        """Whether two nodes are joined by a link."""
        u, v = self._check_pair(u, v)
        flipped = u ^ v
        return flipped.bit_count() == 1 and bool(flipped & (self.cluster_dims(u) | self.cross_bit))

    def intact_distance(self, u: int, v: int) -> int:
        """Return the distance without faults: the Hamming distance, plus 2 for different clusters of one class."""
        u, v = self._check_pair(u, v)
        other_cluster = self.class_of(u) == self.class_of(v) and not self.same_cluster(u, v)
        return (u ^ v).bit_count() + 2 * other_cluster

    def dimension(self, u: int, v: int) -> int:
        """Return the paper's index i of the link between u and v, which differ in u_i; 0 is the cross edge."""
        u, v = self._check_pair(u, v)
        if not self.is_link(u, v):
            raise ParameterError(f"u and v must be the ends of a link {self._context}, got {u} and {v}")
        return 2 * self._size + 1 - (u ^ v).bit_length()

    def is_safe(self, k: int) -> bool:
        """Whether every node, faulty nodes included, has at least k nonfaulty neighbours (B1)."""
        k = check_integer("k", k, 0, self._size + 1, self._context)
        faults = self.faulty_nodes
        if isinstance(faults, RandomFaults):
            check_range(
                "m", self._size, 1, _LARGEST_CHECKED, "with random_faults, which need all 2^(2m+1) nodes' status"
            )
            faults = frozenset(all_faulty_nodes(self).tolist())
        met: dict[int, int] = {}
        for fault in faults:
            for node in self.neighbours(fault):
                met[node] = met.get(node, 0) + 1
        return self._size + 1 - max(met.values(), default=0) >= k

    def binomial_tree(self, root: int, k: int) -> list[int] | None:
        """Return the nodes of T_k(root) inside its cluster, in insertion order, or None if it cannot be constructed (B2)."""
        root = self.check_node("root", root)
        k = check_integer("k", k, 0, self._size, self._context)
        tree = grow_tree(self.faulty_nodes, root, k, self.cluster_dims(root))
        return None if tree is None else list(tree)

    def cluster_boundary(self, nodes: Iterable[int]) -> list[int]:
        """Return N(T) inside the clusters: neighbours of the set outside it, faulty or not, without cross neighbours."""
        if not is_many(nodes):
            raise ParameterError(f"nodes must be labels in {self._range}, got {short_repr(nodes)}")
        inside = {self.check_node("nodes", node) for node in nodes}
        return sorted({u ^ d for u in inside for d in descending_bits(self.cluster_dims(u))} - inside)

    def virtual_edges(self, s: int, t: int) -> list[tuple[int, int]]:
        """Return the virtual edges (u, v) that lead from ``s`` into the cluster of ``t`` (section 2), by ascending u.

        A fault-free path in the cluster of s leads from s to u.  v is the node of t's cluster at u's position.  A fault-free
        path leads from u over its cross edge, through the cluster there, and over a cross edge to v.  ``s`` and ``t`` must be
        in different clusters of one class.  Whole clusters of 2^m nodes are searched, so m <= 16.
        """
        s, t = self.check_node("s", s), self.check_node("t", t)
        check_range("m", self._size, 1, _LARGEST_SEARCHED, "to search whole clusters")
        if self.class_of(s) != self.class_of(t) or self.same_cluster(s, t):
            raise ParameterError(
                f"t must be in another cluster of the class of s={self.label(s)}, got {t} ({self.label(t)})"
            )
        inside = self.cluster_dims(s)
        edges = []
        for u in sorted(self._reachable_nodes(s)):
            v = (u & inside) | (t & ~inside)
            if not self.is_faulty(v) and self.cross(v) in self._reachable_nodes(self.cross(u)):
                edges.append((u, v))
        return edges

    def _reachable_nodes(self, start: int) -> set[int]:
        """Return the nodes that fault-free paths inside the cluster reach from ``start``; none if ``start`` is faulty."""
        seen: set[int] = set()
        waiting = [start]
        while waiting:
            u = waiting.pop()
            if u not in seen and not self.is_faulty(u):
                seen.add(u)
                waiting += (u ^ d for d in descending_bits(self.cluster_dims(u)))
        return seen
