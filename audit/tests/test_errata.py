"""The errata have all refuted facts, corrections and misprints of registries, cached verdicts and inventories."""

import re
import runpy
import tomllib
from pathlib import Path

import numba
import pytest

from fastcube import resources
from fastcube.measure.inventory import inventory, papers
from fastcube_audit import registries, verdicts
from fastcube_audit.claims import METHODS, OUTCOMES, Effort
from fastcube_audit.deciding import decide_claims
from fastcube_audit.verdicts import APPENDIX, SENTENCES, escape_markdown, markdown, misprints, shown_cases

ROOT = Path(__file__).resolve().parents[2]
SITE = runpy.run_path(str(ROOT / "docs" / "extensions" / "errata.py"))
REPORTS = SITE["kept_reports"]()
SHOWN = SITE["SHOWN"]
HEADINGS = tomllib.loads((ROOT / "docs" / "errata.toml").read_text())


@pytest.fixture(scope="module")
def pages():
    return {name: flat(text) for name, text in SITE["errata_pages"](drawn=True).items()}


def flat(text):
    """Words without line ends, escapes and links to pages of the documentation, which wrapped prose has."""
    return " ".join(re.sub(r"\[(docs/\w+\.md)\]\(.*?\)", r"\1", text.replace("\\", "")).split())


def first_claims():
    """Return the first claim with an entry of each fact, by paper and fact."""
    first = {}
    for report in REPORTS:
        if report["outcome"] in SHOWN:
            first.setdefault((report["paper"], report["fact"]), report)
    return first


def test_every_claim_has_a_kept_verdict_that_its_text_allows():
    for claim, report in zip(registries.claims(), REPORTS, strict=True):
        assert report["outcome"] in OUTCOMES
        assert bool(claim.misprint_reason) == (report["outcome"] == "misprint"), claim.id
    corrected = {claim.id for claim in registries.claims() if claim.correction}
    for report in first_claims().values():
        least = {"refuted": 1, "misprint": 1, "depends": 2}.get(report["outcome"], 0)
        assert report["checked"], report["id"]
        assert len(report["counterexamples"]) >= least, report["id"]
    unproved = corrected - {report["id"] for report in REPORTS if report["outcome"] in SHOWN}
    assert unproved <= {"hypercube-algorithm"}  # not decided, with what is known instead


def test_pages_have_the_texts_of_claims(pages):
    for report in REPORTS:
        if report["outcome"] in SHOWN:
            page = pages["appendix" if first_claims()[report["paper"], report["fact"]]["added"] else report["paper"]]
            assert flat(escape_markdown(report["statement"])) in page, report["id"]
            assert (
                not report["correction"]
                or f"**Correct statement.** {flat(escape_markdown(report['correction']))}" in page
            )
            assert (
                not report["misprint_reason"]
                or f"{SENTENCES['misprint']} {flat(escape_markdown(report['misprint_reason']))}" in page
            )
    for paper in papers():
        assert flat(misprints(inventory(paper))) in pages[paper]


def test_pages_in_the_repository_are_those_of_the_present_verdicts():
    written = {path.stem: path.read_text() for path in (ROOT / "docs" / "errata").glob("*.md")}
    assert written == SITE["errata_pages"](), "python docs/tables.py writes other errata"
    assert not any("<svg" in text for text in written.values())  # the site draws the networks


def test_every_fact_has_a_heading_one_entry_and_one_row(pages):
    first = first_claims()
    assert {(name, fact) for name, some in HEADINGS.items() for fact in some} == first.keys()
    every = " ".join(pages.values())
    for name, fact in first:
        label = f"errata-{name}-{fact}".replace("_", "-")
        assert every.count(f'<a id="{label}"></a> ## {HEADINGS[name][fact]} ') == 1
        assert len(re.findall(rf"\]\(\w+\.md#{label}\) \|", pages["index"])) == 1


def test_every_name_on_a_page_is_one_that_the_command_takes(pages):
    """The names are the entry's fact and its claims, which ``fastcube claims PAPER NAME`` decides."""
    labels = {f"errata-{paper}-{fact}".replace("_", "-"): (paper, fact) for paper, fact in first_claims()}
    seen = set()
    for page in pages.values():
        for label, entry in re.findall(r'<a id="([\w-]+)"></a> (.*?)(?=<a id=|$)', page):
            paper, fact = labels[label]
            (head,) = re.findall(r"</span> [\w ]+</span>, `(\w+) ([\w-]+)`", entry)
            assert head == (paper, fact)
            facts = {claim.fact or claim.id for claim in registries.claims(paper, fact)}
            assert facts == {fact}
            for name in re.findall(r"(?:\*\*Statement\*\* \(| - )`([\w-]+)`", entry):
                (claim,) = registries.claims(paper, name)
                assert (claim.fact or claim.id) == fact, name
                seen.add(claim.key)
    assert ("wang_lin_kuo", "theorem-2-graph") in seen


def test_refutations_come_before_misprints(pages):
    """On the pages, in the tables of the index, and in the document that the command prints."""
    document = markdown(REPORTS, ",".join(SHOWN))
    places: dict[tuple[str, bool], dict[str, list[tuple[int, int, int]]]] = {}
    for (paper, fact), report in first_claims().items():
        label, page = f"errata-{paper}-{fact}".replace("_", "-"), pages["appendix" if report["added"] else paper]
        found = (
            page.index(f'id="{label}"'),
            pages["index"].index(f"#{label})"),
            document.index(f"### {paper} `{fact}`:"),
        )
        places.setdefault((paper, report["added"]), {}).setdefault(report["outcome"], []).append(found)
    both = [some for some in places.values() if {"refuted", "misprint"} <= some.keys()]
    assert len(both) > 2
    for some in both:
        refuted, printed = (list(zip(*some[outcome], strict=True)) for outcome in ("refuted", "misprint"))
        assert all(max(first) < min(then) for first, then in zip(refuted, printed, strict=True))


def test_an_entry_begins_with_its_verdict_and_has_lines_without_lambda():
    for report in first_claims().values():
        first, statement, *rest = verdicts.entry_paragraphs([report])
        assert flat(first).startswith(
            f"**{verdicts.outcome_text(report).capitalize()}.** {SENTENCES[report['outcome']]}"
        )
        assert statement.startswith("**Statement** (")
        code = [paragraph for paragraph in rest if paragraph.startswith("```py")]
        assert len(code) == len(shown_cases(report))
        assert not any("lambda" in paragraph for paragraph in code), report["id"]
        assert rest[-1].startswith("**Checked:**")


def test_captions_count_and_name_the_faults(pages):
    every = " ".join(pages.values())
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", every)
    assert captions
    assert not [text for text in captions if re.search(r"(nodes|links) [01*]+(;|$)|(node|link) [01*]+, ", text)]


def test_the_command_prints_one_entry_per_fact_and_ours_at_the_end():
    of_papers, _, added = markdown(REPORTS, ",".join(SHOWN)).partition(f"\n## {APPENDIX}\n")
    found = {
        added: re.findall(r"^### (\w+) `(.+)`: ", part, re.MULTILINE)
        for added, part in ((False, of_papers), (True, added))
    }
    for added, facts in found.items():
        assert sorted(facts) == sorted(key for key, report in first_claims().items() if report["added"] == added)


def test_cards_lead_to_entries():
    known = {(report["paper"], report["id"]): report for report in REPORTS}
    for card in resources.read_json("findings", "fastcube_audit.report")["weightiest"]:
        claim = known[card["paper"], card["claim"]]
        assert claim["counterexamples"][card.get("case", 0)].keys() & {"drawings", "dual"}
        assert claim["fact"] in HEADINGS[card["paper"]]


def test_the_readme_counts_the_verdicts():
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    stated = [report for report in REPORTS if report["paper"] in papers() and not report["added"]]
    count = {outcome: sum(report["outcome"] == outcome for report in stated) for outcome in OUTCOMES}
    by_definition = sum(report["definition"] and report["outcome"] == "holds" for report in stated)
    facts = len({(report["paper"], report["fact"]) for report in stated if report["outcome"] == "refuted"})
    holding = [report for report in stated if report["outcome"] == "holds" and not report["definition"]]
    by = {method: sum(report["method"] == method for report in holding) for method in METHODS}
    assert sum(by.values()) == count["holds"] - by_definition
    assert (
        f"Of {len(stated)} claims of the five papers {count['holds'] - by_definition} hold in the ranges named and "
        f"{by_definition} by definition; {count['refuted']} are refuted, which is {facts} facts; {count['misprint']} are "
        f"misprints in our transcription, {count['depends']} depend on the interpretation, {count['unreproduced']} numbers "
        f"are not reproduced, {count['undecided']} claims are not decided. Of those that hold in a range, {by['exhaustive']} "
        f"were checked exhaustively and {by['random']} at random, and {by['proved']} are proved; each verdict "
        "says which."
    ) in readme
    assert f"decides {len(stated)} claims of five papers by program" in readme


@pytest.mark.parametrize("paper", papers())
def test_corrections_are_sentences_that_name_claims_that_there_are(paper):
    known = {claim.id for claim in registries.claim_registries()[paper]}
    for claim in registries.claim_registries()[paper]:
        if claim.correction:
            assert claim.correction.endswith("."), claim.id
            named = set(re.findall(r"\b[a-z]+\d?(?:-[a-z0-9]+)+\b", claim.correction)) & ({*known} | {"theorem-1"})
            assert named <= known, claim.id


#: Claims that are decided in a second, by their papers.
QUICK = {
    "lee_hayes": ("theorem-3-printed", "corollary-1-printed", "fifteen-percent-always"),
    "leu_kuo": ("property-1-links", "equation-7", "theorem-7"),
    "sui_wang_lee": ("lemma-5-case-a",),
    "wang_lin_kuo": ("table-2-n-4", "figure-2-printed", "figures-16-17-printed"),
    "li_peng_chu": ("lemma-2-disjoint",),
    "routing_rules": ("unsafe-near",),
}


#: Words by which the range of a claim that holds says that it is proved, or that cases were sampled at random.
PROVED = re.compile(r"^proved|(for|by) (all|every|any) n\b|theorem|union bound|no more than half|arithmetic")
SAMPLED = re.compile(r"random|drawn|crowded|trials|Monte Carlo|[\d,]+ sets of \d+ of")


def check_method(report):
    """Check that the text of a range agrees with the method of its claim."""
    if report["outcome"] == "holds":
        is_proved, is_sampled = (bool(pattern.search(report["checked"])) for pattern in (PROVED, SAMPLED))
        method = report["method"]
        assert (is_proved, is_sampled) in {
            "proved": {(True, False), (True, True)},
            "random": {(False, True)},
            "exhaustive": {(False, False)},
        }[method], (report["id"], method, report["checked"])


def check_kept(decided):
    """Compare reports of claims with their cached verdicts."""
    known = {(kept["paper"], kept["id"]): kept for kept in REPORTS}
    for report in decided:
        check_method(report)
        kept = known[report["paper"], report["id"]]
        assert report["outcome"] == kept["outcome"], report["id"]
        assert report["outcome"] not in SHOWN or report["correction"] == kept["correction"], report["id"]
        if kept["checked"]:
            assert (report["checked"], report["applied"]) == (kept["checked"], kept["applied"]), report["id"]
        cases = (
            [case for _, case in shown_cases(report)] if report["outcome"] == "depends" else report["counterexamples"]
        )
        for case, shown in zip(cases, kept["counterexamples"], strict=False):
            assert all(case[name] == shown[name] for name in ("description", "python", "value")), report["id"]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="counts over all fault sets need compiled code")
@pytest.mark.parametrize("paper", QUICK)
def test_some_kept_verdicts_are_those_of_the_present_code(paper):
    check_kept(registries.claim_registries()[paper][name].report(Effort()) for name in QUICK[paper])


@pytest.mark.exhaustive
def test_all_kept_verdicts_are_those_of_the_present_code():
    decided = []
    assert decide_claims(registries.claims(), decided.append) == 0
    check_kept(decided)
