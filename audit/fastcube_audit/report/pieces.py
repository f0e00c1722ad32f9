"""The content of one piece of the report page: a plot with its table, a claim with its cases, or a worked example.

A piece that several results name is shown at one place, its home, and the other places link to it.
"""

from __future__ import annotations

import operator
import re
from typing import Any
from urllib.parse import quote

from fastcube.measure.inventory import Evidence, PublishedResult
from fastcube.measure.paper import Paper
from fastcube.plot.network_drawing import Drawing, describe_drawing, drawing_svg

from ..readings import readings
from ..verdicts import case_label, checked_text
from .counterexamples import drawings_of
from .figures import lines_text
from .folder import Folder
from .plan import ClaimPiece, ExamplePiece, Plan, StudyPiece

#: Characters that need no escape in the data address of a picture, which is shorter this way than with base64 (by a third).
_UNESCAPED = " '=:/;,.()-+*!?@$_|[]{}"


def anchor_result(paper: Paper, result: PublishedResult) -> str:
    """Return the anchor of a published result on the page."""
    return f"{paper.name}-{result.id}"


def anchor_rest(paper: Paper) -> str:
    """Return the anchor of a paper's studies and claims that its inventory does not name."""
    return f"{paper.name}-more"


def title_of(result: PublishedResult) -> str:
    """Return the title of a published result, such as ``Figure 8``; for a statement its own title, or its id as words."""
    if result.number:
        return f"{result.kind.capitalize()} {result.number}"
    if result.title:
        return result.title
    heading = result.id.replace("-", " ")
    return heading[:1].upper() + heading[1:]


class Pieces:
    """The pieces of a plan with their entries in the folder, None where an entry is missing.

    Attributes
    ----------
    claims : dict
        The pieces of claims by paper and id.
    examples : dict
        The pieces of worked examples by paper and key.
    drawn : dict
        The plots, by the names of the pieces of studies.
    reports : dict
        The reports on claims, by the names of their pieces.
    """

    def __init__(self, plan: Plan, folder: Folder) -> None:
        self._studies = {(piece.study.name, piece.grid.name): piece for piece in plan.studies}
        self._first_grid = {piece.study.name: piece.study.grids[0].name for piece in plan.studies}
        self.claims = {(piece.paper.name, piece.claim.id): piece for piece in plan.claims}
        self.examples = {(piece.paper.name, piece.key): piece for piece in plan.examples}
        self.drawn = {piece.name: folder.read_entry(piece) for piece in plan.studies}
        self.reports = {piece.name: folder.read_entry(piece) for piece in plan.claims}
        self._runs = {piece.name: folder.read_entry(piece) for piece in plan.examples}
        self._names = _name_places(plan)  # by the anchor of the place
        self._homes = self._find_natural_homes(plan)  # the anchor at which each piece is shown

    def _find_natural_homes(self, plan: Plan) -> dict[str, str]:
        """Return the anchors of plots and claims that have a natural place, which comes before all other places.

        A plot is shown at the figure or table that it reproduces, a claim at the result whose name begins the claim's name.
        """
        ranked = []
        for paper in plan.papers:
            for result, evidence in paper.inventory.iter_evidence():
                anchor, piece = anchor_result(paper, result), self.find_study(evidence)
                if piece is not None and result.kind in ("figure", "table") and result in paper.inventory.results:
                    rank = int(evidence.statistic != piece.study.statistics[0].name)
                    ranked.append((rank, f"study {piece.name}", anchor))
                if evidence.claim and f"{evidence.claim}-".startswith(f"{result.id}-"):
                    ranked.append((-len(result.id), f"claim {paper.name}-{evidence.claim}", anchor))
        homes: dict[str, str] = {}
        for _, name, anchor in sorted(ranked, key=operator.itemgetter(0)):
            homes.setdefault(name, anchor)
        return homes

    def find_study(self, evidence: Evidence) -> StudyPiece | None:
        """Return the piece of the study and grid (by default the first grid) that show a result, or None if not in the plan."""
        return self._studies.get((evidence.study, evidence.grid or self._first_grid.get(evidence.study, "")))

    def has_home(self, piece: StudyPiece | ClaimPiece) -> bool:
        """Whether a piece is shown at one of the places that were collected before."""
        return f"{'study' if isinstance(piece, StudyPiece) else 'claim'} {piece.name}" in self._homes

    def _find_elsewhere(self, name: str, anchor: str) -> dict[str, str]:
        """Return anchor and name of the place that already shows a piece; empty if this place is the first."""
        home = self._homes.setdefault(name, anchor)
        return {} if home == anchor else {"anchor": home, "name": self._names[home]}

    def collect_study(self, piece: StudyPiece, anchor: str) -> dict[str, Any]:
        """Return the content of a plot: its picture, its table, and the commands that reproduce it."""
        drawn = self.drawn[piece.name]
        out: dict[str, Any] = {
            "piece": piece,
            "drawn": drawn,
            "elsewhere": self._find_elsewhere(f"study {piece.name}", anchor),
        }
        if drawn is None:
            return out
        tables = [table for table in drawn["tables"] if table["columns"]]
        return out | {
            "panels": [_format_image(svg) for svg in drawn["panels"]],
            "tables": tables,
            "lines": lines_text(tables) if tables else "",
            **_write_commands(piece, drawn),
        }

    def collect_claim(self, piece: ClaimPiece, anchor: str) -> dict[str, Any]:
        """Return the content of a claim: its verdict and its counterexamples."""
        claim, report, verdict = piece.claim, self.reports[piece.name], self.find_outcome(piece)
        checked = "" if report is None else checked_text(report)
        quick = " --quick" if report is not None and report["effort"] == "quick" else ""
        return {
            "name": piece.name,
            "claim": claim,
            "report": report,
            "verdict": verdict,
            "elsewhere": self._find_elsewhere(f"claim {piece.name}", anchor),
            "checked": checked,
            "definition": claim.definition and verdict == "holds",
            "cases": [] if report is None else [collect_case(report, i) for i in range(len(report["counterexamples"]))],
            "readings": find_readings(piece.paper, f"{claim.statement} {claim.where} {checked}"),
            "shell": f"fastcube claims {claim.paper} {claim.id}{quick}",
        }

    def find_outcome(self, piece: ClaimPiece) -> str:
        """Return the outcome of a claim, or ``missing`` if it has not been decided."""
        report = self.reports[piece.name]
        return "missing" if report is None else str(report["outcome"])

    def collect_example(self, piece: ExamplePiece, anchor: str) -> dict[str, Any]:
        """Return the content of a worked example: its Python line with the value."""
        example, run = piece.make(), self._runs[piece.name]
        is_reproduced = run is not None and run["same"]
        if run is None:
            verdict, printed, failed = "missing", "", ""
        else:
            verdict = "shown" if is_reproduced else "unreproduced"
            printed, failed = str(example.value) if is_reproduced else run["gave"], run["failed"]
        return {
            "name": piece.key,
            "description": example.description,
            "python": _write_program(example.python),
            "gives": printed,
            "value": example.value_text,
            "has_value": is_reproduced and _adds_information(example.value_text, example.description),
            "wanted": str(example.value),
            "verdict": verdict,
            "cubes": [_format_drawing(drawing) for drawing in example.cubes],
            "failed": failed,
            "elsewhere": self._find_elsewhere(f"example {piece.name}", anchor),
        }


def _name_places(plan: Plan) -> dict[str, str]:
    """Return the names of the places of the page at which pieces are shown, by their anchors."""
    names = {}
    for paper in plan.papers:
        for result in paper.inventory.all_results:
            names[anchor_result(paper, result)] = f"{title_of(result)} of {paper.inventory.short}"
        names[anchor_rest(paper)] = f"Further studies and claims of {paper.inventory.short}"
    return names


def collect_case(report: dict[str, Any], position: int) -> dict[str, Any]:
    """Return the content of a counterexample or example: the lines that replay it, and a drawing if its network is small."""
    case = report["counterexamples"][position]
    description, value, drawing = case["description"], case["value_text"], case.get("drawing", {})
    return {
        "label": case_label(report, position).lower(),
        "description": description,
        "python": _write_program(case["python"]),
        "gives": str(case["value"]),
        "value": value,
        "has_value": _adds_information(value, description),
        "lines": drawing.get("lines", []),
        "drawn": [_format_drawing(found, captioned=True) for found in drawings_of(drawing)],
    }


def find_readings(paper: Paper, text: str) -> list[dict[str, str]]:
    """Return the interpretations whose codes a text contains.  A range such as R5-R7 counts for each of its codes."""
    known = readings(paper.name)
    codes = list(known)
    named: list[str] = []
    for first, last in re.findall(r"\b([A-Z]\d+)(?:-([A-Z]\d+))?\b", text):
        if first in known:
            named += codes[codes.index(first) : codes.index(last) + 1] if last in known else [first]
    return [{"code": code, "text": known[code]} for code in dict.fromkeys(named)]


def _write_program(python: str) -> str:
    """Return a runnable program that prints the value of the last line."""
    *assignments, expression = python.split("\n")
    return "\n".join(["import fastcube as fc", *assignments, f"print({expression})"])


def _write_commands(piece: StudyPiece, drawn: dict[str, Any]) -> dict[str, Any]:
    """Return the size of a results file, and the commands that reproduce it with its digest.

    The commands reproduce the file exactly, unless some points have additional trials.
    """
    have = drawn["have"]
    least, most = min(have.values()), max(have.values())
    is_default = have == piece.grid.trials_of_points()
    grid = "" if piece.grid.name == piece.study.grids[0].name else piece.grid.name
    options = f"{f' --grid {grid}' if grid else ''}{'' if is_default else f' --trials {least}'} --seed {drawn['seed']}"
    keywords = f"{f', grid={grid!r}' if grid else ''}{'' if is_default else f', trials={least}'}, seed={drawn['seed']}"
    return {
        "size": f"{len(have)} points of {least:,}{f' to {most:,}' if most > least else ''} trials",
        "exact": drawn["trials"] == sum(have.values()) and (is_default or least == most),
        "shell": f"fastcube run {piece.study.name}{options} -o {piece.name}.h5",
        "python": _write_program(f"fc.run({piece.study.name!r}{keywords}).digest()"),
        "gives": drawn["digest"],
    }


def _adds_information(value: str, description: str) -> bool:
    """Whether the value adds to its description: the text does not contain it, and it is no "yes" to a plain statement."""
    is_contained = re.search(rf"(?<![\w,.]){re.escape(value)}(?!\w|[,.]\d)", description)
    return value != "" and not is_contained and (value != "yes" or "whether" in description)


def _format_drawing(drawing: Drawing, captioned: bool = False) -> dict[str, str]:
    """Return a drawing and its caption; if ``captioned``, the caption describes the whole drawing."""
    return {
        "svg": drawing_svg(drawing, captioned=captioned),
        "caption": drawing.caption or describe_drawing(drawing),
    }


def _format_image(svg: str) -> dict[str, Any]:
    """Return a picture as the address of an image, and its size, from which the page knows its shape before it is drawn."""
    size = re.search(r'viewBox="0 0 (\d{1,4}(?:\.\d+)?) (\d{1,4}(?:\.\d+)?)"', svg)
    return {
        "address": f"data:image/svg+xml,{quote(svg.replace(chr(34), chr(39)), safe=_UNESCAPED)}",
        "size": [round(float(length)) for length in size.groups()] if size else None,
    }
