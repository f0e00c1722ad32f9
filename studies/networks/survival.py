"""``survival`` and ``survival-rate``: whether a network stays connected under random faults.

Where the faults of a point also exist in the hypercube (``is_compared``), every trial tests both networks under the same faults,
so differences are paired.
"""

import functools
import math
from itertools import groupby
from typing import Any

from fastcube.errors import range_text
from fastcube.exact.isolated_nodes import isolated_node_bounds
from fastcube.kernels.survival import dispatch
from fastcube.kernels.survival.layout import SURVIVAL as TALLY
from fastcube.measure.estimate import Estimate
from fastcube.measure.statistics import Point
from fastcube.measure.study import Grid, Notes, Study, Value, point_text
from fastcube.measure.survival import (
    AXES,
    AXES_RATE,
    STATISTICS,
    check_point,
    is_compared,
    make_explain,
    make_points,
    make_sample,
    networks_of_size,
)
from fastcube.networks.family import network_families
from fastcube.results.results import Results
from fastcube.results.rounding import estimate_texts

Points = list[dict[str, Value]]

#: Largest numbers of lines of notes: of ranks, and of proved limits.
_MOST_RANK_LINES, _MOST_LIMITS = 200, 100

#: Points with faulty nodes only, at n = 8.
NODES = make_points(networks_of_size(8), 8, f=(8, 16, 32, 64, 96, 128), links=(0,))


def _size_points() -> Points:
    names = ("hypercube", "crossed", "moebius1", "folded", "augmented")
    return [p for n in range(4, 13) for p in make_points(names, n, f=(2 ** (n - 2), 2 ** (n - 1)), links=(0,))]


def _link_points() -> Points:
    """Return points at n = 8, 9 and 7 with up to 70% of each network's links faulty, at the same numbers for matched networks."""
    return [
        p
        for n in (8, 9, 7)
        for i in range(1, 15)
        for name in networks_of_size(n)
        for p in make_points([name], n, f=(0,), links=[network_families()[name].links(n) * i // 20])
    ]


def _few_fault_points() -> Points:
    names = ("hypercube", "crossed", "moebius1", "folded")
    return [
        p
        for n in range(5, 9)
        for p in make_points(names, n, f=sorted({n, 2 * n - 3, 2 * n - 2, 2 * n, 4 * n}), links=(0,))
    ]


def _half_rate_points() -> Points:
    """Return points with nodes of matched, folded and augmented networks failing at 1/2, and with links of all failing at 1/2."""
    out: Points = []
    for n in range(3, 13):
        matched = networks_of_size(n, matched=True)
        out += make_points([*matched, "folded", "augmented"], n, rate=(0.5,), link_rate=(0.0,))
        out += make_points(networks_of_size(n), n, rate=(0.0,), link_rate=(0.5,))
    return out


_RATES = [round(0.05 * i, 2) for i in range(1, 13)]


# ---------------------------------------------------------------- figures


def figure(results: Results, sheet: Any) -> None:
    """Plot P(connected) against the faults for the largest n, or against n if n has most values, and differences below."""
    done = [point for point, tally in results if tally.trials]
    axes = [axis.name for axis in results.study.axes if axis.name != "network"]
    x = max(axes, key=lambda name: len({point[name] for point in done}))
    largest = max((int(point["n"]) for point in done), default=0)
    if len({point["n"] for point in done}) > 1 and x == "n":  # at a single point x is "n", too
        _plot_with_differences(results, sheet, done, x, "against n")
    else:
        _plot_with_differences(results, sheet, [point for point in done if point["n"] == largest], x, f"n = {largest}")


def figure_sizes(results: Results, sheet: Any) -> None:
    """Plot P(connected) and differences against n, with half of the nodes faulty."""
    done = [point for point, tally in results if tally.trials and 2 * int(point["f"]) == 2 ** int(point["n"])]
    _plot_with_differences(results, sheet, done, "n", "half of the nodes faulty")


def _plot_with_differences(results: Results, sheet: Any, done: Points, x: str, where: str) -> None:
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


def figure_half(results: Results, sheet: Any) -> None:
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


def figure_sparse(results: Results, sheet: Any) -> None:
    """Plot the fraction of fault sets that disconnect the nonfaulty nodes, one panel per n."""
    done = [point for point, tally in results if tally.trials]
    sizes = sorted({int(point["n"]) for point in done})
    names = list(dict.fromkeys(str(point["network"]) for point in done))
    for n, panel in zip(sizes, sheet.panels(2, count=max(1, len(sizes))), strict=False):
        for i, name in enumerate(names):
            own = [point for point in done if (str(point["network"]), int(point["n"])) == (name, n)]
            disconnected = [(float(point["f"]), results.estimates(point)["connected"].complement) for point in own]
            panel.series(name, sorted(disconnected, key=lambda pair: pair[0]), i, len(names))
        panel.scale = "log"
        panel.set_labels(x="f, faulty nodes", y="P(not connected)", title=f"n = {n}")
    sheet.title("Few faults that disconnect the nonfaulty nodes")


# ---------------------------------------------------------------- notes


def _point_without_network(point: Point) -> tuple[Value, ...]:
    """Return all values of a point but the network."""
    return tuple(value for name, value in point.items() if name != "network")


#: Outcomes of a comparison with the hypercube, in the order of the notes.
_AHEAD, _EVEN, _BEHIND = "ahead of the hypercube", "not distinguished from the hypercube", "behind the hypercube"


def compare_with_hypercube(difference: Estimate) -> str:
    """Return the outcome that the interval of a paired difference to the hypercube shows."""
    return _AHEAD if difference.low > 0 else _BEHIND if difference.high < 0 else _EVEN


def rank_notes(results: Results) -> list[str]:
    """Return notes that rank the networks of each degree by paired differences of P(connected) to the hypercube, per point."""
    done = sorted((point for point, tally in results if tally.trials), key=_point_without_network)
    lines: list[str] = []
    omitted = 0
    for _, group in groupby(done, key=_point_without_network):
        points = [point for point in group if str(point["network"]) != "hypercube"]
        if points and not omitted:
            where = point_text({name: value for name, value in points[0].items() if name != "network"})
            ranks = _compare_networks(results, [p for p in points if is_compared(p)])
            ranks += _list_unpaired(results, [p for p in points if not is_compared(p)])
            if len(lines) + len(ranks) <= _MOST_RANK_LINES:
                lines += [f"{where}: {line}" for line in ranks]
                continue
        omitted += len(points)
    if omitted:
        lines.append(f"and {omitted:,} more points")
    heading = "P(connected) minus the hypercube's on the same faults, by degree, each with its own 95% interval:"
    return [heading, *lines] if lines else []


def _compare_networks(results: Results, points: Points) -> list[str]:
    """Return lines that group the networks of each degree by the outcome of their comparison with the hypercube."""
    known = network_families()
    by_degree: dict[int, dict[str, list[str]]] = {}
    differences = [results.estimates(point)["connected_diff"] for point in points]
    for point, difference, text in zip(points, differences, estimate_texts(differences), strict=True):
        family = known[str(point["network"])]
        by_outcome = by_degree.setdefault(family.degree(int(point["n"])), {_AHEAD: [], _EVEN: [], _BEHIND: []})
        by_outcome[compare_with_hypercube(difference)].append(f"{family.name} {text}")
    return [
        f"degree {degree}: " + "; ".join(f"{what}: {', '.join(some)}" for what, some in by_outcome.items() if some)
        for degree, by_outcome in sorted(by_degree.items())
    ]


def _list_unpaired(results: Results, points: Points) -> list[str]:
    """Return lines with P(connected) of networks whose faulty links are not the hypercube's, by degree, the best first."""
    known = network_families()
    estimates = [(results.estimates(point)["connected"], known[str(point["network"])]) for point in points]
    texts = estimate_texts([estimate for estimate, _ in estimates])
    rows = [
        (family.degree(int(point["n"])), -estimate.value, f"{family.name} {text}")
        for point, (estimate, family), text in zip(points, estimates, texts, strict=True)
    ]
    return [
        f"degree {degree}, P(connected) not paired with the hypercube: " + ", ".join(text for _, _, text in some)
        for degree, some in groupby(sorted(rows), key=lambda row: row[0])
    ]


def pairing_notes(results: Results) -> list[str]:
    """Return a note on the ratio of unpaired to paired standard errors; its square is the factor in trials that pairing saves."""
    gains: dict[str, list[float]] = {}
    for point, tally in results:
        if not is_compared(point):
            continue
        paired = results.estimates(point)["connected_diff"].stderr
        if str(point["network"]) != "hypercube" and tally.trials > 1 and paired > 0:
            fractions = (tally.counts["connected"] / tally.trials, tally.counts["cube_connected"] / tally.trials)
            # standard error of the difference of two independent proportions
            unpaired = math.sqrt(sum(p * (1 - p) for p in fractions) / tally.trials)
            gains.setdefault(str(point["network"]), []).append(unpaired / paired)
    reported = ", ".join(f"{name} {range_text(f'{min(g):.2f}', f'{max(g):.2f}')}" for name, g in gains.items())
    heading = "standard error of the difference without common faults, as a multiple of the standard error with them:"
    return [f"{heading} {reported}"] if reported else []


def limit_notes(results: Results) -> list[str]:
    """Return notes with N11's limits of P(some node is isolated), if informative, and whether trials can improve them."""
    lines: list[str] = []
    omitted = 0
    for point, tally in results:
        if not tally.trials or not (faults := _fault_arguments(point)):
            continue
        limits = isolated_node_bounds(str(point["network"]), int(point["n"]), **faults)
        low, high = limits.low, limits.high
        if (low, high) == (0.0, 1.0):
            continue
        if len(lines) == _MOST_LIMITS:
            omitted += 1
            continue
        sampled = results.estimates(point)["no_isolated_node"]
        narrower = (
            f", narrower than an interval from {tally.trials:,} trials" if high - low < 2 * sampled.half_width else ""
        )
        lines.append(
            f"  {point_text(point)}: [{low:.6g}, {high:.6g}], {limits.mean:.4g} isolated nodes on average{narrower}"
        )
    if not lines:
        return []
    heading = (
        "proved limits of P(some node is isolated); where two nodes or more are nonfaulty, P(disconnected) is the sum of this"
        " probability and extra_1:"
    )
    if omitted:
        lines.append(
            f"  fc.isolated_node_bounds gives the limits of {omitted:,} more point{'s' if omitted > 1 else ''}"
        )
    return [heading, *lines]


def _fault_arguments(point: Point) -> dict[str, Any]:
    """Return the faults of a point as arguments of ``isolated_node_bounds``; nothing if it counts no pairs at this point."""
    nodes, links = ("f", "links") if "f" in point else ("rate", "link_rate")
    regular = network_families()[str(point["network"])].is_regular(int(point["n"]))
    if point[nodes] and point[links] and not regular:
        return {}
    return {nodes: point[nodes]} | ({links: point[links]} if point[links] else {})


#: Shared arguments of both studies, which differ only in the axes of the faults.
_study = functools.partial(
    Study,
    tally=TALLY,
    statistics=STATISTICS,
    check=check_point,
    explain=make_explain(),
    sample=make_sample(),
    figure=figure,
    notes=Notes(
        (rank_notes, ("connected", "disconnected", "connected_diff")),
        (pairing_notes, ("connected_diff",)),
        (limit_notes, ("no_isolated_node", "disconnected", "extra_1")),
        most=6,
    ),
    together=512,  # lanes count 512 trials at once
)

SURVIVAL = _study(
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
        Grid("sizes", _size_points(), lambda point: 100_000 if point["n"] < 11 else 10_000, figure=figure_sizes),
        Grid("links", _link_points(), 100_000),
        Grid("few", _few_fault_points(), 1_000_000, figure=figure_sparse),
    ),
)

SURVIVAL_RATE = _study(
    name="survival-rate",
    revision=2,
    title="Connectivity of networks on 2^n nodes when nodes and links fail at rates",
    source="docs/readings/networks.md, N4, N5, N8",
    axes=AXES_RATE,
    kernel=lambda point: dispatch.SURVIVAL_RATE.kernel(*point.values()),
    grids=(
        Grid("nodes", make_points(networks_of_size(8), 8, rate=_RATES, link_rate=(0.0,)), 100_000),
        Grid("half", _half_rate_points(), 100_000, figure=figure_half),
    ),
)
