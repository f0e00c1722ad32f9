"""The cube family: kinds of networks on n-bit labels, by name, and ``network``, which makes one with faults.

A network is a function ``step(v, d, n)``: the other end of slot d of node v, or v itself if slot d has no link there (N1 and
N2 of ``docs/readings/networks.md``).  This module has the properties of each network; ``kernels/cube/steps.py`` has the steps.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import (
    ParameterError,
    check_integer,
    command_line_text,
    suggest_name,
)
from ..kernels.cube.slots import SLOTS, slots_of
from ..pickling import PickledByName
from .faults import FaultyNodes
from .hypercube import Hypercube
from .network import BitNetwork, Link
from .user_step import Step, UserStep

#: Largest n at which a user's network is checked on all nodes when it is made.
LARGEST_CHECKED = 10

#: Largest n at which all nodes of a network are held in a table.
LARGEST_TABLED = 20


def is_any_size(_: int) -> bool:
    """Whether there is a network on 2^n nodes, for one that exists at every n."""
    return True


def _sizes_from(least: int, divisor: int = 1, remainder: int = 0) -> Callable[[int], bool]:
    """Return the predicate whether n is at least ``least`` and leaves this remainder."""
    return lambda n: n >= least and n % divisor == remainder


@dataclass(frozen=True, eq=False)
class Family(PickledByName):
    """Networks of one kind, one for each size.

    Parameters
    ----------
    name, title, source : str
        The name for commands, a descriptive title, and the paper that proposed the network.
    slots : callable
        Number of slots at n.
    sizes : callable
        Whether there is such a network on 2^n nodes.
    flips_bits : bool
        Whether the network is matched at every size: see :meth:`is_matched`.
    contains_hypercube : bool
        Whether slots 0 .. n - 1 are those of the hypercube.  Faulty links in these slots are then links of both networks.
    most_links : callable, optional
        Largest number of links of a node at n, if it is not the number of slots.
    count_links : callable, optional
        Number of links at n, if some nodes have no link in some slots.
    own : callable, optional
        The step of a user's network.
    """

    name: str
    title: str
    source: str
    slots: Callable[[int], int]
    sizes: Callable[[int], bool] = is_any_size
    flips_bits: bool = False
    contains_hypercube: bool = False
    most_links: Callable[[int], int] | None = field(default=None, repr=False)
    count_links: Callable[[int], int] | None = field(default=None, repr=False)
    own: Step | None = field(default=None, repr=False)

    def _maker(self) -> tuple[str, str, tuple[Any, ...]] | None:
        return (__name__, "find_family", (self.name,)) if self.own is None else None

    def degree(self, n: int) -> int:
        """Return the largest number of links of a node."""
        if self.own is not None:
            return int(self._links_of(n).max())
        return (self.most_links or self.slots)(self.check_size(n))

    def links(self, n: int) -> int:
        """Return the number of links; n <= 20 for a network of your own."""
        if self.own is None:
            size = self.check_size(n)
            return self.count_links(size) if self.count_links else self.slots(size) << size - 1
        return int(self._links_of(n).sum()) // 2

    def is_regular(self, n: int) -> bool:
        """Whether all nodes have the same number of links."""
        return self.degree(n) << self.check_size(n) == 2 * self.links(n)

    def is_compared(self, n: int) -> bool:
        """Whether faulty links are also links of the hypercube (N3), so that both networks can fail on the same links."""
        n = self.check_size(n)
        if self._is_named_size(n):
            return self.flips_bits or self.contains_hypercube
        if self.slots(n) < n:
            return False
        return self.is_matched(n) or bool((self._flipped_bits(n)[:, :n] == 1 << np.arange(n)).all())

    def is_matched(self, n: int) -> bool:
        """Whether the network is matched at n: it has n slots, and slot d flips bit d of every label (N3).

        Then each link has one end v with bit d clear, and its name is (v, d).  All matched networks have the same names, so they
        can fail on the same links.  The table at n decides; n <= 20 for a network of your own.

        Examples
        --------
        >>> fc.network_families()["crossed"].is_matched(5)
        True
        >>> [fc.network_families()["balanced"].is_matched(n) for n in (2, 4)]
        [True, False]
        """
        n = self.check_size(n)
        if self._is_named_size(n):
            return self.flips_bits
        return self.slots(n) == n and bool((self._flipped_bits(n) >> np.arange(n) & 1).all())

    def _is_named_size(self, n: int) -> bool:
        """Whether the properties of a built-in network hold at n; at n <= 2 several networks coincide."""
        return self.own is None and n > 2

    def _flipped_bits(self, n: int) -> NDArray[np.int32]:
        """Return the bits in which each node differs from its neighbours, in the shape of the table."""
        table = self.table(n)
        return table ^ np.arange(len(table), dtype=np.int32)[:, None]

    def _links_of(self, n: int) -> NDArray[np.int64]:
        """Return the number of links of each node."""
        table = self.table(self.check_size(n, LARGEST_TABLED))
        links: NDArray[np.int64] = (table != np.arange(len(table))[:, None]).sum(axis=1)
        return links

    @functools.cached_property
    def index(self) -> int:
        """Index in the kernels' list of steps; 0 for a user's network, which has its own kernels."""
        return 0 if self.own is not None else list(SLOTS).index(self.name)

    @functools.cached_property
    def step(self) -> Step:
        """The function ``step(v, d, n)``: in plain Python, or for a user's network as it is compiled for all counts."""
        from ..kernels.cube.steps import STEPS

        if self.own is not None:
            return lambda v, d, n: int(user_step_of(self).apply([v], [d], n)[0])
        step = STEPS[self.index]
        python_step: Step = getattr(step, "py_func", step)
        return python_step

    def check_size(self, n: object, most: int = 62) -> int:
        """Return n as an int.  Raises ParameterError unless there is such a network on 2^n nodes.

        A user's network at 10 < n <= 20 is checked at the first call, in which all its slots must be matchings.
        """
        size = check_integer("n", n, 1, most, f"for {self.name}")
        if not self.sizes(size):
            known_sizes = [k for k in range(1, 63) if self.sizes(k)]
            listed = ", ".join(map(str, known_sizes[:4])) + (", ..." if len(known_sizes) > 4 else "")
            raise ParameterError(f"n must be one of {listed} for {self.name}, got {size}")
        if self.own is not None and LARGEST_CHECKED < size <= LARGEST_TABLED:
            _check_user_size(self, size)
        return size

    def table(self, n: int) -> NDArray[np.int32]:
        """Return all neighbours, int32 of shape (2^n, slots), by slot; v itself if a slot has no link."""
        return _table(self, check_integer("n", n, 1, LARGEST_TABLED, f"to hold all nodes of {self.name} at once"))


@functools.cache
def user_step_of(family: Family) -> UserStep:
    """Return the compiled step of a user's network."""
    assert family.own is not None
    return UserStep(family.name, family.own)


@functools.lru_cache(maxsize=8)
def _table(family: Family, n: int) -> NDArray[np.int32]:
    """Return ``family.table(n)``; if a user's slot does not lead back to a node, it counts as without a link there."""
    from ..kernels.cube.tables import TABLE

    if family.own is not None:
        return user_step_of(family).make_table(family.slots(n), n)
    table: NDArray[np.int32] = TABLE(family.index, n, family.slots(n))
    return table


@functools.lru_cache(maxsize=64)
def _check_user_size(family: Family, n: int) -> None:
    """Raise ParameterError unless a user's slots are matchings, at a size that was not checked when the family was made."""
    slot_count = check_integer("slots", family.slots(n), 1, 62, f"for {family.name} at n={n}")
    user_step_of(family).check_matchings(slot_count, n)


def _make_family(
    name: str, title: str, source: str, sizes: Callable[[int], bool] = is_any_size, **fields: Any
) -> Family:
    """Return a built-in network, whose number of slots its kernels know."""
    return Family(name, title, source, functools.partial(slots_of, name), sizes, **fields)


#: The papers that proposed HyperX.
_HYPERX = "Bhuyan & Agrawal 1984; Ahn et al. 2009"

#: The fifteen networks of N2.  Each has one entry here, one in ``kernels/cube/slots.py`` and a step in ``kernels/cube/steps.py``.
_FAMILIES = (
    _make_family("hypercube", "hypercube", "tradition", flips_bits=True),
    _make_family("folded", "folded hypercube", "El-Amawy & Latifi 1991", _sizes_from(2), contains_hypercube=True),
    _make_family(
        "enhanced-2", "enhanced hypercube, k = 2", "Tzeng & Wei 1991", _sizes_from(3), contains_hypercube=True
    ),
    _make_family("crossed", "crossed cube", "Efe 1992", flips_bits=True),
    _make_family("locally-twisted", "locally twisted cube", "Yang, Evans & Megson 2005", flips_bits=True),
    _make_family("moebius0", "0-Moebius cube", "Cull & Larson 1995", flips_bits=True),
    _make_family("moebius1", "1-Moebius cube", "Cull & Larson 1995", flips_bits=True),
    _make_family(
        "twisted", "twisted cube", "Hilbers, Koopman & van de Snepscheut 1987", _sizes_from(1, 2, 1), flips_bits=True
    ),
    _make_family("augmented", "augmented cube", "Choudum & Sunitha 2002", _sizes_from(2), contains_hypercube=True),
    _make_family(
        "exchanged",
        "exchanged hypercube",
        "Loh, Hsu & Pan 2005",
        _sizes_from(3),
        most_links=lambda n: 1 + n // 2,
        count_links=lambda n: (n + 1) << (n - 2),
    ),
    _make_family("balanced", "balanced hypercube", "Wu & Huang 1997", _sizes_from(2, 2)),
    _make_family("torus-8", "torus of rings of 8 nodes", "k-ary n-cubes", _sizes_from(3, 3)),
    _make_family("torus-16", "torus of rings of 16 nodes", "k-ary n-cubes", _sizes_from(4, 4)),
    _make_family("hyperx-4", "HyperX of cliques of 4 nodes", _HYPERX, _sizes_from(2, 2)),
    _make_family("hyperx-8", "HyperX of cliques of 8 nodes", _HYPERX, _sizes_from(3, 3)),
)


def network_families() -> dict[str, Family]:
    """Return the networks of the cube family by name.

    Examples
    --------
    >>> fc.network_families()["folded"].degree(5)
    6
    """
    return {family.name: family for family in _FAMILIES}


def find_family(name: object, what: str = "network") -> Family:
    """Return the family ``name``; a Family is returned unchanged.  Raises ParameterError with the most similar name.

    ``what`` is the caller's name of the parameter, for the message.
    """
    if isinstance(name, Family):
        return name
    known = network_families()
    if not isinstance(name, str) or name not in known:
        raise ParameterError(
            f"{what} must be one of {', '.join(known)}, got {command_line_text(name)}{suggest_name(name, known)}"
        )
    return known[name]


class CubeNetwork(BitNetwork):
    """A network of the cube family with faults, made by ``network``.

    Its methods raise ParameterError for a label that is not a node's.
    """

    __slots__ = ("_distances", "family")

    def __init__(
        self, family: Family, n: int, faulty_nodes: FaultyNodes = (), faulty_links: Iterable[Link] = ()
    ) -> None:
        self.family = family
        # the node of the last query of distances, and the distances from it
        self._distances: tuple[int, Any] = (-1, None)
        super().__init__(family.check_size(n), faulty_nodes, faulty_links)

    @property
    def degree(self) -> int:
        """Largest number of links of a node."""
        return self.family.degree(self._size)

    def step(self, v: int, d: int) -> int:
        """Return the other end of slot d of node v, or v itself if slot d has no link there."""
        v = self.check_node("v", v)
        d = check_integer("d", d, 0, self.family.slots(self._size) - 1, f"for {self.family.name} at n={self._size}")
        return int(self.family.step(v, d, self._size))

    def _iter_ends(self, v: int) -> Iterator[int]:
        """Yield the other ends of a node's links, by slot."""
        for d in range(self.family.slots(self._size)):
            w = int(self.family.step(v, d, self._size))
            if w != v:
                yield w

    def neighbours(self, label: int) -> tuple[int, ...]:
        """Return the neighbours of a node, faulty or not, by slot."""
        return tuple(self._iter_ends(self.check_node("label", label)))

    def is_link(self, u: int, v: int) -> bool:
        """Whether two nodes are connected by a link, faulty or not."""
        u, v = self._check_pair(u, v)
        return v in self._iter_ends(u)

    def intact_distance(self, u: int, v: int) -> int:
        """Return the length of a shortest path without faults; n <= 20."""
        from ..kernels.cube.tables import lengths_from

        u, v = self._check_pair(u, v)
        if self._distances[0] != u:
            table = self.family.table(self._size)
            self._distances = u, lengths_from(table, np.zeros(len(table), np.bool_), np.zeros(0, np.uint64), u)
        return int(self._distances[1][v])

    @property
    def _context(self) -> str:
        return f"for {self.family.name} at n={self._size}"

    @property
    def _identity(self) -> tuple[Any, ...]:
        return self.family.name, *super()._identity

    @property
    def _call(self) -> str:
        return f"network({self.family.name!r}, {self._size}"


def network(
    name: str | Family, n: int, faulty_nodes: FaultyNodes = (), faulty_links: Iterable[Link] = ()
) -> CubeNetwork | Hypercube:
    """Return a network of the cube family with faults.

    Parameters
    ----------
    name : str or Family
        A name of :func:`network_families`, or a family of your own; "hypercube" gives a :class:`Hypercube`.
    n : int
        Number of bits of a label, at most 62 and a size of the network.
    faulty_nodes : iterable of labels, or :func:`random_faults`
    faulty_links : iterable of pairs (u, v)
        As for a :class:`Hypercube`.

    Returns
    -------
    CubeNetwork or Hypercube

    Examples
    --------
    >>> net = fc.network("folded", 4, faulty_nodes=[7])
    >>> [*net.neighbours(0)]  # nodes that differ in one bit, and the opposite node
    [1, 2, 4, 8, 15]
    """
    chosen = find_family(name)
    if chosen.name == "hypercube":
        return Hypercube(n, faulty_nodes, faulty_links)
    return CubeNetwork(chosen, n, faulty_nodes, faulty_links)
