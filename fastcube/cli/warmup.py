"""``fastcube warmup``."""

from __future__ import annotations

import click

from . import completing, options


@click.command("warmup")
@click.argument("studies", nargs=-1, shell_complete=completing.studies)
@options.points
@options.verbose
def command(studies: tuple[str, ...], axes: tuple[str, ...], grid: str | None) -> None:
    """Compile the kernels of studies (all by default) at their default points, or those set, and say how long it took."""
    from ..engine import registry
    from ..engine.grid import build
    from ..kernels.cache import cache_folder

    chosen = [registry.find(name) for name in studies] or list(registry.studies().values())
    given = options.parse_axes(axes)
    for study in chosen:
        kernels = list(dict.fromkeys(study.kernel(point) for point in build(study, given, grid)))
        for kernel in kernels:
            _ = kernel.compiled
        click.echo(f"{study.name}: {len(kernels)} kernels in {sum(k.seconds for k in kernels):.1f} s")
    folder = cache_folder()
    click.echo(f"cache: {folder}" if folder else "cache: none, no folder can be written; set FASTCUBE_CACHE_DIR")
