"""A report of real papers for tests: the folder that ``FASTCUBE_REPORT`` names, else a quick one of one paper."""

import html.parser
import os
from pathlib import Path

import fastcube as fc


def folder(made_in):
    """The folder; made in ``made_in`` unless one is named."""
    named = os.environ.get("FASTCUBE_REPORT")
    if named:
        return Path(named)
    place = Path(made_in) / "report"
    fc.reproduce(place, quick=True, papers="sui_wang_lee")
    return place


class Lines(html.parser.HTMLParser):
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


def lines(page):
    """All of a page's lines."""
    return [tuple(line) for line in Lines(Path(page).read_text(encoding="utf-8")).lines]
