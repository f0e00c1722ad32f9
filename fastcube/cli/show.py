"""``fastcube show``."""

from __future__ import annotations

import click

from ..engine.results import open_results
from ..table import FORMATS


@click.command()
@click.argument("file")
@click.option("--format", "style", type=click.Choice(list(FORMATS)), default="table", show_default=True)
def command(file: str, style: str) -> None:
    """Print the estimates in a results file, with 95% intervals."""
    click.echo(FORMATS[style](open_results(file)))
