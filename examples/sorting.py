"""
Merge sort
==========

Each node sorts its own numbers, and a communication tree of the hypercube merges them (Leu & Kuo, section 2.1). The result
shows which variant of the gathering algorithm loses numbers if links and nodes are faulty.

::

    python examples/sorting.py --links 8 --nodes 1 --seed 0

A notebook of it needs the file ``gathered.py`` in the same folder.
"""

# sphinx_gallery_thumbnail_path = "_static/sorting.svg"

from __future__ import annotations

import heapq

import numpy as np
from gathered import arguments, faulty_cube, holders, report


def merge(a: list[int], b: list[int]) -> list[int]:
    """Merge two sorted lists."""
    return list(heapq.merge(a, b))


def deal(numbers: list[int], m: int) -> list[list[int]]:
    """Divide a sorted list into m sorted parts."""
    return [numbers[k::m] for k in range(m)]


def main() -> None:
    options = arguments(__doc__ or "", n=5)
    numbers = np.random.default_rng(options.seed).integers(0, 1000, 200)
    cube = faulty_cube(options.n, options.links, options.nodes, options.seed)
    nodes = holders(cube)
    data = {v: sorted(numbers[at :: len(nodes)].tolist()) for at, v in enumerate(nodes)}
    report(cube, data, deal, merge, lambda result: result == np.sort(numbers).tolist())


if __name__ == "__main__":
    main()
