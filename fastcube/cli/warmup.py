"""The command ``fastcube warmup``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import FastcubeError, ParameterError, check_path, count_text, plain_text, wrap_study_errors
from . import completion, options

if TYPE_CHECKING:
    from ..kernels.machine.jit import Kernel


@click.command("warmup", epilog="\b\nExample:\n  fastcube warmup unsafe-fraction --set n=8 --set f=4")
@click.argument("studies", nargs=-1, shell_complete=completion.complete_studies)
@options.points
@click.option(
    "--into",
    metavar="DIR",
    help="Folder for a copy of the machine code, which other users name in FASTCUBE_CACHE_PATH.",
)
@options.verbose
def command(studies: tuple[str, ...], axes: tuple[str, ...], grid: str | None, into: str | None) -> None:
    """Compile the kernels of studies (by default all), at their default points or at the given points, and print the time."""
    from ..kernels.machine.cache import cache_folder
    from ..measure import registry
    from ..measure.grid import build_points

    root = None if into is None else _check_root(into)
    chosen = [registry.study(name) for name in studies] or list(registry.studies().values())
    given = options.parse_axes(axes)
    for study in chosen:
        points = build_points(study, given, grid)
        with wrap_study_errors(f"compiling {study.name}"):
            kernels = list(dict.fromkeys(study.kernel(point) for point in points))
            for kernel in kernels:
                _ = kernel.compiled
        if root is not None:
            for kernel in kernels:
                _copy_kernel(kernel, root)
        click.echo(f"{study.name}: {count_text(len(kernels), 'kernel')} in {sum(k.seconds for k in kernels):.1f} s")
    folder = cache_folder()
    if root is not None:
        click.echo(f"copied to {root}: others load it with FASTCUBE_CACHE_PATH={root}")
    else:
        click.echo(f"cache: {folder}" if folder else "cache: none, no folder can be written; set FASTCUBE_CACHE_DIR")


def _check_root(into: str) -> Path:
    """Return the folder to copy to.  Raises ParameterError for a folder that other users would not load code from."""
    from ..kernels.machine.cache_roots import explain_distrust

    root = Path(os.path.realpath(check_path("into", into)))
    if os.pathsep in str(root) or not str(root).isprintable() or root == Path(root.anchor):
        raise ParameterError(f"into must be a folder that FASTCUBE_CACHE_PATH can name, got {plain_text(str(root))}")
    try:
        reason = explain_distrust(root) if root.exists() else None
    except OSError as error:
        raise ParameterError(f"into must be a folder, got {plain_text(into)}: {error.strerror}") from error
    if reason is None and root.exists() and not root.is_dir():
        reason = "is no folder"
    if reason is not None:
        raise ParameterError(
            f"into must be a folder that others may load machine code from, got {plain_text(into)}: it {reason}"
        )
    return root


def _copy_kernel(kernel: Kernel, root: Path) -> None:
    """Copy a kernel's machine code to a cache folder.  Raises FastcubeError if it is not cached or cannot be written."""
    entry = kernel.stored
    if entry is None:
        raise FastcubeError(
            f"{kernel!r} is in no cache, so it cannot be copied; set FASTCUBE_CACHE_DIR to a folder of yours"
        )
    try:
        entry.copy_into(root)
    except OSError as error:
        raise FastcubeError(f"{root} cannot be written: {error.strerror or error}") from error
