"""Broadcasting trials in cubes so small (n <= 8) that fault sets repeat: count each set, and broadcast once per set.

The result of a broadcast depends only on the faults' *offsets* (label xor the source's), because translations of all labels are
symmetries.  There are C(2^n - 1, f) sets of offsets, and this kernel is used if they are few.  Trials are only sampled, 64 at a
time in byte lanes.  Their offsets are sorted, and a counter per set is incremented.  The number of a set comes from its sorted
offsets:

    row 0     smallest offset of trials t, t + 1, ..., t + 63       number of offsets o_0 < ... < o_{f-1}:
    row 1     second smallest                                       sum over i of C(2^n - 1 - o_i, f - i)
    ...

It falls from C(2^n - 1, f) - 1 to 0 in lexicographic order.  Each set is then broadcast once and recorded with its count.  The
trial of a maximum is the first trial with the set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..draws.faults import next_sparing_set
from ..draws.lanes import draw_rows, lane_pattern, redraw_repeats, valid_lanes
from ..machine import bits, simd
from ..machine.array_types import Bytes, Ints
from ..machine.bits import ONE, ZERO
from ..machine.jit import TRIALS_SIGNATURE, block, kernel, scratch
from ..tally.sums import offer, read_maximum
from .layout import BROADCAST, F, N
from .scalar import BroadcastScratch, finish_trial, set_up

_LANES = 64  # lanes of eight bits

_MOST = BROADCAST.maximum("broadcast2_steps")
_EMPTY_TALLY = BROADCAST.new_tally()


class CountingScratch(NamedTuple):
    """Scratch memory of a kernel's call."""

    trial: BroadcastScratch  #: for the broadcasts of each set
    labels: Bytes  #: f + 2 rows of one vector: labels of 64 trials, first the faults, then the source; the last row is spare
    sorted_offsets: Bytes  #: f rows: offsets in ascending order
    ways: Ints  #: f rows of 2^n: contribution of offset o at position i to the number of a set
    trial_counts: Ints  #: number of trials with each set
    first_trials: Ints  #: first trial with each set; valid where ``trial_counts`` is not 0
    one_tally: Ints  #: a tally of one trial
    next_set: Ints  #: state of ``next_sparing_set``: a set of offsets, each decreased by one


@scratch
def counting_scratch_for(params):
    """Return scratch memory for trials at (n, f, 0) = params."""
    n, f = np.int64(params[N]), np.int64(params[F])
    nodes = np.int64(1) << n
    ways = np.zeros((f, nodes), np.int64)
    # ways[i, o] = C(m, j) = C(m - 1, j) + C(m - 1, j - 1), with m = nodes - 1 - o and j = f - i
    for i in range(f - 1, -1, -1):
        for o in range(nodes - 2, -1, -1):
            ways[i, o] = ways[i, o + 1] + (ways[i + 1, o + 1] if i < f - 1 else 1)
    sets = ways[0, 0]  # C(2^n - 1, f)
    return CountingScratch(
        set_up(params),
        np.zeros((f + 2) * _LANES, np.uint8),
        np.zeros(f * _LANES, np.uint8),
        ways.reshape(-1),
        np.zeros(sets, np.int64),
        np.zeros(sets, np.int64),
        _EMPTY_TALLY.copy(),
        np.arange(f),
    )


@block(always=True)
def _sort_offsets(counts, f):
    """Sort the offsets of 64 trials by insertion, all lanes at once; return the trials with a repeated label, as bits."""
    source = simd.load(counts.labels, f * _LANES)
    zero = source ^ source
    for i in range(f):
        x = simd.load(counts.labels, i * _LANES) ^ source
        for j in range(i):
            y = simd.load(counts.sorted_offsets, j * _LANES)
            simd.store(counts.sorted_offsets, j * _LANES, simd.minimum(x, y))
            x = simd.maximum(x, y)
        simd.store(counts.sorted_offsets, i * _LANES, x)
    previous = zero  # the source's own offset
    repeated = simd.no_lane(zero)
    for i in range(f):
        x = simd.load(counts.sorted_offsets, i * _LANES)
        repeated = repeated | (x == previous)
        previous = x
    return simd.bits(repeated)


@block
def _redraw_offsets(key, t, n, f, lane, counts):
    """Sample further labels for a trial with repeated labels, and sort its offsets."""
    labels, offsets = counts.labels, counts.sorted_offsets
    redraw_repeats(key, t, n, f + 1, labels, lane, _LANES)
    source = labels[f * _LANES + lane]
    for i in range(f):
        x = labels[i * _LANES + lane] ^ source
        j = i
        while j > 0 and offsets[(j - 1) * _LANES + lane] > x:
            offsets[j * _LANES + lane] = offsets[(j - 1) * _LANES + lane]
            j -= 1
        offsets[j * _LANES + lane] = x


@block
def _count_sets(key, start, live, n, f, counts):
    """Count the sets of the trials ``live`` among the 64 trials from ``start`` on."""
    repeated = _sort_offsets(counts, f) & live
    while live:
        lane = bits.lowest(live)
        live &= live - ONE
        if repeated >> np.uint64(lane) & ONE:
            _redraw_offsets(key, start + lane, n, f, lane, counts)
        number = np.int64(0)
        for i in range(f):
            number += counts.ways[(i << n) + np.int64(counts.sorted_offsets[i * _LANES + lane])]
        if counts.trial_counts[number] == 0:
            counts.first_trials[number] = start + lane
        counts.trial_counts[number] += 1


@block
def _broadcast_distinct_sets(n, counts, tally):
    """Broadcast from node 0 under each set that occurred, and record the result as often as the set occurred.

    ``next_sparing_set`` gives the sets in lexicographic order, in which their numbers fall, so every set has its turn.  A counter
    of one trial is below 2^17 for n <= 8, so its product with the number of trials fits.
    """
    faults, one_tally = counts.trial.faults, counts.one_tally
    for number in range(counts.trial_counts.size - 1, -1, -1):
        trial_count = counts.trial_counts[number]
        next_sparing_set(n, counts.next_set, faults)
        if trial_count:
            for slot in range(one_tally.size):
                one_tally[slot] = _EMPTY_TALLY[slot]
            finish_trial(counts.trial, ZERO, counts.first_trials[number], np.int64(-1), one_tally)
            for slot in range(_MOST):  # all counters; the maximum comes after them
                tally[slot] += trial_count * one_tally[slot]
            steps, trial = read_maximum(one_tally, _MOST)
            if steps >= 0:
                offer(tally, _MOST, steps, trial)


@kernel(TRIALS_SIGNATURE)
def broadcast_counted(key, first, stop, params, tally):
    """Run trials at (n, f, 0) = params, for which ``dispatch.is_countable`` is True."""
    if first >= stop:
        return
    n = np.int64(params[N])
    f = np.int64(params[F])
    counts = counting_scratch_for(params)
    words = counts.labels.view(np.uint64)
    pattern = lane_pattern(n, _LANES)
    for start in range(first - first % _LANES, stop, _LANES):
        draw_rows(key, np.uint64(8 * (start // _LANES)), f + 1, pattern, words)
        _count_sets(key, start, valid_lanes(start, 1, _LANES, first, stop), n, f, counts)
    _broadcast_distinct_sets(n, counts, tally)
