"""The faults, the message and the routes of a trial, as data and as lines of text, for replays of studies of routing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..networks.hypercube import Hypercube
from .study import Sample, join_limited

#: Largest number of faults of one kind that are written out.
_MOST_SHOWN_FAULTS = 32
#: Largest number of nodes of a path that are written out.
_MOST_SHOWN_NODES = 200
#: Largest width of the lines of a path in characters, unless a single step is longer.
_LINE_WIDTH = 110


def explain_faults(sample: Sample) -> tuple[dict[str, Any], list[str]]:
    """Return a trial's faults as data and as lines of text."""
    cube = sample.network
    nodes, links = sorted(cube.faulty_nodes), sorted(map(list, cube.faulty_links))
    lines = [f"  faulty nodes ({len(nodes)}): {join_limited(map(cube.label, nodes), _MOST_SHOWN_FAULTS)}"]
    if links:
        texts = [f"{cube.label(u)} : {cube.label(v)}" for u, v in links]
        lines.append(f"  faulty links ({len(links)}): {join_limited(texts, _MOST_SHOWN_FAULTS)}")
    return {"faulty_nodes": nodes, "faulty_links": links}, lines


def explain_message(sample: Sample) -> tuple[dict[str, Any], list[str]]:
    """Return a trial's faults, source and destination as data and as lines of text, with which its explanation begins."""
    cube, s, t = sample.network, sample.others["s"], sample.others["t"]
    data, lines = explain_faults(sample)
    lines.append(f"  from {cube.label(s)} to {cube.label(t)}, Hamming distance {cube.intact_distance(s, t)}")
    return {**data, "s": s, "t": t}, lines


def explain_rule(cube: Hypercube, rule: str, s: int, t: int, seed: tuple[int, int]) -> tuple[dict[str, Any], list[str]]:
    """Return the route of a built-in rule for a message from s to t, as data and as lines of text.

    ``seed`` is the random key and the trial, for SIDETRACK.
    """
    from ..algorithms.paths import route
    from ..algorithms.unsafe import find_unsafe

    found = route(cube, s, t, rule, **({"seed": seed} if rule == "SIDETRACK" else {}))
    if rule == "ROUTE3" and find_unsafe(cube).all_unsafe:
        return {"outcome": "refused", "path": [s]}, [f"  {rule}: refused: no node of Q_{cube.n} is active"]
    if found.outcome == "delivered":
        head = f"  {rule}: delivered over {found.length} link{'s' * (found.length != 1)}"
    else:
        head = f"  {rule}: {found.outcome}: {found.reason}"
    labels = [cube.label(x) for x in found.path]
    shown = labels[:_MOST_SHOWN_NODES] + ["..."] * (len(labels) > _MOST_SHOWN_NODES)
    return {"outcome": found.outcome, "path": found.path}, [head, *wrap_steps("   ", shown, "   ")]


def wrap_steps(begin: str, steps: Iterable[str], indent: str) -> list[str]:
    """Return the steps of a path as lines, of which the first starts with ``begin`` and the others with ``indent``."""
    lines = [begin]
    for step in steps:
        if len(lines[-1]) + len(step) > _LINE_WIDTH:
            lines.append(indent)
        lines[-1] += f" {step}"
    return lines
