"""Sample trial t of all tree studies for replay: its faulty nodes, and its faulty links as pairs (u, v) with u < v."""

from __future__ import annotations

import numpy as np

from ..draws.links import link_set
from ..draws.nodes import fault_set


def sample_faults(key: int, trial: int, n: int, links: int, f: int) -> tuple[list[int], list[tuple[int, int]]]:
    """Return f distinct faulty nodes of Q_n and, sampled independently, ``links`` distinct faulty links."""
    pairs = [(u, u | 1 << k) for u, k in link_set(np.uint64(key), trial, n, links).tolist()]
    return fault_set(np.uint64(key), trial, n, f).tolist(), pairs
