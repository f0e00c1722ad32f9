"""Unsafe nodes under f random faults, one trial at a time: the reference for lane kernels, and the method for many faults.

``MERGED`` stores lists of subcubes and works for every n and f; the lane kernels give identical counts.  ``WHOLE`` marks the 2^n
nodes in a bitmask and runs the rounds on it, which is faster above some f.  Lane kernels use their trials for hard cases.
``count_sets`` counts every fault set of Q_n, n <= 5.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.bitmask import neighbour_word
from ..draws.node_rows import Rows, mark_faults, rows_for
from ..draws.nodes import Draws, count_sampled_labels, draw_faults, draws_for
from ..machine import bits, simd
from ..machine.array_types import Words
from ..machine.jit import block, kernel, scratch
from ..machine.trials import trials_kernel
from .closure import CubeScratch, evaluate_fault_set, make_cube_scratch
from .entry import record_trial
from .layout import F, N
from .rounds import make_vector_masks, run_bitmask_rounds

#: Shape of the counts: number of faults, unsafe nodes, rounds.  Rounds in Q_5 stay below 9.
COUNTS_SHAPE = (33, 32, 16)

#: For each dimension of Q_5, the nodes at its lower ends, as bits of a word of 32 nodes.
_LOW = (0x55555555, 0x33333333, 0x0F0F0F0F, 0x00FF00FF, 0x0000FFFF)

#: Lane i holds the nodes 3, 5, 6, 7 whose bit is set in i.
_IN_LANES = np.array(
    [sum(1 << v for b, v in enumerate((3, 5, 6, 7)) if i >> b & 1) for i in range(16)], dtype=np.uint32
)


class MergingScratch(NamedTuple):
    """Scratch memory of trials whose subcubes are merged; made by ``merging_scratch_for``."""

    labels: Words  #: the faults
    base: Words  #: the subcubes
    free: Words  #: their free dimensions
    draws: Draws  #: scratch memory to sample the faults
    spare: CubeScratch  #: scratch memory for the rounds of one subcube


@scratch
def merging_scratch_for(params):
    """Return scratch memory for trials at (n, f) = params."""
    n, f = np.int64(params[N]), np.int64(params[F])
    few = count_sampled_labels(n, f)
    labels = np.empty(max(f, few), np.uint64)
    return MergingScratch(
        labels, np.empty(f + 16, np.uint64), np.empty(f + 16, np.uint64), draws_for(few), make_cube_scratch(n)
    )


@block
def run_merging_trial(key, t, params, scratch, tally):
    """Count a trial by merging subcubes, in O(f^2 / 8) besides rounds; params (n, f), 1 <= n <= 62, 0 <= f <= 2^n."""
    n, f = np.int64(params[N]), np.int64(params[F])
    draw_faults(key, t, n, f, scratch.labels, scratch.draws)
    unsafe, rounds, close_pair, largest = evaluate_fault_set(
        scratch.labels, f, scratch.base, scratch.free, scratch.spare
    )
    record_trial(tally, n, t, unsafe, rounds, close_pair, largest == n)


class WholeCubeScratch(NamedTuple):
    """Scratch memory of ``run_whole_cube_trial``, uint64."""

    state: Words  #: bitmask of the n-cube, in whole vectors
    other: Words  #: another such bitmask
    masks: Words  #: from ``make_vector_masks``
    rows: Rows


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
        if state[i] != bits.ZERO:  # of few words of a sparse state
            for k in range(n):
                if state[i] & neighbour_word(state, i, k) != bits.ZERO:
                    return True
    return False


@block
def run_whole_cube_trial(key, t, params, scratch, tally):
    """Count unsafe nodes and rounds of a trial in the whole cube's bitmask; params (n, f), 1 <= n <= 30, 0 <= f <= 2^n.

    Time O(f) per trial for sampling and O(2^n / 512) per round.  Two faults within distance 2 are adjacent or have a common
    neighbour, which is unsafe or faulty and so part of an adjacent pair.
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


# ---------------------------------------------------------------- all fault sets of a small cube


@block
def _add_neighbours(x, one, two, k, low):
    """Return the counts (some neighbour set, at least two set) with the neighbours across dimension k added."""
    by = simd.splat_like(x, 1 << k)
    mask = simd.splat_like(x, low)
    across = ((x >> by) & mask) | ((x & mask) << by)
    return one | across, two | (one & across)


@block
def _step_states(x):
    """Return the states of 16 copies of Q_5 after one round."""
    one = simd.splat_like(x, 0)
    two = one
    one, two = _add_neighbours(x, one, two, 0, _LOW[0])
    one, two = _add_neighbours(x, one, two, 1, _LOW[1])
    one, two = _add_neighbours(x, one, two, 2, _LOW[2])
    one, two = _add_neighbours(x, one, two, 3, _LOW[3])
    one, two = _add_neighbours(x, one, two, 4, _LOW[4])
    return x | two


@block
def _run_sixteen_sets(x):
    """Return the last states of 16 copies of Q_5, and in how many rounds each has changed."""
    rounds = simd.splat_like(x, 0)
    while True:
        new = _step_states(x)
        changed = new != x
        if simd.bits(changed) == bits.ZERO:
            return x, rounds
        rounds = simd.select(changed, rounds + simd.splat_like(x, 1), rounds)
        x = new


@kernel("void(int64, uint64, uint64[::1], int64[::1])")
def count_sets(n, near, far, counts):
    """Count the fault sets whose nodes 0, 1, 2, 4, 8, 16 are exactly ``near``, by faults, unsafe nodes and rounds.

    A fault set is a 32-bit word, bit v for node v, and 16 sets are run at a time (Lee & Hayes 1988, section 3.2; R1).  Only sets
    with node 0 and a first few of its neighbours need visiting, because translations and permutations of the dimensions map every
    nonempty set to one of these.

    Parameters
    ----------
    n : int64
        Dimension, 1 <= n <= 5.  A smaller cube is run as a subcube of Q_5: a node outside it has at most one
        neighbour inside, so it is never marked.  Not checked.
    near : uint64
        Node 0 and some of its neighbours, as a word of node bits.
    far : uint64 array of length 1
        Mask of the remaining nodes of Q_n but 3, 5, 6 and 7; all its subsets are visited, 2^22 for n = 5.
    counts : int64 array
        COUNTS_SHAPE flattened; added to.

    Notes
    -----
    2^26 sets in 0.05 s for n = 5 on one core of an AMD EPYC (Zen 4): 0.75 ns per set, of which about 0.4 ns is the
    memory increment that each set takes.
    """
    lanes = simd.load(_IN_LANES, 0)
    fault_stride, unsafe_stride = np.uint64(COUNTS_SHAPE[1] * COUNTS_SHAPE[2]), np.uint64(COUNTS_SHAPE[2])
    index = np.empty(16, np.uint32)
    whole = np.uint64(0xFFFFFFFF) >> np.uint64(32 - (1 << n))
    used = np.int64(0)  # number of lanes whose nodes are in Q_n
    while used < 16 and np.uint64(_IN_LANES[used]) & ~whole == bits.ZERO:
        used += 1
    subset = far[0]
    while True:
        faulty = lanes | simd.splat_like(lanes, near | subset)
        closed, rounds = _run_sixteen_sets(faulty)
        f = simd.popcount(faulty)
        unsafe = simd.popcount(closed) - f
        place = (f * simd.splat_like(f, fault_stride)) + ((unsafe * simd.splat_like(f, unsafe_stride)) + rounds)
        simd.store(index, 0, place)
        for lane in range(used):
            counts[index[lane]] += 1
        if subset == bits.ZERO:
            return
        subset = (subset - bits.ONE) & far[0]  # the next smaller subset of ``far``
