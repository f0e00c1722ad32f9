"""Options that several commands share: which points, how many trials."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from ..errors import ParameterError, ResultFileError
from . import completion, verbosity_option

if TYPE_CHECKING:
    from ..measure.study import Study
    from ..results.results import Results


Decorated = Callable[[Callable[..., Any]], Callable[..., Any]]


def _combine_options(*some: Decorated) -> Decorated:
    """The options in this order, as one decorator."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(some):
            command = option(command)
        return command

    return decorate


#: Which points; values are collected as text by axis.
points = _combine_options(
    click.option(
        "--set",
        "axes",
        multiple=True,
        metavar="AXIS=VALUES",
        shell_complete=completion.complete_axes,
        help="Values of an axis: one, a list a,b,c, or an inclusive range lo:hi[:step].  Repeat for other axes.",
    ),
    click.option(
        "--grid",
        metavar="NAME",
        shell_complete=completion.complete_grids,
        help="Another grid than the study's first (see `fastcube list`).",
    ),
)

#: Of commands that read results.
file = _combine_options(
    click.option("--unchecked", is_flag=True, help="Read a file that another program rewrote."),
    click.option(
        "--study",
        metavar="FILE.py",
        shell_complete=completion.complete_files,
        help="File of the study, for its own notes, figure and replay.",
    ),
)


@contextlib.contextmanager
def suggest_unchecked() -> Iterator[None]:
    """Name the option ``--unchecked`` where a file lacks its checksum; for the commands that have the option."""
    from ..results.untrusted_hdf5 import MissingChecksumError

    try:
        yield
    except MissingChecksumError as error:
        raise ResultFileError(f"{error} (--unchecked reads it all the same)") from None


#: Some of a file's points.
where_option = click.option(
    "--where", multiple=True, metavar="AXIS=VALUES", help="These points, as in run --set.  Repeat for other axes."
)

#: When a point is done.
goal = _combine_options(
    click.option("--trials", metavar="T", help="Trials a point, such as 1e6."),
    click.option("--precision", metavar="W", help="Stop at this half-width of the target's 95% interval."),
    click.option("--relative", metavar="R", help="The same as a share of the estimate, such as 1%."),
    click.option("--events", metavar="K", help="Stop at this many trials with a nonzero target."),
    click.option(
        "--target",
        metavar="STAT",
        shell_complete=completion.complete_statistics,
        help="Statistic that these refer to; by default the study's first.",
    ),
    click.option("--shard", metavar="I/N", help="Compute part I of N only, 0 <= I < N."),
)

progress = click.option(
    "--progress",
    default="auto",
    metavar="P",
    show_default=True,
    shell_complete=completion.complete_words("auto", "bar", "lines", "none"),
    help="auto, bar, lines or none.",
)

#: Of commands that compute, and how long they may.
workers = click.option(
    "--workers", type=int, metavar="N", help="Items at once; by default what affinity and Slurm allow."
)
max_seconds = click.option("--max-seconds", type=float, metavar="S", help="Stop after this time with exit status 75.")

#: ``-v``, also after the command's name.
verbose = verbosity_option("Say what happens with cache, kernels, workers and checkpoints; -vv each item of work.")


def parse_axes(given: tuple[str, ...], option: str = "set") -> dict[str, str]:
    """``n=5:12`` and so on as a mapping; several for one axis join up.  Raises ParameterError, which names the option."""
    out: dict[str, str] = {}
    for text in given:
        name, equals, values = text.partition("=")
        if not equals or not name or not values:
            raise ParameterError(f"{option} must be AXIS=VALUES, such as n=5:12, got {text}")
        out[name] = f"{out[name]},{values}" if name in out else values
    return out


def read_results(path: str, unchecked: bool, study: str | None = None, points: tuple[str, ...] = ()) -> Results:
    """Results from a file, with the study that the user names: its code runs, none that the file names.

    ``points`` is what ``--where`` was given.
    """
    from ..measure import registry
    from ..results.reading import open_results

    with suggest_unchecked():
        results = open_results(path, unchecked=unchecked)
    if study is not None:
        results.study = registry.study_of(results.study, study)
    return results.sel(**parse_axes(points)) if points else results


def default_name(study: Study, grid: str | None) -> str:
    """What a run's file is called without ``.h5``: the study, and the grid unless it is the first."""
    name = study.grid(grid).name
    return study.name if name == study.grids[0].name else f"{study.name}-{name}"
