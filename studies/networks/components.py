"""``survival-components``: size of the largest component, number of components, and lengths of paths.

The trials have the faults and the pair s, t of ``survival``.
"""

from typing import Any

from fastcube.errors import check_range
from fastcube.kernels.survival import dispatch
from fastcube.kernels.survival.layout import EXTRA_NODES, LEAST_COMPONENTS
from fastcube.kernels.survival.layout import SURVIVAL_COMPONENTS as TALLY
from fastcube.measure.asymptotic import NormalDifference, NormalMean, Ratio
from fastcube.measure.binned import make_quantiles
from fastcube.measure.statistics import Difference, Mean, Point, Proportion
from fastcube.measure.study import Grid, Notes, Study, point_text
from fastcube.measure.survival import (
    AXES,
    check_point,
    is_compared_with_pair,
    is_not_hypercube,
    make_explain,
    make_sample,
)
from fastcube.results.results import Results

from .survival import NODES

#: Largest n, because intact distances are stored in a table of 2^2n bytes.
MOST_DIMENSIONS = 12


def _check_point(point: Point) -> None:
    check_range("n", point["n"], 1, MOST_DIMENSIONS, "to look at components and distances")
    check_point(point)


def _nonfaulty_count(point: Point) -> float:
    """Return the number of nonfaulty nodes as a unit of totals, which is at least 1."""
    return float(max(2 ** int(point["n"]) - int(point["f"]), 1))


def _distance_bound(point: Point) -> float:
    return _nonfaulty_count(point) * is_not_hypercube(point)


def _pair_count(point: Point) -> float:
    """Return the number of pairs of nonfaulty nodes as a unit of totals, which is at least 1."""
    return max(_nonfaulty_count(point) * (_nonfaulty_count(point) - 1) / 2, 1.0)


def _most_links(point: Point) -> float:
    """Return the largest length of a path between nonfaulty nodes."""
    return max(_nonfaulty_count(point) - 1, 1.0)


def _has_pair(point: Point) -> bool:
    return _nonfaulty_count(point) >= 2


STATISTICS = (
    Mean(
        name="largest_component",
        description="mean fraction of the nonfaulty nodes in the largest component, 0 if none is nonfaulty",
        total="largest",
        squares="largest_squares",
        nonzero="some",
        unit=_nonfaulty_count,
    ),
    Mean(
        name="components",
        description="mean number of components of the nonfaulty nodes, an isolated node counted as one",
        total="components",
        squares="components_squares",
        nonzero="some",
        bound=_nonfaulty_count,
    ),
    NormalMean(
        name="distance",
        description="mean number of links of a shortest path between random nonfaulty nodes s and t, among trials with a path "
        "(in both, if compared with the hypercube)",
        total="both_length",
        squares="both_squares",
        condition="both",
        units="links",
        defined=_has_pair,
    ),
    Difference(
        name="distance_diff",
        description="mean number of links of a shortest path between random nonfaulty nodes: network minus "
        "hypercube, among trials with a path in both",
        total="distance_diff",
        squares="distance_diff_squares",
        nonzero="distance_diff_nonzero",
        condition="both",
        units="links",
        bound=_distance_bound,
        defined=is_compared_with_pair,
    ),
    Ratio(
        name="stretch",
        description="total links of shortest paths between random nonfaulty nodes divided by the total without faults, among "
        "trials with a path",
        numerator="length",
        denominator="intact",
        squares=("length_squares", "length_intact", "intact_squares"),
        nonzero="reached",
        condition="reached",
        defined=_has_pair,
    ),
    *make_quantiles(
        "path_length",
        "number of links of a shortest path between random nonfaulty nodes, among trials with a path",
        "length_bins",
        percents=(50, 95),
        condition="reached",
        units="links",
        defined=_has_pair,
        bound=_most_links,
        shown=False,
    ),
    *(
        Proportion(
            name=f"extra_{g}",
            description=f"probability of two or more components of nonfaulty nodes, none of them with {g} nodes or fewer",
        )
        for g in EXTRA_NODES
    ),
    *(
        Proportion(
            name=f"at_least_{r}_components",
            description=f"probability that the nonfaulty nodes form at least {r} components",
        )
        for r in LEAST_COMPONENTS
    ),
    Mean(
        name="second_largest_component",
        description="mean fraction of the nonfaulty nodes in the second largest component, 0 if there is none",
        total="second",
        squares="second_squares",
        nonzero="second_some",
        unit=_nonfaulty_count,
    ),
    Mean(
        name="connected_pairs",
        description="mean fraction of the pairs of nonfaulty nodes that a nonfaulty path joins",
        total="connected_pairs",
        squares="connected_pairs_squares",
        nonzero="connected_pairs_some",
        unit=_pair_count,
        defined=_has_pair,
    ),
    NormalDifference(
        name="connected_pairs_diff",
        description="mean fraction of joined pairs of nonfaulty nodes: network minus hypercube, on the same faults",
        total="connected_pairs_diff",
        squares="connected_pairs_diff_squares",
        nonzero="connected_pairs_differs",
        unit=_pair_count,
        bound=is_not_hypercube,
        defined=is_compared_with_pair,
        shown=False,
    ),
)


#: The statistics of the figure's panels, with their titles.
_TITLES = {
    "largest_component": "Largest component",
    "components": "Number of components",
    "distance": "Distance of s and t, connected pairs only",
    "stretch": "Stretch of paths, connected pairs only",
}


def _figure(results: Results, sheet: Any) -> None:
    for panel, (name, title) in zip(sheet.panels(2, 2), _TITLES.items(), strict=True):
        panel.lines(results, name, x="f", by="network")
        panel.scale = "linear"
        panel.limits(bottom=0)
        panel.set_labels(title=title)
    sheet.title(results.study.title)


def _notes(results: Results) -> list[str]:
    """Return a note on the largest number of components in a trial."""
    known = [(tally.maxima["components"], point) for point, tally in results if tally.trials]
    (most, trial), point = max(known, key=lambda item: item[0][0], default=((0, 0), {}))
    return [f"most components: {most} (trial {trial} at {point_text(point)})"] if known else []


SURVIVAL_COMPONENTS = Study(
    name="survival-components",
    title="Components and distances of networks on 2^n nodes under random faults",
    source="docs/readings/networks.md, N4, N5",
    revision=4,
    axes=AXES,
    tally=TALLY,
    statistics=STATISTICS,
    kernel=lambda point: dispatch.SURVIVAL_COMPONENTS.kernel(*point.values()),
    keyed=("survival", {}),
    grids=(Grid("nodes", NODES, 100_000),),
    check=_check_point,
    explain=make_explain(),
    sample=make_sample(),
    figure=_figure,
    notes=Notes((_notes, ("components",))),
)
