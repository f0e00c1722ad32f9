"""Shared code of ``matvec.py`` and ``sorting.py``: faults from a seed, a tree, and a report on each variant."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable
from typing import Any

import fastcube as fc


def arguments(text: str, n: int) -> argparse.Namespace:
    """Parse the options of an example."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--n", type=int, default=n, help="dimension of the hypercube")
    parser.add_argument("--links", type=int, default=8, help="number of faulty links")
    parser.add_argument("--nodes", type=int, default=1, help="number of faulty nodes")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args([] if "ipykernel" in sys.modules else None)  # Jupyter has options of its own


def faulty_cube(n: int, links: int, nodes: int, seed: int) -> fc.Hypercube:
    """Return Q_n with random faults."""
    rng = random.Random(seed)
    every = [(u, u | 1 << k) for u in range(2**n) for k in range(n) if not u >> k & 1]
    return fc.Hypercube(n, rng.sample(range(2**n), nodes), rng.sample(every, links))


def holders(cube: fc.Hypercube) -> list[int]:
    """Return the nodes that get data, which are nonfaulty and have a nonfaulty link."""
    return [v for v, word in enumerate(fc.unusable_link_masks(cube).tolist()) if word != 2**cube.n - 1]


def report(
    cube: fc.Hypercube,
    data: dict[int, Any],
    split: Callable[[Any, int], list[Any]],
    merge: Callable[[Any, Any], Any],
    right: Callable[[Any], bool],
) -> None:
    """Gather in every variant and print the results; exit with 1 if ``corrected`` is wrong although all data could arrive."""
    tree = fc.find_tree(cube)
    if tree is None:
        print("every node has a faulty link: no sink")
        return
    print(f"{len(cube.faulty_links)} faulty links, {len(cube.faulty_nodes)} faulty nodes, {len(data)} nodes with data")
    print(f"FIND_TREE: {tree}, {len(tree.faulty_links)} faulty links in the tree")
    for variant in ("as_printed", "as_commented", "corrected"):
        g = fc.gather(cube, tree, variant=variant, data=data, split=split, merge=merge)
        answer = "right" if g.result is not None and right(g.result) else "wrong"
        ended = f"{len(g.blocked)} nodes wait for ever" if g.deadlocked else f"{g.lost} of {g.expected} units lost"
        print(f"{variant:12s} {g.steps_sync} steps, slowdown {g.steps_sync / cube.n:.2f}: {answer} answer, {ended}")
        if variant == "corrected" and answer == "wrong" and g.unreachable_data == 0:
            sys.exit(1)
