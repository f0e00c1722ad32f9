"""Make ``results/witnesses.json``: the verdicts and networks that the errata pages and the front page draw (minutes).

python docs/witnesses.py
"""

import json
import re
from pathlib import Path

from fastcube import resources
from fastcube.audit import registries
from fastcube.audit.claims import Effort
from fastcube.audit.report import duals
from fastcube.audit.report.network_drawings import render_witness

DOCS = Path(__file__).resolve().parent

#: An entry of the errata: its paper, its fact and, where it is another, its first claim.
ENTRY = re.compile(r"^### (\w+) `(.+)`: .*\n\n\*\*Stated\*\* \((?:`(.+?)`, )?", re.MULTILINE)


def drawn_claims():
    """Paper and id of the claims of the errata and of the weightiest findings."""
    entries = ENTRY.findall((DOCS / "errata.md").read_text())
    cards = resources.read_json("findings")["weightiest"]
    return {(paper, first or fact) for paper, fact, first in entries} | {(c["paper"], c["claim"]) for c in cards}


def decide(claim):
    """What is kept of a claim, decided by full effort."""
    report = claim.report(Effort())
    told = [
        duals.render_witness(witness["data"])
        or render_witness(witness["data"], witness["value"], unsafe=claim.paper == "lee_hayes")
        for witness in report["witnesses"][:2]
    ]
    drawn = [{key: value for key, value in one.items() if key != "lines"} for one in told]
    return {"fact": report["fact"], "outcome": report["outcome"], "witnesses": drawn}


def main():
    """Decide the claims and write the file."""
    wanted = drawn_claims()
    kept = {" ".join(claim.key): decide(claim) for claim in registries.claims() if claim.key in wanted}
    lines = (f" {json.dumps(key)}: {json.dumps(kept[key], separators=(',', ':'))}" for key in sorted(kept))
    (DOCS / "results" / "witnesses.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
