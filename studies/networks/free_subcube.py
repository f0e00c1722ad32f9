"""``free-subcube``: how large a fault-free subcube is left, and how large an aligned one on the same faults (N9)."""

import functools
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fastcube.algorithms.free_subcube import find_largest
from fastcube.errors import ParameterError, check_range
from fastcube.exact.closed_forms import fault_free_block, fault_free_half
from fastcube.kernels.free_subcube import dispatch
from fastcube.kernels.free_subcube.layout import FREE_SUBCUBE as TALLY
from fastcube.kernels.free_subcube.layout import PARTS
from fastcube.measure.estimate import Estimate
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
    """Yield the subcubes of Q_n with ``fixed`` fixed dimensions, all of them ``lowest`` or above, in the order 0 < 1 < *."""

    def iter_fixed(count: int, top: int) -> Iterator[tuple[int, int]]:
        """Yield values and mask of ``count`` fixed dimensions, the highest at most ``top``."""
        if count == 0:
            yield 0, 0
            return
        for i in range(top, lowest + count - 2, -1):
            for value in (0, 1):
                for base, mask in iter_fixed(count - 1, i - 1):
                    yield base | value << i, mask | 1 << i

    for base, mask in iter_fixed(fixed, n - 1):
        yield Subcube(base, 2**n - 1 ^ mask, n)


# ---------------------------------------------------------------- exact values


def _enumerate(point: Point) -> Tally:
    """Count all fault sets, each an integer with one bit per node and, if links are faulty, per link."""
    n, f, links = (int(point[name]) for name in ("n", "f", "links"))
    # a cube of more than 64 nodes is refused below, whatever its links are
    pairs = [(u, u | 1 << i) for u in range(2 ** min(n, 6)) for i in range(n) if not u >> i & 1] if links else []
    sets = math.comb(2**n, f) * math.comb(len(pairs), links)
    if 2**n + len(pairs) > 64 or sets > MOST_SETS:
        raise ParameterError(f"n must be small for exact values: at most 64 nodes and links, {MOST_SETS:,} fault sets")
    faults = (_list_sets(range(2**n), f)[:, None] | _list_sets(range(2**n, 2**n + len(pairs)), links)).ravel()

    def has_free(subcubes: Iterator[Subcube]) -> Any:
        """Return for each fault set whether one of the subcubes is fault-free."""
        found = np.zeros(sets, bool)
        for subcube in subcubes:
            inside = [v for v in range(2**n) if v in subcube]
            inside += [2**n + i for i, (u, v) in enumerate(pairs) if u in subcube and v in subcube]
            found |= faults & np.uint64(sum(1 << i for i in inside)) == 0
        return found

    counts: dict[str, Any] = {}
    free, aligned = np.zeros(sets, bool), np.zeros(sets, bool)
    for fixed, part in enumerate(PARTS, 1):
        free |= has_free(iter_subcubes(n, fixed, 0))
        aligned |= has_free(iter_subcubes(n, fixed, max(n - fixed, 0)))
        counts |= {f"fault_free_{part}": free.sum(), f"aligned_{part}": aligned.sum()}
        counts |= {f"{part}_diff": (free & ~aligned).sum()}
    counts["no_fault_free_eighth"] = (~free).sum()
    return Tally(((0, sets),), {name: int(count) for name, count in counts.items()}, {})


def _list_sets(bits: range, size: int) -> Any:
    """Return all sets of ``size`` of the bits, each an integer."""
    return np.array([sum(1 << i for i in chosen) for chosen in itertools.combinations(bits, size)], np.uint64)


def exact_value(name: str, point: Point) -> float:
    """Return the closed form of ``fault_free_half`` or of an aligned statistic; NaN for the others and with faulty links."""
    n, f = int(point["n"]), int(point["f"])
    if point["links"] or f > 2**n:
        return math.nan
    if name == "fault_free_half":
        return float(fault_free_half(n, f))
    kind, _, part = name.partition("_")
    return float(fault_free_block(n, min(PARTS.index(part) + 1, n), f)) if kind == "aligned" else math.nan


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


def _fault_text(cube: Hypercube, fault: tuple[int, ...]) -> str:
    """Return a faulty node, or the two ends of a faulty link."""
    return " - ".join(map(cube.label, fault))


def _explain(point: Point, key: int, trial: int) -> Explanation:
    """Return the largest fault-free subcube of a trial, any and aligned, and a fault of each subcube of one dimension more."""
    cube = sample_trial(point, key, trial).network
    nodes, links = sorted(cube.faulty_nodes), sorted(cube.faulty_links)
    data: dict[str, Any] = {"faulty_nodes": nodes, "faulty_links": [list(link) for link in links]}
    lines = [describe_faulty_nodes(cube)]
    if links:
        texts = (_fault_text(cube, link) for link in links)
        lines.append(f"  {len(links)} faulty links: {join_limited(texts, 64)}")
    for name, aligned in (("fault_free", False), ("aligned", True)):
        largest = find_largest(cube, aligned, len(PARTS))
        blocked, unlisted = _find_blocked(cube, largest, aligned)
        data |= {name: None if largest is None else str(largest)}
        data |= {f"{name}_blocked": [(str(subcube), fault) for subcube, fault in blocked]}
        title = "fault-free block of consecutive labels" if aligned else "fault-free subcube"
        size = f"none of dimension {max(cube.n - len(PARTS), 0)} or more"
        if largest is not None:
            size = f"{largest}, dimension {largest.dimension}"
        lines.append(f"  largest {title}: {size}")
        lines += [f"    {subcube} has {_fault_text(cube, fault)}" for subcube, fault in blocked[:_MOST_LINES]]
        if unlisted:
            dimension = blocked[0][0].dimension
            lines.append(f"    and {unlisted:,} more of dimension {dimension}, each with a fault")
    return Explanation("\n".join(lines), data)


def _find_blocked(
    cube: Hypercube, largest: Subcube | None, aligned: bool
) -> tuple[list[tuple[Subcube, tuple[int, ...]]], int]:
    """Return subcubes one dimension larger than ``largest``, each with a fault, and the number that the text leaves out.

    They have the smallest dimension searched if ``largest`` is None, and there are none if it is the whole cube.
    """
    n, nodes, links = cube.n, sorted(cube.faulty_nodes), sorted(cube.faulty_links)  # type: ignore[arg-type]
    fixed = min(n, len(PARTS)) if largest is None else n - largest.dimension - 1
    if fixed < 0:
        return [], 0
    subcubes = itertools.islice(iter_subcubes(n, fixed, n - fixed if aligned else 0), _MOST_BLOCKED)
    blocked = [(subcube, _find_fault(nodes, links, subcube)) for subcube in subcubes]
    choices = 1 if aligned else math.comb(n, fixed)
    return blocked, max(choices * 2**fixed - _MOST_LINES, 0)


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
    """Return for each n the most faults with a fault-free eighth in at least 99% of the sets, any and aligned."""
    lines = []
    done = [(point, results.estimates(point)) for point, tally in results if tally.trials and int(point["n"]) >= 3]
    for n in sorted({int(point["n"]) for point, _ in done}):
        for axis, other in (("f", "links"), ("links", "f")):
            rows = [(int(point[axis]), e) for point, e in done if point["n"] == n and not point[other]]
            if len(rows) > 1:
                free, aligned = (_most_survived(rows, name) for name in ("fault_free_eighth", "aligned_eighth"))
                where = f"n={n}: of these {axis}, up to {free} leave a fault-free eighth in 99% of the sets"
                lines.append(f"{where}, up to {aligned} an aligned one")
    return lines


def _most_survived(rows: Sequence[tuple[int, Mapping[str, Estimate]]], name: str) -> int:
    """Return the most faults at which the lower limit of the 95% interval is at least 99%; 0 if there are none."""
    return max((faults for faults, estimates in rows if estimates[name].low >= 0.99), default=0)


def _has_dimensions(fixed: int, point: Point) -> bool:
    """Whether Q_n has ``fixed`` dimensions to fix."""
    return int(point["n"]) >= fixed


def _make_statistics() -> Iterator[Proportion]:
    """Yield the probabilities of fault-free parts, of the differences of both kinds, and of no fault-free part."""
    kinds = {"fault_free": "subcube", "aligned": "block of consecutive labels, as a buddy system allocates,"}
    defined_at = {part: functools.partial(_has_dimensions, fixed) for fixed, part in enumerate(PARTS, 1)}
    for kind, title in kinds.items():
        for fixed, part in enumerate(PARTS, 1):
            description = f"probability of a fault-free {title} of dimension n-{fixed} or more"
            yield Proportion(name=f"{kind}_{part}", description=description, defined=defined_at[part])
    for part in PARTS:
        description = f"probability of a fault-free {part}, but no aligned one: fault_free_{part} minus aligned_{part}"
        yield Proportion(name=f"{part}_diff", description=description, defined=defined_at[part], shown=False)
    description = "probability of no fault-free subcube of dimension n-3 or more"
    yield Proportion(name="no_fault_free_eighth", description=description, defined=defined_at["eighth"], shown=False)


#: The points of the grids, with faulty nodes up to half of all, and with as many faulty links in place of the nodes.
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
