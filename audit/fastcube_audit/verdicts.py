"""Verdicts as text for the terminal, and as Markdown together with the papers' misprints, for a document and the site."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fastcube.errors import count_text
from fastcube.measure.inventory import Inventory, inventory, papers

from .claims import METHODS, OUTCOMES, Claim

Report = dict[str, Any]

#: Width of a Markdown page, in characters.
WIDTH = 120

#: A piece of a Python expression up to the next comma outside a string, where the line may be broken.
_PIECES = re.compile(r"""(?:'[^']*'|"[^"]*"|[^,'"]|,(?! ))*(?:, )?""")

#: Characters that Markdown would take for markup inside prose.
_MARKUP = re.compile(r"([\\`*<\[\]|])")

#: A start of a line that Markdown would take for a list, a heading or a quotation.
_OPENING = re.compile(r"^(\d*)(>|[-+=#.)](?=\s))")


def fold_python(python: str, width: int) -> list[str]:
    """Return lines of Python as lines of at most ``width`` characters, broken at commas, so that they can be pasted."""
    lines = []
    for line in python.split("\n"):
        lines.append("")
        for piece in _PIECES.findall(line):
            if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
                lines.append("")
            lines[-1] += piece
    return [line.rstrip() for line in lines]


def outcome_counts(reports: Sequence[Report], added: bool = False) -> list[str]:
    """Return the counts by outcome, such as ``5 refuted (3 facts)``, of the papers' claims, or of those that were ``added``."""
    out = []
    for outcome, called in OUTCOMES.items():
        found = [report for report in reports if report["added"] == added and report["outcome"] == outcome]
        facts = len({(report["paper"], report["fact"]) for report in found})
        definitions = sum(report["definition"] for report in found)
        plurals = {
            "holds": "hold" if len(found) != 1 else "holds",
            "misprint": f"misprint{'s' * (len(found) != 1)}",
            "depends": f"depend{'s' * (len(found) == 1)} on the interpretation",
        }
        of = f" ({definitions} by definition)" if definitions else ""
        if outcome == "refuted":
            of = f" ({facts} fact{'s' * (facts != 1)})"
        if found:
            out.append(f"{len(found)} {plurals.get(outcome, called)}{of}")
    return out


def summary(reports: Iterable[Report]) -> str:
    """Return the counts by outcome, on one line for the papers' claims and on one for fastcube's own."""
    reports = list(reports)
    lines = []
    for added, what, whose in ((False, "claim", "of the papers"), (True, "statement", "added by fastcube")):
        if number := sum(report["added"] == added for report in reports):
            lines.append(f"{count_text(number, what)} {whose}: {', '.join(outcome_counts(reports, added))}")
    return "\n".join(lines)


def outcome_text(report: Report) -> str:
    """Return the name of a verdict, with "by definition" for a claim that can only hold."""
    by = " by definition" if report["definition"] and report["outcome"] == "holds" else ""
    outcome: str = OUTCOMES[report["outcome"]]
    return outcome + by


def checked_text(report: Report) -> str:
    """Return the checked range, for a claim that holds with its method, and the number of cases that the statement applied to."""
    checked: str = report["checked"]
    if report["outcome"] == "holds" and report["method"] != "proved":  # a range that is proved says so itself
        checked = f"{METHODS[report['method']]}: {checked}"
    applied = report["applied"]
    return checked + (f". It applied to {applied:,} case{'s' * (applied != 1)}." if applied else "")


def case_label(report: Report, position: int) -> str:
    """Return what the case at a position of a report's counterexamples is for the claim."""
    if report["outcome"] in ("holds", "undecided"):
        return "Example"
    if position == 0:
        return "Counterexample"
    is_last = position == len(report["counterexamples"]) - 1
    return "Example" if report["outcome"] == "depends" and is_last else "Further case"


#: Width of the labels of ``verdict_text``.
_LABEL_WIDTH = 18


def verdict_text(report: Report, width: int) -> str:
    """Return one claim and its verdict on lines of at most ``width`` characters, except for unbreakable words."""
    margin = " " * (4 + _LABEL_WIDTH)

    def label_lines(label: str, lines: Iterable[str]) -> str:
        return "\n".join(f"{margin}{line}" for line in lines).replace(margin, f"    {label:<{_LABEL_WIDTH}}", 1)

    def label_text(label: str, text: str) -> str:
        wrapped = textwrap.wrap(text, width - len(margin), break_long_words=False, break_on_hyphens=False)
        return label_lines(label, wrapped)

    lines = ["\n".join(textwrap.wrap(_title(report), width, subsequent_indent="    ", break_on_hyphens=False))]
    lines += [label_text("statement", report["statement"]), label_text("checked", checked_text(report))]
    if report["outcome"] == "misprint":
        lines.append(label_text("misprint", report["misprint_reason"]))
    if report["correction"]:
        lines.append(label_text("correct statement", report["correction"]))
    for i, case in enumerate(report["counterexamples"]):
        lines.append(label_text(case_label(report, i).lower(), case["description"]))
        lines.append(label_lines("replay", fold_python(case["python"], width - len(margin))))
        lines.append(label_text("gives", repr(case["value"])))
    return "\n".join([*lines, ""])


def _title(report: Report) -> str:
    mark = " [added]" if report["added"] else ""
    return f"{report['paper']} {report['id']}{mark} ({report['where']}): {outcome_text(report)}"


def find_claims(claims: Iterable[Claim], text: str) -> list[Claim]:
    """Return the claims that have each word of ``text``, in any case.

    Their papers, names, places, statements and corrections are searched, and the statements of the published results that they
    decide, because a claim may say in exact words what its paper says in a common term.
    """
    wanted = text.casefold().split()
    inventories = {paper: inventory(paper) for paper in papers()}
    published: dict[tuple[str, str], list[str]] = {}
    for paper, known in inventories.items():
        for result, evidence in known.iter_evidence():
            published.setdefault((paper, evidence.claim), []).append(result.stated)

    def has_all_words(claim: Claim) -> bool:
        known = inventories.get(claim.paper)
        paper = (known.short, known.title) if known else ()
        claimed = (claim.paper, claim.id, claim.fact, claim.where, claim.statement, claim.correction)
        searched = " ".join((*paper, *claimed, *published.get((claim.paper, claim.id), ()))).casefold()
        return all(word in searched for word in wanted)

    return [claim for claim in claims if has_all_words(claim)]


def claim_text(claim: Claim, width: int) -> str:
    """Return a claim that is not decided yet: its name and place on one line, and its statement on the next lines."""
    mark = " [added]" if claim.added else ""
    statement = textwrap.wrap(claim.statement, width - 4, break_long_words=False, break_on_hyphens=False)
    return "\n".join([f"{claim.paper} {claim.id}{mark} ({claim.where})", *(f"    {line}" for line in statement)])


def escape_markdown(text: str) -> str:
    """Escape text so that Markdown shows it unchanged."""
    return _MARKUP.sub(r"\\\1", text)


def _paragraph(text: str, indent: str = "") -> str:
    """Wrap prose, and escape a start of a line that Markdown would take for a list, a heading or a quotation."""
    lines = textwrap.wrap(text, WIDTH - len(indent), break_long_words=False, break_on_hyphens=False)
    return "\n".join(indent + _OPENING.sub(r"\1\\\2", line) for line in lines)


#: Outcomes in the order of their entries: refutations are findings about a paper, whereas misprints may be our transcription's.
_ORDER = ("refuted", "unreproduced", "depends", "misprint")


def group_by_fact(reports: Iterable[Report], added: bool) -> dict[str, list[Report]]:
    """Return the papers' claims by fact, or those that were ``added``: refutations first, misprints after them.

    Facts with equal outcomes keep the order of their first claims.
    """
    out: dict[str, list[Report]] = {}
    for report in reports:
        out.setdefault(report["fact"], []).append(report)
    facts = [(fact, claims) for fact, claims in out.items() if claims[0]["added"] == added]
    return dict(sorted(facts, key=lambda entry: _position(entry[1][0]["outcome"])))


def _position(outcome: str) -> int:
    return _ORDER.index(outcome) if outcome in _ORDER else len(_ORDER)


def _verdict(report: Report) -> str:
    return outcome_text(report) + (", added" if report["added"] else "")


#: The verdict on a claim in one sentence.
SENTENCES = {
    "holds": "The statement holds in the checked range.",
    "refuted": "The statement is false: a counterexample contradicts it.",
    "misprint": "As printed in our transcription the statement is false.",
    "depends": "The statement is false under one interpretation of its words and true under another.",
    "unreproduced": "The printed number differs from the measured one by more than chance explains.",
    "undecided": "No case decides the statement.",
}


def shown_cases(report: Report) -> list[tuple[str, dict[str, Any]]]:
    """Return the cases that an entry shows, by their labels: the first, and if the claim depends an example where it holds."""
    cases = [(case_label(report, i), case) for i, case in enumerate(report["counterexamples"])]
    return [*cases[:1], *(cases[-1:] if report["outcome"] == "depends" else [])]


def entry_paragraphs(claims: Sequence[Report]) -> Iterator[str]:
    """Yield the paragraphs of one fact: its first claim with a counterexample, then its further claims."""
    first, *others = claims
    reason = f" {escape_markdown(first['misprint_reason'])}" if first["outcome"] == "misprint" else ""
    yield _paragraph(f"**{outcome_text(first).capitalize()}.** {SENTENCES[first['outcome']]}{reason}")
    name = "" if first["id"] == first["fact"] else f"`{first['id']}`, "
    yield _paragraph(f"**Statement** ({name}{escape_markdown(first['where'])}). {escape_markdown(first['statement'])}")
    if first["correction"]:
        yield _paragraph(f"**Correct statement.** {escape_markdown(first['correction'])}")
    for label, case in shown_cases(first):
        yield _paragraph(f"**{label}:** {escape_markdown(case['description'])}")
        yield "\n".join(["```py", *fold_python(case["python"], WIDTH - 20), f"# gives {case['value']!r}", "```"])
    yield _paragraph(f"**Checked:** {escape_markdown(checked_text(first))}")
    if others:
        yield "\n".join(_further_claim(report, first) for report in others)


def _further_claim(report: Report, first: Report) -> str:
    """Return the list item of a further claim of a fact, with its differences from the first claim."""
    verdict = f", {_verdict(report)}" if _verdict(report) != _verdict(first) else ""
    text = f"`{report['id']}`{verdict} ({escape_markdown(report['where'])}). {escape_markdown(report['statement'])}"
    if report["correction"] not in ("", first["correction"]):
        text += f" **Correct statement.** {escape_markdown(report['correction'])}"
    return "-" + _paragraph(text, "  ")[1:]


def misprints(found: Inventory) -> str:
    """Return a table of the misprints that the interpretations assume in our transcriptions of a paper."""
    rows = ["| where | printed, in the transcription we have | read instead | interpretation |", "|---|---|---|---|"]
    rows += [
        f"| {' | '.join(map(escape_markdown, (m.place, m.printed, m.instead, m.interpretations)))} |"
        for m in found.misprints
    ]
    return "\n".join(rows)


def count_sentence(name: str, reports: Iterable[Report]) -> str:
    """Return the counts by outcome of all claims of a paper or question, as one sentence."""
    counts = summary(report for report in reports if report["paper"] == name).replace("\n", ". Also ")
    return (counts.replace("of the papers", "of the paper") if name in papers() else counts) + "."


def _paper_position(name: str) -> int:
    """Return the sort key of a package: papers in their order, then questions beyond the papers."""
    return papers().index(name) if name in papers() else len(papers())


#: Title of the statements that no paper makes.
APPENDIX = "Appendix: statements added by fastcube"

#: How to read an entry.
GUIDE = (
    "There is one entry per fact, and it begins with the verdict. Refuted facts come first on each page, and misprints last. "
    "Statements are in our own words, and square brackets hold "
    "additions of our interpretation. The appendix holds statements that fastcube added: corrections, cases of a vague remark, "
    "and statements about an algorithm that the paper does not give. A counterexample is a few lines of Python in the names of "
    "`import fastcube as fc`, with the value of the last line; it is the smallest one found. `fastcube claims PAPER ID` decides "
    "a fact or one claim, by the names that its entry gives, and shows all cases. Our texts are machine transcriptions, in which "
    "single characters are confused, so a fact that depends on one character says so, and refutes nothing."
)


def markdown(reports: Sequence[Report], only: str | None = None, whole: bool = True) -> str:
    """Return claims and verdicts as Markdown: one entry per fact of each paper, and an appendix.

    ``only`` names the outcomes to show, separated by commas.  If ``reports`` covers ``whole`` papers, their misprints are added.
    The appendix holds fastcube's own statements.
    """
    names = sorted(dict.fromkeys(report["paper"] for report in reports), key=_paper_position)
    chosen = [report for report in reports if only is None or report["outcome"] in only.split(",")]
    quick = " --quick" if any(report["effort"] == "quick" for report in reports) else ""
    of = names[0] if len(names) == 1 else "all"
    command = f"fastcube claims {of}{quick}{f' --only {only}' if only else ''} --format markdown"
    parts = ["# What the papers state, decided by code", _paragraph(f"Made by `{command}`. {GUIDE}")]
    appendix: list[str] = []
    for name in names:
        title = f"{inventory(name).short}: {inventory(name).title}" if name in papers() else name
        parts += [f"## {escape_markdown(title)}", count_sentence(name, reports)]
        for added, place in ((False, parts), (True, appendix)):
            of_paper = (report for report in chosen if report["paper"] == name)
            for fact, claims in group_by_fact(of_paper, added).items():
                place += [f"### {name} `{fact}`: {outcome_text(claims[0])}", *entry_paragraphs(claims)]
        if name in papers() and inventory(name).misprints and whole:
            parts += [f"### {name} misprints, in the transcription we have", misprints(inventory(name))]
    return "\n\n".join([*parts, *([f"## {APPENDIX}"] if appendix else []), *appendix])
