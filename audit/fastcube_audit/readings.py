"""Interpretations of a paper's ambiguous or misprinted sentences, each with its code, from ``docs/readings/PAPER.md``.

An interpretation is an item of a Markdown list that begins with a bold code, ``- **R1 FIND_UNSAFE is synchronous.** In step t``.
It continues over all following lines that are indented, blank or code.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.resources
import re
from collections.abc import Mapping

_FIRST = re.compile(r"- \*\*([A-Z]\d+)\b")


def parse_readings(text: str) -> dict[str, str]:
    """Return the interpretations on a page of Markdown by their codes, without list markers."""
    found: dict[str, list[str]] = {}
    at: list[str] | None = None
    fenced = False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if not fenced and (first := _FIRST.match(line)):
            at = found.setdefault(first[1], [])
            at.append(line[2:])
        elif at is not None and (fenced or not line or line.startswith(("  ", "```"))):
            at.append(line.removeprefix("  "))
        else:
            at = None
    return {code: "\n".join(lines).strip() for code, lines in found.items()}


@functools.cache
def readings(paper: str) -> Mapping[str, str]:
    """Return the interpretations of a paper by their codes, or an empty mapping if the paper has no such page."""
    with contextlib.suppress(OSError):
        page = importlib.resources.files("fastcube") / "readings" / f"{paper.replace('_', '-')}.md"
        return parse_readings(page.read_text(encoding="utf-8"))
    return {}
