"""Studies of survival in networks of the cube family, each compared with the hypercube on the same faults.

See interpretations N4 and N5 of ``docs/readings/networks.md``.  ``network`` is part of no random key.  So in the same trial all
networks have the same faulty nodes, faulty links of the same names, and the same s and t.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError, check_range, short_repr
from ..kernels.survival.dispatch import MOST_DIMENSIONS, SURVIVAL, user_survival_kernel
from ..kernels.survival.layout import SURVIVAL as TALLY
from ..networks.family import Family, network, network_families
from .fingerprint import hash_functions
from .standing import describe_standing
from .statistics import ComplementProportion, PairedDifference, Point, Proportion, Statistic
from .study import Axis, Choice, Explanation, Grid, Sample, Study, Value

if TYPE_CHECKING:
    from ..kernels.machine.jit import Kernel

#: The axis of networks.
NETWORK = Choice("network", "network of the cube family", tuple(network_families()), keyed=False)

#: Largest number of links: of a user's network with 2^MOST_DIMENSIONS nodes and the largest number of slots.
_MOST_LINKS = 62 * 2 ** (MOST_DIMENSIONS - 1)

#: The axis of sizes.
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
    """Whether two nodes are nonfaulty in each trial, or in some trials if nodes fail at a rate."""
    return "f" not in point or int(point["f"]) <= 2 ** int(point["n"]) - 2


def is_not_hypercube(point: Point) -> int:
    """Return the bound of a difference from the hypercube: 0 if the network is the hypercube itself, else 1."""
    return int(str(point["network"]) != "hypercube")


def _has_faulty_links(point: Point) -> bool:
    return bool(point["links" if "links" in point else "link_rate"])


def _find_network(point: Point, family: Family | None) -> Family:
    """Return the point's network: a built-in one, or ``family``, a user's own."""
    name = str(point["network"])
    return family if family is not None and name == family.name else network_families()[name]


def is_compared(point: Point, family: Family | None = None) -> bool:
    """Whether the faults of the point also exist in the hypercube, so that there are paired differences."""
    return not _has_faulty_links(point) or _find_network(point, family).is_compared(int(point["n"]))


def is_compared_with_pair(point: Point, family: Family | None = None) -> bool:
    """Whether ``is_compared`` holds and s and t are sampled."""
    return _has_pair(point) and is_compared(point, family)


#: The fields of a statistic over the trials with s and t.
_PAIR: dict[str, Any] = {"condition": "pairs", "defined": _has_pair}


def make_statistics(
    other: str,
    bound: Callable[[Point], int],
    defined: Callable[[Point], bool],
    defined_pair: Callable[[Point], bool],
) -> tuple[Statistic, ...]:
    """Return the statistics of ``survival``.

    Differences are ``other``, a phrase for descriptions such as "network minus hypercube".  They are defined where ``defined``
    holds, or for s and t where ``defined_pair`` holds, and ``bound`` is their bound.
    """

    def difference_statistic(name: str, counter: str, description: str, **options: Any) -> PairedDifference:
        return PairedDifference(
            name=f"{name}_diff",
            description=f"{description}: {other}",
            total=f"{counter}_diff",
            nonzero=f"{counter}_differs",
            bound=bound,
            **{"defined": defined, **options},
        )

    pair = {**_PAIR, "defined": defined_pair}
    return (
        ComplementProportion(
            name="disconnected",
            description="probability that the nonfaulty nodes are not connected, or that there are none",
            events="connected",
        ),
        Proportion(
            name="connected", description="probability that the nonfaulty nodes are connected, and that there is one"
        ),
        Proportion(
            name="no_isolated_node",
            description="probability that every nonfaulty node has a nonfaulty link to a nonfaulty neighbour",
        ),
        Proportion(
            name="extra_1",
            description="probability of two or more components of nonfaulty nodes, none of them a single node",
        ),
        Proportion(
            name="st_connected",
            description="probability that a nonfaulty path joins two random nonfaulty nodes s and t, among trials with at "
            "least two",
            **_PAIR,
        ),
        difference_statistic("connected", "connected", "probability that the nonfaulty nodes are connected"),
        difference_statistic(
            "extra_1", "extra_1", "probability of two or more components, none of them a single node", shown=False
        ),
        difference_statistic(
            "st_connected",
            "st_connected",
            "probability that a nonfaulty path joins two random nonfaulty nodes s and t, among trials with at least two",
            shown=False,
            **pair,
        ),
    )


def make_network_statistics(family: Family | None = None) -> tuple[Statistic, ...]:
    """Return the statistics of ``survival``, for the built-in networks and ``family``."""
    return make_statistics(
        "network minus hypercube, on the same faults",
        is_not_hypercube,
        functools.partial(is_compared, family=family),
        functools.partial(is_compared_with_pair, family=family),
    )


STATISTICS = make_network_statistics()


def check_point(point: Point, family: Family | None = None) -> None:
    """Raise ParameterError for a size that the network does not have, or for too many faults."""
    chosen = _find_network(point, family)
    n = chosen.check_size(point["n"], MOST_DIMENSIONS)
    if "f" in point:
        check_range("f", point["f"], 0, 2**n, f"for n={n}")
        if point["links"]:
            check_range("links", point["links"], 0, chosen.links(n), f"for {chosen.name} at n={n}")


def make_points(names: Iterable[str], n: int, **axes: Sequence[Value]) -> list[dict[str, Value]]:
    """Return all combinations at one n, with the names varying fastest."""
    (first, values), (second, others) = axes.items()
    return [{"network": name, "n": n, first: x, second: y} for x in values for y in others for name in names]  # type: ignore[dict-item]


def networks_of_size(n: int, *, matched: bool = False) -> list[str]:
    """Return the names of the networks of dimension n; if ``matched``, only of the matched ones (N3)."""
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
    """Return the ``sample`` function of a study, for the built-in networks and ``family``."""

    def sample(point: Point, key: int, trial: int) -> Sample:
        chosen = _find_network(point, family)
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
        summary, cube_summary = summarize_network(net, ends), None
        lines.append(describe_network("this network", summary, net, ends))
        if is_compared(point, family):
            chosen, n = _find_network(point, family), int(point["n"])
            _, names, _ = _sample_faults(chosen, point, key, trial)
            cube = network("hypercube", n, net.faulty_nodes, [(v, v ^ 1 << d) for v, d in names if d < n])
            cube_summary = summarize_network(cube, ends)
            if net != cube:
                lines.append(describe_network("the hypercube", cube_summary, cube, ends))
        return Explanation("\n".join(lines), {**data, **summary, "hypercube": cube_summary})

    return explain


def summarize_network(net: Any, ends: dict[str, int]) -> dict[str, Any]:
    """Return the components of a network with faults, and whether s and t are connected."""
    from ..algorithms.shortest import distance
    from ..algorithms.survival import survival

    found = survival(net)
    reported = {"connected": found.connected, "isolated": found.isolated, "components": found.components}
    far = distance(net, ends["s"], ends["t"]) if ends["s"] >= 0 else None
    return {**reported, "distance": far, "st_connected": None if ends["s"] < 0 else far is not None}


def describe_network(name: str, reported: dict[str, Any], net: Any, ends: dict[str, int]) -> str:
    """Return a line of a replay: the results of ``summarize_network`` in words."""
    parts = reported["components"]
    components_text = f"{len(parts)} parts of {', '.join(map(str, parts[:12]))} nodes" if parts else "no node"
    text = f"{name}: {'connected' if reported['connected'] else components_text}, {reported['isolated']} isolated"
    if ends["s"] >= 0:
        far = "apart" if reported["distance"] is None else f"{reported['distance']} links apart"
        text += f"; {net.label(ends['s'])} and {net.label(ends['t'])} are {far}"
    return text


def check_own_family(family: object) -> tuple[Family, Callable[[int, int, int], int], Callable[[int], int]]:
    """Return a user's network, its step and its slots.  Raises ParameterError for anything else."""
    if not isinstance(family, Family) or family.own is None:
        raise ParameterError(
            f"family must be a network of your own, made by fc.custom_network, got {short_repr(family)}"
        )
    return family, family.own, family.slots


def choose_grid_size(family: Family, least: int = 1) -> int:
    """Return the size for the grid of a user's network: the largest from ``least`` to 8, or else the least above."""
    sizes = [n for n in range(least, MOST_DIMENSIONS + 1) if family.sizes(n)]
    if not sizes:
        raise ParameterError(f"family must have a network of n in [{least}, {MOST_DIMENSIONS}], got {family.name}")
    return max((size for size in sizes if size <= 8), default=sizes[0])


def make_network_study(family: object) -> Study:
    """Return ``survival`` with a user's network beside the built-in ones: see :func:`fastcube.survival_study`."""
    family, step, slots = check_own_family(family)
    names = (*NETWORK.names, family.name)  # at the end, because kernels get the index of a built-in network
    axes = (Choice("network", NETWORK.description, names, keyed=False), *AXES[1:])
    n = choose_grid_size(family)
    grids = [Grid("nodes", make_points([family.name], n, f=_list_numbers(n, 2**n), links=[0]), 100_000)]
    if family.is_compared(n):
        links = _list_numbers(n, family.links(n))
        grids.append(Grid("links", make_points([family.name], n, f=[0], links=links), 100_000))

    def choose_kernel(point: Point) -> Kernel:
        if str(point["network"]) == family.name:
            return user_survival_kernel(step, slots, point["links"] > 0)
        return SURVIVAL.kernel(*point.values())

    return Study(
        name=f"survival-{family.name}",
        title=f"Connectivity of {family.title} under random faults, compared with the hypercube",
        source="docs/readings/networks.md, N4, N5",
        revision=1,
        axes=axes,
        tally=TALLY,
        statistics=make_network_statistics(family),
        code=hash_functions(step, slots),
        kernel=choose_kernel,
        grids=tuple(grids),
        check=lambda point: check_point(point, family),
        explain=make_explain(family),
        sample=make_sample(family),
        notes=_make_notes(family),
        keyed=("survival", {}),
        together=512,
    )


def _list_numbers(n: int, most: int) -> list[int]:
    """Return the numbers of faults of a grid among ``most`` nodes or links: n, 2n, and eighths up to one half."""
    return sorted({min(number, most) for number in (n, 2 * n, *(most * i // 8 for i in range(1, 5)))})


def _make_notes(family: Family) -> Callable[[Any], list[str]]:
    """Return the notes of a user's network: P(connected) against the hypercube, and where faulty links cannot be compared."""

    def compare_with_hypercube(results: Any) -> list[str]:
        done = [point for point, tally in results if tally.trials and str(point["network"]) != "hypercube"]
        lines = []
        for name in dict.fromkeys(str(point["network"]) for point in done):
            points = [point for point in done if str(point["network"]) == name]
            found = [({k: v for k, v in point.items() if k != "network"}, results.estimates(point)) for point in points]
            if standing := describe_standing((where, estimates["connected_diff"]) for where, estimates in found):
                lines.append(f"  {name}: {standing}")
            if not_compared := sorted({int(point["n"]) for point in points if not is_compared(point, family)}):
                lines.append(
                    f"  {name}: its links have other names than the hypercube's at n = {', '.join(map(str, not_compared))}, so "
                    "points with faulty links are not compared"
                )
        heading = "P(connected) minus the hypercube's on the same faults, exact 95% intervals:"
        return [heading, *lines] if lines else []

    return compare_with_hypercube
