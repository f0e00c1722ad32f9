"""``fastcube claims``."""

from __future__ import annotations

import json
import re
import shutil
import textwrap
from typing import Any

import click

from ..engine import registry
from ..engine.deciding import decide
from ..engine.progress import Progress
from . import leave, say

_WORDS = {"holds": "holds", "refuted": "REFUTED", "undecided": "not decided"}

#: Where a Python expression may be broken: after a comma that is outside of strings.
_PIECES = re.compile(r"""(?:'[^']*'|"[^"]*"|[^,'"]|,(?! ))*(?:, )?""")


def _folded(python: str, width: int) -> list[str]:
    """A Python expression on lines of at most ``width``, broken at commas, so that it can be pasted."""
    lines = [""]
    for piece in _PIECES.findall(python):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def _show(report: dict[str, Any]) -> None:
    width = max(40, shutil.get_terminal_size((100, 24)).columns)
    margin = " " * 13

    def block(label: str, text: str) -> None:
        wrapped = textwrap.wrap(text, width, initial_indent=f"    {label:<9}", subsequent_indent=margin,
                                break_long_words=False, break_on_hyphens=False)  # fmt: skip
        click.echo("\n".join(wrapped))

    mark = " [ours]" if report["ours"] else ""
    title = f"{report['paper']} {report['id']}{mark} ({report['where']}): {_WORDS[report['outcome']]}"
    click.echo("\n".join(textwrap.wrap(title, width, subsequent_indent="    ", break_on_hyphens=False)))
    block("states", report["statement"])
    block("checked", report["checked"])
    if report["correction"]:
        block("instead", report["correction"])
    for witness in report["witnesses"]:
        block("witness", witness["words"])
        first, *rest = _folded(witness["python"], width - len(margin))
        click.echo("\n".join([f"    {'replay':<9}{first}", *(margin + line for line in rest)]))
        block("gives", repr(witness["value"]))
    click.echo()


def summary(reports: list[dict[str, Any]]) -> str:
    """How many claims hold, are refuted and are not decided; ours counted apart from the papers' own."""
    lines = []
    for ours, whose in ((False, "of the papers"), (True, "of ours")):
        some = [report["outcome"] for report in reports if report["ours"] == ours]
        if some:
            words = {
                "holds": "hold" if some.count("holds") != 1 else "holds",
                "refuted": "refuted",
                "undecided": "not decided",
            }
            counts = ", ".join(f"{some.count(outcome)} {word}" for outcome, word in words.items())
            lines.append(f"{len(some)} claim{'s' * (len(some) > 1)} {whose}: {counts}")
    return "\n".join(lines)


@click.command("claims")
@click.argument("paper", required=False)
@click.argument("name", metavar="[ID]", required=False)
@click.option("--quick", is_flag=True, help="Smaller ranges, seconds instead of minutes.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option(
    "--workers", type=click.IntRange(1), metavar="N", help="Claims at once; by default what affinity and Slurm allow."
)
@click.option("--progress", default="auto", metavar="P", show_default=True, help="auto, bar, lines or none.")
def command(paper: str | None, name: str | None, quick: bool, as_json: bool, workers: int | None, progress: str) -> int:
    """Decide the papers' claims by code, here and now: holds, refuted with its smallest witness, or not decided.

    All claims, those of one PAPER (or of a Python file with a Ledger), or the one called ID.  A witness is a Python
    expression in the names of `import fastcube as fc`, with the value it gives.  A claim marked [ours] is a repair, a
    case of a vague remark, or about an algorithm that the paper does not give.
    """
    claims = registry.claims(paper, name)
    file = paper if paper is not None and paper.endswith(".py") else None
    reports: list[dict[str, Any]] = []
    bar = Progress(progress)

    def take(report: dict[str, Any]) -> None:
        reports.append(report)
        if not as_json:
            _show(report)
        if "failed" in report:
            say(f"fastcube: deciding {report['paper']} {report['id']} failed: {report['failed']}")

    code = decide(claims, take, quick=quick, file=file, workers=workers, progress=bar)
    if code:
        bar.say(f"fastcube: interrupted after {len(reports)} of {len(claims)} claims")
        leave(code)
    click.echo(json.dumps(reports, indent=1) if as_json else summary(reports))
    return 1 if any("failed" in report for report in reports) else 0
