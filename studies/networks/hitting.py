"""``hitting``: when failures first disconnect a network, whether that isolates a node, and its lifetime (N6).

The orders of failures are the same as in ``survival-curve``.  *1-extra* means that the survivors are disconnected and none of
them is isolated.  A network is *matched* if its links have the names of the hypercube's links, so that both can lose the same
links in the same order.
"""

from typing import Any

import numpy as np

from fastcube.kernels.survival import dispatch
from fastcube.kernels.survival.layout import HITTING as TALLY
from fastcube.kernels.survival.layout import LIFETIME_UNIT, failures_per_bin
from fastcube.measure.asymptotic import NormalDifference, NormalMean
from fastcube.measure.binned import make_quantiles
from fastcube.measure.statistics import ComplementProportion, Mean, Point, Proportion, Statistic
from fastcube.measure.study import Axis, Explanation, Grid, Sample, Study, Value
from fastcube.measure.survival import NETWORK, networks_of_size
from fastcube.measure.survival_curve import FAILING, count_failing
from fastcube.measure.survival_curve import sample as sample_failures
from fastcube.networks.family import network, network_families
from fastcube.results.results import Results

#: Largest n of the study.
_LARGEST = 14

#: Largest number of components whose sizes are in the text of a trial.
_MOST_SIZES = 12


def _check_point(point: Point) -> None:
    network_families()[str(point["network"])].check_size(point["n"], _LARGEST)


def _fails_nodes(point: Point) -> bool:
    return str(point["failing"]) == "nodes"


def _is_compared(point: Point) -> bool:
    """Whether the hypercube has the same order of failures: nodes fail, or links that have the same names in both."""
    chosen = network_families()[str(point["network"])]
    return chosen.name != "hypercube" and (_fails_nodes(point) or chosen.is_matched(int(point["n"])))


def _failing_count(point: Point) -> float:
    return float(count_failing(point))


def _bins_per_failure(point: Point) -> float:
    return 1 / failures_per_bin(count_failing(point))


def _most_lifetime(point: Point) -> float:
    """Return the expected time until all nodes, or all links, have failed."""
    return float(np.sum(1.0 / np.arange(1, count_failing(point) + 1)))


_STATISTICS: tuple[Statistic, ...] = (
    ComplementProportion(
        name="isolation_not_first",
        events="isolation_first",
        description="probability that the first disconnection isolates no survivor, or that no disconnection happens",
    ),
    Proportion(
        name="isolation_first",
        description="probability that the failure that first disconnects the survivors isolates one of them",
    ),
    Proportion(
        name="extra_1_first",
        description="probability that the survivors are first disconnected without an isolated "
        "node (failing nodes only)",
        defined=_fails_nodes,
    ),
    Proportion(
        name="never_disconnected",
        description="probability that the survivors stay connected until one is left (failing nodes only)",
        defined=_fails_nodes,
    ),
    NormalMean(
        name="lifetime",
        description="mean time to the first disconnection, or to the last failure if none happens, "
        "each node or link failing at rate 1",
        total="life",
        squares="life_squares",
        unit=lambda point: LIFETIME_UNIT,
        bound=_most_lifetime,
    ),
    NormalDifference(
        name="lifetime_diff",
        description="mean time to the first disconnection, or to the last failure if none, each failing at rate 1: network "
        "minus hypercube, on the same orders of failures",
        total="life_diff",
        squares="life_diff_squares",
        nonzero="life_differs",
        unit=lambda point: LIFETIME_UNIT,
        bound=_most_lifetime,
        defined=_is_compared,
    ),
    Mean(
        name="disconnected_at",
        total="disconnected_at",
        description="mean fraction of nodes or links that have failed at the first disconnection, 1 if none happens",
        squares="disconnected_squares",
        nonzero="trials",
        unit=_failing_count,
    ),
    Mean(
        name="isolated_at",
        description="mean fraction of nodes or links that have failed when a survivor is first isolated, "
        "1 if none ever is",
        total="isolated_at",
        squares="isolated_squares",
        nonzero="trials",
        unit=_failing_count,
    ),
    *make_quantiles(
        "first_disconnection",
        "number of failures at the first disconnection, all nodes or links if none happens",
        "disconnected_bins",
        unit=_bins_per_failure,
        bound=_failing_count,
    ),
    *make_quantiles(
        "first_isolation",
        "number of failures when a survivor is first isolated, all nodes or links if none ever is",
        "isolated_bins",
        unit=_bins_per_failure,
        bound=_failing_count,
        shown=False,
    ),
)


def sample_trial(point: Point, key: int, trial: int) -> Sample:
    """Return the network without faults, and the trial's whole order of failures."""
    failed = sample_failures({**point, "failed": count_failing(point)}, key, trial)
    return Sample(network(str(point["network"]), int(point["n"])), failed.others)


def _explain(point: Point, key: int, trial: int) -> Explanation:
    """Return the first disconnection and isolation of one trial, and the components after the first disconnection.

    Without one they are those of the intact network.
    """
    from fastcube.algorithms.survival import survival

    slots = TALLY.new_tally()
    HITTING.kernel(point).compiled(np.uint64(key), trial, trial + 1, HITTING.parameters(point), slots)
    counts: dict[str, Any] = TALLY.read(slots)[0]
    is_disconnected, first = not counts["never_disconnected"], counts["disconnected_at"]
    survivors = sample_failures({**point, "failed": first if is_disconnected else 0}, key, trial).network
    data = {
        "order": sample_trial(point, key, trial).others["order"],
        "disconnected_at": first if is_disconnected else None,
        "isolated_at": counts["isolated_at"] if is_disconnected else None,
        "components": survival(survivors).components,
        "lifetime": counts["life"] / LIFETIME_UNIT,
    }
    lines = [f"  of {count_failing(point)} {point['failing']}"]
    if is_disconnected:
        lines.append(f"  disconnected at {first} failures, sizes {data['components'][:_MOST_SIZES]}")
        lines.append(f"  a survivor isolated at {data['isolated_at']} failures")
    else:
        lines.append("  never disconnected, and no survivor ever isolated")
    return Explanation("\n".join(lines), data)


_AXES = (NETWORK, FAILING, Axis("n", "dimension (bits of a label)", int, 2, _LARGEST))


def _make_points(names: list[str], failing: str, n: int) -> list[dict[str, Value]]:
    return [{"network": name, "failing": failing, "n": n} for name in names]  # type: ignore[dict-item]


def _figure(results: Results, sheet: Any) -> None:
    """Plot 1 - P(isolation_first), and the difference of the lifetime from the hypercube's, against n."""
    above, below = sheet.panels(1, 2)
    above.lines(results, "isolation_not_first", x="n", by="network")
    above.set_labels(y="1 - P(it isolates a node)", title="The first disconnection")
    above.scale = "log"
    below.lines(results, "lifetime_diff", x="n", by="network")
    below.set_labels(y="difference of the lifetime", title="Difference from the hypercube on the same orders")
    below.scale = "linear"
    sheet.title(results.study.title)


HITTING = Study(
    name="hitting",
    title="When failures first disconnect networks on 2^n nodes, and when they first isolate a node",
    source="docs/readings/networks.md, N6",
    revision=2,
    axes=_AXES,
    tally=TALLY,
    statistics=_STATISTICS,
    kernel=lambda point: dispatch.HITTING.kernel(*point.values()),
    check=_check_point,
    sample=sample_trial,
    explain=_explain,
    figure=_figure,
    keyed=("survival-curve", {}),
    grids=(
        Grid(
            "links",
            [p for n in range(2, _LARGEST + 1) for p in _make_points(["hypercube"], "links", n)],
            lambda point: 100_000 if int(point["n"]) < 11 else 10_000,
        ),
        Grid(
            "ranking",
            [p for n in range(4, 9) for p in _make_points(networks_of_size(n, matched=True), "links", n)],
            1_000_000,
        ),
        Grid("nodes", [p for n in range(4, 9) for p in _make_points(networks_of_size(n), "nodes", n)], 100_000),
    ),
)
