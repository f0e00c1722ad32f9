"""``rivals``: eight routing rules since 1988 among the same random faults, with the same messages, and what is possible.

Each paper compares with one predecessor, on faults of its own, for n <= 10.  Here all walk in the same trial, which is
``routing``'s.  Readings V1-V9; rules whose definition was not read are named in :data:`MISSING`, and none is invented.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from fastcube.kernels.routing.layout import MAX_SEARCHED_DIMENSION
from fastcube.kernels.unicast.layout import NAMES, PROMISING_RULES
from fastcube.measure.grid import longest_axis
from fastcube.measure.routing_rules import rivals_study
from fastcube.measure.study import Point, point_text
from fastcube.results.results import Results

#: Rules and words that would stand in the table if their definitions had been read (V11): ``fc.rivals_study`` takes them.
MISSING = (
    "Chiu & Wu 1996",
    "routing capability",
    "unsafety vectors",
    "probability vectors",
    "extended safety vectors",
    "safety path vectors",
    "Gu & Peng's constructions",
)

#: Rules whose extra links are drawn: ROUTE has none, ROUTE1 and ROUTE3 are in ``routing``'s figure.
_LONGER = ("route1", "route3", "levels", "vectors", "a1", "dfs", "sidetrack")


#: Fewest messages delivered of whose extra links a mean is drawn.
_LEAST_VALUES = 100


def axis_of_faults(results: Results) -> tuple[str, Point]:
    """The axis of faults with most values, and the point of the others: n nearest to 10, fewest faults of the other kind."""
    done = [point for point, tally in results if tally.trials]
    by = longest_axis(done, "f", "links")
    n = min(sorted({point["n"] for point in done}), key=lambda n: abs(n - 10))  # far above it few faults tell nothing
    other = "links" if by == "f" else "f"
    return by, {"n": n, other: min(point[other] for point in done if point["n"] == n)}


def _plot_statistic(
    results: Results, panel: Any, statistic: str, label: str, by: str, at: Point, like: int, of: int
) -> None:
    """One statistic against the faults; extra links where so many messages are delivered that they tell anything."""
    pairs = []
    among = statistic.replace("_extra", "_delivered") if statistic.endswith("_extra") else None
    for point, tally in results:
        if (tally.counts[among] >= _LEAST_VALUES if among else tally.trials) and all(
            point[axis] == value for axis, value in at.items()
        ):
            estimate = results.estimates(point)[statistic]
            if not math.isnan(estimate.value):
                pairs.append((point[by], estimate))
    panel.series(label, sorted(pairs, key=lambda pair: pair[0]), like, of)


_FAULTS = {"f": "f, faulty nodes", "links": "K, faulty links"}


def _figure(results: Results, sheet: Any) -> None:
    by, at = axis_of_faults(results)
    left, right = sheet.panels(2)
    possible = {"possible": "reachable", "possible over H links": "minimal_exists"}
    if at["n"] > MAX_SEARCHED_DIMENSION:
        del possible["possible"]
    delivered = possible | {name.upper(): f"{name}_delivered" for name in NAMES}
    for i, (label, statistic) in enumerate(delivered.items()):  # a rule has the same line in both panels
        _plot_statistic(results, left, statistic, label, by, at, i, len(delivered))
        if statistic.removesuffix("_delivered") in _LONGER:
            _plot_statistic(results, right, statistic.replace("_delivered", "_extra"), label, by, at, i, len(delivered))
    left.scale = "linear"
    left.words(x=_FAULTS[by], y="share of all messages", title=f"Delivered, Q_{at['n']}")
    right.scale = "linear"
    right.words(x=_FAULTS[by], y="links beyond the Hamming distance", title="Extra links of a delivered message")
    sheet.title("Routing rules on the same faults and messages (shaded: 95% intervals)")


def _notes(results: Results) -> list[str]:
    lines = ["all rules among all messages; ROUTE3 refuses where no node is active"]
    wrong = {name: max(tally.extremes[f"{name}_wrong"][0] for _, tally in results) for name in PROMISING_RULES}
    for name, most in wrong.items():
        state = "none" if most <= 0 else "SOME, replay the witness"
        lines.append(f"accepted by {name.upper()} and not delivered over H or H + 2 links: {state}")
    unknown = [(point, tally.counts["levels_unknown"]) for point, tally in results if tally.counts["levels_unknown"]]
    for point, count in unknown:
        lines.append(
            f"  {point_text(point)}: words of {count} trials are not computed (subcubes of more than 20 dimensions)"
        )
    limits = {name: sum(tally.counts[f"{name}_limit"] for _, tally in results) for name in ("dfs", "sidetrack")}
    if any(limits.values()):
        lines.append(f"cut off: DFS {limits['dfs']:,} (2^16 hops), SIDETRACK {limits['sidetrack']:,} (8n hops)")
    lines.append(f"not in the table, for their definitions were not read: {', '.join(MISSING)}")
    return lines


RIVALS = replace(rivals_study([name.upper() for name in NAMES]), figure=_figure, notes=_notes)
