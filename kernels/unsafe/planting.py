"""Unsafe nodes under few random faults by Karp-Luby importance sampling: fault sets conditioned on a close pair.

A nonfaulty node is *unsafe* if at least two of its neighbours are faulty or unsafe.  Two faults are *close*, and so are a fault
and a subcube, if they are within distance 2.  Without a close pair no node is unsafe, and close pairs can be too rare for direct
sampling.  So a trial *plants* one: it places a random close pair at random positions i < j of the sequence of faults, and fills
the other positions at random.  The trial *counts* if its pair is the first close pair in the lexicographic order of positions.
(``docs/random.md`` has the sampling scheme, and ``docs/proofs.md`` shows why means over all fault sets follow.)

The pair differs by a *mask* of one or two bits, and its subcube has the mask's dimensions.  In nearly all trials the other faults
are far from each other and from this subcube.  One comparison of all pairs, 16 labels per vector, shows that by the low 32 bits
of the labels, for any positions.  The few other trials, also those with repeated labels, are sampled in full: close faults are
merged into subcubes, and FIND_UNSAFE's rounds are run inside these.  Measured on Zen 5, in ns per trial: 65 at n = 20, f = 10; 94
at n = 60, f = 30; 370 at n = 30, f = 120.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..cube.labels import LabelSet, add_label, clear_labels, label_set
from ..draws import philox
from ..draws.node_rows import Rows, next_row, rows_for
from ..draws.nodes import node_label
from ..machine import simd
from ..machine.array_types import Ints, Words, Words32
from ..machine.bits import ALL_BITS, LOW32, ONE, ZERO, first_lanes, popcount
from ..machine.jit import block, scratch
from ..machine.trials import trials_kernel
from ..tally.maxima import offer
from ..tally.sums import add_quantity, add_square, add_wide
from .closure import CubeScratch, evaluate_fault_set, make_cube_scratch
from .layout import MARKING, UNSAFE_RARE, F, N

_COUNTED = UNSAFE_RARE.counter("acceptance")
_REACHED = UNSAFE_RARE.family("unsafe_subcube_{}", MARKING)
_UNSAFE = UNSAFE_RARE.family("unsafe_nodes_{}", MARKING)
_SQUARES = UNSAFE_RARE.family("unsafe_nodes_squared_{}", MARKING)
_WITH_UNSAFE = UNSAFE_RARE.counter("with_unsafe")
_ALL_UNSAFE = UNSAFE_RARE.counter("all_unsafe")
_ROUNDS = UNSAFE_RARE.moments("rounds")
_UNKNOWN = UNSAFE_RARE.counter("rounds_unknown")
_MOST_ROUNDS = UNSAFE_RARE.maximum("rounds")
_LARGEST = UNSAFE_RARE.maximum("largest")

#: Least dimension of the largest subcube of each class of trials.
_CLASS_DIMENSIONS = np.array(MARKING, np.int64)
_HALF = np.uint64(32)


class PairScratch(NamedTuple):
    """Workspace of trials at one point with one key; made by ``set_up``.

    A trial's *sequence* is an endless list of independent random labels.  Arrays of more than f entries are padded, because whole
    vectors are read and written; the padding may hold anything.
    """

    rows: Rows  #: for sampling sixteen labels at a time
    #: (f + 32), at least f + 14: low 32 bits of the first f - 1 labels of the present trial's sequence; ``sample_low_labels``
    #: writes them, 16 at a time
    low: Words32
    #: (8): for each of the trials 8 b .. 8 b + 7, the first random word from which its pair is sampled
    pair_words: Words
    pair_block: Ints  #: (1): b of these trials, -1 at first
    masks: Words  #: (n + C(n, 2)): all masks with one or two of n bits set
    labels: Words  #: (f + 8): the faults by position; read eight at a time
    seen: LabelSet  #: the faults as a set
    base: Words  #: (f + 16), as ``cube.subcubes.merge_faults`` requires: subcubes
    free: Words  #: (f + 16): their free dimensions
    spare: CubeScratch  #: for the rounds inside subcubes


@scratch
def set_up(params):
    """Return the workspace for params (n, f), 2 <= n <= 62 and 2 <= f <= min(2^n, 4096)."""
    n = np.int64(params[N])
    f = np.int64(params[F])
    masks = np.empty(n * (n + 1) // 2, np.uint64)
    at = np.int64(0)
    for b in range(n):
        for a in range(b + 1):  # a == b gives one bit
            masks[at] = (ONE << np.uint64(a)) | (ONE << np.uint64(b))
            at += 1
    return PairScratch(
        rows_for(),
        np.empty(f + 32, np.uint32),
        np.empty(8, np.uint64),
        np.full(1, -1, np.int64),
        masks,
        np.empty(f + 8, np.uint64),
        label_set(f),
        np.empty(f + 16, np.uint64),
        np.empty(f + 16, np.uint64),
        make_cube_scratch(n),
    )


# ---------------------------------------------------------------- sampling


@block(always=True)
def sample_close_pair(key, t, f, workspace):
    """Return the close pair of a trial: its mask, and the number, int64, of its positions (see ``_decode_pair``).

    The masks and the C(f, 2) pairs of positions are equally likely.  Lemire's method: the high half of the product of a uniform
    32-bit number and M is a number below M.  It is uniform if products whose low half is below 2^32 mod M are rejected.  That
    remainder is below M, so it is seldom computed.
    """
    if workspace.pair_block[0] != t >> 3:
        workspace.pair_block[0] = t >> 3
        even, _ = philox.pair_lanes(key, np.uint64(t & ~7), ZERO, philox.PLANTS)
        simd.store(workspace.pair_words, 0, even)
    mask_count = np.uint64(workspace.masks.size)
    pair_count = np.uint64(f * (f - 1) // 2)
    word = workspace.pair_words[t & 7]
    k = ZERO
    while True:
        mask = (word & LOW32) * mask_count
        pair = (word >> _HALF) * pair_count
        fair = (mask & LOW32) >= mask_count or (mask & LOW32) >= (ONE << _HALF) % mask_count
        if fair and ((pair & LOW32) >= pair_count or (pair & LOW32) >= (ONE << _HALF) % pair_count):
            return workspace.masks[mask >> _HALF], np.int64(pair >> _HALF)
        k += ONE
        word = philox.random_word(key, np.uint64(t), k, philox.PLANTS)


@block(always=True)
def sample_low_labels(key, t, n, count, workspace):
    """Write the low 32 bits of the first ``count`` < f labels of a trial's sequence, and up to 15 more, to ``low``."""
    for q in range((count + 15) >> 4):
        next_row(key, np.uint64(t), q, n, workspace.rows)
        simd.store(workspace.low, q << 4, simd.load(workspace.rows.labels, 0))


@block
def _read_label(key, t, p, n, f, workspace):
    """Return label p of the trial's sequence, from ``low`` if it is among the f - 1 labels there and has no higher bits."""
    if n > 32 or p >= f - 1:
        return node_label(key, t, p, n)
    return np.uint64(workspace.low[p])


@block
def _decode_pair(pair):
    """Return the positions i < j of pair number C(j, 2) + i."""
    # The root may be rounded, so the loops correct j.
    j = np.int64((1.0 + np.sqrt(8.0 * pair + 1.0)) / 2.0)
    while j * (j - 1) // 2 > pair:
        j -= 1
    while (j + 1) * j // 2 <= pair:
        j += 1
    return pair - j * (j - 1) // 2, j


@block
def write_faults(key, t, n, f, mask, pair, workspace):
    """Write the faults of an importance-sampled trial to ``workspace.labels``, by position; return the pair's positions i < j.

    ``mask`` and ``pair`` are from ``sample_close_pair``, and ``sample_low_labels`` must have run with count f - 1.  x_i is the
    first label of the trial's sequence and x_j its neighbour by the mask.  The other faults are the next distinct labels of the
    sequence that differ from both, in the order of positions.
    """
    i, j = _decode_pair(pair)
    x = _read_label(key, t, np.int64(0), n, f, workspace)
    clear_labels(workspace.seen)
    add_label(workspace.seen, x)
    add_label(workspace.seen, x ^ mask)
    workspace.labels[i] = x
    workspace.labels[j] = x ^ mask
    p = np.int64(1)
    for k in range(f):
        if k not in (i, j):
            while True:
                x = _read_label(key, t, p, n, f, workspace)
                p += 1
                if add_label(workspace.seen, x):
                    break
            workspace.labels[k] = x
    return i, j


# ---------------------------------------------------------------- classification and tally of a trial


@block(always=True)
def _is_only_close_pair(mask, count, low):
    """Whether the low 32 bits of labels show that the trial has no close pair but its own.

    ``low`` holds ``count`` = f - 1 labels, from ``sample_low_labels``.  Label 0 is one of the pair, and with ``mask`` gives the
    pair's subcube; labels 1, 2, ... are the other faults.  The result may be False for faults that are not close.  But True is
    always correct, because equal labels are close, too, and low bits are as close as labels or closer.

    A label is compared with all labels after it, 16 at a time, and at last with the ``tail``, the last 16 labels (or all, if
    there are fewer), of which those up to the label itself are left out.
    """
    last = count - 16 if count > 16 else np.int64(0)
    valid = first_lanes(count, 16)
    tail = simd.load(low, last)
    two = simd.splat_like(tail, 2)
    nearest = simd.splat_like(tail, 32)
    free = simd.splat_like(tail, np.uint32(mask & LOW32))
    x = simd.splat_like(tail, low[0])
    at = np.int64(1)  # the first label that is not yet compared with x
    while at + 16 < count:
        nearest = simd.minimum(nearest, simd.popcount((simd.load(low, at) ^ x) & ~free))
        at += 16
    distance = simd.popcount((tail ^ x) & ~free)
    close = simd.bits(distance <= two) & (ALL_BITS << np.uint64(at - last))
    for k in range(1, count - 1):
        x = simd.splat_like(tail, low[k])
        at = np.int64(k + 1)
        while at + 16 < count:
            nearest = simd.minimum(nearest, simd.popcount(simd.load(low, at) ^ x))
            at += 16
        distance = simd.popcount(tail ^ x)
        close |= simd.bits(distance <= two) & (ALL_BITS << np.uint64(at - last))
    return (close & valid) | simd.bits(nearest <= two) == ZERO


@block
def is_first_close_pair(labels, f, i, j):
    """Whether no pair of positions before (i, j), in lexicographic order, has close labels.

    ``labels`` has f labels by position, and as many entries with any content as fill the last group of eight.
    """
    two = simd.splat(np.uint64(2))
    for a in range(i + 1):
        x = simd.splat(labels[a])
        stop = f if a < i else j
        at = (a + 1) & ~7
        while at < stop:
            close = simd.bits(simd.popcount(x ^ simd.load(labels, at)) <= two)
            close &= first_lanes(stop - at)
            if at <= a:
                close &= ALL_BITS << np.uint64(a + 1 - at)
            if close != ZERO:
                return False
            at += 8
    return True


@block(always=True)
def _record_trial(tally, t, n, unsafe, rounds, largest):
    """Record a trial that counts: unsafe nodes (uint64), rounds (-1 if unknown), the largest subcube's dimension.

    The trial's class is the last one of MARKING whose dimension the largest subcube reaches.
    """
    reached = ZERO  # number of classes whose dimension it reaches
    tally[_COUNTED] += 1
    while reached < np.uint64(_CLASS_DIMENSIONS.size) and _CLASS_DIMENSIONS[reached] <= largest:
        tally[_REACHED[reached]] += 1
        reached += ONE
    if unsafe != ZERO:  # then the largest subcube has two dimensions or more, so there is a class
        tally[_WITH_UNSAFE] += 1
        add_wide(tally, _UNSAFE[reached - ONE], unsafe)
        add_square(tally, _SQUARES[reached - ONE], unsafe)
    tally[_ALL_UNSAFE] += np.int64(largest == n)
    offer(tally, _LARGEST, largest, t)
    if rounds < 0:
        tally[_UNKNOWN] += 1
        return
    add_quantity(tally, _ROUNDS, rounds)
    offer(tally, _MOST_ROUNDS, rounds, t)


@block
def _run_trial(key, t, params, workspace, tally):
    """Run and tally a trial at (n, f) = params, in full only if the low labels do not show that it has one close pair alone.

    A pair at distance 1 alone has no unsafe node and no round.  A pair at distance 2 alone has two unsafe nodes after one round.
    """
    n = np.int64(params[N])
    f = np.int64(params[F])
    sample_low_labels(key, t, n, f - 1, workspace)
    mask, pair = sample_close_pair(key, t, f, workspace)
    if _is_only_close_pair(mask, f - 1, workspace.low):
        distance = popcount(mask)
        _record_trial(tally, t, n, np.uint64(2 * (distance - 1)), distance - 1, distance)
        return
    i, j = write_faults(key, t, n, f, mask, pair, workspace)
    if is_first_close_pair(workspace.labels, f, i, j):
        unsafe, rounds, _, largest = evaluate_fault_set(
            workspace.labels, f, workspace.base, workspace.free, workspace.spare
        )
        _record_trial(tally, t, n, unsafe, rounds, largest)


#: Kernel of importance-sampled trials at (n, f), 2 <= n <= 62 and 2 <= f <= min(2^n, 4096).
PLANTED_TRIALS = trials_kernel(set_up, _run_trial)
