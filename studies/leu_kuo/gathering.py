"""``gather`` and ``rerouting``: delivery, loss and cost of FTTC over FIND_TREE's tree (Leu & Kuo, section 3.2; R8-R18).

Both use the same kernel: three variants of FTTC, the traditional detour, and no fault tolerance, on the same fault sets.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fastcube.algorithms.gathering import Gathering, gather
from fastcube.algorithms.trees import CommunicationTree
from fastcube.kernels.gathering import dispatch, layout
from fastcube.kernels.gathering.layout import MOST_DIMENSIONS, RUNS, common_denominator
from fastcube.measure.asymptotic import NormalMean, Ratio
from fastcube.measure.statistics import Proportion, return_one, return_zero
from fastcube.measure.study import Explanation, Grid, Notes, Point, Study, join_limited, point_text
from fastcube.results.results import Results

from . import enumeration
from .explanation import explain_tree, sample_trial
from .find_tree import AMONG_SINK, SINK_EXISTS
from .gathering_figures import plot_delivery, plot_rerouting
from .points import axes_up_to, check_point, link_points, node_points

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
        """Return the tree of a trial, and what each algorithm does with its data, as text and as data."""
        cube = sample_trial(point, key, trial).network
        tree, lines, data = explain_tree(cube)
        data["runs"] = None
        if tree is not None:
            outcomes = {run: gather(cube, tree, *ALGORITHMS[run]) for run in runs}
            lines += _describe_failing(tree, next(iter(outcomes.values())))
            for run, outcome in outcomes.items():
                lines += _describe_run(run, outcome)
            data["runs"] = {run: _collect_data(outcome) for run, outcome in outcomes.items()}
        return Explanation("\n".join(lines), data)

    return explain_trial


def _describe_failing(tree: CommunicationTree, outcome: Gathering) -> list[str]:
    """Return lines on the data and the failing nodes, which are the same for all algorithms."""
    label = tree.cube.label
    failing = join_limited(f"{label(v)} at stage {i}" for i, v in outcome.failing)
    return [
        f"  {outcome.expected} nodes hold data, {outcome.unreachable_data} of them cut off from the sink",
        f"  {len(outcome.failing)} failing nodes: {failing}",
    ]


def _describe_run(run: str, outcome: Gathering) -> list[str]:
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
        lines.append(f"    ... and {len(outcome.plans) - _MOST_PLANS} more")
    causes = [f"{cause} {amount}" for cause, amount in outcome.lost_by.items() if amount]
    if causes:
        lines.append(f"    lost by cause: {', '.join(causes)}")
    if outcome.blocked:
        lines.append(f"    {len(outcome.blocked)} nodes wait for ever: {join_limited(map(label, outcome.blocked))}")
    return lines


def _collect_data(outcome: Gathering) -> dict[str, Any]:
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


def _make_proportion(name: str, event: str, shown: bool = True) -> Proportion:
    """Return the probability of an event among trials with a sink, as a statistic."""
    return Proportion(
        name=name,
        description=f"probability that {event}{AMONG_SINK}",
        condition=SINK_EXISTS.name,
        shown=shown,
    )


def _make_complete(run: str, shown: bool = True) -> Proportion:
    """Return the probability that a run loses no data, as a statistic."""
    return _make_proportion(f"complete_{run}", f"{_RUN_TITLES[run]} brings all data to the sink", shown)


def _make_deadlocked(variant: str, shown: bool = True) -> Proportion:
    """Return the probability that a variant of FTTC deadlocks, as a statistic."""
    return _make_proportion(f"deadlocked_{variant}", f"{_RUN_TITLES[variant]} makes a node wait for ever", shown)


def _make_data_ratio(
    name: str,
    description: str,
    nonzero: str,
    bound: Callable[[Point], float],
    scale: Callable[[Point], float | Fraction] = return_one,
    shown: bool = False,
) -> Ratio:
    """Return a fraction of all data as a statistic; ``bound`` is the most counter units per node, ``scale`` the size of one."""
    return Ratio(
        name=name,
        description="fraction of all data of all trials together, one unit per nonfaulty, non-isolated node, that "
        f"{description}{AMONG_SINK}",
        numerator=name,
        denominator="expected",
        squares=(f"{name}_squared", f"{name}_expected", "expected_squared"),
        nonzero=nonzero,
        bound=bound,
        scale=scale,
        condition=SINK_EXISTS.name,
        shown=shown,
    )


def _make_lost(run: str, shown: bool = True) -> Ratio:
    """Return the fraction of the data that a run loses, as a statistic."""
    return _make_data_ratio(
        f"lost_{run}", f"{_RUN_TITLES[run]} loses", f"lossy_{run}", _units_per_node, _data_unit, shown
    )


def _stage_count(point: Point) -> float:
    return float(point["n"])


def _make_slowdown(name: str, steps: str, most: int | None = None, shown: bool = True) -> NormalMean:
    """Return the mean of steps / n as a statistic: each of the n stages takes 1 step, or up to ``most`` if it fails."""
    return NormalMean(
        name=f"slowdown_{name}",
        description=f"mean of {steps}, divided by n{AMONG_SINK}",
        total=f"steps_{name}",
        squares=f"steps_{name}_squared",
        unit=_stage_count,
        bound=return_zero if most is None else lambda _: float(most),
        base=1,
        condition=SINK_EXISTS.name,
        shown=shown,
    )


# ---------------------------------------------------------------- the studies


def _slowest_note(results: Results) -> list[str]:
    """Return a note on the run of ``as_commented`` that took most steps for its n; none if no trial has a sink."""
    maxima = [(tally.maxima["slowest"], point) for point, tally in results if tally.trials]
    reached = [(maximum, point) for maximum, point in maxima if maximum[1] >= 0]
    if not reached:
        return []
    (steps, trial), point = max(reached, key=lambda pair: pair[0][0] / int(pair[1]["n"]))
    return [f"slowest run of FTTC as commented for its n: {steps} steps, in trial {trial} at {point_text(point)}"]


GATHER = Study(
    name="gather",
    title="Data that FTTC delivers over FIND_TREE's tree",
    source="Leu & Kuo, section 3.2, Figure 13",
    revision=1,
    axes=axes_up_to(MOST_DIMENSIONS),
    tally=layout.GATHER,
    statistics=(
        _make_complete("as_commented"),
        _make_complete("as_printed"),
        _make_complete("corrected"),
        _make_lost("as_commented"),
        _make_lost("as_printed"),
        _make_lost("corrected", shown=False),
        _make_deadlocked("as_printed"),
        _make_deadlocked("as_commented", shown=False),
        _make_deadlocked("corrected", shown=False),
        _make_data_ratio(
            "unreachable_data", "no nonfaulty path joins to the sink", "with_unreachable_data", return_one
        ),
        _make_proportion(
            "avoidable_loss",
            f"{_RUN_TITLES['as_commented']} loses more data than is cut off from the sink",
            shown=False,
        ),
        _make_proportion(
            "blocked_sender_without_helper",
            "some nonfaulty, non-isolated node without a usable link towards the sink has no still sending neighbour for "
            "its data",
        ),
        replace(SINK_EXISTS, shown=False),
    ),
    kernel=lambda point: dispatch.GATHER.kernel(*point.values()),
    grids=(Grid("links", link_points(range(3, 9)), 10**5), Grid("nodes", node_points(range(3, 9)), 10**5)),
    check=check_point,
    enumeration=enumeration.gather,
    explain=_make_explain(("as_printed", "as_commented", "corrected")),
    sample=sample_trial,
    figure=plot_delivery,
)

REROUTING = Study(
    name="rerouting",
    title="FTTC compared with the traditional detour and with TC, which tolerates no fault",
    source="Leu & Kuo, section 3.2, Theorem 5",
    revision=1,
    axes=axes_up_to(MOST_DIMENSIONS),
    tally=layout.REROUTING,
    statistics=(
        _make_slowdown("as_commented", f"the number of steps of {_RUN_TITLES['as_commented']}"),
        _make_slowdown("corrected", f"the number of steps of {_RUN_TITLES['corrected']}"),
        _make_slowdown("paper", "the n + k steps that the paper counts for FTTC if k stages have a blocked sender", 2),
        _make_slowdown(
            "reroute",
            "the n + 3k steps that the paper counts for REROUTE if k stages have a blocked sender",
            4,
            shown=False,
        ),
        _make_slowdown(
            "reroute_hops", "the n + 2k links in a row that REROUTE crosses if k stages have a blocked sender", 3
        ),
        _make_proportion(
            "slowdown_at_least_2",
            f"{_RUN_TITLES['as_commented']} takes 2n steps or more, twice as long as without faults",
            shown=False,
        ),
        _make_complete("tc"),
        _make_complete("reroute"),
        _make_complete("as_commented"),
        _make_complete("corrected", shown=False),
        _make_lost("tc", shown=False),
        _make_lost("reroute", shown=False),
        replace(SINK_EXISTS, shown=False),
    ),
    kernel=lambda point: dispatch.REROUTING.kernel(*point.values()),
    grids=(
        Grid(
            "links",
            link_points(range(3, 9))
            + [{"n": n, "links": 2**i, "f": 2 ** (i - 1)} for n in range(3, 9) for i in range(1, n)],
            10**5,
        ),
    ),
    check=check_point,
    enumeration=enumeration.gather,
    explain=_make_explain(("as_commented", "corrected", "reroute", "tc")),
    sample=sample_trial,
    figure=plot_rerouting,
    notes=Notes((_slowest_note, ("slowdown_as_commented", "slowdown_at_least_2"))),
)
