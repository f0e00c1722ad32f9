"""The command ``fastcube show``."""

from __future__ import annotations

import click

from . import completion, options
from .terminal import table_width


@click.command("show", epilog="\b\nExample:\n  fastcube show unsafe.h5 --where n=10 --format csv")
@click.argument("file", shell_complete=completion.complete_files)
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "csv", "json", "markdown", "latex"]),
    default="table",
    show_default=True,
    help="Output format; latex needs the package booktabs.",
)
@click.option("--stat", metavar="A,B", help="Statistics to print, in this order; by default the study's.")
@click.option(
    "--sort", metavar="COLUMN[:desc]", help="Order of points by an axis, trials or a statistic; by default by axes."
)
@options.where_option
@options.file
def command(
    file: str,
    style: str,
    stat: str | None,
    sort: str | None,
    where: tuple[str, ...],
    unchecked: bool,
    study: str | None,
) -> None:
    """Print the estimates in a results file, with 95% intervals."""
    from ..results import table

    results = options.read_results(file, unchecked, study, where)
    if sort is not None:
        results = table.sort_points(results, sort)
    chosen = None if stat is None else stat.split(",")
    if style == "table":
        click.echo(table.as_table(results, table_width(), chosen))
    else:
        writers = {"csv": table.as_csv, "json": table.as_json, "markdown": table.as_markdown, "latex": table.as_latex}
        click.echo(writers[style](results, chosen))
