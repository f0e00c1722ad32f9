"""Sample the faults of 512 trials at a time if nodes or links fail at a rate, in the layout of ``drawing``.

For rates below 1/64 the number of faults of each trial is sampled (``draws/binomial.py``), then as many distinct nodes or links.
From 1/64 on each node or link is sampled by itself, with a random number in binary digits as in ``draws/bernoulli.py``: it is
faulty if the number is below the rate.  The *head* of a number is its first eight digits.  If it equals the rate's head, the
number's *tail*, of 64 digits, decides.  A word holds one digit of the head for one node or link in 64 trials (N4), so rows are
sampled in their final layout.  Most heads differ from the rate's, and words with bits to be decided wait until eight do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..draws import philox
from ..draws.bernoulli import MIN_DIGIT_RATE, digit_threshold
from ..draws.binomial import BinomialTable, binomial_table, sample_fault_count
from ..draws.nodes import complement_labels, count_sampled_labels, distinct_nodes
from ..machine import simd
from ..machine.array_types import I64, U64, Words
from ..machine.bits import ALL_BITS, ONE, ZERO, first_lanes, lowest, popcount
from ..machine.jit import block, scratch
from .drawing import GROUP_TRIALS, fill_rows, mark_links

_3, _6 = np.uint64(3), np.uint64(6)

#: Number of entries of ``RateSampling.undecided``: fewer than eight that wait, those of eight rows, and a vector to spare.
_MOST_UNDECIDED = 80


class RateSampling(NamedTuple):
    """Sampling of ``size`` nodes or links, each faulty at a given rate; made by ``rate_sampling_for``."""

    size: I64  #: number of nodes or links
    head: U64  #: first eight digits of the rate; 256 for rate 1, and 0 for rates below 1/64
    tail: U64  #: the next 64 digits
    table: BinomialTable  #: of the number of faults; empty for rates from 1/64 on
    #: (_MOST_UNDECIDED): scratch, waiting words; bits are set that the head does not decide, and no tail yet
    undecided: Words
    indices: Words  #: (_MOST_UNDECIDED): scratch, their indices in the rows


@scratch
def rate_sampling_for(size, rate):
    """Return the sampling of ``size`` nodes or links, each faulty at a rate in [0, 1]."""
    if rate >= MIN_DIGIT_RATE:
        head, tail = digit_threshold(rate)
        empty = BinomialTable(np.int64(0), np.empty(0, np.uint64), np.empty(0, np.int64))
        undecided, indices = np.empty(_MOST_UNDECIDED, np.uint64), np.empty(_MOST_UNDECIDED, np.uint64)
        return RateSampling(size, head, tail, empty, undecided, indices)
    none = np.empty(0, np.uint64)
    return RateSampling(size, ZERO, ZERO, binomial_table(size, rate), none, none)


@block(always=True)
def _write_row(rows, v, works, equal, sampling, count):
    """Write row ``v`` if it exists, and let its undecided bits wait for their tails; return the number of waiting words.

    ``equal`` has the bits whose heads equal the rate's, and ``count`` words wait before.
    """
    if v < sampling.size:
        simd.store(rows, 8 * v, works)
        if sampling.tail:
            indices = simd.splat(np.uint64(8 * v)) + simd.iota(works)
            count = _append_undecided(equal, indices, count, sampling)
    return count


@block
def _draw_dense(key, group, sampling, head_purpose, tail_purpose, rows):
    """Write the nodes or links that are nonfaulty in 512 trials, for a rate of at least 1/64; eight rows at a time.

    Heads are compared from the last decisive digit to the first: a node works if its digit is 1 and the rate's is 0, or if they
    are equal and it works by the digits after, which is the majority of the digit, the complement of the rate's and the latter.
    """
    if sampling.head >= np.uint64(256):
        fill_rows(rows, sampling.size, ZERO)
        return
    decisive = np.int64(8) if sampling.tail else 8 - lowest(sampling.head)
    prepared = philox.prepare_lanes(key, np.uint64(group >> 6), head_purpose)
    four = (prepared, prepared, prepared, prepared)
    all_bits = simd.splat(ALL_BITS)
    full = simd.join(all_bits, all_bits, all_bits, all_bits)
    count = np.int64(0)
    for v in range(0, sampling.size, 8):
        # Even vectors are of the rows v, v + 2, v + 4, v + 6, odd ones of the rows between.
        works_even = equal_even = works_odd = equal_odd = full
        for i in range(decisive - 1, -1, -1):
            # Half 4 v + i of the words has digit i of the rows v and v + 1.
            half = np.uint64(4 * v + i)
            halves = half, half + np.uint64(8), half + np.uint64(16), half + np.uint64(24)
            even, odd = philox.four_word_lanes(key, four, halves)
            # all ones if the rate's digit is 0, else zero
            complement = simd.splat_like(full, (sampling.head >> np.uint64(7 - i) & ONE) - ONE)
            works_even, works_odd = (
                simd.majority(even, works_even, complement),
                simd.majority(odd, works_odd, complement),
            )
            equal_even, equal_odd = equal_even & (even ^ complement), equal_odd & (odd ^ complement)
        row_even, waits_even = simd.quarters(works_even), simd.quarters(equal_even)
        row_odd, waits_odd = simd.quarters(works_odd), simd.quarters(equal_odd)
        count = _write_row(rows, v, row_even[0], waits_even[0], sampling, count)
        count = _write_row(rows, v + 1, row_odd[0], waits_odd[0], sampling, count)
        count = _write_row(rows, v + 2, row_even[1], waits_even[1], sampling, count)
        count = _write_row(rows, v + 3, row_odd[1], waits_odd[1], sampling, count)
        count = _write_row(rows, v + 4, row_even[2], waits_even[2], sampling, count)
        count = _write_row(rows, v + 5, row_odd[2], waits_odd[2], sampling, count)
        count = _write_row(rows, v + 6, row_even[3], waits_even[3], sampling, count)
        count = _write_row(rows, v + 7, row_odd[3], waits_odd[3], sampling, count)
        while count >= 8:
            count = _decide_by_tail(key, group, tail_purpose, count, sampling, rows)
    while count:
        count = _decide_by_tail(key, group, tail_purpose, count, sampling, rows)


@block(always=True)
def _append_undecided(words, indices, count, sampling):
    """Append the words that are not zero, with their indices in the rows, to the waiting words; return their number."""
    chosen = simd.bits(words != 0)
    simd.store_compressed(sampling.undecided, count, chosen, words)
    simd.store_compressed(sampling.indices, count, chosen, indices)
    return count + popcount(chosen)


@block
def _decide_by_tail(key, group, purpose, count, sampling, rows):
    """Decide the lowest bit of each of the last eight waiting words by its tail; return the number of words that still wait.

    Words with further bits wait again.
    """
    one = simd.splat(ONE)
    at = max(count - 8, np.int64(0))
    live = first_lanes(count - at)
    words, indices = simd.load(sampling.undecided, at), simd.load(sampling.indices, at)
    before = words - one  # the lowest bit cleared, and the bits below it set
    lane = (indices & 7) << simd.splat(_6)
    lane = lane + simd.popcount(before & ~words)  # index of the lowest bit
    v = indices >> simd.splat(_3)
    t = lane + simd.splat(np.uint64(group))
    even, odd = philox.mixed_lanes(key, t, v >> one, simd.splat(purpose))
    drawn_tail = simd.select((v & one) == one, odd, even)
    faulty = simd.bits(drawn_tail <= simd.splat(sampling.tail - ONE)) & live
    while faulty:
        i = at + lowest(faulty)
        faulty &= faulty - ONE
        rows[np.int64(sampling.indices[i])] &= ~(ONE << np.uint64(lowest(sampling.undecided[i])))
    rest = simd.select(simd.mask(words, live), words & before, simd.splat(ZERO))
    return _append_undecided(rest, indices, at, sampling)


@block(always=True)
def _count_faulty_trials(sampling):
    """Return the number of trials of a group that may have faults, for a rate below 1/64: none for a rate of 0."""
    return np.int64(GROUP_TRIALS if sampling.table.first or sampling.table.thresholds.size else 0)


@block
def _draw_sparse_nodes(key, group, n, sampling, rows, workspace):
    """Write the nonfaulty nodes of 512 trials for a rate below 1/64."""
    fill_rows(rows, np.int64(1) << n, ALL_BITS)
    for i in range(_count_faulty_trials(sampling)):
        t = group + i
        k = sample_fault_count(key, np.uint64(t), sampling.table, philox.COUNTS)
        sampled = count_sampled_labels(n, k)
        distinct_nodes(key, t, n, sampled, workspace.labels, workspace.draws)
        if sampled < k:
            complement_labels(n, sampled, workspace.labels)
        for j in range(k):
            rows[8 * np.int64(workspace.labels[j]) + (i >> 6)] &= ~(ONE << np.uint64(i & 63))


@block
def _draw_sparse_links(key, group, n, sampling, numbers, rows, workspace):
    """Write the nonfaulty links of 512 trials for a rate below 1/64."""
    fill_rows(rows, sampling.size, ALL_BITS)
    for i in range(_count_faulty_trials(sampling)):
        t = np.uint64(group + i)
        k = sample_fault_count(key, t, sampling.table, philox.LINK_COUNTS)
        mark_links(key, group, np.int64(i), n, k, numbers, rows, workspace.link_draws)


@block
def draw_nodes_by_rate(key, group, n, sampling, rows, workspace):
    """Write the nonfaulty nodes of 512 trials to ``rows``."""
    if sampling.head:
        _draw_dense(key, group, sampling, philox.NODE_ROWS, philox.NODE_TAILS, rows)
    else:
        _draw_sparse_nodes(key, group, n, sampling, rows, workspace)


@block
def draw_links_by_rate(key, group, n, sampling, numbers, rows, workspace):
    """Write the nonfaulty links of 512 trials to ``rows``."""
    if sampling.head:
        _draw_dense(key, group, sampling, philox.LINK_ROWS, philox.LINK_TAILS, rows)
    else:
        _draw_sparse_links(key, group, n, sampling, numbers, rows, workspace)
