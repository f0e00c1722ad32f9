"""2-partitions of one faulty hypercube, and the supercube of a 2-partition (Wang, Lin & Kuo, section 3).

A pair of dimensions P = {lo, hi} divides Q_n into 2^(n-2) 2-cubes.  P is fault-tolerant if each of them has at most one fault: a
faulty node or an end of a faulty link (A12).  The 2-cubes are the nodes of the supercube Q'_{n-2}, labelled along a Hamilton
path.  Messages move inside a 2-cube by the function R and between 2-cubes by R'.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from typing import NamedTuple

from ..errors import ParameterError, as_integer, check_flag, check_integer, is_many, short_repr
from ..networks.hypercube import Hypercube, Subcube, check_cube
from ..networks.network import require_listed_faults

#: Two dimensions (lo, hi), lo < hi.
Pair = tuple[int, int]


def faults_of(cube: Hypercube) -> frozenset[int]:
    """Return F: the faulty nodes and both ends of every faulty link (A12).  Faults must be listed, not sampled on demand."""
    nodes = require_listed_faults(check_cube(cube), "for a 2-partition, which looks at all of them")
    return nodes.union(*cube.faulty_links)


def find_conflict(faults: Collection[int], mask: int) -> tuple[int, int] | None:
    """Return the first two faults that are equal outside the dimensions of ``mask``, the earlier fault first, or None."""
    seen: dict[int, int] = {}
    for fault in faults:
        first = seen.setdefault(fault & ~mask, fault)
        if first != fault:
            return first, fault
    return None


def find_pair(n: int, faults: Collection[int], exhaustive: bool) -> Pair | None:
    """Return the pair of ``two_partition`` for Q_n with these faults; a label that is repeated is one fault.

    Both searches take the first dimension without a conflict for lo, and the first dimension that fits lo for hi.  A
    dimension below lo cannot be hi, because it has a conflict of its own.  Figure 2 ends there, and the exhaustive search
    continues with the next lo.
    """
    without_conflict = [i for i in range(n) if find_conflict(faults, 1 << i) is None]
    for lo, hi in itertools.combinations(without_conflict, 2):
        if lo != without_conflict[0] and not exhaustive:
            return None
        if find_conflict(faults, 1 << lo | 1 << hi) is None:
            return lo, hi
    return None


def greedy_two_partition(n: int, faults: Collection[int], map_back: bool = True) -> tuple[Pair | None, int]:
    """Run Figure 2, the greedy 2-partition, step by step.

    Parameters
    ----------
    n : int
        Dimension, in [2, 62].
    faults : collection of int
        Distinct labels in [0, 2^n - 1].  With a repeated label the search finds no pair.
    map_back : bool
        Whether to translate j, a dimension of the shortened labels, back to the cube's numbering (A1).  If False, j is returned
        as printed.

    Returns
    -------
    ((int, int) or None, int)
        The pair (lo, hi), or None if the search finds none, and the number of labels from which a digit was deleted.  If
        ``map_back`` is False, lo and hi can be equal.

    Notes
    -----
    Step 1 looks for a dimension i whose deletion leaves all labels of F distinct.  Step 2 looks for j likewise in the shortened
    labels F_1.

    Examples
    --------
    >>> fc.greedy_two_partition(3, [0, 7])
    ((0, 1), 4)
    """
    n = check_integer("n", n, 2, 62)
    map_back = check_flag("map_back", map_back)
    if not is_many(faults):
        raise ParameterError(f"faults must be labels, got {short_repr(faults)}")
    labels = [check_integer("faults", label, 0, 2**n - 1, f"for n={n}") for label in faults]
    shortened = 0

    def find_dimension(labels: list[int], digits: int) -> tuple[int, list[int]] | None:
        nonlocal shortened
        for i in range(digits):
            shorter = [label >> i + 1 << i | label & (1 << i) - 1 for label in labels]
            shortened += len(labels)
            if len(set(shorter)) == len(labels):
                return i, shorter
        return None

    first = find_dimension(labels, n)
    second = None if first is None else find_dimension(first[1], n - 1)
    if first is None or second is None:
        return None, shortened
    i, j = first[0], second[0]
    k = j + 1 if map_back and j >= i else j
    return (min(i, k), max(i, k)), shortened


def two_partition(cube: Hypercube, exhaustive: bool = False) -> Pair | None:
    """Return a fault-tolerant 2-partition: two dimensions such that every 2-cube along them has at most one fault.

    Parameters
    ----------
    cube : Hypercube
        Any n, with listed faults; both ends of a faulty link count as faults (A12).
    exhaustive : bool
        False: the greedy search of Figure 2, as interpreted by A1.  True: the first pair in lexicographic order, which is the
        greedy pair if the greedy search finds one (A13).

    Returns
    -------
    (int, int) or None
        (lo, hi) with lo < hi, or None if the search finds no pair.  By Lemma 1 there is a pair for n >= 2 and at most n - 1
        faults; for n = 1, and for more than 2^(n-2) faults, there is none.

    Notes
    -----
    Takes O(f n^2) time at worst for f faults.  A dimension or a pair is given up at its first conflict.

    Examples
    --------
    >>> fc.two_partition(fc.Hypercube(3, faulty_nodes=[0]))
    (0, 1)
    """
    faults = sorted(faults_of(cube))
    return find_pair(cube.n, faults, check_flag("exhaustive", exhaustive))


def check_partition(cube: Hypercube, partition: object) -> Pair:
    """Return a fault-tolerant pair as (lo, hi); for None the first pair of the exhaustive search (A13).

    Raises ParameterError for anything but two dimensions, for a pair with two faults in a 2-cube, and if there is no pair.
    """
    faults = sorted(faults_of(cube))
    if partition is None:
        found = find_pair(cube.n, faults, exhaustive=True)
        if found is None:
            raise ParameterError(
                f"cube has no fault-tolerant 2-partition by exhaustive search: {len(faults)} faults for n={cube.n}"
            )
        return found
    lo, hi = _parse_pair(cube.n, partition)
    inside = 1 << lo | 1 << hi
    conflict = find_conflict(faults, inside)
    if conflict is not None:
        subcube = Subcube(conflict[0] & ~inside, inside, cube.n)
        raise ParameterError(
            f"partition must leave at most one fault in every 2-cube: ({lo}, {hi}) has "
            f"{cube.label(conflict[0])} and {cube.label(conflict[1])} in {subcube}"
        )
    return lo, hi


def _parse_pair(n: int, given: object) -> Pair:
    """Return two different dimensions of Q_n in ascending order.  Raises ParameterError for anything else."""
    values = [as_integer(value) for value in given] if is_many(given) else []
    dims = sorted({value for value in values if value is not None and 0 <= value < n})
    if not len(values) == len(dims) == 2:
        raise ParameterError(
            f"partition must be two different dimensions in [0, {n - 1}] for n={n}, got {short_repr(given)}"
        )
    return dims[0], dims[1]


class Step(NamedTuple):
    """A step of a message between supernodes."""

    node: int  #: the next node
    is_detour: bool  #: whether it is a buddy, in the same supernode, because the node across is faulty


class Supercube:
    """The supercube Q'_{n-2}: Q_n divided along a fault-tolerant pair, with its labels and its two routing functions.

    Parameters
    ----------
    n : int
        Dimension of the divided cube Q_n.
    faults : frozen set of labels
        F, as from ``faults_of``.
    partition : (int, int)
        The fault-tolerant pair (lo, hi), checked by ``check_partition``.
    """

    __slots__ = ("external", "faults", "high", "inside", "low", "n", "partition")

    def __init__(self, n: int, faults: frozenset[int], partition: Pair) -> None:
        self.n = n
        self.faults = faults
        self.partition = partition
        self.low, self.high = (1 << i for i in partition)
        self.inside = self.low | self.high
        #: the bits outside P, ascending: the paper's digits 2, ..., n - 1
        self.external = [1 << i for i in range(n) if i not in partition]

    def label(self, v: int) -> int:
        """Return l(v): the position of v's supernode in the reflected Gray code of the digits outside P (A2)."""
        position = sum(1 << i for i, bit in enumerate(self.external) if v & bit)
        shift = 1
        while shift < len(self.external):
            position ^= position >> shift
            shift *= 2
        return position

    def supernode(self, v: int) -> Subcube:
        """Return the 2-cube that contains v."""
        return Subcube(v & ~self.inside, self.inside, self.n)

    def next_node_within(self, v: int, u: int) -> int:
        """Return R(v, u), Figure 14: the next node on the way from v to u != v inside their supernode (A3, A4)."""
        difference = v ^ u
        if difference != self.inside:
            return u
        if self.faults.isdisjoint((v, v ^ self.low, v ^ self.high, u)):
            # to the opposite node, as bits (high, low): from 00 and from 11 over 10, from 01 over 00, from 10 over 11
            return v ^ (self.low if v & self.inside else self.high)
        return v ^ (self.low if v ^ self.low not in self.faults else self.high)

    def next_node_toward(self, v: int, goal: int, path: str) -> Step:
        """Return R'(v, u), Figure 15, for a label l(u) = ``goal`` other than l(v).

        ``path`` is "hamilton", to the next label in the direction of the goal, or "shortcut".
        """
        here = self.label(v)
        if path == "hamilton":
            # the crossed dimension turns label a into a ^ (2^(k+1) - 1), here a + 1 or a - 1
            k = ((here ^ (here + 1 if here < goal else here - 1)) + 1).bit_length() - 2
        else:
            k = _find_shortcut(here, goal)
        p = v ^ self.external[k]
        if p not in self.faults:
            return Step(p, False)
        return Step(v ^ self.low if v ^ self.low not in self.faults else v ^ self.high, True)


def _find_shortcut(here: int, goal: int) -> int:
    """Return k, if the shortcut from label ``here`` to another label crosses the k-th dimension outside P.

    This turns label a into a ^ (2^(k+1) - 1), because beyond dimension k the Gray code runs backwards.  So the
    shortcut to a higher goal crosses the highest dimension in which the labels differ.  If this leads beyond the goal, it crosses
    the highest 0 of a below that dimension.  A lower goal works likewise with ones (A5, A6).
    """
    k = (here ^ goal).bit_length() - 1
    over = here ^ (2 << k) - 1
    if (over > goal) if here < goal else (over < goal):
        below = (here if here > goal else ~here) & (1 << k) - 1
        return below.bit_length() - 1
    return k
