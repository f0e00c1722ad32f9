"""``fastcube show``."""

from __future__ import annotations

import click

from ..table import FORMATS, as_table
from . import options, width


@click.command("show")
@click.argument("file")
@click.option("--format", "style", type=click.Choice(list(FORMATS)), default="table", show_default=True)
@options.file
def command(file: str, style: str, unchecked: bool, study: str | None) -> None:
    """Print the estimates in a results file, with 95% intervals."""
    results = options.read(file, unchecked, study)
    click.echo(as_table(results, width()) if style == "table" else FORMATS[style](results))
