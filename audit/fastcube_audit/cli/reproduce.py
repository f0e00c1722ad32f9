"""The command ``fastcube reproduce``."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from fastcube.cli import completion, options
from fastcube.cli.terminal import exit_unfinished, print_message

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def _complete_papers(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Return the names of the papers with an inventory."""
    from fastcube.measure.inventory import papers

    return completion.matching_items(papers(), incomplete)


@click.command("reproduce", epilog="\b\nExample:\n  fastcube reproduce --quick -o report")
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    required=True,
    shell_complete=completion.complete_files,
    help="Folder of the report, new or to be continued.",
)
@click.option("--quick", is_flag=True, help="Run fewer trials and smaller ranges, some 5 minutes instead of 20.")
@click.option(
    "--paper",
    "papers",
    multiple=True,
    metavar="NAME",
    shell_complete=_complete_papers,
    help="Paper to report, such as lee_hayes; by default all.  Repeat for other papers.",
)
@options.workers
@options.max_seconds
@options.progress
@click.option("--force", is_flag=True, help="Compute all parts again.")
def command(
    output: str,
    quick: bool,
    papers: tuple[str, ...],
    workers: int | None,
    max_seconds: float | None,
    progress: str,
    force: bool,
) -> int:
    """Measure and decide everything that five papers print, and write it next to their statements into FOLDER/report.html.

    The report is one HTML file with plots, verdicts and smallest counterexamples, and can be read offline.  Run the same
    command again to continue.  A full run continues the trials of a quick run.
    """
    from ..report import build_maker, prepare

    plan = prepare(papers or None, quick)
    maker = build_maker(output, plan, workers, max_seconds, progress, force)
    code: int = maker.run()
    if code:
        exit_unfinished(code, f"what is done is in {output}")
    from ..report.agreement import VERDICT_LABELS
    from ..report.content import collect_content  # needs Jinja2, which prepare() has checked

    for paper in collect_content(maker.plan, maker.folder)["papers"]:
        counts = Counter(VERDICT_LABELS[result["verdict"]][0] for result in paper["results"])
        reported = ", ".join(f"{many} {word}" for word, many in counts.most_common())
        click.echo(f"{paper['inventory'].short}: {counts.total()} items: {reported}")
    print_message(f"report in {maker.folder.page} ({maker.folder.page.stat().st_size / 1e6:.2f} MB)")
    return 1 if maker.failed else 0
