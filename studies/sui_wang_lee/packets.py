"""The study ``edst-broadcast``: how many steps M packets take on edge-disjoint spanning trees (EDST).

Theorem 2 prints ceil(M/(n-1)) + n steps with a faulty node; for the trees of Johnsson and Ho without fault, ceil(M/n) + n is
cited.  Every trial samples a source, and at d >= 1 a faulty node at distance d, builds the trees and counts the steps, so the
trials show whether the count depends on the two nodes.  *Light* trees are the n - 1 trees of the paper's Algorithm A around a
faulty node; ``light_trees`` of ``algorithms/spanning.py`` returns Johnsson and Ho's n trees if there is none.  The *depth* of a
node is its distance from the root of a tree, and the *height* of a tree its largest depth.  The statistic
``matches_theorem_2`` compares with Theorem 2 at d >= 1, and with Johnsson and Ho's formula at d = 0.  Interpretations S1 to S10
apply.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastcube.errors import check_range
from fastcube.kernels.spanning import dispatch, layout
from fastcube.kernels.spanning.layout import MOST_DIMENSIONS
from fastcube.measure.asymptotic import NormalMean
from fastcube.measure.fault_sets import list_faulty_nodes
from fastcube.measure.statistics import Proportion
from fastcube.measure.study import Axis, Explanation, Grid, Notes, Point, Sample, Study, point_text
from fastcube.networks.hypercube import Hypercube
from fastcube.results.results import Results

#: The numbers of packets in the grid.
PACKETS = (1, 4, 16, 64, 256, 1024)

#: The dimensions that the figure shows, if the results have them.
_PLOTTED_DIMENSIONS = (4, 10)


def printed_steps(n: int, d: int, packets: int) -> int:
    """Return the printed number of steps: Theorem 2 with a faulty node (d >= 1), Johnsson and Ho without (d = 0)."""
    return math.ceil(packets / (n - 1 if d else n)) + n


def _check_point(point: Point) -> None:
    check_range("d", point["d"], 0, point["n"], f"for n={point['n']}")


# ---------------------------------------------------------------- replay


def _sample_ends(point: Point, key: int, trial: int) -> Sample:
    from fastcube.kernels.spanning import replay

    n, d = int(point["n"]), int(point["d"])
    s, f = replay.sample_edst_broadcast(key, trial, n, d)
    return Sample(Hypercube(n, [] if f is None else [f]), {"s": s})


def _explain(point: Point, key: int, trial: int) -> Explanation:
    from fastcube.algorithms.spanning import depths, light_trees, position_dimensions

    n, d, packets = (int(point[name]) for name in ("n", "d", "packets"))
    sample = _sample_ends(point, key, trial)
    cube, s, f = sample.network, sample.others["s"], next(iter(list_faulty_nodes(sample)), -1)
    tree_depths = [depths(tree) for tree in light_trees(cube, s)]
    heights = [int(of_nodes.max()) for of_nodes in tree_depths]
    trees = len(tree_depths)
    # packet p goes down tree p mod ``trees`` (S10)
    tree_packets = [(packets - i + trees - 1) // trees for i in range(trees)]
    complete = _find_last_steps(tree_depths, tree_packets)
    complete[[s, f] if d else [s]] = 0
    steps = int(complete.max())
    last = np.flatnonzero(complete == steps).tolist()
    dims = position_dimensions(n, s, f)[::-1] if d else None
    lines = [f"  source s = {cube.label(s)}"]
    if dims is None:
        lines.append("  no faulty node: Johnsson and Ho's trees")
    else:
        lines.append(f"  faulty node f = {cube.label(f)}, at distance d = {d}")
        order = " ".join(map(str, dims))
        lines.append(
            f"  relabelled: XOR with s, then dimensions {order} from the top; f becomes {'1' * d + '0' * (n - d)}"
        )
    others = f" and {len(last) - 1} others" if len(last) > 1 else ""
    lines += [
        f"  heights of the {trees} trees, rooted at s: {' '.join(map(str, heights))}",
        f"  packets on each: {' '.join(map(str, tree_packets))}",
        f"  node {cube.label(last[0])}{others} has everything last, in step {steps}",
        f"  printed: {printed_steps(n, d, packets)} steps",
    ]
    data = {
        "s": s,
        "f": f if d else None,
        "d": d,
        "dimensions": dims,
        "heights": heights,
        "packets": tree_packets,
        "steps": steps,
        "last": last,
        "printed": printed_steps(n, d, packets),
    }
    return Explanation("\n".join(lines), data)


def _find_last_steps(tree_depths: list[NDArray[np.int64]], tree_packets: list[int]) -> NDArray[np.int64]:
    """Return the step in which each node has the last packet of all trees, from the nodes' depths in each tree.

    The last of a tree's c packets leaves the source in step c, and reaches depth L in step L + c - 1.
    """
    steps = [of_nodes + count - 1 for of_nodes, count in zip(tree_depths, tree_packets, strict=True) if count]
    return np.asarray(np.max(steps, axis=0))


# ---------------------------------------------------------------- figure and notes


def _figure(results: Results, sheet: Any) -> None:
    """Plot steps against M: on one tree, on n rooted trees without fault, and on n - 1 light trees around a faulty node."""
    done = [point for point, tally in results if tally.trials]
    sizes = sorted({int(point["n"]) for point in done})
    chosen = [n for n in _PLOTTED_DIMENSIONS if n in sizes] or sizes[:2]
    panels = sheet.panels(max(len(chosen), 1))
    for n, panel in zip(chosen, panels, strict=False):
        _plot_steps(results, panel, n, [point for point in done if point["n"] == n])
    sheet.title("Steps until M packets are everywhere in Q_n: on one tree, and on edge-disjoint trees")


def _plot_steps(results: Results, panel: Any, n: int, points: Sequence[Point]) -> None:
    """Plot the measured steps at one n, the printed formulas, and the lower bound; of faults only the nearest to the source."""
    points = sorted(points, key=lambda point: point["packets"])
    nearest = min((int(point["d"]) for point in points if point["d"]), default=None)
    with_fault = [point for point in points if point["d"] == nearest]
    without = [point for point in points if point["d"] == 0]
    series = (
        ("one tree", with_fault or without, "steps_one_tree"),
        ("n - 1 light trees around a fault", with_fault, "steps"),
        ("n rooted trees, no fault", without, "steps"),
    )
    for i, (label, chosen, statistic) in enumerate(series):
        if chosen:
            pairs = [(int(point["packets"]), results.estimates(point)[statistic]) for point in chosen]
            panel.series(label, pairs, like=i, of=len(series))
    for chosen, label, dashes in (
        (with_fault, "printed: ⌈M / (n - 1)⌉ + n", ":"),
        (without, "printed: ⌈M / n⌉ + n", "-"),
    ):
        if chosen:
            at = [int(point["packets"]) for point in chosen]
            steps = [printed_steps(n, int(chosen[0]["d"]), packets) for packets in at]
            panel.curve(at, steps, label, linestyle=dashes, linewidth=4, alpha=0.4)  # visible under an equal line
    bounded = with_fault or without
    bounds = [results.estimates(point)["lower_bound"].value for point in bounded]
    at = [int(point["packets"]) for point in bounded]
    panel.curve(at, bounds, "lower bound for every schedule", linestyle="--")
    panel.axes.set_xscale("log")
    panel.scale = "log"
    panel.by = ("trees",)
    where = f"fault at distance {nearest}" if with_fault else "no fault"
    panel.set_labels(x="M, number of packets", y="steps", title=f"n = {n}, {where}")


def _notes(results: Results) -> list[str]:
    """Return notes on the printed formulas, the largest ratio to the lower bound, and trials without trees."""
    done = [point for point, tally in results if tally.trials]
    if not done:
        return []
    lines = []
    for has_fault, formula in (
        (True, "ceil(M/(n-1)) + n, with a faulty node"),
        (False, "ceil(M/n) + n, without a faulty node"),
    ):
        points = [point for point in done if bool(point["d"]) == has_fault]
        if points:
            lines += _compare_formula(results, points, formula)
    ratio, loosest = max(((_steps_over_bound(results, point), point) for point in done), key=lambda pair: pair[0])
    lines.append(f"largest steps / bound: {ratio:.3f} at {point_text(loosest)}")
    if broken := sum(tally.counts["broken"] for _, tally in results):
        lines.append(f"{broken} trials had no edge-disjoint spanning trees")
    return lines


def _steps_over_bound(results: Results, point: Point) -> float:
    """Return the ratio of the mean steps over the trees to the mean of the lower bounds."""
    estimates = results.estimates(point)
    return float(estimates["steps"].value / estimates["lower_bound"].value)


def _compare_formula(results: Results, points: Sequence[Point], formula: str) -> list[str]:
    """Return notes: at how many points a printed formula holds in every trial, and the differences elsewhere."""
    by_difference: dict[float, list[Point]] = {}
    for point in points:
        n, d, m = (int(point[name]) for name in ("n", "d", "packets"))
        estimates = results.estimates(point)
        if estimates["matches_theorem_2"].value < 1:
            by_difference.setdefault(estimates["steps"].value - printed_steps(n, d, m), []).append(point)
    matching = len(points) - sum(map(len, by_difference.values()))
    lines = [f"printed {formula}: right in every trial at {matching} of {len(points)} points"]
    for difference, differing in sorted(by_difference.items()):
        plural = "s" if abs(difference) != 1 else ""
        side = "fewer" if difference < 0 else "more"
        lines.append(f"  {abs(difference):g} step{plural} {side} at {len(differing)}:")
        by_fault: dict[tuple[int, int], list[str]] = {}
        for point in differing:
            by_fault.setdefault((int(point["n"]), int(point["d"])), []).append(str(point["packets"]))
        lines += [f"    n={n},d={d}: packets = {', '.join(packets)}" for (n, d), packets in by_fault.items()]
    return lines


# ---------------------------------------------------------------- the study


def _grid_points() -> list[Point]:
    return [{"n": n, "d": d, "packets": m} for n in range(3, 11) for d in range(n + 1) for m in PACKETS]


EDST_BROADCAST = Study(
    name="edst-broadcast",
    title="Steps of M packets on edge-disjoint spanning trees of Q_n around a faulty node",
    source="Sui, Wang & Lee, Theorem 2",
    revision=1,
    axes=(
        Axis("n", "dimension of the hypercube", int, 2, MOST_DIMENSIONS),
        Axis("d", "distance from source to faulty node; 0: no fault", int, 0, MOST_DIMENSIONS),
        Axis("packets", "number of packets M", int, 1, 2**20),
    ),
    tally=layout.EDST_BROADCAST,
    statistics=(
        NormalMean(
            name="steps",
            description="mean number of steps, a packet per link and direction in each, until every nonfaulty node has all "
            "M packets over the edge-disjoint trees",
            total="steps",
            squares="steps_squared",
        ),
        Proportion(
            name="matches_theorem_2",
            description="fraction of trials that take the printed ceil(M / trees) + n steps, with n - 1 trees, or n trees "
            "without a fault",
        ),
        NormalMean(
            name="steps_one_tree",
            description="mean number of steps, a packet per link in each, if all go over one tree: binomial without a "
            "fault, else shortest-path tree",
            total="single",
            squares="single_squared",
        ),
        NormalMean(
            name="lower_bound",
            description="mean number of steps that no schedule can beat: a proved lower bound, not always reached",
            total="lower_bound",
            squares="lower_bound_squared",
        ),
    ),
    kernel=lambda point: dispatch.EDST_BROADCAST.kernel(*point.values()),
    grids=(Grid("theorem-2", _grid_points(), 16),),
    check=_check_point,
    explain=_explain,
    sample=_sample_ends,
    figure=_figure,
    notes=Notes((_notes, ("steps", "matches_theorem_2", "lower_bound"))),
)
