"""Verdicts as text for the terminal, and as Markdown together with the papers' misprints, for a document and the site."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fastcube.errors import count_text
from fastcube.measure.inventory import Inventory, inventory, papers

from .claims import OUTCOMES

Report = dict[str, Any]

#: Width of a Markdown page, in characters.
WIDTH = 120

#: A piece of a Python expression up to the next comma outside a string, where the line may be broken.
_PIECES = re.compile(r"""(?:'[^']*'|"[^"]*"|[^,'"]|,(?! ))*(?:, )?""")

#: Characters that Markdown would take for markup inside prose.
_MARKUP = re.compile(r"([\\`*<\[\]|])")

#: A start of a line that Markdown would take for a list, a heading or a quotation.
_OPENING = re.compile(r"^(\d*)(>|[-+=#.)](?=\s))")


def fold_expression(python: str, width: int) -> list[str]:
    """Return a Python expression as lines of at most ``width`` characters, broken at commas, so that it can be pasted."""
    lines = [""]
    for piece in _PIECES.findall(python):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def outcome_counts(reports: Sequence[Report], ours: bool = False) -> list[str]:
    """Return the counts by outcome, such as ``5 refuted (3 facts)``, of the papers' own claims, or of fastcube's if ``ours``."""
    out = []
    for outcome, called in OUTCOMES.items():
        found = [report for report in reports if report["ours"] == ours and report["outcome"] == outcome]
        facts = len({(report["paper"], report["fact"]) for report in found})
        definitions = sum(report["definition"] for report in found)
        words = {
            "holds": "hold" if len(found) != 1 else "holds",
            "misprint": f"misprint{'s' * (len(found) != 1)}",
            "depends": f"depend{'s' * (len(found) == 1)} on the interpretation",
        }
        of = f" ({definitions} by definition)" if definitions else ""
        if outcome == "refuted":
            of = f" ({facts} fact{'s' * (facts != 1)})"
        if found:
            out.append(f"{len(found)} {words.get(outcome, called)}{of}")
    return out


def summary(reports: Iterable[Report]) -> str:
    """Return the counts by outcome, on one line for the papers' claims and on one for fastcube's own."""
    reports = list(reports)
    lines = []
    for ours, what, whose in ((False, "claim", "of the papers"), (True, "statement", "added by fastcube")):
        if number := sum(report["ours"] == ours for report in reports):
            lines.append(f"{count_text(number, what)} {whose}: {', '.join(outcome_counts(reports, ours))}")
    return "\n".join(lines)


def outcome_text(report: Report) -> str:
    """Return the name of a verdict, with "by definition" for a claim that can only hold."""
    by = " by definition" if report["definition"] and report["outcome"] == "holds" else ""
    outcome: str = OUTCOMES[report["outcome"]]
    return outcome + by


def checked_text(report: Report) -> str:
    """Return the checked range and, if counted, the number of cases that the statement applied to."""
    checked: str = report["checked"]
    applied = report["applied"]
    return checked + (f". It applied to {applied:,} case{'s' * (applied != 1)}." if applied else "")


def verdict_text(report: Report, width: int) -> str:
    """Return one claim and its verdict on lines of at most ``width`` characters, except for unbreakable words."""
    margin = " " * 13

    def append_block(label: str, words: str) -> str:
        wrapped = textwrap.wrap(
            words,
            width,
            initial_indent=f"    {label:<9}",
            subsequent_indent=margin,
            break_long_words=False,
            break_on_hyphens=False,
        )
        return "\n".join(wrapped)

    mark = " [ours]" if report["ours"] else ""
    title = f"{report['paper']} {report['id']}{mark} ({report['where']}): {outcome_text(report)}"
    lines = ["\n".join(textwrap.wrap(title, width, subsequent_indent="    ", break_on_hyphens=False))]
    lines += [append_block("states", report["statement"]), append_block("checked", checked_text(report))]
    if report["outcome"] == "misprint":
        lines.append(append_block("slip", report["slip"]))
    if report["correction"]:
        lines.append(append_block("instead", report["correction"]))
    for witness in report["witnesses"]:
        lines.append(append_block("witness", witness["words"]))
        first, *rest = fold_expression(witness["python"], width - len(margin))
        lines += [f"    {'replay':<9}{first}", *(margin + line for line in rest)]
        lines.append(append_block("gives", repr(witness["value"])))
    return "\n".join([*lines, ""])


def escape_markdown(words: str) -> str:
    """Escape text so that Markdown shows it unchanged."""
    return _MARKUP.sub(r"\\\1", words)


def _paragraph(words: str, indent: str = "") -> str:
    """Wrap prose, and escape a start of a line that Markdown would take for a list, a heading or a quotation."""
    lines = textwrap.wrap(words, WIDTH - len(indent), break_long_words=False, break_on_hyphens=False)
    return "\n".join(indent + _OPENING.sub(r"\1\\\2", line) for line in lines)


def group_by_fact(reports: Iterable[Report], ours: bool) -> dict[str, list[Report]]:
    """Return the papers' claims by fact, or fastcube's own if ``ours``, in the order of each fact's first claim."""
    out: dict[str, list[Report]] = {}
    for report in reports:
        out.setdefault(report["fact"], []).append(report)
    return {fact: claims for fact, claims in out.items() if claims[0]["ours"] == ours}


def _verdict(report: Report) -> str:
    return outcome_text(report) + (", ours" if report["ours"] else "")


def entry_paragraphs(claims: Sequence[Report]) -> Iterator[str]:
    """Yield the paragraphs of one fact: its first claim with a witness (two if it depends), then its further claims."""
    first, *others = claims
    name = "" if first["id"] == first["fact"] else f"`{first['id']}`, "
    yield _paragraph(f"**Stated** ({name}{escape_markdown(first['where'])}). {escape_markdown(first['statement'])}")
    if first["outcome"] == "misprint":
        yield _paragraph(f"**Slip.** {escape_markdown(first['slip'])}")
    if first["correction"]:
        yield _paragraph(f"**Instead.** {escape_markdown(first['correction'])}")
    yield _paragraph(f"**Checked.** {escape_markdown(checked_text(first))}")
    for witness in first["witnesses"][: 2 if first["outcome"] == "depends" else 1]:
        yield _paragraph(f"**Witness.** {escape_markdown(witness['words'])}")
        yield "\n".join(
            ["```py", *fold_expression(witness["python"], WIDTH - 20), f"# gives {witness['value']!r}", "```"]
        )
    if others:
        yield "\n".join(_further_claim(report, first) for report in others)


def _further_claim(report: Report, first: Report) -> str:
    """Return the list item of a further claim of a fact, with its differences from the first claim."""
    verdict = f", {_verdict(report)}" if _verdict(report) != _verdict(first) else ""
    words = f"`{report['id']}`{verdict} ({escape_markdown(report['where'])}). {escape_markdown(report['statement'])}"
    if report["correction"] not in ("", first["correction"]):
        words += f" **Instead.** {escape_markdown(report['correction'])}"
    return "-" + _paragraph(words, "  ")[1:]


def misprints(found: Inventory) -> str:
    """Return a table of the misprints that the interpretations assume in our transcriptions of a paper."""
    rows = ["| where | printed, in the transcription we have | read instead | interpretation |", "|---|---|---|---|"]
    rows += [
        f"| {' | '.join(map(escape_markdown, (m.place, m.printed, m.instead, m.reading)))} |" for m in found.misprints
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
    "There is one entry per fact. Statements are in our own words. Square brackets hold additions of our interpretation. The "
    "appendix holds statements that fastcube added. Each is a repair, a case of a vague remark, or about an algorithm that the "
    "paper does not give. A witness is a Python expression in the names of `import fastcube as fc`, with its value. If the "
    "claim is refuted, the witness is the smallest counterexample found. `fastcube claims PAPER ID` decides one claim and shows "
    "all its witnesses. Our texts are machine transcriptions, in which single characters are confused. A fact that depends on "
    "one character says so, and refutes nothing."
)


def markdown(reports: Sequence[Report], only: str | None = None, whole: bool = True) -> str:
    """Return claims and verdicts as Markdown: one entry per fact of each paper, and an appendix.

    ``only`` names the outcomes to show, separated by commas.  If ``reports`` covers ``whole`` papers, their misprints are added.
    The appendix holds fastcube's own statements.
    """
    names = sorted(dict.fromkeys(report["paper"] for report in reports), key=_paper_position)
    shown = [report for report in reports if only is None or report["outcome"] in only.split(",")]
    quick = " --quick" if any(report["effort"] == "quick" for report in reports) else ""
    of = names[0] if len(names) == 1 else "all"
    command = f"fastcube claims {of}{quick}{f' --only {only}' if only else ''} --format markdown"
    parts = ["# What the papers state, decided by code", _paragraph(f"Made by `{command}`. {GUIDE}")]
    added: list[str] = []
    for name in names:
        title = f"{inventory(name).short}: {inventory(name).title}" if name in papers() else name
        parts += [f"## {escape_markdown(title)}", count_sentence(name, reports)]
        for ours, place in ((False, parts), (True, added)):
            of_paper = (report for report in shown if report["paper"] == name)
            for fact, claims in group_by_fact(of_paper, ours).items():
                place += [f"### {name} `{fact}`: {outcome_text(claims[0])}", *entry_paragraphs(claims)]
        if name in papers() and inventory(name).misprints and whole:
            parts += [f"### {name} misprints, in the transcription we have", misprints(inventory(name))]
    return "\n\n".join([*parts, *([f"## {APPENDIX}"] if added else []), *added])
