"""Counts of all messages and broadcasts of Q_5 with at most 6 faulty nodes and of Q_6 with at most 4, by compiled kernels.

The kernels return how many cases violate a claim, not which.  If there are any, the decider searches their fault sets for the
first.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from fastcube.kernels.tally.layout import Layout

from ...claims import DisagreementError, Effort
from ...cubes import enumerate_cubes
from .worlds import World

#: (n, most faults); each takes some seconds.
SIZES = ((5, 6), (6, 4))

#: Further cases of a decider besides its small ones: a text for its range, and worlds to search.
CountedRange = tuple[str, Iterable[World]]

#: Whether the counts at one n agree with the claim; arguments: n, counters by name, and maxima by name.
CountCheck = Callable[[int, Mapping[str, int], Mapping[str, int]], bool]


class MessageClass(NamedTuple):
    """The messages of a claim, at one n."""

    k: int  #: k of ROUTE1 and ROUTE2, and the largest number of faulty nodes within ``radius``
    radius: int = 0  #: distance from any nonfaulty node; 0 for no condition
    least: int = 1  #: least Hamming distance


_RANGE_TEXT = ", and, by counting, of Q_5 with at most 6 faults and of Q_6 with at most 4"


def messages(
    effort: Effort,
    is_sound: CountCheck,
    applied: str,
    classes: Callable[[int, int], Iterable[MessageClass]] = lambda n, f: (MessageClass(1),),
    condition: str = "",
) -> CountedRange:
    """With full effort, count the messages of the ``classes`` at each (n, f) by ROUTE1(k), ROUTE2(k) and ROUTE3(1)."""
    from fastcube.kernels.routing.layout import ROUTING
    from fastcube.kernels.routing.scalar import ROUTING_SETS

    text, worlds = _decide_by_counting(effort, ROUTING, ROUTING_SETS, is_sound, applied, classes)
    return text and text + condition, worlds


def broadcasts(effort: Effort, is_sound: CountCheck, applied: str) -> CountedRange:
    """With full effort, count all broadcasts by the three algorithms."""
    from fastcube.kernels.broadcasting.layout import BROADCAST
    from fastcube.kernels.broadcasting.scalar import BROADCAST_SETS

    return _decide_by_counting(effort, BROADCAST, BROADCAST_SETS, is_sound, applied, lambda n, f: ((),))


def _decide_by_counting(
    effort: Effort,
    layout: Layout,
    count: Callable[..., Any],
    is_sound: CountCheck,
    applied: str,
    classes: Callable[[int, int], Iterable[tuple[int, ...]]],
) -> CountedRange:
    """With full effort, count with a kernel at each (n, f) for all parameters of ``classes``; with quick effort, do nothing."""
    if effort.quick:
        return "", ()
    violated = []
    for n, f in effort.each(((n, f) for n, most in SIZES for f in range(most + 1)), "counting"):
        for parameters in classes(n, f):
            slots = layout.new_tally()
            params = np.array([n, f, 0, *parameters, *range(f)], np.float64)
            count(np.uint64(0), 0, math.comb(2**n - 1, f), params, slots)
            read: tuple[Any, Any] = layout.read(slots)
            counts, maxima = read
            effort.applied += int(counts[applied])
            if not is_sound(n, counts, {name: value for name, (value, _) in maxima.items()}):
                violated.append((n, f))
    return _RANGE_TEXT, _suspect_worlds(violated)


def _suspect_worlds(violated: list[tuple[int, int]]) -> Iterator[World]:
    """Yield all fault sets of the sizes with a counted violation; raise DisagreementError if no set stops the search."""
    for n, f in violated:
        yield from map(World, enumerate_cubes(n, f, first=1))
    if violated:
        raise DisagreementError(f"counts find a violation at (n, f) in {violated}, where none is found one by one")
