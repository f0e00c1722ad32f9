"""A report of real papers for tests: the folder that ``FASTCUBE_REPORT`` names, else a quick one of one paper."""

import ast
import contextlib
import html.parser
import io
import json
import os
import re
from pathlib import Path

import fastcube_audit


def report_folder(written_in):
    """The folder; made in ``written_in`` unless one is named."""
    named = os.environ.get("FASTCUBE_REPORT")
    if named:
        return Path(named)
    place = Path(written_in) / "report"
    fastcube_audit.reproduce(place, quick=True, papers="sui_wang_lee")
    return place


class CodeLineParser(html.parser.HTMLParser):
    """The lines of code of a page: (kind, text, what it gives or None)."""

    def __init__(self, text):
        super().__init__()
        self.lines, self.inside, self.gives = [], "", False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        if tag == "code" and "data-kind" in named:
            self.lines.append([named["data-kind"], "", None])
            self.inside = "code"
        elif tag == "p":
            self.gives = named.get("class") == "gives"
        elif tag == "samp" and self.gives:  # what the line before it gives
            self.lines[-1][2] = ""
            self.inside = "samp"

    def handle_endtag(self, tag):
        if tag == self.inside:
            self.inside = ""

    def handle_data(self, data):
        if self.inside:
            self.lines[-1][1 if self.inside == "code" else 2] += data


def misprinted_lines(lines):
    """Return the lines of Python whose output differs from the printed one.  Verdicts are JSON, with lists for tuples."""
    found = []
    for text, gives in sorted(lines, key=str):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(text, {})
        said = out.getvalue().removesuffix("\n")
        if gives not in (None, said) and json.loads(json.dumps(ast.literal_eval(said))) != ast.literal_eval(gives):
            found.append((text, gives, said))
    return found


#: What Python writes and a person does not: its words, names of the package, lists in lists, points without spaces.
_RAW = re.compile(
    r"\b(?:None|True|False|nan|inf)(?=[,;:)\]}]|$)|\b(?:lambda\b|Fraction\(|fc\.\w+)|\(\(\d+,|"
    r"\[\[|\[\]|\{\}|\b[A-Za-z]+=\d|(?<=[\[({ ,])['\"][^'\"\s]+['\"](?=[,:\])}])"
)


def python_fragments(text):
    """Return the fragments of a text that look like Python."""
    return [found[0] for found in _RAW.finditer(text)]


class ProseParser(html.parser.HTMLParser):
    """What a page says, block by block, without its code, what that prints, and the readings, which are told as they are."""

    INLINE = frozenset(("a", "b", "i", "em", "strong", "sub", "sup", "span", "cite"))
    VOID = frozenset(("img", "br", "meta", "input"))

    def __init__(self, text):
        super().__init__()
        self.blocks, self.open = [""], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.blocks += [named[name] for name in ("alt", "aria-label", "title") if name in named]
        if tag not in self.INLINE:
            self.blocks.append("")
        if tag not in self.VOID:
            skipped = tag in ("code", "samp", "pre", "style", "script", "svg") or named.get("class") == "reading"
            self.open.append((tag, skipped))

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:  # HTML ends cells and rows by itself
            pass
        if tag not in self.INLINE:
            self.blocks.append("")

    def handle_data(self, data):
        if not any(skipped for _, skipped in self.open):
            self.blocks[-1] += data


def prose_blocks(page):
    """The texts of a page's blocks."""
    return [
        " ".join(block.split()) for block in ProseParser(Path(page).read_text(encoding="utf-8")).blocks if block.strip()
    ]


def code_lines(page):
    """All of a page's lines."""
    return [tuple(line) for line in CodeLineParser(Path(page).read_text(encoding="utf-8")).lines]
