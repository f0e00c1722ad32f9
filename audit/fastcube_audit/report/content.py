"""Collect the content of the report page as plain data: each published result with its printed, measured and decided values.

The content depends only on the plan and the folder, in their order and without a clock, so the same folder gives the same page.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from fastcube import resources
from fastcube.measure.paper import Paper

from .. import storage
from ..verdicts import outcome_counts
from . import agreement
from .folder import Folder
from .pieces import Pieces, anchor_rest, collect_case
from .plan import Plan
from .result_content import collect_result


def collect_content(plan: Plan, folder: Folder) -> dict[str, Any]:
    """Return all data for the HTML templates."""
    pieces = Pieces(plan, folder)
    papers = [_collect_paper(plan, pieces, paper) for paper in plan.papers]
    verdicts = [result["verdict"] for paper in papers for result in paper["results"]]
    pairs = ((piece.claim.added, pieces.reports[piece.name]) for piece in plan.claims)
    reports = [{**report, "added": added} for added, report in pairs if report is not None]
    outcomes = [pieces.find_outcome(piece) for piece in plan.claims if not piece.claim.added]
    missing = outcomes.count("missing")
    return {
        "papers": papers,
        "findings": _collect_findings(plan, pieces),
        "counts": _count_verdicts(verdicts),
        "result_count": len(verdicts),
        "outcomes": [
            *outcome_counts(reports),
            *([f"{missing} not computed yet"] if missing else []),
        ],
        "claims": len(outcomes),
        "provenance": _collect_provenance(plan, pieces),
        "missing": verdicts.count("missing"),
    }


def _collect_paper(plan: Plan, pieces: Pieces, paper: Paper) -> dict[str, Any]:
    """Return a paper's results, results beyond the paper, and the studies and claims that its inventory does not name."""
    inventory, rest = paper.inventory, anchor_rest(paper)
    # results first, because a study or claim that one of them shows is not shown again with the rest
    results = [collect_result(pieces, paper, result) for result in inventory.results]
    beyond = [collect_result(pieces, paper, result) for result in inventory.beyond]
    studies = [
        pieces.collect_study(piece, rest)
        for piece in plan.studies
        if piece.paper is paper and not pieces.has_home(piece)
    ]
    claims = [
        pieces.collect_claim(piece, rest)
        for piece in plan.claims
        if piece.paper is paper and not pieces.has_home(piece)
    ]
    published = f", {inventory.published}" if inventory.published else ""
    return {
        "name": paper.name,
        "inventory": inventory,
        "whole": f"{', '.join(inventory.authors)}, {inventory.title}{published}",
        "results": results,
        "beyond": beyond,
        "counts": _count_verdicts(result["verdict"] for result in results),
        "rest": rest,
        "studies": studies,
        "claims": claims,
    }


def _collect_findings(plan: Plan, pieces: Pieces) -> dict[str, Any]:
    """Return the findings for the top of the page: one line per paper, and cards of the main refutations with drawings."""
    known = {paper.name: paper for paper in plan.papers}
    findings = resources.read_json("findings", __package__)
    texts = {line["paper"]: line["text"] for line in findings["found"]}
    papers = [{"text": texts[name], "of": paper} for name, paper in known.items() if name in texts]
    cards = []
    for finding in findings["weightiest"]:
        piece = pieces.claims.get((finding["paper"], finding["claim"]))
        if piece is None:
            continue
        report = pieces.reports[piece.name]
        cases = [] if report is None else [collect_case(report, finding.get("case", 0))]
        cards.append(
            {
                "text": finding["text"],
                "short": known[finding["paper"]].inventory.short,
                "verdict": pieces.find_outcome(piece),
                "anchor": f"claim-{piece.name}",
                "svgs": [drawing["svg"] for case in cases for drawing in case["drawn"]],
            }
        )
    return {"papers": papers, "cards": cards}


def _collect_provenance(plan: Plan, pieces: Pieces) -> dict[str, Any]:
    """Return the software and machines that produced the page, from the results files and verdicts."""
    runs, software, machines, commands = [], set(), set(), set()
    for piece in plan.studies:
        drawn = pieces.drawn[piece.name]
        last = drawn["history"][-1] if drawn and drawn["history"] else {}
        if not storage.matches_shape(last, storage.RUN_PROVENANCE):  # not there, or written by another program
            continue
        environment, used = last["environment"], last["resources"]
        libraries = ", ".join(f"{name} {version}" for name, version in environment["libraries"].items())
        seconds = used["seconds"] if storage.is_number(used.get("seconds")) else 0.0
        git = last["software"].get("git_revision")
        revision = f" ({git})" if git and storage.is_clean(git) else ""
        software.add(f"fastcube {last['software']['version']}{revision}, Python {environment['python']}, {libraries}")
        program, *arguments = last["parameters"]["command"] or [""]
        commands.add(shlex.join([PurePath(program).name, *map(str, arguments)]))
        machines.add(f"{environment['cpu']}, {environment['cpus']} processors, {environment['os']}")
        runs.append({"name": piece.name, "drawn": drawn, "written": used["written"], "seconds": f"{seconds:.1f}"})
    reports = [report for report in pieces.reports.values() if report is not None]
    efforts = Counter(report["effort"] for report in reports)
    return {
        "runs": runs,
        "software": sorted(software),
        "machines": sorted(machines),
        "efforts": ", ".join(f"{efforts[effort]} {effort}" for effort in ("full", "quick") if efforts[effort]),
        "hashes": sorted({report["sources"] for report in reports}),
        "commands": sorted(commands),
    }


def _count_verdicts(verdicts: Iterable[str]) -> dict[str, int]:
    """Return the number of results with each verdict, in the order of the verdict labels."""
    counts = Counter(verdicts)
    return {key: counts[key] for key in agreement.VERDICT_LABELS}
