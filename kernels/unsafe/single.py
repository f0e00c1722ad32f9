"""Unsafe nodes under f random faults, one trial at a time: the plain path, and the one for many faults.

``MERGED`` keeps lists of subcubes and works for every n and f; the lane kernels must equal it bit for bit.
``WHOLE`` marks the 2^n nodes in a bitmask and runs the rounds on it, which is faster from some f on.
Their trials also finish what a lane kernel leaves over.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import bits
from ..bits import ONE
from ..jit import block, scratch
from ..sampling import Draws, draw_faults, drawn, draws_for, mark_distinct_nodes
from ..trials import trials_kernel
from .closed import Spare, solve, spare_cubes
from .rounds import marks_words, rounds_marked
from .tally import record


class Lists(NamedTuple):
    """Scratch of :func:`merged_trial`."""

    labels: Any  #: uint64: the faults
    base: Any  #: uint64: subcubes
    free: Any
    draws: Draws
    spare: Spare


@scratch
def lists_for(params):
    """Scratch for trials at (n, f)."""
    n, f = np.int64(params[0]), np.int64(params[1])
    few = drawn(n, f)
    labels = np.empty(max(f, few), np.uint64)
    return Lists(labels, np.empty(f + 16, np.uint64), np.empty(f + 16, np.uint64), draws_for(few), spare_cubes())


@block
def merged_trial(key, t, params, scratch, tally):
    """Count unsafe nodes and rounds of a trial by merging subcubes; params (n, f), 1 <= n <= 62, 0 <= f <= 2^n.

    O(f^2 / 8) a trial, and the rounds of the subcubes; memory O(f).
    """
    n, f = np.int64(params[0]), np.int64(params[1])
    draw_faults(key, t, n, f, scratch.labels, scratch.draws)
    unsafe, rounds, merging, largest = solve(scratch.labels, f, scratch.base, scratch.free, scratch.spare)
    record(tally, n, t, unsafe, rounds, merging, largest == n)


class Cubes(NamedTuple):
    """Scratch of :func:`whole_trial`, uint64."""

    state: Any  #: the n-cube's bitmask, of whole vectors
    other: Any  #: another
    marks: Any  #: see ``rounds.rounds_marked``
    draws: Draws


@scratch
def cubes_for(params):
    """Scratch for trials at (n, f)."""
    n = np.int64(params[0])
    words = np.int64(1) << max(n - 6, 3)
    return Cubes(
        np.zeros(words, np.uint64),
        np.empty(words, np.uint64),
        np.empty(marks_words(n), np.uint64),
        draws_for(np.int64(0)),
    )


@block
def _adjacent(state, used, n):
    """Whether two set nodes of the n-cube, ``used`` words of a bitmask, are neighbours."""
    found = bits.ZERO
    for i in range(used):
        for k in range(6):
            found |= state[i] & (state[i] >> np.uint64(1 << k)) & bits.LOW[k]
        for k in range(n - 6):
            found |= state[i] & state[i ^ (1 << k)]
    return found != bits.ZERO


@block
def whole_trial(key, t, params, scratch, tally):
    """Count unsafe nodes and rounds of a trial on the whole cube's bitmask; params (n, f), 1 <= n <= 30, 0 <= f <= 2^n.

    O(f) a trial for the draws and O(2^n / 512) a round.  Two faults within distance 2 are adjacent or have a common
    neighbour, which is unsafe or makes an adjacent pair.
    """
    n, f = np.int64(params[0]), np.int64(params[1])
    few = drawn(n, f)
    inside = bits.ALL if n >= 6 else (ONE << np.uint64(1 << n)) - ONE
    used = np.int64(1) << (n - 6 if n > 6 else 0)
    state = scratch.state
    for v in range(used):
        state[v] = bits.ZERO
    mark_distinct_nodes(key, t, n, few, state, scratch.draws)
    if f > few:
        for v in range(used):
            state[v] = ~state[v] & inside
    rounds = rounds_marked(state, scratch.other, scratch.marks, n)
    closed = np.int64(0)
    for v in range(used):
        closed += bits.popcount(state[v])
    merging = closed > f or _adjacent(state, used, n)
    record(tally, n, t, np.uint64(closed - f), rounds, merging, closed == np.int64(1) << n)


MERGED = trials_kernel(lists_for, merged_trial)
WHOLE = trials_kernel(cubes_for, whole_trial)
