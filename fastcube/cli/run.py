"""``fastcube run``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from ..errors import FastcubeError, ParameterError
from . import completing, leave, leave_unfinished, logging_is_on, options, say, width

if TYPE_CHECKING:
    from ..engine.goal import Goal
    from ..engine.study import Study


def _check_slurm_array(study: Study, name: str, goal: Goal) -> None:
    """Every task of an array would compute the same trials; say what each should be given instead."""
    if "SLURM_ARRAY_TASK_ID" not in os.environ or goal.shard is not None:
        return
    part = f'--shard "$SLURM_ARRAY_TASK_ID/N" -o {name}-"$SLURM_ARRAY_TASK_ID".h5'
    raise ParameterError(f"inside a Slurm array each of N tasks needs its part: fastcube run {study.name} {part}")


@click.command("run")
@click.argument("study", shell_complete=completing.studies)
@click.option(
    "-o", "--output", metavar="FILE.h5", shell_complete=completing.files,
    help="Results file; by default STUDY.h5, STUDY-NAME.h5 for --grid NAME.",
)  # fmt: skip
@options.points
@options.goal
@click.option("--seed", default="0", metavar="S", show_default=True, help="0 .. 2^63 - 1.")
@click.option("--workers", type=int, metavar="N", help="Items at once; by default what affinity and Slurm allow.")
@click.option(
    "--engine",
    default="threads",
    metavar="E",
    show_default=True,
    shell_complete=completing.one_of("threads", "mpi", "dask:"),
    help="threads, mpi, dask:tcp://HOST:PORT or dask:FILE.json.",
)
@click.option("--max-seconds", type=float, metavar="S", help="Stop after this time with exit status 75.")
@click.option(
    "--checkpoint", type=float, metavar="S", help="Seconds between checkpoints; by default 15, more in long runs."
)
@options.progress
@click.option(
    "--plot", metavar="FILE", shell_complete=completing.files, help="Also draw the figure (.png, .svg, .pdf)."
)
@click.option("--force", is_flag=True, help="Start afresh and replace what the output holds.")
@click.option("--dry-run", is_flag=True, help="Say points, trials, time and file size, and run nothing.")
@options.verbose
def command(study: str, output: str | None, axes: tuple[str, ...], grid: str | None, seed: str, workers: int | None, engine: str,
            max_seconds: float | None, checkpoint: float | None, progress: str, plot: str | None, force: bool,
            dry_run: bool, **goal_options: Any) -> int:  # fmt: skip
    """Run a study: its name (see `fastcube list`) or a Python file that holds one.

    Prints the table of estimates with 95% intervals.  Run the same command again to resume; more trials, other
    points or a tighter target extend what the output holds.
    """
    from ..engine import registry
    from ..engine.driver import check_run, run_study
    from ..engine.engines import engine as opened
    from ..engine.engines import left_behind
    from ..engine.goal import goal_of
    from ..engine.grid import build, parse_count
    from ..engine.progress import Progress
    from ..plot import check_target, draw
    from ..table import as_table
    from .dry import show_plan

    chosen = registry.find(study)
    goal = goal_of(chosen, chosen.grid(grid), **goal_options)
    name = options.default_name(chosen, grid)
    _check_slurm_array(chosen, name, goal)
    points = build(chosen, options.parse_axes(axes), grid)
    number = parse_count("seed", seed)
    if plot is not None:
        check_target(plot)
    output = output or f"{name}.h5"
    report = Progress("lines" if progress == "auto" and logging_is_on() else progress)
    if dry_run:
        check_run(chosen, points, goal, number, max_seconds, checkpoint)
        with opened(engine, workers):
            pass
        show_plan(
            chosen, points, goal, grid=grid, seed=number, output=output, engine=engine, workers=workers, force=force
        )
        return 0
    try:
        results, code = run_study(chosen, points, goal, grid=grid, seed=number, output=output, engine_name=engine,
                                  workers=workers, max_seconds=max_seconds, progress=report, force=force,
                                  checkpoint=checkpoint)  # fmt: skip
    except FastcubeError as error:
        if not left_behind():
            raise
        say(f"fastcube: {error}")
        leave(2)
    if code:
        again = "the same mpiexec command" if engine == "mpi" else None
        leave_unfinished(code, f"checkpoint written to {output}", again)
    click.echo(as_table(results, width()))
    say(f"results in {output}")
    if plot is not None:
        draw(results, plot)
        say(f"figure in {plot}")
    return 0
