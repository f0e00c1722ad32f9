"""Collect the content of the report page as plain data: each published result with its printed, measured and decided values.

The content depends only on the plan and the folder, in their order and without a clock, so the same folder gives the same page.
A plot or a claim that several results name is shown at the first one, and the others link to it.
"""

from __future__ import annotations

import math
import operator
import re
import shlex
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from fastcube import resources
from fastcube.measure.estimate import Estimate
from fastcube.measure.inventory import Evidence, Inventory, PublishedResult
from fastcube.measure.paper import Paper
from fastcube.plot.network_drawing import Drawing, describe_drawing, drawing_svg

from .. import storage
from ..readings import readings
from ..verdicts import case_label, checked_text, outcome_counts
from . import agreement
from .counterexamples import drawings_of
from .figures import lines_text
from .folder import Folder
from .plan import ClaimPiece, ExamplePiece, Plan, StudyPiece

#: Largest number of characters of the statement on the line of a collapsed result.
_SHORT_TEXT_WIDTH = 120

#: Characters that need no escape in the data address of a picture, which is shorter this way than with base64 (by a third).
_PLAIN = " '=:/;,.()-+*!?@$_|[]{}"


def shorten_text(text: str, most: int = _SHORT_TEXT_WIDTH) -> str:
    """Return the text on one line of at most ``most`` characters, cut at a word."""
    return textwrap.shorten(text, most, placeholder=" ...") if len(text) > most else text


def replay_program(python: str) -> str:
    """Return a runnable program that prints the value of the last line."""
    *assignments, expression = python.split("\n")
    return "\n".join(["import fastcube as fc", *assignments, f"print({expression})"])


def _adds_information(value: str, description: str) -> bool:
    """Whether the value adds to its description: the text does not contain it, and it is no "yes" to a plain statement."""
    stands = re.search(rf"(?<![\w,.]){re.escape(value)}(?!\w|[,.]\d)", description)
    return value != "" and not stands and (value != "yes" or "whether" in description)


def title_of(item: PublishedResult) -> str:
    """Return the title of a published result, such as ``Figure 8``; for a statement its own title, or its id as words."""
    if item.number:
        return f"{item.kind.capitalize()} {item.number}"
    if item.title:
        return item.title
    heading = item.id.replace("-", " ")
    return heading[:1].upper() + heading[1:]


class Content:
    """The content of the whole page; made by ``content``."""

    def __init__(self, plan: Plan, folder: Folder) -> None:
        self.plan, self.folder = plan, folder
        self.studies = {(piece.study.name, piece.grid.name): piece for piece in plan.studies}
        self.first_grid = {piece.study.name: piece.study.grids[0].name for piece in plan.studies}
        self.claims = {(piece.paper.name, piece.claim.id): piece for piece in plan.claims}
        self.examples = {(piece.paper.name, piece.key): piece for piece in plan.examples}
        self.drawn = {piece.name: folder.read_entry(piece) for piece in plan.studies}
        self.reports = {piece.name: folder.read_entry(piece) for piece in plan.claims}
        self.gave = {piece.name: folder.read_entry(piece) for piece in plan.examples}
        self.names: dict[str, str] = {}
        for paper in plan.papers:
            of = f"of {paper.inventory.short}"
            self.names |= {f"{paper.name}-{item.id}": f"{title_of(item)} {of}" for item in paper.inventory.all_results}
            self.names[f"{paper.name}-more"] = f"Further studies and claims {of}"
        self.home = self._first_places()  # the anchor at which each plot, claim and example is shown

    def _first_places(self) -> dict[str, str]:
        """Return the anchors of plots and claims that have a natural place, which comes before all other places.

        A plot is shown at the figure or table that it reproduces, a claim at the result whose name begins the claim's name.
        """
        ranked = []
        for paper in self.plan.papers:
            for item, evidence in paper.inventory.iter_evidence():
                anchor, piece = f"{paper.name}-{item.id}", self._piece_that_shows(evidence)
                if piece is not None and item.kind in ("figure", "table") and item in paper.inventory.results:
                    rank = int(evidence.statistic != piece.study.statistics[0].name)
                    ranked.append((rank, f"study {piece.name}", anchor))
                if evidence.claim and f"{evidence.claim}-".startswith(f"{item.id}-"):
                    ranked.append((-len(item.id), f"claim {paper.name}-{evidence.claim}", anchor))
        homes: dict[str, str] = {}
        for _, name, anchor in sorted(ranked, key=operator.itemgetter(0)):
            homes.setdefault(name, anchor)
        return homes

    # ------------------------------------------------------------ one piece

    def _piece_that_shows(self, evidence: Evidence) -> StudyPiece | None:
        """Return the piece of the study and grid (by default the first grid) that show a result, or None if not in the plan."""
        return self.studies.get((evidence.study, evidence.grid or self.first_grid.get(evidence.study, "")))

    def _elsewhere(self, name: str, anchor: str) -> dict[str, str]:
        """Return anchor and name of the place that already shows a piece; empty if this place is the first."""
        first = self.home.setdefault(name, anchor)
        return {} if first == anchor else {"anchor": first, "name": self.names[first]}

    def study(self, piece: StudyPiece, anchor: str) -> dict[str, Any]:
        """Return the content of a plot: its picture, its table, and the commands that reproduce it."""
        drawn = self.drawn[piece.name]
        out: dict[str, Any] = {
            "piece": piece,
            "drawn": drawn,
            "elsewhere": self._elsewhere(f"study {piece.name}", anchor),
        }
        if drawn is None:
            return out
        have = drawn["have"]
        least, most = min(have.values()), max(have.values())
        own = have == piece.grid.trials_of_points()
        out["size"] = f"{len(have)} points of {least:,}{f' to {most:,}' if most > least else ''} trials"
        out["panels"] = [_image(svg) for svg in drawn["panels"]]
        out["tables"] = [table for table in drawn["tables"] if table["columns"]]
        out["lines"] = lines_text(out["tables"]) if out["tables"] else ""
        # the commands reproduce the file exactly, unless some points have additional trials
        out["exact"] = drawn["trials"] == sum(have.values()) and (own or least == most)
        other = "" if piece.grid.name == piece.study.grids[0].name else piece.grid.name
        options = f"{f' --grid {other}' if other else ''}{'' if own else f' --trials {least}'} --seed {drawn['seed']}"
        out["shell"] = f"fastcube run {piece.study.name}{options} -o {piece.name}.h5"
        keywords = f"{f', grid={other!r}' if other else ''}{'' if own else f', trials={least}'}, seed={drawn['seed']}"
        out["python"] = replay_program(f"fc.run({piece.study.name!r}{keywords}).digest()")
        out["gives"] = drawn["digest"]
        return out

    def claim(self, piece: ClaimPiece, anchor: str) -> dict[str, Any]:
        """Return the content of a claim: its verdict and its counterexamples."""
        claim, report = piece.claim, self.reports[piece.name]
        key = self.outcome(piece)
        checked = "" if report is None else checked_text(report)
        quick = " --quick" if report is not None and report["effort"] == "quick" else ""
        return {
            "name": piece.name,
            "claim": claim,
            "report": report,
            "verdict": key,
            "elsewhere": self._elsewhere(f"claim {piece.name}", anchor),
            "checked": checked,
            "definition": claim.definition and key == "holds",
            "cases": [] if report is None else [self.case(report, i) for i in range(len(report["counterexamples"]))],
            "readings": self._readings(piece.paper, f"{claim.statement} {claim.where} {checked}"),
            "shell": f"fastcube claims {claim.paper} {claim.id}{quick}",
        }

    def outcome(self, piece: ClaimPiece) -> str:
        """Return the outcome of a claim, or ``missing`` if it has not been decided."""
        report = self.reports[piece.name]
        return "missing" if report is None else str(report["outcome"])

    def case(self, report: dict[str, Any], position: int) -> dict[str, Any]:
        """Return the content of a counterexample or example: the lines that replay it, and a drawing if its network is small."""
        case = report["counterexamples"][position]
        description, value, drawing = case["description"], case["value_text"], case.get("drawing", {})
        return {
            "label": case_label(report, position).lower(),
            "description": description,
            "python": replay_program(case["python"]),
            "gives": str(case["value"]),
            "value": value,
            "has_value": _adds_information(value, description),
            "lines": drawing.get("lines", []),
            "drawn": [_show_drawing(found, captioned=True) for found in drawings_of(drawing)],
        }

    def _readings(self, paper: Paper, text: str) -> list[dict[str, str]]:
        """Return the interpretations whose codes a text contains.  A range such as R5-R7 counts for each of its codes."""
        known = readings(paper.name)
        codes = list(known)
        named: list[str] = []
        for first, last in re.findall(r"\b([A-Z]\d+)(?:-([A-Z]\d+))?\b", text):
            if first in known:
                named += codes[codes.index(first) : codes.index(last) + 1] if last in known else [first]
        return [{"code": code, "text": known[code]} for code in dict.fromkeys(named)]

    def example(self, piece: ExamplePiece, anchor: str) -> dict[str, Any]:
        """Return the content of a worked example: its Python line with the value."""
        result, gave = piece.make(), self.gave[piece.name]
        key = "missing" if gave is None else "shown" if gave["same"] else "unreproduced"
        same = gave is not None and gave["same"]
        return {
            "name": piece.key,
            "description": result.description,
            "python": replay_program(result.python),
            "gives": "" if gave is None else str(result.value) if same else gave["gave"],
            "value": result.value_text,
            "has_value": same and _adds_information(result.value_text, result.description),
            "wanted": str(result.value),
            "verdict": key,
            "cubes": [_show_drawing(found) for found in result.cubes],
            "failed": "" if gave is None else gave["failed"],
            "elsewhere": self._elsewhere(f"example {piece.name}", anchor),
        }

    # ------------------------------------------------------------ one item

    def _numbers(self, item: PublishedResult, inventory: Inventory) -> list[dict[str, Any]]:
        runs, asked = agreement.averaged_runs(item, inventory.tables), list(agreement.comparable_numbers([item]))
        out = []
        for printed in item.printed:
            piece = self.claims.get((inventory.paper, printed.claim))
            out.append(
                {
                    "name": printed.name,
                    "printed": agreement.printed_text(printed),
                    "judged": [self._compare_number(of, evidence, runs) for of, evidence in asked if of is printed],
                    "claim": printed.claim,
                    "verdict": "" if piece is None else self.outcome(piece),
                }
            )
        return out

    def _compare_number(self, printed: Any, evidence: Evidence, runs: int | None) -> agreement.Comparison:
        piece = self._piece_that_shows(evidence)
        drawn = None if piece is None else self.drawn[piece.name]
        found = [
            entry
            for entry in ([] if drawn is None else drawn["estimates"])
            if entry["statistic"] == evidence.statistic
            and all(entry["point"].get(name) == value for name, value in printed.point.items())
        ]
        if len(found) != 1:
            return agreement.Comparison(evidence.statistic, "-", "missing")
        numbers = (found[0][name] for name in ("value", "stderr", "low", "high"))
        e = Estimate(*(math.nan if number is None else number / printed.unit for number in numbers))
        return agreement.compare_printed(printed, evidence.statistic, e, found[0]["eligible"], runs)

    def item(self, paper: Paper, item: PublishedResult) -> dict[str, Any]:
        """Return the whole content of one published result."""
        anchor = f"{paper.name}-{item.id}"
        studies: dict[str, dict[str, Any]] = {}
        claims, examples = [], []
        for evidence in item.shown_by:
            if evidence.study:
                piece = self._piece_that_shows(evidence)
                if piece is not None and piece.name not in studies:
                    studies[piece.name] = self.study(piece, anchor)
            elif evidence.claim and (paper.name, evidence.claim) in self.claims:
                claims.append(self.claim(self.claims[paper.name, evidence.claim], anchor) | {"side": evidence.side})
            elif evidence.example and (paper.name, evidence.example) in self.examples:
                examples.append(self.example(self.examples[paper.name, evidence.example], anchor))
        numbers = self._numbers(item, paper.inventory)
        decided = [agreement.ClaimOutcome(c["verdict"], c["claim"].added, c["side"]) for c in claims]
        of_claims = agreement.claim_verdicts(decided, printed=item in paper.inventory.results)
        of_numbers = self._number_verdicts(numbers)
        shows = ["missing" if s["drawn"] is None and s["piece"].goal else "shown" for s in studies.values()]
        shows += [e["verdict"] for e in examples]
        key = agreement.item_verdict(of_claims, of_numbers, shows, bool(item.concept))
        return {
            "anchor": anchor,
            "title": title_of(item),
            "item": item,
            "short": shorten_text(item.stated),
            "readings": self._readings(paper, f"{item.interpretations} {item.stated}"),
            "table": _table(item, paper.inventory.tables, numbers, claims, self._descriptions(item)),
            "more": _further_evidence(claims, list(studies.values()), examples),
            "numbers": numbers,
            "compared": any(row["judged"] for row in numbers),
            "claims": claims,
            "studies": list(studies.values()),
            "examples": examples,
            "verdict": key,
            "measured": self._measured_text(item, numbers, claims, list(studies.values()), examples),
        }

    @staticmethod
    def _number_verdicts(numbers: list[dict[str, Any]]) -> list[str]:
        """Return one verdict per compared number; among several interpretations, one that agrees is enough."""
        out = []
        for row in numbers:
            keys = [judged.key for judged in row["judged"]]
            if keys:
                out.append(next(k for k in ("holds", "undecided", "unreproduced", "missing") if k in keys))
        return out

    def _measured_text(
        self, item: PublishedResult, numbers: list[Any], claims: list[Any], studies: list[Any], examples: list[Any]
    ) -> str:
        """Return the measured side of a result's line: its numbers, decided claims, ranges of estimates, or an example."""
        if item.concept:
            return item.concept
        parts = []
        compared = [(row, row["judged"][0]) for row in numbers if row["judged"] and row["judged"][0].measured != "-"]
        if compared:
            row, first = compared[0]
            agree = self._number_verdicts(numbers).count("holds")
            parts.append(first.measured + (f" where {row['name']} is {row['printed']}" if len(numbers) > 1 else ""))
            parts += [f"{agree} of {len(compared)} numbers agree"] if len(compared) > 1 else []
        decided = [
            c for c in claims if not c["side"] and (not c["claim"].added or all(d["claim"].added for d in claims))
        ] or claims
        ranked = sorted((c for c in decided if c["checked"]), key=lambda c: agreement.ORDER.index(c["verdict"]))
        if ranked and (not compared or ranked[0]["verdict"] in ("refuted", "depends", "misprint")):
            worst = ranked[0]
            parts.append(_line_text(worst["cases"][0]) if worst["cases"] else worst["checked"])
        spans = (
            []
            if compared
            else [text for text in (self._estimate_range(evidence) for evidence in item.shown_by) if text]
        )
        parts += spans[:1]
        if not parts:
            parts += [_line_text(e) for e in examples if e["gives"]][:1]
        return "; ".join(parts) or "-"  # not shortened, because the verdict can depend on the last word

    def _descriptions(self, item: PublishedResult) -> dict[str, str]:
        pieces = (
            (evidence.statistic, self._piece_that_shows(evidence)) for evidence in item.shown_by if evidence.statistic
        )
        return {name: piece.study.statistic(name).description for name, piece in pieces if piece is not None}

    def _estimate_range(self, evidence: Evidence) -> str:
        """Return the range of a statistic's estimates as text: the ends with their intervals and points."""
        piece = self._piece_that_shows(evidence) if evidence.study else None
        drawn = None if piece is None else self.drawn[piece.name]
        if piece is None or drawn is None:
            return ""
        span = drawn["spans"].get(evidence.statistic or piece.study.statistics[0].name)
        if span is None:
            return ""
        ends = (span["least"], span["most"])
        least, most = (f"{end['text']} ({end['at']})" if end["at"] else end["text"] for end in ends)
        return least if span["least"]["text"] == span["most"]["text"] else f"from {least} to {most}"

    # ------------------------------------------------------------ papers

    def paper(self, paper: Paper) -> dict[str, Any]:
        """Return a paper's results, results beyond the paper, and the studies and claims that its inventory does not name."""
        held = paper.inventory
        items = [self.item(paper, item) for item in held.results]
        beyond = [self.item(paper, item) for item in held.beyond]
        rest = f"{paper.name}-more"
        studies = [
            self.study(p, rest) for p in self.plan.studies if p.paper is paper and f"study {p.name}" not in self.home
        ]
        claims = [
            self.claim(p, rest) for p in self.plan.claims if p.paper is paper and f"claim {p.name}" not in self.home
        ]
        whole = f"{', '.join(held.authors)}, {held.title}" + (f", {held.published}" if held.published else "")
        return {
            "name": paper.name,
            "inventory": held,
            "whole": whole,
            "items": items,
            "beyond": beyond,
            "counts": _counts(item["verdict"] for item in items),
            "rest": rest,
            "studies": studies,
            "claims": claims,
        }

    def provenance(self) -> dict[str, Any]:
        """Return the software and machines that produced the page, from the results files and verdicts."""
        runs, software, machines, commands = [], set(), set(), set()
        for piece in self.plan.studies:
            drawn = self.drawn[piece.name]
            last = drawn["history"][-1] if drawn and drawn["history"] else {}
            if not storage.matches_shape(last, storage.RUN_PROVENANCE):  # not there, or written by another program
                continue
            environment, resources = last["environment"], last["resources"]
            libraries = ", ".join(f"{name} {version}" for name, version in environment["libraries"].items())
            seconds = resources["seconds"] if storage.is_number(resources.get("seconds")) else 0.0
            git = last["software"].get("git_revision")
            revision = f" ({git})" if git and storage.is_clean(git) else ""
            software.add(
                f"fastcube {last['software']['version']}{revision}, Python {environment['python']}, {libraries}"
            )
            program, *rest = last["parameters"]["command"] or [""]
            commands.add(shlex.join([PurePath(program).name, *map(str, rest)]))
            machines.add(f"{environment['cpu']}, {environment['cpus']} processors, {environment['os']}")
            runs.append(
                {
                    "name": piece.name,
                    "drawn": drawn,
                    "written": resources["written"],
                    "seconds": f"{seconds:.1f}",
                }
            )
        reports = [report for report in self.reports.values() if report is not None]
        efforts = Counter(report["effort"] for report in reports)
        return {
            "runs": runs,
            "software": sorted(software),
            "machines": sorted(machines),
            "efforts": ", ".join(f"{efforts[effort]} {effort}" for effort in ("full", "quick") if efforts[effort]),
            "hashes": sorted({report["sources"] for report in reports}),
            "commands": sorted(commands),
        }


def _further_evidence(claims: list[Any], studies: list[Any], examples: list[Any]) -> str:
    """Return the evidence for a refuted result other than the claim that is shown first."""
    refuted = next((c for c in claims if c["verdict"] == "refuted"), None)
    parts = [f"claim {c['claim'].id} ({agreement.VERDICT_LABELS[c['verdict']][0]})" for c in claims if c is not refuted]
    parts += [f"study {s['piece'].name}" for s in studies] + [f"example {e['name']}" for e in examples]
    return ", ".join(parts)


def _show_drawing(drawing: Drawing, captioned: bool = False) -> dict[str, str]:
    """Return a drawing and its caption; if ``captioned``, the caption describes the whole drawing."""
    return {
        "svg": drawing_svg(drawing, captioned=captioned),
        "caption": drawing.caption or describe_drawing(drawing),
    }


def _image(svg: str) -> dict[str, Any]:
    """Return a picture as the address of an image, and its size, from which the page knows its shape before it is drawn."""
    size = re.search(r'viewBox="0 0 (\d{1,4}(?:\.\d+)?) (\d{1,4}(?:\.\d+)?)"', svg)
    return {
        "address": f"data:image/svg+xml,{quote(svg.replace(chr(34), chr(39)), safe=_PLAIN)}",
        "size": [round(float(length)) for length in size.groups()] if size else None,
    }


def _line_text(line: dict[str, Any]) -> str:
    return f"{line['description']}: {line['value']}" if line["has_value"] else str(line["description"])


def _table(
    item: PublishedResult,
    tables: Any,
    numbers: list[dict[str, Any]],
    claims: list[dict[str, Any]],
    descriptions: Mapping[str, str],
) -> dict[str, Any] | None:
    """Return a printed table, row by row, with a column of measured values for each compared statistic.

    Return None if the inventory does not hold the table in rows.  ``descriptions`` are those of the statistics.  The verdict of
    a row is the verdict of the claim ``ID-row-N``.
    """
    held = tables.get(item.id.replace("-", ""))
    if not isinstance(held, dict) or not {"columns", "rows"} <= held.keys():
        return None
    by_name = {row["name"]: row for row in numbers}
    by_claim = {claim["claim"].id: claim for claim in claims}
    compared = [(c, j.statistic) for c in held["columns"] if (row := by_name.get(f"{c}, row 1")) for j in row["judged"]]
    rows = []
    for values in held["rows"]:
        of_row = {column: by_name.get(f"{column}, row {values[0]}") for column in held["columns"]}
        judged = {(column, j.statistic): j for column, row in of_row.items() if row for j in row["judged"]}
        claim = by_claim.get(f"{item.id}-row-{values[0]}")
        rows.append(
            {
                "printed": [
                    (of_row[c] or {"printed": f"{v:,}"})["printed"]
                    for c, v in zip(held["columns"], values, strict=True)
                ],
                "measured": [judged[key].measured if key in judged else "-" for key in compared],
                "verdict": claim["verdict"] if claim else "",
                "text": "; ".join(  # only for the first compared column: the other columns are the same value in other units
                    judged[key].text.partition(",")[0] for key in compared if key in judged and key[0] == compared[0][0]
                ),
            }
        )
    return {
        "columns": held["columns"],
        "measured_columns": [
            f"{column}, {descriptions[statistic].partition(', among ')[0]}" for column, statistic in compared
        ],
        "rows": rows,
    }


def _findings(plan: Plan, of: Content) -> dict[str, Any]:
    """Return the findings for the top of the page: one line per paper, and cards of the main refutations with drawings."""
    names = {paper.name: paper for paper in plan.papers}
    found = resources.read_json("findings", __package__)
    texts = {line["paper"]: line["text"] for line in found["found"]}
    papers = [{"text": texts[name], "of": paper} for name, paper in names.items() if name in texts]
    cards = []
    for finding in found["weightiest"]:
        piece = of.claims.get((finding["paper"], finding["claim"]))
        if piece is None:
            continue
        report = of.reports[piece.name]
        cases = [] if report is None else [of.case(report, finding.get("case", 0))]
        cards.append(
            {
                "text": finding["text"],
                "short": names[finding["paper"]].inventory.short,
                "verdict": of.outcome(piece),
                "anchor": f"claim-{piece.name}",
                "svgs": [drawing["svg"] for case in cases for drawing in case["drawn"]],
            }
        )
    return {"papers": papers, "cards": cards}


def _counts(keys: Iterable[str]) -> dict[str, int]:
    """Return the number of results with each verdict, in the order of the verdict labels."""
    found = list(keys)
    return {key: found.count(key) for key in agreement.VERDICT_LABELS}


def content(plan: Plan, folder: Folder) -> dict[str, Any]:
    """Return all data for the HTML templates."""
    all_of = Content(plan, folder)
    papers = [all_of.paper(paper) for paper in plan.papers]
    findings = _findings(plan, all_of)
    items = [item for paper in papers for item in paper["items"]]
    held = ((piece.claim.added, all_of.reports[piece.name]) for piece in plan.claims)
    reports = [{**report, "added": added} for added, report in held if report is not None]
    outcomes = [all_of.outcome(piece) for piece in plan.claims if not piece.claim.added]
    missing = outcomes.count("missing")
    return {
        "papers": papers,
        "findings": findings,
        "counts": _counts(item["verdict"] for item in items),
        "items": len(items),
        "outcomes": [
            *outcome_counts(reports),
            *([f"{missing} not computed yet"] if missing else []),
        ],
        "claims": len(outcomes),
        "provenance": all_of.provenance(),
        "missing": sum(item["verdict"] == "missing" for item in items),
    }
