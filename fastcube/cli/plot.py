"""``fastcube plot``."""

from __future__ import annotations

import click

from . import completing, options, say


@click.command("plot")
@click.argument("file", shell_complete=completing.files)
@click.option(
    "-o", "--output", required=True, metavar="FIG", shell_complete=completing.files, help="Figure: .png, .svg or .pdf."
)
@options.file
def command(file: str, output: str, unchecked: bool, study: str | None) -> None:
    """Draw the paper's figure from a results file; the plain one where the study's code is not here."""
    from ..engine.registry import code_of
    from ..plot import check_target, draw

    check_target(output)
    results = options.read(file, unchecked, study)
    if code_of(results.study) is None:
        say(f"the code of {results.study.name} is not here: this is the plain figure (--study FILE.py gives its own)")
    draw(results, output)
    say(f"figure in {output}")
