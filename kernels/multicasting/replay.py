"""Sample trial t of ``multicast`` (one source) and of ``multicast-wormhole`` for replay."""

from __future__ import annotations

import numpy as np

from ..machine.jit import kernel
from ..partition.scalar import fault_list_for
from .scalar import draw_multicasts, multicast_ends_for


def sample_multicasts(
    key: int, trial: int, n: int, f: int, sources: int, destinations: int
) -> tuple[list[int], list[int], list[list[int]]]:
    """Return f distinct faulty nodes of Q_n, the sources, and each source's destinations in ascending order."""
    faults, found, nodes = _sample_multicasts(np.uint64(key), trial, n, f, sources, destinations)
    return faults.tolist(), found.tolist(), np.sort(nodes).tolist()


@kernel("Tuple((uint64[::1], uint64[::1], uint64[:, ::1]))(uint64, int64, int64, int64, int64, int64)")
def _sample_multicasts(key, t, n, f, sources, destinations):
    """Return trial t's faults, sources, and a row of destinations per source, as ``draw_multicasts`` samples them."""
    faults, ends = fault_list_for(n, f), multicast_ends_for(n, sources)
    draw_multicasts(key, t, n, destinations, faults, ends)
    return faults.labels[:f].copy(), ends.sources, ends.destinations[:, :destinations].copy()
