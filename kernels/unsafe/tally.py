"""How one trial enters the tally of the unsafe-node kernels under f faults, ``params`` = (n, f)."""

from __future__ import annotations

import numpy as np

from ..jit import block
from ..tally import add_square, add_wide, offer
from .layout import SPARSE

UNSAFE = SPARSE.counter("unsafe_nodes")
UNSAFE_SQUARED = SPARSE.counter("unsafe_nodes_squared")
WITH_UNSAFE = SPARSE.counter("with_unsafe")
ALL_UNSAFE = SPARSE.counter("all_unsafe")
ROUNDS = SPARSE.counter("rounds")
ROUNDS_SQUARED = SPARSE.counter("rounds_squared")
MERGING = SPARSE.counter("merging")
ROUNDS_KNOWN = SPARSE.counter("rounds_known")
MOST_ROUNDS = SPARSE.extreme("rounds")


@block
def record(tally, trial, unsafe, rounds, merging, everything):
    """Enter one trial: unsafe nodes (uint64), rounds (int64, -1 unknown), and two truth values."""
    tally[MERGING] += np.int64(merging)
    tally[ALL_UNSAFE] += np.int64(everything)
    if unsafe != np.uint64(0):
        tally[WITH_UNSAFE] += 1
        add_wide(tally, UNSAFE, unsafe)
        add_square(tally, UNSAFE_SQUARED, unsafe)
    if rounds >= 0:
        tally[ROUNDS_KNOWN] += 1
        tally[ROUNDS] += rounds
        tally[ROUNDS_SQUARED] += rounds * rounds
        offer(tally, MOST_ROUNDS, rounds, trial)
