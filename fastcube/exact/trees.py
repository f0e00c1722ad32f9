"""Exact values about communication trees: over all sets of K faulty links and f faulty nodes, as fractions.

Every set is enumerated by the compiled blocks that run the trials of ``find-tree``, ``optimal-tree``, ``gather`` and
``rerouting``, so the values are what those studies estimate.  The tables under ``data/`` were made by
``python -m fastcube.exact.trees``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ParameterError, check_integer
from ..kernels.gathering.layout import GATHERING, LARGEST, RUNS, STEPS, common
from ..kernels.layout import Layout
from ..kernels.trees.layout import FINDING, OPTIMA

#: Most fault sets that are enumerated: a few minutes.
MOST_SETS = 2 * 10**8
#: Largest n of the optimum's lattice.
LARGEST_TREE = 12
#: Sets of one call of a kernel, so that an interruption is served soon.
_CHUNK = 10**6


@dataclass(frozen=True)
class ExactTrees:
    """Exact values of the studies ``find-tree`` and ``optimal-tree``, by their statistics' names.

    ``sets`` is the number of fault sets; a value is None where the study says NaN.
    """

    n: int
    links: int
    f: int
    sets: int
    fault_free: Fraction
    sink: Fraction
    unhindered: Fraction
    tree_faults: Fraction | None
    failing: Fraction | None
    most_tree_faults: int | None
    optimal: Fraction | None
    gap: Fraction | None
    ratio: Fraction | None
    optimum_same_sink: Fraction | None
    optimum: Fraction | None
    optimum_any_sink: Fraction | None
    fault_free_exists: Fraction
    tree_faults_top_down: Fraction | None
    fault_free_top_down: Fraction
    largest_gap: int | None


@dataclass(frozen=True)
class ExactGather:
    """Exact values of the studies ``gather`` and ``rerouting``, by their statistics' names; see :class:`ExactTrees`."""

    n: int
    links: int
    f: int
    sets: int
    sink: Fraction
    complete_literal: Fraction | None
    complete_comment: Fraction | None
    complete_repaired: Fraction | None
    complete_reroute: Fraction | None
    complete_tc: Fraction | None
    lost_literal: Fraction | None
    lost_comment: Fraction | None
    lost_repaired: Fraction | None
    lost_reroute: Fraction | None
    lost_tc: Fraction | None
    deadlocked_literal: Fraction | None
    deadlocked_comment: Fraction | None
    deadlocked_repaired: Fraction | None
    stranded: Fraction | None
    avoidable: Fraction | None
    no_partition: Fraction | None
    slowdown_comment: Fraction | None
    slowdown_repaired: Fraction | None
    slowdown_paper: Fraction | None
    slowdown_reroute: Fraction | None
    slowdown_reroute_hops: Fraction | None
    twofold: Fraction | None
    slowest: int | None


def _checked(n: int, links: int, f: int, largest: int) -> tuple[int, int, int, int]:
    n = check_integer("n", n, 1, largest, "for exact values")
    links = check_integer("links", links, 0, n * 2 ** (n - 1), f"for n={n}")
    f = check_integer("f", f, 0, 2**n, f"for n={n}")
    sets = math.comb(n * 2 ** (n - 1), links) * math.comb(2**n, f)
    if sets > MOST_SETS:
        raise ParameterError(
            f"links and f must leave at most {MOST_SETS:,} fault sets to enumerate, got {sets:,} for n={n}, links={links}, f={f}"
        )
    return n, links, f, sets


def _chunks(sets: int) -> Iterator[tuple[int, int]]:
    return ((first, min(first + _CHUNK, sets)) for first in range(0, sets, _CHUNK))


def _state(links: int, f: int) -> Any:
    return np.concatenate([np.arange(links), np.arange(f)]).astype(np.int64)


def _read(layout: Layout, slots: Any) -> tuple[dict[str, int], dict[str, tuple[int, int]]]:
    counts, extremes = layout.read(slots)
    return {name: int(value) for name, value in counts.items()}, extremes  # type: ignore[arg-type]


def _share(part: int, whole: int) -> Fraction | None:
    return Fraction(part, whole) if whole else None


def _largest(extreme: tuple[int, int]) -> int | None:
    return None if extreme[1] < 0 else extreme[0]


def exact_trees(n: int, links: int = 0, f: int = 0) -> ExactTrees:
    """Exact values over all sets of ``links`` faulty links and f faulty nodes of Q_n.

    Parameters
    ----------
    n : int
        1 <= n <= 12.
    links, f : int
        At most 2 * 10^8 sets in all; about 10^6 a second at n = 4.

    Raises
    ------
    ParameterError
        For more sets; the message has their number.
    """
    from ..kernels.trees.enumeration import enumerate_trees

    n, links, f, sets = _checked(n, links, f, LARGEST_TREE)
    finding, optima, state = FINDING.fresh(), OPTIMA.fresh(), _state(links, f)
    for first, stop in _chunks(sets):
        enumerate_trees(n, links, f, state, first, stop, finding, optima)
    found, extreme = _read(FINDING, finding)
    best, gaps = _read(OPTIMA, optima)
    sinks = found["sink"]
    return ExactTrees(
        n, links, f, sets,
        fault_free=Fraction(found["fault_free"], sets), sink=Fraction(sinks, sets),
        unhindered=Fraction(found["unhindered"], sets),
        tree_faults=_share(found["tree_faults"], sinks), failing=_share(found["failing"], sinks),
        most_tree_faults=_largest(extreme["most_tree_faults"]),
        optimal=_share(best["optimal"], sinks), gap=_share(best["gap"], sinks),
        ratio=_share(best["tree_faults"], best["optimum"]),
        optimum_same_sink=_share(best["same_sink"], sinks), optimum=_share(best["optimum"], sinks),
        optimum_any_sink=_share(best["any_sink"], sinks),
        fault_free_exists=Fraction(best["fault_free_exists"], sets),
        tree_faults_top_down=_share(best["top_down"], sinks),
        fault_free_top_down=Fraction(best["fault_free_top_down"], sets), largest_gap=_largest(gaps["largest_gap"]),
    )  # fmt: skip


def exact_gather(n: int, links: int = 0, f: int = 0) -> ExactGather:
    """As :func:`exact_trees`, for gathering over FIND_TREE's tree; n <= 10."""
    from ..kernels.gathering.enumeration import enumerate_gathering

    n, links, f, sets = _checked(n, links, f, LARGEST)
    slots, state = GATHERING.fresh(), _state(links, f)
    for first, stop in _chunks(sets):
        enumerate_gathering(n, links, f, state, first, stop, slots)
    found, extreme = _read(GATHERING, slots)
    sinks, whole = found["sink"], found["expected"]
    shares = [f"complete_{run}" for run in RUNS] + [f"deadlocked_{v}" for v in ("literal", "comment", "repaired")]
    return ExactGather(
        n, links, f, sets, sink=Fraction(sinks, sets),
        **{name: _share(found[name], sinks) for name in (*shares, "avoidable", "no_partition", "twofold")},
        **{f"lost_{run}": _share(found[f"lost_{run}"], whole * common(n)) for run in RUNS},
        **{f"slowdown_{v}": _share(found[f"steps_{v}"], sinks * n) for v in STEPS},
        stranded=_share(found["stranded"], whole), slowest=_largest(extreme["slowest"]),
    )  # fmt: skip


# ---------------------------------------------------------------- the tables


def stored_points() -> list[tuple[int, int, int]]:
    """The (n, links, f) of the tables under ``data/``."""
    small = [(n, k, f) for n in (2, 3) for k in range(n * 2 ** (n - 1) + 1) for f in range(3)]
    four = [(4, k, 0) for k in range(7)] + [(4, 0, f) for f in range(1, 5)]
    return small + four + [(4, k, f) for k in (1, 2) for f in (1, 2)]


def _row(exact: ExactTrees | ExactGather) -> dict[str, Any]:
    return {name: str(v) if isinstance(v, Fraction) else v for name, v in asdict(exact).items()}


def write_tables(folder: Path) -> None:
    """Write ``exact-trees.json`` and ``exact-gather.json``."""
    for name, of in (("exact-trees", exact_trees), ("exact-gather", exact_gather)):
        rows = [json.dumps(_row(of(*point))) for point in stored_points()]
        source = f"every set of so many faulty links and nodes of Q_2, Q_3 and Q_4, by fc.{of.__name__}"
        head = json.dumps({"source": source, "command": "python -m fastcube.exact.trees"})[:-1]
        (folder / f"{name}.json").write_text(head + ', "rows": [\n' + ",\n".join(rows) + "\n]}\n")


if __name__ == "__main__":
    write_tables(Path(__file__).resolve().parents[2] / "data")
