"""Entering routes into the routing tallies, one trial at a time or many alike at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import block
from ..layout import Layout
from ..tally import offer
from .layout import TALLY
from .rules import LIMIT, LIVELOCK, STUCK


def recording(layout: Layout, name: str) -> tuple[Any, Any]:
    """The blocks that enter routes of the algorithm ``name`` into tallies of a layout.

    ``record(tally, links, h, trial)``: one route of ``links`` links, or STUCK, LIVELOCK or LIMIT, between nodes at Hamming
    distance h.  ``record_minimal(tally, count, total, squares, trial)``: so many routes delivered over their Hamming
    distance, whose sum and sum of squares are given; ``trial`` is the smallest of theirs.
    """
    delivered, stuck = layout.counter(f"{name}_delivered"), layout.counter(f"{name}_stuck")
    livelock, detours = layout.counter(f"{name}_livelock"), layout.counter(f"{name}_detours")
    links_, distance = layout.counter(f"{name}_links"), layout.counter(f"{name}_distance")
    links2, product = layout.counter(f"{name}_links_links"), layout.counter(f"{name}_links_distance")
    distance2, excess = layout.counter(f"{name}_distance_distance"), layout.extreme(f"{name}_excess")

    @block
    def record(tally, links, h, trial):
        tally[stuck] += links == STUCK
        tally[livelock] += links == LIVELOCK
        if links >= 0:
            tally[delivered] += 1
            tally[detours] += links > h
            tally[links_] += links
            tally[distance] += h
            tally[links2] += links * links
            tally[product] += links * h
            tally[distance2] += h * h
            offer(tally, excess, links - h, trial)

    @block
    def record_minimal(tally, count, total, squares, trial):
        if count > 0:
            tally[delivered] += count
            tally[links_] += total
            tally[distance] += total
            tally[links2] += squares
            tally[product] += squares
            tally[distance2] += squares
            offer(tally, excess, np.int64(0), trial)

    return record, record_minimal


record1, record1_minimal = recording(TALLY, "route1")
record2, record2_minimal = recording(TALLY, "route2")
record3, record3_minimal = recording(TALLY, "route3")

NOT_UNSAFE = TALLY.counter("not_unsafe")
ROUTE_DELIVERED = TALLY.counter("route_delivered")
SAME_SUBCUBE = TALLY.counter("same_subcube")
REACHABLE = TALLY.counter("reachable")
_LIMIT = TALLY.counter("route2_limit")
_BETTER3, _BETTER1 = TALLY.counter("route3_better"), TALLY.counter("route1_better")
_LONGER1, _LONGER2 = TALLY.counter("route1_longer"), TALLY.counter("route2_longer")
_LONGER3 = TALLY.counter("route3_longer")


@block
def beats(links, other):
    """Whether a route is delivered where the other is not, or over fewer links (R21)."""
    return links >= 0 and (other < 0 or links < other)


@block
def record_compared(tally, links1, links3):
    """Enter which of ROUTE1 and ROUTE3 does better, of a trial with an active node."""
    tally[_BETTER3] += beats(links3, links1)
    tally[_BETTER1] += beats(links1, links3)


@block
def record_limit(tally, links2):
    """Enter whether ROUTE2 was cut off."""
    tally[_LIMIT] += links2 == LIMIT


@block
def record_shortest(tally, links1, links2, links3, shortest):
    """Enter which delivered routes are longer than the shortest feasible path, and whether there is one (-1: none)."""
    tally[REACHABLE] += shortest >= 0
    tally[_LONGER1] += links1 > shortest and links1 >= 0
    tally[_LONGER2] += links2 > shortest and links2 >= 0
    tally[_LONGER3] += links3 > shortest and links3 >= 0
