"""``survival-curve``: survivors after every number of failures, all counted from one order of failures per trial (N6)."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from fastcube.errors import check_range
from fastcube.kernels.survival import dispatch
from fastcube.kernels.survival.layout import CURVE as TALLY
from fastcube.measure.statistics import MIN_SUM_OF_TAIL, Mean, NormalMean, Point, Proportion, Statistic
from fastcube.measure.study import Axis, Choice, Explanation, Grid, Sample, Study, Value, join_limited
from fastcube.measure.survival import NETWORK
from fastcube.networks.family import network, network_families
from fastcube.results.results import Results

#: Largest number of links of a network on 2^16 nodes (the augmented cube).
_MOST_LINKS = 31 * 2**15

FAILING = Choice("failing", "what fails", ("nodes", "links"), key_name="what")

AXES = (
    NETWORK,
    FAILING,
    Axis("n", "dimension (bits of a label)", int, 2, dispatch.MOST_DIMENSIONS),
    Axis("failed", "failed nodes or links", int, 0, _MOST_LINKS, swept=True),
)


def count_failing(point: Point) -> int:
    """Return the number of nodes, or of links, that can fail."""
    n = int(point["n"])
    return 2**n if str(point["failing"]) == "nodes" else network_families()[str(point["network"])].links(n)


def _check_point(point: Point) -> None:
    chosen, n = network_families()[str(point["network"])], point["n"]
    chosen.check_size(n, dispatch.MOST_DIMENSIONS)
    check_range("failed", point["failed"], 0, count_failing(point), f"for {chosen.name} at n={n}, {point['failing']}")


def _survivor_count(point: Point) -> float:
    failed = int(point["failed"]) if str(point["failing"]) == "nodes" else 0
    return float(max(2 ** int(point["n"]) - failed, 1))


STATISTICS: tuple[Statistic, ...] = (
    Proportion(name="connected", description="probability that the survivors are connected"),
    Proportion(name="disconnected", description="probability of more than one component", shown=False),
    Proportion(name="no_isolated", description="probability that no survivor is isolated"),
    Proportion(name="extra_1", description="probability of a disconnection without an isolated node"),
    Mean(name="largest_component", description="fraction of the survivors in the largest component", total="largest",
         squares="largest_squares", nonzero="some", unit=_survivor_count),
    Mean(name="second_component", description="fraction of the survivors in the second largest component",
         total="second", squares="second_squares", nonzero="disconnected", unit=_survivor_count,
         bound=lambda point: 0.5),
    NormalMean(name="susceptibility",
               description="sum of squared sizes of components but the largest, divided by the survivors (heavy tail)",
               total="others", squares="others_squares", nonzero="disconnected", unit=_survivor_count, units="nodes",
               bound=lambda point: _survivor_count(point) / 4,
               least_sum=lambda point: MIN_SUM_OF_TAIL * _survivor_count(point) / 4),
)  # a table, row by row # fmt: skip


def sample(point: Point, key: int, trial: int) -> Sample:
    """Return the network without the nodes or links that fail first in the trial, and their numbers in this order."""
    from fastcube.kernels.cube.link_numbers import link_names
    from fastcube.kernels.draws import philox
    from fastcube.kernels.survival import replay

    chosen, n = network_families()[str(point["network"])], int(point["n"])
    purpose = philox.NODE_ORDERS if str(point["failing"]) == "nodes" else philox.LINK_ORDERS
    order = replay.sample_order(np.uint64(key), trial, count_failing(point), purpose)
    failed = order[: int(point["failed"])].tolist()
    if str(point["failing"]) == "nodes":
        return Sample(network(chosen, n, failed), {"order": failed})
    names = link_names(chosen.table(n), n)[failed].tolist()
    return Sample(network(chosen, n, (), [(v, chosen.step(v, d, n)) for v, d in names]), {"order": failed})


def explain(point: Point, key: int, trial: int) -> Explanation:
    """Return the trial at one number of failures, computed by the functions for single instances."""
    from fastcube.algorithms.survival import survival

    drawn = sample(point, key, trial)
    net, order = drawn.network, drawn.others["order"]
    found = survival(net)
    data = {
        "faulty_nodes": sorted(net.faulty_nodes),
        "faulty_links": sorted(map(list, net.faulty_links)),
        "order": order,
        "connected": found.connected,
        "isolated": found.isolated,
        "components": found.components,
    }
    lines = [
        f"  {len(order)} {point['failing']} failed, the first first: {join_limited(map(str, order))}",
        f"  the survivors are {'' if found.connected else 'not '}connected, {found.isolated} isolated",
        f"  sizes of components: {join_limited(map(str, found.components), 12)}",
    ]
    return Explanation("\n".join(lines), data)


def make_curve(names: Iterable[str], what: str, n: int, failed: Iterable[int]) -> list[dict[str, Value]]:
    """Return the points of some networks at these numbers of failures."""
    numbers = list(failed)
    return [{"network": name, "failing": what, "n": n, "failed": f} for name in names for f in numbers]  # type: ignore[dict-item]


_PANELS = ("connected", "extra_1", "largest_component", "susceptibility")


def _figure(results: Results, sheet: Any) -> None:
    """Plot four statistics against the number of failures, one line per network, or per n if n varies."""
    by = "n" if len({point["n"] for point, _ in results}) > 1 else "network"
    what = " or ".join(sorted({str(point["failing"]) for point, tally in results if tally.trials}))
    for panel, name in zip(sheet.panels(2, 2), _PANELS, strict=True):
        panel.lines(results, name, x="failed", by=by)
        panel.set_labels(x=f"failed {what}")
        panel.scale = "linear"
    sheet.title(results.study.title)


def degree_left(point: Point) -> float:
    """Return the average number of links of a node of the hypercube that have not failed: c at the rate c/n."""
    return int(point["n"]) - int(point["failed"]) * 2.0 ** (1 - int(point["n"]))


def giant_fraction(c: float) -> float:
    """Return the limit of the largest component's fraction of the nodes at the rate c/n: the largest y = 1 - exp(-c y)."""
    y = float(c > 1)
    for _ in range(1000):
        y = -math.expm1(-c * y)
    return y


def _percolation_points() -> list[dict[str, Value]]:
    """Return points of the hypercube that leave a node c links, c = 0 .. 4 by eighths, and by 32nds from 1 to 3/2."""
    kept = sorted({*range(0, 129, 4), *range(32, 49)})
    return [
        p for n in range(8, 15) for p in make_curve(["hypercube"], "links", n, [(32 * n - k) << (n - 6) for k in kept])
    ]


def _percolation_figure(results: Results, sheet: Any) -> None:
    """Plot the largest component beside its limit, and the susceptibility, against c; one line per n."""
    above, below = sheet.panels(1, 2)
    sizes = sorted({int(point["n"]) for point, tally in results if tally.trials})
    for panel, name in ((above, "largest_component"), (below, "susceptibility")):
        for i, n in enumerate(sizes):
            own = [point for point, tally in results if tally.trials and point["n"] == n]
            pairs = [(degree_left(point), results.estimates(point)[name]) for point in own]
            panel.series(f"n = {n}", sorted(pairs, key=lambda pair: pair[0]), i, len(sizes))
        panel.scale = "linear"
        panel.set_labels(x="c: average number of links left per node", y=results.study.statistic(name).description)
    degrees = np.linspace(0, 4, 129).tolist()
    above.curve(degrees, [giant_fraction(c) for c in degrees], "limit: y = 1 - exp(-c y)")
    sheet.title("Bond percolation on the hypercube")


def _notes(results: Results) -> list[str]:
    return ["points that differ only in failed are counted from the same trials: their intervals are not independent"]


SURVIVAL_CURVE = Study(
    name="survival-curve",
    title="Connectivity of networks on 2^n nodes at every number of failures",
    source="docs/readings/networks.md, N6",
    revision=1,
    axes=AXES,
    tally=TALLY,
    statistics=STATISTICS,
    kernel=lambda point: dispatch.CURVE.kernel(*point.values()),
    check=_check_point,
    sample=sample,
    explain=explain,
    figure=_figure,
    notes=_notes,
    grids=(
        Grid(
            "curve",
            make_curve(("hypercube", "crossed", "moebius1", "folded", "augmented", "torus-16"), "nodes", 8, range(257)),
            100_000,
        ),
        Grid(
            "large",
            [p for n in (10, 12, 14) for p in make_curve(["hypercube"], "nodes", n, range(0, 2**n + 1, 2 ** (n - 7)))],
            10_000,
        ),
        Grid("links", make_curve(("hypercube", "crossed", "moebius1"), "links", 8, range(0, 1025, 8)), 100_000),
        Grid("percolation", _percolation_points(), 10_000, figure=_percolation_figure),
    ),
)
