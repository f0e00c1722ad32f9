"""The figure of a table of routing rules: fractions that the rules lose on one pair of axes, extra links on another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..kernels.routing.layout import MAX_SEARCHED_DIMENSION
from ..kernels.routing_rules.layout import NAMES
from .grid import longest_axis
from .study import Point

#: Least number of delivered messages for which a mean of extra links is plotted.
_LEAST_VALUES = 100


def axis_of_faults(results: Any) -> tuple[str, Point]:
    """Return the axis of faults with most values, and values for the other axes: n nearest to 10, and fewest other faults."""
    done = [point for point, tally in results if tally.trials]
    by = longest_axis(done, "f", "links")
    n = min(sorted({point["n"] for point in done}), key=lambda n: abs(n - 10))  # for larger n, few faults hardly matter
    other = "links" if by == "f" else "f"
    return by, {"n": n, other: min(point[other] for point in done if point["n"] == n)}


def _plot_statistic(
    results: Any, panel: Any, statistic: str, label: str, by: str, at: Point, like: int, of: int
) -> None:
    """Plot one statistic against the faults: fractions as failures, extra links only at points with enough delivered messages."""
    among = statistic.replace("_extra_links", "_delivered") if statistic.endswith("_extra_links") else None
    there = [
        point
        for point, tally in results
        if at.items() <= point.items() and (tally.counts[among] >= _LEAST_VALUES if among else tally.trials)
    ]
    found = {point[by]: (results.estimates(point)[statistic], point) for point in there}
    known = [
        (x, e if among else e.complement, point) for x, (e, point) in sorted(found.items()) if not math.isnan(e.value)
    ]
    panel.series(label, [(x, e) for x, e, _ in known], like, of, points=[point for _, _, point in known])


def draw_rules(results: Any, sheet: Any, names: Sequence[str]) -> None:
    """Plot messages that the rules lose, and that have no path, on one pair of axes, and the rules' extra links on another.

    ``names`` are the beginnings of the rules' statistics.
    """
    by, at = axis_of_faults(results)
    left, right = sheet.panels(2)
    possible = {"no path of H links exists": "hamming_path_exists", "no path exists": "reachable"}
    if at["n"] > MAX_SEARCHED_DIMENSION:
        del possible["no path exists"]
    shown = {name: name.upper() if name in NAMES else name for name in names}
    # Colours repeat after seven lines.  In this order lines of one colour are far from each other, whereas DFS, which loses only
    # messages without a path, shares the entry of the last line.
    delivered = {label: possible[label] for label in [*possible][:1]}
    delivered |= {shown[name]: f"{name}_delivered" for name in names} | possible
    for i, (label, statistic) in enumerate(delivered.items()):  # a rule has the same line in both panels
        _plot_statistic(results, left, statistic, label, by, at, i, len(delivered))
        if label not in (*possible, "ROUTE"):  # ROUTE has no extra links
            extra = statistic.replace("_delivered", "_extra_links")
            _plot_statistic(results, right, extra, label, by, at, i, len(delivered))
    left.scale = "log"
    x = "f, number of faulty nodes" if by == "f" else "number of faulty links"
    left.set_labels(x=x, y="fraction of all messages", title=f"Not delivered, Q_{at['n']}")
    right.scale = "linear"
    right.set_labels(x=x, y="links beyond the Hamming distance", title="Extra links of a delivered message")
    sheet.title("Routing rules on the same faults and messages")
