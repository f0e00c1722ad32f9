"""The errata as a page per paper, and the cards of what was found.

``docs/errata.md`` holds all entries, as ``fastcube claims`` prints them, ``errata.toml`` their headings in words and
``results/witnesses.json`` the networks of their witnesses, which the report's code draws.  The site's page of errata keeps the
introduction and an index.
"""

import html
import json
import re
import tomllib
from pathlib import Path

from fastcube.audit.claims import OUTCOMES
from fastcube.audit.report import duals
from fastcube.audit.report.agreement import VERDICT_LABELS
from fastcube.audit.report.network_drawings import cube_svg, describe_drawing, drawings_of
from fastcube.audit.report.words import formula

DOCS = Path(__file__).resolve().parents[1]

#: The pages in the contents: file and title.  Questions that do not come from a paper share the last.
PAGES = {
    "lee_hayes": "Lee & Hayes",
    "leu_kuo": "Leu & Kuo",
    "sui_wang_lee": "Sui, Wang & Lee",
    "wang_lin_kuo": "Wang, Lin & Kuo",
    "li_peng_chu": "Li, Peng & Chu",
    "others": "Beyond the papers",
}

#: An entry: its paper, its name, its verdict and whose it is, and its paragraphs.
ENTRY = re.compile(r"^### (\w+) `(.+?)`: (.+?)(, ours)?\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)

#: A row of the index.
ROW = re.compile(r"^\| \[(\w+) `(.+?)`\]\(#\S+\) \| (.*) \| (\d+) \| (.*) \|$", re.MULTILINE)

CARDS_MARK = "<!-- findings -->"


def badge(outcome):
    """A verdict as the report shows it: a sign, a word, a colour."""
    key = next(key for key, name in OUTCOMES.items() if name == outcome)
    words, sign = VERDICT_LABELS[key]
    return f'<span class="verdict {key}"><span aria-hidden="true">{sign}</span> {words}</span>'


def _drawings(told):
    """Pairs of a drawing and its words."""
    if dual := told.get("dual"):
        of = dual["m"], dual["faulty_nodes"], {int(v): str(text) for v, text in dual["inside"]}, dual["paths"]
        return [(duals.dual_svg(*of), duals.describe_drawing(*of))]
    return [(cube_svg(drawing), describe_drawing(drawing)) for drawing in drawings_of(told)]


def _drawn(told):
    shown = "".join(
        f"<figure>{svg}<figcaption>{formula(words)}</figcaption></figure>" for svg, words in _drawings(told)
    )
    return f'```{{raw}} html\n<div class="drawings">{shown}</div>\n```\n\n' if shown else ""


def _label(paper, fact):
    return f"errata-{paper}-{fact}".replace("_", "-")


def entry_text(entry, headings, witnesses):
    """An entry with its heading in words, its verdict as a badge and its witnesses drawn."""
    paper, fact, verdict, ours, body = entry.groups()
    whose = ', <span class="fact">ours</span>' if ours else ""
    name = re.match(r"\s*\*\*Stated\*\* \((?:`(.+?)`, )?", body)[1] or fact
    told = iter(witnesses[f"{paper} {name}"]["witnesses"])

    def with_drawing(code):
        return _drawn(next(told, {})) + code[0]

    body = re.sub(r"^```py$", with_drawing, body, flags=re.MULTILINE)
    return (
        f"({_label(paper, fact)})=\n### {headings[paper][fact]}\n\n"
        f"{badge(verdict)}, `{fact}`{whose}\n\n{body.strip()}\n"
    )


def write_pages(app):
    """Write the pages of the papers beside ``errata.md``."""
    headings = tomllib.loads((DOCS / "errata.toml").read_text())
    witnesses = json.loads((DOCS / "results" / "witnesses.json").read_text())
    (folder := DOCS / "errata").mkdir(exist_ok=True)
    texts = {name: [] for name in PAGES}
    for section in re.split(r"^## ", (DOCS / "errata.md").read_text(), flags=re.MULTILINE)[2:]:
        title, _, body = section.partition("\n")
        entries = list(ENTRY.finditer(body))
        paper = entries[0][1] if entries and ": " in title else "others"
        counts = body.strip().partition("\n\n")[0]
        parts = [counts] + [entry_text(entry, headings, witnesses) for entry in entries]
        if found := re.search(r"^### \w+ (misprints.*)", body, re.MULTILINE | re.DOTALL):
            parts.append(f"## M{found[1][1:]}")
        text = "\n\n".join(parts).replace("\n### ", "\n## ")
        if paper != "others":
            texts[paper] = [f"# Errata of {PAGES[paper]}\n\n*{title.partition(': ')[2]}.* {text}"]
        else:
            texts["others"].append(f"*{title}:* {text}" if entries else f"*{title}:* {counts}")
    texts["others"].insert(
        0, "# Errata beyond the papers\n\nOther networks, other routing rules, and facts that others published."
    )
    for name, parts in texts.items():
        text = "\n\n".join(parts)
        if not (page := folder / f"{name}.md").exists() or page.read_text() != text:
            page.write_text(text)


def _index(text, headings):
    """The introduction of the errata, a table of all entries, and the pages."""
    intro, _, rest = text.partition("## Index\n")
    rows = [
        f"| {PAGES.get(paper, PAGES['others'])} | [{headings[paper][fact]}](#{_label(paper, fact)}) | {where} "
        f"| {badge(verdict)} |"
        for paper, fact, where, _, verdict in ROW.findall(rest)
    ]
    of_papers, ours = rest.partition("Of ours:")[0].count("\n| ["), len(rows)
    head = "| paper | statement | where | verdict |\n|---|---|---|---|\n"
    pages = "\n".join(f"{title} <errata/{name}>" for name, title in PAGES.items())
    return (
        f"{intro}## What the papers state\n\n{head}{chr(10).join(rows[:of_papers])}\n\n## What we added\n\n{head}"
        f"{chr(10).join(rows[of_papers:ours])}\n\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"
    )


def cards_html(witnesses):
    """The weightiest findings as the report's first screen shows them: drawn, in words, with a verdict."""
    found = json.loads((DOCS.parent / "data" / "findings.json").read_text())["weightiest"]
    cards = []
    for finding in found:
        paper = finding["paper"]
        claim = witnesses[f"{paper} {finding['claim']}"]
        pictures = "".join(svg for svg, _ in _drawings(claim["witnesses"][finding.get("witness", 0)]))
        cards.append(
            f'<li><a class="card" href="errata/{paper}.html#{_label(paper, claim["fact"])}">'
            f'<span class="picture" aria-hidden="true">{pictures}</span><span class="words">{formula(finding["words"])}</span>'
            f'<span class="whose">{html.escape(PAGES[paper])} {badge(OUTCOMES[claim["outcome"]])}</span></a></li>'
        )
    return f'<ul class="cards">{"".join(cards)}</ul>'


def show_errata(app, page, source):
    """The page of errata as the index, and the cards where a page asks for them."""
    if page == "errata":
        source[0] = _index(source[0], tomllib.loads((DOCS / "errata.toml").read_text()))
    elif CARDS_MARK in source[0]:
        witnesses = json.loads((DOCS / "results" / "witnesses.json").read_text())
        source[0] = source[0].replace(CARDS_MARK, f"```{{raw}} html\n{cards_html(witnesses)}\n```")


def setup(app):
    app.connect("builder-inited", write_pages, priority=1)
    app.connect("source-read", show_errata)
    return {"parallel_read_safe": True}
