"""``fastcube plot``."""

from __future__ import annotations

import os

import click

from ..errors import ParameterError
from . import completion, options, print_message


@click.command("plot")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, shell_complete=completion.complete_files)
@click.option(
    "-o",
    "--output",
    metavar="FIG",
    shell_complete=completion.complete_files,
    help="Figure: .png, .svg or .pdf; by default the first FILE with .png for its ending.",
)
@click.option("--stat", metavar="A,B", help="These statistics on one pair of axes; by default the study's own figure.")
@click.option("--x", metavar="AXIS", help="Along this axis; by default that of most values.")
@click.option("--by", metavar="AXIS", help="A line for each value of this axis.")
@click.option("--log", is_flag=True, help="A logarithmic scale.")
@click.option("--width", metavar="W", default="screen", help="3.3in, 7in (2.5 to 20 on paper), or screen, the default.")
@click.option(
    "--height", metavar="H", help="4in (1.5 to 40); by default as the panels need, in a column at most 4.5in."
)
@click.option("--style", type=click.Choice(["paper", "screen", "dark"]), help="By default paper for a width in inches.")
@click.option("--panel", metavar="K,L", help="These panels of the study's figure alone, numbered from 1.")
@click.option("--title", metavar="TEXT", help="In place of the figure's title; none for no title.")
@options.where_option
@options.file
def command(
    files: tuple[str, ...],
    output: str | None,
    stat: str | None,
    x: str | None,
    by: str | None,
    log: bool,
    width: str,
    height: str | None,
    style: str | None,
    panel: str | None,
    title: str | None,
    where: tuple[str, ...],
    unchecked: bool,
    study: str | None,
) -> None:
    """Draw the paper's figure from a results file; the plain one where the study's code is not here.

    With --stat, --x, --by or --log: statistics of your choice on one pair of axes, with 95% intervals.  Several files are
    drawn on one pair of axes.
    """
    from ..measure.registry import code_of
    from ..plot import check_target, draw_figure
    from ..plot.sheet import height_in_inches, width_in_inches

    output = f"{os.path.splitext(files[0])[0]}.png" if output is None else output  # noqa: PTH122  (any text is a file)
    check_target(output)
    width_in_inches(width)
    height_in_inches(height)
    several = [options.read_results(file, unchecked, study, where) for file in files]
    chosen = [] if stat is None else stat.split(",")
    results = several[0]
    if code_of(results.study) is None and not (chosen or x or by or log or len(several) > 1):
        print_message(
            f"the code of {results.study.name} is not here: this is the plain figure (--study FILE.py gives its own)"
        )
    layout = {"width": width, "height": height, "style": style, "title": title}
    draw_figure(several, output, None, chosen, x, by, log, _read_panels(panel), **layout)
    print_message(f"figure in {output}")


def _read_panels(text: str | None) -> list[int]:
    """The numbers of ``1,3``."""
    try:
        numbers = [int(part) for part in (text or "").split(",") if text]
    except ValueError:
        numbers = [0]
    if any(k < 1 for k in numbers):
        raise ParameterError(f"panel must be numbers from 1, as 1,3, got {text}")
    return numbers
