"""Routing one message in a hypercube with faults (Lee & Hayes 1988, sections 2 and 3): ROUTE, ROUTE1, ROUTE2, ROUTE3.

Every node on the way decides only by its own label and the destination's (R8), so a node that is reached twice proves a
livelock.  Links are tried from the most significant bit down, because the paper counts them from the left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..errors import check_integer
from ..networks.hypercube import Hypercube
from ..networks.network import descending_bits
from .paths import ROUTING, Route
from .unsafe import find_unsafe

#: Most nodes that ROUTE2 may expand in its searches for one message, besides the nodes of the path.  Beyond it: ``limit``.
MAX_EXPANDED = 2**16


class LimitError(Exception):
    """ROUTE2 would expand more than MAX_EXPANDED nodes."""


def is_blocked(cube: Hypercube, curr: int, bit: int) -> bool:
    """Whether the link of ``curr`` over ``bit``, or the node at its other end, is faulty."""
    return cube.is_faulty(curr ^ bit) or cube.is_faulty_link(curr, curr ^ bit)


def is_clear(cube: Hypercube, curr: int, bits: Iterator[int], k: int) -> bool:
    """Whether the first k nodes and links of a path from ``curr`` over ``bits`` are nonfaulty (R4, R11)."""
    for bit, _ in zip(bits, range(k), strict=False):
        if is_blocked(cube, curr, bit):
            return False
        curr ^= bit
    return True


def _follow_rule(s: int, t: int, rule: Callable[[int], int | None], cube: Hypercube) -> Route:
    """Route from node to node, at each node over the dimension that ``rule`` returns (R8, R16)."""
    path, seen = [s], {s}
    while path[-1] != t:
        try:
            bit = rule(path[-1])
        except LimitError:
            return Route("limit", path, f"its searches would expand more than {MAX_EXPANDED} nodes")
        if bit is None:
            return Route("stuck", path, f"no link of {cube.label(path[-1])} passes")
        if is_blocked(cube, path[-1], bit):
            return Route("lost", path, f"{cube.label(path[-1])} sent it to a faulty node or over a faulty link")
        path.append(path[-1] ^ bit)
        if path[-1] in seen:
            return Route("livelock", path, f"{cube.label(path[-1])} is reached again")
        seen.add(path[-1])
    return Route("delivered", path)


@ROUTING.register(Hypercube, "ROUTE")
def route_basic(cube: Hypercube, s: int, t: int) -> Route:
    """Run ROUTE, Figure 1(a), which knows nothing of faults (R9)."""
    return _follow_rule(s, t, lambda curr: next(descending_bits(curr ^ t)), cube)


def _check_k(cube: Hypercube, k: object) -> int:
    return check_integer("k", k, 1, cube.n, f"for n={cube.n}")


def _detour(cube: Hypercube, curr: int, t: int, k: int) -> int | None:
    """Return the first g_i whose path P_i = curr(g_i, f_1, ..., f_l, g_i) has no fault among its first k nodes (R6), or None."""
    difference = curr ^ t
    for g in descending_bits(2**cube.n - 1 & ~difference):
        if is_clear(cube, curr, iter([g, *descending_bits(difference), g]), k):
            return g
    return None


@ROUTING.register(Hypercube, "ROUTE1", options={"k": _check_k})
def route1(cube: Hypercube, s: int, t: int, k: int = 1) -> Route:
    """Run ROUTE1(k), Figure 4: try the disjoint minimal paths, then the detours (R5, R6, R18)."""

    def next_bit(curr: int) -> int | None:
        a = list(descending_bits(curr ^ t))
        for i, bit in enumerate(a):
            if is_clear(cube, curr, iter(a[i:] + a[:i]), k):
                return bit
        return _detour(cube, curr, t, k)

    return _follow_rule(s, t, next_bit, cube)


@ROUTING.register(Hypercube, "ROUTE2", options={"k": _check_k})
def route2(cube: Hypercube, s: int, t: int, k: int = 1) -> Route:
    """Run ROUTE2(k): try all minimal paths by their first k nodes, in lexicographic order, then as ROUTE1(k) (R7, R18)."""
    expanded = 0

    def first_passing_bit(node: int, remaining: int, seen: set[int]) -> int | None:
        """Return the first bit of a minimal path whose next ``remaining`` nodes are nonfaulty.

        No node of ``seen`` has such a path.
        """
        nonlocal expanded
        for bit in descending_bits(node ^ t):
            neighbour = node ^ bit
            if is_blocked(cube, node, bit) or neighbour in seen:
                continue
            if remaining == 1:
                return bit
            if expanded == MAX_EXPANDED:
                raise LimitError
            expanded += 1
            seen.add(neighbour)
            if first_passing_bit(neighbour, remaining - 1, seen) is not None:
                return bit
        return None

    def next_bit(curr: int) -> int | None:
        bit = first_passing_bit(curr, min(k, (curr ^ t).bit_count()), set())
        return _detour(cube, curr, t, k) if bit is None else bit

    return _follow_rule(s, t, next_bit, cube)


@ROUTING.register(Hypercube, "ROUTE3", options={"k": (1,)}, default=True)
def route3(cube: Hypercube, s: int, t: int, k: int = 1) -> Route:
    """Run ROUTE3(1), Figure 6: prefer nearer active neighbours, then nearer unsafe, then farther active ones (R10, R11)."""
    return route3_in_subcubes(cube, [(part.base, ~part.free) for part in find_unsafe(cube).subcubes], s, t)


def route3_in_subcubes(cube: Hypercube, closed: list[tuple[int, int]], s: int, t: int) -> Route:
    """Run ROUTE3(1), given the subcubes of faulty and unsafe nodes: a node of each, and its fixed dimensions."""

    def is_active(curr: int, bit: int) -> bool:
        x = curr ^ bit
        return not any((x ^ base) & fixed == 0 for base, fixed in closed) and not cube.is_faulty_link(curr, x)

    def next_bit(curr: int) -> int | None:
        nearer = list(descending_bits(curr ^ t))
        for bit in nearer:
            if is_active(curr, bit):
                return bit
        for bit in nearer:
            if not is_blocked(cube, curr, bit):
                return bit
        for bit in descending_bits(2**cube.n - 1 & ~(curr ^ t)):
            if is_active(curr, bit):
                return bit
        return None

    return _follow_rule(s, t, next_bit, cube)
