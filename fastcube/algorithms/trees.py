"""Communication trees of one hypercube (Leu & Kuo, sections 2.2 and 3.1): their definition, and algorithms that find them.

A tree is given by a sink and an order (d_0, ..., d_{n-1}): at stage i messages cross dimension d_i.  FAULT[u][k] is set exactly
if the link of u in dimension k is *dead*: listed as faulty, or a link of a faulty node (R1, R19).  So the algorithms here need
only the list of dead links, no data per node, and work for any n.
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

#: Largest n for ``unusable_link_masks``: 2^24 masks take 128 MiB.
LARGEST_MASKS = 24
#: Largest n for listing a tree's 2^n - 1 links.
LARGEST_LISTED = 20
#: Largest n with faults sampled on demand, because the status of every node is looked up.
LARGEST_WHOLE = 20

Array = NDArray[np.uint64]
_ONE = np.uint64(1)


class CommunicationTree:
    """One of the n! 2^n communication trees of a hypercube; its links may be faulty.

    Parameters
    ----------
    cube : Hypercube
        Any n.
    sink : int
        Any label, also of a faulty node.
    order : iterable of int
        (d_0, ..., d_{n-1}), a permutation of 0, ..., n-1: messages cross dimension d_i at stage i.
    costs : sequence of dict
        For a tree found by FIND_TREE the COST of each candidate dimension at each iteration i = n-1, ..., 1.  Ignored when
        trees are compared.

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
            raise ParameterError(f"costs must be dicts, one per iteration, got {short_repr(costs)}")

    @property
    def n(self) -> int:
        """Dimension of the cube, which is the number of stages."""
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
        """The tree's faulty links as (sender, receiver), by stage, then sender: links whose sender's FAULT bit is set."""
        low, bit = dead_links(self.cube)
        difference = low ^ np.uint64(self.sink)
        found: list[tuple[int, int]] = []
        crossed = np.uint64(0)  # d_0, ..., d_{i-1}: a sender of stage i agrees with the sink in these bits
        for d in self.order:
            link = _ONE << np.uint64(d)
            ends = low[(bit == link) & (difference & crossed == 0)]
            senders = ends | (np.uint64(~self.sink & 1 << d))
            found += [(u, u ^ 1 << d) for u in np.sort(senders).tolist()]
            crossed |= link
        return tuple(found)

    def role(self, v: int, i: int) -> str:
        """Return the role of node v at stage i: ``active`` (sends), ``passive`` (receives) or ``idle`` (equations 1 to 3)."""
        v = self.cube.check_node("v", v)
        i = check_integer("i", i, 0, self.n - 1, f"for n={self.n}")
        difference = v ^ self.sink
        if any(difference >> d & 1 for d in self.order[:i]):
            return "idle"
        return "active" if difference >> self.order[i] & 1 else "passive"

    @property
    def links(self) -> list[tuple[int, int, int]]:
        """All 2^n - 1 links as (stage, sender, receiver), by stage, then sender.  Needs n <= 20."""
        check_range("n", self.n, 1, LARGEST_LISTED, "to list a tree's 2^n - 1 links")
        nodes = np.arange(2**self.n)
        found: list[tuple[int, int, int]] = []
        for i, d in enumerate(self.order):
            senders = nodes[(nodes ^ self.sink) >> d & 1 == 1]
            nodes = nodes[(nodes ^ self.sink) >> d & 1 == 0]
            found += [(i, u, u ^ 1 << d) for u in senders.tolist()]
        return found


def _check_order(n: int, order: object) -> tuple[int, ...]:
    """Return an order as a tuple of ints.  Raises ParameterError unless it is a permutation of 0, ..., n - 1."""
    given = list(order) if is_many(order) else []
    dims = tuple(-1 if (d := as_integer(value)) is None else d for value in given)
    if sorted(dims) != list(range(n)):
        raise ParameterError(f"order must be a permutation of 0, ..., {n - 1} for n={n}, got {short_repr(order)}")
    return dims


def dead_links(cube: Hypercube) -> tuple[Array, Array]:
    """Return the dead links, each once: their lower ends, and the bits in which their ends differ."""
    links = np.array(sorted(cube.faulty_links), dtype=np.uint64).reshape(-1, 2)
    lows, bits = [links[:, 0] & links[:, 1]], [links[:, 0] ^ links[:, 1]]
    nodes = faulty_labels(cube, LARGEST_WHOLE, "trees under random_faults, which need every node's status")
    for k in range(cube.n):
        bit = _ONE << np.uint64(k)
        lows.append(nodes & ~bit)
        bits.append(np.full_like(nodes, bit))
    all_lows, all_bits = np.concatenate(lows), np.concatenate(bits)
    order = np.lexsort((all_lows, all_bits))
    all_lows, all_bits = all_lows[order], all_bits[order]
    is_first = np.ones(all_lows.size, np.bool_)
    is_first[1:] = (all_lows[1:] != all_lows[:-1]) | (all_bits[1:] != all_bits[:-1])
    return all_lows[is_first], all_bits[is_first]


def unusable_link_masks(cube: Hypercube) -> Array:
    """Return for each node a mask of its links that no message can use: the FAULT words of Algorithm DETECT (R1, R2).

    Parameters
    ----------
    cube : Hypercube
        n <= 24, and n <= 20 with faults sampled on demand.

    Returns
    -------
    uint64 array of 2^n
        Bit k of word v is set if v's link in dimension k is faulty, if v is faulty, or if its neighbour in dimension k is faulty.

    Examples
    --------
    >>> fc.unusable_link_masks(fc.Hypercube(3, faulty_links=[(0, 4)]))  # bit 2 at both ends
    array([4, 0, 0, 0, 4, 0, 0, 0], dtype=uint64)
    """
    check_range("n", check_cube(cube).n, 1, LARGEST_MASKS, "for a FAULT word of every node")
    masks = np.zeros(2**cube.n, np.uint64)
    low, bit = dead_links(cube)
    for k in range(cube.n):  # distinct links of one dimension have distinct ends
        link = _ONE << np.uint64(k)
        ends = low[bit == link]
        masks[ends] |= link
        masks[ends | link] |= link
    return masks


def first_sink(n: int, low: Array, bit: Array) -> int | None:
    """Return the first label that is not an end of a dead link (R3), or None if there is none."""
    ends = np.unique(np.concatenate([low, low | bit]))
    gaps = np.flatnonzero(ends != np.arange(ends.size, dtype=np.uint64))
    sink = int(gaps[0]) if gaps.size else int(ends.size)
    return sink if sink < 2**n else None


TREE_FINDERS: Algorithms[CommunicationTree | None] = Algorithms("find_tree", homes=("trees",), network="cube")


def find_tree(cube: Hypercube, algorithm: str | None = None) -> CommunicationTree | None:
    """Return a communication tree found by a heuristic rule: it has few faulty links, but not always the fewest.

    Parameters
    ----------
    cube : Hypercube
        Any n; n <= 20 with faults sampled on demand, because the status of every node is looked up.
    algorithm : str, optional
        ``FIND_TREE`` (default): the paper's Figure 10, which grows a subcube from the sink to the whole cube (R3-R6).
        ``TOP_DOWN``: fastcube's own, which shrinks the whole cube to the sink (R20).

    Returns
    -------
    CommunicationTree or None
        None only from FIND_TREE, if every node has a faulty link.

    Notes
    -----
    With D dead links FIND_TREE takes O(n D) time and TOP_DOWN O(n^2 D), independent of 2^n.

    Examples
    --------
    >>> tree = fc.find_tree(fc.Hypercube(3, faulty_links=[(0, 1)]))
    >>> tree.sink, tree.order, tree.faulty_links
    (2, (2, 1, 0), ())
    """
    return TREE_FINDERS.choose(cube, algorithm)(cube)


@TREE_FINDERS.register(Hypercube, "FIND_TREE", default=True)
def _find_tree_bottom_up(cube: Hypercube) -> CommunicationTree | None:
    """Run FIND_TREE, Figure 10, on the list of dead links: labels are relative to the sink, bits of used dimensions are 0.

    A dead link of an unused dimension k adds 1 to COST(j) if its lower end is 2^j, and to COST(k) if its lower end is 0.
    """
    n = cube.n
    low, bit = dead_links(cube)
    sink = first_sink(n, low, bit)
    if sink is None:
        return None
    difference = (low ^ np.uint64(sink)) & ~bit
    rest, order, costs = set(range(n)), [0] * n, []
    for i in range(n - 1, 0, -1):
        target = np.where(difference == 0, bit, difference)
        counted = target[target & (target - _ONE) == 0]
        total = np.bincount(np.bitwise_count(counted - _ONE), minlength=n).tolist()
        costs.append({j: total[j] for j in sorted(rest)})
        order[i] = min(sorted(rest), key=lambda j: total[j])  # ties: the lowest (R5)
        rest.remove(order[i])
        used = _ONE << np.uint64(order[i])
        difference, bit = difference[bit != used] & ~used, bit[bit != used]
    (order[0],) = rest
    return CommunicationTree(cube, sink, order, costs)


@TREE_FINDERS.register(Hypercube, "TOP_DOWN")
def _find_tree_top_down(cube: Hypercube) -> CommunicationTree:
    """Run TOP_DOWN (R20) on the list of dead links inside the present subcube."""
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
