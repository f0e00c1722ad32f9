"""The command ``fastcube info``."""

from __future__ import annotations

import os
import platform

import click

from ..errors import plain_text, range_text
from . import completion, options


def _print_environment() -> None:
    """Print the versions of the software, the processor, its limits and the folders of the cache."""
    from ..kernels.machine.cache import cache_folder, list_read_only_folders
    from ..kernels.machine.target import CPU_NAME
    from ..results.processors import processor_limits
    from ..results.provenance import cpu_name, git_revision, library_versions, package_version

    folder = cache_folder()
    click.echo(f"fastcube  {package_version()}" + (f" (git {revision})" if (revision := git_revision()) else ""))
    click.echo(f"python    {platform.python_version()} on {platform.platform()}")
    click.echo("libraries " + ", ".join(f"{name} {v}" for name, v in library_versions().items()))
    click.echo(f"cpu       {cpu_name()} (LLVM {CPU_NAME})")
    limits = processor_limits()
    limit = min(limits, key=lambda name: limits[name])
    click.echo(f"threads   {limits[limit]}")
    click.echo(f"limit     {limit}; the machine has {os.cpu_count()} processors")
    click.echo(f"cache     {folder}" if folder else "cache     none: no folder can be written; set FASTCUBE_CACHE_DIR")
    for read_only in list_read_only_folders():
        click.echo(f"          {read_only} (only read)")


@click.command("info", epilog="\b\nExample:\n  fastcube info unsafe.h5")
@click.argument("file", required=False, shell_complete=completion.complete_files)
@click.option(
    "--unchecked", is_flag=True, help="Skip the checksum test, for a file that another program has rewritten."
)
def command(file: str | None, unchecked: bool) -> None:
    """Show the environment and the cache folder, or with FILE the identity and digest of a results file."""
    if file is None:
        _print_environment()
        return
    from ..measure.study import GENERATOR
    from ..results.reading import open_results
    from ..results.table import unverified_note

    with options.suggest_unchecked():
        results = open_results(file, unchecked=unchecked)
    trials = [tally.trials for _, tally in results]
    click.echo(f"study      {results.study.name} revision {results.study.revision}: {results.study.title}")
    click.echo(f"source     {results.study.source}")
    click.echo(f"seed       {results.seed}")
    click.echo(f"generator  {GENERATOR}")
    per_point = range_text(f"{min(trials, default=0):,}", f"{max(trials, default=0):,}")
    click.echo(f"points     {len(trials)}, with {per_point} trials, {sum(trials):,} in all")
    if target := results.goal.describe_targets(results.study):
        click.echo(f"target     {target}, in the last run")
    if axis := results.study.swept_axis:
        click.echo(f"curves     points that differ in {axis.name} alone share their trials")
    click.echo(f"digest     {results.digest()}")
    for line in unverified_note(results):
        click.echo(f"numbers    {line}")
    for run in results.history:
        written, version, host = (
            plain_text(str(run.get(section, {}).get(name, "?") if isinstance(run.get(section), dict) else "?"))
            for section, name in (("resources", "written"), ("software", "version"), ("environment", "host"))
        )
        click.echo(f"written    {written} by fastcube {version} on {host}")
