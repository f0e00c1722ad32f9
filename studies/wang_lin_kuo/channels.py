"""The study ``multicast``: how many channels a multicast uses; its default grid is the paper's Table 3.

Interpretations A5 (shortcuts or the Hamilton path), A11 (what is counted), A13 and A16 apply.
"""

import functools
import math
from dataclasses import replace
from typing import Any

from fastcube.algorithms.channel_dependencies import Channel
from fastcube.algorithms.multicasting import Multicast, multicast
from fastcube.algorithms.partition import Supercube, two_partition
from fastcube.errors import check_range
from fastcube.kernels.multicasting import dispatch, layout
from fastcube.kernels.multicasting.layout import MOST_HAMILTON_DIMENSIONS
from fastcube.measure.asymptotic import NormalMean, Ratio
from fastcube.measure.fault_sets import describe_faulty_nodes, list_faulty_nodes
from fastcube.measure.inventory import inventory
from fastcube.measure.statistics import Mean
from fastcube.measure.study import Axis, Explanation, Grid, Notes, Point, Sample, Study
from fastcube.measure.tally import Tally
from fastcube.networks.hypercube import Hypercube
from fastcube.results.results import Results

from .partition import PARTITION_EXISTS, check_faults, pair_text

#: Dimension of the hypercube of Table 3.
_TABLE_DIMENSION = 10

#: Largest number of channels in the text of a trial.
_MOST_LINES = 200


@functools.cache
def table_3() -> tuple[dict[str, Any], ...]:
    """Return the rows of Table 3 as printed: row, f, destinations, N, percent."""
    table = inventory("wang_lin_kuo").tables["table3"]
    return tuple(dict(zip(table["columns"], row, strict=True)) for row in table["rows"])


def _check_point(point: Point) -> None:
    check_faults(point)
    n, f = int(point["n"]), int(point["f"])
    check_range("destinations", point["destinations"], 1, 2**n - f - 1, f"for n={n}, f={f}")


def _most_channels(point: Point) -> float:
    """Return 2^n - 1, the most channels: a message enters each node at most once, and its source never.

    The only exceptions are buddies that several detours at the source share.  Each then avoids a faulty node, which no message
    enters, so faults do not raise the bound.
    """
    return float(2 ** int(point["n"]) - 1)


# ---------------------------------------------------------------- replay


def supernode_text(net: Supercube, v: int) -> str:
    """Return a supernode in the paper's notation with its label, such as ``011** (2)``."""
    return f"{net.supernode(v)} ({net.label(v)})"


def channel_text(net: Supercube, channel: Channel) -> str:
    """Return a channel with its network, such as ``0010 -> 0110 (high)``."""
    u, v, *copies = channel
    label_u, label_v = net.label(u), net.label(v)
    network = f"inside {supernode_text(net, u)}" if label_u == label_v else "high" if label_u < label_v else "low"
    copy = f", copy {copies[0]}" if copies else ""
    return f"{u:0{net.n}b} -> {v:0{net.n}b} ({network}{copy})"


def _sample_trial(point: Point, key: int, trial: int) -> Sample:
    from fastcube.kernels.multicasting import replay

    n, f, count = (int(point[name]) for name in ("n", "f", "destinations"))
    faults, (s,), (destinations,) = replay.sample_multicasts(key, trial, n, f, 1, count)
    return Sample(Hypercube(n, faults), {"source": s, "destinations": destinations})


def _describe_uses(cube: Hypercube, net: Supercube, m: Multicast) -> list[str]:
    """Return a heading, a line for each of the first channels of a multicast, and how many channels follow."""
    lines = [
        "  channels in order, with the destinations that each message carries; labels of supernodes in parentheses:"
    ]
    for use in m.uses[:_MOST_LINES]:
        detour = "  detour: p is faulty" if use.detour else ""
        carried = " ".join(map(cube.label, use.header[:6])) + (" ..." if len(use.header) > 6 else "")
        channel = f"{cube.label(use.u)} ({net.label(use.u)}) -> {cube.label(use.v)} ({net.label(use.v)})"
        lines.append(f"    D_{use.kind} {channel}: {carried}{detour}")
    if m.N > _MOST_LINES:
        lines.append(f"    ... and {m.N - _MOST_LINES} more")
    return lines


def _split_destinations(net: Supercube, s: int, destinations: list[int]) -> dict[str, list[int]]:
    """Return the destinations of each message: inside the source's supernode, and with larger and smaller labels."""
    here = net.label(s)
    return {
        "D_E": [d for d in destinations if net.label(d) == here],
        "D_H": sorted((d for d in destinations if net.label(d) > here), key=lambda d: (net.label(d), d)),
        "D_L": sorted((d for d in destinations if net.label(d) < here), key=lambda d: (-net.label(d), d)),
    }


def _multicast_data(cube: Hypercube, net: Supercube, s: int, m: Multicast, headers: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a trial with a partition: labels, destinations of each message, channels and costs."""
    nodes = sorted({end for channel in m.channels for end in channel} | {s})
    return {
        "labels": {cube.label(v): net.label(v) for v in nodes},
        **headers,
        "uses": [
            {"class": use.kind, "u": use.u, "v": use.v, "carries": list(use.header), "detour": use.detour}
            for use in m.uses
        ],
        "N": m.N,
        "depth": m.depth,
        "detours": m.detours,
    }


def _explain(point: Point, key: int, trial: int) -> Explanation:
    n = int(point["n"])
    sample = _sample_trial(point, key, trial)
    faults, s, destinations = list_faulty_nodes(sample), sample.others["source"], sample.others["destinations"]
    cube = sample.network
    lines = [describe_faulty_nodes(cube)]
    data: dict[str, Any] = {"faulty_nodes": faults, "source": s, "destinations": destinations}
    pair = two_partition(cube, exhaustive=True)
    if pair is None:
        data["partition"] = None
        return Explanation("\n".join([*lines, "  no fault-tolerant 2-partition"]), data)
    net = Supercube(n, frozenset(faults), pair)
    m = multicast(cube, s, destinations, pair)
    headers = _split_destinations(net, s, destinations)
    lines.append(f"  {pair_text(pair)}; source {cube.label(s)} in supernode {supernode_text(net, s)}")
    for name, header in headers.items():
        lines.append(f"  {name}: {', '.join(f'{cube.label(d)} ({net.label(d)})' for d in header) or 'empty'}")
    lines += _describe_uses(cube, net, m)
    lines.append(f"  N = {m.N}, depth {m.depth}, {m.detours} detours")
    if n <= MOST_HAMILTON_DIMENSIONS:
        lines.append(f"  along the Hamilton path N = {multicast(cube, s, destinations, pair, 'hamilton').N}")
    data |= {"partition": list(pair), **_multicast_data(cube, net, s, m, headers)}
    return Explanation("\n".join(lines), data)


# ---------------------------------------------------------------- figure and notes

#: The statistics of N, with the paths that they are for.
_PATHS = {"channels": "shortcuts", "channels_hamilton": "Hamilton path"}


def _figure(results: Results, sheet: Any) -> None:
    """Plot N against the number of destinations, by shortcuts and along the Hamilton path, with the rows of Table 3."""
    panel = sheet.panel()
    done = [point for point, tally in results if tally.trials]
    groups = sorted({(int(p["n"]), int(p["f"])) for p in done})
    for i, (n, f) in enumerate(groups):
        in_group = sorted((p for p in done if (p["n"], p["f"]) == (n, f)), key=lambda p: p["destinations"])
        for j, (statistic, path) in enumerate(_PATHS.items()):
            if statistic == "channels_hamilton" and n > MOST_HAMILTON_DIMENSIONS:
                continue
            rows = [(float(p["destinations"]), results.estimates(p)[statistic]) for p in in_group]
            panel.series(f"{path}, n = {n}, f = {f}", rows, like=i + j * len(groups), of=len(_PATHS) * len(groups))
    printed = [row for row in table_3() if any(_row_point(row) == p for p in done)]
    if printed:
        panel.marks([row["destinations"] for row in printed], [row["N"] for row in printed], "Table 3 of the paper")
    at = sorted({float(p["destinations"]) for p in done})
    panel.curve(at, at, "no fewer than the destinations")
    panel.axes.set_xscale("log", base=2)
    panel.scale = "log"
    panel.by = ("path",)
    panel.set_labels(x="number of destinations", y="mean number of channels N", title="Channels that a multicast takes")


def _row_point(row: dict[str, Any]) -> Point:
    """Return the point of a row of Table 3."""
    return {"n": _TABLE_DIMENSION, "f": row["f"], "destinations": row["destinations"]}


def _point_key(point: Point) -> tuple[Any, ...]:
    return point["n"], point["f"], point["destinations"]


def trial_deviation(tally: Tally, name: str) -> float:
    """Return the standard deviation of one trial's count, from the sums of counts and squares; NaN with fewer than two trials."""
    trials = int(tally.counts["partition_exists"])
    total, squares = int(tally.counts[name]), int(tally.counts[f"{name}_{name}"])
    return math.sqrt(max(0.0, (squares - total * total / trials) / (trials - 1))) if trials > 1 else math.nan


def _notes(results: Results) -> list[str]:
    """Return for each row of Table 3 the estimates, and how far the printed N is from them."""
    rows = {_point_key(_row_point(row)): row for row in table_3()}
    lines = []
    for point, tally in results:
        row = rows.get(_point_key(point))
        if row is None or tally.counts["partition_exists"] < 2:
            continue
        lines.append(
            f"row {row['row']} (f={row['f']}, {row['destinations']} destinations): paper N = {row['N']}, {row['percent']}%"
        )
        all_channels = int(point["n"]) * 2 ** int(point["n"])
        for statistic, counter in (("channels", "channels"), ("channels_hamilton", "hamilton")):
            e = results.estimates(point)[statistic]
            deviation = trial_deviation(tally, counter)
            deviation_of_ten = deviation / math.sqrt(10)  # of the paper's means of ten trials
            lines.append(
                f"  {_PATHS[statistic]}: {e.value:.2f} [{e.low:.2f}, {e.high:.2f}], "
                f"{100 * e.value / all_channels:.2f}% of the channels; "
                f"standard deviation {deviation:.1f} of a trial, {deviation_of_ten:.1f} of a mean of 10; "
                f"the paper's N is off by {(row['N'] - e.value) / deviation_of_ten:+.1f} of the latter"
            )
    return lines


_CONDITION = PARTITION_EXISTS.name

MULTICAST = Study(
    name="multicast",
    title="Channels that a multicast takes in Q_n with f random faults",
    source="Wang, Lin & Kuo, section 5.2, Table 3",
    revision=1,
    axes=(
        Axis("n", "dimension of the hypercube", int, 3, 20),
        Axis("f", "number of faulty nodes", int, 0, 2**18),
        Axis("destinations", "number of destinations", int, 1, 2**20),
    ),
    tally=layout.MULTICAST,
    statistics=(
        Mean(
            name="channels",
            description="mean number of channel uses of a multicast that takes shortcuts over the Hamilton path, among trials "
            "with a 2-partition",
            total="channels",
            squares="channels_channels",
            nonzero=_CONDITION,
            bound=_most_channels,
            condition=_CONDITION,
        ),
        Mean(
            name="channels_hamilton",
            description="mean number of channel uses of a multicast along the whole Hamilton path (n <= 14), among trials with "
            "a 2-partition",
            total="hamilton",
            squares="hamilton_hamilton",
            nonzero=_CONDITION,
            bound=_most_channels,
            condition=_CONDITION,
            defined=lambda point: point["n"] <= MOST_HAMILTON_DIMENSIONS,
        ),
        Ratio(
            name="channels_over_fault_free",
            description="total channel uses divided by the total of the same multicasts by the same rule in Q_n without "
            "faults, among trials with a 2-partition",
            numerator="channels",
            denominator="free",
            squares=("channels_channels", "channels_free", "free_free"),
            nonzero=_CONDITION,
            base=1,
            condition=_CONDITION,
        ),
        NormalMean(
            name="depth",
            description="mean number of channels in a row to the destination with the longest path, with shortcuts, among "
            "trials with a 2-partition",
            total="depth",
            squares="depth_depth",
            bound=_most_channels,
            condition=_CONDITION,
            shown=False,
        ),
        NormalMean(
            name="detours",
            description="mean number of detours around a faulty node per multicast, with shortcuts, among trials with a "
            "2-partition",
            total="detours",
            squares="detours_detours",
            nonzero="detoured",
            bound=_most_channels,
            condition=_CONDITION,
            shown=False,
        ),
        NormalMean(
            name="channels_separate",
            description="mean number of channel uses if each destination gets a message of its own, among trials with a "
            "2-partition",
            total="separate",
            squares="separate_separate",
            condition=_CONDITION,
        ),
        replace(PARTITION_EXISTS, shown=False),
    ),
    kernel=lambda point: dispatch.MULTICAST.kernel(*point.values()),
    grids=(Grid("default", [_row_point(row) for row in table_3()], 100_000),),
    check=_check_point,
    explain=_explain,
    sample=_sample_trial,
    figure=_figure,
    notes=Notes((_notes, ("channels", "channels_hamilton"))),
)
