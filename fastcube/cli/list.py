"""``fastcube list``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from . import completing, width

if TYPE_CHECKING:
    from ..engine.study import Axis, Grid, Study


def _grid_text(study: Study, grid: Grid) -> str:
    from ..engine.grid import values_text

    parts = [f"{axis.name} = {values_text({point[axis.name] for point in grid.points})}" for axis in study.axes]
    least, most = (choose(grid.trials_of_points().values()) for choose in (min, max))
    each = f"{least:,} trials each" if least == most else f"{least:,} to {most:,} trials each"
    return "; ".join(parts) + f"; {len(grid.points)} points, {each}"


def _line(label: str, text: str, margin: int = 16) -> None:
    """A label and a text, folded to the width of the terminal under its own first character."""
    import textwrap

    whole = text.replace(" = ", "\0=\0")  # not to be parted from its value
    first, *rest = textwrap.wrap(whole, max(20, width() - margin), break_on_hyphens=False) or [""]
    click.echo(
        "\n".join([f"    {label:<{margin - 5}} {first}", *(" " * margin + more for more in rest)]).replace("\0", " ")
    )


def _show_short(study: Study) -> None:
    click.echo(study.name)
    _line("title:", study.title)
    _line("source:", study.source)
    _line("statistics:", ", ".join(s.name for s in study.statistics))
    for grid in study.grids:
        _line(f"grid {grid.name}:", _grid_text(study, grid), max(16, 11 + max(len(g.name) for g in study.grids)))


def _range(axis: Axis) -> str:
    kind = "an integer" if axis.kind is int else "a number"
    return f"{kind} in [{axis.low:,}, {axis.high:,}{')' if axis.open_above else ']'}: {axis.description}"


def _time(study: Study, grid: Grid) -> str:
    """What the grid takes, measured now where its kernels are compiled."""
    from ..engine.planning import kernels_ready, measured_seconds, seconds_text
    from ..engine.provenance import available_cpus

    if not kernels_ready(study, grid.points):
        return f"not measured: its kernels are not compiled here yet (fastcube warmup {study.name})"
    trials = grid.trials_of_points().values()
    core = sum(n * s for n, s in zip(trials, measured_seconds(study, grid.points), strict=True))
    threads = available_cpus()
    spread = f", {seconds_text(core / threads)} with {threads} workers" if threads > 1 else ""
    return f"{seconds_text(core)} on one core of this machine{spread}; from half a second of its trials, run now"


def _show_full(study: Study) -> None:
    from ..engine.statistics import Distribution

    click.echo(f"{study.name}, revision {study.revision}")
    _line("title:", study.title)
    _line("source:", study.source)
    click.echo("\naxes")
    for axis in study.axes:
        _line(axis.name, _range(axis))
    click.echo("\nstatistics, the first is what targets refer to")
    margin = min(36, 7 + max(len(s.name) for s in study.statistics))
    for s in study.statistics:
        among = f", among {s.among}" if s.among else ""
        how = f"distribution, {s.label}=0, 1, ..." if isinstance(s, Distribution) else type(s).__name__
        _line(s.name, f"{s.description} [{how}; interval {s.interval}{among}]", margin)
    for i, grid in enumerate(study.grids):
        click.echo(f"\ngrid {grid.name}{', the default' if i == 0 else ''}")
        _line("points:", _grid_text(study, grid))
        _line("time:", _time(study, grid))


@click.command("list")
@click.argument("study", required=False, shell_complete=completing.studies)
def command(study: str | None) -> None:
    """Studies that can be run, with their source, statistics and grids; of one STUDY everything.

    That is its axes with their ranges, statistics with their definitions, and grids with the time that they take, measured
    here and now.
    """
    from ..engine import registry

    if study is not None:
        _show_full(registry.find(study))
        return
    for known in registry.studies().values():
        _show_short(known)
