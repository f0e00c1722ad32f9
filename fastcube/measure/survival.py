"""Studies of survival in networks of the cube family, each compared with the hypercube on the same faults.

See interpretations N4 and N5 of ``docs/readings/networks.md``.  ``network`` is part of no random key.  So in the same trial all
networks have the same faulty nodes, faulty links of the same names, and the same s and t.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..errors import ParameterError, check_range, short_repr
from ..kernels.survival.dispatch import MOST_DIMENSIONS, user_survival_kernel
from ..kernels.survival.layout import SURVIVAL as TALLY
from ..networks.family import Family, network, network_families
from .fingerprint import hash_functions
from .statistics import ComplementProportion, PairedDifference, Point, Proportion, Statistic
from .study import Axis, Choice, Explanation, Grid, Sample, Study, Value

NETWORK = Choice("network", "network of the cube family", tuple(network_families()), keyed=False)
#: Largest number of links: of a user's network with 2^MOST_DIMENSIONS nodes and the largest number of slots.
_MOST_LINKS = 62 * 2 ** (MOST_DIMENSIONS - 1)

N = Axis("n", "dimension (bits of a label)", int, 1, MOST_DIMENSIONS)

#: The axes of ``survival``.
AXES: tuple[Axis | Choice, ...] = (
    NETWORK,
    N,
    Axis("f", "faulty nodes", int, 0, 2**MOST_DIMENSIONS),
    Axis("links", "faulty links", int, 0, _MOST_LINKS),
)

#: The axes of ``survival-rate``.
AXES_RATE: tuple[Axis | Choice, ...] = (
    NETWORK,
    N,
    Axis("rate", "node failure rate", float, 0, 1),
    Axis("link_rate", "link failure rate", float, 0, 1),
)


def _has_pair(point: Point) -> bool:
    return "f" not in point or int(point["f"]) <= 2 ** int(point["n"]) - 2


def is_not_hypercube(point: Point) -> int:
    """Return the bound of a difference from the hypercube: 0 if the network is the hypercube itself, else 1."""
    return int(str(point["network"]) != "hypercube")


def _has_faulty_links(point: Point) -> bool:
    return bool(point["links" if "links" in point else "link_rate"])


def is_compared(point: Point, family: Family | None = None) -> bool:
    """Whether the faults of the point also exist in the hypercube, so that there are paired differences."""
    chosen = family or network_families()[str(point["network"])]
    return not _has_faulty_links(point) or chosen.is_compared(int(point["n"]))


def is_compared_with_pair(point: Point, family: Family | None = None) -> bool:
    """Whether ``is_compared`` holds and s and t are sampled."""
    return _has_pair(point) and is_compared(point, family)


_PAIR: dict[str, Any] = {"condition": "pairs", "defined": _has_pair}


def make_statistics(family: Family | None = None) -> tuple[Statistic, ...]:
    """Return the statistics of ``survival``, for ``family`` or for the point's network."""

    def difference_statistic(name: str, counter: str, description: str, **more: Any) -> PairedDifference:
        return PairedDifference(
            name=f"{name}_diff",
            description=f"{description}: network minus hypercube, on the same faults",
            total=f"{counter}_diff",
            nonzero=f"{counter}_differs",
            bound=is_not_hypercube,
            **{"defined": functools.partial(is_compared, family=family), **more},
        )

    pair = {**_PAIR, "defined": functools.partial(is_compared_with_pair, family=family)}
    return (
        ComplementProportion(
            name="disconnected",
            description="probability that the nonfaulty nodes are not connected",
            events="connected",
        ),
        Proportion(name="connected", description="probability that the nonfaulty nodes are connected"),
        Proportion(name="no_isolated_node", description="probability that no nonfaulty node is isolated"),
        Proportion(
            name="extra_1",
            description="probability that nonfaulty nodes are disconnected, and none is isolated",
            events="extra_1",
        ),
        Proportion(
            name="st_connected",
            description="probability that a nonfaulty path joins two random nonfaulty nodes s and t",
            events="st_connected",
            **_PAIR,
        ),
        difference_statistic("connected", "connected", "connected"),
        difference_statistic("extra_1", "extra_1", "disconnected, no node isolated", shown=False),
        difference_statistic("st_connected", "st_connected", "t reached from s", shown=False, **pair),
    )


STATISTICS = make_statistics()


def check_point(point: Point, family: Family | None = None) -> None:
    """Raise ParameterError for a size that the network does not have, or for too many faults."""
    chosen = family or network_families()[str(point["network"])]
    n = chosen.check_size(point["n"], MOST_DIMENSIONS)
    if "f" in point:
        check_range("f", point["f"], 0, 2**n, f"for n={n}")
        if point["links"]:
            check_range("links", point["links"], 0, chosen.links(n), f"for {chosen.name} at n={n}")


def make_points(names: Iterable[str], n: int, **axes: Sequence[Value]) -> list[dict[str, Value]]:
    """Return all combinations at one n, with the names varying fastest."""
    (first, values), (second, others) = axes.items()
    return [{"network": name, "n": n, first: x, second: y} for x in values for y in others for name in names]  # type: ignore[dict-item]


def networks_of_size(n: int, matched: bool = False) -> list[str]:
    """Return the names of the networks of dimension n."""
    return [
        name for name, family in network_families().items() if family.sizes(n) and (family.is_matched(n) or not matched)
    ]


def _sample_faults(family: Family, point: Point, key: int, trial: int) -> tuple[Any, list[list[int]], Any]:
    """Return a trial's faulty nodes, the names (v, d) of its faulty links, and s and t if two nodes are nonfaulty."""
    from ..kernels.cube.link_numbers import link_names
    from ..kernels.survival import replay

    n, table = int(point["n"]), family.table(int(point["n"]))
    if "f" in point:
        nodes, names, ends = replay.sample_survival(key, trial, n, int(point["f"]), int(point["links"]), table)
        return nodes, names.tolist(), ends
    nodes, numbers, ends = replay.sample_survival_rate(
        key, trial, n, float(point["rate"]), float(point["link_rate"]), table
    )
    return nodes, link_names(table, n)[numbers].tolist(), ends


def make_sample(family: Family | None = None) -> Callable[[Point, int, int], Sample]:
    """Return the ``sample`` function of a study, for ``family`` or for the point's network."""

    def sample(point: Point, key: int, trial: int) -> Sample:
        chosen = family or network_families()[str(point["network"])]
        n = int(point["n"])
        nodes, names, ends = _sample_faults(chosen, point, key, trial)
        links = [(v, chosen.step(v, d, n)) for v, d in names]
        s, t = ends.tolist() if len(ends) else (-1, -1)
        return Sample(network(chosen, n, nodes, links), {"s": s, "t": t})

    return sample


def make_explain(family: Family | None = None) -> Callable[[Point, int, int], Explanation]:
    """Return the ``explain`` function of a study: the trial in the network and, with the same faults, in the hypercube."""
    sample = make_sample(family)

    def explain(point: Point, key: int, trial: int) -> Explanation:
        drawn = sample(point, key, trial)
        net, ends = drawn.network, dict(drawn.others)
        data: dict[str, Any] = {
            "faulty_nodes": sorted(net.faulty_nodes),
            "faulty_links": sorted(map(list, net.faulty_links)),
            **ends,
        }
        lines = [f"  {len(net.faulty_nodes)} faulty nodes, {len(net.faulty_links)} faulty links"]
        lines += [f"  faulty {net.label(v)}" for v in data["faulty_nodes"][:40]]
        lines += [f"  faulty {net.label(u)} - {net.label(v)}" for u, v in data["faulty_links"][:40]]
        found, there = _network_summary(net, ends), None
        lines.append(_network_lines("this network", found, net, ends))
        if is_compared(point, family):
            chosen, n = family or network_families()[str(point["network"])], int(point["n"])
            _, names, _ = _sample_faults(chosen, point, key, trial)
            cube = network("hypercube", n, net.faulty_nodes, [(v, v ^ 1 << d) for v, d in names if d < n])
            there = _network_summary(cube, ends)
            if net != cube:
                lines.append(_network_lines("the hypercube", there, cube, ends))
        return Explanation("\n".join(lines), {**data, **found, "hypercube": there})

    return explain


def _network_summary(net: Any, ends: dict[str, int]) -> dict[str, Any]:
    from ..algorithms.shortest import distance
    from ..algorithms.survival import survival

    found = survival(net)
    told = {"connected": found.connected, "isolated": found.isolated, "components": found.components}
    far = distance(net, ends["s"], ends["t"]) if ends["s"] >= 0 else None
    return {**told, "distance": far, "st_connected": None if ends["s"] < 0 else far is not None}


def _network_lines(name: str, told: dict[str, Any], net: Any, ends: dict[str, int]) -> str:
    parts = told["components"]
    apart = f"{len(parts)} parts of {', '.join(map(str, parts[:12]))} nodes" if parts else "no node"
    text = f"{name}: {'connected' if told['connected'] else apart}, {told['isolated']} isolated"
    if ends["s"] >= 0:
        far = "apart" if told["distance"] is None else f"{told['distance']} links apart"
        text += f"; {net.label(ends['s'])} and {net.label(ends['t'])} are {far}"
    return text


def check_own_family(family: object) -> tuple[Callable[[int, int, int], int], Callable[[int], int]]:
    """Return step and slots of a user's network.  Raises ParameterError for anything else."""
    if not isinstance(family, Family) or family.own is None:
        raise ParameterError(
            f"family must be a network of your own, made by fc.custom_network, got {short_repr(family)}"
        )
    return family.own, family.slots


def largest_drawn(family: Family, least: int = 1) -> int:
    """Return the largest size from ``least`` to 8 of a user's network, or its least size above."""
    sizes = [n for n in range(least, MOST_DIMENSIONS + 1) if family.sizes(n)]
    if not sizes:
        raise ParameterError(f"family must have a network of n in [{least}, {MOST_DIMENSIONS}], got {family.name}")
    return max((size for size in sizes if size <= 8), default=sizes[0])


def survival_study(family: Family) -> Study:
    """Return ``survival`` for a network of your own: the same axes and statistics, the same faults in the same trial.

    Parameters
    ----------
    family : Family
        From :func:`fastcube.custom_network`.

    Returns
    -------
    Study
        ``survival-NAME``, with the random keys of ``survival``.  Its grid has f = n, 2n, N/8, ..., N/2 for N = 2^n, at the
        largest size up to n = 8.

    Examples
    --------
    >>> def step(v, d, n):
    ...     return v ^ (1 << d)
    >>> study = fc.survival_study(fc.custom_network("my-cube", "Q_n again", step=step, slots=lambda n: n))
    >>> [axis.name for axis in study.axes]
    ['network', 'n', 'f', 'links']
    """
    step, slots = check_own_family(family)
    axes = (Choice("network", NETWORK.description, (family.name,), keyed=False), *AXES[1:])
    n = largest_drawn(family)
    most = sorted({min(f, 2**n) for f in (n, 2 * n, 2**n // 8, 2**n // 4, 3 * 2**n // 8, 2**n // 2)})
    return Study(
        name=f"survival-{family.name}",
        title=f"Connectivity of {family.title} under random faults, compared with the hypercube",
        source="docs/readings/networks.md, N4, N5",
        revision=1,
        axes=axes,
        tally=TALLY,
        statistics=make_statistics(family),
        code=hash_functions(step, slots),
        kernel=lambda point: user_survival_kernel(step, slots, point["links"] > 0),
        grids=(Grid("nodes", make_points([family.name], n, f=most, links=[0]), 100_000),),
        check=lambda point: check_point(point, family),
        explain=make_explain(family),
        sample=make_sample(family),
        keyed=("survival", {}),
        together=512,
    )
