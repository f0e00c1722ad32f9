"""Figures of ``gather`` and ``rerouting``: data lost by the variants of FTTC, and slowdowns of FTTC and of the detour.

The algorithms gather the data of all nodes over FIND_TREE's tree in n stages (Leu & Kuo, section 3): TC tolerates no fault, FTTC
tolerates faults, in three variants, and REROUTE, "rerouting" in the figures, goes around a faulty link by three other links.
With k the number of stages in which some node meets a faulty link, FTTC takes n + k steps (R11), and REROUTE n + 3k as the paper
counts, or n + 2k as the links of a detour require (R12).  K is a point's number of faulty links.
"""

from collections.abc import Sequence
from typing import Any

from fastcube.measure.study import Point
from fastcube.results.results import Results

from .fault_axis import axis_of_faults, set_log_axis


def plot_delivery(results: Results, sheet: Any) -> None:
    """Plot the data that each variant loses, the data cut off from the sink, and how often ``as_printed`` deadlocks."""
    x = axis_of_faults(results)
    *losses, deadlocks = sheet.panels(4)
    for panel, variant in zip(losses, ("as_printed", "as_commented", "corrected"), strict=True):
        panel.lines(results, f"lost_{variant}", x=x, by="n")
        panel.scale = "auto" if variant == "as_printed" else "log"  # ``as_printed`` loses nearly all data
        panel.set_labels(y="fraction of the data lost", title=f"FTTC {variant}")
    cut_off = [
        (point[x], results.estimates(point)["unreachable_data"].value)
        for point, tally in results
        if tally.counts["with_unreachable_data"]
    ]
    if cut_off:
        losses[-1].marks([faults for faults, _ in cut_off], [value for _, value in cut_off], "cut off from the sink")
    deadlocks.lines(results, "deadlocked_as_printed", x=x, by="n")
    deadlocks.scale = "linear"
    deadlocks.limits(bottom=0)
    deadlocks.set_labels(y="fraction of trials", title="FTTC as printed: a node is blocked for ever")
    for panel in (*losses, deadlocks):
        set_log_axis(panel)
    sheet.title(results.study.title)


#: The statistics of slowdowns in the figure of ``rerouting``, by label.
_SLOWDOWNS = {
    "FTTC as commented": "slowdown_as_commented",
    "FTTC corrected": "slowdown_corrected",
    "FTTC: n + k": "slowdown_paper",
    "rerouting: n + 3k": "slowdown_reroute",
    "rerouting: n + 2k": "slowdown_reroute_hops",
}
#: The statistics of complete deliveries in the figure of ``rerouting``, by label.
_COMPLETE = {
    "TC": "complete_tc",
    "rerouting": "complete_reroute",
    "FTTC as commented": "complete_as_commented",
    "FTTC corrected": "complete_corrected",
}


def list_fault_kinds(points: Sequence[Point]) -> dict[str, list[Point]]:
    """Return points by their kind of faults, each kind with its name in titles; every point has exactly one kind.

    Points without faults count as points with faulty links, or with faulty nodes if no point has faulty links.
    """
    has_links = any(point["links"] for point in points)
    with_both = [point for point in points if point["links"] and point["f"]]
    is_half = all(2 * int(point["f"]) == point["links"] for point in with_both)
    kinds = {
        "faulty links": [point for point in points if not point["f"] and has_links],
        "K faulty links and K/2 faulty nodes" if is_half else "faulty links and nodes": with_both,
        "faulty nodes": [point for point in points if not point["links"] and (point["f"] or not has_links)],
    }
    return {kind: some for kind, some in kinds.items() if some} or {"faulty nodes": []}


def plot_rerouting(results: Results, sheet: Any) -> None:
    """Plot the slowdowns at the largest n, one panel per kind of faults, and how often all data arrives."""
    n = max((int(point["n"]) for point, tally in results if tally.trials), default=1)
    done = [point for point, tally in results if tally.trials and point["n"] == n]
    chosen = list_fault_kinds(done)
    panels = sheet.panels(len(chosen) + 1)
    for panel, (kind, points) in zip(panels, chosen.items(), strict=False):
        _plot_lines(panel, results, _SLOWDOWNS, points)
        panel.curve([1, 2 ** (n - 1)], [2, 2], "paper: FTTC < 2")
        panel.curve([1, 2 ** (n - 1)], [4, 4], "paper: rerouting <= 4", linestyle="--")
        panel.by = ("slowdown",)  # a separate legend
        panel.set_labels(y="steps / n", title=f"Slowdown at n = {n}: {kind}")
    kind, points = next(iter(chosen.items()))
    _plot_lines(panels[-1], results, _COMPLETE, points)
    panels[-1].by = ("complete",)
    panels[-1].set_labels(y="fraction of trials", title=f"All data arrives at n = {n}: {kind}")
    sheet.title(results.study.title)


def _plot_lines(panel: Any, results: Results, statistics: dict[str, str], points: Sequence[Point]) -> None:
    """Plot one line per statistic over some points, by the number of faulty links, or of nodes if there are no faulty links."""
    x = "links" if any(point["links"] for point in points) else "f"
    panel.compare(results, statistics, x=x, at=lambda point: point in points)
    panel.scale = "linear"
    set_log_axis(panel)
