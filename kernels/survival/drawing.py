"""Sample the faults of 512 trials at a time, for kernels whose lanes are trials.

Row v of an array, 8 words, has bit t of a group of 512 trials set if node or link v is nonfaulty.  Trial t of a group is bit t &
63 of word t >> 6.  Links have the numbers of ``cube/link_numbers.py``.

Here the numbers of faulty nodes and links are given, and sampling follows ``nodes`` and ``links`` in ``draws``: the first
distinct labels of a trial's sequence are its faulty nodes or, if these are more than half of all, its nonfaulty nodes.  Nodes are
marked in *slices*, one word per node for 64 trials, and eight slices are transposed to rows.  A word begins as its *ground*: ones
for trials that sample faulty nodes, else zeros.  A sampled label gets the complement.

Faults at a rate are sampled by ``drawing_by_rate``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..draws import philox
from ..draws.links import LinkDraws, link_draws_for, link_field_width
from ..draws.nodes import (
    Draws,
    count_sampled_labels,
    draws_for,
    field_position,
    field_width,
    next_fields,
    next_labels,
    node_label,
    store_interleaved,
)
from ..machine import simd
from ..machine.array_types import Bytes, Words, Words16
from ..machine.bits import ALL_BITS, ONE, ZERO
from ..machine.jit import block, scratch

#: Number of trials of a group.
GROUP_TRIALS = 512


class DrawingWorkspace(NamedTuple):
    """Scratch memory for sampling, for one point; made by ``drawing_workspace_for``."""

    labels8: Bytes  #: (positions, 64): labels of 64 trials for n <= 8, at each position of their sequences; else empty
    labels16: Words16  #: the same for n > 8
    slices: Words  #: (8, 2^n): one word per node for each 64 trials; empty for rates
    pair_places: Words  #: (512): position in each trial's sequence at which its pair begins, after ``draw_nodes``
    labels: Words  #: one trial's nodes, for rates below 1/64
    draws: Draws  #: scratch memory to sample one trial's nodes
    link_draws: LinkDraws  #: scratch memory to sample one trial's links


@block
def lane_places(n, f):
    """Return the number of positions of a trial's sequence that are sampled in lanes: enough for nearly all trials."""
    sampled = count_sampled_labels(n, f)
    return (sampled + sampled * sampled // (np.int64(1) << n) + 6) & ~np.int64(1)


@scratch
def drawing_workspace_for(n, f):
    """Return scratch memory for f faulty nodes, or for f = -1 at a rate; that for f = 2^(n-1) serves any number."""
    label_count = 64 * lane_places(n, f) if f >= 0 else np.int64(0)
    is_wide = n > 8
    return DrawingWorkspace(
        np.empty(0 if is_wide else label_count, np.uint8),
        np.empty(label_count if is_wide else 0, np.uint16),
        rows_for(max(np.int64(1) << n, 8) if f >= 0 else np.int64(0)),
        np.zeros(GROUP_TRIALS, np.uint64),
        np.empty(max(f, np.int64(1) << n) + 16, np.uint64),
        draws_for(np.int64(1) << n),
        link_draws_for(np.int64(0)),
    )


@scratch
def rows_for(count):
    """Return an array of ``count`` rows aligned to cache lines: unaligned vectors would double the time of a sweep."""
    words = np.empty(8 * count + 8, np.uint64)
    skipped = (-(words.ctypes.data >> 3)) & 7
    return words[skipped : skipped + 8 * count]


@block
def empty_row_index(n):
    """Return the index of a row that belongs to no node and is never alive, after all rows that sampling writes."""
    return max(np.int64(1) << n, np.int64(8))


@block(always=True)
def fill_rows(rows, count, ground):
    """Write the word ``ground`` to all words of ``count`` rows."""
    for v in range(count):
        simd.store(rows, 8 * v, simd.splat(ground))


# ---------------------------------------------------------------- f distinct nodes


@block
def ground_word(n, f):
    """Return the bit word of a node before labels are sampled: all ones if the labels are faulty nodes, else zero."""
    return ALL_BITS if count_sampled_labels(n, f) == f else ZERO


@block(always=True)
def flip_bit(words, at, bit, ground):
    """Set a bit of a word to the complement of ``ground``; return 1 if this changes it, else 0."""
    marked = words[at] ^ ground  # the bits that differ from the ground
    words[at] = ground ^ (marked | bit)
    return np.int64(marked & bit == ZERO)


@block(always=True)
def _flip_label_bits(key, first, n, f, labels, word, workspace):
    """Flip the bits of the first distinct labels of trials first .. first + 63 in slice ``word``, which holds the ground.

    ``labels`` has the labels at the first positions.  ``pair_places`` gets the position after the last one that is used.
    """
    sampled, ready, ground = count_sampled_labels(n, f), lane_places(n, f), ground_word(n, f)
    label_mask = (np.int64(1) << n) - 1
    node_words = workspace.slices[word << n :]
    for i in range(64):
        bit = ONE << np.uint64(i)
        distinct = np.int64(0)
        k = np.int64(0)
        while k < sampled:  # without a test whether they are distinct, as most are
            distinct += flip_bit(node_words, np.int64(labels[64 * k + i]) & label_mask, bit, ground)
            k += 1
        while distinct < sampled:
            x = np.int64(labels[64 * k + i]) & label_mask if k < ready else np.int64(node_label(key, first + i, k, n))
            distinct += flip_bit(node_words, x, bit, ground)
            k += 1
        workspace.pair_places[64 * word + i] = k


@block(always=True)
def _write_labels(key, first, n, ready, workspace):
    """Write the labels of trials first .. first + 63 at the first ``ready`` positions to ``labels8`` or ``labels16``."""
    width = field_width(n)
    for part in range(width // 8):  # 8 blocks hold 64 trials' fields of 8 bits, 32 of 16
        prepared = philox.prepare_lanes(key, np.uint64(first * width // 64 + 8 * part), philox.LABELS)
        for k in range(0, ready, 2):
            even, odd = philox.word_lanes(key, prepared, np.uint64(k >> 1))
            if n <= 8:
                simd.store(workspace.labels8, 64 * k, simd.as8(even))
                simd.store(workspace.labels8, 64 * k + 64, simd.as8(odd))
            else:
                simd.store(workspace.labels16, 64 * k + 32 * part, simd.as16(even))
                simd.store(workspace.labels16, 64 * k + 64 + 32 * part, simd.as16(odd))


@block
def draw_nodes(key, group, n, f, rows, workspace):
    """Write the nonfaulty nodes of the 512 trials from ``group`` on, f faulty ones each, to the 2^n ``rows``.

    Labels are marked in slices, which stay in the L1 cache, and the slices are transposed to rows.  ``draw_more_nodes`` continues
    from the slices and ``pair_places``, which keep the state.
    """
    nodes = np.int64(1) << n
    fill_rows(workspace.slices, nodes, ground_word(n, f))
    for word in range(8):
        first = group + 64 * word
        _write_labels(key, first, n, lane_places(n, f), workspace)
        if n <= 8:
            _flip_label_bits(key, first, n, f, workspace.labels8, word, workspace)
        else:
            _flip_label_bits(key, first, n, f, workspace.labels16, word, workspace)
    for v in range(0, nodes, 8):
        simd.transpose(workspace.slices, v, nodes, rows, 8 * v)
    if count_sampled_labels(n, f) < f:
        workspace.pair_places[:] = (
            0  # the sampled labels are the nonfaulty nodes, and the pair is the first two of them
        )


@block(always=True)
def _flip_more_labels(key, first, n, f, counts, ready, labels, word, workspace):
    """Continue ``_flip_label_bits``, after f faulty nodes per trial, up to the numbers ``counts`` of faulty nodes.

    A trial that now samples its nonfaulty nodes begins anew; its bit of ``ground`` is clear.
    """
    label_mask = (np.int64(1) << n) - 1
    node_words = workspace.slices[word << n :]
    ground = ZERO
    for i in range(64):
        samples_faults = count_sampled_labels(n, counts[64 * word + i]) == counts[64 * word + i]
        ground |= np.uint64(samples_faults) << np.uint64(i)
    for v in range(label_mask + 1):
        node_words[v] &= ground
    for i in range(64):
        bit = ONE << np.uint64(i)
        sampled, distinct, k = count_sampled_labels(n, counts[64 * word + i]), np.int64(0), np.int64(0)
        if ground & bit:
            distinct, k = np.int64(f), np.int64(workspace.pair_places[64 * word + i])
        stop = min(k + sampled - distinct, ready)
        while k < stop:  # as above; the index is unsigned, because Numba tests signed ones for being negative
            distinct += flip_bit(node_words, np.int64(labels[np.uint64(64 * k + i)]) & label_mask, bit, ground)
            k += 1
        while distinct < sampled:
            x = np.int64(labels[64 * k + i]) & label_mask if k < ready else np.int64(node_label(key, first + i, k, n))
            distinct += flip_bit(node_words, x, bit, ground)
            k += 1
        workspace.pair_places[64 * word + i] = k if ground & bit else 0


@block
def draw_more_nodes(key, group, n, f, counts, rows, workspace):
    """Write the nonfaulty nodes of a group with ``counts[i]`` faulty ones in trial i, at least the f of ``draw_nodes`` before."""
    most_sampled = np.int64(0)
    for i in range(GROUP_TRIALS):
        most_sampled = max(most_sampled, count_sampled_labels(n, counts[i]))
    nodes, ready = np.int64(1) << n, lane_places(n, most_sampled)
    for word in range(8):
        first = group + 64 * word
        _write_labels(key, first, n, ready, workspace)
        if n <= 8:
            _flip_more_labels(key, first, n, f, counts, ready, workspace.labels8, word, workspace)
        else:
            _flip_more_labels(key, first, n, f, counts, ready, workspace.labels16, word, workspace)
    for v in range(0, nodes, 8):
        simd.transpose(workspace.slices, v, nodes, rows, 8 * v)


# ---------------------------------------------------------------- K distinct links


@block
def propose_links(key, t, n, numbers, link_count, halves, draws):
    """Write sixteen positions of trial ``t``'s sequence of links, n <= 16, to ``draws.links``: link numbers, or -1 if skipped.

    The sampling scheme is that of ``draws/links.py``, with slots in place of dimensions.  If some node has a slot without a link,
    node and dimension are the high and low bits of one field, which gives the number itself.
    """
    slots = numbers.shape[1] - 1
    by_number = 2 * link_count < numbers.shape[0] * slots
    width = np.uint64(link_field_width(n))
    block_, shift = field_position(t, np.int64(width))
    low = (ONE << (width + np.uint64(n) if by_number else width)) - ONE
    count = np.uint64(link_count if by_number else slots)
    least = (low + ONE) % count
    next_labels(key, block_, shift, n, halves, philox.LINKS, philox.HIGH_LINKS, draws.nodes)
    even, odd = next_fields(key, block_, shift, halves, philox.DIMENSIONS)
    mask = simd.splat((ONE << width) - ONE)
    store_interleaved(even & mask, odd & mask, draws.links)
    for i in range(16):
        if by_number:
            product = ((draws.nodes[i] << width) | draws.links[i]) * count
            draws.links[i] = product >> (width + np.uint64(n)) if product & low >= least else ALL_BITS
        else:
            product = draws.links[i] * count
            slot = np.int64(product >> width) if product & low >= least else slots
            draws.links[i] = np.uint64(numbers[np.int64(draws.nodes[i]), slot])


@block
def mark_links(key, group, lane, n, count, numbers, rows, draws):
    """Clear the bit of trial ``group + lane`` in the rows of ``count`` distinct links."""
    word, bit = lane >> 6, ONE << np.uint64(lane & 63)
    halves = simd.iota(simd.splat(ZERO))
    taken = np.int64(0)
    while taken < count:
        propose_links(key, group + lane, n, numbers, rows.size >> 3, halves, draws)
        for i in range(16):
            number = np.int64(draws.links[i])
            if number >= 0 and taken < count and rows[8 * number + word] & bit:
                rows[8 * number + word] &= ~bit
                taken += 1
        halves = halves + 8


@block
def draw_links(key, group, n, count, numbers, rows, workspace):
    """Write the nonfaulty links of 512 trials, ``count`` faulty ones each, to one row per link."""
    fill_rows(rows, rows.size >> 3, ALL_BITS)
    for i in range(GROUP_TRIALS):
        mark_links(key, group, np.int64(i), n, count, numbers, rows, workspace.link_draws)
