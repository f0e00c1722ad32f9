"""The dual-cube DC(m): clusters that are m-cubes, in two classes, and one cross edge at every node.

Labels have 2m+1 bits u_0 u_1 ... u_2m, most significant first (Li, Peng & Chu, section 1).  u_0 is the class.  Nodes
of class 1 are joined along u_1 .. u_m and named by the rest, nodes of class 0 along u_{m+1} .. u_2m.
"""

from __future__ import annotations

from .errors import check_range
from .network import Labels, Network, RandomFaults


class DualCube(Network):
    """The dual-cube DC(m): 2^(2m+1) nodes with m + 1 links each.

    Parameters
    ----------
    m : int
        Dimension of a cluster, 1 <= m <= 30.
    faulty_nodes : iterable of labels, or :func:`random_faults` with a rate below 1
        Repeats collapse.
    """

    __slots__ = ()
    parameter = "m"
    largest = 30

    def __init__(self, m: int, faulty_nodes: Labels = ()) -> None:
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
        """The bit that a cross edge flips: u_0."""
        return 1 << 2 * self._size

    def class_of(self, label: int) -> int:
        """The node's class, 0 or 1."""
        return label >> 2 * self._size

    def cluster_dims(self, label: int) -> int:
        """The bits along which the node's cluster is joined, as a mask."""
        return (2**self._size - 1) << self._size * self.class_of(label)

    def cluster(self, label: int) -> int:
        """The name of the node's cluster in its class, 0 .. 2^m - 1."""
        return (label >> self._size * (1 - self.class_of(label))) & (2**self._size - 1)

    def position(self, label: int) -> int:
        """The node's place inside its cluster, 0 .. 2^m - 1."""
        return (label >> self._size * self.class_of(label)) & (2**self._size - 1)

    def same_cluster(self, u: int, v: int) -> bool:
        """Whether two nodes are in one cluster."""
        return (u ^ v) & ~self.cluster_dims(u) == 0

    def cross(self, label: int) -> int:
        """The node at the other end of the cross edge."""
        return label ^ self.cross_bit

    def neighbours(self, label: int) -> tuple[int, ...]:
        """The m + 1 neighbours, by ascending bit of the link: the cluster's first, the cross neighbour last."""
        low = self._size * self.class_of(label)
        return (*(label ^ (1 << i) for i in range(low, low + self._size)), self.cross(label))

    def is_link(self, u: int, v: int) -> bool:
        """Whether two nodes are joined by a link."""
        flipped = u ^ v
        return flipped.bit_count() == 1 and bool(flipped & (self.cluster_dims(u) | self.cross_bit))

    def metric(self, u: int, v: int) -> int:
        """d(u, v): Hamming distance, plus 2 for different clusters of one class."""
        apart = self.class_of(u) == self.class_of(v) and not self.same_cluster(u, v)
        return (u ^ v).bit_count() + 2 * apart

    def dimension(self, u: int, v: int) -> int:
        """The paper's index i of the link between u and v: they differ in u_i; 0 is the cross edge."""
        return 2 * self._size + 1 - (u ^ v).bit_length()
