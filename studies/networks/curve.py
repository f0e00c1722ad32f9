"""``survival-curve``: survivors after every number of failures, all counted from one order of failures per trial (N6)."""

import math
from typing import Any

import numpy as np

from fastcube.kernels.survival import dispatch
from fastcube.kernels.survival.layout import CURVE as TALLY
from fastcube.measure.statistics import Point
from fastcube.measure.study import Grid, Study, Value
from fastcube.measure.survival_curve import AXES, STATISTICS, check_point, explain, make_curve, sample
from fastcube.results.results import Results

#: The statistics of the figure's panels, with their labels.
_PANELS = {
    "connected": "probability that the survivors are connected",
    "extra_1": "probability that the survivors are disconnected, and none is isolated",
    "largest_component": "mean fraction of the survivors in the largest component",
    "susceptibility": "susceptibility: mean sum of squared sizes of the other components per survivor",
}


def _figure(results: Results, sheet: Any) -> None:
    """Plot four statistics against the number of failures while a node survives, one line per network, or per n if n varies."""
    by = "n" if len({point["n"] for point, _ in results}) > 1 else "network"
    failing = " or ".join(sorted({str(point["failing"]) for point, tally in results if tally.trials}))
    for panel, (name, label) in zip(sheet.panels(2, 2), _PANELS.items(), strict=True):
        panel.lines(results, name, x="failed", by=by, at=_has_survivors)
        panel.set_labels(x=f"failed {failing}", y=label)
        panel.scale = "linear"
    sheet.title(results.study.title)


def _has_survivors(point: Point) -> bool:
    return str(point["failing"]) == "links" or int(point["failed"]) < 2 ** int(point["n"])


def degree_left(point: Point) -> float:
    """Return the average number of links of a node of the hypercube that have not failed: c at the rate c/n."""
    return int(point["n"]) - int(point["failed"]) * 2.0 ** (1 - int(point["n"]))


def giant_fraction(c: float) -> float:
    """Return the limit of the largest component's fraction of the nodes at the rate c/n: the largest y = 1 - exp(-c y)."""
    y = float(c > 1)
    for _ in range(1000):  # converges slowly near c = 1
        y = -math.expm1(-c * y)
    return y


def _percolation_points() -> list[dict[str, Value]]:
    """Return points of the hypercube that leave a node c links, c = 0 .. 4 by eighths, and by 32nds from 1 to 3/2."""
    numerators = sorted({*range(0, 129, 4), *range(32, 49)})
    return [
        p
        for n in range(8, 15)
        # c = n - failed 2^(1 - n) is k / 32 for this number of failures
        for p in make_curve(["hypercube"], "links", n, [(32 * n - k) << (n - 6) for k in numerators])
    ]


def _percolation_figure(results: Results, sheet: Any) -> None:
    """Plot the largest component beside its limit, and the susceptibility, against c; one line per n."""
    above, below = sheet.panels(1, 2)
    sizes = sorted({int(point["n"]) for point, tally in results if tally.trials})
    for panel, name in ((above, "largest_component"), (below, "susceptibility")):
        for i, n in enumerate(sizes):
            points = [point for point, tally in results if tally.trials and point["n"] == n]
            pairs = [(degree_left(point), results.estimates(point)[name]) for point in points]
            panel.series(f"n = {n}", sorted(pairs, key=lambda pair: pair[0]), i, len(sizes))
        panel.scale = "linear"
        panel.set_labels(x="c: average number of links left per node", y=_PANELS[name])
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
    check=check_point,
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
