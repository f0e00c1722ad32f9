"""Counts and rounds of unsafe nodes when every node is faulty with probability p (Lee & Hayes 1988, R1 and R3).

The fault sets are those of ``bernoulli``.  There are three methods, and ``dispatch`` selects the fastest:

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
from ..draws.nodes import mark_faults, next_row, rows_for
from ..machine import bits, simd
from ..machine.jit import TRIALS_SIGNATURE, block, kernel
from ..tally.maxima import offer
from ..tally.sums import add_quantity
from . import rounds
from .layout import UNSAFE_CRITICAL, N, P

_UNSAFE_NODES = UNSAFE_CRITICAL.moments("unsafe_nodes")
_ALL_UNSAFE = UNSAFE_CRITICAL.counter("all_unsafe")
_ROUNDS = UNSAFE_CRITICAL.moments("rounds")
_ROUNDS_BINS = UNSAFE_CRITICAL.counter("rounds_bins")
_FAULTS = UNSAFE_CRITICAL.counter("faults")
_MOST_ROUNDS = UNSAFE_CRITICAL.maximum("rounds")


@block
def _record_trial(tally, t, n, faults, closed, steps):
    """Record a trial with ``faults`` faulty nodes and ``closed`` faulty or unsafe nodes after ``steps`` rounds."""
    add_quantity(tally, _UNSAFE_NODES, closed - faults)
    tally[_ALL_UNSAFE] += closed == np.int64(1) << n
    add_quantity(tally, _ROUNDS, steps)
    tally[_ROUNDS_BINS + steps] += 1
    tally[_FAULTS] += faults
    offer(tally, _MOST_ROUNDS, steps, t)


@block
def _count_set_bits(state):
    """Return the number of nodes in a bitmask."""
    total = simd.splat(bits.ZERO)
    for v in range(state.size >> 3):
        total = total + simd.popcount(simd.load(state, v << 3))
    return np.int64(simd.total(total))


@block
def _extract_subcube(x, free, labels, k, state):
    """Write the bitmask, in a subcube's own dimensions, of the faulty nodes inside it to the cleared ``state``."""
    vector = simd.splat_like(simd.load(labels, 0), x)
    outside = simd.splat_like(vector, ~free)
    zero = vector ^ vector
    mask = np.uint64(free)
    for at in range(0, k, 16):
        difference = (vector ^ simd.load(labels, at)) & outside
        inside = simd.bits(difference == zero) & bits.first_lanes(k - at, 16)
        while inside:
            own = bits.extract(np.uint64(labels[at + bits.lowest(inside)]), mask)
            set_node(state, own)
            inside &= inside - bits.ONE


@block
def _find_most_rounds(bases, frees, count, labels, k, state, other, marks):
    """Return the rounds of the slowest of the final subcubes; ``state`` is clear before and after.

    A d-cube needs at most floor(d^2 / 3) rounds (Przykucki 2012), so small subcubes are seldom run.
    """
    slowest = np.int64(0)
    for i in range(count):
        d = bits.popcount(np.uint64(frees[i]))
        if d * d // 3 <= slowest:
            continue
        _extract_subcube(bases[i], frees[i], labels, k, state)
        if d <= 6:
            steps, _ = rounds.run_word_rounds(state[0], d)
            state[0] = bits.ZERO
        else:
            steps = rounds.run_marked_rounds(state, other, marks, d)
            for v in range(np.int64(1) << max(d - 9, 0)):
                simd.store(state, v << 3, simd.splat(bits.ZERO))
        slowest = max(slowest, steps)
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
def _write_distinct_labels(key, t, k, n, labels, seen, rows):
    """Write trial ``t``'s first ``k`` distinct labels to ``labels`` (uint32, 16 entries to spare).

    ``seen`` is a bitmap of 2^m <= 2^n bits.  A label whose low m bits were not seen is new; other labels are looked up.
    """
    low = np.uint64((seen.size << 6) - 1)
    exact = seen.size << 6 == np.int64(1) << n
    for v in range(seen.size >> 3):
        simd.store(seen, v << 3, simd.splat(bits.ZERO))
    got = np.int64(0)
    q = np.int64(0)
    while got < k:
        next_row(key, t, q, n, rows)
        q += 1
        i = 0
        while i < 16 and got < k:
            x = np.uint64(rows.labels[i])
            i += 1
            at = np.int64((x & low) >> np.uint64(6))
            bit = bits.ONE << (x & np.uint64(63))
            if seen[at] & bit and (exact or _has_label(labels, got, x)):
                continue
            seen[at] |= bit
            labels[got] = x
            got += 1


# ---------------------------------------------------------------- entry points


@kernel(TRIALS_SIGNATURE)
def unsafe_digits(key, first, stop, params, tally):
    """Run trials at (n, p) = params with 1 <= n <= 30 and 1/64 <= p <= 1 for ``layout.UNSAFE_CRITICAL``."""
    n = np.int64(params[N])
    head, tail = bernoulli.digit_threshold(params[P])
    state = np.empty(count_words(n), np.uint64)
    other = np.empty(count_words(n), np.uint64)
    marks = np.empty(rounds.count_marks_words(n), np.uint64)
    work = bernoulli.digit_scratch_for()
    for t in range(first, stop):
        bernoulli.digit_state(key, np.uint64(t), head, tail, n, state, work)
        faults = _count_set_bits(state)
        steps = rounds.run_marked_rounds(state, other, marks, n)
        _record_trial(tally, t, n, faults, _count_set_bits(state), steps)


@kernel(TRIALS_SIGNATURE)
def unsafe_labels(key, first, stop, params, tally):
    """Run trials at (n, p) = params with 1 <= n <= 30 and 0 <= p < 1/64 in the whole cube's bitmask."""
    n = np.int64(params[N])
    table = binomial_table(np.int64(1) << n, params[P])
    state = np.empty(count_words(n), np.uint64)
    other = np.empty(count_words(n), np.uint64)
    marks = np.empty(rounds.count_marks_words(n), np.uint64)
    rows = rows_for()
    for t in range(first, stop):
        k = sample_fault_count(key, np.uint64(t), table)
        for v in range(0, state.size, 8):
            simd.store(state, v, simd.splat(bits.ZERO))
        mark_faults(key, np.uint64(t), n, k, state, rows)
        steps = rounds.run_marked_rounds(state, other, marks, n)
        _record_trial(tally, t, n, k, _count_set_bits(state), steps)


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
    frees = np.empty(most + 32, np.uint32)
    filter_words = np.int64(8)
    while filter_words < min(most, count_words(n)):
        filter_words *= 2
    seen = np.empty(filter_words, np.uint64)
    state = np.zeros(count_words(n), np.uint64)
    other = np.empty(count_words(n), np.uint64)
    marks = np.empty(rounds.count_marks_words(n), np.uint64)
    rows = rows_for()
    none = simd.splat_like(simd.load(labels, 0), 0)
    for t in range(first, stop):
        k = sample_fault_count(key, np.uint64(t), table)
        _write_distinct_labels(key, np.uint64(t), k, n, labels, seen, rows)
        for at in range(0, k, 16):
            simd.store(bases, at, simd.load(labels, at))
            simd.store(frees, at, none)
        count = merge_subcubes(bases, frees, k)
        closed = np.int64(0)
        for i in range(count):
            closed += np.int64(1) << bits.popcount(np.uint64(frees[i]))
        steps = _find_most_rounds(bases, frees, count, labels, k, state, other, marks)
        _record_trial(tally, t, n, k, closed, steps)
