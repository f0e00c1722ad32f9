"""``fastcube warmup``."""

from __future__ import annotations

import click

from ..errors import wrap_study_errors
from . import completion, options


@click.command("warmup")
@click.argument("studies", nargs=-1, shell_complete=completion.complete_studies)
@options.points
@options.verbose
def command(studies: tuple[str, ...], axes: tuple[str, ...], grid: str | None) -> None:
    """Compile the kernels of studies (all by default) at their default points, or those set, and say how long it took."""
    from ..kernels.machine.cache import cache_folder
    from ..measure import registry
    from ..measure.grid import build_points

    chosen = [registry.study(name) for name in studies] or list(registry.studies().values())
    given = options.parse_axes(axes)
    for study in chosen:
        points = build_points(study, given, grid)
        with wrap_study_errors(f"compiling {study.name}"):
            kernels = list(dict.fromkeys(study.kernel(point) for point in points))
            for kernel in kernels:
                _ = kernel.compiled
        click.echo(f"{study.name}: {len(kernels)} kernels in {sum(k.seconds for k in kernels):.1f} s")
    folder = cache_folder()
    click.echo(f"cache: {folder}" if folder else "cache: none, no folder can be written; set FASTCUBE_CACHE_DIR")
