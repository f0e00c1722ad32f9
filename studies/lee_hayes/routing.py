"""Lee & Hayes (1988), section 3: ROUTE, ROUTE1(k), ROUTE2(k) and ROUTE3(1) on the same fault sets and messages.

The paper does not measure these rules.  It concludes from the average number of unsafe nodes (Figure 8) that fewer than 15% of
the messages can have the extra delay of two.  ``routing`` counts the messages.  Interpretations R4-R11, R16, R18, R19 and R21.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from fastcube.errors import check_integer, check_range
from fastcube.kernels.routing import dispatch, layout
from fastcube.measure.grid import longest_axis
from fastcube.measure.random_messages import AXES, check_point, is_searched, sample_trial
from fastcube.measure.study import Axis, Explanation, Grid, Notes, Point, Study, check_cases, point_text, product_grid
from fastcube.measure.tally import Tally
from fastcube.results.results import Results

from .messages import explain_faults_and_ends, explain_routes, has_value
from .printed_limit import STATEMENT, delay_limit, is_stated
from .routing_statistics import (
    AMONG_ACTIVE,
    SOME_ACTIVE,
    make_detour_proportion,
    make_ending_proportion,
    make_length_bound,
    make_length_ratio,
    make_longer_proportion,
    make_proportion,
)

#: Largest number of messages that an enumeration may take.
_MOST_CASES = 10**7

#: The closed form is given beside the estimate if fewer messages than this were lost, and a smaller fraction is expected to be.
_RARE, _RARE_FRACTION = 100, 0.01

#: Most lines of a panel; with more, the axis and the lines are exchanged.
_MOST_LINES = 10


def _check_point(point: Point) -> None:
    check_point(point)
    check_range("k", point["k"], 1, int(point["n"]), f"for n={point['n']}")


def _enumeration(point: Point) -> Tally:
    """Count all fault sets without node 0, and all messages from node 0.

    Translations of all labels are symmetries of routing, so these messages represent all.  Permutations of the
    dimensions are not symmetries.
    """
    from fastcube.kernels.routing.scalar import ROUTING_SETS

    n, f = int(point["n"]), int(point["f"])
    check_integer("links", point["links"], 0, 0, "for exact values")
    sets = math.comb(2**n - 1, f)
    messages = check_cases(sets * (2**n - 1 - f), _MOST_CASES, point)
    slots = layout.ROUTING.new_tally()
    links, radius, least_links = 0, 0, 1  # this radius leaves out no fault set, and one link no destination
    params = np.array([n, f, links, point["k"], radius, least_links, *range(f)], np.float64)
    ROUTING_SETS(np.uint64(0), 0, sets, params, slots)
    return Tally.from_slots(layout.ROUTING, 0, messages, slots)


# ---------------------------------------------------------------- replay


def _explain(point: Point, key: int, trial: int) -> Explanation:
    k = int(point["k"])
    sample = sample_trial(point, key, trial)
    cube, s, t = sample.network, sample.others["s"], sample.others["t"]
    data, lines, _ = explain_faults_and_ends(sample, k=k)
    lines.append(f"  from {cube.label(s)} to {cube.label(t)}, Hamming distance {cube.intact_distance(s, t)}")
    routes, route_lines = explain_routes(cube, s, t, k, ("ROUTE", "ROUTE1", "ROUTE2", "ROUTE3"))
    return Explanation("\n".join(lines + route_lines), data | routes)


# ---------------------------------------------------------------- figures and notes


def plot_delays(results: Results, panel: Any, by: str) -> None:
    """Plot the fractions of messages with a detour, and with both ends in one unsafe subcube; nothing if no detour was seen."""
    if not any(results.estimates(point)["route3_above_hamming"].value > 0 for point, tally in results if tally.trials):
        return
    at = {"k": min(point["k"] for point, _ in results)}
    links = {point["links"] for point, _ in results}
    if len(links) == 1 and by != "links":
        at["links"] = min(links)
    x = "n"
    if len({point[by] for point, _ in results}) > _MOST_LINES:  # f grows with n, so the axes are exchanged
        x, by = by, "n"
    panel.lines(results, "route3_above_hamming", x=x, by=by, at=at)
    panel.reference(
        lambda point: results.estimates(point)["ends_in_one_unsafe_subcube"].value or math.nan,
        "both ends in one unsafe subcube",
    )
    panel.add_statement(delay_limit(), STATEMENT, where=is_stated)
    panel.scale = "log"
    panel.set_labels(y="fraction of ROUTE3's messages with a detour", title="ROUTE3: messages with the extra delay")


def _figure(results: Results, sheet: Any) -> None:
    """Plot the messages with a detour against n, and at the most lossy n the messages not delivered against the faults."""
    by = longest_axis((point for point, _ in results), "f", "links")
    delays, losses = sheet.panels(2)
    plot_delays(results, delays, by)
    _plot_losses(results, losses, by)
    sheet.title(results.study.title)


def _plot_losses(results: Results, panel: Any, x: str) -> None:
    """Plot the messages that each rule does not deliver, at the most lossy n and the smallest values of the other axes."""
    n = most_lossy_dimension(results)
    done = [point for point, tally in results if tally.trials and point["n"] == n]
    at = {"n": n, "k": min((point["k"] for point in done), default=1)}
    other = "links" if x == "f" else "f"
    at[other] = min((point[other] for point in done), default=0)
    points = sorted((p for p in done if at.items() <= p.items()), key=lambda point: point[x])
    statistics = {
        "ROUTE": "route_delivered",
        f"ROUTE1({at['k']})": "route1_delivered",
        f"ROUTE2({at['k']})": "route2_delivered",
        "ROUTE3, which loses all where Q_n is unsafe": "route3_delivered_all",
    }
    for i, (label, statistic) in enumerate(statistics.items()):
        pairs = [(point[x], results.estimates(point)[statistic].complement) for point in points]
        panel.series(label, pairs, i, len(statistics), points=points)
    panel.scale = "log"
    panel.set_labels(
        x="f, number of faulty nodes" if x == "f" else "number of faulty links",
        y="fraction of messages not delivered",
        title=f"Not delivered, over all fault sets of Q_{n}",
    )


def most_lossy_dimension(results: Results) -> int:
    """Return the n with most pairs of a point and of one of ROUTE1, ROUTE2 and ROUTE3 that loses a message there.

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


def _notes(results: Results) -> list[str]:
    """Return notes on the printed bound on delays, on rare losses of ROUTE, and on routes that were cut off."""
    lines = _delay_notes(results) + _loss_notes(results)
    limits = sum(tally.counts["route2_limit"] for _, tally in results)
    if limits:
        lines.append(f"ROUTE2 routes cut off after expanding 2^16 nodes: {limits}")
    return lines


def _delay_notes(results: Results) -> list[str]:
    """Return a note on the printed bound on delays, if there are points for which it is stated."""
    rows = [(p, results.estimates(p)["route3_above_hamming"]) for p, tally in results if tally.trials and is_stated(p)]
    measured = [(point, e) for point, e in rows if has_value(e)]
    if not measured:
        return []
    below = sum(e.high < delay_limit() for _, e in measured)
    point, largest = max(measured, key=lambda row: row[1].value)
    stated_text = "paper: the extra delay of two for less than 15% of the messages (f <= floor(n/2), n >= 5)"
    largest_text = f"at most {100 * largest.value:.3g}% at {point_text(point)}"
    return [f"{stated_text}: true at {below} of {len(measured)} points, {largest_text}"]


def _loss_notes(results: Results) -> list[str]:
    """Return the closed form for points at which few messages were lost and few are expected to be."""
    rare = []
    for point, tally in results:
        if not tally.trials or is_searched(point) or point["links"] or not point["f"]:
            continue
        lost = tally.trials - tally.counts["route_delivered"]
        mean = float(faults_on_route(int(point["n"]), int(point["f"])))
        if lost < _RARE and mean < _RARE_FRACTION:
            rare.append(f"  {point_text(point)}: ROUTE lost {lost} of {tally.trials:,}; closed form {mean:.3g}")
    if not rare:
        return []
    return [
        "Messages seldom meet a fault.  After the number that ROUTE lost, the mean number of faults on its path:",
        "f (n 2^(n-1)/(2^n - 1) - 1)/(2^n - 2), which bounds the fraction lost and equals it to first order in f.",
        *rare,
    ]


# ---------------------------------------------------------------- the study

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
        make_detour_proportion("route3", shown=True),
        make_proportion(
            "route3_delivered",
            f"fraction of messages that ROUTE3(1) delivers{AMONG_ACTIVE}",
            SOME_ACTIVE,
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
                f"fraction of messages that {title} delivers{AMONG_ACTIVE}",
                SOME_ACTIVE,
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
        make_ending_proportion("route1", "livelock"),
        make_ending_proportion("route2", "livelock"),
        make_ending_proportion("route1", "stuck"),
        make_ending_proportion("route2", "stuck"),
        make_ending_proportion("route3", "livelock", SOME_ACTIVE),
        make_ending_proportion("route3", "stuck", SOME_ACTIVE),
        make_detour_proportion("route1"),
        make_detour_proportion("route2"),
        make_length_ratio("route1", make_length_bound(lambda point: int(point["k"]))),
        make_length_ratio("route2", make_length_bound(lambda point: int(point["k"]))),
        make_length_ratio("route3", make_length_bound(lambda _: 1)),
        make_proportion(
            "ends_in_one_unsafe_subcube",
            f"fraction of messages between two unsafe nodes of one maximal unsafe subcube{AMONG_ACTIVE}",
            SOME_ACTIVE,
        ),
        make_proportion(
            "route3_beats_route1",
            f"fraction of messages that ROUTE3(1) delivers and ROUTE1(k) loses or delivers over more links{AMONG_ACTIVE}",
            SOME_ACTIVE,
        ),
        make_proportion(
            "route1_beats_route3",
            f"fraction of messages that ROUTE1(k) delivers and ROUTE3(1) loses or delivers over more links{AMONG_ACTIVE}",
            SOME_ACTIVE,
        ),
        make_longer_proportion("route1"),
        make_longer_proportion("route2"),
        make_longer_proportion("route3"),
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
