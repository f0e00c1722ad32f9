"""``fastcube show``."""

from __future__ import annotations

import click

from ..table import FORMATS
from . import options


@click.command("show")
@click.argument("file")
@click.option("--format", "style", type=click.Choice(list(FORMATS)), default="table", show_default=True)
@options.file
def command(file: str, style: str, unchecked: bool, study: str | None) -> None:
    """Print the estimates in a results file, with 95% intervals."""
    click.echo(FORMATS[style](options.read(file, unchecked, study)))
