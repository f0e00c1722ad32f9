"""Hypercubes that claims are tried on, and counterexamples on one of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from fastcube.networks.hypercube import Hypercube

from .claims import Counterexample


def links_of(n: int) -> list[tuple[int, int]]:
    """Return all links of Q_n, ordered by their lower ends."""
    return [(u, u | 1 << k) for u in range(2**n) for k in range(n) if not u >> k & 1]


def enumerate_cubes(n: int, nodes: int = 0, links: int = 0, first: int = 0) -> Iterator[Hypercube]:
    """Yield Q_n with every set of ``links`` faulty links and ``nodes`` faulty nodes, whose labels are at least ``first``."""
    for cut in itertools.combinations(links_of(n), links):
        for chosen in itertools.combinations(range(first, 2**n), nodes):
            yield Hypercube(n, chosen, cut)


def cube_data(cube: Hypercube, **more: Any) -> dict[str, Any]:
    """Return a cube and its faults as the data of a counterexample, with ``more``."""
    nodes = [v for v in range(2**cube.n) if cube.is_faulty(v)]
    return {"n": cube.n, "faulty_nodes": nodes, "faulty_links": sorted(map(list, cube.faulty_links)), **more}


def cube_counterexample(
    description: str, cube: Hypercube, python: str, name: str = "c", form: str = "", **more: Any
) -> Counterexample:
    """Return a counterexample on one cube, called ``name`` in the expression; ``more`` joins its data."""
    data = cube_data(cube, **more)
    return Counterexample.of(description, f"{name} = fc.{cube.source()}\n{python}", data, form)
