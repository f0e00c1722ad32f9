"""All messages and broadcasts of Q_5 with at most 6 faulty nodes and of Q_6 with at most 4, counted by the compiled kernels.

The kernels say how many are wrong, not which.  Where some are, their fault sets are handed to the decider, which finds the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from fastcube.audit.claims import DisagreementError, Effort
from fastcube.audit.cubes import enumerate_cubes
from fastcube.kernels.tally.layout import Layout

from .cases import World

#: (n, most faults); some seconds each.
SIZES = ((5, 6), (6, 4))

#: What a decider takes besides its small cases: words for its range, and worlds to look through.
CountedRange = tuple[str, Iterable[World]]

#: Whether what was counted at one n is right: counters by name, and extremes by name.
CountCheck = Callable[[int, Mapping[str, int], Mapping[str, int]], bool]


class MessageClass(NamedTuple):
    """Messages that a claim is about, at one n."""

    k: int  #: of ROUTE1 and ROUTE2, and faulty nodes at most
    radius: int = 0  #: within which distance of any nonfaulty node; 0: anywhere
    least: int = 1  #: Hamming distance at least


_RANGE_TEXT = ", and, by counting, of Q_5 with at most 6 faults and of Q_6 with at most 4"


def messages(
    effort: Effort,
    sound: CountCheck,
    applied: str,
    asked: Callable[[int, int], Iterable[MessageClass]] = lambda n, f: (MessageClass(1),),
    words: str = "",
) -> CountedRange:
    """With full effort, the messages asked for at each (n, f), by ROUTE1(k), ROUTE2(k) and ROUTE3(1)."""
    from fastcube.kernels.routing.layout import ROUTING
    from fastcube.kernels.routing.scalar import ROUTING_SETS

    more, worlds = _decide_by_counting(effort, ROUTING, ROUTING_SETS, sound, applied, asked)
    return more and more + words, worlds


def broadcasts(effort: Effort, sound: CountCheck, applied: str) -> CountedRange:
    """With full effort, all broadcasts by the three algorithms."""
    from fastcube.kernels.broadcasting.layout import BROADCAST
    from fastcube.kernels.broadcasting.scalar import BROADCAST_SETS

    return _decide_by_counting(effort, BROADCAST, BROADCAST_SETS, sound, applied, lambda n, f: ((),))


def _decide_by_counting(
    effort: Effort,
    layout: Layout,
    count: Callable[..., Any],
    sound: CountCheck,
    applied: str,
    asked: Callable[[int, int], Iterable[tuple[int, ...]]],
) -> CountedRange:
    """With full effort, what a kernel counts at each (n, f) with each of the parameters asked for; the quick one has nothing."""
    if effort.quick:
        return "", ()
    bad = []
    for n, f in effort.each(((n, f) for n, most in SIZES for f in range(most + 1)), "counting"):
        for parameters in asked(n, f):
            slots = layout.new_tally()
            params = np.array([n, f, 0, *parameters, *range(f)], np.float64)
            count(np.uint64(0), 0, math.comb(2**n - 1, f), params, slots)
            read: tuple[Any, Any] = layout.read(slots)
            counts, extremes = read
            effort.applied += int(counts[applied])
            if not sound(n, counts, {name: value for name, (value, _) in extremes.items()}):
                bad.append((n, f))
    return _RANGE_TEXT, _suspect_worlds(bad)


def _suspect_worlds(bad: list[tuple[int, int]]) -> Iterator[World]:
    """All fault sets of these sizes; a decider that comes to their end has found nothing wrong, and the counts have."""
    for n, f in bad:
        yield from map(World, enumerate_cubes(n, f, first=1))
    if bad:
        raise DisagreementError(f"counts find something wrong at (n, f) in {bad}, where none is found one by one")
