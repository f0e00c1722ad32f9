"""Bounds on the number of isolated nodes of a network under random faults, by the Bonferroni inequalities (N11)."""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb, perm
from typing import NamedTuple

import numpy as np

from ..errors import ParameterError, as_number, check_integer, check_range, percentage_value, short_repr
from ..networks.family import Family, find_family

#: Largest n at which pairs of nodes are counted for a network without a formula.
_LARGEST_COUNTED = 16


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
    all_links = family.links(n) if links is not None else 0
    faulty_links = check_integer("links", links or 0, 0, all_links, f"for {family.name} at n={n}")
    faulty_nodes = check_integer("f", 0 if f is None else f, 0, nodes, f"for n={n}")
    of_links = _fault_weights_by_number(faulty_links, all_links)
    if link_rate is not None:
        of_links = _fault_weights_by_rate("link_rate", link_rate)
    of_nodes = _fault_weights_by_number(faulty_nodes, nodes)
    if rate is not None:
        of_nodes = _fault_weights_by_rate("rate", rate)
    links_fail, nodes_fail = of_links(1, 0) > 0, of_nodes(1, 0) > 0
    if links_fail and not nodes_fail:
        degrees, pairs = _link_counts(family, n)
    else:
        degrees, pairs = _degree_counts(family, n, links_fail)
    singles = {Neighbourhood(0, degree, 0): count for degree, count in degrees.items()}
    first = _expected_isolated(1, singles, of_nodes, of_links)
    second = _expected_isolated(2, pairs, of_nodes, of_links)
    return _bonferroni_bracket(nodes, first, second)


#: A function of two numbers: the probability that so many given nodes (or links) are faulty, and so many others are not.
FaultWeights = Callable[[int, int], Fraction]


class Neighbourhood(NamedTuple):
    """The surroundings of one or two given nodes, as far as their isolation depends on them."""

    links: int  #: links between the two
    single: int  #: other nodes that are neighbours of one of them
    double: int  #: other nodes that are neighbours of both


def _expected_isolated(
    given: int, kinds: Mapping[Neighbourhood, int], of_nodes: FaultWeights, of_links: FaultWeights
) -> Fraction:
    """Return the mean number of isolated nodes, or pairs (``given`` = 2), from numbers of nodes or pairs by neighbourhood."""
    terms = (count * _isolation_probability(given, near, of_nodes, of_links) for near, count in kinds.items())
    return sum(terms, Fraction(0))


def _isolation_probability(given: int, near: Neighbourhood, of_nodes: FaultWeights, of_links: FaultWeights) -> Fraction:
    """Return the probability that the ``given`` nodes, 1 or 2, are nonfaulty and isolated.

    The links between the two must be faulty.  So must each neighbour, or its one or two links to the given nodes.
    """
    total = Fraction(0)
    for b, d in itertools.product(range(near.single + 1), range(near.double + 1)):  # numbers of nonfaulty neighbours
        links_are_faulty = of_links(near.links + b + 2 * d, 0)
        if links_are_faulty:
            ways = comb(near.single, b) * comb(near.double, d)
            total += ways * links_are_faulty * of_nodes(near.single - b + near.double - d, given + b + d)
    return total


def _fault_weights_by_rate(name: str, rate: object) -> FaultWeights:
    """Return the weights of nodes, or links, that are faulty independently with probability ``rate``.  Raises ParameterError."""
    number = as_number(percentage_value(rate))
    if number is None or not 0 <= number <= 1:
        raise ParameterError(f"{name} must be a number in [0, 1], got {short_repr(rate)}")
    p = Fraction(number)
    return lambda faulty, nonfaulty: p**faulty * (1 - p) ** nonfaulty


def _fault_weights_by_number(f: int, whole: int) -> FaultWeights:
    """Return the weights of nodes, or links, of which f of the ``whole`` number are faulty."""
    if not f:
        return lambda faulty, nonfaulty: Fraction(not faulty)
    return lambda faulty, nonfaulty: Fraction(
        perm(f, faulty) * perm(whole - f, nonfaulty), perm(whole, faulty + nonfaulty)
    )


@functools.lru_cache(maxsize=64)
def _degree_counts(family: Family, n: int, adjacent: bool) -> tuple[dict[int, int], dict[Neighbourhood, int]]:
    """Return the numbers of nodes by degree, and of pairs of nodes by neighbourhood.

    Pairs with a link between them are counted only if ``adjacent``, because without faulty links they are never both isolated.
    """
    nodes = 1 << n
    near = n * nodes // 2 if adjacent else 0
    if family.name == "hypercube":
        close = nodes * n * (n - 1) // 4
        far = nodes * (nodes - 1 - n) // 2 - close
        pairs = {
            Neighbourhood(1, 2 * n - 2, 0): near,
            Neighbourhood(0, 2 * n - 4, 2): close,
            Neighbourhood(0, 2 * n, 0): far,
        }
        return {n: nodes}, {kind: count for kind, count in pairs.items() if count}
    check_range("n", n, 1, _LARGEST_COUNTED, f"to count pairs of nodes of {family.name}")
    from ..kernels.cube.tables import count_shared_neighbours

    table = family.table(n)
    degrees = Counter((table != np.arange(nodes)[:, None]).sum(axis=1).tolist())
    shared = count_shared_neighbours(table).tolist()
    if not adjacent:  # without faulty links a neighbour of both must be faulty, like a neighbour of one
        return dict(degrees), {Neighbourhood(0, either, 0): count for either, count in enumerate(shared) if count}
    if not family.is_regular(n):
        raise ParameterError(
            f"f must be left out with links for {family.name}, whose nodes differ in their numbers of links"
        )
    degree = family.degree(n)
    missing = table == np.arange(nodes)[:, None]  # a slot without a link must not count as a common neighbour
    one, other = np.where(missing, nodes, table), np.where(missing, nodes + 1, table)
    kinds = Counter(
        {
            Neighbourhood(0, 2 * (either - degree), 2 * degree - either): count
            for either, count in enumerate(shared)
            if count
        }
    )
    for d in range(table.shape[1]):
        both = (one[:, :, None] == other[table[:, d]][:, None, :]).sum(axis=(1, 2))
        numbers = both[table[:, d] > np.arange(nodes)].tolist()  # each link once, at its smaller end
        kinds.update(Counter(Neighbourhood(1, 2 * (degree - 1 - c), c) for c in numbers))
    return dict(degrees), dict(kinds)


def _link_counts(family: Family, n: int) -> tuple[dict[int, int], dict[Neighbourhood, int]]:
    """Return numbers of nodes by degree, and of pairs by neighbourhood, if only links fail.

    A neighbour of both nodes then counts like two neighbours of one node, because its two links must fail.
    """
    if family.is_regular(n):
        degrees = {family.degree(n): 1 << n}
        near = {2 * family.degree(n): family.links(n)}  # number of links, by the sum of the degrees of their ends
    else:
        check_range("n", n, 1, _LARGEST_COUNTED, f"to count links of {family.name}")
        table = family.table(n)
        joined = table != np.arange(len(table))[:, None]
        by_node = joined.sum(axis=1)
        degrees = dict(Counter(by_node.tolist()))
        together = Counter((by_node[:, None] + by_node[table])[joined].tolist())  # counts each link from both ends
        near = {b: count // 2 for b, count in together.items()}
    pairs: Counter[Neighbourhood] = Counter()
    for a, b in itertools.combinations_with_replacement(degrees, 2):
        pairs[Neighbourhood(0, a + b, 0)] += degrees[a] * degrees[b] if a != b else degrees[a] * (degrees[a] - 1) // 2
    for ends, count in near.items():
        pairs[Neighbourhood(0, ends, 0)] -= count
        pairs[Neighbourhood(1, ends - 2, 0)] += count
    return degrees, {kind: count for kind, count in pairs.items() if count}


def _bonferroni_bracket(nodes: int, first: Fraction, second: Fraction) -> IsolatedNodeBounds:
    """Return bounds from S1 = E X and S2 = E C(X, 2): S1 - S2 <= P(X >= 1) <= S1 - 2 S2 / N."""
    exact = ExactBounds(first, max(first - second, Fraction(0)), min(first - 2 * second / nodes, Fraction(1)))
    return IsolatedNodeBounds(float(exact.mean), _round_down(exact.low), _round_up(exact.high), exact)
