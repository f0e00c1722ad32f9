"""A run of ``fastcube run`` with all checks that can be made before its first trial."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from ..errors import FastcubeError, ParameterError, count_text, parse_count
from . import options, sweep
from .terminal import exit_process, exit_unfinished, is_logging_on, print_message, repeated_command, table_width

if TYPE_CHECKING:
    from ..measure.goal import Goal
    from ..measure.study import Study, Value

#: If a time limit has ended a run, a message counts the points with fewer trials than this, because their intervals are wide.
_FEW_TRIALS = 30


def check_single_task(runs: list[CheckedRun], study: str) -> None:
    """Raise ParameterError in an array, or a step of several tasks, without shards: all tasks would compute the same trials."""
    from ..running.launchers import launched_tasks

    def shard_command(output: str, task: str, tasks: int | str) -> str:
        """Return the command of one task; of two options --output the later one counts."""
        own_output = "" if sweep.is_sweep(study) else f' -o {shlex.quote(output.removesuffix(".h5"))}-"${task}".h5'
        return f'{repeated_command()} --shard "${task}/{tasks}"{own_output}'

    unsharded = [run for run in runs if run.goal.shard is None]
    if "SLURM_ARRAY_TASK_ID" in os.environ and unsharded:
        command = shard_command(unsharded[0].output, "SLURM_ARRAY_TASK_ID", "N")
        raise ParameterError(f"inside a Slurm array each of N tasks needs its part: {command}")
    launched = launched_tasks()
    if launched is None or launched[0] < 2:
        return
    count, rank = launched
    launcher = f"{'srun' if rank.startswith('SLURM') else 'mpiexec'} -n {count}"
    for run in unsharded:
        if run.options["engine"] != "mpi":
            command = shlex.quote(shard_command(run.output, rank, count))
            raise ParameterError(
                f"{count} tasks of one step would count the same trials; give each its shard, {launcher} bash -c {command}, "
                f"or let one driver use all, mpiexec -n {count} python -P -m mpi4py.futures -m {repeated_command()} --engine mpi"
            )


def leave_compilation() -> None:
    """End the process now if a compilation of a faster kernel is still running, for which Python would wait.  All is saved."""
    from ..running.engines import has_running_threads

    if has_running_threads():
        exit_process(0)


@dataclass
class CheckedRun:
    """One run whose options have all been parsed."""

    study: Study
    goal: Goal
    points: list[dict[str, Value]]
    seed: int
    output: str  #: the results file
    options: dict[str, Any]  #: the parameters of the command, as click gives them

    def check(self) -> None:
        """Make the checks of a run that need no connection to an engine.  Raises ParameterError."""
        from ..running.engines import check_engine
        from ..running.progress import Progress
        from ..running.run_checks import check_run

        given = self.options
        check_run(self.study, self.points, self.goal, self.seed, given["max_seconds"], given["checkpoint"])
        Progress(given["progress"])
        check_engine(given["engine"], given["workers"])

    def connect(self) -> None:
        """Open the engine of the run and close it again.  Raises ParameterError, MissingDependencyError."""
        from ..running.engines import open_engine

        with open_engine(self.options["engine"], self.options["workers"]):
            pass

    def run(self) -> None:
        """Run and print the table of estimates.  If work remains, or after a signal, end the process.

        A run that --max-seconds stops prints its table and notes too.
        """
        from ..plot import draw_figure
        from ..results.table import as_table
        from ..running.driver import run_study
        from ..running.engines import has_running_threads
        from ..running.progress import Progress
        from ..running.signals import WORK_REMAINS

        given, output, progress = self.options, self.output, self.options["progress"]
        report = Progress("lines" if progress == "auto" and is_logging_on() else progress)
        try:
            results, code = run_study(
                self.study,
                self.points,
                self.goal,
                grid=given["grid"],
                seed=self.seed,
                output=output,
                engine_name=given["engine"],
                workers=given["workers"],
                max_seconds=given["max_seconds"],
                progress=report,
                force=given["force"],
                checkpoint=given["checkpoint"],
            )
        except FastcubeError as error:
            if not has_running_threads():
                raise
            print_message(f"fastcube: {error}")
            exit_process(2)
        if code == WORK_REMAINS and given["max_seconds"] is not None and results.trials:
            click.echo(as_table(results, table_width()))
            if points := sum(tally.trials < _FEW_TRIALS for _, tally in results):
                print_message(f"fewer than {_FEW_TRIALS} trials at {points} of {count_text(len(results), 'point')}")
        if code:
            command = "the same mpiexec command" if given["engine"] == "mpi" else None
            saved = (
                f"checkpoint written to {output}" if results.trials else f"no trial is done, {output} is not written"
            )
            exit_unfinished(code, saved, command)
        click.echo(as_table(results, table_width()))
        tallies = [(point, results.tallies[tuple(point.values())]) for point in self.points]
        if warning := self.goal.describe_few_events(self.study, tallies):
            print_message(warning)
        print_message(f"results in {output}")
        if given["plot"] is not None:
            draw_figure(results, given["plot"])
            print_message(f"figure in {given['plot']}")
        for line in self.goal.describe_reached(self.study, tallies):
            print_message(line)


def prepare_run(options_of_run: dict[str, Any]) -> CheckedRun:
    """Return a run from the command's parameters.  Raises ParameterError."""
    from ..results.memory import check_address_space
    from ..results.provenance import available_cpus

    given = dict(options_of_run)
    # first, because the libraries that are imported next abort the process if they lack address space
    check_address_space((given["workers"] or available_cpus()) if given["engine"] == "threads" else 1)
    from ..measure import registry
    from ..measure.goal import make_goal
    from ..measure.grid import build_points
    from ..plot import check_target
    from ..results.environment import read_count

    study = registry.study(given["study"])
    targets = {name: given[name] for name in ("trials", "precision", "relative", "events", "target", "shard")}
    goal = make_goal(study, study.grid(given["grid"]), **targets)
    name = options.default_name(study, given["grid"])
    if given["force"] and read_count("SLURM_RESTART_COUNT", 0):
        raise ParameterError(
            "force must be left out of a job script: Slurm has started this job again, and its work stays"
        )
    points = build_points(study, options.parse_axes(given["axes"]), given["grid"])
    seed = parse_count("seed", given["seed"])
    if given["plot"] is not None:
        check_target(given["plot"])
    return CheckedRun(study, goal, points, seed, given["output"] or f"{name}.h5", given)
