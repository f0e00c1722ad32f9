"""The cube family: networks on n-bit labels by name, users' own networks, and ``network``, which makes one.

A network is a function ``step(v, d, n)``: the other end of slot d of node v, or v itself if slot d has no link there (N1 and
N2 of ``docs/readings/networks.md``).  This module has the properties of each network; ``kernels/cube/steps.py`` has the steps.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import (
    ParameterError,
    check_integer,
    check_line,
    command_line_text,
    short_repr,
    suggest_name,
    wrap_study_errors,
)
from ..kernels.cube.slots import SLOTS, slots_of
from ..pickling import PickledByName
from .faults import Labels
from .hypercube import Hypercube
from .network import BitNetwork, Link, label_text

#: Largest n at which a user's network is checked on all nodes when it is made.
LARGEST_CHECKED = 10

#: Largest n at which all nodes of a network are held in a table.
LARGEST_TABLED = 20


def _is_any_size(_: int) -> bool:
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
    sizes: Callable[[int], bool] = _is_any_size
    flips_bits: bool = False
    contains_hypercube: bool = False
    most_links: Callable[[int], int] | None = field(default=None, repr=False)
    count_links: Callable[[int], int] | None = field(default=None, repr=False)
    own: Callable[[int, int, int], int] | None = field(default=None, repr=False)

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
    def step(self) -> Callable[[int, int, int], int]:
        """The function ``step(v, d, n)``: in plain Python, or for a user's network as it is compiled for all counts."""
        from ..kernels.cube.steps import STEPS

        if self.own is not None:
            return lambda v, d, n: int(_apply_compiled(self, [v], [d], n)[0])
        step = STEPS[self.index]
        plain: Callable[[int, int, int], int] = getattr(step, "py_func", step)
        return plain

    def check_size(self, n: object, most: int = 62) -> int:
        """Return n as an int.  Raises ParameterError unless there is such a network on 2^n nodes."""
        size = check_integer("n", n, 1, most, f"for {self.name}")
        if not self.sizes(size):
            known_sizes = [k for k in range(1, 63) if self.sizes(k)]
            listed = ", ".join(map(str, known_sizes[:4])) + (", ..." if len(known_sizes) > 4 else "")
            raise ParameterError(f"n must be one of {listed} for {self.name}, got {size}")
        if self.own is not None and LARGEST_CHECKED < size <= LARGEST_TABLED:
            _check_table(self, size)
        return size

    def table(self, n: int) -> NDArray[np.int32]:
        """Return all neighbours, int32 of shape (2^n, slots), by slot; v itself if a slot has no link."""
        return _table(self, check_integer("n", n, 1, LARGEST_TABLED, f"to hold all nodes of {self.name} at once"))


@functools.lru_cache(maxsize=8)
def _table(family: Family, n: int) -> NDArray[np.int32]:
    """Return ``family.table(n)``; a slot of a user's network that is no matching at a node counts as without a link there."""
    from ..kernels.cube.tables import TABLE

    if family.own is None:
        named: NDArray[np.int32] = TABLE(family.index, n, family.slots(n))
        return named
    out = np.empty((1 << n, family.slots(n)), np.int32)
    for d, (v, w, back) in enumerate(_iter_slots(family, n)):
        out[:, d] = np.where(back == v, w, v)
    return out


def _iter_slots(family: Family, n: int) -> Iterator[tuple[NDArray[np.int64], ...]]:
    """Yield for each slot of a user's network all nodes, their other ends, and the other ends of these (-1 if not of a node)."""
    nodes = np.arange(1 << n)
    for d in range(family.slots(n)):
        slots = np.full(1 << n, d)
        ends = _apply_compiled(family, nodes, slots, n)
        is_node = (ends >= 0) & (ends < 1 << n)
        back = _apply_compiled(family, np.where(is_node, ends, nodes), slots, n)
        yield nodes, ends, np.where(is_node, back, -1)


def _apply_compiled(family: Family, nodes: Any, slots: Any, n: int) -> NDArray[np.int64]:
    """Return the other ends of slots of nodes by a user's compiled step.  Raises StudyError if it cannot be compiled."""
    with wrap_study_errors(f"step of {family.name}"):
        ends: NDArray[np.int64] = _user_kernel(family)(
            np.ascontiguousarray(nodes, np.int64), np.ascontiguousarray(slots, np.int64), n
        )
    return ends


@functools.cache
def _user_kernel(family: Family) -> Any:
    """Return the compiled loop over a user's step."""
    from ..kernels.cube.tables import user_step_kernel

    return user_step_kernel(family.own)


def _make_family(
    name: str, title: str, source: str, sizes: Callable[[int], bool] = _is_any_size, **others: Any
) -> Family:
    return Family(name, title, source, functools.partial(slots_of, name), sizes, **others)


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


def custom_network(
    name: str,
    title: str,
    *,
    step: Callable[[int, int, int], int],
    slots: Callable[[int], int],
    sizes: Callable[[int], bool] | None = None,
) -> Family:
    """Return a network of your own.

    Parameters
    ----------
    name : str
        At most 64 of the characters a-z, 0-9 and -, different from the names of built-in networks.
    title : str
        One line.
    step : callable
        ``step(v, d, n)`` returns the node at the other end of slot d of node v, or v if slot d has no link there; ints in
        [0, 2^n - 1].  It is a ``@fc.blocks.block``, or plain Python that Numba can compile.
    slots, sizes : callable
        Number of slots at n, at most 62; and whether there is such a network on 2^n nodes, by default always.

    Raises
    ------
    ParameterError
        If the rules for slots (N1) are violated at a size up to n = 10: every slot is a matching, no two slots connect the
        same nodes, every slot has a link, and without faults all nodes are connected.  The message names two nodes.

    Examples
    --------
    >>> @fc.blocks.block
    ... def step(v, d, n):
    ...     return v ^ (1 << d) if d < n else v ^ ((1 << n) - 1)
    >>> mine = fc.custom_network(
    ...     "mine", "Opposite nodes linked", step=step, slots=lambda n: n + 1, sizes=lambda n: n >= 2
    ... )
    >>> fc.diameter(fc.network(mine, 4))  # half the diameter of Q_4
    2
    """
    if not isinstance(name, str) or not re.fullmatch("[a-z0-9-]{1,64}", name):
        raise ParameterError(f"name must be of a-z, 0-9 and -, at most 64, got {short_repr(name)}")
    if name in network_families():
        raise ParameterError(f"name must not be a built-in network's, got {name}")
    sizes = _is_any_size if sizes is None else sizes
    for what, given in (("step", step), ("slots", slots), ("sizes", sizes)):
        if not callable(given):
            raise ParameterError(f"{what} of {name} must be a function, got {short_repr(given)}")
    plain = getattr(step, "py_func", step)
    with wrap_study_errors(f"sizes of {name}"):
        checked_sizes = [n for n in range(1, LARGEST_CHECKED + 1) if sizes(n)]
    if not checked_sizes:
        raise ParameterError(
            f"sizes of {name} must hold for some n in [1, {LARGEST_CHECKED}], on which its step is checked"
        )
    family = Family(name, check_line("title", title), "a user's own", slots, sizes, own=step)
    for n in checked_sizes:
        with wrap_study_errors(f"slots of {name}"):
            slot_count = check_integer("slots", slots(n), 1, 62, f"for {name} at n={n}")
        rows = [[_apply_step(name, plain, v, d, n) for d in range(slot_count)] for v in range(2**n)]
        _check_step(name, rows, n)
        _check_compiled(family, rows, n)
    return family


def _check_compiled(family: Family, rows: list[list[int]], n: int) -> None:
    """Raise ParameterError unless the compiled step, which counts, gives the rows that the step gave in plain Python."""
    nodes, slots = np.indices((len(rows), len(rows[0]))).reshape(2, -1)
    compiled, plain = _apply_compiled(family, nodes, slots, n), np.array(rows, np.int64).ravel()
    if (differ := np.flatnonzero(compiled != plain)).size:
        at = differ[0]
        raise ParameterError(
            f"step of {family.name} must be the same when it is compiled, where integers have 64 bits and wrap, but "
            f"at n={n} slot {slots[at]} of {label_text(int(nodes[at]), n)} leads to "
            f"{label_text(int(plain[at]), n)} in Python and to {compiled[at]} compiled"
        )


def _apply_step(name: str, step: Callable[[int, int, int], int], v: int, d: int, n: int) -> int:
    """Return the result of a user's step in plain Python.  Raises ParameterError unless it is a node."""
    with wrap_study_errors(f"step of {name}"):
        w = step(v, d, n)
    try:
        return check_integer("step", w, 0, 2**n - 1, f"for {name} at n={n}")
    except ParameterError as error:
        raise ParameterError(f"{error} from node {label_text(v, n)} in slot {d}") from None


def _check_step(name: str, rows: list[list[int]], n: int) -> None:
    """Raise ParameterError, with two nodes, if the rules for slots (N1) are violated."""

    def raise_error(what: str) -> None:
        raise ParameterError(f"step of {name} must join all nodes by slots that are matchings, but at n={n} {what}")

    def format_node(v: int) -> str:
        return label_text(v, n)

    for v, row in enumerate(rows):
        for d, w in enumerate(row):
            if rows[w][d] != v:
                raise_error(
                    f"slot {d} leads from {format_node(v)} to {format_node(w)} and from there to {format_node(rows[w][d])}"
                )
            if w != v and row.index(w) < d:
                raise_error(f"slots {row.index(w)} and {d} both join {format_node(v)} and {format_node(w)}")
    for d in range(len(rows[0])):
        if all(row[d] == v for v, row in enumerate(rows)):
            raise_error(
                f"slot {d} joins no two nodes, neither {format_node(0)} nor {format_node(len(rows) - 1)} to any"
            )
    seen, waiting = {0}, [0]
    while waiting:
        waiting += (new := set(rows[waiting.pop()]) - seen)
        seen |= new
    if len(seen) < len(rows):
        raise_error(f"no path leads from {format_node(0)} to {format_node(min(set(range(len(rows))) - seen))}")


@functools.lru_cache(maxsize=64)
def _check_table(family: Family, n: int) -> None:
    """Check that slots are matchings, at a size that was not checked when the family was made."""
    check_integer("slots", family.slots(n), 1, 62, f"for {family.name} at n={n}")
    for d, (v, w, back) in enumerate(_iter_slots(family, n)):
        if (bad := np.flatnonzero(back != v)).size:
            at = bad[0]
            there = f"from there to {back[at]}" if back[at] >= 0 else f"labels end at {(1 << n) - 1}"
            raise ParameterError(
                f"step of {family.name} must be a matching in every slot, but at n={n} slot {d} leads "
                f"from {v[at]} to {w[at]} and {there}"
            )


class CubeNetwork(BitNetwork):
    """A network of the cube family with faults, made by ``network``.

    Its methods raise ParameterError for a label that is not a node's.
    """

    __slots__ = ("_distances", "family")

    def __init__(self, family: Family, n: int, faulty_nodes: Labels = (), faulty_links: Iterable[Link] = ()) -> None:
        self.family = family
        self._distances: tuple[int, Any] = (-1, None)  # the node of the last query of distances, and its distances
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

    def _links(self, v: int) -> Iterator[int]:
        for d in range(self.family.slots(self._size)):
            w = int(self.family.step(v, d, self._size))
            if w != v:
                yield w

    def neighbours(self, label: int) -> tuple[int, ...]:
        """Return the neighbours of a node, faulty or not, by slot."""
        return tuple(self._links(self.check_node("label", label)))

    def is_link(self, u: int, v: int) -> bool:
        """Whether two nodes are connected by a link, faulty or not."""
        u, v = self._check_pair(u, v)
        return v in self._links(u)

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
    name: str | Family, n: int, faulty_nodes: Labels = (), faulty_links: Iterable[Link] = ()
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
