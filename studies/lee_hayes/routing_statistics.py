"""Statistics of the routing studies: messages delivered, messages that end otherwise, and the lengths of delivered routes."""

import math
from collections.abc import Callable
from typing import Any

from fastcube.measure.asymptotic import Ratio
from fastcube.measure.random_messages import is_searched
from fastcube.measure.statistics import Proportion, return_zero
from fastcube.measure.study import Point

#: The rules in descriptions of statistics, by the beginnings of the statistics' names.
_NAMES = {"route1": "ROUTE1(k)", "route2": "ROUTE2(k)", "route3": "ROUTE3(1)"}

#: The counter of the trials in which ROUTE3(1) runs.
SOME_ACTIVE = "some_active"

#: These trials as the end of a description.
AMONG_ACTIVE = ", among trials with an active node"


def _among_delivered(name: str) -> str:
    """Return the end of a description of a statistic over delivered messages."""
    where = " in trials with an active node" if name == "route3" else ""
    return f", among messages that {_NAMES[name]} delivers{where}"


def make_proportion(
    name: str, description: str, condition: str | None = None, shown: bool = False, **options: Any
) -> Proportion:
    """Return a proportion, which tables show only if ``shown``; ``options`` are its further fields."""
    return Proportion(name=name, description=description, condition=condition, shown=shown, **options)


def _has_faults(point: Point) -> bool:
    """Whether a node or link is faulty; without faults no route is a detour."""
    return bool(point["f"] or point["links"])


def make_detour_proportion(name: str, shown: bool = False) -> Proportion:
    """Return the fraction of an algorithm's delivered routes that are detours, as a statistic."""
    description = f"fraction of routes longer than the Hamming distance{_among_delivered(name)}"
    return make_proportion(f"{name}_above_hamming", description, f"{name}_delivered", shown, possible=_has_faults)


def make_length_bound(radius: Callable[[Point], int]) -> Callable[[Point], float]:
    """Return the function that bounds the ratio of links to Hamming distance of a route; ``radius`` returns the rule's k.

    A route visits no node twice.  It leaves a minimal path only at nodes with a fault among the first k links toward t or the
    nodes behind them, each time for two links.
    """

    def bound(point: Point) -> float:
        n, k = int(point["n"]), radius(point)
        at_distance = [math.comb(n, i) for i in range(k + 1)]
        nodes_near_faults = int(point["f"]) * (sum(at_distance) - 1) + 2 * int(point["links"]) * sum(at_distance[:-1])
        return float(1 + 2 * min(2 ** (n - 1), nodes_near_faults))

    return bound


def make_length_ratio(name: str, bound: Callable[[Point], float] = return_zero) -> Ratio:
    """Return the ratio of links to Hamming distances of an algorithm's delivered routes, as a statistic.

    ``bound`` returns the largest ratio of a route, or 0 if none is known.
    """
    return Ratio(
        name=f"{name}_stretch",
        description=f"total links of routes divided by the total Hamming distance{_among_delivered(name)}",
        numerator=f"{name}_links",
        denominator=f"{name}_distance",
        squares=(f"{name}_links_links", f"{name}_links_distance", f"{name}_distance_distance"),
        nonzero=f"{name}_above_hamming",
        base=1,
        bound=bound,
        condition=f"{name}_delivered",
        shown=False,
    )


#: The outcomes other than delivery, in descriptions.
_OUTCOMES = {
    "livelock": "come to a node twice, and so circle for ever,",
    "stuck": "stop where the rule allows no link",
}


def make_ending_proportion(name: str, outcome: str, condition: str | None = None) -> Proportion:
    """Return the fraction of an algorithm's messages with one of ``_OUTCOMES``, as a statistic."""
    messages, among = ("messages", AMONG_ACTIVE) if condition == SOME_ACTIVE else ("all messages", "")
    description = f"fraction of {messages} that {_OUTCOMES[outcome]} under {_NAMES[name]}{among}"
    return make_proportion(f"{name}_{outcome}", description, condition)


def make_longer_proportion(name: str) -> Proportion:
    """Return the fraction of an algorithm's delivered routes that are not shortest nonfaulty paths, as a statistic."""
    description = f"fraction of routes longer than a shortest nonfaulty path (n <= 12){_among_delivered(name)}"
    return make_proportion(f"{name}_above_shortest", description, f"{name}_delivered", defined=is_searched)
