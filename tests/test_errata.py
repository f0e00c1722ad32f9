"""docs/errata.md tells every refuted claim, what is true instead, and every misprint, as ledgers and inventories have them."""

import re
from pathlib import Path

import pytest

from fastcube.engine import registry
from fastcube.engine.deciding import decide
from fastcube.inventory import inventory, papers
from fastcube.ledger import markdown, misprints, plain

PAGE = (Path(__file__).resolve().parent.parent / "docs/errata.md").read_text(encoding="utf-8")


def section(paper):
    """The page's part on one paper, without the rest."""
    found = inventory(paper)
    parts = PAGE.split("\n## ")
    return next(part for part in parts if part.startswith(plain(f"{found.short}: {found.title}")))


def flat(words):
    """Words without line ends, marks of quotation and escapes, which wrapped prose has."""
    return " ".join(re.sub(r"^> ", "", words, flags=re.MULTILINE).replace("\\", "").split())


@pytest.mark.parametrize("paper", papers())
def test_the_claims_that_have_a_correction_are_those_of_the_page(paper):
    wrong = [claim for claim in registry.ledgers()[paper] if claim.correction]
    told = re.findall(r"^### `(.+)`.*: refuted$", section(paper), re.MULTILINE)
    assert sorted(told) == sorted(claim.id for claim in wrong)  # a ledger's order is that of its files' first import
    told = flat(section(paper))
    for claim in wrong:
        assert flat(plain(claim.statement)) in told, claim.id
        assert f"**Instead:** {flat(plain(claim.correction))}" in told, claim.id


@pytest.mark.parametrize("paper", papers())
def test_corrections_are_sentences_that_name_claims_that_there_are(paper):
    known = {claim.id for claim in registry.ledgers()[paper]}
    for claim in registry.ledgers()[paper]:
        if claim.correction:
            assert claim.correction.endswith("."), claim.id
            named = set(re.findall(r"\b[a-z]+\d?(?:-[a-z0-9]+)+\b", claim.correction)) & ({*known} | {"theorem-1"})
            assert named <= known, claim.id


@pytest.mark.parametrize("paper", papers())
def test_misprints_are_those_of_the_inventory(paper):
    assert misprints(inventory(paper)) in section(paper)


@pytest.mark.exhaustive
def test_the_page_is_what_the_command_prints():
    """By quick effort, which says the same of less: but for what was checked."""
    reports = []
    assert decide(registry.claims(), reports.append, quick=True) == 0
    assert [r["id"] for r in reports if r["outcome"] == "refuted"] == [r["id"] for r in reports if r["correction"]]

    def short(page):
        return sorted(part for part in page.strip().split("\n\n") if not part.startswith(("Made by", "**Checked**")))

    assert short(markdown(reports, "refuted")) == short(PAGE)
