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


#: The dimension whose points are plotted, or the nearest in the results: for larger n, few faults hardly matter.
_PLOTTED_DIMENSION = 10


def choose_fault_axis(results: Any) -> tuple[str, Point]:
    """Return the axis of faults with most values, and the values of the other axes: n near 10, and fewest other faults.

    Without trials n is 10, and there are no other faults.
    """
    done = [point for point, tally in results if tally.trials]
    axis = longest_axis(done, "f", "links")
    n = min(
        sorted({point["n"] for point in done}), key=lambda n: abs(n - _PLOTTED_DIMENSION), default=_PLOTTED_DIMENSION
    )
    other = "links" if axis == "f" else "f"
    return axis, {"n": n, other: min((point[other] for point in done if point["n"] == n), default=0)}


def _plot_statistic(
    results: Any, panel: Any, statistic: str, label: str, axis: str, fixed: Point, style: int, styles: int
) -> None:
    """Plot one statistic against the faults: fractions as failures, extra links only at points with enough delivered messages.

    The line has style number ``style`` out of ``styles``.
    """
    delivered = statistic.replace("_extra_links", "_delivered") if statistic.endswith("_extra_links") else None
    points = [
        point
        for point, tally in results
        if fixed.items() <= point.items() and (tally.counts[delivered] >= _LEAST_VALUES if delivered else tally.trials)
    ]
    rows = sorted(
        ((point[axis], results.estimates(point)[statistic], point) for point in points), key=lambda row: row[0]
    )
    known = [row for row in rows if not math.isnan(row[1].value)]
    pairs = [(x, e if delivered else e.complement) for x, e, _ in known]
    panel.series(label, pairs, style, styles, points=[point for _, _, point in known])


def draw_rules(results: Any, sheet: Any, names: Sequence[str]) -> None:
    """Plot messages that the rules lose, and that have no path, on one pair of axes, and the rules' extra links on another.

    ``names`` are the beginnings of the rules' statistics.
    """
    axis, fixed = choose_fault_axis(results)
    left, right = sheet.panels(2)
    possible_paths = {"no path of H links exists": "hamming_path_exists", "no path exists": "reachable"}
    if fixed["n"] > MAX_SEARCHED_DIMENSION:
        del possible_paths["no path exists"]
    titles = {name: name.upper() if name in NAMES else name for name in names}
    # Colours repeat after seven lines.  In this order lines of one colour are far from each other, whereas DFS, which loses only
    # messages without a path, shares the entry of the last line.
    first, *_ = possible_paths.items()
    delivered = dict([first]) | {titles[name]: f"{name}_delivered" for name in names} | possible_paths
    for i, (label, statistic) in enumerate(delivered.items()):  # a rule has the same line in both panels
        _plot_statistic(results, left, statistic, label, axis, fixed, i, len(delivered))
        if label not in (*possible_paths, "ROUTE"):  # ROUTE has no extra links
            extra = statistic.replace("_delivered", "_extra_links")
            _plot_statistic(results, right, extra, label, axis, fixed, i, len(delivered))
    left.scale = "log"
    x = "f, number of faulty nodes" if axis == "f" else "number of faulty links"
    left.set_labels(x=x, y="fraction of all messages", title=f"Not delivered, Q_{fixed['n']}")
    right.scale = "linear"
    right.set_labels(x=x, y="links beyond the Hamming distance", title="Extra links of a delivered message")
    sheet.title("Routing rules on the same faults and messages")
