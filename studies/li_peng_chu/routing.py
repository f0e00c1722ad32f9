"""The study ``dualcube-routing`` of Li, Peng & Chu: fault-tolerant routing in dual-cubes with random faults.

Section 3 of the paper simulates the algorithm PRACTICAL on DC(5) to DC(9) with uniformly distributed faulty nodes.  Figure 1
shows the fraction of routes that find a path, Figure 2 the length of the paths.  The study measures both, and the length of the
shortest nonfaulty path.  Its grid ``large`` goes on to DC(30), larger than any published simulation.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from fastcube.kernels.dualcube import dispatch, layout
from fastcube.measure.asymptotic import NormalMean, Ratio
from fastcube.measure.inventory import inventory
from fastcube.measure.statistics import Proportion
from fastcube.measure.study import Axis, Explanation, Grid, Notes, Point, Sample, Study, product_grid
from fastcube.results.results import Results
from fastcube.results.rounding import estimate_text

#: The failure rates of the grids, to 50% in steps of 5%.
RATES = [round(0.05 * i, 2) for i in range(11)]

#: Most faulty nodes, and most events, in the text of a replay.
_MOST_LISTED = 40


def _is_searched(point: Point) -> bool:
    """Whether trials search for a shortest nonfaulty path, which looks at all nodes."""
    return point["m"] <= layout.SEARCH_M


STATISTICS = (
    Proportion(
        name="delivered",
        description="fraction of messages between two nonfaulty nodes that PRACTICAL delivers",
        events="delivered",
        condition="valid",
    ),
    Proportion(
        name="delivered_connected",
        description=f"fraction of messages that PRACTICAL delivers (m <= {layout.SEARCH_M}), "
        "among messages whose ends a nonfaulty path joins",
        events="delivered",
        condition="connected",
        defined=_is_searched,
    ),
    Ratio(
        name="length_over_shortest",
        description=f"total links of routes divided by the total links of shortest nonfaulty paths (m <= {layout.SEARCH_M}), "
        "among delivered messages",
        numerator="length",
        denominator="shortest",
        squares=("length_length", "length_shortest", "shortest_shortest"),
        nonzero="longer",
        base=1,
        condition="delivered",
        defined=_is_searched,
    ),
    Ratio(
        name="stretch",
        description="total links of routes divided by the total distance without faults, among delivered messages",
        numerator="length",
        denominator="distance",
        squares=("length_length", "length_distance", "distance_distance"),
        nonzero="detours",
        base=1,
        condition="delivered",
    ),
    Proportion(
        name="at_shortest",
        description=f"fraction of routes as short as a shortest nonfaulty path (m <= {layout.SEARCH_M}), "
        "among delivered messages",
        events="shortest_routes",
        condition="delivered",
        defined=_is_searched,
        shown=False,
    ),
    NormalMean(
        name="lookups",
        description="mean number of different nodes whose status PRACTICAL looks up, delivered or not, "
        f"among all messages, or among every 64th if m > {layout.SEARCH_M}",
        total="lookups",
        squares="lookups_lookups",
        condition="lookups_counted",
        units="nodes",
    ),
)


# ---------------------------------------------------------------- replay


def sample_trial(point: Point, key: int, trial: int) -> Sample:
    """Sample a dual-cube whose node statuses are computed on demand, and two nonfaulty ends; both are -1 in a discarded trial."""
    from fastcube.kernels.dualcube import replay
    from fastcube.networks.dualcube import DualCube
    from fastcube.networks.faults import RandomFaults

    m, rate = int(point["m"]), float(point["rate"])
    has_ends, status_key, s, t = replay.sample_dualcube_routing(key, trial, m, rate)
    ends = {"s": int(s), "t": int(t)} if has_ends else {"s": -1, "t": -1}
    return Sample(
        DualCube(m, RandomFaults(rate, int(status_key))),
        {"status_key": int(status_key), **ends, "discarded": not has_ends},
    )


def explain_trial(point: Point, key: int, trial: int) -> Explanation:
    """Repeat one trial and describe it: the faulty nodes met, and the path with its dimensions or the reason for the failure."""
    from fastcube.algorithms.dualcube import route_practical
    from fastcube.algorithms.shortest import distance

    m, rate = int(point["m"]), float(point["rate"])
    sample = sample_trial(point, key, trial)
    dual, s, t = sample.network, sample.others["s"], sample.others["t"]
    data: dict[str, Any] = {name: sample.others[name] for name in ("status_key", "discarded")}
    if data["discarded"]:
        return Explanation(f"DC({m}), failure rate {rate}: no two nonfaulty nodes, the trial is discarded", data)
    result = route_practical(dual, s, t)
    data |= {
        "s": s,
        "t": t,
        "distance": dual.intact_distance(s, t),
        "outcome": result.outcome,
        "reason": result.reason,
        "path": result.path,
        "dimensions": [dual.dimension(u, v) for u, v in itertools.pairwise(result.path)],
        "length": result.length,
        "lookups": result.lookups,
        "faulty_met": [u for u in result.asked if dual.is_faulty(u)],
        "asked": list(result.asked),
        "events": [vars(e) for e in result.events],
    }
    if _is_searched(point):
        data["shortest"] = distance(dual, s, t)
    lines = _describe_message(dual, data) + _describe_outcome(dual, data, result.events)
    return Explanation("\n".join(lines), data)


def _node_text(dual: Any, u: int) -> str:
    """Return the label of node ``u`` as three bit strings with dots between them: class, and the two fields of m bits."""
    text = dual.label(u)
    return f"{text[0]}.{text[1 : dual.m + 1]}.{text[dual.m + 1 :]}"


def _describe_message(dual: Any, data: Mapping[str, Any]) -> list[str]:
    """Return the first lines of a replay: the ends of the message and the faulty nodes met."""
    s, t, met = data["s"], data["t"], data["faulty_met"]
    position = "different classes"
    if dual.class_of(s) == dual.class_of(t):
        position = "one cluster" if dual.same_cluster(s, t) else "different clusters of one class"
    lines = [
        f"DC({dual.m}), failure rate {dual.faulty_nodes.rate}; labels are u_0.u_1..u_m.u_m+1..u_2m",
        f"from {_node_text(dual, s)} to {_node_text(dual, t)}: {position}, d(s, t) = {data['distance']}",
        f"asked {data['lookups']} nodes, {len(met)} of them faulty{':' if met else ''}",
        *(f"  faulty {_node_text(dual, u)}" for u in met[:_MOST_LISTED]),
    ]
    if len(met) > _MOST_LISTED:
        lines.append(f"  and {len(met) - _MOST_LISTED} more")
    return lines


def _describe_outcome(dual: Any, data: Mapping[str, Any], events: Sequence[Any]) -> list[str]:
    """Return the last lines of a replay: the path, or the decisions before the failure, and the shortest nonfaulty path."""
    if data["outcome"] == "delivered":
        lines = [f"delivered over {data['length']} links (0 is the cross edge):", f"  {_node_text(dual, data['s'])}"]
        steps = zip(data["path"][1:], data["dimensions"], strict=True)
        lines += [f"  {_node_text(dual, v)}  along u_{d}" for v, d in steps]
    else:
        reason = "a tree would grow past 2^14 nodes" if data["reason"] == "limit" else "nothing is left to try"
        lines = [f"failed: {reason}", *(f"  {_event_text(dual, e)}" for e in events[:_MOST_LISTED])]
        if len(events) > _MOST_LISTED:
            lines.append(f"  and {len(events) - _MOST_LISTED} more")
    if "shortest" in data:
        found = data["shortest"]
        lines.append(
            "no nonfaulty path joins them" if found is None else f"the shortest nonfaulty path has {found} links"
        )
    return lines


def _event_text(dual: Any, e: Any) -> str:
    """Return a decision of PRACTICAL in words."""
    node, other = _node_text(dual, e.node), _node_text(dual, e.other)
    trees = f"the tree of {e.nodes} node{'s' if e.nodes > 1 else ''}"
    return {
        "crossed": f"cross {node} : {other}",
        "stuck": f"the walk to {other} is stuck at {node}: {trees} there has no nearer nonfaulty neighbour and cannot grow",
        "faulty": f"{node}, across from {other}, is faulty",
        "ended": f"{trees} at {node} cannot grow: no exit is left",
        "limited": f"{trees} at {node} may not grow further",
    }[e.kind]


# ---------------------------------------------------------------- figures and notes


def _approximate_connected(point: Point) -> float:
    """Return 1 - 2 p^(m+1), the first-order probability that no end is isolated, an approximation of P(connected pair)."""
    return max(0.0, 1 - 2 * float(point["rate"]) ** (int(point["m"]) + 1))


def printed_fraction(item: str, name: str) -> float:
    """Return a percentage that the paper prints, as a fraction."""
    return inventory("li_peng_chu").value(item, name) / 100


class _Statement(NamedTuple):
    """A sentence of the paper on Figure 1: the success rate is above a fraction at some failure rates."""

    sentence: str
    label: str  #: the sentence in a legend
    fraction: float
    is_made_at: Callable[[Point], bool]


def _list_statements() -> tuple[_Statement, _Statement]:
    """Return the two sentences of the paper on Figure 1."""
    ninety, fifty, delivered = "success-ninety", "success-fifty", "percent delivered, above"
    below = printed_fraction(ninety, "failure rate, percent, below")
    up_to = printed_fraction(fifty, "failure rate, percent, up to")
    return (
        _Statement(
            '"success rate > 90% if the node failure rate is below 30%"',
            "paper: > 90% below 30%",
            printed_fraction(ninety, delivered),
            lambda point: point["rate"] < below,
        ),
        _Statement(
            '"in most cases > 50% up to 50%"',
            "paper: in most cases > 50% up to 50%",
            printed_fraction(fifty, delivered),
            lambda point: point["rate"] <= up_to,
        ),
    )


def _figure(results: Results, sheet: Any) -> None:
    """Plot Figures 1 and 2 side by side: success rate, and path length in percent, against the failure rate."""
    figure_name = "Figure" if any(_is_searched(point) for point, _ in results) else "As Figure"
    left, right = sheet.panels(2)
    left.lines(results, "delivered", x="rate", by="m")
    left.scale = "linear"
    left.limits(bottom=0)
    for statement in _list_statements():
        left.add_statement(statement.fraction, statement.label, where=statement.is_made_at)
    left.set_labels(y="successful routing rate", title=f"{figure_name} 1: pairs between which PRACTICAL delivers")
    _plot_lengths(results, right)
    right.set_labels(title=f"{figure_name} 2: length of the paths found, delivered messages alone")
    sheet.title(results.study.title)


def _plot_lengths(results: Results, panel: Any) -> None:
    """Plot the path length in percent of the shortest nonfaulty path, where it was searched for, and of d(s, t)."""
    if not any(tally.trials and _is_searched(point) for point, tally in results):
        panel.lines(results, "stretch", x="rate", by="m", factor=100)
        panel.set_labels(y="path length, % of d(s, t)")
        return
    panel.lines(results, "length_over_shortest", x="rate", by="m", factor=100)
    panel.reference(lambda point: 100 * results.estimates(point)["stretch"].value, "path length, % of d(s, t)")
    panel.set_labels(y="path length, % of the shortest nonfaulty path")


def _notes(results: Results) -> list[str]:
    """Return notes: the paper's statements against the results, routes that the tree limit stopped, and m > SEARCH_M."""
    limits = sum(tally.counts["limit"] for _, tally in results)
    discarded = sum(tally.counts["discarded"] for _, tally in results)
    return [
        *(_compare_statement(results, statement) for statement in _list_statements()),
        f"routes stopped by the tree limit of 2^14 nodes: {limits}; discarded trials: {discarded}",
        *_large_notes(results),
    ]


def _compare_statement(results: Results, statement: _Statement) -> str:
    """Return at how many points with trials a sentence is true, and at how many false, by the intervals."""
    points = [point for point, tally in results if tally.trials and statement.is_made_at(point)]
    estimates = [results.estimates(point)["delivered"] for point in points]
    true = sum(e.low > statement.fraction for e in estimates)
    false = sum(e.high <= statement.fraction for e in estimates)
    return f"{statement.sentence}: true at {true} points, false at {false}"


def _large_notes(results: Results) -> list[str]:
    """Return notes on the points too large for a search: the approximation from rate .3 on, and the statistics left out."""
    large = [point for point, tally in results if tally.trials and not _is_searched(point)]
    approximated = [point for point in large if point["rate"] >= 0.3]
    lines = []
    if approximated:
        lines.append("delivered beside 1 - 2 p^(m+1), an approximation of P(a nonfaulty path joins the pair):")
        for point in approximated:
            reached = estimate_text(results.estimates(point)["delivered"])
            lines.append(f"  m={point['m']},rate={point['rate']}: {reached} beside {_approximate_connected(point):.6f}")
    if large:
        lines.append(
            "delivered_connected, length_over_shortest and at_shortest need all 2^(2m+1) nodes and are left out above "
            f"m={layout.SEARCH_M}"
        )
    return lines


DUALCUBE_ROUTING = Study(
    name="dualcube-routing",
    title="Practical fault-tolerant routing in dual-cubes",
    source="Li, Peng & Chu, section 3, Figures 1 and 2",
    revision=2,
    axes=(
        Axis("m", "dimension of a cluster; DC(m) has 2^(2m+1) nodes", int, 1, 30),
        Axis("rate", "node failure rate", float, 0, 1, open_above=True),
    ),
    tally=layout.DUALCUBE_ROUTING,
    statistics=STATISTICS,
    kernel=lambda point: dispatch.DUALCUBE_ROUTING.kernel(*point.values()),
    grids=(
        Grid("figures", product_grid(m=range(5, 10), rate=RATES), 20_000),
        Grid("large", product_grid(m=[10, 12, 15, 20, 25, 30], rate=RATES), 100_000),
    ),
    explain=explain_trial,
    sample=sample_trial,
    figure=_figure,
    notes=Notes((_notes, ("delivered", "delivered_connected", "length_over_shortest", "at_shortest"))),
)
