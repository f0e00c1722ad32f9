"""Routing rules for one message in a hypercube with faults (docs/readings/routing-rules.md).

The rules of Lee & Hayes are in ``routing``, and the safety statuses that LEVELS and VECTORS use are in ``safety_status``.  A node
shows its neighbours its *level*, or 0 at the end of a faulty link (``shown_level``).  At node u a bit is *preferred* if u and the
destination t differ in it, otherwise *spare*.  It is *good* if the link and the neighbour across it are nonfaulty.  V7 and V8 are
sections of the page above.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..errors import ParameterError, as_integer, check_integer, short_repr
from ..networks.hypercube import Hypercube
from ..networks.network import descending_bits
from .paths import ROUTING, Route
from .routing import is_blocked
from .safety_status import safety_levels, safety_vectors

#: Most hops of DFS, and of SIDETRACK in multiples of n; one more hop ends as ``limit`` (V8).
DFS_HOPS, SIDETRACK_HOPS = 2**16, 8


def _good_bits(cube: Hypercube, u: int, mask: int) -> Iterator[int]:
    """Return the bits of a mask, most significant first, over which u has a nonfaulty link to a nonfaulty neighbour."""
    return (bit for bit in descending_bits(mask) if not is_blocked(cube, u, bit))


def _all_dimensions(cube: Hypercube) -> int:
    return int(2**cube.n - 1)


def _route_informed(cube: Hypercube, s: int, t: int, first: int | None, rule: Callable[[int], int | None]) -> Route:
    """Route over the bit ``first``, or refuse if it is None; then over the bits that ``rule`` returns, stuck at a None."""
    if s == t:
        return Route("delivered", [s])
    if first is None:
        return Route("refused", [s], f"no neighbour of {cube.label(s)} promises a path")
    path, bit = [s], first
    while True:
        path.append(path[-1] ^ bit)
        if path[-1] == t:
            return Route("delivered", path)
        found = rule(path[-1])
        if found is None:
            return Route(
                "stuck", path, f"the rule permits no neighbour of {cube.label(path[-1])} towards the destination"
            )
        bit = found


@ROUTING.register(Hypercube, "LEVELS")
def route_by_levels(cube: Hypercube, s: int, t: int) -> Route:
    """Run LEVELS (Wu 1997, V7): send over the preferred good bit to the highest level shown.

    If neither its own level nor that neighbour's promises a path over h links, their distance, the source sends over a spare
    bit to a neighbour whose level promises a path over h + 1 more links.  If there is none, it refuses the message.
    """
    status = safety_levels(cube)

    def highest_level_bit(u: int, mask: int) -> int | None:
        return max(_good_bits(cube, u, mask), key=lambda bit: status.shown_level(u ^ bit), default=None)

    h, first = (s ^ t).bit_count(), highest_level_bit(s, s ^ t)
    promises = first is not None and (h == 1 or status.shown_level(s ^ first) >= h - 1)
    if not promises and (h == 1 or status.level(s) < h):
        first = highest_level_bit(s, _all_dimensions(cube) & ~(s ^ t))
        if first is not None and status.shown_level(s ^ first) < h + 1:
            first = None
    return _route_informed(cube, s, t, first, lambda u: highest_level_bit(u, u ^ t))


@ROUTING.register(Hypercube, "VECTORS")
def route_by_vectors(cube: Hypercube, s: int, t: int) -> Route:
    """Run VECTORS (Wu 1998, V7): send over the first preferred good bit to a neighbour whose bit for its distance from t is 1.

    If the source has none, it sends likewise over a spare bit, which takes two links more, or refuses the message.
    """
    status = safety_vectors(cube)

    def first_vector_bit(u: int, mask: int, k: int) -> int | None:
        for bit in _good_bits(cube, u, mask) if k <= cube.n else ():
            if k == 0 or status.vector(u ^ bit)[k - 1]:
                return bit
        return None

    h = (s ^ t).bit_count()
    first = first_vector_bit(s, s ^ t, h - 1)
    if first is None:
        first = first_vector_bit(s, _all_dimensions(cube) & ~(s ^ t), h + 1)
    return _route_informed(cube, s, t, first, lambda u: first_vector_bit(u, u ^ t, (u ^ t).bit_count() - 1))


@ROUTING.register(Hypercube, "A1")
def route_a1(cube: Hypercube, s: int, t: int) -> Route:
    """Run Algorithm A1 (Chen & Shin 1990, V7): the message carries the remaining bits and a tag of the bits tried."""
    left, tag, path = list(descending_bits(s ^ t)), 0, [s]
    while left:
        u = path[-1]
        bit = next((bit for bit in left if not is_blocked(cube, u, bit)), None)
        if bit is not None:
            left.remove(bit)
        else:
            tag |= sum(left)
            bit = next(_good_bits(cube, u, _all_dimensions(cube) & ~tag), None)
            if bit is None:
                return Route("stuck", path, f"{cube.label(u)} has no good link that was not tried")
            tag |= bit
            left.append(bit)
        path.append(u ^ bit)
    return Route("delivered", path)


@ROUTING.register(Hypercube, "DFS")
def route_dfs(cube: Hypercube, s: int, t: int) -> Route:
    """Run depth-first search (Chen & Shin 1990, V7, V8): the message remembers all nodes visited.  Steps back are hops."""
    seen, came, path = {s}, [], [s]
    while path[-1] != t:
        u = path[-1]
        bits = (bit for mask in (u ^ t, _all_dimensions(cube) & ~(u ^ t)) for bit in _good_bits(cube, u, mask))
        bit = next((bit for bit in bits if u ^ bit not in seen), None)
        if bit is not None:
            came.append(bit)
            seen.add(u ^ bit)
        elif came:
            bit = came.pop()
        else:
            return Route("stuck", path, f"every node that {cube.label(s)} reaches was seen")
        if len(path) > DFS_HOPS:
            return Route("limit", path, f"more than {DFS_HOPS} hops")
        path.append(u ^ bit)
    return Route("delivered", path)


def _check_seed(cube: Hypercube, seed: object) -> tuple[int, int]:
    """Return key and trial of a seed.  A single integer is a key for trial 0."""
    pair = (seed, 0) if as_integer(seed) is not None else seed
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ParameterError(f"seed must be an integer or a pair (key, trial), got {short_repr(seed)}")
    return check_integer("seed", pair[0], 0, 2**64 - 1), check_integer("trial of seed", pair[1], 0, 2**63 - 1)


@ROUTING.register(Hypercube, "SIDETRACK", options={"seed": _check_seed})
def route_sidetrack(cube: Hypercube, s: int, t: int, seed: tuple[int, int] = (0, 0)) -> Route:
    """Run SIDETRACK (Gordon & Stout 1988, V8): a random good bit towards t, else a random good spare bit, for at most 8n hops."""
    from ..kernels.draws.philox import CHOICES, random_word

    path = [s]
    while path[-1] != t:
        u = path[-1]
        bits = list(_good_bits(cube, u, u ^ t)) or list(_good_bits(cube, u, _all_dimensions(cube) & ~(u ^ t)))
        if not bits:
            return Route("stuck", path, f"no link of {cube.label(u)} passes")
        if len(path) > SIDETRACK_HOPS * cube.n:
            return Route("limit", path, f"more than {SIDETRACK_HOPS}n hops")
        x = int(random_word(np.uint64(seed[0]), np.uint64(seed[1]), np.uint64(len(path) - 1), CHOICES)) >> 32
        path.append(u ^ bits[x * len(bits) >> 32])
    return Route("delivered", path)
