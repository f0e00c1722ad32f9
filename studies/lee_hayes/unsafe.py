"""Lee & Hayes (1988), "Routing and Broadcasting in Faulty Hypercube Computers": unsafe nodes (R1-R3).

``unsafe-fraction`` is Figure 8, the average fraction of unsafe nodes in Q_n under f random faulty nodes.  Its grid ``large``
covers n = 12..20, as far as direct sampling finds unsafe nodes; ``unsafe-rare`` (``rare``) covers rarer ones.
"""

import functools
import math
from typing import Any

from fastcube.algorithms.unsafe import find_unsafe
from fastcube.errors import check_range
from fastcube.exact.bounds import large_subcube_bounds, max_unsafe
from fastcube.exact.unsafe import mean_close_pairs
from fastcube.kernels.unsafe import dispatch, layout
from fastcube.kernels.unsafe.layout import CLASSES, SPLIT_ABOVE
from fastcube.measure.binned import Distribution, TailProportion, make_quantiles
from fastcube.measure.fault_sets import list_faulty_nodes
from fastcube.measure.inventory import inventory
from fastcube.measure.statistics import ClassBounds, Mean, Proportion, SplitMean
from fastcube.measure.study import (
    Axis,
    Explanation,
    Grid,
    Notes,
    Point,
    Sample,
    Study,
    join_limited,
    point_text,
    product_grid,
)
from fastcube.networks.hypercube import Hypercube
from fastcube.results.results import Results

#: With fewer expected close pairs (two faults within distance 2) than this, direct sampling finds few unsafe nodes.
_RARE = 0.01

#: A mean is split by classes if the last class is proved to be rarer than this.  Measured at 10^7 trials: 300 times narrower at
#: (20, 10), 23 at (18, 9), a quarter wider at (16, 6); split everywhere it would be up to twice as wide at n = 13 and 14.
_RARE_CLASS = 1e-6


def _check_point(point: Point) -> None:
    n = int(point["n"])
    check_range("f", point["f"], 0, dispatch.most_faults(n), f"for n={n}")


def _node_count(point: Point) -> float:
    return float(2 ** int(point["n"]))


#: The bounds of a class that is empty at a point.
_EMPTY_CLASS = ClassBounds(0.0, 0.0, 0.0)


@functools.cache
def _classes(n: int, f: int) -> tuple[ClassBounds, ...]:
    """Return least and most unsafe nodes of each class and a proved bound on its contribution to the mean, all over 2^n.

    Trials are in classes by their number of unsafe nodes, with the limits ``CLASSES``.  f faults make at most ``max_unsafe``
    nodes unsafe, and u unsafe nodes need a subcube of enough dimensions, which is rare.  There is only one class up to n =
    ``SPLIT_ABOVE``, and if the last class is not proved to be rare, because the trials then give the better bound.
    """
    most = max_unsafe(n, f, n)
    if most == 0:
        return (_EMPTY_CLASS,) * (1 + len(CLASSES))
    least = [1, *(u for u in CLASSES if u <= most)] if n > SPLIT_ABOVE else [1]
    need = [next((d for d in range(1, n + 1) if max_unsafe(n, f, d) >= u), n) for u in least]
    fractions = large_subcube_bounds(n, f, tuple(need))
    if fractions[-1] > _RARE_CLASS:
        least, fractions = [1], fractions[:1]
    rows = [
        ClassBounds(u / 2**n, top / 2**n, fraction * top / 2**n)
        for u, top, fraction in zip(least, [*(u - 1 for u in least[1:]), most], fractions, strict=True)
    ]
    return (*rows, *[_EMPTY_CLASS] * (1 + len(CLASSES) - len(rows)))


def _classes_at(point: Point) -> tuple[ClassBounds, ...]:
    return _classes(int(point["n"]), int(point["f"]))


def most_rounds(point: Point) -> float:
    """Return floor(d^2 / 3) (Przykucki 2012), d the lesser of n and 2 (f - 1), the most dimensions that f faults span."""
    return float(max(0, min(int(point["n"]), 2 * (int(point["f"]) - 1))) ** 2 // 3)


def can_span(point: Point) -> bool:
    """Whether f faults can make all of Q_n unsafe, which takes at least ceil(n/2) + 1 faults."""
    return int(point["f"]) > (int(point["n"]) + 1) // 2


def explain_fault_set(n: int, faulty: list[int]) -> Explanation:
    """Return the unsafe nodes of a fault set, found by FIND_UNSAFE, as text and as data."""
    found = find_unsafe(Hypercube(n, faulty_nodes=faulty))
    large = [str(c) for c in found.subcubes if c.dimension > 0]
    lines = [
        f"  {len(faulty)} faulty nodes: {join_limited((f'{v:0{n}b}' for v in faulty), 64)}",
        f"  {found.count} unsafe nodes, a fraction of {found.fraction:.6g}, marked in {found.rounds} rounds",
        f"  maximal subcubes of more than one node: {join_limited(large, 64)}",
        f"  Q_{n} is {'unsafe: no node is active' if found.all_unsafe else 'not unsafe'}",
    ]
    data = {
        "faulty_nodes": faulty,
        "unsafe_nodes": found.count,
        "rounds": found.rounds,
        "all_unsafe": found.all_unsafe,
        "subcubes": large,
    }
    return Explanation("\n".join(lines), data)


def sample_nodes(point: Point, key: int, trial: int) -> Sample:
    """Return f distinct faulty nodes of Q_n, sampled for a trial."""
    from fastcube.kernels.unsafe import replay

    n = int(point["n"])
    return Sample(Hypercube(n, replay.unsafe_fraction(key, trial, n, int(point["f"]))))


def _explain(point: Point, key: int, trial: int) -> Explanation:
    return explain_fault_set(int(point["n"]), list_faulty_nodes(sample_nodes(point, key, trial)))


# ---------------------------------------------------------------- Figure 8


def _stated_limit() -> float:
    """Return the limit that section 3.2 states for Figure 8, for f <= floor(n/2) and n >= 5."""
    return inventory("lee_hayes").value("fifteen-percent")


def _has_stated_limit(point: Point) -> bool:
    """Whether section 3.2 makes a statement about this point."""
    return int(point["n"]) >= 5 and 1 <= int(point["f"]) <= int(point["n"]) // 2


def _figure(results: Results, sheet: Any) -> None:
    panel = sheet.panel()
    panel.lines(results, "unsafe_fraction", x="n", by="f")
    panel.add_statement(_stated_limit(), "paper: < 15% for f <= floor(n/2), n >= 5", where=_has_stated_limit)
    panel.set_labels(
        y="average fraction of unsafe nodes", title="Average fraction of unsafe nodes in Q_n with f faulty nodes"
    )


def _notes(results: Results) -> list[str]:
    rows = [
        (point, results.estimates(point)["unsafe_fraction"])
        for point, tally in results
        if tally.trials and _has_stated_limit(point)
    ]
    none = [p for p, tally in results if tally.trials and p["f"] > 1 and not tally.counts["with_unsafe"]]
    advice = []
    if none:
        where = point_text(none[0]) + (f" and {len(none) - 1} more" if len(none) > 1 else "")
        advice.append(f"No unsafe node was seen at {where}: fastcube run unsafe-rare says how rare they are.")
    if not rows:
        return advice
    above = [point_text(point) for point, e in rows if e.low >= _stated_limit()]
    below = [point for point, e in rows if e.high < _stated_limit()]
    lines = [
        f"paper: less than 15% unsafe for f <= floor(n/2), n >= 5: true at {len(below)} of {len(rows)} such points"
    ]
    if above:
        lines.append(f"  false at {', '.join(above)}")
    return lines + advice


# ---------------------------------------------------------------- large cubes


def _large_grid() -> list[Point]:
    return [{"n": n, "f": f} for n in (12, 14, 16, 18, 20) for f in (n // 4, n // 2, n, 3 * n // 2, 2 * n)]


def _close_pairs(point: Point) -> float:
    """Return the mean number of close pairs as the bound of a probability; NaN above 1, and for fewer than two faults."""
    if point["f"] < 2:
        return math.nan
    pairs = float(mean_close_pairs(int(point["n"]), int(point["f"])))
    return pairs if pairs <= 1 else math.nan


def _large_figure(results: Results, sheet: Any) -> None:
    """Plot the fraction of trials with a close pair, without which no node is unsafe, and its upper bound."""
    panel = sheet.panel()
    panel.lines(results, "close_pair", x="f", by="n")
    panel.reference(
        _close_pairs,
        "expected close pairs:\nC(f, 2) (n + C(n, 2)) / (2^n - 1)",
    )
    panel.set_labels(
        y="probability that some two faults are within distance 2",
        title="Unsafe nodes of Q_n need two faults within distance 2",
    )


def _large_notes(results: Results) -> list[str]:
    rare = [
        point_text(point)
        for point, tally in results
        if tally.trials and mean_close_pairs(int(point["n"]), int(point["f"])) < _RARE and point["f"] > 1
    ]
    if not rare:
        return []
    return [
        f"Fewer than {_RARE} close pairs of faults per trial are expected at {'; '.join(rare)}:",
        "there fastcube run unsafe-rare is more precise, because all its fault sets have a close pair.",
    ]


# ---------------------------------------------------------------- the study

UNSAFE_FRACTION = Study(
    name="unsafe-fraction",
    title="Average fraction of unsafe nodes in Q_n with f random faulty nodes",
    source="Lee & Hayes 1988, Figure 8",
    revision=1,
    axes=(
        Axis("n", "dimension of the hypercube", int, 1, 62),
        Axis("f", "number of faulty nodes", int, 0, 65536),
    ),
    tally=layout.UNSAFE_FRACTION,
    statistics=(
        SplitMean(
            name="unsafe_fraction",
            description="mean fraction of the 2^n nodes that are unsafe: nonfaulty with two or more faulty or unsafe neighbours",
            total="unsafe_nodes",
            total_squares="unsafe_nodes_squared",
            nonzero="with_unsafe",
            reached=tuple(f"reached_{u}" for u in CLASSES),
            totals=tuple(f"unsafe_nodes_{u}" for u in CLASSES),
            squares=tuple(f"unsafe_nodes_squared_{u}" for u in CLASSES),
            classes=_classes_at,
            unit=_node_count,
        ),
        Proportion(
            name="all_unsafe",
            description="probability that each of the 2^n nodes is faulty or unsafe, so that no node is active",
            possible=can_span,
        ),
        Mean(
            name="rounds",
            description="mean number of synchronous rounds in which FIND_UNSAFE marks nodes, 0 if no node is unsafe, "
            "among trials without an unsafe subcube above dimension 30",
            total="rounds",
            nonzero="with_unsafe",
            bound=most_rounds,
            condition="rounds_known",
        ),
        Proportion(
            name="close_pair",
            events="close_pair",
            description="probability that some two faulty nodes are within Hamming distance 2",
            possible=lambda point: int(point["f"]) > 1,
        ),
        Distribution(
            name="rounds_distribution",
            description="fraction of trials in which FIND_UNSAFE marks nodes in 0, 1, ..., 31 or more rounds, "
            "among trials without an unsafe subcube above dimension 30",
            counter="rounds_bins",
            label="rounds",
            condition="rounds_known",
        ),
        TailProportion(
            name="rounds_above_2",
            description="probability that FIND_UNSAFE marks nodes in three or more rounds, "
            "among trials without an unsafe subcube above dimension 30",
            counter="rounds_bins",
            least=3,
            condition="rounds_known",
            shown=False,
        ),
        *make_quantiles(
            "rounds",
            "number of rounds in which FIND_UNSAFE marks nodes, among trials without an unsafe subcube above dimension 30",
            "rounds_bins",
            percents=(50, 95),
            bound=most_rounds,
            condition="rounds_known",
            shown=False,
        ),
    ),
    kernel=lambda point: dispatch.UNSAFE_FRACTION.kernel(*point.values()),
    alternatives=lambda point: dispatch.UNSAFE_FRACTION.alternatives(*point.values()),
    grids=(
        Grid("figure-8", product_grid(n=range(5, 13), f=range(1, 8)), 10**6),
        Grid(
            "large",
            _large_grid(),
            10**7,
            figure=_large_figure,
            notes=Notes((_large_notes, ("close_pair", "unsafe_fraction"))),
        ),
    ),
    check=_check_point,
    explain=_explain,
    sample=sample_nodes,
    figure=_figure,
    notes=Notes((_notes, ("unsafe_fraction",))),
)
