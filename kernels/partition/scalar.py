"""The search for a fault-tolerant pair of dimensions, trials on the list of their faults, any n, any f, and the enumeration.

Dimensions {i, j} are fault-tolerant when no two faults meet on them, that is, differ in nothing else; so neither dimension may
have a conflict of its own.  Figure 2 takes the first dimension without one for i, and then the first j that goes with i:
j > i, because a smaller j has a conflict.  So it succeeds exactly when the first pair in lexicographic order has the
first dimension without a conflict for its lower one, and one search answers for both.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cube.labels import LabelSet, add_label, clear_labels, label_set
from ..draws.nodes import Draws, count_sampled_labels, draw_faults, draws_for
from ..machine import bits
from ..machine.array_types import Words
from ..machine.bits import ALL_BITS, ONE, ZERO
from ..machine.jit import block, kernel, scratch
from ..machine.trials import trials_kernel
from .layout import TWO_PARTITION, F, N

_EXISTS = TWO_PARTITION.counter("exists")
_GREEDY = TWO_PARTITION.counter("greedy")
_LO = TWO_PARTITION.counter("lo")
_HI = TWO_PARTITION.counter("hi")

# Up to so many faults all pairs are compared; above, words are looked up in a table.
_MAX_SCANNED = 24


@block
def record_trial(tally, lo, hi, greedy):
    """Record one trial; lo is -1 without a pair."""
    if lo >= 0:
        tally[_EXISTS] += 1
        tally[_GREEDY] += np.int64(greedy)
        tally[_LO] += lo
        tally[_HI] += hi


def make_search(meets: Any) -> Any:
    """The search by a block ``meets(faults, mask)``: whether two faults differ in nothing outside ``mask``.

    It gives (lo, hi, whether Figure 2 finds them too), -1 for none.
    """

    @block
    def search_pair(faults, n):
        if n >= 2 and not meets(faults, np.uint64(3)):
            return np.int64(0), np.int64(1), True
        alone = np.uint64(0)
        for i in range(n):
            bit = ONE << np.uint64(i)
            if not meets(faults, bit):
                alone |= bit
        first = True
        while alone:
            lo = alone & (~alone + ONE)
            alone ^= lo
            rest = alone
            while rest:
                hi = rest & (~rest + ONE)
                rest ^= hi
                if not meets(faults, lo | hi):
                    return bits.lowest(lo), bits.lowest(hi), first
            first = False
        return np.int64(-1), np.int64(-1), False

    return search_pair


# ---------------------------------------------------------------- on a list


class FaultList(NamedTuple):
    """A trial's distinct faults as a list."""

    labels: Words
    count: Any  #: int64 (1): number of faults
    seen: LabelSet  #: room for their words, where they are many
    draws: Draws


@scratch
def fault_list_for(n, f):
    """Room for f faults of Q_n."""
    few = count_sampled_labels(n, f)
    return FaultList(
        np.empty(max(1, f), np.uint64), np.full(1, f), label_set(f if f > _MAX_SCANNED else 0), draws_for(few)
    )


@block
def draw_fault_list(key, t, n, faults):
    """Draw trial ``t``'s faults."""
    draw_faults(key, t, n, faults.count[0], faults.labels, faults.draws)


@block
def has_listed_pair(faults, mask):
    """Whether two listed faults differ in nothing outside ``mask``."""
    f = faults.count[0]
    if f <= _MAX_SCANNED:
        for i in range(1, f):
            for j in range(i):
                if (faults.labels[i] ^ faults.labels[j]) & ~mask == np.uint64(0):
                    return True
        return False
    found = False
    for i in range(f):
        if not add_label(faults.seen, faults.labels[i] & ~mask & (ALL_BITS >> ONE)):
            found = True
            break
    clear_labels(faults.seen)
    return found


search_listed = make_search(has_listed_pair)


@scratch
def set_up(params):
    """Room for the trials of a point (n, f)."""
    return fault_list_for(np.int64(params[N]), np.int64(params[F]))


@block
def run_list_trial(key, t, params, scratch, tally):
    """One trial at (n, f) by its list of faults; O(f) for each dimension or pair that is tried, less where it fails early."""
    n = np.int64(params[N])
    draw_fault_list(key, t, n, scratch)
    lo, hi, greedy = search_listed(scratch, n)
    record_trial(tally, lo, hi, greedy)


#: Every n and f.
TWO_PARTITION_SINGLE = trials_kernel(set_up, run_list_trial)


# ---------------------------------------------------------------- all fault sets

#: Largest cube of the enumeration: its pairs (i, j) are the bits 8 i + j of a word, and bit 8 i + i bars dimension i alone.
MAX_COUNTED_DIMENSION = 6


@block
def _find_first_pair(n, barred):
    """Whether a pair is left, and whether it is Figure 2's."""
    first = True
    for i in range(n):
        if (barred >> np.uint64(9 * i)) & ONE:
            continue
        for j in range(i + 1, n):
            if (barred >> np.uint64(9 * j)) & ONE == ZERO and (barred >> np.uint64(8 * i + j)) & ONE == ZERO:
                return True, first
        first = False
    return False, False


@kernel("void(int64, int64, int64[:, ::1])")
def count_partitions(n, most, counts):
    """Count the fault sets with node 0: row f of ``counts`` gets those of f faults with a pair, and with Figure 2's.

    Translations carry every set with a fault to one with node 0, so only those are visited, in ascending order and as long
    as some pair of dimensions is left: adding a fault rules out pairs and brings none back.

    Parameters
    ----------
    n, most : int64
        2 <= n <= 6; sets of 1 .. most <= 16 faults.  Not checked.
    counts : int64 array, shape (most + 1, 2)
        Added to.
    """
    size = np.int64(1) << n
    faults = np.zeros(most + 1, np.int64)
    barred = np.zeros(most + 1, np.uint64)
    depth = np.int64(0)  # faults[0] = 0 is there throughout
    counts[1, 0] += 1
    counts[1, 1] += 1
    candidate = np.int64(1)
    while True:
        if candidate == size or depth + 1 == most:
            if depth == 0:
                return
            candidate = faults[depth] + 1
            depth -= 1
            continue
        now = barred[depth]
        for k in range(depth + 1):
            apart = np.uint64(candidate ^ faults[k])
            if bits.popcount(apart) <= 2:
                now |= ONE << np.uint64(8 * bits.lowest(apart) + bits.highest(apart))
        found, greedy = _find_first_pair(n, now)
        if found:
            depth += 1
            faults[depth] = candidate
            barred[depth] = now
            counts[depth + 1, 0] += 1
            counts[depth + 1, 1] += np.int64(greedy)
        candidate += 1
