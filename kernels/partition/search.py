"""The search for a fault-tolerant pair of dimensions, and trials on the list of their faults: any n, any f.

Dimensions {i, j} are fault-tolerant when no two faults meet on them, that is, differ in nothing else; so neither dimension may
have a conflict of its own.  Figure 2 takes the first dimension without one for i, and then the first j that goes with i:
j > i, because a smaller j has a conflict.  So it succeeds exactly when the first pair in lexicographic order has the
first dimension without a conflict for its lower one, and one search answers for both.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import bits
from ..bits import ALL, ONE
from ..jit import block, scratch
from ..labels import LabelSet, add, clear, label_set
from ..sampling import Draws, draw_faults, drawn, draws_for
from ..trials import trials_kernel
from .layout import TALLY

_EXISTS = TALLY.counter("exists")
_GREEDY = TALLY.counter("greedy")
_LO = TALLY.counter("lo")
_HI = TALLY.counter("hi")

# Up to so many faults all pairs are compared; above, words are looked up in a table.
_FEW = 24


@block
def record(tally, lo, hi, greedy):
    """Enter one trial; lo is -1 without a pair."""
    if lo >= 0:
        tally[_EXISTS] += 1
        tally[_GREEDY] += np.int64(greedy)
        tally[_LO] += lo
        tally[_HI] += hi


def searching(meets: Any) -> Any:
    """The search by a block ``meets(faults, mask)``: whether two faults differ in nothing outside ``mask``.

    It gives (lo, hi, whether Figure 2 finds them too), -1 for none.
    """

    @block
    def search(faults, n):
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

    return search


# ---------------------------------------------------------------- on a list


class Listed(NamedTuple):
    """Distinct faults as a list."""

    labels: Any  #: uint64
    count: Any  #: int64, of length 1: number of faults
    seen: LabelSet  #: room for their words, where they are many


@scratch
def listed(f):
    """Room for f faults."""
    return Listed(np.empty(max(1, f), np.uint64), np.zeros(1, np.int64), label_set(f if f > _FEW else 0))


@block
def meet_listed(faults, mask):
    """Whether two listed faults differ in nothing outside ``mask``."""
    f = faults.count[0]
    if f <= _FEW:
        for i in range(1, f):
            for j in range(i):
                if (faults.labels[i] ^ faults.labels[j]) & ~mask == np.uint64(0):
                    return True
        return False
    found = False
    for i in range(f):
        if not add(faults.seen, faults.labels[i] & ~mask & (ALL >> ONE)):
            found = True
            break
    clear(faults.seen)
    return found


search_listed = searching(meet_listed)


class Scratch(NamedTuple):
    """What a trial on a list works in."""

    faults: Listed
    draws: Draws


@scratch
def set_up(params):
    """Room for the trials of a point (n, f)."""
    n = np.int64(params[0])
    f = np.int64(params[1])
    faults = listed(max(f, drawn(n, f)))
    faults.count[0] = f
    return Scratch(faults, draws_for(drawn(n, f)))


@block
def list_trial(key, t, params, scratch, tally):
    """One trial at (n, f) by its list of faults; O(f) for each dimension or pair that is tried, less where it fails early."""
    n = np.int64(params[0])
    f = np.int64(params[1])
    draw_faults(key, t, n, f, scratch.faults.labels, scratch.draws)
    lo, hi, greedy = search_listed(scratch.faults, n)
    record(tally, lo, hi, greedy)


#: Every n and f.
PARTITION_LISTED = trials_kernel(set_up, list_trial)
