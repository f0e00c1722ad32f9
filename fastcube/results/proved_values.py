"""Values that are proved at some numbers of failures, and need no trials.

With fewer failures than the connectivity the survivors are connected.  If nearly all nodes or links have failed, the sizes of
the connected components, or at least that there are several, follow from the number of failures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..measure.statistics import Number, Proportion, Value
from ..networks.family import Family, find_family, network_families


class Fallible(NamedTuple):
    """The parts of a network that can fail."""

    nodes: int  #: number of nodes of the network
    total: int  #: number of nodes, or of links, that can fail
    are_links: bool


def connectivity(name: str, n: int, failing: str = "nodes") -> int:
    """Return a proved lower bound of the number of failing nodes, or links, that disconnect a network.

    For a named network it is the connectivity: the least degree, except 4 for the nodes of the augmented cube at n = 3.  The
    networks' papers prove this, and all fault sets of n <= 4 confirm it.  For a user's network, or another name, it is 1.
    """
    family = network_families().get(name)
    if family is None:
        return 1
    if name == "exchanged":
        return 1 + (n - 1) // 2
    return 4 if (name, n, failing) == ("augmented", 3, "nodes") else family.degree(n)


def count_fallible(name: str | Family, failing: str, n: int) -> int:
    """Return how many nodes, or links, of a network can fail."""
    return 1 << n if failing == "nodes" else find_family(name).links(n)


def _count_components(sizes: Sequence[int]) -> dict[str, int]:
    """Return the counters of one trial that leaves connected components of these sizes, in any survival study.

    The names are those of the studies' tallies; a statistic on a further counter needs it here too, or raises KeyError.
    """
    largest, second = [*sorted(sizes, reverse=True), 0, 0][:2]
    is_disconnected, has_no_isolated_node = len(sizes) > 1, 1 not in sizes
    events = {
        "connected": len(sizes) == 1,
        "disconnected": is_disconnected,
        "no_isolated_node": has_no_isolated_node,
        "some": bool(sizes),
        "extra_1": is_disconnected and has_no_isolated_node,
    }
    quantities = {
        "largest": largest,
        "second": second,
        "others": sum(size**2 for size in sizes) - largest**2,
        "connected_pairs": sum(math.comb(size, 2) for size in sizes),
    }
    squares = {f"{name}_squares": x * x for name, x in quantities.items()}
    return {name: int(happened) for name, happened in events.items()} | quantities | squares


def find_proved_values(
    statistic: Number, make_point: Callable[[int], dict[str, Value]], fallible: Fallible, least_cut: int
) -> dict[int, float]:
    """Return a statistic at the numbers of failures where it is proved.

    With fewer than ``least_cut`` failures the survivors are connected.  Of links, too few can be left for a spanning tree.
    ``make_point`` returns the point of a number of failures.  The statistic has no condition, and its counters are among
    those of ``_count_components``.  A proportion is the number of its events in one trial, also where it is not defined; any
    other statistic is 0 there.
    """
    nodes, total, are_links = fallible
    component_sizes = {f: [nodes if are_links else nodes - f] for f in range(least_cut)}
    if are_links:
        component_sizes[total] = [1] * nodes
    else:
        component_sizes |= {nodes - 1: [1], nodes: []}
    counts = {f: _count_components(sizes) for f, sizes in component_sizes.items()}
    # with fewer than 2^n - 1 links left there is no spanning tree; the sizes of the components are not known then
    if are_links and {"connected", "disconnected"}.issuperset(statistic.counters()):
        counts |= {f: {"connected": 0, "disconnected": 1} for f in range(total - nodes + 2, total)}
    if isinstance(statistic, Proportion):
        return {f: float(statistic.count_events(counted, 1)) for f, counted in counts.items()}
    return {
        f: statistic.estimate(counted, 1, point).value if statistic.defined(point := make_point(f)) else 0.0
        for f, counted in counts.items()
    }
