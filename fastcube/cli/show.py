"""``fastcube show``."""

from __future__ import annotations

import click

from . import completing, options, width


@click.command("show")
@click.argument("file", shell_complete=completing.files)
@click.option("--format", "style", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True)
@options.file
def command(file: str, style: str, unchecked: bool, study: str | None) -> None:
    """Print the estimates in a results file, with 95% intervals."""
    from ..table import FORMATS, as_table

    results = options.read(file, unchecked, study)
    click.echo(as_table(results, width()) if style == "table" else FORMATS[style](results))
