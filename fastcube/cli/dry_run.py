"""The plan that ``fastcube run --dry-run`` prints: points, trials, time and file size, after a short measurement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from ..errors import count_text, range_text
from ..measure.tally import count_trials, missing_trials
from .terminal import print_message

if TYPE_CHECKING:
    from ..measure.goal import Goal
    from ..measure.study import Value
    from ..measure.tally import Tally
    from .checked_run import CheckedRun


def _targets_text(goal: Goal) -> str:
    """Return the targets of a goal as text, with the largest number of trials if there is one."""
    parts = [f"{name} {value}" for name in ("precision", "relative", "events") if (value := getattr(goal, name))]
    return " or ".join(parts) + (f", at most {goal.trials:,} trials a point" if goal.trials else "")


def _count_missing(tallies: Mapping[Any, Tally], point: Mapping[str, Value], goal: Goal) -> int:
    """Return the number of trials of a point that the file, which holds these tallies, lacks."""
    key = tuple(point.values())
    return count_trials(missing_trials(tallies[key].ranges if key in tallies else (), *goal.bounds(point)))


def show_plan(run: CheckedRun) -> None:
    """Print the plan of a run.  Raises the errors of the run for an output that is not writable or of another study."""
    from ..results.output import OutputFile
    from ..results.provenance import available_cpus
    from ..results.results import Results
    from ..running.planning import MEASURED, SECONDS, bytes_text, file_bytes, measured_seconds, seconds_text
    from ..running.work_units import COMPILE_TIME, check_set_ups, kernels_to_compile

    study, points, goal, output = run.study, run.points, run.goal, run.output
    workers, engine, grid = (run.options[name] for name in ("workers", "engine", "grid"))
    tallies = OutputFile(output).resume(Results(study, run.seed), run.options["force"]).tallies
    planned = Results(study, run.seed, dict.fromkeys((tuple(p.values()) for p in points), None))  # type: ignore[arg-type]
    click.echo(f"study   {study.name}: {study.title}")
    click.echo(f"points  {len(points)} ({'; '.join(planned.spans().values())})")
    if count := kernels_to_compile(study, points):
        print_message(f"fastcube: compiling {count_text(count, 'kernel')}, once for this machine: {COMPILE_TIME}")
    check_set_ups(study, ((point, "") for point in points))
    # at most the trials of the run, so that planning a short run does not take longer than the run
    missing = [] if goal.is_adaptive else [_count_missing(tallies, point, goal) for point in points]
    seconds = measured_seconds(study, points, most=missing)
    cores = (workers or available_cpus()) if engine == "threads" else 1
    where = f"{cores} workers" if cores > 1 else "one core"
    measured = f"measured now, by about {SECONDS} s of trials at {count_text(min(MEASURED, len(points)), 'point')}"
    if goal.is_adaptive:
        click.echo(f"trials  until {_targets_text(goal)}: how many is not known before")
        million = seconds_text(1e6 * sum(seconds) / cores)
        click.echo(f"time    {million} for every million trials of each point on {where} ({measured})")
    else:
        wanted = [stop - first for first, stop in map(goal.bounds, points)]
        per_point = range_text(f"{min(wanted):,}", f"{max(wanted):,}")
        click.echo(
            f"trials  {per_point} a point, {sum(wanted):,} in all, {sum(wanted) - sum(missing):,} of them in {output}"
        )
        total = sum(trials * each for trials, each in zip(missing, seconds, strict=True)) / cores
        click.echo(f"time    {seconds_text(total) if sum(missing) else 'none'} on {where} ({measured})")
    if engine != "threads":
        click.echo(f"        with {engine} about this time divided by the number of its cores, if they are similar")
    click.echo(f"file    {output}, at most {bytes_text(file_bytes(study, points, goal, study.grid(grid).name))}")
