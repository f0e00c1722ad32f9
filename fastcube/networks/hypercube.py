"""The n-cube Q_n and its subcubes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import ParameterError, check_integer, short_repr
from .faults import FaultyNodes
from .network import BitNetwork, Link


class Hypercube(BitNetwork):
    """The n-cube Q_n with nodes 0 to 2^n - 1, and a link between labels that differ in one bit.

    Its methods raise ParameterError for a label that is not a node's.

    Parameters
    ----------
    n : int
        Dimension, in [1, 62].
    faulty_nodes : iterable of labels, or :func:`random_faults`
        Repeated labels count once.
    faulty_links : iterable of pairs (u, v)
        (v, u) is the same link.  A link is faulty only if it is listed, even if an end is faulty.

    Examples
    --------
    >>> cube = fc.Hypercube(4, faulty_nodes=[0b0001], faulty_links=[(0, 2), (2, 0)])
    >>> cube
    Hypercube(4, faulty_nodes=[0b0001], faulty_links=[(0b0000, 0b0010)])
    """

    __slots__ = ()

    def __init__(self, n: int, faulty_nodes: FaultyNodes = (), faulty_links: Iterable[Link] = ()) -> None:
        super().__init__(n, faulty_nodes, faulty_links)

    @property
    def degree(self) -> int:
        """Number of links of a node: n."""
        return self._size

    def step(self, v: int, d: int) -> int:
        """Return the neighbour of node ``v`` across dimension ``d`` in [0, n - 1]."""
        v = self.check_node("v", v)
        return v ^ (1 << check_integer("d", d, 0, self._size - 1, self._context))

    def neighbours(self, label: int) -> tuple[int, ...]:
        """Return the n neighbours, across dimension 0 (the least significant bit) first."""
        if type(label) is not int or not 0 <= label <= self._last:
            label = self.check_node("label", label)
        return tuple(label ^ (1 << i) for i in range(self._size))

    def is_link(self, u: int, v: int) -> bool:
        """Whether two labels differ in exactly one bit."""
        u, v = self._check_pair(u, v)
        return (u ^ v).bit_count() == 1

    def intact_distance(self, u: int, v: int) -> int:
        """Return the Hamming distance, which is the distance without faults."""
        u, v = self._check_pair(u, v)
        return (u ^ v).bit_count()


@dataclass(frozen=True, order=True)
class Subcube:
    """A subcube of Q_n: the nodes that agree with ``base`` outside the dimensions in ``free``.

    Parameters
    ----------
    base : int
        The smallest label of the subcube: 0 in the free dimensions.
    free : int
        Mask of the free dimensions.
    n : int
        Dimension of the whole cube.
    """

    base: int
    free: int
    n: int

    @property
    def dimension(self) -> int:
        """Number of free dimensions."""
        return self.free.bit_count()

    @property
    def size(self) -> int:
        """Number of nodes."""
        return 1 << self.free.bit_count()

    def __contains__(self, label: int) -> bool:
        if type(label) is not int or not 0 <= label < 1 << self.n:
            label = check_integer("label", label, 0, 2**self.n - 1, f"for n={self.n}")
        return label & ~self.free == self.base

    def distance(self, other: Subcube) -> int:
        """Return the number of dimensions in which one subcube is fixed to 0 and the other to 1 (Lee & Hayes, section 2)."""
        if not isinstance(other, Subcube) or other.n != self.n:
            raise ParameterError(f"other must be a Subcube for n={self.n}, got {short_repr(other)}")
        return ((self.base ^ other.base) & ~(self.free | other.free)).bit_count()

    def __str__(self) -> str:
        return "".join("*" if self.free >> i & 1 else str(self.base >> i & 1) for i in reversed(range(self.n)))

    def __repr__(self) -> str:
        return f"Subcube({self})"


def check_cube(cube: object) -> Hypercube:
    """Return the cube.  Raises ParameterError unless it is a Hypercube."""
    if not isinstance(cube, Hypercube):
        raise ParameterError(f"cube must be a Hypercube, got {short_repr(cube)}")
    return cube
