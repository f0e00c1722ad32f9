"""The command ``fastcube run``."""

from __future__ import annotations

from typing import Any

import click

from . import completion, options, sweep
from .checked_run import CheckedRun, check_single_task, leave_compilation, prepare_run


@click.command(
    "run", epilog="\b\nExample:\n  fastcube run unsafe-fraction --set n=6:10 --set f=1:4 --trials 1e6 -o unsafe.h5"
)
@click.argument("study", shell_complete=completion.complete_studies)
@click.option(
    "-o",
    "--output",
    metavar="FILE.h5",
    callback=options.check_output,
    shell_complete=completion.complete_files,
    help="Results file; by default STUDY.h5, or STUDY-NAME.h5 for --grid NAME.",
)
@options.points
@options.goal
@click.option("--seed", default="0", metavar="S", show_default=True, help="Seed, 0 .. 2^63 - 1.")
@options.workers
@click.option(
    "--engine",
    default="threads",
    metavar="E",
    show_default=True,
    shell_complete=completion.complete_values("threads", "mpi", "dask:"),
    help="Engine: threads, mpi, dask:tcp://HOST:PORT or dask:FILE.json.",
)
@options.max_seconds
@click.option(
    "--checkpoint", type=float, metavar="S", help="Seconds between checkpoints; by default 15, more in long runs."
)
@options.progress
@click.option(
    "--plot",
    metavar="FILE",
    callback=options.check_output,
    shell_complete=completion.complete_files,
    help="File for the figure, .png, .svg or .pdf; by default none.",
)
@click.option("--force", is_flag=True, help="Start again, and replace the results file.")
@click.option("--dry-run", is_flag=True, help="Print only the plan: points, trials, time and file size.")
@options.verbose
@click.pass_context
def command(ctx: click.Context, /, study: str, dry_run: bool, **_: Any) -> int:
    """Run a study: its name (see `fastcube list`), a Python file that contains one, or a TOML file of several runs.

    Prints the table of estimates with 95% intervals.  A point stops at the first target reached: trials, precision, relative
    precision or events.  Run the same command again to resume.  More trials, other points or a tighter target extend the output.
    """
    from .dry_run import show_plan

    runs = prepare_sweep(ctx, study) if sweep.is_sweep(study) else [prepare_run(ctx.params)]
    check_single_task(runs, study)
    for i, run in enumerate(runs if len(runs) > 1 else [], 1):  # a run by itself connects at once
        with sweep.name_run(study, i):
            run.connect()
    for i, run in enumerate(runs):
        if i:
            click.echo()
        if dry_run:
            run.check()
            run.connect()
            show_plan(run)
        else:
            run.run()
    leave_compilation()
    return 0


def prepare_sweep(ctx: click.Context, path: str) -> list[CheckedRun]:
    """Return the runs of a sweep file, all checked, including their outputs.  Raises ParameterError, ResultFileError."""
    from ..results.output import OutputFile
    from ..results.results import Results

    runs = []
    for i, given in enumerate(sweep.parse_runs(path, command, ctx), 1):
        with sweep.name_run(path, i):
            runs.append(prepare_run(given))
            runs[-1].check()
    if (shard := ctx.params.get("shard")) is not None:
        for run in runs:
            run.output = sweep.shard_name(run.output, shard)
    sweep.check_files([run.output for run in runs], [run.options["plot"] for run in runs if run.options["plot"]])
    for run in runs:
        OutputFile(run.output).resume(Results(run.study, run.seed), run.options["force"])
    return runs
