"""Sample trial t of both studies for replay."""

from __future__ import annotations

import numpy as np

from ..machine.jit import kernel
from ..trees.replay import sample_faults
from .scalar import draw_ends


def sample_edst_broadcast(key: int, trial: int, n: int, d: int) -> tuple[int, int | None]:
    """Return the source, and the faulty node at distance d from it, which is None for d = 0."""
    source, fault = _sample_edst_broadcast(np.uint64(key), trial, n, d)
    return int(source), int(fault) if d else None


@kernel("UniTuple(int64, 2)(uint64, int64, int64, int64)")
def _sample_edst_broadcast(key, t, n, d):
    """Return source and faulty node of a trial; see ``draw_ends``."""
    return draw_ends(key, t, n, d)


def sample_edge_disjoint_trees(
    key: int, trial: int, n: int, f: int, links: int
) -> tuple[list[int], list[tuple[int, int]]]:
    """Return f distinct faulty nodes of Q_n and, sampled independently, faulty links (u, v) with u < v; both ascending."""
    nodes, pairs = sample_faults(key, trial, n, links, f)
    return sorted(nodes), sorted(pairs)
