"""``free-subcube``: how large a fault-free subcube is left, and how large an aligned one on the same faults (N9)."""

import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from fastcube.algorithms.free_subcube import find_largest
from fastcube.errors import ParameterError, check_range
from fastcube.exact.closed_forms import fault_free_block, fault_free_half
from fastcube.kernels.free_subcube import dispatch
from fastcube.kernels.free_subcube.layout import FREE_SUBCUBE as TALLY
from fastcube.kernels.free_subcube.layout import PARTS
from fastcube.measure.fault_sets import describe_faulty_nodes
from fastcube.measure.statistics import Point, Proportion
from fastcube.measure.study import Axis, Explanation, Grid, Notes, Sample, Study, join_limited
from fastcube.measure.tally import Tally
from fastcube.networks.hypercube import Hypercube, Subcube
from fastcube.results.results import Results

#: Most faulty nodes, and most faulty links, on the axes.
MOST_FAULTS = 65536

#: Most fault sets that are enumerated.
MOST_SETS = 1_000_000

#: Most subcubes larger than the largest fault-free one, each with a fault, in the text of a replay and in its data.
_MOST_LINES, _MOST_BLOCKED = 20, 1000


def _check_point(point: Point) -> None:
    n = int(point["n"])
    check_range("f", point["f"], 0, dispatch.most_faults(n), f"for n={n}")
    check_range("links", point["links"], 0, min(n << (n - 1), MOST_FAULTS), f"for n={n}")


def iter_subcubes(n: int, fixed: int, lowest: int) -> Iterator[Subcube]:
    """Yield the subcubes of Q_n with ``fixed`` dimensions from ``lowest`` on fixed, in the order 0 < 1 < *."""

    def iter_fixed(fixed: int, top: int) -> Iterator[tuple[int, int]]:
        """Yield values and mask of the fixed dimensions, from ``top`` down."""
        if fixed == 0:
            yield 0, 0
        for i in range(top, lowest + fixed - 2, -1) if fixed else ():
            for value in (0, 1):
                for base, mask in iter_fixed(fixed - 1, i - 1):
                    yield base | value << i, mask | 1 << i

    for base, mask in iter_fixed(fixed, n - 1):
        yield Subcube(base, 2**n - 1 ^ mask, n)


# ---------------------------------------------------------------- exact values


def _enumerate(point: Point) -> Tally:
    """Count all fault sets, each an integer with one bit per node and per link."""
    n, f, links = (int(point[name]) for name in ("n", "f", "links"))
    pairs = [(u, u | 1 << i) for u in range(2 ** min(n, 6)) for i in range(n) if not u >> i & 1] if links else []
    sets = math.comb(2**n, f) * math.comb(len(pairs), links)
    if 2**n + len(pairs) > 64 or sets > MOST_SETS:
        raise ParameterError(f"n must be small for exact values: at most 64 nodes and links, {MOST_SETS:,} fault sets")

    def list_sets(first: int, count: int, size: int) -> Any:
        chosen = itertools.combinations(range(first, first + count), size)
        return np.array([sum(1 << i for i in numbers) for numbers in chosen], np.uint64)

    faults = (list_sets(0, 2**n, f)[:, None] | list_sets(2**n, len(pairs), links)).ravel()

    def has_free(subcubes: Iterator[Subcube]) -> Any:
        found = np.zeros(sets, bool)
        for subcube in subcubes:
            inside = [v for v in range(2**n) if v in subcube]
            inside += [2**n + i for i, (u, v) in enumerate(pairs) if u in subcube and v in subcube]
            found |= faults & np.uint64(sum(1 << i for i in inside)) == 0
        return found

    counts: dict[str, Any] = {}
    free, aligned = np.zeros(sets, bool), np.zeros(sets, bool)
    for m, part in enumerate(PARTS, 1):
        free |= has_free(iter_subcubes(n, m, 0))
        aligned |= has_free(iter_subcubes(n, m, max(n - m, 0)))
        counts |= {f"fault_free_{part}": free.sum(), f"aligned_{part}": aligned.sum()}
        counts |= {f"{part}_diff": (free & ~aligned).sum()}
    counts["no_fault_free_eighth"] = (~free).sum()
    return Tally(((0, sets),), {name: int(count) for name, count in counts.items()}, {})


def exact_value(name: str, point: Point) -> float:
    """Return the closed form of a statistic with faulty nodes only: of ``fault_free_half`` and the aligned ones; else NaN."""
    n, f = int(point["n"]), int(point["f"])
    if point["links"] or f > 2**n:
        return math.nan
    if name == "fault_free_half":
        return float(fault_free_half(n, f))
    what, _, part = name.partition("_")
    return float(fault_free_block(n, min(PARTS.index(part) + 1, n), f)) if what == "aligned" else math.nan


# ---------------------------------------------------------------- replay


def sample_trial(point: Point, key: int, trial: int) -> Sample:
    """Return the cube of a trial with its faults."""
    from fastcube.kernels.free_subcube import replay

    n = int(point["n"])
    return Sample(Hypercube(n, *replay.free_subcube(key, trial, n, int(point["f"]), int(point["links"]))))


def _find_fault(nodes: list[int], links: list[tuple[int, int]], subcube: Subcube) -> tuple[int, ...]:
    """Return the first faulty node inside a subcube, or else the first faulty link, as a tuple of nodes."""
    inside = ((v,) for v in nodes if v in subcube)
    return next(inside, None) or next(link for link in links if link[0] in subcube and link[1] in subcube)


def _explain(point: Point, key: int, trial: int) -> Explanation:
    cube = sample_trial(point, key, trial).network
    n, nodes, links = cube.n, sorted(cube.faulty_nodes), sorted(cube.faulty_links)
    data: dict[str, Any] = {"faulty_nodes": nodes, "faulty_links": [list(link) for link in links]}

    def describe(fault: tuple[int, ...]) -> str:
        return " - ".join(map(cube.label, fault))

    lines = [describe_faulty_nodes(cube)]
    lines += [f"  {len(links)} faulty links: {join_limited(map(describe, links), 64)}"] * bool(links)
    for name, aligned in (("fault_free", False), ("aligned", True)):
        title = "fault-free block of consecutive labels" if aligned else "fault-free subcube"
        largest = find_largest(cube, aligned, 3)
        fixed = min(n, 3) if largest is None else n - largest.dimension - 1
        larger_subcubes = iter_subcubes(n, fixed, n - fixed if aligned else 0) if fixed >= 0 else iter(())
        listed = itertools.islice(larger_subcubes, _MOST_BLOCKED)
        blocked = [(str(subcube), _find_fault(nodes, links, subcube)) for subcube in listed]
        data |= {name: None if largest is None else str(largest), f"{name}_blocked": blocked}
        size = (
            f"none of dimension {max(n - 3, 0)} or more"
            if largest is None
            else f"{largest}, dimension {largest.dimension}"
        )
        lines.append(f"  largest {title}: {size}")
        lines += [f"    {text} has {describe(fault)}" for text, fault in blocked[:_MOST_LINES]]
        unlisted = (1 if aligned else math.comb(n, max(fixed, 0))) * 2 ** max(fixed, 0) - _MOST_LINES
        lines += [f"    and {unlisted:,} more of dimension {n - fixed}, each with a fault"] * (unlisted > 0)
    return Explanation("\n".join(lines), data)


# ---------------------------------------------------------------- figure and notes


def _figure(results: Results, sheet: Any) -> None:
    """Plot the three parts against the faults, one line per n: any subcube on the left, aligned ones on the right."""
    x = "links" if all(point["links"] for point, tally in results if tally.trials) else "f"
    panels = iter(sheet.panels(2, 3))
    for part in PARTS:
        for name, title in (
            (f"fault_free_{part}", f"A fault-free {part} exists"),
            (f"aligned_{part}", "An aligned subcube"),
        ):
            panel = next(panels)
            panel.lines(results, name, x=x, by="n")
            panel.reference(functools.partial(exact_value, name), "closed form")
            panel.scale = "linear"
            panel.set_labels(y="probability", title=title)
    sheet.title(results.study.title)


def _notes(results: Results) -> list[str]:
    """Return for each n the most faults with a fault-free eighth in at least 99% of the sets, any and aligned.

    A point counts if the lower limit of its 95% interval is at least 99%.
    """
    lines = []
    done = [(point, results.estimates(point)) for point, tally in results if tally.trials and int(point["n"]) >= 3]
    for n in sorted({int(point["n"]) for point, _ in done}):
        for axis, other in (("f", "links"), ("links", "f")):
            rows = [(int(point[axis]), e) for point, e in done if point["n"] == n and not point[other]]
            free, aligned = (
                max((count for count, e in rows if e[name].low >= 0.99), default=0)
                for name in ("fault_free_eighth", "aligned_eighth")
            )
            if len(rows) > 1:
                where = f"n={n}: of these {axis}, up to {free} leave a fault-free eighth in 99% of the sets"
                lines.append(f"{where}, up to {aligned} an aligned one")
    return lines


def _has_dimensions(fixed: int, point: Point) -> bool:
    return int(point["n"]) >= fixed


def _make_statistics() -> Iterator[Proportion]:
    kinds = {"fault_free": "subcube", "aligned": "block of consecutive labels, as a buddy system allocates,"}
    defined_at = dict(zip(PARTS, (functools.partial(_has_dimensions, m) for m in (1, 2, 3)), strict=True))
    for kind, what in kinds.items():
        for m, part in enumerate(PARTS, 1):
            description = f"probability of a fault-free {what} of dimension n-{m} or more"
            yield Proportion(name=f"{kind}_{part}", description=description, defined=defined_at[part])
    for part in PARTS:
        description = f"probability of a fault-free {part}, but no aligned one: fault_free_{part} minus aligned_{part}"
        yield Proportion(name=f"{part}_diff", description=description, defined=defined_at[part], shown=False)
    description = "probability of no fault-free subcube of dimension n-3 or more"
    yield Proportion(name="no_fault_free_eighth", description=description, defined=defined_at["eighth"], shown=False)


NODES = [
    {"n": n, "f": f, "links": 0}
    for n in (4, 5, 6, 8, 10, 12, 16, 20, 32, 62)
    for f in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
    if f <= 2 ** (n - 1)
]
LINKS = [{**point, "f": 0, "links": point["f"]} for point in NODES]

FREE_SUBCUBE = Study(
    name="free-subcube",
    title="How large a fault-free subcube of Q_n is left under random faults, any or of consecutive labels",
    source="docs/readings/networks.md, N9",
    revision=1,
    axes=(
        Axis("n", "dimension of the hypercube", int, 2, 62),
        Axis("f", "number of faulty nodes", int, 0, MOST_FAULTS),
        Axis("links", "number of faulty links", int, 0, MOST_FAULTS),
    ),
    tally=TALLY,
    statistics=tuple(_make_statistics()),
    kernel=lambda point: dispatch.FREE_SUBCUBE.kernel(*point.values()),
    grids=(Grid("nodes", NODES, 1_000_000), Grid("links", LINKS, 100_000)),
    check=_check_point,
    enumeration=_enumerate,
    explain=_explain,
    sample=sample_trial,
    figure=_figure,
    notes=Notes((_notes, ("fault_free_eighth", "aligned_eighth"))),
)
