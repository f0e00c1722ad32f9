"""The tables of exact values; ``python -m fastcube.studies.leu_kuo.tables`` writes the files under ``data/`` again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastcube.exact.enumeration import exact_gather, exact_trees
from fastcube.measure.study import Point
from fastcube.measure.tally import Tally

from .enumeration import find_tree, gather, optimal_tree

#: Name of a table to its function of exact values, and the tallies that have its maxima.
TABLES: dict[str, tuple[Callable[..., Any], tuple[Callable[[Point], Tally], ...]]] = {
    "trees": (exact_trees, (find_tree, optimal_tree)),
    "gather": (exact_gather, (gather,)),
}


def stored_points() -> list[Point]:
    """Return the points of the tables under ``data/``."""
    q2_q3 = [(n, k, f) for n in (2, 3) for k in range(n * 2 ** (n - 1) + 1) for f in range(3)]
    q4 = [
        *((4, k, 0) for k in range(7)),
        *((4, 0, f) for f in range(1, 5)),
        *((4, k, f) for k in (1, 2) for f in (1, 2)),
    ]
    return [{"n": n, "links": k, "f": f} for n, k, f in q2_q3 + q4]


def table_row(table: str, point: Point) -> dict[str, Any]:
    """Return one row: the point, its number of fault sets, the exact values as text, and the largest values of any set."""
    values, enumerations = TABLES[table]
    tallies = [enumerate_sets(point) for enumerate_sets in enumerations]
    maxima = {  # the place of a maximum is negative if no set has the quantity
        name: None if place < 0 else most for tally in tallies for name, (most, place) in tally.maxima.items()
    }
    texts = {name: None if value is None else str(value) for name, value in values(**point).items()}
    return {**point, "sets": tallies[0].trials, **texts, **maxima}


def write_tables(folder: Path) -> None:
    """Write ``exact-trees.json`` and ``exact-gather.json``."""
    for name in TABLES:
        rows = [json.dumps(table_row(name, point)) for point in stored_points()]
        source = f"every set of so many faulty links and nodes of Q_2, Q_3 and Q_4, by fc.exact_{name}"
        head = json.dumps({"source": source, "command": "python -m fastcube.studies.leu_kuo.tables"})[:-1]
        (folder / f"exact-{name}.json").write_text(head + ', "rows": [\n' + ",\n".join(rows) + "\n]}\n")


if __name__ == "__main__":
    write_tables(Path(__file__).resolve().parents[2] / "data")
