"""The study ``unsafe-rare``: unsafe nodes of large cubes under few faults, where direct sampling finds none.

It uses Karp-Luby importance sampling (``kernels/unsafe/planting.py``).  A *close pair* is two faults within distance 2; without
one no node is unsafe.  A trial samples a close pair, called its *planted pair*, and places it at two random positions of a random
sequence of faults.  The trial is *accepted*, or *counts*, if the planted pair is the first close pair of the sequence, by the
lexicographic order of the positions; so every fault set with close pairs is accepted for one of them only.

Let S be the expected number of close pairs of a random fault set.  Then for a quantity that is 0 without a close pair, the mean
over all fault sets is exactly S times the mean over all trials, to which a trial that is not accepted adds 0
(``docs/proofs.md``).  Hence the scale of the statistics is S.  The intervals include large unsafe subcubes that no trial
contained, with the proved bounds on their probability.
"""

import functools
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from fastcube.errors import check_range
from fastcube.exact.bounds import large_subcube_bounds, max_unsafe, min_unsafe
from fastcube.exact.unsafe import mean_close_pairs, mean_unsafe_two_faults
from fastcube.kernels.unsafe import dispatch, layout
from fastcube.kernels.unsafe.layout import DIMENSIONS, MARKING
from fastcube.measure.estimate import Estimate
from fastcube.measure.statistics import CensoredMean, ClassBounds, ClassMean, Proportion
from fastcube.measure.study import Axis, Explanation, Grid, Notes, Point, Sample, Study, point_text
from fastcube.measure.tally import Tally
from fastcube.networks.hypercube import Hypercube
from fastcube.results.results import Results

from .unsafe import (
    ALL_UNSAFE_TEXT,
    CLOSE_PAIR_TEXT,
    ROUNDS_TEXT,
    UNSAFE_FRACTION_TEXT,
    can_span,
    explain_fault_set,
    most_rounds,
)

#: The notes explain an interval of the mean by large subcubes if half its width is more than this fraction of the estimate.
_WIDE = 0.05

#: The notes take a class of trials as not seen if it has fewer trials than this.
_FEW = 100

#: Most faults of a point; the time of a trial grows with the square of the number of faults.
_MOST_FAULTS = 4096

#: Dimensions of subcubes that the figure shows besides close pairs.
_SHOWN_DIMENSIONS = (3, 4, 8)


def _check_point(point: Point) -> None:
    n = int(point["n"])
    check_range("f", point["f"], 2, min(2**n, _MOST_FAULTS), f"for n={n}")


def _expected_pairs(point: Point) -> float | Fraction:
    """Return S, the expected number of close pairs."""
    return mean_close_pairs(int(point["n"]), int(point["f"]))


def _expected_pairs_per_node(point: Point) -> float | Fraction:
    return _expected_pairs(point) / (1 << int(point["n"]))


@functools.cache
def _classes(n: int, f: int) -> tuple[ClassBounds, ...]:
    """Return the bounds of ``bounds_of_classes``; they are zero for a class whose subcubes have more than n dimensions."""
    close_pairs = float(mean_close_pairs(n, f))
    bounds: list[ClassBounds] = []
    for d, next_d, probability in zip(MARKING, (*MARKING[1:], n + 1), large_subcube_bounds(n, f, MARKING), strict=True):
        most = max_unsafe(n, f, min(next_d - 1, n)) if d <= n else 0
        least = min_unsafe(f, d) if most else 0
        bounds.append(ClassBounds(float(least), float(most), float(probability * most / close_pairs)))
    return tuple(bounds)


def bounds_of_classes(point: Point) -> tuple[ClassBounds, ...]:
    """Return each class's least and most unsafe nodes, and a proved bound on its contribution to the mean over sampled trials.

    Trials are in classes by the dimension of their largest unsafe subcube, which begin at the dimensions ``MARKING``.
    """
    return _classes(int(point["n"]), int(point["f"]))


def _sample_trial(point: Point, key: int, trial: int) -> Sample:
    """Return the faults of a trial as a set and as a sequence, with the positions of the planted pair."""
    from fastcube.kernels.unsafe import replay

    n = int(point["n"])
    labels, i, j = replay.unsafe_rare(key, trial, n, int(point["f"]))
    return Sample(Hypercube(n, labels), {"sequence": labels.tolist(), "close_pair": [int(i), int(j)]})


def _explain(point: Point, key: int, trial: int) -> Explanation:
    n, f = int(point["n"]), int(point["f"])
    sample = _sample_trial(point, key, trial).others
    faults, (i, j) = sample["sequence"], sample["close_pair"]
    first = next(
        (a, b) for a, b in itertools.combinations(range(f), 2) if (faults[a] ^ faults[b]).bit_count() <= 2
    )  # at the latest the planted pair
    inside = explain_fault_set(n, sorted(faults))
    x, y = faults[i], faults[j]
    lines = [f"  close pair at positions {i} and {j}: {x:0{n}b}, {y:0{n}b}, at distance {(x ^ y).bit_count()}"]
    lines.append(
        "  counts: it is the first pair within distance 2"
        if first == (i, j)
        else f"  does not count: positions {first[0]} and {first[1]} come before it and are within distance 2"
    )
    data = {"sequence": faults, "close_pair": [i, j], "counts": first == (i, j)}
    return Explanation("\n".join([*lines, inside.text]), data | inside.data)


# ---------------------------------------------------------------- notes and figure


def _pair_bound(point: Point) -> float:
    """Return the expected number of close pairs, which bounds the probability of one; NaN above 1."""
    close_pairs = float(_expected_pairs(point))
    return close_pairs if close_pairs <= 1 else math.nan


def _first_order(point: Point) -> float:
    """Return the expected number of unsafe nodes if close pairs are isolated: C(f, 2) n (n - 1) / (2^n - 1)."""
    return float(math.comb(int(point["f"]), 2) * mean_unsafe_two_faults(int(point["n"])))


def _find_unseen_class(point: Point, tally: Tally, e: Estimate) -> int | None:
    """Return the least dimension of a class with few trials whose proved bound makes the interval wide; None if there is none."""
    wide = _WIDE * e.value / float(_expected_pairs(point))
    classes = zip(MARKING, _UNSAFE_NODES.sum_classes(tally.counts), bounds_of_classes(point), strict=True)
    for d, sums, bounds in classes:
        if sums.trials < _FEW and bounds.proved > wide:
            return d
    return None


def _notes(results: Results) -> list[str]:
    """Return notes on the points whose intervals are wide because of large subcubes that few trials contained."""
    wide = []
    for point, tally in results:
        e = results.estimates(point)["unsafe_nodes"]
        if tally.trials and e.value > 0 and e.half_width > _WIDE * e.value:
            d = _find_unseen_class(point, tally, e)
            if d is not None:
                wide.append(
                    f"  {point_text(point)}: +- {e.half_width / e.value:.0%}, subcubes of {d} dimensions or more"
                )
    if not wide:
        return []
    return [
        "Large unsafe subcubes, too rare to be seen and not proved to be rarer, may add to the mean number of unsafe nodes:",
        *wide,
    ]


def _figure(results: Results, sheet: Any) -> None:
    """Plot the probability of a close pair, the mean number of unsafe nodes, and larger subcubes of the smallest n."""
    left, right, larger = sheet.panels(2, count=3)
    left.lines(results, "close_pair", x="f", by="n")
    left.reference(_pair_bound, "from pairs alone")
    left.set_labels(y="probability", title="Two faults within distance 2")
    right.lines(results, "unsafe_nodes", x="f", by="n")
    right.reference(_first_order, "from pairs alone")
    right.set_labels(title="Mean number of nonfaulty unsafe nodes")
    n = min((point["n"] for point, tally in results if tally.trials), default=2)
    subcubes = {f"{d} dimensions or more": f"unsafe_subcube_{d}" for d in _SHOWN_DIMENSIONS}
    larger.compare(results, {"two faults within distance 2": "close_pair", **subcubes}, x="f", at={"n": n})
    larger.set_labels(y="probability of the subcube", title=f"Unsafe subcubes at n = {n}")
    for panel in (left, right, larger):
        panel.scale = "log"
    sheet.title(results.study.title)


# ---------------------------------------------------------------- the study


def _grid_points() -> list[Point]:
    return [{"n": n, "f": f} for n in (16, 20, 24, 30, 40, 50, 60) for f in (n // 2, n, 2 * n, 4 * n)]


def _make_mean(
    name: str, description: str, scale: Callable[[Point], float | Fraction], shown: bool = True
) -> ClassMean:
    """Return a mean of the number of unsafe nodes times ``scale`` as a statistic."""
    return ClassMean(
        name=name,
        description=description,
        reached=tuple(f"unsafe_subcube_{d}" for d in MARKING),
        totals=tuple(f"unsafe_nodes_{d}" for d in MARKING),
        squares=tuple(f"unsafe_nodes_squared_{d}" for d in MARKING),
        nonzero="with_unsafe",
        classes=bounds_of_classes,
        scale=scale,
        shown=shown,
    )


def _make_subcube_proportion(d: int) -> Proportion:
    """Return the probability of an unsafe subcube of d dimensions or more, as a statistic; a close pair suffices for d = 1."""
    return Proportion(
        name=f"unsafe_subcube_{d}",
        description=f"probability that all nodes of some subcube of dimension {d} or more are faulty or unsafe",
        events="acceptance" if d == 1 else f"unsafe_subcube_{d}",
        scale=_expected_pairs,
        shown=d == 3,
        defined=lambda point: d <= point["n"],
        possible=lambda point: can_span({**point, "n": d}),
    )


_UNSAFE_NODES = _make_mean(
    "unsafe_nodes",
    "mean number of unsafe nodes (nonfaulty) per fault set, over all sets of f faulty nodes",
    _expected_pairs,
)

UNSAFE_RARE = Study(
    name="unsafe-rare",
    title="Unsafe nodes of Q_n with f random faulty nodes, by the Karp-Luby estimator",
    source="Lee & Hayes 1988, beyond Figure 8",
    revision=1,
    axes=(
        Axis("n", "dimension of the hypercube", int, 2, 62),
        Axis("f", "number of faulty nodes", int, 2, _MOST_FAULTS),
    ),
    tally=layout.UNSAFE_RARE,
    statistics=(
        _UNSAFE_NODES,
        Proportion(
            name="close_pair",
            description=CLOSE_PAIR_TEXT,
            events="acceptance",
            scale=_expected_pairs,
        ),
        CensoredMean(
            name="rounds",
            description=ROUNDS_TEXT,
            total="rounds",
            squares="rounds_squared",
            nonzero="with_unsafe",
            unknown="rounds_unknown",
            bound=most_rounds,
            scale=_expected_pairs,
        ),
        _make_mean("unsafe_fraction", UNSAFE_FRACTION_TEXT, _expected_pairs_per_node, shown=False),
        Proportion(
            name="all_unsafe",
            description=ALL_UNSAFE_TEXT,
            possible=can_span,
            scale=_expected_pairs,
            shown=False,
        ),
        *map(_make_subcube_proportion, DIMENSIONS),
        Proportion(
            name="acceptance",
            description="fraction of the Karp-Luby samples that are accepted: no pair of faults within distance 2 stands "
            "before the planted pair",
            shown=False,
        ),
    ),
    kernel=lambda point: dispatch.UNSAFE_RARE.kernel(*point.values()),
    grids=(Grid("default", _grid_points(), 10**7),),
    check=_check_point,
    explain=_explain,
    sample=_sample_trial,
    figure=_figure,
    notes=Notes((_notes, ("unsafe_nodes", "unsafe_fraction"))),
)
