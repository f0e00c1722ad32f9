"""Explanations of routing and broadcasting trials: faults, unsafe subcubes, and paths with the paper's link indices."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

from fastcube.measure.routing_rules import explain_faults
from fastcube.measure.study import Sample, join_limited

if TYPE_CHECKING:
    from fastcube.algorithms.paths import Route
    from fastcube.algorithms.unsafe import Unsafe
    from fastcube.measure.estimate import Estimate
    from fastcube.networks.hypercube import Hypercube

#: Largest number of items on one line.
_MOST = 32


def has_value(e: Estimate) -> bool:
    """Whether an estimate has a value."""
    return not math.isnan(e.value)


def explain_faults_and_ends(drawn: Sample, **also: Any) -> tuple[dict[str, Any], list[str], Unsafe]:
    """Return a trial's faults and ends as data and as lines of text, and its unsafe nodes; ``also`` is added to the data."""
    from fastcube.algorithms.unsafe import find_unsafe

    cube = drawn.network
    unsafe = find_unsafe(cube)
    data, lines = explain_faults(drawn)
    large = [str(part) for part in unsafe.subcubes if part.dimension]
    lines.append(f"  maximal unsafe subcubes ({len(large)}): {join_limited(large, _MOST)}")
    if unsafe.all_unsafe:
        lines.append(
            f"  Q_{cube.n} is unsafe: no node is active, and this trial does not count for algorithms that assume one"
        )
    data = {**data, **drawn.others, **also, "some_active": not unsafe.all_unsafe}
    return data, [counted_from_left(cube), *lines], unsafe


def counted_from_left(cube: Hypercube) -> str:
    """Return a line about the numbering of links."""
    return f"  links are counted from the left, 1 to {cube.n}"


def link_index(cube: Hypercube, u: int, v: int) -> int:
    """Return the paper's index of the link between two neighbours: 1 for the most significant bit."""
    return cube.n - (u ^ v).bit_length() + 1


def describe_route(cube: Hypercube, name: str, found: Route) -> list[str]:
    """Return lines about the outcome and the path of one message."""
    path = found.path
    steps = [f"-{link_index(cube, u, v)}-> {cube.label(v)}" for u, v in itertools.pairwise(path)]
    if found.outcome == "delivered":
        head = f"  {name}: delivered over {found.length} link{'s' * (found.length != 1)}"
    else:
        head = f"  {name}: {found.outcome}: {found.reason}"
    lines = [head, f"    {cube.label(path[0])}"]
    for step in steps:
        if len(lines[-1]) + len(step) > 110:
            lines.append("     ")
        lines[-1] += f" {step}"
    return lines
