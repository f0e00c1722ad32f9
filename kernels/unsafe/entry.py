"""Record trials in the tally of the unsafe-node kernels under f faults."""

from __future__ import annotations

import numpy as np

from ..machine.jit import block
from ..tally.maxima import offer
from ..tally.sums import add_quantity, add_square, add_wide
from .layout import CLASSES, SPLIT_ABOVE, UNSAFE_FRACTION

UNSAFE = UNSAFE_FRACTION.moments("unsafe_nodes")
WITH_UNSAFE = UNSAFE_FRACTION.counter("with_unsafe")
ALL_UNSAFE = UNSAFE_FRACTION.counter("all_unsafe")
ROUNDS = UNSAFE_FRACTION.moments("rounds")
CLOSE_PAIRS = UNSAFE_FRACTION.counter("close_pair")
ROUNDS_KNOWN = UNSAFE_FRACTION.counter("rounds_known")
ROUNDS_BINS = UNSAFE_FRACTION.counter("rounds_bins")
MOST_ROUNDS = UNSAFE_FRACTION.maximum("rounds")
REACHED = UNSAFE_FRACTION.family("reached_{}", CLASSES)
UNSAFE_IN = UNSAFE_FRACTION.family("unsafe_nodes_{}", CLASSES)
UNSAFE_SQUARED_IN = UNSAFE_FRACTION.family("unsafe_nodes_squared_{}", CLASSES)

#: Least number of unsafe nodes of each class.
CLASS_BOUNDS = np.array(CLASSES, np.uint64)

#: Number of classes that begin below 2^16, which are all that a 16-bit lane can reach.
NARROW_CLASSES = np.int64(sum(least < 1 << 16 for least in CLASSES))

#: The last bin of ``rounds_bins``.  Cubes of up to eight dimensions stay below it, with at most floor(d^2 / 3) = 21 rounds.
LAST_BIN = np.int64(31)


@block
def count_rounds(tally, reached):
    """Record trials of lanes by their rounds: ``reached[r]`` of them took r rounds or more (int64, LAST_BIN + 2 entries)."""
    tally[ROUNDS_KNOWN] += reached[0]
    tally[WITH_UNSAFE] += reached[1]
    for r in range(LAST_BIN + 1):
        tally[ROUNDS_BINS + r] += reached[r] - reached[r + 1]
        tally[ROUNDS.total] += reached[r + 1]
        tally[ROUNDS.squares] += (2 * r + 1) * reached[r + 1]  # r^2 is the sum of 2 i + 1 over i < r


@block
def _record_class(tally, unsafe):
    """Record a trial's unsafe nodes in their class; numbers below the first class are not recorded."""
    c = np.int64(0)
    while c < CLASS_BOUNDS.size and CLASS_BOUNDS[c] <= unsafe:
        tally[REACHED[c]] += 1
        c += 1
    if c > 0:
        add_wide(tally, UNSAFE_IN[c - 1], unsafe)
        add_square(tally, UNSAFE_SQUARED_IN[c - 1], unsafe)


@block
def record_trial(tally, n, trial, unsafe, rounds, close_pair, all_unsafe):
    """Record one trial of Q_n: unsafe nodes (uint64), rounds (int64, -1 if unknown), close pair present, all nodes unsafe."""
    tally[CLOSE_PAIRS] += np.int64(close_pair)
    tally[ALL_UNSAFE] += np.int64(all_unsafe)
    if unsafe != np.uint64(0):
        tally[WITH_UNSAFE] += 1
        add_quantity(tally, UNSAFE, np.int64(unsafe))
        if n > SPLIT_ABOVE:
            _record_class(tally, unsafe)
    if rounds >= 0:
        tally[ROUNDS_KNOWN] += 1
        tally[ROUNDS_BINS + min(rounds, LAST_BIN)] += 1
        add_quantity(tally, ROUNDS, rounds)
        offer(tally, MOST_ROUNDS, rounds, trial)
