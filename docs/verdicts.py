"""Make ``results/verdicts.json``, from which the site's errata and cards are made (ten minutes of CPU).

python docs/verdicts.py

Verdicts are by full effort.  Cached verdicts are not decided again, so an interrupted run is resumed.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))
from errata import SHOWN

from fastcube import resources
from fastcube.running.progress import Progress
from fastcube_audit import registries
from fastcube_audit.deciding import decide_claims
from fastcube_audit.report.counterexamples import render_counterexample
from fastcube_audit.verdicts import shown_cases

DOCS = Path(__file__).resolve().parent


def kept_case(paper, case):
    """Return a counterexample or example with its drawing in place of its data."""
    drawing = render_counterexample(case["data"], case["value"], unsafe=paper == "lee_hayes")
    fields = {key: case[key] for key in ("description", "python", "value")}
    return fields | {key: value for key, value in drawing.items() if key != "lines"}


def kept_verdict(report, number):
    """Return the stored part of a report: its outcome, and if ``number`` of its cases are shown, these cases and its range."""
    claim = registries.claim_registries()[report["paper"]][report["id"]]
    kept = {"outcome": report["outcome"]}
    if number:
        kept |= {"checked": report["checked"], "applied": report["applied"]}
    if report["outcome"] in SHOWN and report["correction"] != claim.correction:  # found by the decider
        kept["correction"] = report["correction"]
    if number:
        depends = report["outcome"] == "depends"
        cases = [case for _, case in shown_cases(report)] if depends else report["counterexamples"][:number]
        kept["counterexamples"] = [kept_case(claim.paper, case) for case in cases]
    return kept


def main():
    """Decide all claims and write the file."""
    reports = []
    if code := decide_claims(registries.claims(), reports.append, progress=Progress("lines")):
        sys.exit(code)
    weightiest = resources.read_json("findings", "fastcube_audit.report")["weightiest"]
    numbers = {(card["paper"], card["claim"]): 1 + card.get("case", 0) for card in weightiest}
    facts, kept = set(), {}
    for report in reports:
        fact, key = (report["paper"], report["fact"]), (report["paper"], report["id"])
        if report["outcome"] in SHOWN and fact not in facts:  # its entry shows this claim in full
            facts.add(fact)
            numbers.setdefault(key, 1)
        kept[" ".join(key)] = kept_verdict(report, numbers.get(key, 0))
    lines = (f" {json.dumps(key)}: {json.dumps(kept[key], separators=(',', ':'))}" for key in kept)
    (DOCS / "results" / "verdicts.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
