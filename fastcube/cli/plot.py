"""``fastcube plot``."""

from __future__ import annotations

import os

import click

from . import completion, options, print_message


@click.command("plot")
@click.argument("file", shell_complete=completion.complete_files)
@click.option(
    "-o",
    "--output",
    metavar="FIG",
    shell_complete=completion.complete_files,
    help="Figure: .png, .svg or .pdf; by default FILE with .png for its ending.",
)
@click.option("--stat", metavar="A,B", help="These statistics on one pair of axes; by default the study's own figure.")
@click.option("--x", metavar="AXIS", help="Along this axis; by default that of most values.")
@click.option("--by", metavar="AXIS", help="A line for each value of this axis.")
@click.option("--log", is_flag=True, help="A logarithmic scale.")
@click.option("--width", metavar="W", default="screen", help="3.3in, 7in (2.5 to 20 on paper), or screen, the default.")
@options.where_option
@options.file
def command(
    file: str,
    output: str | None,
    stat: str | None,
    x: str | None,
    by: str | None,
    log: bool,
    width: str,
    where: tuple[str, ...],
    unchecked: bool,
    study: str | None,
) -> None:
    """Draw the paper's figure from a results file; the plain one where the study's code is not here.

    With --stat, --x, --by or --log: statistics of your choice on one pair of axes, with 95% intervals.
    """
    from ..measure.registry import code_of
    from ..plot import check_target, draw_figure
    from ..plot.sheet import width_in_inches

    output = f"{os.path.splitext(file)[0]}.png" if output is None else output  # noqa: PTH122  (any text is a file)
    check_target(output)
    width_in_inches(width)
    results = options.read_results(file, unchecked, study, where)
    chosen = [] if stat is None else stat.split(",")
    if code_of(results.study) is None and not (chosen or x or by or log):
        print_message(
            f"the code of {results.study.name} is not here: this is the plain figure (--study FILE.py gives its own)"
        )
    draw_figure(results, output, None, chosen, x, by, log, width)
    print_message(f"figure in {output}")
