"""Unsafe nodes under f random faults, one trial at a time: the method for many faults, and the reference for lane kernels.

A nonfaulty node is *unsafe* if at least two of its neighbours are faulty or unsafe.  FIND_UNSAFE marks unsafe nodes in *rounds*,
all nodes at once (Lee & Hayes 1988, section 3.2; R1).  Two faults are a *close pair* if they are within distance 2: without one
no node is unsafe.

``MERGED`` merges close faults into subcubes and works for every n and f.  Lane kernels, which run a vector of trials at a time,
give identical counts and pass their hard trials to ``run_merging_trial``.  ``WHOLE`` marks the 2^n nodes in a bitmask and runs
the rounds on it, which is faster above some f.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.bitmask import neighbour_word
from ..draws.node_rows import Rows, mark_faults, rows_for
from ..draws.nodes import Draws, count_sampled_labels, draw_faults, draws_for
from ..machine import bits
from ..machine.array_types import Words
from ..machine.jit import block, scratch
from ..machine.trials import trials_kernel
from .closure import CubeScratch, evaluate_fault_set, make_cube_scratch
from .entry import record_trial
from .layout import F, N
from .rounds import make_vector_masks, run_bitmask_rounds


class MergingScratch(NamedTuple):
    """Scratch memory of trials whose subcubes are merged; made by ``merging_scratch_for``."""

    labels: Words  #: (f): the faults
    base: Words  #: (f + 16): subcubes, see ``subcubes.merge_faults``
    free: Words  #: (f + 16): their free dimensions
    draws: Draws  #: to sample the faults
    spare: CubeScratch  #: for the rounds inside one subcube


@scratch
def merging_scratch_for(params):
    """Return scratch memory for trials at (n, f) = params."""
    n, f = np.int64(params[N]), np.int64(params[F])
    draws = draws_for(count_sampled_labels(n, f))
    base, free = np.empty(f + 16, np.uint64), np.empty(f + 16, np.uint64)
    return MergingScratch(np.empty(f, np.uint64), base, free, draws, make_cube_scratch(n))


@block
def run_merging_trial(key, t, params, scratch, tally):
    """Count a trial by merging subcubes, in time O(f^2) besides the rounds; params (n, f), 1 <= n <= 62, 0 <= f <= 2^n."""
    n, f = np.int64(params[N]), np.int64(params[F])
    draw_faults(key, t, n, f, scratch.labels, scratch.draws)
    unsafe, rounds, close_pair, largest = evaluate_fault_set(
        scratch.labels, f, scratch.base, scratch.free, scratch.spare
    )
    record_trial(tally, n, t, unsafe, rounds, close_pair, largest == n)


class WholeCubeScratch(NamedTuple):
    """Scratch memory of ``run_whole_cube_trial``; made by ``whole_cube_scratch_for``."""

    state: Words  #: (max(8, 2^(n-6))): bitmask of the n-cube's nodes; clear from node 2^n up
    other: Words  #: as many words, for ``run_bitmask_rounds``
    masks: Words  #: from ``make_vector_masks``
    rows: Rows  #: to sample the faults


@scratch
def whole_cube_scratch_for(params):
    """Return scratch memory for trials at (n, f) = params."""
    n = np.int64(params[N])
    word_count = np.int64(1) << max(n - 6, np.int64(3))
    return WholeCubeScratch(
        np.zeros(word_count, np.uint64),
        np.empty(word_count, np.uint64),
        make_vector_masks(n),
        rows_for(),
    )


@block
def _has_adjacent_nodes(state, used, n):
    """Whether two set nodes of the n-cube are neighbours; ``state`` is a bitmask of ``used`` words."""
    for i in range(used):
        if state[i] != bits.ZERO:  # true of few words where faults are few
            for k in range(n):
                if state[i] & neighbour_word(state, i, k) != bits.ZERO:
                    return True
    return False


@block
def run_whole_cube_trial(key, t, params, scratch, tally):
    """Count unsafe nodes and rounds of a trial in the whole cube's bitmask; params (n, f), 1 <= n <= 30, 0 <= f <= 2^n.

    Time O(f) per trial for sampling and O(2^n / 512) per round.  The rounds add the unsafe nodes to the faults in ``state``.
    These *closed* nodes show whether there was a close pair: two faults within distance 2 are adjacent or have a common
    neighbour, which is closed and adjacent to both.
    """
    n, f = np.int64(params[N]), np.int64(params[F])
    used = np.int64(1) << (n - 6 if n > 6 else 0)
    state = scratch.state
    for v in range(used):
        state[v] = bits.ZERO
    mark_faults(key, np.uint64(t), n, f, state, scratch.rows)
    rounds = run_bitmask_rounds(state, scratch.other, scratch.masks, n)
    closed = np.int64(0)
    for v in range(used):
        closed += bits.popcount(state[v])
    close_pair = closed > f or _has_adjacent_nodes(state, used, n)
    record_trial(tally, n, t, np.uint64(closed - f), rounds, close_pair, closed == np.int64(1) << n)


#: Kernels at (n, f) = params, see ``layout.UNSAFE_FRACTION``: by merging subcubes, and in the whole cube's bitmask.
MERGED = trials_kernel(merging_scratch_for, run_merging_trial)
WHOLE = trials_kernel(whole_cube_scratch_for, run_whole_cube_trial)
