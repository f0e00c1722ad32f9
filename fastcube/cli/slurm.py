"""The command ``fastcube slurm``: fills the job scripts in ``cli/templates``.

``array.sh``, ``mpi.sh`` and ``dask.sh`` are whole scripts with words in double braces, which :func:`fill_template` replaces.
All contain ``driver.sh``, the functions that start a run, pass signals to it, and requeue the job.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ..errors import ParameterError, check_range, count_text, parse_count, plain_text, short_repr
from . import completion, options, sweep
from .sbatch_options import check_directives, check_setup, parse_time_limit, takes_whole_node
from .terminal import print_message

if TYPE_CHECKING:
    from ..measure.goal import Goal
    from ..measure.study import Study, Value

    #: A study to run, its points, and the goal at each.
    Work = tuple[Study, list[dict[str, Value]], Goal]

#: A word of a template.
_WORD = re.compile(r"\{\{(\w+)\}\}")

#: Least seconds of a task besides the margin: Slurm checks time limits once a minute, and a first start compiles.
_LEAST_SECONDS = 120

#: Number of restarts after which a run that counted no trials is not requeued.
MOST_IDLE_RESTARTS = 3

#: Largest number of tasks of an array at most sites (Slurm's MaxArraySize is 1001 by default).
_USUAL_ARRAY = 1000


def fill_template(name: str, values: dict[str, str | list[str]]) -> str:
    """Return a template with its words in double braces replaced.

    At most one word of a line may be a list: the line is repeated for each element, and left out if there is none.  No value is
    searched for words, so a value may hold any text.
    """
    lines = []
    for line in (files(__package__) / "templates" / name).read_text("utf-8").splitlines():
        pieces = [values[piece] if i % 2 else piece for i, piece in enumerate(_WORD.split(line))]
        elements = next((piece for piece in pieces if isinstance(piece, list)), [""])
        lines += ["".join(each if isinstance(piece, list) else piece for piece in pieces) for each in elements]
    return "\n".join(lines) + "\n"


@click.command("slurm", epilog="\b\nExample:\n  fastcube slurm routing --trials 1e9 --array 64 --time 1:00:00")
@click.argument("study", shell_complete=completion.complete_studies)
@click.option("--array", type=int, metavar="N", help="Number of shards; one task per shard unless --tasks is given.")
@click.option("--tasks", type=int, metavar="K", help="Number of tasks, each with every K-th shard; by default N.")
@click.option(
    "--engine",
    type=click.Choice(["threads", "mpi", "dask"]),
    default="threads",
    show_default=True,
    help="Engine: an array of tasks with threads, or one job with MPI or Dask.",
)
@click.option("--ranks", type=int, metavar="R", help="Number of MPI ranks, or of Dask workers.")
@click.option("--time", default="01:00:00", show_default=True, help="Time limit of a task, in Slurm's format.")
@click.option(
    "--cpus",
    type=int,
    metavar="C",
    help="Number of processors and worker threads of a task; by default 1, or the whole node with --sbatch=--exclusive.",
)
@click.option(
    "--mem",
    metavar="SIZE",
    help="Memory of a task (with mpi and dask: per processor), such as 2G; by default the measured need plus a quarter.",
)
@click.option("--max-running", type=int, metavar="K", help="Largest number of tasks that run at once; by default all.")
@click.option(
    "--margin",
    type=int,
    default=60,
    show_default=True,
    metavar="S",
    help="Seconds before the time limit at which a task stops.",
)
@click.option(
    "--sbatch", multiple=True, metavar="OPTION", help="Further option of sbatch, as --account=physics.  Repeatable."
)
@click.option(
    "--setup", multiple=True, metavar="LINE", help='Shell command to begin with, as "module load python".  Repeatable.'
)
@click.option("--python", metavar="PATH", help="Path of the Python that runs fastcube; by default the present Python.")
@click.option("--trials", metavar="T", help="Number of trials per point, such as 1e9; by default the grid's.")
@click.option("--precision", "--relative", "--events", "target", hidden=True)
@options.points
@click.option("--seed", default="0", metavar="S", show_default=True, help="Seed, 0 .. 2^63 - 1.")
@click.option(
    "-o",
    "--output",
    metavar="NAME",
    callback=options.check_output,
    help="Name of results files NAME-I.h5; by default STUDY, or STUDY-GRID.",
)
def command(study: str, **given: Any) -> None:
    """Print a job script for a study or a TOML file of runs, with checkpoints and requeueing; parts can be resubmitted."""
    _check_options(given)
    python, engine = given["python"] or sys.executable, given["engine"]
    values, outputs, works = (_sweep_values if sweep.is_sweep(study) else _study_values)(study, given)
    for what, texts in (("study", [values["study"]]), ("python", [python]), ("output", outputs)):
        for text in texts:
            if not text.isprintable():
                raise ParameterError(f"{what} must have a printable path on one line, got {short_repr(text)}")
    cpus = given["cpus"] or (None if takes_whole_node(given["sbatch"]) and engine == "threads" else 1)
    quoted = [shlex.quote(name) for name in outputs]
    cache = Path(outputs[0]).parent / "fastcube-cache"
    values |= {
        "python": shlex.quote(python),
        "fastcube": f"{shlex.quote(python)} -P -m fastcube",  # -P: nothing is imported from the working folder
        "time": given["time"],
        "margin": str(given["margin"]),
        "cpus": str(cpus),
        "resources": [
            *([f"--cpus-per-task={cpus}"] if cpus else []),
            _memory_option(given, [work_study for work_study, _, _ in works], cpus),
        ],
        "directives": list(given["sbatch"]),
        "setup": list(given["setup"]),
        "cache": shlex.quote(str(cache)) if cache.is_absolute() else f'"$PWD"/{shlex.quote(str(cache))}',
        "cost": _cost_text(works, given, cpus),
        "most_idle": str(MOST_IDLE_RESTARTS),
    }
    if engine == "threads":
        values |= _array_values(given, quoted, works)
    else:
        values |= {"ranks": str(given["ranks"]), "results": " ".join(f"{name}.h5" for name in quoted)}
    if not sweep.is_sweep(study):
        values["output"] = f" -o {values['results']}"
    values["driver"] = fill_template("driver.sh", values).splitlines()
    click.echo(fill_template("array.sh" if engine == "threads" else f"{engine}.sh", values), nl=False)


def _check_options(given: dict[str, Any]) -> None:
    """Raise an error for options out of range, or that do not go together."""
    from ..measure.goal import MOST_SHARDS

    if given["target"] is not None:
        raise ParameterError(
            "a job needs a number of trials: `fastcube status FILE --relative 1%` prints the number needed"
        )
    if given["engine"] == "threads":
        if given["array"] is None:
            raise click.UsageError("Missing option '--array'.")
        check_range("array", given["array"], 1, MOST_SHARDS)
        tasks = given["array"] if given["tasks"] is None else given["tasks"]
        check_range("tasks", tasks, 1, given["array"])
        if given["max_running"] is not None:
            check_range("max-running", given["max_running"], 1, tasks)
        unused = ["ranks"]
    else:
        if given["ranks"] is None:
            raise click.UsageError("Missing option '--ranks'.")
        check_range("ranks", given["ranks"], 2 if given["engine"] == "mpi" else 1, 100_000)
        unused = ["array", "tasks", "max_running"]
    for name in unused:
        if given[name] is not None:
            raise ParameterError(f"{name.replace('_', '-')} is not an option of engine {given['engine']}")
    if given["cpus"] is not None:
        check_range("cpus", given["cpus"], 1, 4096)
    if given["mem"] is not None and not re.fullmatch(r"[0-9]{1,9}[KMGT]?", given["mem"]):
        raise ParameterError(f"mem must be a number of MiB or a size such as 2G, got {plain_text(given['mem'])}")
    check_range("margin", given["margin"], 1, 86400)
    least = given["margin"] + _LEAST_SECONDS
    if parse_time_limit(given["time"]) < least:
        raise ParameterError(
            f"time must be longer than the margin of {given['margin']} s by {_LEAST_SECONDS} s or more, got {given['time']}"
        )
    check_range("seed", parse_count("seed", given["seed"]), 0, 2**63 - 1)
    for what in ("output", "mem", "python", "setup", "sbatch"):
        for text in given[what] if isinstance(given[what], tuple) else [given[what] or ""]:
            if not text.isprintable():
                raise ParameterError(f"{what} must be printable text on one line, got {short_repr(text)}")
    check_directives(given["sbatch"], given["engine"])
    check_setup(given["setup"])


def _array_values(given: dict[str, Any], outputs: list[str], works: list[Work]) -> dict[str, Any]:
    """Return the script's values that only an array has; print a message if it has too many tasks or shards."""
    array, tasks = given["array"], given["tasks"] or given["array"]
    if tasks > _USUAL_ARRAY:
        print_message(
            f"fastcube: most clusters take arrays of at most {_USUAL_ARRAY} tasks (MaxArraySize of `scontrol show config`); "
            f"--tasks {_USUAL_ARRAY} gives each task {-(-array // _USUAL_ARRAY)} shards"
        )
    if array > (most := max(goal.trials_at(point) for _, points, goal in works for point in points)):
        print_message(
            f"fastcube: {array} shards share at most {count_text(most, 'trial')} per point, so that some shards count nothing; "
            f"--array {most} suffices"
        )
    digits = ["[0-9]" * length for length in range(1, len(str(array - 1)) + 1)]
    return {
        "array": str(array),
        "tasks": str(tasks),
        "shared": "" if tasks == array else f" --tasks {tasks}",
        "each": "one task each" if tasks == array else count_text(tasks, "task"),
        "again": ",".join(map(str, sorted({tasks // 2, tasks - 1}))),
        "last_task": str(tasks - 1),
        "last_shard": str(array - 1),
        "throttle": "" if given["max_running"] is None else f"%{given['max_running']}",
        "outputs": " ".join(outputs),
        "results": " ".join(f'{name}-"$shard".h5' for name in outputs),
        "shards": " ".join(f'"$name"-{number}.h5' for number in digits),
    }


def _memory_option(given: dict[str, Any], studies: list[Study], cpus: int | None) -> str:
    """Return the option of sbatch for memory; print a message on each study whose memory was not measured."""
    from ..results.memory import is_measured, needed_memory

    has_ranks = given["engine"] != "threads"
    if given["mem"] is not None:
        return f"--mem-per-cpu={given['mem']}" if has_ranks else f"--mem={given['mem']}"
    if cpus is None:
        return "--mem=0"  # all memory of the node
    workers = 1 if given["engine"] == "mpi" else cpus
    need = max(needed_memory(study.name, workers) for study in studies)
    for study in studies:
        if not is_measured(study.name):
            print_message(
                f"fastcube: memory of {study.name} was not measured; the script requests {need} MiB, see --mem"
            )
    return f"--mem-per-cpu={-(-need // cpus)}M" if has_ranks else f"--mem={need}M"


def _cost_text(works: list[Work], given: dict[str, Any], cpus: int | None) -> str:
    """Return the cost of the job in words, measured here and now; print a warning if it exceeds the time limit.

    Nothing is measured where that would compile kernels, because login nodes limit processor time.
    """
    from ..running.planning import measured_seconds, seconds_text
    from ..running.work_units import check_set_ups, kernels_to_compile

    uncompiled = dict.fromkeys(
        study.path or study.name for study, points, _ in works if kernels_to_compile(study, points)
    )
    if uncompiled:
        warmup = shlex.join(["fastcube", "warmup", *uncompiled])
        print_message(f"fastcube: the time is not estimated, because kernels are not compiled here yet; see {warmup}")
        return "Its time was not estimated, because its kernels were not compiled where the script was made."
    total = 0.0
    for study, points, goal in works:
        check_set_ups(study, ((point, "") for point in points))
        seconds = measured_seconds(study, points)
        total += sum(goal.trials_at(point) * each for point, each in zip(points, seconds, strict=True))
    if given["engine"] == "threads":
        runners, unit = given["tasks"] or given["array"], "task"
    elif given["engine"] == "mpi":  # one rank drives
        runners, unit = max(1, given["ranks"] - 1), "job"
    else:
        runners, unit = given["ranks"], "job"
    threads = 1 if given["engine"] == "mpi" else cpus or 1  # a rank of MPI has one, on however many processors
    wall = total / runners / threads  # of a task, whatever --max-running, or of the whole job
    if wall > parse_time_limit(given["time"]) - given["margin"]:
        print_message(
            f"fastcube: a {unit} takes {seconds_text(wall)}, more than --time {given['time']}: it will be requeued until it is "
            "done; more shards or processors make it shorter"
        )
    hours = "<0.01" if total < 36 else f"{total / 3600:,.3g}" if total < 3.6e6 else f"{total / 3600:,.0f}"
    where = "on one processor of a node" if cpus is None else f"with {count_text(cpus, 'processor')}"
    return f"It takes {hours} CPU hours in all, measured where the script was made: {seconds_text(wall)} per {unit} {where}."


def _job_name(text: str) -> str:
    """Return a name of a job that every shell and file system takes."""
    return "fastcube-" + re.sub(r"[^A-Za-z0-9._-]+", "-", text)


def _full_name(typed: str, study: Study) -> str:
    """Return the name by which a job finds a study: its name, or the full path of its file with its name there."""
    if study.path is None:
        return shlex.quote(typed)
    return shlex.quote(study.path if typed.endswith(".py") else f"{study.path}:{typed.rpartition(':')[2]}")


def _point_options(given: dict[str, Any]) -> str:
    """Return the options of a command line that select the points."""
    grid = "" if given["grid"] is None else f" --grid {shlex.quote(given['grid'])}"
    return grid + "".join(f" --set {shlex.quote(text)}" for text in given["axes"])


def _sweep_values(path: str, given: dict[str, Any]) -> tuple[dict[str, Any], list[str], list[Work]]:
    """Return the script's values, the outputs without ``.h5``, and the work, for the runs of a sweep file, each checked.

    Raises ParameterError, also if an option that each run has for itself is given on the command line.
    """
    from .run import command as run_command
    from .run import prepare_sweep

    has_seed = click.get_current_context().get_parameter_source("seed") is ParameterSource.COMMANDLINE
    per_run = {**{name: given[name] for name in ("trials", "grid", "output")}, "set": given["axes"], "seed": has_seed}
    for name, value in per_run.items():
        if value:
            raise ParameterError(f"{name} must be set in {plain_text(path)}, where each run has its own")
    shard = [] if given["array"] is None else ["--shard", f"0/{given['array']}"]
    runs = prepare_sweep(run_command.make_context("run", [path, *shard]), path)
    if (adaptive := next((one for one in runs if one.goal.is_adaptive), None)) is not None:
        raise ParameterError(
            f"{adaptive.study.name} of {plain_text(path)} needs a number of trials in a job, not a target"
        )
    values = {
        "study": shlex.quote(os.path.abspath(path)),  # noqa: PTH100
        "name": _job_name(Path(path).stem),
        "trials": "the trials",
        "options": "",
        "output": "",
        "warmups": [_full_name(one.options["study"], one.study) + _point_options(one.options) for one in runs],
    }
    outputs = [one.output.removesuffix(".h5").removesuffix("-0" if shard else "") for one in runs]
    return values, outputs, [(one.study, one.points, one.goal) for one in runs]


def _study_values(study: str, given: dict[str, Any]) -> tuple[dict[str, Any], list[str], list[Work]]:
    """Return the script's values, the output without ``.h5``, and the work, for a study."""
    from ..measure import registry
    from ..measure.goal import make_goal
    from ..measure.grid import build_points

    grid = given["grid"]
    chosen = registry.study(study)
    goal = make_goal(chosen, chosen.grid(grid), trials=given["trials"])
    points = build_points(chosen, options.parse_axes(given["axes"]), grid)
    name = given["output"] or options.default_name(chosen, grid)
    folder = Path(name).parent
    if not folder.is_dir():
        raise ParameterError(f"output folder {plain_text(str(folder))} does not exist")
    trials = "" if goal.each else f" --trials {goal.trials}"
    where, full_name = _point_options(given), _full_name(study, chosen)
    values = {
        "study": full_name,
        "name": _job_name(chosen.name),
        "trials": "the grid's trials" if goal.each else f"{goal.trials} trials",
        "options": f"{where}{trials} --seed {parse_count('seed', given['seed'])}",
        "warmups": [full_name + where],
    }
    return values, [name], [(chosen, points, goal)]
