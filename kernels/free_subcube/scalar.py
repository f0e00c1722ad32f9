"""Fault-free subcubes, one trial at a time: any n, f and number of links.

A subcube is fault-free if no faulty node and no faulty link is inside it.  A subcube with m dimensions fixed is the intersection
of m *halves*.  Half 2 i + v has the nodes with bit i equal to 1 - v, and the links between them.  A bit row of a half has one bit
for each fault inside it, so a subcube is fault-free if the bit rows of its halves have no bit in common.  With m = 1 a bit row is
itself zero.  With m = 2 and 3 a vector tests eight halves at a time against one half, and against the intersection of two.

``rows[128 w + h]`` holds faults 64 w .. 64 w + 63 of half h.  Random faults decide most subcubes in the first word.
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


class Search(NamedTuple):
    """Faults of one trial and their bit rows; made by ``search_for``."""

    f: I64  #: number of faulty nodes
    links: I64  #: number of faulty links
    lower: Words  #: the faulty nodes, then the lower ends of the faulty links
    dims: Words  #: the dimensions of the faulty links
    rows: Words  #: 128 words for each 64 faults
    words: Words  #: (128): scratch memory to transpose 64 words
    draws: Draws  #: scratch memory to sample nodes
    link_draws: LinkDraws  #: scratch memory to sample links


@scratch
def search_for(n, f, links):
    """Return a ``Search`` for f faulty nodes and ``links`` faulty links of Q_n."""
    few = count_sampled_labels(n, f)
    return Search(
        f,
        links,
        np.zeros(max(f, few) + links, np.uint64),
        np.zeros(links, np.uint64),
        np.zeros(128 * ((f + links + 63) >> 6), np.uint64),
        np.zeros(128, np.uint64),
        draws_for(few),
        link_draws_for(links),
    )


@block
def _write_rows(n, search):
    """Write the bit rows of all halves."""
    f, words, rows = search.f, search.words, search.rows
    count = f + search.links
    for first in range(0, count, 64):
        faults = min(count - first, 64)
        for i in range(64):
            words[i] = search.lower[first + i] if i < faults else ZERO
        transpose_words(words[:64], words[64:])
        known = ALL_BITS >> np.uint64(64 - faults)
        for i in range(n):
            rows[2 * first + 2 * i] = words[i]
            rows[2 * first + 2 * i + 1] = words[i] ^ known
    # Bit i of the lower end of a link of dimension i is clear, so only one half has to lose the link.
    for r in range(f, count):
        rows[((r >> 6) << 7) + 2 * np.int64(search.dims[r - f]) + 1] &= ~(ONE << np.uint64(r & 63))


@block
def _is_empty(rows, candidates, first, second, third):
    """Whether a candidate, a half from ``third`` on, has no fault in common with halves ``first`` and ``second`` in any word."""
    while candidates:
        half = third + bits.lowest(candidates)
        at = np.int64(128)
        while at < rows.size and rows[at + first] & rows[at + second] & rows[at + half] == ZERO:
            at += 128
        if at >= rows.size:
            return True
        candidates &= candidates - ONE
    return False


@block(always=True)
def _find_empty(inside, rows, third, below):
    """Return which of eight halves from ``third`` on, below ``below``, have no fault of ``inside`` in the first word, as bits."""
    return simd.bits((inside & simd.load(rows, third)) == simd.splat(ZERO)) & first_lanes(below - third)


@block
def _has_empty_third(rows, n, first, second):
    """Whether some half of another dimension has no fault inside halves ``first`` and ``second``."""
    inside = simd.splat(rows[first] & rows[second])
    for third in range(0, 2 * n, 8):
        empty = _find_empty(inside, rows, third, 2 * n)
        while empty:
            half = third + bits.lowest(empty)
            if half != first ^ 1 and half != second ^ 1 and _is_empty(rows, ONE, first, second, half):
                return True
            empty &= empty - ONE
    return False


@block
def find_free_subcube(rows, n, least, most):
    """Return the least number of dimensions, in [``least``, ``most``], to fix for a fault-free subcube, or ``most`` + 1.

    ``least`` is at least 1, and ``most`` at most 3.  Pairs of halves with few common faults are tested with all thirds first,
    because each third has about half of these faults.
    """
    if least <= 1 <= most:
        for h in range(2 * n):
            if rows[h] == ZERO and _is_empty(rows, ONE, h, h, h):
                return np.int64(1)
    if most < 2:
        return most + 1
    few = simd.splat(np.uint64(bits.highest(np.uint64(n)) + 2 if rows.size == 128 else 0))
    found = False
    for h in range(2, 2 * n):
        inside = simd.splat(rows[h])
        for at in range(0, h & ~1, 8):
            if least <= 2 and _is_empty(rows, _find_empty(inside, rows, at, h & ~1), h, h, at):
                return np.int64(2)
            small = simd.bits(simd.popcount(inside & simd.load(rows, at)) <= few) & first_lanes((h & ~1) - at)
            while small and most == 3 and not found:
                found = _has_empty_third(rows, n, h, at + bits.lowest(small))
                small &= small - ONE
        if found and least == 3:
            return np.int64(3)
    if most == 3 and not found:
        for h in range(4, 2 * n):
            for i in range(2, h & ~1):
                inside = simd.splat(rows[h] & rows[i])
                for at in range(0, i & ~1, 8):
                    if _is_empty(rows, _find_empty(inside, rows, at, i & ~1), h, i, at):
                        return np.int64(3)
    return np.int64(3) if found else most + 1


@block
def _find_aligned(n, search):
    """Return the least number of highest dimensions to fix for a fault-free block of consecutive labels, or _MANY."""
    for m in range(1, min(n, 3) + 1):
        by, seen = np.uint64(n - m), ZERO
        for r in range(search.f + search.links):
            if r < search.f or search.dims[r - search.f] < by:
                seen |= ONE << (search.lower[r] >> by)
        if seen != ALL_BITS >> np.uint64(64 - (1 << m)):
            return np.int64(m)
    return _MANY


@block(always=True)
def record_trials(tally, free, aligned, wanted):
    """Tally the wanted trials, one per bit: those with a fault-free half, quarter and eighth, any and of consecutive labels."""
    for i in range(3):
        tally[_FREE[i]] += bits.popcount(free[i] & wanted)
        tally[_ALIGNED[i]] += bits.popcount(aligned[i] & wanted)
        tally[_DIFFS[i]] += bits.popcount(free[i] & ~aligned[i] & wanted)
    tally[_NONE] += bits.popcount(wanted & ~free[2])


@block(always=True)
def _within(m):
    """Return as bits whether at most 1, 2 and 3 dimensions are fixed."""
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
    record_trials(tally, _within(free), _within(aligned), ONE)


#: Kernel for every point.
FREE_SUBCUBE_SINGLE = trials_kernel(set_up, run_trial)
