"""The study ``unsafe-critical``: probability that all of Q_n is unsafe if every node is faulty with probability p.

Lee & Hayes (1988), section 3.2, ask which numbers of faults make a hypercube unsafe.  With independent faults this is 2-neighbour
bootstrap percolation on Q_n.  Its critical probability is known to leading order (``threshold``) and, as far as we know, had not
been computed.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fastcube.algorithms.unsafe import find_unsafe
from fastcube.exact.unsafe import critical_rate
from fastcube.kernels.unsafe import dispatch, layout
from fastcube.measure.binned import make_quantiles
from fastcube.measure.estimate import Estimate, proportion
from fastcube.measure.fault_sets import list_faulty_nodes
from fastcube.measure.statistics import Mean, Point, Proportion
from fastcube.measure.study import Axis, Explanation, Grid, Notes, Sample, Study, join_limited
from fastcube.networks.hypercube import Hypercube
from fastcube.plot.style import GREY
from fastcube.resources import read_json
from fastcube.results.results import Results

from . import critical_grid, critical_table
from .threshold import (
    LAMBDA,
    Count,
    Curve,
    Interval,
    bracket_threshold,
    corrections,
    counts_of,
    fit_curve,
    leading_order,
)
from .unsafe import ALL_UNSAFE_TEXT, ROUNDS_TEXT, UNSAFE_FRACTION_TEXT

#: p_1/2 to two or three digits, the centre of the default grid: exact for n = 2..6, from 40,000 trials or more for larger n.
CENTRES: dict[int, float] = {int(n): p for n, p in read_json("critical")["centres"].items()}

#: The grid's p as multiples of these centres.  They are dense near p_1/2, where a bracket ends at points of the grid.
FACTORS = (0.4, 0.5, 0.65, 0.75, 0.84, 0.9, 0.95, 0.98, 1.0, 1.02, 1.05, 1.1, 1.18, 1.3, 1.5, 1.8)


def _round_bound(point: Point) -> float:
    """Return the bound floor(n^2 / 3) on the rounds (Przykucki 2012), at least 1: a quantile takes 0 for an unknown bound."""
    return float(max(1, int(point["n"]) ** 2 // 3))


def _grid_points() -> list[Point]:
    return [
        {"n": n, "p": float(f"{centre * factor:.3g}")}
        for n, centre in CENTRES.items()
        for factor in FACTORS
        if centre * factor < 1
    ]


def _sample_trial(point: Point, key: int, trial: int) -> Sample:
    from fastcube.kernels.unsafe import replay

    n = int(point["n"])
    return Sample(Hypercube(n, replay.unsafe_critical(key, trial, n, float(point["p"]))))


def _explain(point: Point, key: int, trial: int) -> Explanation:
    n = int(point["n"])
    sample = _sample_trial(point, key, trial)
    faulty, found = list_faulty_nodes(sample), find_unsafe(sample.network)
    largest = max(found.subcubes, key=lambda part: part.dimension, default=None)
    lines = [
        f"  {len(faulty)} faulty nodes: {join_limited(map(sample.network.label, faulty), 32)}",
        f"  {found.count} unsafe nodes, {found.rounds} rounds",
        f"  {len(found.subcubes)} maximal subcubes" + (f", the largest {largest}" if largest else ""),
        f"  Q_{n} is {'unsafe' if found.all_unsafe else 'not unsafe'}",
    ]
    data = {
        "faulty_nodes": faulty,
        "unsafe_nodes": found.count,
        "rounds": found.rounds,
        "all_unsafe": found.all_unsafe,
        "largest_subcube": None if largest is None else str(largest),
    }
    return Explanation("\n".join(lines), data)


# ---------------------------------------------------------------- notes and figures


def _interval_text(low: float, high: float) -> str:
    return f"[{low:.5g}, {high:.5g}]"


def _notes(results: Results) -> list[str]:
    """Return the lines of the table of p_1/2: its bracket, fit, exact value and leading order for each n."""
    lines = [
        "p_1/2 is where Q_n is unsafe with probability 1/2.  bracket: at least 95%, from monotonicity and Clopper-Pearson",
        "limits alone.  fit: logistic regression on a quintic in log p, 95% limits by the delta method (asymptotic).",
        "leading: (16 lambda / n^2) 2^(-2 sqrt n), lambda = 1.16577 (Balogh, Bollobas & Morris 2010).",
        "",
        f"{'n':>2}  {'bracket':>22}  {'fit':>11}  {'95% limits':>24}  {'exact':>12}  {'leading':>9}  {'ratio':>5}  p_.8/p_.2",
    ]
    return lines + [_threshold_line(n, counts) for n, counts in counts_of(results).items()]


def _threshold_line(n: int, counts: Sequence[Count]) -> str:
    """Return the table's line for one n; a dash stands for a value that is not known."""
    curve = fit_curve(counts)
    leading = leading_order(n)
    exact = f"{critical_rate(n):.10f}" if n <= 6 else "-"
    fit = limits = over_leading = ratio = "-"
    if curve is not None:
        p, low, high = curve.quantile()
        fit, limits, over_leading = f"{p:.6g}", _interval_text(low, high), f"{p / leading:.3f}"
        sharpness = curve.quantile(0.8).value / curve.quantile(0.2).value
        ratio = "-" if math.isnan(sharpness) else f"{sharpness:.3f}"
    bracket = _interval_text(*bracket_threshold(counts))
    return (
        f"{n:>2}  {bracket:>22}  {fit:>11}  {limits:>24}  {exact:>12}  {leading:>9.4g}  {over_leading:>5}  {ratio:>9}"
    )


def _figure(results: Results, sheet: Any) -> None:
    """Plot P(Q_n unsafe) against p / p_1/2 (left), and p_1/2 in units in which its limit is lambda against 1 / sqrt n (right)."""
    fitted = {
        n: (counts, curve) for n, counts in counts_of(results).items() if (curve := fit_curve(counts)) is not None
    }
    if not fitted:  # p cannot be scaled by p_1/2
        panel = sheet.panel()
        panel.lines(results, "all_unsafe", x="p", by="n")
        panel.scale = "linear"
        panel.set_labels(title=results.study.title)
        return
    left, right = sheet.panels(2)
    _plot_probability(left, fitted)
    _plot_threshold(right, {n: curve.quantile() for n, (_, curve) in fitted.items()})


def _fine_figure(results: Results, sheet: Any) -> None:
    """Plot p_1/2 in units in which its limit is lambda against 1 / sqrt n (left), and p_.8 / p_.2 (right)."""
    known = {n: values for n, values in critical_grid.sharp_values(results).items() if values is not None}
    left, right = sheet.panels(2)
    _plot_threshold(left, {n: values.half for n, values in known.items()})
    right.series("fitted", [(n, _scale_interval(values.ratio)) for n, values in known.items()], like=1, joined=False)
    right.scale = "linear"
    right.set_labels(x="n", y="p_.8 / p_.2", title="How sharp the threshold is")


#: Largest number of dimensions whose curve is drawn.
_MOST_CURVES = 6


def _plot_probability(panel: Any, fitted: dict[int, tuple[list[Count], Curve]]) -> None:
    """Plot the probability against p / p_1/2 for some n, evenly spaced among all."""
    sizes = list(fitted)
    last = min(len(sizes), _MOST_CURVES) - 1
    chosen = dict.fromkeys(sizes[round(i * (len(sizes) - 1) / max(last, 1))] for i in range(last + 1))
    for i, n in enumerate(chosen):
        counts, curve = fitted[n]
        half = curve.quantile().value
        pairs = [(p / half, proportion(events, trials)) for p, events, trials in counts]
        panel.series(f"n = {n}", pairs, like=i, of=len(chosen))
    panel.by = ("n",)
    panel.scale = "linear"
    panel.axes.axhline(0.5, color=GREY, linewidth=0.8, zorder=0)
    panel.axes.axvline(1.0, color=GREY, linewidth=0.8, zorder=0)
    panel.set_labels(
        x="p / p_1/2(n)",
        y="probability that Q_n is unsafe",
        title="Where Q_n becomes unsafe, relative to p_1/2",
    )


def _scale_interval(interval: Interval, factor: float = 1.0) -> Estimate:
    return Estimate(factor * interval.value, math.nan, factor * interval.low, factor * interval.high)


def _plot_threshold(panel: Any, halves: dict[int, Interval]) -> None:
    """Plot p_1/2 against 1 / sqrt n: fitted, exact, the lower bound and the limit."""
    fitted = [(n**-0.5, _scale_interval(half, LAMBDA / leading_order(n))) for n, half in halves.items()]
    panel.series("fitted", fitted, like=1, joined=False)
    exact = range(2, 7)
    panel.marks(
        [n**-0.5 for n in exact], [critical_rate(n) * LAMBDA / leading_order(n) for n in exact], "exact, n = 2..6"
    )
    x = np.linspace(0.002, 0.36, 200)
    bound = [LAMBDA * corrections(v**-2)[0] for v in x]
    panel.curve(x, bound, "lower bound for large n:\nλ (1 + log n/√n)")
    panel.curve([0], [LAMBDA], "limit: λ = 1.16577", marker="*", markersize=12, linestyle="none", clip_on=False)
    panel.limits(left=0, right=0.75, bottom=0)
    panel.set_labels(
        x="1/√n",
        y="p_1/2 n^2 2^(2√n) / 16",
        title=f"p_1/2 in units of its asymptotic form{'' if halves else ', too few points to fit any n'}",
    )


UNSAFE_CRITICAL = Study(
    name="unsafe-critical",
    title="Probability that Q_n becomes unsafe when every node is faulty with probability p",
    source="after Lee & Hayes 1988, section 3.2; 2-neighbour bootstrap percolation, Balogh, Bollobas & Morris 2010",
    revision=2,
    axes=(
        Axis("n", "dimension of the hypercube", int, 1, layout.MOST_CRITICAL_DIMENSIONS),
        Axis("p", "probability that a node is faulty", float, 0.0, 1.0),
    ),
    tally=layout.UNSAFE_CRITICAL,
    statistics=(
        Proportion(
            name="all_unsafe",
            description=ALL_UNSAFE_TEXT,
        ),
        Mean(
            name="unsafe_fraction",
            description=UNSAFE_FRACTION_TEXT,
            total="unsafe_nodes",
            nonzero="with_unsafe",
            unit=lambda point: float(2 ** int(point["n"])),
        ),
        Mean(
            name="rounds",
            description=ROUNDS_TEXT,
            total="rounds",
            nonzero="with_unsafe",
            bound=_round_bound,
        ),
        *make_quantiles(
            "rounds",
            "number of rounds in which FIND_UNSAFE marks nodes",
            "rounds_bins",
            percents=(50, 95),
            bound=_round_bound,
        ),
    ),
    kernel=lambda point: dispatch.UNSAFE_CRITICAL.kernel(*point.values()),
    grids=(
        Grid("default", _grid_points(), 100_000),
        Grid("fine", critical_grid.points(range(7, 25)), critical_grid.trials, _fine_figure, critical_table.notes),
        Grid("fine-28", critical_grid.points(range(25, 29)), critical_grid.trials, _fine_figure, critical_table.notes),
    ),
    explain=_explain,
    sample=_sample_trial,
    figure=_figure,
    notes=Notes((_notes, ("all_unsafe",))),
)
