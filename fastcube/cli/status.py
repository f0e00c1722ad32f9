"""The command ``fastcube status``."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..errors import ParameterError, check_range, plain_text
from ..results.provenance import PROGRAMS, record_entry, remove_force
from . import completion, options

if TYPE_CHECKING:
    from ..measure.estimate import Estimate
    from ..measure.goal import Goal
    from ..measure.study import Measure, Value
    from ..measure.tally import Tally
    from ..results.missing_shards import IncompleteShards
    from ..results.reading import FileContents
    from ..results.results import Results


@click.command("status", epilog="\b\nExample:\n  fastcube status part-*.h5")
@click.argument("files", nargs=-1, required=True, shell_complete=completion.complete_files)
@options.targets
@click.option("--trials", hidden=True)  # accepted as in run, without effect
@click.option("--shard", hidden=True)
@click.option(
    "--unchecked", is_flag=True, help="Skip the checksum test, for a file that another program has rewritten."
)
@click.option(
    "--tasks",
    type=int,
    metavar="K",
    help="Number of tasks that share the shards, as in slurm; by default one per shard.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(files: tuple[str, ...], as_json: bool, unchecked: bool, tasks: int | None, **goal_options: Any) -> int:
    """Show the trials done, wanted and missing and the interval reached at each point, and the tasks to resubmit.

    With a target (--precision, --relative, --events) also show the number of trials that would reach it.

    Exit status: 0 if all is complete, 1 if trials are missing or a run's target is not reached, 2 after an error.
    """
    from ..measure.goal import make_goal
    from ..results.missing_shards import incomplete_shards
    from ..results.parallel_sum import sum_files
    from ..results.provenance import available_cpus

    keep = _keep_single_file if len(files) == 1 else _keep_shard
    with options.suggest_unchecked():
        total = sum_files(files, keep, available_cpus(), unchecked)
    whole, parts = total.total(), total.kept
    goals = {goal.to_json(): goal for goal in (part.goal.drop_shard() for part in parts)}.values()
    target = make_goal(whole.study, None, **goal_options)
    statuses = [_read_status(whole, goals, target, point, tally) for point, tally in whole]
    shards = incomplete_shards(parts, whole)
    if tasks is not None:
        if shards is None:
            raise ParameterError("tasks is for shards of a job array, but the files hold none")
        check_range("tasks", tasks, 1, shards.total)
    if as_json:
        click.echo(json.dumps(_describe_as_json(whole, target, statuses, shards, tasks)))
    else:
        _print_table(whole, target, statuses)
        click.echo(_format_advice(parts, statuses, shards, tasks))
    return 0 if _is_complete(statuses) else 1


class PointStatus(NamedTuple):
    """What is done and missing at one point."""

    point: dict[str, Value]
    done: int  #: trials of all files together
    wanted: int | None  #: trials that they should have; None if a target decides
    missing: int | None  #: of the wanted trials; None if a target decides
    is_complete: bool
    estimate: Estimate  #: of the target's statistic
    trials_for_target: int | None  #: trials that would reach the target given here, if known


def _find_wanted_trials(goals: Collection[Goal], point: dict[str, Value]) -> int | None:
    """Return the trials of a point that all files together should have, or None if a target decides."""
    if any(goal.is_adaptive for goal in goals):
        return None
    return max(0 if goal.trials is None else goal.trials_at(point) for goal in goals)


def _is_reached(goal: Goal, study: Measure, point: dict[str, Value], tally: Tally) -> bool:
    """Whether a run with this goal would count no further trials of a point with this tally."""
    from ..measure.tally import missing_trials

    if not goal.is_adaptive:
        return not goal.trials or not missing_trials(tally.ranges, 0, goal.trials_at(point))
    if goal.trials and not missing_trials(tally.ranges, 0, goal.trials):
        return True
    return tally.trials > 0 and goal.is_reached(study, point, tally)


def _find_resume_command(part: Results) -> str | None:
    """Return the command line of a file's last run, or None if its record does not show that the command continues the run."""
    last = part.history[-1] if part.history else None
    command = record_entry(last, "parameters", "command")
    if not isinstance(command, list) or not command or not all(isinstance(word, str) for word in command):
        return None
    if record_entry(last, "resources", "engine") in (None, "mpi") or "run" not in command[1:]:
        return None
    if Path(command[0]).name not in PROGRAMS:
        return None
    return plain_text(shlex.join(["fastcube", *remove_force(command[1:])]), 10_000)


def _predict_trials_for(goal: Goal, results: Results, point: dict[str, Value], tally: Tally) -> int | None:
    """Return the trials that would reach one of the goal's targets at the present variance, or None if unknown."""
    statistic = results.study.target(goal.target)
    if not tally.trials or not statistic.defined(point):
        return None
    estimate = statistic.estimate(tally.counts, tally.trials, point)
    sufficient_trials = []
    for half_width in (goal.precision, None if goal.relative is None else goal.relative * estimate.value):
        if half_width and 0 < estimate.half_width < math.inf:
            sufficient_trials.append(tally.trials * (estimate.half_width / half_width) ** 2)
    events = statistic.count_events(tally.counts, tally.trials)
    if goal.events is not None and events:
        sufficient_trials.append(tally.trials * goal.events / events)
    return math.ceil(min(sufficient_trials)) if sufficient_trials else None


def _keep_single_file(name: str | Path, part: FileContents) -> Results:
    """Return the data that ``status`` keeps of a single file."""
    return part.about


def _keep_shard(name: str | Path, part: FileContents) -> Results:
    """Return the data kept of one file of many: a shard without its history; 10,000 histories would take 100 MB."""
    return replace(part.about, history=[]) if part.about.goal.shard else part.about


def _read_status(
    whole: Results, goals: Collection[Goal], target: Goal, point: dict[str, Value], tally: Tally
) -> PointStatus:
    """Return the status of a point for the ``goals`` of the files, and for the ``target`` given on the command line."""
    from ..measure.tally import count_trials, missing_trials

    wanted = _find_wanted_trials(goals, point)
    missing = None if wanted is None else count_trials(missing_trials(tally.ranges, 0, wanted))
    return PointStatus(
        point,
        tally.trials,
        wanted,
        missing,
        all(_is_reached(goal, whole.study, point, tally) for goal in goals) if wanted is None else missing == 0,
        whole.read(whole.study.target(target.target), point)[0],
        _predict_trials_for(target, whole, point, tally) if target.is_adaptive else None,
    )


def _is_complete(statuses: Sequence[PointStatus]) -> bool:
    """Whether no trials are missing, and every target is reached, at all points."""
    return all(status.is_complete for status in statuses)


def _describe_as_json(
    whole: Results,
    target: Goal,
    statuses: Sequence[PointStatus],
    shards: IncompleteShards | None,
    tasks: int | None,
) -> dict[str, Any]:
    """Return the data of ``--json``."""
    from ..results.missing_shards import array_list, tasks_of_shards
    from ..results.table import json_safe

    statistic = whole.study.target(target.target).name
    rows = [
        {
            "point": status.point,
            "done": status.done,
            "wanted": status.wanted,
            "missing": status.missing,
            "statistic": statistic,
            "estimate": json_safe(status.estimate.value),
            "low": json_safe(status.estimate.low),
            "high": json_safe(status.estimate.high),
            "trials_for_target": status.trials_for_target,
        }
        for status in statuses
    ]
    described: dict[str, Any] = {
        "study": whole.study.name,
        "seed": whole.seed,
        "complete": _is_complete(statuses),
        "points": rows,
        "shards": None,
    }
    if shards is not None:
        described["shards"] = {
            "count": shards.total,
            "resubmit": shards.again,
            "array": array_list(tasks_of_shards(shards.again, tasks or shards.total)),
        }
    return described


def _print_table(whole: Results, target: Goal, statuses: Sequence[PointStatus]) -> None:
    """Print one row per point, with as many columns as fit into the terminal's width."""
    from ..results.rounding import estimate_texts
    from ..results.table import fit_columns
    from .terminal import table_width

    names = [*(axis.name for axis in whole.study.axes), "done", "wanted", "missing"]
    lines = [[*names, whole.study.target(target.target).name, *(["trials for target"] if target.is_adaptive else [])]]
    for status, text in zip(statuses, estimate_texts([status.estimate for status in statuses]), strict=True):
        cells = [*status.point.values(), status.done, status.wanted, status.missing, text]
        cells += [status.trials_for_target] if target.is_adaptive else []
        lines.append(["-" if c is None else f"{c:,}" if isinstance(c, int) else str(c) for c in cells])
    fitting, left_out = fit_columns(list(zip(*lines, strict=True)), len(names), table_width())
    for cells_of_line in zip(*fitting, strict=True):
        click.echo("  ".join(cells_of_line))
    if left_out:
        click.echo(f"left out for width, in --json: {', '.join(left_out)}")


def _format_advice(
    parts: Sequence[Results], statuses: Sequence[PointStatus], shards: IncompleteShards | None, tasks: int | None
) -> str:
    """Return the line below the table: whether all is complete, else which tasks or which command to run again."""
    from ..results.missing_shards import resubmission_text

    if shards is not None:
        if shards.again:
            return resubmission_text(shards.again, shards.total, tasks)
        return f"all {shards.total} shards are complete"
    if any(status.wanted is None for status in statuses):
        reached = "reached" if _is_complete(statuses) else "not reached at every point"
        return f"trials wanted depend on the target of the run, which is {reached}"
    if _is_complete(statuses):
        return "complete"
    resumed = _find_resume_command(parts[0]) if len(parts) == 1 else None
    return f"not complete: {f'go on with: {resumed}' if resumed else 'run the same command again, without force'}"
