"""The study ``multicast-deadlock``: how often the channel dependency graph of multicasts has a cycle.

Theorem 2 calls the algorithm deadlock-free because the high and the low network share no channel and no supernode has a cycle.
But D_H and D_L share the channels inside the supernodes.  A cycle is needed for a deadlock of messages that do not branch
(interpretation A14); ``multicast-wormhole`` counts the deadlocks of random multicasts.
"""

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from fastcube.algorithms.channel_dependencies import dependency_cycle
from fastcube.algorithms.partition import Supercube, two_partition
from fastcube.errors import check_integer
from fastcube.kernels.wormhole import dispatch, layout
from fastcube.measure.fault_sets import describe_faulty_nodes, list_faulty_nodes
from fastcube.measure.statistics import Proportion
from fastcube.measure.study import Axis, Explanation, Grid, Point, Study
from fastcube.measure.tally import Tally
from fastcube.networks.hypercube import Hypercube
from fastcube.results.results import Results

from .channels import channel_text
from .deadlock_search import MOST_CANDIDATES, SearchResult, deadlocking_messages
from .partition import PARTITION_EXISTS, check_faults, pair_text, sample_trial


class _Traffic(NamedTuple):
    """The messages and channels of a dependency graph."""

    title: str
    virtual_channels: int
    unicast: bool  #: whether every message has one destination


#: The dependency graphs, by the statistics that count their cycles.
_GRAPHS = {
    "cyclic": _Traffic("multicasts, one virtual channel", 1, False),
    "cyclic_unicast": _Traffic("messages to one destination, one virtual channel", 1, True),
    "cyclic_two_channels": _Traffic("multicasts, two virtual channels", 2, False),
}


def _explain(point: Point, key: int, trial: int) -> Explanation:
    n = int(point["n"])
    sample = sample_trial(point, key, trial)
    cube, faults = sample.network, list_faulty_nodes(sample)
    lines = [describe_faulty_nodes(cube)]
    pair = two_partition(cube, exhaustive=True)
    data: dict[str, Any] = {"faulty_nodes": faults, "partition": None if pair is None else list(pair)}
    if pair is None:
        return Explanation("\n".join([*lines, "  no fault-tolerant 2-partition"]), data)
    net = Supercube(n, frozenset(faults), pair)
    lines.append(f"  {pair_text(pair)}")
    for name, (title, copies, unicast) in _GRAPHS.items():
        cycle = dependency_cycle(cube, pair, copies, unicast)
        data[name] = None if cycle is None else [list(c) for c in cycle]
        if cycle is None:
            lines.append(f"  {title}: no cycle")
            continue
        lines.append(f"  {title}: a shortest cycle has {len(cycle)} channels, each waiting for the next:")
        lines += [f"    {channel_text(net, channel)}" for channel in cycle]
        search = deadlocking_messages(cube, pair, cycle, copies, unicast)
        data[f"{name}_messages"] = search.messages
        data[f"{name}_tried"] = {"sets": search.tried, "cut": search.cut}
        lines += _search_text(cube, search)
    return Explanation("\n".join(lines), data)


def _search_text(cube: Hypercube, search: SearchResult) -> list[str]:
    """Return lines with the first set of messages found that deadlocks, or a line that none was found, and the sets tried."""
    candidates = f"messages that begin with sections of this cycle, at most {MOST_CANDIDATES} per section"
    if search.messages is None:
        reason = "the limit of the search was reached" if search.cut else "all cuts into sections were tried"
        return [f"    no deadlock found in {search.tried:,} sets of {candidates}: {reason}"]
    found = f"{len(search.messages)} messages that deadlock on it, the fewest tried"
    return [
        f"    {found}: set {search.tried:,}, by size, of {candidates}:",
        *(f"      {cube.label(s)} to {', '.join(map(cube.label, d))}" for s, d in search.messages),
    ]


def _figure(results: Results, sheet: Any) -> None:
    """Plot the fractions of fault sets with a cycle against f, one panel per n."""
    labels = {
        "multicasts": "cyclic",
        "one destination each": "cyclic_unicast",
        "multicasts, two virtual channels": "cyclic_two_channels",
    }
    sizes = sorted({int(point["n"]) for point, tally in results if tally.trials})
    for n, panel in zip(sizes, sheet.panels(2, count=max(1, len(sizes))), strict=False):
        panel.compare(results, labels, x="f", at={"n": n})
        panel.scale = "linear"
        panel.limits(bottom=0, top=1.03)
        panel.set_labels(y="fraction with a cyclic graph", title=f"n = {n}")
    sheet.title(results.study.title)


@functools.cache
def _count_fault_sets(n: int, f: int) -> Tally:
    """Return the tally of all sets of f faulty nodes of Q_n."""
    from fastcube.kernels.wormhole.scalar import MULTICAST_DEADLOCK_SETS

    slots, sets = layout.MULTICAST_DEADLOCK.new_tally(), math.comb(2**n, f)
    MULTICAST_DEADLOCK_SETS(np.uint64(0), 0, sets, np.array([n, f, *range(f)], np.float64), slots)
    return Tally.from_slots(layout.MULTICAST_DEADLOCK, 0, sets, slots)


def _enumeration(point: Point) -> Tally:
    """Count over all fault sets: Q_5 has up to 10.5 million, which take a minute."""
    n, f = int(point["n"]), int(point["f"])
    return _count_fault_sets(check_integer("n", n, 3, 5, "for exact values"), f)


MULTICAST_DEADLOCK = Study(
    name="multicast-deadlock",
    title="Fraction of fault sets of Q_n with a cycle in the channel dependency graph of multicasts",
    source="Wang, Lin & Kuo, section 4.2, Theorem 2",
    revision=1,
    axes=(
        Axis("n", "dimension of the hypercube", int, 3, 8),
        Axis("f", "number of faulty nodes", int, 0, 64),
    ),
    tally=layout.MULTICAST_DEADLOCK,
    statistics=(
        PARTITION_EXISTS,
        *(
            Proportion(
                name=name,
                description=f"probability that the channel dependencies of all possible {messages} with shortcuts have a cycle, "
                f"{channels}, among trials with a 2-partition",
                condition=PARTITION_EXISTS.name,
            )
            for name, messages, channels in (
                ("cyclic", "multicasts", "one virtual channel"),
                ("cyclic_unicast", "unicasts", "one virtual channel"),
                ("cyclic_two_channels", "multicasts", "two virtual channels"),
            )
        ),
    ),
    kernel=lambda point: dispatch.MULTICAST_DEADLOCK.kernel(*point.values()),
    grids=(
        Grid("default", [{"n": n, "f": f} for n in range(3, 8) for f in range(min(2 * n, 2 ** (n - 2)) + 1)], 2_000),
    ),
    check=check_faults,
    enumeration=_enumeration,
    explain=_explain,
    sample=sample_trial,
    figure=_figure,
)
