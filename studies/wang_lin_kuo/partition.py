"""The study ``two-partition``: how often a fault-tolerant 2-partition exists, and how often Figure 2 finds one.

Lemma 1 promises one for up to n - 1 faults; section 5.3 says that one is possible for up to 2^(n-2).  Interpretations A1 and A13
apply.
"""

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fastcube.algorithms.partition import Pair, find_conflict, find_pair
from fastcube.errors import check_integer, check_range
from fastcube.exact.closed_forms import mean_tolerant_pairs
from fastcube.kernels.partition import dispatch, layout
from fastcube.measure.fault_sets import describe_faulty_nodes, list_faulty_nodes
from fastcube.measure.statistics import Proportion
from fastcube.measure.study import Axis, Explanation, Grid, Notes, Point, Sample, Study, point_text
from fastcube.measure.tally import Tally
from fastcube.networks.hypercube import Hypercube
from fastcube.results.results import Results

#: The values of f / 2^(n/2) in the default grid, which also has f = n - 1 and f = n.
_SCALED_FAULTS = [0.25 * i for i in range(1, 13)]

#: Largest number of lines of one kind that a description prints; its data has all.
_MOST_LINES = 45

#: Largest n for which a description covers all pairs; for larger n it covers the pairs up to the result.
_MOST_DIMENSIONS_FOR_ALL_PAIRS = 16

#: For larger n and at least this number of faults, a description covers at most this number of pairs.
_MANY_FAULTS, _MOST_PAIRS = 1000, 100


#: The statistic that all studies of this paper share, and by its name the condition of their other statistics.
PARTITION_EXISTS = Proportion(
    name="partition_exists",
    description="probability of a 2-partition: two dimensions that split Q_n into 2-cubes with at most one faulty node each",
)


def check_faults(point: Point) -> None:
    """Raise ParameterError if f exceeds the number of 2-cubes, 2^(n-2); for studies that need a fault-tolerant 2-partition.

    Such a partition has at most one fault in each 2-cube.
    """
    n = int(point["n"])
    check_range("f", point["f"], 0, 2 ** (n - 2), f"for n={n}")


def _check_point(point: Point) -> None:
    """Raise ParameterError if f is above the limit of ``two-partition``, where a partition need not exist."""
    n = int(point["n"])
    check_range("f", point["f"], 0, dispatch.most_faults(n), f"for n={n}")


#: Largest numbers of faults enumerated in Q_n: all with a possible partition up to n = 5, and 7 in Q_6 (some seconds).
MOST_ENUMERATED = {2: 1, 3: 2, 4: 4, 5: 8, 6: 7}


@functools.cache
def partition_counts(n: int, most: int) -> tuple[tuple[int, int], ...]:
    """Return for f = 0 .. most the fault sets of Q_n with a fault-tolerant 2-partition, and those in which Figure 2 finds one.

    Only sets that contain node 0 are enumerated: by symmetry they are a fraction f / 2^n of all.
    """
    from fastcube.kernels.partition.all_sets import count_partitions

    with_zero = np.zeros((most + 2, 2), np.int64)  # by f; the first and the last row stay 0
    if most:  # for f = 0 there is one set, and none that contains node 0
        count_partitions(n, most, with_zero)
    return (1, 1), *(
        (int(exists) * 2**n // f, int(greedy) * 2**n // f) for f, (exists, greedy) in enumerate(with_zero[1:-1], 1)
    )


def _enumeration(point: Point) -> Tally:
    n, f = int(point["n"]), int(point["f"])
    check_integer("n", n, 2, max(MOST_ENUMERATED), "for exact values")
    check_integer("f", f, 0, MOST_ENUMERATED[n], f"for exact values at n={n}")
    exists, greedy = partition_counts(n, MOST_ENUMERATED[n] if n < 6 else f)[f]
    return Tally(((0, math.comb(2**n, f)),), {"partition_exists": exists, "greedy_finds": greedy}, {})


def _grid_points() -> list[Point]:
    points: list[Point] = []
    for n in range(4, 15):
        numbers = {n - 1, n, *(round(x * 2 ** (n / 2)) for x in _SCALED_FAULTS)}
        points += [{"n": n, "f": f} for f in sorted(numbers) if f <= 2 ** (n - 2)]
    return points


# ---------------------------------------------------------------- replay


def _conflict_data(faults: list[int], dims: tuple[int, ...]) -> dict[str, Any]:
    """Return the dimensions ``dims`` and the first two faults that differ in no other dimension, or None."""
    found = find_conflict(faults, sum(1 << i for i in dims))
    return {"dimensions": list(dims), "conflict": None if found is None else list(found)}


def _conflict_text(n: int, row: dict[str, Any]) -> str:
    """Return a line on dimensions and their conflict, as returned by ``_conflict_data``."""
    text = "no conflict"
    if row["conflict"] is not None:
        u, v = row["conflict"]
        text = f"{u:0{n}b} and {v:0{n}b} differ in nothing else"
    return f"    {', '.join(map(str, row['dimensions']))}: {text}"


def _truncate_lines(lines: list[str]) -> list[str]:
    """Return the first lines, and how many follow."""
    if len(lines) <= _MOST_LINES:
        return lines
    return [*lines[:_MOST_LINES], f"    ... and {len(lines) - _MOST_LINES} more"]


def pair_text(pair: Pair | None) -> str:
    """Return a pair of dimensions in the paper's notation, such as ``P = {0, 5}``."""
    return "none" if pair is None else f"P = {{{pair[0]}, {pair[1]}}}"


def sample_trial(point: Point, key: int, trial: int) -> Sample:
    """Return the cube of a trial with its faulty nodes."""
    from fastcube.kernels.partition import replay

    n = int(point["n"])
    return Sample(Hypercube(n, replay.two_partition(key, trial, n, int(point["f"]))))


def _choose_pairs(n: int, pair: Pair | None, faults: Sequence[int]) -> list[Pair]:
    """Return the pairs of dimensions that a description covers, given the pair that the exhaustive search finds."""
    pairs = list(itertools.combinations(range(n), 2))
    if n <= _MOST_DIMENSIONS_FOR_ALL_PAIRS:
        return pairs
    if pair is not None:
        pairs = pairs[: pairs.index(pair) + 1]
    return pairs if len(faults) < _MANY_FAULTS else pairs[:_MOST_PAIRS]


def _explain(point: Point, key: int, trial: int) -> Explanation:
    n = int(point["n"])
    sample = sample_trial(point, key, trial)
    faults = list_faulty_nodes(sample)
    greedy, pair = find_pair(n, faults, exhaustive=False), find_pair(n, faults, exhaustive=True)
    dimensions = [_conflict_data(faults, (i,)) for i in range(n)]
    pairs = [_conflict_data(faults, dims) for dims in _choose_pairs(n, pair, faults)]

    lines = [
        describe_faulty_nodes(sample.network),
        "  dimensions by themselves:",
        *_truncate_lines([_conflict_text(n, row) for row in dimensions]),
        "  pairs of dimensions, in lexicographic order:",
        *_truncate_lines([_conflict_text(n, row) for row in pairs]),
        f"  Figure 2: {pair_text(greedy)}",
        f"  exhaustive search: {pair_text(pair)}",
    ]
    data = {
        "faulty_nodes": faults,
        "dimensions": dimensions,
        "pairs": pairs,
        "greedy_finds": None if greedy is None else list(greedy),
        "exhaustive": None if pair is None else list(pair),
    }
    return Explanation("\n".join(lines), data)


# ---------------------------------------------------------------- figure and notes


def _scaled_faults(point: Point) -> float:
    """Return f / 2^(n/2), against which the curves of all n are close."""
    return float(point["f"]) / 2 ** (int(point["n"]) / 2)


def _figure(results: Results, sheet: Any) -> None:
    """Plot both probabilities against f / 2^(n/2), one line per n, with the points of Lemma 1."""
    done = sorted((point for point, tally in results if tally.trials), key=_scaled_faults)
    sizes = sorted({int(point["n"]) for point in done})
    panels = sheet.panels(2)
    for panel, statistic, title in zip(
        panels,
        ("partition_exists", "greedy_finds"),
        ("A fault-tolerant 2-partition exists", "Figure 2 of the paper finds one"),
        strict=True,
    ):
        for i, n in enumerate(sizes):
            rows = [(_scaled_faults(p), results.estimates(p)[statistic]) for p in done if p["n"] == n]
            panel.series(f"n = {n}", rows, like=i, of=len(sizes))
        lemma = [(_scaled_faults(p), results.estimates(p)[statistic].value) for p in done if p["f"] == p["n"] - 1]
        if lemma:
            panel.marks([x for x, _ in lemma], [y for _, y in lemma], "Lemma 1: f = n - 1")
        panel.scale = "linear"
        panel.by = ("n",)
        panel.set_labels(x="f / 2^(n/2)", y="probability", title=title)
    sheet.title("Fault-tolerant 2-partitions of Q_n with f random faulty nodes")


def half_crossing(results: Results, n: int, statistic: str) -> float | None:
    """Return f / 2^(n/2) at which a probability crosses 1/2, interpolated between grid points; None where it does not."""
    rows = sorted(
        (_scaled_faults(p), results.estimates(p)[statistic].value)
        for p, tally in results
        if tally.trials and p["n"] == n
    )
    for (x1, y1), (x2, y2) in itertools.pairwise(rows):
        if y1 >= 0.5 > y2:
            return x1 + (x2 - x1) * (y1 - 0.5) / (y1 - y2)
    return None


def _notes(results: Results) -> list[str]:
    """Return notes on where the probabilities cross 1/2, and on the points without any partition."""
    return _crossing_notes(results) + _unseen_notes(results)


def _crossing_notes(results: Results) -> list[str]:
    """Return for each n the numbers of faults at which the probabilities cross 1/2."""
    lines = []
    for n in sorted({int(point["n"]) for point, _ in results}):
        crossings = {name: half_crossing(results, n, name) for name in ("partition_exists", "greedy_finds")}
        texts = [
            f"{name} crosses 1/2 at f = {x * 2 ** (n / 2):.1f} = {x:.3f} 2^(n/2)"
            for name, x in crossings.items()
            if x is not None
        ]
        if texts:
            lines.append(f"n={n}: {', '.join(texts)}")
    return lines


def _unseen_notes(results: Results) -> list[str]:
    """Return the upper limits of P(partition_exists) at points where no trial has a partition, with a proved bound."""
    unseen = [point for point, tally in results if tally.trials and not tally.counts["partition_exists"]]
    if not unseen:
        return []
    lines = ["no partition seen (upper limit; mean number of fault-tolerant pairs, which bounds the probability):"]
    for point in unseen:
        limit = results.estimates(point)["partition_exists"].high
        mean = float(mean_tolerant_pairs(int(point["n"]), int(point["f"])))
        lines.append(f"  {point_text(point)}: < {limit:.2g}; {mean:.3g}")
    return lines


TWO_PARTITION = Study(
    name="two-partition",
    title="Probability that Q_n with f random faults has a fault-tolerant 2-partition, and that Figure 2 finds one",
    source="Wang, Lin & Kuo, sections 3.1 and 5.3, Figure 2",
    revision=1,
    axes=(
        Axis("n", "dimension of the hypercube", int, 2, 62),
        Axis("f", "number of faulty nodes", int, 0, 65536),
    ),
    tally=layout.TWO_PARTITION,
    statistics=(
        PARTITION_EXISTS,
        Proportion(
            name="greedy_finds",
            description="probability that the greedy search of Figure 2 finds a 2-partition, over all trials",
        ),
        Proportion(
            name="greedy_finds_given_exists",
            description="probability that the greedy search of Figure 2 finds a 2-partition, among trials in which one exists",
            events="greedy_finds",
            condition="partition_exists",
        ),
    ),
    kernel=lambda point: dispatch.TWO_PARTITION.kernel(*point.values()),
    grids=(Grid("default", _grid_points(), 1_000_000),),
    check=_check_point,
    enumeration=_enumeration,
    explain=_explain,
    sample=sample_trial,
    figure=_figure,
    notes=Notes((_notes, ("partition_exists", "greedy_finds"))),
)
