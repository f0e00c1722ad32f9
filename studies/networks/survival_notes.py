"""Notes of ``survival`` and ``survival-rate``: ranks of networks, the gain in precision by common faults, and proved limits.

The limits are those of the probability that some nonfaulty node is isolated (``fc.isolated_node_bounds``, N11 in
``docs/readings/networks.md``).  ``extra_1`` is the probability that the nonfaulty nodes are disconnected and none is isolated.
"""

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from fastcube.errors import range_text
from fastcube.exact.isolated_nodes import IsolatedNodeBounds, isolated_node_bounds
from fastcube.measure.estimate import Estimate
from fastcube.measure.statistics import Point
from fastcube.measure.study import Value, point_text
from fastcube.measure.survival import is_compared
from fastcube.measure.tally import Tally
from fastcube.networks.family import network_families
from fastcube.results.results import Results
from fastcube.results.rounding import estimate_texts

#: Largest numbers of lines of notes: of ranks, and of proved limits.
_MOST_RANK_LINES, _MOST_LIMITS = 200, 100


def _point_without_network(point: Point) -> tuple[Value, ...]:
    """Return all values of a point but the network."""
    return tuple(value for name, value in point.items() if name != "network")


#: Outcomes of a comparison with the hypercube, in the order of the notes.
_AHEAD, _EVEN, _BEHIND = "ahead of the hypercube", "not distinguished from the hypercube", "behind the hypercube"


def compare_with_hypercube(difference: Estimate) -> str:
    """Return the outcome that the interval of a paired difference to the hypercube shows."""
    return _AHEAD if difference.low > 0 else _BEHIND if difference.high < 0 else _EVEN


def rank_notes(results: Results) -> list[str]:
    """Return notes that rank the networks of each degree by paired differences of P(connected) to the hypercube, per point.

    Networks whose faulty links are not the hypercube's are ranked by P(connected) itself.  All networks at the same faults are in
    the notes together, or left out together with all that follow.
    """
    done = sorted((point for point, tally in results if tally.trials), key=_point_without_network)
    lines: list[str] = []
    omitted = 0
    for _, group in groupby(done, key=_point_without_network):
        points = [point for point in group if str(point["network"]) != "hypercube"]
        ranks = [] if omitted else _rank_networks(results, points)
        if omitted or len(lines) + len(ranks) > _MOST_RANK_LINES:
            omitted += len(points)
        else:
            lines += ranks
    if omitted:
        lines.append(f"and {omitted:,} more points")
    heading = "P(connected) minus the hypercube's on the same faults, by degree, each with its own 95% interval:"
    return [heading, *lines] if lines else []


def _rank_networks(results: Results, points: Sequence[Point]) -> list[str]:
    """Return lines that rank the networks of points that differ in nothing else."""
    compared = [point for point in points if is_compared(point)]
    others = [point for point in points if not is_compared(point)]
    ranks = _compare_networks(results, compared) + _list_unpaired(results, others)
    if not ranks:
        return []
    where = point_text({name: value for name, value in points[0].items() if name != "network"})
    return [f"{where}: {line}" for line in ranks]


def _compare_networks(results: Results, points: Sequence[Point]) -> list[str]:
    """Return lines that group the networks of each degree by the outcome of their comparison with the hypercube."""
    known = network_families()
    by_degree: dict[int, dict[str, list[str]]] = {}
    differences = [results.estimates(point)["connected_diff"] for point in points]
    for point, difference, text in zip(points, differences, estimate_texts(differences), strict=True):
        family = known[str(point["network"])]
        by_outcome = by_degree.setdefault(family.degree(int(point["n"])), {_AHEAD: [], _EVEN: [], _BEHIND: []})
        by_outcome[compare_with_hypercube(difference)].append(f"{family.name} {text}")
    return [
        f"degree {degree}: "
        + "; ".join(f"{outcome}: {', '.join(texts)}" for outcome, texts in by_outcome.items() if texts)
        for degree, by_outcome in sorted(by_degree.items())
    ]


class _Rank(NamedTuple):
    """A network with its degree and P(connected); ascending ranks have the best network of each degree first."""

    degree: int
    negative_value: float
    text: str


def _list_unpaired(results: Results, points: Sequence[Point]) -> list[str]:
    """Return lines with P(connected) of networks whose faulty links are not the hypercube's, by degree, the best first."""
    known = network_families()
    estimates = [results.estimates(point)["connected"] for point in points]
    ranks = []
    for point, estimate, text in zip(points, estimates, estimate_texts(estimates), strict=True):
        family = known[str(point["network"])]
        ranks.append(_Rank(family.degree(int(point["n"])), -estimate.value, f"{family.name} {text}"))
    return [
        f"degree {degree}, P(connected) not paired with the hypercube: " + ", ".join(rank.text for rank in group)
        for degree, group in groupby(sorted(ranks), key=lambda rank: rank.degree)
    ]


def pairing_notes(results: Results) -> list[str]:
    """Return a note on the ratio of unpaired to paired standard errors; its square is the factor in trials that pairing saves."""
    ratios: dict[str, list[float]] = {}
    for point, tally in results:
        if not is_compared(point) or str(point["network"]) == "hypercube" or tally.trials < 2:
            continue
        paired = results.estimates(point)["connected_diff"].stderr
        if paired > 0:
            ratios.setdefault(str(point["network"]), []).append(_unpaired_stderr(tally) / paired)
    if not ratios:
        return []
    heading = "standard error of the difference without common faults, as a multiple of the standard error with them:"
    texts = (f"{name} {range_text(f'{min(known):.2f}', f'{max(known):.2f}')}" for name, known in ratios.items())
    return [f"{heading} {', '.join(texts)}"]


def _unpaired_stderr(tally: Tally) -> float:
    """Return the standard error of the difference of P(connected) if the network and the hypercube had independent faults."""
    fractions = (tally.counts["connected"] / tally.trials, tally.counts["cube_connected"] / tally.trials)
    return math.sqrt(sum(p * (1 - p) for p in fractions) / tally.trials)


def limit_notes(results: Results) -> list[str]:
    """Return notes with N11's limits of P(some node is isolated), if informative, and whether trials can improve them."""
    known = [(point, tally, limits) for point, tally in results if tally.trials and (limits := _find_limits(point))]
    if not known:
        return []
    heading = (
        "proved limits of P(some node is isolated); where two nodes or more are nonfaulty, P(disconnected) is the sum of this"
        " probability and extra_1:"
    )
    lines = [heading]
    for point, tally, limits in known[:_MOST_LIMITS]:
        width = limits.high - limits.low
        is_narrower = width < 2 * results.estimates(point)["no_isolated_node"].half_width
        narrower = f", narrower than an interval from {tally.trials:,} trials" if is_narrower else ""
        interval = f"[{limits.low:.6g}, {limits.high:.6g}]"
        lines.append(f"  {point_text(point)}: {interval}, {limits.mean:.4g} isolated nodes on average{narrower}")
    omitted = len(known) - _MOST_LIMITS
    if omitted > 0:
        lines.append(
            f"  fc.isolated_node_bounds gives the limits of {omitted:,} more point{'s' if omitted > 1 else ''}"
        )
    return lines


def _find_limits(point: Point) -> IsolatedNodeBounds | None:
    """Return N11's limits of P(some node is isolated); None if they say nothing, or do not cover the faults of the point."""
    faults = _fault_arguments(point)
    if not faults:
        return None
    limits = isolated_node_bounds(str(point["network"]), int(point["n"]), **faults)
    return None if (limits.low, limits.high) == (0.0, 1.0) else limits


def _fault_arguments(point: Point) -> dict[str, Any]:
    """Return the faults of a point as arguments of ``isolated_node_bounds``; nothing if it does not cover them.

    It covers faulty nodes together with faulty links only if all nodes of the network have the same degree.
    """
    nodes, links = ("f", "links") if "f" in point else ("rate", "link_rate")
    is_regular = network_families()[str(point["network"])].is_regular(int(point["n"]))
    if point[nodes] and point[links] and not is_regular:
        return {}
    return {nodes: point[nodes]} | ({links: point[links]} if point[links] else {})
