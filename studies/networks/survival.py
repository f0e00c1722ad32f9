"""``survival`` and ``survival-rate``: whether a network stays connected under random faults.

Where the faults of a point also exist in the hypercube (``is_compared`` in ``measure/survival.py``), every trial tests both
networks under the same faults, so differences are paired.
"""

import functools
import math
from collections.abc import Sequence
from typing import Any

from fastcube.kernels.survival import dispatch
from fastcube.kernels.survival.layout import SURVIVAL as TALLY
from fastcube.measure.statistics import Point
from fastcube.measure.study import Grid, Notes, Study
from fastcube.measure.survival import (
    AXES,
    AXES_RATE,
    STATISTICS,
    check_point,
    make_explain,
    make_points,
    make_sample,
    networks_of_size,
)
from fastcube.networks.family import network_families
from fastcube.results.results import Results

from .survival_notes import limit_notes, pairing_notes, rank_notes

#: list[Point] with faulty nodes only, at n = 8.
NODES = make_points(networks_of_size(8), 8, f=(8, 16, 32, 64, 96, 128), links=(0,))


def _size_points() -> list[Point]:
    names = ("hypercube", "crossed", "moebius1", "folded", "augmented")
    return [p for n in range(4, 13) for p in make_points(names, n, f=(2 ** (n - 2), 2 ** (n - 1)), links=(0,))]


def _link_points() -> list[Point]:
    """Return points at n = 8, 9 and 7 with up to 70% of each network's links faulty, at the same numbers for matched networks."""
    return [
        p
        for n in (8, 9, 7)
        for i in range(1, 15)
        for name in networks_of_size(n)
        for p in make_points([name], n, f=(0,), links=[network_families()[name].links(n) * i // 20])
    ]


def _few_fault_points() -> list[Point]:
    names = ("hypercube", "crossed", "moebius1", "folded")
    return [
        p
        for n in range(5, 9)
        for p in make_points(names, n, f=sorted({n, 2 * n - 3, 2 * n - 2, 2 * n, 4 * n}), links=(0,))
    ]


def _half_rate_points() -> list[Point]:
    """Return points with nodes of matched, folded and augmented networks failing at 1/2, and with links of all failing at 1/2."""
    out: list[Point] = []
    for n in range(3, 13):
        matched = networks_of_size(n, matched=True)
        out += make_points([*matched, "folded", "augmented"], n, rate=(0.5,), link_rate=(0.0,))
        out += make_points(networks_of_size(n), n, rate=(0.0,), link_rate=(0.5,))
    return out


#: Failure rates of nodes in the grid ``nodes`` of ``survival-rate``, from .05 to .6.
_RATES = [round(0.05 * i, 2) for i in range(1, 13)]


# ---------------------------------------------------------------- figures


def plot_connected(results: Results, sheet: Any) -> None:
    """Plot P(connected) against the faults for the largest n, or against n if n has most values, and differences below."""
    done = [point for point, tally in results if tally.trials]
    values = {axis.name: {point[axis.name] for point in done} for axis in results.study.axes if axis.name != "network"}
    x = max(values, key=lambda name: len(values[name]))
    if x == "n" and len(values["n"]) > 1:
        _plot_with_differences(results, sheet, done, x, "against n")
    else:
        largest = max((int(point["n"]) for point in done), default=0)
        _plot_with_differences(results, sheet, [point for point in done if point["n"] == largest], x, f"n = {largest}")


def plot_sizes(results: Results, sheet: Any) -> None:
    """Plot P(connected) and differences against n, with half of the nodes faulty."""
    done = [point for point, tally in results if tally.trials and 2 * int(point["f"]) == 2 ** int(point["n"])]
    _plot_with_differences(results, sheet, done, "n", "half of the nodes faulty")


def _plot_with_differences(results: Results, sheet: Any, done: Sequence[Point], x: str, where: str) -> None:
    """Plot P(connected) at some points, one line per network, and the differences of networks with the hypercube's degree."""
    above, below = sheet.panels(1, 2)
    above.lines(results, "connected", x=x, by="network", at=lambda point: point in done)
    above.scale = "linear"
    above.set_labels(y="P(connected)", title=f"The nonfaulty nodes are connected, {where}")
    known = network_families()
    others = [point for point in done if str(point["network"]) != "hypercube"]
    same_degree = [point for point in others if known[str(point["network"])].degree(int(point["n"])) == point["n"]]
    compared = same_degree or others
    below.lines(results, "connected_diff", x=x, by="network", at=lambda point: point in compared)
    title = "Difference from the hypercube on the same faults"
    if same_degree:
        title += ", networks of its degree"
    below.set_labels(y="difference of P(connected)", title=title)
    sheet.title(results.study.title)


def plot_half_rates(results: Results, sheet: Any) -> None:
    """Plot P(connected) at rate 1/2 against n, with the hypercube's limits of N8."""
    nodes, links = sheet.panels(2)
    for panel, axis, title in ((nodes, "rate", "Nodes fail at 1/2"), (links, "link_rate", "Links fail at 1/2")):
        panel.lines(results, "connected", x="n", by="network", at=lambda point, axis=axis: point[axis] == 0.5)
        panel.scale = "linear"
        panel.reference(
            lambda point, axis=axis: asymptotic_survival(point, axis), "proved limit for n to infinity, hypercube"
        )
        panel.set_labels(y="P(connected)", title=title)
    sheet.title(results.study.title)


def asymptotic_survival(point: Point, axis: str) -> float:
    """Return the proved limit of P(connected) for n to infinity at rate 1/2 (N8) for the hypercube, NaN for other networks."""
    # the number of isolated nodes is Poisson in the limit, with this mean (N8)
    isolated = 1.0 if axis == "link_rate" else 0.5
    return math.exp(-isolated) if str(point["network"]) == "hypercube" else math.nan


def plot_few_faults(results: Results, sheet: Any) -> None:
    """Plot the fraction of fault sets that disconnect the nonfaulty nodes, one panel per n."""
    done = [point for point, tally in results if tally.trials]
    sizes = sorted({int(point["n"]) for point in done})
    names = list(dict.fromkeys(str(point["network"]) for point in done))
    for n, panel in zip(sizes, sheet.panels(2, count=max(1, len(sizes))), strict=False):
        for i, name in enumerate(names):
            points = [point for point in done if (str(point["network"]), int(point["n"])) == (name, n)]
            disconnected = [(float(point["f"]), results.estimates(point)["connected"].complement) for point in points]
            panel.series(name, sorted(disconnected, key=lambda pair: pair[0]), i, len(names))
        panel.scale = "log"
        panel.set_labels(x="f, faulty nodes", y="P(not connected)", title=f"n = {n}")
    sheet.title("Few faults that disconnect the nonfaulty nodes")


# ---------------------------------------------------------------- the studies

#: Shared arguments of both studies.
_make_study = functools.partial(
    Study,
    tally=TALLY,
    statistics=STATISTICS,
    check=check_point,
    explain=make_explain(),
    sample=make_sample(),
    figure=plot_connected,
    notes=Notes(
        (rank_notes, ("connected", "disconnected", "connected_diff")),
        (pairing_notes, ("connected_diff",)),
        (limit_notes, ("no_isolated_node", "disconnected", "extra_1")),
        most=6,
    ),
    together=512,  # lanes count 512 trials at once
)

SURVIVAL = _make_study(
    name="survival",
    revision=1,
    title="Connectivity of networks on 2^n nodes under random faults",
    source="docs/readings/networks.md, N4, N5",
    axes=AXES,
    kernel=lambda point: dispatch.SURVIVAL.kernel(*point.values()),
    alternatives=lambda point: dispatch.SURVIVAL.alternatives(*point.values()),
    grids=(
        Grid("nodes", NODES, 100_000),
        Grid("nine", make_points(networks_of_size(9), 9, f=(9, 18, 64, 128, 192), links=(0,)), 100_000),
        Grid("sizes", _size_points(), lambda point: 100_000 if point["n"] < 11 else 10_000, figure=plot_sizes),
        Grid("links", _link_points(), 100_000),
        Grid("few", _few_fault_points(), 1_000_000, figure=plot_few_faults),
    ),
)

SURVIVAL_RATE = _make_study(
    name="survival-rate",
    revision=2,
    title="Connectivity of networks on 2^n nodes when nodes and links fail at rates",
    source="docs/readings/networks.md, N4, N5, N8",
    axes=AXES_RATE,
    kernel=lambda point: dispatch.SURVIVAL_RATE.kernel(*point.values()),
    grids=(
        Grid("nodes", make_points(networks_of_size(8), 8, rate=_RATES, link_rate=(0.0,)), 100_000),
        Grid("half", _half_rate_points(), 100_000, figure=plot_half_rates),
    ),
)
