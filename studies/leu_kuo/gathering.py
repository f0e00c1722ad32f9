"""``gather`` and ``rerouting``: delivery, loss and cost of FTTC over FIND_TREE's tree (Leu & Kuo, section 3.2; R8-R18).

Both use the same kernel: three variants of FTTC, the traditional detour, and no fault tolerance, on the same fault sets.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from fastcube.algorithms.gathering import Gathering, gather
from fastcube.algorithms.trees import CommunicationTree
from fastcube.kernels.gathering import dispatch, layout
from fastcube.kernels.gathering.layout import MOST_DIMENSIONS, RUNS, common_denominator
from fastcube.measure.asymptotic import NormalMean, Ratio
from fastcube.measure.statistics import Proportion
from fastcube.measure.study import Explanation, Grid, Notes, Point, Study, join_limited, point_text
from fastcube.results.results import Results

from . import enumeration
from .faults import (
    axes_up_to,
    axis_of_faults,
    check_point,
    explain_tree,
    link_faults,
    node_faults,
    sample_trial,
    set_log_axis,
)
from .find_tree import AMONG_SINK

#: The algorithm and variant of each run, by the run's name in RUNS.
ALGORITHMS = {
    "as_printed": ("FTTC", "as_printed"),
    "as_commented": ("FTTC", "as_commented"),
    "corrected": ("FTTC", "corrected"),
    "reroute": ("REROUTE", None),
    "tc": ("TC", None),
}

#: Largest number of failing nodes that the text of a trial describes per algorithm.
_MOST_PLANS = 20

# ---------------------------------------------------------------- replay


def _make_explain(runs: tuple[str, ...]) -> Callable[[Point, int, int], Explanation]:
    """Return the ``explain`` function of a study of these runs."""

    def explain_trial(point: Point, key: int, trial: int) -> Explanation:
        """Return one trial as text and as data, algorithm by algorithm."""
        cube = sample_trial(point, key, trial).network
        tree, lines, data = explain_tree(cube)
        data["runs"] = None
        if tree is not None:
            outcomes = {run: gather(cube, tree, *ALGORITHMS[run]) for run in runs}
            lines += _failing_text(tree, next(iter(outcomes.values())))
            for run, outcome in outcomes.items():
                lines += _run_text(run, outcome)
            data["runs"] = {run: _run_data(outcome) for run, outcome in outcomes.items()}
        return Explanation("\n".join(lines), data)

    return explain_trial


def _failing_text(tree: CommunicationTree, outcome: Gathering) -> list[str]:
    """Return lines on the data and the failing nodes, which are the same for all algorithms."""
    label = tree.cube.label
    failing = join_limited(f"{label(v)} at stage {i}" for i, v in outcome.failing)
    return [
        f"  {outcome.expected} nodes hold data, {outcome.unreachable_data} of them cut off from the sink",
        f"  {len(outcome.failing)} failing nodes: {failing}",
    ]


def _run_text(run: str, outcome: Gathering) -> list[str]:
    """Return lines on one run: its result, the actions of failing nodes, and the losses."""
    label = outcome.cube.label
    result = (
        "all data arrives"
        if outcome.lost == 0
        else f"{outcome.arrived} of {outcome.expected} units arrive, {outcome.lost} are lost"
    )
    lines = [f"  {RUNS[run]}: {result}; {outcome.steps_sync} steps ({outcome.steps_paper} as the paper counts)"]
    for plan in outcome.plans[:_MOST_PLANS]:
        detour = f"detours to {label(plan.target)} over {plan.hops} links" if plan.target >= 0 else "has no way out"
        action = f"gives partitions to {join_limited(map(label, plan.partners))}" if plan.partners else detour
        lines.append(f"    stage {plan.stage}: {label(plan.node)} {action}")
    if len(outcome.plans) > _MOST_PLANS:
        lines.append("    and so on")
    causes = [f"{cause} {amount}" for cause, amount in outcome.lost_by.items() if amount]
    if causes:
        lines.append(f"    lost by cause: {', '.join(causes)}")
    if outcome.blocked:
        lines.append(f"    {len(outcome.blocked)} nodes wait for ever: {join_limited(map(label, outcome.blocked))}")
    return lines


def _run_data(outcome: Gathering) -> dict[str, Any]:
    """Return one run as data; amounts of data are fractions as text."""
    return {
        "expected": outcome.expected,
        "arrived": str(outcome.arrived),
        "lost": str(outcome.lost),
        "unreachable_data": str(outcome.unreachable_data),
        "lost_by": {cause: str(amount) for cause, amount in outcome.lost_by.items()},
        "deadlocked": outcome.deadlocked,
        "blocked": list(outcome.blocked),
        "failing": [list(pair) for pair in outcome.failing],
        "partners": [[plan.stage, plan.node, list(plan.partners)] for plan in outcome.plans if plan.partners],
        "detours": [list(detour) for detour in outcome.detours],
        "steps_paper": outcome.steps_paper,
        "steps_sync": outcome.steps_sync,
    }


# ---------------------------------------------------------------- statistics


def _data_unit(point: Point) -> Fraction:
    """Return the size of one unit of the counters of lost data, as a fraction of one node's data."""
    return Fraction(1, common_denominator(int(point["n"])))


def _units_per_node(point: Point) -> float:
    """Return the number of counter units of one node's data, the most that can be lost per node."""
    return float(common_denominator(int(point["n"])))


#: The runs, as descriptions of statistics call them.
_RUN_TITLES = {
    "as_printed": "FTTC by its printed code",
    "as_commented": "FTTC by its printed comments",
    "corrected": "FTTC by corrected code",
    "reroute": "REROUTE",
    "tc": "TC",
}


def _complete_proportion(run: str, shown: bool = True) -> Proportion:
    what = f"probability that {_RUN_TITLES[run]} brings all data to the sink{AMONG_SINK}"
    return Proportion(name=f"complete_{run}", description=what, condition="sink_exists", shown=shown)


def _data_ratio(name: str, description: str, nonzero: str, shown: bool = False, **options: Any) -> Ratio:
    """Return a fraction of all data as a statistic; ``options`` are further fields of it."""
    return Ratio(
        name=name,
        description="fraction of all data of all trials together, one unit per nonfaulty, non-isolated node, that "
        f"{description}{AMONG_SINK}",
        numerator=name,
        denominator="expected",
        squares=(f"{name}_squared", f"{name}_expected", "expected_squared"),
        nonzero=nonzero,
        condition="sink_exists",
        shown=shown,
        **options,
    )


def _lost_ratio(run: str, shown: bool = True) -> Ratio:
    return _data_ratio(
        f"lost_{run}", f"{_RUN_TITLES[run]} loses", f"lossy_{run}", shown, bound=_units_per_node, scale=_data_unit
    )


def _sink_proportion(name: str, description: str, shown: bool = True) -> Proportion:
    what = f"probability that {description}{AMONG_SINK}"
    return Proportion(name=name, description=what, condition="sink_exists", shown=shown)


def _stage_count(point: Point) -> float:
    return float(point["n"])


def _slowdown(name: str, description: str, most: int = 0, shown: bool = True) -> NormalMean:
    """Return the statistic steps / n, where each of the n stages takes 1 step, or more if it fails.

    ``most`` is the largest number of steps of a stage, or 0 if it has no bound.
    """
    return NormalMean(
        name=f"slowdown_{name}",
        description=f"mean of {description}, divided by n{AMONG_SINK}",
        total=f"steps_{name}",
        squares=f"steps_{name}_squared",
        unit=_stage_count,
        bound=lambda _: float(most),
        base=1,
        condition="sink_exists",
        shown=shown,
    )


_SINK = Proportion(
    name="sink_exists",
    description="probability that a sink exists: a nonfaulty node whose n links and n neighbours are nonfaulty",
    shown=False,
)

_UNREACHABLE_DATA = _data_ratio(
    "unreachable_data", "no nonfaulty path joins to the sink", "with_unreachable_data", bound=lambda _: 1.0
)


# ---------------------------------------------------------------- figures


def _gather_figure(results: Results, sheet: Any) -> None:
    """Plot the data that each variant loses, the data cut off from the sink, and how often ``as_printed`` deadlocks."""
    x = axis_of_faults(results)
    *lost, deadlocked = sheet.panels(4)
    for panel, variant in zip(lost, ("as_printed", "as_commented", "corrected"), strict=True):
        panel.lines(results, f"lost_{variant}", x=x, by="n")
        panel.scale = "auto" if variant == "as_printed" else "log"  # ``as_printed`` loses nearly all data
        panel.set_labels(y="fraction of the data lost", title=f"FTTC {variant}")
    cut_off = [
        (point[x], results.estimates(point)["unreachable_data"].value)
        for point, tally in results
        if tally.counts["with_unreachable_data"]
    ]
    if cut_off:
        lost[-1].marks([faults for faults, _ in cut_off], [value for _, value in cut_off], "cut off from the sink")
    deadlocked.lines(results, "deadlocked_as_printed", x=x, by="n")
    deadlocked.scale = "linear"
    deadlocked.limits(bottom=0)
    deadlocked.set_labels(y="fraction of trials", title="FTTC as printed: a node is blocked for ever")
    for panel in (*lost, deadlocked):
        set_log_axis(panel)
    sheet.title(results.study.title)


#: The statistics of slowdowns in the figure of ``rerouting``, by label.
_SLOWDOWNS = {
    "FTTC as commented": "slowdown_as_commented",
    "FTTC corrected": "slowdown_corrected",
    "FTTC: n + k": "slowdown_paper",
    "rerouting: n + 3k": "slowdown_reroute",
    "rerouting: n + 2k": "slowdown_reroute_hops",
}
#: The statistics of complete deliveries in the figure of ``rerouting``, by label.
_COMPLETE = {
    "TC": "complete_tc",
    "rerouting": "complete_reroute",
    "FTTC as commented": "complete_as_commented",
    "FTTC corrected": "complete_corrected",
}


def list_fault_kinds(points: Sequence[Point]) -> dict[str, list[Point]]:
    """Return points by their kind of faults, each kind with its name in titles; points with faulty nodes alone if all are."""
    with_nodes = [point for point in points if point["links"] and point["f"]]
    is_half = all(2 * int(point["f"]) == point["links"] for point in with_nodes)
    kinds = {
        "faulty links": [point for point in points if not point["f"]],
        "K faulty links and K/2 faulty nodes" if is_half else "faulty links and nodes": with_nodes,
    }
    return {kind: some for kind, some in kinds.items() if some} or {"faulty nodes": [*points]}


def _rerouting_figure(results: Results, sheet: Any) -> None:
    """Plot the slowdowns at the largest n, one panel per kind of faults, and how often all data arrives."""
    n = max((int(point["n"]) for point, tally in results if tally.trials), default=1)
    done = [point for point, tally in results if tally.trials and point["n"] == n]
    chosen = list_fault_kinds(done)
    panels = sheet.panels(len(chosen) + 1)
    for panel, (kind, points) in zip(panels, chosen.items(), strict=False):
        _plot_lines(panel, results, _SLOWDOWNS, points)
        panel.curve([1, 2 ** (n - 1)], [2, 2], "paper: FTTC < 2")
        panel.curve([1, 2 ** (n - 1)], [4, 4], "paper: rerouting <= 4", linestyle="--")
        panel.by = ("slowdown",)  # a separate legend
        panel.set_labels(y="steps / n", title=f"Slowdown at n = {n}: {kind}")
    kind, points = next(iter(chosen.items()))
    _plot_lines(panels[-1], results, _COMPLETE, points)
    panels[-1].by = ("complete",)
    panels[-1].set_labels(y="fraction of trials", title=f"All data arrives at n = {n}: {kind}")
    sheet.title(results.study.title)


def _plot_lines(panel: Any, results: Results, statistics: dict[str, str], points: Sequence[Point]) -> None:
    """Plot one line per statistic over some points, by the number of faulty links, or of nodes if there are no faulty links."""
    x = "links" if any(point["links"] for point in points) else "f"
    panel.compare(results, statistics, x=x, at=lambda point: point in points)
    panel.scale = "linear"
    set_log_axis(panel)


def _slowest_note(results: Results) -> list[str]:
    """Return a note on the run of ``as_commented`` that took most steps for its n; none if no trial has a sink."""
    maxima = [(tally.maxima["slowest"], point) for point, tally in results if tally.trials]
    reached = [(maximum, point) for maximum, point in maxima if maximum[1] >= 0]
    if not reached:
        return []
    (steps, trial), point = max(reached, key=lambda pair: pair[0][0] / int(pair[1]["n"]))
    return [f"slowest run of FTTC as commented for its n: {steps} steps, in trial {trial} at {point_text(point)}"]


# ---------------------------------------------------------------- the studies

GATHER = Study(
    name="gather",
    title="Data that FTTC delivers over FIND_TREE's tree",
    source="Leu & Kuo, section 3.2, Figure 13",
    revision=1,
    axes=axes_up_to(MOST_DIMENSIONS),
    tally=layout.GATHER,
    statistics=(
        _complete_proportion("as_commented"),
        _complete_proportion("as_printed"),
        _complete_proportion("corrected"),
        _lost_ratio("as_commented"),
        _lost_ratio("as_printed"),
        _lost_ratio("corrected", shown=False),
        _sink_proportion("deadlocked_as_printed", f"{_RUN_TITLES['as_printed']} makes a node wait for ever"),
        _sink_proportion(
            "deadlocked_as_commented", f"{_RUN_TITLES['as_commented']} makes a node wait for ever", shown=False
        ),
        _sink_proportion("deadlocked_corrected", f"{_RUN_TITLES['corrected']} makes a node wait for ever", shown=False),
        _UNREACHABLE_DATA,
        _sink_proportion(
            "avoidable_loss",
            f"{_RUN_TITLES['as_commented']} loses more data than is cut off from the sink",
            shown=False,
        ),
        _sink_proportion(
            "blocked_sender_without_helper",
            "some nonfaulty, non-isolated node without a usable link towards the sink has no still sending neighbour for "
            "its data",
        ),
        _SINK,
    ),
    kernel=lambda point: dispatch.GATHER.kernel(*point.values()),
    grids=(Grid("links", link_faults(range(3, 9)), 10**5), Grid("nodes", node_faults(range(3, 9)), 10**5)),
    check=check_point,
    enumeration=enumeration.gather,
    explain=_make_explain(("as_printed", "as_commented", "corrected")),
    sample=sample_trial,
    figure=_gather_figure,
)

REROUTING = Study(
    name="rerouting",
    title="FTTC compared with the traditional detour and with TC, which tolerates no fault",
    source="Leu & Kuo, section 3.2, Theorem 5",
    revision=1,
    axes=axes_up_to(MOST_DIMENSIONS),
    tally=layout.REROUTING,
    statistics=(
        _slowdown("as_commented", f"the number of steps of {_RUN_TITLES['as_commented']}"),
        _slowdown("corrected", f"the number of steps of {_RUN_TITLES['corrected']}"),
        _slowdown("paper", "the n + k steps that the paper counts for FTTC if k stages have a blocked sender", 2),
        _slowdown(
            "reroute",
            "the n + 3k steps that the paper counts for REROUTE if k stages have a blocked sender",
            4,
            shown=False,
        ),
        _slowdown(
            "reroute_hops", "the n + 2k links in a row that REROUTE crosses if k stages have a blocked sender", 3
        ),
        _sink_proportion(
            "slowdown_at_least_2",
            f"{_RUN_TITLES['as_commented']} takes 2n steps or more, twice as long as without faults",
            shown=False,
        ),
        _complete_proportion("tc"),
        _complete_proportion("reroute"),
        _complete_proportion("as_commented"),
        _complete_proportion("corrected", shown=False),
        _lost_ratio("tc", shown=False),
        _lost_ratio("reroute", shown=False),
        _SINK,
    ),
    kernel=lambda point: dispatch.REROUTING.kernel(*point.values()),
    grids=(
        Grid(
            "links",
            link_faults(range(3, 9))
            + [{"n": n, "links": 2**i, "f": 2 ** (i - 1)} for n in range(3, 9) for i in range(1, n)],
            10**5,
        ),
    ),
    check=check_point,
    enumeration=enumeration.gather,
    explain=_make_explain(("as_commented", "corrected", "reroute", "tc")),
    sample=sample_trial,
    figure=_rerouting_figure,
    notes=Notes((_slowest_note, ("slowdown_as_commented", "slowdown_at_least_2"))),
)
