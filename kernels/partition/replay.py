"""Sample trial t of ``two-partition`` for replay."""

from __future__ import annotations

import numpy as np

from ..draws.nodes import fault_set


def two_partition(key: int, trial: int, n: int, f: int) -> list[int]:
    """Return f distinct faulty nodes of Q_n."""
    nodes: list[int] = fault_set(np.uint64(key), trial, n, f).tolist()
    return nodes
