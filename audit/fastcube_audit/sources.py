"""The code that a verdict depends on: the sources of the engine and of the audit."""

from __future__ import annotations

from pathlib import Path

from fastcube.results.sources import ENGINE, SourceTree

#: The sources of the audit.
AUDIT = SourceTree(Path(__file__).resolve().parent, ("report", "cli"))

_TREES = (ENGINE, AUDIT)


def hash_sources(*, looks: bool) -> str:
    """Return a hash of all sources and data; with ``looks`` also of those that only change the appearance of a report."""
    return "-".join(tree.hash(looks=looks) for tree in _TREES)


def have_sources_changed() -> bool:
    """Whether a source file was changed since ``hash_sources`` first read them."""
    return any(tree.has_changed() for tree in _TREES)
