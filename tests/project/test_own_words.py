"""Sentences of the papers are not copied: no tracked text has nine words in a row that a paper has.

Words alone are compared, in lower case: across line ends, punctuation, figures and string literals that adjoin.  The papers'
texts are in the folder that ``FASTCUBE_PAPERS`` names; we may not pass them on.
"""

import itertools
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Words in a row that are a paper's: what is shorter is how the field speaks.
RUN = 9
#: Files of authors and titles, which papers cite as well.
BIBLIOGRAPHIES = ("CITATION.cff", "data/citations.json", "docs/references.md")
#: Letters that are no word: a command of LaTeX, and the prefix of a string literal that continues another one.
NO_WORD = re.compile(r"\\[a-zA-Z]+|(?<=[\"'])\s*\b[rbf]+(?=[\"'])")


def split_words(text):
    return re.findall(r"[^\W\d_]+", NO_WORD.sub(" ", text).lower())


def runs(found):
    """Every nine words in a row."""
    return zip(*(found[i:] for i in range(RUN)), strict=False)


def taken(text, known):
    """Return the words of a text that lie in known runs, with adjacent runs joined."""
    found = split_words(text)
    inside = bytearray(len(found))
    for i, run in enumerate(runs(found)):
        if run in known:
            inside[i : i + RUN] = b"\1" * RUN
    parts = itertools.groupby(zip(found, inside, strict=True), key=lambda pair: pair[1])
    return [" ".join(word for word, _ in part) for known, part in parts if known]


def tracked():
    """Name and text of every file that git tracks, each once: not through the links in ``fastcube/``, and no picture."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.split("\0")[:-1]:
        path = ROOT / name
        if path.is_file() and not path.is_symlink() and b"\0" not in (content := path.read_bytes()):
            yield name, content.decode("utf-8")


@pytest.mark.skipif(
    "FASTCUBE_PAPERS" not in os.environ, reason="FASTCUBE_PAPERS names no folder with the papers' texts"
)
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="without a checkout nothing tells what git tracks")
def test_no_text_has_nine_words_in_a_row_of_a_paper():
    papers = [path.read_text(encoding="utf-8") for path in Path(os.environ["FASTCUBE_PAPERS"]).glob("*.txt")]
    assert papers
    theirs = {run for text in papers for run in runs(split_words(text))}
    for name in BIBLIOGRAPHIES:
        theirs -= set(runs(split_words((ROOT / name).read_text(encoding="utf-8"))))
    assert [f"{name}: {run}" for name, text in tracked() for run in taken(text, theirs)] == []


NINE = "one two three four five six seven eight nine"


@pytest.mark.parametrize(
    "text",
    [
        "One two THREE four five\nsix seven, eight-nine.",
        'say("one two three "\n    f"four five six "\n    "seven eight nine")',
        "# one two three four five\n# six seven eight $\\lceil$ nine",
        "ten one two three four five 6 six seven_eight nine ten",
    ],
)
def test_a_run_is_seen_through_what_parts_no_words(text):
    assert taken(text, {tuple(NINE.split())}) == [NINE]
    assert taken(text.replace("five", "or"), {tuple(NINE.split())}) == []


def test_runs_that_overlap_are_told_as_one():
    eleven = f"{NINE} ten eleven"
    assert taken(f"or {eleven} or {eleven}", set(runs(eleven.split()))) == [eleven, eleven]
