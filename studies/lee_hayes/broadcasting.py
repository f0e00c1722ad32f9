"""Lee & Hayes (1988), section 4: BROADCAST, BROADCAST1(1) and BROADCAST2(1) on the same fault sets from the same sources.

Interpretations R11-R15, R17 and R19.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from fastcube.errors import check_integer, check_range
from fastcube.exact.closed_forms import mean_reached
from fastcube.kernels.broadcasting import dispatch, layout
from fastcube.measure.binned import make_quantiles
from fastcube.measure.grid import longest_axis
from fastcube.measure.random_messages import AXES, MAX_FAULTS
from fastcube.measure.statistics import Mean, Statistic
from fastcube.measure.study import Explanation, Grid, Notes, Point, Sample, Study, check_cases, point_text, product_grid
from fastcube.measure.tally import Tally
from fastcube.networks.hypercube import Hypercube
from fastcube.results.results import Results

from .messages import explain_faults_and_ends
from .routing_statistics import make_proportion

#: Largest number of fault sets that an enumeration may take.
_MOST_CASES = 10**7


def _check_point(point: Point) -> None:
    n = int(point["n"])
    check_range("f", point["f"], 0, min(2**n - 1, MAX_FAULTS), f"for n={n}, which leaves a nonfaulty node")
    check_range("links", point["links"], 0, min(n * 2 ** (n - 1), MAX_FAULTS), f"for n={n}")


def _enumeration(point: Point) -> Tally:
    """Count all fault sets without node 0, the source."""
    from fastcube.kernels.broadcasting.scalar import BROADCAST_SETS

    n, f = int(point["n"]), int(point["f"])
    check_integer("links", point["links"], 0, 0, "for exact values")
    sets = check_cases(math.comb(2**n - 1, f), _MOST_CASES, point)
    slots, links = layout.BROADCAST.new_tally(), 0
    BROADCAST_SETS(np.uint64(0), 0, sets, np.array([n, f, links, *range(f)], np.float64), slots)
    return Tally.from_slots(layout.BROADCAST, 0, sets, slots)


def _sample_trial(point: Point, key: int, trial: int) -> Sample:
    from fastcube.kernels.broadcasting import replay

    n = int(point["n"])
    nodes, links, ends = replay.broadcast(key, trial, n, int(point["f"]), int(point["links"]))
    return Sample(Hypercube(n, nodes, links.tolist()), {"s": int(ends[0])})


def _explain(point: Point, key: int, trial: int) -> Explanation:
    from fastcube.algorithms.broadcasting import broadcast
    from fastcube.errors import ParameterError

    sample = _sample_trial(point, key, trial)
    cube, s = sample.network, sample.others["s"]
    data, lines, unsafe = explain_faults_and_ends(sample)
    source = "unsafe" if any(s in part for part in unsafe.subcubes) else "active"
    nonfaulty = 2**cube.bits - len(data["faulty_nodes"])
    lines.append(f"  from {cube.label(s)}, which is {source}, to {nonfaulty} nonfaulty nodes")
    for algorithm in ("BROADCAST", "BROADCAST1", "BROADCAST2"):
        try:
            outcome = broadcast(cube, s, algorithm)
        except ParameterError as error:  # an unsafe subcube is too large to simulate
            data[algorithm] = None
            lines.append(f"  {algorithm}: {error}")
            continue
        data[algorithm] = {"reached": outcome.reached, "steps": outcome.steps, "copies": outcome.copies}
        reached = "all" if outcome.reached == nonfaulty else f"{outcome.reached}"
        lost = f", {outcome.lost} of them lost" if outcome.lost else ""
        lines.append(f"  {algorithm}: {reached} reached in {outcome.steps} time units by {outcome.copies} copies{lost}")
    return Explanation("\n".join(lines), data)


# ---------------------------------------------------------------- figures and notes

#: Most lines of a panel; with more, the axis and the lines are exchanged.
_MOST_LINES = 9

#: Least number of trials with unsafe sources for which a point is drawn.
_LEAST_EVENTS = 100


def _figure(results: Results, sheet: Any) -> None:
    """Plot the nodes that BROADCAST misses, that BROADCAST1 misses from unsafe sources, and the steps of BROADCAST2."""
    by = longest_axis((point for point, _ in results), "f", "links")
    x = "n"
    if len({point[by] for point, _ in results}) > _MOST_LINES:  # f grows with n, so the axes are exchanged
        x, by = by, "n"
    frequent = {
        point_text(point) for point, tally in results if tally.counts["broadcast1_unsafe_trials"] >= _LEAST_EVENTS
    }
    basic_panel, unsafe_panel, steps_panel = sheet.panels(3)
    missed_label = "fraction of the nonfaulty nodes"
    basic_panel.lines(results, "broadcast_coverage", x=x, by=by, failures=True)
    basic_panel.set_labels(y=missed_label, title="BROADCAST: not reached")
    unsafe_panel.lines(
        results, "broadcast1_unsafe_coverage", x=x, by=by, at=lambda point: point_text(point) in frequent, failures=True
    )
    unsafe_panel.set_labels(y=missed_label, title="BROADCAST1 from unsafe sources: not reached")
    steps_panel.lines(results, "broadcast2_steps", x=x, by=by)
    if x == "n":  # otherwise each line has a bound of its own
        steps_panel.add_statement(lambda point: point["n"], "paper: n from active sources")
        steps_panel.add_statement(lambda point: point["n"] + 1, "paper: at most n + 1")
    steps_panel.set_labels(y="mean number of time units", title="BROADCAST2: steps")
    basic_panel.scale = unsafe_panel.scale = "log"
    steps_panel.scale = "linear"
    sheet.title("Broadcasting among random faults in Q_n (BROADCAST1 and BROADCAST2: where Q_n is not unsafe)")


def _theorem_notes(results: Results) -> list[str]:
    """Return notes on the trials for which Theorems 5 and 6 hold, and on trials that are left out."""

    def total_count(name: str) -> int:
        return sum(int(tally.counts[name]) for _, tally in results)

    late_points = sum(tally.maxima["broadcast2_steps"][0] > int(point["n"]) + 1 for point, tally in results)
    where = "every point" if not late_points else f"all but {late_points} points"
    broadcast2, from_active, from_unsafe = (
        f"{total_count(f'{name}_complete'):,} of {total_count(f'{name}_trials'):,} trials"
        for name in ("broadcast2", "broadcast1", "broadcast1_unsafe")
    )
    lines = [
        f"Theorem 6: BROADCAST2 reaches all nodes in {broadcast2}, within n + 1 units at {where}",
        f"Theorem 5: BROADCAST1 from active sources reaches all nodes in {from_active}",
        f"BROADCAST1 from unsafe sources, where it is not meant to run, reaches all in {from_unsafe}",
    ]
    if limit := total_count("limit"):
        lines.append(f"trials left out, because their descents would enter more than 2^22 regions: {limit}")
    return lines


def mean_lost(point: Point) -> float:
    """Return the exact mean number of nonfaulty nodes that BROADCAST does not reach."""
    n, f = int(point["n"]), int(point["f"])
    return float(2**n - f - mean_reached(n, f, int(point["links"])))


def _closed_form_notes(results: Results) -> list[str]:
    """Return notes that compare the means of BROADCAST's lost nodes with their closed form.

    They say at how many points both agree, at which they differ, and at which points trials cannot show the mean.  A fault j
    dimensions down the tree loses 2^j nodes, and one of f faults is there with probability about f / 2^j, so each j contributes
    about equally to the mean.  T trials contain such faults up to j = log2(f T).
    """
    agreeing, differing, unseen = 0, [], []
    for point, tally in results:
        if not tally.counts["broadcast_trials"]:
            continue
        exact, trials, n = mean_lost(point), tally.counts["broadcast_trials"], int(point["n"])
        e = results.estimates(point)["broadcast_coverage"]
        nonfaulty = 2**n - int(point["f"])
        lost = float(nonfaulty - Fraction(tally.counts["broadcast_reached"], trials))
        seen_depth = math.log2(max(1, point["f"] + point["links"]) * trials)
        reported = f"  {point_text(point)}: {lost:.4g} lost per trial, closed form {exact:.4g}"
        if seen_depth < n - 1:
            unseen.append(f"{reported}; losses of more than 2^{seen_depth:.0f} nodes are too rare to occur")
        elif e.low <= 1 - exact / nonfaulty <= e.high:
            agreeing += 1
        else:
            differing.append(reported)
    heading = "BROADCAST's lost nodes, closed form: the estimate agrees at"
    lines = [f"{heading} {agreeing} of {agreeing + len(differing)} points", *differing]
    if unseen:
        lines.append(
            "Part of the mean comes from losses too rare for this number of trials; the standard error leaves them out:"
        )
    return lines + unseen


# ---------------------------------------------------------------- the study

#: The broadcasts that are counted, by the beginning of their counters: the algorithm, and the trials with such a broadcast.
_ALGORITHMS = {
    "broadcast2": ("BROADCAST2(1)", "trials with an active node"),
    "broadcast1": ("BROADCAST1(1)", "trials with an active source"),
    "broadcast1_unsafe": ("BROADCAST1(1)", "trials with an active node, but an unsafe source"),
    "broadcast": ("BROADCAST", "all trials"),
}


def _nonfaulty_count(point: Point) -> float:
    return float(2 ** int(point["n"]) - int(point["f"]))


def _most_steps(point: Point) -> float:
    """Return the bound n + 1: CONTROL loses a bit per time unit, and BROADCAST2's source may add a unit."""
    return float(point["n"] + 1)


def _make_statistics(name: str, has_steps: bool = True, shown: bool = False) -> tuple[Statistic, ...]:
    """Return the statistics of one entry of ``_ALGORITHMS``: completeness, coverage, and if ``has_steps`` the time units."""
    (title, among), condition = _ALGORITHMS[name], f"{name}_trials"
    coverage = Mean(
        name=f"{name}_coverage",
        description=f"mean fraction of the nonfaulty nodes, source included, that {title} reaches, among {among}",
        total=f"{name}_reached",
        nonzero=condition,
        condition=condition,
        unit=_nonfaulty_count,
        shown=name in ("broadcast", "broadcast1_unsafe"),
    )
    completeness = make_proportion(
        f"{name}_complete",
        f"fraction of broadcasts by {title} that reach every nonfaulty node, among {among}",
        condition,
        shown,
    )
    if not has_steps:
        return completeness, coverage
    return (
        completeness,
        coverage,
        Mean(
            name=f"{name}_steps",
            description=f"mean number of time units, a copy per node in each, until {title} reaches the last node that it "
            f"reaches, among {among}",
            total=f"{name}_steps",
            nonzero=condition,
            condition=condition,
            bound=_most_steps,
            shown=shown,
        ),
        *make_quantiles(
            f"{name}_steps",
            f"number of time units, a copy per node in each, until {title} reaches the last node that it reaches, among {among}",
            f"{name}_steps_bins",
            percents=(50, 95),
            condition=condition,
            bound=_most_steps,
            shown=False,
        ),
    )


BROADCAST = Study(
    name="broadcast",
    title="Broadcasting among random faults in Q_n",
    source="Lee & Hayes 1988, section 4",
    revision=2,
    axes=AXES,
    tally=layout.BROADCAST,
    statistics=(
        *_make_statistics("broadcast2", shown=True),
        *_make_statistics("broadcast1"),
        *_make_statistics("broadcast1_unsafe", has_steps=False),
        *_make_statistics("broadcast"),
        make_proportion(
            "some_active", "fraction of fault sets that leave some node active, which is neither faulty nor unsafe"
        ),
        make_proportion(
            "unsafe_source", "fraction of sources that are unsafe, among trials with an active node", "some_active"
        ),
    ),
    kernel=lambda point: dispatch.BROADCAST.kernel(*point.values()),
    grids=(
        Grid("nodes", product_grid(n=range(4, 13), f=[1, 2, 3, 4, 6, 8], links=[0]), 10**6),
        Grid("large", [{"n": n, "f": f, "links": 0} for n in (16, 20, 30, 40, 60) for f in (n // 2, n, 2 * n)], 10**6),
        Grid("links", product_grid(n=range(4, 11), f=[0, 2], links=range(1, 5)), 200_000),
    ),
    check=_check_point,
    enumeration=_enumeration,
    explain=_explain,
    sample=_sample_trial,
    figure=_figure,
    notes=Notes(
        (_theorem_notes, ("broadcast2_complete", "broadcast1_complete", "broadcast1_unsafe_complete")),
        (_closed_form_notes, ("broadcast_coverage",)),
    ),
)
