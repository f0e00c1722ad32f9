"""The search for a fault-tolerant pair of dimensions; trials on the list of their faults, any n, any f; and the enumeration.

Dimensions {i, j} are fault-tolerant if no two faults conflict on them, that is, differ in nothing else.  So neither dimension may
have a conflict by itself.  Figure 2 takes the first dimension without a conflict for i, and then the first j such that {i, j} is
fault-tolerant; j > i, because every smaller j has a conflict.  So it succeeds exactly if the first fault-tolerant pair in
lexicographic order has the first dimension without a conflict as its lower one.  One search answers both questions.
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

_EXISTS = TWO_PARTITION.counter("partition_exists")
_GREEDY = TWO_PARTITION.counter("greedy_finds")
_LO = TWO_PARTITION.counter("lo")
_HI = TWO_PARTITION.counter("hi")

# Up to this number of faults all pairs are compared; above it, masked labels are looked up in a table.
_MAX_SCANNED = 24


@block
def record_trial(tally, lo, hi, greedy):
    """Tally one trial; lo is -1 without a pair."""
    if lo >= 0:
        tally[_EXISTS] += 1
        tally[_GREEDY] += np.int64(greedy)
        tally[_LO] += lo
        tally[_HI] += hi


def make_search(meets: Any) -> Any:
    """Return the search that uses a block ``meets(faults, mask)``: whether two faults differ only in dimensions of ``mask``.

    The search returns (lo, hi, whether Figure 2 finds them too), with lo = -1 for no pair.
    """

    @block
    def search_pair(faults, n):
        if n >= 2 and not meets(faults, np.uint64(3)):  # {0, 1} decides most trials
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


# ---------------------------------------------------------------- faults in a list


class FaultList(NamedTuple):
    """A trial's distinct faults as a list."""

    labels: Words  #: the faults, in the order of sampling
    count: Any  #: int64 (1): number of faults
    seen: LabelSet  #: scratch memory for masked labels, if there are many
    draws: Draws


@scratch
def fault_list_for(n, f):
    """Return a list for f faults of Q_n."""
    few = count_sampled_labels(n, f)
    return FaultList(
        np.empty(max(1, f), np.uint64), np.full(1, f), label_set(f if f > _MAX_SCANNED else 0), draws_for(few)
    )


@block
def draw_fault_list(key, t, n, faults):
    """Sample trial ``t``'s faults."""
    draw_faults(key, t, n, faults.count[0], faults.labels, faults.draws)


@block
def has_listed_pair(faults, mask):
    """Whether two listed faults differ only in dimensions of ``mask``."""
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
    """Return a list of faults for trials at (n, f) = params."""
    return fault_list_for(np.int64(params[N]), np.int64(params[F]))


@block
def run_list_trial(key, t, params, scratch, tally):
    """Run one trial at (n, f) on its list of faults; O(f) for each dimension or pair that is tried, less if a test ends early."""
    n = np.int64(params[N])
    draw_fault_list(key, t, n, scratch)
    lo, hi, greedy = search_listed(scratch, n)
    record_trial(tally, lo, hi, greedy)


#: Kernel for every n and f.
TWO_PARTITION_SINGLE = trials_kernel(set_up, run_list_trial)


# ---------------------------------------------------------------- all fault sets

#: Largest cube of the enumeration: bit 8 i + j of a word excludes the pair {i, j}, and bit 8 i + i dimension i by itself.
MAX_COUNTED_DIMENSION = 6


@block
def _find_first_pair(n, barred):
    """Return whether a pair is left, and whether Figure 2 finds it."""
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
    """Count the fault sets with node 0: row f of ``counts`` gets the number of sets of f faults with a pair, and with Figure 2's.

    Translations map every nonempty set to a set with node 0, so only these are visited, in ascending order.  Branches without a
    pair of dimensions are cut, because adding a fault only excludes pairs.

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
    depth = np.int64(0)  # faults[0] = 0 always
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
            difference = np.uint64(candidate ^ faults[k])
            if bits.popcount(difference) <= 2:
                now |= ONE << np.uint64(8 * bits.lowest(difference) + bits.highest(difference))
        found, greedy = _find_first_pair(n, now)
        if found:
            depth += 1
            faults[depth] = candidate
            barred[depth] = now
            counts[depth + 1, 0] += 1
            counts[depth + 1, 1] += np.int64(greedy)
        candidate += 1
