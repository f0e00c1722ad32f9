"""The command ``fastcube show``."""

from __future__ import annotations

import click

from . import completion, line_width, options, print_message
from .status import missing_shards_text


@click.command("show")
@click.argument("file", shell_complete=completion.complete_files)
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "csv", "json"]),
    default="table",
    show_default=True,
    help="Output format.",
)
@click.option("--stat", metavar="A,B", help="Statistics to print, in this order; by default the study's.")
@options.where_option
@options.file
def command(
    file: str, style: str, stat: str | None, where: tuple[str, ...], unchecked: bool, study: str | None
) -> None:
    """Print the estimates in a results file, with 95% intervals."""
    from ..results.table import as_csv, as_json, as_table

    results = options.read_results(file, unchecked, study, where)
    chosen = None if stat is None else stat.split(",")
    if lacking := missing_shards_text(results):
        print_message(lacking)
    if style == "table":
        click.echo(as_table(results, line_width(), chosen))
    else:
        click.echo((as_csv if style == "csv" else as_json)(results, chosen))
