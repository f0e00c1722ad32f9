"""The command ``fastcube claims``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from fastcube.cli import completion, options
from fastcube.cli.terminal import colour_text, exit_process, line_width, print_message
from fastcube.errors import ParameterError, count_text, join_alternatives, plain_text

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from ..claims import Claim

_COLOURS = {
    "holds": "green",
    "refuted": "red",
    "misprint": "cyan",
    "depends": "magenta",
    "unreproduced": "magenta",
    "undecided": "yellow",
}

FORMATS = ("text", "json", "markdown")

#: The argument that stands for all papers and questions.
ALL_PAPERS = "all"


def _duration_text(seconds: float) -> str:
    """Return a duration as text with one or two digits, because it was measured on another machine."""
    if seconds < 5:
        return "seconds"
    if seconds < 60:
        return f"{10 * max(1, round(seconds / 10))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _wall_seconds(claims: Sequence[Claim], costs: Mapping[tuple[str, str], float], workers: int) -> float:
    """Return the seconds that parallel deciding takes: at least the longest claim or group of claims of one process."""
    groups: dict[tuple[str, str], float] = {}
    for claim in claims:
        groups[claim.together] = groups.get(claim.together, 0.0) + costs[claim.key]
    return max(sum(groups.values()) / workers, max(groups.values(), default=0.0))


def _list_claims(style: str, workers: int) -> None:
    """Print the papers, their numbers of claims, the time for deciding them here, and the number of cached verdicts."""
    from .. import registries
    from ..deciding import cached_verdicts
    from ..report.plan import claim_seconds

    rows: list[dict[str, Any]] = []
    known = registries.claim_registries()
    for name, claims in [
        *((name, list(registry)) for name, registry in known.items()),
        (ALL_PAPERS, registries.claims()),
    ]:
        row: dict[str, Any] = {"paper": name, "claims": len(claims), "added": sum(claim.added for claim in claims)}
        for effort, quick in (("quick", True), ("full", False)):
            row[f"{effort}_seconds"] = round(_wall_seconds(claims, claim_seconds(claims, quick), workers), 1)
            row[f"{effort}_kept"] = len(cached_verdicts(claims, quick))
        rows.append(row)
    if style == "json":
        click.echo(json.dumps(rows, indent=1))
        return
    cells = [["paper", "claims", "added", "full", "cached", "--quick", "cached"]]
    for row in rows:
        times = [
            cell
            for e in ("full", "quick")
            for cell in (_duration_text(row[f"{e}_seconds"]), str(row[f"{e}_kept"] or "-"))
        ]
        cells.append([row["paper"], str(row["claims"]), str(row["added"] or "-"), *times])
    wide = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for first, *rest in cells:
        ends = (cell.rjust(w) for cell, w in zip(rest, wide[1:], strict=True))
        click.echo("  ".join([first.ljust(wide[0]), *ends]))
    click.echo(
        f"\nTimes are for {workers} process{'es' * (workers > 1)}, without cached verdicts. Added claims are fastcube's own.\n"
        "Decide the claims of one paper with fastcube claims PAPER, one claim with fastcube claims PAPER ID,\n"
        "all claims with fastcube claims all."
    )


def _search_claims(paper: str | None, text: str, style: str) -> None:
    """Print the claims of a paper, or of all papers, that have all words of ``text``.  Raises ParameterError if none has."""
    from .. import registries
    from ..claims import Effort
    from ..verdicts import claim_text, find_claims

    found = find_claims(registries.claims(paper), text)
    if not text.strip() or not found:
        raise ParameterError(f"search must be words of a claim, got {plain_text(text)!r}, which no claim has")
    if style == "json":
        click.echo(json.dumps([claim.report_header(Effort()) for claim in found], indent=1))
        return
    for claim in found:
        click.echo(claim_text(claim, max(40, line_width(100))))
    click.echo(f"\n{count_text(len(found), 'claim')}. Decide one with fastcube claims PAPER ID.")


def _complete_papers(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Return the names of papers and questions with claims, or else files."""
    from ..registries import CLAIMS

    return completion.matching_items(CLAIMS.points, incomplete) or completion.complete_files(ctx, param, incomplete)


def _complete_claims(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    from ..registries import CLAIMS, claims

    paper = ctx.params.get("paper")
    known = claims(paper) if paper in CLAIMS.points else []
    names = dict.fromkeys(name for claim in known for name in (claim.id, claim.fact) if name)
    return completion.matching_items(list(names), incomplete)


@click.command("claims", epilog="\b\nExample:\n  fastcube claims leu_kuo theorem-7")
@click.argument("paper", required=False, shell_complete=_complete_papers)
@click.argument("name", metavar="[ID]", required=False, shell_complete=_complete_claims)
@click.option(
    "--quick", is_flag=True, help="Check smaller ranges; without PAPER, the list has the time of both efforts."
)
@click.option(
    "--format",
    "style",
    default="text",
    metavar="F",
    shell_complete=completion.complete_values(*FORMATS),
    show_default=True,
    help="Output format: text, json, or markdown (with the papers' misprints).",
)
@click.option(
    "--only",
    metavar="OUTCOME",
    shell_complete=completion.complete_values(*_COLOURS),
    help="Outcomes to show, by commas: holds, refuted, misprint, depends, unreproduced, undecided; by default all.",
)
@click.option(
    "--search",
    metavar="WORDS",
    help="List, without deciding them, the claims with all these words in paper, name, place, statement or correction.",
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    metavar="N",
    help="Number of claims at once; by default the CPUs that affinity, Slurm and control groups allow.",
)
@options.progress
@click.option("--force", is_flag=True, help="Decide again, without cached verdicts.")
def command(
    paper: str | None,
    name: str | None,
    quick: bool,
    style: str,
    only: str | None,
    search: str | None,
    workers: int | None,
    progress: str,
    force: bool,
) -> int:
    """Decide the papers' claims by code.  Without PAPER, list the papers with their numbers of claims and the time needed.

    The outcome of a claim: it holds in the checked range (exhaustively, at random, or by proof), is refuted by a smallest
    counterexample, is a misprint in our transcription, depends on the interpretation, is a number that is not reproduced, or is
    not decided.

    PAPER is a paper, a Python file with a ClaimRegistry, or `all`.  ID selects one claim, or all claims of a fact
    that the errata name.  Verdicts are cached until a source file of the package changes.  A counterexample or an example is a
    few lines of Python in the names of `import fastcube as fc`, with the value of the last one.  A claim marked [added] is a
    correction, a case of a vague remark, or about an algorithm that the paper does not give.
    """
    from fastcube.results.provenance import available_cpus
    from fastcube.running.progress import Progress

    from .. import registries
    from ..claims import OUTCOMES
    from ..deciding import cached_verdicts, decide_claims
    from ..report.plan import claim_seconds
    from ..verdicts import markdown, outcome_text, summary, verdict_text

    if style not in FORMATS:
        raise ParameterError(f"format must be {join_alternatives(FORMATS)}, got {style}")
    chosen = tuple(only.split(",")) if only is not None else tuple(OUTCOMES)
    if unknown := [outcome for outcome in chosen if outcome not in OUTCOMES]:
        raise ParameterError(f"only must be {join_alternatives(OUTCOMES)}, got {unknown[0]}")
    bar = Progress(progress)
    if search is not None:
        if only is not None or style == "markdown" or quick or force or name is not None:
            raise ParameterError(
                "search lists claims and decides none, so it goes with a paper or --format json only; put several words in quotes"
            )
        _search_claims(None if paper == ALL_PAPERS else paper, search, style)
        return 0
    if paper is None:
        if only is not None or style == "markdown" or quick or force:
            raise ParameterError("without a paper claims are listed: to decide them name one, or all")
        _list_claims(style, workers or available_cpus())
        return 0
    if paper == ALL_PAPERS and name is not None:
        raise ParameterError(f"claim {name} needs the name of its paper in place of all")
    claims = registries.claims(None if paper == ALL_PAPERS else paper, name)
    reports: list[dict[str, Any]] = []

    def print_report(report: dict[str, Any]) -> None:
        reports.append(report)
        if style == "text" and report["outcome"] in chosen:
            title, end, rest = verdict_text(report, max(40, line_width(100))).partition(f" {outcome_text(report)}\n")
            click.echo(title + colour_text(end, _COLOURS[report["outcome"]]) + rest)
        if "failed" in report:
            print_message(f"fastcube: deciding {report['paper']} {report['id']} failed: {report['failed']}")

    installed = [claim for claim in claims if not claim.file]
    costs = claim_seconds(installed, quick)
    known = {} if force else cached_verdicts(installed, quick)
    left = [claim for claim in installed if claim.key not in known]
    if left and (seconds := _wall_seconds(left, costs, workers or available_cpus())) >= 5:
        bar.print_line(f"fastcube: deciding {len(left)} of {len(claims)} claims takes some {_duration_text(seconds)}")
    code = decide_claims(claims, print_report, quick=quick, workers=workers, progress=bar, anew=force, seconds=costs)
    if code:
        bar.print_line(f"fastcube: interrupted after {len(reports)} of {len(claims)} claims")
        exit_process(code)
    if style == "json":
        click.echo(json.dumps([report for report in reports if report["outcome"] in chosen], indent=1))
    else:
        click.echo(summary(reports) if style == "text" else markdown(reports, only, whole=name is None))
    return 1 if any("failed" in report for report in reports) else 0
