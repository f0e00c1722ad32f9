"""Lee & Hayes (1988), section 3.1: ROUTE, ROUTE1(k) and ROUTE2(k) if every node is faulty with a given rate.

The status of a node is computed on demand, so Q_60 costs only the nodes that a message visits.  Closed forms exist for the
fraction of messages that ROUTE delivers and, for k = 1, that ROUTE1 delivers over the Hamming distance.  Interpretations R4-R9,
R16, R20.
"""

from typing import Any

from fastcube.errors import check_range
from fastcube.exact.closed_forms import basic_fraction, minimal_fraction
from fastcube.kernels.routing import dispatch, layout
from fastcube.measure.study import Axis, Explanation, Grid, Notes, Point, Sample, Study, Value, point_text, product_grid
from fastcube.networks.hypercube import Hypercube
from fastcube.results.results import Results

from .messages import describe_link_numbers, explain_routes, has_value
from .routing_statistics import make_ending_proportion, make_length_ratio, make_proportion

#: Node failure rates of the grid, from 0 to 1/2.
_RATES = [round(0.05 * i, 2) for i in range(11)]

#: Estimates are listed that differ from their closed form by more than this number of standard errors, with the closed form
#: outside the interval.
_FAR_STDERRS = 4.5

#: More than the rounding errors of a closed form, for estimates whose standard error is 0.
_ROUNDING = 1e-12


def _check_point(point: Point) -> None:
    check_range("k", point["k"], 1, int(point["n"]), f"for n={point['n']}")


def sample_trial(point: Point, key: int, trial: int) -> Sample:
    """Return a trial's network and ends; the ends are -1 if the trial is discarded (``discarded``)."""
    from fastcube.kernels.routing import replay
    from fastcube.networks.faults import RandomFaults

    n, rate = int(point["n"]), float(point["rate"])
    drawn, status_key, s, t = replay.routing_rate(key, trial, n, rate)
    ends = {"s": int(s), "t": int(t)} if drawn else {"s": -1, "t": -1}
    return Sample(
        Hypercube(n, RandomFaults(rate, int(status_key))),
        {"status_key": int(status_key), **ends, "discarded": not drawn},
    )


def _explain(point: Point, key: int, trial: int) -> Explanation:
    k = int(point["k"])
    sample = sample_trial(point, key, trial)
    data, lines = explain_sample(point, sample)
    data["k"] = k
    lines.insert(0, describe_link_numbers(sample.network))
    if sample.others["discarded"]:
        return Explanation("\n".join(lines), data)
    routes, route_lines = explain_routes(sample.network, data["s"], data["t"], k, ("ROUTE", "ROUTE1", "ROUTE2"))
    return Explanation("\n".join(lines + route_lines), data | routes)


def explain_sample(point: Point, sample: Sample) -> tuple[dict[str, Any], list[str]]:
    """Return a trial's sample, or the fact that it is discarded, as data and as lines of text."""
    cube, others, rate = sample.network, sample.others, float(point["rate"])
    if others["discarded"]:
        return {"discarded": True, "rate": rate}, ["  discarded: none of 2^20 attempts gives two nonfaulty ends"]
    status_key, s, t = (others[name] for name in ("status_key", "s", "t"))
    return {"status_key": status_key, "rate": rate, "s": s, "t": t}, [
        f"  every node faulty with probability {rate}, by status key {status_key:#x}",
        f"  from {cube.label(s)} to {cube.label(t)}, Hamming distance {cube.intact_distance(s, t)}",
    ]


def _figure(results: Results, sheet: Any) -> None:
    """Plot for each k the messages delivered over the Hamming distance, and the messages delivered at all."""
    ks = sorted({point["k"] for point, tally in results if tally.trials})
    panels = iter(sheet.panels(2, rows=max(1, len(ks))))
    for k in ks:
        _plot_minimal(results, next(panels), k)
        _plot_delivered(results, next(panels), k)
    sheet.title("Routing with every node faulty at a rate")


def _plot_minimal(results: Results, panel: Any, k: Value) -> None:
    """Plot the messages that ROUTE1(k) delivers over the Hamming distance, with the closed form if k = 1."""
    panel.lines(results, "route1_at_hamming", x="rate", by="n", at={"k": k})
    if k == 1:
        panel.reference(lambda point: float(minimal_fraction(point["n"], point["rate"])), "closed form")
    panel.scale = "linear"
    panel.set_labels(y="fraction of messages", title=f"ROUTE1({k}): delivered over the Hamming distance")


def _plot_delivered(results: Results, panel: Any, k: Value) -> None:
    """Plot the messages that ROUTE delivers, with the closed form, and in hollow markers the messages that ROUTE1(k) delivers."""
    panel.lines(results, "route_delivered", x="rate", by="n", at={"k": k})
    panel.reference(lambda point: float(basic_fraction(point["n"], point["rate"])), "closed form")
    panel.scale = "linear"
    route_lines = len(panel.measured_lines)
    panel.lines(results, "route1_delivered", x="rate", by="n", at={"k": k})
    for line in panel.measured_lines[route_lines:]:
        # the legend names only ROUTE's line of the same n
        line.label, line.table_label = None, f"n = {line.points[0]['n']}, ROUTE1({k})"
        line.look |= {"fillstyle": "none"}
    panel.set_labels(y="fraction of messages", title=f"Delivered: ROUTE, and above it ROUTE1({k}), hollow")


def _compare_closed_forms(results: Results) -> list[str]:
    """Return the closed forms, how many estimates agree with them, and a line for each that does not."""
    far, compared = [], 0
    for point, tally in results:
        forms = {"route_delivered": basic_fraction}
        if point["k"] == 1:
            forms["route1_at_hamming"] = minimal_fraction
        for name, form in forms.items() if tally.trials else ():
            estimate = results.estimates(point)[name]
            if not has_value(estimate):
                continue
            compared += 1
            value = float(form(int(point["n"]), float(point["rate"])))
            is_far = abs(estimate.value - value) > _FAR_STDERRS * estimate.stderr + _ROUNDING
            if is_far and not estimate.low <= value <= estimate.high:
                far.append(f"  {point_text(point)}: {name} {estimate.value:.6g}, closed form {value:.6g}")
    formulas = (
        "closed forms: route_delivered sum_h C(n,h)/(2^n-1) (1-p)^(h-1); for k = 1 route1_at_hamming "
        "sum_h C(n,h)/(2^n-1) prod_{m=2..h} (1-p^m)"
    )
    return [
        formulas,
        f"  {compared - len(far)} of {compared} estimates agree with them",
        *far,
    ]


def _notes(results: Results) -> list[str]:
    """Return the comparison with closed forms, and the numbers of discarded trials and of routes that were cut off."""
    lines = _compare_closed_forms(results)
    discarded = sum(tally.trials - tally.counts[_VALID] for _, tally in results)
    limits = sum(tally.counts["route2_limit"] for _, tally in results)
    if discarded or limits:
        lines.append(f"discarded trials: {discarded}; ROUTE2 routes cut off after expanding 2^16 nodes: {limits}")
    return lines


#: The counter of the trials that are not discarded.
_VALID = "valid"

ROUTING_RATE = Study(
    name="routing-rate",
    title="Routing in Q_n with every node faulty at a rate",
    source="Lee & Hayes 1988, section 3.1",
    revision=1,
    axes=(
        Axis("n", "dimension of the hypercube", int, 2, 62),
        Axis("rate", "node failure rate", float, 0, 1, open_above=True),
        Axis("k", "radius within which a node of ROUTE1 and ROUTE2 knows the faults", int, 1, 62),
    ),
    tally=layout.ROUTING_RATE,
    statistics=(
        make_proportion(
            "route1_at_hamming",
            "fraction of all messages that ROUTE1(k) delivers in as many links as the Hamming distance",
            _VALID,
            shown=True,
        ),
        make_proportion(
            "route_delivered",
            "fraction of all messages, each between two random nonfaulty nodes, that ROUTE delivers",
            _VALID,
            shown=True,
        ),
        make_proportion("route1_delivered", "fraction of all messages that ROUTE1(k) delivers", _VALID, shown=True),
        make_proportion("route2_delivered", "fraction of all messages that ROUTE2(k) delivers", _VALID, shown=True),
        make_proportion(
            "route2_at_hamming",
            "fraction of all messages that ROUTE2(k) delivers in as many links as the Hamming distance",
            _VALID,
        ),
        make_ending_proportion("route1", "livelock", _VALID),
        make_ending_proportion("route2", "livelock", _VALID),
        make_ending_proportion("route1", "stuck", _VALID),
        make_ending_proportion("route2", "stuck", _VALID),
        make_length_ratio("route1"),
        make_length_ratio("route2"),
    ),
    kernel=lambda point: dispatch.ROUTING_RATE.kernel(*point.values()),
    grids=(Grid("rates", product_grid(n=[6, 8, 10, 15, 20, 30, 45, 60], rate=_RATES, k=[1, 2]), 10**6),),
    check=_check_point,
    explain=_explain,
    sample=sample_trial,
    figure=_figure,
    notes=Notes((_notes, ("route_delivered", "route1_at_hamming", "route2_delivered"))),
)
