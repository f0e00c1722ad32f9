"""The command ``fastcube evaluate``."""

from __future__ import annotations

import csv
import sys

import click

from . import completion


@click.command("evaluate")
@click.argument("file", shell_complete=completion.complete_files)
@click.option("--study", required=True, metavar="STUDY", help="Study: survival, unsafe-fraction or find-tree.")
def command(file: str, study: str) -> None:
    """Run a study's algorithm on fault sets from a CSV file, and write the results as CSV.

    The format is that of `fastcube faults`, with columns n, network, trial, faulty_nodes (labels) and faulty_links (u-v).
    """
    from ..measure.given_faults import iter_evaluations
    from ..running.progress import Progress

    progress, done = Progress(), 0
    write = csv.writer(sys.stdout, lineterminator="\n").writerow
    for done, row in enumerate(iter_evaluations(file, study)):
        write(row)
        if progress.is_due():
            progress.update(done, None, file)
    progress.update(done, None, file, final=True)
