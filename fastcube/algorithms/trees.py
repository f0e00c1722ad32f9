"""Communication trees of one hypercube (Leu & Kuo, sections 2.2 and 3.1): what they are, and which are found.

A tree is a sink and an order (d_0, ..., d_{n-1}): at stage i messages cross dimension d_i.  FAULT[u][k] is set exactly
when the link of u in dimension k is *dead*: listed as faulty, or a link of a faulty node (readings R1 and R19).  So all
that is found here follows from the list of dead links, without a word a node, for any n.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError, as_integer, check_integer, check_range, is_many, short_repr
from ..networks.hypercube import Hypercube, check_cube
from .registry import Algorithms
from .unsafe import faulty_labels

#: Largest cubes of :func:`detect` and of what lists a tree's 2^n - 1 links.
LARGEST_WORDS = 24
LARGEST_LISTED = 20
#: Largest cube all of whose lazy statuses are asked.
LARGEST_WHOLE = 20

Array = NDArray[np.uint64]
_ONE = np.uint64(1)


class CommunicationTree:
    """Any of the n! 2^n communication trees of a hypercube, with or without faults on it.

    Parameters
    ----------
    cube : Hypercube
        Any n.
    sink : int
        Any label, of a faulty node too.
    order : iterable of int
        (d_0, ..., d_{n-1}), a permutation of 0, ..., n-1: messages cross dimension d_i at stage i.
    costs : sequence of dict
        The COST of each candidate at each iteration i = n-1, ..., 1, of a tree that FIND_TREE found; no part of its
        identity.

    Examples
    --------
    >>> tree = fc.CommunicationTree(fc.Hypercube(2), sink=0, order=[0, 1])
    >>> sorted(tree.links)  # stage, from, to
    [(0, 1, 0), (0, 3, 2), (1, 2, 0)]
    """

    def __init__(self, cube: Hypercube, sink: int, order: Iterable[int], costs: Iterable[dict[int, int]] = ()) -> None:
        self.cube = check_cube(cube)
        self.sink = cube.check_node("sink", sink)
        self.order = _check_order(cube.n, order)
        self.costs = tuple(costs) if is_many(costs) else (costs,)
        if not all(isinstance(cost, dict) for cost in self.costs):
            raise ParameterError(f"costs must be dicts, one an iteration, got {short_repr(costs)}")

    @property
    def n(self) -> int:
        """Dimension of the cube, number of stages."""
        return self.cube.n

    def __str__(self) -> str:
        return f"sink {self.cube.label(self.sink)}, order ({', '.join(map(str, self.order))})"

    def __repr__(self) -> str:
        return f"CommunicationTree({self})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CommunicationTree):
            return NotImplemented
        return (self.cube, self.sink, self.order) == (other.cube, other.sink, other.order)

    def __hash__(self) -> int:
        return hash((self.cube, self.sink, self.order))

    @functools.cached_property
    def faulty_links(self) -> tuple[tuple[int, int], ...]:
        """The tree's faulty links as (sender, receiver), by stage, then sender: those whose sender's FAULT bit is set."""
        low, bit = dead_links(self.cube)
        apart = low ^ np.uint64(self.sink)
        found: list[tuple[int, int]] = []
        crossed = np.uint64(0)  # d_0, ..., d_{i-1}: in them a sender has the sink's bits
        for d in self.order:
            link = _ONE << np.uint64(d)
            ends = low[(bit == link) & (apart & crossed == 0)]
            senders = ends | (np.uint64(~self.sink & 1 << d))
            found += [(u, u ^ 1 << d) for u in np.sort(senders).tolist()]
            crossed |= link
        return tuple(found)

    def role(self, v: int, i: int) -> str:
        """What node v does at stage i: ``active`` (sends), ``passive`` (receives) or ``idle``; equations (1) to (3)."""
        v = self.cube.check_node("v", v)
        i = check_integer("i", i, 0, self.n - 1, f"for n={self.n}")
        apart = v ^ self.sink
        if any(apart >> d & 1 for d in self.order[:i]):
            return "idle"
        return "active" if apart >> self.order[i] & 1 else "passive"

    @property
    def links(self) -> list[tuple[int, int, int]]:
        """All 2^n - 1 links as (stage, sender, receiver), by stage, then sender; n <= 20."""
        check_range("n", self.n, 1, LARGEST_LISTED, "to list a tree's 2^n - 1 links")
        nodes = np.arange(2**self.n)
        found: list[tuple[int, int, int]] = []
        for i, d in enumerate(self.order):
            senders = nodes[(nodes ^ self.sink) >> d & 1 == 1]
            nodes = nodes[(nodes ^ self.sink) >> d & 1 == 0]
            found += [(i, u, u ^ 1 << d) for u in senders.tolist()]
        return found


def _check_order(n: int, order: object) -> tuple[int, ...]:
    given = list(order) if is_many(order) else []
    dims = tuple(-1 if (d := as_integer(value)) is None else d for value in given)
    if sorted(dims) != list(range(n)):
        raise ParameterError(f"order must be a permutation of 0, ..., {n - 1} for n={n}, got {short_repr(order)}")
    return dims


# ---------------------------------------------------------------- dead links


def dead_links(cube: Hypercube) -> tuple[Array, Array]:
    """The dead links, each once: lower ends, and the bit in which the ends differ."""
    links = np.array(sorted(cube.faulty_links), dtype=np.uint64).reshape(-1, 2)
    lows, bits = [links[:, 0] & links[:, 1]], [links[:, 0] ^ links[:, 1]]
    nodes = faulty_labels(cube, LARGEST_WHOLE, "trees under random_faults, where every node is asked")
    for k in range(cube.n):
        bit = _ONE << np.uint64(k)
        lows.append(nodes & ~bit)
        bits.append(np.full_like(nodes, bit))
    low, bit_ = np.concatenate(lows), np.concatenate(bits)
    at = np.lexsort((low, bit_))
    low, bit_ = low[at], bit_[at]
    first = np.ones(low.size, np.bool_)
    first[1:] = (low[1:] != low[:-1]) | (bit_[1:] != bit_[:-1])
    return low[first], bit_[first]


def detect(cube: Hypercube) -> Array:
    """Return the FAULT words of all nodes, as Algorithm DETECT leaves them (readings R1 and R2).

    DETECT is the paper's name: it finds the faults around each node.

    Parameters
    ----------
    cube : Hypercube
        n <= 24, and n <= 20 with lazy faults.

    Returns
    -------
    uint64 array of 2^n
        Bit k of word v is set when v's link in dimension k is faulty, v is faulty, or its neighbour there is.

    Examples
    --------
    >>> fc.detect(fc.Hypercube(3, faulty_links=[(0, 4)]))  # bit 2 of either end
    array([4, 0, 0, 0, 4, 0, 0, 0], dtype=uint64)
    """
    check_range("n", check_cube(cube).n, 1, LARGEST_WORDS, "for a FAULT word of every node")
    words = np.zeros(2**cube.n, np.uint64)
    low, bit = dead_links(cube)
    for k in range(cube.n):  # distinct links of one dimension have distinct ends
        link = _ONE << np.uint64(k)
        ends = low[bit == link]
        words[ends] |= link
        words[ends | link] |= link
    return words


def first_sink(n: int, low: Array, bit: Array) -> int | None:
    """The first label that is no end of a dead link (R3)."""
    ends = np.unique(np.concatenate([low, low | bit]))
    gaps = np.flatnonzero(ends != np.arange(ends.size, dtype=np.uint64))
    sink = int(gaps[0]) if gaps.size else int(ends.size)
    return sink if sink < 2**n else None


# ---------------------------------------------------------------- FIND_TREE and TOP_DOWN


TREE_FINDERS: Algorithms[CommunicationTree | None] = Algorithms("find_tree", homes=("trees",), network="cube")


def find_tree(cube: Hypercube, algorithm: str | None = None) -> CommunicationTree | None:
    """A communication tree that a rule finds: with few faulty links, not always the fewest.

    Parameters
    ----------
    cube : Hypercube
        Any n; n <= 20 with lazy faults, because every node's status is asked.
    algorithm : str, optional
        ``FIND_TREE`` (default): the paper's Figure 10, from the sink out (readings R3-R6).  ``TOP_DOWN``: ours, from
        the whole cube down to the sink (reading R20).

    Returns
    -------
    CommunicationTree or None
        None only from FIND_TREE, when every node has a faulty link.

    Notes
    -----
    D dead links cost FIND_TREE O(n D) and TOP_DOWN O(n^2 D), whatever 2^n is.

    Examples
    --------
    >>> tree = fc.find_tree(fc.Hypercube(3, faulty_links=[(0, 1)]))
    >>> tree.sink, tree.order, tree.faulty_links
    (2, (2, 1, 0), ())
    """
    return TREE_FINDERS.choose(cube, algorithm)(cube)


@TREE_FINDERS.register(Hypercube, "FIND_TREE", default=True)
def _find_tree_order(cube: Hypercube) -> CommunicationTree | None:
    """FIND_TREE by dead links: with labels relative to the sink and used bits cleared, a dead link of an unused dimension
    k whose lower end is 2^j counts for COST(j), and one whose lower end is 0 for COST(k); all others count for nothing."""
    n = cube.n
    low, bit = dead_links(cube)
    sink = first_sink(n, low, bit)
    if sink is None:
        return None
    apart = (low ^ np.uint64(sink)) & ~bit
    rest, order, costs = set(range(n)), [0] * n, []
    for i in range(n - 1, 0, -1):
        target = np.where(apart == 0, bit, apart)
        counted = target[target & (target - _ONE) == 0]
        total = np.bincount(np.bitwise_count(counted - _ONE), minlength=n).tolist()
        costs.append({j: total[j] for j in sorted(rest)})
        order[i] = min(sorted(rest), key=lambda j: total[j])  # ties: the lowest (R5)
        rest.remove(order[i])
        used = _ONE << np.uint64(order[i])
        apart, bit = apart[bit != used] & ~used, bit[bit != used]
    (order[0],) = rest
    return CommunicationTree(cube, sink, order, costs)


@TREE_FINDERS.register(Hypercube, "TOP_DOWN")
def _find_top_down_tree(cube: Hypercube) -> CommunicationTree:
    """R20, by the list of dead links inside the subcube that is left."""
    low, bit = dead_links(cube)
    rest, order, sink = list(range(cube.n)), [], 0
    while rest:
        choices = []
        for j in rest:
            link = _ONE << np.uint64(j)
            crossing = int(np.count_nonzero(bit == link))
            upper = int(np.count_nonzero(low & link != 0))  # a link of dimension j itself has that bit clear
            lower = low.size - crossing - upper
            choices.append((crossing, min(lower, upper), j, upper < lower))
        _, _, j, half = min(choices)
        link = _ONE << np.uint64(j)
        inside = (bit != link) & ((low & link != 0) == half)
        low, bit = low[inside], bit[inside]
        rest.remove(j)
        order.append(j)
        sink |= half << j
    return CommunicationTree(cube, sink, order)
