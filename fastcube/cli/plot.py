"""``fastcube plot``."""

from __future__ import annotations

import click

from ..engine.results import open_results
from ..plot import check_target, draw
from . import say


@click.command()
@click.argument("file")
@click.option("-o", "--output", required=True, metavar="FIG", help="Figure to write: .png, .svg or .pdf.")
def command(file: str, output: str) -> None:
    """Draw the paper's figure from a results file."""
    check_target(output)
    draw(open_results(file), output)
    say(f"figure in {output}")
