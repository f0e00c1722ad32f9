"""Counts and rounds of unsafe nodes when every node is faulty with probability p (Lee & Hayes 1988, R1 and R3).

The fault sets are those of ``bernoulli``.  A *bitmask* has one bit per node of a cube (``rounds.py``).  A *subcube* is the nodes
that agree with a label, its *base*, outside a mask of *free* dimensions.  There are three methods, and ``dispatch`` selects the
fastest:

``digits``  p >= 1/64: every node is sampled by itself, then the rounds of the whole cube are run.
``labels``  p < 1/64: the faulty labels are marked in the cube's bitmask, then the rounds of the whole cube are run.
``merge``   p < 1/64, n >= 9: subcubes are merged while two are within distance 2 (R3).  The remaining subcubes evolve
            independently, so the rounds are those of the slowest subcube, each run by itself in its own dimension.  This is
            faster than ``labels`` while few faults are within distance 2 of each other.

The time is spent as follows, on one core of a Zen 5 at about 4 GHz.  ``digits``: Philox, 8 words for 64 nodes at 0.4 ns; at n =
16, p = .1 sampling takes 5.2 of 6.7 us.  ``labels`` and ``merge`` near p_1/2: the rounds, 1.5 ns for each 512 nodes visited while
the state fits the L1 cache, 3 to 4 ns in the L2 cache (n = 20), 10 ns above (n >= 22).  ``merge`` well below p_1/2: the scan of
all pairs of subcubes, 0.5 ns for 16 pairs.
"""

from __future__ import annotations

import numpy as np

from ..cube.bitmask import count_words, set_node
from ..cube.subcubes import merge_subcubes
from ..draws import bernoulli
from ..draws.binomial import binomial_table, sample_fault_count
from ..draws.node_rows import mark_faults, next_row, rows_for
from ..machine import bits, simd
from ..machine.jit import TRIALS_SIGNATURE, block, kernel
from ..tally.maxima import offer
from ..tally.sums import add_quantity
from .layout import UNSAFE_CRITICAL, N, P
from .rounds import make_vector_masks, run_bitmask_rounds, run_word_rounds

_UNSAFE_NODES = UNSAFE_CRITICAL.moments("unsafe_nodes")
_ALL_UNSAFE = UNSAFE_CRITICAL.counter("all_unsafe")
_ROUNDS = UNSAFE_CRITICAL.moments("rounds")
_ROUNDS_BINS = UNSAFE_CRITICAL.counter("rounds_bins")
_FAULTS = UNSAFE_CRITICAL.counter("faults")
_MOST_ROUNDS = UNSAFE_CRITICAL.maximum("rounds")


@block
def _record_trial(tally, t, n, faults, closed, rounds):
    """Record a trial with ``faults`` faulty nodes and ``closed`` faulty or unsafe nodes after the last of its rounds."""
    add_quantity(tally, _UNSAFE_NODES, closed - faults)
    tally[_ALL_UNSAFE] += closed == np.int64(1) << n
    add_quantity(tally, _ROUNDS, rounds)
    tally[_ROUNDS_BINS + rounds] += 1
    tally[_FAULTS] += faults
    offer(tally, _MOST_ROUNDS, rounds, t)


@block
def _count_set_bits(state):
    """Return the number of nodes in a bitmask."""
    total = simd.splat(bits.ZERO)
    for v in range(state.size >> 3):
        total = total + simd.popcount(simd.load(state, v << 3))
    return np.int64(simd.total(total))


@block
def _set_faults_inside(base, free, labels, f, state):
    """Set the faulty nodes inside a subcube in ``state``, the clear bitmask of a cube of the subcube's dimension."""
    vector = simd.splat_like(simd.load(labels, 0), base)
    outside = simd.splat_like(vector, ~free)
    zero = vector ^ vector
    mask = np.uint64(free)
    for at in range(0, f, 16):
        difference = (vector ^ simd.load(labels, at)) & outside
        inside = simd.bits(difference == zero) & bits.first_lanes(f - at, 16)
        while inside:
            set_node(state, bits.extract(np.uint64(labels[at + bits.lowest(inside)]), mask))
            inside &= inside - bits.ONE


@block
def _find_most_rounds(bases, free_masks, count, labels, f, state, other, vector_masks):
    """Return the rounds of the slowest of the ``count`` final subcubes; ``state`` must be clear, and is clear again afterwards.

    A d-cube needs at most floor(d^2 / 3) rounds (Przykucki 2012), so small subcubes are seldom run.
    """
    slowest = np.int64(0)
    for i in range(count):
        d = bits.popcount(np.uint64(free_masks[i]))
        if d * d // 3 <= slowest:
            continue
        _set_faults_inside(bases[i], free_masks[i], labels, f, state)
        if d <= 6:
            rounds, _ = run_word_rounds(state[0], d)
            state[0] = bits.ZERO
        else:
            rounds = run_bitmask_rounds(state, other, vector_masks, d)
            for v in range(np.int64(1) << max(d - 9, 0)):
                simd.store(state, v << 3, simd.splat(bits.ZERO))
        slowest = max(slowest, rounds)
    return slowest


@block
def _has_label(labels, count, x):
    """Whether ``x`` is one of the first ``count`` labels."""
    vector = simd.splat_like(simd.load(labels, 0), x)
    for at in range(0, count, 16):  # noqa: SIM110  (compiled code has no generators)
        if simd.bits(vector == simd.load(labels, at)) & bits.first_lanes(count - at, 16):
            return True
    return False


@block
def _write_distinct_labels(key, t, f, n, labels, seen, rows):
    """Write trial ``t``'s first ``f`` distinct labels to ``labels`` (uint32, 16 entries to spare).

    ``seen`` is a bitmap of 2^m <= 2^n bits, with any content.  A label whose low m bits were not seen is new.  Other labels are
    looked up, unless m = n.
    """
    low_bits = np.uint64((seen.size << 6) - 1)
    exact = seen.size << 6 == np.int64(1) << n
    for v in range(seen.size >> 3):
        simd.store(seen, v << 3, simd.splat(bits.ZERO))
    count = np.int64(0)
    q = np.int64(0)
    while count < f:
        next_row(key, t, q, n, rows)
        q += 1
        i = 0
        while i < 16 and count < f:
            x = np.uint64(rows.labels[i])
            i += 1
            word = np.int64((x & low_bits) >> np.uint64(6))
            bit = bits.ONE << (x & np.uint64(63))
            if seen[word] & bit and (exact or _has_label(labels, count, x)):
                continue
            seen[word] |= bit
            labels[count] = x
            count += 1


# ---------------------------------------------------------------- entry points


@kernel(TRIALS_SIGNATURE)
def unsafe_digits(key, first, stop, params, tally):
    """Run trials at (n, p) = params with 1 <= n <= 30 and 1/64 <= p <= 1 for ``layout.UNSAFE_CRITICAL``."""
    n = np.int64(params[N])
    head, tail = bernoulli.digit_threshold(params[P])
    state = np.empty(count_words(n), np.uint64)
    other = np.empty(count_words(n), np.uint64)
    vector_masks = make_vector_masks(n)
    work = bernoulli.digit_scratch_for()
    for t in range(first, stop):
        bernoulli.digit_state(key, np.uint64(t), head, tail, n, state, work)
        faults = _count_set_bits(state)
        rounds = run_bitmask_rounds(state, other, vector_masks, n)
        _record_trial(tally, t, n, faults, _count_set_bits(state), rounds)


@kernel(TRIALS_SIGNATURE)
def unsafe_labels(key, first, stop, params, tally):
    """Run trials at (n, p) = params with 1 <= n <= 30 and 0 <= p < 1/64 in the whole cube's bitmask."""
    n = np.int64(params[N])
    table = binomial_table(np.int64(1) << n, params[P])
    state = np.empty(count_words(n), np.uint64)
    other = np.empty(count_words(n), np.uint64)
    vector_masks = make_vector_masks(n)
    rows = rows_for()
    for t in range(first, stop):
        f = sample_fault_count(key, np.uint64(t), table)
        for v in range(0, state.size, 8):
            simd.store(state, v, simd.splat(bits.ZERO))
        mark_faults(key, np.uint64(t), n, f, state, rows)
        rounds = run_bitmask_rounds(state, other, vector_masks, n)
        _record_trial(tally, t, n, f, _count_set_bits(state), rounds)


@kernel(TRIALS_SIGNATURE)
def unsafe_merge(key, first, stop, params, tally):
    """Run trials at (n, p) = params with 9 <= n <= 30 and 0 <= p < 1/64 by merging subcubes.

    No array of 2^n bits is touched unless a final subcube is that large or p is near 1/64.
    """
    n = np.int64(params[N])
    table = binomial_table(np.int64(1) << n, params[P])
    most = min(table.first + table.thresholds.size, np.int64(1) << n)
    labels = np.empty(most + 32, np.uint32)
    bases = np.empty(most + 32, np.uint32)
    free_masks = np.empty(most + 32, np.uint32)
    filter_words = np.int64(8)
    while filter_words < min(most, count_words(n)):
        filter_words *= 2
    seen = np.empty(filter_words, np.uint64)
    state = np.zeros(count_words(n), np.uint64)
    other = np.empty(count_words(n), np.uint64)
    vector_masks = make_vector_masks(n)
    rows = rows_for()
    no_dimension = simd.splat_like(simd.load(labels, 0), 0)
    for t in range(first, stop):
        f = sample_fault_count(key, np.uint64(t), table)
        _write_distinct_labels(key, np.uint64(t), f, n, labels, seen, rows)
        for at in range(0, f, 16):
            simd.store(bases, at, simd.load(labels, at))
            simd.store(free_masks, at, no_dimension)
        count = merge_subcubes(bases, free_masks, f)
        closed = np.int64(0)
        for i in range(count):
            closed += np.int64(1) << bits.popcount(np.uint64(free_masks[i]))
        rounds = _find_most_rounds(bases, free_masks, count, labels, f, state, other, vector_masks)
        _record_trial(tally, t, n, f, closed, rounds)
