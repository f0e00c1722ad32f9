"""``fastcube claims``."""

from __future__ import annotations

import json
from typing import Any

import click

from ..errors import ParameterError, listed
from . import coloured, completing, leave, options, say, width

_COLOURS = {"holds": "green", "refuted": "red", "undecided": "yellow"}

FORMATS = ("text", "json", "markdown")


@click.command("claims")
@click.argument("paper", required=False, shell_complete=completing.papers)
@click.argument("name", metavar="[ID]", required=False, shell_complete=completing.claims)
@click.option("--quick", is_flag=True, help="Smaller ranges: two minutes of CPU for all five papers.")
@click.option(
    "--format",
    "style",
    default="text",
    metavar="F",
    shell_complete=completing.one_of(*FORMATS),
    show_default=True,
    help="text, json, or markdown, with the papers' misprints.",
)
@click.option(
    "--only",
    metavar="OUTCOME",
    shell_complete=completing.one_of(*_COLOURS),
    help="Show those alone that are refuted, holds or undecided.",
)
@click.option(
    "--workers", type=click.IntRange(1), metavar="N", help="Claims at once; by default what affinity and Slurm allow."
)
@options.progress
def command(
    paper: str | None,
    name: str | None,
    quick: bool,
    style: str,
    only: str | None,
    workers: int | None,
    progress: str,
) -> int:
    """Decide the papers' claims by code, here and now: holds, refuted with its smallest witness, or not decided.

    All claims, those of one PAPER (or of a Python file with a Ledger), or the one called ID.  A witness is a Python
    expression in the names of `import fastcube as fc`, with the value it gives.  A claim marked [ours] is a repair, a
    case of a vague remark, or about an algorithm that the paper does not give.
    """
    from ..engine import registry
    from ..engine.deciding import decide
    from ..engine.progress import Progress
    from ..ledger import OUTCOMES, markdown, summary, text

    if style not in FORMATS:
        raise ParameterError(f"format must be {listed(FORMATS)}, got {style}")
    if only is not None and only not in OUTCOMES:
        raise ParameterError(f"only must be {listed(OUTCOMES)}, got {only}")
    claims = registry.claims(paper, name)
    file = paper if paper is not None and paper.endswith(".py") else None
    reports: list[dict[str, Any]] = []
    bar = Progress(progress)

    def take(report: dict[str, Any]) -> None:
        reports.append(report)
        if style == "text" and only in (None, report["outcome"]):
            title, end, rest = text(report, max(40, width(100))).partition(f" {OUTCOMES[report['outcome']]}\n")
            click.echo(title + coloured(end, _COLOURS[report["outcome"]]) + rest)
        if "failed" in report:
            say(f"fastcube: deciding {report['paper']} {report['id']} failed: {report['failed']}")

    code = decide(claims, take, quick=quick, file=file, workers=workers, progress=bar)
    if code:
        bar.say(f"fastcube: interrupted after {len(reports)} of {len(claims)} claims")
        leave(code)
    shown = [report for report in reports if only in (None, report["outcome"])]
    if style == "json":
        click.echo(json.dumps(shown, indent=1))
    else:
        click.echo(summary(reports) if style == "text" else markdown(reports, only, whole=name is None))
    return 1 if any("failed" in report for report in reports) else 0
