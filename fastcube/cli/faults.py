"""The command ``fastcube faults``."""

from __future__ import annotations

import csv
import sys

import click

from ..errors import parse_count
from . import completion, options


@click.command("faults", epilog="\b\nExample:\n  fastcube faults routing --set n=8 --set f=6 --trials 100 > faults.csv")
@click.argument("study", shell_complete=completion.complete_studies)
@options.points
@click.option("--seed", default="0", metavar="S", show_default=True, help="Seed, 0 .. 2^63 - 1.")
@click.option("--first", default="0", metavar="T", show_default=True, help="Index of the first trial.")
@click.option("--trials", required=True, metavar="T", help="Number of trials.")
def command(study: str, axes: tuple[str, ...], grid: str | None, seed: str, first: str, trials: str) -> None:
    """Write the fault sets that a run samples as CSV, for other simulators.

    Each row is one trial: the axes, trial, faulty_nodes (labels), faulty_links (u-v) and other samples, such as source and
    destination.
    """
    from ..measure import registry
    from ..measure.fault_sets import iter_csv_rows
    from ..measure.grid import build_points

    chosen = registry.study(study)
    points = build_points(chosen, options.parse_axes(axes), grid)
    counts = {name: parse_count(name, given) for name, given in (("seed", seed), ("first", first), ("trials", trials))}
    csv.writer(sys.stdout, lineterminator="\n").writerows(iter_csv_rows(chosen, points, **counts))
