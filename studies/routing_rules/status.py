"""``safety-status``: the fraction of nodes that each definition calls safe, and the rounds to compute it.

The trials have the faults of ``routing-rules``.  Safe nodes are nonfaulty nodes that are not unsafe (Lee and Hayes), nodes that
are not marked (Wu and Fernandez), nodes of level n, and nodes whose safety vector has only ones.
"""

import math
from functools import partial
from typing import Any

from fastcube.kernels.routing_rules import dispatch
from fastcube.kernels.routing_rules.layout import SAFETY_STATUS as TALLY
from fastcube.kernels.routing_rules.layout import STATUS_NAMES
from fastcube.measure.asymptotic import NormalMean
from fastcube.measure.random_messages import AXES, GRIDS, KEY_SOURCE, check_point, sample_trial
from fastcube.measure.route_explanations import explain_message
from fastcube.measure.statistics import Mean, Point, Statistic
from fastcube.measure.study import Explanation, Study, point_text
from fastcube.results.results import Results

_TITLES = {
    "lee_hayes": "Lee & Hayes's unsafe nodes",
    "wu_fernandez": "Wu & Fernandez's marking",
    "levels": "safety levels",
    "vectors": "safety vectors",
}

#: The safe nodes of each definition, as a description.
_SAFE_TEXTS = {
    "lee_hayes": "nonfaulty and not unsafe (Lee & Hayes)",
    "wu_fernandez": "nonfaulty and not marked (Wu & Fernandez)",
    "levels": "nonfaulty and have the safety level n",
    "vectors": "nonfaulty and have all bits of the safety vector set",
}

#: The trials that are counted, as the end of a description.
_COMPUTED = "among trials without an unsafe subcube above dimension 20"


def _node_count(point: Point) -> float:
    return 2.0 ** int(point["n"])


def _most_rounds(point: Point) -> float:
    """Return the bound on the rounds of levels and of vectors: n - 1, or 1 for n = 1."""
    return max(int(point["n"]) - 1, 1)


def _has_no_link_faults(point: Point) -> bool:
    return not point["links"]


def _make_statistics() -> tuple[Statistic, ...]:
    safe: list[Statistic] = []
    rounds: list[Statistic] = []
    for name in STATUS_NAMES:
        defined: dict[str, Any] = {"defined": _has_no_link_faults} if name == "wu_fernandez" else {}
        title = _TITLES[name]
        safe.append(
            Mean(
                name=f"{name}_safe",
                description=f"mean fraction of the 2^n nodes that are {_SAFE_TEXTS[name]}, {_COMPUTED}",
                total=f"{name}_nodes",
                squares=f"{name}_squares",
                nonzero=f"{name}_some",
                unit=_node_count,
                condition="known",
                **defined,
            )
        )
        kind = NormalMean if name in ("lee_hayes", "wu_fernandez") else partial(Mean, bound=_most_rounds)
        rounds.append(
            kind(
                name=f"{name}_rounds",
                description=f"mean number of synchronous rounds that change a node's status, for {title}, {_COMPUTED}",
                total=f"{name}_steps",
                squares=f"{name}_steps_squares",
                nonzero=f"{name}_steps_some",
                condition="known",
                shown=False,
                **defined,
            )
        )
    return (*safe, *rounds)


def _explain(point: Point, key: int, trial: int) -> Explanation:
    from fastcube.algorithms.safety_status import safety_levels, safety_vectors, wu_fernandez_safe
    from fastcube.algorithms.unsafe import find_unsafe

    drawing = sample_trial(point, key, trial)
    cube = drawing.network
    data, lines = explain_message(drawing)
    unsafe = find_unsafe(cube)
    safe = {"lee_hayes": 2**cube.n - unsafe.count - len(cube.faulty_nodes)}
    rounds = {"lee_hayes": unsafe.rounds}
    for name, make in (("wu_fernandez", wu_fernandez_safe), ("levels", safety_levels), ("vectors", safety_vectors)):
        if name == "wu_fernandez" and cube.faulty_links:
            continue
        status: Any = make(cube)
        rounds[name], safe[name] = status.rounds, status.safe
    for name, count in safe.items():
        data[f"{name}_safe"], data[f"{name}_rounds"] = count, rounds[name]
        lines.append(f"  {_TITLES[name]}: {count} nodes safe, {rounds[name]} round{'s' * (rounds[name] != 1)}")
    return Explanation("\n".join(lines), data)


def _figure(results: Results, sheet: Any) -> None:
    """Plot the safe nodes and the rounds of each definition against the faults, at one n."""
    from fastcube.measure.rules_figure import choose_fault_axis

    by, at = choose_fault_axis(results)
    names = [name for name in STATUS_NAMES if name != "wu_fernandez" or by == "f"]
    left, right = sheet.panels(2)
    left.compare(results, {_TITLES[name]: f"{name}_safe" for name in names}, x=by, at=at)
    left.scale = "linear"
    left.set_labels(y="fraction of all nodes", title=f"Safe nodes, Q_{at['n']}")
    right.compare(results, {_TITLES[name]: f"{name}_rounds" for name in names}, x=by, at=at)
    right.scale = "linear"
    right.set_labels(y="rounds", title="Synchronous rounds of exchange")
    sheet.title(results.study.title)


def _notes(results: Results) -> list[str]:
    """Return notes on the sizes of messages, the most rounds of each definition, and trials that are not counted."""
    sizes = sorted({int(point["n"]) for point, tally in results if tally.trials})
    if not sizes:
        return []
    lines = ["bits that a node sends to a neighbour: 1 if unsafe or marked; n for a vector, one per round; for a level"]
    lines.append("  " + ", ".join(f"{math.ceil(math.log2(n + 1))} at n={n}" for n in sizes))
    for name in STATUS_NAMES:
        maxima = [(*tally.maxima[f"{name}_most_rounds"], point) for point, tally in results if tally.trials]
        most, trial, point = max(maxima, key=lambda item: item[0])
        if most > 0:
            lines.append(f"most rounds of {_TITLES[name]}: {most} (trial {trial} at {point_text(point)})")
    unknown = sum(tally.trials - tally.counts["known"] for _, tally in results)
    if unknown:
        lines.append(f"trials whose safety statuses are not computed (subcubes of more than 20 dimensions): {unknown}")
    return lines


SAFETY_STATUS = Study(
    name="safety-status",
    title="Safety status of nodes among random faults in Q_n",
    source="Lee & Hayes 1988, Wu & Fernandez 1991, Wu 1995-1998; docs/readings/routing-rules.md",
    revision=1,
    axes=AXES,
    tally=TALLY,
    statistics=_make_statistics(),
    kernel=lambda point: dispatch.SAFETY_STATUS.kernel(*point.values()),
    keyed=KEY_SOURCE,
    grids=GRIDS,
    check=check_point,
    explain=_explain,
    sample=sample_trial,
    figure=_figure,
    notes=_notes,
)
