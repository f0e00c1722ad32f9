"""The command ``fastcube evaluate``."""

from __future__ import annotations

import csv
import sys

import click

from . import completion


@click.command("evaluate", epilog="\b\nExample:\n  fastcube evaluate faults.csv --study routing")
@click.argument("file", shell_complete=completion.complete_files)
@click.option(
    "--study",
    required=True,
    metavar="STUDY",
    help="Study: survival, unsafe-fraction, find-tree, or a study of one message.",
)
def command(file: str, study: str) -> None:
    """Run a study's algorithm on fault sets from a CSV file, and write the results as CSV.

    The format is that of `fastcube faults`, with columns n, network, trial, faulty_nodes (decimal labels) and faulty_links (u-v).
    Studies of one message (routing, routing-rate, routing-rules, routing-rules-rate, dualcube-routing) also read its ends, s
    and t.
    """
    from ..measure.evaluations import iter_evaluations
    from ..running.progress import Progress

    reading, progress, done = Progress(unit="lines"), Progress(), 0

    def report_line(number: int) -> None:
        if reading.is_due():
            reading.update(number, None, f"checking {file}")

    write = csv.writer(sys.stdout, lineterminator="\n").writerow
    for done, row in enumerate(iter_evaluations(file, study, report_line)):
        write(row)
        if progress.is_due():
            progress.update(done, None, file)
    progress.update(done, None, file, final=True)
