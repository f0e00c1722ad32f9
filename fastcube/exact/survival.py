"""Exact values of survival: fault sets that leave a small network connected, and bounds for isolated nodes (N11)."""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb, perm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError, as_number, check_integer, check_range, percentage_value, short_repr
from ..networks.family import Family, find_family
from ..resources import read_json, wrap_damage_errors
from ..running.progress import Progress

#: Largest n at which Python, and the kernel, go through all sets of faulty nodes; most links whose sets are counted.
SMALL, _LARGEST, _MOST_LINKS = 4, 5, 32

#: Largest n at which pairs of nodes are counted for a network without a formula.
_LARGEST_COUNTED = 16


def _read_counts(name: str) -> dict[str, list[int]]:
    """Return the counts of a built-in network at n = 5.  Raises ParameterError if they cannot be numbers of fault sets."""
    with wrap_damage_errors("exact-survival"):
        counts: dict[str, list[int]] = read_json("exact-survival")["networks"][name]
        for f, (connected, extra_1) in enumerate(zip(counts["nodes"], counts["extra_1"], strict=True)):
            if min(connected, extra_1) < 0 or connected + extra_1 > comb(2**_LARGEST, f):
                raise ValueError(f"{name} has more sets of {f} faulty nodes than there are")
    return counts


@dataclass(frozen=True)
class ExactSurvival:
    """Numbers of fault sets that leave a network connected.

    Attributes
    ----------
    nodes : list of int
        ``nodes[f]`` counts sets of f faulty nodes, f = 0 .. 2^n - 1 (for f = 2^n no node is left).
    extra_1, extra_2, extra_3 : list of int
        Numbers of sets that disconnect it into components of more than 1, 2 or 3 nodes each; the last two for n <= 4.
    at_least_3_components, at_least_4_components : list of int
        Numbers of sets that leave at least 3 or 4 components; n <= 4.
    links : list of int
        ``links[k]`` counts sets of k faulty links.  Raises ParameterError for a network of more than 32 links.
    """

    family: Family
    n: int

    @property
    def nodes(self) -> list[int]:
        return self._counts["nodes"]

    @property
    def extra_1(self) -> list[int]:
        return self._counts["extra_1"]

    @property
    def extra_2(self) -> list[int]:
        return self._small_counts("extra_2")

    @property
    def extra_3(self) -> list[int]:
        return self._small_counts("extra_3")

    @property
    def at_least_3_components(self) -> list[int]:
        return self._small_counts("at_least_3_components")

    @property
    def at_least_4_components(self) -> list[int]:
        return self._small_counts("at_least_4_components")

    def _small_counts(self, name: str) -> list[int]:
        check_range("n", self.n, 1, SMALL, f"for {name}")
        return self._counts[name]

    @functools.cached_property
    def _counts(self) -> dict[str, list[int]]:
        if self.n > SMALL:
            if self.family.own is None:
                return _read_counts(self.family.name)
            return dict(zip(("nodes", "extra_1"), count_all_node_sets(self.family), strict=True))
        number, smallest, _ = component_counts(self.neighbours())
        chosen = {
            "nodes": number == 1,
            **{f"extra_{g}": (number > 1) & (smallest > g) for g in (1, 2, 3)},
            **{f"at_least_{r}_components": number >= r for r in (3, 4)},
        }
        faults = {name: 2**self.n - np.bitwise_count(np.flatnonzero(some)) for name, some in chosen.items()}
        return {name: np.bincount(f, minlength=2**self.n).tolist() for name, f in faults.items()}

    @functools.cached_property
    def links(self) -> list[int]:
        links = _list_links(self.family, self.n)
        if len(links) > _MOST_LINKS:
            raise ParameterError(
                f"links of {self.family.name} at n={self.n} must be at most {_MOST_LINKS} for all sets "
                f"of them to be counted, got {len(links)}"
            )
        return _count_spanning(links, 2**self.n)

    def probabilities(self, failing: str, stat: str = "connected") -> list[Fraction]:
        """Return a probability at each number of failures, for :func:`fastcube.reliability` and :func:`fastcube.lifetime`.

        Parameters
        ----------
        failing : str
            What fails: "nodes" or "links".
        stat : str
            "connected" or "disconnected"; "extra_1" for nodes; or "first": no failure so far has disconnected the survivors.
            This differs from "connected" for nodes, which needs n <= 4.  A set without survivors counts as 0.
        """
        known = ["connected", "disconnected", "first", *["extra_1"] * (failing == "nodes")]
        for name, given, choices in (("failing", failing, ["nodes", "links"]), ("stat", stat, known)):
            if given not in choices:
                raise ParameterError(f"{name} must be one of {', '.join(choices)}, got {short_repr(given)}")
        if failing == "nodes" and stat == "first":
            return self._first_disconnection()
        counts = self.links if failing == "links" else [*(self.extra_1 if stat == "extra_1" else self.nodes), 0]
        many = len(counts) - 1
        found = [Fraction(count, comb(many, f)) for f, count in enumerate(counts)]
        return (
            [1 - p if failing == "links" or f < many else p for f, p in enumerate(found)]
            if stat == "disconnected"
            else found
        )

    def _first_disconnection(self) -> list[Fraction]:
        """Return the fractions of the orders of failing nodes of which no first part disconnects the survivors."""
        check_range("n", self.n, 1, SMALL, "for orders of failing nodes")
        nodes = 1 << self.n
        sets = np.arange(1 << nodes)
        sizes, connected = np.bitwise_count(sets), component_counts(self.neighbours())[0] == 1
        ways = np.zeros(1 << nodes, np.int64)  # orders that lead to a set of survivors
        ways[-1] = 1
        for size in range(nodes - 1, 0, -1):
            some = sets[(sizes == size) & connected]
            ways[some] = sum(np.where(some >> v & 1, 0, ways[some | 1 << v]) for v in range(nodes))
        return [*(Fraction(int(ways[sizes == nodes - f].sum()), perm(nodes, f)) for f in range(nodes)), Fraction(0)]

    def neighbours(self) -> list[int]:
        """Return the neighbours of each node, as bitmasks."""
        near = [0] * 2**self.n
        for u, v in _list_links(self.family, self.n):
            near[u] |= 1 << v
            near[v] |= 1 << u
        return near


def exact_survival(name: str | Family, n: int) -> ExactSurvival:
    """Return the numbers of sets of faulty nodes, and of faulty links, that leave a network connected.

    Parameters
    ----------
    name : str or Family
        A name of :func:`fastcube.network_families`, or a family of your own.
    n : int
        1 to 5, if the family has such a network.  The package contains the counts of the built-in networks at n = 5; a network of
        your own takes about a minute there.

    Returns
    -------
    ExactSurvival

    Examples
    --------
    >>> fc.exact_survival("hypercube", 2).nodes  # two of the six pairs of nodes disconnect the other two nodes
    [1, 4, 4, 4]
    >>> fc.exact_survival("hypercube", 2).links  # a cycle of four links stays connected without any one link
    [1, 4, 0, 0, 0]
    """
    family = find_family(name)
    check_range("n", check_integer("n", n, 1, 62), 1, _LARGEST, "to look at all sets of faults")
    return ExactSurvival(family, family.check_size(n))


def _list_links(family: Family, n: int) -> list[tuple[int, int]]:
    """Return all links (u, v), u < v, sorted by v, so that few nodes have links on both sides of any place in the list."""
    table = family.table(n).tolist()
    return sorted(
        {(min(v, w), max(v, w)) for v, row in enumerate(table) for w in row if w != v}, key=lambda link: link[::-1]
    )


def count_all_node_sets(family: Family) -> list[list[int]]:
    """Return the counts ``nodes`` and ``extra_1`` over all 2^32 sets of faulty nodes at n = 5; reports progress."""
    from ..kernels.survival.all_sets import DIMENSIONS, GROUPS, count_node_sets

    table, progress = family.table(DIMENSIONS), Progress()
    total, step = np.zeros((2, 33), np.int64), GROUPS // 256
    progress.start(0)
    for first in range(0, GROUPS, step):
        total += count_node_sets(table, first, first + step)
        if progress.is_due(final := first + step == GROUPS):
            progress.update(512 * (first + step), 512 * GROUPS, f"fault sets of {family.name}", final=final)
    return total[:, :32].tolist()  # type: ignore[no-any-return]


def component_counts(
    near: list[int], sets: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of components of sets of nodes, the sizes of the smallest, and the numbers of connected pairs.

    ``sets`` are bitmasks, by default all; ``near`` are the neighbours of each node.
    """
    left: NDArray[np.int64] = np.arange(1 << len(near), dtype=np.int64) if sets is None else sets.copy()
    number, smallest, pairs = np.zeros_like(left), np.full_like(left, len(near)), np.zeros_like(left)
    while left.any():
        reached, before = left & -left, np.zeros_like(left)
        while (reached != before).any():
            before = reached.copy()
            for v, others in enumerate(near):
                reached |= np.where(reached >> v & 1, others, 0) & left
        number += reached > 0
        size = np.bitwise_count(reached).astype(np.int64)
        smallest = np.where(reached > 0, np.minimum(smallest, size), smallest)
        pairs += size * (size - 1) // 2
        left ^= reached
    return number, smallest, pairs


def _count_spanning(links: list[tuple[int, int]], nodes: int) -> list[int]:
    """Return the numbers of sets of k links whose removal leaves all nodes connected, by a frontier of partitions.

    Links are taken one by one.  Only the partition of nodes that still have links to come, into connected classes, matters for
    the rest.  It is stored by each node's smallest class member.  For each partition one integer holds the numbers of
    choices that lead to it: its base-2^64 digits, by the number of removed links.
    """
    last = {v: i for i, link in enumerate(links) for v in link}
    last[links[-1][0]] = len(links)  # one node stays until the end, so that the last class is never closed
    first = {v: i for i, link in reversed(list(enumerate(links))) for v in link}
    states: Counter[tuple[tuple[int, int], ...]] = Counter({(): 1})
    for i, link in enumerate(links):
        after: Counter[tuple[tuple[int, int], ...]] = Counter()
        ended = [v for v in link if last[v] == i]
        for state, ways in states.items():
            part = dict(state) | {v: v for v in link if first[v] == i}
            a, b = sorted((part[link[0]], part[link[1]]))
            joined = {v: a if p == b else p for v, p in part.items()}
            for chosen, weight in ((joined, ways), (part, ways << 64)):
                closed = _close_nodes(chosen, ended)
                if closed is not None:
                    after[closed] += weight
        states = after
    (total,) = states.values()
    return [total >> 64 * k & 2**64 - 1 for k in range(len(links) + 1)]


def _close_nodes(part: dict[int, int], ended: list[int]) -> tuple[tuple[int, int], ...] | None:
    """Return the partition without the ``ended`` nodes, or None if a class would be cut off for good."""
    left = {v: p for v, p in part.items() if v not in ended}
    if any(part[v] not in left.values() for v in ended):
        return None
    name: dict[int, int] = {}
    return tuple((v, name.setdefault(left[v], v)) for v in sorted(left))


class ExactBounds(NamedTuple):
    """The numbers of ``IsolatedNodeBounds`` as fractions."""

    mean: Fraction
    low: Fraction
    high: Fraction


@dataclass(frozen=True)
class IsolatedNodeBounds:
    """Bounds on the number X of isolated nodes of a network under random faults (N11).

    Attributes
    ----------
    mean : float
        E X.
    low, high : float
        Bounds on P(X >= 1), from E X and E C(X, 2), rounded down and up, so ``high`` is 0 only if no node can be isolated.  They
        concern only isolated nodes: a network can also be disconnected without one.
    exact : ExactBounds
        The three numbers as fractions.
    """

    mean: float
    low: float
    high: float
    exact: ExactBounds = field(repr=False)

    def minus(self, other: IsolatedNodeBounds) -> tuple[float, float]:
        """Return proved limits of P(X >= 1) here minus P(X >= 1) there, rounded down and up.

        Examples
        --------
        >>> folded, cube = (fc.isolated_node_bounds(name, 10, links=102) for name in ("folded", "hypercube"))
        >>> low, high = folded.minus(cube)
        >>> low < high < 0  # an isolated node is proved to be rarer in the folded hypercube
        True
        """
        return (
            _round_down(self.exact.low - other.exact.high),
            _round_up(self.exact.high - other.exact.low),
        )


def _round_up(exact: Fraction) -> float:
    """Return the least float that is not below a fraction."""
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)


def _round_down(exact: Fraction) -> float:
    """Return the largest float that is not above a fraction."""
    return -_round_up(-exact)


def isolated_node_bounds(
    name: str | Family,
    n: int,
    *,
    f: int | None = None,
    rate: float | None = None,
    links: int | None = None,
    link_rate: float | None = None,
) -> IsolatedNodeBounds:
    """Return the mean number of isolated nodes under random faults, and bounds on the probability of at least one.

    Parameters
    ----------
    name : str or Family
        The hypercube at every n.  Another network at n <= 16, because pairs of its nodes are counted; this limit does not apply
        to ``links`` or ``link_rate`` alone if all nodes have the same degree.
    n : int
    f, rate : int, float
        ``f`` distinct faulty nodes, or every node faulty with probability ``rate``, a number or text such as ``"2%"``.
    links, link_rate : int, float
        ``links`` distinct faulty links, or every link faulty with probability ``link_rate``; alone, or together with faulty
        nodes.

    Returns
    -------
    IsolatedNodeBounds

    Raises
    ------
    ParameterError
        If none is given, or ``f`` together with ``rate``, or ``links`` with ``link_rate``.

    Examples
    --------
    >>> fc.isolated_node_bounds("hypercube", 3, f=3).exact.mean  # 8 nodes, each isolated by one of the 56 fault sets
    Fraction(1, 7)
    >>> fc.isolated_node_bounds("hypercube", 12, f=40, links=25).mean
    2.284172501581799e-21
    """
    family = find_family(name)
    n = family.check_size(n)
    given = {"f": f, "rate": rate, "links": links, "link_rate": link_rate}
    given = {what: x for what, x in given.items() if x is not None}
    if not given or {"f", "rate"} <= given.keys() or {"links", "link_rate"} <= given.keys():
        some = ", ".join(f"{what}={short_repr(x)}" for what, x in given.items())
        raise ParameterError(
            f"one of f and rate, or one of links and link_rate, or one of each must be given, got {some or 'none'}"
        )
    nodes = 1 << n
    many = family.links(n) if links is not None else 0
    faulty_links = check_integer("links", links or 0, 0, many, f"for {family.name} at n={n}")
    faulty_nodes = check_integer("f", 0 if f is None else f, 0, nodes, f"for n={n}")
    cut = _fault_weights_by_number(faulty_links, many)
    if link_rate is not None:
        cut = _fault_weights_by_rate("link_rate", link_rate)
    alone = _fault_weights_by_number(faulty_nodes, nodes)
    if rate is not None:
        alone = _fault_weights_by_rate("rate", rate)
    links_fail, nodes_fail = cut(1, 0) > 0, alone(1, 0) > 0
    if links_fail and not nodes_fail:
        degrees, pairs = _link_counts(family, n)
    else:
        degrees, pairs = _degree_counts(family, n, links_fail)
    first = sum((count * _isolation(1, 0, d, 0, alone, cut) for d, count in degrees.items()), Fraction(0))
    second = sum((count * _isolation(2, *kind, alone, cut) for kind, count in pairs.items()), Fraction(0))
    return _bonferroni_bracket(nodes, first, second)


#: P(the first number of given nodes, or links, are faulty, and the second number of others are not).
Weights = Callable[[int, int], Fraction]


def _isolation(isolated: int, links: int, single: int, double: int, alone: Weights, cut: Weights) -> Fraction:
    """Return the probability that one or two given nodes are nonfaulty and isolated.

    ``links`` is the number of links between the two.  ``single`` other nodes are neighbours of one of them, ``double`` of both.
    Each of these is faulty, or its one or two links to the given nodes are.
    """
    total = Fraction(0)
    for b, d in itertools.product(range(single + 1), range(double + 1)):  # numbers of nonfaulty neighbours
        faulty_links = links + b + 2 * d
        chance = cut(faulty_links, 0)
        if chance:
            ways = comb(single, b) * comb(double, d)
            total += ways * chance * alone(single - b + double - d, isolated + b + d)
    return total


def _fault_weights_by_rate(name: str, rate: object) -> Weights:
    number = as_number(percentage_value(rate))
    if number is None or not 0 <= number <= 1:
        raise ParameterError(f"{name} must be a number in [0, 1], got {short_repr(rate)}")
    p = Fraction(number)
    return lambda b, living: p**b * (1 - p) ** living


def _fault_weights_by_number(f: int, nodes: int) -> Weights:
    """Return P(b given nodes, or links, are faulty and ``living`` others are not), with f of all ``nodes`` faulty."""
    if not f:
        return lambda b, living: Fraction(not b)
    return lambda b, living: Fraction(perm(f, b) * perm(nodes - f, living), perm(nodes, b + living))


@functools.lru_cache(maxsize=64)
def _degree_counts(family: Family, n: int, adjacent: bool) -> tuple[dict[int, int], dict[tuple[int, int, int], int]]:
    """Return the numbers of nodes by degree, and of pairs by (links between them, neighbours of one, neighbours of both).

    Pairs with a link between them are counted only if ``adjacent``, because without faulty links they are never both isolated.
    """
    nodes = 1 << n
    near = n * nodes // 2 if adjacent else 0
    if family.name == "hypercube":
        close = nodes * n * (n - 1) // 4
        far = nodes * (nodes - 1 - n) // 2 - close
        pairs = {(1, 2 * n - 2, 0): near, (0, 2 * n - 4, 2): close, (0, 2 * n, 0): far}
        return {n: nodes}, {kind: count for kind, count in pairs.items() if count}
    check_range("n", n, 1, _LARGEST_COUNTED, f"to count pairs of nodes of {family.name}")
    from ..kernels.cube.tables import count_shared_neighbours

    table = family.table(n)
    degrees = Counter((table != np.arange(nodes)[:, None]).sum(axis=1).tolist())
    shared = count_shared_neighbours(table).tolist()
    if not adjacent:  # without faulty links a neighbour of both must be faulty, like a neighbour of one
        return dict(degrees), {(0, b, 0): count for b, count in enumerate(shared) if count}
    if not family.is_regular(n):
        raise ParameterError(
            f"f must be left out with links for {family.name}, whose nodes differ in their numbers of links"
        )
    degree = family.degree(n)
    missing = table == np.arange(nodes)[:, None]  # a slot without a link must not count as a common neighbour
    one, other = np.where(missing, nodes, table), np.where(missing, nodes + 1, table)
    kinds = Counter({(0, 2 * (b - degree), 2 * degree - b): count for b, count in enumerate(shared) if count})
    for d in range(table.shape[1]):
        both = (one[:, :, None] == other[table[:, d]][:, None, :]).sum(axis=(1, 2))
        kinds.update(Counter((1, 2 * (degree - 1 - c), c) for c in both[table[:, d] > np.arange(nodes)].tolist()))
    return dict(degrees), dict(kinds)


def _link_counts(family: Family, n: int) -> tuple[dict[int, int], dict[tuple[int, int, int], int]]:
    """Return numbers of nodes by degree, and of pairs as ``_degree_counts`` does, if only links fail.

    A neighbour of both nodes then counts like two neighbours of one node, because its two links must fail.
    """
    if family.is_regular(n):
        degrees, near = {family.degree(n): 1 << n}, {2 * family.degree(n): family.links(n)}
    else:
        check_range("n", n, 1, _LARGEST_COUNTED, f"to count links of {family.name}")
        table = family.table(n)
        joined = table != np.arange(len(table))[:, None]
        by_node = joined.sum(axis=1)
        degrees = dict(Counter(by_node.tolist()))
        together = Counter((by_node[:, None] + by_node[table])[joined].tolist())  # counts each link from both ends
        near = {b: count // 2 for b, count in together.items()}
    pairs: Counter[tuple[int, int, int]] = Counter()
    for a, b in itertools.combinations_with_replacement(degrees, 2):
        pairs[0, a + b, 0] += degrees[a] * degrees[b] if a != b else degrees[a] * (degrees[a] - 1) // 2
    for b, count in near.items():
        pairs[0, b, 0] -= count
        pairs[1, b - 2, 0] += count
    return degrees, {kind: count for kind, count in pairs.items() if count}


def _bonferroni_bracket(nodes: int, first: Fraction, second: Fraction) -> IsolatedNodeBounds:
    """Return bounds from S1 = E X and S2 = E C(X, 2): S1 - S2 <= P(X >= 1) <= S1 - 2 S2 / N."""
    exact = ExactBounds(first, max(first - second, Fraction(0)), min(first - 2 * second / nodes, Fraction(1)))
    return IsolatedNodeBounds(float(exact.mean), _round_down(exact.low), _round_up(exact.high), exact)
