"""Verdicts as text: for a terminal, and as Markdown with the papers' misprints, which is how docs/errata.md is made."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .inventory import Inventory, inventory, papers

Report = dict[str, Any]

OUTCOMES = {"holds": "holds", "refuted": "REFUTED", "undecided": "not decided"}

#: Columns of a page of Markdown.
WIDTH = 120

#: Where a Python expression may be broken: after a comma that is outside of strings.
_PIECES = re.compile(r"""(?:'[^']*'|"[^"]*"|[^,'"]|,(?! ))*(?:, )?""")

#: What Markdown would take for markup in prose.
_MARKUP = re.compile(r"([\\`*<\[\]|])")

#: What it would take for a list, a heading or a quotation at the beginning of a line.
_OPENING = re.compile(r"^(\d*)([-+>=#.)])(?=\s)")


def folded(python: str, width: int) -> list[str]:
    """A Python expression on lines of at most ``width``, broken at commas, so that it can be pasted."""
    lines = [""]
    for piece in _PIECES.findall(python):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def summary(reports: Iterable[Report]) -> str:
    """How many claims hold, are refuted and are not decided; ours counted apart from the papers' own."""
    reports = list(reports)
    lines = []
    for ours, whose in ((False, "of the papers"), (True, "of ours")):
        some = [report["outcome"] for report in reports if report["ours"] == ours]
        if some:
            words = {
                "holds": "hold" if some.count("holds") != 1 else "holds",
                "refuted": "refuted",
                "undecided": "not decided",
            }
            counts = ", ".join(f"{some.count(outcome)} {word}" for outcome, word in words.items())
            lines.append(f"{len(some)} claim{'s' * (len(some) > 1)} {whose}: {counts}")
    return "\n".join(lines)


# ---------------------------------------------------------------- for a terminal


def text(report: Report, width: int) -> str:
    """One claim and its verdict on lines of at most ``width``, but for what cannot be broken."""
    margin = " " * 13

    def block(label: str, words: str) -> str:
        wrapped = textwrap.wrap(words, width, initial_indent=f"    {label:<9}", subsequent_indent=margin,
                                break_long_words=False, break_on_hyphens=False)  # fmt: skip
        return "\n".join(wrapped)

    mark = " [ours]" if report["ours"] else ""
    title = f"{report['paper']} {report['id']}{mark} ({report['where']}): {OUTCOMES[report['outcome']]}"
    lines = ["\n".join(textwrap.wrap(title, width, subsequent_indent="    ", break_on_hyphens=False))]
    lines += [block("states", report["statement"]), block("checked", report["checked"])]
    if report["correction"]:
        lines.append(block("instead", report["correction"]))
    for witness in report["witnesses"]:
        lines.append(block("witness", witness["words"]))
        first, *rest = folded(witness["python"], width - len(margin))
        lines += [f"    {'replay':<9}{first}", *(margin + line for line in rest)]
        lines.append(block("gives", repr(witness["value"])))
    return "\n".join([*lines, ""])


# ---------------------------------------------------------------- as Markdown


def plain(words: str) -> str:
    """Words as Markdown prose that shows them as they are."""
    return _MARKUP.sub(r"\\\1", words)


def _paragraph(words: str, indent: str = "") -> str:
    """Wrapped prose; a line that would begin as a list, a heading or a quotation does so no longer."""
    lines = textwrap.wrap(words, WIDTH - len(indent), break_long_words=False, break_on_hyphens=False)
    return "\n".join(indent + _OPENING.sub(r"\1\\\2", line) for line in lines)


def _claim(report: Report) -> Iterator[str]:
    """The paragraphs of one claim."""
    mark = ", ours" if report["ours"] else ""
    yield f"### `{report['id']}`{mark}: {OUTCOMES[report['outcome']].lower()}"
    yield _paragraph(f"{plain(report['where'])}:")
    yield _paragraph(plain(report["statement"]), "> ")
    if report["correction"]:
        yield _paragraph(f"**Instead:** {plain(report['correction'])}")
    yield _paragraph(f"**Checked** ({report['effort']} effort): {plain(report['checked'])}")
    for witness in report["witnesses"]:
        yield _paragraph(f"**Witness:** {plain(witness['words'])}")
        yield "\n".join(["```py", *folded(witness["python"], WIDTH - 20), f"# gives {witness['value']!r}", "```"])


def misprints(found: Inventory) -> str:
    """What the readings take for a slip, as a table."""
    rows = ["| where | printed | read instead | reading |", "|---|---|---|---|"]
    rows += [f"| {' | '.join(map(plain, (m.place, m.printed, m.instead, m.reading)))} |" for m in found.misprints]
    return "\n".join(rows)


def markdown(reports: Sequence[Report], only: str | None = None, whole: bool = True) -> str:
    """Claims with their verdicts by paper; those of one outcome if ``only`` names it; with misprints of ``whole`` papers."""
    parts = ["# What the papers state, decided by code"]
    quick = " --quick" if any(report["effort"] == "quick" for report in reports) else ""
    command = f"fastcube claims{quick}{f' --only {only}' if only else ''} --format markdown"
    parts.append(
        _paragraph(
            f"Made by `{command}`. A claim marked *ours* is a repair, a case of a vague remark, or about an algorithm that the "
            "paper does not give. What a reading adds stands in square brackets. A witness is a Python expression in the names "
            "of `import fastcube as fc`, with the value that it gives; it is the smallest where the claim is refuted."
        )
    )
    for paper in dict.fromkeys(report["paper"] for report in reports):
        own = [report for report in reports if report["paper"] == paper]
        found = inventory(paper) if paper in papers() else None
        parts.append(f"## {plain(found.short)}: {plain(found.title)}" if found else f"## {plain(paper)}")
        parts.append(summary(own).replace("of the papers", "of the paper").replace("\n", "; ") + ".")
        for report in own:
            if only in (None, report["outcome"]):
                parts += _claim(report)
        if found and found.misprints and whole:
            parts += ["### Misprints", misprints(found)]
    return "\n\n".join(parts)
