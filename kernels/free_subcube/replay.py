"""Sample the faults of trial t of ``free-subcube`` for replay."""

from __future__ import annotations

import numpy as np

from ..draws.links import link_set
from ..draws.nodes import fault_set


def free_subcube(key: int, trial: int, n: int, f: int, links: int) -> tuple[list[int], list[tuple[int, int]]]:
    """Return f distinct faulty nodes of Q_n, and distinct faulty links as pairs of nodes."""
    rows = link_set(np.uint64(key), trial, n, links).tolist() if links else []
    return fault_set(np.uint64(key), trial, n, f).tolist(), [(low, low | 1 << k) for low, k in rows]
