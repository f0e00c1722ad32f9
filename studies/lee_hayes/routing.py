"""Lee & Hayes (1988), section 3: ROUTE, ROUTE1(k), ROUTE2(k) and ROUTE3(1) on the same fault sets and messages.

The paper does not measure these rules.  It concludes from the average number of unsafe nodes (Figure 8) that fewer than 15% of
the messages can have the extra delay of two.  ``routing`` counts the messages.  Interpretations R4-R11, R16, R18, R19 and R21.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from fastcube.errors import check_integer, check_range
from fastcube.kernels.routing import dispatch, layout
from fastcube.measure.asymptotic import Ratio
from fastcube.measure.grid import longest_axis
from fastcube.measure.inventory import inventory
from fastcube.measure.random_messages import AXES, check_point, is_searched, sample_trial
from fastcube.measure.statistics import Proportion
from fastcube.measure.study import Axis, Explanation, Grid, Notes, Point, Study, check_cases, point_text, product_grid
from fastcube.measure.tally import Tally
from fastcube.results.results import Results

from .messages import describe_route, explain_faults_and_ends, has_value

#: Largest number of messages that an enumeration may take, about ten seconds.
_MOST_CASES = 10**7

#: For points with fewer lost messages than this, the closed form is more precise than the estimate.
_RARE = 100

#: Most lines of a panel; with more, the axis and the lines are exchanged.
_MOST_LINES = 10


def _check_point(point: Point) -> None:
    check_point(point)
    check_range("k", point["k"], 1, int(point["n"]), f"for n={point['n']}")


def _enumeration(point: Point) -> Tally:
    """Count all fault sets without node 0, and all messages from node 0.

    Translations of all labels are symmetries of routing, so these messages represent all; permutations of the dimensions are not.
    """
    from fastcube.kernels.routing.scalar import ROUTING_SETS

    n, f = int(point["n"]), int(point["f"])
    check_integer("links", point["links"], 0, 0, "for exact values")
    sets = math.comb(2**n - 1, f)
    messages = check_cases(sets * (2**n - 1 - f), _MOST_CASES, point)
    slots = layout.ROUTING.new_tally()
    ROUTING_SETS(np.uint64(0), 0, sets, np.array([n, f, 0, point["k"], 0, 1, *range(f)], np.float64), slots)
    return Tally.from_slots(layout.ROUTING, 0, messages, slots)


# ---------------------------------------------------------------- replay


def _explain(point: Point, key: int, trial: int) -> Explanation:
    from fastcube.algorithms.paths import route

    k = int(point["k"])
    drawing = sample_trial(point, key, trial)
    cube, s, t = drawing.network, drawing.others["s"], drawing.others["t"]
    data, lines, _ = explain_faults_and_ends(drawing, k=k)
    lines.append(f"  from {cube.label(s)} to {cube.label(t)}, Hamming distance {cube.intact_distance(s, t)}")
    for algorithm in ("ROUTE", "ROUTE1", "ROUTE2", "ROUTE3"):
        has_k = algorithm in ("ROUTE1", "ROUTE2")
        routed = route(cube, s, t, algorithm, **({"k": k} if has_k else {}))
        data[algorithm] = {"outcome": routed.outcome, "path": routed.path}
        lines += describe_route(cube, f"{algorithm}({k})" if has_k else algorithm, routed)
    return Explanation("\n".join(lines), data)


# ---------------------------------------------------------------- figures and notes


def plot_delays(results: Results, panel: Any, by: str) -> None:
    """Plot the fractions of messages with a detour, and with both ends in one unsafe subcube; nothing if no detour was seen."""
    if not any(results.estimates(point)["route3_above_hamming"].value > 0 for point, tally in results if tally.trials):
        return
    links = {point["links"] for point, _ in results}
    first = {"k": min(point["k"] for point, _ in results)}
    at = first if len(links) > 1 or by == "links" else first | {"links": min(links)}
    x = "n"
    if len({point[by] for point, _ in results}) > _MOST_LINES:  # f grows with n, so the axes are exchanged
        x, by = by, "n"
    panel.lines(results, "route3_above_hamming", x=x, by=by, at=at)
    panel.reference(
        lambda point: results.estimates(point)["ends_in_one_unsafe_subcube"].value or math.nan,
        "both ends in one unsafe subcube",
    )
    panel.add_statement(
        _printed_delay_fraction(),
        "paper: < 15% for f <= floor(n/2), n >= 5",
        where=lambda point: int(point["n"]) >= 5 and int(point["f"]) <= int(point["n"]) // 2,
    )
    panel.scale = "log"
    panel.set_labels(y="fraction of ROUTE3's messages with a detour", title="ROUTE3: messages with the extra delay")


def _figure(results: Results, sheet: Any) -> None:
    """Plot the messages with a detour against n, and at the most lossy n the messages not delivered against the faults."""
    by = longest_axis((point for point, _ in results), "f", "links")
    left, right = sheet.panels(2)
    plot_delays(results, left, by)
    n = most_lossy_dimension(results)
    done = [point for point, tally in results if tally.trials and point["n"] == n]
    at = {"n": n, "k": min((point["k"] for point in done), default=1)}
    other = "links" if by == "f" else "f"
    at[other] = min((point[other] for point in done), default=0)
    points = sorted((p for p in done if at.items() <= p.items()), key=lambda point: point[by])
    for i, (label, statistic) in enumerate(
        (
            ("ROUTE", "route_delivered"),
            (f"ROUTE1({at['k']})", "route1_delivered"),
            (f"ROUTE2({at['k']})", "route2_delivered"),
            ("ROUTE3, which loses all where Q_n is unsafe", "route3_delivered_all"),
        )
    ):
        pairs = [(point[by], results.estimates(point)[statistic].complement) for point in points]
        right.series(label, pairs, i, 4, points=points)
    right.scale = "log"
    right.set_labels(
        x="f, number of faulty nodes" if by == "f" else "number of faulty links",
        y="fraction of messages not delivered",
        title=f"Not delivered, over all fault sets of Q_{n}",
    )
    sheet.title(results.study.title)


def most_lossy_dimension(results: Results) -> int:
    """Return the n with most losses: pairs of a point and of one of ROUTE1, ROUTE2 and ROUTE3 that loses a message there.

    Of several such n it is the largest, and 1 without trials.
    """
    lossy: dict[int, int] = {}
    for point, tally in results:
        if tally.trials:
            lost = sum(tally.counts[f"{name}_delivered"] < tally.trials for name in ("route1", "route2", "route3"))
            lossy[int(point["n"])] = lossy.get(int(point["n"]), 0) + lost
    return max(lossy, key=lambda n: (lossy[n], n), default=1)


def faults_on_route(n: int, f: int) -> Fraction:
    """Return the mean number of faulty nodes on ROUTE's path between two random nonfaulty nodes; f of the other nodes are faulty.

    The path has h - 1 nodes between its ends, and h is n 2^(n-1) / (2^n - 1) on average.  The result bounds the fraction of
    messages that ROUTE loses, and to first order in f equals it.
    """
    if n == 1:
        return Fraction(0)
    return Fraction(f, 2**n - 2) * (Fraction(n * 2 ** (n - 1), 2**n - 1) - 1)


def _printed_delay_fraction() -> float:
    """Return the limit that section 3.2 concludes from Figure 8 for the fraction of messages with the extra delay of two."""
    return inventory("lee_hayes").value("fifteen-percent-messages")


def _notes(results: Results) -> list[str]:
    """Return notes on the printed bound on delays, on rare losses of ROUTE, and on routes that were cut off."""
    lines = _delay_notes(results) + _loss_notes(results)
    limits = sum(tally.counts["route2_limit"] for _, tally in results)
    if limits:
        lines.append(f"ROUTE2 routes cut off after expanding 2^16 nodes: {limits}")
    return lines


def _delay_notes(results: Results) -> list[str]:
    """Return a note on the printed bound on delays, if there are points for which it is stated."""
    rows = [(p, results.estimates(p)["route3_above_hamming"]) for p, tally in results if tally.trials]
    stated = [(p, e) for p, e in rows if has_value(e) and p["n"] >= 5 and 1 <= p["f"] <= p["n"] // 2 and not p["links"]]
    if not stated:
        return []
    below = sum(e.high < _printed_delay_fraction() for _, e in stated)
    point, largest = max(stated, key=lambda row: row[1].value)
    stated_text = "paper: the extra delay of two for less than 15% of the messages (f <= floor(n/2), n >= 5)"
    largest_text = f"at most {100 * largest.value:.3g}% at {point_text(point)}"
    return [f"{stated_text}: true at {below} of {len(stated)} points, {largest_text}"]


def _loss_notes(results: Results) -> list[str]:
    """Return for points at which few messages were lost the closed form, which is more precise there."""
    rare = []
    for point, tally in results:
        if tally.trials and not is_searched(point) and not point["links"] and point["f"]:
            lost = tally.trials - tally.counts["route_delivered"]
            if lost < _RARE:
                mean = float(faults_on_route(int(point["n"]), int(point["f"])))
                rare.append(f"  {point_text(point)}: ROUTE lost {lost} of {tally.trials:,}; closed form {mean:.3g}")
    if not rare:
        return []
    return [
        "Messages seldom meet a fault.  After the number that ROUTE lost, the mean number of faults on its path:",
        "f (n 2^(n-1)/(2^n - 1) - 1)/(2^n - 2), which bounds the fraction lost and equals it to first order in f.",
        *rare,
    ]


# ---------------------------------------------------------------- the study

#: The rules in descriptions of statistics, by the beginnings of the statistics' names.
_NAMES = {"route1": "ROUTE1(k)", "route2": "ROUTE2(k)", "route3": "ROUTE3(1)"}

#: The trials in which ROUTE3(1) runs, as the end of a description.
_AMONG_ACTIVE = ", among trials with an active node"


def _among_delivered(name: str) -> str:
    """Return the end of a description of a statistic over delivered messages."""
    where = " in trials with an active node" if name == "route3" else ""
    return f", among messages that {_NAMES[name]} delivers{where}"


def make_proportion(
    name: str, description: str, condition: str | None = None, shown: bool = False, **options: Any
) -> Proportion:
    """Return the fraction of all trials, or of the trials that ``condition`` counts, as a statistic with further ``options``."""
    return Proportion(name=name, description=description, condition=condition, shown=shown, **options)


def _has_faults(point: Point) -> bool:
    """Whether a node or link is faulty; without faults no route is a detour."""
    return bool(point["f"] or point["links"])


def detour_proportion(name: str, shown: bool = False) -> Proportion:
    """Return the fraction of an algorithm's delivered routes that are detours, as a statistic."""
    what = f"fraction of routes longer than the Hamming distance{_among_delivered(name)}"
    return make_proportion(
        f"{name}_above_hamming", what, f"{name}_delivered", shown, events=f"{name}_above_hamming", possible=_has_faults
    )


def length_bound(radius: Callable[[Point], int]) -> Callable[[Point], float]:
    """Return a bound on the ratio of links to Hamming distance of a delivered route, by the k of its rule.

    A route visits no node twice.  It leaves a minimal path only at nodes with a fault among the first k links toward t or the
    nodes behind them, each time for two links.
    """

    def bound(point: Point) -> float:
        n, k = int(point["n"]), radius(point)
        at_distance = [math.comb(n, i) for i in range(k + 1)]
        nodes_near_faults = int(point["f"]) * (sum(at_distance) - 1) + 2 * int(point["links"]) * sum(at_distance[:-1])
        return float(1 + 2 * min(2 ** (n - 1), nodes_near_faults))

    return bound


def length_ratio(name: str, bound: Callable[[Point], float] = lambda _: 0.0) -> Ratio:
    """Return the ratio of links to Hamming distances of an algorithm's delivered routes, as a statistic."""
    return Ratio(
        name=f"{name}_stretch",
        description=f"total links of routes divided by the total Hamming distance{_among_delivered(name)}",
        numerator=f"{name}_links",
        denominator=f"{name}_distance",
        squares=(f"{name}_links_links", f"{name}_links_distance", f"{name}_distance_distance"),
        nonzero=f"{name}_above_hamming",
        base=1,
        bound=bound,
        condition=f"{name}_delivered",
        shown=False,
    )


def ending_proportion(name: str, outcome: str, event: str, condition: str | None = None) -> Proportion:
    """Return the fraction of an algorithm's messages with an outcome other than delivery, as a statistic."""
    all_of, among = ("", _AMONG_ACTIVE) if condition else ("all ", "")
    return make_proportion(
        f"{name}_{outcome}", f"fraction of {all_of}messages that {event} under {_NAMES[name]}{among}", condition
    )


def _longer_proportion(name: str) -> Proportion:
    """Return the fraction of an algorithm's delivered routes that are not shortest nonfaulty paths, as a statistic."""
    what = f"fraction of routes longer than a shortest nonfaulty path (n <= 12){_among_delivered(name)}"
    return make_proportion(f"{name}_above_shortest", what, f"{name}_delivered", defined=is_searched)


#: The outcomes livelock and stuck in descriptions.
_REPEATED_NODE_TEXT = "come to a node twice, and so circle for ever,"
_NO_LINK_TEXT = "stop where the rule allows no link"

#: The counter of the trials in which ROUTE3(1) runs.
_SOME_ACTIVE = "some_active"

ROUTING = Study(
    name="routing",
    title="Routing among random faults in Q_n",
    source="Lee & Hayes 1988, section 3",
    revision=2,
    axes=(
        *AXES,
        Axis("k", "radius within which a node of ROUTE1 and ROUTE2 knows the faults", int, 1, 62),
    ),
    tally=layout.ROUTING,
    statistics=(
        detour_proportion("route3", shown=True),
        make_proportion(
            "route3_delivered",
            f"fraction of messages that ROUTE3(1) delivers{_AMONG_ACTIVE}",
            _SOME_ACTIVE,
            True,
        ),
        make_proportion(
            "route_delivered",
            "fraction of all messages, each between two random nonfaulty nodes, that ROUTE delivers",
            shown=True,
        ),
        make_proportion("route1_delivered", "fraction of all messages that ROUTE1(k) delivers", shown=True),
        make_proportion("route2_delivered", "fraction of all messages that ROUTE2(k) delivers"),
        *(
            make_proportion(
                f"{name}_delivered_active",
                f"fraction of messages that {title} delivers{_AMONG_ACTIVE}",
                _SOME_ACTIVE,
            )
            for name, title in (("route", "ROUTE"), ("route1", "ROUTE1(k)"), ("route2", "ROUTE2(k)"))
        ),
        make_proportion(
            "route3_delivered_all",
            "fraction of all messages that ROUTE3(1) delivers; it delivers none in trials without an active node",
            events="route3_delivered",
        ),
        make_proportion(
            "some_active", "fraction of fault sets that leave some node active, which is neither faulty nor unsafe"
        ),
        ending_proportion("route1", "livelock", _REPEATED_NODE_TEXT),
        ending_proportion("route2", "livelock", _REPEATED_NODE_TEXT),
        ending_proportion("route1", "stuck", _NO_LINK_TEXT),
        ending_proportion("route2", "stuck", _NO_LINK_TEXT),
        ending_proportion("route3", "livelock", _REPEATED_NODE_TEXT, _SOME_ACTIVE),
        ending_proportion("route3", "stuck", _NO_LINK_TEXT, _SOME_ACTIVE),
        detour_proportion("route1"),
        detour_proportion("route2"),
        length_ratio("route1", length_bound(lambda point: int(point["k"]))),
        length_ratio("route2", length_bound(lambda point: int(point["k"]))),
        length_ratio("route3", length_bound(lambda _: 1)),
        make_proportion(
            "ends_in_one_unsafe_subcube",
            f"fraction of messages between two unsafe nodes of one maximal unsafe subcube{_AMONG_ACTIVE}",
            _SOME_ACTIVE,
        ),
        make_proportion(
            "route3_beats_route1",
            f"fraction of messages that ROUTE3(1) delivers and ROUTE1(k) loses or delivers over more links{_AMONG_ACTIVE}",
            _SOME_ACTIVE,
        ),
        make_proportion(
            "route1_beats_route3",
            f"fraction of messages that ROUTE1(k) delivers and ROUTE3(1) loses or delivers over more links{_AMONG_ACTIVE}",
            _SOME_ACTIVE,
        ),
        _longer_proportion("route1"),
        _longer_proportion("route2"),
        _longer_proportion("route3"),
        make_proportion(
            "reachable",
            "fraction of all messages whose source and destination a nonfaulty path joins (n <= 12)",
            defined=is_searched,
        ),
    ),
    kernel=lambda point: dispatch.ROUTING.kernel(*point.values()),
    alternatives=lambda point: dispatch.ROUTING.alternatives(*point.values()),
    grids=(
        Grid("nodes", product_grid(n=range(5, 13), f=range(1, 9), links=[0], k=[1, 2]), 10**6),
        Grid(
            "large",
            [{"n": n, "f": f, "links": 0, "k": 1} for n in (14, 16, 18, 20, 22, 24) for f in (n // 2, n, 2 * n, 4 * n)],
            10**6,
        ),
        Grid("links", product_grid(n=range(5, 11), f=[0, 2], links=range(1, 5), k=[1]), 200_000),
    ),
    check=_check_point,
    enumeration=_enumeration,
    explain=_explain,
    sample=sample_trial,
    figure=_figure,
    notes=Notes((_notes, ("route3_above_hamming", "route_delivered", "route2_delivered"))),
)
