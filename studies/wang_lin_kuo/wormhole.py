"""The study ``multicast-wormhole``: how often random multicasts, all sent at once, deadlock in the simulation.

A simulation also covers messages of which one branch waits while another holds channels, which dependency graphs leave out
(``multicast-deadlock``).  A *sender* is the source of one multicast, and a 2-partition divides the cube into 2-cubes with one
fault at most.  Every trial is simulated three times: with one virtual channel per link, with two, and with two and a message of
its own to each destination.  Interpretation A15 applies.
"""

import itertools
from dataclasses import replace
from typing import Any

from fastcube.algorithms.partition import Supercube, two_partition
from fastcube.algorithms.wormhole import Wormhole, simulate_wormhole
from fastcube.errors import check_range
from fastcube.kernels.wormhole import dispatch, layout
from fastcube.measure.fault_sets import describe_faulty_nodes, list_faulty_nodes
from fastcube.measure.statistics import Proportion
from fastcube.measure.study import Axis, Explanation, Grid, Notes, Point, Sample, Study
from fastcube.measure.tally import Tally
from fastcube.networks.hypercube import Hypercube
from fastcube.results.results import Results

from .channels import channel_text
from .partition import PARTITION_EXISTS, check_faults, pair_text

#: Largest number of stuck messages in the text of each of a trial's three simulations.
_MOST_STUCK = 20


def _check_point(point: Point) -> None:
    check_faults(point)
    n, f = int(point["n"]), int(point["f"])
    check_range("senders", point["senders"], 2, 2**n - f, f"for n={n}, f={f}")
    check_range("destinations", point["destinations"], 1, 2**n - f - 1, f"for n={n}, f={f}")


def _grid_points() -> list[Point]:
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


def _explain(point: Point, key: int, trial: int) -> Explanation:
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
    separate = [(s, [d]) for s, nodes in messages for d in nodes]  # stuck ones are named by their place in this list
    for name, title, sent, copies in (
        ("deadlock", "one virtual channel", messages, 1),
        ("deadlock_two_channels", "two virtual channels", messages, 2),
        ("deadlock_separate", "two, and a message for each destination, numbered in the order above", separate, 2),
    ):
        outcome = simulate_wormhole(cube, sent, pair, copies)
        data[name] = {
            "deadlocked": outcome.deadlocked,
            "steps": outcome.steps,
            "stuck": [list(message) for message in outcome.held],
        }
        lines.append(f"  {title}: {'stops' if outcome.deadlocked else 'all delivered'} after step {outcome.steps}")
        lines += _stuck_text(net, outcome)
    return Explanation("\n".join(lines), data)


def _stuck_text(net: Supercube, outcome: Wormhole) -> list[str]:
    """Return a line for each of the first stuck messages: the channels that it holds, and those that it waits for.

    A message is named by its place in the list that was simulated, and by its kind.
    """
    lines = []
    for stuck, held in itertools.islice(outcome.held.items(), _MOST_STUCK):
        index, kind = stuck
        held_text = "; ".join(channel_text(net, channel) for channel in sorted(held)) or "nothing"
        requests = []
        for channel, holder in outcome.waiting[stuck]:
            state = "free" if holder is None else f"held by {holder[0]} {holder[1]}"
            requests.append(f"{channel_text(net, channel)}, {state}")
        lines.append(f"    {index} {kind} holds {held_text}; asks for {'; '.join(requests)}")
    return lines


# ---------------------------------------------------------------- figure and notes


def _choose_destinations(results: Results) -> list[int]:
    """Return at most three numbers of destinations with trials: the smallest, the middle and the largest; 1 without trials."""
    numbers = sorted({int(point["destinations"]) for point, tally in results if tally.trials}) or [1]
    return sorted({numbers[round(i * (len(numbers) - 1) / 2)] for i in range(3)})


def _figure(results: Results, sheet: Any) -> None:
    """Plot the deadlocks against the senders: a row for each chosen number of destinations, a column for 1 and for 2 channels."""
    rows = _choose_destinations(results)
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


def _notes(results: Results) -> list[str]:
    """Return the numbers of deadlocks of messages that never split and of messages that split."""
    never_split = [tally for point, tally in results if point["destinations"] == 1]
    split = [tally for point, tally in results if point["destinations"] > 1]
    return _count_deadlocks("never split (1 destination)", never_split) + _count_deadlocks("split (more)", split)


def _count_deadlocks(messages: str, tallies: list[Tally]) -> list[str]:
    """Return a line on these messages with the sums of some tallies; none without a trial that has a 2-partition."""

    def total(name: str) -> int:
        return sum(tally.counts[name] for tally in tallies)

    trials = total(PARTITION_EXISTS.name)
    if not trials:
        return []
    line = (
        f"messages that {messages}: of {trials:,} trials {total('deadlock'):,} deadlock with one virtual channel, "
        f"{total('deadlock_two_channels'):,} with two, {total('deadlock_separate'):,} with two and single destinations"
    )
    return [line]


#: The messages of the first two statistics, in their descriptions.
_ALL_MULTICASTS = "the multicasts (with shortcuts) of all senders, started at once,"

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
        *(
            Proportion(
                name=name,
                description=f"probability that {messages} deadlock, {channels}, among trials with a 2-partition",
                condition=PARTITION_EXISTS.name,
            )
            for name, messages, channels in (
                ("deadlock", _ALL_MULTICASTS, "one virtual channel"),
                ("deadlock_two_channels", _ALL_MULTICASTS, "two virtual channels"),
                (
                    "deadlock_separate",
                    "separate messages to each destination, all at once,",
                    "two virtual channels",
                ),
            )
        ),
        replace(PARTITION_EXISTS, shown=False),
    ),
    kernel=lambda point: dispatch.MULTICAST_WORMHOLE.kernel(*point.values()),
    grids=(Grid("default", _grid_points(), 10_000),),
    check=_check_point,
    explain=_explain,
    sample=_sample_trial,
    figure=_figure,
    notes=Notes((_notes, ("deadlock", "deadlock_two_channels", "deadlock_separate"))),
)
