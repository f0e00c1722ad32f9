"""Networks with their faults: the objects that algorithms take, and every check of what a user hands in.

A label is an integer; bit 0 is the least significant and a label prints as a bit string, most significant bit
first.  Faults are sets of labels and of links, or lazy: :func:`random_faults` decides each node when asked.
"""

from __future__ import annotations

import hashlib
import operator
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .errors import ParameterError, check_range

Link = tuple[int, int]

_ALL = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15
_MIX1 = 0xBF58476D1CE4E5B9
_MIX2 = 0x94D049BB133111EB


def shown(value: object) -> str:
    """The value on one line of at most 60 characters, for error messages."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def check_integer(name: str, value: object, low: int, high: int, context: str = "") -> int:
    """The value of any integer type as an int; ParameterError unless it is an integer in [low, high]."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        end = f" {context}" if context else ""
        raise ParameterError(f"{name} must be an integer in [{low}, {high}]{end}, got {shown(value)}") from None
    check_range(name, number, low, high, context)
    return number


def label_text(label: int, bits: int) -> str:
    """A label as a string of ``bits`` bits, most significant first: ``0110``."""
    return format(label, f"0{bits}b")


# ---------------------------------------------------------------- lazy faults


@dataclass(frozen=True)
class RandomFaults:
    """Every node faulty with probability ``rate``, independently; decided when asked, whatever the cube's size.

    Node ``label`` is faulty iff mix(key + label * 0x9E3779B97F4A7C15 mod 2^64) < floor(rate * 2^64), where mix is
    the finaliser of SplitMix64.  So the faults at a lower rate are among those at a higher one, key for key.

    Attributes
    ----------
    rate : float
        In [0, 1].
    key : int
        64 bits.
    seed : int or None
        What the key was made from; None for a key of another origin, such as a trial's.
    """

    rate: float
    key: int
    seed: int | None = None

    def __contains__(self, label: int) -> bool:
        return self.status(label) < self.threshold

    def status(self, label: int) -> int:
        """The hash of a label, uniform on [0, 2^64): the node is faulty iff it is below :attr:`threshold`."""
        z = (self.key + label * _GOLDEN) & _ALL
        z = ((z ^ (z >> 30)) * _MIX1) & _ALL
        z = ((z ^ (z >> 27)) * _MIX2) & _ALL
        return z ^ (z >> 31)

    @property
    def threshold(self) -> int:
        """floor(rate * 2^64), exact."""
        return int(self.rate * 2.0**64)

    def among(self, labels: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which of many labels are faulty."""
        z = labels * np.uint64(_GOLDEN) + np.uint64(self.key)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(_MIX1)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(_MIX2)
        z ^= z >> np.uint64(31)
        return np.full(z.shape, True) if self.threshold > _ALL else z < np.uint64(self.threshold)

    def __repr__(self) -> str:
        if self.seed is None:
            return f"RandomFaults(rate={self.rate!r}, key={self.key:#x})"
        return f"random_faults({self.rate!r}, seed={self.seed})"


def random_faults(rate: float, seed: int = 0) -> RandomFaults:
    """A lazy fault set: every node faulty with probability ``rate``.

    The key is the first 64 bits of the SHA-256 of the text ``splitmix64/1|random_faults|SEED``.

    Parameters
    ----------
    rate : float
        Probability in [0, 1].
    seed : int
        In [0, 2^64 - 1].
    """
    try:
        number = float(rate)
    except (TypeError, ValueError):
        raise ParameterError(f"rate must be a number in [0, 1], got {shown(rate)}") from None
    check_range("rate", number, 0, 1)
    seed = check_integer("seed", seed, 0, _ALL)
    digest = hashlib.sha256(f"splitmix64/1|random_faults|{seed}".encode()).hexdigest()
    return RandomFaults(number, int(digest[:16], 16), seed)


#: What a network takes as its faulty nodes.
Labels = Iterable[int] | RandomFaults


# ---------------------------------------------------------------- what all networks share


class Network(ABC):
    """Nodes with labels of ``bits`` bits, links between labels that differ in one bit, and faults; immutable.

    A network says which bit flips are links (:meth:`is_link`, :meth:`neighbours`), how far apart two nodes are
    without faults (:meth:`metric`), and how it calls itself in messages (``title``).
    """

    __slots__ = ("_faulty_links", "_faulty_nodes", "_size")

    #: Name of the size parameter, and its largest value.
    parameter: ClassVar[str]
    largest: ClassVar[int]

    def __init__(self, size: int, faulty_nodes: Labels = (), faulty_links: Iterable[Link] = ()) -> None:
        self._size = check_integer(self.parameter, size, 1, self.largest)
        self._faulty_nodes = self._check_nodes("faulty_nodes", faulty_nodes)
        self._faulty_links = self._check_links("faulty_links", faulty_links)

    @property
    @abstractmethod
    def bits(self) -> int:
        """Number of bits of a label."""

    @property
    def faulty_nodes(self) -> frozenset[int] | RandomFaults:
        """The faulty nodes: a frozen set of ints, or lazy."""
        return self._faulty_nodes

    @property
    def faulty_links(self) -> frozenset[Link]:
        """The faulty links as pairs (u, v), u < v."""
        return self._faulty_links

    @abstractmethod
    def neighbours(self, label: int) -> tuple[int, ...]:
        """The nodes linked to a node, by ascending dimension of the link, whether faulty or not."""

    @abstractmethod
    def is_link(self, u: int, v: int) -> bool:
        """Whether two nodes are joined by a link, faulty or not."""

    @abstractmethod
    def metric(self, u: int, v: int) -> int:
        """Length of a shortest path when nothing is faulty."""

    def is_faulty(self, label: int) -> bool:
        """Whether a node is faulty."""
        return label in self._faulty_nodes

    def is_faulty_link(self, u: int, v: int) -> bool:
        """Whether a link is listed as faulty, in either direction; a faulty end node does not make it so."""
        return ((u, v) if u < v else (v, u)) in self._faulty_links

    def check_node(self, name: str, label: object) -> int:
        """The label as an int; ParameterError with the parameter's name unless it is a node's."""
        return check_integer(name, label, 0, 2**self.bits - 1, self._context)

    def label(self, label: int) -> str:
        """A node's label as a bit string."""
        return label_text(label, self.bits)

    @property
    def _context(self) -> str:
        return f"for {self.parameter}={self._size}"

    @property
    def _range(self) -> str:
        return f"[0, {2**self.bits - 1}] {self._context}"

    def _check_nodes(self, name: str, nodes: Labels) -> frozenset[int] | RandomFaults:
        if isinstance(nodes, RandomFaults):
            return nodes
        if isinstance(nodes, np.ndarray) and nodes.ndim == 1 and nodes.dtype.kind in "iu":
            if nodes.size:  # the extremes decide for all
                self.check_node(name, nodes.min())
                self.check_node(name, nodes.max())
            return frozenset(nodes.tolist())
        if isinstance(nodes, str | bytes) or not isinstance(nodes, Iterable):
            raise ParameterError(f"{name} must be labels in {self._range}, got {shown(nodes)}")
        return frozenset(self.check_node(name, label) for label in nodes)

    def _check_links(self, name: str, links: Iterable[Link]) -> frozenset[Link]:
        wanted = f"{name} must be pairs (u, v) of adjacent nodes {self._context}"
        if isinstance(links, str | bytes) or not isinstance(links, Iterable):
            raise ParameterError(f"{wanted}, got {shown(links)}")
        found = set()
        for link in links:
            try:
                u, v = link
            except (TypeError, ValueError):
                raise ParameterError(f"{wanted}, got {shown(link)}") from None
            u, v = self.check_node(name, u), self.check_node(name, v)
            if not self.is_link(u, v):
                raise ParameterError(f"{wanted}, got ({u}, {v})")
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
        """Python text that makes this network, labels as bit strings; ``most`` cuts long fault sets with '...'."""

        def listed(items: Iterable[Any], write: Any) -> str:
            texts = [write(item) for item in sorted(items)]
            if most is not None and len(texts) > most:
                texts = [*texts[:most], "..."]
            return "[" + ", ".join(texts) + "]"

        def node(label: int) -> str:
            return "0b" + self.label(label)

        def link(ends: Link) -> str:
            return f"({node(ends[0])}, {node(ends[1])})"

        parts = [str(self._size)]
        if isinstance(self._faulty_nodes, RandomFaults):
            parts.append(f"faulty_nodes={self._faulty_nodes!r}")
        elif self._faulty_nodes:
            parts.append(f"faulty_nodes={listed(self._faulty_nodes, node)}")
        if self._faulty_links:
            parts.append(f"faulty_links={listed(self._faulty_links, link)}")
        return f"{type(self).__name__}({', '.join(parts)})"


# ---------------------------------------------------------------- the hypercube


class Hypercube(Network):
    """The n-cube Q_n: nodes 0 .. 2^n - 1, a link between labels that differ in one bit.

    Parameters
    ----------
    n : int
        Dimension, 1 <= n <= 62.
    faulty_nodes : iterable of labels, or :func:`random_faults`
        Repeats collapse.
    faulty_links : iterable of pairs (u, v)
        (v, u) is the same link.  A link is faulty only when it is listed, whatever the state of its ends.
    """

    __slots__ = ()
    parameter = "n"
    largest = 62

    def __init__(self, n: int, faulty_nodes: Labels = (), faulty_links: Iterable[Link] = ()) -> None:
        super().__init__(n, faulty_nodes, faulty_links)

    @property
    def n(self) -> int:
        """The dimension."""
        return self._size

    @property
    def bits(self) -> int:
        """Number of bits of a label: n."""
        return self._size

    def neighbours(self, label: int) -> tuple[int, ...]:
        """The n neighbours, across dimension 0 (the least significant bit) first."""
        return tuple(label ^ (1 << i) for i in range(self._size))

    def is_link(self, u: int, v: int) -> bool:
        """Whether two labels differ in exactly one bit."""
        return (u ^ v).bit_count() == 1

    def metric(self, u: int, v: int) -> int:
        """Hamming distance."""
        return (u ^ v).bit_count()


@dataclass(frozen=True, order=True)
class Subcube:
    """A subcube of Q_n: the nodes that agree with ``base`` outside the dimensions in ``free``.

    Parameters
    ----------
    base : int
        Its smallest label: 0 in the free dimensions.
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
        return label & ~self.free == self.base

    def distance(self, other: Subcube) -> int:
        """Number of dimensions in which one is fixed to 0 and the other to 1 (Lee & Hayes, section 2)."""
        return ((self.base ^ other.base) & ~(self.free | other.free)).bit_count()

    def __str__(self) -> str:
        return "".join("*" if self.free >> i & 1 else str(self.base >> i & 1) for i in reversed(range(self.n)))

    def __repr__(self) -> str:
        return f"Subcube({self})"
