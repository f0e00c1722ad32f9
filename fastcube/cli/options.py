"""Options that several commands share."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from ..errors import ParameterError, ResultFileError, check_file_path, plain_text
from . import completion
from .terminal import print_message, verbosity_option

if TYPE_CHECKING:
    from ..measure.study import Study
    from ..results.results import Results


#: A decorator of a command's function.
Decorated = Callable[[Callable[..., Any]], Callable[..., Any]]


def combine_options(*decorators: Decorated) -> Decorated:
    """Return one decorator that adds several options, in their order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(decorators):
            command = option(command)
        return command

    return decorate


#: The options that select points; their values are collected as text by axis.
points = combine_options(
    click.option(
        "--set",
        "axes",
        multiple=True,
        metavar="AXIS=VALUES",
        shell_complete=completion.complete_axes,
        help="Values of an axis: a value, a list a,b,c, or an inclusive range lo:hi[:step].  Repeat for other axes: an axis "
        "that is not set keeps the grid's values, so links=10 alone also has the grid's f faulty nodes.",
    ),
    click.option(
        "--grid",
        metavar="NAME",
        shell_complete=completion.complete_grids,
        help="Grid of the study; by default its first (see `fastcube list STUDY`).",
    ),
)


def check_output(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """Return the output file of a command.  Raises ParameterError for a folder, and for a name that others take as options."""
    if value is not None:
        name, shown = option.opts[-1].lstrip("-"), plain_text(value)
        check_file_path(name, value)
        if value.startswith("-"):
            raise ParameterError(f"{name} must not begin with -, got {shown}; write ./{shown}")
    return value


#: The options of commands that read results.
file = combine_options(
    click.option(
        "--unchecked", is_flag=True, help="Skip the checksum test, for a file that another program has rewritten."
    ),
    click.option(
        "--study",
        metavar="FILE.py",
        shell_complete=completion.complete_files,
        help="File with the study's code, for its notes, figure and replay.",
    ),
)


@contextlib.contextmanager
def suggest_unchecked() -> Iterator[None]:
    """Mention the option ``--unchecked`` in errors about a missing checksum; for commands with this option."""
    from ..results.untrusted_hdf5 import MissingChecksumError

    try:
        yield
    except MissingChecksumError as error:
        raise ResultFileError(f"{error} (--unchecked reads it all the same)") from None


#: The option that selects some of a file's points.
where_option = click.option(
    "--where", multiple=True, metavar="AXIS=VALUES", help="Selected values of an axis, as in run --set.  Repeatable."
)

#: The targets of a run, which ``status`` takes too.
targets = combine_options(
    click.option("--precision", metavar="W", help="Half-width to reach, of the target's 95% interval."),
    click.option("--relative", metavar="R", help="Half-width to reach as a fraction of the estimate, such as 1%."),
    click.option("--events", metavar="K", help="Number of events to reach: trials in which the target is not zero."),
    click.option(
        "--target",
        metavar="STAT",
        shell_complete=completion.complete_statistics,
        help="Statistic for --precision, --relative and --events; by default the study's first.",
    ),
)

#: The options that determine when a point is done.
goal = combine_options(
    click.option(
        "--trials", metavar="T", help="Number of trials per point, such as 1e6; by default as the grid or target says."
    ),
    targets,
    click.option("--shard", metavar="I/N", help="Part I of N of the trials, 0 <= I < N; by default all trials."),
)

progress = click.option(
    "--progress",
    default="auto",
    metavar="P",
    show_default=True,
    shell_complete=completion.complete_values("auto", "bar", "lines", "none"),
    help="Style of progress reports: auto, bar, lines or none.",
)

#: The options of commands that compute.
workers = click.option(
    "--workers",
    type=int,
    metavar="N",
    help="Number of work units at once; by default the CPUs that affinity, Slurm and control groups allow.",
)
max_seconds = click.option(
    "--max-seconds",
    type=float,
    metavar="S",
    help="Time limit in seconds, after which the exit status is 75; by default none.",
)

#: ``-v`` after the command's name.
verbose = verbosity_option("Report on cache, kernels, workers and checkpoints; -vv also on work units.")


def parse_axes(given: tuple[str, ...], option: str = "set") -> dict[str, str]:
    """Return ``n=5:12`` and so on as a mapping; values of one axis are joined.  Raises ParameterError with the option's name."""
    out: dict[str, str] = {}
    for text in given:
        name, equals, values = text.partition("=")
        if not equals or not name or not values:
            raise ParameterError(f"{option} must be AXIS=VALUES, such as n=5:12, got {text}")
        out[name] = f"{out[name]},{values}" if name in out else values
    return out


def read_results(path: str, unchecked: bool, study: str | None = None, points: tuple[str, ...] = ()) -> Results:
    """Return the results in a file, with the study that the user names, and report missing shards; the file runs no code.

    ``points`` is the value of ``--where``.
    """
    from ..measure import registry
    from ..results.missing_shards import missing_shards_text
    from ..results.reading import open_results

    with suggest_unchecked():
        results = open_results(path, unchecked=unchecked)
    if missing := missing_shards_text(results):
        print_message(f"{plain_text(path)}: {missing}")
    if study is not None:
        results.study = registry.study_of(results.study, study)
    return results.sel(**parse_axes(points)) if points else results


def default_name(study: Study, grid: str | None) -> str:
    """Return the default name of a run's file without ``.h5``: the study, and the grid unless it is the first."""
    name = study.grid(grid).name
    return study.name if name == study.grids[0].name else f"{study.name}-{name}"
