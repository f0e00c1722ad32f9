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
ROUNDS_LAW = SPARSE.counter("rounds_law")
MOST_ROUNDS = SPARSE.extreme("rounds")

#: The last bin of ``rounds_law``.  Cubes of up to eight dimensions stay below it: at most floor(d^2 / 3) = 21 rounds.
LAST_BIN = np.int64(31)


@block
def count_rounds(tally, reached):
    """Enter trials of lanes by their rounds: ``reached[r]`` (int64, LAST_BIN + 2 of them) took r rounds or more."""
    tally[ROUNDS_KNOWN] += reached[0]
    tally[WITH_UNSAFE] += reached[1]
    for r in range(LAST_BIN + 1):
        tally[ROUNDS_LAW + r] += reached[r] - reached[r + 1]
        tally[ROUNDS] += reached[r + 1]
        tally[ROUNDS_SQUARED] += (2 * r + 1) * reached[r + 1]


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
        tally[ROUNDS_LAW + min(rounds, LAST_BIN)] += 1
        tally[ROUNDS] += rounds
        tally[ROUNDS_SQUARED] += rounds * rounds
        offer(tally, MOST_ROUNDS, rounds, trial)
