"""Explanations of routing and broadcasting trials: faults, unsafe subcubes, and routes with the paper's link indices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fastcube.measure.route_explanations import explain_faults, wrap_steps
from fastcube.measure.study import Sample, join_limited

if TYPE_CHECKING:
    from fastcube.algorithms.paths import Route
    from fastcube.algorithms.unsafe import Unsafe
    from fastcube.measure.estimate import Estimate
    from fastcube.networks.hypercube import Hypercube

#: Largest number of unsafe subcubes on one line.
_MOST_SUBCUBES = 32


def has_value(e: Estimate) -> bool:
    """Whether an estimate has a value."""
    return not math.isnan(e.value)


def explain_faults_and_ends(sample: Sample, **axes: Any) -> tuple[dict[str, Any], list[str], Unsafe]:
    """Return a trial's faults and ends as data, with the values of ``axes``, and as lines of text, and its unsafe nodes."""
    from fastcube.algorithms.unsafe import find_unsafe

    cube = sample.network
    unsafe = find_unsafe(cube)
    data, lines = explain_faults(sample)
    subcubes = [str(part) for part in unsafe.subcubes if part.dimension]
    lines.append(f"  maximal unsafe subcubes ({len(subcubes)}): {join_limited(subcubes, _MOST_SUBCUBES)}")
    if unsafe.all_unsafe:
        lines.append(
            f"  Q_{cube.n} is unsafe: no node is active, and this trial does not count for algorithms that assume one"
        )
    data = {**data, **sample.others, **axes, "some_active": not unsafe.all_unsafe}
    return data, [describe_link_numbers(cube), *lines], unsafe


def describe_link_numbers(cube: Hypercube) -> str:
    """Return a line that says how links are numbered."""
    return f"  links are counted from the left, 1 to {cube.n}"


def _link_index(cube: Hypercube, u: int, v: int) -> int:
    """Return the paper's index of the link between two neighbours: 1 for the most significant bit."""
    return cube.n - (u ^ v).bit_length() + 1


def explain_routes(
    cube: Hypercube, s: int, t: int, k: int, algorithms: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """Return outcome and path of a message under each algorithm, as data and as lines; ROUTE1 and ROUTE2 get ``k``."""
    from fastcube.algorithms.paths import route

    data: dict[str, Any] = {}
    lines: list[str] = []
    for algorithm in algorithms:
        has_k = algorithm in ("ROUTE1", "ROUTE2")
        found = route(cube, s, t, algorithm, **({"k": k} if has_k else {}))
        data[algorithm] = {"outcome": found.outcome, "path": found.path}
        lines += _describe_route(cube, f"{algorithm}({k})" if has_k else algorithm, found)
    return data, lines


def _describe_route(cube: Hypercube, name: str, found: Route) -> list[str]:
    """Return lines about the outcome and the path of a message, with the paper's index of each link."""
    path = found.path
    steps = [f"-{_link_index(cube, u, v)}-> {cube.label(v)}" for u, v in itertools.pairwise(path)]
    if found.outcome == "delivered":
        head = f"  {name}: delivered over {found.length} link{'s' * (found.length != 1)}"
    else:
        head = f"  {name}: {found.outcome}: {found.reason}"
    return [head, *wrap_steps(f"    {cube.label(path[0])}", steps, "     ")]
