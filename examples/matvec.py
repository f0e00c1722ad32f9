"""
A matrix times a vector
=======================

Partial sums are gathered over communication trees of a hypercube (Leu & Kuo, section 2.1).

Without faults the matrix is spread as in Figure 2, where node (i, j) of the Gray-code grid holds a block of A and a part of x.
Sums go along the rows to the first column, and then along this column to node (1, 1).  With faults the entries of A are
distributed to all nodes that hold data, and one tree over the whole cube gathers partial sums by row.

::

    python examples/matvec.py --links 8 --nodes 1 --seed 0

A notebook of it needs the file ``gathered.py`` in the same folder.
"""

# sphinx_gallery_thumbnail_path = "_static/matvec.svg"

from __future__ import annotations

import numpy as np
from gathered import arguments, faulty_cube, holders, report

import fastcube as fc

Sums = dict[int, int]  # partial sums by row of A


def add(a: Sums, b: Sums) -> Sums:
    """Add the sums of two nodes."""
    return {row: a.get(row, 0) + b.get(row, 0) for row in a.keys() | b.keys()}


def deal(sums: Sums, m: int) -> list[Sums]:
    """Divide the rows into m parts."""
    rows = sorted(sums)
    return [{row: sums[row] for row in rows[k::m]} for k in range(m)]


def on_the_grid(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Compute A x on the 8 x 4 grid of a fault-free 5-cube, row-wise, then column-wise."""
    gray = [i ^ i >> 1 for i in range(8)]
    rows, columns = np.array_split(np.arange(len(a)), 8), np.array_split(np.arange(len(x)), 4)
    across, down = fc.Hypercube(2), fc.Hypercube(3)
    first_column = {}
    for i, row in enumerate(rows):
        partial = {gray[j]: {int(r): int(a[r, part] @ x[part]) for r in row} for j, part in enumerate(columns)}
        tree = fc.CommunicationTree(across, 0, (0, 1))
        first_column[gray[i]] = fc.gather(across, tree, data=partial, split=deal, merge=add).result
    tree = fc.CommunicationTree(down, 0, (0, 1, 2))
    result = fc.gather(down, tree, data=first_column, split=deal, merge=add).result
    return np.array([result[r] for r in range(len(a))])


def main() -> None:
    options = arguments(__doc__ or "", n=5)
    rng = np.random.default_rng(options.seed)
    a, x = rng.integers(-9, 10, (24, 20)), rng.integers(-9, 10, 20)
    print("grid of Figure 2:", "right" if np.array_equal(on_the_grid(a, x), a @ x) else "wrong")
    cube = faulty_cube(options.n, options.links, options.nodes, options.seed)
    nodes = holders(cube)
    entries = [(int(i), int(j)) for i, j in np.ndindex(a.shape)]
    data: dict[int, Sums] = {}
    for at, v in enumerate(nodes):  # uniform distribution of the data over all nodes that hold data
        data[v] = {}
        for i, j in entries[at :: len(nodes)]:
            data[v][i] = data[v].get(i, 0) + int(a[i, j] * x[j])
    expected = {row: int(y) for row, y in enumerate(a @ x)}
    report(cube, data, deal, add, lambda sums: sums == expected)


if __name__ == "__main__":
    main()
