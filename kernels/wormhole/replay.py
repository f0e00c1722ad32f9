"""Test given faults for a cycle.  The fault sets of trials are sampled by ``replay`` of ``partition`` and ``multicasting``."""

from __future__ import annotations

import numpy as np

from ..machine.jit import kernel
from ..multicasting.supercube import Cut, set_faults
from .scalar import is_cyclic_with, set_up_deadlock


@kernel("int64(uint64[::1], int64, int64, int64, int64, int64)")
def has_dependency_cycle(faulty, n, lo, hi, unicast, virtual_channels):
    """Return whether the graph of a given supercube has a cycle, as 0 or 1; the pair (lo, hi) must be fault-tolerant."""
    scratch = set_up_deadlock(np.array([n, faulty.size], np.float64))
    set_faults(scratch.net, faulty, Cut(n, lo, hi))
    return np.int64(is_cyclic_with(scratch, n, unicast != 0, virtual_channels))
