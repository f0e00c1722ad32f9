"""Identifiers of the whole tree: the words that the style has another word for, and the one meaning of ``words``."""

import io
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("kernels", "fastcube", "studies", "audit", "docs", "benchmarks", "examples", "tests")
#: A part of an identifier between underscores, and what the tree calls it.  Names of tests are sentences and may have any word.
AVOIDED = {
    "apart": "difference, distance or disconnected",
    "share": "fraction, or a count of packets or messages",
    "shares": "fractions",
    "law": "distribution",
    "laws": "distributions",
    "room": "workspace, size or space",
    "rooms": "workspaces",
    "told": "reported",
    "witness": "counterexample",
    "repaired": "corrected",
}
#: Where ``words`` are 64-bit words; everywhere else a text is called text, message, label or argument.
PLACES_OF_WORDS = (
    "kernels/",
    "tests/kernels/",
    "docs/random_numbers.py",
    "fastcube/algorithms/trees.py",
    "fastcube/algorithms/unsafe.py",
)


def _names():
    """Yield file and identifier of the tree, links of the package to folders of the checkout left out."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if any(part.is_symlink() for part in path.parents):
                continue
            tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
            names = {token.string for token in tokens if token.type == tokenize.NAME}
            yield from ((str(path.relative_to(ROOT)), name) for name in sorted(names) if not name.startswith("test_"))


def test_identifiers_have_the_words_of_the_style():
    found = [
        f"{file}: {name} ({AVOIDED[part]})"
        for file, name in _names()
        for part in name.lower().split("_")
        if part in AVOIDED
    ]
    assert found == []


def test_words_are_64_bits():
    assert [file for file, name in _names() if name == "words" and not file.startswith(PLACES_OF_WORDS)] == []
