"""Fault sets and messages for claims about routing or broadcasting: all small cases, and larger ones by randomised search.

Translations map every message to a message from node 0, but the order of the dimensions matters.  Above the small cubes there are
two searches: ``crowded_messages`` places faults at random near the ends, and ``climbing_messages`` moves greedily toward the
claim's bound.
"""

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

from fastcube.algorithms.paths import Route
from fastcube.algorithms.routing import route3_in_subcubes
from fastcube.algorithms.shortest import distance
from fastcube.algorithms.unsafe import find_unsafe
from fastcube.networks.hypercube import Hypercube

from ...claims import Effort
from ...cubes import enumerate_cubes

#: All fault sets without node 0 of at most this number of nodes and links, by n.
_FULL = {1: (1, 0), 2: (3, 0), 3: (7, 0), 4: (15, 0), 5: (2, 0)}
_QUICK = {1: (1, 0), 2: (3, 0), 3: (7, 0), 4: (3, 0)}
_LINKS_FULL = {1: (0, 1), 2: (2, 2), 3: (3, 2), 4: (1, 2)}
_LINKS_QUICK = {1: (0, 1), 2: (2, 2), 3: (2, 2)}

#: Number of messages in the random search.
_SEARCHED_FULL, _SEARCHED_QUICK = 2000, 100


@dataclass(frozen=True)
class World:
    """One fault set with its unsafe nodes."""

    cube: Hypercube

    @cached_property
    def closed(self) -> list[tuple[int, int]]:
        """Subcubes of faulty and unsafe nodes: a node and the mask of fixed dimensions of each."""
        return [(part.base, ~part.free) for part in find_unsafe(self.cube).subcubes]

    @property
    def f(self) -> int:
        """The number of faulty nodes."""
        return len(self.cube.faulty_nodes)  # type: ignore[arg-type]

    @property
    def is_safe(self) -> bool:
        """Whether some node is active."""
        return all(fixed & (2**self.cube.n - 1) for _, fixed in self.closed)

    def is_active(self, x: int) -> bool:
        """Whether a node is neither faulty nor unsafe."""
        return self.subcube_of(x) is None

    def subcube_of(self, x: int) -> int | None:
        """Return the index of the subcube of faulty and unsafe nodes that contains a node; None for an active node."""
        return next((i for i, (base, fixed) in enumerate(self.closed) if (x ^ base) & fixed == 0), None)

    def route3(self, s: int, t: int) -> Route:
        """Route by ROUTE3(1)."""
        return route3_in_subcubes(self.cube, self.closed, s, t)

    def distance(self, s: int, t: int) -> int | None:
        """Return the length of a shortest nonfaulty path, or None; it is computed once for a pair of nodes."""
        if (s, t) not in self._distances:
            self._distances[s, t] = distance(self.cube, s, t)
        return self._distances[s, t]

    @cached_property
    def _distances(self) -> dict[tuple[int, int], int | None]:
        return {}

    def is_too_long(self, found: Route, s: int, t: int, beyond: int = 0) -> bool:
        """Whether a route is longer by more than ``beyond`` than a shortest feasible path, or fails although there is one."""
        if found.length is not None and found.length <= self.cube.intact_distance(s, t) + beyond:
            return False
        shortest = self.distance(s, t)
        return shortest is not None and (found.length is None or found.length > shortest + beyond)

    def around(self, x: int, k: int) -> int:
        """Return the number of faulty nodes within distance k of a node."""
        return sum((x ^ y).bit_count() <= k for y in self.cube.faulty_nodes)  # type: ignore[union-attr]

    @cached_property
    def _crowded_cache(self) -> dict[tuple[int, int], bool]:
        return {}

    def is_crowded(self, k: int, radius: int) -> bool:
        """Whether some nonfaulty node has more than k faulty nodes within a radius."""
        if self.f <= k:
            return False
        if (k, radius) not in self._crowded_cache:
            nonfaulty = (x for x in range(2**self.cube.n) if not self.cube.is_faulty(x))
            self._crowded_cache[k, radius] = any(self.around(x, radius) > k for x in nonfaulty)
        return self._crowded_cache[k, radius]


#: The hypothesis of most claims: some node is active.
SAFE = attrgetter("is_safe")


def worlds(effort: Effort, links: bool = False) -> Iterator[World]:
    """Yield fault sets without node 0, in the order of n and of their size."""
    for n, (nodes, most) in _sizes(effort, links).items():
        for k, f in itertools.product(range(min(most, 1), most + 1), range(nodes + 1)):
            yield from map(World, enumerate_cubes(n, f, k, first=1))


def _sizes(effort: Effort, links: bool) -> dict[int, tuple[int, int]]:
    return effort.by_effort(_LINKS_FULL, _LINKS_QUICK) if links else effort.by_effort(_FULL, _QUICK)


def worlds_of_two_squares() -> Iterator[World]:
    """Yield fault sets of Q_5 and Q_6 with two unsafe squares at distance three or more, node 0 an unsafe node of one."""
    for n in (5, 6):
        pairs = list(itertools.combinations([1 << i for i in range(n)], 2))
        for (a, b), (c, d) in itertools.product(pairs, pairs):
            for base in range(2**n):
                if not base & (c | d) and (base & ~(a | b)).bit_count() >= 3:
                    for faults in ((base, base | c | d), (base | c, base | d)):
                        world = World(Hypercube(n, (a, b, *faults)))
                        if len(world.closed) == 2:
                            yield world


def checked_range(effort: Effort, links: bool = False, what: str = "messages") -> str:
    """Return the description of the cases of ``worlds``."""
    return f"all {what} of " + ", ".join(
        f"Q_{n} with at most {most} faulty link{'s' * (most > 1)} and {nodes} faulty nodes"
        if links
        else f"Q_{n} with at most {nodes} faults"
        for n, (nodes, most) in _sizes(effort, links).items()
    )


def crowded_messages(effort: Effort) -> Iterator[tuple[World, int, int]]:
    """Yield messages of Q_5, ..., Q_8 with random faults near both ends and between them."""
    rng = random.Random(1988)
    for _ in range(effort.by_effort(_SEARCHED_FULL, _SEARCHED_QUICK)):
        n = rng.randrange(5, 9)
        s, t = rng.sample(range(2**n), 2)
        faults = set()
        for _ in range(rng.randrange(2, 2 * n)):
            x = rng.choice([s, t, s ^ (s ^ t) & rng.getrandbits(n)])
            for _ in range(rng.randrange(1, 4)):
                x ^= 1 << rng.randrange(n)
            faults.add(x)
        yield World(Hypercube(n, faults - {s, t})), s, t


#: The closeness of a case to a claim's bound, which the greedy search never decreases.
Objective = Callable[[World, int, int], int]

#: Number of climbs of a greedy search, and of moves of each.
_CLIMBS_FULL, _CLIMBS_QUICK = (50, 100), (5, 40)


def _mutate_case(case: tuple[World, int, int], rng: random.Random) -> tuple[World, int, int] | None:
    """Return a case with its ends swapped, or with a fault moved within two links of an end or fault; None if it is taken."""
    world, s, t = case
    faults = sorted(world.cube.faulty_nodes)  # type: ignore[arg-type]
    if rng.randrange(8) == 0:
        return world, t, s
    gone = rng.choice(faults)
    there = rng.choice([s, t, *faults])
    for _ in range(rng.randrange(1, 3)):
        there ^= 1 << rng.randrange(world.cube.n)
    if there in (s, t, *faults):
        return None
    return World(Hypercube(world.cube.n, {*faults, there} - {gone})), s, t


def climbing_messages(
    effort: Effort, applies: Callable[[World], bool], toward: Objective
) -> Iterator[tuple[World, int, int]]:
    """Yield the messages on greedy climbs from random cases, in worlds to which the claim ``applies``."""
    climbs, moves = effort.by_effort(_CLIMBS_FULL, _CLIMBS_QUICK)
    rng = random.Random(1989)
    starts = (case for case in crowded_messages(effort) if applies(case[0]) and case[0].cube.faulty_nodes)
    for start in itertools.islice(starts, climbs):
        case, height = start, toward(*start)
        for _ in range(moves):
            other = _mutate_case(case, rng)
            if other is None or not applies(other[0]):
                continue
            yield other
            reached = toward(*other)
            if reached >= height:
                case, height = other, reached


def searched_range(effort: Effort, what: str) -> str:
    """Return the description of the cases of ``crowded_messages`` and ``climbing_messages``."""
    climbs, moves = effort.by_effort(_CLIMBS_FULL, _CLIMBS_QUICK)
    return (
        f"searched on {effort.by_effort(_SEARCHED_FULL, _SEARCHED_QUICK)} random {what} in Q_5, ..., Q_8 and by {climbs} greedy "
        f"climb{'s' * (climbs > 1)} of {moves} moves toward the bound"
    )
