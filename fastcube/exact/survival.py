"""Exact values of survival: the numbers of fault sets that leave a small network connected (N11).

Three computations give them.  Sets of faulty nodes are counted up to n = 4 in NumPy, all at once (``component_counts``), and at
n = 5 by a kernel, or read from the package for a built-in network.  Sets of faulty links are counted without a look at each, by a
frontier of partitions (``_count_spanning``).  A set is *1-extra* if it disconnects the network and isolates no node.
"""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import comb, perm

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError, check_integer, check_range, short_repr
from ..networks.family import Family, find_family
from ..resources import read_json, wrap_damage_errors
from ..running.progress import Progress

#: Largest n at which Python goes through all sets of faulty nodes, and largest n at which the kernel does.
SMALL, _LARGEST = 4, 5

#: Most links whose sets are counted.
_MOST_LINKS = 32


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
        """The counts of faulty nodes by name: all up to n = SMALL, and ``nodes`` and ``extra_1`` at n = 5."""
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
        whole = len(counts) - 1
        found = [Fraction(count, comb(whole, f)) for f, count in enumerate(counts)]
        if stat != "disconnected":
            return found
        with_survivors = len(found) if failing == "links" else whole
        return [*(1 - p for p in found[:with_survivors]), *found[with_survivors:]]

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

    Raises
    ------
    ParameterError
        For an unknown network, or an n that it does not have or whose fault sets are too many.

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


def exact_probabilities(name: str | Family, n: int, failing: str, stat: str) -> list[Fraction]:
    """Return ``exact_survival(name, n).probabilities(failing, stat)``; the message about n has the range of this statistic.

    Raises ParameterError for an unknown network or statistic, or an n at which the sets, or orders, of failures are too many.
    """
    family = find_family(name)
    size = family.check_size(n)
    largest, what = (SMALL, "orders of failing nodes") if stat == "first" else (_LARGEST, "sets of faulty nodes")
    if failing == "links":
        what = "sets of faulty links"
        largest = max(k for k in range(1, _LARGEST + 1) if family.sizes(k) and family.links(k) <= _MOST_LINKS)
    if size > largest:
        raise ParameterError(
            f"n must be at most {largest} for exact values of {family.name} from all {what}, got {size}; results of"
            " survival-curve or hitting give values with intervals, and fc.isolated_node_bounds gives proved limits"
        )
    return exact_survival(family, size).probabilities(failing, stat)


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
    nodes = 2**DIMENSIONS
    sets_in_group = 2**nodes // GROUPS
    total = np.zeros((2, nodes + 1), np.int64)  # a row for each of both counts, by the number of faulty nodes
    step = GROUPS // 256  # groups between two reports
    progress.start(0)
    for first in range(0, GROUPS, step):
        stop = first + step
        total += count_node_sets(table, first, stop)
        if progress.is_due(final := stop == GROUPS):
            progress.update(sets_in_group * stop, sets_in_group * GROUPS, f"fault sets of {family.name}", final=final)
    return total[:, :nodes].tolist()  # type: ignore[no-any-return]


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
    the rest.  It is stored by each node's smallest class member.  For each partition one integer has the numbers of choices that
    lead to it, by the number of removed links, as digits in base 2^64.  No digit overflows, because up to _MOST_LINKS links have
    at most 2^32 sets.
    """
    digit_bits = 64
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
            for chosen, weight in ((joined, ways), (part, ways << digit_bits)):
                closed = _close_nodes(chosen, ended)
                if closed is not None:
                    after[closed] += weight
        states = after
    (total,) = states.values()
    return [total >> digit_bits * k & 2**digit_bits - 1 for k in range(len(links) + 1)]


def _close_nodes(part: dict[int, int], ended: list[int]) -> tuple[tuple[int, int], ...] | None:
    """Return the partition without the ``ended`` nodes, or None if a class would be cut off for good."""
    left = {v: p for v, p in part.items() if v not in ended}
    if any(part[v] not in left.values() for v in ended):
        return None
    name: dict[int, int] = {}
    return tuple((v, name.setdefault(left[v], v)) for v in sorted(left))
