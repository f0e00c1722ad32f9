"""``fastcube slurm``."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from ..errors import ParameterError, check_range, parse_count, short_repr
from . import completion, options, sweep

_TIME = re.compile(r"\d+(:\d{1,2}){0,2}|\d+-\d{1,2}(:\d{1,2}){0,2}")

_SCRIPT = """\
#!/bin/bash
# {study}: {trials} of each point in {array} shards, one task each.  Submit with: sbatch THIS_FILE
#SBATCH --job-name={name}
#SBATCH --array=0-{last}{throttle}
#SBATCH --time={time}
#SBATCH --cpus-per-task={cpus}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output={name}-%A_%a.log
#SBATCH --signal=B:USR1@{margin}
{directives}
# The partition is fixed here, so resubmitting two of {array} tasks (sbatch --array=3,17 THIS_FILE) keeps it.
export OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1
export FASTCUBE_CACHE_DIR="${{FASTCUBE_CACHE_DIR:-${{TMPDIR:-/tmp}}/fastcube-$(id -u)}}"  # local: each node compiles once
# At preemption and scancel Slurm sends TERM to the driver too: this shell must only outlive it, not end before it.
trap : TERM
# USR1 comes to this shell alone, {margin} s before the time limit; the driver then writes its checkpoint and exits 75.
trap 'kill -USR1 $driver 2> /dev/null' USR1
{fastcube} run {study} --shard "$SLURM_ARRAY_TASK_ID/{array}"{run} --progress lines &
driver=$!
wait $driver; code=$?
while kill -0 $driver 2> /dev/null; do wait $driver; code=$?; done  # a trapped signal ends wait early
wait $driver 2> /dev/null; last=$?
[ $last -ne 127 ] && code=$last
# 75 means in order, work remains; 138 that USR1 came before the driver listened.  Nothing else is requeued: after scancel
# that would raise the dead.
case $code in 75 | 138) scontrol requeue "$SLURM_ARRAY_JOB_ID"_"$SLURM_ARRAY_TASK_ID" ;; esac
exit $code

# When all tasks are done:
{after}"""

_MERGE_SCRIPT = """\
#   {fastcube} status {output}-*.h5
#   {fastcube} merge {output}-*.h5 -o {output}.h5
"""


def _sweep_outputs(path: str, array: int, given: Mapping[str, object]) -> list[str]:
    """The outputs of a sweep's runs, without ``.h5``, each run checked as a shard.

    Raises ParameterError, also where what a run has of its own was ``given`` beside the file.
    """
    from .run import command, prepare_sweep

    for name, value in given.items():
        if value:
            raise ParameterError(f"{name} must stand in {path}, where each run has its own")
    runs = prepare_sweep(command.make_context("run", [path, "--shard", f"0/{array}"]), path)
    return [one.output.removesuffix(".h5").removesuffix("-0") for one in runs]


def _parse_time_limit(time: str) -> int:
    """A time limit as Slurm takes it, in seconds.  Raises ParameterError."""
    if not _TIME.fullmatch(time):
        raise ParameterError(
            f"time must be minutes, [hours:]minutes:seconds or days-hours[:minutes[:seconds]], got {time}"
        )
    days, dash, clock = time.rpartition("-")
    parts = [int(part) for part in clock.split(":")]
    if dash:  # hours first
        parts += [0] * (3 - len(parts))
    elif len(parts) == 1:  # minutes
        parts = [0, parts[0], 0]
    else:
        parts = [0] * (3 - len(parts)) + parts
    return ((int(days or 0) * 24 + parts[0]) * 60 + parts[1]) * 60 + parts[2]


@click.command("slurm")
@click.argument("study", shell_complete=completion.complete_studies)
@click.option("--array", type=int, required=True, metavar="N", help="Number of tasks, each one shard.")
@click.option("--time", default="01:00:00", show_default=True, help="Time limit of a task, as Slurm takes it.")
@click.option("--cpus", type=int, default=1, show_default=True, help="Processors of a task; as many worker threads.")
@click.option("--at-once", type=int, metavar="K", help="Run at most K tasks at a time.")
@click.option(
    "--margin", type=int, default=60, show_default=True, metavar="S", help="Seconds before the time limit to stop in."
)
@click.option(
    "--sbatch", multiple=True, metavar="OPTION", help="Further line for sbatch, such as --account=physics.  Repeat."
)
@click.option("--trials", metavar="T", help="Trials a point, such as 1e9.")
@options.points
@click.option("--seed", default="0", metavar="S", show_default=True)
@click.option("-o", "--output", metavar="NAME", help="Shards are NAME-I.h5; by default STUDY, or STUDY-GRID.")
def command(
    study: str,
    array: int,
    time: str,
    cpus: int,
    at_once: int | None,
    margin: int,
    sbatch: tuple[str, ...],
    trials: str | None,
    axes: tuple[str, ...],
    grid: str | None,
    seed: str,
    output: str | None,
) -> None:
    """Print a job-array script for a study or a TOML file of runs: checkpointed, requeued, safe to resubmit in part."""
    from ..measure.goal import MOST_SHARDS

    check_range("array", array, 1, MOST_SHARDS)
    check_range("cpus", cpus, 1, 4096)
    check_range("margin", margin, 1, 86400)
    if at_once is not None:
        check_range("at-once", at_once, 1, array)
    if _parse_time_limit(time) <= margin:
        raise ParameterError(f"time must be longer than the margin of {margin} s, got {time}")
    number = parse_count("seed", seed)
    check_range("seed", number, 0, 2**63 - 1)
    for what, text in (("output", output or ""), *(("sbatch", option) for option in sbatch)):
        if not text.isprintable():
            raise ParameterError(f"{what} must be printable text on one line, got {short_repr(text)}")
    task = '"$SLURM_ARRAY_TASK_ID"'
    values: dict[str, Any] = {
        "array": array,
        "last": array - 1,
        "time": time,
        "cpus": cpus,
        "margin": margin,
        "throttle": "" if at_once is None else f"%{at_once}",
        "directives": "".join(f"#SBATCH {option}\n" for option in sbatch),
        "fastcube": f"{shlex.quote(sys.executable)} -P -m fastcube",
    }
    if sweep.is_sweep(study):
        seeded = click.get_current_context().get_parameter_source("seed") is ParameterSource.COMMANDLINE
        given = {"trials": trials, "set": axes, "grid": grid, "output": output, "seed": seeded}
        names = _sweep_outputs(study, array, given)
        values |= {
            "study": shlex.quote(os.path.abspath(study)),  # noqa: PTH100
            "name": f"fastcube-{Path(study).stem}",
            "trials": "the trials",
            "run": "",
        }
    else:
        names, of_study = _script_values(study, trials, axes, grid, number, output, task)
        values |= of_study
    after = "".join(_MERGE_SCRIPT.format(fastcube=values["fastcube"], output=shlex.quote(name)) for name in names)
    click.echo(_SCRIPT.format(**values, after=after), nl=False)


def _script_values(
    study: str, trials: str | None, axes: tuple[str, ...], grid: str | None, number: int, output: str | None, task: str
) -> tuple[list[str], dict[str, Any]]:
    """The output's name, and what the script says of one study.  Raises ParameterError."""
    from ..measure import registry
    from ..measure.goal import make_goal
    from ..measure.grid import build_points

    chosen = registry.study(study)
    goal = make_goal(chosen, chosen.grid(grid), trials=trials)
    build_points(chosen, options.parse_axes(axes), grid)
    name = output or options.default_name(chosen, grid)
    sets = "" if grid is None else f" --grid {shlex.quote(grid)}"
    sets += "".join(f" --set {shlex.quote(text)}" for text in axes)
    full = study if chosen.path is None else chosen.path + study.partition(".py")[2]
    each = "" if goal.each else f" --trials {goal.trials}"
    trials_text = "the grid's trials" if goal.each else f"trials 0 .. {goal.trials} - 1"
    return [name], {
        "study": shlex.quote(full),
        "name": f"fastcube-{chosen.name}",
        "trials": trials_text,
        "run": f" -o {shlex.quote(name)}-{task}.h5{sets}{each} --seed {number}",
    }
