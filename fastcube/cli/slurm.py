"""The command ``fastcube slurm``."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ..errors import ParameterError, check_range, parse_count, plain_text, short_repr
from . import completion, options, print_message, sweep
from .job_scripts import Job, WarmUp, array_script, dask_script, mpi_script

if TYPE_CHECKING:
    from ..measure.goal import Goal
    from ..measure.study import Study, Value

    Measured = tuple[Study, list[dict[str, Value]], Goal]

_TIME = re.compile(r"\d{1,9}(:\d{1,2}){0,2}|\d{1,9}-\d{1,2}(:\d{1,2}){0,2}", re.ASCII)

#: Least seconds of a task besides the margin: Slurm checks time limits once a minute, and a first start compiles.
_LEAST_SECONDS = 120

#: Option of sbatch that would break the script, under any engine -> the reason, or the option of this command to use instead.
_OWNED = {
    **dict.fromkeys(("cpus-per-gpu", "cpus-per-task", "tres-per-task"), "use --cpus"),
    **dict.fromkeys(("mem", "mem-per-cpu", "mem-per-gpu"), "use --mem"),
    **dict.fromkeys(("ntasks", "ntasks-per-gpu"), "use --engine mpi --ranks"),
    **dict.fromkeys(("no-requeue", "requeue"), "the script requeues its tasks"),
    **dict.fromkeys(("open-mode", "output"), "the script writes its log"),
    **dict.fromkeys(("time", "time-min"), "use --time"),
    "array": "use --array and --max-running",
    "chdir": "use -o FOLDER/NAME",
    "job-name": "the script names its job and log",
    "signal": "use --margin",
    "test-only": "with it sbatch submits nothing",
    "wait": "the script submits jobs that wait for each other",
    "wrap": "the script is the job",
}
#: Further options that would break a task with threads, which is one process on one node.
_OWNED_THREADS = dict.fromkeys(
    ("nodes", "ntasks-per-core", "ntasks-per-node", "ntasks-per-socket"), "a task is one process on one node"
)
_SHORT = {
    "D": "chdir",
    "J": "job-name",
    "N": "nodes",
    "Q": "quiet",
    "V": "version",
    "W": "wait",
    "a": "array",
    "c": "cpus-per-task",
    "h": "help",
    "n": "ntasks",
    "o": "output",
    "t": "time",
}
#: Short options of sbatch after which another short option may follow in one word.
_SHORT_FLAGS = "HIOQVWhksuv"

#: Largest number of tasks of an array at most sites (Slurm's MaxArraySize is 1001 by default).
_USUAL_ARRAY = 1000


def _option_names(word: str) -> Iterator[str]:
    """Yield the options that sbatch finds in a word, by their long names, which may be abbreviated."""
    if word.startswith("--"):
        yield word[2:].partition("=")[0]
    elif word.startswith("-"):
        for letter in word[1:]:
            if letter in _SHORT:
                yield _SHORT[letter]
            if letter not in _SHORT_FLAGS:
                return


def _check_directives(directives: tuple[str, ...], engine: str) -> None:
    """Raise ParameterError for a text that is not an option of sbatch, or for an option that would break the script."""
    all_owned = _OWNED | (_OWNED_THREADS if engine == "threads" else {})
    for text in directives:
        if not re.match(r"-[A-Za-z]|--[a-z]", text):
            raise ParameterError(
                f"sbatch must be an option of sbatch, such as --account=physics, got {plain_text(text)}"
            )
        try:
            names = [name for word in shlex.split(text) for name in _option_names(word)]
        except ValueError as error:
            raise ParameterError(f"sbatch must be an option of sbatch, got {plain_text(text)} ({error})") from None
        for name in names:
            # sbatch takes the beginning of a name for the name; "time" is also one of "time-min"
            if owned := next((known for known in sorted(all_owned) if known.startswith(name)), ""):
                raise ParameterError(f"sbatch must not set {owned}, got {plain_text(text)}; {all_owned[owned]}")


def _check_setup(lines: tuple[str, ...]) -> None:
    """Raise ParameterError for lines that bash cannot parse on their own, or that a scheduler would read as its options."""
    if directive := next((line for line in lines if re.match("#(SBATCH|PBS|BSUB)", line)), None):
        raise ParameterError(f"setup must be shell commands, got {plain_text(directive)}; use --sbatch")
    text, bash = "\n".join(lines) + "\n", shutil.which("bash")
    why = "its last line would go on with the script's next" if text.endswith("\\\n") else ""
    if bash is not None and not why:
        settings = {**os.environ, "LC_ALL": "C"}
        parsed = subprocess.run([bash, "-n"], input=text, env=settings, capture_output=True, text=True, check=False)
        why = parsed.stderr.partition("\n")[0].removeprefix(f"{bash}: ")
    if why:
        shown = plain_text(" ; ".join(lines))
        raise ParameterError(f"setup must be lines that bash can parse, got {shown} ({plain_text(why)})")


def _parse_time_limit(time: str) -> int:
    """Return a time limit in Slurm's format in seconds.  Raises ParameterError."""
    if not _TIME.fullmatch(time):
        raise ParameterError(
            f"time must be minutes, [hours:]minutes:seconds or days-hours[:minutes[:seconds]], got {plain_text(time)}"
        )
    days, dash, clock = time.rpartition("-")
    parts = [int(part) for part in clock.split(":")]
    if dash:  # hours first
        parts += [0] * (3 - len(parts))
    elif len(parts) == 1:  # minutes only
        parts = [0, parts[0], 0]
    else:
        parts = [0] * (3 - len(parts)) + parts
    return ((int(days or 0) * 24 + parts[0]) * 60 + parts[1]) * 60 + parts[2]


@click.command("slurm")
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
    if given["target"] is not None:
        raise ParameterError(
            "a job needs a number of trials: `fastcube status FILE --relative 1%` prints the number needed"
        )
    _check_sizes(given)
    for what in ("output", "mem", "python", "setup", "sbatch"):
        for text in given[what] if isinstance(given[what], tuple) else [given[what] or ""]:
            if not text.isprintable():
                raise ParameterError(f"{what} must be printable text on one line, got {short_repr(text)}")
    _check_directives(given["sbatch"], given["engine"])
    _check_setup(given["setup"])
    python = given["python"] or sys.executable
    if sweep.is_sweep(study):
        values, measured = _sweep_values(study, given)
    else:
        values, measured = _study_values(study, given)
    for what, text in (("study", values["study"]), ("python", python)):
        if not text.isprintable():
            raise ParameterError(f"{what} must have a printable path on one line, got {short_repr(text)}")
    names = {name for text in given["sbatch"] for word in shlex.split(text) for name in _option_names(word)}
    takes_node = any(len(name) > 3 and "exclusive".startswith(name) for name in names)
    cpus = given["cpus"] or (None if takes_node and given["engine"] == "threads" else 1)
    job = Job(
        **values,
        python=shlex.quote(python),
        time=given["time"],
        margin=given["margin"],
        cpus=cpus,
        memory=_memory_option(given, [one for one, _, _ in measured], cpus),
        directives=list(given["sbatch"]),
        setup=list(given["setup"]),
        comments=_cost_comments(measured, given, cpus),
    )
    if given["engine"] == "threads":
        array, tasks = given["array"], given["tasks"] or given["array"]
        if tasks > _USUAL_ARRAY:
            print_message(
                f"fastcube: most clusters take arrays of at most {_USUAL_ARRAY} tasks (MaxArraySize of `scontrol show config`); "
                f"--tasks {_USUAL_ARRAY} gives each task {-(-array // _USUAL_ARRAY)} shards"
            )
        script = array_script(job, array, tasks, given["max_running"])
    else:
        script = (mpi_script if given["engine"] == "mpi" else dask_script)(job, given["ranks"])
    click.echo(script, nl=False)


def _check_sizes(given: dict[str, Any]) -> None:
    from ..measure.goal import MOST_SHARDS

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
    if _parse_time_limit(given["time"]) < least:
        raise ParameterError(
            f"time must be longer than the margin of {given['margin']} s by {_LEAST_SECONDS} s or more, got {given['time']}"
        )
    check_range("seed", parse_count("seed", given["seed"]), 0, 2**63 - 1)


def _memory_option(given: dict[str, Any], studies: list[Study], cpus: int | None) -> str:
    from ..results.memory import is_measured, needed_memory

    of_ranks = given["engine"] != "threads"
    if given["mem"] is not None:
        return f"--mem-per-cpu={given['mem']}" if of_ranks else f"--mem={given['mem']}"
    if cpus is None:
        return "--mem=0"  # all memory of the node
    workers = 1 if given["engine"] == "mpi" else cpus
    need = max(needed_memory(study.name, workers) for study in studies)
    for study in studies:
        if not is_measured(study.name):
            print_message(
                f"fastcube: memory of {study.name} was not measured; the script requests {need} MiB, see --mem"
            )
    return f"--mem-per-cpu={-(-need // cpus)}M" if of_ranks else f"--mem={need}M"


def _cost_comments(measured: list[Measured], given: dict[str, Any], cpus: int | None) -> list[str]:
    """Return comments with the cost of the job, measured here and now; print a warning if it exceeds the time limit."""
    from ..running.engines import check_set_ups, kernels_to_compile
    from ..running.planning import measured_seconds, seconds_text

    total = 0.0
    for study, points, goal in measured:
        if kernels_to_compile(study, points):
            print_message("fastcube: compiling, once: some seconds each kernel")
        check_set_ups(study, points)
        seconds = measured_seconds(study, points)
        total += sum(goal.trials_at(point) * each for point, each in zip(points, seconds, strict=True))
    if given["engine"] == "threads":
        max_running, unit = given["tasks"] or given["array"], "task"
    else:
        max_running, unit = max(1, given["ranks"] - (given["engine"] == "mpi")), "job"
    wall = total / max_running / (cpus or 1)
    if wall > _parse_time_limit(given["time"]) - given["margin"]:
        print_message(
            f"fastcube: a {unit} takes {seconds_text(wall)}, more than --time {given['time']}: it will be requeued until it is "
            "done; more shards or processors make it shorter"
        )
    hours = "<0.01" if total < 36 else f"{total / 3600:,.3g}" if total < 3.6e6 else f"{total / 3600:,.0f}"
    each = "a node" if cpus is None else "1 processor" if cpus == 1 else f"{cpus} processors"
    share = f"on one processor of {each}" if cpus is None else f"with {each}"
    return [
        f"It takes {hours} CPU hours in all, measured where the script was made: {seconds_text(wall)} per {unit} {share}."
    ]


def _job_name(text: str) -> str:
    return "fastcube-" + re.sub(r"[^A-Za-z0-9._-]+", "-", text)


def _sweep_values(path: str, given: dict[str, Any]) -> tuple[dict[str, Any], list[Measured]]:
    """Return the script's values for the runs of a sweep file, each checked.

    Raises ParameterError, also if an option that belongs to the single runs is given on the command line.
    """
    from .run import command as run_command
    from .run import prepare_sweep

    seeded = click.get_current_context().get_parameter_source("seed") is ParameterSource.COMMANDLINE
    own = {**{name: given[name] for name in ("trials", "grid", "output")}, "set": given["axes"], "seed": seeded}
    for name, value in own.items():
        if value:
            raise ParameterError(f"{name} must be set in {plain_text(path)}, where each run has its own")
    shard = [] if given["array"] is None else ["--shard", f"0/{given['array']}"]
    runs = prepare_sweep(run_command.make_context("run", [path, *shard]), path)
    endings = (".h5", "-0") if shard else (".h5",)
    names = [one.output for one in runs]
    for ending in endings:
        names = [name.removesuffix(ending) for name in names]
    if (adaptive := next((one for one in runs if one.goal.adaptive), None)) is not None:
        raise ParameterError(
            f"{adaptive.study.name} of {plain_text(path)} needs a number of trials in a job, not a target"
        )
    values = {
        "study": shlex.quote(os.path.abspath(path)),  # noqa: PTH100
        "name": _job_name(Path(path).stem),
        "trials": "the trials",
        "run": "",
        "outputs": names,
        "names_output": False,
        "warm_ups": [WarmUp(_full_name(one.options["study"], one.study), _point_options(one.options)) for one in runs],
    }
    return values, [(one.study, one.points, one.goal) for one in runs]


def _full_name(typed: str, study: Study) -> str:
    """Return the name by which a job finds a study: its name, or the full path of its file with its name there."""
    if study.path is None:
        return shlex.quote(typed)
    return shlex.quote(study.path if typed.endswith(".py") else f"{study.path}:{typed.rpartition(':')[2]}")


def _point_options(given: dict[str, Any]) -> str:
    grid = "" if given["grid"] is None else f" --grid {shlex.quote(given['grid'])}"
    return grid + "".join(f" --set {shlex.quote(text)}" for text in given["axes"])


def _study_values(study: str, given: dict[str, Any]) -> tuple[dict[str, Any], list[Measured]]:
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
    each = "" if goal.each else f" --trials {goal.trials}"
    where, full = _point_options(given), _full_name(study, chosen)
    values = {
        "study": full,
        "name": _job_name(chosen.name),
        "trials": "the grid's trials" if goal.each else f"{goal.trials} trials",
        "run": f"{where}{each} --seed {parse_count('seed', given['seed'])}",
        "outputs": [name],
        "names_output": True,
        "warm_ups": [WarmUp(full, where)],
    }
    return values, [(chosen, points, goal)]
