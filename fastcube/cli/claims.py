"""``fastcube claims``."""

from __future__ import annotations

import json
import textwrap
from typing import Any

import click

from ..engine import registry
from ..errors import ParameterError

_WORDS = {"holds": "holds", "refuted": "REFUTED", "undecided": "not decided"}


def _show(report: dict[str, Any]) -> None:
    def block(label: str, text: str) -> None:
        click.echo(textwrap.fill(text, 110, initial_indent=f"    {label:<9}", subsequent_indent=" " * 13))

    click.echo(f"{report['paper']} {report['id']} ({report['where']}): {_WORDS[report['outcome']]}")
    block("states", report["statement"])
    block("checked", report["checked"])
    if report["witness"] is not None:
        block("witness", report["witness"]["words"])
        click.echo(f"    {'replay':<9}{report['witness']['python']} -> {report['witness']['value']}")
    click.echo()


@click.command()
@click.argument("paper", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(paper: str | None, as_json: bool) -> None:
    """Decide the papers' claims by code, here and now: holds, refuted with its smallest witness, or not decided.

    A witness is a Python expression in the names of `import fastcube as fc`, with the value it gives.
    """
    claims = registry.claims()
    papers = list(dict.fromkeys(claim.paper for claim in claims))
    if paper is not None and paper not in papers:
        raise ParameterError(f"paper must be one of {', '.join(papers)}, got {paper}")
    reports = []
    for claim in claims:
        if paper in (None, claim.paper):
            reports.append(claim.report())
            if not as_json:
                _show(reports[-1])
    if as_json:
        click.echo(json.dumps(reports, indent=1))
        return
    counts = {word: sum(r["outcome"] == outcome for r in reports) for outcome, word in _WORDS.items()}
    click.echo(f"{len(reports)} claims: " + ", ".join(f"{count} {word.lower()}" for word, count in counts.items()))
