"""The tally of the unsafe-node kernels: which slot counts what, and how one trial is entered.

Every kernel of this family takes ``params`` = (n, f) and adds to these slots; sums that can be large are split into
digits of 32 bits, as :class:`fastcube.engine.study.Counter` reads them.
"""

from __future__ import annotations

import numpy as np

from ..jit import block

# np.int64, because Numba compiles a function once more for each Python integer it is called with
UNSAFE = np.int64(0)  #: unsafe nodes, two digits
UNSAFE_SQUARED = np.int64(2)  #: their square, four digits
WITH_UNSAFE = np.int64(6)  #: trials with an unsafe node
ALL_UNSAFE = np.int64(7)  #: trials without an active node
ROUNDS = np.int64(8)  #: rounds of FIND_UNSAFE, where known
ROUNDS_SQUARED = np.int64(9)  #: their square
MERGING = np.int64(10)  #: trials with two faults within distance 2
ROUNDS_KNOWN = np.int64(11)  #: trials whose rounds are known: no subcube has more than 30 dimensions
MAX_ROUNDS = np.int64(12)  #: largest number of rounds, and its smallest trial
SLOTS = 14

_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


@block
def offer(tally, rounds, trial):
    """Let one trial compete for the largest number of rounds; among equals the smallest trial wins."""
    best = tally[MAX_ROUNDS]
    if rounds > best or (rounds == best and trial < tally[MAX_ROUNDS + 1]):
        tally[MAX_ROUNDS] = rounds
        tally[MAX_ROUNDS + 1] = trial


@block
def add_wide(tally, slot, value):
    """Add a uint64 to two digits."""
    tally[slot] += np.int64(value & _LOW)
    tally[slot + 1] += np.int64(value >> _32)


@block
def add_square(tally, slot, value):
    """Add the square of a uint64 below 2^63 to four digits."""
    low = value & _LOW
    high = value >> _32
    cross = low * high
    least = low * low
    rest = least + (cross << np.uint64(33))
    add_wide(tally, slot, rest)
    add_wide(tally, slot + 2, high * high + (cross >> np.uint64(31)) + np.uint64(rest < least))


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
        offer(tally, rounds, trial)
