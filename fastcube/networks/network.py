"""The base of all networks: labels, links, faults, and all checks of user input.

A label is an integer.  Bit 0 is the least significant, and a label prints as a bit string, most significant bit first.  Faults
are sets of labels and of links, or are sampled on demand (``faults.py``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingDependencyError, ParameterError, check_integer, check_range, is_many, short_repr
from .faults import FaultyNodes, RandomFaults

Link = tuple[int, int]

#: Largest number of label bits at which all nodes are listed.
_LARGEST_LISTED = 20


def label_text(label: int, bits: int) -> str:
    """Return a label as a string of ``bits`` bits, most significant first: ``0110``."""
    return format(label, f"0{bits}b")


def descending_bits(mask: int) -> Iterator[int]:
    """Yield the set bits of a mask, most significant first, which is the order of dimensions."""
    while mask:
        bit = 1 << mask.bit_length() - 1
        yield bit
        mask ^= bit


class Network(ABC):
    """Nodes with labels of ``bits`` bits, links between them, and faults; immutable.

    A subclass defines the links (``is_link``, ``neighbours``) and the distance of two nodes without faults
    (``intact_distance``).
    """

    __slots__ = ("_faulty_links", "_faulty_nodes", "_last", "_size")

    #: Name of the size parameter.
    parameter: ClassVar[str]
    largest: ClassVar[int]  #: Largest value of the size parameter.

    def __init__(self, size: int, faulty_nodes: FaultyNodes = (), faulty_links: Iterable[Link] = ()) -> None:
        self._size = check_integer(self.parameter, size, 1, self.largest)
        self._last = 2**self.bits - 1  # the largest label
        self._faulty_nodes = self._check_nodes("faulty_nodes", faulty_nodes)
        self._faulty_links = self._check_links("faulty_links", faulty_links)

    @property
    @abstractmethod
    def bits(self) -> int:
        """Number of bits of a label."""

    @property
    def faulty_nodes(self) -> frozenset[int] | RandomFaults:
        """The faulty nodes: a frozen set of ints, or a :class:`RandomFaults`."""
        return self._faulty_nodes

    @property
    def faulty_links(self) -> frozenset[Link]:
        """The faulty links as pairs (u, v), u < v."""
        return self._faulty_links

    @abstractmethod
    def neighbours(self, label: int) -> tuple[int, ...]:
        """Return the nodes linked to a node, faulty or not, in an order that the network defines."""

    @abstractmethod
    def is_link(self, u: int, v: int) -> bool:
        """Whether two nodes are connected by a link, faulty or not."""

    @abstractmethod
    def intact_distance(self, u: int, v: int) -> int:
        """Return the length of a shortest path without faults."""

    def is_faulty(self, label: int) -> bool:
        """Whether a node is faulty."""
        if type(label) is not int or not 0 <= label <= self._last:
            label = self.check_node("label", label)
        return label in self._faulty_nodes

    def _check_pair(self, u: int, v: int) -> tuple[int, int]:
        if type(u) is int and type(v) is int and 0 <= u <= self._last and 0 <= v <= self._last:
            return u, v
        return self.check_node("u", u), self.check_node("v", v)

    def is_faulty_link(self, u: int, v: int) -> bool:
        """Whether a link is listed as faulty, in either direction.  A faulty end does not make a link faulty."""
        u, v = self._check_pair(u, v)
        return ((u, v) if u < v else (v, u)) in self._faulty_links

    def check_node(self, name: str, label: object) -> int:
        """Return the label as an int.  Raises ParameterError with the parameter's name unless it is a node's."""
        return check_integer(name, label, 0, self._last, self._context)

    def label(self, label: int) -> str:
        """Return a node's label as a bit string."""
        return label_text(self.check_node("label", label), self.bits)

    @property
    def _context(self) -> str:
        return f"for {self.parameter}={self._size}"

    @property
    def _range(self) -> str:
        return f"[0, {self._last}] {self._context}"

    def _check_nodes(self, name: str, nodes: FaultyNodes) -> frozenset[int] | RandomFaults:
        if isinstance(nodes, RandomFaults):
            return nodes
        if isinstance(nodes, np.ndarray) and nodes.ndim == 1 and nodes.dtype.kind in "iu":
            if nodes.size:  # if the smallest and the largest label are valid, all are
                self.check_node(name, nodes.min())
                self.check_node(name, nodes.max())
            return frozenset(nodes.tolist())
        if not is_many(nodes):
            raise ParameterError(f"{name} must be labels in {self._range}, got {short_repr(nodes)}")
        return frozenset(self.check_node(name, label) for label in nodes)

    def _check_links(self, name: str, links: Iterable[Link]) -> frozenset[Link]:
        rule = f"{name} must be pairs (u, v) of adjacent nodes {self._context}"
        if not is_many(links):
            raise ParameterError(f"{rule}, got {short_repr(links)}")
        found = set()
        for link in links:
            try:
                u, v = link
            except (TypeError, ValueError):
                raise ParameterError(f"{rule}, got {short_repr(link)}") from None
            u, v = self.check_node(name, u), self.check_node(name, v)
            if not self.is_link(u, v):
                raise ParameterError(f"{rule}, got ({u}, {v})")
            found.add((min(u, v), max(u, v)))
        return frozenset(found)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._identity == other._identity

    def __hash__(self) -> int:
        return hash((type(self).__name__, *self._identity))

    @property
    def _identity(self) -> tuple[Any, ...]:
        return self._size, self._faulty_nodes, self._faulty_links

    def __repr__(self) -> str:
        return self.source(most=16)

    def source(self, most: int | None = None) -> str:
        """Return Python code that makes this network, with labels as bit strings.

        ``most`` is the largest number of faults to write out; longer fault sets end with '...'.  Raises ParameterError.
        """
        if most is not None:
            most = check_integer("most", most, 0, 2**63 - 1)

        def format_list(items: Iterable[Any], write: Any) -> str:
            texts = [write(item) for item in sorted(items)]
            if most is not None and len(texts) > most:
                texts = [*texts[:most], "..."]
            return "[" + ", ".join(texts) + "]"

        def format_node(label: int) -> str:
            return "0b" + self.label(label)

        def format_link(ends: Link) -> str:
            return f"({format_node(ends[0])}, {format_node(ends[1])})"

        parts = [self._call]
        if isinstance(self._faulty_nodes, RandomFaults):
            parts.append(f"faulty_nodes={self._faulty_nodes!r}")
        elif self._faulty_nodes:
            parts.append(f"faulty_nodes={format_list(self._faulty_nodes, format_node)}")
        if self._faulty_links:
            parts.append(f"faulty_links={format_list(self._faulty_links, format_link)}")
        return ", ".join(parts) + ")"

    @property
    def _call(self) -> str:
        """The beginning of this code, up to the size."""
        return f"{type(self).__name__}({self._size}"

    def to_networkx(self) -> Any:
        """Return the nonfaulty nodes and the nonfaulty links between them as a ``networkx.Graph``; at most 2^20 nodes."""
        try:
            import networkx
        except ImportError:
            raise MissingDependencyError("networkx is not installed; add it with: pip install networkx") from None
        check_range("bits of a label", self.bits, 1, _LARGEST_LISTED, "to list all nodes")
        graph = networkx.Graph()
        alive = [v for v in range(self._last + 1) if not self.is_faulty(v)]
        graph.add_nodes_from(alive)
        graph.add_edges_from(
            (u, v)
            for u in alive
            for v in self.neighbours(u)
            if u < v and v in graph and (u, v) not in self._faulty_links
        )
        return graph


class BitNetwork(Network):
    """A network on all 2^n labels of n bits."""

    __slots__ = ()
    parameter = "n"
    largest = 62

    @property
    def n(self) -> int:
        """The dimension: labels have n bits."""
        return self._size

    @property
    def bits(self) -> int:
        """Number of bits of a label: n."""
        return self._size


def require_listed_faults(network: Network, why: str = "here") -> frozenset[int]:
    """Return the faulty nodes.  Raises ParameterError, with the reason, if they are sampled on demand."""
    if isinstance(network.faulty_nodes, RandomFaults):
        raise ParameterError(f"faulty_nodes must be listed {why}, got {network.faulty_nodes!r}")
    return network.faulty_nodes


def all_faulty_nodes(network: Network) -> NDArray[np.uint64]:
    """Return the faulty nodes, sorted.  If they are sampled on demand, the status of every node is looked up."""
    faults = network.faulty_nodes
    if not isinstance(faults, RandomFaults):
        return np.array(sorted(faults), np.uint64)
    size = 2 ** min(network.bits, 20)
    blocks = (np.arange(first, first + size, dtype=np.uint64) for first in range(0, 2**network.bits, size))
    return np.concatenate([labels[faults.among(labels)] for labels in blocks])
