"""The command ``fastcube status``."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import ParameterError, check_range, plain_text
from ..results.provenance import PROGRAMS, record_entry, remove_force
from . import completion, options

if TYPE_CHECKING:
    from ..measure.goal import Goal
    from ..measure.study import Measure, Value
    from ..measure.tally import Tally
    from ..results.reading import FileContents
    from ..results.results import Results


def _trials_wanted(goals: Collection[Goal], point: dict[str, Value]) -> int | None:
    """Return the trials of a point that all files together should have, or None if a target decides."""
    if any(goal.is_adaptive for goal in goals):
        return None
    return max(0 if goal.trials is None else goal.trials_at(point) for goal in goals)


def _is_reached(goal: Goal, study: Measure, point: dict[str, Value], tally: Tally) -> bool:
    """Whether a run with this goal would count no further trials of a point."""
    from ..measure.tally import missing_trials

    if not goal.is_adaptive:
        return not goal.trials or not missing_trials(tally.ranges, 0, goal.trials_at(point))
    if goal.trials and not missing_trials(tally.ranges, 0, goal.trials):
        return True
    return tally.trials > 0 and goal.is_reached(study, point, tally)


def _resume_command(part: Results) -> str | None:
    """Return the command line of the last run, if it is known that it continues the run, else None."""
    last = part.history[-1] if part.history else None
    command = record_entry(last, "parameters", "command")
    if not isinstance(command, list) or not command or not all(isinstance(word, str) for word in command):
        return None
    if record_entry(last, "resources", "engine") in (None, "mpi") or "run" not in command[1:]:
        return None
    if Path(command[0]).name not in PROGRAMS:
        return None
    return plain_text(shlex.join(["fastcube", *remove_force(command[1:])]), 10_000)


def _trials_to_target(goal: Goal, results: Results, point: dict[str, Value], tally: Tally) -> int | None:
    """Return the trials that would reach one of the goal's targets at the present variance, or None if unknown."""
    statistic = results.study.target(goal.target)
    if not tally.trials or not statistic.defined(point):
        return None
    estimate = statistic.estimate(tally.counts, tally.trials, point)
    numbers = []
    for half_width in (goal.precision, None if goal.relative is None else goal.relative * estimate.value):
        if half_width and 0 < estimate.half_width < math.inf:
            numbers.append(tally.trials * (estimate.half_width / half_width) ** 2)
    events = statistic.count_events(tally.counts, tally.trials)
    if goal.events is not None and events:
        numbers.append(tally.trials * goal.events / events)
    return math.ceil(min(numbers)) if numbers else None


def _keep_single_file(name: str | Path, part: FileContents) -> Results:
    """Return the data that ``status`` keeps of a single file."""
    return part.about


def _keep_shard(name: str | Path, part: FileContents) -> Results:
    """Return the data kept of one file of many: a shard without its history; 10,000 histories would take 100 MB."""
    return replace(part.about, history=[]) if part.about.goal.shard else part.about


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
    from ..measure.tally import count_trials, missing_trials
    from ..results.missing_shards import array_list, incomplete_shards, resubmission_text, tasks_of_shards
    from ..results.parallel_sum import sum_files
    from ..results.provenance import available_cpus
    from ..results.rounding import estimate_texts
    from ..results.table import fit_columns, json_safe
    from . import table_width

    keep = _keep_single_file if len(files) == 1 else _keep_shard
    with options.suggest_unchecked():
        total = sum_files(files, keep, available_cpus(), unchecked)
    whole, parts = total.total(), total.kept
    goals = {goal.to_json(): goal for goal in (part.goal.drop_shard() for part in parts)}.values()
    study = whole.study
    target = make_goal(study, None, **goal_options)
    name = study.target(target.target).name
    rows, estimates = [], []
    for point, tally in whole:
        wanted = _trials_wanted(goals, point)
        missing = None if wanted is None else count_trials(missing_trials(tally.ranges, 0, wanted))
        estimate = whole.estimates(point)[name]
        estimates.append(estimate)
        rows.append(
            {
                "point": point,
                "done": tally.trials,
                "wanted": wanted,
                "missing": missing,
                "statistic": name,
                "estimate": json_safe(estimate.value),
                "low": json_safe(estimate.low),
                "high": json_safe(estimate.high),
                "trials_for_target": _trials_to_target(target, whole, point, tally) if target.is_adaptive else None,
            }
        )
    shards = incomplete_shards(parts, whole)
    if tasks is not None:
        if shards is None:
            raise ParameterError("tasks is for shards of a job array, but the files hold none")
        check_range("tasks", tasks, 1, shards.total)
    complete = all(
        all(_is_reached(goal, study, point, tally) for goal in goals) if row["wanted"] is None else row["missing"] == 0
        for row, (point, tally) in zip(rows, whole, strict=True)
    )
    code = 0 if complete else 1
    if as_json:
        about: dict[str, Any] = {
            "study": study.name,
            "seed": whole.seed,
            "complete": complete,
            "points": rows,
            "shards": None,
        }
        if shards is not None:
            about["shards"] = {
                "count": shards.total,
                "resubmit": shards.again,
                "array": array_list(tasks_of_shards(shards.again, tasks or shards.total)),
            }
        click.echo(json.dumps(about))
        return code
    names = [*(a.name for a in study.axes), "done", "wanted", "missing"]
    lines = [[*names, name, *(["trials for target"] if target.is_adaptive else [])]]
    for row, text in zip(rows, estimate_texts(estimates), strict=True):
        cells = [*row["point"].values(), row["done"], row["wanted"], row["missing"], text]
        cells += [row["trials_for_target"]] if target.is_adaptive else []
        lines.append(["-" if c is None else f"{c:,}" if isinstance(c, int) else str(c) for c in cells])
    columns = list(zip(*lines, strict=True))
    fitting, left_out = fit_columns(columns, len(names), table_width())
    for cells_of_line in zip(*fitting, strict=True):
        click.echo("  ".join(cells_of_line))
    if left_out:
        click.echo(f"left out for width, in --json: {', '.join(left_out)}")
    if shards is not None:
        advice = resubmission_text(shards.again, shards.total, tasks)
        click.echo(advice if shards.again else f"all {shards.total} shards are complete")
    elif any(row["wanted"] is None for row in rows):
        reached = "reached" if complete else "not reached at every point"
        click.echo(f"trials wanted depend on the target of the run, which is {reached}")
    else:
        resumed = _resume_command(parts[0]) if len(parts) == 1 else None
        advice = f"go on with: {resumed}" if resumed else "run the same command again, without force"
        click.echo("complete" if complete else f"not complete: {advice}")
    return code
