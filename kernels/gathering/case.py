"""What trial t of a study of gathering draws: its faulty nodes, and its faulty links as pairs (u, v) with u < v."""

from __future__ import annotations

from ..trees.case import find_tree


def gather(key: int, trial: int, n: int, links: int, f: int) -> tuple[list[int], list[tuple[int, int]]]:
    """As :func:`find_tree`."""
    return find_tree(key, trial, n, links, f)


def rerouting(key: int, trial: int, n: int, links: int, f: int) -> tuple[list[int], list[tuple[int, int]]]:
    """As :func:`find_tree`."""
    return find_tree(key, trial, n, links, f)
