"""docs/errata.md tells every refuted fact, what is true instead, and every misprint, as registries and inventories have them."""

import json
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from fastcube import resources
from fastcube.audit import registries
from fastcube.audit.claims import OUTCOMES
from fastcube.audit.deciding import decide_claims
from fastcube.audit.verdicts import escape_markdown, markdown, misprints
from fastcube.measure.inventory import inventory, papers

PAGE = (Path(__file__).resolve().parents[2] / "docs/errata.md").read_text(encoding="utf-8")


def section(name):
    """The page's part on one paper or question, without the rest."""
    title = escape_markdown(f"{inventory(name).short}: {inventory(name).title}") if name in papers() else name
    return next(part for part in PAGE.split("\n## ") if part.startswith(f"{title}\n"))


def flat(words):
    """Words without line ends and escapes, which wrapped prose has."""
    return " ".join(words.replace("\\", "").split())


#: Outcomes that the page tells, and what they are called there.
TOLD = {name: OUTCOMES[name] for name in ("refuted", "misprint", "depends", "unreproduced")}
SOME = "|".join(TOLD.values())


def entries(name):
    """The facts of the page on one paper or question: claims with the outcome that each has there."""
    out = {}
    for entry in re.split("^### ", section(name), flags=re.MULTILINE)[1:]:
        if head := re.match(rf"{name} `(.+)`: ({SOME})(?:, ours)?\n", entry):
            fact, outcome = head.groups()
            first = re.search(r"^\*\*Stated\*\* \((?:`(.+?)`, )?", entry, re.MULTILINE)[1] or fact
            further = re.findall(rf"^- `(.+?)`(?:, ({SOME}))?", entry, re.MULTILINE)
            assert fact not in out
            out[fact] = {first: outcome} | {claim: other or outcome for claim, other in further}
    return out


def told(name):
    """The claims of the page on one paper or question, with the outcome that each has there."""
    return {claim: outcome for fact in entries(name).values() for claim, outcome in fact.items()}


@pytest.mark.parametrize("name", registries.claim_registries())
def test_the_page_tells_claims_as_the_ledgers_have_them(name):
    ledger = registries.claim_registries()[name]
    words = flat(section(name))
    for fact, outcomes in entries(name).items():
        for claim, outcome in ((ledger[claim], outcome) for claim, outcome in outcomes.items()):
            assert (claim.fact or claim.id) == fact
            assert flat(escape_markdown(claim.statement)) in words, claim.id
            assert not claim.correction or f"**Instead:** {flat(escape_markdown(claim.correction))}" in words, claim.id
            assert bool(claim.slip) == (outcome == TOLD["misprint"]), claim.id
            assert not claim.slip or f"**Slip:** {flat(escape_markdown(claim.slip))}" in words, claim.id
    unproved = {claim.id for claim in ledger if claim.correction} - told(name).keys()
    assert unproved <= {"hypercube-algorithm"}  # not decided, with what is known instead


def test_the_index_names_every_entry_once_in_order():
    rows = re.findall(r"^\| \[(\S+) `(.+)`\]\(#(\S+)\) \| .* \| (\d+) \| .* \|$", PAGE, re.MULTILINE)
    order = [*papers(), *(name for name in registries.claim_registries() if name not in papers())]
    every = [(name, fact, list(claims)) for name in order for fact, claims in entries(name).items()]
    every.sort(key=lambda entry: registries.claim_registries()[entry[0]][entry[2][0]].ours)
    assert [(name, fact, int(number)) for name, fact, _, number in rows] == [(n, fact, len(c)) for n, fact, c in every]
    headings = re.findall(r"^### (.+)$", PAGE, re.MULTILINE)
    anchors = {"".join(c for c in h.lower() if c.isalnum() or c in "_- ").replace(" ", "-") for h in headings}
    assert {anchor for _, _, anchor, _ in rows} <= anchors


def test_every_entry_has_its_heading_and_its_witnesses_on_the_site():
    docs = Path(__file__).resolve().parents[2] / "docs"
    headings = tomllib.loads((docs / "errata.toml").read_text())
    kept = json.loads((docs / "results" / "witnesses.json").read_text())
    facts = {(name, fact): claims for name in registries.claim_registries() for fact, claims in entries(name).items()}
    assert {(name, fact) for name, some in headings.items() for fact in some} == facts.keys()
    for (name, fact), claims in facts.items():
        first, outcome = next(iter(claims.items()))
        assert kept[f"{name} {first}"]["fact"] == fact
        assert OUTCOMES[kept[f"{name} {first}"]["outcome"]] == outcome
    for card in resources.read_json("findings")["weightiest"]:
        claim = kept[f"{card['paper']} {card['claim']}"]
        assert claim["witnesses"][card.get("witness", 0)]
        assert claim["fact"] in headings[card["paper"]]


def counted(outcome, ours=False):
    """Claims of the page with an outcome, and the facts that they are about."""
    some = [
        (paper, registries.claim_registries()[paper][name])
        for paper in papers()
        for name, found in told(paper).items()
        if found == TOLD[outcome] and registries.claim_registries()[paper][name].ours == ours
    ]
    return len(some), len({(paper, claim.fact or claim.id) for paper, claim in some})


def test_the_readme_counts_what_the_page_counts():
    readme = " ".join((Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8").split())
    refuted, facts = counted("refuted")
    lines = [
        found for paper in papers() for found in re.findall(r"(\d+) claims of the paper: ([^;]*)", flat(section(paper)))
    ]
    total = sum(int(number) for number, _ in lines)
    every = " ".join(counts for _, counts in lines)
    hold, by = (sum(map(int, re.findall(pattern, every))) for pattern in (r"(\d+) holds?\b", r"holds? \((\d+) by"))
    undecided = sum(map(int, re.findall(r"(\d+) not decided", every)))
    assert (
        f"Of {total} claims of these five papers {hold - by} hold in the ranges named and {by} by definition; "
        f"{refuted} are refuted, which is {facts} facts; {counted('misprint')[0]} are misprints in our transcription, "
        f"{counted('depends')[0]} depend "
        f"on the interpretation, {counted('unreproduced')[0]} numbers are not reproduced, {undecided} claims are not decided."
    ) in readme


#: How a paper's line counts what the page tells.
_COUNTED = {"refuted": "refuted", "misprint": "misprint", "depends": "depends? on", "unreproduced": "not reproduced"}


@pytest.mark.parametrize("name", registries.claim_registries())
def test_the_page_counts_the_claims_that_the_ledgers_have(name):
    """Without deciding any: how many there are, how many by definition, and of the outcomes that the page tells."""
    ledger = registries.claim_registries()[name]
    counted = r"(?:claims?|statements?) (of the papers?|added by fastcube): "
    lines = dict(re.findall(rf"\d+ {counted}([^;]*?)(?=; |\.\n)", section(name) + "\n"))
    numbers = {whose: int(n) for n, whose in re.findall(rf"(\d+) {counted}", section(name))}
    papers_own = "of the paper" + "s" * (name not in papers())
    assert numbers == Counter("added by fastcube" if c.ours else papers_own for c in ledger)
    for whose, words in lines.items():
        claims = [claim for claim in ledger if claim.ours == (whose == "added by fastcube")]
        some = Counter(told(name)[claim.id] for claim in claims if claim.id in told(name))
        named = {OUTCOMES[key]: rf"(\d+) {what}" for key, what in _COUNTED.items()}
        counts = {outcome: sum(map(int, re.findall(what, words))) for outcome, what in named.items()}
        assert {key: n for key, n in counts.items() if n} == some
        assert sum(map(int, re.findall(r"(?:^|, )(\d+) ", words))) == len(claims)
        assert sum(map(int, re.findall(r"(\d+) by definition", words))) == sum(claim.definition for claim in claims)


@pytest.mark.parametrize("paper", papers())
def test_corrections_are_sentences_that_name_claims_that_there_are(paper):
    known = {claim.id for claim in registries.claim_registries()[paper]}
    for claim in registries.claim_registries()[paper]:
        if claim.correction:
            assert claim.correction.endswith("."), claim.id
            named = set(re.findall(r"\b[a-z]+\d?(?:-[a-z0-9]+)+\b", claim.correction)) & ({*known} | {"theorem-1"})
            assert named <= known, claim.id


@pytest.mark.parametrize("paper", papers())
def test_misprints_are_those_of_the_inventory(paper):
    assert misprints(inventory(paper)) in section(paper)


@pytest.mark.exhaustive
def test_the_page_is_what_the_command_prints():
    """What it tells by full effort; what it only counts by quick effort, which says the same of less."""
    quick, full = [], []
    assert decide_claims(registries.claims(), quick.append, quick=True) == 0
    some = [claim for claim, r in zip(registries.claims(), quick, strict=True) if r["outcome"] in TOLD]
    assert decide_claims(some, full.append) == 0
    known = {(r["paper"], r["id"]): r for r in full}
    reports = [known.get((r["paper"], r["id"]), {**r, "effort": "full"}) for r in quick]
    assert markdown(reports, ",".join(TOLD)) + "\n" == PAGE
