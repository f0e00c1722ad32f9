"""``survival-curve``: survivors after every number of failures, for the networks of the cube family and for users' own (N6)."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np

from ..errors import check_range
from ..kernels.survival.dispatch import MOST_DIMENSIONS, user_curve_kernel
from ..kernels.survival.layout import CURVE as TALLY
from ..networks.family import Family, network, network_families
from .asymptotic import MIN_SUM_OF_TAIL, NormalMean
from .fingerprint import hash_functions
from .statistics import Mean, Point, Proportion, ShiftedMean, Statistic
from .study import Axis, Choice, Explanation, Grid, Sample, Study, Value, join_limited
from .survival import NETWORK, check_own_family, choose_grid_size

#: The axis of the two kinds of failures.
FAILING = Choice("failing", "what fails", ("nodes", "links"), key_name="what")

#: The axes of ``survival-curve``; the augmented cube on 2^16 nodes has the largest number of links.
AXES: tuple[Axis | Choice, ...] = (
    NETWORK,
    FAILING,
    Axis("n", "dimension (bits of a label)", int, 2, MOST_DIMENSIONS),
    Axis("failed", "failed nodes or links", int, 0, 31 * 2**15, swept=True),
)


def count_failing(point: Point, family: Family | None = None) -> int:
    """Return the number of nodes, or of links, that can fail."""
    n = int(point["n"])
    return 2**n if str(point["failing"]) == "nodes" else (family or network_families()[str(point["network"])]).links(n)


def check_point(point: Point, family: Family | None = None) -> None:
    """Raise ParameterError for a size that the network does not have, or for too many failures."""
    chosen, n = family or network_families()[str(point["network"])], point["n"]
    chosen.check_size(n, MOST_DIMENSIONS)
    most = count_failing(point, family)
    check_range("failed", point["failed"], 0, most, f"for {chosen.name} at n={n}, {point['failing']}")


def _survivor_count(point: Point) -> float:
    """Return the number of survivors as a unit of totals, which is at least 1."""
    failed = int(point["failed"]) if str(point["failing"]) == "nodes" else 0
    return float(max(2 ** int(point["n"]) - failed, 1))


def _has_survivors(point: Point) -> bool:
    return str(point["failing"]) == "links" or int(point["failed"]) < 2 ** int(point["n"])


#: The statistics of ``survival-curve``, for any network.
STATISTICS: tuple[Statistic, ...] = (
    Proportion(
        name="connected",
        description="probability that the survivors, the nodes that have not failed, are connected, "
        "and that there is one",
    ),
    Proportion(
        name="disconnected", description="probability that the survivors form two or more components", shown=False
    ),
    Proportion(
        name="no_isolated_node", description="probability that every survivor has a link that works to another survivor"
    ),
    Proportion(
        name="extra_1",
        description="probability that the survivors form two or more components, none of them a single node",
    ),
    Mean(
        name="largest_component",
        description="mean fraction of the survivors in the largest component, 0 without survivors",
        total="largest",
        squares="largest_squares",
        nonzero="some",
        unit=_survivor_count,
    ),
    Mean(
        name="second_largest_component",
        description="mean fraction of the survivors in the second largest component, 0 if there is none",
        total="second",
        squares="second_squares",
        nonzero="disconnected",
        unit=_survivor_count,
        bound=lambda point: 0.5,
    ),
    ShiftedMean(
        name="mean_component",
        description="mean number of nodes of the component that holds a uniformly random survivor",
        total="connected_pairs",
        squares="connected_pairs_squares",
        nonzero="some",
        unit=lambda point: _survivor_count(point) / 2,
        units="nodes",
        bound=lambda point: _survivor_count(point) - 1,
        least=1.0,
        defined=_has_survivors,
    ),
    NormalMean(
        name="susceptibility",
        description="mean of the sum of squared component sizes without the largest, divided by the number of survivors "
        "(heavy tail)",
        total="others",
        squares="others_squares",
        nonzero="disconnected",
        unit=_survivor_count,
        units="nodes",
        bound=lambda point: _survivor_count(point) / 4,
        least_sum=lambda point: MIN_SUM_OF_TAIL * _survivor_count(point) / 4,
    ),
)


def sample(point: Point, key: int, trial: int, family: Family | None = None) -> Sample:
    """Return the network without the nodes or links that fail first in the trial, and their numbers in this order."""
    from ..kernels.cube.link_numbers import link_names
    from ..kernels.draws import philox
    from ..kernels.survival import replay

    chosen, n = family or network_families()[str(point["network"])], int(point["n"])
    purpose = philox.NODE_ORDERS if str(point["failing"]) == "nodes" else philox.LINK_ORDERS
    order = replay.sample_order(np.uint64(key), trial, count_failing(point, family), purpose)
    failed = order[: int(point["failed"])].tolist()
    if str(point["failing"]) == "nodes":
        return Sample(network(chosen, n, failed), {"order": failed})
    names = link_names(chosen.table(n), n)[failed].tolist()
    return Sample(network(chosen, n, (), [(v, chosen.step(v, d, n)) for v, d in names]), {"order": failed})


def explain(point: Point, key: int, trial: int, family: Family | None = None) -> Explanation:
    """Return the trial at one number of failures, computed by the functions for single instances."""
    from ..algorithms.survival import survival

    drawn = sample(point, key, trial, family)
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


def make_curve(names: Iterable[str], failing: str, n: int, failed: Iterable[int]) -> list[dict[str, Value]]:
    """Return the points of some networks at these numbers of failures."""
    numbers = list(failed)
    return [{"network": name, "failing": failing, "n": n, "failed": f} for name in names for f in numbers]  # type: ignore[dict-item]


def survival_curve_study(family: Family) -> Study:
    """Return ``survival-curve`` for a network of your own: the same axes and statistics, the same order of failures in a trial.

    Parameters
    ----------
    family : Family
        From :func:`fastcube.custom_network`.

    Returns
    -------
    Study
        ``survival-curve-NAME``, with the random keys of ``survival-curve``.  Its grid has all numbers of failed nodes at the
        largest size up to n = 8.

    Examples
    --------
    >>> def step(v, d, n):
    ...     return v ^ (1 << d)
    >>> study = fc.survival_curve_study(fc.custom_network("my-cube", "Q_n again", step=step, slots=lambda n: n))
    >>> [axis.name for axis in study.axes]
    ['network', 'failing', 'n', 'failed']
    """
    family, step, slots = check_own_family(family)
    n = choose_grid_size(family, 2)
    return Study(
        name=f"survival-curve-{family.name}",
        title=f"Connectivity of {family.title} at every number of failures",
        source="docs/readings/networks.md, N6",
        revision=1,
        axes=(Choice("network", NETWORK.description, (family.name,), keyed=False), *AXES[1:]),
        tally=TALLY,
        statistics=STATISTICS,
        code=hash_functions(step, slots),
        kernel=lambda point: user_curve_kernel(step, slots, str(point["failing"])),
        grids=(Grid("nodes", make_curve([family.name], "nodes", n, range(2**n + 1)), 10_000),),
        check=lambda point: check_point(point, family),
        explain=functools.partial(explain, family=family),
        sample=functools.partial(sample, family=family),
        keyed=("survival-curve", {}),
    )
