"""What the page says, as plain data: each item of each paper with what is printed, measured and decided.

Made of the plan and the folder alone, in their order and without a clock, so that the same folder gives the same page.
A plot or a claim that several items name is shown at the first and linked from the others.
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

from ... import resources
from ...measure.estimate import Estimate
from ...measure.inventory import Evidence, Inventory, PublishedResult
from ...measure.paper import Paper
from .. import storage
from ..readings import readings
from ..verdicts import checked_text, outcome_counts
from . import agreement, duals
from .figures import lines_text
from .folder import Folder
from .network_drawings import cube_svg, describe_drawing, drawings_of
from .plan import ClaimPiece, ExamplePiece, Plan, StudyPiece

#: Characters of what is stated, and of what was measured, on the line of an item that is closed.
_SHORT_TEXT_WIDTH = 120

#: What stands for itself in the address of a picture: it takes less room than base64, which takes a third more than the picture.
_PLAIN = " '=:/;,.()-+*!?@$_|[]{}"


def shorten_text(text: str, most: int = _SHORT_TEXT_WIDTH) -> str:
    """The text on one line, cut at a word."""
    return textwrap.shorten(text, most, placeholder=" ...") if len(text) > most else text


def replay_program(python: str) -> str:
    """An expression as a program that prints its value: it runs as it stands."""
    return f"import fastcube as fc\nprint({python})"


def _adds_information(value: str, words: str) -> bool:
    """Whether the value says what its words do not: it is no part of them, and no mere yes to what they state."""
    stands = re.search(rf"(?<![\w,.]){re.escape(value)}(?!\w|[,.]\d)", words)
    return value != "" and not stands and (value != "yes" or "whether" in words)


def title_of(item: PublishedResult) -> str:
    """``Figure 8``; of a statement its title, or its id in words."""
    if item.number:
        return f"{item.kind.capitalize()} {item.number}"
    if item.title:
        return item.title
    words = item.id.replace("-", " ")
    return words[:1].upper() + words[1:]


class Content:
    """Everything on the page; made by :func:`content`."""

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
            self.names |= {f"{paper.name}-{item.id}": f"{title_of(item)} {of}" for item in paper.inventory.all}
            self.names[f"{paper.name}-more"] = f"Further studies and claims {of}"
        self.home = self._first_places()  # where each plot, claim and example is shown

    def _first_places(self) -> dict[str, str]:
        """Where plots and claims are shown before all other items that name them.

        A plot is at the figure or table of the paper that it is, a claim at the item whose name it bears or begins with.
        """
        ranked = []
        for paper in self.plan.papers:
            for item, shown in paper.inventory.evidence_by_item():
                anchor, piece = f"{paper.name}-{item.id}", self._piece_that_shows(shown)
                if piece is not None and item.kind in ("figure", "table") and item in paper.inventory.items:
                    rank = int(shown.statistic != piece.study.statistics[0].name)
                    ranked.append((rank, f"study {piece.name}", anchor))
                if shown.claim and f"{shown.claim}-".startswith(f"{item.id}-"):
                    ranked.append((-len(item.id), f"claim {paper.name}-{shown.claim}", anchor))
        homes: dict[str, str] = {}
        for _, name, anchor in sorted(ranked, key=operator.itemgetter(0)):
            homes.setdefault(name, anchor)
        return homes

    # ------------------------------------------------------------ one piece

    def _piece_that_shows(self, shown: Evidence) -> StudyPiece | None:
        """The study's grid that shows something, by default its first; None where that is not made here."""
        return self.studies.get((shown.study, shown.grid or self.first_grid.get(shown.study, "")))

    def _elsewhere(self, name: str, anchor: str) -> dict[str, str]:
        """Anchor and name of what shows it first; empty for the first itself."""
        first = self.home.setdefault(name, anchor)
        return {} if first == anchor else {"anchor": first, "name": self.names[first]}

    def study(self, piece: StudyPiece, anchor: str) -> dict[str, Any]:
        """A plot with its table and the lines that make it again."""
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
        picture = drawn["svg"].replace('"', "'")
        out["image"] = f"data:image/svg+xml,{quote(picture, safe=_PLAIN)}"
        out["tables"] = [table for table in drawn["tables"] if table["columns"]]
        out["lines"] = lines_text(out["tables"]) if out["tables"] else ""
        # what the lines make is what the file holds, unless some points have trials besides
        out["exact"] = drawn["trials"] == sum(have.values()) and (own or least == most)
        other = "" if piece.grid.name == piece.study.grids[0].name else piece.grid.name
        options = f"{f' --grid {other}' if other else ''}{'' if own else f' --trials {least}'} --seed {drawn['seed']}"
        out["shell"] = f"fastcube run {piece.study.name}{options} -o {piece.name}.h5"
        keywords = f"{f', grid={other!r}' if other else ''}{'' if own else f', trials={least}'}, seed={drawn['seed']}"
        out["python"] = replay_program(f"fc.run({piece.study.name!r}{keywords}).digest()")
        out["gives"] = drawn["digest"]
        return out

    def claim(self, piece: ClaimPiece, anchor: str) -> dict[str, Any]:
        """A claim with its verdict and witnesses."""
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
            "witnesses": [] if report is None else [self.witness(w) for w in report["witnesses"]],
            "readings": self._readings(piece.paper, f"{claim.statement} {claim.where} {checked}"),
            "shell": f"fastcube claims {claim.paper} {claim.id}{quick}",
        }

    def outcome(self, piece: ClaimPiece) -> str:
        """What was decided of a claim: ``missing`` where nothing was."""
        report = self.reports[piece.name]
        return "missing" if report is None else str(report["outcome"])

    def witness(self, witness: dict[str, Any]) -> dict[str, Any]:
        """A witness with the lines that replay it, and drawn where its network is small."""
        told = witness.get("told", {})
        cubes = drawings_of(told)
        drawn = [{"svg": cube_svg(drawing, told=True), "caption": describe_drawing(drawing)} for drawing in cubes]
        if dual := told.get("dual"):
            of = dual["m"], dual["faulty_nodes"], {int(v): str(text) for v, text in dual["inside"]}, dual["paths"]
            drawn = [{"svg": duals.dual_svg(*of), "caption": duals.describe_drawing(*of)}]
        words, value = witness["words"], witness["text"]
        return {
            "words": words,
            "python": replay_program(witness["python"]),
            "gives": str(witness["value"]),
            "value": value,
            "told": _adds_information(value, words),
            "lines": told.get("lines", []),
            "drawn": drawn,
        }

    def _readings(self, paper: Paper, text: str) -> list[dict[str, str]]:
        """The readings whose codes a text names, a range such as R5-R7 too."""
        known = readings(paper.name)
        codes = list(known)
        named: list[str] = []
        for first, last in re.findall(r"\b([A-Z]\d+)(?:-([A-Z]\d+))?\b", text):
            if first in known:
                named += codes[codes.index(first) : codes.index(last) + 1] if last in known else [first]
        return [{"code": code, "text": known[code]} for code in dict.fromkeys(named)]

    def example(self, piece: ExamplePiece, anchor: str) -> dict[str, Any]:
        """A worked example with what its line gives."""
        made, gave = piece.make(), self.gave[piece.name]
        key = "missing" if gave is None else "shown" if gave["same"] else "unreproduced"
        cubes = [{"svg": cube_svg(d), "caption": d.caption or describe_drawing(d)} for d in made.cubes]
        same = gave is not None and gave["same"]
        return {
            "name": piece.key,
            "words": made.words,
            "python": replay_program(made.python),
            "gives": "" if gave is None else str(made.value) if same else gave["gave"],
            "value": made.text,
            "told": same and _adds_information(made.text, made.words),
            "wanted": str(made.value),
            "verdict": key,
            "cubes": cubes,
            "failed": "" if gave is None else gave["failed"],
            "elsewhere": self._elsewhere(f"example {piece.name}", anchor),
        }

    # ------------------------------------------------------------ one item

    def _numbers(self, item: PublishedResult, inventory: Inventory) -> list[dict[str, Any]]:
        """The printed numbers, each beside what is measured at its point."""
        runs, asked = agreement.averaged_runs(item, inventory.tables), list(agreement.comparable_numbers([item]))
        out = []
        for printed in item.printed:
            piece = self.claims.get((inventory.paper, printed.claim))
            out.append(
                {
                    "name": printed.name,
                    "printed": agreement.printed_text(printed),
                    "judged": [self._compare_number(of, shown, runs) for of, shown in asked if of is printed],
                    "claim": printed.claim,
                    "verdict": "" if piece is None else self.outcome(piece),
                }
            )
        return out

    def _compare_number(self, printed: Any, shown: Evidence, runs: int | None) -> agreement.Comparison:
        piece = self._piece_that_shows(shown)
        drawn = None if piece is None else self.drawn[piece.name]
        found = [
            entry
            for entry in ([] if drawn is None else drawn["estimates"])
            if entry["statistic"] == shown.statistic
            and all(entry["point"].get(name) == value for name, value in printed.point.items())
        ]
        if len(found) != 1:
            return agreement.Comparison(shown.statistic, "-", "missing")
        numbers = (found[0][name] for name in ("value", "stderr", "low", "high"))
        e = Estimate(*(math.nan if number is None else number / printed.unit for number in numbers))
        return agreement.compare_printed(printed, shown.statistic, e, found[0]["eligible"], runs)

    def item(self, paper: Paper, item: PublishedResult) -> dict[str, Any]:
        """All of an item."""
        anchor = f"{paper.name}-{item.id}"
        studies: dict[str, dict[str, Any]] = {}
        claims, examples = [], []
        for shown in item.shown_by:
            if shown.study:
                piece = self._piece_that_shows(shown)
                if piece is not None and piece.name not in studies:
                    studies[piece.name] = self.study(piece, anchor)
            elif shown.claim and (paper.name, shown.claim) in self.claims:
                claims.append(self.claim(self.claims[paper.name, shown.claim], anchor) | {"side": shown.side})
            elif shown.example and (paper.name, shown.example) in self.examples:
                examples.append(self.example(self.examples[paper.name, shown.example], anchor))
        numbers = self._numbers(item, paper.inventory)
        decided = [agreement.ClaimOutcome(c["verdict"], c["claim"].ours, c["side"]) for c in claims]
        of_claims = agreement.claim_verdicts(decided, printed=item in paper.inventory.items)
        of_numbers = self._number_verdicts(numbers)
        shows = ["missing" if s["drawn"] is None and s["piece"].goal else "shown" for s in studies.values()]
        shows += [e["verdict"] for e in examples]
        key = agreement.item_verdict(of_claims, of_numbers, shows, bool(item.concept))
        return {
            "anchor": anchor,
            "title": title_of(item),
            "item": item,
            "short": shorten_text(item.stated),
            "readings": self._readings(paper, f"{item.reading} {item.stated}"),
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
        """A verdict a number: where several readings are measured, one that agrees is enough."""
        out = []
        for row in numbers:
            keys = [judged.key for judged in row["judged"]]
            if keys:
                out.append(next(k for k in ("holds", "undecided", "unreproduced", "missing") if k in keys))
        return out

    def _measured_text(
        self, item: PublishedResult, numbers: list[Any], claims: list[Any], studies: list[Any], examples: list[Any]
    ) -> str:
        """What the line of an item says was measured: a number with its interval where there is one, or else what was found."""
        if item.concept:
            return shorten_text(item.concept)
        parts = []
        compared = [(row, row["judged"][0]) for row in numbers if row["judged"] and row["judged"][0].measured != "-"]
        if compared:
            row, first = compared[0]
            agree = self._number_verdicts(numbers).count("holds")
            parts.append(first.measured + (f" where {row['name']} is {row['printed']}" if len(numbers) > 1 else ""))
            parts += [f"{agree} of {len(compared)} numbers agree"] if len(compared) > 1 else []
        decided = [
            c for c in claims if not c["side"] and (not c["claim"].ours or all(d["claim"].ours for d in claims))
        ] or claims
        told = sorted((c for c in decided if c["checked"]), key=lambda c: agreement.ORDER.index(c["verdict"]))
        if told and (not compared or told[0]["verdict"] in ("refuted", "depends", "misprint")):
            worst = told[0]
            parts.append(_line_text(worst["witnesses"][0]) if worst["witnesses"] else worst["checked"])
        spans = [] if compared else [text for text in (self._estimate_range(shown) for shown in item.shown_by) if text]
        parts += spans[:1]
        if not parts:
            parts += [_line_text(e) for e in examples if e["gives"]][:1]
        return shorten_text("; ".join(parts), 2 * _SHORT_TEXT_WIDTH if len(parts) > 1 else _SHORT_TEXT_WIDTH) or "-"

    def _descriptions(self, item: PublishedResult) -> dict[str, str]:
        """What the statistics that show an item are, in words."""
        pieces = ((shown.statistic, self._piece_that_shows(shown)) for shown in item.shown_by if shown.statistic)
        return {name: piece.study.statistic(name).description for name, piece in pieces if piece is not None}

    def _estimate_range(self, shown: Evidence) -> str:
        """From where to where the estimates of a statistic go, each with its interval and its point."""
        piece = self._piece_that_shows(shown) if shown.study else None
        drawn = None if piece is None else self.drawn[piece.name]
        if piece is None or drawn is None:
            return ""
        span = drawn["spans"].get(shown.statistic or piece.study.statistics[0].name)
        if span is None:
            return ""
        ends = (span["least"], span["most"])
        least, most = (f"{end['text']} ({end['at']})" if end["at"] else end["text"] for end in ends)
        return least if span["least"]["text"] == span["most"]["text"] else f"from {least} to {most}"

    # ------------------------------------------------------------ papers

    def paper(self, paper: Paper) -> dict[str, Any]:
        """A paper's items, what is measured beyond it, and what its inventory does not name."""
        held = paper.inventory
        items = [self.item(paper, item) for item in held.items]
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
        """Which software and machines made what, from the results files and verdicts."""
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
    """What a refuted item has besides the claim that is shown first."""
    refuted = next((c for c in claims if c["verdict"] == "refuted"), None)
    parts = [f"claim {c['claim'].id} ({agreement.VERDICT_LABELS[c['verdict']][0]})" for c in claims if c is not refuted]
    parts += [f"study {s['piece'].name}" for s in studies] + [f"example {e['name']}" for e in examples]
    return ", ".join(parts)


def _line_text(line: dict[str, Any]) -> str:
    """What a line of Python shows, with its value."""
    return f"{line['words']}: {line['value']}" if line["told"] else str(line["words"])


def _table(
    item: PublishedResult,
    tables: Any,
    numbers: list[dict[str, Any]],
    claims: list[dict[str, Any]],
    words: Mapping[str, str],
) -> dict[str, Any] | None:
    """A table as the paper has it, a row for each of its own, with a column of ours beside each that is compared.

    None for an item whose table the inventory does not hold in rows; ``words`` describe statistics.  The verdict of a row is
    that of the claim ``ID-row-N``.
    """
    held = tables.get(item.id.replace("-", ""))
    if not isinstance(held, dict) or not {"columns", "rows"} <= held.keys():
        return None
    by_name = {row["name"]: row for row in numbers}
    by_claim = {claim["claim"].id: claim for claim in claims}
    ours = [(c, j.statistic) for c in held["columns"] if (row := by_name.get(f"{c}, row 1")) for j in row["judged"]]
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
                "measured": [judged[key].measured if key in judged else "-" for key in ours],
                "verdict": claim["verdict"] if claim else "",
                "words": "; ".join(  # in the columns' order, of the first number: the others are it in another unit
                    judged[key].words.partition(",")[0] for key in ours if key in judged and key[0] == ours[0][0]
                ),
            }
        )
    return {
        "columns": held["columns"],
        "ours": [f"{column}, {words[statistic].rpartition(', ')[2]}" for column, statistic in ours],
        "rows": rows,
    }


def _findings(plan: Plan, of: Content) -> dict[str, Any]:
    """What was found, in words: a line a paper, and the weightiest refutations with the witness of this folder drawn."""
    names = {paper.name: paper for paper in plan.papers}
    found = resources.read_json("findings")
    papers = [{"words": line["words"], "of": names[line["paper"]]} for line in found["found"] if line["paper"] in names]
    cards = []
    for finding in found["weightiest"]:
        piece = of.claims.get((finding["paper"], finding["claim"]))
        if piece is None:
            continue
        report = of.reports[piece.name]
        at = finding.get("witness", 0)
        shown = [] if report is None else report["witnesses"][at : at + 1]
        cards.append(
            {
                "words": finding["words"],
                "short": names[finding["paper"]].inventory.short,
                "verdict": of.outcome(piece),
                "anchor": f"claim-{piece.name}",
                "svgs": [drawing["svg"] for witness in shown for drawing in of.witness(witness)["drawn"]],
            }
        )
    return {"papers": papers, "cards": cards}


def _counts(keys: Iterable[str]) -> dict[str, int]:
    """How many there are of each verdict, in the order in which they are counted."""
    found = list(keys)
    return {key: found.count(key) for key in agreement.VERDICT_LABELS}


def content(plan: Plan, folder: Folder) -> dict[str, Any]:
    """What the templates take."""
    all_of = Content(plan, folder)
    papers = [all_of.paper(paper) for paper in plan.papers]
    findings = _findings(plan, all_of)
    items = [item for paper in papers for item in paper["items"]]
    held = ((piece.claim.ours, all_of.reports[piece.name]) for piece in plan.claims)
    reports = [{**report, "ours": ours} for ours, report in held if report is not None]
    theirs = [all_of.outcome(piece) for piece in plan.claims if not piece.claim.ours]
    missing = theirs.count("missing")
    return {
        "papers": papers,
        "findings": findings,
        "counts": _counts(item["verdict"] for item in items),
        "items": len(items),
        "told": [
            *outcome_counts(reports),
            *([f"{missing} not looked at"] if missing else []),
        ],
        "claims": len(theirs),
        "provenance": all_of.provenance(),
        "missing": sum(item["verdict"] == "missing" for item in items),
    }
