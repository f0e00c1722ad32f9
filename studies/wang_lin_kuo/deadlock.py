"""The studies ``multicast-deadlock`` and ``multicast-wormhole``: whether multicasts can deadlock, and how often random ones do.

Theorem 2 calls the algorithm deadlock-free because the high and the low network share no channel and no supernode has a cycle.
But D_H and D_L share the channels inside the supernodes.  Interpretations A14 (dependency graph) and A15 (simulation) apply.
"""

import functools
import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np

from fastcube.algorithms.channel_dependencies import Channel, dependency_cycle
from fastcube.algorithms.partition import Supercube, two_partition
from fastcube.algorithms.wormhole import Wormhole, simulate_wormhole
from fastcube.errors import check_integer, check_range
from fastcube.kernels.wormhole import dispatch, layout
from fastcube.measure.fault_sets import describe_faulty_nodes, list_faulty_nodes
from fastcube.measure.statistics import Proportion
from fastcube.measure.study import Axis, Explanation, Grid, Notes, Point, Sample, Study
from fastcube.measure.tally import Tally
from fastcube.networks.hypercube import Hypercube
from fastcube.results.results import Results

from .channels import supernode_text
from .deadlock_search import MOST_CANDIDATES, SearchResult, deadlocking_messages
from .partition import pair_text, sample_trial

#: Largest number of stuck messages in the text of a trial.
_MOST_STUCK = 20

#: A statistic of both studies, and the condition of their other statistics.
_PARTITION_EXISTS = Proportion(
    name="partition_exists",
    description="probability of a 2-partition: two dimensions that split Q_n into 2-cubes with at most one faulty node each",
)


def _check_faults(point: Point) -> None:
    n = int(point["n"])
    check_range("f", point["f"], 0, 2 ** (n - 2), f"for n={n}")


def channel_text(net: Supercube, channel: Channel) -> str:
    """Return a channel with its network, such as ``0010 -> 0110 (high)``."""
    u, v = channel[:2]
    label_u, label_v = net.label(u), net.label(v)
    network = f"inside {supernode_text(net, u)}" if label_u == label_v else "high" if label_u < label_v else "low"
    copy = f", copy {channel[2]}" if len(channel) > 2 else ""
    return f"{u:0{net.n}b} -> {v:0{net.n}b} ({network}{copy})"


# ---------------------------------------------------------------- multicast-deadlock


def _explain_cycles(point: Point, key: int, trial: int) -> Explanation:
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
    for name, what, copies, unicast in (
        ("cyclic", "multicasts, one virtual channel", 1, False),
        ("cyclic_unicast", "messages to one destination, one virtual channel", 1, True),
        ("cyclic_two_channels", "multicasts, two virtual channels", 2, False),
    ):
        cycle = dependency_cycle(cube, pair, copies, unicast)
        data[name] = None if cycle is None else [list(c) for c in cycle]
        if cycle is None:
            lines.append(f"  {what}: no cycle")
            continue
        lines.append(f"  {what}: a shortest cycle has {len(cycle)} channels, each waiting for the next:")
        lines += [f"    {channel_text(net, channel)}" for channel in cycle]
        search = deadlocking_messages(cube, pair, cycle, copies, unicast)
        data[f"{name}_messages"] = search.messages
        data[f"{name}_tried"] = {"sets": search.tried, "cut": search.cut}
        lines += _search_text(cube, search)
    return Explanation("\n".join(lines), data)


def _search_text(cube: Hypercube, search: SearchResult) -> list[str]:
    """Return lines with the smallest set of messages found that deadlocks, or a line that none was found, and the sets tried."""
    kind = f"messages that begin with sections of this cycle, at most {MOST_CANDIDATES} per section"
    if search.messages is None:
        end = "the limit of the search was reached" if search.cut else "all cuts into sections were tried"
        return [f"    no deadlock found in {search.tried:,} sets of {kind}: {end}"]
    return [
        f"    {len(search.messages)} messages that deadlock on it, the fewest tried: set {search.tried:,}, by size, of {kind}:",
        *(f"      {cube.label(s)} to {', '.join(map(cube.label, d))}" for s, d in search.messages),
    ]


def _plot_cycles(results: Results, sheet: Any) -> None:
    """Plot the fractions of fault sets with a cycle against f, one panel per n."""
    proportions = {
        "multicasts": "cyclic",
        "one destination each": "cyclic_unicast",
        "multicasts, two virtual channels": "cyclic_two_channels",
    }
    sizes = sorted({int(point["n"]) for point, tally in results if tally.trials})
    for n, panel in zip(sizes, sheet.panels(2, count=max(1, len(sizes))), strict=False):
        panel.compare(results, proportions, x="f", at={"n": n})
        panel.scale = "linear"
        panel.limits(bottom=0, top=1.03)
        panel.set_labels(y="fraction with a cyclic graph", title=f"n = {n}")
    sheet.title(results.study.title)


@functools.cache
def _count_fault_sets(n: int, f: int) -> Tally:
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
        _PARTITION_EXISTS,
        Proportion(
            name="cyclic",
            description="probability that the channel dependencies of all possible multicasts with shortcuts have a cycle, "
            "one virtual channel, among trials with a 2-partition",
            condition="partition_exists",
        ),
        Proportion(
            name="cyclic_unicast",
            description="probability that the channel dependencies of all possible unicasts with shortcuts have a cycle, "
            "one virtual channel, among trials with a 2-partition",
            condition="partition_exists",
        ),
        Proportion(
            name="cyclic_two_channels",
            description="probability that the channel dependencies of all possible multicasts with shortcuts have a cycle, "
            "two virtual channels, among trials with a 2-partition",
            condition="partition_exists",
        ),
    ),
    kernel=lambda point: dispatch.MULTICAST_DEADLOCK.kernel(*point.values()),
    grids=(
        Grid("default", [{"n": n, "f": f} for n in range(3, 8) for f in range(min(2 * n, 2 ** (n - 2)) + 1)], 2_000),
    ),
    check=_check_faults,
    enumeration=_enumeration,
    explain=_explain_cycles,
    sample=sample_trial,
    figure=_plot_cycles,
)


# ---------------------------------------------------------------- multicast-wormhole


def _check_messages(point: Point) -> None:
    _check_faults(point)
    n, f = int(point["n"]), int(point["f"])
    check_range("senders", point["senders"], 2, 2**n - f, f"for n={n}, f={f}")
    check_range("destinations", point["destinations"], 1, 2**n - f - 1, f"for n={n}, f={f}")


def _wormhole_grid() -> list[Point]:
    return [
        {"n": n, "f": f, "senders": senders, "destinations": destinations}
        for n in range(3, 7)
        for f in (0, n - 1)
        for senders in (2, 4, 8, 16)
        for destinations in (1, 2, 4, 8)
        if senders <= 2**n - f and destinations <= 2**n - f - 1
    ]


def _sample_trial(point: Point, key: int, trial: int) -> Sample:
    """Sample faulty nodes and sources, and the destinations of each source, one source after another."""
    from fastcube.kernels.multicasting import replay

    n, f, senders, count = (int(point[name]) for name in ("n", "f", "senders", "destinations"))
    faults, sources, destinations = replay.sample_multicasts(key, trial, n, f, senders, count)
    others = {"sources": sources, "destinations": list(itertools.chain.from_iterable(destinations))}
    return Sample(Hypercube(n, faults), others)


def _explain_messages(point: Point, key: int, trial: int) -> Explanation:
    n, count = int(point["n"]), int(point["destinations"])
    sample = _sample_trial(point, key, trial)
    cube, faults, destinations = sample.network, list_faulty_nodes(sample), sample.others["destinations"]
    messages = [(s, destinations[i * count : (i + 1) * count]) for i, s in enumerate(sample.others["sources"])]
    lines = [describe_faulty_nodes(cube)]
    pair = two_partition(cube, exhaustive=True)
    data: dict[str, Any] = {"faulty_nodes": faults, "messages": [[s, d] for s, d in messages]}
    data["partition"] = None if pair is None else list(pair)
    if pair is None:
        return Explanation("\n".join([*lines, "  no fault-tolerant 2-partition"]), data)
    net = Supercube(n, frozenset(faults), pair)
    lines.append(f"  {pair_text(pair)}; multicasts, all at once:")
    lines += [f"    {i}: {cube.label(s)} to {', '.join(map(cube.label, d))}" for i, (s, d) in enumerate(messages)]
    separate = [(s, [d]) for s, nodes in messages for d in nodes]
    for name, what, sent, copies in (
        ("deadlock", "one virtual channel", messages, 1),
        ("deadlock_two_channels", "two virtual channels", messages, 2),
        ("deadlock_separate", "two, and a message for each destination", separate, 2),
    ):
        outcome = simulate_wormhole(cube, sent, pair, copies)
        data[name] = {
            "deadlocked": outcome.deadlocked,
            "steps": outcome.steps,
            "stuck": [list(message) for message in outcome.held],
        }
        lines.append(f"  {what}: {'stops' if outcome.deadlocked else 'all delivered'} after step {outcome.steps}")
        lines += _stuck_text(net, outcome)
    return Explanation("\n".join(lines), data)


def _stuck_text(net: Supercube, outcome: Wormhole) -> list[str]:
    """Return a line for each of the first stuck messages: the channels that it holds, and those that it waits for."""
    lines = []
    for message in list(outcome.held)[:_MOST_STUCK]:
        held = "; ".join(channel_text(net, c) for c in sorted(outcome.held[message])) or "nothing"
        requested = "; ".join(
            f"{channel_text(net, c)}, {'free' if holder is None else f'held by {holder[0]} {holder[1]}'}"
            for c, holder in outcome.waiting[message]
        )
        lines.append(f"    {message[0]} {message[1]} holds {held}; asks for {requested}")
    return lines


def _plot_messages(results: Results, sheet: Any) -> None:
    """Plot at most three numbers of destinations, one per row with the smallest first; a column for 1 and for 2 channels."""
    numbers = sorted({int(point["destinations"]) for point, tally in results if tally.trials}) or [1]
    rows = sorted({numbers[round(i * (len(numbers) - 1) / 2)] for i in range(3)})
    panels = iter(sheet.panels(2, len(rows)))
    for destinations in rows:
        row_title = f"{destinations} destinations each: messages split"
        if destinations == 1:
            row_title = "one destination each: nothing splits"
        for statistic, channels in (
            ("deadlock", "one virtual channel"),
            ("deadlock_two_channels", "two virtual channels"),
        ):
            panel = next(panels)
            panel.lines(results, statistic, x="senders", by="n", at={"destinations": destinations})
            panel.set_labels(y="fraction of trials that deadlock", title=f"{row_title}; {channels}")
    sheet.title(results.study.title)


def _message_notes(results: Results) -> list[str]:
    """Return the numbers of deadlocks of messages that never split and of messages that split."""
    done = [(point, tally) for point, tally in results if tally.counts["partition_exists"]]
    lines = []
    for what, splits in (("never split (1 destination)", False), ("split (more)", True)):
        tallies = [tally for point, tally in done if (point["destinations"] > 1) == splits]
        if tallies:
            counts = {
                name: sum(tally.counts[name] for tally in tallies)
                for name in ("deadlock", "deadlock_two_channels", "deadlock_separate")
            }
            trials = sum(tally.counts["partition_exists"] for tally in tallies)
            lines.append(
                f"messages that {what}: of {trials:,} trials {counts['deadlock']:,} deadlock with one virtual channel, "
                f"{counts['deadlock_two_channels']:,} with two, {counts['deadlock_separate']:,} with two and single destinations"
            )
    return lines


MULTICAST_WORMHOLE = Study(
    name="multicast-wormhole",
    title="Fraction of random sets of multicasts, all sent at once in Q_n with f random faults, that deadlock",
    source="Wang, Lin & Kuo, sections 2 and 4.2, Theorem 2",
    revision=1,
    axes=(
        Axis("n", "dimension of the hypercube", int, 3, 8),
        Axis("f", "number of faulty nodes", int, 0, 64),
        Axis("senders", "number of sources", int, 2, 64),
        Axis("destinations", "number of destinations of each source", int, 1, 255),
    ),
    tally=layout.MULTICAST_WORMHOLE,
    statistics=(
        Proportion(
            name="deadlock",
            description="probability that the multicasts (with shortcuts) of all senders, started at once, deadlock, one "
            "virtual channel, among trials with a 2-partition",
            condition="partition_exists",
        ),
        Proportion(
            name="deadlock_two_channels",
            description="probability that the multicasts (with shortcuts) of all senders, started at once, deadlock, two "
            "virtual channels, among trials with a 2-partition",
            condition="partition_exists",
        ),
        Proportion(
            name="deadlock_separate",
            description="probability that separate messages to each destination, all at once, deadlock, two virtual channels, "
            "among trials with a 2-partition",
            condition="partition_exists",
        ),
        replace(_PARTITION_EXISTS, shown=False),
    ),
    kernel=lambda point: dispatch.MULTICAST_WORMHOLE.kernel(*point.values()),
    grids=(Grid("default", _wormhole_grid(), 10_000),),
    check=_check_messages,
    explain=_explain_messages,
    sample=_sample_trial,
    figure=_plot_messages,
    notes=Notes((_message_notes, ("deadlock", "deadlock_two_channels", "deadlock_separate"))),
)
