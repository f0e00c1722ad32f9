"""Blocks that record routes, and comparisons of routes, in the routing tallies."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..machine.jit import block
from ..tally.layout import Layout
from ..tally.maxima import offer
from .layout import ROUTING
from .rules import LIMIT, LIVELOCK, STUCK


def make_recorders(layout: Layout, name: str) -> tuple[Any, Any]:
    """Return the two blocks that record routes of the algorithm ``name`` in tallies of a layout.

    ``record(tally, links, h, trial)`` records one route between nodes at Hamming distance h: of ``links`` links, or STUCK or
    LIVELOCK; for LIMIT it records nothing.

    ``record_minimal(tally, count, total, squares, trial)`` records ``count`` routes delivered over their Hamming distances, with
    their sum and sum of squares; ``trial`` is the smallest trial of these.
    """
    delivered, stuck = layout.counter(f"{name}_delivered"), layout.counter(f"{name}_stuck")
    livelock, above_hamming = layout.counter(f"{name}_livelock"), layout.counter(f"{name}_above_hamming")
    sum_links, sum_distance = layout.counter(f"{name}_links"), layout.counter(f"{name}_distance")
    sum_links2, sum_product = layout.counter(f"{name}_links_links"), layout.counter(f"{name}_links_distance")
    sum_distance2, excess = layout.counter(f"{name}_distance_distance"), layout.maximum(f"{name}_excess")

    @block
    def record(tally, links, h, trial):
        tally[stuck] += links == STUCK
        tally[livelock] += links == LIVELOCK
        if links >= 0:
            tally[delivered] += 1
            tally[above_hamming] += links > h
            tally[sum_links] += links
            tally[sum_distance] += h
            tally[sum_links2] += links * links
            tally[sum_product] += links * h
            tally[sum_distance2] += h * h
            offer(tally, excess, links - h, trial)

    @block
    def record_minimal(tally, count, total, squares, trial):
        if count > 0:
            tally[delivered] += count
            tally[sum_links] += total
            tally[sum_distance] += total
            tally[sum_links2] += squares
            tally[sum_product] += squares
            tally[sum_distance2] += squares
            offer(tally, excess, np.int64(0), trial)

    return record, record_minimal


record1, record1_minimal = make_recorders(ROUTING, "route1")
record2, record2_minimal = make_recorders(ROUTING, "route2")
record3, record3_minimal = make_recorders(ROUTING, "route3")

_SOME_ACTIVE = ROUTING.counter("some_active")
ROUTE_DELIVERED = ROUTING.counter("route_delivered")
SAME_SUBCUBE = ROUTING.counter("ends_in_one_unsafe_subcube")
REACHABLE = ROUTING.counter("reachable")
_DELIVERED_ACTIVE = ROUTING.counter("route_delivered_active")
_DELIVERED1_ACTIVE, _DELIVERED2_ACTIVE = (ROUTING.counter(f"route{i}_delivered_active") for i in (1, 2))
_LIMIT = ROUTING.counter("route2_limit")
_BETTER3, _BETTER1 = ROUTING.counter("route3_beats_route1"), ROUTING.counter("route1_beats_route3")
_LONGER1, _LONGER2, _LONGER3 = (ROUTING.counter(f"route{i}_above_shortest") for i in (1, 2, 3))


@block
def is_better(links, other):
    """Whether a route is delivered and the other route is not, or takes more links (R21)."""
    return links >= 0 and (other < 0 or links < other)


@block
def record_active(tally, trials, delivered, delivered1, delivered2):
    """Record ``trials`` trials with an active node, and the numbers of them that ROUTE, ROUTE1 and ROUTE2 deliver."""
    tally[_SOME_ACTIVE] += trials
    tally[_DELIVERED_ACTIVE] += delivered
    tally[_DELIVERED1_ACTIVE] += delivered1
    tally[_DELIVERED2_ACTIVE] += delivered2


@block
def record_comparison(tally, links1, links3):
    """Record whether ROUTE1 or ROUTE3 does better in a trial with an active node."""
    tally[_BETTER3] += is_better(links3, links1)
    tally[_BETTER1] += is_better(links1, links3)


@block
def record_limit(tally, links2):
    """Record whether ROUTE2 was cut off."""
    tally[_LIMIT] += links2 == LIMIT


@block
def record_shortest(tally, links1, links2, links3, shortest):
    """Record whether a path exists (``shortest`` is -1 if not), and the delivered routes that are longer than a shortest path."""
    tally[REACHABLE] += shortest >= 0
    tally[_LONGER1] += links1 > shortest and links1 >= 0
    tally[_LONGER2] += links2 > shortest and links2 >= 0
    tally[_LONGER3] += links3 > shortest and links3 >= 0
