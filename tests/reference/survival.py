"""The survival of a network in plain Python, from interpretations N4 and N5 alone."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import comb
from typing import Any, NamedTuple

from . import networks


class Survival(NamedTuple):
    """One trial's outcome (N5); ``st_connected``, ``distance`` and ``intact`` are None where no pair is sampled or joined."""

    connected: bool
    no_isolated_node: bool
    extra_1: bool
    st_connected: bool | None
    largest: Fraction
    parts: int
    distance: int | None
    intact: int | None
    sizes: list[int]


def parts(near: list[set[int]], alive: set[int]) -> list[set[int]]:
    """The parts into which the faults divide the nonfaulty nodes."""
    out, left = [], set(alive)
    while left:
        part = set(networks.distances(near, alive, min(left)))
        out.append(part)
        left -= part
    return out


def survival(
    name: str, n: int, faulty: Iterable[int], dead: Iterable[tuple[int, int]] = (), pair: tuple[int, int] | None = None
) -> Survival:
    """``dead`` are faulty links by their names (end with bit d clear, d); ``pair`` is (s, t), both nonfaulty."""
    whole = networks.links(name, n)
    near = networks.neighbours(whole - {networks.link_of(name, v, d, n) for v, d in dead}, n)
    alive = set(range(2**n)) - set(faulty)
    found = parts(near, alive)
    isolated = any(not near[v] & alive for v in alive)
    length = intact = None
    if pair is not None:
        length = networks.distances(near, alive, pair[0]).get(pair[1])
        intact = networks.distances(networks.neighbours(whole, n), set(range(2**n)), pair[0])[pair[1]]
    return Survival(
        connected=len(found) == 1,
        no_isolated_node=not isolated,
        extra_1=len(found) > 1 and not isolated,
        st_connected=None if pair is None else length is not None,
        largest=Fraction(max(map(len, found), default=0), len(alive) or 1),
        parts=len(found),
        distance=length,
        intact=intact,
        sizes=sorted(map(len, found), reverse=True),
    )


def isolated_moments(name: str, n: int, f: int) -> tuple[Fraction, Fraction]:
    """S1 and S2 of the number of isolated nodes under f faulty nodes, by summing over nodes and pairs (N11)."""
    near = networks.neighbours(networks.links(name, n), n)
    many = 2**n

    def probability_of_set(fixed: int, needed: int) -> Fraction:
        rest = many - fixed - needed
        return Fraction(comb(rest, f - needed), comb(many, f)) if 0 <= needed <= f and rest >= 0 else Fraction(0)

    first = sum((probability_of_set(1, len(near[v])) for v in range(many)), Fraction(0))
    second = sum(
        (probability_of_set(2, len(near[u] | near[v])) for v in range(many) for u in range(v) if u not in near[v]),
        Fraction(0),
    )
    return first, second


def probability(connected: list[int], total: int, p: Any) -> Any:
    """The reliability polynomial at p, from the numbers of sets of each size that leave the network connected."""
    return sum(count * p**f * (1 - p) ** (total - f) for f, count in enumerate(connected))
