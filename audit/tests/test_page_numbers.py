"""Numbers of claims and findings in sentences of the documentation."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from fastcube import resources
from fastcube_audit import registries
from fastcube_audit.report import agreement

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text(encoding="utf-8")
NUMERALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def read_page(name: str) -> str:
    """A page with all its words on one line."""
    return " ".join((DOCS / f"{name}.md").read_text(encoding="utf-8").split())


def test_numbers_of_claims():
    facts = len(registries.claims("others"))
    assert f"compares {('fourteen', 'fifteen', 'sixteen')[facts - 14]} facts" in read_page("networks")
    assert f"evaluates {NUMERALS[len(registries.claims('networks'))]} statements" in read_page("networks")


def test_numbers_of_the_report():
    findings = resources.read_json("findings", "fastcube_audit.report")["weightiest"]
    verdicts = json.loads((DOCS / "results" / "verdicts.json").read_text(encoding="utf-8"))
    outcomes = Counter(verdicts[f"{finding['paper']} {finding['claim']}"]["outcome"] for finding in findings)
    assert outcomes == {"refuted": 9, "depends": 1}
    assert f"begins with the {NUMERALS[len(findings)]} most important findings, which are the nine" in read_page(
        "report"
    )
    limits = NUMERALS[int(agreement.NEAR)], NUMERALS[int(agreement.FAR)]
    assert "up to {} standard errors agrees and a difference of {} or more does not".format(*limits) in read_page(
        "report"
    )


@pytest.mark.parametrize("paper", ["lee_hayes", "leu_kuo", "li_peng_chu", "sui_wang_lee", "wang_lin_kuo"])
def test_papers(paper):
    """Each number of what holds, and of README's row, is in a claim, in the inventory, or in a program of the page."""
    page = (DOCS / f"papers/{paper}.md").read_text(encoding="utf-8")
    (found,) = re.findall(r"^## Which statements hold\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    sources = [*(ROOT / "audit" / "fastcube_audit" / "papers" / paper).glob("*.py"), ROOT / "data" / f"{paper}.json"]
    programs = re.findall(r"```python.*?```", page, re.DOTALL)
    known = " ".join([*(path.read_text(encoding="utf-8") for path in sources), *programs])
    (row,) = re.findall(rf"^\| \[[^]]*\]\(docs/papers/{paper}\.md\).*$", README, re.MULTILINE)
    text = re.sub(r"```.*?```|\]\([^)]*\)|<!-- table .*?<!-- end -->", "", found + row, flags=re.DOTALL)
    assert {number for number in re.findall(r"\d+", text) if not re.search(rf"(?<!\d){number}(?!\d)", known)} == set()
