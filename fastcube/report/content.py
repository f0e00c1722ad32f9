"""What the page says, as plain data: each item of each paper with what is printed, measured and decided.

Made of the plan and the folder alone, in their order and without a clock, so that the same folder gives the same page.
A plot or a claim that several items name is shown at the first and linked from the others.
"""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from ..engine.estimate import Estimate
from ..inventory import Inventory, Item, Shown
from . import duals, judging, kept
from .cubes import cube_svg, drawing_of, in_words
from .folder import Folder
from .plan import ClaimPiece, ExamplePiece, Paper, Plan, StudyPiece

#: Characters of a value or a range in the table of all items.
_SHORT = 110


def verdict(key: str) -> dict[str, str]:
    """A verdict for the page: key, word and mark."""
    word, mark = judging.WORDS[key]
    return {"key": key, "word": word, "mark": mark}


def short(text: str, most: int = _SHORT) -> str:
    """The text on one line, cut at a word."""
    return textwrap.shorten(text, most, placeholder=" ...") if len(text) > most else text


def _quoted(python: str) -> str:
    """A line of Python as one word of a shell, in the quotes that it does not have itself where there are such."""
    return shlex.quote(python) if set('"$`\\!') & set(python) else f'"{python}"'


def title_of(item: Item) -> str:
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
        self.drawn = {piece.name: folder.drawn(piece, stale=True) for piece in plan.studies}
        self.reports = {piece.name: folder.verdict(piece) for piece in plan.claims}
        self.gave = {piece.name: folder.example(piece, stale=True) for piece in plan.examples}
        self.names = {
            f"{paper.name}-{item.id}": f"{title_of(item)} of {paper.inventory.short}"
            for paper in plan.papers
            for item in (*paper.inventory.items, *paper.inventory.beyond)
        }
        self.names |= {f"{paper.name}-more": f"Besides of {paper.inventory.short}" for paper in plan.papers}
        self.home = self._figures()  # where each plot, claim and example is shown

    def _figures(self) -> dict[str, str]:
        """The items whose figure or table a study's plot is: where it is shown, before all others."""
        best: dict[str, tuple[int, str]] = {}
        for paper in self.plan.papers:
            for item in paper.inventory.items:
                for shown in item.shown_by:
                    piece = self._shown(shown)
                    if piece is None or item.kind not in ("figure", "table"):
                        continue
                    rank = int(shown.statistic != piece.study.statistics[0].name), f"{paper.name}-{item.id}"
                    if piece.name not in best or rank[0] < best[piece.name][0]:
                        best[piece.name] = rank
        return {f"study {name}": anchor for name, (_, anchor) in best.items()}

    # ------------------------------------------------------------ one piece

    def _shown(self, shown: Shown) -> StudyPiece | None:
        """The study's grid that shows something, by default its first; None where that is not made here."""
        return self.studies.get((shown.study, shown.grid or self.first_grid.get(shown.study, "")))

    def _place(self, name: str, anchor: str) -> dict[str, str]:
        """Anchor and name of what shows it first; empty for the first itself."""
        first = self.home.setdefault(name, anchor)
        return {} if first == anchor else {"anchor": first, "name": self.names[first]}

    def study(self, piece: StudyPiece, anchor: str) -> dict[str, Any]:
        """A plot with its table and the lines that make it again."""
        drawn = self.drawn[piece.name]
        out: dict[str, Any] = {"name": piece.name, "title": piece.study.title, "source": piece.study.source, "drawn": drawn,
               "elsewhere": self._place(f"study {piece.name}", anchor), "hours": piece.goal is None}  # fmt: skip
        if drawn is None:
            return out
        have = drawn["have"]
        least, most = min(have.values()), max(have.values())
        own = have == piece.grid.trials_of_points()
        out["size"] = f"{len(have)} points of {least:,}{f' to {most:,}' if most > least else ''} trials"
        out["tables"] = [table for table in drawn["tables"] if table["columns"]]
        # what the lines make is what the file holds, unless some points have trials besides
        out["exact"] = drawn["trials"] == sum(have.values()) and (own or least == most)
        other = "" if piece.grid.name == piece.study.grids[0].name else piece.grid.name
        options = f"{f' --grid {other}' if other else ''}{'' if own else f' --trials {least}'} --seed {drawn['seed']}"
        out["shell"] = f"fastcube run {piece.study.name}{options} -o {piece.name}.h5"
        keywords = f"{f', grid={other!r}' if other else ''}{'' if own else f', trials={least}'}, seed={drawn['seed']}"
        out["python"] = f"fc.run({piece.study.name!r}{keywords}).digest()"
        out["gives"] = repr(drawn["digest"])
        return out

    def claim(self, piece: ClaimPiece, anchor: str) -> dict[str, Any]:
        """A claim with its verdict and witnesses."""
        claim, report = piece.claim, self.reports[piece.name]
        key = "missing" if report is None else report["outcome"]
        quick = " --quick" if report is not None and report["effort"] == "quick" else ""
        return {
            "id": claim.id, "name": piece.name, "statement": claim.statement, "where": claim.where, "ours": claim.ours,
            "verdict": verdict(key), "elsewhere": self._place(f"claim {piece.name}", anchor),
            "checked": "" if report is None else report["checked"], "effort": "" if report is None else report["effort"],
            "correction": "" if report is None else report["correction"],
            "witnesses": [] if report is None else [self._witness(w) for w in report["witnesses"]],
            "shell": f"fastcube claims {claim.paper} {claim.id}{quick}",
        }  # fmt: skip

    def _witness(self, witness: dict[str, Any]) -> dict[str, Any]:
        told = witness.get("told", {})
        svg = caption = ""
        if drawing := drawing_of(told):
            svg, caption = cube_svg(drawing, told=True), in_words(drawing)
        elif dual := told.get("dual"):
            of = dual["m"], dual["faulty_nodes"], {int(v): str(text) for v, text in dual["inside"]}
            svg, caption = duals.dual_svg(*of), duals.in_words(*of)
        return {
            "words": witness["words"], "python": witness["python"], "gives": repr(witness["value"]),
            "lines": told.get("lines", []), "svg": svg, "caption": caption,
        }  # fmt: skip

    def example(self, piece: ExamplePiece, anchor: str) -> dict[str, Any]:
        """A worked example with what its line gives."""
        made, gave = piece.make(), self.gave[piece.name]
        key = "missing" if gave is None else "shown" if gave["same"] else "different"
        cubes = [{"svg": cube_svg(d), "caption": d.caption or in_words(d)} for d in made.cubes]
        shell = f"python3 -c {_quoted(f'import fastcube as fc; print({made.python})')}"
        return {"name": piece.key, "words": made.words, "python": made.python, "shell": shell,
                "gives": "" if gave is None else gave["gave"],
                "wanted": repr(made.value), "verdict": verdict(key), "cubes": cubes,
                "failed": "" if gave is None else gave["failed"],
                "elsewhere": self._place(f"example {piece.name}", anchor)}  # fmt: skip

    # ------------------------------------------------------------ one item

    def _numbers(self, item: Item, inventory: Inventory) -> list[dict[str, Any]]:
        """The printed numbers, each beside what is measured at its point."""
        runs = judging.runs_of(item, inventory.tables)
        out = []
        for printed in item.printed:
            row: dict[str, Any] = {
                "name": printed.name,
                "printed": judging.printed_text(printed),
                "judged": [],
                "claim": None,
            }
            if printed.claim and (piece := self.claims.get((inventory.paper, printed.claim))):
                report = self.reports[piece.name]
                row["claim"] = {
                    "id": printed.claim,
                    "verdict": verdict("missing" if report is None else report["outcome"]),
                }
            for of, shown in judging.asked([item]):
                if of is printed:
                    judged = self._judged(printed, shown, runs)
                    row["judged"].append({"statistic": judged.statistic, "measured": judged.measured, "words": judged.words,
                                          "verdict": verdict(judged.key)})  # fmt: skip
            out.append(row)
        return out

    def _judged(self, printed: Any, shown: Shown, runs: int | None) -> judging.Judged:
        piece = self._shown(shown)
        drawn = None if piece is None else self.drawn[piece.name]
        found = [
            entry
            for entry in ([] if drawn is None else drawn["estimates"])
            if entry["statistic"] == shown.statistic
            and all(entry["point"].get(name) == value for name, value in printed.point.items())
        ]
        if len(found) != 1:
            return judging.Judged(shown.statistic, "-", "missing")
        e = Estimate(
            *(
                float("nan") if found[0][k] is None else found[0][k] / printed.unit
                for k in ("value", "stderr", "low", "high")
            )
        )
        return judging.judge(printed, shown.statistic, e, found[0]["among"], runs)

    def item(self, paper: Paper, item: Item) -> dict[str, Any]:
        """All of an item."""
        anchor = f"{paper.name}-{item.id}"
        studies: dict[str, dict[str, Any]] = {}
        claims, examples = [], []
        for shown in item.shown_by:
            if shown.study:
                piece = self._shown(shown)
                if piece is not None and piece.name not in studies:
                    studies[piece.name] = self.study(piece, anchor)
            elif shown.claim and (paper.name, shown.claim) in self.claims:
                claims.append(self.claim(self.claims[paper.name, shown.claim], anchor))
            elif shown.example and (paper.name, shown.example) in self.examples:
                examples.append(self.example(self.examples[paper.name, shown.example], anchor))
        numbers = self._numbers(item, paper.inventory)
        decided = [(c["verdict"]["key"], bool(c["ours"])) for c in claims]
        of_claims = judging.of_claims(decided, printed=item in paper.inventory.items)
        of_numbers = self._of_numbers(numbers)
        shows = ["missing" if s["drawn"] is None and not s["hours"] else "shown" for s in studies.values()]
        shows += [e["verdict"]["key"] for e in examples]
        key = judging.of_item(of_claims, of_numbers, shows, bool(item.concept))
        return {
            "anchor": anchor, "title": title_of(item), "kind": item.kind, "place": item.place, "quote": item.quote,
            "reading": item.reading, "drawing": item.drawing, "concept": item.concept, "numbers": numbers,
            "compared": any(row["judged"] for row in numbers), "claims": claims,
            "studies": list(studies.values()), "examples": examples, "verdict": verdict(key),
            "printed": self._printed(item), "measured": self._measured(item, numbers, claims, list(studies.values()), examples),
        }  # fmt: skip

    @staticmethod
    def _of_numbers(numbers: list[dict[str, Any]]) -> list[str]:
        """A verdict a number: where several readings are measured, one that agrees is enough."""
        out = []
        for row in numbers:
            keys = [j["verdict"]["key"] for j in row["judged"]]
            if keys:
                out.append(next(k for k in ("holds", "undecided", "different", "missing") if k in keys))
        return out

    @staticmethod
    def _printed(item: Item) -> str:
        if item.printed:
            some = "; ".join(f"{p.name}: {judging.printed_text(p)}" for p in item.printed[:3])
            return some + (f"; ... ({len(item.printed)} numbers)" if len(item.printed) > 3 else "")
        return short(item.quote)

    def _measured(
        self, item: Item, numbers: list[Any], claims: list[Any], studies: list[Any], examples: list[Any]
    ) -> str:
        """What the table of all items says was measured."""
        if item.concept:
            return short(item.concept)
        parts = []
        judged = self._of_numbers(numbers)
        if judged and set(judged) != {"missing"}:
            many = [row["judged"][0]["measured"] for row in numbers if row["judged"]]
            parts.append(many[0] if len(judged) == 1 else f"{judged.count('holds')} of {len(judged)} numbers agree")
        if len(claims) == 1 and claims[0]["checked"]:
            whose = "a claim of ours, " if claims[0]["ours"] else ""
            parts.append(f"{whose}{claims[0]['verdict']['word']}: {claims[0]['checked']}")
        for ours, words in ((False, "claim"), (True, "of ours")):
            keys = [c["verdict"]["key"] for c in claims if c["ours"] == ours]
            counts = ", ".join(f"{keys.count(k)} {verdict(k)['word']}" for k in judging.ORDER if k in keys)
            if keys and (len(claims) > 1 or not claims[0]["checked"]):
                parts.append(f"{len(keys)} {words}{'s' if len(keys) > 1 and not ours else ''}: {counts}")
        done = [e for e in examples if e["gives"]]
        if len(examples) == 1 and done:
            parts.append(f"gives {done[0]['gives']}")
        elif done:
            parts.append(f"{len(done)} of {len(examples)} examples run")
        if not parts:
            parts += [s["size"] for s in studies if s["drawn"]]
        return short("; ".join(parts)) or "-"

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
        reading = next((item.reading.split(",")[0] for item in held.items if item.reading), "")
        return {"name": paper.name, "short": held.short, "readings": reading, "whole": whole, "year": held.year,
                "items": items, "beyond": beyond,
                "rest": rest, "studies": studies, "claims": claims}  # fmt: skip

    def provenance(self) -> dict[str, Any]:
        """Which software and machines made what, from the results files and verdicts."""
        runs, software, machines, commands = [], set(), set(), set()
        for piece in self.plan.studies:
            drawn = self.drawn[piece.name]
            if drawn is None:
                continue
            last = drawn["history"][-1] if drawn["history"] else {}
            if not kept.fits(last, kept.RUN):  # written by another program
                continue
            environment, resources = last["environment"], last["resources"]
            libraries = ", ".join(f"{name} {version}" for name, version in environment["libraries"].items())
            seconds = resources["seconds"] if kept.is_number(resources.get("seconds")) else 0.0
            git = last["software"].get("git_revision")
            revision = f" ({git})" if git and kept.is_clean(git) else ""
            software.add(
                f"fastcube {last['software']['version']}{revision}, Python {environment['python']}, {libraries}"
            )
            program, *rest = last["parameters"]["command"] or [""]
            commands.add(shlex.join([PurePath(program).name, *map(str, rest)]))
            machines.add(f"{environment['cpu']}, {environment['cpus']} processors, {environment['os']}")
            runs.append({"name": piece.name, "trials": f"{drawn['trials']:,}", "seed": drawn["seed"], "digest": drawn["digest"],
                         "written": resources["written"], "seconds": f"{seconds:.1f}"})  # fmt: skip
        reports = [report for report in self.reports.values() if report is not None]
        efforts = [
            f"{sum(r['effort'] == e for r in reports)} {e}"
            for e in ("full", "quick")
            if any(r["effort"] == e for r in reports)
        ]
        hashes = sorted({report["sources"] for report in reports})
        return {"runs": runs, "software": sorted(software), "machines": sorted(machines), "efforts": ", ".join(efforts),
                "hashes": hashes, "commands": sorted(commands)}  # fmt: skip


def _counts(keys: Iterable[str]) -> list[dict[str, Any]]:
    found = list(keys)
    return [
        {**verdict(key), "count": found.count(key)}
        for key in ("holds", "refuted", "different", "undecided", "shown", "concept", "missing")
    ]


def content(plan: Plan, folder: Folder) -> dict[str, Any]:
    """What the templates take."""
    all_of = Content(plan, folder)
    papers = [all_of.paper(paper) for paper in plan.papers]
    items = [item for paper in papers for item in paper["items"]]
    claims = {p.name: (p.claim.ours, all_of.reports[p.name]) for p in plan.claims}
    outcomes = {
        whose: _counts(
            "missing" if report is None else report["outcome"] for mine, report in claims.values() if mine == ours
        )
        for ours, whose in ((False, "theirs"), (True, "ours"))
    }
    return {
        "papers": papers, "counts": _counts(item["verdict"]["key"] for item in items), "items": len(items), "outcomes": outcomes,
        "claims": {whose: sum(c["count"] for c in counts) for whose, counts in outcomes.items()},
        "provenance": all_of.provenance(),
        "missing": sum(item["verdict"]["key"] == "missing" for item in items),
    }  # fmt: skip
