"""The command ``fastcube list``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ..errors import ParameterError, count_text, range_text
from . import completion
from .terminal import line_width

#: The remark on a swept axis.
_SWEPT = "; points that differ in it alone share their trials"

if TYPE_CHECKING:
    from ..measure.study import Axis, Choice, Grid, Study


def _grid_text(study: Study, grid: Grid) -> str:
    from ..measure.grid import values_text

    parts = [f"{axis.name} = {values_text({point[axis.name] for point in grid.points})}" for axis in study.axes]
    trials = grid.trials_of_points().values()
    each = f"{range_text(f'{min(trials):,}', f'{max(trials):,}')} trials each"
    return "; ".join(parts) + f"; {count_text(len(grid.points), 'point')}, {each}"


def _print_folded(label: str, text: str, margin: int = 16) -> None:
    """Print a label and a text, folded to the width of the terminal below the first character of the text."""
    import textwrap

    glued = text.replace(" = ", "\0=\0")  # keeps a name and its value on one line
    first, *rest = textwrap.wrap(glued, max(20, line_width() - margin), break_on_hyphens=False) or [""]
    lines = [f"    {label:<{margin - 5}} {first}", *(" " * margin + more for more in rest)]
    click.echo("\n".join(lines).replace("\0", " "))


def _axis_data(axis: Axis | Choice) -> dict[str, Any]:
    from ..measure.study import Choice

    if isinstance(axis, Choice):
        return {"names": axis.names}
    return {
        "kind": axis.kind.__name__,
        "low": axis.low,
        "high": axis.high,
        "open_above": axis.open_above,
        "swept": axis.swept,
    }


def _study_data(study: Study) -> dict[str, Any]:
    return {
        "name": study.name,
        "revision": study.revision,
        "title": study.title,
        "source": study.source,
        "axes": [{"name": a.name, "description": a.description, **_axis_data(a)} for a in study.axes],
        "statistics": [
            {
                "name": s.name,
                "description": s.description,
                "kind": type(s).__name__,
                "condition": s.condition,
                "interval": s.interval,
            }
            for s in study.statistics
        ],
        "grids": [
            {"name": g.name, "points": len(g.points), "trials": sum(g.trials_of_points().values())} for g in study.grids
        ],
    }


def _axis_text(axis: Axis | Choice) -> str:
    from ..measure.study import Choice

    if isinstance(axis, Choice):
        return f"{', '.join(axis.names)}: {axis.description}"
    kind = "an integer" if axis.kind is int else "a number"
    end = ")" if axis.open_above else "]"
    return f"{kind} in [{axis.low:,}, {axis.high:,}{end}: {axis.description}{_SWEPT if axis.swept else ''}"


def _time_text(study: Study, grid: Grid) -> str:
    """Return the time that a grid takes, measured now if its kernels are compiled, because compiling could take a minute."""
    from ..results.provenance import available_cpus
    from ..running.planning import measured_seconds, seconds_text
    from ..running.work_units import kernels_to_compile

    if kernels_to_compile(study, grid.points):
        return f"not measured: its kernels are not compiled here yet (fastcube warmup {study.path or study.name})"
    trials = grid.trials_of_points().values()
    seconds = sum(n * s for n, s in zip(trials, measured_seconds(study, grid.points), strict=True))
    workers = available_cpus()
    shared = f", {seconds_text(seconds / workers)} with {workers} workers" if workers > 1 else ""
    return f"{seconds_text(seconds)} on one core of this machine{shared}; from half a second of its trials, run now"


def _print_study(study: Study) -> None:
    from ..measure.binned import Distribution

    click.echo(f"{study.name}, revision {study.revision}")
    _print_folded("title:", study.title)
    _print_folded("source:", study.source)
    click.echo("\naxes")
    for axis in study.axes:
        _print_folded(axis.name, _axis_text(axis))
    click.echo("\nstatistics, the first is the default target")
    margin = min(36, 7 + max(len(s.name) for s in study.statistics))
    for s in study.statistics:
        condition = f", over trials counted by {s.condition}" if s.condition else ""
        how = f"distribution, {s.label}=0, 1, ..." if isinstance(s, Distribution) else type(s).__name__
        _print_folded(s.name, f"{s.description} [{how}; interval {s.interval}{condition}]", margin)
    for i, grid in enumerate(study.grids):
        click.echo(f"\ngrid {grid.name}{', the default' if i == 0 else ''}")
        _print_folded("points:", _grid_text(study, grid))
        _print_folded("time:", _time_text(study, grid))


@click.command("list", epilog="\b\nExample:\n  fastcube list unsafe-fraction")
@click.argument("study", required=False, shell_complete=completion.complete_studies)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: names, axes, statistics and grids.")
def command(study: str | None, as_json: bool) -> None:
    """List the studies, one line each.  With STUDY, show the study in full.

    STUDY's axes are shown with their ranges, its statistics with their definitions, and its grids with the time that they
    take, measured now on this machine.
    """
    import textwrap

    from ..measure import registry

    chosen = [*registry.studies().values()] if study is None else [registry.study(study)]
    if as_json:
        click.echo(json.dumps([_study_data(known) for known in chosen], indent=1, ensure_ascii=False))
    elif study is not None:
        _print_study(chosen[0])
    elif not chosen:
        raise ParameterError("no study is installed: install fastcube again")
    else:
        longest = max(len(known.name) for known in chosen)
        for known in chosen:
            width = max(20, line_width() - longest - 2)
            click.echo(f"{known.name:<{longest}}  {textwrap.shorten(known.title, width, placeholder=' ...')}")
