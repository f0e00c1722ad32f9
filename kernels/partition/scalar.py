"""The search for a fault-tolerant pair of dimensions, and trials on the list of their faults, for any n and f.

Dimensions {i, j} are fault-tolerant if no two faults conflict on them, that is, differ in i, j or both and in nothing else.  So
neither dimension may have a conflict by itself, which excludes it from all pairs.  Figure 2 of the paper takes the first
dimension without a conflict for i, and then the first j such that {i, j} is fault-tolerant; j > i, because every smaller j has a
conflict.  So it succeeds exactly if the first fault-tolerant pair in lexicographic order has the first dimension without a
conflict as its lower one.  One search answers both questions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cube.labels import LabelSet, add_label, clear_labels, label_set
from ..draws.nodes import Draws, count_sampled_labels, draw_faults, draws_for
from ..machine import bits
from ..machine.array_types import Ints, Words
from ..machine.bits import ONE, ZERO
from ..machine.jit import block, scratch
from ..machine.trials import trials_kernel
from .layout import TWO_PARTITION, F, N

_EXISTS = TWO_PARTITION.counter("partition_exists")
_GREEDY = TWO_PARTITION.counter("greedy_finds")
_LO = TWO_PARTITION.counter("lo")
_HI = TWO_PARTITION.counter("hi")

#: Up to this number of faults all pairs are compared; above it, masked labels are looked up in a table.
_MAX_SCANNED = 24


@block
def record_trial(tally, lo, hi, greedy):
    """Tally one trial: its first pair lo < hi, and whether Figure 2 finds it too; lo is -1 without a pair."""
    if lo >= 0:
        tally[_EXISTS] += 1
        tally[_GREEDY] += np.int64(greedy)
        tally[_LO] += lo
        tally[_HI] += hi


def make_search(meets: Any) -> Any:
    """Return the search that uses a block ``meets(faults, mask)``: whether two faults differ only in dimensions of ``mask``.

    The search returns (lo, hi, whether Figure 2 finds them too), with lo = -1 for no pair.  It tests {0, 1}, then each dimension,
    and then pairs of dimensions without a conflict by themselves; ``bitmap.py`` relies on this order.
    """

    @block
    def search_pair(faults, n):
        if n >= 2 and not meets(faults, np.uint64(3)):  # {0, 1} decides most trials
            return np.int64(0), np.int64(1), True
        free_dims = ZERO  # those without a conflict by themselves
        for i in range(n):
            bit = ONE << np.uint64(i)
            if not meets(faults, bit):
                free_dims |= bit
        is_first = True
        while free_dims:
            lo = free_dims & (~free_dims + ONE)
            free_dims ^= lo
            higher = free_dims
            while higher:
                hi = higher & (~higher + ONE)
                higher ^= hi
                if not meets(faults, lo | hi):
                    return bits.lowest(lo), bits.lowest(hi), is_first
            is_first = False
        return np.int64(-1), np.int64(-1), False

    return search_pair


# ---------------------------------------------------------------- faults in a list


class FaultList(NamedTuple):
    """A trial's distinct faults as a list; ``draw_fault_list`` fills it."""

    labels: Words  #: the faults, in the order of sampling
    size: Ints  #: (1): number of faults
    seen: LabelSet  #: masked labels if there are many faults; empty between calls
    draws: Draws


@scratch
def fault_list_for(n, f):
    """Return a list for f faults of Q_n."""
    return FaultList(
        np.empty(max(1, f), np.uint64),
        np.full(1, f),
        label_set(f if f > _MAX_SCANNED else 0),
        draws_for(count_sampled_labels(n, f)),
    )


@block
def draw_fault_list(key, t, n, faults):
    """Sample trial ``t``'s faults."""
    draw_faults(key, t, n, faults.size[0], faults.labels, faults.draws)


@block
def has_listed_pair(faults, mask):
    """Whether two listed faults differ only in dimensions of ``mask``."""
    f = faults.size[0]
    if f <= _MAX_SCANNED:
        for i in range(1, f):
            for j in range(i):
                if (faults.labels[i] ^ faults.labels[j]) & ~mask == ZERO:
                    return True
        return False
    found = False
    for i in range(f):
        if not add_label(faults.seen, faults.labels[i] & ~mask):
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
def run_list_trial(key, t, params, faults, tally):
    """Run one trial at (n, f) on its list of faults.

    Each dimension or pair that is tried takes O(f^2) for up to _MAX_SCANNED faults and O(f) for more, or less if faults conflict.
    """
    n = np.int64(params[N])
    draw_fault_list(key, t, n, faults)
    lo, hi, greedy = search_listed(faults, n)
    record_trial(tally, lo, hi, greedy)


#: Kernel for every n and f.
TWO_PARTITION_SINGLE = trials_kernel(set_up, run_list_trial)
