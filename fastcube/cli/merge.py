"""``fastcube merge``."""

from __future__ import annotations

import click

from ..output import OutputFile
from ..results import merge
from . import say


@click.command()
@click.argument("shards", nargs=-1, required=True)
@click.option("-o", "--output", required=True, metavar="FILE", help="Results file to write.")
def command(shards: tuple[str, ...], output: str) -> None:
    """Add the results of disjoint trials of one study and seed; exact, in any order and nesting."""
    file = OutputFile(output)
    merged = merge(shards)
    file.save(merged)
    trials = sum(tally.trials for _, tally in merged)
    say(
        f"merged {len(shards)} files, {trials:,} trials at {len(merged.tallies)} points, into {output}; digest {merged.digest()}"
    )
