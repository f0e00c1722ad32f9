"""Fault-free subcubes, one trial at a time: any n, f and number of links.

A subcube is fault-free if no faulty node and no faulty link is inside it.  A subcube with m dimensions fixed is the intersection
of m *halves* of different dimensions.  Half 2 i has the nodes with bit i set, half 2 i + 1 those with bit i clear, both with the
links between their nodes; half h ^ 1 is the other half of the same dimension.  The *bit row* of a half has a bit for each fault,
set if the fault is inside.  Halves are *empty* together if their bit rows have no bit in common: then their intersection is
fault-free.  A vector tests eight halves at a time together with one other half (m = 2) or with two (m = 3).

``rows[128 w + h]`` is word w of the bit row of half h, for faults 64 w .. 64 w + 63.  Random faults decide most subcubes in word
0, so this word is tested first and the others only where it has no common bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..draws.links import LinkDraws, distinct_links, link_draws_for
from ..draws.nodes import Draws, count_sampled_labels, draw_faults, draws_for
from ..machine import bits, simd
from ..machine.array_types import I64, Words
from ..machine.bits import ALL_BITS, ONE, ZERO, first_lanes
from ..machine.jit import block, scratch
from ..machine.trials import trials_kernel
from .columns import transpose_words
from .layout import FREE_SUBCUBE, LINKS, PARTS, F, N

_FREE = tuple(FREE_SUBCUBE.counter(f"fault_free_{part}") for part in PARTS)
_ALIGNED = tuple(FREE_SUBCUBE.counter(f"aligned_{part}") for part in PARTS)
_DIFFS = tuple(FREE_SUBCUBE.counter(f"{part}_diff") for part in PARTS)
_NONE = FREE_SUBCUBE.counter("no_fault_free_eighth")

# Result of a search that stands for more than three fixed dimensions.
_MANY = np.int64(4)

# Number of entries of ``rows`` for 64 faults: a word of the bit row of each half, two halves for each of up to 64 dimensions.
_STRIDE = np.int64(128)


class Search(NamedTuple):
    """Faults of one trial and their bit rows; made by ``search_for``."""

    f: I64  #: number of faulty nodes
    links: I64  #: number of faulty links
    #: (f + links): the faulty nodes, then the ends of the faulty links whose bit of the dimension is clear
    lower: Words
    dims: Words  #: (links): the dimensions of the faulty links
    rows: Words  #: bit rows of the halves, _STRIDE words for each 64 faults
    words: Words  #: (2 * 64): 64 words to transpose, and as many words of scratch memory
    draws: Draws  #: scratch memory to sample nodes
    link_draws: LinkDraws  #: scratch memory to sample links


@scratch
def search_for(n, f, links):
    """Return a ``Search`` for f faulty nodes and ``links`` faulty links of Q_n."""
    sampled = count_sampled_labels(n, f)
    return Search(
        f,
        links,
        np.zeros(f + links, np.uint64),
        np.zeros(links, np.uint64),
        np.zeros(_STRIDE * ((f + links + 63) >> 6), np.uint64),
        np.zeros(128, np.uint64),
        draws_for(sampled),
        link_draws_for(links),
    )


@block
def _write_rows(n, search):
    """Write the bit rows of all halves; the transposed labels are those of the halves 2 i."""
    f, words, rows = search.f, search.words, search.rows
    count = f + search.links
    for word in range((count + 63) >> 6):
        first, at = 64 * word, _STRIDE * word
        faults = min(count - first, 64)
        for i in range(64):
            words[i] = search.lower[first + i] if i < faults else ZERO
        transpose_words(words[:64], words[64:])
        known = ALL_BITS >> np.uint64(64 - faults)
        for i in range(n):
            rows[at + 2 * i] = words[i]
            rows[at + 2 * i + 1] = words[i] ^ known
    # A link of dimension i is in neither half of i.  Bit i of its lower end is clear, so only half 2 i + 1 has to lose it.
    for r in range(f, count):
        rows[_STRIDE * (r >> 6) + 2 * np.int64(search.dims[r - f]) + 1] &= ~(ONE << np.uint64(r & 63))


@block
def _has_empty_candidate(rows, candidates, first, second, start):
    """Whether a candidate is empty together with halves ``first`` and ``second``.

    Bit i of ``candidates`` stands for half ``start`` + i, which is known to be empty with them in word 0.
    """
    while candidates:
        half = start + bits.lowest(candidates)
        at = _STRIDE
        while at < rows.size and rows[at + first] & rows[at + second] & rows[at + half] == ZERO:
            at += _STRIDE
        if at >= rows.size:
            return True
        candidates &= candidates - ONE
    return False


@block(always=True)
def _find_candidates(inside, rows, start, below):
    """Return as bits which of the halves ``start`` .. ``start`` + 7 below ``below`` have no fault of ``inside`` in word 0."""
    return simd.bits((inside & simd.load(rows, start)) == simd.splat(ZERO)) & first_lanes(below - start)


@block
def _has_empty_third(rows, n, first, second):
    """Whether a half of a third dimension is empty together with halves ``first`` and ``second``, which are not empty together.

    So ``first`` and ``second`` themselves need not be left out.
    """
    inside = simd.splat(rows[first] & rows[second])
    for start in range(0, 2 * n, 8):
        candidates = _find_candidates(inside, rows, start, 2 * n)
        while candidates:
            third = start + bits.lowest(candidates)
            # two halves of one dimension have no node in common, so are empty together, but stand for no subcube
            if third != first ^ 1 and third != second ^ 1 and _has_empty_candidate(rows, ONE, first, second, third):
                return True
            candidates &= candidates - ONE
    return False


@block
def _has_empty_triple(rows, n):
    """Whether three halves of different dimensions are empty together, each triple h > i > j tested once."""
    for h in range(4, 2 * n):
        for i in range(2, h & ~1):
            inside, lower = simd.splat(rows[h] & rows[i]), i & ~1
            for start in range(0, lower, 8):
                if _has_empty_candidate(rows, _find_candidates(inside, rows, start, lower), h, i, start):
                    return True
    return False


@block
def find_free_subcube(rows, n, least, most):
    """Return the least number of dimensions, in [``least``, ``most``], to fix for a fault-free subcube, or ``most`` + 1.

    1 <= ``least`` and ``most`` <= 3.  The caller must know that fewer than ``least`` dimensions do not suffice.  Pairs of halves
    with few common faults are tested with all thirds at once, because these triples are the likeliest to be empty.  All triples
    are tested only if none of these is.
    """
    if least <= 1 <= most:
        for h in range(2 * n):
            if rows[h] == ZERO and _has_empty_candidate(rows, ONE, h, h, h):
                return np.int64(1)
    if most < 2:
        return most + 1
    # A third has none of c common faults with probability of about 2^-c, so at c = log2(n) + 2 the expected number of empty ones
    # among 2 n is 1/2.  Where rows have several words, only pairs without a common fault in word 0 are few enough.
    few = simd.splat(np.uint64(bits.highest(np.uint64(n)) + 2 if rows.size == _STRIDE else 0))
    found = False  # whether three fixed dimensions suffice
    for h in range(2, 2 * n):
        inside = simd.splat(rows[h])
        lower = h & ~1  # the halves below this one are of lower dimensions
        for start in range(0, lower, 8):
            if least <= 2 and _has_empty_candidate(rows, _find_candidates(inside, rows, start, lower), h, h, start):
                return np.int64(2)
            seconds = simd.bits(simd.popcount(inside & simd.load(rows, start)) <= few) & first_lanes(lower - start)
            while seconds and most == 3 and not found:
                found = _has_empty_third(rows, n, h, start + bits.lowest(seconds))
                seconds &= seconds - ONE
        if found and least == 3:
            return np.int64(3)
    return np.int64(3) if found or (most == 3 and _has_empty_triple(rows, n)) else most + 1


@block
def _find_aligned(n, search):
    """Return the least number of highest dimensions to fix for a fault-free *aligned* subcube, or _MANY.

    Such a subcube is a block of consecutive labels.
    """
    for m in range(1, min(n, 3) + 1):
        by, faulty_blocks = np.uint64(n - m), ZERO
        for r in range(search.f + search.links):
            if r < search.f or search.dims[r - search.f] < by:  # a link of a fixed dimension is inside no block
                faulty_blocks |= ONE << (search.lower[r] >> by)
        if faulty_blocks != ALL_BITS >> np.uint64(64 - (1 << m)):
            return np.int64(m)
    return _MANY


@block(always=True)
def record_trials(tally, free, aligned, wanted):
    """Tally the trials of the bits of ``wanted``.

    The three words of ``free`` say which trials have a fault-free half, quarter and eighth, and those of ``aligned`` which have
    an aligned one.
    """
    for i in range(3):
        tally[_FREE[i]] += bits.popcount(free[i] & wanted)
        tally[_ALIGNED[i]] += bits.popcount(aligned[i] & wanted)
        tally[_DIFFS[i]] += bits.popcount(free[i] & ~aligned[i] & wanted)
    tally[_NONE] += bits.popcount(wanted & ~free[2])


@block(always=True)
def _list_parts(m):
    """Return whether a subcube with m fixed dimensions contains a half, a quarter and an eighth: m <= 1, 2 and 3; as bits."""
    return np.uint64(m <= 1), np.uint64(m <= 2), np.uint64(m <= 3)


@scratch
def set_up(params):
    """Return a ``Search`` for trials at (n, f, links) = params."""
    return search_for(np.int64(params[N]), np.int64(params[F]), np.int64(params[LINKS]))


@block
def decide_faults(n, search):
    """Return the least numbers of dimensions to fix for a fault-free subcube and for an aligned one; 4 stands for more than 3."""
    if search.f + search.links == 0:
        return np.int64(0), np.int64(0)
    aligned = _find_aligned(n, search)
    _write_rows(n, search)
    return find_free_subcube(search.rows, n, np.int64(1), min(aligned - 1, np.int64(3))), aligned


@block
def run_trial(key, t, params, scratch, tally):
    """Run one trial at (n, f, links)."""
    n, f, links = np.int64(params[N]), scratch.f, scratch.links
    draw_faults(key, t, n, f, scratch.lower, scratch.draws)
    if links:
        distinct_links(key, t, n, links, scratch.lower[f:], scratch.dims, scratch.link_draws)
    free, aligned = decide_faults(n, scratch)
    record_trials(tally, _list_parts(free), _list_parts(aligned), ONE)


#: Kernel for every point.
FREE_SUBCUBE_SINGLE = trials_kernel(set_up, run_trial)
