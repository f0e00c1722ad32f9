"""``fastcube list``."""

from __future__ import annotations

import click

from ..engine import registry
from ..engine.study import Grid, Study


def _grid_text(study: Study, grid: Grid) -> str:
    parts = []
    for axis in study.axes:
        values = sorted({point[axis.name] for point in grid.points})
        shown = (
            ",".join(map(str, values)) if len(values) <= 12 else f"{min(values)}..{max(values)} ({len(values)} values)"
        )
        parts.append(f"{axis.name} = {shown}")
    least, most = (choose(grid.trials_of_points().values()) for choose in (min, max))
    each = f"{least:,} trials each" if least == most else f"{least:,} to {most:,} trials each"
    return "; ".join(parts) + f"; {len(grid.points)} points, {each}"


@click.command("list")
def command() -> None:
    """Studies that can be run, with their source, statistics and grids."""
    for study in registry.studies().values():
        click.echo(study.name)
        click.echo(f"    {study.title}")
        click.echo(f"    source:     {study.source}")
        click.echo(f"    statistics: {', '.join(s.name for s in study.statistics)}")
        width = max(11, *(len(grid.name) + 6 for grid in study.grids))
        for grid in study.grids:
            click.echo(f"    {f'grid {grid.name}:':<{width}} {_grid_text(study, grid)}")
