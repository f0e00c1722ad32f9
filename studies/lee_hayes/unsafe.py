"""Lee & Hayes (1988), "Routing and Broadcasting in Faulty Hypercube Computers": unsafe nodes (R1-R3).

``unsafe-fraction`` is Figure 8, the average fraction of unsafe nodes in Q_n under f random faulty nodes.  A nonfaulty node is
*unsafe* if two or more of its neighbours are faulty or unsafe, and FIND_UNSAFE marks these nodes in rounds.  The grid ``large``
covers even n from 12 to 20.  In the largest cubes with few faults direct sampling finds few unsafe nodes, and the study
``unsafe-rare`` (``rare``) is more precise there.
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

from .printed_limit import STATEMENT, is_stated, unsafe_limit

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


@functools.cache
def _classes(n: int, f: int) -> tuple[ClassBounds, ...]:
    """Return least and most unsafe nodes of each class and a proved bound on its contribution to the mean, all over 2^n.

    Trials are in classes by their number of unsafe nodes, which begin at 1 and at the limits ``CLASSES``.  The last class ends at
    ``max_unsafe``, the most nodes that f faults make unsafe.  To have u unsafe nodes takes a subcube of enough dimensions, and
    the probability of such a subcube has a proved bound.  Up to n = ``SPLIT_ABOVE`` there is only one class.  There is also only
    one if the last class is not proved to be rarer than ``_RARE_CLASS``, because the trials then give the better bound.  Classes
    that do not occur have zeros.
    """
    absent = ClassBounds(0.0, 0.0, 0.0)
    most = max_unsafe(n, f, n)
    if most == 0:
        return (absent,) * (1 + len(CLASSES))
    least = [1, *(u for u in CLASSES if u <= most)] if n > SPLIT_ABOVE else [1]
    dimensions = [next((d for d in range(1, n + 1) if max_unsafe(n, f, d) >= u), n) for u in least]
    probabilities = large_subcube_bounds(n, f, tuple(dimensions))
    if probabilities[-1] > _RARE_CLASS:
        least, probabilities = [1], probabilities[:1]
    greatest = [*(u - 1 for u in least[1:]), most]
    rows = [
        ClassBounds(low / 2**n, high / 2**n, probability * high / 2**n)
        for low, high, probability in zip(least, greatest, probabilities, strict=True)
    ]
    return (*rows, *[absent] * (1 + len(CLASSES) - len(rows)))


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


def _figure(results: Results, sheet: Any) -> None:
    panel = sheet.panel()
    panel.lines(results, "unsafe_fraction", x="n", by="f")
    panel.add_statement(unsafe_limit(), STATEMENT, where=is_stated)
    panel.set_labels(
        y="average fraction of unsafe nodes", title="Average fraction of unsafe nodes in Q_n with f faulty nodes"
    )


def _notes(results: Results) -> list[str]:
    """Return notes on the printed limit, and on points at which no trial has an unsafe node."""
    return _limit_notes(results) + _unseen_notes(results)


def _limit_notes(results: Results) -> list[str]:
    """Return at how many points the printed limit holds, and at which it does not; nothing if it is stated for none."""
    rows = [
        (point, results.estimates(point)["unsafe_fraction"])
        for point, tally in results
        if tally.trials and is_stated(point)
    ]
    if not rows:
        return []
    above = [point_text(point) for point, e in rows if e.low >= unsafe_limit()]
    below = [point for point, e in rows if e.high < unsafe_limit()]
    lines = [
        f"paper: less than 15% unsafe for f <= floor(n/2), n >= 5: true at {len(below)} of {len(rows)} such points"
    ]
    if above:
        lines.append(f"  false at {', '.join(above)}")
    return lines


def _unseen_notes(results: Results) -> list[str]:
    """Return a note on the points with two faults or more at which no trial has an unsafe node."""
    unseen = [p for p, tally in results if tally.trials and p["f"] > 1 and not tally.counts["with_unsafe"]]
    if not unseen:
        return []
    where = point_text(unseen[0]) + (f" and {len(unseen) - 1} more" if len(unseen) > 1 else "")
    return [f"No unsafe node was seen at {where}: fastcube run unsafe-rare says how rare they are."]


# ---------------------------------------------------------------- large cubes


def _large_grid() -> list[Point]:
    return [{"n": n, "f": f} for n in (12, 14, 16, 18, 20) for f in (n // 4, n // 2, n, 3 * n // 2, 2 * n)]


def _mean_close_pairs(point: Point) -> float:
    """Return the mean number of pairs of faults within distance 2."""
    return float(mean_close_pairs(int(point["n"]), int(point["f"])))


def _close_pair_bound(point: Point) -> float:
    """Return the mean number of close pairs, which bounds the probability of one; NaN if it is above 1, or f is below 2."""
    pairs = _mean_close_pairs(point)
    return pairs if point["f"] > 1 and pairs <= 1 else math.nan


def _large_figure(results: Results, sheet: Any) -> None:
    """Plot the fraction of trials with a close pair, without which no node is unsafe, and its upper bound."""
    panel = sheet.panel()
    panel.lines(results, "close_pair", x="f", by="n")
    panel.reference(
        _close_pair_bound,
        "expected close pairs:\nC(f, 2) (n + C(n, 2)) / (2^n - 1)",
    )
    panel.set_labels(
        y="probability that some two faults are within distance 2",
        title="Unsafe nodes of Q_n need two faults within distance 2",
    )


def _large_notes(results: Results) -> list[str]:
    """Return notes on the points at which direct sampling finds few unsafe nodes."""
    rare = [
        point_text(point)
        for point, tally in results
        if tally.trials and point["f"] > 1 and _mean_close_pairs(point) < _RARE
    ]
    if not rare:
        return []
    return [
        f"Fewer than {_RARE} close pairs of faults per trial are expected at {'; '.join(rare)}:",
        "there fastcube run unsafe-rare is more precise, because all its fault sets have a close pair.",
    ]


# ---------------------------------------------------------------- the study

#: The trials that ``rounds_known`` counts, as the end of a description.
_AMONG_KNOWN = ", among trials without an unsafe subcube above dimension 30"

#: The descriptions that ``unsafe-rare`` shares.
UNSAFE_FRACTION_TEXT = (
    "mean fraction of the 2^n nodes that are unsafe: nonfaulty with two or more faulty or unsafe neighbours"
)
ALL_UNSAFE_TEXT = "probability that each of the 2^n nodes is faulty or unsafe, so that no node is active"
CLOSE_PAIR_TEXT = "probability that some two faulty nodes are within Hamming distance 2"
ROUNDS_TEXT = "mean number of synchronous rounds in which FIND_UNSAFE marks nodes, 0 if no node is unsafe"

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
            description=UNSAFE_FRACTION_TEXT,
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
            description=ALL_UNSAFE_TEXT,
            possible=can_span,
        ),
        Mean(
            name="rounds",
            description=f"{ROUNDS_TEXT}{_AMONG_KNOWN}",
            total="rounds",
            nonzero="with_unsafe",
            bound=most_rounds,
            condition="rounds_known",
        ),
        Proportion(
            name="close_pair",
            events="close_pair",
            description=CLOSE_PAIR_TEXT,
            possible=lambda point: int(point["f"]) > 1,
        ),
        Distribution(
            name="rounds_distribution",
            description=f"fraction of trials in which FIND_UNSAFE marks nodes in 0, 1, ..., 31 or more rounds{_AMONG_KNOWN}",
            counter="rounds_bins",
            label="rounds",
            condition="rounds_known",
        ),
        TailProportion(
            name="rounds_above_2",
            description=f"probability that FIND_UNSAFE marks nodes in three or more rounds{_AMONG_KNOWN}",
            counter="rounds_bins",
            least=3,
            condition="rounds_known",
            shown=False,
        ),
        *make_quantiles(
            "rounds",
            f"number of rounds in which FIND_UNSAFE marks nodes{_AMONG_KNOWN}",
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
