"""The errata, a page per paper and an appendix, and the cards of what was found.

``results/verdicts.json`` holds the cached verdicts with the networks of their counterexamples, and the registries hold the texts
of the claims.  ``fastcube claims --format markdown`` prints the same entries, and ``errata.toml`` has their headings in words.
The pages lie in ``docs/errata``, written by ``python docs/tables.py``. The site adds the networks, drawn as in the report.
"""

import functools
import html
import json
import re
import tomllib
from pathlib import Path

from fastcube import resources
from fastcube.measure.inventory import inventory
from fastcube.plot.formula import formula_html as formula
from fastcube.plot.network_drawing import describe_drawing, drawing_svg
from fastcube_audit import registries, verdicts
from fastcube_audit.claims import Effort
from fastcube_audit.report.agreement import VERDICT_LABELS
from fastcube_audit.report.counterexamples import drawings_of

DOCS = Path(__file__).resolve().parents[1]

#: The pages in the contents: file and title.
PAGES = {
    "lee_hayes": "Lee & Hayes",
    "leu_kuo": "Leu & Kuo",
    "sui_wang_lee": "Sui, Wang & Lee",
    "wang_lin_kuo": "Wang, Lin & Kuo",
    "li_peng_chu": "Li, Peng & Chu",
    "appendix": "Appendix: our own statements",
}

#: Names in the appendix of those questions that do not come from a paper.
BEYOND = "Beyond the papers"

#: Outcomes with an entry.
SHOWN = ("refuted", "misprint", "depends", "unreproduced")

CARDS_MARK = "<!-- findings -->"

#: The place that a link to an entry leads to, and such a link, on the pages in the repository.
ANCHOR = re.compile(r'^<a id="([\w-]+)"></a>$', re.MULTILINE)
ENTRY_LINK = re.compile(r"\(\w+\.md(#errata-[\w-]+)\)")

#: A page of the documentation that a claim names.
NAMED_PAGE = re.compile(r"\((docs/(\w+\.md))")


def badge(outcome):
    """Return a verdict as the report shows it: a sign, a word, a colour."""
    label, sign = VERDICT_LABELS[outcome]
    return f'<span class="verdict {outcome}"><span aria-hidden="true">{sign}</span> {label}</span>'


def _drawings(case):
    """Return pairs of a drawing and its caption."""
    return [(drawing_svg(drawing), drawing.caption or describe_drawing(drawing)) for drawing in drawings_of(case)]


def _figures(case):
    figures = "".join(
        f"<figure>{svg}<figcaption>{formula(caption)}</figcaption></figure>" for svg, caption in _drawings(case)
    )
    return f'```{{raw}} html\n<div class="drawings">{figures}</div>\n```\n\n' if figures else ""


def _label(paper, fact):
    return f"errata-{paper}-{fact}".replace("_", "-")


@functools.cache
def kept_reports():
    """Return the reports of all claims, with their texts from the registries and their verdicts from the cache."""
    kept = json.loads((DOCS / "results" / "verdicts.json").read_text())
    bare = {"checked": "", "applied": 0, "counterexamples": []}
    return [
        {**claim.report_header(Effort()), "correction": claim.correction, **bare, **kept[" ".join(claim.key)]}
        for claim in registries.claims()
    ]


def entry_text(claims, heading, drawn):
    """Return the entry of one fact: its heading in words, its verdict as a badge, and its cases, ``drawn`` on the site."""
    first = claims[0]
    body = NAMED_PAGE.sub(r"([\1](../\2)", "\n\n".join(verdicts.entry_paragraphs(claims)))
    if drawn:
        cases = (case for _, case in verdicts.shown_cases(first))
        body = re.sub(r"^```py$", lambda code: _figures(next(cases)) + code[0], body, flags=re.MULTILINE)
    return (
        f'<a id="{_label(first["paper"], first["fact"])}"></a>\n\n## {heading}\n\n'
        f"{badge(first['outcome'])}, `{first['paper']} {first['fact']}`\n\n{body}"
    )


@functools.cache
def errata_pages(drawn=False):
    """Return the texts of the pages by file name: the index, the pages of the papers, and the appendix."""
    headings = tomllib.loads((DOCS / "errata.toml").read_text())
    reports = kept_reports()
    texts = {name: [f"# Errata of {title}"] for name, title in PAGES.items()}
    texts["appendix"] = [f"# {verdicts.APPENDIX}"]
    tables = {False: [], True: []}
    for paper in dict.fromkeys((*PAGES, *registries.claim_registries())):
        if paper == "appendix":
            continue
        counts = verdicts.count_sentence(paper, reports)
        if paper in PAGES:
            texts[paper].append(f"*{inventory(paper).title}.* {counts}")
        else:
            texts["appendix"].append(f"*{paper}:* {counts}")
        shown = [report for report in reports if report["paper"] == paper and report["outcome"] in SHOWN]
        for added, table in tables.items():
            for fact, claims in verdicts.group_by_fact(shown, added).items():
                heading = headings[paper][fact]
                texts[file := "appendix" if added else paper].append(entry_text(claims, heading, drawn))
                link = f"[{heading}]({file}.md#{_label(paper, fact)})"
                where = verdicts.escape_markdown(claims[0]["where"])
                table.append(f"| {PAGES.get(paper, BEYOND)} | {link} | {badge(claims[0]['outcome'])} | {where} |")
        if paper in PAGES and inventory(paper).misprints:
            texts[paper] += ["## Misprints, in the transcription we have", verdicts.misprints(inventory(paper))]
    head = "| paper | statement | verdict | where |\n|---|---|---|---|"
    titles = ("What the papers state", tables[False]), ("What we added", tables[True])
    pages = "\n".join(f"{title} <{name}>" for name, title in PAGES.items())
    texts["index"] = [
        "# What the papers state, decided by code",
        verdicts.GUIDE,
        *("\n".join([f"## {title}\n", head, *rows]) for title, rows in titles),
        f"```{{toctree}}\n:hidden:\n\n{pages}\n```",
    ]
    return {name: "\n\n".join(parts) + "\n" for name, parts in texts.items()}


def write_pages():
    """Write the pages of the repository."""
    (folder := DOCS / "errata").mkdir(exist_ok=True)
    for name, text in errata_pages().items():
        (folder / f"{name}.md").write_text(text)


def cards_html():
    """The weightiest findings as the report's first screen shows them: drawn, in words, with a verdict."""
    found = resources.read_json("findings", "fastcube_audit.report")["weightiest"]
    reports = {(report["paper"], report["id"]): report for report in kept_reports()}
    cards = []
    for finding in found:
        paper = finding["paper"]
        claim = reports[paper, finding["claim"]]
        pictures = "".join(svg for svg, _ in _drawings(claim["counterexamples"][finding.get("case", 0)]))
        cards.append(
            f'<li><a class="card" href="errata/{paper}.html#{_label(paper, claim["fact"])}">'
            f'<span class="picture" aria-hidden="true">{pictures}</span><span class="text">{formula(finding["text"])}</span>'
            f'<span class="whose">{html.escape(PAGES[paper])} {badge(claim["outcome"])}</span></a></li>'
        )
    return f'<ul class="cards">{"".join(cards)}</ul>'


def rewrite_page(app, page, source):
    """Put the cards in the place of their mark, and the drawings into the errata."""
    if CARDS_MARK in source[0]:
        source[0] = source[0].replace(CARDS_MARK, f"```{{raw}} html\n{cards_html()}\n```")
    if page.startswith("errata/"):
        app.env.note_dependency(str(DOCS / "results" / "verdicts.json"))
        text = errata_pages(drawn=True)[page.removeprefix("errata/")]
        source[0] = ENTRY_LINK.sub(r"(\1)", ANCHOR.sub(r"(\1)=", text))


def setup(app):
    app.connect("source-read", rewrite_page)
    return {"parallel_read_safe": True}
