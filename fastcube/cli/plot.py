"""The command ``fastcube plot``."""

from __future__ import annotations

import os

import click

from ..errors import ParameterError
from . import completion, options
from .terminal import print_message


@click.command("plot", epilog="\b\nExample:\n  fastcube plot unsafe.h5 -o unsafe.svg")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, shell_complete=completion.complete_files)
@click.option(
    "-o",
    "--output",
    metavar="FIG",
    callback=options.check_output,
    shell_complete=completion.complete_files,
    help="Figure file, .png, .svg or .pdf; by default the name of the first FILE with .png.",
)
@click.option("--stat", metavar="A,B", help="Statistics for one pair of axes; by default the study's own figure.")
@click.option("--x", metavar="AXIS", help="Axis of the study along x; by default the axis with most values.")
@click.option("--by", metavar="AXIS", help="Axis of the study whose values each get a line.")
@click.option("--log", is_flag=True, help="Draw a logarithmic y scale; by default only if the data span two decades.")
@click.option(
    "--width",
    metavar="W",
    default="screen",
    help="Width in inches, such as 3.3in (2.5 to 20), or screen (the default).",
)
@click.option("--height", metavar="H", help="Height in inches, such as 4in (1.5 to 40); by default as needed.")
@click.option(
    "--style",
    type=click.Choice(["paper", "screen", "dark"]),
    help="Style; by default paper if --width is in inches, else screen.",
)
@click.option("--panel", metavar="K,L", help="Numbers of the panels to plot, from 1; by default all.")
@click.option("--title", metavar="TEXT", help="Title of the figure, or none for no title; by default the study's.")
@click.option("--xlabel", metavar="TEXT", help="Label of the horizontal axis of one panel; by default as in the study.")
@click.option("--ylabel", metavar="TEXT", help="Label of the vertical axis of one panel; by default as in the study.")
@click.option(
    "--legend", metavar="A,B", help="Labels of the lines, in the order of the legend; by default the study's."
)
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
    xlabel: str | None,
    ylabel: str | None,
    legend: str | None,
    where: tuple[str, ...],
    unchecked: bool,
    study: str | None,
) -> None:
    """Plot the study's figure from results files, or a plain figure if the study's code is not available.

    With --stat, --x, --by or --log, plot chosen statistics on one pair of axes, with 95% intervals.  Several files share one
    pair of axes.
    """
    from ..measure.registry import find_study
    from ..plot import check_target, draw_figure
    from ..plot.sheet_options import check_inches

    output = f"{os.path.splitext(files[0])[0]}.png" if output is None else output  # noqa: PTH122  (any text is a file)
    check_target(output, "output")
    check_inches("width", width)
    check_inches("height", height)
    several = [options.read_results(file, unchecked, study, where) for file in files]
    chosen = [] if stat is None else stat.split(",")
    results = several[0]
    if find_study(results.study) is None and not (chosen or x or by or log or len(several) > 1):
        print_message(
            f"the code of {results.study.name} is not here: this is the plain figure (--study FILE.py gives its own)"
        )
    layout = {"width": width, "height": height, "style": style, "title": title, "xlabel": xlabel, "ylabel": ylabel}
    labels = False if legend is None else legend.split(",")
    draw_figure(
        several, output, statistics=chosen, x=x, by=by, log=log, panels=_read_panels(panel), legend=labels, **layout
    )
    print_message(f"figure in {output}")


def _read_panels(text: str | None) -> list[int]:
    try:
        numbers = [int(part) for part in (text or "").split(",") if text]
    except ValueError:
        numbers = [0]
    if any(k < 1 for k in numbers):
        raise ParameterError(f"panel must be numbers from 1, as 1,3, got {text}")
    return numbers
